//! The radio.

use crate::access::path_loss;
use crate::access::wimax::build::radio::unit;
use crate::access::wimax::model::Wimax;
use crate::access::wimax::radio::{Adaptation, BlockErrors, Radio};
use crate::report::{At, Report, Step, join};

/// Nobody has a frequency outside of these (chosen: any band that 802.16 is for, and more).
const FREQUENCIES_HZ: std::ops::RangeInclusive<u64> = 1_000_000..=100_000_000_000;

/// Checks a table of block errors; whether it is one.
fn check_block_errors(at: &[Step], table: &BlockErrors, report: &mut Report<'_>) -> bool {
    let mut good = true;
    let mut refuse = |steps: &[Step], message: &str, help: &str| {
        report.add(steps, message, help);
        good = false;
    };
    if table.source.trim().is_empty() {
        let help = "write the publication, or the program, that its numbers are from";
        refuse(&join(at, ["source"]), "a table of block errors needs its source", help);
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
            let help = "order the points by signal over noise; errors must not rise";
            refuse(&points, "signal over noise must rise from point to point, and errors must not", help);
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
        refuse(
            &["frequency"],
            "this frequency is out of range for 802.16",
            "write a frequency such as \"3.5GHz\"",
        );
    }
    for (key, db, usual) in [
        ("noise_figure_db", radio.noise_figure_db.unwrap_or(0.0), "the standard has 7, and 8 for OFDMA"),
        ("implementation_margin_db", radio.implementation_margin_db, "the standard has 5"),
    ] {
        if !(0.0..=50.0).contains(&db) {
            let help = format!("write decibels from 0 to 50; {usual}");
            refuse(&[key], &format!("{db} dB is out of range"), &help);
        }
    }
    if !(1.0..=1e6).contains(&radio.going_down_factor) {
        let help = "write a factor from 1, where the link breaks, to 1000000; 4 is 6 dB";
        refuse(&["going_down_factor"], "a signal below its threshold is not heard any more", help);
    }
    if let Some(Adaptation { margin_db, hysteresis_db }) = radio.adaptation {
        for (key, db) in [("margin_db", margin_db), ("hysteresis_db", hysteresis_db)] {
            if !(0.0..=50.0).contains(&db) {
                let message = format!("{db} dB is out of range");
                refuse(&["adaptation", key], &message, "write decibels from 0 to 50");
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
