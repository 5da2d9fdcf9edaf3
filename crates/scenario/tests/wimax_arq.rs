//! ARQ of 802.16 cells in scenarios: what is refused, and what it does to a stream.

use crate::outcome::{self, floats, integers, texts};
use roamsim_scenario::run::{Options, Outcome};
use roamsim_scenario::{Format, Scenario};

/// One block of 64-QAM 3/4 in ten is lost, both ways.
const LOSSY: &str = r#"[scenario]
name = "Sent again"
duration = "20s"
ip = "ipv4"

[[node]]
name = "base-station"
position = { x = "0m", y = "0m" }
[[node]]
name = "first"
position = { x = "50m", y = "0m" }
[[node]]
name = "second"
position = { x = "0m", y = "50m" }

[[wimax]]
name = "air"
base_station = "base-station"
stations = ["first", "second"]
arq = { block_size = "200B" }
non_real_time_polling = [{ stations = ["second"], interval = "1s", arq = false }]
[wimax.entry]
known_descriptors = true
[wimax.entry.radio]
path_loss = { model = "free_space" }
[wimax.entry.radio.block_errors]
source = "a test"
profiles = [{ profile = "64-QAM 3/4", points = [[10.0, 0.1], [90.0, 0.1]] }]

[[flow]]
name = "to-first"
from = "base-station"
to = "first"
transport = { protocol = "udp" }
application = { kind = "cbr", packet_size = "472B", interval = "20ms", start = "1s" }
[[flow]]
name = "to-second"
from = "base-station"
to = "second"
transport = { protocol = "udp" }
application = { kind = "cbr", packet_size = "472B", interval = "20ms", start = "1s" }
[[flow]]
name = "from-first"
from = "first"
to = "base-station"
transport = { protocol = "udp" }
application = { kind = "cbr", packet_size = "472B", interval = "20ms", start = "1s" }
"#;

fn outcome(text: &str) -> Outcome {
    outcome::of(text, &[], Options { seed: 1, ..Options::default() })
}

#[test]
fn a_stream_with_arq_arrives_and_one_without_loses_its_blocks() {
    let outcome = outcome(LOSSY);
    let lost = floats(&outcome, "flows", "lost_packets");
    let sent = floats(&outcome, "flows", "sent_packets");
    assert_eq!((lost[0], lost[2]), (0.0, 0.0), "{lost:?}");
    // A PDU of 510 octets is in five symbols, or six: 1 - 0.9^5 = 0.41 to 1 - 0.9^6 = 0.47.
    let ratio = lost[1] / sent[1];
    assert!((0.36..0.52).contains(&ratio), "{ratio}");
    // A row each way of the first; three blocks a packet of 500 octets.
    let directions = texts(&outcome, "wimax_arq", "direction");
    assert_eq!(directions.iter().collect::<Vec<_>>(), ["downlink", "uplink"]);
    let blocks = integers(&outcome, "wimax_arq", "sent_blocks");
    assert_eq!(blocks, [3 * sent[0] as u64, 3 * sent[2] as u64]);
    let again = integers(&outcome, "wimax_arq", "repeated_blocks");
    assert!(again.iter().zip(blocks).all(|(again, sent)| again * 10 > *sent * 3), "{again:?}");
    assert!(integers(&outcome, "wimax_arq", "feedback_pdus").iter().all(|count| *count > 500));
    assert_eq!(integers(&outcome, "wimax_arq", "resets"), [0, 0]);
}

#[test]
fn a_lifetime_too_short_for_a_repetition_drops_what_is_lost() {
    let short =
        LOSSY.replace("\"200B\" }", "\"200B\", retry_timeout = \"100ms\", block_lifetime = \"5ms\" }");
    let outcome = outcome(&short);
    let (lost, discarded) =
        (floats(&outcome, "flows", "lost_packets"), integers(&outcome, "wimax_arq", "discarded_blocks"));
    assert!(lost[0] > 100.0 && discarded[0] > 100, "{lost:?} {discarded:?}");
    let reasons = texts(&outcome, "drops", "reason");
    assert!(reasons.iter().any(|reason| reason == "retry limit"), "{reasons:?}");
}

#[test]
fn cells_without_it_have_no_table_of_it() {
    let without = LOSSY.replace("arq = { block_size = \"200B\" }\n", "").replace(", arq = false", "");
    assert!(outcome(&without).tables.iter().all(|table| table.name != "wimax_arq"));
}

/// What is said about a scenario with this change; nothing if it is taken.
fn refused(from: &str, to: &str) -> String {
    assert!(LOSSY.contains(from), "{from}");
    match Scenario::parse(&LOSSY.replace(from, to), "scenario.toml", Format::Toml, &[]) {
        Ok(_) => String::new(),
        Err(diagnostics) => diagnostics.render(false),
    }
}

#[test]
fn what_the_standard_cannot_tell_is_refused_with_the_way_out() {
    let own = "arq = { block_size = \"200B\" }";
    for (to, message, help) in [
        ("arq = { block_size = \"0B\" }", "a block has from 1 to 2040 B", "write a size such as \"256B\""),
        ("arq = { block_size = \"2041B\" }", "a block has from 1 to 2040 B", "write a size such as \"256B\""),
        ("arq = { window = 0 }", "a window has from 1 to 1024 blocks", "write a number such as 1024"),
        ("arq = { window = 1025 }", "a window has from 1 to 1024 blocks", "write a number such as 1024"),
        (
            "arq = { retry_timeout = \"0s\" }",
            "this time must be above zero",
            "write a time such as \"200ms\"",
        ),
        ("arq = { block_lifetime = \"7s\" }", "times up to 6.5535 s", "\"0s\" for no limit"),
    ] {
        let told = refused(own, to);
        assert!(
            told.contains(message) && told.contains(help) && told.contains("scenario.toml:20"),
            "{to}: {told}"
        );
    }
    assert_eq!(
        refused(own, "arq = { block_lifetime = \"0s\", sync_loss_timeout = \"0s\", purge_timeout = \"0s\" }"),
        ""
    );
    let told = refused("arq = { block_size = \"200B\" }\n", "");
    assert_eq!(told, "", "a service that has none may say so");
    let told = refused(own, "packing = true").replace('\n', " ");
    assert_eq!(told, "");
    let without = LOSSY.replace("arq = { block_size = \"200B\" }\n", "").replace("arq = false", "arq = true");
    let told =
        Scenario::parse(&without, "scenario.toml", Format::Toml, &[]).expect_err("refused").render(false);
    assert!(told.contains("the cell says nothing of `arq`"), "{told}");
    // 48 symbols less 3, 10 and what maps and descriptors take are no room for 127 symbols of BPSK 1/2: no
    // block is longer than a packet of 1500 octets.
    let told = refused(own, "arq = { block_size = \"2000B\" }\nburst_profile = \"BPSK 1/2\"");
    assert!(told.contains("a block takes up to 127 symbols of the downlink"), "{told}");
}
