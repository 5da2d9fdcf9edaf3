//! Network entry in a cell: when a station hears what, and who is heard.
//!
//! A station hears the maps of a frame, and the descriptors behind them, when the burst of a frame without
//! other bursts would end. What it hears of them while it is synchronized is looked at when its link is
//! reported and when it might be lost, and costs nothing between.

use super::admission::Admission;
use super::config::{CellEntry, is_due};
use super::entry::{Action, Entry, Failure};
use super::management::{Direction, Message};
use super::scanning::Scanning;
use super::{Cell, Step};
use crate::drops::DropReason;
use crate::link::indication::{LinkDownReason, LinkEvent};
use crate::link::phase::Phase;
use crate::link::stations::account::Path;
use crate::link::stations::confidence::Confidence;
use roamsim_engine::{Stream, Time};
use std::collections::VecDeque;

/// A station that enters the network.
#[derive(Debug)]
pub(super) struct Joining {
    pub entry: Entry,
    pub admission: Admission,
    /// Messages that wait: to the station, and from it.
    pub to_station: VecDeque<Message>,
    pub from_station: VecDeque<Message>,
    pub path: Path,
    pub draws: Stream,
    /// When the steps that look at its timers, and at those of the base station for it, come.
    timers: [Option<Time>; 2],
    /// A report is due.
    pub reports: bool,
    pub going_down: bool,
    pub confidence: Confidence,
    /// The signal of the last report, and when it was.
    pub reported: Option<(f64, Time)>,
    /// Until when it waits for DBPC-RSP.
    pub profile_until: Option<Time>,
    pub scanning: Scanning,
}

impl Joining {
    /// That of a station with so many service flows each way.
    pub fn new(config: &CellEntry, flows: u32, draws: Stream) -> Joining {
        Joining {
            entry: Entry::new(config.station, flows),
            admission: Admission::new(config.station, flows),
            to_station: VecDeque::new(),
            from_station: VecDeque::new(),
            path: Path::default(),
            draws,
            timers: [None; 2],
            reports: false,
            going_down: false,
            confidence: Confidence::default(),
            reported: None,
            profile_until: None,
            scanning: Scanning::default(),
        }
    }
}

impl Cell {
    /// Whether a station's packets can be carried.
    pub(super) fn is_served(&self, station: u32) -> bool {
        self.joining(station)
            .is_none_or(|joining| joining.entry.is_connected() && joining.admission.is_registered())
    }

    /// What a station has in a cell that stations enter: in others it is not even looked at.
    #[inline]
    pub(super) fn joining(&self, station: u32) -> Option<&Joining> {
        self.config.entry.as_ref()?;
        self.stations[station as usize].joining.as_deref()
    }

    /// The same, to change it.
    #[inline]
    pub(super) fn joining_mut(&mut self, station: u32) -> Option<&mut Joining> {
        self.config.entry.as_ref()?;
        self.stations[station as usize].joining.as_deref_mut()
    }

    /// Stations begin to search within the first frame.
    pub(super) fn start_stations(&mut self) {
        let frame_ns = self.config.layout.duration.as_ns();
        for station in 0..self.station_count() {
            if let Some(joining) = &mut self.stations[station as usize].joining {
                let begin = Time::from_ns(joining.draws.below(frame_ns));
                joining.timers[0] = Some(begin);
                self.at(begin, Step::Entry(station));
            }
        }
    }

    /// Steps look at the timers of a station when they expire, or before.
    pub(super) fn arm_entry(&mut self, now: Time, station: u32) {
        let away = self.is_away(station, now);
        let joining = self.stations[station as usize].joining.as_ref();
        let frame = self.frame_of(now);
        let phase = joining.and_then(|joining| match joining.scanning.scans(frame) {
            true => Some(Phase::Scanning),
            false => joining.entry.phase().filter(|_| !joining.scanning.is_deaf()),
        });
        let (_, at) = self.attachments_of(station);
        self.phases.enter(now, station as usize, phase.map(|phase| (phase, at, false)));
        let Some(joining) = &mut self.stations[station as usize].joining else { return };
        let deadlines = [joining.entry.deadline().filter(|_| !away), joining.admission.deadline()];
        let steps = [Step::Entry(station), Step::Admission(station)];
        for (number, (deadline, step)) in deadlines.into_iter().zip(steps).enumerate() {
            let Some(joining) = &mut self.stations[station as usize].joining else { return };
            let timer = &mut joining.timers[number];
            if let Some(deadline) = deadline
                && timer.is_none_or(|timer| timer > deadline)
            {
                *timer = Some(deadline);
                self.at(deadline, step);
            }
        }
    }

    /// A timer of a station may have expired.
    pub(super) fn entry_timer(&mut self, now: Time, station: u32) {
        let Some(joining) = &mut self.stations[station as usize].joining else { return };
        if joining.timers[0] != Some(now) {
            return;
        }
        joining.timers[0] = None;
        // It looks again when the station is back.
        if self.is_away(station, now) {
            return;
        }
        self.look_at_maps(now, station);
        // Who is served may change.
        self.settle(now);
        self.range_unasked(now, station);
        let Some(joining) = &mut self.stations[station as usize].joining else { return };
        let actions = joining.entry.expire(now);
        for action in actions {
            self.act(now, station, action);
            // Nobody grants bandwidth for a repetition.
            if let Action::Send(_) = action {
                self.ask_for_message(now, station);
            }
        }
        self.arm_entry(now, station);
    }

    /// A timer of the base station may have expired.
    pub(super) fn admission_timer(&mut self, now: Time, station: u32) {
        let Some(joining) = &mut self.stations[station as usize].joining else { return };
        if joining.timers[1] != Some(now) {
            return;
        }
        joining.timers[1] = None;
        let messages = joining.admission.expire(now);
        let invitation = joining.admission.invite(now);
        self.note_station(station);
        if let Some(invitation) = invitation {
            self.invite(now, station, invitation);
        }
        self.tell(now, station, messages);
        self.arm_entry(now, station);
    }

    pub(super) fn tell(&mut self, now: Time, station: u32, messages: Vec<Message>) {
        let Some(joining) = &mut self.stations[station as usize].joining else { return };
        if !messages.is_empty() {
            joining.to_station.extend(messages);
            self.note_station(station);
            self.want_frame(now);
        }
    }

    /// Looks for the last frame whose maps a synchronized station has heard.
    pub(super) fn look_at_maps(&mut self, now: Time, station: u32) {
        let Some(joining) = &self.stations[station as usize].joining else { return };
        if !joining.entry.is_synchronized() {
            return;
        }
        let known = self.frame_of(joining.entry.maps_heard());
        let mut starts = (known + 1..=self.frame_of(now)).rev().map(|frame| self.frame_start(frame));
        let heard = starts.find(|&start| self.hears_frame_from(station, start));
        if let (Some(start), Some(joining)) = (heard, &mut self.stations[station as usize].joining) {
            joining.entry.downlink_map(start);
            joining.entry.uplink_map(start);
        }
    }

    /// Does what follows for a station.
    pub(super) fn act(&mut self, now: Time, station: u32, action: Action) {
        match action {
            Action::Search => {
                let listens = |joining: &Joining| joining.entry.listens();
                if self.stations[station as usize].joining.as_deref().is_some_and(listens) {
                    let frame = now.as_ns().div_ceil(self.config.layout.duration.as_ns());
                    self.at(self.frame_start(frame), Step::Preamble(station));
                }
            }
            Action::Detected => {
                let quality = self.quality(station, now);
                self.indicate(now, station, LinkEvent::Detected { quality });
                self.report_later(now, station);
            }
            Action::Contend => {
                let next = self.next_ranging(now);
                let Some(joining) = &mut self.stations[station as usize].joining else { return };
                let opportunity = joining.entry.choose(next, &mut joining.draws);
                self.will_range(station, opportunity);
            }
            Action::Send(message) => {
                if let Some(joining) = &mut self.stations[station as usize].joining {
                    joining.from_station.push_back(message);
                }
            }
            Action::Connected => {
                self.indicate(now, station, LinkEvent::Up);
                self.scan_later(now, station);
            }
            Action::Fails { connected, failure } => {
                let reason = match failure {
                    Failure::NoMap => LinkDownReason::NO_BROADCAST,
                    Failure::NoAnswer => LinkDownReason::PACKET_TIMEOUT,
                };
                let event = if connected { LinkEvent::Down(reason) } else { LinkEvent::Lost };
                self.indicate(now, station, event);
                self.forget(now, station);
            }
        }
    }

    /// A station is connected no more: what waits for it, and at it, is dropped; the base station knows at
    /// once.
    pub(super) fn forget(&mut self, now: Time, station: u32) {
        let (down, up) = self.attachments_of(station);
        let mut left = Vec::new();
        self.codes.forget(station, self.flows_of(station));
        for flow in self.flows_of(station) {
            let own = &mut self.flows[flow as usize];
            own.requested_bytes = 0;
            own.unsolicited = None;
            own.contention.reset();
            own.service = self.config.flow(flow).service;
            for (from, connection) in [(down, &mut own.downlink), (up, &mut own.uplink)] {
                left.extend(connection.give_all_up(now, from).into_iter().map(|packet| (from, packet)));
            }
        }
        if let Some(joining) = &mut self.stations[station as usize].joining {
            joining.admission.release();
            joining.to_station.clear();
            joining.from_station.clear();
            (joining.going_down, joining.reported, joining.profile_until) = (false, None, None);
            joining.scanning.reset();
        }
        self.note_station(station);
        for (from, packet) in left {
            self.drop_packet(now, from, packet, DropReason::NotAssociated);
        }
    }

    /// A frame begins while a station listens on its channel.
    pub(super) fn hear_preamble(&mut self, now: Time, station: u32) {
        let (reaches, frame) = (self.reaches(station, now), self.frame_of(now));
        let Some(joining) = &mut self.stations[station as usize].joining else { return };
        if !joining.entry.listens() || joining.scanning.is_deaf() {
            return;
        }
        if reaches {
            joining.entry.preamble(now);
            self.arm_entry(now, station);
            self.at(self.map_time(frame), Step::Maps(station));
        } else {
            self.at(self.frame_start(frame + 1), Step::Preamble(station));
        }
    }

    /// A station is on the channel of the base station again, and goes on where it was.
    pub(super) fn listen_again(&mut self, now: Time, station: u32) {
        let Some(joining) = &self.stations[station as usize].joining else { return };
        let (searches, synchronized) = (joining.entry.listens(), joining.entry.is_synchronized());
        let awaits_maps = synchronized && joining.entry.awaits_descriptors() || joining.entry.awaits_map();
        if searches {
            self.act(now, station, Action::Search);
        }
        if awaits_maps {
            let frame = now.as_ns().div_ceil(self.config.layout.duration.as_ns());
            self.at(self.map_time(frame), Step::Maps(station));
        }
        if synchronized {
            self.report_later(now, station);
        }
    }

    /// When the maps and descriptors of a frame without bursts have been heard.
    fn map_time(&self, frame: u64) -> Time {
        let maps = self.config.map_units(self.config.extra(frame), 0, 0);
        self.frame_start(frame) + self.times.downlink_end(self.config.layout.header_units() + maps)
    }

    /// A station that waits for them hears maps, and descriptors where they are with them.
    pub(super) fn hear_maps(&mut self, now: Time, station: u32) {
        let frame = self.frame_of(now);
        let Some(config) = &self.config.entry else { return };
        let due = [config.downlink_descriptor, config.uplink_descriptor];
        let hears = self.hears_frame_of(station, now);
        let mut actions = Vec::new();
        let Some(joining) = &mut self.stations[station as usize].joining else { return };
        if joining.scanning.is_deaf() {
            return;
        }
        if hears {
            actions.extend(joining.entry.downlink_map(now));
            joining.entry.uplink_map(now);
            if is_due(due[0], frame) {
                actions.extend(joining.entry.downlink_descriptor(now));
            }
            if is_due(due[1], frame) {
                actions.extend(joining.entry.uplink_descriptor(now));
            }
        }
        if joining.entry.is_synchronized() && joining.entry.awaits_descriptors() {
            let next = |(first, every): (u64, u64)| match (frame + 1).checked_sub(first) {
                Some(since) => first + since.div_ceil(every) * every,
                None => first,
            };
            let next = next(due[0]).min(next(due[1]));
            self.at(self.map_time(next), Step::Maps(station));
        }
        for action in actions {
            self.act(now, station, action);
        }
        self.arm_entry(now, station);
    }

    /// The base station hears a message.
    pub(super) fn hear(&mut self, now: Time, station: u32, message: Message) {
        match message {
            // Which profiles it begins with is told by RNG-REQ, and seen by the base station.
            Message::RangingRequest => self.begin_profiles(now, station),
            Message::RegistrationRequest => self.admit(now, station),
            Message::ProfileRequest(profile) => {
                self.change_profile(now, station, Direction::Downlink, profile)
            }
            _ => {}
        }
        let Some(joining) = &mut self.stations[station as usize].joining else { return };
        let messages = joining.admission.heard(now, message);
        self.note_station(station);
        self.tell(now, station, messages);
        self.arm_entry(now, station);
    }

    /// A station is told something by the base station.
    pub(super) fn hear_told(&mut self, now: Time, station: u32, message: Message) {
        if !self.hears_frame_of(station, now) {
            return;
        }
        self.settle(now);
        let Some(joining) = &mut self.stations[station as usize].joining else { return };
        if let Message::ProfileResponse(_) = message {
            joining.profile_until = None;
        }
        if message == Message::ScanResponse {
            self.hear_scan_response(now, station);
        }
        let Some(joining) = &mut self.stations[station as usize].joining else { return };
        let actions = match message {
            Message::RangingAbort => joining.entry.sent_away(now),
            _ => joining.entry.heard(now, message).into_iter().collect(),
        };
        for action in actions {
            self.act(now, station, action);
        }
        self.arm_entry(now, station);
    }

    /// A station is to join, or to leave; returns what it indicates at once.
    pub(super) fn set_wanted(&mut self, now: Time, station: u32, wanted: bool) -> Option<LinkEvent> {
        if wanted {
            let joining = self.stations[station as usize].joining.as_mut()?;
            if let Some(action) = joining.entry.join(now) {
                self.act(now, station, action);
            }
            self.arm_entry(now, station);
            return None;
        }
        self.settle(now);
        let connected = self.stations[station as usize].joining.as_mut()?.entry.leave();
        self.forget(now, station);
        connected.then_some(LinkEvent::Down(LinkDownReason::EXPLICIT_DISCONNECT))
    }
}
