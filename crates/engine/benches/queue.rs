//! The event queue alone, under the hold model (Jones, "An empirical comparison of priority-queue and
//! event-set implementations", CACM 29(4), 1986): with n events pending, take the earliest and push one after
//! a random span.
//!
//! `hold` draws exponential spans. `hold_mixed` shortens nine spans of ten by a factor of 1000, as packets on
//! links do among retransmission timers.
#![allow(missing_docs)] // criterion's macros generate public items

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use roamsim_engine::queue::Order;
use roamsim_engine::{Event, EventQueue, Span, Stream, Time};

/// Drawn before the measurement, and used again from the start when all are used.
const SPANS: usize = 1 << 16;

#[derive(Clone, Copy)]
struct Number(u32);

impl Event for Number {
    fn to_code(self) -> u32 {
        self.0
    }

    fn from_code(code: u32) -> Number {
        Number(code)
    }

    /// The spans are random.
    fn order(self) -> Order {
        Order::Any
    }
}

fn hold(criterion: &mut Criterion, name: &str, spans: &[Span]) {
    let mut group = criterion.benchmark_group(name);
    for pending in [10usize, 100, 1_000, 10_000, 100_000, 1_000_000] {
        group.bench_function(BenchmarkId::from_parameter(pending), |bencher| {
            let mut queue = EventQueue::new();
            queue.end_at(Time::MAX);
            for i in 0..pending {
                queue.push(Time::ZERO + spans[i % SPANS], Number(i as u32));
            }
            let mut next = 0;
            let mut hold = || {
                if let Some((now, event)) = queue.pop() {
                    queue.push(now + spans[next], event);
                    next = (next + 1) % SPANS;
                }
            };
            // To the stationary distribution of times.
            (0..2 * pending).for_each(|_| hold());
            bencher.iter(hold);
        });
    }
    group.finish();
}

fn benches(criterion: &mut Criterion) {
    let mut stream = Stream::new(1, 0, "hold");
    let exponential: Vec<_> = (0..SPANS).map(|_| Span::from_secs_f64(stream.exponential(1.0))).collect();
    let mixed: Vec<_> = exponential
        .iter()
        .map(|span| if stream.bernoulli(0.9) { Span::from_ns(span.as_ns() / 1000) } else { *span })
        .collect();
    hold(criterion, "hold", &exponential);
    hold(criterion, "hold_mixed", &mixed);
}

criterion_group!(queue, benches);
criterion_main!(queue);
