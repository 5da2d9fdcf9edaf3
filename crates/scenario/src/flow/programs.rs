//! Flows with a program outside at one end, as whoever runs that program has to know them.

use super::model::Flow;
use crate::node::model::Node;
use crate::transport::Transport;
use roamsim_network::socket::connections::FIRST_PORT;
use std::collections::BTreeSet;
use std::num::NonZeroU16;

/// A flow with a program outside at one end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramFlow<'a> {
    /// Its name.
    pub flow: &'a str,
    /// The node where the program runs.
    pub program: &'a str,
    /// The simulated node at the other end.
    pub peer: &'a str,
    /// The word for the transport.
    pub protocol: &'static str,
    /// The port of the end that is connected to, or gets the first datagram.
    pub port: u16,
    /// Whether the program connects, or sends first.
    pub begins: bool,
}

/// The port at `to` of a flow that this number of flows, both directions counted, come before.
pub(crate) fn port(flow: &Flow, before: u32) -> u16 {
    flow.port.map_or_else(|| first_port(before), NonZeroU16::get)
}

/// The port at `from`. Each flow has one of its own; beyond the range they repeat, since packets find their
/// sockets by number.
pub(crate) fn first_port(before: u32) -> u16 {
    FIRST_PORT + (before % u32::from(u16::MAX - FIRST_PORT)) as u16
}

/// The nodes whose programs run outside.
pub(crate) fn external_nodes(nodes: &[Node]) -> impl Iterator<Item = &str> {
    nodes.iter().filter(|node| node.external).map(|node| &*node.name)
}

/// The flows with a program at one end, in order.
pub(crate) fn program_flows<'a>(flows: &'a [Flow], nodes: &'a [Node]) -> Vec<ProgramFlow<'a>> {
    let external: BTreeSet<&str> = external_nodes(nodes).collect();
    if external.is_empty() {
        return Vec::new();
    }
    let is_external = |name: &str| external.contains(name);
    let mut before = 0;
    let mut found = Vec::new();
    for flow in flows {
        let port = port(flow, before);
        before += 1 + u32::from(flow.bidirectional);
        let begins = is_external(&flow.from);
        if begins == is_external(&flow.to) {
            continue;
        }
        let (program, peer) = if begins { (&flow.from, &flow.to) } else { (&flow.to, &flow.from) };
        let protocol = match *flow.transport {
            Transport::Udp(_) => "UDP",
            Transport::Tcp(_) => "TCP",
            Transport::Sctp(_) => "SCTP",
            Transport::Quic(_) => "QUIC",
        };
        found.push(ProgramFlow { flow: &flow.name, program, peer, protocol, port, begins });
    }
    found
}
