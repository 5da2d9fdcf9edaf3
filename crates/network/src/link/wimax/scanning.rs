//! Scanning by a connected station (IEEE Std 802.16e-2005 clauses 6.3.2.3.48, 6.3.2.3.49, 6.3.22.1.2).
//!
//! The station asks for scan intervals by MOB_SCN-REQ, and MOB_SCN-RSP grants them from the next frame on.
//! In a scan interval it listens on other channels. Its base station sends nothing to it and grants it no
//! bursts; packets wait. The station's timers stop, because it could not hear the messages that they wait
//! for.
//!
//! In the cell of another channel a station hears only during scan intervals of its own cell, and while it
//! has no own cell. It keeps what it knows of that cell in between, and its timers there stop as well.

use super::management::Message;
use super::{Cell, Step};
use crate::link::indication::LinkEvent;
use roamsim_engine::{Span, Time};

/// How connected stations scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScanConfig {
    /// Frames of a scan interval, at least one.
    pub duration: u64,
    /// Frames between two scan intervals, at least one.
    pub interleaving: u64,
    /// Scan intervals of a scan, at least one.
    pub iterations: u64,
    /// From a Link_Up, or the end of a scan, to the next one; `None`: stations scan when their links are
    /// going down.
    pub every: Option<Span>,
    /// T44: waits for MOB_SCN-RSP, above zero.
    pub t44: Span,
    /// Repetitions of MOB_SCN-REQ.
    pub retries: u32,
}

/// The scan intervals of a station, from a frame on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Intervals {
    config: ScanConfig,
    first: u64,
}

impl Intervals {
    /// Whether a frame is in one of them.
    pub fn contain(&self, frame: u64) -> bool {
        let ScanConfig { duration, interleaving, iterations, .. } = self.config;
        frame.checked_sub(self.first).is_some_and(|since| {
            let period = duration + interleaving;
            since / period < iterations && since % period < duration
        })
    }

    /// The first frame behind them all.
    fn end(&self) -> u64 {
        let ScanConfig { duration, interleaving, iterations, .. } = self.config;
        self.first + iterations * (duration + interleaving) - interleaving
    }

    /// The first frame behind this one in which an interval begins, or has ended.
    fn next_change(&self, frame: u64) -> Option<u64> {
        let ScanConfig { duration, interleaving, .. } = self.config;
        let period = duration + interleaving;
        let next = match frame.checked_sub(self.first) {
            None => self.first,
            Some(since) if since % period < duration => frame + duration - since % period,
            Some(since) => frame + period - since % period,
        };
        (next <= self.end()).then_some(next)
    }
}

/// The scans of a connected station, and its deafness in a cell of another channel.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Scanning {
    /// As the station knows them.
    own: Option<Intervals>,
    /// As the base station granted them.
    granted: Option<Intervals>,
    /// The base station leaves it alone in the frame that is worked out.
    left_alone: bool,
    /// How often it has asked.
    requests: u32,
    /// When T44 expires.
    answer_until: Option<Time>,
    /// When it scans next.
    due: Option<Time>,
    /// When a scan interval begins, or ends, next.
    changes: Option<Time>,
    /// Since when it is, or when it was last, on another channel, and until when.
    deaf: Option<(Time, Option<Time>)>,
}

impl Scanning {
    /// The station is connected no more.
    pub fn reset(&mut self) {
        *self = Scanning { deaf: self.deaf, ..Scanning::default() };
    }

    /// Whether it is on the channel of its own cell, which is another one.
    pub fn is_deaf(&self) -> bool {
        matches!(self.deaf, Some((_, None)))
    }

    /// Whether a frame of its own cell is in a scan interval.
    pub fn scans(&self, frame: u64) -> bool {
        self.own.is_some_and(|intervals| intervals.contain(frame))
    }

    /// Whether it listened when a frame began.
    fn listened(&self, frame: u64, start: Time) -> bool {
        let deaf =
            self.deaf.is_some_and(|(from, until)| start >= from && until.is_none_or(|until| start < until));
        !self.scans(frame) && !deaf
    }
}

impl Cell {
    /// Whether a station listened on the channel of the base station when a frame began.
    pub(super) fn listened(&self, station: u32, start: Time) -> bool {
        let joining = &self.stations[station as usize].joining;
        joining.as_ref().is_none_or(|joining| joining.scanning.listened(self.frame_of(start), start))
    }

    /// Whether a station is away from the channel of the base station now.
    pub(super) fn is_away(&self, station: u32, now: Time) -> bool {
        let joining = &self.stations[station as usize].joining;
        let scanning = joining.as_ref().map(|joining| &joining.scanning);
        scanning.is_some_and(|scanning| scanning.is_deaf() || scanning.scans(self.frame_of(now)))
    }

    /// Whether the base station leaves a station alone in a frame, as it scans.
    pub(super) fn leaves_alone(&self, station: u32, frame: u64) -> bool {
        let joining = &self.stations[station as usize].joining;
        let granted = joining.as_ref().and_then(|joining| joining.scanning.granted);
        granted.is_some_and(|intervals| intervals.contain(frame))
    }

    /// The same of the frame that is worked out, or was last.
    pub(super) fn is_left_alone(&self, station: u32) -> bool {
        self.joining(station).is_some_and(|joining| joining.scanning.left_alone)
    }

    /// A station is connected: it scans in time, where it does so now and then.
    pub(super) fn scan_later(&mut self, now: Time, station: u32) {
        let config = self.config.entry.as_ref().and_then(|entry| entry.scanning);
        if let Some(every) = config.and_then(|config| config.every)
            && let Some(joining) = &mut self.stations[station as usize].joining
        {
            joining.scanning.due = Some(now + every);
            self.at(now + every, Step::ScanTimer(station));
        }
    }

    /// A station's link is going down: it scans, where it does so then.
    pub(super) fn scan_as_going_down(&mut self, now: Time, station: u32) {
        let config = self.config.entry.as_ref().and_then(|entry| entry.scanning);
        if config.is_some_and(|config| config.every.is_none()) {
            self.scan(now, station);
        }
    }

    /// A connected station asks for scan intervals, unless it has, or has some.
    pub(super) fn scan(&mut self, now: Time, station: u32) {
        let frame = self.frame_of(now);
        let Some(joining) = &mut self.stations[station as usize].joining else { return };
        let scanning = &mut joining.scanning;
        let waits = scanning.answer_until.is_some() || scanning.own.is_some_and(|own| frame < own.end());
        if joining.entry.is_connected() && !waits {
            scanning.requests = 0;
            self.ask_to_scan(now, station);
        }
    }

    fn ask_to_scan(&mut self, now: Time, station: u32) {
        let Some(config) = self.config.entry.as_ref().and_then(|entry| entry.scanning) else { return };
        let Some(joining) = &mut self.stations[station as usize].joining else { return };
        joining.scanning.requests += 1;
        joining.scanning.answer_until = Some(now + config.t44);
        joining.from_station.retain(|message| *message != Message::ScanRequest);
        joining.from_station.push_back(Message::ScanRequest);
        self.at(now + config.t44, Step::ScanTimer(station));
        self.ask_for_message(now, station);
    }

    /// T44 may have expired, or a scan may be due.
    pub(super) fn scan_timer(&mut self, now: Time, station: u32) {
        let Some(config) = self.config.entry.as_ref().and_then(|entry| entry.scanning) else { return };
        let Some(joining) = &mut self.stations[station as usize].joining else { return };
        let scanning = &mut joining.scanning;
        if scanning.due.take_if(|due| *due == now).is_some() {
            self.scan(now, station);
        } else if scanning.answer_until.take_if(|until| *until == now).is_some() {
            if scanning.requests <= config.retries {
                self.ask_to_scan(now, station);
            } else {
                joining.from_station.retain(|message| *message != Message::ScanRequest);
                self.scan_later(now, station);
            }
        }
    }

    /// The base station sends MOB_SCN-RSP: scan intervals begin with the next frame.
    pub(super) fn grant_scan(&mut self, station: u32, frame: u64) {
        let Some(config) = self.config.entry.as_ref().and_then(|entry| entry.scanning) else { return };
        if let Some(joining) = &mut self.stations[station as usize].joining {
            joining.scanning.granted = Some(Intervals { config, first: frame + 1 });
        }
        if !self.scanning.contains(&station) {
            self.scanning.push(station);
        }
        self.scan_changes(station, frame + 1);
    }

    fn scan_changes(&mut self, station: u32, frame: u64) {
        let start = self.frame_start(frame);
        if let Some(joining) = &mut self.stations[station as usize].joining {
            joining.scanning.changes = Some(start);
        }
        self.at(start, Step::Scan(station));
    }

    /// A station hears MOB_SCN-RSP.
    pub(super) fn hear_scan_response(&mut self, now: Time, station: u32) {
        let frame = self.frame_of(now);
        self.look_at_maps(now, station);
        let Some(config) = self.config.entry.as_ref().and_then(|entry| entry.scanning) else { return };
        let Some(joining) = &mut self.stations[station as usize].joining else { return };
        joining.from_station.retain(|message| *message != Message::ScanRequest);
        joining.scanning.answer_until = None;
        joining.scanning.own = Some(Intervals { config, first: frame + 1 });
    }

    /// Notes who scans in a frame that is about to be worked out.
    pub(super) fn note_scanning(&mut self, frame: u64) {
        for number in 0..self.scanning.len() {
            let station = self.scanning[number];
            let alone = self.leaves_alone(station, frame);
            if let Some(joining) = &mut self.stations[station as usize].joining
                && std::mem::replace(&mut joining.scanning.left_alone, alone) != alone
            {
                self.note_station(station);
            }
        }
        self.scanning.retain(|&station| {
            let joining = self.stations[station as usize].joining.as_ref();
            joining.and_then(|joining| joining.scanning.granted).is_some_and(|granted| frame < granted.end())
        });
    }

    /// A scan interval begins, or has ended, with this frame.
    pub(super) fn scan_step(&mut self, now: Time, station: u32) {
        let frame = self.frame_of(now);
        let Some(joining) = &mut self.stations[station as usize].joining else { return };
        let Scanning { own, granted, .. } = joining.scanning;
        // An earlier grant was repeated.
        if joining.scanning.changes.take_if(|at| *at == now).is_none() {
            return;
        }
        if granted.is_some() && self.next_frame <= frame {
            self.settle(now);
            self.note_scanning(frame);
            if !self.backlog.is_empty() {
                self.want_frame(now);
            }
        }
        if let Some(next) = granted.and_then(|granted| granted.next_change(frame)) {
            self.scan_changes(station, next);
        }
        let Some(own) = own else { return };
        let scanned = frame.checked_sub(1).is_some_and(|before| own.contain(before));
        match (scanned, own.contain(frame)) {
            (false, true) => {
                self.indicate(now, station, LinkEvent::ScanBegun);
                self.arm_entry(now, station);
            }
            (true, false) => {
                let away = self.config.layout.duration * own.config.duration;
                if let Some(joining) = &mut self.stations[station as usize].joining {
                    joining.entry.stand_still(away);
                }
                self.indicate(now, station, LinkEvent::ScanEnded);
                if frame == own.end() {
                    self.scan_later(now, station);
                }
                self.arm_entry(now, station);
            }
            _ => {}
        }
    }

    /// A station listens on the channel of the base station again, or not any more; whether that is new.
    pub(super) fn set_listens(&mut self, now: Time, station: u32, listens: bool) -> bool {
        let Some(joining) = &self.stations[station as usize].joining else { return false };
        if joining.scanning.is_deaf() != listens {
            return false;
        }
        if !listens {
            let synchronized = joining.entry.is_synchronized();
            self.look_at_maps(now, station);
            // What it knows of the cell is as good as what it has heard last.
            if synchronized && self.hears_frame_of(station, now) {
                self.report_now(now, station);
            }
        }
        let Some(joining) = &mut self.stations[station as usize].joining else { return false };
        match joining.scanning.deaf {
            Some((from, None)) => {
                joining.scanning.deaf = Some((from, Some(now)));
                joining.entry.stand_still(now.since(from));
            }
            _ => joining.scanning.deaf = Some((now, None)),
        }
        if listens {
            self.listen_again(now, station);
        }
        self.arm_entry(now, station);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_follow_each_other_until_the_last_one() {
        let config = ScanConfig {
            duration: 2,
            interleaving: 3,
            iterations: 2,
            every: None,
            t44: Span::from_ms(100),
            retries: 3,
        };
        let intervals = Intervals { config, first: 10 };
        let scanned: Vec<u64> = (0..30).filter(|&frame| intervals.contain(frame)).collect();
        assert_eq!(scanned, [10, 11, 15, 16]);
        let changes: Vec<u64> =
            std::iter::successors(Some(0), |&frame| intervals.next_change(frame)).collect();
        assert_eq!(changes, [0, 10, 12, 15, 17]);
        assert_eq!(intervals.end(), 17);
    }
}
