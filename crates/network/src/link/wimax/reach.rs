//! Who hears whom: within the cell's radius all is heard, outside nothing; what is understood of a burst goes
//! by signal over noise, where there is a radio: by a threshold, or by a table of block errors. Maps, and
//! what is sent in contention, go by thresholds.

use super::Cell;
use super::block_errors::Reception;
use super::management::Direction;
use super::phy::BurstProfile;
use crate::drops::DropReason;
use crate::link::indication::Quality;
use roamsim_engine::Time;

impl Cell {
    /// The distance between a station and the base station, in metres.
    pub(super) fn distance_m(&self, station: u32, at: Time) -> f64 {
        self.config.entry.as_ref().map_or(0.0, |entry| {
            entry.stations[station as usize].distance_m(at, entry.base_station.position(at))
        })
    }

    /// Whether a station and the base station hear each other.
    pub(super) fn reaches(&self, station: u32, at: Time) -> bool {
        self.config.entry.is_none() || self.reaches_to(self.distance_m(station, at))
    }

    pub(super) fn reaches_to(&self, distance_m: f64) -> bool {
        self.config.entry.as_ref().is_none_or(|entry| distance_m <= entry.radius_m)
    }

    /// Whether a station heard the maps of the frame that an instant lies in.
    pub(super) fn hears_frame_of(&self, station: u32, at: Time) -> bool {
        self.config.entry.is_none() || self.hears_frame_from(station, self.frame_start(self.frame_of(at)))
    }

    /// Whether it heard those of the frame that begins then.
    pub(super) fn hears_frame_from(&self, station: u32, start: Time) -> bool {
        self.reaches(station, start) && self.listened(station, start)
    }

    /// What a station gets of bursts to it in the frame of an instant.
    pub(super) fn downlink_reception(&self, at: Time, station: u32, profile: BurstProfile) -> Reception {
        if self.config.entry.is_none() {
            return Reception::All;
        }
        let start = self.frame_start(self.frame_of(at));
        let distance_m = self.distance_m(station, start);
        if !self.reaches_to(distance_m) || !self.listened(station, start) {
            return Reception::Nothing(DropReason::OutOfReach);
        }
        self.reception(distance_m, profile, Direction::Downlink)
    }

    /// What the base station gets of bursts of one that has heard the maps.
    pub(super) fn uplink_reception(&self, at: Time, station: u32, profile: BurstProfile) -> Reception {
        if self.reaches.is_none() {
            return Reception::All;
        }
        let distance_m = self.distance_m(station, self.frame_start(self.frame_of(at)));
        self.reception(distance_m, profile, Direction::Uplink)
    }

    fn reception(&self, distance_m: f64, profile: BurstProfile, direction: Direction) -> Reception {
        let radio = self.config.entry.as_ref().and_then(|entry| entry.radio.as_ref());
        let (Some(radio), Some(reaches)) = (radio, &self.reaches) else { return Reception::All };
        if radio.block_errors.has(profile) {
            let clock = self.config.layout.clock;
            let snr_db = radio.signal_to_noise_db(clock, distance_m, direction == Direction::Uplink);
            return Reception::Blocks(radio.block_errors.ratio(profile, snr_db));
        }
        match reaches[direction as usize].is_understood(profile, distance_m) {
            true => Reception::All,
            false => Reception::Nothing(DropReason::Loss),
        }
    }

    /// Whether the base station hears what a station sends in contention: by the threshold of the most robust
    /// profile.
    pub(super) fn hears_contention_of(&self, at: Time, station: u32) -> bool {
        let Some([_, reaches]) = &self.reaches else { return true };
        let distance_m = self.distance_m(station, self.frame_start(self.frame_of(at)));
        reaches.is_understood(self.config.layout.profiles()[0], distance_m)
    }

    /// How good the base station is at a station.
    pub(super) fn quality(&self, station: u32, at: Time) -> Quality {
        let distance_m = self.distance_m(station, at);
        match self.config.entry.as_ref().and_then(|entry| entry.radio.as_ref()) {
            None => Quality::Distance(distance_m),
            Some(radio) => Quality::Signal(radio.propagation.received_dbm(distance_m)),
        }
    }
}
