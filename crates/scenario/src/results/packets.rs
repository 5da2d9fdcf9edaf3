//! `packets`: the story of every packet, a line an event, in order of time.

use crate::table::{Table, float, integer, named};
use roamsim_network::World;
use roamsim_network::recorder::PacketRow;
use roamsim_network::subject::Subject;

pub(crate) fn table(world: &World, rows: &[PacketRow]) -> Table {
    let way = |row: &PacketRow| row.way;
    let named_way = |way: &Option<Subject>| way.map(|way| world.named(way));
    Table {
        name: "packets",
        columns: vec![
            integer("packet_id", "", rows.iter().map(|row| row.packet.0)),
            float("time_s", "s", rows.iter().map(|row| row.time.as_secs_f64())),
            named("event", rows.iter().map(|row| row.event.name()), |name| (*name).to_owned()),
            named("node", rows.iter().map(|row| row.node), |&node| {
                world.network.topology.node(node).name.to_string()
            }),
            named("destination", rows.iter().map(|row| row.destination), |address| {
                let topology = &world.network.topology;
                address.map_or_else(String::new, |to| topology.owner_name(to).to_string())
            }),
            named("flow", rows.iter().map(|row| row.socket), |socket| {
                socket.map_or_else(String::new, |to| world.named(Subject::Socket(to)).name.to_owned())
            }),
            named("name", rows.iter().map(way), |way| {
                named_way(way).map_or_else(String::new, |way| way.name.to_owned())
            }),
            named("to", rows.iter().map(way), |way| {
                named_way(way).map_or_else(String::new, |way| way.to.to_owned())
            }),
            named("reason", rows.iter().map(|row| row.reason), |reason| {
                reason.map_or_else(String::new, |why| why.to_string())
            }),
            named("protocol", rows.iter().map(|row| row.protocol), |name| (*name).to_owned()),
            named("description", rows.iter().map(|row| row.description.as_str()), |words| {
                (*words).to_owned()
            }),
            integer("size_bytes", "B", rows.iter().map(|row| u64::from(row.size_bytes))),
        ],
    }
}
