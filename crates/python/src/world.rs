//! A world that is driven from outside: step by step, or by the clock.

use crate::RunFailed;
use crate::law::Laws;
use crate::result::{Cost, RunResult};
use crate::scenario::Scenario;
use crate::traces;
use cpu_time::ProcessTime;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use roamsim_engine::Time;
use roamsim_live::{Clock, Ended, Failure, Gate, Snapshot};
use roamsim_network::link::indication::Quality;
use roamsim_network::topology::NodeId;
use roamsim_scenario::run::{Captured, Options, Prepared, RunError, prepare};
use std::fs::File;
use std::io::{BufWriter, Write};
#[cfg(unix)]
use std::os::fd::FromRawFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// A run under way, its clock, and when it began.
struct Course {
    prepared: Prepared<Arc<roamsim_scenario::Scenario>>,
    laws: Laws,
    clock: Clock,
    build_s: f64,
    begun: Instant,
    cpu: ProcessTime,
}

/// A run that is driven from outside. Packets of its external nodes go in and out as octets.
#[pyclass(frozen, module = "roamsim._roamsim")]
pub struct World {
    course: Mutex<Option<Course>>,
    /// What it does now, which others may read while it goes on by the clock.
    board: Arc<Mutex<Snapshot>>,
}

/// A link now: its name, its ends, octets sent, packets dropped, packets that wait.
type LinkRow = (String, String, String, u64, u64, usize);

/// A station now: its name, its cell, whether it is associated, how well it hears the cell, and the unit.
type StationRow = (String, String, bool, Option<f64>, &'static str);

/// A change of a station's link: nanoseconds, station, cell, whether it came up.
type ChangeRow = (u64, String, String, bool);

/// A look at the world: nanoseconds, links, goodput octets of flows, stations, changes of their links.
type Shown = (u64, Vec<LinkRow>, Vec<(String, u64)>, Vec<StationRow>, Vec<ChangeRow>);

impl World {
    /// Does something with the run, without the interpreter.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Course) -> PyResult<T> + Send,
    ) -> PyResult<T> {
        py.detach(|| match &mut *self.course.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(course) => {
                let done = work(course);
                match course.laws.failure() {
                    Some(failure) => Err(RunFailed::new_err(failure)),
                    None => done,
                }
            }
            None => Err(RunFailed::new_err("this world has finished")),
        })
    }
}

fn failed(error: &RunError) -> PyErr {
    RunFailed::new_err(error.to_string())
}

/// The number of a node.
fn numbered(course: &Course, node: &str) -> PyResult<NodeId> {
    course.prepared.node(node).ok_or_else(|| PyValueError::new_err(format!("there is no node {node:?}")))
}

/// A descriptor, as Python numbers it.
type RawFd = i32;

/// Files whose descriptors Python has given away.
#[cfg(unix)]
#[allow(unsafe_code, reason = "a descriptor that is handed over has no safe form")]
fn files(descriptors: &[RawFd]) -> Vec<File> {
    // SAFETY: the caller has detached each descriptor, so that this is its only owner.
    descriptors.iter().map(|&descriptor| unsafe { File::from_raw_fd(descriptor) }).collect()
}

/// None: there are no devices without namespaces, and Python refuses a run by the clock before.
#[cfg(not(unix))]
fn files(_: &[RawFd]) -> Vec<File> {
    Vec::new()
}

#[pymethods]
impl World {
    #[new]
    #[pyo3(signature = (scenario, *, seed = 1, replication = 0, trace = Vec::new(), pcap = None, pcap_at = Vec::new(), series = false))]
    #[expect(clippy::too_many_arguments, reason = "they have names in Python")]
    fn new(
        py: Python<'_>,
        scenario: &Scenario,
        seed: u64,
        replication: u64,
        trace: Vec<String>,
        pcap: Option<&str>,
        pcap_at: Vec<String>,
        series: bool,
    ) -> PyResult<World> {
        let trace = traces::named(&trace)?;
        let capture = match pcap {
            Some(path) => {
                let file =
                    File::create(path).map_err(|error| PyOSError::new_err(format!("{path}: {error}")))?;
                Some(Box::new(BufWriter::new(file)) as Box<dyn Write + Send>)
            }
            None => None,
        };
        let captured = if pcap_at.is_empty() { Captured::Packets } else { Captured::PacketsAt(pcap_at) };
        let scenario = Arc::clone(&scenario.scenario);
        let watch = Arc::default();
        let laws = Laws::new(&watch);
        let (laws_of_run, policies) = (laws.makers(&scenario), laws.choosers(&scenario));
        let options = Options {
            seed,
            replication,
            trace,
            capture,
            captured,
            series,
            laws: laws_of_run,
            policies,
            watch,
            ..Options::default()
        };
        py.detach(|| {
            let begun = Instant::now();
            let mut prepared = prepare(scenario, options).map_err(|error| failed(&error))?;
            prepared.begin();
            let (build_s, clock) = (begun.elapsed().as_secs_f64(), Clock::default());
            let course =
                Course { prepared, laws, clock, build_s, begun: Instant::now(), cpu: ProcessTime::now() };
            Ok(World { course: Mutex::new(Some(course)), board: Arc::default() })
        })
    }

    /// The instant that it has come to, in nanoseconds.
    #[getter]
    fn now_ns(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |course| Ok(course.prepared.world().now().as_ns()))
    }

    /// When it ends at the latest.
    #[getter]
    fn end_ns(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |course| Ok(course.prepared.end().as_ns()))
    }

    /// An instant before which nothing happens by itself.
    #[getter]
    fn next_deadline_ns(&self, py: Python<'_>) -> PyResult<Option<u64>> {
        self.with(py, |course| Ok(course.prepared.world().next_deadline().map(Time::as_ns)))
    }

    /// The addresses of a node, the one first by which others know it, and the MTU of its smallest interface.
    fn addresses(&self, py: Python<'_>, node: &str) -> PyResult<(Vec<String>, u32)> {
        self.with(py, |course| {
            let number = numbered(course, node)?;
            let (addresses, mtu_bytes) = course.prepared.world().network.outside_addresses(number);
            Ok((addresses.iter().map(ToString::to_string).collect(), mtu_bytes))
        })
    }

    /// Goes on to an instant, what happens then included.
    fn step(&self, py: Python<'_>, until_ns: u64) -> PyResult<()> {
        self.with(py, |course| course.prepared.step(Time::from_ns(until_ns)).map_err(|error| failed(&error)))
    }

    /// A program of an external node sends a packet now.
    fn inject(&self, py: Python<'_>, node: &str, octets: &[u8]) -> PyResult<()> {
        self.with(py, |course| {
            let number = numbered(course, node)?;
            course.prepared.world().inject(number, octets);
            Ok(())
        })
    }

    /// Packets that have left since this was last asked: node, instant, octets.
    fn emitted<'py>(&self, py: Python<'py>) -> PyResult<Vec<(String, u64, Bound<'py, PyBytes>)>> {
        let emitted = self.with(py, |course| {
            let world = course.prepared.world();
            let mut all = Vec::new();
            while let Some(emitted) = world.poll_emitted() {
                all.push((world.network.topology.node(emitted.node).name.to_string(), emitted));
            }
            Ok(all)
        })?;
        let octets = |(node, emitted): (String, roamsim_network::network::Emitted)| {
            (node, emitted.at.as_ns(), PyBytes::new(py, &emitted.octets))
        };
        Ok(emitted.into_iter().map(octets).collect())
    }

    /// Goes on by the clock, so many times as fast, until the end or until one of `wakes` is readable: true
    /// at the end. Descriptors are duplicates of the caller's, and are closed. `watched`: the snapshot is
    /// kept up to date.
    fn live(
        &self,
        py: Python<'_>,
        gates: Vec<(String, RawFd)>,
        wakes: Vec<RawFd>,
        speed: f64,
        watched: bool,
    ) -> PyResult<bool> {
        if !(speed.is_finite() && speed > 0.0) {
            return Err(PyValueError::new_err(format!("a speed is a number above zero, and {speed} is not")));
        }
        let (nodes, devices): (Vec<String>, Vec<RawFd>) = gates.into_iter().unzip();
        let (devices, wakes) = (files(&devices), files(&wakes));
        self.with(py, |course| {
            let number = |name: &String| numbered(course, name);
            let numbers = nodes.iter().map(number).collect::<PyResult<Vec<_>>>()?;
            let gates: Vec<Gate> =
                numbers.into_iter().zip(devices).map(|(node, device)| Gate { node, device }).collect();
            course.clock.set_speed(speed);
            if watched {
                course.clock.show_on(Arc::clone(&self.board));
            }
            match course.clock.go(&mut course.prepared, &gates, &wakes) {
                Ok(ended) => Ok(ended == Ended::Duration),
                Err(Failure::Run(error)) => Err(failed(&error)),
                Err(Failure::Wait(error)) => Err(PyOSError::new_err(error.to_string())),
            }
        })
    }

    /// What the world did when it was looked at last: nanoseconds, links, flows, stations and changes of
    /// their links.
    #[getter]
    fn snapshot(&self) -> Shown {
        let shown = self.board.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let links = shown.links.into_iter().map(|link| {
            let [name, from, to] = link.ends;
            (name, from, to, link.sent_bytes, link.dropped_packets, link.waiting_packets)
        });
        let stations = shown.stations.into_iter().map(|station| {
            let [name, cell] = station.names;
            let (value, unit) = match station.quality {
                Some(Quality::Signal(signal_dbm)) => (Some(signal_dbm), "dBm"),
                Some(Quality::Distance(distance_m)) => (Some(distance_m), "m"),
                None => (None, ""),
            };
            (name, cell, station.associated, value, unit)
        });
        let changes = shown.changes.into_iter().map(|change| {
            let [name, cell] = change.names;
            (change.at.as_ns(), name, cell, change.is_up)
        });
        (shown.now.as_ns(), links.collect(), shown.flows, stations.collect(), changes.collect())
    }

    /// The histogram of lateness: the most nanoseconds, and how many packets.
    #[getter]
    fn late_packets(&self, py: Python<'_>) -> PyResult<Vec<(u64, u64)>> {
        self.with(py, |course| Ok(course.clock.lateness.buckets().collect()))
    }

    /// How late packets left by the clock: how many left, nanoseconds that half of them, 99.9 % of them and
    /// none of them exceeded, and packets that a device refused.
    #[getter]
    fn lateness(&self, py: Python<'_>) -> PyResult<(u64, u64, u64, u64, u64)> {
        self.with(py, |course| {
            let lateness = &course.clock.lateness;
            let of = |per_mille| lateness.per_mille_ns(per_mille);
            Ok((lateness.packets(), of(500), of(999), lateness.most_ns(), course.clock.unwritten))
        })
    }

    /// How long 99.9 % of the packets that came by the clock may have waited in their devices, and all.
    #[getter]
    fn waits(&self, py: Python<'_>) -> PyResult<(u64, u64)> {
        self.with(py, |course| {
            let waits = &course.clock.waits;
            Ok((waits.per_mille_ns(999), waits.most_ns()))
        })
    }

    /// Ends the run where it is, and makes its tables.
    fn finish(&self, py: Python<'_>) -> PyResult<RunResult> {
        let course = self.course.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(Course { mut prepared, build_s, begun, cpu, .. }) = course else {
            return Err(RunFailed::new_err("this world has finished"));
        };
        let (wall_s, cpu_s) = (begun.elapsed().as_secs_f64(), cpu.elapsed().as_secs_f64());
        let outcome = py.detach(|| {
            prepared.conclude();
            prepared.finish().map_err(|error| failed(&error))
        })?;
        RunResult::new(py, outcome, Cost { build_s, wall_s, cpu_s })
    }
}
