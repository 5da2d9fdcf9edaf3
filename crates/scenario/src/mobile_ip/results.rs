//! `mobile_ip`: one row a machine of Mobile IP, agents in the order of their cells, then mobile nodes. Only
//! where there are any.

use crate::table::{Table, integer, text};
use roamsim_network::World;
use roamsim_protocols::Address;
use roamsim_protocols::mobile_ip::Code;
use std::collections::BTreeMap;

/// What one machine counts; what it does not do is zero.
#[derive(Default)]
struct Row {
    node: String,
    role: &'static str,
    cell: String,
    advertisements: u64,
    unheard: u64,
    solicitations: u64,
    requests: u64,
    retransmissions: u64,
    accepted: u64,
    refused: u64,
    expired: u64,
}

fn sum(refused: &BTreeMap<Code, u64>) -> u64 {
    refused.values().sum()
}

fn rows(world: &World) -> Vec<Row> {
    let name = |node| world.network.topology.node(node).name.to_string();
    let mut rows = Vec::new();
    for agent in &world.mobile_ip.agents {
        let place = |role| Row {
            node: name(agent.node),
            role,
            cell: world.handovers.cells[agent.cell as usize].name.clone(),
            advertisements: agent.advertiser.advertisements_sent,
            unheard: unheard(world, agent.address),
            solicitations: agent.advertiser.solicitations_received,
            ..Row::default()
        };
        if let Some(stats) = agent.home.as_ref().map(|home| home.stats()) {
            rows.push(Row {
                requests: stats.requests,
                accepted: stats.accepted + stats.deregistrations,
                refused: sum(&stats.refused),
                expired: stats.expired,
                ..place("home agent")
            });
        }
        if let Some(stats) = agent.foreign.as_ref().map(|foreign| foreign.stats()) {
            rows.push(Row {
                requests: stats.requests,
                accepted: stats.accepted,
                refused: sum(&stats.refused),
                expired: stats.expired,
                ..place("foreign agent")
            });
        }
    }
    for host in &world.mobile_ip.hosts {
        let stats = host.machine.stats();
        rows.push(Row {
            node: name(host.node),
            role: "mobile node",
            cell: String::new(),
            advertisements: stats.advertisements,
            unheard: 0,
            solicitations: stats.solicitations,
            requests: stats.requests,
            retransmissions: stats.retransmissions,
            accepted: stats.accepted,
            refused: sum(&stats.refused),
            expired: stats.expired,
        });
    }
    rows.extend(world.mobile_ip.co_located.iter().flat_map(|host| {
        let of_agent = host.agent.stats();
        let of_node = host.machine.stats();
        let link = &world.network.topology.interface(host.home_address).name;
        [
            Row {
                node: name(host.agent_node),
                role: "home agent",
                cell: link.to_string(),
                requests: of_agent.requests,
                accepted: of_agent.accepted + of_agent.deregistrations,
                refused: sum(&of_agent.refused),
                expired: of_agent.expired,
                ..Row::default()
            },
            Row {
                node: name(host.node),
                role: "mobile node",
                requests: of_node.requests,
                retransmissions: of_node.retransmissions,
                accepted: of_node.accepted,
                refused: sum(&of_node.refused),
                expired: of_node.expired,
                ..Row::default()
            },
        ]
    }));
    rows
}

pub(crate) fn table(world: &World) -> Table {
    let rows = rows(world);
    let count = |name, of: fn(&Row) -> u64| integer(name, "messages", rows.iter().map(of));
    Table {
        name: "mobile_ip",
        columns: vec![
            text("node", rows.iter().map(|row| row.node.clone())),
            text("role", rows.iter().map(|row| row.role.to_owned())),
            text("cell", rows.iter().map(|row| row.cell.clone())),
            count("advertisements", |row| row.advertisements),
            count("unheard", |row| row.unheard),
            count("solicitations", |row| row.solicitations),
            count("requests", |row| row.requests),
            count("retransmissions", |row| row.retransmissions),
            count("accepted", |row| row.accepted),
            count("refused", |row| row.refused),
            integer("expired", "registrations", rows.iter().map(|row| row.expired)),
        ],
    }
}

/// What a base station sent to all, such as advertisements, and a station in reach did not hear, or nobody at
/// all. That is no loss, and not among the `drops`.
fn unheard(world: &World, broadcast: Address) -> u64 {
    let at = world.network.topology.attachment(broadcast);
    let broadcasts = world.network.drops().filter(|drop| (drop.link.number, drop.from) == at);
    broadcasts.map(|drop| drop.count.packets).sum()
}
