//! Cells and stations as handovers see them, and the schemes by which stations keep their addresses.

use super::model::{Scheme as SchemeModel, Schemes};
use crate::build::{Builder, NewLink};
use crate::model::node::PrimaryChange as PrimaryChangeModel;
use roamsim_network::handover::association::{Association, Uses};
use roamsim_network::handover::mobile_sctp::PrimaryChange;
use roamsim_network::handover::{CellPlace, Handovers, Membership, Scheme, StationPlace};
use roamsim_network::topology::{LinkId, Topology};
use roamsim_protocols::Address;

impl Builder<'_> {
    /// Base stations and stations, as handovers see them.
    pub(crate) fn handovers(&self, topology: &mut Topology, links: &[NewLink<'_>]) -> Handovers {
        let mut handovers = Handovers::default();
        let mut memberships: Vec<Vec<Membership>> = vec![Vec::new(); self.scenario.nodes.len()];
        for (number, NewLink { access, addresses, .. }) in (0..).zip(links) {
            if access.advertisement().is_none() {
                continue;
            }
            let interfaces = &addresses[addresses.len() / 2 + 1..];
            let cell = handovers.add_cell(CellPlace {
                name: access.name().to_owned(),
                link: LinkId(number),
                base_station: topology.owner(addresses[0]),
                broadcast: addresses[0],
                // Each gets its number below.
                stations: vec![(0, 0); interfaces.len()],
            });
            for (number, &interface) in (0..).zip(interfaces) {
                let station = topology.owner(interface);
                memberships[station.0 as usize].push(Membership { cell, number, interface });
            }
        }
        let schemes = Schemes::new(self.scenario);
        for (node, memberships) in self.scenario.nodes.iter().zip(memberships) {
            if memberships.is_empty() {
                continue;
            }
            let station = handovers.stations.len() as u32;
            for (place, membership) in memberships.iter().enumerate() {
                let cell = &mut handovers.cells[membership.cell as usize];
                cell.stations[membership.number as usize] = (station, place);
            }
            let scheme = match node.handover.unwrap_or_else(|| schemes.inferred(node)) {
                SchemeModel::Bridged => Scheme::Bridged,
                SchemeModel::MobileIp => Scheme::MobileIp,
                SchemeModel::MobileSctp => Scheme::MobileSctp(primary_change(node.change_primary_at)),
                SchemeModel::Multihomed => Scheme::Multihomed,
            };
            if scheme == Scheme::Bridged {
                let home = memberships[0].interface;
                memberships.iter().for_each(|membership| topology.redirect(membership.interface, home));
            }
            // With one interface for all of its cells it uses one at a time.
            let uses = if scheme == Scheme::Bridged { Uses::One } else { Uses::All };
            let association = Association::new(memberships.len(), node.hysteresis_m, uses);
            handovers.add_station(StationPlace::new(self.node(&node.name), scheme, memberships, association));
        }
        handovers
    }

    /// Binds the interfaces of nodes whose addresses stay with their links.
    pub(crate) fn bind_multihomed(&self, topology: &mut Topology) {
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
