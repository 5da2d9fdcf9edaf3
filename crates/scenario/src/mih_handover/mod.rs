//! Handovers by MIH users: `[[handover]]`.

pub(crate) mod build;
pub(crate) mod check;
pub mod model;
mod policy;
pub(crate) mod results;
