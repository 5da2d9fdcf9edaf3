//! The machine of a wireless LAN.

mod edca;
pub(super) mod loss;
mod radio;
mod rates;

use super::model::{Mechanism as MechanismModel, Protection as ProtectionModel, SlotTime, Wifi};
use super::standard::{Preamble as PreambleModel, WifiStandard};
use crate::access::Making;
use crate::access::queue::queue_limit;
use roamsim_engine::Span;
use roamsim_network::link::AnyLink;
use roamsim_network::link::wifi::phy::{Format, Preamble, Timing};
use roamsim_network::link::wifi::{Cell, CellConfig, Freezing, Mechanism, Protection};

/// What describes a cell that stands alone.
pub(super) fn cell_config(model: &Wifi) -> CellConfig {
    let &Wifi {
        name: _,
        access_point: _,
        ref stations,
        standard,
        rate_bps: _,
        basic_rate_bps: _,
        station_rates: _,
        rate_control: _,
        preamble,
        slot_time,
        cw_min: _,
        cw_max,
        short_retry_limit,
        long_retry_limit,
        rts_threshold_bytes,
        fragmentation_threshold_bytes,
        protection,
        edca,
        channel: _,
        beacons: _,
        radio: _,
        loss: _,
        queue,
        mtu_bytes,
    } = model;
    let format = match (standard, preamble) {
        (WifiStandard::Ieee80211b, PreambleModel::Long) => Format::Dsss(Preamble::Long),
        (WifiStandard::Ieee80211b, PreambleModel::Short) => Format::Dsss(Preamble::Short),
        (WifiStandard::Ieee80211g, _) => Format::ErpOfdm,
    };
    // Stations of 802.11b, which protection is for, know only the long slot.
    let default = if protection.is_some() { SlotTime::Long } else { SlotTime::Short };
    let slot = match (standard, slot_time.unwrap_or(default)) {
        (WifiStandard::Ieee80211g, SlotTime::Short) => Span::from_us(9),
        (WifiStandard::Ieee80211b, _) | (_, SlotTime::Long) => Span::from_us(20),
    };
    CellConfig {
        format,
        timing: Timing::new(format, slot),
        rates_bps: stations.iter().map(|name| model.rate_of_bps(name)).collect(),
        rate_control: model.rate_control_config(),
        basic_rates_bps: model.control_rates_bps(),
        cw_min: model.first_cw(),
        cw_max,
        short_retry_limit,
        long_retry_limit,
        rts_threshold_bytes: rts_threshold_bytes as u32,
        freezing: Freezing::Standard,
        edca: edca.map(|edca| edca.config(model)),
        fragmentation_threshold_bytes: fragmentation_threshold_bytes as u32,
        protection: protection.map(|protection| {
            let ProtectionModel { mechanism, rate_bps, preamble } = protection;
            Protection {
                mechanism: match mechanism {
                    MechanismModel::CtsToSelf => Mechanism::CtsToSelf,
                    MechanismModel::RtsCts => Mechanism::RtsCts,
                },
                rate_bps,
                preamble: match preamble {
                    PreambleModel::Long => Preamble::Long,
                    PreambleModel::Short => Preamble::Short,
                },
            }
        }),
        queue: queue_limit(queue),
        rule: queue.rule(model.data_rate_bps(), mtu_bytes as u32),
        mtu_bytes: mtu_bytes as u32,
    }
}

/// The machine of a cell that stands alone.
pub(super) fn machine(model: &Wifi, making: &Making<'_>) -> AnyLink {
    let builder = making.builder;
    let config = cell_config(model);
    let Wifi { name, access_point, stations, radio, .. } = model;
    let stream = |purpose: &str| builder.stream("wifi", name, &[purpose]);
    let mut cell = match radio {
        None => Cell::new(config, stream),
        Some(radio) => {
            let nodes = std::iter::once(access_point).chain(stations);
            let places = nodes.map(|node| builder.trajectory(node)).collect();
            Cell::with_places(config, radio.config(model), places, stream)
        }
    };
    loss::add(&[model], making, &mut cell);
    AnyLink::Wifi(Box::new(cell))
}
