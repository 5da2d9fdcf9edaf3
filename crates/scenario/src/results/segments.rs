//! `segments`: what became of the stream of each TCP and SCTP sender, a line an event, in order of time.

use crate::table::{Table, float, integer, text};
use roamsim_network::World;
use roamsim_network::recorder::Recorder;
use roamsim_network::subject::Subject;

pub(super) fn table(world: &World, recorder: &Recorder) -> Table {
    let mut rows: Vec<_> = recorder.segment_rows().iter().collect();
    // A loss is known when the packet is queued, but happens when its last bit has been sent.
    rows.sort_by_key(|row| row.time);
    let named = || rows.iter().map(|row| world.named(Subject::Socket(row.part.sender)));
    Table {
        name: "segments",
        columns: vec![
            float("time_s", "s", rows.iter().map(|row| row.time.as_secs_f64())),
            text("kind", named().map(|sender| sender.kind.to_owned())),
            text("name", named().map(|sender| sender.name.to_owned())),
            text("from", named().map(|sender| sender.from.to_owned())),
            text("to", named().map(|sender| sender.to.to_owned())),
            text("event", rows.iter().map(|row| row.event.name().to_owned())),
            integer("start_bytes", "B", rows.iter().map(|row| row.part.octets.start)),
            integer("end_bytes", "B", rows.iter().map(|row| row.part.octets.end)),
        ],
    }
}
