//! How tables name what their rows are about.

use super::World;
use crate::packet::Carried;
use crate::signalling::SessionUser;
use crate::socket::User;
use crate::subject::{Named, Subject, TO_ALL};

impl World {
    /// The flow whose data a packet carries, or acknowledges; `None`: that of a session of MIH.
    pub fn flow_of(&self, packet: Carried) -> Option<u32> {
        match self.user(packet.socket) {
            User::FlowSource(flow) | User::FlowSink(flow) | User::Program(flow) => Some(flow),
            User::FlowBothWays { sends, receives } => Some(if packet.data { receives } else { sends }),
            User::Mih { .. } | User::Redirection { .. } | User::SelectedRedirection { .. } => None,
        }
    }

    /// The name of the selection whose node these users hand over.
    fn selection_name(&self, number: u32) -> &str {
        let selection = self.selected_handovers[number as usize].selection;
        &self.selections.all[selection as usize].config.name
    }

    /// How tables name what a row is about.
    pub fn named(&self, subject: Subject) -> Named<'_> {
        let node = |socket| &*self.network.topology.node(self.node(socket)).name;
        match subject {
            Subject::Socket(socket) => {
                let (kind, name) = match self.user(socket) {
                    User::FlowSource(flow)
                    | User::FlowSink(flow)
                    | User::Program(flow)
                    | User::FlowBothWays { sends: flow, .. } => ("flow", &*self.flows[flow as usize].name),
                    User::Mih { mihf, session } => {
                        let session = &self.mih_nodes[mihf as usize].sessions[session as usize];
                        match session.user {
                            SessionUser::Signalling(entry) => {
                                ("signalling", self.signalling[entry as usize].config.name.as_str())
                            }
                            SessionUser::MihHandover(entry) => {
                                ("handover", self.mih_handovers[entry as usize].config.name.as_str())
                            }
                            SessionUser::Selection(number) => ("selection", self.selection_name(number)),
                        }
                    }
                    User::SelectedRedirection { selection, .. } => {
                        ("selection", self.selection_name(selection))
                    }
                    User::Redirection { handover, .. } => {
                        ("handover", self.mih_handovers[handover as usize].config.name.as_str())
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
                    from: topology.owner_name(at),
                    to: &topology.node(interface.neighbour).name,
                }
            }
            Subject::Broadcast(at) => Named { to: TO_ALL, ..self.named(Subject::Interface(at)) },
        }
    }
}
