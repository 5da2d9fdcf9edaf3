//! Explicit Congestion Notification (RFC 3168 section 6.1).
//!
//! A SYN with ECE and CWR offers it, a SYN-ACK with ECE agrees. New data then goes in packets that queues may
//! mark; repeated data, probes of the window, and segments without data do not (6.1.4 to 6.1.6). When a mark
//! has arrived, every segment says ECE until one with CWR comes (6.1.3). The first acknowledgement with ECE
//! for what was sent since the last reduction has the window reduced as by a loss, or by less (RFC 8511),
//! without anything sent anew; marks and losses of what was sent before it tell of the same congestion
//! (6.1.2). The next new data says CWR, after a loss too.
//!
//! A congestion control that counts marks (DCTCP, RFC 8257) has its receiver say ECE for marked data alone.
//! DCTCP.CE says whether the last data was marked. If it changes, an acknowledgement goes at once, in the new
//! state; the one in the old state that section 3.2 allows is not sent. CWR has no meaning then.
//!
//! Not modelled: another SYN without ECN where the first one is lost (6.1.1.1), the ECN nonce, accurate
//! feedback (RFC 9768).

use roamsim_engine::Time;

use super::Connection;
use super::receiver::Acknowledgement;
use crate::tcp::config::Config;
use crate::tcp::congestion::Cause;
use crate::tcp::segment::{Flags, Segment};
use crate::tcp::sequence::from_wire;

/// The state of both directions.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ecn {
    /// Both ends have agreed on it.
    pub(super) agreed: bool,
    /// The segment that is handled has a mark that counts.
    pub(super) marked: bool,
    /// Marks are echoed one by one (RFC 8257 section 3.2).
    pub(super) exact: bool,
    /// A mark has arrived, and the peer has not said yet that it has slowed down. Where marks are echoed one
    /// by one: DCTCP.CE.
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

    /// The peer's SYN says whether it agrees, where this end offers it.
    pub(super) fn synchronize(&mut self, config: &Config, flags: Flags) {
        let (ece, cwr) = (flags.contains(Flags::ECE), flags.contains(Flags::CWR));
        self.agreed = config.ecn && ece && cwr != flags.contains(Flags::ACK);
        self.exact = self.agreed && config.echoes_exactly();
    }

    /// Whether data without a mark changes what is echoed.
    pub(super) fn awaits_unmarked(&self) -> bool {
        self.exact && self.echoes
    }

    /// What a segment says, of a connection that has agreed on ECN. Only a packet of new data may be marked,
    /// and says that this end has slowed down.
    pub(super) fn flags(&mut self, has_new_data: bool) -> Flags {
        self.capable = has_new_data;
        let echo = if self.echoes { Flags::ECE } else { Flags::NONE };
        let reduced = has_new_data && std::mem::take(&mut self.reduced);
        if reduced { echo | Flags::CWR } else { echo }
    }

    /// The window has been reduced, for whatever reason; all up to `snd_max` was sent before.
    pub(super) fn on_reduction(&mut self, snd_max: u64) {
        self.reduced = true;
        self.reduced_at = snd_max;
        self.reduced_by_echo = false;
    }

    /// Whether all up to `ack` was sent before the last reduction.
    pub(super) fn is_of_before_reduction(self, ack: u64) -> bool {
        ack <= self.reduced_at
    }

    /// A loss of what was sent at `offset` is answered: whether the window has been reduced for that time
    /// already (section 6.1.2: once for the marked and dropped packets of a window).
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

    /// Whether that says ECT(1), the identifier of L4S.
    #[inline]
    pub fn is_l4s(&self) -> bool {
        self.config.l4s
    }

    /// Whether both ends have agreed on ECN.
    pub fn has_ecn(&self) -> bool {
        self.ecn.agreed
    }

    /// This segment, which is handled next, came in a packet that a queue has marked: CE. A mark outside of
    /// the window is no sign of anything (section 6.1.5): whoever can guess addresses and ports might send
    /// it.
    #[cold]
    pub fn note_mark(&mut self, segment: &Segment) {
        let receiver = &self.receiver;
        self.ecn.marked = from_wire(receiver.irs, segment.seq, receiver.rcv_nxt).is_some_and(|seq| {
            seq < receiver.rcv_adv && seq + u64::from(segment.payload_bytes) > receiver.rcv_nxt
        });
        self.settle();
    }

    /// Behind what the marked segment says itself: one with CWR begins a new time (section 6.1.3).
    #[cold]
    pub(super) fn heed_mark(&mut self) {
        self.ecn.marked = false;
        if self.ecn.agreed && self.state.is_synchronized() {
            self.ecn.echoes |= !self.ecn.exact;
            self.stats.ecn_marks_received += 1;
        }
    }

    /// New data arrives, marked or not, and marks are echoed one by one.
    pub(super) fn follow_mark(&mut self) {
        if self.ecn.echoes != self.ecn.marked {
            self.ecn.echoes = self.ecn.marked;
            let receiver = &mut self.receiver;
            receiver.acknowledgement = receiver.acknowledgement.max(Acknowledgement::Now);
        }
    }

    /// An acknowledgement up to `ack` says whether the octets were marked that it is the first to
    /// acknowledge.
    pub(super) fn count_acked_marks(&mut self, segment: &Segment, ack: Option<u64>) {
        let sender = &mut self.sender;
        let Some(ack) = ack.filter(|ack| (sender.snd_una + 1..=sender.snd_max).contains(ack)) else { return };
        let marked = segment.flags.contains(Flags::ECE);
        sender.congestion.on_acked_marks(ack - sender.snd_una, marked, ack, sender.snd_nxt);
    }

    /// A segment with ECE or CWR, whose acknowledgement reaches `ack`.
    #[cold]
    pub(super) fn arrive_ecn(&mut self, now: Time, segment: &Segment, ack: Option<u64>) {
        if segment.flags.contains(Flags::CWR) && segment.payload_bytes > 0 && !self.ecn.exact {
            self.ecn.echoes = false;
        }
        let sender = &mut self.sender;
        let believed = ack.filter(|ack| (sender.snd_una..=sender.snd_max).contains(ack));
        let is_news = believed.is_some_and(|ack| !self.ecn.is_of_before_reduction(ack));
        if !segment.flags.contains(Flags::ECE) || !is_news || sender.recovery.is_recovering() {
            return;
        }
        let flight_bytes = sender.counted_flight(&sender.outstanding());
        sender.congestion.on_congestion(Cause::EcnEcho { flight_bytes }, now);
        self.ecn.on_reduction(sender.snd_max);
        self.ecn.reduced_by_echo = true;
        self.stats.ecn_reductions += 1;
    }
}
