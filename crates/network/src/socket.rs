//! Sockets: the ends of associations between nodes, and what travels between them.
//!
//! A stream carries records: (end offset, message). A record is delivered when its last octet arrives in order,
//! so one segment can carry several messages, or a part of one. The messages themselves wait at the receiving
//! socket; the connection counts octets only. An SCTP association keeps messages apart by itself: they wait under
//! the TSN of their first chunk. What an application writes as a stream goes over it in messages of one size.

pub use crate::ends::SocketId;

use crate::alarm::Alarm;
use crate::ending::Life;
use crate::network::Network;
use crate::packet::{Message, Packet, Pdu};
use crate::topology::NodeId;
use crate::traffic_class::TrafficClass;
use roamsim_engine::{Stream, Time};
use roamsim_protocols::tcp::{Connection, Segment};
use roamsim_protocols::{Address, Context, sctp};
use std::collections::VecDeque;
use std::ops::Range;

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
    /// Of the packets that it sends.
    pub traffic_class: TrafficClass,
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
    /// How it went.
    pub(crate) life: Life,
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
            traffic_class: self.traffic_class,
            tunnel: None,
            pdu: Pdu::Tcp(segment),
        }
    }
}

/// How an application's data becomes messages of an SCTP association.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SctpUse {
    /// Messages go on this many streams in turn, from stream 0 on.
    pub streams: u16,
    /// Whether messages keep their order within a stream.
    pub ordered: bool,
    /// Octets of the messages that carry a stream without messages.
    pub message_bytes: u64,
}

/// One end of an SCTP association.
pub struct SctpSocket {
    /// The machine.
    pub association: sctp::Association,
    /// Where it lives.
    pub node: NodeId,
    /// The peer's socket.
    pub peer: u32,
    /// Who uses it.
    pub user: User,
    /// Of the packets that it sends.
    pub traffic_class: TrafficClass,
    /// Its exchange with IP.
    pub traffic: Traffic,
    pub(crate) alarm: Alarm,
    pub(crate) random: Stream,
    pub(crate) how: SctpUse,
    /// The stream of the next message.
    pub(crate) next_stream: u16,
    /// Octets written as a stream and not yet made into messages.
    pub(crate) unwritten_bytes: u64,
    /// The user has closed; the association will be when it is up and everything is written.
    pub(crate) closing: bool,
    /// Messages written and not yet sent, in order; of a stream without messages there are none.
    pub(crate) waiting: VecDeque<Message>,
    /// Messages on their way to this socket, by the TSN of their first chunk, in order.
    pub(crate) incoming: VecDeque<(u32, Option<Message>)>,
    /// The TSN of the next chunk that is sent for the first time.
    pub(crate) next_tsn: u32,
    /// What its chunks carry; kept only for captures, packet stories and the log of segments.
    pub(crate) sent: Option<Box<ChunkLog>>,
    /// If it follows its node's addresses.
    pub(crate) follows: Option<Follows>,
    /// How it went.
    pub(crate) life: Life,
}

/// How an association follows the addresses of its node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Follows {
    /// The node's number among [`Handovers::stations`](crate::handover::Handovers::stations).
    pub(crate) station: u32,
    /// It is to be opened as soon as there is an address to open it from.
    pub(crate) opening: bool,
    /// The address that the peer sends to, as far as it was asked for.
    pub(crate) primary: Option<Address>,
}

impl SctpSocket {
    /// The next packet that the association has to send.
    #[inline]
    pub(crate) fn poll_transmit(&mut self, now: Time) -> Option<(sctp::Path, sctp::Packet)> {
        self.association.poll_transmit(&mut Context { now, random: &mut self.random })
    }

    /// The IP packet around it; counts it as sent.
    #[inline]
    pub(crate) fn packet(&mut self, network: &Network, path: sctp::Path, packet: sctp::Packet) -> Packet {
        let size_bytes = network.ip.header_bytes() + packet.total_bytes();
        self.traffic.sent(size_bytes);
        Packet {
            id: network.next_packet_id(),
            source: path.local,
            destination: path.remote,
            socket: self.peer,
            size_bytes,
            traffic_class: self.traffic_class,
            tunnel: None,
            pdu: Pdu::Sctp(packet),
        }
    }
}

/// What the chunks of an association carry, by TSN.
#[derive(Clone, Debug)]
pub(crate) struct ChunkLog {
    pub(crate) initial_tsn: u32,
    pub(crate) chunks: Vec<SentChunk>,
    /// Octets acknowledged in sequence.
    pub(crate) acknowledged: u64,
}

/// What a chunk carries.
#[derive(Clone, Debug)]
pub(crate) struct SentChunk {
    /// Its place in the user data of all chunks.
    pub(crate) octets: Range<u64>,
    /// Its message, and its first octet's place in it; of a stream without messages there is none.
    pub(crate) message: Option<(Message, u64)>,
    /// Recorded as sent, so that the next time it is sent again.
    pub(crate) recorded: bool,
}

impl ChunkLog {
    pub(crate) fn new(initial_tsn: u32) -> ChunkLog {
        ChunkLog { initial_tsn, chunks: Vec::new(), acknowledged: 0 }
    }

    /// A chunk that was sent.
    pub(crate) fn get(&self, tsn: u32) -> Option<&SentChunk> {
        self.chunks.get(tsn.wrapping_sub(self.initial_tsn) as usize)
    }

    /// The place of a chunk that is sent, and whether it was sent before.
    pub(crate) fn record(&mut self, tsn: u32) -> Option<(Range<u64>, bool)> {
        let chunk = self.chunks.get_mut(tsn.wrapping_sub(self.initial_tsn) as usize)?;
        Some((chunk.octets.clone(), std::mem::replace(&mut chunk.recorded, true)))
    }

    /// Octets in all chunks up to this one, 0 for one that was not sent.
    pub(crate) fn end(&self, tsn: u32) -> u64 {
        self.get(tsn).map_or(0, |chunk| chunk.octets.end)
    }

    /// A chunk is sent for the first time; `message` if it is the first of one.
    pub(crate) fn push(&mut self, bytes: u16, message: Option<Message>) {
        let last = self.chunks.last();
        let start = last.map_or(0, |last| last.octets.end);
        let message = match message {
            Some(message) => Some((message, 0)),
            // One more of the last one's, if that has more.
            None => last.and_then(|last| {
                let (message, from) = last.message.as_ref()?;
                Some((message.clone(), from + (last.octets.end - last.octets.start)))
            }),
        };
        self.chunks.push(SentChunk { octets: start..start + u64::from(bytes), message, recorded: false });
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
    /// Of the packets that it sends.
    pub traffic_class: TrafficClass,
    /// Its exchange with IP.
    pub traffic: Traffic,
}
