//! What `--trace segments` and `--trace rtt` record, on a path whose only losses are those of a full queue.

use roamsim_scenario::run::{Options, Outcome, Trace, run};
use roamsim_scenario::table::{Table, Values};
use roamsim_scenario::{Format, Scenario};

/// 1 Mb/s, 50 ms one way, IPv4: a segment of 1000 B takes 1000 + 20 + 20 octets. Of the initial window's ten
/// segments one is in service and four wait; the other five find the queue full.
const BURST: &str = r#"
[scenario]
name = "burst"
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
queue = { packets = 4 }
[[flow]]
name = "f"
from = "a"
to = "b"
transport = { protocol = "tcp", variant = "sack", mss = "1000B", initial_window = 10, delayed_ack = false }
application = { kind = "transfer", size = "20kB" }
"#;

fn outcome(trace: Trace) -> Outcome {
    let scenario = Scenario::parse(BURST, "burst", Format::Toml, &[]);
    let scenario = scenario.unwrap_or_else(|diagnostics| panic!("{}", diagnostics.render(false)));
    run(&scenario, Options { seed: 1, trace, fingerprints: true, ..Options::default() }).expect("it runs")
}

fn table<'a>(outcome: &'a Outcome, name: &str) -> &'a Table {
    outcome.tables.iter().find(|table| table.name == name).expect("the table")
}

/// Event, start and end in segments of 1000 B, time in microseconds.
fn events(outcome: &Outcome) -> Vec<(String, u64, u64, u64)> {
    let columns = &table(outcome, "segments").columns;
    let names = ["time_s", "kind", "name", "from", "to", "event", "reason", "start_bytes", "end_bytes"];
    assert_eq!(columns.iter().map(|column| column.name).collect::<Vec<_>>(), names);
    let [Values::Float(time), Values::Text(event), Values::Integer(start), Values::Integer(end)] =
        [0, 5, 7, 8].map(|number| columns[number].values.clone())
    else {
        panic!("the columns are time, event, start, end")
    };
    // Only the source sends data.
    for (number, only) in [(1, "flow"), (2, "f"), (3, "a"), (4, "b")] {
        let Values::Text(values) = &columns[number].values else { panic!("text") };
        assert!(values.iter().all(|value| value == only), "{values:?}");
    }
    assert!(time.is_sorted());
    (0..time.len())
        .map(|row| {
            (event[row].to_owned(), start[row] / 1000, end[row] / 1000, (time[row] * 1e6).round() as u64)
        })
        .collect()
}

fn of(rows: &[(String, u64, u64, u64)], event: &str) -> Vec<(u64, u64, u64)> {
    rows.iter().filter(|row| row.0 == event).map(|&(_, start, end, time)| (start, end, time)).collect()
}

#[test]
fn losses_acknowledgements_and_blocks_are_told_in_the_senders_stream() {
    let rows = events(&outcome(Trace { segments: true, ..Trace::default() }));
    let (sent, lost) = (of(&rows, "sent"), of(&rows, "lost"));
    // The handshake: SYN and SYN-ACK, each 40 octets (20 of TCP, 20 of IP) and their options, and 50 ms.
    let begin = sent[0].2;
    assert_eq!(sent.iter().take(10).map(|row| row.0).collect::<Vec<_>>(), (0..10).collect::<Vec<_>>());
    assert!(sent[..10].iter().all(|row| row.2 == begin));
    assert_eq!(
        lost[..5].iter().map(|&(start, end, _)| (start, end)).collect::<Vec<_>>(),
        [(5, 6), (6, 7), (7, 8), (8, 9), (9, 10)]
    );
    assert!(lost[..5].iter().all(|row| row.2 == begin), "a full queue drops at once");
    // Everything was sent for the first time once, and what was lost again.
    assert_eq!(sent.iter().map(|row| row.0).collect::<Vec<_>>(), (0..20).collect::<Vec<_>>());
    let again: Vec<u64> = of(&rows, "retransmitted").iter().map(|row| row.0).collect();
    for (start, ..) in &lost {
        assert!(again.contains(start), "segment {start} was lost and not sent again: {again:?}");
    }
    // By duplicate ACKs and blocks, all of them: RFC 6675 knows no other way but the timer.
    let told = reasons(&outcome(Trace { segments: true, ..Trace::default() }));
    assert_eq!(told, vec![("retransmitted".to_owned(), "duplicate_acks".to_owned()); again.len()]);
    // The first ACK: 8 x 1040 / 1e6 s of transmission, 50 ms, the ACK's 8 x 40 / 1e6 s, 50 ms.
    let acknowledged = of(&rows, "acknowledged");
    assert_eq!(acknowledged[0], (0, 1, begin + 8_320 + 50_000 + 320 + 50_000));
    // Each new one starts where the last ended; the others acknowledge nothing new; the last is the end.
    assert!(acknowledged.windows(2).all(|pair| pair[1].0 == pair[0].1));
    assert_eq!(acknowledged.last().expect("ACKs").1, 20);
    // Segments 10, 11, ... arrive behind the hole 5 to 9: duplicates with a block that starts at 10.
    let duplicates: Vec<_> = acknowledged.iter().filter(|row| row.0 == row.1).collect();
    assert!(duplicates.iter().filter(|row| row.0 == 5).count() >= 3);
    let blocks = of(&rows, "sacked");
    assert_eq!((blocks[0].0, blocks[0].1), (10, 11));
    assert_eq!((blocks[1].0, blocks[1].1), (10, 12));
    assert_eq!(blocks[0].2, duplicates[0].2, "a block comes with its ACK");
}

/// Event and reason of the rows that have one.
fn reasons(outcome: &Outcome) -> Vec<(String, String)> {
    let columns = &table(outcome, "segments").columns;
    let (Values::Text(event), Values::Text(reason)) = (&columns[5].values, &columns[6].values) else {
        panic!("text")
    };
    let pairs = event.iter().zip(reason.iter()).map(|(event, reason)| (event.to_owned(), reason.to_owned()));
    pairs.filter(|(_, reason)| !reason.is_empty()).collect()
}

/// One flow of 20 segments over the path without a limit of its queue, whose segments of these numbers are
/// lost, with these keys beside RACK, and a trace.
fn with_rack(lost: &str, keys: &str, trace: Trace) -> Outcome {
    let text = BURST
        .replace(
            "queue = { packets = 4 }",
            &format!("loss = {{ from = \"a\", model = \"list\", segments = {lost} }}"),
        )
        .replace("variant = \"sack\"", &format!("variant = \"sack\", rack = true{keys}"));
    let scenario = Scenario::parse(&text, "rack", Format::Toml, &[]);
    let scenario = scenario.unwrap_or_else(|diagnostics| panic!("{}", diagnostics.render(false)));
    run(&scenario, Options { seed: 1, trace, ..Options::default() }).expect("it runs")
}

/// The count of the flow in a column.
fn counted(outcome: &Outcome, name: &str) -> f64 {
    let column = table(outcome, "flows").columns.iter().find(|column| column.name == name);
    match &column.expect("the column").values {
        Values::Float(values) => values[0],
        Values::Integer(values) => values[0] as f64,
        Values::Text(_) => panic!("{name} is text"),
    }
}

#[test]
fn each_retransmission_tells_its_reason_in_the_trace_and_in_the_flow() {
    // The fourth segment is lost: RACK. Of the twenty, the last is: a probe repeats it. The probe is the 22nd
    // that goes, as the fourth went again; it is lost in turn, and the timer repairs it.
    let keys = ", tail_loss_probe = true, undo = true";
    let outcome = with_rack("[4, 21, 22]", keys, Trace { segments: true, ..Trace::default() });
    let told = reasons(&outcome);
    let told: Vec<_> = told.iter().map(|(event, reason)| (event.as_str(), reason.as_str())).collect();
    let expected = ["rack", "loss_probe", "timeout"].map(|reason| ("retransmitted", reason));
    assert_eq!(told, expected);
    let columns = ["duplicate_ack", "rack", "loss_probe", "timeout"];
    let counts = columns.map(|reason| counted(&outcome, &format!("{reason}_retransmissions")));
    assert_eq!(counts, [0.0, 1.0, 1.0, 1.0]);
    assert_eq!(counted(&outcome, "retransmissions"), 3.0);
    assert_eq!(counted(&outcome, "undone_reductions"), 0.0);
}

#[test]
fn rates_flight_and_states_of_a_sender_are_recorded() {
    let trace =
        Trace { in_flight: true, pacing: true, cwnd: true, rtt: true, states: true, ..Trace::default() };
    let outcome = with_rack("[4]", ", pacing = true", trace);
    let columns = &table(&outcome, "samples").columns;
    let (Values::Float(time), Values::Text(from), Values::Text(quantity), Values::Float(value)) =
        (&columns[0].values, &columns[3].values, &columns[5].values, &columns[6].values)
    else {
        panic!("text and numbers")
    };
    let of = |wanted: &str| -> Vec<(f64, f64)> {
        let rows = (0..value.len()).filter(|&row| &from[row] == "a" && &quantity[row] == wanted);
        rows.map(|row| (time[row], value[row])).collect()
    };
    // Ten segments of 1000 B go at once, and the first ACK takes one of them and lets two go.
    let flight = of("in_flight");
    assert_eq!(flight[..2].iter().map(|sample| sample.1).collect::<Vec<_>>(), [10_000.0, 11_000.0]);
    // In slow start two windows go in a round trip.
    let rate = of("pacing_rate")[0].1;
    let expected = 8.0 * 2.0 * 10_000.0 / of("srtt")[0].1;
    assert!((rate / expected - 1.0).abs() < 1e-3, "{rate} bit/s and not {expected}");
    // The first ACK of data tells of 1000 B in a round trip, 8 x (1040 + 40) / 1e6 s and 100 ms. The path
    // carries 1 Mb/s, of which 1000 in 1040 octets are data: nothing is delivered faster.
    let (rtt, delivered) = (0.108_64, of("delivery_rate"));
    assert!((delivered[0].1 * rtt / 8000.0 - 1.0).abs() < 1e-3, "{delivered:?}, {rtt} s");
    assert!(delivered.iter().all(|sample| sample.1 <= 1e6 * 1000.0 / 1040.0), "{delivered:?}");
    // A quarter of the smallest round trip; zero while the path has not been seen to reorder and is repaired.
    let windows = of("reordering_window");
    // The smallest is that of the handshake: 52 octets each way, with MSS, scale and SACK permitted.
    assert!((windows.last().expect("windows").1 - 0.100_832 / 4.0).abs() < 1e-6, "{windows:?}");
    assert!(windows.iter().any(|sample| sample.1 == 0.0));
    let columns = &table(&outcome, "states").columns;
    let names = ["time_s", "kind", "name", "from", "to", "state", "repair"];
    assert_eq!(columns.iter().map(|column| column.name).collect::<Vec<_>>(), names);
    let (Values::Text(state), Values::Text(repair)) = (&columns[5].values, &columns[6].values) else {
        panic!("text")
    };
    let rows: Vec<_> = state.iter().zip(repair.iter()).collect();
    let (start, avoid) = ("slow_start", "congestion_avoidance");
    assert_eq!(rows, [(start, ""), (avoid, "fast_recovery"), (avoid, "")]);
}

#[test]
fn a_round_trip_is_recorded_as_it_is_measured() {
    let outcome = outcome(Trace { rtt: true, ..Trace::default() });
    let columns = &table(&outcome, "samples").columns;
    let names = ["time_s", "kind", "name", "from", "to", "quantity", "value", "unit"];
    assert_eq!(columns.iter().map(|column| column.name).collect::<Vec<_>>(), names);
    let (Values::Text(from), Values::Text(quantity), Values::Float(value)) =
        (&columns[3].values, &columns[5].values, &columns[6].values)
    else {
        panic!("text and numbers")
    };
    // Of the sender alone: the other end measures the handshake.
    let of = |wanted: &str| -> Vec<f64> {
        (0..value.len())
            .filter(|&row| &from[row] == "a" && &quantity[row] == wanted)
            .map(|row| value[row])
            .collect()
    };
    let (measured, smoothed) = (of("rtt"), of("srtt"));
    assert_eq!(measured[0], smoothed[0], "the first measurement is the first SRTT");
    // RFC 6298 2.3: the second moves it by an eighth.
    let second = measured[0] + (measured[1] - measured[0]) / 8.0;
    assert!((smoothed[1] - second).abs() < 1e-9, "{smoothed:?}");
}

#[test]
fn tracing_changes_no_result() {
    let plain = outcome(Trace::default());
    let trace = Trace { cwnd: true, rtt: true, segments: true, ..Trace::default() };
    let traced = outcome(Trace { in_flight: true, pacing: true, states: true, ..trace });
    let (before, after) = (plain.fingerprints.expect("asked"), traced.fingerprints.expect("asked"));
    assert_eq!((before.events, before.packets), (after.events, after.packets));
    for table in &plain.tables {
        let other = traced.tables.iter().find(|other| other.name == table.name).expect("the same tables");
        assert_eq!(format!("{table:?}"), format!("{other:?}"));
    }
}

#[test]
fn probes_of_a_closed_window_are_no_retransmissions() {
    // Nothing is lost; the reader stops for 20 s, and its window of 10 kB is full at once. With an RTO of 1 s
    // from then on probes go after 1, 3, 7 and 15 s; the window opens before the next one, at 31 s.
    let transport = "mss = \"1000B\", receive_window = \"10kB\"";
    let text = BURST
        .replace("queue = { packets = 4 }", "")
        .replace("\"20s\"", "\"60s\"")
        .replace("1Mb/s", "10Mb/s")
        .replace("size = \"20kB\"", "size = \"60kB\"")
        .replace("variant = \"sack\", mss = \"1000B\", initial_window = 10, delayed_ack = false", transport)
        + "reader = { pauses = [{ start = \"0s\", stop = \"20s\" }] }\n";
    let scenario = Scenario::parse(&text, "slow", Format::Toml, &[]);
    let scenario = scenario.unwrap_or_else(|diagnostics| panic!("{}", diagnostics.render(false)));
    let trace = Trace { segments: true, ..Trace::default() };
    let outcome = run(&scenario, Options { seed: 1, trace, ..Options::default() }).expect("it runs");
    let count = |name: &str| {
        let column = table(&outcome, "flows").columns.iter().find(|column| column.name == name);
        let Values::Integer(values) = &column.expect("the column").values else { panic!("a count") };
        values[0]
    };
    assert_eq!(["delivered_bytes", "retransmissions", "window_probes"].map(count), [60_000, 0, 4]);
    // 60 segments of 1000 B and the probes.
    assert_eq!(count("segments_sent"), 64);
    let rows = events(&outcome);
    let told = ["sent", "retransmitted", "window_probe"].map(|event| of(&rows, event).len());
    assert_eq!(told, [60, 0, 4]);
}
