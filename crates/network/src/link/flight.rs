//! Packets on their way over wires. A packet is written once, and stays where it is until it has arrived for
//! good: from wire to wire its place is handed on, and what wakes a run for its arrival is that place. Places
//! that have become free are used again first, so that those in use stay in the cache, however many wires
//! there are.

use crate::ends::Onward;
use crate::packet::{BROADCAST, Icmp, Packet, PacketId, Pdu};
use crate::traffic_class::TrafficClass;
use std::mem;
use std::ops::Deref;

/// The place of a packet among the [`Flights`]. There is one of each, so that none is used when its packet is
/// gone.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Place(u32);

/// No place.
const NONE: u32 = u32::MAX;

/// What owns nothing: where a packet was.
const NOTHING: Pdu = Pdu::Icmp(Icmp::AgentSolicitation);

/// A place, and the packet in it; in a free one, what is left of one, which owns nothing. What nodes on its
/// way ask for is in the first line of the cache.
#[derive(Debug)]
#[repr(C, align(64))]
struct Flight {
    /// The packet that arrives with it, or among the free ones the place behind it.
    next: u32,
    /// The wire that it is on.
    wire: u32,
    /// Where it goes from there.
    onward: Onward,
    packet: Packet,
}

/// A packet at the end of a wire.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Landed {
    /// The packet.
    pub place: Place,
    /// The number of the wire.
    pub wire: u32,
    /// Where it goes on.
    pub onward: Onward,
    /// The number of the place of another one that has come over the wire at the same instant, unless it is
    /// [`Landed::ALONE`].
    pub with: u32,
}

impl Landed {
    /// No other one has.
    pub(crate) const ALONE: u32 = NONE;
}

/// A place that a packet is now written into.
#[derive(Debug)]
pub(crate) struct Blank<'a>(&'a mut Packet);

impl Blank<'_> {
    /// Writes it.
    #[inline(always)]
    pub fn write(self, packet: Packet) {
        // What is left of another one owns nothing: it need not be asked.
        mem::forget(mem::replace(self.0, packet));
    }
}

/// A packet that is at its end, and is read before its place, which is free already, is used again.
#[derive(Debug)]
pub(crate) struct Unloaded<'a>(&'a mut Packet);

impl Unloaded<'_> {
    /// Takes it out.
    #[inline(always)]
    pub fn take(self) -> Packet {
        let Packet { id, source, destination, socket, size_bytes, traffic_class, tunnel, .. } = *self.0;
        let pdu = mem::replace(&mut self.0.pdu, NOTHING);
        mem::forget(self);
        Packet { id, source, destination, socket, size_bytes, traffic_class, tunnel, pdu }
    }
}

impl Deref for Unloaded<'_> {
    type Target = Packet;

    #[inline(always)]
    fn deref(&self) -> &Packet {
        self.0
    }
}

impl Drop for Unloaded<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        // A segment without SACK blocks owns nothing: said here, where it is cheap to ask.
        if !self.0.is_plain_segment() {
            self.0.pdu = NOTHING;
        }
    }
}

/// All packets on wires.
#[derive(Debug)]
pub(crate) struct Flights {
    places: Vec<Flight>,
    /// The place that became free last.
    free: u32,
}

impl Default for Flights {
    fn default() -> Flights {
        Flights { places: Vec::new(), free: NONE }
    }
}

impl Flights {
    /// Gives a packet its place.
    #[inline(always)]
    pub fn add(&mut self, packet: Packet) -> Place {
        let (place, blank) = self.reserve();
        blank.write(packet);
        place
    }

    /// The place of a packet that is now written into it.
    #[inline(always)]
    pub fn reserve(&mut self) -> (Place, Blank<'_>) {
        if self.free == NONE {
            self.add_place();
        }
        let number = self.free;
        let flight = &mut self.places[number as usize];
        self.free = flight.next;
        (Place(number), Blank(&mut flight.packet))
    }

    #[cold]
    fn add_place(&mut self) {
        self.free = self.places.len() as u32;
        let packet = Packet {
            id: PacketId(0),
            source: BROADCAST,
            destination: BROADCAST,
            socket: 0,
            size_bytes: 0,
            traffic_class: TrafficClass::default(),
            tunnel: None,
            pdu: NOTHING,
        };
        self.places.push(Flight { packet, next: NONE, wire: 0, onward: Onward::BY_ROUTES });
    }

    /// The packet in a place.
    #[inline(always)]
    pub fn packet(&self, place: &Place) -> &Packet {
        &self.places[place.0 as usize].packet
    }

    /// A packet is on a wire of this number, and goes on so from its end. Returned is its place.
    #[inline(always)]
    pub fn depart(&mut self, Place(number): Place, wire: u32, onward: Onward) -> u32 {
        let flight = &mut self.places[number as usize];
        (flight.next, flight.wire, flight.onward) = (NONE, wire, onward);
        number
    }

    /// The packet in a place of this number arrives with the one in another.
    #[cold]
    pub fn join(&mut self, first: u32, number: u32) {
        self.places[first as usize].next = number;
    }

    /// The packet in a place of this number has come to the end of its wire.
    #[inline(always)]
    pub fn land(&self, number: u32) -> Landed {
        let flight = &self.places[number as usize];
        Landed { place: Place(number), wire: flight.wire, onward: flight.onward, with: flight.next }
    }

    /// The wire that the packet in a place of this number is on.
    pub fn wire(&self, number: u32) -> u32 {
        self.places[number as usize].wire
    }

    /// Frees a place, whose packet is at its end, and is read or taken now.
    #[inline(always)]
    pub fn unload(&mut self, Place(number): Place) -> Unloaded<'_> {
        let flight = &mut self.places[number as usize];
        flight.next = self.free;
        self.free = number;
        Unloaded(&mut flight.packet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::PacketId;
    use crate::testing::datagram;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    #[test]
    fn a_flight_is_two_lines_of_the_cache() {
        assert_eq!(size_of::<Flight>(), 128);
    }

    #[derive(Clone, Copy, Debug)]
    enum Step {
        /// A new packet on a wire.
        Send(usize),
        /// What has come to the end of a wire goes on over another one, or is taken.
        Arrive(usize, Option<usize>),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            (0usize..3).prop_map(Step::Send),
            (0usize..3, proptest::option::of(0usize..3)).prop_map(|(wire, to)| Step::Arrive(wire, to)),
        ]
    }

    proptest! {
        /// Packets stay in their places over three wires, each a queue of places.
        #[test]
        fn packets_stay_in_their_places(steps in proptest::collection::vec(step(), 0..300)) {
            let mut flights = Flights::default();
            let mut queues: [VecDeque<(u32, u64)>; 3] = Default::default();
            let mut most = 0usize;
            for (id, step) in (0u64..).zip(steps) {
                match step {
                    Step::Send(wire) => {
                        let place = flights.add(Packet { id: PacketId(id), ..datagram(100) });
                        let number = flights.depart(place, wire as u32, Onward::new(id as u32));
                        queues[wire].push_back((number, id));
                    }
                    Step::Arrive(wire, to) => {
                        let Some((number, id)) = queues[wire].pop_front() else { continue };
                        let Landed { place, wire: over, onward, with } = flights.land(number);
                        prop_assert_eq!((over, onward.number()), (wire as u32, id as usize));
                        prop_assert_eq!((flights.packet(&place).id, with), (PacketId(id), Landed::ALONE));
                        if let Some(to) = to {
                            let number = flights.depart(place, to as u32, onward);
                            queues[to].push_back((number, id));
                        } else {
                            let unloaded = flights.unload(place);
                            prop_assert_eq!(unloaded.id, PacketId(id));
                            if id % 2 == 0 {
                                prop_assert_eq!(unloaded.take().id, PacketId(id));
                            }
                        }
                    }
                }
                most = most.max(queues.iter().map(VecDeque::len).sum());
            }
            prop_assert_eq!(flights.places.len(), most);
        }
    }
}
