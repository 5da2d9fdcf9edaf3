//! What is due soon: runs, and a heap for what fits into none.

use super::heap::Heap;
use super::{NOTHING, RUN_BITS};

/// How many runs are looked at for every event. Chosen: packets of two lengths on wires of two delays need
/// four.
const RUNS: usize = 4;

/// How many more there are, for what fits into none of these. Chosen: over wires of ten delays they take half
/// of that; eight would save 2 % of the time there, and cost as much elsewhere.
const MORE: usize = 3;

/// What stands for the heap in a key, behind the numbers of the runs.
const HEAP: u64 = (RUNS + MORE) as u64;

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

/// Runs, each in order by itself.
#[repr(C)] // what every event needs lies together
struct Runs<const N: usize> {
    /// The first key of each; [`NOTHING`] where there is none.
    firsts: [u64; N],
    /// What those stand for.
    codes: [u32; N],
    /// The last key of each; of an empty one, the last that it had.
    lasts: [u64; N],
    behind: [Behind; N],
}

impl<const N: usize> Default for Runs<N> {
    fn default() -> Runs<N> {
        Runs {
            firsts: [NOTHING; N],
            codes: [0; N],
            lasts: [0; N],
            behind: std::array::from_fn(|_| Behind::default()),
        }
    }
}

impl<const N: usize> Runs<N> {
    /// Adds an entry to a run, none of whose entries is later, and keeps the earliest of more than this run.
    #[inline(always)]
    fn push(&mut self, run: usize, key: u64, code: u32, earliest: &mut u64) {
        self.lasts[run] = key;
        if self.firsts[run] == NOTHING {
            self.firsts[run] = key;
            self.codes[run] = code;
            *earliest = key.min(*earliest);
        } else {
            self.behind[run].push(key, code);
        }
    }

    #[inline(always)]
    fn first(&self) -> u64 {
        self.firsts.iter().fold(NOTHING, |first, &key| first.min(key))
    }

    /// Takes the first entry of a run that has any; `None` where there is no such run.
    #[inline(always)]
    fn take_first(&mut self, run: usize) -> Option<u32> {
        let &code = self.codes.get(run)?;
        match self.behind[run].pop() {
            Some((key, code)) => (self.firsts[run], self.codes[run]) = (key, code),
            None => self.firsts[run] = NOTHING,
        }
        Some(code)
    }

    fn len(&self) -> usize {
        let firsts = self.firsts.iter().filter(|&&key| key != NOTHING).count();
        firsts + self.behind.iter().map(Behind::len).sum::<usize>()
    }

    /// All keys, those of what has been taken among them.
    fn keys(&mut self) -> impl Iterator<Item = &mut u64> {
        let behind = self.behind.iter_mut().flat_map(|behind| &mut behind.entries).map(|(key, _)| key);
        self.firsts.iter_mut().chain(&mut self.lasts).chain(behind)
    }

    fn entries(&self) -> impl Iterator<Item = (u64, u32)> {
        let firsts = self.firsts.into_iter().zip(self.codes).filter(|&(key, _)| key != NOTHING);
        firsts.chain(self.behind.iter().flat_map(|behind| behind.entries[behind.taken..].iter().copied()))
    }
}

/// What is due soon: runs, and apart from them more runs and a heap of what fits into none.
#[repr(C)] // what every event needs lies together
pub(super) struct Near {
    /// The earliest key, or [`NOTHING`].
    first: u64,
    apart: Apart,
    runs: Runs<RUNS>,
    more: Runs<MORE>,
    heap: Heap,
}

/// The earliest keys of what is apart; [`NOTHING`] where there is none.
struct Apart {
    /// Of all of it.
    first: u64,
    of_heap: u64,
}

impl Default for Apart {
    fn default() -> Apart {
        Apart { first: NOTHING, of_heap: NOTHING }
    }
}

impl Default for Near {
    fn default() -> Near {
        Near {
            first: NOTHING,
            apart: Apart::default(),
            runs: Runs::default(),
            more: Runs::default(),
            heap: Heap::default(),
        }
    }
}

impl Near {
    /// Adds an entry, the lowest bits of whose key are zero.
    #[inline(always)]
    pub fn push(&mut self, key: u64, code: u32) {
        // Each run by itself, so that its place is known where it is written.
        match self.runs.lasts.map(|last| last <= key) {
            [true, ..] => self.runs.push(0, key, code, &mut self.first),
            [_, true, ..] => self.runs.push(1, key | 1, code, &mut self.first),
            [_, _, true, _] => self.runs.push(2, key | 2, code, &mut self.first),
            [.., true] => self.runs.push(3, key | 3, code, &mut self.first),
            _ => self.push_apart(key, code),
        }
    }

    /// Adds an entry to the last run, if it fits.
    #[inline(never)]
    pub fn push_last(&mut self, key: u64, code: u32) {
        if self.runs.lasts[RUNS - 1] <= key {
            return self.runs.push(RUNS - 1, key | (RUNS - 1) as u64, code, &mut self.first);
        }
        self.push_apart(key, code);
    }

    /// Adds an entry that fits into none of the first runs; apart, so that it is out of their way.
    #[inline(never)]
    pub fn push_apart(&mut self, key: u64, code: u32) {
        let Some(run) = self.more.lasts.iter().position(|&last| last <= key) else {
            return self.push_on_heap(key, code);
        };
        let key = key | (RUNS + run) as u64;
        self.more.push(run, key, code, &mut self.apart.first);
        self.first = self.first.min(self.apart.first);
    }

    /// Adds an entry to the heap.
    #[inline(never)]
    fn push_on_heap(&mut self, key: u64, code: u32) {
        let key = key | HEAP;
        self.heap.push(key, code);
        self.apart.of_heap = self.apart.of_heap.min(key);
        self.apart.first = self.apart.first.min(key);
        self.first = self.first.min(key);
    }

    /// The earliest key, or [`NOTHING`].
    #[inline(always)]
    pub fn first(&self) -> u64 {
        self.first
    }

    /// Takes the entry with the earliest key, which there is.
    #[inline(always)]
    pub fn take_first(&mut self) -> u32 {
        let run = (self.first & ((1 << RUN_BITS) - 1)) as usize;
        let code = match self.runs.take_first(run) {
            Some(code) => code,
            None => self.take_apart(run - RUNS),
        };
        // Two by two: each comparison of a row would wait for the one before it.
        let [a, b, c, d] = self.runs.firsts;
        self.first = a.min(b).min(c.min(d)).min(self.apart.first);
        code
    }

    #[inline(never)]
    fn take_apart(&mut self, run: usize) -> u32 {
        let code = self.more.take_first(run).unwrap_or_else(|| {
            // A hole from before is closed.
            self.heap.first();
            let code = self.heap.take_first();
            self.apart.of_heap = self.heap.second();
            code
        });
        self.apart.first = self.more.first().min(self.apart.of_heap);
        code
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.runs.len() + self.more.len() + self.heap.len()
    }

    /// Has times count from so much later on.
    pub fn move_on(&mut self, later: u64) {
        let apart = [&mut self.first, &mut self.apart.first, &mut self.apart.of_heap];
        let runs = self.runs.keys().chain(self.more.keys());
        for key in runs.chain(apart).chain(self.heap.keys()).filter(|key| **key != NOTHING) {
            // Keys of what has been taken are earlier: in the hole of the heap, in runs, and the last of
            // empty runs.
            *key = key.saturating_sub(later);
        }
    }

    /// Has no run in order with what it had; nothing is left in any.
    pub fn begin_anew(&mut self) {
        (self.runs.lasts, self.more.lasts) = ([0; RUNS], [0; MORE]);
    }

    /// All entries, in their order.
    pub fn drain(&mut self) -> Vec<(u64, u32)> {
        let Near { runs, more, mut heap, .. } = std::mem::take(self);
        let mut entries = heap.drain();
        entries.extend(runs.entries().chain(more.entries()));
        entries.sort_unstable();
        entries
    }
}
