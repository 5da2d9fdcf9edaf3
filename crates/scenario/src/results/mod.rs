//! The result tables of a run, one file a table.

mod drops;
mod flows;
mod handovers;
mod links;
mod messages;
mod mobile_ip;
mod packets;
pub(crate) mod samples;
mod segments;
mod signalling;
mod transactions;

use crate::model::scenario::Scenario;
use crate::run::Trace;
use crate::table::Table;
use roamsim_engine::Time;
use roamsim_network::World;

/// All tables of a finished run that lasted until `end`: those asked for with `trace` only when asked for.
pub(crate) fn tables(scenario: &Scenario, world: &World, end: Time, trace: &Trace) -> Vec<Table> {
    let mut tables = vec![
        flows::table(world, end),
        signalling::table(world, end),
        links::table(world, end),
        drops::table(world),
    ];
    tables.extend(scenario.technologies().flat_map(|technology| technology.tables(world)));
    if !world.handovers.cells.is_empty() {
        tables.push(handovers::table(world));
    }
    if !world.mobile_ip.hosts.is_empty() {
        tables.push(mobile_ip::table(world));
    }
    if trace.transactions {
        tables.push(transactions::table(world));
    }
    tables.extend(scenario.technologies().flat_map(|technology| technology.traced_tables(world, trace)));
    if let Some(recorder) = &world.network.recorder {
        if trace.time_series() {
            tables.push(samples::table(scenario, world, recorder));
        }
        if trace.messages {
            tables.push(messages::table(world, recorder));
        }
        if trace.segments {
            tables.push(segments::table(world, recorder));
        }
        if trace.packets {
            tables.push(packets::table(world, recorder));
        }
    }
    tables
}
