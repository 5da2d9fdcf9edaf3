//! Sockets: the ends of associations between nodes, and what travels between them.
//!
//! A stream carries records: (end offset, message). A record is delivered when its last octet arrives in order,
//! so one segment can carry several messages, or a part of one. The messages themselves wait at the receiving
//! socket; the connection counts octets only.

use crate::network::{Alarm, Network};
use crate::packet::{Message, Packet, Pdu};
use crate::topology::NodeId;
use roamsim_engine::{Stream, Time};
use roamsim_protocols::tcp::{Connection, Segment};
use roamsim_protocols::{Address, Context};
use std::collections::VecDeque;

/// Who uses a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum User {
    /// The source of a flow.
    FlowSource(u32),
    /// The sink of a flow.
    FlowSink(u32),
    /// A session of a node's MIHF.
    Mih {
        /// The MIHF's number.
        mihf: u32,
        /// The session's number in it.
        session: u32,
    },
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

/// A message in a stream.
#[derive(Clone, Debug)]
pub struct Record {
    /// The stream offset behind its last octet.
    pub end: u64,
    /// The message.
    pub message: Message,
}

/// One end of a TCP connection.
pub struct TcpSocket {
    /// The machine.
    pub connection: Connection,
    /// Where it lives.
    pub node: NodeId,
    /// Its address.
    pub local: Address,
    /// The peer's address.
    pub remote: Address,
    /// The peer's socket.
    pub peer: u32,
    /// Who uses it.
    pub user: User,
    /// Its exchange with IP.
    pub traffic: Traffic,
    pub(crate) alarm: Alarm,
    pub(crate) random: Stream,
    /// Octets written to it so far.
    pub(crate) written_bytes: u64,
    /// Octets its user has got so far.
    pub(crate) delivered_bytes: u64,
    /// The highest stream offset sent, to tell retransmissions in traces.
    pub(crate) highest_sent: u64,
    /// Messages on their way to this socket.
    pub(crate) incoming: VecDeque<Record>,
    /// Messages sent and not yet acknowledged; kept only for captures and packet stories.
    pub(crate) unacknowledged: VecDeque<Record>,
    /// The user has closed before the handshake was complete.
    pub(crate) close_when_established: bool,
}

impl TcpSocket {
    /// The next segment that the connection has to send.
    #[inline]
    pub(crate) fn poll_transmit(&mut self, now: Time) -> Option<Segment> {
        self.connection.poll_transmit(&mut Context { now, random: &mut self.random })
    }

    /// The packet that carries a segment to the peer; counts it as sent.
    #[inline]
    pub(crate) fn packet(&mut self, network: &Network, segment: Segment) -> Packet {
        let size_bytes = network.ip.header_bytes() + segment.total_bytes();
        self.traffic.sent(size_bytes);
        Packet {
            id: network.next_packet_id(),
            source: self.local,
            destination: self.remote,
            socket: self.peer,
            size_bytes,
            tunnel: None,
            pdu: Pdu::Tcp(segment),
        }
    }
}

/// One end of a UDP association.
#[derive(Clone, Debug)]
pub struct UdpSocket {
    /// Where it lives.
    pub node: NodeId,
    /// Its address.
    pub local: Address,
    /// The peer's address.
    pub remote: Address,
    /// Its port.
    pub local_port: u16,
    /// The peer's port.
    pub remote_port: u16,
    /// The peer's socket.
    pub peer: u32,
    /// Who uses it.
    pub user: User,
    /// Its exchange with IP.
    pub traffic: Traffic,
}
