//! Proportional rate reduction for marks of ECN (RFC 9937 section 4; `tcp_enter_cwr` and `tcp_cwnd_reduction`
//! of Linux).
//!
//! The mark sets ssthresh. The window comes down to what the congestion control leaves, with what arrives,
//! until something is acknowledged that was sent after the mark was told, or nothing is in flight. It does
//! not grow meanwhile.
//! - Data lost from before the mark is repaired at the same ssthresh. PRR keeps its counts.
//! - A timeout with such data outstanding keeps ssthresh, and the window restarts.
//! - Any other reduction ends it.
//!
//! Ahead of a repair the flight is all that is outstanding, as for every window here. What SACK has told of
//! counts when SND.UNA passes it, or when the repair begins.

use roamsim_engine::Time;

use super::extras::MarkReduction;
use super::sender::Sender;
use crate::tcp::congestion::Cause;
use crate::tcp::recovery::Prr;

impl Sender {
    fn mark_reduction(&mut self) -> Option<&mut MarkReduction> {
        self.extras.as_mut()?.mark_reduction.as_deref_mut()
    }

    /// An acknowledgement reports a mark; `flight_bytes` are what a reduction counts as in flight.
    pub(super) fn begin_mark_reduction(&mut self, flight_bytes: u64, now: Time) {
        let cwnd_bytes = self.congestion.cwnd_bytes();
        self.reduce(Cause::EcnEcho { flight_bytes }, false, now);
        let target_bytes = self.congestion.cwnd_bytes();
        self.congestion.on_recovered(cwnd_bytes);
        let prr = Prr::begin(self.flight(), cwnd_bytes);
        let (until, counted) = (self.snd_max, self.snd_una);
        if let Some(extras) = &mut self.extras {
            extras.mark_reduction = Some(Box::new(MarkReduction { prr, until, counted, target_bytes }));
        }
    }

    /// An acknowledgement of new data; whether the window follows it for a mark.
    pub(super) fn follow_mark_reduction(&mut self) -> bool {
        let (snd_una, snd_nxt, smss_bytes) = (self.snd_una, self.snd_nxt, self.smss);
        let (is_last, flight_bytes) = (snd_una == self.snd_max, self.flight());
        let Some(reduction) = self.mark_reduction() else { return false };
        let (is_over, target_bytes) = (snd_una > reduction.until, reduction.target_bytes);
        if is_over || is_last {
            self.end_mark_reduction();
            return !is_over;
        }
        let acked_bytes = snd_una - std::mem::replace(&mut reduction.counted, snd_una);
        reduction.prr.set_out(snd_nxt - reduction.until);
        reduction.prr.on_ack(acked_bytes, flight_bytes, target_bytes, smss_bytes, true);
        let cwnd_bytes = reduction.prr.cwnd_bytes();
        self.congestion.on_recovered(cwnd_bytes);
        true
    }

    /// The window is what the mark leaves. Gives the reduction that was under way.
    pub(super) fn end_mark_reduction(&mut self) -> Option<MarkReduction> {
        let mut reduction = *self.extras.as_mut()?.mark_reduction.take()?;
        reduction.prr.set_out(self.snd_nxt.saturating_sub(reduction.until));
        reduction.prr.add_delivered(self.snd_una - reduction.counted);
        self.congestion.on_recovered(reduction.target_bytes);
        Some(reduction)
    }
}
