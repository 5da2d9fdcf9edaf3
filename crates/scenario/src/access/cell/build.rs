//! The machine of an abstract radio cell.

use super::model::{Cell as CellModel, Coverage as CoverageModel, ErrorUnit as UnitModel};
use crate::access::queue::queue_limit;
use crate::build::{Builder, escaped};
use roamsim_network::link::AnyLink;
use roamsim_network::link::cell::coverage::{Coverage, ErrorUnit};
use roamsim_network::link::cell::{Cell, CellConfig};

pub(super) fn machine(model: &CellModel, builder: &Builder<'_>) -> AnyLink {
    let config = CellConfig {
        rate_bps: model.rate_bps,
        delay: model.delay,
        queue: queue_limit(model.queue),
        mtu_bytes: model.mtu_bytes as u32,
        coverage: coverage(&model.coverage),
        beacon_bytes: model.advertisement.size_bytes as u32,
    };
    let stations = model.stations.iter().map(|name| builder.trajectory(name)).collect();
    let base_station = builder.trajectory(&model.base_station);
    AnyLink::Cell(Box::new(Cell::new(config, base_station, stations, |station, purpose| {
        builder.stream("cell", &model.name, &[&escaped(&model.stations[station]), purpose])
    })))
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
