//! How links join the topology.

use roamsim_network::link::Attachment;
use roamsim_network::topology::{Interface, LinkId, NodeId, Topology};
use roamsim_protocols::Address;

use super::Access;

/// Gives attachments of a link their interfaces: of each its node, and the node that it leads to. Where the
/// other ends send on another link, `joins` is what tells that both are one.
pub(crate) fn interfaces(
    access: &dyn Access,
    topology: &mut Topology,
    (link, joins): (LinkId, LinkId),
    ends: impl IntoIterator<Item = (NodeId, NodeId)>,
) -> Vec<Address> {
    attach(access, topology, (link, 0), (joins, Attachment(0)), ends)
}

/// The same on a link that has so many attachments already.
pub(crate) fn interfaces_from(
    access: &dyn Access,
    topology: &mut Topology,
    (link, first): (LinkId, usize),
    ends: impl IntoIterator<Item = (NodeId, NodeId)>,
) -> Vec<Address> {
    attach(access, topology, (link, first), (link, Attachment(first as u32)), ends)
}

fn attach(
    access: &dyn Access,
    topology: &mut Topology,
    (link, first): (LinkId, usize),
    joins: (LinkId, Attachment),
    ends: impl IntoIterator<Item = (NodeId, NodeId)>,
) -> Vec<Address> {
    let ends = ends.into_iter().enumerate();
    ends.map(|(number, (node, neighbour))| {
        let (mtu_bytes, cost) = (access.mtu_bytes() as u16, access.cost());
        let interface = Interface { joins, neighbour, mtu_bytes, cost, name: access.shared_name() };
        topology.add_interface(node, (link, Attachment((first + number) as u32)), interface)
    })
    .collect()
}

/// A link that is one machine for both its ends.
pub(crate) fn two_ends(
    access: &dyn Access,
    topology: &mut Topology,
    link: LinkId,
    [a, b]: [NodeId; 2],
) -> Vec<Vec<Address>> {
    vec![interfaces(access, topology, (link, link), [(a, b), (b, a)])]
}

/// Two links, one a direction: each has its sender and its receiver as attachments, and a node sends by the
/// first attachment of its own.
pub(crate) fn two_directions(
    access: &dyn Access,
    topology: &mut Topology,
    first: LinkId,
    [a, b]: [NodeId; 2],
) -> Vec<Vec<Address>> {
    let from_a = interfaces(access, topology, (first, first), [(a, b)])[0];
    let from_b = interfaces(access, topology, (LinkId(first.0 + 1), first), [(b, a)])[0];
    vec![vec![from_a, from_b], vec![from_b, from_a]]
}
