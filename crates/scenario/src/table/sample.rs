//! `samples`: time series, in order of recording.

use super::{Table, float, named};
use roamsim_engine::Time;
use roamsim_network::subject::Named;

/// A value of a time series.
pub(crate) struct Sample<'a> {
    pub(crate) time: Time,
    pub(crate) of: Named<'a>,
    pub(crate) quantity: &'static str,
    pub(crate) value: f64,
    pub(crate) unit: &'static str,
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
