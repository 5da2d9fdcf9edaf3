//! The machine of TCP alone: two connections back to back, without a network between them.
//!
//! - `transfer`: 20,000 segments of new data without loss, each acknowledged, in congestion avoidance over
//!   round trips of 100 ms. One element is a segment with its ACK. For each variant.
//! - `flight`: a window of so many segments in which one of ten is lost, or none, and every ACK it brings
//!   until it is acknowledged, with SACK. One element is a segment that arrives, with its ACK: the cost must
//!   not grow with the window. `shuffled` delivers a flight without loss in random order, the worst for a
//!   sorted list of ranges.
#![allow(missing_docs)] // criterion's macros generate public items

use std::collections::VecDeque;
use std::hint::black_box;
use std::sync::Arc;

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use roamsim_engine::{Span, Stream, Time};
use roamsim_protocols::Context;
use roamsim_protocols::tcp::{Config, Connection, InitialWindow, Segment, Variant};

const MSS: u64 = 1000;
const HALF_ROUND_TRIP: Span = Span::from_ms(50);

struct Pair {
    sender: Connection,
    receiver: Connection,
    now: Time,
    random: Stream,
    flight: VecDeque<Segment>,
    acks: VecDeque<Segment>,
}

impl Pair {
    /// A connection whose congestion window starts with so many segments, in congestion avoidance.
    fn established(variant: Variant, window_segments: u32) -> Pair {
        let config = Arc::new(Config {
            variant,
            mss_bytes: MSS as u32,
            initial_window: InitialWindow::Segments(window_segments),
            initial_ssthresh_bytes: Some(MSS * u64::from(window_segments)),
            receive_window_bytes: 1 << 30,
            delayed_ack: None,
            ..Config::default()
        });
        let mut pair = Pair {
            sender: Connection::new(&config, 1, 2, 0),
            receiver: Connection::new(&config, 2, 1, 0),
            now: Time::ZERO,
            random: Stream::new(1, 0, "shuffle"),
            flight: VecDeque::new(),
            acks: VecDeque::new(),
        };
        pair.receiver.listen();
        pair.sender.open();
        // SYN, SYN and ACK, ACK; and a segment whose ACK brings the scaled window, which that of the SYN is
        // not.
        pair.sender.write(MSS);
        while pair.receiver.received_offset() < MSS || !pair.flight.is_empty() {
            pair.send();
            pair.deliver_all();
        }
        pair
    }

    fn send(&mut self) {
        let mut cx = Context { now: self.now, random: &mut self.random };
        while let Some(segment) = self.sender.poll_transmit(&mut cx) {
            self.flight.push_back(segment);
        }
        while self.sender.poll_event().is_some() {}
    }

    /// A segment reaches the receiver, which answers.
    fn deliver(&mut self, segment: &Segment) {
        let mut cx = Context { now: self.now, random: &mut self.random };
        self.receiver.handle_segment(&mut cx, segment);
        while let Some(ack) = self.receiver.poll_transmit(&mut cx) {
            self.acks.push_back(ack);
        }
        while self.receiver.poll_event().is_some() {}
    }

    /// Everything in flight arrives half a round trip later, and its ACKs after the other half.
    fn deliver_all(&mut self) -> u64 {
        self.now += HALF_ROUND_TRIP;
        let arriving = self.flight.len();
        for _ in 0..arriving {
            if let Some(segment) = self.flight.pop_front() {
                self.deliver(&segment);
            }
        }
        self.acknowledge();
        arriving as u64
    }

    fn acknowledge(&mut self) {
        self.now += HALF_ROUND_TRIP;
        while let Some(ack) = self.acks.pop_front() {
            let mut cx = Context { now: self.now, random: &mut self.random };
            self.sender.handle_segment(&mut cx, &ack);
            self.send();
        }
    }
}

/// Returns how many segments have been delivered.
#[inline(never)]
fn transfer(pair: &mut Pair, segments: u64) -> u64 {
    pair.sender.write(segments * MSS);
    pair.send();
    let mut delivered = 0;
    while !pair.flight.is_empty() {
        delivered += pair.deliver_all();
    }
    delivered
}

fn transfers(criterion: &mut Criterion) {
    const SEGMENTS: u64 = 20_000;
    let mut group = criterion.benchmark_group("transfer");
    group.throughput(Throughput::Elements(SEGMENTS));
    for variant in Variant::ALL {
        group.bench_function(BenchmarkId::from_parameter(variant), |bencher| {
            bencher.iter_batched_ref(
                || Pair::established(variant, 10),
                |pair| assert_eq!(transfer(pair, black_box(SEGMENTS)), SEGMENTS),
                BatchSize::PerIteration,
            );
        });
    }
    group.finish();
}

/// What happens to a window of segments on its way.
#[derive(Clone, Copy)]
enum Path {
    Whole,
    /// One of ten is lost, the first of them.
    Holes,
    Shuffled,
}

/// A window of `segments` in flight: what of it arrives, in the order of arrival.
fn in_flight(path: Path, segments: u32) -> Pair {
    let mut pair = Pair::established(Variant::SACK, segments);
    pair.sender.write(u64::from(segments) * MSS);
    pair.send();
    assert_eq!(pair.flight.len(), segments as usize);
    match path {
        Path::Whole => {}
        Path::Holes => {
            let mut place = 0;
            pair.flight.retain(|_| {
                place += 1;
                place % 10 != 1
            });
        }
        Path::Shuffled => {
            for place in (1..pair.flight.len()).rev() {
                let other = pair.random.below(place as u64 + 1) as usize;
                pair.flight.swap(place, other);
            }
        }
    }
    pair
}

fn until_acknowledged(pair: &mut Pair) -> u64 {
    let mut arrived = 0;
    while !pair.flight.is_empty() {
        arrived += pair.deliver_all();
    }
    arrived
}

/// What is measured: a name of its own, by which a profiler finds it.
#[inline(never)]
fn measured_flight(pair: &mut Pair) -> u64 {
    until_acknowledged(pair)
}

#[expect(clippy::print_stderr, reason = "a benchmark reports to its user")]
fn flights(criterion: &mut Criterion) {
    for (name, path) in [("whole", Path::Whole), ("holes", Path::Holes), ("shuffled", Path::Shuffled)] {
        let mut group = criterion.benchmark_group(format!("flight_{name}"));
        for segments in [10, 1000, 50_000] {
            let arrive = until_acknowledged(&mut in_flight(path, segments));
            eprintln!("flight_{name}/{segments}: {arrive} segments arrive");
            group.throughput(Throughput::Elements(arrive));
            group.bench_function(BenchmarkId::from_parameter(segments), |bencher| {
                bencher.iter_batched_ref(
                    || in_flight(path, segments),
                    measured_flight,
                    BatchSize::PerIteration,
                );
            });
        }
        group.finish();
    }
}

criterion_group! {
    name = tcp;
    config = Criterion::default().sample_size(20);
    targets = transfers, flights
}
criterion_main!(tcp);
