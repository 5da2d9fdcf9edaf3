//! What a packet may carry between two nodes, whichever of their paths it takes.

use super::tcp::model::Tcp;
use roamsim_network::World;
use roamsim_network::topology::NodeId;

/// The largest segment that every link between two nodes takes, there and back (RFC 9293 section 3.7.1): MTU
/// less headers. Among equally short routes the two directions may take different ones.
pub(super) fn path_mss(world: &World, from: NodeId, to: NodeId) -> u32 {
    path_payload(world, from, to).saturating_sub(Tcp::HEADER_BYTES as u32).max(1)
}

/// What IP carries in a packet that every link between two nodes takes, there and back.
pub(super) fn path_payload(world: &World, from: NodeId, to: NodeId) -> u32 {
    world.path_mtu((from, to)).saturating_sub(world.network.ip.header_bytes())
}
