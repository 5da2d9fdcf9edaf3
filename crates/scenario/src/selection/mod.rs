//! Nodes that select one of their interfaces.

pub(crate) mod build;
pub(crate) mod check;
pub(crate) mod mih;
pub mod model;
pub(crate) mod results;
