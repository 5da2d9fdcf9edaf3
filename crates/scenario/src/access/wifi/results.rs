//! `wifi`, `wifi_stations` and `wifi_categories`: what the time of Wi-Fi cells was used for. `wifi_rates`:
//! the rates that rate control chose; in `samples`, when asked for, over time.

use crate::table::sample::Sample;
use crate::table::{Column, Table, float, integer, text};
use roamsim_engine::{Span, Time};
use roamsim_network::World;
use roamsim_network::link::wifi::{CATEGORIES, CategoryTime, Cell, MediumTime, RadioTime, RateAttempts};
use roamsim_network::link::{AnyLink, Attachment};
use roamsim_network::subject::Subject;
use roamsim_protocols::Address;
use std::collections::BTreeSet;
use std::ops::Range;

/// A cell after the end of the run.
struct Row<'a> {
    name: &'a str,
    medium: MediumTime,
    /// Its radios, the access point first: the nodes, and what they did.
    radios: Vec<(&'a str, RadioTime)>,
    /// Of its access point, and of stations that no cell before has: the nodes, and what their categories
    /// did.
    categories: Vec<(&'a str, Vec<CategoryTime>)>,
    /// Where rates are not fixed: who sent to whom at which rate.
    rates: Vec<(&'a str, &'a str, RateAttempts)>,
}

fn rows(world: &World) -> Vec<Row<'_>> {
    let topology = &world.network.topology;
    let mut rows = Vec::new();
    for link in world.network.links() {
        let AnyLink::Wifi(machine) = link.link else { continue };
        let address = |Attachment(number): Attachment| link.addresses[number as usize];
        let node = |at| topology.owner_name(address(at));
        // A radio stands in the table once, with the first cell that it is in.
        let mut listed = BTreeSet::new();
        for cell in 0..machine.cell_count() {
            let mut members = machine.members_of(cell).peekable();
            let Some(&(_, down, _)) = members.peek() else { continue };
            let access_point = (node(down), machine.radio_time(cell));
            let tried = |from: Attachment, to: Attachment| {
                machine.rate_attempts(from).into_iter().map(move |tried| (node(from), node(to), tried))
            };
            let both = |(_, down, up)| tried(down, up).chain(tried(up, down));
            let rates = machine.members_of(cell).flat_map(both).collect();
            let mut categories = vec![(node(down), machine.category_times(cell))];
            for (member, _, up) in machine.members_of(cell) {
                let radio = machine.radio_of(member);
                if listed.insert(radio) {
                    categories.push((node(up), machine.category_times(radio)));
                }
            }
            let stations = members.map(|(member, _, up)| (node(up), machine.member_time(member)));
            rows.push(Row {
                name: &topology.interface(address(down)).name,
                medium: machine.medium_time(cell),
                radios: std::iter::once(access_point).chain(stations).collect(),
                categories,
                rates,
            });
        }
    }
    rows
}

/// The tables of a run with any cell; none otherwise.
pub(super) fn tables(world: &World) -> Vec<Table> {
    let rows = rows(world);
    if rows.is_empty() {
        return Vec::new();
    }
    let mut tables = vec![cells(&rows), stations(&rows)];
    if rows.iter().any(|row| !row.rates.is_empty()) {
        tables.push(rates(&rows));
    }
    tables.extend(categories(&rows));
    tables
}

/// One row a radio and access category; none without EDCA.
fn categories(rows: &[Row<'_>]) -> Option<Table> {
    let of_node = |&(cell, node, ref times): &(&str, &str, Vec<CategoryTime>)| -> Vec<_> {
        CATEGORIES
            .into_iter()
            .zip(times.clone())
            .map(|(name, time)| (cell.to_owned(), node.to_owned(), name, time))
            .collect()
    };
    let nodes = rows
        .iter()
        .flat_map(|row| row.categories.iter().map(|(node, times)| (row.name, *node, times.clone())));
    let all: Vec<(String, String, &str, CategoryTime)> = nodes.flat_map(|node| of_node(&node)).collect();
    if all.is_empty() {
        return None;
    }
    let count =
        |name, count: fn(&CategoryTime) -> u64| integer(name, "", all.iter().map(|(.., time)| count(time)));
    let columns = vec![
        text("name", all.iter().map(|(cell, ..)| cell.clone())),
        text("node", all.iter().map(|(_, node, ..)| node.clone())),
        text("category", all.iter().map(|(_, _, name, _)| (*name).to_owned())),
        count("attempts", |time| time.attempts),
        count("failed_attempts", |time| time.failed_attempts),
        count("internal_collisions", |time| time.internal_collisions),
        float("contention_s", "s", all.iter().map(|(.., time)| time.contention.as_secs_f64())),
    ];
    Some(Table { name: "wifi_categories", columns })
}

/// One row a cell.
fn cells(rows: &[Row<'_>]) -> Table {
    type Part = fn(&MediumTime) -> Span;
    let parts: [(&str, Part); 6] = [
        ("data_s", |medium| medium.data),
        ("control_s", |medium| medium.control),
        ("management_s", |medium| medium.management),
        ("collision_s", |medium| medium.collisions),
        ("backoff_s", |medium| medium.backoff),
        ("idle_s", |medium| medium.idle),
    ];
    let mut columns = vec![text("name", rows.iter().map(|row| row.name.to_owned()))];
    columns.extend(
        parts.map(|(name, part)| float(name, "s", rows.iter().map(|row| part(&row.medium).as_secs_f64()))),
    );
    Table { name: "wifi", columns }
}

/// One row a radio.
fn stations(rows: &[Row<'_>]) -> Table {
    let radios: Vec<(&str, &str, RadioTime)> =
        rows.iter().flat_map(|row| row.radios.iter().map(|&(node, time)| (row.name, node, time))).collect();
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
        part("management_s", |time| time.management),
        part("lost_s", |time| time.lost),
        part("contention_s", |time| time.contention),
    ];
    Table { name: "wifi_stations", columns }
}

/// One row a transmitter, receiver and rate.
fn rates(rows: &[Row<'_>]) -> Table {
    let tried: Vec<(&str, &str, &str, RateAttempts)> = rows
        .iter()
        .flat_map(|row| row.rates.iter().map(|&(from, to, tried)| (row.name, from, to, tried)))
        .collect();
    let count = |name, unit, count: fn(&RateAttempts) -> u64| -> Column {
        integer(name, unit, tried.iter().map(|(.., tried)| count(tried)))
    };
    let columns = vec![
        text("name", tried.iter().map(|(cell, ..)| (*cell).to_owned())),
        text("from", tried.iter().map(|(_, from, ..)| (*from).to_owned())),
        text("to", tried.iter().map(|(_, _, to, _)| (*to).to_owned())),
        count("rate_bps", "bit/s", |tried| tried.rate_bps),
        count("attempts", "", |tried| tried.attempts),
        count("failed_attempts", "", |tried| tried.failed_attempts),
    ];
    Table { name: "wifi_rates", columns }
}

/// The media, and the addresses of their attachments.
fn media(world: &World) -> impl Iterator<Item = (&Cell, &[Address])> {
    world.network.links().filter_map(|link| match link.link {
        AnyLink::Wifi(machine) => Some((&**machine, link.addresses)),
        _ => None,
    })
}

/// How many changes of rates were recorded.
pub(super) fn logged(world: &World) -> usize {
    media(world).map(|(machine, _)| machine.rate_changes().len()).sum()
}

/// Those of them in a time, in order.
pub(super) fn samples<'w>(world: &'w World, time: &Range<Time>) -> Vec<Sample<'w>> {
    let mut samples = Vec::new();
    for (machine, addresses) in media(world) {
        let changes = machine.rate_changes();
        let place = |of: Time| changes.partition_point(|change| change.at < of);
        samples.extend(changes[place(time.start)..place(time.end)].iter().map(|change| Sample {
            time: change.at,
            of: world.named(Subject::Interface(addresses[change.from.0 as usize])),
            quantity: "rate",
            value: change.rate_bps as f64,
            unit: "bit/s",
        }));
    }
    samples.sort_by_key(|sample| sample.time);
    samples
}
