//! What is there and has no effect: links that no route takes, scenarios in which nothing is sent.

use std::collections::{BTreeMap, BTreeSet};

use super::{Key, Report, join};
use crate::Scenario;
use crate::access::{Entry, Pair};

pub(super) fn check(scenario: &Scenario, report: &mut Report<'_>) {
    let nothing_sent = scenario.flows.is_empty() && scenario.signalling.is_empty();
    if nothing_sent && !scenario.accesses().any(|access| access.shows_itself()) {
        let message = "nothing happens here: this scenario has no flow and no signalling";
        let help = "add a [[flow]] with `name`, `from`, `to`, `transport` and `application`";
        report.add(&[Key("scenario")], message, help);
    }
    check_parallel_links(scenario, report);
}

/// Refuses a link beside another between the same two nodes. Routes take the one described first, unless an address
/// stays with its link.
fn check_parallel_links(scenario: &Scenario, report: &mut Report<'_>) {
    let multihomed: BTreeSet<&str> =
        scenario.nodes.iter().filter(|node| node.multihomed).map(|node| node.name.as_str()).collect();
    let mut first: BTreeMap<[&str; 2], Entry<'_>> = BTreeMap::new();
    for entry in scenario.accesses() {
        for Pair { nodes: [a, b], .. } in entry.access.pairs().into_iter().filter(|pair| !pair.has_station())
        {
            let mut ends = [a, b];
            ends.sort_unstable();
            let Some(other) = first.get(&ends) else {
                first.insert(ends, entry);
                continue;
            };
            if multihomed.contains(a) || multihomed.contains(b) {
                continue;
            }
            let message = format!(
                "no packet takes \"{}\": \"{}\" joins the same two nodes, and comes first",
                entry.name(),
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
