//! The cell as a link with stations that come and go: who is connected, broadcasts, the account of paths.

use super::block_errors::blocks_of;
use super::pdu::WHOLE_BYTES;
use super::{BROADCAST, Cell, MESSAGES};
use crate::drops::{DropReason, Dropped};
use crate::link::Attachment;
use crate::link::indication::LinkEvent;
use crate::link::stations::account::{Path, Toward};
use crate::link::stations::{BroadcastCopy, Stations};
use crate::packet::{Packet, PacketId};
use roamsim_engine::Time;
use roamsim_protocols::mih::wire::handover::LinkActionResult;

impl Stations for Cell {
    fn sub_interface(&self, station: u32) -> Attachment {
        self.attachments_of(station).0
    }

    fn broadcast_interface(&self, _station: u32) -> Attachment {
        BROADCAST
    }

    fn associate(&mut self, now: Time, station: u32) -> Option<LinkEvent> {
        self.set_wanted(now, station, true)
    }

    fn leave(&mut self, now: Time, station: u32) -> Option<LinkEvent> {
        self.set_wanted(now, station, false)
    }

    fn listen(&mut self, now: Time, station: u32, listens: bool) -> bool {
        self.set_listens(now, station, listens)
    }

    fn await_confidence(&mut self, station: u32, percent: u8) {
        if let Some(joining) = &mut self.stations[station as usize].joining {
            joining.confidence.await_percent(percent);
        }
    }

    /// One that is connected asks for scan intervals; others search by themselves.
    fn scan(&mut self, now: Time, station: u32) -> LinkActionResult {
        if self.config.entry.as_ref().is_none_or(|entry| entry.scanning.is_none()) {
            return LinkActionResult::INCAPABLE;
        }
        let joining = self.stations[station as usize].joining.as_ref();
        if !joining.is_some_and(|joining| joining.entry.is_connected()) {
            return LinkActionResult::REFUSED;
        }
        Cell::scan(self, now, station);
        LinkActionResult::SUCCESS
    }

    fn places_for(&self, now: Time, station: u32, to_come: &[u32]) -> Option<u32> {
        Cell::places_for(self, now, station, to_come)
    }

    fn reach_m(&self) -> Option<f64> {
        self.config.entry.as_ref().map(|entry| entry.radius_m)
    }

    /// A copy is for each connected station. They end when the burst does.
    fn broadcast(
        &mut self,
        now: Time,
        from: Attachment,
        packet: &Packet,
        next_id: u64,
    ) -> Result<Vec<BroadcastCopy>, Dropped> {
        let served: Vec<u32> = (0..self.station_count()).filter(|&station| self.is_served(station)).collect();
        let taken = if served.is_empty() {
            Err(DropReason::NotAssociated)
        } else if packet.size_bytes > self.config.mtu_bytes {
            Err(DropReason::TooLarge)
        } else {
            self.broadcasts.enqueue(now, from, packet.clone())
        };
        if let Err(reason) = taken {
            self.stats[from.0 as usize].dropped_packets += 1;
            return Err(Dropped { reason, at: now });
        }
        let ids = std::iter::once(packet.id).chain((next_id..).map(PacketId));
        let copies: Vec<(PacketId, u32)> = ids.zip(served).collect();
        let answer = copies.iter().map(|&(id, _)| (id, None)).collect();
        self.copies.insert(packet.id, copies);
        self.want_frame(now);
        Ok(answer)
    }

    fn path(&self, station: u32) -> &Path {
        let Some(joining) = &self.stations[station as usize].joining else {
            unreachable!("handovers know cells with network entry alone")
        };
        &joining.path
    }

    fn path_mut(&mut self, station: u32) -> &mut Path {
        let Some(joining) = &mut self.stations[station as usize].joining else {
            unreachable!("handovers know cells with network entry alone")
        };
        &mut joining.path
    }
}

impl Cell {
    /// A packet that was taken ends in a drop.
    pub(super) fn drop_packet(&mut self, now: Time, from: Attachment, packet: Packet, reason: DropReason) {
        self.stats[from.0 as usize].dropped_packets += 1;
        self.is_lost(now, from, &packet, reason);
        self.dropped.push_back((from, packet, Dropped { reason, at: now }));
    }

    /// The path that a packet from an attachment was on hears of its loss.
    pub(super) fn is_lost(&mut self, at: Time, from: Attachment, packet: &Packet, reason: DropReason) {
        if !self.is_for_all(from) {
            let toward = self.toward(from);
            if let Some(path) = self.path_of(from) {
                path.lost(Dropped { reason, at }, toward, packet.carried());
            }
        }
    }

    fn toward(&self, from: Attachment) -> Toward {
        if self.station_at(from).1 { Toward::BaseStation } else { Toward::Station }
    }

    /// A packet, or the copies of a broadcast, arrive now, or are lost with who is not there.
    pub(super) fn arrives(&mut self, now: Time, to: Attachment, packet: Packet, lost: Option<DropReason>) {
        if self.config.entry.is_none() {
            let from = self.opposite(to);
            self.stats[from.0 as usize].delivered_packets += 1;
            self.arrived.push_back((to, packet));
            return;
        }
        if to == BROADCAST {
            for (id, station) in self.copies.remove(&packet.id).unwrap_or_default() {
                let (_, up) = self.attachments_of(station);
                let profile = self.config.map_profile;
                let unit_bytes = self.config.layout.unit().bytes(profile);
                let reception = self.downlink_reception(now, station, profile);
                let blocks = blocks_of(unit_bytes, 0, packet.size_bytes + WHOLE_BYTES);
                let lost = self.stations[station as usize].lost(MESSAGES, now, blocks, reception);
                self.arrives_from(now, BROADCAST, up, Packet { id, ..packet.clone() }, lost);
            }
        } else {
            self.arrives_from(now, self.opposite(to), to, packet, lost);
        }
    }

    fn opposite(&self, at: Attachment) -> Attachment {
        let (station, of_station) = self.station_at(at);
        let (down, up) = self.attachments_of(station as u32);
        if of_station { down } else { up }
    }

    fn arrives_from(
        &mut self,
        now: Time,
        from: Attachment,
        to: Attachment,
        packet: Packet,
        lost: Option<DropReason>,
    ) {
        let (station, _) = self.station_at(to);
        let station = station as u32;
        if !self.is_served(station) {
            self.drop_packet(now, from, packet, DropReason::NotAssociated);
        } else if let Some(reason) = lost {
            self.drop_packet(now, from, packet, reason);
        } else {
            self.stats[from.0 as usize].delivered_packets += 1;
            if packet.is_of_a_flow() && from != BROADCAST {
                let toward = self.toward(from);
                if let Some(path) = self.path_of(from) {
                    path.arrived(now, toward);
                }
            }
            self.arrived.push_back((to, packet));
        }
    }

    /// The path that a packet was on hears of its arrival.
    pub(super) fn path_of(&mut self, at: Attachment) -> Option<&mut Path> {
        let (station, _) = self.station_at(at);
        self.stations.get_mut(station)?.joining.as_mut().map(|joining| &mut joining.path)
    }
}
