//! `link_events`: one row a link event, in order.

use crate::table::{Table, float, text};
use roamsim_network::World;
use roamsim_network::link::indication::{LinkEvent, Quality};
use roamsim_network::recorder::LinkEventRow;

pub(crate) fn table(world: &World, rows: &[LinkEventRow]) -> Table {
    let topology = &world.network.topology;
    let value = |name, unit, of: fn(LinkEvent) -> Option<f64>| {
        float(name, unit, rows.iter().map(|row| of(row.event).unwrap_or(f64::NAN)))
    };
    Table {
        name: "link_events",
        columns: vec![
            float("time_s", "s", rows.iter().map(|row| row.time.as_secs_f64())),
            text("link", rows.iter().map(|row| topology.interface(row.at).name.clone())),
            text("node", rows.iter().map(|row| topology.owner_name(row.at))),
            text("event", rows.iter().map(|row| row.event.name().to_owned())),
            text("reason", rows.iter().map(|row| row.event.reason().unwrap_or_default().to_owned())),
            value("time_interval_s", "s", |event| match event {
                LinkEvent::GoingDown { within, .. } | LinkEvent::GoingDownAgain { within, .. } => {
                    Some(within.as_secs_f64())
                }
                _ => None,
            }),
            value("confidence", "", |event| match event {
                LinkEvent::GoingDown { confidence_percent, .. }
                | LinkEvent::GoingDownAgain { confidence_percent, .. } => {
                    Some(f64::from(confidence_percent) / 100.0)
                }
                _ => None,
            }),
            value("distance_m", "m", |event| match event {
                LinkEvent::Detected { quality: Quality::Distance(distance_m) }
                | LinkEvent::ParametersReport { quality: Quality::Distance(distance_m) } => Some(distance_m),
                _ => None,
            }),
            value("signal_dbm", "dBm", |event| match event {
                LinkEvent::Detected { quality: Quality::Signal(signal_dbm) }
                | LinkEvent::ParametersReport { quality: Quality::Signal(signal_dbm) } => Some(signal_dbm),
                _ => None,
            }),
            value("packet_error_rate", "", |event| match event {
                LinkEvent::ErrorReport { packet_error_rate } => Some(packet_error_rate),
                _ => None,
            }),
        ],
    }
}
