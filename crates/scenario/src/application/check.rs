//! What is wrong with an application by itself.

use roamsim_engine::Span;

use super::model::{Application, Cbr};
use super::video;
use crate::distribution::check::check_distribution;
use crate::distribution::model::SizeDistribution;
use crate::report::{Report, Step, join};
use crate::units::time_text;

/// What comes at one instant is in memory at one instant.
const MAX_MEAN_BATCH: u64 = 10_000;

/// What an application hands to its transport in one piece.
pub(crate) fn sizes(application: &Application) -> Vec<(&'static str, SizeDistribution)> {
    match application {
        Application::Bulk(_) | Application::Transfer(_) | Application::Transfers(_) => vec![],
        Application::Cbr(a) => vec![("packet_size", a.packet_size)],
        Application::Poisson(a) => vec![("packet_size", a.packet_size)],
        Application::OnOff(a) => vec![("packet_size", a.packet_size)],
        Application::RequestResponse(a) => {
            let sizes = [("request_size", a.request_size), ("response_size", a.response_size)];
            sizes.into_iter().filter_map(|(key, size)| Some((key, size?))).collect()
        }
        Application::Video(a) => {
            vec![("packet_size", SizeDistribution::Constant { value_bytes: a.packet_size_bytes })]
        }
    }
}

/// Checks an application; of a flow over UDP or not, and of a program outside or not.
pub(crate) fn check(
    at: &[Step],
    application: &Application,
    over_udp: bool,
    from_program: bool,
    duration: Span,
    report: &mut Report<'_>,
) {
    if over_udp && !from_program && matches!(application, Application::Bulk(_) | Application::Transfer(_)) {
        let message =
            format!("`{}` needs TCP or SCTP: over UDP nothing says when to send", application.kind());
        report.add(
            &join(at, ["kind"]),
            message,
            "use TCP or SCTP, or an application with a rate such as \"cbr\"",
        );
    }
    match application.deadline() {
        Some(Span::ZERO) => {
            report.add(&join(at, ["deadline"]), "this time must be above zero", "write a time above zero");
        }
        Some(deadline) if deadline >= duration => {
            let message = format!("no deadline of a message ends within the run of {}", time_text(duration));
            report.add(&join(at, ["deadline"]), message, "write a shorter one, such as \"100ms\"");
        }
        _ => {}
    }
    match application {
        Application::Bulk(_) => {}
        Application::Transfers(a) => super::transfers::check::check(at, a, duration, report),
        Application::Video(a) => video::check::check(at, a, report),
        Application::Transfer(a) => {
            if a.size_bytes == 0 {
                report.add(
                    &join(at, ["size"]),
                    "there is nothing to transfer",
                    "write a size of 1 B or more",
                );
            }
        }
        Application::Cbr(a) => check_pace(at, a, report),
        Application::Poisson(a) => {
            if a.mean_interval == Span::ZERO {
                let steps = join(at, ["mean_interval"]);
                report.add(&steps, "packets without time between them never end", "write a time above zero");
            }
            if !(1..=MAX_MEAN_BATCH).contains(&a.mean_batch_packets) {
                let message =
                    format!("a batch has 1 packet or more, and {MAX_MEAN_BATCH} at most in the mean");
                report.add(&join(at, ["mean_batch"]), message, "write 1 for packets that come alone");
            } else if a.mean_interval.as_ns().checked_mul(a.mean_batch_packets).is_none() {
                let steps = join(at, ["mean_interval"]);
                report.add(
                    &steps,
                    "batches would be too far apart",
                    "write a shorter time, or smaller batches",
                );
            }
        }
        Application::OnOff(a) => {
            if a.rate_bps == 0 {
                report.add(&join(at, ["rate"]), "a rate of zero sends nothing", "write a rate above zero");
            }
            check_distribution(&join(at, ["on"]), &a.on, Some("an on-period of zero sends nothing"), report);
            check_distribution(&join(at, ["off"]), &a.off, None, report);
        }
        Application::RequestResponse(a) => {
            check_distribution(&join(at, ["think_time"]), &a.think_time, None, report);
            check_distribution(&join(at, ["processing_time"]), &a.processing_time, None, report);
            let steps = join(at, ["timeout"]);
            if a.timeout.is_some() && !over_udp {
                let help = "leave `timeout` out: TCP and SCTP deliver every request";
                report.add(&steps, "`timeout` is for requests over UDP", help);
            } else if a.timeout == Some(Span::ZERO) {
                report.add(&steps, "this time must be above zero", "write a time above zero");
            }
        }
    }
}

fn check_pace(at: &[Step], cbr: &Cbr, report: &mut Report<'_>) {
    match (cbr.interval, cbr.rate_bps) {
        (Some(_), Some(_)) => {
            let message = "`interval` and `rate` exclude each other";
            report.add(&join(at, ["interval"]), message, "write one of them");
        }
        (None, None) => {
            let help = "write `interval`, the time between two packets, or `rate`";
            report.add(at, "a CBR source needs an `interval` or a `rate`", help);
        }
        (Some(Span::ZERO), None) => {
            let steps = join(at, ["interval"]);
            report.add(&steps, "packets without time between them never end", "write a time above zero");
        }
        (None, Some(0)) => {
            report.add(&join(at, ["rate"]), "a rate of zero sends nothing", "write a rate above zero");
        }
        _ => {}
    }
}
