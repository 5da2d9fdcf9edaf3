//! A node that selects, with IEEE 802.21's handover commands, end to end.

use crate::outcome::{self, floats, integers, texts};
use roamsim_scenario::run::{Options, Outcome};
use roamsim_scenario::{Format, Scenario};

/// LTE is preferred, and fails for two seconds. Its router is its point of service, the server that of the
/// satellite.
const GOOD: &str = r#"
[scenario]
name = "commands"
duration = "30s"
[[node]]
name = "server"
[[node]]
name = "router"
[[node]]
name = "phone"
[[link]]
name = "core"
between = ["server", "router"]
rate = "1Gb/s"
delay = "5ms"
[[link]]
name = "lte"
between = ["router", "phone"]
rate = "100Mb/s"
delay = "10ms"
outages = [{ start = "10s", duration = "2s" }]
[[link]]
name = "satellite"
between = ["server", "phone"]
rate = "100Mb/s"
delay = "40ms"
[[selection]]
name = "choice"
node = "phone"
policy = "preference"
prefer = ["lte", "satellite"]
scheme = "mih"
[[flow]]
name = "call"
from = "server"
to = "phone"
transport = { protocol = "udp" }
application = { kind = "cbr", packet_size = "172B", interval = "20ms", start = "5ms" }
"#;

const OUTAGES: &str = "link.lte.outages";

fn run(overrides: &[(&str, &str)]) -> Outcome {
    outcome::of(GOOD, overrides, Options::default())
}

fn outcomes(outcome: &Outcome) -> Vec<String> {
    texts(outcome, "mih_handovers", "outcome").to_vec()
}

/// The second handover's instant, which is expected so long after 12 s; the time of octets on links is less
/// than 1 ms.
fn after_12_s(outcome: &Outcome, column: &str, expected_s: f64) {
    let instant = floats(outcome, "mih_handovers", column)[1] - 12.0;
    let expected = expected_s - 1e-9..expected_s + 0.001;
    assert!(expected.contains(&instant), "{column}: {instant}");
}

#[test]
fn a_switch_is_asked_for_and_committed_before_flows_are_redirected() {
    let outcome = run(&[]);
    assert_eq!(outcomes(&outcome), ["link_down", "committed"]);
    assert_eq!(texts(&outcome, "mih_handovers", "begun_by").to_vec(), ["link_down", "selection"]);
    assert_eq!(texts(&outcome, "mih_handovers", "from_cell").to_vec(), ["lte", "satellite"]);
    assert_eq!(texts(&outcome, "mih_handovers", "to_cell").to_vec(), ["satellite", "lte"]);
    // By satellite to the server and back, 80 ms; from there to the router and back, 10 ms.
    after_12_s(&outcome, "resources_asked_s", 0.0);
    after_12_s(&outcome, "resources_known_s", 0.090);
    after_12_s(&outcome, "committed_s", 0.180);
    // By LTE and the core to the server and back.
    after_12_s(&outcome, "redirected_s", 0.210);
    // By LTE to the router, from there to the server, and back.
    after_12_s(&outcome, "completed_s", 0.240);
    // Lost are the packets of 10.005 s and 10.025 s: the server hears at 10.04 s where the phone is. On the
    // way back none is lost.
    assert_eq!(floats(&outcome, "flows", "lost_packets"), [2.0]);
    // From 10.04 s to 12.195 s, each of 220 octets: 107 or 108 packets, and some messages.
    let received = integers(&outcome, "interfaces", "received_bytes")[1];
    assert!((107 * 220..120 * 220).contains(&received), "{received}");
    assert_eq!(integers(&outcome, "mih_users", "unexpected"), [0, 0, 0]);
    assert_eq!(texts(&outcome, "mih_users", "node").to_vec(), ["phone", "router", "server"]);
    assert_eq!(integers(&outcome, "mih_users", "given_up"), [0, 0, 0]);
}

#[test]
fn points_of_service_take_their_time() {
    let outcome = run(&[("selection.choice.mih.processing_time", "20ms")]);
    // Each of the two takes 20 ms for each request.
    after_12_s(&outcome, "resources_known_s", 0.130);
    after_12_s(&outcome, "committed_s", 0.260);
    after_12_s(&outcome, "redirected_s", 0.290);
    after_12_s(&outcome, "completed_s", 0.360);
}

#[test]
fn messages_go_over_tcp_too_and_have_a_size() {
    let outcome =
        run(&[("selection.choice.mih", "{ transport = { protocol = \"tcp\" }, message_size = \"400B\" }")]);
    after_12_s(&outcome, "committed_s", 0.180);
    assert_eq!(integers(&outcome, "mih_users", "acks"), [0, 0, 0]);
    let over_udp = integers(&run(&[]), "interfaces", "sent_bytes")[1];
    assert!(integers(&outcome, "interfaces", "sent_bytes")[1] > over_udp);
}

#[test]
fn an_exchange_that_is_lost_leaves_flows_where_they_are() {
    // Nothing reaches the server by satellite: neither the redirection of 10 s nor the query of 12 s, which
    // is given up after three transmissions.
    let overrides = [
        ("link.satellite.loss", "{ model = \"bernoulli\", probability = 1, from = \"phone\" }"),
        ("selection.choice.mih.acknowledgement", "{ timeout = \"100ms\" }"),
    ];
    let outcome = run(&overrides);
    assert_eq!(outcomes(&outcome), ["redirecting", "given_up"]);
    assert_eq!(texts(&outcome, "mih_handovers", "given_up_by").to_vec(), ["", "message"]);
    after_12_s(&outcome, "given_up_s", 0.3);
    // The server has never left LTE.
    assert_eq!(floats(&outcome, "flows", "lost_packets"), [100.0]);
}

#[test]
fn a_network_that_does_not_answer_is_no_candidate() {
    // The points of service cannot ask each other; the flow stays with the satellite.
    let outcome = run(&[("link.core.outages", "[{ start = \"11900ms\", duration = \"5s\" }]")]);
    assert_eq!(outcomes(&outcome), ["link_down", "given_up"]);
    assert_eq!(texts(&outcome, "mih_handovers", "given_up_by").to_vec(), ["", "no_candidate"]);
    assert_eq!(floats(&outcome, "flows", "lost_packets"), [2.0]);
    // What the policy has selected, and new connections would use, is LTE all the same.
    assert_eq!(texts(&outcome, "switches", "to_link").to_vec(), ["lte", "satellite", "lte"]);
}

#[test]
fn a_choice_that_is_taken_back_ends_its_preparation() {
    let outages = "[{ start = \"10s\", duration = \"2s\" }, { start = \"12050ms\", duration = \"2s\" }]";
    let outcome = run(&[(OUTAGES, outages)]);
    assert_eq!(outcomes(&outcome), ["link_down", "rolled_back", "committed"]);
    assert_eq!(floats(&outcome, "flows", "lost_packets"), [2.0]);
}

#[test]
fn a_link_that_is_lost_before_the_commitment_is_left_at_once() {
    let outage = ("link.satellite.outages", "[{ start = \"12100ms\", duration = \"1s\" }]");
    let outcome = run(&[outage]);
    assert_eq!(outcomes(&outcome), ["link_down", "link_down"]);
    assert_eq!(texts(&outcome, "mih_handovers", "begun_by").to_vec(), ["link_down", "selection"]);
    // The update leaves when the link goes down.
    after_12_s(&outcome, "redirect_begun_s", 0.1);
    after_12_s(&outcome, "redirected_s", 0.13);
    assert!(floats(&outcome, "mih_handovers", "committed_s")[1].is_nan());
}

#[test]
fn connections_go_on_and_other_transports_stay() {
    let outages = "[{ start = \"10s\", duration = \"20s\" }]";
    let delivered = |transport| {
        let overrides = [
            ("flow.call.transport", transport),
            ("flow.call.application", "{ kind = \"bulk\" }"),
            (OUTAGES, outages),
        ];
        integers(&run(&overrides), "flows", "delivered_bytes")[0]
    };
    // 10 s at 100 Mb/s are 125 MB; by satellite as much comes again, twice.
    assert!(delivered("{ protocol = \"tcp\", variant = \"cubic\" }") > 250_000_000);
    assert!(delivered("{ protocol = \"quic\", congestion_control = \"cubic\" }") < 126_000_000);
}

#[test]
fn connections_of_transfers_follow_too() {
    // Each has a connection of its own and takes 1.6 s. Those under way at 10 s end if they are redirected.
    let delivered = |scheme| {
        let overrides = [
            ("selection.choice.scheme", scheme),
            ("flow.call.transport", "{ protocol = \"tcp\" }"),
            ("flow.call.application", "{ kind = \"transfers\", rate = \"0.4/s\", size = \"20MB\" }"),
            (OUTAGES, "[{ start = \"10s\", duration = \"30s\" }]"),
        ];
        integers(&run(&overrides), "flows", "delivered_bytes")[0]
    };
    let [redirected, stays] = ["mih", "none"].map(delivered);
    assert!(redirected > stays, "{redirected} against {stays}");
}

#[test]
fn a_point_of_service_is_chosen() {
    let text = GOOD.replace("name = \"router\"\n", "name = \"router\"\n[[node]]\nname = \"pos\"\n").replace(
        "[[selection]]",
        "[[link]]\nname = \"to pos\"\nbetween = [\"router\", \"pos\"]\nrate = \"1Gb/s\"\ndelay = \"1ms\"\n[[selection]]",
    );
    let chosen = ("selection.choice.mih.points_of_service", "[{ access = \"lte\", pos = \"pos\" }]");
    let outcome = outcome::of(&text, &[chosen], Options::default());
    assert_eq!(texts(&outcome, "mih_users", "node").to_vec(), ["phone", "pos", "server"]);
    // The way from one point of service to the other is 1 ms longer.
    after_12_s(&outcome, "resources_known_s", 0.092);
}

#[test]
fn flows_over_other_transports_are_told_of() {
    let told = |transport: &str| {
        let overrides = [("flow.call.transport".to_owned(), transport.to_owned())];
        Scenario::parse(GOOD, "scenario.toml", Format::Toml, &overrides).expect("valid").warnings
    };
    assert!(told("{ protocol = \"udp\" }").is_empty());
    let of_sctp = told("{ protocol = \"sctp\" }");
    assert!(format!("{of_sctp:?}").contains("MIH users redirect UDP"), "{of_sctp:?}");
    assert!(format!("{of_sctp:?}").contains("scheme = \\\"mobile_sctp\\\""), "{of_sctp:?}");
}

#[test]
fn a_flow_between_two_that_select_is_refused() {
    let both = format!(
        "{GOOD}[[link]]\nname = \"other\"\nbetween = [\"server\", \"router\"]\nrate = \"1Gb/s\"\ndelay = \"9ms\"\n\
         [[selection]]\nname = \"there\"\nnode = \"server\"\npolicy = \"preference\"\nprefer = [\"core\", \"other\"]\n"
    );
    let told = crate::refusal::refuse(&both);
    assert!(told.contains("both ends of flow \"call\" select an interface"), "{told}");
    assert!(told.contains("scheme = \"redirect\""), "{told}");
}

reports! {
    one_point_of_service_for_two_interfaces: "between = [\"router\", \"phone\"]" => "between = [\"server\", \"phone\"]";
    a_point_of_service_that_nobody_is: "scheme = \"mih\"" => "scheme = \"mih\"\nmih = { points_of_service = [{ access = \"lte\", pos = \"ruter\" }] }";
    a_point_of_service_of_no_interface: "scheme = \"mih\"" => "scheme = \"mih\"\nmih = { points_of_service = [{ access = \"core\", pos = \"router\" }] }";
    the_node_as_its_own_point_of_service: "scheme = \"mih\"" => "scheme = \"mih\"\nmih = { points_of_service = [{ access = \"lte\", pos = \"phone\" }] }";
    commands_over_quic: "scheme = \"mih\"" => "scheme = \"mih\"\nmih = { transport = { protocol = \"quic\" } }";
    commands_that_are_too_short: "scheme = \"mih\"" => "scheme = \"mih\"\nmih = { message_size = \"10B\" }";
    commands_acknowledged_in_no_time: "scheme = \"mih\"" => "scheme = \"mih\"\nmih = { acknowledgement = { timeout = \"0s\" } }";
    a_policy_of_a_flow_beside_commands: "to = \"phone\"" => "to = \"phone\"\npolicy = [\"lte\"]";
}
