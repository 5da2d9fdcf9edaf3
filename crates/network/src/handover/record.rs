//! The account of a handover: when it happened, step by step, and what it cost.
//!
//! Packets are those of flows and signalling, in both directions; the scheme's own messages and broadcasts do not
//! count. The losses of a handover are those between the last packet that arrived by the old path and the first that
//! arrived by the new one, each with the place where it was lost.

use super::Handovers;
use crate::link::DropReason;
use crate::link::cell::account::{Lost, Toward};
use crate::network::Network;
use crate::topology::NodeId;
use roamsim_engine::Time;

/// Packets that a handover lost, by place, and once more by direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    /// On the radio link, as the receiver was outside of the cell.
    pub out_of_reach: u64,
    /// On the radio link, by an error.
    pub radio_error: u64,
    /// In the queue before the radio link, which was full.
    pub queue: u64,
    /// At an agent that no longer had the station, or not yet (see [`Handovers::lost_at_agent`]).
    pub agent: u64,
    /// Of all these, those from the station.
    pub uplink: u64,
    /// Of all these, those to the station.
    pub downlink: u64,
}

impl Losses {
    fn add(&mut self, lost: &Lost) {
        match lost.reason {
            DropReason::OutOfReach => self.out_of_reach += 1,
            DropReason::QueueFull => self.queue += 1,
            DropReason::Loss => self.radio_error += 1,
            // No handover makes a packet too large; the others do not happen in a cell.
            DropReason::TooLarge | DropReason::Outage | DropReason::NoRoute | DropReason::Incomplete => {
                return;
            }
        }
        self.add_direction(lost.toward);
    }

    fn add_direction(&mut self, toward: Toward) {
        match toward {
            Toward::Station => self.downlink += 1,
            Toward::BaseStation => self.uplink += 1,
        }
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
    /// The cell that it took.
    pub to: u32,
    /// When the last packet arrived by the old path; `None`: none ever did.
    pub last_packet_old: Option<Time>,
    /// When the station found out that it had to leave the old path.
    pub detected: Time,
    /// When it decided for the new one.
    pub begun: Time,
    /// When it might use the new one; `None`: the run or the next handover came first.
    pub completed: Option<Time>,
    /// When the first packet arrived by the new path; `None`: the run or the next handover came first.
    pub first_packet_new: Option<Time>,
    /// What was lost.
    pub losses: Losses,
}

impl Handovers {
    /// A station has found out that its old path is gone.
    pub fn left(&mut self, now: Time, station: u32) {
        let station = &mut self.stations[station as usize];
        if station.current.is_some() {
            station.left_at.get_or_insert(now);
        }
    }

    /// A station has decided for a new path: through the cell at this place of its list. From now on the first packet
    /// there is awaited. The first cell of all is no handover, nor is a return to the one that was lost.
    pub fn begin(&mut self, network: &mut Network, now: Time, station: u32, cell: usize) {
        let place = &self.stations[station as usize];
        let (old, detected) = (place.current, place.left_at.unwrap_or(now));
        if let Some(old) = old.filter(|&old| old != cell) {
            self.close(network, station);
            let place = &self.stations[station as usize];
            self.records.push(Handover {
                node: place.node,
                scheme: place.scheme.name(),
                from: place.cells[old].cell,
                to: place.cells[cell].cell,
                last_packet_old: None,
                detected,
                begun: now,
                completed: None,
                first_packet_new: None,
                losses: Losses::default(),
            });
            let membership = place.cells[cell];
            let link = self.cells[membership.cell as usize].link;
            if let Some(cell) = network.cell_mut(link) {
                cell.path_mut(membership.number).take();
            }
            self.stations[station as usize].open = Some(self.records.len() - 1);
        }
        let place = &mut self.stations[station as usize];
        place.current = Some(cell);
        place.left_at = None;
    }

    /// A station may use the path that it decided for.
    pub fn complete(&mut self, now: Time, station: u32) {
        if let Some(open) = self.stations[station as usize].open {
            self.records[open].completed.get_or_insert(now);
        }
    }

    /// An agent has dropped a packet of a flow to or from a station, because it no longer had the station, or not
    /// yet. Counts for the handover that is under way, if there is one.
    pub fn lost_at_agent(&mut self, station: u32, toward: Toward) {
        if let Some(open) = self.stations[station as usize].open {
            let losses = &mut self.records[open].losses;
            losses.agent += 1;
            losses.add_direction(toward);
        }
    }

    /// Takes what the two paths have seen into the open record of a station: at its next handover or at the end.
    fn close(&mut self, network: &Network, station: u32) {
        let place = &mut self.stations[station as usize];
        let Some(open) = place.open.take() else { return };
        let record = &mut self.records[open];
        let path = |cell: u32| {
            let membership = place.cells.iter().find(|membership| membership.cell == cell)?;
            Some(network.cell(self.cells[cell as usize].link)?.path(membership.number))
        };
        if let Some(old) = path(record.from) {
            record.last_packet_old = old.last_arrival;
            old.lost_since_last().iter().for_each(|lost| record.losses.add(lost));
        }
        if let Some(new) = path(record.to) {
            record.first_packet_new = new.first_arrival;
            new.lost_before_first().iter().for_each(|lost| record.losses.add(lost));
        }
    }

    /// Takes what the paths have seen into all open records.
    pub(crate) fn finish(&mut self, network: &Network) {
        (0..self.stations.len() as u32).for_each(|station| self.close(network, station));
    }
}
