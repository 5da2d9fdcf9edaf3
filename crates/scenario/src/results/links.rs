//! `links`: one row a direction of a link.

use crate::table::{Table, float, integer, ratio, text};
use roamsim_engine::Time;
use roamsim_network::World;
use roamsim_network::link::{Attachment, Link, LinkStats, Sender};
use roamsim_network::subject::TO_ALL;

struct Row<'w> {
    name: &'w str,
    from: &'w str,
    to: &'w str,
    stats: LinkStats,
}

pub(super) fn table(world: &World, end: Time) -> Table {
    let interface = |address| world.network.topology.interface(address);
    let node = |address| world.network.topology.node(interface(address).node).name.as_ref();
    let mut rows = Vec::new();
    for link in world.network.links() {
        let at = |Attachment(attachment)| node(link.addresses[attachment as usize]);
        for Sender { from, to } in link.link.senders() {
            rows.push(Row {
                // Several accesses may be one link.
                name: &interface(link.addresses[from.0 as usize]).name,
                from: at(from),
                to: to.map_or(TO_ALL, at),
                stats: world.link_measurement(link.number, from, end),
            });
        }
    }
    let duration_s = world.measured(end).as_secs_f64();
    Table {
        name: "links",
        columns: vec![
            text("name", rows.iter().map(|row| row.name)),
            text("from", rows.iter().map(|row| row.from)),
            text("to", rows.iter().map(|row| row.to)),
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
