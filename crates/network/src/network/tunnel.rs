//! Tunnels of Mobile IP at home agents and foreign agents (RFC 5944 section 4.2, RFC 2003; the reverse
//! tunnel: RFC 3024, direct delivery style).
//!
//! - A home agent intercepts packets to a home address with a binding. Its route to that address is
//!   removed, and packets without a route are looked up here. So networks without Mobile IP never run this
//!   code.
//! - A foreign agent delivers packets from the tunnel to its visitor over the visitor's cell, and drops
//!   packets for anybody else. With a reverse tunnel it puts the visitor's packets into the tunnel to the
//!   home agent.
//! - A node with a co-located care-of address takes packets for its home address out of the tunnel itself.
//! - A home agent accepts packets from the reverse tunnel only if they come from the bound care-of address.
//!
//! In a tunnel a packet has [`HEADER_BYTES`] octets more. Tunnels do not fragment: a link drops a packet
//! that is then too large. Not modelled: ICMP errors into and out of the tunnel, and path MTU discovery by
//! them (RFC 2003 sections 4 and 5).

use super::{Account, DropCount, Network};
use crate::alarm::Moment;
use crate::drops::DropReason;
use crate::packet::{Carried, InnerHeader, Packet};
use crate::topology::NodeId;
use roamsim_engine::Time;
use roamsim_protocols::Address;
use std::collections::{BTreeMap, BTreeSet};

pub use roamsim_protocols::mobile_ip::wire::tunnel::HEADER_BYTES;

/// The two ends of a tunnel, seen from the one where packets enter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ends {
    /// The source of the outer header.
    pub entry: Address,
    /// Its destination.
    pub exit: Address,
}

/// Where a packet of a mobile node was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// At an agent that did not have the mobile node on its list.
    Agent,
    /// On a link between the agents, in the tunnel.
    Tunnel,
}

/// A packet of a flow that a tunnel has lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostInTunnel {
    /// When.
    pub at: Time,
    /// Where.
    pub place: Place,
    /// Whether it was on its way to the mobile node.
    pub to_mobile_node: bool,
    /// What it carried.
    pub carried: Carried,
}

/// The tunnels of a network.
#[derive(Clone, Debug, Default)]
pub struct Tunnels {
    /// By home address, its home agent and the tunnel from there.
    bindings: BTreeMap<Address, (NodeId, Ends)>,
    /// By care-of address and home address: the foreign agent's interface to the visitor.
    visitors: BTreeMap<(Address, Address), Address>,
    /// By foreign agent and home address.
    reverse: BTreeMap<(NodeId, Address), Ends>,
    /// Home addresses of nodes with co-located care-of addresses, which are ends of tunnels themselves.
    co_located: BTreeSet<Address>,
    not_registered: BTreeMap<NodeId, DropCount>,
    /// What was lost, by home address.
    lost: BTreeMap<Address, Vec<LostInTunnel>>,
    /// Packets that entered a tunnel.
    pub encapsulated: u64,
    /// Packets that left one.
    pub decapsulated: u64,
}

impl Tunnels {
    #[inline]
    pub(crate) fn has_reverse(&self) -> bool {
        !self.reverse.is_empty()
    }

    pub(crate) fn reverse(&self, node: NodeId, source: Address) -> Option<Ends> {
        self.reverse.get(&(node, source)).copied()
    }

    /// Packets dropped by agents that did not have the mobile node on their list, by agent.
    pub fn not_registered_drops(&self) -> impl Iterator<Item = (NodeId, DropCount)> + '_ {
        self.not_registered.iter().map(|(&node, &count)| (node, count))
    }

    /// A packet in a tunnel was lost on a link.
    #[cold]
    pub(crate) fn lost_on_the_way(&mut self, at: Time, packet: &Packet) {
        self.lost(at, Place::Tunnel, packet);
    }

    fn lost(&mut self, at: Time, place: Place, packet: &Packet) {
        let Some((inner, carried)) = packet.tunnel.zip(packet.carried()) else { return };
        let to_mobile_node = self.visitors.contains_key(&(packet.destination, inner.destination()))
            || self.bindings.contains_key(&inner.destination());
        let home_address = if to_mobile_node { inner.destination() } else { inner.source() };
        let lost = LostInTunnel { at, place, to_mobile_node, carried };
        self.lost.entry(home_address).or_default().push(lost);
    }

    /// Takes what was lost of a mobile node's packets in one direction, in the order of losing: before an
    /// instant, or all.
    pub(crate) fn take_lost(
        &mut self,
        home_address: Address,
        to_mobile_node: bool,
        before: Option<Time>,
    ) -> Vec<LostInTunnel> {
        let Some(lost) = self.lost.get_mut(&home_address) else { return Vec::new() };
        let taken = |lost: &mut LostInTunnel| {
            lost.to_mobile_node == to_mobile_node && before.is_none_or(|before| lost.at < before)
        };
        lost.extract_if(.., taken).collect()
    }

    /// The tunnel of a home agent to a mobile node of its own.
    fn binding(&self, agent: NodeId, home_address: Address) -> Option<Ends> {
        self.bindings.get(&home_address).filter(|binding| binding.0 == agent).map(|binding| binding.1)
    }
}

impl Network {
    /// Sets or takes away a binding of the home agent at `agent`: what is for `home_address` goes into the
    /// tunnel, or over `home_interface`, the agent's interface to the mobile node.
    pub fn set_binding(
        &mut self,
        agent: NodeId,
        home_address: Address,
        home_interface: Address,
        tunnel: Option<Ends>,
    ) {
        match tunnel {
            Some(ends) => self.tunnels.bindings.insert(home_address, (agent, ends)),
            None => self.tunnels.bindings.remove(&home_address),
        };
        let route = if tunnel.is_some() { None } else { Some(home_interface) };
        self.topology.set_route(agent, home_address, route);
    }

    /// The node with this home address takes its packets out of the tunnel itself.
    pub fn add_co_located(&mut self, home_address: Address) {
        self.tunnels.co_located.insert(home_address);
    }

    /// Sets or removes a visitor of the foreign agent with this care-of address.
    pub fn set_visitor(
        &mut self,
        agent: NodeId,
        care_of_address: Address,
        home_address: Address,
        interface: Option<Address>,
        reverse_tunnel: Option<Ends>,
    ) {
        match interface {
            Some(interface) => self.tunnels.visitors.insert((care_of_address, home_address), interface),
            None => self.tunnels.visitors.remove(&(care_of_address, home_address)),
        };
        match reverse_tunnel {
            Some(ends) => {
                self.topology.diverts();
                self.tunnels.reverse.insert((agent, home_address), ends)
            }
            None => self.tunnels.reverse.remove(&(agent, home_address)),
        };
    }

    /// A node has no route for a packet: it is for a mobile node that is away, or for nobody.
    #[cold]
    pub(crate) fn put_into_tunnel(&mut self, moment: &mut Moment<'_>, node: NodeId, packet: Packet) {
        let now = moment.now;
        match self.tunnels.binding(node, packet.destination) {
            Some(ends) if packet.tunnel.is_none() => self.encapsulate(moment, node, ends, packet),
            _ => self.drop_unroutable(now, node, &packet),
        }
    }

    #[cold]
    pub(crate) fn enter_reverse_tunnel(&mut self, moment: &mut Moment<'_>, node: NodeId, packet: Packet) {
        if let Some(ends) = self.tunnels.reverse(node, packet.source) {
            self.encapsulate(moment, node, ends, packet);
        }
    }

    fn encapsulate(&mut self, moment: &mut Moment<'_>, node: NodeId, ends: Ends, packet: Packet) {
        self.tunnels.encapsulated += 1;
        let packet = Packet {
            source: ends.entry,
            destination: ends.exit,
            size_bytes: packet.size_bytes + HEADER_BYTES,
            tunnel: Some(InnerHeader::new(packet.source, packet.destination)),
            ..packet
        };
        let egress = self.topology.route_to(node, ends.exit);
        self.put_out(moment, node, egress, packet);
    }

    /// A packet has come to the end of its tunnel: it goes on to its visitor, or out of the reverse tunnel;
    /// it is returned if it is for a socket of this node.
    #[cold]
    pub(crate) fn leave_tunnel(
        &mut self,
        moment: &mut Moment<'_>,
        node: NodeId,
        outer: Packet,
    ) -> Option<Packet> {
        let now = moment.now;
        let inner = outer.tunnel?;
        let visitor = self.tunnels.visitors.get(&(outer.destination, inner.destination())).copied();
        let bound = self.tunnels.binding(node, inner.source());
        let from_bound = bound.is_some_and(|ends| ends.exit == outer.source);
        let own = self.tunnels.co_located.contains(&inner.destination())
            && self.topology.owner(inner.destination()) == node;
        if visitor.is_none() && !from_bound && !own {
            self.drop_not_registered(now, node, &outer);
            return None;
        }
        self.tunnels.decapsulated += 1;
        let packet = Packet {
            source: inner.source(),
            destination: inner.destination(),
            size_bytes: outer.size_bytes - HEADER_BYTES,
            tunnel: None,
            ..outer
        };
        if visitor.is_none() && self.topology.owner(packet.destination) == node {
            return self.hand_up(now, node, packet);
        }
        let egress = visitor.or_else(|| self.topology.route_to(node, packet.destination));
        self.put_out(moment, node, egress, packet);
        None
    }

    fn drop_not_registered(&mut self, now: Time, node: NodeId, packet: &Packet) {
        self.tunnels.not_registered.entry(node).or_default().add(packet.size_bytes);
        self.end_in_a_drop(Account::of(packet));
        self.tunnels.lost(now, Place::Agent, packet);
        if let Some(recorder) = &mut self.recorder {
            recorder.dropped_at(now, node, DropReason::NotRegistered, packet);
        }
    }
}
