//! Queue disciplines before wires and before radios of 802.11, as a scenario states them: what they do to a
//! call beside a download, and the shares of flows.

use crate::outcome::{self, floats, integers, texts};
use roamsim_scenario::run::{Options, Outcome};
use roamsim_scenario::{Format, Scenario};

fn outcome(text: &str, overrides: &[(&str, &str)]) -> Outcome {
    outcome::of(text, overrides, Options { seed: 1, ..Options::default() })
}

/// A call beside a download over a line of 10 Mb/s.
fn call_beside_download(queue: &str) -> Outcome {
    let text = include_str!("../../../examples/queue-management.toml");
    outcome(text, &[("link.line.queue", queue)])
}

/// Of the second flow, the call: the mean and the 99th percentile of its delay.
fn delay_of_call_s(outcome: &Outcome) -> [f64; 2] {
    ["mean_delay_s", "p99_delay_s"].map(|name| floats(outcome, "flows", name)[1])
}

/// How many packets were dropped for a reason.
fn dropped(outcome: &Outcome, reason: &str) -> u64 {
    if !outcome.tables.iter().any(|table| table.name == "drops") {
        return 0;
    }
    let packets = integers(outcome, "drops", "packets");
    let reasons = texts(outcome, "drops", "reason");
    (0..packets.len()).filter(|&row| &reasons[row] == reason).map(|row| packets[row]).sum()
}

/// 20 ms of propagation, and the packet of 172 octets with its headers of 48 over 1 Gb/s and 10 Mb/s: 1.76 +
/// 176 us.
const EMPTY_S: f64 = 0.020_177_76;

#[test]
fn a_large_buffer_has_the_call_wait() {
    let outcome = call_beside_download("{ packets = 1000 }");
    // Full, it holds 1.2 s; CUBIC leaves 0.7 of it behind a loss.
    let [mean_s, p99_s] = delay_of_call_s(&outcome);
    assert!(mean_s > 0.5 && p99_s > 1.1, "{mean_s} {p99_s}");
    assert_eq!(dropped(&outcome, "queue management"), 0);
}

#[test]
fn codel_keeps_the_wait_near_its_target_and_pie_near_its_own() {
    for (queue, most_ms) in [("{ discipline = \"codel\" }", 5.0), ("{ discipline = \"pie\" }", 15.0)] {
        let outcome = call_beside_download(queue);
        let [mean_s, _] = delay_of_call_s(&outcome);
        let waits_ms = (mean_s - EMPTY_S) * 1000.0;
        // The target is of what stands; slow start goes beyond it at first.
        assert!(waits_ms > 0.3 * most_ms && waits_ms < 2.0 * most_ms, "{queue}: {waits_ms} ms");
        assert!(dropped(&outcome, "queue management") > 10);
        assert_eq!(dropped(&outcome, "queue full"), 0);
        // The line is used: of 10 Mb/s 96 % could be payload, and a queue of 5 ms is short beside the 40 ms
        // of a round trip.
        assert!(floats(&outcome, "flows", "goodput_bps")[0] > 8e6);
    }
}

#[test]
fn red_keeps_the_mean_length_between_its_thresholds() {
    let outcome = call_beside_download("{ discipline = \"red\", packets = 1000, weight = 0.02 }");
    let [names, from] = ["name", "from"].map(|column| texts(&outcome, "links", column));
    let means = floats(&outcome, "links", "mean_queue_packets");
    let row = (0..means.len()).find(|&row| &names[row] == "line" && &from[row] == "router");
    let mean = means[row.expect("the line")];
    assert!((2.0..15.0).contains(&mean), "{mean}");
    assert!(dropped(&outcome, "queue management") > 10);
}

#[test]
fn adaptive_red_keeps_the_mean_length_in_its_target_however_many_send() {
    let mean_of = |flows: usize, adaptive: bool| {
        let text = SHARES.split("[[flow]]").next().expect("nodes and the line").to_owned();
        let flow = |number| {
            format!(
                "[[flow]]\nname = \"{number}\"\nfrom = \"a\"\nto = \"b\"\ntransport = {{ protocol = \"tcp\" }}\napplication = {{ kind = \"bulk\", start = \"{}ms\" }}\n",
                137 * number
            )
        };
        let text = text + &(0..flows).map(flow).collect::<String>();
        let queue = format!("{{ discipline = \"red\", packets = 1000, adaptive = {adaptive} }}");
        let sets =
            [("link.line.queue", queue.as_str()), ("link.line.delay", "20ms"), ("scenario.duration", "100s")];
        let outcome = outcome(&text, &sets);
        floats(&outcome, "links", "mean_queue_packets")[0]
    };
    // The target is a mean of 9 to 11 packets at arrivals, of which there are more while the queue is short:
    // over time it is one more. With a fixed probability it goes by how many send.
    for (flows, of_fixed) in [(4, 6.0..9.0), (40, 12.0..16.0)] {
        let [fixed, adaptive] = [false, true].map(|adaptive| mean_of(flows, adaptive));
        assert!(of_fixed.contains(&fixed) && (9.0..12.0).contains(&adaptive), "{flows}: {fixed} {adaptive}");
    }
}

#[test]
fn red_that_spares_single_packets_keeps_the_line_busy() {
    let text = r#"
        [scenario]
        name = "five downloads through RED"
        duration = "220s"
        warm_up = "20s"
        ip = "ipv4"
        [[node]]
        name = "a"
        [[node]]
        name = "b"
        [[link]]
        name = "pipe"
        between = ["a", "b"]
        rate = "10Mb/s"
        delay = "20ms"
        queue = { discipline = "red" }
        [[flow]]
        name = "f{i}"
        count = 5
        from = "a"
        to = "b"
        transport = { protocol = "tcp", variant = "sack", mss = "1000B", delayed_ack = false }
        application = { kind = "bulk", start = { distribution = "uniform", min = "0s", max = "1s" } }
    "#;
    let utilisation = |sets: &[(&str, &str)]| floats(&outcome(text, sets), "links", "utilisation")[0];
    // By the paper's figure 2, measured; and as ns-2 has it, where ns-2 itself has 0.955.
    let paper = utilisation(&[]);
    assert!((0.885..0.905).contains(&paper), "{paper}");
    let spared = utilisation(&[("link.pipe.queue.spare_single_packet", "true")]);
    assert!((0.945..0.960).contains(&spared), "{spared}");
}

#[test]
fn under_fq_codel_the_call_waits_for_no_more_than_one_packet() {
    let outcome = call_beside_download("{ discipline = \"fq_codel\" }");
    let [mean_s, p99_s] = delay_of_call_s(&outcome);
    // The one in service, 1500 octets: 1.2 ms; half of that in the mean. A packet that comes while its flow
    // is still listed behind the other waits for a second one.
    assert!(mean_s < EMPTY_S + 0.0012, "{mean_s}");
    assert!(p99_s < EMPTY_S + 0.0024, "{p99_s}");
}

/// Of the rows of `queues` of a link and a flow: packets, and mean, 99th percentile and longest of their
/// waits.
fn waits(outcome: &Outcome, from: &str, flow: &str) -> (u64, [f64; 3]) {
    let [froms, flows] = ["from", "flow"].map(|name| texts(outcome, "queues", name));
    let row = (0..flows.len()).find(|&row| &froms[row] == from && &flows[row] == flow).expect("its row");
    let column = |name| floats(outcome, "queues", name)[row];
    let packets = integers(outcome, "queues", "packets")[row];
    (packets, ["mean_wait_s", "p99_wait_s", "longest_wait_s"].map(column))
}

#[test]
fn waits_are_told_by_flow_where_a_queue_is_managed() {
    for queue in ["{ discipline = \"codel\" }", "{ discipline = \"fq_codel\" }"] {
        let outcome = call_beside_download(queue);
        // The call waits nowhere else: its delay is that, and what it takes on an empty line.
        let [mean_s, p99_s] = delay_of_call_s(&outcome);
        let (packets, [mean_wait_s, p99_wait_s, longest_wait_s]) = waits(&outcome, "router", "call");
        assert!((mean_s - EMPTY_S - mean_wait_s).abs() < 2e-5, "{mean_s} {mean_wait_s}");
        assert!((p99_s - EMPTY_S - p99_wait_s).abs() < 0.01 * p99_wait_s, "{p99_s} {p99_wait_s}");
        assert!(longest_wait_s >= p99_wait_s);
        // What is under way at the end has left the queue.
        let delivered = floats(&outcome, "flows", "delivered_packets")[1] as u64;
        assert!((delivered..delivered + 3).contains(&packets), "{packets} {delivered}");
        // Acknowledgements are rows of the other way.
        assert!(waits(&outcome, "home", "download").0 > 1000);
    }
    assert!(call_beside_download("{ packets = 1000 }").tables.iter().all(|table| table.name != "queues"));
}

#[test]
fn with_ecn_packets_are_marked_instead_of_dropped() {
    let text = include_str!("../../../examples/queue-management.toml");
    for discipline in ["codel", "fq_codel", "pie", "red"] {
        let run = |ecn: &str| {
            let queue = format!("{{ discipline = \"{discipline}\", packets = 1000, ecn = {ecn} }}");
            outcome(text, &[("link.line.queue", &queue), ("flow.download.transport.ecn", ecn)])
        };
        let (without, with) = (run("false"), run("true"));
        assert!(!without.tables.iter().any(|table| table.name == "ecn"));
        let marked = integers(&with, "ecn", "marked_packets")[0];
        // What the queue of the line has marked is what arrives marked, but for what is under way at the end.
        let at_queue = integers(&with, "marks", "packets")[0];
        assert!(
            marked > 5 && marked <= at_queue && at_queue - marked < 40,
            "{discipline}: {marked} of {at_queue}"
        );
        assert_eq!(&texts(&with, "marks", "node")[0], "router");
        let reductions = integers(&with, "ecn", "reductions")[0];
        assert!(reductions > 5 && reductions <= marked, "{discipline}: {reductions}");
        // The call's datagrams do not know of it, and go on being dropped; of the download nothing is sent
        // again, unless its slow start has PIE and RED come to where they drop all the same.
        let sent_again = |outcome: &Outcome| integers(outcome, "flows", "retransmissions")[0];
        let drops = matches!(discipline, "pie" | "red");
        assert!(sent_again(&without) > 0, "{discipline}");
        assert_eq!(sent_again(&with) > 0, drops, "{discipline}");
    }
}

/// Three sources of 4 Mb/s each over a line of 6 Mb/s, in packets of 1228, 628 and 228 octets with headers.
const SHARES: &str = r#"
[scenario]
name = "shares"
duration = "20s"
ip = "ipv4"
[[node]]
name = "a"
[[node]]
name = "b"
[[link]]
name = "line"
between = ["a", "b"]
rate = "6Mb/s"
delay = "1ms"
queue = { discipline = "fq_codel" }
[[flow]]
name = "large"
from = "a"
to = "b"
transport = { protocol = "udp" }
application = { kind = "cbr", packet_size = "1200B", interval = "2.456ms" }
[[flow]]
name = "middle"
from = "a"
to = "b"
transport = { protocol = "udp" }
application = { kind = "cbr", packet_size = "600B", interval = "1.256ms" }
[[flow]]
name = "small"
from = "a"
to = "b"
transport = { protocol = "udp" }
application = { kind = "cbr", packet_size = "200B", interval = "0.456ms" }
"#;

/// Octets of IP that each flow got across.
fn delivered_bytes(outcome: &Outcome) -> Vec<f64> {
    let bytes = integers(outcome, "flows", "delivered_bytes");
    let whole = [1228.0 / 1200.0, 628.0 / 600.0, 228.0 / 200.0];
    bytes.iter().zip(whole).map(|(&bytes, whole)| bytes as f64 * whole).collect()
}

#[test]
fn under_fq_codel_flows_share_by_octets() {
    // 6 Mb/s for 20 s are 15 MB, a third of it each, but for a quantum and what waits at the end.
    for bytes in delivered_bytes(&outcome(SHARES, &[])) {
        assert!((bytes / 5e6 - 1.0).abs() < 0.01, "{bytes}");
    }
    // Drop-tail favours small packets, where room is counted in packets.
    let shares = delivered_bytes(&outcome(SHARES, &[("link.line.queue", "{ packets = 50 }")]));
    assert!(shares.iter().any(|bytes| (bytes / 5e6 - 1.0).abs() > 0.03), "{shares:?}");
}

#[test]
fn under_drop_tail_a_managed_wire_is_not_asked_for() {
    // The same results, written or left out.
    let written = outcome(SHARES, &[("link.line.queue", "{ discipline = \"drop_tail\", packets = 100 }")]);
    let left_out = outcome(SHARES, &[("link.line.queue", "{ packets = 100 }")]);
    assert_eq!(delivered_bytes(&written), delivered_bytes(&left_out));
}

#[test]
fn disciplines_work_at_an_access_point() {
    let text = r#"
[scenario]
name = "air"
duration = "20s"
ip = "ipv4"
[[node]]
name = "server"
[[node]]
name = "access-point"
[[node]]
name = "laptop"
[[link]]
name = "backbone"
between = ["server", "access-point"]
rate = "1Gb/s"
delay = "20ms"
[[wifi]]
name = "air"
access_point = "access-point"
stations = ["laptop"]
standard = "802.11b"
queue = { packets = 500 }
[[flow]]
name = "download"
from = "server"
to = "laptop"
transport = { protocol = "tcp", variant = "cubic" }
application = { kind = "bulk" }
[[flow]]
name = "call"
from = "server"
to = "laptop"
transport = { protocol = "udp" }
application = { kind = "cbr", packet_size = "172B", interval = "20ms", start = "5s" }
"#;
    let mean_s = |queue: &str| delay_of_call_s(&outcome(text, &[("wifi.air.queue", queue)]))[0];
    let drop_tail = mean_s("{ packets = 500 }");
    let fq_codel = mean_s("{ discipline = \"fq_codel\" }");
    let codel = mean_s("{ discipline = \"codel\" }");
    // 20 ms, its own exchange and the one in service.
    assert!(fq_codel < 0.0255, "{fq_codel}");
    assert!(codel < 0.045 && codel > fq_codel, "{codel}");
    assert!(drop_tail > 0.2, "{drop_tail}");
}

/// Two downloads and a call over one hop that holds all that comes, of a cell or a DECT access.
const HOP: &str = r#"
[scenario]
name = "hop"
duration = "20s"
ip = "ipv4"
[[node]]
name = "server"
[[node]]
name = "mast"
position = { x = "0m", y = "0m" }
[[node]]
name = "phone"
position = { x = "10m", y = "0m" }
[[link]]
name = "backbone"
between = ["server", "mast"]
rate = "1Gb/s"
delay = "20ms"
[[flow]]
name = "download"
from = "server"
to = "phone"
transport = { protocol = "tcp", variant = "cubic" }
application = { kind = "bulk" }
[[flow]]
name = "call"
from = "server"
to = "phone"
dscp = "ef"
transport = { protocol = "udp" }
application = { kind = "cbr", packet_size = "172B", interval = "40ms", start = "5s" }
"#;

const CELL: &str = r#"
[[cell]]
name = "hop"
base_station = "mast"
stations = ["phone"]
rate = "5Mb/s"
coverage = { model = "disc", radius = "100m" }
queue = { packets = 500 }
"#;

const DECT: &str = r#"
[[dect]]
name = "hop"
terminal = "phone"
gateway = "mast"
fixed_bearers = 12
"#;

const BY_CLASS: [&str; 2] = [
    "{ discipline = \"priority\", classes = [[\"ef\"]] }",
    "{ discipline = \"drr\", classes = [{ dscp = [\"ef\"], quantum = \"1500B\" }] }",
];

#[test]
fn disciplines_work_before_the_transmitters_of_cells() {
    let mean_s = |queue: &str| {
        let outcome = outcome(&format!("{HOP}{CELL}"), &[("cell.hop.queue", queue)]);
        assert!(floats(&outcome, "flows", "goodput_bps")[0] > 4e6, "{queue}");
        delay_of_call_s(&outcome)[0]
    };
    // 20 ms; 172 + 28 octets at 5 Mb/s take 0.32 ms, and a packet of 1500 octets in service 2.4 ms, half of
    // it in the mean.
    let drop_tail = mean_s("{ packets = 500 }");
    assert!(drop_tail > 0.3, "{drop_tail}");
    let codel = mean_s("{ discipline = \"codel\" }");
    assert!(codel < 0.06, "{codel}");
    for queue in [BY_CLASS[0], BY_CLASS[1], "{ discipline = \"fq_codel\" }"] {
        let mean = mean_s(queue);
        assert!((0.0203..0.0245).contains(&mean), "{queue}: {mean}");
    }
}

const WIMAX: &str = r#"
[[wimax]]
name = "hop"
base_station = "mast"
stations = ["phone"]
burst_profile = "16-QAM 1/2"
queue = { packets = 500 }
"#;

/// The same the other way.
fn upward(text: &str) -> String {
    text.replace("from = \"server\"\nto = \"phone\"", "from = \"phone\"\nto = \"server\"")
}

#[test]
fn disciplines_work_before_the_connections_of_802_16() {
    // 20 ms of the backbone. Downward a packet waits for a frame of 5 ms and comes some 1 to 2 ms into it;
    // upward the connection always has more to send, so that its requests go with its data, and the burst of
    // the call's packet comes within a frame.
    for text in [HOP.to_owned(), upward(HOP)] {
        let run = |queue: &str| {
            let outcome = outcome(&format!("{text}{WIMAX}"), &[("wimax.hop.queue", queue)]);
            let goodput = floats(&outcome, "flows", "goodput_bps")[0];
            (delay_of_call_s(&outcome)[0], goodput, dropped(&outcome, "queue management"))
        };
        let (drop_tail, _, by_rule) = run("{ packets = 500 }");
        assert!(drop_tail > 0.5 && by_rule == 0, "{drop_tail}");
        for (target_s, queue) in
            [(0.005, "{ discipline = \"codel\" }"), (0.020, "{ discipline = \"codel\", target = \"20ms\" }")]
        {
            let (mean, goodput, by_rule) = run(queue);
            // The packet that has left the queue is a frame before the others.
            assert!((0.022..0.020 + 0.0075 + 1.5 * target_s).contains(&mean), "{queue}: {mean}");
            assert!(goodput > 2.5e6 && by_rule > 20, "{queue}: {goodput} {by_rule}");
        }
        for queue in [BY_CLASS[0], BY_CLASS[1], "{ discipline = \"fq_codel\" }"] {
            let (mean, goodput, _) = run(queue);
            assert!((0.022..0.0275).contains(&mean), "{queue}: {mean}");
            assert!(goodput > 2.5e6, "{queue}: {goodput}");
        }
        for queue in ["{ discipline = \"pie\" }", "{ discipline = \"red\" }"] {
            let (mean, _, by_rule) = run(queue);
            assert!(mean < 0.1 && by_rule > 20, "{queue}: {mean} {by_rule}");
        }
    }
}

#[test]
fn marks_of_802_16_arrive() {
    for (text, node) in [(HOP.to_owned(), "mast"), (upward(HOP), "phone")] {
        let of_class =
            "[[wimax.non_real_time_polling]]\nstations = [\"phone\"]\ndscp = [\"ef\"]\ninterval = \"20ms\"";
        let text = format!("{text}{WIMAX}{of_class}");
        let queue = "{ discipline = \"codel\", ecn = true }";
        let outcome = outcome(&text, &[("wimax.hop.queue", queue), ("flow.download.transport.ecn", "true")]);
        let marked = integers(&outcome, "ecn", "marked_packets")[0];
        let at_queue = integers(&outcome, "marks", "packets")[0];
        assert!(marked > 5 && marked <= at_queue && at_queue - marked < 40, "{marked} of {at_queue}");
        assert_eq!(&texts(&outcome, "marks", "node")[0], node);
        // The download's packets are marked; the call has a service flow and a queue of its own, in which
        // nothing stands.
        assert_eq!(integers(&outcome, "flows", "retransmissions")[0], 0);
        assert_eq!(dropped(&outcome, "queue management"), 0);
    }
}

#[test]
fn disciplines_work_before_the_dlc_of_dect() {
    let mean_s = |queue: Option<&str>| {
        let queue = queue.map(|queue| ("dect.hop.queue", queue));
        let outcome = outcome(&format!("{HOP}{DECT}"), &queue.into_iter().collect::<Vec<_>>());
        (
            delay_of_call_s(&outcome)[0],
            floats(&outcome, "flows", "goodput_bps")[0],
            dropped(&outcome, "queue management"),
        )
    };
    // Twelve bearers of 32 kb/s: a packet of 1500 octets takes some 32 ms. Whatever comes waits: a receive
    // window of 64 kB is 1.4 s.
    let (unlimited, goodput, _) = mean_s(None);
    assert!(unlimited > 0.8, "{unlimited}");
    for queue in
        [BY_CLASS[0], BY_CLASS[1], "{ discipline = \"fq_codel\", target = \"50ms\", interval = \"500ms\" }"]
    {
        let (mean, of_download, _) = mean_s(Some(queue));
        // 20 ms, what the DLC has begun to send, and frames of 10 ms.
        assert!(mean < 0.2, "{queue}: {mean}");
        assert!(of_download > 0.7 * goodput, "{queue}: {of_download} of {goodput}");
    }
    let (mean, _, dropped) =
        mean_s(Some("{ discipline = \"codel\", target = \"50ms\", interval = \"500ms\" }"));
    assert!(mean < 0.5 && dropped > 3, "{mean} {dropped}");
}

#[test]
fn classes_have_shares_by_their_quanta() {
    let classes = "{ discipline = \"drr\", classes = [{ dscp = [\"ef\"], quantum = \"3000B\" }], quantum = \"1500B\", packets = 50 }";
    let text = SHARES.replace("name = \"large\"", "name = \"large\"\ndscp = \"ef\"");
    let shares = delivered_bytes(&outcome(&text, &[("link.line.queue", classes)]));
    // 4 Mb/s of class EF are two thirds of 6 Mb/s, as its quantum is of both: all of it passes; the others
    // share 2 Mb/s.
    assert!((shares[0] / 10e6 - 1.0).abs() < 0.01, "{shares:?}");
    assert!(((shares[1] + shares[2]) / 5e6 - 1.0).abs() < 0.01, "{shares:?}");
    // By strict priority the last class has what is left: 2 Mb/s here too, and nothing where more of the
    // first comes than is carried.
    let priority = "{ discipline = \"priority\", classes = [[\"ef\"]] }";
    let slow = [("link.line.queue", priority), ("link.line.rate", "3Mb/s")];
    let shares = delivered_bytes(&outcome(&text, &slow));
    assert!((shares[0] / 7.5e6 - 1.0).abs() < 0.01 && shares[1] + shares[2] < 20_000.0, "{shares:?}");
}

#[test]
fn classes_that_have_no_packets_or_two_claims_are_refused() {
    for (queue, message) in [
        ("{ discipline = \"priority\", classes = [] }", "there are 0 classes here"),
        ("{ discipline = \"priority\", classes = [[\"ef\"], []] }", "a class without a DSCP has no packets"),
        ("{ discipline = \"priority\", classes = [[\"ef\"], [46]] }", "in two of these classes"),
        (
            "{ discipline = \"drr\", classes = [{ dscp = [\"ef\"], quantum = \"0B\" }] }",
            "a quantum is 1 B to 4 GB",
        ),
        ("{ discipline = \"priority\", classes = [[\"ef\"]], ecn = true }", "unknown key `ecn`"),
        (
            "{ packets = 10, ecn = true }",
            "only queues of `red`, `codel`, `fq_codel` and `pie` mark packets, and only TCP and QUIC answer",
        ),
    ] {
        let pairs = [("link.line.queue".to_owned(), queue.to_owned())];
        let refused = Scenario::parse(SHARES, "queues", Format::Toml, &pairs).expect_err(queue).render(false);
        let refused = refused.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(refused.contains(message), "{queue}: {refused}");
    }
}

#[test]
fn classes_of_which_nothing_is_sent_are_warned_of() {
    let warnings = |text: &str, pairs: &[(&str, &str)]| {
        let pairs: Vec<_> =
            pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        Scenario::parse(text, "queues", Format::Toml, &pairs).expect("valid").warnings
    };
    let classes =
        [("link.line.queue", "{ discipline = \"priority\", classes = [[\"af41\", \"af42\"], [\"ef\"]] }")];
    let both = warnings(SHARES, &classes);
    assert_eq!(both.len(), 2, "{both:?}");
    assert!(
        both[0].contains("link.line.queue.classes.0: nothing here sends packets of this class"),
        "{}",
        both[0]
    );
    // One codepoint of a class that is sent is enough.
    let text = SHARES.replace("name = \"large\"", "name = \"large\"\ndscp = \"af42\"");
    let other = warnings(&text, &classes);
    assert!(other.len() == 1 && other[0].contains("classes.1"), "{other:?}");
    // Best effort is what nothing has to set.
    let rest = "{ discipline = \"drr\", classes = [{ dscp = [\"default\"] }] }";
    assert!(warnings(SHARES, &[("link.line.queue", rest)]).is_empty());

    let silent = HOP.replace("dscp = \"ef\"\n", "");
    let of_class =
        "[[wimax.non_real_time_polling]]\nstations = [\"phone\"]\ndscp = [\"ef\"]\ninterval = \"20ms\"";
    assert!(warnings(&format!("{HOP}{WIMAX}{of_class}"), &[]).is_empty());
    let service = warnings(&format!("{silent}{WIMAX}{of_class}"), &[]);
    assert!(service.len() == 1 && service[0].contains("non_real_time_polling.0.dscp"), "{service:?}");
}
