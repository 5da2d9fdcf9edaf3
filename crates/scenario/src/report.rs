//! Where problems of a scenario are reported, and how their places are named: by the steps from the root of
//! the tree that the scenario was decoded from.

use crate::decode::write_step;
use crate::diagnostics::{Place, Problem, Problems};
use crate::tree::{Node, Value};

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

impl<'a> Report<'a> {
    /// On a scenario that was decoded from `root`.
    pub(crate) fn new(root: Node<'a>, problems: &'a mut Problems) -> Report<'a> {
        Report { root, problems }
    }

    /// Reports a problem with the value that the steps lead to.
    pub(crate) fn add(&mut self, steps: &[Step], message: impl Into<String>, help: impl Into<String>) {
        if self.leaves_out() {
            return;
        }
        let (node, path) = locate(self.root, steps);
        self.problems.add(Problem::new(message).at(node.place()).path(path).help(help));
    }

    /// Warns of the value that the steps lead to: it is valid, and hardly meant.
    pub(crate) fn warn(&mut self, steps: &[Step], message: impl Into<String>, help: impl Into<String>) {
        let (node, path) = locate(self.root, steps);
        self.problems.warn(Problem::new(message).at(node.place()).path(path).help(help));
    }

    /// Whether there are as many problems as are reported; one more is then only counted.
    pub(crate) fn leaves_out(&mut self) -> bool {
        let full = self.problems.full();
        if full {
            self.problems.leave_out();
        }
        full
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
        self.written(steps).is_some()
    }

    /// Whether the scenario itself says no there.
    pub(crate) fn is_false(&self, steps: &[Step]) -> bool {
        self.written(steps).is_some_and(|node| matches!(node.value(), Value::Boolean(false)))
    }

    fn written(&self, steps: &[Step]) -> Option<Node<'a>> {
        steps.iter().try_fold(self.root, |node, step| child(node, *step))
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
            (Key(key), _) => write_step(&mut path, key),
            (At(_), Some(name)) => write_step(&mut path, name),
            (At(index), None) => write_step(&mut path, &index.to_string()),
        };
        node = inner;
    }
    (node, path)
}

/// `steps` with one or two keys behind them.
pub(crate) fn join<const N: usize>(steps: &[Step], keys: [&'static str; N]) -> Vec<Step> {
    steps.iter().copied().chain(keys.map(Key)).collect()
}
