//! The way of nearly every segment, decided by one look: header prediction (Jacobson, "4BSD TCP Header Prediction", ACM CCR
//! 20(2), 1990).
//!
//! A connection is steady while it is open in both directions, everything has arrived in order, and nothing is repaired, sent
//! anew or probed. Then three things remain: the next data of the peer, or an acknowledgement of data in flight, arrives without
//! anything else in it; a full-sized segment of new data goes; an acknowledgement goes. They are done here; everything else by
//! the checks of [`arrival`](super::arrival) and the order of [`sender`](super::sender), which would come to the same with
//! these: `twins` holds that, state by state.

use roamsim_engine::Time;

use super::receiver::Acknowledgement;
use super::timers::Purpose;
use super::{Connection, Pending, State};
use crate::tcp::segment::{Flags, Options, Segment};
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
    pub(super) fn is_steady(&self) -> bool {
        self.state == State::Established
            && self.receiver.is_in_order()
            && self.sender.is_undisturbed()
            && !self.timestamps
            && !self.ecn.marked
            && self.reset.is_none()
            && !self.syn_due
            && !self.timers.runs(Purpose::Persist)
    }

    /// Keeps whether the connection is steady, after anything that may have ended it, or begun it.
    #[inline]
    pub(super) fn settle(&mut self) {
        self.steady = self.is_steady();
    }

    /// Takes a segment that is as expected of a steady connection; false of any other.
    #[inline(always)]
    pub(super) fn arrive_steady(&mut self, now: Time, segment: &Segment) -> bool {
        debug_assert!(!self.steady || self.is_steady());
        let (sender, receiver) = (&mut self.sender, &mut self.receiver);
        let seq = receiver.rcv_nxt;
        let payload = u64::from(segment.payload_bytes);
        let acked = u64::from(segment.ack.wrapping_sub(to_wire(sender.iss, sender.snd_una)));
        let expected = self.steady
            && segment.flags.0 & !Flags::PSH.0 == Flags::ACK.0
            && segment.options.sack.is_empty()
            && segment.seq == to_wire(receiver.irs, seq)
            && seq + payload <= receiver.rcv_adv
            && acked <= sender.flight()
            // Neither a duplicate ACK nor a window that is out of date.
            && (acked > 0 || payload > 0 && sender.is_window_news(seq));
        if !expected {
            return false;
        }
        sender.take_window(segment, seq, sender.snd_una + acked);
        if acked > 0 {
            self.take_ack(now, acked);
        }
        if payload > 0 {
            self.stats.data_segments_received += 1;
            self.receiver.rcv_nxt += payload;
            self.owe_acknowledgement(now, payload, false);
        }
        true
    }

    /// So many octets of those in flight are acknowledged.
    #[inline(always)]
    fn take_ack(&mut self, now: Time, acked: u64) {
        let sender = &mut self.sender;
        let ack = sender.snd_una + acked;
        if let Some(elapsed) = sender.end_timing(now, ack) {
            self.take_round_trip(elapsed, 1);
        }
        let sender = &mut self.sender;
        sender.snd_una = ack;
        self.pending.set(Pending::ACKNOWLEDGED);
        let heard = sender.detection.on_new_ack(ack, now);
        sender.recovery.on_undisturbed_ack(ack);
        sender.grow_window(now, acked, u64::from(self.config.byte_counting_limit), heard.rtt);
        sender.count_round(ack);
        self.restart_timer(now);
        if heard.overdue {
            self.answer_loss(now);
            self.settle();
        }
    }

    /// What there is to send.
    #[inline(always)]
    pub(super) fn due_when_steady(&self) -> Due {
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
            if flight + sender.smss <= sender.window.cwnd_bytes() {
                return Due::Data;
            }
        }
        if acknowledgement == Acknowledgement::None { Due::Nothing } else { Due::Acknowledgement }
    }

    /// Whether one that is not steady has nothing to send before something is acknowledged: what the general order mostly comes to at the end of
    /// what goes at once. Without SACK, whose order takes note of what it passes over.
    #[inline]
    pub(super) fn waits_for_acknowledgements(&self) -> bool {
        let sender = &self.sender;
        let (smss, flight, cwnd) = (sender.smss, sender.flight(), sender.send_window());
        self.receiver.acknowledgement == Acknowledgement::None
            && flight > 0
            && flight + smss > cwnd
            && flight + smss <= sender.snd_wnd
            && 1 + sender.written > sender.snd_nxt + smss
            && self.state == State::Established
            && !sender.recovery.takes_blocks()
            && sender.recovery.next_retransmission(&sender.outstanding(), cwnd).is_none()
            && !self.limited_transmit_lets_go(flight, smss, cwnd)
            && self.reset.is_none()
            && !self.syn_due
    }

    /// The full-sized segment of new data that is due.
    #[inline(always)]
    pub(super) fn full_segment(&mut self, now: Time) -> Segment {
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
        self.segment(start, flags, length as u32, Options::default())
    }
}
