//! What is due soon: runs, and a heap for what fits into none.

use super::heap::Heap;
use super::{NOTHING, RUN_BITS};

/// How many runs there are; the number behind theirs is the heap's. Chosen: wires of one delay and packets of
/// two lengths need three, a bottleneck before them a fourth, and each more is looked at for every event.
const RUNS: usize = 4;

/// A run has room for so many behind its first from when it needs any. Chosen: seldom full where few packets
/// are under way, and of no size.
const FEW: usize = 64;

/// What lies behind the first of a run.
#[derive(Default)]
struct Behind {
    /// Those that have been taken, and those that wait.
    entries: Vec<(u64, u32)>,
    /// How many have been taken.
    taken: usize,
}

impl Behind {
    #[inline(always)]
    fn push(&mut self, key: u64, code: u32) {
        if self.entries.len() < self.entries.capacity() {
            self.entries.push((key, code));
        } else {
            self.push_with_room(key, code);
        }
    }

    /// The same where there is no room: that of what has been taken is used, if it is half of all.
    #[cold]
    #[inline(never)]
    fn push_with_room(&mut self, key: u64, code: u32) {
        if 2 * self.taken >= self.entries.len() {
            self.entries.drain(..self.taken);
            self.taken = 0;
            self.entries.reserve(FEW);
        }
        self.entries.push((key, code));
    }

    #[inline(always)]
    fn pop(&mut self) -> Option<(u64, u32)> {
        let entry = *self.entries.get(self.taken)?;
        self.taken += 1;
        Some(entry)
    }

    #[inline(always)]
    fn len(&self) -> usize {
        self.entries.len() - self.taken
    }
}

/// What is due soon: some runs, each in order by itself, and a heap of what fits into none.
#[repr(C)] // what every event needs lies together
pub(super) struct Near {
    /// The first key of each run, and behind them that of the heap; [`NOTHING`] where there is none.
    firsts: [u64; RUNS + 1],
    /// What those of the runs stand for.
    codes: [u32; RUNS],
    /// The last key of each run; of an empty one, the last that it had.
    lasts: [u64; RUNS],
    behind: [Behind; RUNS],
    heap: Heap,
}

impl Default for Near {
    fn default() -> Near {
        Near {
            firsts: [NOTHING; RUNS + 1],
            codes: [0; RUNS],
            lasts: [0; RUNS],
            behind: Default::default(),
            heap: Heap::default(),
        }
    }
}

impl Near {
    /// Adds an entry, the lowest bits of whose key are zero.
    #[inline(always)]
    pub fn push(&mut self, key: u64, code: u32) {
        // Each run by itself, so that its place is known where it is written.
        match self.lasts.map(|last| last <= key) {
            [true, ..] => self.push_behind::<0>(key, code),
            [_, true, ..] => self.push_behind::<1>(key, code),
            [_, _, true, _] => self.push_behind::<2>(key, code),
            [.., true] => self.push_behind::<3>(key, code),
            _ => self.push_apart(key, code),
        }
    }

    /// Adds an entry to the last run, if it fits.
    #[inline(never)]
    pub fn push_last(&mut self, key: u64, code: u32) {
        if self.lasts[RUNS - 1] <= key {
            return self.push_behind::<{ RUNS - 1 }>(key, code);
        }
        self.push_apart(key, code);
    }

    /// Adds an entry to a run, none of whose entries is later.
    #[inline(always)]
    fn push_behind<const RUN: usize>(&mut self, key: u64, code: u32) {
        let key = key | RUN as u64;
        self.lasts[RUN] = key;
        if self.firsts[RUN] == NOTHING {
            self.firsts[RUN] = key;
            self.codes[RUN] = code;
        } else {
            self.behind[RUN].push(key, code);
        }
    }

    /// Into the heap; apart, so that it is out of the way of the runs.
    #[inline(never)]
    pub fn push_apart(&mut self, key: u64, code: u32) {
        let key = key | RUNS as u64;
        self.heap.push(key, code);
        self.firsts[RUNS] = self.firsts[RUNS].min(key);
    }

    /// The earliest key, or [`NOTHING`].
    #[inline(always)]
    pub fn first(&self) -> u64 {
        self.firsts.iter().fold(NOTHING, |first, &key| first.min(key))
    }

    /// Takes the entry with the earliest key, which is this one.
    #[inline(always)]
    pub fn take_first(&mut self, key: u64) -> u32 {
        let run = (key & ((1 << RUN_BITS) - 1)) as usize;
        let Some(&code) = self.codes.get(run) else { return self.take_apart() };
        match self.behind[run].pop() {
            Some((key, code)) => (self.firsts[run], self.codes[run]) = (key, code),
            None => self.firsts[run] = NOTHING,
        }
        code
    }

    #[inline(never)]
    fn take_apart(&mut self) -> u32 {
        // A hole from before is closed.
        self.heap.first();
        let code = self.heap.take_first();
        self.firsts[RUNS] = self.heap.second();
        code
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        let firsts = self.firsts[..RUNS].iter().filter(|&&key| key != NOTHING).count();
        firsts + self.behind.iter().map(Behind::len).sum::<usize>() + self.heap.len()
    }

    /// Has times count from so much later on.
    pub fn move_on(&mut self, later: u64) {
        let heap = self.heap.keys();
        let behind = self.behind.iter_mut().flat_map(|behind| &mut behind.entries).map(|(key, _)| key);
        let keys = self.firsts.iter_mut().chain(&mut self.lasts).chain(behind).chain(heap);
        for key in keys.filter(|key| **key != NOTHING) {
            // Keys of what has been taken are earlier: in the hole of the heap, in runs, and the last of
            // empty runs.
            *key = key.saturating_sub(later);
        }
    }

    /// Has no run in order with what it had; nothing is left in any.
    pub fn begin_anew(&mut self) {
        self.lasts = [0; RUNS];
    }

    /// All entries, in their order.
    pub fn drain(&mut self) -> Vec<(u64, u32)> {
        let Near { firsts, codes, behind, mut heap, .. } = std::mem::take(self);
        let mut entries = heap.drain();
        entries.extend(firsts.into_iter().zip(codes).filter(|&(key, _)| key != NOTHING));
        for behind in &behind {
            entries.extend(&behind.entries[behind.taken..]);
        }
        entries.sort_unstable();
        entries
    }
}
