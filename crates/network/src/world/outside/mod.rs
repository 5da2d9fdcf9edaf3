//! Flows of TCP, SCTP and UDP between a socket of the simulation and a program outside.
//!
//! Both ends have a socket, as in any flow. The program's socket does nothing by itself: packets to it
//! leave as octets, and the program's packets enter in its name. The acknowledgements of a TCP program say
//! what it has received. Over TCP, requests and responses are HTTP/1.1 outside ([`http`]) and messages
//! inside.
//!
//! A program reads octet `n` of a stream or datagram as `n` modulo 256. Octets that it writes are counted,
//! and only captures keep them. A program's response over UDP answers the latest request.

mod http;

use self::http::{Found, Reads};
use super::{Work, World};
use crate::alarm::Moment;
use crate::application::Source;
use crate::flow::Association;
use crate::network::edge::{Joined, TakenChunks, TakenSegment};
use crate::octets::Incoming;
use crate::packet::{AppMessage, HttpMessage, Message, Packet, Pdu};
use crate::recorder::Detail;
use crate::socket::describe::{octets, pattern};
use crate::socket::fragments::{self, Fragmentation};
use crate::socket::{Coming, Socket, SocketEvent, SocketId, User};
use crate::topology::NodeId;
use roamsim_engine::{Span, Time};
use roamsim_protocols::Address;
use roamsim_protocols::sctp;
use roamsim_protocols::tcp::{Flags, State};
use roamsim_protocols::udp::Datagram;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What is known of a program that has one end of a connection.
#[derive(Debug)]
pub(crate) struct Program {
    /// The requests or responses that it writes.
    http: Option<Http>,
}

/// A program that speaks HTTP.
#[derive(Debug)]
struct Http {
    /// Its flow, and the socket at the other end.
    flow: u32,
    here: u32,
    messages: http::Messages,
    /// The sequence number of the first octet of its stream, once it has said that.
    first: Option<u32>,
    /// Behind which offset nothing more comes.
    end: Option<u64>,
    /// Of requests that wait for their responses: no body is wanted; the connection ends.
    asked: BTreeMap<u64, (bool, bool)>,
    /// What is no request has come, and is refused behind the last response.
    refuses: bool,
    /// What a server is asked for, by the name of its node.
    asks: Option<(String, String)>,
}

impl World {
    /// Gives the ends of flows that lie on external nodes to the programs there.
    pub fn join_programs(&mut self) {
        for number in 0..self.flows.len() {
            match self.flows[number].association {
                Association { source: SocketId::Tcp(source), sink: SocketId::Tcp(sink) } => {
                    self.join_connection(number, source, sink);
                }
                Association { source: SocketId::Udp(source), sink: SocketId::Udp(sink) } => {
                    self.join_datagrams(number, source, sink);
                }
                Association { source: SocketId::Sctp(source), sink: SocketId::Sctp(sink) } => {
                    self.join_association(source, sink);
                }
                _ => {}
            }
        }
    }

    fn join_connection(&mut self, number: usize, source: u32, sink: u32) {
        for (outside, here) in [(source, sink), (sink, source)] {
            let [program, socket] = [outside, here].map(|number| &self.tcp[number as usize]);
            if !self.network.edge.is_external(program.node) {
                continue;
            }
            // Whoever opens the connection knows the port of the other end.
            let [port, theirs] = [socket, program].map(|socket| socket.connection.local_port());
            let is_passive = here == sink;
            let ends = (socket.node, program.node, [socket.local, program.local]);
            let http = self.leave_to_program(number, ends.1, is_passive).map(|asks| Http {
                flow: number as u32,
                here,
                messages: http::Messages::new(if is_passive { Reads::Requests } else { Reads::Responses }),
                first: None,
                end: None,
                asked: BTreeMap::new(),
                refuses: false,
                asks,
            });
            let joined = joined(here, ends.2, (!is_passive).then_some(theirs), http.is_some());
            self.network.edge.join(ends.0, port, joined);
            self.outside.insert(outside, Program { http });
            self.sockets_watched = true;
        }
    }

    fn join_association(&mut self, source: u32, sink: u32) {
        for (outside, here) in [(source, sink), (sink, source)] {
            let [program, socket] = [outside, here].map(|number| &self.sctp[number as usize]);
            if !self.network.edge.is_external(program.node) {
                continue;
            }
            let [port, theirs] = [socket, program].map(|socket| socket.association.local_port());
            let local = socket.association.local_addresses().first();
            let Some((&local, &remote)) = local.zip(socket.association.remote_addresses().first()) else {
                continue;
            };
            let theirs = (here == source).then_some(theirs);
            self.network.edge.join_association(
                socket.node,
                port,
                joined(here, [local, remote], theirs, false),
            );
            self.sctp[here as usize].talk_to_program();
            self.outside_associations.insert(outside, 0);
            self.sockets_watched = true;
        }
    }

    fn join_datagrams(&mut self, number: usize, source: u32, sink: u32) {
        for (outside, here) in [(source, sink), (sink, source)] {
            let [program, socket] = [outside, here].map(|number| &self.udp[number as usize]);
            if !self.network.edge.is_external(program.node) {
                continue;
            }
            let is_passive = here == sink;
            let joined = joined(
                here,
                [socket.local, program.local],
                (!is_passive).then_some(program.local_port),
                false,
            );
            self.network.edge.join_datagrams(socket.node, socket.local_port, joined);
            self.leave_to_program(number, self.udp[outside as usize].node, is_passive);
            self.udp[outside as usize].user = User::Program(number as u32);
        }
    }

    /// The part of requests and responses that a program has in a flow is not played here. Whether it is such
    /// a flow; and what the program is asked for, if it answers.
    fn leave_to_program(
        &mut self,
        number: usize,
        program: NodeId,
        asks: bool,
    ) -> Option<Option<(String, String)>> {
        let flow = &mut self.flows[number];
        let Source::Client(client) = &mut flow.source else { return None };
        let (client, _) = client.at(Time::ZERO);
        if asks {
            client.leave_to_program();
            if let Some(server) = &mut flow.server {
                server.answer_in_order();
            }
            return Some(None);
        }
        flow.server = None;
        let host = host_name(&self.network.topology.node(program).name);
        let path = client.path().to_owned();
        if matches!(flow.association.source, SocketId::Tcp(_)) {
            client.ask_with_at_least(http::request(&host, &path, 0).len() as u32);
        }
        Some(Some((host, path)))
    }

    /// Whether a program stands in the place of a socket of TCP or SCTP.
    pub(super) fn is_outside(&self, id: SocketId) -> bool {
        match id {
            SocketId::Tcp(number) => self.outside.contains_key(&number),
            SocketId::Sctp(number) => self.outside_associations.contains_key(&number),
            _ => false,
        }
    }

    /// Whether a program that speaks HTTP is at the other end of a socket.
    #[inline]
    pub(super) fn answers_program(&self, id: SocketId) -> bool {
        self.sockets_watched && self.http_behind(id).is_some()
    }

    #[cold]
    fn http_behind(&self, id: SocketId) -> Option<&Http> {
        let SocketId::Tcp(number) = id else { return None };
        self.outside.get(&self.tcp[number as usize].peer)?.http.as_ref()
    }

    fn http_mut(&mut self, id: SocketId) -> Option<&mut Http> {
        let SocketId::Tcp(number) = id else { return None };
        self.outside.get_mut(&self.tcp[number as usize].peer)?.http.as_mut()
    }

    /// A segment, or a packet of SCTP, has come for a program.
    pub(super) fn hand_out(&mut self, now: Time, id: SocketId, packet: &Packet) {
        if let (SocketId::Sctp(number), Pdu::Sctp(pdu)) = (id, &packet.pdu) {
            let program = &mut self.sctp[number as usize];
            program.traffic.received(packet.size_bytes);
            let (node, peer) = (program.node, program.peer);
            let payload = self.sctp[peer as usize].user_data(pdu);
            return self.network.hand_out(now, node, packet, &payload);
        }
        let (SocketId::Tcp(number), Pdu::Tcp(segment)) = (id, &packet.pdu) else { return };
        let program = &mut self.tcp[number as usize];
        program.traffic.received(packet.size_bytes);
        let (node, peer) = (program.node, program.peer);
        let start = self.tcp[peer as usize].connection.payload_offset(segment);
        let end = start + u64::from(segment.payload_bytes);
        let mut payload = pattern(start..end);
        for coming in self.tcp[number as usize].coming_from(start) {
            let begins = coming.at - u64::from(coming.message.bytes());
            if begins >= end {
                break;
            }
            let (from, to) = (start.max(begins), end.min(coming.at));
            let part = octets(&coming.message, from - begins..to - begins);
            payload[(from - start) as usize..(to - start) as usize].copy_from_slice(&part);
        }
        self.network.hand_out(now, node, packet, &payload);
    }

    /// A program has sent a segment: what it acknowledges it has taken.
    pub(super) fn count_segment(&mut self, now: Time, segment: TakenSegment) {
        let connection = &self.tcp[segment.socket as usize].connection;
        let outside = self.tcp[segment.socket as usize].peer;
        // It is untrusted, and may acknowledge what was never sent. A FIN is an octet behind the last.
        let sent = connection.snd_max_offset();
        let taken = segment.ack.map(|ack| connection.sent_offset(ack)).filter(|&offset| offset <= sent + 1);
        let taken = taken.map(|offset| offset.min(sent));
        if segment.resets && matches!(connection.state(), State::Listen | State::SynReceived) {
            self.network.edge.listen_again(segment.socket);
        }
        let program = &mut self.tcp[outside as usize];
        program.traffic.sent(segment.size_bytes);
        if let Some(up_to) = taken.filter(|&up_to| up_to > program.delivered_bytes) {
            self.reach(now, outside, up_to);
        }
        if let Some(read) = segment.read {
            self.read_octets(now, outside, read);
        }
    }

    /// A program has sent a packet of SCTP: what it acknowledges it has taken.
    pub(super) fn count_chunks(&mut self, now: Time, chunks: &TakenChunks) {
        let here = &mut self.sctp[chunks.socket as usize];
        if here.association.state() != sctp::State::Closed {
            self.network.edge.settle_association(chunks.socket, true);
        }
        if let Some(port) = chunks.begins_from
            && here.association.state() == sctp::State::Closed
        {
            here.association.set_remote_port(port);
        }
        // It is untrusted: another association's tag says nothing, nor a TSN that was never sent.
        let acknowledged = chunks.acknowledged.filter(|&(tag, _)| tag == here.association.tag());
        let up_to = acknowledged.map_or(0, |(_, tsn)| here.take_acknowledged(tsn));
        let outside = here.peer;
        let program = &mut self.sctp[outside as usize];
        program.traffic.sent(chunks.size_bytes);
        let user = program.user;
        let Some(before) = self.outside_associations.get_mut(&outside) else { return };
        let bytes = up_to.saturating_sub(*before);
        *before += bytes;
        if bytes > 0
            && let Some(flow) = user.receives()
        {
            self.deliver_stream(now, flow, bytes);
        }
    }

    /// A program has taken its stream up to this offset.
    fn reach(&mut self, now: Time, outside: u32, up_to: u64) {
        let serves = self.outside.get(&outside).is_some_and(|program| {
            program.http.as_ref().is_some_and(|http| http.messages.reads() == Reads::Responses)
        });
        if serves {
            // Requests are not what the flow delivers.
            let program = &mut self.tcp[outside as usize];
            program.take_stream(up_to);
            while program.poll_message().is_some() {}
            return;
        }
        self.on_socket_event(now, SocketId::Tcp(outside), SocketEvent::Stream { up_to });
    }

    /// A program has written octets that are read.
    fn read_octets(&mut self, now: Time, outside: u32, (seq, flags, octets): (u32, Flags, Vec<u8>)) {
        let http = self.outside.get_mut(&outside).and_then(|program| program.http.as_mut());
        let Some(http) = http else { return };
        let mut seq = seq;
        if flags.contains(Flags::SYN) {
            seq = seq.wrapping_add(1);
            if http.first != Some(seq) {
                let state = self.tcp[http.here as usize].connection.state();
                if !matches!(state, State::Listen | State::SynSent | State::SynReceived) {
                    // TCP does not heed it either (RFC 9293 section 3.10.7.4).
                    return;
                }
                // An attempt that failed may have come before.
                (http.first, http.end) = (Some(seq), None);
                http.messages = http::Messages::new(http.messages.reads());
                http.asked.clear();
            }
        }
        let Some(first) = http.first else { return };
        let expected = http.messages.at();
        // The nearest offset with that number.
        let ahead = seq.wrapping_sub(first).wrapping_sub(expected as u32) as i32;
        let Some(from) = expected.checked_add_signed(i64::from(ahead)) else { return };
        let mut found = http.messages.take(from, &octets);
        if flags.contains(Flags::FIN) {
            http.end = Some(from + octets.len() as u64);
        }
        if http.end == Some(http.messages.at()) {
            found.extend(http.messages.end());
        }
        let (flow, here) = (http.flow, http.here);
        for found in found {
            self.take_message(now, (flow, here), found);
        }
    }

    /// A request or response of a program is whole, or shows that it is none, and is on its way.
    fn take_message(&mut self, now: Time, (flow, here): (u32, u32), found: Found) {
        let id = SocketId::Tcp(here);
        let Some(asks) = self.http_behind(id).map(|http| http.messages.reads() == Reads::Requests) else {
            return;
        };
        let (end, bytes, is_head, is_last) = match found {
            Found::Whole { end, bytes, is_head, is_last } => (end, bytes, is_head, is_last),
            Found::Malformed { end } => {
                return self.tcp[here as usize].expect(Coming { at: end, message: Message::NoHttp });
            }
        };
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        let sequence = if asks {
            Some(self.count_request_outside(now, flow, bytes, None))
        } else {
            self.last_request(flow)
        };
        let Some(sequence) = sequence else { return };
        if asks && let Some(http) = self.http_mut(id) {
            http.asked.insert(sequence, (is_head, is_last));
        }
        let message = Message::Application(AppMessage { sequence, generated: now, bytes });
        self.tcp[here as usize].expect(Coming { at: end, message });
    }

    /// Octets that are no HTTP have come to their end: a server refuses, and a client gives up.
    #[cold]
    pub(super) fn meet_no_http(&mut self, now: Time, user: User) {
        match user {
            User::FlowSink(flow) => {
                let sink = self.flows[flow as usize].association.sink;
                if let Some(http) = self.http_mut(sink) {
                    http.refuses = true;
                }
                self.work.push_back(Work::Server(flow));
            }
            User::FlowSource(flow) => {
                let source = self.flows[flow as usize].association.source;
                self.abort(now, source);
            }
            _ => {}
        }
    }

    /// Refuses what was no request, once what was asked before it is answered; then the connection ends.
    #[cold]
    pub(super) fn refuse_program(&mut self, moment: &mut Moment<'_>, id: SocketId) {
        let http = self.http_mut(id).filter(|http| http.refuses && http.asked.is_empty());
        let Some(http) = http else { return };
        http.refuses = false;
        let head = http::refusal();
        let (sequence, bytes) = (AppMessage::UNASKED, head.len() as u32);
        let message = AppMessage { sequence, generated: moment.now, bytes };
        self.send_message(moment, id, Message::Http(Arc::new(HttpMessage { message, head })));
        self.close(id);
    }

    /// A program has sent a request of a flow: its number.
    fn count_request_outside(&mut self, now: Time, number: u32, bytes: u32, port: Option<u16>) -> u64 {
        let flow = &mut self.flows[number as usize];
        let sequence = flow.measurement.sent_messages;
        flow.measurement.on_write(now, u64::from(bytes));
        if let Source::Client(client) = &mut flow.source {
            client.at(now).0.on_request_outside(now, sequence, port);
        }
        sequence
    }

    /// The number of the request of a flow that was sent last.
    fn last_request(&self, flow: u32) -> Option<u64> {
        self.flows[flow as usize].measurement.sent_messages.checked_sub(1)
    }

    /// A program closes: a response that ends with the connection has come.
    #[cold]
    pub(super) fn take_last_message(&mut self, now: Time, id: SocketId) {
        if self.answers_program(id)
            && let SocketId::Tcp(number) = id
        {
            let up_to = self.tcp[number as usize].delivered_bytes;
            self.on_socket_event(now, id, SocketEvent::Stream { up_to });
        }
    }

    /// Sends a response to a program.
    #[cold]
    pub(super) fn answer_program(&mut self, moment: &mut Moment<'_>, id: SocketId, response: AppMessage) {
        let asked = self.http_mut(id).and_then(|http| http.asked.remove(&response.sequence));
        let (is_head, is_last) = asked.unwrap_or_default();
        let head = http::response(response.bytes);
        let body_bytes = if is_head { 0 } else { response.bytes };
        let message = AppMessage { bytes: body_bytes.saturating_add(head.len() as u32), ..response };
        self.send_message(moment, id, Message::Http(Arc::new(HttpMessage { message, head })));
        if is_last {
            self.close(id);
        }
    }

    /// Sends a message of a flow where sockets are watched: one for a program may need a head.
    #[cold]
    pub(super) fn send_watched(&mut self, moment: &mut Moment<'_>, number: u32, bytes: u32) {
        let id = self.flows[number as usize].association.source;
        let asks = self.http_behind(id).and_then(|http| http.asks.as_ref());
        let Some((host, path)) = asks else { return self.send_of_flow(moment, number, bytes) };
        let head = http::request(host, path, bytes);
        let bytes = head.len() as u32;
        let measurement = &mut self.flows[number as usize].measurement;
        let message = AppMessage { sequence: measurement.sent_messages, generated: moment.now, bytes };
        measurement.on_write(moment.now, u64::from(bytes));
        self.send_message(moment, id, Message::Http(Arc::new(HttpMessage { message, head })));
    }

    /// The socket that a program's datagram is for, and the datagram as the simulation knows it; `None` where
    /// it is for no flow.
    pub(super) fn take_datagram(
        &mut self,
        now: Time,
        to: NodeId,
        (addresses, incoming): &([Address; 2], Incoming),
    ) -> Option<(u32, Pdu)> {
        let payload_bytes = incoming.octets.udp_payload()?.len() as u32;
        let (source_port, destination_port) = incoming.octets.ports();
        let here = self.network.edge.datagram_for(to, *addresses, (source_port, destination_port))?;
        let outside = self.udp[here as usize].peer;
        self.udp[here as usize].remote_port = source_port;
        let program = &mut self.udp[outside as usize];
        program.traffic.sent(incoming.octets.as_slice().len() as u32);
        let User::Program(flow) = program.user else { return None };
        let begins =
            matches!(self.flows[flow as usize].association.source, SocketId::Udp(first) if first == outside);
        let sequence = match begins {
            true => self.count_request_outside(now, flow, payload_bytes, Some(source_port)),
            false => self.last_request(flow).unwrap_or(0),
        };
        let message = AppMessage { sequence, generated: now, bytes: payload_bytes };
        let datagram = Datagram { source_port, destination_port, payload_bytes };
        Some((here, Pdu::Udp(datagram, Message::Application(message))))
    }

    /// Programs that asked for an association at a port and did not go on lose their place: their cookies
    /// have expired (RFC 9260 section 5.1.5).
    #[cold]
    pub(super) fn forget_askers(&mut self, now: Time, node: NodeId, port: u16) {
        for socket in self.network.edge.asked(node, port) {
            let association = &self.sctp[socket as usize].association;
            let asked_before = |at: Time| now >= at + association.cookie_life();
            if association.state() == sctp::State::Closed
                && self.network.edge.asked_at(socket).is_some_and(asked_before)
            {
                self.network.edge.settle_association(socket, false);
            }
        }
    }

    /// Sends a program's datagram for a simulated socket in fragments of its path, as a socket of the
    /// simulation does.
    #[cold]
    pub(super) fn send_cut(
        &mut self,
        moment: &mut Moment<'_>,
        node: NodeId,
        ([source, destination], incoming): &([Address; 2], Incoming),
        path_mtu: u32,
        (socket, datagram, message): (u32, Datagram, Message),
    ) {
        let ip = self.network.ip;
        let path = (ip, path_mtu.saturating_sub(ip.header_bytes()));
        let mut cutter = Fragmentation::new(Span::ZERO);
        let wants_details = self.network.recorder.as_ref().is_some_and(|recorder| recorder.wants_details());
        let mut last = false;
        while !last {
            let id = self.network.next_packet_id();
            let (fragment, is_last) = cutter.cut(path, id.0, datagram, &message);
            last = is_last;
            let detail = wants_details.then(|| {
                let payload = incoming.octets.udp_payload().unwrap_or_default().to_vec();
                let description = fragments::describe(&fragment, "datagram of a program");
                Box::new(Detail { description, payload, ..Detail::default() })
            });
            let packet = Packet {
                id,
                source: *source,
                destination: *destination,
                socket,
                size_bytes: fragments::packet_bytes(ip, &fragment),
                traffic_class: incoming.traffic_class,
                tunnel: None,
                pdu: Pdu::Fragment(Box::new(fragment)),
            };
            self.network.edge.count_fragment(node, last);
            self.network.send(moment, node, packet, detail);
        }
    }

    /// A datagram of a flow has come to its program.
    #[cold]
    pub(super) fn reach_program(&mut self, now: Time, number: u32, message: &Message) {
        let flow = &self.flows[number as usize];
        let Association { source: SocketId::Udp(source), sink: SocketId::Udp(sink) } = flow.association
        else {
            return;
        };
        let is_sink = matches!(self.udp[sink as usize].user, User::Program(_));
        let answers = is_sink && matches!(flow.source, Source::Client(_));
        let [outside, here] = if is_sink { [sink, source] } else { [source, sink] };
        let (node, here) = (self.udp[outside as usize].node, &self.udp[here as usize]);
        let asked_from = match message {
            Message::Application(response) => flow.port_of_request(response.sequence),
            _ => None,
        };
        let datagram = Datagram {
            source_port: here.local_port,
            destination_port: asked_from.unwrap_or(here.remote_port),
            payload_bytes: message.bytes(),
        };
        let payload = octets(message, 0..u64::from(message.bytes()));
        let (addresses, class) = ((here.local, here.remote), here.traffic_class);
        self.network.hand_out_datagram(now, node, addresses, class, (datagram, &payload));
        if !answers {
            // Requests are not what the flow delivers.
            let user = if is_sink { User::FlowSink(number) } else { User::FlowSource(number) };
            self.deliver(now, user, message.clone());
        }
    }
}

/// A socket and the program at its other end, whose addresses are given in this order.
fn joined(socket: u32, [local, remote]: [Address; 2], remote_port: Option<u16>, is_read: bool) -> Joined {
    let is_passive = remote_port.is_none();
    Joined { socket, local, remote, remote_port, is_passive, is_read, asked_at: None }
}

/// By which programs know a node: its name, with a hyphen for what a host name cannot have.
fn host_name(name: &str) -> String {
    let mut host = String::new();
    let mut in_a_run = false;
    for letter in name.chars() {
        let is_allowed = matches!(letter, 'A'..='Z' | 'a'..='z' | '0'..='9' | '.' | '-');
        if is_allowed {
            host.push(letter);
        } else if !in_a_run {
            host.push('-');
        }
        in_a_run = !is_allowed;
    }
    host
}

#[cfg(test)]
mod tests {
    use super::host_name;

    /// As `host_name` of `python/roamsim/live/run.py` writes them.
    #[test]
    fn a_run_of_letters_that_no_host_name_has_becomes_one_hyphen() {
        for (node, host) in [("a- b", "a--b"), ("a  b", "a-b"), ("a -", "a--"), ("x.1\u{e9}!", "x.1-")] {
            assert_eq!(host_name(node), host, "{node}");
        }
    }
}
