//! Sockets of UDP. A written message leaves at once, in one datagram, which is cut into fragments if it
//! exceeds a packet of the path. A message that has arrived goes to the user at once. A socket holds at most
//! one of each.

use super::describe::{describe, octets};
use super::fragments::{self, Fragmentation};
use super::{Envelope, Socket, SocketEnd, SocketEvent, SocketId, Traffic, User};
use crate::packet::{IpVersion, Message, Packet, Pdu};
use crate::recorder::{Detail, Recorder};
use crate::topology::NodeId;
use crate::traffic_class::TrafficClass;
use roamsim_engine::{Span, Time};
use roamsim_protocols::Address;
use roamsim_protocols::udp::{Datagram, HEADER_BYTES};

/// What IP does for the datagrams of an association.
#[derive(Clone, Copy, Debug)]
pub struct UdpPath {
    /// The version of IP.
    pub ip: IpVersion,
    /// The largest packet that the path carries, there and back.
    pub mtu_bytes: u32,
    /// How long IP keeps a datagram whose fragments are incomplete.
    pub reassembly_timeout: Span,
}

impl UdpPath {
    /// The longest message that leaves in one packet.
    fn whole_bytes(&self) -> u32 {
        self.mtu_bytes.saturating_sub(self.ip.header_bytes() + HEADER_BYTES)
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
    /// Written, and to be asked for.
    outgoing: Option<Message>,
    /// Come, and to be taken.
    arrived: Option<Message>,
    /// The longest message that leaves in one packet.
    whole_bytes: u32,
    path: UdpPath,
    /// Of an end that has cut a datagram, or was sent fragments.
    fragmentation: Option<Box<Fragmentation>>,
}

impl UdpSocket {
    /// Two that exchange datagrams, from this number of a UDP socket on.
    pub(crate) fn pair(
        first: u32,
        ends: [SocketEnd; 2],
        addresses: [Address; 2],
        path: UdpPath,
    ) -> [UdpSocket; 2] {
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
                whole_bytes: path.whole_bytes(),
                path,
                fragmentation: None,
            }
        })
    }

    /// Datagrams that are written from now on are cut so that they fit.
    pub(crate) fn set_path_mtu(&mut self, mtu_bytes: u32) {
        self.path.mtu_bytes = mtu_bytes;
        self.whole_bytes = self.path.whole_bytes();
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
        let datagram = self.around(&message);
        let size_bytes = envelope.header_bytes + datagram.total_bytes();
        self.packet(envelope, size_bytes, Pdu::Udp(datagram, message))
    }

    #[inline(always)]
    fn around(&self, message: &Message) -> Datagram {
        Datagram {
            source_port: self.local_port,
            destination_port: self.remote_port,
            payload_bytes: message.bytes(),
        }
    }

    #[inline(always)]
    fn packet(&mut self, envelope: Envelope, size_bytes: u32, pdu: Pdu) -> Packet {
        self.traffic.sent(size_bytes);
        Packet {
            id: envelope.id,
            source: self.local,
            destination: self.remote,
            socket: self.peer,
            size_bytes,
            traffic_class: self.traffic_class,
            tunnel: None,
            pdu,
        }
    }

    /// The next fragment of a datagram with a message.
    #[cold]
    fn fragment(&mut self, message: Message, envelope: Envelope) -> Packet {
        let datagram = self.around(&message);
        let ip = self.path.ip;
        let ip_payload_bytes = self.path.mtu_bytes.saturating_sub(ip.header_bytes());
        let fragmentation = self.fragmentation();
        let (fragment, last) = fragmentation.cut((ip, ip_payload_bytes), envelope.id.0, datagram, &message);
        if !last {
            self.outgoing = Some(message);
        }
        self.packet(envelope, fragments::packet_bytes(ip, &fragment), Pdu::Fragment(Box::new(fragment)))
    }

    fn fragmentation(&mut self) -> &mut Fragmentation {
        let timeout = self.path.reassembly_timeout;
        self.fragmentation.get_or_insert_with(|| Box::new(Fragmentation::new(timeout)))
    }

    /// A fragment for this end was lost, of a message that was written then. Returns whether its datagram was
    /// not lost before.
    #[cold]
    pub(crate) fn lose_fragment(&mut self, now: Time, identification: u64, written: Time) -> bool {
        self.fragmentation().lose(now, identification, written)
    }

    /// When the messages were written whose datagrams have been given up by this time since it was asked
    /// last, though no fragment was lost.
    pub(crate) fn take_given_up(&mut self, now: Time) -> Vec<Time> {
        self.fragmentation.as_mut().map_or_else(Vec::new, |fragmentation| fragmentation.take_given_up(now))
    }

    /// Datagrams that this end has cut into fragments.
    pub fn fragmented(&self) -> u64 {
        self.fragmentation.as_ref().map_or(0, |fragmentation| fragmentation.fragmented())
    }

    /// Datagrams for this end that were given up by this time because fragments of them were missing.
    pub fn reassembly_timeouts(&self, now: Time) -> u64 {
        self.fragmentation.as_ref().map_or(0, |fragmentation| fragmentation.timeouts(now))
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
    fn handle(&mut self, now: Time, packet: Packet) {
        self.traffic.received(packet.size_bytes);
        match packet.pdu {
            Pdu::Udp(_, message) => self.arrived = Some(message),
            Pdu::Fragment(fragment) => self.arrived = self.fragmentation().take(now, *fragment),
            _ => {}
        }
    }

    #[inline(always)]
    fn poll_transmit(&mut self, _now: Time, envelope: Envelope) -> Option<Packet> {
        let message = self.outgoing.take()?;
        if message.bytes() > self.whole_bytes {
            return Some(self.fragment(message, envelope));
        }
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
        let (message, description) = match &packet.pdu {
            Pdu::Udp(_, message) => (message, describe(message)),
            Pdu::Fragment(fragment) => {
                (&fragment.message, fragments::describe(fragment, &describe(&fragment.message)))
            }
            _ => return None,
        };
        recorder.wants_details().then(|| {
            Box::new(Detail {
                description,
                payload: match recorder.capture.is_some() {
                    true => octets(message, 0..u64::from(message.bytes())),
                    false => Vec::new(),
                },
                parts: Vec::new(),
            })
        })
    }
}
