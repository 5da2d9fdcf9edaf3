//! How stations' addresses follow them from cell to cell: what a scenario states goes together with the rest
//! of it, and the cells can serve it.

use super::schemes::Schemes;
use crate::access::stations::THAT_COME_AND_GO;
use crate::access::{Attached, Role};
use crate::names::Names;
use crate::node::handover::Scheme;
use crate::node::model::Node;
use crate::report::{At, Key, Report};
use crate::topology::Topology;

pub(crate) fn check(
    nodes: &[Node],
    schemes: &Schemes<'_>,
    names: &Names<'_>,
    attached: &Attached<'_>,
    topology: &Topology,
    report: &mut Report<'_>,
) {
    for (i, node) in nodes.iter().enumerate() {
        // Of a node that selects, the selection says what is wrong.
        let Some(stated) = node.handover.filter(|_| !node.selects) else { continue };
        let found = if attached.is(&node.name, Role::Station) {
            // Of a mobile node with an address in each cell, `mobile_ip/check.rs` says so.
            let named = stated == Scheme::MobileIp && schemes.is_mobile_node(&node.name);
            let inferred = if named { stated } else { schemes.inferred(node) };
            contradiction(stated, inferred, &node.name)
                .or_else(|| unserved(stated, node, schemes, names, attached, topology))
        } else {
            let message = format!("\"{}\" is not a station of any cell", node.name);
            Some((
                message,
                format!("leave `handover` out, or name it in the `stations` of {THAT_COME_AND_GO}"),
            ))
        };
        if let Some((message, help)) = found {
            report.add(&[Key("node"), At(i), Key("handover")], message, help);
        }
    }
}

/// Why the rest of the scenario makes another scheme of it, and the way out.
fn contradiction(stated: Scheme, inferred: Scheme, name: &str) -> Option<(String, String)> {
    let write = format!("or write handover = \"{}\"", inferred.name());
    let (message, help) = match (stated, inferred) {
        (stated, inferred) if stated == inferred => return None,
        (_, Scheme::MobileIp) => (
            format!(
                "\"{name}\" is a mobile node of a [[mobile_ip]]: its home address follows it by registration"
            ),
            format!("take it out of `mobile_nodes`, {write}"),
        ),
        (Scheme::MobileIp, _) => (
            format!("\"{name}\" is not a mobile node of any [[mobile_ip]]"),
            format!("name it in the `mobile_nodes` of one whose agents are on its cells, {write}"),
        ),
        (_, Scheme::Mih) => (
            format!("\"{name}\" is the mobile node of a [[handover]], whose MIH users redirect its flows"),
            format!("take that out, {write}"),
        ),
        (Scheme::Mih, _) => (
            format!("\"{name}\" is not the mobile node of any [[handover]]"),
            format!("add one, with `multihomed = true` here, {write}"),
        ),
        (Scheme::Bridged, _) => (
            format!("\"{name}\" keeps an address in each cell (`multihomed = true`), and none follows it"),
            format!("leave `multihomed` out, {write}"),
        ),
        (_, Scheme::Bridged) => (
            format!("\"{name}\" has one interface for all of its cells, and no address in each"),
            format!("write `multihomed = true` here, {write}"),
        ),
        (Scheme::MobileSctp, _) => (
            format!("no SCTP association follows the addresses of \"{name}\""),
            format!("write `dynamic_addresses = true` in the transport of a flow from or to it, {write}"),
        ),
        (Scheme::Migration, _) => (
            format!(
                "\"{name}\" has no QUIC client that migrates, or an SCTP association follows its addresses"
            ),
            format!("add a flow over QUIC whose `client` it is, {write}"),
        ),
        (Scheme::Multihomed, Scheme::Migration) => (
            format!("a QUIC client on \"{name}\" migrates from cell to cell"),
            format!("write `migration = false` in the transport of its flows, {write}"),
        ),
        (Scheme::Multihomed, _) => (
            format!("an SCTP association follows the addresses of \"{name}\" (`dynamic_addresses = true`)"),
            format!("leave `dynamic_addresses` out there, {write}"),
        ),
    };
    Some((message, help))
}

/// Why the cells of a station cannot serve its scheme, and the way out.
fn unserved(
    scheme: Scheme,
    node: &Node,
    schemes: &Schemes<'_>,
    names: &Names<'_>,
    attached: &Attached<'_>,
    topology: &Topology,
) -> Option<(String, String)> {
    let parts = attached.of(&node.name).iter().filter(|part| part.role == Role::Station);
    let mut base_stations = parts.map(|part| part.with);
    match scheme {
        Scheme::Bridged => {
            let first = base_stations.next()?;
            let apart = |other: &&str| {
                let ends = names.node(first).zip(names.node(other));
                ends.is_some_and(|(first, other)| first != other && !topology.connected(first, other))
            };
            let other = base_stations.find(apart)?;
            Some((
                format!("nothing joins the base stations \"{first}\" and \"{other}\" of \"{}\"", node.name),
                "a bridged network leads its packets from one to the other; join them with a [[link]]"
                    .to_owned(),
            ))
        }
        Scheme::MobileIp => {
            let entry = schemes.mobile_ip(&node.name)?;
            let without = |base: &&str| {
                entry.home_agent != **base && !entry.foreign_agents.iter().any(|agent| agent == *base)
            };
            let base = base_stations.find(without)?;
            Some((
                format!("\"{}\" may come into a cell of \"{base}\", which is not an agent for it", node.name),
                format!("name \"{base}\" in the `foreign_agents` of [[mobile_ip]] \"{}\"", entry.name),
            ))
        }
        Scheme::MobileSctp | Scheme::Migration | Scheme::Multihomed | Scheme::Mih => None,
    }
}
