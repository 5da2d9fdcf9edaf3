//! Any octets are read as a message or refused, what is read comes back from its own encoding, and the
//! machines survive any sequence of messages and pauses. The fuzz targets `mobile_ip_decode` and
//! `mobile_ip_octets` go deeper.

#[path = "drivers/mobile_ip_octets.rs"]
mod driver;

use std::net::Ipv4Addr;

use proptest::collection::vec;
use proptest::prelude::*;
use roamsim_protocols::mobile_ip::wire::tunnel::OuterHeader;
use roamsim_protocols::mobile_ip::wire::{
    AgentFlags, Authentication, Extension, Extensions, RequestFlags, RouterAddress,
};
use roamsim_protocols::mobile_ip::{
    AgentAdvertisement, AgentSolicitation, Code, DecodeError, Message, Reply, Request,
};

fn address() -> impl Strategy<Value = Ipv4Addr> {
    any::<u32>().prop_map(Ipv4Addr::from_bits)
}

fn extensions() -> impl Strategy<Value = Extensions> {
    let extension = (any::<u8>(), any::<u32>(), vec(any::<u8>(), 0..40)).prop_map(|(kind, spi, octets)| {
        let authentication = Authentication { spi, authenticator: octets.clone() };
        match kind {
            0..64 => Extension::MobileHome(authentication),
            64..96 => Extension::MobileForeign(authentication),
            96..128 => Extension::ForeignHome(authentication),
            _ => Extension::Skipped { kind, value: octets },
        }
    });
    vec(extension, 0..4).prop_map(Extensions)
}

fn message() -> impl Strategy<Value = Message> {
    let fields = (any::<bool>(), any::<u8>(), any::<u16>(), [address(), address(), address()], any::<u64>());
    (fields, extensions()).prop_map(
        |((is_request, octet, lifetime_s, addresses, identification), extensions)| {
            let [home_address, home_agent, care_of_address] = addresses;
            if is_request {
                let flags = RequestFlags(octet);
                Message::Request(Request {
                    flags,
                    lifetime_s,
                    home_address,
                    home_agent,
                    care_of_address,
                    identification,
                    extensions,
                })
            } else {
                let code = Code(octet);
                Message::Reply(Reply {
                    code,
                    lifetime_s,
                    home_address,
                    home_agent,
                    identification,
                    extensions,
                })
            }
        },
    )
}

fn advertisement() -> impl Strategy<Value = AgentAdvertisement> {
    let routers = vec((address(), any::<i32>(), 0..=32u8), 1..4);
    let rest = (any::<bool>(), any::<[u16; 4]>(), vec(address(), 0..4), any::<bool>());
    (routers, rest).prop_map(|(routers, (common_traffic, values, care_of_addresses, prefixes))| {
        AgentAdvertisement {
            common_traffic,
            lifetime_s: values[0],
            router_addresses: routers
                .iter()
                .map(|&(address, preference, _)| RouterAddress { address, preference })
                .collect(),
            sequence: values[1],
            registration_lifetime_s: values[2],
            flags: AgentFlags(values[3]),
            care_of_addresses,
            prefix_lengths: if prefixes {
                routers.iter().map(|router| router.2).collect()
            } else {
                Vec::new()
            },
        }
    })
}

proptest! {
    #[test]
    fn messages_come_back_from_their_octets(message in message(), advertisement in advertisement()) {
        let octets = message.encode();
        prop_assert_eq!(octets.len(), message.encoded_bytes());
        prop_assert_eq!(Message::decode(&octets), Ok(message));
        let octets = advertisement.encode();
        prop_assert_eq!(octets.len(), advertisement.encoded_bytes());
        prop_assert_eq!(AgentAdvertisement::decode(&octets), Ok(advertisement));
    }

    #[test]
    fn a_damaged_or_cut_advertisement_is_refused(
        advertisement in advertisement(), at: prop::sample::Index, flip in 1..=255u8,
    ) {
        let octets = advertisement.encode();
        let mut damaged = octets.clone();
        let at = at.index(octets.len());
        damaged[at] ^= flip;
        prop_assert!(AgentAdvertisement::decode(&damaged).is_err());
        prop_assert!(AgentAdvertisement::decode(&octets[..at]).is_err());
    }

    #[test]
    fn a_tunnel_gives_back_what_was_put_in(
        inner in vec(any::<u8>(), 0..200), type_of_service: u8, identification: u16, ends: [u32; 2],
    ) {
        let outer = OuterHeader {
            source: Ipv4Addr::from_bits(ends[0]),
            destination: Ipv4Addr::from_bits(ends[1]),
            type_of_service,
            identification,
            dont_fragment: true,
            ttl: 64,
        };
        let octets = outer.encapsulate(&inner);
        prop_assert_eq!(octets.len(), inner.len() + 20);
        prop_assert_eq!(OuterHeader::decapsulate(&octets), Ok((outer, inner.as_slice())));
        prop_assert!(OuterHeader::decapsulate(&octets[..octets.len() - 1]).is_err());
    }

    #[test]
    fn any_octets_are_read_or_refused(octets in vec(any::<u8>(), 0..120), kind in 0..2usize) {
        let _ = AgentAdvertisement::decode(&octets);
        let _ = AgentSolicitation::decode(&octets);
        let _ = OuterHeader::decapsulate(&octets);
        // Most octets are no message at all: some get the type of one.
        let octets = [&[[1, 3][kind]], octets.as_slice()].concat();
        if let Ok(message) = Message::decode(&octets) {
            prop_assert_eq!(message.encode(), octets);
        }
    }

    #[test]
    fn the_machines_survive_any_sequence(
        settings: u8,
        steps in vec((any::<u8>(), 0..40u8, vec(any::<u8>(), 8..9)).prop_map(|(what, pause, octets)| {
            let length: &[u8] = if what % 8 == 0 { &[8] } else { &[] };
            let octets: &[u8] = if what % 8 > 5 { &[] } else { &octets };
            [&[what, pause], length, octets].concat()
        }), 0..60),
    ) {
        let input = [&[settings], steps.concat().as_slice()].concat();
        driver::run(&input);
    }

    #[test]
    fn the_machines_survive_any_octets(input in vec(any::<u8>(), 0..400)) {
        driver::run(&input);
    }
}

#[test]
fn each_malformation_has_its_reason() {
    let request = |tail: &[u8]| Message::decode(&[&[1; 24], tail].concat());
    assert_eq!(Message::decode(&[1; 23]), Err(DecodeError::Truncated { available: 23 }));
    assert_eq!(Message::decode(&[2; 24]), Err(DecodeError::UnknownType(2)));
    assert_eq!(request(&[40, 0]), Err(DecodeError::UnrecognizedExtension(40)));
    assert_eq!(request(&[200, 1]), Err(DecodeError::BadExtension(200)));
    assert_eq!(request(&[200]), Err(DecodeError::BadExtension(200)));
    // A Mobile-Home Authentication without a whole SPI.
    assert_eq!(request(&[32, 3, 0, 0, 1]), Err(DecodeError::BadExtension(32)));
    assert!(request(&[200, 1, 7]).is_ok());
    let header = OuterHeader {
        source: Ipv4Addr::LOCALHOST,
        destination: Ipv4Addr::LOCALHOST,
        type_of_service: 0,
        identification: 1,
        dont_fragment: false,
        ttl: 64,
    };
    let whole = header.encapsulate(&[7; 30]);
    assert_eq!(OuterHeader::decapsulate(&whole[..12]), Err(DecodeError::Truncated { available: 12 }));
    assert_eq!(OuterHeader::decapsulate(&whole[..40]), Err(DecodeError::BadLength));
    let mut damaged = whole.clone();
    damaged[8] = 1;
    assert_eq!(OuterHeader::decapsulate(&damaged), Err(DecodeError::BadChecksum));
    damaged[9] = 17;
    assert_eq!(OuterHeader::decapsulate(&damaged), Err(DecodeError::UnknownType(17)));
    damaged[0] = 0x46;
    assert_eq!(OuterHeader::decapsulate(&damaged), Err(DecodeError::BadValue));
}
