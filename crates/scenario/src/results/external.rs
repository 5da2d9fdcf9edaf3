//! `external`: one row a node whose programs are outside of the simulation: their packets, in and out, over
//! the whole run.

use crate::table::{Table, integer, text};
use roamsim_network::World;
use roamsim_network::octets::Refusal;

pub(super) fn table(world: &World) -> Option<Table> {
    let rows: Vec<_> = world.network.edge.accounts().collect();
    if rows.is_empty() {
        return None;
    }
    let refused = |name, why: Refusal| {
        integer(
            name,
            "packets",
            rows.iter().map(|(_, account)| account.refused.get(&why).copied().unwrap_or(0)),
        )
    };
    Some(Table {
        name: "external",
        columns: vec![
            text("node", rows.iter().map(|&(node, _)| world.network.topology.node(node).name.clone())),
            integer("offered_packets", "packets", rows.iter().map(|(_, account)| account.offered)),
            integer("injected_packets", "packets", rows.iter().map(|(_, account)| account.injected)),
            integer("emitted_packets", "packets", rows.iter().map(|(_, account)| account.emitted)),
            integer("fragmented_packets", "packets", rows.iter().map(|(_, account)| account.fragmented)),
            integer("icmp_errors", "packets", rows.iter().map(|(_, account)| account.errors)),
            refused("malformed_packets", Refusal::Malformed),
            refused("other_version_packets", Refusal::OtherVersion),
            refused("foreign_source_packets", Refusal::ForeignSource),
            refused("unknown_destination_packets", Refusal::UnknownDestination),
            refused("too_large_packets", Refusal::TooLarge),
        ],
    })
}
