//! Transfers that arrive, each over a connection of its own.

pub(crate) mod build;
pub(crate) mod check;
pub mod model;
pub(crate) mod results;
