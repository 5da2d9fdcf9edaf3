//! Building the world of a scenario: nodes, links, routes, sockets, applications, MIH functions.
//!
//! The scenario is valid: names resolve, routes exist. Random streams are named after what they serve, so
//! that a change elsewhere in the scenario leaves them as they are.

mod links;

use self::links::{NewLink, NewLinks};
use crate::access::{Access, Making};
use crate::builder::Builder;
use crate::distribution::build::time_distribution;
use crate::general::IpVersion as IpModel;
use crate::node::address::HostAddress;
use crate::node::by_name::NodesByName;
use crate::scenario::Scenario;
use crate::transport::Transport;
use roamsim_engine::run::Watch;
use roamsim_network::handover::Scheme;
use roamsim_network::packet::IpVersion;
use roamsim_network::recorder::Recorder;
use roamsim_network::selection::given::ChooserMaker;
use roamsim_network::topology::{NodeId, Topology};
use roamsim_network::{Network, World};
use roamsim_protocols::Address;
use roamsim_protocols::tcp::congestion::LawMaker;
use std::collections::BTreeMap;
use std::io;

/// The nodes and their routes, the nodes by name, and by the number of each link its access.
pub(crate) fn topology(scenario: &Scenario) -> (Topology, NodesByName<'_>, Vec<&dyn Access>) {
    let (builder, topology, links) = start(scenario, 0, 0);
    (topology, builder.by_name, links.accesses(scenario).map(|(access, _)| access).collect())
}

/// The first steps, up to the routes.
fn start(scenario: &Scenario, seed: u64, replication: u64) -> (Builder<'_>, Topology, NewLinks) {
    let mut topology = Topology::default();
    // As many interfaces as there are ends of wires; what else there is comes on top.
    topology.expect(scenario.nodes.len(), 2 * scenario.links.len());
    scenario.nodes.iter().for_each(|node| {
        topology.add_node(&node.name);
    });
    let builder = Builder::new(&scenario.general, &scenario.nodes, seed, replication);
    let links = NewLinks::join(&builder, scenario, &mut topology);
    builder.bind_multihomed(&mut topology);
    builder.prefer_addresses(&scenario.selections, &scenario.network(), &mut topology);
    choose_addresses(&builder, &mut topology);
    topology.make_routes();
    (builder, topology, links)
}

/// Gives interfaces the addresses that their nodes have chosen.
fn choose_addresses(builder: &Builder<'_>, topology: &mut Topology) {
    for (number, node) in (0..).zip(builder.nodes) {
        if node.address.is_none() && node.addresses.is_empty() {
            continue;
        }
        let own = topology.node(NodeId(number)).interfaces.iter();
        let interfaces: Vec<_> = own.copied().map(Address).collect();
        for interface in interfaces {
            let on = &*topology.interface(interface).name;
            let chosen = node.addresses.iter().find(|chosen| chosen.access == on);
            if let Some(HostAddress(ip)) = chosen.map(|chosen| chosen.address).or(node.address) {
                topology.choose_address(interface, ip);
            }
        }
    }
}

/// Why a world was not built.
pub(crate) enum Unbuilt {
    /// Its capture could not be begun.
    Capture(io::Error),
    /// The run was stopped before it began.
    Stopped,
}

/// An error where the run has been stopped.
fn keep_on(watch: &Watch) -> Result<(), Unbuilt> {
    if watch.stopped() { Err(Unbuilt::Stopped) } else { Ok(()) }
}

/// Builds the world. `recorder` makes the recorder, when one is wanted, once the topology is known; `laws`
/// and `policies` are the congestion controls and the policies of selections from outside.
pub(crate) fn world(
    scenario: &Scenario,
    seed: u64,
    replication: u64,
    recorder: impl FnOnce(&Topology, IpVersion) -> io::Result<Option<Box<Recorder>>>,
    (laws, policies): (BTreeMap<String, LawMaker>, BTreeMap<String, ChooserMaker>),
    watch: &Watch,
) -> Result<World, Unbuilt> {
    keep_on(watch)?;
    let (builder, mut topology, links) = start(scenario, seed, replication);
    keep_on(watch)?;
    let places = scenario.network();
    let handovers = builder.handovers(&places, &scenario.schemes(), &mut topology);
    let mobile_ip = builder.mobile_ip(&scenario.mobile_ip, &mut topology, &handovers);
    let ip = match scenario.general.ip {
        IpModel::Ipv6 => IpVersion::V6,
        IpModel::Ipv4 => IpVersion::V4,
    };
    let recorder = recorder(&topology, ip).map_err(Unbuilt::Capture)?;
    let mut network = Network::new(topology, ip);
    network.recorder = recorder;
    network.expect_links(links.count());
    for node in &scenario.nodes {
        if !node.packet_processing_time.is_zero() {
            let time = time_distribution(&node.packet_processing_time);
            let random = builder.stream("node", &node.name, &["packet_processing_time"]);
            network.set_packet_processing_time(builder.node(&node.name), time, random);
        }
    }
    let mut world = World::new(network);
    world.handovers = handovers;
    world.mobile_ip = mobile_ip;
    builder.selections(&mut world, (&scenario.selections, &scenario.flows), &places, &policies);
    world.laws = laws;
    let flows = scenario.flows.iter();
    let directions = flows.clone().map(|flow| 1 + usize::from(flow.bidirectional)).sum();
    world.expect_flows(directions, flows.filter(|flow| matches!(*flow.transport, Transport::Tcp(_))).count());
    for flow in &scenario.flows {
        keep_on(watch)?;
        builder.flow(&mut world, flow);
    }
    // After the flows, whose packets a loss may name.
    let trace = world.network.recorder.as_ref().map(|recorder| recorder.trace).unwrap_or_default();
    let making =
        Making { builder: &builder, network: &places, traffic: scenario, flows: &world.flows, trace };
    for NewLink { access, part, addresses } in links.iter(scenario) {
        keep_on(watch)?;
        let random = builder.stream("link", access.name(), &[]);
        world.network.add_link(access.machine(part, &making), access.name(), addresses, random);
    }
    world.path_changes = links.path_changes(&builder, scenario, &world.network.topology);
    for signalling in &scenario.signalling {
        keep_on(watch)?;
        builder.signalling(&mut world, signalling);
    }
    for handover in &scenario.mih_handovers {
        keep_on(watch)?;
        builder.mih_handover(&mut world, handover);
    }
    builder.selected_handovers(&mut world, &scenario.selections, &places);
    // At last, because without a way out a station would have no address.
    for station in &world.handovers.stations {
        if station.scheme == Scheme::Bridged {
            world.network.topology.set_egress(station.node, None);
        }
    }
    Ok(world)
}
