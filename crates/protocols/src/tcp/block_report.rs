//! The blocks of a receiver's SACK option: RFC 2018 section 4, with duplicates by RFC 2883.
//!
//! The first block holds the segment that arrived last. The others repeat the most recently reported
//! blocks. The last four are kept, as many as an option can hold; a block that has dropped out is reported
//! again only when a segment arrives in it. A duplicate is reported once, ahead of all other blocks.

use super::segment::SackBlocks;
use super::sequence::to_wire;
use crate::ranges::Range;

/// The blocks to tell of next.
#[derive(Clone, Debug, Default)]
pub(super) struct BlockReport {
    /// The blocks, the most recent first.
    recent: [Option<Range>; SackBlocks::MOST],
    /// Octets that arrived again.
    duplicate: Option<Range>,
}

impl BlockReport {
    /// A segment beyond a gap has arrived and is in `block` now.
    pub(super) fn arrived(&mut self, block: Range) {
        let (mut place, mut moved) = (0, block);
        for at in 0..SackBlocks::MOST {
            let Some(other) = self.recent[at].take() else { continue };
            // Those that have become one block with this are not told of twice.
            if !block.holds(other) {
                self.recent[place] = Some(std::mem::replace(&mut moved, other));
                place += 1;
            }
        }
        if let Some(last) = self.recent.get_mut(place) {
            *last = Some(moved);
        }
    }

    /// The place among the blocks of the one that these octets overlap or adjoin, or that of a new one.
    pub(super) fn place_of(&self, octets: Range) -> usize {
        let blocks = self.recent.iter().flatten();
        let touches = |block: &Range| block.start <= octets.end && octets.start <= block.end;
        blocks.clone().position(touches).unwrap_or(blocks.count())
    }

    /// Everything below `next` has arrived in order: the blocks there are none any more.
    pub(super) fn advance(&mut self, next: u64) {
        for block in &mut self.recent {
            *block = block.filter(|block| block.start > next);
        }
    }

    /// The octets of `range` have arrived again.
    pub(super) fn duplicate(&mut self, range: Range) {
        if range.start < range.end {
            self.duplicate = Some(range);
        }
    }

    /// The blocks for a segment that takes `most` of them. A duplicate is hereby told of.
    pub(super) fn take(&mut self, irs: u32, most: usize) -> SackBlocks {
        let mut blocks = SackBlocks::default();
        if most == 0 {
            return blocks;
        }
        let duplicate = self.duplicate.take();
        for block in duplicate.iter().chain(self.recent.iter().flatten()).take(most) {
            blocks.push(to_wire(irs, block.start), to_wire(irs, block.end));
        }
        blocks
    }

    /// Whether there is a duplicate to tell of.
    #[inline]
    pub(super) fn has_duplicate(&self) -> bool {
        self.duplicate.is_some()
    }
}
