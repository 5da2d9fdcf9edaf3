//! `wimax` and its others: what the symbols of 802.16 cells were used for, what stations and service flows
//! did.

use super::burst_profile::burst_profile_name;
use crate::table::{Column, Table, float, integer, text};
use roamsim_network::World;
use roamsim_network::link::wimax::{ArqStats, Cell, Direction, Service, StationStats};
use roamsim_network::link::{AnyLink, Attachment};

/// A cell after the end of the run.
struct Row<'a> {
    name: &'a str,
    cell: &'a Cell,
    /// Its stations.
    nodes: Vec<&'a str>,
}

impl Row<'_> {
    /// Where its block errors are from, if it has any.
    fn block_errors(&self) -> &str {
        let radio = self.cell.config().entry.as_ref().and_then(|entry| entry.radio.as_ref());
        radio.map_or("", |radio| &radio.block_errors.source)
    }
}

fn rows(world: &World) -> Vec<Row<'_>> {
    let topology = &world.network.topology;
    let mut rows = Vec::new();
    for link in world.network.links() {
        let AnyLink::Wimax(cell) = link.link else { continue };
        let address = |Attachment(number): Attachment| link.addresses[number as usize];
        let nodes = (0..cell.station_count()).map(|station| {
            let (_, up) = cell.attachments_of(station);
            topology.owner_name(address(up))
        });
        let name = &topology.interface(address(cell.attachments_of(0).0)).name;
        rows.push(Row { name, cell, nodes: nodes.collect() });
    }
    rows
}

/// The tables of a run with any cell; none otherwise.
pub(super) fn tables(world: &World) -> Vec<Table> {
    let rows = rows(world);
    if rows.is_empty() {
        return Vec::new();
    }
    let mut tables = vec![cells(&rows), stations(&rows), flows(&rows), additions(&rows), profiles(&rows)];
    if rows.iter().any(|row| row.cell.config().arq.is_some()) {
        tables.push(arq(&rows));
    }
    tables
}

/// The time of parts of a frame, in seconds.
struct Parts {
    preamble: f64,
    maps: f64,
    downlink_data: f64,
    downlink_idle: f64,
    requests: f64,
    ranging: f64,
    uplink_data: f64,
    uplink_idle: f64,
    gaps: f64,
}

impl Parts {
    fn of(cell: &Cell) -> Parts {
        let (time, config) = (cell.time(), cell.config());
        let layout = &config.layout;
        // A symbol is no whole number of nanoseconds in most channels; a slot has its part of some.
        let seconds =
            |units: u64, uplink| units as f64 * layout.unit_symbols(uplink) * layout.clock.symbol_s();
        let all = |symbols: u32| f64::from(symbols) * time.frames as f64 * layout.clock.symbol_s();
        let frames = |units: u32, uplink| seconds(time.frames * u64::from(units), uplink);
        let preamble = all(layout.preamble_symbols()) + frames(layout.header_units(), false);
        let requests = frames(config.request_units(), true);
        let (maps, downlink_data) = (seconds(time.map_units, false), seconds(time.downlink_units, false));
        let (ranging, uplink_data) = (seconds(time.ranging_units, true), seconds(time.uplink_units, true));
        let (down, up) = (all(layout.downlink_symbols), all(layout.uplink_symbols));
        Parts {
            preamble,
            maps,
            downlink_data,
            downlink_idle: down - preamble - maps - downlink_data,
            requests,
            ranging,
            uplink_data,
            uplink_idle: up - requests - ranging - uplink_data,
            gaps: time.frames as f64 * layout.duration.as_secs_f64() - down - up,
        }
    }
}

/// One row a cell.
fn cells(rows: &[Row<'_>]) -> Table {
    let parts: Vec<Parts> = rows.iter().map(|row| Parts::of(row.cell)).collect();
    let part = |name, part: fn(&Parts) -> f64| -> Column { float(name, "s", parts.iter().map(part)) };
    Table {
        name: "wimax",
        columns: vec![
            text("name", rows.iter().map(|row| row.name.to_owned())),
            integer("frames", "", rows.iter().map(|row| row.cell.time().frames)),
            integer("busy_frames", "", rows.iter().map(|row| row.cell.time().busy_frames)),
            part("preamble_s", |parts| parts.preamble),
            part("maps_s", |parts| parts.maps),
            part("downlink_data_s", |parts| parts.downlink_data),
            part("downlink_idle_s", |parts| parts.downlink_idle),
            part("requests_s", |parts| parts.requests),
            part("ranging_s", |parts| parts.ranging),
            part("uplink_data_s", |parts| parts.uplink_data),
            part("uplink_idle_s", |parts| parts.uplink_idle),
            part("gaps_s", |parts| parts.gaps),
            text("block_errors", rows.iter().map(|row| row.block_errors().to_owned())),
        ],
    }
}

/// One row a station.
fn stations(rows: &[Row<'_>]) -> Table {
    let stations: Vec<(&str, &str, StationStats)> = rows
        .iter()
        .flat_map(|row| {
            let stats = (0..).zip(&row.nodes).map(|(number, &node)| (node, row.cell.station_stats(number)));
            stats.map(|(node, stats)| (row.name, node, stats))
        })
        .collect();
    let count = |name, unit, count: fn(&StationStats) -> u64| -> Column {
        integer(name, unit, stations.iter().map(|(.., stats)| count(stats)))
    };
    Table {
        name: "wimax_stations",
        columns: vec![
            text("name", stations.iter().map(|(cell, ..)| (*cell).to_owned())),
            text("node", stations.iter().map(|(_, node, _)| (*node).to_owned())),
            count("downlink_pdus", "", |stats| stats.downlink_pdus),
            count("downlink_fragments", "", |stats| stats.downlink_fragments),
            count("uplink_pdus", "", |stats| stats.uplink_pdus),
            count("uplink_fragments", "", |stats| stats.uplink_fragments),
            count("requests", "", |stats| stats.requests),
            count("collided_requests", "", |stats| stats.collided_requests),
            count("piggybacked_requests", "", |stats| stats.piggybacked_requests),
            count("answered_polls", "", |stats| stats.answered_polls),
            count("refused_connections", "", |stats| stats.refused_connections),
            count("grants", "", |stats| stats.grants),
            count("bursts", "", |stats| stats.bursts),
            count("burst_bytes", "B", |stats| stats.burst_bytes),
            count("padding_bytes", "B", |stats| stats.padding_bytes),
            count("ranging_requests", "", |stats| stats.ranging_requests),
            count("collided_ranging_requests", "", |stats| stats.collided_ranging_requests),
            count("lost_pdus", "", |stats| stats.lost_pdus),
            count("given_up", "packets", |stats| stats.given_up),
        ],
    }
}

/// As IEEE Std 802.16-2004 section 6.3.5.2 writes it.
fn service_name(service: Service) -> &'static str {
    match service {
        Service::UnsolicitedGrant { .. } => "UGS",
        Service::RealTimePolling { .. } => "rtPS",
        Service::NonRealTimePolling { .. } => "nrtPS",
        Service::BestEffort => "BE",
    }
}

/// The classes of packets that a service flow is for, as numbers; of all of them nothing.
fn classes(dscps: u64) -> String {
    let numbers = (0..64).filter(|number| dscps != !0 && dscps >> number & 1 != 0);
    numbers.map(|number: u32| number.to_string()).collect::<Vec<_>>().join(" ")
}

/// One row a service flow.
fn flows(rows: &[Row<'_>]) -> Table {
    let flows: Vec<_> = rows
        .iter()
        .flat_map(|row| {
            (0..row.cell.flow_count())
                .map(move |flow| (row, row.cell.flow_config(flow), row.cell.flow_stats(flow)))
        })
        .collect();
    let count = |name, unit, count: fn(&StationStats) -> u64| -> Column {
        integer(name, unit, flows.iter().map(|(.., stats)| count(stats)))
    };
    Table {
        name: "wimax_flows",
        columns: vec![
            text("name", flows.iter().map(|(row, ..)| row.name.to_owned())),
            text("node", flows.iter().map(|(row, flow, _)| row.nodes[flow.station as usize].to_owned())),
            text("service", flows.iter().map(|(_, flow, _)| service_name(flow.service).to_owned())),
            text("dscp", flows.iter().map(|(_, flow, _)| classes(flow.dscps))),
            count("downlink_pdus", "", |stats| stats.downlink_pdus),
            count("downlink_fragments", "", |stats| stats.downlink_fragments),
            count("uplink_pdus", "", |stats| stats.uplink_pdus),
            count("uplink_fragments", "", |stats| stats.uplink_fragments),
            count("requests", "", |stats| stats.requests),
            count("collided_requests", "", |stats| stats.collided_requests),
            count("piggybacked_requests", "", |stats| stats.piggybacked_requests),
            count("answered_polls", "", |stats| stats.answered_polls),
            count("refused_connections", "", |stats| stats.refused_connections),
            count("grants", "", |stats| stats.grants),
            count("bursts", "", |stats| stats.bursts),
            count("burst_bytes", "B", |stats| stats.burst_bytes),
            count("padding_bytes", "B", |stats| stats.padding_bytes),
            count("lost_pdus", "", |stats| stats.lost_pdus),
            count("given_up", "packets", |stats| stats.given_up),
        ],
    }
}

/// One row a service flow that was added to a station as it entered, or refused.
fn additions(rows: &[Row<'_>]) -> Table {
    let additions: Vec<_> = rows
        .iter()
        .flat_map(|row| {
            row.cell.additions().iter().map(move |added| (row, row.cell.flow_config(added.flow), added))
        })
        .collect();
    Table {
        name: "wimax_additions",
        columns: vec![
            text("name", additions.iter().map(|(row, ..)| row.name.to_owned())),
            text("node", additions.iter().map(|(row, flow, _)| row.nodes[flow.station as usize].to_owned())),
            float("time_s", "s", additions.iter().map(|(.., added)| added.at.as_secs_f64())),
            text("service", additions.iter().map(|(.., added)| service_name(added.service).to_owned())),
            text("dscp", additions.iter().map(|(_, flow, _)| classes(flow.dscps))),
            text(
                "outcome",
                additions
                    .iter()
                    .map(|(.., added)| if added.admitted { "admitted" } else { "refused" }.to_owned()),
            ),
        ],
    }
}

/// One row a service flow and direction with ARQ.
fn arq(rows: &[Row<'_>]) -> Table {
    let all = rows.iter().flat_map(|row| {
        (0..row.cell.flow_count()).flat_map(move |flow| {
            Direction::ALL.into_iter().filter_map(move |direction| {
                let stats = row.cell.arq_stats(flow, direction)?;
                Some((row, row.cell.flow_config(flow), direction, stats))
            })
        })
    });
    let all: Vec<_> = all.collect();
    let count = |name, unit, count: fn(&ArqStats) -> u64| -> Column {
        integer(name, unit, all.iter().map(|(.., stats)| count(stats)))
    };
    Table {
        name: "wimax_arq",
        columns: vec![
            text("name", all.iter().map(|(row, ..)| row.name.to_owned())),
            text("node", all.iter().map(|(row, flow, ..)| row.nodes[flow.station as usize].to_owned())),
            text("service", all.iter().map(|(_, flow, ..)| service_name(flow.service).to_owned())),
            text("dscp", all.iter().map(|(_, flow, ..)| classes(flow.dscps))),
            text("direction", all.iter().map(|(.., direction, _)| direction_name(*direction).to_owned())),
            count("sent_blocks", "", |stats| stats.sent_blocks),
            count("repeated_blocks", "", |stats| stats.repeated_blocks),
            count("timed_out_blocks", "", |stats| stats.timed_out_blocks),
            count("discarded_blocks", "", |stats| stats.discarded_blocks),
            count("purged_blocks", "", |stats| stats.purged_blocks),
            count("duplicate_blocks", "", |stats| stats.duplicate_blocks),
            count("feedback_pdus", "", |stats| stats.feedback_pdus),
            count("resets", "", |stats| stats.resets),
        ],
    }
}

fn direction_name(direction: Direction) -> &'static str {
    match direction {
        Direction::Downlink => "downlink",
        Direction::Uplink => "uplink",
    }
}

/// One row a burst profile that adapts, from an entry or a change on.
fn profiles(rows: &[Row<'_>]) -> Table {
    let changes =
        rows.iter().flat_map(|row| row.cell.profile_changes().iter().map(move |change| (row, change)));
    let changes: Vec<_> = changes.collect();
    Table {
        name: "wimax_profiles",
        columns: vec![
            text("name", changes.iter().map(|(row, _)| row.name.to_owned())),
            text("node", changes.iter().map(|(row, change)| row.nodes[change.station as usize].to_owned())),
            float("time_s", "s", changes.iter().map(|(_, change)| change.at.as_secs_f64())),
            text("direction", changes.iter().map(|(_, change)| direction_name(change.direction).to_owned())),
            text("profile", changes.iter().map(|(_, change)| burst_profile_name(change.profile).to_owned())),
        ],
    }
}
