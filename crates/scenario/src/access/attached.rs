//! Who is attached where.

use super::pair::{Pair, Role};
use crate::names::ByName;

/// A node's part in an access.
#[derive(Clone, Copy)]
pub(crate) struct Part<'a> {
    pub role: Role,
    /// The node at the other end; of a base station, one of its stations.
    pub with: &'a str,
}

/// Who is attached where.
pub(crate) struct Attached<'a> {
    by_node: ByName<'a, Vec<Part<'a>>>,
}

impl<'a> Attached<'a> {
    /// By the pairs of every access.
    pub fn new(accesses: impl Iterator<Item = Vec<Pair<'a>>>) -> Attached<'a> {
        let mut by_node: ByName<'_, Vec<Part<'_>>> = ByName::default();
        for pairs in accesses {
            for (at, pair) in pairs.into_iter().enumerate() {
                for (end, node) in pair.nodes.into_iter().enumerate() {
                    let role = pair.roles[end];
                    // A base station is in its access once, not once a station.
                    if role != Role::BaseStation || at == 0 {
                        let parts = by_node.entry(node).or_default();
                        // Most nodes have one.
                        if parts.is_empty() {
                            parts.reserve_exact(1);
                        }
                        parts.push(Part { role, with: pair.nodes[1 - end] });
                    }
                }
            }
        }
        Attached { by_node }
    }

    /// What a node is in each of its accesses, in the order of the scenario.
    pub fn of(&self, node: &str) -> &[Part<'a>] {
        self.by_node.get(node).map_or(&[], Vec::as_slice)
    }

    /// How often a node is this.
    pub fn count(&self, node: &str, role: Role) -> usize {
        self.of(node).iter().filter(|part| part.role == role).count()
    }

    /// Whether a node is this anywhere.
    pub fn is(&self, node: &str, role: Role) -> bool {
        self.count(node, role) > 0
    }
}
