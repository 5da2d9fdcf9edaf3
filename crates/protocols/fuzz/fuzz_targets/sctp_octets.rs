//! An association takes any octets: what is no packet is counted by reason, what is one may change its state.
//! Run: `cargo +nightly fuzz run sctp_octets` in `crates/protocols`.
#![no_main]

use roamsim_engine::{Span, Stream, Time};
use roamsim_protocols::sctp::{Association, Config, Path};
use roamsim_protocols::{Address, Context};

libfuzzer_sys::fuzz_target!(|packets: Vec<Vec<u8>>| {
    let (local, remote) = (Address(0), Address(1));
    let mut random = Stream::new(1, 0, "fuzz");
    let mut association = Association::new(&Config::default(), &[local], 1, &[remote], 2, 1, 1);
    association.listen();
    for (number, octets) in packets.iter().enumerate() {
        let now = Time::ZERO + Span::from_ms(number as u64);
        let mut cx = Context { now, random: &mut random };
        association.handle_octets(&mut cx, Path { local, remote }, octets);
        while association.poll_transmit(&mut cx).is_some() {}
        while association.poll_event().is_some() {}
    }
    let stats = association.stats();
    assert_eq!(stats.packets_received, packets.len() as u64);
    assert!(stats.refused.total() <= stats.packets_received);
});
