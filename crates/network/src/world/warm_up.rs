//! A warm-up that results leave out: the counters of flows, links, drops and signalling at its end.
//!
//! The run stops once between two events to read them, so that they cost nothing per packet. They are
//! subtracted from the counters at the end of the run. The longest queue and the waits in queues cannot be
//! subtracted, so links restart them.

use super::World;
use crate::application::{Mark, Measurement};
use crate::drops::DropReason;
use crate::link::{Attachment, Link, LinkStats, Sender};
use crate::network::{DropCount, Drops};
use crate::signalling::{End, Signalling};
use crate::socket::{Counts, Traffic};
use crate::topology::{LinkId, NodeId};
use roamsim_engine::{Span, Time};
use roamsim_protocols::mih::{Held, SessionId, Stats};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The accounts of a run as they were when its warm-up ended.
#[derive(Clone, Debug, Default)]
pub(super) struct WarmUp {
    /// When that was.
    at: Time,
    flows: Vec<(Mark, [Counts; 2])>,
    links: BTreeMap<(LinkId, Attachment), LinkStats>,
    drops: BTreeMap<(LinkId, Attachment, DropReason), DropCount>,
    no_route: BTreeMap<NodeId, DropCount>,
    not_registered: BTreeMap<NodeId, DropCount>,
    no_socket: BTreeMap<NodeId, DropCount>,
    signalling: Vec<([Stats; 2], [Traffic; 2])>,
    states: Vec<[Held; 2]>,
}

impl World {
    /// Has what is counted before `at` cut from the results.
    pub fn cut_warm_up(&mut self, at: Time) {
        self.warm_up = Some(Box::new(WarmUp { at, ..WarmUp::default() }));
    }

    /// When the run stops to read its accounts: before all that happens when the warm-up ends.
    pub(super) fn last_of_warm_up(&self) -> Option<Time> {
        self.warm_up.as_ref().map(|warm_up| Time::from_ns(warm_up.at.as_ns().saturating_sub(1)))
    }

    /// The warm-up is over.
    pub(super) fn end_warm_up(&mut self) {
        let at = self.measured_from();
        self.settle_counts(at);
        let Some(mut warm_up) = self.warm_up.take() else { return };
        self.read_sinks(self.flows.len());
        warm_up.flows = (0..self.flows.len())
            .map(|flow| (self.flows[flow].measurement.mark(), self.flow_counts(flow as u32)))
            .collect();
        for link in self.network.links() {
            let senders = link.link.senders();
            warm_up.links.extend(senders.into_iter().map(|Sender { from, .. }| {
                let stats = link.link.stats(from, at);
                ((link.number, from), stats)
            }));
        }
        warm_up.drops = self
            .network
            .drops()
            .map(|drop| ((drop.link.number, drop.from, drop.reason), drop.count))
            .collect();
        warm_up.no_route = self.network.no_route_drops().collect();
        warm_up.not_registered = self.network.tunnels.not_registered_drops().collect();
        warm_up.no_socket = self.network.edge.no_socket_drops().collect();
        warm_up.signalling = (0..self.signalling.len())
            .map(|entry| (self.session_stats(entry as u32), self.session_traffic(entry as u32)))
            .collect();
        for entry in 0..self.signalling.len() {
            warm_up.states.push(self.session_states(entry as u32, at));
            let Signalling { origin, responder, .. } = self.signalling[entry];
            for End { mihf, session } in [origin, responder] {
                self.mih_nodes[mihf as usize].mihf.forget_most_states(SessionId(session), at);
            }
        }
        self.network.forget_longest(at);
        self.warm_up = Some(warm_up);
    }

    /// The run has ended within its warm-up: nothing is cut.
    pub(super) fn forget_warm_up(&mut self) {
        self.warm_up = None;
    }

    /// When measurement begins: at the end of the warm-up, or with the run.
    pub fn measured_from(&self) -> Time {
        self.warm_up.as_ref().map_or(Time::ZERO, |warm_up| warm_up.at)
    }

    /// How long is measured of a run that lasts until `end`.
    pub fn measured(&self, end: Time) -> Span {
        end.since(self.measured_from())
    }

    /// What was measured of a flow.
    pub fn flow_measurement(&self, flow: usize) -> Cow<'_, Measurement> {
        let whole = &self.flows[flow].measurement;
        match &self.warm_up {
            None => Cow::Borrowed(whole),
            Some(warm_up) => Cow::Owned(whole.since(warm_up.flows[flow].0)),
        }
    }

    /// What the two ends of a flow have counted.
    pub fn measured_counts(&self, flow: usize) -> [Counts; 2] {
        let [source, sink] = self.flow_counts(flow as u32);
        let before = self.warm_up.as_ref().map_or_else(Default::default, |warm_up| warm_up.flows[flow].1);
        [source.since(before[0]), sink.since(before[1])]
    }

    /// What was measured of the attachment of a link that sends.
    pub fn link_measurement(&self, link: LinkId, from: Attachment, end: Time) -> LinkStats {
        let before = self.warm_up.as_ref().and_then(|warm_up| warm_up.links.get(&(link, from)));
        self.network.link(link).stats(from, end).since(before.copied().unwrap_or_default())
    }

    /// What was dropped on links.
    pub fn measured_drops(&self) -> impl Iterator<Item = Drops<'_>> {
        let dropped = self.network.drops().map(|drop| {
            let before = self
                .warm_up
                .as_ref()
                .and_then(|warm_up| warm_up.drops.get(&(drop.link.number, drop.from, drop.reason)));
            Drops { count: drop.count.since(before.copied().unwrap_or_default()), ..drop }
        });
        dropped.filter(|drop| drop.count.packets > 0)
    }

    /// What was dropped for want of a route, by node.
    pub fn measured_no_route_drops(&self) -> impl Iterator<Item = (NodeId, DropCount)> {
        since(self.network.no_route_drops(), self.warm_up.as_ref().map(|warm_up| &warm_up.no_route))
    }

    /// What was dropped because a mobile node was not registered, by node.
    pub fn measured_not_registered_drops(&self) -> impl Iterator<Item = (NodeId, DropCount)> {
        let before = self.warm_up.as_ref().map(|warm_up| &warm_up.not_registered);
        since(self.network.tunnels.not_registered_drops(), before)
    }

    /// What came from outside to nodes where nobody takes it, by node.
    pub fn measured_no_socket_drops(&self) -> impl Iterator<Item = (NodeId, DropCount)> {
        since(self.network.edge.no_socket_drops(), self.warm_up.as_ref().map(|warm_up| &warm_up.no_socket))
    }

    /// What the MIH functions of a signalling entry count: origin, responder.
    fn session_stats(&self, number: u32) -> [Stats; 2] {
        let entry = &self.signalling[number as usize];
        [entry.origin, entry.responder].map(|End { mihf, session, .. }| {
            self.mih_nodes[mihf as usize].mihf.stats(SessionId(session)).clone()
        })
    }

    /// What was measured of them.
    pub fn measured_session_stats(&self, number: u32) -> [Stats; 2] {
        let whole = self.session_stats(number);
        match &self.warm_up {
            None => whole,
            Some(warm_up) => {
                let [origin, responder] = &warm_up.signalling[number as usize].0;
                [whole[0].since(origin), whole[1].since(responder)]
            }
        }
    }

    /// Transaction states that the ends held while its source was active and its measurement on: the integral
    /// of their number over that time, in nanoseconds, and the most at once up to the end of the run.
    pub fn measured_session_states(&self, number: u32, end: Time) -> [Held; 2] {
        let whole = self.session_states(number, end);
        let until = self.signalling[number as usize].states_at_stop.unwrap_or(whole);
        let before = self.warm_up.as_ref().map_or_else(Default::default, |w| w.states[number as usize]);
        std::array::from_fn(|at| Held {
            area_ns: until[at].area_ns.saturating_sub(before[at].area_ns),
            ..whole[at]
        })
    }

    /// What the ends of a signalling entry had exchanged with IP when its measurement began; `None` before it
    /// starts.
    pub fn session_traffic_before(&self, number: u32) -> Option<[Traffic; 2]> {
        let entry = &self.signalling[number as usize];
        let start = entry.traffic_at_start;
        match &self.warm_up {
            Some(warm_up) if warm_up.at > entry.config.start => Some(warm_up.signalling[number as usize].1),
            _ => start,
        }
    }
}

/// Counts by node less those of before; nothing where there is none more.
fn since(
    counts: impl Iterator<Item = (NodeId, DropCount)>,
    before: Option<&BTreeMap<NodeId, DropCount>>,
) -> impl Iterator<Item = (NodeId, DropCount)> {
    let more = move |(node, count): (NodeId, DropCount)| {
        let before = before.and_then(|before| before.get(&node)).copied().unwrap_or_default();
        (node, count.since(before))
    };
    counts.map(more).filter(|(_, count)| count.packets > 0)
}
