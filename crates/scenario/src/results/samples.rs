//! `samples`: time series, in order of recording, and those that links recorded by themselves in their places
//! among them.

use crate::model::scenario::Scenario;
use crate::table::{Table, float, named};
use roamsim_engine::Time;
use roamsim_engine::probe::Sample as Recorded;
use roamsim_network::World;
use roamsim_network::recorder::Series;
use roamsim_network::subject::Named;
use std::ops::Range;

/// A value of a time series.
pub(crate) struct Sample<'a> {
    pub(crate) time: Time,
    pub(crate) of: Named<'a>,
    pub(crate) quantity: &'static str,
    pub(crate) value: f64,
    pub(crate) unit: &'static str,
}

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

pub(crate) fn table(samples: &[Sample<'_>]) -> Table {
    let of = |name, part: for<'a> fn(&'a Named<'a>) -> &'a str| {
        named(name, samples.iter().map(|sample| part(&sample.of)), |name| (*name).to_owned())
    };
    let word = |name, part: fn(&Sample<'_>) -> &'static str| {
        named(name, samples.iter().map(part), |name| (*name).to_owned())
    };
    Table {
        name: "samples",
        columns: vec![
            float("time_s", "s", samples.iter().map(|sample| sample.time.as_secs_f64())),
            of("kind", |of| of.kind),
            of("name", |of| of.name),
            of("from", |of| of.from),
            of("to", |of| of.to),
            word("quantity", |sample| sample.quantity),
            float("value", "", samples.iter().map(|sample| sample.value)),
            word("unit", |sample| sample.unit),
        ],
    }
}
