//! Ways over wires, looked up once for all packets of a connection.
//!
//! Routes hardly ever change, and where every link between two nodes is a wire, a packet has nothing to ask a
//! node for but its next wire. Once a route has changed, or a reverse tunnel has begun, no [way](crate::ways)
//! holds any more, and packets are routed node by node again.

use super::Network;
use crate::ends::Onward;
use crate::link::wired::Wire;
use crate::link::{AnyLink, Attachment};
use crate::topology::{LinkId, NodeId};
use roamsim_protocols::Address;
use std::mem;

/// By what packets leave the node that makes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FirstHop {
    /// Straight by this wire, behind which they go on so.
    Wire(u32, Onward),
    /// By this link, which is no wire, and nobody watches.
    Other((u32, Attachment)),
    /// By this interface, as the routes say.
    Interface(Option<Address>),
}

impl Network {
    /// The wire by which a way begins that has been looked up.
    #[inline(always)]
    pub(crate) fn first_wire(&self, beginning: Onward) -> Option<u32> {
        self.topology.ways.step(beginning)
    }

    /// By what packets of this way leave their node: by a wire where they go straight onto one and nobody
    /// watches. `beginning` keeps what is found.
    #[inline(always)]
    pub(crate) fn first_hop(&mut self, node: NodeId, way: [Address; 2], beginning: &mut Onward) -> FirstHop {
        if let Some(wire) = self.first_wire(*beginning) {
            return FirstHop::Wire(wire, beginning.next());
        }
        let is_plain = self.recorder.is_none() && self.processors.is_empty();
        if is_plain && *beginning == Onward::UNKNOWN {
            *beginning = self.look_up(node, way);
            if let Some(wire) = self.first_wire(*beginning) {
                return FirstHop::Wire(wire, beginning.next());
            }
        }
        let [source, destination] = way;
        let egress = self.topology.egress(node, source, destination);
        if is_plain && let Some(by) = egress {
            let (LinkId(number), attachment) = self.topology.attachment(by);
            return match self.links[number as usize].link {
                AnyLink::Wire(_) => FirstHop::Wire(number, Onward::BY_ROUTES),
                _ => FirstHop::Other((number, attachment)),
            };
        }
        FirstHop::Interface(egress)
    }

    /// Where a way begins that is not known where it is asked for.
    #[cold]
    fn look_up(&mut self, node: NodeId, way: [Address; 2]) -> Onward {
        let mut ways = mem::take(&mut self.topology.ways);
        let found = ways.look_up((node.0, way), |wires| self.find_way(node, way, wires));
        // What stood in for them owns nothing that would have to be given back.
        mem::forget(mem::replace(&mut self.topology.ways, ways));
        found
    }

    /// Looks for a way, and puts its wires behind the others; false where there is none.
    fn find_way(&self, from: NodeId, [source, destination]: [Address; 2], wires: &mut Vec<u32>) -> bool {
        if self.tunnels.has_reverse() {
            return false;
        }
        let (mut at, end) = (from, self.topology.owner(destination));
        let mut egress = self.topology.egress(at, source, destination);
        // A way that comes to no end within as many steps as there are nodes goes round.
        for _ in self.topology.nodes() {
            let Some(by) = egress else { break };
            let (LinkId(number), attachment) = self.topology.attachment(by);
            let slot = &self.links[number as usize];
            if !matches!(slot.link, AnyLink::Wire(_)) || attachment != Wire::SENDER {
                break;
            }
            wires.push(number);
            at = self.records[number as usize].leads_to;
            if at == end {
                return true;
            }
            egress = self.topology.route_to(at, destination);
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alarm::Moment;
    use crate::event::Wake;
    use crate::link::QueueLimit;
    use crate::link::wired::WireConfig;
    use crate::network::tunnel::Ends;
    use crate::packet::IpVersion;
    use crate::testing::{segment, stream};
    use crate::topology::Topology;
    use crate::ways::END;
    use roamsim_engine::{EventQueue, Span, Time};
    use roamsim_protocols::tcp::Flags;

    /// From a to d over b, the way described first, or over c; wires of 1 ms on which a packet takes no time.
    fn diamond() -> (Network, [NodeId; 4]) {
        let mut topology = Topology::default();
        let nodes = ["a", "b", "c", "d"].map(|name| topology.add_node(name));
        let [a, b, c, d] = nodes;
        let ends = [(a, b), (b, d), (a, c), (c, d)]
            .into_iter()
            .flat_map(|(one, other)| [(one, other), (other, one)]);
        for (number, (node, neighbour)) in (0..).zip(ends) {
            topology.add_on_wire(node, neighbour, number, "");
        }
        topology.make_routes();
        let mut network = Network::new(topology, IpVersion::V6);
        for number in 0..8u32 {
            let wire = Wire::new(
                WireConfig {
                    rate_bps: u64::MAX,
                    delay: Span::from_ms(1),
                    queue: QueueLimit::Packets(1),
                    mtu_bytes: 1500,
                    outages: Vec::new(),
                },
                None,
            );
            let addresses = [Address(number), Address(number ^ 1)];
            network.add_link(AnyLink::Wire(wire), "", &addresses, stream(""));
        }
        (network, nodes)
    }

    const WAY: [Address; 2] = [Address(0), Address(3)];

    /// Sends a segment from a to d.
    fn send(network: &mut Network, moment: &mut Moment<'_>, beginning: &mut Onward) {
        let FirstHop::Wire(wire, onward) = network.first_hop(NodeId(0), WAY, beginning) else {
            panic!("no wire")
        };
        let [source, destination] = WAY;
        let (id, place, blank) = network.reserve();
        blank.write(crate::packet::Packet { id, source, destination, ..segment(0, Flags::ACK, 0) });
        let _ = network.put_on_wire(moment, wire, (place, onward));
    }

    /// When packets arrive, in milliseconds, and how often they wake a run until then.
    fn arrivals(network: &mut Network, queue: &mut EventQueue<Wake>) -> Vec<(u64, u32)> {
        let (mut arrived, mut wakes) = (Vec::new(), 0);
        queue.end_at(Time::MAX);
        while let Some((now, wake)) = queue.pop() {
            let number = wake.landing().expect("a packet on a wire");
            wakes += 1;
            let here = network.land_all(&mut Moment::new(now, queue), number);
            arrived.extend(here.iter().map(|_| (now.as_ns() / 1_000_000, wakes)));
            assert_eq!(network.check_conservation(), Ok(()));
        }
        arrived
    }

    #[test]
    fn a_reverse_tunnel_takes_packets_off_their_way() {
        let (mut network, [_, b, ..]) = diamond();
        let mut queue = EventQueue::new();
        let mut beginning = Onward::UNKNOWN;
        send(&mut network, &mut Moment::new(Time::ZERO, &mut queue), &mut beginning);
        assert_eq!(network.topology.ways.steps(), [0, 2, END]);
        // While it is on its way to b, b becomes the foreign agent of who sends it, and has a tunnel to c,
        // which knows nothing of it.
        let tunnel = Ends { entry: Address(1), exit: Address(5) };
        network.set_visitor(b, Address(1), WAY[0], Some(Address(1)), Some(tunnel));
        assert_eq!(arrivals(&mut network, &mut queue), []);
        assert_eq!(network.tunnels.encapsulated, 1);
    }

    #[test]
    fn packets_of_a_connection_have_their_way_until_a_route_changes() {
        let (mut network, [a, b, ..]) = diamond();
        let mut queue = EventQueue::new();
        let mut beginning = Onward::UNKNOWN;
        send(&mut network, &mut Moment::new(Time::ZERO, &mut queue), &mut beginning);
        assert_eq!(network.topology.ways.steps(), [0, 2, END]);
        assert_eq!(arrivals(&mut network, &mut queue), [(2, 2)]);
        // Another connection between the same ends has the same way.
        let mut of_another = Onward::UNKNOWN;
        let now = Time::ZERO + Span::from_ms(5);
        send(&mut network, &mut Moment::new(now, &mut queue), &mut of_another);
        assert_eq!((of_another, arrivals(&mut network, &mut queue)), (beginning, vec![(7, 2)]));
        // The second packet finds the way that the first has found.
        let now = Time::ZERO + Span::from_ms(10);
        send(&mut network, &mut Moment::new(now, &mut queue), &mut beginning);
        assert_eq!(network.topology.ways.steps(), [0, 2, END]);
        // While it is on its way to b, b leads back to a, and a by c.
        network.topology.set_route(b, WAY[1], Some(Address(1)));
        network.topology.set_route(a, WAY[1], Some(Address(4)));
        assert_eq!(arrivals(&mut network, &mut queue), [(14, 4)]);
        // The third goes by c at once, and so does one of another connection.
        for (ms, mut beginning) in [(20, beginning), (30, Onward::UNKNOWN)] {
            let now = Time::ZERO + Span::from_ms(ms);
            send(&mut network, &mut Moment::new(now, &mut queue), &mut beginning);
            assert_eq!(arrivals(&mut network, &mut queue), [(ms + 2, 2)]);
        }
        assert_eq!(network.topology.ways.steps(), []);
    }
}
