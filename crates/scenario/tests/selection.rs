//! Nodes that select one of their interfaces, end to end: instants of switches on a walk, what they count,
//! and what each scheme does to flows.

use crate::outcome::{self, floats, integers, texts};
use crate::refusal;
use roamsim_scenario::run::{Options, Outcome};
use roamsim_scenario::{Format, Scenario};

/// Along the x axis at 5 m/s, out of a cell of 100 m around 0 m and into one around 300 m, with a wire
/// everywhere.
const WALK: &str = r#"
[scenario]
name = "walk"
duration = "60s"
[[node]]
name = "server"
[[node]]
name = "west"
position = { x = "0m", y = "0m" }
[[node]]
name = "east"
position = { x = "300m", y = "0m" }
[[node]]
name = "phone"
position = { x = "0m", y = "0m" }
motion = { kind = "linear", to = { x = "300m", y = "0m" }, speed = "5m/s" }
[[link]]
name = "to west"
between = ["server", "west"]
rate = "10Mb/s"
delay = "10ms"
[[link]]
name = "to east"
between = ["server", "east"]
rate = "10Mb/s"
delay = "10ms"
[[link]]
name = "lte"
between = ["server", "phone"]
rate = "10Mb/s"
delay = "30ms"
[[cell]]
name = "west cell"
base_station = "west"
stations = ["phone"]
rate = "1Mb/s"
coverage = { model = "disc", radius = "100m" }
[[cell]]
name = "east cell"
base_station = "east"
stations = ["phone"]
rate = "1Mb/s"
coverage = { model = "disc", radius = "100m" }
[[selection]]
name = "choice"
node = "phone"
policy = "preference"
prefer = ["cell", "lte"]
scheme = "redirect"
[[flow]]
name = "call"
from = "server"
to = "phone"
transport = { protocol = "udp" }
application = { kind = "cbr", packet_size = "172B", interval = "20ms", start = "5ms" }
"#;

/// Two wires, the first of which fails twice.
const WIRES: &str = r#"
[scenario]
name = "wires"
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
outages = [{ start = "10s", duration = "500ms" }, { start = "20s", duration = "2s" }]
[[link]]
name = "satellite"
between = ["server", "phone"]
rate = "10Mb/s"
delay = "40ms"
[[selection]]
name = "choice"
node = "phone"
policy = "preference"
prefer = ["lte", "satellite"]
scheme = "redirect"
[[flow]]
name = "call"
from = "server"
to = "phone"
transport = { protocol = "udp" }
application = { kind = "cbr", packet_size = "172B", interval = "20ms", start = "5ms" }
"#;

fn run(text: &str, overrides: &[(&str, &str)]) -> Outcome {
    outcome::of(text, overrides, Options::default())
}

/// Whole microseconds: sums of times round.
fn us(outcome: &Outcome, table: &str, column: &str) -> Vec<f64> {
    floats(outcome, table, column).iter().map(|s| (s * 1e6).round()).collect()
}

/// Switches: when, to what, why.
fn switches(outcome: &Outcome) -> Vec<(f64, String, String)> {
    let column = |name| texts(outcome, "switches", name).to_vec();
    let times = floats(outcome, "switches", "time_s").iter();
    let places = column("to_link").into_iter().zip(column("reason"));
    times.zip(places).map(|(&time_s, (link, reason))| (time_s, link, reason)).collect()
}

#[test]
fn a_walk_leaves_a_cell_that_is_lost_and_takes_a_preferred_one_that_comes() {
    let outcome = run(WALK, &[]);
    // Beacons come every 102.4 ms. The first cell ends at 100 m, after 20 s: beacons 196, 197 and 198 are
    // missed, the last at 20.2752 s. The second one begins at 200 m, after 40 s: beacon 391 at 40.0384 s.
    let expected =
        [(0.0, "west cell", "first"), (20.2752, "lte", "lost"), (40.0384, "east cell", "preferred")];
    let expected = expected.map(|(s, link, reason)| (s, link.to_owned(), reason.to_owned()));
    assert_eq!(switches(&outcome), expected);
    assert_eq!(us(&outcome, "switches", "stay_s"), [0.0, 20_275_200.0, 19_763_200.0]);
    assert_eq!(integers(&outcome, "selection", "switches"), [2]);
    assert_eq!(integers(&outcome, "selection", "ping_pongs"), [0]);
    assert_eq!(texts(&outcome, "interfaces", "link").to_vec(), ["lte", "west cell", "east cell"]);
    let selected = us(&outcome, "interfaces", "selected_s");
    assert_eq!(selected, [19_763_200.0, 20_275_200.0, 19_961_600.0]);
    assert_eq!(us(&outcome, "interfaces", "up_s"), [60_000_000.0, 20_275_200.0, 19_961_600.0]);
    assert!(floats(&outcome, "selection", "cost")[0].is_nan());
    // The policy speaks for what moves the flows: no handover of cells is recorded beside it.
    assert_eq!(floats(&outcome, "handovers", "begun_s"), [0.0; 0]);
}

#[test]
fn packets_go_where_the_selection_says() {
    let outcome = run(WALK, &[("selection.choice.prices", "[{ access = \"lte\", cost_per_mb = 2.0 }]")]);
    // 220 octets with UDP and IPv6, every 20 ms from 5 ms on. Both ends switch at once: from 20.285 s to
    // 40.025 s by LTE, 988 packets. Those of 20.005 s to 20.265 s, 14, find nobody in the cell; the one at
    // 19.985 s arrives there at 19.997 s.
    let received = integers(&outcome, "interfaces", "received_bytes");
    assert_eq!(received[0], 988 * 220);
    // Millionths of 2 a megabyte.
    assert_eq!(us(&outcome, "interfaces", "cost")[0], 434_720.0);
    assert_eq!(us(&outcome, "selection", "cost"), [434_720.0]);
    assert_eq!(floats(&outcome, "flows", "lost_packets"), [14.0]);
}

#[test]
fn another_interface_waits_for_the_dwell_time_and_a_lost_one_for_nothing() {
    let outcome = run(WALK, &[("selection.choice.dwell_time", "500ms")]);
    assert_eq!(us(&outcome, "switches", "time_s"), [0.0, 20_275_200.0, 40_538_400.0]);
}

#[test]
fn ping_pong_is_counted_by_its_time() {
    // Back after 0.5 s, and after 2 s.
    for (time, ping_pongs) in [("500ms", [0, 0]), ("1s", [1, 0]), ("2.001s", [1, 1])] {
        let outcome = run(WIRES, &[("selection.choice.ping_pong_time", time)]);
        let times: Vec<f64> = switches(&outcome).into_iter().map(|(time_s, ..)| time_s).collect();
        assert_eq!(times, [0.0, 10.0, 10.5, 20.0, 22.0]);
        let [first, second] = ping_pongs;
        assert_eq!(integers(&outcome, "switches", "ping_pong"), [0, 0, first, 0, second], "{time}");
        assert_eq!(integers(&outcome, "selection", "ping_pongs"), [first + second]);
    }
}

#[test]
fn redirected_flows_lose_nothing_and_those_that_nothing_moves_lose_the_outages() {
    let lost = |scheme| {
        let outcome = run(WIRES, &[("selection.choice.scheme", scheme)]);
        floats(&outcome, "flows", "lost_packets")[0]
    };
    // 0.5 s and 2 s at 50 packets a second.
    assert_eq!((lost("redirect"), lost("none")), (0.0, 125.0));
}

#[test]
fn a_connection_of_tcp_is_moved_or_stalls() {
    let delivered = |scheme: &str, outages: &str| {
        let overrides = [
            ("selection.choice.scheme", scheme),
            ("link.lte.outages", outages),
            ("flow.call.transport", "{ protocol = \"tcp\" }"),
            ("flow.call.application", "{ kind = \"bulk\" }"),
        ];
        let outcome = run(WIRES, &overrides);
        (
            integers(&outcome, "flows", "delivered_bytes")[0],
            integers(&outcome, "interfaces", "received_bytes")[1],
        )
    };
    // The first link is gone at 10 s for good: of 30 s at 10 Mb/s a third is left, less headers, or nearly
    // all of it.
    let gone = "[{ start = \"10s\", duration = \"20s\" }]";
    let ((stalled, by_satellite), (moved, _)) = (delivered("none", gone), delivered("redirect", gone));
    assert!((10_000_000..12_500_000).contains(&stalled), "{stalled}");
    assert_eq!(by_satellite, 0);
    assert!(moved > 28_000_000, "{moved}");
    // One that begins later has the interface that is selected then, and keeps it.
    let later = [
        ("selection.choice.scheme", "none"),
        ("flow.call.application", "{ kind = \"transfer\", size = \"1MB\", start = \"20.5s\" }"),
        ("flow.call.transport", "{ protocol = \"tcp\" }"),
    ];
    let outcome = run(WIRES, &later);
    assert_eq!(integers(&outcome, "flows", "delivered_bytes"), [1_000_000]);
    assert!(integers(&outcome, "interfaces", "received_bytes")[1] > 1_000_000);
}

#[test]
fn associations_follow_by_requests_also_where_there_is_no_cell() {
    let overrides = [
        ("selection.choice.scheme", "mobile_sctp"),
        ("flow.call.transport", "{ protocol = \"sctp\" }"),
        ("flow.call.application", "{ kind = \"bulk\" }"),
    ];
    let followed = run(WIRES, &overrides);
    let by_satellite = |outcome: &Outcome| integers(outcome, "interfaces", "received_bytes")[1];
    // Both outages, 2.5 s at 10 Mb/s, less what it takes to find a window there.
    assert!((1_000_000..3_125_000).contains(&by_satellite(&followed)), "{}", by_satellite(&followed));
    assert_eq!(integers(&followed, "flows", "timeouts"), [0]);
    // By itself SCTP finds a dead path by retransmission timeouts.
    let left = run(WIRES, &[overrides[1], overrides[2], ("selection.choice.scheme", "none")]);
    assert!(integers(&left, "flows", "timeouts")[0] > 0);
}

#[test]
fn clients_of_quic_migrate_and_what_no_scheme_moves_waits() {
    let of = |scheme: &str, from: &str, to: &str| {
        let overrides = [
            ("selection.choice.scheme", scheme),
            ("flow.call.from", from),
            ("flow.call.to", to),
            ("flow.call.transport", "{ protocol = \"quic\" }"),
            ("flow.call.application", "{ kind = \"bulk\" }"),
        ];
        let outcome = run(WIRES, &overrides);
        let column = if from == "phone" { "sent_bytes" } else { "received_bytes" };
        (integers(&outcome, "flows", "delivered_bytes")[0], integers(&outcome, "interfaces", column)[1])
    };
    // Two outages, 2.5 s at 10 Mb/s, less what it takes to find a window there.
    let (moved, by_satellite) = of("migration", "phone", "server");
    assert!((1_000_000..3_125_000).contains(&by_satellite), "{by_satellite}");
    // What begins on the first link stays there: by redirection, which has no hold of QUIC; a server.
    let stays = of("none", "phone", "server");
    assert_eq!(stays.1, 0);
    assert_eq!(of("redirect", "phone", "server"), stays);
    assert_eq!(of("migration", "server", "phone").1, 0);
    assert!(moved > stays.0 + 1_000_000, "{moved} {}", stays.0);
}

#[test]
fn a_connection_of_quic_begins_at_the_interface_that_is_selected() {
    // The second link is selected from 20 s to 22 s.
    for (from, to) in [("phone", "server"), ("server", "phone")] {
        let overrides = [
            ("flow.call.from", from),
            ("flow.call.to", to),
            ("flow.call.transport", "{ protocol = \"quic\" }"),
            ("flow.call.application", "{ kind = \"transfer\", size = \"1MB\", start = \"20.5s\" }"),
        ];
        let outcome = run(WIRES, &overrides);
        assert_eq!(integers(&outcome, "flows", "delivered_bytes"), [1_000_000]);
        let bytes =
            ["sent_bytes", "received_bytes"].map(|column| integers(&outcome, "interfaces", column)[1]);
        assert!(bytes[0].max(bytes[1]) > 1_000_000, "{bytes:?}");
    }
}

#[test]
fn flows_that_a_scheme_does_not_move_keep_their_address_and_are_told() {
    let warnings = |overrides: &[(&str, &str)]| {
        let pairs: Vec<_> =
            overrides.iter().map(|&(path, value)| (path.to_owned(), value.to_owned())).collect();
        Scenario::parse(WIRES, "scenario.toml", Format::Toml, &pairs).expect("valid").warnings
    };
    let cases = [
        ("none", "{ protocol = \"udp\" }", None),
        ("none", "{ protocol = \"sctp\" }", None),
        ("redirect", "{ protocol = \"tcp\" }", None),
        ("redirect", "{ protocol = \"sctp\" }", Some("scheme = \"mobile_sctp\"")),
        ("redirect", "{ protocol = \"quic\", client = \"to\" }", Some("scheme = \"migration\"")),
        ("mobile_sctp", "{ protocol = \"sctp\" }", None),
        ("mobile_sctp", "{ protocol = \"udp\" }", Some("scheme = \"redirect\"")),
        ("mobile_sctp", "{ protocol = \"quic\" }", Some("make \"phone\" the `client`")),
        ("migration", "{ protocol = \"quic\", client = \"to\" }", None),
        ("migration", "{ protocol = \"tcp\" }", Some("scheme = \"redirect\"")),
        ("migration", "{ protocol = \"sctp\" }", Some("scheme = \"mobile_sctp\"")),
        ("migration", "{ protocol = \"quic\" }", Some("make \"phone\" the `client`")),
    ];
    for (scheme, transport, help) in cases {
        let mut overrides = vec![("selection.choice.scheme", scheme), ("flow.call.transport", transport)];
        if transport.contains("quic") {
            overrides.push(("flow.call.application", "{ kind = \"bulk\" }"));
        }
        let told = warnings(&overrides);
        let Some(help) = help else {
            assert_eq!(told, [""; 0], "{scheme} {transport}");
            continue;
        };
        assert!(told.len() == 1 && told[0].contains("stays at its address"), "{told:?}");
        assert!(told[0].contains(help), "{scheme} {transport}: {told:?}");
    }
    // The outages: 0.5 s and 2 s at 50 packets a second.
    let lost = run(WIRES, &[("selection.choice.scheme", "migration")]);
    assert_eq!(floats(&lost, "flows", "lost_packets"), [125.0]);
    let lost = run(WIRES, &[("selection.choice.scheme", "mobile_sctp")]);
    assert_eq!(floats(&lost, "flows", "lost_packets"), [125.0]);
}

#[test]
fn a_radio_is_with_one_access_point_at_a_time_beside_other_links() {
    let text = include_str!("../../../examples/phone.toml");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/phone.toml");
    let scenario = Scenario::parse(text, source, Format::Toml, &[]).expect("valid");
    let outcome = roamsim_scenario::run::run(&scenario, Options::default()).expect("a run");
    let links: Vec<String> = switches(&outcome).into_iter().map(|(_, link, _)| link).collect();
    assert_eq!(links, ["lte", "wifi0", "lte", "wifi1"]);
    let up_s = floats(&outcome, "interfaces", "up_s");
    assert!(up_s[1] + up_s[2] < 60.0, "{up_s:?}");
}

#[test]
fn a_hundred_copies_select_each_for_itself() {
    let text = WIRES.replace("\"phone\"", "\"phone{i}\"").replace("\"lte\"", "\"lte{i}\"");
    let text = text.replace("\"satellite\"", "\"satellite{i}\"").replace("\"choice\"", "\"choice{i}\"");
    let text = text.replace("\"call\"", "\"call{i}\"");
    let text = text.replace("name = \"phone{i}\"", "name = \"phone{i}\"\ncount = 100");
    let outcome = run(&text, &[]);
    assert_eq!(integers(&outcome, "selection", "switches"), [4; 100]);
    assert_eq!(floats(&outcome, "flows", "lost_packets"), [0.0; 100]);
}

const GOOD: &str = WALK;

reports! {
    a_preference_for_no_interface: "[\"cell\", \"lte\"]" => "[\"cell\", \"ltee\"]";
    a_preference_for_another_nodes_link: "[\"cell\", \"lte\"]" => "[\"cell\", \"to west\"]";
    a_preference_for_a_technology_that_it_has_not: "[\"cell\", \"lte\"]" => "[\"wimax\", \"lte\"]";
    a_preference_for_nothing: "prefer = [\"cell\", \"lte\"]\n" => "";
    a_selection_of_no_node: "node = \"phone\"" => "node = \"phon\"";
    a_selection_with_nothing_to_select: "node = \"phone\"" => "node = \"west\"";
    two_selections_of_a_node: "[[flow]]" => "[[selection]]\nname = \"other\"\nnode = \"phone\"\npolicy = \"cheapest\"\n[[flow]]";
    a_selection_beside_another_scheme: "name = \"phone\"\n" => "name = \"phone\"\nhandover = \"bridged\"\n";
    a_selection_of_one_address: "name = \"phone\"\n" => "name = \"phone\"\nmultihomed = false\n";
    a_rule_for_the_primary_address: "name = \"phone\"\n" => "name = \"phone\"\nchange_primary_at = \"up\"\n";
    a_scheme_beside_dynamic_addresses: "protocol = \"udp\"" => "protocol = \"sctp\", dynamic_addresses = true";
    a_selection_beside_programs: "name = \"server\"\n" => "name = \"server\"\nexternal = true\n";
    a_policy_that_is_misspelt: "policy = \"preference\"" => "policy = \"preferense\"";
    a_policy_in_a_file: "policy = \"preference\"" => "policy = \"mine.py:Mine\"";
    the_strongest_of_distances: "policy = \"preference\"" => "policy = \"strongest\"";
    the_cheapest_without_prices: "policy = \"preference\"" => "policy = \"cheapest\"";
    a_threshold_without_signals: "scheme = \"redirect\"" => "scheme = \"redirect\"\nthreshold = \"-75dBm\"";
    a_hysteresis_of_nothing: "scheme = \"redirect\"" => "scheme = \"redirect\"\nhysteresis_db = 3";
    a_price_below_zero: "scheme = \"redirect\"" => "scheme = \"redirect\"\nprices = [{ access = \"lte\", cost_per_mb = -1 }]";
    a_price_of_another_link: "scheme = \"redirect\"" => "scheme = \"redirect\"\nprices = [{ access = \"to west\", cost_per_mb = 1 }]";
    an_external_node_that_selects: "name = \"phone\"\n" => "name = \"phone\"\nexternal = true\n";
}

#[test]
fn interfaces_that_are_never_selected_are_told() {
    let warnings = |overrides: &[(&str, &str)]| {
        let pairs: Vec<_> =
            overrides.iter().map(|&(path, value)| (path.to_owned(), value.to_owned())).collect();
        let scenario = Scenario::parse(WALK, "scenario.toml", Format::Toml, &pairs).expect("valid");
        scenario.warnings
    };
    assert_eq!(warnings(&[]), [""; 0]);
    let left_out = warnings(&[("selection.choice.prefer", "[\"west cell\", \"lte\"]")]);
    assert!(left_out.iter().any(|one| one.contains("\"phone\" never selects \"east cell\"")), "{left_out:?}");
    let behind = warnings(&[("selection.choice.prefer", "[\"lte\", \"cell\"]")]);
    assert!(behind.len() == 2 && behind[0].contains("\"lte\" comes first and is always up"), "{behind:?}");
}

#[test]
fn the_advice_of_a_station_beside_a_link_leads_to_a_valid_scenario() {
    let (before, after) = WALK.split_once("[[selection]]").expect("a selection");
    let (_, flow) = after.split_once("[[flow]]").expect("a flow");
    let told = refusal::refuse(&format!("{before}[[flow]]{flow}"));
    assert!(told.contains("add a [[selection]]"), "{told}");
}

#[test]
fn a_lost_cell_is_held_until_the_next_one_comes_or_the_hold_time_is_over() {
    let taken = |hold_time| {
        let outcome = run(WALK, &[("selection.choice.hold_time", hold_time)]);
        switches(&outcome).into_iter().map(|(time_s, link, _)| (time_s, link)).collect::<Vec<_>>()
    };
    // Lost at 20.2752 s; the next cell is there at 40.0384 s.
    let expected = [(0.0, "west cell"), (25.2752, "lte"), (40.0384, "east cell")];
    assert_eq!(taken("5s"), expected.map(|(s, link)| (s, link.to_owned())));
    let expected = [(0.0, "west cell"), (40.0384, "east cell")];
    assert_eq!(taken("20s"), expected.map(|(s, link)| (s, link.to_owned())));
}

#[test]
fn an_announced_end_of_a_cell_costs_no_packet() {
    let radius = "coverage = { model = \"disc\", radius = \"100m\" }";
    let text = WALK.replace(radius, &format!("{radius}\nadvertisement = {{ going_down_ahead = \"3s\" }}"));
    let leave = [("selection.choice.leave_when_going_down", "true")];
    let (left, stayed) = (run(&text, &leave), run(&text, &[]));
    let [(_, _, first), (time_s, link, reason), ..] = &switches(&left)[..] else { panic!("two switches") };
    assert_eq!((first.as_str(), link.as_str(), reason.as_str()), ("first", "lte", "preferred"));
    // The cell ends at 20 s.
    assert!((17.0..17.11).contains(time_s), "{time_s}");
    assert_eq!(switches(&stayed)[1].0, 20.2752);
    assert_eq!(floats(&stayed, "flows", "lost_packets"), [14.0]);
    assert_eq!(floats(&left, "flows", "lost_packets"), [0.0]);
}
