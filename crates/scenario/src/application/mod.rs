//! What generates the data of a flow: keys, checks, and the way to the sources of
//! `roamsim_network::application`.

pub(crate) mod build;
pub(crate) mod check;
pub mod model;
pub mod transfers;
pub mod video;
