//! `fast_open`: one row per flow with TCP Fast Open. Only where there is such a flow.

use crate::table::{Table, integer, text};
use roamsim_network::World;
use roamsim_network::subject::Subject;

pub(super) fn tables(world: &World) -> Vec<Table> {
    let flows: Vec<_> = (0_u32..)
        .zip(&world.flows)
        // The end that opens, also of a flow's other direction.
        .filter(|(_, flow)| !flow.reverse)
        .filter_map(|(number, _)| {
            let [source, _] = world.measured_counts(number as usize);
            Some((world.named(Subject::Flow(number)), source.fast_open?))
        })
        .collect();
    if flows.is_empty() {
        return Vec::new();
    }
    vec![Table {
        name: "fast_open",
        columns: vec![
            text("name", flows.iter().map(|(flow, _)| flow.name.to_owned())),
            text("from", flows.iter().map(|(flow, _)| flow.from.to_owned())),
            text("to", flows.iter().map(|(flow, _)| flow.to.to_owned())),
            integer("cookie_requests", "connections", flows.iter().map(|(_, opens)| opens.cookie_requests)),
            integer("data_on_syn", "connections", flows.iter().map(|(_, opens)| opens.data_on_syn)),
            integer("data_taken", "connections", flows.iter().map(|(_, opens)| opens.data_taken)),
        ],
    }]
}
