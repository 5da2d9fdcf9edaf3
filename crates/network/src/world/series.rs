//! Coarse series of a run: the counters of its flows and links, read at the end of each of some equal
//! parts.
//!
//! The run stops between two events to read them, so they cost nothing per packet. The parts add up to the
//! tables of the whole run. A window is the one at the end of a part.

use super::{Signals, World};
use crate::link::{Attachment, Link, LinkStats, Sender};
use crate::socket::User;
use crate::topology::LinkId;
use roamsim_engine::{Span, Time};
use roamsim_protocols::Address;
use std::cmp::Reverse;

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
    /// How long they waited before; where packets do not wait in a known order, how long all waited that did
    /// so in the part.
    pub waited: Span,
    /// Packets dropped.
    pub lost_packets: u64,
}

/// The parts of a direction of a link.
#[derive(Clone, Debug)]
pub struct LinkParts {
    /// It.
    pub way: Way,
    /// What it did, in order.
    pub parts: Vec<LinkPart>,
    /// The same of all parts so far together.
    account: LinkPart,
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

/// The parts of a flow, or of several together.
#[derive(Clone, Debug)]
pub struct FlowParts {
    /// What it did, in order.
    pub parts: Vec<FlowPart>,
    delivered_bytes: u64,
    /// Lost in the part under way.
    lost_packets: u64,
}

impl FlowParts {
    fn new() -> FlowParts {
        FlowParts { parts: Vec::with_capacity(Series::PARTS as usize), delivered_bytes: 0, lost_packets: 0 }
    }

    /// A part ends, up to which so many octets were delivered.
    fn take(&mut self, delivered_bytes: u64, cwnd_bytes: Option<u64>) {
        let before = std::mem::replace(&mut self.delivered_bytes, delivered_bytes);
        let lost_packets = std::mem::take(&mut self.lost_packets);
        self.parts.push(FlowPart { delivered_bytes: delivered_bytes - before, lost_packets, cwnd_bytes });
    }
}

/// The series of a run.
#[derive(Clone, Debug)]
pub struct Series {
    /// The ends of its parts; each has its end, and the first the beginning too.
    pub ends: Vec<Time>,
    /// The first flows, in order.
    pub flows: Vec<FlowParts>,
    /// All other flows together, where there are any. They have no window.
    pub other_flows: Option<FlowParts>,
    /// Directions of links, in order: all of few; of many, those that most flows share.
    pub links: Vec<LinkParts>,
}

impl Series {
    /// Parts of a run. Chosen: a line of so many points is smooth on any screen.
    pub const PARTS: u64 = 200;

    /// Flows, and directions of links, that have series of their own. Chosen: more lines cannot be told
    /// apart.
    pub const MOST: usize = 100;

    /// Flows whose ways are looked at for the links that most of them share, and steps of a way. Chosen.
    const LOOKED_AT: usize = 1000;
    const MOST_STEPS: usize = 32;

    /// The end of a part, from 1, of so many parts of a run that lasts until `end`.
    pub(super) fn end(end: Time, part: u64, parts: u64) -> Time {
        Time::from_ns((u128::from(end.as_ns()) * u128::from(part) / u128::from(parts)) as u64)
    }

    /// A part has come to its end.
    pub(super) fn take_part(&mut self, world: &mut World, end: Time) {
        self.ends.push(end);
        self.take_losses(world);
        world.read_sinks(self.flows.len());
        world.signals.iter_mut().for_each(|signals| signals.end_part());
        let mut delivered_bytes = 0;
        for (number, parts) in self.flows.iter_mut().enumerate() {
            let flow = &world.flows[number];
            delivered_bytes += flow.measurement.delivered_bytes;
            // Transfers that arrive have a connection each, and no window of their flow.
            let single = flow.connections.is_none();
            let cwnd_bytes = single.then(|| world.socket(flow.association.source).cwnd_bytes()).flatten();
            parts.take(flow.measurement.delivered_bytes, cwnd_bytes);
        }
        if let Some(others) = &mut self.other_flows {
            others.take(world.delivered_bytes - delivered_bytes, None);
        }
        for LinkParts { way, parts, account } in &mut self.links {
            let booked = world.network.link(way.link).booked_stats(way.from, end);
            let LinkStats { sent_packets, waiting: waited, dropped_packets: lost_packets, .. } = booked;
            let before = std::mem::replace(account, LinkPart { sent_packets, waited, lost_packets });
            parts.push(LinkPart {
                sent_packets: sent_packets - before.sent_packets,
                waited: waited.saturating_sub(before.waited),
                lost_packets: lost_packets - before.lost_packets,
            });
        }
    }

    /// Counts what was lost in the part for the flows whose data it was.
    fn take_losses(&mut self, world: &mut World) {
        let Some(mut lost) = world.network.lost_data.take() else { return };
        for socket in lost.drain(..) {
            let flow = match world.user(socket) {
                User::FlowSink(flow) | User::FlowBothWays { receives: flow, .. } => flow,
                // An answer, or what is for a program.
                User::FlowSource(flow) | User::Program(flow) => flow,
                User::Mih { .. } | User::Redirection { .. } | User::SelectedRedirection { .. } => continue,
            };
            match self.flows.get_mut(flow as usize) {
                Some(own) => own.lost_packets += 1,
                None => self.other_flows.iter_mut().for_each(|others| others.lost_packets += 1),
            }
        }
        world.network.lost_data = Some(lost);
    }
}

impl World {
    /// Keeps series of the run, from its beginning on, also of what the nodes with these names hear, which
    /// move.
    pub fn keep_series(&mut self, moving: &[&str]) {
        self.signals = (!moving.is_empty()).then(|| Box::new(Signals::new(self, moving)));
        self.network.lost_data = Some(Vec::new());
        let flows = self.flows.len();
        let link = |way| LinkParts {
            way,
            parts: Vec::with_capacity(Series::PARTS as usize),
            account: LinkPart::default(),
        };
        self.series = Some(Box::new(Series {
            ends: Vec::with_capacity(Series::PARTS as usize),
            flows: (0..flows.min(Series::MOST)).map(|_| FlowParts::new()).collect(),
            other_flows: (flows > Series::MOST).then(FlowParts::new),
            links: self.ways().into_iter().map(link).collect(),
        }));
    }

    /// The directions of links: all of few; of many, those that most flows share.
    fn ways(&self) -> Vec<Way> {
        let mut ways = Vec::new();
        for link in self.network.links() {
            let address = |Attachment(at): Attachment| link.addresses[at as usize];
            ways.extend(link.link.senders().into_iter().map(|Sender { from, to }| Way {
                link: link.number,
                from,
                at: address(from),
                to: to.map(address),
            }));
        }
        if ways.len() > Series::MOST {
            let flows = self.flows_by_link();
            ways.sort_by_key(|way| Reverse(flows[way.link.0 as usize]));
            ways.truncate(Series::MOST);
            ways.sort();
        }
        ways
    }

    /// By link, how many of the first flows send their data over it.
    fn flows_by_link(&self) -> Vec<u32> {
        let mut flows = vec![0; self.network.links().count()];
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
                let Some((link, next)) = at.and_then(|at| self.network.next_hop(at, [source, destination]))
                else {
                    break;
                };
                flows[link.0 as usize] += 1;
                at = next.filter(|&node| node != to);
            }
        }
        flows
    }
}
