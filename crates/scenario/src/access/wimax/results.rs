//! `wimax` and `wimax_stations`: what the symbols of 802.16 cells were used for.

use super::model::burst_profile_name;
use crate::table::{Column, Table, float, integer, text};
use roamsim_network::World;
use roamsim_network::link::wimax::phy::PREAMBLE_AND_FCH_SYMBOLS;
use roamsim_network::link::wimax::{Cell, Flow, StationStats};
use roamsim_network::link::{AnyLink, Attachment};

/// A cell after the end of the run.
struct Row<'a> {
    name: &'a str,
    cell: &'a Cell,
    /// Its stations.
    nodes: Vec<&'a str>,
}

fn rows(world: &World) -> Vec<Row<'_>> {
    let topology = &world.network.topology;
    let mut rows = Vec::new();
    for link in world.network.links() {
        let AnyLink::Wimax(cell) = link.link else { continue };
        let interface = |Attachment(number): Attachment| topology.interface(link.addresses[number as usize]);
        let nodes = (0..cell.station_count()).map(|station| {
            let (_, up) = cell.attachments_of(station);
            topology.node(interface(up).node).name.as_str()
        });
        rows.push(Row { name: &interface(cell.attachments_of(0).0).name, cell, nodes: nodes.collect() });
    }
    rows
}

/// The tables of a run with any cell; none otherwise.
pub(super) fn tables(world: &World) -> Vec<Table> {
    let rows = rows(world);
    if rows.is_empty() {
        return Vec::new();
    }
    vec![cells(&rows), stations(&rows), profiles(&rows)]
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
        // A symbol is no whole number of nanoseconds in most channels.
        let seconds = |symbols: u64| symbols as f64 * layout.clock.symbol_s();
        let all = |symbols: u32| seconds(time.frames * u64::from(symbols));
        let (preamble, requests) = (all(PREAMBLE_AND_FCH_SYMBOLS), all(config.request_symbols()));
        let (maps, downlink_data) = (seconds(time.map_symbols), seconds(time.downlink_symbols));
        let (ranging, uplink_data) = (seconds(time.ranging_symbols), seconds(time.uplink_symbols));
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
            text(
                "direction",
                changes.iter().map(|(_, change)| {
                    let direction = if change.flow == Flow::Downlink { "downlink" } else { "uplink" };
                    direction.to_owned()
                }),
            ),
            text("profile", changes.iter().map(|(_, change)| burst_profile_name(change.profile).to_owned())),
        ],
    }
}
