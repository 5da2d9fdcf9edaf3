//! Sockets of all transports: the only place where the world looks a socket up by its kind, and serves it.

use super::{Work, World};
use crate::alarm::Moment;
use crate::application::Reader;
use crate::ending::Failure;
use crate::ends::Onward;
use crate::event::Event;
use crate::flow::Association;
use crate::link::flight::Place;
use crate::network::{FirstHop, Network};
use crate::packet::{Message, Packet, Pdu};
use crate::selection::Scheme;
use crate::socket::endpoint::Endpoint;
use crate::socket::{
    Counts, Envelope, OpenSocket, SctpSocket, SctpUse, Socket, SocketEnd, SocketEvent, SocketId, TcpSocket,
    Traffic, UdpPath, UdpSocket, User,
};
use crate::topology::NodeId;
use roamsim_engine::{Span, Stream, Time};
use roamsim_protocols::mih::SessionId;
use roamsim_protocols::{Address, sctp, tcp};
use std::sync::Arc;

/// Has a socket do something, whatever its transport.
macro_rules! with_socket {
    ($world:expr, $id:expr, $socket:ident => $call:expr) => {
        match $id {
            SocketId::Tcp(number) => {
                let $socket = &mut $world.tcp[number as usize];
                $call
            }
            SocketId::Udp(number) => {
                let $socket = &mut $world.udp[number as usize];
                $call
            }
            SocketId::Sctp(number) => {
                let $socket = &mut $world.sctp[number as usize];
                $call
            }
            SocketId::Open(number) => {
                let $socket = &mut $world.open[number as usize];
                $call
            }
        }
    };
}

/// Their ends, made.
impl World {
    /// Makes room for so many flows and connections of TCP, as
    /// [`Network::expect_links`](crate::Network::expect_links) does for links.
    pub fn expect_flows(&mut self, flows: usize, connections: usize) {
        self.flows.reserve(flows);
        self.tcp.reserve(2 * connections);
    }

    /// The run has ended, and nobody asks any more for what the ends of connections have counted: their
    /// memory serves for other things. Flows and signalling entries can no longer be named.
    pub fn forget_connections(&mut self) {
        self.tcp = Vec::new();
        self.sctp = Vec::new();
    }

    /// Adds a UDP association between two nodes, `None` where no route joins them. IP keeps a datagram of
    /// which fragments are missing for `reassembly_timeout`.
    pub fn add_udp(&mut self, a: SocketEnd, b: SocketEnd, reassembly_timeout: Span) -> Option<Association> {
        let addresses = self.addresses(&a, &b)?;
        let first = self.udp.len() as u32;
        let mtu_bytes = self.path_mtu((a.node, b.node));
        let path = UdpPath { ip: self.network.ip, mtu_bytes, reassembly_timeout };
        self.udp.extend(UdpSocket::pair(first, [a, b], addresses, path));
        Some(Association { source: SocketId::Udp(first), sink: SocketId::Udp(first + 1) })
    }

    /// Adds a TCP connection that `a` will open to `b`, which listens; `None` where no route joins the nodes.
    ///
    /// `random` gives the random stream of each end, which also draws its initial sequence number.
    pub fn add_tcp(
        &mut self,
        config: &tcp::Config,
        (a, a_random): (SocketEnd, Stream),
        (b, b_random): (SocketEnd, Stream),
    ) -> Option<Association> {
        let addresses = self.addresses(&a, &b)?;
        let first = self.tcp.len() as u32;
        // Mostly those of the connection added last, which it shares.
        let config = match self.tcp.last().map(|last| last.connection.config()) {
            Some(shared) if **shared == *config => Arc::clone(shared),
            _ => Arc::new(config.clone()),
        };
        let random = [a_random, b_random];
        self.tcp.extend(TcpSocket::pair(first, &config, [a, b], addresses, random, self.details));
        Some(Association { source: SocketId::Tcp(first), sink: SocketId::Tcp(first + 1) })
    }

    /// Adds an SCTP association that `a` will open to `b`, which listens; `None` where no route joins the
    /// nodes. It has a path for each pair of the addresses of a multihomed node and those of its peer. With
    /// dynamic addresses an end on a station of [`Scheme::MobileSctp`](crate::handover::Scheme::MobileSctp)
    /// has those that can be used when it opens, and follows them from then on.
    ///
    /// `random` gives the random stream of each end, which also draws its verification tag and initial TSN;
    /// `primary` the address of each end that makes the primary path, where that is not the one nearest to
    /// its peer.
    pub fn add_sctp(
        &mut self,
        config: &sctp::Config,
        how: SctpUse,
        (a, a_random): (SocketEnd, Stream),
        (b, b_random): (SocketEnd, Stream),
        primary: [Option<Address>; 2],
    ) -> Option<Association> {
        let topology = &self.network.topology;
        let mut addresses = [(&a, b.node), (&b, a.node)].map(|(end, peer)| match end.address {
            Some(address) => vec![address],
            None => topology.addresses_for(end.node, peer),
        });
        for (addresses, primary) in addresses.iter_mut().zip(primary) {
            // The first of each end make the primary path.
            addresses.sort_by_key(|&address| Some(address) != primary);
        }
        if addresses.iter().any(Vec::is_empty) {
            return None;
        }
        let first = self.sctp.len() as u32;
        let follows = [(first, a.node), (first + 1, b.node)]
            .map(|(number, node)| if config.dynamic_addresses { self.follow(number, node) } else { None });
        let logged = self.details || self.trace.segments;
        let (ends, random) = ([a, b], [a_random, b_random]);
        let pair = SctpSocket::pair(first, (config, how), ends, (addresses, follows), random, logged);
        self.sctp.extend(pair);
        Some(Association { source: SocketId::Sctp(first), sink: SocketId::Sctp(first + 1) })
    }

    /// Adds an association between endpoints of another crate, of which `a` will open the connection. `None`
    /// where no route joins the nodes. Of ends with the same node and port, octets from outside are for the
    /// first.
    ///
    /// An end on a station of [`Scheme::MobileSctp`](crate::handover::Scheme::MobileSctp),
    /// [`Scheme::Migration`](crate::handover::Scheme::Migration) or
    /// [`Scheme::Mih`](crate::handover::Scheme::Mih) is told of the addresses that can be used.
    pub fn add_endpoints(
        &mut self,
        a: (SocketEnd, Box<dyn Endpoint>),
        b: (SocketEnd, Box<dyn Endpoint>),
    ) -> Option<Association> {
        let addresses = self.addresses(&a.0, &b.0)?;
        let first = self.open.len() as u32;
        let ends = [(first, a.0.node, a.0.port), (first + 1, b.0.node, b.0.port)];
        let stations = ends.map(|(number, node, port)| {
            self.network.edge.bind(node, port, number);
            let told = self.mobile_station(node, Scheme::Migration);
            let station = told.or_else(|| self.handed_over_station(node))?;
            self.handovers.stations[station as usize].followers.push(SocketId::Open(number));
            Some(station)
        });
        let path_mtu = self.path_mtu((a.0.node, b.0.node));
        let path = (self.network.ip, self.network.topology.ip(), path_mtu);
        self.open.extend(OpenSocket::pair(first, path, [a, b], addresses, stations));
        Some(Association { source: SocketId::Open(first), sink: SocketId::Open(first + 1) })
    }

    /// A flow's sink reads at a pace of its own from now on, where its transport has a window to tell the
    /// source of it.
    pub fn add_reader(&mut self, flow: u32, reader: Reader) {
        let sink = self.flows[flow as usize].association.sink;
        if self.socket_mut(sink).hold_for_reader() {
            self.flows[flow as usize].reader = Some(Box::new(reader));
        }
    }
}

/// Served: packets in and out, and what has happened to their users.
impl World {
    /// Takes a packet that has come over a wire. Segments of TCP are read where they are.
    #[inline(always)]
    pub(super) fn receive_landed(&mut self, moment: &mut Moment<'_>, place: Place) {
        if self.sockets_watched
            && self.is_recorded_or_outside(SocketId::Tcp(self.network.landed(&place).socket))
        {
            return self.receive_watched(moment, place);
        }
        let packet = self.network.unload(place);
        let Pdu::Tcp(segment) = &packet.pdu else {
            let packet = packet.take();
            return self.receive_unloaded(moment, packet);
        };
        let number = packet.socket;
        let (id, socket) = (SocketId::Tcp(number), &mut self.tcp[number as usize]);
        socket.take_in(moment.now, &packet, segment);
        drop(packet);
        let counted = exchange(&mut self.network, socket, id, moment);
        self.take_counted(moment, id, counted);
        self.serve_work(moment);
    }

    /// The same for what is no TCP segment, or is not read where it is; apart, so that it is out of the way.
    #[inline(never)]
    fn receive_unloaded(&mut self, moment: &mut Moment<'_>, packet: Packet) {
        self.receive(moment, packet);
    }

    /// The same where somebody watches.
    #[cold]
    #[inline(never)]
    fn receive_watched(&mut self, moment: &mut Moment<'_>, place: Place) {
        let packet = self.network.unload(place).take();
        self.receive(moment, packet);
    }

    /// Hands a packet to its socket, and serves what that touches.
    #[inline(always)]
    pub(super) fn receive_at(&mut self, moment: &mut Moment<'_>, id: SocketId, packet: Packet) {
        let now = moment.now;
        if self.is_watched(id) {
            self.watch_received(now, id, &packet);
            if self.is_outside(id) {
                self.hand_out(now, id, &packet);
                return self.serve_work(moment);
            }
        }
        with_socket!(self, id, socket => socket.handle(now, packet));
        self.serve_socket(moment, id);
        self.serve_work(moment);
    }

    /// Whether somebody looks at what this socket sends and receives: a recorder, or a program in its place.
    #[inline(always)]
    pub(super) fn is_watched(&self, id: SocketId) -> bool {
        self.sockets_watched && self.is_recorded_or_outside(id)
    }

    #[cold]
    fn is_recorded_or_outside(&self, id: SocketId) -> bool {
        self.sockets_recorded || self.is_outside(id)
    }

    /// The same for an endpoint of another crate, which may have settled on an address by it.
    #[inline(never)]
    pub(super) fn receive_at_endpoint(&mut self, moment: &mut Moment<'_>, packet: Packet) {
        let id = SocketId::Open(packet.socket);
        self.receive_at(moment, id, packet);
        if let Some(station) = self.socket(id).station() {
            self.complete_handover(moment.now, station);
        }
    }

    #[cold]
    fn watch_received(&mut self, now: Time, id: SocketId, packet: &Packet) {
        if self.trace.segments
            && let Some(recorder) = &mut self.network.recorder
        {
            with_socket!(self, id, socket => socket.watch_received(now, packet, recorder));
        }
    }

    /// Sends what a socket has to send and tells its user what has happened. A user that writes puts the
    /// socket on the work list again.
    #[inline(never)]
    pub(super) fn serve_socket(&mut self, moment: &mut Moment<'_>, id: SocketId) {
        // Each by itself, so that what follows knows its kind.
        match id {
            SocketId::Tcp(number) => self.serve_connection(moment, number),
            SocketId::Udp(number) => self.serve(moment, SocketId::Udp(number)),
            SocketId::Sctp(number) => self.serve(moment, SocketId::Sctp(number)),
            SocketId::Open(number) => {
                let socket = &mut self.open[number as usize];
                if socket.is_to_rebind(moment.now) {
                    socket.rebind(moment.now, self.network.edge.rebind(socket.node, number));
                }
                self.serve(moment, SocketId::Open(number));
            }
        }
    }

    /// The same for one of TCP.
    #[inline(never)]
    pub(super) fn serve_connection(&mut self, moment: &mut Moment<'_>, number: u32) {
        self.serve(moment, SocketId::Tcp(number));
    }

    #[inline(always)]
    fn serve(&mut self, moment: &mut Moment<'_>, id: SocketId) {
        if self.is_watched(id) {
            return self.serve_watched(moment, id);
        }
        let counted = with_socket!(self, id, socket => exchange(&mut self.network, socket, id, moment));
        self.take_counted(moment, id, counted);
    }

    /// What an [`exchange`] leaves: octets for the account, or somebody to be told.
    #[inline(always)]
    fn take_counted(&mut self, moment: &mut Moment<'_>, id: SocketId, counted: Option<u64>) {
        match counted {
            Some(bytes) => self.delivered_bytes += bytes,
            None => self.tell(moment, id),
        }
    }

    /// The rest of it, where somebody is to be told of what has happened.
    #[inline(never)]
    fn tell(&mut self, moment: &mut Moment<'_>, id: SocketId) {
        match id {
            SocketId::Tcp(number) => self.tell_of(moment, SocketId::Tcp(number)),
            SocketId::Udp(number) => self.tell_of(moment, SocketId::Udp(number)),
            SocketId::Sctp(number) => self.tell_of(moment, SocketId::Sctp(number)),
            SocketId::Open(number) => self.tell_of(moment, SocketId::Open(number)),
        }
    }

    #[inline(always)]
    fn tell_of(&mut self, moment: &mut Moment<'_>, id: SocketId) {
        let now = moment.now;
        while let Some(event) = with_socket!(self, id, socket => socket.poll_event(now)) {
            self.on_socket_event(now, id, event);
        }
        if self.connections_sampled
            && let Some(recorder) = &mut self.network.recorder
        {
            with_socket!(self, id, socket => socket.sample(now, recorder));
        }
        with_socket!(self, id, socket => socket.arm(Event::Socket(id), moment));
    }

    /// Serves a socket where somebody watches.
    #[cold]
    #[inline(never)]
    fn serve_watched(&mut self, moment: &mut Moment<'_>, id: SocketId) {
        if self.is_outside(id) {
            return;
        }
        with_socket!(self, id, socket => transmit_watched(&mut self.network, socket, moment));
        self.tell(moment, id);
    }

    /// Messages that an association has begun to send wait at the peer's socket.
    fn hand_over(&mut self, id: SocketId) {
        let SocketId::Sctp(number) = id else { return };
        let peer = self.sctp[number as usize].peer;
        while let Some(coming) = self.sctp[number as usize].poll_coming() {
            self.sctp[peer as usize].expect(coming);
        }
    }

    #[inline(always)]
    pub(super) fn on_socket_event(&mut self, now: Time, id: SocketId, event: SocketEvent) {
        match event {
            SocketEvent::Stream { up_to } if with_socket!(self, id, socket => socket.keeps_account()) => {
                self.delivered_bytes += with_socket!(self, id, socket => socket.take_stream(up_to));
            }
            SocketEvent::Stream { up_to } => match self.reader(id) {
                None => self.take_stream(now, id, up_to),
                Some((flow, reader)) => {
                    reader.on_arrival(now, up_to);
                    self.work.push_back(Work::Reader(flow));
                }
            },
            SocketEvent::Message { bytes } => {
                let (user, message) = with_socket!(self, id, socket => (socket.user, socket.poll_message()));
                if let Some(flow) = user.receives()
                    && self.flows[flow as usize].is_stream()
                {
                    self.deliver_stream(now, flow, bytes);
                } else if let Some(message) = message {
                    self.deliver(now, user, message);
                }
                if let SocketId::Open(number) = id
                    && let Some(missing) = self.open[number as usize].missing(self.measured_from())
                    && let Some(flow) = user.receives()
                    && let flow = &mut self.flows[flow as usize]
                    && flow.server.is_none()
                {
                    flow.measurement.set_lost(missing);
                }
            }
            SocketEvent::Begun => self.hand_over(id),
            other => self.on_connection_event(now, id, other),
        }
    }

    /// A connection has come about, changes, or comes to its end.
    #[cold]
    fn on_connection_event(&mut self, now: Time, id: SocketId, event: SocketEvent) {
        match event {
            SocketEvent::Stream { .. } | SocketEvent::Message { .. } | SocketEvent::Begun => {}
            SocketEvent::Again => self.work.push_back(Work::Socket(id)),
            SocketEvent::FastOpened => {
                self.keep_known_server(id);
                self.work.push_back(Work::Socket(id));
            }
            SocketEvent::Lost { sender, written } => self.refuse_message(sender, written),
            // It goes on, and learns by the reset that answers its data that nobody reads any more.
            SocketEvent::RemoteClosed if self.has_more_to_send(id) => self.take_last_message(now, id),
            SocketEvent::RemoteClosed => {
                self.take_last_message(now, id);
                // Nothing more will come: close this side too (no application here goes on after its peer),
                // when everything has been read.
                if self.reader(id).is_none_or(|(_, reader)| reader.on_close()) {
                    self.close(id);
                }
            }
            SocketEvent::Failed => {
                self.settle_send_buffer(now, id);
                if let User::FlowSource(flow) = self.user(id) {
                    self.fail_transfer(id, flow);
                }
                if let Some((_, reader)) = self.reader(id) {
                    reader.drop_unread();
                }
            }
            SocketEvent::AddressesAsked => self.count_request(id),
            SocketEvent::Addresses => {
                if let SocketId::Sctp(number) = id {
                    self.on_address_event(number);
                }
            }
        }
    }

    /// Whether a source that is the only one of its connection will write more.
    fn has_more_to_send(&self, id: SocketId) -> bool {
        let User::FlowSource(flow) = self.user(id) else { return false };
        self.flows[flow as usize].source.poll_timeout().is_some()
    }

    /// What reads at a socket, with its flow; `None` where whatever arrives is taken at once.
    #[inline(always)]
    fn reader(&mut self, id: SocketId) -> Option<(u32, &mut Reader)> {
        let flow = with_socket!(self, id, socket => socket.user).receives()?;
        Some((flow, self.flows[flow as usize].reader.as_deref_mut()?))
    }

    /// The user of a socket takes the stream up to this offset.
    #[inline(always)]
    fn take_stream(&mut self, now: Time, id: SocketId, up_to: u64) {
        let (user, bytes) = with_socket!(self, id, socket => (socket.user, socket.take_stream(up_to)));
        if let Some(flow) = user.receives()
            && self.flows[flow as usize].is_stream()
        {
            self.deliver_stream(now, flow, bytes);
            return;
        }
        while let Some(message) = with_socket!(self, id, socket => socket.poll_message()) {
            match (user, message) {
                (User::Mih { mihf, session }, Message::Mih(pdu)) => self.deliver_mih(now, mihf, session, pdu),
                (user, message) => self.deliver(now, user, message),
            }
        }
    }

    /// An application reads, up to this offset.
    pub(super) fn read(&mut self, now: Time, id: SocketId, up_to: u64) {
        self.on_socket(id, |socket| socket.read(up_to));
        self.take_stream(now, id, up_to);
    }
}

/// What IP adds to a packet that is sent now.
#[inline(always)]
fn envelope(network: &Network) -> Envelope {
    Envelope { id: network.next_packet_id(), header_bytes: network.ip.header_bytes() }
}

/// Hands IP what a socket has for it; the octets that are counted, where nobody is to be told of anything.
#[inline(always)]
fn exchange<S: Socket>(
    network: &mut Network,
    socket: &mut S,
    id: SocketId,
    moment: &mut Moment<'_>,
) -> Option<u64> {
    transmit(network, socket, moment);
    let counted = socket.poll_counted();
    if counted.is_some() {
        socket.arm(Event::Socket(id), moment);
    }
    counted
}

/// Hands IP what a socket has for it.
#[inline(always)]
fn transmit<S: Socket>(network: &mut Network, socket: &mut S, moment: &mut Moment<'_>) {
    if !socket.may_transmit() {
        return;
    }
    let beginning = socket.way().map(|(_, beginning)| *beginning);
    match beginning.and_then(|beginning| Some((network.first_wire(beginning)?, beginning.next()))) {
        Some(wire) => transmit_on(network, socket, moment, wire),
        None => transmit_otherwise(network, socket, moment),
    }
}

/// The same by a wire, behind which it goes on so.
#[inline(always)]
fn transmit_on<S: Socket>(
    network: &mut Network,
    socket: &mut S,
    moment: &mut Moment<'_>,
    (wire, onward): (u32, Onward),
) {
    loop {
        let place = socket.write_packet(
            moment.now,
            #[inline(always)]
            || {
                let header_bytes = network.ip.header_bytes();
                let (id, place, blank) = network.reserve();
                (Envelope { id, header_bytes }, place, blank)
            },
        );
        let Some(place) = place else { return };
        let _ = network.put_on_wire(moment, wire, (place, onward));
        if !socket.may_transmit() {
            return;
        }
    }
}

/// The same where it is not known that packets go straight onto a wire.
#[inline(never)]
fn transmit_otherwise<S: Socket>(network: &mut Network, socket: &mut S, moment: &mut Moment<'_>) {
    let (now, node) = (moment.now, socket.node());
    match socket.way().map(|(way, beginning)| network.first_hop(node, way, beginning)) {
        Some(FirstHop::Wire(wire, onward)) => transmit_on(network, socket, moment, (wire, onward)),
        Some(FirstHop::Other(link)) => {
            while socket.transmit_packet(
                now,
                envelope(network),
                #[inline(always)]
                |packet| network.send_by_other(moment, link, packet),
            ) && socket.may_transmit()
            {}
        }
        Some(FirstHop::Interface(by)) => {
            while socket.may_transmit()
                && let Some(packet) = socket.poll_transmit(now, envelope(network))
            {
                network.send_out(moment, node, by, packet);
            }
        }
        // Each packet by the route of its own source and destination.
        None => {
            while socket.may_transmit()
                && let Some(packet) = socket.poll_transmit(now, envelope(network))
            {
                network.send(moment, node, packet, None);
            }
        }
    }
}

/// The same, with what the recorder wants to know of it.
#[cold]
#[inline(never)]
fn transmit_watched<S: Socket>(network: &mut Network, socket: &mut S, moment: &mut Moment<'_>) {
    let now = moment.now;
    while let Some(packet) = socket.poll_transmit(now, envelope(network)) {
        let detail = network.recorder.as_mut().and_then(|recorder| socket.watch_sent(now, &packet, recorder));
        network.send(moment, socket.node(), packet, detail);
    }
}

/// Looked up, and used.
impl World {
    /// The ends of UDP that have cut datagrams into fragments, each with its peer.
    pub fn fragmenting(&self) -> impl Iterator<Item = (SocketId, &UdpSocket, &UdpSocket)> {
        let cut = (0_u32..).zip(&self.udp).filter(|(_, socket)| socket.fragmented() > 0);
        cut.map(|(number, socket)| (SocketId::Udp(number), socket, &self.udp[socket.peer as usize]))
    }

    pub(super) fn socket(&self, id: SocketId) -> &dyn Socket {
        match id {
            SocketId::Tcp(number) => &self.tcp[number as usize],
            SocketId::Udp(number) => &self.udp[number as usize],
            SocketId::Sctp(number) => &self.sctp[number as usize],
            SocketId::Open(number) => &self.open[number as usize],
        }
    }

    fn socket_mut(&mut self, id: SocketId) -> &mut dyn Socket {
        with_socket!(self, id, socket => socket)
    }

    /// Has a connection do something for its user, and serves it afterwards.
    fn on_socket(&mut self, id: SocketId, call: impl FnOnce(&mut dyn Socket)) {
        call(self.socket_mut(id));
        self.work.push_back(Work::Socket(id));
    }

    /// A socket's timer fires; false where that was superseded, or comes too early.
    pub(super) fn wake_socket(&mut self, moment: &mut Moment<'_>, id: SocketId) -> bool {
        let worked = with_socket!(self, id, socket => socket.wake(moment, Event::Socket(id)));
        // At once, as nothing else is on the work list yet.
        if worked {
            self.serve_socket(moment, id);
        }
        worked
    }

    /// The name of a socket's protocol in results.
    pub fn protocol(&self, socket: SocketId) -> &'static str {
        match socket {
            SocketId::Open(number) => self.open[number as usize].protocol(),
            other => other.protocol(),
        }
    }

    /// The node of a socket.
    pub fn node(&self, socket: SocketId) -> NodeId {
        self.socket(socket).node()
    }

    /// The socket at the other end.
    pub(crate) fn peer(&self, socket: SocketId) -> SocketId {
        self.socket(socket).peer()
    }

    /// The user of a socket.
    pub(crate) fn user(&self, socket: SocketId) -> User {
        match socket {
            SocketId::Tcp(number) => self.tcp[number as usize].user(),
            SocketId::Udp(number) => self.udp[number as usize].user(),
            SocketId::Sctp(number) => self.sctp[number as usize].user(),
            SocketId::Open(number) => self.open[number as usize].user(),
        }
    }

    /// What a socket has exchanged with IP so far.
    pub fn traffic(&self, socket: SocketId) -> Traffic {
        self.socket(socket).traffic()
    }

    /// What a socket has sent; over UDP nothing is counted.
    pub fn counts(&self, socket: SocketId) -> Counts {
        self.socket(socket).counts()
    }

    /// Opens a connection; an association that has no address yet does so when it has one.
    pub(super) fn open(&mut self, id: SocketId) {
        let opens = match id {
            SocketId::Sctp(number) => self.find_addresses(number),
            _ => true,
        };
        // Of two endpoints the first opens, whichever end writes.
        let id = match id {
            SocketId::Open(number) => SocketId::Open(number & !1),
            other => other,
        };
        if !self.known_servers.is_empty() {
            self.tell_known_server(id);
        }
        self.on_socket(id, |socket| {
            if opens {
                socket.open();
            }
        });
    }

    /// Tells a socket of its node's addresses.
    pub(super) fn tell_addresses(&mut self, now: Time, id: SocketId) {
        if let SocketId::Sctp(number) = id {
            return self.follow_by_requests(now, number);
        }
        let usable = self.usable_addresses(id);
        self.on_socket(id, |socket| socket.on_addresses(now, &usable));
        if let Some(station) = self.socket(id).station() {
            self.complete_handover(now, station);
        }
    }

    /// Writes octets without message boundaries.
    pub(super) fn write_stream(&mut self, id: SocketId, bytes: u64) {
        self.on_socket(id, |socket| socket.write_stream(bytes));
    }

    /// Closes a connection when everything written has been sent.
    pub(super) fn close(&mut self, id: SocketId) {
        self.on_socket(id, |socket| socket.close());
    }

    /// Whether closing this end would cut off the other direction, which carries data as well: such ends
    /// close when they have got everything.
    pub(super) fn closes_both_ways(&self, id: SocketId) -> bool {
        let socket = self.socket(id);
        !socket.closes_by_direction() && matches!(socket.user(), User::FlowBothWays { .. })
    }

    /// The user of a socket is done with it.
    pub(super) fn abandon(&mut self, id: SocketId) {
        self.on_socket(id, |socket| socket.abandon());
    }

    /// Drops a connection.
    pub(super) fn abort(&mut self, now: Time, id: SocketId) {
        self.on_socket(id, |socket| {
            if let Some(life) = socket.life_mut() {
                life.fails(now, Failure::Stopped);
            }
            socket.abort();
        });
        self.settle_send_buffer(now, id);
    }

    /// The connection is over: its buffer is the limit no more.
    fn settle_send_buffer(&mut self, now: Time, id: SocketId) {
        if let SocketId::Tcp(number) = id {
            self.tcp[number as usize].connection.settle_send_buffer(now);
        }
    }

    /// A message that was written then is given up, or its connection is gone.
    #[cold]
    fn refuse_message(&mut self, socket: SocketId, written: Time) {
        let measured_from = self.measured_from();
        match self.user(socket) {
            User::FlowSource(flow)
            | User::FlowSink(flow)
            | User::Program(flow)
            | User::FlowBothWays { sends: flow, .. } => {
                self.flows[flow as usize].lose_message(written, measured_from);
            }
            User::Mih { mihf, session } => {
                self.mih_nodes[mihf as usize].mihf.tp_data_confirm(SessionId(session), false);
            }
            // It goes over UDP, which is never gone.
            User::Redirection { .. } | User::SelectedRedirection { .. } => {}
        }
    }

    /// Sends a message over a socket: in the stream of TCP, as a datagram of UDP, as a message of SCTP.
    pub(crate) fn send_message(&mut self, moment: &mut Moment<'_>, id: SocketId, message: Message) {
        match id {
            SocketId::Udp(number) => return self.send_datagram(moment, number, message),
            SocketId::Tcp(number) => {
                let socket = &mut self.tcp[number as usize];
                let Some(coming) = socket.write(message) else { return self.refuse_message(id, moment.now) };
                let peer = socket.peer;
                self.tcp[peer as usize].expect(coming);
            }
            SocketId::Sctp(number) => {
                if !self.sctp[number as usize].write(moment.now, message) {
                    return self.refuse_message(id, moment.now);
                }
                self.hand_over(id);
            }
            SocketId::Open(number) => {
                let socket = &mut self.open[number as usize];
                let Some(coming) = socket.write(message) else { return self.refuse_message(id, moment.now) };
                let peer = socket.peer;
                self.open[peer as usize].expect(coming);
            }
        }
        self.work.push_back(Work::Socket(id));
    }

    /// Sends a message over a socket of UDP, which leaves before anything else happens.
    #[inline(always)]
    fn send_datagram(&mut self, moment: &mut Moment<'_>, number: u32, message: Message) {
        let socket = &mut self.udp[number as usize];
        socket.write(message);
        match self.sockets_recorded {
            true => transmit_watched(&mut self.network, socket, moment),
            false => transmit_otherwise(&mut self.network, socket, moment),
        }
    }

    /// Hands a message that has arrived in a packet of so many octets to the user of its socket of UDP.
    #[inline(always)]
    pub(super) fn receive_message(&mut self, now: Time, (socket, bytes): (u32, u32), message: Message) {
        let user = self.udp[socket as usize].take_in(bytes);
        self.deliver(now, user, message);
    }
}
