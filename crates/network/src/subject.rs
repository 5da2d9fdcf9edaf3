//! What the rows of result tables are about, and how all tables name it: by the entry of the scenario and the
//! nodes.
//!
//! A connection has two senders, a wire two directions: the entry's name is the same for both, and the nodes
//! that the data or the packets go from and to tell them apart.

use crate::ends::SocketId;
use roamsim_protocols::Address;

/// What a row is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Subject {
    /// What a socket sends.
    Socket(SocketId),
    /// What a flow delivers.
    Flow(u32),
    /// What leaves by an interface.
    Interface(Address),
    /// What a base station sends to all.
    Broadcast(Address),
}

/// How tables name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Named<'a> {
    /// "flow", "signalling" or "link"; of a DECT access, "dect".
    pub kind: &'static str,
    /// The name of the entry in the scenario.
    pub name: &'a str,
    /// The node that sends.
    pub from: &'a str,
    /// The node that receives.
    pub to: &'a str,
}

/// Where a broadcast goes to.
pub const TO_ALL: &str = "(all)";
