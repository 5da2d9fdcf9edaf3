//! `links`: one row a direction of a link.

use crate::table::{Table, float, integer, ratio, text};
use roamsim_engine::Time;
use roamsim_network::World;
use roamsim_network::link::{Attachment, Link, Sender};
use roamsim_network::subject::TO_ALL;
use roamsim_network::topology::LinkId;
use roamsim_protocols::Address;

struct Row {
    link: LinkId,
    from: Attachment,
    /// The interface that it sends by. Several accesses may be one link.
    at: Address,
    to: Option<Address>,
}

pub(crate) fn table(world: &World, end: Time) -> Table {
    let topology = &world.network.topology;
    // Rows are asked again for each column: there are many, and what they say lies elsewhere.
    let mut rows = Vec::with_capacity(world.network.links().count());
    for link in world.network.links() {
        let at = |Attachment(attachment)| link.addresses[attachment as usize];
        let row = |Sender { from, to }| Row { link: link.number, from, at: at(from), to: to.map(at) };
        rows.extend(link.link.senders().into_iter().map(row));
    }
    let node = |address| topology.owner_name(address);
    let stats = || rows.iter().map(|row| world.link_measurement(row.link, row.from, end));
    let duration_s = world.measured(end).as_secs_f64();
    Table {
        name: "links",
        columns: vec![
            text("name", rows.iter().map(|row| &*topology.interface(row.at).name)),
            text("from", rows.iter().map(|row| node(row.at))),
            text("to", rows.iter().map(|row| row.to.map_or(TO_ALL, node))),
            integer("sent_packets", "packets", stats().map(|stats| stats.sent_packets)),
            integer("sent_bytes", "B", stats().map(|stats| stats.sent_bytes)),
            integer("delivered_packets", "packets", stats().map(|stats| stats.delivered_packets)),
            integer("dropped_packets", "packets", stats().map(|stats| stats.dropped_packets)),
            float("utilisation", "", stats().map(|stats| ratio(stats.busy.as_secs_f64(), duration_s))),
            float(
                "mean_queue_packets",
                "packets",
                stats().map(|stats| ratio(stats.waiting.as_secs_f64(), duration_s)),
            ),
            integer("max_queue_packets", "packets", stats().map(|stats| stats.max_waiting_packets)),
        ],
    }
}
