//! Mobile IPv4 in the network: which node runs which machine of `roamsim_protocols::mobile_ip`, and on
//! which cell.
//!
//! Every agent is the base station of a cell. It has an [`Agent`] on each of its cells, advertises there,
//! and is home agent, foreign agent or both. Its address, also the care-of address, is that of the base
//! station's broadcast interface. A mobile node's home address is that of its interface in its home agent's
//! cell.
//!
//! Interfaces of the machines are numbers of cells. A mobile node listens to all cells that it is in at
//! once. It sends by the cell of the agent that it has chosen, and before its first agent by its home cell.
//! `driving` drives the machines, and `tunnel.rs` handles packets.
//!
//! Nodes with co-located care-of addresses and their home agents are in `co_located`.
//!
//! Not modelled: foreign agents that are not base stations.

mod co_located;
mod driving;

pub use self::co_located::CoLocatedHost;
pub(crate) use self::driving::{Driving, describe_registration};

use super::{Action, StationPlace};
use crate::alarm::Alarm;
use crate::topology::NodeId;
use roamsim_engine::Stream;
use roamsim_protocols::Address;
use roamsim_protocols::mobile_ip::{
    Advertiser, ForeignAgent, HomeAgent, Interface, MobileNode, MobileNodeConfig, MobileNodeEvent,
};
use std::collections::BTreeMap;

/// A mobility agent on one of its cells.
pub struct Agent {
    /// The base station.
    pub node: NodeId,
    /// The cell.
    pub cell: u32,
    /// Its address: of the base station's broadcast interface.
    pub address: Address,
    /// Advertises on the cell.
    pub advertiser: Advertiser,
    /// If it is a home agent.
    pub home: Option<HomeAgent>,
    /// If it is a foreign agent.
    pub foreign: Option<ForeignAgent>,
    /// Its random stream.
    pub random: Stream,
    pub(crate) alarm: Alarm,
}

impl Agent {
    /// One that has not started.
    pub fn new(
        (node, cell, address): (NodeId, u32, Address),
        advertiser: Advertiser,
        home: Option<HomeAgent>,
        foreign: Option<ForeignAgent>,
        random: Stream,
    ) -> Agent {
        Agent { node, cell, address, advertiser, home, foreign, random, alarm: Alarm::default() }
    }
}

/// A mobile node.
pub struct MobileHost {
    /// The node.
    pub node: NodeId,
    /// Its number among [`super::Handovers::stations`].
    pub station: u32,
    /// Its home address.
    pub home_address: Address,
    /// Its machine.
    pub machine: MobileNode,
    /// Its random stream.
    pub random: Stream,
    pub(crate) alarm: Alarm,
}

impl MobileHost {
    /// One that has not started.
    pub fn new(
        (node, station, home_address): (NodeId, u32, Address),
        config: MobileNodeConfig,
        random: Stream,
    ) -> MobileHost {
        let machine = MobileNode::new(config);
        MobileHost { node, station, home_address, machine, random, alarm: Alarm::default() }
    }
}

/// All agents and mobile nodes.
#[derive(Default)]
pub struct MobileIp {
    /// In the order of the cells.
    pub agents: Vec<Agent>,
    /// In the order of the scenario.
    pub hosts: Vec<MobileHost>,
    /// Mobile nodes with co-located care-of addresses, and their home agents, in the order of the scenario.
    pub co_located: Vec<CoLocatedHost>,
    agent_at: BTreeMap<Address, u32>,
    agent_on: BTreeMap<u32, u32>,
    host_at: BTreeMap<Address, u32>,
    host_of: BTreeMap<NodeId, u32>,
}

impl MobileIp {
    /// Adds an agent.
    pub fn add_agent(&mut self, agent: Agent) {
        let number = self.agents.len() as u32;
        self.agent_at.insert(agent.address, number);
        self.agent_on.insert(agent.cell, number);
        self.agents.push(agent);
    }

    /// Adds a mobile node.
    pub fn add_host(&mut self, host: MobileHost) {
        let number = self.hosts.len() as u32;
        self.host_at.insert(host.home_address, number);
        self.host_of.insert(host.node, number);
        self.hosts.push(host);
    }

    /// The home address of a node with co-located care-of addresses.
    pub fn home_of(&self, node: NodeId) -> Option<Address> {
        self.co_located.iter().find(|host| host.node == node).map(|host| host.home_address)
    }

    /// The agent with this address.
    pub(crate) fn agent(&self, address: Address) -> Option<u32> {
        self.agent_at.get(&address).copied()
    }

    /// The agent on this cell.
    pub(crate) fn agent_on(&self, cell: Interface) -> Option<u32> {
        self.agent_on.get(&cell.0).copied()
    }

    /// The mobile node that is this node.
    pub(crate) fn host_of(&self, node: NodeId) -> Option<u32> {
        self.host_of.get(&node).copied()
    }

    /// The mobile node with this home address.
    pub(crate) fn host(&self, home_address: Address) -> Option<u32> {
        self.host_at.get(&home_address).copied()
    }
}

/// What the events of a station's mobile node mean for its handovers.
pub(crate) fn react(place: &StationPlace, events: impl Iterator<Item = MobileNodeEvent>) -> Vec<Action> {
    let mut actions = Vec::new();
    let mut asks = true;
    for event in events {
        match event {
            MobileNodeEvent::AgentLost { .. } => actions.push(Action::Left),
            MobileNodeEvent::Moved { interface, .. } => {
                let at = place.cells.iter().position(|membership| membership.cell == interface.0);
                let Some(at) = at else { continue };
                actions.extend([Action::Egress(Some(place.cells[at].interface)), Action::Begin(at)]);
                asks = false;
            }
            MobileNodeEvent::RegistrationSent { .. } => {
                actions.push(Action::Requested);
                asks = true;
            }
            MobileNodeEvent::Registered { .. } | MobileNodeEvent::Deregistered => {
                actions.push(Action::Complete);
            }
            MobileNodeEvent::Refused { .. } | MobileNodeEvent::Expired => {}
        }
    }
    if !asks {
        // At home again before anything was asked for elsewhere: there is nobody to ask.
        actions.push(Action::Complete);
    }
    actions
}
