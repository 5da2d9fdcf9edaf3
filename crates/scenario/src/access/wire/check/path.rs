//! What is wrong with the rate, the delay, the loss or the signal of a wire over time.

use std::collections::BTreeSet;

use roamsim_engine::{Span, Time};
use roamsim_network::link::pace::{HEADER_BYTES, OPPORTUNITY_BYTES};

use super::check_directions;
use crate::access::Context;
use crate::access::stations::THAT_COME_AND_GO;
use crate::access::wire::model::Link;
use crate::access::wire::path::{Begins, LinkEvent, LinkEventName, Rate, Varying};
use crate::distribution::check::check_distribution;
use crate::files::{Fault, only_first};
use crate::names::report_unknown;
use crate::report::{At, Report, Step, join};
use crate::timing::check_start;
use crate::units::time_text;

/// Shorter periods have a packet pass through more steps than a run can.
const SHORTEST_PERIOD: Span = Span::from_ms(1);

/// Checks rates and delays.
pub(super) fn check(at: &[Step], link: &Link, context: &Context<'_>, report: &mut Report<'_>) {
    let rates: Vec<_> = link.rate.iter().map(|rate| rate.from.as_ref()).collect();
    check_directions((at, "rate"), link, &rates, true, report);
    let delays: Vec<_> = link.delay.iter().map(|delay| delay.from.as_ref()).collect();
    check_directions((at, "delay"), link, &delays, true, report);
    let entry = |key: &'static str, j: usize| {
        let mut steps = join(at, [key]);
        steps.push(At(j));
        steps
    };
    let signals: Vec<_> = link.signal.iter().map(|signal| signal.from.as_ref()).collect();
    check_directions((at, "signal"), link, &signals, false, report);
    for (j, signal) in link.signal.iter().enumerate() {
        let steps = entry("signal", j);
        if check_steps(&steps, signal, context, report) && signal.steps_by_time().is_empty() {
            let help = "write a signal such as \"-85dBm\", or `steps` or a `file`";
            report.add(&steps, "this direction has no signal", help);
        }
    }
    for (j, rate) in link.rate.iter().enumerate() {
        check_rate(&entry("rate", j), rate, link, context, report);
    }
    for (j, delay) in link.delay.iter().enumerate() {
        let steps = entry("delay", j);
        if check_steps(&steps, delay, context, report) && delay.steps_by_time().is_empty() {
            let help = "write a time such as \"10ms\", or `steps` or a `file`";
            report.add(&steps, "this direction has no delay", help);
        }
        check_distribution(&join(&steps, ["jitter"]), &delay.jitter, None, report);
        if delay.reordering && delay.jitter.is_constant() && delay.never_changes() {
            let message = "packets that all take the same time overtake none";
            report.add(
                &join(&steps, ["reordering"]),
                message,
                "leave it out, or draw `jitter` for each packet",
            );
        }
    }
}

fn check_rate(at: &[Step], rate: &Rate, link: &Link, context: &Context<'_>, report: &mut Report<'_>) {
    if rate.mahimahi.is_some() || rate.opportunities.is_some() {
        return check_recorded(at, rate, link, context, report);
    }
    if !check_steps(at, rate, context, report) {
        return;
    }
    let rates = rate.steps_by_time().into_iter().map(|(_, rate_bps)| rate_bps);
    let rates: Vec<u64> = rates.chain(rate.steps.iter().map(|step| step.rate_bps)).collect();
    if rates.is_empty() {
        let help = "write a rate such as \"10Mb/s\", or `steps`, a `file` or a trace of `mahimahi`";
        report.add(at, "this direction has no rate", help);
    } else if rates.iter().all(|&rate_bps| rate_bps == 0) {
        report.add(at, "a rate of zero carries nothing", "write a rate above zero");
    }
    // A header of IPv4 must take at least a nanosecond, or time stands still.
    let standing = |&rate_bps: &u64| Span::of_transmission(20, rate_bps) == Span::ZERO;
    let no_delay = link.delay.iter().any(|delay| {
        let by_event = delay.steps.iter().filter(|step| step.on.is_some()).map(|step| step.delay);
        delay
            .steps_by_time()
            .into_iter()
            .map(|(_, delay)| delay)
            .chain(by_event)
            .any(|delay| delay == Span::ZERO)
    });
    if no_delay && rates.iter().any(standing) {
        let message = "a packet takes no time over this link: its rate is too high for a delay of zero";
        report.add(at, message, "write a delay above zero, or a rate below 320 Gb/s");
    }
}

/// Checks the trace of a recorded path.
fn check_recorded(at: &[Step], rate: &Rate, link: &Link, context: &Context<'_>, report: &mut Report<'_>) {
    let others = [
        ("constant", rate.constant_bps.is_some()),
        ("steps", !rate.steps.is_empty()),
        ("file", rate.file.is_some()),
        ("content", rate.content.is_some()),
        ("period", rate.period.is_some()),
    ];
    for (key, _) in others.into_iter().filter(|&(_, written)| written) {
        let message = format!("`{key}` has no effect beside a trace of mahimahi, which sets the whole rate");
        report.add(&join(at, [key]), message, "leave it out, or leave the trace out");
    }
    match rate.schedule_ms() {
        None => report.add(&join(at, ["mahimahi"]), NOT_READ, NOT_READ_HELP),
        Some(Err(Fault { message, help, .. })) => report.add(&join(at, ["opportunities"]), message, help),
        Some(Ok(schedule_ms)) => {
            let second = schedule_ms.get(1).map(|&ms| Span::from_ms(ms.into()));
            let warning = second.and_then(|second| {
                only_first(schedule_ms.len(), "opportunities", second, context.network.duration())
            });
            if let Some((message, help)) = warning {
                report.warn(&join(at, ["opportunities"]), message, help);
            }
        }
    }
    let largest_bytes = u64::from(OPPORTUNITY_BYTES - HEADER_BYTES);
    if link.mtu_bytes > largest_bytes {
        let message = format!(
            "an opportunity of a trace of mahimahi carries {largest_bytes} B of IP, the MTU is {} B",
            link.mtu_bytes
        );
        report.add(at, message, format!("write mtu = \"{largest_bytes}B\" or less"));
    }
}

const NOT_READ: &str = "this file was not read";
const NOT_READ_HELP: &str =
    "write the lines of the file in its place, or read the scenario from a file beside it";

/// Checks what changes by steps; false where something is wrong.
pub(super) fn check_steps<V: Varying>(
    at: &[Step],
    model: &V,
    context: &Context<'_>,
    report: &mut Report<'_>,
) -> bool {
    let before = report.count();
    let steps = model.steps();
    match model.rows() {
        None if model.file().is_some() => report.add(&join(at, ["file"]), NOT_READ, NOT_READ_HELP),
        Some(Err(Fault { message, help, .. })) => report.add(&join(at, ["content"]), message, help),
        Some(Ok(_)) if !steps.is_empty() => {
            let message = "`steps` and a file exclude each other";
            report.add(&join(at, ["steps"]), message, "write one of them");
        }
        Some(Ok(rows)) => warn_of_rows(at, rows, model.constant().is_some(), context, report),
        None => {}
    }
    let mut first = model.rows().and_then(Result::ok).and_then(|rows| Some(rows.first()?.0));
    let mut last: Option<Time> = None;
    for (j, (begins, _)) in steps.iter().enumerate() {
        let mut here = join(at, ["steps"]);
        here.push(At(j));
        match *begins {
            Begins { at: Some(time), on: None } => {
                if last.is_some_and(|last| time <= last) {
                    let help = "write the steps in order of time, each time once";
                    report.add(&join(&here, ["at"]), "this time is not after the one before it", help);
                } else if last.is_none() && time > Time::ZERO && model.constant().is_none() {
                    let message =
                        format!("the value before {} is missing", time_text(time.since(Time::ZERO)));
                    report.add(&here, message, "write `constant` beside `steps`, or a first step at \"0s\"");
                }
                check_start(&join(&here, ["at"]), time, context.network.duration(), report);
                first.get_or_insert(time);
                last = Some(time);
            }
            Begins { at: None, on: Some(event) } => check_event(&join(&here, ["on"]), event, context, report),
            Begins { at: Some(_), on: Some(_) } => {
                report.add(&here, "a step begins at a time or on a link event", "write `at` or `on`");
            }
            Begins { at: None, on: None } => {
                report.add(
                    &here,
                    "the beginning of this step is missing",
                    "write `at`, a time, or `on`, a link event",
                );
            }
        }
    }
    let by_event = steps.iter().any(|(begins, _)| begins.on.is_some());
    if by_event && last.is_none() && model.constant().is_none() && model.content().is_none() {
        let help = "write `constant` beside `steps`, or a first step at \"0s\"";
        report.add(at, "the value before the first link event is missing", help);
    }
    if model.constant().is_some() && first == Some(Time::ZERO) {
        let message = "`constant` never holds: the first step is at \"0s\"";
        report.add(&join(at, ["constant"]), message, "leave one of them out");
    }
    if let Some(period) = model.period().filter(|_| report.count() == before) {
        let here = join(at, ["period"]);
        let steps = model.steps_by_time();
        let last = steps.last().map_or(Time::ZERO, |&(last, _)| last);
        if steps.len() < 2 && !by_event {
            let message = "`period` has no effect: there is one value all the time";
            report.add(&here, message, "leave `period` out, or write `steps`");
        } else if period < SHORTEST_PERIOD || Time::ZERO + period <= last {
            let message = format!(
                "the steps begin again before the last of them, at {}",
                time_text(last.since(Time::ZERO))
            );
            report.add(&here, message, "write a period longer than that, 1ms or more");
        } else if by_event {
            let help = "leave `period` out, or write all steps with `at`";
            report.add(&here, "a step on a link event cannot be part of a period", help);
        }
    }
    report.count() == before
}

/// Warns of a file if at most one of its values holds within the run.
fn warn_of_rows(
    at: &[Step],
    rows: &[(Time, f64)],
    constant: bool,
    context: &Context<'_>,
    report: &mut Report<'_>,
) {
    let duration = context.network.duration();
    let since = |row: usize| rows.get(row).map(|&(at, _)| at.since(Time::ZERO));
    let steps = join(at, ["content"]);
    match (since(0), since(1)) {
        (Some(first), _) if constant && first >= duration => {
            let message = format!(
                "no value of this file falls into the run: the first is at {}, and the run ends after {}",
                time_text(first),
                time_text(duration)
            );
            let help = "check the unit of the times, or give the scenario a longer `duration`";
            report.warn(&steps, message, help);
        }
        (Some(_), Some(second)) if !constant => {
            if let Some((message, help)) = only_first(rows.len(), "values", second, duration) {
                report.warn(&steps, message, help);
            }
        }
        _ => {}
    }
}

fn check_event(at: &[Step], event: &LinkEvent, context: &Context<'_>, report: &mut Report<'_>) {
    let names: Vec<&str> = context.network.accesses().map(|entry| entry.access.name()).collect();
    let Some(entry) = context.network.access(&event.link) else {
        return report_unknown("link", &event.link, names.into_iter(), &join(at, ["link"]), report);
    };
    if let Some(node) = &event.node
        && context.names.resolve(node, &join(at, ["node"]), report).is_none()
    {
        return;
    }
    let is_commanded = context.traffic.is_commanded(&event.link);
    let events_of = |node: &str| match entry.access.link_events(node) {
        [] if is_commanded && entry.access.is_switched_at(node) => LinkEventName::UP_AND_DOWN,
        events => events,
    };
    let pairs = entry.access.pairs();
    let nodes: BTreeSet<&str> = pairs.iter().flat_map(|pair| pair.nodes).collect();
    let with_events: Vec<&str> = nodes.into_iter().filter(|node| !events_of(node).is_empty()).collect();
    let Some(&one) = with_events.first() else {
        let message = format!("\"{}\" has no link events", event.link);
        let help = format!(
            "a [[link]] has some with `outages`, or where `actions` of a [[signalling]] switch it, the terminal of a \
             [[dect]], and the stations of {THAT_COME_AND_GO}"
        );
        return report.add(&join(at, ["link"]), message, help);
    };
    if let Some(node) = &event.node
        && !with_events.contains(&node.as_str())
    {
        let message = format!("\"{node}\" has no link events of \"{}\"", event.link);
        let help = format!("write \"{}\", or leave `node` out", with_events.join("\" or \""));
        return report.add(&join(at, ["node"]), message, help);
    }
    let happen = events_of(one);
    if !happen.contains(&event.event) {
        let message = format!("\"{}\" never has a {}", event.link, event.event.name());
        let names: Vec<_> = happen.iter().map(|event| format!("\"{}\"", event.name())).collect();
        report.add(&join(at, ["event"]), message, format!("write {}", names.join(" or ")));
    }
}
