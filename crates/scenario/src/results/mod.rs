//! The result tables of a run, one file a table.

pub(crate) mod drops;
mod handovers;
mod links;
mod messages;
mod packets;
pub(crate) mod samples;
mod segments;

use crate::model::scenario::Scenario;
use crate::run::Trace;
use crate::table::Table;
use crate::{flow, mobile_ip, signalling};
use roamsim_engine::Time;
use roamsim_network::World;

/// All tables of a finished run that lasted until `end`: those asked for with `trace` only when asked for.
pub(crate) fn tables(scenario: &Scenario, world: &World, end: Time, trace: &Trace) -> Vec<Table> {
    let mut tables = vec![
        flow::results::table(world, end),
        signalling::results::table(world, end),
        links::table(world, end),
        drops::table(world),
    ];
    tables.extend(scenario.technologies().flat_map(|technology| technology.tables(world)));
    if !world.handovers.cells.is_empty() {
        tables.push(handovers::table(world));
    }
    if !world.mobile_ip.hosts.is_empty() {
        tables.push(mobile_ip::results::table(world));
    }
    if trace.transactions {
        tables.push(signalling::transactions::table(world));
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
