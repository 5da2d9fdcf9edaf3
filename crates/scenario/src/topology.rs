//! Which nodes can reach each other, and through which MTU.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use roamsim_network::network::tunnel;

use crate::access::{Access, Attached, Network, Role};
use crate::names::Names;
use crate::node::model::Node;
use crate::report::{Report, Step, join};

/// The nodes as a graph, accesses as its edges.
pub(crate) struct Topology {
    /// By node, the ways to its neighbours.
    neighbours: Vec<Vec<Way>>,
    /// Nodes that forward nothing: stations of cells, and those whose addresses stay with their links.
    host: Vec<bool>,
    /// Mobile nodes of Mobile IP, which packets may reach through a tunnel.
    mobile: Vec<bool>,
    /// By node, the number of the part of the network that it is in, whose nodes reach each other without
    /// hosts.
    parts: Vec<usize>,
    /// By node, in how many accesses it is, and in how many of them a station.
    accesses: Vec<(usize, usize)>,
    smallest_mtu_bytes: u64,
    /// Whether an access names a node that does not exist.
    incomplete: bool,
}

/// The way from a node to a neighbour.
#[derive(Clone, Copy)]
struct Way {
    to: usize,
    mtu_bytes: u64,
    cost: u64,
}

impl Topology {
    /// `mobile` says which nodes are mobile nodes of Mobile IP.
    pub fn new(
        network: &Network<'_>,
        names: &Names<'_>,
        attached: &Attached<'_>,
        mobile: impl Fn(&str) -> bool,
    ) -> Topology {
        let nodes = network.nodes;
        let mut topology = Topology {
            neighbours: vec![Vec::new(); nodes.len()],
            host: nodes.iter().map(|n| n.multihomed || attached.is(&n.name, Role::Station)).collect(),
            mobile: nodes.iter().map(|node| mobile(&node.name)).collect(),
            parts: Vec::new(),
            accesses: nodes
                .iter()
                .map(|node| (attached.of(&node.name).len(), attached.count(&node.name, Role::Station)))
                .collect(),
            smallest_mtu_bytes: u64::MAX,
            incomplete: false,
        };
        for access in network.accesses() {
            for pair in access.access.pairs() {
                topology.join(pair.nodes.map(|name| names.node(name)), access.access);
            }
        }
        topology.parts = topology.parts();
        topology
    }

    fn join(&mut self, nodes: [Option<usize>; 2], access: &dyn Access) {
        let (mtu_bytes, cost) = (access.mtu_bytes(), u64::from(access.cost()));
        if let [Some(a), Some(b)] = nodes {
            for (from, to) in [(a, b), (b, a)] {
                let ways = &mut self.neighbours[from];
                // Most nodes have one.
                if ways.is_empty() {
                    ways.reserve_exact(1);
                }
                ways.push(Way { to, mtu_bytes, cost });
            }
            self.smallest_mtu_bytes = self.smallest_mtu_bytes.min(mtu_bytes);
        } else {
            self.incomplete = true;
        }
    }

    /// By node, the first node of its part; a host is a part by itself.
    fn parts(&self) -> Vec<usize> {
        let mut parts = vec![usize::MAX; self.neighbours.len()];
        for first in 0..parts.len() {
            let mut found = vec![first];
            while let Some(node) = found.pop() {
                if parts[node] != usize::MAX {
                    continue;
                }
                parts[node] = first;
                if !self.host[node] {
                    let around = self.neighbours[node].iter().map(|way| way.to);
                    found.extend(around.filter(|&next| !self.host[next]));
                }
            }
        }
        parts
    }

    /// Whether a route leads from one node to the other.
    pub fn connected(&self, from: usize, to: usize) -> bool {
        let routers = |node: usize| {
            let around = self.neighbours[node].iter().map(|way| way.to).filter(|&next| !self.host[next]);
            let own = (!self.host[node]).then_some(node);
            own.into_iter().chain(around.filter(move |_| self.host[node]))
        };
        self.neighbours[from].iter().any(|way| way.to == to)
            || routers(from).any(|a| routers(to).any(|b| self.parts[a] == self.parts[b]))
    }

    /// Reports a destination that cannot be reached.
    pub fn check_route(
        &self,
        at: &[Step],
        (from, to): (usize, usize),
        nodes: &[Node],
        report: &mut Report<'_>,
    ) -> bool {
        if self.connected(from, to) {
            return true;
        }
        // The unknown node is reported; with its right name there may be a route.
        if self.incomplete && report.count() > 0 {
            return false;
        }
        let (from_name, to_name) = (&nodes[from].name, &nodes[to].name);
        let alone =
            [(from, from_name), (to, to_name)].into_iter().find(|(i, _)| self.neighbours[*i].is_empty());
        let help = match alone {
            Some((_, name)) => format!("\"{name}\" has no link; add one with [[link]]"),
            None => "add a link between the two parts of the network".into(),
        };
        let message = format!("there is no route from \"{from_name}\" to \"{to_name}\"");
        report.add(&join(at, ["to"]), message, help);
        false
    }

    /// In how many accesses a node is, whatever it is there.
    pub fn accesses(&self, node: usize) -> usize {
        self.accesses[node].0
    }

    /// In how many of them it is a station.
    pub fn accesses_as_station(&self, node: usize) -> usize {
        self.accesses[node].1
    }

    /// The smallest MTU of all links.
    pub fn smallest_mtu(&self) -> u64 {
        self.smallest_mtu_bytes
    }

    /// The largest packet that surely fits, where it is smaller than `needed_bytes`; `None` if `needed_bytes`
    /// fit.
    ///
    /// Routes cost the least. Where several do, the smallest MTU of all counts.
    ///
    /// The tunnel to a mobile node takes its part, and may lead anywhere.
    pub fn too_small_mtu(&self, (from, to): (usize, usize), needed_bytes: u64) -> Option<u64> {
        if self.mobile[from] || self.mobile[to] {
            let fits_bytes = self.smallest_mtu_bytes.saturating_sub(u64::from(tunnel::HEADER_BYTES));
            return Some(fits_bytes).filter(|&fits_bytes| fits_bytes < needed_bytes);
        }
        if needed_bytes <= self.smallest_mtu_bytes {
            return None;
        }
        let mut costs = vec![u64::MAX; self.neighbours.len()];
        let mut smallest_bytes = vec![u64::MAX; self.neighbours.len()];
        let mut nearest = BinaryHeap::from([Reverse((0, from))]);
        costs[from] = 0;
        while let Some(Reverse((cost, node))) = nearest.pop() {
            if node == to {
                break;
            }
            if cost > costs[node] || (self.host[node] && node != from) {
                continue;
            }
            for way in &self.neighbours[node] {
                let cost = cost + way.cost;
                if cost < costs[way.to] {
                    (costs[way.to], smallest_bytes[way.to]) = (cost, u64::MAX);
                    nearest.push(Reverse((cost, way.to)));
                }
                if cost == costs[way.to] {
                    let here_bytes = smallest_bytes[node].min(way.mtu_bytes);
                    smallest_bytes[way.to] = smallest_bytes[way.to].min(here_bytes);
                }
            }
        }
        // A station may be in any of its cells.
        let hosts = [from, to].into_iter().filter(|&end| self.host[end]);
        let around = hosts.flat_map(|end| &self.neighbours[end]).map(|way| way.mtu_bytes);
        Some(around.fold(smallest_bytes[to], u64::min)).filter(|&mtu_bytes| mtu_bytes < needed_bytes)
    }
}
