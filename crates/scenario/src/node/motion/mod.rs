//! Where nodes are, and how they move.

pub(crate) mod build;
pub(crate) mod check;
pub mod model;
