//! What became of transfers, by their size: how many were begun and completed, and how long they took.
//!
//! Times are kept as counts in intervals whose width is a 64th of a power of two, so that memory does not grow with their number:
//! percentiles are within 0.8 %. Means, the shortest and the longest are exact.

use roamsim_engine::Span;
use std::collections::BTreeMap;

/// What became of the transfers of a class of sizes.
#[derive(Clone, Debug, Default)]
pub struct Class {
    /// Begun.
    pub begun: u64,
    /// Delivered whole.
    pub completed: u64,
    /// Given up by their transport.
    pub failed: u64,
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

impl Class {
    fn complete(&mut self, ns: u64) {
        self.shortest_ns = if self.completed == 0 { ns } else { self.shortest_ns.min(ns) };
        self.longest_ns = self.longest_ns.max(ns);
        self.completed += 1;
        self.sum_ns += u128::from(ns);
        *self.counts.entry(interval(ns)).or_default() += 1;
    }

    /// The mean time; NaN where none was completed.
    pub fn mean_s(&self) -> f64 {
        if self.completed == 0 { f64::NAN } else { self.sum_ns as f64 / self.completed as f64 / 1e9 }
    }

    /// The longest time; NaN where none was completed.
    pub fn longest_s(&self) -> f64 {
        if self.completed == 0 { f64::NAN } else { Span::from_ns(self.longest_ns).as_secs_f64() }
    }

    /// A percentile by nearest rank, to the middle of its interval; NaN where none was completed.
    pub fn percentile_s(&self, percent: u64) -> f64 {
        let rank = (self.completed * percent).div_ceil(100).max(1);
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

    /// The times up to which so many were completed, of each interval with any.
    pub fn distribution(&self) -> impl Iterator<Item = (f64, u64)> {
        let mut before = 0;
        self.counts.iter().map(move |(&interval, &count)| {
            before += count;
            (Span::from_ns(behind(interval) - 1).as_secs_f64(), before)
        })
    }
}

/// The power of ten that a size is, or is above.
fn power(bytes: u32) -> u32 {
    bytes.max(1).ilog10()
}

/// What became of the transfers of a flow.
#[derive(Clone, Debug, Default)]
pub struct Completions {
    /// By the power of ten that their size in octets is, or is above.
    classes: BTreeMap<u32, Class>,
    /// The sizes of those begun of which nothing has become yet, by number.
    under_way: BTreeMap<u64, u32>,
    /// Those that were not begun, since too many were under way.
    pub refused: u64,
}

impl Completions {
    /// None yet, of sizes within these bounds.
    pub fn of_sizes(bounds: impl IntoIterator<Item = (u32, u32)>) -> Completions {
        let powers = bounds.into_iter().flat_map(|(least, greatest)| power(least)..=power(greatest));
        let classes = powers.map(|power| (power, Class::default())).collect();
        Completions { classes, ..Completions::default() }
    }

    fn class(&mut self, bytes: u32) -> &mut Class {
        self.classes.entry(power(bytes)).or_default()
    }

    /// One is begun, under a number of its own.
    pub fn begin(&mut self, number: u64, bytes: u32) {
        self.class(bytes).begun += 1;
        self.under_way.insert(number, bytes);
    }

    /// One has been delivered whole, so long after it was begun. If it was given up before, that stands.
    pub fn complete(&mut self, number: u64, took: Span) {
        if let Some(bytes) = self.under_way.remove(&number) {
            self.class(bytes).complete(took.as_ns());
        }
    }

    /// One has been given up by its sender. If it was delivered before, that stands.
    pub fn fail(&mut self, number: u64) {
        if let Some(bytes) = self.under_way.remove(&number) {
            self.class(bytes).failed += 1;
        }
    }

    /// Classes of sizes in octets, from and below, in order: those that there can be.
    pub fn by_size(&self) -> impl Iterator<Item = (u64, u64, &Class)> {
        self.classes.iter().map(|(&power, class)| (10_u64.pow(power), 10_u64.pow(power + 1), class))
    }

    /// All of them together.
    pub fn all(&self) -> Class {
        let mut all = Class { shortest_ns: u64::MAX, ..Class::default() };
        for class in self.classes.values() {
            all.begun += class.begun;
            all.completed += class.completed;
            all.failed += class.failed;
            all.sum_ns += class.sum_ns;
            all.longest_ns = all.longest_ns.max(class.longest_ns);
            if class.completed > 0 {
                all.shortest_ns = all.shortest_ns.min(class.shortest_ns);
            }
            for (&interval, &count) in &class.counts {
                *all.counts.entry(interval).or_default() += count;
            }
        }
        all
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
    fn percentiles_and_means_are_those_of_the_times() {
        let mut completions = Completions::default();
        for ms in 1..=100 {
            completions.begin(ms, 5000);
            completions.complete(ms, Span::from_ms(ms));
        }
        let all = completions.all();
        assert!((all.mean_s() - 0.0505).abs() < 1e-12);
        for (percent, s) in [(50, 0.050), (95, 0.095), (99, 0.099)] {
            assert!((all.percentile_s(percent) / s - 1.0).abs() < 0.008, "{}", all.percentile_s(percent));
        }
        assert_eq!((all.percentile_s(100), all.longest_s()), (0.1, 0.1));
        assert_eq!(all.distribution().last().map(|(_, count)| count), Some(100));
        assert!(Class::default().percentile_s(50).is_nan() && Class::default().mean_s().is_nan());
    }

    #[test]
    fn classes_are_powers_of_ten() {
        let mut completions = Completions::default();
        for (number, bytes) in (0..).zip([1, 999, 1000, 9999, 10_000, u32::MAX]) {
            completions.begin(number, bytes);
        }
        completions.fail(2);
        let classes: Vec<_> =
            completions.by_size().map(|(from, to, class)| (from, to, class.begun, class.failed)).collect();
        let expected = [
            (1, 10, 1, 0),
            (100, 1000, 1, 0),
            (1000, 10_000, 2, 1),
            (10_000, 100_000, 1, 0),
            (1_000_000_000, 10_000_000_000, 1, 0),
        ];
        assert_eq!(classes, expected);
    }

    #[test]
    fn the_classes_that_there_can_be_are_there_before_any_transfer() {
        let completions = Completions::of_sizes([(500, 10_000), (2_000_000, 2_000_000)]);
        let from: Vec<_> = completions.by_size().map(|(from, ..)| from).collect();
        assert_eq!(from, [100, 1000, 10_000, 1_000_000]);
    }

    #[test]
    fn what_becomes_of_a_transfer_first_stands() {
        let mut completions = Completions::default();
        completions.begin(0, 5000);
        completions.begin(1, 5000);
        completions.complete(0, Span::from_ms(1));
        completions.fail(0);
        completions.fail(1);
        completions.complete(1, Span::from_ms(1));
        let all = completions.all();
        assert_eq!((all.begun, all.completed, all.failed), (2, 1, 1));
    }
}
