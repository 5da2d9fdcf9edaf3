//! Mobile IP, end to end: what a handover takes and costs can be worked out by hand.
//! `docs/models/mobile-ip.md` has the closed forms.

use crate::outcome::{floats, integers, texts};
use roamsim_scenario::run::{Options, Outcome, run};
use roamsim_scenario::{Format, Scenario};

/// Two agents 200 m apart, cells of 120 m; a walker from one to the other at 10 m/s: it enters the foreign
/// cell after 8 s, and leaves the home cell after 12 s. Radio: 1 Mb/s and 1 ms; wires: 500 kb/s and 200 ms.
const WALK: &str = r#"
[scenario]
name = "walk"
duration = "40s"
ip = "ipv4"
[[node]]
name = "server"
[[node]]
name = "router"
[[node]]
name = "home"
position = { x = "0m", y = "0m" }
[[node]]
name = "abroad"
position = { x = "200m", y = "0m" }
[[node]]
name = "walker"
position = { x = "0m", y = "0m" }
motion = { kind = "linear", to = { x = "200m", y = "0m" }, speed = "10m/s" }
[[link]]
name = "core"
between = ["server", "router"]
rate = "500kb/s"
delay = "200ms"
[[link]]
name = "to home"
between = ["router", "home"]
rate = "500kb/s"
delay = "200ms"
[[link]]
name = "to abroad"
between = ["router", "abroad"]
rate = "500kb/s"
delay = "200ms"
[[cell]]
name = "home cell"
base_station = "home"
stations = ["walker"]
rate = "1Mb/s"
delay = "1ms"
coverage = { model = "disc", radius = "120m" }
[[cell]]
name = "foreign cell"
base_station = "abroad"
stations = ["walker"]
rate = "1Mb/s"
delay = "1ms"
coverage = { model = "disc", radius = "120m" }
[[mobile_ip]]
name = "roaming"
mobile_nodes = ["walker"]
home_agent = "home"
foreign_agents = ["abroad"]
advertisement = { period = "1s", jitter = "0s", lifetime = "3s" }
registration = { lifetime = "300s" }
move_detection = "eager"
"#;

/// A flow of packets of 128 B, one every 10 ms.
fn voice(from: &str, to: &str) -> String {
    format!(
        "[[flow]]\nname = \"voice\"\nfrom = \"{from}\"\nto = \"{to}\"\ntransport = {{ protocol = \"udp\" }}\n\
         application = {{ kind = \"cbr\", packet_size = \"100B\", interval = \"10ms\" }}\n"
    )
}

fn outcome(text: &str, replication: u64) -> Outcome {
    let scenario = Scenario::parse(text, "mobile_ip.toml", Format::Toml, &[])
        .unwrap_or_else(|diagnostics| panic!("{}", diagnostics.render(false)));
    run(&scenario, Options { replication, ..Options::default() }).unwrap_or_else(|error| panic!("{error}"))
}

/// `WALK` with replacements, each of a text that is there once.
fn walk(replacements: &[(&str, &str)]) -> String {
    replacements.iter().fold(WALK.to_owned(), |text, (old, new)| {
        assert_eq!(text.matches(old).count(), 1, "{old}");
        text.replace(old, new)
    })
}

/// A time of the only handover.
fn handover(outcome: &Outcome, name: &str) -> f64 {
    let values = floats(outcome, "handovers", name);
    assert_eq!(values.len(), 1, "one handover, not {}", values.len());
    values[0]
}

/// A request has 20 + 8 + 24 + 22 = 74 B, a reply 20 + 8 + 20 + 22 = 70 B. Radio: 592 us and 560 us, and 1 ms
/// each; each of two wires: 1184 us and 1120 us, and 200 ms each.
const REQUEST_S: f64 = 0.000_592 + 0.001 + 2.0 * (0.001_184 + 0.2);
const REPLY_S: f64 = 2.0 * (0.001_120 + 0.2) + 0.000_560 + 0.001;

fn close(value: f64, expected: f64) {
    assert!((value - expected).abs() < 2e-9, "{value} instead of {expected}");
}

#[test]
fn a_registration_takes_the_time_of_its_two_messages() {
    let outcome = outcome(WALK, 0);
    let took = handover(&outcome, "completed_s") - handover(&outcome, "begun_s");
    close(took, REQUEST_S + REPLY_S);
    assert_eq!(integers(&outcome, "handovers", "requests"), [1]);
    assert_eq!(texts(&outcome, "handovers", "scheme"), ["mobile_ip"]);
    assert_eq!(texts(&outcome, "handovers", "to_cell"), ["foreign cell"]);
    // Agents in the order of their cells, then the mobile node; the renewal comes after half of 300 s.
    assert_eq!(texts(&outcome, "mobile_ip", "role"), ["home agent", "foreign agent", "mobile node"]);
    assert_eq!(integers(&outcome, "mobile_ip", "accepted"), [1, 1, 1]);
    assert_eq!(integers(&outcome, "mobile_ip", "advertisements")[..2], [40, 40]);
}

/// `WALK` out of 802.11 into an 802.16 cell around it.
fn into_wimax(entry: &str) -> String {
    let home = WALK.split("[[cell]]").nth(1).expect("the home cell");
    let foreign = WALK
        .split("[[cell]]")
        .nth(2)
        .expect("the foreign cell")
        .split("[[mobile_ip]]")
        .next()
        .expect("agents");
    walk(&[
        (
            &format!("[[cell]]{home}"),
            "[[wifi]]\nname = \"home cell\"\naccess_point = \"home\"\nstations = [\"walker\"]\nbeacons = {}\n\
             radio = { radius = \"120m\", path_loss = { model = \"free_space\" } }\n",
        ),
        (
            &format!("[[cell]]{foreign}"),
            &format!(
                "[[wimax]]\nname = \"foreign cell\"\nbase_station = \"abroad\"\nstations = [\"walker\"]\n\
                 bandwidth = \"5MHz\"\nframe = \"5ms\"\nentry = {entry}\n"
            ),
        ),
        ("\"eager\"", "\"lifetime\""),
    ])
}

#[test]
fn a_home_address_follows_from_802_11_to_802_16() {
    let radio = "{ radio = { path_loss = { model = \"free_space\" } } }";
    for entry in ["{ radius = \"500m\" }", radio] {
        let outcome = outcome(&(into_wimax(entry) + &voice("server", "walker")), 0);
        assert_eq!(texts(&outcome, "handovers", "scheme"), ["mobile_ip"], "{entry}");
        assert_eq!(texts(&outcome, "handovers", "to_cell"), ["foreign cell"], "{entry}");
        // It is within 120 m for 12 s; the last advertisement holds for 3 s, and was heard within 1 s before.
        let detected_s = handover(&outcome, "detected_s");
        assert!((14.0..=15.1).contains(&detected_s), "{entry}: {detected_s}");
        // Two wires each way, at least; frames of 5 ms, of which a request and its grant take some.
        let took_s = handover(&outcome, "completed_s") - detected_s;
        assert!((4.0 * 0.2..4.0 * 0.2 + 0.1).contains(&took_s), "{entry}: {took_s}");
        // What is sent from then on arrives: lost is what is sent from 12 s on until the home agent knows.
        let lost = floats(&outcome, "flows", "lost_packets")[0];
        assert!((200.0..420.0).contains(&lost), "{entry}: {lost}");
    }
}

#[test]
fn detection_is_uniform_over_a_period_behind_what_it_waits_for() {
    // Eager: the first advertisement after entering at 8 s, 51 B (20 + 8 + 8 + 12 + 3) in 408 us and 1 ms.
    // Lifetime: 3 s after the last one before leaving at 12 s, of 47 B. The phase of advertisements is
    // uniform over 1 s.
    for (detection, earliest, latest) in [
        ("eager", 8.001_408, 9.001_408),
        ("prefix", 8.001_408, 9.001_408),
        ("lifetime", 12.0 - 1.0 + 3.0 + 0.001, 12.0 + 3.0 + 0.001),
    ] {
        let text = walk(&[("\"eager\"", &format!("\"{detection}\""))]);
        let replications = 40;
        let mut sum = 0.0;
        for replication in 0..replications {
            let detected = handover(&outcome(&text, replication), "detected_s");
            assert!(detected > earliest && detected <= latest + 1e-9, "{detection}: {detected}");
            sum += detected;
        }
        // Standard error of the mean: 1 / sqrt(12) / sqrt(40) = 0.046; four of them.
        let (mean, middle) = (sum / replications as f64, (earliest + latest) / 2.0);
        assert!((mean - middle).abs() < 0.18, "{detection}: {mean} instead of {middle}");
    }
}

#[test]
fn packets_to_the_walker_are_lost_from_leaving_the_cell_until_the_home_agent_knows() {
    let text = walk(&[("\"eager\"", "\"lifetime\"")]) + &voice("server", "walker");
    let outcome = outcome(&text, 0);
    let begun = handover(&outcome, "begun_s");
    // Until the request has come to the home agent; one packet every 10 ms. The request does not wait on its
    // way: from the foreign agent to the router nobody else sends, and to the home agent a packet takes 2 ms
    // of every 10.
    let known = begun + REQUEST_S;
    let lost = integers(&outcome, "handovers", "lost_out_of_reach")[0] as f64;
    assert!((lost - (known - 12.0) / 0.01).abs() <= 2.0, "{lost} lost in {} s", known - 12.0);
    assert_eq!(
        integers(&outcome, "handovers", "lost_data"),
        integers(&outcome, "handovers", "lost_downlink")
    );
    assert_eq!(integers(&outcome, "handovers", "lost_agent"), [0], "the reply came before the first packet");
    // The first through the tunnel: 148 B on two wires, 2.368 ms and 200 ms each, 128 B on the radio, 1.024
    // ms and 1 ms; at most 10 ms and a transmission later.
    let first = handover(&outcome, "first_downlink_new_s") - known;
    let way = 2.0 * 0.202_368 + 0.002_024;
    assert!(first >= way && first <= way + 0.015, "{first} instead of {way}");
    // All losses of the flow are losses of the handover.
    let lost_packets = floats(&outcome, "flows", "lost_packets")[0];
    assert_eq!(lost_packets, lost);
}

#[test]
fn where_cells_overlap_long_enough_nothing_is_lost() {
    // Four seconds of overlap; detection and registration take at most 1.81 s.
    for (from, to) in [("server", "walker"), ("walker", "server")] {
        let outcome = outcome(&(walk(&[]) + &voice(from, to)), 0);
        assert_eq!(floats(&outcome, "flows", "lost_packets"), [0.0], "from {from}");
    }
}

#[test]
fn the_tunnel_adds_a_header_between_the_agents_alone() {
    let outcome = outcome(&(walk(&[]) + &voice("server", "walker")), 0);
    let names = texts(&outcome, "links", "name");
    let from = texts(&outcome, "links", "from");
    let bytes = integers(&outcome, "links", "sent_bytes");
    let row = |name: &str, node: &str| {
        (0..names.len()).find(|&row| &names[row] == name && &from[row] == node).expect("the link is there")
    };
    // What the router sends abroad: packets of 148 B, and one reply of 70 B.
    let packets = integers(&outcome, "links", "sent_packets");
    let abroad = row("to abroad", "router");
    assert!(packets[abroad] > 2000);
    assert_eq!(bytes[abroad], 148 * (packets[abroad] - 1) + 70);
    // Over the air 128 B again.
    let radio = row("foreign cell", "abroad");
    assert_eq!(bytes[radio], 128 * (packets[radio] - 1) + 70);
}

#[test]
fn a_reverse_tunnel_leads_through_the_home_agent() {
    let forwarded = |reverse: &str| {
        let text = walk(&[("move_detection", &format!("reverse_tunnel = {reverse}\nmove_detection"))]);
        let outcome = outcome(&(text + &voice("walker", "server")), 0);
        assert_eq!(floats(&outcome, "flows", "lost_packets"), [0.0]);
        let row = texts(&outcome, "links", "from").iter().position(|from| from == "home");
        integers(&outcome, "links", "sent_packets")[row.expect("the home agent sends")]
    };
    // A packet every 10 ms of 40 s, less those of the last 0.4 to 0.8 s, or only until it moves after 8 to 9
    // s.
    assert!((3850..=3970).contains(&forwarded("true")), "{}", forwarded("true"));
    assert!((800..=910).contains(&forwarded("false")), "{}", forwarded("false"));
}

#[test]
fn at_home_again_it_deregisters_on_the_spot() {
    let text = walk(&[
        (
            "motion = { kind = \"linear\", to = { x = \"200m\", y = \"0m\" }, speed = \"10m/s\" }",
            "motion = { kind = \"back_and_forth\", to = { x = \"200m\", y = \"0m\" }, speed = \"10m/s\" }",
        ),
        ("\"eager\"", "\"lifetime\""),
    ]);
    let outcome = outcome(&text, 0);
    assert_eq!(texts(&outcome, "handovers", "to_cell"), ["foreign cell", "home cell"]);
    let (begun, completed) =
        (floats(&outcome, "handovers", "begun_s"), floats(&outcome, "handovers", "completed_s"));
    // Back in the home cell after 28 s, and heard within a period: the home agent is returned to at once.
    assert!(begun[1] > 28.0 && begun[1] <= 29.002, "{}", begun[1]);
    // 74 B and 70 B over the radio: 592 us + 1 ms + 560 us + 1 ms.
    close(completed[1] - begun[1], 0.003_152);
}

#[test]
fn a_clock_that_is_wrong_costs_one_refusal() {
    let text = walk(&[("{ lifetime = \"300s\" }", "{ lifetime = \"300s\", clock_ahead = \"30s\" }")]);
    let outcome = outcome(&text, 0);
    assert_eq!(integers(&outcome, "mobile_ip", "refused"), [1, 0, 1]);
    assert_eq!(integers(&outcome, "handovers", "requests"), [2]);
    let took = handover(&outcome, "completed_s") - handover(&outcome, "begun_s");
    close(took, 2.0 * (REQUEST_S + REPLY_S));
}

#[test]
fn a_request_that_is_lost_is_sent_again_after_1_s_and_3_s() {
    let outage = "outages = [{ start = \"8s\", duration = \"2s\" }]\n[[cell]]\nname = \"home cell\"";
    let outcome = outcome(&walk(&[("[[cell]]\nname = \"home cell\"", outage)]), 0);
    let took = handover(&outcome, "completed_s") - handover(&outcome, "begun_s") - REQUEST_S - REPLY_S;
    assert!([1.0, 3.0].iter().any(|again| (took - again).abs() < 2e-9), "{took}");
    let again = integers(&outcome, "mobile_ip", "retransmissions")[2];
    assert_eq!(again, if took < 2.0 { 1 } else { 2 });
    assert_eq!(integers(&outcome, "handovers", "requests"), [1 + again]);
}

#[test]
fn a_reply_to_an_earlier_request_does_not_count() {
    // 310 ms on each wire between the agents: the reply comes after 1.24 s, and 1 s after the request it is
    // sent again. Only the reply to the second one counts (RFC 5944 section 3.6.2.1), though exactly a second
    // lies between their timestamps.
    let wire = |end: &str, delay: &str| {
        format!("between = [\"router\", \"{end}\"]\nrate = \"500kb/s\"\ndelay = \"{delay}\"")
    };
    let [home, abroad] = ["home", "abroad"].map(|end| [wire(end, "200ms"), wire(end, "310ms")]);
    let text = walk(&[(&home[0], &home[1]), (&abroad[0], &abroad[1])]);
    let outcome = outcome(&text, 0);
    let took = handover(&outcome, "completed_s") - handover(&outcome, "begun_s");
    close(took, 1.0 + REQUEST_S + REPLY_S + 4.0 * 0.11);
    assert_eq!(integers(&outcome, "handovers", "requests"), [2]);
}

#[test]
fn a_registration_that_is_not_renewed_in_time_ends() {
    // The foreign cell is left for nowhere: the walker goes on, and hears nobody.
    let text = walk(&[
        ("to = { x = \"200m\", y = \"0m\" }", "to = { x = \"400m\", y = \"0m\" }"),
        ("{ lifetime = \"300s\" }", "{ lifetime = \"20s\" }"),
        ("duration = \"40s\"", "duration = \"60s\""),
    ]);
    let outcome = outcome(&(text + &voice("server", "walker")), 0);
    // Home agent, foreign agent and mobile node each see it end; renewals were made until 32 s.
    assert_eq!(integers(&outcome, "mobile_ip", "expired"), [1, 1, 1]);
    assert!(integers(&outcome, "mobile_ip", "accepted")[2] >= 2);
    // Three solicitations at most once a second, then doubled intervals: sent on both cells, heard on none.
    assert!(integers(&outcome, "mobile_ip", "solicitations")[2] >= 8);
    assert_eq!(integers(&outcome, "mobile_ip", "solicitations")[..2], [0, 0]);
}

#[test]
fn what_is_lost_between_the_agents_is_lost_in_the_tunnel() {
    // From 8 s on nothing gets from the router to the foreign agent.
    let loss = "loss = { from = \"router\", model = \"bernoulli\", probability = 1.0, start = \"8s\" }\n\
                [[cell]]\nname = \"home cell\"";
    let text = walk(&[("[[cell]]\nname = \"home cell\"", loss)]) + &voice("server", "walker");
    let outcome = outcome(&text, 0);
    let known = handover(&outcome, "begun_s") + REQUEST_S;
    // The router sends on what came from the home agent 202.368 ms before; a packet every 10 ms until 40 s.
    let expected = (40.0 - known - 0.202_368) / 0.01;
    let lost = integers(&outcome, "handovers", "lost_tunnel")[0] as f64;
    assert!((lost - expected).abs() <= 2.0, "{lost} instead of {expected}");
    assert_eq!(integers(&outcome, "handovers", "lost_agent"), [0]);
    assert!(handover(&outcome, "completed_s").is_nan());
}

#[test]
fn what_is_lost_in_the_tunnel_counts_in_one_handover() {
    // The same, and the walker goes back: it hears the home agent again after 28 s.
    let loss = "loss = { from = \"router\", model = \"bernoulli\", probability = 1.0, start = \"8s\" }\n\
                [[cell]]\nname = \"home cell\"";
    let back = ("kind = \"linear\"", "kind = \"back_and_forth\"");
    let text = walk(&[("[[cell]]\nname = \"home cell\"", loss), back]) + &voice("server", "walker");
    let outcome = outcome(&text, 0);
    let begun = floats(&outcome, "handovers", "begun_s");
    let lost = integers(&outcome, "handovers", "lost_tunnel");
    let expected = (begun[1] - begun[0] - REQUEST_S - 0.202_368) / 0.01;
    assert!((lost[0] as f64 - expected).abs() <= 2.0, "{} instead of {expected}", lost[0]);
    // One every 10 ms comes out of the tunnel until the first one from the home agent itself, one every 10 ms
    // as well.
    assert!(lost[1] <= 2, "{} again", lost[1]);
}

#[test]
fn a_foreign_agent_that_missed_the_reply_drops_what_comes_out_of_the_tunnel() {
    // The reply is at the router 0.201120 s after the home agent has sent it; the link to the foreign agent
    // is down just then. The request that is sent again after 1 s brings another.
    let reply_s = handover(&outcome(&walk(&[]), 0), "begun_s") + REQUEST_S + 0.201_120;
    let outage = format!(
        "outages = [{{ start = \"{:.6}s\", duration = \"3ms\" }}]\n[[cell]]\nname = \"home cell\"",
        reply_s - 0.001
    );
    let text = walk(&[("[[cell]]\nname = \"home cell\"", outage.as_str())]) + &voice("server", "walker");
    let outcome = outcome(&text, 0);
    assert_eq!(integers(&outcome, "handovers", "requests"), [2]);
    // The home agent has tunnelled since the first request: 1 s of packets, one every 10 ms.
    let agent = integers(&outcome, "handovers", "lost_agent")[0];
    assert!((98..=102).contains(&agent), "{agent}");
    let (nodes, reasons) = (texts(&outcome, "drops", "node"), texts(&outcome, "drops", "reason"));
    let packets = integers(&outcome, "drops", "packets");
    let row = (0..packets.len()).find(|&row| (&nodes[row], &reasons[row]) == ("abroad", "not registered"));
    let row = row.expect("the foreign agent dropped some");
    assert_eq!(packets[row], agent);
}

#[test]
fn two_walkers_share_their_agents_and_a_full_one_refuses() {
    let second = "[[node]]\nname = \"second\"\nposition = { x = \"0m\", y = \"5m\" }\n\
                  motion = { kind = \"linear\", to = { x = \"200m\", y = \"5m\" }, speed = \"10m/s\" }\n[[link]]\nname = \"core\"";
    let text = walk(&[
        ("[[link]]\nname = \"core\"", second),
        ("mobile_nodes = [\"walker\"]", "mobile_nodes = [\"walker\", \"second\"]"),
    ])
    .replace("stations = [\"walker\"]", "stations = [\"walker\", \"second\"]");
    let both = outcome(&text, 0);
    assert_eq!(texts(&both, "handovers", "node").len(), 2);
    assert_eq!(integers(&both, "mobile_ip", "accepted"), [2, 2, 1, 1]);
    // One place: the second to ask is refused, and keeps asking.
    let full = outcome(&text.replace("jitter = \"0s\"", "jitter = \"0s\", max_visitors = 1"), 0);
    let refused = integers(&full, "mobile_ip", "refused");
    assert_eq!(refused[2] + refused[3], refused[1]);
    assert_eq!(integers(&full, "mobile_ip", "accepted")[1], 1);
}
