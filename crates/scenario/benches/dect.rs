//! The full DECT model with traffic: MAC with the reference load, bearers, Ip channels, LU2, TCP both ways.
//!
//! Elements are frames of 10 ms of simulated time, so that the reported rate is in frames a second. Each
//! iteration is a run of its own, the first minutes with empty cells included; building the world is not
//! measured.
//!
//! `lambda 0` has no traffic of the terminal: what is left is the MAC. The time a frame that the traffic
//! costs, divided by the busy bearers a frame that are printed first, is the cost of a frame on a busy
//! bearer.
#![allow(missing_docs)] // criterion's macros generate public items

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use roamsim_scenario::run::{Options, Prepared, prepare, run};
use roamsim_scenario::table::Values;
use roamsim_scenario::{Format, Scenario};

/// Simulated time of one run.
const SECONDS: u64 = 2000;

/// The load of the study's reference case, with so many segments a second each way on two one-way
/// connections.
fn reference(segments_per_s: u64) -> Scenario {
    let tcp = r#"{ protocol = "tcp", variant = "reno", mss = "512B", nagle = false, delayed_ack = false, limited_transmit = false, initial_window = 1, receive_window = "16KiB", window_scaling = false, min_rto = "2s", max_rto = "64s", initial_rto = "3s" }"#;
    let mut text = format!(
        r#"
[scenario]
name = "reference"
duration = "{SECONDS}s"
ip = "ipv4"
[[node]]
name = "mobile"
[[node]]
name = "gateway"
[[dect]]
name = "air"
terminal = "mobile"
gateway = "gateway"
terminals = [
    {{ type = "p08j", offered_erlang = 20 }},
    {{ type = "p32", offered_erlang = 105 }},
    {{ type = "p80", offered_erlang = 12 }},
    {{ type = "data", offered_erlang = 18 }},
]
"#
    );
    for (from, to) in [("mobile", "gateway"), ("gateway", "mobile")] {
        if let Some(interval_us) = 1_000_000_u64.checked_div(segments_per_s) {
            text += &format!(
                "[[flow]]\nname = \"from {from}\"\nfrom = \"{from}\"\nto = \"{to}\"\ntransport = {tcp}\n\
                 application = {{ kind = \"poisson\", packet_size = \"512B\", mean_interval = \"{interval_us}us\" }}\n"
            );
        }
    }
    Scenario::parse(&text, "bench", Format::Toml, &[]).unwrap_or_else(|error| panic!("{error}"))
}

/// Mean of bearer frames in which a direction was sent over, a frame.
#[expect(clippy::print_stderr, reason = "a benchmark reports to its user")]
fn tell_busy_bearers(segments_per_s: u64) {
    let outcome =
        run(&reference(segments_per_s), Options { seed: 1, ..Options::default() }).expect("it runs");
    let table = outcome.tables.iter().find(|table| table.name == "dect").expect("the table");
    let count = |name| match &table.columns.iter().find(|c| c.name == name).expect("the column").values {
        Values::Integer(values) => values[0] as f64,
        _ => 0.0,
    };
    let attempts = count("attempts_up") + count("attempts_down");
    eprintln!(
        "lambda {segments_per_s}: {:.2} busy bearers and directions a frame",
        attempts / SECONDS as f64 / 100.0
    );
}

fn full_model(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("dect_full");
    group.throughput(Throughput::Elements(SECONDS * 100));
    group.sample_size(20);
    for segments_per_s in [0, 5, 20, 50] {
        tell_busy_bearers(segments_per_s);
        let scenario = reference(segments_per_s);
        group.bench_function(BenchmarkId::new("lambda", segments_per_s), |bencher| {
            let build =
                || prepare(&scenario, Options { seed: 1, ..Options::default() }).expect("it is built");
            bencher.iter_batched(
                build,
                |mut prepared: Prepared<_>| prepared.run().expect("it runs"),
                BatchSize::PerIteration,
            );
        });
    }
    group.finish();
}

criterion_group!(benches, full_model);
criterion_main!(benches);
