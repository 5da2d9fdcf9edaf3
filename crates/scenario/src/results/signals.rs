//! `signals`: one row a change of what a station that moves hears, and, of each part of the run, the last
//! report of each signal.

use super::link_events;
use crate::table::Table;
use roamsim_network::World;
use roamsim_network::world::Signals;

/// What of a link event it has.
const COLUMNS: [&str; 6] = ["time_s", "link", "node", "event", "distance_m", "signal_dbm"];

/// Where such stations heard anything.
pub(crate) fn table(world: &World, signals: &Signals) -> Option<Table> {
    if signals.rows.is_empty() {
        return None;
    }
    let mut table = link_events::table(world, &signals.rows);
    table.name = "signals";
    table.columns.retain(|column| COLUMNS.contains(&column.name));
    Some(table)
}
