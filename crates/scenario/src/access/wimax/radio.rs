//! The radio of an 802.16 cell: what of its signals arrives, and which burst profiles are understood.

use schemars::JsonSchema;
use serde::Deserialize;

use super::burst_profile::BurstProfile;
use crate::access::path_loss::PathLoss;
use crate::units;

/// The signal that arrives, by the places of the nodes, and the ratio of signal to noise from which a burst
/// profile is understood.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "WimaxRadio")]
pub struct Radio {
    /// The power of the base station, `"30dBm"` or `"1W"`. Default: 30 dBm, as ns-3 has it.
    #[serde(rename = "transmit_power", default = "default_power_dbm", deserialize_with = "units::power")]
    #[schemars(with = "units::Power")]
    pub transmit_power_dbm: f64,
    /// The power of each station. Default: 30 dBm, as ns-3 has it.
    #[serde(
        rename = "station_transmit_power",
        default = "default_power_dbm",
        deserialize_with = "units::power"
    )]
    #[schemars(with = "units::Power")]
    pub station_power_dbm: f64,
    /// The carrier. Default chosen: 3.5 GHz, where most fixed networks are.
    #[serde(rename = "frequency", default = "default_frequency_hz", with = "units::frequency")]
    #[schemars(with = "units::Frequency")]
    pub frequency_hz: u64,
    /// How power falls with distance.
    pub path_loss: PathLoss,
    /// The noise figure of a receiver, above the thermal noise, in dB. Left out: 7 (IEEE Std 802.16-2004
    /// section 8.3.11.1), in OFDMA 8 (IEEE Std 802.16e-2005 section 8.4.13.1.1).
    #[serde(default)]
    pub noise_figure_db: Option<f64>,
    /// The implementation loss of a receiver, in dB. Default: 5 (IEEE Std 802.16-2004 section 8.3.11.1).
    #[serde(default = "default_implementation_margin_db")]
    pub implementation_margin_db: f64,
    /// Thresholds of single burst profiles. Others have the standard's. In OFDM these are 6.4, 9.4, 11.2,
    /// 16.4, 18.2, 22.7 and 24.4 dB, from BPSK 1/2 to 64-QAM 3/4 (IEEE Std 802.16-2004 table 266). In OFDMA
    /// they are 5, 8, 10.5, 14, 18 and 20 dB, from QPSK 1/2 on (IEEE Std 802.16e-2005 table 338).
    #[serde(default)]
    pub thresholds: Vec<Threshold>,
    /// A falling signal is low below this factor times the power that maps need. Link_Going_Down then comes.
    /// Default chosen: 4, 6 dB, as of stations of 802.11.
    #[serde(default = "default_going_down_factor")]
    pub going_down_factor: f64,
    /// Block errors of burst profiles by signal over noise; the standard has no table of them. Left out, and
    /// for profiles that are not in it: all is understood from the threshold on, and nothing below.
    #[serde(default)]
    pub block_errors: Option<BlockErrors>,
    /// How burst profiles follow the signal, `{}` for the defaults. Left out: they stay as `burst_profile`
    /// and `station_profiles` say.
    #[serde(default)]
    pub adaptation: Option<Adaptation>,
}

/// The signal that a burst profile needs.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "WimaxThreshold")]
pub struct Threshold {
    /// The profile.
    pub profile: BurstProfile,
    /// The least ratio of signal to noise, in dB.
    pub snr_db: f64,
}

/// A table of block errors. A block is what a symbol carries (IEEE Std 802.16-2004 table 215); a PDU is lost
/// with any block of it.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "WimaxBlockErrors")]
pub struct BlockErrors {
    /// Where its numbers come from; the table `wimax` of the results repeats it.
    pub source: String,
    /// Those of each burst profile.
    pub profiles: Vec<ProfileErrors>,
}

/// The block errors of a burst profile.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "WimaxProfileErrors")]
pub struct ProfileErrors {
    /// The profile.
    pub profile: BurstProfile,
    /// Pairs of signal over noise, in dB, and block error ratio: `[[8.0, 0.9], [9.0, 0.2], [10.0, 0.01]]`, on
    /// straight lines between them. Below the first all blocks are lost, above the last none.
    pub points: Vec<(f64, f64)>,
}

/// Burst profiles that follow the signal, in both directions: a station enters with those that fit, and looks
/// at its signal every `report_interval`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "WimaxAdaptation")]
pub struct Adaptation {
    /// How far above its threshold a profile is left for a more robust one, in dB. Default chosen: 1, which a
    /// walk takes seconds for.
    #[serde(default = "default_margin_db")]
    pub margin_db: f64,
    /// How much further above it a faster profile is entered, in dB. Default chosen: 1.
    #[serde(default = "default_margin_db")]
    pub hysteresis_db: f64,
}

fn default_power_dbm() -> f64 {
    30.0
}

fn default_frequency_hz() -> u64 {
    3_500_000_000
}

fn default_implementation_margin_db() -> f64 {
    5.0
}

fn default_going_down_factor() -> f64 {
    4.0
}

fn default_margin_db() -> f64 {
    1.0
}
