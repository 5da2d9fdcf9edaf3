//! What the peer has selectively acknowledged: the scoreboard of RFC 6675, as ranges.
//!
//! Costs follow the number of blocks that arrive, not that of holes: the blocks are sought near the highest
//! range ([`Ranges`]), the place of HighRxt among the ranges and what lies below it are kept as they change,
//! and the boundary between octets taken as lost and others is found from the top within DupThresh ranges.

use crate::ranges::{Insertion, Range, Ranges};

/// The ranges acknowledged above `snd_una`, and how far holes have been retransmitted.
#[derive(Clone, Debug, Default)]
pub(super) struct Scoreboard {
    /// With a hole between any two and below the first.
    ranges: Ranges,
    /// Octets in them.
    sacked_bytes: u64,
    /// One above the highest octet retransmitted: HighRxt.
    high_rxt: u64,
    /// How many ranges end at HighRxt or below.
    ranges_below_rxt: usize,
    /// Octets in the ranges below HighRxt.
    sacked_below_rxt: u64,
}

impl Scoreboard {
    /// Octets selectively acknowledged.
    #[inline]
    pub(super) fn sacked_bytes(&self) -> u64 {
        self.sacked_bytes
    }

    /// Whether nothing is.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Of them, those below HighRxt.
    pub(super) fn sacked_below_rxt(&self) -> u64 {
        self.sacked_below_rxt
    }

    pub(super) fn high_rxt(&self) -> u64 {
        self.high_rxt
    }

    /// One above the highest octet selectively acknowledged, 0 if there is none.
    #[inline]
    pub(super) fn highest(&self) -> u64 {
        self.ranges.last().map_or(0, |range| range.end)
    }

    /// Forgets everything: the peer may have dropped what it told of (RFC 2018 section 8).
    pub(super) fn clear(&mut self, snd_una: u64) {
        self.ranges.clear();
        self.sacked_bytes = 0;
        self.sacked_below_rxt = 0;
        self.ranges_below_rxt = 0;
        self.high_rxt = snd_una;
    }

    /// Adds `start..end`; true when any octet of it is new. `start` lies above `snd_una`.
    pub(super) fn insert(&mut self, start: u64, end: u64) -> bool {
        if start >= end {
            return false;
        }
        let (mut held, mut held_below) = (0, 0);
        let insertion = self.ranges.insert(Range { start, end }, |range| {
            held += range.bytes();
            held_below += range.below(self.high_rxt);
        });
        let Insertion::New { range, place, replaced } = insertion else { return false };
        self.sacked_bytes += range.bytes() - held;
        self.sacked_below_rxt += range.below(self.high_rxt) - held_below;
        self.ranges_below_rxt -= self.ranges_below_rxt.saturating_sub(place).min(replaced);
        self.ranges_below_rxt += usize::from(range.end <= self.high_rxt);
        true
    }

    /// Everything below `snd_una` is acknowledged. A range that reaches across it is dropped: a peer that
    /// still held it would have acknowledged it whole.
    #[inline]
    pub(super) fn advance(&mut self, snd_una: u64) {
        while let Some(range) = self.ranges.first().filter(|range| range.start <= snd_una) {
            self.sacked_bytes -= range.bytes();
            self.sacked_below_rxt -= range.below(self.high_rxt);
            self.ranges_below_rxt = self.ranges_below_rxt.saturating_sub(1);
            self.ranges.remove_first();
        }
        self.retransmitted(snd_una);
    }

    /// The same as [`Scoreboard::advance`], of an empty one.
    #[inline]
    pub(super) fn advance_empty(&mut self, snd_una: u64) {
        debug_assert!(self.is_empty());
        self.high_rxt = self.high_rxt.max(snd_una);
    }

    /// Holes below `end` have been retransmitted.
    #[inline]
    pub(super) fn retransmitted(&mut self, end: u64) {
        if end <= self.high_rxt {
            return;
        }
        while let Some(range) = self.ranges.get(self.ranges_below_rxt) {
            self.sacked_below_rxt += range.below(end) - range.below(self.high_rxt);
            if range.end > end {
                break;
            }
            self.ranges_below_rxt += 1;
        }
        self.high_rxt = end;
    }

    /// One above the highest octet that counts as lost by IsLost of RFC 6675 section 4 if it is not
    /// acknowledged, and the octets acknowledged above: `threshold` ranges above it, or more than
    /// `threshold` - 1 segments' worth of octets. `None` when nothing counts as lost.
    #[inline]
    fn lost_below(&self, threshold: u32, smss_bytes: u64) -> Option<(u64, u64)> {
        let enough_bytes = u64::from(threshold - 1) * smss_bytes;
        let (mut count, mut bytes) = (0, 0);
        for range in self.ranges.iter().rev() {
            count += 1;
            bytes += range.bytes();
            if count >= threshold || bytes > enough_bytes {
                return Some((range.start, bytes));
            }
        }
        None
    }

    /// One above the highest octet that counts as lost, 0 when none does.
    pub(super) fn lost_up_to(&self, threshold: u32, smss_bytes: u64) -> u64 {
        self.lost_below(threshold, smss_bytes).map_or(0, |(boundary, _)| boundary)
    }

    /// Whether the octet at `snd_una` counts as lost.
    pub(super) fn first_is_lost(&self, threshold: u32, smss_bytes: u64) -> bool {
        self.lost_below(threshold, smss_bytes).is_some()
    }

    /// SetPipe of RFC 6675 section 4: octets taken to be in the network, of `snd_una..snd_max`. One that has
    /// been retransmitted and is not taken as lost counts twice.
    pub(super) fn pipe(&self, snd_una: u64, snd_max: u64, threshold: u32, smss_bytes: u64) -> u64 {
        let not_lost = match self.lost_below(threshold, smss_bytes) {
            Some((boundary, sacked_above)) => snd_max - boundary - sacked_above,
            None => snd_max - snd_una - self.sacked_bytes,
        };
        let retransmitted = self.high_rxt.max(snd_una) - snd_una - self.sacked_below_rxt;
        not_lost + retransmitted
    }

    /// The hole from HighRxt on that comes next, below the highest range: NextSeg's rule 1 when it counts as
    /// lost, rule 3 when not (RFC 6675 section 4).
    pub(super) fn next_hole(&self) -> Option<Range> {
        let range = self.hole_from(self.high_rxt);
        (range.end != u64::MAX).then_some(range)
    }

    /// [`Scoreboard::next_hole`] if it counts as lost.
    pub(super) fn next_lost_hole(&self, threshold: u32, smss_bytes: u64) -> Option<Range> {
        let (boundary, _) = self.lost_below(threshold, smss_bytes)?;
        self.next_hole().filter(|hole| hole.start < boundary)
    }

    /// The octets from `offset` on that are not acknowledged, up to the next range or `u64::MAX`.
    pub(super) fn hole_from(&self, offset: u64) -> Range {
        // Mostly offset is HighRxt, or lies below all ranges.
        let near = if offset < self.high_rxt { 0 } else { self.ranges_below_rxt };
        let next = self.ranges.ending_below(offset + 1, near);
        match self.ranges.get(next) {
            Some(range) if range.start <= offset => {
                let end = self.ranges.get(next + 1).map_or(u64::MAX, |range| range.start);
                Range { start: range.end, end }
            }
            Some(range) => Range { start: offset, end: range.start },
            None => Range { start: offset, end: u64::MAX },
        }
    }

    /// The last octets sent that are not acknowledged, at most `smss_bytes` of them.
    pub(super) fn highest_hole(&self, snd_una: u64, snd_max: u64, smss_bytes: u64) -> Range {
        let mut hole = Range { start: self.highest().max(snd_una), end: snd_max };
        if hole.start >= hole.end {
            let mut from_top = self.ranges.iter().rev();
            let end = from_top.next().map_or(snd_una, |range| range.start);
            let start = from_top.next().map_or(snd_una, |range| range.end);
            hole = Range { start, end };
        }
        Range { start: hole.start.max(hole.end.saturating_sub(smss_bytes)), ..hole }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Ten segments of 1000 octets sent from 1 on; 3, 5 and 7 have arrived.
    fn three_holes() -> Scoreboard {
        let mut board = Scoreboard::default();
        board.clear(1);
        for segment in [3, 7, 5] {
            assert!(board.insert(segment * 1000 - 999, segment * 1000 + 1));
        }
        board
    }

    #[test]
    fn three_ranges_or_more_than_two_segments_above_make_a_loss() {
        let board = three_holes();
        // Three ranges above the octets below 2001.
        assert_eq!(board.lost_below(3, 1000), Some((2001, 3000)));
        // Two ranges above the octets below 4001.
        assert_eq!(board.lost_below(2, 1000), Some((4001, 2000)));
        assert_eq!(board.lost_below(4, 1000), None);
        let mut board = Scoreboard::default();
        board.insert(5001, 7001);
        assert!(!board.first_is_lost(3, 1000));
        // 2001 octets are more than (3 - 1) x 1000.
        board.insert(7001, 7002);
        assert!(board.first_is_lost(3, 1000));
    }

    #[test]
    fn the_pipe_leaves_out_what_is_lost_and_counts_what_is_sent_again() {
        let mut board = three_holes();
        // 10000 outstanding, 3000 acknowledged, 2000 lost.
        assert_eq!(board.pipe(1, 10_001, 3, 1000), 5000);
        board.retransmitted(1001);
        assert_eq!(board.pipe(1, 10_001, 3, 1000), 6000);
        // Segments 2 and 4 again: 4 is not taken as lost, so it counts twice; 3 had arrived.
        board.retransmitted(4001);
        assert_eq!(board.pipe(1, 10_001, 3, 1000), 8000);
        // Segment 4 arrives: 3 to 5 become one range, and 4000 octets above 2001 are more than two segments.
        assert!(board.insert(3001, 4001));
        assert_eq!(board.lost_below(3, 1000), Some((2001, 4000)));
        // Not lost: 6, 8, 9, 10; sent again: 1, 2.
        assert_eq!(board.pipe(1, 10_001, 3, 1000), 6000);
    }

    #[test]
    fn holes_come_in_order() {
        let mut board = three_holes();
        assert_eq!(board.next_lost_hole(3, 1000), Some(Range { start: 1, end: 2001 }));
        board.retransmitted(2001);
        assert_eq!(board.next_lost_hole(3, 1000), None);
        assert_eq!(board.next_hole(), Some(Range { start: 3001, end: 4001 }));
        board.retransmitted(4001);
        assert_eq!(board.next_hole(), Some(Range { start: 5001, end: 6001 }));
        board.retransmitted(6001);
        assert_eq!(board.next_hole(), None);
        assert_eq!(board.highest_hole(1, 10_001, 1000), Range { start: 9001, end: 10_001 });
        assert_eq!(board.highest_hole(1, 7001, 400), Range { start: 5601, end: 6001 });
    }

    #[test]
    fn an_ack_into_a_range_drops_it() {
        let mut board = three_holes();
        board.advance(2501);
        assert_eq!(board.sacked_bytes(), 2000);
        board.advance(7001);
        assert_eq!((board.sacked_bytes(), board.highest()), (0, 0));
    }

    proptest! {
        /// Against the definitions of RFC 6675, octet by octet.
        #[test]
        fn agrees_with_the_definitions(
            steps in prop::collection::vec((0u8..4, 2u64..120, 1u64..12), 0..40),
            threshold in 1u32..5,
            smss in 1u64..10,
        ) {
            const END: u64 = 140;
            let mut board = Scoreboard::default();
            board.clear(1);
            let (mut una, mut rxt) = (1, 1);
            let mut octets = std::collections::BTreeSet::new();
            for (what, at, length) in steps {
                match what {
                    0 | 1 if at > una => {
                        let before = octets.len();
                        octets.extend(at..at + length);
                        prop_assert_eq!(board.insert(at, at + length), octets.len() > before);
                    }
                    2 => {
                        rxt = rxt.max(at);
                        board.retransmitted(at);
                    }
                    3 if at < una + 20 => {
                        una = una.max(at);
                        rxt = rxt.max(una);
                        board.advance(una);
                        octets.retain(|&octet| octet >= una);
                        let mut across = una;
                        while octets.remove(&across) {
                            across += 1;
                        }
                    }
                    _ => {}
                }
                let is_lost = |octet: u64| {
                    let above = || octets.range(octet + 1..).copied();
                    let runs = above().filter(|&o| o == octet + 1 || !octets.contains(&(o - 1))).count();
                    runs >= threshold as usize || above().count() as u64 > u64::from(threshold - 1) * smss
                };
                let mut pipe = 0;
                for octet in (una..END).filter(|octet| !octets.contains(octet)) {
                    pipe += u64::from(!is_lost(octet)) + u64::from(octet < rxt);
                }
                prop_assert_eq!(board.pipe(una, END, threshold, smss), pipe);
                let below = octets.range(..rxt).count() as u64;
                prop_assert_eq!((board.sacked_bytes(), board.sacked_below_rxt()), (octets.len() as u64, below));
                let highest = octets.last().copied().unwrap_or(0);
                let hole = (rxt..highest).find(|octet| !octets.contains(octet));
                prop_assert_eq!(board.next_hole().map(|hole| hole.start), hole);
                let lost = hole.filter(|&octet| is_lost(octet));
                prop_assert_eq!(board.next_lost_hole(threshold, smss).map(|hole| hole.start), lost);
            }
        }
    }
}
