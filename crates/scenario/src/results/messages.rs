//! `messages`: one row a message that a flow delivered, in order of delivery. Of requests and responses, the
//! responses, as of the time when they were written.

use crate::table::{Table, float, integer, named};
use roamsim_network::World;
use roamsim_network::recorder::MessageRow;
use roamsim_network::subject::{Named, Subject};

pub(crate) fn table(world: &World, rows: &[MessageRow]) -> Table {
    let of = |name, part: fn(Named<'_>) -> &str| {
        let flows = rows.iter().map(|row| row.flow);
        named(name, flows, |&flow| part(world.named(Subject::Flow(flow))).to_owned())
    };
    Table {
        name: "messages",
        columns: vec![
            of("name", |flow| flow.name),
            of("from", |flow| flow.from),
            of("to", |flow| flow.to),
            integer("sequence", "", rows.iter().map(|row| row.sequence)),
            float("generated_s", "s", rows.iter().map(|row| row.generated.as_secs_f64())),
            float("delivered_s", "s", rows.iter().map(|row| row.delivered.as_secs_f64())),
            float("delay_s", "s", rows.iter().map(|row| (row.delivered - row.generated).as_secs_f64())),
            integer("size_bytes", "B", rows.iter().map(|row| u64::from(row.bytes))),
        ],
    }
}
