//! Radio cells: their interfaces, their machines, and the handovers of their stations.

use super::links::queue_limit;
use super::{Builder, escaped};
use crate::files;
use crate::model::cell::{Cell as CellModel, Coverage as CoverageModel, ErrorUnit as UnitModel};
use crate::model::motion::{Motion, Place};
use crate::model::node::{Node as NodeModel, PrimaryChange as PrimaryChangeModel};
use roamsim_network::handover::association::Association;
use roamsim_network::handover::mobile_sctp::PrimaryChange;
use roamsim_network::handover::{CellPlace, Handovers, Membership, Scheme, StationPlace};
use roamsim_network::link::cell::coverage::{Coverage, ErrorUnit};
use roamsim_network::link::cell::{Cell, CellConfig};
use roamsim_network::link::{AnyLink, Attachment};
use roamsim_network::mobility::{Point, Trajectory};
use roamsim_network::topology::{Interface, LinkId, Topology};
use roamsim_protocols::Address;

impl Builder<'_> {
    /// Gives a cell its interfaces, in the order of its attachments: broadcast, one a station at the base station,
    /// the stations.
    pub(super) fn cell_interfaces(
        &self,
        topology: &mut Topology,
        model: &CellModel,
        link: LinkId,
    ) -> Vec<Address> {
        let base_station = self.node(&model.base_station);
        let stations: Vec<_> = model.stations.iter().map(|name| self.node(name)).collect();
        // The broadcast interface leads to nobody, so that no route goes there.
        let ends = std::iter::once((base_station, base_station))
            .chain(stations.iter().map(|&station| (base_station, station)))
            .chain(stations.iter().map(|&station| (station, base_station)));
        let addresses: Vec<Address> = ends
            .enumerate()
            .map(|(number, (node, neighbour))| {
                topology.add_interface(Interface {
                    node,
                    link,
                    attachment: Attachment(number as u32),
                    neighbour,
                    mtu_bytes: model.mtu_bytes as u32,
                    name: model.name.clone(),
                })
            })
            .collect();
        for &address in &addresses[1 + stations.len()..] {
            topology.bind(address);
            let station = topology.owner(address);
            if topology.node(station).primary.is_none() {
                topology.set_primary(address);
            }
        }
        addresses
    }

    /// The machine of a cell.
    pub(super) fn radio_cell(&self, model: &CellModel) -> AnyLink {
        let config = CellConfig {
            rate_bps: model.rate_bps,
            delay: model.delay,
            queue: queue_limit(model.queue),
            mtu_bytes: model.mtu_bytes as u32,
            coverage: coverage(&model.coverage),
            beacon_bytes: model.advertisement.size_bytes as u32,
        };
        let stations = model.stations.iter().map(|name| self.trajectory(name)).collect();
        let base_station = self.trajectory(&model.base_station);
        AnyLink::Cell(Box::new(Cell::new(config, base_station, stations, |station, purpose| {
            self.stream("cell", &model.name, &[&escaped(&model.stations[station]), purpose])
        })))
    }

    fn trajectory(&self, name: &str) -> Trajectory {
        let node = self.scenario.nodes.iter().find(|node| node.name == name);
        // Validation refuses members of a cell without a place.
        node.and_then(trajectory).unwrap_or_else(|| Trajectory::fixed(Point::default()))
    }

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

/// Where a node is at each time; `None` when the scenario does not say.
pub(crate) fn trajectory(node: &NodeModel) -> Option<Trajectory> {
    let place = node.position.map(point);
    match &node.motion {
        None => place.map(Trajectory::fixed),
        Some(Motion::Linear(motion)) => {
            let stop = (point(motion.to), motion.speed_m_per_s, roamsim_engine::Span::ZERO);
            Some(Trajectory::waypoints(place?, motion.start, &[stop]))
        }
        Some(Motion::BackAndForth(motion)) => Some(Trajectory::back_and_forth(
            place?,
            point(motion.to),
            motion.speed_m_per_s,
            motion.pause,
            motion.start,
        )),
        Some(Motion::Waypoints(motion)) => {
            let stops: Vec<_> = motion
                .points
                .iter()
                .map(|stop| (Point::new(stop.x_m, stop.y_m), stop.speed_m_per_s, stop.pause))
                .collect();
            Some(Trajectory::waypoints(place?, motion.start, &stops))
        }
        Some(Motion::Setdest(file)) => {
            files::setdest::parse(file.content.as_deref()?, file.node).ok().map(|walk| walk.trajectory)
        }
        Some(Motion::Bonnmotion(file)) => {
            files::bonnmotion::parse(file.content.as_deref()?, file.node).ok().map(|walk| walk.trajectory)
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

fn point(place: Place) -> Point {
    Point::new(place.x_m, place.y_m)
}

fn coverage(model: &CoverageModel) -> Coverage {
    let unit = |unit| match unit {
        UnitModel::Packet => ErrorUnit::Packet,
        UnitModel::Bit => ErrorUnit::Bit,
    };
    match model {
        CoverageModel::Disc(disc) => Coverage::Disc { radius_m: disc.radius_m },
        CoverageModel::DistancePower(law) => Coverage::DistancePower {
            radius_m: law.radius_m,
            error_at_edge: law.error_at_edge,
            exponent: law.exponent,
            unit: unit(law.per),
        },
        CoverageModel::Table(table) => Coverage::Table {
            points: table.points.iter().map(|point| (point.distance_m, point.error)).collect(),
            unit: unit(table.per),
        },
    }
}

/// The distance beyond which a cell loses everything, in metres.
pub(crate) fn radius_m(model: &CoverageModel) -> f64 {
    coverage(model).radius_m()
}
