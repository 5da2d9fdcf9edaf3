//! Which nodes can reach each other, and through which MTU.

use std::collections::VecDeque;

use petgraph::unionfind::UnionFind;
use roamsim_network::tunnel;

use super::names::Names;
use super::{Report, Step, join};
use crate::Scenario;

/// The nodes as a graph, links, cells and DECT accesses as its edges.
pub(super) struct Topology {
    /// For each node its neighbours, and the MTU on the way to them.
    neighbours: Vec<Vec<(usize, u64)>>,
    /// Nodes that forward nothing: stations of cells, and those whose addresses stay with their links.
    host: Vec<bool>,
    /// Mobile nodes of Mobile IP, which packets may reach through a tunnel.
    mobile: Vec<bool>,
    /// What the others are joined to.
    parts: UnionFind<usize>,
    smallest_mtu_bytes: u64,
}

impl Topology {
    pub fn new(scenario: &Scenario, names: &Names<'_>) -> Topology {
        let count = scenario.nodes.len();
        let mut topology = Topology {
            neighbours: vec![Vec::new(); count],
            host: scenario.nodes.iter().map(|node| node.multihomed).collect(),
            mobile: scenario.nodes.iter().map(|node| scenario.mobile_ip_of(&node.name).is_some()).collect(),
            parts: UnionFind::new(count),
            smallest_mtu_bytes: u64::MAX,
        };
        for station in scenario.cells.iter().flat_map(|cell| &cell.stations) {
            if let Some(station) = names.node(station) {
                topology.host[station] = true;
            }
        }
        for link in &scenario.links {
            let [a, b] = &link.between;
            topology.join(names.node(a), names.node(b), link.mtu_bytes);
        }
        for cell in &scenario.wifi {
            for station in &cell.stations {
                topology.join(names.node(&cell.access_point), names.node(station), cell.mtu_bytes);
            }
        }
        for access in &scenario.dect {
            topology.join(names.node(&access.terminal), names.node(&access.gateway), access.mtu_bytes);
        }
        for cell in &scenario.cells {
            for station in &cell.stations {
                topology.join(names.node(&cell.base_station), names.node(station), cell.mtu_bytes);
            }
        }
        topology
    }

    fn join(&mut self, a: Option<usize>, b: Option<usize>, mtu_bytes: u64) {
        if let (Some(a), Some(b)) = (a, b) {
            self.neighbours[a].push((b, mtu_bytes));
            self.neighbours[b].push((a, mtu_bytes));
            if !self.host[a] && !self.host[b] {
                self.parts.union(a, b);
            }
            self.smallest_mtu_bytes = self.smallest_mtu_bytes.min(mtu_bytes);
        }
    }

    /// Whether a route leads from one node to the other.
    pub fn connected(&self, from: usize, to: usize) -> bool {
        let routers = |node: usize| {
            let around = self.neighbours[node].iter().map(|&(next, _)| next).filter(|&next| !self.host[next]);
            let own = (!self.host[node]).then_some(node);
            own.into_iter().chain(around.filter(move |_| self.host[node]))
        };
        self.neighbours[from].iter().any(|&(next, _)| next == to)
            || routers(from).any(|a| routers(to).any(|b| self.parts.equiv(a, b)))
    }

    /// Reports a destination that cannot be reached.
    pub fn check_route(
        &self,
        at: &[Step],
        (from, to): (usize, usize),
        scenario: &Scenario,
        report: &mut Report<'_>,
    ) -> bool {
        if self.connected(from, to) {
            return true;
        }
        let (from_name, to_name) = (&scenario.nodes[from].name, &scenario.nodes[to].name);
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

    /// The smallest MTU of all links.
    pub fn smallest_mtu(&self) -> u64 {
        self.smallest_mtu_bytes
    }

    /// The largest packet that surely fits, where it is smaller than `needed_bytes`; `None` if `needed_bytes` fit.
    ///
    /// Routes have the fewest hops. Where several have, the smallest MTU of all counts.
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
        let mut hops = vec![usize::MAX; self.neighbours.len()];
        let mut mtu_bytes = vec![u64::MAX; self.neighbours.len()];
        let mut queue = VecDeque::from([from]);
        hops[from] = 0;
        while let Some(node) = queue.pop_front() {
            if node == to {
                break;
            }
            if self.host[node] && node != from {
                continue;
            }
            for &(next, link_mtu_bytes) in &self.neighbours[node] {
                if hops[next] == usize::MAX {
                    hops[next] = hops[node] + 1;
                    queue.push_back(next);
                }
                if hops[next] == hops[node] + 1 {
                    mtu_bytes[next] = mtu_bytes[next].min(mtu_bytes[node]).min(link_mtu_bytes);
                }
            }
        }
        // A station may be in any of its cells.
        let hosts = [from, to].into_iter().filter(|&end| self.host[end]);
        let around = hosts.flat_map(|end| &self.neighbours[end]).map(|&(_, link_mtu_bytes)| link_mtu_bytes);
        Some(around.fold(mtu_bytes[to], u64::min)).filter(|&mtu_bytes| mtu_bytes < needed_bytes)
    }
}
