//! The rates of data frames, and how the machine chooses among them.

use crate::access::wifi::model::Wifi;
use crate::access::wifi::rates::{Aarf, Arf, BySignal, Minstrel, RateControl, RateThreshold};
use crate::access::wifi::standard::{Preamble, WifiStandard};
use roamsim_network::link::wifi::rate_control::RateControl as NetworkRateControl;
use roamsim_network::link::wifi::rate_control::arf::ArfConfig;
use roamsim_network::link::wifi::rate_control::by_signal::BySignalConfig;
use roamsim_network::link::wifi::rate_control::minstrel::MinstrelConfig;

impl Wifi {
    /// The rates that rate control may choose, in ascending order.
    pub(crate) fn chosen_rates_bps(&self) -> Vec<u64> {
        let most_bps = self.stations.iter().map(|name| self.rate_of_bps(name)).max().unwrap_or_default();
        // At 1 Mb/s there is no short preamble (IEEE 802.11-2007 section 18.2.2.2).
        let short = self.standard == WifiStandard::Ieee80211b && self.preamble == Preamble::Short;
        let rates = self.standard.rates_bps().iter().copied();
        rates.filter(|&bps| bps <= most_bps && (bps > 1_000_000 || !short)).collect()
    }

    /// The lowest rate of data frames to and from any station.
    pub(crate) fn lowest_rate_bps(&self) -> Option<u64> {
        match self.rate_control {
            Some(_) => self.chosen_rates_bps().first().copied(),
            None => self.stations.iter().map(|name| self.rate_of_bps(name)).min(),
        }
    }

    /// The settings of the machine.
    pub(crate) fn rate_control_config(&self) -> Option<(NetworkRateControl, Vec<u64>)> {
        let config = match self.rate_control.as_ref()? {
            RateControl::BySignal(BySignal { thresholds }) => {
                let thresholds = match (&thresholds[..], &self.radio) {
                    ([], Some(radio)) => radio.config(self).thresholds_by_rate,
                    (thresholds, _) => pairs(thresholds),
                };
                NetworkRateControl::BySignal(BySignalConfig {
                    thresholds,
                    forgotten_after: self.short_retry_limit,
                })
            }
            &RateControl::Arf(Arf { successes, failures, timer_attempts }) => {
                NetworkRateControl::Arf(ArfConfig {
                    successes,
                    failures,
                    timer_attempts,
                    most_successes: successes,
                    ..ArfConfig::ARF
                })
            }
            &RateControl::Aarf(Aarf { successes, most_successes, failures, timer_attempts }) => {
                NetworkRateControl::Arf(ArfConfig {
                    successes,
                    failures,
                    timer_attempts,
                    most_successes,
                    ..ArfConfig::AARF
                })
            }
            &RateControl::Minstrel(Minstrel { interval, ewma_percent, lookaround_percent }) => {
                NetworkRateControl::Minstrel(MinstrelConfig { interval, ewma_percent, lookaround_percent })
            }
        };
        Some((config, self.chosen_rates_bps()))
    }
}

/// Rates and their powers, as the machine takes them.
pub(crate) fn pairs(thresholds: &[RateThreshold]) -> Vec<(u64, f64)> {
    thresholds.iter().map(|&RateThreshold { rate_bps, power_dbm }| (rate_bps, power_dbm)).collect()
}
