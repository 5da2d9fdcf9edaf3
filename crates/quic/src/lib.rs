//! QUIC (RFC 9000, RFC 9001, RFC 9002): the production stack `quinn-proto`, unmodified, as an [`Endpoint`]
//! of the simulator.
//!
//! The library has no sockets and no clock. [`Quic`] hands it simulated time, datagrams and random numbers,
//! and takes its datagrams and its deadline. The library does loss detection, flow control, path MTU
//! discovery, path validation, connection identifiers, NewReno, and pacing at 1.25 windows per round trip.
//! The simulator adds the other congestion controls and the rate of BBR ([`control`]).
//!
//! Runs repeat to the bit, for these reasons:
//!
//! - Time is a fixed instant of the process plus simulated time. The library only uses differences.
//! - Its random numbers, connection identifiers and stateless reset tokens come from a stream of the
//!   simulation.
//! - It gives address tokens only in Retry packets. Their time comes from a clock that stands still.
//! - CUBIC is the simulator's, because the library's takes a cube root of the platform. The library's BBR
//!   draws from the system's random numbers, and is not offered.
//! - The default handshake ([`null`]) has the messages, sizes and round trips of TLS 1.3, and no
//!   cryptography.
//!
//! [`Endpoint`]: roamsim_network::socket::endpoint::Endpoint

mod clock;
pub mod control;
pub mod endpoint;
pub mod messages;
pub mod null;
mod qlog;
pub mod random;
pub mod settings;
#[cfg(feature = "tls")]
pub mod tls;

pub use endpoint::{Crypto, Quic};
pub use messages::Messages;
pub use settings::{CongestionControl, EarlyData, Settings};

/// The name that the client asks the server for; its length is part of the first message.
const SERVER_NAME: &str = "server";

/// The library behind this crate, with its version.
pub const LIBRARY: &str = "quinn-proto 0.11.19";
