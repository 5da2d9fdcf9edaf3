//! An MIHF survives any sequence of messages, calls and pauses. The fuzz target `mihf_octets` goes deeper.

#[path = "drivers/mihf_octets.rs"]
mod driver;

use proptest::collection::vec;
use proptest::prelude::*;
use roamsim_protocols::mih::wire::message_id::CATALOGUE;

/// A step that hands in a message of the catalogue with a low transaction ID and few TLVs.
fn message_step() -> impl Strategy<Value = Vec<u8>> {
    let tlv = (3..64u8, vec(any::<u8>(), 0..12))
        .prop_map(|(tlv_type, value)| [&[tlv_type, value.len() as u8], value.as_slice()].concat());
    (0..CATALOGUE.len(), 0..16u8, 0..6u8, any::<u8>(), vec(tlv, 0..3)).prop_map(
        |(at, flags, tid, pause, tlvs)| {
            let mid = CATALOGUE[at].id.0.to_be_bytes();
            let message = [&[0x10 | flags, 0, mid[0], mid[1], 0, tid], tlvs.concat().as_slice()].concat();
            [&[7, pause, message.len() as u8], message.as_slice()].concat()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn an_mihf_survives_any_sequence(
        settings: u8,
        steps in vec(prop_oneof![3 => message_step(), 2 => vec(any::<u8>(), 2..3)], 0..60),
    ) {
        let input = [&[settings], steps.concat().as_slice()].concat();
        driver::run(&input);
    }

    #[test]
    fn an_mihf_survives_any_octets(input in vec(any::<u8>(), 0..400)) {
        driver::run(&input);
    }
}
