//! Any octets are read as a message or refused; what is read comes back from its own encoding.
//! Run: `cargo +nightly fuzz run mih_decode` in `crates/protocols`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use roamsim_protocols::mih::Message;
use roamsim_protocols::mih::wire::Deframer;

fuzz_target!(|octets: &[u8]| {
    if let Ok(message) = Message::decode(octets) {
        let encoded = message.encode();
        assert_eq!(encoded.len(), message.encoded_bytes());
        assert_eq!(Message::decode(&encoded), Ok(message));
    }
    let mut deframer = Deframer::new();
    deframer.push(octets);
    while deframer.next_message().is_some() {}
});
