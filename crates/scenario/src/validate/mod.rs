//! What is wrong with a scenario although every key and value is well-formed: names that nobody has, numbers that
//! contradict each other, destinations without a route. All problems are reported.

mod application;
mod cell;
mod dect;
mod link;
mod mobile_ip;
mod motion;
mod names;
mod sctp;
mod signalling;
mod topology;
mod transport;
mod wifi;

use roamsim_engine::{Span, Time};

use self::names::Names;
use self::topology::Topology;
use crate::Scenario;
use crate::diagnostics::{Place, Problem, Problems};
use crate::model::distribution::TimeDistribution;
use crate::tree::{Node, Value};
use crate::units;

/// Reports everything that is wrong with the scenario, which was decoded from `root`.
pub(crate) fn validate(scenario: &Scenario, root: &Node, problems: &mut Problems) {
    let mut report = Report { root, problems };
    let names = Names::check(scenario, &mut report);
    check_general(scenario, &mut report);
    link::check(scenario, &names, &mut report);
    wifi::check(scenario, &names, &mut report);
    dect::check(scenario, &names, &mut report);
    let trajectories = motion::check(scenario, &mut report);
    cell::check(scenario, &names, &trajectories, &mut report);
    let topology = Topology::new(scenario, &names);
    mobile_ip::check(scenario, &names, &topology, &mut report);
    application::check(scenario, &names, &topology, &mut report);
    signalling::check(scenario, &names, &topology, &mut report);
}

fn check_general(scenario: &Scenario, report: &mut Report<'_>) {
    if scenario.general.duration == Span::ZERO {
        let steps = [Key("scenario"), Key("duration")];
        report.add(&steps, "a run must have a duration above zero", "write for example \"10s\"");
    }
}

/// A step from the root of the tree to the value that a problem is about.
#[derive(Clone, Copy)]
enum Step {
    Key(&'static str),
    At(usize),
}
use Step::{At, Key};

/// Where problems go, and where they find their places.
struct Report<'a> {
    root: &'a Node,
    problems: &'a mut Problems,
}

impl Report<'_> {
    /// Reports a problem with the value that the steps lead to.
    fn add(&mut self, steps: &[Step], message: impl Into<String>, help: impl Into<String>) {
        if self.problems.full() {
            return self.problems.leave_out();
        }
        let (node, path) = locate(self.root, steps);
        self.problems.add(Problem::new(message).at(node.place).path(path).help(help));
    }

    /// Reports a problem that is about a second place as well.
    fn add_related(
        &mut self,
        steps: &[Step],
        message: impl Into<String>,
        help: impl Into<String>,
        (other, label): (&[Step], &str),
    ) {
        let (node, path) = locate(self.root, steps);
        let other = self.place(other);
        self.problems.add(Problem::new(message).at(node.place).path(path).help(help).related(other, label));
    }

    fn place(&self, steps: &[Step]) -> Option<Place> {
        locate(self.root, steps).0.place
    }

    /// Whether the scenario itself sets the value.
    fn is_set(&self, steps: &[Step]) -> bool {
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

fn child(node: &Node, step: Step) -> Option<&Node> {
    match (&node.value, step) {
        (Value::Table(table), Key(key)) => table.get(key),
        (Value::List(list), At(index)) => list.get(index),
        // A table that stands for a list of one.
        (Value::Table(_), At(0)) => Some(node),
        _ => None,
    }
}

/// The value that the steps lead to, or the innermost on the way to it where it is left out; and its path.
fn locate<'a>(root: &'a Node, steps: &[Step]) -> (&'a Node, String) {
    let mut node = root;
    let mut path = String::new();
    for step in steps {
        let Some(inner) = child(node, *step) else { break };
        if std::ptr::eq(inner, node) {
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
fn join<const N: usize>(steps: &[Step], keys: [&'static str; N]) -> Vec<Step> {
    steps.iter().copied().chain(keys.map(Key)).collect()
}

/// Checks that a source begins within the run and ends after it began.
fn check_times(at: &[Step], start: Time, stop: Option<Time>, scenario: &Scenario, report: &mut Report<'_>) {
    let duration = scenario.general.duration;
    if start.since(Time::ZERO) >= duration && duration > Span::ZERO {
        let message = format!("this never starts: the run ends after {}", units::time_text(duration));
        report.add(&join(at, ["start"]), message, "start earlier, or give the scenario a longer `duration`");
    }
    if stop.is_some_and(|stop| stop <= start) {
        let message =
            format!("`stop` must be later than `start`, {}", units::time_text(start.since(Time::ZERO)));
        report.add(
            &join(at, ["stop"]),
            message,
            "stop later, or leave `stop` out to go on until the run ends",
        );
    }
}

/// Checks that a time can be drawn, and that not every draw is zero where `zero` says what that would mean.
fn check_distribution(at: &[Step], times: &TimeDistribution, zero: Option<&str>, report: &mut Report<'_>) {
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
