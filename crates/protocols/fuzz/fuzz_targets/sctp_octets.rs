//! Two associations survive any sequence of octets, damaged packets, calls and pauses.
//! Run: `cargo +nightly fuzz run sctp_octets` in `crates/protocols`.
#![no_main]

#[path = "../../tests/drivers/sctp_octets.rs"]
mod driver;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    driver::run(input);
});
