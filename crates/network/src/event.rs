//! What the loop of a run wakes.

use crate::ends::SocketId;

/// What the loop wakes: a machine, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A link.
    Link(u32),
    /// A socket.
    Socket(SocketId),
    /// The source of a flow.
    Source(u32),
    /// The server of a flow.
    Server(u32),
    /// The reader at the sink of a flow.
    Reader(u32),
    /// The MIHF of a node.
    Mihf(u32),
    /// The MIH users of a signalling entry.
    Signalling(u32),
    /// A link may have link events.
    Indication(u32),
    /// A mobility agent of Mobile IP.
    MobilityAgent(u32),
    /// A mobile node of Mobile IP.
    MobileNode(u32),
    /// A node that has worked on a packet.
    Node(u32),
}

impl Event {
    /// What fingerprints tell it by.
    pub(crate) fn code(self) -> u64 {
        let (kind, number) = match self {
            Event::Link(number) => (0, number),
            Event::Socket(SocketId::Tcp(number)) => (1, number),
            Event::Source(number) => (2, number),
            Event::Server(number) => (3, number),
            Event::Mihf(number) => (4, number),
            Event::Signalling(number) => (5, number),
            Event::Indication(number) => (6, number),
            Event::Socket(SocketId::Sctp(number)) => (7, number),
            Event::MobilityAgent(number) => (8, number),
            Event::MobileNode(number) => (9, number),
            Event::Node(number) => (10, number),
            Event::Reader(number) => (11, number),
            Event::Socket(SocketId::Udp(number)) => (12, number),
        };
        kind << 32 | u64::from(number)
    }
}
