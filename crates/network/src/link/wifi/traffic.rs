//! What radios send next, and what becomes of it: packets between queues, radios and interfaces, broadcasts,
//! and frames of the MAC's own. A radio that leaves its channel puts its packets aside.

use super::agenda::Step;
use super::cell::Cell;
use super::index::{CellIndex, RadioIndex};
use super::loss::Of;
use super::management::Management;
use super::medium::frame::{Frame, Heard};
use super::phy::FRAME_OVERHEAD_BYTES;
use super::radios::edca;
use super::radios::radio::{ALL, AT_WORK, FunctionIndex, Head, Job};
use super::stations::Wish;
use super::stations::layout::{MemberIndex, Way};
use crate::drops::{DropReason, Dropped};
use crate::link::{Attachment, Link};
use crate::packet::Packet;
use crate::queue::Waiting;
use roamsim_engine::Time;

/// From queues to radios.
impl Cell {
    /// Takes a packet into the queue before a radio: that of its category.
    #[inline(always)]
    pub(super) fn take_packet(&mut self, now: Time, from: Attachment, packet: Packet) -> Result<(), Dropped> {
        let number = self.associations.way(from).from;
        if self.config.edca.is_none() {
            return self.take_into_queue(now, (number, AT_WORK), from, packet);
        }
        self.take_by_category(now, number, from, packet)
    }

    #[inline(never)]
    fn take_by_category(
        &mut self,
        now: Time,
        number: RadioIndex,
        from: Attachment,
        packet: Packet,
    ) -> Result<(), Dropped> {
        let place = self.radios[number].place_of(edca::category(packet.traffic_class));
        let taken = self.take_into_queue(now, (number, place), from, packet);
        let waiting = self.waiting_packets(from, now) as u64;
        let most = &mut self.stats[from.0 as usize].max_waiting_packets;
        *most = waiting.max(*most);
        taken
    }

    /// Takes a packet into the queue of one of a radio's functions.
    #[inline(always)]
    fn take_into_queue(
        &mut self,
        now: Time,
        (number, place): (RadioIndex, FunctionIndex),
        from: Attachment,
        packet: Packet,
    ) -> Result<(), Dropped> {
        let radio = &mut self.radios[number];
        let idle = radio.function(place).head.is_none() && !radio.blocked;
        let queue = &mut radio.function_mut(place).queue;
        let taken = match packet.size_bytes > self.config.mtu_bytes {
            true => Err(DropReason::TooLarge),
            false => queue.enqueue(now, from, packet, idle).map_err(|(_, reason)| reason),
        };
        if let Err(reason) = taken {
            self.stats[from.0 as usize].dropped_packets += 1;
            return Err(Dropped { reason, at: now });
        }
        if idle {
            self.resume_function(now, number, place);
            self.radios.plan_with(number, &mut self.medium, &self.agenda);
        }
        self.take_drops(now, number, place);
        Ok(())
    }

    /// Takes a packet where stations find their access points. What is for, or from, one that is associated
    /// elsewhere is dropped; a station that is associated with none keeps it.
    pub(super) fn enqueue_of_station(
        &mut self,
        now: Time,
        from: Attachment,
        packet: Packet,
    ) -> Result<(), Dropped> {
        let way = *self.associations.way(from);
        let station = self.associations.station(way.from);
        let waits = station.is_some_and(|station| station.associated.is_none());
        let carried = packet.carried();
        let outcome = if waits || self.associations.may_go(from) {
            self.take_packet(now, from, packet)
        } else {
            self.stats[from.0 as usize].dropped_packets += 1;
            Err(Dropped { reason: DropReason::NotAssociated, at: now })
        };
        if let Err(dropped) = outcome {
            self.associations.members[way.member].path.lost(dropped, way.toward, carried);
        }
        outcome
    }

    /// The functions of a radio that have nothing in hand turn to what they may send now.
    pub(super) fn resume(&mut self, now: Time, number: RadioIndex) {
        for place in self.radios[number].places() {
            self.resume_function(now, number, place);
        }
    }

    /// The same of one function.
    fn resume_function(&mut self, now: Time, number: RadioIndex, place: FunctionIndex) {
        if self.radios[number].function(place).head.is_none() {
            self.next_head(now, number, place);
            if self.radios[number].function(place).head.is_some() {
                self.radios.first_packet(now, number, place, &mut self.medium);
                self.radios.list(number);
            }
        }
    }

    /// A packet in hand, or its first fragment.
    fn head_of(&self, from: Attachment, packet: Packet) -> Head {
        let &Way { to, rate_bps, .. } = self.associations.way(from);
        let bytes = packet.size_bytes + FRAME_OVERHEAD_BYTES;
        let mut head = Head::new(to, bytes, rate_bps, Job::Packet { from, packet: Some(packet) });
        let most_bytes = self.config.fragmentation_threshold_bytes;
        if bytes > most_bytes && to != ALL {
            head.rest_bytes = bytes - most_bytes;
            head.bytes = most_bytes;
        }
        head
    }

    /// A function of a radio turns to what it sends next, if there is anything.
    #[inline(always)]
    pub(super) fn next_head(&mut self, now: Time, number: RadioIndex, place: FunctionIndex) {
        if self.associations.has_paths {
            return self.next_of_station(now, number, place);
        }
        let next = self.radios[number].function_mut(place).queue.dequeue(now);
        let head = next.map(|Waiting { from, packet, .. }| self.head_of(from, packet));
        self.radios[number].function_mut(place).head = head;
        self.take_drops(now, number, place);
    }

    /// The same where stations find their access points: management frames go first, and packets wait while a
    /// station is away.
    #[inline(never)]
    fn next_of_station(&mut self, now: Time, number: RadioIndex, place: FunctionIndex) {
        let radio = &self.radios[number];
        let highest = radio.function(place).category == radio.others.len();
        if highest && !radio.management.is_empty() {
            let head = self.management_head(number);
            self.radios[number].function_mut(place).head = head;
            return;
        }
        self.radios[number].function_mut(place).head = None;
        while !self.radios[number].blocked && self.radios[number].function(place).head.is_none() {
            let function = self.radios[number].function_mut(place);
            let next = match function.parked.take() {
                Some(head) => Some(head),
                None => {
                    let next = function.queue.dequeue(now);
                    next.map(|Waiting { from, packet, .. }| self.head_of(from, packet))
                }
            };
            self.take_drops(now, number, place);
            match next {
                Some(Head { job: Job::Packet { from, packet: Some(packet) }, .. })
                    if !self.associations.may_go(from) =>
                {
                    self.drop_packet(now, from, packet, DropReason::NotAssociated);
                }
                Some(head) => {
                    // Its window is as wide as its attempts have left it.
                    let function = self.radios[number].function_mut(place);
                    for _ in 0..head.short_retries + head.long_retries {
                        function.widen();
                    }
                    function.head = Some(head);
                }
                None => return,
            }
        }
    }

    /// What a queue has dropped of what it had taken.
    #[inline]
    fn take_drops(&mut self, now: Time, number: RadioIndex, place: FunctionIndex) {
        if self.radios[number].function(place).queue.may_have_dropped() {
            self.take_drops_of_queue(now, number, place);
        }
    }

    #[inline(never)]
    fn take_drops_of_queue(&mut self, now: Time, number: RadioIndex, place: FunctionIndex) {
        while let Some((Waiting { from, packet, .. }, reason)) =
            self.radios[number].function_mut(place).queue.poll_drop(now)
        {
            self.drop_packet(now, from, packet, reason);
        }
    }
}

/// The ends of packets.
impl Cell {
    /// The receiver has a radio's packet, unless it had it before.
    #[inline(always)]
    pub(super) fn deliver(&mut self, now: Time, sender: RadioIndex) {
        let Some(Head { job: Job::Packet { from, packet }, rest_bytes, .. }) =
            &mut self.radios[sender].own.head
        else {
            return;
        };
        let from = *from;
        if *rest_bytes > 0 {
            return;
        }
        if let Some(packet) = packet.take() {
            if !self.associations.may_arrive(from) {
                return self.arrives_from_a_stranger(now, from, packet);
            }
            if self.associations.losses.is_some() && self.associations.loses(now, from, &packet, Of::Packets)
            {
                return self.drop_packet(now, from, packet, DropReason::Loss);
            }
            self.stats[from.0 as usize].delivered_packets += 1;
            self.associations.arrives(now, from, &packet);
            self.arrived.push_back((self.associations.way(from).opposite, packet));
        }
    }

    /// A broadcast is over: each copy arrives, or is lost.
    fn broadcast_arrives(&mut self, now: Time, sender: RadioIndex, hearers: &[Heard]) {
        let Some(Head { job: Job::Packet { from, packet }, .. }) = &mut self.radios[sender].own.head else {
            return;
        };
        let from = *from;
        let Some(packet) = packet.take() else { return };
        for (id, member) in self.copies.remove(&packet.id).unwrap_or_default() {
            let copy = Packet { id, ..packet.clone() };
            let to = &self.associations.members[member];
            let (radio, up) = (to.radio, to.up);
            let station = self.associations.station(radio);
            let stands = station.is_none_or(|station| station.associated == Some(member));
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
    pub(super) fn drop_packet(&mut self, now: Time, from: Attachment, packet: Packet, reason: DropReason) {
        let copies = self.copies.remove(&packet.id).unwrap_or_else(|| vec![(packet.id, MemberIndex(0))]);
        for (id, _) in copies {
            self.stats[from.0 as usize].dropped_packets += 1;
            self.associations.is_lost(now, from, &packet, reason);
            self.dropped.push_back((from, Packet { id, ..packet.clone() }, Dropped { reason, at: now }));
        }
    }

    /// Data has come from somebody with whom its receiver is not associated: a frame of class 3, which it
    /// acknowledges and may not take. A station says so by a disassociation, the reason 7 of clause 7.3.1.7.
    #[cold]
    fn arrives_from_a_stranger(&mut self, now: Time, from: Attachment, packet: Packet) {
        self.drop_packet(now, from, packet, DropReason::NotAssociated);
        let way = *self.associations.way(from);
        let says = |what: &Management| *what == Management::Disassociation;
        let radio = &self.radios[way.to];
        let sends = |head: &Head| matches!(&head.job, Job::Management(what, _) if says(what));
        let contends = radio.functions().any(|function| function.head.as_ref().is_some_and(sends));
        if !contends && !radio.management.iter().any(|(what, _)| says(what)) {
            self.push_management(now, way.to, Management::Disassociation, way.from);
        }
    }
}

/// Frames of the MAC's own.
impl Cell {
    /// A radio gets a management frame to send.
    pub(super) fn push_management(
        &mut self,
        now: Time,
        number: RadioIndex,
        what: Management,
        to: RadioIndex,
    ) {
        let radio = &mut self.radios[number];
        radio.management.push_back((what, to));
        self.resume(now, number);
    }

    /// The next frame of a radio: its management frames go first.
    fn management_head(&mut self, number: RadioIndex) -> Option<Head> {
        let (what, to) = self.radios[number].management.pop_front()?;
        let bytes = what.bytes(self.config.format);
        Some(Head::new(to, bytes, self.config.lowest_rate_bps(), Job::Management(what, false)))
    }

    /// Time for a beacon. One that is still to be sent is not joined by another.
    pub(super) fn beacon_due(&mut self, now: Time, cell: CellIndex) {
        let Some(beacons) = self.associations.cells[cell].beacons else { return };
        let access_point = cell.access_point();
        let radio = &self.radios[access_point];
        let waits = radio.management.iter().any(|&(what, _)| what == Management::Beacon);
        let contends = radio.functions().any(|function| function.head.as_ref().is_some_and(Head::is_beacon));
        if !waits && !contends {
            // It goes before what else waits.
            self.radios[access_point].management.push_front((Management::Beacon, ALL));
            self.resume(now, access_point);
        }
        self.agenda.put(now + beacons.period, Step::Beacon(cell));
    }

    /// A frame that was for all has ended; who has understood it is named.
    pub(super) fn broadcast_ends(&mut self, now: Time, frame: &Frame, hearers: &[Heard]) {
        let sender = frame.from;
        let what = match &self.radios[sender].own.head {
            Some(Head { job: Job::Management(what, _), .. }) => Some(*what),
            _ => None,
        };
        match what {
            None => self.broadcast_arrives(now, sender, hearers),
            Some(Management::Beacon) => {
                for &heard in hearers {
                    self.hear_cell(now, heard, sender);
                }
            }
            Some(_) => {
                for &(access_point, _) in hearers {
                    let cell = self.associations.cell_of(access_point);
                    if cell.is_some_and(|cell| self.associations.cells[cell].beacons.is_some()) {
                        self.push_management(now, access_point, Management::ProbeResponse, sender);
                    }
                }
            }
        }
        self.account(now, sender);
        self.next_packet(now, sender);
        if what == Some(Management::ProbeRequest) {
            self.associations.has_probed(now, sender, &mut self.agenda);
        }
    }

    /// A management frame has arrived at the radio that it is for, which acknowledges it.
    pub(super) fn management_arrives(&mut self, now: Time, from: RadioIndex, heard: Heard) {
        let (to, _) = heard;
        let Some(Head { job: Job::Management(what, taken), .. }) = &mut self.radios[from].own.head else {
            return;
        };
        if std::mem::replace(taken, true) {
            return;
        }
        match *what {
            Management::Beacon | Management::ProbeRequest => {}
            Management::ProbeResponse => self.hear_cell(now, heard, from),
            Management::Authentication => self.push_management(now, to, Management::Authenticated, from),
            Management::AssociationRequest { .. } => {
                self.push_management(now, to, Management::AssociationResponse, from);
            }
            Management::Authenticated => {
                let wish = self.associations.is_authenticated(now, to, from, &mut self.agenda);
                self.perform(now, to, wish);
            }
            Management::AssociationResponse => {
                let time = &mut self.radios[to].time;
                let wish = self.associations.is_associated(now, to, from, time, &mut self.agenda);
                self.perform(now, to, wish);
            }
            Management::Disassociation => self.associations.is_disassociated(from, to),
        }
    }
}

/// What stations need their radios for.
impl Cell {
    fn perform(&mut self, now: Time, radio: RadioIndex, wish: Wish) {
        match wish {
            Wish::Nothing => {}
            Wish::Depart => self.depart(now, radio),
            Wish::Resume => {
                self.radios[radio].blocked = false;
                self.resume(now, radio);
            }
            Wish::Send(what, to) => self.push_management(now, radio, what, to),
        }
    }

    /// A station hears a beacon of a cell, or its probe response.
    fn hear_cell(&mut self, now: Time, heard: Heard, access_point: RadioIndex) {
        let Some(cell) = self.associations.cell_of(access_point) else { return };
        let Some(signal_dbm) = self.medium.hearing.signal_dbm(heard, access_point, now) else { return };
        let (radio, _) = heard;
        let wish = self.associations.hears_cell(now, radio, (cell, signal_dbm), &self.medium.channels);
        self.perform(now, radio, wish);
    }

    pub(super) fn station_timer(&mut self, now: Time, radio: RadioIndex, timer: u64) {
        let (ear, channels) = (self.medium.ear(radio), &self.medium.channels);
        let wish = self.associations.timer(now, (radio, timer), ear, channels, &mut self.agenda);
        self.perform(now, radio, wish);
    }

    /// A station looks at all channels, from the first on.
    pub(super) fn begin_scan(&mut self, now: Time, radio: RadioIndex) {
        let wish = self.associations.begin_scan(now, radio);
        self.perform(now, radio, wish);
    }

    /// A station is to join a cell.
    pub(super) fn join(&mut self, now: Time, member: MemberIndex) {
        let radio = self.associations.members[member].radio;
        let wish = self.associations.join(now, member);
        if wish != Wish::Nothing {
            self.perform(now, radio, wish);
            self.plan();
        }
    }

    /// A station leaves its channel, now or when its frame exchange is over.
    pub(super) fn depart(&mut self, now: Time, radio: RadioIndex) {
        self.radios.wants_to_depart(radio);
        self.let_depart(now);
    }

    /// Those who want to leave their channels do, unless they are in a frame exchange.
    pub(super) fn let_depart(&mut self, now: Time) {
        let mut place = 0;
        while let Some(number) = self.radios.next_to_depart(now, &mut place, &self.medium, &mut self.agenda) {
            self.radios.park(now, number, &mut self.medium);
            let channels = &self.medium.channels;
            let (channel, wish) = self.associations.departs(now, number, channels, &mut self.agenda);
            if let Some(channel) = channel {
                self.medium.tune(now, number, channel);
            }
            self.perform(now, number, wish);
        }
    }
}
