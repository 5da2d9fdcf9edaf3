//! Elements with a list of those that may have changed.

use std::ops::{Index, IndexMut};
use std::slice;

/// Whether radios are so few that they are looked at one by one: an order in time or place costs more than
/// the look. The number is chosen; tests have the order.
pub fn are_few(radios: usize) -> bool {
    !cfg!(test) && radios <= 32
}

/// Radios, or their ears, with a list of those that may have changed.
#[derive(Debug)]
pub struct Watched<T> {
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

    /// The number of one that may have changed since it was asked for last.
    pub fn next_change(&mut self) -> Option<usize> {
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
