//! Flows with data in both directions of one connection.

use roamsim_scenario::run::{Options, Outcome, Trace, run};
use roamsim_scenario::table::Values;
use roamsim_scenario::{Format, Scenario};

/// 1 Mb/s each way, 20 ms one way.
const PATH: &str = r#"
[scenario]
name = "both ways"
duration = "60s"
ip = "ipv4"
[[node]]
name = "a"
[[node]]
name = "b"
[[link]]
name = "path"
between = ["a", "b"]
rate = "1Mb/s"
delay = "20ms"
"#;

const POISSON: &str = r#"kind = "poisson", packet_size = "500B", mean_interval = "50ms", start = "1s""#;

fn flow(transport: &str, application: &str) -> String {
    format!(
        "{PATH}[[flow]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\nbidirectional = true\n\
         transport = {{ {transport} }}\napplication = {{ {application} }}\n"
    )
}

fn outcome(text: &str, trace: Trace) -> Outcome {
    let scenario = Scenario::parse(text, "both ways", Format::Toml, &[]);
    let scenario = scenario.unwrap_or_else(|diagnostics| panic!("{}", diagnostics.render(false)));
    run(&scenario, Options { seed: 1, trace, ..Options::default() }).expect("the run succeeds")
}

fn numbers(outcome: &Outcome, table: &str, column: &str) -> Vec<f64> {
    let table = outcome.tables.iter().find(|t| t.name == table).expect("the table");
    match &table.columns.iter().find(|c| c.name == column).expect("the column").values {
        Values::Float(values) => values.clone(),
        Values::Integer(values) => values.iter().map(|&value| value as f64).collect(),
        Values::Text(_) => panic!("numbers were expected"),
    }
}

fn texts(outcome: &Outcome, table: &str, column: &str) -> Vec<String> {
    let table = outcome.tables.iter().find(|t| t.name == table).expect("the table");
    match &table.columns.iter().find(|c| c.name == column).expect("the column").values {
        Values::Text(values) => values.to_vec(),
        _ => panic!("text was expected"),
    }
}

/// Both directions' value of a column of `flows`.
fn both(outcome: &Outcome, column: &str) -> [f64; 2] {
    numbers(outcome, "flows", column).try_into().expect("two directions")
}

#[test]
fn each_direction_is_a_flow_with_a_source_of_its_own() {
    let text = flow("protocol = \"tcp\"", POISSON);
    let result = outcome(&text, Trace::default());
    assert_eq!(texts(&result, "flows", "name"), ["f", "f"]);
    assert_eq!(texts(&result, "flows", "direction"), ["forward", "reverse"]);
    assert_eq!(texts(&result, "flows", "from"), ["a", "b"]);
    assert_eq!(texts(&result, "flows", "to"), ["b", "a"]);
    assert_eq!(texts(&result, "flows", "from"), ["a", "b"]);
    assert_eq!(texts(&result, "flows", "to"), ["b", "a"]);
    // 59 s of 20 packets a second: 1180 in the mean, deviation 34.
    let sent = both(&result, "sent_packets");
    assert!(sent.iter().all(|sent| (1180.0 - 4.0 * 34.0..1180.0 + 4.0 * 34.0).contains(sent)), "{sent:?}");
    assert_ne!(sent[0], sent[1]);
    let delivered = both(&result, "delivered_packets");
    assert!((0..2).all(|at| delivered[at] > sent[at] - 10.0), "{sent:?} {delivered:?}");
    // What is added at the sink leaves the source as it was.
    let one_way = outcome(&text.replace("bidirectional = true", ""), Trace::default());
    assert_eq!(numbers(&one_way, "flows", "sent_packets"), [sent[0]]);
}

#[test]
fn one_connection_carries_both_and_data_carries_acknowledgements() {
    // A packet each way every 20 ms, and 40 ms of round trip. Each end has data to send within 20 ms of any
    // segment.
    let application = r#"kind = "cbr", packet_size = "500B", interval = "20ms", start = "1s""#;
    let packets = |transport: &str| {
        let result = outcome(&flow(transport, application), Trace { packets: true, ..Trace::default() });
        let sent =
            texts(&result, "packets", "event").into_iter().zip(texts(&result, "packets", "description"));
        let sent: Vec<String> = sent.filter(|(event, _)| event == "sent").map(|(_, packet)| packet).collect();
        let count = |part: &str| sent.iter().filter(|packet| packet.contains(part)).count();
        assert_eq!(count("S"), 2, "one connection: a SYN and a SYN-ACK");
        let data = count("[message");
        assert_eq!(both(&result, "delivered_packets"), both(&result, "sent_packets").map(|sent| sent - 1.0));
        (data, sent.len() - data - 2)
    };
    // 59 s of 50 packets a second each way. At first, before the connection is up, two wait and share a
    // segment.
    let (data, alone) = packets("protocol = \"tcp\", nagle = false, delayed_ack_count = 1000");
    assert!((5890..=5900).contains(&data), "{data}");
    assert!(alone <= 5, "{alone} acknowledgements went alone");
    // Each alone: as many as there are data segments, and the end of the handshake.
    let (data, alone) =
        packets("protocol = \"tcp\", nagle = false, delayed_ack = false, piggyback_acks = false");
    assert!((5890..=5900).contains(&data), "{data}");
    assert!((data - 5..=data + 5).contains(&alone), "{alone} of {data}");
    // One-way connections do the same. Their delayed ACKs go alone too: one for each sixth packet of 500 B,
    // the first to exceed two full-sized segments of 1460 B. 59 s of 50 / 6 a second each way make 983.
    let (data, alone) =
        packets("protocol = \"tcp\", nagle = false, delayed_ack = false, one_way_connections = true");
    assert!((data - 5..=data + 5).contains(&alone), "{alone} of {data}");
    let (_, alone) = packets("protocol = \"tcp\", nagle = false, one_way_connections = true");
    assert!((970..=995).contains(&alone), "{alone} acknowledgements went alone");
    // By default data carries those that wait, so that few are left.
    let (_, alone) = packets("protocol = \"tcp\", nagle = false");
    assert!(alone <= 10, "{alone} acknowledgements went alone");
}

#[test]
fn greedy_sources_fill_both_directions_of_the_link_and_stop_together() {
    // Windows of 16 KiB, which the queues hold. A segment of 1460 B is a packet of 1500 B: 1 Mb/s are 973
    // kb/s of data, where acknowledgements ride on it. Were they packets of 40 B beside every second one, 960
    // would be left. SCTP: 1452 B or less in 1500 B.
    for (transport, least_bps) in
        [("protocol = \"tcp\", receive_window = \"16KiB\"", 962e3), ("protocol = \"sctp\"", 900e3)]
    {
        let application = "kind = \"bulk\", start = \"1s\", stop = \"31s\"";
        let result = outcome(&flow(transport, application), Trace::default());
        let goodput = both(&result, "goodput_bps");
        assert!(goodput.iter().all(|bps| (least_bps..973.4e3).contains(bps)), "{transport}: {goodput:?}");
        assert_eq!(both(&result, "stop_s"), [31.0, 31.0]);
        assert!(both(&result, "sent_packets").iter().all(|count| count.is_nan()));
    }
}

#[test]
fn a_transfer_is_complete_in_both_directions_even_where_one_is_slower() {
    let lossy = PATH.replace(
        "delay = \"20ms\"",
        "delay = \"20ms\"\nloss = { from = \"b\", model = \"bernoulli\", probability = 0.1 }",
    );
    for transport in ["protocol = \"tcp\"", "protocol = \"sctp\"", "protocol = \"sctp\", streams = 3"] {
        let text = flow(transport, "kind = \"transfer\", size = \"300kB\"").replace(PATH, &lossy);
        let result = outcome(&text, Trace::default());
        let seconds = both(&result, "completion_time_s");
        // 300 kB take 2.4 s and more; what comes from "b" is repeated.
        assert!(seconds[0] > 2.4 && seconds[1] > seconds[0], "{transport}: {seconds:?}");
        assert_eq!(both(&result, "delivered_bytes"), [300_000.0, 300_000.0], "{transport}");
    }
}

#[test]
fn datagrams_lost_in_one_direction_are_not_the_others() {
    let lossy = PATH.replace(
        "delay = \"20ms\"",
        "delay = \"20ms\"\nloss = { from = \"b\", model = \"bernoulli\", probability = 0.5 }",
    );
    let application = r#"kind = "cbr", packet_size = "160B", interval = "20ms""#;
    let result = outcome(&flow("protocol = \"udp\"", application).replace(PATH, &lossy), Trace::default());
    assert_eq!(both(&result, "sent_packets"), [3000.0, 3000.0]);
    let lost = both(&result, "lost_packets");
    // Half of 3000, deviation 27; the last datagrams are on their way at the end.
    assert!(lost[0] == 0.0 && (1390.0..1610.0).contains(&lost[1]), "{lost:?}");
    let delivered = both(&result, "delivered_packets");
    assert!(delivered[0] >= 2997.0 && delivered[1] + lost[1] >= 2997.0, "{delivered:?}");
}

#[test]
fn traces_tell_the_directions_apart() {
    let trace = Trace {
        messages: true,
        segments: true,
        throughput: true,
        cwnd: true,
        backlog: true,
        ..Trace::default()
    };
    for transport in ["protocol = \"tcp\"", "protocol = \"sctp\""] {
        let result = outcome(&flow(transport, POISSON), trace);
        for (from, at) in [("a", 0), ("b", 1)] {
            let sources = texts(&result, "messages", "from");
            let sequences: Vec<f64> = sources
                .iter()
                .zip(numbers(&result, "messages", "sequence"))
                .filter_map(|(source, sequence)| (source == from).then_some(sequence))
                .collect();
            assert_eq!(sequences.len() as f64, both(&result, "delivered_packets")[at]);
            assert!(sequences.iter().enumerate().all(|(number, &sequence)| sequence == number as f64));
            let senders = texts(&result, "segments", "from");
            let sent = senders.iter().zip(texts(&result, "segments", "event"));
            let sent = sent.filter(|(sender, event)| *sender == from && event == "sent");
            assert_eq!(sent.count() as f64, both(&result, "segments_sent")[at], "{transport}");
            let quantities = texts(&result, "samples", "quantity");
            let series: Vec<_> = texts(&result, "samples", "from").into_iter().zip(quantities).collect();
            let kinds: &[&str] = if transport.contains("tcp") {
                &["delivered", "cwnd", "backlog"]
            } else {
                &["delivered", "cwnd"]
            };
            for what in kinds {
                let wanted = (from.to_owned(), (*what).to_owned());
                assert!(series.contains(&wanted), "{transport} {from} {what}");
            }
        }
    }
}

#[test]
fn data_that_acknowledges_nothing_new_is_no_duplicate_ack() {
    // Nothing is lost, and each acknowledgement goes alone and ahead of data: what the data tells is known by
    // then.
    let transport = "protocol = \"tcp\", nagle = false, delayed_ack = false, piggyback_acks = false";
    let result = outcome(&flow(transport, POISSON), Trace { segments: true, ..Trace::default() });
    let rows = texts(&result, "segments", "event").into_iter().zip(
        numbers(&result, "segments", "start_bytes").into_iter().zip(numbers(
            &result,
            "segments",
            "end_bytes",
        )),
    );
    let heard: Vec<_> = rows.filter(|(event, _)| event == "acknowledged").collect();
    assert!(heard.len() > 2000, "{}", heard.len());
    assert!(heard.iter().all(|(_, (start, end))| start < end));
}
