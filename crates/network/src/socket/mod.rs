//! Sockets: the ends of associations between nodes, a file a transport.

pub mod sctp;
pub mod tcp;
pub mod udp;

pub use self::sctp::{SctpSocket, SctpUse};
pub use self::tcp::{Record, TcpSocket};
pub use self::udp::UdpSocket;
pub use crate::ends::SocketId;

pub(crate) use self::sctp::{ChunkLog, Follows};

use crate::alarm::Alarm;
use crate::ending::Life;
use crate::event::Event;
use crate::topology::NodeId;
use roamsim_engine::{EventQueue, Stream, Time};
use roamsim_protocols::{Context, Machine};

/// Who uses a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum User {
    /// The source of a flow.
    FlowSource(u32),
    /// The sink of a flow.
    FlowSink(u32),
    /// An end of a connection that carries a flow in each direction.
    FlowBothWays {
        /// The flow that begins here.
        sends: u32,
        /// The flow that ends here.
        receives: u32,
    },
    /// A session of a node's MIHF.
    Mih {
        /// The MIHF's number.
        mihf: u32,
        /// The session's number in it.
        session: u32,
    },
}

impl User {
    /// The flow whose data is for this socket.
    #[inline]
    pub(crate) fn receives(self) -> Option<u32> {
        match self {
            User::FlowSink(flow) | User::FlowBothWays { receives: flow, .. } => Some(flow),
            User::FlowSource(_) | User::Mih { .. } => None,
        }
    }
}

/// What a socket exchanged with IP: packets and octets, transport and network headers included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Packets handed to IP.
    pub sent_packets: u64,
    /// Their octets.
    pub sent_bytes: u64,
    /// Packets taken from IP.
    pub received_packets: u64,
    /// Their octets.
    pub received_bytes: u64,
}

impl Traffic {
    /// Counts a packet handed to IP.
    #[inline]
    pub fn sent(&mut self, bytes: u32) {
        self.sent_packets += 1;
        self.sent_bytes += u64::from(bytes);
    }

    /// Counts a packet taken from IP.
    #[inline]
    pub fn received(&mut self, bytes: u32) {
        self.received_packets += 1;
        self.received_bytes += u64::from(bytes);
    }

    /// What came after `earlier`.
    pub fn since(self, earlier: Traffic) -> Traffic {
        Traffic {
            sent_packets: self.sent_packets - earlier.sent_packets,
            sent_bytes: self.sent_bytes - earlier.sent_bytes,
            received_packets: self.received_packets - earlier.received_packets,
            received_bytes: self.received_bytes - earlier.received_bytes,
        }
    }
}

/// What a sender of data counts; a DATA chunk of SCTP is a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Segments with data, sent again ones included.
    pub segments: u64,
    /// Those that were sent again.
    pub retransmissions: u64,
    /// Retransmission timers that expired.
    pub timeouts: u64,
    /// Fast retransmits.
    pub fast_retransmits: u64,
}

/// The timer of a connection's machine fires.
fn wake<M: Machine>(
    (alarm, machine, random): (&mut Alarm, &mut M, &mut Stream),
    now: Time,
    event: Event,
    queue: &mut EventQueue<Event>,
) -> bool {
    if !alarm.fires(now) {
        return false;
    }
    let due = machine.poll_timeout();
    if due.is_none_or(|due| due > now) {
        alarm.arm(due, event, queue);
        return false;
    }
    machine.handle_timeout(&mut Context { now, random });
    true
}

/// What a socket does for its user and for results, whatever its transport: the world finds it by its [`SocketId`] in one
/// place. What stands here is what a transport without connections does.
pub(crate) trait Socket {
    /// Where it lives.
    fn node(&self) -> NodeId;

    /// The socket at the other end.
    fn peer(&self) -> SocketId;

    /// Who uses it.
    fn user(&self) -> User;

    /// Its exchange with IP so far.
    fn traffic(&self) -> Traffic;

    /// What it has sent.
    fn counts(&self) -> Counts {
        Counts::default()
    }

    /// Opens the connection.
    fn open(&mut self) {}

    /// Takes octets without message boundaries; validation refuses that where there is no connection.
    fn write_stream(&mut self, _bytes: u64) {}

    /// Closes the connection when everything written has been sent.
    fn close(&mut self) {}

    /// Gives the connection up, with what was to be sent.
    fn abort(&mut self) {}

    /// Whether its direction can be closed while the other one goes on.
    fn closes_by_direction(&self) -> bool {
        true
    }

    /// Its timer fires with this event; false where that was superseded, or comes too early.
    fn wake(&mut self, _now: Time, _event: Event, _queue: &mut EventQueue<Event>) -> bool {
        false
    }

    /// What it saw of its connection's life.
    fn life(&self) -> Option<&Life> {
        None
    }

    /// The same, to note what happens.
    fn life_mut(&mut self) -> Option<&mut Life> {
        None
    }

    /// Whether nothing is left of its end of the connection.
    fn is_gone(&self) -> bool {
        true
    }

    /// Whether its end of the connection is closed, where of the other end something is left or not.
    fn is_closed(&self, _peer_is_gone: bool) -> bool {
        self.is_gone()
    }
}
