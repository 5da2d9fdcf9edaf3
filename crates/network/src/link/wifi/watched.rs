//! Elements with a list of those that may have changed.

use super::index::{Number, Numbered};
use std::ops::{Index, IndexMut};
use std::slice;

/// Whether radios are so few that they are looked at one by one: an order in time or place costs more than
/// the look. The number is chosen; tests have the order.
pub fn are_few(radios: usize) -> bool {
    !cfg!(test) && radios <= 32
}

/// Radios, or their ears, with a list of those that may have changed.
#[derive(Debug)]
pub struct Watched<N, T> {
    all: Numbered<N, T>,
    /// `None` where nobody asks.
    changes: Option<Changes<N>>,
}

#[derive(Debug)]
struct Changes<N> {
    numbers: Vec<N>,
    has_changed: Numbered<N, bool>,
}

impl<N: Number> Changes<N> {
    #[inline(never)]
    fn note(&mut self, number: N) {
        if !std::mem::replace(&mut self.has_changed[number], true) {
            self.numbers.push(number);
        }
    }
}

impl<N: Number, T> Watched<N, T> {
    pub fn new(all: Vec<T>, watched: bool) -> Watched<N, T> {
        let changes =
            watched.then(|| Changes { numbers: Vec::new(), has_changed: vec![false; all.len()].into() });
        Watched { all: all.into(), changes }
    }

    pub fn len(&self) -> usize {
        self.all.len()
    }

    pub fn iter(&self) -> slice::Iter<'_, T> {
        self.all.iter()
    }

    /// The number of one that may have changed since it was asked for last.
    pub fn next_change(&mut self) -> Option<N> {
        let changes = self.changes.as_mut()?;
        let number = changes.numbers.pop()?;
        changes.has_changed[number] = false;
        Some(number)
    }
}

impl<N: Number, T> Index<N> for Watched<N, T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, number: N) -> &T {
        &self.all[number]
    }
}

impl<N: Number, T> IndexMut<N> for Watched<N, T> {
    #[inline(always)]
    fn index_mut(&mut self, number: N) -> &mut T {
        if let Some(changes) = &mut self.changes {
            changes.note(number);
        }
        &mut self.all[number]
    }
}
