//! The stories of packets that have no end, for the error of a run whose packets do not add up.

use roamsim_engine::Time;
use roamsim_network::World;
use roamsim_network::recorder::{PacketEvent, PacketRow};
use std::collections::BTreeMap;

/// How many stories are told. Chosen: enough to see a pattern, few enough to read.
const TOLD: usize = 5;

/// Rows that are looked at together.
const ROWS_AT_ONCE: usize = 1 << 12;

/// The stories of the packets that are under way: what ended is forgotten.
#[derive(Default)]
pub(crate) struct Stories(BTreeMap<u64, Vec<PacketRow>>);

impl Stories {
    /// Takes what was recorded and is final, as of a time or as of the end. Always true.
    pub(crate) fn follow(&mut self, world: &mut World, now: Option<Time>) -> bool {
        let Some(recorder) = &mut world.network.recorder else { return true };
        let rows = match now {
            Some(now) if recorder.packets.due(ROWS_AT_ONCE) => recorder.packets.take(now),
            Some(_) => Vec::new(),
            None => recorder.packets.take_all(),
        };
        rows.into_iter().for_each(|row| self.add(row));
        true
    }

    fn add(&mut self, row: PacketRow) {
        match row.event {
            PacketEvent::Delivered | PacketEvent::Dropped => {
                self.0.remove(&row.packet.0);
            }
            PacketEvent::Sent | PacketEvent::Transmitted | PacketEvent::Duplicated => {
                self.0.entry(row.packet.0).or_default().push(row);
            }
        }
    }

    /// The first of those without an end.
    pub(crate) fn tell(&self, world: &World) -> String {
        let mut text = String::from("packets without an end (those still in flight among them):\n");
        for row in self.0.values().take(TOLD).flatten() {
            let node = &world.network.topology.node(row.node).name;
            let link = row.way.map_or_else(String::new, |way| format!(" on {}", world.named(way).name));
            let (number, time, event) = (row.packet.0, row.time, row.event.name());
            text += &format!("  packet {number} {time} {event} at {node}{link}: {}\n", row.description);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use roamsim_network::Network;
    use roamsim_network::packet::{IpVersion, PacketId};
    use roamsim_network::topology::{NodeId, Topology};

    #[test]
    fn packets_without_an_end_are_told_and_others_forgotten() {
        let row = |packet, event| PacketRow {
            packet: PacketId(packet),
            time: Time::from_ns(5),
            event,
            node: NodeId(0),
            destination: None,
            socket: None,
            way: None,
            reason: None,
            protocol: "udp",
            description: "message".to_owned(),
            size_bytes: 48,
        };
        let mut topology = Topology::default();
        topology.add_node("phone");
        let world = World::new(Network::new(topology, IpVersion::V6));
        let mut stories = Stories::default();
        for (packet, event) in [
            (0, PacketEvent::Sent),
            (1, PacketEvent::Sent),
            (0, PacketEvent::Dropped),
            (1, PacketEvent::Transmitted),
        ] {
            stories.add(row(packet, event));
        }
        assert_eq!(stories.0.len(), 1);
        let story = stories.tell(&world);
        assert!(!story.contains("packet 0 "), "{story}");
        assert!(story.contains("packet 1 0.000000005s transmitted at phone: message"), "{story}");
    }
}
