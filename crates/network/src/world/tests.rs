//! Stations of a Wi-Fi cell at work: whose exchanges go the short way of those that nobody disturbs.

use super::*;
use crate::Distribution;
use crate::application::{Activity, Drawing, Messages, Source};
use crate::link::wifi::tests::config;
use crate::link::{AnyLink, Attachment, wifi};
use crate::packet::IpVersion;
use crate::testing::stream;
use crate::topology::{LinkId, Topology};
use crate::traffic_class::TrafficClass;
use roamsim_engine::Span;
use roamsim_engine::run::Watch;

/// A cell of 802.11b in which each station sends 1000 octets to the access point every millisecond, more than
/// the medium carries.
fn busy(stations: u32) -> World {
    let mut topology = Topology::default();
    let access_point = topology.add_node("access point");
    let nodes: Vec<NodeId> = (0..stations).map(|_| topology.add_node("station")).collect();
    let down = nodes.iter().map(|&node| (access_point, node));
    let up = nodes.iter().map(|&node| (node, access_point));
    let addresses: Vec<Address> = (0..)
        .zip(down.chain(up))
        .map(|(number, (node, neighbour))| {
            topology.add_plain((node, neighbour), (LinkId(0), Attachment(number)), LinkId(0), "")
        })
        .collect();
    topology.make_routes();
    let mut network = Network::new(topology, IpVersion::V4);
    let cell = wifi::Cell::new(config(stations as usize), stream);
    network.add_link(AnyLink::Wifi(Box::new(cell)), "cell", &addresses, stream("cell"));
    let mut world = World::new(network);
    for (flow, &node) in (0..).zip(&nodes) {
        let end = |node, user| {
            let traffic_class = TrafficClass::default();
            SocketEnd { node, port: 1, user, traffic_class, address: None }
        };
        let ends = (end(node, User::FlowSource(flow)), end(access_point, User::FlowSink(flow)));
        let association = world.add_udp(ends.0, ends.1, Span::from_secs(60)).expect("a route joins them");
        let activity = Activity { start: Time::ZERO, stop: Time::MAX };
        let interval = Distribution::Constant(1_000_000);
        let messages = Messages::new(activity, interval, Distribution::Constant(1000));
        let source = Source::Messages(Box::new(Drawing::new(messages, stream("flow"))));
        world.flows.push(Flow::new("flow".into(), "cbr", "".into(), source, None, association));
    }
    world
}

/// At how many looks at the run, and of how many, an exchange goes the short way.
fn looks(stations: u32) -> (usize, usize) {
    let (mut undisturbed, mut looks) = (0, 0);
    let look = &mut |world: &mut World, _| {
        let AnyLink::Wifi(cell) = world.network.link(LinkId(0)) else { return false };
        undisturbed += usize::from(cell.is_undisturbed());
        looks += 1;
        true
    };
    let until = Time::ZERO + Span::from_secs(10);
    busy(stations).run(until, &Watch::default(), look).expect("a run");
    (undisturbed, looks)
}

#[test]
fn a_station_that_sends_alone_goes_the_short_way_and_two_that_contend_do_not() {
    let (undisturbed, of) = looks(1);
    // The first look is before the first exchange.
    assert!(of > 20 && undisturbed == of - 1, "{undisturbed} of {of}");
    let (undisturbed, of) = looks(2);
    assert!(of > 20 && undisturbed == 0, "{undisturbed} of {of}");
}
