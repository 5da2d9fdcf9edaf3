//! The time that a node takes over each packet before it puts it on a link.
//!
//! A packet that the node makes or forwards is ready a time after it came, drawn anew for each, and leaves
//! when it is ready and those before it have left: a node keeps its packets in order, whatever interfaces
//! they leave by. What has arrived for the node itself goes to its socket at once. Floyd and Jacobson, "On
//! traffic phase effects in packet-switched gateways" (Internetworking: Research and Experience 3, 1992),
//! give sources such a time.
//!
//! Not modelled: a processor that works on one packet at a time. Packets of a burst are worked on side by
//! side, so that a node has neither a capacity nor a queue that overflows; those are a link's.

use super::Network;
use crate::alarm::{Alarm, Moment};
use crate::distribution::Distribution;
use crate::event::Event;
use crate::packet::Packet;
use crate::topology::NodeId;
use roamsim_engine::{Stream, Time};
use roamsim_protocols::Address;
use std::collections::VecDeque;

/// A packet that is about to leave its node.
pub(super) struct Leaving {
    /// The interface that it leaves by.
    pub by: Address,
    /// Whether it goes to all stations behind a base station's interface.
    pub to_all: bool,
    pub packet: Packet,
}

/// A node that takes time over packets.
pub(super) struct Processor {
    /// Of nanoseconds.
    time: Distribution,
    random: Stream,
    alarm: Alarm,
    /// In the order of coming, which is that of leaving, and when each leaves.
    waiting: VecDeque<(Time, Leaving)>,
}

impl Network {
    /// Makes a node take a time over each packet that it makes or forwards; `time` is of nanoseconds.
    pub fn set_packet_processing_time(&mut self, node: NodeId, time: Distribution, random: Stream) {
        let nodes = self.topology.nodes().len();
        self.processors.resize_with(nodes, || None);
        let processor = Processor { time, random, alarm: Alarm::default(), waiting: VecDeque::new() };
        self.processors[node.0 as usize] = Some(processor);
    }

    /// Packets that nodes are working on.
    pub(super) fn packets_in_processing(&self) -> u64 {
        self.processors.iter().flatten().map(|processor| processor.waiting.len() as u64).sum()
    }

    /// Has a packet leave its node when the node has worked on it.
    #[cold]
    pub(super) fn process(&mut self, moment: &mut Moment<'_>, node: NodeId, leaving: Leaving) {
        let now = moment.now;
        let Some(Some(processor)) = self.processors.get_mut(node.0 as usize) else {
            return self.leave(moment, leaving);
        };
        let ready = now + processor.time.sample_span(&mut processor.random);
        let at = processor.waiting.back().map_or(ready, |&(before, _)| ready.max(before));
        if at == now && processor.waiting.is_empty() {
            return self.leave(moment, leaving);
        }
        processor.waiting.push_back((at, leaving));
        processor.alarm.arm(processor.waiting.front().map(|&(at, _)| at), Event::Node(node.0), moment);
    }

    /// Handles a node's wake-up; false when it was superseded.
    #[cold]
    pub fn handle_node(&mut self, moment: &mut Moment<'_>, number: u32) -> bool {
        let now = moment.now;
        let mut worked = false;
        while let Some(Some(processor)) = self.processors.get_mut(number as usize) {
            if !worked && !processor.alarm.fires(now) {
                break;
            }
            let Some((_, leaving)) = processor.waiting.pop_front_if(|(at, _)| *at <= now) else {
                let next = processor.waiting.front().map(|&(at, _)| at);
                processor.alarm.arm(next, Event::Node(number), moment);
                break;
            };
            worked = true;
            self.leave(moment, leaving);
        }
        worked
    }

    /// Puts a packet on the link of the interface that it leaves by.
    pub(super) fn leave(&mut self, moment: &mut Moment<'_>, leaving: Leaving) {
        let Leaving { by, to_all, packet } = leaving;
        if to_all {
            self.put_on_cell(moment, by, packet);
        } else if self.goes_on_unseen(&packet) {
            let _ = self.put_on_link(moment, by, packet);
        } else {
            self.put_on_link_watched(moment, by, packet);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Wake;
    use crate::link::AnyLink;
    use crate::link::wired::{Wire, WireConfig};
    use crate::packet::IpVersion;
    use crate::queue::QueueLimit;
    use crate::testing::{datagram, stream};
    use crate::topology::Topology;
    use roamsim_engine::{EventQueue, Span};

    /// Three nodes in a row, one way: wires on which 1000 octets take 1 ms, without delay.
    fn row() -> Network {
        let mut topology = Topology::default();
        let nodes = ["a", "b", "c"].map(|name| topology.add_node(name));
        let mut addresses = Vec::new();
        for (link, (node, neighbour)) in [(0, 1), (1, 0), (1, 2), (2, 1)].into_iter().enumerate() {
            addresses.push(topology.add_on_wire(nodes[node], nodes[neighbour], link as u32, ""));
        }
        topology.make_routes();
        let mut network = Network::new(topology, IpVersion::V6);
        for (from, to) in [(0, 1), (1, 0), (2, 3), (3, 2)] {
            let config = WireConfig {
                rate_bps: 8_000_000,
                delay: Span::ZERO,
                queue: QueueLimit::Packets(100),
                mtu_bytes: 1500,
                outages: vec![],
            };
            let wire = AnyLink::Wire(Wire::new(config, None));
            network.add_link(wire, "", &[addresses[from], addresses[to]], stream("link"));
        }
        network
    }

    /// Sends packets of 1000 octets from a to c at these times in microseconds: what arrives, and when.
    fn arrivals(network: &mut Network, sent_us: &[u64]) -> Vec<(u64, u64)> {
        let mut queue = EventQueue::new();
        let mut arrived = Vec::new();
        let mut sent = sent_us.iter().map(|&us| Time::ZERO + Span::from_us(us)).peekable();
        loop {
            let event = sent.peek().copied().unwrap_or(Time::MAX);
            queue.end_at(event);
            let (now, woken) = match queue.pop() {
                Some((now, woken)) => (now, Some(woken)),
                None => (event, None),
            };
            match woken.map(Wake::event) {
                Some(Event::Landing(number)) => {
                    let here = network.land_all(&mut Moment::new(now, &mut queue), number);
                    arrived.extend(here.iter().map(|packet| (packet.id.0, now.as_ns() / 1000)));
                }
                Some(Event::Node(number)) => {
                    network.handle_node(&mut Moment::new(now, &mut queue), number);
                }
                Some(_) => {}
                None if sent.next().is_some() => {
                    let (source, destination) = (Address(0), Address(3));
                    let id = network.next_packet_id();
                    let packet = Packet { id, source, destination, ..datagram(1000) };
                    network.send(&mut Moment::new(now, &mut queue), NodeId(0), packet, None);
                }
                None => break,
            }
            assert_eq!(network.check_conservation(), Ok(()));
        }
        arrived
    }

    #[test]
    fn what_a_node_makes_and_what_it_forwards_takes_its_time() {
        // Two wires of 1 ms each: sent at 0 and 5 ms, there at 2 and 7 ms.
        assert_eq!(arrivals(&mut row(), &[0, 5000]), [(0, 2000), (1, 7000)]);
        let mut network = row();
        for (node, us) in [(0, 300), (1, 50), (2, 7000)] {
            let time = Distribution::Constant(us * 1000);
            network.set_packet_processing_time(NodeId(node), time, stream("time"));
        }
        // 300 us at a and 50 us at b; c only receives.
        assert_eq!(arrivals(&mut network, &[0, 5000]), [(0, 2350), (1, 7350)]);
    }

    #[test]
    fn packets_of_a_burst_are_worked_on_side_by_side() {
        let mut network = row();
        network.set_packet_processing_time(NodeId(0), Distribution::Constant(10_000_000), stream("time"));
        // All are ready at 10 ms; the wires take 1 ms a packet.
        assert_eq!(arrivals(&mut network, &[0, 0, 0]), [(0, 12_000), (1, 13_000), (2, 14_000)]);
    }

    #[test]
    fn a_node_keeps_packets_in_order() {
        let mut network = row();
        let time = Distribution::Uniform { min: 0, max: 50_000_000 };
        network.set_packet_processing_time(NodeId(0), time, stream("time"));
        let sent_us: Vec<u64> = (0..1000).map(|k| 3000 * k).collect();
        let arrived = arrivals(&mut network, &sent_us);
        assert_eq!(arrived.iter().map(|&(id, _)| id).collect::<Vec<_>>(), (0..1000).collect::<Vec<_>>());
        // Draws of 0 to 50 ms overtake each other within 3 ms: some wait for the packet before them.
        let together = arrived.windows(2).filter(|pair| pair[1].1 - pair[0].1 <= 1000).count();
        assert!(together > 500, "{together}");
    }
}
