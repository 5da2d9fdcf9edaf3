//! The same scenario and seed give the same results to the bit: twice, with probes on or off, whatever else
//! is in the scenario that does not touch what is compared.

use roamsim_engine::Span;
use roamsim_scenario::run::{Fingerprints, Options, Outcome, Sink, Trace, prepare, run};
use roamsim_scenario::table::{Table, Values};
use roamsim_scenario::{Format, Scenario};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::iter::successors;
use std::path::PathBuf;
use std::slice;
use std::sync::{Arc, Mutex};

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

/// A minute of the scenario, so that the tests stay quick, or what it takes for all to begin.
fn parse(text: &str, overrides: &[(&str, &str)]) -> Scenario {
    parse_some(60, text, overrides)
}

/// So many seconds of the scenario, or twice, four times as many, up to the whole, until all that is in it
/// has begun.
fn parse_some(seconds: u64, text: &str, overrides: &[(&str, &str)]) -> Scenario {
    // Beside the files that examples name.
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/example");
    let whole = Scenario::parse(text, source, Format::Toml, &pairs(overrides)).expect("a valid scenario");
    let shorter = successors(Some(seconds), |seconds| Some(2 * seconds))
        .take_while(|&seconds| Span::from_secs(seconds) < whole.general.duration);
    let parse = |seconds: u64| {
        let mut overrides = pairs(overrides);
        overrides.push(("scenario.duration".to_owned(), format!("{seconds}s")));
        Scenario::parse(text, source, Format::Toml, &overrides).ok()
    };
    shorter.filter_map(parse).next().unwrap_or(whole)
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

/// The tables that are there only when they are asked for.
const TRACED: [&str; 8] =
    ["samples", "segments", "states", "messages", "packets", "transactions", "link_events", "dect_occupancy"];

/// The tables that every run has, as text: NaN equals NaN there.
fn plain(outcome: &Outcome) -> String {
    let tables: Vec<&Table> = outcome.tables.iter().filter(|table| !TRACED.contains(&table.name)).collect();
    format!("{} {tables:?}", outcome.events)
}

/// Whether these parts, one below the other, are the table: to the bit, but that all NaN are one.
fn same_rows(whole: &Table, parts: &[Table]) -> bool {
    let bits = |values: &[f64]| -> Vec<u64> {
        values.iter().map(|v| if v.is_nan() { f64::NAN.to_bits() } else { v.to_bits() }).collect()
    };
    let rows: usize = parts.iter().map(Table::height).sum();
    let mut row = 0;
    rows == whole.height()
        && parts.iter().all(|part| {
            let here = row..row + part.height();
            row = here.end;
            part.columns.len() == whole.columns.len()
                && whole.columns.iter().zip(&part.columns).all(|(all, some)| {
                    all.name == some.name
                        && match (&all.values, &some.values) {
                            (Values::Float(all), Values::Float(some)) => {
                                bits(&all[here.clone()]) == bits(some)
                            }
                            (Values::Integer(all), Values::Integer(some)) => all[here.clone()] == some[..],
                            (Values::Text(all), Values::Text(some)) => {
                                here.clone().all(|row| all[row] == some[row - here.start])
                            }
                            _ => false,
                        }
                })
        })
}

/// Runs with all traces, which are handed out so many rows at a time: what was handed out of each, and how
/// many rows of all were before the run was over.
fn handed_out(
    scenario: &Scenario,
    rows_at_once: usize,
) -> (Outcome, BTreeMap<&'static str, Vec<Table>>, usize) {
    let handed: Arc<Mutex<BTreeMap<&'static str, Vec<Table>>>> = Arc::default();
    let taken = Arc::clone(&handed);
    let sink: Sink = Box::new(move |table| {
        assert!((1..=rows_at_once).contains(&table.height()));
        taken.lock().expect("whole").entry(table.name).or_default().push(table);
        true
    });
    let options = Options {
        seed: 1,
        trace: everything(),
        sink: Some(sink),
        rows_at_once: Some(rows_at_once),
        ..Options::default()
    };
    let mut prepared = prepare(scenario, options).expect("no capture");
    prepared.run().expect("the run succeeds");
    let early = handed.lock().expect("whole").values().flatten().map(Table::height).sum();
    let outcome = prepared.finish().expect("packets add up");
    let handed = std::mem::take(&mut *handed.lock().expect("whole"));
    (outcome, handed, early)
}

/// Bearers come and go all the time, which an access logs when a frame is over, with the time of its
/// beginning; datagrams over a wire bring looks of the loop into most frames.
const BEARERS: &str = r#"
[scenario]
name = "bearers"
duration = "3s"
[[node]]
name = "mobile"
[[node]]
name = "gateway"
[[node]]
name = "host"
[[dect]]
name = "air"
terminal = "mobile"
gateway = "gateway"
handovers = { need_good = 0.05, need_bad = 0.05 }
procedures = { attempt_permission = 1, bearer_handover_timer_frames = 20 }
[[link]]
name = "wire"
between = ["gateway", "host"]
rate = "100Mb/s"
delay = "1ms"
[[flow]]
name = "up"
from = "mobile"
to = "gateway"
transport = { protocol = "udp" }
application = { kind = "cbr", packet_size = "100B", interval = "10ms" }
[[flow]]
name = "beside"
from = "gateway"
to = "host"
transport = { protocol = "udp" }
application = { kind = "cbr", packet_size = "100B", interval = "200us" }
"#;

/// Whether rows are the same handed out seven at a time, at the end, and put together.
/// Which of these tables had rows.
fn check_handed_out(name: &str, text: &str) -> Vec<&'static str> {
    // Two seconds have rows enough.
    let scenario = parse_some(2, text, &[]);
    // All of them at the end.
    let at_once = Some(usize::MAX / 4);
    let options = Options { seed: 1, trace: everything(), rows_at_once: at_once, ..Options::default() };
    let whole = run(&scenario, options).expect("the run succeeds");
    let (streamed, mut handed, _) = handed_out(&scenario, 7);
    assert_eq!(plain(&whole), plain(&streamed), "{name}");
    let names = |outcome: &Outcome| outcome.tables.iter().map(|table| table.name).collect::<Vec<_>>();
    assert_eq!(names(&whole), names(&streamed), "{name}");
    for (table, head) in whole.tables.iter().zip(&streamed.tables) {
        if !TRACED.contains(&table.name) {
            continue;
        }
        assert_eq!(head.height(), 0, "{name}: {}", table.name);
        let handed = handed.remove(table.name).unwrap_or_default();
        assert!(same_rows(table, &handed), "{name}: {}", table.name);
    }
    assert!(handed.is_empty(), "{name}");
    // As a run without anyone who takes them puts them together.
    let collected = outcome(&scenario, 1, 0, everything(), false);
    assert!(
        collected.tables.iter().zip(&whole.tables).all(|(a, b)| same_rows(a, slice::from_ref(b))),
        "{name}, collected"
    );
    let with_rows = whole.tables.iter().filter(|table| TRACED.contains(&table.name) && table.height() > 0);
    with_rows.map(|table| table.name).collect()
}

#[test]
fn rows_of_traces_are_the_same_however_they_are_handed_out() {
    let with_rows: BTreeSet<&str> =
        examples().iter().flat_map(|(name, text)| check_handed_out(name, text)).collect();
    assert!(TRACED.iter().all(|table| with_rows.contains(table)), "{with_rows:?}");
}

#[test]
fn what_an_access_logs_late_is_handed_out_in_its_place() {
    assert!(check_handed_out("bearers", BEARERS).contains(&"dect_occupancy"));
}

#[test]
fn a_run_holds_few_rows_of_its_traces() {
    let (_, text) =
        examples().into_iter().find(|(name, _)| name == "one-tcp-flow.toml").expect("the example");
    let (_, handed, early) = handed_out(&parse(&text, &[]), 100);
    let all: usize = handed.values().flatten().map(Table::height).sum();
    // Of four series (samples, segments, packets, messages) less than a hundred rows each wait, and those of
    // the 256 events between two looks: some ten each at the most.
    assert!(all > 20_000, "{all}");
    assert!(all - early < 3_000, "{} of {all} rows were held", all - early);
}

/// Recorded digests of every example, at three grains. A change of `results` alone means a change of what is
/// measured; of `packets`, of behaviour; of `events` alone, of how the same is computed. A change that is
/// meant is accepted with `INSTA_UPDATE=always cargo test -p roamsim-scenario --test all determinism`, and
/// named in CHANGELOG.md.
///
/// Each runs without anything that looks on, with its digests taken, and with every probe: all three do the
/// same.
#[test]
fn examples_give_their_recorded_fingerprints() {
    let mut lines = String::new();
    for (name, text) in examples() {
        let scenario = parse(&text, &[]);
        let alone = plain(&outcome(&scenario, 1, 0, Trace::default(), false));
        let digested = outcome(&scenario, 1, 0, Trace::default(), true);
        assert_eq!(alone, plain(&digested), "{name} with digests");
        let probed = outcome(&scenario, 1, 0, everything(), true);
        assert_eq!(alone, plain(&probed), "{name} with every probe");
        let Fingerprints { events, packets, results } = digested.fingerprints.expect("asked for");
        let same = probed.fingerprints.expect("asked for");
        assert_eq!((events, packets), (same.events, same.packets), "{name} with every probe");
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
            Values::Text(values) => values[0].to_owned(),
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
    // The n-th packet of a direction meets the n-th draw: with one packet every 10 ms in each case, datagrams
    // of two sizes lose the same numbers.
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
            .filter(|&row| &events[row] == "dropped" && &links[row] == "lossy")
            .map(|row| descriptions[row].split(" (").next().unwrap_or_default().to_owned())
            .collect::<Vec<_>>()
    };
    let (small, large) = (lost("100B"), lost("900B"));
    assert!(small.len() > 100, "{}", small.len());
    assert_eq!(small, large);
}
