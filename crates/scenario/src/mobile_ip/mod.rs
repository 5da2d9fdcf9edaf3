//! Mobile IPv4: mobile nodes and their agents.

pub(crate) mod build;
pub(crate) mod check;
pub mod model;
pub(crate) mod results;
