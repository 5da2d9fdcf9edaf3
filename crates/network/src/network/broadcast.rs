//! Broadcasts: packets to all stations in reach of a base station.

use super::Network;
use super::processing::Leaving;
use crate::alarm::Moment;
use crate::drops::{DropReason, Dropped};
use crate::link::Link;
use crate::packet::Packet;
use crate::recorder::Detail;
use crate::topology::LinkId;
use roamsim_engine::Time;
use roamsim_protocols::Address;

impl Network {
    /// Sends a packet to every station that is in reach of the base station whose broadcast interface
    /// `address` is.
    ///
    /// Each station gets a copy, and each copy is a packet of its own in the account, with a number and an
    /// end. What reaches nobody is dropped as out of reach.
    pub fn broadcast(
        &mut self,
        moment: &mut Moment<'_>,
        address: Address,
        packet: Packet,
        detail: Option<Box<Detail>>,
    ) {
        let now = moment.now;
        let node = self.topology.owner(address);
        self.create(now, node, &packet, detail);
        self.process(moment, node, Leaving { by: address, to_all: true, packet });
    }

    /// Puts a packet on the air for all stations of a base station.
    pub(super) fn put_on_cell(&mut self, moment: &mut Moment<'_>, address: Address, packet: Packet) {
        let now = moment.now;
        let (LinkId(number), from) = self.topology.attachment(address);
        let link = &mut self.links[number as usize].link;
        // Only links with stations have broadcast interfaces; elsewhere a broadcast reaches nobody.
        let outcome = match link.stations_mut() {
            Some(stations) => stations.broadcast(now, from, &packet, self.created),
            None => Err(Dropped { reason: DropReason::OutOfReach, at: now }),
        };
        self.rearm(number, moment);
        let copies = match outcome {
            Ok(copies) => copies,
            Err(dropped) => vec![(packet.id, Some(dropped))],
        };
        // The first copy is the packet itself.
        self.created += copies.len() as u64 - 1;
        for dropped in copies.iter().filter_map(|(_, dropped)| *dropped) {
            self.drops_of(number).of(dropped.reason, from).add(packet.size_bytes);
            self.dropped += 1;
        }
        let waiting = self.links[number as usize].link.waiting_packets(from, now);
        if let Some(recorder) = &mut self.recorder {
            recorder.broadcast(now, address, &packet, &copies, waiting, &self.topology);
        }
    }

    /// A broadcast ends where it arrives.
    #[cold]
    pub(super) fn hand_up_broadcast(&mut self, now: Time, address: Address, mut packet: Packet) -> Packet {
        self.delivered += 1;
        if let Some(recorder) = &mut self.recorder {
            recorder.delivered(now, self.topology.owner(address), &packet);
        }
        packet.socket = address.0;
        packet
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::cell::beacons::BeaconConfig;
    use crate::link::cell::coverage::{Coverage, ErrorUnit};
    use crate::link::cell::{Cell, CellConfig};
    use crate::link::{AnyLink, Attachment};
    use crate::mobility::{Point, Trajectory};
    use crate::packet::{BROADCAST, IpVersion};
    use crate::queue::{QueueLimit, Rule};
    use crate::recorder::{PacketEvent, Recorder};
    use crate::testing::{datagram, stream};
    use crate::topology::Topology;
    use crate::trace::Trace;
    use roamsim_engine::{EventQueue, Span};

    /// A cell of stations at these places, in metres, with a reach of 100 m; errors of a half everywhere.
    fn cell_network(places_m: &[f64], trace: Trace) -> (Network, Address) {
        let streams = |station, purpose: &str| stream(&format!("{station} {purpose}"));
        let config = CellConfig {
            rate_bps: 8_000_000,
            delay: None,
            queue: QueueLimit::Packets(2),
            rule: Rule::DropTail,
            mtu_bytes: 1500,
            coverage: Coverage::DistancePower {
                radius_m: 100.0,
                error_at_edge: 0.5,
                exponent: 0.0,
                unit: ErrorUnit::Packet,
            },
            beacons: BeaconConfig {
                period: Span::from_ms(100),
                start: Time::ZERO,
                lifetime: 3,
                bytes: 100,
                going_down_ahead: None,
            },
        };
        let fixed = |x_m: &f64| Trajectory::fixed(Point::new(*x_m, 0.0));
        let cell = Cell::new(config, fixed(&0.0), places_m.iter().map(fixed).collect(), streams);
        let mut topology = Topology::default();
        let base_station = topology.add_node("base station");
        let stations: Vec<_> = places_m.iter().map(|_| topology.add_node("station")).collect();
        let ends = std::iter::once((base_station, base_station))
            .chain(stations.iter().map(|&station| (base_station, station)))
            .chain(stations.iter().map(|&station| (station, base_station)));
        let addresses: Vec<_> = ends
            .enumerate()
            .map(|(number, (node, neighbour))| {
                let at = (LinkId(0), Attachment(number as u32));
                topology.add_plain((node, neighbour), at, LinkId(0), "cell")
            })
            .collect();
        topology.make_routes();
        let mut network = Network::new(topology, IpVersion::V4);
        network.recorder = Some(Box::new(Recorder::new(trace, false, None)));
        network.add_link(AnyLink::Cell(Box::new(cell)), "cell", &addresses, stream("cell"));
        (network, addresses[0])
    }

    #[test]
    fn every_copy_of_a_broadcast_has_a_number_and_an_end() {
        let trace = Trace { packets: true, ..Trace::default() };
        let (mut network, from) = cell_network(&[10.0, 20.0, 30.0, 500.0], trace);
        let mut queue = EventQueue::new();
        let mut arrived_at = Vec::new();
        for round in 0..50 {
            let now = Time::from_ns(round * 10_000_000);
            let packet = Packet { id: network.next_packet_id(), destination: BROADCAST, ..datagram(100) };
            let detail = Detail { description: "advertisement".to_owned(), ..Detail::default() };
            network.broadcast(&mut Moment::new(now, &mut queue), from, packet, Some(Box::new(detail)));
            network.check_conservation().expect("on the way");
            queue.end_at(Time::MAX);
            while let Some((now, wake)) = queue.pop()
                && wake.link() == Some(0)
            {
                let moment = &mut Moment::new(now, &mut queue);
                if !network.carrier_fires(now, 0) {
                    continue;
                }
                network.work(moment, 0, 1);
                let deadline = loop {
                    match network.poll_arrival(moment, 0) {
                        Ok(packet) => arrived_at.push(packet.socket),
                        Err(deadline) => break deadline,
                    }
                };
                network.arm_link(moment, 0, deadline);
            }
            network.check_conservation().expect("at the end");
        }
        // The stations' interfaces have the addresses 5 to 8; about half of 150 copies arrive, none at the
        // last.
        let at = |address: u32| arrived_at.iter().filter(|&&at| at == address).count();
        assert!([5, 6, 7].iter().all(|&address| (10..40).contains(&at(address))), "{arrived_at:?}");
        assert_eq!(at(8), 0);
        assert_eq!(network.created, 150);
        let recorder = network.recorder.as_ref().expect("a recorder");
        let mut ends: Vec<u64> = recorder
            .packets
            .rows()
            .iter()
            .filter(|row| matches!(row.event, PacketEvent::Delivered | PacketEvent::Dropped))
            .map(|row| row.packet.0)
            .collect();
        ends.sort_unstable();
        assert_eq!(ends, (0..150).collect::<Vec<_>>());
        assert!(recorder.packets.rows().iter().all(|row| row.description == "advertisement"));
    }

    #[test]
    fn a_broadcast_that_reaches_nobody_is_dropped_once() {
        let (mut network, from) = cell_network(&[500.0], Trace::default());
        let mut queue = EventQueue::new();
        let packet = Packet { destination: BROADCAST, ..datagram(100) };
        network.broadcast(&mut Moment::new(Time::ZERO, &mut queue), from, packet, None);
        network.check_conservation().expect("dropped");
        let drops: Vec<_> =
            network.drops().map(|drop| (drop.from, drop.reason, drop.count.packets)).collect();
        assert_eq!(drops, [(Attachment(0), DropReason::OutOfReach, 1)]);
    }
}
