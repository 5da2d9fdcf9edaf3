//! What the receiver tells of in the SACK option: RFC 2018 section 4, with duplicates by RFC 2883.
//!
//! The first block holds the segment that arrived last, the others repeat those told of most recently. The last four
//! are remembered, as many as an option takes: one that has dropped out is not told of again until a segment arrives
//! in it. A duplicate is told of once, ahead of all others.

use super::reassembly::Reassembly;
use super::segment::SackBlocks;
use super::sequence::to_wire;

/// The blocks to tell of next.
#[derive(Clone, Debug, Default)]
pub(super) struct BlockReport {
    /// An offset in each block, the most recent first; 0 where there is none.
    recent: [u64; SackBlocks::MOST],
    /// Octets that arrived again.
    duplicate: Option<(u64, u64)>,
}

impl BlockReport {
    /// A segment beyond a gap has arrived and is in `held`; it starts at `offset`.
    pub(super) fn arrived(&mut self, offset: u64, held: &Reassembly) {
        let Some((start, end)) = held.range_of(offset) else { return };
        let mut recent = [0; SackBlocks::MOST];
        recent[0] = offset;
        // Those that have become one block with this are not told of twice.
        let others = self.recent.into_iter().filter(|&other| other != 0 && !(start..end).contains(&other));
        for (place, other) in recent[1..].iter_mut().zip(others) {
            *place = other;
        }
        self.recent = recent;
    }

    /// The octets `start..end` have arrived again.
    pub(super) fn duplicate(&mut self, start: u64, end: u64) {
        if start < end {
            self.duplicate = Some((start, end));
        }
    }

    /// The blocks for a segment that takes `most` of them. A duplicate is hereby told of.
    pub(super) fn take(&mut self, irs: u32, held: &Reassembly, most: usize) -> SackBlocks {
        let mut blocks = SackBlocks::default();
        if most == 0 {
            return blocks;
        }
        let duplicate = self.duplicate.take();
        let told = self.recent.iter().filter_map(|&offset| held.range_of(offset));
        for (start, end) in duplicate.into_iter().chain(told).take(most) {
            blocks.push(to_wire(irs, start), to_wire(irs, end));
        }
        blocks
    }

    /// Whether there is anything to tell.
    #[inline]
    pub(super) fn is_empty(&self, held: &Reassembly) -> bool {
        held.is_empty() && self.duplicate.is_none()
    }
}
