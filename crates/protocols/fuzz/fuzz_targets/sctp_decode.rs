//! Any octets are read as an SCTP packet or refused.
//! Run: `cargo +nightly fuzz run sctp_decode` in `crates/protocols`.
#![no_main]

use roamsim_protocols::sctp::wire;

libfuzzer_sys::fuzz_target!(|octets: &[u8]| {
    if let Ok((packet, payload)) = wire::decode(octets, false) {
        // What was read is written, and read as the same again.
        let mut encoded = Vec::new();
        wire::encode(&packet, &payload, &mut encoded);
        assert_eq!(wire::decode(&encoded, true), Ok((packet, payload)));
    }
});
