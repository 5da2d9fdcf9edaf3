//! Routes where there is one way only: along trees, in memory that grows with the number of nodes.
//!
//! Nodes with one neighbour are taken off the network, one after the other, until none is left: the network
//! becomes trees, each on a root. A tree is numbered so that what hangs on a node follows it, the largest
//! branch last (D. D. Sleator, R. E. Tarjan, "A Data Structure for Dynamic Trees", 1983: heavy paths). A node
//! keeps one interface for its largest branch, and one for each node of the others; all together keep at most
//! n log2(n), since a node is in a smaller branch of at most log2(n) others.
//!
//! Roots that stay because of a ring, and hosts with several neighbours, to which several ways lead, are for
//! others to route to.

use super::{Interface, Node, NodeId, UNREACHABLE};

/// No answer: several ways may lead there.
pub(super) const UNDECIDED: u32 = u32::MAX - 1;

/// Where a node is.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// Its number in the order of the trees.
    order: u32,
    /// The network that it is in, of those between which no way leads; [`ELSEWHERE`] for a host with several
    /// neighbours.
    part: u32,
}

const ELSEWHERE: u32 = u32::MAX;

/// What a node that forwards knows of its tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct Branches {
    /// The number behind its own, and how many nodes hang on it, and how many of them not on its largest
    /// branch.
    first: u32,
    size: u32,
    small: u32,
    /// Where the interfaces to those begin.
    interfaces: u32,
    /// The interface to the largest branch, and that to everything else.
    largest: u32,
    up: u32,
    part: u32,
}

/// The trees.
#[derive(Clone, Debug, Default)]
pub(super) struct Forest {
    places: Vec<Place>,
    /// The roots that are in rings, by their orders.
    rings: Vec<(u32, NodeId)>,
    /// To nodes in other branches than the largest of their node, in order.
    interfaces: Vec<u32>,
}

impl Forest {
    /// The interface by which a node sends on what is for another; [`UNDECIDED`] where a search has to tell.
    #[inline]
    pub fn next(&self, from: &Branches, to: NodeId) -> u32 {
        let Place { order, part } = self.places[to.0 as usize];
        let offset = order.wrapping_sub(from.first);
        if offset < from.small {
            self.interfaces[(from.interfaces + offset) as usize]
        } else if offset < from.size {
            from.largest
        } else if part == ELSEWHERE {
            UNDECIDED
        } else if part == from.part && order + 1 != from.first {
            from.up
        } else {
            UNREACHABLE
        }
    }

    /// The roots that are in rings.
    pub fn ring_roots(&self) -> impl Iterator<Item = NodeId> {
        self.rings.iter().map(|&(_, root)| root)
    }

    /// The root that a node hangs on, of a node in a part with a ring: there each root is in one.
    pub fn ring_root(&self, node: NodeId) -> Option<NodeId> {
        let Place { order, part } = self.places[node.0 as usize];
        let behind = self.rings.partition_point(|&(root, _)| root <= order);
        (part != ELSEWHERE && behind > 0).then(|| self.rings[behind - 1].1)
    }

    /// How many interfaces nodes keep, beside those to their largest branches.
    #[cfg(test)]
    pub fn interfaces(&self) -> usize {
        self.interfaces.len()
    }

    /// The trees of these nodes, and what each of those that forward, in this order, knows of its own.
    pub fn new(
        nodes: &[Node],
        interfaces: &[Interface],
        host: &[bool],
        forwarding: &[usize],
    ) -> (Forest, Vec<Branches>) {
        let trees = Trees::new(nodes, interfaces, host);
        let ring_roots = (0..nodes.len()).filter(|&node| trees.left[node] > 0);
        let mut rings: Vec<_> =
            ring_roots.map(|root| (trees.places[root].order, NodeId(root as u32))).collect();
        rings.sort_unstable_by_key(|&(order, _)| order);
        let mut forest = Forest { places: trees.places, rings, interfaces: Vec::new() };
        let branches = |&node: &usize| {
            // The nearest to each neighbour first, among equals the first.
            let mut ends: Vec<(usize, u16, u32)> = Vec::with_capacity(nodes[node].interfaces.len());
            ends.extend(nodes[node].interfaces.iter().map(|&number| {
                let Interface { neighbour, cost, .. } = interfaces[number as usize];
                (neighbour.0 as usize, cost, number)
            }));
            ends.sort_unstable();
            let by = |neighbour: usize| {
                let nearest = ends.get(ends.partition_point(|&(other, ..)| other < neighbour));
                nearest.map_or(UNREACHABLE, |&(.., number)| number)
            };
            let Place { order, part } = forest.places[node];
            let begin = forest.interfaces.len();
            let below = &trees.below[trees.begins[node]..trees.begins[node + 1]];
            let (largest, small) = below.split_last().map_or((UNREACHABLE, &[][..]), |(&l, s)| (by(l), s));
            for &child in small {
                forest.interfaces.extend(std::iter::repeat_n(by(child), trees.sizes[child] as usize));
            }
            Branches {
                first: order.wrapping_add(1),
                size: trees.sizes[node] - 1,
                small: (forest.interfaces.len() - begin) as u32,
                interfaces: begin as u32,
                largest,
                up: match trees.parents[node] {
                    NONE if trees.left[node] > 0 => UNDECIDED,
                    NONE => UNREACHABLE,
                    parent => by(parent),
                },
                part,
            }
        };
        let all = forwarding.iter().map(branches).collect();
        forest.interfaces.shrink_to_fit();
        (forest, all)
    }
}

const NONE: usize = usize::MAX;

/// The trees as they are found.
struct Trees {
    places: Vec<Place>,
    /// By node, its parent; [`NONE`] for a root.
    parents: Vec<usize>,
    /// By node, how many are in its branch, itself among them.
    sizes: Vec<u32>,
    /// Of roots, how many neighbours are left to them: those in rings.
    left: Vec<usize>,
    /// By node and the one behind it, where its children begin and end, the largest branch last.
    begins: Vec<usize>,
    below: Vec<usize>,
}

impl Trees {
    fn new(nodes: &[Node], interfaces: &[Interface], host: &[bool]) -> Trees {
        let neighbours = |node: usize| {
            let others = nodes[node].interfaces.iter().map(|&n| interfaces[n as usize].neighbour.0 as usize);
            let mut others: Vec<usize> = others.filter(|&other| other != node).collect();
            others.sort_unstable();
            others.dedup();
            others
        };
        let count = nodes.len();
        let elsewhere: Vec<bool> = (0..count).map(|node| host[node] && neighbours(node).len() > 1).collect();
        // How many neighbours each has left, and their exclusive or: where one is left, that is its number.
        let (mut left, mut either) = (vec![0; count], vec![0; count]);
        for node in (0..count).filter(|&node| !elsewhere[node]) {
            for other in neighbours(node).into_iter().filter(|&other| !elsewhere[other]) {
                left[node] += 1;
                either[node] ^= other;
            }
        }
        let (mut parents, mut sizes) = (vec![NONE; count], vec![1; count]);
        let mut taken_off: Vec<usize> = (0..count).filter(|&node| left[node] == 1).collect();
        let mut next = 0;
        while let Some(&node) = taken_off.get(next) {
            next += 1;
            if left[node] == 1 {
                let parent = either[node];
                parents[node] = parent;
                sizes[parent] += sizes[node];
                left[node] = 0;
                left[parent] -= 1;
                either[parent] ^= node;
                if left[parent] == 1 {
                    taken_off.push(parent);
                }
            }
        }
        taken_off.retain(|&node| parents[node] != NONE);
        let mut below = taken_off.clone();
        below.sort_unstable_by_key(|&node| (parents[node], sizes[node], node));
        let begins = (0..=count).map(|node| below.partition_point(|&child| parents[child] < node)).collect();
        let mut trees = Trees { places: Vec::new(), parents, sizes, left, begins, below };
        trees.places = trees.number(&elsewhere, &taken_off, neighbours);
        trees
    }

    /// Numbers the nodes: each root, and what hangs on it behind it.
    fn number(
        &self,
        elsewhere: &[bool],
        taken_off: &[usize],
        neighbours: impl Fn(usize) -> Vec<usize>,
    ) -> Vec<Place> {
        let mut places = vec![Place { order: ELSEWHERE, part: ELSEWHERE }; self.parents.len()];
        let is_root = |node: usize| self.parents[node] == NONE && !elsewhere[node];
        let mut order = 0;
        for first in (0..self.parents.len()).filter(|&node| is_root(node)) {
            // All roots that rings lead to from here are in the same part.
            let mut found = vec![first];
            while let Some(root) = found.pop() {
                if places[root].part != ELSEWHERE {
                    continue;
                }
                places[root] = Place { order, part: first as u32 };
                order += self.sizes[root];
                if self.left[root] > 0 {
                    found.extend(neighbours(root).into_iter().filter(|&other| is_root(other)));
                }
            }
        }
        let roots = (0..self.parents.len()).filter(|&node| is_root(node));
        for node in roots.chain(taken_off.iter().rev().copied()) {
            let Place { mut order, part } = places[node];
            order += 1;
            for &child in &self.below[self.begins[node]..self.begins[node + 1]] {
                places[child] = Place { order, part };
                order += self.sizes[child];
            }
        }
        places
    }
}
