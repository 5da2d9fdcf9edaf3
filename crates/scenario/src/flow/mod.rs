//! Flows: application traffic between two nodes, and who reads it.

pub(crate) mod build;
pub(crate) mod check;
pub mod model;
pub mod programs;
mod reader;
pub(crate) mod results;
