//! What is read of octets, and what is made of those that are too large.

use super::*;
use crate::traffic_class::Ecn;
use proptest::prelude::*;

const V6_SOURCE: Ipv6Addr = Ipv6Addr::new(0x2001, 0xDB8, 0, 0, 0, 0, 0, 1);
const V6_DESTINATION: Ipv6Addr = Ipv6Addr::new(0x2001, 0xDB8, 0, 0, 0, 0, 0, 2);
const V4_ROUTER: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 9));
const V6_ROUTER: IpAddr = IpAddr::V6(Ipv6Addr::new(0x2001, 0xDB8, 0, 0, 0, 0, 0, 9));

/// A datagram of IPv4 from 10.0.0.1 to 10.0.0.2 with `payload` octets behind its UDP header, and these flags.
fn v4(flags: u16, options: &[u8], payload: usize) -> Vec<u8> {
    let header_bytes = 20 + options.len();
    let mut octets = vec![0x40 | (header_bytes / 4) as u8, 0];
    octets.extend(((header_bytes + 8 + payload) as u16).to_be_bytes());
    octets.extend([0x12, 0x34]);
    octets.extend(flags.to_be_bytes());
    octets.extend([64, UDP, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    octets.extend(options);
    octets.extend([0x30, 0x39, 0, 53]);
    octets.extend(((8 + payload) as u16).to_be_bytes());
    octets.extend([0, 0]);
    octets.extend((0..payload).map(|at| at as u8));
    write_v4_checksum(&mut octets);
    octets
}

/// The same of IPv6, with these extension headers before UDP.
fn v6(first: u8, extensions: &[u8], payload: usize) -> Vec<u8> {
    let mut octets = vec![0x6B, 0x9A, 0xBC, 0xDE];
    octets.extend(((extensions.len() + 8 + payload) as u16).to_be_bytes());
    octets.extend([first, 64]);
    octets.extend(V6_SOURCE.octets());
    octets.extend(V6_DESTINATION.octets());
    octets.extend(extensions);
    octets.extend([0x30, 0x39, 0, 53, 0, 8, 0, 0]);
    octets.extend((0..payload).map(|at| at as u8));
    octets
}

#[test]
fn addresses_ports_and_class_are_read_at_the_edge() {
    let mut octets = v4(0x4000, &[], 100);
    set_class(IpVersion::V4, &mut octets, TrafficClass::of_dscp(46).with_ecn(Ecn::Capable0));
    // What lies behind the end of a packet is none of it.
    octets.extend([1, 2, 3]);
    let read = read(IpVersion::V4, &octets).expect("a packet");
    assert_eq!((read.source, read.destination), ([10, 0, 0, 1].into(), [10, 0, 0, 2].into()));
    assert_eq!((read.octets.protocol(), read.octets.ports()), (UDP, (12345, 53)));
    assert_eq!((read.traffic_class.dscp(), read.traffic_class.ecn()), (46, Ecn::Capable0));
    assert_eq!(read.octets.as_slice().len(), 128);
}

#[test]
fn extension_headers_of_ipv6_are_passed_over() {
    let hop_by_hop = [DESTINATION_OPTIONS, 0, 1, 4, 0, 0, 0, 0, UDP, 1];
    let extensions = [&hop_by_hop[..], &[0; 14]].concat();
    let incoming = read(IpVersion::V6, &v6(HOP_BY_HOP, &extensions, 10)).expect("a packet");
    assert_eq!((incoming.octets.protocol(), incoming.octets.ports()), (UDP, (12345, 53)));
    assert_eq!((incoming.traffic_class.octet(), incoming.destination), (0xB9, V6_DESTINATION.into()));
    // A fragment behind the first one has no ports; nor has the first one, so that both take the same queue.
    for offset_and_flag in [0x0001_u16, 0x0010] {
        let [high, low] = offset_and_flag.to_be_bytes();
        let fragment = read(IpVersion::V6, &v6(FRAGMENT, &[UDP, 0, high, low, 0, 0, 0, 1], 10)).expect("one");
        assert_eq!((fragment.octets.protocol(), fragment.octets.ports()), (UDP, (0, 0)));
    }
    // A header that leads behind the end.
    let beyond = v6(HOP_BY_HOP, &[UDP, 200, 0, 0, 0, 0, 0, 0], 10);
    assert_eq!(read(IpVersion::V6, &beyond).err(), Some(Refusal::Malformed));
}

#[test]
fn what_is_wrong_is_malformed() {
    let whole = v4(0, &[], 20);
    let wrong = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut octets = whole.clone();
        change(&mut octets);
        read(IpVersion::V4, &octets).err()
    };
    let malformed = Some(Refusal::Malformed);
    assert_eq!(wrong(&|_| ()), None);
    assert_eq!(wrong(&|octets| octets.truncate(47)), malformed);
    assert_eq!(wrong(&|octets| octets.clear()), malformed);
    assert_eq!(wrong(&|octets| octets[8] ^= 1), malformed, "the checksum");
    assert_eq!(wrong(&|octets| octets[0] = 0x44), malformed, "a header of 16 octets");
    assert_eq!(wrong(&|octets| octets[0] = 0x55), malformed, "version 5");
    assert_eq!(wrong(&|octets| octets[0] = 0x65), Some(Refusal::OtherVersion));
    // An option of no length, and one that is longer than the header.
    for option in [[0x94, 0, 0, 0], [0x94, 5, 0, 0]] {
        assert_eq!(read(IpVersion::V4, &v4(0, &option, 20)).err(), malformed);
    }
    assert!(read(IpVersion::V4, &v4(0, &[0x94, 4, 0, 0], 20)).is_ok());
    // A fragment whose end lies beyond 65,535 octets.
    assert_eq!(read(IpVersion::V4, &v4(0x1FFF, &[], 20)).err(), malformed);
}

#[test]
fn a_mark_is_written_with_its_checksum() {
    for (ip, octets) in [(IpVersion::V4, v4(0, &[0x94, 4, 0, 0], 20)), (IpVersion::V6, v6(UDP, &[], 20))] {
        let incoming = read(ip, &octets).expect("a packet");
        assert_eq!(incoming.octets.leaving(ip, incoming.traffic_class), octets, "as it came");
        let marked = incoming.traffic_class.with_ecn(Ecn::CongestionExperienced);
        let leaving = incoming.octets.leaving(ip, marked);
        assert_eq!(read(ip, &leaving).expect("still a packet").traffic_class, marked);
        let changed = leaving.iter().zip(&octets).filter(|(new, old)| new != old).count();
        assert!((1..=3).contains(&changed), "{changed}");
    }
    // The flow label stays (RFC 8200 section 3).
    let mut octets = v6(UDP, &[], 0);
    set_class(IpVersion::V6, &mut octets, TrafficClass::of_octet(0x03));
    assert_eq!(octets[..4], [0x60, 0x3A, 0xBC, 0xDE]);
}

/// The data that fragments carry, put together.
fn reassembled(fragments: &[Vec<u8>]) -> Vec<u8> {
    let mut data = Vec::new();
    for (number, fragment) in fragments.iter().enumerate() {
        let incoming = read(IpVersion::V4, fragment).expect("a packet");
        let flags_and_offset = word(fragment, 6).expect("a header");
        assert_eq!(usize::from(flags_and_offset & 0x1FFF) * 8, data.len());
        assert_eq!(flags_and_offset & 0x2000 != 0, number + 1 < fragments.len(), "more fragments");
        assert_eq!(word(fragment, 4), Some(0x1234), "the identification");
        let header_bytes = v4_header_bytes(fragment).expect("a header");
        data.extend(&incoming.octets.as_slice()[header_bytes..]);
    }
    data
}

#[test]
fn a_packet_that_may_be_cut_is_cut() {
    // One option that is copied into fragments, and one that is not.
    let octets = v4(0, &[0x94, 4, 0, 0, 0x44, 4, 5, 0], 3000);
    let incoming = read(IpVersion::V4, &octets).expect("a packet");
    let Oversized::Fragments(fragments) = oversized(&incoming.octets, 1500, V4_ROUTER) else {
        panic!("it may be fragmented")
    };
    // 3008 octets of data: 1472 behind 28 octets of header, 1472 behind 24, 64.
    let lengths: Vec<usize> = fragments.iter().map(Vec::len).collect();
    assert_eq!(lengths, [1500, 1496, 88]);
    assert_eq!(reassembled(&fragments), octets[28..]);
    // No room for eight octets.
    assert_eq!(oversized(&incoming.octets, 35, V4_ROUTER), Oversized::Nothing);
}

#[test]
fn a_packet_that_may_not_be_cut_is_answered() {
    let octets = v4(0x4000, &[], 1400);
    let incoming = read(IpVersion::V4, &octets).expect("a packet");
    let Oversized::Error(error) = oversized(&incoming.octets, 1300, V4_ROUTER) else { panic!("an error") };
    let read_error = read(IpVersion::V4, &error).expect("a packet");
    assert_eq!((read_error.source, read_error.destination), (V4_ROUTER, [10, 0, 0, 1].into()));
    assert_eq!((error.len(), &error[20..22], word(&error, 26)), (576, &[3, 4][..], Some(1300)));
    assert_eq!(error[28..], octets[..548]);
    assert_eq!(Sum::default().with(&error[20..]).finish(), 0);
    // No error for an error (RFC 1122 section 3.2.2).
    let mut loud = error.clone();
    loud[6] = 0x40;
    write_v4_checksum(&mut loud);
    let loud = read(IpVersion::V4, &loud).expect("a packet");
    assert_eq!(oversized(&loud.octets, 500, V4_ROUTER), Oversized::Nothing);

    let octets = v6(UDP, &[], 1400);
    let incoming = read(IpVersion::V6, &octets).expect("a packet");
    let Oversized::Error(error) = oversized(&incoming.octets, 1300, V6_ROUTER) else { panic!("an error") };
    assert_eq!(
        (error.len(), &error[40..42], &error[44..48]),
        (1280, &[2, 0][..], &1300_u32.to_be_bytes()[..])
    );
    let pseudo_header = Sum::from(1240).with(&error[8..40]).with(&[0, ICMPV6]);
    assert_eq!(pseudo_header.with(&error[40..]).finish(), 0);
}

/// Octets that begin as a packet does, and go on as they like.
fn hostile() -> impl Strategy<Value = Vec<u8>> {
    let body = proptest::collection::vec(any::<u8>(), 0..300);
    (prop_oneof![4 => 0x45_u8..0x50, 2 => Just(0x60_u8), 1 => any::<u8>()], body, any::<bool>()).prop_map(
        |(first, body, fits)| {
            let mut octets = [&[first][..], &body].concat();
            let length = octets.len() as u16;
            let v4 = first >> 4 == 4;
            let (at, length) = if v4 { (2, length) } else { (4, length.saturating_sub(40)) };
            if fits && octets.len() >= 60 {
                octets[at..at + 2].copy_from_slice(&length.to_be_bytes());
                if v4 {
                    write_v4_checksum(&mut octets);
                }
            }
            octets
        },
    )
}

proptest! {
    #[test]
    fn no_octets_panic(octets in hostile(), mtu in 0_u32..400) {
        for (ip, router) in [(IpVersion::V4, V4_ROUTER), (IpVersion::V6, V6_ROUTER)] {
            let Ok(incoming) = read(ip, &octets) else { continue };
            let whole = incoming.octets.as_slice();
            prop_assert!(octets.starts_with(whole));
            let class = TrafficClass::of_octet(0xFF);
            prop_assert_eq!(read(ip, &incoming.octets.leaving(ip, class)).expect("a packet").traffic_class, class);
            match oversized(&incoming.octets, mtu, router) {
                Oversized::Fragments(fragments) => {
                    let all_fit = fragments.iter().all(|one| one.len() <= mtu as usize && read(ip, one).is_ok());
                    prop_assert!(all_fit);
                }
                Oversized::Error(error) => prop_assert!(read(ip, &error).is_ok()),
                Oversized::Nothing => {}
            }
        }
    }

    #[test]
    fn fragments_carry_what_was_cut(payload in 0_usize..65_507, mtu in 28_u32..9000) {
        let octets = v4(0, &[], payload);
        let incoming = read(IpVersion::V4, &octets).expect("a packet");
        let Oversized::Fragments(fragments) = oversized(&incoming.octets, mtu, V4_ROUTER) else {
            return Err(TestCaseError::fail("it may be fragmented"));
        };
        prop_assert_eq!(reassembled(&fragments), &octets[20..]);
    }
}
