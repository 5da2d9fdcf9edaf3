//! Probes: time series that a run records when asked to, and that cost one untaken branch when not.

use crate::time::Time;

/// One recorded value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// When.
    pub time: Time,
    /// Which series, as returned by [`Probe::series`].
    pub series: u32,
    /// What, in the series' unit.
    pub value: f64,
}

/// The recorder of one run's time series.
#[derive(Clone, Debug, Default)]
pub struct Probe {
    names: Vec<(String, &'static str)>,
    samples: Vec<Sample>,
}

impl Probe {
    /// Opens a series, `name` ("flow ftp/cwnd") in `unit` ("B"), and returns its number.
    pub fn series(&mut self, name: impl Into<String>, unit: &'static str) -> u32 {
        self.names.push((name.into(), unit));
        (self.names.len() - 1) as u32
    }

    /// Records a value of a series.
    pub fn record(&mut self, time: Time, series: u32, value: f64) {
        self.samples.push(Sample { time, series, value });
    }

    /// Name and unit of a series.
    pub fn name(&self, series: u32) -> (&str, &'static str) {
        let (name, unit) = &self.names[series as usize];
        (name, unit)
    }

    /// All samples, in the order in which they were recorded.
    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }
}
