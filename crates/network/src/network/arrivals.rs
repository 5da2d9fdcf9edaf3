//! Packets that leave links: delivered to the node, or forwarded.

use super::Network;
use crate::alarm::Moment;
use crate::event::Event;
use crate::link::flight::{Landed, Place, Unloaded};
use crate::link::wired::Wire;
use crate::link::{AnyLink, Attachment, First, Link, Work};
use crate::packet::{AppMessage, Message, Packet, Pdu};
use crate::topology::{LinkId, NodeId};
use roamsim_engine::Time;
use roamsim_engine::queue::Reserved;
use roamsim_protocols::Machine;
use roamsim_protocols::tcp::Segment;

/// What becomes of a packet that has come over a wire.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Landing {
    /// It is on the next wire.
    Flies,
    /// It is for a socket of the node behind the wire.
    Here(Place),
    /// Something else: it may have been dropped.
    Elsewhere,
}

/// What has come over a link that is no wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coming {
    /// Nothing more: its next deadline.
    Nothing(Option<Time>),
    /// A message for the user of a socket of UDP, in a packet of so many octets.
    Message {
        /// The socket.
        socket: u32,
        /// Octets, network headers included.
        size_bytes: u32,
        /// The message.
        message: AppMessage,
    },
    /// A segment, if there is one for [`Network::coming_segment`]; if not, what is taken with
    /// [`Network::poll_arrival`].
    Packet,
}

impl Network {
    /// Whether the wake-up of a link that is no wire is still meant: it has something to do then, which it
    /// does with [`Network::work`].
    #[inline]
    pub(crate) fn carrier_fires(&mut self, now: Time, number: u32) -> bool {
        self.carrier(number).alarm.fires(now)
    }

    /// The packet in a place of this number has come over its wire; and whether others may have come with it.
    #[inline(always)]
    pub(crate) fn take_landed(&mut self, number: u32) -> (Landed, bool) {
        let landed = self.flights.land(number);
        let may_have_others = self.wire(landed.wire).is_some_and(Wire::take);
        (landed, may_have_others)
    }

    /// A packet that was taken before, by the number of its place.
    pub(crate) fn taken(&self, number: u32) -> Landed {
        self.flights.land(number)
    }

    /// The same of one that has come with the one before it.
    pub(crate) fn take_joined(&mut self, number: u32) -> Landed {
        let landed = self.flights.land(number);
        if let Some(wire) = self.wire(landed.wire) {
            wire.take_joined();
        }
        landed
    }

    /// What has come over a wire has been dealt with: the next arrival there has its place among simultaneous
    /// events now.
    #[inline(always)]
    pub(crate) fn pass_turn(&mut self, moment: &mut Moment<'_>, number: u32) {
        if let Some(turn) = self.turns.get_mut(number as usize) {
            *turn = Some(moment.reserve());
        }
    }

    /// The place among simultaneous events of the arrival of a packet, where it was not pushed with it.
    pub(crate) fn turn_of(&self, number: u32) -> Option<Reserved> {
        self.turns[self.flights.wire(number) as usize]
    }

    #[inline(always)]
    fn wire(&mut self, number: u32) -> Option<&mut Wire> {
        match &mut self.links[number as usize].link {
            AnyLink::Wire(wire) => Some(wire),
            _ => None,
        }
    }

    /// A wire has nothing to do: it knows what it drops when it takes it, and indicates by itself. Other
    /// links work, and may have dropped something, or have link events. What has arrived is taken with
    /// [`Network::poll_arrival`].
    #[inline(always)]
    pub(crate) fn work(&mut self, moment: &mut Moment<'_>, number: u32, most_events: u64) -> Work {
        let random = &mut self.carriers[self.records[number as usize].carrier as usize].random;
        let work = self.links[number as usize].link.work(moment, random, most_events);
        if let Some(recorder) = &mut self.recorder
            && let Some(frames) = self.links[number as usize].link.frames_mut()
        {
            recorder.frames(number, frames);
        }
        while work.dropped
            && let Some((from, packet, dropped)) = self.links[number as usize].link.poll_drop()
        {
            self.dropped_by_link(number, from, &packet, dropped);
        }
        if work.indication.is_some() {
            self.arm_indications(moment, number);
        }
        work
    }

    /// Makes sure that a link wakes at its next deadline.
    #[inline]
    pub(crate) fn arm_link(&mut self, moment: &mut Moment<'_>, number: u32, deadline: Option<Time>) {
        self.carrier(number).alarm.arm(deadline, Event::Link(number), moment);
    }

    /// A packet has come over a wire: what is for other nodes goes on. What is for a socket of the node
    /// behind it leaves its place with [`Network::unload`].
    #[inline(always)]
    pub(crate) fn land(
        &mut self,
        moment: &mut Moment<'_>,
        Landed { place, wire, onward, .. }: Landed,
    ) -> Landing {
        let Some(next) = self.topology.ways.step(onward) else {
            return self.land_by_routes(moment, wire, place);
        };
        if self.has_link(next) {
            return match self.put_on_wire(moment, next, (place, onward.next())) {
                Ok(()) => Landing::Flies,
                Err(_) => Landing::Elsewhere,
            };
        }
        self.delivered += 1;
        Landing::Here(place)
    }

    /// The same for a packet that is on no way that was looked up.
    #[inline(never)]
    fn land_by_routes(&mut self, moment: &mut Moment<'_>, number: u32, place: Place) -> Landing {
        let packet = self.flights.packet(&place);
        let is_from_outside = matches!(packet.pdu, Pdu::Octets(_));
        if self.recorder.is_some() || packet.is_broadcast() || packet.tunnel.is_some() || is_from_outside {
            return self.arrive_otherwise(moment, number, place).map_or(Landing::Elsewhere, Landing::Here);
        }
        let node = self.records[number as usize].leads_to;
        if self.topology.owner(packet.destination) == node {
            self.delivered += 1;
            return Landing::Here(place);
        }
        self.forward_flying(moment, node, place);
        Landing::Elsewhere
    }

    /// A packet has come over a wire that somebody watches, or that is no packet like others; returned is the
    /// place of what is for a socket of the node behind it.
    #[cold]
    fn arrive_otherwise(&mut self, moment: &mut Moment<'_>, number: u32, place: Place) -> Option<Place> {
        let packet = self.flights.unload(place).take();
        let packet = self.arrive(moment, (number, Wire::RECEIVER), packet)?;
        Some(self.flights.add(packet))
    }

    /// The packet in a place, where it has come to its end.
    #[inline(always)]
    pub(crate) fn landed(&self, place: &Place) -> &Packet {
        self.flights.packet(place)
    }

    /// The same: its place is free.
    #[inline(always)]
    pub(crate) fn unload(&mut self, place: Place) -> Unloaded<'_> {
        self.flights.unload(place)
    }

    /// What has come next over a link that is no wire, where it is an application's datagram for the node
    /// behind it that nobody else wants to see: it is read where it lies.
    #[inline(always)]
    pub(crate) fn poll_coming(&mut self, number: u32) -> Coming {
        let slot = &mut self.links[number as usize];
        let Some(arrived) = slot.link.arrived() else { return Coming::Packet };
        let Some((Attachment(at), packet)) = arrived.front() else {
            return Coming::Nothing(slot.link.poll_timeout());
        };
        let Pdu::Udp(_, Message::Application(message)) = packet.pdu else { return Coming::Packet };
        let node = self
            .topology
            .owner(self.attachments[(self.records[number as usize].first_attachment + at) as usize]);
        let is_plain = self.recorder.is_none() && !packet.is_broadcast() && packet.tunnel.is_none();
        if !is_plain || self.topology.owner(packet.destination) != node {
            return Coming::Packet;
        }
        let coming = Coming::Message { socket: packet.socket, size_bytes: packet.size_bytes, message };
        arrived.pop_front();
        self.delivered += 1;
        coming
    }

    /// What has come next over a link that is no wire, where it is a segment of TCP for the node behind it
    /// that nobody else wants to see: it leaves with [`Network::clear_coming`]. Where nothing has come, the
    /// link's next deadline.
    #[inline(always)]
    pub(crate) fn coming_segment(&self, number: u32) -> Result<Option<(&Packet, &Segment)>, Option<Time>> {
        let link = &self.links[number as usize].link;
        let (Attachment(at), packet) = match link.first_arrived() {
            First::Packet(at, packet) => (at, packet),
            First::Nothing => return Err(link.poll_timeout()),
            First::Unknown => return Ok(None),
        };
        let Pdu::Tcp(segment) = &packet.pdu else { return Ok(None) };
        let at = self.attachments[(self.records[number as usize].first_attachment + at) as usize];
        let is_for_it = self.recorder.is_none()
            && packet.tunnel.is_none()
            && self.topology.owner(packet.destination) == self.topology.owner(at);
        Ok(is_for_it.then_some((packet, segment)))
    }

    /// A segment that has come over a link that is no wire has been taken, and its place is free.
    #[inline(always)]
    pub(crate) fn clear_coming(&mut self, number: u32) {
        self.delivered += 1;
        self.links[number as usize].link.clear_arrived();
    }

    /// The next packet that has come over a link that is no wire for a socket of the node behind it; what is
    /// for other nodes is forwarded on the way. At the end the link's next deadline.
    #[inline(never)]
    pub(crate) fn poll_arrival(
        &mut self,
        moment: &mut Moment<'_>,
        number: u32,
    ) -> Result<Packet, Option<Time>> {
        let now = moment.now;
        loop {
            let slot = &mut self.links[number as usize];
            let (attachment, packet) = slot.link.take(now)?;
            let is_copy = matches!(&slot.link, AnyLink::ManagedWire(wire) if wire.delivered_a_copy());
            let packet = if is_copy { self.take_copy(now, number, packet) } else { packet };
            if let Some(packet) = self.arrive(moment, (number, attachment), packet) {
                return Ok(packet);
            }
        }
    }

    /// A link has made a copy of a packet: it is a packet of its own in the account, with a number and an
    /// end.
    #[cold]
    fn take_copy(&mut self, now: Time, number: u32, packet: Packet) -> Packet {
        let copy = Packet { id: self.next_packet_id(), ..packet };
        self.created += 1;
        if matches!(copy.pdu, Pdu::Tcp(_)) {
            self.dropped_segments.count_copy(copy.socket);
        }
        let from = self.address_of(LinkId(number), Attachment(0));
        if let Some(recorder) = &mut self.recorder {
            recorder.copied(now, from, packet.id, &copy, &self.topology);
        }
        copy
    }

    /// A packet has come over a link; returned is what is for a socket of the node behind it.
    #[inline]
    fn arrive(
        &mut self,
        moment: &mut Moment<'_>,
        (link, attachment): (u32, Attachment),
        packet: Packet,
    ) -> Option<Packet> {
        let now = moment.now;
        let address = self.address_of(LinkId(link), attachment);
        let node = self.topology.owner(address);
        if let Some(recorder) = &mut self.recorder {
            recorder.received(now, address, &packet);
        }
        if packet.is_broadcast() {
            return Some(self.hand_up_broadcast(now, address, packet));
        }
        if self.topology.owner(packet.destination) != node {
            self.forward(moment, node, packet);
            return None;
        }
        if packet.tunnel.is_some() {
            return self.leave_tunnel(moment, node, packet);
        }
        self.hand_up(now, node, packet)
    }

    /// A packet has come to its node: returned is what is for a socket there. Octets are sorted by
    /// their port, or leave the simulation.
    pub(super) fn hand_up(&mut self, now: Time, node: NodeId, mut packet: Packet) -> Option<Packet> {
        if let Pdu::Octets(octets) = &packet.pdu {
            let Some(socket) = self.edge.socket_for(node, octets) else {
                self.emit(now, node, &packet);
                return None;
            };
            packet.socket = socket;
        }
        self.delivered += 1;
        if let Some(recorder) = &mut self.recorder {
            recorder.delivered(now, node, &packet);
        }
        Some(packet)
    }
}

#[cfg(test)]
impl Network {
    /// What a run does with the packet in a place of this number, which has come over a wire, and with those
    /// that have come with it. Returned is what is for sockets of the node behind.
    pub(crate) fn land_all(&mut self, moment: &mut Moment<'_>, number: u32) -> Vec<Packet> {
        let mut here = Vec::new();
        let mut next = self.take_landed(number).0;
        let wire = next.wire;
        loop {
            let with = next.with;
            if let Landing::Here(place) = self.land(moment, next) {
                here.push(self.unload(place).take());
            }
            if with == Landed::ALONE {
                self.pass_turn(moment, wire);
                return here;
            }
            next = self.take_joined(with);
        }
    }
}
