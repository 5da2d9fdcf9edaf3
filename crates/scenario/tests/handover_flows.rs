//! What a handover costs each flow of its station: packets lost, messages late, the direction that is
//! interrupted.

use crate::outcome::{self, floats, integers, table, texts};
use roamsim_scenario::run::{Options, Outcome, Trace};

/// Two base stations at 0 and 100 m, whose beacons come at 0 and 50 ms of each tenth of a second; a walker
/// from 0 to 100 m at 10 m/s. Packets of 100 octets to it every 10 ms, from it every 20 ms.
const WALK: &str = r#"
[scenario]
name = "walk"
duration = "10s"
ip = "ipv4"
[[node]]
name = "server"
[[node]]
name = "west"
position = { x = "0m", y = "0m" }
[[node]]
name = "east"
position = { x = "100m", y = "0m" }
[[node]]
name = "walker"
position = { x = "0m", y = "0m" }
motion = { kind = "linear", to = { x = "100m", y = "0m" }, speed = "10m/s" }
hysteresis = "20m"
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
name = "west cell"
base_station = "west"
stations = ["walker"]
rate = "1Mb/s"
coverage = { model = "disc", radius = "80m" }
advertisement = { period = "100ms" }
[[cell]]
name = "east cell"
base_station = "east"
stations = ["walker"]
rate = "1Mb/s"
coverage = { model = "disc", radius = "80m" }
advertisement = { period = "100ms", start = "50ms" }
[[flow]]
name = "down"
from = "server"
to = "walker"
transport = { protocol = "udp" }
application = { kind = "cbr", packet_size = "100B", interval = "10ms" }
[[flow]]
name = "up"
from = "walker"
to = "server"
transport = { protocol = "udp" }
application = { kind = "cbr", packet_size = "100B", interval = "20ms" }
"#;

/// Cells of 40 m, which leave a gap of 2 s between them.
const GAP: [(&str, &str); 2] = [("cell.0.coverage.radius", "40m"), ("cell.1.coverage.radius", "40m")];

/// One that sends upward in the last second.
const LATER: &str = r#"
[[flow]]
name = "later"
from = "walker"
to = "server"
transport = { protocol = "udp" }
application = { kind = "cbr", packet_size = "100B", interval = "20ms", start = "9s" }
"#;

fn walk(overrides: &[(&str, &str)]) -> Outcome {
    outcome::of(WALK, overrides, Options::default())
}

fn late(outcome: &Outcome) -> &[f64] {
    floats(outcome, "handover_flows", "late_messages")
}

#[test]
fn a_gap_costs_each_flow_what_it_sends_meanwhile() {
    let outcome = walk(&GAP);
    // The walker is out of reach from 4 s on, and in the cell in the east with its beacon of 6.05 s. To it go
    // 4.00, 4.01, ..., 6.04 s, 205 packets, from it 4.00, 4.02, ..., 6.04 s, 103.
    assert_eq!(texts(&outcome, "handover_flows", "flow"), ["down", "up"]);
    assert_eq!(integers(&outcome, "handover_flows", "lost_data"), [205, 103]);
    assert_eq!(integers(&outcome, "handover_flows", "lost_acknowledgements"), [0, 0]);
    assert_eq!(late(&outcome), [0.0, 0.0]);
    assert_eq!(floats(&outcome, "handover_flows", "begun_s"), [6.05, 6.05]);
    assert_eq!(integers(&outcome, "handovers", "lost_downlink"), [205]);
    assert_eq!(integers(&outcome, "handovers", "lost_uplink"), [103]);
}

#[test]
fn what_the_new_path_brings_late_counts_until_the_first_of_it_has_come() {
    // The station changes at 6.05 s, in the reach of both. From then on packets take 200 ms over the wire, 10
    // us to leave, and 1.024 ms in the cell: the one of 6.05 s comes at 6.251 s. Until then those of 6.05,
    // 6.06, ..., 6.25 s are written: 21. From the walker to the server they take as long: the one of 6.06 s
    // leaves the air at 6.061 s, until when that one alone was written.
    let outcome = walk(&[("link.b.delay", "200ms")]);
    assert_eq!(late(&outcome), [21.0, 1.0]);
    assert_eq!(integers(&outcome, "handover_flows", "lost_data"), [0, 0]);
    assert_eq!(floats(&outcome, "handover_flows", "late_after_s"), [0.15, 0.15]);
    // Below the limit nothing is late: 140 + 1.034 ms.
    assert_eq!(late(&walk(&[("link.b.delay", "140ms")])), [0.0, 0.0]);
}

#[test]
fn a_film_is_late_by_its_own_playout_delay() {
    let film = |playout_delay: &str| {
        let film = format!(
            "{{ kind = \"video\", content = \"100\\n100\", repeat = true, frame_interval = \"10ms\", packet_size = \"100B\", playout_delay = \"{playout_delay}\" }}"
        );
        walk(&[("link.b.delay", "200ms"), ("flow.down.application", &film)])
    };
    // A frame of a packet every 10 ms, as above.
    let outcome = film("201ms");
    assert_eq!((late(&outcome)[0], floats(&outcome, "handover_flows", "late_after_s")[0]), (21.0, 0.201));
    assert_eq!(late(&film("202ms"))[0], 0.0);
}

#[test]
fn streams_of_bytes_and_transfers_have_no_late_messages() {
    let bulk =
        [("flow.down.transport", "{ protocol = \"tcp\" }"), ("flow.down.application", "{ kind = \"bulk\" }")];
    let outcome = walk(&[&GAP[..], &bulk].concat());
    assert!(late(&outcome)[0].is_nan() && floats(&outcome, "handover_flows", "late_after_s")[0].is_nan());
    assert_eq!(late(&outcome)[1], 0.0);
}

#[test]
fn late_messages_of_a_connection_are_those_of_its_trace() {
    let over_tcp = ("flow.down.transport", "{ protocol = \"tcp\" }");
    let trace = Trace { messages: true, ..Trace::default() };
    let outcome =
        outcome::of(WALK, &[&GAP[..], &[over_tcp]].concat(), Options { trace, ..Options::default() });
    let of = |table, column| floats(&outcome, table, column);
    let begun_s = of("handovers", "begun_s")[0];
    let over_s = of("handovers", "completed_s")[0].max(of("handovers", "first_downlink_new_s")[0]);
    let names = texts(&outcome, "messages", "name").iter();
    let expected = names
        .zip(of("messages", "generated_s").iter().zip(of("messages", "delivered_s")))
        .filter(|(name, (written_s, delivered_s))| {
            *name == "down"
                && **delivered_s >= begun_s
                && **written_s <= over_s
                && **delivered_s - **written_s > 0.15
        })
        .count();
    assert!(expected > 100, "{expected}");
    assert_eq!(late(&outcome), [expected as f64, 0.0]);
}

#[test]
fn what_flows_lost_adds_up_to_what_the_handover_lost() {
    let mut all = 0;
    for (example, overrides) in [
        (include_str!("../../../examples/cell-walk.toml"), &[][..]),
        (include_str!("../../../examples/mobile-ip.toml"), &[]),
        (include_str!("../../../examples/mobile-sctp.toml"), &[]),
        (include_str!("../../../examples/wifi-roaming.toml"), &[]),
        (WALK, &[("flow.up.transport", "{ protocol = \"tcp\" }"), GAP[0], GAP[1]]),
    ] {
        let outcome = outcome::of(example, overrides, Options::default());
        let begun_s = floats(&outcome, "handovers", "begun_s");
        assert!(!begun_s.is_empty());
        for column in ["lost_data", "lost_acknowledgements"] {
            let whole = integers(&outcome, "handovers", column);
            all += whole.iter().sum::<u64>();
            let flows = floats(&outcome, "handover_flows", "begun_s").iter();
            let flows = flows.zip(integers(&outcome, "handover_flows", column));
            for (begun_s, whole) in begun_s.iter().zip(whole) {
                let sum: u64 =
                    flows.clone().filter(|(other, _)| *other == begun_s).map(|(_, lost)| lost).sum();
                assert_eq!(sum, *whole, "{column} at {begun_s} s");
            }
        }
    }
    assert!(all > 0, "nothing is shown");
}

#[test]
fn what_a_path_lost_that_brought_nothing_counts_in_one_handover() {
    let motion = "{ kind = \"back_and_forth\", to = { x = \"100m\", y = \"0m\" }, speed = \"10m/s\" }";
    let outcome = walk(&[
        ("scenario.duration", "20s"),
        ("node.3.motion", motion),
        ("cell.1.rate", "1b/s"),
        ("cell.1.queue", "{ packets = 5 }"),
    ]);
    // From 6.05 s until 16.05 s 1000 packets go to the walker and 500 from it: one of each is on its way all
    // the time, five wait, the others find no room. The cell in the east is the new path of the first
    // handover and the old one of the second.
    assert_eq!(floats(&outcome, "handovers", "begun_s"), [6.05, 16.05]);
    assert_eq!(integers(&outcome, "handovers", "lost_queue"), [994 + 494, 0]);
    assert_eq!(integers(&outcome, "handovers", "lost_out_of_reach"), [2, 0]);
    let of = |column| integers(&outcome, "handovers", column).iter().sum::<u64>();
    let dropped: u64 = integers(&outcome, "drops", "packets").iter().sum();
    assert_eq!(of("lost_uplink") + of("lost_downlink"), dropped);
}

#[test]
fn both_ways_of_a_connection_are_flows_of_their_own() {
    let both_ways = ("flow.down.bidirectional", "true");
    let over_tcp = ("flow.down.transport", "{ protocol = \"tcp\" }");
    let outcome = walk(&[GAP[0], GAP[1], over_tcp, both_ways]);
    assert_eq!(texts(&outcome, "handover_flows", "flow"), ["down", "down", "up"]);
    assert_eq!(texts(&outcome, "handover_flows", "direction"), ["forward", "reverse", "forward"]);
    let lost = integers(&outcome, "handover_flows", "lost_data");
    let ways = ["lost_downlink", "lost_uplink"].map(|way| integers(&outcome, "handovers", way)[0]);
    let acknowledgements = integers(&outcome, "handovers", "lost_acknowledgements")[0];
    assert!(lost[0] > 0 && lost[1] > 0);
    assert_eq!(lost.iter().sum::<u64>() + acknowledgements, ways[0] + ways[1]);
    // Data toward the walker is of the flow forward: no more of it is lost than goes down.
    assert!(lost[0] <= ways[0] && lost[1] + 103 <= ways[1], "{lost:?} {ways:?}");
}

#[test]
fn a_direction_without_traffic_is_not_interrupted() {
    let of = |overrides: &[(&str, &str)]| {
        let outcome = outcome::of(&format!("{WALK}{LATER}"), overrides, Options::default());
        (
            floats(&outcome, "handovers", "interruption_s")[0],
            texts(&outcome, "handovers", "interrupted")[0].to_owned(),
        )
    };
    // Down: the packet of 3.99 s comes at 3.992 s, the one of 6.05 s at 6.052 s: 2.06 s. Up: that of 3.98 s
    // and that of 6.06 s, 2.08 s.
    let near = |(interruption_s, way): (f64, String), expected_s: f64, expected: &str| {
        assert!((interruption_s - expected_s).abs() < 1e-6, "{interruption_s} {expected_s}");
        assert_eq!(way, expected);
    };
    near(of(&GAP), 2.08, "uplink");
    // Nothing is sent upward between 0.98 s and 9 s: that is no interruption.
    let early = ("flow.up.application.stop", "1s");
    near(of(&[GAP[0], GAP[1], early]), 2.06, "downlink");
    // Nor is anything where nobody sends.
    let (interruption_s, way) = of(&[GAP[0], GAP[1], early, ("flow.down.application.start", "7s")]);
    assert!(interruption_s.is_nan(), "{interruption_s}");
    assert_eq!(way, "");
}

#[test]
fn of_a_connection_its_data_is_interrupted_and_not_what_acknowledges_it() {
    let later = ("flow.up.application.start", "9s");
    let lazy = "nagle = false, delayed_ack_count = 100, delayed_ack_timeout = \"100ms\"";
    let over_tcp = ("flow.down.transport", &*format!("{{ protocol = \"tcp\", {lazy} }}"));
    let outcome = walk(&[GAP[0], GAP[1], later, over_tcp]);
    let of = |column| floats(&outcome, "handovers", column)[0];
    // What is repeated behind the gap is acknowledged later: upward the gap is the longer one.
    assert!(of("first_uplink_new_s") - of("first_downlink_new_s") > 0.01);
    assert_eq!(&texts(&outcome, "handovers", "interrupted")[0], "downlink");
    // The message of 3.99 s, 140 octets with its headers, is the last of before: 1 ms and 11.2 us on the
    // wire, 1.12 ms in the cell.
    let expected_s = of("first_downlink_new_s") - 3.992_131_2;
    assert!((of("interruption_s") - expected_s).abs() < 1e-6, "{} {expected_s}", of("interruption_s"));
}

#[test]
fn a_run_in_cells_without_a_handover_has_an_empty_table() {
    let outcome = walk(&[("scenario.duration", "3s")]);
    assert_eq!(table(&outcome, "handover_flows").height(), 0);
}

/// A terminal walks with 1 m/s away from the middle of a small cell of 50 m, from 25 m on. Link_Going_Down
/// comes 9 s ahead; a packet every 500 ms towards it takes 20 ms to the cell.
const BY_MIH: &str = include_str!("../../../examples/mih-handover.toml");

/// Out of the small cell from 25 s to 35 s; out of it again at 115 s, through the large one, which reaches as
/// far as 20 m from the middle of the small one on the way.
const OUT_AND_BACK: [(&str, &str); 4] = [
    ("scenario.duration", "120s"),
    ("node.terminal.motion", OUT_AND_BACK_WALK),
    ("node.base-station.position", "{ x = \"0m\", y = \"100m\" }"),
    ("cell.1.coverage.radius", "80m"),
];
const OUT_AND_BACK_WALK: &str = "{ kind = \"waypoints\", points = [{ x = \"55m\", y = \"0m\", speed = \"1m/s\" }, \
    { x = \"25m\", y = \"0m\", speed = \"1m/s\" }, { x = \"0m\", y = \"0m\", speed = \"5m/s\" }, \
    { x = \"0m\", y = \"60m\", speed = \"1m/s\" }] }";

/// A row of what a handover costs a flow: from, to, when it began, packets with data lost.
type Row<'a> = (&'a str, &'a str, f64, u64);

/// What became of the handovers by MIH users, and those rows.
fn by_mih(outcome: &Outcome) -> (Vec<&str>, Vec<Row<'_>>) {
    let of = |table, column| texts(outcome, table, column).iter();
    let cells = of("handover_flows", "from_cell").zip(of("handover_flows", "to_cell"));
    let counts = floats(outcome, "handover_flows", "begun_s").iter();
    let counts = counts.zip(integers(outcome, "handover_flows", "lost_data"));
    let rows = cells.zip(counts);
    let rows =
        rows.map(|((from, to), (begun_s, &lost))| (from, to, (1e3 * begun_s).round() / 1e3, lost)).collect();
    (of("mih_handovers", "outcome").collect(), rows)
}

#[test]
fn a_handover_that_nothing_followed_costs_what_was_lost_until_the_end() {
    // The large cell, which reaches 45 m, is heard at 41.7 m, refuses, and is behind when the small one is
    // lost.
    let outcome = outcome::of(
        BY_MIH,
        &[
            ("cell.1.coverage.radius", "45m"),
            ("handover.walk.to", "[{ access = \"large\", pos = \"pos-2\", capacity = 0 }]"),
        ],
        Options::default(),
    );
    assert_eq!(&texts(&outcome, "mih_handovers", "given_up_by")[0], "no_candidate");
    // Lost are the packets of 25.0, 25.5, ..., 29.5 s.
    assert_eq!(by_mih(&outcome), (vec!["redirecting"], vec![("small", "", 25.3, 10)]));
    assert_eq!(floats(&outcome, "flows", "lost_packets"), [10.0]);
    assert_eq!(late(&outcome), [0.0]);
    assert_eq!(table(&outcome, "handovers").height(), 0, "the terminal changes no cell");
}

#[test]
fn a_handover_that_is_taken_back_costs_nothing() {
    // Out of reach from 2.51 s to 2.55 s, between two beacons, which that of 1.5 s tells 1.02 s ahead and
    // that of 1.6 s takes back. What is lost at 2.52 s is lost on a link that is up.
    let walk = "{ kind = \"waypoints\", start = \"2010ms\", points = [{ x = \"51m\", y = \"0m\", speed = \"50m/s\" }, \
                { x = \"25m\", y = \"0m\", speed = \"50m/s\" }, { x = \"60m\", y = \"0m\", speed = \"2m/s\" }] }";
    let outcome = outcome::of(
        BY_MIH,
        &[("node.terminal.motion", walk), ("cell.0.advertisement.going_down_ahead", "1020ms")],
        Options::default(),
    );
    // Out for good 12.5 s behind 3.05 s, which is too late for a commitment: it goes at the third beacon that
    // is missed, and the packets of 15.5 and 16.0 s come.
    let (outcomes, rows) = by_mih(&outcome);
    assert_eq!(outcomes, ["rolled_back", "link_down"]);
    assert_eq!(rows[0], ("small", "", 1.5, 0));
    assert_eq!((rows.len(), rows[1].1, rows[1].3), (2, "large", 0));
    assert_eq!(floats(&outcome, "flows", "lost_packets"), [1.0]);
}

#[test]
fn what_was_lost_before_a_return_counts_there_and_not_in_the_next_handover() {
    // Lost are the packets of 25.0, 25.5, ..., 34.5 s; where none goes later, nothing has come by the old
    // path before the next handover.
    for stop in [&[][..], &[("flow.stream.application.stop", "34900ms")]] {
        let outcome = outcome::of(BY_MIH, &[&OUT_AND_BACK, stop].concat(), Options::default());
        let (outcomes, rows) = by_mih(&outcome);
        assert_eq!(outcomes, ["link_down", "committed"]);
        assert_eq!(rows[0], ("small", "small", 25.3, 20));
        assert_eq!((rows.len(), rows[1].1, rows[1].3), (2, "large", 0), "{stop:?}");
        assert_eq!(floats(&outcome, "flows", "lost_packets"), [20.0]);
        assert_eq!(texts(&outcome, "handovers", "to_cell").to_vec(), ["large"]);
    }
}

#[test]
fn what_a_connection_brings_late_after_a_return_counts_there() {
    let over_tcp = ("flow.stream.transport", "{ protocol = \"tcp\" }");
    let outcome = outcome::of(BY_MIH, &[&OUT_AND_BACK[..], &[over_tcp]].concat(), Options::default());
    let redirected_s = floats(&outcome, "mih_handovers", "redirected_s")[0];
    assert!((35.0..35.5).contains(&redirected_s), "{redirected_s}");
    // Written before that, and sent again after it, are the messages of 25.0, 25.5, ..., 35.0 s.
    assert_eq!(late(&outcome), [21.0, 0.0]);
}
