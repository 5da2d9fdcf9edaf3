//! `series`: one row a part of the run and a flow, or a direction of a link. What a link did not have
//! anything to do with has no rows.

use crate::table::{Table, float, integer, ratio, repeated};
use roamsim_engine::Time;
use roamsim_network::World;
use roamsim_network::subject::{Named, Subject, TO_ALL};
use roamsim_network::world::{FlowPart, LinkPart, LinkParts, Series};
use std::iter;

/// How the sum of the flows is named that have no rows of their own.
const OTHERS: Named<'static> = Named { kind: "flows", name: "(others)", from: TO_ALL, to: TO_ALL };

struct Row {
    part: usize,
    delivered_bytes: f64,
    lost_packets: u64,
    queue_delay_s: f64,
    cwnd_bytes: f64,
}

fn of_flow((part, did): (usize, &FlowPart)) -> Row {
    Row {
        part,
        delivered_bytes: did.delivered_bytes as f64,
        lost_packets: did.lost_packets,
        queue_delay_s: f64::NAN,
        cwnd_bytes: did.cwnd_bytes.map_or(f64::NAN, |bytes| bytes as f64),
    }
}

fn of_link((part, did): (usize, &LinkPart)) -> Row {
    Row {
        part,
        delivered_bytes: f64::NAN,
        lost_packets: did.lost_packets,
        queue_delay_s: ratio(did.waited.as_secs_f64(), did.sent_packets as f64),
        cwnd_bytes: f64::NAN,
    }
}

/// What has rows, in their order, and the rows: one for each part, of one after the other.
fn rows<'a>(world: &'a World, series: &Series) -> (Vec<Named<'a>>, Vec<Row>) {
    let most = series.flows.len() + series.other_flows.iter().len() + series.links.len();
    let (mut named, mut rows) = (Vec::with_capacity(most), Vec::with_capacity(most * series.ends.len()));
    let own = (0..).zip(&series.flows).map(|(number, flow)| (world.named(Subject::Flow(number)), flow));
    let others = series.other_flows.iter().map(|others| (OTHERS, others));
    for (of, flow) in own.chain(others) {
        rows.extend(flow.parts.iter().enumerate().map(of_flow));
        named.push(of);
    }
    let topology = &world.network.topology;
    for LinkParts { way, parts, .. } in &series.links {
        let used = parts.iter().any(|part| part.sent_packets > 0 || part.lost_packets > 0);
        if !used {
            continue;
        }
        let node = |address| topology.owner_name(address);
        let name = topology.interface(way.at).name.as_ref();
        rows.extend(parts.iter().enumerate().map(of_link));
        named.push(Named { kind: "link", name, from: node(way.at), to: way.to.map_or(TO_ALL, node) });
    }
    (named, rows)
}

pub(crate) fn table(world: &World, series: &Series) -> Table {
    let (named, rows) = rows(world, series);
    let instants_s: Vec<f64> =
        iter::once(&Time::ZERO).chain(&series.ends).map(|instant| instant.as_secs_f64()).collect();
    let of = |name, part: for<'a> fn(&'a Named<'a>) -> &'a str| {
        repeated(name, named.iter().map(part), series.ends.len())
    };
    Table {
        name: "series",
        columns: vec![
            float("begin_s", "s", rows.iter().map(|row| instants_s[row.part])),
            float("end_s", "s", rows.iter().map(|row| instants_s[row.part + 1])),
            of("kind", |of| of.kind),
            of("name", |of| of.name),
            of("from", |of| of.from),
            of("to", |of| of.to),
            float("delivered_bytes", "B", rows.iter().map(|row| row.delivered_bytes)),
            integer("lost_packets", "packets", rows.iter().map(|row| row.lost_packets)),
            float("queue_delay_s", "s", rows.iter().map(|row| row.queue_delay_s)),
            float("cwnd_bytes", "B", rows.iter().map(|row| row.cwnd_bytes)),
        ],
    }
}
