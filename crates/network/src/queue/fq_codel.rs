//! FQ-CoDel (RFC 8290): a queue of its own for each flow, as far as a hash tells flows apart, each under
//! CoDel, served in turn by deficits of octets; flows that come anew are served first.
//!
//! Flows are told apart by addresses, transport and ports (section 4.1: the five-tuple), inside of tunnels
//! too, by a hash with a random number of its own. When more than the limit wait, half the packets of the
//! longest queue in octets, at most 64, are dropped from its head (section 4.1).
//!
//! Not modelled: other classifiers.

use super::codel::{self, Control};
use super::fifo::Fifo;
use super::{Discipline, Length, QueueLimit, Waiting};
use crate::drops::DropReason;
use crate::packet::{Packet, Pdu};
use crate::topology::Attachment;
use roamsim_engine::{Stream, Time};
use std::cmp::Reverse;
use std::collections::VecDeque;

/// What FQ-CoDel goes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// How many queues.
    pub flows: u16,
    /// The octets that a flow may send in a turn.
    pub quantum_bytes: u32,
    /// What each queue goes by.
    pub codel: codel::Settings,
}

/// The most packets that go at once where the limit is exceeded.
const DROP_BATCH_PACKETS: usize = 64;

/// A flow's queue.
#[derive(Debug)]
struct Flow {
    /// By which the hash knows it.
    number: u16,
    queue: Fifo,
    control: Control,
    deficit_bytes: i64,
    /// Whether it is on one of the two lists.
    listed: bool,
}

/// The place of a flow that no packet has come to.
const UNUSED: u16 = u16::MAX;

/// The queues of all flows.
#[derive(Debug)]
pub struct FqCodel {
    limit: QueueLimit,
    settings: Settings,
    /// Those that have ever been used, and by number the place of each among them: [`UNUSED`] of others.
    /// Nothing before the first packet.
    flows: Vec<Flow>,
    places: Vec<u16>,
    /// Those that have come anew, and the others that have something to send: in the order of their turns.
    new_flows: VecDeque<u16>,
    old_flows: VecDeque<u16>,
    /// Of all flows together.
    length: Length,
    dropped: VecDeque<(Waiting, DropReason)>,
    perturbation: u64,
}

impl FqCodel {
    /// Empty queues.
    pub fn new(limit: QueueLimit, settings: Settings, mut random: Stream) -> FqCodel {
        FqCodel {
            limit,
            settings,
            flows: Vec::new(),
            places: Vec::new(),
            new_flows: VecDeque::new(),
            old_flows: VecDeque::new(),
            length: Length::default(),
            dropped: VecDeque::new(),
            perturbation: random.next_u64(),
        }
    }

    /// The place of the queue of a packet's flow.
    fn place_of(&mut self, packet: &Packet) -> u16 {
        let number = self.classify(packet);
        if self.places.is_empty() {
            self.places = vec![UNUSED; usize::from(self.settings.flows)];
        }
        let place = &mut self.places[usize::from(number)];
        if *place == UNUSED {
            *place = self.flows.len() as u16;
            self.flows.push(Flow {
                number,
                queue: Fifo::default(),
                control: Control::new(self.settings.codel),
                deficit_bytes: 0,
                listed: false,
            });
        }
        *place
    }

    /// The number of a packet's flow.
    fn classify(&self, packet: &Packet) -> u16 {
        let (source, destination) = match packet.tunnel {
            Some(inner) => (inner.source(), inner.destination()),
            None => (packet.source, packet.destination),
        };
        let protocol = u64::from(packet.pdu.protocol());
        let ports = match &packet.pdu {
            // Fragments have no ports, nor has the first one, so that all take the same queue.
            Pdu::Icmp(_) | Pdu::Fragment(_) => (0, 0),
            Pdu::Tcp(segment) => (segment.source_port, segment.destination_port),
            Pdu::Udp(datagram, _) => (datagram.source_port, datagram.destination_port),
            Pdu::Sctp(sctp) => (sctp.source_port, sctp.destination_port),
            Pdu::Octets(octets) => octets.ports(),
        };
        let ports = u64::from(ports.0) << 16 | u64::from(ports.1);
        let addresses = u64::from(source.0) << 32 | u64::from(destination.0);
        let hash = mixed(mixed(self.perturbation ^ addresses) ^ (protocol << 32 | ports));
        // The upper half of the product: as even as the hash.
        ((u128::from(hash) * u128::from(self.settings.flows)) >> 64) as u16
    }

    fn left(&mut self, waiting: &Waiting) {
        self.length.packets -= 1;
        self.length.bytes -= u64::from(waiting.packet.size_bytes);
    }

    /// Makes room: from the head of the longest queue.
    fn drop_from_longest(&mut self) {
        // The first of those that are as long.
        let length = |flow: &&mut Flow| (flow.queue.length().bytes, Reverse(flow.number));
        let longest = self.flows.iter_mut().max_by_key(length);
        let Some(flow) = longest else { return };
        let packets = flow.queue.length().packets.div_ceil(2).min(DROP_BATCH_PACKETS);
        flow.control.dropped(packets as u32);
        for _ in 0..packets {
            self.dropped.extend(flow.queue.pop().map(|waiting| (waiting, DropReason::QueueFull)));
        }
    }
}

/// A bijection of 64 bits whose outputs look random (SplitMix64: Steele, Lea, Flood, OOPSLA 2014).
fn mixed(word: u64) -> u64 {
    let word = word.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let word = (word ^ word >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let word = (word ^ word >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ word >> 31
}

impl Discipline for FqCodel {
    /// Takes every packet; who has to go for it is told by `poll_drop`.
    fn enqueue(&mut self, waiting: Waiting, idle: bool) -> Result<(), (Packet, DropReason)> {
        let bytes = waiting.packet.size_bytes;
        let place = self.place_of(&waiting.packet);
        let held: u64 = self.dropped.iter().map(|(waiting, _)| u64::from(waiting.packet.size_bytes)).sum();
        let (packets, octets) = (self.length.packets - self.dropped.len(), self.length.bytes - held);
        let has_room = idle || self.limit.admits(packets, octets, bytes);
        let flow = &mut self.flows[usize::from(place)];
        flow.queue.push(waiting);
        self.length.packets += 1;
        self.length.bytes += u64::from(bytes);
        if !flow.listed {
            flow.listed = true;
            flow.deficit_bytes = i64::from(self.settings.quantum_bytes);
            self.new_flows.push_back(place);
        }
        if !has_room {
            self.drop_from_longest();
        }
        Ok(())
    }

    fn dequeue(&mut self, now: Time) -> Option<Waiting> {
        loop {
            let is_new = !self.new_flows.is_empty();
            let list = if is_new { &mut self.new_flows } else { &mut self.old_flows };
            let place = *list.front()?;
            let flow = &mut self.flows[usize::from(place)];
            if flow.deficit_bytes <= 0 {
                flow.deficit_bytes += i64::from(self.settings.quantum_bytes);
                list.pop_front();
                self.old_flows.push_back(place);
                continue;
            }
            let mut dropped = VecDeque::new();
            let next = flow.control.dequeue(now, &mut flow.queue, &mut dropped);
            self.dropped.extend(dropped.into_iter().map(|waiting| (waiting, DropReason::QueueManagement)));
            if let Some(next) = next {
                flow.deficit_bytes -= i64::from(next.packet.size_bytes);
                self.left(&next);
                return Some(next);
            }
            list.pop_front();
            // A flow that has just come anew has one turn behind the others, lest it comes anew with each
            // packet.
            if is_new {
                self.old_flows.push_back(place);
            } else {
                flow.listed = false;
            }
        }
    }

    fn poll_drop(&mut self) -> Option<(Waiting, DropReason)> {
        let (waiting, reason) = self.dropped.pop_front()?;
        self.left(&waiting);
        Some((waiting, reason))
    }

    fn withdraw(&mut self, _now: Time, from: Attachment) -> Vec<Waiting> {
        let gone: Vec<Waiting> = self.flows.iter_mut().flat_map(|flow| flow.queue.withdraw(from)).collect();
        gone.iter().for_each(|waiting| self.left(waiting));
        gone
    }

    fn length(&self) -> Length {
        self.length
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::PacketId;
    use crate::testing::{datagram, segment, stream};
    use roamsim_engine::Span;
    use roamsim_protocols::tcp::Flags;
    use roamsim_protocols::udp::Datagram;

    fn fq_codel(packets: u32) -> FqCodel {
        let codel = codel::Settings {
            target: Span::from_ms(5),
            interval: Span::from_ms(100),
            mtu_bytes: 1500,
            ecn: false,
        };
        let settings = Settings { flows: 1024, quantum_bytes: 1500, codel };
        FqCodel::new(QueueLimit::Packets(packets), settings, stream("fq"))
    }

    /// A packet of a flow; its number has that of the flow before the last two digits.
    fn waiting(flow: u32, number: u64, bytes: u32) -> Waiting {
        let id = PacketId(100 * u64::from(flow) + number);
        let ports = Datagram {
            source_port: (flow >> 16) as u16,
            destination_port: flow as u16,
            payload_bytes: bytes - 48,
        };
        let mut packet = Packet { id, ..datagram(bytes) };
        if let Pdu::Udp(datagram, _) = &mut packet.pdu {
            *datagram = ports;
        }
        Waiting { since: Time::ZERO, from: Attachment(0), packet, marked: false }
    }

    fn enqueue(queue: &mut FqCodel, flow: u32, numbers: std::ops::Range<u64>, bytes: u32) {
        for number in numbers {
            assert!(queue.enqueue(waiting(flow, number, bytes), false).is_ok());
        }
    }

    fn order(queue: &mut FqCodel, packets: usize) -> Vec<u64> {
        (0..packets).filter_map(|_| queue.dequeue(Time::ZERO)).map(|next| next.packet.id.0).collect()
    }

    #[test]
    fn flows_share_by_octets_whatever_the_size_of_their_packets() {
        let mut queue = fq_codel(1000);
        enqueue(&mut queue, 1, 0..8, 1500);
        enqueue(&mut queue, 2, 0..40, 300);
        // A quantum is one packet of the first flow and five of the second.
        let expected = [100, 200, 201, 202, 203, 204, 101, 205, 206, 207, 208, 209, 102];
        assert_eq!(order(&mut queue, 13), expected);
    }

    #[test]
    fn who_comes_anew_is_served_first_but_not_again_and_again() {
        let mut queue = fq_codel(1000);
        enqueue(&mut queue, 1, 0..8, 700);
        enqueue(&mut queue, 2, 0..8, 700);
        // Three packets overdraw a turn of 1500 octets by 600, and leave 900 for the next.
        assert_eq!(order(&mut queue, 7), [100, 101, 102, 200, 201, 202, 103]);
        enqueue(&mut queue, 3, 0..1, 100);
        assert_eq!(order(&mut queue, 2), [300, 104]);
        // Nothing of it waited: it has gone behind the others, and what comes now waits for the two packets
        // of the second.
        enqueue(&mut queue, 3, 1..2, 100);
        assert_eq!(order(&mut queue, 3), [203, 204, 301]);
    }

    #[test]
    fn half_of_the_longest_goes_where_there_are_too_many() {
        let mut queue = fq_codel(12);
        enqueue(&mut queue, 1, 0..10, 1000);
        enqueue(&mut queue, 2, 0..3, 1000);
        // The thirteenth is one too many: five of ten, from the head.
        assert_eq!(queue.length(), Length { packets: 13, bytes: 13_000 });
        let dropped: Vec<_> = std::iter::from_fn(|| queue.poll_drop()).collect();
        assert!(dropped.iter().all(|(_, reason)| *reason == DropReason::QueueFull));
        let numbers: Vec<_> = dropped.iter().map(|(waiting, _)| waiting.packet.id.0).collect();
        assert_eq!(numbers, [100, 101, 102, 103, 104]);
        assert_eq!(queue.length(), Length { packets: 8, bytes: 8000 });
        assert_eq!(order(&mut queue, 9), [105, 106, 200, 201, 107, 202, 108, 109]);
        assert_eq!(queue.length(), Length::default());
    }

    #[test]
    fn only_the_flow_that_waits_too_long_is_dropped() {
        let mut queue = fq_codel(1000);
        enqueue(&mut queue, 1, 0..50, 1000);
        let late = |ms| Time::ZERO + Span::from_ms(ms);
        let at = |queue: &mut FqCodel, ms| {
            let next = queue.dequeue(late(ms)).map(|next| next.packet.id.0);
            let dropped = std::iter::from_fn(|| queue.poll_drop());
            (next, dropped.map(|(waiting, reason)| (waiting.packet.id.0, reason)).collect::<Vec<_>>())
        };
        assert_eq!(at(&mut queue, 10), (Some(100), vec![]));
        assert!(queue.enqueue(Waiting { since: late(109), ..waiting(2, 0, 1000) }, false).is_ok());
        // Above the target for an interval; 500 octets of the first turn were left.
        assert_eq!(at(&mut queue, 110), (Some(102), vec![(101, DropReason::QueueManagement)]));
        assert_eq!(at(&mut queue, 110), (Some(200), vec![]));
    }

    #[test]
    fn flows_are_spread_over_the_queues_evenly() {
        let queue = fq_codel(1000);
        let mut counts = vec![0u32; 1024];
        for flow in 0..102_400 {
            counts[usize::from(queue.classify(&waiting(flow, 0, 100).packet))] += 1;
        }
        // A hundred each, with a standard deviation of ten.
        assert!(counts.iter().all(|count| (50..160).contains(count)));
        let packet = waiting(7, 0, 100).packet;
        let tunnel = Some(crate::packet::InnerHeader::new(packet.source, packet.destination));
        let tunnelled = Packet { tunnel, source: packet.destination, ..packet.clone() };
        assert_eq!(queue.classify(&tunnelled), queue.classify(&packet));
    }

    #[test]
    fn a_connection_over_a_socket_that_was_used_before_is_another_flow() {
        let queue = fq_codel(1000);
        let number_of = |source_port: u16, socket: u32| {
            let mut packet = segment(socket, Flags::ACK, 1000);
            if let Pdu::Tcp(segment) = &mut packet.pdu {
                segment.source_port = source_port;
            }
            queue.classify(&packet)
        };
        let mut numbers: Vec<u16> = (50_000..50_100).map(|port| number_of(port, 7)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        // Of a hundred flows in 1024 queues 100 * 99 / 2 / 1024 = 4.8 share one with another in the mean.
        assert!(numbers.len() > 85, "{}", numbers.len());
        // What is told apart is what stands in the packet.
        assert_eq!(number_of(50_000, 7), number_of(50_000, 8));
    }
}
