//! Durations by the thousand: mean, percentiles, the longest.
//!
//! They are kept as counts in intervals whose width is a 64th of a power of two, so that memory does not grow
//! with their number: percentiles are within 0.8 %. Means, the shortest and the longest are exact.

use roamsim_engine::Span;
use std::collections::BTreeMap;

/// How often which durations were.
#[derive(Clone, Debug, Default)]
pub struct Durations {
    count: u64,
    sum_ns: u128,
    shortest_ns: u64,
    longest_ns: u64,
    /// Counts by the number of the interval.
    counts: BTreeMap<u32, u64>,
}

/// An interval of 64 of a power of two: below 128 ns one for each nanosecond.
fn interval(ns: u64) -> u32 {
    let shift = (63 - ns.max(1).leading_zeros()).saturating_sub(6);
    shift * 64 + (ns >> shift) as u32
}

/// The first time behind an interval, in nanoseconds.
fn behind(interval: u32) -> u64 {
    let shift = (interval / 64).saturating_sub(1);
    u64::from(interval - shift * 64 + 1) << shift
}

impl Durations {
    /// One more.
    pub fn add(&mut self, duration: Span) {
        let ns = duration.as_ns();
        self.shortest_ns = if self.count == 0 { ns } else { self.shortest_ns.min(ns) };
        self.longest_ns = self.longest_ns.max(ns);
        self.count += 1;
        self.sum_ns += u128::from(ns);
        *self.counts.entry(interval(ns)).or_default() += 1;
    }

    /// All of others.
    pub fn add_all(&mut self, others: &Durations) {
        let &Durations { count, sum_ns, shortest_ns, longest_ns, ref counts } = others;
        if count == 0 {
            return;
        }
        self.shortest_ns = if self.count == 0 { shortest_ns } else { self.shortest_ns.min(shortest_ns) };
        self.longest_ns = self.longest_ns.max(longest_ns);
        self.count += count;
        self.sum_ns += sum_ns;
        for (&interval, &count) in counts {
            *self.counts.entry(interval).or_default() += count;
        }
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Their mean; NaN of none.
    pub fn mean_s(&self) -> f64 {
        if self.count == 0 { f64::NAN } else { self.sum_ns as f64 / self.count as f64 / 1e9 }
    }

    /// The longest; NaN of none.
    pub fn longest_s(&self) -> f64 {
        if self.count == 0 { f64::NAN } else { Span::from_ns(self.longest_ns).as_secs_f64() }
    }

    /// A percentile by nearest rank, to the middle of its interval; NaN of none.
    pub fn percentile_s(&self, percent: u64) -> f64 {
        let rank = (self.count * percent).div_ceil(100).max(1);
        let mut before = 0;
        for (&interval, &count) in &self.counts {
            before += count;
            if before >= rank {
                let until = behind(interval);
                let from = interval.checked_sub(1).map_or(0, behind);
                let middle = (from + until - 1) / 2;
                return Span::from_ns(middle.clamp(self.shortest_ns, self.longest_ns)).as_secs_f64();
            }
        }
        f64::NAN
    }

    /// The times up to which so many were, of each interval with any.
    pub fn distribution(&self) -> impl Iterator<Item = (f64, u64)> {
        let mut before = 0;
        self.counts.iter().map(move |(&interval, &count)| {
            before += count;
            (Span::from_ns(behind(interval) - 1).as_secs_f64(), before)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn an_interval_holds_its_times_and_is_a_64th_wide_at_most(ns in 0u64..(1 << 62)) {
            let interval = interval(ns);
            let from = interval.checked_sub(1).map_or(0, behind);
            prop_assert!(from <= ns && ns < behind(interval), "{from} {ns} {}", behind(interval));
            prop_assert!((behind(interval) - from) * 64 <= ns.max(64));
        }
    }

    #[test]
    fn percentiles_and_means_are_those_of_the_times_however_they_came_together() {
        let mut parts = [Durations::default(), Durations::default()];
        for ms in 1..=100 {
            parts[usize::from(ms > 30)].add(Span::from_ms(ms));
        }
        let mut all = Durations::default();
        parts.iter().rev().for_each(|part| all.add_all(part));
        all.add_all(&Durations::default());
        assert!((all.mean_s() - 0.0505).abs() < 1e-12);
        for (percent, s) in [(50, 0.050), (95, 0.095), (99, 0.099)] {
            assert!((all.percentile_s(percent) / s - 1.0).abs() < 0.008, "{}", all.percentile_s(percent));
        }
        assert_eq!((all.percentile_s(100), all.longest_s(), all.shortest_ns), (0.1, 0.1, 1_000_000));
        assert_eq!(all.distribution().last().map(|(_, count)| count), Some(100));
        assert!(Durations::default().percentile_s(50).is_nan() && Durations::default().mean_s().is_nan());
    }
}
