//! The scheme `mih` of a selection: IEEE 802.21's handover commands.

pub(crate) mod build;
pub(crate) mod check;
pub mod model;
