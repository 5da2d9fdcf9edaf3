//! What the loop of a run wakes.

use crate::ends::SocketId;
use roamsim_engine::queue::Order;

/// What the loop wakes: a machine, by its number, or a packet on a wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A packet that comes to the end of a wire, by its place.
    Landing(u32),
    /// A link that is no wire.
    Link(u32),
    /// A socket.
    Socket(SocketId),
    /// The source of a flow.
    Source(u32),
    /// The server of a flow.
    Server(u32),
    /// The reader at the sink of a flow.
    Reader(u32),
    /// The MIHF of a node.
    Mihf(u32),
    /// The MIH users of a signalling entry.
    Signalling(u32),
    /// The MIH users of a handover entry.
    MihHandover(u32),
    /// A link may have link events.
    Indication(u32),
    /// A mobility agent of Mobile IP.
    MobilityAgent(u32),
    /// A mobile node of Mobile IP.
    MobileNode(u32),
    /// A node that has worked on a packet.
    Node(u32),
    /// A node that selects one of its interfaces.
    Selection(u32),
}

/// An event in one number, as the queue keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wake(u32);

/// Bits of a machine's number; the four above tell the kind.
const NUMBER_BITS: u32 = 27;

/// The highest bit: what is below it is the place of a packet on a wire.
const LANDING: u32 = 1 << 31;

impl From<Event> for Wake {
    #[inline(always)]
    fn from(event: Event) -> Wake {
        if let Event::Landing(place) = event {
            debug_assert!(place < LANDING, "a world has no {place} packets on wires");
            return Wake(LANDING | place);
        }
        let (kind, number) = event.parts();
        debug_assert!(number >> NUMBER_BITS == 0, "a world has no {number} machines of a kind");
        Wake(kind << NUMBER_BITS | number)
    }
}

impl Wake {
    /// The place of the packet on a wire that it is for, as nearly every one is.
    #[inline(always)]
    pub(crate) fn landing(self) -> Option<u32> {
        (self.0 & LANDING != 0).then_some(self.0 & !LANDING)
    }

    /// The number of the link that is no wire that it wakes.
    #[inline(always)]
    pub(crate) fn link(self) -> Option<u32> {
        (self.0 >> NUMBER_BITS == 0).then_some(self.0)
    }

    /// The event.
    #[inline]
    pub fn event(self) -> Event {
        if let Some(place) = self.landing() {
            return Event::Landing(place);
        }
        let number = self.0 & ((1 << NUMBER_BITS) - 1);
        match self.0 >> NUMBER_BITS {
            0 => Event::Link(number),
            1 => Event::Socket(SocketId::Tcp(number)),
            2 => Event::Source(number),
            3 => Event::Server(number),
            4 => Event::Mihf(number),
            5 => Event::Signalling(number),
            6 => Event::Indication(number),
            7 => Event::Socket(SocketId::Sctp(number)),
            8 => Event::MobilityAgent(number),
            9 => Event::MobileNode(number),
            10 => Event::Node(number),
            11 => Event::Reader(number),
            12 => Event::Socket(SocketId::Udp(number)),
            14 => Event::Socket(SocketId::Open(number)),
            15 => Event::Selection(number),
            _ => Event::MihHandover(number),
        }
    }
}

impl roamsim_engine::Event for Wake {
    #[inline(always)]
    fn to_code(self) -> u32 {
        self.0
    }

    #[inline(always)]
    fn from_code(code: u32) -> Wake {
        Wake(code)
    }

    #[inline(always)]
    fn order(self) -> Order {
        self.event().order()
    }
}

impl Event {
    /// Of links: all packets take as long on wires of a kind. Of sources that send at one interval,
    /// whoever's.
    #[inline(always)]
    pub(crate) fn order(self) -> Order {
        match self {
            Event::Link(_) | Event::Landing(_) => Order::Kept,
            Event::Source(_) => Order::OfPeriods,
            _ => Order::Any,
        }
    }

    /// What fingerprints tell it by.
    pub(crate) fn digested(self) -> u64 {
        let (kind, number) = self.parts();
        u64::from(kind) << 32 | u64::from(number)
    }

    /// Its kind, and its number in it.
    #[inline(always)]
    fn parts(self) -> (u32, u32) {
        match self {
            Event::Link(number) => (0, number),
            Event::Socket(SocketId::Tcp(number)) => (1, number),
            Event::Source(number) => (2, number),
            Event::Server(number) => (3, number),
            Event::Mihf(number) => (4, number),
            Event::Signalling(number) => (5, number),
            Event::Indication(number) => (6, number),
            Event::Socket(SocketId::Sctp(number)) => (7, number),
            Event::MobilityAgent(number) => (8, number),
            Event::MobileNode(number) => (9, number),
            Event::Node(number) => (10, number),
            Event::Reader(number) => (11, number),
            Event::Socket(SocketId::Udp(number)) => (12, number),
            Event::MihHandover(number) => (13, number),
            Event::Socket(SocketId::Open(number)) => (14, number),
            Event::Selection(number) => (15, number),
            Event::Landing(place) => (16, place),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_comes_back_from_its_number() {
        for kind in 0..16 {
            let event = Wake(kind << NUMBER_BITS | 5).event();
            assert_eq!(event.parts(), (kind, 5));
            assert_eq!(Wake::from(event), Wake(kind << NUMBER_BITS | 5));
        }
        let most = Event::MobileNode((1 << NUMBER_BITS) - 1);
        assert_eq!(Wake::from(most).event(), most);
        assert_eq!((Wake::from(most).link(), Wake::from(most).landing()), (None, None));
        assert_eq!(
            (Wake::from(Event::Link(7)).link(), Wake::from(Event::Link(7)).landing()),
            (Some(7), None)
        );
        for place in [7, LANDING - 1] {
            let landing = Wake::from(Event::Landing(place));
            assert_eq!((landing.link(), landing.landing()), (None, Some(place)));
            assert_eq!(landing.event(), Event::Landing(place));
        }
    }
}
