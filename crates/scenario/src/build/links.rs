//! Links: their places in the topology, and which change at link events of others.

use crate::access::Access;
use crate::builder::Builder;
use crate::scenario::Scenario;
use roamsim_network::topology::{LinkId, Topology};
use roamsim_network::world::PathChange;
use roamsim_protocols::Address;

/// A link that has its place in the topology, and waits for its machine.
pub(super) struct NewLink<'a> {
    pub(super) access: &'a dyn Access,
    /// Its number among the links of the access.
    pub(super) part: usize,
    /// Of its attachments.
    pub(super) addresses: &'a [Address],
}

/// All of them. They wait while the world becomes as large as it will be, so that what is known elsewhere is
/// not held.
#[derive(Default)]
pub(super) struct NewLinks {
    /// How many links each access is, in the order of [`Scenario::accesses`].
    parts: Vec<u32>,
    /// By the number of a link, how many attachments all have up to it.
    ends: Vec<u32>,
    /// The addresses of their attachments, link by link.
    addresses: Vec<Address>,
}

impl NewLinks {
    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.ends.len()
    }

    /// The access of each, by its number, and its own number among the links of that.
    pub(super) fn accesses<'s>(
        &self,
        scenario: &'s Scenario,
    ) -> impl Iterator<Item = (&'s dyn Access, usize)> {
        let accesses = scenario.accesses().zip(&self.parts);
        accesses.flat_map(|(entry, &parts)| (0..parts as usize).map(move |part| (entry.access, part)))
    }

    /// They, by their numbers.
    pub(super) fn iter<'a>(&'a self, scenario: &'a Scenario) -> impl Iterator<Item = NewLink<'a>> {
        let mut first = 0;
        self.accesses(scenario).zip(&self.ends).map(move |((access, part), &end)| {
            let end = end as usize;
            NewLink { access, part, addresses: &self.addresses[std::mem::replace(&mut first, end)..end] }
        })
    }

    /// Gives every link its place in the topology; their order is that of their numbers.
    pub(super) fn join(builder: &Builder<'_>, scenario: &Scenario, topology: &mut Topology) -> NewLinks {
        let mut links = NewLinks::default();
        // Wires, of which there may be many, are two each.
        let wires = scenario.links.len();
        links.parts.reserve(wires);
        links.ends.reserve(2 * wires);
        links.addresses.reserve(4 * wires);
        let network = scenario.network();
        for entry in scenario.accesses() {
            let parts = entry.join(builder, &network, topology, LinkId(links.count() as u32));
            links.parts.push(parts.len() as u32);
            for addresses in parts {
                links.addresses.extend(addresses);
                links.ends.push(links.addresses.len() as u32);
            }
        }
        links
    }

    /// How links change at link events of others.
    pub(super) fn path_changes(
        &self,
        builder: &Builder<'_>,
        scenario: &Scenario,
        topology: &Topology,
    ) -> Vec<PathChange> {
        let mut changes = Vec::new();
        let network = scenario.network();
        for (number, (access, part)) in (0..).zip(self.accesses(scenario)) {
            for (event, change) in access.changes(part, &network) {
                let of =
                    (0..).zip(topology.interfaces()).filter(|(_, interface)| *interface.name == *event.link);
                changes.push(PathChange {
                    of: of.map(|(number, _)| Address(number)).collect(),
                    node: event.node.as_ref().map(|node| builder.node(node)),
                    event: event.event.name(),
                    target: LinkId(number),
                    change,
                });
            }
        }
        changes
    }
}
