//! Results of a run.

use crate::table::Table;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use roamsim_scenario::run::Outcome;

/// What a run took: building its world, and its loop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    pub(crate) build_s: f64,
    pub(crate) wall_s: f64,
    pub(crate) cpu_s: f64,
}

/// What a run gave.
#[pyclass(name = "Result", module = "roamsim._roamsim")]
pub struct RunResult {
    /// Events that did something.
    #[pyo3(get)]
    events: u64,
    /// Seconds of wall clock that building the world took.
    #[pyo3(get)]
    build_s: f64,
    /// Seconds of wall clock that the run alone took: without building the world and making the tables.
    #[pyo3(get)]
    wall_s: f64,
    /// Seconds of processor time of the same part.
    #[pyo3(get)]
    cpu_s: f64,
    /// Tables by name.
    #[pyo3(get)]
    tables: Py<PyDict>,
    /// Digests of all events, of packets between nodes, and of the tables; empty unless asked for.
    #[pyo3(get)]
    fingerprints: Py<PyDict>,
}

impl RunResult {
    pub(crate) fn new(py: Python<'_>, outcome: Outcome, cost: Cost) -> PyResult<RunResult> {
        let tables = PyDict::new(py);
        for table in outcome.tables {
            tables.set_item(table.name, Table::from(table))?;
        }
        let fingerprints = PyDict::new(py);
        if let Some(digests) = outcome.fingerprints {
            for (name, digest) in
                [("events", digests.events), ("packets", digests.packets), ("results", digests.results)]
            {
                fingerprints.set_item(name, format!("{digest:016x}"))?;
            }
        }
        Ok(RunResult {
            events: outcome.events,
            build_s: cost.build_s,
            wall_s: cost.wall_s,
            cpu_s: cost.cpu_s,
            tables: tables.unbind(),
            fingerprints: fingerprints.unbind(),
        })
    }
}
