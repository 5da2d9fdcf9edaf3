//! `segments`: what became of the stream of each TCP and SCTP sender, a line an event, in order of time.

use crate::table::{Table, float, integer, named};
use roamsim_network::World;
use roamsim_network::segment_log::SegmentRow;
use roamsim_network::socket::SocketId;
use roamsim_network::subject::{Named, Subject};

pub(crate) fn table(world: &World, rows: &[SegmentRow]) -> Table {
    let of = |name, part: fn(Named<'_>) -> &str| {
        let senders = rows.iter().map(|row| row.part.sender);
        named(name, senders, |&sender: &SocketId| part(world.named(Subject::Socket(sender))).to_owned())
    };
    Table {
        name: "segments",
        columns: vec![
            float("time_s", "s", rows.iter().map(|row| row.time.as_secs_f64())),
            of("kind", |sender| sender.kind),
            of("name", |sender| sender.name),
            of("from", |sender| sender.from),
            of("to", |sender| sender.to),
            named("event", rows.iter().map(|row| row.event.name()), |name| (*name).to_owned()),
            named("reason", rows.iter().map(|row| row.reason), |reason| (*reason).to_owned()),
            integer("start_bytes", "B", rows.iter().map(|row| row.part.octets.start)),
            integer("end_bytes", "B", rows.iter().map(|row| row.part.octets.end)),
        ],
    }
}
