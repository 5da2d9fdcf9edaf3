//! Runs a scenario once, with seed 1: `roamsim-counts FILE [PATH=VALUE]...`. Prints its events and the octets delivered.
//!
//! The run itself, without reading the scenario, building its world and making tables, is in a function of a name of its
//! own, by which `benches/counts.py` has callgrind count its instructions.

use roamsim_scenario::run::{Options, Outcome, Prepared, RunError, prepare};
use roamsim_scenario::table::Values;
use roamsim_scenario::{Format, Scenario};
use std::io::Write;
use std::process::ExitCode;
use std::{env, fs, io};

const USAGE: &str =
    "usage: roamsim-counts FILE [PATH=VALUE]...; a FILE that ends in .json is JSON, any other TOML";

#[inline(never)]
fn counted_run(prepared: &mut Prepared) -> Result<(), RunError> {
    prepared.run()
}

fn delivered_bytes(outcome: &Outcome) -> u64 {
    let columns =
        outcome.tables.iter().filter(|table| table.name == "flows").flat_map(|table| &table.columns);
    let delivered = columns.filter(|column| column.name == "delivered_bytes");
    delivered
        .map(|column| match &column.values {
            Values::Integer(values) => values.iter().sum(),
            Values::Float(_) | Values::Text(_) => 0,
        })
        .sum()
}

fn run(words: &[String]) -> Result<String, String> {
    let (path, overrides) = words.split_first().ok_or(USAGE)?;
    let overrides: Vec<_> = overrides
        .iter()
        .map(|word| {
            word.split_once('=').map(|(path, value)| (path.to_owned(), value.to_owned())).ok_or(USAGE)
        })
        .collect::<Result<_, _>>()?;
    let text = fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    let format = if path.ends_with(".json") { Format::Json } else { Format::Toml };
    let scenario = Scenario::parse(&text, path, format, &overrides).map_err(|error| error.to_string())?;
    let (seed, replication) = (1, 0);
    // As `roamsim run` makes it.
    let options = Options { seed, replication, series: true, ..Options::default() };
    let mut prepared = prepare(&scenario, options).map_err(|error| error.to_string())?;
    counted_run(&mut prepared).map_err(|error| error.to_string())?;
    let outcome = prepared.finish().map_err(|error| error.to_string())?;
    Ok(format!("{{\"events\": {}, \"delivered_bytes\": {}}}", outcome.events, delivered_bytes(&outcome)))
}

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    let (told, code) = match run(&words) {
        Ok(text) => (writeln!(io::stdout(), "{text}"), ExitCode::SUCCESS),
        Err(text) => (writeln!(io::stderr(), "{text}"), ExitCode::FAILURE),
    };
    if told.is_ok() { code } else { ExitCode::FAILURE }
}
