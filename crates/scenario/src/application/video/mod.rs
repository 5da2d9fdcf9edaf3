//! Video: frames of a film, cut into packets.

pub(crate) mod build;
pub(crate) mod check;
pub mod model;
pub(crate) mod results;
