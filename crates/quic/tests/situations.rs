//! The situations in which the library tests its recovery and its migration between two endpoints of its own,
//! here between two ends in simulated time. Each names the library's test of its situation.

mod path;

use path::{Path, ms};
use roamsim_engine::{Span, Stream, Time};
use roamsim_network::socket::endpoint::{Endpoint, EndpointEvent};
use roamsim_network::traffic_class::Ecn;
use roamsim_protocols::Address;
use roamsim_quic::{Crypto, Messages, Quic, Settings};

fn with(settings: &Settings, bytes: u64) -> Path {
    let mut path = Path::new(Crypto::null(settings), settings);
    path.send(bytes);
    path
}

fn path(bytes: u64) -> Path {
    with(&Settings::default(), bytes)
}

/// Two ends that stay open, with a client that writes messages in datagrams.
fn open(settings: &Settings) -> Path {
    let mut path = Path::new(Crypto::null(settings), settings);
    path.ends[0].open();
    path.run_until(ms(300), &|_, _| false);
    path
}

fn datagrams() -> Settings {
    Settings { messages: Messages::Datagrams, ..Settings::default() }
}

/// What an end sends from then on, with its time.
fn sent_from(path: &Path, end: usize, from: Time) -> Vec<(Time, usize)> {
    let of_end = path.sent.iter().filter(|sent| sent.end == end && sent.at >= from);
    of_end.map(|sent| (sent.at, sent.bytes)).collect()
}

fn is_closed_well(path: &Path) -> bool {
    let failed = [EndpointEvent::TimedOut, EndpointEvent::Reset];
    path.ends.iter().all(Endpoint::is_gone) && path.events.iter().all(|event| !failed.contains(&event.2))
}

/// A round trip of 1.2 s is longer than the first probe timeout of 999 ms: the client repeats its first
/// flight in vain, and the handshake takes the round trip all the same.
// quinn-proto: high_latency_handshake.
#[test]
fn a_handshake_over_a_long_path() {
    let mut path = path(1000);
    path.one_way = Span::from_ms(600);
    path.run(&[]);
    assert_eq!(path.sent[1].at, ms(600), "the server's flight");
    assert!(path.sent.iter().any(|sent| sent.end == 0 && sent.at == ms(999)));
    assert_eq!(path.when(0, EndpointEvent::Established), Some(ms(1200)));
    assert!(is_closed_well(&path));
}

/// A chain of 6000 octets exceeds three times the client's first flight. The client's acknowledgement at 40
/// ms is lost, so the server may send nothing (RFC 9000 section 8.1). The client's probe lets it go on (RFC
/// 9002 section 6.2.2.1).
// quinn-proto: handshake_anti_deadlock_probe.
#[test]
fn a_client_probes_for_a_server_that_may_not_send() {
    let settings = Settings { certificate_bytes: 6000, ..Settings::default() };
    let mut path = with(&settings, 1000);
    path.run_until(ms(100_000), &|_, at| at == ms(40));
    let probe = path.sent.iter().find(|sent| sent.end == 0 && sent.at > ms(40)).expect("a probe");
    // 40 ms and four times 20 ms.
    assert_eq!(probe.at, ms(160));
    assert!(path.sent.iter().all(|sent| sent.end == 0 || sent.at <= ms(20) || sent.at >= ms(180)));
    assert_eq!(path.delivered_bytes, 1000);
    assert!(is_closed_well(&path));
}

/// An end that gives up before the handshake is complete, at either side.
// quinn-proto: instant_close_1, instant_close_2, instant_server_close.
#[test]
fn an_end_that_closes_in_the_handshake() {
    for end in [0, 1] {
        let mut path = path(1000);
        path.run_until(ms(30), &|_, _| false);
        path.ends[end].abort();
        path.run_until(ms(20_000), &|_, _| false);
        assert!(path.when(1 - end, EndpointEvent::Reset).is_some(), "{end}");
        assert!(path.ends.iter().all(Endpoint::is_gone), "{end}");
    }
}

/// Probes leave after one timeout, three and seven, as each doubles it (RFC 9002 section 6.2.1); each is two
/// datagrams. The round trip is 40 ms by then, its variation under a millisecond: it counts as one (6.1.2).
// quinn-proto: tail_loss_respect_max_datagrams, finish_retransmit.
#[test]
fn probes_back_off() {
    let mut path = open(&datagrams());
    path.ends[0].write_message(100);
    let begin = path.now;
    path.run_until(begin + Span::from_secs(2), &|_, at| at >= begin);
    let times: Vec<Time> = sent_from(&path, 0, begin).into_iter().map(|(at, _)| at).collect();
    let mut instants = times.clone();
    instants.dedup();
    let timeout = instants[1].since(begin);
    for (number, &at) in instants.iter().enumerate().take(5) {
        assert_eq!(at.since(begin), Span::from_ns(timeout.as_ns() * ((1 << number) - 1)), "{instants:?}");
    }
    assert_eq!(times.iter().filter(|&&at| at == instants[1]).count(), 2);
}

/// The last packet of a stream, with its end, is lost.
// quinn-proto: tail_loss_respect_max_datagrams, finish_retransmit.
#[test]
fn a_lost_end_of_a_stream() {
    let mut whole = path(20_000);
    whole.run(&[]);
    let last = whole.when(1, EndpointEvent::RemoteClosed).expect("an end");
    let mut path = path(20_000);
    let one_way = path.one_way;
    path.run_until(ms(100_000), &|_, at| at + one_way == last);
    let closed = path.when(1, EndpointEvent::RemoteClosed).expect("an end");
    assert!(closed > last + Span::from_ms(40) && closed < last + Span::from_ms(200), "{closed}");
    assert_eq!(path.delivered_bytes, 20_000);
    assert!(is_closed_well(&path));
}

/// A whole flight at the end is lost. The probe shows that, the window falls by half, and grows again.
// quinn-proto: congested_tail_loss, congestion.
#[test]
fn a_lost_tail() {
    let mut path = path(0);
    path.ends[0].write(200_000);
    path.run_until(ms(100_000), &|_, at| (ms(120)..ms(200)).contains(&at));
    assert_eq!(path.delivered_bytes, 200_000);
    let counts = path.ends[0].counts();
    assert!(counts.retransmissions >= 10, "{counts:?}");
    assert!(is_closed_well(&path));
}

/// A packet of data is lost, and four messages are written before the probe timeout ends: the probes are
/// these messages in place of PINGs.
// quinn-proto: tail_loss_small_segment_size.
#[test]
fn probes_carry_what_waits() {
    let mut path = open(&datagrams());
    let begin = path.now;
    path.ends[0].write_message(1000);
    path.run_until(begin + Span::from_ms(1), &|_, at| at == begin);
    (0..4).for_each(|_| assert!(path.ends[0].write_message(1000).is_some()));
    path.run_until(begin + Span::from_secs(1), &|_, at| at == begin);
    let arrived = path.events.iter().filter(|event| matches!(event.2, EndpointEvent::Message { .. })).count();
    assert_eq!(arrived, 4);
}

/// More than three probe timeouts without a single acknowledgement: the window falls to two datagrams (RFC
/// 9002 section 7.6.2) and grows from there.
// quinn-proto: congested_tail_loss, congestion.
#[test]
fn persistent_congestion() {
    let mut path = path(3_000_000);
    path.run_until(ms(2000), &|_, at| (ms(150)..ms(1500)).contains(&at));
    let least = path.least_window.expect("a window");
    assert!(least <= 2 * 1452, "{least}");
    assert_eq!(path.ends[0].counts().timeouts, 1);
    path.run_until(ms(100_000), &|_, _| false);
    assert_eq!(path.delivered_bytes, 3_000_000);
}

/// A packet that comes 10 ms late has been overtaken by more than three others: it counts as lost (RFC 9002
/// section 6.1.1), and its data comes twice.
// quinn-proto: out_of_order_ack_eliciting_packet_triggers_ack.
#[test]
fn a_packet_that_is_late() {
    let mut path = path(300_000);
    path.late = Some((60, Span::from_ms(10)));
    path.run(&[]);
    assert_eq!((path.delivered_bytes, path.ends[0].counts().retransmissions), (300_000, 1));
    assert!(is_closed_well(&path));
}

/// A single packet is acknowledged after max_ack_delay, 25 ms (RFC 9000 section 13.2.1); two at once
/// (13.2.2).
// quinn-proto: single_ack_eliciting_packet_triggers_ack_after_delay.
#[test]
fn acknowledgements_wait_for_a_second_packet() {
    for (messages, delay_ms) in [(1, 25), (2, 0)] {
        let mut path = open(&datagrams());
        let begin = path.now;
        (0..messages).for_each(|_| assert!(path.ends[0].write_message(1000).is_some()));
        path.run_until(begin + Span::from_ms(200), &|_, _| false);
        let answer = sent_from(&path, 1, begin)[0].0;
        assert_eq!(answer, begin + path.one_way + Span::from_ms(delay_ms), "{messages} messages");
    }
}

/// A single packet with a mark is acknowledged at once (RFC 9000 section 13.2.1), and the window falls by
/// half.
// quinn-proto: single_ack_eliciting_packet_with_ce_bit_triggers_immediate_ack.
#[test]
fn a_mark_is_acknowledged_at_once() {
    let settings = Settings { ecn: true, ..datagrams() };
    let mut path = Path::new(Crypto::null(&settings), &settings);
    path.ecn = Ecn::Capable0;
    path.ends[0].open();
    path.run_until(ms(300), &|_, _| false);
    let (begin, window) = (path.now, path.ends[0].cwnd_bytes().expect("a window"));
    path.ends[0].write_message(1000);
    path.ecn = Ecn::CongestionExperienced;
    path.run_until(begin + path.one_way + Span::from_ms(1), &|_, _| false);
    path.ecn = Ecn::Capable0;
    path.run_until(begin + Span::from_ms(200), &|_, _| false);
    assert_eq!(sent_from(&path, 1, begin)[0].0, begin + path.one_way);
    assert_eq!(path.ends[0].cwnd_bytes(), Some(window / 2));
    assert_eq!(path.ends[0].counts().ecn.map(|ecn| ecn.reductions), Some(1));
}

/// Both probes after a timeout ask for an acknowledgement at once (IMMEDIATE_ACK, 0x1f, of
/// draft-ietf-quic-ack-frequency), as do probes of the path MTU: each is answered after one way.
// quinn-proto: loss_probe_requests_immediate_ack, mtud_probes_include_immediate_ack,
// immediate_ack_triggers_ack.
#[test]
fn probes_ask_for_an_acknowledgement_at_once() {
    let mut path = open(&datagrams());
    let begin = path.now;
    path.ends[0].write_message(100);
    path.run_until(begin + Span::from_secs(1), &|_, at| at == begin);
    let probes: Vec<usize> = (0..path.sent.len()).filter(|&number| path.sent[number].at > begin).collect();
    let probes = probes.into_iter().filter(|&number| path.sent[number].end == 0).take(2);
    assert_eq!(probes.map(|number| path.frames(number)[0]).collect::<Vec<_>>(), [0x1f; 2]);
    // Before that the connection was idle but for the search for the MTU.
    let of_mtu = (0..path.sent.len()).filter(|&number| path.sent[number].bytes > 1200);
    let of_mtu: Vec<usize> = of_mtu.filter(|&number| path.sent[number].end == 0).collect();
    assert!(of_mtu.len() >= 3, "{of_mtu:?}");
    for number in of_mtu {
        // PING and IMMEDIATE_ACK, and what fills it.
        assert_eq!(path.frames(number)[..2], [0x01, 0x1f]);
        let answer = path.sent[number].at + path.one_way;
        assert!(path.sent.iter().any(|sent| (sent.end, sent.at) == (1, answer)), "{number}");
    }
}

/// An end that has nothing to send but acknowledgements has some of them acknowledged (RFC 9000 section
/// 13.2.4): the sender of data has an ACK frame (0x02) behind a message now and then. A DATAGRAM frame of 100
/// octets takes three more, of type and length.
// quinn-proto: pure_sender_voluntarily_acks.
#[test]
fn acknowledgements_are_acknowledged_now_and_then() {
    let mut path = open(&datagrams());
    let first = path.sent.len();
    for step in 1..=100 {
        path.ends[0].write_message(100);
        path.run_until(ms(300 + 100 * step), &|_, _| false);
    }
    let of_client = (first..path.sent.len()).filter(|&number| path.sent[number].end == 0);
    let behind: Vec<_> = of_client.map(|number| path.frames(number).get(103).copied()).collect();
    assert!(behind.contains(&Some(0x02)), "{behind:x?}");
}

/// An end that closes acknowledges what it has not yet acknowledged (ACK, 0x02) with CONNECTION_CLOSE (0x1d).
// quinn-proto: connection_close_sends_acks.
#[test]
fn an_end_that_closes_acknowledges() {
    let mut path = open(&datagrams());
    let begin = path.now;
    path.ends[0].write_message(100);
    // The acknowledgement would leave 25 ms after the message has come.
    path.run_until(begin + path.one_way + Span::from_ms(10), &|_, _| false);
    path.ends[1].abort();
    path.run_until(begin + Span::from_secs(1), &|_, _| false);
    let number = (0..path.sent.len()).rfind(|&number| path.sent[number].end == 1).expect("an end");
    let frames = path.frames(number);
    assert!(frames[0] == 0x02 && frames.contains(&0x1d), "{frames:x?}");
    assert_eq!(path.when(0, EndpointEvent::Reset), Some(begin + path.one_way * 2 + Span::from_ms(10)));
}

/// A receiver takes 3000 octets beyond what it has read. All that it sends for 100 ms is lost, new limits
/// among it (MAX_DATA and MAX_STREAM_DATA): its sender is blocked, and goes on when they come again (RFC 9000
/// sections 4.1 and 13.3).
// quinn-proto: data_blocked_retransmit, finish_stream_flow_control_reordered.
#[test]
fn a_limit_that_is_lost() {
    let took = |from_ms: u64, to_ms: u64| {
        let settings = Settings { receive_window_bytes: 3000, ..Settings::default() };
        let mut path = with(&settings, 30_000);
        path.deaf = Some((0, ms(from_ms), ms(to_ms)));
        path.run(&[]);
        assert_eq!(path.delivered_bytes, 30_000);
        assert!(is_closed_well(&path));
        path.when(1, EndpointEvent::RemoteClosed).expect("an end")
    };
    let (whole, broken) = (took(0, 0), took(100, 200));
    assert!(broken > whole + Span::from_ms(100), "{whole} {broken}");
}

/// Path MTU discovery finds what the path carries, to 20 octets (the library's bound), and its lost probes
/// are no congestion (RFC 8899 section 3).
// quinn-proto: connect_detects_mtu, connect_lost_mtu_probes_do_not_trigger_congestion_control.
#[test]
fn the_mtu_is_found() {
    for (most_bytes, found) in [(1200, 1200..=1200), (1400, 1381..=1400), (1500, 1452..=1452)] {
        let mut path = path(1_000_000);
        path.most_bytes = most_bytes;
        path.run(&[]);
        let largest = path.sent.iter().filter(|sent| sent.end == 0 && sent.bytes <= most_bytes);
        let largest = largest.map(|sent| sent.bytes).max().expect("datagrams");
        assert!(found.contains(&largest), "{most_bytes}: {largest}");
        assert_eq!(path.ends[0].counts().fast_retransmits, 0, "{most_bytes}");
        assert!(is_closed_well(&path));
    }
}

/// After 600 s the search begins anew, as the path may carry more by then.
// quinn-proto: connect_runs_mtud_again_after_600_seconds.
#[test]
fn the_mtu_is_sought_again_after_600_s() {
    let settings = Settings { max_idle_timeout: None, ..datagrams() };
    let mut path = Path::new(Crypto::null(&settings), &settings);
    path.most_bytes = 1400;
    path.ends[0].open();
    path.run_until(ms(60_000), &|_, _| false);
    path.most_bytes = 1500;
    for (at_s, found) in [(500, 1000..=1200), (700, 1452..=1452)] {
        let begin = ms(1000 * at_s);
        path.run_until(begin, &|_, _| false);
        path.ends[0].write_message(1000);
        path.run_until(begin + Span::from_secs(10), &|_, _| false);
        let largest =
            sent_from(&path, 0, begin).into_iter().map(|(_, bytes)| bytes).max().expect("datagrams");
        assert!(found.contains(&largest), "{at_s} s: {largest}");
    }
}

/// A path that carries less than 1200 octets has no connection (RFC 9000 section 14).
// quinn-proto: connect_too_low_mtu.
#[test]
fn a_path_that_is_too_narrow() {
    let mut path = path(1000);
    path.most_bytes = 1199;
    path.run(&[]);
    assert_eq!(path.when(0, EndpointEvent::TimedOut), Some(ms(30_000)));
    assert_eq!(path.when(1, EndpointEvent::Established), None);
}

/// At 400 ms the path carries 1200 octets in place of 1452. Nothing larger arrives, the library sees that,
/// and goes on with 1200 (RFC 8899 section 4.3).
// quinn-proto: blackhole_after_mtu_change_repairs_itself.
#[test]
fn a_path_that_becomes_narrow() {
    let mut path = path(20_000_000);
    path.run_until(ms(400), &|_, _| false);
    assert!(path.sent.iter().any(|sent| sent.end == 0 && sent.bytes == 1452));
    path.most_bytes = 1200;
    path.run_until(ms(100_000), &|_, _| false);
    assert_eq!(path.delivered_bytes, 20_000_000);
    let late = sent_from(&path, 0, ms(400));
    let too_large = late.iter().filter(|&&(_, bytes)| bytes > 1200).count();
    assert!(
        late.len() > 1000 && late[late.len() - 500..].iter().all(|&(_, bytes)| bytes <= 1200),
        "{too_large}"
    );
    assert!(is_closed_well(&path));
}

/// Discovery begins anew on the path to which a client migrates.
// quinn-proto: migrate_detects_new_mtu_and_respects_original_peer_max_udp_payload_size.
#[test]
fn the_mtu_of_another_path() {
    let mut path = path(5_000_000);
    path.most_bytes = 1300;
    path.run_until(ms(400), &|_, _| false);
    path.most_bytes = 1500;
    path.ends[0].on_addresses(ms(400), &[Address(9), Address(0)]);
    path.run(&[]);
    let largest = |from, to| {
        let times = path.sent.iter().filter(|sent| sent.end == 0 && sent.at >= from && sent.at < to);
        times.map(|sent| sent.bytes).filter(|&bytes| from > ms(300) || bytes <= 1300).max()
    };
    assert!(largest(ms(0), ms(300)) <= Some(1300));
    assert_eq!(largest(ms(400), ms(100_000)), Some(1452));
    assert!(is_closed_well(&path));
}

/// Twelve migrations: each uses up a connection ID (RFC 9000 section 9.5), of which peers keep five or so in
/// stock (5.1.1).
// quinn-proto: cid_rotation, cid_retirement.
#[test]
fn a_client_that_migrates_often() {
    let mut path = path(20_000_000);
    for number in 1..=12 {
        let now = ms(400 * number);
        path.run_until(now, &|_, _| false);
        let preferred = Address(10 + number as u32);
        path.ends[0].on_addresses(now, &[preferred]);
        path.run_until(now + Span::from_ms(200), &|_, _| false);
        assert!(path.ends[0].is_settled(preferred), "{number}");
    }
    path.run(&[]);
    assert_eq!(path.delivered_bytes, 20_000_000);
    assert!(is_closed_well(&path));
}

/// All that is sent from 400 ms to 700 ms is lost, the PING of the new address among it: it is repeated.
// quinn-proto: migration.
#[test]
fn a_migration_whose_packets_are_lost() {
    let mut path = path(3_000_000);
    path.run_until(ms(400), &|_, _| false);
    path.ends[0].on_addresses(ms(400), &[Address(9), Address(0)]);
    path.run_until(ms(100_000), &|_, at| (ms(400)..ms(700)).contains(&at));
    assert_eq!(path.delivered_bytes, 3_000_000);
    assert!(is_closed_well(&path));
}

/// A client moves for a moment to an address that reaches nobody, and back: the connection stays.
// quinn-proto: migration.
#[test]
fn a_path_whose_validation_fails() {
    let mut path = path(3_000_000);
    path.run_until(ms(400), &|_, _| false);
    path.ends[0].on_addresses(ms(400), &[Address(9), Address(0)]);
    path.unreachable = Some(Address(9));
    path.run_until(ms(500), &|_, _| false);
    path.ends[0].on_addresses(ms(500), &[Address(0)]);
    path.run_until(ms(100_000), &|_, _| false);
    assert_eq!(path.delivered_bytes, 3_000_000);
    assert!(path.arrivals.iter().all(|&(_, _, to)| to != Address(9)));
    assert!(is_closed_well(&path));
}

/// Datagrams wait for the window when the client migrates to a path that carries less than the one before,
/// with a window as at first: all leave on the new path, as each fits into any path.
// quinn-proto: path_changes_unblock_oversized_datagrams.
#[test]
fn datagrams_that_wait_go_by_the_new_path() {
    let mut path = open(&datagrams());
    (0..200).for_each(|_| assert!(path.ends[0].write_message(1162).is_some()));
    let begin = path.now;
    path.run_until(begin + Span::from_ms(1), &|_, _| false);
    path.most_bytes = 1200;
    path.ends[0].on_addresses(path.now, &[Address(9), Address(0)]);
    path.run_until(begin + Span::from_secs(5), &|_, _| false);
    let arrived = path.events.iter().filter(|event| matches!(event.2, EndpointEvent::Message { .. })).count();
    assert_eq!(arrived, 200);
    assert!(path.ends[0].is_settled(Address(9)));
}

/// An end loses its state, and answers what it does not know by a stateless reset (RFC 9000 section 10.3),
/// whose key it still has. Either side.
// quinn-proto: server_stateless_reset, client_stateless_reset.
#[test]
fn an_end_that_forgets() {
    let settings = Settings::default();
    for end in [0, 1] {
        let mut path = path(30_000_000);
        path.ends = path.ends.map(Quic::both_ways);
        path.ends[1].write(30_000_000);
        path.run_until(ms(500), &|_, _| false);
        let [client, server] = Crypto::null(&settings);
        let crypto = if end == 0 { client } else { server };
        // The same stream: the same key.
        path.ends[end] = Quic::new(&settings, crypto, Stream::new(7, 0, "quic").child(end as u64));
        path.run_until(ms(2000), &|_, _| false);
        let reset = path.when(1 - end, EndpointEvent::Reset).expect("a reset");
        assert!(reset > ms(500) && reset < ms(700), "{end}: {reset}");
    }
}

/// A connection without packets ends after 5 s. One that sends PINGs each 2 s (RFC 9000 section 10.1.2)
/// lasts.
// quinn-proto: keep_alive.
#[test]
fn keep_alive() {
    let idle = Settings { max_idle_timeout: Some(Span::from_secs(5)), ..datagrams() };
    let kept = Settings { keep_alive: Some(Span::from_secs(2)), ..idle.clone() };
    for (settings, lasts) in [(idle, false), (kept, true)] {
        let mut path = open(&settings);
        path.run_until(ms(60_000), &|_, _| false);
        assert_eq!(path.ends.iter().all(|end| !end.is_gone()), lasts, "{settings:?}");
        if lasts {
            let pings = sent_from(&path, 0, ms(10_000));
            // One each 2 s and an acknowledgement after it; those keep the server from PINGs of its own.
            assert!((24..=26).contains(&pings.len()), "{}", pings.len());
        }
    }
}

/// Keys change at either side while data is under way, and packets of the old keys come late.
// quinn-proto: key_update_simple, key_update_reordered.
#[test]
fn keys_change() {
    for end in [0, 1] {
        let mut path = path(1_000_000);
        path.run_until(ms(200), &|_, _| false);
        path.late = Some((path.sent.len() - 1, Span::from_ms(5)));
        let before = path.octets.len();
        path.ends[end].update_keys();
        path.run(&[]);
        assert_eq!(path.delivered_bytes, 1_000_000, "{end}");
        // The bit of the phase in the short header (RFC 9000 section 17.3.1), which nothing hides here.
        let phase = |octets: &Vec<u8>| octets[0] & 0x84 == 0x04;
        assert!(!path.octets[..before].iter().any(phase), "{end}");
        let first = (before..).find(|&number| path.sent[number].end == end).expect("a datagram");
        assert!(phase(&path.octets[first]), "{end}");
        assert!(is_closed_well(&path));
    }
}
