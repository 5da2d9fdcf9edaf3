//! The radio of an 802.16 cell: received signals, and the burst profiles that are understood.

use schemars::JsonSchema;
use serde::Deserialize;

use super::burst_profile::BurstProfile;
use crate::access::path_loss::PathLoss;
use crate::units;

/// Received signal by the nodes' places, and the signal-to-noise ratio that a burst profile needs.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "WimaxRadio")]
pub struct Radio {
    /// The base station's power, `"30dBm"` or `"1W"`. Default: ns-3's.
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
    /// Noise figure of a receiver in dB. Left out: 7 (IEEE Std 802.16-2004 section 8.3.11.1), in OFDMA 8
    /// (IEEE Std 802.16e-2005 section 8.4.13.1.1).
    #[serde(default)]
    pub noise_figure_db: Option<f64>,
    /// Implementation loss of a receiver in dB. Default: IEEE Std 802.16-2004 section 8.3.11.1.
    #[serde(default = "default_implementation_margin_db")]
    pub implementation_margin_db: f64,
    /// Thresholds of single burst profiles. Other profiles have the standard's. OFDM: 6.4, 9.4, 11.2, 16.4,
    /// 18.2, 22.7 and 24.4 dB from BPSK 1/2 up (IEEE Std 802.16-2004 table 266). OFDMA: 5, 8, 10.5, 14, 18
    /// and 20 dB from QPSK 1/2 up (IEEE Std 802.16e-2005 table 338).
    #[serde(default)]
    pub thresholds: Vec<Threshold>,
    /// Link_Going_Down comes below this factor times the power that maps need. Default chosen: 6 dB, as for
    /// stations of 802.11.
    #[serde(default = "default_going_down_factor")]
    pub going_down_factor: f64,
    /// Block errors of burst profiles by signal-to-noise ratio; the standard has none. Left out, and for
    /// other profiles: no errors above the threshold, nothing received below.
    #[serde(default)]
    pub block_errors: Option<BlockErrors>,
    /// How burst profiles follow the signal, `{}` for the defaults. Left out: they stay as configured.
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

/// A table of block errors. A block is one symbol's data (IEEE Std 802.16-2004 table 215); any lost block
/// loses the PDU.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "WimaxBlockErrors")]
pub struct BlockErrors {
    /// The source of the numbers, repeated in the results' table `wimax`.
    pub source: String,
    /// The table of each burst profile.
    pub profiles: Vec<ProfileErrors>,
}

/// The block errors of a burst profile.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "WimaxProfileErrors")]
pub struct ProfileErrors {
    /// The profile.
    pub profile: BurstProfile,
    /// Pairs of signal-to-noise ratio in dB and block error ratio, linear between: `[[8.0, 0.9], [9.0, 0.2],
    /// [10.0, 0.01]]`. Below the first all blocks are lost, above the last none.
    pub points: Vec<(f64, f64)>,
}

/// Burst profiles that follow the signal both ways: at entry, and every `report_interval`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "WimaxAdaptation")]
pub struct Adaptation {
    /// A profile gives way to a more robust one this far above its threshold, in dB. Default chosen: 1 dB, a
    /// few seconds of a walk.
    #[serde(default = "default_margin_db")]
    pub margin_db: f64,
    /// Additional margin before a faster profile begins, in dB. Default chosen: 1.
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
