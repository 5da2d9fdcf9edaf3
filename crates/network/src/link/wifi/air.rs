//! Who hears whom: all, some, or those whom place and power let hear each other.

use super::interference::CaptureConfig;
use super::medium::Frame;
use super::shadowing::{Pairs, Redrawn};
use super::sinr::SinrConfig;
use crate::link::propagation::Propagation;
use crate::mobility::Trajectory;
use roamsim_engine::{Stream, Time};

/// What radios need to hear each other.
#[derive(Clone, Debug, PartialEq)]
pub struct RadioConfig {
    /// What arrives at a distance.
    pub propagation: Propagation,
    /// A frame that arrives with less is not understood.
    pub reception_threshold_dbm: f64,
    /// Rates that have a threshold of their own. Where some have, others, such as those of DSSS at which frames of OFDM are
    /// protected, are understood from the least of them on.
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

/// Who hears whom.
#[derive(Clone, Debug)]
pub(super) enum Hearing {
    /// All hear each other.
    All,
    /// Radio `i` hears radio `j` where `[i][j]`.
    Given(Vec<Vec<bool>>),
    /// By place and power.
    Placed(Box<Air>),
}

/// Radios at places that are functions of time.
#[derive(Clone, Debug)]
pub(super) struct Air {
    config: RadioConfig,
    places: Vec<Trajectory>,
    /// What arrives without shadowing from a radio that stands, at each that stands too; known once it has sent.
    standing_dbm: Vec<Vec<Option<f64>>>,
    /// The shadowing of what each radio receives.
    draws: Vec<Stream>,
    /// The shadowing of pairs that keep theirs.
    pairs: Pairs,
    /// What decides whether each radio understands a frame, where that is random.
    receptions: Vec<Stream>,
}

impl Air {
    /// `stream(purpose, radio)` gives the random streams.
    pub fn new(config: RadioConfig, places: Vec<Trajectory>, stream: impl Fn(&str, usize) -> Stream) -> Air {
        let draws = (0..places.len()).map(|radio| stream("shadowing", radio)).collect();
        let deciding = if config.sinr.is_some() { places.len() } else { 0 };
        let receptions = (0..deciding).map(|radio| stream("reception", radio)).collect();
        let standing_dbm = vec![Vec::new(); places.len()];
        Air { config, places, standing_dbm, draws, pairs: Pairs::default(), receptions }
    }

    #[inline(always)]
    pub fn sinr(&self) -> Option<SinrConfig> {
        self.config.sinr
    }

    #[inline(always)]
    pub fn capture(&self) -> Option<CaptureConfig> {
        self.config.capture
    }

    /// What arrives without shadowing.
    #[inline(always)]
    fn received_dbm(&self, at: usize, from: usize, now: Time) -> f64 {
        let standing_dbm = self.standing_dbm[from].get(at).copied().flatten();
        standing_dbm.unwrap_or_else(|| self.work_out_dbm(at, from, now))
    }

    fn work_out_dbm(&self, at: usize, from: usize, now: Time) -> f64 {
        let distance_m = self.places[at].distance_m(now, self.places[from].position(now));
        self.config.propagation.received_dbm(distance_m)
    }

    /// A radio sends for the first time.
    #[inline(never)]
    fn know_standing(&mut self, from: usize, now: Time) {
        let both_stand = |at: usize| self.places[at].is_fixed() && self.places[from].is_fixed();
        let known = |at| both_stand(at).then(|| self.work_out_dbm(at, from, now));
        self.standing_dbm[from] = (0..self.places.len()).map(known).collect();
    }

    /// The shadowing of a pair that keeps it for a while.
    #[inline(never)]
    fn shadowing_of(&mut self, radio: usize, from: usize, now: Time) -> f64 {
        let (a, b) = (radio.min(from), radio.max(from));
        let RadioConfig { propagation, shadowing, .. } = &self.config;
        let walks = (&self.places[a], &self.places[b]);
        self.pairs.db(propagation, *shadowing, &self.draws[a], ((a, b), now), walks)
    }

    /// Whether a frame that begins now makes the medium busy at a radio.
    #[inline(always)]
    fn senses(&mut self, radio: usize, from: usize, now: Time) -> Option<Heard> {
        let shadowing_db = match self.config.shadowing {
            Redrawn::PerFrame => self.config.propagation.shadowing_db(&mut self.draws[radio]),
            Redrawn::PerCoherenceTime(_) | Redrawn::ByDistance { .. } => self.shadowing_of(radio, from, now),
        };
        let arrives_dbm = self.received_dbm(radio, from, now) + shadowing_db;
        (arrives_dbm >= self.config.carrier_sense_threshold_dbm).then_some((radio, shadowing_db))
    }
}

/// A radio that hears a frame, and the shadowing on the way to it, in dB.
pub(super) type Heard = (usize, f64);

impl Hearing {
    /// Who hears a frame that begins now. A radio hears itself, which keeps it as busy as others do. Nobody is named where all
    /// hear it: they share one ear.
    pub fn heard_by(&mut self, from: usize, now: Time, channels: &[u8]) -> Vec<Heard> {
        match self {
            Hearing::All => Vec::new(),
            Hearing::Given(hears) => {
                (0..hears.len()).filter(|&radio| hears[radio][from]).map(|radio| (radio, 0.0)).collect()
            }
            Hearing::Placed(air) => {
                if air.standing_dbm[from].is_empty() {
                    air.know_standing(from, now);
                }
                let mut heard = Vec::new();
                for radio in 0..air.places.len() {
                    if radio == from {
                        heard.push((radio, 0.0));
                        continue;
                    }
                    if channels[radio] == channels[from] {
                        heard.extend(air.senses(radio, from, now));
                    }
                }
                heard
            }
        }
    }

    /// Whether a radio that comes to a channel senses a frame that is on the air there.
    pub fn senses(&mut self, radio: usize, from: usize, now: Time) -> Option<Heard> {
        match self {
            Hearing::All | Hearing::Given(_) => None,
            Hearing::Placed(air) => air.senses(radio, from, now),
        }
    }

    /// The power of a frame that ends now at a radio, in dBm.
    pub fn signal_dbm(&self, (radio, shadowing_db): Heard, from: usize, now: Time) -> Option<f64> {
        match self {
            Hearing::All | Hearing::Given(_) => None,
            Hearing::Placed(air) => Some(air.received_dbm(radio, from, now) + shadowing_db),
        }
    }

    /// Whether a frame that survives with this probability does, at a radio.
    pub fn draw_reception(&mut self, radio: usize, survives: f64) -> bool {
        match self {
            Hearing::Placed(air) => air.receptions[radio].uniform() < survives,
            Hearing::All | Hearing::Given(_) => true,
        }
    }

    /// Whether a frame that ends now is strong enough to be understood, or has been decided to be.
    pub fn is_strong(&self, (radio, shadowing_db): Heard, frame: &Frame, now: Time) -> bool {
        match self {
            Hearing::All | Hearing::Given(_) => true,
            Hearing::Placed(air) => {
                if air.config.sinr.is_some() {
                    return !frame.failed.contains(&radio);
                }
                let arrives_dbm = air.received_dbm(radio, frame.from, now) + shadowing_db;
                arrives_dbm >= air.config.threshold_dbm(frame.rate_bps)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::places::radio;
    use super::*;

    #[test]
    fn a_rate_without_a_threshold_of_its_own_has_the_least() {
        let one = radio(-70.0, 0.0);
        assert_eq!([1_000_000, 11_000_000].map(|bps| one.threshold_dbm(bps)), [-61.0; 2]);
        let by_rate = vec![(6_000_000, -82.0), (54_000_000, -65.0)];
        let many = RadioConfig { reception_threshold_dbm: -65.0, thresholds_by_rate: by_rate, ..one };
        // 2 Mb/s of DSSS, which protects.
        assert_eq!([2_000_000, 54_000_000].map(|bps| many.threshold_dbm(bps)), [-82.0, -65.0]);
    }
}
