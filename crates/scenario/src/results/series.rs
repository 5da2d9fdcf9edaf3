//! `series`: one row a part of the run and a flow, or a direction of a link. What a link did not have anything to do with has no rows.

use crate::table::{Table, float, integer, named, ratio};
use roamsim_engine::Time;
use roamsim_network::World;
use roamsim_network::subject::{Named, Subject, TO_ALL};
use roamsim_network::world::{FlowPart, LinkPart, LinkParts, Series};

/// How the sum of the flows is named that have no rows of their own.
const OTHERS: Named<'static> = Named { kind: "flows", name: "(others)", from: TO_ALL, to: TO_ALL };

struct Row<'a> {
    part: usize,
    of: Named<'a>,
    delivered_bytes: f64,
    lost_packets: u64,
    queue_delay_s: f64,
    cwnd_bytes: f64,
}

fn of_flow<'a>(of: Named<'a>, (part, did): (usize, &FlowPart)) -> Row<'a> {
    Row {
        part,
        of,
        delivered_bytes: did.delivered_bytes as f64,
        lost_packets: did.lost_packets,
        queue_delay_s: f64::NAN,
        cwnd_bytes: did.cwnd_bytes.map_or(f64::NAN, |bytes| bytes as f64),
    }
}

fn of_link<'a>(of: Named<'a>, (part, did): (usize, &LinkPart)) -> Row<'a> {
    Row {
        part,
        of,
        delivered_bytes: f64::NAN,
        lost_packets: did.lost_packets,
        queue_delay_s: ratio(did.waited.as_secs_f64(), did.sent_packets as f64),
        cwnd_bytes: f64::NAN,
    }
}

fn rows<'a>(world: &'a World, series: &Series) -> Vec<Row<'a>> {
    let mut rows = Vec::new();
    for (number, flow) in (0..).zip(&series.flows) {
        let of = world.named(Subject::Flow(number));
        rows.extend(flow.parts.iter().enumerate().map(|part| of_flow(of, part)));
    }
    if let Some(others) = &series.other_flows {
        rows.extend(others.parts.iter().enumerate().map(|part| of_flow(OTHERS, part)));
    }
    let topology = &world.network.topology;
    for LinkParts { way, parts, .. } in &series.links {
        let used = parts.iter().any(|part| part.sent_packets > 0 || part.lost_packets > 0);
        if !used {
            continue;
        }
        let node = |address| topology.node(topology.interface(address).node).name.as_str();
        let name = topology.interface(way.at).name.as_str();
        let of = Named { kind: "link", name, from: node(way.at), to: way.to.map_or(TO_ALL, node) };
        rows.extend(parts.iter().enumerate().map(|part| of_link(of, part)));
    }
    rows
}

pub(crate) fn table(world: &World, series: &Series) -> Table {
    let rows = rows(world, series);
    let begin = |part: usize| part.checked_sub(1).map_or(Time::ZERO, |before| series.ends[before]);
    let of = |name, part: for<'a> fn(&'a Named<'a>) -> &'a str| {
        named(name, rows.iter().map(|row| part(&row.of)), |name| (*name).to_owned())
    };
    Table {
        name: "series",
        columns: vec![
            float("begin_s", "s", rows.iter().map(|row| begin(row.part).as_secs_f64())),
            float("end_s", "s", rows.iter().map(|row| series.ends[row.part].as_secs_f64())),
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
