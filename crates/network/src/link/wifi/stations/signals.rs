//! Signals of the cells that a station hears: when it reports them, scans, and gives its access point up
//! (clause 11.3).
//!
//! - **Mean.** The power of a cell is a mean in dB over its beacons and probe responses. The latest has the
//!   weight `signal_weight`. Values older than `missed_beacons` periods at the next one are left out.
//! - **Link_Going_Down** comes when the mean falls and is below the upper power: a factor above the lower
//!   one, at which nothing is heard. It predicts Link_Down: the time until the trend of the mean reaches
//!   the lower power and the beacons are missed. Its confidence is the part of the way between the two
//!   powers, in dB, that the mean has fallen. It is rolled back when the mean rises above the upper power.
//! - **Scans.** A station scans while it is not associated. It also scans while its access point is weak
//!   (Link_Going_Down) and its cells use another channel too. Scans are `scan_interval` apart.
//! - **Reports.** A scan is reported when it is over, cells on the own channel at each beacon. Results of
//!   other channels are valid for `scan_interval`; then their cells are lost unless another scan hears
//!   them.
//! - **Loss.** The association is lost after `missed_beacons` periods and a half without a beacon, or when
//!   the mean is below the station's threshold, if it has one. A station takes no cell below that
//!   threshold.

use super::layout::MemberIndex;
use super::station::{Known, Stage, State};
use super::{Associations, Wish};
use crate::link::indication::{LinkDownReason, LinkEvent, LinkGoingDownReason, Quality};
use crate::link::wifi::agenda::Agenda;
use crate::link::wifi::index::{ByRadio, CellIndex, RadioIndex};
use crate::link::wifi::management::Management;
use crate::link::wifi::medium::ear::Ear;
use crate::link::wifi::radios::radio::ALL;
use roamsim_engine::{Span, Time};

impl Associations {
    /// A station's timer fires; `ear` is its carrier sense.
    pub fn timer(
        &mut self,
        now: Time,
        (radio, timer): (RadioIndex, u64),
        ear: &Ear,
        channels: &ByRadio<u8>,
        agenda: &mut Agenda,
    ) -> Wish {
        let Some(station) = self.station(radio).filter(|station| station.timer == timer) else {
            return Wish::Nothing;
        };
        match station.state {
            State::Waiting => self.begin_scan(now, radio),
            State::Scanning(place, Stage::BeforeProbe) => {
                self.set_state(now, radio, State::Scanning(place, Stage::Probing));
                Wish::Send(Management::ProbeRequest, ALL)
            }
            State::Scanning(place, Stage::Listening(since, long)) => {
                // Also by a frame that had begun before.
                let busy = ear.heard > 0 || ear.idle_since > since;
                let max_channel_time = station.config.max_channel_time;
                if !long && busy {
                    self.set_state(now, radio, State::Scanning(place, Stage::Listening(since, true)));
                    self.set_timer(radio, since + max_channel_time, agenda);
                    Wish::Nothing
                } else {
                    self.scan_next(now, radio, place + 1)
                }
            }
            State::Scanning(_, Stage::Leaving | Stage::Probing) => Wish::Nothing,
            State::Joining { to, authenticated, asked } if asked < station.config.attempts => {
                self.ask(now, radio, (to, authenticated, asked), agenda)
            }
            State::Joining { to, .. } => self.fail_to_join(now, radio, to),
            State::Associated => self.watch(now, radio, channels, agenda),
        }
    }

    /// A station hears a beacon of a cell, or its probe response.
    pub fn hears_cell(
        &mut self,
        now: Time,
        radio: RadioIndex,
        (cell, signal_dbm): (CellIndex, f64),
        channels: &ByRadio<u8>,
    ) -> Wish {
        let members = &self.members;
        let Some(station) = self.stations.get_mut(radio).and_then(Option::as_mut) else {
            return Wish::Nothing;
        };
        let of_cell = |&member: &MemberIndex| members[member].cell == cell;
        let period = self.cells[cell].beacons.map_or(Span::ZERO, |beacons| beacons.period);
        let memory = period * u64::from(station.config.missed_beacons);
        let Some(place) = station.members.iter().position(of_cell) else { return Wish::Nothing };
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
                return self.judge_signal(now, radio, place, channels);
            }
        }
        Wish::Nothing
    }

    /// A cell's signal is below the threshold: its association ends, if there is one, and nobody hears of it
    /// any more.
    fn hears_weak_cell(&mut self, now: Time, radio: RadioIndex, place: usize) -> Wish {
        let Some(station) = self.station_mut(radio) else { return Wish::Nothing };
        let member = station.members[place];
        let told = station.known[place].as_mut().is_some_and(|known| std::mem::take(&mut known.told));
        if station.associated == Some(member) {
            station.associated = None;
            self.indicate(now, member, LinkEvent::Down(LinkDownReason::EXPLICIT_DISCONNECT));
            return self.begin_scan(now, radio);
        }
        if told {
            self.indicate(now, member, LinkEvent::Lost);
        }
        Wish::Nothing
    }

    /// Tells of a cell that a station hears.
    pub fn tell(&mut self, now: Time, radio: RadioIndex, place: usize) {
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
    fn judge_signal(&mut self, now: Time, radio: RadioIndex, place: usize, channels: &ByRadio<u8>) -> Wish {
        let members = &self.members;
        let Some(station) = self.stations.get_mut(radio).and_then(Option::as_mut) else {
            return Wish::Nothing;
        };
        let (member, Some(known)) = (station.members[place], station.known[place]) else {
            return Wish::Nothing;
        };
        let low = known.signal_dbm < station.config.going_down_dbm;
        let told = station.going_down;
        station.going_down = low && (told || known.slope_db_per_s < 0.0);
        let goes = station.going_down;
        let (within, confidence_percent) = station.predict(&known);
        let channel = channels[members[member].cell.access_point()];
        let elsewhere = station.config.channels.iter().any(|&other| other != channel);
        let rested = station.scan.1.is_none_or(|ended| now >= ended + station.config.scan_interval);
        match (told, goes) {
            (_, true) if !told || self.members[member].confidence.is_awaited() => {
                // By its own threshold it is lost at once.
                let by_signal = self.station(radio).and_then(|station| station.config.signal_threshold_dbm);
                let within = within + by_signal.map_or(self.time_to_lose(radio), |_| Span::ZERO);
                let reason = LinkGoingDownReason::LOW_POWER;
                let event = LinkEvent::GoingDown { within, confidence_percent, reason };
                if let Some(event) = self.members[member].confidence.tell(event, !told) {
                    self.indicate(now, member, event);
                }
            }
            (true, false) => self.indicate(now, member, LinkEvent::Rollback),
            _ => {}
        }
        if rested && low && elsewhere {
            return self.begin_scan(now, radio);
        }
        if rested {
            self.forget_other_channels(now, radio, channels);
        }
        Wish::Nothing
    }

    /// How long after the last beacon of its access point a station is no longer associated.
    pub fn time_to_lose(&self, radio: RadioIndex) -> Span {
        let Some(station) = self.station(radio) else { return Span::ZERO };
        let cell = station.associated.map(|member| self.members[member].cell);
        let beacons = cell.and_then(|cell| self.cells[cell].beacons);
        let period = beacons.map_or(Span::ZERO, |beacons| beacons.period);
        period * u64::from(station.config.missed_beacons) + Span::from_ns(period.as_ns() / 2)
    }

    /// Looks whether a station has missed too many beacons: of its own access point, and of others on its
    /// channel.
    fn watch(&mut self, now: Time, radio: RadioIndex, channels: &ByRadio<u8>, agenda: &mut Agenda) -> Wish {
        let lost_after = self.time_to_lose(radio);
        let Some(station) = self.station(radio) else { return Wish::Nothing };
        let (Some(own), heard_own) = (station.associated, station.heard_own) else { return Wish::Nothing };
        let channel = channels[radio];
        let silent = |known: &Known| known.told && known.at + lost_after <= now;
        let lost: Vec<MemberIndex> = station
            .members
            .iter()
            .zip(&station.known)
            .filter(|&(&member, known)| member != own && known.as_ref().is_some_and(silent))
            .map(|(&member, _)| member)
            .filter(|&member| channels[self.members[member].cell.access_point()] == channel)
            .collect();
        let is_lost = heard_own + lost_after <= now;
        for member in lost {
            self.lose(now, radio, member, LinkEvent::Lost);
        }
        if !is_lost {
            self.set_timer(radio, heard_own + lost_after, agenda);
            return Wish::Nothing;
        }
        if let Some(station) = self.station_mut(radio) {
            station.associated = None;
        }
        self.lose(now, radio, own, LinkEvent::Down(LinkDownReason::NO_BROADCAST));
        self.begin_scan(now, radio)
    }

    pub fn lose(&mut self, now: Time, radio: RadioIndex, member: MemberIndex, event: LinkEvent) {
        if let Some(station) = self.station_mut(radio) {
            station.forget(member);
        }
        self.indicate(now, member, event);
    }

    /// What a station knows of cells on other channels than its own is too old to be compared with: they are
    /// lost until the next scan.
    fn forget_other_channels(&mut self, now: Time, radio: RadioIndex, channels: &ByRadio<u8>) {
        let (members, channel) = (&self.members, channels[radio]);
        let Some(station) = self.stations.get_mut(radio).and_then(Option::as_mut) else { return };
        let mut lost = Vec::new();
        for (&member, known) in station.members.iter().zip(&mut station.known) {
            let elsewhere = channels[members[member].cell.access_point()] != channel;
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
