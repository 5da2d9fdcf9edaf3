//! Time series: what was recorded, and what links recorded by themselves in its places among it.

use crate::scenario::Scenario;
use crate::table::sample::Sample;
use roamsim_engine::Time;
use roamsim_engine::probe::Sample as Recorded;
use roamsim_network::World;
use roamsim_network::recorder::Series;
use std::ops::Range;

/// What was recorded, and what accesses logged by themselves in a time, in order.
pub(crate) fn merged<'a>(
    scenario: &Scenario,
    world: &'a World,
    recorded: &[Recorded],
    logged: &Range<Time>,
) -> Vec<Sample<'a>> {
    let mut samples = Vec::new();
    if let Some(recorder) = &world.network.recorder {
        samples.extend(recorded.iter().map(|sample| {
            let &Series { subject, quantity, unit } = recorder.probe.description(sample.series);
            Sample { time: sample.time, of: world.named(subject), quantity, value: sample.value, unit }
        }));
    }
    let own: Vec<Sample<'_>> =
        scenario.technologies().flat_map(|technology| technology.samples(world, logged)).collect();
    if !own.is_empty() {
        samples.extend(own);
        samples.sort_by_key(|sample| sample.time);
    }
    samples
}
