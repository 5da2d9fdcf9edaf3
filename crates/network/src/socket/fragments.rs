//! Fragmentation by the source and reassembly by the destination: IPv4 (RFC 791 section 3.2), IPv6 (RFC 8200
//! section 4.5). A datagram that exceeds a packet of its path leaves in fragments.
//!
//! A host that knows the MTU of the path cuts so. Links and routers do not cut: they drop what exceeds them.
//! Identifications do not repeat, so that fragments of different datagrams are never put together (RFC 4963),
//! and memory for incomplete datagrams is not limited.

use crate::packet::{Fragment, IpVersion, Message};
use roamsim_engine::{Span, Time};
use roamsim_protocols::udp::Datagram;
use std::collections::BTreeMap;

/// The unit of offsets (RFC 791 section 3.1, RFC 8200 section 4.5).
const UNIT_BYTES: u32 = 8;

/// How long a packet may live (RFC 791 section 3.2: a time to live of 255 s). Until then another fragment of
/// a lost datagram may be lost.
const PACKET_LIFETIME: Span = Span::from_secs(255);

/// Octets of a datagram, UDP header included, in each fragment but the last of a path that carries
/// `ip_payload_bytes` behind the IP header.
fn fragment_bytes(ip: IpVersion, ip_payload_bytes: u32) -> u32 {
    let payload_bytes = ip_payload_bytes.saturating_sub(header_bytes(ip));
    (payload_bytes - payload_bytes % UNIT_BYTES).max(UNIT_BYTES)
}

/// Octets that a fragment has beside the IP header and its part of the datagram.
pub(super) fn header_bytes(ip: IpVersion) -> u32 {
    match ip {
        IpVersion::V4 => 0,
        IpVersion::V6 => Fragment::HEADER_BYTES,
    }
}

/// What a socket of UDP cuts and puts together.
#[derive(Clone, Debug)]
pub(crate) struct Fragmentation {
    /// The datagram that is being cut: its identification, and the octets that have left.
    cutting: Option<(u64, u32)>,
    /// Datagrams of which a fragment has arrived or was lost, by identification.
    incomplete: BTreeMap<u64, Incomplete>,
    /// How long an incomplete datagram is kept.
    timeout: Span,
    fragmented: u64,
    timeouts: u64,
    /// When the messages were written that are lost as their datagrams were given up, and not yet told.
    given_up: Vec<Time>,
}

#[derive(Clone, Debug)]
struct Incomplete {
    /// When its message was written.
    written: Time,
    /// When the first of its fragments arrived; until then when one was lost.
    since: Time,
    /// The lengths of its parts, by their offsets.
    parts: BTreeMap<u32, u32>,
    /// Whether it counts as lost: one of its fragments was lost, or it was given up.
    lost: bool,
}

impl Incomplete {
    /// Whether what has arrived of it is given up at this time.
    fn has_expired(&self, now: Time, timeout: Span) -> bool {
        !self.parts.is_empty() && now >= self.since + timeout
    }

    /// How long something is known of it. A lost one is not to be lost once more.
    fn kept(&self, timeout: Span) -> Span {
        if self.lost { timeout.max(PACKET_LIFETIME) } else { timeout }
    }
}

impl Fragmentation {
    pub(crate) fn new(timeout: Span) -> Fragmentation {
        Fragmentation {
            cutting: None,
            incomplete: BTreeMap::new(),
            timeout,
            fragmented: 0,
            timeouts: 0,
            given_up: Vec::new(),
        }
    }

    /// Datagrams that left in fragments.
    pub(super) fn fragmented(&self) -> u64 {
        self.fragmented
    }

    /// Datagrams that were given up by this time because fragments of them did not arrive in time.
    pub(super) fn timeouts(&self, now: Time) -> u64 {
        let expired = self.incomplete.values().filter(|datagram| datagram.has_expired(now, self.timeout));
        self.timeouts + expired.count() as u64
    }

    /// When the messages were written whose datagrams have been given up by this time and were not lost
    /// before, since it was asked last. A datagram may be given up several times, and is lost once.
    pub(super) fn take_given_up(&mut self, now: Time) -> Vec<Time> {
        let Fragmentation { incomplete, timeout, timeouts, given_up, .. } = self;
        for datagram in incomplete.values_mut() {
            *timeouts += u64::from(expire(datagram, now, *timeout, given_up));
        }
        std::mem::take(given_up)
    }

    /// The next fragment, in the packet with the number `packet`, and whether it is the last.
    pub(crate) fn cut(
        &mut self,
        (ip, ip_payload_bytes): (IpVersion, u32),
        packet: u64,
        datagram: Datagram,
        message: &Message,
    ) -> (Fragment, bool) {
        let (identification, offset_bytes) = self.cutting.unwrap_or((packet, 0));
        let left_bytes = datagram.total_bytes() - offset_bytes;
        let bytes = left_bytes.min(fragment_bytes(ip, ip_payload_bytes));
        let last = bytes == left_bytes;
        self.fragmented += u64::from(offset_bytes == 0);
        self.cutting = (!last).then_some((identification, offset_bytes + bytes));
        (Fragment { identification, offset_bytes, bytes, datagram, message: message.clone() }, last)
    }

    /// Takes a fragment. Returns the message of the datagram that it completes.
    pub(super) fn take(&mut self, now: Time, fragment: Fragment) -> Option<Message> {
        let datagram = self.entry(now, fragment.identification, fragment.message.written());
        if datagram.parts.is_empty() {
            datagram.since = now;
        }
        datagram.parts.insert(fragment.offset_bytes, fragment.bytes);
        if datagram.parts.values().sum::<u32>() < fragment.datagram.total_bytes() {
            return None;
        }
        self.incomplete.remove(&fragment.identification);
        Some(fragment.message)
    }

    /// A fragment of a message that was written then was lost on its way. Returns whether its datagram was
    /// not lost before.
    pub(super) fn lose(&mut self, now: Time, identification: u64, written: Time) -> bool {
        let datagram = self.entry(now, identification, written);
        !std::mem::replace(&mut datagram.lost, true)
    }

    /// What is known of a datagram, after others were given up.
    fn entry(&mut self, now: Time, identification: u64, written: Time) -> &mut Incomplete {
        let Fragmentation { incomplete, timeout, timeouts, given_up, .. } = self;
        // Later datagrams have greater numbers, so the oldest is mostly the first.
        while let Some(mut first) = incomplete.first_entry() {
            *timeouts += u64::from(expire(first.get_mut(), now, *timeout, given_up));
            if now < first.get().since + first.get().kept(*timeout) {
                break;
            }
            first.remove();
        }
        let datagram = incomplete.entry(identification).or_insert_with(|| Incomplete {
            written,
            since: now,
            parts: BTreeMap::new(),
            lost: false,
        });
        *timeouts += u64::from(expire(datagram, now, *timeout, given_up));
        datagram
    }
}

/// Gives up what has arrived of a datagram if its time is over, which is then lost. Whether it was.
fn expire(datagram: &mut Incomplete, now: Time, timeout: Span, given_up: &mut Vec<Time>) -> bool {
    let expired = datagram.has_expired(now, timeout);
    if expired {
        datagram.parts.clear();
        if !std::mem::replace(&mut datagram.lost, true) {
            given_up.push(datagram.written);
        }
    }
    expired
}

/// A fragment in words, for packet stories.
pub(crate) fn describe(fragment: &Fragment, message: &str) -> String {
    let end = fragment.offset_bytes + fragment.bytes;
    format!("{message}, octets {} to {} of its datagram", fragment.offset_bytes, end - 1)
}

/// Octets of a packet with a fragment of so many octets.
pub(crate) fn packet_bytes(ip: IpVersion, fragment: &Fragment) -> u32 {
    ip.header_bytes() + header_bytes(ip) + fragment.bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::AppMessage;

    const TIMEOUT: Span = Span::from_secs(60);

    fn at(seconds: u64) -> Time {
        Time::ZERO + Span::from_secs(seconds)
    }

    /// The fragments of a message of 5000 octets on a path of 1500, from this packet on.
    fn cut(ip: IpVersion, first: u64) -> Vec<Fragment> {
        let message = Message::Application(AppMessage { sequence: first, generated: at(0), bytes: 5000 });
        let datagram = Datagram { source_port: 1, destination_port: 2, payload_bytes: 5000 };
        let mut fragmentation = Fragmentation::new(TIMEOUT);
        let mut fragments = Vec::new();
        for packet in first.. {
            let path = (ip, 1500 - ip.header_bytes());
            let (fragment, last) = fragmentation.cut(path, packet, datagram, &message);
            assert_eq!(last, !fragment.more_fragments());
            fragments.push(fragment);
            if last {
                break;
            }
        }
        assert_eq!(fragmentation.fragmented(), 1);
        fragments
    }

    fn parts(fragments: &[Fragment]) -> Vec<(u32, u32)> {
        fragments.iter().map(|one| (one.offset_bytes, one.bytes)).collect()
    }

    #[test]
    fn cuts_at_multiples_of_eight_octets() {
        // 5008 octets with the UDP header. 1480 fit behind the header of IPv4, and 1480 = 185 x 8.
        let v4 = cut(IpVersion::V4, 7);
        assert_eq!(parts(&v4), [(0, 1480), (1480, 1480), (2960, 1480), (4440, 568)]);
        assert!(v4.iter().all(|one| one.identification == 7));
        assert_eq!(packet_bytes(IpVersion::V4, &v4[3]), 588);
        // 1452 fit behind the headers of IPv6 and of the fragment, of which 1448 = 181 x 8.
        let v6 = cut(IpVersion::V6, 7);
        assert_eq!(parts(&v6), [(0, 1448), (1448, 1448), (2896, 1448), (4344, 664)]);
        assert_eq!(packet_bytes(IpVersion::V6, &v6[3]), 712);
    }

    #[test]
    fn completes_with_the_last_missing_fragment_in_any_order() {
        let mut receiver = Fragmentation::new(TIMEOUT);
        let fragments = cut(IpVersion::V4, 0);
        for number in [3, 1, 1, 0] {
            assert!(receiver.take(at(1), fragments[number].clone()).is_none(), "fragment {number}");
        }
        let message = receiver.take(at(60), fragments[2].clone()).expect("all are there");
        assert_eq!(message.bytes(), 5000);
        assert_eq!(receiver.timeouts(at(1000)), 0);
    }

    #[test]
    fn gives_up_after_the_timeout_of_the_first_fragment() {
        let mut receiver = Fragmentation::new(TIMEOUT);
        let fragments = cut(IpVersion::V4, 0);
        for fragment in &fragments[..3] {
            assert!(receiver.take(at(1), fragment.clone()).is_none());
        }
        assert_eq!([60, 61].map(|seconds| receiver.timeouts(at(seconds))), [0, 1]);
        // Too late: the datagram begins anew, and expires once more.
        assert!(receiver.take(at(61), fragments[3].clone()).is_none());
        assert_eq!([120, 121].map(|seconds| receiver.timeouts(at(seconds))), [1, 2]);
    }

    #[test]
    fn a_datagram_is_lost_with_the_first_of_its_lost_fragments() {
        let mut receiver = Fragmentation::new(TIMEOUT);
        assert!(receiver.lose(at(1), 0, at(0)));
        assert!(!receiver.lose(at(2), 0, at(0)));
        assert!(receiver.lose(at(2), 4, at(0)));
        // A fragment that is lost long after the first one: of a datagram that is known to be lost.
        assert!(!receiver.lose(at(250), 4, at(0)));
        assert!(receiver.lose(at(257), 8, at(0)));
        // Nothing of them has arrived: the receiver knows of no datagram that it could give up.
        assert_eq!(receiver.timeouts(at(100)), 0);
        assert!(receiver.take(at(3), cut(IpVersion::V4, 0).remove(1)).is_none());
        assert_eq!([62, 63].map(|seconds| receiver.timeouts(at(seconds))), [0, 1]);
    }

    #[test]
    fn a_datagram_that_is_given_up_is_lost_once() {
        let mut receiver = Fragmentation::new(TIMEOUT);
        let fragments = cut(IpVersion::V4, 0);
        assert!(receiver.take(at(1), fragments[0].clone()).is_none());
        assert!(receiver.take_given_up(at(60)).is_empty());
        assert_eq!(receiver.take_given_up(at(61)), [at(0)]);
        // What comes late begins anew and is given up again; what is lost then is known to be.
        assert!(receiver.take(at(70), fragments[1].clone()).is_none());
        assert!(!receiver.lose(at(71), 0, at(0)));
        assert_eq!((receiver.take_given_up(at(200)), receiver.timeouts(at(200))), (vec![], 2));
        // One whose time is over when the next fragment comes.
        for (seconds, number) in [(300, 4), (400, 8)] {
            assert!(receiver.take(at(seconds), cut(IpVersion::V4, number).remove(0)).is_none());
        }
        assert_eq!((receiver.take_given_up(at(401)), receiver.timeouts(at(401))), (vec![at(0)], 3));
        // One of which a fragment was lost before.
        assert!(receiver.lose(at(500), 12, at(0)));
        assert!(receiver.take(at(500), cut(IpVersion::V4, 12).remove(0)).is_none());
        assert_eq!((receiver.take_given_up(at(499)), receiver.take_given_up(at(600))), (vec![at(0)], vec![]));
    }
}
