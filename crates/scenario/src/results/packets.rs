//! `packets`: the story of every packet, a line an event, in order of time.

use crate::table::{Table, float, integer, text};
use roamsim_network::World;
use roamsim_network::recorder::Recorder;
use roamsim_network::subject::Subject;

pub(super) fn table(world: &World, recorder: &Recorder) -> Table {
    let mut rows: Vec<_> = recorder.packet_rows().iter().collect();
    // A loss is known when the packet is queued, but happens when its last bit has been sent.
    rows.sort_by_key(|row| row.time);
    let way = |way: Option<Subject>| way.map(|way| world.named(way));
    Table {
        name: "packets",
        columns: vec![
            integer("packet_id", "", rows.iter().map(|row| row.packet.0)),
            float("time_s", "s", rows.iter().map(|row| row.time.as_secs_f64())),
            text("event", rows.iter().map(|row| row.event.name().to_owned())),
            text("node", rows.iter().map(|row| world.network.topology.node(row.node).name.clone())),
            text(
                "name",
                rows.iter().map(|row| way(row.way).map_or_else(String::new, |way| way.name.to_owned())),
            ),
            text("to", rows.iter().map(|row| way(row.way).map_or_else(String::new, |way| way.to.to_owned()))),
            text("reason", rows.iter().map(|row| row.reason.map_or_else(String::new, |why| why.to_string()))),
            text("protocol", rows.iter().map(|row| row.protocol.to_owned())),
            text("description", rows.iter().map(|row| row.description.clone())),
            integer("size_bytes", "B", rows.iter().map(|row| u64::from(row.size_bytes))),
        ],
    }
}
