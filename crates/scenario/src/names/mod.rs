//! Names, and what is known by them.

pub mod name;

use std::collections::{HashMap, HashSet};

use foldhash::fast::FixedState;

use crate::report::{Report, Step, join};
use crate::suggest::{alternatives, nearest};

/// Things by name. They are asked for by it, and never gone through: the order would be that of a hash.
pub(crate) type ByName<'a, T> = HashMap<&'a str, T, FixedState>;

/// Names, each once, of which the same holds.
pub(crate) type NameSet<'a> = HashSet<&'a str, FixedState>;

/// The nodes by name.
pub(crate) struct Names<'a> {
    nodes: ByName<'a, usize>,
    in_order: Vec<&'a str>,
}

impl<'a> Names<'a> {
    /// Of nodes in the order of the scenario.
    pub fn new(nodes: impl DoubleEndedIterator<Item = &'a str> + ExactSizeIterator + Clone) -> Names<'a> {
        Names {
            // The first of two nodes with one name, which are refused anyway.
            nodes: nodes.clone().enumerate().rev().map(|(i, name)| (name, i)).collect(),
            in_order: each_once(nodes),
        }
    }

    /// The index of a node.
    pub fn node(&self, name: &str) -> Option<usize> {
        self.nodes.get(name).copied()
    }

    /// The index of the node that the value at `steps` names; reports a name that no node has.
    pub fn resolve(&self, name: &str, steps: &[Step], report: &mut Report<'_>) -> Option<usize> {
        let index = self.node(name);
        if index.is_none() {
            report_unknown("node", name, self.in_order.iter().copied(), steps, report);
        }
        index
    }

    /// The two ends of a flow or signalling source, if both exist; refuses a node that sends to itself.
    pub fn resolve_ends(
        &self,
        at: &[Step],
        from: &str,
        to: &str,
        report: &mut Report<'_>,
    ) -> Option<(usize, usize)> {
        let from_node = self.resolve(from, &join(at, ["from"]), report);
        let to_node = self.resolve(to, &join(at, ["to"]), report);
        if from == to && from_node.is_some() {
            let message = format!("\"{from}\" would send to itself");
            report.add(&join(at, ["to"]), message, "`from` and `to` must be different nodes");
            return None;
        }
        Some((from_node?, to_node?))
    }
}

/// Names in their order, each once: those that stand there twice are refused anyway.
pub(crate) fn each_once<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = NameSet::default();
    names.filter(|name| seen.insert(*name)).collect()
}

/// Reports a name, at `steps`, that none of `all` has. `what` is the word of their section.
pub(crate) fn report_unknown<'a>(
    what: &str,
    name: &str,
    all: impl ExactSizeIterator<Item = &'a str> + Clone,
    steps: &[Step],
    report: &mut Report<'_>,
) {
    // Looking for a similar name costs more than everything else.
    if report.leaves_out() {
        return;
    }
    let list = match all.len() {
        0 => format!("there are no {what}s; add one with [[{what}]] and a `name`"),
        _ => format!("the {what}s: {}", alternatives(all.clone())),
    };
    let help = match nearest(name, all) {
        Some(meant) => format!("did you mean \"{meant}\"? ({list})"),
        None => list,
    };
    report.add(steps, format!("there is no {what} \"{name}\""), help);
}
