//! Links: their places in the topology.

use super::{Builder, NewLink, NewMachine};
use roamsim_network::link::Attachment;
use roamsim_network::topology::{Interface, LinkId, NodeId, Topology};
use roamsim_protocols::Address;

impl<'a> Builder<'a> {
    /// Gives every link its place in the topology.
    pub(super) fn links(&self, topology: &mut Topology) -> Vec<NewLink<'a>> {
        let mut links = Vec::new();
        for model in &self.scenario.links {
            let ends = [self.node(&model.between[0]), self.node(&model.between[1])];
            let first = links.len() as u32;
            let addresses = [0, 1].map(|from: usize| {
                topology.add_interface(Interface {
                    node: ends[from],
                    link: LinkId(first + from as u32),
                    attachment: Attachment(0),
                    neighbour: ends[1 - from],
                    mtu_bytes: model.mtu_bytes as u32,
                    name: model.name.clone(),
                })
            });
            for from in [0, 1] {
                links.push(NewLink {
                    model: NewMachine::Wire(model, from),
                    addresses: vec![addresses[from], addresses[1 - from]],
                });
            }
        }
        for model in &self.scenario.wifi {
            let ends = [self.node(&model.access_point), self.node(&model.stations[0])];
            let number = LinkId(links.len() as u32);
            let addresses = shared(topology, number, ends, model.mtu_bytes, &model.name);
            links.push(NewLink { model: NewMachine::Wifi(model), addresses: addresses.to_vec() });
        }
        for model in &self.scenario.cells {
            let addresses = self.cell_interfaces(topology, model, LinkId(links.len() as u32));
            links.push(NewLink { model: NewMachine::Cell(model), addresses });
        }
        for model in &self.scenario.dect {
            let ends = [self.node(&model.terminal), self.node(&model.gateway)];
            let number = LinkId(links.len() as u32);
            let addresses = shared(topology, number, ends, model.mtu_bytes, &model.name);
            links.push(NewLink { model: NewMachine::Dect(model), addresses: addresses.to_vec() });
        }
        links
    }
}

/// Gives a link that is one machine for both its ends a place in the topology.
fn shared(
    topology: &mut Topology,
    link: LinkId,
    ends: [NodeId; 2],
    mtu_bytes: u64,
    name: &str,
) -> [Address; 2] {
    [0, 1].map(|end: usize| {
        topology.add_interface(Interface {
            node: ends[end],
            link,
            attachment: Attachment(end as u32),
            neighbour: ends[1 - end],
            mtu_bytes: mtu_bytes as u32,
            name: name.to_owned(),
        })
    })
}
