//! Wired point-to-point links.

pub(crate) mod build;
pub(crate) mod check;
pub mod model;
