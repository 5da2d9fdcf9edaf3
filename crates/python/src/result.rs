//! Results of a run: columns as arrays.

use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use roamsim_scenario::run::Outcome;
use roamsim_scenario::table::{Column, Values};

/// What the loop of a run took.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    pub(crate) wall_s: f64,
    pub(crate) cpu_s: f64,
}

/// What a run gave. The tables are handed over once, without copying numbers.
#[pyclass(name = "Result", module = "roamsim._roamsim")]
pub struct RunResult {
    /// Events that did something.
    #[pyo3(get)]
    events: u64,
    /// Seconds of wall clock that the run alone took: without building the world and making the tables.
    #[pyo3(get)]
    wall_s: f64,
    /// Seconds of processor time of the same part.
    #[pyo3(get)]
    cpu_s: f64,
    /// Column values by table and column: arrays of numbers, lists of text.
    #[pyo3(get)]
    tables: Py<PyDict>,
    /// Units by table and column.
    #[pyo3(get)]
    units: Py<PyDict>,
    /// Digests of all events, of packets between nodes, and of the tables; empty unless asked for.
    #[pyo3(get)]
    fingerprints: Py<PyDict>,
}

/// The values of a table's columns and their units, each by the column's name. Rows with the same text share one object.
pub(crate) fn columns<'py>(
    py: Python<'py>,
    columns: Vec<Column>,
) -> PyResult<(Bound<'py, PyDict>, Bound<'py, PyDict>)> {
    let (values, units) = (PyDict::new(py), PyDict::new(py));
    for column in columns {
        match column.values {
            Values::Float(floats) => values.set_item(column.name, PyArray1::from_vec(py, floats))?,
            Values::Integer(integers) => values.set_item(column.name, PyArray1::from_vec(py, integers))?,
            Values::Text(texts) => {
                let different: Vec<_> =
                    texts.different().iter().map(|text| PyString::new(py, text)).collect();
                let rows = texts.codes().iter().map(|&code| &different[code as usize]);
                values.set_item(column.name, PyList::new(py, rows)?)?;
            }
        }
        units.set_item(column.name, column.unit)?;
    }
    Ok((values, units))
}

impl RunResult {
    pub(crate) fn new(py: Python<'_>, outcome: Outcome, cost: Cost) -> PyResult<RunResult> {
        let tables = PyDict::new(py);
        let units = PyDict::new(py);
        for table in outcome.tables {
            let (columns, column_units) = columns(py, table.columns)?;
            tables.set_item(table.name, columns)?;
            units.set_item(table.name, column_units)?;
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
            wall_s: cost.wall_s,
            cpu_s: cost.cpu_s,
            tables: tables.unbind(),
            units: units.unbind(),
            fingerprints: fingerprints.unbind(),
        })
    }
}
