//! Names: each once among its like.

use crate::names::ByName;
use crate::printable::fault_of_name;
use crate::report::{At, Key, Report};
use crate::scenario::Scenario;

/// Longer names fit in no column and no diagram.
const MAX_NAME_BYTES: usize = 253;

pub(super) fn check(scenario: &Scenario, report: &mut Report<'_>) {
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
    let selections = scenario.selections.iter().enumerate();
    check_unique("selections", selections.map(|(i, entry)| (i, "selection", entry.name.as_str())), report);
    let signalling = scenario.signalling.iter().enumerate();
    check_unique("signalling sources", signalling.map(|(i, s)| (i, "signalling", s.name.as_str())), report);
    let handovers = scenario.mih_handovers.iter().enumerate();
    check_unique("handovers", handovers.map(|(i, entry)| (i, "handover", entry.name.as_str())), report);
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
