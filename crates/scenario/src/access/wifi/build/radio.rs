//! What the machine knows of signals.

use super::rates::pairs;
use crate::access::wifi::model::Wifi;
use crate::access::wifi::radio::{
    ByDistance, Capture, PerCoherenceTime, PerFrame, Radio, Reception, Shadowing, Sinr, Threshold,
};
use crate::access::wifi::standard::WifiStandard;
use roamsim_network::link::propagation::Propagation;
use roamsim_network::link::wifi::shadowing::Redrawn;
use roamsim_network::link::wifi::{CaptureConfig, RadioConfig, SinrConfig};

/// Channel 1 (IEEE 802.11-2007 section 18.4.6.2).
const FREQUENCY_HZ: f64 = 2.412e9;

/// What OFDM's clear channel assessment has to hear (IEEE 802.11-2007 section 17.3.10.5).
const CARRIER_SENSE_DBM: f64 = -82.0;

impl Radio {
    /// The settings of the machine, in a cell of this standard and rate.
    pub(crate) fn config(&self, cell: &Wifi) -> RadioConfig {
        let &Radio {
            transmit_power_dbm,
            path_loss,
            shadowing_deviation_db,
            shadowing,
            capture,
            reception,
            radius_m,
            reception_threshold_dbm,
            ref reception_thresholds,
            carrier_sense_threshold_dbm,
        } = self;
        let propagation = Propagation {
            transmit_power_dbm,
            frequency_hz: FREQUENCY_HZ,
            path_loss: path_loss.network(),
            shadowing_deviation_db,
        };
        let at_radius = radius_m.map(|radius_m| propagation.received_dbm(radius_m));
        let rate_bps = cell.data_rate_bps();
        let sensitivity_dbm = |rate_bps| sensitivity_dbm(cell.standard, rate_bps);
        let listed = reception_thresholds.iter().find(|threshold| threshold.rate_bps == rate_bps);
        let at_rate = at_radius.or(reception_threshold_dbm).or(listed.map(|threshold| threshold.power_dbm));
        let reception_threshold_dbm = at_rate.unwrap_or_else(|| sensitivity_dbm(rate_bps));
        let thresholds_by_rate = match (&reception_thresholds[..], &cell.rate_control) {
            ([], None) => Vec::new(),
            ([], Some(_)) => {
                let more_db = reception_threshold_dbm - sensitivity_dbm(rate_bps);
                let rates = cell.standard.rates_bps().iter();
                rates.map(|&rate_bps| (rate_bps, sensitivity_dbm(rate_bps) + more_db)).collect()
            }
            (thresholds, _) => pairs(thresholds),
        };
        let mut config = RadioConfig {
            propagation,
            reception_threshold_dbm,
            thresholds_by_rate,
            carrier_sense_threshold_dbm: CARRIER_SENSE_DBM,
            shadowing: match shadowing {
                Shadowing::PerFrame(PerFrame {}) => Redrawn::PerFrame,
                Shadowing::PerCoherenceTime(PerCoherenceTime { coherence_time }) => {
                    Redrawn::PerCoherenceTime(coherence_time)
                }
                Shadowing::ByDistance(ByDistance { decorrelation_distance_m }) => {
                    Redrawn::ByDistance { decorrelation_distance_m }
                }
            },
            capture: capture
                .map(|Capture { threshold_db, later_frames }| CaptureConfig { threshold_db, later_frames }),
            sinr: match reception {
                Reception::Threshold(Threshold {}) => None,
                Reception::Sinr(Sinr { noise_figure_db }) => Some(SinrConfig { noise_figure_db }),
            },
        };
        config.carrier_sense_threshold_dbm =
            carrier_sense_threshold_dbm.unwrap_or(CARRIER_SENSE_DBM.min(config.least_threshold_dbm()));
        config
    }

    /// How far frames are understood; `None` where shadowing may bring them anywhere.
    pub(crate) fn reach_m(&self, cell: &Wifi) -> Option<f64> {
        let is_random = self.shadowing_deviation_db > 0.0 || matches!(self.reception, Reception::Sinr(_));
        if is_random {
            return None;
        }
        let config = self.config(cell);
        let (propagation, threshold_dbm) = (config.propagation, config.least_threshold_dbm());
        Some(propagation.reach_m(threshold_dbm))
    }
}

/// The sensitivity that the standard asks for at a rate.
fn sensitivity_dbm(standard: WifiStandard, rate_bps: u64) -> f64 {
    match standard {
        WifiStandard::Ieee80211b if rate_bps <= 2_000_000 => -80.0,
        WifiStandard::Ieee80211b => -76.0,
        WifiStandard::Ieee80211g => match rate_bps {
            6_000_000 => -82.0,
            9_000_000 => -81.0,
            12_000_000 => -79.0,
            18_000_000 => -77.0,
            24_000_000 => -74.0,
            36_000_000 => -70.0,
            48_000_000 => -66.0,
            _ => -65.0,
        },
    }
}
