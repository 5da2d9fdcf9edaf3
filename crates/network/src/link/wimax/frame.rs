//! What is in a frame: the schedule of both subframes, and downlink bursts.

use super::arq::Content;
use super::backlog::Round;
use super::block_errors::{Reception, blocks_of};
use super::config::{Extra, RANKS};
use super::connection::{Carried, Ended, LEAST_PDU_BYTES, Pdu};
use super::layout::UnitTimes;
use super::management::{Direction, LONGEST_FROM_STATION_BYTES, Message};
use super::pdu::{PIGGYBACK_BYTES, WHOLE_BYTES};
use super::phy::{BurstProfile, PROFILES, Unit};
use super::schedule::Demand;
use super::{Attachment, BROADCAST, Burst, Cause, Cell, MESSAGES, Step, TO_STATION, fly};
use crate::link::LinkStats;
use roamsim_engine::{Span, Time};
use std::collections::VecDeque;

/// The downlink bursts of a frame, one a profile.
#[derive(Debug, Default)]
pub(super) struct Bursts {
    bytes: [u32; PROFILES],
    units: [u32; PROFILES],
    /// Packets that end in them: profile, octets of the burst up to their end, where they arrive.
    ended: Vec<(BurstProfile, u32, Attachment, Ended)>,
    /// Management messages in the burst of the maps' profile: octets up to their end, station.
    messages: Vec<(u32, u32, Message)>,
    /// What PDUs carry of connections with ARQ: profile, octets of the burst up to their end, service flow.
    contents: Vec<(BurstProfile, u32, u32, Box<Content>)>,
    /// Service flows that have had their turn, and have more: empty between rounds, kept for its memory.
    again: VecDeque<u32>,
}

impl Bursts {
    /// Octets that a burst has room for, if it takes all of these units.
    fn room_bytes(&self, unit: Unit, profile: BurstProfile, room_units: u32) -> u32 {
        let number = profile as usize;
        unit.burst_bytes(profile, self.units[number] + room_units).saturating_sub(self.bytes[number])
    }

    /// A burst takes so many octets; returns how many units more it has.
    fn grow(&mut self, unit: Unit, profile: BurstProfile, bytes: u32) -> u32 {
        let number = profile as usize;
        self.bytes[number] += bytes;
        let units = unit.burst_units(profile, self.bytes[number]);
        let more = units - self.units[number];
        self.units[number] = units;
        more
    }

    /// A packet ends with what a burst has by now, on the way to an attachment.
    fn end(&mut self, profile: BurstProfile, to: Attachment, packet: Ended) {
        self.ended.push((profile, self.bytes[profile as usize], to, packet));
    }
}

impl LinkStats {
    /// A PDU is sent.
    pub(super) fn sends(&mut self, pdu: &Pdu, airtime: Span) {
        let (packets, bytes) = pdu.begun;
        self.sent_packets += u64::from(packets);
        self.sent_bytes += u64::from(bytes);
        self.busy += airtime;
    }
}

impl Cell {
    /// The next frame that can be worked out has to be.
    pub(super) fn want_frame(&mut self, now: Time) {
        if self.frame_pending {
            return;
        }
        let frame = now.as_ns().div_ceil(self.config.layout.duration.as_ns()).max(self.next_frame);
        self.frame_pending = true;
        self.at(self.frame_start(frame), Step::Frame(frame));
    }

    /// Unsolicited grants that come due by the begin of a frame, after that of the one before.
    fn unsolicited_grants(&self, flow: u32, frame: u64) -> u32 {
        let Some(interval) = self.flows[flow as usize].service.interval() else { return 0 };
        let due = |frame: u64| self.frame_start(frame).as_ns() / interval.as_ns() + 1;
        (due(frame) - frame.checked_sub(1).map_or(0, due)) as u32
    }

    /// Something of who is served, and how, is about to change: it does with the next frame, as the map has
    /// told of this one.
    pub(super) fn settle(&mut self, now: Time) {
        let frame = self.frame_of(now);
        self.leave_out_until(frame);
        self.unsolicited_bursts(frame);
    }

    /// The bursts of unsolicited grants and polls in the present frame.
    fn unsolicited_bursts(&mut self, frame: u64) -> &[Burst] {
        if self.told.as_ref().is_none_or(|(of, _)| *of != frame) {
            let mut bursts = self.told.take().map_or(Vec::new(), |(_, bursts)| bursts);
            bursts.clear();
            bursts.extend(self.fitting_bursts(frame));
            self.told = Some((frame, bursts));
        }
        self.told.as_ref().map_or(&[], |(_, bursts)| bursts)
    }

    /// Those of a frame as stations are now, behind the request opportunities. Where profiles have become
    /// slower than at admission, those for which there is no room are left out.
    fn fitting_bursts(&self, frame: u64) -> impl Iterator<Item = Burst> {
        let mut first_unit = self.first_unit(frame);
        let end = self.config.layout.uplink_units();
        let served = self
            .unsolicited
            .iter()
            .map(|&flow| (flow, self.flows[flow as usize].station))
            .filter(move |&(_, station)| self.is_served(station) && !self.leaves_alone(station, frame));
        served.filter_map(move |(flow, _)| {
            let grants = self.unsolicited_grants(flow, frame);
            let own = &self.flows[flow as usize];
            let profile = self.stations[own.station as usize].config.uplink;
            let units = own.service.unsolicited_units(self.config.layout.unit(), profile, grants);
            if units == 0 || first_unit + units > end {
                return None;
            }
            let burst = Burst { flow, frame, first_unit, units, profile, cause: Cause::Interval };
            first_unit += units;
            Some(burst)
        })
    }

    /// The unsolicited burst of a service flow in a frame.
    pub(super) fn unsolicited_of(&mut self, flow: u32, frame: u64) -> Option<Burst> {
        self.unsolicited_bursts(frame);
        let (_, bursts) = self.told.as_ref()?;
        let place = |flow: u32| self.flows[flow as usize].unsolicited_place;
        let number = bursts.binary_search_by_key(&place(flow), |burst| place(burst.flow)).ok()?;
        Some(bursts[number])
    }

    /// When a service flow does something about unsolicited bursts, at `now` or later: the begin of its burst
    /// in the frame of `now`, or else of the next frame in which one comes due, where it looks whether there
    /// is room for it.
    pub(super) fn next_unsolicited(&mut self, now: Time, flow: u32) -> Option<Time> {
        let own = &self.flows[flow as usize];
        let interval = own.service.interval()?;
        if !self.is_served(own.station) {
            return None;
        }
        let frame = self.frame_of(now);
        let begin = self.unsolicited_of(flow, frame).map(|own| self.burst_time(&own));
        if let Some(begin) = begin.filter(|&begin| begin >= now) {
            return Some(begin);
        }
        let due = self.frame_start(frame).as_ns() / interval.as_ns() + 1;
        let due_ns = due.checked_mul(interval.as_ns())?;
        Some(self.frame_start(due_ns.div_ceil(self.config.layout.duration.as_ns())))
    }

    /// Counts frames up to this one, in which the base station has nothing to do.
    pub(super) fn leave_out_until(&mut self, frame: u64) {
        let idle = frame.saturating_sub(self.next_frame);
        if self.unsolicited.is_empty() && self.config.entry.is_none() {
            self.time.map_units += idle * u64::from(self.config.map_units(Extra::default(), 0, 0));
        } else {
            for frame in self.next_frame..frame {
                let (mut bursts, mut units) = (0, 0);
                let mut count = |burst: &Burst| (bursts, units) = (bursts + 1, units + burst.units);
                match &self.told {
                    Some((of, told)) if *of == frame => told.iter().for_each(count),
                    _ => self.fitting_bursts(frame).for_each(|burst| count(&burst)),
                }
                let extra = self.config.extra(frame);
                self.time.map_units += u64::from(self.config.map_units(extra, 0, bursts));
                self.time.uplink_units += u64::from(units);
                self.time.ranging_units += u64::from(extra.ranging_units);
            }
        }
        self.time.frames += idle;
        self.next_frame = self.next_frame.max(frame);
    }

    /// Schedules a frame that begins now, and sends its downlink bursts.
    pub(super) fn work_out(&mut self, now: Time, frame: u64) {
        self.leave_out_until(frame);
        if !self.scanning.is_empty() {
            self.note_scanning(frame);
        }
        (self.next_frame, self.frame_pending) = (frame + 1, false);
        let robust = self.speaks_robustly() && !self.backlog.has_profile(self.config.map_profile);
        let downlink_bursts = self.backlog.profiles() + u32::from(robust);
        let uplink_bursts = self.schedule_uplink(frame, downlink_bursts);
        let extra = self.config.extra(frame);
        let room = self.config.downlink_room(extra, downlink_bursts, uplink_bursts);
        let map_units = self.config.map_units(extra, downlink_bursts, uplink_bursts);
        let downlink_units = if downlink_bursts > 0 { self.send_downlink(now, room, map_units) } else { 0 };
        self.time.frames += 1;
        self.time.busy_frames += 1;
        self.time.map_units += u64::from(map_units);
        self.time.downlink_units += u64::from(downlink_units);
        self.time.ranging_units += u64::from(extra.ranging_units);
        if !self.backlog.is_empty() || !self.broadcasts.is_empty() || !self.codes.is_empty() {
            self.want_frame(now);
        }
    }

    /// The first unit of the uplink subframe behind the opportunities.
    pub(super) fn first_unit(&self, frame: u64) -> u32 {
        self.config.extra(frame).ranging_units + self.config.request_units()
    }

    /// Whether something waits for the most robust burst.
    fn speaks_robustly(&self) -> bool {
        !self.broadcasts.is_empty() || !self.backlog.messages.is_empty()
    }

    /// What has to be left to the downlink so that something of it goes on: the first message, and a fragment
    /// to whose turn it is.
    fn least_downlink_units(&self) -> u32 {
        let profile = self.config.map_profile;
        let first = |station: u32| {
            let joining = self.stations[station as usize].joining.as_ref()?;
            joining.to_station.front().map(|message| message.bytes())
        };
        let messages = self.backlog.messages.iter().filter_map(first).max();
        let broadcast = (!self.broadcasts.is_empty()).then_some(LEAST_PDU_BYTES);
        let unit = self.config.layout.unit();
        let robust = messages.max(broadcast).map_or(0, |bytes| unit.burst_units(profile, bytes));
        let ranks = self.backlog.downlink.iter().zip(self.turns[0]);
        let first = ranks.filter_map(|(waiting, turn)| waiting.round_from(turn).next()).next();
        let data = first.map_or(0, |flow| {
            let station = self.flows[flow as usize].station;
            let least_bytes = self.flows[flow as usize].downlink.least_pdu_bytes();
            unit.burst_units(self.stations[station as usize].config.downlink, least_bytes)
        });
        robust.max(data)
    }

    /// The burst that a service flow wants that has asked for one.
    fn demand(&self, flow: u32) -> Demand {
        let own = &self.flows[flow as usize];
        let station = &self.stations[own.station as usize];
        // A message of who enters is not cut, nor is a block.
        let message = u32::from(self.enters(flow)) * (LONGEST_FROM_STATION_BYTES + PIGGYBACK_BYTES);
        let whole = message.max(own.least_block_bytes());
        let wanted = u32::try_from(own.requested_bytes).unwrap_or(u32::MAX / 2);
        let (unit, profile) = (self.config.layout.unit(), station.config.uplink);
        let least_units = station.config.least_units(unit).max(unit.burst_units(profile, whole.min(wanted)));
        let units = unit.burst_units(profile, wanted).max(least_units);
        Demand { flow, units, least_units, preamble_units: unit.preamble() }
    }

    /// Whether no burst has room for a PDU of anybody for whom there is something.
    fn is_full(&self, bursts: &Bursts, room_units: u32) -> bool {
        let unit = self.config.layout.unit();
        let mut waiting =
            unit.profiles().iter().copied().filter(|&profile| self.backlog.has_profile(profile));
        waiting.all(|profile| bursts.room_bytes(unit, profile, room_units) <= WHOLE_BYTES)
    }

    /// Grants uplink bursts; returns how many there are, unsolicited ones included.
    fn schedule_uplink(&mut self, frame: u64, downlink_bursts: u32) -> u32 {
        let extra = self.config.extra(frame);
        let mut first_unit = self.first_unit(frame);
        let behind = first_unit;
        let mut bursts = 0;
        if !self.unsolicited.is_empty()
            && let told = self.unsolicited_bursts(frame)
            && let Some(last) = told.last()
        {
            (first_unit, bursts) = (last.first_unit + last.units, told.len() as u32);
        }
        if !self.codes.is_empty() {
            let most = self.config.most_uplink_bursts(extra, downlink_bursts, self.least_downlink_units());
            let (behind_codes, of_codes) =
                self.grant_to_codes(frame, first_unit, most.saturating_sub(bursts));
            (first_unit, bursts) = (behind_codes, bursts + of_codes);
        }
        let mut used_units = first_unit - behind;
        if self.backlog.uplink.iter().any(|of_rank| !of_rank.is_empty()) {
            let unit = self.config.layout.unit();
            let polls = !self.unsolicited.is_empty() || self.config.layout.pusc.is_some();
            let left_units = self.least_downlink_units();
            let mut most =
                self.config.most_uplink_bursts(extra, downlink_bursts, left_units).saturating_sub(bursts);
            for rank in 0..RANKS {
                if self.backlog.uplink[rank].is_empty() {
                    continue;
                }
                let turn = self.turns[1][rank];
                let room = self.config.layout.uplink_units().saturating_sub(first_unit);
                let demands = self.backlog.uplink[rank].round_from(turn);
                let mut deal = std::mem::take(&mut self.deal);
                let next = deal.deal(demands.map(|flow| self.demand(flow)), room, most);
                self.turns[1][rank] = next.unwrap_or(turn);
                most -= deal.grants.len() as u32;
                bursts += deal.grants.len() as u32;
                for &grant in &deal.grants {
                    let flow = grant.flow;
                    let own = &mut self.flows[flow as usize];
                    let profile = self.stations[own.station as usize].config.uplink;
                    let units = unit.preamble() + grant.units;
                    let bytes = unit.burst_bytes(profile, grant.units);
                    own.requested_bytes = own.requested_bytes.saturating_sub(u64::from(bytes));
                    own.grants += 1;
                    if polls {
                        own.granted_until = frame + 1;
                    }
                    self.note_request(flow);
                    self.tell_of_burst(flow, frame);
                    self.grant(Burst { flow, frame, first_unit, units, profile, cause: Cause::Request });
                    first_unit += units;
                    used_units += units;
                }
                self.deal = deal;
            }
        }
        self.time.uplink_units += u64::from(used_units);
        bursts
    }

    /// The map of a frame tells a service flow of a burst, if its station hears it.
    pub(super) fn tell_of_burst(&mut self, flow: u32, frame: u64) {
        let station = self.flows[flow as usize].station;
        if self.hears_frame_of(station, self.frame_start(frame)) {
            self.flows[flow as usize].contention.told_of_burst();
        }
    }

    /// Fills downlink bursts, a packet a turn; who is interrupted has the first turn of the next frame.
    /// Returns their units.
    fn send_downlink(&mut self, now: Time, room_units: u32, map_units: u32) -> u32 {
        let mut room = room_units;
        let mut bursts = std::mem::take(&mut self.bursts);
        if self.config.entry.is_some() {
            room -= self.take_robust(now, &mut bursts, room);
        }
        for rank in 0..RANKS {
            if !self.backlog.downlink[rank].is_empty() {
                room -= self.take_rounds(now, &mut bursts, room, rank);
            }
        }
        let mut first = [self.config.layout.header_units() + map_units; PROFILES];
        for number in 1..PROFILES {
            first[number] = first[number - 1] + bursts.units[number - 1];
        }
        // Bursts follow each other by profile, and the packets of a burst are in order.
        bursts.ended.sort_by_key(|&(profile, ..)| profile);
        let unit = self.config.layout.unit();
        let end = |times: &UnitTimes, profile: BurstProfile, end_bytes: u32| {
            now + times.downlink_end(first[profile as usize] + end_bytes.div_ceil(unit.bytes(profile)))
        };
        let robust = self.config.map_profile;
        for (end_bytes, station, message) in bursts.messages.drain(..) {
            self.at(end(&self.times, robust, end_bytes), Step::Told(station, message));
        }
        for (profile, end_bytes, to, (packet, lost)) in bursts.ended.drain(..) {
            fly(&mut self.flying, (end(&self.times, profile, end_bytes), to, packet, lost));
        }
        for (profile, end_bytes, flow, content) in bursts.contents.drain(..) {
            self.transfer(end(&self.times, profile, end_bytes), flow, Direction::Downlink, content);
        }
        (bursts.bytes, bursts.units) = ([0; PROFILES], [0; PROFILES]);
        self.bursts = bursts;
        room_units - room
    }

    /// Fills bursts with packets of service flows of a rank, a packet a turn. Returns their units.
    fn take_rounds(&mut self, now: Time, bursts: &mut Bursts, room_units: u32, rank: usize) -> u32 {
        let mut room = room_units;
        let unit = self.config.layout.unit();
        let (count, stations) = (self.flow_count(), self.station_count());
        let mut round = Round::from(self.turns[0][rank]);
        let mut interrupted = None;
        while let Some(flow) = round.next(&self.backlog.downlink[rank]).or_else(|| bursts.again.pop_front()) {
            if self.is_full(bursts, room) {
                interrupted = interrupted.or(Some(flow));
                break;
            }
            let station = self.flows[flow as usize].station;
            let own = &self.stations[station as usize];
            let profile = own.config.downlink;
            let reception = self.reception_in_frame(now, station, profile);
            let (own, receiver) = (&mut self.flows[flow as usize], &mut self.stations[station as usize]);
            let before_bytes = bursts.bytes[profile as usize];
            let unit_bytes = unit.bytes(profile);
            let mut lost =
                |bytes| receiver.lost(TO_STATION, now, blocks_of(unit_bytes, before_bytes, bytes), reception);
            let room_bytes = bursts.room_bytes(unit, profile, room);
            let pdu = match own.arq {
                false => own.downlink.take(now, room_bytes, lost),
                true => own.take_downlink(now, room_bytes, &mut lost),
            };
            let Some(pdu) = pdu else {
                interrupted = interrupted.or(Some(flow));
                continue;
            };
            own.account.downlink_pdus += 1;
            own.account.downlink_fragments += u64::from(pdu.fragment);
            own.account.lost_pdus += u64::from(pdu.lost.is_some());
            let airtime = self.config.layout.airtime(pdu.bytes, profile, false);
            self.stats[(self.first + station) as usize].sends(&pdu, airtime);
            if let Carried::Packets { cut: true, .. } = pdu.carries {
                interrupted = interrupted.or(Some(flow));
            } else if !own.downlink_is_empty() {
                bursts.again.push_back(flow);
            } else {
                self.note(flow);
            }
            self.turns[0][rank] = (flow + 1) % count;
            let to = Attachment(self.first + stations + station);
            room -= bursts.grow(unit, profile, pdu.bytes);
            match pdu.carries {
                Carried::Packets { ends, packs, cut: _ } => {
                    if let Some(packet) = ends {
                        bursts.end(profile, to, packet);
                    }
                    if packs {
                        let packed = self.flows[flow as usize].downlink.packed.drain(..);
                        packed.for_each(|packet| bursts.end(profile, to, (packet, pdu.lost)));
                    }
                }
                Carried::Arq(content) => {
                    self.arm_arq(flow);
                    if pdu.lost.is_none() {
                        bursts.contents.push((profile, bursts.bytes[profile as usize], flow, content));
                    }
                }
            }
            self.drop_by_queues(now, flow);
        }
        if let Some(interrupted) = interrupted {
            self.turns[0][rank] = interrupted;
        }
        bursts.again.clear();
        room_units - room
    }

    /// What a station gets of bursts to it in the frame that begins now.
    fn reception_in_frame(&mut self, now: Time, station: u32, profile: BurstProfile) -> Reception {
        if self.config.entry.is_none() {
            return Reception::All;
        }
        if let Some((at, reception)) = self.stations[station as usize].understands
            && at == now
        {
            return reception;
        }
        let reception = self.downlink_reception(now, station, profile);
        self.stations[station as usize].understands = Some((now, reception));
        reception
    }

    /// Fills the most robust burst with management messages, each with the bandwidth that its answer needs,
    /// and then broadcasts. Returns its units.
    fn take_robust(&mut self, now: Time, bursts: &mut Bursts, room_units: u32) -> u32 {
        let (unit, profile) = (self.config.layout.unit(), self.config.map_profile);
        let mut room = room_units;
        let waiting: Vec<u32> = self.backlog.messages.iter().collect();
        for number in waiting {
            // Who is out of reach passes the message over when it comes.
            let reception = match self.downlink_reception(now, number, profile) {
                Reception::Nothing(_) => Reception::All,
                of_blocks => of_blocks,
            };
            while let Some(joining) = &mut self.stations[number as usize].joining
                && let Some(message) = joining
                    .to_station
                    .pop_front_if(|message| message.bytes() <= bursts.room_bytes(unit, profile, room))
            {
                let blocks = blocks_of(unit.bytes(profile), bursts.bytes[profile as usize], message.bytes());
                room -= bursts.grow(unit, profile, message.bytes());
                let receiver = &mut self.stations[number as usize];
                if receiver.lost(MESSAGES, now, blocks, reception).is_none() {
                    bursts.messages.push((bursts.bytes[profile as usize], number, message));
                }
                if message == Message::ScanResponse {
                    self.grant_scan(number, self.frame_of(now));
                }
                let answer_bytes = message.answer().map_or(0, |answer| u64::from(answer.bytes()));
                self.flows[number as usize].requested_bytes += answer_bytes;
            }
            self.note_station(number);
        }
        while let Some(pdu) = self.broadcasts.take(now, bursts.room_bytes(unit, profile, room), |_| None) {
            let airtime = self.config.layout.airtime(pdu.bytes, profile, false);
            self.stats[BROADCAST.0 as usize].sends(&pdu, airtime);
            room -= bursts.grow(unit, profile, pdu.bytes);
            if let Carried::Packets { ends: Some(packet), .. } = pdu.carries {
                bursts.end(profile, BROADCAST, packet);
            }
        }
        room_units - room
    }
}
