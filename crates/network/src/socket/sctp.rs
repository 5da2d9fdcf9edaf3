//! Sockets of SCTP. An association keeps messages apart by itself: they wait at the receiving socket under the TSN of their
//! first chunk. What an application writes as a stream goes over it in messages of one size.

use super::{Counts, Socket, SocketId, Traffic, User};
use crate::alarm::Alarm;
use crate::ending::Life;
use crate::event::Event;
use crate::network::Network;
use crate::packet::{Message, Packet, Pdu};
use crate::topology::NodeId;
use crate::traffic_class::TrafficClass;
use roamsim_engine::{EventQueue, Stream, Time};
use roamsim_protocols::{Address, Context, sctp};
use std::collections::VecDeque;
use std::ops::Range;

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

impl Socket for SctpSocket {
    fn node(&self) -> NodeId {
        self.node
    }

    fn peer(&self) -> SocketId {
        SocketId::Sctp(self.peer)
    }

    fn user(&self) -> User {
        self.user
    }

    fn traffic(&self) -> Traffic {
        self.traffic
    }

    fn counts(&self) -> Counts {
        let stats = self.association.stats();
        Counts {
            segments: stats.data_chunks_sent,
            retransmissions: stats.data_chunks_retransmitted,
            timeouts: stats.timeouts,
            fast_retransmits: stats.fast_retransmits,
        }
    }

    fn open(&mut self) {
        self.association.open();
    }

    fn write_stream(&mut self, bytes: u64) {
        self.unwritten_bytes += bytes;
    }

    /// When it is up and everything is written: before that, a close would give it up.
    fn close(&mut self) {
        self.closing = true;
    }

    /// One that waits for an address does not open any more.
    fn abort(&mut self) {
        self.association.abort();
        self.unwritten_bytes = 0;
        self.closing = false;
        if let Some(follows) = &mut self.follows {
            follows.opening = false;
        }
    }

    /// It has no half-closed state (RFC 9260 section 9).
    fn closes_by_direction(&self) -> bool {
        false
    }

    fn wake(&mut self, now: Time, event: Event, queue: &mut EventQueue<Event>) -> bool {
        super::wake((&mut self.alarm, &mut self.association, &mut self.random), now, event, queue)
    }

    fn life(&self) -> Option<&Life> {
        Some(&self.life)
    }

    fn life_mut(&mut self) -> Option<&mut Life> {
        Some(&mut self.life)
    }

    fn is_gone(&self) -> bool {
        self.association.state() == sctp::State::Closed
    }
}
