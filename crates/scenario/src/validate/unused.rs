//! What is there and has no effect: links that no route takes, nodes that nothing is joined to, an area in
//! which nobody is, scenarios in which nothing is sent.

use std::collections::BTreeMap;

use crate::access::{Attached, Entry, Pair};
use crate::names::NameSet;
use crate::node::model::Node;
use crate::report::{At, Key, Report, join};
use crate::scenario::Scenario;

pub(super) fn check(scenario: &Scenario, attached: &Attached<'_>, report: &mut Report<'_>) {
    let nothing_sent = scenario.flows.is_empty() && scenario.signalling.is_empty();
    let nothing_sent = nothing_sent && !scenario.nodes.iter().any(|node| node.external);
    if nothing_sent && !scenario.accesses().any(|access| access.shows_itself()) {
        let message = "nothing happens here: this scenario has no flow and no signalling";
        let help = "add a [[flow]] with `name`, `from`, `to`, `transport` and `application`";
        report.add(&[Key("scenario")], message, help);
    }
    check_parallel_links(scenario, report);
    // Of a name that is misspelt, that is what is wrong.
    if report.count() == 0 {
        check_isolated_nodes(scenario, attached, report);
    }
    let steps = [Key("scenario"), Key("area")];
    let placed = scenario.nodes.iter().any(|node| node.position.is_some() || node.motion.is_some());
    if scenario.general.area.is_some() && !placed {
        let help = "give nodes a `position`, or leave the area out";
        report.add(&steps, "no node has a place that could be outside of this area", help);
    }
}

/// Refuses nodes without a link that nothing else names. Where a flow names one, that it has no route is
/// reported there.
fn check_isolated_nodes(scenario: &Scenario, attached: &Attached<'_>, report: &mut Report<'_>) {
    let mut named = NameSet::default();
    named.extend(scenario.flows.iter().flat_map(|flow| [flow.from.as_str(), &flow.to]));
    named.extend(scenario.signalling.iter().flat_map(|source| [source.from.as_str(), &source.to]));
    named.extend(scenario.mih_handovers.iter().flat_map(|entry| {
        let candidates = entry.to.iter().map(|to| to.pos.as_str());
        candidates.chain([entry.mobile_node.as_str(), &entry.from.pos])
    }));
    let isolated = |node: &Node| attached.of(&node.name).is_empty() && !named.contains(node.name.as_str());
    for (i, node) in scenario.nodes.iter().enumerate().filter(|(_, node)| isolated(node)) {
        let message = format!("\"{}\" has no link, and nothing is sent to it or from it", node.name);
        let help = "name it in a [[link]] or a cell, or leave it out";
        report.add(&[Key("node"), At(i), Key("name")], message, help);
    }
}

/// Refuses a link beside another between the same two nodes. Routes take the one that costs less, of equals
/// the one described first, unless an address stays with its link.
fn check_parallel_links(scenario: &Scenario, report: &mut Report<'_>) {
    let multihomed: NameSet<'_> =
        scenario.nodes.iter().filter(|node| node.multihomed).map(|node| node.name.as_str()).collect();
    let mut taken: BTreeMap<[&str; 2], Entry<'_>> = BTreeMap::new();
    for entry in scenario.accesses() {
        for Pair { nodes: [a, b], .. } in entry.access.pairs().into_iter().filter(|pair| !pair.has_station())
        {
            let mut ends = [a, b];
            ends.sort_unstable();
            let Some(&before) = taken.get(&ends) else {
                taken.insert(ends, entry);
                continue;
            };
            if multihomed.contains(a) || multihomed.contains(b) {
                continue;
            }
            let cheaper = entry.cost() < before.cost();
            let (entry, other) = if cheaper { (before, entry) } else { (entry, before) };
            taken.insert(ends, other);
            let message = format!(
                "no packet takes \"{}\", because {} \"{}\" joins the same two nodes",
                entry.name(),
                if entry.cost() == other.cost() { "an earlier" } else { "the cheaper" },
                other.name()
            );
            let help = format!(
                "leave one of them out; or write multihomed = true in [[node]] \"{b}\", so that each link has an address of its own"
            );
            let label = "the link that packets take";
            let related = join(&other.at(), ["name"]);
            report.add_related(&join(&entry.at(), ["name"]), message, help, (&related, label));
        }
    }
}
