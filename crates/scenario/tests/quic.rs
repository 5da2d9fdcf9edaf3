//! QUIC as users meet it: transfers over it, what is recorded of it, and what is refused.

use crate::outcome::{self, floats, integers, texts};
use roamsim_scenario::run::{Options, Outcome, Trace};

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

const BULK: (&str, &str) = ("flow.f.application", "{ kind = \"bulk\" }");
const LOSSY: (&str, &str) = ("link.path.loss", "{ model = \"bernoulli\", probability = 0.02 }");

/// A packet of 1480 octets, IPv4 and UDP included, carries 1452 less the 11 to 35 octets of QUIC: at 1 Mb/s
/// that is 0.957 to 0.974 Mb/s, less the start.
#[test]
fn a_bulk_transfer_fills_the_path() {
    for congestion_control in ["newreno", "cubic"] {
        let control = ("flow.f.transport.congestion_control", congestion_control);
        let outcome = outcome(&[BULK, control], Trace::default());
        let goodput_bps = floats(&outcome, "flows", "goodput_bps")[0];
        assert!(goodput_bps > 0.94e6 && goodput_bps < 0.975e6, "{congestion_control}: {goodput_bps}");
        assert_eq!(texts(&outcome, "flows", "connection").iter().collect::<Vec<_>>(), ["still open"]);
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
    quic_that_carries_messages: "{ kind = \"transfer\", size = \"500B\" }" =>
        "{ kind = \"cbr\", packet_size = \"100B\", interval = \"1s\" }";
    quic_key_of_tcp: "max_idle_timeout = \"30s\"" => "min_rto = \"200ms\"";
    quic_congestion_control_of_the_library: "max_idle_timeout = \"30s\"" => "congestion_control = \"bbr\"";
    quic_window_of_less_than_two_datagrams: "max_idle_timeout = \"30s\"" => "initial_window = \"1200B\"";
    quic_window_for_less_than_a_datagram: "max_idle_timeout = \"30s\"" => "receive_window = \"1kB\"";
    quic_window_beyond_memory: "max_idle_timeout = \"30s\"" => "receive_window = \"5GiB\"";
    quic_without_a_certificate: "max_idle_timeout = \"30s\"" => "certificate_size = \"0B\"";
    quic_on_small_packets: "delay = \"50ms\"" => "delay = \"50ms\"\nmtu = \"1000B\"";
}
