//! Wi-Fi cells in scenarios: what is refused, and what stations of different rates get.

use roamsim_scenario::run::{Options, run};
use roamsim_scenario::table::Values;
use roamsim_scenario::{Format, Scenario};

const GOOD: &str = r#"[scenario]
name = "Two uploads"
duration = "20s"
ip = "ipv4"

[[node]]
name = "access-point"
[[node]]
name = "near"
[[node]]
name = "far"

[[wifi]]
name = "air"
access_point = "access-point"
stations = ["near", "far"]
rate = "11Mb/s"
station_rates = [{ stations = ["far"], rate = "1Mb/s" }]
cw_min = 31
cw_max = 1023

[[flow]]
name = "from-near"
from = "near"
to = "access-point"
transport = { protocol = "udp" }
application = { kind = "cbr", packet_size = "1472B", rate = "10Mb/s" }
[[flow]]
name = "from-far"
from = "far"
to = "access-point"
transport = { protocol = "udp" }
application = { kind = "cbr", packet_size = "1472B", rate = "10Mb/s" }
"#;

reports! {
    rate_of_another_standard: "rate = \"11Mb/s\"" => "rate = \"54Mb/s\"";
    station_rate_of_another_standard: "rate = \"1Mb/s\"" => "rate = \"6Mb/s\"";
    rate_of_no_station: "[\"far\"], rate" => "[\"fat\"], rate";
    rate_of_a_station_twice: "[\"far\"], rate" => "[\"far\", \"far\"], rate";
    basic_rate_above_a_station: "cw_min = 31" => "basic_rate = \"2Mb/s\"";
    short_preamble_at_one_megabit: "cw_min = 31" => "preamble = \"short\"";
    slot_time_of_the_other_standard: "cw_min = 31" => "slot_time = \"short\"";
    window_that_is_no_power_of_two_less_one: "cw_min = 31" => "cw_min = 32";
    windows_in_the_wrong_order: "cw_max = 1023" => "cw_max = 15";
    no_attempt_at_short_frames: "cw_min = 31" => "short_retry_limit = 0";
    no_attempt_at_long_frames: "cw_min = 31" => "long_retry_limit = 0";
    rts_threshold_above_every_frame: "cw_min = 31" => "rts_threshold = \"2348B\"";
    fragments_too_short: "cw_min = 31" => "fragmentation_threshold = \"100B\"";
    fragments_of_odd_length: "cw_min = 31" => "fragmentation_threshold = \"501B\"";
    protection_of_the_older_standard: "cw_min = 31" => "protection = { mechanism = \"cts_to_self\" }";
    protection_at_a_rate_of_ofdm: "rate = \"11Mb/s\"\nstation_rates = [{ stations = [\"far\"], rate = \"1Mb/s\" }]" => "standard = \"802.11g\"\nprotection = { mechanism = \"rts_cts\", rate = \"6Mb/s\" }";
    protection_by_a_mechanism_that_does_not_exist: "cw_min = 31" => "protection = { mechanism = \"hope\" }";
    edca_without_an_interframe_space: "cw_min = 31" => "edca = { stations = { ac_vo = { aifsn = 1 } } }";
    edca_window_that_is_no_power_of_two_less_one: "cw_min = 31" => "edca = { stations = { ac_be = { cw_min = 30 } } }";
    edca_windows_in_the_wrong_order: "cw_min = 31" => "edca = { access_point = { ac_be = { cw_max = 15 } } }";
    edca_limit_of_no_whole_units: "cw_min = 31" => "edca = { stations = { ac_vi = { txop_limit = \"3ms\" } } }";
    edca_category_that_does_not_exist: "cw_min = 31" => "edca = { stations = { ac_xx = {} } }";
    station_twice: "stations = [\"near\", \"far\"]" => "stations = [\"near\", \"far\", \"near\"]";
    the_access_point_is_a_station: "stations = [\"near\", \"far\"]" => "stations = [\"near\", \"far\", \"access-point\"]";
    no_station: "stations = [\"near\", \"far\"]\nrate = \"11Mb/s\"\nstation_rates = [{ stations = [\"far\"], rate = \"1Mb/s\" }]" => "stations = []";
}

/// The goodput of both flows, in bits per second.
fn goodputs_bps(text: &str) -> Vec<f64> {
    let scenario = Scenario::parse(text, "scenario.toml", Format::Toml, &[]);
    let scenario = scenario.unwrap_or_else(|diagnostics| panic!("{}", diagnostics.render(false)));
    let outcome = run(&scenario, Options { seed: 1, ..Options::default() }).expect("a run");
    let flows = outcome.tables.iter().find(|table| table.name == "flows").expect("the flows");
    let column = flows.columns.iter().find(|column| column.name == "goodput_bps").expect("the goodput");
    match &column.values {
        Values::Float(values) => values.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_slow_station_takes_the_fast_one_down() {
    let anomaly = goodputs_bps(GOOD);
    // Heusse et al. 2003: each gets the medium as often. One exchange of each takes (1536 * 8 / 11 + 192 +
    // 10 + 248 = 1568 us)
    // + (12,288 + 192 + 10 + 304 = 12,794 us), and about one back-off of half a window each, 360 us together
    //   with DIFS: 1472 octets twice in some 14.8 ms, 0.8 Mb/s for each.
    assert!((anomaly[0] / anomaly[1] - 1.0).abs() < 0.1, "{anomaly:?}");
    assert!(anomaly.iter().all(|bps| (700_000.0..850_000.0).contains(bps)), "{anomaly:?}");
    let alike = goodputs_bps(&GOOD.replace("rate = \"1Mb/s\"", "rate = \"11Mb/s\""));
    assert!(alike.iter().all(|&bps| bps > 2_500_000.0), "{alike:?}");
}

/// A station that walks away from its access point, 8 m to 128 m far in 60 s, while it is sent 2 Mb/s.
const WALK: &str = r#"[scenario]
name = "Away"
duration = "60s"
ip = "ipv4"

[[node]]
name = "access-point"
position = { x = "0m", y = "0m" }
[[node]]
name = "walker"
position = { x = "8m", y = "0m" }
motion = { kind = "linear", to = { x = "128m", y = "0m" }, speed = "2m/s" }

[[wifi]]
name = "air"
access_point = "access-point"
stations = ["walker"]
standard = "802.11g"
rate = "54Mb/s"
rate_control = { algorithm = "arf" }
radio = { path_loss = { model = "log_distance", exponent = 3.0 } }

[[flow]]
name = "download"
from = "access-point"
to = "walker"
transport = { protocol = "udp" }
application = { kind = "cbr", packet_size = "1000B", rate = "2Mb/s" }
"#;

reports! {
    on WALK;
    rate_control_that_does_not_exist: "\"arf\"" => "\"aarf2\"";
    rate_control_without_an_algorithm: "algorithm = \"arf\"" => "";
    rate_control_after_no_success: "\"arf\"" => "\"arf\", successes = 0";
    most_successes_below_the_first: "\"arf\"" => "\"aarf\", most_successes = 9";
    means_of_no_time: "\"arf\"" => "\"minstrel\", interval = \"0s\"";
    means_that_learn_nothing: "\"arf\"" => "\"minstrel\", ewma_percent = 100";
    frames_that_never_look_around: "\"arf\"" => "\"minstrel\", lookaround_percent = 0";
    more_frames_that_look_around_than_there_are: "\"arf\"" => "\"minstrel\", lookaround_percent = 101";
    basic_rate_above_the_lowest_chosen: "rate = \"54Mb/s\"" => "rate = \"54Mb/s\"\nbasic_rate = \"12Mb/s\"";
    rates_by_signal_without_a_radio: "{ algorithm = \"arf\" }\nradio = { path_loss = { model = \"log_distance\", exponent = 3.0 } }" => "{ algorithm = \"by_signal\" }";
    threshold_of_a_rate_of_the_other_standard: "\"arf\"" => "\"by_signal\", thresholds = [{ rate = \"11Mb/s\", power = \"-80dBm\" }]";
    thresholds_that_fall: "\"arf\"" => "\"by_signal\", thresholds = [{ rate = \"6Mb/s\", power = \"-80dBm\" }, { rate = \"54Mb/s\", power = \"-82dBm\" }]";
    thresholds_of_falling_rates: "\"arf\"" => "\"by_signal\", thresholds = [{ rate = \"54Mb/s\", power = \"-65dBm\" }, { rate = \"6Mb/s\", power = \"-82dBm\" }]";
    receptions_that_are_not_complete: "radio = {" => "radio = { reception_thresholds = [{ rate = \"54Mb/s\", power = \"-65dBm\" }],";
    receptions_by_rate_and_radius: "radio = {" => "radio = { radius = \"50m\", reception_thresholds = [{ rate = \"54Mb/s\", power = \"-65dBm\" }],";
}

/// A column of a table.
fn column(text: &str, table: &str, column: &str) -> Values {
    let scenario = Scenario::parse(text, "scenario.toml", Format::Toml, &[]);
    let scenario = scenario.unwrap_or_else(|diagnostics| panic!("{}", diagnostics.render(false)));
    let outcome = run(&scenario, Options { seed: 1, ..Options::default() }).expect("a run");
    let table = outcome.tables.into_iter().find(|found| found.name == table).expect("the table");
    table.columns.into_iter().find(|found| found.name == column).expect("the column").values
}

fn integers(values: &Values) -> Vec<u64> {
    match values {
        Values::Integer(values) => values.clone(),
        // Counts that may be missing.
        Values::Float(values) => values.iter().map(|&count| count as u64).collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn who_walks_away_steps_down_in_rate_and_is_reached_farther() {
    let delivered = |text: &str| integers(&column(text, "flows", "delivered_bytes"))[0] as f64;
    // 20 - 40.09 - 30 log10(d) >= -65 dBm up to 31.4 m, 54 Mb/s; >= -82 dBm up to 115.8 m, 6 Mb/s: 11.7 s and
    // 53.9 s at 250 kB/s.
    let fixed = delivered(&WALK.replace("rate_control = { algorithm = \"arf\" }\n", ""));
    assert!((fixed / 250_000.0 - 11.7).abs() < 0.2, "{fixed}");
    for algorithm in ["arf", "aarf", "by_signal", "minstrel"] {
        let text = WALK.replace("\"arf\"", &format!("\"{algorithm}\""));
        let adapts = delivered(&text);
        assert!((adapts / 250_000.0 - 53.9).abs() < 0.5, "{algorithm}: {adapts}");
        let attempts = integers(&column(&text, "wifi_rates", "attempts"));
        // Of the access point to the walker, then of the walker to the access point: eight rates each.
        assert!(attempts[..8].iter().all(|&attempts| attempts > 100), "{algorithm}: {attempts:?}");
        assert_eq!(attempts[8..], [0; 8]);
    }
}

reports! {
    on WALK;
    loss_of_nobody: "[[flow]]" => "[[wifi.loss]]\nmodel = \"bernoulli\"\nprobability = 0.1\nfrom = \"runner\"\n[[flow]]";
    loss_of_frames: "[[flow]]" => "[[wifi.loss]]\nmodel = \"bernoulli\"\nprobability = 0.1\nof = \"frames\"\n[[flow]]";
    loss_after_the_end: "[[flow]]" => "[[wifi.loss]]\nmodel = \"bernoulli\"\nprobability = 0.1\nstart = \"60s\"\n[[flow]]";
    loss_while_no_link_goes_down: "[[flow]]" => "[[wifi.loss]]\nmodel = \"bernoulli\"\nprobability = 0.1\nduring = \"link_going_down\"\n[[flow]]";
    a_list_of_losses_from_zero: "[[flow]]" => "[[wifi.loss]]\nmodel = \"list\"\nsegments = [3, 0]\n[[flow]]";
    a_list_of_losses_of_no_flow: "[[flow]]" => "[[wifi.loss]]\nmodel = \"list\"\nsegments = [3]\nflow = \"upload\"\n[[flow]]";
    a_list_of_losses_where_no_data_passes: "[[flow]]" => "[[wifi.loss]]\nmodel = \"list\"\nsegments = [3]\nfrom = \"walker\"\n[[flow]]";
    losses_of_a_cell_whose_links_are_always_up: "[[flow]]" => "[[wifi.loss]]\nmodel = \"series\"\nconstant = 0\nsteps = [{ on = { link = \"air\", event = \"link_up\" }, probability = 1 }]\n[[flow]]";
    losses_that_do_not_begin: "[[flow]]" => "[[wifi.loss]]\nmodel = \"series\"\nsteps = [{ at = \"3s\", probability = 1 }]\n[[flow]]";
    losses_of_no_file: "[[flow]]" => "[[wifi.loss]]\nmodel = \"series\"\nfile = \"none.csv\"\n[[flow]]";
    a_state_that_does_not_last: "[[flow]]" => "[[wifi.loss]]\nmodel = \"gilbert_elliott\"\nper = \"time\"\nmean_good = \"1s\"\nmean_bad = \"0s\"\n[[flow]]";
    shadowing_that_is_none: "radio = {" => "radio = { shadowing = { redrawn = \"by_distance\", decorrelation_distance = \"20m\" },";
    shadowing_by_no_distance: "radio = {" => "radio = { shadowing_deviation_db = 4, shadowing = { redrawn = \"by_distance\", decorrelation_distance = \"0m\" },";
    shadowing_that_never_rests: "radio = {" => "radio = { shadowing_deviation_db = 4, shadowing = { redrawn = \"per_coherence_time\", coherence_time = \"0s\" },";
    capture_and_sinr: "radio = {" => "radio = { capture = {}, reception = { by = \"sinr\" },";
    a_noise_figure_below_zero: "radio = {" => "radio = { reception = { by = \"sinr\", noise_figure_db = -1 },";
    capture_by_the_weaker: "radio = {" => "radio = { capture = { threshold_db = -3 },";
}

#[test]
fn losses_beside_the_radio_are_of_packets_or_of_attempts() {
    let standing = WALK.replace("speed = \"2m/s\"", "speed = \"0.01m/s\"");
    let with = |of: &str| {
        let loss = format!(
            "[[wifi.loss]]\nmodel = \"bernoulli\"\nprobability = 0.2\nstart = \"30s\"\nof = \"{of}\"\n[[flow]]"
        );
        standing.replace("[[flow]]", &loss)
    };
    let delivered = |text: &str| integers(&column(text, "flows", "delivered_packets"))[0];
    // 250 packets a second. Of 7500 from 30 s on a fifth is lost, 1500, with a standard deviation of 35.
    let all = delivered(&standing);
    assert!((14_998..=15_000).contains(&all), "{all}");
    let (of_packets, of_attempts) = (delivered(&with("packets")), delivered(&with("attempts")));
    assert!((all - of_packets).abs_diff(1500) < 140, "{of_packets}");
    // With 0.2^7 a packet is given up: 0.1 of 7500.
    assert!(all - of_attempts < 3, "{of_attempts}");
    let attempts = integers(&column(&with("attempts"), "wifi_stations", "failed_attempts"))[0];
    // 7500 * 0.2 / 0.8 = 1875, standard deviation sqrt(7500 * 0.2) / 0.8 = 48.
    assert!(attempts.abs_diff(1875) < 200, "{attempts}");
}

/// The walk of one who stands, 250 packets a second to him, with a loss.
fn standing_with(loss: &str) -> String {
    let standing = WALK.replace("speed = \"2m/s\"", "speed = \"0.01m/s\"");
    standing.replace("[[flow]]", &format!("{loss}\n[[flow]]"))
}

/// Packets that arrive, and attempts of the access point without an answer.
fn arrived_and_failed(text: &str) -> (u64, u64) {
    let failed = integers(&column(text, "wifi_stations", "failed_attempts"))[0];
    (integers(&column(text, "flows", "delivered_packets"))[0], failed)
}

#[test]
fn packets_or_attempts_are_lost_by_their_numbers() {
    let (all, failed) = arrived_and_failed(&standing_with(""));
    let list = |keys: &str| {
        arrived_and_failed(&standing_with(&format!(
            "[[wifi.loss]]\nmodel = \"list\"\nstart = \"30s\"\n{keys}"
        )))
    };
    assert_eq!(list("segments = [20, 1, 10]"), (all - 3, failed));
    assert_eq!(
        list("segments = [20, 1, 10]\nflow = \"download\"\nfrom = \"access-point\""),
        (all - 3, failed)
    );
    // Three attempts are repeated; of seven in a row all are of one packet, which is given up.
    assert_eq!(list("of = \"attempts\"\nsegments = [20, 1, 10]"), (all, failed + 3));
    assert_eq!(list("of = \"attempts\"\nsegments = [5, 6, 7, 8, 9, 10, 11]"), (all - 1, failed + 7));
}

#[test]
fn losses_change_at_their_times() {
    let (all, failed) = arrived_and_failed(&standing_with(""));
    let with = |keys: &str| arrived_and_failed(&standing_with(&format!("[[wifi.loss]]\n{keys}")));
    let steps = "model = \"series\"\nconstant = 0\nsteps = [{ at = \"20s\", probability = 1 }, { at = \"40s\", probability = 0 }]";
    // 20 s of 250 packets.
    assert_eq!(with(steps), (all - 5000, failed));
    assert_eq!(with("model = \"series\"\ncontent = \"0 0\\n20 1\\n40 0\""), (all - 5000, failed));
    // Half of the time, in stays of 10 ms: a standard deviation of sqrt(10 ms / 60 s) / 2 = 0.0065, 97
    // packets.
    let stays = "model = \"gilbert_elliott\"\nper = \"time\"\nmean_good = \"10ms\"\nmean_bad = \"10ms\"";
    let (arrived, _) = with(stays);
    assert!(arrived.abs_diff(all / 2) < 390, "{arrived} of {all}");
}

#[test]
fn losses_change_at_link_events_of_others() {
    let (all, failed) = arrived_and_failed(&standing_with(""));
    let other = "[[wifi.loss]]\nmodel = \"bernoulli\"\nprobability = 0\n[[wifi.loss]]\nmodel = \"series\"\nfrom = \"access-point\"\nconstant = 0
steps = [{ on = { link = \"other\", event = \"link_down\" }, probability = 1 }, { on = { link = \"other\", event = \"link_up\" }, probability = 0 }]
[[node]]\nname = \"server\"
[[link]]\nname = \"other\"\nbetween = [\"access-point\", \"server\"]\nrate = \"12Mb/s\"\ndelay = \"5ms\"
outages = [{ start = \"10s\", duration = \"30s\" }]";
    // 30 s of 250 packets.
    assert_eq!(arrived_and_failed(&standing_with(other)), (all - 7500, failed));
}

#[test]
fn frames_survive_by_their_ratio_of_signal_to_noise() {
    let keys = "radio = { reception = { by = \"sinr\" }, carrier_sense_threshold = \"-95dBm\",";
    let sinr = WALK.replace("radio = {", keys);
    let delivered = |text: &str| integers(&column(text, "flows", "delivered_packets"))[0];
    let fixed = |rate: &str| {
        let text = sinr.replace("rate = \"54Mb/s\"", &format!("rate = \"{rate}\""));
        delivered(&text.replace("rate_control = { algorithm = \"arf\" }\n", ""))
    };
    // Noise of -91 dBm: 54 Mb/s need some 21 dB, -70 dBm, which -20.1 - 30 log10(d) has up to 46 m, after 19
    // s; 6 Mb/s some 3.5 dB, -87.5 dBm, up to 177 m, which the walk does not come to. 250 packets a second.
    let (fast, slow) = (fixed("54Mb/s"), fixed("6Mb/s"));
    assert!((250 * 17..250 * 22).contains(&fast), "{fast}");
    assert!(slow > 250 * 59, "{slow}");
    assert!(delivered(&sinr) > 250 * 59);
}

#[test]
fn protection_has_the_long_slots_of_those_that_it_is_for() {
    // One saturated station, 1472 B of payload in 1500 B: 11,776 bits a cycle. A cycle in us: DIFS 10 + 2
    // slots, back-off 7.5 slots, data 254, SIFS 10, ACK 34. Before the data, at 2 Mb/s with the long
    // preamble: RTS 192 + 80 or CTS 192 + 56, each with a SIFS of 10.
    let goodput_bps = |keys: &str| {
        let text = GOOD
            .replace("stations = [\"near\", \"far\"]", "stations = [\"near\"]")
            .replace("rate = \"11Mb/s\"\nstation_rates = [{ stations = [\"far\"], rate = \"1Mb/s\" }]\ncw_min = 31", keys)
            .replace("name = \"near\"\n[[node]]\nname = \"far\"", "name = \"near\"")
            .replace("rate = \"10Mb/s\"", "rate = \"40Mb/s\"");
        let text = &text[..text.rfind("[[flow]]").expect("the second flow")];
        goodputs_bps(text)[0]
    };
    let cts = "standard = \"802.11g\"\nprotection = { mechanism = \"cts_to_self\" }";
    let rts = cts.replace("cts_to_self", "rts_cts");
    for (keys, cycle_us) in [
        (cts, 50.0 + 150.0 + 258.0 + 254.0 + 44.0),          // 15.58 Mb/s
        (&rts, 50.0 + 150.0 + 282.0 + 258.0 + 254.0 + 44.0), // 11.34 Mb/s
        (&format!("{cts}\nslot_time = \"short\""), 28.0 + 67.5 + 258.0 + 254.0 + 44.0), // 18.08 Mb/s
    ] {
        let (found, expected) = (goodput_bps(keys), 11_776.0 / cycle_us * 1e6);
        assert!((found / expected - 1.0).abs() < 0.005, "{keys}: {found} {expected}");
    }
}

#[test]
fn protection_is_understood_as_far_as_the_slowest_rate() {
    let asked = "rate_control = { algorithm = \"arf\" }\nprotection = { mechanism = \"rts_cts\" }";
    let text = WALK.replace("rate_control = { algorithm = \"arf\" }", asked);
    // As without protection up to 115.8 m, 53.9 s at 250 kB/s; 54 Mb/s are understood up to 31.4 m, after
    // 11.7 s.
    let delivered = integers(&column(&text, "flows", "delivered_bytes"))[0] as f64;
    assert!((delivered / 250_000.0 - 53.9).abs() < 0.5, "{delivered}");
}

#[test]
fn a_medium_has_the_rates_of_all_its_cells() {
    // The station of the first cell has 6 Mb/s, that of the second 54.
    let text = WALK
        .replace("motion = { kind", "# motion = { kind")
        .replacen("\n[[flow]]", SECOND_CELL, 1)
        .replace("rate = \"2Mb/s\"", "rate = \"30kb/s\"");
    let rates_bps = integers(&column(&text, "wifi_rates", "rate_bps"));
    assert_eq!((rates_bps.iter().min(), rates_bps.iter().max()), (Some(&6_000_000), Some(&54_000_000)));
    let delivered = integers(&column(&text, "flows", "delivered_bytes"));
    // 12 Mb/s for 60 s: at 6 Mb/s there would be less than half of it.
    assert!(delivered[0] > 85_000_000, "{delivered:?}");
    let attempts = integers(&column(&text, "wifi_rates", "attempts"));
    let at_54_mbps = rates_bps.iter().zip(&attempts).filter(|(bps, _)| **bps == 54_000_000);
    assert!(at_54_mbps.map(|(_, attempts)| attempts).sum::<u64>() > 80_000);
}

/// Behind the keys of the first cell.
const SECOND_CELL: &str = r#"station_rates = [{ stations = ["walker"], rate = "6Mb/s" }]

[[node]]
name = "other-point"
position = { x = "5m", y = "0m" }
[[node]]
name = "sitter"
position = { x = "9m", y = "0m" }

[[wifi]]
name = "other air"
access_point = "other-point"
stations = ["sitter"]
standard = "802.11g"
rate = "54Mb/s"
rate_control = { algorithm = "arf" }
radio = { path_loss = { model = "log_distance", exponent = 3.0 } }

[[flow]]
name = "other"
from = "other-point"
to = "sitter"
transport = { protocol = "udp" }
application = { kind = "cbr", packet_size = "1000B", rate = "12Mb/s" }

[[flow]]"#;

#[test]
fn losses_may_begin_with_link_going_down() {
    // The walk comes to the threshold of 6 Mb/s, -82 dBm, at 115.8 m; Link_Going_Down is 6 dB before, at 73 m
    // after 32.6 s.
    let going = WALK.replace(
        "rate_control = { algorithm = \"arf\" }",
        "rate_control = { algorithm = \"arf\" }\nbeacons = {}",
    );
    let lost = going.replace(
        "[[flow]]",
        "[[wifi.loss]]\nmodel = \"bernoulli\"\nprobability = 1\nduring = \"link_going_down\"\n[[flow]]",
    );
    let delivered = |text: &str| integers(&column(text, "flows", "delivered_packets"))[0];
    let (all, before) = (delivered(&going), delivered(&lost));
    assert!(all > 250 * 52, "{all}");
    // A mean of four beacons and more lags behind the signal by half a second or so.
    assert!((250 * 32..250 * 34).contains(&before), "{before}");
    // The same said by the event from which on it holds; nothing comes before Link_Up, and all after it.
    let on = |event: &str, before: u8, then: u8| {
        let keys = format!(
            "[[wifi.loss]]\nmodel = \"series\"\nconstant = {before}\n\
             steps = [{{ on = {{ link = \"air\", event = \"{event}\", node = \"walker\" }}, probability = {then} }}]\n[[flow]]"
        );
        delivered(&going.replace("[[flow]]", &keys))
    };
    assert_eq!(on("link_going_down", 0, 1), before);
    assert_eq!((on("link_up", 0, 1), on("link_up", 1, 0)), (0, all));
}

/// Two stations, each 40 m from the access point and 80 m from each other, that are heard 50 m far.
const PLACED: &str = r#"[scenario]
name = "Hidden stations"
duration = "20s"
ip = "ipv4"

[[node]]
name = "access-point"
position = { x = "0m", y = "0m" }
[[node]]
name = "west"
position = { x = "-40m", y = "0m" }
[[node]]
name = "east"
position = { x = "40m", y = "0m" }

[[wifi]]
name = "air"
access_point = "access-point"
stations = ["west", "east"]
rate = "11Mb/s"
[wifi.radio]
transmit_power = "100mW"
path_loss = { model = "log_distance", exponent = 2.7 }
radius = "50m"
carrier_sense_threshold = "-66dBm"

[[flow]]
name = "from-west"
from = "west"
to = "access-point"
transport = { protocol = "udp" }
application = { kind = "poisson", packet_size = "1000B", mean_interval = "10ms" }
[[flow]]
name = "from-east"
from = "east"
to = "access-point"
transport = { protocol = "udp" }
application = { kind = "poisson", packet_size = "1000B", mean_interval = "10ms" }
"#;

reports! {
    on PLACED;
    a_power_without_unit: "\"100mW\"" => "100";
    a_power_in_other_units: "\"100mW\"" => "\"100m\"";
    no_power_at_all: "\"100mW\"" => "\"0mW\"";
    a_path_loss_that_does_not_exist: "log_distance" => "log_normal";
    no_exponent: "exponent = 2.7" => "exponent = 0";
    a_negative_deviation: "radius = \"50m\"" => "shadowing_deviation_db = -4";
    no_radius: "radius = \"50m\"" => "radius = \"0m\"";
    radius_and_threshold: "radius = \"50m\"" => "radius = \"50m\"\nreception_threshold = \"-70dBm\"";
    carrier_sense_above_reception: "\"-66dBm\"" => "\"-60dBm\"";
    a_radio_without_a_place: "position = { x = \"40m\", y = \"0m\" }" => "";
    a_station_out_of_reach: "x = \"40m\"" => "x = \"60m\"";
}

/// Attempts of both stations, and those that failed.
fn attempts(text: &str) -> (f64, f64) {
    let scenario = Scenario::parse(text, "scenario.toml", Format::Toml, &[]);
    let scenario = scenario.unwrap_or_else(|diagnostics| panic!("{}", diagnostics.render(false)));
    let outcome = run(&scenario, Options { seed: 1, ..Options::default() }).expect("a run");
    let table = outcome.tables.iter().find(|table| table.name == "wifi_stations").expect("the radios");
    let sum = |name: &str| match &table.columns.iter().find(|column| column.name == name).expect(name).values
    {
        Values::Integer(values) => values[1..].iter().sum::<u64>() as f64,
        other => panic!("{other:?}"),
    };
    (sum("attempts"), sum("failed_attempts"))
}

#[test]
fn hidden_stations_collide_unless_they_ask() {
    // 20 dBm less 40.095 + 27 log10(50) = 85.967 dB: -65.97 dBm are understood; from -66 dBm on they are
    // heard, up to 50.1 m.
    let (begun, failed) = attempts(PLACED);
    // Of the other's frames a first attempt meets those that begin within 966 us (192 + 1064 * 8 / 11) before
    // or after it: at 100 attempts a second it fails with 1 - exp(-2 * 0.0966) = 0.18, at the 160 with
    // repetitions 0.27. Both have failed then, and their windows of 64, 128, 256, 512 slots are short beside
    // the 48 slots of a frame: it fails again with 1 - (1 - 48/64)^2 = 0.94, then 0.61, 0.34, 0.18. That is
    // 2.74 failures a first one, and from 0.18 * 2.74 / (1 + 0.18 * 2.74) = 0.33 to 0.43 of all attempts.
    assert!((0.33..0.43).contains(&(failed / begun)), "{failed} of {begun}");
    // An RTS and SIFS have 14 slots, and the CTS is heard by both. A first one fails with 0.055 to 0.09 (100
    // a second, or 170 while neither waits for the other's exchange of 1764 us), its repetitions with 0.39
    // and 0.2: 1.48 failures each. After an exchange both have a packet waiting with the square of their
    // load, some 0.3, and meet within 32 slots with 0.68: up to 0.08 more.
    let asked = PLACED.replace("[wifi.radio]", "rts_threshold = \"0B\"\n[wifi.radio]");
    let (begun, failed) = attempts(&asked);
    assert!((0.08..0.20).contains(&(failed / begun)), "{failed} of {begun}");
    // Where they hear each other, only those collide that find the medium idle, or begin, at the same time.
    let (begun, failed) = attempts(&PLACED.replace("\"-66dBm\"", "\"-75dBm\""));
    assert!(failed / begun < 0.02, "{failed} of {begun}");
}
