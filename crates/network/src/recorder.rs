//! What a run records when asked to: time series, the story of every packet, a capture, fingerprints.

use crate::capture::{Capture, Direction};
use crate::drops::{DropReason, Dropped};
use crate::ends::SocketId;
use crate::link::frames::Frames;
use crate::link::indication::LinkEvent;
use crate::octets::protocol_name;
use crate::packet::{InnerHeader, Packet, PacketId};
use crate::segment_log::{SegmentEvent, SegmentRow, StreamPart};
use crate::subject::Subject;
use crate::topology::{NodeId, Topology};
use crate::trace::Trace;
use roamsim_engine::log::{Log, Timed};
use roamsim_engine::probe::Probe;
use roamsim_engine::{Fingerprint, Time};
use roamsim_protocols::{Address, IpAddresses};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What happened to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketEvent {
    /// Its transport handed it to IP.
    Sent,
    /// A node put it on a link (routers included).
    Transmitted,
    /// IP handed it to its transport.
    Delivered,
    /// It ended on the way.
    Dropped,
    /// A link made it, of another one.
    Duplicated,
}

impl PacketEvent {
    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            PacketEvent::Sent => "sent",
            PacketEvent::Transmitted => "transmitted",
            PacketEvent::Delivered => "delivered",
            PacketEvent::Dropped => "dropped",
            PacketEvent::Duplicated => "duplicated",
        }
    }
}

/// A line of a packet's story.
#[derive(Clone, Debug, PartialEq)]
pub struct PacketRow {
    /// Which packet.
    pub packet: PacketId,
    /// When.
    pub time: Time,
    /// What.
    pub event: PacketEvent,
    /// At which node.
    pub node: NodeId,
    /// For whom it is, whatever tunnel it is in; `None`: for all who hear it.
    pub destination: Option<Address>,
    /// The socket that it is for, if it is for one.
    pub socket: Option<SocketId>,
    /// On which link, if it was on one.
    pub way: Option<Subject>,
    /// Of a drop, why.
    pub reason: Option<DropReason>,
    /// "tcp", "udp", "sctp" or "icmp"; "ip" for any other protocol of a program outside.
    pub protocol: &'static str,
    /// What it carries, in words.
    pub description: String,
    /// Octets, network header included.
    pub size_bytes: u32,
}

impl Timed for PacketRow {
    fn time(&self) -> Time {
        self.time
    }
}

/// The state of a sender, from then on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateRow {
    /// When.
    pub time: Time,
    /// Whose.
    pub sender: SocketId,
    /// Of its congestion control.
    pub state: &'static str,
    /// What it repairs; empty if nothing.
    pub repair: &'static str,
}

impl Timed for StateRow {
    fn time(&self) -> Time {
        self.time
    }
}

/// A message that a flow has delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageRow {
    /// The flow's number.
    pub flow: u32,
    /// The message's number in its flow, from zero.
    pub sequence: u64,
    /// When its application wrote it.
    pub generated: Time,
    /// When all of it had been delivered, in order over TCP.
    pub delivered: Time,
    /// Its length.
    pub bytes: u32,
}

impl Timed for MessageRow {
    fn time(&self) -> Time {
        self.delivered
    }
}

/// A link event at the end of a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkEventRow {
    /// When.
    pub time: Time,
    /// The interface whose node it is for.
    pub at: Address,
    /// What.
    pub event: LinkEvent,
}

impl Timed for LinkEventRow {
    fn time(&self) -> Time {
        self.time
    }
}

/// What the sockets know of a packet and the network does not.
#[derive(Clone, Debug, Default)]
pub struct Detail {
    /// What it carries, in words.
    pub description: String,
    /// The octets that its transport carries; empty without a capture.
    pub payload: Vec<u8>,
    /// The parts of its sender's stream that it carries, where segments are recorded.
    pub parts: Vec<StreamPart>,
}

#[derive(Clone)]
struct Traced {
    description: String,
    octets: Vec<u8>,
    parts: Vec<StreamPart>,
}

/// A time series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Series {
    /// What it is about.
    pub subject: Subject,
    /// Which of its quantities it holds, such as "cwnd".
    pub quantity: &'static str,
    /// The unit of its values.
    pub unit: &'static str,
}

/// The recorder of one run.
pub struct Recorder {
    /// The traces that are kept.
    pub trace: Trace,
    /// Whether packets between nodes, and events, are digested.
    pub fingerprints: bool,
    /// Time series.
    pub probe: Probe<Series>,
    series: BTreeMap<(Subject, &'static str), u32>,
    last: BTreeMap<u32, f64>,
    /// How addresses are written.
    pub addresses: Arc<IpAddresses>,
    /// The capture, if one is written.
    pub capture: Option<Capture>,
    /// The stories of all packets. A loss is known when the packet is queued, but happens when its last bit
    /// has been sent.
    pub packets: Log<PacketRow>,
    /// What became of the streams of TCP and SCTP senders; of losses holds the same.
    pub segments: Log<SegmentRow>,
    /// States of TCP senders.
    pub states: Log<StateRow>,
    last_states: BTreeMap<SocketId, (&'static str, &'static str)>,
    /// The messages that flows delivered.
    pub messages: Log<MessageRow>,
    /// Link events.
    pub link_events: Log<LinkEventRow>,
    traced: BTreeMap<PacketId, Traced>,
    packets_digest: Fingerprint,
}

impl Recorder {
    /// A recorder of these traces, of fingerprints, of a capture.
    pub fn new(trace: Trace, fingerprints: bool, capture: Option<Capture>) -> Recorder {
        Recorder {
            trace,
            fingerprints,
            probe: Probe::default(),
            series: BTreeMap::new(),
            last: BTreeMap::new(),
            addresses: Arc::default(),
            capture,
            packets: Log::default(),
            segments: Log::default(),
            states: Log::default(),
            last_states: BTreeMap::new(),
            messages: Log::default(),
            link_events: Log::default(),
            traced: BTreeMap::new(),
            packets_digest: Fingerprint::default(),
        }
    }

    /// Records a link event, if they are wanted.
    pub(crate) fn link_event(&mut self, time: Time, at: Address, event: LinkEvent) {
        if self.trace.link_events {
            self.link_events.push(LinkEventRow { time, at, event });
        }
    }

    /// Records a message that has been delivered.
    pub(crate) fn message(&mut self, row: MessageRow) {
        self.messages.push(row);
    }

    /// Records what became of a part of a stream.
    pub fn segment(&mut self, time: Time, event: SegmentEvent, part: StreamPart) {
        self.segment_for(time, event, "", part);
    }

    /// The same for a reason.
    pub fn segment_for(&mut self, time: Time, event: SegmentEvent, reason: &'static str, part: StreamPart) {
        self.segments.push(SegmentRow { time, event, reason, part });
    }

    /// Records the state of a sender, unless it is as it was.
    pub fn state(&mut self, time: Time, sender: SocketId, state: &'static str, repair: &'static str) {
        if self.last_states.insert(sender, (state, repair)) != Some((state, repair)) {
            self.states.push(StateRow { time, sender, state, repair });
        }
    }

    /// The rows of all traces together.
    pub fn rows(&self) -> u64 {
        let logs = self.packets.count() + self.segments.count() + self.messages.count();
        logs + self.states.count() + self.link_events.count() + self.probe.samples.count()
    }

    /// The digest of packets between nodes: time, place, size of every transmission and delivery.
    pub fn packets_fingerprint(&self) -> u64 {
        self.packets_digest.value()
    }

    /// Whether sockets have to describe their packets.
    pub fn wants_details(&self) -> bool {
        self.trace.packets || self.capture.is_some()
    }

    /// Records a value of a quantity of a subject.
    pub fn sample(
        &mut self,
        now: Time,
        subject: Subject,
        quantity: &'static str,
        unit: &'static str,
        value: f64,
    ) {
        let series = match self.series.get(&(subject, quantity)) {
            Some(&series) => series,
            None => {
                let series = self.probe.series(Series { subject, quantity, unit });
                self.series.insert((subject, quantity), series);
                series
            }
        };
        self.probe.record(now, series, value);
    }

    /// The same, only when the value differs from the last.
    pub fn sample_change(
        &mut self,
        now: Time,
        subject: Subject,
        quantity: &'static str,
        unit: &'static str,
        value: f64,
    ) {
        if let Some(&series) = self.series.get(&(subject, quantity))
            && self.last.get(&series) == Some(&value)
        {
            return;
        }
        self.sample(now, subject, quantity, unit, value);
        self.last.insert(self.series[&(subject, quantity)], value);
    }

    fn digest(&mut self, now: Time, place: u32, packet: &Packet) {
        for value in [now.as_ns(), u64::from(place), packet.id.0, u64::from(packet.size_bytes)] {
            self.packets_digest.add(value);
        }
    }

    fn row(
        &mut self,
        time: Time,
        event: PacketEvent,
        node: NodeId,
        way: Option<Subject>,
        reason: Option<DropReason>,
        packet: &Packet,
    ) {
        if !self.trace.packets {
            return;
        }
        let description = self.traced.get(&packet.id).map(|traced| traced.description.clone());
        self.packets.push(PacketRow {
            packet: packet.id,
            time,
            event,
            node,
            destination: (!packet.is_broadcast())
                .then(|| packet.tunnel.map_or(packet.destination, InnerHeader::destination)),
            socket: packet.socket_id().filter(|_| !packet.is_broadcast()),
            way,
            reason,
            protocol: protocol_name(packet.pdu.protocol()),
            description: match (packet.tunnel, description) {
                (Some(_), description) => format!("in a tunnel: {}", description.unwrap_or_default()),
                (None, description) => description.unwrap_or_default(),
            },
            size_bytes: packet.size_bytes,
        });
    }

    /// A socket has sent a packet.
    pub(crate) fn sent(&mut self, now: Time, node: NodeId, packet: &Packet, detail: Option<Detail>) {
        if let Some(detail) = detail {
            let octets = match &self.capture {
                Some(capture) => capture.octets(packet, &detail.payload, &self.addresses),
                None => Vec::new(),
            };
            let traced = Traced { description: detail.description, octets, parts: detail.parts };
            self.traced.insert(packet.id, traced);
        }
        self.row(now, PacketEvent::Sent, node, None, None, packet);
    }

    /// A node has put a packet on a link, which may have dropped it.
    pub(crate) fn transmitted(
        &mut self,
        now: Time,
        at: Address,
        packet: &Packet,
        dropped: Option<Dropped>,
        waiting: usize,
        topology: &Topology,
    ) {
        let (owner, interface) = (topology.owner(at), topology.interface(at));
        if self.fingerprints {
            self.digest(now, at.0, packet);
        }
        if self.trace.queue {
            self.sample(now, Subject::Interface(at), "queue", "packets", waiting as f64);
        }
        if let (Some(capture), Some(traced)) = (&mut self.capture, self.traced.get_mut(&packet.id)) {
            let node = |id| &topology.node(id).name;
            let place = format!("{} ({} to {})", interface.name, node(owner), node(interface.neighbour));
            let dropped = dropped.map(|dropped| (dropped, place.as_str()));
            let octets = capture.on_the_way(packet, &mut traced.octets, &self.addresses);
            capture.packet(now, at, Direction::Outbound, &octets, dropped);
        }
        self.passed(now, owner, Subject::Interface(at), dropped, packet);
        if let Some(dropped) = dropped {
            self.lost(dropped.at, packet);
        }
    }

    /// A link has given up a packet that it had taken from the interface.
    pub(crate) fn dropped_by_link(
        &mut self,
        at: Address,
        packet: &Packet,
        dropped: Dropped,
        topology: &Topology,
    ) {
        self.passed(dropped.at, topology.owner(at), Subject::Interface(at), Some(dropped), packet);
        self.lost(dropped.at, packet);
    }

    /// A base station has sent a packet to all its stations: each copy with its number and how it was lost.
    pub(crate) fn broadcast(
        &mut self,
        now: Time,
        at: Address,
        packet: &Packet,
        copies: &[(PacketId, Option<Dropped>)],
        waiting: usize,
        topology: &Topology,
    ) {
        let owner = topology.owner(at);
        let place = format!("{} ({} to all)", topology.interface(at).name, topology.node(owner).name);
        if self.fingerprints {
            self.digest(now, at.0, packet);
        }
        if self.trace.queue {
            self.sample(now, Subject::Broadcast(at), "queue", "packets", waiting as f64);
        }
        let traced = self.traced.get(&packet.id).cloned();
        if let (Some(capture), Some(traced)) = (&mut self.capture, &traced) {
            let dropped = copies.iter().find_map(|(_, dropped)| *dropped).filter(|_| copies.len() == 1);
            capture.packet(
                now,
                at,
                Direction::Outbound,
                &traced.octets,
                dropped.map(|d| (d, place.as_str())),
            );
        }
        for &(id, dropped) in copies {
            if let Some(traced) = &traced {
                self.traced.insert(id, traced.clone());
            }
            let copy = Packet { id, ..packet.clone() };
            self.passed(now, owner, Subject::Broadcast(at), dropped, &copy);
            if let Some(dropped) = dropped {
                self.lost(dropped.at, &copy);
            }
        }
    }

    /// The link that a packet has taken from the interface has made this copy of it.
    #[cold]
    pub(crate) fn copied(
        &mut self,
        now: Time,
        at: Address,
        of: PacketId,
        copy: &Packet,
        topology: &Topology,
    ) {
        if let Some(traced) = self.traced.get(&of) {
            // What becomes of the copy is nothing that its sender loses.
            let traced = Traced { parts: Vec::new(), ..traced.clone() };
            self.traced.insert(copy.id, traced);
        }
        let node = topology.owner(at);
        self.row(now, PacketEvent::Duplicated, node, Some(Subject::Interface(at)), None, copy);
    }

    /// A packet has taken a link, or the link has dropped it.
    fn passed(&mut self, now: Time, node: NodeId, way: Subject, dropped: Option<Dropped>, packet: &Packet) {
        let (at, event) = match dropped {
            Some(dropped) => (dropped.at, PacketEvent::Dropped),
            None => (now, PacketEvent::Transmitted),
        };
        self.row(at, event, node, Some(way), dropped.map(|dropped| dropped.reason), packet);
    }

    /// A node has no route for a packet.
    pub(crate) fn unroutable(&mut self, now: Time, node: NodeId, packet: &Packet) {
        self.dropped_at(now, node, DropReason::NoRoute, packet);
    }

    /// A node has dropped a packet.
    pub(crate) fn dropped_at(&mut self, now: Time, node: NodeId, reason: DropReason, packet: &Packet) {
        self.row(now, PacketEvent::Dropped, node, None, Some(reason), packet);
        self.lost(now, packet);
    }

    /// A packet has ended on the way.
    fn lost(&mut self, at: Time, packet: &Packet) {
        let Some(traced) = self.traced.remove(&packet.id) else { return };
        for part in traced.parts {
            self.segment(at, SegmentEvent::Lost, part);
        }
    }

    /// A packet has come in at an interface.
    pub(crate) fn received(&mut self, now: Time, at: Address, packet: &Packet) {
        if self.fingerprints {
            self.digest(now, u32::MAX - at.0, packet);
        }
        if let (Some(capture), Some(traced)) = (&mut self.capture, self.traced.get_mut(&packet.id)) {
            let octets = capture.on_the_way(packet, &mut traced.octets, &self.addresses);
            capture.packet(now, at, Direction::Inbound, &octets, None);
        }
    }

    /// Frames that are over, of a link whose frames may be captured.
    #[cold]
    pub(crate) fn frames(&mut self, link: u32, frames: &mut dyn Frames) {
        let Some(capture) = &mut self.capture else { return };
        loop {
            let mut octets_of = |packet: &Packet| {
                let traced = self.traced.get_mut(&packet.id)?;
                Some(capture.on_the_way(packet, &mut traced.octets, &self.addresses).into_owned())
            };
            let Some(frame) = frames.poll_captured(&mut octets_of) else { return };
            capture.frame(link, &frame);
        }
    }

    /// A packet has reached its socket.
    pub(crate) fn delivered(&mut self, now: Time, node: NodeId, packet: &Packet) {
        self.row(now, PacketEvent::Delivered, node, None, None, packet);
        self.traced.remove(&packet.id);
    }
}
