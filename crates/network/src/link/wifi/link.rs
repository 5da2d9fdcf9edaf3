//! The medium as others see it: a link with stations, its accounts, losses beside the radio, and captures.

use super::capture::listening::Listener;
use super::capture::log::AirLog;
use super::capture::octets::LINKTYPE_RADIOTAP;
use super::capture::record::AirFrame;
use super::cell::Cell;
use super::index::{CellIndex, RadioIndex};
use super::loss::{CellLoss, Losses};
use super::medium::account::MediumTime;
use super::radios::account::{CategoryTime, RadioTime};
use super::radios::radio::{ALL, Attempt, Function, Radio};
use super::radios::rate_control::{RateAttempts, RateChange};
use super::stations::layout::{CellPlace, Member, MemberIndex};
use super::stations::station::State;
use crate::drops::{DropReason, Dropped};
use crate::link::frames::{CapturedFrame, Frames, Listening, OctetsOf};
use crate::link::indication::{Indication, LinkDownReason, LinkEvent};
use crate::link::phase::PhaseRow;
use crate::link::stations::account::Path;
use crate::link::stations::{BroadcastCopy, Stations};
use crate::link::{Attachment, Carrier, Link, LinkStats, Sender};
use crate::packet::{Packet, PacketId};
use crate::queue::Queue;
use roamsim_engine::Time;
use roamsim_protocols::Context;
use roamsim_protocols::mih::wire::handover::LinkActionResult;
use roamsim_protocols::mih::wire::link::LinkType;

/// What it did.
impl Cell {
    /// How many cells it has.
    pub fn cell_count(&self) -> usize {
        self.associations.cells.len()
    }

    /// How many stations the first cell has.
    #[cfg(test)]
    pub(super) fn station_count(&self) -> usize {
        self.associations.cells[CellIndex(0)].members().count()
    }

    /// The access point's sub-interface to a station of the first cell, and the station's interface.
    #[cfg(test)]
    pub(super) fn attachments_of(&self, station: u32) -> (Attachment, Attachment) {
        let member = &self.associations.members[MemberIndex(station)];
        (member.down, member.up)
    }

    /// The members of a cell: of each its number, the access point's sub-interface to it, and its own
    /// interface.
    pub fn members_of(&self, cell: usize) -> impl Iterator<Item = (u32, Attachment, Attachment)> + '_ {
        self.associations.cells[CellIndex(cell)].members().map(|member| {
            let Member { down, up, .. } = &self.associations.members[member];
            (member.0, *down, *up)
        })
    }

    /// The radio of a member.
    pub fn radio_of(&self, member: u32) -> usize {
        self.associations.members[MemberIndex(member)].radio.0
    }

    /// What a station did as this member: from one association to the next; before the first, as the member
    /// of that.
    pub fn member_time(&self, member: u32) -> RadioTime {
        let member = MemberIndex(member);
        let Member { radio, time, .. } = &self.associations.members[member];
        let now = self.radios[*radio].time;
        match self.associations.stations[*radio]
            .as_ref()
            .map(|station| (station.registered, station.first_member()))
        {
            Some((Some(registered), _)) if registered != member => *time,
            Some((None, first)) if first != Some(member) => *time,
            _ => time.and(&now),
        }
    }

    /// What the medium was used for, as the access point of a cell heard it; up to the end once the run is
    /// over.
    pub fn medium_time(&self, cell: usize) -> MediumTime {
        self.medium.times[CellIndex(cell)]
    }

    /// What a radio did: access points, in the order of the cells, and then stations.
    pub fn radio_time(&self, radio: usize) -> RadioTime {
        self.radios[RadioIndex(radio)].time
    }

    /// What was sent from an attachment, rate by rate; nothing where rates are fixed.
    pub fn rate_attempts(&self, from: Attachment) -> Vec<RateAttempts> {
        let way = self.associations.ways[from.0 as usize];
        self.rates.as_ref().map_or(Vec::new(), |rates| rates.tried(way.from, way.to))
    }

    /// Keeps the rates of data frames over time from now on, where they adapt.
    pub fn record_rates(&mut self) {
        if let Some(rates) = &mut self.rates {
            rates.keep_changes();
        }
    }

    /// Each change of the rate of an attachment's data frames, in order; nothing unless that is recorded.
    pub fn rate_changes(&self) -> &[RateChange] {
        self.rates.as_ref().map_or(&[], |rates| rates.changes())
    }

    /// What the channel access functions of a radio did, by category: access points, in the order of the
    /// cells, and then stations. None without EDCA.
    pub fn category_times(&self, radio: usize) -> Vec<CategoryTime> {
        let mut of: Vec<_> = self.radios[RadioIndex(radio)].functions().collect();
        of.sort_by_key(|function| function.category);
        of.into_iter().filter(|function| function.access.is_edca).map(|function| function.time).collect()
    }

    /// Adds losses.
    pub fn add_losses(&mut self, losses: Vec<CellLoss>) {
        if losses.is_empty() {
            return;
        }
        let (attachments, members) = (self.associations.ways.len(), self.associations.members.len());
        self.associations.losses = Some(Box::new(Losses::new(losses, attachments, members)));
    }

    /// From now on one of its losses, whose probability changes, has this one.
    pub fn change_loss(&mut self, now: Time, number: usize, probability: f64) {
        if let Some(losses) = &mut self.associations.losses {
            losses.change(now, number, probability);
        }
    }

    /// Keeps frames from now on.
    pub fn record_frames(&mut self) {
        self.log = Some(Box::new(AirLog::new(self.radios.len())));
    }

    /// The next frame that is over.
    pub fn poll_frame(&mut self) -> Option<AirFrame> {
        self.log.as_mut()?.poll_frame()
    }
}

impl Carrier for Cell {
    fn enqueue(&mut self, cx: &mut Context<'_>, from: Attachment, packet: Packet) -> Result<(), Dropped> {
        let now = cx.now;
        if !self.associations.has_paths {
            if self.undisturbed.is_some() {
                self.disturb_from(from);
            }
            return self.take_packet(now, from, packet);
        }
        self.enqueue_of_station(now, from, packet)
    }

    fn poll_delivery(&mut self, _now: Time) -> Option<(Attachment, Packet)> {
        self.arrived.pop_front()
    }

    fn poll_drop(&mut self) -> Option<(Attachment, Packet, Dropped)> {
        self.dropped.pop_front()
    }

    fn may_have_dropped(&self) -> bool {
        !self.dropped.is_empty()
    }

    fn may_have_arrived(&self, _now: Time) -> bool {
        !self.arrived.is_empty()
    }
}

impl Link for Cell {
    fn finish(&mut self, end: Time) {
        self.disturb();
        for cell in self.medium.times.numbers() {
            self.medium.times[cell].take_back(end);
            self.medium.passes(end, cell);
        }
    }

    fn phases(&self) -> &[PhaseRow] {
        self.associations.phases.rows()
    }

    fn link_type(&self) -> LinkType {
        LinkType::IEEE_802_11
    }

    fn packets_inside(&self) -> u64 {
        let held = |radio: &Radio| {
            let of = |function: &Function| {
                let heads = [&function.head, &function.parked].into_iter().flatten();
                function.queue.length().packets + heads.filter(|head| head.holds_packet()).count()
            };
            radio.functions().map(of).sum::<usize>()
        };
        let held: usize = self.radios.iter().map(held).sum();
        // A broadcast is one packet in its queue.
        let more: usize = self.copies.values().map(|copies| copies.len() - 1).sum();
        (held + more + self.arrived.len() + self.dropped.len()) as u64
    }

    fn stats(&self, from: Attachment, now: Time) -> LinkStats {
        let number = self.associations.ways[from.0 as usize].from;
        let radio = &self.radios[number];
        let mut stats = self.stats[from.0 as usize];
        for Function { queue, .. } in radio.functions() {
            stats.waiting += queue.waited(from, now);
            // With EDCA it is what waited at a time in all of its categories.
            stats.max_waiting_packets = stats.max_waiting_packets.max(queue.max_packets(from) as u64);
            stats.marked_packets += queue.marked_packets(from);
        }
        if let (Attempt::Since(begin), Some(head)) = (radio.attempt, &radio.own.head)
            && head.from() == Some(from)
        {
            stats.busy += now - begin;
        }
        stats
    }

    fn waiting_packets(&self, from: Attachment, _now: Time) -> usize {
        let number = self.associations.ways[from.0 as usize].from;
        self.radios[number].functions().map(|function| function.queue.waiting_packets(from)).sum()
    }

    fn forget_longest(&mut self, now: Time) {
        for Sender { from, .. } in self.senders() {
            self.stats[from.0 as usize].max_waiting_packets = self.waiting_packets(from, now) as u64;
        }
        for number in self.radios.numbers() {
            let radio = &mut self.radios[number];
            std::iter::once(&mut radio.own)
                .chain(&mut radio.others)
                .for_each(|own| own.queue.forget_longest());
        }
    }

    fn queues(&self, from: Attachment) -> Vec<&Queue> {
        let number = self.associations.ways[from.0 as usize].from;
        self.radios[number].functions().map(|function| &function.queue).collect()
    }

    fn senders(&self) -> Vec<Sender> {
        let of_cell = |cell: &CellPlace| {
            let members = self.associations.members.of(cell);
            let both = members.iter().flat_map(|member| [(member.down, member.up), (member.up, member.down)]);
            let both: Vec<_> = both.map(|(from, to)| Sender { from, to: Some(to) }).collect();
            let sent = |from: &Attachment| self.stats[from.0 as usize].sent_packets > 0;
            both.into_iter().chain(cell.broadcast().filter(sent).map(|from| Sender { from, to: None }))
        };
        self.associations.cells.iter().flat_map(of_cell).collect()
    }

    fn is_broadcast(&self, from: Attachment) -> bool {
        self.associations.ways[from.0 as usize].to == ALL
    }

    fn next_indication(&self) -> Option<Time> {
        self.associations.indications.front().map(|(at, _)| *at)
    }

    fn poll_indication(&mut self, _now: Time) -> Option<Indication> {
        self.associations.indications.pop_front().map(|(_, indication)| indication)
    }

    fn stations(&self) -> Option<&dyn Stations> {
        self.associations.has_paths.then_some(self as &dyn Stations)
    }

    fn stations_mut(&mut self) -> Option<&mut dyn Stations> {
        if self.associations.has_paths { Some(self) } else { None }
    }

    fn frames_mut(&mut self) -> Option<&mut dyn Frames> {
        Some(self)
    }
}

impl Stations for Cell {
    fn sub_interface(&self, station: u32) -> Attachment {
        self.associations.members[MemberIndex(station)].down
    }

    fn broadcast_interface(&self, station: u32) -> Attachment {
        let cell = &self.associations.cells[self.associations.members[MemberIndex(station)].cell];
        cell.broadcast().unwrap_or(Attachment(cell.first))
    }

    fn associate(&mut self, now: Time, station: u32) -> Option<LinkEvent> {
        self.join(now, MemberIndex(station));
        None
    }

    fn leave(&mut self, now: Time, station: u32) -> Option<LinkEvent> {
        let member = MemberIndex(station);
        let up = self.associations.give_up_cell(now, member, &mut self.agenda)?;
        self.depart(now, self.associations.members[member].radio);
        up.then_some(LinkEvent::Down(LinkDownReason::EXPLICIT_DISCONNECT))
    }

    /// It looks at its channels at once, if it does not so already. Who joins an access point goes on with
    /// that.
    fn scan(&mut self, now: Time, station: u32) -> LinkActionResult {
        let radio = self.associations.members[MemberIndex(station)].radio;
        match self.associations.station(radio).map(|station| station.state) {
            Some(State::Waiting | State::Associated) => self.begin_scan(now, radio),
            Some(State::Scanning(..)) => {}
            Some(State::Joining { .. }) => return LinkActionResult::REFUSED,
            None => return LinkActionResult::INCAPABLE,
        }
        LinkActionResult::SUCCESS
    }

    fn await_confidence(&mut self, station: u32, percent: u8) {
        self.associations.members[MemberIndex(station)].confidence.await_percent(percent);
    }

    /// A copy is for each station that the access point has on its list. They end when the frame does.
    fn broadcast(
        &mut self,
        now: Time,
        from: Attachment,
        packet: &Packet,
        next_id: u64,
    ) -> Result<Vec<BroadcastCopy>, Dropped> {
        let cell = self.associations.cell_of(self.associations.way(from).from);
        let members = cell.into_iter().flat_map(|cell| self.associations.cells[cell].members());
        let listed: Vec<_> = members.filter(|&member| self.associations.has_on_list(member)).collect();
        if listed.is_empty() {
            self.stats[from.0 as usize].dropped_packets += 1;
            return Err(Dropped { reason: DropReason::NotAssociated, at: now });
        }
        let ids = std::iter::once(packet.id).chain((next_id..).map(PacketId));
        let copies: Vec<(PacketId, MemberIndex)> = ids.zip(listed).collect();
        let answer = copies.iter().map(|&(id, _)| (id, None)).collect();
        self.copies.insert(packet.id, copies);
        let taken = self.take_packet(now, from, packet.clone());
        if taken.is_err() {
            self.copies.remove(&packet.id);
        }
        taken.map(|()| answer)
    }

    fn path(&self, station: u32) -> &Path {
        &self.associations.members[MemberIndex(station)].path
    }

    fn path_mut(&mut self, station: u32) -> &mut Path {
        &mut self.associations.members[MemberIndex(station)].path
    }
}

impl Frames for Cell {
    fn capture_link_type(&self) -> u16 {
        LINKTYPE_RADIOTAP
    }

    fn radios(&self) -> Vec<Vec<(usize, Attachment)>> {
        let radio_of = |from: Attachment| (self.associations.way(from).from.0, from);
        let cell = |number| {
            let members = self.members_of(number).flat_map(|(_, down, up)| [down, up]);
            members.map(radio_of).collect()
        };
        (0..self.cell_count()).map(cell).collect()
    }

    fn listen(&mut self, listening: Listening) {
        self.record_frames();
        let (cells, members) = (&self.associations.cells, &self.associations.members);
        self.listener = Some(Box::new(Listener::new(listening, self.radios.len(), cells, members)));
    }

    fn poll_captured(&mut self, octets_of: OctetsOf<'_>) -> Option<CapturedFrame> {
        let (listener, log) = (self.listener.as_mut()?, self.log.as_mut()?);
        let around = (&self.config, &self.associations.cells);
        while let Some(frame) = log.poll_frame() {
            let captured = listener.hear(around, &frame, &mut *octets_of);
            if captured.is_some() {
                return captured;
            }
        }
        None
    }
}
