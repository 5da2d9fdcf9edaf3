//! Transfers that arrive, each over a connection of its own.

use crate::outcome::{self, floats, integers, table, texts};
use crate::refusal::report_on;
use roamsim_scenario::run::{Options, Outcome, Trace, run};
use roamsim_scenario::{Format, Scenario};

/// 8 Mb/s and 10 ms each way.
const GOOD: &str = r#"
[scenario]
name = "transfers"
duration = "20s"
ip = "ipv4"
[[node]]
name = "a"
[[node]]
name = "b"
[[link]]
name = "line"
between = ["a", "b"]
rate = "8Mb/s"
delay = "10ms"
[[flow]]
name = "pages"
from = "a"
to = "b"
transport = { protocol = "tcp", variant = "newreno", mss = "1000B" }
application = { kind = "transfers", content = "0.5 1000\n1 3000\n1 500\n2 100000" }
"#;

fn outcome(text: &str, trace: Trace) -> Outcome {
    outcome::of(text, &[], Options { seed: 1, trace, ..Options::default() })
}

/// The list of `GOOD`.
const LIST: &str = "content = \"0.5 1000\\n1 3000\\n1 500\\n2 100000\"";

#[test]
fn each_transfer_opens_a_connection_of_its_own_and_takes_its_handshake_and_its_octets() {
    let outcome = outcome(GOOD, Trace { messages: true, ..Trace::default() });
    let [generated, delivered] =
        ["generated_s", "delivered_s"].map(|name| floats(&outcome, "messages", name));
    // SYN and SYN-ACK of 48 octets (MSS, window scale): 48 us and 10 ms each; the segment of 1040, which has
    // the ACK: 1.04 ms and 10 ms. In all 31.136 ms.
    assert_eq!(generated[0], 0.5);
    assert!((delivered[0] - 0.531_136).abs() < 1e-9, "{}", delivered[0]);
    assert_eq!(integers(&outcome, "transfers", "begun")[0], 4);
    assert_eq!(integers(&outcome, "transfers", "completed")[0], 4);
    assert_eq!(integers(&outcome, "transfers", "from_bytes").to_vec(), [100, 100, 1000, 100_000]);
    assert_eq!(integers(&outcome, "transfers", "below_bytes").to_vec(), [1_000_000, 1000, 10_000, 1_000_000]);
    let mean = floats(&outcome, "transfers", "mean_completion_time_s")[0];
    let times: Vec<f64> = generated.iter().zip(delivered).map(|(a, b)| b - a).collect();
    assert!((mean - times.iter().sum::<f64>() / 4.0).abs() < 1e-9);
    // Of each class one: the last count of its distribution.
    assert_eq!(*integers(&outcome, "transfer_times", "completed").last().expect("rows"), 1);
    // All connections together.
    assert_eq!(integers(&outcome, "flows", "segments_sent")[0], 1 + 3 + 1 + 100);
    assert_eq!(integers(&outcome, "flows", "delivered_bytes")[0], 104_500);
    assert_eq!(texts(&outcome, "flows", "connection").to_vec(), [""]);
}

/// Poisson arrivals of this rate and size.
fn poisson(rate: &str, size: &str, more: &str) -> String {
    GOOD.replace(LIST, &format!("rate = \"{rate}\", size = {size}{more}"))
}

#[test]
fn many_more_transfers_than_connections_are_served_one_after_the_other() {
    // 50 a second for 20 s, each of some 40 ms: two at a time in the mean.
    let outcome = outcome(&poisson("50/s", "\"2kB\"", ", max_connections = 40"), Trace::default());
    let (begun, completed) =
        (integers(&outcome, "transfers", "begun")[0], integers(&outcome, "transfers", "completed")[0]);
    // A thousand, with a standard deviation of 32.
    assert!((870..=1130).contains(&begun), "{begun}");
    assert!(completed >= begun - 10 && integers(&outcome, "transfers", "refused")[0] == 0);
    let segments = integers(&outcome, "flows", "segments_sent")[0];
    assert!((2 * completed..=2 * begun).contains(&segments), "{segments}");
}

#[test]
fn what_arrives_before_the_last_packet_of_the_only_connection_is_refused_and_told() {
    // From 0.5 s on, with 10 ms of delay each: SYN and SYN-ACK of 48 us; the segment of 1.04 ms with the FIN
    // behind it, 40 us; the ACK of that with the other FIN behind it, 80 us; its ACK, 40 us, which is there
    // at 0.551296 s.
    let list = "content = \"0.5 1000\\n0.551295 700\\n0.551297 500\", max_connections = 1";
    let outcome = outcome(&GOOD.replace(LIST, list), Trace { messages: true, ..Trace::default() });
    let of = |column| integers(&outcome, "transfers", column)[0];
    assert_eq!((of("begun"), of("completed"), of("refused")), (2, 2, 1));
    assert_eq!(integers(&outcome, "messages", "size_bytes").to_vec(), [1000, 500]);
}

#[test]
fn what_was_lost_keeps_no_sockets_from_the_next_transfer() {
    // The first segment leaves at 0.520096 s and is lost; it goes again after the least RTO, 1 s, and takes
    // 11.04 ms. The second transfer has the only sockets, since the loss is accounted for.
    let lost = GOOD
        .replace("delay = \"10ms\"", "delay = \"10ms\"\nloss = { model = \"list\", segments = [1] }")
        .replace(LIST, "content = \"0.5 1000\\n10 1000\", max_connections = 1");
    let outcome = outcome(&lost, Trace { messages: true, ..Trace::default() });
    let of = |column| integers(&outcome, "transfers", column)[0];
    assert_eq!((of("begun"), of("completed"), of("refused"), of("failed")), (2, 2, 0, 0));
    assert_eq!(integers(&outcome, "flows", "retransmissions")[0], 1);
    let delivered: Vec<_> =
        floats(&outcome, "messages", "delivered_s").iter().map(|s| (s * 1e6).round()).collect();
    assert_eq!(delivered, [1_531_136.0, 10_031_136.0]);
}

#[test]
fn packets_that_arrive_twice_keep_no_sockets_from_the_next_transfer() {
    let doubled = GOOD
        .replace("delay = \"10ms\"", "delay = \"10ms\"\nduplicate = 1")
        .replace(LIST, "content = \"0.5 1000\\n10 1000\", max_connections = 1");
    let outcome = outcome(&doubled, Trace::default());
    let of = |column| integers(&outcome, "transfers", column)[0];
    assert_eq!((of("begun"), of("completed"), of("refused"), of("failed")), (2, 2, 0, 0));
}

#[test]
fn under_losses_sockets_serve_again_and_again() {
    let lossy = poisson("20/s", "\"20kB\"", "").replace(
        "delay = \"10ms\"",
        "delay = \"10ms\"\nloss = { model = \"bernoulli\", probability = 0.05 }",
    );
    // Some 400, most of which lose a packet, over 60 pairs of sockets at the most.
    let many = outcome(&lossy, Trace::default());
    let few = lossy.replace("size = \"20kB\"", "size = \"20kB\", max_connections = 60");
    let few = outcome(&few, Trace::default());
    assert!(integers(&few, "flows", "retransmissions")[0] > 50);
    assert_eq!(["refused", "failed"].map(|column| integers(&few, "transfers", column)[0]), [0, 0]);
    assert_eq!(integers(&few, "transfers", "begun")[0], integers(&many, "transfers", "begun")[0]);
}

#[test]
fn packets_say_of_which_transfer_they_are() {
    // Two of them at one time, the last over sockets that served another one.
    let text = GOOD.replace(LIST, &format!("{LIST}, max_connections = 2"));
    let outcome = outcome(&text, Trace { packets: true, ..Trace::default() });
    let descriptions = texts(&outcome, "packets", "description").to_vec();
    let times = floats(&outcome, "packets", "time_s");
    let mut seen = [0; 4];
    for (text, &at) in descriptions.iter().zip(times) {
        let number = text.strip_prefix("transfer ").and_then(|text| text.split_once(": "));
        let (number, words) = number.unwrap_or_else(|| panic!("{text}"));
        let number: usize = number.parse().expect("a number");
        seen[number] += 1;
        // 0 from 0.5 to 1 s, 1 and 2 from 1 to 2 s, 3 from then on.
        assert!([0.5..1.0, 1.0..2.0, 1.0..2.0, 2.0..20.0][number].contains(&at), "{at} {text}");
        if words.contains("message") {
            assert!(words.contains(&format!("message {number} (")), "{text}");
        }
    }
    // Each packet is sent, transmitted and delivered: SYN, SYN-ACK, the segment, FIN, its ACK, the other FIN,
    // its ACK.
    assert_eq!((seen[0], seen[2]), (21, 21));
}

#[test]
fn tables_of_ecn_are_there_before_any_transfer() {
    let text = GOOD
        .replace("mss = \"1000B\"", "mss = \"1000B\", ecn = true")
        .replace(LIST, "rate = \"0.001/s\", size = \"1kB\", stop = \"100ms\"");
    let outcome = outcome(&text, Trace::default());
    assert_eq!(integers(&outcome, "transfers", "begun").to_vec(), [0]);
    assert_eq!(texts(&outcome, "ecn", "agreed").to_vec(), ["no"]);
    assert!(integers(&outcome, "marks", "packets").is_empty());
}

#[test]
fn rows_are_told_apart_by_what_the_keys_allow_and_not_by_what_was_drawn() {
    let sizes = r#"{ distribution = "pareto", min = "100B", max = "5MB", shape = 1 }"#;
    let text = poisson("1/s", sizes, "");
    let scenario = Scenario::parse(&text, "transfers.toml", Format::Toml, &[]).expect("good");
    let runs = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
        .map(|seed| run(&scenario, Options { seed, ..Options::default() }).expect("it runs"));
    for outcome in &runs {
        let classes =
            ["all", "100 B to 1 kB", "1 kB to 10 kB", "10 kB to 100 kB", "100 kB to 1 MB", "1 MB to 10 MB"];
        assert_eq!(texts(outcome, "transfers", "sizes").to_vec(), classes);
        assert_eq!(integers(outcome, "transfers", "from_bytes")[0], 100);
        assert_eq!(integers(outcome, "transfers", "below_bytes")[0], 10_000_000);
    }
    let largest = |outcome: &Outcome| {
        integers(outcome, "transfers", "begun").iter().rposition(|&begun| begun > 0).expect("some")
    };
    assert!(runs.iter().any(|outcome| largest(outcome) != largest(&runs[0])));
}

#[test]
fn a_transfer_is_completed_or_failed_and_not_both() {
    // The last bit of its only segment is sent at 0.521136 s. Timeouts after 1, 2 and 4 s; at the third the
    // source gives up.
    let becomes = |cut: &str| {
        let outage = format!("delay = \"10ms\"\noutages = [{{ start = \"{cut}\", duration = \"18s\" }}]");
        let text = GOOD
            .replace("delay = \"10ms\"", &outage)
            .replace("mss = \"1000B\"", "mss = \"1000B\", max_retransmissions = 2")
            .replace(LIST, "content = \"0.5 1000\"");
        let outcome = outcome(&text, Trace::default());
        for (column, count) in [("timeouts", 3), ("retransmissions", 2)] {
            assert_eq!(integers(&outcome, "flows", column)[0], count, "{cut} {column}");
        }
        ["begun", "completed", "failed"].map(|column| integers(&outcome, "transfers", column)[0])
    };
    // It arrives, and its acknowledgements do not; or it is lost with all that follow it.
    assert_eq!((becomes("0.5212s"), becomes("0.5211s")), ([1, 1, 0], [1, 0, 1]));
}

#[test]
fn a_list_of_losses_counts_no_packets_of_transfers_alone() {
    let bad = "delay = \"10ms\"\nloss = { model = \"list\", segments = [2], flow = \"pages\" }";
    let report = report_on(GOOD, "delay = \"10ms\"", bad);
    assert!(report.contains("connections of their own"), "{report}");
}

#[test]
fn a_path_that_is_cut_has_transfers_fail() {
    let outage = "delay = \"10ms\"\noutages = [{ start = \"1.9s\", duration = \"18s\" }]";
    let cut = GOOD.replace("delay = \"10ms\"", outage);
    let cut = cut.replace("mss = \"1000B\"", "mss = \"1000B\", max_retransmissions = 2");
    let outcome = outcome(&cut, Trace::default());
    assert_eq!(integers(&outcome, "transfers", "failed")[0], 1);
    assert_eq!(integers(&outcome, "transfers", "completed")[0], 3);
}

#[test]
fn a_list_that_may_arrive_is_taken() {
    let drawn = "start = { distribution = \"uniform\", min = \"0s\", max = \"2s\" }, stop = \"3s\"";
    let text = GOOD.replace(LIST, &format!("content = \"2 1000\", {drawn}"));
    outcome(&text, Trace::default());
}

#[test]
fn what_is_wrong_with_transfers_is_told() {
    for (bad, message) in [
        ("content = \"1 5\\n0 5\"", "before the one"),
        ("content = \"\"", "no transfers"),
        ("content = \"600 500\"", "no transfer arrives: the first would arrive at 600s"),
        (
            "content = \"5 500\", start = \"1s\", stop = \"6s\"",
            "no transfer arrives: the first would arrive at 6s",
        ),
        (
            "content = \"2 500\", start = { distribution = \"uniform\", min = \"5s\", max = \"6s\" }, stop = \"7s\"",
            "no transfer arrives: the first would arrive at 7s",
        ),
        ("max_connections = 5", "nothing says when transfers arrive"),
        ("rate = \"5/s\"", "nothing says how large a transfer is"),
        ("rate = \"0/s\", size = \"1kB\"", "at a rate above zero"),
        ("rate = \"5/s\", size = \"0B\"", "a size of 0 B sends nothing"),
        (
            "rate = \"5/s\", size = { distribution = \"pareto\", min = \"1kB\", max = \"1MB\", shape = 0 }",
            "above zero",
        ),
        ("rate = \"5/s\", size = \"1kB\", max_connections = 0", "a connection or more"),
        ("rate = \"5/s\", size = \"1kB\", trace = \"x\"", "there is no file"),
    ] {
        let report = report_on(GOOD, LIST, bad);
        assert!(report.contains(message), "{bad}: {report}");
    }
    let udp =
        report_on(GOOD, "protocol = \"tcp\", variant = \"newreno\", mss = \"1000B\"", "protocol = \"udp\"");
    assert!(udp.contains("`transfers` need TCP"), "{udp}");
}

#[test]
fn the_tables_are_there_only_where_transfers_are() {
    let other = outcome(
        &GOOD.replace(
            "kind = \"transfers\", content = \"0.5 1000\\n1 3000\\n1 500\\n2 100000\"",
            "kind = \"bulk\"",
        ),
        Trace::default(),
    );
    assert!(!other.tables.iter().any(|table| table.name.starts_with("transfer")));
    assert_eq!(
        table(&other, "flows").columns.len(),
        table(&outcome(GOOD, Trace::default()), "flows").columns.len()
    );
}
