//! Any octets are read as a TCP segment or refused.
//! Run: `cargo +nightly fuzz run tcp_decode` in `crates/protocols`.
#![no_main]

use roamsim_protocols::tcp::wire;

libfuzzer_sys::fuzz_target!(|octets: &[u8]| {
    if let Ok((segment, payload)) = wire::decode(octets, None) {
        // What was read is written, and read as the same again; but for SACK blocks that had room only
        // because the options stood closer than they are written here, with no-operations before them.
        let mut encoded = Vec::new();
        wire::encode(&segment, payload, 0, &mut encoded);
        let (mut again, again_payload) = wire::decode(&encoded, Some(0)).expect("it was written here");
        let blocks = segment.options.sack.as_slice();
        assert_eq!(
            again.options.sack.as_slice(),
            &blocks[..blocks.len().min(segment.options.sack_blocks_that_fit())]
        );
        again.options.sack = segment.options.sack.clone();
        assert_eq!((again, again_payload), (segment, payload));
    }
});
