//! Tables that only a trace asks for.

use super::Table;
use std::ops::Range;

/// A table of a run that is over, of which any rows are made by themselves.
pub(crate) struct TracedTable<'w> {
    pub(crate) rows: usize,
    pub(crate) make: Box<dyn Fn(Range<usize>) -> Table + 'w>,
}

impl<'w> TracedTable<'w> {
    /// Of these rows, which `table` makes a table of.
    pub(crate) fn new<T: 'w>(rows: Vec<T>, table: impl Fn(&[T]) -> Table + 'w) -> TracedTable<'w> {
        TracedTable { rows: rows.len(), make: Box::new(move |range| table(&rows[range])) }
    }
}
