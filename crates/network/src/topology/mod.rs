//! Nodes, their interfaces, and the static routes between them.
//!
//! Routes are shortest paths by the sum of link costs, the same in both directions. Of equally short routes
//! a node takes the one whose first link was described first. Routes are computed once: links do not leave,
//! and routing ignores outages.
//!
//! A route leads to a node, by whichever interface is nearest, unless the interface is *bound*
//! ([`Topology::bind`]). Packets to a bound address arrive over its own link. Stations of cells are bound,
//! and so are hosts whose several addresses matter. A node with a bound interface is a host: no route leads
//! through it. Without new routes a handover may change where packets to an address go
//! ([`Topology::redirect`]), and by which interface a host sends ([`Topology::set_egress`]).

mod forest;
mod node;
mod routes;
mod search;

use self::forest::{Branches, Forest};
pub use self::node::{Attachment, Interface, Interfaces, LinkId, Node, NodeId};
use self::search::Towards;
use crate::names::shared;
use crate::ways::Ways;
use roamsim_protocols::{Address, IpAddresses};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::net::IpAddr;
use std::sync::{Arc, OnceLock};

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
mod tests;
