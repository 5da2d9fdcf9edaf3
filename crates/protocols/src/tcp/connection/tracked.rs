//! What a connection with extras does: it paces data, grows the first window by HyStart++, and works off
//! further deadlines.

use roamsim_engine::{Span, Time};

use super::Connection;
use super::extras::{Deadline, FirstSlowStart};
use super::sender::Sender;
use crate::tcp::pacing::Rate;

impl Sender {
    /// Whether transmissions count beyond detection: they are kept, paced, or measured.
    #[inline(always)]
    pub(super) fn is_tracked(&self) -> bool {
        self.extras.is_some()
    }

    /// Whether the pacer holds data back until its deadline.
    #[inline(always)]
    pub(super) fn is_held(&self) -> bool {
        self.extras.as_ref().is_some_and(|extras| extras.held)
    }

    #[inline]
    pub(super) fn set_deadline(&mut self, which: Deadline, at: Time) {
        if let Some(extras) = &mut self.extras {
            extras.deadlines[which as usize] = at;
        }
    }

    /// `bytes` go now, which the pacer may have others wait for.
    pub(super) fn pace(&mut self, now: Time, bytes: u64) {
        let (rate, smss) = (self.pacing_rate(), self.smss);
        let Some(extras) = &mut self.extras else { return };
        if let Some(at) = extras.pacer.as_mut().and_then(|pacer| pacer.on_sent(now, bytes, smss, rate)) {
            extras.held = true;
            extras.deadlines[Deadline::Pacing as usize] = at;
        }
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

    /// The first slow start, by HyStart++.
    #[cold]
    pub(super) fn grow_first_window(
        &mut self,
        now: Time,
        acked: u64,
        most_segments: u64,
        rtt: Option<Span>,
        may_grow: bool,
    ) {
        let (cwnd_bytes, ssthresh_bytes) = (self.congestion.cwnd_bytes(), self.congestion.ssthresh_bytes());
        let Sender { extras: Some(extras), snd_una, snd_nxt, smss, .. } = self else { return };
        let is_first =
            |first: &FirstSlowStart| ssthresh_bytes == first.ssthresh_bytes && cwnd_bytes < ssthresh_bytes;
        let Some(first) = extras.hystart.as_mut().filter(|first| is_first(first)) else {
            extras.hystart = None;
            return self.grow_any_window(now, acked, most_segments, rtt, may_grow);
        };
        let own_rtt = first.sent.as_mut().and_then(|sent| {
            sent.on_ack(*snd_una, now);
            std::mem::take(&mut sent.heard).newest_original.map(|record| now.since(record.at))
        });
        if !may_grow {
            return;
        }
        let growth = first.hystart.on_ack(acked, *smss, rtt.or(own_rtt), *snd_una, *snd_nxt);
        if growth.ends {
            extras.hystart = None;
        }
        self.grow_any_window(now, growth.bytes, growth.bytes.div_ceil(self.smss), rtt, may_grow);
        if growth.ends {
            self.congestion.leave_slow_start();
        }
    }
}

impl Connection {
    /// The earliest deadline of all.
    #[inline]
    pub(super) fn earliest_deadline(&self) -> Time {
        let at = self.timers.earliest();
        match &self.sender.extras {
            None => at,
            Some(extras) => at.min(extras.earliest()),
        }
    }

    #[cold]
    pub(super) fn expire_extras(&mut self, now: Time) {
        let expired = |connection: &mut Connection, which| {
            connection.sender.extras.as_mut().is_some_and(|extras| extras.take_expired(which, now))
        };
        if expired(self, Deadline::Reordering) {
            self.mark_losses(now);
        }
        if expired(self, Deadline::Probe) {
            self.probe_timeout(now);
        }
        if expired(self, Deadline::Pacing)
            && let Some(extras) = &mut self.sender.extras
        {
            extras.held = false;
        }
    }
}
