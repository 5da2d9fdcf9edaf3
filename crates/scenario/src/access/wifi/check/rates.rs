//! Rates of data frames that adapt.

use crate::access::wifi::model::Wifi;
use crate::access::wifi::rates::{Aarf, Arf, BySignal, Minstrel, RateControl, RateThreshold};
use crate::report::{At, Key, Report, Step, join};
use crate::units::rate_text;
use roamsim_engine::Span;

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
                report.add(&join(at, ["most_successes"]), message, "write a larger one; 50 is usual");
            }
            [("successes", successes), ("failures", failures), ("timer_attempts", timer_attempts)]
        }
        RateControl::Minstrel(minstrel) => return check_minstrel(minstrel, at, report),
    };
    for (key, count) in counts {
        if count == 0 {
            let help = "write 1 or more; the authors have 10 successes, 2 failures, and 15 attempts";
            report.add(&join(at, [key]), "a rate cannot change after zero frames", help);
        }
    }
}

fn check_minstrel(minstrel: Minstrel, at: &[Step], report: &mut Report<'_>) {
    let Minstrel { interval, ewma_percent, lookaround_percent } = minstrel;
    if interval == Span::ZERO {
        let message = "an interval this short has single exchanges, not means";
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
            0 => "without sampling frames, only the lowest rate is tried".to_owned(),
            more => format!("{more} % of the frames cannot be sampling frames"),
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
