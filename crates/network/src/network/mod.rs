//! The network layer: takes packets from the sockets, routes them over links, hands them to sockets, and
//! accounts for every one of them.

mod arrivals;
mod broadcast;
mod conservation;
mod dropped_segments;
pub(crate) mod edge;
mod link_events;
mod processing;
mod reassembly;
pub mod tunnel;
mod ways;

pub(crate) use self::arrivals::{Coming, Landing};
pub use self::conservation::ConservationViolation;
pub use self::edge::{Edge, EdgeAccount, Emitted};
pub use self::link_events::Senders;
pub(crate) use self::ways::FirstHop;

use self::dropped_segments::DroppedSegments;
use self::processing::{Leaving, Processor};
use self::tunnel::Tunnels;
use crate::alarm::{Alarm, Moment};
use crate::drops::{DropReason, Dropped};
use crate::ends::{Onward, SocketId};
use crate::event::Event;
use crate::link::flight::{Blank, Flights, Place};
use crate::link::indication::Indication;
use crate::link::stations::Stations;
use crate::link::wired::Wire;
use crate::link::{AnyLink, Attachment, Link};
use crate::packet::{Carried, IpVersion, Packet, PacketId, Pdu};
use crate::recorder::{Detail, Recorder};
use crate::topology::{LinkId, NodeId, Topology};
use roamsim_engine::queue::Reserved;
use roamsim_engine::{Stream, Time};
use roamsim_protocols::{Address, Context};
use std::collections::{BTreeMap, VecDeque};
use std::ops::AddAssign;
use std::sync::Arc;

/// A link in the network, a line of the cache: of a wire all that most packets touch.
#[repr(align(64))]
struct LinkSlot {
    link: AnyLink,
}

/// The rest about a link, apart so that it stays out of the cache.
struct LinkRecord {
    /// Its place among `Network::carriers`; of a wire none.
    carrier: u32,
    /// Where the addresses of its attachments begin in `Network::attachments`.
    first_attachment: u32,
    /// The node that a wire leads to; on other links it is asked for by the attachment.
    leads_to: NodeId,
    /// Where its drops are among `Network::drops`; of a link that has dropped nothing none.
    drops: u32,
}

/// Where no drops are.
const NO_DROPS: u32 = u32::MAX;

/// What a link needs that is no wire: a wire draws nothing, and knows by itself whether it is to be woken.
struct Carrier {
    alarm: Alarm,
    random: Stream,
}

/// A link as results see it.
#[derive(Clone, Copy)]
pub struct LinkView<'a> {
    /// Its number.
    pub number: LinkId,
    /// Its name in the scenario. The two directions of a wire share theirs.
    pub name: &'a str,
    /// The addresses of its attachments, in order. On one direction of a wire: sender, receiver.
    pub addresses: &'a [Address],
    /// The machine.
    pub link: &'a AnyLink,
}

/// What one attachment of a link lost for one reason.
#[derive(Clone, Copy)]
pub struct Drops<'a> {
    /// The link.
    pub link: LinkView<'a>,
    /// Where it came from.
    pub from: Attachment,
    /// Why.
    pub reason: DropReason,
    /// How much.
    pub count: DropCount,
}

impl Drops<'_> {
    /// Whether it was for all who hear it.
    pub fn is_broadcast(&self) -> bool {
        self.link.link.is_broadcast(self.from)
    }
}

/// Packets and octets dropped at a place for a reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DropCount {
    /// Packets.
    pub packets: u64,
    /// Octets, network header included.
    pub bytes: u64,
}

impl DropCount {
    /// Counts a packet of so many octets.
    #[inline]
    pub(crate) fn add(&mut self, bytes: u32) {
        self.packets += 1;
        self.bytes += u64::from(bytes);
    }

    /// Dropped since it was that many.
    #[must_use]
    pub fn since(self, earlier: DropCount) -> DropCount {
        DropCount { packets: self.packets - earlier.packets, bytes: self.bytes - earlier.bytes }
    }
}

/// Drops of a link by reason and attachment, in their order: a few on a wire, as many as stations in a cell.
#[derive(Debug, Default)]
struct DropCounts(Vec<((DropReason, Attachment), DropCount)>);

impl DropCounts {
    /// The count for a reason, of what came from an attachment.
    #[inline]
    fn of(&mut self, reason: DropReason, from: Attachment) -> &mut DropCount {
        let key = (reason, from);
        // Mostly there is one kind.
        if self.0.first().is_some_and(|&(first, _)| first == key) {
            return &mut self.0[0].1;
        }
        let place = self.0.binary_search_by_key(&key, |&(other, _)| other).unwrap_or_else(|place| {
            self.0.insert(place, (key, DropCount::default()));
            place
        });
        &mut self.0[place].1
    }
}

impl AddAssign for DropCount {
    fn add_assign(&mut self, other: DropCount) {
        self.packets += other.packets;
        self.bytes += other.bytes;
    }
}

/// A datagram for a socket of UDP that was lost, or a fragment of one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LostDatagram {
    pub(crate) socket: u32,
    /// The identification of the datagram that it is a fragment of.
    pub(crate) fragment_of: Option<u64>,
    /// When its message was written.
    pub(crate) written: Time,
}

/// What accounts of drops ask of a packet: kept of one that a link takes and may drop.
#[derive(Clone, Copy)]
pub(crate) struct Account {
    bytes: u32,
    socket: u32,
    is_segment: bool,
    is_datagram_of_a_flow: bool,
    /// The identification of the datagram that it is a fragment of.
    fragment_of: Option<u64>,
    /// When the message of a datagram was written.
    written: Time,
    /// The socket that a packet with data of an application is for.
    data_for: Option<SocketId>,
}

impl Account {
    #[inline]
    pub(crate) fn of(packet: &Packet) -> Account {
        let (bytes, socket, is_broadcast) = (packet.size_bytes, packet.socket, packet.is_broadcast());
        if packet.is_datagram_of_a_flow() {
            // As it would be below, by one look at what it carries: of each that a station sends.
            let data_for = (!is_broadcast).then_some(SocketId::Udp(socket));
            let (is_segment, is_datagram_of_a_flow, fragment_of) = (false, true, None);
            let written = packet.written();
            return Account {
                bytes,
                socket,
                is_segment,
                is_datagram_of_a_flow,
                fragment_of,
                written,
                data_for,
            };
        }
        let data_for = packet.socket_id().filter(|_| packet.carries_data() && !is_broadcast);
        let is_segment = matches!(packet.pdu, Pdu::Tcp(_));
        let fragment_of = match &packet.pdu {
            Pdu::Fragment(fragment) => Some(fragment.identification),
            _ => None,
        };
        let is_datagram_of_a_flow = fragment_of.is_some();
        let written = packet.written();
        Account { bytes, socket, is_segment, is_datagram_of_a_flow, fragment_of, written, data_for }
    }
}

/// Nodes, links, and the packets between them.
pub struct Network {
    /// The nodes and their routes.
    pub topology: Topology,
    /// The version of IP.
    pub ip: IpVersion,
    links: Vec<LinkSlot>,
    /// The packets on wires.
    flights: Flights,
    /// By link, of a wire the place of the next arrival among simultaneous events, where it was not pushed
    /// with it.
    turns: Vec<Option<Reserved>>,
    records: Vec<LinkRecord>,
    /// By link, the names of those whose first interface has another: mostly none has.
    names: BTreeMap<u32, Arc<str>>,
    /// The links that are no wires.
    carriers: Vec<Carrier>,
    /// By link, when it is asked for its link events: plain wires have none.
    indications: BTreeMap<u32, Alarm>,
    /// Of each link that has dropped something, in the order in which they did so first.
    drops: Vec<DropCounts>,
    /// By node, those that take time over packets; empty where none does.
    processors: Vec<Option<Processor>>,
    /// The addresses of all attachments, link by link.
    attachments: Vec<Address>,
    created: u64,
    pub(crate) delivered: u64,
    pub(crate) dropped: u64,
    no_route: BTreeMap<NodeId, DropCount>,
    /// Packets of flows that a node had no route for, by node and by what they carried: how stations without
    /// a cell lose theirs.
    unroutable: BTreeMap<NodeId, BTreeMap<Carried, u64>>,
    /// The tunnels of Mobile IP.
    pub tunnels: Tunnels,
    /// The sockets of datagrams that were dropped, for their applications' accounts; drained by the world. Of
    /// a fragment also the identification.
    pub(crate) lost_datagrams: Vec<LostDatagram>,
    /// Those of the connections of transfers.
    pub(crate) dropped_segments: DroppedSegments,
    /// The sockets that packets with data were for that were dropped, where series are kept; drained by the
    /// world.
    pub(crate) lost_data: Option<Vec<SocketId>>,
    /// Link events that somebody may want to know of; drained by the world.
    pub(crate) indicated: VecDeque<(LinkId, Indication)>,
    /// Records what happens to packets, when asked to.
    pub recorder: Option<Box<Recorder>>,
    /// Nodes outside of the simulation, and what goes in and out there.
    pub edge: Edge,
}

impl Network {
    /// A network without links.
    pub fn new(topology: Topology, ip: IpVersion) -> Network {
        Network {
            topology,
            ip,
            links: Vec::new(),
            flights: Flights::default(),
            turns: Vec::new(),
            records: Vec::new(),
            names: BTreeMap::new(),
            carriers: Vec::new(),
            indications: BTreeMap::new(),
            drops: Vec::new(),
            processors: Vec::new(),
            attachments: Vec::new(),
            created: 0,
            delivered: 0,
            dropped: 0,
            no_route: BTreeMap::new(),
            unroutable: BTreeMap::new(),
            tunnels: Tunnels::default(),
            lost_datagrams: Vec::new(),
            dropped_segments: DroppedSegments::default(),
            lost_data: None,
            indicated: VecDeque::new(),
            recorder: None,
            edge: Edge::default(),
        }
    }

    /// Packets that were sent, and neither delivered nor dropped by now. A loss that a link foresees counts
    /// at once.
    pub fn under_way(&self) -> u64 {
        self.created.saturating_sub(self.delivered + self.dropped)
    }

    /// Makes room for so many links: what grows is copied again and again.
    pub fn expect_links(&mut self, count: usize) {
        self.links.reserve(count);
        self.records.reserve(count);
    }

    /// Adds a link whose attachments have the given addresses, in order.
    pub fn add_link(&mut self, link: AnyLink, name: &str, addresses: &[Address], random: Stream) -> LinkId {
        let first_attachment = self.attachments.len() as u32;
        self.attachments.extend(addresses);
        let receiver = addresses.get(Wire::RECEIVER.0 as usize).or(addresses.first());
        let leads_to = receiver.map_or(NodeId(0), |&address| self.topology.owner(address));
        let mut carrier = u32::MAX;
        if !matches!(link, AnyLink::Wire(_)) {
            carrier = self.carriers.len() as u32;
            self.carriers.push(Carrier { alarm: Alarm::default(), random });
        }
        let number = self.links.len() as u32;
        self.links.push(LinkSlot { link });
        self.turns.push(None);
        let of_interface = addresses.first().map(|&address| &*self.topology.interface(address).name);
        if of_interface != Some(name) {
            self.names.insert(number, name.into());
        }
        self.records.push(LinkRecord { carrier, first_attachment, leads_to, drops: NO_DROPS });
        LinkId(number)
    }

    /// Whether a capture is written, which needs octets.
    pub fn capturing(&self) -> bool {
        self.recorder.as_ref().is_some_and(|recorder| recorder.capture.is_some())
    }

    /// Begins with the capture of frames, if that is what is captured: every link that can tells its own from
    /// now on. Or why there would be none.
    pub fn capture_frames(&mut self) -> Result<(), String> {
        let capture = self.recorder.as_mut().and_then(|recorder| recorder.capture.as_mut());
        let Some(capture) = capture.filter(|capture| capture.is_of_frames()) else { return Ok(()) };
        let topology = &self.topology;
        for ((number, slot), record) in (0..).zip(&mut self.links).zip(&self.records) {
            let Some(frames) = slot.link.frames_mut() else { continue };
            let address =
                |Attachment(at): Attachment| self.attachments[(record.first_attachment + at) as usize];
            let cells = frames.radios();
            let names = cells.iter().map(|radios| match radios.first() {
                Some(&(_, at)) => topology.interface(address(at)).name.to_string(),
                None => String::new(),
            });
            let names = names.collect();
            let radios = cells.iter().flatten().map(|&(radio, _)| radio + 1).max().unwrap_or(0);
            let mut nodes = vec![String::new(); radios];
            for &(radio, at) in cells.iter().flatten() {
                nodes[radio] = topology.owner_name(address(at)).to_string();
            }
            if let Some(listening) = capture.add_medium(number, frames.capture_link_type(), names, &nodes) {
                frames.listen(listening);
            }
        }
        capture.has_media()
    }

    /// What a link has that is no wire.
    #[inline(always)]
    fn carrier(&mut self, number: u32) -> &mut Carrier {
        &mut self.carriers[self.records[number as usize].carrier as usize]
    }

    /// All links, in order.
    pub fn links(&self) -> impl Iterator<Item = LinkView<'_>> {
        (0..self.links.len()).map(|number| {
            let first = self.records[number].first_attachment as usize;
            let next = self.records.get(number + 1).map(|record| record.first_attachment as usize);
            let addresses = &self.attachments[first..next.unwrap_or(self.attachments.len())];
            let of_interface = || addresses.first().map(|&address| &self.topology.interface(address).name);
            let name = self.names.get(&(number as u32)).or_else(of_interface);
            LinkView {
                number: LinkId(number as u32),
                name: name.map_or("", |name| &**name),
                addresses,
                link: &self.links[number].link,
            }
        })
    }

    /// A new packet's number.
    #[inline]
    pub fn next_packet_id(&self) -> PacketId {
        PacketId(self.created)
    }

    /// Takes a packet from a socket of `node`; `detail` describes it to the recorder.
    #[inline(always)]
    pub fn send(
        &mut self,
        moment: &mut Moment<'_>,
        node: NodeId,
        packet: Packet,
        detail: Option<Box<Detail>>,
    ) {
        let now = moment.now;
        self.create(now, node, &packet, detail);
        let egress = self.topology.egress(node, packet.source, packet.destination);
        self.put_out(moment, node, egress, packet);
    }

    /// The same by the interface to which routes lead.
    #[inline(always)]
    pub(crate) fn send_out(
        &mut self,
        moment: &mut Moment<'_>,
        node: NodeId,
        egress: Option<Address>,
        packet: Packet,
    ) {
        let now = moment.now;
        self.create(now, node, &packet, None);
        self.put_out(moment, node, egress, packet);
    }

    /// The same by a link that is no wire, where nobody watches.
    #[inline(always)]
    pub(crate) fn send_by_other(&mut self, moment: &mut Moment<'_>, link: (u32, Attachment), packet: Packet) {
        self.created += 1;
        let _ = self.put_on_other_link(moment, link, packet);
    }

    /// Takes a packet for a wire: its number, its place, and where it is now written.
    #[inline(always)]
    pub(crate) fn reserve(&mut self) -> (PacketId, Place, Blank<'_>) {
        let id = self.next_packet_id();
        self.created += 1;
        let (place, blank) = self.flights.reserve();
        (id, place, blank)
    }

    /// Sends a packet by this interface of its node, wherever routes would lead.
    pub fn send_by(
        &mut self,
        moment: &mut Moment<'_>,
        interface: Address,
        packet: Packet,
        detail: Option<Box<Detail>>,
    ) {
        let now = moment.now;
        let node = self.topology.owner(interface);
        self.create(now, node, &packet, detail);
        self.put_out(moment, node, Some(interface), packet);
    }

    /// Takes a new packet into the account.
    #[inline(always)]
    fn create(&mut self, now: Time, node: NodeId, packet: &Packet, detail: Option<Box<Detail>>) {
        self.created += 1;
        if let Some(recorder) = &mut self.recorder {
            recorder.sent(now, node, packet, detail.map(|detail| *detail));
        }
    }

    /// Sends a packet on toward its destination.
    #[inline(always)]
    fn forward(&mut self, moment: &mut Moment<'_>, node: NodeId, packet: Packet) {
        if self.tunnels.has_reverse() && self.tunnels.reverse(node, packet.source).is_some() {
            return self.enter_reverse_tunnel(moment, node, packet);
        }
        let egress = self.topology.route_to(node, packet.destination);
        self.put_out(moment, node, egress, packet);
    }

    #[inline(always)]
    pub(crate) fn put_out(
        &mut self,
        moment: &mut Moment<'_>,
        node: NodeId,
        egress: Option<Address>,
        packet: Packet,
    ) {
        match egress {
            Some(by) if self.goes_on_unseen(&packet) && self.processors.is_empty() => {
                let _ = self.put_on_link(moment, by, packet);
            }
            _ => self.put_out_otherwise(moment, node, egress, packet),
        }
    }

    /// The same where more is to be done than to hand the packet to a link.
    #[cold]
    fn put_out_otherwise(
        &mut self,
        moment: &mut Moment<'_>,
        node: NodeId,
        egress: Option<Address>,
        packet: Packet,
    ) {
        match egress {
            Some(by) => self.process(moment, node, Leaving { by, to_all: false, packet }),
            // A home agent's route to a mobile node that is away leads nowhere, but into the tunnel.
            None => self.put_into_tunnel(moment, node, packet),
        }
    }

    /// Whether nobody wants to know what becomes of a packet on its link.
    #[inline]
    fn goes_on_unseen(&self, packet: &Packet) -> bool {
        self.recorder.is_none() && packet.tunnel.is_none()
    }

    /// Hands a packet to the link of an interface, and accounts for a drop there.
    #[inline(always)]
    fn put_on_link(
        &mut self,
        moment: &mut Moment<'_>,
        address: Address,
        packet: Packet,
    ) -> Result<(), Dropped> {
        let (LinkId(number), attachment) = self.topology.attachment(address);
        if matches!(self.links[number as usize].link, AnyLink::Wire(_)) {
            let place = self.flights.add(packet);
            self.put_on_wire(moment, number, (place, Onward::BY_ROUTES))
        } else {
            self.put_on_other_link(moment, (number, attachment), packet)
        }
    }

    /// Whether there is a link of this number.
    #[inline(always)]
    fn has_link(&self, number: u32) -> bool {
        (number as usize) < self.links.len()
    }

    /// The same for a packet in its place, and a wire.
    #[inline(always)]
    pub(crate) fn put_on_wire(
        &mut self,
        moment: &mut Moment<'_>,
        number: u32,
        packet: (Place, Onward),
    ) -> Result<(), Dropped> {
        let slot = &mut self.links[number as usize];
        let AnyLink::Wire(wire) = &mut slot.link else {
            debug_assert!(false, "a link that is no wire");
            return Ok(());
        };
        match wire.put(moment, &mut self.flights, number, packet) {
            Ok(()) => Ok(()),
            Err((place, dropped)) => {
                self.drop_flying(number, place, dropped);
                Err(dropped)
            }
        }
    }

    /// The same for a packet and what is no wire; apart, so that it is out of the way of wires.
    #[inline(never)]
    fn put_on_other_link(
        &mut self,
        moment: &mut Moment<'_>,
        (number, attachment): (u32, Attachment),
        packet: Packet,
    ) -> Result<(), Dropped> {
        let now = moment.now;
        let (slot, record) = (&mut self.links[number as usize], &self.records[number as usize]);
        let account = Account::of(&packet);
        let carrier = &mut self.carriers[record.carrier as usize];
        let mut cx = Context { now, random: &mut carrier.random };
        let (outcome, deadline) = slot.link.enqueue(&mut cx, attachment, packet);
        carrier.alarm.arm(deadline, Event::Link(number), moment);
        if let Err(dropped) = outcome {
            self.count_drop(number, attachment, account, dropped);
        }
        outcome
    }

    /// As `put_on_link`, under the eyes of the recorder, and for a packet in a tunnel.
    #[cold]
    fn put_on_link_watched(&mut self, moment: &mut Moment<'_>, address: Address, packet: Packet) {
        let now = moment.now;
        let copy = packet.clone();
        let outcome = self.put_on_link(moment, address, packet);
        if let Err(dropped) = outcome
            && copy.tunnel.is_some()
        {
            self.tunnels.lost_on_the_way(dropped.at, &copy);
        }
        if let Some(recorder) = &mut self.recorder {
            let (LinkId(number), attachment) = self.topology.attachment(address);
            let waiting = self.links[number as usize].link.waiting_packets(attachment, now);
            recorder.transmitted(now, address, &copy, outcome.err(), waiting, &self.topology);
        }
    }

    /// Sends a packet that has come over a wire, and is on no way that was looked up, on toward its
    /// destination; from wire to wire it stays in its place.
    #[inline(never)]
    fn forward_flying(&mut self, moment: &mut Moment<'_>, node: NodeId, place: Place) {
        if !self.tunnels.has_reverse()
            && self.processors.is_empty()
            && let Some(by) = self.topology.route_to(node, self.flights.packet(&place).destination)
        {
            let (LinkId(number), _) = self.topology.attachment(by);
            if matches!(self.links[number as usize].link, AnyLink::Wire(_)) {
                let _ = self.put_on_wire(moment, number, (place, Onward::BY_ROUTES));
                return;
            }
        }
        self.forward_landed(moment, node, place);
    }

    /// The same where more is to be done than to hand the packet from wire to wire.
    #[inline(never)]
    fn forward_landed(&mut self, moment: &mut Moment<'_>, node: NodeId, place: Place) {
        let packet = self.flights.unload(place).take();
        self.forward(moment, node, packet);
    }

    /// A wire does not deliver a packet, whose place becomes free.
    #[cold]
    #[inline(never)]
    fn drop_flying(&mut self, number: u32, place: Place, dropped: Dropped) {
        let account = Account::of(&self.flights.unload(place));
        self.count_drop(number, Wire::SENDER, account, dropped);
    }

    /// A link does not deliver a packet: its account, and the network's.
    #[inline(always)]
    fn count_drop(&mut self, number: u32, from: Attachment, packet: Account, dropped: Dropped) {
        self.drops_of(number).of(dropped.reason, from).add(packet.bytes);
        self.end_in_a_drop(packet);
    }

    /// What a link has dropped.
    #[inline(always)]
    fn drops_of(&mut self, number: u32) -> &mut DropCounts {
        let drops = &mut self.records[number as usize].drops;
        if *drops == NO_DROPS {
            *drops = self.drops.len() as u32;
            self.drops.push(DropCounts::default());
        }
        &mut self.drops[*drops as usize]
    }

    /// The link by which packets go on from a node, and the node that it leads to where it is a wire.
    pub(crate) fn next_hop(
        &self,
        from: NodeId,
        [source, destination]: [Address; 2],
    ) -> Option<(LinkId, Option<NodeId>)> {
        let (link, _) = self.topology.attachment(self.topology.egress(from, source, destination)?);
        let slot = &self.links[link.0 as usize];
        let wire = matches!(slot.link, AnyLink::Wire(_) | AnyLink::ManagedWire(_));
        Some((link, wire.then_some(self.records[link.0 as usize].leads_to)))
    }

    /// The machine of a link.
    pub fn link(&self, link: LinkId) -> &AnyLink {
        &self.links[link.0 as usize].link
    }

    /// A link as one with stations, if it is one.
    pub fn stations(&self, link: LinkId) -> Option<&dyn Stations> {
        self.links[link.0 as usize].link.stations()
    }

    /// The same, to take it for a station's own or to mark a path.
    pub fn stations_mut(&mut self, link: LinkId) -> Option<&mut dyn Stations> {
        self.links[link.0 as usize].link.stations_mut()
    }

    /// The address of a link's attachment.
    pub fn address_of(&self, link: LinkId, attachment: Attachment) -> Address {
        self.attachments[(self.records[link.0 as usize].first_attachment + attachment.0) as usize]
    }

    /// A packet that was on its way is dropped: the account, and that of its application.
    #[inline]
    pub(crate) fn end_in_a_drop(&mut self, packet: Account) {
        self.dropped += 1;
        if let (Some(lost), Some(socket)) = (&mut self.lost_data, packet.data_for) {
            lost.push(socket);
        }
        if packet.is_segment {
            self.dropped_segments.count(packet.socket);
        }
        if packet.is_datagram_of_a_flow {
            let Account { socket, fragment_of, written, .. } = packet;
            self.lost_datagrams.push(LostDatagram { socket, fragment_of, written });
        }
    }

    #[cold]
    pub(crate) fn drop_unroutable(&mut self, now: Time, node: NodeId, packet: &Packet) {
        self.no_route.entry(node).or_default().add(packet.size_bytes);
        self.end_in_a_drop(Account::of(packet));
        if let Some(carried) = packet.carried() {
            *self.unroutable.entry(node).or_default().entry(carried).or_default() += 1;
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.unroutable(now, node, packet);
        }
    }

    /// A link gave up a packet that it had taken.
    #[cold]
    fn dropped_by_link(&mut self, number: u32, from: Attachment, packet: &Packet, dropped: Dropped) {
        self.count_drop(number, from, Account::of(packet), dropped);
        if packet.tunnel.is_some() {
            self.tunnels.lost_on_the_way(dropped.at, packet);
        }
        if let Some(recorder) = &mut self.recorder {
            let first = self.records[number as usize].first_attachment;
            let address = self.attachments[(first + from.0) as usize];
            recorder.dropped_by_link(address, packet, dropped, &self.topology);
        }
    }

    /// Arms the first wake-up of links that have work without a packet.
    pub fn start(&mut self, moment: &mut Moment<'_>) {
        for number in 0..self.links.len() as u32 {
            self.rearm(number, moment);
        }
        (0..self.links.len() as u32).for_each(|number| self.arm_indications(moment, number));
    }

    /// Tells every link that the run has ended.
    pub fn finish(&mut self, end: Time) {
        self.links.iter_mut().for_each(|slot| slot.link.finish(end));
    }

    /// The run has ended, and its packets have been counted: nobody asks any more what is on wires, and which
    /// ways it goes.
    pub fn forget_packets(&mut self) {
        self.flights = Flights::default();
        self.topology.ways = Default::default();
    }

    /// A warm-up is over: as of [`Link::forget_longest`].
    pub(crate) fn forget_longest(&mut self, now: Time) {
        self.links.iter_mut().for_each(|slot| slot.link.forget_longest(now));
    }

    /// Drops by place and reason, in the order of the links.
    pub fn drops(&self) -> impl Iterator<Item = Drops<'_>> {
        self.links().zip(&self.records).flat_map(|(link, record)| {
            let counts = self.drops.get(record.drops as usize).into_iter().flat_map(|drops| &drops.0);
            counts.map(move |&((reason, from), count)| Drops { link, from, reason, count })
        })
    }

    /// Packets of flows that this node had no route for since this was last asked, by what they carried.
    pub(crate) fn take_unroutable(&mut self, node: NodeId) -> BTreeMap<Carried, u64> {
        self.unroutable.remove(&node).unwrap_or_default()
    }

    /// Packets that no route led on, by node.
    pub fn no_route_drops(&self) -> impl Iterator<Item = (NodeId, DropCount)> + '_ {
        self.no_route.iter().map(|(&node, &count)| (node, count))
    }
}
