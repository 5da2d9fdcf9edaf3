//! The world: nodes, links, sockets and applications, driven by the engine's loop.
//!
//! A packet's life: application -> transport machine -> routing -> link -> node -> transport machine ->
//! application. Code that changes a transport machine puts its socket on the work list. The world empties
//! the list before the next event.

mod addresses;
mod ending;
mod fast_open;
mod flows;
mod link_commands;
mod link_events;
mod mih;
mod mih_handover;
mod named;
mod outside;
mod path_changes;
mod reconfiguration;
mod selected_handover;
mod selection;
mod series;
mod signals;
mod sockets;
mod stepping;
mod transfers;
mod warm_up;

use self::outside::Program;
pub use self::path_changes::PathChange;
pub use self::series::{FlowPart, LinkPart, LinkParts, Series};
pub use self::signals::Signals;
use self::stepping::Course;
use self::warm_up::WarmUp;

use crate::alarm::Moment;
use crate::event::{Event, Wake};
use crate::flow::Flow;
use crate::handover::Handovers;
use crate::handover::mobile_ip::{Driving, MobileIp};
use crate::link::flight::Landed;
use crate::mih_handover::MihHandover;
use crate::network::{Coming, Landing, LostDatagram, Network};
use crate::packet::{Message, Packet, Pdu, RedirectionMessage};
use crate::selected_handover::SelectedHandover;
use crate::selection::Selections;
use crate::signalling::{MihNode, Signalling};
use crate::socket::endpoint::LogFile;
use crate::socket::{OpenSocket, SctpSocket, SocketEnd, SocketId, TcpSocket, UdpSocket, User};
use crate::subject::Subject;
use crate::topology::NodeId;
use crate::trace::Trace;
use roamsim_engine::queue::Reserved;
use roamsim_engine::run::Simulation;
use roamsim_engine::{EventQueue, Fingerprint, Time};
use roamsim_protocols::Address;
use roamsim_protocols::mih::handover::Resources;
use roamsim_protocols::tcp::congestion::LawMaker;
use std::collections::{BTreeMap, VecDeque};
use std::io;

/// After so many events that follow each other in line the loop has its turn again, and looks now and then
/// whether the run is to go on. Chosen: the loop costs nothing beside so many.
const EVENTS_IN_LINE: u64 = 64;

/// A machine that was touched and has to be served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    Socket(SocketId),
    /// A socket follows its node's addresses.
    Addresses(SocketId),
    Source(u32),
    Server(u32),
    Reader(u32),
    Mihf(u32),
    MihHandover(u32),
    SelectedHandover(u32),
    /// A correspondent acknowledges a redirection through this socket of its.
    AcknowledgeRedirection(SocketId, u32),
}

/// Everything that a run moves.
pub struct World {
    /// Nodes, links, packets.
    pub network: Network,
    /// TCP sockets.
    pub(crate) tcp: Vec<TcpSocket>,
    /// UDP sockets.
    pub(crate) udp: Vec<UdpSocket>,
    /// SCTP sockets.
    pub(crate) sctp: Vec<SctpSocket>,
    /// Sockets of endpoints of other crates.
    pub(crate) open: Vec<OpenSocket>,
    /// Flows.
    pub flows: Vec<Flow>,
    /// Nodes with an MIHF.
    pub mih_nodes: Vec<MihNode>,
    /// Signalling entries.
    pub signalling: Vec<Signalling>,
    /// Handover entries.
    pub mih_handovers: Vec<MihHandover>,
    /// The users of selections by MIH.
    pub selected_handovers: Vec<SelectedHandover>,
    /// How links change at link events of others.
    pub path_changes: Vec<PathChange>,
    /// By cell, what it has left for mobile nodes that are handed over to it.
    pub resources: Vec<Resources>,
    /// Cells, their stations, and the handovers between them.
    pub handovers: Handovers,
    /// The agents and mobile nodes of Mobile IP.
    pub mobile_ip: MobileIp,
    /// Nodes that select one of their interfaces.
    pub selections: Selections,
    /// Congestion controls of TCP from outside, by name. Who adds connections looks here.
    pub laws: BTreeMap<String, LawMaker>,
    /// What the run does over time, where that is kept ([`World::keep_series`]).
    pub series: Option<Box<Series>>,
    /// What stations that move heard meanwhile, where there are any.
    pub signals: Option<Box<Signals>>,
    /// What was counted before its warm-up ended, where that is cut ([`World::cut_warm_up`]).
    warm_up: Option<Box<WarmUp>>,
    /// Octets that flows have delivered, all together.
    delivered_bytes: u64,
    pub(crate) work: VecDeque<Work>,
    pub(crate) trace: Trace,
    /// Whether events are digested.
    fingerprints: bool,
    details: bool,
    /// Whether a recorder looks at what every socket sends and receives.
    sockets_recorded: bool,
    /// Whether somebody looks at some of them: a recorder, or programs at the other end.
    sockets_watched: bool,
    /// Sockets of TCP in whose place a program has its end of the connection, and what is known of it.
    outside: BTreeMap<u32, Program>,
    /// The sockets of SCTP in whose place programs stand, and octets that those have acknowledged.
    outside_associations: BTreeMap<u32, u64>,
    /// Whether the state of connections is recorded over time.
    connections_sampled: bool,
    /// What clients of TCP Fast Open keep of their servers.
    known_servers: fast_open::KnownServers,
    /// By node, the signalling entries that its link events drive.
    link_event_users: BTreeMap<NodeId, Vec<u32>>,
    events_digest: Fingerprint,
    /// The run, while it is under way.
    course: Option<Box<Course>>,
}

impl World {
    /// Has endpoints of other crates write their logs. `make` gives each its file by a name; returned is how
    /// many there are.
    pub fn log_endpoints(&mut self, make: &mut dyn FnMut(&str) -> io::Result<LogFile>) -> io::Result<usize> {
        let mut logs = 0;
        for number in 0..self.open.len() {
            let Some(ending) = self.open[number].endpoint().log_ending() else { continue };
            let named = self.named(Subject::Socket(SocketId::Open(number as u32)));
            let title = format!("{}, {}", named.name, named.from);
            let file = make(&format!("{}-{}.{ending}", named.name, named.from))?;
            self.open[number].endpoint().log_to(title, file);
            logs += 1;
        }
        Ok(logs)
    }

    /// A world of nodes and links, without sockets.
    pub fn new(network: Network) -> World {
        let trace = network.recorder.as_ref().map(|recorder| recorder.trace).unwrap_or_default();
        let fingerprints = network.recorder.as_ref().is_some_and(|recorder| recorder.fingerprints);
        let details = network.recorder.as_ref().is_some_and(|recorder| recorder.wants_details());
        let states_sampled = trace.cwnd || trace.rtt || trace.in_flight || trace.pacing || trace.backlog;
        let connections_sampled = states_sampled || trace.states || trace.segments;
        World {
            network,
            tcp: Vec::new(),
            laws: BTreeMap::new(),
            udp: Vec::new(),
            sctp: Vec::new(),
            open: Vec::new(),
            flows: Vec::new(),
            mih_nodes: Vec::new(),
            signalling: Vec::new(),
            mih_handovers: Vec::new(),
            selected_handovers: Vec::new(),
            path_changes: Vec::new(),
            resources: Vec::new(),
            handovers: Handovers::default(),
            mobile_ip: MobileIp::default(),
            selections: Selections::default(),
            series: None,
            signals: None,
            warm_up: None,
            delivered_bytes: 0,
            work: VecDeque::new(),
            trace,
            fingerprints,
            details,
            sockets_recorded: details || connections_sampled,
            sockets_watched: details || connections_sampled,
            outside: BTreeMap::new(),
            outside_associations: BTreeMap::new(),
            connections_sampled,
            known_servers: BTreeMap::new(),
            link_event_users: BTreeMap::new(),
            events_digest: Fingerprint::default(),
            course: None,
        }
    }

    /// The addresses by which two nodes reach each other: of the interfaces that lead there, unless an end
    /// has one.
    fn addresses(&self, a: &SocketEnd, b: &SocketEnd) -> Option<[Address; 2]> {
        let topology = &self.network.topology;
        let of = |here: &SocketEnd, there: &SocketEnd| {
            here.address.or_else(|| topology.address_for(here.node, there.node))
        };
        Some([of(a, b)?, of(b, a)?])
    }

    /// The digest of every event.
    pub fn events_fingerprint(&self) -> u64 {
        self.events_digest.value()
    }

    /// Serves the work list until it is empty, then tells the flows of the datagrams that were lost.
    #[inline]
    fn serve_work(&mut self, moment: &mut Moment<'_>) {
        // Asked in one: mostly neither has anything.
        if self.work.len() | self.network.lost_datagrams.len() != 0 {
            self.serve_all(moment);
        }
    }

    #[inline(never)]
    fn serve_all(&mut self, moment: &mut Moment<'_>) {
        let now = moment.now;
        while let Some(work) = self.work.pop_front() {
            match work {
                Work::Socket(id) => self.serve_socket(moment, id),
                Work::Addresses(id) => self.tell_addresses(now, id),
                Work::Source(number) => self.serve_source(moment, number),
                Work::Server(number) => self.serve_server(moment, number),
                Work::Reader(number) => {
                    self.serve_reader(moment, number);
                }
                Work::Mihf(number) => self.serve_mihf(moment, number),
                Work::MihHandover(number) => self.serve_mih_handover(moment, number),
                Work::SelectedHandover(number) => self.serve_selected_handover(moment, number),
                Work::AcknowledgeRedirection(socket, sequence) => {
                    let message = RedirectionMessage::Acknowledgement { sequence };
                    let message = Message::Redirection(message);
                    self.send_message(moment, socket, message);
                }
            }
        }
        while let Some(lost) = self.network.lost_datagrams.pop() {
            let LostDatagram { socket, fragment_of, written } = lost;
            let of = &mut self.udp[socket as usize];
            if fragment_of.is_some_and(|datagram| !of.lose_fragment(now, datagram, written)) {
                continue; // it was lost before
            }
            self.miss_datagram(socket, written);
        }
    }

    /// The socket that would have got a datagram, and its user, who misses it.
    fn miss_datagram(&mut self, socket: u32, written: Time) {
        let measured_from = self.measured_from();
        if let User::FlowSink(flow)
        | User::FlowSource(flow)
        | User::Program(flow)
        | User::FlowBothWays { receives: flow, .. } = self.user(SocketId::Udp(socket))
        {
            self.flows[flow as usize].lose_message(written, measured_from);
        }
    }

    /// Counts what has no event of its own: datagrams that reassembly has given up by now, and the time for
    /// which send buffers have been the limit.
    fn settle_counts(&mut self, now: Time) {
        for number in 0..self.udp.len() {
            for written in self.udp[number].take_given_up(now) {
                self.miss_datagram(number as u32, written);
            }
        }
        for socket in &mut self.tcp {
            socket.connection.settle_send_buffer(now);
        }
    }

    /// Has a link that is no wire do what is due, and takes what has come over it. As long as nothing else
    /// happens before its next deadline it goes on there, without an event. Returns for how many events that
    /// stands.
    #[inline(never)]
    fn handle_carrier(&mut self, moment: &mut Moment<'_>, number: u32) -> u64 {
        // Who watches does so event by event.
        let most_events = if self.network.recorder.is_some() { 1 } else { EVENTS_IN_LINE };
        let mut events = 0;
        loop {
            let work = self.network.work(moment, number, most_events);
            events += work.events;
            let deadline = if work.arrived { self.receive_arrived(moment, number) } else { work.timeout };
            if self.fingerprints {
                self.digest_event(moment.now, Event::Link(number));
            }
            let settled = self.work.is_empty() && self.network.lost_datagrams.is_empty();
            let may_go_on = work.arrived && settled && events < EVENTS_IN_LINE;
            if !may_go_on || !deadline.is_some_and(|at| moment.advance(at)) {
                self.network.arm_link(moment, number, deadline);
                self.serve_work(moment);
                return events;
            }
        }
    }

    /// Takes what has come over a link that is no wire. Returns its next deadline.
    #[inline(never)]
    fn receive_arrived(&mut self, moment: &mut Moment<'_>, number: u32) -> Option<Time> {
        loop {
            match self.network.poll_coming(number) {
                Coming::Nothing(deadline) => return deadline,
                Coming::Message { socket, size_bytes, message } => {
                    self.receive_message(moment.now, (socket, size_bytes), Message::Application(message));
                    self.serve_work(moment);
                }
                Coming::Packet => {
                    if let Err(deadline) = self.receive_next(moment, number) {
                        return deadline;
                    }
                }
            }
        }
    }

    /// Takes the segments and the packet that have come next over a link that is no wire; apart, so that it
    /// is out of the way of datagrams. Where nothing more has, the link's next deadline.
    #[inline(never)]
    fn receive_next(&mut self, moment: &mut Moment<'_>, number: u32) -> Result<(), Option<Time>> {
        while let Some((packet, segment)) = self.network.coming_segment(number)? {
            let id = packet.socket;
            if self.is_watched(SocketId::Tcp(id)) {
                break;
            }
            self.tcp[id as usize].take_in(moment.now, packet, segment);
            self.network.clear_coming(number);
            self.serve_connection(moment, id);
            self.serve_work(moment);
        }
        let packet = self.network.poll_arrival(moment, number)?;
        self.receive(moment, packet);
        Ok(())
    }

    /// Takes a packet from the network for a socket, or for Mobile IP.
    #[inline]
    fn receive(&mut self, moment: &mut Moment<'_>, packet: Packet) {
        match packet.pdu {
            Pdu::Tcp(_) => self.receive_at(moment, SocketId::Tcp(packet.socket), packet),
            _ => self.receive_other(moment, packet),
        }
    }

    /// The same for what is no TCP segment; apart, so that it is out of their way.
    #[inline(never)]
    fn receive_other(&mut self, moment: &mut Moment<'_>, packet: Packet) {
        match &packet.pdu {
            _ if packet.is_broadcast() => self.receive_broadcast(moment, &packet),
            Pdu::Icmp(icmp) => self.mobile_ip().receive_icmp(moment, &packet, icmp),
            Pdu::Udp(datagram, Message::MobileIp(message)) => {
                self.mobile_ip().receive_registration(moment, &packet, *datagram, message);
            }
            Pdu::Udp(..) | Pdu::Fragment(_) => {
                return self.receive_at(moment, SocketId::Udp(packet.socket), packet);
            }
            Pdu::Sctp(_) => return self.receive_at(moment, SocketId::Sctp(packet.socket), packet),
            Pdu::Octets(_) => return self.receive_at_endpoint(moment, packet),
            // Never here.
            Pdu::Tcp(_) => {}
        }
        self.serve_work(moment);
    }

    /// The machines of Mobile IP, and what they act on.
    pub(in crate::world) fn mobile_ip(&mut self) -> Driving<'_> {
        let World { mobile_ip, handovers, network, .. } = self;
        Driving { mobile_ip, handovers, network }
    }

    /// Takes a packet for everyone on a link. `packet.socket` is the number of the interface that it came in
    /// at.
    #[cold]
    fn receive_broadcast(&mut self, moment: &mut Moment<'_>, packet: &Packet) {
        match &packet.pdu {
            // No transport listens for broadcasts.
            Pdu::Tcp(_) | Pdu::Udp(..) | Pdu::Fragment(_) | Pdu::Sctp(_) | Pdu::Octets(_) => {}
            Pdu::Icmp(icmp) => self.mobile_ip().receive_icmp(moment, packet, icmp),
        }
    }

    /// Handles what does not come from a link; apart, so that it is out of the way of packets.
    #[inline(never)]
    fn handle_other(&mut self, moment: &mut Moment<'_>, wake: Wake) -> bool {
        match wake.event() {
            Event::Landing(_) | Event::Link(_) => false,
            Event::Socket(id) => self.wake_socket(moment, id),
            Event::Source(number) => self.handle_source(moment, number),
            Event::Server(number) => self.handle_server(moment, number),
            Event::Reader(number) => self.handle_reader(moment, number),
            Event::Mihf(number) => self.handle_mihf(moment, number),
            Event::Signalling(number) => self.handle_signalling(moment, number),
            Event::MihHandover(number) => self.handle_mih_handover(moment, number),
            Event::Indication(number) => self.handle_indications(moment, number),
            Event::MobilityAgent(number) => self.mobile_ip().handle_agent(moment, number),
            Event::MobileNode(number) => self.mobile_ip().handle_host(moment, number),
            Event::Node(number) => self.network.handle_node(moment, number),
            Event::Selection(number) => self.handle_selection(moment, number),
        }
    }

    #[cold]
    fn digest_event(&mut self, now: Time, event: Event) {
        self.events_digest.add(now.as_ns());
        self.events_digest.add(event.digested());
    }

    /// A message has arrived for the user of a socket.
    pub(crate) fn deliver(&mut self, now: Time, user: User, message: Message) {
        match (user, message) {
            (
                User::FlowSink(number) | User::FlowBothWays { receives: number, .. },
                Message::Application(message),
            ) => {
                let flow = &mut self.flows[number as usize];
                match &mut flow.server {
                    Some(server) => {
                        server.on_request(now, message);
                        self.work.push_back(Work::Server(number));
                    }
                    None => {
                        self.delivered_bytes += u64::from(message.bytes);
                        let delay = now - message.generated;
                        if flow.source.on_delivery(now, &message) {
                            flow.measurement.on_delivery(u64::from(message.bytes), delay);
                        } else {
                            flow.measurement.count_delivery(u64::from(message.bytes));
                        }
                        flow.measurement.count_in_time(message.generated, delay);
                        self.note_delay(now, number, delay);
                        self.sample_delivered(now, number);
                        self.record_message(now, number, &message);
                    }
                }
            }
            (User::FlowSource(number), Message::Application(message)) => {
                let flow = &mut self.flows[number as usize];
                if let Some(response_time) = flow.source.on_message(now, message) {
                    self.delivered_bytes += u64::from(message.bytes);
                    flow.measurement.on_delivery(u64::from(message.bytes), response_time);
                    let asked = Time::from_ns(now.as_ns() - response_time.as_ns());
                    flow.measurement.count_in_time(asked, response_time);
                    self.note_delay(now, number, response_time);
                    self.work.push_back(Work::Source(number));
                    self.sample_delivered(now, number);
                    self.record_message(now, number, &message);
                }
            }
            (User::Mih { mihf, session }, Message::Mih(pdu)) => self.deliver_mih(now, mihf, session, pdu),
            (User::Redirection { handover, correspondent, candidate }, Message::Redirection(message)) => {
                self.deliver_redirection(handover, (correspondent, candidate), message);
            }
            (
                User::SelectedRedirection { selection, correspondent, interface },
                Message::Redirection(message),
            ) => self.deliver_selected_redirection(selection, (correspondent, interface), message),
            (User::Program(flow), message) => self.reach_program(now, flow, &message),
            (user, Message::Http(http)) => self.deliver(now, user, Message::Application(http.message)),
            (user, Message::NoHttp) => self.meet_no_http(now, user),
            // A socket has one user and carries its kind of message only.
            (
                _,
                Message::Application(_) | Message::Mih(_) | Message::MobileIp(_) | Message::Redirection(_),
            ) => {}
        }
    }
}

/// A world at work, and who looks at it.
struct Looked<'a> {
    world: &'a mut World,
    look: &'a mut dyn FnMut(&mut World, Time) -> bool,
}

impl Simulation for Looked<'_> {
    type Event = Wake;

    #[inline]
    fn handle(&mut self, now: Time, wake: Wake, queue: &mut EventQueue<Wake>) -> u64 {
        self.world.handle(&mut Moment::new(now, queue), wake)
    }

    fn place_of(&self, wake: Wake) -> Option<Reserved> {
        self.world.network.turn_of(wake.landing()?)
    }

    fn look(&mut self, now: Time) -> bool {
        (self.look)(self.world, now)
    }
}

impl World {
    #[inline]
    fn handle(&mut self, moment: &mut Moment<'_>, wake: Wake) -> u64 {
        let now = moment.now;
        if let Some(number) = wake.landing() {
            let (landed, may_have_others) = self.network.take_landed(number);
            let wire = landed.wire;
            if may_have_others {
                self.receive_all(moment, number);
            } else {
                match self.network.land(moment, landed) {
                    Landing::Flies => {}
                    Landing::Here(place) => self.receive_landed(moment, place),
                    Landing::Elsewhere => self.serve_work(moment),
                }
            }
            self.network.pass_turn(moment, wire);
            if self.fingerprints {
                self.digest_event(now, Event::Link(wire));
            }
            return 1;
        }
        if let Some(number) = wake.link() {
            let fires = self.network.carrier_fires(now, number);
            return if fires { self.handle_carrier(moment, number) } else { 0 };
        }
        let worked = self.handle_other(moment, wake);
        if worked {
            self.serve_work(moment);
        }
        if worked && self.fingerprints {
            self.digest_event(now, wake.event());
        }
        u64::from(worked)
    }

    /// A packet that has come over a wire, by its number, and others that have come at the same instant.
    #[cold]
    #[inline(never)]
    fn receive_all(&mut self, moment: &mut Moment<'_>, number: u32) {
        let mut landed = self.network.taken(number);
        loop {
            let with = landed.with;
            match self.network.land(moment, landed) {
                Landing::Flies => {}
                Landing::Here(place) => {
                    let packet = self.network.unload(place).take();
                    self.receive(moment, packet);
                }
                Landing::Elsewhere => self.serve_work(moment),
            }
            if with == Landed::ALONE {
                return;
            }
            landed = self.network.take_joined(with);
        }
    }
}

#[cfg(test)]
mod tests;
