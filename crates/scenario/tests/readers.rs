//! Applications that read slowly or stop reading: flow control from end to end.

use roamsim_scenario::run::{Options, Outcome, Trace, run};
use roamsim_scenario::table::Values;
use roamsim_scenario::{Format, Scenario};

/// 10 Mb/s each way, 10 ms one way; a flow from a to b.
fn scenario(duration: &str, transport: &str, flow: &str) -> String {
    format!(
        "[scenario]\nname = \"readers\"\nduration = \"{duration}\"\nip = \"ipv4\"\n[[node]]\nname = \"a\"\n[[node]]\n\
         name = \"b\"\n[[link]]\nname = \"path\"\nbetween = [\"a\", \"b\"]\nrate = \"10Mb/s\"\ndelay = \"10ms\"\n\
         [[flow]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\ntransport = {{ protocol = \"tcp\", {transport} }}\n{flow}\n"
    )
}

fn outcome(text: &str, trace: Trace) -> Outcome {
    let scenario = Scenario::parse(text, "readers", Format::Toml, &[]);
    let scenario = scenario.unwrap_or_else(|diagnostics| panic!("{}", diagnostics.render(false)));
    run(&scenario, Options { seed: 1, trace, ..Options::default() }).expect("the run succeeds")
}

fn values<'a>(outcome: &'a Outcome, table: &str, column: &str) -> &'a Values {
    let table = outcome.tables.iter().find(|t| t.name == table).expect("the table");
    &table.columns.iter().find(|c| c.name == column).expect("the column").values
}

fn numbers(outcome: &Outcome, table: &str, column: &str) -> Vec<f64> {
    match values(outcome, table, column) {
        Values::Float(values) => values.clone(),
        Values::Integer(values) => values.iter().map(|&value| value as f64).collect(),
        Values::Text(_) => panic!("numbers were expected"),
    }
}

fn texts(outcome: &Outcome, table: &str, column: &str) -> Vec<String> {
    match values(outcome, table, column) {
        Values::Text(values) => values.to_vec(),
        _ => panic!("text was expected"),
    }
}

/// Time and description of each packet that a node sends.
fn sent(outcome: &Outcome, node: &str) -> Vec<(f64, String)> {
    let (nodes, events) = (texts(outcome, "packets", "node"), texts(outcome, "packets", "event"));
    let rows =
        numbers(outcome, "packets", "time_s").into_iter().zip(texts(outcome, "packets", "description"));
    let of_node = |i: &usize| nodes[*i] == node && events[*i] == "sent";
    rows.enumerate().filter(|(i, _)| of_node(i)).map(|(_, row)| row).collect()
}

fn packets() -> Trace {
    Trace { packets: true, ..Trace::default() }
}

#[test]
fn a_reader_with_a_rate_holds_its_sender_to_it() {
    let flow = "application = { kind = \"bulk\" }\nreader = { read_rate = \"1Mb/s\" }";
    let result = outcome(&scenario("60s", "receive_window = \"64KiB\"", flow), Trace::default());
    // 1 Mb/s from the first octet on, which arrives after 31.2 ms (handshake and one segment of 1500 B at 10
    // Mb/s); no octet comes twice.
    let delivered = numbers(&result, "flows", "delivered_bytes")[0];
    assert!((7_496_000.0 - 2048.0..7_496_000.0 + 2048.0).contains(&delivered), "{delivered}");
    assert_eq!(numbers(&result, "flows", "retransmissions"), [0.0]);
}

#[test]
fn what_arrives_in_a_pause_is_delivered_when_it_is_over() {
    let flow = "application = { kind = \"cbr\", packet_size = \"100B\", interval = \"1s\", start = \"1s\", stop = \"2s\" }\n\
                reader = { pauses = [{ start = \"500ms\", stop = \"3s\" }] }";
    let result = outcome(&scenario("10s", "", flow), Trace::default());
    assert_eq!(numbers(&result, "flows", "mean_delay_s"), [2.0]);
}

#[test]
fn a_transfer_is_complete_when_it_is_read_and_closes_then() {
    let flow = "application = { kind = \"transfer\", size = \"20kB\" }\nreader = { pauses = [{ start = \"0s\", stop = \"5s\" }] }";
    let result = outcome(&scenario("10s", "receive_window = \"30kB\"", flow), packets());
    assert_eq!(numbers(&result, "flows", "completion_time_s"), [5.0]);
    let fin = sent(&result, "b").into_iter().find(|(_, text)| text.contains("F."));
    assert_eq!(fin.map(|(time, _)| time), Some(5.0));
    assert_eq!(texts(&result, "flows", "connection"), ["completed"]);
}

/// What waits for its reader until the run ends is not delivered, and the connection is as open as its reader
/// leaves it.
#[test]
fn a_transfer_that_is_not_read_is_not_complete() {
    let flow = "application = { kind = \"transfer\", size = \"20kB\" }\nreader = { pauses = [{ start = \"0s\", stop = \"50s\" }] }";
    let result = outcome(&scenario("10s", "receive_window = \"30kB\"", flow), packets());
    assert!(numbers(&result, "flows", "completion_time_s")[0].is_nan());
    assert_eq!(numbers(&result, "flows", "delivered_bytes"), [0.0]);
    assert_eq!(texts(&result, "flows", "connection"), ["still open"]);
    // The sender's FIN has been acknowledged long since: FIN-WAIT-2, in which nothing is repeated.
    assert!(sent(&result, "a").iter().all(|&(time, _)| time < 1.0));
}

/// RFC 9293 3.6.1: an application that closes with data unread has its connection reset, as of a download
/// that is cancelled.
#[test]
fn a_reader_that_stops_resets_the_connection() {
    let flow = "application = { kind = \"bulk\" }\nreader = { read_rate = \"1Mb/s\", stop = \"5s\" }";
    let result = outcome(&scenario("10s", "receive_window = \"64KiB\"", flow), packets());
    assert_eq!(texts(&result, "flows", "connection"), ["reset"]);
    // 1 Mb/s from the first octet on, which arrives after 31.2 ms, until the stop: 4.9688 s x 125,000 B/s =
    // 621,100 B.
    let delivered = numbers(&result, "flows", "delivered_bytes")[0];
    assert!((621_100.0 - 2048.0..621_100.0 + 2048.0).contains(&delivered), "{delivered}");
    let of_b = sent(&result, "b");
    let after: Vec<_> = of_b.iter().filter(|(time, _)| *time >= 5.0).collect();
    assert!(after[0].0 == 5.0 && after.iter().all(|(_, text)| text.contains("[R")), "{after:?}");
    // It takes 10 ms and what one segment without data takes.
    assert!(sent(&result, "a").iter().all(|&(time, _)| time < 5.0101));
}

/// The same where everything was read: a FIN, and a reset for what comes afterwards.
#[test]
fn what_arrives_after_its_reader_has_stopped_is_answered_by_a_reset() {
    let flow = "application = { kind = \"cbr\", packet_size = \"100B\", interval = \"1s\", start = \"1s\" }\n\
                reader = { stop = \"3.5s\" }";
    let result = outcome(&scenario("10s", "", flow), packets());
    assert_eq!(texts(&result, "flows", "connection"), ["reset"]);
    // Those of 1, 2 and 3 s are read; that of 4 s is lost on arrival, and those of 5 to 9 s have no
    // connection any more.
    assert_eq!(numbers(&result, "flows", "delivered_packets"), [3.0]);
    assert_eq!(numbers(&result, "flows", "lost_packets"), [5.0]);
    let after: Vec<_> = sent(&result, "b").into_iter().filter(|(time, _)| *time >= 3.5).collect();
    let [(fin, fin_text), (reset, reset_text)] = &after[..] else { panic!("{after:?}") };
    assert!(*fin == 3.5 && fin_text.contains("[F.]"), "{after:?}");
    assert!((4.01..4.011).contains(reset) && reset_text.contains("[R"), "{after:?}");
}

/// A source that has sent everything before its reader stops is told by a FIN, and closes too; a transfer
/// that was read before is what it is without the stop.
#[test]
fn a_reader_that_stops_with_nothing_left_to_come_closes() {
    let flow = "application = { kind = \"cbr\", packet_size = \"100B\", interval = \"1s\", start = \"1s\", stop = \"3s\" }\n\
                reader = { stop = \"5s\" }";
    let result = outcome(&scenario("10s", "", flow), Trace::default());
    assert_eq!(texts(&result, "flows", "connection"), ["completed"]);
    assert_eq!(numbers(&result, "flows", "delivered_packets"), [2.0]);
    let transfer = |reader: &str| {
        let flow =
            format!("application = {{ kind = \"transfer\", size = \"20kB\" }}\nreader = {{ {reader} }}");
        outcome(&scenario("10s", "receive_window = \"30kB\"", &flow), packets())
    };
    let [with, without] = ["read_rate = \"1Mb/s\", stop = \"5s\"", "read_rate = \"1Mb/s\""].map(transfer);
    assert_eq!(texts(&with, "flows", "connection"), ["completed"]);
    assert_eq!(sent(&with, "a"), sent(&without, "a"));
    assert_eq!(sent(&with, "b"), sent(&without, "b"));
}

/// The path is cut when everything has been read but before the sink's FIN arrives: it gives up in LAST-ACK,
/// and over SCTP in SHUTDOWN-ACK-SENT. Everything was delivered, both ends have closed: nothing has timed
/// out.
#[test]
fn whose_last_acknowledgement_is_missing_is_completed() {
    let outages = |start: &str, text: &str| {
        let outages = format!("delay = \"10ms\"\noutages = [{{ start = \"{start}\", duration = \"100s\" }}]");
        text.replace("delay = \"10ms\"", &outages)
    };
    let flow = "application = { kind = \"transfer\", size = \"20kB\" }\nreader = { pauses = [{ start = \"0s\", stop = \"5s\" }] }";
    let tcp = scenario("60s", "receive_window = \"30kB\", max_retransmissions = 2", flow);
    let result = outcome(&outages("4.9s", &tcp), packets());
    let given_up =
        sent(&result, "b").iter().filter(|(time, text)| *time >= 5.0 && text.contains("[F.]")).count();
    assert_eq!(given_up, 3);
    assert_eq!(texts(&result, "flows", "connection"), ["completed"]);
    assert_eq!(numbers(&result, "flows", "completion_time_s"), [5.0]);
    // Over SCTP: INIT, INIT ACK, COOKIE ECHO, COOKIE ACK, data and SACK take six times 10 ms and a little,
    // SHUTDOWN 10 more: SHUTDOWN ACK is on the path at 75 ms.
    let sctp = scenario(
        "60s",
        "association_max_retrans = 2, sack_frequency = 1",
        "application = { kind = \"transfer\", size = \"1kB\" }",
    )
    .replace("protocol = \"tcp\"", "protocol = \"sctp\"");
    let result = outcome(&outages("75ms", &sctp), packets());
    let given_up = sent(&result, "b").iter().filter(|(_, text)| text.contains("SHUTDOWN ACK")).count();
    assert_eq!(given_up, 3);
    assert_eq!(texts(&result, "flows", "connection"), ["completed"]);
}

/// RFC 9293 3.8.6.1: with both windows closed each end probes, at its RTO of 1 s and at doubled intervals,
/// and each probe is answered: four probes an end, 1, 3, 7 and 15 s after the windows closed, and as many
/// answers. An ACK beyond the other's window would be refused by another one, for ever.
#[test]
fn two_closed_windows_are_quiet() {
    let pause = "{ pauses = [{ start = \"2s\", stop = \"20s\" }] }";
    let flow = format!(
        "application = {{ kind = \"bulk\" }}\nbidirectional = true\nreader = {pause}\nreverse_reader = {pause}"
    );
    let result = outcome(&scenario("40s", "receive_window = \"30kB\"", &flow), packets());
    for node in ["a", "b"] {
        let quiet = sent(&result, node).iter().filter(|(time, _)| (3.0..19.0).contains(time)).count();
        assert_eq!(quiet, 4 + 4, "packets of {node}");
    }
    // Both go on, 30 kB a round trip of some 35 ms for 22 s.
    let delivered = numbers(&result, "flows", "delivered_bytes");
    assert!(delivered.iter().all(|&bytes| bytes > 18e6), "{delivered:?}");
    // The first of the four takes the 800 octets that 20 segments of 1460 leave of the window, the other
    // three probe with an octet. That goes again with the first segment after the pause, as new data.
    assert_eq!(numbers(&result, "flows", "window_probes"), [3.0, 3.0]);
    assert_eq!(numbers(&result, "flows", "retransmissions"), [0.0, 0.0]);
}

/// One window closed: the data of the other direction goes on, and what acknowledges it is heard.
#[test]
fn a_closed_window_does_not_stop_the_other_direction() {
    let flow = "application = { kind = \"bulk\" }\nbidirectional = true\n\
                reader = { pauses = [{ start = \"2s\", stop = \"20s\" }] }";
    let result = outcome(&scenario("20s", "receive_window = \"30kB\"", flow), Trace::default());
    assert_eq!(numbers(&result, "flows", "timeouts"), [0.0, 0.0]);
    // 30 kB a round trip of some 44 ms: above 5 Mb/s.
    let delivered = numbers(&result, "flows", "delivered_bytes");
    assert!(delivered[1] > 20.0 * 5e6 / 8.0, "{delivered:?}");
}

/// A transfer that fills the window to its last octet has nothing but its FIN to probe with. Each probe is
/// answered (RFC 9293 3.10.7.4, first), so that the sender does not give up, which it does after three
/// unanswered ones.
#[test]
fn a_fin_at_a_closed_window_is_answered() {
    let flow = "application = { kind = \"transfer\", size = \"29200B\" }\n\
                reader = { pauses = [{ start = \"0s\", stop = \"100s\" }] }";
    let text = scenario("200s", "receive_window = \"29200B\", max_retransmissions = 3", flow);
    let result = outcome(&text, packets());
    assert_eq!(numbers(&result, "flows", "completion_time_s"), [100.0]);
    let sent_by_a = sent(&result, "a");
    let probes = sent_by_a.iter().filter(|(time, text)| *time < 100.0 && text.contains("[F.]")).count();
    assert!((6..=8).contains(&probes), "{probes}");
    assert!(!sent_by_a.iter().any(|(_, text)| text.contains("[R")));
    // The FIN is taken once the window has opened, and the other end closes too.
    assert!(sent(&result, "b").iter().any(|(time, text)| *time >= 100.0 && text.contains("[F.]")));
}

/// With a window scaled by 7 bits (6 MiB) reads of 1450 octets open it by 1408, less than a segment: after
/// the probes of a pause, too, the sender waits until a whole one fits (RFC 9293 3.8.6.2.1).
#[test]
fn no_silly_segments_after_probes() {
    let flow = "application = { kind = \"bulk\" }\n\
                reader = { read_rate = \"38kb/s\", read_size = \"1450B\", pauses = [{ start = \"0s\", stop = \"20s\" }] }";
    let text = scenario("30s", "initial_window = 10", flow);
    let result = outcome(&text, Trace { segments: true, ..Trace::default() });
    let (times, events) = (numbers(&result, "segments", "time_s"), texts(&result, "segments", "event"));
    let (starts, ends) =
        (numbers(&result, "segments", "start_bytes"), numbers(&result, "segments", "end_bytes"));
    let sizes: Vec<f64> = (0..times.len())
        .filter(|&i| times[i] >= 20.0 && events[i].contains("sent"))
        .map(|i| ends[i] - starts[i])
        .collect();
    assert!(sizes.len() > 20, "{sizes:?}");
    assert!(sizes.iter().all(|&size| size == 1460.0), "{sizes:?}");
}

/// Reads of 64 octets do not change a window field that counts 128: no ACK tells of them, that senders could
/// take for duplicates.
#[test]
fn reads_that_change_nothing_are_not_told() {
    let flow = "application = { kind = \"cbr\", packet_size = \"60B\", interval = \"5ms\", start = \"1s\" }\n\
                reader = { read_rate = \"60kb/s\", read_size = \"64B\" }";
    let result = outcome(&scenario("20s", "mss = \"60B\", nagle = false", flow), packets());
    let data = sent(&result, "a").len();
    let acknowledgements = sent(&result, "b").len();
    // Every second segment, and the first and last ones.
    assert!(acknowledgements <= data / 2 + 3, "{acknowledgements} for {data}");
    assert_eq!(numbers(&result, "flows", "fast_retransmits"), [0.0]);
    assert_eq!(numbers(&result, "flows", "retransmissions"), [0.0]);
}
