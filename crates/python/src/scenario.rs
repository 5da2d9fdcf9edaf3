//! Scenarios, validated.

use crate::ScenarioError;
use crate::traces;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use roamsim_scenario::estimate::Estimate;
use roamsim_scenario::run::Trace;
use roamsim_scenario::{Folder, Format};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// A valid scenario.
#[pyclass(frozen, module = "roamsim._roamsim")]
pub struct Scenario {
    pub(crate) scenario: Arc<roamsim_scenario::Scenario>,
    /// Where its files lie, by an absolute path: to read it again with other values.
    files: Folder,
    /// The last that was asked for: each run of a scenario asks anew, and one of a thousand flows takes some
    /// milliseconds.
    estimated: Mutex<Option<(Trace, Estimate)>>,
}

#[pymethods]
impl Scenario {
    /// Reads and validates a scenario. `name` stands for the source in errors; `overrides` are pairs of a
    /// path and a value, applied before decoding. `folder` is where its files lie, that of `name` unless
    /// given; files outside of it are refused unless allowed, or named by an override.
    #[staticmethod]
    #[pyo3(signature = (text, *, name, format, overrides = Vec::new(), color = false, folder = None, allow_files_outside = false))]
    #[allow(clippy::too_many_arguments, reason = "keywords in Python")]
    fn parse(
        py: Python<'_>,
        text: &str,
        name: &str,
        format: &str,
        overrides: Vec<(String, String)>,
        color: bool,
        folder: Option<PathBuf>,
        allow_files_outside: bool,
    ) -> PyResult<Scenario> {
        let format = match format {
            "toml" => Format::Toml,
            "json" => Format::Json,
            other => {
                return Err(PyValueError::new_err(format!("format is \"toml\" or \"json\", not {other:?}")));
            }
        };
        let mut files = Folder::of(name);
        files.outside = allow_files_outside;
        files.path = folder.unwrap_or(files.path);
        let scenario =
            py.detach(|| roamsim_scenario::Scenario::parse_in(&files, text, name, format, &overrides));
        // The current folder may change.
        if let Ok(path) = std::path::absolute(Path::new(".").join(&files.path)) {
            files.path = path;
        }
        match scenario {
            Ok(scenario) => Ok(Scenario { scenario: Arc::new(scenario), files, estimated: Mutex::new(None) }),
            Err(diagnostics) => Err(ScenarioError::new_err(diagnostics.render(color))),
        }
    }

    /// The scenario's name.
    #[getter]
    fn name(&self) -> &str {
        &self.scenario.general.name
    }

    /// Where its files lie.
    #[getter]
    fn folder(&self) -> &Path {
        &self.files.path
    }

    /// Whether it may name files outside of that folder.
    #[getter]
    fn allows_files_outside(&self) -> bool {
        self.files.outside
    }

    /// Its duration in seconds.
    #[getter]
    fn duration_s(&self) -> f64 {
        self.scenario.general.duration.as_secs_f64()
    }

    /// What in it is hardly meant, each as a report for a person.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.scenario.warnings.clone()
    }

    /// The nodes whose programs run outside.
    #[getter]
    fn external_nodes(&self) -> Vec<String> {
        self.scenario.external_nodes().map(str::to_owned).collect()
    }

    /// The flows with a program outside at one end: the flow, the program's node, the other node, the
    /// transport, the port of the end that is connected to, and whether that is done by the program.
    #[getter]
    fn program_flows(&self) -> Vec<(String, String, String, &'static str, u16, bool)> {
        let flows = self.scenario.program_flows().into_iter();
        flows
            .map(|of| {
                let [flow, program, peer] = [of.flow, of.program, of.peer].map(str::to_owned);
                (flow, program, peer, of.protocol, of.port, of.begins)
            })
            .collect()
    }

    /// Where the data of several flows pass a drop-tail queue with nothing random on their way: the link, the
    /// node that sends there, and the flows.
    #[getter]
    fn meetings_in_step(&self) -> Vec<(String, String, Vec<String>)> {
        let meetings = self.scenario.meetings_in_step().into_iter();
        meetings.map(|meeting| (meeting.link, meeting.node, meeting.flows)).collect()
    }

    /// The values of the column `name` in the result tables that have rows for each entry of their kind, by
    /// table.
    #[getter]
    fn row_names(&self) -> BTreeMap<&'static str, Vec<String>> {
        let tables = self.scenario.row_names().into_iter();
        tables.map(|(table, names)| (table, names.into_iter().map(str::to_owned).collect())).collect()
    }

    /// What a run with these traces will take, as far as the scenario plainly says so: events, packets under
    /// way at one time, rows of traces.
    fn estimate(&self, py: Python<'_>, trace: Vec<String>) -> PyResult<(f64, f64, f64)> {
        let trace = traces::named(&trace)?;
        // Not held while it is worked out, for which others may take the interpreter.
        let last = || self.estimated.lock().unwrap_or_else(PoisonError::into_inner);
        let known = last().filter(|(of, _)| *of == trace).map(|(_, estimate)| estimate);
        let estimate = known.unwrap_or_else(|| py.detach(|| self.scenario.estimate(&trace)));
        *last() = Some((trace, estimate));
        Ok((estimate.events, estimate.packets_under_way, estimate.rows))
    }

    /// Its tree after overrides, as JSON with sorted keys.
    #[getter]
    fn canonical(&self) -> String {
        self.scenario.canonical_json()
    }

    /// The same with elements that stand for many as they were written: to read it again with other values.
    #[getter]
    fn written(&self) -> String {
        self.scenario.written_json()
    }

    /// Digest of the canonical tree and the simulator's sources: what a run depends on beside seed and
    /// replication.
    #[getter]
    fn fingerprint(&self) -> String {
        let digest = Sha256::new()
            .chain_update(self.scenario.canonical_json())
            .chain_update([0])
            .chain_update(env!("ROAMSIM_BUILD"));
        format!("{:x}", digest.finalize())
    }
}
