//! `samples`: time series, in order of recording.

use crate::table::{Table, float, text};
use roamsim_network::recorder::Recorder;

pub(super) fn table(recorder: &Recorder) -> Table {
    let probe = &recorder.probe;
    let samples = probe.samples();
    Table {
        name: "samples",
        columns: vec![
            float("time_s", "s", samples.iter().map(|sample| sample.time.as_secs_f64())),
            text("series", samples.iter().map(|sample| probe.name(sample.series).0.to_owned())),
            float("value", "", samples.iter().map(|sample| sample.value)),
            text("unit", samples.iter().map(|sample| probe.name(sample.series).1.to_owned())),
        ],
    }
}
