//! Network entry of 802.16 in scenarios: what is refused, and walks into its cells under each handover
//! scheme.

use crate::outcome::{self, floats, integers, texts};
use roamsim_scenario::run::{Options, Outcome};
use roamsim_scenario::{Format, Scenario};
use std::path::Path;

/// A terminal with two radios walks at 2 m/s: into an 802.16 cell after 2.5 s, out of a Wi-Fi cell of 50 m
/// after 15 s.
const GOOD: &str = r#"[scenario]
name = "From 802.11 to 802.16"
duration = "40s"

[[node]]
name = "server"
[[node]]
name = "access-point"
position = { x = "0m", y = "0m" }
[[node]]
name = "base-station"
position = { x = "100m", y = "0m" }
[[node]]
name = "walker"
position = { x = "20m", y = "0m" }
motion = { kind = "linear", to = { x = "120m", y = "0m" }, speed = "2m/s" }
multihomed = true
change_primary_at = "going_down"

[[link]]
name = "to-access-point"
between = ["server", "access-point"]
rate = "100Mb/s"
delay = "10ms"
[[link]]
name = "to-base-station"
between = ["server", "base-station"]
rate = "100Mb/s"
delay = "10ms"

[[wifi]]
name = "wifi"
access_point = "access-point"
stations = ["walker"]
beacons = {}
radio = { path_loss = { model = "two_ray_ground" }, radius = "50m" }

[[wimax]]
name = "wimax"
base_station = "base-station"
stations = ["walker"]

[wimax.entry]
radius = "75m"
dcd_interval = "5s"
ranging_interval = "20ms"
ranging_backoff_start = 2
channels = 2
channel = 1
search_interval = "100ms"
timers = { t3 = "200ms", t9 = "300ms", t20 = "10ms", lost_dl_map = "600ms" }

[[flow]]
name = "download"
from = "server"
to = "walker"
application = { kind = "cbr", packet_size = "1000B", interval = "20ms", start = "1s" }
transport = { protocol = "sctp", dynamic_addresses = true }
"#;

reports! {
    dcd_too_seldom: "dcd_interval = \"5s\"" => "dcd_interval = \"11s\"";
    ranging_too_seldom: "ranging_interval = \"20ms\"" => "ranging_interval = \"2001ms\"";
    uplink_without_room_for_a_message: "stations = [\"walker\"]\n\n[wimax.entry]\nradius = \"75m\"\ndcd_interval = \"5s\"\nranging_interval = \"20ms\"" => "stations = [\"walker\"]\nburst_profile = \"BPSK 1/2\"\ndownlink_share = 0.75\nrequests = { opportunities = 5 }\n\n[wimax.entry]\nradius = \"75m\"\nranging_interval = \"5ms\"";
    t3_too_long: "t3 = \"200ms\"" => "t3 = \"201ms\"";
    t9_too_short: "t9 = \"300ms\"" => "t9 = \"299ms\"";
    t18_beyond_t9: "t9 = \"300ms\"" => "t9 = \"400ms\", t18 = \"401ms\"";
    t20_of_less_than_two_frames: "t20 = \"10ms\"" => "t20 = \"9ms\"";
    lost_maps_too_late: "lost_dl_map = \"600ms\"" => "lost_dl_map = \"700ms\"";
    a_timer_of_no_time: "t3 = \"200ms\"" => "t3 = \"0s\"";
    t4_too_long: "t3 = \"200ms\"" => "t4 = \"36s\"";
    t27_behind_t4: "t3 = \"200ms\"" => "t27_idle = \"35s\"";
    t27_of_a_frame: "t3 = \"200ms\"" => "t27_active = \"5ms\"";
    block_errors_of_no_source: "radius = \"75m\"" => "radio = { path_loss = { model = \"free_space\" }, block_errors = { source = \"\", profiles = [] } }";
    block_errors_that_grow: "radius = \"75m\"" => "radio = { path_loss = { model = \"free_space\" }, block_errors = { source = \"made up\", profiles = [{ profile = \"64-QAM 3/4\", points = [[20.0, 0.1], [21.0, 0.2]] }] } }";
    block_errors_beyond_one: "radius = \"75m\"" => "radio = { path_loss = { model = \"free_space\" }, block_errors = { source = \"made up\", profiles = [{ profile = \"64-QAM 3/4\", points = [[20.0, 1.1]] }] } }";
    ranging_windows_in_the_wrong_order: "ranging_backoff_start = 2" => "ranging_backoff_start = 7";
    a_channel_that_is_not_searched: "channel = 1" => "channel = 3";
    no_channels: "channels = 2" => "channels = 0";
    search_without_rest: "search_interval = \"100ms\"" => "search_interval = \"10us\"";
    neither_radius_nor_radio: "radius = \"75m\"\n" => "";
    both_radius_and_radio: "radius = \"75m\"" => "radius = \"75m\"\nradio = { path_loss = { model = \"free_space\" } }";
    a_threshold_out_of_order: "radius = \"75m\"" => "radio = { path_loss = { model = \"free_space\" }, thresholds = [{ profile = \"QPSK 1/2\", snr_db = 2.0 }] }";
    a_hysteresis_below_zero: "radius = \"75m\"" => "radio = { path_loss = { model = \"free_space\" }, adaptation = { hysteresis_db = -1 } }";
    a_noise_figure_of_no_receiver: "radius = \"75m\"" => "radio = { path_loss = { model = \"free_space\" }, noise_figure_db = 70 }";
    no_radius: "radius = \"75m\"" => "radius = \"0m\"";
    nobody_comes_in: "x = \"100m\", y = \"0m\"" => "x = \"100m\", y = \"100m\"";
    one_interface_for_signal_and_radius: "multihomed = true\nchange_primary_at = \"going_down\"" => "";
    a_scan_interval_of_too_many_frames: "radius = \"75m\"" => "radius = \"75m\"\nscanning = { duration = \"1280ms\" }";
    no_time_between_scan_intervals: "radius = \"75m\"" => "radius = \"75m\"\nscanning = { interleaving_interval = \"0s\" }";
    scans_of_no_interval: "radius = \"75m\"" => "radius = \"75m\"\nscanning = { iterations = 0 }";
    scans_all_the_time: "radius = \"75m\"" => "radius = \"75m\"\nscanning = { every = \"1ms\" }";
    t44_of_a_frame: "radius = \"75m\"" => "radius = \"75m\"\nscanning = { t44 = \"5ms\" }";
    a_station_without_a_place: "position = { x = \"100m\", y = \"0m\" }" => "";
}

fn outcome_of(text: &str) -> Outcome {
    outcome::of(text, &[], Options { seed: 1, ..Options::default() })
}

/// A station at 50 m, whose blocks are lost with this ratio at any signal over noise.
fn with_block_errors(ratio: f64) -> String {
    format!(
        r#"[scenario]
name = "Blocks that are lost"
duration = "46s"
ip = "ipv4"

[[node]]
name = "base-station"
position = {{ x = "0m", y = "0m" }}
[[node]]
name = "station"
position = {{ x = "50m", y = "0m" }}

[[wimax]]
name = "air"
base_station = "base-station"
stations = ["station"]

[wimax.entry.radio]
path_loss = {{ model = "free_space" }}
[wimax.entry.radio.block_errors]
source = "made up"
profiles = [{{ profile = "64-QAM 3/4", points = [[-50.0, {ratio}], [100.0, {ratio}]] }}]

[[flow]]
name = "down"
from = "base-station"
to = "station"
transport = {{ protocol = "udp" }}
application = {{ kind = "cbr", packet_size = "1000B", interval = "20ms", start = "6s" }}
"#
    )
}

#[test]
fn a_packet_is_lost_with_any_block_of_the_table() {
    // 0.98^10 and 0.9^10.
    for (ratio, expected) in [(0.0, 1.0), (0.02, 0.81707), (0.1, 0.34868)] {
        let outcome = outcome_of(&with_block_errors(ratio));
        let delivered = floats(&outcome, "flows", "delivered_packets")[0];
        // 1028 octets and 10 of a PDU begin a burst: 10 blocks of 108. 2000 packets, five standard errors.
        let variance = expected * (1.0 - expected) / 2000.0;
        assert!(
            (delivered / 2000.0 - expected) * (delivered / 2000.0 - expected) <= 25.0 * variance,
            "{ratio}: {delivered}"
        );
        let lost = integers(&outcome, "wimax_stations", "lost_pdus")[0] as f64;
        assert!((delivered + lost - 2000.0).abs() <= 1.0, "{delivered} {lost}");
        assert_eq!(texts(&outcome, "wimax", "block_errors").different(), ["made up"]);
    }
}

#[test]
fn each_service_flow_that_is_added_is_a_row_and_one_that_is_refused_as_well() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/wimax-classes.toml");
    let outcome = outcome_of(&std::fs::read_to_string(path).expect("an example"));
    let column = |name| texts(&outcome, "wimax_additions", name).to_vec();
    let mut rows: Vec<_> = column("node").into_iter().zip(column("service")).zip(column("outcome")).collect();
    let row = |node: &str, service: &str, outcome: &str| {
        ((node.to_owned(), service.to_owned()), outcome.to_owned())
    };
    let expected = [
        row("first", "BE", "admitted"),
        row("first", "UGS", "admitted"),
        row("first", "rtPS", "admitted"),
        row("second", "BE", "admitted"),
        row("second", "UGS", "refused"),
    ];
    // Who enters first is drawn.
    rows.sort_by_key(|((node, _), _)| node.clone());
    assert_eq!(rows, expected);
    assert_eq!(integers(&outcome, "wimax_stations", "refused_connections"), [0, 1]);
}

/// Of the handovers, where to, and whether they were completed.
fn handovers(outcome: &Outcome) -> Vec<(String, bool)> {
    let to = texts(outcome, "handovers", "to_cell");
    let completed = floats(outcome, "handovers", "completed_s");
    to.to_vec().into_iter().zip(completed.iter().map(|at_s| at_s.is_finite())).collect()
}

#[test]
fn a_terminal_with_two_radios_is_in_802_16_before_it_leaves_802_11() {
    let outcome = outcome_of(GOOD);
    let taken = handovers(&outcome);
    assert!(taken.contains(&("wimax".to_owned(), true)), "{taken:?}");
    // One packet each 20 ms in 39 s; the last may be on its way.
    let delivered = floats(&outcome, "flows", "delivered_packets")[0];
    assert!(delivered >= 1945.0, "{delivered}");
    // It has entered once, and the walk leaves it there.
    assert_eq!(integers(&outcome, "wimax_stations", "ranging_requests"), [1]);
    assert!(integers(&outcome, "wimax_stations", "downlink_pdus")[0] > 500);
}

/// An example with its second cell as one of 802.16.
fn with_802_16(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    let text = std::fs::read_to_string(path).expect("an example");
    let begin = text.rfind("[[cell]]").expect("its second cell");
    let end = text[begin..].find("\n\n").map_or(text.len(), |length| begin + length);
    let cell = &text[begin..end];
    let stations = cell.lines().find(|line| line.starts_with("stations")).expect("its stations");
    let base_station = cell.lines().find(|line| line.starts_with("base_station")).expect("its base station");
    let wimax = format!(
        "[[wimax]]\nname = \"of 802.16\"\n{base_station}\n{stations}\nburst_profile = \"16-QAM 1/2\"\nentry = {{ radius = \"170m\" }}"
    );
    format!("{}{wimax}{}", &text[..begin], &text[end..])
}

#[test]
fn walks_between_an_abstract_cell_and_one_of_802_16_hand_over_under_each_scheme() {
    for (name, scheme) in
        [("cell-walk.toml", "bridged"), ("mobile-ip.toml", "mobile_ip"), ("mobile-sctp.toml", "mobile_sctp")]
    {
        let outcome = outcome_of(&with_802_16(name));
        let schemes = texts(&outcome, "handovers", "scheme");
        assert!(schemes.iter().all(|own| own == scheme), "{name}");
        let taken = handovers(&outcome);
        for into in [true, false] {
            let found = taken.iter().any(|(to, completed)| *completed && (to == "of 802.16") == into);
            assert!(found, "{name}: {taken:?}");
        }
        assert!(
            floats(&outcome, "flows", "goodput_bps").iter().all(|goodput_bps| *goodput_bps > 0.0),
            "{name}"
        );
    }
}

#[test]
fn burst_profiles_follow_the_signal_of_a_walk() {
    // 30 dBm, 43.3 dB at the first metre of 3.5 GHz, and 40 a decade: maps (-89.1 dBm) reach 78 m, 64-QAM 3/4
    // (-71.1 dBm) 28 m. The base station is at 100 m: it is heard from 1 s on, and comes nearer.
    let radio = "radio = { path_loss = { model = \"log_distance\", exponent = 4 }, adaptation = {} }";
    let outcome = outcome_of(&GOOD.replace("radius = \"75m\"", radio));
    let (profiles, directions) =
        (texts(&outcome, "wimax_profiles", "profile"), texts(&outcome, "wimax_profiles", "direction"));
    let pairs = profiles.iter().zip(directions.iter());
    let down: Vec<&str> = pairs.filter(|(_, way)| *way == "downlink").map(|(name, _)| name).collect();
    let faster = ["QPSK 1/2", "QPSK 3/4", "16-QAM 1/2", "16-QAM 3/4", "64-QAM 2/3", "64-QAM 3/4"];
    assert_eq!(down.split_first().map(|(first, rest)| (*first, rest)), Some(("BPSK 1/2", &faster[..])));
    assert!(floats(&outcome, "flows", "delivered_packets")[0] >= 1900.0);
    assert_eq!(integers(&outcome, "wimax_stations", "lost_pdus"), [0]);
}

#[test]
fn a_profile_that_nobody_ever_understands_is_refused() {
    // The walk passes at 60 m.
    let radio = "radio = { path_loss = { model = \"log_distance\", exponent = 4 } }";
    let far = GOOD
        .replace("radius = \"75m\"", radio)
        .replace("x = \"100m\", y = \"0m\"", "x = \"100m\", y = \"60m\"");
    let refused = |text: &str| match Scenario::parse(text, "scenario.toml", Format::Toml, &[]) {
        Ok(_) => String::new(),
        Err(diagnostics) => diagnostics.render(false),
    };
    let told = refused(&far);
    assert!(told.contains("reaches 27.723m") && told.contains("adaptation = {}"), "{told}");
    let weak = far.replace("radio = { ", "radio = { transmit_power = \"10dBm\", ");
    assert!(refused(&weak).contains("nobody ever comes into this cell"), "{}", refused(&weak));
    let adapts = far.replace(" } }", " }, adaptation = {} }");
    assert_eq!(refused(&adapts), "");
    // 20 dB less than maps, which reach 78.14 m: a 10^(20 / 40)th of that.
    let told =
        refused(&adapts.replace("exponent = 4 },", "exponent = 4 }, station_transmit_power = \"10dBm\","));
    assert!(told.contains("its RNG-REQ is never heard") && told.contains("it reaches 24.709m"), "{told}");
    assert!(
        told.contains("higher `station_transmit_power`") && told.contains("stations = [\"walker\"]"),
        "{told}"
    );
}

#[test]
fn grants_of_profiles_that_adapt_are_reckoned_in_the_most_robust_one() {
    let radio = "radio = { path_loss = { model = \"log_distance\", exponent = 4 } }";
    let grants = "stations = [\"walker\"]\nunsolicited_grants = [{ stations = [\"walker\"], packet_size = \"900B\", interval = \"20ms\" }]\n\n[wimax.entry]";
    let fixed =
        GOOD.replace("radius = \"75m\"", radio).replace("stations = [\"walker\"]\n\n[wimax.entry]", grants);
    let refused = |text: &str| match Scenario::parse(text, "scenario.toml", Format::Toml, &[]) {
        Ok(_) => String::new(),
        Err(diagnostics) => diagnostics.render(false).split_whitespace().collect::<Vec<_>>().join(" "),
    };
    assert_eq!(refused(&fixed), "");
    // 910 octets and the tail in symbols of 12, and the preamble.
    let told = refused(&fixed.replace(" } }", " }, adaptation = {} }"));
    assert!(told.contains("up to 77 symbols of a frame") && told.contains("reckoned in BPSK 1/2"), "{told}");
    assert!(told.contains("leave `adaptation` out"), "{told}");
}

#[test]
fn descriptors_in_every_frame_that_leave_no_room_for_messages_are_refused() {
    // 96 symbols, of which the downlink has a part of 0.3: 28. Preamble and header 3; maps 26 + 4 and 29
    // octets, 6 for ranging, 117 of DCD, 72 of UCD and the tail: 255, 22 symbols. Three are left, and 76
    // octets of DSA-REQ take seven.
    let every = |dcd: &str, ucd: &str| {
        let entry = GOOD
            .replace("dcd_interval = \"5s\"", &format!("dcd_interval = \"{dcd}\"\nucd_interval = \"{ucd}\""));
        let timers = entry.replace("timers = {", "timers = { t1 = \"10s\", t12 = \"10s\",");
        timers.replace(
            "stations = [\"walker\"]\n\n[wimax.entry]",
            "stations = [\"walker\"]\ndownlink_share = 0.3\n\n[wimax.entry]",
        )
    };
    let refused = |text: &str| match Scenario::parse(text, "scenario.toml", Format::Toml, &[]) {
        Ok(_) => String::new(),
        Err(diagnostics) => diagnostics.render(false).split_whitespace().collect::<Vec<_>>().join(" "),
    };
    assert_eq!(refused(&every("5s", "5s")), "");
    let told = refused(&every("5ms", "5ms"));
    assert!(told.contains("no station could ever enter: a message of 76 B takes 7 symbols"), "{told}");
    assert!(told.contains("a longer `dcd_interval` or `ucd_interval`"), "{told}");
}

/// A terminal walks at 2 m/s out of one 802.16 cell, which it leaves after 35 s, into another one.
const TWO_CELLS: &str = include_str!("../../../examples/wimax-scanning.toml");

#[test]
fn who_scans_finds_a_better_cell_before_his_own_is_lost() {
    let scans = outcome_of(TWO_CELLS);
    let line = TWO_CELLS.lines().find(|line| line.starts_with("scanning")).expect("it scans");
    let waits = outcome_of(&TWO_CELLS.replace(line, ""));
    for outcome in [&scans, &waits] {
        assert_eq!(handovers(outcome), [("east cell".to_owned(), true)]);
    }
    let completed_s = |outcome: &Outcome| floats(outcome, "handovers", "completed_s")[0];
    // Nearer by 10 m from 55 m on, after 22.5 s; scans are 1.1 s apart, with what asking for them takes.
    assert!((22.5..24.0).contains(&completed_s(&scans)), "{}", completed_s(&scans));
    // Out of reach at 80 m, after 35 s: lost maps take 600 ms, and it has to hear a DCD and a UCD then.
    assert!((35.6..36.5).contains(&completed_s(&waits)), "{}", completed_s(&waits));
    let interruption_s = |outcome: &Outcome| floats(outcome, "handovers", "interruption_s")[0];
    // The descriptors are known: up to 20 ms until there is ranging, four opportunities of back-off in two
    // regions, seven frames, a packet each 20 ms.
    assert!(interruption_s(&scans) < 0.12, "{}", interruption_s(&scans));
    assert!(interruption_s(&waits) > 0.6, "{}", interruption_s(&waits));
}

#[test]
fn a_station_with_one_radio_keeps_no_address_in_each_of_two_cells() {
    let refused = |text: &str| match Scenario::parse(text, "scenario.toml", Format::Toml, &[]) {
        Ok(_) => String::new(),
        Err(diagnostics) => diagnostics.render(false).split_whitespace().collect::<Vec<_>>().join(" "),
    };
    let told = refused(&TWO_CELLS.replace("hysteresis = \"10m\"", "multihomed = true"));
    assert!(
        told.contains("it has one radio for 802.16") && told.contains("leave `multihomed` out"),
        "{told}"
    );
}

#[test]
fn a_remote_user_has_a_station_scan() {
    let commanded = TWO_CELLS.replace("every = \"1s\"", "every = \"100s\"")
        + "\n[[signalling]]\nname = \"events\"\nkind = \"link_events\"\nfrom = \"walker\"\nto = \"server\"\n\
           transport = { protocol = \"tcp\" }\nevents = [\"link_parameters_report\"]\n\
           thresholds = [{ link = \"west cell\", percent = 25, direction = \"below\" }]\n\
           actions = [{ link = \"west cell\", action = \"scan\", upon = \"link_parameters_report\", of = \"west cell\" }]\n";
    let outcome = outcome_of(&commanded);
    let column = |name| texts(&outcome, "link_commands", name).to_vec();
    assert_eq!(column("command"), ["configure_thresholds", "scan"]);
    assert_eq!(column("result"), ["success", "success"]);
    // Less than 24.5 % beyond 60.4 m, after 25.2 s. The other cell is nearer by 20 m then.
    assert_eq!(handovers(&outcome), [("east cell".to_owned(), true)]);
    let completed_s = floats(&outcome, "handovers", "completed_s")[0];
    assert!((25.2..26.0).contains(&completed_s), "{completed_s}");
}
