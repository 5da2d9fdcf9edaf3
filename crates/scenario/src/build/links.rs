//! Links: their places in the topology, and which change at link events of others.

use super::{Builder, NewLink, NewLinks};
use roamsim_network::topology::{LinkId, Topology};
use roamsim_network::world::PathChange;
use roamsim_protocols::Address;

impl<'a> Builder<'a> {
    /// Gives every link its place in the topology; their order is that of their numbers.
    pub(super) fn links(&self, topology: &mut Topology) -> NewLinks<'a> {
        let mut links = NewLinks::default();
        // Wires, of which there may be many, are two each.
        links.all.reserve(2 * self.scenario.links.len());
        links.addresses.reserve(4 * self.scenario.links.len());
        for entry in self.scenario.accesses() {
            let parts = entry.join(self, topology, LinkId(links.all.len() as u32));
            (0..).zip(parts).for_each(|(part, addresses)| links.add(entry.access, part, &addresses));
        }
        links
    }

    /// How links change at link events of others.
    pub(super) fn path_changes(&self, topology: &Topology, links: &[NewLink<'_>]) -> Vec<PathChange> {
        let mut changes = Vec::new();
        for (number, target) in (0..).zip(links) {
            for (event, change) in target.access.changes(target.part as usize, self.scenario) {
                let of =
                    (0..).zip(topology.interfaces()).filter(|(_, interface)| *interface.name == *event.link);
                changes.push(PathChange {
                    of: of.map(|(number, _)| Address(number)).collect(),
                    node: event.node.as_ref().map(|node| self.node(node)),
                    event: event.event.name(),
                    target: LinkId(number),
                    change,
                });
            }
        }
        changes
    }
}
