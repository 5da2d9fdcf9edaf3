//! Policies of a selection that are classes in Python.
//!
//! As with congestion controls (`law.rs`), a class is registered under the name that stands for it in
//! scenarios, with a digest of its source. Each node that selects by it has an instance of its own. An error
//! of a class stops its run, and tells the line of the user's file.

use crate::law::{Laws, described};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyType};
use roamsim_engine::Time;
use roamsim_network::selection::given::{Chooser, ChooserMaker, Described, State};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// A class, and its file, as tracebacks have it.
struct Class {
    class: Py<PyType>,
    file: String,
}

/// The classes by name.
static CLASSES: Mutex<BTreeMap<String, Class>> = Mutex::new(BTreeMap::new());

/// Keeps a class under the name that stands for it in scenarios.
#[pyfunction]
pub fn register_selection_policy(name: String, class_: Py<PyType>, file: String) {
    let entry = Class { class: class_, file };
    // The class that it replaces goes when the lock is free: its end may run Python.
    let _replaced = CLASSES.lock().unwrap_or_else(PoisonError::into_inner).insert(name, entry);
}

/// A policy of a selection: subclasses name the interface that they prefer.
#[pyclass(subclass, frozen, module = "roamsim._roamsim")]
pub struct SelectionPolicy;

#[pymethods]
impl SelectionPolicy {
    #[new]
    fn new() -> SelectionPolicy {
        SelectionPolicy
    }

    /// The name of the interface that is preferred now; `None`: the selected one stays.
    fn select(&self, now_s: f64, interfaces: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
        let _ = (now_s, interfaces);
        let text = "a policy has a method select(self, now_s, interfaces)";
        Err(pyo3::exceptions::PyNotImplementedError::new_err(text))
    }
}

/// An interface of a node that selects, as it is now.
#[pyclass(frozen, get_all, module = "roamsim._roamsim")]
pub struct InterfaceState {
    name: String,
    technology: &'static str,
    up: bool,
    selected: bool,
    since_s: f64,
    signal_dbm: Option<f64>,
    going_down: bool,
    rate_bps: Option<u64>,
    cost_per_mb: Option<f64>,
}

#[pymethods]
impl InterfaceState {
    fn __repr__(&self) -> String {
        let signal = self.signal_dbm.map_or(String::new(), |dbm| format!(", {dbm} dBm"));
        format!("<{}: {}{signal}>", self.name, if self.up { "up" } else { "down" })
    }
}

impl Laws {
    /// What makes the policies of a scenario. Unregistered classes are left out.
    pub(crate) fn choosers(&self, scenario: &roamsim_scenario::Scenario) -> BTreeMap<String, ChooserMaker> {
        let names = scenario.policies();
        if names.is_empty() {
            return BTreeMap::new();
        }
        Python::attach(|py| {
            let classes = CLASSES.lock().unwrap_or_else(PoisonError::into_inner);
            let maker = |name: &str| {
                let Class { class, file } = classes.get(name)?;
                let (class, file, laws) = (class.clone_ref(py), Arc::<str>::from(&**file), self.clone());
                Some(ChooserMaker::new(move |own| Box::new(InPython::new(&class, &file, &laws, own))))
            };
            names.into_iter().filter_map(|name| Some((name.to_owned(), maker(name)?))).collect()
        })
    }
}

/// An instance of a class, and the interfaces of its node.
struct InPython {
    /// None where the class could not be called.
    object: Option<Py<SelectionPolicy>>,
    interfaces: Vec<Described>,
    file: Arc<str>,
    laws: Laws,
}

impl InPython {
    fn new(class: &Py<PyType>, file: &Arc<str>, laws: &Laws, interfaces: &[Described]) -> InPython {
        let object = match laws.has_failed() {
            true => None,
            false => Python::attach(|py| {
                let made = class.bind(py).call0();
                let made = made
                    .and_then(|made| Ok(made.cast_into::<SelectionPolicy>().map_err(PyErr::from)?.unbind()));
                made.map_err(|error| laws.fail(described(py, &error, file, "when it was made"))).ok()
            }),
        };
        InPython { object, interfaces: interfaces.to_vec(), file: Arc::clone(file), laws: laws.clone() }
    }

    /// The place of the interface that the class names.
    fn call(&self, py: Python<'_>, now: Time, states: &[State]) -> PyResult<Option<usize>> {
        let Some(object) = &self.object else { return Ok(None) };
        let of = |(described, state): (&Described, &State)| InterfaceState {
            name: described.name.to_string(),
            technology: described.technology,
            up: state.up,
            selected: state.selected,
            since_s: state.since.as_secs_f64(),
            signal_dbm: state.signal_dbm,
            going_down: state.going_down,
            rate_bps: described.rate_bps,
            cost_per_mb: described.cost_per_mb,
        };
        let told: PyResult<Vec<_>> =
            self.interfaces.iter().zip(states).map(|pair| Bound::new(py, of(pair))).collect();
        let arguments = (now.as_secs_f64(), PyList::new(py, told?)?);
        let returned = object.bind(py).call_method1(intern!(py, "select"), arguments)?;
        if returned.is_none() {
            return Ok(None);
        }
        let shown = returned.repr().map_or_else(|_| "a value".to_owned(), |text| text.to_string());
        let Ok(name) = returned.extract::<String>() else {
            let text = format!("select returned {shown}; it must return the name of an interface, or None");
            return Err(PyTypeError::new_err(text));
        };
        let at = self.interfaces.iter().position(|interface| *interface.name == *name);
        match at {
            Some(at) if states[at].up => Ok(Some(at)),
            Some(_) => Err(PyValueError::new_err(format!("select returned {shown}, which is down"))),
            None => {
                let names: Vec<_> = self.interfaces.iter().map(|interface| &*interface.name).collect();
                let text = format!("select returned {shown}; the interfaces are {}", names.join(", "));
                Err(PyValueError::new_err(text))
            }
        }
    }
}

impl Chooser for InPython {
    fn choose(&mut self, now: Time, interfaces: &[State]) -> Option<usize> {
        if self.laws.has_failed() {
            return None;
        }
        Python::attach(|py| {
            self.call(py, now, interfaces).unwrap_or_else(|error| {
                self.laws.fail(described(py, &error, &self.file, "in select"));
                None
            })
        })
    }
}

impl fmt::Debug for InPython {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InPython").field("file", &self.file).finish_non_exhaustive()
    }
}
