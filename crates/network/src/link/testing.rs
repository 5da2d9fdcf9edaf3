//! What the tests of links share: packets and random streams.

use crate::packet::{AppMessage, Message, Packet, PacketId, Pdu};
use roamsim_engine::{Stream, Time};
use roamsim_protocols::Address;
use roamsim_protocols::udp::Datagram;

/// A packet of `bytes` octets.
pub(crate) fn datagram(bytes: u32) -> Packet {
    let datagram = Datagram { source_port: 1, destination_port: 2, payload_bytes: bytes.saturating_sub(48) };
    let message = AppMessage { sequence: 0, generated: Time::ZERO, bytes: bytes.saturating_sub(48) };
    Packet {
        id: PacketId(0),
        source: Address(0),
        destination: Address(1),
        socket: 0,
        size_bytes: bytes,
        pdu: Pdu::Udp(datagram, Message::Application(message)),
    }
}

/// A random stream.
pub(crate) fn stream(name: &str) -> Stream {
    Stream::new(5, 0, name)
}
