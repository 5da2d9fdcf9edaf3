//! A station of cells with beacons: how it finds its access point and becomes associated with it, and when it gives it up
//! (clauses 11.1.3, 11.3).
//!
//! It has one radio, on one channel at a time. While it is on another one than that of its access point, or associated with
//! none, its packets wait; frames to it are lost. It leaves a channel between two frame exchanges.
//!
//! - Link_Going_Down: the mean falls, and is below a power above the one at which nothing is heard (a factor). It says when the
//!   trend of the mean will have come there, and the beacons will have been missed; its confidence is the part of the way, in dB,
//!   between the two powers that is covered. It is rolled back where the mean is above again.
//! - Scan: on each of its channels it listens for beacons (passive), or waits `probe_delay`, sends a probe request and listens
//!   (active): for `min_channel_time` where the medium stays silent, for `max_channel_time` otherwise.
//! - It scans where it is associated with none; and while it is, where the power of its access point is low (Link_Going_Down)
//!   and another channel is among its own. From one scan to the next it waits `scan_interval`.
//! - What it has heard is told when the scan is over, the strongest first; of the cells on its channel at each beacon.
//! - Who is above (`handover/association.rs`) chooses. Joining is authentication (open system, two frames) and association
//!   (two frames), each request at most `attempts` times; after the last one the cell is lost.
//! - The power of a cell is a mean over its beacons and probe responses, in dB, in which the latest has `signal_weight`; what is older than
//!   `missed_beacons` periods when another one comes is not in it.
//! - A station that has heard no beacon of its access point for `missed_beacons` periods and a half is no longer associated.
//!
//! The access point that a station leaves hears of it when the station is associated with another one, by the distribution
//! system and at once; until then it tries to reach it.

use super::config::{Scan, StationConfig};
use super::exchange::Step;
use super::management::Management;
use super::radio::{ALL, Attempt};
use super::{Cell, Heard};
use crate::link::indication::{Indication, LinkDownReason, LinkEvent, LinkGoingDownReason, Quality};
use roamsim_engine::{Span, Time};

/// What a station knows of a cell.
#[derive(Clone, Copy, Debug)]
struct Known {
    signal_dbm: f64,
    /// How fast it changes: a mean as well.
    slope_db_per_s: f64,
    at: Time,
    /// Whoever is above has been told of it.
    told: bool,
}

/// What a station is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It is associated with none, and waits for its next scan.
    Waiting,
    /// It looks at one of its channels.
    Scanning(usize, Stage),
    /// It joins a cell: a member, whether it is authenticated there, how often it has asked.
    Joining {
        to: u32,
        authenticated: bool,
        asked: u32,
    },
    Associated,
}

/// What it is doing on a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// It is about to leave the channel before.
    Leaving,
    /// It waits for the time of its probe request.
    BeforeProbe,
    /// Its probe request contends for the medium.
    Probing,
    /// It has listened since then; whether for the longer of its times.
    Listening(Time, bool),
}

/// A station.
#[derive(Debug)]
pub(super) struct Station {
    config: StationConfig,
    /// Its places in cells: members of the medium.
    members: Vec<u32>,
    known: Vec<Option<Known>>,
    state: State,
    /// The member by which it is associated.
    pub associated: Option<u32>,
    /// The one whose access point has it on its list: the last association.
    pub registered: Option<u32>,
    /// When it heard its access point the last time, or might have.
    heard_own: Time,
    /// The number of the timer that counts.
    timer: u64,
    /// When its last scan began, and when it ended.
    scan: (Time, Option<Time>),
    going_down: bool,
}

impl Station {
    pub fn new(config: StationConfig, members: Vec<u32>) -> Station {
        Station {
            known: vec![None; members.len()],
            config,
            members,
            state: State::Waiting,
            associated: None,
            registered: None,
            heard_own: Time::ZERO,
            timer: 0,
            scan: (Time::ZERO, None),
            going_down: false,
        }
    }

    /// The channel that it is on at first.
    pub fn first_channel(&self) -> u8 {
        self.config.channels[0]
    }

    /// The first of its members.
    pub fn first_member(&self) -> Option<u32> {
        self.members.first().copied()
    }

    /// All that it looks at.
    pub fn channels(&self) -> impl Iterator<Item = u8> + '_ {
        self.config.channels.iter().copied()
    }
}

impl Cell {
    fn station(&self, radio: usize) -> Option<&Station> {
        self.stations.get(radio)?.as_ref()
    }

    fn station_mut(&mut self, radio: usize) -> Option<&mut Station> {
        self.stations.get_mut(radio)?.as_mut()
    }

    /// Puts beacons and first scans on the agenda.
    pub(super) fn start_stations(&mut self) {
        for cell in 0..self.cells.len() {
            if let Some(beacons) = self.cells[cell].beacons {
                self.at(beacons.first, Step::Beacon(cell));
            }
        }
        for radio in 0..self.stations.len() {
            if self.stations[radio].is_some() {
                let begins = self.first_scan(radio);
                self.radios[radio].blocked = true;
                self.at(begins, Step::Station(radio, 0));
            }
        }
    }

    /// When a station scans first: drawn within the time that it has for a channel, since stations do not know of each other.
    fn first_scan(&mut self, radio: usize) -> Time {
        let within = self.station(radio).map_or(Span::ZERO, |station| station.config.max_channel_time);
        Time::from_ns(self.radios[radio].random.below(within.as_ns().max(1)))
    }

    fn set_timer(&mut self, radio: usize, at: Time) {
        let Some(station) = self.station_mut(radio) else { return };
        station.timer += 1;
        let timer = station.timer;
        self.at(at, Step::Station(radio, timer));
    }

    /// A link event of a station in one of its cells.
    fn indicate(&mut self, now: Time, member: u32, event: LinkEvent) {
        let at = self.members[member as usize].up;
        self.indications.push_back((now, Indication { at, event }));
    }

    pub(super) fn station_timer(&mut self, now: Time, radio: usize, timer: u64) {
        let Some(station) = self.station(radio) else { return };
        if station.timer != timer {
            return;
        }
        match station.state {
            State::Waiting => self.begin_scan(now, radio),
            State::Scanning(place, Stage::BeforeProbe) => {
                self.set_state(radio, State::Scanning(place, Stage::Probing));
                self.push_management(now, radio, Management::ProbeRequest, ALL);
            }
            State::Scanning(place, Stage::Listening(since, long)) => {
                let ear = &self.ears[radio];
                let busy = ear.heard > 0 || ear.busy_since > since;
                let max_channel_time = station.config.max_channel_time;
                if !long && busy {
                    self.set_state(radio, State::Scanning(place, Stage::Listening(since, true)));
                    self.set_timer(radio, since + max_channel_time);
                } else {
                    self.scan_next(now, radio, place + 1);
                }
            }
            State::Scanning(_, Stage::Leaving | Stage::Probing) => {}
            State::Joining { to, authenticated, asked } if asked < station.config.attempts => {
                self.ask(now, radio, to, authenticated, asked);
            }
            State::Joining { to, .. } => self.fail_to_join(now, radio, to),
            State::Associated => self.watch(now, radio),
        }
    }

    fn set_state(&mut self, radio: usize, state: State) {
        if let Some(station) = self.station_mut(radio) {
            station.state = state;
        }
    }

    /// Looks at all channels, from the first on.
    fn begin_scan(&mut self, now: Time, radio: usize) {
        if let Some(station) = self.station_mut(radio) {
            station.scan = (now, None);
        }
        self.scan_next(now, radio, 0);
    }

    fn scan_next(&mut self, now: Time, radio: usize, place: usize) {
        let Some(station) = self.station(radio) else { return };
        if place == station.config.channels.len() {
            return self.end_scan(now, radio);
        }
        self.set_state(radio, State::Scanning(place, Stage::Leaving));
        self.depart(now, radio);
    }

    /// A station leaves its channel, now or when its frame exchange is over.
    fn depart(&mut self, now: Time, radio: usize) {
        self.radios[radio].blocked = true;
        if !self.departing.contains(&radio) {
            self.departing.push(radio);
        }
        self.let_depart(now);
    }

    /// Those who want to leave their channels do, unless they are in a frame exchange.
    pub(super) fn let_depart(&mut self, now: Time) {
        let mut place = 0;
        while let Some(&number) = self.departing.get(place) {
            let radio = &self.radios[number];
            let sends = self.on_air.iter().any(|frame| frame.from == number);
            if radio.attempt != Attempt::None || radio.answers || sends {
                place += 1;
                continue;
            }
            self.departing.swap_remove(place);
            self.park(now, number);
            self.departs(now, number);
        }
    }

    /// What a radio has in hand is put aside; management frames of the channel that it leaves are of no use.
    fn park(&mut self, now: Time, number: usize) {
        let radio = &mut self.radios[number];
        radio.management.clear();
        radio.short_retries = 0;
        radio.long_retries = 0;
        radio.cw = self.config.cw_min;
        if let Some(head) = radio.head.take() {
            if head.holds_packet() {
                radio.parked = Some(head);
            }
            self.contender(now, number, false);
        }
    }

    /// A station is free to leave: it does what it left for.
    fn departs(&mut self, now: Time, radio: usize) {
        let Some(station) = self.station(radio) else { return };
        let config = &station.config;
        match station.state {
            State::Scanning(place, Stage::Leaving) => {
                let (channel, scan) = (config.channels[place], config.scan);
                let (probe_delay, max_channel_time) = (config.probe_delay, config.max_channel_time);
                self.tune(now, radio, channel);
                let (stage, until) = match scan {
                    Scan::Active => (Stage::BeforeProbe, now + probe_delay),
                    Scan::Passive => (Stage::Listening(now, true), now + max_channel_time),
                };
                self.set_state(radio, State::Scanning(place, stage));
                self.set_timer(radio, until);
            }
            State::Joining { to, authenticated, asked } => {
                self.tune(now, radio, self.channels[self.members[to as usize].cell]);
                self.ask(now, radio, to, authenticated, asked);
            }
            _ => {}
        }
    }

    /// A station's probe request is over.
    pub(super) fn has_probed(&mut self, now: Time, radio: usize) {
        let Some(station) = self.station(radio) else { return };
        if let State::Scanning(place, Stage::Probing) = station.state {
            let until = now + station.config.min_channel_time;
            self.set_state(radio, State::Scanning(place, Stage::Listening(now, false)));
            self.set_timer(radio, until);
        }
    }

    /// Asks for authentication, or for association.
    fn ask(&mut self, now: Time, radio: usize, to: u32, authenticated: bool, asked: u32) {
        let Some(station) = self.station(radio) else { return };
        let again = station.registered.is_some();
        let until = now + station.config.failure_timeout;
        self.set_state(radio, State::Joining { to, authenticated, asked: asked + 1 });
        let what = match authenticated {
            false => Management::Authentication,
            true => Management::AssociationRequest { again },
        };
        self.push_management(now, radio, what, self.members[to as usize].cell);
        self.set_timer(radio, until);
    }

    /// The access point of a cell has answered a station's request for authentication.
    pub(super) fn is_authenticated(&mut self, now: Time, radio: usize, cell: usize) {
        let Some(station) = self.station(radio) else { return };
        if let State::Joining { to, authenticated: false, .. } = station.state
            && self.members[to as usize].cell == cell
        {
            self.ask(now, radio, to, true, 0);
        }
    }

    /// The access point of a cell has answered a station's request for association.
    pub(super) fn is_associated(&mut self, now: Time, radio: usize, cell: usize) {
        let Some(station) = self.stations.get_mut(radio).and_then(Option::as_mut) else { return };
        let State::Joining { to, authenticated: true, .. } = station.state else { return };
        if self.members[to as usize].cell != cell {
            return;
        }
        station.state = State::Associated;
        station.associated = Some(to);
        if let Some(before) = station.registered.replace(to) {
            // What it did until now it did as that member.
            let time = std::mem::take(&mut self.radios[radio].time);
            let before = &mut self.members[before as usize];
            before.time = before.time.and(&time);
        }
        station.heard_own = now;
        station.going_down = false;
        let watched = now + self.time_to_lose(radio);
        self.radios[radio].blocked = false;
        self.indicate(now, to, LinkEvent::Up);
        self.set_timer(radio, watched);
        self.resume(now, radio);
    }

    /// Nobody answers: the cell is lost, and others are looked for.
    fn fail_to_join(&mut self, now: Time, radio: usize, to: u32) {
        if let Some(station) = self.station_mut(radio) {
            station.forget(to);
        }
        self.indicate(now, to, LinkEvent::Lost);
        self.begin_scan(now, radio);
    }

    /// A station hears a beacon of a cell, or its probe response.
    pub(super) fn hears_cell(&mut self, now: Time, heard: Heard, cell: usize) {
        let (radio, _) = heard;
        let Some(signal_dbm) = self.hearing.signal_dbm(heard, cell, now) else { return };
        let members = &self.members;
        let Some(station) = self.stations.get_mut(radio).and_then(Option::as_mut) else { return };
        let of_cell = |&member: &u32| members[member as usize].cell == cell;
        let period = self.cells[cell].beacons.map_or(Span::ZERO, |beacons| beacons.period);
        let memory = period * u64::from(station.config.missed_beacons);
        let Some(place) = station.members.iter().position(of_cell) else { return };
        let member = station.members[place];
        station.hears(place, now, signal_dbm, memory);
        let own = station.associated == Some(member);
        if own {
            station.heard_own = now;
        }
        if matches!(station.state, State::Waiting | State::Associated) {
            self.tell(now, radio, place);
            if own {
                self.judge_signal(now, radio, place);
            }
        }
    }

    /// Tells of a cell that a station hears.
    fn tell(&mut self, now: Time, radio: usize, place: usize) {
        let Some(station) = self.station_mut(radio) else { return };
        let member = station.members[place];
        let Some(known) = &mut station.known[place] else { return };
        let quality = Quality::Signal(known.signal_dbm);
        let event = match std::mem::replace(&mut known.told, true) {
            false => LinkEvent::Detected { quality },
            true => LinkEvent::ParametersReport { quality },
        };
        self.indicate(now, member, event);
    }

    /// The power of a station's access point is low, or is so no more.
    fn judge_signal(&mut self, now: Time, radio: usize, place: usize) {
        let members = &self.members;
        let Some(station) = self.stations.get_mut(radio).and_then(Option::as_mut) else { return };
        let (member, Some(known)) = (station.members[place], station.known[place]) else { return };
        let low = known.signal_dbm < station.config.going_down_dbm;
        let told = station.going_down;
        station.going_down = low && (told || known.slope_db_per_s < 0.0);
        let goes = station.going_down;
        let (within, confidence_percent) = station.predict(&known);
        let channel = self.channels[members[member as usize].cell];
        let elsewhere = station.config.channels.iter().any(|&other| other != channel);
        let rested = station.scan.1.is_none_or(|ended| now >= ended + station.config.scan_interval);
        match (told, goes) {
            (false, true) => {
                let within = within + self.time_to_lose(radio);
                let reason = LinkGoingDownReason::LOW_POWER;
                self.indicate(now, member, LinkEvent::GoingDown { within, confidence_percent, reason });
            }
            (true, false) => self.indicate(now, member, LinkEvent::Rollback),
            _ => {}
        }
        if low && elsewhere && rested {
            self.begin_scan(now, radio);
        }
    }

    /// How long after the last beacon of its access point a station is no longer associated.
    fn time_to_lose(&self, radio: usize) -> Span {
        let Some(station) = self.station(radio) else { return Span::ZERO };
        let cell = station.associated.map(|member| self.members[member as usize].cell);
        let beacons = cell.and_then(|cell| self.cells[cell].beacons);
        let period = beacons.map_or(Span::ZERO, |beacons| beacons.period);
        period * u64::from(station.config.missed_beacons) + Span::from_ns(period.as_ns() / 2)
    }

    /// Looks whether a station has missed too many beacons: of its own access point, and of others on its channel.
    fn watch(&mut self, now: Time, radio: usize) {
        let lost_after = self.time_to_lose(radio);
        let Some(station) = self.station(radio) else { return };
        let (Some(own), heard_own) = (station.associated, station.heard_own) else { return };
        let channel = self.channels[radio];
        let silent = |known: &Known| known.told && known.at + lost_after <= now;
        let lost: Vec<u32> = station
            .members
            .iter()
            .zip(&station.known)
            .filter(|&(&member, known)| member != own && known.as_ref().is_some_and(silent))
            .map(|(&member, _)| member)
            .filter(|&member| self.channels[self.members[member as usize].cell] == channel)
            .collect();
        let is_lost = heard_own + lost_after <= now;
        for member in lost {
            self.lose(now, radio, member, LinkEvent::Lost);
        }
        if !is_lost {
            return self.set_timer(radio, heard_own + lost_after);
        }
        if let Some(station) = self.station_mut(radio) {
            station.associated = None;
        }
        self.lose(now, radio, own, LinkEvent::Down(LinkDownReason::NO_BROADCAST));
        self.begin_scan(now, radio);
    }

    fn lose(&mut self, now: Time, radio: usize, member: u32, event: LinkEvent) {
        if let Some(station) = self.station_mut(radio) {
            station.forget(member);
        }
        self.indicate(now, member, event);
    }

    /// A scan is over: back to its access point if it has one, and what was heard is told.
    fn end_scan(&mut self, now: Time, radio: usize) {
        let members = &self.members;
        let Some(station) = self.stations.get_mut(radio).and_then(Option::as_mut) else { return };
        let (begun, _) = station.scan;
        station.scan.1 = Some(now);
        let mut fresh: Vec<(usize, f64)> = Vec::new();
        let mut lost = Vec::new();
        for (place, known) in station.known.iter().enumerate() {
            let member = station.members[place];
            let channel = self.channels[members[member as usize].cell];
            match known {
                Some(known) if known.at >= begun => fresh.push((place, known.signal_dbm)),
                Some(known)
                    if known.told
                        && station.associated != Some(member)
                        && station.config.channels.contains(&channel) =>
                {
                    lost.push(member);
                }
                _ => {}
            }
        }
        // The strongest first, and among equals the first of the station's cells.
        fresh.sort_by(|a, b| b.1.total_cmp(&a.1));
        match station.associated {
            Some(own) => {
                station.state = State::Associated;
                // What it could not hear it has not missed.
                station.heard_own = now;
                let channel = self.channels[members[own as usize].cell];
                self.set_timer(radio, now + self.time_to_lose(radio));
                self.tune(now, radio, channel);
                self.radios[radio].blocked = false;
                self.resume(now, radio);
            }
            None => {
                station.state = State::Waiting;
                let next = now + station.config.scan_interval;
                self.set_timer(radio, next);
            }
        }
        for (place, _) in fresh {
            self.tell(now, radio, place);
        }
        for member in lost {
            self.lose(now, radio, member, LinkEvent::Lost);
        }
    }

    /// A station is to join a cell.
    pub(super) fn join(&mut self, now: Time, member: u32) {
        let radio = self.members[member as usize].radio;
        let Some(station) = self.station_mut(radio) else { return };
        if station.associated == Some(member) {
            return;
        }
        station.associated = None;
        station.state = State::Joining { to: member, authenticated: false, asked: 0 };
        // Whatever its timer was for.
        station.timer += 1;
        self.depart(now, radio);
        self.plan();
    }

    /// A station gives a cell up.
    pub(super) fn give_up_cell(&mut self, now: Time, member: u32) -> Option<LinkEvent> {
        let radio = self.members[member as usize].radio;
        let station = self.station_mut(radio)?;
        let joins = matches!(station.state, State::Joining { to, .. } if to == member);
        let up = station.associated == Some(member);
        if !joins && !up {
            return None;
        }
        station.associated = None;
        station.going_down = false;
        station.state = State::Waiting;
        let next = now + station.config.scan_interval;
        self.set_timer(radio, next);
        self.depart(now, radio);
        up.then_some(LinkEvent::Down(LinkDownReason::EXPLICIT_DISCONNECT))
    }

    /// Another channel, where a radio hears what is on the air there.
    fn tune(&mut self, now: Time, number: usize, channel: u8) {
        if self.channels[number] == channel {
            return;
        }
        for frame in &mut self.on_air {
            frame.heard_by.retain(|&(radio, _)| radio != number);
        }
        self.channels[number] = channel;
        let mut heard = 0;
        for frame in &mut self.on_air {
            if self.channels[frame.from] == channel
                && let Some(senses) = self.hearing.senses(number, frame.from, now)
            {
                frame.heard_by.push(senses);
                heard += 1;
            }
        }
        let ear = &mut self.ears[number];
        *ear = super::medium::Ear {
            heard,
            busy_since: now,
            idle_since: now,
            ..super::medium::Ear::new(None, self.config.timing.difs)
        };
        // What had begun before cannot be received.
        ear.disturbed = heard > 0;
    }

    /// Whether a packet may leave its attachment: the two ends are associated.
    pub(super) fn may_go(&self, from: crate::link::Attachment) -> bool {
        let way = self.ways[from.0 as usize];
        if !self.has_paths || way.to == ALL {
            return true;
        }
        let radio = self.members[way.member as usize].radio;
        let Some(station) = self.station(radio) else { return true };
        station.on_list_of(way.to == radio) == Some(way.member)
    }
}

impl Station {
    /// The member that the access points know of it, or that it knows itself.
    fn on_list_of(&self, access_point: bool) -> Option<u32> {
        if access_point { self.registered } else { self.associated }
    }

    /// It hears a cell with this power. What it heard longer ago than it remembers is not in the mean.
    fn hears(&mut self, place: usize, now: Time, signal_dbm: f64, memory: Span) {
        let weight = self.config.signal_weight;
        let known = &mut self.known[place];
        let Some(Known { signal_dbm: mean_dbm, slope_db_per_s: slope, at, .. }) = known else {
            *known = Some(Known { signal_dbm, slope_db_per_s: 0.0, at: now, told: false });
            return;
        };
        let passed = now - *at;
        if passed > memory {
            (*mean_dbm, *slope, *at) = (signal_dbm, 0.0, now);
            return;
        }
        let change_db = weight * (signal_dbm - *mean_dbm);
        if passed > Span::ZERO {
            *slope += weight * (change_db / passed.as_secs_f64() - *slope);
        }
        *mean_dbm += change_db;
        *at = now;
    }

    /// How long a signal that falls as it does takes to the power below which nothing is heard, an hour at most; and how far it
    /// has come on the way there, in percent.
    fn predict(&self, known: &Known) -> (Span, u8) {
        let StationConfig { going_down_dbm, lost_dbm, .. } = self.config;
        let within_s = (known.signal_dbm - lost_dbm).max(0.0) / -known.slope_db_per_s;
        let within_s = if within_s.is_nan() { 0.0 } else { within_s.clamp(0.0, 3600.0) };
        let come = (going_down_dbm - known.signal_dbm) / (going_down_dbm - lost_dbm);
        let percent = if come.is_nan() { 100.0 } else { (100.0 * come).clamp(0.0, 100.0) };
        (Span::from_secs_f64(within_s), percent.round() as u8)
    }

    fn forget(&mut self, member: u32) {
        if let Some(place) = self.members.iter().position(|&own| own == member) {
            self.known[place] = None;
        }
    }
}
