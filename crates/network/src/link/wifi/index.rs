//! The numbers of radios, ears and cells, each a type of its own, and lists that only their own numbers open.

use std::marker::PhantomData;
use std::ops::{Index, IndexMut};
use std::slice;

/// The number of one among those of its kind.
pub trait Number: Copy {
    /// The one at this place.
    fn at(place: usize) -> Self;

    /// Its place.
    fn place(self) -> usize;
}

/// A radio's number in its medium: first those of the access points, in the order of the cells, and then
/// those of the stations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RadioIndex(pub usize);

/// A cell's number in its medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CellIndex(pub usize);

impl CellIndex {
    /// The radio of its access point.
    #[inline(always)]
    pub fn access_point(self) -> RadioIndex {
        RadioIndex(self.0)
    }
}

impl RadioIndex {
    /// The cell whose access point has it, of so many cells.
    pub fn cell(self, cells: usize) -> Option<CellIndex> {
        (self.0 < cells).then_some(CellIndex(self.0))
    }
}

impl Number for RadioIndex {
    #[inline(always)]
    fn at(place: usize) -> RadioIndex {
        RadioIndex(place)
    }

    #[inline(always)]
    fn place(self) -> usize {
        self.0
    }
}

impl Number for CellIndex {
    #[inline(always)]
    fn at(place: usize) -> CellIndex {
        CellIndex(place)
    }

    #[inline(always)]
    fn place(self) -> usize {
        self.0
    }
}

/// All of a kind, by their numbers.
#[derive(Clone, Debug)]
pub struct Numbered<N, T>(Vec<T>, PhantomData<N>);

/// Something of each radio.
pub type ByRadio<T> = Numbered<RadioIndex, T>;

/// Something of each cell.
pub type ByCell<T> = Numbered<CellIndex, T>;

impl<N, T> Default for Numbered<N, T> {
    fn default() -> Numbered<N, T> {
        Numbered::from(Vec::new())
    }
}

impl<N, T> From<Vec<T>> for Numbered<N, T> {
    fn from(all: Vec<T>) -> Numbered<N, T> {
        Numbered(all, PhantomData)
    }
}

impl<N, T> FromIterator<T> for Numbered<N, T> {
    fn from_iter<I: IntoIterator<Item = T>>(all: I) -> Numbered<N, T> {
        Numbered::from(Vec::from_iter(all))
    }
}

impl<N: Number, T> Numbered<N, T> {
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn push(&mut self, one: T) {
        self.0.push(one);
    }

    pub fn get(&self, number: N) -> Option<&T> {
        self.0.get(number.place())
    }

    pub fn get_mut(&mut self, number: N) -> Option<&mut T> {
        self.0.get_mut(number.place())
    }

    pub fn numbers(&self) -> impl Iterator<Item = N> + use<N, T> {
        (0..self.0.len()).map(N::at)
    }

    #[inline(always)]
    pub fn iter(&self) -> slice::Iter<'_, T> {
        self.0.iter()
    }

    pub fn iter_mut(&mut self) -> slice::IterMut<'_, T> {
        self.0.iter_mut()
    }

    /// Each with its number.
    pub fn pairs(&self) -> impl Iterator<Item = (N, &T)> {
        self.numbers().zip(&self.0)
    }
}

impl<N, T> IntoIterator for Numbered<N, T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> std::vec::IntoIter<T> {
        self.0.into_iter()
    }
}

impl<N: Number, T> Index<N> for Numbered<N, T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, number: N) -> &T {
        &self.0[number.place()]
    }
}

impl<N: Number, T> IndexMut<N> for Numbered<N, T> {
    #[inline(always)]
    fn index_mut(&mut self, number: N) -> &mut T {
        &mut self.0[number.place()]
    }
}
