//! Congestion window validation of RFC 7661: what the path carried lately, and what follows for a window that
//! is not used.
//!
//! - pipeACK (4.2): the most octets acknowledged in one round trip of the last max(3 RTT, 1 s), in four bins
//!   (4.5.1). It is undefined before the first round trip, behind a recovery and behind a timeout; recoveries
//!   give no sample.
//! - The window is validated while pipeACK is undefined or at least half of cwnd (4.3), and grows only then.
//! - A loss or mark outside of that phase leaves cwnd at max(pipeACK, FlightSize) / 2 at most (4.4.1). The
//!   end of its recovery leaves (max(pipeACK, FlightSize) - R) / 2, where R is what was sent again. ssthresh
//!   is cwnd then (RFC 5681 3.2, step 6).
//! - Each five minutes outside of it: ssthresh = max(ssthresh, 3/4 cwnd), cwnd = max(cwnd / 2, IW) (4.4.3).
//!   They count from the last acknowledgement or transmission that found the window validated.
//! - Bursts are limited by pacing alone (4.4.2).

use roamsim_engine::{Span, Time};

/// How long a window may stay non-validated (RFC 7661 4.4.3).
pub(super) const NON_VALIDATED_PERIOD: Span = Span::from_secs(300);
/// The shortest time that a sample counts (4.2).
const LEAST_SAMPLING_PERIOD: Span = Span::from_secs(1);
const BINS: usize = 4;

/// What validates the window.
#[derive(Clone, Copy, Debug)]
pub(super) struct PipeAck {
    /// The largest samples, the newest first, each with the time at which its bin began.
    bins: [(Time, u64); BINS],
    /// Whether there was a sample.
    is_defined: bool,
    /// SND.UNA and SND.NXT where the round trip under way began.
    round_start: u64,
    round_end: u64,
    pub(super) validated_at: Time,
    /// max(pipeACK, FlightSize) at the loss that is repaired, where the window was not validated.
    pub(super) carried_bytes: Option<u64>,
    /// Octets sent again since that loss.
    pub(super) repeated_bytes: u64,
}

impl Default for PipeAck {
    fn default() -> PipeAck {
        PipeAck {
            bins: [(Time::ZERO, 0); BINS],
            is_defined: false,
            round_start: 0,
            round_end: 0,
            validated_at: Time::ZERO,
            carried_bytes: None,
            repeated_bytes: 0,
        }
    }
}

impl PipeAck {
    /// An acknowledgement up to `snd_una`.
    pub(super) fn on_ack(&mut self, now: Time, snd_una: u64, snd_nxt: u64, srtt: Option<Span>) {
        // It ends with the first octet that went after it began, or with nothing in flight: what was in
        // flight when it began is a segment less than a full window.
        if snd_una <= self.round_end && snd_una < snd_nxt {
            return;
        }
        let sample = snd_una.saturating_sub(self.round_start);
        let is_first = self.round_end == 0;
        (self.round_start, self.round_end) = (snd_una, snd_nxt);
        if is_first {
            return;
        }
        let bin = Span::from_ns(sampling_period(srtt).as_ns() / BINS as u64);
        if self.is_defined && now.since(self.bins[0].0) < bin {
            self.bins[0].1 = self.bins[0].1.max(sample);
            return;
        }
        if !self.is_defined {
            self.bins = [(now, 0); BINS];
        }
        self.bins.rotate_right(1);
        self.bins[0] = (now, sample);
        self.is_defined = true;
    }

    /// pipeACK in octets, where it is defined.
    pub(super) fn bytes(&self, now: Time, srtt: Option<Span>) -> Option<u64> {
        let period = sampling_period(srtt);
        let recent = self.bins.iter().filter(|(at, _)| now.since(*at) < period);
        self.is_defined.then(|| recent.map(|(_, bytes)| *bytes).max().unwrap_or(0))
    }

    pub(super) fn is_validated(&mut self, now: Time, cwnd_bytes: u64, srtt: Option<Span>) -> bool {
        let is_validated = self.bytes(now, srtt).is_none_or(|bytes| bytes >= cwnd_bytes.div_ceil(2));
        if is_validated {
            self.validated_at = now;
        }
        is_validated
    }

    /// pipeACK is undefined from now on.
    pub(super) fn forget(&mut self) {
        *self = PipeAck { validated_at: self.validated_at, ..PipeAck::default() };
    }
}

/// How long a sample counts (RFC 7661 4.2).
fn sampling_period(srtt: Option<Span>) -> Span {
    srtt.map_or(LEAST_SAMPLING_PERIOD, |srtt| (srtt * 3).max(LEAST_SAMPLING_PERIOD))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at_ms(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    /// A round trip of 100 ms each that acknowledges so many octets.
    fn rounds(pipe_ack: &mut PipeAck, from_ms: u64, octets: &[u64]) -> u64 {
        let mut snd_una = pipe_ack.round_start;
        for (ms, bytes) in (from_ms..).step_by(100).zip(octets) {
            snd_una += bytes;
            pipe_ack.on_ack(at_ms(ms), snd_una, snd_una + 1, Some(Span::from_ms(100)));
        }
        snd_una
    }

    #[test]
    fn the_largest_round_of_the_last_second_counts() {
        let srtt = Some(Span::from_ms(100));
        let mut pipe_ack = PipeAck::default();
        rounds(&mut pipe_ack, 0, &[1000]);
        assert_eq!(pipe_ack.bytes(at_ms(0), srtt), None);
        rounds(&mut pipe_ack, 100, &[2000, 9000, 3000]);
        assert_eq!(pipe_ack.bytes(at_ms(300), srtt), Some(9000));
        // Its bin began at 100 ms.
        assert_eq!(pipe_ack.bytes(at_ms(1099), srtt), Some(9000));
        assert_eq!(pipe_ack.bytes(at_ms(1100), srtt), Some(0));
        // Over long round trips three of them count.
        assert_eq!(pipe_ack.bytes(at_ms(1100), Some(Span::from_ms(500))), Some(9000));
        pipe_ack.forget();
        assert_eq!(pipe_ack.bytes(at_ms(1100), srtt), None);
    }

    #[test]
    fn a_round_trip_ends_with_what_went_after_it_began() {
        let srtt = Some(Span::from_ms(100));
        let mut pipe_ack = PipeAck::default();
        // Two segments in flight, each acknowledged by itself, and each followed by another.
        for n in 1..=5 {
            pipe_ack.on_ack(at_ms(50 * n), 1 + 1000 * n, 2001 + 1000 * (n - 1), srtt);
        }
        assert_eq!(pipe_ack.bytes(at_ms(250), srtt), Some(2000));
    }

    #[test]
    fn half_of_the_window_validates_it() {
        let srtt = Some(Span::from_ms(100));
        let mut pipe_ack = PipeAck::default();
        rounds(&mut pipe_ack, 0, &[1000, 5000]);
        assert!(pipe_ack.is_validated(at_ms(200), 10_000, srtt));
        assert!(!pipe_ack.is_validated(at_ms(300), 10_001, srtt));
        assert_eq!(pipe_ack.validated_at, at_ms(200));
    }
}
