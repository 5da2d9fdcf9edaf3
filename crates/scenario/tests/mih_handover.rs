//! Handovers by MIH users, end to end, on the example and on variants of it.

mod outcome;
#[macro_use]
mod refusal;

use outcome::{floats, integers, texts};
use roamsim_scenario::run::{Options, Outcome, run};
use roamsim_scenario::{Format, Scenario};

const GOOD: &str = include_str!("../../../examples/mih-handover.toml");

fn outcome(text: &str, seed: u64) -> Outcome {
    let scenario = Scenario::parse(text, "mih_handover.toml", Format::Toml, &[])
        .unwrap_or_else(|diagnostics| panic!("{}", diagnostics.render(false)));
    run(&scenario, Options { seed, ..Options::default() }).unwrap_or_else(|error| panic!("{error}"))
}

/// The example with some texts replaced by others.
fn with(changes: &[(&str, &str)]) -> String {
    changes.iter().fold(GOOD.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "{from}");
        text.replace(from, to)
    })
}

/// A column of the first row of `mih_handovers`, in nanoseconds.
fn ns(outcome: &Outcome, column: &str) -> i64 {
    (floats(outcome, "mih_handovers", column)[0] * 1e9).round() as i64
}

fn ended(outcome: &Outcome) -> [&str; 2] {
    ["outcome", "given_up_by"]
        .map(|column| texts(outcome, "mih_handovers", column).iter().next().map_or("", String::as_str))
}

/// Times that can be worked out: 8 Mb/s in both cells, a microsecond each way.
const ROUND: [(&str, &str); 2] = [
    ("rate = \"11Mb/s\"", "rate = \"8Mb/s\"\ndelay = \"1us\""),
    ("rate = \"10Mb/s\"", "rate = \"8Mb/s\"\ndelay = \"1us\""),
];

/// A message of 200 octets, with UDP and IPv6 248: over a cell and two wires, and between the points of service.
const TO_POS: i64 = 248_000 + 1_000 + 2 * (10_000_000 + 19_840);
const BETWEEN: i64 = 2 * (10_000_000 + 19_840);
const PROCESSING: i64 = 200_000_000;
/// An acknowledgement that leaves before a message in the same instant: header 8, MIHF IDs of 5 octets 8 each, with UDP and IPv6
/// 72; from the terminal and to it, whose ID has 8 octets, 75.
const ACK_OF_POS: i64 = 5_760;
const ACK_TO_TERMINAL: i64 = 6_000;
const ACK_OF_TERMINAL: i64 = 75_000;
/// Redirect and acknowledgement, 48 octets each.
const REDIRECT: i64 = 2 * (48_000 + 1_000 + 2 * (10_000_000 + 3_840));

#[test]
fn each_step_of_a_mobile_initiated_handover_takes_what_its_messages_take() {
    let outcome = outcome(&with(&ROUND), 1);
    assert_eq!(ended(&outcome), ["committed", ""]);
    // More than 9 s before 25 s it is not: at the first beacon behind.
    assert_eq!(ns(&outcome, "started_s"), 16_100_000_000);
    assert_eq!(ns(&outcome, "scan_s"), 600_000_000);
    // To the PoS, its processing, to the other one, its processing, and back; the first one acknowledges before it answers.
    let exchange = TO_POS + PROCESSING + BETWEEN + PROCESSING + BETWEEN + ACK_OF_POS + TO_POS;
    assert_eq!(ns(&outcome, "resources_s"), exchange);
    assert_eq!(ns(&outcome, "commit_s"), ACK_OF_TERMINAL + exchange);
    assert_eq!(ns(&outcome, "redirect_s"), REDIRECT);
    assert_eq!(ns(&outcome, "handover_s"), 600_000_000 + 2 * exchange + ACK_OF_TERMINAL + REDIRECT);
    // Nothing is lost: the old link is up until the new one is in use.
    assert_eq!(floats(&outcome, "flows", "lost_packets")[0], 0.0);
    assert_eq!(texts(&outcome, "handovers", "scheme").iter().next().map(String::as_str), Some("mih"));
}

#[test]
fn a_network_decides_by_what_it_sees_or_is_told() {
    let local = outcome(&with(&[ROUND[0], ROUND[1], ("\"mobile_node\"\nfrom", "\"network\"\nfrom")]), 1);
    assert_eq!(ended(&local), ["committed", ""]);
    let resources = BETWEEN + PROCESSING + BETWEEN;
    assert_eq!(ns(&local, "resources_s"), resources);
    // Asked after the acknowledgement, it scans after its processing.
    let asked = ns(&local, "resources_known_s") + ACK_OF_POS + TO_POS;
    assert_eq!(ns(&local, "scan_begun_s"), asked + PROCESSING);
    assert_eq!(ns(&local, "commit_s"), ACK_TO_TERMINAL + resources + ACK_OF_POS + TO_POS);
    assert_eq!(ns(&local, "redirect_begun_s"), ns(&local, "committed_s"));

    let notice = ("\"mobile_node\"\nfrom", "\"network\"\nnotice = \"remote\"\nfrom");
    let remote = outcome(&with(&[ROUND[0], ROUND[1], notice]), 1);
    assert_eq!(ended(&remote), ["committed", ""]);
    // The indication travels, and is acknowledged before anything is asked.
    assert_eq!(ns(&remote, "started_s"), ns(&local, "started_s") + TO_POS);
    assert_eq!(ns(&remote, "resources_s"), ACK_TO_TERMINAL + resources);
}

#[test]
fn a_handover_that_comes_too_late_redirects_when_the_link_is_down() {
    // 1 s does not suffice for a scan and two exchanges.
    let late = outcome(&with(&[("\"9s\"", "\"1s\"")]), 1);
    assert_eq!(ended(&late), ["link_down", ""]);
    // Out of reach at 25 s, lost by the third beacon that is missed.
    let begun_s = floats(&late, "mih_handovers", "redirect_begun_s")[0];
    assert!((25.2..=25.3).contains(&begun_s), "{begun_s}");
    assert!(floats(&late, "mih_handovers", "completed_s")[0].is_nan());
    // The message of 25 s is lost on the old link.
    assert_eq!(floats(&late, "flows", "lost_packets")[0], 1.0);
}

#[test]
fn where_a_candidate_has_no_room_the_terminal_stays_until_its_link_is_down() {
    let target = "{ access = \"large\", pos = \"pos-2\" }";
    let full = outcome(&with(&[(target, "{ access = \"large\", pos = \"pos-2\", capacity = 0 }")]), 1);
    assert_eq!(ended(&full), ["link_down", "no_candidate"]);
}

/// The example with a third network, whose point of service is behind a wire of an MTU of its own.
fn with_third_network(mtu: &str, changes: &[(&str, &str)]) -> String {
    let second = "{ access = \"large\", pos = \"pos-2\" }";
    let third = "{ access = \"other\", pos = \"pos-3\" }";
    let to_both = format!("{second}, {third}");
    let changes = [&[(second, to_both.as_str())], changes].concat();
    with(&changes)
        + &format!(
            "\n[[node]]\nname = \"pos-3\"\n\n[[cell]]\nname = \"other\"\nbase_station = \"base-station\"\n\
             stations = [\"terminal\"]\nrate = \"10Mb/s\"\ncoverage = {{ model = \"disc\", radius = \"500m\" }}\n\
             advertisement = {{ period = \"100ms\" }}\n\n[[link]]\nname = \"f\"\nbetween = [\"router\", \"pos-3\"]\n\
             rate = \"100Mb/s\"\ndelay = \"10ms\"\nmtu = \"{mtu}\"\n"
        )
}

#[test]
fn a_transport_between_points_of_service_fits_each_candidate() {
    let tcp = "message_size = \"200B\"\ntransport_between_pos = { protocol = \"tcp\", mss = \"1400B\" }";
    let changes = [("message_size = \"200B\"", tcp)];
    outcome(&with_third_network("1500B", &changes), 1);
    // With headers of IPv6 and TCP a full segment has 1460 B.
    let report = refusal::refuse(&with_third_network("1400B", &changes));
    assert!(report.contains("handover.walk.transport_between_pos.mss: a full segment makes"), "{report}");
    assert_eq!(report.matches("1460 B").count(), 1, "{report}");
}

#[test]
fn a_point_of_service_may_take_less_time_than_others() {
    let from = (
        "{ access = \"small\", pos = \"pos-1\" }",
        "{ access = \"small\", pos = \"pos-1\", processing_time = \"0s\" }",
    );
    let outcome = outcome(&with(&[ROUND[0], ROUND[1], from]), 1);
    // To the PoS, which asks the other one at once, its processing, and back; an acknowledgement leaves before each message.
    // To the terminal that has 75 octets, between points of service 72.
    let exchange = TO_POS + ACK_TO_TERMINAL + BETWEEN + PROCESSING + BETWEEN + ACK_OF_POS + TO_POS;
    assert_eq!(ns(&outcome, "resources_s"), exchange);
}

#[test]
fn sessions_may_go_over_sctp() {
    let sctp = ("{ protocol = \"udp\" }\nmessage_size", "{ protocol = \"sctp\" }\nmessage_size");
    let acknowledgement = ("acknowledgement = { timeout = \"100ms\", retransmissions = 2 }\n", "");
    let outcome = outcome(&with(&[sctp, acknowledgement]), 1);
    assert_eq!(ended(&outcome), ["committed", ""]);
    // Messages to the old PoS and from it go through the old network, whose address their session has.
    assert!(floats(&outcome, "mih_handovers", "resources_s")[0] < 0.6);
}

#[test]
fn a_handover_is_as_long_as_its_link_was_going_down() {
    let notice = ("\"mobile_node\"\nfrom", "\"network\"\nnotice = \"remote\"\nfrom");
    let outcome = outcome(&with(&[ROUND[0], ROUND[1], notice]), 1);
    assert_eq!(ns(&outcome, "going_down_s"), 16_100_000_000);
    assert_eq!(ns(&outcome, "started_s"), 16_100_000_000 + TO_POS);
    assert_eq!(ns(&outcome, "handover_s"), ns(&outcome, "redirected_s") - 16_100_000_000);
}

#[test]
fn two_terminals_compete_for_the_room_of_one() {
    let mut text = with(&[
        ("stations = [\"terminal\"]", "stations = [\"terminal\", \"other\"]"),
        ("{ access = \"large\", pos = \"pos-2\" }", "{ access = \"large\", pos = \"pos-2\", capacity = 1 }"),
    ]);
    let copied = |text: &str, from: &str, to: &str| {
        let part = text.split(from).nth(1).expect(from).split(to).next().expect(to).to_owned();
        format!("\n{from}{part}").replace("terminal", "other")
    };
    let node = copied(&text, "[[node]]\nname = \"terminal\"", "[[node]]");
    let flow = copied(&text, "[[flow]]", "[[handover]]").replace("\"stream\"", "\"other stream\"");
    let handover = format!("\n[[handover]]{}", text.split("[[handover]]").nth(1).expect("the last one"))
        .replace("terminal", "other")
        .replace("\"walk\"", "\"other walk\"");
    // It starts a metre behind.
    text += &(node.replace("25m", "24m") + &flow + &handover);
    let outcome = outcome(&text, 1);
    let outcomes: Vec<&str> =
        texts(&outcome, "mih_handovers", "outcome").iter().map(String::as_str).collect();
    assert_eq!(outcomes, ["committed", "link_down"]);
}

#[test]
fn a_tcp_connection_goes_on_through_the_new_network() {
    let flow = "{ protocol = \"udp\" }\napplication = { kind = \"cbr\", packet_size = \"200B\", interval = \"500ms\" }";
    let bulk = "{ protocol = \"tcp\" }\napplication = { kind = \"bulk\" }";
    let text = with(&[(flow, bulk), ("rate = \"10Mb/s\"", "rate = \"2Mb/s\"")]);
    let until_18s = outcome(&text.replace("duration = \"30s\"", "duration = \"18s\""), 1);
    let whole = outcome(&text, 1);
    let [before, after] =
        [&until_18s, &whole].map(|outcome| integers(outcome, "flows", "delivered_bytes")[0]);
    // 12 s of 2 Mb/s, less headers, and less what the window loses that was too large for it.
    let mb_per_s = 8e-6 * (after - before) as f64 / 12.0;
    assert!((1.3..2.0).contains(&mb_per_s), "{mb_per_s}");
    assert_eq!(ended(&whole), ["committed", ""]);
}

/// The example with a Wi-Fi cell as the first network, in which packets are lost while the link is going down.
fn with_wifi(loss: &str) -> String {
    let small = GOOD.split("[[cell]]").nth(1).expect("the small cell");
    let wifi = format!(
        "\nname = \"small\"\naccess_point = \"access-point\"\nstations = [\"terminal\"]\nstandard = \"802.11b\"\n\
         beacons = {{}}\nradio = {{ path_loss = {{ model = \"free_space\" }}, radius = \"50m\", \
         carrier_sense_threshold = \"-90dBm\" }}\n{loss}\n\n"
    );
    let text = GOOD.replace(&format!("[[cell]]{small}"), &format!("[[wifi]]{wifi}"));
    text.replace(
        "multihomed = true",
        "wifi = { going_down_factor = 1.5, signal_weight = 1.0 }\nmultihomed = true",
    )
}

#[test]
fn a_wifi_cell_is_left_by_the_same_means() {
    let outcome = outcome(&with_wifi(""), 1);
    assert_eq!(ended(&outcome), ["committed", ""]);
    // Free space: 1.5 times the power of the edge is there at 50 / sqrt(1.5) = 40.8 m, after 15.8 s.
    let started_s = floats(&outcome, "mih_handovers", "started_s")[0];
    assert!((15.8..16.0).contains(&started_s), "{started_s}");
}

#[test]
fn a_network_that_is_never_told_does_nothing() {
    let loss = "loss = [{ model = \"bernoulli\", during = \"link_going_down\", probability = 1.0 }]";
    let remote = "initiated_by = \"network\"\nnotice = \"remote\"";
    let text = with_wifi(loss).replace("initiated_by = \"mobile_node\"", remote);
    let outcome = outcome(&text, 1);
    assert_eq!(ended(&outcome), ["link_down", "notice"]);
    assert!(floats(&outcome, "mih_handovers", "started_s")[0].is_nan());
    // Three times 100 ms after the link's event.
    assert_eq!(ns(&outcome, "given_up_s") - ns(&outcome, "going_down_s"), 300_000_000);
}

reports! {
    mobile_node_without_addresses: "multihomed = true                      # an address in each cell\n" => "";
    mobile_node_in_no_such_cell: "access = \"small\", pos" => "access = \"smal\", pos";
    mobile_node_that_nobody_is: "mobile_node = \"terminal\"" => "mobile_node = \"terminals\"";
    handover_from_a_wire: "access = \"small\", pos" => "access = \"a\", pos";
    handover_to_where_it_is: "access = \"large\", pos" => "access = \"small\", pos";
    handover_to_nowhere: "to = [{ access = \"large\", pos = \"pos-2\" }]" => "to = []";
    handover_without_flow: "from = \"server\"\nto = \"terminal\"" => "from = \"server\"\nto = \"pos-1\"";
    one_point_of_service_for_both: "pos = \"pos-2\"" => "pos = \"pos-1\"";
    mobile_node_as_point_of_service: "pos = \"pos-2\"" => "pos = \"terminal\"";
    handover_message_too_short: "message_size = \"200B\"" => "message_size = \"20B\"";
    handover_acknowledged_in_no_time: "timeout = \"100ms\"" => "timeout = \"0s\"";
    handover_over_sctp_that_changes_addresses: "transport = { protocol = \"udp\" }\nmessage_size" => "transport = { protocol = \"sctp\", dynamic_addresses = true }\nmessage_size";
    point_of_service_behind_the_other_cell: "between = [\"access-point\", \"router\"]" => "between = [\"base-station\", \"pos-2\"]";
    handover_scheme_contradicted: "multihomed = true " => "multihomed = true\nhandover = \"multihomed\" ";
}
