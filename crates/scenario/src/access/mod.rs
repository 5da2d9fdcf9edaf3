//! Access technologies: a folder each, with its keys, its checks, what its machines are built from, and its result tables.

pub mod cell;
pub mod dect;
pub(crate) mod mtu;
pub mod queue;
pub mod wifi;
pub mod wire;
