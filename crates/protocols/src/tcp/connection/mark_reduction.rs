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
//! Octets that SACK has told of are delivered, and not in flight.

use roamsim_engine::Time;

use super::extras::MarkReduction;
use super::sender::Sender;
use crate::tcp::congestion::Cause;
use crate::tcp::recovery::{Prr, Recovery};

impl Sender {
    fn mark_reduction(&mut self) -> Option<&mut MarkReduction> {
        self.extras.as_mut()?.mark_reduction.as_deref_mut()
    }

    /// Octets delivered so far, and octets in flight ahead of a repair.
    fn delivered_and_in_flight(&self) -> (u64, u64) {
        let sacked_bytes = self.recovery.sacked_bytes();
        (self.snd_una + sacked_bytes, self.flight().saturating_sub(sacked_bytes))
    }

    /// An acknowledgement reports a mark; `flight_bytes` are what a reduction counts as in flight.
    pub(super) fn begin_mark_reduction(&mut self, flight_bytes: u64, now: Time) {
        let cwnd_bytes = self.congestion.cwnd_bytes();
        self.reduce(Cause::EcnEcho { flight_bytes }, false, now);
        let target_bytes = self.congestion.cwnd_bytes();
        self.congestion.on_recovered(cwnd_bytes);
        let (delivered_bytes, in_flight_bytes) = self.delivered_and_in_flight();
        let prr = Prr::begin(in_flight_bytes, cwnd_bytes);
        let (until, snd_una) = (self.snd_max, self.snd_una);
        if let Some(extras) = &mut self.extras {
            let reduction = MarkReduction { prr, until, delivered_bytes, snd_una, target_bytes };
            extras.mark_reduction = Some(Box::new(reduction));
        }
    }

    /// An acknowledgement of new data; whether the window follows it for a mark.
    pub(super) fn follow_mark_reduction(&mut self) -> bool {
        let (snd_una, is_last) = (self.snd_una, self.snd_una == self.snd_max);
        let Some(reduction) = self.mark_reduction() else { return false };
        let is_over = snd_una > reduction.until;
        if is_over || is_last {
            self.end_mark_reduction();
            return !is_over;
        }
        // Blocks may tell of a loss yet.
        if !matches!(self.recovery, Recovery::Sack(_)) || self.recovery.sacked_bytes() == 0 {
            self.count_for_mark();
        }
        true
    }

    /// The window follows what the acknowledgement delivers. A second call for the same one does nothing.
    pub(super) fn count_for_mark(&mut self) {
        let (snd_una, snd_nxt, smss_bytes) = (self.snd_una, self.snd_nxt, self.smss);
        if self.mark_reduction().is_none() {
            return;
        }
        let (delivered_bytes, in_flight_bytes) = self.delivered_and_in_flight();
        let Some(reduction) = self.mark_reduction() else { return };
        let newly_bytes = delivered_bytes.saturating_sub(reduction.delivered_bytes);
        let moves = snd_una > std::mem::replace(&mut reduction.snd_una, snd_una);
        reduction.delivered_bytes = delivered_bytes;
        reduction.prr.set_out(snd_nxt - reduction.until);
        reduction.prr.on_ack(newly_bytes, in_flight_bytes, reduction.target_bytes, smss_bytes, moves);
        let cwnd_bytes = reduction.prr.cwnd_bytes();
        self.congestion.on_recovered(cwnd_bytes);
    }

    /// The window is what the mark leaves. Gives the reduction that was under way.
    pub(super) fn end_mark_reduction(&mut self) -> Option<MarkReduction> {
        let mut reduction = *self.extras.as_mut()?.mark_reduction.take()?;
        reduction.prr.set_out(self.snd_nxt.saturating_sub(reduction.until));
        self.congestion.on_recovered(reduction.target_bytes);
        Some(reduction)
    }
}
