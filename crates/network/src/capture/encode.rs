//! Octets of packets: IPv6 (RFC 8200) or IPv4 (RFC 791) around what the protocols encode.
//!
//! Addresses are chosen, or from the documentation prefix 2001:db8::/32 (RFC 3849) or 10.0.0.0/8 (RFC 1918).

use crate::octets::{FRAGMENT, UDP, set_class};
use crate::packet::{Fragment, Icmp, IpVersion, Packet, PacketId, Pdu};
use crate::traffic_class::TrafficClass;
use roamsim_protocols::checksum::Sum;
use roamsim_protocols::mobile_ip::AgentSolicitation;
use roamsim_protocols::mobile_ip::wire::tunnel::OuterHeader;
use roamsim_protocols::udp::Datagram;
use roamsim_protocols::{Address, IpAddresses, sctp, tcp};

/// The hop limit recommended by RFC 1700.
const HOP_LIMIT: u8 = 64;

/// The version of IP, and how addresses are written.
type Form<'a> = (IpVersion, &'a IpAddresses);

/// An address as IP writes it, in `room`.
fn address_octets<'r>((ip, addresses): Form<'_>, address: Address, room: &'r mut [u8; 16]) -> &'r [u8] {
    match ip {
        IpVersion::V6 => {
            *room = addresses.v6(address).octets();
            room
        }
        IpVersion::V4 => {
            let octets = addresses.v4(address).octets();
            room[..octets.len()].copy_from_slice(&octets);
            &room[..octets.len()]
        }
    }
}

/// The outer header of a packet in a tunnel, which IPv4 alone has here.
pub fn outer_header(packet: &Packet, addresses: &IpAddresses) -> OuterHeader {
    OuterHeader {
        source: addresses.v4(packet.source),
        destination: addresses.v4(packet.destination),
        type_of_service: packet.traffic_class.octet(),
        identification: packet.id.0 as u16,
        dont_fragment: true,
        ttl: HOP_LIMIT,
    }
}

/// The packet's octets. `payload` is what its datagram, segment or DATA chunks carry.
pub fn packet(form: Form<'_>, packet: &Packet, payload: &[u8]) -> Vec<u8> {
    let (ip, addresses) = form;
    let mut rooms = [[0; 16]; 2];
    let [of_source, of_destination] = &mut rooms;
    let source = address_octets(form, packet.source, of_source);
    let destination = address_octets(form, packet.destination, of_destination);
    let length = packet.size_bytes - ip.header_bytes();
    let protocol = packet.pdu.protocol();
    // RFC 8200 section 8.1 and RFC 9293 section 3.1: addresses, length, protocol.
    let pseudo_header = Sum::from(length).with(source).with(destination).with(&[0, protocol]);
    let transport = match &packet.pdu {
        Pdu::Tcp(segment) => {
            let mut octets = Vec::new();
            tcp::wire::encode(segment, payload, pseudo_header.folded(), &mut octets);
            octets
        }
        Pdu::Udp(datagram, _) => datagram.encode(pseudo_header, payload),
        Pdu::Fragment(fragment) => return self::fragment(form, packet, fragment, payload),
        // Its checksum covers no pseudo header (RFC 9260 6.8).
        Pdu::Sctp(packet) => {
            let mut octets = Vec::new();
            sctp::wire::encode(&packet.chosen(addresses), payload, &mut octets);
            octets
        }
        Pdu::Icmp(Icmp::AgentAdvertisement(advertisement)) => advertisement.encode(),
        Pdu::Icmp(Icmp::AgentSolicitation) => AgentSolicitation.encode(),
        Pdu::Octets(octets) => return octets.leaving(ip, packet.traffic_class),
    };
    // Agent discovery stays on its link (RFC 5944 section 2.1).
    let hop_limit = if matches!(packet.pdu, Pdu::Icmp(_)) { 1 } else { HOP_LIMIT };
    let of_packet = (packet.id, packet.traffic_class);
    let mut octets = header(ip, [source, destination], (protocol, hop_limit), of_packet, transport.len());
    octets.extend(transport);
    octets
}

/// The octets of a fragment; `payload` is that of the whole datagram.
fn fragment(form: Form<'_>, packet: &Packet, fragment: &Fragment, payload: &[u8]) -> Vec<u8> {
    let mut rooms = [[0; 16]; 2];
    let [of_source, of_destination] = &mut rooms;
    let source = address_octets(form, packet.source, of_source);
    let destination = address_octets(form, packet.destination, of_destination);
    let length = fragment.datagram.total_bytes();
    let pseudo_header = Sum::from(length).with(source).with(destination).with(&[0, UDP]);
    let whole = fragment.datagram.encode(pseudo_header, payload);
    let part = &whole[fragment.offset_bytes as usize..][..fragment.bytes as usize];
    // Offsets count eight octets (RFC 791 section 3.1, RFC 8200 section 4.5).
    let (eights, more) = ((fragment.offset_bytes / 8) as u16, fragment.more_fragments());
    let (next_header, fragment_header) = match form.0 {
        IpVersion::V4 => (UDP, Vec::new()),
        IpVersion::V6 => {
            let fields = (eights << 3 | u16::from(more)).to_be_bytes();
            let identification = (fragment.identification as u32).to_be_bytes();
            (FRAGMENT, [&[UDP, 0][..], &fields, &identification].concat())
        }
    };
    let of_packet = (PacketId(fragment.identification), packet.traffic_class);
    let carried_bytes = fragment_header.len() + part.len();
    let mut octets =
        header(form.0, [source, destination], (next_header, HOP_LIMIT), of_packet, carried_bytes);
    if form.0 == IpVersion::V4 {
        octets[6..8].copy_from_slice(&(u16::from(more) << 13 | eights).to_be_bytes());
        set_class(form.0, &mut octets, packet.traffic_class); // for the checksum
    }
    octets.extend(fragment_header);
    octets.extend(part);
    octets
}

/// The octets of a datagram from one address to another.
pub fn datagram(
    form: Form<'_>,
    (source, destination): (Address, Address),
    (id, traffic_class): (PacketId, TrafficClass),
    datagram: Datagram,
    payload: &[u8],
) -> Vec<u8> {
    let mut rooms = [[0; 16]; 2];
    let [of_source, of_destination] = &mut rooms;
    let source = address_octets(form, source, of_source);
    let destination = address_octets(form, destination, of_destination);
    let pseudo_header = Sum::from(datagram.total_bytes()).with(source).with(destination).with(&[0, UDP]);
    let (of_packet, bytes) = ((id, traffic_class), datagram.total_bytes() as usize);
    let mut octets = header(form.0, [source, destination], (UDP, HOP_LIMIT), of_packet, bytes);
    datagram.append(pseudo_header, payload, &mut octets);
    octets
}

/// The header of IP, with room for the octets that it carries.
fn header(
    ip: IpVersion,
    [source, destination]: [&[u8]; 2],
    (protocol, hop_limit): (u8, u8),
    (id, traffic_class): (PacketId, TrafficClass),
    carried_bytes: usize,
) -> Vec<u8> {
    let size_bytes = ip.header_bytes() as usize + carried_bytes;
    let mut octets = Vec::with_capacity(size_bytes);
    match ip {
        IpVersion::V6 => {
            octets.extend([0; 4]);
            octets.extend((carried_bytes as u16).to_be_bytes());
            octets.extend([protocol, hop_limit]);
        }
        IpVersion::V4 => {
            octets.extend([0x45, 0]);
            octets.extend((size_bytes as u16).to_be_bytes());
            octets.extend((id.0 as u16).to_be_bytes());
            // Don't fragment.
            octets.extend([0x40, 0, hop_limit, protocol, 0, 0]);
        }
    }
    octets.extend(source);
    octets.extend(destination);
    set_class(ip, &mut octets, traffic_class);
    octets
}
