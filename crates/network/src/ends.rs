//! The ends of associations: what packets are sorted by at their destination, and tell of themselves on the way.

/// A socket: its protocol, and its number among the sockets of that protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SocketId {
    /// Of TCP.
    Tcp(u32),
    /// Of UDP.
    Udp(u32),
    /// Of SCTP.
    Sctp(u32),
}

impl SocketId {
    /// The protocol's name in results.
    pub fn protocol(self) -> &'static str {
        match self {
            SocketId::Tcp(_) => "tcp",
            SocketId::Udp(_) => "udp",
            SocketId::Sctp(_) => "sctp",
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
