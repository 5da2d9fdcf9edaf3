//! A node that selects, with Mobile IPv4 and a co-located care-of address, end to end.

use crate::outcome::{self, floats, integers, texts};
use roamsim_scenario::run::{Options, Outcome};

/// LTE is the home link, and its router the home agent; it fails for two seconds.
const GOOD: &str = r#"
[scenario]
name = "home"
duration = "30s"
ip = "ipv4"
[[node]]
name = "server"
[[node]]
name = "router"
[[node]]
name = "phone"
[[link]]
name = "core"
between = ["server", "router"]
rate = "100Mb/s"
delay = "5ms"
[[link]]
name = "lte"
between = ["router", "phone"]
rate = "10Mb/s"
delay = "10ms"
outages = [{ start = "10s", duration = "2s" }]
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
scheme = "mobile_ip"
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

#[test]
fn the_home_agent_tunnels_to_the_selected_interface_from_the_registration_on() {
    let outcome = run(&[]);
    // The request leaves at 10 s by satellite, 40 ms, and the core, 5 ms: the home agent has it at 10.045 s.
    // Lost are packets that reach it at 10.010 s and 10.030 s. At 12 s the node deregisters by LTE: none is
    // lost.
    assert_eq!(floats(&outcome, "flows", "lost_packets"), [2.0]);
    // 200 octets, and 20 more in the tunnel. Of the 2 s at 50 packets a second all but those lost.
    let received = integers(&outcome, "interfaces", "received_bytes");
    let tunnelled = received[1] / 220;
    assert!((95..=100).contains(&tunnelled), "{received:?}");
    assert_eq!(texts(&outcome, "mobile_ip", "role").to_vec(), ["home agent", "mobile node"]);
    assert_eq!(texts(&outcome, "mobile_ip", "node").to_vec(), ["router", "phone"]);
    // A registration and a deregistration.
    assert_eq!(integers(&outcome, "mobile_ip", "requests"), [2, 2]);
    assert_eq!(integers(&outcome, "mobile_ip", "accepted"), [2, 2]);
}

#[test]
fn a_lost_request_is_repeated() {
    let overrides = [("link.satellite.loss", "{ model = \"bernoulli\", probability = 1, from = \"phone\" }")];
    let outcome = run(&overrides);
    // After 1 s; the next one would come 2 s later. Nothing was registered; the deregistration asks anew.
    assert_eq!(integers(&outcome, "mobile_ip", "retransmissions"), [0, 1]);
    assert_eq!(floats(&outcome, "flows", "lost_packets"), [100.0]);
}

#[test]
fn every_transport_keeps_its_home_address() {
    for transport in [
        "{ protocol = \"tcp\" }",
        "{ protocol = \"sctp\" }",
        "{ protocol = \"quic\" }",
        "{ protocol = \"quic\", client = \"to\" }",
    ] {
        let overrides = [
            ("flow.call.transport", transport),
            ("flow.call.application", "{ kind = \"bulk\" }"),
            ("link.lte.outages", "[{ start = \"10s\", duration = \"20s\" }]"),
        ];
        let outcome = run(&overrides);
        let by_satellite = integers(&outcome, "interfaces", "received_bytes")[1];
        // Most of 20 s at 10 Mb/s.
        assert!((15_000_000..25_000_000).contains(&by_satellite), "{transport}: {by_satellite}");
        assert!(integers(&outcome, "flows", "delivered_bytes")[0] > 25_000_000, "{transport}");
    }
}

#[test]
fn what_the_node_sends_takes_the_selected_interface() {
    let overrides = [("flow.call.from", "phone"), ("flow.call.to", "server")];
    let outcome = run(&overrides);
    assert_eq!(floats(&outcome, "flows", "lost_packets"), [0.0]);
    // 200 octets at 50 packets a second for 2 s, without a tunnel; and registrations.
    let sent = integers(&outcome, "interfaces", "sent_bytes");
    assert!((100 * 200..100 * 200 + 200).contains(&sent[1]), "{sent:?}");
}

#[test]
fn another_home_is_chosen() {
    let overrides =
        [("selection.choice.home", "satellite"), ("selection.choice.prefer", "[\"satellite\", \"lte\"]")];
    let outcome = run(&overrides);
    assert_eq!(texts(&outcome, "mobile_ip", "node").to_vec(), ["server", "phone"]);
    assert_eq!(integers(&outcome, "mobile_ip", "requests"), [0, 0]);
    assert_eq!(floats(&outcome, "flows", "lost_packets"), [0.0]);
}

reports! {
    mobile_ip_of_a_selection_over_ipv6: "ip = \"ipv4\"" => "ip = \"ipv6\"";
    a_home_that_is_never_selected: "scheme = \"mobile_ip\"" => "scheme = \"mobile_ip\"\nhome = \"core\"";
    a_policy_of_a_flow_beside_mobile_ip: "to = \"phone\"" => "to = \"phone\"\npolicy = [\"lte\"]";
}

#[test]
fn a_home_agent_with_no_other_link_is_refused() {
    let text = GOOD.replace("between = [\"router\", \"phone\"]", "between = [\"west\", \"phone\"]");
    let text =
        text.replace("[[link]]\nname = \"core\"", "[[node]]\nname = \"west\"\n[[link]]\nname = \"core\"");
    let text = text.replace(
        "name = \"core\"\nbetween = [\"server\", \"router\"]",
        "name = \"core\"\nbetween = [\"server\", \"router\"]\ncost = 2",
    );
    let told = crate::refusal::refuse(&text);
    assert!(told.contains("\"west\" is the home agent"), "{told}");
}
