//! Readers of flows.

use roamsim_engine::{Span, Time};

use super::model::{Flow, Reader};
use crate::application::model::Application;
use crate::report::{At, Key, Report, Step, join};
use crate::transport::Transport;
use crate::units::time_text;

/// Checks the readers of a flow.
pub(crate) fn check(i: usize, flow: &Flow, duration: Span, report: &mut Report<'_>) {
    let at = [Key("flow"), At(i)];
    let readers = [("reader", &flow.reader), ("reverse_reader", &flow.reverse_reader)];
    for (key, reader) in readers {
        let Some(reader) = reader else { continue };
        let steps = join(&at, [key]);
        if !matches!(*flow.transport, Transport::Tcp(_)) {
            let message =
                format!("`{key}` needs TCP: over UDP and SCTP whatever arrives is read at once here");
            report.add(&steps, message, "leave it out, or use protocol = \"tcp\"");
        } else if key == "reverse_reader" && !flow.bidirectional {
            let message = format!("nothing but answers goes from \"{}\" to \"{}\"", flow.to, flow.from);
            let help = "write `reader`, which reads at `to`, or bidirectional = true";
            report.add(&steps, message, help);
        }
        check_pace(&steps, reader, report);
        check_pauses(&steps, reader, duration, report);
        check_stop(&steps, reader, flow, duration, report);
    }
}

fn check_pace(at: &[Step], reader: &Reader, report: &mut Report<'_>) {
    let size = join(at, ["read_size"]);
    if reader.rate_bps == Some(0) {
        let help = "write a rate above zero; `pauses` are for times without reading";
        report.add(&join(at, ["read_rate"]), "a rate of zero reads nothing", help);
    } else if reader.rate_bps.is_none() && reader.pauses.is_empty() && reader.stop.is_none() {
        let help = "write `read_rate`, `pauses` or `stop`, or leave the reader out";
        report.add(at, "this has no effect: it reads data as soon as they arrive", help);
    }
    if reader.read_size_bytes == Some(0) {
        report.add(&size, "a read of zero bytes takes nothing", "write a size of 1 B or more");
    } else if reader.read_size_bytes.is_some() && reader.rate_bps.is_none() {
        let help = "write `read_rate` beside it, or leave `read_size` out";
        report.add(&size, "without `read_rate` a read takes whatever there is", help);
    }
    // A whole read must take time, or a full buffer is read in more events than an instant may have.
    if let Some(rate_bps) = reader.rate_bps.filter(|&rate_bps| rate_bps > 0)
        && reader.read_size_bytes() > 0
        && Span::of_transmission(reader.read_size_bytes(), rate_bps) == Span::ZERO
    {
        let message = format!("a read of {} B takes no time at this rate", reader.read_size_bytes());
        let help =
            "read more slowly, or in larger pieces; without `read_rate` whatever there is is read at once";
        report.add(&join(at, ["read_rate"]), message, help);
    }
}

/// Checks that an application that closes does so while something may arrive, and that nobody is left who
/// would write.
fn check_stop(at: &[Step], reader: &Reader, flow: &Flow, duration: Span, report: &mut Report<'_>) {
    let Some(stop) = reader.stop else { return };
    let steps = join(at, ["stop"]);
    let stop = stop.since(Time::ZERO);
    let start = flow.application.start();
    if flow.bidirectional {
        let help = "leave `stop` out, or write two flows of one direction";
        report.add(&steps, "the end that closes has data of its own to send (`bidirectional`)", help);
    } else if matches!(flow.application, Application::RequestResponse(_)) {
        let help =
            "leave `stop` out, or write it under `application`, for the client to send no more requests";
        report.add(&steps, "a server that closes answers nobody any more", help);
    } else if stop >= duration && duration > Span::ZERO {
        let message = format!("the reader never stops: the run ends after {}", time_text(duration));
        report.add(&steps, message, "stop earlier, or leave `stop` out to read until the run ends");
    } else if start.max().is_none() {
        let help = "draw it from a uniform distribution that ends before it, or leave `stop` out";
        report.add(
            &steps,
            "an exponential or Pareto `start` of the application may be later than any `stop`",
            help,
        );
    } else if let Some(latest) = start.max().filter(|&latest| stop <= latest) {
        let message = format!(
            "`stop` must be later than the `start` of the application, {}: nothing has arrived by then",
            time_text(latest)
        );
        report.add(&steps, message, "stop later, or leave `stop` out to read until the run ends");
    }
}

fn check_pauses(at: &[Step], reader: &Reader, duration: Span, report: &mut Report<'_>) {
    let pauses = &reader.pauses;
    let place = |i: usize| [at, &[Key("pauses"), At(i)]].concat();
    for (i, pause) in pauses.iter().enumerate() {
        if pause.stop <= pause.start {
            let start = time_text(pause.start.since(Time::ZERO));
            let message = format!("`stop` must be later than `start`, {start}");
            report.add(&join(&place(i), ["stop"]), message, "stop the pause later");
        } else if pause.start.since(Time::ZERO) >= duration && duration > Span::ZERO {
            let message = format!("this pause never begins: the run ends after {}", time_text(duration));
            let help = "pause earlier, or give the scenario a longer `duration`";
            report.add(&join(&place(i), ["start"]), message, help);
        } else if let Some(stop) = reader.stop.filter(|&stop| pause.start >= stop) {
            let message =
                format!("this pause never begins: the reader stops at {}", time_text(stop.since(Time::ZERO)));
            report.add(&join(&place(i), ["start"]), message, "pause earlier, or stop later");
        }
    }
    let mut order: Vec<usize> = (0..pauses.len()).filter(|&i| pauses[i].start < pauses[i].stop).collect();
    order.sort_by_key(|&i| pauses[i].start);
    for pair in order.windows(2) {
        let (earlier, later) = (pair[0], pair[1]);
        if pauses[later].start < pauses[earlier].stop {
            let start = time_text(pauses[later].start.since(Time::ZERO));
            let stop = time_text(pauses[earlier].stop.since(Time::ZERO));
            let message = format!("a pause begins at {start}, while another lasts until {stop}");
            let help = "make one of the two, or start the later one when the other is over";
            report.add_related(&place(later), message, help, (&place(earlier), "the other pause"));
        }
    }
}
