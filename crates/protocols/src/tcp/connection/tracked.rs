//! What a connection with extras does: it paces data, grows the first window by HyStart, validates windows,
//! and looks at data that arrives.

use roamsim_engine::{Span, Time};

use super::extras::Ending;
use super::sender::Sender;
use super::timers::Timer;
use super::{Connection, Extended};
use crate::ranges::Range;
use crate::tcp::ack_compression::AckCompression;
use crate::tcp::ack_delay::AckDelay;
use crate::tcp::congestion::Cause;
use crate::tcp::pacing::Rate;
use crate::tcp::segment::Segment;
use crate::tcp::window_tuning::WindowTuning;

impl Sender {
    /// Whether transmissions count beyond detection: they are kept, paced, or measured.
    #[inline(always)]
    pub(super) fn is_tracked(&self) -> bool {
        self.extras.is_some()
    }

    /// `bytes` go now. When the pacer lets others follow, if these wait for it.
    pub(super) fn pace(&mut self, now: Time, bytes: u64) -> Option<Time> {
        let (rate, smss) = (self.pacing_rate(), self.smss);
        self.extras.as_mut()?.pacer.as_mut()?.on_sent(now, bytes, smss, rate)
    }

    /// The rate at which the pacer spreads data; `None` before the first measurement.
    fn pacing_rate(&self) -> Option<Rate> {
        if let Some(rate) = self.congestion.pacing_rate_bytes_per_s() {
            return Some(Rate::BytesPerSecond(rate));
        }
        if !self.extras.as_ref().is_some_and(|extras| extras.paces_windows) {
            return None;
        }
        let rtt = self.rtt.srtt()?;
        let slow_start = self.congestion.cwnd_bytes() < self.congestion.ssthresh_bytes() / 2;
        Some(Rate::Window { bytes: self.send_window().max(self.flight()), rtt, slow_start })
    }

    /// The same in octets a second, where anything is paced.
    pub(super) fn paced_bytes_per_s(&self) -> Option<u64> {
        self.extras.as_ref().filter(|extras| extras.pacer.is_some())?;
        self.pacing_rate().map(Rate::bytes_per_s)
    }

    /// A segment has gone: whether the window is in use, and what follows if it is not for an RTO.
    pub(super) fn validate_window(&mut self, now: Time, decays: bool, initial_window_bytes: u64) {
        let (flight, cwnd) = (self.flight(), self.congestion.cwnd_bytes());
        let (smss, rto, ssthresh) = (self.smss, self.rtt.rto(), self.congestion.ssthresh_bytes());
        let (snd_una, snd_nxt) = (self.snd_una, self.snd_nxt);
        let Some(extras) = &mut self.extras else { return };
        let Some(validation) = &mut extras.validation else { return };
        validation.on_sent(flight + smss > cwnd, flight, snd_una, snd_nxt);
        if validation.is_in_use(cwnd, ssthresh) {
            (validation.unused_since, validation.used_bytes) = (now, 0);
            return;
        }
        validation.used_bytes = validation.used_bytes.max(flight);
        if !decays || self.recovery.is_recovering() || now.since(validation.unused_since) < rto {
            return;
        }
        if extras.mark_reduction.is_some() {
            return;
        }
        let used_bytes = validation.used_bytes.max(initial_window_bytes);
        (validation.unused_since, validation.used_bytes) = (now, 0);
        if used_bytes < cwnd {
            let cause = Cause::Idle {
                restart_window_bytes: (cwnd + used_bytes) / 2,
                least_ssthresh_bytes: cwnd / 4 * 3,
            };
            self.congestion.on_congestion(cause, now);
        }
    }

    /// The window behind an idle time longer than the RTO, by Linux's validation: halved for each RTO, down
    /// to the initial window. While the peer's window lets nothing go, each RTO counts once.
    pub(super) fn window_after_idle(
        &mut self,
        now: Time,
        idle: Span,
        initial_window_bytes: u64,
    ) -> Option<Cause> {
        let cwnd = self.congestion.cwnd_bytes();
        let last_sent_at = self.last_sent_at;
        let validation = self.extras.as_mut()?.validation.as_mut()?;
        (validation.unused_since, validation.used_bytes) = (now, 0);
        let done = if validation.halved_since == last_sent_at { validation.halvings } else { 0 };
        let halvings = idle.as_ns().saturating_sub(1) / self.rtt.rto().as_ns().max(1);
        (validation.halved_since, validation.halvings) = (last_sent_at, halvings.max(done));
        Some(Cause::Idle {
            restart_window_bytes: (cwnd >> halvings.saturating_sub(done).min(63)).max(initial_window_bytes),
            least_ssthresh_bytes: cwnd / 4 * 3,
        })
    }

    /// Whether Linux's validation lets the window grow.
    #[inline]
    pub(super) fn is_validated(&self) -> bool {
        let (cwnd, ssthresh) = (self.congestion.cwnd_bytes(), self.congestion.ssthresh_bytes());
        let validation = self.extras.as_ref().and_then(|extras| extras.validation.as_ref());
        validation.is_none_or(|validation| validation.is_in_use(cwnd, ssthresh))
    }

    /// Whether a short segment may go while data is unacknowledged: Minshall's rule, and no short one is. A
    /// probe of the window is none, as it stays the next to send.
    #[cold]
    pub(super) fn minshall_lets_go(&self) -> bool {
        let short_end = self.extras.as_ref().and_then(|extras| extras.short_end);
        short_end.is_some_and(|end| end <= self.snd_una || end > self.snd_nxt)
    }

    /// The window of a connection with HyStart or validation.
    #[cold]
    pub(super) fn grow_otherwise(
        &mut self,
        now: Time,
        acked: u64,
        most_segments: u64,
        rtt: Option<Span>,
        may_grow: bool,
    ) {
        let may_grow = !self.follow_mark_reduction() && may_grow;
        let in_use_bytes = self.validated_bytes(now).unwrap_or_else(|| self.in_use_bytes());
        let Some(extras) = &self.extras else { return };
        let has_hystart = extras.hystart.is_some();
        let may_grow = may_grow && self.is_validated();
        if has_hystart {
            self.grow_by_hystart(now, acked, most_segments, rtt, may_grow, in_use_bytes);
        } else {
            self.grow_any_window(now, acked, most_segments, rtt, may_grow, in_use_bytes);
        }
    }

    /// What ends slow start, where HyStart does.
    pub(super) fn hystart_end(&mut self) -> Option<&mut Ending> {
        Some(&mut self.extras.as_mut()?.hystart.as_mut()?.ending)
    }

    /// The window with HyStart: in the first slow start, or by Linux's rules in any.
    fn grow_by_hystart(
        &mut self,
        now: Time,
        acked: u64,
        most_segments: u64,
        rtt: Option<Span>,
        may_grow: bool,
        in_use_bytes: u64,
    ) {
        let (cwnd_bytes, ssthresh_bytes) = (self.congestion.cwnd_bytes(), self.congestion.ssthresh_bytes());
        let Sender { extras: Some(extras), snd_una, snd_nxt, smss, .. } = self else { return };
        let Some(end) = &mut extras.hystart else { return };
        let own_rtt = end.sent.as_mut().and_then(|sent| {
            sent.on_ack(*snd_una, now);
            std::mem::take(&mut sent.heard).newest_original.map(|(at, _)| now.since(at))
        });
        let rtt_now = rtt.or(own_rtt);
        let in_slow_start = cwnd_bytes < ssthresh_bytes;
        let hystart = match &mut end.ending {
            Ending::Linux(train) => {
                let segments = cwnd_bytes / (*smss).max(1);
                if in_slow_start
                    && rtt_now.is_some_and(|rtt| train.on_ack(now, rtt, segments, *snd_una, *snd_nxt))
                {
                    self.congestion.leave_slow_start();
                }
                return self.grow_any_window(now, acked, most_segments, rtt, may_grow, in_use_bytes);
            }
            Ending::PlusPlus(_) if ssthresh_bytes != end.ssthresh_bytes || !in_slow_start => {
                extras.hystart = None;
                return self.grow_any_window(now, acked, most_segments, rtt, may_grow, in_use_bytes);
            }
            Ending::PlusPlus(_) if !may_grow => return,
            Ending::PlusPlus(hystart) => hystart,
        };
        let growth = hystart.on_ack(acked, *smss, rtt_now, *snd_una, *snd_nxt);
        if growth.ends {
            extras.hystart = None;
        }
        let most_segments = growth.bytes.div_ceil(self.smss);
        self.grow_any_window(now, growth.bytes, most_segments, rtt, may_grow, in_use_bytes);
        if growth.ends {
            self.congestion.leave_slow_start();
        }
    }
}

impl Connection {
    /// Data of `segment` has arrived in order. True when it is acknowledged at once. The window may be wider
    /// behind it.
    #[inline(never)]
    pub(super) fn note_arrival(&mut self, now: Time, segment: &Segment) -> bool {
        let (clock, tick) = (self.timestamp_clock(now), self.timestamp_tick());
        let option_bytes = self.option_bytes();
        let sender = &mut self.sender;
        let (smss, rto) = (sender.smss, sender.rtt.rto());
        let full_sized = u64::from(sender.agreed_mss.min(sender.path_mss));
        let Some(extras) = &mut sender.extras else { return false };
        let receiver = &mut self.receiver;
        let received_mss = extras.received_mss.on_data(segment, option_bytes, smss, receiver.buffer());
        if let Some(tuning) = &mut extras.window_tuning {
            let echo = segment.options.timestamps.filter(|_| self.extended.has(Extended::TIMESTAMPS));
            let is_full_sized = u64::from(segment.payload_bytes) >= received_mss;
            let rtt = echo
                .map(|stamps| stamps.echo_reply)
                .filter(|echo| is_full_sized && *echo != 0 && tuning.is_new_echo(*echo))
                .map(|echo| clock.wrapping_sub(echo) as i32)
                .filter(|ticks| *ticks >= 0)
                .map(|ticks| tick.saturating_mul(u64::from(ticks.unsigned_abs().max(1))));
            let (arrived, window) = (receiver.rcv_nxt, receiver.buffer());
            let taken = receiver.taken_offset();
            receiver.set_buffer(tuning.on_data(now, (arrived, taken), rtt, smss, window), full_sized);
        }
        let window = receiver.window();
        let is_quick =
            extras.ack_delay.as_mut().is_some_and(|part| part.on_data(now, window, received_mss, rto));
        let owed = receiver.rcv_nxt.saturating_sub(receiver.last_ack_sent);
        is_quick || extras.acks_beyond_one_segment && owed > received_mss
    }

    /// Octets have arrived beyond a gap, and the block report does not know of them yet. True when their
    /// acknowledgement is compressed: it waits.
    #[inline(never)]
    pub(super) fn compresses_ack(&mut self, now: Time, octets: Range) -> bool {
        let sender = &mut self.sender;
        let srtt = sender.rtt.srtt();
        let (Some(extras), Some(report)) = (&mut sender.extras, &self.receiver.report) else { return false };
        let Some(compression) = &mut extras.ack_compression else { return false };
        if extras.ack_delay.as_mut().is_some_and(AckDelay::take_quick) {
            return false;
        }
        // The timer does not run for data in order: the first duplicate ACK has acknowledged that.
        let waits = self.timers.runs(Timer::DelayedAck);
        let compresses = compression.on_out_of_order(self.receiver.rcv_nxt, report.place_of(octets), waits);
        if compresses && !waits {
            let received = extras.window_tuning.as_ref().and_then(WindowTuning::round_trip);
            let round_trip = srtt.into_iter().chain(received).min();
            self.timers.start(Timer::DelayedAck, now + AckCompression::delay(round_trip));
        }
        compresses
    }

    /// So many octets up to `end` have gone, again if `repeated`, for what looks at such.
    #[inline(never)]
    pub(super) fn note_departure(&mut self, now: Time, end: u64, bytes: u64, repeated: bool) {
        let sender = &mut self.sender;
        let is_short = bytes < sender.smss && !repeated;
        if let Some(short_end) = sender.extras.as_mut().and_then(|extras| extras.short_end.as_mut())
            && is_short
        {
            *short_end = end;
        }
        sender.note_send_buffer(now);
        let initial_window_bytes = self.config.initial_window.bytes(sender.smss);
        sender.validate_window(now, self.config.restart_after_idle, initial_window_bytes);
        sender.end_non_validated(now, bytes, repeated, initial_window_bytes);
        if let Some(part) = sender.extras.as_mut().and_then(|extras| extras.ack_delay.as_mut()) {
            part.on_sent(now);
        }
    }

    /// How long an acknowledgement waits for a second segment.
    pub(super) fn adapted_ack_delay(&self) -> Option<Span> {
        let part = self.sender.extras.as_ref()?.ack_delay.as_ref()?;
        Some(part.delay(self.sender.rtt.srtt()))
    }
}
