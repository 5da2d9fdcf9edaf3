//! What the rows of result tables are about, and how all tables name it: by the entry of the scenario and the nodes.
//!
//! A connection has two senders, a wire two directions: the entry's name is the same for both, and the nodes that the
//! data or the packets go from and to tell them apart.

use crate::socket::{SocketId, User};
use crate::world::World;
use roamsim_protocols::Address;

/// What a row is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// What a socket sends.
    Socket(SocketId),
    /// What a flow delivers.
    Flow(u32),
    /// What leaves by an interface.
    Interface(Address),
    /// What a base station sends to all.
    Broadcast(Address),
}

/// How tables name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Named<'a> {
    /// "flow", "signalling" or "link"; of a DECT access, "dect".
    pub kind: &'static str,
    /// The name of the entry in the scenario.
    pub name: &'a str,
    /// The node that sends.
    pub from: &'a str,
    /// The node that receives.
    pub to: &'a str,
}

impl World {
    /// How tables name what a row is about.
    pub fn named(&self, subject: Subject) -> Named<'_> {
        let node = |socket| self.network.topology.node(self.node(socket)).name.as_str();
        match subject {
            Subject::Socket(socket) => {
                let (kind, name) = match self.user(socket) {
                    User::FlowSource(flow)
                    | User::FlowSink(flow)
                    | User::FlowBothWays { sends: flow, .. } => ("flow", &self.flows[flow as usize].name),
                    User::Mih { mihf, session } => {
                        let session = &self.mih_nodes[mihf as usize].sessions[session as usize];
                        ("signalling", &self.signalling[session.signalling as usize].config.name)
                    }
                };
                Named { kind, name, from: node(socket), to: node(self.peer(socket)) }
            }
            Subject::Flow(flow) => {
                let flow = &self.flows[flow as usize];
                let association = flow.association;
                Named {
                    kind: "flow",
                    name: &flow.name,
                    from: node(association.source),
                    to: node(association.sink),
                }
            }
            Subject::Interface(at) => {
                let topology = &self.network.topology;
                let interface = topology.interface(at);
                Named {
                    kind: "link",
                    name: &interface.name,
                    from: &topology.node(interface.node).name,
                    to: &topology.node(interface.neighbour).name,
                }
            }
            Subject::Broadcast(at) => Named { to: TO_ALL, ..self.named(Subject::Interface(at)) },
        }
    }
}

/// Where a broadcast goes to.
pub const TO_ALL: &str = "(all)";
