//! `ecn`: one row per flow with Explicit Congestion Notification. `marks`: one row per direction of a link
//! whose queue marked packets. Both exist only if there is such a flow.

use crate::table::{Table, integer, text};
use roamsim_engine::Time;
use roamsim_network::World;
use roamsim_network::link::{Attachment, Link};
use roamsim_network::socket::EcnCounts;
use roamsim_network::subject::Subject;

pub(super) fn tables(world: &World, end: Time) -> Vec<Table> {
    let flows: Vec<_> = (0_u32..)
        .zip(&world.flows)
        .filter_map(|(number, flow)| {
            let [source, sink] = world.measured_counts(number as usize).map(|counts| counts.ecn);
            Some((world.named(Subject::Flow(number)), flow.direction(), source?, sink?))
        })
        .collect();
    if flows.is_empty() {
        return Vec::new();
    }
    let agreed = |counts: EcnCounts| {
        match (counts.agreed, counts.accurate) {
            (false, _) => "no",
            (true, false) => "yes",
            (true, true) => "accurate",
        }
        .to_owned()
    };
    let ecn = Table {
        name: "ecn",
        columns: vec![
            text("name", flows.iter().map(|(flow, ..)| flow.name.to_owned())),
            text("direction", flows.iter().map(|&(_, direction, ..)| direction.to_owned())),
            text("from", flows.iter().map(|(flow, ..)| flow.from.to_owned())),
            text("to", flows.iter().map(|(flow, ..)| flow.to.to_owned())),
            text("agreed", flows.iter().map(|(_, _, source, _)| agreed(*source))),
            integer("marked_packets", "packets", flows.iter().map(|(_, _, _, sink)| sink.marked_packets)),
            integer("reductions", "reductions", flows.iter().map(|(_, _, source, _)| source.reductions)),
        ],
    };
    let mut rows = Vec::new();
    for link in world.network.links() {
        for sender in link.link.senders() {
            let Attachment(from) = sender.from;
            let (topology, at) = (&world.network.topology, link.addresses[from as usize]);
            let packets = world.link_measurement(link.number, sender.from, end).marked_packets;
            if packets > 0 {
                rows.push((topology.interface(at).name.as_ref(), topology.owner_name(at), packets));
            }
        }
    }
    let marks = Table {
        name: "marks",
        columns: vec![
            text("name", rows.iter().map(|&(name, ..)| name)),
            text("node", rows.iter().map(|&(_, node, _)| node)),
            integer("packets", "packets", rows.iter().map(|&(.., packets)| packets)),
        ],
    };
    vec![ecn, marks]
}
