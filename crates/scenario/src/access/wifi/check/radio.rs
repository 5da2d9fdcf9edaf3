//! The radio.

use super::rates::check_thresholds;
use crate::access::Context;
use crate::access::path_loss;
use crate::access::wifi::model::Wifi;
use crate::access::wifi::radio::{ByDistance, PerCoherenceTime, PerFrame, Radio, Reception, Shadowing, Sinr};
use crate::report::{At, Report, Step, join};
use crate::units::rate_text;
use roamsim_engine::Span;

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
        let message = format!("{} dB is out of range", radio.shadowing_deviation_db);
        report.add(&join(&steps, ["shadowing_deviation_db"]), message, help);
        return;
    }
    if !check_shadowing(radio, &join(&steps, ["shadowing"]), report) {
        return;
    }
    if let Some(capture) = radio.capture
        && !(0.0..=100.0).contains(&capture.threshold_db)
    {
        let help = "write decibels from 0 to 100; 10 is usual";
        let message = format!("{} dB is out of range", capture.threshold_db);
        report.add(&join(&steps, ["capture", "threshold_db"]), message, help);
        return;
    }
    if let Reception::Sinr(Sinr { noise_figure_db }) = radio.reception {
        if !(0.0..=50.0).contains(&noise_figure_db) {
            let help = "write decibels from 0 to 50; the standard has 10";
            let place = join(&steps, ["reception", "noise_figure_db"]);
            report.add(&place, format!("{noise_figure_db} dB is out of range"), help);
            return;
        }
        if radio.capture.is_some() {
            let message = "reception by \"sinr\" already adds up interference";
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
        let message = "`radius` and `reception_threshold` both set the least power of a received frame";
        report.add(&join(&steps, ["reception_threshold"]), message, "leave one of them out");
        return;
    }
    if !radio.reception_thresholds.is_empty() && !check_listed(cell, radio, &steps, report) {
        return;
    }
    let config = radio.config(cell);
    if config.carrier_sense_threshold_dbm > config.least_threshold_dbm() {
        let message = format!(
            "a station would receive frames from {:.1}dBm on, and not sense them",
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
        let message =
            format!("`{other}` and `reception_thresholds` both set the least power of a received frame");
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
            Some(("coherence_time", "this time must be above zero", "write a time such as \"100ms\""))
        }
        Shadowing::ByDistance(ByDistance { decorrelation_distance_m }) if decorrelation_distance_m <= 0.0 => {
            Some((
                "decorrelation_distance",
                "this length must be above zero",
                "write a length such as \"20m\"",
            ))
        }
        Shadowing::PerCoherenceTime(_) | Shadowing::ByDistance(_) => None,
    };
    if let Some((key, message, help)) = refused {
        report.add(&join(steps, [key]), message, help);
        return false;
    }
    if radio.shadowing_deviation_db == 0.0 {
        let help = "write a `shadowing_deviation_db` above 0 as well, or leave this out";
        report.add(steps, "without `shadowing_deviation_db` there is no shadowing", help);
        return false;
    }
    true
}
