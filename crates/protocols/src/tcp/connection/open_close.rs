//! Opening and closing: the states of RFC 9293 3.3.2 and the segments that move them.

use roamsim_engine::{Span, Time};

use super::receiver::{Acknowledgement, Receiver};
use super::timers::Timer;
use super::{Connection, Extended, Pending, Reset, State};
use crate::tcp::segment::{Flags, Options, Segment, Timestamps};
use crate::tcp::sequence::to_wire;

/// The largest shift count (RFC 7323 2.3).
const MAX_WINDOW_SHIFT: u8 = 14;

impl State {
    /// States in which data, or a FIN, may be waiting to be sent or repeated.
    #[inline]
    pub(super) fn sends_data(self) -> bool {
        matches!(
            self,
            State::Established | State::CloseWait | State::FinWait1 | State::Closing | State::LastAck
        )
    }

    /// States in which the peer's direction is still open.
    #[inline]
    pub(super) fn receives_data(self) -> bool {
        matches!(self, State::Established | State::FinWait1 | State::FinWait2)
    }

    /// States after the exchange of SYNs.
    pub(super) fn is_synchronized(self) -> bool {
        !matches!(self, State::Closed | State::Listen | State::SynSent | State::SynReceived)
    }
}

impl Connection {
    /// Passive open: CLOSED to LISTEN. Without effect in any other state, and on a connection that is over:
    /// the next one is another.
    pub fn listen(&mut self) {
        if self.state == State::Closed && self.is_unused() {
            self.passive = true;
            self.state = State::Listen;
        }
    }

    /// Active open: from CLOSED or LISTEN, a SYN is sent. Without effect in any other state, and on a
    /// connection that is over.
    pub fn open(&mut self) {
        if matches!(self.state, State::Closed | State::Listen) && self.is_unused() {
            self.passive = false;
            self.state = State::SynSent;
            self.syn_due = true;
            self.begin_user_timeout();
        }
    }

    /// Whether nothing was sent or taken: what is kept of sequence numbers is of no other connection.
    fn is_unused(&self) -> bool {
        self.sender.snd_nxt == 0 && self.receiver.rcv_nxt == 0
    }

    /// The application has written all it will: a FIN follows the stream. The peer's direction stays open, as
    /// RFC 9293 3.6 understands CLOSE, and as `shutdown(SHUT_WR)` of sockets does.
    pub fn close(&mut self) {
        if self.close_waits_for_room() {
            return;
        }
        match self.state {
            State::Listen | State::SynSent => self.become_closed(Pending::CLOSED),
            // The FIN waits for the handshake.
            State::SynReceived => self.sender.fin_queued = true,
            State::Established => self.queue_fin(State::FinWait1),
            State::CloseWait => self.queue_fin(State::LastAck),
            _ => {}
        }
        self.settle();
    }

    /// The application has written all it will and reads no more, as `close` of sockets does: the
    /// "half-duplex" close of RFC 9293 3.6.1. A FIN follows the stream; but where data is unread, or as soon
    /// as more arrives, the connection is reset instead, so that the peer does not take it for delivered
    /// (SHLD-3, from RFC 1122 4.2.2.13).
    pub fn close_half_duplex(&mut self) {
        self.receiver.abandoned = true;
        if self.state.is_synchronized() && self.state != State::TimeWait && self.receiver.holds_unread() {
            self.lose_data();
        } else {
            self.close();
        }
        self.settle();
    }

    /// Drops the connection and tells the peer by a reset.
    pub fn abort(&mut self) {
        self.reset_as(Pending::CLOSED);
        self.settle();
    }

    /// Data that the application does not take any more is lost: the peer is told by a reset.
    #[cold]
    pub(super) fn lose_data(&mut self) {
        self.reset_as(Pending::DATA_LOST);
    }

    pub(super) fn reset_as(&mut self, event: u8) {
        let tells_peer = self.state.is_synchronized() || self.state == State::SynReceived;
        if tells_peer && self.state != State::TimeWait {
            let seq = to_wire(self.sender.iss, self.sender.offset_without_data());
            let ack = to_wire(self.receiver.irs, self.receiver.rcv_nxt);
            self.reset = Some(Reset { seq, ack, flags: Flags::RST | Flags::ACK });
        }
        if self.state != State::Closed {
            self.become_closed(event);
        }
    }

    fn queue_fin(&mut self, next: State) {
        self.sender.fin_queued = true;
        self.state = next;
    }

    /// Leaves every state; a reset that waits is still sent.
    pub(super) fn become_closed(&mut self, event: u8) {
        self.state = State::Closed;
        self.end_early_opening();
        self.syn_due = false;
        self.timers.stop_all();
        self.receiver.acknowledgement = Acknowledgement::None;
        self.receiver.reassembly.clear();
        self.pending.set(event);
    }

    /// A SYN, SYN-ACK or reset that is due.
    #[cold]
    pub(super) fn transmit_control(&mut self, now: Time) -> Option<Segment> {
        if let Some(Reset { seq, ack, flags }) = self.reset.take() {
            self.stats.control_segments_sent += 1;
            return Some(Segment {
                source_port: self.local_port,
                destination_port: self.remote_port,
                seq,
                ack,
                flags,
                window: 0,
                payload_bytes: 0,
                options: Options { timestamps: self.agreed_timestamps(now), ..Options::default() },
            });
        }
        self.syn_due = false;
        Some(self.syn(now))
    }

    /// The SYN of SYN-SENT, the SYN-ACK of SYN-RECEIVED.
    fn syn(&mut self, now: Time) -> Segment {
        let answers = self.state == State::SynReceived;
        self.stats.control_segments_sent += 1;
        let first = self.sender.snd_max == 0;
        if first {
            self.sender.snd_nxt = 1;
            self.sender.snd_max = 1;
            self.sender.time_segment(1, now);
            self.note_waiting(now);
        } else {
            self.stats.retransmissions += 1;
            self.sender.stop_timing();
        }
        if !self.timers.runs(Timer::Retransmission) {
            self.timers.start(Timer::Retransmission, now + self.sender.rtt.rto());
        }
        let mut options = Options {
            mss: Some(u16::try_from(self.config.mss_bytes).unwrap_or(u16::MAX)),
            window_scale: if answers { self.receiver.scaled } else { self.config.window_scaling }
                .then(|| Receiver::offered_shift(self.config.receive_window_bytes.max(1))),
            timestamps: if answers {
                self.extended.has(Extended::TIMESTAMPS)
            } else {
                self.config.timestamps
            }
            .then(|| Timestamps { value: self.timestamp_clock(now), echo_reply: self.receiver.ts_recent }),
            sack_permitted: if answers { self.receiver.report.is_some() } else { self.config.permits_sack() },
            ..Options::default()
        };
        self.add_user_timeout_on_syn(&mut options);
        let payload_bytes = self.add_fast_open(&mut options, first);
        if answers {
            self.receiver.acknowledged();
            if self.ecn.accurate {
                self.add_accurate_option(&mut options, 0);
            }
        }
        Segment {
            source_port: self.local_port,
            destination_port: self.remote_port,
            seq: self.sender.iss,
            ack: if answers { to_wire(self.receiver.irs, self.receiver.rcv_nxt) } else { 0 },
            flags: self.mark_flags_on_syn(answers)
                | if answers { Flags::SYN | Flags::ACK } else { Flags::SYN },
            window: self.receiver.advertise_on_syn(),
            payload_bytes,
            options,
        }
    }

    /// Any segment to a closed connection but a reset is answered by a reset (RFC 9293 3.10.7.1).
    pub(super) fn arrive_closed(&mut self, segment: &Segment) {
        self.stats.segments_refused += 1;
        self.refuse(segment);
    }

    /// RFC 9293 3.10.7.2.
    pub(super) fn arrive_listen(&mut self, now: Time, segment: &Segment) {
        if segment.flags.contains(Flags::RST) {
            self.stats.segments_refused += 1;
        } else if segment.flags.contains(Flags::ACK) {
            self.stats.segments_refused += 1;
            self.refuse(segment);
        } else if segment.flags.contains(Flags::SYN) {
            // Whoever connects says its port.
            self.remote_port = segment.source_port;
            self.synchronize(now, segment);
            self.state = State::SynReceived;
            self.syn_due = true;
            self.take_fast_open(now, segment);
        } else {
            self.stats.segments_refused += 1;
        }
    }

    /// RFC 9293 3.10.7.3. Data on a SYN-ACK, or on a SYN that crosses this end's, is left to be repeated.
    pub(super) fn arrive_syn_sent(&mut self, now: Time, segment: &Segment) {
        let acknowledges = segment.flags.contains(Flags::ACK);
        // The SYN is acknowledged, with Fast Open maybe some of its data too.
        let ack = u64::from(segment.ack.wrapping_sub(self.sender.iss));
        if acknowledges && !(1..=self.sender.snd_max.max(1)).contains(&ack) {
            self.stats.segments_refused += 1;
            self.refuse(segment);
        } else if segment.flags.contains(Flags::RST) {
            if acknowledges {
                self.become_closed(Pending::RESET);
            } else {
                self.stats.segments_refused += 1;
            }
        } else if segment.flags.contains(Flags::SYN) {
            // The SYN was never sent when the peer's arrives first: its acknowledgement cannot be valid.
            if acknowledges && self.sender.snd_max > 0 {
                self.synchronize(now, segment);
                self.learn_server(segment);
                self.become_established(now, segment, ack);
                self.receiver.acknowledgement = Acknowledgement::Now;
            } else if !acknowledges {
                self.synchronize(now, segment);
                self.state = State::SynReceived;
                self.syn_due = true;
            }
        } else {
            self.stats.segments_refused += 1;
        }
    }

    /// The ACK that SYN-RECEIVED waits for. False when the segment goes no further.
    pub(super) fn arrive_syn_received(&mut self, now: Time, segment: &Segment, ack: Option<u64>) -> bool {
        if let Some(ack) = ack.filter(|ack| (1..=self.sender.snd_max).contains(ack)) {
            self.become_established(now, segment, ack);
            return true;
        }
        self.stats.segments_refused += 1;
        self.refuse(segment);
        false
    }

    /// A reset where the sequence number is the one expected.
    pub(super) fn arrive_reset(&mut self) {
        // Whoever has closed listens no more.
        let closes = self.sender.fin_queued || self.sender.send_buffer().is_some_and(|buffer| buffer.closes);
        if self.state == State::SynReceived && self.passive && !closes && !self.is_open_early() {
            let mut again = Connection::new(&self.config, self.local_port, self.remote_port, self.sender.iss);
            again.stats = self.stats;
            again.write(self.written_bytes());
            again.receiver.set_reading(self.receiver.is_reading());
            again.inherit_cookie(self);
            again.listen();
            *self = again;
        } else {
            self.end_early(Pending::RESET);
        }
    }

    /// The connection ends for `event`. In CLOSING, LAST-ACK and TIME-WAIT both applications have closed;
    /// where the peer has acknowledged all data, only the handshake of the close was missing, and the
    /// application is told just that it is over.
    pub(super) fn end_early(&mut self, event: u8) {
        let closed = matches!(self.state, State::TimeWait | State::Closing | State::LastAck);
        let delivered = self.sender.snd_una > self.sender.written;
        self.become_closed(if closed && delivered { Pending::CLOSED } else { event });
    }

    /// Takes the peer's SYN: its sequence number and options.
    fn synchronize(&mut self, now: Time, segment: &Segment) {
        let options = &segment.options;
        self.agree_on_marks(segment.flags);
        let timestamps = options.timestamps.filter(|_| self.config.timestamps);
        let (stamped, tracked) = (timestamps.is_some(), self.sender.is_tracked());
        let looks = self.sender.extras.as_ref().is_some_and(|extras| extras.looks_at_arrivals());
        self.extended = Extended(
            (Extended::TIMESTAMPS * u8::from(stamped))
                | (Extended::EXTRAS * u8::from(tracked))
                | (Extended::ARRIVALS * u8::from(looks))
                | (Extended::MARKS * u8::from(self.ecn.exact))
                | (Extended::LIVENESS * u8::from(self.sender.liveness().is_some())),
        );
        if let Some(timestamps) = timestamps {
            self.receiver.ts_recent = timestamps.value;
            self.receiver.ts_recent_at = now;
        }
        if self.config.permits_sack() && options.sack_permitted {
            self.receiver.report = Some(Box::default());
        } else {
            self.sender.do_without_sack(&self.config);
        }
        let peer_mss = options.mss.map_or(self.config.default_mss_bytes, u32::from).max(1);
        self.sender.agreed_mss = peer_mss.min(self.config.mss_bytes).max(1);
        self.fit_to_path();
        self.receiver.synchronize(segment.seq);
        self.take_user_timeout(now, segment);
        let scaled = self.config.window_scaling && options.window_scale.is_some();
        self.receiver.set_scaled(scaled, self.config.receive_window_bytes.max(1));
        self.sender.snd_wnd_shift = match options.window_scale {
            Some(shift) if self.receiver.scaled => shift.min(MAX_WINDOW_SHIFT),
            _ => 0,
        };
    }

    /// This end's SYN is acknowledged by `segment`, up to `ack`.
    fn become_established(&mut self, now: Time, segment: &Segment, ack: u64) {
        if self.state == State::SynReceived {
            self.end_mark_handshake();
        }
        self.state = State::Established;
        self.syn_due = false;
        self.timers.stop(Timer::Retransmission);
        // A window on a SYN is never scaled (RFC 7323 2.2).
        let shift = if segment.flags.contains(Flags::SYN) { 0 } else { self.sender.snd_wnd_shift };
        let (repeated, is_open_early) = (self.sender.retries > 0, self.end_early_opening());
        self.sender.established(now, &self.config, u64::from(segment.window) << shift, is_open_early);
        self.settle_syn_data(ack, repeated);
        let elapsed = match self.extended.has(Extended::TIMESTAMPS) {
            true => self.echoed_round_trip(now, segment),
            false => self.sender.end_timing(now, 1),
        };
        self.sender.congestion.on_handshake(now, elapsed);
        if let Some(elapsed) = elapsed {
            self.take_round_trip(elapsed, 1, 1);
            if let Some(rack) = self.rack() {
                rack.detection.min_rtt.take(now, elapsed);
            }
        }
        self.pending.set(Pending::ESTABLISHED);
        self.begin_liveness(now);
        if is_open_early {
            self.go_on_from_early(now);
        }
        self.fill_send_buffer(now);
        if self.sender.fin_queued {
            self.state = State::FinWait1;
        }
    }

    /// This end's FIN is acknowledged.
    pub(super) fn fin_acknowledged(&mut self, now: Time) {
        match self.state {
            State::FinWait1 => self.state = State::FinWait2,
            State::Closing => self.become_time_wait(now),
            State::LastAck => self.become_closed(Pending::CLOSED),
            _ => {}
        }
    }

    /// The peer's FIN has arrived in order.
    pub(super) fn fin_received(&mut self, now: Time) {
        self.pending.set(Pending::REMOTE_CLOSED);
        match self.state {
            State::Established => self.state = State::CloseWait,
            State::FinWait1 => self.state = State::Closing,
            State::FinWait2 => self.become_time_wait(now),
            _ => {}
        }
    }

    /// Enters TIME-WAIT, or starts its time anew.
    pub(super) fn become_time_wait(&mut self, now: Time) {
        self.state = State::TimeWait;
        let two_msl: Span = self.config.msl.saturating_mul(2);
        self.timers.start(Timer::TimeWait, now + two_msl);
    }

    /// Answers a segment that belongs to no connection by a reset (RFC 9293 3.5.2).
    pub(super) fn refuse(&mut self, segment: &Segment) {
        if segment.flags.contains(Flags::RST) {
            return;
        }
        if segment.flags.contains(Flags::ACK) {
            self.reset = Some(Reset { seq: segment.ack, ack: 0, flags: Flags::RST });
        } else {
            let ack = segment.seq.wrapping_add(segment.sequence_length() as u32);
            self.reset = Some(Reset { seq: 0, ack, flags: Flags::RST | Flags::ACK });
        }
    }
}
