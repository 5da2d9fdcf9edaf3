//! Any octets are read as a message or refused; what is read comes back from its own encoding.
//! Run: `cargo +nightly fuzz run mobile_ip_decode` in `crates/protocols`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use roamsim_protocols::mobile_ip::wire::tunnel::OuterHeader;
use roamsim_protocols::mobile_ip::{AgentAdvertisement, AgentSolicitation, Message};

fuzz_target!(|octets: &[u8]| {
    if let Ok(message) = Message::decode(octets) {
        assert_eq!(message.encode(), octets);
    }
    if let Ok(advertisement) = AgentAdvertisement::decode(octets) {
        let encoded = advertisement.encode();
        assert_eq!(encoded.len(), advertisement.encoded_bytes());
        assert_eq!(AgentAdvertisement::decode(&encoded), Ok(advertisement));
    }
    let _ = AgentSolicitation::decode(octets);
    if let Ok((outer, inner)) = OuterHeader::decapsulate(octets) {
        let again = outer.encapsulate(inner);
        assert_eq!(OuterHeader::decapsulate(&again), Ok((outer, inner)));
    }
});
