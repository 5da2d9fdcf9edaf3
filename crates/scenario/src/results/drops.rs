//! `drops`: one row a place and reason.

use crate::table::{Table, integer, text};
use roamsim_network::World;
use roamsim_network::network::DropCount;
use std::collections::BTreeMap;

pub(super) fn table(world: &World) -> Table {
    let mut rows: Vec<(String, String, DropCount)> = Vec::new();
    // A base station has an attachment a station, and one place in the eyes of a reader.
    let mut known: BTreeMap<(String, String), usize> = BTreeMap::new();
    for (link, attachment, reason, count) in world.network.drops() {
        let from = world.network.topology.interface(link.addresses[attachment as usize]).node;
        let place = format!("{} from {}", link.name, world.network.topology.node(from).name);
        let row = *known.entry((place.clone(), reason.to_string())).or_insert_with(|| {
            rows.push((place, reason.to_string(), DropCount::default()));
            rows.len() - 1
        });
        rows[row].2 += count;
    }
    let no_route = world.network.no_route_drops();
    if no_route.packets > 0 {
        rows.push(("routing".to_owned(), "no route".to_owned(), no_route));
    }
    for (node, count) in world.network.tunnels.not_registered_drops() {
        let place = format!("agent {}", world.network.topology.node(node).name);
        rows.push((place, "not registered".to_owned(), count));
    }
    Table {
        name: "drops",
        columns: vec![
            text("place", rows.iter().map(|(place, ..)| place.clone())),
            text("reason", rows.iter().map(|(_, reason, _)| reason.clone())),
            integer("packets", "packets", rows.iter().map(|(.., count)| count.packets)),
            integer("bytes", "B", rows.iter().map(|(.., count)| count.bytes)),
        ],
    }
}
