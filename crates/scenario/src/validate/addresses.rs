//! Chosen addresses: of the scenario's version of IP, on links of their node, and of one node each.

use std::collections::BTreeMap;
use std::net::IpAddr;

use roamsim_network::topology::{NodeId, Topology};
use roamsim_protocols::Address;

use crate::build;
use crate::general::IpVersion;
use crate::node::model::Node;
use crate::report::{At, Key, Report, Step};
use crate::scenario::Scenario;
use crate::suggest::alternatives;

/// Reports what is wrong with chosen addresses. Called for a scenario in which nothing else is wrong, since
/// interfaces can be made of no other.
pub(super) fn check(scenario: &Scenario, report: &mut Report<'_>) {
    if scenario.nodes.iter().all(|node| node.address.is_none() && node.addresses.is_empty()) {
        return;
    }
    let (topology, ..) = build::topology(scenario);
    let mut first: BTreeMap<IpAddr, Vec<Step>> = BTreeMap::new();
    for (i, node) in scenario.nodes.iter().enumerate() {
        let own = topology.node(NodeId(i as u32)).interfaces.iter();
        let mut links: Vec<&str> = own.map(|&own| &*topology.interface(Address(own)).name).collect();
        links.dedup();
        check_links(i, node, &links, &agents(scenario), report);
        let of_links = node.addresses.iter().enumerate().map(|(k, chosen)| {
            let steps = vec![Key("node"), At(i), Key("addresses"), At(k), Key("address")];
            (steps, chosen.address.0)
        });
        let of_node = node.address.map(|address| (vec![Key("node"), At(i), Key("address")], address.0));
        for (steps, ip) in of_node.into_iter().chain(of_links) {
            check_version(&steps, ip, scenario.general.ip, report);
            if let Some(before) = first.get(&ip) {
                let message = format!("the address {ip} is used twice");
                report.add_related(&steps, message, "give each an address of its own", (before, "the first"));
            } else {
                first.insert(ip, steps);
            }
        }
    }
    check_automatic(scenario, &topology, &first, report);
}

/// Nodes that are agents of Mobile IP, which have an address in each of their cells.
fn agents(scenario: &Scenario) -> Vec<&str> {
    let entries = scenario.mobile_ip.iter();
    entries
        .flat_map(|entry| entry.foreign_agents.iter().chain([&entry.home_agent]))
        .map(String::as_str)
        .collect()
}

fn check_links(i: usize, node: &Node, links: &[&str], agents: &[&str], report: &mut Report<'_>) {
    for (k, chosen) in node.addresses.iter().enumerate() {
        let steps = [Key("node"), At(i), Key("addresses"), At(k), Key("access")];
        if !links.contains(&chosen.access.as_str()) {
            let message = format!("\"{}\" is on no link or cell \"{}\"", node.name, chosen.access);
            report.add(&steps, message, format!("it may be {}", alternatives(links.iter().copied())));
        } else if let Some(before) =
            node.addresses[..k].iter().position(|other| other.access == chosen.access)
        {
            let message = format!("\"{}\" has an address on \"{}\" already", node.name, chosen.access);
            let before = [Key("node"), At(i), Key("addresses"), At(before), Key("access")];
            report.add_related(&steps, message, "leave one of them out", (&before, "the first"));
        }
    }
    let steps = [Key("node"), At(i), Key("address")];
    if node.address.is_none() {
        return;
    }
    let has_own = |link: &str| node.addresses.iter().any(|chosen| chosen.access == link);
    let left: Vec<&str> = links.iter().copied().filter(|link| !has_own(link)).collect();
    match &left[..] {
        [] if links.is_empty() => {
            let message = format!("\"{}\" is on no link, and has no address", node.name);
            report.add(&steps, message, "leave `address` out, or name the node in a link");
        }
        [] => {
            let message = format!("every link of \"{}\" has an address in `addresses`", node.name);
            report.add(&steps, message, "leave `address` out");
        }
        [one, _, ..] if node.multihomed || agents.contains(&node.name.as_str()) => {
            let message = format!("\"{}\" has an address on each link, and this is one for all", node.name);
            let help = format!("write addresses = [{{ access = \"{one}\", address = ... }}, ...]");
            report.add(&steps, message, help);
        }
        _ => {}
    }
}

fn check_version(steps: &[Step], ip: IpAddr, version: IpVersion, report: &mut Report<'_>) {
    let (own, other) = match (version, ip) {
        (IpVersion::Ipv4, IpAddr::V6(_)) => ("IPv6", "IPv4"),
        (IpVersion::Ipv6, IpAddr::V4(_)) => ("IPv4", "IPv6"),
        _ => return,
    };
    let message = format!("{ip} is an address of {own}, and the scenario has {other}");
    let help = format!("write an address of {other}, or ip = \"{}\" in [scenario]", own.to_lowercase());
    report.add(steps, message, help);
}

/// Refuses an address that another interface has by its number.
fn check_automatic(
    scenario: &Scenario,
    topology: &Topology,
    chosen: &BTreeMap<IpAddr, Vec<Step>>,
    report: &mut Report<'_>,
) {
    let ip = topology.ip();
    for interface in topology.addresses().filter(|&interface| ip.chosen(interface).is_none()) {
        let automatic = match scenario.general.ip {
            IpVersion::Ipv4 => ip.v4(interface).into(),
            IpVersion::Ipv6 => ip.v6(interface).into(),
        };
        if let Some(steps) = chosen.get(&automatic) {
            let owner = topology.owner_name(interface);
            let link = &topology.interface(interface).name;
            let message = format!("{automatic} is the automatic address of \"{owner}\" on \"{link}\"");
            report.add(steps, message, format!("choose another one, or an address for \"{owner}\" too"));
        }
    }
}
