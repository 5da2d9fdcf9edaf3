//! The medium as a link with stations: which packets may go, broadcasts, and the account of paths.

use crate::drops::{DropReason, Dropped};
use crate::link::Attachment;
use crate::link::indication::LinkEvent;
use crate::link::stations::account::Path;
use crate::link::stations::{BroadcastCopy, Stations};
use crate::link::wifi::management::Management;
use crate::link::wifi::radios::radio::{Head, Job};
use crate::link::wifi::stations::station::State;
use crate::link::wifi::{Cell, Heard};
use crate::packet::{Packet, PacketId};
use roamsim_engine::Time;
use roamsim_protocols::mih::wire::handover::LinkActionResult;

impl Stations for Cell {
    fn sub_interface(&self, station: u32) -> Attachment {
        self.members[station as usize].down
    }

    fn broadcast_interface(&self, station: u32) -> Attachment {
        let cell = &self.cells[self.members[station as usize].cell];
        cell.broadcast().unwrap_or(Attachment(cell.first))
    }

    fn associate(&mut self, now: Time, station: u32) -> Option<LinkEvent> {
        self.join(now, station);
        None
    }

    fn leave(&mut self, now: Time, station: u32) -> Option<LinkEvent> {
        self.give_up_cell(now, station)
    }

    /// It looks at its channels at once, if it does not so already. Who joins an access point goes on with
    /// that.
    fn scan(&mut self, now: Time, station: u32) -> LinkActionResult {
        let radio = self.members[station as usize].radio;
        match self.station(radio).map(|station| station.state) {
            Some(State::Waiting | State::Associated) => self.begin_scan(now, radio),
            Some(State::Scanning(..)) => {}
            Some(State::Joining { .. }) => return LinkActionResult::REFUSED,
            None => return LinkActionResult::INCAPABLE,
        }
        LinkActionResult::SUCCESS
    }

    fn await_confidence(&mut self, station: u32, percent: u8) {
        self.members[station as usize].confidence.await_percent(percent);
    }

    /// A copy is for each station that the access point has on its list. They end when the frame does.
    fn broadcast(
        &mut self,
        now: Time,
        from: Attachment,
        packet: &Packet,
        next_id: u64,
    ) -> Result<Vec<BroadcastCopy>, Dropped> {
        let cell = &self.cells[self.ways[from.0 as usize].from];
        let listed: Vec<u32> = cell.members.clone().filter(|&member| self.has_on_list(member)).collect();
        if listed.is_empty() {
            self.stats[from.0 as usize].dropped_packets += 1;
            return Err(Dropped { reason: DropReason::NotAssociated, at: now });
        }
        let ids = std::iter::once(packet.id).chain((next_id..).map(PacketId));
        let copies: Vec<(PacketId, u32)> = ids.zip(listed).collect();
        let answer = copies.iter().map(|&(id, _)| (id, None)).collect();
        self.copies.insert(packet.id, copies);
        let taken = self.take_packet(now, from, packet.clone());
        if taken.is_err() {
            self.copies.remove(&packet.id);
        }
        taken.map(|()| answer)
    }

    fn path(&self, station: u32) -> &Path {
        &self.members[station as usize].path
    }

    fn path_mut(&mut self, station: u32) -> &mut Path {
        &mut self.members[station as usize].path
    }
}

impl Cell {
    /// Whether an access point has a member's station on its list.
    fn has_on_list(&self, member: u32) -> bool {
        let station = self.stations[self.members[member as usize].radio].as_ref();
        station.is_none_or(|station| station.on_list_of(true) == Some(member))
    }

    /// Takes a packet where stations find their access points. What is for, or from, one that is associated
    /// elsewhere is dropped; a station that is associated with none keeps it.
    pub(in crate::link::wifi) fn enqueue_of_station(
        &mut self,
        now: Time,
        from: Attachment,
        packet: Packet,
    ) -> Result<(), Dropped> {
        let way = self.ways[from.0 as usize];
        let waits = self.stations[way.from].as_ref().is_some_and(|station| station.associated.is_none());
        let carried = packet.carried();
        let outcome = if waits || self.may_go(from) {
            self.take_packet(now, from, packet)
        } else {
            self.stats[from.0 as usize].dropped_packets += 1;
            Err(Dropped { reason: DropReason::NotAssociated, at: now })
        };
        if let Err(dropped) = outcome {
            self.members[way.member as usize].path.lost(dropped, way.toward, carried);
        }
        outcome
    }

    /// A broadcast is over: each copy arrives, or is lost.
    pub(in crate::link::wifi) fn broadcast_arrives(&mut self, now: Time, sender: usize, hearers: &[Heard]) {
        let Some(Head { job: Job::Packet { from, packet }, .. }) = &mut self.radios[sender].own.head else {
            return;
        };
        let from = *from;
        let Some(packet) = packet.take() else { return };
        for (id, member) in self.copies.remove(&packet.id).unwrap_or_default() {
            let copy = Packet { id, ..packet.clone() };
            let to = &self.members[member as usize];
            let (radio, up) = (to.radio, to.up);
            let stands =
                self.stations[radio].as_ref().is_none_or(|station| station.associated == Some(member));
            let reason = match stands {
                true if hearers.iter().any(|&(hearer, _)| hearer == radio) => {
                    self.stats[from.0 as usize].delivered_packets += 1;
                    self.arrived.push_back((up, copy));
                    continue;
                }
                true => DropReason::Loss,
                false => DropReason::NotAssociated,
            };
            self.drop_packet(now, from, copy, reason);
        }
    }

    /// A packet that was taken ends in a drop; a broadcast that was never sent, with all its copies.
    pub(in crate::link::wifi) fn drop_packet(
        &mut self,
        now: Time,
        from: Attachment,
        packet: Packet,
        reason: DropReason,
    ) {
        let copies = self.copies.remove(&packet.id).unwrap_or_else(|| vec![(packet.id, 0)]);
        for (id, _) in copies {
            self.stats[from.0 as usize].dropped_packets += 1;
            self.is_lost(now, from, &packet, reason);
            self.dropped.push_back((from, Packet { id, ..packet.clone() }, Dropped { reason, at: now }));
        }
    }

    /// Data has come from somebody with whom its receiver is not associated: a frame of class 3, which it
    /// acknowledges and may not take. A station says so by a disassociation, the reason 7 of clause 7.3.1.7.
    #[cold]
    pub(in crate::link::wifi) fn arrives_from_a_stranger(
        &mut self,
        now: Time,
        from: Attachment,
        packet: Packet,
    ) {
        self.drop_packet(now, from, packet, DropReason::NotAssociated);
        let way = self.ways[from.0 as usize];
        let says = |what: &Management| *what == Management::Disassociation;
        let radio = &self.radios[way.to];
        let sends = |head: &Head| matches!(&head.job, Job::Management(what, _) if says(what));
        let contends = radio.functions().any(|function| function.head.as_ref().is_some_and(sends));
        if !contends && !radio.management.iter().any(|(what, _)| says(what)) {
            self.push_management(now, way.to, Management::Disassociation, way.from);
        }
    }

    /// The path that a packet was on hears of its arrival.
    pub(in crate::link::wifi) fn arrives(&mut self, now: Time, from: Attachment, packet: &Packet) {
        if self.has_paths && packet.is_of_a_flow() {
            let way = self.ways[from.0 as usize];
            self.members[way.member as usize].path.arrived(now, way.toward);
        }
    }

    /// The path that a packet was on hears of its loss.
    pub(in crate::link::wifi) fn is_lost(
        &mut self,
        at: Time,
        from: Attachment,
        packet: &Packet,
        reason: DropReason,
    ) {
        if self.has_paths && packet.is_of_a_flow() {
            let (way, dropped) = (self.ways[from.0 as usize], Dropped { reason, at });
            self.members[way.member as usize].path.lost(dropped, way.toward, packet.carried());
        }
    }
}
