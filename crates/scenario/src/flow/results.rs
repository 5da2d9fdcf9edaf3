//! `flows`: one row a flow, and one for each direction of a flow with data both ways.

use crate::table::{Column, Table, float, integer, named, ratio, text};
use roamsim_engine::Time;
use roamsim_network::World;
use roamsim_network::application::{DelayStatistics, Measurement};
use roamsim_network::flow::{Association, Flow};
use roamsim_network::socket::{Counts, Repairs, SocketId};
use roamsim_protocols::tcp::Reason;
use std::borrow::Cow;
use std::ops::Deref;

/// A count that streams do not have.
fn messages_only(flow: &Flow, count: u64) -> f64 {
    if flow.is_stream() { f64::NAN } else { count as f64 }
}

/// How the connection of two sockets ended, in the word of the tables; empty over UDP.
pub(crate) fn connection(world: &World, association: Association) -> String {
    world.ending(association).map_or_else(String::new, |ending| ending.name().to_owned())
}

/// What was measured of a flow: mostly where the flow has it.
enum Measured<'a> {
    There(&'a Measurement),
    Here(Box<Measurement>),
}

impl Measured<'_> {
    fn of(measured: Cow<'_, Measurement>) -> Measured<'_> {
        match measured {
            Cow::Borrowed(measured) => Measured::There(measured),
            Cow::Owned(measured) => Measured::Here(Box::new(measured)),
        }
    }
}

impl Deref for Measured<'_> {
    type Target = Measurement;

    fn deref(&self) -> &Measurement {
        match self {
            Measured::There(measured) => measured,
            Measured::Here(measured) => measured,
        }
    }
}

/// The columns that ask the ends of connections, which take half of a flow's memory: once these columns are
/// made the ends may go.
pub(crate) struct OfEnds {
    from: Column,
    to: Column,
    connection: Column,
    segments_sent: Column,
    retransmissions: Column,
    window_probes: Column,
    timeouts: Column,
    fast_retransmits: Column,
    /// Retransmissions by reason, and reductions that were undone.
    repairs: [Column; 6],
}

impl OfEnds {
    pub(crate) fn new(world: &World) -> OfEnds {
        let flows = &world.flows;
        // What the source sent, and the answers of a flow that has a server.
        let sent = |count: fn(Counts) -> u64| {
            flows.iter().enumerate().map(move |(number, flow)| {
                let [source, sink] = world.measured_counts(number);
                count(source) + flow.server.as_ref().map_or(0, |_| count(sink))
            })
        };
        // Not every transport tells.
        let repaired = |name, unit, count: fn(Repairs) -> u64| {
            let of_flows = flows.iter().enumerate().map(|(number, flow)| {
                let [source, sink] = world.measured_counts(number);
                let both = if flow.server.is_some() { source.plus(sink) } else { source };
                both.repairs.map_or(f64::NAN, |told| count(told) as f64)
            });
            float(name, unit, of_flows)
        };
        // By its number, which is shorter than a name: there may be many.
        let node = |name, of: fn(&Flow) -> SocketId| {
            let nodes = flows.iter().map(|flow| world.node(of(flow)));
            named(name, nodes, |&node| world.network.topology.node(node).name.to_string())
        };
        let connections = flows.iter().map(|flow| match &flow.connections {
            None => connection(world, flow.association),
            // Each transfer has one of its own.
            Some(_) => String::new(),
        });
        OfEnds {
            from: node("from", |flow| flow.association.source),
            to: node("to", |flow| flow.association.sink),
            connection: text("connection", connections),
            segments_sent: integer("segments_sent", "segments", sent(|sent| sent.segments)),
            retransmissions: integer("retransmissions", "segments", sent(|sent| sent.retransmissions)),
            window_probes: integer("window_probes", "segments", sent(|sent| sent.window_probes)),
            timeouts: integer("timeouts", "", sent(|sent| sent.timeouts)),
            fast_retransmits: integer("fast_retransmits", "", sent(|sent| sent.fast_retransmits)),
            repairs: [
                repaired("duplicate_ack_retransmissions", "segments", |told| told.of(Reason::DuplicateAcks)),
                repaired("rack_retransmissions", "segments", |told| told.of(Reason::Rack)),
                repaired("loss_probe_retransmissions", "segments", |told| told.of(Reason::LossProbe)),
                repaired("timeout_retransmissions", "segments", |told| told.of(Reason::Timeout)),
                repaired("path_removed_retransmissions", "segments", |told| told.path_removed),
                repaired("undone_reductions", "", |told| told.undone),
            ],
        }
    }
}

pub(crate) fn table(world: &World, end: Time, of_ends: OfEnds) -> Table {
    let flows = &world.flows;
    let measured: Vec<_> = (0..flows.len()).map(|flow| Measured::of(world.flow_measurement(flow))).collect();
    let both = || flows.iter().zip(&measured).map(|(flow, measured)| (flow, &**measured));
    let stop = |flow: &Flow| flow.source.activity().stop.min(end);
    // A transfer that is complete was active until then.
    let active_until = |flow: &Flow| flow.measurement.completed_at.unwrap_or(stop(flow));
    let active_from = |flow: &Flow| flow.source.activity().start.max(world.measured_from());
    let active_s = |flow: &Flow| active_until(flow).since(active_from(flow)).as_secs_f64();
    // A stream has none.
    let delays: Vec<_> = both()
        .map(|(flow, measured)| (!flow.is_stream()).then(|| Box::new(measured.delay_statistics())))
        .collect();
    let delay = |name, of: fn(&DelayStatistics) -> f64| {
        float(name, "s", delays.iter().map(move |delays| delays.as_deref().map_or(f64::NAN, of)))
    };
    let lost = |flow: &Flow, measured: &Measurement| messages_only(flow, measured.lost_messages);
    let [duplicate_acks, rack, loss_probes, timeouts, paths_removed, undone] = of_ends.repairs;
    Table {
        name: "flows",
        columns: vec![
            text("name", flows.iter().map(|flow| &flow.name)),
            text("direction", flows.iter().map(|flow| flow.direction())),
            of_ends.from,
            of_ends.to,
            text("protocol", flows.iter().map(|flow| world.protocol(flow.association.source))),
            text("variant", flows.iter().map(|flow| &flow.variant)),
            of_ends.connection,
            text("application", flows.iter().map(|flow| flow.application)),
            float("start_s", "s", flows.iter().map(|flow| flow.source.activity().start.as_secs_f64())),
            float("stop_s", "s", flows.iter().map(|flow| stop(flow).as_secs_f64())),
            float(
                "sent_packets",
                "messages",
                both().map(|(flow, measured)| messages_only(flow, measured.sent_messages)),
            ),
            float("sent_bytes", "B", both().map(|(flow, measured)| messages_only(flow, measured.sent_bytes))),
            float(
                "delivered_packets",
                "messages",
                both().map(|(flow, measured)| messages_only(flow, measured.delivered_messages)),
            ),
            integer("delivered_bytes", "B", measured.iter().map(|measured| measured.delivered_bytes)),
            float(
                "goodput_bps",
                "bit/s",
                both().map(|(flow, measured)| ratio(8.0 * measured.delivered_bytes as f64, active_s(flow))),
            ),
            of_ends.segments_sent,
            of_ends.retransmissions,
            of_ends.window_probes,
            of_ends.timeouts,
            of_ends.fast_retransmits,
            duplicate_acks,
            rack,
            loss_probes,
            timeouts,
            paths_removed,
            undone,
            float(
                "completion_time_s",
                "s",
                flows.iter().map(|flow| {
                    let completed = flow.measurement.completed_at;
                    completed.map_or(f64::NAN, |at| at.since(flow.source.activity().start).as_secs_f64())
                }),
            ),
            delay("mean_delay_s", |delays| delays.mean_s),
            delay("median_delay_s", |delays| delays.median_s),
            delay("p95_delay_s", |delays| delays.p95_s),
            delay("p99_delay_s", |delays| delays.p99_s),
            float("jitter_s", "s", measured.iter().map(|measured| measured.jitter_s())),
            float("lost_packets", "messages", both().map(|(flow, measured)| lost(flow, measured))),
            float(
                "loss_ratio",
                "",
                both().map(|(flow, measured)| {
                    ratio(lost(flow, measured), messages_only(flow, measured.sent_messages))
                }),
            ),
            float("in_time_share", "", measured.iter().map(|measured| measured.in_time_share())),
        ],
    }
}
