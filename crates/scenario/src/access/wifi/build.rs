//! The machine of a wireless LAN.

use super::model::{Preamble as PreambleModel, Wifi};
use crate::access::queue::queue_limit;
use crate::build::Builder;
use roamsim_network::link::AnyLink;
use roamsim_network::link::wifi::{Cell, CellConfig, Preamble};

pub(super) fn machine(model: &Wifi, builder: &Builder<'_>) -> AnyLink {
    let config = CellConfig {
        rate_bps: model.rate_bps,
        basic_rate_bps: model.acknowledgement_rate_bps(),
        preamble: match model.preamble {
            PreambleModel::Long => Preamble::Long,
            PreambleModel::Short => Preamble::Short,
        },
        cw_min: model.cw_min,
        queue: queue_limit(model.queue),
        mtu_bytes: model.mtu_bytes as u32,
    };
    AnyLink::Wifi(Box::new(Cell::new(config, |purpose| builder.stream("wifi", &model.name, &[purpose]))))
}
