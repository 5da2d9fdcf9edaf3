//! One bulk flow over a wired link of 100 Mb/s, with TCP SACK and with SCTP: what a data packet costs with
//! all that is around the machines, which `tcp` and `sctp` of the protocols measure alone.
//!
//! Segments and messages of 1000 octets, each acknowledged; one element is a data packet sent. `clean`: the
//! window is held below what the queue takes, nothing is lost. `lossy`: one data packet of a thousand is.
//! Building the world is not measured.
#![allow(missing_docs)] // criterion's macros generate public items

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use roamsim_scenario::run::{Options, Outcome, Prepared, prepare, run};
use roamsim_scenario::table::Values;
use roamsim_scenario::{Format, Scenario};

const TCP: &str = r#"protocol = "tcp", variant = "sack", mss = "1000B", delayed_ack = false"#;
const SCTP: &str = r#"protocol = "sctp", message_size = "1000B", sack_frequency = 1"#;

fn bulk(transport: &str, loss: &str) -> Scenario {
    let text = format!(
        r#"
[scenario]
name = "bulk"
duration = "10s"
[[node]]
name = "source"
[[node]]
name = "sink"
[[link]]
name = "wire"
between = ["source", "sink"]
rate = "100Mb/s"
delay = "5ms"
queue = {{ packets = 300 }}
{loss}
[[flow]]
name = "bulk"
from = "source"
to = "sink"
transport = {{ {transport}, receive_window = "200kB" }}
application = {{ kind = "bulk" }}
"#
    );
    Scenario::parse(&text, "bench", Format::Toml, &[]).unwrap_or_else(|error| panic!("{error}"))
}

fn options() -> Options {
    Options { seed: 1, ..Options::default() }
}

/// What is measured: a name of its own, by which a profiler finds it.
#[inline(never)]
fn measured_run(prepared: &mut Prepared<&Scenario>) {
    prepared.run().expect("it runs");
}

fn data_packets(outcome: &Outcome) -> u64 {
    let table = outcome.tables.iter().find(|table| table.name == "flows").expect("the table");
    match &table.columns.iter().find(|column| column.name == "segments_sent").expect("the column").values {
        Values::Integer(values) => values[0],
        _ => 0,
    }
}

#[expect(clippy::print_stderr, reason = "a benchmark reports to its user")]
fn bulk_flows(criterion: &mut Criterion) {
    const LOSS: &str = r#"loss = { from = "source", model = "bernoulli", probability = 0.001 }"#;
    for (road, loss) in [("clean", ""), ("lossy", LOSS)] {
        let mut group = criterion.benchmark_group(format!("bulk_{road}"));
        group.sample_size(20);
        for (name, transport) in [("tcp", TCP), ("sctp", SCTP)] {
            let scenario = bulk(transport, loss);
            let packets = data_packets(&run(&scenario, options()).expect("it runs"));
            eprintln!("bulk_{road}/{name}: {packets} data packets a run");
            group.throughput(Throughput::Elements(packets));
            group.bench_function(BenchmarkId::from_parameter(name), |bencher| {
                bencher.iter_batched(
                    || prepare(&scenario, options()).expect("it is built"),
                    |mut prepared| measured_run(&mut prepared),
                    BatchSize::PerIteration,
                );
            });
        }
        group.finish();
    }
}

criterion_group!(benches, bulk_flows);
criterion_main!(benches);
