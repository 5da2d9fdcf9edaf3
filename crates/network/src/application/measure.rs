//! What is measured where a flow's data arrives.

use roamsim_engine::{Span, Time};

/// Deliveries of a flow: counts, delays, jitter.
#[derive(Clone, Debug, Default)]
pub struct Measurement {
    /// Messages written.
    pub sent_messages: u64,
    /// Octets written in messages.
    pub sent_bytes: u64,
    /// Messages delivered.
    pub delivered_messages: u64,
    /// Octets delivered, in messages or as a stream.
    pub delivered_bytes: u64,
    /// Datagrams dropped on the way.
    pub lost_messages: u64,
    /// When the transfer was complete.
    pub completed_at: Option<Time>,
    delays_ns: Vec<u64>,
    jitter_ns: f64,
}

/// Delay statistics of one flow, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DelayStatistics {
    /// Arithmetic mean.
    pub mean_s: f64,
    /// Median.
    pub median_s: f64,
    /// 95th percentile.
    pub p95_s: f64,
    /// 99th percentile.
    pub p99_s: f64,
}

impl Measurement {
    /// A message has arrived whose delay is kept elsewhere.
    pub fn count_delivery(&mut self, bytes: u64) {
        self.delivered_messages += 1;
        self.delivered_bytes += bytes;
    }

    /// A message has arrived, `delay` after it was written.
    pub fn on_delivery(&mut self, bytes: u64, delay: Span) {
        self.count_delivery(bytes);
        if let Some(&before) = self.delays_ns.last() {
            // RFC 3550 section 6.4.1: J += (|D| - J) / 16, D the difference of two successive transit times.
            self.jitter_ns += (delay.as_ns().abs_diff(before) as f64 - self.jitter_ns) / 16.0;
        }
        self.delays_ns.push(delay.as_ns());
    }

    /// Interarrival jitter (RFC 3550 section 6.4.1) at the end, in seconds; NaN with fewer than two messages.
    pub fn jitter_s(&self) -> f64 {
        if self.delays_ns.len() < 2 { f64::NAN } else { self.jitter_ns / 1e9 }
    }

    /// Mean and percentiles of the delays; NaN without messages.
    pub fn delay_statistics(&self) -> DelayStatistics {
        delay_statistics(&self.delays_ns)
    }
}

/// Mean and percentiles (nearest rank) of delays in nanoseconds; NaN when there are none.
pub fn delay_statistics(delays_ns: &[u64]) -> DelayStatistics {
    if delays_ns.is_empty() {
        return DelayStatistics { mean_s: f64::NAN, median_s: f64::NAN, p95_s: f64::NAN, p99_s: f64::NAN };
    }
    let mut sorted = delays_ns.to_vec();
    sorted.sort_unstable();
    // Nearest rank: the smallest value with at least q percent of the values at or below it.
    let rank = |percent: usize| {
        let index = (sorted.len() * percent).div_ceil(100).max(1) - 1;
        Span::from_ns(sorted[index]).as_secs_f64()
    };
    let sum: u128 = sorted.iter().map(|&ns| u128::from(ns)).sum();
    DelayStatistics {
        mean_s: sum as f64 / sorted.len() as f64 / 1e9,
        median_s: rank(50),
        p95_s: rank(95),
        p99_s: rank(99),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_by_nearest_rank() {
        let delays: Vec<u64> = (1..=100).rev().map(|ms| ms * 1_000_000).collect();
        let statistics = delay_statistics(&delays);
        // Mean of 1..100 ms: 50.5 ms.
        assert_eq!(
            (statistics.mean_s, statistics.median_s, statistics.p95_s, statistics.p99_s),
            (0.0505, 0.05, 0.095, 0.099)
        );
        assert!(delay_statistics(&[]).mean_s.is_nan());
        assert_eq!(delay_statistics(&[7]).p99_s, 7e-9);
    }

    #[test]
    fn jitter_of_alternating_delays() {
        let mut measurement = Measurement::default();
        for delay_ms in [10, 26, 10] {
            measurement.on_delivery(100, Span::from_ms(delay_ms));
        }
        // D = 16 ms twice: J = 1 ms, then 1 + 15/16 = 1.9375 ms.
        assert!((measurement.jitter_s() - 1.9375e-3).abs() < 1e-12);
    }
}
