//! Rates of data frames that adapt.

use roamsim_engine::Span;
use roamsim_network::link::wifi::rate_control::arf::ArfConfig;
use roamsim_network::link::wifi::rate_control::minstrel::MinstrelConfig;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::units;

/// Rate adaptation of each transmitter for each receiver, up to `rate` or the receiver's `station_rates`.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename = "tag:algorithm", rename_all = "snake_case")]
#[schemars(rename = "RateControl", tag = "algorithm")]
pub enum RateControl {
    /// The highest rate whose threshold the receiver's last frame reached.
    BySignal(BySignal),
    /// Automatic rate fallback: up after successes in a row, down after failures (Kamerman and Monteban,
    /// "WaveLAN-II", Bell Labs Technical Journal 2(3), 1997).
    Arf(Arf),
    /// Adaptive ARF: each failed try of a higher rate delays the next (Lacage, Manshaei and Turletti, "IEEE
    /// 802.11 Rate Adaptation: A Practical Approach", MSWiM 2004).
    Aarf(Aarf),
    /// Minstrel: the rate of best throughput in the past; some frames sample other rates (mac80211 of Linux).
    Minstrel(Minstrel),
}

/// Rates by signal.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BySignal {
    /// The least power of each rate; rates without an entry are not used, except the lowest. Left out: the
    /// radio's reception thresholds.
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
    /// Successes in a row before the next higher rate. Default: Kamerman and Monteban 1997.
    #[serde(default = "default_successes")]
    #[schemars(range(min = 1))]
    pub successes: u32,
    /// Failures in a row before the next lower rate. Default: Kamerman and Monteban 1997.
    #[serde(default = "default_failures")]
    #[schemars(range(min = 1))]
    pub failures: u32,
    /// Attempts at one rate before the next higher one is tried in any case.
    /// Default: Lacage, Manshaei and Turletti 2004.
    #[serde(default = "default_timer_attempts")]
    #[schemars(range(min = 1))]
    pub timer_attempts: u32,
}

/// The constants of AARF.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Aarf {
    /// Successes in a row before the next higher rate, at first. Default: Lacage, Manshaei and Turletti 2004.
    #[serde(default = "default_successes")]
    #[schemars(range(min = 1))]
    pub successes: u32,
    /// The limit of `successes`, which doubles with each failed try.
    /// Default: Lacage, Manshaei and Turletti 2004.
    #[serde(default = "default_most_successes")]
    #[schemars(range(min = 1))]
    pub most_successes: u32,
    /// Failures in a row before the next lower rate. Default: Lacage, Manshaei and Turletti 2004.
    #[serde(default = "default_failures")]
    #[schemars(range(min = 1))]
    pub failures: u32,
    /// Attempts at one rate before the next higher one is tried in any case, at first; doubles likewise.
    /// Default: Lacage, Manshaei and Turletti 2004.
    #[serde(default = "default_timer_attempts")]
    #[schemars(range(min = 1))]
    pub timer_attempts: u32,
}

/// The constants of Minstrel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Minstrel {
    /// Time between two updates of the mean success ratios. Default: mac80211 of Linux.
    #[serde(default = "default_interval", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub interval: Span,
    /// The weight of the old mean, in percent. Default: mac80211 of Linux.
    #[serde(default = "default_ewma_percent")]
    #[schemars(range(max = 99))]
    pub ewma_percent: u32,
    /// Percentage of frames that sample a random rate. Default: mac80211 of Linux.
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
