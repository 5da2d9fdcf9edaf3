//! SCTP (RFC 9260) as a machine without I/O, with its wire format.
//!
//! Modelled: the four-way handshake with state cookie and verification tags, T1, T2 and T3-rtx; messages on several
//! streams, ordered and unordered, bundled, fragmented and reassembled; SACK with gap ack blocks and duplicates,
//! delayed SACK, the receive window; slow start, congestion avoidance with partial_bytes_acked, fast retransmit by
//! highest TSN newly acknowledged and fast recovery; shutdown and abort; the answer to a HEARTBEAT. By
//! [`Rules::Rfc2960`]: the fourth missing report, no fast recovery, that RFC's initial window and RTO.Initial.
//!
//! Not modelled: more than one path (no address parameters, no failover), HEARTBEATs of its own, restart of an
//! association and tie-tags (RFC 9260 5.2), data beside a COOKIE ECHO, the cookie's authentication, ABORTs in answer
//! to packets of no association but INIT (8.4), ERROR chunks but for a stale cookie, Nagle-like waiting to bundle,
//! the window's decay when idle (7.2.1), path MTU discovery, partial delivery. RTO.Alpha and RTO.Beta are 1/8 and
//! 1/4. The application takes messages at once. Chunks of extensions (RFC 3758, RFC 4895, RFC 5061, RFC 8260) are
//! carried as octets on the wire and skipped by the association, without reporting them (3.2).

mod association;
pub mod chunk;
pub mod config;
mod cookie;
mod path;
mod receiver;
mod sender;
pub mod stats;
pub mod wire;

pub use association::{Association, Event, State};
pub use chunk::{Chunk, Data, Init, Packet, Parameter, Sack};
pub use config::{Config, Rules};
pub use receiver::Message;
pub use stats::Stats;
