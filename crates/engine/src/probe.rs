//! Probes: time series that a run records when asked to, and that cost one untaken branch when not.

use crate::log::{Log, Timed};
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

impl Timed for Sample {
    fn time(&self) -> Time {
        self.time
    }
}

/// The recorder of one run's time series, each described by a `D`.
#[derive(Clone, Debug)]
pub struct Probe<D> {
    series: Vec<D>,
    /// The samples.
    pub samples: Log<Sample>,
}

impl<D> Default for Probe<D> {
    fn default() -> Probe<D> {
        Probe { series: Vec::new(), samples: Log::default() }
    }
}

impl<D> Probe<D> {
    /// Opens a series and returns its number.
    pub fn series(&mut self, description: D) -> u32 {
        self.series.push(description);
        (self.series.len() - 1) as u32
    }

    /// Records a value of a series.
    pub fn record(&mut self, time: Time, series: u32, value: f64) {
        self.samples.push(Sample { time, series, value });
    }

    /// What describes a series.
    pub fn description(&self, series: u32) -> &D {
        &self.series[series as usize]
    }
}
