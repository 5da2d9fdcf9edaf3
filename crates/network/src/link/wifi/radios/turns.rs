//! When each radio may send, in order, where many have an ear of their own: a frame costs those who hear it,
//! not all who have something to send.
//!
//! A radio's time depends on the radio and its ear alone. Both are [`Watched`]: whoever may change one has it
//! worked out anew when it is next looked at who comes first.

use crate::link::wifi::Cell;
use roamsim_engine::Time;
use std::collections::BTreeSet;
use std::ops::{Index, IndexMut};
use std::slice;

/// Whether radios are so few that they are looked at one by one: an order in time or place costs more than
/// the look. The number is chosen; tests have the order.
pub(in crate::link::wifi) fn are_few(radios: usize) -> bool {
    !cfg!(test) && radios <= 32
}

/// Radios, or their ears, with a list of those that may have changed.
#[derive(Debug)]
pub(in crate::link::wifi) struct Watched<T> {
    all: Vec<T>,
    /// `None` where nobody asks.
    changes: Option<Changes>,
}

#[derive(Debug)]
struct Changes {
    numbers: Vec<usize>,
    has_changed: Vec<bool>,
}

impl Changes {
    #[inline(never)]
    fn note(&mut self, number: usize) {
        if !std::mem::replace(&mut self.has_changed[number], true) {
            self.numbers.push(number);
        }
    }
}

impl<T> Watched<T> {
    pub fn new(all: Vec<T>, watched: bool) -> Watched<T> {
        let changes = watched.then(|| Changes { numbers: Vec::new(), has_changed: vec![false; all.len()] });
        Watched { all, changes }
    }

    pub fn len(&self) -> usize {
        self.all.len()
    }

    pub fn iter(&self) -> slice::Iter<'_, T> {
        self.all.iter()
    }

    fn next_change(&mut self) -> Option<usize> {
        let changes = self.changes.as_mut()?;
        let number = changes.numbers.pop()?;
        changes.has_changed[number] = false;
        Some(number)
    }
}

impl<T> Index<usize> for Watched<T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, number: usize) -> &T {
        &self.all[number]
    }
}

impl<T> IndexMut<usize> for Watched<T> {
    #[inline(always)]
    fn index_mut(&mut self, number: usize) -> &mut T {
        if let Some(changes) = &mut self.changes {
            changes.note(number);
        }
        &mut self.all[number]
    }
}

/// The radios that have something to send, by when they may.
#[derive(Debug)]
pub(in crate::link::wifi) struct Turns {
    in_order: BTreeSet<(Time, usize)>,
    /// By radio.
    times: Vec<Option<Time>>,
}

impl Turns {
    pub fn new(radios: usize) -> Turns {
        Turns { in_order: BTreeSet::new(), times: vec![None; radios] }
    }

    fn set(&mut self, radio: usize, time: Option<Time>) {
        let before = std::mem::replace(&mut self.times[radio], time);
        if before != time {
            before.map(|before| self.in_order.remove(&(before, radio)));
            time.map(|time| self.in_order.insert((time, radio)));
        }
    }
}

impl Cell {
    /// When the first radio may send.
    pub(in crate::link::wifi) fn first_turn(&mut self) -> Option<Time> {
        let mut turns = self.turns.take()?;
        // An ear has the number of its radio.
        while let Some(radio) = self.radios.next_change().or_else(|| self.ears.next_change()) {
            let listed = self.radios[radio].listed_at.is_some();
            turns.set(radio, if listed { self.access_time(radio) } else { None });
        }
        let first = turns.in_order.first().map(|&(time, _)| time);
        debug_assert_eq!(first, self.listed.iter().filter_map(|&number| self.access_time(number)).min());
        self.turns = Some(turns);
        first
    }

    /// Those whose turn it is, in the order of the list.
    pub(in crate::link::wifi) fn due_by(&mut self, now: Time, due: &mut Vec<usize>) {
        self.first_turn();
        let Some(turns) = &self.turns else { return };
        due.extend(turns.in_order.iter().take_while(|&&(time, _)| time <= now).map(|&(_, radio)| radio));
        due.sort_unstable_by_key(|&radio| self.radios[radio].listed_at);
    }
}
