//! Shortest paths, by searches from one node (E. W. Dijkstra, "A Note on Two Problems in Connexion with
//! Graphs", 1959). No path leads through a host.

use super::{NodeId, Topology, UNREACHABLE};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The paths from every node to one, by node: what they cost, and their first interfaces. [`UNREACHABLE`]
/// where there is none. A link costs the same in both directions, so a search from the one finds them.
#[derive(Clone, Debug)]
pub(super) struct Towards {
    costs: Box<[u32]>,
    first: Box<[u32]>,
}

impl Towards {
    /// The paths to this node. They end at a host only if `to_hosts`.
    pub fn new(topology: &Topology, to: NodeId, to_hosts: bool) -> Towards {
        let costs = search(topology, to.0 as usize, to_hosts).0;
        let first = |(node, of_node): (usize, &super::Node)| {
            let is_first = |&&number: &&u32| {
                let next = &topology.interfaces[number as usize];
                let neighbour = next.neighbour.0 as usize;
                let behind = match neighbour == node || (topology.host[neighbour] && next.neighbour != to) {
                    true => UNREACHABLE,
                    false => costs[neighbour],
                };
                costs[node] != UNREACHABLE && costs[node] == behind.saturating_add(next.cost.into())
            };
            of_node.interfaces.iter().find(is_first).copied().unwrap_or(UNREACHABLE)
        };
        let first = topology.nodes.iter().enumerate().map(first).collect();
        Towards { costs: costs.into(), first }
    }

    /// What the path from a node costs.
    pub fn cost(&self, from: NodeId) -> u32 {
        self.costs[from.0 as usize]
    }

    /// Its first interface: the first of the node's among those of equally short paths.
    pub fn first(&self, from: NodeId) -> u32 {
        self.first[from.0 as usize]
    }
}

/// The first interface of a shortest path from a node to every other: the first of its own among those of
/// equally short ones.
pub(super) fn first_interfaces(topology: &Topology, from: usize) -> Vec<u32> {
    search(topology, from, true).1
}

/// What the paths from a node cost, and their first interfaces. None leads through a host, but from one if it
/// `may_begin` there.
fn search(topology: &Topology, from: usize, may_begin: bool) -> (Vec<u32>, Vec<u32>) {
    let count = topology.nodes.len();
    let (mut costs, mut first) = (vec![UNREACHABLE; count], vec![UNREACHABLE; count]);
    costs[from] = 0;
    // The nearest first, of equally near nodes the one whose path begins first.
    let mut frontier = BinaryHeap::from([Reverse((0, UNREACHABLE, from))]);
    while let Some(Reverse((cost, _, at))) = frontier.pop() {
        let is_end = topology.host[at] && !(at == from && may_begin);
        if cost > costs[at] || is_end {
            continue;
        }
        for &number in &*topology.nodes[at].interfaces {
            let interface = &topology.interfaces[number as usize];
            let next = interface.neighbour.0 as usize;
            let cost = cost.saturating_add(interface.cost.into());
            let by = if at == from { number } else { first[at] };
            if cost < costs[next] || (next != from && cost == costs[next] && by < first[next]) {
                costs[next] = cost;
                first[next] = by;
                frontier.push(Reverse((cost, by, next)));
            }
        }
    }
    (costs, first)
}
