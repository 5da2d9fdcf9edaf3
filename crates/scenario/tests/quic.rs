//! QUIC as users meet it: transfers over it, what is recorded of it, and what is refused.

use crate::outcome::{self, floats, integers, texts};
use roamsim_network::socket::endpoint::LogFile;
use roamsim_scenario::run::{LogMaker, Options, Outcome, Trace, run};
use roamsim_scenario::{Format, Scenario};
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

const GOOD: &str = r#"
[scenario]
name = "quic"
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
delay = "50ms"
[[flow]]
name = "f"
from = "a"
to = "b"
transport = { protocol = "quic", max_idle_timeout = "30s" }
application = { kind = "transfer", size = "500B" }
"#;

fn outcome(overrides: &[(&str, &str)], trace: Trace) -> Outcome {
    outcome::of(GOOD, overrides, Options { seed: 1, trace, fingerprints: true, ..Options::default() })
}

/// Three datagrams in a row, of 1200 octets with the client's hello, 1200 of the server's flight of two, and
/// 1200 of the client's second flight, which has the data: each makes a packet of 1228 octets, 9.824 ms at 1
/// Mb/s, and takes 50 ms more. The server's second datagram, of which the handshake needs the end, takes less
/// than another 9.824 ms.
#[test]
fn a_small_transfer_takes_three_one_way_delays() {
    let outcome = outcome(&[], Trace::default());
    let took = floats(&outcome, "flows", "completion_time_s")[0];
    let least_s = 3.0 * (0.05 + 0.009_824);
    assert!(took > least_s && took < least_s + 0.009_824, "{took}");
    assert_eq!(texts(&outcome, "flows", "protocol").iter().collect::<Vec<_>>(), ["quic"]);
    assert_eq!(texts(&outcome, "flows", "variant").iter().collect::<Vec<_>>(), ["newreno"]);
    assert_eq!(texts(&outcome, "flows", "connection").iter().collect::<Vec<_>>(), ["completed"]);
    assert_eq!(integers(&outcome, "flows", "delivered_bytes"), [500]);
}

/// A Retry costs the client a round trip: its first flight leaves again, 1200 octets or more as 1228 octets
/// in 9.824 ms and 50 ms more, and the Retry takes 50 ms and less than 9.824 ms.
#[test]
fn with_retry_the_data_comes_a_round_trip_later() {
    let took =
        |overrides: &[_]| floats(&outcome(overrides, Trace::default()), "flows", "completion_time_s")[0];
    let later_s = took(&[("flow.f.transport.retry", "true")]) - took(&[]);
    assert!(later_s > 2.0 * 0.05 + 0.009_824 && later_s < 2.0 * (0.05 + 0.009_824), "{later_s}");
}

/// Data leaves with the client's first flight: one way of 50 ms, and 9.824 ms for 1228 octets of packet with
/// the hello and the 500 octets of data. A server that has forgotten the client has it with the client's
/// second flight, as without early data. For a download the server's data leaves with its first flight, a
/// round trip earlier.
#[test]
fn early_data_comes_a_round_trip_earlier() {
    let took = |early_data, overrides: &[_]| {
        let early_data = [("flow.f.transport.early_data", early_data)];
        floats(&outcome(&[&early_data, overrides].concat(), Trace::default()), "flows", "completion_time_s")
            [0]
    };
    let accepted_s = took("accepted", &[]);
    assert!((accepted_s - 0.059_824).abs() < 1e-9, "{accepted_s}");
    assert!((took("refused", &[]) - took("none", &[])).abs() < 0.009_824);
    let download = [("flow.f.transport.client", "to")];
    let earlier_s = took("none", &download) - took("accepted", &download);
    assert!(earlier_s > 2.0 * 0.05 && earlier_s < 2.0 * 0.05 + 0.03, "{earlier_s}");
}

/// Messages come each 40 s, and the connection ends after 30 s without packets, unless PINGs go.
#[test]
fn a_connection_that_is_kept_alive_waits_for_messages() {
    let rare = "{ kind = \"cbr\", packet_size = \"400B\", interval = \"40s\", start = \"0s\" }";
    let delivered = |keep_alive| {
        let overrides = [
            ("flow.f.application", rare),
            ("scenario.duration", "190s"),
            ("flow.f.transport.keep_alive", keep_alive),
        ];
        floats(&outcome(&overrides, Trace::default()), "flows", "delivered_packets")[0]
    };
    assert_eq!((delivered("0s"), delivered("10s")), (1.0, 5.0));
}

/// A NAT gives the client another port each 5 s. The server sees packets from there, and goes on.
#[test]
fn a_client_keeps_its_connection_behind_a_nat_that_rebinds() {
    let delivered = |interval| {
        let overrides = [
            BULK,
            ("flow.f.transport.client", "to"),
            ("flow.f.transport.keep_alive", "1s"),
            ("flow.f.transport.rebinding_interval", interval),
        ];
        let outcome = outcome(&overrides, Trace::default());
        assert_eq!(texts(&outcome, "flows", "connection").iter().collect::<Vec<_>>(), ["still open"]);
        (integers(&outcome, "flows", "delivered_bytes")[0], integers(&outcome, "flows", "retransmissions")[0])
    };
    let ((stays, _), (rebinds, lost)) = (delivered("0s"), delivered("5s"));
    // What is under way to the port before: a round trip of 0.1 s and the queue, eleven times.
    assert!(lost > 11, "{lost}");
    assert!(rebinds < stays && rebinds > stays / 2, "{rebinds} {stays}");
}

/// A disk with room for so many octets, which may refuse them when they are flushed.
struct Disk {
    left_bytes: usize,
    takes_flushes: bool,
}

impl Write for Disk {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        let left = self.left_bytes.checked_sub(octets.len());
        self.left_bytes = left.ok_or(io::ErrorKind::StorageFull)?;
        Ok(octets.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.takes_flushes.then_some(()).ok_or(io::ErrorKind::StorageFull.into())
    }
}

/// The library drops errors of writing.
#[test]
fn a_qlog_that_cannot_be_written_fails_the_run() {
    let scenario = Scenario::parse(GOOD, "scenario.toml", Format::Toml, &[]);
    let scenario = scenario.unwrap_or_else(|diagnostics| panic!("{}", diagnostics.render(false)));
    let said = |made: fn() -> io::Result<Disk>| {
        let logs: LogMaker = Box::new(move |_| made().map(|disk| Box::new(disk) as LogFile));
        let options = Options { seed: 1, logs: Some(logs), ..Options::default() };
        run(&scenario, options).map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(said(|| Ok(Disk { left_bytes: 1_000_000, takes_flushes: true })), Ok(()));
    let failure = Err("qlog could not be written: f-a.sqlog: no storage space".to_owned());
    assert_eq!(said(|| Ok(Disk { left_bytes: 1000, takes_flushes: true })), failure);
    assert_eq!(said(|| Ok(Disk { left_bytes: 1_000_000, takes_flushes: false })), failure);
    assert_eq!(said(|| Err(io::ErrorKind::StorageFull.into())), failure);
}

/// Panics when something is written.
struct Trap;

impl Write for Trap {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        panic!("no such disk");
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The library writes its log itself, so what panics there panics within the library. The run says so; those
/// before and after it are the same as each other.
#[test]
fn a_panic_within_the_library_fails_its_run_alone() {
    let scenario = Scenario::parse(GOOD, "scenario.toml", Format::Toml, &[]);
    let scenario = scenario.unwrap_or_else(|diagnostics| panic!("{}", diagnostics.render(false)));
    let said = |traps: bool| {
        let logs: LogMaker = match traps {
            true => Box::new(|_| Ok(Box::new(Trap))),
            false => Box::new(|_| Ok(Box::new(io::sink()))),
        };
        let options = Options { seed: 1, logs: Some(logs), fingerprints: true, ..Options::default() };
        let ran = catch_unwind(AssertUnwindSafe(|| run(&scenario, options)));
        ran.map(|outcome| outcome.map(|outcome| outcome.fingerprints.map(|prints| prints.packets)).ok())
            .map_err(|panic| panic.downcast_ref::<String>().cloned().unwrap_or_default())
    };
    let before = said(false);
    let words = said(true).expect_err("it goes on");
    assert!(words.starts_with("the QUIC library quinn-proto 0.11.19 panicked at 0.0"), "{words}");
    assert!(words.ends_with(": no such disk"), "{words}");
    assert_eq!(before, said(false));
    assert!(matches!(before, Ok(Some(Some(_)))), "{before:?}");
}

const BULK: (&str, &str) = ("flow.f.application", "{ kind = \"bulk\" }");
const LOSSY: (&str, &str) = ("link.path.loss", "{ model = \"bernoulli\", probability = 0.02 }");

/// A packet of 1480 octets, IPv4 and UDP included, carries 1452 less the 11 to 35 octets of QUIC: at 1 Mb/s
/// that is 0.957 to 0.974 Mb/s, less the start.
#[test]
fn a_bulk_transfer_fills_the_path() {
    for congestion_control in ["newreno", "reno", "cubic", "cubic_linux", "vegas", "bbr", "bbr1"] {
        let control = ("flow.f.transport.congestion_control", congestion_control);
        let outcome = outcome(&[BULK, control], Trace::default());
        let goodput_bps = floats(&outcome, "flows", "goodput_bps")[0];
        // BBR empties the path each five seconds, to measure its round trip.
        let least_bps = if congestion_control.starts_with("bbr") { 0.90e6 } else { 0.94e6 };
        assert!(goodput_bps > least_bps && goodput_bps < 0.975e6, "{congestion_control}: {goodput_bps}");
        assert_eq!(texts(&outcome, "flows", "connection").iter().collect::<Vec<_>>(), ["still open"]);
    }
}

/// 20 ms each way, and this queue: 34 packets of 1480 octets are on the way at 10 Mb/s.
fn behind_a_queue(control: &str, queue: &str, others: &[(&str, &str)]) -> Outcome {
    at_rate("10Mb/s", control, queue, others)
}

fn at_rate(rate: &str, control: &str, queue: &str, others: &[(&str, &str)]) -> Outcome {
    let path = [
        BULK,
        ("link.path.rate", rate),
        ("link.path.delay", "20ms"),
        ("link.path.queue", queue),
        ("flow.f.transport.congestion_control", control),
        ("flow.f.transport.receive_window", "20MB"),
    ];
    outcome(&[&path[..], others].concat(), Trace::default())
}

/// What each law is for. A window that halves fills the queue and loses; Vegas leaves two to four packets in
/// it. BBR has twice the product of rate and delay in flight at most, 68 packets, of which 34 are on the way.
#[test]
fn laws_leave_the_queue_that_they_are_known_for() {
    let of = |control| {
        let outcome = behind_a_queue(control, "{ packets = 200 }", &[]);
        (floats(&outcome, "links", "mean_queue_packets")[0], floats(&outcome, "flows", "goodput_bps")[0])
    };
    let (reno, vegas, bbr) = (of("reno"), of("vegas"), of("bbr"));
    for (_, goodput_bps) in [reno, vegas, bbr] {
        assert!(goodput_bps > 9.2e6 && goodput_bps < 9.75e6, "{reno:?} {vegas:?} {bbr:?}");
    }
    assert!(reno.0 > 80.0, "{reno:?}");
    assert!(vegas.0 > 1.0 && vegas.0 < 6.0, "{vegas:?}");
    assert!(bbr.0 < 34.0, "{bbr:?}");
}

/// BBR takes no loss below 2 % for congestion (draft-ietf-ccwg-bbr-06 section 2.8). NewReno is bound by it:
/// 1 % over 40 ms allows 1452 B / 40 ms x 1.22 / 0.1, 3.5 Mb/s.
///
/// Over TCP it delivers as much, less what headers take: 1460 of 1500 octets there, 1421 of 1480 here, a
/// ratio of 0.986. Its bound after losses is what a round has delivered, whole datagrams: if the last of them
/// had no room in it, each such round would lower the bound by one more.
#[test]
fn bbr_takes_few_losses_for_chance() {
    let loss = ("link.path.loss", "{ model = \"bernoulli\", probability = 0.01, from = \"a\" }");
    let goodput_bps = |transport: &str| {
        let path = [
            BULK,
            loss,
            ("link.path.rate", "10Mb/s"),
            ("link.path.delay", "20ms"),
            ("link.path.queue", "{ packets = 200 }"),
            ("flow.f.transport", transport),
        ];
        let of_seed = |seed| {
            let outcome = outcome::of(GOOD, &path, Options { seed, ..Options::default() });
            floats(&outcome, "flows", "goodput_bps")[0]
        };
        (1..=3).map(of_seed).sum::<f64>() / 3.0
    };
    let quic = |control| format!("{{ protocol = \"quic\", congestion_control = \"{control}\" }}");
    let (bbr, newreno) = (goodput_bps(&quic("bbr")), goodput_bps(&quic("newreno")));
    let over_tcp = goodput_bps("{ protocol = \"tcp\", stack = \"rfc\", variant = \"bbr\" }");
    let ratio = bbr / over_tcp / 0.986;
    assert!((ratio - 1.0).abs() < 0.03, "{bbr} {over_tcp}");
    assert!(newreno < 4.0e6, "{newreno}");
}

const MARKING: (&str, &str) = ("flow.f.transport.ecn", "true");

/// RED, CoDel and PIE mark what they would have dropped. After slow start nothing is lost, the window falls
/// as by losses, and the receiver has counted every mark of the queue.
#[test]
fn queues_mark_in_place_of_dropping() {
    for queue in [
        "{ discipline = \"red\", packets = 200, min_threshold = 15, max_threshold = 150, ecn = true }",
        "{ discipline = \"codel\", packets = 1000, ecn = true }",
        "{ discipline = \"pie\", packets = 1000, ecn = true }",
    ] {
        let after_slow_start = ("scenario.warm_up", "10s");
        for control in ["newreno", "cubic"] {
            let with = |others: &[_]| behind_a_queue(control, queue, &[others, &[after_slow_start]].concat());
            let (marked, dropped) = (with(&[MARKING]), with(&[]));
            let of = |table, column| integers(&marked, table, column)[0];
            let (marks, reductions) = (of("ecn", "marked_packets"), of("ecn", "reductions"));
            assert_eq!(texts(&marked, "ecn", "agreed").iter().collect::<Vec<_>>(), ["accurate"], "{queue}");
            assert!(marks >= reductions && reductions > 20, "{queue} {control}: {marks} {reductions}");
            // What is on its way at the end has not been counted.
            assert!(of("marks", "packets").abs_diff(marks) <= 1, "{queue} {control}");
            let [lost, lost_unmarked] =
                [&marked, &dropped].map(|outcome| integers(outcome, "flows", "retransmissions")[0]);
            assert_eq!(lost, 0, "{queue} {control}");
            assert!(lost_unmarked > 20, "{queue} {control}: {lost_unmarked}");
            let goodput = |outcome| floats(outcome, "flows", "goodput_bps")[0];
            let ratio = goodput(&marked) / goodput(&dropped);
            assert!((ratio - 1.0).abs() < 0.02, "{queue} {control}: {ratio}");
        }
    }
}

/// DualPI2 marks what waits longer than a millisecond, as in Linux: 4 packets at 50 Mb/s.
#[test]
fn dctcp_and_prague_behind_the_step_of_dualpi2_wait_for_a_millisecond() {
    for law in ["dctcp", "prague"] {
        let marking = [MARKING, ("flow.f.transport.l4s", "true")];
        let outcome = at_rate("50Mb/s", law, "{ discipline = \"dualpi2\" }", &marking);
        let (waits, goodput_bps) =
            (floats(&outcome, "queues", "mean_wait_s"), floats(&outcome, "flows", "goodput_bps")[0]);
        assert!(waits[0] < 0.0015, "{law}: {waits:?}");
        assert!(goodput_bps > 42e6, "{law}: {goodput_bps}");
        assert_eq!(integers(&outcome, "flows", "retransmissions")[0], 0, "{law}");
        assert!(integers(&outcome, "ecn", "marked_packets")[0] > 1000, "{law}");
        // Prague's window falls only after the acknowledgement with the mark.
        assert!(integers(&outcome, "ecn", "reductions")[0] > 20, "{law}");
    }
}

#[test]
fn losses_are_counted_and_repeat_to_the_bit() {
    let run = |trace| {
        let outcome = outcome(&[BULK, LOSSY], trace);
        let lost = integers(&outcome, "flows", "retransmissions")[0];
        assert!(lost > 50, "{lost}");
        assert!(integers(&outcome, "flows", "segments_sent")[0] > 10 * lost);
        let prints = outcome.fingerprints.expect("asked for");
        (prints.events, prints.packets, lost)
    };
    let first = run(Trace::default());
    assert_eq!(first, run(Trace::default()));
    assert_eq!(first, run(Trace { packets: true, cwnd: true, rtt: true, ..Trace::default() }));
}

/// A window law that is limited by losses delivers as much over QUIC as over TCP with RACK. Tolerances: 4 %
/// with NewReno, 8 % with CUBIC (docs/models/quic.md has the mechanism of what CUBIC gains at 3 %).
#[test]
fn a_window_law_delivers_as_much_over_quic_as_over_tcp() {
    let goodput_bps = |transport: &str, probability: &str| {
        let loss = format!("{{ model = \"bernoulli\", probability = {probability}, from = \"a\" }}");
        let path = [("link.path.rate", "100Mb/s"), ("link.path.delay", "25ms"), ("link.path.loss", &*loss)];
        let duration = if probability == "0.001" { "100s" } else { "300s" };
        let mut overrides = vec![BULK, ("scenario.duration", duration), ("flow.f.transport", transport)];
        overrides.extend(path);
        floats(&outcome(&overrides, Trace::default()), "flows", "goodput_bps")[0]
    };
    for (quic, tcp, tolerance) in [("newreno", "sack", 0.04), ("cubic", "cubic", 0.08)] {
        let quic =
            format!("{{ protocol = \"quic\", congestion_control = \"{quic}\", receive_window = \"20MB\" }}");
        let tcp = format!(
            "{{ protocol = \"tcp\", stack = \"rfc\", variant = \"{tcp}\", rack = true, pacing = false, \
             reduce_after_lost_retransmission = false, receive_window = \"20MB\" }}"
        );
        for probability in ["0.001", "0.01", "0.03"] {
            let ratio = goodput_bps(&quic, probability) / goodput_bps(&tcp, probability);
            assert!((ratio - 1.0).abs() < tolerance, "{quic} at {probability}: {ratio}");
        }
    }
}

#[test]
fn data_goes_both_ways_over_one_connection() {
    let outcome = outcome(&[("flow.f.bidirectional", "true")], Trace::default());
    assert_eq!(integers(&outcome, "flows", "delivered_bytes"), [500, 500]);
    assert_eq!(texts(&outcome, "flows", "connection").iter().collect::<Vec<_>>(), ["completed"; 2]);
}

#[test]
fn a_silent_path_ends_the_connection_after_its_idle_timeout() {
    let outage = ("link.path.outages", "[{ start = \"5s\", duration = \"50s\" }]");
    let short = ("flow.f.transport.max_idle_timeout", "10s");
    let outcome = outcome(&[BULK, outage, short], Trace::default());
    assert_eq!(texts(&outcome, "flows", "connection").iter().collect::<Vec<_>>(), ["timed out"]);
}

/// The first acknowledgement behind an outage ends the backoff of the probe: by its shorter timeout the time
/// is past. The probe goes at once; no event comes before the one that it follows from.
#[test]
fn a_probe_whose_time_is_past_goes_at_once() {
    let slow = ("link.path.rate", "2kb/s");
    let outage = ("link.path.outages", "[{ start = \"5s\", duration = \"10s\" }]");
    let outcome = outcome(&[BULK, slow, outage], Trace::default());
    assert!(floats(&outcome, "flows", "goodput_bps")[0] > 0.0);
}

/// A walk of 120 s between two cells: each change of the nearer one is a migration, which is complete when
/// the server's first packet has come to the new address. The way there and back has 80 ms of delay, and
/// packets of the queues before it.
#[test]
fn a_client_migrates_from_cell_to_cell() {
    let migrates = walk(&[]);
    assert!(texts(&migrates, "handovers", "scheme").iter().all(|scheme| scheme == "migration"));
    let took = floats(&migrates, "handovers", "handover_s");
    assert!(took.len() >= 2 && took.iter().all(|&s| s > 0.08 && s < 1.0), "{took:?}");
    assert_eq!(texts(&migrates, "flows", "connection").iter().collect::<Vec<_>>(), ["still open"]);
    let stays = walk(&[("flow.upload.transport.migration", "false")]);
    let delivered = |outcome| integers(outcome, "flows", "delivered_bytes")[0];
    assert!(delivered(&migrates) > 2 * delivered(&stays), "{} {}", delivered(&migrates), delivered(&stays));
}

/// Messages of 100 octets each 20 ms, 2500 in all: a round trip has six of them in flight, which the smallest
/// congestion window of two datagrams allows.
const MESSAGES: (&str, &str) =
    ("flow.f.application", "{ kind = \"cbr\", packet_size = \"100B\", interval = \"20ms\", stop = \"50s\" }");

/// The delays of messages in seconds.
fn delays_s(how: &str, overrides: &[(&str, &str)]) -> Vec<f64> {
    let mut all = vec![MESSAGES, ("flow.f.transport.messages", how)];
    all.extend(overrides);
    let outcome = outcome(&all, Trace { messages: true, ..Trace::default() });
    let [generated, delivered] =
        ["generated_s", "delivered_s"].map(|column| floats(&outcome, "messages", column).to_vec());
    generated.iter().zip(delivered).map(|(generated, delivered)| delivered - generated).collect()
}

/// 50 ms of delay, and 1.0 ms for 128 octets or more. Those of the handshake, 155 ms long, wait for its end.
#[test]
fn a_message_takes_one_way_on_a_stream_and_in_a_datagram() {
    for how in ["stream_each", "one_stream", "datagrams"] {
        let delays = delays_s(how, &[]);
        assert_eq!(delays.len(), 2500, "{how}");
        let on_time = delays.iter().filter(|&&delay| delay > 0.051 && delay < 0.052).count();
        assert!(on_time > 2450, "{how}: {on_time}");
    }
}

/// 1162 octets fit before a larger path MTU is discovered.
#[test]
fn the_longest_datagram_leaves_at_once() {
    let longest = "{ kind = \"cbr\", packet_size = \"1162B\", interval = \"1s\" }";
    let overrides = [("flow.f.application", longest), ("flow.f.transport.messages", "datagrams")];
    let outcome = outcome(&overrides, Trace::default());
    assert_eq!(floats(&outcome, "flows", "delivered_packets"), [60.0]);
}

/// A lost packet costs a round trip of 102 ms or more. On one stream the messages of that time wait too, five
/// or more; on streams of their own only what it carried.
#[test]
fn a_lost_packet_holds_up_no_other_stream() {
    let late = |how| delays_s(how, &[LOSSY]).iter().filter(|&&delay| delay > 0.07).count();
    let (each, one) = (late("stream_each"), late("one_stream"));
    // Of 2500 messages 50 are lost, with a standard deviation of 7; and eight wait for the handshake.
    assert!((30..90).contains(&each), "{each}");
    assert!(one > 4 * each, "{one} {each}");
}

/// Some 2 % are missing, and are counted. Nothing is late but what waits for the handshake.
#[test]
fn a_lost_datagram_is_not_repeated() {
    let datagrams = ("flow.f.transport.messages", "datagrams");
    let outcome = outcome(&[MESSAGES, datagrams, LOSSY], Trace::default());
    let [sent, delivered, lost] = ["sent_packets", "delivered_packets", "lost_packets"]
        .map(|column| floats(&outcome, "flows", column)[0]);
    assert_eq!(sent, 2500.0);
    assert!((25.0..80.0).contains(&lost), "{lost}");
    assert!((delivered + lost - sent).abs() <= 1.0, "{delivered} {lost}");
    assert!(delays_s("datagrams", &[LOSSY]).iter().filter(|&&delay| delay > 0.07).count() < 25);
}

/// The first request leaves when the handshake is over, after a round trip; the others take one round trip.
#[test]
fn a_request_and_its_response_take_a_round_trip() {
    let asking = "{ kind = \"request_response\", request_size = \"200B\", response_size = \"10kB\", think_time = \"1s\" }";
    for how in ["stream_each", "one_stream"] {
        let overrides = [("flow.f.application", asking), ("flow.f.transport.messages", how)];
        let outcome = outcome(&overrides, Trace::default());
        let median_s = floats(&outcome, "flows", "median_delay_s")[0];
        // 10 kB and headers at 1 Mb/s: 80 to 90 ms.
        assert!(median_s > 0.18 && median_s < 0.20, "{how}: {median_s}");
        assert!(floats(&outcome, "flows", "delivered_packets")[0] > 45.0);
    }
    let lossy = [("flow.f.application", asking), ("flow.f.transport.messages", "datagrams")];
    let with = |extra| {
        let mut all = lossy.to_vec();
        all.extend([("flow.f.application.response_size", "1kB"), extra]);
        all.push(("flow.f.application.timeout", "500ms"));
        floats(&outcome(&all, Trace::default()), "flows", "lost_packets")[0]
    };
    assert_eq!(with(("link.path.delay", "50ms")), 0.0);
    assert!(with(LOSSY) >= 1.0);
}

/// A film of 280 kb/s. On streams all its frames are whole, and a lost packet makes some late. In datagrams
/// a lost packet takes its frame along; others are late where the window is reduced, which bounds datagrams
/// too (RFC 9221 section 5.4). 2 % of packets are lost.
#[test]
fn a_video_goes_over_streams_and_datagrams() {
    let film = "{ kind = \"video\", film = \"star_wars_iv_high\", packet_size = \"1000B\", playout_delay = \"200ms\", stop = \"50s\" }";
    let watched = |how, extra| {
        let overrides = [
            ("flow.f.application", film),
            ("flow.f.transport.messages", how),
            ("scenario.duration", "60s"),
            extra,
        ];
        let outcome = outcome(&overrides, Trace::default());
        ["frames", "complete_frames", "frames_in_time"].map(|column| integers(&outcome, "video", column)[0])
    };
    for how in ["stream_each", "one_stream", "datagrams"] {
        let [frames, complete, in_time] = watched(how, ("link.path.delay", "50ms"));
        assert!(frames > 1000 && complete == frames, "{how}: {complete} of {frames}");
        // Those of the handshake are late, and those of 200 ms at 1 Mb/s: of 25 kB or more.
        assert!(in_time * 100 > frames * 98, "{how}: {in_time} of {frames}");
    }
    let [frames, complete, in_time] = watched("stream_each", LOSSY);
    assert!(complete == frames && in_time < frames, "{complete} {in_time} {frames}");
    let [frames, complete, in_time] = watched("datagrams", LOSSY);
    // Some 1.9 packets a frame in the mean.
    assert!(complete * 100 > frames * 92 && complete * 1000 < frames * 985, "{complete} of {frames}");
    assert!(in_time < complete, "{in_time} of {complete}");
}

/// 20 kB each 200 ms on average, 80 % of the link: each transfer is whole, none waits for a handshake but the
/// first.
#[test]
fn transfers_have_a_stream_each_in_one_connection() {
    let transfers = "{ kind = \"transfers\", rate = \"4/s\", size = \"20kB\", stop = \"50s\" }";
    let outcome = outcome(&[("flow.f.application", transfers)], Trace::default());
    let begun = integers(&outcome, "transfers", "begun")[0];
    assert!((150..250).contains(&begun), "{begun}");
    assert_eq!(integers(&outcome, "transfers", "completed")[0], begun);
    assert_eq!(integers(&outcome, "flows", "delivered_bytes")[0], 20_000 * begun);
}

/// After an outage longer than the timeout the connection is gone, with all that was to come over it.
#[test]
fn transfers_fail_with_their_connection() {
    let transfers = "{ kind = \"transfers\", rate = \"2/s\", size = \"20kB\" }";
    let outage = ("link.path.outages", "[{ start = \"20s\", duration = \"20s\" }]");
    let short = ("flow.f.transport.max_idle_timeout", "5s");
    let outcome = outcome(&[("flow.f.application", transfers), outage, short], Trace::default());
    let [begun, completed, failed] =
        ["begun", "completed", "failed"].map(|column| integers(&outcome, "transfers", column)[0]);
    assert!(completed > 20 && failed > 50 && begun == completed + failed, "{begun} {completed} {failed}");
    assert_eq!(texts(&outcome, "flows", "connection").iter().collect::<Vec<_>>(), ["timed out"]);
}

/// The application stops at 10 s, and 30 s later the connection is closed without a word.
#[test]
fn a_connection_with_nothing_to_deliver_ends_in_silence() {
    let some = "{ kind = \"cbr\", packet_size = \"400B\", interval = \"1s\", stop = \"10s\" }";
    let outcome = outcome(&[("flow.f.application", some)], Trace::default());
    assert_eq!(texts(&outcome, "flows", "connection").iter().collect::<Vec<_>>(), ["completed"]);
    assert_eq!(floats(&outcome, "flows", "delivered_packets"), [10.0]);
}

#[test]
fn mih_messages_go_over_quic() {
    let text = include_str!("../../../python/roamsim/examples/mih-indications.toml");
    let text = text.replace("transport = { protocol = \"udp\" }", "transport = { protocol = \"quic\" }");
    let text = text.replace("acknowledgement =", "# acknowledgement =");
    let short = [("scenario.duration", "60s"), ("signalling.indications.stop", "50s")];
    let outcome = outcome::of(&text, &short, Options { seed: 1, ..Options::default() });
    // 90 indications in 45 s, a way of 20 ms each; 20 % of packets are lost and sent again.
    assert_eq!(integers(&outcome, "signalling", "successes"), [90]);
    let median_s = floats(&outcome, "signalling", "median_delay_s")[0];
    assert!(median_s > 0.02 && median_s < 0.021, "{median_s}");
}

const WALK: &str = include_str!("../../../python/roamsim/examples/quic-migration.toml");

/// The walk, with data to the terminal, whose end is the client.
const DOWNLOAD: [(&str, &str); 3] =
    [("flow.upload.from", "server"), ("flow.upload.to", "terminal"), ("flow.upload.transport.client", "to")];

fn walk(overrides: &[(&str, &str)]) -> Outcome {
    outcome::of(WALK, overrides, Options { seed: 1, fingerprints: true, ..Options::default() })
}

/// The receiver opens: its first flight takes one way, the server's another, and data leaves with the third.
/// So data is there after 4 ways of 50 ms and more, one later than that of a client.
#[test]
fn data_of_a_server_takes_four_one_way_delays() {
    let outcome = outcome(&[("flow.f.transport.client", "to")], Trace::default());
    let took = floats(&outcome, "flows", "completion_time_s")[0];
    assert!(took > 4.0 * 0.05 + 3.0 * 0.009_824 && took < 4.0 * (0.05 + 0.009_824) + 0.009_824, "{took}");
    assert_eq!(texts(&outcome, "flows", "connection").iter().collect::<Vec<_>>(), ["completed"]);
}

#[test]
fn a_download_to_a_terminal_that_moves_migrates() {
    let migrates = walk(&DOWNLOAD);
    let took = floats(&migrates, "handovers", "handover_s");
    assert!(took.len() >= 2 && took.iter().all(|&s| s > 0.08 && s < 1.0), "{took:?}");
    assert_eq!(texts(&migrates, "flows", "connection").iter().collect::<Vec<_>>(), ["still open"]);
    let mut stays = DOWNLOAD.to_vec();
    stays.push(("flow.upload.transport.migration", "false"));
    let delivered = |outcome| integers(outcome, "flows", "delivered_bytes")[0];
    let stays = walk(&stays);
    assert!(delivered(&migrates) > 2 * delivered(&stays), "{} {}", delivered(&migrates), delivered(&stays));
}

/// Its client goes only when the old cell is lost. What the server sent there until then is lost; it is data.
#[test]
fn what_a_download_loses_on_the_move_is_in_handover_flows() {
    let mut overrides = DOWNLOAD.to_vec();
    overrides.push(("node.terminal.change_primary_at", "down"));
    let outcome = walk(&overrides);
    let lost = integers(&outcome, "handover_flows", "lost_data");
    assert!(lost.len() >= 2 && lost.iter().all(|&packets| packets > 0), "{lost:?}");
    assert!(integers(&outcome, "flows", "retransmissions")[0] >= lost.iter().sum());
}

/// The terminal leaves the only cell for longer than the timeout: the server gives up, and the client too.
#[test]
fn a_download_to_nowhere_ends_after_the_idle_timeout() {
    let mut overrides = DOWNLOAD.to_vec();
    overrides.push(("flow.upload.transport.migration", "false"));
    overrides.push(("flow.upload.transport.max_idle_timeout", "5s"));
    let outcome = walk(&overrides);
    assert_eq!(texts(&outcome, "flows", "connection").iter().collect::<Vec<_>>(), ["timed out"]);
}

/// MIH users say when. The client migrates then, to the second cell, 10 ms and 3 wires from the server: the
/// handover is complete a round trip of 40 ms later, with packets of at most 1228 octets in front.
#[test]
fn mih_users_have_a_client_migrate() {
    let text = include_str!("../../../python/roamsim/examples/mih-handover.toml");
    let quic = ("flow.stream.transport", "{ protocol = \"quic\", client = \"to\" }");
    let bulk = ("flow.stream.application", "{ kind = \"bulk\" }");
    let run = |overrides: &[_]| outcome::of(text, overrides, Options { seed: 1, ..Options::default() });
    let outcome = run(&[quic, bulk]);
    assert_eq!(texts(&outcome, "mih_handovers", "outcome").iter().collect::<Vec<_>>(), ["committed"]);
    assert_eq!(texts(&outcome, "handovers", "scheme").iter().collect::<Vec<_>>(), ["mih"]);
    let redirect_s = floats(&outcome, "mih_handovers", "redirect_s")[0];
    assert!(redirect_s > 0.04 && redirect_s < 0.06, "{redirect_s}");
    // The terminal leaves the first cell at 25 s of 30.
    let link = |name: &str| {
        let at = texts(&outcome, "flows", "name").iter().position(|flow| flow == name).expect(name);
        integers(&outcome, "flows", "delivered_bytes")[at]
    };
    assert!(link("stream") > 10_000_000, "{}", link("stream"));
}

#[test]
fn a_selection_has_a_client_migrate() {
    let text = include_str!("../../../python/roamsim/examples/phone.toml");
    let text = text.split("[[flow]]").take(2).collect::<Vec<_>>().join("[[flow]]");
    let trace = "{ from = \"server\", constant = \"10Mb/s\" }";
    let text = text.replace("{ from = \"server\", mahimahi = \"traces/cellular-down.trace\" }", trace);
    let run = |scheme: &str, transport: &str| {
        let overrides = [("selection.phone.scheme", scheme), ("flow.download.transport", transport)];
        outcome::of(&text, &overrides, Options { seed: 1, ..Options::default() })
    };
    let delivered = |outcome: &Outcome| integers(outcome, "flows", "delivered_bytes")[0];
    let quic = run("migration", "{ protocol = \"quic\", client = \"to\", congestion_control = \"cubic\" }");
    assert!(integers(&quic, "selection", "switches")[0] >= 3);
    assert_eq!(texts(&quic, "flows", "connection").iter().collect::<Vec<_>>(), ["still open"]);
    // TCP with one address stops after the first cell.
    let tcp = run("none", "{ protocol = \"tcp\", variant = \"cubic\" }");
    assert!(delivered(&quic) > 2 * delivered(&tcp), "{} {}", delivered(&quic), delivered(&tcp));
}

reports! {
    quic_with_messages_of_a_stream: "max_idle_timeout = \"30s\"" => "messages = \"datagrams\"";
    quic_with_large_datagrams: "max_idle_timeout = \"30s\" }\napplication = { kind = \"transfer\", size = \"500B\" }" =>
        "messages = \"datagrams\" }\napplication = { kind = \"cbr\", packet_size = \"1163B\", interval = \"1s\" }";
    quic_with_transfers_in_datagrams: "max_idle_timeout = \"30s\" }\napplication = { kind = \"transfer\", size = \"500B\" }" =>
        "messages = \"datagrams\" }\napplication = { kind = \"transfers\", rate = \"1/s\", size = \"1kB\", max_connections = 5 }";
    quic_key_of_prague: "max_idle_timeout = \"30s\"" => "congestion_control = \"dctcp\", ecn = true, classic_queue = \"fall_back\"";
    quic_key_that_only_a_trace_shows: "max_idle_timeout = \"30s\"" => "congestion_control = \"prague\", ecn = true, classic_queue = \"monitor\"";
    quic_key_of_tcp: "max_idle_timeout = \"30s\"" => "min_rto = \"200ms\"";
    quic_unknown_congestion_control: "max_idle_timeout = \"30s\"" => "congestion_control = \"bbr2\"";
    quic_with_a_class_of_a_file: "max_idle_timeout = \"30s\"" => "congestion_control = \"mine.py:Mine\"";
    quic_with_dctcp_without_marks: "max_idle_timeout = \"30s\"" => "congestion_control = \"dctcp\"";
    quic_with_bbr_and_marks: "max_idle_timeout = \"30s\"" => "congestion_control = \"bbr\", ecn = true";
    quic_with_l4s_and_newreno: "max_idle_timeout = \"30s\"" => "ecn = true, l4s = true";
    quic_window_of_less_than_two_datagrams: "max_idle_timeout = \"30s\"" => "initial_window = \"1200B\"";
    quic_window_for_less_than_a_datagram: "max_idle_timeout = \"30s\"" => "receive_window = \"1kB\"";
    quic_window_beyond_memory: "max_idle_timeout = \"30s\"" => "receive_window = \"5GiB\"";
    quic_without_a_certificate: "max_idle_timeout = \"30s\"" => "certificate_size = \"0B\"";
    quic_over_tls_in_a_build_without_it: "max_idle_timeout = \"30s\"" => "crypto = \"tls\"";
    quic_with_pings_that_come_too_late: "max_idle_timeout = \"30s\"" => "keep_alive = \"30s\"";
    quic_behind_a_nat_that_never_answers: "max_idle_timeout = \"30s\"" => "rebinding_interval = \"10ms\"";
    quic_on_small_packets: "delay = \"50ms\"" => "delay = \"50ms\"\nmtu = \"1000B\"";
}
