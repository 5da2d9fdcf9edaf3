//! Packets on their way over wires. A packet is written once, and stays where it is until it has arrived for
//! good: from wire to wire its place is handed on. Places that have become free are used again first, so that
//! those in use stay in the cache, however many wires there are.

use crate::ends::Onward;
use crate::packet::{BROADCAST, Icmp, Packet, PacketId, Pdu};
use crate::traffic_class::TrafficClass;
use roamsim_engine::Time;
use std::mem;
use std::ops::Deref;

/// The place of a packet among the [`Flights`]. There is one of each, so that none is used when its packet is
/// gone.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Place(u32);

/// No place: behind the last of a line.
const NONE: u32 = u32::MAX;

/// What owns nothing: where a packet was.
const NOTHING: Pdu = Pdu::Icmp(Icmp::AgentSolicitation);

/// A place, and the packet in it; in a free one, what is left of one, which owns nothing. What nodes on its
/// way ask for is in the first line of the cache.
#[derive(Debug)]
#[repr(C, align(64))]
struct Flight {
    /// When it arrives at the end of the wire that it is on.
    arrival: Time,
    /// The place behind it, in its line or among the free ones.
    next: u32,
    /// Where it goes from there.
    onward: Onward,
    packet: Packet,
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
        self.places.push(Flight { packet, arrival: Time::MAX, next: NONE, onward: Onward::BY_ROUTES });
    }

    /// The packet in a place.
    #[inline(always)]
    pub fn packet(&self, place: &Place) -> &Packet {
        &self.places[place.0 as usize].packet
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

/// The packets on a wire, in the order of their arrival.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Line {
    /// When the first arrives; never, where there is none.
    next: Time,
    first: u32,
    last: u32,
}

impl Default for Line {
    fn default() -> Line {
        Line { next: Time::MAX, first: NONE, last: NONE }
    }
}

impl Line {
    /// When the first arrives; never, where there is none.
    #[inline(always)]
    pub fn next(&self) -> Time {
        self.next
    }

    /// A packet comes in behind the others, which goes on so from the end of the wire; whether there are no
    /// others.
    #[inline(always)]
    pub fn push(
        &mut self,
        flights: &mut Flights,
        Place(number): Place,
        arrival: Time,
        onward: Onward,
    ) -> bool {
        let places = flights.places.as_mut_slice();
        let flight = &mut places[number as usize];
        flight.arrival = arrival;
        flight.next = NONE;
        flight.onward = onward;
        let is_first = self.first == NONE;
        if is_first {
            self.next = arrival;
            self.first = number;
        } else {
            places[self.last as usize].next = number;
        }
        self.last = number;
        is_first
    }

    /// Takes the first, if it has arrived by `now`, and tells where it goes on.
    #[inline(always)]
    pub fn pop(&mut self, flights: &Flights, now: Time) -> Option<(Place, Onward)> {
        if self.next > now {
            return None;
        }
        let places = flights.places.as_slice();
        // Behind the last there is no place of this number.
        let first = places.get(self.first as usize)?;
        let place = Place(self.first);
        self.first = first.next;
        self.next = places.get(first.next as usize).map_or(Time::MAX, |flight| flight.arrival);
        Some((place, first.onward))
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
        /// A new packet on a wire, which arrives so much behind the last there.
        Send(usize, u64),
        /// What has arrived at the end of a wire after so long goes on over another one, or is taken.
        Arrive(usize, u64, Option<usize>),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            (0usize..3, 0u64..5).prop_map(|(wire, behind)| Step::Send(wire, behind)),
            (0usize..3, 0u64..5, proptest::option::of(0usize..3)).prop_map(|(wire, later, to)| Step::Arrive(
                wire,
                later,
                to.filter(|&to| to != wire)
            )),
        ]
    }

    proptest! {
        /// Three wires over the same places do what three queues of packets do.
        #[test]
        fn lines_are_queues(steps in proptest::collection::vec(step(), 0..300)) {
            let mut flights = Flights::default();
            let mut lines: [Line; 3] = Default::default();
            let mut queues: [VecDeque<(Time, u64)>; 3] = Default::default();
            let (mut now, mut latest, mut most) = (0u64, [0u64; 3], 0usize);
            for (id, step) in (0u64..).zip(steps) {
                match step {
                    Step::Send(wire, behind) => {
                        let packet = Packet { id: PacketId(id), ..datagram(100) };
                        latest[wire] = latest[wire].max(now) + behind;
                        let place = flights.add(packet);
                        lines[wire].push(&mut flights, place, Time::from_ns(latest[wire]), Onward::BY_ROUTES);
                        queues[wire].push_back((Time::from_ns(latest[wire]), id));
                    }
                    Step::Arrive(wire, later, to) => {
                        now += later;
                        let due = Time::from_ns(now);
                        let expected = queues[wire].pop_front_if(|&mut (at, _)| at <= due);
                        let place = lines[wire].pop(&flights, due).map(|(place, _)| place);
                        prop_assert_eq!(place.is_some(), expected.is_some());
                        let Some((place, (_, id))) = place.zip(expected) else { continue };
                        prop_assert_eq!(flights.packet(&place).id, PacketId(id));
                        if let Some(to) = to {
                            latest[to] = latest[to].max(now);
                            lines[to].push(&mut flights, place, Time::from_ns(latest[to]), Onward::BY_ROUTES);
                            queues[to].push_back((Time::from_ns(latest[to]), id));
                        } else {
                            let unloaded = flights.unload(place);
                            prop_assert_eq!(unloaded.id, PacketId(id));
                            if id % 2 == 0 {
                                prop_assert_eq!(unloaded.take().id, PacketId(id));
                            }
                        }
                    }
                }
                for (line, queue) in lines.iter().zip(&queues) {
                    prop_assert_eq!(line.next(), queue.front().map_or(Time::MAX, |&(at, _)| at));
                }
                most = most.max(queues.iter().map(VecDeque::len).sum());
            }
            prop_assert_eq!(flights.places.len(), most);
        }
    }
}
