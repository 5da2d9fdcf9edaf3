//! IEEE 802.21 media independent handover.
pub mod wire;
