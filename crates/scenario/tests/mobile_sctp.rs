//! Mobile SCTP, end to end: what a handover takes and costs can be worked out by hand.

use crate::outcome::{floats, integers, table, texts};
use roamsim_scenario::run::{Options, Outcome, Trace, run};
use roamsim_scenario::{Format, Scenario};

/// Two base stations 200 m apart, cells of 120.7 m; a walker from one to the other at 10 m/s: it enters the
/// east cell after 7.93 s, is as near to it as to the west after 10 s, and leaves the west cell after 12.07
/// s. The west beacons at 0, 0.1, 0.2 s ..., the east at 0.05, 0.15 s ... Radio: 1 Mb/s and 1 ms; wires: 10
/// Mb/s and 50 ms.
const WALK: &str = r#"
[scenario]
name = "walk"
duration = "25s"
ip = "ipv4"
[[node]]
name = "server"
[[node]]
name = "west"
position = { x = "0m", y = "0m" }
[[node]]
name = "east"
position = { x = "200m", y = "0m" }
[[node]]
name = "walker"
position = { x = "0m", y = "0m" }
motion = { kind = "linear", to = { x = "200m", y = "0m" }, speed = "10m/s" }
multihomed = true
change_primary_at = "nearer"
[[link]]
name = "to west"
between = ["server", "west"]
rate = "10Mb/s"
delay = "50ms"
[[link]]
name = "to east"
between = ["server", "east"]
rate = "10Mb/s"
delay = "50ms"
[[cell]]
name = "west cell"
base_station = "west"
stations = ["walker"]
rate = "1Mb/s"
delay = "1ms"
coverage = { model = "disc", radius = "120.7m" }
advertisement = { period = "100ms" }
[[cell]]
name = "east cell"
base_station = "east"
stations = ["walker"]
rate = "1Mb/s"
delay = "1ms"
coverage = { model = "disc", radius = "120.7m" }
advertisement = { period = "100ms", start = "50ms" }
"#;

/// Messages of 100 B, one every 10 ms from 5 ms to 20 s: packets of 20 + 12 + 16 + 100 = 148 B.
fn voice(from: &str, to: &str) -> String {
    format!(
        "[[flow]]\nname = \"voice\"\nfrom = \"{from}\"\nto = \"{to}\"\n\
         transport = {{ protocol = \"sctp\", dynamic_addresses = true }}\n\
         application = {{ kind = \"cbr\", packet_size = \"100B\", interval = \"10ms\", start = \"5ms\", stop = \"20s\" }}\n"
    )
}

/// `WALK` with a flow between two nodes and replacements, each of a text that is there as often as it says.
fn walk(from: &str, to: &str, replacements: &[(&str, &str, usize)]) -> String {
    replacements.iter().fold(format!("{WALK}{}", voice(from, to)), |text, (old, new, times)| {
        assert_eq!(text.matches(old).count(), *times, "{old}");
        text.replace(old, new)
    })
}

const UP: (&str, &str) = ("walker", "server");
const DOWN: (&str, &str) = ("server", "walker");

fn parse(text: &str) -> Result<Scenario, String> {
    Scenario::parse(text, "mobile_sctp.toml", Format::Toml, &[])
        .map_err(|diagnostics| diagnostics.render(false))
}

fn outcome(text: &str, trace: Trace) -> Outcome {
    let scenario = parse(text).unwrap_or_else(|report| panic!("{report}"));
    let options = Options { trace, fingerprints: true, ..Options::default() };
    run(&scenario, options).unwrap_or_else(|error| panic!("{error}"))
}

/// A time of the only handover.
fn at(outcome: &Outcome, name: &str, expected: f64) {
    let [value] = floats(outcome, "handovers", name) else { panic!("not one handover") };
    assert!((value - expected).abs() < 1e-9, "{name}: {value}, not {expected}");
}

/// A number of the only handover.
fn counts(outcome: &Outcome, name: &str, expected: u64) {
    assert_eq!(integers(outcome, "handovers", name), [expected], "{name}");
}

fn all_arrive(outcome: &Outcome) {
    assert_eq!(floats(outcome, "flows", "sent_packets"), floats(outcome, "flows", "delivered_packets"));
}

/// What was sent with a chunk of this name in front: times, sizes with the IP header, and the words.
fn sent(outcome: &Outcome, chunk: &str) -> Vec<(f64, u64, String)> {
    let (time, event) = (floats(outcome, "packets", "time_s"), texts(outcome, "packets", "event"));
    let (size, words) =
        (integers(outcome, "packets", "size_bytes"), texts(outcome, "packets", "description"));
    (0..time.len())
        .filter(|&row| &event[row] == "sent" && words[row].starts_with(chunk))
        .map(|row| (time[row], size[row], words[row].to_owned()))
        .collect()
}

fn times(sent: &[(f64, u64, String)]) -> Vec<f64> {
    sent.iter().map(|(time, ..)| *time).collect()
}

const PACKETS: Trace = Trace {
    packets: true,
    cwnd: false,
    in_flight: false,
    pacing: false,
    rtt: false,
    states: false,
    queue: false,
    throughput: false,
    segments: false,
    backlog: false,
    bearers: false,
    dlc_queue: false,
    rates: false,
    occupancy: false,
    messages: false,
    transactions: false,
    link_events: false,
};

/// An ASCONF has 20 + 12 + 4 + 4 + 8 octets and 16 for each change; its answer 20 + 12 + 8 = 40. Up, through
/// the radio and the wire: 51.5632 ms with one change (0.512 + 1 + 0.0512 + 50), 51.704 ms with two, 51.8448
/// ms with three. Down: 0.032
/// + 50 + 0.320 + 1 = 51.352 ms.
const ONE_CHANGE_S: f64 = 0.051_563_2 + 0.051_352;
const TWO_CHANGES_S: f64 = 0.051_704 + 0.051_352;
const THREE_CHANGES_S: f64 = 0.051_844_8 + 0.051_352;

#[test]
fn while_both_cells_are_heard_nothing_is_lost_and_nothing_waits() {
    // The first beacon of the east cell, at 7.95 s, brings its address. Its beacon at 10.05 s is the first
    // from nearer than the west's last one: 99.5 m against 100 m.
    for (rule, begun, takes_s) in [("up", 7.95, TWO_CHANGES_S), ("nearer", 10.05, ONE_CHANGE_S)] {
        for (from, to) in [UP, DOWN] {
            let text = walk(from, to, &[("\"nearer\"", &format!("\"{rule}\""), 1)]);
            let outcome = outcome(&text, Trace::default());
            assert_eq!(texts(&outcome, "handovers", "scheme"), ["mobile_sctp"]);
            assert_eq!(texts(&outcome, "handovers", "to_cell"), ["east cell"]);
            at(&outcome, "detected_s", begun);
            at(&outcome, "begun_s", begun);
            at(&outcome, "completed_s", begun + takes_s);
            counts(&outcome, "requests", 1);
            for name in ["lost_out_of_reach", "lost_no_cell", "lost_uplink", "lost_downlink"] {
                counts(&outcome, name, 0);
            }
            assert_eq!(integers(&outcome, "flows", "retransmissions"), [0]);
            assert_eq!(floats(&outcome, "flows", "sent_packets"), [2000.0]);
            all_arrive(&outcome);
        }
    }
    // With a hysteresis of 20 m: nearer by more than that beyond x = 110 m. The east at 11.05 s is 89.5 m
    // away, the west at 11 s was 110 m: more than 20 m; at 10.95 s it was 90.5 m against 109 m.
    let text = walk("walker", "server", &[("= \"nearer\"", "= \"nearer\"\nhysteresis = \"20m\"", 1)]);
    at(&outcome(&text, Trace::default()), "begun_s", 11.05);
}

#[test]
fn the_story_of_a_walk_is_add_primary_delete() {
    for (from, to) in [UP, DOWN] {
        let outcome = outcome(&walk(from, to, &[]), PACKETS);
        let requests = sent(&outcome, "ASCONF ");
        let (requests, answers): (Vec<_>, Vec<_>) =
            requests.into_iter().partition(|(.., words)| !words.starts_with("ASCONF ACK"));
        let told: Vec<_> =
            requests.iter().map(|(.., words)| words.split(' ').skip(2).collect::<Vec<_>>()).collect();
        let (old, new) = (told[2][1], told[0][1]);
        assert_eq!(told, [["add", new], ["primary", new], ["delete", old]]);
        assert_ne!(old, new);
        // The west's beacons at 12.1, 12.2 and 12.3 s are missed.
        assert_eq!(times(&requests), [7.95, 10.05, 12.3]);
        assert!(
            requests.iter().all(|&(_, bytes, _)| bytes == 64)
                && answers.iter().all(|&(_, bytes, _)| bytes == 40)
        );
        // Both ends probe the new path, once; the answered ASCONF came by the old one.
        assert_eq!(sent(&outcome, "HEARTBEAT").iter().filter(|(.., words)| words == "HEARTBEAT").count(), 2);
    }
}

#[test]
fn going_down_loses_what_is_under_way_and_the_new_path_brings_it_again() {
    // The west's beacon at 12.1 s is missed; the server learns of the new primary address at 12.1515632 s.
    let down = outcome(&walk("server", "walker", &[("nearer", "going_down", 1)]), Trace::default());
    at(&down, "begun_s", 12.1);
    at(&down, "completed_s", 12.1 + ONE_CHANGE_S);
    // A packet of 148 B leaves the west's radio 0.1184 + 50 + 1.184 ms after the server, and is lost if that
    // is later than 12.07 s: those of 12.025, 12.035, ... 12.145 s. That of 12.155 s comes by the east, after
    // one ms more.
    counts(&down, "lost_out_of_reach", 13);
    counts(&down, "lost_data", 13);
    at(&down, "first_downlink_new_s", 12.155 + 0.052_302_4);
    // By missing reports, on the new path: not one timeout.
    assert_eq!(integers(&down, "flows", "fast_retransmits"), [1]);
    assert_eq!(integers(&down, "flows", "retransmissions"), [13]);
    assert_eq!(integers(&down, "flows", "timeouts"), [0]);
    all_arrive(&down);
    // Up, the station itself knows at once: lost are those of 12.075, 12.085 and 12.095 s.
    let up = outcome(&walk("walker", "server", &[("nearer", "going_down", 1)]), Trace::default());
    counts(&up, "lost_uplink", 3);
    assert_eq!(integers(&up, "flows", "retransmissions"), [3]);
    assert_eq!(integers(&up, "flows", "timeouts"), [0]);
    all_arrive(&up);
}

#[test]
fn a_lost_address_is_deleted_and_what_was_in_flight_to_it_sent_again_at_once() {
    let outcome = outcome(&walk("server", "walker", &[("nearer", "down", 1)]), Trace::default());
    at(&outcome, "detected_s", 12.3);
    at(&outcome, "completed_s", 12.3 + TWO_CHANGES_S);
    // At 12.3 + 0.051704 s twelve lost chunks of 116 octets leave the server in a packet of 20 + 12 + 12 x
    // 116 = 1424, the answer before them: 0.032 + 1.1392 + 50 ms to the east, 11.392 + 1 ms by its radio.
    at(&outcome, "first_downlink_new_s", 12.3 + 0.051_704 + 0.063_563_2);
    assert_eq!(integers(&outcome, "flows", "timeouts"), [0]);
    assert_eq!(floats(&outcome, "flows", "timeout_retransmissions"), [0.0]);
    let again = integers(&outcome, "flows", "retransmissions").iter().map(|&chunks| chunks as f64);
    assert_eq!(floats(&outcome, "flows", "path_removed_retransmissions"), again.collect::<Vec<_>>());
    all_arrive(&outcome);
}

#[test]
fn between_cells_that_do_not_overlap_it_is_one_request_from_the_new_address() {
    // 88.7 m: out of the west after 8.87 s, which is found at 9.1 s; into the east after 11.13 s, found at
    // 11.15 s.
    for rule in ["up", "nearer", "going_down", "down"] {
        let replacements = [("\"nearer\"", &*format!("\"{rule}\""), 1), ("120.7m", "88.7m", 2)];
        let up = outcome(&walk("walker", "server", &replacements), PACKETS);
        at(&up, "detected_s", 9.1);
        at(&up, "begun_s", 11.15);
        at(&up, "completed_s", 11.15 + THREE_CHANGES_S);
        // Then the station sends, 1424 octets at first.
        at(&up, "first_uplink_new_s", 11.15 + THREE_CHANGES_S + 0.012_392);
        let requests = sent(&up, "ASCONF ");
        let words: Vec<_> = requests[0].2.split(' ').collect();
        assert_eq!([words[2], words[4], words[6]], ["add", "primary", "delete"]);
        assert_eq!(requests.len(), 2, "and its answer");
        all_arrive(&up);

        let down = outcome(&walk("server", "walker", &replacements), Trace::default());
        // The server has to probe the new path: a HEARTBEAT of 60 octets behind the answer, 0.032 + 0.048 +
        // 50 ms to the east, where the radio has sent the answer 0.272 ms later: 0.272 + 0.480 + 1 ms; its
        // answer, 0.480 + 1 + 0.048
        // + 50 ms; then 1424 octets of data, 1.1392 + 50 + 11.392 + 1 ms.
        let probe_s = 0.050_080 + 0.001_752 + 0.051_528;
        at(&down, "first_downlink_new_s", 11.15 + 0.051_844_8 + probe_s + 0.063_531_2);
        all_arrive(&down);
    }
}

#[test]
fn an_association_begins_with_the_addresses_that_can_be_used() {
    let init = |replacements: &[(&str, &str, usize)]| {
        let outcome = outcome(&walk("walker", "server", replacements), PACKETS);
        all_arrive(&outcome);
        sent(&outcome, "INIT tag").iter().map(|(_, bytes, _)| *bytes).collect::<Vec<_>>()
    };
    // 20 + 12 + 20 octets and 8 for the extensions; 8 more for each address, if there are several.
    assert_eq!(init(&[]), [60]);
    let both: &[_] = &[("{ x = \"0m\", y = \"0m\" }\nmotion", "{ x = \"100m\", y = \"0m\" }\nmotion", 1)];
    assert_eq!(init(both), [60], "the east has not beaconed yet");
    assert_eq!(init(&[both[0], ("start = \"5ms\"", "start = \"60ms\"", 1)]), [76]);
    // Without the option, all are told from the start, and stay.
    let rigid = [
        ("dynamic_addresses = true", "dynamic_addresses = false", 1),
        ("change_primary_at = \"nearer\"", "", 1),
    ];
    let outcome = outcome(&walk("walker", "server", &rigid), PACKETS);
    assert_eq!(sent(&outcome, "INIT tag")[0].1, 20 + 12 + 20 + 16);
    assert!(sent(&outcome, "ASCONF").is_empty());
    assert!(texts(&outcome, "handovers", "scheme").is_empty());
}

#[test]
fn who_is_in_no_cell_waits_and_who_is_sought_is_found_where_it_appears() {
    // 150 m before the west: into its cell after 2.93 s.
    let far = ("{ x = \"0m\", y = \"0m\" }\nmotion", "{ x = \"-150m\", y = \"0m\" }\nmotion", 1);
    let waits = outcome(&walk("walker", "server", &[far]), PACKETS);
    assert_eq!(times(&sent(&waits, "INIT tag")), [3.0]);
    all_arrive(&waits);
    // From beyond the east, where the server looks for it as soon as it is there; before, T1-init after 1 s
    // and 2 s.
    let beyond = [
        ("{ x = \"0m\", y = \"0m\" }\nmotion", "{ x = \"350m\", y = \"0m\" }\nmotion", 1),
        ("to = { x = \"200m\"", "to = { x = \"0m\"", 1),
    ];
    let found = outcome(&walk("server", "walker", &beyond), PACKETS);
    assert_eq!(times(&sent(&found, "INIT tag")), [0.005, 1.005, 2.95]);
    all_arrive(&found);
}

#[test]
fn an_address_that_is_lost_under_the_handshake_does_not_end_it() {
    // The INIT gets through, its answer does not; T1 finds nobody, and the new address begins anew.
    let late = [("120.7m", "88.7m", 2), ("start = \"5ms\"", "start = \"8.86s\"", 1)];
    let outcome = outcome(&walk("walker", "server", &late), PACKETS);
    assert_eq!(times(&sent(&outcome, "INIT tag")), [8.86, 9.86, 11.15]);
    assert_eq!(floats(&outcome, "flows", "sent_packets"), [1114.0]);
    all_arrive(&outcome);
}

#[test]
fn both_ends_may_walk() {
    let runner = "[[node]]\nname = \"runner\"\nposition = { x = \"200m\", y = \"0m\" }\n\
                  motion = { kind = \"linear\", to = { x = \"0m\", y = \"0m\" }, speed = \"7m/s\" }\n\
                  multihomed = true\n[[link]]\nname = \"to west\"";
    let two = [
        ("[[link]]\nname = \"to west\"", runner, 1),
        ("stations = [\"walker\"]", "stations = [\"walker\", \"runner\"]", 2),
    ];
    for (from, to) in [("walker", "runner"), ("runner", "walker")] {
        let outcome = outcome(&walk(from, to, &two), Trace::default());
        let mut nodes = texts(&outcome, "handovers", "node").to_vec();
        nodes.sort();
        assert_eq!(nodes, ["runner", "walker"]);
        assert!(floats(&outcome, "handovers", "completed_s").iter().all(|time| time.is_finite()));
        counts_all(&outcome, "lost_data", 0);
        all_arrive(&outcome);
    }
}

fn counts_all(outcome: &Outcome, name: &str, expected: u64) {
    assert!(integers(outcome, "handovers", name).iter().all(|&count| count == expected), "{name}");
}

#[test]
fn another_link_takes_over_where_there_is_no_cell() {
    let (before, east) = WALK.split_once("[[cell]]\nname = \"east cell\"").expect("the east cell");
    assert!(east.ends_with("start = \"50ms\" }\n"));
    let cable = "[[link]]\nname = \"cable\"\nbetween = [\"walker\", \"server\"]\nrate = \"10Mb/s\"\ndelay = \"50ms\"\n";
    let text = format!("{before}{cable}{}", voice("walker", "server"))
        .replace("change_primary_at = \"nearer\"\n", "");
    let outcome = outcome(&text, PACKETS);
    // Out of the cell after 12.07 s, which is found at 12.3 s; the cable has an address all along, but is not
    // preferred.
    let requests = sent(&outcome, "ASCONF ");
    assert_eq!(times(&requests)[0], 12.3);
    assert!(requests[0].2.contains("primary") && requests[0].2.contains("delete"), "{}", requests[0].2);
    let by_cable = sent(&outcome, "DATA").iter().filter(|(time, ..)| *time >= 12.3).count() as u64;
    let (names, delivered) =
        (texts(&outcome, "links", "name"), integers(&outcome, "links", "delivered_packets"));
    let cable = names.iter().position(|name| name == "cable").expect("the cable");
    // And an ASCONF, and the HEARTBEAT and the answer to one at the start.
    assert!(delivered[cable].abs_diff(by_cable) < 5, "{} of {by_cable}", delivered[cable]);
    all_arrive(&outcome);
}

#[test]
fn a_link_that_is_down_has_no_address_to_use() {
    let (before, _) = WALK.split_once("[[cell]]\nname = \"east cell\"").expect("the east cell");
    let cable = "[[link]]\nname = \"cable\"\nbetween = [\"walker\", \"server\"]\nrate = \"10Mb/s\"\ndelay = \"50ms\"\n\
                 outages = [{ start = \"3s\", duration = \"2s\" }]\n";
    let text = format!("{before}{cable}{}", voice("walker", "server"))
        .replace("change_primary_at = \"nearer\"\n", "");
    let outcome = outcome(&text, PACKETS);
    // The cable goes down and comes up again; then the cell is lost, as without the outage.
    let mut requests = sent(&outcome, "ASCONF ");
    requests.retain(|(.., words)| !words.starts_with("ASCONF ACK"));
    assert_eq!(times(&requests)[..3], [3.0, 5.0, 12.3]);
    let words = requests.iter().map(|(.., words)| words.split(' ').nth(2).unwrap_or_default());
    assert_eq!(words.take(3).collect::<Vec<_>>(), ["delete", "add", "primary"]);
    all_arrive(&outcome);
}

#[test]
fn tracing_changes_nothing() {
    for rule in ["nearer", "going_down"] {
        let text = walk("server", "walker", &[("nearer", rule, 1)]);
        let (plain, traced) = (outcome(&text, Trace::default()), outcome(&text, PACKETS));
        let (before, after) = (plain.fingerprints.expect("asked"), traced.fingerprints.expect("asked"));
        assert_eq!((before.events, before.packets), (after.events, after.packets));
        let tables = |outcome: &Outcome, name| format!("{:?}", table(outcome, name));
        for name in ["handovers", "flows", "links"] {
            assert_eq!(tables(&plain, name), tables(&traced, name));
        }
    }
}

/// The walk with another application.
fn walk_with(from: &str, to: &str, application: &str) -> String {
    let voice =
        "kind = \"cbr\", packet_size = \"100B\", interval = \"10ms\", start = \"5ms\", stop = \"20s\"";
    walk(from, to, &[(voice, application, 1)])
}

#[test]
fn a_transfer_follows_though_its_association_is_closing() {
    // All of it is written at once and the association closed behind it, so that it is in SHUTDOWN-PENDING
    // all the time: 2 MB take 17 s at 1 Mb/s, the change comes after 10 s.
    for (from, to) in [UP, DOWN] {
        let outcome = outcome(&walk_with(from, to, "kind = \"transfer\", size = \"2MB\""), Trace::default());
        assert_eq!(integers(&outcome, "flows", "delivered_bytes"), [2_000_000], "{from}");
        assert_eq!(texts(&outcome, "handovers", "to_cell"), ["east cell"], "{from}");
        assert!(floats(&outcome, "handovers", "completed_s")[0] < 10.2, "{from}");
    }
    // An end that has sent and been acknowledged all its own still tells its addresses (SHUTDOWN-SENT).
    let both = walk_with("walker", "server", "kind = \"transfer\", size = \"1MB\"")
        .replace("to = \"server\"\ntransport", "to = \"server\"\nbidirectional = true\ntransport");
    let outcome = outcome(&both, Trace::default());
    assert_eq!(integers(&outcome, "flows", "delivered_bytes"), [1_000_000, 1_000_000]);
}

#[test]
fn what_stops_before_its_opener_has_an_address_never_starts() {
    let far = walk_with("walker", "server", "kind = \"bulk\", start = \"0s\", stop = \"3s\"")
        .replace(
            "name = \"walker\"\nposition = { x = \"0m\"",
            "name = \"walker\"\nposition = { x = \"-200m\"",
        )
        .replace("speed = \"10m/s\"", "speed = \"20m/s\"");
    let outcome = outcome(&far, PACKETS);
    assert_eq!(integers(&outcome, "flows", "delivered_bytes"), [0]);
    assert!(texts(&outcome, "packets", "description").iter().all(|words| !words.contains("INIT")));
}

#[test]
fn a_cell_that_is_first_heard_during_the_handshake_is_added_after_it() {
    // The walker listens; the east is first heard at 7.95 s, an INIT or the answer to it is then on its way
    // for 52 ms each.
    for start_ms in [7880, 7920, 7940, 7949] {
        let application = format!(
            "kind = \"cbr\", packet_size = \"100B\", interval = \"10ms\", start = \"{start_ms}ms\", stop = \"20s\""
        );
        let outcome = outcome(&walk_with("server", "walker", &application), Trace::default());
        all_arrive(&outcome);
        assert_eq!(texts(&outcome, "handovers", "to_cell"), ["east cell"], "{start_ms}");
        assert_eq!(integers(&outcome, "flows", "timeouts"), [0], "{start_ms}");
    }
}

fn report(replacements: &[(&str, &str, usize)]) -> String {
    match parse(&walk("walker", "server", replacements)) {
        Ok(_) => panic!("accepted: {replacements:?}"),
        Err(report) => report,
    }
}

#[test]
fn what_cannot_be_followed_is_refused() {
    let rule = ("change_primary_at = \"nearer\"\n", "", 1);
    let reports = [
        (
            "dynamic_addresses_of_no_station",
            vec![
                ("to = \"server\"", "to = \"west\"", 1),
                ("from = \"walker\"", "from = \"server\"", 1),
                rule,
            ],
        ),
        ("dynamic_addresses_of_one_address", vec![("multihomed = true\n", "", 1), rule]),
        (
            "dynamic_addresses_in_one_cell",
            vec![
                (
                    "base_station = \"east\"\nstations = [\"walker\"]",
                    "base_station = \"east\"\nstations = [\"sitter\"]",
                    1,
                ),
                (
                    "[[link]]\nname = \"to west\"",
                    "[[node]]\nname = \"sitter\"\nposition = { x = \"200m\", y = \"9m\" }\n[[link]]\nname = \"to west\"",
                    1,
                ),
                rule,
            ],
        ),
        ("primary_change_of_nobody", vec![("dynamic_addresses = true", "dynamic_addresses = false", 1)]),
        ("primary_change_misspelt", vec![("\"nearer\"", "\"nearest\"", 1)]),
        ("hysteresis_without_distances", vec![("\"nearer\"", "\"down\"\nhysteresis = \"5m\"", 1)]),
    ];
    for (name, replacements) in reports {
        insta::assert_snapshot!(name, report(&replacements));
    }
}

#[test]
fn the_old_path_is_that_of_its_time_though_the_station_comes_back() {
    let example = include_str!("../../../examples/mobile-sctp.toml");
    // 300 m apart, 5 m/s from x = 50 m: as near to the east after 20 s, out of the west's 170 m, of which the
    // walk is 10 m aside, at 50 + 5 t = 169.7 m: after 23.9 s. Back in it after 56.1 s, timeouts send chunks
    // over it again.
    for rule in ["nearer", "down"] {
        let rule = format!("multihomed = true\nchange_primary_at = \"{rule}\"");
        let outcome = outcome(&example.replace("multihomed = true", &rule), Trace::default());
        assert_eq!(texts(&outcome, "handovers", "from_cell"), ["west cell", "east cell", "west cell"]);
        let last = floats(&outcome, "handovers", "last_packet_old_s");
        assert!(last[0] > 20.0 && last[0] < 24.0 && last[1] > 58.0 && last[1] < 64.0, "{last:?}");
    }
}
