//! Packets from outside: octets of IPv4 (RFC 791) or IPv6 (RFC 8200), read once where they come in.
//!
//! The octets are untrusted. What the simulator needs of them is checked here: version, lengths, addresses,
//! the checksum and the options of an IPv4 header, the extension headers of IPv6, protocol and ports, and the
//! traffic class. Nothing else is read, and nothing but the traffic class is ever changed.
//!
//! Also here is what a router makes of a packet that is too large: fragments (RFC 791 section 3.2), or the
//! ICMP error that path MTU discovery waits for (RFC 1191, RFC 8201).
//!
//! Not modelled: hop limits, which are not decremented, and jumbograms (RFC 2675).

use crate::traffic_class::TrafficClass;
use roamsim_protocols::checksum::Sum;
use roamsim_protocols::{sctp, tcp};
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

/// The version of IP that a whole network speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)] // the octets of its header
pub enum IpVersion {
    /// RFC 8200.
    V6 = 40,
    /// RFC 791.
    V4 = 20,
}

impl IpVersion {
    /// Octets of the header: 40 (RFC 8200 section 3), 20 (RFC 791 section 3.1, no options).
    pub const fn header_bytes(self) -> u32 {
        self as u32
    }
}

// The numbers of protocols, as IP has them.
pub(crate) const ICMP: u8 = 1;
pub(crate) const TCP: u8 = 6;
pub(crate) const UDP: u8 = 17;
pub(crate) const SCTP: u8 = 132;
const ICMPV6: u8 = 58;
const DCCP: u8 = 33;
const UDP_LITE: u8 = 136;

/// IPv6 extension headers that a packet may have before its transport (RFC 8200 section 4).
const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
pub(crate) const FRAGMENT: u8 = 44;
const AUTHENTICATION: u8 = 51;
const DESTINATION_OPTIONS: u8 = 60;

/// The header of IPv4 without options, and that of IPv6.
const V4: usize = IpVersion::V4.header_bytes() as usize;
const V6: usize = IpVersion::V6.header_bytes() as usize;

/// Octets of an ICMP error for IPv4, header included: within what every host takes (RFC 1812 section
/// 4.3.2.3).
const MOST_ERROR_V4: usize = 576;
/// The same for IPv6 (RFC 4443 section 2.4).
const MOST_ERROR_V6: usize = 1280;

/// Why a packet from outside is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Refusal {
    /// It is no IP packet: a length, an option or the checksum of its header is wrong.
    Malformed,
    /// It is of another version of IP than the network.
    OtherVersion,
    /// Its source is no address of its node.
    ForeignSource,
    /// Its destination is no address of the network: multicast among others.
    UnknownDestination,
    /// It is too large for its path, and must not or cannot be fragmented.
    TooLarge,
}

impl Refusal {
    /// Every reason, in the order of their declaration.
    pub const ALL: [Refusal; 5] = [
        Refusal::Malformed,
        Refusal::OtherVersion,
        Refusal::ForeignSource,
        Refusal::UnknownDestination,
        Refusal::TooLarge,
    ];
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Refusal::Malformed => "malformed",
            Refusal::OtherVersion => "other version of IP",
            Refusal::ForeignSource => "foreign source",
            Refusal::UnknownDestination => "unknown destination",
            Refusal::TooLarge => "larger than the path MTU",
        })
    }
}

/// The octets of a packet, and what queues ask of them.
#[derive(Clone, Debug)]
pub struct Octets {
    /// Shared, and not copied where a packet is duplicated.
    octets: Arc<Vec<u8>>,
    protocol: u8,
    ports: (u16, u16),
    /// Whether they carry data of an application, as their sender says. Of a program's that is known of TCP
    /// and UDP; all else counts as data.
    has_data: bool,
}

/// Which part of a datagram a fragment is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    /// The datagram's number at its source.
    pub(crate) identification: u32,
    /// Where it begins in the datagram.
    pub(crate) offset: usize,
    /// Whether others come behind it.
    pub(crate) has_more: bool,
    /// Where it begins in the packet.
    pub(crate) start: usize,
}

/// A packet as it came in.
#[derive(Clone, Debug)]
pub struct Incoming {
    /// Its source.
    pub source: IpAddr,
    /// Its destination.
    pub destination: IpAddr,
    /// Its traffic class.
    pub traffic_class: TrafficClass,
    /// Its octets, without any behind its end.
    pub octets: Octets,
}

impl Octets {
    /// All of them.
    pub fn as_slice(&self) -> &[u8] {
        &self.octets
    }

    /// Those of a whole datagram between two ports, and whether it carries data of an application.
    pub(crate) fn of_datagram(whole: Vec<u8>, ports: (u16, u16), has_data: bool) -> Octets {
        Octets { octets: Arc::new(whole), protocol: UDP, ports, has_data }
    }

    /// If they are a fragment of a datagram of UDP: which. Of IPv6 only one with its fragment header first.
    #[cold]
    pub(crate) fn part(&self) -> Option<Part> {
        if self.protocol != UDP || self.ports != (0, 0) {
            return None;
        }
        let octets = self.as_slice();
        let (start, offset, has_more, identification) = if self.is_v4()? {
            let (fields, identification) = (word(octets, 6)?, word(octets, 4)?);
            (v4_header_bytes(octets)?, fields & 0x1FFF, fields & 0x2000 != 0, u32::from(identification))
        } else {
            let (fields, identification) = (word(octets, V6 + 2)?, octets.get(V6 + 4..V6 + 8)?);
            let identification = u32::from_be_bytes(identification.try_into().ok()?);
            // UDP behind the fragment header, and nothing in between.
            if octets[6] != FRAGMENT || octets[V6] != UDP {
                return None;
            }
            (V6 + 8, fields >> 3, fields & 1 != 0, identification)
        };
        let is_fragment = offset > 0 || has_more;
        is_fragment.then(|| Part { identification, offset: usize::from(offset) * 8, has_more, start })
    }

    /// Whether a router may cut them: IPv4 without DF.
    pub(crate) fn may_be_cut(&self) -> bool {
        self.is_v4() == Some(true) && word(self.as_slice(), 6).is_some_and(|fields| fields & 0x4000 == 0)
    }

    /// Whether they carry data of an application.
    pub fn has_data(&self) -> bool {
        self.has_data
    }

    /// The number of the protocol that IP carries.
    pub fn protocol(&self) -> u8 {
        self.protocol
    }

    /// The ports, source first; zero where there are none, as in fragments.
    pub fn ports(&self) -> (u16, u16) {
        self.ports
    }

    /// What a whole datagram of UDP carries; `None` of anything else, and of one whose length is wrong.
    /// Checksums are right: links deliver what they do not lose unaltered.
    pub fn udp_payload(&self) -> Option<&[u8]> {
        let datagram = self.transport(UDP)?;
        datagram.get(8..usize::from(word(datagram, 4)?))
    }

    /// A whole segment of TCP and its payload; `None` of anything else, and where its checksum or an option
    /// is wrong.
    pub(crate) fn tcp_segment(&self) -> Option<(tcp::Segment, &[u8])> {
        let segment = self.transport(TCP)?;
        let addresses = self.octets.get(if self.is_v4()? { 12..V4 } else { 8..V6 })?;
        let pseudo_header = Sum::from(segment.len() as u32).with(addresses).with(&[0, TCP]);
        tcp::wire::decode(segment, Some(pseudo_header.folded())).ok()
    }

    /// A whole packet of SCTP and the user data of its chunks; `None` of anything else, and where its
    /// checksum or a length is wrong.
    pub(crate) fn sctp_packet(&self) -> Option<(sctp::Packet, Vec<u8>)> {
        sctp::wire::decode(self.transport(SCTP)?, true).ok()
    }

    fn is_v4(&self) -> Option<bool> {
        Some(self.octets.first()? >> 4 == 4)
    }

    /// The whole of a protocol with ports behind the header of IP; behind extension headers nothing is looked
    /// for.
    fn transport(&self, protocol: u8) -> Option<&[u8]> {
        let is_v4 = self.is_v4()?;
        let header_bytes = if is_v4 { v4_header_bytes(&self.octets)? } else { V6 };
        let is_whole = self.protocol == protocol && self.ports != (0, 0);
        self.octets.get(header_bytes..).filter(|_| is_whole && (is_v4 || self.octets[6] == protocol))
    }

    /// The octets as they leave, with what queues have said of congestion.
    pub fn leaving(&self, ip: IpVersion, class: TrafficClass) -> Vec<u8> {
        let mut octets = self.octets.to_vec();
        if class_of(ip, &octets) != class {
            set_class(ip, &mut octets, class);
        }
        octets
    }
}

/// The name of a protocol, as traces say it.
pub fn protocol_name(protocol: u8) -> &'static str {
    match protocol {
        TCP => "tcp",
        UDP => "udp",
        SCTP => "sctp",
        ICMP | ICMPV6 => "icmp",
        _ => "ip",
    }
}

/// Reads a packet; octets behind its end are cut off.
pub fn read(ip: IpVersion, octets: &[u8]) -> Result<Incoming, Refusal> {
    let version = octets.first().ok_or(Refusal::Malformed)? >> 4;
    match (ip, version) {
        (IpVersion::V4, 4) => read_v4(octets).ok_or(Refusal::Malformed),
        (IpVersion::V6, 6) => read_v6(octets).ok_or(Refusal::Malformed),
        (_, 4 | 6) => Err(Refusal::OtherVersion),
        _ => Err(Refusal::Malformed),
    }
}

fn read_v4(octets: &[u8]) -> Option<Incoming> {
    let header_bytes = v4_header_bytes(octets)?;
    let header = octets.get(..header_bytes)?;
    let total = usize::from(word(octets, 2)?);
    let whole = octets.get(..total).filter(|_| total >= header_bytes)?;
    if Sum::default().with(header).finish() != 0 || copied_options(&header[V4..]).is_none() {
        return None;
    }
    let offset = usize::from(word(octets, 6)? & 0x1FFF) * 8;
    // What it would be part of is longer than IP allows (RFC 791 section 3.1).
    if offset + total > usize::from(u16::MAX) {
        return None;
    }
    let is_fragment = word(octets, 6)? & 0x3FFF != 0;
    let protocol = header[9];
    let transport = &whole[header_bytes..];
    let ports = if is_fragment { (0, 0) } else { ports(protocol, transport) };
    let has_data = is_fragment || has_data(protocol, transport);
    Some(Incoming {
        source: v4_address(whole, 12)?,
        destination: v4_address(whole, 16)?,
        traffic_class: class_of(IpVersion::V4, whole),
        octets: Octets { octets: Arc::new(whole.to_vec()), protocol, ports, has_data },
    })
}

fn read_v6(octets: &[u8]) -> Option<Incoming> {
    let total = V6 + usize::from(word(octets, 4)?);
    let whole = octets.get(..total)?;
    let (protocol, ports) = v6_transport(whole)?;
    let has_data = whole[6] != protocol || has_data(protocol, &whole[V6..]);
    Some(Incoming {
        source: v6_address(whole, 8)?,
        destination: v6_address(whole, 24)?,
        traffic_class: class_of(IpVersion::V6, whole),
        octets: Octets { octets: Arc::new(whole.to_vec()), protocol, ports, has_data },
    })
}

/// Behind the extension headers: protocol and ports.
fn v6_transport(whole: &[u8]) -> Option<(u8, (u16, u16))> {
    let (mut next, mut at, mut is_fragment) = (*whole.get(6)?, V6, false);
    loop {
        let length = match next {
            HOP_BY_HOP | ROUTING | DESTINATION_OPTIONS => 8 * (1 + usize::from(*whole.get(at + 1)?)),
            // In words of four octets, less two (RFC 4302 section 2.2).
            AUTHENTICATION => 4 * (2 + usize::from(*whole.get(at + 1)?)),
            FRAGMENT => {
                let offset_and_flag = word(whole, at + 2)?;
                is_fragment |= offset_and_flag & 0xFFF9 != 0;
                if offset_and_flag & 0xFFF8 != 0 {
                    // What follows is the middle of something.
                    return Some((*whole.get(at)?, (0, 0)));
                }
                8
            }
            protocol if is_fragment => return Some((protocol, (0, 0))),
            protocol => return Some((protocol, ports(protocol, &whole[at..]))),
        };
        next = *whole.get(at)?;
        at += length;
        whole.get(at..)?;
    }
}

/// The ports of a transport that has some, zero where they are cut off.
fn ports(protocol: u8, transport: &[u8]) -> (u16, u16) {
    match protocol {
        TCP | UDP | DCCP | SCTP | UDP_LITE => word(transport, 0).zip(word(transport, 2)).unwrap_or((0, 0)),
        _ => (0, 0),
    }
}

/// Whether a transport carries more than its header. What it cannot be told of does.
fn has_data(protocol: u8, transport: &[u8]) -> bool {
    match protocol {
        TCP => transport.get(12).is_none_or(|offset| transport.len() > usize::from(offset >> 4) * 4),
        UDP => transport.len() > 8,
        _ => true,
    }
}

fn word(octets: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(octets.get(at..at + 2)?.try_into().ok()?))
}

fn v4_address(octets: &[u8], at: usize) -> Option<IpAddr> {
    Some(IpAddr::from(<[u8; 4]>::try_from(octets.get(at..at + 4)?).ok()?))
}

fn v6_address(octets: &[u8], at: usize) -> Option<IpAddr> {
    Some(IpAddr::from(<[u8; 16]>::try_from(octets.get(at..at + 16)?).ok()?))
}

/// The length of an IPv4 header, if it is one.
fn v4_header_bytes(octets: &[u8]) -> Option<usize> {
    Some(usize::from(octets.first()? & 0x0F) * 4).filter(|&bytes| bytes >= V4)
}

/// The options of an IPv4 header that every fragment has a copy of; `None` where they are malformed.
fn copied_options(mut options: &[u8]) -> Option<Vec<u8>> {
    let mut copied = Vec::new();
    while let Some(&kind) = options.first() {
        let length = match kind {
            // End of the list, and padding of one octet.
            0 => break,
            1 => 1,
            _ => usize::from(*options.get(1)?),
        };
        if length == 0 || (kind != 1 && length < 2) {
            return None;
        }
        let option = options.get(..length)?;
        if kind & 0x80 != 0 {
            copied.extend(option);
        }
        options = &options[length..];
    }
    copied.resize(copied.len().next_multiple_of(4), 0);
    Some(copied)
}

/// The traffic class in a header.
fn class_of(ip: IpVersion, octets: &[u8]) -> TrafficClass {
    TrafficClass::of_octet(match ip {
        IpVersion::V6 => octets[0] << 4 | octets[1] >> 4,
        IpVersion::V4 => octets[1],
    })
}

/// Writes a traffic class into the header of a whole packet; an IPv6 flow label stays.
pub fn set_class(ip: IpVersion, octets: &mut [u8], class: TrafficClass) {
    let class = class.octet();
    match ip {
        // Version, traffic class, flow label (RFC 8200 section 3).
        IpVersion::V6 => {
            octets[0] = 0x60 | class >> 4;
            octets[1] = class << 4 | octets[1] & 0x0F;
        }
        IpVersion::V4 => {
            octets[1] = class;
            write_v4_checksum(octets);
        }
    }
}

fn write_v4_checksum(octets: &mut [u8]) {
    let header_bytes = v4_header_bytes(octets).unwrap_or(V4).min(octets.len());
    octets[10..12].fill(0);
    let checksum = Sum::default().with(&octets[..header_bytes]).finish();
    octets[10..12].copy_from_slice(&checksum.to_be_bytes());
}

/// The whole packet of UDP whose first fragment this is, with what all of them carry; `None` where that is
/// more than a packet has.
pub(crate) fn around(ip: IpVersion, first: &[u8], carried: &[u8]) -> Option<Vec<u8>> {
    let header_bytes = match ip {
        IpVersion::V4 => v4_header_bytes(first)?,
        IpVersion::V6 => V6,
    };
    let mut whole = [first.get(..header_bytes)?, carried].concat();
    match ip {
        IpVersion::V4 => {
            let total = u16::try_from(whole.len()).ok()?;
            whole[2..4].copy_from_slice(&total.to_be_bytes());
            whole[6..8].fill(0);
            write_v4_checksum(&mut whole);
        }
        IpVersion::V6 => {
            let length = u16::try_from(carried.len()).ok()?;
            whole[4..6].copy_from_slice(&length.to_be_bytes());
            whole[6] = UDP;
        }
    }
    Some(whole)
}

/// What a router makes of a packet that is larger than the MTU of its path.
#[derive(Debug, PartialEq, Eq)]
pub enum Oversized {
    /// Its fragments, in order.
    Fragments(Vec<Vec<u8>>),
    /// The error that its source gets.
    Error(Vec<u8>),
    /// Nothing: it is an ICMP error, or a fragment behind the first one (RFC 1122 section 3.2.2, RFC 4443
    /// section 2.4).
    Nothing,
}

/// Deals with a packet larger than `mtu_bytes`, which its source can learn from an ICMP error of `router`.
pub fn oversized(octets: &Octets, mtu_bytes: u32, router: IpAddr) -> Oversized {
    let whole = octets.as_slice();
    let flags_and_offset = word(whole, 6).unwrap_or(0);
    let is_v4 = router.is_ipv4();
    if is_v4 && flags_and_offset & 0x4000 == 0 {
        return fragments(whole, mtu_bytes as usize).map_or(Oversized::Nothing, Oversized::Fragments);
    }
    let is_later_fragment = is_v4 && flags_and_offset & 0x1FFF != 0;
    let header_bytes = if is_v4 { v4_header_bytes(whole).unwrap_or(V4) } else { V6 };
    let kind = whole.get(header_bytes).copied().unwrap_or(0);
    let is_error = match octets.protocol {
        // All but echoes, timestamps and discoveries (RFC 1122 section 3.2.2).
        ICMP => matches!(kind, 3 | 4 | 5 | 11 | 12),
        // Behind extension headers its type is not looked for: no error is sent then.
        ICMPV6 => kind < 128 || whole[6] != ICMPV6,
        _ => false,
    };
    if is_error || is_later_fragment {
        return Oversized::Nothing;
    }
    Oversized::Error(match router {
        IpAddr::V4(router) => fragmentation_needed(whole, header_bytes, mtu_bytes, router),
        IpAddr::V6(router) => packet_too_big(whole, mtu_bytes, router),
    })
}

/// Destination Unreachable, fragmentation needed and DF set (RFC 792, RFC 1191 section 4).
fn fragmentation_needed(whole: &[u8], header_bytes: usize, mtu_bytes: u32, router: Ipv4Addr) -> Vec<u8> {
    // The header and as much behind it as there is room for (RFC 1812 section 4.3.2.3); eight octets at
    // least.
    let most = (MOST_ERROR_V4 - V4 - 8).max(header_bytes + 8);
    let quoted = &whole[..whole.len().min(most)];
    let mut octets = vec![0x45, 0];
    octets.extend(((V4 + 8 + quoted.len()) as u16).to_be_bytes());
    octets.extend([0, 0, 0, 0, 64, ICMP, 0, 0]);
    octets.extend(router.octets());
    octets.extend(&whole[12..16]);
    octets.extend([3, 4, 0, 0, 0, 0]);
    octets.extend((mtu_bytes as u16).to_be_bytes());
    octets.extend(quoted);
    let checksum = Sum::default().with(&octets[V4..]).finish();
    octets[V4 + 2..V4 + 4].copy_from_slice(&checksum.to_be_bytes());
    write_v4_checksum(&mut octets);
    octets
}

/// Packet Too Big (RFC 4443 section 3.2).
fn packet_too_big(whole: &[u8], mtu_bytes: u32, router: Ipv6Addr) -> Vec<u8> {
    let quoted = &whole[..whole.len().min(MOST_ERROR_V6 - V6 - 8)];
    let length = (8 + quoted.len()) as u16;
    let mut octets = vec![0x60, 0, 0, 0];
    octets.extend(length.to_be_bytes());
    octets.extend([ICMPV6, 64]);
    octets.extend(router.octets());
    octets.extend(&whole[8..24]);
    octets.extend([2, 0, 0, 0]);
    octets.extend(mtu_bytes.to_be_bytes());
    octets.extend(quoted);
    let pseudo_header = Sum::from(u32::from(length)).with(&octets[8..40]).with(&[0, ICMPV6]);
    let checksum = pseudo_header.with(&octets[V6..]).finish();
    octets[V6 + 2..V6 + 4].copy_from_slice(&checksum.to_be_bytes());
    octets
}

/// Fragments of at most so many octets; `None` where not even eight octets of data have room in one.
fn fragments(whole: &[u8], mtu_bytes: usize) -> Option<Vec<Vec<u8>>> {
    let header_bytes = v4_header_bytes(whole)?;
    let (header, data) = whole.split_at_checked(header_bytes)?;
    let later = [&header[..V4], &copied_options(&header[V4..])?].concat();
    let flags_and_offset = word(whole, 6)?;
    let mut fragments = Vec::new();
    let mut done = 0;
    while done < data.len() {
        let mut fragment = if done == 0 { header.to_vec() } else { later.clone() };
        let header_bytes = fragment.len();
        let room = mtu_bytes.checked_sub(header_bytes)?;
        let (room, is_last) = match data.len() - done {
            rest if rest <= room => (rest, true),
            _ => (room & !7, false),
        };
        if room == 0 {
            return None;
        }
        fragment.extend(&data[done..done + room]);
        fragment[0] = 0x40 | (header_bytes / 4) as u8;
        let length = (fragment.len() as u16).to_be_bytes();
        fragment[2..4].copy_from_slice(&length);
        // More fragments follow, or followed the packet, which may be a fragment itself.
        let more = if is_last { flags_and_offset & 0x2000 } else { 0x2000 };
        let offset = flags_and_offset.wrapping_add((done / 8) as u16) & 0x1FFF;
        fragment[6..8].copy_from_slice(&(more | offset).to_be_bytes());
        write_v4_checksum(&mut fragment);
        fragments.push(fragment);
        done += room;
    }
    Some(fragments)
}

#[cfg(test)]
mod tests;
