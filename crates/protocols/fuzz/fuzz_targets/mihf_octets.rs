//! An MIHF survives any sequence of messages, calls and pauses.
//! Run: `cargo +nightly fuzz run mihf_octets` in `crates/protocols`.
#![no_main]

#[path = "../../tests/drivers/mihf_octets.rs"]
mod driver;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    driver::run(input);
});
