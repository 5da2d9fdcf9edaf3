//! Running a scenario: preparing its world, the loop, the tables.

use crate::build::{self, Unbuilt};
use crate::flow;
use crate::logs::Logs;
use crate::results;
use crate::scenario::Scenario;
use crate::stories::Stories;
use crate::table::{Table, Values};
pub use crate::traces::Sink;
use crate::traces::Traces;
pub use roamsim_engine::run::Watch;
use roamsim_engine::run::{Livelock, Unfinished};
use roamsim_engine::{Fingerprint, Time};
use roamsim_network::World;
use roamsim_network::capture::Capture;
use roamsim_network::network::ConservationViolation;
use roamsim_network::recorder::Recorder;
use roamsim_network::selection::given::ChooserMaker;
use roamsim_network::socket::endpoint::LogFile;
use roamsim_network::topology::{NodeId, Topology};
pub use roamsim_network::trace::Trace;
use roamsim_protocols::tcp::congestion::LawMaker;
use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};
use std::ops::Deref;
use std::sync::Arc;

/// What a capture shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Captured {
    /// The IP packets at every interface.
    #[default]
    Packets,
    /// Those that these nodes send and receive.
    PacketsAt(Vec<String>),
    /// The frames on the air of Wi-Fi cells.
    Frames,
    /// Of them, those that the radio of this node sends or hears.
    FramesOf(String),
}

/// Makes the file of a log of this name.
pub type LogMaker = Box<dyn FnMut(&str) -> io::Result<LogFile> + Send>;

/// How to run a scenario.
#[derive(Default)]
pub struct Options {
    /// Seed of all random streams.
    pub seed: u64,
    /// Number of the replication, part of the key of all random streams.
    pub replication: u64,
    /// What to record.
    pub trace: Trace,
    /// Whether to make fingerprints.
    pub fingerprints: bool,
    /// Where to write a capture.
    pub capture: Option<Box<dyn Write + Send>>,
    /// What it shows.
    pub captured: Captured,
    /// Where endpoints write logs of their own, by their names: qlog of QUIC.
    pub logs: Option<LogMaker>,
    /// Who takes the rows of traces while the run goes on. The tables of the traces are without rows then;
    /// nor do fingerprints hold what was taken.
    pub sink: Option<Sink>,
    /// Whether to keep coarse series of flows and links, in the table `series`, and of what stations that
    /// move hear, in `signals`. They are in no fingerprint.
    pub series: bool,
    /// Rows of traces that are handed out together, some 32,000 unless given. The results are the same.
    pub rows_at_once: Option<usize>,
    /// The congestion controls that the scenario has from outside ([`Scenario::laws`]), by name.
    pub laws: BTreeMap<String, LawMaker>,
    /// The policies of selections that it has from outside ([`Scenario::policies`]), by name.
    pub policies: BTreeMap<String, ChooserMaker>,
    /// By which others see how far the run is, and stop it.
    pub watch: Arc<Watch>,
}

/// Digests of a run, at three grains: every event, packets between nodes, results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprints {
    /// Every event that did something.
    pub events: u64,
    /// Every packet at every interface.
    pub packets: u64,
    /// Every value of the result tables.
    pub results: u64,
}

/// Why a run failed.
#[derive(Debug)]
pub enum RunError {
    /// It did not advance.
    Livelock(Livelock),
    /// Packets do not add up: a fault in a model. With the stories of the packets that have no end.
    Conservation(ConservationViolation, String),
    /// The capture could not be written.
    Capture(io::Error),
    /// A log of an endpoint could not be written.
    Log(io::Error),
    /// There is nothing that the capture could show.
    NothingToCapture(String),
    /// It was stopped from outside.
    Stopped(Reached),
    /// A congestion control of this name was not handed to it.
    UnknownLaw(String),
    /// A policy of this name was not handed to it.
    UnknownPolicy(String),
}

/// How far a run came that was stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reached {
    /// The simulated time.
    pub at: Time,
    /// Events that did something.
    pub events: u64,
    /// Packets that were neither delivered nor dropped.
    pub packets_under_way: u64,
    /// Rows of traces.
    pub rows: u64,
}

impl fmt::Display for Reached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "stopped at {} of simulated time; events: {}, packets under way: {}",
            self.at, self.events, self.packets_under_way
        )?;
        if self.rows > 0 {
            write!(f, ", rows of traces: {}", self.rows)?;
        }
        Ok(())
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::Livelock(livelock) => write!(
                f,
                "the run does not advance beyond {}: more than {} events at one instant",
                livelock.at,
                roamsim_engine::run::EVENTS_PER_INSTANT_LIMIT
            ),
            RunError::Conservation(violation, story) => {
                write!(
                    f,
                    "packets are not conserved (a fault of the simulator, please report it): {violation}\n{story}"
                )
            }
            RunError::Capture(error) => write!(f, "the capture could not be written: {error}"),
            RunError::Log(error) => write!(f, "qlog could not be written: {error}"),
            RunError::NothingToCapture(why) => f.write_str(why),
            RunError::Stopped(reached) => reached.fmt(f),
            RunError::UnknownLaw(name) => write!(
                f,
                "the class of congestion_control = {name:?} is not loaded, because a scenario alone runs no program: \
                 name its file on the command line, --set flow.NAME.transport.congestion_control=FILE.py:CLASS"
            ),
            RunError::UnknownPolicy(name) => write!(
                f,
                "the class of policy = {name:?} is not loaded, because a scenario alone runs no program: \
                 name its file on the command line, --set selection.NAME.policy=FILE.py:CLASS"
            ),
        }
    }
}

/// A world that is ready to run.
pub struct Prepared<S> {
    scenario: S,
    seed: u64,
    replication: u64,
    world: World,
    end: Time,
    traces: Traces,
    logs: Logs,
    events: u64,
    watch: Arc<Watch>,
}

/// Builds the world of a scenario.
pub fn prepare<S: Deref<Target = Scenario>>(scenario: S, options: Options) -> Result<Prepared<S>, RunError> {
    let Options {
        seed,
        replication,
        trace,
        fingerprints,
        capture,
        captured,
        logs,
        sink,
        series,
        rows_at_once,
        laws,
        policies,
        watch,
    } = options;
    if let Some(name) = scenario.laws().into_iter().find(|name| !laws.contains_key(*name)) {
        return Err(RunError::UnknownLaw(name.to_owned()));
    }
    if let Some(name) = scenario.policies().into_iter().find(|name| !policies.contains_key(*name)) {
        return Err(RunError::UnknownPolicy(name.to_owned()));
    }
    let recorder = |topology: &Topology, ip| {
        if trace == Trace::default() && !fingerprints && capture.is_none() {
            return Ok(None);
        }
        let begun = |file| match captured {
            Captured::Packets => Capture::new(file, ip, topology, &[]),
            Captured::PacketsAt(nodes) => Capture::new(file, ip, topology, &nodes),
            Captured::Frames => Capture::of_frames(file, ip, None),
            Captured::FramesOf(node) => Capture::of_frames(file, ip, Some(node)),
        };
        let capture = capture.map(begun).transpose()?;
        let mut recorder = Recorder::new(trace, fingerprints, capture);
        recorder.addresses = Arc::clone(topology.ip());
        Ok(Some(Box::new(recorder)))
    };
    let mut world = build::world(&scenario, seed, replication, recorder, (laws, policies), &watch).map_err(
        |unbuilt| match unbuilt {
            Unbuilt::Capture(error) => RunError::Capture(error),
            Unbuilt::Stopped => RunError::Stopped(Reached::default()),
        },
    )?;
    world.network.capture_frames().map_err(RunError::NothingToCapture)?;
    let mut kept = Logs::default();
    if let Some(mut make) = logs
        && world.log_endpoints(&mut |name| kept.keep(name, make(name))).map_err(RunError::Log)? == 0
    {
        let why = "there is nothing to write as qlog: no transport of this scenario is QUIC";
        return Err(RunError::NothingToCapture(why.to_owned()));
    }
    if series {
        let moving =
            scenario.nodes.iter().filter(|node| node.motion.is_some()).map(|node| node.name.as_str());
        world.keep_series(&moving.collect::<Vec<_>>());
    }
    for (number, _) in (0..).zip(&scenario.nodes).filter(|(_, node)| node.external) {
        world.network.edge.open(NodeId(number));
    }
    world.join_programs();
    if scenario.general.warm_up > Time::ZERO {
        world.cut_warm_up(scenario.general.warm_up);
    }
    let end = Time::ZERO + scenario.general.duration;
    let traces = Traces::new(trace, sink, rows_at_once, Arc::clone(&watch));
    Ok(Prepared { scenario, seed, replication, world, end, traces, logs: kept, events: 0, watch })
}

impl<S: Deref<Target = Scenario>> Prepared<S> {
    /// Runs to the end of the scenario. This is the part that is timed.
    pub fn run(&mut self) -> Result<(), RunError> {
        let (traces, scenario) = (&mut self.traces, &*self.scenario);
        let mut look = |world: &mut World, now: Time| traces.hand_out(scenario, world, Some(now));
        let done = self.world.run(self.end, &self.watch, &mut look);
        self.events = done.map_err(|unfinished| self.failed(unfinished))?;
        self.world.network.finish(self.end);
        Ok(())
    }

    /// Begins a run that goes step by step, in place of [`Prepared::run`].
    pub fn begin(&mut self) {
        self.world.begin(self.end);
    }

    /// Goes on to an instant, as [`World::step`] does.
    pub fn step(&mut self, to: Time) -> Result<(), RunError> {
        let (traces, scenario) = (&mut self.traces, &*self.scenario);
        let mut look = |world: &mut World, now: Time| traces.hand_out(scenario, world, Some(now));
        let done = self.world.step(to, &self.watch, &mut look);
        done.map_err(|unfinished| self.failed(unfinished))
    }

    /// Ends a run that went step by step, where it is. [`Prepared::finish`] comes next.
    pub fn conclude(&mut self) {
        self.end = self.world.now();
        self.events = self.world.finish();
        self.world.network.finish(self.end);
    }

    /// The world: to put packets in, and to take packets out.
    pub fn world(&mut self) -> &mut World {
        &mut self.world
    }

    /// When it ends at the latest.
    pub fn end(&self) -> Time {
        self.end
    }

    /// The number of the node of a name.
    pub fn node(&self, name: &str) -> Option<NodeId> {
        let nodes = self.world.network.topology.nodes();
        nodes.iter().position(|node| &*node.name == name).map(|number| NodeId(number as u32))
    }

    fn failed(&self, unfinished: Unfinished) -> RunError {
        match unfinished {
            Unfinished::Livelock(livelock) => RunError::Livelock(livelock),
            Unfinished::Stopped { at, events } => RunError::Stopped(reached(&self.world, at, events)),
        }
    }

    /// Checks that packets add up, ends the capture and the logs, and makes the tables.
    pub fn finish(mut self) -> Result<Outcome, RunError> {
        if let Err(violation) = self.world.network.check_conservation() {
            return Err(RunError::Conservation(violation, self.story()));
        }
        self.world.network.forget_packets();
        let of_ends = flow::results::OfEnds::new(&self.world);
        let mut tables = results::tables(&self.scenario, &self.world, self.end);
        let Some(traces) = self.traces.finish(&self.scenario, &mut self.world) else {
            return Err(RunError::Stopped(reached(&self.world, self.end, self.events)));
        };
        tables.extend(traces);
        let series = self.world.series.take().map(|series| results::series(&self.world, &series));
        let signals = self.world.signals.take().and_then(|signals| results::signals(&self.world, &signals));
        // Of columns and rows there are most here, and of a flow its sockets take half of the memory, which
        // are not asked any more.
        self.world.forget_connections();
        tables.insert(results::FLOWS_AT, flow::results::table(&self.world, self.end, of_ends));
        tables.insert(results::LINKS_AT, results::links(&self.world, self.end));
        let mut fingerprints = None;
        if let Some(recorder) = &mut self.world.network.recorder {
            if recorder.fingerprints {
                fingerprints = Some(Fingerprints {
                    events: 0,
                    packets: recorder.packets_fingerprint(),
                    results: digest(&tables),
                });
            }
            if let Some(capture) = recorder.capture.take() {
                capture.finish().map_err(RunError::Capture)?;
            }
        }
        self.logs.finish().map_err(RunError::Log)?;
        if let Some(fingerprints) = &mut fingerprints {
            fingerprints.events = self.world.events_fingerprint();
        }
        tables.extend(series);
        tables.extend(signals);
        Ok(Outcome { events: self.events, tables, fingerprints })
    }

    /// Runs again, and tells the stories of packets that have no end.
    fn story(&self) -> String {
        let (scenario, seed, replication) = (&*self.scenario, self.seed, self.replication);
        let trace = Trace { packets: true, ..Trace::default() };
        let watch = Arc::clone(&self.watch);
        let again = prepare(scenario, Options { seed, replication, trace, watch, ..Options::default() });
        let Ok(mut again) = again else { return String::new() };
        let mut stories = Stories::default();
        let mut look = |world: &mut World, now: Time| stories.follow(world, Some(now));
        if again.world.run(again.end, &again.watch, &mut look).is_err() {
            return String::new();
        }
        again.world.network.finish(again.end);
        stories.follow(&mut again.world, None);
        stories.tell(&again.world)
    }
}

fn reached(world: &World, at: Time, events: u64) -> Reached {
    let rows = world.network.recorder.as_ref().map_or(0, |recorder| recorder.rows());
    Reached { at, events, packets_under_way: world.network.under_way(), rows }
}

fn digest(tables: &[Table]) -> u64 {
    let mut fingerprint = Fingerprint::default();
    for table in tables {
        fingerprint.add_text(table.name);
        for column in &table.columns {
            fingerprint.add_text(column.name);
            match &column.values {
                // All NaN are one.
                Values::Float(values) => values
                    .iter()
                    .for_each(|v| fingerprint.add(if v.is_nan() { f64::NAN.to_bits() } else { v.to_bits() })),
                Values::Integer(values) => values.iter().for_each(|&v| fingerprint.add(v)),
                Values::Text(values) => values.iter().for_each(|v| fingerprint.add_text(v)),
            }
        }
    }
    fingerprint.value()
}

/// What a run gave.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Events that did something.
    pub events: u64,
    /// The result tables.
    pub tables: Vec<Table>,
    /// Digests, when asked for.
    pub fingerprints: Option<Fingerprints>,
}

/// Runs a scenario once.
pub fn run(scenario: &Scenario, options: Options) -> Result<Outcome, RunError> {
    let mut prepared = prepare(scenario, options)?;
    prepared.run()?;
    prepared.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Format;

    /// A flow of ten datagrams a second over one wire, for ten seconds.
    fn scenario() -> Scenario {
        let text = r#"
            scenario = { name = "x", duration = "10s" }
            node = [{ name = "a" }, { name = "b" }]
            link = [{ name = "wire", between = ["a", "b"], rate = "8Mb/s", delay = "10ms" }]
            [[flow]]
            name = "f"
            from = "a"
            to = "b"
            transport = { protocol = "udp" }
            application = { kind = "cbr", packet_size = "952B", interval = "100ms" }
        "#;
        Scenario::parse(text, "x", Format::Toml, &[]).unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn a_world_holds_the_names_of_its_scenario() {
        let scenario = scenario();
        let prepared = prepare(&scenario, Options::default()).expect("it is built");
        let topology = &prepared.world.network.topology;
        let names =
            [&topology.nodes()[1].name, &topology.interfaces()[0].name, &prepared.world.flows[0].name];
        let written = [&scenario.nodes[1].name, &scenario.links[0].name, &scenario.flows[0].name];
        assert_eq!(names.map(|name| name.as_ptr()), written.map(|name| name.as_ptr()));
    }

    #[test]
    fn a_run_that_was_stopped_is_not_built() {
        let scenario = scenario();
        let watch = Arc::new(Watch::default());
        watch.stop();
        let stopped = prepare(&scenario, Options { watch, ..Options::default() }).err();
        assert!(matches!(stopped, Some(RunError::Stopped(Reached { events: 0, .. }))));
    }

    #[test]
    fn a_run_that_is_stopped_while_its_tables_are_made_ends_there() {
        let scenario = scenario();
        let trace = Trace { packets: true, ..Trace::default() };
        for sink in [false, true] {
            let watch = Arc::new(Watch::default());
            let stop = Arc::clone(&watch);
            // 300 rows by tens: none is handed out before the end, since fewer wait than are handed out
            // together.
            let mut given = 0;
            let take = move |_| {
                given += 1;
                assert_eq!(given, 1, "nothing is handed out after the stop");
                stop.stop();
                true
            };
            let options = Options {
                trace,
                rows_at_once: Some(1000),
                sink: sink.then(|| Box::new(take) as Sink),
                watch: Arc::clone(&watch),
                ..Options::default()
            };
            let mut prepared = prepare(&scenario, options).expect("it is built");
            prepared.run().expect("it comes to its end");
            if !sink {
                watch.stop();
            }
            assert!(matches!(prepared.finish(), Err(RunError::Stopped(Reached { rows: 300, .. }))), "{sink}");
        }
    }
}
