//! A timing wheel for entries that are not due soon (Varghese and Lauck, "Hashed and Hierarchical Timing
//! Wheels", 1987).
//!
//! Simulated time is cut into slots. The entries of a slot of the present turn are unordered, and are
//! sorted when the slot is due. Entries of later turns are in one list. So an entry is written once, and
//! once more for each turn before its own. It is then sorted among the few entries that are due with it,
//! however many others wait. If only few entries wait at all, they are kept in order, and move to their
//! slots when more come.

use crate::time::Time;

/// The length of a slot: 2^26 ns, 67 ms. Chosen: less than what is due soon, so that nothing more comes into
/// a slot once its time has come, or hardly anything.
const SLOT_BITS: u32 = 26;

/// How many slots a turn has. Chosen: those of the bits of a number; a turn is 4.3 s, longer than most
/// timers.
const SLOTS: u64 = 64;

/// A slot keeps room for so many when they have been taken. Chosen: of no size.
const FEW: usize = 64;

/// So many at most lie in order however far ahead they are due. Chosen: timers of both ends of two
/// connections and of what writes to them.
const IN_ORDER: usize = 8;

/// One entry; in their order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Entry {
    pub time: Time,
    pub insertion: u32,
    pub code: u32,
}

impl Entry {
    #[inline(always)]
    fn slot(&self) -> u64 {
        slot(self.time)
    }
}

/// Entries by when they are due.
pub(super) struct Wheel {
    /// The entries of all slots before `next`, the earliest last.
    due: Vec<Entry>,
    /// The first slot that is not open yet, and the first of this turn.
    next: u64,
    turn: u64,
    slots: [Vec<Entry>; SLOTS as usize],
    /// A bit for each slot with an entry.
    used: u64,
    /// The entries behind this turn.
    beyond: Vec<Entry>,
}

impl Default for Wheel {
    fn default() -> Wheel {
        Wheel {
            due: Vec::new(),
            next: 0,
            turn: 0,
            slots: std::array::from_fn(|_| Vec::new()),
            used: 0,
            beyond: Vec::new(),
        }
    }
}

impl Wheel {
    #[inline]
    pub fn push(&mut self, entry: Entry) {
        let slot = entry.slot();
        if slot < self.next {
            self.push_due(entry);
        } else if self.used == 0 && self.due.len() < IN_ORDER && self.beyond.is_empty() {
            self.next = slot + 1;
            self.push_in_order(entry);
        } else {
            self.push_ahead(slot, entry);
        }
    }

    /// Adds an entry to its slot, which is none before this turn.
    #[inline]
    fn push_ahead(&mut self, slot: u64, entry: Entry) {
        debug_assert!(slot >= self.turn);
        if slot - self.turn < SLOTS {
            let at = slot % SLOTS;
            self.used |= 1 << at;
            self.slots[at as usize].push(entry);
        } else {
            self.beyond.push(entry);
        }
    }

    #[inline]
    fn push_due(&mut self, entry: Entry) {
        if self.due.len() < IN_ORDER {
            self.push_in_order(entry);
        } else {
            self.push_among_many(entry);
        }
    }

    /// Adds an entry to those that are due, from the earliest on.
    #[inline]
    fn push_in_order(&mut self, entry: Entry) {
        let mut at = self.due.len();
        self.due.push(entry);
        while let Some(earlier) = at.checked_sub(1)
            && self.due[earlier] < entry
        {
            self.due[at] = self.due[earlier];
            at = earlier;
        }
        self.due[at] = entry;
    }

    /// The same where there are many: all but those of the slot of the earliest, and of slots before this
    /// turn, go to their slots.
    #[cold]
    #[inline(never)]
    fn push_among_many(&mut self, entry: Entry) {
        let first = self.due.last().map_or(0, Entry::slot).max(self.turn);
        if self.next > first + 1 {
            self.next = first + 1;
            let later = self.due.partition_point(|other| other.slot() > first);
            for other in self.due.drain(..later).collect::<Vec<Entry>>() {
                self.push_ahead(other.slot(), other);
            }
            if entry.slot() > first {
                return self.push_ahead(entry.slot(), entry);
            }
        }
        let later = self.due.partition_point(|other| *other > entry);
        self.due.insert(later, entry);
    }

    /// The time and insertion before which no entry comes; those of the earliest one where it
    /// [is known](Wheel::is_open).
    #[inline]
    pub fn first(&self) -> Option<(Time, u32)> {
        if let Some(entry) = self.due.last() {
            Some((entry.time, entry.insertion))
        } else if self.used != 0 {
            Some((begin(self.turn + u64::from(self.used.trailing_zeros())), 0))
        } else if !self.beyond.is_empty() {
            Some((begin(self.turn + SLOTS), 0))
        } else {
            None
        }
    }

    /// Whether the earliest entry is known.
    pub fn is_open(&self) -> bool {
        !self.due.is_empty()
    }

    /// Takes the earliest entry, if it is known.
    #[inline]
    pub fn take_first(&mut self) -> Option<u32> {
        self.due.pop().map(|entry| entry.code)
    }

    /// Goes on by a slot, or to the turn of what is due next, where no entry is known. `next` is when the
    /// earliest of all else is due.
    pub fn open(&mut self, next: Time) {
        if self.used != 0 {
            let at = self.used.trailing_zeros();
            self.used &= self.used - 1;
            self.next = self.turn + u64::from(at) + 1;
            if self.due.capacity() > FEW {
                self.due = Vec::new();
            }
            std::mem::swap(&mut self.due, &mut self.slots[at as usize]);
            self.due.sort_unstable_by(|a, b| b.cmp(a));
        } else {
            let earliest = self.beyond.iter().map(Entry::slot).fold(slot(next), u64::min);
            self.turn = earliest / SLOTS * SLOTS;
            self.next = self.turn;
            for entry in std::mem::take(&mut self.beyond) {
                self.push(entry);
            }
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.due.len() + self.slots.iter().map(Vec::len).sum::<usize>() + self.beyond.len()
    }

    /// All entries, in their order.
    pub fn drain(&mut self) -> Vec<Entry> {
        self.used = 0;
        let slots = self.slots.iter_mut().flat_map(|slot| slot.drain(..));
        let mut entries: Vec<Entry> = self.due.drain(..).chain(slots).chain(self.beyond.drain(..)).collect();
        entries.sort_unstable();
        entries
    }
}

/// The slot in which an instant lies.
#[inline(always)]
fn slot(time: Time) -> u64 {
    time.as_ns() >> SLOT_BITS
}

/// When a slot begins.
fn begin(slot: u64) -> Time {
    Time::from_ns(slot << SLOT_BITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_more_than_lies_in_order_goes_to_its_slots() {
        let mut wheel = Wheel::default();
        // The ninth is due before the latest of the eight that lie in order, and two are due behind this
        // turn.
        let slots = [90, 5, 7, 7, 20, 3, 30, 40, 6, 3, 100];
        let entries: Vec<Entry> = slots
            .iter()
            .zip(0..)
            .map(|(&slot, n)| Entry { time: begin(slot), insertion: n, code: n })
            .collect();
        for (entry, in_order) in entries.iter().zip([1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 2]) {
            wheel.push(*entry);
            assert_eq!(wheel.due.len(), in_order);
        }
        let mut expected = entries.clone();
        expected.sort_unstable();
        let expected: Vec<u32> = expected.into_iter().map(|entry| entry.code).collect();
        let mut taken = Vec::new();
        while wheel.len() > 0 {
            match wheel.take_first() {
                Some(code) => taken.push(code),
                None => wheel.open(Time::MAX),
            }
        }
        assert_eq!(taken, expected);
    }
}
