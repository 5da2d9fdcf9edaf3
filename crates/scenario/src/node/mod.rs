//! Nodes: hosts and routers alike; where they are, and what they say of themselves as stations.

pub mod address;
pub(crate) mod by_name;
pub mod handover;
pub mod model;
pub mod motion;
pub mod wifi;
