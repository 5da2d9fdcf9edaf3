//! The way of nearly every segment, decided by one look: header prediction (Jacobson, "4BSD TCP Header
//! Prediction", ACM CCR 20(2), 1990).
//!
//! A connection is steady while it is open in both directions, everything has arrived in order, and nothing
//! is repaired, sent anew or probed. Then three things remain: the next data of the peer, or an
//! acknowledgement of data in flight, arrives without anything else in it; a full-sized segment of new data
//! goes; an acknowledgement goes. They are done here; everything else by the checks of
//! [`arrival`](super::arrival) and the order of [`sender`](super::sender), which would come to the same with
//! these: `tests/twins.rs` holds that, state by state.
//!
//! Amid losses most segments still are without options and control bits, and what goes is new data, an
//! acknowledgement, what is sent anew or repaired, what limited transmit lets go, the rest of what was
//! written, or nothing. For these there is a second short way, tried where the first does not lead.

use roamsim_engine::Time;

use super::receiver::Acknowledgement;
use super::timers::Purpose;
use super::{Connection, Extended, Pending, State, Steady};
use crate::ranges::Range;
use crate::tcp::segment::{Flags, Segment};
use crate::tcp::sequence::to_wire;

/// What a connection has to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// A full-sized segment of new data.
    Data,
    /// An acknowledgement alone.
    Acknowledgement,
    Nothing,
    /// A full-sized segment from SND.NXT on that is sent anew, or has something else that new data mostly has
    /// not.
    FullSized,
    /// The same of new data that limited transmit lets go.
    BeyondWindow,
    /// What recovery asks for ahead of new data.
    Repair,
    /// All that is left to send, in a segment that need not be full-sized.
    Rest,
    /// What is found by the general order.
    Other,
    /// A full-sized segment of new data, of an extended connection.
    ExtendedData,
    /// An acknowledgement alone, of an extended connection.
    ExtendedAcknowledgement,
}

/// What a segment of data says of itself, before it says what every segment says.
pub(super) struct Data {
    pub start: u64,
    pub length: u32,
    pub flags: Flags,
}

impl Connection {
    /// Whether nothing goes on but new data and its acknowledgements.
    #[inline(always)]
    pub(super) fn is_steady(&self) -> bool {
        self.state == State::Established
            && self.receiver.is_in_order()
            && self.sender.is_undisturbed()
            && !self.ecn.marked
            && self.reset.is_none()
            && !self.syn_due
            && !self.timers.runs(Purpose::Persist)
            && !self.config.one_way_connections
    }

    /// Keeps whether the connection is steady, after anything that may have ended it, or begun it.
    #[inline]
    pub(super) fn settle(&mut self) {
        self.steady = match self.is_steady() {
            false => Steady::No,
            true if self.extended.has_any() => Steady::Extended,
            true => Steady::Plain,
        };
    }

    /// Takes a segment that is as expected of a steady connection that is plain; false of any other.
    #[inline(always)]
    pub(super) fn arrive_steady(&mut self, now: Time, segment: &Segment) -> bool {
        debug_assert!(self.steady == Steady::No || self.is_steady());
        self.arrive_expected::<false>(now, segment)
    }

    /// The same of one that is extended.
    #[inline]
    pub(super) fn arrive_extended(&mut self, now: Time, segment: &Segment) -> bool {
        self.arrive_expected::<true>(now, segment)
    }

    /// The same of either kind, which is known here: a plain one is asked nothing about what it has not.
    #[inline(always)]
    fn arrive_expected<const EXTENDED: bool>(&mut self, now: Time, segment: &Segment) -> bool {
        let (sender, receiver) = (&mut self.sender, &self.receiver);
        let seq = receiver.rcv_nxt;
        let payload = u64::from(segment.payload_bytes);
        let acked = u64::from(segment.ack.wrapping_sub(to_wire(sender.iss, sender.snd_una)));
        let kind = if EXTENDED { Steady::Extended } else { Steady::Plain };
        let has_timestamps = EXTENDED && self.extended.has(Extended::TIMESTAMPS);
        let expected = self.steady == kind
            && segment.flags.0 & !Flags::PSH.0 == Flags::ACK.0
            && segment.options.sack.is_empty()
            && segment.seq == to_wire(receiver.irs, seq)
            && seq + payload <= receiver.rcv_adv
            && acked <= sender.flight()
            // Neither a duplicate ACK nor a window that is out of date.
            && (acked > 0 || payload > 0 && sender.is_window_news(seq))
            && (!has_timestamps || receiver.expects_timestamp(segment));
        if !expected {
            return false;
        }
        sender.take_window(segment, seq, sender.snd_una + acked);
        if acked > 0 {
            self.take_ack::<EXTENDED>(now, segment, acked);
        }
        if has_timestamps {
            self.record_timestamp(now, segment, seq);
        }
        if payload > 0 {
            self.stats.data_segments_received += 1;
            self.receiver.rcv_nxt += payload;
            let at_once =
                EXTENDED && self.extended.has(Extended::ARRIVALS) && self.note_arrival(now, segment);
            self.owe_acknowledgement(now, payload, at_once);
        }
        true
    }

    /// So many octets of those in flight are acknowledged.
    #[inline(always)]
    fn take_ack<const EXTENDED: bool>(&mut self, now: Time, segment: &Segment, acked: u64) {
        let sender = &mut self.sender;
        let ack = sender.snd_una + acked;
        if EXTENDED {
            self.take_echo(now, segment, ack);
        } else if let Some(elapsed) = sender.end_timing(now, ack) {
            self.take_round_trip(elapsed, 1);
        }
        let sender = &mut self.sender;
        sender.snd_una = ack;
        self.pending.set(Pending::ACKNOWLEDGED);
        let mut heard = sender.detection.on_new_ack(ack, now);
        sender.recovery.on_undisturbed_ack(ack);
        let is_tracked = EXTENDED && sender.is_tracked();
        if is_tracked {
            self.finish_steady_ack(now, &mut heard);
        }
        let (sender, most_segments) = (&mut self.sender, u64::from(self.config.byte_counting_limit));
        if EXTENDED {
            sender.grow_window(now, acked, most_segments, heard.rtt, true);
        } else {
            sender.grow_any_window(now, acked, most_segments, heard.rtt, true);
        }
        sender.count_round(ack);
        self.restart_timer(now);
        if is_tracked {
            self.schedule_probe(now);
        }
        if heard.overdue {
            self.answer_loss(now);
            self.settle();
        }
    }

    /// What there is to send.
    #[inline(always)]
    pub(super) fn due(&self) -> Due {
        let due = if self.steady == Steady::Plain { self.due_when_steady() } else { Due::Other };
        if due == Due::Other { self.due_amid_losses() } else { due }
    }

    /// What a steady connection has to send.
    #[inline(always)]
    fn due_when_steady(&self) -> Due {
        debug_assert!(self.is_steady());
        let (sender, acknowledgement) = (&self.sender, self.receiver.acknowledgement);
        if acknowledgement == Acknowledgement::Alone
            || acknowledgement == Acknowledgement::Now && !self.config.piggyback_acks
        {
            return Due::Acknowledgement;
        }
        let queued = 1 + sender.written - sender.snd_nxt;
        let flight = sender.flight();
        if queued > 0 {
            if queued < sender.smss || flight == 0 || flight + sender.smss > sender.snd_wnd {
                return Due::Other;
            }
            if flight + sender.smss <= sender.congestion.cwnd_bytes() {
                return Due::Data;
            }
        }
        if acknowledgement == Acknowledgement::None { Due::Nothing } else { Due::Acknowledgement }
    }

    /// Takes a segment of an open connection that is not steady, or not as expected, where it has neither
    /// options nor control bits and lies within both windows: what comes amid losses. False of any other. It
    /// does what [`arrival`](super::arrival) would, of which nothing is left to check.
    #[inline]
    pub(super) fn arrive_plain(&mut self, now: Time, segment: &Segment) -> bool {
        let (sender, receiver) = (&mut self.sender, &self.receiver);
        // What is older than expected lies further on than any window.
        let seq =
            receiver.rcv_nxt + u64::from(segment.seq.wrapping_sub(to_wire(receiver.irs, receiver.rcv_nxt)));
        let payload = u64::from(segment.payload_bytes);
        let acked = u64::from(segment.ack.wrapping_sub(to_wire(sender.iss, sender.snd_una)));
        let expected = self.state == State::Established
            && segment.flags.0 & !Flags::PSH.0 == Flags::ACK.0
            && segment.options.sack.is_empty()
            && seq + payload <= receiver.rcv_adv
            && acked <= sender.snd_max - sender.snd_una
            && !self.extended.has_any()
            && !self.ecn.marked
            && !self.timers.runs(Purpose::Persist)
            && !self.config.one_way_connections;
        if !expected {
            return false;
        }
        let ack = sender.snd_una + acked;
        if acked > 0 {
            sender.take_window(segment, seq, ack);
            self.new_ack(now, segment, ack);
        } else {
            let duplicate = payload == 0
                && !sender.recovery.takes_blocks()
                && sender.offers_the_same(segment)
                && self.timers.runs(Purpose::Retransmission);
            if sender.is_window_news(seq) {
                sender.take_window(segment, seq, ack);
            }
            if duplicate {
                self.duplicate_ack(now);
            }
        }
        if payload > 0 {
            self.receive_plain(now, segment, seq);
        }
        self.settle();
        true
    }

    /// Takes data that lies within the window.
    #[inline(always)]
    fn receive_plain(&mut self, now: Time, segment: &Segment, seq: u64) {
        let (receiver, payload) = (&mut self.receiver, u64::from(segment.payload_bytes));
        if seq > receiver.rcv_nxt && receiver.takes_more() {
            self.stats.data_segments_received += 1;
            receiver.acknowledgement = Acknowledgement::Alone;
            self.receive_beyond_gap(Range { start: seq, end: seq + payload });
        } else {
            self.receive(now, segment, seq);
        }
    }

    /// What there is to send for one that is not steady, or for which [that](Connection::due_when_steady) is
    /// not told, where it is data in full-sized segments or an acknowledgement without options, or nothing
    /// before something is acknowledged, as it mostly is behind what goes at once. Data without SACK, whose
    /// order takes note of what it passes over.
    #[inline(never)]
    fn due_amid_losses(&self) -> Due {
        if self.extended.has_any() {
            let due = self.due_of_extended();
            if due != Due::Other || self.sender.is_held() {
                return due;
            }
        }
        let (sender, acknowledgement) = (&self.sender, self.receiver.acknowledgement);
        if self.reset.is_some() || self.syn_due || self.config.one_way_connections {
            return Due::Other;
        }
        if acknowledgement != Acknowledgement::None {
            let goes_alone = acknowledgement == Acknowledgement::Alone
                || !self.config.piggyback_acks
                || sender.has_sent_all();
            return if goes_alone && !self.has_options() { Due::Acknowledgement } else { Due::Other };
        }
        let (smss, flight) = (sender.smss, sender.flight());
        let full_sized = 1 + sender.written > sender.snd_nxt + smss
            && flight > 0
            && flight + smss <= sender.snd_wnd
            && !sender.recovery.takes_blocks()
            && self.state == State::Established;
        if !full_sized {
            return if sender.has_sent_all() { Due::Nothing } else { self.due_of_rest() };
        }
        if sender.recovery.retransmits() {
            return if sender.recovery.is_recovering() { Due::Repair } else { Due::Other };
        }
        let cwnd = sender.send_window();
        if flight + smss > cwnd {
            let goes_beyond = self.limited_transmit_lets_go(flight, smss, cwnd);
            return if goes_beyond { Due::BeyondWindow } else { Due::Nothing };
        }
        let is_plain = sender.is_new_and_unprobed()
            && self.timers.runs(Purpose::Retransmission)
            && !self.has_options()
            && !sender.is_tracked();
        if is_plain { Due::Data } else { Due::FullSized }
    }

    /// What an extended connection has to send that is steady.
    fn due_of_extended(&self) -> Due {
        if self.steady != Steady::Extended {
            return Due::Other;
        }
        match self.due_when_steady() {
            Due::Data if self.sender.is_held() => Due::Other,
            Due::Data => Due::ExtendedData,
            Due::Acknowledgement => Due::ExtendedAcknowledgement,
            due => due,
        }
    }

    /// Whether all that is left goes in a segment, as a message does whose user waits before the next one, or
    /// the first segment of all that goes anew, which every congestion window has room for.
    #[inline(never)]
    fn due_of_rest(&self) -> Due {
        let (sender, flight) = (&self.sender, self.sender.flight());
        let queued = (1 + sender.written).saturating_sub(sender.snd_nxt);
        let goes_anew = sender.snd_nxt < sender.snd_max;
        let is_rest = (1..=sender.smss).contains(&queued);
        let goes = (is_rest || flight == 0 && goes_anew && queued > 0)
            && flight + queued.min(sender.smss) <= sender.snd_wnd
            && (flight == 0 || flight + queued <= sender.send_window() && (goes_anew || !self.config.nagle))
            && !sender.fin_queued
            && !sender.recovery.is_recovering()
            && !sender.recovery.takes_blocks()
            && self.state == State::Established;
        match (goes, is_rest) {
            (true, true) => Due::Rest,
            (true, false) => Due::FullSized,
            (false, _) => Due::Other,
        }
    }

    /// The segment that is due amid losses, or by the general order.
    #[inline(never)]
    pub(super) fn transmit_otherwise(&mut self, now: Time, due: Due) -> Option<Segment> {
        match due {
            Due::FullSized | Due::BeyondWindow | Due::Rest => {
                let Data { start, length, flags } = self.data_amid_losses(now, due);
                let options = self.options(now, length);
                Some(self.segment(start, flags, length, options))
            }
            Due::Repair => self.transmit_in_recovery(now),
            Due::ExtendedData => {
                let Data { start, length, flags } = self.full_sized_data(now);
                if self.sender.is_tracked() {
                    self.note_transmission(now, start, start + u64::from(length), false);
                }
                let options = self.options(now, length);
                Some(self.segment(start, flags, length, options))
            }
            Due::ExtendedAcknowledgement => Some(self.pure_ack(now)),
            Due::Data | Due::Acknowledgement | Due::Nothing | Due::Other => self.transmit(now),
        }
    }

    /// Data from SND.NXT on is sent, which is full-sized or all that is left.
    #[inline(never)]
    pub(super) fn data_amid_losses(&mut self, now: Time, due: Due) -> Data {
        let (start, smss) = (self.sender.snd_nxt, self.sender.smss);
        let mut length = smss;
        if due == Due::Rest {
            length = 1 + self.sender.written - start;
            if self.sender.flight() == 0 && start == self.sender.snd_max {
                self.restart_after_idle(now);
            }
        }
        self.sender.let_go(if due == Due::BeyondWindow { smss } else { 0 });
        let flags = self.send_data(now, start, length, false);
        Data { start, length: length as u32, flags }
    }

    /// Whether what is sent now has options.
    #[inline]
    pub(super) fn has_options(&self) -> bool {
        self.extended.has(Extended::TIMESTAMPS) || self.receiver.has_blocks_to_tell()
    }

    /// New data in a full-sized segment is sent.
    #[inline(always)]
    pub(super) fn full_sized_data(&mut self, now: Time) -> Data {
        debug_assert!(self.timers.runs(Purpose::Retransmission));
        let sender = &mut self.sender;
        let (start, length) = (sender.snd_nxt, sender.smss);
        let end = start + length;
        sender.time_segment(end, now);
        sender.detection.on_sent(start, end, now, false);
        sender.snd_nxt = end;
        sender.snd_max = end;
        sender.note_sent(now);
        self.stats.data_segments_sent += 1;
        self.stats.bytes_sent += length;
        let mut flags = if end == 1 + sender.written { Flags::PSH } else { Flags::NONE };
        if self.ecn.agreed {
            flags |= self.ecn.flags(true);
        }
        Data { start, length: length as u32, flags }
    }
}
