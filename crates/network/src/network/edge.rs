//! The edge of the network: external nodes, and the packets of their programs in and out.
//!
//! A packet from outside is refused and counted, or becomes a packet of the network. At an external node it
//! leaves the simulation. At any other node it goes to the open socket that is bound to its port, or is
//! dropped, because other sockets of the simulation do not read octets. Flows with a program are the
//! exception: their segments, SCTP packets and datagrams are parsed on entry and encoded on exit.
//!
//! A packet larger than the MTU of its path is fragmented, or answered with an ICMP error, on entry. That
//! is a simplification: a router does so at the narrow link. So fragments load the whole path, and the
//! error comes at once.

use super::reassembly::{Reassembly, Taken as Whole};
use super::{Account, DropCount, Network};
use crate::alarm::Moment;
use crate::capture::encode;
use crate::drops::DropReason;
use crate::octets::{self, Incoming, Octets, Oversized, Refusal, UDP};
use crate::packet::{IpVersion, NO_SOCKET, Packet, PacketId, Pdu};
use crate::recorder::Detail;
use crate::topology::NodeId;
use crate::traffic_class::TrafficClass;
use roamsim_engine::Time;
use roamsim_protocols::Address;
use roamsim_protocols::sctp::{self, Chunk};
use roamsim_protocols::tcp::{Flags, Segment};
use roamsim_protocols::udp::Datagram;
use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;

/// A packet that leaves the simulation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Emitted {
    /// Where.
    pub node: NodeId,
    /// When.
    pub at: Time,
    /// What.
    pub octets: Vec<u8>,
}

/// The first port that a NAT gives (RFC 6335 section 6: behind those of the system).
const FIRST_MAPPED_PORT: u16 = 1024;

/// Packets of an external node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EdgeAccount {
    /// Offered by its programs.
    pub offered: u64,
    /// Put into the network; fragments each.
    pub injected: u64,
    /// Cut into fragments.
    pub fragmented: u64,
    /// Refused, by reason.
    pub refused: BTreeMap<Refusal, u64>,
    /// ICMP errors for its programs.
    pub errors: u64,
    /// Handed to its programs, without these errors.
    pub emitted: u64,
}

/// Nodes outside of the simulation.
#[derive(Clone, Debug, Default)]
pub struct Edge {
    external: BTreeMap<NodeId, EdgeAccount>,
    emitted: VecDeque<Emitted>,
    no_socket: BTreeMap<NodeId, DropCount>,
    /// The MTU of paths from external nodes, as far as asked for.
    path_mtus: BTreeMap<(NodeId, NodeId), u32>,
    /// The open sockets by node and port of UDP: which one octets are for.
    sockets: BTreeMap<(NodeId, u16), u32>,
    /// The sockets of TCP with a program at the other end, by node and port, in the order of their flows.
    connections: BTreeMap<(NodeId, u16), Vec<Joined>>,
    /// Those of UDP.
    datagrams: BTreeMap<(NodeId, u16), Vec<Joined>>,
    /// Those of SCTP.
    associations: BTreeMap<(NodeId, u16), Vec<Joined>>,
    /// Fragments for those of UDP.
    reassembly: Reassembly,
}

/// A socket of TCP, SCTP or UDP that has a program at its other end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Joined {
    /// Its number.
    pub(crate) socket: u32,
    /// Its address.
    pub(crate) local: Address,
    /// The address of the program.
    pub(crate) remote: Address,
    /// Its port; `None` until it has connected.
    pub(crate) remote_port: Option<u16>,
    /// Whether the program connects, or sends first.
    pub(crate) is_passive: bool,
    /// Whether somebody reads the octets of its stream.
    pub(crate) is_read: bool,
    /// When the program has asked for an association of SCTP that has not come about.
    pub(crate) asked_at: Option<Time>,
}

/// The place of the socket that a program at a port talks to: the one that knows it, else one that knows none
/// yet.
fn place(waiting: &[Joined], addresses: [Address; 2], from: u16, may_begin: bool) -> Option<usize> {
    let at = |port: Option<u16>| {
        let ours = |joined: &Joined| [joined.remote, joined.local] == addresses;
        waiting.iter().position(|joined| ours(joined) && joined.remote_port == port)
    };
    at(Some(from)).or_else(|| at(None).filter(|_| may_begin))
}

/// Whether a packet asks for an association as it should (RFC 9260 8.5.1 A).
fn begins(packet: &sctp::Packet) -> bool {
    packet.verification_tag == 0
        && matches!(&packet.chunks[..], [Chunk::Init(init)] if init.initiate_tag != 0)
}

/// What becomes of a packet of a program that may be a fragment.
#[derive(Debug)]
pub(crate) enum Gathered {
    /// It is none, or for nobody here.
    Packet(Whole),
    /// The last of a datagram, which this is.
    Datagram(Whole),
    /// It waits for the others.
    Nothing,
}

/// What a program sends that was read for a socket.
#[derive(Debug)]
pub(crate) enum Taken {
    Segment(TakenSegment),
    Chunks(TakenChunks),
}

/// A packet of a program that has come in for a socket of SCTP.
#[derive(Debug)]
pub(crate) struct TakenChunks {
    /// The socket that it is for.
    pub(crate) socket: u32,
    /// Its size, network header included.
    pub(crate) size_bytes: u32,
    /// The port that it comes from, if it asks for an association.
    pub(crate) begins_from: Option<u16>,
    /// Its verification tag, and the TSN up to which it acknowledges.
    pub(crate) acknowledged: Option<(u32, u32)>,
}

/// A segment of a program that has come in for a socket of TCP.
#[derive(Debug)]
pub(crate) struct TakenSegment {
    /// The socket that it is for.
    pub(crate) socket: u32,
    /// Its size, network header included.
    pub(crate) size_bytes: u32,
    /// What it acknowledges.
    pub(crate) ack: Option<u32>,
    /// Whether it answers what its kernel knows no connection for. To end a connection that has come about, a
    /// kernel sends a reset that acknowledges (RFC 9293 section 3.10.7.1; Linux, `tcp_send_active_reset`).
    pub(crate) resets: bool,
    /// Its sequence number, its flags and its payload, where somebody reads them.
    pub(crate) read: Option<(u32, Flags, Vec<u8>)>,
}

impl Edge {
    /// Makes a node external: octets for it leave the simulation.
    pub fn open(&mut self, node: NodeId) {
        self.external.entry(node).or_default();
    }

    /// The external nodes, in order, and their accounts.
    pub fn accounts(&self) -> impl Iterator<Item = (NodeId, &EdgeAccount)> {
        self.external.iter().map(|(&node, account)| (node, account))
    }

    /// The next packet that leaves.
    pub fn poll_emitted(&mut self) -> Option<Emitted> {
        self.emitted.pop_front()
    }

    /// Packets from outside that came to nodes where nobody takes them, by node.
    pub fn no_socket_drops(&self) -> impl Iterator<Item = (NodeId, DropCount)> + '_ {
        self.no_socket.iter().map(|(&node, &count)| (node, count))
    }

    /// Octets that come to a port of a node are for this open socket, if they are for no other yet.
    pub(crate) fn bind(&mut self, node: NodeId, port: u16, socket: u32) {
        self.sockets.entry((node, port)).or_insert(socket);
    }

    /// A NAT before a node gives this open socket another port, which is returned: the next one that no
    /// socket of the node has. Octets for the port before are for nobody.
    pub(crate) fn rebind(&mut self, node: NodeId, socket: u32) -> u16 {
        let last = self.sockets.iter().find(|&(&(at, _), &of)| (at, of) == (node, socket));
        let last = last.map_or(u16::MAX, |(&(_, port), _)| port);
        self.sockets.remove(&(node, last));
        let behind = (last.saturating_add(1)..=u16::MAX).chain(FIRST_MAPPED_PORT..last);
        let port = behind.into_iter().find(|&port| !self.sockets.contains_key(&(node, port))).unwrap_or(last);
        self.bind(node, port, socket);
        port
    }

    /// Whether programs run at a node.
    pub(crate) fn is_external(&self, node: NodeId) -> bool {
        self.external.contains_key(&node)
    }

    /// Segments of a program that come to a port of a node are for this socket of TCP.
    pub(crate) fn join(&mut self, node: NodeId, port: u16, joined: Joined) {
        self.connections.entry((node, port)).or_default().push(joined);
    }

    /// Packets of a program that come to a port of a node are for this socket of SCTP.
    pub(crate) fn join_association(&mut self, node: NodeId, port: u16, joined: Joined) {
        self.associations.entry((node, port)).or_default().push(joined);
    }

    /// Datagrams of a program that come to a port of a node are for this socket of UDP.
    pub(crate) fn join_datagrams(&mut self, node: NodeId, port: u16, joined: Joined) {
        self.datagrams.entry((node, port)).or_default().push(joined);
    }

    /// The socket of UDP that a program's datagram is for at a node. Where all that wait at its port know
    /// other ports of the program, the first one goes on with this one.
    pub(crate) fn datagram_for(
        &mut self,
        node: NodeId,
        addresses: [Address; 2],
        (from, port): (u16, u16),
    ) -> Option<u32> {
        let waiting = self.datagrams.get_mut(&(node, port))?;
        let at = place(waiting, addresses, from, true).or_else(|| {
            waiting.iter().position(|joined| joined.is_passive && [joined.remote, joined.local] == addresses)
        })?;
        waiting[at].remote_port = Some(from);
        Some(waiting[at].socket)
    }

    /// The socket of TCP that octets are for at a node, their segment and its payload. Where several wait at
    /// one port, the first that has no program yet takes whoever connects.
    fn segment_for<'a>(
        &mut self,
        node: NodeId,
        addresses: [Address; 2],
        octets: &'a Octets,
    ) -> Option<(Joined, Segment, &'a [u8])> {
        let (from, port) = octets.ports();
        let waiting = self.connections.get_mut(&(node, port))?;
        let (segment, payload) = octets.tcp_segment()?;
        let connects = segment.flags.contains(Flags::SYN) && !segment.flags.contains(Flags::ACK);
        let at = place(waiting, addresses, from, connects)?;
        let joined = &mut waiting[at];
        joined.remote_port = Some(from);
        Some((*joined, segment, payload))
    }

    /// Puts a fragment of a datagram for a simulated socket of UDP aside: the whole datagram with its last
    /// one. Other packets come back at once.
    pub(crate) fn gather(&mut self, ip: IpVersion, now: Time, to: NodeId, taken: Whole) -> Gathered {
        if self.datagrams.range((to, 0)..=(to, u16::MAX)).next().is_none() {
            return Gathered::Packet(taken);
        }
        match taken.1.octets.part() {
            None => Gathered::Packet(taken),
            Some(part) => match self.reassembly.take(ip, now, taken, part) {
                Some(whole) => Gathered::Datagram(whole),
                None => Gathered::Nothing,
            },
        }
    }

    /// The next fragment whose datagram will not be whole.
    pub(crate) fn poll_abandoned(&mut self) -> Option<Whole> {
        self.reassembly.poll_abandoned()
    }

    /// The sockets of SCTP at a port of a node that were asked for an association which may not have come
    /// about.
    pub(crate) fn asked(&self, node: NodeId, port: u16) -> Vec<u32> {
        let waiting = self.associations.get(&(node, port)).into_iter().flatten();
        let asked = waiting.filter(|joined| joined.is_passive && joined.asked_at.is_some());
        asked.map(|joined| joined.socket).collect()
    }

    /// When a program has asked this socket of SCTP for an association that has not come about.
    pub(crate) fn asked_at(&self, socket: u32) -> Option<Time> {
        let mut joined = self.associations.values().flatten();
        joined.find(|joined| joined.socket == socket)?.asked_at
    }

    /// Counts a fragment that was put into the network in the place of its datagram.
    pub(crate) fn count_fragment(&mut self, node: NodeId, is_last: bool) {
        let account = self.external.entry(node).or_default();
        account.injected += 1;
        account.fragmented += u64::from(is_last);
    }

    /// What a program has asked this socket of SCTP for has come about, or will not: then the socket waits
    /// for the next program.
    pub(crate) fn settle_association(&mut self, socket: u32, is_up: bool) {
        let mut joined = self.associations.values_mut().flatten();
        if let Some(joined) = joined.find(|joined| joined.socket == socket) {
            joined.asked_at = None;
            if !is_up {
                joined.remote_port = None;
            }
        }
    }

    /// The socket of SCTP that octets are for at a node, their packet, and the user data of its chunks.
    fn association_for(
        &mut self,
        node: NodeId,
        addresses: [Address; 2],
        (now, octets): (Time, &Octets),
    ) -> Option<(u32, sctp::Packet, Vec<u8>)> {
        let (from, port) = octets.ports();
        let waiting = self.associations.get_mut(&(node, port))?;
        let (packet, payload) = octets.sctp_packet()?;
        let at = place(waiting, addresses, from, begins(&packet))?;
        waiting[at].remote_port = Some(from);
        if begins(&packet) {
            waiting[at].asked_at = Some(now);
        }
        Some((waiting[at].socket, packet, payload))
    }

    /// A program has reset what had not become a connection: this socket listens for the next one.
    pub(crate) fn listen_again(&mut self, socket: u32) {
        let mut joined = self.connections.values_mut().flatten();
        if let Some(joined) = joined.find(|joined| joined.socket == socket && joined.is_passive) {
            joined.remote_port = None;
        }
    }

    /// The open socket that octets are for at a node.
    pub(super) fn socket_for(&self, node: NodeId, octets: &Octets) -> Option<u32> {
        let (_, port) = octets.ports();
        self.sockets.get(&(node, port)).copied().filter(|_| octets.protocol() == UDP)
    }

    fn refuse(&mut self, node: NodeId, why: Refusal) {
        *self.external.entry(node).or_default().refused.entry(why).or_default() += 1;
    }
}

impl Network {
    /// Reads a packet that a program of an external node sends: its source, its destination, and the rest.
    /// `None` where it is refused.
    pub(crate) fn take_in(&mut self, node: NodeId, octets: &[u8]) -> Option<([Address; 2], Incoming)> {
        let account = self.edge.external.get_mut(&node)?;
        account.offered += 1;
        let read = octets::read(self.ip, octets).and_then(|incoming| {
            let source = self.topology.find(incoming.source);
            let source = source.filter(|&source| self.topology.owner(source) == node);
            let source = source.ok_or(Refusal::ForeignSource)?;
            let destination = self.topology.find(incoming.destination).ok_or(Refusal::UnknownDestination)?;
            Ok(([source, destination], incoming))
        });
        read.map_err(|why| self.edge.refuse(node, why)).ok()
    }

    /// Sends what was taken in; `datagram` is the socket and the datagram that a packet within the MTU of the
    /// path is read as.
    pub(crate) fn send_octets(
        &mut self,
        moment: &mut Moment<'_>,
        node: NodeId,
        (addresses, incoming): ([Address; 2], Incoming),
        path_mtu: u32,
        datagram: Option<(u32, Pdu)>,
    ) -> Option<Taken> {
        let [source, destination] = addresses;
        let size_bytes = incoming.octets.as_slice().len() as u32;
        if size_bytes <= path_mtu {
            return self.put_in(moment, node, addresses, incoming, datagram);
        }
        // The first node behind it answers; next to nobody, the destination itself.
        let router = self
            .topology
            .egress(node, source, destination)
            .map(|by| self.topology.interface(by).neighbour)
            .and_then(|neighbour| self.topology.route(neighbour, node))
            .unwrap_or(destination);
        match octets::oversized(&incoming.octets, path_mtu, self.written(router)) {
            Oversized::Fragments(fragments) => {
                self.edge.external.entry(node).or_default().fragmented += 1;
                for fragment in fragments {
                    match octets::read(self.ip, &fragment) {
                        Ok(incoming) => {
                            self.put_in(moment, node, addresses, incoming, None);
                        }
                        Err(why) => self.edge.refuse(node, why),
                    }
                }
            }
            Oversized::Error(octets) => {
                self.edge.refuse(node, Refusal::TooLarge);
                self.edge.external.entry(node).or_default().errors += 1;
                self.edge.emitted.push_back(Emitted { node, at: moment.now, octets });
            }
            Oversized::Nothing => self.edge.refuse(node, Refusal::TooLarge),
        }
        None
    }

    fn written(&self, address: Address) -> IpAddr {
        match self.ip {
            IpVersion::V4 => self.topology.ip().v4(address).into(),
            IpVersion::V6 => self.topology.ip().v6(address).into(),
        }
    }

    /// The addresses of a node, the one first by which others know it, then the chosen ones; and the MTU of
    /// its smallest interface.
    pub fn outside_addresses(&self, node: NodeId) -> (Vec<IpAddr>, u32) {
        let own = self.topology.node(node).interfaces.iter().copied().map(Address);
        let mut addresses: Vec<Address> = own.collect();
        let is_chosen = |address| self.topology.ip().chosen(address).is_some();
        addresses.sort_by_key(|&address| (self.topology.primary(node) != Some(address), !is_chosen(address)));
        let mtu = addresses.iter().map(|&address| self.topology.interface(address).mtu_bytes).min();
        let mut written: Vec<IpAddr> = Vec::with_capacity(addresses.len());
        for ip in addresses.into_iter().map(|address| self.written(address)) {
            if !written.contains(&ip) {
                written.push(ip);
            }
        }
        (written, u32::from(mtu.unwrap_or(0)))
    }

    /// The MTU of the path between two nodes, which `find` knows.
    pub(crate) fn known_path_mtu(&mut self, ends: (NodeId, NodeId), find: impl Fn(&Network) -> u32) -> u32 {
        if let Some(&mtu_bytes) = self.edge.path_mtus.get(&ends) {
            return mtu_bytes;
        }
        let mtu_bytes = find(self);
        self.edge.path_mtus.insert(ends, mtu_bytes);
        mtu_bytes
    }

    fn put_in(
        &mut self,
        moment: &mut Moment<'_>,
        node: NodeId,
        [source, destination]: [Address; 2],
        incoming: Incoming,
        datagram: Option<(u32, Pdu)>,
    ) -> Option<Taken> {
        self.edge.external.entry(node).or_default().injected += 1;
        let to = self.topology.owner(destination);
        let wants_details = self.recorder.as_ref().is_some_and(|recorder| recorder.wants_details());
        let (socket, size_bytes, pdu, taken, detail) =
            match self.edge.segment_for(to, [source, destination], &incoming.octets) {
                Some((joined, segment, payload)) => {
                    let socket = joined.socket;
                    // Options of a program may take other octets than ours do.
                    let size_bytes = self.ip.header_bytes() + segment.total_bytes();
                    let [has_ack, is_reset] =
                        [Flags::ACK, Flags::RST].map(|flag| segment.flags.contains(flag));
                    let ack = (has_ack && !is_reset).then_some(segment.ack);
                    let detail = wants_details.then(|| (segment.to_string(), payload.to_vec()));
                    let read = joined.is_read.then(|| (segment.seq, segment.flags, payload.to_vec()));
                    let taken = TakenSegment { socket, size_bytes, ack, resets: is_reset && !has_ack, read };
                    (socket, size_bytes, Pdu::Tcp(segment), Some(Taken::Segment(taken)), detail)
                }
                None if let Some((socket, packet, payload)) =
                    self.edge.association_for(to, [source, destination], (moment.now, &incoming.octets)) =>
                {
                    let size_bytes = self.ip.header_bytes() + packet.total_bytes();
                    let begins_from = begins(&packet).then_some(packet.source_port);
                    let acknowledged = packet.chunks.iter().find_map(|chunk| match chunk {
                        Chunk::Sack(sack) => Some(sack.cumulative_tsn_ack),
                        Chunk::Shutdown { cumulative_tsn_ack } => Some(*cumulative_tsn_ack),
                        _ => None,
                    });
                    let acknowledged = acknowledged.map(|tsn| (packet.verification_tag, tsn));
                    let detail = wants_details.then(|| (described(&incoming.octets), payload));
                    let taken = TakenChunks { socket, size_bytes, begins_from, acknowledged };
                    (socket, size_bytes, Pdu::Sctp(packet), Some(Taken::Chunks(taken)), detail)
                }
                None if let Some((socket, pdu)) = datagram => {
                    let size_bytes = incoming.octets.as_slice().len() as u32;
                    let payload = || incoming.octets.udp_payload().unwrap_or_default().to_vec();
                    let detail = wants_details.then(|| (described(&incoming.octets), payload()));
                    (socket, size_bytes, pdu, None, detail)
                }
                None => {
                    // What is for an endpoint is counted to its flow on the whole way.
                    let socket = self.edge.socket_for(to, &incoming.octets).unwrap_or(NO_SOCKET);
                    let size_bytes = incoming.octets.as_slice().len() as u32;
                    let detail = wants_details.then(|| (described(&incoming.octets), Vec::new()));
                    (socket, size_bytes, Pdu::Octets(incoming.octets), None, detail)
                }
            };
        let detail = detail
            .map(|(description, payload)| Box::new(Detail { description, payload, ..Detail::default() }));
        let packet = Packet {
            id: self.next_packet_id(),
            source,
            destination,
            socket,
            size_bytes,
            traffic_class: incoming.traffic_class,
            tunnel: None,
            pdu,
        };
        if to == node {
            // Its own kernel should have kept it.
            self.create(moment.now, node, &packet, detail);
            self.emit(moment.now, node, &packet);
        } else {
            self.send(moment, node, packet, detail);
        }
        taken
    }

    /// A segment has come to the program at the other end of its connection: out it goes, as octets.
    pub(crate) fn hand_out(&mut self, now: Time, node: NodeId, packet: &Packet, payload: &[u8]) {
        let octets = encode::packet((self.ip, self.topology.ip()), packet, payload);
        self.hand_out_octets(now, node, octets);
    }

    /// The same for a datagram.
    pub(crate) fn hand_out_datagram(
        &mut self,
        now: Time,
        node: NodeId,
        addresses: (Address, Address),
        traffic_class: TrafficClass,
        (datagram, payload): (Datagram, &[u8]),
    ) {
        // It is not fragmented, so that its number says nothing.
        let numbered = (PacketId(0), traffic_class);
        let octets = encode::datagram((self.ip, self.topology.ip()), addresses, numbered, datagram, payload);
        self.hand_out_octets(now, node, octets);
    }

    fn hand_out_octets(&mut self, now: Time, node: NodeId, octets: Vec<u8>) {
        self.edge.external.entry(node).or_default().emitted += 1;
        self.edge.emitted.push_back(Emitted { node, at: now, octets });
    }

    /// Octets have come to their node: out they go, or nobody takes them.
    #[cold]
    pub(super) fn emit(&mut self, now: Time, node: NodeId, packet: &Packet) {
        let Pdu::Octets(octets) = &packet.pdu else { return };
        let Some(account) = self.edge.external.get_mut(&node) else {
            self.edge.no_socket.entry(node).or_default().add(packet.size_bytes);
            self.end_in_a_drop(Account::of(packet));
            if let Some(recorder) = &mut self.recorder {
                recorder.dropped_at(now, node, DropReason::NoSocket, packet);
            }
            return;
        };
        account.emitted += 1;
        let octets = octets.leaving(self.ip, packet.traffic_class);
        self.edge.emitted.push_back(Emitted { node, at: now, octets });
        self.delivered += 1;
        if let Some(recorder) = &mut self.recorder {
            recorder.delivered(now, node, packet);
        }
    }
}

/// Octets in words.
fn described(octets: &Octets) -> String {
    let (from, to) = octets.ports();
    let ports = if (from, to) == (0, 0) { String::new() } else { format!(", {from} > {to}") };
    format!("protocol {}{ports}", octets.protocol())
}
