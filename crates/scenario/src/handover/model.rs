//! Handover schemes: their names, and which one a station has where it does not say.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::access::Pair;
use crate::mih_handover::model::MihHandover;
use crate::mobile_ip::model::MobileIp;
use crate::model::node::Node;
use crate::model::scenario::Scenario;

/// How a station's addresses follow it from cell to cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Handover")]
pub enum Scheme {
    /// All base stations are one bridged network: in the instant of the association every route leads to the
    /// new cell.
    Bridged,
    /// Mobile IPv4: the home address follows by registration and tunnel.
    MobileIp,
    /// An address in each cell: SCTP associations with `dynamic_addresses` add, prefer and delete them.
    MobileSctp,
    /// An address in each cell, which stays there.
    Multihomed,
    /// An address in each cell; MIH users redirect flows from one to another, as a `[[handover]]` says.
    Mih,
}

impl Scheme {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Scheme::Bridged => "bridged",
            Scheme::MobileIp => "mobile_ip",
            Scheme::MobileSctp => "mobile_sctp",
            Scheme::Multihomed => "multihomed",
            Scheme::Mih => "mih",
        }
    }
}

/// What the rest of a scenario makes of its stations.
pub(crate) struct Schemes<'a> {
    followed: BTreeSet<&'a str>,
    mobile_nodes: BTreeMap<&'a str, &'a MobileIp>,
    handed_over: BTreeMap<&'a str, &'a MihHandover>,
}

impl<'a> Schemes<'a> {
    pub fn new(scenario: &'a Scenario) -> Schemes<'a> {
        let handed_over =
            scenario.mih_handovers.iter().rev().map(|entry| (entry.mobile_node.as_str(), entry));
        Schemes {
            followed: scenario.with_followed_addresses(),
            mobile_nodes: scenario.mobile_nodes(),
            handed_over: handed_over.collect(),
        }
    }

    /// The scheme of a station that does not state one.
    pub fn inferred(&self, node: &Node) -> Scheme {
        match node.multihomed {
            true if self.handed_over.contains_key(node.name.as_str()) => Scheme::Mih,
            true if self.follows(&node.name) => Scheme::MobileSctp,
            true => Scheme::Multihomed,
            false if self.mobile_nodes.contains_key(node.name.as_str()) => Scheme::MobileIp,
            false => Scheme::Bridged,
        }
    }

    /// Whether this is a mobile node of Mobile IP.
    pub fn is_mobile_node(&self, node: &str) -> bool {
        self.mobile_nodes.contains_key(node)
    }

    /// Whether an SCTP association follows the addresses of this node.
    pub fn follows(&self, node: &str) -> bool {
        self.followed.contains(node)
    }

    /// Whether a node has an interface and a radio of its own for each of its cells without keeping their
    /// addresses: a mobile node of Mobile IP, which listens to all agents, in cells of different
    /// technologies.
    pub fn listens_to_each(&self, scenario: &Scenario, node: &str) -> bool {
        let is_station = |pair: Pair<'_>| pair.has_station() && pair.nodes[1] == node;
        let mut cells = scenario.accesses().filter(|entry| entry.access.pairs().into_iter().any(is_station));
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
