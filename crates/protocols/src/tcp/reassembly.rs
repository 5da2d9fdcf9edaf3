//! What arrived out of order: the ranges above the next octet expected, sorted, apart from each other.

use std::collections::VecDeque;

/// A half-open range of offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Range {
    start: u64,
    end: u64,
}

/// The ranges received beyond a gap. Memory grows with the number of gaps, not with their length.
#[derive(Clone, Debug, Default)]
pub(super) struct Reassembly {
    ranges: VecDeque<Range>,
}

impl Reassembly {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.ranges.clear();
    }

    /// Adds `start..end`; false when every octet of it was there.
    pub(super) fn insert(&mut self, start: u64, end: u64) -> bool {
        if start >= end {
            return false;
        }
        // The newest range is mostly the last one or a neighbour of it.
        if let Some(last) = self.ranges.back_mut() {
            if start > last.end {
                self.ranges.push_back(Range { start, end });
                return true;
            }
            if start == last.end {
                last.end = end;
                return true;
            }
        } else {
            self.ranges.push_back(Range { start, end });
            return true;
        }
        // The ranges from `first` on end at `start` or later; those before `after` begin at `end` or earlier.
        let first = self.ranges.partition_point(|range| range.end < start);
        let after = self.ranges.partition_point(|range| range.start <= end);
        if first == after {
            self.ranges.insert(first, Range { start, end });
            return true;
        }
        if self.ranges[first].start <= start && end <= self.ranges[first].end {
            return false;
        }
        let merged =
            Range { start: start.min(self.ranges[first].start), end: end.max(self.ranges[after - 1].end) };
        self.ranges[first] = merged;
        self.ranges.drain(first + 1..after);
        true
    }

    /// The range that holds `offset`, if there is one.
    pub(super) fn range_of(&self, offset: u64) -> Option<(u64, u64)> {
        let at = self.ranges.partition_point(|range| range.end <= offset);
        self.ranges.get(at).filter(|range| range.start <= offset).map(|range| (range.start, range.end))
    }

    /// The first octets of `start..end` that are there already, as a range; empty if there are none.
    pub(super) fn first_overlap(&self, start: u64, end: u64) -> (u64, u64) {
        let at = self.ranges.partition_point(|range| range.end <= start);
        self.ranges.get(at).map_or((start, start), |range| (range.start.max(start), range.end.min(end)))
    }

    /// The next octet expected after everything up to `next` has arrived: ranges that `next` reaches are taken out.
    pub(super) fn advance(&mut self, mut next: u64) -> u64 {
        while let Some(range) = self.ranges.front() {
            if range.start > next {
                break;
            }
            next = next.max(range.end);
            self.ranges.pop_front();
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_gap_filled_frees_what_lies_behind_it() {
        let mut held = Reassembly::default();
        assert!(held.insert(20, 30));
        assert!(held.insert(40, 50));
        assert!(!held.insert(22, 30));
        assert_eq!(held.advance(10), 10);
        assert_eq!(held.advance(20), 30);
        assert!(held.insert(30, 40));
        assert_eq!(held.ranges, [Range { start: 30, end: 50 }]);
        assert_eq!(held.advance(35), 50);
        assert!(held.is_empty());
    }

    proptest! {
        /// Against a set of single octets.
        #[test]
        fn holds_what_was_inserted(inserts in prop::collection::vec((1u64..200, 0u64..30), 0..40)) {
            let mut held = Reassembly::default();
            let mut octets = std::collections::BTreeSet::new();
            for (start, length) in inserts {
                let before = octets.len();
                octets.extend(start..start + length);
                let grown = octets.len() > before;
                prop_assert_eq!(held.insert(start, start + length), grown);
                prop_assert!(held.ranges.iter().all(|r| r.start < r.end));
                prop_assert!(held.ranges.iter().zip(held.ranges.iter().skip(1)).all(|(a, b)| a.end < b.start));
            }
            for next in 0..260 {
                let mut expected = next;
                while octets.contains(&expected) {
                    expected += 1;
                }
                prop_assert_eq!(held.clone().advance(next), expected);
            }
        }
    }
}
