//! The 22 test cases of draft-ietf-ccwg-bbr-06, appendix A, each a connection over a bottleneck whose rate,
//! losses, delays and application change as the case asks. Each prints a verdict with what was measured:
//!
//! ```text
//! cargo test -p roamsim-protocols --lib bbr::tests::cases -- --nocapture --test-threads=1
//! ```
//!
//! The variables of the pseudocode are looked at after each event.

#![allow(clippy::print_stdout, reason = "verdicts are printed")]

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;

use roamsim_engine::{Span, Stream, Time};

use super::super::model::{Model, share};
use super::super::{Bbr, NONE, State};
use crate::machine::{Context, Machine};
use crate::tcp::{Config, Connection, Segment, Variant};

/// Octets of a segment.
const MSS: u64 = 1000;
/// 10 Mb/s.
const RATE: u64 = 1_250_000;
const RTT: Span = Span::from_ms(40);
const ONE_WAY: Span = Span::from_ms(20);
/// The product of both.
const BDP: u64 = 50_000;

/// What the application does.
#[derive(Clone, Copy)]
enum Application {
    Greedy,
    /// So many octets every 5 ms.
    Writes(u64),
}

/// A token bucket without a queue.
struct Policer {
    bytes_per_s: u64,
    burst_bytes: u64,
    tokens: u64,
    at: Time,
}

impl Policer {
    fn lets_go(&mut self, now: Time, bytes: u64) -> bool {
        let earned = now.since(self.at).as_ns() * self.bytes_per_s / 1_000_000_000;
        if earned > 0 {
            (self.tokens, self.at) = ((self.tokens + earned).min(self.burst_bytes), now);
        }
        let has_tokens = self.tokens >= bytes;
        self.tokens -= if has_tokens { bytes } else { 0 };
        has_tokens
    }
}

/// A change of state.
struct Change {
    at: Time,
    from: State,
    to: State,
    /// Right before and behind it.
    before: Model,
    after: Model,
}

struct Path {
    now: Time,
    ends: [Connection; 2],
    application: Application,
    writes_at: Time,
    bytes_per_s: u64,
    queue_bytes: u64,
    /// Numbers and octets of the segments that wait or are sent, and when the first has been sent.
    queue: VecDeque<(u64, u64)>,
    sent_at: Option<Time>,
    /// Nothing arrives before.
    held_until: Time,
    /// Every segment of this number is lost; none by 0.
    loses_every: u64,
    /// So many segments still take so much longer.
    late: (u64, Span),
    /// Acknowledgements arrive together, at multiples of this time.
    aggregation: Span,
    policer: Option<Policer>,
    segments: u64,
    lost: u64,
    flights: BinaryHeap<Reverse<(Time, u64, usize)>>,
    sent: Vec<Segment>,
    changes: Vec<Change>,
    model: Model,
}

impl Path {
    /// A flow that has as much to send as fits, with so much of a queue.
    fn new(queue_bytes: u64) -> Path {
        Path::with_seed(queue_bytes, 1)
    }

    /// The same; BBR draws from this seed.
    fn with_seed(queue_bytes: u64, seed: u64) -> Path {
        let config = Arc::new(Config {
            variant: Variant::BBR,
            mss_bytes: MSS as u32,
            min_rto: Span::from_ms(200),
            delayed_ack: None,
            frto: true,
            undo: true,
            ..Config::default()
        });
        let mut ends = [Connection::new(&config, 1, 2, 7), Connection::new(&config, 2, 1, 9)];
        ends[0].set_random(&Stream::new(seed, 0, "cases"));
        ends[1].listen();
        ends[0].open();
        let model = (*ends[0].bbr().model).clone();
        Path {
            now: Time::ZERO,
            ends,
            application: Application::Greedy,
            writes_at: Time::ZERO,
            bytes_per_s: RATE,
            queue_bytes,
            queue: VecDeque::new(),
            sent_at: None,
            held_until: Time::ZERO,
            loses_every: 0,
            late: (0, Span::ZERO),
            aggregation: Span::ZERO,
            policer: None,
            segments: 0,
            lost: 0,
            flights: BinaryHeap::new(),
            sent: Vec::new(),
            changes: Vec::new(),
            model,
        }
    }

    fn bbr(&self) -> &Bbr {
        self.ends[0].bbr()
    }

    fn write(&mut self) {
        let end = &mut self.ends[0];
        match self.application {
            Application::Greedy => {
                let unsent = end.written_bytes() - end.snd_max_offset();
                end.write((50 * MSS).saturating_sub(unsent));
            }
            Application::Writes(bytes) if self.now >= self.writes_at => {
                self.writes_at = self.now + Span::from_ms(5);
                end.write(bytes);
            }
            Application::Writes(_) => {}
        }
    }

    /// The application writes so much from now on, with nothing left from before.
    fn limit(&mut self, bytes: u64) {
        (self.application, self.writes_at) = (Application::Writes(bytes), self.now);
    }

    /// The bottleneck takes a segment, unless it is lost.
    fn enqueue(&mut self, number: u64, bytes: u64) {
        self.segments += 1;
        let queued: u64 = self.queue.iter().map(|(_, bytes)| bytes).sum();
        let dropped = self.loses_every > 0 && self.segments.is_multiple_of(self.loses_every)
            || queued + bytes > self.queue_bytes
            || self.policer.as_mut().is_some_and(|policer| !policer.lets_go(self.now, bytes));
        if dropped {
            self.lost += 1;
            return;
        }
        self.queue.push_back((number, bytes));
        if self.sent_at.is_none() {
            self.serve(bytes);
        }
    }

    fn serve(&mut self, bytes: u64) {
        self.sent_at = Some(self.now + Span::from_ns(bytes * 1_000_000_000 / self.bytes_per_s));
    }

    /// The first segment of the queue has been sent.
    fn depart(&mut self) {
        let Some((number, _)) = self.queue.pop_front() else { return };
        let mut arrival = (self.now + ONE_WAY).max(self.held_until);
        if self.late.0 > 0 {
            self.late.0 -= 1;
            arrival += self.late.1;
        }
        self.flights.push(Reverse((arrival, number, 1)));
        self.sent_at = None;
        if let Some(&(_, bytes)) = self.queue.front() {
            self.serve(bytes);
        }
    }

    fn exchange(&mut self) {
        self.write();
        for i in 0..2 {
            loop {
                let mut unused = Stream::new(0, 0, "");
                let mut cx = Context { now: self.now, random: &mut unused };
                let Some(segment) = self.ends[i].poll_transmit(&mut cx) else { break };
                let bytes = u64::from(segment.payload_bytes);
                self.sent.push(segment);
                let number = self.sent.len() as u64;
                if i == 0 && bytes > 0 {
                    self.enqueue(number, bytes);
                    continue;
                }
                let mut at = self.now;
                if i == 1 && self.aggregation > Span::ZERO {
                    let ns = self.aggregation.as_ns();
                    at = Time::from_ns(self.now.as_ns().div_ceil(ns) * ns);
                }
                self.flights.push(Reverse((at + ONE_WAY, number, 1 - i)));
            }
            while self.ends[i].poll_event().is_some() {}
        }
        let after = (*self.ends[0].bbr().model).clone();
        let before = std::mem::replace(&mut self.model, after.clone());
        if before.state != after.state {
            self.changes.push(Change { at: self.now, from: before.state, to: after.state, before, after });
        }
    }

    /// The next thing happens, if it does before `most`.
    fn step(&mut self, most: Time) -> bool {
        let flight = self.flights.peek().map(|Reverse((at, ..))| *at);
        let timeout = self.ends.iter().filter_map(Machine::poll_timeout).min();
        let write = matches!(self.application, Application::Writes(_)).then_some(self.writes_at);
        let next = [flight, timeout, write, self.sent_at].into_iter().flatten().min();
        let Some(at) = next.filter(|at| *at <= most) else {
            self.now = most;
            return false;
        };
        self.now = self.now.max(at);
        if self.sent_at == Some(at) {
            self.depart();
            return true;
        }
        if flight == Some(at) {
            let Some(Reverse((_, number, to))) = self.flights.pop() else { return false };
            let segment = self.sent[number as usize - 1].clone();
            self.ends[to].handle_segment_at(at, &segment);
        } else if timeout == Some(at) {
            self.ends.iter_mut().for_each(|end| end.handle_timeout_at(at));
        }
        self.exchange();
        true
    }

    fn run(&mut self, time: Span) {
        let until = self.now + time;
        while self.step(until) {}
    }

    /// Runs until something is so, for 30 s at most.
    fn until(&mut self, what: &str, is_so: impl Fn(&Path) -> bool) {
        let most = self.now + Span::from_secs(30);
        while !is_so(self) {
            let states: Vec<_> = self.changes.iter().map(|change| (change.at, change.to)).collect();
            assert!(self.step(most), "never {what}: {states:?}");
        }
    }

    fn until_state(&mut self, state: State) {
        self.until(state.name(), |path| path.model.state == state);
    }

    /// Runs until the state that is now ends, and tells how.
    fn next_change(&mut self) -> &Change {
        let known = self.changes.len();
        self.until("another state", |path| path.changes.len() > known);
        &self.changes[known]
    }

    /// A greedy flow that has just entered a state behind Startup.
    fn in_state(queue_bytes: u64, state: State) -> Path {
        Path::seeded_in_state(queue_bytes, state, 1)
    }

    fn seeded_in_state(queue_bytes: u64, state: State, seed: u64) -> Path {
        let mut path = Path::with_seed(queue_bytes, seed);
        path.exchange();
        path.until_state(State::ProbeBwCruise);
        path.until_state(state);
        path
    }

    /// Octets a second that arrive within a time.
    fn goodput(&mut self, time: Span) -> f64 {
        let before = self.ends[1].received_offset();
        self.run(time);
        (self.ends[1].received_offset() - before) as f64 / time.as_secs_f64()
    }
}

/// Prints the verdict of a case that has passed; one that has not is a panic before.
fn passed(number: u32, title: &str, measured: std::fmt::Arguments<'_>) {
    println!("A.{number:<3} passed  {title}: {measured}");
}

/// Four times the product.
const DEEP: u64 = 4 * BDP;
/// Half of it.
const SHALLOW: u64 = BDP / 2;

#[test]
fn a_01_startup_ends_on_a_plateau() {
    let mut path = Path::new(DEEP);
    path.exchange();
    let Change { to, after, .. } = path.next_change();
    assert_eq!(*to, State::Drain);
    assert!(after.full_bw_now && after.full_bw_reached && after.full_bw_count == 3);
    let ratio = after.max_bw as f64 / RATE as f64;
    assert!((0.98..1.02).contains(&ratio), "{ratio}");
    passed(1, "Startup ends on a plateau", format_args!("max_bw {ratio:.3} of the rate, full_bw_count 3"));
}

#[test]
fn a_02_startup_ends_on_losses_though_the_application_is_the_limit() {
    let mut path = Path::new(DEEP);
    path.limit(4000);
    path.exchange();
    path.run(Span::from_secs(2));
    assert!(path.changes.is_empty() && path.ends[0].delivery_rate().is_some_and(|rate| rate.app_limited));
    path.loses_every = 3;
    let begin = path.now;
    let Change { to, before, after, at, .. } = path.next_change();
    assert!(after.full_bw_now && after.full_bw_reached && before.full_bw_count < 3);
    // The flight is below the product: the same acknowledgement ends Drain.
    assert!(*to == State::ProbeBwDown && after.drain_start_round == after.round_count);
    let rounds = at.since(begin).as_secs_f64() / RTT.as_secs_f64();
    assert!(path.ends[0].delivery_rate().is_some_and(|rate| rate.app_limited));
    passed(
        2,
        "Startup ends on losses, application-limited",
        format_args!("{rounds:.1} round trips after the first loss"),
    );
}

#[test]
fn a_03_drain_ends_on_the_flight() {
    let mut path = Path::new(DEEP);
    path.exchange();
    path.until_state(State::Drain);
    let model = &path.model;
    assert_eq!(model.pacing_rate, share(share(model.bw, 50), 99));
    let begin = path.now;
    let Change { to, after, at, .. } = path.next_change();
    assert!(to.probes_bw());
    assert!(after.in_flight <= after.inflight(after.bw), "{}", after.in_flight);
    assert!(after.round_count <= after.drain_start_round + 3);
    passed(
        3,
        "Drain ends on the flight",
        format_args!(
            "{} octets in flight after {:.0} ms",
            after.in_flight,
            at.since(begin).as_secs_f64() * 1e3
        ),
    );
}

/// With 10 % less of rate the flight still reaches the product: Drain paces at half of the estimate. So the
/// rate falls to less than half.
#[test]
fn a_04_drain_ends_on_time() {
    let mut path = Path::new(DEEP);
    path.exchange();
    path.until_state(State::Drain);
    path.bytes_per_s = RATE * 45 / 100;
    let Change { to, after, .. } = path.next_change();
    assert!(to.probes_bw());
    assert!(after.in_flight > after.inflight(after.bw), "{}", after.in_flight);
    assert_eq!(after.round_count, after.drain_start_round + 4);
    passed(
        4,
        "Drain ends on time",
        format_args!("in the fourth round, {} octets in flight (rate down by 55 %)", after.in_flight),
    );
}

#[test]
fn a_05_up_ends_on_a_plateau() {
    let mut path = Path::in_state(DEEP, State::ProbeBwUp);
    let Change { to, after, .. } = path.next_change();
    assert_eq!(*to, State::ProbeBwDown);
    assert!(after.full_bw_now && after.full_bw_count == 3 && !after.prev_probe_too_high);
    assert_eq!(path.lost, 0);
    passed(5, "Up ends on a plateau", format_args!("full_bw_count 3, no loss"));
}

#[test]
fn a_06_up_ends_on_losses_though_the_application_is_the_limit() {
    let mut path = Path::in_state(DEEP, State::ProbeBwUp);
    path.limit(RATE / 200 * 6 / 10);
    path.run(Span::from_ms(150));
    assert_eq!(path.model.state, State::ProbeBwUp);
    assert!(path.ends[0].delivery_rate().is_some_and(|rate| rate.app_limited));
    path.loses_every = 10;
    let Change { to, before, after, at, .. } = path.next_change();
    // The flight is below the product: the same acknowledgement may end Down.
    assert!(to.probes_bw() && after.cycle_stamp == *at, "{to:?}");
    assert!(after.prev_probe_too_high && !after.is_bw_probe_sample);
    // HandleInflightTooHigh leaves inflight_longterm to samples that the application does not limit.
    assert_eq!(after.inflight_longterm, before.inflight_longterm);
    passed(
        6,
        "Up ends on losses, application-limited",
        format_args!("inflight_longterm stays, as its sample is application-limited"),
    );
}

/// The probe of the round trip ends Up, 5 s after the last one.
#[test]
fn a_07_neither_startup_nor_up_ends_while_the_application_is_the_limit() {
    let mut path = Path::new(DEEP);
    path.limit(1000);
    path.exchange();
    path.run(Span::from_ms(4500));
    assert!(path.changes.is_empty());
    let mut path = Path::in_state(DEEP, State::ProbeBwUp);
    path.limit(RATE / 200 * 6 / 10);
    let begin = path.now;
    let Change { to, at, after, .. } = path.next_change();
    assert_eq!(*to, State::ProbeRtt);
    let rounds = at.since(begin).as_secs_f64() / RTT.as_secs_f64();
    assert!(rounds > 20.0 && !after.full_bw_now, "{rounds}");
    passed(
        7,
        "Neither Startup nor Up ends, application-limited",
        format_args!("Startup for 4.5 s, Up for {rounds:.0} round trips, until ProbeRTT"),
    );
}

#[test]
fn a_08_down_ends_on_the_flight() {
    let mut path = Path::in_state(SHALLOW, State::ProbeBwUp);
    path.until_state(State::ProbeBwDown);
    let model = &path.model;
    assert_eq!(model.state.pacing_gain(), 90);
    let Change { to, after, .. } = path.next_change();
    assert_eq!(*to, State::ProbeBwCruise);
    assert!(after.inflight_longterm != NONE && after.in_flight <= after.inflight_with_headroom());
    assert!(after.in_flight <= after.inflight(after.max_bw));
    passed(
        8,
        "Down ends on the flight",
        format_args!(
            "{} octets in flight, {} with headroom",
            after.in_flight,
            after.inflight_with_headroom()
        ),
    );
}

/// A probe of the round trip comes 5 s after the last one. Of 20 seeds, those count where it is not within
/// Down.
#[test]
fn a_09_down_ends_on_time() {
    let mut stays = Vec::new();
    for seed in 1..=20 {
        let mut path = Path::seeded_in_state(DEEP, State::ProbeRtt, seed);
        path.until_state(State::ProbeBwUp);
        path.until_state(State::ProbeBwDown);
        path.bytes_per_s = RATE * 9 / 10;
        let begin = path.now;
        let Change { to, after, at, .. } = path.next_change();
        if *to == State::ProbeRtt {
            continue;
        }
        assert_eq!(*to, State::ProbeBwRefill, "seed {seed}");
        assert!(after.in_flight > after.inflight(after.max_bw));
        let stay = at.since(begin);
        assert!(stay <= after.bw_probe_wait + RTT.saturating_mul(4), "{stay:?} {:?}", after.bw_probe_wait);
        stays.push(stay.as_secs_f64());
    }
    assert!(stays.len() >= 3, "{stays:?}");
    let (least, most) = stays.iter().fold((f64::MAX, 0.0_f64), |(a, b), stay| (a.min(*stay), b.max(*stay)));
    passed(
        9,
        "Down ends on time",
        format_args!("Refill after {least:.2} to {most:.2} s in {} runs", stays.len()),
    );
}

#[test]
fn a_10_probe_rtt_begins_and_ends() {
    let mut path = Path::in_state(DEEP, State::ProbeRtt);
    let stamp = path.model.probe_rtt_min_stamp;
    assert_eq!(path.model.state.cwnd_gain(), 50);
    let begin = path.now;
    let Change { to, at, .. } = path.next_change();
    let stay = at.since(begin);
    assert!(to.probes_bw() && stay >= Span::from_ms(200) && stay < Span::from_ms(400), "{stay:?}");
    let share = path.goodput(Span::from_secs(2)) / RATE as f64;
    assert!(share > 0.9, "{share}");
    passed(
        10,
        "ProbeRTT begins and ends",
        format_args!(
            "at {:.2} s for {:.0} ms, then {share:.2} of the rate",
            stamp.as_secs_f64(),
            stay.as_secs_f64() * 1e3
        ),
    );
}

#[test]
fn a_11_no_probe_rtt_behind_an_idle_time() {
    let mut path = Path::in_state(DEEP, State::ProbeBwCruise);
    path.limit(0);
    path.run(Span::from_secs(7));
    assert_eq!(path.ends[0].flight_bytes(), 0);
    path.application = Application::Greedy;
    path.exchange();
    assert!(path.model.idle_restart);
    path.run(Span::from_secs(2));
    assert!(path.changes.iter().all(|change| change.to != State::ProbeRtt));
    passed(11, "No ProbeRTT behind an idle time", format_args!("7 s without data"));
}

#[test]
fn a_12_startup_finds_the_rate_behind_aggregation() {
    let mut path = Path::new(DEEP);
    path.aggregation = Span::from_ms(20);
    path.exchange();
    path.until("extra_acked", |path| path.model.extra_acked > 0);
    path.until_state(State::Drain);
    let (ratio, cwnd) = (path.model.max_bw as f64 / RATE as f64, path.bbr().cwnd_bytes);
    assert!((0.95..1.3).contains(&ratio), "{ratio}");
    assert!(cwnd > 2 * BDP, "{cwnd}");
    passed(
        12,
        "Startup finds the rate behind aggregation",
        format_args!("max_bw {ratio:.2} of the rate, cwnd {:.1} products", cwnd as f64 / BDP as f64),
    );
}

#[test]
fn a_13_cruise_keeps_the_rate_behind_aggregation() {
    let mut path = Path::in_state(DEEP, State::ProbeBwCruise);
    path.aggregation = Span::from_ms(20);
    let share = path.goodput(Span::from_ms(1500)) / RATE as f64;
    let (model, cwnd) = (&path.model, path.bbr().cwnd_bytes);
    assert_eq!(model.extra_acked_filter.iter().max(), Some(&model.extra_acked));
    assert!(model.extra_acked > 0 && cwnd > model.bdp_multiple(200), "{cwnd}");
    assert!(share > 0.95, "{share}");
    passed(
        13,
        "Cruise keeps the rate behind aggregation",
        format_args!("extra_acked {} octets, {share:.2} of the rate", model.extra_acked),
    );
}

#[test]
fn a_14_products_below_a_packet() {
    let mut path = Path::new(DEEP);
    path.bytes_per_s = 10_000;
    path.exchange();
    path.until_state(State::ProbeBwCruise);
    path.run(Span::from_secs(20));
    let mut least = NONE;
    let before = path.ends[1].received_offset();
    let until = path.now + Span::from_secs(30);
    while path.step(until) {
        least = least.min(path.bbr().cwnd_bytes);
    }
    let share = (path.ends[1].received_offset() - before) as f64 / 30.0 / 10_000.0;
    assert!(least == 4 * MSS && share > 0.95, "{least} {share}");
    passed(14, "Products below a packet", format_args!("cwnd of 4 packets at least, {share:.2} of the rate"));
}

#[test]
fn a_15_ten_times_the_rate() {
    let mut path = Path::in_state(SHALLOW, State::ProbeBwCruise);
    assert!(path.model.inflight_longterm != NONE);
    (path.bytes_per_s, path.queue_bytes) = (10 * RATE, 10 * SHALLOW);
    let begin = path.now;
    let (mut slopes, mut last) = (Vec::new(), 0);
    while path.model.max_bw < 10 * RATE * 95 / 100 {
        assert!(path.step(begin + Span::from_secs(30)), "{} {:?}", path.model.max_bw, path.model.state);
        let model = &path.model;
        if model.state == State::ProbeBwUp && model.bw_probe_up_rounds != last {
            last = model.bw_probe_up_rounds;
            slopes.push(last);
        }
    }
    // Each round adds twice as many segments to inflight_longterm: the exponent grows by one a round.
    assert!(
        slopes.windows(2).any(|pair| pair[1] == pair[0] + 1) && slopes.iter().any(|slope| *slope >= 3),
        "{slopes:?}"
    );
    let seconds = path.now.since(begin).as_secs_f64();
    assert!(seconds < 15.0, "{seconds}");
    passed(
        15,
        "Ten times the rate",
        format_args!(
            "found after {seconds:.1} s, step of 2^{} segments a round",
            slopes.iter().max().unwrap_or(&0)
        ),
    );
}

#[test]
fn a_16_a_tenth_of_the_rate() {
    let mut path = Path::new(10 * SHALLOW);
    path.bytes_per_s = 10 * RATE;
    path.exchange();
    path.until_state(State::ProbeBwCruise);
    path.run(Span::from_secs(1));
    (path.bytes_per_s, path.queue_bytes) = (RATE, SHALLOW);
    let begin = path.now;
    path.until("bw_shortterm at the rate", |path| path.model.bw_shortterm < RATE * 11 / 10);
    let short = path.now.since(begin).as_secs_f64();
    path.until("max_bw at the rate", |path| path.model.max_bw < RATE * 105 / 100);
    let long = path.now.since(begin).as_secs_f64();
    let cycles =
        path.changes.iter().filter(|change| change.at > begin && change.from == State::ProbeBwUp).count();
    assert!(cycles <= 3, "{cycles}");
    passed(
        16,
        "A tenth of the rate",
        format_args!("bw_shortterm after {short:.1} s, max_bw after {long:.1} s and {cycles} probes"),
    );
}

#[test]
fn a_17_policers() {
    let mut path = Path::new(NONE / 2);
    path.bytes_per_s = 10 * RATE;
    path.policer = Some(Policer { bytes_per_s: RATE, burst_bytes: 5 * BDP, tokens: 5 * BDP, at: Time::ZERO });
    path.exchange();
    path.until("bounds of the short term", |path| {
        path.model.bw_shortterm != NONE && path.model.inflight_shortterm != NONE
    });
    path.run(Span::from_secs(10));
    let (segments, lost) = (path.segments, path.lost);
    let share = path.goodput(Span::from_secs(30)) / RATE as f64;
    let losses = (path.lost - lost) as f64 / (path.segments - segments) as f64;
    assert!(share > 0.85 && losses < 0.05, "{share} {losses}");
    passed(17, "Policers", format_args!("{share:.2} of the token rate, {:.1} % lost", losses * 100.0));
}

#[test]
fn a_18_needless_fast_recovery() {
    let mut path = Path::in_state(DEEP, State::ProbeBwUp);
    path.late = (6, Span::from_ms(35));
    let before = path.model.clone();
    path.until("a fast recovery", |path| path.ends[0].stats().fast_retransmits > 0);
    let model = &path.model;
    assert!(model.undo_state == Some(State::ProbeBwUp) || model.state == State::ProbeBwUp, "{model:?}");
    assert_eq!(path.model.undo_inflight_longterm, before.inflight_longterm);
    assert_eq!(path.model.undo_inflight_shortterm, before.inflight_shortterm);
    assert_eq!(path.model.undo_bw_shortterm, before.bw_shortterm);
    path.until("an undone reduction", |path| path.ends[0].stats().undone_reductions > 0);
    let model = &path.model;
    assert!(
        model.inflight_longterm >= before.inflight_longterm
            && model.inflight_shortterm >= before.inflight_shortterm
    );
    assert!(model.bw_shortterm >= before.bw_shortterm);
    assert!(matches!(model.state, State::ProbeBwRefill | State::ProbeBwUp), "{:?}", model.state);
    path.until_state(State::ProbeBwUp);
    passed(18, "Needless fast recovery", format_args!("undone, and Up again (through Refill, 5.5.11.2)"));
}

#[test]
fn a_19_needless_timeouts() {
    let mut path = Path::in_state(DEEP, State::ProbeBwCruise);
    let before = path.model.clone();
    let cwnd = path.bbr().cwnd_bytes;
    path.held_until = path.now + Span::from_ms(500);
    path.until("a timeout", |path| path.ends[0].stats().timeouts > 0);
    assert!(path.bbr().cwnd_bytes < cwnd);
    assert_eq!(path.model.undo_inflight_longterm, before.inflight_longterm);
    path.until("an undone reduction", |path| path.ends[0].stats().undone_reductions > 0);
    let model = &path.model;
    assert!(path.bbr().cwnd_bytes >= cwnd.min(2 * BDP), "{}", path.bbr().cwnd_bytes);
    assert!(model.bw_shortterm >= before.bw_shortterm && model.inflight_longterm >= before.inflight_longterm);
    assert!(model.state.probes_bw(), "{:?}", model.state);
    passed(19, "Needless timeouts", format_args!("undone, window and {} again", model.state.name()));
}

#[test]
fn a_20_probe_rtt_during_startup() {
    let mut path = Path::new(DEEP);
    path.limit(1000);
    path.exchange();
    let Change { to, at, .. } = path.next_change();
    assert_eq!(*to, State::ProbeRtt);
    let begin = *at;
    let Change { to, at, after, .. } = path.next_change();
    assert!(*to == State::Startup && !after.full_bw_reached);
    assert!(at.since(begin) >= Span::from_ms(200));
    path.application = Application::Greedy;
    path.until_state(State::Drain);
    let ratio = path.model.max_bw as f64 / RATE as f64;
    assert!((0.98..1.02).contains(&ratio), "{ratio}");
    passed(
        20,
        "ProbeRTT during Startup",
        format_args!("at {:.2} s, back to Startup, then max_bw {ratio:.3} of the rate", begin.as_secs_f64()),
    );
}

#[test]
fn a_21_losses_in_up_behind_a_bound() {
    let mut path = Path::in_state(SHALLOW, State::ProbeBwUp);
    let bound = path.model.inflight_longterm;
    assert!(bound != NONE);
    path.loses_every = 10;
    let Change { to, after, before, .. } = path.next_change();
    assert_eq!(*to, State::ProbeBwDown);
    assert!(after.prev_probe_too_high && !after.full_bw_now);
    let least = share(after.bdp, 70);
    assert!(after.inflight_longterm <= before.inflight_longterm && after.inflight_longterm >= least);
    passed(
        21,
        "Losses in Up behind a bound",
        format_args!(
            "inflight_longterm from {} to {}, then Down",
            before.inflight_longterm, after.inflight_longterm
        ),
    );
}

#[test]
fn a_22_the_application_is_the_limit_in_refill() {
    let mut path = Path::in_state(DEEP, State::ProbeBwRefill);
    let max_bw = path.model.max_bw;
    path.limit(500);
    let Change { to, after, .. } = path.next_change();
    assert_eq!(*to, State::ProbeBwUp);
    assert_eq!(after.max_bw, max_bw);
    path.application = Application::Greedy;
    let Change { to, after, .. } = path.next_change();
    assert_eq!(*to, State::ProbeBwDown);
    let ratio = after.max_bw as f64 / RATE as f64;
    assert!((0.98..1.02).contains(&ratio), "{ratio}");
    passed(22, "Application-limited in Refill", format_args!("max_bw unchanged, then Up and Down"));
}
