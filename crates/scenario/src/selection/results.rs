//! `selection`: one row a node that selects, then one a flow with a policy of its own; `interfaces`: one row
//! an interface of a node; `switches`: one row a change. Only where a node selects. `energy`: one row an
//! interface whose radio has a power.

use roamsim_engine::Time;
use roamsim_network::World;
use roamsim_network::network::Senders;
use roamsim_network::selection::{Candidate, Selection};

use crate::table::{Table, float, integer, text};

const OCTETS_PER_MB: f64 = 1e6;

/// An interface and what it has carried.
struct Row<'a> {
    selection: &'a Selection,
    candidate: &'a Candidate,
    /// From the node, and to it.
    bytes: [u64; 2],
}

impl Row<'_> {
    /// NaN without a price.
    fn cost(&self) -> f64 {
        let bytes = self.bytes[0] + self.bytes[1];
        self.candidate.cost_per_mb.map_or(f64::NAN, |cost| cost * bytes as f64 / OCTETS_PER_MB)
    }
}

pub(crate) fn tables(world: &World, end: Time) -> Vec<Table> {
    let mut senders = Senders::default();
    // Those of flows share the interfaces of their nodes.
    let all = world.selections.of_nodes();
    let own = all.flat_map(|selection| selection.candidates.iter().map(move |one| (selection, one)));
    let rows: Vec<Row<'_>> = own
        .map(|(selection, candidate)| {
            let stats = world.network.sent_at(end, candidate.interface, &mut senders);
            Row { selection, candidate, bytes: stats.map(|stats| stats.sent_bytes) }
        })
        .collect();
    let mut tables = vec![totals(world, &rows), interfaces(world, &rows), switches(world)];
    tables.extend(energy(world, &rows));
    tables
}

fn node(world: &World, selection: &Selection) -> String {
    world.network.topology.node(selection.config.node).name.to_string()
}

fn link(world: &World, candidate: &Candidate) -> String {
    world.network.topology.interface(candidate.interface).name.to_string()
}

fn totals(world: &World, rows: &[Row<'_>]) -> Table {
    let all = || world.selections.all.iter();
    let count = |of: fn(&Selection) -> usize| all().map(move |selection| of(selection) as u64);
    let between =
        |selection: &Selection| selection.switches.iter().filter(|one| one.is_between_interfaces()).count();
    // Rows are in the order of the selections, those of nodes first.
    let mut rest = rows;
    let costs: Vec<f64> = all()
        .map(|selection| {
            if selection.config.of_one_flow {
                return f64::NAN;
            }
            let (own, behind) = rest.split_at(selection.candidates.len());
            rest = behind;
            let known = own.iter().map(Row::cost).filter(|cost| !cost.is_nan());
            known.reduce(|sum, cost| sum + cost).unwrap_or(f64::NAN)
        })
        .collect();
    Table {
        name: "selection",
        columns: vec![
            text("name", all().map(|selection| selection.config.name.clone())),
            text("node", all().map(|selection| node(world, selection))),
            text("policy", all().map(|selection| selection.config.policy_name.clone())),
            text("scheme", all().map(|selection| selection.config.scheme.name().to_owned())),
            integer("switches", "switches", count(between)),
            integer(
                "ping_pongs",
                "switches",
                count(|selection| selection.switches.iter().filter(|one| one.ping_pong).count()),
            ),
            float("without_s", "s", all().map(|selection| selection.without.as_secs_f64())),
            float("cost", "", costs.into_iter()),
        ],
    }
}

fn interfaces(world: &World, rows: &[Row<'_>]) -> Table {
    Table {
        name: "interfaces",
        columns: vec![
            text("name", rows.iter().map(|row| row.selection.config.name.clone())),
            text("node", rows.iter().map(|row| node(world, row.selection))),
            text("link", rows.iter().map(|row| link(world, row.candidate))),
            integer("selections", "switches", rows.iter().map(|row| row.candidate.stay.selections)),
            float("selected_s", "s", rows.iter().map(|row| row.candidate.stay.selected.as_secs_f64())),
            float("up_s", "s", rows.iter().map(|row| row.candidate.stay.up.as_secs_f64())),
            integer("sent_bytes", "B", rows.iter().map(|row| row.bytes[0])),
            integer("received_bytes", "B", rows.iter().map(|row| row.bytes[1])),
            float("cost", "", rows.iter().map(Row::cost)),
        ],
    }
}

fn energy(world: &World, rows: &[Row<'_>]) -> Option<Table> {
    let powered = || rows.iter().filter_map(|row| Some((row, row.candidate.power?)));
    powered().next()?;
    let parts: Vec<[f64; 3]> = powered()
        .map(|(row, power)| {
            let stay = row.candidate.stay;
            let bytes = row.bytes[0] + row.bytes[1];
            [
                power.up_w * stay.up.saturating_sub(stay.active).as_secs_f64(),
                power.selected_w * stay.active.as_secs_f64(),
                power.j_per_mb * bytes as f64 / OCTETS_PER_MB,
            ]
        })
        .collect();
    let part = |name, at: usize| float(name, "J", parts.iter().map(move |parts| parts[at]));
    Some(Table {
        name: "energy",
        columns: vec![
            text("name", powered().map(|(row, _)| row.selection.config.name.clone())),
            text("node", powered().map(|(row, _)| node(world, row.selection))),
            text("link", powered().map(|(row, _)| link(world, row.candidate))),
            part("up_j", 0),
            part("selected_j", 1),
            part("traffic_j", 2),
            float("energy_j", "J", parts.iter().map(|parts| parts.iter().sum())),
        ],
    })
}

fn switches(world: &World) -> Table {
    let all = world.selections.all.iter();
    let rows: Vec<_> =
        all.flat_map(|selection| selection.switches.iter().map(move |one| (selection, one))).collect();
    let place = |(selection, at): (&Selection, Option<usize>)| {
        at.map_or(String::new(), |at| link(world, &selection.candidates[at]))
    };
    Table {
        name: "switches",
        columns: vec![
            text("name", rows.iter().map(|(selection, _)| selection.config.name.clone())),
            text("node", rows.iter().map(|(selection, _)| node(world, selection))),
            float("time_s", "s", rows.iter().map(|(_, one)| one.time.as_secs_f64())),
            text("from_link", rows.iter().map(|(selection, one)| place((selection, one.from)))),
            text("to_link", rows.iter().map(|(selection, one)| place((selection, one.to)))),
            text("reason", rows.iter().map(|(_, one)| one.reason.name().to_owned())),
            float("stay_s", "s", rows.iter().map(|(_, one)| one.stay.as_secs_f64())),
            integer("ping_pong", "", rows.iter().map(|(_, one)| u64::from(one.ping_pong))),
        ],
    }
}
