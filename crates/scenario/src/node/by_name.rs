//! Nodes by name.

use crate::node::model::Node;
use foldhash::fast::FixedState;
use hashbrown::HashTable;
use roamsim_network::topology::NodeId;
use std::hash::BuildHasher;
use std::ops::Index;

/// The nodes of a scenario by name, of which only numbers are held: there may be many, and it is there while
/// a world is largest.
pub(crate) struct NodesByName<'a> {
    nodes: &'a [Node],
    numbers: HashTable<NodeId>,
}

impl<'a> NodesByName<'a> {
    pub(crate) fn new(nodes: &'a [Node]) -> NodesByName<'a> {
        let mut numbers = HashTable::with_capacity(nodes.len());
        let hash = |&NodeId(number): &NodeId| hash(&nodes[number as usize].name);
        for number in (0..nodes.len() as u32).map(NodeId) {
            numbers.insert_unique(hash(&number), number, hash);
        }
        NodesByName { nodes, numbers }
    }
}

fn hash(name: &str) -> u64 {
    FixedState::default().hash_one(name)
}

impl Index<&str> for NodesByName<'_> {
    type Output = NodeId;

    fn index(&self, name: &str) -> &NodeId {
        let is_named = |&NodeId(number): &NodeId| self.nodes[number as usize].name == *name;
        self.numbers.find(hash(name), is_named).expect("a valid scenario has the nodes that it names")
    }
}
