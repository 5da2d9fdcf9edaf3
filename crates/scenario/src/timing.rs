//! What starts, stops and warms up: within the run.

use roamsim_engine::{Span, Time};

use crate::distribution::check::check_distribution;
use crate::distribution::model::TimeDistribution;
use crate::report::{Report, Step, join};
use crate::units;

/// Checks that something is measured after the warm-up of the table that the steps lead to.
pub(crate) fn check_warm_up(at: &[Step], warm_up: Time, duration: Span, report: &mut Report<'_>) {
    if warm_up > Time::ZERO && warm_up.since(Time::ZERO) >= duration && duration > Span::ZERO {
        let message =
            format!("nothing is counted, because the run ends after {}", units::time_text(duration));
        let help = "let the warm-up end earlier, or give the scenario a longer `duration`";
        report.add(&join(at, ["warm_up"]), message, help);
    }
}

/// Checks that a source begins within the run and ends after it began.
pub(crate) fn check_times(
    at: &[Step],
    start: &TimeDistribution,
    stop: Option<Time>,
    duration: Span,
    report: &mut Report<'_>,
) {
    let steps = join(at, ["start"]);
    check_distribution(&steps, start, None, report);
    // Some times have no bound: they must do with a mean within the run.
    let latest = match *start {
        TimeDistribution::Exponential { mean } | TimeDistribution::Pareto { mean, .. } => mean,
        TimeDistribution::Constant { value: max } | TimeDistribution::Uniform { max, .. } => max,
    };
    check_latest_start(&steps, latest, start.is_constant(), duration, report);
    let Some(stop) = stop else { return };
    if start.max().is_none() {
        report.add(
            &join(at, ["stop"]),
            "an exponential or Pareto `start` may be later than any `stop`",
            "draw `start` from a uniform distribution that ends before it, or leave `stop` out",
        );
    } else if stop.since(Time::ZERO) <= latest {
        let which = if start.is_constant() { "`start`" } else { "the latest `start`" };
        let message = format!("`stop` must be later than {which}, {}", units::time_text(latest));
        report.add(
            &join(at, ["stop"]),
            message,
            "stop later, or leave `stop` out to go on until the run ends",
        );
    }
}

/// Checks that what starts at the time that the steps lead to does so before the run ends.
pub(crate) fn check_start(steps: &[Step], start: Time, duration: Span, report: &mut Report<'_>) {
    check_latest_start(steps, start.since(Time::ZERO), true, duration, report);
}

/// The same of a start that may be drawn; `certain`: it is not.
fn check_latest_start(steps: &[Step], latest: Span, certain: bool, duration: Span, report: &mut Report<'_>) {
    if latest >= duration && duration > Span::ZERO {
        let starts = if certain { "starts" } else { "may start" };
        let message = format!("this {starts} after the run has ended, at {}", units::time_text(duration));
        report.add(steps, message, "start earlier, or give the scenario a longer `duration`");
    }
}
