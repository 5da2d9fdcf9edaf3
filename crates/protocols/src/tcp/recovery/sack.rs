//! Recovery with selective acknowledgements: RFC 6675, the conservative algorithm over the scoreboard.
//!
//! The repair begins when the first octet outstanding counts as lost (IsLost), or after the threshold of duplicate
//! ACKs, each of which must tell of octets not told of before (section 2). It sends while cwnd leaves a segment's room
//! above the pipe (section 5, step C), in NextSeg's order: holes taken as lost, new data, other holes below what has
//! arrived, and once the last octets outstanding (rescue). It ends when all that was outstanding at its start is
//! acknowledged.
//!
//! A timeout clears the scoreboard (RFC 2018 section 8), as the peer may have dropped what it told of. What is told of
//! afterwards is passed over while everything is sent anew, and counts as out of the network. No repair begins until
//! everything sent before the timeout is acknowledged (RFC 6675 5.1; here after every timeout).

use super::{Hole, Outstanding, Progress, Response};
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
}

impl Sack {
    /// Taking a hole as lost by `threshold` ranges above it; 3 in RFC 6675.
    pub(in crate::tcp) fn new(threshold: u32) -> Sack {
        Sack {
            board: Scoreboard::default(),
            threshold: threshold.max(1),
            recovering: false,
            first_due: false,
            recover: 0,
            rescue_rxt: 0,
        }
    }

    #[inline]
    pub(super) fn is_recovering(&self) -> bool {
        self.recovering
    }

    #[inline]
    pub(super) fn is_undisturbed(&self) -> bool {
        !self.recovering && self.board.is_empty()
    }

    #[inline]
    pub(super) fn on_undisturbed_ack(&mut self, snd_una: u64) {
        self.board.retransmitted(snd_una);
    }

    pub(super) fn on_block(&mut self, start: u64, end: u64) -> bool {
        self.board.insert(start, end)
    }

    pub(super) fn tells_of_loss(&self, at: &Outstanding) -> bool {
        self.board.first_is_lost(self.threshold, at.smss_bytes)
    }

    pub(super) fn on_loss(&mut self, at: &Outstanding) -> Response {
        if self.recovering || at.snd_una < self.recover || at.snd_nxt < at.snd_max {
            return Response::None;
        }
        self.recovering = true;
        self.first_due = true;
        self.recover = at.snd_max;
        Response::Repair
    }

    #[inline]
    pub(super) fn on_ack(&mut self, at: &Outstanding, ssthresh_bytes: u64) -> Progress {
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

    pub(super) fn on_timeout(&mut self, at: &Outstanding) {
        self.board.clear(at.snd_una);
        self.recovering = false;
        self.first_due = false;
        self.recover = at.snd_max;
    }

    /// NextSeg's rule 1.
    #[inline]
    pub(super) fn next_retransmission(&self, at: &Outstanding, cwnd_bytes: u64) -> Option<Hole> {
        if !self.recovering {
            return None;
        }
        if self.first_due {
            return Some(hole(self.board.hole_from(at.snd_una), at));
        }
        let lost = self.board.next_lost_hole(self.threshold, at.smss_bytes)?;
        self.has_room(at, cwnd_bytes).then(|| hole(lost, at))
    }

    /// NextSeg's rules 3 and 4.
    pub(super) fn last_retransmission(&self, at: &Outstanding, cwnd_bytes: u64) -> Option<Hole> {
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

    /// What one of the two asked for has been sent: the octets from `start` to `end`.
    pub(super) fn on_retransmitted(&mut self, start: u64, end: u64) {
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

    /// Where to go on sending anew after a timeout: what the peer has told of since is passed over.
    pub(super) fn next_to_send_anew(&mut self, at: &Outstanding) -> Hole {
        let Range { start, end } = self.board.hole_from(at.snd_nxt);
        self.board.retransmitted(start);
        Hole { start, end }
    }

    /// Octets up to `end` have been sent anew.
    pub(super) fn on_sent_anew(&mut self, end: u64) {
        self.board.retransmitted(end);
    }

    /// Octets that count against the window.
    #[inline]
    pub(super) fn pipe_bytes(&self, at: &Outstanding) -> u64 {
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

    /// Octets that limited transmit may send beyond the window: as many as have arrived beyond a gap (section 5, step
    /// 3.3).
    pub(super) fn limited_transmit_bytes(&self) -> u64 {
        self.board.sacked_bytes()
    }

    fn has_room(&self, at: &Outstanding, cwnd_bytes: u64) -> bool {
        self.pipe_bytes(at) + at.smss_bytes <= cwnd_bytes
    }
}

fn hole(range: Range, at: &Outstanding) -> Hole {
    Hole { start: range.start, end: range.end.min(at.snd_max) }
}
