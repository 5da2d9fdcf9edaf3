//! How a station looks for access points, channel by channel (clause 11.1.3).
//!
//! It has one radio, on one channel at a time. While it is on another one than that of its access point, or
//! associated with none, its packets wait; frames to it are lost. It leaves a channel between two frame
//! exchanges.
//!
//! On each of its channels it listens for beacons (passive), or waits `probe_delay`, sends a probe request
//! and listens (active): for `min_channel_time` where the medium stays silent, for `max_channel_time`
//! otherwise. What it has heard is told when the scan is over, its own access point first, then the
//! strongest.

use super::station::{Stage, State};
use super::{Associations, Wish};
use crate::link::indication::LinkEvent;
use crate::link::wifi::agenda::Agenda;
use crate::link::wifi::config::Scan;
use crate::link::wifi::index::{ByRadio, RadioIndex};
use roamsim_engine::Time;

impl Associations {
    /// Looks at all channels, from the first on.
    pub fn begin_scan(&mut self, now: Time, radio: RadioIndex) -> Wish {
        if let Some(station) = self.station_mut(radio) {
            station.scan = (now, None);
        }
        self.scan_next(now, radio, 0)
    }

    pub(super) fn scan_next(&mut self, now: Time, radio: RadioIndex, place: usize) -> Wish {
        self.set_state(now, radio, State::Scanning(place, Stage::Leaving));
        Wish::Depart
    }

    /// A station is free to leave: it does what it leaves for. Its radio goes to another channel first, if
    /// one is named.
    pub fn departs(
        &mut self,
        now: Time,
        radio: RadioIndex,
        channels: &ByRadio<u8>,
        agenda: &mut Agenda,
    ) -> (Option<u8>, Wish) {
        let Some(station) = self.station(radio) else { return (None, Wish::Nothing) };
        let config = &station.config;
        match station.state {
            State::Scanning(place, Stage::Leaving) if place == config.channels.len() => {
                self.end_scan(now, radio, channels, agenda)
            }
            State::Scanning(place, Stage::Leaving) => {
                let (channel, scan) = (config.channels[place], config.scan);
                let (probe_delay, max_channel_time) = (config.probe_delay, config.max_channel_time);
                let (stage, until) = match scan {
                    Scan::Active => (Stage::BeforeProbe, now + probe_delay),
                    Scan::Passive => (Stage::Listening(now, true), now + max_channel_time),
                };
                self.set_state(now, radio, State::Scanning(place, stage));
                self.set_timer(radio, until, agenda);
                (Some(channel), Wish::Nothing)
            }
            State::Joining { to, authenticated, asked } => {
                let channel = channels[self.members[to].cell.access_point()];
                (Some(channel), self.ask(now, radio, (to, authenticated, asked), agenda))
            }
            _ => (None, Wish::Nothing),
        }
    }

    /// A station's probe request is over.
    pub fn has_probed(&mut self, now: Time, radio: RadioIndex, agenda: &mut Agenda) {
        let Some(station) = self.station(radio) else { return };
        if let State::Scanning(place, Stage::Probing) = station.state {
            let until = now + station.config.min_channel_time;
            self.set_state(now, radio, State::Scanning(place, Stage::Listening(now, false)));
            self.set_timer(radio, until, agenda);
        }
    }

    /// A scan is over: back to its access point if it has one, and what was heard is told.
    fn end_scan(
        &mut self,
        now: Time,
        radio: RadioIndex,
        channels: &ByRadio<u8>,
        agenda: &mut Agenda,
    ) -> (Option<u8>, Wish) {
        let members = &self.members;
        let Some(station) = self.stations.get_mut(radio).and_then(Option::as_mut) else {
            return (None, Wish::Nothing);
        };
        let (begun, _) = station.scan;
        station.scan.1 = Some(now);
        let mut fresh: Vec<(usize, f64)> = Vec::new();
        let mut lost = Vec::new();
        for (place, known) in station.known.iter().enumerate() {
            let member = station.members[place];
            let channel = channels[members[member].cell.access_point()];
            match known {
                Some(known) if known.at >= begun && !station.is_weak(place) => {
                    fresh.push((place, known.signal_dbm))
                }
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
        // Its own first, with which the others are compared; then the strongest, and among equals the first
        // of its cells.
        let own = station.associated.and_then(|own| station.members.iter().position(|&member| member == own));
        fresh.sort_by(|a, b| (Some(b.0) == own).cmp(&(Some(a.0) == own)).then(b.1.total_cmp(&a.1)));
        let done = match station.associated {
            Some(own) => {
                station.state = State::Associated;
                // What it could not hear it has not missed.
                station.heard_own = now;
                let channel = channels[members[own].cell.access_point()];
                self.set_timer(radio, now + self.time_to_lose(radio), agenda);
                (Some(channel), Wish::Resume)
            }
            None => {
                station.state = State::Waiting;
                let next = now + station.config.scan_interval;
                self.set_timer(radio, next, agenda);
                (None, Wish::Nothing)
            }
        };
        self.note_phase(now, radio);
        for member in lost {
            self.lose(now, radio, member, LinkEvent::Lost);
        }
        for (place, _) in fresh {
            self.tell(now, radio, place);
        }
        done
    }
}
