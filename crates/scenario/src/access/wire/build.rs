//! The machine of one direction of a wire.

use super::model::{Kind, Link as LinkModel, LossModel as Losses, Transitions as Moves};
use super::path::{Delay as DelayModel, LinkEvent, Rate, Varying};
use crate::access::Making;
use crate::access::queue::{Queue, queue_limit};
use crate::builder::escaped;
use crate::distribution::build::time_distribution;
use roamsim_engine::{Span, Stream};
use roamsim_network::flow::Flow;
use roamsim_network::link::AnyLink;
use roamsim_network::link::delay::Delay;
use roamsim_network::link::loss::{Loss, LossModel, Transitions};
use roamsim_network::link::managed_wire::{Change, ManagedWire, ManagedWireConfig};
use roamsim_network::link::pace::{OPPORTUNITY_BYTES, Opportunities, Pace};
use roamsim_network::link::series::Series;
use roamsim_network::link::wired::{Outage, Wire, WireConfig};
use roamsim_network::queue::drop_tail::DropTail;

/// The direction that starts from one of the ends.
pub(super) fn machine(model: &LinkModel, from: usize, making: &Making<'_>) -> AnyLink {
    let LinkModel { name, between, kind } = model;
    let Kind { rate: _, delay: _, queue: _, mtu_bytes, cost: _, loss, duplicate: _, outages, signal: _ } =
        &**kind;
    let mtu_bytes = *mtu_bytes as u32;
    let stream = |purpose: &str| making.builder.stream("link", name, &[&escaped(&between[from]), purpose]);
    let loss = loss.iter().find(|loss| model.is_of(loss.from.as_ref(), from));
    let loss = loss.map(|loss| Loss::new(loss_model(&loss.model, making.flows), loss.start, stream));
    let outages = outages
        .iter()
        .map(|outage| Outage { start: outage.start, end: outage.start + outage.duration })
        .collect();
    // Validation refuses a direction without a rate or a delay.
    let (no_rate, no_delay) = (Rate::default(), DelayModel::default());
    let rate = model.rate_from(from).unwrap_or(&no_rate);
    let delay = model.delay_from(from).unwrap_or(&no_delay);
    let queue = model.queue_from(from);
    let duplicate = model.duplicate_from(from).map(|probability| (probability, stream("duplicate")));
    let signal_dbm = model.signal_at(from).map(|signal| series(signal, 0.0));
    let managed = duplicate.is_some()
        || signal_dbm.is_some()
        || !changes(model, from).is_empty()
        || making.traffic.is_commanded(name)
        || making.traffic.has_errors_counted(name);
    if let (Some(rate_bps), Some(delay), Some(queue @ Queue::DropTail(_)), false) =
        (constant_rate_bps(rate), constant_delay(delay), queue, managed)
    {
        let config = WireConfig { rate_bps, delay, queue: queue_limit(queue), mtu_bytes, outages };
        return AnyLink::Wire(Wire::new(config, loss));
    }
    let queue = match queue {
        None => DropTail::new(None).into(),
        Some(queue) => {
            queue.rule(highest_bps(rate), mtu_bytes).discipline(queue_limit(queue), stream("queue"))
        }
    };
    let config = ManagedWireConfig {
        pace: pace(rate),
        delay: delay_machine(delay, || stream("jitter")),
        queue,
        mtu_bytes,
        outages,
        loss,
        duplicate,
        signal_dbm,
    };
    AnyLink::ManagedWire(Box::new(ManagedWire::new(config)))
}

/// How the direction that starts from one of the ends changes at link events.
pub(super) fn changes(model: &LinkModel, from: usize) -> Vec<(&LinkEvent, Change)> {
    let mut changes = Vec::new();
    changes.extend(model.rate_from(from).into_iter().flat_map(Varying::changes));
    changes.extend(model.delay_from(from).into_iter().flat_map(Varying::changes));
    let loss = model.loss.iter().find(|loss| model.is_of(loss.from.as_ref(), from));
    if let Some(Losses::Series(series)) = loss.map(|loss| &loss.model) {
        changes.extend(series.changes());
    }
    changes.extend(model.signal_at(from).into_iter().flat_map(Varying::changes));
    changes
}

/// The rate where it is always the same.
fn constant_rate_bps(rate: &Rate) -> Option<u64> {
    let constant = rate.never_changes() && rate.opportunities.is_none();
    rate.constant_bps.filter(|_| constant)
}

/// The delay where it is always the same.
fn constant_delay(delay: &DelayModel) -> Option<Span> {
    delay.constant.filter(|_| delay.never_changes() && delay.jitter.is_zero())
}

/// The values over time; of keys that are valid there are some.
fn series<V: Varying>(model: &V, otherwise: V::Value) -> Series<V::Value> {
    Series::new(model.steps_by_time(), model.period()).unwrap_or_else(|| Series::constant(otherwise))
}

fn pace(rate: &Rate) -> Pace {
    let schedule_ms = rate.schedule_ms().and_then(Result::ok);
    match schedule_ms.and_then(|schedule_ms| Opportunities::new(schedule_ms.clone())) {
        Some(opportunities) => Pace::Opportunities(opportunities),
        None => Pace::Rate(series(rate, 1)),
    }
}

/// The highest rate of a series, the mean of a trace: by which RED has its mean decay while nothing waits.
pub(super) fn highest_bps(rate: &Rate) -> u64 {
    if let Some(Ok(schedule_ms)) = rate.schedule_ms() {
        let bits = schedule_ms.len() as f64 * 8.0 * f64::from(OPPORTUNITY_BYTES);
        let ms = schedule_ms.last().map_or(1.0, |&ms| f64::from(ms));
        return (bits * 1e3 / ms) as u64;
    }
    let by_time = rate.steps_by_time().into_iter().map(|(_, rate_bps)| rate_bps);
    by_time.chain(rate.steps.iter().map(|step| step.rate_bps)).max().unwrap_or(1)
}

fn delay_machine(model: &DelayModel, random: impl FnOnce() -> Stream) -> Delay {
    let jitter = (!model.jitter.is_zero()).then(|| (time_distribution(&model.jitter), random()));
    Delay { series: series(model, Span::ZERO), jitter, reordering: model.reordering }
}

/// What decides about losses, of a wire or of another access.
pub(in crate::access) fn loss_model(model: &Losses, flows: &[Flow]) -> LossModel {
    match *model {
        Losses::Bernoulli { probability } => LossModel::Bernoulli { probability },
        Losses::Series(ref model) => LossModel::Series { probability: series(model, 0.0) },
        Losses::List { ref segments, ref flow } => {
            let mut segments = segments.clone();
            segments.sort_unstable();
            // Validation refuses the name of no flow.
            let flow = flow.as_ref().and_then(|name| flows.iter().find(|flow| *flow.name == **name));
            LossModel::List { segments, association: flow.map(|flow| flow.association) }
        }
        Losses::GilbertElliott { transitions, loss_good, loss_bad } => LossModel::GilbertElliott {
            transitions: match transitions {
                Moves::PerPacket { good_to_bad, bad_to_good } => {
                    Transitions::PerPacket { good_to_bad, bad_to_good }
                }
                Moves::PerTime { mean_good, mean_bad } => Transitions::PerTime {
                    mean_good_s: mean_good.as_secs_f64(),
                    mean_bad_s: mean_bad.as_secs_f64(),
                },
            },
            loss_good,
            loss_bad,
        },
    }
}
