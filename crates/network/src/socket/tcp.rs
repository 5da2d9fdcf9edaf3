//! Sockets of TCP.
//!
//! A stream carries records: (end offset, message). A record is delivered when its last octet arrives in order,
//! so one segment can carry several messages, or a part of one. The messages themselves wait at the receiving
//! socket; the connection counts octets only.

use super::{Counts, Socket, SocketId, Traffic, User};
use crate::alarm::Alarm;
use crate::ending::Life;
use crate::event::Event;
use crate::network::Network;
use crate::packet::{Message, Packet, Pdu};
use crate::topology::NodeId;
use crate::traffic_class::TrafficClass;
use roamsim_engine::{EventQueue, Stream, Time};
use roamsim_protocols::tcp::{Connection, Segment, State};
use roamsim_protocols::{Address, Context};
use std::collections::VecDeque;

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

impl Socket for TcpSocket {
    fn node(&self) -> NodeId {
        self.node
    }

    fn peer(&self) -> SocketId {
        SocketId::Tcp(self.peer)
    }

    fn user(&self) -> User {
        self.user
    }

    fn traffic(&self) -> Traffic {
        self.traffic
    }

    fn counts(&self) -> Counts {
        let stats = self.connection.stats();
        Counts {
            segments: stats.data_segments_sent,
            retransmissions: stats.data_retransmissions,
            timeouts: stats.timeouts,
            fast_retransmits: stats.fast_retransmits,
        }
    }

    fn open(&mut self) {
        self.connection.open();
    }

    fn write_stream(&mut self, bytes: u64) {
        self.written_bytes += bytes;
        self.connection.write(bytes);
    }

    fn close(&mut self) {
        match self.connection.state() {
            // RFC 9293 section 3.10.4: a close in SYN-SENT would end the attempt, and one in LISTEN the listening.
            State::Listen | State::SynSent => self.close_when_established = true,
            _ => self.connection.close(),
        }
    }

    fn abort(&mut self) {
        self.connection.abort();
    }

    fn wake(&mut self, now: Time, event: Event, queue: &mut EventQueue<Event>) -> bool {
        super::wake((&mut self.alarm, &mut self.connection, &mut self.random), now, event, queue)
    }

    fn life(&self) -> Option<&Life> {
        Some(&self.life)
    }

    fn life_mut(&mut self) -> Option<&mut Life> {
        Some(&mut self.life)
    }

    fn is_gone(&self) -> bool {
        self.connection.state() == State::Closed
    }

    /// RFC 9293 section 3.6: in TIME-WAIT both directions are closed; and in FIN-WAIT-2, too, where the peer has closed
    /// and gave up its FIN.
    fn is_closed(&self, peer_is_gone: bool) -> bool {
        match self.connection.state() {
            State::Closed | State::TimeWait => true,
            State::FinWait2 => peer_is_gone,
            _ => false,
        }
    }
}
