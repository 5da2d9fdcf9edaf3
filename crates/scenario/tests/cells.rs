//! Cells and handovers, end to end: what a walk does to a flow can be worked out by hand.

use crate::refusal::refuse;
use roamsim_scenario::run::{Options, Outcome, run};
use roamsim_scenario::table::{Table, Texts, Values};
use roamsim_scenario::{Format, Scenario};

fn outcome(text: &str) -> Outcome {
    let scenario = Scenario::parse(text, "cells.toml", Format::Toml, &[])
        .unwrap_or_else(|diagnostics| panic!("{}", diagnostics.render(false)));
    run(&scenario, Options::default()).unwrap_or_else(|error| panic!("{error}"))
}

/// All tables as text: NaN equals NaN there.
fn tables(outcome: &Outcome) -> String {
    format!("{:?}", outcome.tables)
}

fn table<'a>(outcome: &'a Outcome, name: &str) -> &'a Table {
    outcome.tables.iter().find(|table| table.name == name).unwrap_or_else(|| panic!("no table {name}"))
}

fn floats<'a>(table: &'a Table, name: &str) -> &'a [f64] {
    match &table.columns.iter().find(|column| column.name == name).expect(name).values {
        Values::Float(values) => values,
        _ => panic!("{name} is not of floats"),
    }
}

fn integers<'a>(table: &'a Table, name: &str) -> &'a [u64] {
    match &table.columns.iter().find(|column| column.name == name).expect(name).values {
        Values::Integer(values) => values,
        _ => panic!("{name} is not of integers"),
    }
}

fn texts<'a>(table: &'a Table, name: &str) -> &'a Texts {
    match &table.columns.iter().find(|column| column.name == name).expect(name).values {
        Values::Text(values) => values,
        _ => panic!("{name} is not of texts"),
    }
}

/// Two base stations at 0 and 100 m; a walker from 0 to 100 m at 10 m/s. A packet of 100 bytes every 10 ms.
fn walk(radius: &str, hysteresis: &str) -> String {
    format!(
        r#"
[scenario]
name = "walk"
duration = "10s"
ip = "ipv4"
[[node]]
name = "server"
[[node]]
name = "west"
position = {{ x = "0m", y = "0m" }}
[[node]]
name = "east"
position = {{ x = "100m", y = "0m" }}
[[node]]
name = "walker"
position = {{ x = "0m", y = "0m" }}
motion = {{ kind = "linear", to = {{ x = "100m", y = "0m" }}, speed = "10m/s" }}
hysteresis = "{hysteresis}"
[[link]]
name = "a"
between = ["server", "west"]
rate = "100Mb/s"
delay = "1ms"
[[link]]
name = "b"
between = ["server", "east"]
rate = "100Mb/s"
delay = "1ms"
[[cell]]
name = "west"
base_station = "west"
stations = ["walker"]
rate = "1Mb/s"
coverage = {{ model = "disc", radius = "{radius}" }}
advertisement = {{ period = "100ms" }}
[[cell]]
name = "east"
base_station = "east"
stations = ["walker"]
rate = "1Mb/s"
coverage = {{ model = "disc", radius = "{radius}" }}
advertisement = {{ period = "100ms", start = "50ms" }}
[[flow]]
name = "voice"
from = "server"
to = "walker"
transport = {{ protocol = "udp" }}
application = {{ kind = "cbr", packet_size = "100B", interval = "10ms" }}
"#
    )
    .replace("\"west\"\nbase", "\"west cell\"\nbase")
    .replace("\"east\"\nbase", "\"east cell\"\nbase")
}

#[test]
fn a_walker_changes_to_the_nearer_base_station_at_the_first_beacon_that_says_so() {
    // With a hysteresis of 20 m: east is nearer by more than that beyond x = 60 m, from 6 s on. West beacons
    // at 6.0, 6.1 s, east at 5.95 and 6.05 s. At 6.0 s west is heard at 60 m, and east was last at 40.5 m,
    // heard at 5.95 s: 40.5 + 20 is not below 60. At 6.05 s east is heard at 39.5 m: 59.5 < 60.
    let outcome = outcome(&walk("80m", "20m"));
    let handovers = table(&outcome, "handovers");
    assert_eq!(texts(handovers, "from_cell"), ["west cell"]);
    assert_eq!(texts(handovers, "to_cell"), ["east cell"]);
    assert_eq!(texts(handovers, "scheme"), ["bridged"]);
    assert_eq!(floats(handovers, "detected_s"), [6.05]);
    assert_eq!(floats(handovers, "completed_s"), [6.05]);
    // A packet is 100 + 28 octets: 1.024 ms in the cell. The one of 6.04 s takes 10.24 us and 1 ms on the
    // wire, and 60.4 m of air, 201 ns; so it arrives at 6.042 s. That of 6.05 s is routed when it was sent at
    // the instant of the beacon, which comes first by order of events, or second: at the server the route
    // changes before it leaves.
    let last = floats(handovers, "last_packet_old_s")[0];
    assert!((last - 6.042_034_441).abs() < 2e-9, "{last}");
    let first = floats(handovers, "first_packet_new_s")[0];
    assert!((first - 6.052_034_372).abs() < 2e-9, "{first}");
    for lost in
        ["lost_out_of_reach", "lost_radio_error", "lost_no_cell", "lost_queue", "lost_agent", "lost_downlink"]
    {
        assert_eq!(integers(handovers, lost), [0], "{lost}");
    }
    let flows = table(&outcome, "flows");
    assert_eq!(floats(flows, "lost_packets"), [0.0]);
}

#[test]
fn cells_that_do_not_overlap_lose_what_is_sent_in_the_gap() {
    // Cells of 40 m: the walker leaves west at 4 s and enters east at 6 s. The beacon of 4.0 s is still
    // heard, at exactly 40 m; 4.1, 4.2 and 4.3 s are missed: it is down at 4.3 s. East is heard at 6.05 s
    // first: at 5.95 s the distance is 40.5 m.
    let outcome = outcome(&walk("40m", "20m"));
    let handovers = table(&outcome, "handovers");
    assert_eq!(floats(handovers, "detected_s"), [4.3]);
    assert_eq!(floats(handovers, "begun_s"), [6.05]);
    // Packets of 4.0 s to 6.04 s leave west between 4.002 s and 6.042 s, out of its reach: 205 of them. All
    // were sent to west, the last that was associated.
    assert_eq!(integers(handovers, "lost_out_of_reach"), [205]);
    assert_eq!(integers(handovers, "lost_downlink"), [205]);
    assert_eq!(integers(handovers, "lost_uplink"), [0]);
    let drops = table(&outcome, "drops");
    assert_eq!(texts(drops, "name"), ["west cell"]);
    assert_eq!(texts(drops, "node"), ["west"]);
    assert_eq!(texts(drops, "reason"), ["out of reach"]);
    assert_eq!(integers(drops, "packets"), [205]);
}

#[test]
fn a_station_without_a_cell_sends_nothing() {
    // The other way round: the walker sends. It leaves west at 4 s, knows it at 4.3 s, and hears east at 6.05
    // s. The beacons come before the packets of the same instant.
    let text = walk("40m", "20m")
        .replace("from = \"server\"\nto = \"walker\"", "from = \"walker\"\nto = \"server\"");
    let outcome = outcome(&text);
    let handovers = table(&outcome, "handovers");
    // Those of 4.00 to 4.29 s go into the air; those of 4.30 to 6.04 s have no way out.
    assert_eq!(integers(handovers, "lost_out_of_reach"), [30]);
    assert_eq!(integers(handovers, "lost_no_cell"), [175]);
    assert_eq!(integers(handovers, "lost_uplink"), [205]);
    assert_eq!(integers(handovers, "lost_downlink"), [0]);
    // The last that arrived was sent at 3.99 s: 1.024 ms, and 39.9 m.
    let last = floats(handovers, "last_packet_old_s")[0];
    assert!((last - 3.991_024_133).abs() < 2e-9, "{last}");
    assert_eq!(floats(table(&outcome, "flows"), "lost_packets"), [205.0]);
}

#[test]
fn addresses_that_stay_with_their_cells_are_left_behind() {
    // With both cells reaching everywhere, a walker that keeps its addresses apart stays where its flow's
    // address is.
    let text = walk("200m", "0m").replace("hysteresis = \"0m\"", "multihomed = true");
    let outcome = outcome(&text);
    assert!(integers(table(&outcome, "handovers"), "lost_agent").is_empty());
    let links = table(&outcome, "links");
    let sent: Vec<_> = texts(links, "name").iter().zip(integers(links, "sent_packets")).collect();
    let through =
        |cell: &str| sent.iter().filter(|(name, _)| *name == cell).map(|(_, sent)| **sent).sum::<u64>();
    assert_eq!((through("west cell"), through("east cell")), (1000, 0));
}

#[test]
fn a_base_station_with_several_addresses_sends_from_none_that_is_for_all() {
    let text = walk("80m", "0m")
        .replace("name = \"west\"\nposition", "name = \"west\"\nmultihomed = true\nposition")
        .replace("from = \"server\"\nto = \"walker\"", "from = \"west\"\nto = \"server\"")
        .replace("protocol = \"udp\"", "protocol = \"sctp\"");
    let outcome = outcome(&text);
    let flows = table(&outcome, "flows");
    assert_eq!(floats(flows, "delivered_packets"), floats(flows, "sent_packets"));
}

#[test]
fn a_file_of_motion_becomes_part_of_the_scenario() {
    let motion = "motion = { kind = \"linear\", to = { x = \"100m\", y = \"0m\" }, speed = \"10m/s\" }";
    let file = "motion = { kind = \"bonnmotion\", file = \"tests/files/two.movements\", node = 1 }";
    let text =
        walk("80m", "20m").replace(&format!("position = {{ x = \"0m\", y = \"0m\" }}\n{motion}"), file);
    assert!(text.contains(file));
    let scenario = Scenario::parse(&text, "cells.toml", Format::Toml, &[]).expect("a good scenario");
    let canonical = scenario.canonical_json();
    assert!(canonical.contains("\"content\":\"0 0 0 10 100 0\\n\"") && !canonical.contains("two.movements"));
    let again = Scenario::parse(&canonical, "elsewhere", Format::Json, &[]).expect("the same scenario");
    let results = |scenario| tables(&run(scenario, Options::default()).expect("a run"));
    assert_eq!(results(&scenario), results(&again));
    // The same walk as from the scenario itself.
    assert_eq!(results(&scenario), tables(&outcome(&walk("80m", "20m"))));
}

#[test]
fn a_walk_with_heights_is_read_where_its_dimensions_are_known() {
    let with = |motion: &str| {
        let linear = "position = { x = \"0m\", y = \"0m\" }\nmotion = { kind = \"linear\", to = { x = \"100m\", y = \"0m\" }, speed = \"10m/s\" }";
        walk("200m", "20m").replace(linear, motion)
    };
    // As three waypoints with heights, and as four without, times rise.
    let content = "content = \"0 0 0 1.5 5 50 60 1.5 70 100 80 1.5\"";
    let refused = refuse(&with(&format!("motion = {{ kind = \"bonnmotion\", node = 0, {content} }}")));
    assert!(refused.contains("`dimensions = 3`"), "{refused}");
    for (dimensions, y_m) in [(3, 60.0), (2, 50.0)] {
        let motion =
            format!("motion = {{ kind = \"bonnmotion\", node = 0, dimensions = {dimensions}, {content} }}");
        let scenario = Scenario::parse(&with(&motion), "x", Format::Toml, &[]).expect("a good scenario");
        let again = Scenario::parse(&scenario.canonical_json(), "x", Format::Json, &[]).expect("the same");
        assert_eq!(scenario.nodes, again.nodes, "{y_m}");
    }
    let folder = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("heights");
    std::fs::create_dir_all(&folder).expect("a folder");
    // Four numbers a waypoint on the first line; what is kept of the second, 12 numbers, fits both by its
    // count.
    let four = "0 0 0 1.5\n0 0 0 1.5 1 0 50 1.5 70 100 80 1.5 80 5 5 1.5\n";
    std::fs::write(folder.join("w.movements"), four).expect("a file");
    let motion = "motion = { kind = \"bonnmotion\", node = 1, file = \"w.movements\" }";
    let source = folder.join("s.toml");
    let scenario = Scenario::parse(&with(motion), source.to_str().expect("UTF-8"), Format::Toml, &[])
        .unwrap_or_else(|diagnostics| panic!("{}", diagnostics.render(false)));
    let canonical = scenario.canonical_json();
    assert!(canonical.contains("\"content\":\"0 0 0 1 0 50 70 100 80 80 5 5\\n\""), "{canonical}");
    assert!(Scenario::parse(&canonical, "x", Format::Json, &[]).is_ok());
}

#[test]
fn a_walk_that_begins_behind_the_end_is_warned_of() {
    let linear = "position = { x = \"0m\", y = \"0m\" }\nmotion = { kind = \"linear\", to = { x = \"100m\", y = \"0m\" }, speed = \"10m/s\" }";
    let setdest =
        "$node_(0) set X_ 0\\n$node_(0) set Y_ 0\\n$ns_ at 28800 \\\"$node_(0) setdest 100 0 10\\\"";
    for (kind, content) in [("setdest", setdest), ("bonnmotion", "28800 0 0 28810 100 0")] {
        let motion = format!("motion = {{ kind = \"{kind}\", node = 0, content = \"{content}\" }}");
        let text = walk("200m", "20m").replace(linear, &motion);
        let scenario = Scenario::parse(&text, "x", Format::Toml, &[])
            .unwrap_or_else(|diagnostics| panic!("{}", diagnostics.render(false)));
        let warnings = scenario.warnings.concat();
        assert!(warnings.contains("its first move begins at 28800s"), "{kind}: {warnings}");
        let early =
            Scenario::parse(&text.replace("28800", "1").replace("28810", "11"), "x", Format::Toml, &[]);
        assert!(!early.expect("a good scenario").warnings.concat().contains("first move"), "{kind}");
    }
}

/// A base station, and two stations that walk out of its reach of 100 m after 10 s. From 20 s on, 100 packets
/// to each.
const TWO_STATIONS: &str = r#"
[scenario]
name = "two stations"
duration = "40s"
ip = "ipv4"
[[node]]
name = "base"
position = { x = "0m", y = "0m" }
[[node]]
name = "one"
position = { x = "0m", y = "0m" }
motion = { kind = "linear", to = { x = "200m", y = "0m" }, speed = "10m/s" }
[[node]]
name = "two"
position = { x = "0m", y = "0m" }
motion = { kind = "linear", to = { x = "-200m", y = "0m" }, speed = "10m/s" }
[[cell]]
name = "cell"
base_station = "base"
stations = ["one", "two"]
rate = "1Mb/s"
coverage = { model = "disc", radius = "100m" }
[[flow]]
name = "to one"
from = "base"
to = "one"
transport = { protocol = "udp" }
application = { kind = "cbr", packet_size = "100B", interval = "100ms", start = "20s", stop = "30s" }
[[flow]]
name = "to two"
from = "base"
to = "two"
transport = { protocol = "udp" }
application = { kind = "cbr", packet_size = "100B", interval = "100ms", start = "20s", stop = "30s" }
"#;

#[test]
fn a_base_station_has_one_row_of_drops_a_reason_however_many_its_stations() {
    // Of 100 packets to each of two stations beyond the reach of 100 m, none comes. A packet is 100 + 28
    // octets.
    let outcome = outcome(TWO_STATIONS);
    let drops = table(&outcome, "drops");
    assert_eq!(texts(drops, "name"), ["cell"]);
    assert_eq!(texts(drops, "node"), ["base"]);
    assert_eq!(texts(drops, "reason"), ["out of reach"]);
    assert_eq!(integers(drops, "packets"), [200]);
    assert_eq!(integers(drops, "bytes"), [200 * 128]);
}
