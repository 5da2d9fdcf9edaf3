//! The present state of a live world for its viewers: a few links, flows and stations, from their counters.

use roamsim_engine::Time;
use roamsim_network::World;
use roamsim_network::link::indication::{LinkEvent, Quality};
use roamsim_network::link::{AnyLink, Link, LinkStats, Sender};
use roamsim_network::subject::TO_ALL;
use roamsim_protocols::Address;
use std::collections::{BTreeMap, VecDeque};

/// Links, flows and stations of each that are watched. Chosen: what fits below a terminal's text.
const MOST: usize = 6;

/// Changes of their links that are kept. Chosen: a handover is two, and the one before is still to be read.
const MOST_CHANGES: usize = 4;

/// A direction of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkNow {
    /// Its name, and those of its ends.
    pub ends: [String; 3],
    /// Octets that it has sent by now.
    pub sent_bytes: u64,
    /// Packets that it has dropped by now.
    pub dropped_packets: u64,
    /// Packets that wait.
    pub waiting_packets: usize,
}

/// A station that moves.
#[derive(Clone, Debug, PartialEq)]
pub struct StationNow {
    /// It, and the cell that it hears best of those that it is associated with, or of all.
    pub names: [String; 2],
    /// Whether it is associated with that cell.
    pub associated: bool,
    /// How well it hears that cell, where it was told.
    pub quality: Option<Quality>,
}

/// A link of a station that came up or went down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// When.
    pub at: Time,
    /// The station, and the cell.
    pub names: [String; 2],
    /// Whether it came up.
    pub is_up: bool,
}

/// What a world does now.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// The instant.
    pub now: Time,
    /// Directions of links, the first ones.
    pub links: Vec<LinkNow>,
    /// Flows, the first ones, and the octets that they have delivered by now.
    pub flows: Vec<(String, u64)>,
    /// Stations that move, the first ones.
    pub stations: Vec<StationNow>,
    /// The latest changes of their links, the last one behind.
    pub changes: VecDeque<Change>,
}

/// Follows a world.
#[derive(Debug, Default)]
pub(crate) struct Watcher {
    /// Rows of signals that were read.
    read: usize,
    heard: BTreeMap<Address, Heard>,
    changes: VecDeque<Change>,
}

/// What an interface of a station hears of its cell.
#[derive(Clone, Copy, Debug, Default)]
struct Heard {
    associated: bool,
    detected: bool,
    quality: Option<Quality>,
}

impl Watcher {
    /// What the world does now.
    pub(crate) fn look(&mut self, world: &World, now: Time) -> Snapshot {
        let mut snapshot = Snapshot { now, ..Snapshot::default() };
        let topology = &world.network.topology;
        // Cells first: what changes on a walk is there.
        let is_wire = |link: &AnyLink| matches!(link, AnyLink::Wire(_) | AnyLink::ManagedWire(_));
        let [cells, wires] =
            [false, true].map(|wires| world.network.links().filter(move |link| is_wire(link.link) == wires));
        'links: for link in cells.chain(wires) {
            for Sender { from, to } in link.link.senders() {
                if snapshot.links.len() == MOST {
                    break 'links;
                }
                let address = link.addresses[from.0 as usize];
                let LinkStats { sent_bytes, dropped_packets, .. } = link.link.booked_stats(from, now);
                let to = to.map(|to| topology.owner_name(link.addresses[to.0 as usize]));
                let ends =
                    [&*topology.interface(address).name, topology.owner_name(address), to.unwrap_or(TO_ALL)];
                snapshot.links.push(LinkNow {
                    ends: ends.map(str::to_owned),
                    sent_bytes,
                    dropped_packets,
                    waiting_packets: link.link.waiting_packets(from, now),
                });
            }
        }
        let flows = world.flows.iter().enumerate().take(MOST);
        snapshot.flows =
            flows.map(|(number, flow)| (flow.name.to_string(), world.delivered_by_now(number))).collect();
        self.hear(world, &mut snapshot);
        snapshot
    }

    fn hear(&mut self, world: &World, snapshot: &mut Snapshot) {
        let Some(signals) = &world.signals else { return };
        let topology = &world.network.topology;
        let names = |at| [topology.owner_name(at), &*topology.interface(at).name].map(str::to_owned);
        for row in signals.since(self.read) {
            if matches!(row.event, LinkEvent::Up | LinkEvent::Down(_)) {
                let is_up = row.event == LinkEvent::Up;
                self.changes.push_back(Change { at: row.time, names: names(row.at), is_up });
                if self.changes.len() > MOST_CHANGES {
                    self.changes.pop_front();
                }
            }
            let heard = self.heard.entry(row.at).or_default();
            match row.event {
                LinkEvent::Up => (heard.associated, heard.detected) = (true, true),
                LinkEvent::Down(_) => heard.associated = false,
                LinkEvent::Lost => (heard.detected, heard.quality) = (false, None),
                LinkEvent::Detected { quality } | LinkEvent::ParametersReport { quality } => {
                    (heard.detected, heard.quality) = (true, Some(quality));
                }
                _ => {}
            }
        }
        self.read = signals.rows.len();
        snapshot.changes.clone_from(&self.changes);
        let mut best: BTreeMap<u32, (Address, Heard)> = BTreeMap::new();
        for (&at, &heard) in self.heard.iter().filter(|(_, heard)| heard.detected || heard.associated) {
            let station = topology.owner(at).0;
            let score = |heard: Heard| heard.quality.map_or(f64::NEG_INFINITY, Quality::score);
            let key = |heard: Heard| (heard.associated, score(heard));
            if best.get(&station).is_none_or(|&(_, other)| key(heard) > key(other)) {
                best.insert(station, (at, heard));
            }
        }
        snapshot.stations = best
            .into_values()
            .take(MOST)
            .map(|(at, heard)| StationNow {
                names: names(at),
                associated: heard.associated,
                quality: heard.quality,
            })
            .collect();
    }
}
