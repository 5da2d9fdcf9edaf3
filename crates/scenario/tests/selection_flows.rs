//! Flows with a policy of their own beside that of their node, end to end: where they go, and when.

use crate::outcome::{self, floats, integers, texts};
use roamsim_scenario::run::{Options, Outcome};
use roamsim_scenario::{Format, Scenario};

/// A node that prefers the satellite, with a call that prefers LTE, which fails twice.
const GOOD: &str = r#"
[scenario]
name = "two policies"
duration = "30s"
[[node]]
name = "server"
[[node]]
name = "phone"
[[node]]
name = "west"
[[link]]
name = "to west"
between = ["server", "west"]
rate = "10Mb/s"
delay = "10ms"
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
prefer = ["satellite", "lte"]
scheme = "redirect"
[[flow]]
name = "call"
from = "server"
to = "phone"
policy = ["lte", "satellite"]
transport = { protocol = "udp" }
application = { kind = "cbr", packet_size = "172B", interval = "20ms", start = "5ms" }
[[flow]]
name = "sensor"
from = "phone"
to = "server"
transport = { protocol = "udp" }
application = { kind = "cbr", packet_size = "52B", interval = "100ms", start = "5ms" }
"#;

fn run(overrides: &[(&str, &str)]) -> Outcome {
    outcome::of(GOOD, overrides, Options::default())
}

/// Octets to the phone, by LTE and by satellite.
fn received(outcome: &Outcome) -> [u64; 2] {
    let bytes = integers(outcome, "interfaces", "received_bytes");
    [bytes[0], bytes[1]]
}

#[test]
fn each_flow_goes_by_its_own_policy() {
    let outcome = run(&[]);
    let rows = |column| texts(&outcome, "switches", column).to_vec();
    let switches: Vec<_> = rows("name").into_iter().zip(rows("to_link")).collect();
    let call = ["lte", "satellite", "lte", "satellite", "lte"].map(|link| ("call".into(), link.into()));
    assert_eq!(switches[0], ("choice".to_owned(), "satellite".to_owned()));
    assert_eq!(switches[1..], call);
    assert_eq!(floats(&outcome, "switches", "time_s")[1..], [0.0, 10.0, 10.5, 20.0, 22.0]);
    // 220 octets with UDP and IPv6 at 50 packets a second: 2.5 s by satellite, the rest by LTE.
    assert_eq!(received(&outcome), [1375 * 220, 125 * 220]);
    // 100 octets, ten times a second.
    assert_eq!(integers(&outcome, "interfaces", "sent_bytes"), [0, 300 * 100]);
    assert_eq!(floats(&outcome, "flows", "lost_packets"), [0.0, 0.0]);
    // A row for the node and one for the flow; what interfaces count is the node's.
    assert_eq!(texts(&outcome, "selection", "name").to_vec(), ["choice", "call"]);
    assert_eq!(integers(&outcome, "selection", "switches"), [0, 4]);
    assert_eq!(texts(&outcome, "interfaces", "name").to_vec(), ["choice", "choice"]);
}

#[test]
fn a_flow_uses_no_interface_that_its_policy_does_not_name() {
    let outcome = run(&[("flow.call.policy", "[\"lte\"]")]);
    // The outages: 0.5 s and 2 s at 50 packets a second.
    assert_eq!(floats(&outcome, "flows", "lost_packets"), [125.0, 0.0]);
    assert_eq!(received(&outcome)[1], 0);
    assert_eq!(floats(&outcome, "selection", "without_s"), [0.0, 2.5]);
}

#[test]
fn schemes_that_leave_addresses_to_transports_tell_each_its_own() {
    for (scheme, transport) in [
        ("redirect", "{ protocol = \"tcp\" }"),
        ("mobile_sctp", "{ protocol = \"sctp\" }"),
        ("migration", "{ protocol = \"quic\", client = \"to\" }"),
    ] {
        let overrides = [
            ("selection.choice.scheme", scheme),
            ("flow.call.transport", transport),
            ("flow.call.application", "{ kind = \"bulk\" }"),
        ];
        let [lte, satellite] = received(&run(&overrides));
        // Of 27.5 s at 10 Mb/s nearly all, and of 2.5 s some.
        assert!((25_000_000..37_500_000).contains(&lte), "{scheme}: {lte}");
        assert!((300_000..3_200_000).contains(&satellite), "{scheme}: {satellite}");
    }
}

#[test]
fn a_flow_that_nothing_moves_begins_where_its_policy_says() {
    for transport in ["{ protocol = \"tcp\" }", "{ protocol = \"sctp\" }", "{ protocol = \"quic\" }"] {
        let overrides = [
            ("selection.choice.scheme", "none"),
            ("flow.call.transport", transport),
            ("flow.call.application", "{ kind = \"transfer\", size = \"1MB\", start = \"1s\" }"),
        ];
        let outcome = run(&overrides);
        assert_eq!(integers(&outcome, "flows", "delivered_bytes")[0], 1_000_000, "{transport}");
        let [lte, satellite] = received(&outcome);
        // SCTP asks the other path for a heartbeat now and then.
        assert!(lte > 1_000_000 && satellite < 2_000, "{transport}: {lte} {satellite}");
    }
}

#[test]
fn each_connection_of_transfers_begins_where_the_policy_says() {
    // Three begin within outages.
    let arrivals = ["1", "10.2", "15", "20.5", "21", "25"].map(|s| format!("{s} 100000")).join("\\n");
    let transfers = format!("{{ kind = \"transfers\", content = \"{arrivals}\" }}");
    let overrides = [
        ("selection.choice.scheme", "none"),
        ("flow.call.transport", "{ protocol = \"tcp\" }"),
        ("flow.call.application", transfers.as_str()),
    ];
    let outcome = run(&overrides);
    let [lte, satellite] = received(&outcome);
    assert!((300_000..330_000).contains(&lte), "{lte}");
    assert!((300_000..330_000).contains(&satellite), "{satellite}");
}

reports! {
    a_policy_of_a_flow_for_no_interface: "policy = [\"lte\", \"satellite\"]" => "policy = [\"lte\", \"satelite\"]";
    a_policy_of_a_flow_for_nothing: "policy = [\"lte\", \"satellite\"]" => "policy = []";
    a_policy_of_a_flow_that_names_one_twice: "policy = [\"lte\", \"satellite\"]" => "policy = [\"lte\", \"lte\"]";
    a_policy_of_a_flow_for_what_its_node_does_not_select: "prefer = [\"satellite\", \"lte\"]" => "prefer = [\"satellite\"]";
    a_policy_of_a_flow_between_nodes_that_do_not_select: "to = \"phone\"" => "to = \"west\"";
}

#[test]
fn an_interface_of_a_flow_alone_is_selected() {
    let warnings = |overrides: &[(&str, &str)]| {
        let pairs: Vec<_> =
            overrides.iter().map(|&(path, value)| (path.to_owned(), value.to_owned())).collect();
        Scenario::parse(GOOD, "scenario.toml", Format::Toml, &pairs).expect("valid").warnings
    };
    // The satellite is always up, so that the node itself never selects LTE.
    assert_eq!(warnings(&[]), [""; 0]);
    let never = warnings(&[("flow.call.policy", "[\"satellite\", \"lte\"]")]);
    assert!(never.len() == 1 && never[0].contains("\"phone\" never selects \"lte\""), "{never:?}");
}
