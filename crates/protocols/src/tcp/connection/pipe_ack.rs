//! What a connection asks of pipeACK (RFC 7661), and what it tells the congestion control by it.

use roamsim_engine::Time;

use super::sender::Sender;
use crate::tcp::congestion::Cause;
use crate::tcp::pipe_ack::{NON_VALIDATED_PERIOD, PipeAck};

impl Sender {
    fn pipe_ack(&mut self) -> Option<&mut PipeAck> {
        self.extras.as_mut()?.pipe_ack.as_deref_mut()
    }

    /// How much of the window counts as used behind an acknowledgement: all of it while it is validated.
    pub(super) fn validated_bytes(&mut self, now: Time) -> Option<u64> {
        let (snd_una, snd_nxt, srtt) = (self.snd_una, self.snd_nxt, self.rtt.srtt());
        let (cwnd, recovering) = (self.congestion.cwnd_bytes(), self.recovery.is_recovering());
        let pipe_ack = self.pipe_ack()?;
        if !recovering {
            pipe_ack.on_ack(now, snd_una, snd_nxt, srtt);
        }
        Some(if pipe_ack.is_validated(now, cwnd, srtt) { cwnd } else { 0 })
    }

    /// Data goes: a window that was not validated for too long shrinks.
    pub(super) fn end_non_validated(&mut self, now: Time, bytes: u64, repeated: bool, initial_window: u64) {
        let srtt = self.rtt.srtt();
        let mut cwnd = self.congestion.cwnd_bytes();
        let Some(pipe_ack) = self.pipe_ack() else { return };
        if repeated {
            pipe_ack.repeated_bytes += bytes;
        }
        if pipe_ack.is_validated(now, cwnd, srtt) {
            return;
        }
        let periods = now.since(pipe_ack.validated_at).as_ns() / NON_VALIDATED_PERIOD.as_ns();
        if periods == 0 {
            return;
        }
        pipe_ack.validated_at += NON_VALIDATED_PERIOD * periods;
        let least_ssthresh_bytes = cwnd / 4 * 3;
        cwnd = (cwnd >> periods.min(63)).max(initial_window);
        self.congestion.on_congestion(Cause::Idle { restart_window_bytes: cwnd, least_ssthresh_bytes }, now);
    }

    /// The congestion control hears of a loss, or of a mark. `repairs`: a recovery begins.
    pub(super) fn reduce(&mut self, cause: Cause, repairs: bool, now: Time) {
        self.end_mark_reduction();
        let (cwnd, srtt) = (self.congestion.cwnd_bytes(), self.rtt.srtt());
        self.congestion.on_congestion(cause, now);
        let Some(pipe_ack) = self.pipe_ack() else { return };
        let flight_bytes = cause.flight_bytes();
        let carried = pipe_ack.bytes(now, srtt).map_or(flight_bytes, |bytes| bytes.max(flight_bytes));
        let is_validated = pipe_ack.is_validated(now, cwnd, srtt);
        if !repairs {
            pipe_ack.forget();
        } else {
            // A repair that was taken back may have left its own.
            pipe_ack.carried_bytes = (!is_validated).then_some(carried);
            pipe_ack.repeated_bytes = 0;
        }
        if !is_validated {
            let cause = Cause::Idle { restart_window_bytes: carried / 2, least_ssthresh_bytes: 0 };
            self.congestion.on_congestion(cause, now);
        }
    }

    /// A recovery has ended, which leaves a window of `cwnd_bytes` at most.
    #[inline]
    pub(super) fn end_recovery(&mut self, cwnd_bytes: u64) {
        let most_bytes = self.pipe_ack().and_then(|pipe_ack| {
            let carried =
                pipe_ack.carried_bytes.map(|carried| carried.saturating_sub(pipe_ack.repeated_bytes));
            pipe_ack.forget();
            Some(carried? / 2)
        });
        self.congestion.on_recovered(cwnd_bytes.min(most_bytes.unwrap_or(u64::MAX)));
        if most_bytes.is_some_and(|most| most < cwnd_bytes) {
            self.congestion.leave_slow_start();
        }
    }

    /// The retransmission timer expired, or everything is sent anew.
    pub(super) fn forget_pipe_ack(&mut self) {
        if let Some(pipe_ack) = self.pipe_ack() {
            pipe_ack.forget();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::config::{Config, WindowValidation};

    #[test]
    fn what_a_repair_that_was_taken_back_left_does_not_count_for_the_next() {
        let config = Config { window_validation: WindowValidation::Rfc7661, ..Config::default() };
        let mut sender = Sender::new(&config, 0);
        if let Some(pipe_ack) = sender.pipe_ack() {
            (pipe_ack.carried_bytes, pipe_ack.repeated_bytes) = (Some(3000), 1000);
        }
        sender.reduce(Cause::FastRetransmit { flight_bytes: 20_000 }, true, Time::ZERO);
        sender.end_recovery(10_000);
        assert_eq!(sender.congestion.cwnd_bytes(), 10_000);
    }
}
