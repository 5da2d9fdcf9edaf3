//! Explicit Congestion Notification (RFC 3168 section 6.1).
//!
//! A SYN with ECE and CWR offers it, a SYN-ACK with ECE agrees. New data then goes in packets that queues may mark; repeated data,
//! probes of the window, and segments without data do not (6.1.4 to 6.1.6). When a mark has arrived, every segment says ECE until one
//! with CWR comes (6.1.3). The first acknowledgement with ECE for what was sent since the last reduction has the window reduced as by a
//! loss, or by less (RFC 8511), without anything sent anew; marks and losses of what was sent before it tell of the same
//! congestion (6.1.2). The next new data says CWR, after a loss too.
//!
//! Not modelled: that a mark on a segment outside of the window is ignored (6.1.5), another SYN without ECN where the first one is lost (6.1.1.1), the ECN nonce, accurate feedback (RFC 9768).

use super::Connection;
use crate::tcp::segment::{Flags, Segment};
use crate::tcp::window::Cause;

/// The state of both directions.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ecn {
    /// Both ends have agreed on it.
    pub(super) agreed: bool,
    /// A mark has arrived, and the peer has not said yet that it has slowed down.
    echoes: bool,
    /// This end has slowed down, and has not said so yet.
    reduced: bool,
    /// What was sent up to here was sent before the last reduction.
    reduced_at: u64,
    /// That was because of marks, and no loss has been answered since.
    reduced_by_echo: bool,
    /// The segment that was made last is of new data.
    capable: bool,
}

impl Ecn {
    /// What a SYN, or one that `answers`, says.
    pub(super) fn flags_on_syn(self, offers: bool, answers: bool) -> Flags {
        match (answers, offers) {
            (true, _) if self.agreed => Flags::ECE,
            (false, true) => Flags::ECE | Flags::CWR,
            _ => Flags::NONE,
        }
    }

    /// The peer's SYN says whether it agrees, where this end `offers`.
    pub(super) fn synchronize(&mut self, offers: bool, flags: Flags) {
        let (ece, cwr) = (flags.contains(Flags::ECE), flags.contains(Flags::CWR));
        self.agreed = offers && ece && cwr != flags.contains(Flags::ACK);
    }

    /// What every segment says.
    pub(super) fn flags(&mut self) -> Flags {
        self.capable = false;
        if self.echoes { Flags::ECE } else { Flags::NONE }
    }

    /// What new data says beside that; its packet may be marked.
    pub(super) fn flags_on_new_data(&mut self) -> Flags {
        self.capable = true;
        if std::mem::take(&mut self.reduced) { Flags::CWR } else { Flags::NONE }
    }

    /// The window has been reduced, for whatever reason; all up to `snd_max` was sent before.
    pub(super) fn on_reduction(&mut self, snd_max: u64) {
        self.reduced = true;
        self.reduced_at = snd_max;
        self.reduced_by_echo = false;
    }

    /// A loss of what was sent at `offset` is answered: whether the window has been reduced for that time already (section 6.1.2: once
    /// for the marked and dropped packets of a window).
    pub(super) fn has_answered(&mut self, offset: u64) -> bool {
        std::mem::take(&mut self.reduced_by_echo) && offset < self.reduced_at
    }

    /// The segment made last goes in a packet that is not to be marked.
    pub(super) fn spare(&mut self) {
        self.capable = false;
    }
}

impl Connection {
    /// Whether the segment taken last goes in a packet that queues may mark: ECT.
    #[inline]
    pub fn is_ecn_capable(&self) -> bool {
        self.ecn.capable
    }

    /// Whether both ends have agreed on ECN.
    pub fn has_ecn(&self) -> bool {
        self.ecn.agreed
    }

    /// The segment that has just been handled came in a packet that a queue has marked: CE.
    #[cold]
    pub fn handle_mark(&mut self) {
        if self.ecn.agreed && self.state.is_synchronized() {
            self.ecn.echoes = true;
            self.stats.ecn_marks_received += 1;
        }
    }

    /// A segment with ECE or CWR, whose acknowledgement reaches `ack`.
    #[cold]
    pub(super) fn arrive_ecn(&mut self, segment: &Segment, ack: Option<u64>) {
        if segment.flags.contains(Flags::CWR) && segment.payload_bytes > 0 {
            self.ecn.echoes = false;
        }
        let sender = &mut self.sender;
        let believed = ack.filter(|ack| (sender.snd_una..=sender.snd_max).contains(ack));
        let is_news = believed.is_some_and(|ack| ack > self.ecn.reduced_at);
        if !segment.flags.contains(Flags::ECE) || !is_news || sender.recovery.is_recovering() {
            return;
        }
        sender.window.on_congestion(Cause::EcnEcho { flight_bytes: sender.flight() });
        self.ecn.on_reduction(sender.snd_max);
        self.ecn.reduced_by_echo = true;
        self.stats.ecn_reductions += 1;
    }
}
