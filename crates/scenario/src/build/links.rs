//! Links: their places in the topology, and the machines of wires and wireless LANs.

use super::{Builder, NewLink, NewMachine, escaped};
use crate::model::link::{Link as LinkModel, LossModel as Losses, Queue, Transitions as Moves};
use crate::model::wifi::{Preamble as PreambleModel, Wifi};
use roamsim_network::flow::Flow;
use roamsim_network::link::loss::{Loss, LossModel, Transitions};
use roamsim_network::link::wifi::{Cell, CellConfig, Preamble};
use roamsim_network::link::wired::{Outage, Wire, WireConfig};
use roamsim_network::link::{AnyLink, Attachment, QueueLimit};
use roamsim_network::topology::{Interface, LinkId, NodeId, Topology};
use roamsim_protocols::Address;

impl<'a> Builder<'a> {
    /// Gives every link its place in the topology.
    pub(super) fn links(&self, topology: &mut Topology) -> Vec<NewLink<'a>> {
        let mut links = Vec::new();
        for model in &self.scenario.links {
            let ends = [self.node(&model.between[0]), self.node(&model.between[1])];
            let first = links.len() as u32;
            let addresses = [0, 1].map(|from: usize| {
                topology.add_interface(Interface {
                    node: ends[from],
                    link: LinkId(first + from as u32),
                    attachment: Attachment(0),
                    neighbour: ends[1 - from],
                    mtu_bytes: model.mtu_bytes as u32,
                    name: model.name.clone(),
                })
            });
            for from in [0, 1] {
                links.push(NewLink {
                    model: NewMachine::Wire(model, from),
                    addresses: vec![addresses[from], addresses[1 - from]],
                });
            }
        }
        for model in &self.scenario.wifi {
            let ends = [self.node(&model.access_point), self.node(&model.stations[0])];
            let number = LinkId(links.len() as u32);
            let addresses = shared(topology, number, ends, model.mtu_bytes, &model.name);
            links.push(NewLink { model: NewMachine::Wifi(model), addresses: addresses.to_vec() });
        }
        for model in &self.scenario.cells {
            let addresses = self.cell_interfaces(topology, model, LinkId(links.len() as u32));
            links.push(NewLink { model: NewMachine::Cell(model), addresses });
        }
        for model in &self.scenario.dect {
            let ends = [self.node(&model.terminal), self.node(&model.gateway)];
            let number = LinkId(links.len() as u32);
            let addresses = shared(topology, number, ends, model.mtu_bytes, &model.name);
            links.push(NewLink { model: NewMachine::Dect(model), addresses: addresses.to_vec() });
        }
        links
    }

    /// The direction of a point-to-point link that starts from one of its ends.
    pub(super) fn wire(&self, model: &LinkModel, from: usize, flows: &[Flow]) -> AnyLink {
        let sender = &model.between[from];
        let loss = model.loss.iter().find(|loss| loss.from.as_ref().is_none_or(|name| name == sender));
        let loss = loss.map(|loss| {
            Loss::new(loss_model(&loss.model, flows), loss.start, |purpose| {
                self.stream("link", &model.name, &[&escaped(sender), purpose])
            })
        });
        let config = WireConfig {
            rate_bps: model.rate_bps,
            delay: model.delay,
            queue: queue_limit(model.queue),
            mtu_bytes: model.mtu_bytes as u32,
            outages: model
                .outages
                .iter()
                .map(|outage| Outage { start: outage.start, end: outage.start + outage.duration })
                .collect(),
        };
        AnyLink::Wire(Wire::new(config, loss))
    }

    pub(super) fn wifi(&self, model: &Wifi) -> AnyLink {
        let config = CellConfig {
            rate_bps: model.rate_bps,
            basic_rate_bps: model.acknowledgement_rate_bps(),
            preamble: match model.preamble {
                PreambleModel::Long => Preamble::Long,
                PreambleModel::Short => Preamble::Short,
            },
            cw_min: model.cw_min,
            queue: queue_limit(model.queue),
            mtu_bytes: model.mtu_bytes as u32,
        };
        AnyLink::Wifi(Box::new(Cell::new(config, |purpose| self.stream("wifi", &model.name, &[purpose]))))
    }
}

/// Gives a link that is one machine for both its ends a place in the topology.
fn shared(
    topology: &mut Topology,
    link: LinkId,
    ends: [NodeId; 2],
    mtu_bytes: u64,
    name: &str,
) -> [Address; 2] {
    [0, 1].map(|end: usize| {
        topology.add_interface(Interface {
            node: ends[end],
            link,
            attachment: Attachment(end as u32),
            neighbour: ends[1 - end],
            mtu_bytes: mtu_bytes as u32,
            name: name.to_owned(),
        })
    })
}

pub(super) fn queue_limit(queue: Queue) -> QueueLimit {
    match queue {
        Queue::Packets(packets) => QueueLimit::Packets(packets),
        Queue::Bytes(bytes) => QueueLimit::Bytes(bytes),
    }
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
