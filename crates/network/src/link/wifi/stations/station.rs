//! A station of cells with beacons: what it knows of them, and what it is doing.

use super::layout::MemberIndex;
use crate::link::wifi::config::StationConfig;
use roamsim_engine::{Span, Time};

/// What a station knows of a cell.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    pub signal_dbm: f64,
    /// How fast it changes: a mean as well.
    pub slope_db_per_s: f64,
    pub at: Time,
    /// Whoever is above has been told of it.
    pub told: bool,
}

/// What a station is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It is associated with none, and waits for its next scan.
    Waiting,
    /// It looks at one of its channels.
    Scanning(usize, Stage),
    /// It joins a cell: a member, whether it is authenticated there, how often it has asked.
    Joining {
        to: MemberIndex,
        authenticated: bool,
        asked: u32,
    },
    Associated,
}

/// What it is doing on a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
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
pub struct Station {
    pub config: StationConfig,
    /// Its places in cells: members of the medium.
    pub members: Vec<MemberIndex>,
    pub known: Vec<Option<Known>>,
    pub state: State,
    /// The member by which it is associated.
    pub associated: Option<MemberIndex>,
    /// The last association, and whether its access point has it on its list.
    pub registered: Option<MemberIndex>,
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
    pub fn new(config: StationConfig, members: Vec<MemberIndex>) -> Station {
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
    pub fn first_member(&self) -> Option<MemberIndex> {
        self.members.first().copied()
    }

    /// All that it looks at.
    pub fn channels(&self) -> impl Iterator<Item = u8> + '_ {
        self.config.channels.iter().copied()
    }
}

impl Station {
    /// The member that the access points know of it, or that it knows itself.
    pub fn on_list_of(&self, access_point: bool) -> Option<MemberIndex> {
        if access_point { self.registered.filter(|_| self.listed) } else { self.associated }
    }

    /// It hears a cell with this power. What it heard longer ago than it remembers is not in the mean.
    pub fn hears(&mut self, place: usize, now: Time, signal_dbm: f64, memory: Span) {
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

    /// When a falling signal will reach the power below which nothing is heard, an hour at most; and how much
    /// of the way there it has gone, in percent.
    pub fn predict(&self, known: &Known) -> (Span, u8) {
        let StationConfig { going_down_dbm, lost_dbm, signal_threshold_dbm, .. } = self.config;
        let lost_dbm = signal_threshold_dbm.unwrap_or(lost_dbm);
        let within_s = (known.signal_dbm - lost_dbm).max(0.0) / -known.slope_db_per_s;
        let within_s = if within_s.is_nan() { 0.0 } else { within_s.clamp(0.0, 3600.0) };
        let come = (going_down_dbm - known.signal_dbm) / (going_down_dbm - lost_dbm);
        let percent = if come.is_nan() { 100.0 } else { (100.0 * come).clamp(0.0, 100.0) };
        (Span::from_secs_f64(within_s), percent.round() as u8)
    }

    /// Whether a cell that it has heard is below its threshold.
    pub fn is_weak(&self, place: usize) -> bool {
        let threshold_dbm = self.config.signal_threshold_dbm;
        threshold_dbm
            .zip(self.known[place])
            .is_some_and(|(threshold_dbm, known)| known.signal_dbm < threshold_dbm)
    }

    pub fn forget(&mut self, member: MemberIndex) {
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
        let mut station =
            Station::new(crate::link::wifi::tests::roaming::station(&[1]), vec![MemberIndex(0)]);
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
