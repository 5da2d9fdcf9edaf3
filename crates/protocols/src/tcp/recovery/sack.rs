//! Recovery with selective acknowledgements: RFC 6675, the conservative algorithm over the scoreboard.
//!
//! The repair begins when the first octet outstanding counts as lost (IsLost), or after the threshold of
//! duplicate ACKs, each of which must tell of octets not told of before (section 2). It sends while cwnd
//! leaves a segment's room above the pipe (section 5, step C), in NextSeg's order: holes taken as lost, new
//! data, other holes below what has arrived, and once the last octets outstanding (rescue). It ends when all
//! that was outstanding at its start is acknowledged.
//!
//! A timeout clears the scoreboard (RFC 2018 section 8), as the peer may have dropped what it told of. What
//! is told of afterwards is passed over while everything is sent anew, and counts as out of the network. No
//! repair begins until everything sent before the timeout is acknowledged (RFC 6675 5.1; here after every
//! timeout).

use super::{Hole, LossRecovery, Outstanding, Progress, Prr, Response, Settings};
use crate::ranges::Range;
use crate::tcp::scoreboard::Scoreboard;

/// The state of recovery with SACK.
#[derive(Clone, Debug)]
pub struct Sack {
    board: Scoreboard,
    /// DupThresh.
    threshold: u32,
    recovering: bool,
    /// The repair's first retransmission is due, whatever the pipe.
    first_due: bool,
    /// RecoveryPoint, one above.
    recover: u64,
    /// RescueRxt, one above.
    rescue_rxt: u64,
    /// The window follows what arrives during a repair.
    reduction: Option<Box<Reduction>>,
}

/// Proportional rate reduction, and what the acknowledgement before had told of.
#[derive(Clone, Copy, Debug, Default)]
struct Reduction {
    prr: Prr,
    /// A repair has begun with the acknowledgement under way.
    begins: bool,
    /// Octets delivered, up to where in the stream all was, and below where octets were lost.
    delivered: u64,
    snd_una: u64,
    lost_below: u64,
}

impl LossRecovery for Sack {
    const NAME: &str = "sack";
    const VARIANT: Option<&str> =
        Some("Recovery by selective acknowledgements (RFC 2018, RFC 6675), which it negotiates.");
    const TAKES_BLOCKS: bool = true;
    const TAKES_PRR: bool = true;

    fn new(settings: &Settings) -> Sack {
        Sack {
            // The SYN is acknowledged.
            reduction: settings
                .prr
                .then(|| Box::new(Reduction { delivered: 1, snd_una: 1, ..Reduction::default() })),
            ..Sack::with(settings.dup_ack_threshold)
        }
    }

    #[inline]
    fn is_recovering(&self) -> bool {
        self.recovering
    }

    #[inline]
    fn is_undisturbed(&self) -> bool {
        !self.recovering && self.board.is_empty()
    }

    #[inline]
    fn on_undisturbed_ack(&mut self, snd_una: u64) {
        self.board.advance_empty(snd_una);
    }

    fn limited_transmit_bytes(&self, _duplicates: u64, _smss_bytes: u64) -> u64 {
        self.board.sacked_bytes()
    }

    fn on_block(&mut self, start: u64, end: u64) -> bool {
        self.board.insert(start, end)
    }

    fn tells_of_loss(&self, at: &Outstanding) -> bool {
        self.board.first_is_lost(self.threshold, at.smss_bytes)
    }

    fn on_loss(&mut self, at: &Outstanding, _duplicates: u32) -> Response {
        if self.recovering || at.snd_una < self.recover || at.snd_nxt < at.snd_max {
            return Response::None;
        }
        self.recovering = true;
        self.first_due = true;
        self.recover = at.snd_max;
        if let Some(reduction) = &mut self.reduction {
            reduction.begins = true;
        }
        Response::Repair
    }

    #[inline]
    fn on_ack(&mut self, at: &Outstanding, _acked_bytes: u64, ssthresh_bytes: u64) -> Progress {
        self.board.advance(at.snd_una);
        if !self.recovering {
            return Progress::Normal;
        }
        self.first_due = false;
        if at.snd_una >= self.recover {
            self.recovering = false;
            return Progress::Recovered { cwnd_bytes: ssthresh_bytes };
        }
        Progress::Partial { restart_timer: true }
    }

    fn on_timeout(&mut self, at: &Outstanding) {
        self.board.clear(at.snd_una);
        self.recovering = false;
        self.first_due = false;
        self.recover = at.snd_max;
    }

    #[inline]
    fn next_retransmission(&self, at: &Outstanding, cwnd_bytes: u64) -> Option<Hole> {
        if !self.recovering {
            return None;
        }
        if self.first_due {
            return Some(hole(self.board.hole_from(at.snd_una), at));
        }
        let lost = self.board.next_lost_hole(self.threshold, at.smss_bytes)?;
        self.has_room(at, cwnd_bytes).then(|| hole(lost, at))
    }

    fn last_retransmission(&self, at: &Outstanding, cwnd_bytes: u64) -> Option<Hole> {
        if !self.recovering || !self.has_room(at, cwnd_bytes) {
            return None;
        }
        if let Some(other) = self.board.next_hole() {
            return Some(hole(other, at));
        }
        (at.snd_una > self.rescue_rxt)
            .then(|| hole(self.board.highest_hole(at.snd_una, at.snd_max, at.smss_bytes), at))
            .filter(|hole| hole.start < hole.end)
    }

    fn on_retransmitted(&mut self, start: u64, end: u64) {
        if self.first_due {
            self.first_due = false;
            self.board.retransmitted(end);
            self.rescue_rxt = end;
        } else if start < self.board.high_rxt() || start >= self.board.highest() {
            self.rescue_rxt = self.recover;
        } else {
            self.board.retransmitted(end);
        }
    }

    fn on_sent(&mut self, bytes: u64) {
        if let Some(reduction) = self.reduction.as_mut().filter(|_| self.recovering) {
            reduction.prr.on_sent(bytes);
        }
    }

    #[inline]
    fn send_window(&self, cwnd_bytes: u64, _smss_bytes: u64) -> u64 {
        match &self.reduction {
            Some(reduction) if self.recovering => reduction.prr.cwnd_bytes(),
            _ => cwnd_bytes,
        }
    }

    #[inline]
    fn pipe_bytes(&self, at: &Outstanding) -> u64 {
        if self.recovering {
            return self.board.pipe(at.snd_una, at.snd_max, self.threshold, at.smss_bytes);
        }
        let gone = match () {
            () if at.snd_una >= self.recover => 0,
            () if at.snd_nxt < at.snd_max => self.board.sacked_below_rxt(),
            () => self.board.sacked_bytes(),
        };
        at.flight_bytes().saturating_sub(gone)
    }

    fn next_to_send_anew(&mut self, at: &Outstanding) -> Hole {
        let Range { start, end } = self.board.hole_from(at.snd_nxt);
        self.board.retransmitted(start);
        Hole { start, end }
    }

    fn on_sent_anew(&mut self, end: u64) {
        self.board.retransmitted(end);
    }
}

impl Sack {
    /// Taking a hole as lost by `threshold` ranges above it; 3 in RFC 6675.
    pub(in crate::tcp) fn with(threshold: u32) -> Sack {
        Sack {
            board: Scoreboard::default(),
            threshold: threshold.max(1),
            recovering: false,
            first_due: false,
            recover: 0,
            rescue_rxt: 0,
            reduction: None,
        }
    }

    pub(super) fn sacked_bytes(&self) -> u64 {
        self.board.sacked_bytes()
    }

    /// A repair has begun amid a reduction, which has counted what was delivered before the acknowledgement
    /// under way.
    pub(super) fn carry_on(&mut self, prr: Prr) {
        if let Some(reduction) = &mut self.reduction {
            (reduction.prr, reduction.begins) = (prr, false);
        }
    }

    /// An acknowledgement has been taken, with all that it tells of.
    pub(in crate::tcp) fn follow(&mut self, at: &Outstanding, ssthresh_bytes: u64) {
        let Some(mut reduction) = self.reduction.take() else { return };
        let sacked_bytes = self.board.sacked_bytes();
        let delivered = at.snd_una + sacked_bytes;
        let lost_below = self.board.lost_up_to(self.threshold, at.smss_bytes);
        let newly = delivered.saturating_sub(reduction.delivered);
        let safe = at.snd_una > reduction.snd_una && lost_below <= reduction.lost_below;
        if std::mem::take(&mut reduction.begins) {
            let outstanding = at.snd_max - at.snd_una - sacked_bytes;
            reduction.prr = Prr::begin(outstanding + newly, self.pipe_bytes(at) + at.smss_bytes);
        }
        if self.recovering {
            reduction.prr.on_ack(newly, self.pipe_bytes(at), ssthresh_bytes, at.smss_bytes, safe);
        }
        reduction.delivered = delivered;
        reduction.snd_una = at.snd_una;
        reduction.lost_below = lost_below.max(reduction.lost_below);
        self.reduction = Some(reduction);
    }

    /// The same where nothing has been told of above SND.UNA.
    #[inline]
    pub(in crate::tcp) fn follow_undisturbed(&mut self, snd_una: u64) {
        if let Some(reduction) = &mut self.reduction {
            (reduction.delivered, reduction.snd_una) = (snd_una, snd_una);
        }
    }

    fn has_room(&self, at: &Outstanding, cwnd_bytes: u64) -> bool {
        self.pipe_bytes(at) + at.smss_bytes <= self.send_window(cwnd_bytes, at.smss_bytes)
    }
}

fn hole(range: Range, at: &Outstanding) -> Hole {
    Hole { start: range.start, end: range.end.min(at.snd_max) }
}
