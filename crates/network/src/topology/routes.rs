//! The routes: how they are made, and what is asked of them.

use super::forest::{Forest, UNDECIDED};
use super::search::{self, Towards};
use super::{Bound, Interface, NodeId, Routes, Topology, UNREACHABLE, reachable};
use roamsim_protocols::Address;
use std::collections::BTreeMap;
use std::sync::OnceLock;

impl Topology {
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
    pub(super) fn table(&self, from: NodeId, number: usize) -> &[u32] {
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
    pub(super) fn first_interfaces(&self, from: usize) -> Vec<u32> {
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
