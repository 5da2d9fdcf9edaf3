//! `samples`: time series, in order of recording, and those that links recorded by themselves in their places among
//! them.

use crate::model::scenario::Scenario;
use crate::table::{Table, float, text};
use roamsim_network::World;
use roamsim_network::recorder::{Recorder, Series};
use roamsim_network::subject::Named;

/// A value of a time series.
pub(crate) struct Sample<'a> {
    pub(crate) time_s: f64,
    pub(crate) of: Named<'a>,
    pub(crate) quantity: &'static str,
    pub(crate) value: f64,
    pub(crate) unit: &'static str,
}

pub(super) fn table(scenario: &Scenario, world: &World, recorder: &Recorder) -> Table {
    let probe = &recorder.probe;
    let mut samples: Vec<Sample<'_>> = probe
        .samples()
        .iter()
        .map(|sample| {
            let &Series { subject, quantity, unit } = probe.description(sample.series);
            let time_s = sample.time.as_secs_f64();
            Sample { time_s, of: world.named(subject), quantity, value: sample.value, unit }
        })
        .collect();
    let own: Vec<Sample<'_>> =
        scenario.technologies().flat_map(|technology| technology.samples(world)).collect();
    if !own.is_empty() {
        samples.extend(own);
        samples.sort_by(|a, b| a.time_s.total_cmp(&b.time_s));
    }
    Table {
        name: "samples",
        columns: vec![
            float("time_s", "s", samples.iter().map(|sample| sample.time_s)),
            text("kind", samples.iter().map(|sample| sample.of.kind.to_owned())),
            text("name", samples.iter().map(|sample| sample.of.name.to_owned())),
            text("from", samples.iter().map(|sample| sample.of.from.to_owned())),
            text("to", samples.iter().map(|sample| sample.of.to.to_owned())),
            text("quantity", samples.iter().map(|sample| sample.quantity.to_owned())),
            float("value", "", samples.iter().map(|sample| sample.value)),
            text("unit", samples.iter().map(|sample| sample.unit.to_owned())),
        ],
    }
}
