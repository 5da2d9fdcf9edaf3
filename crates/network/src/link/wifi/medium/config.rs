//! What describes how radios hear each other.

use super::shadowing::Redrawn;
use crate::link::propagation::Propagation;

/// What radios need to hear each other.
#[derive(Clone, Debug, PartialEq)]
pub struct RadioConfig {
    /// What arrives at a distance.
    pub propagation: Propagation,
    /// A frame that arrives with less is not understood.
    pub reception_threshold_dbm: f64,
    /// Rates that have a threshold of their own. Where some have, others, such as those of DSSS at which
    /// frames of OFDM are protected, are understood from the least of them on.
    pub thresholds_by_rate: Vec<(u64, f64)>,
    /// One that arrives with less does not make the medium busy, and disturbs nobody.
    pub carrier_sense_threshold_dbm: f64,
    /// When shadowing is drawn anew.
    pub shadowing: Redrawn,
    /// Frames that are received in spite of others; `None`: each one disturbs all others.
    pub capture: Option<CaptureConfig>,
    /// Reception by signal, interference and noise; `None`: by the thresholds.
    pub sinr: Option<SinrConfig>,
}

impl RadioConfig {
    /// From which power on a frame of this rate is understood.
    #[inline(always)]
    pub fn threshold_dbm(&self, rate_bps: u64) -> f64 {
        let own = self.thresholds_by_rate.iter().find(|(of_bps, _)| *of_bps == rate_bps);
        own.map_or_else(|| self.least_threshold_dbm(), |&(_, threshold_dbm)| threshold_dbm)
    }

    /// The power from which on a frame of some rate is understood.
    pub fn least_threshold_dbm(&self) -> f64 {
        let own = self.thresholds_by_rate.iter().map(|&(_, threshold_dbm)| threshold_dbm);
        own.fold(self.reception_threshold_dbm, f64::min)
    }
}

/// From when on a frame is received in spite of others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CaptureConfig {
    /// How much stronger it has to be than all others together.
    pub threshold_db: f64,
    /// Whether a frame that begins later than what is received may be received instead.
    pub later_frames: bool,
}

/// What reception by signal, interference and noise needs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SinrConfig {
    /// What a receiver adds to the thermal noise, in dB.
    pub noise_figure_db: f64,
}
