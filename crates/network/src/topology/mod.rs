//! Nodes, their interfaces, and the static routes between them.
//!
//! Routes are shortest paths by the sum of their links' costs, the same in both directions. Of equally short
//! ones a node takes the one whose first link was described first. They are made once: links do not leave,
//! and an outage is not seen by routing.
//!
//! A route leads to a node, by whichever interface is nearest - unless the interface is *bound*
//! ([`Topology::bind`]): then packets to its address arrive over its own link. Stations of cells are bound,
//! and so are hosts with several addresses that matter. A node with a bound interface is a host: no route
//! leads through it. What a handover may change without making routes anew: where packets to an address go
//! ([`Topology::redirect`]), and by which interface a host sends ([`Topology::set_egress`]).

mod forest;
mod search;

use self::forest::{Branches, Forest, UNDECIDED};
use self::search::Towards;
use crate::names::shared;
use crate::ways::Ways;
use roamsim_protocols::{Address, IpAddresses};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::net::IpAddr;
use std::ops::Deref;
use std::slice;
use std::sync::{Arc, OnceLock};

/// A node's place on a link: 0, 1, ... in the order in which the link was described.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Attachment(pub u32);

/// A node's number, in the order of the scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

/// A link's number. A point-to-point link is two: one a direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LinkId(pub u32);

/// A node's end of a link. Its node, the link that it sends on and its place there are asked for by its
/// address ([`Topology::owner`], [`Topology::attachment`]).
#[derive(Clone, Debug)]
pub struct Interface {
    /// By which its own end and the others know each other: the link, of a point-to-point link the first of
    /// the two, and the first of the attachments of which that is so.
    pub joins: (LinkId, Attachment),
    /// The node that the link leads to.
    pub neighbour: NodeId,
    /// The largest packet that the link takes, in octets; that of IP has 16 bits.
    pub mtu_bytes: u16,
    /// What the link costs on a route (RFC 2328 appendix C.3, interface output cost: 16 bits).
    pub cost: u16,
    /// Its name, for captures: the link's.
    pub name: Arc<str>,
}

const _: () = assert!(size_of::<Interface>() <= 32);

/// A node.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its name in the scenario.
    pub name: Arc<str>,
    /// Numbers of its interfaces. An interface's number is its address; [`Topology::ip`] writes it as IP.
    pub interfaces: Interfaces,
}

/// The interfaces of a node: mostly one, which needs no memory elsewhere.
#[derive(Clone, Debug)]
pub enum Interfaces {
    /// One.
    One(u32),
    /// None, or several.
    Several(Vec<u32>),
}

impl Interfaces {
    fn push(&mut self, number: u32) {
        match self {
            Interfaces::One(first) => *self = Interfaces::Several(vec![*first, number]),
            Interfaces::Several(none) if none.is_empty() => *self = Interfaces::One(number),
            Interfaces::Several(all) => all.push(number),
        }
    }
}

impl Deref for Interfaces {
    type Target = [u32];

    fn deref(&self) -> &[u32] {
        match self {
            Interfaces::One(only) => slice::from_ref(only),
            Interfaces::Several(all) => all,
        }
    }
}

/// Of a node. There may be many, few of which forward.
#[derive(Clone, Copy, Debug)]
enum Routes {
    /// One interface for everything (`UNREACHABLE`: no interface at all).
    Default(u32),
    /// Of a node that forwards: what it knows of its tree, and its table where that does not tell, have this
    /// number.
    Router(u32),
    /// Of a host with several interfaces: found when it is asked for ([`Topology::host_route`]). Its table,
    /// if it needs one, has this number.
    Host(u32),
}

/// The interface by target: the destination node, or behind the nodes, the bound interface. `UNREACHABLE`
/// where there is none. Made when it is first asked for: all together grow with the square of the nodes.
type Table = OnceLock<Box<[u32]>>;

/// A bound interface, and how packets to it arrive.
#[derive(Clone, Copy, Debug)]
struct Bound {
    address: u32,
    /// From the node at the other end of its link, by this interface.
    from: NodeId,
    by: u32,
}

const _: () = assert!(size_of::<Routes>() == 8);

const UNREACHABLE: u32 = u32::MAX;

/// The interface that a route says.
#[inline]
fn reachable(interface: u32) -> Option<Address> {
    (interface != UNREACHABLE).then_some(Address(interface))
}

/// All nodes and interfaces.
#[derive(Clone, Debug, Default)]
pub struct Topology {
    nodes: Vec<Node>,
    interfaces: Vec<Interface>,
    /// What every packet asks for, apart from the rest, so that it stays in the cache.
    hot: Vec<Hot>,
    /// How addresses are written as IP.
    ip: Arc<IpAddresses>,
    /// The addresses by which others know nodes, of those that have one such.
    primary: BTreeMap<NodeId, Address>,
    /// By node.
    routes: Vec<Routes>,
    forest: Forest,
    /// Of those that forward.
    branches: Vec<Branches>,
    /// Of those that forward, then of hosts with several interfaces.
    tables: Vec<Table>,
    /// The bound interfaces, in the order of the targets behind the nodes.
    bound: Vec<Bound>,
    /// The place of each in there.
    bound_at: BTreeMap<u32, u32>,
    /// By node, whether an interface of it is bound.
    host: Vec<bool>,
    /// Of connections, as long as packets go where they went.
    pub(crate) ways: Ways,
    /// Searches by destination: nodes on rings, and either the hosts with several interfaces or their
    /// neighbours, whichever are fewer. Made when they are first asked for.
    towards: BTreeMap<NodeId, OnceLock<Towards>>,
    /// Whether hosts with several interfaces are fewer than their neighbours: then they have tables.
    hosts_are_few: bool,
}

/// By address: the node, and its place on its link.
#[derive(Clone, Copy, Debug)]
struct Hot {
    owner: NodeId,
    link: LinkId,
    attachment: Attachment,
    /// What routes to it are found by: its node, or for a bound interface, its place behind the nodes.
    target: u32,
    /// Whether what comes from it leaves by it.
    own_egress: bool,
}

impl Topology {
    /// Makes room for so many nodes and interfaces: what grows is copied again and again, and has room to
    /// spare.
    pub fn expect(&mut self, nodes: usize, interfaces: usize) {
        self.nodes.reserve_exact(nodes);
        self.routes.reserve_exact(nodes);
        self.host.reserve_exact(nodes);
        self.interfaces.reserve_exact(interfaces);
        self.hot.reserve_exact(interfaces);
    }

    /// Adds a node.
    pub fn add_node(&mut self, name: impl Into<Arc<str>>) -> NodeId {
        self.nodes.push(Node { name: name.into(), interfaces: Interfaces::Several(Vec::new()) });
        self.routes.push(Routes::Default(UNREACHABLE));
        self.host.push(false);
        NodeId((self.nodes.len() - 1) as u32)
    }

    /// Adds an interface to its node, which sends by that attachment of the link.
    pub fn add_interface(
        &mut self,
        node: NodeId,
        (link, attachment): (LinkId, Attachment),
        mut interface: Interface,
    ) -> Address {
        self.ways.end();
        // Those of one link come one after the other.
        interface.name = shared(interface.name, self.interfaces.last().map(|before| &before.name));
        let number = self.interfaces.len() as u32;
        self.nodes[node.0 as usize].interfaces.push(number);
        self.hot.push(Hot { owner: node, link, attachment, target: node.0, own_egress: false });
        self.interfaces.push(interface);
        Address(number)
    }

    /// Gives an interface an address in place of its automatic one.
    pub fn choose_address(&mut self, interface: Address, ip: IpAddr) {
        Arc::make_mut(&mut self.ip).choose(interface, ip);
    }

    /// How addresses are written as IP.
    pub fn ip(&self) -> &Arc<IpAddresses> {
        &self.ip
    }

    /// The interface that has this address. Of a node that has it on several, the one by which others know
    /// the node, or the first.
    pub fn find(&self, ip: IpAddr) -> Option<Address> {
        let first = self.ip.find(ip).filter(|first| (first.0 as usize) < self.interfaces.len())?;
        let primary = self.primary(self.owner(first));
        primary.filter(|&primary| self.ip.chosen(primary) == Some(ip)).or(Some(first))
    }

    /// Packets no longer go where they went, by what routes do not say.
    pub(crate) fn diverts(&mut self) {
        self.ways.end();
    }

    /// The node of this number.
    pub fn node(&self, node: NodeId) -> &Node {
        &self.nodes[node.0 as usize]
    }

    /// All nodes, in order.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The addresses of all interfaces, in order.
    pub fn addresses(&self) -> impl Iterator<Item = Address> + use<> {
        (0..self.interfaces.len() as u32).map(Address)
    }

    /// All interfaces, in order of their addresses.
    pub fn interfaces(&self) -> &[Interface] {
        &self.interfaces
    }

    /// The interface that has this address.
    #[inline]
    pub fn interface(&self, address: Address) -> &Interface {
        &self.interfaces[address.0 as usize]
    }

    /// The node that has this address.
    #[inline]
    pub fn owner(&self, address: Address) -> NodeId {
        self.hot[address.0 as usize].owner
    }

    /// The name of the node that has this address.
    pub fn owner_name(&self, address: Address) -> &str {
        &self.node(self.owner(address)).name
    }

    /// The link of the interface with this address, and its place there.
    #[inline]
    pub fn attachment(&self, address: Address) -> (LinkId, Attachment) {
        let hot = self.hot[address.0 as usize];
        (hot.link, hot.attachment)
    }

    /// The interface by which `from` reaches the node of `destination`.
    #[inline]
    pub fn route(&self, from: NodeId, destination: NodeId) -> Option<Address> {
        match self.routes[from.0 as usize] {
            Routes::Default(interface) => reachable(interface),
            Routes::Router(number) => reachable(self.router_route(from, number as usize, destination)),
            Routes::Host(_) => self.host_route(from, destination),
        }
    }

    /// The interface by which `from` sends on what is for `destination`.
    #[inline]
    pub fn route_to(&self, from: NodeId, destination: Address) -> Option<Address> {
        match self.routes[from.0 as usize] {
            Routes::Default(interface) => reachable(interface),
            Routes::Router(number) => {
                let target = self.hot[destination.0 as usize].target as usize;
                let number = number as usize;
                if let Some(table) = self.tables[number].get() {
                    return table.get(target).copied().and_then(reachable);
                }
                let Some(place) = target.checked_sub(self.nodes.len()) else {
                    return reachable(self.router_route(from, number, NodeId(target as u32)));
                };
                let bound = self.bound.get(place)?;
                if bound.from == from {
                    return reachable(bound.by);
                }
                reachable(self.router_route(from, number, bound.from))
            }
            Routes::Host(_) => self.host_route_to(from, destination),
        }
    }

    /// The interface by which a node that forwards reaches another.
    #[inline]
    fn router_route(&self, from: NodeId, number: usize, destination: NodeId) -> u32 {
        match self.tables[number].get() {
            Some(table) => table[destination.0 as usize],
            None => match self.forest.next(&self.branches[number], destination) {
                UNDECIDED => self.search_route(from, destination),
                next => next,
            },
        }
    }

    /// The interface by which a node that forwards reaches another to which several ways may lead.
    #[cold]
    fn search_route(&self, from: NodeId, destination: NodeId) -> u32 {
        let root = self.forest.ring_root(destination);
        if let Some(to) = root.or(self.hosts_are_few.then_some(destination)) {
            return self.towards(to).map_or(UNREACHABLE, |way| way.first(from));
        }
        let last_links =
            self.node(destination).interfaces.iter().map(|&number| self.interface(Address(number)));
        let ways = last_links.filter_map(|last| {
            if last.neighbour == from {
                return self.nearest_interface(from, destination);
            }
            let way = self.towards(last.neighbour)?;
            Some((way.cost(from).saturating_add(last.cost.into()), way.first(from)))
        });
        ways.min().map_or(UNREACHABLE, |(_, first)| first)
    }

    /// Of the interfaces to a neighbour the one that costs the least, and its cost before it.
    fn nearest_interface(&self, from: NodeId, neighbour: NodeId) -> Option<(u32, u32)> {
        let own =
            self.node(from).interfaces.iter().map(|&number| (&self.interfaces[number as usize], number));
        own.filter(|(own, _)| own.neighbour == neighbour).map(|(own, number)| (own.cost.into(), number)).min()
    }

    /// The ways to a node, where they are kept.
    fn towards(&self, to: NodeId) -> Option<&Towards> {
        Some(self.towards.get(&to)?.get_or_init(|| Towards::new(self, to, self.hosts_are_few)))
    }

    /// The table of a node, by its number.
    #[cold]
    fn table(&self, from: NodeId, number: usize) -> &[u32] {
        self.tables[number].get_or_init(|| self.first_interfaces(from.0 as usize).into())
    }

    /// The interface by which a packet leaves the node that made it.
    #[inline]
    pub fn egress(&self, from: NodeId, source: Address, destination: Address) -> Option<Address> {
        match self.hot.get(source.0 as usize) {
            Some(hot) if hot.own_egress => Some(source),
            _ => self.route_to(from, destination),
        }
    }

    /// The address by which others know a node; `None`: of the interface that is nearest to them.
    pub fn primary(&self, node: NodeId) -> Option<Address> {
        self.primary.get(&node).copied()
    }

    /// The address by which `other` knows `node`: its primary address, or that of the interface by which
    /// `node` reaches `other`.
    pub fn address_for(&self, node: NodeId, other: NodeId) -> Option<Address> {
        self.primary(node).or_else(|| self.route(node, other))
    }

    /// The addresses by which `other` may reach `node`, the one by which it knows it first: several where
    /// they stay with their links ([`Topology::bind_source`]).
    pub fn addresses_for(&self, node: NodeId, other: NodeId) -> Vec<Address> {
        let Some(first) = self.address_for(node, other) else { return Vec::new() };
        let own = |address: &Address| *address != first && self.hot[address.0 as usize].own_egress;
        let others = self.node(node).interfaces.iter().copied().map(Address).filter(own);
        std::iter::once(first).chain(others).collect()
    }

    /// Binds an interface: packets to its address arrive over its own link, and its node forwards nothing. To
    /// be called before [`Topology::make_routes`].
    pub fn bind(&mut self, address: Address) {
        self.ways.end();
        if let Entry::Vacant(place) = self.bound_at.entry(address.0) {
            place.insert(self.bound.len() as u32);
            self.bound.push(Bound { address: address.0, from: NodeId(u32::MAX), by: UNREACHABLE });
            let owner = self.owner(address);
            self.host[owner.0 as usize] = true;
        }
    }

    /// Sets whether what its node sends from this address leaves by its own link, wherever it is for.
    pub fn bind_source(&mut self, address: Address, own_egress: bool) {
        self.ways.end();
        self.hot[address.0 as usize].own_egress = own_egress;
    }

    /// Sets the address by which others know a node.
    pub fn set_primary(&mut self, address: Address) {
        let owner = self.owner(address);
        self.primary.insert(owner, address);
    }

    /// Sends packets to `address` where those to `to` go by themselves, at once and everywhere. Both are
    /// bound; an address that is sent to itself is free again.
    pub fn redirect(&mut self, address: Address, to: Address) {
        self.ways.end();
        if let Some(&place) = self.bound_at.get(&to.0) {
            self.hot[address.0 as usize].target = self.nodes.len() as u32 + place;
        }
    }

    /// Sets the interface by which one node sends on what is for a bound address; `None`: it has no route
    /// there.
    pub fn set_route(&mut self, node: NodeId, destination: Address, interface: Option<Address>) {
        self.ways.end();
        let target = self.hot[destination.0 as usize].target as usize;
        if let Routes::Router(number) | Routes::Host(number) = self.routes[node.0 as usize] {
            // What it is told, as a home agent is, has its place in a table.
            self.table(node, number as usize);
            let table = self.tables[number as usize].get_mut();
            if let Some(entry) = table.and_then(|table| table.get_mut(target)) {
                *entry = interface.map_or(UNREACHABLE, |address| address.0);
            }
        }
    }

    /// Makes a host send everything by one interface, or by none.
    pub fn set_egress(&mut self, node: NodeId, interface: Option<Address>) {
        self.ways.end();
        self.routes[node.0 as usize] = Routes::Default(interface.map_or(UNREACHABLE, |address| address.0));
    }

    /// The interfaces on the way from `from` to `to`, empty when no route leads there.
    pub fn path(&self, from: NodeId, to: NodeId) -> Vec<Address> {
        let mut path = Vec::new();
        let mut at = from;
        while at != to {
            match self.route(at, to) {
                Some(interface) if path.len() < self.nodes.len() => {
                    path.push(interface);
                    at = self.interface(interface).neighbour;
                }
                _ => return Vec::new(),
            }
        }
        path
    }

    /// The largest packet that the way from one address to another carries; `None` where no route leads
    /// there.
    pub fn path_mtu(&self, source: Address, destination: Address) -> Option<u32> {
        let (mut at, end) = (self.owner(source), self.owner(destination));
        let mut mtu_bytes = u32::MAX;
        let mut interface = self.egress(at, source, destination);
        for _ in 0..self.nodes.len() {
            let next = self.interface(interface?);
            mtu_bytes = mtu_bytes.min(next.mtu_bytes.into());
            at = next.neighbour;
            if at == end {
                return Some(mtu_bytes);
            }
            interface = self.route_to(at, destination);
        }
        None
    }

    /// Makes the routes of all nodes. Nodes with one interface send everything there; the others follow trees
    /// where one way leads to a destination, and search where there may be several.
    pub fn make_routes(&mut self) {
        self.ways.end();
        let (mut routers, mut hosts) = (Vec::new(), 0);
        for (number, node) in self.nodes.iter().enumerate() {
            self.routes[number] = match *node.interfaces {
                [] => Routes::Default(UNREACHABLE),
                [only] => Routes::Default(only),
                _ if self.host[number] => Routes::Host(hosts),
                _ => Routes::Router(routers.len() as u32),
            };
            match self.routes[number] {
                Routes::Default(_) => {}
                Routes::Router(_) => routers.push(number),
                Routes::Host(_) => hosts += 1,
            }
        }
        (self.forest, self.branches) = Forest::new(&self.nodes, &self.interfaces, &self.host, &routers);
        self.tables = vec![OnceLock::new(); routers.len() + hosts as usize];
        self.towards.clear();
        for (node, routes) in self.nodes.iter().zip(&mut self.routes) {
            if let Routes::Host(number) = routes {
                *number += routers.len() as u32;
                let neighbours = node.interfaces.iter().map(|&own| self.interfaces[own as usize].neighbour);
                self.towards.extend(neighbours.map(|neighbour| (neighbour, OnceLock::new())));
            }
        }
        self.hosts_are_few = (hosts as usize) < self.towards.len();
        if self.hosts_are_few {
            let hosts = self.routes.iter().zip(0..).filter(|(routes, _)| matches!(routes, Routes::Host(_)));
            self.towards = hosts.map(|(_, node)| (NodeId(node), OnceLock::new())).collect();
        }
        self.towards.extend(self.forest.ring_roots().map(|root| (root, OnceLock::new())));
        self.find_ways_to_bound();
        for place in 0..self.bound.len() {
            let address = Address(self.bound[place].address);
            self.redirect(address, address);
        }
    }

    /// Finds by which interfaces packets to bound ones arrive.
    fn find_ways_to_bound(&mut self) {
        let mut opposite = BTreeMap::new();
        for (number, Interface { neighbour, joins, .. }) in (0..).zip(&self.interfaces) {
            if self.host[neighbour.0 as usize] {
                let owner = self.hot[number as usize].owner;
                opposite.entry((owner, *neighbour, *joins)).or_insert(number);
            }
        }
        for bound in &mut self.bound {
            let Interface { neighbour, joins, .. } = self.interfaces[bound.address as usize];
            let owner = self.hot[bound.address as usize].owner;
            bound.from = neighbour;
            bound.by = opposite.get(&(neighbour, owner, joins)).copied().unwrap_or(UNREACHABLE);
        }
    }

    /// The first interface of a shortest path from a node to every other, and to every bound interface.
    fn first_interfaces(&self, from: usize) -> Vec<u32> {
        let mut first = search::first_interfaces(self, from);
        // To the node at the other end of the link of a bound interface, and over that link.
        let to_bound = self.bound.iter().map(|&Bound { address, from: last, by }| {
            match (self.owner(Address(address)).0 as usize == from, last.0 as usize == from) {
                (true, _) => address,
                (false, true) => by,
                (false, false) => first[last.0 as usize],
            }
        });
        let to_bound: Vec<u32> = to_bound.collect();
        first.extend(to_bound);
        first
    }

    /// What [`Topology::first_interfaces`] would find for a host: of its interfaces, the first of those by
    /// which the way is shortest.
    #[cold]
    fn host_route(&self, from: NodeId, destination: NodeId) -> Option<Address> {
        if let Some(table) = self.host_table(from) {
            return reachable(table[destination.0 as usize]);
        }
        let cost = |&number: &u32| {
            let Interface { neighbour, cost, .. } = self.interfaces[number as usize];
            let behind = self.towards(neighbour).map_or(UNREACHABLE, |way| way.cost(destination));
            if neighbour == from { UNREACHABLE } else { behind.saturating_add(cost.into()) }
        };
        let nearest = self.node(from).interfaces.iter().min_by_key(|&number| cost(number));
        nearest.filter(|&number| from != destination && cost(number) != UNREACHABLE).copied().map(Address)
    }

    /// The same for an address.
    #[cold]
    fn host_route_to(&self, from: NodeId, destination: Address) -> Option<Address> {
        let target = self.hot[destination.0 as usize].target as usize;
        if let Some(table) = self.host_table(from) {
            return table.get(target).copied().and_then(reachable);
        }
        let Some(place) = target.checked_sub(self.nodes.len()) else {
            return self.host_route(from, NodeId(target as u32));
        };
        let &Bound { address, from: last, by } = self.bound.get(place)?;
        match (self.owner(Address(address)) == from, last == from) {
            (true, _) => Some(Address(address)),
            (false, true) => reachable(by),
            (false, false) => self.host_route(from, last),
        }
    }

    /// The table of a host with several interfaces, where it has one.
    fn host_table(&self, host: NodeId) -> Option<&[u32]> {
        match self.routes[host.0 as usize] {
            Routes::Host(number) if self.hosts_are_few => Some(self.table(host, number as usize)),
            Routes::Host(number) => self.tables[number as usize].get().map(|table| &**table),
            _ => None,
        }
    }
}

#[cfg(test)]
impl Topology {
    /// Adds an interface of 1500 octets to a node.
    pub(crate) fn add_plain(
        &mut self,
        (node, neighbour): (NodeId, NodeId),
        at: (LinkId, Attachment),
        joins: LinkId,
        name: &str,
    ) -> Address {
        let joins = (joins, Attachment(0));
        self.add_interface(
            node,
            at,
            Interface { joins, neighbour, mtu_bytes: 1500, cost: 1, name: name.into() },
        )
    }

    /// The same on a wire: the directions of wire n are links 2n and 2n + 1.
    pub(crate) fn add_on_wire(&mut self, node: NodeId, neighbour: NodeId, link: u32, name: &str) -> Address {
        self.add_plain((node, neighbour), (LinkId(link), Attachment(0)), LinkId(link / 2 * 2), name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ring(names: &str) -> Topology {
        let mut topology = Topology::default();
        let nodes: Vec<_> = names.chars().map(|name| topology.add_node(name.to_string())).collect();
        for (i, &a) in nodes.iter().enumerate() {
            let b = nodes[(i + 1) % nodes.len()];
            for (node, neighbour, link) in [(a, b, 2 * i), (b, a, 2 * i + 1)] {
                topology.add_on_wire(node, neighbour, link as u32, "");
            }
        }
        topology.make_routes();
        topology
    }

    #[test]
    fn shortest_path_and_first_described_among_equals() {
        let topology = ring("abcd");
        let hops = |from, to| {
            let path = topology.path(NodeId(from), NodeId(to));
            path.iter().map(|&i| topology.interface(i).neighbour.0).collect::<Vec<_>>()
        };
        assert_eq!(hops(0, 1), [1]);
        assert_eq!(hops(1, 0), [0]);
        assert_eq!(hops(0, 3), [3]);
        // a to c: two hops either way; the link a-b was described first.
        assert_eq!(hops(0, 2), [1, 2]);
        assert!(hops(2, 2).is_empty());
    }

    #[test]
    fn the_path_is_shortest_whose_costs_are_least() {
        // Around a ring of six, the first link of which costs 3: to b it is the shortest; to c 4 either
        // way, so that it counts, which was described first; to d 3 the other way, where by links alone
        // both were 3.
        let mut topology = ring("abcdef");
        for interface in &mut topology.interfaces {
            interface.cost = if interface.joins.0 == LinkId(0) { 3 } else { 1 };
        }
        topology.make_routes();
        let hops = |from, to| {
            let path = topology.path(NodeId(from), NodeId(to));
            path.iter().map(|&i| topology.interface(i).neighbour.0).collect::<Vec<_>>()
        };
        assert_eq!((hops(0, 1), hops(0, 2)), (vec![1], vec![1, 2]));
        assert_eq!((hops(0, 3), hops(3, 0)), (vec![5, 4, 3], vec![4, 5, 0]));
    }

    #[test]
    fn an_island_is_unreachable() {
        let mut topology = ring("abc");
        let island = topology.add_node("island");
        topology.make_routes();
        assert_eq!(topology.route(NodeId(0), island), None);
        assert!(topology.path(NodeId(0), island).is_empty());
        assert!(topology.path(island, NodeId(0)).is_empty());
    }

    /// A host with a link to each of two routers, which are joined; behind router 1 a server. Nodes: host 0,
    /// routers 1 and 2, server 3. Returns the addresses of the host.
    fn two_ways() -> (Topology, [Address; 2]) {
        let mut topology = Topology::default();
        for name in ["host", "r1", "r2", "server"] {
            topology.add_node(name);
        }
        let mut host = Vec::new();
        for (number, (a, b)) in [(0, 1), (0, 2), (1, 2), (1, 3)].into_iter().enumerate() {
            for (node, neighbour, at) in [(a, b, 0), (b, a, 1)] {
                let name = format!("link {number}");
                let address =
                    topology.add_on_wire(NodeId(node), NodeId(neighbour), 2 * number as u32 + at, &name);
                if node == 0 {
                    host.push(address);
                }
            }
        }
        (topology, [host[0], host[1]])
    }

    /// The nodes that a packet to an address passes.
    fn hops(topology: &Topology, from: u32, to: Address) -> Vec<u32> {
        let mut hops = vec![from];
        while NodeId(hops[hops.len() - 1]) != topology.owner(to) && hops.len() < 9 {
            let at = NodeId(hops[hops.len() - 1]);
            let Some(interface) = topology.route_to(at, to) else { break };
            hops.push(topology.interface(interface).neighbour.0);
        }
        hops
    }

    #[test]
    fn packets_to_a_bound_address_arrive_over_its_own_link() {
        let (mut topology, [first, second]) = two_ways();
        topology.make_routes();
        // Unbound, both addresses are the node's.
        assert_eq!(hops(&topology, 3, second), [3, 1, 0]);
        topology.bind(first);
        topology.bind(second);
        topology.make_routes();
        assert_eq!(hops(&topology, 3, first), [3, 1, 0]);
        assert_eq!(hops(&topology, 3, second), [3, 1, 2, 0]);
        assert_eq!(hops(&topology, 2, first), [2, 1, 0]);
        let server = Address(7);
        assert_eq!(topology.owner(server), NodeId(3));
        assert_eq!(hops(&topology, 2, server), [2, 1, 3]);
        // By its own routes it takes the shortest way, from whichever address; when bound to its sources, the
        // link of the source.
        assert_eq!(topology.egress(NodeId(0), second, server), Some(first));
        topology.bind_source(second, true);
        assert_eq!(topology.egress(NodeId(0), second, server), Some(second));
        assert_eq!(topology.egress(NodeId(0), first, server), Some(first));
    }

    #[test]
    fn a_redirected_address_follows_the_other_at_once() {
        let (mut topology, [first, second]) = two_ways();
        topology.bind(first);
        topology.bind(second);
        topology.make_routes();
        topology.redirect(first, second);
        assert_eq!(hops(&topology, 3, first), [3, 1, 2, 0]);
        topology.redirect(first, first);
        assert_eq!(hops(&topology, 3, first), [3, 1, 0]);
        topology.set_egress(NodeId(0), Some(second));
        assert_eq!(topology.egress(NodeId(0), first, Address(7)), Some(second));
        topology.set_egress(NodeId(0), None);
        assert_eq!(topology.egress(NodeId(0), first, Address(7)), None);
    }

    #[test]
    fn a_host_is_told_a_route() {
        let (mut topology, [first, second]) = two_ways();
        topology.bind(first);
        topology.bind(second);
        // The server's only address, bound as that of a mobile node is.
        let other = Address(7);
        topology.bind(other);
        topology.make_routes();
        assert_eq!(topology.route_to(NodeId(0), other), Some(first));
        topology.set_route(NodeId(0), other, Some(second));
        assert_eq!(topology.route_to(NodeId(0), other), Some(second));
        topology.set_route(NodeId(0), other, None);
        assert_eq!(topology.route_to(NodeId(0), other), None);
        // What is for router 1 goes where it went.
        assert_eq!(topology.route_to(NodeId(0), Address(1)), Some(first));
    }

    #[test]
    fn no_route_leads_through_a_host() {
        let (mut topology, [first, _]) = two_ways();
        topology.bind(first);
        topology.make_routes();
        // Without the host in between: from r2 to the server over r1 only.
        assert_eq!(topology.path(NodeId(2), NodeId(3)).len(), 2);
        let mut cut = Topology::default();
        for name in ["a", "host", "b"] {
            cut.add_node(name);
        }
        let mut bound = Vec::new();
        for (number, (a, b)) in [(0, 1), (1, 2)].into_iter().enumerate() {
            for (node, neighbour) in [(a, b), (b, a)] {
                let link = LinkId(number as u32);
                let ends = (NodeId(node), NodeId(neighbour));
                let address = cut.add_plain(ends, (link, Attachment(0)), link, &format!("link {number}"));
                if node == 1 {
                    bound.push(address);
                }
            }
        }
        // A third interface, so that "a" has a table.
        cut.add_plain((NodeId(0), NodeId(0)), cut.attachment(bound[0]), LinkId(0), "link 0");
        cut.make_routes();
        assert_eq!(cut.route(NodeId(0), NodeId(2)), Some(Address(0)));
        bound.iter().for_each(|&address| cut.bind(address));
        cut.make_routes();
        assert_eq!(cut.route(NodeId(0), NodeId(2)), None);
    }

    #[test]
    fn parallel_links_are_told_apart_by_themselves_whatever_their_names() {
        let mut topology = Topology::default();
        let nodes = ["a", "host"].map(|name| topology.add_node(name));
        let mut there = Vec::new();
        for number in 0..3 {
            for (at, node) in nodes.into_iter().enumerate() {
                let link = 2 * number + at as u32;
                let address = topology.add_on_wire(node, nodes[1 - at], link, "the same");
                if at == 1 {
                    there.push(address);
                }
            }
        }
        there.iter().for_each(|&address| topology.bind(address));
        topology.make_routes();
        // The interfaces of "a" have the even addresses.
        let by = |to| topology.route_to(nodes[0], to);
        assert_eq!(there.iter().map(|&to| by(to)).collect::<Vec<_>>(), [0, 2, 4].map(|at| Some(Address(at))));
        // The same for a host with a table that is made when it is asked for.
        topology.bind(Address(0));
        topology.make_routes();
        let by = |to| topology.route_to(nodes[0], to);
        assert_eq!(there.iter().map(|&to| by(to)).collect::<Vec<_>>(), [0, 2, 4].map(|at| Some(Address(at))));
    }

    /// The first interface of a shortest way from one node to another. Every link is relaxed as often as
    /// there are nodes (Bellman 1958). No way leads through a host.
    fn first_of_shortest(topology: &Topology, from: NodeId, to: NodeId) -> u32 {
        let mut costs = vec![UNREACHABLE; topology.nodes.len()];
        costs[to.0 as usize] = 0;
        let by = |costs: &[u32], number: u32| {
            let Interface { neighbour, cost, .. } = topology.interfaces[number as usize];
            let ends = topology.host[neighbour.0 as usize] && neighbour != to;
            if ends { UNREACHABLE } else { costs[neighbour.0 as usize].saturating_add(cost.into()) }
        };
        for _ in 0..topology.nodes.len() {
            for number in 0..topology.interfaces.len() as u32 {
                let owner = topology.owner(Address(number)).0 as usize;
                costs[owner] = costs[owner].min(by(&costs, number));
            }
        }
        let own = topology.node(from).interfaces.iter().copied();
        let onward = own.filter(|&number| topology.interface(Address(number)).neighbour != from);
        let nearest = onward.min_by_key(|&number| by(&costs, number));
        nearest.filter(|&number| from != to && by(&costs, number) != UNREACHABLE).unwrap_or(UNREACHABLE)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        /// A node takes the first interface of its shortest ways. Most of these networks are trees, or
        /// nearly.
        #[test]
        fn routes_are_those_of_a_search_from_each_node(
            nodes in 1..9u32,
            edges in prop::collection::vec((0..9u32, 0..9u32, 1..3u16, prop::bool::weighted(0.15)), 0..11),
        ) {
            let mut topology = Topology::default();
            for node in 0..nodes {
                topology.add_node(node.to_string());
            }
            for (wire, (a, b, cost, binds)) in (0..).zip(edges) {
                let (a, b) = (NodeId(a % nodes), NodeId(b % nodes));
                for (node, neighbour, at) in [(a, b, 0), (b, a, 1)] {
                    let address = topology.add_on_wire(node, neighbour, 2 * wire + at, "");
                    topology.interfaces[address.0 as usize].cost = cost;
                    if binds && at == 1 && a != b {
                        topology.bind(address);
                    }
                }
            }
            topology.make_routes();
            for from in (0..nodes).map(NodeId) {
                if topology.node(from).interfaces.len() < 2 {
                    continue;
                }
                let mut table: Vec<u32> =
                    (0..nodes).map(|to| first_of_shortest(&topology, from, NodeId(to))).collect();
                let to_bound: Vec<u32> = topology.bound.iter().map(|bound| {
                    match (topology.owner(Address(bound.address)) == from, bound.from == from) {
                        (true, _) => bound.address,
                        (false, true) => bound.by,
                        (false, false) => table[bound.from.0 as usize],
                    }
                }).collect();
                table.extend(to_bound);
                prop_assert_eq!(&topology.first_interfaces(from.0 as usize), &table, "{:?}", from);
                for to in (0..nodes).map(NodeId) {
                    prop_assert_eq!(topology.route(from, to), reachable(table[to.0 as usize]), "{:?} to {:?}", from, to);
                }
                for to in topology.addresses() {
                    let target = topology.hot[to.0 as usize].target as usize;
                    prop_assert_eq!(topology.route_to(from, to), reachable(table[target]), "{:?} to {:?}", from, to);
                }
            }
        }
    }

    #[test]
    fn routes_of_a_chain_and_of_a_tree_need_no_tables() {
        // Of a chain each node keeps what its largest branch is; of a binary tree of 2^12 - 1 nodes a node
        // has a place in the smaller branch of a node above it 11 times at most.
        for parent_of in [|node: u32| node - 1, |node: u32| (node - 1) / 2] {
            let mut topology = Topology::default();
            for node in 0..4095 {
                topology.add_node(node.to_string());
            }
            for node in 1..4095 {
                for (a, b, at) in [(node, parent_of(node), 0), (parent_of(node), node, 1)] {
                    topology.add_on_wire(NodeId(a), NodeId(b), 2 * node + at, "");
                }
            }
            topology.make_routes();
            assert!((0..4094).all(|to| !topology.path(NodeId(4094), NodeId(to)).is_empty()));
            assert!(topology.tables.iter().all(|table| table.get().is_none()));
            assert!(topology.forest.interfaces() <= 4095 * 11);
        }
    }
}
