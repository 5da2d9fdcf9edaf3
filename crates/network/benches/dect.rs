//! The DECT MAC alone: frames of simulated time, of which only those with work are run.
//!
//! Elements are frames of 10 ms, so that the reported rate is in frames a second. Each iteration goes on
//! where the last one ended, after a warm-up of ten minutes of simulated time.
#![allow(missing_docs)] // criterion's macros generate public items

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use roamsim_engine::Stream;
use roamsim_network::link::dect::mac::{Mac, MacConfig};
use std::hint::black_box;

/// Frames of the warm-up: 600 s.
const WARM_UP: u64 = 60_000;
/// Frames of one iteration: 1000 s.
const FRAMES: u64 = 100_000;

fn run(mac: &mut Mac, until: u64) {
    while mac.next_frame() < until {
        let frame = mac.next_frame();
        mac.run_frame(frame);
        while let Some(event) = mac.poll_user_event() {
            black_box(event);
        }
    }
}

fn mac_alone(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("dect_mac");
    group.throughput(Throughput::Elements(FRAMES));
    for (name, load_factor) in [("no background", 0.0), ("reference", 1.0), ("load 3", 3.0)] {
        let config = MacConfig { load_factor, ..MacConfig::default() };
        let mut mac = Mac::new(config, |purpose| Stream::new(1, 0, purpose));
        let mut until = WARM_UP;
        run(&mut mac, until);
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                until += FRAMES;
                run(&mut mac, until);
            });
        });
    }
    group.finish();
}

criterion_group!(benches, mac_alone);
criterion_main!(benches);
