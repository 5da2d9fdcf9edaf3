//! `queues`: one row a direction of a link whose queue is managed, under another discipline than drop-tail,
//! and a flow whose packets went through it. What is for no flow and for no signalling has rows without a
//! flow. Only where there is such a queue.

use crate::table::{Table, float, integer, text};
use roamsim_network::World;
use roamsim_network::durations::Durations;
use roamsim_network::link::{Attachment, Link, Sender};
use roamsim_network::subject::{Subject, TO_ALL};

struct Row<'a> {
    link: &'a str,
    from: &'a str,
    to: &'a str,
    flow: &'a str,
    delays: Durations,
}

pub(super) fn table(world: &World) -> Option<Table> {
    let topology = &world.network.topology;
    let node = |address| topology.owner_name(address);
    let mut rows: Vec<Row<'_>> = Vec::new();
    for link in world.network.links() {
        let address = |Attachment(attachment)| link.addresses[attachment as usize];
        for Sender { from, to } in link.link.senders() {
            let first = rows.len();
            for (socket, delays) in link.link.queues(from).into_iter().flat_map(|queue| queue.delays(from)) {
                let flow = socket.map_or("", |socket| world.named(Subject::Socket(socket)).name);
                // A flow has two sockets or more, and a direction may have several queues.
                match rows[first..].iter_mut().find(|row| row.flow == flow) {
                    Some(row) => row.delays.add_all(delays),
                    None => rows.push(Row {
                        link: topology.interface(address(from)).name.as_ref(),
                        from: node(address(from)),
                        to: to.map_or(TO_ALL, |to| node(address(to))),
                        flow,
                        delays: delays.clone(),
                    }),
                }
            }
        }
    }
    if rows.is_empty() {
        return None;
    }
    Some(Table {
        name: "queues",
        columns: vec![
            text("name", rows.iter().map(|row| row.link.to_owned())),
            text("from", rows.iter().map(|row| row.from.to_owned())),
            text("to", rows.iter().map(|row| row.to.to_owned())),
            text("flow", rows.iter().map(|row| row.flow.to_owned())),
            integer("packets", "packets", rows.iter().map(|row| row.delays.count())),
            float("mean_wait_s", "s", rows.iter().map(|row| row.delays.mean_s())),
            float("p99_wait_s", "s", rows.iter().map(|row| row.delays.percentile_s(99))),
            float("longest_wait_s", "s", rows.iter().map(|row| row.delays.longest_s())),
        ],
    })
}
