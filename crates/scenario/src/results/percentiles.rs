//! `percentiles`: one row a flow of messages, or a signalling entry, and percentile that the scenario asks for; only where it does.

use crate::model::scenario::Scenario;
use crate::signalling;
use crate::table::{Table, float, text};
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
        let of = |&percent: &f64| (name, flow.direction(), percent, measured.delay_percentile_s(percent));
        rows.extend(percentiles.iter().map(of));
    }
    for entry in &world.signalling {
        let delays_ns = signalling::results::delays_ns(world, entry);
        let of = |&percent: &f64| {
            (entry.config.name.as_str(), "forward", percent, delay_percentile_s(&delays_ns, percent))
        };
        rows.extend(percentiles.iter().map(of));
    }
    Some(Table {
        name: "percentiles",
        columns: vec![
            text("name", rows.iter().map(|(name, ..)| (*name).to_owned())),
            text("direction", rows.iter().map(|(_, direction, ..)| (*direction).to_owned())),
            float("percent", "", rows.iter().map(|&(_, _, percent, _)| percent)),
            float("delay_s", "s", rows.iter().map(|&(.., delay_s)| delay_s)),
        ],
    })
}
