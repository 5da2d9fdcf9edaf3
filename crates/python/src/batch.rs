//! Runs, one or many side by side.

use crate::RunFailed;
use crate::result::{Cost, RunResult};
use crate::scenario::Scenario;
use cpu_time::ThreadTime;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use roamsim_scenario::run::{Options, Outcome, RunError, Trace, prepare};
use std::fs::File;
use std::io::BufWriter;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How often a waiting batch looks for signals: soon enough for a person at the keyboard.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(50);

/// A finished run and what its loop took, or why it failed.
type Finished = Result<(Outcome, Cost), String>;

fn trace(kinds: &[String]) -> PyResult<Trace> {
    let mut trace = Trace::default();
    for kind in kinds {
        if !trace.add(kind) {
            let known = Trace::NAMES.join(", ");
            return Err(PyValueError::new_err(format!("no trace is named {kind:?}; there are: {known}")));
        }
    }
    Ok(trace)
}

/// One run, timed. A fault of the simulator is reported, not passed on as a panic.
fn run_timed(scenario: &roamsim_scenario::Scenario, options: Options) -> Finished {
    let (seed, replication) = (options.seed, options.replication);
    let work = || -> Result<(Outcome, Cost), RunError> {
        let mut prepared = prepare(scenario, options)?;
        let (wall, cpu) = (Instant::now(), ThreadTime::now());
        prepared.run()?;
        let cost = Cost { wall_s: wall.elapsed().as_secs_f64(), cpu_s: cpu.elapsed().as_secs_f64() };
        Ok((prepared.finish(scenario, seed, replication)?, cost))
    };
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(finished) => finished.map_err(|error| error.to_string()),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|&text| text.to_owned()));
            Err(format!("a fault of the simulator, please report it: {}", text.unwrap_or_default()))
        }
    }
}

/// Runs a scenario once. `trace` names what to record beside the tables; `pcap` is the path of a capture to write.
#[pyfunction]
#[pyo3(signature = (scenario, *, seed = 1, replication = 0, trace = Vec::new(), pcap = None, fingerprints = false))]
pub fn run(
    py: Python<'_>,
    scenario: &Scenario,
    seed: u64,
    replication: u64,
    trace: Vec<String>,
    pcap: Option<&str>,
    fingerprints: bool,
) -> PyResult<RunResult> {
    let capture = match pcap {
        Some(path) => {
            let file = File::create(path).map_err(|error| PyOSError::new_err(format!("{path}: {error}")))?;
            Some(Box::new(BufWriter::new(file)) as Box<_>)
        }
        None => None,
    };
    let options = Options { seed, replication, trace: self::trace(&trace)?, fingerprints, capture };
    let scenario = Arc::clone(&scenario.scenario);
    let finished = wait(py, move || run_timed(&scenario, options))?;
    let (outcome, cost) = finished.map_err(RunFailed::new_err)?;
    RunResult::new(py, outcome, cost)
}

/// The next message, or why there is none yet.
fn receive<T>(receiver: &Mutex<Receiver<T>>) -> Result<T, RecvTimeoutError> {
    receiver.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(SIGNAL_INTERVAL)
}

/// Works in a thread of its own, so that the calling one can see signals.
fn wait(py: Python<'_>, work: impl FnOnce() -> Finished + Send + 'static) -> PyResult<Finished> {
    let (sender, receiver) = channel();
    thread::spawn(move || sender.send(work()));
    let receiver = Mutex::new(receiver);
    loop {
        match py.detach(|| receive(&receiver)) {
            Ok(finished) => return Ok(finished),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => return Ok(Err("the run's thread ended".to_owned())),
        }
    }
}

/// Runs side by side on several threads. Iterating gives pairs (index, result or exception) in order of completion.
#[pyclass(module = "roamsim._roamsim")]
pub struct Batch {
    finished: Mutex<Receiver<(usize, Finished)>>,
    cancelled: Arc<AtomicBool>,
    remaining: AtomicUsize,
}

#[pymethods]
impl Batch {
    /// Begins the runs: tuples of scenario, seed and replication.
    #[new]
    #[pyo3(signature = (runs, *, jobs, trace = Vec::new()))]
    fn new(runs: Vec<(PyRef<'_, Scenario>, u64, u64)>, jobs: usize, trace: Vec<String>) -> PyResult<Batch> {
        let trace = self::trace(&trace)?;
        let runs: Vec<_> = runs
            .iter()
            .map(|(scenario, seed, replication)| (Arc::clone(&scenario.scenario), *seed, *replication))
            .collect();
        let remaining = AtomicUsize::new(runs.len());
        let runs = Arc::new(runs);
        let next = Arc::new(AtomicUsize::new(0));
        let cancelled = Arc::new(AtomicBool::new(false));
        let (sender, finished) = channel();
        for _ in 0..jobs.clamp(1, 256) {
            let (runs, next, cancelled, sender) =
                (Arc::clone(&runs), Arc::clone(&next), Arc::clone(&cancelled), sender.clone());
            thread::spawn(move || {
                while !cancelled.load(Ordering::Relaxed) {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some((scenario, seed, replication)) = runs.get(index) else { break };
                    let options =
                        Options { seed: *seed, replication: *replication, trace, ..Options::default() };
                    if sender.send((index, run_timed(scenario, options))).is_err() {
                        break;
                    }
                }
            });
        }
        Ok(Batch { finished: Mutex::new(finished), cancelled, remaining })
    }

    fn __iter__(batch: PyRef<'_, Self>) -> PyRef<'_, Self> {
        batch
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<(usize, Py<PyAny>)>> {
        loop {
            if self.remaining.load(Ordering::Relaxed) == 0 {
                return Ok(None);
            }
            match py.detach(|| receive(&self.finished)) {
                Ok((index, finished)) => {
                    self.remaining.fetch_sub(1, Ordering::Relaxed);
                    let value = match finished {
                        Ok((outcome, cost)) => Py::new(py, RunResult::new(py, outcome, cost)?)?.into_any(),
                        Err(text) => RunFailed::new_err(text).into_value(py).into_any(),
                    };
                    return Ok(Some((index, value)));
                }
                Err(RecvTimeoutError::Timeout) => py.check_signals()?,
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
            }
        }
    }

    /// Begins no further run. Those at work end by themselves.
    fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        self.cancel();
    }
}
