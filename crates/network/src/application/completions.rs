//! What became of transfers, by their size: how many were begun and completed, and how long they took.

use crate::durations::Durations;
use roamsim_engine::Span;
use std::collections::BTreeMap;

/// What became of the transfers of a class of sizes.
#[derive(Clone, Debug, Default)]
pub struct Class {
    /// Begun.
    pub begun: u64,
    /// Given up by their transport.
    pub failed: u64,
    /// How long those took that were delivered whole.
    pub times: Durations,
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
            self.class(bytes).times.add(took);
        }
    }

    /// One has been given up by its sender. If it was delivered before, that stands.
    pub fn fail(&mut self, number: u64) {
        if let Some(bytes) = self.under_way.remove(&number) {
            self.class(bytes).failed += 1;
        }
    }

    /// All that are under way have been given up by their sender.
    pub fn fail_all(&mut self) {
        for bytes in std::mem::take(&mut self.under_way).into_values() {
            self.class(bytes).failed += 1;
        }
    }

    /// Classes of sizes in octets, from and below, in order: those that there can be.
    pub fn by_size(&self) -> impl Iterator<Item = (u64, u64, &Class)> {
        self.classes.iter().map(|(&power, class)| (10_u64.pow(power), 10_u64.pow(power + 1), class))
    }

    /// All of them together.
    pub fn all(&self) -> Class {
        let mut all = Class::default();
        for class in self.classes.values() {
            all.begun += class.begun;
            all.failed += class.failed;
            all.times.add_all(&class.times);
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!((all.begun, all.times.count(), all.failed), (2, 1, 1));
    }
}
