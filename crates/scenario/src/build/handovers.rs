//! Cells and stations as handovers see them, and the schemes by which stations keep their addresses.

use super::{Builder, NewLink};
use crate::model::node::PrimaryChange as PrimaryChangeModel;
use roamsim_network::handover::association::Association;
use roamsim_network::handover::mobile_sctp::PrimaryChange;
use roamsim_network::handover::{CellPlace, Handovers, Membership, Scheme, StationPlace};
use roamsim_network::topology::{LinkId, Topology};
use roamsim_protocols::Address;

impl Builder<'_> {
    /// Base stations and stations, as handovers see them.
    pub(super) fn handovers(&self, topology: &mut Topology, links: &[NewLink<'_>]) -> Handovers {
        let mut handovers = Handovers::default();
        let mut lifetimes = Vec::new();
        let mut memberships: Vec<Vec<Membership>> = vec![Vec::new(); self.scenario.nodes.len()];
        for (number, NewLink { access, addresses, .. }) in (0..).zip(links) {
            let Some(advertisement) = access.advertisement() else { continue };
            let interfaces = &addresses[addresses.len() / 2 + 1..];
            let cell = handovers.add_cell(CellPlace {
                name: access.name().to_owned(),
                link: LinkId(number),
                base_station: topology.owner(addresses[0]),
                broadcast: addresses[0],
                beacon_period: advertisement.period,
                first_beacon: advertisement.start,
                // Each gets its number below.
                stations: vec![(0, 0); interfaces.len()],
            });
            lifetimes.push(advertisement.lifetime);
            for (number, &interface) in (0..).zip(interfaces) {
                let station = topology.owner(interface);
                memberships[station.0 as usize].push(Membership { cell, number, interface });
            }
        }
        let (followed, mobile_nodes) =
            (self.scenario.with_followed_addresses(), self.scenario.mobile_nodes());
        for (node, memberships) in self.scenario.nodes.iter().zip(memberships) {
            if memberships.is_empty() {
                continue;
            }
            let station = handovers.stations.len() as u32;
            for (place, membership) in memberships.iter().enumerate() {
                let cell = &mut handovers.cells[membership.cell as usize];
                cell.stations[membership.number as usize] = (station, place);
            }
            let scheme = if node.multihomed && followed.contains(node.name.as_str()) {
                Scheme::MobileSctp(primary_change(node.change_primary_at))
            } else if node.multihomed {
                Scheme::Multihomed
            } else if mobile_nodes.contains_key(node.name.as_str()) {
                Scheme::MobileIp
            } else {
                Scheme::Bridged
            };
            if scheme == Scheme::Bridged {
                let home = memberships[0].interface;
                memberships.iter().for_each(|membership| topology.redirect(membership.interface, home));
            }
            let lifetimes =
                memberships.iter().map(|membership| lifetimes[membership.cell as usize]).collect();
            let association = Association::new(lifetimes, node.hysteresis_m);
            handovers.add_station(StationPlace::new(self.node(&node.name), scheme, memberships, association));
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
