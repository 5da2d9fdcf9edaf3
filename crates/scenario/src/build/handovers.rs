//! Cells and stations as handovers see them, and the schemes by which stations keep their addresses.

use super::Builder;
use crate::model::node::PrimaryChange as PrimaryChangeModel;
use roamsim_network::handover::association::Association;
use roamsim_network::handover::mobile_sctp::PrimaryChange;
use roamsim_network::handover::{CellPlace, Handovers, Membership, Scheme, StationPlace};
use roamsim_network::topology::{LinkId, Topology};
use roamsim_protocols::Address;

impl Builder<'_> {
    /// Cells and stations, as handovers see them.
    pub(super) fn handovers(&self, topology: &mut Topology, links: &[(LinkId, Vec<Address>)]) -> Handovers {
        let mut handovers = Handovers::default();
        for (model, (link, addresses)) in self.scenario.cells.iter().zip(links) {
            handovers.cells.push(CellPlace {
                name: model.name.clone(),
                link: *link,
                base_station: self.node(&model.base_station),
                broadcast: addresses[0],
                beacon_period: model.advertisement.period,
                first_beacon: model.advertisement.start,
                stations: Vec::new(),
            });
        }
        for node in &self.scenario.nodes {
            let memberships: Vec<Membership> = self
                .scenario
                .cells
                .iter()
                .zip(links)
                .enumerate()
                .filter_map(|(cell, (model, (_, addresses)))| {
                    let number = model.stations.iter().position(|name| *name == node.name)?;
                    let interface = addresses[1 + model.stations.len() + number];
                    Some(Membership { cell: cell as u32, number: number as u32, interface })
                })
                .collect();
            if memberships.is_empty() {
                continue;
            }
            let lifetimes = memberships
                .iter()
                .map(|membership| self.scenario.cells[membership.cell as usize].advertisement.lifetime)
                .collect();
            let station = handovers.stations.len() as u32;
            for (place, membership) in memberships.iter().enumerate() {
                let stations = &mut handovers.cells[membership.cell as usize].stations;
                stations.push((station, place));
            }
            let id = self.node(&node.name);
            let scheme = if node.multihomed && self.scenario.has_followed_addresses(&node.name) {
                Scheme::MobileSctp(primary_change(node.change_primary_at))
            } else if node.multihomed {
                Scheme::Multihomed
            } else if self.scenario.mobile_ip_of(&node.name).is_some() {
                Scheme::MobileIp
            } else {
                Scheme::Bridged
            };
            if scheme == Scheme::Bridged {
                let home = memberships[0].interface;
                memberships.iter().for_each(|membership| topology.redirect(membership.interface, home));
            }
            let association = Association::new(lifetimes, node.hysteresis_m);
            handovers.stations.push(StationPlace::new(id, scheme, memberships, association));
        }
        // In the order in which the cell knows them.
        for (cell, model) in handovers.cells.iter_mut().zip(&self.scenario.cells) {
            let number = |station: u32| {
                let node = &self.scenario.nodes[handovers.stations[station as usize].node.0 as usize];
                model.stations.iter().position(|name| *name == node.name)
            };
            cell.stations.sort_by_key(|&(station, _)| number(station));
        }
        handovers
    }

    /// Binds the interfaces of nodes whose addresses stay with their links.
    pub(super) fn bind_multihomed(&self, topology: &mut Topology) {
        for node in self.scenario.nodes.iter().filter(|node| node.multihomed) {
            let interfaces = topology.node(self.node(&node.name)).interfaces.clone();
            // Not the broadcast interface of a base station, which leads to nobody.
            let leads_away = |&number: &u32| {
                let interface = topology.interface(Address(number));
                interface.neighbour != interface.node
            };
            let interfaces: Vec<u32> = interfaces.into_iter().filter(leads_away).collect();
            for number in interfaces {
                topology.bind(Address(number));
                topology.bind_source(Address(number), true);
            }
        }
    }
}

fn primary_change(model: PrimaryChangeModel) -> PrimaryChange {
    match model {
        PrimaryChangeModel::Up => PrimaryChange::Up,
        PrimaryChangeModel::Nearer => PrimaryChange::Nearer,
        PrimaryChangeModel::GoingDown => PrimaryChange::GoingDown,
        PrimaryChangeModel::Down => PrimaryChange::Down,
    }
}
