//! `states`: the state of the congestion control of each TCP sender, and what it repairs, a line a change.

use crate::table::{Table, float, named};
use roamsim_network::World;
use roamsim_network::recorder::StateRow;
use roamsim_network::subject::{Named, Subject};

pub(crate) fn table(world: &World, rows: &[StateRow]) -> Table {
    let of = |name, part: fn(Named<'_>) -> &str| {
        let senders = rows.iter().map(|row| row.sender);
        named(name, senders, |&sender| part(world.named(Subject::Socket(sender))).to_owned())
    };
    Table {
        name: "states",
        columns: vec![
            float("time_s", "s", rows.iter().map(|row| row.time.as_secs_f64())),
            of("kind", |sender| sender.kind),
            of("name", |sender| sender.name),
            of("from", |sender| sender.from),
            of("to", |sender| sender.to),
            named("state", rows.iter().map(|row| row.state), |state| (*state).to_owned()),
            named("repair", rows.iter().map(|row| row.repair), |repair| (*repair).to_owned()),
        ],
    }
}
