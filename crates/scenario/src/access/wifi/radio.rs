//! The radio of a Wi-Fi cell: who hears whom, by the places of the nodes.

use roamsim_engine::Span;
use schemars::JsonSchema;
use serde::Deserialize;

use super::rates::RateThreshold;
use crate::access::path_loss::PathLoss;
use crate::units;

/// Radio propagation: who hears whom.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Radio {
    /// The power of every radio, `"20dBm"` or `"100mW"`. Default: Europe's limit at 2.4 GHz (ETSI EN 300 328
    /// section 4.3.2.2).
    #[serde(
        rename = "transmit_power",
        default = "default_transmit_power_dbm",
        deserialize_with = "units::power"
    )]
    #[schemars(with = "units::Power")]
    pub transmit_power_dbm: f64,
    /// How power falls with distance.
    pub path_loss: PathLoss,
    /// The standard deviation of log-normal shadowing in dB. Default: 0, none.
    #[serde(default)]
    pub shadowing_deviation_db: f64,
    /// How often it is drawn. Default chosen: for each frame, as in ns-2.
    #[serde(default)]
    pub shadowing: Shadowing,
    /// Reception in spite of overlapping frames. Left out: frames that overlap are lost.
    #[serde(default)]
    pub capture: Option<Capture>,
    /// How a receiver decides whether it decodes a frame. Default chosen: its power, by
    /// `reception_threshold`.
    #[serde(default)]
    pub reception: Reception,
    /// The distance up to which frames at `rate` are understood, before shadowing; it sets
    /// `reception_threshold`. With `rate_control`, slower frames reach farther.
    #[serde(rename = "radius", default, with = "units::length")]
    #[schemars(with = "Option<units::Length>")]
    pub radius_m: Option<f64>,
    /// The least power of an understood frame. Left out: the standard's sensitivity at `rate` (IEEE
    /// 802.11-2007 table 17-13; -80 dBm up to 2 Mb/s: section 15.4.8.1; -76 dBm above: section 18.4.8.1).
    #[serde(rename = "reception_threshold", default, deserialize_with = "units::some_power")]
    #[schemars(with = "Option<units::Power>")]
    pub reception_threshold_dbm: Option<f64>,
    /// The least power for each rate up to `rate`. Left out: with `rate_control`, `reception_threshold`
    /// shifted by the differences in the standard's tables; else one threshold for all. RTS and CTS of
    /// `protection` use the least of them.
    #[serde(default)]
    pub reception_thresholds: Vec<RateThreshold>,
    /// The power at which a frame makes the medium busy and disturbs others. Left out: -82 dBm, as in OFDM's
    /// clear channel assessment (IEEE 802.11-2007 section 17.3.10.5), or a lower reception threshold.
    #[serde(rename = "carrier_sense_threshold", default, deserialize_with = "units::some_power")]
    #[schemars(with = "Option<units::Power>")]
    pub carrier_sense_threshold_dbm: Option<f64>,
}

fn default_transmit_power_dbm() -> f64 {
    20.0
}

/// The criterion by which a frame is understood.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename = "tag:by", rename_all = "snake_case")]
#[schemars(rename = "WifiReception", tag = "by")]
pub enum Reception {
    /// The power at which it arrives.
    Threshold(Threshold),
    /// Its signal to interference and noise, by the error model of its modulation. Link_Going_Down and rates
    /// by signal still use the reception thresholds. Frames below `carrier_sense_threshold` neither arrive
    /// nor interfere.
    Sinr(Sinr),
}

impl Default for Reception {
    fn default() -> Reception {
        Reception::Threshold(Threshold {})
    }
}

/// By power.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Threshold {}

/// By signal, interference and noise.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sinr {
    /// Noise figure of a receiver in dB. Default: IEEE 802.11-2007 section 17.3.10.1.
    #[serde(default = "default_noise_figure_db")]
    pub noise_figure_db: f64,
}

fn default_noise_figure_db() -> f64 {
    10.0
}

/// How often shadowing is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename = "tag:redrawn", rename_all = "snake_case")]
#[schemars(rename = "Shadowing", tag = "redrawn")]
pub enum Shadowing {
    /// For each frame and receiver.
    PerFrame(PerFrame),
    /// For each pair of radios and coherence time.
    PerCoherenceTime(PerCoherenceTime),
    /// By the distance that a pair has moved (Gudmundson, "Correlation Model for Shadow Fading in Mobile
    /// Radio Systems", Electronics Letters 27(23), 1991).
    ByDistance(ByDistance),
}

impl Default for Shadowing {
    fn default() -> Shadowing {
        Shadowing::PerFrame(PerFrame {})
    }
}

/// For each frame.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PerFrame {}

/// For each coherence time.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PerCoherenceTime {
    /// The coherence time, the same for all pairs.
    #[serde(with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub coherence_time: Span,
}

/// By distance.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ByDistance {
    /// Where the correlation is 1/e. Gudmundson measured 8.3 m in streets, 504 m in a suburb.
    #[serde(rename = "decorrelation_distance", with = "units::length")]
    #[schemars(with = "units::Length")]
    pub decorrelation_distance_m: f64,
}

/// Frames that are received in spite of others.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Capture {
    /// How much stronger than all others together a frame must be, in dB. Default: ns-2's CPThresh.
    #[serde(default = "default_capture_threshold_db")]
    pub threshold_db: f64,
    /// Whether a later frame may take over from the one being received. Default: no, as in ns-2.
    #[serde(default)]
    pub later_frames: bool,
}

fn default_capture_threshold_db() -> f64 {
    10.0
}
