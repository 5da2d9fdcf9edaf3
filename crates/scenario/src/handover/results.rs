//! `handovers`: one row a change of cell, in order of their beginnings; `handover_flows`: one row a handover
//! and flow of its station, those of handovers by MIH users that changed no cell as well. Only where there
//! are cells.

use crate::table::{Column, Table, float, integer, text};
use roamsim_engine::{Span, Time};
use roamsim_network::World;
use roamsim_network::flow::{Association, Flow};
use roamsim_network::handover::record::{Handover, Losses};
use roamsim_network::socket::SocketId;
use roamsim_network::topology::NodeId;
use std::collections::BTreeMap;

fn seconds(time: Option<Time>) -> f64 {
    time.map_or(f64::NAN, Time::as_secs_f64)
}

/// The flows from and to each node, in their order.
fn flows_of(world: &World) -> BTreeMap<NodeId, Vec<u32>> {
    let mut flows: BTreeMap<NodeId, Vec<u32>> = BTreeMap::new();
    for (number, flow) in (0..).zip(&world.flows) {
        let Association { source, sink } = flow.association;
        for socket in [source, sink] {
            flows.entry(world.node(socket)).or_default().push(number);
        }
    }
    flows
}

/// One direction of a handover: its name, the last packet on the old path, the first on the new.
type OneWay = (&'static str, Option<Time>, Option<Time>);

/// The directions of a handover in which its station has data to carry: those of its flows that send while it
/// lasts, of requests and responses both. Of a station without flows, which has signalling alone, both.
fn directions<'a>(world: &'a World, flows: &'a [u32], handover: &Handover) -> impl Iterator<Item = OneWay> {
    let ended = handover.completed.unwrap_or(handover.begun);
    let sends = |flow: &&Flow| {
        let activity = flow.source.activity();
        let until = flow.measurement.completed_at.unwrap_or(activity.stop);
        activity.start <= ended && until >= handover.detected
    };
    let sending: Vec<&Flow> = flows.iter().map(|&flow| &world.flows[flow as usize]).filter(sends).collect();
    let carries = |end: fn(Association) -> SocketId| {
        let takes =
            |flow: &&Flow| flow.server.is_some() || world.node(end(flow.association)) == handover.node;
        flows.is_empty() || sending.iter().any(takes)
    };
    let uplink = ("uplink", handover.last_uplink_old, handover.first_uplink_new);
    let downlink = ("downlink", handover.last_downlink_old, handover.first_downlink_new);
    let uplink = carries(|association| association.source).then_some(uplink);
    uplink.into_iter().chain(carries(|association| association.sink).then_some(downlink))
}

/// The longest time without packets, from the last on the old path to the first on the new, of the directions
/// that packets have taken on both; below zero where both bring packets for a while. And which direction that
/// is.
fn interruption(ways: impl Iterator<Item = OneWay>) -> Option<(f64, &'static str)> {
    let gaps =
        ways.filter_map(|(name, last, first)| Some((first?.as_secs_f64() - last?.as_secs_f64(), name)));
    gaps.max_by(|a, b| a.0.total_cmp(&b.0))
}

/// The time that the handover took: from finding out that it was needed to being able to use the new path.
fn handover_s(handover: &Handover) -> f64 {
    seconds(handover.completed) - handover.detected.as_secs_f64()
}

/// The columns that say which handover a row is of.
fn which<'a>(world: &World, rows: impl Iterator<Item = &'a Handover> + Clone) -> [Column; 4] {
    let cell = |cell: u32| world.handovers.cells[cell as usize].name.as_str();
    [
        text("node", rows.clone().map(|row| world.network.topology.node(row.node).name.as_ref())),
        text("scheme", rows.clone().map(|row| row.scheme)),
        text("from_cell", rows.clone().map(|row| cell(row.from))),
        text("to_cell", rows.map(|row| row.to.map_or("", cell))),
    ]
}

pub(crate) fn tables(world: &World) -> [Table; 2] {
    let flows = flows_of(world);
    [handovers(world, &flows), handover_flows(world, &flows)]
}

fn handovers(world: &World, flows: &BTreeMap<NodeId, Vec<u32>>) -> Table {
    let rows = || world.handovers.records.iter().filter(|row| row.changes_cell());
    let time =
        |name, of: fn(&Handover) -> Option<Time>| float(name, "s", rows().map(move |row| seconds(of(row))));
    let lost =
        |name, of: fn(&Losses) -> u64| integer(name, "packets", rows().map(move |row| of(&row.losses)));
    let interruptions: Vec<_> = rows()
        .map(|row| interruption(directions(world, flows.get(&row.node).map_or(&[][..], Vec::as_slice), row)))
        .collect();
    let [node, scheme, from, to] = which(world, rows());
    Table {
        name: "handovers",
        columns: vec![
            node,
            scheme,
            from,
            to,
            time("last_packet_old_s", Handover::last_packet_old),
            time("detected_s", |row| Some(row.detected)),
            time("begun_s", |row| Some(row.begun)),
            time("completed_s", |row| row.completed),
            time("first_packet_new_s", Handover::first_packet_new),
            float("handover_s", "s", rows().map(handover_s)),
            time("first_uplink_new_s", |row| row.first_uplink_new),
            time("first_downlink_new_s", |row| row.first_downlink_new),
            float("interruption_s", "s", interruptions.iter().map(|it| it.map_or(f64::NAN, |(s, _)| s))),
            text("interrupted", interruptions.iter().map(|it| it.map_or("", |(_, way)| way))),
            integer("requests", "messages", rows().map(|row| row.requests)),
            lost("lost_out_of_reach", |losses| losses.out_of_reach),
            lost("lost_radio_error", |losses| losses.radio_error),
            lost("lost_no_cell", |losses| losses.no_cell),
            lost("lost_queue", |losses| losses.queue),
            lost("lost_agent", |losses| losses.agent),
            lost("lost_tunnel", |losses| losses.tunnel),
            lost("lost_uplink", |losses| losses.uplink),
            lost("lost_downlink", |losses| losses.downlink),
            lost("lost_data", |losses| losses.data),
            lost("lost_acknowledgements", |losses| losses.acknowledgements),
        ],
    }
}

/// A handover and a flow of its station.
struct OfFlow<'a> {
    handover: &'a Handover,
    number: u32,
    flow: &'a Flow,
    /// Packets that it lost: with data, and without.
    lost: [u64; 2],
}

fn handover_flows(world: &World, flows: &BTreeMap<NodeId, Vec<u32>>) -> Table {
    let mut handovers: Vec<&Handover> = world.handovers.records.iter().collect();
    // What led nowhere is known last.
    handovers.sort_by_key(|handover| handover.begun);
    let mut rows = Vec::new();
    for handover in handovers {
        let mut lost: BTreeMap<u32, [u64; 2]> = BTreeMap::new();
        for (&carried, packets) in &handover.losses.by_carried {
            if let Some(flow) = world.flow_of(carried) {
                lost.entry(flow).or_default()[usize::from(!carried.data)] += packets;
            }
        }
        rows.extend(flows.get(&handover.node).into_iter().flatten().map(|&number| OfFlow {
            handover,
            number,
            flow: &world.flows[number as usize],
            lost: lost.get(&number).copied().unwrap_or_default(),
        }));
    }
    let late = |row: &OfFlow<'_>| row.handover.late.get(&row.number).copied().unwrap_or_default() as f64;
    let limit = |row: &OfFlow<'_>| row.flow.source.late_after();
    let [node, scheme, from, to] = which(world, rows.iter().map(|row| row.handover));
    Table {
        name: "handover_flows",
        columns: vec![
            node,
            scheme,
            from,
            to,
            float("begun_s", "s", rows.iter().map(|row| row.handover.begun.as_secs_f64())),
            text("flow", rows.iter().map(|row| row.flow.name.as_ref())),
            text("direction", rows.iter().map(|row| row.flow.direction())),
            integer("lost_data", "packets", rows.iter().map(|row| row.lost[0])),
            integer("lost_acknowledgements", "packets", rows.iter().map(|row| row.lost[1])),
            float(
                "late_messages",
                "messages",
                rows.iter().map(|row| limit(row).map_or(f64::NAN, |_| late(row))),
            ),
            float("late_after_s", "s", rows.iter().map(|row| limit(row).map_or(f64::NAN, Span::as_secs_f64))),
        ],
    }
}
