//! TCP (RFC 9293) as a machine without I/O, byte-based, with its wire format.
//!
//! A [`Connection`] owns sequence space, reassembly and timers. Three parts of it can be exchanged: loss
//! [`detection`], [`recovery`] (the send rule while repairing) and [`congestion`] control. A [`Variant`] is a
//! named triple of them.
//!
//! Modelled: handshake and close in every order (RFC 9293), window scaling, timestamps and PAWS (RFC 7323),
//! retransmission timer (RFC 6298), slow start, congestion avoidance, fast retransmit and recovery (RFC 5681,
//! RFC 6582), appropriate byte counting (RFC 3465), selective acknowledgements (RFC 2018, RFC 2883, RFC
//! 6675), Vegas (Brakmo and Peterson 1995), the cubic window (RFC 9438), limited transmit (RFC 3042), initial
//! window (RFC 6928), delayed acknowledgements, Nagle, silly window avoidance on both sides, zero-window
//! probes, and the stricter checks on RST, SYN and ACK of RFC 5961 with its limit on the rate of challenge
//! acknowledgements, explicit congestion notification (RFC 3168, RFC 8511) with accurate feedback (RFC
//! 9768), keep-alive (RFC 1122 4.2.3.6), the user timeout with its option (RFC 5482) and Fast Open (RFC
//! 7413).
//!
//! Not modelled: urgent data, and path MTU discovery.
//! The model page is `docs/models/tcp.md`.

mod accurate_ecn;
mod ack_compression;
mod ack_delay;
mod block_report;
pub mod config;
pub mod congestion;
mod connection;
pub mod detection;
mod fast_open;
mod pacing;
mod parts;
mod pipe_ack;
mod proportion;
mod received_mss;
pub mod recovery;
mod repeat;
pub(crate) mod rtt;
mod scoreboard;
pub mod segment;
mod send_buffer;
mod sent;
pub(crate) mod sequence;
pub mod stats;
mod user_timeout;
mod variant;
mod window_tuning;
pub mod wire;

pub use accurate_ecn::Codepoint;
pub use config::{
    Config, DEFAULT_MSS_IPV4_BYTES, DEFAULT_MSS_IPV6_BYTES, DelayedAckRules, GrowthRules, HystartRules,
    InitialWindow, KeepAlive, LossProbeRules, NagleRules, RackRules, RtoRules, UndoRules, WindowValidation,
};
pub use connection::{Connection, Event, GivenUp, State};
pub use fast_open::{Cookie, FirstCookie, KnownServer};
pub use repeat::{Proof, Reason};
pub use segment::{AccurateOption, Flags, Options, SackBlocks, Segment, Timestamps};
pub use sent::{Lost, RateSample};
pub use stats::Stats;
pub use user_timeout::{UserTimeout, UserTimeoutOption};
pub use variant::{UnknownVariant, Variant};
