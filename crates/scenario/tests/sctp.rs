//! SCTP as users meet it: every kind of application over it, and what is recorded of it.

use crate::outcome;
use crate::refusal;
use roamsim_scenario::run::{Options, Outcome, Trace};
use roamsim_scenario::table::Values;

/// 1 Mb/s, 50 ms one way, IPv4. A message of 1000 B makes a packet of 20 + 12 + 16 + 1000 = 1048 octets,
/// 8.384 ms of transmission; a SACK without gaps one of 20 + 12 + 16 = 48, 0.384 ms.
const PATH: &str = r#"
[scenario]
name = "sctp"
duration = "20s"
ip = "ipv4"
[[node]]
name = "a"
[[node]]
name = "b"
[[link]]
name = "path"
between = ["a", "b"]
rate = "1Mb/s"
delay = "50ms"
"#;

fn flow(transport: &str, application: &str) -> String {
    format!(
        "{PATH}\n[[flow]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\ntransport = {{ protocol = \"sctp\", {transport} }}\n\
         application = {{ {application} }}\n"
    )
}

fn outcome(text: &str, overrides: &[(&str, &str)], trace: Trace) -> Outcome {
    outcome::of(text, overrides, Options { seed: 1, trace, fingerprints: true, ..Options::default() })
}

fn column(outcome: &Outcome, table: &str, column: &str) -> Values {
    let table = outcome.tables.iter().find(|t| t.name == table).expect("the table");
    table.columns.iter().find(|c| c.name == column).expect("the column").values.clone()
}

/// The first row's number.
fn number(outcome: &Outcome, table: &str, name: &str) -> f64 {
    match column(outcome, table, name) {
        Values::Float(values) => values[0],
        Values::Integer(values) => values[0] as f64,
        Values::Text(_) => panic!("a number was expected"),
    }
}

/// Keys of a flow's transport are refused with a message and a way out.
#[track_caller]
fn refuses(text: &str, keys: &str, message: &str, help: &str) {
    let protocol = "protocol = \"sctp\", ";
    let report = refusal::report_on(text, protocol, &format!("{protocol}{keys}, "));
    assert!(report.contains(message) && report.contains(help), "{keys}: {report}");
}

const LOSSY: (&str, &str) =
    ("link.path.loss", "{ model = \"bernoulli\", probability = 0.1, start = \"1s\" }");

#[test]
fn a_transfer_takes_the_handshake_and_its_packets() {
    let text = flow("message_size = \"1000B\"", "kind = \"transfer\", size = \"3kB\"");
    let outcome = outcome(&text, &[], Trace::default());
    // INIT 20 + 12 + 20 = 52, INIT ACK with a cookie of 31: 52 + 4 + 31 + 1 = 88, COOKIE ECHO 20 + 12 + 4 +
    // 31 + 1 = 68, COOKIE ACK 36: 244 octets, 1.952 ms, and four times 50 ms. Then three packets at once: 3 x
    // 8.384 + 50 ms.
    let expected = 0.001_952 + 0.2 + 3.0 * 0.008_384 + 0.05;
    let completion = number(&outcome, "flows", "completion_time_s");
    assert!((completion - expected).abs() < 1e-9, "{completion} and not {expected}");
    assert_eq!(number(&outcome, "flows", "segments_sent"), 3.0);
    assert_eq!(number(&outcome, "flows", "delivered_bytes"), 3000.0);
    assert_eq!(number(&outcome, "flows", "retransmissions"), 0.0);
    let Values::Text(variant) = column(&outcome, "flows", "variant") else { panic!("text") };
    assert_eq!(variant, ["rfc9260"]);
    // The handshake, three packets, two SACKs (after the second and, delayed, the third) and the shutdown's
    // three.
    let Values::Integer(packets) = column(&outcome, "links", "delivered_packets") else { panic!("integers") };
    assert_eq!(packets, [2 + 3 + 2, 2 + 2 + 1]);
}

#[test]
fn messages_arrive_once_each_in_spite_of_losses() {
    for (transport, interval_ms, messages) in [
        ("rto_min = \"200ms\"", 10, 1500.0),
        ("ordered = false, rto_min = \"200ms\"", 10, 1500.0),
        ("streams = 5, rules = \"rfc2960\", rto_min = \"200ms\"", 10, 1500.0),
        // Three chunks a message, and small windows.
        ("mtu = \"180B\", ordered = false, rto_min = \"200ms\"", 100, 150.0),
    ] {
        let application =
            format!("kind = \"cbr\", packet_size = \"300B\", interval = \"{interval_ms}ms\", stop = \"15s\"");
        // A tenth lost leaves windows small: what was written in 15 s takes longer to get through.
        let drain = ("scenario.duration", "\"90s\"");
        let outcome = outcome(&flow(transport, &application), &[LOSSY, drain], Trace::default());
        assert_eq!(number(&outcome, "flows", "sent_packets"), messages, "{transport}");
        assert_eq!(number(&outcome, "flows", "delivered_packets"), messages, "{transport}");
        assert_eq!(number(&outcome, "flows", "delivered_bytes"), 300.0 * messages, "{transport}");
        assert!(number(&outcome, "flows", "retransmissions") > 0.05 * messages, "{transport}");
    }
}

#[test]
fn order_costs_delay_and_streams_give_it_back() {
    let application = "kind = \"cbr\", packet_size = \"300B\", interval = \"10ms\", stop = \"15s\"";
    let delay = |transport: &str| {
        let outcome = outcome(&flow(transport, application), &[LOSSY], Trace::default());
        number(&outcome, "flows", "mean_delay_s")
    };
    let (one, ten, none) = (delay("streams = 1"), delay("streams = 10"), delay("ordered = false"));
    // A message that was not lost waits for the lost ones of its own stream only (RFC 9260 section 1.5.2).
    assert!(one > ten && ten > none, "{one} {ten} {none}");
    assert!(none > 0.05);
}

#[test]
fn stream_sequence_numbers_wrap_without_harm() {
    // 70,000 messages on one stream, of which 65,536 use up its sequence numbers.
    let text = flow("message_size = \"20B\"", "kind = \"transfer\", size = \"1400kB\"");
    let outcome = outcome(&text, &[("link.path.rate", "\"100Mb/s\"")], Trace::default());
    assert!(number(&outcome, "flows", "segments_sent") >= 70_000.0);
    assert_eq!(number(&outcome, "flows", "delivered_bytes"), 1_400_000.0);
    assert!(number(&outcome, "flows", "completion_time_s") < 20.0);
}

#[test]
fn a_bulk_source_delivers_nothing_after_its_stop() {
    let text = flow("message_size = \"1000B\"", "kind = \"bulk\", stop = \"10s\"");
    let outcome = outcome(&text, &[], Trace { throughput: true, ..Trace::default() });
    let Values::Float(times) = column(&outcome, "samples", "time_s") else { panic!("numbers") };
    assert!(times.last().is_some_and(|&last| last <= 10.0 && last > 9.9), "{:?}", times.last());
    // 1 Mb/s, 1000 of 1048 octets are the application's.
    let goodput = number(&outcome, "flows", "goodput_bps");
    assert!(goodput > 0.94 * 1e6 * 1000.0 / 1048.0 && goodput < 1e6 * 1000.0 / 1048.0, "{goodput}");
}

#[test]
fn requests_are_answered() {
    let application = "kind = \"request_response\", request_size = \"200B\", response_size = \"4kB\", \
                       think_time = \"100ms\", processing_time = \"5ms\"";
    let text = flow("streams = 2, rto_min = \"200ms\"", application);
    let clean = outcome(&text, &[], Trace::default());
    assert!(number(&clean, "flows", "delivered_packets") >= number(&clean, "flows", "sent_packets") - 1.0);
    assert!(number(&clean, "flows", "delivered_packets") > 60.0);
    let lossy = outcome(&text, &[LOSSY], Trace::default());
    assert!(number(&lossy, "flows", "mean_delay_s") > number(&clean, "flows", "mean_delay_s"));
    // The answers' chunks are counted beside the requests'.
    assert!(number(&clean, "flows", "segments_sent") > 3.0 * number(&clean, "flows", "sent_packets"));
}

#[test]
fn signalling_goes_over_sctp_as_over_tcp() {
    let text = format!(
        "{PATH}\n[[signalling]]\nname = \"s\"\nkind = \"request\"\nfrom = \"a\"\nto = \"b\"\n\
         transport = {{ protocol = \"sctp\", rto_min = \"200ms\" }}\nmessage_size = \"200B\"\ninterval = \"100ms\"\n\
         processing_time = \"5ms\"\nstart = \"1s\"\nstop = \"15s\"\n"
    );
    let outcome = outcome(&text, &[LOSSY], Trace::default());
    assert_eq!(number(&outcome, "signalling", "messages"), 140.0);
    assert_eq!(number(&outcome, "signalling", "success_rate"), 1.0);
    let Values::Text(transport) = column(&outcome, "signalling", "transport") else { panic!("text") };
    assert_eq!(transport, ["sctp"]);
}

/// Two accesses; the first, which is nearer by the order of the links, fails from 3 s to 13 s.
const TWO_PATHS: &str = r#"
[scenario]
name = "two paths"
ip = "ipv4"
duration = "20s"
[[node]]
name = "mn"
multihomed = true
[[node]]
name = "one"
[[node]]
name = "two"
[[node]]
name = "server"
[[link]]
name = "first"
between = ["mn", "one"]
rate = "2Mb/s"
delay = "10ms"
outages = [{ start = "3s", duration = "10s" }]
[[link]]
name = "second"
between = ["mn", "two"]
rate = "1Mb/s"
delay = "10ms"
mtu = "576B"
[[link]]
name = "core one"
between = ["one", "server"]
rate = "100Mb/s"
delay = "5ms"
[[link]]
name = "core two"
between = ["two", "server"]
rate = "100Mb/s"
delay = "5ms"
[[flow]]
name = "f"
from = "mn"
to = "server"
transport = { protocol = "sctp", path_max_retrans = 1, rto_max = "1s", heartbeat_interval = "1s", receive_window = "20kB" }
application = { kind = "bulk" }
"#;

#[test]
fn a_multihomed_association_goes_on_over_the_other_link_and_comes_back() {
    let delivered = |overrides: &[(&str, &str)], from: f64, to: f64| -> f64 {
        let outcome = outcome(TWO_PATHS, overrides, Trace { throughput: true, ..Trace::default() });
        let (Values::Float(time), Values::Float(value)) =
            (column(&outcome, "samples", "time_s"), column(&outcome, "samples", "value"))
        else {
            panic!("numbers")
        };
        let at = |until: f64| {
            let before = time.iter().zip(&value).filter(|(time, _)| **time < until);
            before.fold(0.0_f64, |most, (_, value)| most.max(*value))
        };
        8e-6 * (at(to) - at(from)) / (to - from)
    };
    // The packets fit the smaller MTU: of 576 octets 48 are headers. Up to 2 Mb/s before and after the
    // outage, up to 1 Mb/s during it, once two timeouts of 1 s and slow start are over; back by the first
    // HEARTBEAT after its end.
    let share = 528.0 / 576.0;
    for (from, to, rate) in [(1.0, 3.0, 2.0), (7.0, 13.0, 1.0), (16.0, 20.0, 2.0)] {
        let rate_mbps = delivered(&[], from, to);
        assert!(rate_mbps > 0.9 * rate * share && rate_mbps <= 1.01 * rate * share, "{from} s: {rate_mbps}");
    }
    // With one address nothing arrives until the link is back.
    assert_eq!(delivered(&[("node.mn.multihomed", "false")], 4.0, 13.0), 0.0);
}

/// Event, start and end in chunks of 1000 B, time in microseconds.
fn events(outcome: &Outcome, event: &str) -> Vec<(u64, u64, u64)> {
    let (Values::Float(time), Values::Text(events), Values::Integer(start), Values::Integer(end)) = (
        column(outcome, "segments", "time_s"),
        column(outcome, "segments", "event"),
        column(outcome, "segments", "start_bytes"),
        column(outcome, "segments", "end_bytes"),
    ) else {
        panic!("the columns of segments")
    };
    (0..time.len())
        .filter(|&row| &events[row] == event)
        .map(|row| (start[row] / 1000, end[row] / 1000, (time[row] * 1e6).round() as u64))
        .collect()
}

#[test]
fn chunks_losses_and_gap_blocks_are_recorded_where_they_are() {
    let text = flow(
        "message_size = \"1000B\", initial_window = 10, max_burst = 10, sack_frequency = 1",
        "kind = \"transfer\", size = \"20kB\"",
    );
    // A packet in service and four that wait; of the ten of the initial window, five find the queue full.
    let outcome = outcome(
        &text,
        &[("link.path.queue", "{ packets = 4 }")],
        Trace { segments: true, ..Trace::default() },
    );
    let sent = events(&outcome, "sent");
    let begin = 200_000 + 1_952;
    let first: Vec<_> = (0..10).map(|chunk| (chunk, chunk + 1, begin)).collect();
    assert_eq!(sent[..10], first);
    assert_eq!(sent.len(), 20, "twenty chunks, each sent once for the first time");
    let lost = events(&outcome, "lost");
    assert_eq!(lost[..5], first[5..]);
    let again = events(&outcome, "retransmitted");
    for &(chunk, ..) in &lost {
        assert!(
            again.iter().any(|row| row.0 == chunk),
            "chunk {chunk} was lost and not sent again: {again:?}"
        );
    }
    let acknowledged = events(&outcome, "acknowledged");
    assert_eq!(acknowledged[0], (0, 1, begin + 8_384 + 50_000 + 384 + 50_000));
    assert!(acknowledged.windows(2).all(|pair| pair[1].0 == pair[0].1));
    assert_eq!(acknowledged.last().expect("SACKs").1, 20);
    // 10, 11, ... arrive behind the hole 5 to 9.
    let blocks = events(&outcome, "sacked");
    assert_eq!((blocks[0].0, blocks[0].1), (10, 11));
    assert_eq!((blocks[1].0, blocks[1].1), (10, 12));
}

#[test]
fn tracing_changes_no_result_and_records_window_and_round_trip() {
    let text = flow("message_size = \"1000B\"", "kind = \"bulk\", stop = \"15s\"");
    let plain = outcome(&text, &[LOSSY], Trace::default());
    let all = Trace { cwnd: true, rtt: true, segments: true, packets: true, ..Trace::default() };
    let traced = outcome(&text, &[LOSSY], all);
    let (before, after) = (plain.fingerprints.expect("asked"), traced.fingerprints.expect("asked"));
    assert_eq!((before.events, before.packets), (after.events, after.packets));
    let [Values::Text(from), Values::Text(quantity), Values::Float(value)] =
        ["from", "quantity", "value"].map(|name| column(&traced, "samples", name))
    else {
        panic!("text and numbers")
    };
    let of = |wanted: &str| -> Vec<f64> {
        (0..value.len())
            .filter(|&row| &from[row] == "a" && &quantity[row] == wanted)
            .map(|row| value[row])
            .collect()
    };
    // PMDCS: 1500 - 20 - 12 = 1468; min(4 x 1468, max(2 x 1468, 4404)) = 4404.
    assert_eq!(of("cwnd")[0], 4404.0);
    // The first round trip: 8.384 + 50 + 0.384 + 50 ms and the wait behind one packet more, in ticks of 1 ms.
    let (measured, smoothed) = (of("rtt"), of("srtt"));
    assert!(measured[0] >= 0.108 && measured[0] <= 0.118, "{}", measured[0]);
    assert_eq!(measured[0], smoothed[0], "the first measurement is the first SRTT");
    assert!(of("rto").iter().all(|&rto| rto >= 1.0));
}

/// A terminal with a fast and a slow access, without outages.
fn two_accesses() -> String {
    let text = include_str!("../../../examples/sctp-multihoming.toml");
    text.replace("outages = [{ start = \"20s\", duration = \"15s\" }]\n", "")
        .replace("duration = \"60s\"", "duration = \"10s\"")
}

#[test]
fn data_goes_on_the_primary_path_that_is_named_whatever_the_order_of_links() {
    let text = two_accesses();
    let (before, fast) = text.split_once("[[link]]\nname = \"fast access\"").expect("the fast access");
    let (fast, behind) = fast.split_once("[[link]]\nname = \"core 1\"").expect("the core");
    let (fast, slow) = fast.split_once("[[link]]\n").expect("the slow access");
    let swapped = format!(
        "{before}[[link]]\n{slow}[[link]]\nname = \"fast access\"{fast}[[link]]\nname = \"core 1\"{behind}"
    );
    let sent = |text: &str, primary: Option<&str>| {
        let key = primary.map(|name| ("flow.upload.transport.primary_path", name));
        let outcome = outcome(text, key.as_slice(), Trace::default());
        let of = |name: &str| {
            let rows = outcome::texts(&outcome, "links", "name").to_vec();
            let place = rows.iter().position(|row| row == name).expect("a link");
            outcome::integers(&outcome, "links", "sent_bytes")[place]
        };
        ["fast access", "slow access"].map(of)
    };
    for primary in ["fast access", "slow access"] {
        assert_eq!(sent(&text, Some(primary)), sent(&swapped, Some(primary)), "{primary}");
    }
    // Without the key the first of two that are equally near.
    assert_eq!(sent(&text, None), sent(&text, Some("fast access")));
    assert_eq!(sent(&swapped, None), sent(&swapped, Some("slow access")));
    // 2 Mb/s for 10 s are 2.5 MB; on the other path go HEARTBEATs alone.
    let [fast, slow] = sent(&text, Some("slow access"));
    assert!(fast < 2000 && (2_300_000..=2_500_000).contains(&slow), "{fast} {slow}");
}

#[test]
fn a_primary_path_is_of_an_end_that_has_several() {
    let good = two_accesses();
    for (primary, message, help) in [
        ("primary_path = \"fast acces\"", "there is no link \"fast acces\"", "\"fast access\""),
        (
            "primary_path = \"core 1\"",
            "\"server\" has one address, and with it one path",
            "write in [[node]] \"server\": multihomed = true",
        ),
        (
            "primary_path = \"fast access\", dynamic_addresses = true",
            "with `dynamic_addresses` the station says",
            "change_primary_at",
        ),
    ] {
        refuses(&good, primary, message, help);
    }
    let elsewhere = good.replace("to = \"server\"", "to = \"hotspot\"");
    let message = "neither \"terminal\" nor \"hotspot\" is at \"core 2\"";
    refuses(&elsewhere, "primary_path = \"core 2\"", message, "write \"fast access\" or \"slow access\"");
}

/// Data of 1000 B every 50 ms, over the first of two links until that fails at 10.01 s for good.
const FAILING: &str = r#"
[scenario]
name = "failing"
duration = "40s"
ip = "ipv4"
[[node]]
name = "a"
multihomed = true
[[node]]
name = "b"
multihomed = true
[[link]]
name = "first"
between = ["a", "b"]
rate = "10Mb/s"
delay = "20ms"
outages = [{ start = "10.01s", duration = "100s" }]
[[link]]
name = "second"
between = ["a", "b"]
rate = "10Mb/s"
delay = "20ms"
[[flow]]
name = "f"
from = "a"
to = "b"
transport = { protocol = "sctp", sack_frequency = 1 }
application = { kind = "cbr", packet_size = "1000B", interval = "50ms" }
"#;

#[test]
fn a_potentially_failed_primary_path_costs_one_timeout() {
    // Messages at 0, 10.05, 20.1 and 30.15 s; one takes 1048 octets at 10 Mb/s and 20 ms.
    let transit = 0.020_838_4;
    let arrivals = |overrides: &[(&str, &str)]| {
        let interval = [("flow.f.application.interval", "10.05s")];
        let trace = Trace { throughput: true, ..Trace::default() };
        let outcome = outcome(FAILING, &[&interval[..], overrides].concat(), trace);
        let Values::Float(times) = column(&outcome, "samples", "time_s") else { panic!("numbers") };
        let mut times: Vec<_> = times.into_iter().filter(|&time| time > 10.0).collect();
        times.dedup();
        times
    };
    let check = |overrides: &[(&str, &str)], waits: [f64; 3]| {
        let got = arrivals(overrides);
        let expected = [10.05, 20.1, 30.15].iter().zip(waits).map(|(sent, wait)| sent + wait + transit);
        let fits = got.iter().zip(expected.clone()).all(|(got, expected)| (got - expected).abs() < 1e-6);
        assert!(fits && got.len() == 3, "{overrides:?}: {got:?}, not {:?}", expected.collect::<Vec<_>>());
    };
    let key = "flow.f.transport.potentially_failed_max_retrans";
    // The timeout of 1 s doubles on a path that data has to try again.
    check(&[], [1.0, 2.0, 4.0]);
    check(&[(key, "1")], [1.0, 2.0, 0.0]);
    check(&[(key, "0")], [1.0, 0.0, 0.0]);
}

/// RFC 9260 8.1: unanswered HEARTBEATs of paths without data do not count for the association.
#[test]
fn a_dead_side_path_does_not_end_an_association_whose_primary_path_works() {
    let swapped =
        FAILING.replace("name = \"first\"", "name = \"one\"").replace("name = \"second\"", "name = \"two\"");
    let overrides = [
        ("scenario.duration", "400s"),
        ("flow.f.transport.primary_path", "two"),
        ("flow.f.transport.rto_max", "1s"),
        ("flow.f.transport.path_max_retrans", "20"),
        ("flow.f.transport.potentially_failed_max_retrans", "0"),
        ("flow.f.application.interval", "30s"),
        ("link.one.outages", "[{ start = \"20s\", duration = \"370s\" }]"),
    ];
    // More HEARTBEATs of the dead path, one in each RTO of a second, than association_max_retrans.
    let outcome = outcome(&swapped, &overrides, Trace::default());
    assert_eq!(number(&outcome, "flows", "delivered_packets"), 14.0);
    let Values::Text(connection) = column(&outcome, "flows", "connection") else { panic!("text") };
    assert_eq!(connection, ["still open"]);
}

#[test]
fn potentially_failed_paths_need_room_below_inactive_ones() {
    for (keys, message, help) in [
        (
            "potentially_failed_max_retrans = 5",
            "it is never potentially failed",
            "write less than `path_max_retrans`",
        ),
        (
            "potentially_failed_max_retrans = 2, primary_switchover_max_retrans = 1",
            "the primary path switches over before",
            "write `potentially_failed_max_retrans` or more",
        ),
        (
            "primary_switchover_max_retrans = 1, dynamic_addresses = true",
            "with `dynamic_addresses` the primary path",
            "leave one of the two out",
        ),
    ] {
        refuses(FAILING, keys, message, help);
    }
}

#[test]
fn the_primary_path_that_switched_over_stays_so() {
    // The first link is back at 15 s. HEARTBEATs find it, but the second one is the primary path now.
    let sent = |switchover: &str| {
        let overrides = [
            ("link.first.outages", "[{ start = \"10.01s\", duration = \"5s\" }]"),
            ("flow.f.transport.potentially_failed_max_retrans", "0"),
            ("flow.f.transport.primary_switchover_max_retrans", switchover),
        ];
        let outcome = outcome(FAILING, &overrides, Trace::default());
        outcome::integers(&outcome, "links", "sent_bytes")[0]
    };
    // 40 s of 20 messages a second are 838 kB; 10 s of them are 210 kB.
    let (once, never) = (sent("0"), sent("5"));
    assert!((200_000..230_000).contains(&once) && (600_000..800_000).contains(&never), "{once} {never}");
}

/// A message of 1000 B every 2 s; the path is gone from 1.5 to 2.5 s, and with it the message of 2 s.
const OUTAGE: (&str, &str) = ("link.path.outages", "[{ start = \"1.5s\", duration = \"1s\" }]");

fn counted(overrides: &[(&str, &str)]) -> [f64; 4] {
    let text = flow("", "kind = \"cbr\", packet_size = \"1000B\", interval = \"2s\"");
    let overrides = [&[OUTAGE], overrides].concat();
    let outcome = outcome(&text, &overrides, Trace::default());
    ["sent_packets", "delivered_packets", "lost_packets", "retransmissions"]
        .map(|name| number(&outcome, "flows", name))
}

#[test]
fn a_message_is_given_up_when_its_lifetime_is_over() {
    // T3-rtx expires at 3 s, 1 s behind the message.
    assert_eq!(counted(&[]), [10.0, 10.0, 0.0, 1.0]);
    assert_eq!(counted(&[("flow.f.transport.max_lifetime", "1.5s")]), [10.0, 10.0, 0.0, 1.0]);
    assert_eq!(counted(&[("flow.f.transport.max_lifetime", "0.5s")]), [10.0, 9.0, 1.0, 0.0]);
    assert_eq!(counted(&[("flow.f.transport.max_retransmissions", "1")]), [10.0, 10.0, 0.0, 1.0]);
    assert_eq!(counted(&[("flow.f.transport.max_retransmissions", "0")]), [10.0, 9.0, 1.0, 0.0]);
}

#[test]
fn a_call_does_not_catch_up_after_an_outage() {
    let text = flow("", "kind = \"cbr\", packet_size = \"200B\", interval = \"20ms\", stop = \"15s\"");
    let overrides = [("link.path.outages", "[{ start = \"5s\", duration = \"3s\" }]")];
    let with = |keys: &[(&str, &str)]| {
        let outcome = outcome(&text, &[&overrides[..], keys].concat(), Trace::default());
        let of = |name: &str| number(&outcome, "flows", name);
        assert_eq!(of("sent_packets"), of("delivered_packets") + of("lost_packets"));
        [of("lost_packets"), of("p99_delay_s")]
    };
    // All of the 150 messages of 3 s arrive late, behind timeouts of 1, 2 and 4 s.
    let [lost, late] = with(&[]);
    assert!(lost == 0.0 && late > 3.0, "{lost} {late}");
    // None arrives more than its lifetime and one way late. T3-rtx expires at 6 and 8 s: the messages of the
    // last 0.2 s go out then, and those of the 2.8 s before are lost, 140, with some that wait for a SACK.
    let [lost, late] =
        with(&[("flow.f.transport.max_lifetime", "200ms"), ("flow.f.transport.ordered", "false")]);
    assert!((140.0..160.0).contains(&lost) && late < 0.26, "{lost} {late}");
}

#[test]
fn messages_alone_have_lifetimes() {
    let messages = flow("", "kind = \"cbr\", packet_size = \"200B\", interval = \"20ms\"");
    let stream = flow("", "kind = \"bulk\"");
    for (text, keys, message, help) in [
        (
            &stream,
            "max_lifetime = \"1s\"",
            "a stream that loses a message is never complete",
            "kind = \"cbr\"",
        ),
        (
            &stream,
            "max_retransmissions = 1",
            "a stream that loses a message is never complete",
            "leave it out",
        ),
        (&messages, "max_lifetime = \"0s\"", "a message without a lifetime is never sent", "\"200ms\""),
        (
            &messages,
            "max_lifetime = \"1s\", max_retransmissions = 1",
            "a message has one policy",
            "leave one of the two out",
        ),
    ] {
        refuses(text, keys, message, help);
    }
}

#[test]
fn a_forward_tsn_is_written_in_words() {
    let text = flow("max_lifetime = \"0.5s\"", "kind = \"cbr\", packet_size = \"1000B\", interval = \"2s\"");
    let outcome = outcome(&text, &[OUTAGE], Trace { packets: true, ..Trace::default() });
    let Values::Text(words) = column(&outcome, "packets", "description") else { panic!("words") };
    assert!(words.iter().any(|words| words.starts_with("FORWARD TSN ")), "no FORWARD TSN");
}
