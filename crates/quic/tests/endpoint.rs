//! Two ends: round trips of the handshake, loss of each flight, determinism, and what they take from
//! strangers.

mod path;

use path::{Path, ms};
use roamsim_engine::{Span, Stream, Time};
use roamsim_network::socket::endpoint::{Endpoint, EndpointEvent};
use roamsim_protocols::Address;
use roamsim_protocols::tcp::congestion::Kind;
use roamsim_quic::{CongestionControl, Crypto, EarlyData, Messages, Quic, Settings};

fn null() -> [Crypto; 2] {
    Crypto::null(&Settings::default())
}

fn path(bytes: u64) -> Path {
    let mut path = Path::new(null(), &Settings::default());
    path.send(bytes);
    path
}

/// The client is ready when the server's flight has come, after 40 ms, and the server when the client's
/// second flight has, 20 ms later. Data leaves with that flight: 1000 octets are there after 60 ms.
#[test]
fn a_handshake_takes_one_round_trip_and_data_leaves_with_its_end() {
    let mut path = path(1000);
    path.run(&[]);
    assert_eq!(path.when(0, EndpointEvent::Established), Some(ms(40)));
    assert_eq!(path.when(1, EndpointEvent::Established), Some(ms(60)));
    assert_eq!(path.when(1, EndpointEvent::Received { up_to: 1000 }), Some(ms(60)));
    assert_eq!(path.when(1, EndpointEvent::RemoteClosed), Some(ms(60)));
    assert!(path.ends.iter().all(Endpoint::is_gone));
}

/// A Retry costs the round trip of 40 ms (RFC 9000 section 8.1.2).
// quinn-proto: stateless_retry.
#[test]
fn a_retry_costs_a_round_trip() {
    let retried = |certificate_bytes, lost: &[usize]| {
        let settings = Settings { retry: true, certificate_bytes, ..Settings::default() };
        let mut path = Path::new(Crypto::null(&settings), &settings);
        path.send(1000);
        path.run(lost);
        path
    };
    let path = retried(1500, &[]);
    assert_eq!(path.when(0, EndpointEvent::Established), Some(ms(80)));
    assert_eq!(path.when(1, EndpointEvent::Received { up_to: 1000 }), Some(ms(100)));
    // The address is proven: a chain of 4000 octets leaves at once, where it waits without a Retry.
    let path = retried(4000, &[]);
    assert_eq!(path.when(0, EndpointEvent::Established), Some(ms(80)));
    // A lost Retry, and a lost first packet with the token, cost a probe timeout each, of 999 ms: no round
    // trip has been measured (RFC 9002 section 6.2.2).
    for lost in [1, 2] {
        let path = retried(1500, &[lost]);
        // 999 + 80 ms, and 40 + 999 + 40 ms.
        assert_eq!(path.when(0, EndpointEvent::Established), Some(ms(1079)), "{lost}");
        assert_eq!(path.delivered_bytes, 1000);
    }
}

/// Two ends that have met before; the client closes after so many octets, if there are any.
fn met(settings: &Settings, bytes: u64) -> Path {
    let mut path = Path::new(Crypto::null(settings), settings);
    path.send(bytes);
    path
}

fn early(early_data: EarlyData) -> Settings {
    Settings { early_data, ..Settings::default() }
}

/// Data leaves with the first flight (RFC 9001 section 4.6): 1000 octets are there after one way of 20 ms.
/// The server's leave when that has come, and the client reads them with the handshake, at 40 ms.
// quinn-proto: zero_rtt_happypath.
#[test]
fn early_data_takes_one_way() {
    let mut path = met(&early(EarlyData::Accepted), 1000);
    path.ends = path.ends.map(Quic::both_ways);
    path.ends[1].write(1000);
    path.run(&[]);
    assert_eq!(path.when(1, EndpointEvent::Received { up_to: 1000 }), Some(ms(20)));
    assert_eq!(path.when(0, EndpointEvent::Received { up_to: 1000 }), Some(ms(40)));
    assert_eq!(path.when(0, EndpointEvent::Established), Some(ms(40)));
    assert_eq!(path.when(1, EndpointEvent::Established), Some(ms(60)));
    assert!(path.ends.iter().all(Endpoint::is_gone));
}

/// Each flight is lost in turn; the client's first has the data in two datagrams.
///
/// | lost at | ready | data |
/// |---|---|---|
/// | 0 | the probe timeout of 999 ms and a round trip | the acknowledgement at 1079 ms shows its loss |
/// | 20 ms | as without early data: 1079 ms | has come before |
/// | 40 ms | 40 ms | has come before |
///
/// Two samples of the round trip have been taken by 40 ms, of the hello and of the data: its variation is 15
/// ms, and the client's probe leaves 40 + 4 x 15 ms later, to be at the server at 160 ms.
#[test]
fn a_lost_flight_with_early_data() {
    for (lost, ready, server_ready, data) in [(0, 1039, 1059, 1099), (20, 1079, 1099, 20), (40, 40, 160, 20)]
    {
        let mut path = met(&early(EarlyData::Accepted), 1000);
        path.run_until(ms(100_000), &|_, at| at == ms(lost));
        let when = |end, event| path.when(end, event);
        assert_eq!(when(0, EndpointEvent::Established), Some(ms(ready)), "{lost}");
        assert_eq!(when(1, EndpointEvent::Established), Some(ms(server_ready)), "{lost}");
        assert_eq!(when(1, EndpointEvent::Received { up_to: 1000 }), Some(ms(data)), "{lost}");
        assert!(path.ends.iter().all(Endpoint::is_gone));
    }
}

/// A server that has forgotten the client drops it. The client learns that with the handshake, at 40 ms, and
/// sends it again: it is there at 60 ms, as without.
// quinn-proto: zero_rtt_rejection.
#[test]
fn early_data_that_is_refused_takes_a_round_trip_more() {
    for messages in [Messages::OneStream, Messages::StreamEach] {
        let settings = Settings { messages, ..early(EarlyData::Refused) };
        let mut path = Path::new(Crypto::null(&settings), &settings);
        path.ends[0].open();
        (0..5).for_each(|_| {
            path.ends[0].write_message(200);
        });
        path.ends[0].close();
        path.run(&[]);
        let arrived = |event: &EndpointEvent| match (messages, event) {
            (Messages::StreamEach, EndpointEvent::Message { number, .. }) => Some(*number),
            (Messages::OneStream, EndpointEvent::Received { up_to }) => Some(*up_to),
            _ => None,
        };
        let arrivals = path.events.iter().filter_map(|&(at, _, event)| Some((at, arrived(&event)?)));
        let arrivals: Vec<_> = arrivals.collect();
        match messages {
            Messages::StreamEach => {
                assert_eq!(arrivals, (0..5).map(|number| (ms(60), number)).collect::<Vec<_>>());
            }
            _ => assert_eq!(arrivals.last(), Some(&(ms(60), 1000))),
        }
        assert!(path.ends.iter().all(Endpoint::is_gone));
    }
}

/// The client's first flight leaves again with the token, early data with it: it is there after three ways
/// (RFC 9000 section 17.2.5.3).
#[test]
fn a_retry_costs_early_data_a_round_trip() {
    let settings = Settings { retry: true, ..early(EarlyData::Accepted) };
    let mut path = met(&settings, 1000);
    path.run(&[]);
    assert_eq!(path.when(1, EndpointEvent::Received { up_to: 1000 }), Some(ms(60)));
    assert_eq!(path.when(0, EndpointEvent::Established), Some(ms(80)));
    assert!(path.ends.iter().all(Endpoint::is_gone));
}

/// Without a measurement the round trip counts as 333 ms, its variation as half of that (RFC 9002 section
/// 6.2.2): the probe timeout is 333 + 4 x 166.5 = 999 ms (6.2.1), and the handshake as much later.
// quinn-proto: initial_retransmit.
#[test]
fn a_lost_first_flight_costs_a_probe_timeout_of_999_ms() {
    let mut path = path(1000);
    path.run(&[0]);
    assert_eq!(path.sent[1].at, ms(999));
    assert_eq!(path.when(0, EndpointEvent::Established), Some(ms(1039)));
    assert_eq!(path.when(1, EndpointEvent::Received { up_to: 1000 }), Some(ms(1059)));
}

/// A chain of 100 octets makes the server's flight one datagram, sent at 20 ms. Its probe timeout of 999 ms
/// ends at 1019 ms. The library's probe repeats the packet with the lowest keys alone; what it acknowledges
/// at 1039 ms is at the server at 1059 ms, which sends the rest: the client is ready at 1079 ms.
// quinn-proto: server_hs_retransmit.
#[test]
fn a_lost_flight_of_the_server_costs_its_probe_timeout_and_a_round_trip() {
    let settings = Settings { certificate_bytes: 100, ..Settings::default() };
    let mut path = Path::new(Crypto::null(&settings), &settings);
    path.send(1000);
    path.run(&[1]);
    assert_eq!((path.sent[1].end, path.sent[1].at), (1, ms(20)));
    let second = path.sent.iter().find(|sent| sent.end == 1 && sent.at > ms(20)).expect("one more");
    assert_eq!(second.at, ms(1019));
    assert_eq!(path.when(0, EndpointEvent::Established), Some(ms(1079)));
    assert_eq!(path.delivered_bytes, 1000);
}

/// The client's second flight, all of what it sends at 40 ms, is lost. Its round trip is known by then, 40
/// ms, and its variation 20 ms: the probe timeout is 40 + 4 x 20 = 120 ms, and 25 ms for data (RFC 9002
/// section 6.2.1). The first probe leaves at 40 + 120 ms.
// quinn-proto: handshake_1rtt_handling.
#[test]
fn a_lost_second_flight_of_the_client_costs_a_probe_timeout_of_120_ms() {
    let mut path = path(1000);
    path.run_until(ms(100_000), &|_, at| at == ms(40));
    let probe = path.sent.iter().find(|sent| sent.end == 0 && sent.at > ms(40)).expect("a probe");
    assert_eq!(probe.at, ms(160));
    assert_eq!(path.when(1, EndpointEvent::Established), Some(ms(180)));
    assert_eq!(path.delivered_bytes, 1000);
}

// quinn-proto: idle_timeout.
#[test]
fn a_peer_that_is_silent_is_given_up_after_the_idle_timeout() {
    let mut path = path(1000);
    path.run_until(ms(100_000), &|_, _| true);
    assert_eq!(path.when(0, EndpointEvent::TimedOut), Some(ms(30_000)));
    assert!(path.ends[0].is_gone());
}

#[test]
fn what_is_given_up_is_a_reset_for_the_peer() {
    let mut path = path(50_000_000);
    path.run_until(ms(500), &|_, _| false);
    path.ends[0].abort();
    path.run_until(ms(5000), &|_, _| false);
    assert!(path.when(1, EndpointEvent::Reset).is_some());
    assert!(path.ends.iter().all(Endpoint::is_gone));
}

#[test]
fn data_goes_both_ways_and_each_end_waits_for_the_other() {
    let mut path = Path::new(null(), &Settings::default());
    let [client, server] = path.ends;
    path.ends = [client.both_ways(), server.both_ways()];
    path.send(1000);
    path.ends[1].write(100_000);
    path.run(&[]);
    let received = |end| {
        let of_end = path.events.iter().filter(|event| event.1 == end);
        of_end
            .filter_map(|event| match event.2 {
                EndpointEvent::Received { up_to } => Some(up_to),
                _ => None,
            })
            .max()
    };
    assert_eq!((received(0), received(1)), (Some(100_000), Some(1000)));
    assert!(path.ends.iter().all(Endpoint::is_gone));
}

/// 100 datagrams of 1000 octets do not fit into the first window of 12,000. The end closes at once, and sends
/// them all before.
#[test]
fn an_end_that_closes_sends_the_datagrams_that_wait_for_the_window() {
    let mut path = Path::new(null(), &Settings { messages: Messages::Datagrams, ..Settings::default() });
    path.ends[0].open();
    (0..100).for_each(|number| assert_eq!(path.ends[0].write_message(1000), Some(number)));
    path.ends[0].close();
    path.run(&[]);
    let arrived = path.events.iter().filter(|event| matches!(event.2, EndpointEvent::Message { .. }));
    assert_eq!(arrived.count(), 100);
    assert!(path.ends.iter().all(Endpoint::is_gone));
}

/// 10 datagrams of 1200 octets leave at first, 20 a round trip later.
#[test]
fn the_initial_window_is_what_may_leave_before_the_first_acknowledgement() {
    for window_bytes in [12_000, 24_000] {
        let settings = Settings { initial_window_bytes: window_bytes, ..Settings::default() };
        let mut path = Path::new(null(), &settings);
        path.send(1_000_000);
        path.run_until(ms(79), &|_, _| false);
        let of_flight = path.sent.iter().filter(|sent| sent.end == 0 && sent.at >= ms(40));
        let bytes: usize = of_flight.map(|sent| sent.bytes).sum();
        let (least, most) = (window_bytes as usize - 2 * 1452, window_bytes as usize + 2 * 1452);
        assert!((least..=most).contains(&bytes), "{bytes}");
    }
}

/// Each congestion control falls and rises again; one packet of a hundred is lost.
#[test]
fn every_congestion_control_delivers_under_losses() {
    let laws =
        Kind::ALL.iter().filter(|kind| kind.about().is_some()).map(|kind| CongestionControl::Law(*kind));
    for congestion_control in laws.chain([CongestionControl::NewReno]) {
        let mut path = Path::new(null(), &Settings { congestion_control, ..Settings::default() });
        path.send(3_000_000);
        path.run_until(ms(100_000), &|number, _| number % 100 == 99);
        assert_eq!(path.delivered_bytes, 3_000_000, "{congestion_control:?}");
        let counts = path.ends[0].counts();
        assert!(
            counts.retransmissions > 10 && counts.fast_retransmits > 3,
            "{congestion_control:?}: {counts:?}"
        );
        assert!(counts.segments > 3_000_000 / 1452, "{congestion_control:?}: {counts:?}");
    }
}

#[test]
fn one_seed_gives_the_same_octets_and_another_one_others() {
    let octets = |seed| {
        let mut path = Path::with_seed(null(), &Settings::default(), seed);
        path.send(200_000);
        path.run(&[3, 17, 40]);
        (path.sent, path.octets)
    };
    assert_eq!(octets(1), octets(1));
    assert_ne!(octets(1).1, octets(2).1);
}

#[test]
fn a_transfer_goes_on_after_an_outage() {
    let mut path = path(3_000_000);
    path.run_until(ms(100_000), &|_, at| (ms(300)..ms(5000)).contains(&at));
    assert_eq!(path.delivered_bytes, 3_000_000);
    let counts = path.ends[0].counts();
    assert!(counts.retransmissions > 10, "{counts:?}");
}

/// Datagrams of random octets, and real ones with octets changed, from the peer and from strangers.
#[test]
fn no_datagram_makes_it_panic() {
    let mut random = Stream::new(3, 0, "datagrams");
    for round in 0..60 {
        let mut path = Path::with_seed(null(), &Settings::default(), round);
        path.send(30_000);
        for step in 1..40 {
            path.run_until(ms(5 * step), &|_, _| false);
            let to = random.below(2) as usize;
            let from = Address(random.below(3) as u32);
            let mut octets = match path.octets.len() as u64 {
                known if known > 0 && random.bernoulli(0.7) => {
                    path.octets[random.below(known) as usize].clone()
                }
                _ => (0..random.below(1500)).map(|_| random.next_u64() as u8).collect(),
            };
            for _ in 0..random.below(4) {
                let at = random.below(octets.len() as u64) as usize;
                if let Some(octet) = octets.get_mut(at) {
                    *octet = random.next_u64() as u8;
                }
            }
            octets.truncate(octets.len() - random.below(1 + octets.len() as u64 / 4) as usize);
            path.inject(to, [from, Address(to as u32)], &octets);
        }
        path.run_until(ms(100_000), &|_, _| false);
    }
}

/// A NAT gives the client another address at 300 ms, and it does not know. The server sees packets from
/// there, challenges it (RFC 9000 section 9.3) and goes on.
#[test]
fn a_client_behind_a_nat_that_rebinds_keeps_its_connection() {
    let mut path = path(3_000_000);
    path.run_until(ms(300), &|_, _| false);
    path.nat = Some(Address(9));
    path.run_until(ms(100_000), &|_, _| false);
    assert_eq!(path.delivered_bytes, 3_000_000);
    // Its acknowledgements come by the new mapping.
    assert!(path.through_nat > 20, "{}", path.through_nat);
    assert!(path.when(0, EndpointEvent::TimedOut).is_none() && path.ends[0].is_gone());
}

/// A NAT gives the client another port at 300 ms. Its window and round trip stay, since the address is the
/// same (RFC 9000 section 9.4). What comes to the port before is lost.
#[test]
fn a_client_behind_a_nat_that_gives_it_another_port() {
    let settings = Settings { rebinding_interval: Some(Span::from_ms(300)), ..Settings::default() };
    let mut path = Path::new(Crypto::null(&settings), &settings);
    path.send(3_000_000);
    path.run_until(ms(340), &|_, _| false);
    let window = path.ends[0].cwnd_bytes();
    assert!(window > Some(100_000), "{window:?}");
    path.run_until(ms(400), &|_, _| false);
    // The challenge of the new path fills a datagram (section 8.2.1).
    assert!(path.sent.iter().any(|sent| (sent.end, sent.at, sent.bytes) == (1, ms(320), 1200)));
    assert!(path.ends[0].cwnd_bytes() >= window);
    path.run_until(ms(100_000), &|_, _| false);
    assert_eq!(path.delivered_bytes, 3_000_000);
    assert!(path.when(0, EndpointEvent::TimedOut).is_none() && path.ends[0].is_gone());
}

/// A server sends at first and after 3.5 s. In between the client has nothing to say, and gets another port:
/// the server never learns of it, and the connection ends. With PINGs it learns (RFC 9000 section 10.1.2).
// quinn-proto: keep_alive.
#[test]
fn a_client_that_keeps_its_nat_busy_is_found() {
    for (keep_alive, is_found) in [(None, false), (Some(Span::from_secs(1)), true)] {
        let settings =
            Settings { rebinding_interval: Some(Span::from_secs(2)), keep_alive, ..Settings::default() };
        let mut path = Path::new(Crypto::null(&settings), &settings);
        path.ends = path.ends.map(Quic::both_ways);
        path.ends[0].open();
        path.ends[1].write(100_000);
        path.run_until(ms(3500), &|_, _| false);
        path.ends[1].write(100_000);
        path.run_until(ms(60_000), &|_, _| false);
        let received = path.when(0, EndpointEvent::Received { up_to: 200_000 });
        assert_eq!((received.is_some(), path.ends[1].is_gone()), (is_found, !is_found), "{keep_alive:?}");
    }
}

/// At 300 ms the client goes on from another address. The server hears of it 20 ms later, and sends there
/// from then on: a challenge first (RFC 9000 section 8.2). The client has a window as at first.
// quinn-proto: migration.
#[test]
fn a_client_that_migrates_keeps_its_connection() {
    let mut path = path(3_000_000);
    path.run_until(ms(300), &|_, _| false);
    assert!(path.ends[0].cwnd_bytes() > Some(24_000));
    assert!(path.ends[0].is_settled(Address(0)) && !path.ends[0].is_settled(Address(9)));
    path.ends[0].on_addresses(ms(300), &[Address(9), Address(0)]);
    assert_eq!(path.ends[0].cwnd_bytes(), Some(12_000));
    path.run_until(ms(100_000), &|_, _| false);
    assert_eq!(path.delivered_bytes, 3_000_000);
    let to = |address| {
        path.arrivals.iter().filter(move |&&(_, of, at)| (of, at) == (0, address)).map(|&(at, ..)| at)
    };
    // What was under way comes to the old address for 20 ms more, as does the challenge there.
    assert_eq!(to(Address(9)).next(), Some(ms(340)));
    assert_eq!(to(Address(0)).max(), Some(ms(340)));
    assert!(path.when(0, EndpointEvent::TimedOut).is_none() && path.ends[0].is_gone());
}

/// Two ends with BBR that send to each other, at an instant at which the rate holds the client's data back.
fn held() -> (Path, Time) {
    let settings = Settings { congestion_control: CongestionControl::Law(Kind::Bbr), ..Settings::default() };
    let mut path = Path::new(null(), &settings);
    let [client, server] = path.ends;
    path.ends = [client.both_ways(), server.both_ways()];
    path.send(50_000_000);
    path.ends[1].write(50_000_000);
    // The window of 12,000 octets goes in 14 ms of a round trip of 40.
    let now = ms(85);
    path.run_until(now, &|_, _| false);
    let deadline = path.ends[0].poll_timeout().expect("a deadline");
    assert!(path.ends[0].poll_transmit(now).is_none() && deadline < now + Span::from_ms(3), "{deadline}");
    (path, now)
}

/// An acknowledgement is not held back by the rate of the control (RFC 9002 section 7.7): two packets are
/// acknowledged at once (RFC 9000 section 13.2.2).
#[test]
fn the_rate_of_bbr_holds_no_acknowledgement_back() {
    let (mut path, now) = held();
    let (arrived, sent) = (path.arrivals.len(), path.sent.len());
    path.run_until(now + Span::from_ms(40), &|_, _| false);
    let at_client = path.arrivals[arrived..].iter().filter(|&&(_, end, _)| end == 0).map(|&(at, ..)| at);
    let leave = |at| path.sent[sent..].iter().any(|sent| sent.end == 0 && sent.at == at);
    let arrivals: Vec<Time> = at_client.collect();
    let late = arrivals.windows(2).filter(|pair| !leave(pair[0]) && !leave(pair[1])).count();
    assert!(arrivals.len() > 10 && late == 0, "{late} of {}", arrivals.len());
}

/// Nor is the end of the connection.
#[test]
fn the_rate_of_bbr_holds_no_end_of_the_connection_back() {
    let (mut path, now) = held();
    path.ends[0].abort();
    path.run_until(now + Span::from_ms(30), &|_, _| false);
    assert_eq!(path.when(1, EndpointEvent::Reset), Some(now + Span::from_ms(20)));
}

/// What goes in place of an acknowledgement delays what follows: the mean rate is the control's. Each
/// datagram of the server's that arrives lets one go.
#[test]
fn data_that_goes_in_place_of_an_acknowledgement_counts_for_the_rate() {
    let (mut path, now) = held();
    let rate_bps = path.ends[0].pacing_bps().expect("a rate");
    let sent = path.sent.len();
    path.run_until(now + Span::from_ms(10), &|_, _| false);
    assert_eq!(path.ends[0].pacing_bps(), Some(rate_bps));
    let of_client = path.sent[sent..].iter().filter(|sent| sent.end == 0);
    let bytes: usize = of_client.map(|sent| sent.bytes).sum();
    let paced_bytes = (rate_bps / 8 * 10 / 1000) as usize;
    assert!(bytes.abs_diff(paced_bytes) < 2 * 1452, "{bytes} for {paced_bytes}");
}
