//! QUIC: its keys, its checks, and its connections, which crate `roamsim-quic` makes.

#[cfg(feature = "quic")]
pub mod build;
pub mod check;
pub mod model;
