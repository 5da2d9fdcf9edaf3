//! Sockets of UDP. A written message leaves at once, in one datagram. A message that has arrived goes to the
//! user at once. A socket holds at most one of each.

use super::describe::{describe, octets};
use super::{Envelope, Socket, SocketEnd, SocketEvent, SocketId, Traffic, User};
use crate::packet::{Message, Packet, Pdu};
use crate::recorder::{Detail, Recorder};
use crate::topology::NodeId;
use crate::traffic_class::TrafficClass;
use roamsim_engine::Time;
use roamsim_protocols::Address;
use roamsim_protocols::udp::Datagram;

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
    /// Written, and to be asked for.
    outgoing: Option<Message>,
    /// Come, and to be taken.
    arrived: Option<Message>,
}

impl UdpSocket {
    /// Two that exchange datagrams, from this number of a UDP socket on.
    pub(crate) fn pair(first: u32, ends: [SocketEnd; 2], addresses: [Address; 2]) -> [UdpSocket; 2] {
        [0, 1].map(|at| {
            let (here, there) = (ends[at], ends[1 - at]);
            UdpSocket {
                node: here.node,
                local: addresses[at],
                remote: addresses[1 - at],
                local_port: here.port,
                remote_port: there.port,
                peer: first + 1 - at as u32,
                user: here.user,
                traffic_class: here.traffic_class,
                traffic: Traffic::default(),
                outgoing: None,
                arrived: None,
            }
        })
    }

    /// Takes a message, for which it is to be asked at once.
    #[inline(always)]
    pub(crate) fn write(&mut self, message: Message) {
        self.outgoing = Some(message);
    }

    /// Counts a packet of so many octets whose message goes straight to the user, who is returned. It is the
    /// short way of datagrams that a link hands over by their message alone.
    #[inline(always)]
    pub(crate) fn take_in(&mut self, size_bytes: u32) -> User {
        self.traffic.received(size_bytes);
        self.user
    }

    /// A datagram with a message, which is the next packet of the socket.
    #[inline(always)]
    fn datagram(&mut self, message: Message, envelope: Envelope) -> Packet {
        let datagram = Datagram {
            source_port: self.local_port,
            destination_port: self.remote_port,
            payload_bytes: message.bytes(),
        };
        let size_bytes = envelope.header_bytes + datagram.total_bytes();
        self.traffic.sent(size_bytes);
        Packet {
            id: envelope.id,
            source: self.local,
            destination: self.remote,
            socket: self.peer,
            size_bytes,
            traffic_class: self.traffic_class,
            tunnel: None,
            pdu: Pdu::Udp(datagram, message),
        }
    }
}

impl Socket for UdpSocket {
    fn node(&self) -> NodeId {
        self.node
    }

    fn peer(&self) -> SocketId {
        SocketId::Udp(self.peer)
    }

    fn user(&self) -> User {
        self.user
    }

    fn traffic(&self) -> Traffic {
        self.traffic
    }

    #[inline(always)]
    fn may_transmit(&self) -> bool {
        self.outgoing.is_some()
    }

    #[inline(always)]
    fn handle(&mut self, _now: Time, packet: Packet) {
        self.traffic.received(packet.size_bytes);
        if let Pdu::Udp(_, message) = packet.pdu {
            self.arrived = Some(message);
        }
    }

    #[inline(always)]
    fn poll_transmit(&mut self, _now: Time, envelope: Envelope) -> Option<Packet> {
        let message = self.outgoing.take()?;
        Some(self.datagram(message, envelope))
    }

    #[inline(always)]
    fn poll_event(&mut self, _now: Time) -> Option<SocketEvent> {
        let bytes = self.arrived.as_ref()?.bytes().into();
        Some(SocketEvent::Message { bytes })
    }

    #[inline(always)]
    fn poll_message(&mut self) -> Option<Message> {
        self.arrived.take()
    }

    #[cold]
    fn watch_sent(&mut self, _now: Time, packet: &Packet, recorder: &mut Recorder) -> Option<Box<Detail>> {
        let Pdu::Udp(_, message) = &packet.pdu else { return None };
        recorder.wants_details().then(|| {
            Box::new(Detail {
                description: describe(message),
                payload: match recorder.capture.is_some() {
                    true => octets(message, 0..u64::from(message.bytes())),
                    false => Vec::new(),
                },
                parts: Vec::new(),
            })
        })
    }
}
