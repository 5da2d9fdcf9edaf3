//! The same scenario and seed give the same results to the bit: twice, with probes on or off, whatever else is in the
//! scenario that does not touch what is compared.

use roamsim_scenario::run::{Fingerprints, Options, Outcome, Trace, run};
use roamsim_scenario::table::{Table, Values};
use roamsim_scenario::{Format, Scenario};
use std::fs;
use std::path::PathBuf;

fn examples() -> Vec<(String, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut files: Vec<_> =
        fs::read_dir(folder).expect("examples").map(|entry| entry.expect("entry").path()).collect();
    files.sort();
    let scenarios =
        files.into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "toml"));
    let name = |path: &PathBuf| path.file_name().expect("a name").to_string_lossy().into_owned();
    scenarios.map(|path| (name(&path), fs::read_to_string(path).expect("readable"))).collect()
}

/// At most a minute of the scenario, so that the tests stay quick.
fn parse(text: &str, overrides: &[(&str, &str)]) -> Scenario {
    let whole = Scenario::parse(text, "example", Format::Toml, &pairs(overrides)).expect("a valid scenario");
    if whole.general.duration <= roamsim_engine::Span::from_secs(60) {
        return whole;
    }
    let mut overrides = overrides.to_vec();
    overrides.push(("scenario.duration", "60s"));
    Scenario::parse(text, "example", Format::Toml, &pairs(&overrides)).unwrap_or(whole)
}

fn pairs(overrides: &[(&str, &str)]) -> Vec<(String, String)> {
    overrides.iter().map(|&(path, value)| (path.to_owned(), value.to_owned())).collect()
}

fn outcome(scenario: &Scenario, seed: u64, replication: u64, trace: Trace, fingerprints: bool) -> Outcome {
    run(scenario, Options { seed, replication, trace, fingerprints, ..Options::default() })
        .expect("the run succeeds")
}

fn everything() -> Trace {
    let mut trace = Trace::default();
    Trace::NAMES.iter().for_each(|name| assert!(trace.add(name)));
    trace
}

/// The tables that every run has, as text: NaN equals NaN there.
fn plain(outcome: &Outcome) -> String {
    let tables: Vec<&Table> = outcome
        .tables
        .iter()
        .filter(|t| {
            !["samples", "segments", "messages", "packets", "transactions", "dect_occupancy"]
                .contains(&t.name)
        })
        .collect();
    format!("{} {tables:?}", outcome.events)
}

#[test]
fn every_example_gives_the_same_twice_and_with_every_probe_on() {
    for (name, text) in examples() {
        let scenario = parse(&text, &[]);
        let first = outcome(&scenario, 1, 0, Trace::default(), false);
        assert_eq!(plain(&first), plain(&outcome(&scenario, 1, 0, Trace::default(), false)), "{name}");
        let traced = outcome(&scenario, 1, 0, everything(), true);
        assert_eq!(plain(&first), plain(&traced), "{name} with probes on");
        let again = outcome(&scenario, 1, 0, everything(), true);
        assert_eq!(traced.fingerprints, again.fingerprints, "{name}");
    }
}

/// Recorded digests of every example, at three grains. A change of `results` alone means a change of what is
/// measured; of `packets`, of behaviour; of `events` alone, of how the same is computed. A change that is meant is
/// accepted with `INSTA_UPDATE=always cargo test -p roamsim-scenario --test determinism`, and named in CHANGELOG.md.
#[test]
fn examples_give_their_recorded_fingerprints() {
    let mut lines = String::new();
    for (name, text) in examples() {
        let outcome = outcome(&parse(&text, &[]), 1, 0, Trace::default(), true);
        let Fingerprints { events, packets, results } = outcome.fingerprints.expect("asked for");
        lines += &format!("{name}: events {events:016x} packets {packets:016x} results {results:016x}\n");
    }
    insta::assert_snapshot!(lines);
}

#[test]
fn seed_and_replication_change_what_is_random() {
    let (name, text) =
        examples().into_iter().find(|(name, _)| name == "one-tcp-flow.toml").expect("the example");
    let scenario = parse(&text, &[]);
    let digest = |seed, replication| -> Fingerprints {
        outcome(&scenario, seed, replication, Trace::default(), true).fingerprints.expect("asked for")
    };
    let (base, seed, replication) = (digest(1, 0), digest(2, 0), digest(1, 1));
    assert_ne!(base.packets, seed.packets, "{name}");
    assert_ne!(base.packets, replication.packets, "{name}");
    assert_ne!(seed.packets, replication.packets, "{name}");
}

const TWO_FLOWS: &str = r#"
[scenario]
name = "A channel and what shares the scenario with it"
duration = "20s"
[[node]]
name = "a"
[[node]]
name = "b"
[[node]]
name = "c"
[[link]]
name = "lossy"
between = ["a", "b"]
rate = "10Mb/s"
delay = "10ms"
loss = { model = "bernoulli", probability = 0.1 }
[[link]]
name = "other"
between = ["b", "c"]
rate = "10Mb/s"
delay = "10ms"
[[flow]]
name = "probe"
from = "a"
to = "b"
transport = { protocol = "udp" }
application = { kind = "poisson", packet_size = "200B", mean_interval = "10ms" }
[[flow]]
name = "neighbour"
from = "b"
to = "c"
transport = { protocol = "tcp", variant = "reno" }
application = { kind = "bulk" }
"#;

#[test]
fn changing_one_part_leaves_the_random_streams_of_the_others() {
    let probe = |overrides: &[(&str, &str)]| {
        let outcome = outcome(&parse(TWO_FLOWS, overrides), 1, 0, Trace::default(), false);
        let flows = outcome.tables.into_iter().find(|table| table.name == "flows").expect("flows");
        let first = |values: Values| match values {
            Values::Float(values) => format!("{:?}", values[0]),
            Values::Integer(values) => format!("{:?}", values[0]),
            Values::Text(values) => values[0].clone(),
        };
        flows.columns.into_iter().map(|column| first(column.values)).collect::<Vec<_>>()
    };
    let base = probe(&[]);
    for change in [
        ("flow.neighbour.transport.variant", "newreno"),
        ("flow.neighbour.transport", "{ protocol = \"tcp\", mss = \"500B\" }"),
        ("link.other.loss", "{ model = \"bernoulli\", probability = 0.3 }"),
    ] {
        assert_eq!(base, probe(&[change]), "{change:?}");
    }
}

#[test]
fn two_transports_meet_the_same_losses() {
    // The n-th packet of a direction meets the n-th draw: with one packet every 10 ms in each case, datagrams of
    // two sizes lose the same numbers.
    let lost = |size: &str| {
        let overrides = [(
            "flow.probe.application",
            "{ kind = \"cbr\", packet_size = \"SIZE\", interval = \"10ms\" }".replace("SIZE", size),
        )];
        let overrides: Vec<_> = overrides.iter().map(|(path, value)| (*path, value.as_str())).collect();
        let trace = Trace { packets: true, ..Trace::default() };
        let outcome = outcome(&parse(TWO_FLOWS, &overrides), 1, 0, trace, false);
        let packets = outcome.tables.into_iter().find(|table| table.name == "packets").expect("packets");
        let column = |name: &str| {
            packets.columns.iter().find(|column| column.name == name).expect("the column").values.clone()
        };
        let (Values::Text(events), Values::Text(descriptions), Values::Text(links)) =
            (column("event"), column("description"), column("name"))
        else {
            panic!("text columns");
        };
        (0..events.len())
            .filter(|&row| events[row] == "dropped" && links[row] == "lossy")
            .map(|row| descriptions[row].split(" (").next().unwrap_or_default().to_owned())
            .collect::<Vec<_>>()
    };
    let (small, large) = (lost("100B"), lost("900B"));
    assert!(small.len() > 100, "{}", small.len());
    assert_eq!(small, large);
}
