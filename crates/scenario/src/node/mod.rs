//! Nodes: hosts and routers alike.

pub(crate) mod by_name;
pub mod model;
