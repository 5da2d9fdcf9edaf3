//! Selections by MIH: the points of service of their interfaces, and the sessions between all of these.

use super::super::build::{Interfaces, Own};
use super::super::model::{Scheme, Selection};
use super::build::point_of_service;
use crate::access::Network;
use crate::flow::model::Flow;
use crate::mih_handover::check::{Session, check_messages, check_sessions};
use crate::names::Names;
use crate::report::{At, Key, Report, Step, join};
use crate::signalling::check::check_transactions;
use crate::topology::Topology;

/// What the users of a selection are checked against.
pub(crate) struct Beside<'a> {
    pub selections: &'a [Selection],
    pub flows: &'a [Flow],
    pub names: &'a Names<'a>,
    pub topology: &'a Topology,
}

pub(crate) fn check(
    at: &[Step],
    entry: &Selection,
    (interfaces, network): (&Interfaces<'_>, &Network<'_>),
    beside: &Beside<'_>,
    report: &mut Report<'_>,
) {
    let steps = join(at, ["mih"]);
    check_transactions(&steps, (entry.mih.acknowledgement, None, None), report);
    if entry.scheme != Scheme::Mih {
        return;
    }
    check_other_ends(at, entry, beside, report);
    let candidates = interfaces.candidates(entry);
    let Some(points) = points_of_service(at, entry, &candidates, beside, report) else { return };
    let mut sessions = Vec::new();
    let Some(node) = beside.names.node(&entry.node) else { return };
    for (j, &(point, number)) in points.iter().enumerate() {
        sessions.push(Session { names: [&entry.node, point], ends: (node, number) });
        for &(before, other) in &points[..j] {
            if !beside.topology.connected(other, number) {
                let message = format!("nothing joins the points of service \"{before}\" and \"{point}\"");
                report.add(&steps, message, "they ask each other for resources: join them by a [[link]]");
                return;
            }
            sessions.push(Session { names: [before, point], ends: (other, number) });
        }
    }
    let transport = join(&steps, ["transport"]);
    check_sessions(&transport, &entry.mih.transport, &sessions, network, beside.topology, report);
    let size = (entry.mih.message_bytes, &entry.mih.transport);
    check_messages(&steps, size, &sessions, network, report);
}

/// The other end of each flow stays.
fn check_other_ends(at: &[Step], entry: &Selection, beside: &Beside<'_>, report: &mut Report<'_>) {
    let selects = |node: &str| beside.selections.iter().any(|other| *other.node == *node);
    let both = |flow: &&Flow| flow.is_at(&entry.node) && selects(&flow.from) && selects(&flow.to);
    if let Some(flow) = beside.flows.iter().find(both) {
        let message = format!(
            "both ends of flow \"{}\" select an interface, and neither would find the other",
            flow.name
        );
        let help = "let the flow end at a node that stays, or write scheme = \"redirect\"";
        report.add(&join(at, ["scheme"]), message, help);
    }
}

/// The points of service of these interfaces, each another node behind its link or cell.
fn points_of_service<'a>(
    at: &[Step],
    entry: &'a Selection,
    candidates: &[(Own<'a>, usize)],
    beside: &Beside<'_>,
    report: &mut Report<'_>,
) -> Option<Vec<(&'a str, usize)>> {
    let before = report.count();
    let mut found: Vec<(&str, usize)> = Vec::new();
    for (own, _) in candidates {
        let (name, point) = (own.entry.access.name(), point_of_service(entry, own));
        let said = entry.mih.points_of_service.iter().position(|one| one.access == name);
        let steps = match said {
            Some(j) => [at, &[Key("mih"), Key("points_of_service"), At(j), Key("pos")]].concat(),
            None => join(at, ["scheme"]),
        };
        let Some(number) = beside.names.resolve(point, &steps, report) else { continue };
        let help =
            || format!("write mih = {{ points_of_service = [{{ access = \"{name}\", pos = \"NODE\" }}] }}");
        if point == entry.node {
            report.add(&steps, format!("\"{point}\" is the node that selects"), "name a node of the network");
        } else if found.iter().any(|&(other, _)| other == point) {
            let message =
                format!("\"{point}\" would be the point of service of two interfaces of \"{}\"", entry.node);
            report.add(&steps, message, format!("each has its own: {}", help()));
        } else if let Some(behind) = Some(neighbour(entry, own)).filter(|one| *one != point)
            && !beside.names.node(behind).is_some_and(|behind| beside.topology.connected(behind, number))
        {
            let message =
                format!("nothing joins \"{behind}\", at the other end of \"{name}\", and \"{point}\"");
            report.add(
                &steps,
                message,
                "join them by a [[link]]: a point of service is behind its interface",
            );
        }
        found.push((point, number));
    }
    (report.count() == before).then_some(found)
}

/// The node at the other end of an interface.
fn neighbour<'a>(entry: &Selection, own: &Own<'a>) -> &'a str {
    let mut ends =
        own.entry.access.pairs().into_iter().filter(|pair| pair.nodes.contains(&entry.node.as_str()));
    let other = ends.next().and_then(|pair| pair.nodes.into_iter().find(|end| *end != entry.node));
    other.unwrap_or_default()
}
