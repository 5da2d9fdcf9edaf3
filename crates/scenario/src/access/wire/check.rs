//! Wired links.

mod path;

use std::collections::BTreeMap;

use roamsim_engine::{Span, Time};

use super::model::{Link, LossModel, Outage, Transitions};
use crate::access::Context;
use crate::access::mtu::{MAX_MTU_BYTES, check_mtu};
use crate::access::queue::check_queue;
use crate::names;
use crate::report::{At, Report, Step, join};
use crate::timing::check_start;

/// Costs have 16 bits (RFC 2328 appendix A.4.2).
const MAX_COST: u32 = 65_535;

/// Shorter stays than the time between packets say nothing that a loss probability does not say.
const SHORTEST_STAY: Span = Span::from_us(1);

pub(super) fn check(link: &Link, at: &[Step], context: &Context<'_>, report: &mut Report<'_>) {
    let [a, b] = &link.between;
    for (end, name) in link.between.iter().enumerate() {
        let mut steps = join(at, ["between"]);
        steps.push(At(end));
        context.names.resolve(name, &steps, report);
    }
    if a == b {
        let message = format!("this link joins \"{a}\" with itself");
        report.add(&join(at, ["between"]), message, "a link is between two different nodes");
    }
    path::check(at, link, context, report);
    if let Some(queue) = link.own_queue() {
        check_queue(at, queue, context.traffic, report);
    }
    check_mtu(at, link.mtu_bytes, MAX_MTU_BYTES, context.network.general.ip, report);
    if !(1..=MAX_COST).contains(&link.cost) {
        let message = format!("a link costs 1 or more on a route, and {MAX_COST} at most");
        report.add(&join(at, ["cost"]), message, "leave it out, for 1");
    }
    check_losses(at, link, context, report);
    let copies: Vec<_> = link.duplicate.iter().map(|duplicate| duplicate.from.as_ref()).collect();
    check_directions((at, "duplicate"), link, &copies, false, report);
    check_outages(at, &link.outages, context.network.duration(), report);
}

/// Checks that each entry of a list is of an end of the link, and each direction of one entry; where there
/// `must` be one, each has it. Returns by entry whether it is of an end.
pub(super) fn check_directions(
    (at, key): (&[Step], &'static str),
    link: &Link,
    froms: &[Option<&String>],
    must: bool,
    report: &mut Report<'_>,
) -> Vec<bool> {
    // The entry that covers each direction, by the end that it starts from.
    let mut covered: [Option<usize>; 2] = [None; 2];
    let mut known = Vec::new();
    let entry = |j: usize| {
        let mut steps = join(at, [key]);
        steps.push(At(j));
        steps
    };
    for (j, &from) in froms.iter().enumerate() {
        let [a, b] = &link.between;
        known.push(from.is_none_or(|from| link.end(from).is_some()));
        if let (Some(from), Some(false)) = (from, known.last()) {
            let message = format!("\"{from}\" is not an end of this link");
            let help = format!("write \"{a}\" or \"{b}\", or leave `from` out");
            report.add(&join(&entry(j), ["from"]), message, help);
            continue;
        }
        for (end, first) in covered.iter_mut().enumerate() {
            if !link.is_of(from, end) {
                continue;
            }
            match *first {
                None => *first = Some(j),
                Some(first) => {
                    let plural = if key == "loss" { "losses" } else { &format!("{key}s") };
                    let message = format!("the direction from \"{}\" has two {plural}", link.between[end]);
                    let help = "write one entry a direction, each with its `from`";
                    report.add_related(&entry(j), message, help, (&entry(first), "the first"));
                    break;
                }
            }
        }
    }
    if let (true, Some(end)) = (must, covered.iter().position(Option::is_none))
        && known.iter().all(|&known| known)
    {
        let message = format!("the direction from \"{}\" has no {key}", link.between[end]);
        let help = format!(
            "write an entry with `from = \"{}\"`, or one without `from`, for both",
            link.between[end]
        );
        report.add(&join(at, [key]), message, help);
    }
    known
}

fn check_losses(at: &[Step], link: &Link, context: &Context<'_>, report: &mut Report<'_>) {
    let froms: Vec<_> = link.loss.iter().map(|loss| loss.from.as_ref()).collect();
    let known = check_directions((at, "loss"), link, &froms, false, report);
    for (j, loss) in link.loss.iter().enumerate().filter(|&(j, _)| known[j]) {
        let mut steps = join(at, ["loss"]);
        steps.push(At(j));
        check_start(&join(&steps, ["start"]), loss.start, context.network.duration(), report);
        check_loss_model(&steps, &loss.model, context, report);
    }
}

/// Checks what decides about losses, of a wire or of another access.
pub(in crate::access) fn check_loss_model(
    at: &[Step],
    model: &LossModel,
    context: &Context<'_>,
    report: &mut Report<'_>,
) {
    match model {
        LossModel::GilbertElliott { transitions: Transitions::PerTime { mean_good, mean_bad }, .. } => {
            for (key, mean) in [("mean_good", mean_good), ("mean_bad", mean_bad)] {
                if *mean < SHORTEST_STAY {
                    let message = "the mean stay in a state must be 1us or more";
                    report.add(&join(at, [key]), message, "write a longer time, such as \"100ms\"");
                }
            }
        }
        LossModel::List { segments, flow } => {
            check_list(at, segments, report);
            let flows = names::each_once(context.traffic.flows().into_iter());
            if flow.as_deref().is_some_and(|flow| context.traffic.has_transfers(flow)) {
                let message =
                    "these transfers have connections of their own, whose packets are not counted together";
                let help = "leave `flow` out, to count the packets of all flows, or name another flow";
                report.add(&join(at, ["flow"]), message, help);
            }
            if let Some(flow) = flow
                && !flows.contains(&flow.as_str())
            {
                names::report_unknown("flow", flow, flows.into_iter(), &join(at, ["flow"]), report);
            }
        }
        LossModel::Series(series) => {
            path::check_steps(at, series, context, report);
        }
        LossModel::Bernoulli { .. } | LossModel::GilbertElliott { .. } => {}
    }
}

/// Checks the numbers of a loss list: each from 1 on, and none twice. An empty list loses nothing.
fn check_list(at: &[Step], segments: &[u64], report: &mut Report<'_>) {
    let steps = |k| {
        let mut steps = join(at, ["segments"]);
        steps.push(At(k));
        steps
    };
    let mut first: BTreeMap<u64, usize> = BTreeMap::new();
    for (k, &number) in segments.iter().enumerate() {
        if number == 0 {
            let help = "the first packet with data is number 1; handshakes and pure ACKs do not count";
            report.add(&steps(k), "packets are counted from 1", help);
        } else if let Some(&earlier) = first.get(&number) {
            let message = format!("packet {number} is on the list twice");
            let help = "a packet is lost once; a retransmission is a packet of its own, with a later number";
            report.add_related(&steps(k), message, help, (&steps(earlier), "the first"));
        } else {
            first.insert(number, k);
        }
    }
}

fn check_outages(at: &[Step], outages: &[Outage], duration: Span, report: &mut Report<'_>) {
    let steps = |j| {
        let mut steps = join(at, ["outages"]);
        steps.push(At(j));
        steps
    };
    for (j, outage) in outages.iter().enumerate() {
        check_start(&join(&steps(j), ["start"]), outage.start, duration, report);
        if outage.duration == Span::ZERO {
            let steps = join(&steps(j), ["duration"]);
            report.add(
                &steps,
                "an outage must last longer than zero",
                "write a time above zero, or leave it out",
            );
        }
    }
    let mut order: Vec<usize> = (0..outages.len()).collect();
    order.sort_by_key(|&j| outages[j].start);
    let mut last: Option<(usize, Time)> = None;
    for j in order {
        let end = outages[j].start + outages[j].duration;
        if let Some((earlier, earlier_end)) = last
            && outages[j].start < earlier_end
        {
            let message = "this outage begins before another has ended";
            let help = "write one outage that covers both";
            report.add_related(&steps(j), message, help, (&steps(earlier), "the other"));
        }
        if last.is_none_or(|(_, earlier_end)| end > earlier_end) {
            last = Some((j, end));
        }
    }
}
