//! Runs, one or many side by side.

use crate::RunFailed;
use crate::crew::{Crew, Finished, INTERVAL, Job, Said};
use crate::memory;
use crate::result::RunResult;
use crate::scenario::Scenario;
use crate::table::Table;
use crate::traces;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use roamsim_scenario::run::{Captured, LogMaker};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// Memory in octets that this process may have before runs are stopped; zero for the default, three quarters
/// of the machine's.
#[pyfunction]
pub fn limit_memory(bytes: u64) {
    memory::limit(bytes);
}

/// Octets that this process has in memory, and at which its runs are stopped; 0 where the system does not
/// tell.
#[pyfunction]
pub fn memory_bytes() -> (u64, u64) {
    (memory::used_bytes().unwrap_or(0), memory::limit_bytes().unwrap_or(0))
}

/// Runs a scenario once. `trace` names what to record beside the tables. `pcap` is the path of a capture to
/// write, of packets everywhere. With `pcap_at` it holds those that nodes send and receive, with
/// `pcap_frames` Wi-Fi frames, "all" or those of a node. `qlog` is a folder for the qlog files of QUIC.
/// `heard` is called now and then with the share of the simulated time that is over, `rows` with the number
/// of the run (0), a table's name and its rows as those of traces become final: the tables of the result are
/// without them then; `series` asks for the table of coarse series.
#[pyfunction]
#[pyo3(signature = (
    scenario, *, seed = 1, replication = 0, trace = Vec::new(), pcap = None, pcap_at = Vec::new(), pcap_frames = None, qlog = None, fingerprints = false, heard = None,
    rows = None, rows_at_once = None, series = false
))]
#[expect(clippy::too_many_arguments, reason = "they have names in Python")]
pub fn run(
    py: Python<'_>,
    scenario: &Scenario,
    seed: u64,
    replication: u64,
    trace: Vec<String>,
    pcap: Option<&str>,
    pcap_at: Vec<String>,
    pcap_frames: Option<&str>,
    qlog: Option<&str>,
    fingerprints: bool,
    heard: Option<Py<PyAny>>,
    rows: Option<Py<PyAny>>,
    rows_at_once: Option<usize>,
    series: bool,
) -> PyResult<RunResult> {
    let trace = traces::named(&trace)?;
    let capture: Option<Box<dyn Write + Send>> = match pcap {
        Some(path) => {
            let file = File::create(path).map_err(|error| PyOSError::new_err(format!("{path}: {error}")))?;
            Some(Box::new(BufWriter::new(file)))
        }
        None => None,
    };
    let scenario = Arc::clone(&scenario.scenario);
    let capture = Mutex::new(capture);
    let handed = rows.is_some();
    let captured = match pcap_frames {
        None if pcap_at.is_empty() => Captured::Packets,
        None => Captured::PacketsAt(pcap_at),
        Some("all") => Captured::Frames,
        Some(node) => Captured::FramesOf(node.to_owned()),
    };
    let job = Job {
        scenario,
        seed,
        replication,
        trace,
        fingerprints,
        capture,
        captured,
        logs: Mutex::new(qlog.map(files_in)),
        rows: handed,
        rows_at_once,
        series,
    };
    let crew = Crew::begin(vec![job], 1, memory::give_back(py));
    match receive(py, &crew, heard.as_ref(), rows.as_ref())? {
        Some((_, Ok((outcome, cost)))) => RunResult::new(py, outcome, cost),
        Some((_, Err(text))) => Err(RunFailed::new_err(text)),
        None => Err(RunFailed::new_err("the run's thread ended")),
    }
}

/// Makes files in a folder. Names of flows may hold anything: other characters than letters, digits, `.`, `-`
/// and `_` become `_`, and a number is added where two names become one.
fn files_in(folder: &str) -> LogMaker {
    let (folder, mut taken) = (PathBuf::from(folder), BTreeSet::new());
    Box::new(move |name| {
        let plain = |letter: char| match letter {
            '.' | '-' | '_' => letter,
            _ if letter.is_ascii_alphanumeric() => letter,
            _ => '_',
        };
        let name: String = name.chars().map(plain).collect();
        let numbered = (2..).map(|number| format!("{number}-{name}"));
        let free = std::iter::once(name.clone()).chain(numbered).find(|name| !taken.contains(name));
        let free = free.unwrap_or(name);
        let file = File::create(folder.join(&free))?;
        taken.insert(free);
        Ok(Box::new(BufWriter::new(file)))
    })
}

/// Waits for the next run that is over, in sight of signals, and hands on what runs say meanwhile.
fn receive(
    py: Python<'_>,
    crew: &Crew,
    heard: Option<&Py<PyAny>>,
    rows: Option<&Py<PyAny>>,
) -> PyResult<Option<(usize, Finished)>> {
    let mut looked = Instant::now();
    loop {
        match py.detach(|| crew.receive()) {
            Ok((number, Said::Finished(finished))) => return Ok(Some((number, *finished))),
            Ok((number, Said::Rows(table, dealt_with))) => {
                if let Some(rows) = rows {
                    rows.call1(py, (number, table.name, Table::from(table)))?;
                }
                // Of a run that has been stopped meanwhile nobody waits for it.
                dealt_with.send(()).ok();
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(None),
        }
        if looked.elapsed() >= INTERVAL {
            looked = Instant::now();
            py.check_signals()?;
            if let Some(heard) = heard {
                heard.call1(py, (crew.under_way(),))?;
            }
        }
    }
}

/// Runs side by side on several threads. Iterating gives pairs (index, result or exception) in order of
/// completion.
#[pyclass(module = "roamsim._roamsim")]
pub struct Batch {
    crew: Crew,
    remaining: AtomicUsize,
    heard: Option<Py<PyAny>>,
    rows: Option<Py<PyAny>>,
}

#[pymethods]
impl Batch {
    /// Begins the runs: tuples of scenario, seed and replication. `heard` is called while one waits for the
    /// next, with the number of runs at work, each counted by the share of its simulated time that is over;
    /// `rows` as of `run`; `series` too, but of first replications alone.
    #[new]
    #[pyo3(signature = (runs, *, jobs, trace = Vec::new(), heard = None, rows = None, rows_at_once = None, series = false))]
    #[expect(clippy::too_many_arguments, reason = "they have names in Python")]
    fn new(
        py: Python<'_>,
        runs: Vec<(PyRef<'_, Scenario>, u64, u64)>,
        jobs: usize,
        trace: Vec<String>,
        heard: Option<Py<PyAny>>,
        rows: Option<Py<PyAny>>,
        rows_at_once: Option<usize>,
        series: bool,
    ) -> PyResult<Batch> {
        let trace = traces::named(&trace)?;
        let job = |(scenario, seed, replication): &(PyRef<'_, Scenario>, u64, u64)| Job {
            scenario: Arc::clone(&scenario.scenario),
            seed: *seed,
            replication: *replication,
            trace,
            fingerprints: false,
            capture: Mutex::new(None),
            captured: Captured::default(),
            logs: Mutex::new(None),
            rows: rows.is_some(),
            rows_at_once,
            series: series && *replication == 0,
        };
        let crew = Crew::begin(runs.iter().map(job).collect(), jobs, memory::give_back(py));
        Ok(Batch { remaining: AtomicUsize::new(crew.count()), crew, heard, rows })
    }

    fn __iter__(batch: PyRef<'_, Self>) -> PyRef<'_, Self> {
        batch
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<(usize, Py<PyAny>)>> {
        if self.remaining.load(Ordering::Relaxed) == 0 {
            return Ok(None);
        }
        let Some((index, finished)) = receive(py, &self.crew, self.heard.as_ref(), self.rows.as_ref())?
        else {
            return Ok(None);
        };
        self.remaining.fetch_sub(1, Ordering::Relaxed);
        let value = match finished {
            Ok((outcome, cost)) => Py::new(py, RunResult::new(py, outcome, cost)?)?.into_any(),
            Err(text) => RunFailed::new_err(text).into_value(py).into_any(),
        };
        Ok(Some((index, value)))
    }

    /// Begins no further run, and stops those at work.
    fn cancel(&self) {
        self.crew.cancel();
    }
}
