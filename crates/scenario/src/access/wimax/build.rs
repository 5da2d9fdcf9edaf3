//! The machine of an 802.16 cell.

mod entry;
pub(super) mod radio;

use super::model::{Requests, Served, Wimax};
use crate::access::queue::queue_limit;
use crate::builder::{Builder, escaped};
use roamsim_engine::Span;
use roamsim_network::link::AnyLink;
use roamsim_network::link::wimax::layout::FrameLayout;
use roamsim_network::link::wimax::phy::{BurstProfile, SymbolClock};
use roamsim_network::link::wimax::pusc::Pusc;
use roamsim_network::link::wimax::{Cell, CellConfig, ContentionConfig, FlowConfig, Service, StationConfig};
use roamsim_network::mobility::Trajectory;

/// The standard's least T16 (IEEE Std 802.16-2004 table 342).
pub(super) const LEAST_T16: Span = Span::from_ms(10);

/// What describes a cell whose nodes have these places; `None` where the standard has no such channel.
pub(super) fn config(model: &Wimax, place: impl Fn(&str) -> Trajectory) -> Option<CellConfig> {
    let &Wimax {
        name: _,
        ref base_station,
        ref stations,
        ref ofdma,
        bandwidth_hz,
        cyclic_prefix: _,
        frame,
        downlink_share,
        transmit_gap,
        receive_gap,
        burst_profile,
        station_profiles: _,
        map_profile: _,
        unsolicited_grants: _,
        real_time_polling: _,
        non_real_time_polling: _,
        packing: _,
        ref arq,
        requests: Requests { opportunities, backoff_start, backoff_end, retries, t16, beyond_standard: _ },
        ref entry,
        queue,
        mtu_bytes,
    } = model;
    let clock = clock(model)?;
    let layout = FrameLayout::new(clock, frame, transmit_gap, receive_gap, downlink_share);
    let layout = match ofdma {
        Some(ofdma) => layout.with_slots(ofdma.pusc(bandwidth_hz)?),
        None => layout,
    };
    Some(CellConfig {
        layout,
        map_profile: model.maps().network(),
        request_opportunities: opportunities,
        contention: ContentionConfig {
            backoff_start,
            backoff_end,
            retries,
            timeout: t16.unwrap_or(LEAST_T16.max(frame + frame)),
        },
        queue: queue_limit(queue),
        rule: queue.rule(rate_bps(&layout, burst_profile.network()), mtu_bytes as u32),
        mtu_bytes: mtu_bytes as u32,
        arq: arq.as_ref().map(|arq| arq.config(mtu_bytes)),
        entry: entry.as_ref().map(|entry| {
            let places = stations.iter().map(|name| place(name)).collect();
            entry.config(model, place(base_station), places)
        }),
        stations: stations.iter().map(|name| station(model, name)).collect(),
        flows: flows(model),
    })
}

/// The clock of its symbols; `None` where the standard has no such channel.
pub(super) fn clock(model: &Wimax) -> Option<SymbolClock> {
    let (bandwidth_hz, prefix) = (model.bandwidth_hz, model.cyclic_prefix.network());
    match &model.ofdma {
        None => SymbolClock::new(bandwidth_hz, prefix),
        Some(ofdma) => Pusc::clock(bandwidth_hz, ofdma.subcarriers_of(bandwidth_hz), prefix),
    }
}

/// What a burst profile carries on the downlink, one symbol behind the other.
fn rate_bps(layout: &FrameLayout, profile: BurstProfile) -> u64 {
    let unit_bytes = layout.unit().bytes(profile);
    let ns = layout.airtime(unit_bytes, profile, false).as_ns();
    u64::from(unit_bytes) * 8 * 1_000_000_000 / ns.max(1)
}

fn station(model: &Wimax, name: &str) -> StationConfig {
    let (downlink, uplink) = model.profiles(name);
    // What goes by no service of its own class of packets.
    let of = |entry: &Served<'_>| entry.dscp.is_none() && entry.stations.iter().any(|own| own == name);
    let served = model.served().into_iter().find(of);
    let (service, packing, arq) = served
        .map_or((Service::BestEffort, model.packing, model.arq.is_some()), |entry| {
            (entry.service, entry.packing, entry.arq)
        });
    let (downlink, uplink) = (downlink.network(), uplink.network());
    StationConfig { downlink, uplink, service, packing, arq }
}

/// The service flows for classes of packets.
fn flows(model: &Wimax) -> Vec<FlowConfig> {
    let mut flows = Vec::new();
    for Served { place: _, stations, dscp, service, packing, arq } in model.served() {
        let Some(dscp) = dscp else { continue };
        let dscps = dscp.iter().fold(0, |dscps, class| dscps | 1 << class.codepoint());
        let numbers = stations.iter().filter_map(|name| model.stations.iter().position(|own| own == name));
        let of = |station: usize| FlowConfig { station: station as u32, service, dscps, packing, arq };
        flows.extend(numbers.map(of));
    }
    flows
}

/// The machine of a cell that was checked.
pub(super) fn machine(model: &Wimax, builder: &Builder<'_>) -> AnyLink {
    let Some(config) = config(model, |name| builder.trajectory(name)) else {
        unreachable!("a channel of the standard was checked")
    };
    let Wimax { name, stations, .. } = model;
    let stream = |station: usize, purpose: &str| {
        builder.stream("wimax", name, &[&escaped(&stations[station]), purpose])
    };
    AnyLink::Wimax(Box::new(Cell::new(config, stream)))
}
