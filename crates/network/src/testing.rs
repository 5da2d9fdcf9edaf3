//! What tests share: packets and random streams.

use crate::packet::{AppMessage, Message, Packet, PacketId, Pdu};
use crate::traffic_class::TrafficClass;
use roamsim_engine::{Stream, Time};
use roamsim_protocols::Address;
use roamsim_protocols::tcp::{Flags, Options, Segment};
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
        traffic_class: TrafficClass::default(),
        tunnel: None,
        pdu: Pdu::Udp(datagram, Message::Application(message)),
    }
}

/// A TCP segment of an IPv6 packet, on its way to `socket`.
pub(crate) fn segment(socket: u32, flags: Flags, payload_bytes: u32) -> Packet {
    let segment = Segment {
        source_port: 1,
        destination_port: 2,
        seq: 0,
        ack: 0,
        flags,
        window: 0,
        payload_bytes,
        options: Options::default(),
    };
    Packet { socket, size_bytes: 40 + segment.total_bytes(), pdu: Pdu::Tcp(segment), ..datagram(0) }
}

/// A random stream.
pub(crate) fn stream(name: &str) -> Stream {
    Stream::new(5, 0, name)
}
