//! The radio of a Wi-Fi cell: who hears whom, by the places of the nodes.

use roamsim_engine::Span;
use roamsim_network::link::propagation::Propagation;
use roamsim_network::link::wifi::shadowing::Redrawn;
use roamsim_network::link::wifi::{CaptureConfig, RadioConfig, SinrConfig};
use schemars::JsonSchema;
use serde::Deserialize;

use super::model::{Wifi, WifiStandard};
use super::rates::{RateThreshold, check_thresholds, pairs};
use crate::access::Context;
use crate::access::path_loss::{self, PathLoss};
use crate::report::{At, Report, Step, join};
use crate::units::{self, rate_text};

/// Channel 1 (IEEE 802.11-2007 section 18.4.6.2).
const FREQUENCY_HZ: f64 = 2.412e9;

/// What OFDM's clear channel assessment has to hear (IEEE 802.11-2007 section 17.3.10.5).
const CARRIER_SENSE_DBM: f64 = -82.0;

/// Who hears whom, by the places of the nodes and what of their power arrives there.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Radio {
    /// The power of every radio, `"20dBm"` or `"100mW"`. Default: 20 dBm, which is allowed at 2.4 GHz in
    /// Europe (ETSI EN 300 328 section 4.3.2.2).
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
    /// From when on a frame is received in spite of others. Left out: frames that overlap disturb each other,
    /// whatever their powers.
    #[serde(default)]
    pub capture: Option<Capture>,
    /// The criterion by which a frame is understood. Default chosen: its power alone, by
    /// `reception_threshold`.
    #[serde(default)]
    pub reception: Reception,
    /// The distance up to which frames at `rate` are understood, as far as shadowing lets them: sets
    /// `reception_threshold`. With `rate_control` slower frames reach farther, as the sensitivities of their
    /// rates say, and so does the cell.
    #[serde(rename = "radius", default, with = "units::length")]
    #[schemars(with = "Option<units::Length>")]
    pub radius_m: Option<f64>,
    /// The power from which on a frame is understood. Left out: the sensitivity that the standard asks for at
    /// `rate` (IEEE 802.11-2007 table 17-13; -80 dBm up to 2 Mb/s: section 15.4.8.1; -76 dBm above: section
    /// 18.4.8.1).
    #[serde(rename = "reception_threshold", default, deserialize_with = "units::some_power")]
    #[schemars(with = "Option<units::Power>")]
    pub reception_threshold_dbm: Option<f64>,
    /// The same rate by rate, for each rate up to `rate`. Left out: with `rate_control` the threshold of
    /// `rate` for `rate`, and for others what they are more sensitive in the same tables; without, one
    /// threshold for all frames. RTS and CTS frames of `protection` are understood from the least of them on.
    #[serde(default)]
    pub reception_thresholds: Vec<RateThreshold>,
    /// The power from which on a frame makes the medium busy, and disturbs others. Left out: -82 dBm, which
    /// OFDM's clear channel assessment hears (IEEE 802.11-2007 section 17.3.10.5), or the threshold of
    /// reception where that is lower.
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
    /// The ratio of its power to the sum of noise and of all others' powers, by the error model of its
    /// modulation. Link_Going_Down and rates by signal still use the thresholds of reception. Frames below
    /// `carrier_sense_threshold` are neither received nor added to the interference.
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
    /// The noise figure of a receiver, above the thermal noise, in dB. Default: 10 (IEEE 802.11-2007 section
    /// 17.3.10.1).
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
    /// By the way that a pair has moved, as it sees it (Gudmundson, "Correlation Model for Shadow Fading in
    /// Mobile Radio Systems", Electronics Letters 27(23), 1991).
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
    /// After which the correlation is 1/e: 8.3 m fit Gudmundson's measurements in streets, 504 m those in a
    /// suburb.
    #[serde(rename = "decorrelation_distance", with = "units::length")]
    #[schemars(with = "units::Length")]
    pub decorrelation_distance_m: f64,
}

/// Frames that are received in spite of others.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Capture {
    /// How much stronger a frame has to be than all others together, in dB. Default: 10, as in ns-2
    /// (CPThresh).
    #[serde(default = "default_capture_threshold_db")]
    pub threshold_db: f64,
    /// Whether one that begins later than the frame that is received may be received instead. Default: not,
    /// as in ns-2.
    #[serde(default)]
    pub later_frames: bool,
}

fn default_capture_threshold_db() -> f64 {
    10.0
}

impl Radio {
    /// The settings of the machine, in a cell of this standard and rate.
    pub(super) fn config(&self, cell: &Wifi) -> RadioConfig {
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
    pub(super) fn reach_m(&self, cell: &Wifi) -> Option<f64> {
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

/// Checks the radio of a cell whose keys are under `at`.
pub(super) fn check(cell: &Wifi, at: &[Step], context: &Context<'_>, report: &mut Report<'_>) {
    let Some(radio) = &cell.radio else { return };
    let mut stations = Vec::new();
    for (number, name) in cell.stations.iter().enumerate() {
        let mut steps = join(at, ["stations"]);
        steps.push(At(number));
        stations.push((name, steps));
    }
    for (name, steps) in std::iter::once((&cell.access_point, join(at, ["access_point"]))).chain(stations) {
        let node = context.names.node(name).map(|node| &context.network.nodes[node]);
        if node.is_some_and(|node| node.position.is_none() && node.motion.is_none()) {
            let help = format!(
                "write in [[node]] \"{name}\": position = {{ x = \"0m\", y = \"0m\" }}, or leave `radio` out"
            );
            report.add(&steps, format!("\"{name}\" has a radio, but no position"), help);
        }
    }
    let steps = join(at, ["radio"]);
    if !(0.0..=50.0).contains(&radio.shadowing_deviation_db) {
        let help = "write decibels from 0 to 50; 4 to 12 are usual";
        report.add(&join(&steps, ["shadowing_deviation_db"]), "this is no deviation of shadowing", help);
        return;
    }
    if !check_shadowing(radio, &join(&steps, ["shadowing"]), report) {
        return;
    }
    if radio.capture.is_some_and(|capture| !(0.0..=100.0).contains(&capture.threshold_db)) {
        let help = "write decibels from 0 to 100; 10 are usual";
        report.add(&join(&steps, ["capture", "threshold_db"]), "this is no threshold of capture", help);
        return;
    }
    if let Reception::Sinr(Sinr { noise_figure_db }) = radio.reception {
        if !(0.0..=50.0).contains(&noise_figure_db) {
            let help = "write decibels from 0 to 50; the standard has 10";
            let place = join(&steps, ["reception", "noise_figure_db"]);
            report.add(&place, "this is no noise figure of a receiver", help);
            return;
        }
        if radio.capture.is_some() {
            let message = "reception by \"sinr\" adds interference up by itself";
            report.add(&join(&steps, ["capture"]), message, "leave it out, or receive by \"threshold\"");
            return;
        }
    }
    if !path_loss::check(&join(&steps, ["path_loss"]), radio.path_loss, report) {
        return;
    }
    if radio.radius_m.is_some_and(|radius_m| radius_m <= 0.0) {
        let help = "write a radius above zero, such as \"50m\"";
        report.add(&join(&steps, ["radius"]), "a cell of no radius reaches nobody", help);
        return;
    }
    if radio.radius_m.is_some() && radio.reception_threshold_dbm.is_some() {
        let message =
            "`radius` says from which power on frames are understood, and so does `reception_threshold`";
        report.add(&join(&steps, ["reception_threshold"]), message, "leave one of them out");
        return;
    }
    if !radio.reception_thresholds.is_empty() && !check_listed(cell, radio, &steps, report) {
        return;
    }
    let config = radio.config(cell);
    if config.carrier_sense_threshold_dbm > config.least_threshold_dbm() {
        let message = format!(
            "frames that are understood, from {:.1}dBm on, would not be noticed",
            config.least_threshold_dbm()
        );
        let help = "lower it to the threshold of reception, or below";
        report.add(&join(&steps, ["carrier_sense_threshold"]), message, help);
    }
}

/// Checks thresholds of reception by rate.
fn check_listed(cell: &Wifi, radio: &Radio, steps: &[Step], report: &mut Report<'_>) -> bool {
    let place = join(steps, ["reception_thresholds"]);
    let other =
        radio.radius_m.map(|_| "radius").or(radio.reception_threshold_dbm.map(|_| "reception_threshold"));
    if let Some(other) = other {
        let message = format!("`{other}` says from which power on frames are understood, and so does this");
        report.add(&place, message, "leave one of them out");
        return false;
    }
    if !check_thresholds(cell, &place, &radio.reception_thresholds, report) {
        return false;
    }
    let rate_bps = cell.data_rate_bps();
    let known = |bps: &u64| radio.reception_thresholds.iter().any(|threshold| threshold.rate_bps == *bps);
    let missing = cell.standard.rates_bps().iter().find(|bps| **bps <= rate_bps && !known(bps));
    if let Some(&missing) = missing {
        let message = format!("{} has no threshold", rate_text(missing));
        let help = format!("list each rate of {} up to {}", cell.standard.name(), rate_text(rate_bps));
        report.add(&place, message, help);
    }
    missing.is_none()
}

/// Checks when shadowing is drawn anew.
fn check_shadowing(radio: &Radio, steps: &[Step], report: &mut Report<'_>) -> bool {
    let refused = match radio.shadowing {
        Shadowing::PerFrame(PerFrame {}) => return true,
        Shadowing::PerCoherenceTime(PerCoherenceTime { coherence_time }) if coherence_time == Span::ZERO => {
            Some(("coherence_time", "nothing stays the same for no time", "write a time such as \"100ms\""))
        }
        Shadowing::ByDistance(ByDistance { decorrelation_distance_m }) if decorrelation_distance_m <= 0.0 => {
            Some(("decorrelation_distance", "no length is no distance", "write a length such as \"20m\""))
        }
        Shadowing::PerCoherenceTime(_) | Shadowing::ByDistance(_) => None,
    };
    if let Some((key, message, help)) = refused {
        report.add(&join(steps, [key]), message, help);
        return false;
    }
    if radio.shadowing_deviation_db == 0.0 {
        let help = "write a `shadowing_deviation_db` above 0 as well, or leave this out";
        report.add(steps, "there is no shadowing to draw", help);
        return false;
    }
    true
}
