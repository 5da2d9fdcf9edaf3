//! The machine of one direction of a wire.

use super::model::{Link as LinkModel, LossModel as Losses, Transitions as Moves};
use crate::access::Making;
use crate::access::queue::{Queue, queue_limit};
use crate::build::escaped;
use roamsim_network::flow::Flow;
use roamsim_network::link::AnyLink;
use roamsim_network::link::loss::{Loss, LossModel, Transitions};
use roamsim_network::link::managed_wire::ManagedWire;
use roamsim_network::link::wired::{Outage, Wire, WireConfig};

/// The direction that starts from one of the ends.
pub(super) fn machine(model: &LinkModel, from: usize, making: &Making<'_>) -> AnyLink {
    let &LinkModel { ref name, ref between, rate_bps, delay, queue, mtu_bytes, ref loss, ref outages } =
        model;
    let sender = &between[from];
    let loss = loss.iter().find(|loss| model.loses_from(loss, from));
    let loss = loss.map(|loss| {
        Loss::new(loss_model(&loss.model, making.flows), loss.start, |purpose| {
            making.builder.stream("link", name, &[&escaped(sender), purpose])
        })
    });
    let config = WireConfig {
        rate_bps,
        delay,
        queue: queue_limit(queue),
        mtu_bytes: mtu_bytes as u32,
        outages: outages
            .iter()
            .map(|outage| Outage { start: outage.start, end: outage.start + outage.duration })
            .collect(),
    };
    if matches!(queue, Queue::DropTail(_)) {
        return AnyLink::Wire(Wire::new(config, loss));
    }
    let rule = queue.rule(rate_bps, config.mtu_bytes);
    let random = making.builder.stream("link", name, &[&escaped(sender), "queue"]);
    AnyLink::ManagedWire(Box::new(ManagedWire::new(config, rule, loss, random)))
}

fn loss_model(model: &Losses, flows: &[Flow]) -> LossModel {
    match *model {
        Losses::Bernoulli { probability } => LossModel::Bernoulli { probability },
        Losses::List { ref segments, ref flow } => {
            let mut segments = segments.clone();
            segments.sort_unstable();
            // Validation refuses the name of no flow.
            let flow = flow.as_ref().and_then(|name| flows.iter().find(|flow| flow.name == *name));
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
