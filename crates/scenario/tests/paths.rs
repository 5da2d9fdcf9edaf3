//! Paths that vary, as a scenario states them: rates, delays and losses over time, recorded paths, and what
//! is wrong with them.

use crate::outcome::{self, floats, integers, texts};
use crate::refusal::{refuse, report_on};
use roamsim_scenario::run::{Options, Outcome, Trace};
use roamsim_scenario::{Format, Scenario};
use std::fs;
use std::path::PathBuf;

/// Messages of 1460 octets, 1488 with headers, every 2 ms from a to b.
const GOOD: &str = r#"
[scenario]
name = "path"
duration = "1s"
ip = "ipv4"
[[node]]
name = "a"
[[node]]
name = "b"
[[link]]
name = "line"
between = ["a", "b"]
rate = "12Mb/s"
delay = "5ms"
[[flow]]
name = "call"
from = "a"
to = "b"
transport = { protocol = "udp" }
application = { kind = "cbr", packet_size = "1460B", interval = "2ms", stop = "100ms" }
"#;

fn outcome(text: &str) -> Outcome {
    let trace = Trace { messages: true, ..Trace::default() };
    outcome::of(text, &[], Options { seed: 1, trace, ..Options::default() })
}

/// When each message was delivered, in microseconds.
fn delivered_us(text: &str) -> Vec<u64> {
    floats(&outcome(text), "messages", "delivered_s").iter().map(|s| (s * 1e6).round() as u64).collect()
}

fn with(rate: &str, delay: &str) -> String {
    GOOD.replace("rate = \"12Mb/s\"", rate).replace("delay = \"5ms\"", delay)
}

#[test]
fn a_constant_in_a_table_is_a_plain_value() {
    let plain = delivered_us(GOOD);
    assert_eq!(plain[..2], [5992, 7992]);
    let table = with(
        "rate = { constant = \"12Mb/s\" }",
        "delay = [{ from = \"b\", constant = \"1s\" }, { from = \"a\", constant = \"5ms\" }]",
    );
    assert_eq!(delivered_us(&table), plain);
}

#[test]
fn a_trace_of_mahimahi_delivers_each_packet_at_its_opportunity() {
    // 1488 + 4 octets; 12 are left of an opportunity for a packet that waits. Message k is there at 2k ms.
    let path = with("rate = { opportunities = \"1\\n3\\n4\\n4\\n10\" }", "delay = \"5ms\"");
    // Opportunities: 1, 3, 4, 4, 10; 11, 13, 14, 14, 20; 21, ... Message 0 goes at 1, 1 (there at 2) at 3, 2
    // (there at 4, when both of 4 ms are gone) at 10, with the first 12 octets of message 3; the other 1480
    // of that at 11, and 24 of message 4 (there at 8), whose 1468 others go at 13 with 36 of message 5 (there
    // at 10); 1456 others at 14, with 48 of message 6 (there at 12); 1444 others at the second one of 14.
    // Message 7, there at 14, is too late for what that one leaves: 20, with 12 of message 8.
    let expected = [1, 3, 10, 11, 13, 14, 14, 20, 21];
    assert_eq!(delivered_us(&path)[..9], expected.map(|ms| 1000 * ms + 5000));
    let outcome = outcome(&path);
    // Whatever comes waits: nothing is dropped, though more comes than opportunities carry.
    assert_eq!(integers(&outcome, "links", "dropped_packets")[0], 0);
    assert_eq!(integers(&outcome, "links", "sent_packets")[0], 50);
    // 50 packets of 1492 octets in 500 opportunities of 1504.
    let used = floats(&outcome, "links", "utilisation")[0];
    assert!((used - 50.0 * 1492.0 / (500.0 * 1504.0)).abs() < 1e-9, "{used}");
}

#[test]
fn a_file_is_read_by_line_and_refused_by_line() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("paths");
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("cell.trace"), "1\n3\n4\n4\n10\n").expect("a file");
    fs::write(folder.join("back.trace"), "1\n3\n2\n").expect("a file");
    fs::write(folder.join("rate.csv"), "s,Mb/s\n0,12\n0.01,1.2\n0.02,12\n").expect("a file");
    fs::write(folder.join("negative.csv"), "0,12\n0.01,-1\n").expect("a file");
    let source = folder.join("path.toml");
    let parse = |rate: &str| {
        let text = with(rate, "delay = \"5ms\"");
        Scenario::parse(&text, source.to_str().expect("UTF-8"), Format::Toml, &[])
    };
    let read =
        parse("rate = [{ from = \"a\", mahimahi = \"cell.trace\" }, { from = \"b\", file = \"rate.csv\" }]");
    let read = read.unwrap_or_else(|diagnostics| panic!("{}", diagnostics.render(false)));
    // Filed under what was in the files: the same without them.
    let again = Scenario::parse(&read.canonical_json(), "x", Format::Json, &[]).expect("valid");
    let opportunities = again.links[0].rate[0].opportunities.as_ref();
    assert_eq!(opportunities.map(|lines| lines.text()), Some("1\n3\n4\n4\n10\n"));
    for (rate, line, message) in [
        ("rate = { mahimahi = \"back.trace\" }", "back.trace:3:1", "the time goes back, from 3 ms to 2 ms"),
        ("rate = { file = \"negative.csv\" }", "negative.csv:2:1", "\"-1\" is not a rate in Mb/s"),
        ("rate = { mahimahi = \"none.trace\" }", "path.toml:", "there is no file"),
        (
            "rate = { mahimahi = \"a\\new.trace\" }",
            "there is no file \"a\\new.trace\"",
            "write `/` between folders",
        ),
        (
            "rate = { mahimahi = 'a\\b.trace' }",
            "there is no file \"a\\\\b.trace\"",
            "write `/` between folders",
        ),
    ] {
        let report = parse(rate).expect_err(rate).render(false);
        assert!(report.contains(line) && report.contains(message), "{report}");
    }
}

#[test]
fn a_rate_a_delay_and_a_loss_change_at_their_times() {
    // 1488 octets are 11,904 bits: 992 us at 12 Mb/s, 9.92 ms at 1.2 Mb/s from 10 ms on.
    let rate = "rate = { constant = \"12Mb/s\", steps = [{ at = \"10ms\", rate = \"1.2Mb/s\" }, { at = \"30ms\", rate = \"12Mb/s\" }] }";
    let found = delivered_us(&with(rate, "delay = \"5ms\""));
    // Number 5, there at 10 ms: 19.92 + 5; number 6: 29.84; number 7 has 160 us at the slow rate, 192 bits,
    // and 11,712 at 976 us: 30.976.
    assert_eq!(found[4..8], [13_992, 24_920, 34_840, 35_976]);
    let delay = "delay = { steps = [{ at = \"0s\", delay = \"5ms\" }, { at = \"10ms\", delay = \"8ms\" }], period = \"20ms\" }";
    let found = delivered_us(&with("rate = \"12Mb/s\"", delay));
    // In each period of 20 ms ten messages, of which the first five take 5.992 ms and the others 8.992; the
    // eleventh arrives with the tenth, which would be later.
    assert_eq!(found[3..6], [11_992, 13_992, 18_992]);
    assert_eq!(found[9..13], [26_992, 26_992, 27_992, 29_992]);
    let lossy = GOOD.replace(
        "delay = \"5ms\"",
        "delay = \"5ms\"\nloss = { model = \"series\", steps = [{ at = \"0s\", probability = 0.0 }, { at = \"20ms\", probability = 1.0 }, { at = \"40ms\", probability = 0.0 }] }",
    );
    // Of 50 the ten whose last bits are sent from 20 to 40 ms.
    assert_eq!(delivered_us(&lossy).len(), 40);
}

#[test]
fn a_rate_of_nearly_nothing_is_no_walk_through_its_periods() {
    // A millionth of a bit in each millisecond: nothing arrives within the run, and the run ends.
    let trickle = "rate = { steps = [{ at = \"0s\", rate = \"1b/s\" }, { at = \"1us\", rate = \"0b/s\" }], period = \"1ms\" }";
    assert!(delivered_us(&with(trickle, "delay = \"5ms\"")).is_empty());
}

#[test]
fn a_path_changes_at_the_link_events_of_another() {
    let text = r#"
[scenario]
name = "events"
duration = "1s"
ip = "ipv4"
[[node]]
name = "a"
[[node]]
name = "b"
[[node]]
name = "c"
[[link]]
name = "line"
between = ["a", "b"]
rate = "12Mb/s"
delay = { constant = "5ms", steps = [{ on = { link = "other", event = "link_down" }, delay = "50ms" }, { on = { link = "other", event = "link_up", node = "c" }, delay = "20ms" }] }
[[link]]
name = "other"
between = ["b", "c"]
rate = "12Mb/s"
delay = "5ms"
outages = [{ start = "20ms", duration = "30ms" }]
[[flow]]
name = "call"
from = "a"
to = "b"
transport = { protocol = "udp" }
application = { kind = "cbr", packet_size = "1460B", interval = "10ms", stop = "100ms" }
"#;
    // 0.992 ms each; the link is down at 20 ms and up at 50.
    let expected = [5992, 15_992, 70_992, 80_992, 90_992, 90_992, 90_992, 90_992, 100_992, 110_992];
    assert_eq!(delivered_us(text), expected);
    let down = "link = \"other\", event = \"link_down\"";
    for (good, bad, message, help) in [
        ("node = \"c\"", "node = \"a\"", "\"a\" has no link events of \"other\"", "write \"b\" or \"c\""),
        (down, "link = \"othr\", event = \"link_down\"", "there is no link \"othr\"", "\"other\""),
        (
            down,
            "link = \"other\", event = \"link_going_down\"",
            "\"other\" never has a link_going_down",
            "write \"link_up\" or \"link_down\"",
        ),
        (
            down,
            "link = \"line\", event = \"link_down\"",
            "\"line\" has no link events",
            "a [[link]] has some with `outages`",
        ),
    ] {
        let report = report_on(text, good, bad);
        assert!(report.contains(message) && report.contains(help), "{bad}: {report}");
    }
}

#[test]
fn each_cell_of_a_medium_has_link_events_of_its_own() {
    // The walker leaves the cell in the west for that in the east, and comes back, while the telephone has a
    // message every 20 ms: all are lost between the two handovers, or, by the events of the cell in the east,
    // after the second.
    let lost = |cell: &str| {
        let on = |event, probability| {
            let on = format!("{{ link = \"{cell}\", event = \"{event}\", node = \"walker\" }}");
            format!("{{ on = {on}, probability = {probability} }}")
        };
        let start = "{ at = \"0s\", probability = 0.0 }";
        let steps = format!("{start}, {}, {}", on("link_down", "1.0"), on("link_up", "0.0"));
        let loss = format!("{{ model = \"series\", steps = [{steps}] }}");
        let example = include_str!("../../../examples/wifi-roaming.toml");
        let outcome = outcome::of(example, &[("link.core.loss", &loss)], Options::default());
        let completed_s = floats(&outcome, "handovers", "completed_s").to_vec();
        (floats(&outcome, "flows", "lost_packets")[1] * 0.02, completed_s)
    };
    let (lost_s, completed_s) = lost("west cell");
    assert_eq!(completed_s.len(), 2);
    assert!((lost_s - (completed_s[1] - completed_s[0])).abs() < 2.0, "{lost_s} {completed_s:?}");
    let (lost_s, completed_s) = lost("east cell");
    assert!((lost_s - (60.0 - completed_s[1])).abs() < 2.0, "{lost_s} {completed_s:?}");
}

#[test]
fn what_is_wrong_with_a_path_is_told_with_the_way_out() {
    for (bad, message) in [
        ("rate = { }", "this direction has no rate"),
        ("rate = { steps = [] }", "this direction has no rate"),
        ("rate = \"0b/s\"", "a rate of zero carries nothing"),
        ("rate = { steps = [{ at = \"0s\", rate = \"0b/s\" }] }", "a rate of zero carries nothing"),
        ("rate = { steps = [{ at = \"1s\", rate = \"1Mb/s\" }] }", "the value before 1s is missing"),
        (
            "rate = { steps = [{ at = \"0s\", rate = \"1Mb/s\" }, { at = \"0s\", rate = \"2Mb/s\" }] }",
            "this time is not after the one before it",
        ),
        ("rate = { steps = [{ rate = \"1Mb/s\" }] }", "the beginning of this step is missing"),
        ("rate = { content = \"0 1\\n0 2\" }", "this time is not after"),
        ("rate = { opportunities = \"5\\n3\" }", "the time goes back"),
        ("rate = { opportunities = \"0\" }", "lasts for no time"),
        ("rate = { opportunities = \"\" }", "no opportunities"),
        ("rate = { opportunities = \"4\", constant = \"1Mb/s\" }", "no effect beside a trace of mahimahi"),
        ("rate = { opportunities = \"4\" }\nmtu = \"1501B\"", "carries 1500 B of IP, the MTU is 1501 B"),
        ("rate = [{ from = \"a\", constant = \"1Mb/s\" }]", "the direction from \"b\" has no rate"),
        (
            "rate = [{ constant = \"1Mb/s\" }, { from = \"b\", constant = \"1Mb/s\" }]",
            "the direction from \"b\" has two rates",
        ),
        ("rate = { from = \"c\", constant = \"1Mb/s\" }", "\"c\" is not an end of this link"),
        (
            "rate = { steps = [{ at = \"0s\", rate = \"1Mb/s\" }, { at = \"500ms\", rate = \"2Mb/s\" }], period = \"500ms\" }",
            "begin again before the last of them",
        ),
        ("rate = { constant = \"1Mb/s\", period = \"1s\" }", "`period` has no effect"),
        ("rate = { content = \"0 2\", period = \"1s\" }", "`period` has no effect"),
        (
            "rate = { constant = \"1Mb/s\", steps = [{ at = \"0s\", rate = \"2Mb/s\" }] }",
            "`constant` never holds",
        ),
        ("rate = { constant = \"1Mb/s\", content = \"0 2\\n1 3\" }", "`constant` never holds"),
        ("rate = { content = \"0 2\", file = \"rate.csv\" }", "`file` and `content` exclude each other"),
        (
            "rate = { opportunities = \"4\", mahimahi = \"cell.trace\" }",
            "`mahimahi` and `opportunities` exclude each other",
        ),
        ("rate = 12", "`12` has no unit"),
    ] {
        let report = report_on(GOOD, "rate = \"12Mb/s\"", bad);
        assert!(report.contains(message) && report.contains("scenario.toml:"), "{bad}: {report}");
    }
    for (bad, message) in [
        ("delay = { constant = \"5ms\", reordering = true }", "overtake none"),
        (
            "delay = { constant = \"5ms\", jitter = \"1ms\", reordering = true }",
            "draw `jitter` for each packet",
        ),
        ("delay = { jitter = \"1ms\" }", "this direction has no delay"),
        (
            "delay = { constant = \"5ms\", steps = [{ at = \"1h\", delay = \"1ms\" }] }",
            "delay.steps.0.at: this starts after the run has ended",
        ),
        (
            "delay = \"5ms\"\nloss = { model = \"series\", constant = 0, steps = [{ at = \"1h\", probability = 1 }] }",
            "loss.steps.0.at: this starts after the run has ended",
        ),
        (
            "delay = { constant = \"5ms\", steps = [{ on = { link = \"line\", event = \"link_up\" }, delay = \"1ms\" }], period = \"1s\" }\noutages = [{ start = \"1ms\", duration = \"1ms\" }]",
            "cannot be part of a period",
        ),
    ] {
        let report = report_on(GOOD, "delay = \"5ms\"", bad);
        assert!(report.contains(message), "{bad}: {report}");
    }
}

#[test]
fn a_rate_in_an_override_takes_the_place_of_a_table() {
    let scenario = |value: &str| {
        let pairs = [("link.line.rate".to_owned(), value.to_owned())];
        let scenario = Scenario::parse(
            &with("rate = { opportunities = \"4\" }", "delay = \"5ms\""),
            "x",
            Format::Toml,
            &pairs,
        );
        scenario.unwrap_or_else(|diagnostics| panic!("{}", diagnostics.render(false)))
    };
    assert_eq!(scenario("3Mb/s").links[0].rate[0].constant_bps, Some(3_000_000));
    assert_eq!(scenario("{ steps = [{ at = \"0s\", rate = \"3Mb/s\" }] }").links[0].rate[0].steps.len(), 1);
}

#[test]
fn a_recorded_path_may_have_any_queue() {
    let path = with("rate = { opportunities = \"10\" }\nqueue = { packets = 5 }", "delay = \"5ms\"");
    let outcome = outcome(&path);
    // One packet each 10 ms, of five that come.
    let reasons = texts(&outcome, "drops", "reason").to_vec();
    assert_eq!(reasons, ["queue full"]);
    assert_eq!(
        integers(&outcome, "links", "sent_packets")[0] + integers(&outcome, "drops", "packets")[0],
        50
    );
    assert_eq!(integers(&outcome, "links", "max_queue_packets")[0], 5);
}

/// How often each number comes.
fn times_each(numbers: &[u64], of: usize) -> Vec<usize> {
    (0..of as u64).map(|n| numbers.iter().filter(|&&number| number == n).count()).collect()
}

#[test]
fn datagrams_that_a_path_doubles_are_delivered_twice_and_nobody_elses_draws_move() {
    let lossy = "delay = \"5ms\"\nloss = { model = \"bernoulli\", probability = 0.3 }";
    let alone = outcome(&GOOD.replace("delay = \"5ms\"", lossy));
    let doubled = |duplicate: &str| {
        outcome(&GOOD.replace("delay = \"5ms\"", &format!("{lossy}\nduplicate = {duplicate}")))
    };
    let arrived = integers(&alone, "messages", "sequence").to_vec();
    // Twice each of those that are not lost, the same as without copies; 992 us and 5 ms after each.
    let all = doubled("1");
    let expected: Vec<u64> = arrived.iter().flat_map(|&number| [number; 2]).collect();
    assert_eq!(integers(&all, "messages", "sequence").to_vec(), expected);
    assert!(floats(&all, "messages", "delay_s").iter().all(|s| (s - 0.005_992).abs() < 1e-9));
    assert_eq!(integers(&all, "links", "sent_packets")[0], 50);
    assert_eq!(integers(&all, "links", "delivered_packets")[0], 2 * arrived.len() as u64);
    let some = doubled("0.3");
    let some = times_each(integers(&some, "messages", "sequence"), 50);
    assert!(some.contains(&1) && some.contains(&2));
    let there: Vec<bool> = some.iter().map(|&times| times > 0).collect();
    assert_eq!(there, times_each(&arrived, 50).iter().map(|&times| times > 0).collect::<Vec<_>>());
    // Only in the other direction: none.
    let other = doubled("[{ from = \"b\", probability = 1 }]");
    assert_eq!(integers(&other, "messages", "sequence").to_vec(), arrived);
    for (bad, message) in [
        ("duplicate = 1.5", "probability"),
        ("duplicate = { from = \"c\", probability = 0.1 }", "\"c\" is not an end of this link"),
        ("duplicate = [{ probability = 0.1 }, { from = \"a\", probability = 0.1 }]", "has two duplicates"),
    ] {
        let report = report_on(GOOD, "delay = \"5ms\"", &format!("delay = \"5ms\"\n{bad}"));
        assert!(report.contains(message), "{bad}: {report}");
    }
}

#[test]
fn streams_over_a_path_that_doubles_packets_are_delivered_once() {
    // 8 Mb/s would carry them in 0.2 s and more; both directions lose and double packets.
    for transport in [
        "protocol = \"tcp\", variant = \"sack\"",
        "protocol = \"tcp\", variant = \"cubic\"",
        "protocol = \"sctp\"",
    ] {
        let text = GOOD
            .replace("duration = \"1s\"", "duration = \"60s\"")
            .replace(
                "delay = \"5ms\"",
                "delay = \"5ms\"\nloss = { model = \"bernoulli\", probability = 0.02 }\nduplicate = 0.3",
            )
            .replace("protocol = \"udp\"", transport)
            .replace(
                "kind = \"cbr\", packet_size = \"1460B\", interval = \"2ms\", stop = \"100ms\"",
                "kind = \"transfer\", size = \"200kB\"",
            );
        let trace = Trace { packets: true, ..Trace::default() };
        let outcome = outcome::of(&text, &[], Options { seed: 1, trace, ..Options::default() });
        assert_eq!(integers(&outcome, "flows", "delivered_bytes")[0], 200_000, "{transport}");
        assert_eq!(texts(&outcome, "flows", "connection").to_vec(), ["completed"], "{transport}");
        let events = texts(&outcome, "packets", "event").to_vec();
        let count = |name: &str| events.iter().filter(|event| *event == name).count();
        // Each copy is a packet of its own.
        assert!(count("duplicated") > 20, "{transport}");
        assert_eq!(count("sent") + count("duplicated"), count("delivered") + count("dropped"), "{transport}");
    }
}

#[test]
fn packets_take_the_route_whose_links_cost_least() {
    let around = |cost: &str, more: &str| {
        let links = [("up", "a", "r"), ("down", "r", "b")].map(|(name, a, b)| {
            let ends = format!("between = [\"{a}\", \"{b}\"]");
            format!("[[link]]\nname = \"{name}\"\n{ends}\nrate = \"12Mb/s\"\ndelay = \"5ms\"\n")
        });
        let line = format!("delay = \"5ms\"\n{cost}");
        let text = GOOD.replace("delay = \"5ms\"", &line);
        text.replace("[[flow]]", &format!("{more}[[node]]\nname = \"r\"\n{}[[flow]]", links.concat()))
    };
    // 5.992 ms over one link. Of two ways that cost 2 the line was described first; what costs 3 is passed
    // by.
    assert_eq!(delivered_us(&around("", ""))[0], 5992);
    assert_eq!(delivered_us(&around("cost = 2", ""))[0], 5992);
    assert_eq!(delivered_us(&around("cost = 3", ""))[0], 2 * 5992);
    // An MTU that only the way passed by has is no limit.
    let narrow = "cost = 3\nmtu = \"1000B\"";
    assert_eq!(delivered_us(&around(narrow, ""))[0], 2 * 5992);
    // On the way that packets take, fragments of 996 and 512 octets.
    assert_eq!(delivered_us(&around("mtu = \"1000B\"", ""))[0], 6005);
    let beside =
        "[[link]]\nname = \"beside\"\nbetween = [\"b\", \"a\"]\nrate = \"12Mb/s\"\ndelay = \"5ms\"\n";
    let report = refuse(&around("cost = 2", beside));
    assert!(
        report.contains("no packet takes \"line\", because the cheaper \"beside\" joins the same two nodes"),
        "{report}"
    );
    let report = refuse(&around("", beside));
    assert!(
        report.contains("no packet takes \"beside\", because an earlier \"line\" joins the same two nodes"),
        "{report}"
    );
    assert!(refuse(&around("cost = 0", "")).contains("a link costs 1 or more"));
    // One that has no room in 16 bits is no small one.
    let report = refuse(&around("", &beside.replace("delay", "cost = 65536\ndelay")));
    assert!(report.contains("65536") && !report.contains("no packet takes \"line\""), "{report}");
}

#[test]
fn a_file_of_which_only_the_first_value_holds_is_warned_of() {
    let warned = |rate: &str, delay: &str| {
        let scenario = Scenario::parse(&with(rate, delay), "x", Format::Toml, &[])
            .unwrap_or_else(|diagnostics| panic!("{}", diagnostics.render(false)));
        scenario.warnings.concat()
    };
    let (rate, delay) = ("rate = \"12Mb/s\"", "delay = \"5ms\"");
    // The run takes a second.
    for (rate, delay, message) in [
        (
            "rate = { content = \"0,1\\n1000,5\\n2000,2\" }",
            delay,
            "of 3 values only the first falls into the run",
        ),
        ("rate = { content = \"1000000,1\\n1000001,5\" }", delay, "of 2 values only the first"),
        (rate, "delay = { content = \"0,1\\n1,5\" }", "of 2 values only the first"),
        (
            rate,
            "delay = { constant = \"5ms\", content = \"1000,1\" }",
            "no value of this file falls into the run",
        ),
        (rate, "delay = \"5ms\"\nloss = { model = \"series\", content = \"0,0.1\\n30,0.2\" }", "of 2 values"),
        ("rate = { opportunities = \"0\\n1000\\n2000\" }", delay, "of 3 opportunities only the first"),
    ] {
        let found = warned(rate, delay);
        assert!(found.contains(message), "{rate} {delay}: {found}");
    }
    // One value all the time is meant, and so are values that go on behind the end.
    for rate in ["rate = { content = \"0,12\" }", "rate = { content = \"0,12\\n0.9,6\\n30,5\" }"] {
        assert_eq!(warned(rate, delay), "");
    }
}
