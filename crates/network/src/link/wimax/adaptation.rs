//! Burst profiles that follow the signal, and links that go down with it.
//!
//! At each report a station looks at its signal. For another profile on the downlink it sends DBPC-REQ,
//! asking for bandwidth by contention where it has none; the base station changes with the next frame, and
//! answers by DBPC-RSP (IEEE Std 802.16-2004 clause 6.3.10; T30, by which the station repeats, at a report).
//! The profile of the uplink the base station chooses by itself and tells in its maps. Here it looks at the
//! signal at the same instants.
//!
//! Link_Going_Down of low power: the signal falls from one report to the next, and is less than
//! `going_down_factor` times the power that maps need. It says when the trend of these two will have come
//! there, and the maps will have been missed; its confidence is the part of the way, in dB, that is covered.
//! It is rolled back where the signal is above again.

use super::Cell;
use super::management::{Direction, Message};
use super::phy::BurstProfile;
use crate::link::indication::{LinkEvent, LinkGoingDownReason};
use crate::link::propagation::dbm_of_milliwatts;
use roamsim_engine::{Span, Time};

/// T30: waits for DBPC-RSP (table 342).
const T30: Span = Span::from_ms(200);

/// The furthest that a trend is followed.
const HOUR_S: f64 = 3600.0;

/// A burst profile that adapts, from an entry or a change on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProfileChange {
    /// When.
    pub at: Time,
    /// Of which station.
    pub station: u32,
    /// In which direction.
    pub direction: Direction,
    /// What is used from now on.
    pub profile: BurstProfile,
}

impl Cell {
    /// What the signal asks for, where it is another profile than the present one.
    pub(super) fn other_profile(
        &self,
        now: Time,
        station: u32,
        direction: Direction,
    ) -> Option<BurstProfile> {
        self.config.entry.as_ref()?.radio.as_ref()?.adaptation?;
        let config = &self.stations[station as usize].config;
        let present = if direction == Direction::Downlink { config.downlink } else { config.uplink };
        let reaches = &self.reaches.as_ref()?[direction as usize];
        let adapted = reaches.adapted(present, self.distance_m(station, now));
        (adapted != present).then_some(adapted)
    }

    /// A station enters, with the profiles that its signal asks for, where they adapt.
    pub(super) fn begin_profiles(&mut self, now: Time, station: u32) {
        let adapts = self.config.entry.as_ref().and_then(|entry| entry.radio.as_ref()?.adaptation).is_some();
        for direction in Direction::ALL.into_iter().filter(|_| adapts) {
            let config = &self.stations[station as usize].config;
            let present = if direction == Direction::Downlink { config.downlink } else { config.uplink };
            let profile = self.other_profile(now, station, direction).unwrap_or(present);
            self.change_profile(now, station, direction, profile);
            if profile == present {
                self.profile_changes.push(ProfileChange { at: now, station, direction, profile });
            }
        }
    }

    pub(super) fn change_profile(
        &mut self,
        now: Time,
        station: u32,
        direction: Direction,
        profile: BurstProfile,
    ) {
        self.settle(now);
        let config = &mut self.stations[station as usize].config;
        let present =
            if direction == Direction::Downlink { &mut config.downlink } else { &mut config.uplink };
        if std::mem::replace(present, profile) != profile {
            self.profile_changes.push(ProfileChange { at: now, station, direction, profile });
            self.note_station(station);
        }
    }

    /// A connected station looks at its signal.
    pub(super) fn adapt(&mut self, now: Time, station: u32) {
        if !self.is_served(station) {
            return;
        }
        if let Some(profile) = self.other_profile(now, station, Direction::Uplink) {
            self.change_profile(now, station, Direction::Uplink, profile);
        }
        let Some(profile) = self.other_profile(now, station, Direction::Downlink) else { return };
        let Some(joining) = &mut self.stations[station as usize].joining else { return };
        if joining.profile_until.is_some_and(|until| until > now) {
            return;
        }
        joining.profile_until = Some(now + T30);
        joining.from_station.retain(|message| !matches!(message, Message::ProfileRequest(_)));
        joining.from_station.push_back(Message::ProfileRequest(profile));
        self.ask_for_message(now, station);
    }

    /// A station has a message, for which nobody grants bandwidth by himself.
    pub(super) fn ask_for_message(&mut self, now: Time, station: u32) {
        if self.flows[station as usize].contention.is_idle() {
            self.contend(now, station);
        }
    }

    /// The signal of a station at a report: whether its link is going down with it.
    pub(super) fn weakens(&mut self, now: Time, station: u32) -> Option<LinkEvent> {
        let entry = self.config.entry.as_ref()?;
        let radio = entry.radio.as_ref()?;
        let signal_dbm = radio.propagation.received_dbm(self.distance_m(station, now));
        let lost_dbm = radio.least_dbm(self.config.layout.clock, self.config.map_profile);
        let low_dbm = lost_dbm + dbm_of_milliwatts(radio.going_down_factor);
        let lost_map = entry.station.timers.lost_map();
        let joining = self.stations[station as usize].joining.as_mut()?;
        let (before_dbm, before) = joining.reported.replace((signal_dbm, now))?;
        let slope_db_per_s = (signal_dbm - before_dbm) / now.since(before).as_secs_f64();
        let falls = slope_db_per_s < 0.0;
        if signal_dbm >= low_dbm || !(falls || joining.going_down) {
            return None;
        }
        let left_db = (signal_dbm - lost_dbm).max(0.0);
        let within_s = if falls { (left_db / -slope_db_per_s).min(HOUR_S) } else { HOUR_S };
        let covered = (low_dbm - signal_dbm) / (low_dbm - lost_dbm);
        let confidence_percent = (100.0 * covered).clamp(0.0, 100.0).round() as u8;
        let within = Span::from_secs_f64(within_s) + lost_map;
        Some(LinkEvent::GoingDown { within, confidence_percent, reason: LinkGoingDownReason::LOW_POWER })
    }
}
