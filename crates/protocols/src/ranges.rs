//! Ranges of offsets, sorted, with a gap between any two: TCP's octets or SCTP's TSNs that a receiver holds
//! beyond a gap, and the scoreboard of TCP's sender.
//!
//! Memory grows with the number of gaps, not with their length. A search begins near its likely answer and
//! doubles its steps from there, so it costs the logarithm of the distance, however many ranges there are.
//! Segments and SACK blocks are mostly near the highest range. Inserting a range moves the ranges on its
//! shorter side, so in random order the cost does grow with their number.

use std::collections::VecDeque;
use std::collections::vec_deque::Iter;

/// A half-open range of offsets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) start: u64,
    pub(crate) end: u64,
}

impl Range {
    pub(crate) fn bytes(&self) -> u64 {
        self.end - self.start
    }

    /// How many of its octets lie below `limit`.
    pub(crate) fn below(&self, limit: u64) -> u64 {
        self.end.min(limit).saturating_sub(self.start)
    }

    pub(crate) fn holds(&self, other: Range) -> bool {
        self.start <= other.start && other.end <= self.end
    }
}

/// The ranges. Places count from the lowest.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranges {
    ranges: VecDeque<Range>,
}

/// What became of a range that was added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Insertion {
    /// Every octet was there, in this range.
    Known(Range),
    /// It is in this range now, at `place`, where `replaced` others were.
    New { range: Range, place: usize, replaced: usize },
}

impl Ranges {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    pub(crate) fn get(&self, place: usize) -> Option<Range> {
        self.ranges.get(place).copied()
    }

    #[inline]
    pub(crate) fn first(&self) -> Option<Range> {
        self.ranges.front().copied()
    }

    #[inline]
    pub(crate) fn last(&self) -> Option<Range> {
        self.ranges.back().copied()
    }

    /// From the lowest on.
    pub(crate) fn iter(&self) -> Iter<'_, Range> {
        self.ranges.iter()
    }

    pub(crate) fn clear(&mut self) {
        self.ranges.clear();
    }

    pub(crate) fn remove_first(&mut self) {
        self.ranges.pop_front();
    }

    /// How many ranges end below `limit`: the place of the first that does not. Sought from the place `near`
    /// on.
    pub(crate) fn ending_below(&self, limit: u64, near: usize) -> usize {
        let ends_below = |place: usize| self.ranges[place].end < limit;
        // Those before `low` end below the limit, those from `high` on do not.
        let (mut low, mut high) = (0, self.ranges.len());
        let near = near.min(high);
        let mut step = 1;
        if near < high && ends_below(near) {
            low = near + 1;
            while low + step <= high {
                if !ends_below(low + step - 1) {
                    high = low + step - 1;
                    break;
                }
                low += step;
                step *= 2;
            }
        } else {
            high = near;
            while high >= step {
                if ends_below(high - step) {
                    low = high - step + 1;
                    break;
                }
                high -= step;
                step *= 2;
            }
        }
        while low < high {
            let middle = low + (high - low) / 2;
            if ends_below(middle) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Adds a range that is not empty. Those that it overlaps or borders on become one with it; `replacing`
    /// is told of each of them before.
    pub(crate) fn insert(&mut self, added: Range, mut replacing: impl FnMut(Range)) -> Insertion {
        let count = self.ranges.len();
        // What comes next behind the highest, as it mostly does.
        if let Some(last) = self.ranges.back_mut().filter(|last| last.end == added.start) {
            replacing(*last);
            last.end = added.end;
            return Insertion::New { range: *last, place: count - 1, replaced: 1 };
        }
        let place = self.ending_below(added.start, self.ranges.len());
        let mut range = added;
        let mut after = place;
        while let Some(&other) = self.ranges.get(after).filter(|other| other.start <= added.end) {
            if other.holds(added) {
                return Insertion::Known(other);
            }
            replacing(other);
            range = Range { start: range.start.min(other.start), end: range.end.max(other.end) };
            after += 1;
        }
        let replaced = after - place;
        match replaced {
            0 => self.ranges.insert(place, range),
            1 => self.ranges[place] = range,
            _ => {
                self.ranges[place] = range;
                self.ranges.drain(place + 1..after);
            }
        }
        Insertion::New { range, place, replaced }
    }

    /// Extends the highest range to the end of `added`, and returns the new octets. `None`, without a change,
    /// unless `added` begins within or right behind that range and ends beyond it.
    pub(crate) fn grow_last(&mut self, added: Range) -> Option<Range> {
        let last = self.ranges.back_mut()?;
        let grows = (last.start..=last.end).contains(&added.start) && last.end < added.end;
        grows.then(|| Range { start: std::mem::replace(&mut last.end, added.end), end: added.end })
    }

    /// The first octets of `range` that are there, as a range; `None` if there are none.
    pub(crate) fn first_overlap(&self, range: Range) -> Option<Range> {
        self.last().filter(|last| range.start < last.end)?;
        let first = self.get(self.ending_below(range.start + 1, self.ranges.len()))?;
        let overlap = Range { start: range.start.max(first.start), end: range.end.min(first.end) };
        (overlap.start < overlap.end).then_some(overlap)
    }

    /// The next octet expected after everything up to `next` has arrived: ranges that `next` reaches are
    /// taken out.
    pub(crate) fn advance(&mut self, mut next: u64) -> u64 {
        while let Some(range) = self.first().filter(|range| range.start <= next) {
            next = next.max(range.end);
            self.remove_first();
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn insert(ranges: &mut Ranges, start: u64, end: u64) -> Insertion {
        ranges.insert(Range { start, end }, |_| ())
    }

    #[test]
    fn a_gap_filled_frees_what_lies_behind_it() {
        let mut held = Ranges::default();
        let new =
            |start, end, place, replaced| Insertion::New { range: Range { start, end }, place, replaced };
        assert_eq!(insert(&mut held, 20, 30), new(20, 30, 0, 0));
        assert_eq!(insert(&mut held, 40, 50), new(40, 50, 1, 0));
        assert_eq!(insert(&mut held, 22, 30), Insertion::Known(Range { start: 20, end: 30 }));
        assert_eq!(held.first_overlap(Range { start: 10, end: 25 }), Some(Range { start: 20, end: 25 }));
        assert_eq!(held.first_overlap(Range { start: 30, end: 40 }), None);
        assert_eq!(held.advance(10), 10);
        assert_eq!(held.advance(20), 30);
        assert_eq!(insert(&mut held, 30, 40), new(30, 50, 0, 1));
        let grown = [(29, 60), (51, 60), (31, 50), (31, 60), (60, 61)]
            .map(|(start, end)| held.grow_last(Range { start, end }).map(|new| (new.start, new.end)));
        assert_eq!(grown, [None, None, None, Some((50, 60)), Some((60, 61))]);
        assert_eq!(held.advance(35), 61);
        assert!(held.is_empty());
    }

    proptest! {
        /// Against a set of single octets.
        #[test]
        fn holds_what_was_inserted(inserts in prop::collection::vec((1u64..200, 1u64..30), 0..40)) {
            let mut held = Ranges::default();
            let mut octets = std::collections::BTreeSet::new();
            for (start, length) in inserts {
                let added = Range { start, end: start + length };
                let first = (start..added.end).find(|octet| octets.contains(octet));
                let overlap = first.map(|first| {
                    let end = (first..added.end).find(|octet| !octets.contains(octet)).unwrap_or(added.end);
                    Range { start: first, end }
                });
                prop_assert_eq!(held.first_overlap(added), overlap);
                let before = octets.len();
                octets.extend(start..added.end);
                let mut replaced_bytes = 0;
                match held.insert(added, |range| replaced_bytes += range.bytes()) {
                    Insertion::Known(range) => {
                        prop_assert_eq!(octets.len(), before);
                        prop_assert!(range.holds(added) && held.iter().any(|&other| other == range));
                    }
                    Insertion::New { range, place, .. } => {
                        prop_assert_eq!((range.bytes() - replaced_bytes) as usize, octets.len() - before);
                        prop_assert!(range.holds(added));
                        prop_assert_eq!(held.get(place), Some(range));
                    }
                }
                let of_ranges: Vec<u64> = held.iter().flat_map(|range| range.start..range.end).collect();
                prop_assert!(of_ranges.iter().eq(octets.iter()));
                prop_assert!(held.iter().all(|range| range.start < range.end));
                prop_assert!(held.iter().zip(held.iter().skip(1)).all(|(a, b)| a.end < b.start));
            }
            for next in 0..260 {
                let expected = (next..).find(|octet| !octets.contains(octet)).unwrap_or(next);
                prop_assert_eq!(held.clone().advance(next), expected);
            }
        }

        /// Wherever the search begins.
        #[test]
        fn a_search_finds_the_same_from_everywhere(
            lengths in prop::collection::vec((1u64..4, 1u64..4), 0..70),
            limit in 0u64..300,
        ) {
            let mut held = Ranges::default();
            let mut start = 1;
            for (length, gap) in lengths {
                insert(&mut held, start, start + length);
                start += length + gap;
            }
            let count = held.iter().filter(|range| range.end < limit).count();
            for near in 0..=held.iter().len() + 1 {
                prop_assert_eq!(held.ending_below(limit, near), count);
            }
        }
    }
}
