//! What a packet may carry between two nodes, whichever of their paths it takes.

use super::tcp::model::Tcp;
use roamsim_network::World;
use roamsim_network::network::tunnel;
use roamsim_network::topology::NodeId;
use roamsim_protocols::Address;

/// The largest segment that every link between two nodes takes, there and back (RFC 9293 section 3.7.1): MTU less
/// headers. Among equally short routes the two directions may take different ones.
pub(super) fn path_mss(world: &World, from: NodeId, to: NodeId) -> u32 {
    path_payload(world, from, to).saturating_sub(Tcp::HEADER_BYTES as u32).max(1)
}

/// What IP carries in a packet that every link between two nodes takes, there and back.
pub(super) fn path_payload(world: &World, from: NodeId, to: NodeId) -> u32 {
    let topology = &world.network.topology;
    let mut links = [topology.path(from, to), topology.path(to, from)].concat();
    // A node with bound interfaces may use any of them in the course of the run.
    for node in [from, to] {
        if topology.primary(node).is_some() {
            links.extend(topology.node(node).interfaces.iter().copied().map(Address));
        }
    }
    let mut headers = world.network.ip.header_bytes();
    // What is for a mobile node may come through a tunnel, wherever its agents are.
    if world.mobile_ip.hosts.iter().any(|host| host.node == from || host.node == to) {
        links = topology.addresses().collect();
        headers += tunnel::HEADER_BYTES;
    }
    let mtu = links.iter().map(|&address| topology.interface(address).mtu_bytes).min();
    u32::from(mtu.unwrap_or(0)).saturating_sub(headers)
}
