//! MIH users that hand mobile nodes over, their sessions and their sockets.

use super::model::{Initiator, MihHandover as Model, Notice as NoticeModel};
use super::policy::{message_id, policy};
use crate::builder::Builder;
use crate::distribution::build::time_distribution;
use crate::signalling::build::{Exchange, mihf_id, percent, signal_threshold, timers};
use crate::transport::Udp;
use roamsim_engine::{Span, Time};
use roamsim_network::World;
use roamsim_network::handover::Membership;
use roamsim_network::mih_handover::{
    CandidateNetwork, Correspondent, MihHandover, MihHandoverConfig, Notice, Parties, Party,
};
use roamsim_network::signalling::SessionUser;
use roamsim_network::socket::{SocketEnd, SocketId, User};
use roamsim_network::topology::NodeId;
use roamsim_network::traffic_class::TrafficClass;
use roamsim_protocols::Address;
use roamsim_protocols::mih::handover::policy::{Choice, Entry};
use roamsim_protocols::mih::handover::{
    Candidate, CandidatePos, CandidatePosConfig, Initiation, MobileNode, MobileNodeConfig, Resources,
    ServingPos, ServingPosConfig,
};
use roamsim_protocols::mih::wire::handover::ThresholdAction;
use roamsim_protocols::mih::{SessionId, Thresholds};
use std::sync::Arc;

/// The ports of the sessions of handovers, below those of signalling.
const FIRST_PORT: u16 = u16::MAX - 1000;
/// The port of redirections: reserved, nobody else's (RFC 6335 section 6).
const REDIRECTION_PORT: u16 = 49_151;

impl Builder<'_> {
    /// The users of a handover entry. To be built after its flows and links.
    pub(crate) fn mih_handover(&self, world: &mut World, model: &Model) {
        let &Model {
            ref name,
            ref mobile_node,
            initiated_by,
            notice,
            ref from,
            ref to,
            ref transport,
            ref transport_between_pos,
            dscp,
            message_bytes,
            processing_time,
            reservation_time,
            ref scan_time,
            act_on,
            confidence,
            ref thresholds,
            act_ahead,
            choose,
            entry,
            old_link,
            no_answer,
            acknowledgement,
            ref messages,
            lifetime,
            rate_limit,
        } = model;
        let number = world.mih_handovers.len() as u32;
        let node = self.node(mobile_node);
        let station = world.handovers.station_of(node).expect("validation refuses a node that is no station");
        let initiation = match initiated_by {
            Initiator::MobileNode => Initiation::Mobile,
            Initiator::Network => Initiation::Network,
            Initiator::Both => Initiation::Both,
        };
        let processing_time = processing_time.unwrap_or(Span::ZERO);
        let message_bytes = message_bytes.map(|bytes| u32::try_from(bytes).unwrap_or(u32::MAX));
        let policy = policy((act_on, act_ahead), choose, entry, old_link, no_answer);
        let own = messages.iter().map(|own| (message_id(own.message), own.timeout, own.retransmissions));
        let timers = timers(own, acknowledgement);
        let (serving_place, first) = membership(world, station, &from.access);
        let serving_link = world.mih_link_tuple(first.interface);

        let user = SessionUser::MihHandover(number);
        let mut port = FIRST_PORT - (number % 1000) as u16;
        let exchange = |transport| Exchange {
            transport,
            dscp,
            acknowledgement,
            timers: Arc::clone(&timers),
            lifetime,
            rate_limit,
        };
        let with_mobile_node = exchange(transport);
        let between = exchange(transport_between_pos.as_ref().unwrap_or(transport));
        let random = |purpose: String| {
            move |protocol: &str| {
                ["origin", "responder"]
                    .map(|end| self.stream("handover", name, &[purpose.as_str(), protocol, end]))
            }
        };
        let mut opens = Vec::new();
        let names = [mobile_node.as_str(), from.pos.as_str()];
        let ends = (names, [Some(first.interface), None], port);
        let (session, association) =
            self.session(world, &with_mobile_node, ends, user, random("serving".to_owned()));
        opens.push(association.source);

        let mut of_mobile_node = Vec::new();
        let mut of_serving = Vec::new();
        let mut candidates = Vec::new();
        for (at, target) in to.iter().enumerate() {
            let (place, there) = membership(world, station, &target.access);
            if policy.entry == Entry::AfterCommitment {
                let World { handovers, network, .. } = &mut *world;
                handovers.permit(network, Time::ZERO, station, place, false);
            }
            let link = world.mih_link_tuple(there.interface);
            port = port.wrapping_sub(1000);
            let names = [mobile_node.as_str(), target.pos.as_str()];
            let ends = (names, [Some(there.interface), None], port);
            let purpose = format!("candidate/{at}");
            let ([ours, theirs], association) =
                self.session(world, &with_mobile_node, ends, user, random(purpose));
            opens.push(association.source);
            let ends = ([from.pos.as_str(), target.pos.as_str()], [None; 2], port);
            let purpose = format!("between/{at}");
            let ([serving_end, candidate_end], association) =
                self.session(world, &between, ends, user, random(purpose));
            opens.push(association.source);
            of_mobile_node.push(Candidate { link: link.clone(), session: SessionId(ours.session) });
            of_serving.push(Candidate { link: link.clone(), session: SessionId(serving_end.session) });
            // All entries say the same of a cell.
            world.resources.resize(world.handovers.cells.len(), Resources::default());
            world.resources[there.cell as usize] = Resources::new(target.capacity);
            candidates.push(CandidateNetwork {
                pos: Party {
                    mihf: theirs.mihf,
                    user: CandidatePos::new(CandidatePosConfig {
                        serving: SessionId(candidate_end.session),
                        mobile_node: SessionId(theirs.session),
                        mobile_node_id: mihf_id(mobile_node, node),
                        link,
                        tells_places: policy.choice == Choice::FreeCapacity,
                        processing_time: target.processing_time.unwrap_or(processing_time),
                        reservation_time,
                        message_bytes,
                    }),
                },
                interface: there.interface,
                place,
                cell: there.cell,
            });
        }
        let parties = Parties {
            station,
            mobile_node: Party {
                mihf: session[0].mihf,
                user: MobileNode::new(MobileNodeConfig {
                    initiation,
                    policy,
                    serving: SessionId(session[0].session),
                    serving_link: serving_link.clone(),
                    candidates: of_mobile_node,
                    processing_time,
                    message_bytes,
                }),
            },
            serving: Party {
                mihf: session[1].mihf,
                user: ServingPos::new(ServingPosConfig {
                    initiation,
                    policy,
                    mobile_node: SessionId(session[1].session),
                    mobile_node_id: mihf_id(mobile_node, node),
                    serving_link: serving_link.clone(),
                    candidates: of_serving,
                    processing_time: from.processing_time.unwrap_or(processing_time),
                    message_bytes,
                }),
            },
            serving_interface: first.interface,
            serving_place,
            serving_link,
            session,
            correspondents: correspondents(world, number, node, first.interface, &candidates),
            candidates,
            opens,
        };
        let confidence_percent = confidence.map_or(0, percent);
        if confidence_percent > 0 {
            world.await_confidence(first.interface, confidence_percent);
        }
        let mut configured = Thresholds::default();
        let parameters: Vec<_> = thresholds
            .iter()
            .map(|one| signal_threshold(one.dbm, one.percent, one.direction, ThresholdAction::NORMAL))
            .collect();
        if !parameters.is_empty() {
            configured.configure(&parties.serving_link, &parameters);
        }
        let config = MihHandoverConfig {
            name: name.clone(),
            initiation,
            notice: match notice {
                NoticeModel::Local => Notice::Local,
                NoticeModel::Remote => Notice::Remote,
            },
            confidence_percent,
            scan_time: time_distribution(scan_time),
            message_bytes,
        };
        let random = self.stream("handover", name, &["scan"]);
        world.mih_handovers.push(MihHandover::new(config, parties, configured, random));
    }
}

/// The place of a cell among those of a station, and its membership there.
fn membership(world: &World, station: u32, access: &str) -> (usize, Membership) {
    let handovers = &world.handovers;
    let cells = &handovers.stations[station as usize].cells;
    let of = |member: &Membership| handovers.cells[member.cell as usize].name == access;
    let place = cells.iter().position(of).expect("validation refuses a cell in which it is no station");
    (place, cells[place])
}

/// The nodes with which a mobile node has flows over UDP and TCP, each with a way for redirects by each
/// candidate; the flows begin at the address in the first network.
fn correspondents(
    world: &mut World,
    number: u32,
    mobile_node: NodeId,
    first: Address,
    candidates: &[CandidateNetwork],
) -> Vec<Correspondent> {
    let mut found: Vec<Correspondent> = Vec::new();
    for flow in 0..world.flows.len() {
        let association = world.flows[flow].association;
        let mut sockets = [association.source, association.sink];
        if world.node(sockets[1]) == mobile_node {
            sockets.reverse();
        }
        if world.node(sockets[0]) != mobile_node || matches!(sockets[0], SocketId::Sctp(_)) {
            continue;
        }
        if matches!(sockets[0], SocketId::Open(_)) {
            // It begins there, and goes on by itself.
            world.set_own_address(sockets[0], first);
            world.set_peer_address(sockets[1], first);
            continue;
        }
        let node = world.node(sockets[1]);
        let at = found.iter().position(|other| other.node == node).unwrap_or_else(|| {
            found.push(Correspondent { node, sockets: Vec::new(), moved: Vec::new(), sequence: 0 });
            found.len() - 1
        });
        // A flow in each direction over one connection.
        if !found[at].moved.contains(&sockets) {
            found[at].moved.push(sockets);
            world.set_own_address(sockets[0], first);
            world.set_peer_address(sockets[1], first);
        }
    }
    for (at, correspondent) in (0..).zip(&mut found) {
        let targets = candidates.iter().map(|candidate| candidate.interface).chain([first]);
        let user = |candidate| User::Redirection { handover: number, correspondent: at, candidate };
        correspondent.sockets = redirection_sockets(world, user, [mobile_node, correspondent.node], targets);
    }
    found
}

/// The sockets by which a mobile node redirects its flows with a correspondent to each of these interfaces:
/// its own and the correspondent's.
pub(crate) fn redirection_sockets(
    world: &mut World,
    user: impl Fn(u32) -> User,
    [mobile_node, correspondent]: [NodeId; 2],
    targets: impl Iterator<Item = Address>,
) -> Vec<[SocketId; 2]> {
    // Its messages are empty, and never fragmented.
    let timeout = Udp::default().reassembly_timeout;
    let sockets = |(target, interface)| {
        let end = |node, address| SocketEnd {
            node,
            port: REDIRECTION_PORT,
            user: user(target),
            traffic_class: TrafficClass::default(),
            address,
        };
        let ends = (end(mobile_node, Some(interface)), end(correspondent, None));
        let association =
            world.add_udp(ends.0, ends.1, timeout).expect("validation refuses flows without a route");
        [association.source, association.sink]
    };
    (0..).zip(targets).map(sockets).collect()
}
