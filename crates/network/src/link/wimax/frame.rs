//! What is in a frame: the schedule of both subframes, and downlink bursts.

use super::config::{Extra, RANKS};
use super::connection::{Ended, LEAST_PDU_BYTES, Pdu};
use super::joining::Joining;
use super::management::{LONGEST_FROM_STATION_BYTES, Message};
use super::pdu::PIGGYBACK_BYTES;
use super::phy::{BurstProfile, PREAMBLE_AND_FCH_SYMBOLS, UPLINK_PREAMBLE_SYMBOLS};
use super::schedule::{Demand, deal};
use super::{Attachment, BROADCAST, Burst, Cell, Station, Step};
use crate::link::LinkStats;
use roamsim_engine::{Span, Time};
use std::collections::VecDeque;

pub(super) const PROFILES: usize = BurstProfile::ALL.len();

/// The downlink bursts of a frame, one a profile.
#[derive(Default)]
struct Bursts {
    bytes: [u32; PROFILES],
    symbols: [u32; PROFILES],
    /// Packets that end in them: profile, octets of the burst up to their end, where they arrive.
    ended: Vec<(BurstProfile, u32, Attachment, Ended)>,
    /// Management messages in the burst of the maps' profile: octets up to their end, station.
    messages: Vec<(u32, u32, Message)>,
}

impl Bursts {
    /// Octets that a burst has room for, if it takes all of these symbols.
    fn room_bytes(&self, profile: BurstProfile, room_symbols: u32) -> u32 {
        let number = profile as usize;
        profile.burst_bytes(self.symbols[number] + room_symbols).saturating_sub(self.bytes[number])
    }

    /// A burst takes so many octets; returns how many symbols more it has.
    fn grow(&mut self, profile: BurstProfile, bytes: u32) -> u32 {
        let number = profile as usize;
        self.bytes[number] += bytes;
        let symbols = profile.burst_symbols(self.bytes[number]);
        let more = symbols - self.symbols[number];
        self.symbols[number] = symbols;
        more
    }

    /// Takes a PDU on the way to an attachment; returns how many symbols more the burst has.
    fn take(&mut self, profile: BurstProfile, to: Attachment, pdu: Pdu) -> u32 {
        let more = self.grow(profile, pdu.bytes);
        if let Some(packet) = pdu.ends {
            self.ended.push((profile, self.bytes[profile as usize], to, packet));
        }
        more
    }
}

impl LinkStats {
    /// A PDU is sent.
    pub(super) fn sends(&mut self, pdu: &Pdu, airtime: Span) {
        if pdu.begins {
            self.sent_packets += 1;
            self.sent_bytes += u64::from(pdu.packet_bytes);
        }
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
    fn unsolicited_grants(&self, station: u32, frame: u64) -> u32 {
        let Some(interval) = self.stations[station as usize].config.service.interval() else { return 0 };
        let due = |frame: u64| self.frame_start(frame).as_ns() / interval.as_ns() + 1;
        (due(frame) - frame.checked_sub(1).map_or(0, due)) as u32
    }

    /// Something of who is served, and how, is about to change: it does with the next frame, as the map has told of this one.
    pub(super) fn settle(&mut self, now: Time) {
        let frame = self.frame_of(now);
        self.leave_out_until(frame);
        let bursts = self.unsolicited_bursts(frame).collect();
        self.told = Some((frame, bursts));
    }

    /// The bursts of unsolicited grants and polls in a frame.
    fn unsolicited_bursts(&self, frame: u64) -> impl Iterator<Item = Burst> {
        let told = self.told.as_ref().filter(|(of, _)| *of == frame).map(|(_, bursts)| bursts);
        let fitting = told.is_none().then(|| self.fitting_bursts(frame));
        told.into_iter().flatten().copied().chain(fitting.into_iter().flatten())
    }

    /// The same as stations are now, behind the request opportunities. Where profiles have become slower than at admission, those for
    /// which there is no room are left out.
    fn fitting_bursts(&self, frame: u64) -> impl Iterator<Item = Burst> {
        let mut first_symbol = self.first_symbol(frame);
        let end = self.config.layout.uplink_symbols;
        let served = self.unsolicited.iter().filter(|&&station| self.is_served(station));
        served.filter_map(move |&station| {
            let grants = self.unsolicited_grants(station, frame);
            let config = &self.stations[station as usize].config;
            let (profile, symbols) = (config.uplink, config.unsolicited_symbols(grants));
            if symbols == 0 || first_symbol + symbols > end {
                return None;
            }
            let burst = Burst { station, frame, first_symbol, symbols, profile, unsolicited: true };
            first_symbol += symbols;
            Some(burst)
        })
    }

    /// The unsolicited burst of a station in a frame.
    pub(super) fn unsolicited_of(&self, station: u32, frame: u64) -> Option<Burst> {
        self.unsolicited_bursts(frame).find(|burst| burst.station == station)
    }

    /// When a connected station does something about unsolicited bursts, at `now` or later: the begin of its burst in the frame of `now`, or
    /// else of the next frame in which one comes due, where it looks whether there is room for it.
    pub(super) fn next_unsolicited(&self, now: Time, station: u32) -> Option<Time> {
        let interval = self.stations[station as usize].config.service.interval()?;
        if !self.is_served(station) {
            return None;
        }
        let frame = self.frame_of(now);
        let begin = self.unsolicited_of(station, frame).map(|own| self.uplink_time(frame, own.first_symbol));
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
            self.time.map_symbols += idle * u64::from(self.config.map_symbols(Extra::default(), 0, 0));
        } else {
            for frame in self.next_frame..frame {
                let (mut bursts, mut symbols) = (0, 0);
                for burst in self.unsolicited_bursts(frame) {
                    (bursts, symbols) = (bursts + 1, symbols + burst.symbols);
                }
                let extra = self.config.extra(frame);
                self.time.map_symbols += u64::from(self.config.map_symbols(extra, 0, bursts));
                self.time.uplink_symbols += u64::from(symbols);
                self.time.ranging_symbols += u64::from(extra.ranging_symbols);
            }
        }
        self.time.frames += idle;
        self.next_frame = self.next_frame.max(frame);
    }

    /// Schedules a frame that begins now, and sends its downlink bursts.
    pub(super) fn work_out(&mut self, now: Time, frame: u64) {
        self.leave_out_until(frame);
        (self.next_frame, self.frame_pending) = (frame + 1, false);
        let mut has_profile = [false; PROFILES];
        has_profile[self.config.map_profile as usize] = self.speaks_robustly();
        for station in self.stations.iter().filter(|station| !station.downlink.is_empty()) {
            has_profile[station.config.downlink as usize] = true;
        }
        let downlink_bursts = has_profile.iter().map(|&has| u32::from(has)).sum();
        let uplink_bursts = self.schedule_uplink(frame, downlink_bursts);
        let extra = self.config.extra(frame);
        let room = self.config.downlink_room(extra, downlink_bursts, uplink_bursts);
        let map_symbols = self.config.map_symbols(extra, downlink_bursts, uplink_bursts);
        let downlink_symbols =
            if downlink_bursts > 0 { self.send_downlink(now, room, map_symbols) } else { 0 };
        self.time.frames += 1;
        self.time.busy_frames += 1;
        self.time.map_symbols += u64::from(map_symbols);
        self.time.downlink_symbols += u64::from(downlink_symbols);
        self.time.ranging_symbols += u64::from(extra.ranging_symbols);
        let wants = |station: &Station| !station.downlink.is_empty() || station.requested_bytes > 0;
        if self.speaks_robustly() || self.stations.iter().any(wants) {
            self.want_frame(now);
        }
    }

    /// The first symbol of the uplink subframe behind the opportunities.
    pub(super) fn first_symbol(&self, frame: u64) -> u32 {
        self.config.extra(frame).ranging_symbols + self.config.request_symbols()
    }

    /// Whether something waits for the most robust burst.
    fn speaks_robustly(&self) -> bool {
        let has_messages = |station: &Station| station.joining.as_deref().is_some_and(Joining::has_messages);
        self.config.entry.is_some() && (!self.broadcasts.is_empty() || self.stations.iter().any(has_messages))
    }

    /// What has to be left to the downlink so that something of it goes on: the first message, and a fragment to whose turn it is.
    fn least_downlink_symbols(&self) -> u32 {
        let profile = self.config.map_profile;
        let first =
            |station: &Station| station.joining.as_ref()?.to_station.front().map(|message| message.bytes());
        let messages = self.config.entry.as_ref().and_then(|_| self.stations.iter().filter_map(first).max());
        let broadcast = (!self.broadcasts.is_empty()).then_some(LEAST_PDU_BYTES);
        let robust = messages.max(broadcast).map_or(0, |bytes| profile.burst_symbols(bytes));
        let count = self.station_count();
        let waits = |&station: &u32| !self.stations[station as usize].downlink.is_empty();
        let first = (0..RANKS).find_map(|rank| {
            let turn = self.turns[0][rank];
            let mut ring = (turn..count).chain(0..turn).filter(waits);
            ring.find(|&station| self.stations[station as usize].config.service.rank() == rank)
        });
        let data = first.map_or(0, |station| {
            self.stations[station as usize].config.downlink.burst_symbols(LEAST_PDU_BYTES)
        });
        robust.max(data)
    }

    /// Grants uplink bursts; returns how many there are, unsolicited ones included.
    fn schedule_uplink(&mut self, frame: u64, downlink_bursts: u32) -> u32 {
        let extra = self.config.extra(frame);
        let mut first_symbol = self.first_symbol(frame);
        let behind = first_symbol;
        let mut bursts = 0;
        for burst in self.unsolicited_bursts(frame) {
            (first_symbol, bursts) = (burst.first_symbol + burst.symbols, bursts + 1);
        }
        let mut used_symbols = first_symbol - behind;
        let mut demands: [Vec<Demand>; RANKS] = Default::default();
        for (station, own) in (0..).zip(&self.stations).filter(|(_, own)| own.requested_bytes > 0) {
            // Who enters has a message to send, which is not cut, and goes first.
            let enters = own.joining.as_ref().is_some_and(|joining| !joining.admission.is_complete());
            let whole = u32::from(enters) * (LONGEST_FROM_STATION_BYTES + PIGGYBACK_BYTES);
            let wanted = u32::try_from(own.requested_bytes).unwrap_or(u32::MAX / 2);
            let profile = own.config.uplink;
            let least_symbols = own.config.least_symbols().max(profile.burst_symbols(whole.min(wanted)));
            let symbols = profile.burst_symbols(wanted).max(least_symbols);
            let rank = if enters { 0 } else { own.config.service.rank() };
            demands[rank].push(Demand { station, symbols, least_symbols });
        }
        if demands.iter().any(|of_rank| !of_rank.is_empty()) {
            let left_symbols = self.least_downlink_symbols();
            let mut most =
                self.config.most_uplink_bursts(extra, downlink_bursts, left_symbols).saturating_sub(bursts);
            for (rank, of_rank) in demands.iter_mut().enumerate().filter(|(_, of_rank)| !of_rank.is_empty()) {
                let turn = self.turns[1][rank];
                let first = of_rank.iter().position(|demand| demand.station >= turn).unwrap_or(0);
                of_rank.rotate_left(first);
                let room = self.config.layout.uplink_symbols.saturating_sub(first_symbol);
                let (grants, next) = deal(of_rank, room, most);
                self.turns[1][rank] = next.unwrap_or(turn);
                most -= grants.len() as u32;
                bursts += grants.len() as u32;
                for grant in grants {
                    let symbols = UPLINK_PREAMBLE_SYMBOLS + grant.symbols;
                    let own = &mut self.stations[grant.station as usize];
                    let profile = own.config.uplink;
                    let bytes = profile.burst_bytes(grant.symbols);
                    own.requested_bytes = own.requested_bytes.saturating_sub(u64::from(bytes));
                    own.stats.grants += 1;
                    own.granted = Some(frame);
                    let (station, unsolicited) = (grant.station, false);
                    let burst = Burst { station, frame, first_symbol, symbols, profile, unsolicited };
                    self.at(self.uplink_time(frame, first_symbol), Step::Burst(burst));
                    first_symbol += symbols;
                    used_symbols += symbols;
                }
            }
        }
        self.time.uplink_symbols += u64::from(used_symbols);
        bursts
    }

    /// Fills downlink bursts, a packet a turn; who is interrupted has the first turn of the next frame. Returns their symbols.
    fn send_downlink(&mut self, now: Time, room_symbols: u32, map_symbols: u32) -> u32 {
        let mut room = room_symbols;
        let mut bursts = Bursts::default();
        if self.config.entry.is_some() {
            room -= self.take_robust(now, &mut bursts, room);
        }
        let mut rings: [VecDeque<u32>; RANKS] = Default::default();
        for (station, own) in (0..).zip(&self.stations).filter(|(_, own)| !own.downlink.is_empty()) {
            rings[own.config.service.rank()].push_back(station);
        }
        for (rank, ring) in rings.into_iter().enumerate().filter(|(_, ring)| !ring.is_empty()) {
            room -= self.take_round(now, &mut bursts, room, (rank, ring));
        }
        let mut first = [PREAMBLE_AND_FCH_SYMBOLS + map_symbols; PROFILES];
        for number in 1..PROFILES {
            first[number] = first[number - 1] + bursts.symbols[number - 1];
        }
        // Bursts follow each other by profile, and the packets of a burst are in order.
        bursts.ended.sort_by_key(|&(profile, ..)| profile);
        let clock = self.config.layout.clock;
        let end = |profile: BurstProfile, end_bytes: u32| {
            now + clock.symbols(first[profile as usize] + end_bytes.div_ceil(profile.symbol_bytes()))
        };
        let robust = self.config.map_profile;
        for (end_bytes, station, message) in bursts.messages {
            self.at(end(robust, end_bytes), Step::Told(station, message));
        }
        for (profile, end_bytes, to, (packet, lost)) in bursts.ended {
            self.flying.push_back((end(profile, end_bytes), to, packet, lost));
        }
        room_symbols - room
    }

    /// Fills bursts with packets to stations of a rank, a packet a turn. Returns their symbols.
    fn take_round(
        &mut self,
        now: Time,
        bursts: &mut Bursts,
        room_symbols: u32,
        (rank, mut ring): (usize, VecDeque<u32>),
    ) -> u32 {
        let mut room = room_symbols;
        let (count, turn) = (self.station_count(), self.turns[0][rank]);
        let first = ring.iter().position(|&station| station >= turn).unwrap_or(0);
        ring.rotate_left(first);
        let mut interrupted = None;
        while let Some(station) = ring.pop_front() {
            let own = &mut self.stations[station as usize];
            let profile = own.config.downlink;
            let lost = match own.understands {
                Some((at, lost)) if at == now => lost,
                _ => {
                    let lost = self.downlink_lost(now, station, profile);
                    self.stations[station as usize].understands = Some((now, lost));
                    lost
                }
            };
            let own = &mut self.stations[station as usize];
            let Some(pdu) = own.downlink.take(now, bursts.room_bytes(profile, room), lost) else {
                interrupted = interrupted.or(Some(station));
                continue;
            };
            own.stats.downlink_pdus += 1;
            own.stats.downlink_fragments += u64::from(pdu.fragment);
            own.stats.lost_pdus += u64::from(lost.is_some());
            let airtime = self.config.layout.clock.bytes(pdu.bytes, profile);
            self.stats[(self.first + station) as usize].sends(&pdu, airtime);
            if pdu.ends.is_none() {
                interrupted = interrupted.or(Some(station));
            } else if !own.downlink.is_empty() {
                ring.push_back(station);
            }
            self.turns[0][rank] = (station + 1) % count;
            let to = Attachment(self.first + count + station);
            room -= bursts.take(profile, to, pdu);
        }
        if let Some(interrupted) = interrupted {
            self.turns[0][rank] = interrupted;
        }
        room_symbols - room
    }

    /// Fills the most robust burst with management messages, each with the bandwidth that its answer needs, and then broadcasts.
    /// Returns its symbols.
    fn take_robust(&mut self, now: Time, bursts: &mut Bursts, room_symbols: u32) -> u32 {
        let profile = self.config.map_profile;
        let mut room = room_symbols;
        for (number, own) in (0..).zip(&mut self.stations) {
            let Some(joining) = &mut own.joining else { continue };
            while let Some(message) = joining.to_station.front().copied()
                && message.bytes() <= bursts.room_bytes(profile, room)
            {
                joining.to_station.pop_front();
                room -= bursts.grow(profile, message.bytes());
                bursts.messages.push((bursts.bytes[profile as usize], number, message));
                own.requested_bytes += message.answer().map_or(0, |answer| u64::from(answer.bytes()));
            }
        }
        while let Some(pdu) = self.broadcasts.take(now, bursts.room_bytes(profile, room), None) {
            let airtime = self.config.layout.clock.bytes(pdu.bytes, profile);
            self.stats[BROADCAST.0 as usize].sends(&pdu, airtime);
            room -= bursts.take(profile, BROADCAST, pdu);
        }
        room_symbols - room
    }
}
