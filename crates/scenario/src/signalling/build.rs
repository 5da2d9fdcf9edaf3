//! IEEE 802.21 signalling: MIH functions, their sessions and sockets.

use super::model::{
    Acknowledgement, AcknowledgementMode, Crossing, ExchangeMessage, LinkAction as LinkActionModel,
    LinkActionKind, LinkThreshold, RateLimit, Signalling as SignallingModel, SignallingKind, SubscribedEvent,
    Validity,
};
use crate::builder::Builder;
use crate::distribution::build::{size_distribution, time_distribution};
use crate::dscp::Dscp;
use crate::transport::Transport;
use roamsim_engine::{Span, Stream};
use roamsim_network::World;
use roamsim_network::flow::Association;
use roamsim_network::handover::Membership;
use roamsim_network::signalling::{
    ConfiguredThresholds, End, Kind, LinkAction, MihNode, SessionSocket, SessionUser, Signalling,
    SignallingConfig,
};
use roamsim_network::socket::{SocketEnd, User};
use roamsim_network::topology::NodeId;
use roamsim_protocols::mih::wire::handover::{
    LinkActionType, LinkConfigurationParameter, LinkParameterType, Threshold, ThresholdAction,
    ThresholdDirection,
};
use roamsim_protocols::mih::wire::link::EventList;
use roamsim_protocols::mih::{self, MessageId, Mihf, MihfId, PORT, SessionConfig};
use roamsim_protocols::{Address, PeerAddress};
use std::sync::Arc;

/// The events that say whether a link can be used.
pub(super) const USABILITY: [SubscribedEvent; 3] =
    [SubscribedEvent::LinkUp, SubscribedEvent::LinkGoingDown, SubscribedEvent::LinkDown];

impl Builder<'_> {
    /// The MIHF of a node, made when it is first asked for.
    fn mihf(&self, world: &mut World, name: &str) -> u32 {
        let node = self.node(name);
        if let Some(at) = world.mih_nodes.iter().position(|mih| mih.node == node) {
            return at as u32;
        }
        let random = self.stream("mihf", name, &[]);
        world.mih_nodes.push(MihNode::new(Mihf::new(mihf_id(name, node)), node, random));
        (world.mih_nodes.len() - 1) as u32
    }

    pub(crate) fn signalling(&self, world: &mut World, model: &SignallingModel) {
        let &SignallingModel {
            ref name,
            kind,
            ref from,
            ref to,
            ref transport,
            dscp,
            ref message_size,
            ref interval,
            ref processing_time,
            acknowledgement,
            ref messages,
            lifetime,
            rate_limit,
            ref events,
            confidence,
            ref thresholds,
            ref actions,
            ref start,
            stop,
        } = model;
        let number = world.signalling.len() as u32;
        let stream = |purpose: &str| self.stream("signalling", name, &[purpose]);
        let names = [from.as_str(), to.as_str()];
        // Over TCP and SCTP the origin connects from a port of its own.
        let port = u16::MAX - (number % 1000) as u16;
        let own = messages.iter().map(|own| (message_id(own.message), own.timeout, own.retransmissions));
        let timers = timers(own, acknowledgement);
        let exchange = Exchange { transport, dscp, acknowledgement, timers, lifetime, rate_limit };
        let random = |protocol: &str| ["origin", "responder"].map(|end| stream(&format!("{protocol}/{end}")));
        let user = SessionUser::Signalling(number);
        let (ends, _) = self.session(world, &exchange, (names, [None; 2], port), user, random);
        let config = SignallingConfig {
            name: name.clone(),
            kind: match kind {
                SignallingKind::Indication => Kind::Indication,
                SignallingKind::Request => Kind::Request,
                SignallingKind::LinkEvents => Kind::LinkEvents,
            },
            validity: match acknowledgement.map(|settings| settings.validity) {
                None => "none",
                Some(Validity::Open) => "open",
                Some(Validity::Acked) => "acked",
                Some(Validity::Strict) => "strict",
            }
            .to_owned(),
            message_size: message_size.as_ref().map(size_distribution),
            interval: interval.as_ref().map(time_distribution),
            processing_time: time_distribution(processing_time),
            events: events.as_deref().unwrap_or(&USABILITY).iter().fold(EventList::NONE, |list, event| {
                list.union(match event {
                    SubscribedEvent::LinkDetected => EventList::LINK_DETECTED,
                    SubscribedEvent::LinkUp => EventList::LINK_UP,
                    SubscribedEvent::LinkParametersReport => EventList::LINK_PARAMETERS_REPORT,
                    SubscribedEvent::LinkGoingDown => EventList::LINK_GOING_DOWN,
                    SubscribedEvent::LinkDown => EventList::LINK_DOWN,
                })
            }),
            confidence_percent: self.await_confidence(world, from, confidence),
            thresholds: self.thresholds(world, from, thresholds),
            actions: self.actions(world, from, actions),
            start: self.start(start, stream("start")),
            stop: self.stop(stop),
        };
        let reporter = match config.kind {
            Kind::Indication | Kind::LinkEvents => self.node(from),
            Kind::Request => self.node(to),
        };
        let ends = ((ends[0], stream("origin")), (ends[1], stream("responder")));
        world.signalling.push(Signalling::new(config, reporter, ends.0, ends.1));
    }
}

impl Builder<'_> {
    /// The interface of a node on a link, of a station in a cell.
    fn interface_on(&self, world: &World, node: &str, link: &str) -> Address {
        let node = self.node(node);
        let named = |&&Membership { cell: number, .. }: &&Membership| {
            world.handovers.cells[number as usize].name == link
        };
        let of_station = world.handovers.station(node).and_then(|station| station.cells.iter().find(named));
        let topology = &world.network.topology;
        let mut all = topology.node(node).interfaces.iter().map(|&own| Address(own));
        let found = of_station
            .map(|of| of.interface)
            .or_else(|| all.find(|own| *topology.interface(*own).name == *link));
        found.expect("validation refuses a link that it has not")
    }

    /// The links of a node tell Link_Going_Down again when they come to this confidence. Returns it in
    /// percent.
    fn await_confidence(&self, world: &mut World, node: &str, confidence: Option<f64>) -> u8 {
        let Some(percent) = confidence.map(percent) else { return 0 };
        let interfaces = world.network.topology.node(self.node(node)).interfaces.clone();
        for &interface in &*interfaces {
            world.await_confidence(Address(interface), percent);
        }
        percent
    }

    /// The thresholds of each link, in the order of their first ones.
    fn thresholds(&self, world: &World, node: &str, models: &[LinkThreshold]) -> Vec<ConfiguredThresholds> {
        let mut links: Vec<ConfiguredThresholds> = Vec::new();
        for LinkThreshold {
            link,
            dbm,
            percent,
            packet_error_percent,
            report_interval,
            direction,
            one_shot,
        } in models
        {
            let link = self.interface_on(world, node, link);
            let action = if *one_shot { ThresholdAction::ONE_SHOT } else { ThresholdAction::NORMAL };
            let parameter = match packet_error_percent {
                None => signal_threshold(*dbm, *percent, *direction, action),
                Some(percent) => LinkConfigurationParameter {
                    parameter: LinkParameterType::PACKET_ERROR_RATE,
                    // Validation refuses one that is left out, or does not fit.
                    report_interval_ms: report_interval.map(|interval| (interval.as_ns() / 1_000_000) as u16),
                    action,
                    thresholds: vec![threshold(i16::from(*percent), *direction)],
                },
            };
            match links.iter_mut().find(|of| of.link == link) {
                Some(of) => of.parameters.push(parameter),
                None => links.push(ConfiguredThresholds { link, parameters: vec![parameter] }),
            }
        }
        links
    }

    fn actions(&self, world: &World, node: &str, models: &[LinkActionModel]) -> Vec<LinkAction> {
        let action = |LinkActionModel { link, action, upon, of }: &LinkActionModel| LinkAction {
            link: self.interface_on(world, node, link),
            action: match action {
                LinkActionKind::PowerUp => LinkActionType::POWER_UP,
                LinkActionKind::PowerDown => LinkActionType::POWER_DOWN,
                LinkActionKind::Disconnect => LinkActionType::DISCONNECT,
                LinkActionKind::Scan => LinkActionType::NONE,
            },
            scans: *action == LinkActionKind::Scan,
            upon: match upon {
                SubscribedEvent::LinkDetected => MessageId::LINK_DETECTED_INDICATION,
                SubscribedEvent::LinkUp => MessageId::LINK_UP_INDICATION,
                SubscribedEvent::LinkParametersReport => MessageId::LINK_PARAMETERS_REPORT_INDICATION,
                SubscribedEvent::LinkGoingDown => MessageId::LINK_GOING_DOWN_INDICATION,
                SubscribedEvent::LinkDown => MessageId::LINK_DOWN_INDICATION,
            },
            of: of.as_deref().map(|of| self.interface_on(world, node, of)),
        };
        models.iter().map(action).collect()
    }
}

/// A confidence as link events tell it.
pub(crate) fn percent(confidence: f64) -> u8 {
    (100.0 * confidence).round() as u8
}

/// What is configured of a threshold of the signal, in dBm or in percent.
pub(crate) fn signal_threshold(
    dbm: Option<i8>,
    percent: Option<u8>,
    direction: Crossing,
    action: ThresholdAction,
) -> LinkConfigurationParameter {
    let value = dbm.map_or(i16::from(percent.unwrap_or(0)), i16::from);
    LinkConfigurationParameter {
        parameter: LinkParameterType::SIGNAL_STRENGTH,
        report_interval_ms: None,
        action,
        thresholds: vec![threshold(value, direction)],
    }
}

fn threshold(value: i16, direction: Crossing) -> Threshold {
    let direction = match direction {
        Crossing::Above => ThresholdDirection::ABOVE,
        Crossing::Below => ThresholdDirection::BELOW,
    };
    // In two's complement.
    Threshold { value: value as u16, direction }
}

/// The timers of messages that have others than the rest: which message, its timeout, and its
/// retransmissions if they are others too.
pub(crate) fn timers(
    messages: impl Iterator<Item = (MessageId, Span, Option<u32>)>,
    acknowledgement: Option<Acknowledgement>,
) -> Arc<[mih::MessageTimers]> {
    let usual = acknowledgement.map_or(0, |settings| settings.retransmissions);
    let timers = |(mid, timeout, retransmissions): (MessageId, Span, Option<u32>)| mih::MessageTimers {
        mid,
        timeout,
        retransmissions: retransmissions.unwrap_or(usual),
    };
    messages.map(timers).collect()
}

fn message_id(message: ExchangeMessage) -> MessageId {
    match message {
        ExchangeMessage::Request => MessageId::LINK_GET_PARAMETERS_REQUEST,
        ExchangeMessage::Response => MessageId::LINK_GET_PARAMETERS_RESPONSE,
    }
}

/// What the ends of an MIH session have agreed on.
pub(crate) struct Exchange<'a> {
    pub transport: &'a Transport,
    pub dscp: Dscp,
    pub acknowledgement: Option<Acknowledgement>,
    pub timers: Arc<[mih::MessageTimers]>,
    pub lifetime: Option<Span>,
    pub rate_limit: Option<RateLimit>,
}

impl Builder<'_> {
    /// A session between the MIHFs of two nodes, at the addresses that are given or by which the nodes know
    /// each other: its ends, the opener's first, and its sockets. The opener of a connection has a port of
    /// its own; over UDP both use the registered one.
    pub(crate) fn session(
        &self,
        world: &mut World,
        exchange: &Exchange<'_>,
        (names, addresses, port): ([&str; 2], [Option<Address>; 2], u16),
        user: SessionUser,
        random: impl Fn(&str) -> [Stream; 2],
    ) -> ([End; 2], Association) {
        let &Exchange { transport, dscp, acknowledgement, ref timers, lifetime, rate_limit } = exchange;
        let nodes = names.map(|node| self.node(node));
        let mihfs = names.map(|node| self.mihf(world, node));
        let ends =
            mihfs.map(|mihf| End { mihf, session: world.mih_nodes[mihf as usize].sessions.len() as u32 });
        let reliable = !matches!(transport, Transport::Udp(_));
        let ports = [if reliable { port } else { PORT }, PORT];
        let socket_ends = [0, 1].map(|at: usize| SocketEnd {
            node: nodes[at],
            port: ports[at],
            user: User::Mih { mihf: ends[at].mihf, session: ends[at].session },
            traffic_class: dscp.traffic_class(),
            address: addresses[at],
        });
        let association = transport.connect(world, socket_ends, true, random);
        let association = association.expect("validation refuses signalling without a route");
        let sockets = [association.source, association.sink];
        for at in [0, 1] {
            let peer = 1 - at;
            let known = world.network.topology.route(nodes[peer], nodes[at]);
            let remote = addresses[peer].or(known).unwrap_or(Address(0));
            let name = world.mih_nodes[mihfs[peer] as usize].mihf.id().clone();
            let mih = &mut world.mih_nodes[mihfs[at] as usize];
            mih.mihf.add_session(SessionConfig {
                peer: name,
                remote: PeerAddress { address: remote, port: ports[peer] },
                reliable,
                acknowledgement: acknowledgement.map(|settings| mih::Acknowledgement {
                    timeout: settings.timeout,
                    retransmissions: settings.retransmissions,
                    mode: match settings.mode {
                        AcknowledgementMode::Separate => mih::AcknowledgementMode::Separate,
                        AcknowledgementMode::Piggyback => mih::AcknowledgementMode::Piggyback,
                    },
                }),
                timers: Arc::clone(timers),
                validity: match acknowledgement.map(|settings| settings.validity).unwrap_or_default() {
                    Validity::Open => mih::Validity::Open,
                    Validity::Acked => mih::Validity::Acked,
                    Validity::Strict => mih::Validity::Strict,
                },
                lifetime,
                rate_limit: rate_limit.map(|limit| mih::RateLimit {
                    bucket_packets: limit.bucket_packets,
                    rate_per_s: limit.rate_per_s,
                    queue_packets: limit.queue_packets,
                }),
            });
            mih.sessions.push(SessionSocket { user, socket: sockets[at] });
        }
        (ends, association)
    }
}

/// What an MIHF is called: its node's name, which is a host name where it fits into an MIHF_ID.
pub(crate) fn mihf_id(name: &str, number: NodeId) -> MihfId {
    let numbered = || MihfId::new(&format!("node-{}", number.0)).expect("15 octets fit into an MIHF_ID");
    MihfId::new(name).unwrap_or_else(|_| numbered())
}
