//! Abstract radio cells: their interfaces and their machines.

use super::model::{Cell as CellModel, Coverage as CoverageModel, ErrorUnit as UnitModel};
use crate::access::queue::queue_limit;
use crate::build::{Builder, escaped};
use roamsim_network::link::cell::coverage::{Coverage, ErrorUnit};
use roamsim_network::link::cell::{Cell, CellConfig};
use roamsim_network::link::{AnyLink, Attachment};
use roamsim_network::topology::{Interface, LinkId, Topology};
use roamsim_protocols::Address;

impl Builder<'_> {
    /// Gives a cell its interfaces, in the order of its attachments: broadcast, one a station at the base station,
    /// the stations.
    pub(crate) fn cell_interfaces(
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
    pub(crate) fn radio_cell(&self, model: &CellModel) -> AnyLink {
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
