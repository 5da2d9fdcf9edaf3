//! What is wrong with transfers that arrive.

use super::model::Transfers;
use crate::distribution::check::check_size;
use crate::files::transfers::Arrivals;
use crate::files::{Fault, only_first};
use crate::report::{Report, Step, join};
use crate::units;
use roamsim_engine::{Span, Time};

/// More arrivals are more than their number a run can begin.
const MOST_PER_S: f64 = 1e6;

/// More sockets than that are more memory than a run may take by an oversight: some 4 kB each.
const MOST_CONNECTIONS: u32 = 1_000_000;

pub(crate) fn check(at: &[Step], transfers: &Transfers, duration: Span, report: &mut Report<'_>) {
    match (transfers.rate_per_s, &transfers.trace, transfers.listed()) {
        (Some(rate_per_s), None, None) => {
            if !(rate_per_s > 0.0 && rate_per_s <= MOST_PER_S) {
                let help = "write a rate above zero, and of \"1000000/s\" at most";
                report.add(&join(at, ["rate"]), "transfers arrive at a rate above zero", help);
            }
            match &transfers.size {
                Some(size) => {
                    check_size(&join(at, ["size"]), size, report);
                }
                None => {
                    let help = "write `size = \"20kB\"`, or a distribution";
                    report.add(at, "nothing says how large a transfer is", help);
                }
            }
        }
        (Some(_), ..) => {
            let message = "`rate` and `trace` exclude each other";
            report.add(&join(at, ["rate"]), message, "write one of them");
        }
        (None, None, None) => {
            let help = "write `rate = \"20/s\"` and a `size`, or `trace = \"transfers.csv\"`";
            report.add(at, "nothing says when transfers arrive", help);
        }
        (None, _, Some(listed)) => {
            match listed {
                Err(Fault { message, help, .. }) => report.add(&join(at, ["content"]), message, help),
                Ok(arrivals) => check_first(at, transfers, arrivals, duration, report),
            }
            if transfers.size.is_some() {
                let message = "a list of transfers already has their sizes";
                report.add(&join(at, ["size"]), message, "leave `size` out");
            }
        }
        // The file of a scenario that came without a folder.
        (None, Some(_), None) => {
            let help = "write `content`, the lines of the file, or read the scenario from a file beside it";
            report.add(&join(at, ["trace"]), "this file was not read", help);
        }
    }
    if !(1..=MOST_CONNECTIONS).contains(&transfers.max_connections) {
        let message = format!("a flow has a connection or more, and {MOST_CONNECTIONS} at most");
        report.add(&join(at, ["max_connections"]), message, "leave it out, for 10,000");
    }
}

/// Refuses a list of which nothing arrives, however early it starts. Starts beyond the end are reported where
/// they stand.
fn check_first(
    at: &[Step],
    transfers: &Transfers,
    arrivals: &Arrivals,
    duration: Span,
    report: &mut Report<'_>,
) {
    let stop = transfers.stop.map_or(duration, |stop| stop.since(Time::ZERO));
    let end = stop.min(duration);
    let (start, Some(&(first, _))) = (transfers.start.at_least(), arrivals.first()) else { return };
    let first = start + first;
    if start < end && first >= end {
        let (ends, longer) = match stop < duration {
            true => ("`stop` is", "have them `stop` later"),
            false => ("the run ends", "give the scenario a longer `duration`"),
        };
        let message = format!(
            "no transfer arrives: the first would arrive at {}, and {ends} at {}",
            units::time_text(first),
            units::time_text(end)
        );
        let help = format!("times of the list begin with `start`; shift them, or {longer}");
        report.add(&join(at, ["content"]), message, help);
    } else if let Some(&(second, _)) = arrivals.get(1)
        && let Some((message, help)) = only_first(arrivals.len(), "transfers", start + second, duration)
    {
        report.warn(&join(at, ["content"]), message, help);
    }
}
