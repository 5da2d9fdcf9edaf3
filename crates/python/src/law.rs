//! Congestion controls of TCP that are classes in Python.
//!
//! A class is registered under its name in scenarios, with a digest of its source. Each connection has its
//! own instance. Calls hold the interpreter's lock, so parallel runs take turns. An error in a class stops
//! its run and names the line of the user's file.

use pyo3::exceptions::{PyNotImplementedError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyTraceback, PyType};
use pyo3::{intern, types::PyString};
use roamsim_engine::Span;
use roamsim_protocols::tcp::congestion::{self, Law, LawMaker, Occasion, Orders};
use roamsim_scenario::run::Watch;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The largest window, and the largest rate: numbers up to here are exact in Python's floats.
const MOST: f64 = 9_007_199_254_740_992.0;

/// A class, and its file, as tracebacks have it.
struct Class {
    class: Py<PyType>,
    file: String,
}

/// The classes by name.
static CLASSES: Mutex<BTreeMap<String, Class>> = Mutex::new(BTreeMap::new());

/// Keeps a class under the name that stands for it in scenarios.
#[pyfunction]
pub fn register_congestion_control(name: String, class_: Py<PyType>, file: String) {
    let entry = Class { class: class_, file };
    // The class that it replaces goes when the lock is free: its end may run Python.
    let _replaced = CLASSES.lock().unwrap_or_else(PoisonError::into_inner).insert(name, entry);
}

/// A congestion control of TCP: subclasses decide window and pacing rate.
#[pyclass(subclass, module = "roamsim._roamsim")]
pub struct CongestionControl {
    window_bytes: f64,
    ssthresh_bytes: f64,
    pacing_rate_bps: Option<f64>,
    segment_bytes: u64,
}

fn number(name: &str, value: &Bound<'_, PyAny>) -> PyResult<f64> {
    let shown = || value.repr().map_or_else(|_| "this".to_owned(), |text| text.to_string());
    match value.extract::<f64>() {
        Ok(number) if number >= 0.0 => Ok(number),
        Ok(_) => Err(PyValueError::new_err(format!("{name} is {}, and must be zero or more", shown()))),
        Err(_) => Err(PyTypeError::new_err(format!("{name} is {}, and must be a number", shown()))),
    }
}

fn finite(name: &str, value: &Bound<'_, PyAny>) -> PyResult<f64> {
    let number = number(name, value)?;
    if number > MOST {
        return Err(PyValueError::new_err(format!("{name} is {number}, and may be 2**53 at most")));
    }
    Ok(number)
}

fn missing(name: &str) -> PyResult<()> {
    Err(PyNotImplementedError::new_err(format!("a congestion control has a method {name}(self, sample)")))
}

#[pymethods]
impl CongestionControl {
    #[new]
    fn new() -> CongestionControl {
        CongestionControl {
            window_bytes: 0.0,
            ssthresh_bytes: f64::INFINITY,
            pacing_rate_bps: None,
            segment_bytes: 0,
        }
    }

    #[getter]
    fn window_bytes(&self) -> f64 {
        self.window_bytes
    }

    #[setter]
    fn set_window_bytes(&mut self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.window_bytes = finite("window_bytes", value)?;
        Ok(())
    }

    #[getter]
    fn ssthresh_bytes(&self) -> f64 {
        self.ssthresh_bytes
    }

    #[setter]
    fn set_ssthresh_bytes(&mut self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.ssthresh_bytes = number("ssthresh_bytes", value)?;
        Ok(())
    }

    #[getter]
    fn pacing_rate_bps(&self) -> Option<f64> {
        self.pacing_rate_bps
    }

    #[setter]
    fn set_pacing_rate_bps(&mut self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.pacing_rate_bps = match value.is_none() {
            true => None,
            false => match finite("pacing_rate_bps", value)? {
                rate if rate >= 8.0 => Some(rate),
                rate => {
                    let text = format!("pacing_rate_bps is {rate}, and must be 8 or more, or None");
                    return Err(PyValueError::new_err(text));
                }
            },
        };
        Ok(())
    }

    #[getter]
    fn segment_bytes(&self) -> u64 {
        self.segment_bytes
    }

    /// The handshake is complete.
    fn on_start(&mut self, sample: &Bound<'_, PyAny>) {
        let _ = sample;
    }

    /// New data was acknowledged.
    fn on_ack(&mut self, sample: &Bound<'_, PyAny>) -> PyResult<()> {
        let _ = sample;
        missing("on_ack")
    }

    /// A loss was found.
    fn on_loss(&mut self, sample: &Bound<'_, PyAny>) -> PyResult<()> {
        let _ = sample;
        missing("on_loss")
    }

    /// A queue has marked packets.
    fn on_ecn(&mut self, sample: &Bound<'_, PyAny>) -> PyResult<()> {
        let _ = sample;
        missing("on_ecn")
    }

    /// The retransmission timer expired.
    fn on_timeout(&mut self, sample: &Bound<'_, PyAny>) -> PyResult<()> {
        let _ = sample;
        missing("on_timeout")
    }
}

/// What is known when a method is called.
#[pyclass(frozen, get_all, module = "roamsim._roamsim")]
pub struct Sample {
    now_s: f64,
    acked_bytes: u64,
    in_flight_bytes: u64,
    in_use_bytes: u64,
    may_grow: bool,
    rtt_s: Option<f64>,
    srtt_s: Option<f64>,
    delivery_rate_bps: Option<f64>,
    app_limited: bool,
    delivered_bytes: Option<u64>,
    repeated: bool,
    repairing: bool,
}

impl Sample {
    fn new(occasion: Occasion, sample: &congestion::Sample) -> Sample {
        let (repeated, repairing) = match occasion {
            Occasion::Timeout { repeated, repairing } => (repeated, repairing),
            _ => (false, false),
        };
        let rate = sample.rate.filter(|rate| rate.interval > Span::ZERO);
        Sample {
            now_s: sample.now.as_secs_f64(),
            acked_bytes: sample.acked_bytes,
            in_flight_bytes: sample.in_flight_bytes,
            in_use_bytes: sample.in_use_bytes,
            may_grow: sample.may_grow,
            rtt_s: sample.rtt.map(|rtt| rtt.as_secs_f64()),
            srtt_s: sample.srtt.map(|srtt| srtt.as_secs_f64()),
            delivery_rate_bps: rate.map(|rate| 8.0 * rate.rate_bytes_per_s() as f64),
            app_limited: sample.rate.is_some_and(|rate| rate.app_limited),
            delivered_bytes: sample.delivered_bytes,
            repeated,
            repairing,
        }
    }
}

/// The classes of one run, and what went wrong in them.
#[derive(Clone)]
pub(crate) struct Laws(Arc<Shared>);

struct Shared {
    failed: AtomicBool,
    failure: Mutex<Option<String>>,
    watch: Arc<Watch>,
}

impl Laws {
    /// Those of a run that is watched by `watch`.
    pub(crate) fn new(watch: &Arc<Watch>) -> Laws {
        let (failed, failure) = (AtomicBool::new(false), Mutex::new(None));
        Laws(Arc::new(Shared { failed, failure, watch: Arc::clone(watch) }))
    }

    /// What makes the congestion controls of a scenario. Unregistered classes are left out.
    pub(crate) fn makers(&self, scenario: &roamsim_scenario::Scenario) -> BTreeMap<String, LawMaker> {
        let names = scenario.laws();
        if names.is_empty() {
            return BTreeMap::new();
        }
        Python::attach(|py| {
            let classes = CLASSES.lock().unwrap_or_else(PoisonError::into_inner);
            let maker = |name: &str| {
                let Class { class, file } = classes.get(name)?;
                let (class, file, laws) = (class.clone_ref(py), Arc::<str>::from(&**file), self.clone());
                Some(LawMaker::new(name, move || Box::new(InPython::new(&class, &file, &laws))))
            };
            names.into_iter().filter_map(|name| Some((name.to_owned(), maker(name)?))).collect()
        })
    }

    /// The error that stopped the run.
    pub(crate) fn failure(&self) -> Option<String> {
        self.0.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.0.failed.load(Ordering::Relaxed)
    }

    /// Stops the run; the first error is told.
    pub(crate) fn fail(&self, text: String) {
        self.0.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(text);
        self.0.failed.store(true, Ordering::Relaxed);
        self.0.watch.stop();
    }
}

/// An instance of a class.
struct InPython {
    /// None where the class could not be called.
    object: Option<Py<CongestionControl>>,
    file: Arc<str>,
    laws: Laws,
}

impl InPython {
    fn new(class: &Py<PyType>, file: &Arc<str>, laws: &Laws) -> InPython {
        let object = match laws.has_failed() {
            true => None,
            false => Python::attach(|py| {
                let made = class.bind(py).call0();
                let made = made.and_then(|made| {
                    Ok(made.cast_into::<CongestionControl>().map_err(PyErr::from)?.unbind())
                });
                made.map_err(|error| laws.fail(described(py, &error, file, "when it was made"))).ok()
            }),
        };
        InPython { object, file: Arc::clone(file), laws: laws.clone() }
    }

    fn call(
        &self,
        object: &Bound<'_, CongestionControl>,
        occasion: Occasion,
        sample: &congestion::Sample,
    ) -> PyResult<()> {
        let py = object.py();
        let method = method(py, occasion);
        let returned = object.call_method1(method, (Sample::new(occasion, sample),))?;
        if returned.is_none() {
            return Ok(());
        }
        let shown = returned.repr().map_or_else(|_| "a value".to_owned(), |text| text.to_string());
        Err(PyTypeError::new_err(format!(
            "{method} returned {shown}; it must return nothing, and set self.window_bytes and self.pacing_rate_bps"
        )))
    }
}

/// The method for an occasion.
fn method(py: Python<'_>, occasion: Occasion) -> &Bound<'_, PyString> {
    match occasion {
        Occasion::Start => intern!(py, "on_start"),
        Occasion::Ack => intern!(py, "on_ack"),
        Occasion::Loss => intern!(py, "on_loss"),
        Occasion::EcnEcho => intern!(py, "on_ecn"),
        Occasion::Timeout { .. } => intern!(py, "on_timeout"),
    }
}

impl Law for InPython {
    fn decide(&mut self, occasion: Occasion, sample: &congestion::Sample, orders: &mut Orders) {
        let Some(object) = &self.object else { return };
        if self.laws.has_failed() {
            return;
        }
        Python::attach(|py| {
            let object = object.bind(py);
            {
                let mut state = object.borrow_mut();
                // A fraction of an octet stays until something else has changed the window.
                if state.window_bytes as u64 != orders.window_bytes {
                    state.window_bytes = orders.window_bytes as f64;
                }
                if ssthresh(&state) != orders.ssthresh_bytes {
                    state.ssthresh_bytes = match orders.ssthresh_bytes {
                        u64::MAX => f64::INFINITY,
                        bytes => bytes as f64,
                    };
                }
                state.segment_bytes = orders.segment_bytes;
            }
            match self.call(object, occasion, sample) {
                Ok(()) => {
                    let state = object.borrow();
                    orders.window_bytes = state.window_bytes as u64;
                    orders.ssthresh_bytes = ssthresh(&state);
                    orders.pacing_rate_bytes_per_s = state.pacing_rate_bps.map(|rate| (rate / 8.0) as u64);
                }
                Err(error) => {
                    let place = method(py, occasion).to_string();
                    self.laws.fail(described(py, &error, &self.file, &format!("in {place}")));
                }
            }
        });
    }

    fn boxed_clone(&self) -> Box<dyn Law> {
        let copied = self.object.as_ref().filter(|_| !self.laws.has_failed()).and_then(|object| {
            Python::attach(|py| {
                let copy = || -> PyResult<_> {
                    let copied = py.import("copy")?.call_method1("deepcopy", (object,))?;
                    Ok(copied.cast_into::<CongestionControl>().map_err(PyErr::from)?.unbind())
                };
                let why = "when it was copied, for a reduction that `undo` or `frto` may take back";
                copy().map_err(|error| self.laws.fail(described(py, &error, &self.file, why))).ok()
            })
        });
        Box::new(InPython { object: copied, file: Arc::clone(&self.file), laws: self.laws.clone() })
    }
}

/// The threshold in octets; one without a bound is arbitrarily high.
fn ssthresh(state: &CongestionControl) -> u64 {
    if state.ssthresh_bytes > MOST { u64::MAX } else { state.ssthresh_bytes as u64 }
}

impl fmt::Debug for InPython {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InPython").field("file", &self.file).finish_non_exhaustive()
    }
}

/// An error in a sentence: where in the user's file, and what.
pub(crate) fn described(py: Python<'_>, error: &PyErr, file: &str, place: &str) -> String {
    let kind = error.get_type(py).name().map_or_else(|_| "an error".to_owned(), |name| name.to_string());
    let what = match error.value(py).str().map(|text| text.to_string()) {
        Ok(text) if !text.is_empty() => format!("{kind}: {text}"),
        _ => kind,
    };
    match line_in(error.traceback(py), file) {
        Some((line, name)) => format!("{file}:{line}, in {name}: {what}"),
        None => format!("{file}, {place}: {what}"),
    }
}

/// The innermost line of a traceback that lies in a file, and its function.
fn line_in(traceback: Option<Bound<'_, PyTraceback>>, file: &str) -> Option<(u64, String)> {
    let mut found = None;
    let mut next = traceback.map(Bound::into_any);
    while let Some(entry) = next {
        let code = entry.getattr("tb_frame").and_then(|frame| frame.getattr("f_code"));
        let here = code.and_then(|code| {
            Ok((
                code.getattr("co_filename")?.extract::<String>()?,
                entry.getattr("tb_lineno")?.extract::<u64>()?,
                code.getattr("co_qualname")?.extract::<String>()?,
            ))
        });
        if let Ok((named, line, name)) = here
            && named == file
        {
            found = Some((line, name));
        }
        next = entry.getattr("tb_next").ok().filter(|next| !next.is_none());
    }
    found
}
