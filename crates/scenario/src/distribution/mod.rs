//! Distributions of times and sizes: their keys, their checks, and what is drawn from.

pub(crate) mod build;
pub(crate) mod check;
pub mod model;
