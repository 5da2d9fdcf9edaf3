//! 802.16 cells in scenarios: what is refused, and what stations get.

use crate::outcome::{self, floats, integers, texts};
use roamsim_scenario::run::{Options, Outcome};

const GOOD: &str = r#"[scenario]
name = "Two uploads"
duration = "10s"
ip = "ipv4"

[[node]]
name = "base-station"
[[node]]
name = "near"
[[node]]
name = "far"

[[wimax]]
name = "air"
base_station = "base-station"
stations = ["near", "far"]
bandwidth = "5MHz"
frame = "5ms"
downlink_share = 0.5
transmit_gap = "100us"
station_profiles = [{ stations = ["far"], uplink = "QPSK 1/2" }]
unsolicited_grants = [{ stations = ["far"], packet_size = "228B", interval = "20ms" }]
requests = { opportunities = 4, backoff_start = 0, backoff_end = 6, retries = 16, t16 = "10ms" }
mtu = "1500B"

[[flow]]
name = "from-near"
from = "near"
to = "base-station"
transport = { protocol = "udp" }
application = { kind = "cbr", packet_size = "1472B", rate = "10Mb/s" }
[[flow]]
name = "from-far"
from = "far"
to = "base-station"
transport = { protocol = "udp" }
application = { kind = "cbr", packet_size = "200B", interval = "20ms" }
"#;

reports! {
    bandwidth_of_no_list: "bandwidth = \"5MHz\"" => "bandwidth = \"5.1MHz\"";
    bandwidth_too_wide: "bandwidth = \"5MHz\"" => "bandwidth = \"35MHz\"";
    bandwidth_as_a_rate: "bandwidth = \"5MHz\"" => "bandwidth = \"5Mb/s\"";
    frame_of_no_list: "frame = \"5ms\"" => "frame = \"6ms\"";
    no_downlink: "downlink_share = 0.5" => "downlink_share = 0.0";
    downlink_without_data: "downlink_share = 0.5" => "downlink_share = 0.05";
    uplink_without_data: "downlink_share = 0.5" => "downlink_share = 0.91";
    downlink_without_room_for_a_burst_of_each_profile: "downlink_share = 0.5\ntransmit_gap = \"100us\"\nstation_profiles = [{ stations = [\"far\"], uplink = \"QPSK 1/2\" }]\nunsolicited_grants = [{ stations = [\"far\"], packet_size = \"228B\", interval = \"20ms\" }]" => "downlink_share = 0.094\nstation_profiles = [{ stations = [\"far\"], downlink = \"QPSK 1/2\" }]";
    gaps_that_leave_nothing: "transmit_gap = \"100us\"" => "transmit_gap = \"5ms\"";
    more_grants_than_the_uplink_holds: "packet_size = \"228B\"" => "packet_size = \"1400B\"";
    grants_all_the_time: "interval = \"20ms\" }]" => "interval = \"100us\" }]";
    grants_longer_than_the_mtu: "packet_size = \"228B\"" => "packet_size = \"1501B\"";
    grants_of_nobody: "stations = [\"far\"], packet_size" => "stations = [\"fat\"], packet_size";
    profile_of_a_station_twice: "[\"far\"], uplink" => "[\"far\", \"far\"], uplink";
    profile_that_does_not_exist: "QPSK 1/2" => "QPSK 2/3";
    a_station_of_two_services: "unsolicited_grants = [{ stations = [\"far\"], packet_size = \"228B\", interval = \"20ms\" }]" => "unsolicited_grants = [{ stations = [\"far\"], packet_size = \"228B\", interval = \"20ms\" }]\nreal_time_polling = [{ stations = [\"far\"], interval = \"20ms\" }]";
    polls_all_the_time: "unsolicited_grants = [{ stations = [\"far\"], packet_size = \"228B\", interval = \"20ms\" }]" => "non_real_time_polling = [{ stations = [\"far\"], interval = \"10us\" }]";
    a_class_of_two_services: "unsolicited_grants = [{ stations = [\"far\"], packet_size = \"228B\", interval = \"20ms\" }]" => "unsolicited_grants = [{ stations = [\"far\"], dscp = [\"ef\", 46], packet_size = \"228B\", interval = \"20ms\" }]";
    a_service_for_no_class: "unsolicited_grants = [{ stations = [\"far\"], packet_size = \"228B\", interval = \"20ms\" }]" => "real_time_polling = [{ stations = [\"far\"], dscp = [], interval = \"20ms\" }]";
    no_opportunity: "opportunities = 4" => "opportunities = 0";
    opportunities_that_leave_nothing: "opportunities = 4" => "opportunities = 24";
    windows_in_the_wrong_order: "backoff_start = 0" => "backoff_start = 7";
    window_of_five_bits: "backoff_end = 6" => "backoff_end = 16";
    too_few_retries: "retries = 16" => "retries = 3";
    t16_too_short: "t16 = \"10ms\"" => "t16 = \"9ms\"";
    mtu_above_the_longest_pdu: "mtu = \"1500B\"" => "mtu = \"2034B\"";
    station_twice: "stations = [\"near\", \"far\"]" => "stations = [\"near\", \"far\", \"near\"]";
    the_base_station_is_a_station: "stations = [\"near\", \"far\"]" => "stations = [\"near\", \"far\", \"base-station\"]";
}

fn outcome(text: &str) -> Outcome {
    outcome::of(text, &[], Options { seed: 1, ..Options::default() })
}

#[test]
fn an_upload_gets_what_is_left_beside_unsolicited_grants() {
    let outcome = outcome(GOOD);
    // 48 symbols less 8; every fourth frame a burst of 1 + 10 symbols of 24 octets, for 238 and the tail. 39
    // symbols of 108 less 3 octets are 4209, 28 are 3021; 2000 frames have 1500 and 500 of them: 7,824,000
    // octets. A packet has 1510 and 14 more a frame in which it is cut: (7,824,000 - 28,000) / 1510 = 5162 in
    // 10 s; the first frame brings nothing, since it has to ask.
    let delivered = floats(&outcome, "flows", "delivered_packets");
    assert!((5155.0..=5165.0).contains(&delivered[0]), "{delivered:?}");
    assert_eq!(delivered[1], 500.0);
    // It comes at the begin of the frame, whose burst begins at 2.9 ms: 11 symbols.
    let delays = floats(&outcome, "flows", "mean_delay_s");
    assert!((delays[1] - 0.00345).abs() < 1e-9, "{delays:?}");
    // 20 B less than the packet: padding.
    assert_eq!(integers(&outcome, "wimax_stations", "padding_bytes")[1], 500);
    assert_eq!(integers(&outcome, "wimax_stations", "requests"), [1, 0]);
}

#[test]
fn classes_have_service_flows_of_their_own_in_both_directions() {
    let voice = "unsolicited_grants = [{ stations = [\"far\"], dscp = [\"ef\"], packet_size = \"228B\", interval = \"20ms\" }]";
    let classes = GOOD
        .replace(
            "unsolicited_grants = [{ stations = [\"far\"], packet_size = \"228B\", interval = \"20ms\" }]",
            voice,
        )
        .replace(
            "from = \"far\"\nto = \"base-station\"\n",
            "from = \"far\"\nto = \"base-station\"\ndscp = \"ef\"\n",
        );
    let other = "[[flow]]\nname = \"other\"\nfrom = \"far\"\nto = \"base-station\"\ntransport = { protocol = \"udp\" }\n\
                 application = { kind = \"cbr\", packet_size = \"200B\", interval = \"20ms\", start = \"10ms\" }\n";
    let outcome = outcome(&(classes + other));
    // As above; what is not marked asks by contention, or with a burst.
    assert!((floats(&outcome, "flows", "mean_delay_s")[1] - 0.00345).abs() < 1e-9);
    let names = texts(&outcome, "wimax_flows", "service");
    assert_eq!(names.iter().collect::<Vec<_>>(), ["BE", "BE", "UGS"]);
    let pdus = integers(&outcome, "wimax_flows", "uplink_pdus");
    assert_eq!(pdus[2], 500);
    let requests = integers(&outcome, "wimax_flows", "requests");
    assert!(requests[1] > 0 && requests[2] == 0, "{requests:?}");
    // The rows of a station are those of its service flows together.
    assert_eq!(integers(&outcome, "wimax_stations", "uplink_pdus"), [pdus[0], pdus[1] + pdus[2]]);
}

#[test]
fn the_parts_of_its_frames_add_up_to_the_run() {
    let outcome = outcome(&GOOD.replace("bandwidth = \"5MHz\"", "bandwidth = \"7MHz\""));
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
    let sum: f64 = parts.iter().map(|part| floats(&outcome, "wimax", part)[0]).sum();
    assert!((sum - 10.005).abs() < 1e-9, "{sum}");
    assert!(parts.iter().all(|part| floats(&outcome, "wimax", part)[0] >= 0.0));
    // The last one begins when the run ends.
    assert_eq!(integers(&outcome, "wimax", "frames"), [2001]);
}

#[test]
fn packing_is_of_a_cell_and_a_service_says_otherwise_of_itself() {
    let polled = GOOD
        .replace(
            "unsolicited_grants = [{ stations = [\"far\"], packet_size = \"228B\", interval = \"20ms\" }]",
            "PACKS\nreal_time_polling = [{ stations = [\"far\"], interval = \"20ms\"OWN }]",
        )
        .replace("packet_size = \"1472B\", rate", "packet_size = \"36B\", rate")
        .replace("\"200B\", interval = \"20ms\"", "\"50B\", interval = \"1ms\"");
    let mut of_first = Vec::new();
    for (cell, own, packs) in [
        ("", "", [false, false]),
        ("packing = true", "", [true, true]),
        ("packing = true", ", packing = false", [true, false]),
        ("packing = false", ", packing = true", [false, true]),
    ] {
        let outcome = outcome(&polled.replace("PACKS", cell).replace("OWN", own));
        let delivered = floats(&outcome, "flows", "delivered_packets");
        let pdus = integers(&outcome, "wimax_stations", "uplink_pdus");
        // Five packets of the second come in a frame; the first is saturated.
        for (station, packs) in packs.into_iter().enumerate() {
            assert_eq!((pdus[station] as f64) < delivered[station] / 3.0, packs, "{cell} {own}: {pdus:?}");
        }
        of_first.push(delivered[0]);
    }
    // 74 octets a packet without, 67 with; and whoever packs leaves more to the other.
    let [none, both, first, second] = of_first[..] else { panic!("{of_first:?}") };
    assert!(first > 1.05 * none && both > first && second > none, "{of_first:?}");
}

#[test]
fn limits_of_the_standard_are_left_by_name() {
    let below = GOOD.replace(
        "retries = 16, t16 = \"10ms\"",
        "retries = 3, t16 = \"6ms\", beyond_standard = [\"retries\", \"t16\"]",
    );
    outcome(&below);
}
