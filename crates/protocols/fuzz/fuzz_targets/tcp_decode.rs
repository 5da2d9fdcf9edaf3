//! Any octets are read as a TCP segment or refused.
//! Run: `cargo +nightly fuzz run tcp_decode` in `crates/protocols`.
#![no_main]

use roamsim_protocols::tcp::wire;

libfuzzer_sys::fuzz_target!(|octets: &[u8]| {
    if let Ok((segment, payload)) = wire::decode(octets, None) {
        // What was read is written, and read as the same again.
        let mut encoded = Vec::new();
        wire::encode(&segment, payload, 0, &mut encoded);
        assert_eq!(wire::decode(&encoded, Some(0)), Ok((segment, payload)));
    }
});
