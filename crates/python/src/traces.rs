//! Traces by their names.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use roamsim_scenario::run::Trace;

/// The traces of these names.
pub(crate) fn named(kinds: &[String]) -> PyResult<Trace> {
    let mut trace = Trace::default();
    for kind in kinds {
        if !trace.add(kind) {
            let known = Trace::NAMES.join(", ");
            return Err(PyValueError::new_err(format!("no trace is named {kind:?}; there are: {known}")));
        }
    }
    Ok(trace)
}
