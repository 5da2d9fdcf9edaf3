//! Packets: structured headers and lengths, without payload bytes. A packet is owned by its present place.
//! A packet from outside ([`crate::octets`]) is its octets.
//!
//! Not modelled: IPv6 extension headers except the fragment header, IPv4 options, fragmentation by routers,
//! hop limits (routes have no loops). A packet in a tunnel has the outer header's addresses as its own, so
//! routing does not know of tunnels.

use crate::ends::SocketId;
pub use crate::octets::IpVersion;
use crate::octets::{self, Octets};
use crate::traffic_class::TrafficClass;
use roamsim_engine::Time;
use roamsim_protocols::tcp::Segment;
use roamsim_protocols::udp::Datagram;
use roamsim_protocols::{Address, mih, mobile_ip, sctp};
use std::num::NonZeroU64;
use std::sync::Arc;

/// A message of an application, as it travels over UDP or in a TCP stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AppMessage {
    /// Its number among those of its sender, from zero.
    pub sequence: u64,
    /// When the application wrote it.
    pub generated: Time,
    /// Its length.
    pub bytes: u32,
}

impl AppMessage {
    /// The number of a response to what is no request.
    pub const UNASKED: u64 = u64::MAX;
}

/// What a datagram or a stream carries.
#[derive(Clone, Debug)]
pub enum Message {
    /// A message of an application.
    Application(AppMessage),
    /// One that is told to a program outside in HTTP.
    Http(Arc<HttpMessage>),
    /// A program outside should have written HTTP, and has not: it comes behind the octets that show it.
    NoHttp,
    /// An IEEE 802.21 message.
    Mih(Arc<mih::Message>),
    /// A registration message of Mobile IP.
    MobileIp(Arc<mobile_ip::Message>),
    /// Of a redirection by a mobile node; it has no octets of its own.
    Redirection(RedirectionMessage),
}

/// A request or a response with a head of its own. Its body is a pattern, like other messages of
/// applications.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpMessage {
    /// The message, whose length is that of head and body.
    pub message: AppMessage,
    /// The octets of its head.
    pub head: Vec<u8>,
}

/// The messages of a redirection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedirectionMessage {
    /// The mobile node is at the address that this comes from.
    Update {
        /// Which redirection it is of: later ones have greater numbers.
        sequence: u32,
    },
    /// That has been noted.
    Acknowledgement {
        /// That of the update.
        sequence: u32,
    },
}

impl Message {
    /// Its length in octets.
    #[inline]
    pub fn bytes(&self) -> u32 {
        match self {
            Message::Application(message) => message.bytes,
            Message::Http(http) => http.message.bytes,
            Message::Mih(message) => message.encoded_bytes() as u32,
            Message::MobileIp(message) => message.encoded_bytes() as u32,
            Message::NoHttp | Message::Redirection(_) => 0,
        }
    }

    /// When an application wrote it; [`Time::ZERO`] of what no application has written.
    #[inline]
    pub(crate) fn written(&self) -> Time {
        match self {
            Message::Application(message) => message.generated,
            Message::Http(http) => http.message.generated,
            _ => Time::ZERO,
        }
    }
}

/// Agent discovery of Mobile IP (RFC 5944 section 2).
#[derive(Clone, Debug)]
pub enum Icmp {
    /// An agent advertisement.
    AgentAdvertisement(Arc<mobile_ip::AgentAdvertisement>),
    /// An agent solicitation.
    AgentSolicitation,
}

impl Icmp {
    /// Its length in octets, ICMP header included.
    pub fn bytes(&self) -> u32 {
        match self {
            Icmp::AgentAdvertisement(advertisement) => advertisement.encoded_bytes() as u32,
            Icmp::AgentSolicitation => mobile_ip::AgentSolicitation::BYTES as u32,
        }
    }
}

/// A part of a UDP datagram that its source has cut (RFC 791 section 3.2, RFC 8200 section 4.5).
#[derive(Clone, Debug)]
pub struct Fragment {
    /// The same in all fragments of a datagram, and in no others of the run: the number of the first one's
    /// packet.
    pub identification: u64,
    /// Where it begins in the datagram, whose first octet is that of the UDP header.
    pub offset_bytes: u32,
    /// Its octets of the datagram.
    pub bytes: u32,
    /// The datagram.
    pub datagram: Datagram,
    /// The message that the datagram carries.
    pub message: Message,
}

impl Fragment {
    /// Octets of the fragment header of IPv6; IPv4 has its fields in every header.
    pub const HEADER_BYTES: u32 = 8;

    /// Whether others come behind it.
    pub fn more_fragments(&self) -> bool {
        self.offset_bytes + self.bytes < self.datagram.total_bytes()
    }
}

/// What IP carries.
#[derive(Clone, Debug)]
pub enum Pdu {
    /// A TCP segment. Its payload is known by stream offset to the two sockets.
    Tcp(Segment),
    /// A UDP datagram and its message.
    Udp(Datagram, Message),
    /// A part of one that is larger than a packet of its path.
    Fragment(Box<Fragment>),
    /// An SCTP packet. Its messages are known by their TSNs to the two sockets.
    Sctp(sctp::Packet),
    /// An ICMP message.
    Icmp(Icmp),
    /// What a node outside of the simulation, or an endpoint of another crate, has sent.
    Octets(Octets),
}

impl Pdu {
    /// The number of the protocol, as IP has it.
    pub fn protocol(&self) -> u8 {
        match self {
            Pdu::Tcp(_) => octets::TCP,
            Pdu::Udp(..) | Pdu::Fragment(_) => octets::UDP,
            Pdu::Sctp(_) => octets::SCTP,
            Pdu::Icmp(_) => octets::ICMP,
            Pdu::Octets(octets) => octets.protocol(),
        }
    }
}

/// The socket of a packet that is for none, as far as is known.
pub(crate) const NO_SOCKET: u32 = u32::MAX;

/// A packet's number in its run, from zero, in order of creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PacketId(pub u64);

/// The destination of a packet for everyone on a link: the limited broadcast of IPv4 (RFC 919 section 7), the
/// all-nodes multicast of IPv6 (RFC 4291 section 2.7.1). It is never forwarded.
pub const BROADCAST: Address = Address::BROADCAST;

/// The addresses of a packet inside a tunnel, in one word, so that a packet without a tunnel is no larger for
/// it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InnerHeader(NonZeroU64);

impl InnerHeader {
    /// The header of a packet from `source` to `destination`, neither of which is [`BROADCAST`].
    pub fn new(source: Address, destination: Address) -> InnerHeader {
        let word = (u64::from(source.0) + 1) << 32 | u64::from(destination.0);
        InnerHeader(NonZeroU64::new(word).unwrap_or(NonZeroU64::MIN))
    }

    /// The source inside.
    pub fn source(self) -> Address {
        Address(((self.0.get() >> 32) as u32).wrapping_sub(1))
    }

    /// The destination inside.
    pub fn destination(self) -> Address {
        Address(self.0.get() as u32)
    }
}

/// What a packet of a flow or a signalling entry carries, as an account of losses asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Carried {
    /// The socket that it is for.
    pub socket: SocketId,
    /// Whether it carries data of an application; otherwise an acknowledgement or the like.
    pub data: bool,
}

/// A network-layer packet.
#[derive(Clone, Debug)]
#[repr(C)] // what every node on its way asks for comes first
pub struct Packet {
    /// Its number in this run.
    pub id: PacketId,
    /// Source address.
    pub source: Address,
    /// Destination address.
    pub destination: Address,
    /// The socket it is for at its destination: the result of demultiplexing by addresses and ports, which
    /// are fixed when the association is made. It indexes TCP, UDP, SCTP or open sockets, as the PDU says. A
    /// broadcast is for no socket: there the network writes the number (address) of the interface that it
    /// came in at. Octets from outside are for `NO_SOCKET` unless an endpoint waits for them.
    pub socket: u32,
    /// Octets, network headers included.
    pub size_bytes: u32,
    /// What its application asks of queues, in the inner and the outer header alike (RFC 2003 section 3.1).
    pub traffic_class: TrafficClass,
    /// The header inside, while the packet is in a tunnel (RFC 2003).
    pub tunnel: Option<InnerHeader>,
    /// What it carries.
    pub pdu: Pdu,
}

impl Packet {
    /// Whether it is a TCP segment without SACK blocks, which owns nothing.
    #[inline(always)]
    pub(crate) fn is_plain_segment(&self) -> bool {
        matches!(&self.pdu, Pdu::Tcp(segment) if segment.options.sack.holds_nothing())
    }

    /// The socket it is for at its destination; `None` where agents and mobile nodes take it.
    pub fn socket_id(&self) -> Option<SocketId> {
        match self.pdu {
            Pdu::Tcp(_) => Some(SocketId::Tcp(self.socket)),
            Pdu::Udp(_, Message::MobileIp(_)) | Pdu::Icmp(_) => None,
            Pdu::Octets(_) => (self.socket != NO_SOCKET).then_some(SocketId::Open(self.socket)),
            Pdu::Udp(..) | Pdu::Fragment(_) => Some(SocketId::Udp(self.socket)),
            Pdu::Sctp(_) => Some(SocketId::Sctp(self.socket)),
        }
    }

    /// Whether it is for everyone on the link.
    #[inline]
    pub fn is_broadcast(&self) -> bool {
        self.destination == BROADCAST
    }

    /// Whether it belongs to a flow or a signalling entry, and not to the network's own housekeeping, or an
    /// association's: HEARTBEATs and changes of addresses.
    #[inline]
    pub fn is_of_a_flow(&self) -> bool {
        match &self.pdu {
            Pdu::Tcp(_)
            | Pdu::Udp(_, Message::Application(_) | Message::Http(_) | Message::NoHttp | Message::Mih(_)) => {
                !self.is_broadcast()
            }
            // Only flows and signalling have messages that are too large for a packet.
            Pdu::Fragment(_) => true,
            Pdu::Sctp(packet) => !matches!(
                packet.chunks.first(),
                Some(
                    sctp::Chunk::Heartbeat(_)
                        | sctp::Chunk::HeartbeatAck(_)
                        | sctp::Chunk::Asconf(_)
                        | sctp::Chunk::AsconfAck(_)
                )
            ),
            Pdu::Udp(_, Message::MobileIp(_) | Message::Redirection(_)) | Pdu::Icmp(_) => false,
            Pdu::Octets(_) => self.socket != NO_SOCKET,
        }
    }

    /// What it carries; `None` where it is of no flow and of no signalling entry.
    #[inline]
    pub fn carried(&self) -> Option<Carried> {
        let socket = self.socket_id().filter(|_| self.is_of_a_flow())?;
        Some(Carried { socket, data: self.carries_data() })
    }

    /// When the application's message in its datagram, or in the one that it is a fragment of, was written;
    /// [`Time::ZERO`] of others.
    #[inline]
    pub(crate) fn written(&self) -> Time {
        match &self.pdu {
            Pdu::Udp(_, message) => message.written(),
            Pdu::Fragment(fragment) => fragment.message.written(),
            _ => Time::ZERO,
        }
    }

    /// Whether it is a datagram that a socket waits for.
    #[inline]
    pub fn is_datagram_of_a_flow(&self) -> bool {
        matches!(self.pdu, Pdu::Udp(_, Message::Application(_) | Message::Mih(_)))
    }

    /// Whether it carries data of an application, and not only an acknowledgement or the like.
    #[inline]
    pub fn carries_data(&self) -> bool {
        match &self.pdu {
            Pdu::Tcp(segment) => segment.payload_bytes > 0,
            Pdu::Sctp(packet) => packet.data().next().is_some(),
            Pdu::Udp(_, Message::Application(_) | Message::Http(_) | Message::NoHttp | Message::Mih(_))
            | Pdu::Fragment(_) => true,
            Pdu::Udp(_, Message::MobileIp(_) | Message::Redirection(_)) | Pdu::Icmp(_) => false,
            Pdu::Octets(octets) => octets.has_data(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_no_larger_for_its_tunnel() {
        assert_eq!(size_of::<Option<InnerHeader>>(), 8);
        for (source, destination) in [(0, 0), (0, 7), (7, 0), (0xFFFF_FFFE, 0xFFFF_FFFE)] {
            let inner = InnerHeader::new(Address(source), Address(destination));
            assert_eq!((inner.source(), inner.destination()), (Address(source), Address(destination)));
        }
    }
}
