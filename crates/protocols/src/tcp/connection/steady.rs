//! The way of nearly every segment, decided by one look: header prediction (Jacobson, "4BSD TCP Header
//! Prediction", ACM CCR 20(2), 1990).
//!
//! A connection is steady while it is open in both directions, everything has arrived in order, and nothing
//! is repaired, sent anew or probed. Then three things remain: the next data of the peer, or an
//! acknowledgement of data in flight, arrives without anything else in it; a full-sized segment of new data
//! goes; an acknowledgement goes. They are found here; everything else by the checks of
//! [`arrival`](super::arrival) and the order of [`next`](super::next), which would come to the same with
//! these: `tests/twins.rs` holds that, state by state.
//!
//! Amid losses most segments that arrive still are without options and control bits. For these there is a
//! second short way, tried where the first does not lead.

use roamsim_engine::Time;

use super::receiver::Acknowledgement;
use super::timers::Timer;
use super::{Connection, Extended, Pending, State, Steady};
use crate::ranges::Range;
use crate::tcp::detection::Heard;
use crate::tcp::segment::{Flags, Segment};
use crate::tcp::sequence::to_wire;

/// What a steady connection has to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// A full-sized segment of new data.
    Data,
    /// An acknowledgement alone.
    Acknowledgement,
    Nothing,
    /// What is found by the general order.
    Other,
}

impl Connection {
    /// Whether nothing goes on but new data and its acknowledgements.
    #[inline(always)]
    pub(super) fn is_steady(&self) -> bool {
        self.state == State::Established
            && self.receiver.is_in_order()
            && self.sender.is_undisturbed()
            && !self.ecn.marked
            && !self.ecn.awaits_unmarked()
            && self.reset.is_none()
            && !self.syn_due
            && !self.timers.runs(Timer::Persist)
            && !self.config.one_way_connections
    }

    /// Keeps whether the connection is steady, after anything that may have ended it, or begun it.
    #[inline]
    pub(super) fn settle(&mut self) {
        self.steady = match (self.is_steady(), self.extended.0) {
            (false, _) => Steady::No,
            (true, 0) => Steady::Plain,
            (true, Extended::TIMESTAMPS) => Steady::Stamped,
            (true, _) => Steady::Extended,
        };
    }

    /// Takes a segment that is as expected of a steady connection that is plain; false of any other.
    #[inline(always)]
    pub(super) fn arrive_steady(&mut self, now: Time, segment: &Segment) -> bool {
        debug_assert!(self.steady == Steady::No || self.is_steady());
        self.arrive_expected::<false, false>(now, segment)
    }

    /// The same of one that has timestamps alone.
    #[inline]
    pub(super) fn arrive_stamped(&mut self, now: Time, segment: &Segment) -> bool {
        self.arrive_expected::<true, false>(now, segment)
    }

    /// The same of another that is extended.
    #[inline(never)]
    pub(super) fn arrive_extended(&mut self, now: Time, segment: &Segment) -> bool {
        self.arrive_expected::<true, true>(now, segment)
    }

    /// The same of each kind, which is known here: none is asked about what it has not. It may be `STAMPED`,
    /// and is if it has no `OTHERS`.
    #[inline(always)]
    fn arrive_expected<const STAMPED: bool, const OTHERS: bool>(
        &mut self,
        now: Time,
        segment: &Segment,
    ) -> bool {
        let (sender, receiver) = (&mut self.sender, &self.receiver);
        let seq = receiver.rcv_nxt;
        let payload = u64::from(segment.payload_bytes);
        let acked = u64::from(segment.ack.wrapping_sub(to_wire(sender.iss, sender.snd_una)));
        let kind = match (STAMPED, OTHERS) {
            (_, true) => Steady::Extended,
            (true, false) => Steady::Stamped,
            (false, false) => Steady::Plain,
        };
        let has_timestamps = STAMPED && (!OTHERS || self.extended.has(Extended::TIMESTAMPS));
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
        if OTHERS && self.extended.has(Extended::LIVENESS) {
            self.note_heard(now, segment);
        }
        if acked > 0 {
            // Apart where it is long: data that arrives alone does not pay for it.
            match OTHERS {
                true => self.take_extended_ack(now, segment, acked),
                false => self.take_ack::<STAMPED, OTHERS>(now, segment, acked),
            }
        }
        if has_timestamps {
            self.record_timestamp(now, segment, seq);
        }
        if payload > 0 {
            self.stats.data_segments_received += 1;
            self.receiver.rcv_nxt += payload;
            let at_once = OTHERS && self.extended.has(Extended::ARRIVALS) && self.note_arrival(now, segment);
            self.owe_acknowledgement(now, payload, at_once);
        }
        true
    }

    #[inline(never)]
    fn take_extended_ack(&mut self, now: Time, segment: &Segment, acked: u64) {
        self.take_ack::<true, true>(now, segment, acked);
    }

    /// So many octets of those in flight are acknowledged.
    #[inline(always)]
    fn take_ack<const STAMPED: bool, const OTHERS: bool>(
        &mut self,
        now: Time,
        segment: &Segment,
        acked: u64,
    ) {
        let sender = &mut self.sender;
        let ack = sender.snd_una + acked;
        if OTHERS {
            self.take_echo(now, segment, ack);
        } else if STAMPED {
            self.take_timestamp_echo(now, segment, ack);
        } else if let Some(elapsed) = sender.end_timing(now, ack) {
            self.take_round_trip(elapsed, 1, ack);
        }
        let sender = &mut self.sender;
        sender.snd_una = ack;
        self.pending.set(Pending::ACKNOWLEDGED);
        if OTHERS && self.extended.has(Extended::MARKS) {
            sender.congestion.on_acked_marks(acked, false, ack, sender.snd_nxt);
        }
        let Heard { mut rtt, overdue } = sender.detection.on_new_ack(ack, now);
        sender.recovery.on_undisturbed_ack(ack);
        let is_tracked = OTHERS && sender.is_tracked();
        if OTHERS && self.extended.has(Extended::LIVENESS) {
            self.note_progress(now);
        }
        if is_tracked {
            rtt = self.finish_steady_ack(now, rtt);
        }
        let (sender, most_segments) = (&mut self.sender, u64::from(self.config.byte_counting_limit));
        if OTHERS {
            sender.grow_window(now, acked, most_segments, rtt, true);
        } else {
            sender.grow_any_window(now, acked, most_segments, rtt, true, sender.in_use_bytes());
        }
        sender.count_round(ack);
        self.restart_timer(now);
        if is_tracked {
            self.schedule_probe(now, false);
        }
        if overdue {
            self.answer_loss(now);
            self.settle();
        }
        if is_tracked {
            self.fill_send_buffer(now);
        }
    }

    /// What a steady connection has to send.
    #[inline(always)]
    pub(super) fn due_when_steady(&self) -> Due {
        debug_assert!(self.is_steady());
        let sender = &self.sender;
        if self.receiver.acknowledges_alone() {
            return Due::Acknowledgement;
        }
        let queued = 1 + sender.written - sender.snd_nxt;
        let flight = sender.flight();
        if queued > 0 {
            let with_one_more = flight + sender.smss;
            if queued < sender.smss || flight == 0 {
                return Due::Other;
            }
            if with_one_more > sender.snd_wnd {
                // Half of the peer's buffer goes in a smaller segment (RFC 9293 3.8.6.2.1).
                if flight + sender.max_snd_wnd / 2 <= sender.snd_wnd {
                    return Due::Other;
                }
            } else if with_one_more <= sender.congestion.cwnd_bytes()
                && (self.steady != Steady::Extended || !self.timers.runs(Timer::Pacing))
            {
                return Due::Data;
            }
        }
        match self.receiver.acknowledgement {
            Acknowledgement::None => Due::Nothing,
            _ => Due::Acknowledgement,
        }
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
            && !self.extended.has_more_than_extras()
            && !self.config.accurate_ecn
            && !self.ecn.marked
            && !self.timers.runs(Timer::Persist)
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
                && self.timers.runs(Timer::Retransmission);
            if sender.is_window_news(seq) {
                sender.take_window(segment, seq, ack);
            }
            if duplicate {
                self.duplicate_ack(now);
            }
        }
        if self.sender.is_tracked() {
            self.finish_ack(now, segment, false);
            if acked > 0 {
                self.fill_send_buffer(now);
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
}
