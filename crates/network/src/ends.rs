//! The ends of associations: what packets are sorted by at their destination, and tell of themselves on the
//! way.

/// A socket: its protocol, and its number among the sockets of that protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SocketId {
    /// Of TCP.
    Tcp(u32),
    /// Of UDP.
    Udp(u32),
    /// Of SCTP.
    Sctp(u32),
    /// Of an endpoint of another crate.
    Open(u32),
}

impl SocketId {
    /// The protocol's name in results.
    pub fn protocol(self) -> &'static str {
        match self {
            SocketId::Tcp(_) => "tcp",
            SocketId::Udp(_) => "udp",
            SocketId::Sctp(_) => "sctp",
            SocketId::Open(_) => "endpoint",
        }
    }
}

/// The pair of sockets under a flow or a session of signalling, both of one protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Association {
    /// At the source, which opens the connection where there is one.
    pub source: SocketId,
    /// At the sink.
    pub sink: SocketId,
}

/// A place on a way over wires that the network has looked up: the next wire, or the end. Of a packet; and of
/// a socket, where all its packets begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Onward(u32);

impl Onward {
    /// On no way: routes are asked.
    pub(crate) const BY_ROUTES: Onward = Onward(u32::MAX);
    /// Not looked for yet.
    pub(crate) const UNKNOWN: Onward = Onward(u32::MAX - 1);

    pub(crate) fn new(number: u32) -> Onward {
        Onward(number)
    }

    /// Its number in the list of ways.
    #[inline(always)]
    pub(crate) fn number(self) -> usize {
        self.0 as usize
    }

    /// The place behind it.
    #[inline(always)]
    pub(crate) fn next(self) -> Onward {
        Onward(self.0 + 1)
    }
}
