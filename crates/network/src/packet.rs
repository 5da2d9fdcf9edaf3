//! Packets: structured headers and lengths, without payload bytes. A packet is owned by where it is.
//!
//! Not modelled: IPv6 extension headers, IPv4 options and fragmentation, hop limits (routes have no loops).

use crate::socket::SocketId;
use roamsim_engine::Time;
use roamsim_protocols::tcp::Segment;
use roamsim_protocols::udp::Datagram;
use roamsim_protocols::{Address, mih, sctp};
use std::sync::Arc;

/// The version of IP that a whole network speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IpVersion {
    /// RFC 8200.
    V6,
    /// RFC 791.
    V4,
}

impl IpVersion {
    /// Octets of the header: 40 (RFC 8200 section 3), 20 (RFC 791 section 3.1, no options).
    pub const fn header_bytes(self) -> u32 {
        match self {
            IpVersion::V6 => 40,
            IpVersion::V4 => 20,
        }
    }
}

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

/// What a datagram or a stream carries.
#[derive(Clone, Debug)]
pub enum Message {
    /// A message of an application.
    Application(AppMessage),
    /// An IEEE 802.21 message.
    Mih(Arc<mih::Message>),
}

impl Message {
    /// Its length in octets.
    pub fn bytes(&self) -> u32 {
        match self {
            Message::Application(message) => message.bytes,
            Message::Mih(message) => message.encoded_bytes() as u32,
        }
    }
}

/// What IP carries.
#[derive(Clone, Debug)]
pub enum Pdu {
    /// A TCP segment. Its payload is known by stream offset to the two sockets.
    Tcp(Segment),
    /// A UDP datagram and its message.
    Udp(Datagram, Message),
    /// An SCTP packet. Its messages are known by their TSNs to the two sockets.
    Sctp(sctp::Packet),
}

/// A packet's number in its run, from zero, in order of creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PacketId(pub u64);

/// The destination of a packet for everyone on a link: the limited broadcast of IPv4 (RFC 919 section 7), the
/// all-nodes multicast of IPv6 (RFC 4291 section 2.7.1). It is never forwarded.
pub const BROADCAST: Address = Address(u32::MAX);

/// A network-layer packet.
#[derive(Clone, Debug)]
pub struct Packet {
    /// Its number in this run.
    pub id: PacketId,
    /// Source address.
    pub source: Address,
    /// Destination address.
    pub destination: Address,
    /// The socket it is for at its destination: the result of demultiplexing by addresses and ports, which are
    /// fixed when the association is made. It indexes TCP, UDP or SCTP sockets, as the PDU says. A broadcast is for no
    /// socket: there the network writes the number (address) of the interface that it came in at.
    pub socket: u32,
    /// Octets, network header included.
    pub size_bytes: u32,
    /// What it carries.
    pub pdu: Pdu,
}

impl Packet {
    /// Whether it is for everyone on the link.
    #[inline]
    pub fn is_broadcast(&self) -> bool {
        self.destination == BROADCAST
    }

    /// Whether it belongs to a flow or a signalling entry, and not to the network's own housekeeping.
    #[inline]
    pub fn is_of_a_flow(&self) -> bool {
        match &self.pdu {
            Pdu::Tcp(_) | Pdu::Sctp(_) | Pdu::Udp(_, Message::Application(_) | Message::Mih(_)) => {
                !self.is_broadcast()
            }
        }
    }

    /// The socket it is for at its destination.
    pub fn socket_id(&self) -> SocketId {
        match self.pdu {
            Pdu::Tcp(_) => SocketId::Tcp(self.socket),
            Pdu::Udp(..) => SocketId::Udp(self.socket),
            Pdu::Sctp(_) => SocketId::Sctp(self.socket),
        }
    }
}
