//! Handovers: how stations' addresses follow them from cell to cell.

pub(crate) mod build;
pub(crate) mod check;
pub(crate) mod results;
pub(crate) mod schemes;
