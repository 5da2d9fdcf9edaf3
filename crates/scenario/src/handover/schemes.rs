//! Which handover scheme a station has where it does not say.

use std::collections::{BTreeMap, BTreeSet};

use crate::access::{Network, Pair};
use crate::mih_handover::model::MihHandover;
use crate::mobile_ip::model::{MobileIp, mobile_nodes};
use crate::node::handover::Scheme;
use crate::node::model::Node;

/// What the rest of a scenario makes of its stations.
pub(crate) struct Schemes<'a> {
    followed: BTreeSet<&'a str>,
    migrating: BTreeSet<&'a str>,
    mobile_nodes: BTreeMap<&'a str, &'a MobileIp>,
    handed_over: BTreeMap<&'a str, &'a MihHandover>,
}

impl<'a> Schemes<'a> {
    /// Of stations whose addresses an SCTP association follows, whose QUIC clients migrate, or that are
    /// mobile nodes of one of these.
    pub fn new(
        followed: BTreeSet<&'a str>,
        migrating: BTreeSet<&'a str>,
        mobile_ip: &'a [MobileIp],
        mih_handovers: &'a [MihHandover],
    ) -> Schemes<'a> {
        let handed_over = mih_handovers.iter().rev().map(|entry| (entry.mobile_node.as_str(), entry));
        Schemes {
            followed,
            migrating,
            mobile_nodes: mobile_nodes(mobile_ip),
            handed_over: handed_over.collect(),
        }
    }

    /// The scheme of a station that does not state one.
    pub fn inferred(&self, node: &Node) -> Scheme {
        match node.multihomed {
            true if self.handed_over.contains_key(node.name.as_str()) => Scheme::Mih,
            true if self.followed.contains(node.name.as_str()) => Scheme::MobileSctp,
            true if self.migrating.contains(node.name.as_str()) => Scheme::Migration,
            true => Scheme::Multihomed,
            false if self.mobile_nodes.contains_key(node.name.as_str()) => Scheme::MobileIp,
            false => Scheme::Bridged,
        }
    }

    /// Whether this is a mobile node of Mobile IP.
    pub fn is_mobile_node(&self, node: &str) -> bool {
        self.mobile_nodes.contains_key(node)
    }

    /// Whether an SCTP association or a QUIC client follows the addresses of this node.
    pub fn follows(&self, node: &str) -> bool {
        self.followed.contains(node) || self.migrating.contains(node)
    }

    /// Whether a node has an interface and a radio of its own for each of its cells without keeping their
    /// addresses: a mobile node of Mobile IP, which listens to all agents, in cells of different
    /// technologies.
    pub fn listens_to_each(&self, network: &Network<'_>, node: &str) -> bool {
        let is_station = |pair: Pair<'_>| pair.has_station() && pair.nodes[1] == node;
        let mut cells = network.accesses().filter(|entry| entry.access.pairs().into_iter().any(is_station));
        let mut technologies = BTreeSet::new();
        self.mobile_nodes.contains_key(node) && cells.all(|cell| technologies.insert(cell.access.section()))
    }

    /// The entry by which MIH users hand a node over.
    pub fn handed_over(&self, node: &str) -> Option<&'a MihHandover> {
        self.handed_over.get(node).copied()
    }

    /// The Mobile IP entry of a mobile node.
    pub fn mobile_ip(&self, node: &str) -> Option<&'a MobileIp> {
        self.mobile_nodes.get(node).copied()
    }
}
