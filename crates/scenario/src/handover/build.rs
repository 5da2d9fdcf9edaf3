//! Cells and stations as handovers see them, and the schemes by which stations keep their addresses.

use super::schemes::Schemes;
use crate::access::Network;
use crate::builder::Builder;
use crate::node::handover::Scheme as SchemeModel;
use crate::node::model::{Node, PrimaryChange as PrimaryChangeModel};
use roamsim_network::handover::association::{Association, Uses};
use roamsim_network::handover::mobile_sctp::PrimaryChange;
use roamsim_network::handover::{CellPlace, Handovers, Membership, Scheme, StationPlace};
use roamsim_network::topology::{LinkId, Topology};
use roamsim_protocols::Address;
use std::collections::BTreeMap;

/// A radio of a node that selects: the technology or the cell that it is for, and its hysteresis.
type Radio<'a> = (&'a str, f64);

impl Builder<'_> {
    /// Base stations and stations, as handovers see them.
    pub(crate) fn handovers(
        &self,
        network: &Network<'_>,
        schemes: &Schemes<'_>,
        topology: &mut Topology,
    ) -> Handovers {
        let mut handovers = Handovers::default();
        if !network.accesses().any(|entry| entry.beacon_period().is_some()) {
            self.add_stations_without_cells(&mut handovers);
            return handovers;
        }
        let mut memberships: Vec<Vec<Membership>> = vec![Vec::new(); self.nodes.len()];
        let mut hysteresis_db: Vec<Option<f64>> = vec![None; self.nodes.len()];
        // How many of its cells share one radio.
        let mut sharing: Vec<usize> = vec![0; self.nodes.len()];
        // Of nodes that select, the radio of each: cells of a technology may share one.
        let mut radios: Vec<Vec<Radio<'_>>> = vec![Vec::new(); self.nodes.len()];
        let mut interfaces: BTreeMap<&str, Vec<Address>> = BTreeMap::new();
        for (number, interface) in (0..).zip(topology.interfaces()) {
            interfaces.entry(&interface.name).or_default().push(Address(number));
        }
        // Stations have numbers on their link, which may be that of several cells.
        let mut numbers: BTreeMap<LinkId, u32> = BTreeMap::new();
        for entry in network.accesses() {
            let own = interfaces.get(entry.name()).map_or(&[][..], Vec::as_slice);
            let (Some(&broadcast), stations) = (own.first(), entry.pairs().len()) else { continue };
            let link = topology.attachment(broadcast).0;
            let next = numbers.entry(link).or_default();
            let first = std::mem::replace(next, *next + stations as u32);
            if entry.beacon_period().is_none() {
                continue;
            }
            let name = entry.name().to_owned();
            let place = CellPlace { name, link, base_station: topology.owner(broadcast), broadcast };
            let cell = handovers.add_cell(place, &own[1..=stations]);
            for (number, &interface) in (first..).zip(&own[1 + stations..]) {
                let station = topology.owner(interface).0 as usize;
                hysteresis_db[station] = entry.signal_hysteresis_db(&self.nodes[station]);
                sharing[station] += usize::from(entry.has_one_radio());
                if self.nodes[station].selects {
                    let shared = entry.has_one_radio() || hysteresis_db[station].is_some();
                    let key = if shared { entry.access.section() } else { entry.access.name() };
                    radios[station].push((key, hysteresis_db[station].unwrap_or(0.0)));
                }
                memberships[station].push(Membership { cell, number, interface });
            }
        }
        for ((((node, memberships), hysteresis_db), sharing), radios) in
            self.nodes.iter().zip(memberships).zip(hysteresis_db).zip(sharing).zip(radios)
        {
            if memberships.is_empty() {
                continue;
            }
            if node.selects {
                self.add_radios(&mut handovers, node, memberships.into_iter().zip(radios));
                continue;
            }
            let scheme = match node.handover.unwrap_or_else(|| schemes.inferred(node)) {
                SchemeModel::Bridged => Scheme::Bridged,
                SchemeModel::MobileIp => Scheme::MobileIp,
                SchemeModel::MobileSctp => Scheme::MobileSctp(primary_change(node.change_primary_at)),
                SchemeModel::Migration => Scheme::Migration(primary_change(node.change_primary_at)),
                SchemeModel::Multihomed => Scheme::Multihomed,
                SchemeModel::Mih => {
                    let first = schemes.handed_over(&node.name).map(|entry| entry.from.access.as_str());
                    let of = |member: &Membership| {
                        Some(handovers.cells[member.cell as usize].name.as_str()) == first
                    };
                    Scheme::Mih(memberships.iter().position(of).unwrap_or_default() as u32)
                }
            };
            if scheme == Scheme::Bridged {
                let home = memberships[0].interface;
                memberships.iter().for_each(|membership| topology.redirect(membership.interface, home));
            }
            // With one interface for all of its cells, or one radio, it uses one at a time. Where it keeps an
            // address in each of several cells, or is a mobile node in cells of different technologies, it
            // has a radio for each of them.
            let radio_each = node.multihomed || schemes.listens_to_each(network, &node.name);
            let one_radio =
                (sharing > 1 || hysteresis_db.is_some()) && !(radio_each && memberships.len() > 1);
            let one = scheme == Scheme::Bridged || one_radio;
            let uses = if one { Uses::One } else { Uses::All };
            let hysteresis = hysteresis_db.filter(|_| one).unwrap_or(node.hysteresis_m);
            let association = Association::new(memberships.len(), hysteresis, uses);
            handovers.add_station(StationPlace::new(self.node(&node.name), scheme, memberships, association));
        }
        self.add_stations_without_cells(&mut handovers);
        handovers
    }

    /// A node that selects is a station for each of its radios, whose cells it is in one at a time.
    fn add_radios<'n>(
        &self,
        handovers: &mut Handovers,
        node: &Node,
        members: impl Iterator<Item = (Membership, Radio<'n>)>,
    ) {
        let mut by_radio: Vec<(Radio<'_>, Vec<Membership>)> = Vec::new();
        for (member, radio) in members {
            match by_radio.iter_mut().find(|((known, _), _)| *known == radio.0) {
                Some((_, cells)) => cells.push(member),
                None => by_radio.push((radio, vec![member])),
            }
        }
        for ((_, hysteresis), cells) in by_radio {
            let association = Association::new(cells.len(), hysteresis, Uses::One);
            let place = StationPlace::new(self.node(&node.name), Scheme::Selected, cells, association);
            handovers.add_station(place);
        }
    }

    /// Transports of a node that selects are told of its addresses as those of a station are, though it be
    /// in no cell.
    fn add_stations_without_cells(&self, handovers: &mut Handovers) {
        for node in self.nodes.iter().filter(|node| node.selects) {
            let number = self.node(&node.name);
            if handovers.station_of(number).is_none() {
                let association = Association::new(0, 0.0, Uses::One);
                handovers.add_station(StationPlace::new(number, Scheme::Selected, Vec::new(), association));
            }
        }
    }

    /// Binds the interfaces of nodes whose addresses stay with their links.
    pub(crate) fn bind_multihomed(&self, topology: &mut Topology) {
        for node in self.nodes.iter().filter(|node| node.multihomed) {
            let interfaces = topology.node(self.node(&node.name)).interfaces.to_vec();
            // Not the broadcast interface of a base station, which leads to nobody.
            let leads_away =
                |&address: &Address| topology.interface(address).neighbour != topology.owner(address);
            let addresses: Vec<_> = interfaces.into_iter().map(Address).filter(leads_away).collect();
            for address in addresses {
                topology.bind(address);
                topology.bind_source(address, true);
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
