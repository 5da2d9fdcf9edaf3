//! Links: their places in the topology.

use super::{Builder, NewLink};
use roamsim_network::topology::{LinkId, Topology};

impl<'a> Builder<'a> {
    /// Gives every link its place in the topology; their order is that of their numbers.
    pub(super) fn links(&self, topology: &mut Topology) -> Vec<NewLink<'a>> {
        let mut links = Vec::new();
        for entry in self.scenario.accesses() {
            let parts = entry.join(self, topology, LinkId(links.len() as u32));
            let parts = parts.into_iter().enumerate();
            links.extend(parts.map(|(part, addresses)| NewLink { access: entry.access, part, addresses }));
        }
        links
    }
}
