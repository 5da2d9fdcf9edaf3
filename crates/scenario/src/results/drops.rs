//! `drops`: one row a place and reason. What a node drops has no link. What is sent to all who hear it is not here.

use crate::table::{Table, integer, text};
use roamsim_network::World;
use roamsim_network::link::{AnyLink, DropReason};
use roamsim_network::network::{DropCount, LinkView};
use roamsim_network::topology::NodeId;
use std::collections::BTreeMap;

/// Whether what an attachment sends is for all who hear it: the advertisements of a base station. That nobody hears one
/// is no loss; `mobile_ip` counts them.
fn is_broadcast(link: &LinkView<'_>, attachment: u32) -> bool {
    attachment == 0 && matches!(link.link, AnyLink::Cell(_))
}

/// Advertisements on a cell that a station did not hear, or nobody at all.
pub(super) fn unheard(world: &World, cell: &str) -> u64 {
    let drops = world.network.drops();
    let here = drops.filter(|(link, attachment, ..)| link.name == cell && is_broadcast(link, *attachment));
    here.map(|(.., count)| count.packets).sum()
}

pub(super) fn table(world: &World) -> Table {
    let mut rows: Vec<(&str, NodeId, DropReason, DropCount)> = Vec::new();
    // A base station has an attachment a station, and one place in the eyes of a reader.
    let mut known: BTreeMap<(&str, NodeId, DropReason), usize> = BTreeMap::new();
    for (link, attachment, reason, count) in world.network.drops() {
        if is_broadcast(&link, attachment) {
            continue;
        }
        let node = world.network.topology.interface(link.addresses[attachment as usize]).node;
        let row = *known.entry((link.name, node, reason)).or_insert_with(|| {
            rows.push((link.name, node, reason, DropCount::default()));
            rows.len() - 1
        });
        rows[row].3 += count;
    }
    let of_nodes = |reason| move |(node, count)| ("", node, reason, count);
    rows.extend(world.network.no_route_drops().map(of_nodes(DropReason::NoRoute)));
    rows.extend(world.network.tunnels.not_registered_drops().map(of_nodes(DropReason::NotRegistered)));
    Table {
        name: "drops",
        columns: vec![
            text("name", rows.iter().map(|&(link, ..)| link.to_owned())),
            text("node", rows.iter().map(|&(_, node, ..)| world.network.topology.node(node).name.clone())),
            text("reason", rows.iter().map(|(_, _, reason, _)| reason.to_string())),
            integer("packets", "packets", rows.iter().map(|(.., count)| count.packets)),
            integer("bytes", "B", rows.iter().map(|(.., count)| count.bytes)),
        ],
    }
}
