//! Protocol ends as state machines without I/O, without clock and without randomness of their own, and the
//! wire formats of what they exchange. They know no node, no link and no queue of events.

pub mod addresses;
pub mod checksum;
pub mod machine;
pub mod mih;
pub mod mobile_ip;
mod ranges;
pub mod sctp;
pub mod tcp;
pub mod udp;

pub use addresses::IpAddresses;
pub use machine::{Address, Context, Machine, PeerAddress};
