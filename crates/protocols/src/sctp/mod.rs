//! SCTP (RFC 9260) as a machine without I/O, with its wire format.
//!
//! Modelled: the four-way handshake with state cookie and verification tags, T1, T2 and T3-rtx; messages on
//! several streams, ordered and unordered, bundled, fragmented and reassembled; SACK with gap ack blocks and
//! duplicates, delayed SACK, the receive window and its probes; slow start, congestion avoidance with
//! partial_bytes_acked, the decay of an idle window, fast retransmit by highest TSN newly acknowledged and
//! fast recovery; shutdown and abort. Multihoming: every pair of a local and a remote address is a [`Path`]
//! with its own window, RTO and errors; address parameters in INIT and INIT ACK; HEARTBEATs that confirm
//! paths and watch idle ones; a primary path, failover by Path.Max.Retrans, retransmission on an alternate
//! path. By RFC 7829, if it is asked for: the potentially failed state and the primary path switchover.
//!
//! Dynamic addresses (RFC 5061): ASCONF and ASCONF ACK to add and delete addresses and to set the peer's
//! primary one. When the primary path has changed, what was lost on the old one is sent again on the new one.
//!
//! Partial reliability (RFC 3758), where both ends have it: a message may be sent up to an instant, or its
//! chunks again so many times (RFC 7496 3.1); then it is given up, and a FORWARD TSN moves the peer on. Not
//! modelled of it: priorities (RFC 7496 3.2), and waiting to send a FORWARD TSN with data.
//!
//! By [`Rules::Rfc2960`]: the fourth missing report, no fast recovery, what was lost goes to an alternate
//! path after missing reports too, RTO.Initial 3 s. The window of both RFCs counts DATA chunks with their
//! headers; it moves in units of PMDCS by RFC 9260 7.2, of the path MTU with the IP header by RFC 2960 7.2,
//! and starts with two of these. That RFC lets a chunk be found lost by missing reports again and again,
//! which its errata (RFC 4460 2.8) mended: here it is found so once by both rules.
//!
//! Not modelled: authentication of chunks (RFC 4895, which RFC 5061 asks for), restart of an association and
//! tie-tags (RFC 9260 5.2), data beside a COOKIE ECHO, the cookie's authentication, ABORTs in answer to
//! packets of no association but INIT (8.4), ERROR chunks but for a stale cookie, Nagle-like waiting to
//! bundle, path MTU discovery. RTO.Alpha and RTO.Beta are 1/8 and 1/4. The application
//! takes messages at once. Chunks of other extensions (RFC 8260) are carried as octets on the wire
//! and skipped by the association, without reporting them (3.2).

mod address;
mod association;
pub mod chunk;
pub mod config;
mod cookie;
mod event;
mod path;
mod paths;
mod receiver;
mod reliability;
mod sender;
pub mod stats;
pub mod wire;

pub use association::{Association, State};
pub use chunk::{Asconf, AsconfAck, Chunk, Chunks, Data, ForwardTsn, Init, Packet, Parameter, Sack};
pub use config::{AddressForm, Config, Rules};
pub use event::{Change, Event, Message};
pub use path::{Path, PathReport};
pub use reliability::Reliability;
pub use sender::Loss;
pub use stats::{Refused, Stats};
