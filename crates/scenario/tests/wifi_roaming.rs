//! Stations that walk between Wi-Fi access points: what is refused, and handovers over a bridged network and
//! by Mobile IP.

use roamsim_scenario::run::{Options, Trace, run};
use roamsim_scenario::table::{Table, Values};
use roamsim_scenario::{Format, Scenario};

const GOOD: &str = r#"[scenario]
name = "walk"
duration = "20s"
ip = "ipv4"

[[node]]
name = "server"
[[node]]
name = "west"
position = { x = "0m", y = "0m" }
[[node]]
name = "east"
position = { x = "60m", y = "0m" }
[[node]]
name = "walker"
position = { x = "5m", y = "3m" }
motion = { kind = "back_and_forth", to = { x = "55m", y = "3m" }, speed = "3m/s" }
wifi = { hysteresis_db = 4 }

[[link]]
name = "to west"
between = ["server", "west"]
rate = "100Mb/s"
delay = "5ms"
[[link]]
name = "to east"
between = ["server", "east"]
rate = "100Mb/s"
delay = "5ms"

[[wifi]]
name = "west cell"
access_point = "west"
stations = ["walker"] # west
standard = "802.11g"
channel = 1
beacons = {} # west
radio = { radius = "45m", path_loss = { model = "log_distance", exponent = 3.0 } } # west
[[wifi]]
name = "east cell"
access_point = "east"
stations = ["walker"] # east
standard = "802.11g"
channel = 6
beacons = {} # east
radio = { radius = "45m", path_loss = { model = "log_distance", exponent = 3.0 } } # east

[[flow]]
name = "voice"
from = "server"
to = "walker"
transport = { protocol = "udp" }
application = { kind = "cbr", packet_size = "160B", interval = "20ms", start = "1s" }
"#;

const MOBILE_IP: &str = r#"
[[mobile_ip]]
name = "roaming"
mobile_nodes = ["walker"]
home_agent = "west"
foreign_agents = ["east"]
move_detection = "eager"
"#;

reports! {
    channel_that_does_not_exist: "channel = 6" => "channel = 14";
    beacons_without_a_radio: "radio = { radius = \"45m\", path_loss = { model = \"log_distance\", exponent = 3.0 } } # west" => "";
    station_of_two_cells_without_beacons: "beacons = {} # west" => "";
    beacons_more_often_than_a_time_unit: "beacons = {} # east" => "beacons = { period = \"1ms\" }";
    beacons_after_the_end: "beacons = {} # east" => "beacons = { start = \"20s\" }";
    cells_of_one_station_that_disagree: "exponent = 3.0 } } # east" => "exponent = 3.1 } }";
    hysteresis_in_metres: "wifi = { hysteresis_db = 4 }" => "hysteresis = \"5m\"";
    scan_where_no_access_point_is: "hysteresis_db = 4" => "channels = [11]";
    scan_of_a_channel_that_does_not_exist: "hysteresis_db = 4" => "channels = [0, 1]";
    scan_of_a_channel_twice: "hysteresis_db = 4" => "channels = [1, 6, 1]";
    channel_times_in_the_wrong_order: "hysteresis_db = 4" => "max_channel_time = \"1ms\"";
    no_channel_time: "hysteresis_db = 4" => "min_channel_time = \"0s\"";
    no_pause_between_scans: "hysteresis_db = 4" => "scan_interval = \"0s\"";
    no_missed_beacon: "hysteresis_db = 4" => "missed_beacons = 0";
    no_time_for_a_response: "hysteresis_db = 4" => "failure_timeout = \"0s\"";
    no_request: "hysteresis_db = 4" => "attempts = 0";
    no_weight: "hysteresis_db = 4" => "signal_weight = 0";
    threshold_below_what_is_heard: "hysteresis_db = 4" => "signal_threshold = \"-110dBm\"";
    threshold_without_a_unit: "hysteresis_db = 4" => "signal_threshold = -70";
    going_down_below_the_threshold: "hysteresis_db = 4" => "going_down_factor = 0.5";
    negative_hysteresis: "hysteresis_db = 4" => "hysteresis_db = -1";
    several_addresses_over_one_radio: "wifi = { hysteresis_db = 4 }" => "multihomed = true";
    settings_of_no_station: "name = \"server\"" => "name = \"server\"\nwifi = {}";
    access_point_that_is_a_station: "stations = [\"walker\"] # east" => "stations = [\"walker\", \"west\"]";
}

fn tables(text: &str) -> Vec<Table> {
    let scenario = Scenario::parse(text, "scenario.toml", Format::Toml, &[]);
    let scenario = scenario.unwrap_or_else(|diagnostics| panic!("{}", diagnostics.render(false)));
    let mut trace = Trace::default();
    assert!(trace.add("link_events"));
    run(&scenario, Options { seed: 1, trace, ..Options::default() }).expect("a run").tables
}

fn texts(tables: &[Table], table: &str, column: &str) -> Vec<String> {
    match &values(tables, table, column) {
        Values::Text(values) => values.iter().map(ToString::to_string).collect(),
        other => panic!("{other:?}"),
    }
}

fn values(tables: &[Table], table: &str, column: &str) -> Values {
    let table = tables.iter().find(|found| found.name == table).expect(table);
    table.columns.iter().find(|found| found.name == column).expect(column).values.clone()
}

fn floats(tables: &[Table], table: &str, column: &str) -> Vec<f64> {
    match values(tables, table, column) {
        Values::Float(values) => values,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_walk_hands_over_bridged_and_by_mobile_ip() {
    for (scheme, longest_s) in [("bridged", 0.1), ("mobile_ip", 1.5)] {
        let text = if scheme == "bridged" { GOOD.to_owned() } else { format!("{GOOD}{MOBILE_IP}") };
        let tables = tables(&text);
        // 50 m at 3 m/s: there in 16.7 s.
        assert_eq!(texts(&tables, "handovers", "scheme"), [scheme]);
        assert_eq!(texts(&tables, "handovers", "from_cell"), ["west cell"]);
        assert_eq!(texts(&tables, "handovers", "to_cell"), ["east cell"]);
        let interruption_s = floats(&tables, "handovers", "interruption_s")[0];
        assert!((0.0..longest_s).contains(&interruption_s), "{scheme}: {interruption_s}");
        let names = texts(&tables, "wifi", "name");
        assert_eq!(names, ["west cell", "east cell"]);
        // A beacon of 78 octets at 6 Mb/s: 22 + 624 bits in 27 symbols, 26 + 108 us; one each 102.4 ms.
        for management_s in floats(&tables, "wifi", "management_s") {
            let beacons_s = 20.0 / 0.1024 * 134e-6;
            assert!((beacons_s - 134e-6..beacons_s + 0.02).contains(&management_s), "{management_s}");
        }
        let events = texts(&tables, "link_events", "event");
        let count = |name: &str| events.iter().filter(|event| *event == name).count();
        assert_eq!((count("link_up"), count("link_down")), (2, 1));
        assert!(count("link_going_down") >= 1 && count("link_detected") >= 2);
    }
}

#[test]
fn on_one_channel_a_station_compares_without_scanning() {
    let tables = tables(&GOOD.replace("channel = 6", "channel = 1"));
    let links = texts(&tables, "link_events", "link");
    let events = texts(&tables, "link_events", "event");
    let up: Vec<_> =
        links.iter().zip(&events).filter(|(_, event)| *event == "link_up").map(|(link, _)| link).collect();
    assert_eq!(up, ["west cell", "east cell"]);
    // Equal powers at 30 m; 4 dB more where (60 - x) / x = 10^(-4 / 30), at 34.6 m: 9.9 s after the start,
    // and a little later.
    let times_s = floats(&tables, "link_events", "time_s");
    let down = events.iter().position(|event| event == "link_down").expect("it leaves");
    assert!((9.8..11.5).contains(&times_s[down]), "{}", times_s[down]);
}
