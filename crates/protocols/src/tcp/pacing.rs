//! Pacing: what the congestion window lets go is spread over the round trip instead of going at once.
//!
//! The rate is the congestion control's, or `ratio window / SRTT`: 2 while the window is below half of
//! ssthresh, 1.2 from there (Linux, `tcp_pacing_ss_ratio` and `tcp_pacing_ca_ratio`). Data goes in bursts of
//! what the rate sends in a 1024th of a second, of two segments at least and 64 KiB at most (Linux's sizes of
//! what it hands to an interface at once), each as long after the one before as that one takes at the rate.
//! The first ten segments of a connection go unpaced (Linux), as does everything before the first round trip
//! is measured.
//!
//! Not modelled: the credit for a timer that fires late, of which there is none here.

use roamsim_engine::{Span, Time};

use super::proportion::proportion;

/// Segments of a connection that go unpaced.
const UNPACED_SEGMENTS: u8 = 10;

/// The largest burst.
const MOST_BURST_BYTES: u64 = 65_536;

/// How fast data goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rate {
    /// Octets a second.
    BytesPerSecond(u64),
    /// So many octets in a round trip.
    Window { bytes: u64, rtt: Span, slow_start: bool },
}

/// How many windows go in a round trip, in fifths.
fn fifths(slow_start: bool) -> u64 {
    if slow_start { 10 } else { 6 }
}

impl Rate {
    /// The time that `bytes` take.
    fn time_of(self, bytes: u64) -> Span {
        let ns = match self {
            Rate::BytesPerSecond(rate) => proportion(bytes, 1_000_000_000, rate.max(1)),
            Rate::Window { bytes: window, rtt, slow_start } => {
                proportion(bytes * 5, rtt.as_ns(), window.saturating_mul(fifths(slow_start)).max(1))
            }
        };
        Span::from_ns(ns.min(u64::MAX / 4))
    }

    /// Octets a second.
    pub(super) fn bytes_per_s(self) -> u64 {
        match self {
            Rate::BytesPerSecond(rate) => rate,
            Rate::Window { bytes, rtt, slow_start } => {
                proportion(bytes, fifths(slow_start) * 200_000_000, rtt.as_ns().max(1))
            }
        }
    }

    /// What goes in a 1024th of a second.
    fn burst_bytes(self) -> u64 {
        self.bytes_per_s() >> 10
    }
}

/// The state of a connection's pacer.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pacer {
    /// Segments sent, up to the number of those that go unpaced.
    sent: u8,
    /// When the next burst may begin.
    next_at: Time,
    /// What is left of the burst under way.
    left_bytes: u64,
}

impl Pacer {
    /// A segment goes now. The time up to which data is held back, if it is.
    pub(super) fn on_sent(
        &mut self,
        now: Time,
        bytes: u64,
        smss_bytes: u64,
        rate: Option<Rate>,
    ) -> Option<Time> {
        if self.sent < UNPACED_SEGMENTS {
            self.sent += 1;
            return None;
        }
        let rate = rate?;
        if self.next_at <= now {
            self.next_at = now;
            self.left_bytes = rate.burst_bytes().clamp(2 * smss_bytes, MOST_BURST_BYTES.max(2 * smss_bytes));
        }
        self.next_at += rate.time_of(bytes);
        self.left_bytes = self.left_bytes.saturating_sub(bytes);
        (self.left_bytes == 0 && self.next_at > now).then_some(self.next_at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Span = Span::from_ms(100);

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    #[test]
    fn two_segments_go_at_once_and_the_next_two_when_these_are_due() {
        // 12 segments in 100 ms by 1.2: 144000 octets a second, two segments in 13.888889 ms.
        let rate = Some(Rate::Window { bytes: 12_000, rtt: RTT, slow_start: false });
        let mut pacer = Pacer { sent: 10, ..Pacer::default() };
        assert_eq!(pacer.on_sent(ms(0), 1000, 1000, rate), None);
        let held_to = pacer.on_sent(ms(0), 1000, 1000, rate);
        assert_eq!(held_to, Some(Time::from_ns(2 * 6_944_444)));
        // Behind a time without data no more goes at once.
        assert_eq!(pacer.on_sent(ms(500), 1000, 1000, rate), None);
        assert_eq!(pacer.on_sent(ms(500), 1000, 1000, rate), Some(ms(500) + Span::from_ns(2 * 6_944_444)));
    }

    #[test]
    fn slow_start_sends_at_twice_the_rate_and_large_rates_in_longer_bursts() {
        let rate = Some(Rate::Window { bytes: 12_000, rtt: RTT, slow_start: true });
        let mut pacer = Pacer { sent: 10, ..Pacer::default() };
        pacer.on_sent(ms(0), 1000, 1000, rate);
        // Two segments of 240000 octets a second.
        assert_eq!(pacer.on_sent(ms(0), 1000, 1000, rate), Some(Time::from_ns(2 * 4_166_666)));
        // 10.24 MB/s: ten segments of 1000 octets in 1/1024 s.
        let rate = Some(Rate::BytesPerSecond(10_240_000));
        let mut pacer = Pacer { sent: 10, ..Pacer::default() };
        let held: Vec<_> = (0..10).map(|_| pacer.on_sent(ms(0), 1000, 1000, rate)).collect();
        assert!(held[..9].iter().all(Option::is_none));
        assert_eq!(held[9], Some(Time::from_ns(10 * 97_656)));
    }

    #[test]
    fn the_first_ten_segments_go_unpaced() {
        let rate = Some(Rate::BytesPerSecond(1));
        let mut pacer = Pacer::default();
        for _ in 0..11 {
            assert_eq!(pacer.on_sent(ms(0), 1000, 1000, rate), None);
        }
        assert!(pacer.on_sent(ms(0), 1000, 1000, rate).is_some());
    }
}
