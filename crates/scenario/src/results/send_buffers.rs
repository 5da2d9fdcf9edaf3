//! `send_buffers`: one row a flow whose sender, or whose server, has a limit of its buffer. Only where there
//! is such a flow.

use crate::table::{Table, float, integer, text};
use roamsim_network::World;
use roamsim_network::subject::Subject;

pub(super) fn tables(world: &World) -> Vec<Table> {
    let flows: Vec<_> = (0_u32..)
        .zip(&world.flows)
        .filter_map(|(number, flow)| {
            // A server sends what its clients ask for.
            let [source, sink] = world.measured_counts(number as usize);
            let sender = if flow.server.is_some() { sink } else { source };
            Some((world.named(Subject::Flow(number)), flow.direction(), sender.send_buffer?))
        })
        .collect();
    if flows.is_empty() {
        return Vec::new();
    }
    vec![Table {
        name: "send_buffers",
        columns: vec![
            text("name", flows.iter().map(|(flow, ..)| flow.name.to_owned())),
            text("direction", flows.iter().map(|&(_, direction, _)| direction.to_owned())),
            text("from", flows.iter().map(|(flow, ..)| flow.from.to_owned())),
            text("to", flows.iter().map(|(flow, ..)| flow.to.to_owned())),
            integer("size_bytes", "B", flows.iter().map(|(.., buffer)| buffer.size_bytes)),
            float("limited_s", "s", flows.iter().map(|(.., buffer)| buffer.limited.as_secs_f64())),
        ],
    }]
}
