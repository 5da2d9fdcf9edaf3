//! `fragmentation`: one row a sender whose datagrams IP cut into fragments. Only where there is one.

use crate::table::{Table, integer, text};
use roamsim_engine::Time;
use roamsim_network::World;
use roamsim_network::subject::Subject;

pub(super) fn table(world: &World, end: Time) -> Option<Table> {
    let rows: Vec<_> = world
        .fragmenting()
        .map(|(id, sender, receiver)| {
            let named = world.named(Subject::Socket(id));
            (named, sender.fragmented(), receiver.reassembly_timeouts(end))
        })
        .collect();
    (!rows.is_empty()).then(|| Table {
        name: "fragmentation",
        columns: vec![
            text("kind", rows.iter().map(|(named, ..)| named.kind)),
            text("name", rows.iter().map(|(named, ..)| named.name)),
            text("from", rows.iter().map(|(named, ..)| named.from)),
            text("to", rows.iter().map(|(named, ..)| named.to)),
            integer("fragmented_datagrams", "messages", rows.iter().map(|&(_, cut, _)| cut)),
            integer("reassembly_timeouts", "messages", rows.iter().map(|&(.., timeouts)| timeouts)),
        ],
    })
}
