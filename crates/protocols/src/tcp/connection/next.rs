//! What goes next: one place decides it, and one writes down what is sent.
//!
//! The order: a reset or SYN; an acknowledgement that may not wait for data; a loss probe; octets that are
//! lost; data in the order of the stream; an acknowledgement. The stream is sent in segments of SMSS octets;
//! nothing remembers how it was cut before. After a timeout the sender goes back to SND.UNA, so that segments
//! repeated are filled up with whatever follows in the stream.
//!
//! Most segments are those of a steady connection, which [`steady`](super::steady) decides in a few
//! comparisons, in line in [`Connection::transmit_to`].

use roamsim_engine::Time;

use super::receiver::Acknowledgement;
use super::timers::Timer;
use super::{Connection, Extended, State, Steady};
use crate::tcp::config::WindowValidation;
use crate::tcp::congestion::Cause;
use crate::tcp::recovery::{Hole, Recovery};
use crate::tcp::segment::Flags;

/// What goes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Nothing, before something happens.
    Nothing,
    /// Data, a FIN, or an acknowledgement alone.
    Segment { start: u64, length: u32, flags: Flags },
    /// Data of one-way connections.
    OneWayData { start: u64, length: u32, flags: Flags },
    /// A reset or a SYN.
    Control,
}

impl Connection {
    /// What goes next, unless [`steady`](super::steady) has decided it. Unless it is control, it counts as
    /// sent.
    #[inline(never)]
    pub(super) fn next(&mut self, now: Time) -> Next {
        if self.reset.is_some() || self.syn_due {
            return Next::Control;
        }
        if !self.receiver.acknowledges_alone() && self.sends_data() {
            let next = self.next_data(now);
            if !matches!(next, Next::Nothing) {
                return next;
            }
        }
        if self.receiver.acknowledgement == Acknowledgement::None {
            return Next::Nothing;
        }
        self.next_acknowledgement()
    }

    /// Where an acknowledgement alone stands: a keep-alive probe stands an octet before (RFC 9293 3.8.4).
    #[inline(always)]
    pub(super) fn acknowledgement_offset(&mut self) -> u64 {
        let mut start = self.sender.offset_without_data();
        if self.extended.has(Extended::LIVENESS)
            && self.sender.liveness().is_some_and(|liveness| std::mem::take(&mut liveness.probe_due))
        {
            start -= 1;
        }
        start
    }

    #[inline(always)]
    fn next_acknowledgement(&mut self) -> Next {
        let flags = self.send_acknowledgement();
        let start = self.acknowledgement_offset();
        Next::Segment { start, length: 0, flags }
    }

    /// The next segment with data or FIN that recovery, windows, Nagle and silly window avoidance let go.
    #[inline(always)]
    fn next_data(&mut self, now: Time) -> Next {
        if self.sender.is_tracked() {
            if let Recovery::Rack(rack) = &self.sender.recovery
                && rack.probe_due
            {
                return self.send_probe(now);
            }
            if self.timers.runs(Timer::Pacing) {
                return Next::Nothing;
            }
        }
        if self.sender.recovery.takes_blocks() {
            self.next_data_with_blocks(now)
        } else {
            self.next_data_by::<false>(now)
        }
    }

    #[inline(never)]
    fn next_data_with_blocks(&mut self, now: Time) -> Next {
        self.next_data_by::<true>(now)
    }

    /// The same by a recovery that takes SACK blocks or not, which is known here.
    #[inline(always)]
    fn next_data_by<const BLOCKS: bool>(&mut self, now: Time) -> Next {
        let recovering = self.sender.recovery.is_recovering();
        if recovering {
            let (at, cwnd) = (self.sender.outstanding(), self.sender.congestion.cwnd_bytes());
            if let Some(hole) = self.sender.recovery.next_retransmission(&at, cwnd) {
                return self.send_repair(now, hole);
            }
        }
        let next = self.next_in_order::<BLOCKS>(now);
        if BLOCKS && recovering && matches!(next, Next::Nothing) {
            return self.next_behind_data(now);
        }
        next
    }

    /// What is repaired now that no new data goes.
    #[cold]
    #[inline(never)]
    fn next_behind_data(&mut self, now: Time) -> Next {
        let (at, cwnd) = (self.sender.outstanding(), self.sender.congestion.cwnd_bytes());
        match self.sender.recovery.last_retransmission(&at, cwnd) {
            Some(hole) => self.send_repair(now, hole),
            None => Next::Nothing,
        }
    }

    /// The next segment from SND.NXT on.
    #[inline(always)]
    fn next_in_order<const BLOCKS: bool>(&mut self, now: Time) -> Next {
        let sender = &mut self.sender;
        let skips = BLOCKS && sender.snd_nxt < sender.snd_max;
        let most = if skips { sender.skip_to_anew() } else { sender.smss };
        let data_end = 1 + sender.written;
        if sender.snd_nxt >= data_end + u64::from(sender.fin_queued) {
            return Next::Nothing;
        }
        let flight = sender.flight();
        let goes_back = sender.snd_nxt < sender.snd_max;
        if flight == 0 && !goes_back {
            self.restart_after_idle(now);
        }
        let sender = &self.sender;
        // A segment is never cut to the congestion window, which holds at least one.
        let window = if flight > 0 { sender.send_window() } else { u64::MAX };
        let queued = data_end.saturating_sub(sender.snd_nxt);
        let room = (sender.snd_una + sender.snd_wnd).saturating_sub(sender.snd_nxt);
        let length = queued.min(most).min(room);
        // The FIN takes its place in the peer's window, behind the last octet.
        let fin = sender.fin_queued && length == queued && room > length;
        if length == 0 && !fin {
            return self.wait_for_window(now);
        }
        let pipe = if BLOCKS && flight > 0 { sender.pipe_bytes() } else { flight };
        let beyond_window = length > 0 && pipe + length > window;
        if beyond_window && !self.limited_transmit_lets_go::<BLOCKS>(flight, length, window) {
            return Next::Nothing;
        }
        if length < sender.smss && !fin {
            // RFC 9293 3.8.6.2.1 (2) and (3), with the bracketed condition that Nagle's algorithm adds. What
            // is sent anew waits for the window alone.
            let nagle_lets_go = flight == 0 || goes_back || !self.config.nagle || sender.minshall_lets_go();
            let worth_sending =
                length == queued || length >= sender.max_snd_wnd / 2 || (goes_back && length < room);
            if !(nagle_lets_go && worth_sending) {
                return self.wait_for_window(now);
            }
        }
        let sender = &mut self.sender;
        sender.let_go(if beyond_window { length } else { 0 });
        if goes_back {
            sender.repeats_for = sender.goes_back_for;
        }
        if BLOCKS && goes_back {
            sender.recovery.on_sent_anew(sender.snd_nxt + length);
        }
        self.send_any(now, self.sender.snd_nxt, length, fin)
    }

    /// RFC 5681 4.1.
    #[cold]
    #[inline(never)]
    fn restart_after_idle(&mut self, now: Time) {
        let sender = &mut self.sender;
        sender.congestion.on_idle_end(now, sender.last_sent_at);
        let idle = now.since(sender.last_sent_at);
        let restarts =
            self.config.restart_after_idle && self.config.window_validation != WindowValidation::Rfc7661;
        if restarts && idle > sender.rtt.rto() {
            let restart_window_bytes = self.config.initial_window.bytes(sender.smss);
            let validated = sender.window_after_idle(now, idle, restart_window_bytes);
            let cause = validated.unwrap_or(Cause::Idle { restart_window_bytes, least_ssthresh_bytes: 0 });
            sender.congestion.on_congestion(cause, now);
        }
    }

    /// RFC 3042: one new segment for each of the first two duplicate ACKs, beyond the congestion window.
    #[inline(always)]
    fn limited_transmit_lets_go<const BLOCKS: bool>(&self, flight: u64, length: u64, cwnd: u64) -> bool {
        let sender = &self.sender;
        let duplicates = sender.detection.limited_transmit_segments();
        // Without blocks the flight is all that counts against the window, beyond which it is.
        if !BLOCKS && (duplicates == 0 || sender.recovery.is_recovering()) {
            return false;
        }
        if !self.config.limited_transmit || sender.snd_nxt < sender.snd_max {
            return false;
        }
        let beyond = sender.recovery.limited_transmit_bytes(duplicates, sender.smss);
        flight + length <= cwnd + beyond
    }

    /// The segment that recovery asks for: up to SMSS octets of the hole, and where its end is not known,
    /// whatever follows in the stream.
    #[inline(never)]
    fn send_repair(&mut self, now: Time, hole: Hole) -> Next {
        let sender = &mut self.sender;
        let start = hole.start;
        let data_end = 1 + sender.written;
        // What was sent before was within the window then.
        let room = (sender.snd_una + sender.snd_wnd).max(sender.snd_max).saturating_sub(start);
        let queued = data_end.saturating_sub(start);
        let length = queued.min(sender.smss).min(room).min(hole.end - start);
        let end = start + length;
        let fin = sender.fin_queued && length == queued && room > length && hole.end > end;
        sender.repeats_for = sender.recovery.why_lost();
        sender.recovery.on_retransmitted(start, end + u64::from(fin));
        self.send(now, start, length, fin)
    }

    /// Data waits for the peer's window. With nothing in flight to bring an ACK, the persist timer runs, and
    /// when it has expired a probe goes: what the window takes, or one octet beyond it.
    #[cold]
    #[inline(never)]
    fn wait_for_window(&mut self, now: Time) -> Next {
        let sender = &mut self.sender;
        // The SYN-ACK of a server that has data before the handshake is complete keeps its timer.
        if sender.flight() > 0 || self.state == State::SynReceived {
            return Next::Nothing;
        }
        if !sender.probe_due {
            if !self.timers.runs(Timer::Persist) {
                self.timers.start(Timer::Persist, now + self.persist_interval());
                self.settle();
            }
            return Next::Nothing;
        }
        sender.probe_due = false;
        let start = sender.snd_nxt;
        let snd_max = sender.snd_max;
        let queued = (1 + sender.written).saturating_sub(start);
        let room = (sender.snd_una + sender.snd_wnd).saturating_sub(start);
        let length = queued.min(sender.smss).min(room.max(1));
        let counters = self.stats;
        if start < snd_max {
            sender.repeats_for = sender.goes_back_for;
        }
        let next = self.send(now, start, length, queued == 0);
        self.ecn.spare();
        if room == 0 {
            // No retransmission, though it mostly repeats the octet of the probe before.
            self.stats.retransmissions = counters.retransmissions;
            self.stats.data_retransmissions_for = counters.data_retransmissions_for;
            self.stats.window_probes_sent += 1;
            // The octet need not be taken: it stays the next to send, and the persist timer goes on.
            let sender = &mut self.sender;
            sender.probe_end = sender.probe_end.max(sender.snd_max);
            (sender.snd_nxt, sender.snd_max) = (start, snd_max);
            if let Recovery::Rack(rack) = &mut sender.recovery {
                rack.sent.truncate(snd_max);
            }
            self.timers.start(Timer::Persist, now + self.persist_interval());
        }
        next
    }

    /// Data and a FIN, if there is one, are sent, or sent again, whatever the state.
    #[inline(never)]
    pub(super) fn send(&mut self, now: Time, start: u64, length: u64, fin: bool) -> Next {
        self.send_any(now, start, length, fin)
    }

    #[inline(always)]
    fn send_any(&mut self, now: Time, start: u64, length: u64, fin: bool) -> Next {
        let flags = self.send_data(now, start, length, fin, Steady::No);
        let length = length as u32;
        match self.config.one_way_connections && !fin {
            false => Next::Segment { start, length, flags },
            true => Next::OneWayData { start, length, flags },
        }
    }

    /// Writes down what every segment with data or a FIN has written down; its control bits. Of a steady
    /// connection it is new data, and the timer runs.
    #[inline(always)]
    pub(super) fn send_data(&mut self, now: Time, start: u64, length: u64, fin: bool, kind: Steady) -> Flags {
        let steady = kind != Steady::No;
        debug_assert!(!steady || length > 0 && self.timers.runs(Timer::Retransmission));
        debug_assert!(self.receiver.acknowledgement != Acknowledgement::Alone);
        let sender = &mut self.sender;
        let data_end = start + length;
        let end = data_end + u64::from(fin);
        let repeated = if steady { 0 } else { sender.highest_sent().min(end).saturating_sub(start) };
        if repeated > 0 {
            // The octet of a probe that the peer did not take goes with new data.
            let again = u64::from(start < sender.snd_max);
            self.stats.retransmissions += again;
            let why = sender.repeats_for as usize;
            self.stats.data_retransmissions_for[why] += again as u32 * u32::from(length > 0);
            self.stats.bytes_retransmitted += repeated.min(length);
            sender.stop_timing();
            sender.snd_nxt = sender.snd_nxt.max(end);
            sender.snd_max = sender.snd_max.max(end);
        } else {
            sender.time_segment(end, now);
            sender.snd_nxt = end;
            sender.snd_max = end;
        }
        sender.detection.on_sent(start, end, now, repeated > 0);
        sender.note_sent(now);
        let mut flags = Flags::NONE;
        if steady || length > 0 {
            self.stats.data_segments_sent += 1;
            self.stats.bytes_sent += length;
            if data_end == 1 + sender.written {
                flags |= Flags::PSH;
            }
        } else {
            self.stats.control_segments_sent += 1;
        }
        if fin {
            flags |= Flags::FIN;
        }
        // RFC 6298 5.1.
        if !steady && !self.timers.runs(Timer::Retransmission) {
            self.timers.start(Timer::Retransmission, now + sender.rtt.rto());
        }
        if kind != Steady::Plain && sender.is_tracked() {
            self.note_transmission(now, start, end, repeated > 0);
        }
        if self.ecn.agreed {
            flags |= self.mark_flags(steady || repeated == 0 && length > 0);
        }
        flags
    }

    /// An acknowledgement alone is sent; its control bits.
    #[inline(always)]
    pub(super) fn send_acknowledgement(&mut self) -> Flags {
        self.stats.pure_acks_sent += 1;
        if self.ecn.agreed { self.mark_flags(false) } else { Flags::NONE }
    }
}
