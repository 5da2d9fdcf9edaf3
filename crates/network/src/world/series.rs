//! What a run does over time, coarsely: the accounts of its flows and links, read at the end of each of some equal parts of it.
//!
//! The run stops between two events to be read, so that no packet costs anything for it, and what is counted in all parts
//! together is what the tables of the whole run say. A window is that at the end of a part.

use super::World;
use crate::link::{Attachment, Link, LinkStats};
use crate::network::LinkView;
use crate::topology::LinkId;
use roamsim_engine::{Span, Time};
use roamsim_protocols::Address;
use std::collections::BTreeMap;

/// What a flow did in a part of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowPart {
    /// Octets delivered to its application.
    pub delivered_bytes: u64,
    /// Packets with its data that were dropped on the way.
    pub lost_packets: u64,
    /// The congestion window of its sender at the end of the part.
    pub cwnd_bytes: Option<u64>,
}

/// What a direction of a link did in a part of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkPart {
    /// Packets that had their time on it, or were certain to have.
    pub sent_packets: u64,
    /// How long they waited before; where packets do not wait in a known order, how long all waited that did so in the part.
    pub waited: Span,
    /// Packets dropped.
    pub lost_packets: u64,
}

/// A part.
pub trait Part: Copy + Default {
    /// What was counted since an earlier account.
    fn since(self, earlier: Self) -> Self;
}

impl Part for FlowPart {
    fn since(self, earlier: FlowPart) -> FlowPart {
        FlowPart {
            delivered_bytes: self.delivered_bytes - earlier.delivered_bytes,
            lost_packets: self.lost_packets - earlier.lost_packets,
            cwnd_bytes: self.cwnd_bytes,
        }
    }
}

impl Part for LinkPart {
    fn since(self, earlier: LinkPart) -> LinkPart {
        LinkPart {
            sent_packets: self.sent_packets - earlier.sent_packets,
            waited: self.waited.saturating_sub(earlier.waited),
            lost_packets: self.lost_packets - earlier.lost_packets,
        }
    }
}

/// The parts of one of them, in order.
#[derive(Clone, Debug)]
pub struct Parts<P> {
    account: P,
    /// They.
    pub parts: Vec<P>,
}

impl<P: Part> Parts<P> {
    fn new() -> Parts<P> {
        Parts { account: P::default(), parts: Vec::with_capacity(Series::PARTS as usize) }
    }

    fn take(&mut self, account: P) {
        self.parts.push(account.since(self.account));
        self.account = account;
    }
}

/// The series of a run.
#[derive(Clone, Debug, Default)]
pub struct Series {
    /// The ends of its parts.
    pub ends: Vec<Time>,
    /// The first flows, in order.
    pub flows: Vec<Parts<FlowPart>>,
    /// All other flows together, where there are any. They have no window.
    pub other_flows: Option<Parts<FlowPart>>,
    /// Directions of links, in order.
    pub links: Vec<(Way, Parts<LinkPart>)>,
}

/// A direction of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Way {
    link: LinkId,
    from: Attachment,
    /// The interface that packets leave by.
    pub at: Address,
    /// The one that they come to; `None`: those of all who hear it.
    pub to: Option<Address>,
}

impl Series {
    /// Parts of a run. Chosen: a line of so many points is smooth on any screen.
    pub const PARTS: u64 = 200;

    /// Flows, and directions of links, that have series of their own. Chosen: more lines cannot be told apart.
    pub const MOST: usize = 100;

    /// Flows whose ways are looked at for the links that most of them share, and steps of a way. Chosen: as many as cost nothing.
    const LOOKED_AT: usize = 1000;
    const MOST_STEPS: usize = 32;

    /// The ends of the parts of a run that lasts until `end`; each part has its end, and the first has the beginning too.
    pub fn ends(end: Time) -> impl Iterator<Item = Time> {
        let whole = u128::from(end.as_ns());
        (1..=Series::PARTS)
            .map(move |part| Time::from_ns((whole * u128::from(part) / u128::from(Series::PARTS)) as u64))
    }

    /// The run begins.
    pub(super) fn begin(&mut self, world: &World) {
        self.flows = (0..world.flows.len().min(Series::MOST)).map(|_| Parts::new()).collect();
        self.other_flows = (world.flows.len() > Series::MOST).then(Parts::new);
        self.links = chosen_ways(world).into_iter().map(|way| (way, Parts::new())).collect();
    }

    /// A part has come to its end.
    pub(super) fn take_part(&mut self, world: &World, end: Time) {
        self.ends.push(end);
        for (number, parts) in self.flows.iter_mut().enumerate() {
            parts.take(world.flow_account(number));
        }
        if let Some(others) = &mut self.other_flows {
            let mut sum = FlowPart::default();
            for number in Series::MOST..world.flows.len() {
                let flow = world.flow_deliveries(number);
                sum.delivered_bytes += flow.delivered_bytes;
                sum.lost_packets += flow.lost_packets;
            }
            others.take(sum);
        }
        for (way, parts) in &mut self.links {
            let LinkStats { sent_packets, waiting, dropped_packets, .. } =
                world.network.link(way.link).booked_stats(way.from, end);
            parts.take(LinkPart { sent_packets, waited: waiting, lost_packets: dropped_packets });
        }
    }
}

impl World {
    fn flow_account(&self, number: usize) -> FlowPart {
        let flow = &self.flows[number];
        // Transfers that arrive have a connection each, and no window of their flow.
        let single = flow.connections.is_none();
        let cwnd_bytes = single.then(|| self.socket(flow.association.source).cwnd_bytes()).flatten();
        FlowPart { cwnd_bytes, ..self.flow_deliveries(number) }
    }

    fn flow_deliveries(&self, number: usize) -> FlowPart {
        let flow = &self.flows[number];
        let lost = |association| self.network.lost_data.of(association, flow.server.is_some());
        FlowPart {
            delivered_bytes: flow.measurement.delivered_bytes,
            lost_packets: match &flow.connections {
                None => lost(flow.association),
                Some(connections) => connections.associations().map(lost).sum(),
            },
            cwnd_bytes: None,
        }
    }

    /// By direction, how many of the first flows send their data over it.
    fn flows_by_way(&self) -> BTreeMap<(LinkId, Attachment), u64> {
        let mut flows = BTreeMap::new();
        for flow in self.flows.iter().take(Series::LOOKED_AT) {
            let (from, to) = (self.node(flow.association.source), self.node(flow.association.sink));
            let topology = &self.network.topology;
            let Some((source, destination)) =
                topology.address_for(from, to).zip(topology.address_for(to, from))
            else {
                continue;
            };
            let mut at = Some(from);
            for _ in 0..Series::MOST_STEPS {
                let Some((way, next)) = at.and_then(|at| self.network.next_hop(at, [source, destination]))
                else {
                    break;
                };
                *flows.entry(way).or_default() += 1;
                at = next.filter(|&node| node != to);
            }
        }
        flows
    }
}

/// The directions of links that have series: all of few; of many, those that most flows share.
fn chosen_ways(world: &World) -> Vec<Way> {
    let of = |link: LinkView<'_>| {
        let addresses = link.addresses.to_vec();
        link.link.senders().into_iter().map(move |sender| Way {
            link: link.number,
            from: sender.from,
            at: addresses[sender.from.0 as usize],
            to: sender.to.map(|Attachment(to)| addresses[to as usize]),
        })
    };
    let mut ways: Vec<Way> = world.network.links().flat_map(of).collect();
    if ways.len() > Series::MOST {
        let flows = world.flows_by_way();
        ways.sort_by_key(|way| std::cmp::Reverse(flows.get(&(way.link, way.from)).copied().unwrap_or(0)));
        ways.truncate(Series::MOST);
        ways.sort();
    }
    ways
}
