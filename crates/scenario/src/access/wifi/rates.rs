//! Rates of data frames that adapt: the keys of `rate_control`, their checks, and the machine's settings.

use roamsim_engine::Span;
use roamsim_network::link::wifi::rate_control::RateControl as NetworkRateControl;
use roamsim_network::link::wifi::rate_control::arf::ArfConfig;
use roamsim_network::link::wifi::rate_control::by_signal::BySignalConfig;
use roamsim_network::link::wifi::rate_control::minstrel::MinstrelConfig;
use schemars::JsonSchema;
use serde::Deserialize;

use super::model::{Preamble, Wifi, WifiStandard};
use crate::report::{At, Key, Report, Step, join};
use crate::units::{self, rate_text};

/// How the rate of data frames is chosen, by each transmitter for each of its receivers, up to `rate` or the
/// receiver's of `station_rates`.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename = "tag:algorithm", rename_all = "snake_case")]
#[schemars(rename = "RateControl", tag = "algorithm")]
pub enum RateControl {
    /// By the power at which the last frame of the receiver arrived: the highest rate whose threshold it
    /// comes up to.
    BySignal(BySignal),
    /// Automatic rate fallback: up after answered exchanges in a row, down after failed ones (Kamerman and
    /// Monteban, "WaveLAN-II", Bell Labs Technical Journal 2(3), 1997).
    Arf(Arf),
    /// Adaptive ARF: each failed attempt to go up makes the next one come later (Lacage, Manshaei and
    /// Turletti, "IEEE 802.11 Rate Adaptation: A Practical Approach", MSWiM 2004).
    Aarf(Aarf),
    /// Minstrel: the rate of most throughput by the exchanges that were answered at each, while some frames
    /// look around (mac80211 of Linux).
    Minstrel(Minstrel),
}

/// Rates by signal.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BySignal {
    /// The least power of each rate. Rates that are left out are not used, but for the lowest. Left out: the
    /// powers from which on the radio understands them.
    #[serde(default)]
    pub thresholds: Vec<RateThreshold>,
}

/// The least power of a rate.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RateThreshold {
    /// The rate, one of the standard's.
    #[serde(rename = "rate", with = "units::rate")]
    #[schemars(with = "units::Rate")]
    pub rate_bps: u64,
    /// The power.
    #[serde(rename = "power", deserialize_with = "units::power")]
    #[schemars(with = "units::Power")]
    pub power_dbm: f64,
}

/// The constants of ARF.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arf {
    /// Answered exchanges in a row that lead to the next higher rate. Default: 10 (Kamerman and Monteban
    /// 1997).
    #[serde(default = "default_successes")]
    #[schemars(range(min = 1))]
    pub successes: u32,
    /// Failed exchanges in a row that lead to the next lower rate. Default: 2 (Kamerman and Monteban 1997).
    #[serde(default = "default_failures")]
    #[schemars(range(min = 1))]
    pub failures: u32,
    /// Attempts at one rate after which the next higher one is tried, whatever came of them: the timer.
    /// Default: 15 (Lacage et al. 2004).
    #[serde(default = "default_timer_attempts")]
    #[schemars(range(min = 1))]
    pub timer_attempts: u32,
}

/// The constants of AARF.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Aarf {
    /// Answered exchanges in a row that lead to the next higher rate at first. Default: 10 (Lacage et al.
    /// 2004).
    #[serde(default = "default_successes")]
    #[schemars(range(min = 1))]
    pub successes: u32,
    /// The most that it takes, after it has doubled with each failed try. Default: 50 (Lacage et al. 2004).
    #[serde(default = "default_most_successes")]
    #[schemars(range(min = 1))]
    pub most_successes: u32,
    /// Failed exchanges in a row that lead to the next lower rate. Default: 2 (Lacage et al. 2004).
    #[serde(default = "default_failures")]
    #[schemars(range(min = 1))]
    pub failures: u32,
    /// Attempts at one rate after which the next higher one is tried at first, whatever came of them; it
    /// doubles as well. Default: 15 (Lacage et al. 2004).
    #[serde(default = "default_timer_attempts")]
    #[schemars(range(min = 1))]
    pub timer_attempts: u32,
}

/// The constants of Minstrel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Minstrel {
    /// How often the mean share of answered exchanges of each rate is brought up to date. Default: 100 ms
    /// (mac80211 of Linux).
    #[serde(default = "default_interval", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub interval: Span,
    /// The weight of that mean's old value, in percent. Default: 75 (mac80211 of Linux).
    #[serde(default = "default_ewma_percent")]
    #[schemars(range(max = 99))]
    pub ewma_percent: u32,
    /// How many frames in a hundred look around, at a rate that is drawn. Default: 10 (mac80211 of Linux).
    #[serde(default = "default_lookaround_percent")]
    #[schemars(range(min = 1, max = 100))]
    pub lookaround_percent: u32,
}

fn default_interval() -> Span {
    MinstrelConfig::MAC80211.interval
}

fn default_ewma_percent() -> u32 {
    MinstrelConfig::MAC80211.ewma_percent
}

fn default_lookaround_percent() -> u32 {
    MinstrelConfig::MAC80211.lookaround_percent
}

fn default_successes() -> u32 {
    ArfConfig::ARF.successes
}

fn default_failures() -> u32 {
    ArfConfig::ARF.failures
}

fn default_timer_attempts() -> u32 {
    ArfConfig::ARF.timer_attempts
}

fn default_most_successes() -> u32 {
    ArfConfig::AARF.most_successes
}

impl Wifi {
    /// The rates that rate control may choose, in ascending order.
    pub(super) fn chosen_rates_bps(&self) -> Vec<u64> {
        let most_bps = self.stations.iter().map(|name| self.rate_of_bps(name)).max().unwrap_or_default();
        // At 1 Mb/s there is no short preamble (IEEE 802.11-2007 section 18.2.2.2).
        let short = self.standard == WifiStandard::Ieee80211b && self.preamble == Preamble::Short;
        let rates = self.standard.rates_bps().iter().copied();
        rates.filter(|&bps| bps <= most_bps && (bps > 1_000_000 || !short)).collect()
    }

    /// The lowest rate of data frames to and from any station.
    pub(super) fn lowest_rate_bps(&self) -> Option<u64> {
        match self.rate_control {
            Some(_) => self.chosen_rates_bps().first().copied(),
            None => self.stations.iter().map(|name| self.rate_of_bps(name)).min(),
        }
    }

    /// The settings of the machine.
    pub(super) fn rate_control_config(&self) -> Option<(NetworkRateControl, Vec<u64>)> {
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
pub(super) fn pairs(thresholds: &[RateThreshold]) -> Vec<(u64, f64)> {
    thresholds.iter().map(|&RateThreshold { rate_bps, power_dbm }| (rate_bps, power_dbm)).collect()
}

/// Checks the rate control of a cell whose keys are under `at`.
pub(super) fn check(cell: &Wifi, at: &[Step], report: &mut Report<'_>) {
    let Some(control) = &cell.rate_control else { return };
    let at = &join(at, ["rate_control"])[..];
    let counts = match *control {
        RateControl::BySignal(BySignal { ref thresholds }) => {
            if cell.radio.is_none() {
                let message = "rates follow the signal, which only a `radio` has";
                let help = "write radio = { path_loss = { model = \"free_space\" } }, or algorithm = \"arf\"";
                report.add(at, message, help);
            }
            check_thresholds(cell, &join(at, ["thresholds"]), thresholds, report);
            return;
        }
        RateControl::Arf(Arf { successes, failures, timer_attempts }) => {
            [("successes", successes), ("failures", failures), ("timer_attempts", timer_attempts)]
        }
        RateControl::Aarf(Aarf { successes, most_successes, failures, timer_attempts }) => {
            if most_successes < successes {
                let message = format!("`most_successes` is smaller than `successes`, {successes}");
                report.add(&join(at, ["most_successes"]), message, "write a larger one; 50 are usual");
            }
            [("successes", successes), ("failures", failures), ("timer_attempts", timer_attempts)]
        }
        RateControl::Minstrel(minstrel) => return check_minstrel(minstrel, at, report),
    };
    for (key, count) in counts {
        if count == 0 {
            let help = "write 1 or more; the authors have 10 successes, 2 failures, and 15 attempts";
            report.add(&join(at, [key]), "no rate changes after nothing at all", help);
        }
    }
}

fn check_minstrel(minstrel: Minstrel, at: &[Step], report: &mut Report<'_>) {
    let Minstrel { interval, ewma_percent, lookaround_percent } = minstrel;
    if interval == Span::ZERO {
        let message = "means that are brought up to date all the time are of single exchanges";
        report.add(
            &join(at, ["interval"]),
            message,
            "write interval = \"100ms\", as mac80211 of Linux has it",
        );
    }
    if ewma_percent >= 100 {
        let message = format!("a mean that keeps {ewma_percent} % of its value learns nothing");
        report.add(&join(at, ["ewma_percent"]), message, "write 99 or less; mac80211 of Linux has 75");
    }
    if !(1..=100).contains(&lookaround_percent) {
        let message = match lookaround_percent {
            0 => "no rate but the lowest is ever tried where no frame looks around".to_owned(),
            more => format!("{more} frames in a hundred are too many"),
        };
        report.add(&join(at, ["lookaround_percent"]), message, "write 1 to 100; mac80211 of Linux has 10");
    }
}

/// Checks powers by rate that stand under `at`: each rate once and one of the standard's, in ascending order
/// of both.
pub(super) fn check_thresholds(
    cell: &Wifi,
    at: &[Step],
    thresholds: &[RateThreshold],
    report: &mut Report<'_>,
) -> bool {
    let place = |number: usize, key: &'static str| [at, &[At(number), Key(key)][..]].concat();
    for (number, threshold) in thresholds.iter().enumerate() {
        let rate = rate_text(threshold.rate_bps);
        if !cell.standard.rates_bps().contains(&threshold.rate_bps) {
            let message = format!("{} has no rate of {rate}", cell.standard.name());
            report.add(&place(number, "rate"), message, cell.standard.rates_text());
            return false;
        }
        let Some(before) = number.checked_sub(1).map(|before| thresholds[before]) else { continue };
        if threshold.rate_bps <= before.rate_bps {
            let message = format!("{rate} comes after {}", rate_text(before.rate_bps));
            report.add(&place(number, "rate"), message, "write rates in ascending order, each once");
            return false;
        }
        if threshold.power_dbm < before.power_dbm {
            let message = format!(
                "{rate} would need less power than {}, {:.1}dBm",
                rate_text(before.rate_bps),
                before.power_dbm
            );
            let help = "a higher rate needs as much power or more; raise it, or lower those before";
            report.add(&place(number, "power"), message, help);
            return false;
        }
    }
    true
}
