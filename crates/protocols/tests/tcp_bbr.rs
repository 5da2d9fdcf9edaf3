//! BBR over one bottleneck: the test cases of draft-ietf-ccwg-bbr-06, appendix A, that need no changes of the
//! path, and version 1.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use roamsim_engine::{Span, Stream, Time};
use roamsim_protocols::tcp::{Config, Connection, Segment, Variant};
use roamsim_protocols::{Context, Machine};

/// A link of so many octets a second with a queue, and a fixed delay both ways.
#[derive(Clone, Copy)]
struct Path {
    bytes_per_s: u64,
    one_way: Span,
    queue_bytes: u64,
    loss: f64,
}

/// 10 Mb/s and 40 ms: a product of 50,000 octets, with four times as much of queue.
const PATH: Path =
    Path { bytes_per_s: 1_250_000, one_way: Span::from_ms(20), queue_bytes: 200_000, loss: 0.0 };
const BDP_BYTES: u64 = 50_000;

struct Bottleneck {
    now: Time,
    ends: [Connection; 2],
    path: Path,
    free_at: Time,
    random: Stream,
    flights: BinaryHeap<Reverse<(Time, u64, usize)>>,
    sent: Vec<Segment>,
    /// States of end 0 and when they began.
    states: Vec<(Time, &'static str)>,
    /// The largest wait in the queue since it was last set to zero.
    most_wait: Span,
}

impl Bottleneck {
    fn new(variant: Variant, path: Path, seed: u64) -> Bottleneck {
        let config = Arc::new(Config {
            variant,
            mss_bytes: 1000,
            min_rto: Span::from_ms(200),
            delayed_ack: None,
            ..Config::default()
        });
        let random = Stream::new(seed, 0, "path");
        let mut ends = [Connection::new(&config, 1, 2, 7), Connection::new(&config, 2, 1, 9)];
        ends[0].set_random(&random.child(1));
        ends[1].listen();
        ends[0].open();
        let mut path = Bottleneck {
            now: Time::ZERO,
            ends,
            path,
            free_at: Time::ZERO,
            random,
            flights: BinaryHeap::new(),
            sent: Vec::new(),
            states: Vec::new(),
            most_wait: Span::ZERO,
        };
        path.drain();
        path
    }

    fn drain(&mut self) {
        for i in 0..2 {
            loop {
                let mut unused = Stream::new(0, 0, "");
                let mut cx = Context { now: self.now, random: &mut unused };
                let Some(segment) = self.ends[i].poll_transmit(&mut cx) else { break };
                let mut at = self.now;
                let bytes = u64::from(segment.payload_bytes);
                if i == 0 && bytes > 0 {
                    let start = self.free_at.max(self.now);
                    let wait = start.since(self.now);
                    let queued = wait.as_ns() * self.path.bytes_per_s / 1_000_000_000;
                    if queued + bytes > self.path.queue_bytes || self.random.bernoulli(self.path.loss) {
                        continue;
                    }
                    self.most_wait = self.most_wait.max(wait);
                    at = start + Span::from_ns(bytes * 1_000_000_000 / self.path.bytes_per_s);
                    self.free_at = at;
                }
                self.sent.push(segment);
                self.flights.push(Reverse((at + self.path.one_way, self.sent.len() as u64, 1 - i)));
            }
            while self.ends[i].poll_event().is_some() {}
        }
        if let Some(state) = self.ends[0].congestion_state()
            && self.states.last().is_none_or(|last| last.1 != state)
        {
            self.states.push((self.now, state));
        }
    }

    fn run(&mut self, until: Time) {
        loop {
            let flight = self.flights.peek().map(|Reverse((at, ..))| *at);
            let timeout = self.ends.iter().filter_map(Machine::poll_timeout).min();
            let next = [flight, timeout].into_iter().flatten().min();
            let Some(at) = next.filter(|at| *at <= until) else {
                self.now = until;
                return;
            };
            self.now = at;
            if flight == Some(at) {
                let Some(Reverse((_, number, to))) = self.flights.pop() else { return };
                let segment = self.sent[number as usize - 1].clone();
                self.ends[to].handle_segment_at(at, &segment);
            } else {
                self.ends.iter_mut().for_each(|end| end.handle_timeout_at(at));
            }
            self.drain();
        }
    }

    fn write_endless(&mut self) {
        self.ends[0].write(u64::MAX);
    }

    fn received(&self) -> u64 {
        self.ends[1].received_offset()
    }

    /// When the state was first entered after `from`, and when it was left.
    fn stay(&self, state: &str, from: Time) -> (Time, Time) {
        let place = self.states.iter().position(|(at, name)| *at >= from && *name == state);
        let place = place.unwrap_or_else(|| panic!("no {state} in {:?}", self.states));
        (self.states[place].0, self.states.get(place + 1).map_or(Time::MAX, |next| next.0))
    }
}

fn secs(s: f64) -> Time {
    Time::ZERO + Span::from_secs_f64(s)
}

/// A greedy BBR flow after so many seconds.
fn greedy(path: Path, seed: u64, seconds: f64) -> Bottleneck {
    let mut flow = Bottleneck::new(Variant::BBR, path, seed);
    flow.write_endless();
    flow.run(secs(seconds));
    flow
}

/// The share of the rate that arrives between two times.
fn share_of_rate(variant: Variant, path: Path, seed: u64) -> f64 {
    let mut flow = Bottleneck::new(variant, path, seed);
    flow.write_endless();
    flow.run(secs(2.0));
    let before = flow.received();
    flow.run(secs(62.0));
    (flow.received() - before) as f64 / (60.0 * path.bytes_per_s as f64)
}

/// A.1: the rate doubles each round of 40 ms from 277,000 * 2.5 octets a second, and has reached 1,250,000 in
/// the second. Three rounds without growth follow, each with more of a queue: the cwnd gain of 2 lets one
/// product wait, 40 ms.
#[test]
fn startup_ends_when_the_rate_no_longer_grows() {
    let flow = greedy(PATH, 1, 1.0);
    assert_eq!(flow.states[0].1, "startup");
    let (begin, end) = flow.stay("drain", Time::ZERO);
    assert!((secs(0.2)..secs(0.6)).contains(&begin), "{begin:?}");
    // A.3: at half the rate the product that waits is gone within two rounds.
    assert!(end.since(begin) <= Span::from_ms(160), "{:?}", end.since(begin));
    // PacingMarginPercent: 0.99 of max_bw, which is the link's rate within 2 %.
    let rate = flow.ends[0].pacing_rate_bytes_per_s().unwrap_or(0) as f64 / 0.99;
    assert_eq!(flow.ends[0].congestion_state(), Some("probe_bw_cruise"));
    assert!((rate / 1.25e6 - 1.0).abs() < 0.02, "{rate}");
    assert_eq!(flow.ends[0].stats().retransmissions, 0);
}

/// A.5 and A.8: a probe goes 2 to 3 s after the one before, or after as many rounds as the product has
/// segments, here 50. REFILL takes one round, UP at least three, and DOWN lasts until the flight is the
/// product.
#[test]
fn probes_for_bandwidth_follow_each_other() {
    let flow = greedy(PATH, 1, 40.0);
    let mut probes = 0;
    let mut from = secs(0.5);
    while probes < 4 {
        let (refill, up) = flow.stay("probe_bw_refill", from);
        let (up_again, after) = flow.stay("probe_bw_up", from);
        assert_eq!(up, up_again);
        let round = up.since(refill);
        assert!((Span::from_ms(40)..Span::from_ms(60)).contains(&round), "{round:?}");
        from = after;
        // The probe of the round trip may come between.
        let next = flow.states.iter().find(|(at, _)| *at == after).map(|(_, name)| *name);
        if next == Some("probe_bw_down") {
            assert!(after.since(up) >= Span::from_ms(120), "{:?}", after.since(up));
            let (down, _) = flow.stay("probe_bw_down", after);
            let (again, _) = flow.stay("probe_bw_refill", after);
            assert!(again.since(down) <= Span::from_ms(3100), "{:?}", again.since(down));
            probes += 1;
        }
    }
}

/// A.10: 5 s after the last smaller round trip half the product stays in flight for 200 ms, and the next
/// probe of the round trip is 5 s later.
#[test]
fn the_round_trip_is_probed_every_five_seconds() {
    let mut flow = greedy(PATH, 1, 1.0);
    let mut flights = Vec::new();
    while flow.now < secs(12.0) {
        flow.run(flow.now + Span::from_ms(1));
        if flow.ends[0].congestion_state() == Some("probe_rtt") {
            flights.push(flow.ends[0].flight_bytes());
        }
    }
    let (begin, end) = flow.stay("probe_rtt", Time::ZERO);
    assert!((secs(5.0)..secs(5.2)).contains(&begin), "{begin:?}");
    assert!((Span::from_ms(200)..Span::from_ms(320)).contains(&end.since(begin)));
    assert_eq!(flow.states.iter().find(|(at, _)| *at == end).map(|(_, name)| *name), Some("probe_bw_cruise"));
    let (again, _) = flow.stay("probe_rtt", end);
    assert!((Span::from_ms(5000)..Span::from_ms(5300)).contains(&again.since(end)), "{again:?}");
    assert!(flights.iter().min().is_some_and(|least| *least <= BDP_BYTES / 2), "{flights:?}");
}

/// A.11: an idle time has drained the queue.
#[test]
fn no_round_trip_is_probed_after_an_idle_time() {
    let mut flow = Bottleneck::new(Variant::BBR, PATH, 1);
    flow.ends[0].write(2_000_000);
    flow.run(secs(9.0));
    assert!(flow.received() == 2_000_000 && flow.states.iter().all(|(_, state)| *state != "probe_rtt"));
    flow.ends[0].write(2_000_000);
    flow.drain();
    flow.run(secs(11.0));
    assert_eq!(flow.received(), 4_000_000);
    assert!(flow.states.iter().all(|(_, state)| *state != "probe_rtt"), "{:?}", flow.states);
}

/// A.7: an application that sends less than the window never shows how fast the path is.
#[test]
fn startup_goes_on_while_the_application_is_the_limit() {
    let mut flow = Bottleneck::new(Variant::BBR, PATH, 1);
    for _ in 0..200 {
        flow.ends[0].write(1000);
        flow.drain();
        flow.run(flow.now + Span::from_ms(20));
    }
    assert_eq!(flow.states, [(Time::ZERO, "startup")]);
}

/// A.14: four segments are in flight where the product is less than one: 10,000 octets a second and 40 ms.
#[test]
fn a_product_below_a_segment_keeps_a_few_segments_in_flight() {
    let path = Path { bytes_per_s: 10_000, queue_bytes: 40_000, ..PATH };
    let mut flow = greedy(path, 1, 60.0);
    let before = flow.received();
    flow.run(secs(90.0));
    assert!(flow.received() - before > 290_000);
    // 3 * C.send_quantum, of two segments each, is more than MinPipeCwnd.
    assert!((4000..=10_000).contains(&flow.ends[0].cwnd_bytes()), "{}", flow.ends[0].cwnd_bytes());
}

/// Independent losses: NewReno sends sqrt(3 / (2 p)) = 12.2 segments a round trip of 41 ms, 0.24 of this
/// path. BBR loses a tenth: between two probes each round with a loss sets bw_shortterm to what it delivered,
/// 1 % less than it sent. Measured over eight seeds: 0.969 without losses, 0.851 to 0.880 with 1 %.
#[test]
fn random_losses_cost_little_where_newreno_keeps_a_quarter() {
    let lossy = Path { loss: 0.01, ..PATH };
    let whole = share_of_rate(Variant::BBR, PATH, 1);
    let shares: Vec<f64> = (1..9).map(|seed| share_of_rate(Variant::BBR, lossy, seed)).collect();
    let newreno = share_of_rate(Variant::NEW_RENO, lossy, 1);
    assert!(whole > 0.96, "{whole}");
    assert!(shares.iter().all(|share| *share > 0.84), "{shares:?}");
    assert!((0.2..0.28).contains(&newreno), "{newreno}");
}

/// A queue of a fifth of the product: losses bound the flight, and most of the rate is kept.
#[test]
fn a_shallow_queue_bounds_the_flight() {
    let path = Path { queue_bytes: BDP_BYTES / 5, ..PATH };
    let flow = greedy(path, 1, 60.0);
    let share = flow.received() as f64 / (60.0 * 1.25e6);
    let stats = flow.ends[0].stats();
    let lost = stats.retransmissions as f64 / stats.data_segments_sent as f64;
    assert!(share > 0.85 && lost < 0.02, "{share} {lost}");
    assert_eq!(stats.timeouts, 0);
}

/// What is drawn decides when probes go, and nothing else does.
#[test]
fn the_random_stream_decides_when_probes_go() {
    let states = |seed| greedy(PATH, seed, 10.0).states;
    assert_eq!(states(1), states(1));
    assert_ne!(states(1), states(2));
}

/// A greedy flow of version 1, run for this time.
fn greedy_of_version_1(path: Path, seed: u64, seconds: f64) -> Bottleneck {
    let mut flow = Bottleneck::new(Variant::BBR1, path, seed);
    flow.write_endless();
    flow.run(secs(seconds));
    flow
}

/// The eight phases of version 1 last a `min_rtt` each, 40 ms and the segment's 0.8 ms; the one that probes
/// goes on until 1.25 products are in flight. Startup and Drain are as in version 3, with other gains.
#[test]
fn version_1_probes_every_eight_round_trips() {
    let flow = greedy_of_version_1(PATH, 1, 9.0);
    let names: Vec<&str> = flow.states.iter().take(3).map(|(_, name)| *name).collect();
    assert_eq!(names[..2], ["startup", "drain"]);
    let ups: Vec<Time> =
        flow.states.iter().filter(|(_, name)| *name == "probe_bw_up").map(|(at, _)| *at).collect();
    assert!(ups.len() > 20, "{:?}", flow.states);
    for pair in ups.windows(2) {
        let cycle_ms = pair[1].since(pair[0]).as_ns() as f64 / 1e6;
        assert!((8.0 * 40.8..9.5 * 42.0).contains(&cycle_ms), "{cycle_ms}");
    }
    assert_eq!(flow.ends[0].stats().retransmissions, 0);
}

/// Ten seconds behind the smallest round trip four segments are in flight for 200 ms.
#[test]
fn version_1_probes_the_round_trip_every_ten_seconds() {
    let mut flow = greedy_of_version_1(PATH, 1, 9.0);
    let mut flights = Vec::new();
    while flow.now < secs(24.0) {
        flow.run(flow.now + Span::from_ms(1));
        if flow.ends[0].congestion_state() == Some("probe_rtt") {
            flights.push(flow.ends[0].flight_bytes());
        }
    }
    let (begin, end) = flow.stay("probe_rtt", Time::ZERO);
    assert!((secs(10.0)..secs(10.2)).contains(&begin), "{begin:?}");
    assert!((Span::from_ms(200)..Span::from_ms(340)).contains(&end.since(begin)));
    let (again, _) = flow.stay("probe_rtt", end);
    assert!((Span::from_secs(10)..Span::from_ms(10_300)).contains(&again.since(end)), "{again:?}");
    assert_eq!(flights.iter().min(), Some(&4000));
}

/// Version 1 takes no loss for congestion: of what the link carries, 3 % of independent losses cost 3 %,
/// where version 3 keeps less than three quarters. NewReno keeps sqrt(3 / (2 p)) = 7 segments a round trip,
/// 0.14.
#[test]
fn random_losses_cost_version_1_what_they_take() {
    let lossy = Path { loss: 0.03, ..PATH };
    let whole = share_of_rate(Variant::BBR1, PATH, 1);
    assert!(whole > 0.96, "{whole}");
    for seed in 1..5 {
        let kept = share_of_rate(Variant::BBR1, lossy, seed) / whole;
        assert!((kept - 0.97).abs() < 0.02, "{kept} of {whole}");
    }
    let version_3 = share_of_rate(Variant::BBR, lossy, 1);
    assert!(version_3 < 0.75, "{version_3}");
}

/// A probe of version 1 sends a quarter more than the product for one round trip in eight. A queue of a fifth
/// of the product does not hold that. Measured over four seeds: 0.969 to 0.970 of the rate. 3.1 % of the
/// segments are retransmissions, with version 3 less than 2 %.
#[test]
fn each_probe_of_version_1_overflows_a_short_queue() {
    let path = Path { queue_bytes: BDP_BYTES / 5, ..PATH };
    for seed in 1..5 {
        let flow = greedy_of_version_1(path, seed, 60.0);
        let share = flow.received() as f64 / (60.0 * 1.25e6);
        let stats = flow.ends[0].stats();
        let lost = stats.retransmissions as f64 / stats.data_segments_sent as f64;
        assert!(share > 0.96 && (0.02..0.04).contains(&lost), "{share} {lost}");
        assert_eq!(stats.timeouts, 0);
    }
}
