//! Sources of IEEE 802.21 messages between two MIH functions.

pub(crate) mod build;
pub(crate) mod check;
pub mod model;
pub(crate) mod results;
pub(crate) mod transactions;
