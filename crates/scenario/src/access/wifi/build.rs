//! The machine of a wireless LAN.

use super::model::{Preamble as PreambleModel, Wifi, WifiStandard};
use crate::access::queue::queue_limit;
use crate::build::Builder;
use roamsim_network::link::AnyLink;
use roamsim_network::link::wifi::{Cell, CellConfig, Preamble};

pub(super) fn machine(model: &Wifi, builder: &Builder<'_>) -> AnyLink {
    let &Wifi {
        ref name,
        access_point: _,
        stations: _,
        standard: WifiStandard::Ieee80211b,
        rate_bps,
        basic_rate_bps: _,
        preamble,
        cw_min,
        queue,
        mtu_bytes,
    } = model;
    let config = CellConfig {
        rate_bps,
        basic_rate_bps: model.acknowledgement_rate_bps(),
        preamble: match preamble {
            PreambleModel::Long => Preamble::Long,
            PreambleModel::Short => Preamble::Short,
        },
        cw_min,
        queue: queue_limit(queue),
        mtu_bytes: mtu_bytes as u32,
    };
    AnyLink::Wifi(Box::new(Cell::new(config, |purpose| builder.stream("wifi", name, &[purpose]))))
}
