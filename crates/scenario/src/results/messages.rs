//! `messages`: one row a message that a flow delivered, in order of delivery. Of requests and responses, the
//! responses, as of the time when they were written.

use crate::table::{Table, float, integer, text};
use roamsim_network::World;
use roamsim_network::recorder::Recorder;
use roamsim_network::subject::Subject;

pub(super) fn table(world: &World, recorder: &Recorder) -> Table {
    let rows = recorder.message_rows();
    let named = || rows.iter().map(|row| world.named(Subject::Flow(row.flow)));
    Table {
        name: "messages",
        columns: vec![
            text("name", named().map(|flow| flow.name.to_owned())),
            text("from", named().map(|flow| flow.from.to_owned())),
            text("to", named().map(|flow| flow.to.to_owned())),
            integer("sequence", "", rows.iter().map(|row| row.sequence)),
            float("generated_s", "s", rows.iter().map(|row| row.generated.as_secs_f64())),
            float("delivered_s", "s", rows.iter().map(|row| row.delivered.as_secs_f64())),
            float("delay_s", "s", rows.iter().map(|row| (row.delivered - row.generated).as_secs_f64())),
            integer("size_bytes", "B", rows.iter().map(|row| u64::from(row.bytes))),
        ],
    }
}
