//! The machine of an abstract radio cell.

use super::model::{Cell as CellModel, Coverage as CoverageModel, ErrorUnit as UnitModel};
use crate::access::queue::queue_limit;
use crate::access::stations::Advertisement;
use crate::builder::{Builder, escaped};
use roamsim_network::link::AnyLink;
use roamsim_network::link::cell::beacons::BeaconConfig;
use roamsim_network::link::cell::coverage::{Coverage, ErrorUnit};
use roamsim_network::link::cell::{Cell, CellConfig};

pub(super) fn machine(model: &CellModel, builder: &Builder<'_>) -> AnyLink {
    let &CellModel {
        ref name,
        ref base_station,
        ref stations,
        rate_bps,
        delay,
        queue,
        mtu_bytes,
        coverage: ref errors,
        advertisement: Advertisement { period, start, lifetime, size_bytes: beacon_bytes, going_down_ahead },
    } = model;
    let config = CellConfig {
        rate_bps,
        delay,
        queue: queue_limit(queue),
        rule: queue.rule(rate_bps, mtu_bytes as u32),
        mtu_bytes: mtu_bytes as u32,
        coverage: coverage(errors),
        beacons: BeaconConfig { period, start, lifetime, bytes: beacon_bytes as u32, going_down_ahead },
    };
    let places = stations.iter().map(|name| builder.trajectory(name)).collect();
    AnyLink::Cell(Box::new(Cell::new(
        config,
        builder.trajectory(base_station),
        places,
        |station, purpose| builder.stream("cell", name, &[&escaped(&stations[station]), purpose]),
    )))
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
pub(super) fn radius_m(model: &CoverageModel) -> f64 {
    coverage(model).radius_m()
}
