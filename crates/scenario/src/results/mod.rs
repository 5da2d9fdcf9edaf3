//! The result tables of a run, one file a table.

pub(crate) mod drops;
mod ecn;
mod external;
mod fast_open;
mod fragmentation;
pub(crate) mod link_events;
mod links;
pub(crate) mod messages;
pub(crate) mod packets;
mod percentiles;
mod queues;
mod radio_phases;
pub(crate) mod samples;
pub(crate) mod segments;
mod send_buffers;
mod series;
mod signals;
pub(crate) mod states;

pub(crate) use self::links::table as links;
pub(crate) use self::series::table as series;
pub(crate) use self::signals::table as signals;

use crate::application::{transfers, video};
use crate::scenario::Scenario;
use crate::table::Table;
use crate::{handover, mih_handover, mobile_ip, selection, signalling};
use roamsim_engine::Time;
use roamsim_network::World;

/// Where `flows` stands among the tables.
pub(crate) const FLOWS_AT: usize = 0;

/// Where `links` stands then.
pub(crate) const LINKS_AT: usize = 2;

/// The tables of a finished run that lasted until `end`, except for those of traces, and for `flows` and
/// `links`, which are made by themselves.
pub(crate) fn tables(scenario: &Scenario, world: &World, end: Time) -> Vec<Table> {
    let mut tables = vec![signalling::results::table(world, end), drops::table(world)];
    tables.extend(external::table(world));
    tables.extend(percentiles::table(scenario, world));
    tables.extend(queues::table(world));
    tables.extend(ecn::tables(world, end));
    tables.extend(send_buffers::tables(world));
    tables.extend(fast_open::tables(world));
    tables.extend(fragmentation::table(world, end));
    tables.extend(video::results::table(world, end));
    tables.extend(transfers::results::tables(world));
    tables.extend(scenario.technologies().flat_map(|technology| technology.tables(world)));
    tables.extend(signalling::results::commands(world));
    tables.extend(radio_phases::table(world));
    if !world.handovers.cells.is_empty() {
        tables.extend(handover::results::tables(world));
    }
    if !world.mih_handovers.is_empty() || !world.selected_handovers.is_empty() {
        tables.push(mih_handover::results::table(world));
        tables.push(mih_handover::results::users(world));
    }
    if !world.mobile_ip.hosts.is_empty() || !world.mobile_ip.co_located.is_empty() {
        tables.push(mobile_ip::results::table(world));
    }
    if !world.selections.is_empty() {
        tables.extend(selection::results::tables(world, end));
    }
    tables
}
