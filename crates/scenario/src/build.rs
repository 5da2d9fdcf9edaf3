//! Building the world of a scenario: nodes, links, routes, sockets, applications, MIH functions.
//!
//! The scenario is valid: names resolve, routes exist. Random streams are named after what they serve, so that a
//! change elsewhere in the scenario leaves them as they are.

mod cells;
mod dect;
mod mobile_ip;
mod sctp;

pub(crate) use self::cells::{radius_m, trajectory};
pub(crate) use self::dect::first_frame;

use crate::model::application::{Application, Pace};
use crate::model::cell::Cell as CellModel;
use crate::model::dect::Dect;
use crate::model::distribution::{SizeDistribution, TimeDistribution};
use crate::model::flow::Flow as FlowModel;
use crate::model::link::{Link as LinkModel, LossModel as Losses, Queue, Transitions as Moves};
use crate::model::scenario::{IpVersion as IpModel, Scenario};
use crate::model::signalling::{
    AcknowledgementMode, Signalling as SignallingModel, SignallingKind, Validity,
};
use crate::model::transport::{Tcp, TcpVariant, Transport};
use crate::model::wifi::{Preamble as PreambleModel, Wifi};
use roamsim_engine::{Stream, Time};
use roamsim_network::application::{Activity, Bulk, Client, Messages, OnOff, Server, Source, Transfer};
use roamsim_network::flow::Flow;
use roamsim_network::handover::Scheme;
use roamsim_network::link::loss::{Loss, LossModel, Transitions};
use roamsim_network::link::wifi::{Cell, CellConfig, Preamble};
use roamsim_network::link::wired::{Outage, Wire, WireConfig};
use roamsim_network::link::{AnyLink, Attachment, QueueLimit};
use roamsim_network::packet::IpVersion;
use roamsim_network::recorder::Recorder;
use roamsim_network::signalling::{End, Kind, MihNode, SessionSocket, Signalling, SignallingConfig};
use roamsim_network::socket::User;
use roamsim_network::topology::{Interface, LinkId, NodeId, Topology};
use roamsim_network::world::SocketEnd;
use roamsim_network::{Distribution, Network, World, tunnel};
use roamsim_protocols::mih::{self, Mihf, MihfId, PORT, SessionConfig};
use roamsim_protocols::{Address, PeerAddress, tcp};
use std::collections::BTreeMap;
use std::io;

/// The ports of flows start here (the dynamic range of RFC 6335 section 6), two a flow and node.
const FIRST_PORT: u16 = 49_152;

struct Builder<'a> {
    scenario: &'a Scenario,
    seed: u64,
    replication: u64,
    nodes: BTreeMap<&'a str, NodeId>,
}

/// Builds the world. `recorder` makes the recorder, when one is wanted, once the topology is known.
pub(crate) fn world(
    scenario: &Scenario,
    seed: u64,
    replication: u64,
    recorder: impl FnOnce(&Topology, IpVersion) -> io::Result<Option<Box<Recorder>>>,
) -> io::Result<World> {
    let mut topology = Topology::default();
    let nodes: BTreeMap<&str, NodeId> =
        scenario.nodes.iter().map(|node| (node.name.as_str(), topology.add_node(&node.name))).collect();
    let builder = Builder { scenario, seed, replication, nodes };
    let links = builder.links(&mut topology);
    builder.bind_multihomed(&mut topology);
    topology.make_routes();
    let cells: Vec<_> = (0..)
        .map(LinkId)
        .zip(&links)
        .filter(|(_, link)| matches!(link.model, NewMachine::Cell(_)))
        .map(|(number, link)| (number, link.addresses.clone()))
        .collect();
    let handovers = builder.handovers(&mut topology, &cells);
    let mobile_ip = builder.mobile_ip(&mut topology, &handovers);
    let ip = match scenario.general.ip {
        IpModel::Ipv6 => IpVersion::V6,
        IpModel::Ipv4 => IpVersion::V4,
    };
    let recorder = recorder(&topology, ip)?;
    let mut network = Network::new(topology, ip);
    network.recorder = recorder;
    let mut world = World::new(network);
    world.handovers = handovers;
    world.mobile_ip = mobile_ip;
    for flow in &scenario.flows {
        builder.flow(&mut world, flow);
    }
    // After the flows, whose packets a loss may name.
    for link in links {
        let (machine, name) = match link.model {
            NewMachine::Wire(model, from) => (builder.wire(model, from, &world.flows), &model.name),
            NewMachine::Wifi(model) => (builder.wifi(model), &model.name),
            NewMachine::Cell(model) => (builder.radio_cell(model), &model.name),
            NewMachine::Dect(model) => {
                let wanted = world.network.recorder.as_ref().map(|recorder| recorder.wanted);
                let stream = |purpose: &str| builder.stream("dect", &model.name, &[purpose]);
                (dect::access(model, wanted.unwrap_or_default(), stream), &model.name)
            }
        };
        world.network.add_link(machine, name, &link.addresses, builder.stream("link", name, &[]));
    }
    for signalling in &scenario.signalling {
        builder.signalling(&mut world, signalling);
    }
    // At last, because without a way out a station would have no address.
    for station in &world.handovers.stations {
        if station.scheme == Scheme::Bridged {
            world.network.topology.set_egress(station.node, None);
        }
    }
    Ok(world)
}

/// A link that has its place in the topology, and waits for its machine.
struct NewLink<'a> {
    model: NewMachine<'a>,
    addresses: Vec<Address>,
}

/// What a link's machine is made from.
#[derive(Clone, Copy)]
enum NewMachine<'a> {
    /// The direction of a point-to-point link that starts from this end.
    Wire(&'a LinkModel, usize),
    Wifi(&'a Wifi),
    Cell(&'a CellModel),
    Dect(&'a Dect),
}

impl Builder<'_> {
    /// The random stream of a purpose. Names of the scenario are escaped as in RFC 6901, so that no two purposes
    /// share a stream.
    fn stream(&self, kind: &str, name: &str, purpose: &[&str]) -> Stream {
        let mut path = format!("{kind} {}", escaped(name));
        for part in purpose {
            path.push('/');
            path += part;
        }
        Stream::new(self.seed, self.replication, &path)
    }

    /// What is generated is generated before its stop, and before the end of the run.
    fn stop(&self, stop: Option<Time>) -> Time {
        let end = Time::ZERO + self.scenario.general.duration;
        stop.map_or(end, |stop| stop.min(end))
    }

    fn node(&self, name: &str) -> NodeId {
        self.nodes[name]
    }

    /// Gives every link its place in the topology.
    fn links(&self, topology: &mut Topology) -> Vec<NewLink<'_>> {
        let mut links = Vec::new();
        for model in &self.scenario.links {
            let ends = [self.node(&model.between[0]), self.node(&model.between[1])];
            let first = links.len() as u32;
            let addresses = [0, 1].map(|from: usize| {
                topology.add_interface(Interface {
                    node: ends[from],
                    link: LinkId(first + from as u32),
                    attachment: Attachment(0),
                    neighbour: ends[1 - from],
                    mtu_bytes: model.mtu_bytes as u32,
                    name: model.name.clone(),
                })
            });
            for from in [0, 1] {
                links.push(NewLink {
                    model: NewMachine::Wire(model, from),
                    addresses: vec![addresses[from], addresses[1 - from]],
                });
            }
        }
        for model in &self.scenario.wifi {
            let ends = [self.node(&model.access_point), self.node(&model.stations[0])];
            let number = LinkId(links.len() as u32);
            let addresses = shared(topology, number, ends, model.mtu_bytes, &model.name);
            links.push(NewLink { model: NewMachine::Wifi(model), addresses: addresses.to_vec() });
        }
        for model in &self.scenario.cells {
            let addresses = self.cell_interfaces(topology, model, LinkId(links.len() as u32));
            links.push(NewLink { model: NewMachine::Cell(model), addresses });
        }
        for model in &self.scenario.dect {
            let ends = [self.node(&model.terminal), self.node(&model.gateway)];
            let number = LinkId(links.len() as u32);
            let addresses = shared(topology, number, ends, model.mtu_bytes, &model.name);
            links.push(NewLink { model: NewMachine::Dect(model), addresses: addresses.to_vec() });
        }
        links
    }

    /// The direction of a point-to-point link that starts from one of its ends.
    fn wire(&self, model: &LinkModel, from: usize, flows: &[Flow]) -> AnyLink {
        let sender = &model.between[from];
        let loss = model.loss.iter().find(|loss| loss.from.as_ref().is_none_or(|name| name == sender));
        let loss = loss.map(|loss| {
            Loss::new(loss_model(&loss.model, flows), loss.start, |purpose| {
                self.stream("link", &model.name, &[&escaped(sender), purpose])
            })
        });
        let config = WireConfig {
            rate_bps: model.rate_bps,
            delay: model.delay,
            queue: queue_limit(model.queue),
            mtu_bytes: model.mtu_bytes as u32,
            outages: model
                .outages
                .iter()
                .map(|outage| Outage { start: outage.start, end: outage.start + outage.duration })
                .collect(),
        };
        AnyLink::Wire(Wire::new(config, loss))
    }

    fn wifi(&self, model: &Wifi) -> AnyLink {
        let config = CellConfig {
            rate_bps: model.rate_bps,
            basic_rate_bps: model.acknowledgement_rate_bps(),
            preamble: match model.preamble {
                PreambleModel::Long => Preamble::Long,
                PreambleModel::Short => Preamble::Short,
            },
            cw_min: model.cw_min,
            queue: queue_limit(model.queue),
            mtu_bytes: model.mtu_bytes as u32,
        };
        AnyLink::Wifi(Box::new(Cell::new(config, |purpose| self.stream("wifi", &model.name, &[purpose]))))
    }

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

    fn signalling(&self, world: &mut World, model: &SignallingModel) {
        let number = world.signalling.len() as u32;
        let stream = |purpose: &str| self.stream("signalling", &model.name, &[purpose]);
        let names = [&model.from, &model.to];
        let nodes = names.map(|name| self.node(name));
        let mihfs = names.map(|name| self.mihf(world, name));
        let ends =
            mihfs.map(|mihf| End { mihf, session: world.mih_nodes[mihf as usize].sessions.len() as u32 });
        let reliable = !matches!(model.transport, Transport::Udp(_));
        // Over TCP and SCTP the origin connects from a port of its own; over UDP both use the registered one.
        let ports = [if reliable { u16::MAX - (number % 1000) as u16 } else { PORT }, PORT];
        let socket_ends = [0, 1].map(|at: usize| SocketEnd {
            node: nodes[at],
            port: ports[at],
            user: User::Mih { mihf: ends[at].mihf, session: ends[at].session },
        });
        let sockets = match &model.transport {
            Transport::Udp(_) => world.add_udp(socket_ends[0], socket_ends[1]),
            Transport::Tcp(settings) => {
                let config = tcp_config(settings, path_mss(world, nodes[0], nodes[1]));
                let random = (stream("tcp/origin"), stream("tcp/responder"));
                world.add_tcp(&config, (socket_ends[0], random.0), (socket_ends[1], random.1))
            }
            Transport::Sctp(settings) => {
                let random = (stream("sctp/origin"), stream("sctp/responder"));
                sctp::add(world, settings, (socket_ends[0], random.0), (socket_ends[1], random.1))
            }
        };
        // Validation refuses signalling without a route.
        let Some(sockets) = sockets else { return };
        let sockets = [sockets.source, sockets.sink];
        for at in [0, 1] {
            let peer = 1 - at;
            let remote = world.network.topology.route(nodes[peer], nodes[at]);
            let mih = &mut world.mih_nodes[mihfs[at] as usize];
            mih.mihf.add_session(SessionConfig {
                peer: mihf_id(names[peer], nodes[peer]),
                remote: PeerAddress { address: remote.unwrap_or(Address(0)), port: ports[peer] },
                reliable,
                acknowledgement: model.acknowledgement.map(|settings| mih::Acknowledgement {
                    timeout: settings.timeout,
                    retransmissions: settings.retransmissions,
                    mode: match settings.mode {
                        AcknowledgementMode::Separate => mih::AcknowledgementMode::Separate,
                        AcknowledgementMode::Piggyback => mih::AcknowledgementMode::Piggyback,
                    },
                }),
                validity: match model.acknowledgement.map(|settings| settings.validity).unwrap_or_default() {
                    Validity::Open => mih::Validity::Open,
                    Validity::Acked => mih::Validity::Acked,
                    Validity::Strict => mih::Validity::Strict,
                },
                lifetime: model.lifetime,
                rate_limit: model.rate_limit.map(|limit| mih::RateLimit {
                    bucket_packets: limit.bucket_packets,
                    rate_per_s: limit.rate_per_s,
                    queue_packets: limit.queue_packets,
                }),
            });
            mih.sessions.push(SessionSocket { signalling: number, socket: sockets[at] });
        }
        let config = SignallingConfig {
            name: model.name.clone(),
            kind: match model.kind {
                SignallingKind::Indication => Kind::Indication,
                SignallingKind::Request => Kind::Request,
            },
            validity: match model.acknowledgement.map(|settings| settings.validity) {
                None => "none",
                Some(Validity::Open) => "open",
                Some(Validity::Acked) => "acked",
                Some(Validity::Strict) => "strict",
            }
            .to_owned(),
            message_size: size_distribution(&model.message_size),
            interval: time_distribution(&model.interval),
            processing_time: time_distribution(&model.processing_time),
            start: model.start,
            stop: self.stop(model.stop),
        };
        let reporter = match config.kind {
            Kind::Indication => nodes[0],
            Kind::Request => nodes[1],
        };
        let ends = ((ends[0], stream("origin")), (ends[1], stream("responder")));
        world.signalling.push(Signalling::new(config, reporter, ends.0, ends.1));
    }

    fn flow(&self, world: &mut World, model: &FlowModel) {
        let number = world.flows.len() as u32;
        let stream = |purpose: &str| self.stream("flow", &model.name, &[purpose]);
        let (from, to) = (self.node(&model.from), self.node(&model.to));
        // Each flow has a pair of ports of its own; beyond the range they repeat, between other nodes.
        let port = FIRST_PORT + (number % u32::from(u16::MAX - FIRST_PORT)) as u16;
        let a = SocketEnd { node: from, port, user: User::FlowSource(number) };
        let b = SocketEnd { node: to, port, user: User::FlowSink(number) };
        let association = match &model.transport {
            Transport::Udp(_) => world.add_udp(a, b),
            Transport::Tcp(settings) => {
                let config = tcp_config(settings, path_mss(world, from, to));
                let ends = ((a, stream("tcp/source")), (b, stream("tcp/sink")));
                world.add_tcp(&config, ends.0, ends.1)
            }
            Transport::Sctp(settings) => {
                let ends = ((a, stream("sctp/source")), (b, stream("sctp/sink")));
                sctp::add(world, settings, ends.0, ends.1)
            }
        };
        // Validation refuses flows without a route.
        let Some(association) = association else { return };
        let reliable = !matches!(model.transport, Transport::Udp(_));
        let (source, server) = application(&model.application, reliable, self.stop(model.application.stop()));
        let variant = match &model.transport {
            Transport::Udp(_) => String::new(),
            Transport::Tcp(settings) => variant(settings).to_string(),
            Transport::Sctp(settings) => sctp::rules_name(settings).to_owned(),
        };
        world.flows.push(Flow::new(
            &model.name,
            model.application.kind(),
            &variant,
            (source, stream("application")),
            (server, stream("server")),
            association,
        ));
    }
}

/// Gives a link that is one machine for both its ends a place in the topology.
fn shared(
    topology: &mut Topology,
    link: LinkId,
    ends: [NodeId; 2],
    mtu_bytes: u64,
    name: &str,
) -> [Address; 2] {
    [0, 1].map(|end: usize| {
        topology.add_interface(Interface {
            node: ends[end],
            link,
            attachment: Attachment(end as u32),
            neighbour: ends[1 - end],
            mtu_bytes: mtu_bytes as u32,
            name: name.to_owned(),
        })
    })
}

/// A name without slashes.
fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// What an MIHF is called: its node's name, which is a host name where it fits into an MIHF_ID.
fn mihf_id(name: &str, number: NodeId) -> MihfId {
    let numbered = || MihfId::new(&format!("node-{}", number.0)).expect("15 octets fit into an MIHF_ID");
    MihfId::new(name).unwrap_or_else(|_| numbered())
}

/// The largest segment that every link between two nodes takes, there and back (RFC 9293 section 3.7.1): MTU less
/// headers. Among equally short routes the two directions may take different ones.
pub(crate) fn path_mss(world: &World, from: NodeId, to: NodeId) -> u32 {
    path_payload(world, from, to).saturating_sub(Tcp::HEADER_BYTES as u32).max(1)
}

/// What IP carries in a packet that every link between two nodes takes, there and back.
fn path_payload(world: &World, from: NodeId, to: NodeId) -> u32 {
    let topology = &world.network.topology;
    let mut links = [topology.path(from, to), topology.path(to, from)].concat();
    // A node with bound interfaces may use any of them in the course of the run.
    for node in [from, to] {
        if topology.node(node).primary.is_some() {
            links.extend(topology.node(node).interfaces.iter().copied().map(Address));
        }
    }
    let mut headers = world.network.ip.header_bytes();
    // What is for a mobile node may come through a tunnel, wherever its agents are.
    if world.mobile_ip.hosts.iter().any(|host| host.node == from || host.node == to) {
        links = (0..topology.interfaces().len() as u32).map(Address).collect();
        headers += tunnel::HEADER_BYTES;
    }
    let mtu = links.iter().map(|&address| topology.interface(address).mtu_bytes).min();
    mtu.unwrap_or(0).saturating_sub(headers)
}

fn variant(settings: &Tcp) -> tcp::Variant {
    match settings.variant {
        TcpVariant::Tahoe => tcp::Variant::Tahoe,
        TcpVariant::Reno => tcp::Variant::Reno,
        TcpVariant::NewReno => tcp::Variant::NewReno,
        TcpVariant::Sack => tcp::Variant::Sack,
        TcpVariant::Vegas => tcp::Variant::Vegas,
        TcpVariant::Cubic => tcp::Variant::Cubic,
    }
}

/// The machine's configuration; `path_mss_bytes` applies where the scenario sets no MSS.
pub(crate) fn tcp_config(settings: &Tcp, path_mss_bytes: u32) -> tcp::Config {
    tcp::Config {
        variant: variant(settings),
        mss_bytes: settings.mss_bytes.map_or(path_mss_bytes, |bytes| bytes as u32),
        initial_window: match settings.initial_window_segments {
            Some(segments) => tcp::InitialWindow::Segments(segments),
            None => tcp::InitialWindow::Rfc6928,
        },
        receive_window_bytes: settings.receive_window_bytes() as u32,
        window_scaling: settings.window_scaling,
        min_rto: settings.min_rto,
        max_rto: settings.max_rto,
        initial_rto: settings.initial_rto,
        clock_granularity: settings.clock_granularity,
        delayed_ack: settings.delayed_ack.then_some(settings.delayed_ack_timeout),
        nagle: settings.nagle,
        dup_ack_threshold: settings.dup_ack_threshold,
        limited_transmit: settings.limited_transmit,
        sack: settings.sack,
        max_sack_blocks: settings.max_sack_blocks,
        timestamps: settings.timestamps,
        max_retransmissions: settings.max_retransmissions,
        initial_ssthresh_bytes: settings.initial_ssthresh_bytes,
        vegas: settings.vegas.map_or_else(tcp::VegasThresholds::default, |vegas| tcp::VegasThresholds {
            alpha: vegas.alpha_segments,
            beta: vegas.beta_segments,
            gamma: vegas.gamma_segments,
        }),
        fast_convergence: settings.fast_convergence,
        restart_after_idle: settings.restart_after_idle,
        ..tcp::Config::default()
    }
}

fn queue_limit(queue: Queue) -> QueueLimit {
    match queue {
        Queue::Packets(packets) => QueueLimit::Packets(packets),
        Queue::Bytes(bytes) => QueueLimit::Bytes(bytes),
    }
}

fn loss_model(model: &Losses, flows: &[Flow]) -> LossModel {
    match *model {
        Losses::Bernoulli { probability } => LossModel::Bernoulli { probability },
        Losses::List { ref segments, ref flow } => {
            let mut segments = segments.clone();
            segments.sort_unstable();
            // Validation refuses the name of no flow.
            let flow = flow.as_ref().and_then(|name| flows.iter().find(|flow| flow.name == *name));
            LossModel::List { segments, association: flow.map(|flow| flow.association) }
        }
        Losses::GilbertElliott { transitions, loss_good, loss_bad } => LossModel::GilbertElliott {
            transitions: match transitions {
                Moves::PerPacket { good_to_bad, bad_to_good } => {
                    Transitions::PerPacket { good_to_bad, bad_to_good }
                }
                Moves::PerTime { mean_good, mean_bad } => Transitions::PerTime {
                    mean_good_s: mean_good.as_secs_f64(),
                    mean_bad_s: mean_bad.as_secs_f64(),
                },
            },
            loss_good,
            loss_bad,
        },
    }
}

/// A distribution of nanoseconds.
pub(crate) fn time_distribution(model: &TimeDistribution) -> Distribution {
    match *model {
        TimeDistribution::Constant { value } => Distribution::Constant(value.as_ns()),
        TimeDistribution::Exponential { mean } => Distribution::Exponential { mean: mean.as_ns() },
        TimeDistribution::Uniform { min, max } => {
            Distribution::Uniform { min: min.as_ns(), max: max.as_ns() }
        }
    }
}

/// A distribution of octets.
pub(crate) fn size_distribution(model: &SizeDistribution) -> Distribution {
    match *model {
        SizeDistribution::Constant { value_bytes } => Distribution::Constant(value_bytes),
        SizeDistribution::Uniform { min_bytes, max_bytes } => {
            Distribution::Uniform { min: min_bytes, max: max_bytes }
        }
    }
}

fn application(model: &Application, reliable: bool, stop: Time) -> (Source, Option<Server>) {
    let activity = Activity { start: model.start(), stop };
    let source = match model {
        Application::Bulk(bulk) => {
            // Without a stop the connection is not dropped at the end of the run.
            Source::Bulk(Bulk::new(Activity { stop: bulk.stop.unwrap_or(Time::MAX), ..activity }))
        }
        Application::Transfer(transfer) => {
            Source::Transfer(Transfer::new(transfer.start, transfer.size_bytes))
        }
        Application::Cbr(cbr) => match cbr.pace() {
            Pace::Interval(interval) => {
                let interval = Distribution::Constant(interval.as_ns());
                Source::Messages(Messages::new(
                    activity,
                    interval,
                    Distribution::Constant(cbr.packet_size_bytes),
                ))
            }
            // A rate rarely gives whole nanoseconds: one "on" period without end derives every slot by itself.
            Pace::RateBps(rate_bps) => Source::OnOff(OnOff::new(
                activity,
                cbr.packet_size_bytes as u32,
                rate_bps,
                Distribution::Constant(u64::MAX),
                Distribution::Constant(0),
            )),
        },
        Application::Poisson(poisson) => {
            // The load stays what `mean_interval` says: batches are rarer the larger they are.
            let batch = poisson.mean_batch_packets;
            let interval = Distribution::Exponential { mean: poisson.mean_interval.as_ns() * batch };
            let size = Distribution::Constant(poisson.packet_size_bytes);
            let messages = Messages::new(activity, interval, size);
            Source::Messages(messages.in_batches(Distribution::Geometric { mean: batch }))
        }
        Application::OnOff(on_off) => Source::OnOff(OnOff::new(
            activity,
            on_off.packet_size_bytes as u32,
            on_off.rate_bps,
            time_distribution(&on_off.on),
            time_distribution(&on_off.off),
        )),
        Application::RequestResponse(model) => {
            let server = Server::new(
                Distribution::Constant(model.response_size_bytes),
                time_distribution(&model.processing_time),
            );
            // TCP and SCTP deliver in the end; a datagram may be lost, so its request is given up some time.
            let timeout = if reliable { model.timeout } else { Some(model.timeout()) };
            let request = Distribution::Constant(model.request_size_bytes);
            let client = Client::new(activity, request, time_distribution(&model.think_time), timeout);
            return (Source::Client(client), Some(server));
        }
    };
    (source, None)
}
