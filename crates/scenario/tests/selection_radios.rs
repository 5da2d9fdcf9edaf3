//! Signals of links that policies compare, and the energy of radios, end to end.

use crate::outcome::{self, floats, texts};
use roamsim_scenario::run::{Options, Outcome};
use roamsim_scenario::{Format, Scenario};
use std::fs;

/// LTE grows weaker at 10 s and stronger at 20 s; the satellite stays as it is.
const GOOD: &str = r#"
[scenario]
name = "signals"
duration = "30s"
[[node]]
name = "server"
[[node]]
name = "phone"
[[link]]
name = "lte"
between = ["server", "phone"]
rate = "10Mb/s"
delay = "10ms"
signal = { constant = "-70dBm", steps = [{ at = "10s", signal = "-90dBm" }, { at = "20s", signal = "-70dBm" }] }
[[link]]
name = "satellite"
between = ["server", "phone"]
rate = "10Mb/s"
delay = "40ms"
signal = "-80dBm"
[[selection]]
name = "choice"
node = "phone"
policy = "strongest"
scheme = "redirect"
[[flow]]
name = "call"
from = "server"
to = "phone"
transport = { protocol = "udp" }
application = { kind = "cbr", packet_size = "172B", interval = "20ms", start = "5ms" }
"#;

fn run(overrides: &[(&str, &str)]) -> Outcome {
    outcome::of(GOOD, overrides, Options::default())
}

fn switches(outcome: &Outcome) -> Vec<(f64, String)> {
    let times = floats(outcome, "switches", "time_s").iter().copied();
    times.zip(texts(outcome, "switches", "to_link").to_vec()).collect()
}

fn expected(switches: &[(f64, &str)]) -> Vec<(f64, String)> {
    switches.iter().map(|&(time_s, link)| (time_s, link.to_owned())).collect()
}

#[test]
fn the_strongest_link_is_selected_by_its_signal() {
    let walk = expected(&[(0.0, "lte"), (10.0, "satellite"), (20.0, "lte")]);
    assert_eq!(switches(&run(&[])), walk);
    // 10 dB apart each time.
    assert_eq!(switches(&run(&[("selection.choice.hysteresis_db", "10")])), walk[..1]);
    // One direction: that to the phone is the one that it hears.
    let from = |node: &str| format!("{{ constant = \"-60dBm\", from = \"{node}\" }}");
    let heard = run(&[("link.satellite.signal", &from("server"))]);
    assert_eq!(switches(&heard), expected(&[(0.0, "satellite")]));
    let not_heard = run(&[("link.satellite.signal", &from("phone"))]);
    assert_eq!(switches(&not_heard), expected(&[(0.0, "lte")]));
}

#[test]
fn a_threshold_leaves_a_weak_link() {
    let preference = [
        ("selection.choice.policy", "preference"),
        ("selection.choice.prefer", "[\"lte\", \"satellite\"]"),
        ("selection.choice.threshold", "-85dBm"),
    ];
    let left = run(&preference);
    assert_eq!(switches(&left), expected(&[(0.0, "lte"), (10.0, "satellite"), (20.0, "lte")]));
    assert_eq!(switches(&run(&preference[..2])), expected(&[(0.0, "lte")]));
}

#[test]
fn a_signal_repeats_and_follows_link_events() {
    let periodic =
        "{ constant = \"-70dBm\", steps = [{ at = \"4s\", signal = \"-90dBm\" }], period = \"12s\" }";
    let outcome = run(&[("link.lte.signal", periodic)]);
    let times: Vec<f64> = switches(&outcome).into_iter().map(|(time_s, _)| time_s).collect();
    assert_eq!(times, [0.0, 4.0, 12.0, 16.0, 24.0, 28.0]);
    // The satellite gains when LTE is lost, and stays selected.
    let by_event = "{ constant = \"-80dBm\", steps = [{ on = { link = \"lte\", event = \"link_down\" }, signal = \"-50dBm\" }] }";
    let outcome = run(&[
        ("link.lte.signal", "-70dBm"),
        ("link.lte.outages", "[{ start = \"6s\", duration = \"1s\" }]"),
        ("link.satellite.signal", by_event),
    ]);
    assert_eq!(switches(&outcome), expected(&[(0.0, "lte"), (6.0, "satellite")]));
}

#[test]
fn a_signal_is_read_from_a_file() {
    let folder = std::env::temp_dir().join(format!("roamsim-signal-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    let scenario = |lines: &str| {
        fs::write(folder.join("lte.csv"), lines).expect("a file");
        let (head, tail) = GOOD.split_once("signal = { constant").expect("a signal");
        let (_, tail) = tail.split_once('\n').expect("a line");
        let text = format!("{head}signal = {{ file = \"lte.csv\" }}\n{tail}");
        let source = folder.join("scenario.toml").to_string_lossy().into_owned();
        Scenario::parse(&text, &source, Format::Toml, &[])
    };
    let read = scenario("time_s,dbm\n0,-70\n12.5,-90\n").expect("valid");
    let outcome = roamsim_scenario::run::run(&read, Options::default()).expect("a run");
    assert_eq!(switches(&outcome), expected(&[(0.0, "lte"), (12.5, "satellite")]));
    let refused = scenario("0,-70\n1,-300\n").expect_err("no signal").render(false);
    fs::remove_dir_all(&folder).expect("the folder goes");
    assert!(refused.contains("\"-300\" is not a signal in dBm, from -200 to 50"), "{refused}");
    assert!(refused.contains("lte.csv:2:"), "{refused}");
}

#[test]
fn the_energy_of_a_radio_is_counted_by_its_states_and_its_traffic() {
    let power = "[{ access = \"lte\", up_w = 0.5, selected_w = 2, j_per_mb = 10 }]";
    let outcome = run(&[("selection.choice.power", power)]);
    assert_eq!(texts(&outcome, "energy", "link").to_vec(), ["lte"]);
    // Up for 30 s, of which it is selected for 20 s.
    assert_eq!(floats(&outcome, "energy", "up_j"), [5.0]);
    assert_eq!(floats(&outcome, "energy", "selected_j"), [40.0]);
    // 220 octets, fifty times a second.
    assert_eq!(floats(&outcome, "energy", "traffic_j"), [10.0 * 1000.0 * 220.0 / 1e6]);
    assert_eq!(floats(&outcome, "energy", "energy_j"), [47.2]);
    // A link that is cut draws nothing, though the node holds it.
    let overrides = [
        ("selection.choice.power", power),
        ("selection.choice.hold_time", "1min"),
        ("link.lte.signal", "-70dBm"),
        ("link.satellite.signal", "[]"),
        ("link.lte.outages", "[{ start = \"5s\", duration = \"5s\" }]"),
    ];
    let held = run(&overrides);
    assert_eq!(switches(&held), expected(&[(0.0, "lte")]));
    assert_eq!(floats(&held, "energy", "selected_j"), [50.0]);
    assert_eq!(floats(&held, "energy", "up_j"), [0.0]);
}

reports! {
    a_power_of_another_link: "scheme = \"redirect\"" => "scheme = \"redirect\"\npower = [{ access = \"lt\", up_w = 1, selected_w = 1, j_per_mb = 0 }]";
    a_power_below_zero: "scheme = \"redirect\"" => "scheme = \"redirect\"\npower = [{ access = \"lte\", up_w = 1, selected_w = -1, j_per_mb = 0 }]";
    two_powers_of_a_link: "scheme = \"redirect\"" => "scheme = \"redirect\"\npower = [{ access = \"lte\", up_w = 1, selected_w = 1, j_per_mb = 0 }, { access = \"lte\", up_w = 1, selected_w = 1, j_per_mb = 0 }]";
    a_signal_without_a_value: "signal = \"-80dBm\"" => "signal = {}";
    a_signal_of_no_end: "signal = \"-80dBm\"" => "signal = { constant = \"-80dBm\", from = \"west\" }";
    a_signal_without_a_unit: "signal = \"-80dBm\"" => "signal = -80";
}

#[test]
fn the_strongest_of_links_without_signals_is_refused() {
    let lines = GOOD.lines().filter(|line| !line.starts_with("signal"));
    let told = crate::refusal::refuse(&lines.collect::<Vec<_>>().join("\n"));
    assert!(told.contains("no interface of \"phone\" has a signal"), "{told}");
    assert!(told.contains("[[link]] with `signal`"), "{told}");
}
