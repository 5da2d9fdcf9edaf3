//! Ranging in a cell (IEEE Std 802.16-2004 clauses 6.3.9.5, 6.3.10): initial, by contention, and periodic, by
//! bursts that stations are granted. Whether one was heard is all that the base station learns by it.
//!
//! Not modelled: corrections of timing, power and frequency (RNG-RSP with status continue).

use super::admission::Invitation;
use super::joining::Joining;
use super::management::Message;
use super::{Cell, FROM_STATION, Step};
use roamsim_engine::Time;

impl Cell {
    pub(super) fn ranging_time(&self, opportunity: u64) -> Time {
        let Some(config) = &self.config.entry else { return Time::MAX };
        let of_region = u64::from(config.ranging_opportunities);
        let number = (opportunity % of_region) as u32;
        let symbol = number * self.config.layout.ranging_symbols();
        self.uplink_time(opportunity / of_region * config.ranging_frames, symbol)
    }

    /// The first ranging opportunity that begins at or after `now`.
    pub(super) fn next_ranging(&self, now: Time) -> u64 {
        let Some(config) = &self.config.entry else { return 0 };
        let of_region = u64::from(config.ranging_opportunities);
        let first = self.frame_of(now) / config.ranging_frames * of_region;
        (first..first + of_region)
            .find(|&opportunity| self.ranging_time(opportunity) >= now)
            .unwrap_or(first + of_region)
    }

    /// A ranging opportunity: who is alone in it, and in reach, is heard at its end.
    pub(super) fn range(&mut self, now: Time, opportunity: u64) {
        let mut users = self.ranging.remove(&opportunity).unwrap_or_default();
        let ranges = |joining: &Joining| joining.entry.ranges(opportunity);
        users.retain(|&station| self.stations[station as usize].joining.as_deref().is_some_and(ranges));
        // Who has not heard the map waits for the next region.
        let (users, deaf): (Vec<u32>, Vec<u32>) =
            users.into_iter().partition(|&station| self.hears_frame_of(station, now));
        let by = self.config.entry.as_ref().map_or(1, |entry| u64::from(entry.ranging_opportunities));
        for station in deaf {
            let joining = self.stations[station as usize].joining.as_mut();
            if let Some(opportunity) = joining.and_then(|joining| joining.entry.postpone(by)) {
                self.will_range(station, opportunity);
            }
        }
        let collide = self.ranging_collisions(&users);
        for (&station, &collides) in users.iter().zip(&collide) {
            let stats = &mut self.flows[station as usize].account;
            stats.ranging_requests += 1;
            stats.collided_ranging_requests += u64::from(collides);
            if let Some(joining) = &mut self.stations[station as usize].joining {
                joining.entry.sent(now, Message::RangingRequest);
            }
            self.arm_entry(now, station);
        }
        if self.config.layout.pusc.is_some() {
            return self.range_by_codes(now, &users, &collide);
        }
        if let [station] = users[..]
            && self.hears_contention_of(now, station)
        {
            let end = now + self.times.symbols(self.config.layout.ranging_symbols());
            self.at(end, Step::Heard(station, Message::RangingRequest));
        }
    }

    pub(super) fn will_range(&mut self, station: u32, opportunity: u64) {
        let users = self.ranging.entry(opportunity).or_default();
        // One that has begun anew may have chosen the same before.
        if users.contains(&station) {
            return;
        }
        users.push(station);
        if users.len() == 1 {
            self.at(self.ranging_time(opportunity), Step::Ranging(opportunity));
        }
    }

    /// Periodic ranging: a station has been without a burst for T27, or was not heard in too many.
    pub(super) fn invite(&mut self, now: Time, station: u32, invitation: Invitation) {
        match invitation {
            Invitation::Grant if self.has_unasked(station) => {
                // Who scans was not to be heard.
                let heard = self.leaves_alone(station, self.frame_of(now))
                    || self.hears_frame_of(station, now) && self.hears_burst_of(now, station);
                self.ranged(now, station, heard);
            }
            Invitation::Grant => {
                let own = &mut self.flows[station as usize];
                own.requested_bytes = own.requested_bytes.max(u64::from(Message::RangingRequest.bytes()));
                self.note(station);
                self.want_frame(now);
            }
            Invitation::Abort => {
                self.settle(now);
                self.forget(now, station);
                self.tell(now, station, vec![Message::RangingAbort]);
            }
        }
    }

    /// A burst of a station was heard, or not.
    pub(super) fn ranged(&mut self, now: Time, station: u32, heard: bool) {
        if let Some(joining) = self.joining_mut(station) {
            joining.admission.ranged(now, heard);
            self.arm_entry(now, station);
        }
    }

    /// Whether the base station hears a burst of one that has heard the maps: where it understands its first
    /// block.
    fn hears_burst_of(&mut self, now: Time, station: u32) -> bool {
        let profile = self.stations[station as usize].config.uplink;
        let reception = self.uplink_reception(now, station, profile);
        self.stations[station as usize].lost(FROM_STATION, now, (0, 0), reception).is_none()
    }

    /// Whether bursts come to a station by themselves, often enough to range it, also where it has nothing to
    /// send.
    fn has_unasked(&self, station: u32) -> bool {
        let Some(entry) = &self.config.entry else { return false };
        let often = |interval| interval <= entry.station.timers.t27_idle;
        self.flows_of(station).any(|flow| self.flows[flow as usize].service.interval().is_some_and(often))
    }

    /// A timer of a station's entry has expired: bursts that came by themselves have ranged it.
    pub(super) fn range_unasked(&mut self, now: Time, station: u32) {
        if self.is_served(station)
            && self.has_unasked(station)
            && let Some(joining) = &mut self.stations[station as usize].joining
        {
            joining.entry.granted(joining.entry.maps_heard().min(now));
        }
    }
}
