//! A station of cells with beacons: what it hears of them, what it does next, and when it gives its access
//! point up (clause 11.3). `scan` has how it finds access points, `joining` how it becomes associated.
//!
//! - Link_Going_Down: the mean falls, and is below a power above the one at which nothing is heard (a
//!   factor). It says when the trend of the mean will have come there, and the beacons will have been missed;
//!   its confidence is the part of the way, in dB, between the two powers that is covered. It is rolled back
//!   where the mean is above again.
//! - It scans where it is associated with none; and while it is, where the power of its access point is low
//!   (Link_Going_Down) and another channel is among its own. From one scan to the next it waits
//!   `scan_interval`.
//! - What it has heard is told when the scan is over; of the cells on its channel at each beacon. What it
//!   knows of other channels is as old as the scan, and the cells there are lost to it `scan_interval` later,
//!   unless it scans again.
//! - The power of a cell is a mean over its beacons and probe responses, in dB, in which the latest has
//!   `signal_weight`; what is older than `missed_beacons` periods when another one comes is not in it.
//! - A station that has heard no beacon of its access point for `missed_beacons` periods and a half is no
//!   longer associated; nor is one whose mean is below a threshold, if it has one. It takes no cell below
//!   that either.

use crate::link::Attachment;
use crate::link::indication::{Indication, LinkDownReason, LinkEvent, LinkGoingDownReason, Quality};
use crate::link::phase::Phase;
use crate::link::wifi::config::StationConfig;
use crate::link::wifi::exchange::Step;
use crate::link::wifi::management::Management;
use crate::link::wifi::radios::radio::ALL;
use crate::link::wifi::{Cell, Heard, Way};
use roamsim_engine::{Span, Time};

/// What a station knows of a cell.
#[derive(Clone, Copy, Debug)]
pub(in crate::link::wifi) struct Known {
    pub signal_dbm: f64,
    /// How fast it changes: a mean as well.
    pub slope_db_per_s: f64,
    pub at: Time,
    /// Whoever is above has been told of it.
    pub told: bool,
}

/// What a station is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::link::wifi) enum State {
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
pub(in crate::link::wifi) enum Stage {
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
pub(in crate::link::wifi) struct Station {
    pub config: StationConfig,
    /// Its places in cells: members of the medium.
    pub members: Vec<u32>,
    pub known: Vec<Option<Known>>,
    pub state: State,
    /// The member by which it is associated.
    pub associated: Option<u32>,
    /// The last association, and whether its access point has it on its list.
    pub registered: Option<u32>,
    pub listed: bool,
    /// When it heard its access point the last time, or might have.
    pub heard_own: Time,
    /// The number of the timer that counts.
    pub timer: u64,
    /// When its last scan began, and when it ended.
    pub scan: (Time, Option<Time>),
    pub going_down: bool,
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
            listed: false,
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
    pub(in crate::link::wifi) fn station(&self, radio: usize) -> Option<&Station> {
        self.stations.get(radio)?.as_ref()
    }

    pub(in crate::link::wifi) fn station_mut(&mut self, radio: usize) -> Option<&mut Station> {
        self.stations.get_mut(radio)?.as_mut()
    }

    /// Puts beacons and first scans on the agenda.
    pub(in crate::link::wifi) fn start_stations(&mut self) {
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

    pub(in crate::link::wifi) fn set_timer(&mut self, radio: usize, at: Time) {
        let Some(station) = self.station_mut(radio) else { return };
        station.timer += 1;
        let timer = station.timer;
        self.at(at, Step::Station(radio, timer));
    }

    /// A link event of a station in one of its cells.
    pub(in crate::link::wifi) fn indicate(&mut self, now: Time, member: u32, event: LinkEvent) {
        let at = self.members[member as usize].up;
        if self.losses.is_some() {
            self.losses_hear(member, event);
        }
        self.indications.push_back((now, Indication { at, event }));
    }

    pub(in crate::link::wifi) fn station_timer(&mut self, now: Time, radio: usize, timer: u64) {
        let Some(station) = self.station(radio) else { return };
        if station.timer != timer {
            return;
        }
        match station.state {
            State::Waiting => self.begin_scan(now, radio),
            State::Scanning(place, Stage::BeforeProbe) => {
                self.set_state(now, radio, State::Scanning(place, Stage::Probing));
                self.push_management(now, radio, Management::ProbeRequest, ALL);
            }
            State::Scanning(place, Stage::Listening(since, long)) => {
                let ear = &self.ears[radio];
                // Also by a frame that had begun before.
                let busy = ear.heard > 0 || ear.idle_since > since;
                let max_channel_time = station.config.max_channel_time;
                if !long && busy {
                    self.set_state(now, radio, State::Scanning(place, Stage::Listening(since, true)));
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

    pub(in crate::link::wifi) fn set_state(&mut self, now: Time, radio: usize, state: State) {
        if let Some(station) = self.station_mut(radio) {
            station.state = state;
        }
        self.note_phase(now, radio);
    }

    /// The state of a station is another one: what its radio does is logged.
    pub(in crate::link::wifi) fn note_phase(&mut self, now: Time, radio: usize) {
        let Some(station) = self.station(radio) else { return };
        let up = |member: u32| self.members[member as usize].up;
        let phase = match station.state {
            State::Waiting | State::Associated => None,
            State::Scanning(..) => {
                station.members.first().map(|&first| (Phase::Scanning, up(first), station.members.len() > 1))
            }
            State::Joining { to, authenticated: false, .. } => Some((Phase::Authentication, up(to), false)),
            State::Joining { to, authenticated: true, .. } => Some((Phase::Association, up(to), false)),
        };
        self.phases.enter(now, radio, phase);
    }

    /// A station hears a beacon of a cell, or its probe response.
    pub(in crate::link::wifi) fn hears_cell(&mut self, now: Time, heard: Heard, cell: usize) {
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
            if station.is_weak(place) {
                return self.hears_weak_cell(now, radio, place);
            }
            self.tell(now, radio, place);
            if own {
                self.judge_signal(now, radio, place);
            }
        }
    }

    /// A cell's signal is below the threshold: its association ends, if there is one, and nobody hears of it
    /// any more.
    fn hears_weak_cell(&mut self, now: Time, radio: usize, place: usize) {
        let Some(station) = self.station_mut(radio) else { return };
        let member = station.members[place];
        let told = station.known[place].as_mut().is_some_and(|known| std::mem::take(&mut known.told));
        if station.associated == Some(member) {
            station.associated = None;
            self.indicate(now, member, LinkEvent::Down(LinkDownReason::EXPLICIT_DISCONNECT));
            self.begin_scan(now, radio);
        } else if told {
            self.indicate(now, member, LinkEvent::Lost);
        }
    }

    /// Tells of a cell that a station hears.
    pub(in crate::link::wifi) fn tell(&mut self, now: Time, radio: usize, place: usize) {
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
            (_, true) if !told || self.members[member as usize].confidence.is_awaited() => {
                // By its own threshold it is lost at once.
                let by_signal = self.station(radio).and_then(|station| station.config.signal_threshold_dbm);
                let within = within + by_signal.map_or(self.time_to_lose(radio), |_| Span::ZERO);
                let reason = LinkGoingDownReason::LOW_POWER;
                let event = LinkEvent::GoingDown { within, confidence_percent, reason };
                if let Some(event) = self.members[member as usize].confidence.tell(event, !told) {
                    self.indicate(now, member, event);
                }
            }
            (true, false) => self.indicate(now, member, LinkEvent::Rollback),
            _ => {}
        }
        match rested {
            true if low && elsewhere => self.begin_scan(now, radio),
            true => self.forget_other_channels(now, radio),
            false => {}
        }
    }

    /// How long after the last beacon of its access point a station is no longer associated.
    pub(in crate::link::wifi) fn time_to_lose(&self, radio: usize) -> Span {
        let Some(station) = self.station(radio) else { return Span::ZERO };
        let cell = station.associated.map(|member| self.members[member as usize].cell);
        let beacons = cell.and_then(|cell| self.cells[cell].beacons);
        let period = beacons.map_or(Span::ZERO, |beacons| beacons.period);
        period * u64::from(station.config.missed_beacons) + Span::from_ns(period.as_ns() / 2)
    }

    /// Looks whether a station has missed too many beacons: of its own access point, and of others on its
    /// channel.
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

    pub(in crate::link::wifi) fn lose(&mut self, now: Time, radio: usize, member: u32, event: LinkEvent) {
        if let Some(station) = self.station_mut(radio) {
            station.forget(member);
        }
        self.indicate(now, member, event);
    }

    /// Whether a packet may leave its attachment: for all that its sender knows, the two ends are associated.
    pub(in crate::link::wifi) fn may_go(&self, from: Attachment) -> bool {
        self.is_associated_by(from, |way, radio| way.to == radio)
    }

    /// Whether what has left it may arrive: the same for all that its receiver knows.
    pub(in crate::link::wifi) fn may_arrive(&self, from: Attachment) -> bool {
        self.is_associated_by(from, |way, radio| way.to != radio)
    }

    /// Whether two ends are associated, as one of them knows it: the access point, or the station.
    fn is_associated_by(&self, from: Attachment, access_point: impl Fn(&Way, usize) -> bool) -> bool {
        let way = &self.ways[from.0 as usize];
        if !self.has_paths || way.to == ALL {
            return true;
        }
        let radio = self.members[way.member as usize].radio;
        let Some(station) = self.station(radio) else { return true };
        station.on_list_of(access_point(way, radio)) == Some(way.member)
    }

    /// What a station knows of cells on other channels than its own is too old to be compared with: they are
    /// lost until the next scan.
    fn forget_other_channels(&mut self, now: Time, radio: usize) {
        let (cells, channels, channel) = (&self.members, &self.channels, self.channels[radio]);
        let Some(station) = self.stations.get_mut(radio).and_then(Option::as_mut) else { return };
        let mut lost = Vec::new();
        for (&member, known) in station.members.iter().zip(&mut station.known) {
            let elsewhere = channels[cells[member as usize].cell] != channel;
            if let Some(known) = known.as_mut().filter(|known| elsewhere && known.told) {
                known.told = false;
                lost.push(member);
            }
        }
        for member in lost {
            self.indicate(now, member, LinkEvent::Lost);
        }
    }
}

impl Station {
    /// The member that the access points know of it, or that it knows itself.
    pub(in crate::link::wifi) fn on_list_of(&self, access_point: bool) -> Option<u32> {
        if access_point { self.registered.filter(|_| self.listed) } else { self.associated }
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

    /// How long a signal that falls as it does takes to the power below which nothing is heard, an hour at
    /// most; and how far it has come on the way there, in percent.
    fn predict(&self, known: &Known) -> (Span, u8) {
        let StationConfig { going_down_dbm, lost_dbm, signal_threshold_dbm, .. } = self.config;
        let lost_dbm = signal_threshold_dbm.unwrap_or(lost_dbm);
        let within_s = (known.signal_dbm - lost_dbm).max(0.0) / -known.slope_db_per_s;
        let within_s = if within_s.is_nan() { 0.0 } else { within_s.clamp(0.0, 3600.0) };
        let come = (going_down_dbm - known.signal_dbm) / (going_down_dbm - lost_dbm);
        let percent = if come.is_nan() { 100.0 } else { (100.0 * come).clamp(0.0, 100.0) };
        (Span::from_secs_f64(within_s), percent.round() as u8)
    }

    /// Whether a cell that it has heard is below its threshold.
    pub(in crate::link::wifi) fn is_weak(&self, place: usize) -> bool {
        let threshold_dbm = self.config.signal_threshold_dbm;
        threshold_dbm
            .zip(self.known[place])
            .is_some_and(|(threshold_dbm, known)| known.signal_dbm < threshold_dbm)
    }

    pub(in crate::link::wifi) fn forget(&mut self, member: u32) {
        if let Some(place) = self.members.iter().position(|&own| own == member) {
            self.known[place] = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_of_a_signal_follows_it_and_tells_when_it_will_be_lost() {
        // A weight of 1/4; low from -58 dBm on, lost at -61.
        let mut station = Station::new(crate::link::wifi::tests::roaming::station(&[1]), vec![0]);
        let at = |ms: u64| Time::ZERO + Span::from_ms(ms);
        let memory = Span::from_ms(300);
        let known =
            |station: &Station| station.known[0].map(|known| (known.signal_dbm, known.slope_db_per_s));
        for (ms, signal_dbm) in [(0, -50.0), (100, -58.0), (200, -58.0)] {
            station.hears(0, at(ms), signal_dbm, memory);
        }
        // -2 dB in 0.1 s, of which a quarter counts, and then -1.5 dB: -5 dB/s and a quarter of -10 more.
        assert_eq!(known(&station), Some((-53.5, -7.5)));
        // 300 ms later it is in the mean still, 301 ms later it is not.
        station.hears(0, at(500), -53.5, memory);
        assert_eq!(known(&station), Some((-53.5, -5.625)));
        station.hears(0, at(801), -40.0, memory);
        assert_eq!(known(&station), Some((-40.0, 0.0)));
        // From -59 dBm on it is lost 2 dB later; a third of the 3 dB is covered.
        let low = Known { signal_dbm: -59.0, slope_db_per_s: -4.0, at: at(801), told: true };
        assert_eq!(station.predict(&low), (Span::from_ms(500), 33));
    }
}
