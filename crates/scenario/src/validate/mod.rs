//! What is wrong with a scenario although every key and value is well-formed: names that nobody has, numbers
//! that contradict each other, destinations without a route. All problems are reported.

mod loss_list;
pub(crate) mod names;
mod station;
pub(crate) mod topology;
mod unused;

use roamsim_engine::{Span, Time};

use self::names::Names;
use self::topology::Topology;
use crate::access::{Attached, Context};
use crate::application::model::Application;
use crate::diagnostics::{Place, Problem, Problems};
use crate::model::distribution::{SizeDistribution, TimeDistribution};
use crate::printable::fault_of_name;
use crate::tree::{Node, Value};
use crate::units;
use crate::{Scenario, flow, handover, mih_handover, mobile_ip, motion, signalling};

/// Reports everything that is wrong with the scenario, which was decoded from `root`.
pub(crate) fn validate(scenario: &Scenario, root: Node<'_>, problems: &mut Problems) {
    let mut report = Report { root, problems };
    let names = Names::check(scenario, &mut report);
    check_general(scenario, &mut report);
    let trajectories = motion::check::check(scenario, &mut report);
    let attached = Attached::new(scenario);
    let context = Context { scenario, names: &names, attached: &attached, trajectories: &trajectories };
    for access in scenario.accesses() {
        access.check(&access.at(), &context, &mut report);
    }
    station::check(&context, &mut report);
    let topology = Topology::new(scenario, &names, &attached);
    mobile_ip::check::check(scenario, &names, &attached, &topology, &mut report);
    handover::check::check(scenario, &names, &attached, &topology, &mut report);
    flow::check::check(scenario, &names, &topology, &mut report);
    signalling::check::check(scenario, &names, &topology, &mut report);
    mih_handover::check::check(scenario, &names, &topology, &mut report);
    // What follows makes tables of its own.
    drop((names, trajectories, topology));
    unused::check(scenario, &attached, &mut report);
    if report.problems.count() == 0 {
        loss_list::check(scenario, &mut report);
    }
}

fn check_general(scenario: &Scenario, report: &mut Report<'_>) {
    if let Some(fault) = fault_of_name(&scenario.general.name) {
        let steps = [Key("scenario"), Key("name")];
        report.add(&steps, fault, "it heads results, reports and figures: write it in one line");
    }
    if scenario.general.duration == Span::ZERO {
        let steps = [Key("scenario"), Key("duration")];
        report.add(&steps, "a run must have a duration above zero", "write for example \"10s\"");
    }
    check_warm_up(&[Key("scenario")], scenario.general.warm_up, scenario, report);
    warn_of_whole_tables(scenario, report);
    check_percentiles(&scenario.general.percentiles, report);
    for (i, node) in scenario.nodes.iter().enumerate() {
        let steps = [Key("node"), At(i), Key("packet_processing_time")];
        check_distribution(&steps, &node.packet_processing_time, None, report);
    }
}

/// Checks that something is measured after the warm-up of the table that the steps lead to.
pub(crate) fn check_warm_up(at: &[Step], warm_up: Time, scenario: &Scenario, report: &mut Report<'_>) {
    let duration = scenario.general.duration;
    if warm_up > Time::ZERO && warm_up.since(Time::ZERO) >= duration && duration > Span::ZERO {
        let message = format!("nothing is counted: the run ends after {}", units::time_text(duration));
        let help = "let the warm-up end earlier, or give the scenario a longer `duration`";
        report.add(&join(at, ["warm_up"]), message, help);
    }
}

/// Says which tables count from the beginning of the run on, warm-up or not.
fn warn_of_whole_tables(scenario: &Scenario, report: &mut Report<'_>) {
    let any = |kind: fn(&Application) -> bool| scenario.flows.iter().any(|flow| kind(&flow.application));
    let tables: Vec<_> = [
        ("wifi", !scenario.wifi.is_empty()),
        ("wimax", !scenario.wimax.is_empty()),
        ("transfers", any(|application| matches!(application, Application::Transfers(_)))),
        ("video", any(|application| matches!(application, Application::Video(_)))),
        ("mobile_ip", !scenario.mobile_ip.is_empty()),
    ]
    .into_iter()
    .filter_map(|(table, there)| there.then_some(table))
    .collect();
    if scenario.general.warm_up > Time::ZERO && !tables.is_empty() {
        let message = format!("the tables of {} count from the beginning of the run on", tables.join(", "));
        let help = "read `flows`, `signalling`, `links`, `drops` and `queues`, which begin with the end of the warm-up";
        report.warn(&[Key("scenario"), Key("warm_up")], message, help);
    }
}

/// Percentiles that can be asked for (chosen: each is a row for every flow).
const MOST_PERCENTILES: usize = 100;

fn check_percentiles(percentiles: &[f64], report: &mut Report<'_>) {
    let steps = [Key("scenario"), Key("percentiles")];
    if percentiles.len() > MOST_PERCENTILES {
        let message = format!("these are {} percentiles", percentiles.len());
        report.add(&steps, message, format!("ask for {MOST_PERCENTILES} at most"));
        return;
    }
    for (i, &percent) in percentiles.iter().enumerate() {
        let steps = [steps[0], steps[1], At(i)];
        if !(percent > 0.0 && percent <= 100.0) {
            let message = format!("there is no percentile {percent}");
            report.add(&steps, message, "write a number above 0, up to 100, such as 99.9");
        } else if percentiles[..i].contains(&percent) {
            report.add(&steps, format!("the percentile {percent} is there twice"), "write it once");
        }
    }
}

/// A step from the root of the tree to the value that a problem is about.
#[derive(Clone, Copy)]
pub(crate) enum Step {
    Key(&'static str),
    At(usize),
}
pub(crate) use Step::{At, Key};

/// Where problems go, and where they find their places.
pub(crate) struct Report<'a> {
    root: Node<'a>,
    problems: &'a mut Problems,
}

impl Report<'_> {
    /// Reports a problem with the value that the steps lead to.
    pub(crate) fn add(&mut self, steps: &[Step], message: impl Into<String>, help: impl Into<String>) {
        if self.problems.full() {
            return self.problems.leave_out();
        }
        let (node, path) = locate(self.root, steps);
        self.problems.add(Problem::new(message).at(node.place()).path(path).help(help));
    }

    /// Warns of the value that the steps lead to: it is valid, and hardly meant.
    pub(crate) fn warn(&mut self, steps: &[Step], message: impl Into<String>, help: impl Into<String>) {
        let (node, path) = locate(self.root, steps);
        self.problems.warn(Problem::new(message).at(node.place()).path(path).help(help));
    }

    /// How many problems there are so far.
    pub(crate) fn count(&self) -> usize {
        self.problems.count()
    }

    /// Reports a problem that is about a second place as well.
    pub(crate) fn add_related(
        &mut self,
        steps: &[Step],
        message: impl Into<String>,
        help: impl Into<String>,
        (other, label): (&[Step], &str),
    ) {
        let (node, path) = locate(self.root, steps);
        let other = self.place(other);
        self.problems.add(Problem::new(message).at(node.place()).path(path).help(help).related(other, label));
    }

    fn place(&self, steps: &[Step]) -> Option<Place> {
        locate(self.root, steps).0.place()
    }

    /// Whether the scenario itself sets the value.
    pub(crate) fn is_set(&self, steps: &[Step]) -> bool {
        let mut node = self.root;
        steps.iter().all(|step| match child(node, *step) {
            Some(inner) => {
                node = inner;
                true
            }
            None => false,
        })
    }
}

fn child(node: Node<'_>, step: Step) -> Option<Node<'_>> {
    match (node.value(), step) {
        (Value::Table(table), Key(key)) => table.get(key),
        (Value::List(mut list), At(index)) => list.nth(index),
        // A table that stands for a list of one.
        (Value::Table(_), At(0)) => Some(node),
        _ => None,
    }
}

/// The value that the steps lead to, or the innermost on the way to it where it is left out; and its path.
fn locate<'a>(root: Node<'a>, steps: &[Step]) -> (Node<'a>, String) {
    let mut node = root;
    let mut path = String::new();
    for step in steps {
        let Some(inner) = child(node, *step) else { break };
        if inner == node {
            continue;
        }
        if !path.is_empty() {
            path.push('.');
        }
        // Writing to a string cannot fail.
        let _ = match (step, inner.name()) {
            (Key(key), _) => crate::decode::write_step(&mut path, key),
            (At(_), Some(name)) => crate::decode::write_step(&mut path, name),
            (At(index), None) => crate::decode::write_step(&mut path, &index.to_string()),
        };
        node = inner;
    }
    (node, path)
}

/// `steps` with one or two keys behind them.
pub(crate) fn join<const N: usize>(steps: &[Step], keys: [&'static str; N]) -> Vec<Step> {
    steps.iter().copied().chain(keys.map(Key)).collect()
}

/// Checks that a source begins within the run and ends after it began.
pub(crate) fn check_times(
    at: &[Step],
    start: &TimeDistribution,
    stop: Option<Time>,
    scenario: &Scenario,
    report: &mut Report<'_>,
) {
    let steps = join(at, ["start"]);
    check_distribution(&steps, start, None, report);
    // Some times have no bound: they must do with a mean within the run.
    let latest = match *start {
        TimeDistribution::Exponential { mean } | TimeDistribution::Pareto { mean, .. } => mean,
        TimeDistribution::Constant { value: max } | TimeDistribution::Uniform { max, .. } => max,
    };
    check_latest_start(&steps, latest, start.is_constant(), scenario, report);
    let Some(stop) = stop else { return };
    if start.max().is_none() {
        report.add(
            &join(at, ["stop"]),
            "an exponential or Pareto `start` may be later than any `stop`",
            "draw `start` from a uniform distribution that ends before it, or leave `stop` out",
        );
    } else if stop.since(Time::ZERO) <= latest {
        let which = if start.is_constant() { "`start`" } else { "the latest `start`" };
        let message = format!("`stop` must be later than {which}, {}", units::time_text(latest));
        report.add(
            &join(at, ["stop"]),
            message,
            "stop later, or leave `stop` out to go on until the run ends",
        );
    }
}

/// Checks that what starts at the time that the steps lead to does so before the run ends.
pub(crate) fn check_start(steps: &[Step], start: Time, scenario: &Scenario, report: &mut Report<'_>) {
    check_latest_start(steps, start.since(Time::ZERO), true, scenario, report);
}

/// The same of a start that may be drawn; `certain`: it is not.
fn check_latest_start(
    steps: &[Step],
    latest: Span,
    certain: bool,
    scenario: &Scenario,
    report: &mut Report<'_>,
) {
    let duration = scenario.general.duration;
    if latest >= duration && duration > Span::ZERO {
        let never = if certain { "this never starts" } else { "this may never start" };
        let message = format!("{never}: the run ends after {}", units::time_text(duration));
        report.add(steps, message, "start earlier, or give the scenario a longer `duration`");
    }
}

/// Checks that a size can be drawn, and that it is one that can be sent.
pub(crate) fn check_size(at: &[Step], size: &SizeDistribution, report: &mut Report<'_>) -> bool {
    let (min_bytes, max_bytes) = (size.min_bytes(), size.max_bytes());
    if let SizeDistribution::Exponential { mean_bytes, .. } = *size
        && min_bytes <= max_bytes
        && min_bytes > 0
        && !(min_bytes..=max_bytes).contains(&mean_bytes)
    {
        // Most draws, or all, would be the bound.
        let message = format!(
            "the mean of {mean_bytes} B lies outside of the sizes from {min_bytes} B to {max_bytes} B"
        );
        let help = "write a mean between `min`, 1 B unless it is written, and `max`";
        report.add(&join(at, ["mean"]), message, help);
        return false;
    }
    if min_bytes > max_bytes {
        report.add(at, "`min` is larger than `max`", "exchange them");
    } else if min_bytes == 0 {
        report.add(at, "there is nothing to send in zero bytes", "write a size of 1 B or more");
    } else if max_bytes > MAX_MESSAGE_BYTES {
        let help = "write \"4294967295B\" or less; `bulk` and `transfer` send more than that";
        report.add(at, "a message has 4 GiB at most", help);
    } else {
        return true;
    }
    false
}

/// The length of a message is counted in 32 bits.
const MAX_MESSAGE_BYTES: u64 = u32::MAX as u64;

/// Checks that a time can be drawn, and that not every draw is zero where `zero` says what that would mean.
pub(crate) fn check_distribution(
    at: &[Step],
    times: &TimeDistribution,
    zero: Option<&str>,
    report: &mut Report<'_>,
) {
    if let TimeDistribution::Uniform { min, max } = times
        && min > max
    {
        report.add(at, "`min` is larger than `max`", "exchange them");
    } else if let Some(zero) = zero
        && times.is_zero()
    {
        report.add(at, zero, "write a time above zero");
    }
}
