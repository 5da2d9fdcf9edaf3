//! The machines of Mobile IP survive any sequence of messages and pauses.
//! Run: `cargo +nightly fuzz run mobile_ip_octets` in `crates/protocols`.
#![no_main]

#[path = "../../tests/drivers/mobile_ip_octets.rs"]
mod driver;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    driver::run(input);
});
