//! Readers of flows.

use roamsim_engine::{Span, Time};

use super::{At, Key, Report, Step, join};
use crate::Scenario;
use crate::model::flow::{Pause, Reader};
use crate::model::transport::Transport;
use crate::units::time_text;

/// Checks the readers of a flow.
pub(super) fn check(i: usize, scenario: &Scenario, report: &mut Report<'_>) {
    let flow = &scenario.flows[i];
    let at = [Key("flow"), At(i)];
    let readers = [("reader", &flow.reader), ("reverse_reader", &flow.reverse_reader)];
    for (key, reader) in readers {
        let Some(reader) = reader else { continue };
        let steps = join(&at, [key]);
        if !matches!(flow.transport, Transport::Tcp(_)) {
            let message =
                format!("`{key}` needs TCP: over UDP and SCTP whatever arrives is read at once here");
            report.add(&steps, message, "leave it out, or use protocol = \"tcp\"");
        } else if key == "reverse_reader" && !flow.bidirectional {
            let message = format!("nothing but answers goes from \"{}\" to \"{}\"", flow.to, flow.from);
            let help = "write `reader` for what arrives at `to`, or bidirectional = true";
            report.add(&steps, message, help);
        }
        check_pace(&steps, reader, report);
        check_pauses(&steps, &reader.pauses, scenario, report);
    }
}

fn check_pace(at: &[Step], reader: &Reader, report: &mut Report<'_>) {
    let size = join(at, ["read_size"]);
    if reader.rate_bps == Some(0) {
        let help = "write a rate above zero; `pauses` are for times without reading";
        report.add(&join(at, ["read_rate"]), "a rate of zero reads nothing", help);
    } else if reader.rate_bps.is_none() && reader.pauses.is_empty() {
        let help = "write `read_rate` or `pauses`, or leave the reader out";
        report.add(at, "this reads at once whatever arrives, as without it", help);
    }
    if reader.read_size_bytes == Some(0) {
        report.add(&size, "a read of zero bytes takes nothing", "write a size of 1 B or more");
    } else if reader.read_size_bytes.is_some() && reader.rate_bps.is_none() {
        let help = "write `read_rate` beside it, or leave `read_size` out";
        report.add(&size, "without `read_rate` a read takes whatever there is", help);
    }
}

fn check_pauses(at: &[Step], pauses: &[Pause], scenario: &Scenario, report: &mut Report<'_>) {
    let duration = scenario.general.duration;
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
