//! Whole scenarios, mutated: each is read or refused, each refusal can be rendered, and what is read runs,
//! for a short time, without a panic, an overflow, a failed assertion, a packet without an end, or a hang.
//!
//! Case `n` of seed `s` is always the same. `make fuzz` runs for longer and with another seed each time:
//!
//!     ROAMSIM_FUZZ_SECONDS=600 ROAMSIM_FUZZ_SEED=7 cargo test -p roamsim-scenario --test fuzz
//!
//! With ROAMSIM_FUZZ_CASE it runs one case alone. A case that fails is written to the folder for temporary
//! files of the build, whose path the failure tells.

#![allow(clippy::disallowed_methods, reason = "a run that hangs is known by the clock")]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a driver reports to its user")]

mod mutate;

use roamsim_engine::Stream;
use roamsim_engine::run::Watch;
use roamsim_scenario::run::{Options, RunError, Trace, run};
use roamsim_scenario::{Format, Scenario};
use serde_json::Value;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// How long the test takes unless told otherwise.
const SECONDS: u64 = 20;
/// How long a case may run before it is stopped. What happens later is for others.
const RUN: Duration = Duration::from_millis(150);
/// How long a case may take in all: one that is not over by then hangs. Machines may be busy.
const HANG: Duration = Duration::from_secs(60);
/// Memory of all at which a case is stopped, and at which it counts as a failure.
const MEMORY: [u64; 2] = [1 << 30, 4 << 30];

struct Example {
    text: String,
    name: String,
    tree: Value,
}

struct Case {
    number: u64,
    text: String,
    format: Format,
    begun: Instant,
    watch: Arc<Watch>,
}

fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// The examples, and behind them what has the keys that no example has.
fn examples() -> Vec<Example> {
    let files = ["../../examples", "tests/fuzz/seeds"].into_iter().flat_map(|folder| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        let mut files: Vec<_> =
            fs::read_dir(folder).expect("a folder").map(|entry| entry.unwrap().path()).collect();
        files.retain(|file| file.extension().is_some_and(|ending| ending == "toml"));
        files.sort();
        files
    });
    let example = |file: PathBuf| {
        let text = fs::read_to_string(&file).expect("an example");
        let name = file.to_string_lossy().into_owned();
        let scenario = Scenario::parse(&text, &name, Format::Toml, &[]).expect("examples are valid");
        Example { text, name, tree: serde_json::from_str(&scenario.canonical_json()).expect("JSON") }
    };
    files.map(example).collect()
}

/// Octets of memory that this process has; 0 where the system does not tell.
fn memory() -> u64 {
    let pages = fs::read_to_string("/proc/self/statm").ok();
    pages.and_then(|text| text.split(' ').nth(1)?.parse::<u64>().ok()).map_or(0, |pages| pages * 4096)
}

fn begin(examples: &[Example], seed: u64, number: u64) -> (Case, String, Stream) {
    let mut random = Stream::new(seed, number, "fuzz");
    let pick = |random: &mut Stream| &examples[random.below(examples.len() as u64) as usize];
    let (one, other) = (pick(&mut random), pick(&mut random));
    let (text, format) = match random.below(8) {
        0 => (mutate::text(&one.tree.to_string(), &other.text, &mut random), Format::Json),
        1 | 2 => (mutate::text(&one.text, &other.text, &mut random), Format::Toml),
        _ => (mutate::tree(&one.tree, &other.tree, &mut random).to_string(), Format::Json),
    };
    let watch = Arc::new(Watch::default());
    (Case { number, text, format, begun: Instant::now(), watch }, one.name.clone(), random)
}

/// Reads the case, renders what is refused, runs what is not. Whether it ran.
fn work(text: &str, format: Format, name: &str, watch: Arc<Watch>, mut random: Stream) -> bool {
    let overrides = match random.below(3) {
        0 => vec![],
        1 => vec![("scenario.duration".to_owned(), "100ms".to_owned())],
        _ => vec![("scenario.duration".to_owned(), "20s".to_owned())],
    };
    let scenario = match Scenario::parse(text, name, format, &overrides) {
        Ok(scenario) => scenario,
        Err(refused) => {
            let report = refused.render(random.below(2) == 0);
            assert!(!report.is_empty() && report.len() < 1 << 20, "a report of {} octets", report.len());
            return false;
        }
    };
    let mut trace = Trace::default();
    for name in Trace::NAMES {
        if random.below(4) == 0 {
            trace.add(name);
        }
    }
    let capture = (random.below(3) == 0).then(|| Box::new(std::io::sink()) as Box<_>);
    let fingerprints = random.below(4) == 0;
    let options = Options {
        seed: random.next_u64(),
        replication: 0,
        trace,
        fingerprints,
        capture,
        watch,
        ..Options::default()
    };
    match run(&scenario, options) {
        Ok(_) | Err(RunError::Stopped(_) | RunError::Livelock(_)) => {}
        Err(error) => panic!("{error}"),
    }
    true
}

/// Keeps what fails, so that it can be run by itself.
fn keep(case: &Case, seed: u64) -> String {
    let ending = if case.format == Format::Json { "json" } else { "toml" };
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("fuzz-{seed}-{}.{ending}", case.number));
    fs::write(&file, &case.text).expect("a temporary file");
    format!("case {} of seed {seed}, kept in {}", case.number, file.display())
}

#[test]
fn mutated_scenarios_are_refused_or_run() {
    let seed = variable("ROAMSIM_FUZZ_SEED").unwrap_or(1);
    let only = variable("ROAMSIM_FUZZ_CASE");
    let until = Instant::now() + Duration::from_secs(variable("ROAMSIM_FUZZ_SECONDS").unwrap_or(SECONDS));
    let now: Arc<Mutex<Option<Case>>> = Arc::default();
    let shared = Arc::clone(&now);
    let worker = thread::spawn(move || {
        let examples = examples();
        let (mut ran, mut failed, mut number) = (0, Vec::new(), only.unwrap_or(0));
        while Instant::now() < until || only.is_some() {
            let (case, name, random) = begin(&examples, seed, number);
            let (text, format, watch) = (case.text.clone(), case.format, Arc::clone(&case.watch));
            *shared.lock().unwrap() = Some(case);
            let outcome = catch_unwind(AssertUnwindSafe(|| work(&text, format, &name, watch, random)));
            let case = shared.lock().unwrap().take();
            match outcome {
                Ok(run) => ran += u64::from(run),
                Err(_) => failed.extend(case.map(|case| keep(&case, seed))),
            }
            number += 1;
            if only.is_some() {
                break;
            }
        }
        (number, ran, failed)
    });
    while !worker.is_finished() {
        thread::sleep(Duration::from_millis(5));
        let case = now.lock().unwrap();
        let Some(case) = &*case else { continue };
        let (took, memory) = (case.begun.elapsed(), memory());
        if took > RUN || memory > MEMORY[0] {
            case.watch.stop();
        }
        if took > HANG || memory > MEMORY[1] {
            // A thread that hangs cannot be ended, only all of them.
            eprintln!("{} takes {took:?} and {} MB", keep(case, seed), memory >> 20);
            std::process::exit(1);
        }
    }
    let (cases, ran, failed) = worker.join().expect("the worker");
    println!("{cases} cases of seed {seed}, of which {ran} ran");
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    // Mutations that are refused one and all would test the parser alone.
    assert!(only.is_some() || ran * 20 > cases, "only {ran} of {cases} cases ran");
}
