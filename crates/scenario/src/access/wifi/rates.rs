//! Rates of data frames that adapt.

use roamsim_engine::Span;
use roamsim_network::link::wifi::rate_control::arf::ArfConfig;
use roamsim_network::link::wifi::rate_control::minstrel::MinstrelConfig;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::units;

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
