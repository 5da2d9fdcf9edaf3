//! The radio of an 802.16 cell: what of its signals arrives, and which burst profiles are understood.

use roamsim_network::link::propagation::Propagation;
use roamsim_network::link::wimax::phy::Unit;
use roamsim_network::link::wimax::{
    Adaptation as NetworkAdaptation, BlockErrors as NetworkBlockErrors, RadioConfig, thresholds_db,
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::build::clock;
use super::model::{BurstProfile, Wimax};
use crate::access::path_loss::{self, PathLoss};
use crate::report::{At, Report, Step, join};
use crate::units;

/// Nobody has a frequency outside of these (chosen: any band that 802.16 is for, and more).
const FREQUENCIES_HZ: std::ops::RangeInclusive<u64> = 1_000_000..=100_000_000_000;

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

/// What the bursts of a cell are made of.
fn unit(cell: &Wimax) -> Unit {
    if cell.ofdma.is_some() { Unit::Slot } else { Unit::Symbol }
}

fn network_errors(table: Option<&BlockErrors>) -> NetworkBlockErrors {
    let mut errors = NetworkBlockErrors::default();
    let Some(BlockErrors { source, profiles }) = table else { return errors };
    errors.source.clone_from(source);
    for ProfileErrors { profile, points } in profiles {
        errors.points[profile.network() as usize].clone_from(points);
    }
    errors
}

impl Radio {
    /// The settings of the machine.
    pub(super) fn config(&self, cell: &Wimax) -> RadioConfig {
        let &Radio {
            transmit_power_dbm,
            station_power_dbm,
            frequency_hz,
            path_loss,
            noise_figure_db,
            implementation_margin_db,
            ref thresholds,
            ref block_errors,
            going_down_factor,
            adaptation,
        } = self;
        let mut thresholds_db = thresholds_db(unit(cell));
        for &Threshold { profile, snr_db } in thresholds {
            thresholds_db[profile.network() as usize] = snr_db;
        }
        RadioConfig {
            propagation: Propagation {
                transmit_power_dbm,
                frequency_hz: frequency_hz as f64,
                path_loss: path_loss.network(),
                shadowing_deviation_db: 0.0,
            },
            station_power_dbm,
            noise_figure_db: noise_figure_db.unwrap_or(if cell.ofdma.is_some() { 8.0 } else { 7.0 }),
            implementation_margin_db,
            thresholds_db,
            block_errors: network_errors(block_errors.as_ref()),
            going_down_factor,
            adaptation: adaptation.map(|Adaptation { margin_db, hysteresis_db }| NetworkAdaptation {
                margin_db,
                hysteresis_db,
            }),
        }
    }

    /// How far bursts of a profile, to stations or from them, are understood in a cell; `None` in a channel
    /// of no standard.
    pub(super) fn reach_m(&self, cell: &Wimax, profile: BurstProfile, uplink: bool) -> Option<f64> {
        Some(self.config(cell).reach_m(clock(cell)?, profile.network(), uplink, 0.0))
    }
}

/// Checks a table of block errors; whether it is one.
fn check_block_errors(at: &[Step], table: &BlockErrors, report: &mut Report<'_>) -> bool {
    let mut good = true;
    let mut refuse = |steps: &[Step], message: &str, help: &str| {
        report.add(steps, message, help);
        good = false;
    };
    if table.source.trim().is_empty() {
        let help = "write the publication, or the program, that its numbers are from";
        refuse(&join(at, ["source"]), "nobody could judge a table of no source", help);
    }
    for (number, errors) in table.profiles.iter().enumerate() {
        let place = [&join(at, ["profiles"])[..], &[At(number)]].concat();
        if table.profiles[..number].iter().any(|other| other.profile == errors.profile) {
            refuse(&join(&place, ["profile"]), "this profile is listed twice", "write each profile once");
        }
        let (snrs_db, ratios): (Vec<f64>, Vec<f64>) = errors.points.iter().copied().unzip();
        let points = join(&place, ["points"]);
        if errors.points.is_empty() {
            refuse(&points, "this table has no point", "write pairs such as [[8.0, 0.9], [9.0, 0.1]]");
        } else if !snrs_db.iter().all(|snr_db| (-50.0..=100.0).contains(snr_db))
            || !ratios.iter().all(|ratio| (0.0..=1.0).contains(ratio))
        {
            let help = "write decibels from -50 to 100, and ratios from 0 to 1";
            refuse(&points, "a point is a signal over noise, in dB, and a ratio", help);
        } else if !snrs_db.is_sorted_by(|before, after| before < after)
            || !ratios.is_sorted_by(|before, after| before >= after)
        {
            let help = "order the points by signal over noise; with more signal there are no more errors";
            refuse(&points, "signal over noise rises from point to point, and errors fall", help);
        }
    }
    good
}

/// Checks a radio whose keys are under `at`; whether it is one.
pub(super) fn check(at: &[Step], cell: &Wimax, radio: &Radio, report: &mut Report<'_>) -> bool {
    let mut good = true;
    let mut refuse = |keys: &[&'static str], message: &str, help: &str| {
        let steps = keys.iter().fold(at.to_vec(), |steps, key| join(&steps, [*key]));
        report.add(&steps, message, help);
        good = false;
    };
    if !FREQUENCIES_HZ.contains(&radio.frequency_hz) {
        refuse(&["frequency"], "this is no carrier of 802.16", "write a frequency such as \"3.5GHz\"");
    }
    for (key, db, usual) in [
        ("noise_figure_db", radio.noise_figure_db.unwrap_or(0.0), "the standard has 7, and 8 for OFDMA"),
        ("implementation_margin_db", radio.implementation_margin_db, "the standard has 5"),
    ] {
        if !(0.0..=50.0).contains(&db) {
            refuse(&[key], "no receiver is like that", &format!("write decibels from 0 to 50; {usual}"));
        }
    }
    if !(1.0..=1e6).contains(&radio.going_down_factor) {
        let help = "write a factor from 1, where the link breaks, to 1000000; 4 are 6 dB";
        refuse(&["going_down_factor"], "a signal below its threshold is not heard any more", help);
    }
    if let Some(Adaptation { margin_db, hysteresis_db }) = radio.adaptation {
        for (key, db) in [("margin_db", margin_db), ("hysteresis_db", hysteresis_db)] {
            if !(0.0..=50.0).contains(&db) {
                refuse(
                    &["adaptation", key],
                    "no burst profile changes like that",
                    "write decibels from 0 to 50",
                );
            }
        }
    }
    for (number, threshold) in radio.thresholds.iter().enumerate() {
        let place = [&join(at, ["thresholds"])[..], &[At(number)]].concat();
        if radio.thresholds[..number].iter().any(|other| other.profile == threshold.profile) {
            report.add(&join(&place, ["profile"]), "this profile is listed twice", "write each profile once");
            good = false;
        } else if !(-50.0..=100.0).contains(&threshold.snr_db) {
            let message = "no burst profile has such a threshold";
            report.add(&join(&place, ["snr_db"]), message, "write decibels from -50 to 100");
            good = false;
        }
    }
    let thresholds_db = radio.config(cell).thresholds_db;
    if good && !unit(cell).profiles().iter().map(|profile| thresholds_db[*profile as usize]).is_sorted() {
        let message = "a faster burst profile would need less signal than a more robust one";
        let help = format!(
            "list the thresholds of others as well, so that they grow from {} to 64-QAM 3/4",
            cell.most_robust().name()
        );
        report.add(&join(at, ["thresholds"]), message, help);
        good = false;
    }
    if let Some(table) = &radio.block_errors {
        good &= check_block_errors(&join(at, ["block_errors"]), table, report);
    }
    path_loss::check(&join(at, ["path_loss"]), radio.path_loss, report) && good
}
