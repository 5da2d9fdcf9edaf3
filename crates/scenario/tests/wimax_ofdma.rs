//! 802.16 cells of OFDMA in scenarios: what is refused, and what their slots carry.

use crate::outcome::{self, floats, integers};
use roamsim_scenario::run::{Options, Outcome};
use roamsim_scenario::{Format, Scenario};

/// 44 symbols: a preamble and 28, and 15.
const GOOD: &str = r#"[scenario]
name = "OFDMA"
duration = "10s"
ip = "ipv4"

[[node]]
name = "base-station"
position = { x = "0m", y = "0m" }
[[node]]
name = "terminal"
position = { x = "50m", y = "0m" }

[[wimax]]
name = "air"
base_station = "base-station"
stations = ["terminal"]
ofdma = { subcarriers = 1024, map_repetition = 4, request_codes = 16 }
bandwidth = "10MHz"
frame = "5ms"
transmit_gap = "200us"
receive_gap = "200us"
downlink_share = 0.66
requests = { opportunities = 3 }

[[flow]]
name = "down"
from = "base-station"
to = "terminal"
transport = { protocol = "udp" }
application = { kind = "cbr", packet_size = "1472B", rate = "20Mb/s" }
"#;

fn outcome(text: &str) -> Outcome {
    outcome::of(text, &[], Options { seed: 1, ..Options::default() })
}

#[test]
fn a_saturated_downlink_carries_what_380_slots_have_room_for() {
    let saturated = outcome(GOOD);
    // 420 less 4 and 36: 10,260 octets of 64-QAM 3/4. Packets of 1500 take 1510, and 14 more where one is
    // cut: 10246 / 1510 = 6.79 a frame. The first frame has the one that comes as it begins.
    let delivered = floats(&saturated, "flows", "delivered_packets")[0];
    assert!((delivered - 1.0 - 1999.0 * 10_246.0 / 1510.0).abs() < 2.0, "{delivered}");
    // All symbols are told of: a frame has 4.5257 ms of them, and 0.4743 of gaps.
    let parts = [
        "preamble_s",
        "maps_s",
        "downlink_data_s",
        "downlink_idle_s",
        "requests_s",
        "ranging_s",
        "uplink_data_s",
        "uplink_idle_s",
        "gaps_s",
    ];
    let parts: Vec<f64> = parts.iter().map(|part| floats(&saturated, "wimax", part)[0]).collect();
    let frames = integers(&saturated, "wimax", "frames")[0] as f64;
    assert!((parts.iter().sum::<f64>() - 0.005 * frames).abs() < 1e-6, "{parts:?}");
    assert!(parts.iter().all(|part| *part >= 0.0), "{parts:?}");
    // The preamble and four of thirty slots beside each other in two symbols; 380 slots of data.
    let symbol_s = 1152.0 / 11.2e6;
    assert!((parts[0] - frames * symbol_s * (1.0 + 8.0 / 30.0)).abs() < 1e-6, "{parts:?}");
    assert!((parts[2] - 2000.0 * symbol_s * 380.0 / 15.0).abs() < 0.01, "{parts:?}");
}

#[test]
fn a_terminal_enters_by_codes_and_its_profiles_follow_the_signal() {
    let walk = GOOD
        .replace("x = \"50m\", y = \"0m\" }", "x = \"50m\", y = \"0m\" }\nmotion = { kind = \"linear\", to = { x = \"1500m\", y = \"0m\" }, speed = \"25m/s\" }")
        .replace(
            "requests = { opportunities = 3 }",
            "requests = { opportunities = 3 }\n[wimax.entry]\nknown_descriptors = true\n[wimax.entry.radio]\npath_loss = { model = \"log_distance\", exponent = 3.0 }\nadaptation = {}",
        );
    let outcome = outcome(&walk);
    let profiles = outcome::texts(&outcome, "wimax_profiles", "profile");
    let all: std::collections::BTreeSet<_> = profiles.iter().map(ToString::to_string).collect();
    // From the fastest to the most robust, each way; BPSK is none of them.
    for profile in ["QPSK 1/2", "QPSK 3/4", "16-QAM 1/2", "16-QAM 3/4", "64-QAM 2/3", "64-QAM 3/4"] {
        assert!(all.contains(profile), "{all:?}");
    }
    assert_eq!(all.len(), 6, "{all:?}");
}

/// What is said about a scenario with this change; nothing if it is taken.
fn refused(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "{from}");
    match Scenario::parse(&GOOD.replace(from, to), "scenario.toml", Format::Toml, &[]) {
        Ok(_) => String::new(),
        Err(diagnostics) => diagnostics.render(false),
    }
}

#[test]
fn what_ofdma_has_not_is_refused_with_the_way_out() {
    for (from, to, message, help) in [
        ("subcarriers = 1024", "subcarriers = 256", "PUSC has 512 or 1024 subcarriers", "write 512 or 1024"),
        ("map_repetition = 4", "map_repetition = 3", "1, 2, 4 or 6 times", "write 1, 2, 4 or 6"),
        ("request_codes = 16", "request_codes = 0", "without a code nobody is heard", "32 is the default"),
        ("request_codes = 16", "request_codes = 250", "256 codes in all", "fewer `ranging_codes`"),
        (
            "bandwidth = \"10MHz\"",
            "bandwidth = \"10.1MHz\"",
            "no channel of this bandwidth",
            "write a multiple of",
        ),
        ("frame = \"5ms\"", "frame = \"6ms\"", "no frame of this duration", "write \"2ms\", \"2.5ms\""),
        (
            "frame = \"5ms\"",
            "frame = \"5ms\"\nburst_profile = \"BPSK 1/2\"",
            "OFDMA has no BPSK",
            "write \"QPSK 1/2\"",
        ),
        (
            "frame = \"5ms\"",
            "frame = \"5ms\"\nmap_profile = \"QPSK 3/4\"",
            "maps of OFDMA are in QPSK 1/2",
            "map_repetition",
        ),
        ("opportunities = 3", "opportunities = 16", "opportunities take 16 symbols", "by different codes"),
        (
            "downlink_share = 0.66",
            "downlink_share = 0.05",
            "the downlink of a frame has 0 slots",
            "write a longer `frame`",
        ),
    ] {
        let told = refused(from, to);
        assert!(
            told.contains(message) && told.contains(help) && told.contains("scenario.toml:"),
            "{to}: {told}"
        );
    }
    // 512 subcarriers of 5 MHz and frames of 2 ms are of the standard.
    assert_eq!(refused("subcarriers = 1024, map_repetition = 4", "map_repetition = 1"), "");
    assert_eq!(refused("bandwidth = \"10MHz\"", "bandwidth = \"5MHz\""), "");
    assert_eq!(refused("frame = \"5ms\"", "frame = \"10ms\""), "");
}

#[test]
fn descriptors_are_not_repeated_as_maps_are() {
    // 22 symbols: 150 slots less 4. Maps of two bursts four times are 44 slots; 189 octets of descriptors are
    // 32, and four times 128.
    let narrow = GOOD
        .replace("ofdma = { subcarriers = 1024, map_repetition = 4, request_codes = 16 }", "ofdma = {}")
        .replace("bandwidth = \"10MHz\"", "bandwidth = \"5MHz\"")
        .replace("downlink_share = 0.66", "downlink_share = 0.5")
        .replace(
            "requests = { opportunities = 3 }",
            "requests = { opportunities = 3 }\n[wimax.entry]\nradius = \"100m\"",
        );
    let entered = outcome(&narrow);
    assert!(floats(&entered, "flows", "delivered_packets")[0] > 1000.0);
}
