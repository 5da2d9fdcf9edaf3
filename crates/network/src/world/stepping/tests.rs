//! Packets from outside, through a world that is stepped.

use super::*;
use crate::drops::DropReason;
use crate::link::wired::{Wire, WireConfig};
use crate::link::{AnyLink, QueueLimit};
use crate::network::EdgeAccount;
use crate::octets::{Refusal, set_class};
use crate::packet::IpVersion;
use crate::recorder::{PacketEvent, Recorder};
use crate::testing::stream;
use crate::topology::Topology;
use crate::trace::Trace;
use crate::traffic_class::TrafficClass;
use roamsim_engine::Span;

const A: NodeId = NodeId(0);
const C: NodeId = NodeId(2);

/// From a over b to c by wires of 8 Mb/s and 10 ms.
fn row(ip: IpVersion, trace: Trace, external: &[NodeId]) -> World {
    let mut topology = Topology::default();
    let nodes = ["a", "b", "c"].map(|name| topology.add_node(name));
    for (link, (node, neighbour)) in [(0, 1), (1, 0), (1, 2), (2, 1)].into_iter().enumerate() {
        topology.add_on_wire(nodes[node], nodes[neighbour], link as u32, "");
    }
    topology.make_routes();
    let mut network = Network::new(topology, ip);
    for (from, to) in [(0, 1), (1, 0), (2, 3), (3, 2)] {
        let config = WireConfig {
            rate_bps: 8_000_000,
            delay: Span::from_ms(10),
            queue: QueueLimit::Packets(100),
            mtu_bytes: 1500,
            outages: vec![],
        };
        let wire = AnyLink::Wire(Wire::new(config, None));
        network.add_link(wire, "", &[Address(from), Address(to)], stream("link"));
    }
    network.recorder = Some(Box::new(Recorder::new(trace, true, None)));
    let mut world = World::new(network);
    external.iter().for_each(|&node| world.network.edge.open(node));
    world.begin(Time::ZERO + Span::from_secs(1));
    world
}

fn to(world: &mut World, us: u64) -> Vec<Emitted> {
    world.step(Time::ZERO + Span::from_us(us), &Watch::default(), &mut |_, _| true).expect("a step");
    std::iter::from_fn(|| world.poll_emitted()).collect()
}

/// An IPv4 packet of so many octets from one address to another, with these flags.
fn packet([from, to]: [u8; 2], flags: u8, bytes: usize) -> Vec<u8> {
    let mut octets = vec![0x45, 0];
    octets.extend((bytes as u16).to_be_bytes());
    octets.extend([0, 1, flags, 0, 64, 253, 0, 0, 10, 0, 0, from, 10, 0, 0, to]);
    octets.resize(bytes, 7);
    set_class(IpVersion::V4, &mut octets, TrafficClass::of_dscp(46));
    octets
}

fn account(world: &World, node: NodeId) -> EdgeAccount {
    world.network.edge.accounts().find(|(other, _)| *other == node).expect("external").1.clone()
}

#[test]
fn octets_arrive_as_they_were_after_what_the_path_takes() {
    let mut world = row(IpVersion::V4, Trace::default(), &[A, C]);
    assert_eq!(to(&mut world, 5000), []);
    assert_eq!(world.now(), Time::ZERO + Span::from_ms(5));
    // 1000 octets take 1 ms on each wire. The address of c is its number plus one.
    let sent = packet([1, 4], 0x40, 1000);
    world.inject(A, &sent);
    assert_eq!(world.next_deadline(), Some(Time::ZERO + Span::from_ms(16)));
    assert_eq!(to(&mut world, 26_999), []);
    assert_eq!(world.network.check_conservation(), Ok(()));
    let at = Time::ZERO + Span::from_ms(27);
    assert_eq!(world.next_deadline(), Some(at));
    assert_eq!(to(&mut world, 27_000), [Emitted { node: C, at, octets: sent }]);
    assert_eq!((account(&world, A).injected, account(&world, C).emitted), (1, 1));
    assert_eq!((world.network.check_conservation(), world.next_deadline()), (Ok(()), None));
}

#[test]
fn what_nobody_takes_is_dropped_at_its_destination() {
    let mut world = row(IpVersion::V4, Trace { packets: true, ..Trace::default() }, &[A]);
    world.inject(A, &packet([1, 4], 0x40, 1000));
    assert_eq!(to(&mut world, 900_000), []);
    let drops: Vec<_> = world.network.edge.no_socket_drops().collect();
    assert_eq!((drops.len(), drops[0].0, drops[0].1.bytes), (1, C, 1000));
    assert_eq!((world.network.check_conservation(), world.network.under_way()), (Ok(()), 0));
    let recorder = world.network.recorder.as_ref().expect("a recorder");
    let last = recorder.packets.rows().last().expect("rows").clone();
    assert_eq!((last.event, last.reason, last.node), (PacketEvent::Dropped, Some(DropReason::NoSocket), C));
}

#[test]
fn what_is_no_packet_of_its_node_is_refused_and_counted() {
    let mut world = row(IpVersion::V4, Trace::default(), &[A, C]);
    for (octets, why) in [
        (vec![0x45; 30], Refusal::Malformed),
        (packet([4, 1], 0, 100), Refusal::ForeignSource),
        (packet([1, 200], 0, 100), Refusal::UnknownDestination),
        // 10.0.0.0, whose number is that of the broadcast.
        (packet([1, 0], 0, 100), Refusal::UnknownDestination),
        (vec![0x60; 60], Refusal::OtherVersion),
    ] {
        let before = account(&world, A).refused.get(&why).copied().unwrap_or(0);
        world.inject(A, &octets);
        assert_eq!(account(&world, A).refused[&why], before + 1, "{why}");
    }
    // Nothing comes in where nobody is outside.
    world.inject(NodeId(1), &packet([2, 4], 0, 100));
    assert_eq!((account(&world, A).offered, account(&world, A).injected), (5, 0));
    assert_eq!((to(&mut world, 900_000), world.network.under_way()), (vec![], 0));
}

#[test]
fn what_is_too_large_is_cut_or_answered_at_once() {
    let mut world = row(IpVersion::V4, Trace::default(), &[A, C]);
    world.inject(A, &packet([1, 4], 0x40, 1501));
    let errors = to(&mut world, 0);
    // From b, its neighbour.
    assert_eq!((errors.len(), errors[0].node, &errors[0].octets[12..16]), (1, A, &[10, 0, 0, 2][..]));
    assert_eq!(errors[0].octets[26..28], 1500_u16.to_be_bytes());
    world.inject(A, &packet([1, 4], 0, 3000));
    let fragments = to(&mut world, 900_000);
    assert_eq!(fragments.iter().map(|one| one.octets.len()).collect::<Vec<_>>(), [1500, 1500, 40]);
    let account = account(&world, A);
    assert_eq!((account.offered, account.injected, account.fragmented, account.errors), (2, 3, 1, 1));
    assert_eq!(world.network.check_conservation(), Ok(()));
}

#[test]
fn how_a_run_is_cut_into_steps_changes_nothing() {
    let sent = |world: &mut World| (0..20).for_each(|_| world.inject(A, &packet([1, 4], 0, 500)));
    let run = |step_us: usize| {
        let mut world = row(IpVersion::V4, Trace::default(), &[A, C]);
        sent(&mut world);
        let mut emitted = Vec::new();
        for us in (0..1_000_000).step_by(step_us).skip(1).chain([1_000_000]) {
            emitted.extend(to(&mut world, us as u64));
        }
        let events = world.finish();
        (events, world.events_fingerprint(), emitted)
    };
    let whole = run(1_000_000);
    assert_eq!((whole.0, whole.2.len()), (40, 20));
    for step_us in [1_000, 777, 130_001] {
        assert_eq!(run(step_us), whole, "{step_us}");
    }
}
