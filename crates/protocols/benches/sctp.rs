//! The machine of SCTP alone: two associations back to back, without a network between them. As `tcp`, with
//! whose `transfer/sack` and `flight_*` its figures are to be compared: messages of 1000 octets, one packet
//! each, and a SACK for each packet.
//!
//! - `sctp_transfer`: 20,000 messages without loss, in congestion avoidance over round trips of 100 ms, for
//!   the rules of each RFC. One element is a packet with its SACK.
//! - `sctp_flight`: a window of so many packets in which one of ten is lost, or none, and every SACK it
//!   brings until it is acknowledged. One element is a packet that arrives, with its SACK: the cost must not
//!   grow with the window. `shuffled` delivers a flight without loss in random order.
#![allow(missing_docs)] // criterion's macros generate public items

use std::collections::VecDeque;
use std::hint::black_box;

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use roamsim_engine::{Span, Stream, Time};
use roamsim_protocols::sctp::{Association, Config, Packet, Path, Rules};
use roamsim_protocols::{Address, Context};

const MESSAGE: u64 = 1000;
const HALF_ROUND_TRIP: Span = Span::from_ms(50);
const FORTH: Path = Path { local: Address(1), remote: Address(0) };
const BACK: Path = Path { local: Address(0), remote: Address(1) };

struct Pair {
    sender: Association,
    receiver: Association,
    now: Time,
    random: Stream,
    flight: VecDeque<Packet>,
    sacks: VecDeque<Packet>,
    delivered: u64,
}

impl Pair {
    fn established(rules: Rules, receive_window_bytes: u32) -> Pair {
        let config = Config {
            rules,
            packet_bytes: 1028,
            receive_window_bytes,
            delayed_ack: None,
            max_burst: u32::MAX,
            heartbeat_interval: None,
            ..Config::default()
        };
        let end = |here: u32, there: u32| {
            Association::new(&config, &[Address(here)], 1, &[Address(there)], 1, 1, 1)
        };
        let mut pair = Pair {
            sender: end(0, 1),
            receiver: end(1, 0),
            now: Time::ZERO,
            random: Stream::new(1, 0, "shuffle"),
            flight: VecDeque::new(),
            sacks: VecDeque::new(),
            delivered: 0,
        };
        pair.receiver.listen();
        pair.sender.open();
        pair.send();
        while !pair.flight.is_empty() {
            pair.deliver_all();
        }
        pair
    }

    fn send(&mut self) {
        let mut cx = Context { now: self.now, random: &mut self.random };
        while let Some((_, packet)) = self.sender.poll_transmit(&mut cx) {
            self.flight.push_back(packet);
        }
        while self.sender.poll_event().is_some() {}
    }

    /// A packet reaches the receiver, which answers.
    fn deliver(&mut self, packet: &Packet) {
        let mut cx = Context { now: self.now, random: &mut self.random };
        self.receiver.handle_packet(&mut cx, FORTH, packet);
        while let Some((_, sack)) = self.receiver.poll_transmit(&mut cx) {
            self.sacks.push_back(sack);
        }
        while self.receiver.poll_event().is_some() {
            self.delivered += 1;
        }
    }

    /// Everything in flight arrives half a round trip later, and its SACKs after the other half.
    fn deliver_all(&mut self) -> u64 {
        self.now += HALF_ROUND_TRIP;
        let arriving = self.flight.len();
        for _ in 0..arriving {
            if let Some(packet) = self.flight.pop_front() {
                self.deliver(&packet);
            }
        }
        self.now += HALF_ROUND_TRIP;
        while let Some(sack) = self.sacks.pop_front() {
            let mut cx = Context { now: self.now, random: &mut self.random };
            self.sender.handle_packet(&mut cx, BACK, &sack);
            self.send();
        }
        arriving as u64
    }
}

/// Returns how many packets have been delivered.
fn until_acknowledged(pair: &mut Pair) -> u64 {
    let mut arrived = 0;
    while !pair.flight.is_empty() {
        arrived += pair.deliver_all();
    }
    arrived
}

/// As in `tcp`, a name of its own for what is measured, by which a profiler finds it.
#[inline(never)]
fn transfer(pair: &mut Pair, messages: u64) -> u64 {
    pair.sender.send_repeated(0, MESSAGE, messages, 0, false);
    pair.send();
    until_acknowledged(pair)
}

/// The same.
#[inline(never)]
fn measured_flight(pair: &mut Pair) -> u64 {
    until_acknowledged(pair)
}

fn transfers(criterion: &mut Criterion) {
    const MESSAGES: u64 = 20_000;
    let mut group = criterion.benchmark_group("sctp_transfer");
    group.throughput(Throughput::Elements(MESSAGES));
    for (name, rules) in [("rfc9260", Rules::Rfc9260), ("rfc2960", Rules::Rfc2960)] {
        group.bench_function(BenchmarkId::from_parameter(name), |bencher| {
            bencher.iter_batched_ref(
                // The threshold is the receiver's window: ten packets.
                || Pair::established(rules, 10_000),
                |pair| assert_eq!(transfer(pair, black_box(MESSAGES)), MESSAGES),
                BatchSize::PerIteration,
            );
        });
    }
    group.finish();
}

/// What happens to a window of packets on its way.
#[derive(Clone, Copy)]
enum Road {
    Whole,
    /// One of ten is lost, the first of them.
    Holes,
    Shuffled,
}

/// A window of `packets` in flight: what of it arrives, in the order of arrival.
fn in_flight(road: Road, packets: usize) -> Pair {
    let mut pair = Pair::established(Rules::Rfc9260, 1 << 30);
    // Slow start until the window is large enough.
    let chunk_bytes = MESSAGE + 16;
    while pair.sender.cwnd_bytes() < packets as u64 * chunk_bytes {
        // The window grows only while it is full.
        let two_windows = 2 * pair.sender.cwnd_bytes().div_ceil(chunk_bytes);
        pair.sender.send_repeated(0, MESSAGE, two_windows, 0, false);
        pair.send();
        until_acknowledged(&mut pair);
    }
    pair.sender.send_repeated(0, MESSAGE, packets as u64, 0, false);
    pair.send();
    assert_eq!(pair.flight.len(), packets);
    match road {
        Road::Whole => {}
        Road::Holes => {
            let mut place = 0;
            pair.flight.retain(|_| {
                place += 1;
                place % 10 != 1
            });
        }
        Road::Shuffled => {
            for place in (1..pair.flight.len()).rev() {
                let other = pair.random.below(place as u64 + 1) as usize;
                pair.flight.swap(place, other);
            }
        }
    }
    pair
}

#[expect(clippy::print_stderr, reason = "a benchmark reports to its user")]
fn flights(criterion: &mut Criterion) {
    for (name, road) in [("whole", Road::Whole), ("holes", Road::Holes), ("shuffled", Road::Shuffled)] {
        let mut group = criterion.benchmark_group(format!("sctp_flight_{name}"));
        for packets in [10, 1000, 50_000] {
            let arrive = until_acknowledged(&mut in_flight(road, packets));
            eprintln!("sctp_flight_{name}/{packets}: {arrive} packets arrive");
            group.throughput(Throughput::Elements(arrive));
            group.bench_function(BenchmarkId::from_parameter(packets), |bencher| {
                bencher.iter_batched_ref(
                    || in_flight(road, packets),
                    measured_flight,
                    BatchSize::PerIteration,
                );
            });
        }
        group.finish();
    }
}

criterion_group! {
    name = sctp;
    config = Criterion::default().sample_size(10);
    targets = transfers, flights
}
criterion_main!(sctp);
