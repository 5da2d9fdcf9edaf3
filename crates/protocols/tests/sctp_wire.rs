//! SCTP on the wire: octet by octet, and whatever octets arrive.

use proptest::prelude::*;
use roamsim_engine::{Span, Stream, Time};
use roamsim_protocols::sctp::wire::{DecodeError, decode, encode};
use roamsim_protocols::sctp::{
    Asconf, AsconfAck, Association, Chunk, Config, Data, ForwardTsn, Init, Packet, Parameter, Path, Refused,
    Sack,
};
use roamsim_protocols::{Address, Context};

fn packet(chunks: Vec<Chunk>) -> Packet {
    Packet {
        source_port: 0x1234,
        destination_port: 0x5678,
        verification_tag: 0x9ABC_DEF0,
        chunks: chunks.into(),
    }
}

/// What stands behind the common header.
fn chunk_octets(chunk: &Chunk, payload: &[u8]) -> Vec<u8> {
    let mut octets = Vec::new();
    encode(&packet(vec![chunk.clone()]), payload, &mut octets);
    let read = decode(&octets, true).unwrap();
    assert_eq!(read, (packet(vec![chunk.clone()]), payload.to_vec()));
    octets.split_off(12)
}

const MESSAGE: Data = Data {
    tsn: 0x0102_0304,
    stream: 0x0506,
    ssn: 0x0708,
    protocol: 0x090A_0B0C,
    unordered: false,
    beginning: true,
    ending: true,
    immediate: false,
    payload_bytes: 3,
};

#[test]
fn the_common_header_and_its_checksum() {
    let mut octets = Vec::new();
    encode(&packet(vec![Chunk::CookieAck]), &[], &mut octets);
    assert_eq!(octets[..8], [0x12, 0x34, 0x56, 0x78, 0x9A, 0xBC, 0xDE, 0xF0]);
    assert_eq!(octets[12..], [11, 0, 0, 4]);
    // The remainder bit by bit, by the reflected polynomial 0x82F63B78 (0x1EDC6F41 of RFC 9260 appendix A).
    let mut cleared = octets.clone();
    cleared[8..12].fill(0);
    let mut remainder = u32::MAX;
    for octet in cleared {
        remainder ^= u32::from(octet);
        for _ in 0..8 {
            remainder = (remainder >> 1) ^ if remainder & 1 == 1 { 0x82F6_3B78 } else { 0 };
        }
    }
    assert_eq!(octets[8..12], (!remainder).to_le_bytes());
}

#[test]
fn every_flipped_bit_is_noticed() {
    let mut octets = Vec::new();
    encode(&packet(vec![Chunk::Data(MESSAGE)]), b"abc", &mut octets);
    for at in 0..octets.len() {
        for bit in 0..8 {
            octets[at] ^= 1 << bit;
            assert!(
                matches!(decode(&octets, true), Err(DecodeError::Checksum { .. })),
                "octet {at} bit {bit}"
            );
            octets[at] ^= 1 << bit;
        }
    }
}

#[test]
fn a_data_chunk_has_flags_and_padding() {
    let octets = chunk_octets(&Chunk::Data(MESSAGE), b"abc");
    // Length 16 + 3, one octet of padding; B and E.
    assert_eq!(octets, [0, 3, 0, 19, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, b'a', b'b', b'c', 0]);
    let flags = |data: Data| chunk_octets(&Chunk::Data(data), b"abc")[1];
    assert_eq!(flags(Data { beginning: false, ..MESSAGE }), 0x01);
    assert_eq!(flags(Data { ending: false, ..MESSAGE }), 0x02);
    assert_eq!(flags(Data { unordered: true, ..MESSAGE }), 0x07);
    assert_eq!(flags(Data { immediate: true, ..MESSAGE }), 0x0B);
}

#[test]
fn an_init_and_its_ack_differ_in_their_type_alone() {
    let init = Box::new(Init {
        initiate_tag: 0x0102_0304,
        a_rwnd_bytes: 0x0001_0000,
        outbound_streams: 10,
        inbound_streams: 0x0800,
        initial_tsn: 0x0506_0708,
        parameters: vec![
            Parameter { kind: Parameter::STATE_COOKIE, value: vec![0xAA] },
            Parameter { kind: Parameter::IPV4_ADDRESS, value: vec![10, 0, 0, 1] },
        ],
    });
    // Length 4 + 16 + (5 + 3 of padding) + 8 = 36.
    let behind_the_type = [
        0, 0, 36, 1, 2, 3, 4, 0, 1, 0, 0, 0, 10, 8, 0, 5, 6, 7, 8, // the fixed part
        0, 7, 0, 5, 0xAA, 0, 0, 0, 0, 5, 0, 8, 10, 0, 0, 1,
    ];
    assert_eq!(chunk_octets(&Chunk::Init(init.clone()), &[]), [&[1], &behind_the_type[..]].concat());
    assert_eq!(chunk_octets(&Chunk::InitAck(init), &[]), [&[2], &behind_the_type[..]].concat());
}

#[test]
fn a_sack_lists_gaps_and_duplicates() {
    let sack = Sack::new(0x0102_0304, 0x0506_0708, &[(2, 3), (0x0102, 0x0103)], vec![0x0A0B_0C0D]);
    assert_eq!(
        chunk_octets(&Chunk::Sack(sack), &[]),
        [3, 0, 0, 28, 1, 2, 3, 4, 5, 6, 7, 8, 0, 2, 0, 1, 0, 2, 0, 3, 1, 2, 1, 3, 10, 11, 12, 13]
    );
}

#[test]
fn control_chunks_have_the_octets_of_their_parameters() {
    let info = || vec![Parameter { kind: Parameter::HEARTBEAT_INFO, value: vec![9, 8] }];
    assert_eq!(chunk_octets(&Chunk::Heartbeat(info()), &[]), [4, 0, 0, 10, 0, 1, 0, 6, 9, 8, 0, 0]);
    assert_eq!(chunk_octets(&Chunk::HeartbeatAck(info()), &[]), [5, 0, 0, 10, 0, 1, 0, 6, 9, 8, 0, 0]);
    let abort = |reflected_tag| Chunk::Abort { reflected_tag, causes: vec![] };
    assert_eq!(chunk_octets(&abort(false), &[]), [6, 0, 0, 4]);
    assert_eq!(chunk_octets(&abort(true), &[]), [6, 1, 0, 4]);
    assert_eq!(chunk_octets(&Chunk::Shutdown { cumulative_tsn_ack: 5 }, &[]), [7, 0, 0, 8, 0, 0, 0, 5]);
    assert_eq!(chunk_octets(&Chunk::ShutdownAck, &[]), [8, 0, 0, 4]);
    // Cause 1, invalid stream identifier 3 (RFC 9260 3.3.10.1).
    let causes = vec![Parameter { kind: 1, value: vec![0, 3, 0, 0] }];
    assert_eq!(chunk_octets(&Chunk::Error(causes), &[]), [9, 0, 0, 12, 0, 1, 0, 8, 0, 3, 0, 0]);
    assert_eq!(chunk_octets(&Chunk::CookieEcho(vec![1, 2, 3]), &[]), [10, 0, 0, 7, 1, 2, 3, 0]);
    assert_eq!(chunk_octets(&Chunk::CookieAck, &[]), [11, 0, 0, 4]);
    assert_eq!(chunk_octets(&Chunk::ShutdownComplete { reflected_tag: false }, &[]), [14, 0, 0, 4]);
    assert_eq!(chunk_octets(&Chunk::ShutdownComplete { reflected_tag: true }, &[]), [14, 1, 0, 4]);
    // RFC 5061 4.1: serial number, an address (type 5), then what is asked for; the answer.
    let address = Parameter { kind: Parameter::IPV4_ADDRESS, value: vec![10, 0, 0, 1] };
    let delete =
        Parameter { kind: Parameter::DELETE_ADDRESS, value: vec![0, 0, 0, 9, 0, 5, 0, 8, 10, 0, 0, 2] };
    let asconf = Chunk::Asconf(Box::new(Asconf { serial: 7, address, parameters: vec![delete] }));
    assert_eq!(
        chunk_octets(&asconf, &[]),
        [
            0xC1, 0, 0, 32, 0, 0, 0, 7, 0, 5, 0, 8, 10, 0, 0, 1, 0xC0, 2, 0, 16, 0, 0, 0, 9, 0, 5, 0, 8, 10,
            0, 0, 2
        ]
    );
    let success = Parameter { kind: Parameter::SUCCESS_INDICATION, value: vec![0, 0, 0, 9] };
    let ack = Chunk::AsconfAck(Box::new(AsconfAck { serial: 7, parameters: vec![success] }));
    assert_eq!(chunk_octets(&ack, &[]), [0x80, 0, 0, 16, 0, 0, 0, 7, 0xC0, 5, 0, 8, 0, 0, 0, 9]);
    // RFC 3758 3.2: the TSN, then streams with their numbers.
    let forward =
        Chunk::ForwardTsn(Box::new(ForwardTsn { cumulative_tsn: 7, streams: vec![(1, 2), (3, 4)] }));
    assert_eq!(chunk_octets(&forward, &[]), [0xC0, 0, 0, 16, 0, 0, 0, 7, 0, 1, 0, 2, 0, 3, 0, 4]);
    // RE-CONFIG, which this model leaves as octets.
    let other = Chunk::Other { kind: 0x82, flags: 2, value: vec![7] };
    assert_eq!(chunk_octets(&other, &[]), [0x82, 2, 0, 5, 7, 0, 0, 0]);
}

#[test]
fn bundled_chunks_keep_their_order_and_their_user_data() {
    let short = Data { payload_bytes: 1, ..MESSAGE };
    let bundled = packet(vec![Chunk::CookieAck, Chunk::Data(short), Chunk::Data(MESSAGE)]);
    let mut octets = Vec::new();
    encode(&bundled, b"xabc", &mut octets);
    assert_eq!(octets.len() as u32, bundled.total_bytes());
    assert_eq!(octets[32], b'x');
    assert_eq!(octets[52..55], *b"abc");
    assert_eq!(decode(&octets, true), Ok((bundled, b"xabc".to_vec())));
}

#[test]
fn what_is_no_packet_is_refused_with_its_place() {
    let refused = |tail: &[u8]| {
        let octets = [&[0; 12], tail].concat();
        decode(&octets, false).unwrap_err().to_string()
    };
    assert_eq!(decode(&[0; 11], true), Err(DecodeError::Truncated { have: 11 }));
    // An ASCONF without the address that it starts with.
    assert_eq!(
        refused(&[0xC1, 0, 0, 8, 0, 0, 0, 1]),
        "SCTP chunk of type 193 at octet 12 has an impossible length"
    );
    let reason = |octets: &[u8], verify| decode(octets, verify).unwrap_err().reason();
    assert_eq!(reason(&[0; 11], true), "truncated");
    assert_eq!(reason(&[0; 12], true), "checksum");
    assert_eq!(reason(&[0; 13], false), "chunk_length");
    assert_eq!(reason(&[&[0; 12][..], &[4, 0, 0, 8, 0, 1, 0, 9]].concat(), false), "parameter_length");
    // A length below the chunk's own header, one past the end, and too few octets for the type.
    assert_eq!(refused(&[11, 0, 0, 3]), "SCTP chunk of type 11 at octet 12 has an impossible length");
    assert_eq!(refused(&[10, 0, 0, 8, 1]), "SCTP chunk of type 10 at octet 12 has an impossible length");
    assert_eq!(refused(&[0, 3, 0, 4]), "SCTP chunk of type 0 at octet 12 has an impossible length");
    assert_eq!(refused(&[11, 0, 0, 4, 8]), "SCTP chunk of type 8 at octet 16 has an impossible length");
    // One gap block is announced and none is there.
    let sack = [3, 0, 0, 16, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0];
    assert_eq!(refused(&sack), "SCTP chunk of type 3 at octet 12 has an impossible length");
    assert_eq!(
        refused(&[4, 0, 0, 8, 0, 1, 0, 9]),
        "a parameter in the SCTP chunk of type 4 at octet 12 has an impossible length"
    );
    assert_eq!(
        refused(&[4, 0, 0, 8, 0, 1, 0, 3]),
        "a parameter in the SCTP chunk of type 4 at octet 12 has an impossible length"
    );
}

/// An association that listens gets packets as octets; what it refused.
fn refused(packets: &[Vec<u8>]) -> Refused {
    let path = Path { local: Address(0), remote: Address(1) };
    let mut random = Stream::new(1, 0, "octets");
    let mut association =
        Association::new(&Config::default(), &[path.local], 0x5678, &[path.remote], 0x1234, 7, 1);
    association.listen();
    for (number, octets) in packets.iter().enumerate() {
        let now = Time::ZERO + Span::from_ms(number as u64);
        let mut cx = Context { now, random: &mut random };
        association.handle_octets(&mut cx, path, octets);
        while association.poll_transmit(&mut cx).is_some() {}
        while association.poll_event().is_some() {}
    }
    assert_eq!(association.stats().packets_received, packets.len() as u64);
    association.stats().refused
}

#[test]
fn what_is_refused_is_counted_by_reason() {
    let octets = |packet: &Packet, payload: &[u8]| {
        let mut octets = Vec::new();
        encode(packet, payload, &mut octets);
        octets
    };
    // An ABORT with a length of 3, under a checksum that is right.
    let mut short = octets(&packet(vec![Chunk::CookieAck]), &[]);
    short[15] = 3;
    short[8..12].fill(0);
    let Err(DecodeError::Checksum { expected, .. }) = decode(&short, true) else { panic!("{short:?}") };
    short[8..12].copy_from_slice(&expected.to_le_bytes());
    let mut flipped = octets(&packet(vec![Chunk::CookieAck]), &[]);
    flipped[0] ^= 1;
    let counted = refused(&[
        vec![0; 11],
        flipped,
        short,
        octets(&packet(vec![]), &[]),
        // The association's own tag is 7.
        octets(&packet(vec![Chunk::CookieAck]), &[]),
        octets(&packet(vec![Chunk::CookieAck]), &[]),
    ]);
    let expected = Refused {
        truncated: 1,
        checksum: 1,
        chunk_length: 1,
        empty: 1,
        verification_tag: 2,
        ..Refused::default()
    };
    assert_eq!(counted, expected);
    assert_eq!(counted.total(), 6);
}

#[test]
fn padding_may_be_missing_behind_the_last_chunk() {
    let octets = [&[0; 12][..], &[10, 0, 0, 5, 7]].concat();
    let (read, _) = decode(&octets, false).unwrap();
    assert_eq!(read.chunks[..], [Chunk::CookieEcho(vec![7])]);
}

/// Octets that look like chunks often enough to get past the lengths.
fn likely_octets() -> impl Strategy<Value = Vec<u8>> {
    let chunk = (
        prop_oneof![8 => 0u8..16, 1 => Just(0xC1u8), 1 => Just(0x80u8)],
        any::<u8>(),
        prop::collection::vec(0u8..12, 0..40),
    )
        .prop_map(|(kind, flags, value)| {
            let mut octets = vec![kind, flags, 0, 4 + value.len() as u8];
            octets.extend(value);
            octets.resize(octets.len().next_multiple_of(4), 0);
            octets
        });
    prop::collection::vec(chunk, 0..5).prop_map(|chunks| [vec![0; 12], chunks.concat()].concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    /// An association survives any octets, and any chunks under a checksum that is right.
    #[test]
    fn an_association_survives_any_octets(
        packets in prop::collection::vec(
            (prop_oneof![prop::collection::vec(any::<u8>(), 0..200), likely_octets()], any::<bool>()),
            0..8,
        ),
    ) {
        let packets: Vec<Vec<u8>> = packets
            .into_iter()
            .map(|(octets, own)| match decode(&octets, false) {
                Ok((mut packet, payload)) => {
                    if own {
                        packet.verification_tag = 7;
                    }
                    let mut written = Vec::new();
                    encode(&packet, &payload, &mut written);
                    written
                }
                Err(_) => octets,
            })
            .collect();
        prop_assert!(refused(&packets).total() <= packets.len() as u64);
    }

    /// Any octets are refused or read; what was read is written and read again as the same.
    #[test]
    fn any_octets_are_survived(
        octets in prop_oneof![prop::collection::vec(any::<u8>(), 0..200), likely_octets()],
    ) {
        let _ = decode(&octets, true);
        if let Ok((packet, payload)) = decode(&octets, false) {
            let mut written = Vec::new();
            encode(&packet, &payload, &mut written);
            prop_assert_eq!(written.len() as u32, packet.total_bytes());
            prop_assert_eq!(decode(&written, true), Ok((packet, payload)));
        }
    }
}
