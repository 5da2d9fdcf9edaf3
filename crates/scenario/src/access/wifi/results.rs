//! `wifi` and `wifi_stations`: what the time of Wi-Fi cells was used for.

use crate::table::{Column, Table, float, integer, text};
use roamsim_engine::Span;
use roamsim_network::World;
use roamsim_network::link::wifi::{Cell, MediumTime, RadioTime};
use roamsim_network::link::{AnyLink, Attachment};

/// A cell after the end of the run.
struct Row<'a> {
    name: &'a str,
    cell: &'a Cell,
    /// By radio, the node: first the access point, then the stations.
    nodes: Vec<&'a str>,
}

fn rows(world: &World) -> Vec<Row<'_>> {
    let topology = &world.network.topology;
    let cells = world.network.links().filter_map(|link| {
        let AnyLink::Wifi(cell) = link.link else { return None };
        let node = |Attachment(number): Attachment| {
            let address = link.addresses[number as usize];
            topology.node(topology.owner(address)).name.as_str()
        };
        let stations = (0..cell.station_count() as u32).map(|station| cell.attachments_of(station));
        let mut nodes: Vec<&str> = stations.clone().take(1).map(|(down, _)| node(down)).collect();
        nodes.extend(stations.map(|(_, up)| node(up)));
        Some(Row { name: link.name, cell, nodes })
    });
    cells.collect()
}

/// The tables of a run with any cell; none otherwise.
pub(super) fn tables(world: &World) -> Vec<Table> {
    let rows = rows(world);
    if rows.is_empty() {
        return Vec::new();
    }
    vec![cells(&rows), stations(&rows)]
}

/// One row a cell.
fn cells(rows: &[Row<'_>]) -> Table {
    type Part = fn(&MediumTime) -> Span;
    let parts: [(&str, Part); 5] = [
        ("data_s", |medium| medium.data),
        ("control_s", |medium| medium.control),
        ("collision_s", |medium| medium.collisions),
        ("backoff_s", |medium| medium.backoff),
        ("idle_s", |medium| medium.idle),
    ];
    let mut columns = vec![text("name", rows.iter().map(|row| row.name.to_owned()))];
    columns.extend(parts.map(|(name, part)| {
        float(name, "s", rows.iter().map(|row| part(&row.cell.medium_time()).as_secs_f64()))
    }));
    Table { name: "wifi", columns }
}

/// One row a radio.
fn stations(rows: &[Row<'_>]) -> Table {
    let radios: Vec<(&str, &str, RadioTime)> = rows
        .iter()
        .flat_map(|row| {
            let radio = |(number, &node)| (row.name, node, row.cell.radio_time(number));
            row.nodes.iter().enumerate().map(radio)
        })
        .collect();
    let count = |name, count: fn(&RadioTime) -> u64| -> Column {
        integer(name, "", radios.iter().map(|(.., time)| count(time)))
    };
    let part = |name, part: fn(&RadioTime) -> Span| -> Column {
        float(name, "s", radios.iter().map(|(.., time)| part(time).as_secs_f64()))
    };
    let columns = vec![
        text("name", radios.iter().map(|(cell, ..)| (*cell).to_owned())),
        text("node", radios.iter().map(|(_, node, _)| (*node).to_owned())),
        count("attempts", |time| time.attempts),
        count("failed_attempts", |time| time.failed_attempts),
        part("data_s", |time| time.data),
        part("control_s", |time| time.control),
        part("lost_s", |time| time.lost),
        part("contention_s", |time| time.contention),
    ];
    Table { name: "wifi_stations", columns }
}
