//! What is there and has no effect: links that no route takes, scenarios in which nothing is sent.

use std::collections::BTreeMap;

use super::{At, Key, Report, Step, join};
use crate::Scenario;

pub(super) fn check(scenario: &Scenario, report: &mut Report<'_>) {
    // A cell without flows shows handovers, a DECT access its bearers.
    if scenario.flows.is_empty()
        && scenario.signalling.is_empty()
        && scenario.cells.is_empty()
        && scenario.dect.is_empty()
    {
        let message = "nothing happens here: this scenario has no flow and no signalling";
        let help = "add a [[flow]] with `name`, `from`, `to`, `transport` and `application`";
        report.add(&[Key("scenario")], message, help);
    }
    check_parallel_links(scenario, report);
}

/// Refuses a link beside another between the same two nodes. Routes take the one described first, unless an address
/// stays with its link.
fn check_parallel_links(scenario: &Scenario, report: &mut Report<'_>) {
    // In the order in which links join the topology.
    let links = scenario.links.iter().enumerate().map(|(i, link)| {
        let [a, b] = &link.between;
        ("link", i, &link.name, a, b)
    });
    let wifi = scenario.wifi.iter().enumerate().filter_map(|(i, cell)| {
        cell.stations.first().map(|station| ("wifi", i, &cell.name, &cell.access_point, station))
    });
    let dect = scenario.dect.iter().enumerate();
    let dect = dect.map(|(i, access)| ("dect", i, &access.name, &access.terminal, &access.gateway));
    let multihomed = |name: &str| scenario.nodes.iter().any(|node| node.name == name && node.multihomed);
    let mut first: BTreeMap<[&str; 2], (&'static str, usize, &str)> = BTreeMap::new();
    for (section, i, name, a, b) in links.chain(wifi).chain(dect) {
        let mut ends = [a.as_str(), b.as_str()];
        ends.sort_unstable();
        let Some(&(other_section, other, other_name)) = first.get(&ends) else {
            first.insert(ends, (section, i, name));
            continue;
        };
        if multihomed(a) || multihomed(b) {
            continue;
        }
        let steps = |section, i| -> Vec<Step> { join(&[Key(section), At(i)], ["name"]) };
        let message =
            format!("no packet takes \"{name}\": \"{other_name}\" joins the same two nodes, and comes first");
        let help = format!(
            "leave one of them out; or write multihomed = true in [[node]] \"{b}\", so that each link has an address of its own"
        );
        let label = "the link that packets take";
        report.add_related(&steps(section, i), message, help, (&steps(other_section, other), label));
    }
}
