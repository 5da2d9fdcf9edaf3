//! All tests of this folder but `fuzz`, in one program: thirty-five would each be linked with all that they
//! stand on.
//!
//!     cargo test -p roamsim-scenario --test all link_events
//!
//! runs those of `link_events.rs`.

mod outcome;
#[macro_use]
mod refusal;

mod accesses;
mod bbr;
mod both_ways;
mod cells;
mod classic_queue;
mod congestion_controls;
mod conservation;
mod dect;
mod determinism;
mod diagnostics;
mod examples;
mod fast_open;
mod fragments;
mod handover_flows;
mod handover_keys;
mod l4s;
mod link_events;
mod loss_recovery;
mod mih_handover;
mod mobile_ip;
mod mobile_ip_diagnostics;
mod mobile_sctp;
mod overrides;
mod paths;
mod queues;
mod quic;
mod readers;
mod repetition;
mod robustness;
mod routes;
mod sctp;
mod segments;
mod selection;
mod selection_flows;
mod selection_mih;
mod selection_mobile_ip;
mod selection_radios;
mod semantics;
mod series;
mod sharing;
mod syntax;
mod tcp_windows;
mod transfers;
mod user_timeout;
mod video;
mod wifi;
mod wifi_roaming;
mod wifi_undisturbed;
mod wimax;
mod wimax_arq;
mod wimax_entry;
mod wimax_ofdma;

/// Who forgets a file here has its tests run by nobody.
#[test]
fn every_file_of_tests_is_named_above() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests");
    let files =
        std::fs::read_dir(folder).expect("the folder of tests").map(|entry| entry.expect("an entry").path());
    // A folder with a `main.rs` would be a program of its own, which Cargo.toml has to name; the fuzzer is
    // one.
    let (folders, files): (Vec<_>, Vec<_>) = files.partition(|path| path.is_dir());
    let programs = folders.iter().filter(|path| path.join("main.rs").exists());
    assert!(programs.into_iter().all(|path| path.ends_with("fuzz")), "{folders:?}");
    let modules = files.iter().filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
    for path in modules.filter(|path| !path.ends_with("all.rs")) {
        let name = path.file_stem().and_then(|name| name.to_str()).expect("a name");
        assert!(
            include_str!("all.rs").contains(&format!("\nmod {name};\n")),
            "mod {name}; is missing in all.rs"
        );
    }
}
