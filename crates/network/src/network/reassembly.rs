//! Fragments of datagrams that programs send to simulated sockets of UDP, put together where they come in
//! (RFC 791 section 3.2, RFC 8200 section 4.5). The whole datagram then crosses the network in fragments of
//! the simulation, cut to its path.
//!
//! Fragments are untrusted: parts that overlap (RFC 5722) or exceed a packet make no datagram. Parts of one
//! that is not whole after 30 s (Linux, `ipfrag_time`), or when 64 others have begun (chosen), go on as they
//! came.

use crate::octets::{self, Incoming, Part};
use crate::packet::IpVersion;
use roamsim_engine::{Span, Time};
use roamsim_protocols::Address;
use std::collections::VecDeque;

/// How long parts wait for the others.
const TIMEOUT: Span = Span::from_secs(30);

/// Datagrams that may be incomplete at a time.
const MOST: usize = 64;

/// A packet of a program, with the addresses that it goes from and to.
pub(crate) type Taken = ([Address; 2], Incoming);

/// Parts of a datagram.
#[derive(Clone, Debug)]
struct Incomplete {
    addresses: [Address; 2],
    identification: u32,
    since: Time,
    parts: Vec<(Part, Incoming)>,
}

/// Datagrams that are incomplete, by the time of their first part.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reassembly {
    waiting: VecDeque<Incomplete>,
    abandoned: VecDeque<Taken>,
}

impl Reassembly {
    /// Takes a part; returns the datagram that it completes.
    pub(crate) fn take(&mut self, ip: IpVersion, now: Time, taken: Taken, part: Part) -> Option<Taken> {
        while self.waiting.front().is_some_and(|first| now >= first.since + TIMEOUT) {
            self.abandon_first();
        }
        let (addresses, incoming) = taken;
        let known = self
            .waiting
            .iter()
            .position(|of| (of.addresses, of.identification) == (addresses, part.identification));
        let at = known.unwrap_or_else(|| {
            if self.waiting.len() == MOST {
                self.abandon_first();
            }
            let identification = part.identification;
            self.waiting.push_back(Incomplete { addresses, identification, since: now, parts: Vec::new() });
            self.waiting.len() - 1
        });
        let datagram = &mut self.waiting[at];
        let place = datagram.parts.partition_point(|(before, _)| before.offset < part.offset);
        datagram.parts.insert(place, (part, incoming));
        let whole = whole(ip, &datagram.parts)?;
        self.waiting.remove(at);
        Some((addresses, whole))
    }

    /// The next part that waited in vain.
    pub(crate) fn poll_abandoned(&mut self) -> Option<Taken> {
        self.abandoned.pop_front()
    }

    fn abandon_first(&mut self) {
        if let Some(first) = self.waiting.pop_front() {
            let parts = first.parts.into_iter().map(|(_, incoming)| (first.addresses, incoming));
            self.abandoned.extend(parts);
        }
    }
}

/// The datagram of parts in order, if they are all there.
fn whole(ip: IpVersion, parts: &[(Part, Incoming)]) -> Option<Incoming> {
    let mut carried = Vec::new();
    for (number, (part, incoming)) in parts.iter().enumerate() {
        let is_last = number + 1 == parts.len();
        if part.offset != carried.len() || part.has_more == is_last {
            return None;
        }
        carried.extend_from_slice(incoming.octets.as_slice().get(part.start..)?);
    }
    let (_, first) = parts.first()?;
    octets::read(ip, &octets::around(ip, first.octets.as_slice(), &carried)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::encode;
    use crate::packet::{AppMessage, Fragment, Message, Packet, PacketId, Pdu};
    use crate::traffic_class::TrafficClass;
    use roamsim_protocols::IpAddresses;
    use roamsim_protocols::udp::Datagram;

    const ENDS: [Address; 2] = [Address(0), Address(1)];

    fn payload() -> Vec<u8> {
        (0..5000_u32).map(|octet| (octet * 7 % 256) as u8).collect()
    }

    /// The fragments of a datagram with 5000 octets, each of so many and the last with the rest.
    fn parts(ip: IpVersion, bytes: u32) -> Vec<(Taken, Part)> {
        let datagram = Datagram { source_port: 9, destination_port: 7, payload_bytes: 5000 };
        let message = AppMessage { sequence: 0, generated: Time::ZERO, bytes: 5000 };
        let addresses = IpAddresses::default();
        let part = |offset_bytes: u32| {
            let bytes = bytes.min(datagram.total_bytes() - offset_bytes);
            let message = Message::Application(message);
            let fragment = Fragment { identification: 77, offset_bytes, bytes, datagram, message };
            let header_bytes = if ip == IpVersion::V6 { Fragment::HEADER_BYTES } else { 0 };
            let packet = Packet {
                id: PacketId(77),
                source: ENDS[0],
                destination: ENDS[1],
                socket: 0,
                size_bytes: ip.header_bytes() + header_bytes + bytes,
                traffic_class: TrafficClass::default(),
                tunnel: None,
                pdu: Pdu::Fragment(Box::new(fragment)),
            };
            let octets = encode::packet((ip, &addresses), &packet, &payload());
            let incoming = octets::read(ip, &octets).expect("a packet");
            let part = incoming.octets.part().expect("a part");
            ((ENDS, incoming), part)
        };
        (0..datagram.total_bytes()).step_by(bytes as usize).map(part).collect()
    }

    #[test]
    fn parts_in_any_order_make_the_datagram() {
        for ip in [IpVersion::V4, IpVersion::V6] {
            let parts = parts(ip, 1448);
            assert_eq!(parts.len(), 4);
            let mut reassembly = Reassembly::default();
            let mut whole = None;
            for number in [2, 0, 3, 1] {
                assert!(whole.is_none());
                let (taken, part) = parts[number].clone();
                whole = reassembly.take(ip, Time::ZERO, taken, part);
            }
            let (addresses, incoming) = whole.expect("a datagram");
            assert_eq!((addresses, incoming.octets.ports()), (ENDS, (9, 7)));
            assert_eq!(incoming.octets.udp_payload(), Some(&payload()[..]));
            assert!(reassembly.waiting.is_empty());
        }
    }

    /// One that overlaps another makes no datagram (RFC 5722). Parts wait for 30 s, and then go on.
    #[test]
    fn parts_that_overlap_or_are_alone_are_given_up() {
        let mut reassembly = Reassembly::default();
        let ip = IpVersion::V4;
        let (all, others) = (parts(ip, 1448), parts(ip, 1440));
        for (taken, part) in [&all[0], &others[1], &all[1], &all[2], &all[3]].map(Clone::clone) {
            assert!(reassembly.take(ip, Time::ZERO, taken, part).is_none());
        }
        let (taken, part) = all[0].clone();
        let other = Part { identification: 78, ..part };
        assert!(reassembly.take(ip, Time::ZERO + Span::from_secs(29), taken.clone(), other).is_none());
        assert!(reassembly.poll_abandoned().is_none());
        assert!(reassembly.take(ip, Time::ZERO + Span::from_secs(30), taken, other).is_none());
        assert_eq!(std::iter::from_fn(|| reassembly.poll_abandoned()).count(), 5);
    }

    #[test]
    fn the_oldest_makes_room() {
        let mut reassembly = Reassembly::default();
        let (taken, part) = parts(IpVersion::V4, 1448).remove(0);
        for identification in 0..=MOST as u32 {
            let part = Part { identification, ..part };
            assert!(reassembly.take(IpVersion::V4, Time::ZERO, taken.clone(), part).is_none());
        }
        assert_eq!(reassembly.waiting.len(), MOST);
        assert!(reassembly.poll_abandoned().is_some() && reassembly.poll_abandoned().is_none());
    }
}
