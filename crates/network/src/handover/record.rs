//! The account of a handover: when it happened, step by step, and what it cost.
//!
//! Packets are those of flows and signalling, in both directions; the scheme's own messages and broadcasts do
//! not count. The losses of a handover are those between the last packet that arrived by the old path and the
//! first that arrived by the new one, in each direction by itself, each with the place where it was lost.
//! Late in a handover come the messages of flows that were on their way in it: they arrived after it had
//! begun, and were written before it was over, which it is once it is complete and a packet has come by the
//! new path in the direction of the message. A station that MIH users were to hand over, and that loses its
//! path without another one, has a handover to none, or back to that path.

use super::{Handovers, StationPlace};
use crate::drops::DropReason;
use crate::link::stations::account::{Lost, OneWay, Path, Toward};
use crate::network::Network;
use crate::network::tunnel::{LostInTunnel, Place};
use crate::packet::Carried;
use crate::topology::NodeId;
use roamsim_engine::Time;
use std::collections::BTreeMap;

/// Packets that a handover lost, by place, and once more by direction and by what they carried.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    /// On the radio link, as the receiver was outside of the cell.
    pub out_of_reach: u64,
    /// On the radio link, by an error.
    pub radio_error: u64,
    /// At the station, which had no cell to send them through; at either end where the two were not
    /// associated.
    pub no_cell: u64,
    /// In the queue before the radio link, which was full.
    pub queue: u64,
    /// At an agent that no longer had the station, or not yet.
    pub agent: u64,
    /// On a link between two agents, in a tunnel.
    pub tunnel: u64,
    /// Of all these, those from the station.
    pub uplink: u64,
    /// Of all these, those to the station.
    pub downlink: u64,
    /// Of all these, those that carried data of an application.
    pub data: u64,
    /// Of all these, those that carried none: acknowledgements.
    pub acknowledgements: u64,
    /// All these, by the socket that they were for.
    pub by_carried: BTreeMap<Carried, u64>,
}

impl Losses {
    fn add(&mut self, lost: &Lost) {
        match lost.reason {
            DropReason::OutOfReach => self.out_of_reach += 1,
            DropReason::QueueFull | DropReason::QueueManagement => self.queue += 1,
            DropReason::Loss | DropReason::RetryLimit => self.radio_error += 1,
            DropReason::NotAssociated => self.no_cell += 1,
            // No handover makes a packet too large; the others do not happen in a cell.
            DropReason::TooLarge
            | DropReason::NoSocket
            | DropReason::Outage
            | DropReason::NoRoute
            | DropReason::Incomplete
            | DropReason::NotRegistered => {
                return;
            }
        }
        self.count(lost.toward == Toward::Station, lost.carried, 1);
    }

    fn add_in_tunnel(&mut self, lost: &LostInTunnel) {
        match lost.place {
            Place::Agent => self.agent += 1,
            Place::Tunnel => self.tunnel += 1,
        }
        self.count(lost.to_mobile_node, lost.carried, 1);
    }

    fn add_without_cell(&mut self, carried: Carried, packets: u64) {
        self.no_cell += packets;
        self.count(false, carried, packets);
    }

    fn count(&mut self, to_station: bool, carried: Carried, packets: u64) {
        *(if to_station { &mut self.downlink } else { &mut self.uplink }) += packets;
        *(if carried.data { &mut self.data } else { &mut self.acknowledgements }) += packets;
        *self.by_carried.entry(carried).or_default() += packets;
    }
}

/// One handover of one station.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handover {
    /// The station.
    pub node: NodeId,
    /// The scheme, in words.
    pub scheme: &'static str,
    /// The cell that it left: a number of [`Handovers::cells`].
    pub from: u32,
    /// The cell that it took, which may be the one that it left; `None`: none, until the run ended.
    pub to: Option<u32>,
    /// When the last packet from the station arrived by the old path; `None`: none did since it was taken.
    pub last_uplink_old: Option<Time>,
    /// The same of the last packet to the station.
    pub last_downlink_old: Option<Time>,
    /// When the station found out that it had to leave the old path.
    pub detected: Time,
    /// When it decided for the new one.
    pub begun: Time,
    /// When it might use the new one; `None`: the run or the next handover came first.
    pub completed: Option<Time>,
    /// When the first packet from the station arrived by the new path; `None`: the run or the next handover
    /// came first.
    pub first_uplink_new: Option<Time>,
    /// The same of the first packet to the station.
    pub first_downlink_new: Option<Time>,
    /// Requests that the scheme sent for it, repeated ones included; zero for one that asks nobody.
    pub requests: u64,
    /// What was lost.
    pub losses: Losses,
    /// Messages that came late, by flow: a number of the world's flows.
    pub late: BTreeMap<u32, u64>,
}

impl Handover {
    /// One in which nothing has arrived, and nothing is lost.
    pub(crate) fn new(place: &StationPlace, from: usize, to: Option<usize>, begun: Time) -> Handover {
        let cell = |at: usize| place.cells[at].cell;
        Handover {
            node: place.node,
            scheme: place.scheme.name(),
            from: cell(from),
            to: to.map(cell),
            last_uplink_old: None,
            last_downlink_old: None,
            detected: place.left_at.unwrap_or(begun),
            begun,
            completed: None,
            first_uplink_new: None,
            first_downlink_new: None,
            requests: 0,
            losses: Losses::default(),
            late: BTreeMap::new(),
        }
    }

    /// Whether the station took another cell.
    pub fn changes_cell(&self) -> bool {
        self.to.is_some_and(|to| to != self.from)
    }

    /// When the last packet arrived by the old path, in either direction.
    pub fn last_packet_old(&self) -> Option<Time> {
        self.last_uplink_old.max(self.last_downlink_old)
    }

    /// When the first packet arrived by the new path, in either direction.
    pub fn first_packet_new(&self) -> Option<Time> {
        self.first_uplink_new.into_iter().chain(self.first_downlink_new).min()
    }
}

impl Handovers {
    /// A station has found out that its old path is gone.
    pub fn left(&mut self, now: Time, station: u32) {
        let station = &mut self.stations[station as usize];
        if station.current.is_some() {
            station.left_at.get_or_insert(now);
        }
    }

    /// A station has decided for a new path: through the cell at this place of its list. From now on the
    /// first packet there is awaited. The first cell of all is no handover, nor is a return to the one that
    /// was lost, unless MIH users were to spare the station that loss, nor a second thought in the same
    /// instant, when the station has just heard the first of several cells.
    pub fn begin(&mut self, network: &mut Network, now: Time, station: u32, cell: usize) {
        let place = &self.stations[station as usize];
        let without_cell = network.take_unroutable(place.node);
        let counts = place.taken_at < now || place.open.is_some();
        let begun = if place.current == Some(cell) { place.failed_at() } else { counts.then_some(now) };
        if let Some((old, begun)) = place.current.zip(begun) {
            let mut handover = Handover::new(place, old, Some(cell), begun);
            let losses = &mut handover.losses;
            without_cell.into_iter().for_each(|(carried, packets)| losses.add_without_cell(carried, packets));
            self.open(network, station, handover);
            self.close_old_path(network, station, cell);
            let to = self.stations[station as usize].cells[cell].cell;
            if let Some(path) = self.path_mut(network, station, to) {
                path.take();
            }
        }
        let place = &mut self.stations[station as usize];
        place.current = Some(cell);
        place.taken_at = now;
        place.left_at = None;
    }

    /// A station's handover begins: it is watched until its next one does.
    fn open(&mut self, network: &mut Network, station: u32, handover: Handover) {
        self.close(network, station);
        self.records.push(handover);
        let place = &mut self.stations[station as usize];
        place.open = Some(self.records.len() - 1);
        place.old_taken = false;
    }

    /// A station may use the path that it decided for.
    pub fn complete(&mut self, now: Time, station: u32) {
        if let Some(open) = self.stations[station as usize].open {
            self.records[open].completed.get_or_insert(now);
        }
    }

    /// A station has asked for the path that it decided for: the scheme's request has left.
    pub fn requested(&mut self, station: u32) {
        if let Some(open) = self.stations[station as usize].open
            && self.records[open].completed.is_none()
        {
            self.records[open].requests += 1;
        }
    }

    /// A message of a flow has come late, from or to this node, toward the station or from it, that was
    /// written at this instant: it counts in the node's last handover, unless that was over by then.
    pub(crate) fn come_late(
        &mut self,
        network: &Network,
        node: NodeId,
        toward: Toward,
        flow: u32,
        written: Time,
    ) {
        let Some(station) = self.station_of(node) else { return };
        let Some(open) = self.stations[station as usize].open else { return };
        let record = &self.records[open];
        let new = record.to.and_then(|to| self.path(network, station, to));
        let first = new.and_then(|path| path.toward(toward).first_arrival);
        let over = record.completed.zip(first).map(|(completed, first)| completed.max(first));
        if over.is_none_or(|over| written <= over) {
            *self.records[open].late.entry(flow).or_default() += 1;
        }
    }

    /// A station comes back to this cell: if it is that of the old path of its last handover, what that has
    /// carried is final, though the station may use it again beside its own before the next handover.
    pub fn close_old_path(&mut self, network: &Network, station: u32, cell: usize) {
        let place = &self.stations[station as usize];
        let cell = place.cells[cell].cell;
        if place.open.is_some_and(|open| self.records[open].from == cell) {
            self.take_old(network, station);
        }
    }

    /// A station's number among those of a cell.
    fn number_in(&self, station: u32, cell: u32) -> Option<u32> {
        let cells = &self.stations[station as usize].cells;
        cells.iter().find(|membership| membership.cell == cell).map(|membership| membership.number)
    }

    /// The path between a cell's base station and a station.
    fn path<'a>(&self, network: &'a Network, station: u32, cell: u32) -> Option<&'a Path> {
        let number = self.number_in(station, cell)?;
        Some(network.stations(self.cells[cell as usize].link)?.path(number))
    }

    fn path_mut<'a>(&self, network: &'a mut Network, station: u32, cell: u32) -> Option<&'a mut Path> {
        let number = self.number_in(station, cell)?;
        Some(network.stations_mut(self.cells[cell as usize].link)?.path_mut(number))
    }

    /// Takes what the old path has seen into the open record of a station, once.
    fn take_old(&mut self, network: &Network, station: u32) {
        let place = &mut self.stations[station as usize];
        let Some(open) = place.open.filter(|_| !std::mem::replace(&mut place.old_taken, true)) else {
            return;
        };
        let Some(old) = self.path(network, station, self.records[open].from) else { return };
        let record = &mut self.records[open];
        record.last_uplink_old = old.uplink.last_arrival;
        record.last_downlink_old = old.downlink.last_arrival;
        for direction in [&old.uplink, &old.downlink] {
            direction.lost_since_last().iter().for_each(|lost| record.losses.add(lost));
        }
    }

    /// Takes what the two paths have seen into the open record of a station: at its next handover or at the
    /// end. What is taken here is gone, so that the next handover, whose old path is this new one, does not
    /// count it again.
    fn close(&mut self, network: &mut Network, station: u32) {
        self.take_old(network, station);
        let Some(open) = self.stations[station as usize].open.take() else { return };
        let to = self.records[open].to;
        for toward in [Toward::BaseStation, Toward::Station] {
            let new = to.and_then(|to| self.path_mut(network, station, to));
            let new = new.map(|path| path.toward_mut(toward));
            let first_new = new.as_ref().and_then(|new| new.first_arrival);
            let lost = new.map(OneWay::take_lost_before_first).unwrap_or_default();
            let record = &mut self.records[open];
            lost.iter().for_each(|lost| record.losses.add(lost));
            let (last_old, first) = match toward {
                Toward::BaseStation => (record.last_uplink_old, &mut record.first_uplink_new),
                Toward::Station => (record.last_downlink_old, &mut record.first_downlink_new),
            };
            *first = first_new;
            let to_station = toward == Toward::Station;
            for membership in &self.stations[station as usize].cells {
                let lost = network.tunnels.take_lost(membership.interface, to_station, first_new);
                let lost = lost.iter().filter(|lost| last_old.is_none_or(|last| lost.at > last));
                lost.for_each(|lost| record.losses.add_in_tunnel(lost));
            }
        }
    }

    /// Takes what the paths have seen into all open records. Who was to be handed over, and has lost its path
    /// since, has taken none.
    pub(crate) fn finish(&mut self, network: &mut Network) {
        for station in 0..self.stations.len() as u32 {
            let place = &self.stations[station as usize];
            if let Some((old, begun)) = place.current.zip(place.failed_at()) {
                self.open(network, station, Handover::new(place, old, None, begun));
            }
            self.close(network, station);
        }
    }
}
