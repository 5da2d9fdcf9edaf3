//! `drops`: one row a place and reason. What a node drops has no link. What is sent to all who hear it is not
//! here.

use crate::table::{Table, integer, text};
use roamsim_network::World;
use roamsim_network::drops::DropReason;
use roamsim_network::network::DropCount;
use roamsim_network::topology::NodeId;
use std::collections::BTreeMap;

pub(super) fn table(world: &World) -> Table {
    let mut rows: Vec<(&str, NodeId, DropReason, DropCount)> = Vec::new();
    // A base station has an attachment a station, and one place in the eyes of a reader.
    let mut known: BTreeMap<(&str, NodeId, DropReason), usize> = BTreeMap::new();
    for drop in world.measured_drops().filter(|drop| !drop.is_broadcast()) {
        let (topology, at) = (&world.network.topology, drop.link.addresses[drop.from.0 as usize]);
        let (name, node) = (topology.interface(at).name.as_ref(), topology.owner(at));
        let row = *known.entry((name, node, drop.reason)).or_insert_with(|| {
            rows.push((name, node, drop.reason, DropCount::default()));
            rows.len() - 1
        });
        rows[row].3 += drop.count;
    }
    let of_nodes = |reason| move |(node, count)| ("", node, reason, count);
    rows.extend(world.measured_no_route_drops().map(of_nodes(DropReason::NoRoute)));
    rows.extend(world.measured_not_registered_drops().map(of_nodes(DropReason::NotRegistered)));
    rows.extend(world.measured_no_socket_drops().map(of_nodes(DropReason::NoSocket)));
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
