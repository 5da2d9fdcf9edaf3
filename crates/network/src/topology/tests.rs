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
    // A ring of six, whose first link costs 3. It is the shortest way to b. To c both ways cost 4, so that
    // which was described first is taken. To d the other way costs 3; by links alone both were 3.
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
    // In a chain each node keeps which branch is its largest. In a binary tree of 2^12 - 1 nodes at most 11
    // of the nodes above a node have it in their smaller branch.
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
