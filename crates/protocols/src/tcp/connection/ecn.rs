//! Explicit Congestion Notification (RFC 3168 section 6.1).
//!
//! A SYN with ECE and CWR offers it, a SYN-ACK with ECE agrees. New data then goes in packets that queues may
//! mark; repeated data, probes of the window, and segments without data do not (6.1.4 to 6.1.6). When a mark
//! has arrived, every segment says ECE until one with CWR comes (6.1.3). The first acknowledgement with ECE
//! for what was sent since the last reduction has the window reduced as by a loss, or by less (RFC 8511),
//! without anything sent anew; marks and losses of what was sent before it tell of the same congestion
//! (6.1.2). With PRR for marks it comes down over a round trip ([`mark_reduction`](super::mark_reduction)).
//! The next new data says CWR, after a loss too. Where marks may leave a window of one segment, a
//! further one has new data wait for the RTO (6.1.2).
//!
//! A congestion control that counts marks (DCTCP, RFC 8257) has its receiver say ECE for marked data alone.
//! DCTCP.CE says whether the last data was marked. If it changes, an acknowledgement goes at once, in the new
//! state; the one in the old state that section 3.2 allows is not sent. CWR has no meaning then.
//!
//! With accurate feedback (AccECN, RFC 9768) a SYN also has AE, and
//! [`accurate_ecn`](crate::tcp::accurate_ecn) says what is echoed. An acknowledgement that tells of new marks
//! is then taken as one with ECE.
//!
//! Not modelled: another SYN without ECN where the first one is lost (6.1.1.1), the ECN nonce.

use roamsim_engine::Time;

use super::receiver::Acknowledgement;
use super::timers::Timer;
use super::{Connection, State};
use crate::tcp::accurate_ecn::{self, AccurateEcn, Answer, Codepoint};
use crate::tcp::config::Config;
use crate::tcp::congestion::Cause;
use crate::tcp::recovery::{Answered, Recovery};
use crate::tcp::segment::{AccurateOption, Flags, OPTIONS_BYTES, Options, Segment};
use crate::tcp::sequence::from_wire;

/// The state of both directions.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ecn {
    /// Both ends have agreed on it.
    pub(super) agreed: bool,
    /// The segment that is handled has a mark that counts.
    pub(super) marked: bool,
    /// Feedback is accurate (RFC 9768).
    pub(super) accurate: bool,
    /// Marks are echoed one by one (RFC 8257 section 3.2).
    pub(super) exact: bool,
    /// A mark has arrived, and the peer has not said yet that it has slowed down. Where marks are echoed one
    /// by one: DCTCP.CE.
    echoes: bool,
    /// [`Answered`] by the last reduction, which takes less room so.
    cwr_due: bool,
    answered_up_to: u64,
    answered_by_echo: bool,
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

    /// Whether data without a mark changes what is echoed, or may.
    pub(super) fn awaits_unmarked(&self) -> bool {
        self.exact && self.echoes || self.accurate
    }

    /// What a segment says, of a connection that has agreed on ECN. Only a packet of new data may be marked,
    /// and says that this end has slowed down.
    pub(super) fn flags(&mut self, has_new_data: bool) -> Flags {
        self.capable = has_new_data;
        let echo = if self.echoes { Flags::ECE } else { Flags::NONE };
        let reduced = has_new_data && std::mem::take(&mut self.cwr_due);
        if reduced { echo | Flags::CWR } else { echo }
    }

    /// The window has been reduced, for whatever reason; all up to `snd_max` was sent before.
    pub(super) fn on_reduction(&mut self, snd_max: u64) {
        (self.cwr_due, self.answered_up_to, self.answered_by_echo) = (true, snd_max, false);
    }

    /// What the last reduction answers.
    pub(super) fn answered(self) -> Answered {
        Answered { cwr_due: self.cwr_due, up_to: self.answered_up_to, by_echo: self.answered_by_echo }
    }

    /// The last reduction is taken back, and so is its CWR (`tcp_ecn_withdraw_cwr` of Linux): what it was
    /// `before` holds again.
    pub(super) fn undo_reduction(&mut self, before: Answered) {
        self.cwr_due &= before.cwr_due;
        (self.answered_up_to, self.answered_by_echo) = (before.up_to, before.by_echo);
    }

    /// The last reduction answers losses from before it, too.
    pub(super) fn answer_losses(&mut self) {
        self.answered_by_echo = true;
    }

    /// Whether all up to `ack` was sent before the last reduction.
    pub(super) fn is_of_before_reduction(self, ack: u64) -> bool {
        ack <= self.answered_up_to
    }

    /// A loss of what was sent at `offset` is answered: whether the window has been reduced for that time
    /// already (section 6.1.2: once for the marked and dropped packets of a window).
    pub(super) fn has_answered(&mut self, offset: u64) -> bool {
        std::mem::take(&mut self.answered_by_echo) && offset < self.answered_up_to
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

    /// Whether feedback of marks is accurate (RFC 9768), or may become so: whoever brings segments in says
    /// the codepoint of each by [`note_codepoint`](Connection::note_codepoint).
    #[inline]
    pub fn takes_codepoints(&self) -> bool {
        self.ecn.accurate || self.state == State::Listen || self.state == State::SynSent
    }

    /// The segment that is handled next came in a packet that says this.
    #[cold]
    pub fn note_codepoint(&mut self, codepoint: Codepoint) {
        if self.config.accurate_ecn
            && self.takes_codepoints()
            && let Some(extras) = &mut self.sender.extras
        {
            extras.codepoint = codepoint;
        }
    }

    /// Whether both ends have agreed on AccECN.
    pub fn ecn_is_accurate(&self) -> bool {
        self.ecn.accurate
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
        self.ecn.marked = self.is_in_window(segment);
        self.note_codepoint(Codepoint::Marked);
        self.settle();
    }

    /// Whether a segment has octets within the window.
    pub(super) fn is_in_window(&self, segment: &Segment) -> bool {
        let receiver = &self.receiver;
        from_wire(receiver.irs, segment.seq, receiver.rcv_nxt).is_some_and(|seq| {
            seq < receiver.rcv_adv && seq + u64::from(segment.payload_bytes) > receiver.rcv_nxt
        })
    }

    fn accurate_ecn(&mut self) -> Option<&mut AccurateEcn> {
        self.sender.extras.as_mut()?.accurate_ecn.as_deref_mut()
    }

    /// The peer's SYN says whether it agrees, where this end offers it.
    pub(super) fn agree_on_marks(&mut self, flags: Flags) {
        if !(self.config.ecn && self.config.accurate_ecn) {
            return self.ecn.synchronize(&self.config, flags);
        }
        let answer = match flags.contains(Flags::ACK) {
            true => accurate_ecn::read_syn_ack(flags),
            false => accurate_ecn::read_syn(flags),
        };
        self.ecn.agreed = answer != Answer::Without;
        self.ecn.accurate = answer == Answer::Accurate;
        self.ecn.exact = answer == Answer::Classic && self.config.echoes_exactly();
        if self.ecn.accurate
            && let Some(extras) = &mut self.sender.extras
        {
            extras.accurate_ecn = Some(Box::new(AccurateEcn::new(extras.codepoint)));
        }
    }

    /// What a SYN, or a SYN-ACK that `answers`, says.
    pub(super) fn mark_flags_on_syn(&mut self, answers: bool) -> Flags {
        let (offers, offers_accurate) = (self.config.ecn, self.config.accurate_ecn);
        match answers.then(|| self.accurate_ecn()).flatten() {
            Some(accurate) => accurate.flags(true),
            None if offers && offers_accurate && !answers => Flags::AE | Flags::CWR | Flags::ECE,
            None => self.ecn.flags_on_syn(offers, answers),
        }
    }

    /// The SYN-ACK of this end is acknowledged.
    #[cold]
    pub(super) fn end_mark_handshake(&mut self) {
        if let Some(accurate) = self.accurate_ecn() {
            accurate.end_handshake();
        }
    }

    /// What a segment says, of a connection that has agreed on ECN.
    #[inline(always)]
    pub(super) fn mark_flags(&mut self, has_new_data: bool) -> Flags {
        if self.ecn.accurate { self.accurate_flags(has_new_data) } else { self.ecn.flags(has_new_data) }
    }

    #[inline(never)]
    fn accurate_flags(&mut self, has_new_data: bool) -> Flags {
        let Some(accurate) = self.accurate_ecn() else { return Flags::NONE };
        let (carries, flags) = (accurate.carries, accurate.flags(false));
        self.ecn.capable = has_new_data && carries;
        flags
    }

    /// The counters go with a segment that has room for them, in the header and within the MSS.
    #[cold]
    pub(super) fn add_accurate_option(&mut self, options: &mut Options, payload_bytes: u32) {
        let bytes = options.bytes() + AccurateOption::BYTES;
        let most = self.sender.agreed_mss.min(self.sender.path_mss);
        if bytes > OPTIONS_BYTES || payload_bytes > 0 && bytes + payload_bytes > most {
            return;
        }
        if let Some(option) = self.accurate_ecn().and_then(AccurateEcn::option) {
            options.sack.set_accurate(option);
        }
    }

    /// A segment within the window has been handled.
    #[cold]
    pub(super) fn count_packet(&mut self, segment: &Segment) {
        let codepoint = self.sender.extras.as_ref().map_or(Codepoint::NotCapable, |extras| extras.codepoint);
        let at_once =
            self.accurate_ecn().is_some_and(|accurate| accurate.on_packet(codepoint, segment.payload_bytes));
        if at_once && self.state.is_synchronized() {
            let receiver = &mut self.receiver;
            receiver.acknowledgement = receiver.acknowledgement.max(Acknowledgement::Now);
        }
    }

    /// A segment with the counts of AccECN as one with ECE, where these tell of new marks. A congestion
    /// control that counts marks is told of them. The segment that opens the connection says how its SYN-ACK
    /// came.
    #[cold]
    pub(super) fn translate_ace(&mut self, segment: &Segment, ack: Option<u64>, opens: bool) -> Segment {
        let sender = &mut self.sender;
        let (snd_una, smss) = (sender.snd_una, sender.smss);
        let believed = ack.filter(|ack| (snd_una..=sender.snd_max).contains(ack));
        let accurate = sender.extras.as_mut().and_then(|extras| extras.accurate_ecn.as_deref_mut());
        let mut is_marked = false;
        let Some(accurate) = accurate else { return segment.clone() };
        if opens {
            accurate.on_handshake_ack(segment.flags);
        } else if let Some(ack) = believed {
            let acked = ack - snd_una;
            let octets = (acked, sender.snd_max - snd_una);
            let told = accurate.on_ack(segment.flags, segment.options.sack.accurate(), octets, smss);
            is_marked = told.is_new;
            if acked > 0 {
                sender.congestion.on_acked_marks(told.bytes, true, snd_una, sender.snd_nxt);
                sender.congestion.on_acked_marks(acked - told.bytes, false, ack, sender.snd_nxt);
            }
        }
        let without = segment.flags.0 & !(Flags::AE | Flags::CWR | Flags::ECE).0;
        let flags = Flags(without) | if is_marked { Flags::ECE } else { Flags::NONE };
        Segment { flags, ..segment.clone() }
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
        let is_believed = |ack: &u64| (sender.snd_una..=sender.snd_max).contains(ack);
        let Some(ack) = ack.filter(|ack| segment.flags.contains(Flags::ECE) && is_believed(ack)) else {
            return;
        };
        if let Recovery::Rack(rack) = &mut sender.recovery
            && let Some(undo) = &mut rack.undo
        {
            undo.congestion = None;
        }
        if self.ecn.is_of_before_reduction(ack) || sender.recovery.is_recovering() {
            return;
        }
        let flight_bytes = sender.counted_flight(&sender.outstanding());
        let is_least = sender.congestion.cwnd_bytes() <= sender.smss;
        if self.config.reduces_for_marks() {
            sender.begin_mark_reduction(flight_bytes, now);
        } else {
            sender.reduce(Cause::EcnEcho { flight_bytes }, false, now);
        }
        // A repair before that proves to be needless does not take this back (as Linux).
        if let Recovery::Rack(rack) = &mut sender.recovery {
            rack.undo = None;
        }
        self.ecn.on_reduction(sender.snd_max);
        self.ecn.answer_losses();
        self.stats.ecn_reductions += 1;
        if self.config.marks_leave_one_segment() {
            self.wait_for_marks(now, is_least);
        }
    }

    /// A mark at a window of one segment: new data waits for an RTO, and twice as long for each further mark
    /// in a row (section 6.1.2, RFC 9438 4.6).
    fn wait_for_marks(&mut self, now: Time, is_least: bool) {
        let Some(extras) = &mut self.sender.extras else { return };
        if !is_least {
            extras.mark_waits = 0;
            return;
        }
        let wait = self.sender.rtt.backed_off(&self.config.rtt_bounds(), extras.mark_waits);
        extras.mark_waits = extras.mark_waits.saturating_add(1);
        self.timers.start(Timer::Pacing, now + wait);
    }
}
