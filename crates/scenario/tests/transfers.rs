//! Transfers that arrive, each over a connection of its own.

mod outcome;
mod refusal;

use outcome::{floats, integers, table, texts};
use refusal::report_on;
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
    let scenario = Scenario::parse(text, "transfers.toml", Format::Toml, &[]);
    let scenario = scenario.unwrap_or_else(|diagnostics| panic!("{}", diagnostics.render(false)));
    run(&scenario, Options { seed: 1, trace, ..Options::default() }).expect("it runs")
}

#[test]
fn each_transfer_opens_a_connection_of_its_own_and_takes_its_handshake_and_its_octets() {
    let outcome = outcome(GOOD, Trace { messages: true, ..Trace::default() });
    let [generated, delivered] =
        ["generated_s", "delivered_s"].map(|name| floats(&outcome, "messages", name));
    // SYN and SYN-ACK of 48 octets (MSS, window scale): 48 us and 10 ms each; the segment of 1040, which has the ACK: 1.04 ms and 10 ms.
    // In all 31.136 ms.
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
    let list = "content = \"0.5 1000\\n1 3000\\n1 500\\n2 100000\"";
    GOOD.replace(list, &format!("rate = \"{rate}\", size = {size}{more}"))
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
fn what_is_too_many_is_refused_and_told() {
    // 2 s each on a line of 8 Mb/s: far more than it carries.
    let outcome = outcome(&poisson("5/s", "\"2MB\"", ", max_connections = 3"), Trace::default());
    let (begun, refused) =
        (integers(&outcome, "transfers", "begun")[0], integers(&outcome, "transfers", "refused")[0]);
    assert!(refused > begun && begun >= 3, "{begun} {refused}");
}

#[test]
fn a_connection_whose_packets_were_lost_is_not_used_again_at_once() {
    let lossy = poisson("20/s", "\"20kB\"", "").replace(
        "delay = \"10ms\"",
        "delay = \"10ms\"\nloss = { model = \"bernoulli\", probability = 0.05 }",
    );
    let outcome = outcome(&lossy, Trace::default());
    let (begun, completed) =
        (integers(&outcome, "transfers", "begun")[0], integers(&outcome, "transfers", "completed")[0]);
    assert!(completed > begun * 9 / 10 && integers(&outcome, "flows", "retransmissions")[0] > 50);
    assert_eq!(integers(&outcome, "transfers", "failed")[0], 0);
    // Some 400, most of which lose a packet: the drops are accounted for, and their sockets serve others.
    let few = lossy.replace("size = \"20kB\"", "size = \"20kB\", max_connections = 60");
    let few = self::outcome(&few, Trace::default());
    assert_eq!(integers(&few, "transfers", "refused")[0], 0);
    assert_eq!(integers(&few, "transfers", "begun")[0], begun);
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
    // All octets arrive, and the way back is cut before their acknowledgements: the source gives up.
    let cut = GOOD.replace(
        "delay = \"10ms\"",
        "delay = \"10ms\"\noutages = [{ start = \"0.53s\", duration = \"18s\" }]",
    );
    let cut = cut.replace("mss = \"1000B\"", "mss = \"1000B\", max_retransmissions = 2");
    let cut = cut.replace("content = \"0.5 1000\\n1 3000\\n1 500\\n2 100000\"", "content = \"0.5 1000\"");
    let outcome = outcome(&cut, Trace::default());
    let of = |column| integers(&outcome, "transfers", column)[0];
    assert_eq!((of("begun"), of("completed"), of("failed")), (1, 1, 0));
    assert_eq!(integers(&outcome, "flows", "timeouts")[0], 3);
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
fn what_is_wrong_with_transfers_is_told() {
    let list = "content = \"0.5 1000\\n1 3000\\n1 500\\n2 100000\"";
    for (bad, message) in [
        ("content = \"1 5\\n0 5\"", "before the one"),
        ("content = \"\"", "no transfers"),
        ("max_connections = 5", "nothing says when transfers arrive"),
        ("rate = \"5/s\"", "nothing says how large a transfer is"),
        ("rate = \"0/s\", size = \"1kB\"", "at a rate above zero"),
        ("rate = \"5/s\", size = \"0B\"", "nothing to send"),
        (
            "rate = \"5/s\", size = { distribution = \"pareto\", min = \"1kB\", max = \"1MB\", shape = 0 }",
            "above zero",
        ),
        ("rate = \"5/s\", size = \"1kB\", max_connections = 0", "a connection or more"),
        ("rate = \"5/s\", size = \"1kB\", trace = \"x\"", "there is no file"),
    ] {
        let report = report_on(GOOD, list, bad);
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
