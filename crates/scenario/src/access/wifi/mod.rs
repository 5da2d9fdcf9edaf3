//! IEEE 802.11b with one station alone in the cell.

pub(crate) mod build;
pub(crate) mod check;
pub mod model;
