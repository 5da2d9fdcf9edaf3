//! `links`: one row a direction of a link.

use crate::table::{Table, float, integer, ratio, text};
use roamsim_engine::Time;
use roamsim_network::World;
use roamsim_network::link::{AnyLink, Attachment, Link, LinkStats};
use roamsim_network::network::LinkView;
use roamsim_network::subject::TO_ALL;

struct Row {
    name: String,
    from: String,
    to: String,
    stats: LinkStats,
}

/// The attachments that send, and where to; `None`: to all.
fn senders(link: &LinkView<'_>) -> Vec<(usize, Option<usize>)> {
    match link.link {
        // A wire is one direction.
        AnyLink::Wire(_) => vec![(0, Some(1))],
        AnyLink::Wifi(_) | AnyLink::Dect(_) => vec![(0, Some(1)), (1, Some(0))],
        AnyLink::Cell(cell) => {
            let stations = cell.stations() as usize;
            let pairs = (1..=stations).map(|down| (down, down + stations));
            let both = pairs.flat_map(|(down, up)| [(down, Some(up)), (up, Some(down))]);
            // Only where something is broadcast.
            let broadcast = cell.broadcasts() > 0;
            both.chain(broadcast.then_some((0, None))).collect()
        }
    }
}

pub(super) fn table(world: &World, end: Time) -> Table {
    let node = |address| {
        let interface = world.network.topology.interface(address);
        world.network.topology.node(interface.node).name.clone()
    };
    let mut rows = Vec::new();
    for link in world.network.links() {
        for (sender, to) in senders(&link) {
            rows.push(Row {
                name: link.name.to_owned(),
                from: node(link.addresses[sender]),
                to: to.map_or_else(|| TO_ALL.to_owned(), |to| node(link.addresses[to])),
                stats: link.link.stats(Attachment(sender as u32), end),
            });
        }
    }
    let duration_s = end.as_secs_f64();
    Table {
        name: "links",
        columns: vec![
            text("name", rows.iter().map(|row| row.name.clone())),
            text("from", rows.iter().map(|row| row.from.clone())),
            text("to", rows.iter().map(|row| row.to.clone())),
            integer("sent_packets", "packets", rows.iter().map(|row| row.stats.sent_packets)),
            integer("sent_bytes", "B", rows.iter().map(|row| row.stats.sent_bytes)),
            integer("delivered_packets", "packets", rows.iter().map(|row| row.stats.delivered_packets)),
            integer("dropped_packets", "packets", rows.iter().map(|row| row.stats.dropped_packets)),
            float("utilisation", "", rows.iter().map(|row| ratio(row.stats.busy.as_secs_f64(), duration_s))),
            float(
                "mean_queue_packets",
                "packets",
                rows.iter().map(|row| ratio(row.stats.waiting.as_secs_f64(), duration_s)),
            ),
            integer("max_queue_packets", "packets", rows.iter().map(|row| row.stats.max_waiting_packets)),
        ],
    }
}
