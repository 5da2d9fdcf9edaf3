//! The MIH users of nodes that select, their sessions, and the sockets of their redirections.

use std::sync::Arc;

use roamsim_network::World;
use roamsim_network::mih_handover::{Correspondent, Party};
use roamsim_network::selected_handover::SelectedHandover;
use roamsim_network::signalling::SessionUser;
use roamsim_network::socket::{SocketId, User};
use roamsim_network::topology::NodeId;
use roamsim_protocols::Address;
use roamsim_protocols::mih::SessionId;
use roamsim_protocols::mih::handover::{
    Candidate, PointOfService, PointOfServiceConfig, SelectingNode, SelectingNodeConfig,
};

use super::super::build::{Interfaces, Own};
use super::super::model::{Scheme, Selection};
use crate::access::Network;
use crate::builder::Builder;
use crate::dscp::Dscp;
use crate::mih_handover::build::redirection_sockets;
use crate::signalling::build::{Exchange, mihf_id};

/// The ports of the sessions of selections, below those of handovers.
const FIRST_PORT: u16 = u16::MAX - 10_000;

/// The point of service of an interface of a selection: as the scenario says, or the node at its other end.
pub(crate) fn point_of_service<'a>(model: &'a Selection, own: &Own<'a>) -> &'a str {
    let access = own.entry.access;
    let said = model.mih.points_of_service.iter().find(|one| one.access == access.name());
    let pairs = access.pairs().into_iter();
    let mut other = pairs.filter_map(|pair| match pair.nodes {
        [a, b] if a == model.node => Some(b),
        [a, b] if b == model.node => Some(a),
        _ => None,
    });
    said.map(|one| one.pos.as_str()).or_else(|| other.next()).unwrap_or_default()
}

impl Builder<'_> {
    /// The users of all selections by MIH. To be built after flows and links.
    pub(crate) fn selected_handovers(
        &self,
        world: &mut World,
        selections: &[Selection],
        network: &Network<'_>,
    ) {
        if !selections.iter().any(|model| model.scheme == Scheme::Mih) {
            return;
        }
        let interfaces = Interfaces::new(selections, network);
        for model in selections.iter().filter(|model| model.scheme == Scheme::Mih) {
            let points: Vec<&str> =
                interfaces.candidates(model).iter().map(|(own, _)| point_of_service(model, own)).collect();
            self.selected_handover(world, model, &points);
        }
    }

    fn selected_handover(&self, world: &mut World, model: &Selection, points: &[&str]) {
        let node = self.node(&model.node);
        let number = world.selected_handovers.len() as u32;
        let Some((selection, of_node)) = world.selections.of_node(node) else { return };
        let interfaces: Vec<Address> = of_node.candidates.iter().map(|one| one.interface).collect();
        let links: Vec<_> = interfaces.iter().map(|&one| world.mih_network(one)).collect();
        let message_bytes = model.mih.message_bytes.map(|bytes| u32::try_from(bytes).unwrap_or(u32::MAX));
        let exchange = Exchange {
            transport: &model.mih.transport,
            dscp: Dscp::default(),
            acknowledgement: model.mih.acknowledgement(),
            timers: Arc::default(),
            lifetime: None,
            rate_limit: None,
        };
        let user = SessionUser::Selection(number);
        let mut opens = Vec::new();
        let mut port = FIRST_PORT - (number % 1000) as u16;
        let mut session = |world: &mut World, names: [&str; 2], addresses, purpose: String| {
            port = port.wrapping_sub(1000);
            let random = |protocol: &str| {
                ["origin", "responder"]
                    .map(|end| self.stream("selection", &model.name, &[purpose.as_str(), protocol, end]))
            };
            let (ends, association) = self.session(world, &exchange, (names, addresses, port), user, random);
            opens.push(association.source);
            ends
        };
        let mut with_node = Vec::new();
        for (at, (&point, &interface)) in points.iter().zip(&interfaces).enumerate() {
            let names = [model.node.as_str(), point];
            with_node.push(session(world, names, [Some(interface), None], format!("mih/{at}")));
        }
        // By network, what its PoS knows of the others.
        let mut others: Vec<Vec<Candidate>> = vec![Vec::new(); points.len()];
        for a in 0..points.len() {
            for b in a + 1..points.len() {
                let ends = session(world, [points[a], points[b]], [None; 2], format!("mih/{a}/{b}"));
                for (own, other, end) in [(a, b, ends[0]), (b, a, ends[1])] {
                    let link = links[other].clone();
                    others[own].push(Candidate { link, session: SessionId(end.session) });
                }
            }
        }
        let networks = links
            .iter()
            .zip(&with_node)
            .map(|(link, ends)| Candidate { link: link.clone(), session: SessionId(ends[0].session) });
        let mobile_node = Party {
            mihf: with_node[0][0].mihf,
            user: SelectingNode::new(SelectingNodeConfig { networks: networks.collect(), message_bytes }),
        };
        let points_of_service =
            with_node.iter().zip(&links).zip(others).map(|((ends, link), others)| Party {
                mihf: ends[1].mihf,
                user: PointOfService::new(&PointOfServiceConfig {
                    mobile_node: SessionId(ends[1].session),
                    mobile_node_id: mihf_id(&model.node, node),
                    link: link.clone(),
                    others,
                    processing_time: model.mih.processing_time,
                    message_bytes,
                }),
            });
        let points_of_service = points_of_service.collect();
        let correspondents = correspondents(world, number, node, &interfaces);
        let with_interfaces = (mobile_node, interfaces);
        let handover =
            SelectedHandover::new(selection, with_interfaces, points_of_service, correspondents, opens);
        world.add_selected_handover(handover);
    }
}

/// The nodes with which a node has flows over UDP and TCP, each with a way for redirects by each interface.
fn correspondents(
    world: &mut World,
    selection: u32,
    node: NodeId,
    interfaces: &[Address],
) -> Vec<Correspondent> {
    let mut found: Vec<NodeId> = Vec::new();
    for flow in &world.flows {
        let ends = [flow.association.source, flow.association.sink];
        let nodes = ends.map(|end| world.node(end));
        if !nodes.contains(&node) || matches!(ends[0], SocketId::Sctp(_) | SocketId::Open(_)) {
            continue;
        }
        found.extend(nodes.into_iter().find(|&other| other != node && !found.contains(&other)));
    }
    let with = |(at, other): (u32, NodeId)| {
        let user = |interface| User::SelectedRedirection { selection, correspondent: at, interface };
        let targets = interfaces.iter().copied();
        let sockets = redirection_sockets(world, user, [node, other], targets);
        Correspondent { node: other, sockets, moved: Vec::new(), sequence: 0 }
    };
    (0..).zip(found).map(with).collect()
}
