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

use crate::link::indication::LinkEvent;
use crate::link::wifi::Cell;
use crate::link::wifi::config::Scan;
use crate::link::wifi::exchange::Step;
use crate::link::wifi::medium::{Ear, Frame};
use crate::link::wifi::radios::radio::Attempt;
use crate::link::wifi::stations::station::{Stage, State};
use roamsim_engine::{Span, Time};

impl Cell {
    /// When a station scans first: drawn within the time that it has for a channel, since stations do not
    /// know of each other.
    pub(in crate::link::wifi) fn first_scan(&mut self, radio: usize) -> Time {
        let within = self.station(radio).map_or(Span::ZERO, |station| station.config.max_channel_time);
        Time::from_ns(self.radios[radio].random.below(within.as_ns().max(1)))
    }

    /// Looks at all channels, from the first on.
    pub(in crate::link::wifi) fn begin_scan(&mut self, now: Time, radio: usize) {
        if let Some(station) = self.station_mut(radio) {
            station.scan = (now, None);
        }
        self.scan_next(now, radio, 0);
    }

    pub(in crate::link::wifi) fn scan_next(&mut self, now: Time, radio: usize, place: usize) {
        self.set_state(now, radio, State::Scanning(place, Stage::Leaving));
        self.depart(now, radio);
    }

    /// A station leaves its channel, now or when its frame exchange is over.
    pub(in crate::link::wifi) fn depart(&mut self, now: Time, radio: usize) {
        self.radios[radio].blocked = true;
        if !self.departing.contains(&radio) {
            self.departing.push(radio);
        }
        self.let_depart(now);
    }

    /// Those who want to leave their channels do, unless they are in a frame exchange, their own or another
    /// radio's with them.
    pub(in crate::link::wifi) fn let_depart(&mut self, now: Time) {
        let mut place = 0;
        while let Some(&number) = self.departing.get(place) {
            let radio = &self.radios[number];
            let heard_by = |frame: &Frame| frame.heard_by.iter().any(|&(hearer, _)| hearer == number);
            let takes_part = |frame: &Frame| frame.from == number || (frame.to == number && heard_by(frame));
            let invites_until = radio.invites_until;
            if now < invites_until {
                self.at(invites_until, Step::Free);
                place += 1;
                continue;
            }
            if radio.attempt != Attempt::None || radio.answers || self.on_air.iter().any(takes_part) {
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
        self.radios[number].management.clear();
        self.each_function(number, |cell| {
            let function = &mut cell.radios[number].own;
            function.cw = function.access.cw_min;
            if let Some(head) = function.head.take() {
                if head.holds_packet() {
                    function.parked = Some(head);
                }
                cell.contender(now, number, false);
            }
        });
    }

    /// A station is free to leave: it does what it left for.
    fn departs(&mut self, now: Time, radio: usize) {
        let Some(station) = self.station(radio) else { return };
        let config = &station.config;
        match station.state {
            State::Scanning(place, Stage::Leaving) if place == config.channels.len() => {
                self.end_scan(now, radio);
            }
            State::Scanning(place, Stage::Leaving) => {
                let (channel, scan) = (config.channels[place], config.scan);
                let (probe_delay, max_channel_time) = (config.probe_delay, config.max_channel_time);
                self.tune(now, radio, channel);
                let (stage, until) = match scan {
                    Scan::Active => (Stage::BeforeProbe, now + probe_delay),
                    Scan::Passive => (Stage::Listening(now, true), now + max_channel_time),
                };
                self.set_state(now, radio, State::Scanning(place, stage));
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
    pub(in crate::link::wifi) fn has_probed(&mut self, now: Time, radio: usize) {
        let Some(station) = self.station(radio) else { return };
        if let State::Scanning(place, Stage::Probing) = station.state {
            let until = now + station.config.min_channel_time;
            self.set_state(now, radio, State::Scanning(place, Stage::Listening(now, false)));
            self.set_timer(radio, until);
        }
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
        self.note_phase(now, radio);
        for member in lost {
            self.lose(now, radio, member, LinkEvent::Lost);
        }
        for (place, _) in fresh {
            self.tell(now, radio, place);
        }
    }

    /// Another channel, where a radio hears what is on the air there.
    pub(in crate::link::wifi) fn tune(&mut self, now: Time, number: usize, channel: u8) {
        if self.channels[number] == channel {
            return;
        }
        for frame in &mut self.on_air {
            frame.heard_by.retain(|&(radio, _)| radio != number);
        }
        self.hearing.tunes(number, [self.channels[number], channel]);
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
        // What had begun before is not received: the ear is of no frame.
        let difs = self.config.timing.difs;
        self.ears[number] = Ear { heard, busy_since: now, idle_since: now, ..Ear::new(None, difs) };
    }
}
