//! TCP.

pub(crate) mod build;
pub(crate) mod check;
pub(crate) mod control;
pub mod model;
pub(crate) mod stack;
