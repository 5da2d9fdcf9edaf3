//! `percentiles`: one row a flow of messages, or a signalling entry, and percentile that the scenario asks
//! for; only where it does.

use crate::scenario::Scenario;
use crate::signalling;
use crate::table::{Table, float, integer, text};
use roamsim_network::World;
use roamsim_network::application::delay_percentile_s;
use roamsim_network::subject::Subject;

pub(super) fn table(scenario: &Scenario, world: &World) -> Option<Table> {
    let percentiles = &scenario.general.percentiles;
    if percentiles.is_empty() {
        return None;
    }
    let mut rows = Vec::new();
    for (number, flow) in world.flows.iter().enumerate().filter(|(_, flow)| !flow.is_stream()) {
        let name = world.named(Subject::Flow(number as u32)).name;
        let measured = world.flow_measurement(number);
        let counts = [measured.delivered_messages, measured.sent_messages, measured.lost_messages];
        let of = |&percent: &f64| Row {
            name,
            direction: flow.direction(),
            percent,
            delay_s: measured.delay_percentile_s(percent),
            counts,
        };
        rows.extend(percentiles.iter().map(of));
    }
    for (number, entry) in world.signalling.iter().enumerate() {
        let delays_ns = signalling::results::delays_ns(world, entry);
        let counts = signalling::results::counts(world, number as u32, entry);
        let of = |&percent: &f64| Row {
            name: entry.config.name.as_str(),
            direction: "forward",
            percent,
            delay_s: delay_percentile_s(&delays_ns, percent),
            counts,
        };
        rows.extend(percentiles.iter().map(of));
    }
    let count = |name, which: usize| integer(name, "messages", rows.iter().map(|row| row.counts[which]));
    Some(Table {
        name: "percentiles",
        columns: vec![
            text("name", rows.iter().map(|row| row.name.to_owned())),
            text("direction", rows.iter().map(|row| row.direction.to_owned())),
            float("percent", "", rows.iter().map(|row| row.percent)),
            float("delay_s", "s", rows.iter().map(|row| row.delay_s)),
            count("delivered_packets", 0),
            count("sent_packets", 1),
            count("lost_packets", 2),
        ],
    })
}

struct Row<'a> {
    name: &'a str,
    direction: &'static str,
    percent: f64,
    delay_s: f64,
    /// Messages, or transactions: delivered, sent, lost.
    counts: [u64; 3],
}
