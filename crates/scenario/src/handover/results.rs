//! `handovers`: one row a handover, in order of their beginnings. Only where there are cells.

use crate::table::{Table, float, integer, text};
use roamsim_engine::Time;
use roamsim_network::World;
use roamsim_network::handover::record::{Handover, Losses};

fn seconds(time: Option<Time>) -> f64 {
    time.map_or(f64::NAN, Time::as_secs_f64)
}

/// The time without packets in one direction: from the last on the old path to the first on the new; below zero where
/// both bring packets for a while.
fn gap_s(last: Option<Time>, first: Option<Time>) -> f64 {
    seconds(first) - seconds(last)
}

/// The longer of the two directions, of those that packets have taken on both paths.
fn interruption_s(handover: &Handover) -> f64 {
    let uplink_s = gap_s(handover.last_uplink_old, handover.first_uplink_new);
    uplink_s.max(gap_s(handover.last_downlink_old, handover.first_downlink_new))
}

/// The time that the handover took: from finding out that it was needed to being able to use the new path.
fn handover_s(handover: &Handover) -> f64 {
    seconds(handover.completed) - handover.detected.as_secs_f64()
}

pub(crate) fn table(world: &World) -> Table {
    let rows = &world.handovers.records;
    let cell = |cell: u32| world.handovers.cells[cell as usize].name.clone();
    let time =
        |name, of: fn(&Handover) -> Option<Time>| float(name, "s", rows.iter().map(|row| seconds(of(row))));
    let lost =
        |name, of: fn(&Losses) -> u64| integer(name, "packets", rows.iter().map(|row| of(&row.losses)));
    Table {
        name: "handovers",
        columns: vec![
            text("node", rows.iter().map(|row| world.network.topology.node(row.node).name.clone())),
            text("scheme", rows.iter().map(|row| row.scheme.to_owned())),
            text("from_cell", rows.iter().map(|row| cell(row.from))),
            text("to_cell", rows.iter().map(|row| cell(row.to))),
            time("last_packet_old_s", Handover::last_packet_old),
            time("detected_s", |row| Some(row.detected)),
            time("begun_s", |row| Some(row.begun)),
            time("completed_s", |row| row.completed),
            time("first_packet_new_s", Handover::first_packet_new),
            float("handover_s", "s", rows.iter().map(handover_s)),
            time("first_uplink_new_s", |row| row.first_uplink_new),
            time("first_downlink_new_s", |row| row.first_downlink_new),
            float("interruption_s", "s", rows.iter().map(interruption_s)),
            integer("requests", "messages", rows.iter().map(|row| row.requests)),
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
