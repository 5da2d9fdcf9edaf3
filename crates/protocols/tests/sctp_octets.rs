//! Two associations survive any sequence of octets, damaged packets, calls and pauses. The fuzz target
//! `sctp_octets` goes deeper.

#[path = "drivers/sctp_octets.rs"]
mod driver;

use proptest::collection::vec;
use proptest::prelude::*;

/// A step that hands in chunks under the right tag and checksum: kinds and lengths that a packet may hold.
fn chunks_step() -> impl Strategy<Value = Vec<u8>> {
    let kind = prop_oneof![8 => 0u8..16, 1 => Just(0xC1), 1 => Just(0x80)];
    let chunk = (kind, any::<u8>(), vec(0u8..12, 0..36)).prop_map(|(kind, flags, value)| {
        let mut octets = vec![kind, flags, 0, 4 + value.len() as u8];
        octets.extend(value);
        octets.resize(octets.len().next_multiple_of(4), 0);
        octets
    });
    (prop_oneof![Just(8u8), Just(0x88)], any::<u8>(), vec(chunk, 1..4)).prop_map(|(what, pause, chunks)| {
        let chunks = chunks.concat();
        [&[what, pause, chunks.len() as u8], chunks.as_slice()].concat()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn associations_survive_any_sequence(
        settings: u8,
        steps in vec(prop_oneof![2 => chunks_step(), 3 => vec(any::<u8>(), 2..5)], 0..60),
    ) {
        driver::run(&[&[settings], steps.concat().as_slice()].concat());
    }

    #[test]
    fn associations_survive_any_octets(input in vec(any::<u8>(), 0..600)) {
        driver::run(&input);
    }
}

/// The steps reach an established association: a message is acknowledged, and what is made up is counted by
/// reason.
#[test]
fn an_input_says_what_happens() {
    // Settings 0: established. End 0 writes a message of 1 + 40 x 10 octets; end 1 gets it, and end 0 the
    // SACK, which waits for 200 ms. Then a SACK chunk whose length field says 16 of 8 octets, and four octets
    // that are no packet.
    let message = [12, 0, 0, 10, 0x80, 0, 0x80, 20, 0, 1];
    let cut_sack = [8, 1, 8, 3, 0, 0, 16, 0, 0, 0, 0];
    let short = [11, 0, 4, 1, 2, 3, 4];
    let [first, _] = driver::run(&[&[0], &message[..], &cut_sack[..], &short[..]].concat());
    assert_eq!(first.bytes_acknowledged, 401);
    assert_eq!((first.refused.chunk_length, first.refused.truncated, first.refused.total()), (1, 1, 2));
}
