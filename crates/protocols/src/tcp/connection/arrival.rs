//! A segment arrives: the checks of RFC 9293 3.10.7.4, with those of RFC 5961 that it contains and PAWS of
//! RFC 7323 5.3, before anything is believed.

use roamsim_engine::{Span, Time};

use super::{Connection, Extended, State, Steady};
use crate::machine::Context;
use crate::tcp::accurate_ecn::Codepoint;
use crate::tcp::segment::{Flags, Segment};
use crate::tcp::sequence::from_wire;

/// A timestamp this old says nothing of order (RFC 7323 5.5: 24 days).
const TIMESTAMP_LIFETIME: Span = Span::from_secs(24 * 24 * 3600);

impl Connection {
    /// A segment for this connection has arrived.
    #[inline]
    pub fn handle_segment(&mut self, cx: &mut Context<'_>, segment: &Segment) {
        self.handle_segment_at(cx.now, segment);
    }

    /// The same by the time alone.
    #[inline(always)]
    pub fn handle_segment_at(&mut self, now: Time, segment: &Segment) {
        self.stats.segments_received += 1;
        if self.arrive_steady(now, segment) {
            return;
        }
        if self.steady.is_extended() {
            self.arrive_at_extended(now, segment);
        } else {
            self.arrive_otherwise(now, segment);
        }
    }

    /// A segment arrives at a steady connection that is extended.
    #[inline(never)]
    fn arrive_at_extended(&mut self, now: Time, segment: &Segment) {
        let is_expected = match self.steady {
            Steady::Stamped => self.arrive_stamped(now, segment),
            _ => self.arrive_extended(now, segment),
        };
        if !is_expected {
            self.arrive_otherwise(now, segment);
        }
    }

    /// A segment arrives that is not as expected of a steady connection.
    #[inline(never)]
    fn arrive_otherwise(&mut self, now: Time, segment: &Segment) {
        if !self.arrive_plain(now, segment) {
            self.arrive_by_state(now, segment);
        }
    }

    /// A segment arrives, whatever the state and whatever the segment.
    #[inline(never)]
    pub(super) fn arrive_by_state(&mut self, now: Time, segment: &Segment) {
        let counts = self.ecn.accurate && self.is_in_window(segment);
        match self.state {
            State::Closed => self.arrive_closed(segment),
            State::Listen => self.arrive_listen(now, segment),
            State::SynSent => self.arrive_syn_sent(now, segment),
            _ => self.arrive(now, segment),
        }
        if self.ecn.marked {
            self.heed_mark();
        }
        if counts {
            self.count_packet(segment);
        }
        if self.config.accurate_ecn
            && let Some(extras) = &mut self.sender.extras
        {
            extras.codepoint = Codepoint::NotCapable;
        }
        self.settle();
    }

    fn arrive(&mut self, now: Time, segment: &Segment) {
        let Some(seq) = from_wire(self.receiver.irs, segment.seq, self.receiver.rcv_nxt) else {
            return self.challenge(now, segment);
        };
        if self.extended.has(Extended::TIMESTAMPS) && !self.passes_paws(now, segment) {
            return;
        }
        let flags = segment.flags;
        let (rcv_nxt, edge) = (self.receiver.rcv_nxt, self.receiver.rcv_adv);
        let length = segment.sequence_length();
        // A segment without length may sit on the right edge, where a sender that has filled the window is;
        // one at RCV.NXT is always heard, that a closed window hears ACKs and resets (RFC 9293 3.10.7.4,
        // first).
        if seq > edge || (seq == edge && length > 0 && seq != rcv_nxt) {
            return self.challenge(now, segment);
        }
        let old = seq < rcv_nxt && seq + length <= rcv_nxt;
        if flags.intersects(Flags::RST | Flags::SYN) && !self.passes_reset_and_syn(now, segment, seq, old) {
            return;
        }
        if !flags.contains(Flags::ACK) {
            self.stats.segments_refused += 1;
            return;
        }
        if self.extended.has(Extended::LIVENESS) {
            self.note_heard(now, segment);
        }
        let ack = from_wire(self.sender.iss, segment.ack, self.sender.snd_una);
        let opens = self.state == State::SynReceived;
        if opens && !self.arrive_syn_received(now, segment, ack) {
            return;
        }
        let acknowledges = self.heeds_acknowledgement(segment);
        let translated;
        let segment = match self.ecn.accurate {
            true => {
                translated = self.translate_ace(segment, ack, opens);
                &translated
            }
            false => segment,
        };
        let flags = segment.flags;
        if acknowledges && self.extended.has(Extended::MARKS) {
            self.count_acked_marks(segment, ack);
        }
        if self.ecn.agreed && flags.intersects(Flags::ECE | Flags::CWR) {
            self.arrive_ecn(now, segment, ack.filter(|_| acknowledges));
        }
        if acknowledges && !self.acknowledge(now, segment, seq, ack) {
            return;
        }
        // Behind the last check that drops a segment: one that is dropped leaves no mark.
        if self.extended.has(Extended::TIMESTAMPS) && !old {
            self.record_timestamp(now, segment, seq);
        }
        if old {
            // Nothing new, but its ACK counts (as in 4.4BSD): with data in both directions a repeated segment
            // may carry the only copy of it that arrives.
            self.receive_duplicate(now, segment, seq);
        } else if length > 0 && self.state.receives_data() {
            if self.extended.has(Extended::MARKS) && segment.payload_bytes > 0 {
                self.follow_mark();
            }
            self.receive(now, segment, seq);
        }
    }

    /// Whether the acknowledgement of a segment counts: that of data does not with one-way connections. That
    /// of a FIN does, as whoever has closed last is gone once it is acknowledged, and repeats no other.
    #[inline]
    pub fn heeds_acknowledgement(&self, segment: &Segment) -> bool {
        let is_data = segment.payload_bytes > 0 && !segment.flags.contains(Flags::FIN);
        !(self.config.one_way_connections && is_data)
    }

    /// RST and SYN in a synchronised state. True when the segment is to be looked at further.
    #[cold]
    fn passes_reset_and_syn(&mut self, now: Time, segment: &Segment, seq: u64, old: bool) -> bool {
        if segment.flags.contains(Flags::RST) {
            if seq == self.receiver.rcv_nxt {
                self.arrive_reset();
            } else if old {
                self.stats.segments_refused += 1;
            } else {
                self.challenge(now, segment);
            }
            return false;
        }
        // RFC 5961 4.2: whatever its sequence number, a SYN on a connection is challenged.
        if seq > 0 || self.state != State::SynReceived {
            self.challenge(now, segment);
            return false;
        }
        // The peer repeats its SYN: with an ACK it is the second half of a simultaneous open, without this
        // end's SYN-ACK is lost.
        let acknowledges = segment.flags.contains(Flags::ACK);
        self.syn_due |= !acknowledges;
        acknowledges
    }

    /// Refuses a segment and tells the peer where this end stands; a reset is dropped in silence unless it is
    /// in the window (RFC 5961 3.2).
    #[cold]
    pub(super) fn challenge(&mut self, now: Time, segment: &Segment) {
        self.stats.segments_refused += 1;
        let seq = from_wire(self.receiver.irs, segment.seq, self.receiver.rcv_nxt);
        let in_window = seq.is_some_and(|seq| (self.receiver.rcv_nxt..self.receiver.rcv_adv).contains(&seq));
        if in_window || !segment.flags.contains(Flags::RST) {
            self.receiver.answer_refused(now, segment, &self.config);
        }
    }

    /// RFC 7323 3.2 and 5.3, R1.
    fn passes_paws(&mut self, now: Time, segment: &Segment) -> bool {
        let Some(timestamps) = segment.options.timestamps else {
            // Once agreed on, they are on every segment but a reset.
            if !segment.flags.contains(Flags::RST) {
                self.stats.segments_refused += 1;
                return false;
            }
            return true;
        };
        let receiver = &self.receiver;
        let age = timestamps.value.wrapping_sub(receiver.ts_recent) as i32;
        if age < 0 {
            let outlived = now.since(receiver.ts_recent_at) > TIMESTAMP_LIFETIME;
            if !outlived && !segment.flags.contains(Flags::RST) {
                self.challenge(now, segment);
                return false;
            }
            if !outlived {
                return true;
            }
        }
        true
    }

    /// RFC 7323 5.3, R3, and 4.3: takes the timestamp to be echoed from an acceptable segment that starts at
    /// or before what was last acknowledged, so that a delayed acknowledgement echoes the earlier one.
    #[inline]
    pub(super) fn record_timestamp(&mut self, now: Time, segment: &Segment, seq: u64) {
        let receiver = &mut self.receiver;
        if let Some(timestamps) = segment.options.timestamps
            && seq <= receiver.last_ack_sent
        {
            receiver.ts_recent = timestamps.value;
            receiver.ts_recent_at = now;
        }
    }

    /// The round-trip time since the timestamp that a segment echoes, if it echoes one.
    #[inline(always)]
    pub(super) fn echoed_round_trip(&self, now: Time, segment: &Segment) -> Option<Span> {
        let echo = segment.options.timestamps?.echo_reply;
        // Ticks are counted from their start; less than a tick measures as one.
        let ticks = self.timestamp_clock(now).wrapping_sub(echo) as i32;
        (echo != 0 && ticks >= 0)
            .then(|| self.timestamp_tick().saturating_mul(u64::from(ticks.unsigned_abs().max(1))))
    }
}
