//! The extension module `roamsim._roamsim`: conversions between Python and the Rust core, and the release of
//! the GIL while a run works. It decides nothing.

mod arrow;
mod batch;
mod column;
mod crew;
mod law;
mod memory;
mod policy;
mod result;
mod scenario;
mod table;
mod traces;
mod world;

use pyo3::create_exception;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

create_exception!(
    roamsim,
    ScenarioError,
    PyValueError,
    "The scenario is invalid; the text says where and what to do."
);
create_exception!(roamsim, RunFailed, PyRuntimeError, "The run failed.");

/// The version of the simulator.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// A digest of the simulator's sources.
#[pyfunction]
fn build() -> &'static str {
    env!("ROAMSIM_BUILD")
}

/// The JSON Schema of scenarios, as JSON.
#[pyfunction]
fn schema() -> String {
    roamsim_scenario::schema().to_string()
}

/// A commented scenario to start from.
#[pyfunction]
fn template() -> &'static str {
    roamsim_scenario::template()
}

/// The presets of TCP by name, as TOML with a source beside each setting.
#[pyfunction]
fn tcp_stacks() -> Vec<(&'static str, &'static str)> {
    roamsim_scenario::TCP_STACKS.to_vec()
}

/// What other congestion controls change of a preset: the variant, the keys that are left out, and the
/// setting that it has instead.
#[pyfunction]
fn tcp_stack_exceptions(name: &str) -> Vec<(&'static str, Vec<&'static str>, &'static str)> {
    roamsim_scenario::tcp_stack_exceptions(name)
}

/// The kinds of trace that a run can record.
#[pyfunction]
fn trace_kinds() -> Vec<&'static str> {
    roamsim_scenario::run::Trace::NAMES.to_vec()
}

/// The text of a file's octets, as of files that scenarios name; the error is the end of a sentence about the
/// file.
#[pyfunction]
fn decode_text(octets: &[u8]) -> PyResult<String> {
    roamsim_scenario::decode(octets.to_vec())
        .map_err(|(what, help)| ScenarioError::new_err(format!("{what}; {help}")))
}

#[pymodule]
fn _roamsim(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("ScenarioError", module.py().get_type::<ScenarioError>())?;
    module.add("RunFailed", module.py().get_type::<RunFailed>())?;
    module.add_class::<scenario::Scenario>()?;
    module.add_class::<table::Table>()?;
    module.add_class::<result::RunResult>()?;
    module.add_class::<batch::Batch>()?;
    module.add_class::<world::World>()?;
    module.add_class::<law::CongestionControl>()?;
    module.add_class::<law::Sample>()?;
    module.add_function(wrap_pyfunction!(law::register_congestion_control, module)?)?;
    module.add_class::<policy::SelectionPolicy>()?;
    module.add_class::<policy::InterfaceState>()?;
    module.add_function(wrap_pyfunction!(policy::register_selection_policy, module)?)?;
    module.add_function(wrap_pyfunction!(version, module)?)?;
    module.add_function(wrap_pyfunction!(build, module)?)?;
    module.add_function(wrap_pyfunction!(schema, module)?)?;
    module.add_function(wrap_pyfunction!(template, module)?)?;
    module.add_function(wrap_pyfunction!(tcp_stacks, module)?)?;
    module.add_function(wrap_pyfunction!(tcp_stack_exceptions, module)?)?;
    module.add_function(wrap_pyfunction!(trace_kinds, module)?)?;
    module.add_function(wrap_pyfunction!(decode_text, module)?)?;
    module.add_function(wrap_pyfunction!(batch::run, module)?)?;
    module.add_function(wrap_pyfunction!(batch::limit_memory, module)?)?;
    module.add_function(wrap_pyfunction!(batch::memory_bytes, module)?)?;
    Ok(())
}
