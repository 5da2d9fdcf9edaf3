//! `samples`: time series, in order of recording, and those of DECT accesses in their places among them.

use super::dect::{self, Sample};
use crate::table::{Table, float, text};
use roamsim_network::World;
use roamsim_network::recorder::Recorder;

pub(super) fn table(world: &World, recorder: &Recorder) -> Table {
    let probe = &recorder.probe;
    let mut samples: Vec<Sample> = probe
        .samples()
        .iter()
        .map(|sample| {
            let (name, unit) = probe.name(sample.series);
            (sample.time.as_secs_f64(), name.to_owned(), sample.value, unit)
        })
        .collect();
    let accesses = dect::samples(world);
    if !accesses.is_empty() {
        samples.extend(accesses);
        samples.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    Table {
        name: "samples",
        columns: vec![
            float("time_s", "s", samples.iter().map(|sample| sample.0)),
            text("series", samples.iter().map(|sample| sample.1.clone())),
            float("value", "", samples.iter().map(|sample| sample.2)),
            text("unit", samples.iter().map(|sample| sample.3.to_owned())),
        ],
    }
}
