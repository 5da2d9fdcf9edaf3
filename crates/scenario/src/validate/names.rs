//! Names: each once, and every reference to a name that exists.

use super::{At, Key, Report, Step, join};
use crate::Scenario;
use crate::by_name::{ByName, NameSet};
use crate::printable::fault_of_name;
use crate::suggest::{alternatives, nearest};

/// Longer names fit in no column and no diagram.
const MAX_NAME_BYTES: usize = 253;

/// The nodes by name.
pub(crate) struct Names<'a> {
    nodes: ByName<'a, usize>,
    in_order: Vec<&'a str>,
}

impl<'a> Names<'a> {
    pub fn check(scenario: &'a Scenario, report: &mut Report<'_>) -> Names<'a> {
        let nodes = scenario.nodes.iter().enumerate().map(|(i, node)| (i, "node", node.name.as_str()));
        check_unique("nodes", nodes, report);
        // One table of results holds them all.
        let accesses = scenario.accesses();
        let accesses = accesses.map(|entry| (entry.number, entry.access.section(), entry.access.name()));
        check_unique("links", accesses, report);
        let flows = scenario.flows.iter().enumerate().map(|(i, flow)| (i, "flow", flow.name.as_str()));
        check_unique("flows", flows, report);
        let mobile_ip = scenario.mobile_ip.iter().enumerate();
        check_unique(
            "arrangements of Mobile IP",
            mobile_ip.map(|(i, entry)| (i, "mobile_ip", entry.name.as_str())),
            report,
        );
        let signalling = scenario.signalling.iter().enumerate();
        check_unique(
            "signalling sources",
            signalling.map(|(i, s)| (i, "signalling", s.name.as_str())),
            report,
        );
        let handovers = scenario.mih_handovers.iter().enumerate();
        check_unique("handovers", handovers.map(|(i, entry)| (i, "handover", entry.name.as_str())), report);
        Names {
            // The first of two nodes with one name, which are refused anyway.
            nodes: scenario.nodes.iter().enumerate().rev().map(|(i, n)| (n.name.as_str(), i)).collect(),
            in_order: each_once(scenario.nodes.iter().map(|n| n.name.as_str())),
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
    if report.problems.full() {
        // Looking for a similar name costs more than everything else.
        return report.problems.leave_out();
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

fn check_unique<'a>(
    what: &str,
    names: impl Iterator<Item = (usize, &'static str, &'a str)>,
    report: &mut Report<'_>,
) {
    let mut seen: ByName<'_, (usize, &'static str)> = ByName::default();
    for (index, section, name) in names {
        let steps = [Key(section), At(index), Key("name")];
        let fault = match name {
            "" => Some("a name may not be empty"),
            _ if name.len() > MAX_NAME_BYTES => Some("this name is longer than 253 bytes"),
            _ => fault_of_name(name),
        };
        if let Some(message) = fault {
            report.add(&steps, message, "results, overrides and diagrams refer to it by its name");
        }
        if let Some(&(first, first_section)) = seen.get(name) {
            let first = [Key(first_section), At(first), Key("name")];
            let message = format!("two {what} are named \"{name}\"");
            report.add_related(&steps, message, "give each a name of its own", (&first, "the first"));
        } else {
            seen.insert(name, (index, section));
        }
    }
}
