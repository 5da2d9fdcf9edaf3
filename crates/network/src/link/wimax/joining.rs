//! Network entry in a cell: when a station hears what, and who is heard.
//!
//! Within the cell's radius all is heard, outside nothing. A station hears the maps of a frame, and the descriptors behind them, when
//! the burst of a frame without other bursts would end. What it hears of them while it is synchronized is looked at when its link is
//! reported and when it might be lost, and costs nothing between.
//!
//! Link events: Link_Detected with the first DL-MAP, Link_Up with the last DSA-ACK, a Link_Parameters_Report every `report_interval`;
//! Link_Going_Down when the walk leads out of reach in `going_down_ahead`, or when the maps of a report are missed: with the time
//! until synchronization would be lost, and a confidence of 100 % if none is heard until then; rolled back when that does not hold any
//! more. Link_Down when maps were missed for too long, or nobody answered.

use super::admission::Admission;
use super::config::{CellEntry, is_due};
use super::connection::LEAST_PDU_BYTES;
use super::entry::{Action, Entry, Failure};
use super::frame::PROFILES;
use super::management::{Flow, Message};
use super::phy::{BurstProfile, PREAMBLE_AND_FCH_SYMBOLS, RANGING_SYMBOLS};
use super::{Cell, Service, Station, Step};
use crate::drops::DropReason;
use crate::link::Attachment;
use crate::link::indication::{Indication, LinkDownReason, LinkEvent, LinkGoingDownReason, Quality};
use crate::link::stations::account::Path;
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
    draws: Stream,
    /// When the steps that look at its timers, and at those of the base station for it, come.
    timers: [Option<Time>; 2],
    /// A report is due.
    reports: bool,
    pub going_down: bool,
    /// The signal of the last report, and when it was.
    pub reported: Option<(f64, Time)>,
    /// Until when it waits for DBPC-RSP.
    pub profile_until: Option<Time>,
}

impl Joining {
    pub fn new(config: &CellEntry, draws: Stream) -> Joining {
        Joining {
            entry: Entry::new(config.station),
            admission: Admission::new(config.station),
            to_station: VecDeque::new(),
            from_station: VecDeque::new(),
            path: Path::default(),
            draws,
            timers: [None; 2],
            reports: false,
            going_down: false,
            reported: None,
            profile_until: None,
        }
    }

    /// Whether the base station has a message for it.
    pub fn has_messages(&self) -> bool {
        !self.to_station.is_empty()
    }
}

impl Cell {
    /// Whether a station's packets can be carried.
    pub(super) fn is_served(&self, station: u32) -> bool {
        self.stations[station as usize].joining.as_ref().is_none_or(|joining| joining.entry.is_connected())
    }

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

    fn reaches_to(&self, distance_m: f64) -> bool {
        self.config.entry.as_ref().is_none_or(|entry| distance_m <= entry.radius_m)
    }

    /// Whether a station heard the maps of the frame that an instant lies in.
    pub(super) fn hears_frame_of(&self, station: u32, at: Time) -> bool {
        self.reaches(station, self.frame_start(self.frame_of(at)))
    }

    /// Why a burst to a station would be lost that is sent in the frame of an instant.
    pub(super) fn downlink_lost(&self, at: Time, station: u32, profile: BurstProfile) -> Option<DropReason> {
        self.config.entry.as_ref()?;
        let distance_m = self.distance_m(station, self.frame_start(self.frame_of(at)));
        if !self.reaches_to(distance_m) {
            return Some(DropReason::OutOfReach);
        }
        let [reaches, _] = self.reaches.as_ref()?;
        (!reaches.is_understood(profile, distance_m)).then_some(DropReason::Loss)
    }

    /// Why one from a station would be, that has heard the maps.
    pub(super) fn uplink_lost(&self, at: Time, station: u32, profile: BurstProfile) -> Option<DropReason> {
        let [_, reaches] = self.reaches.as_ref()?;
        let distance_m = self.distance_m(station, self.frame_start(self.frame_of(at)));
        (!reaches.is_understood(profile, distance_m)).then_some(DropReason::Loss)
    }

    /// How good the base station is at a station.
    fn quality(&self, station: u32, at: Time) -> Quality {
        let distance_m = self.distance_m(station, at);
        match self.config.entry.as_ref().and_then(|entry| entry.radio.as_ref()) {
            None => Quality::Distance(distance_m),
            Some(radio) => Quality::Signal(radio.propagation.received_dbm(distance_m)),
        }
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
    fn arm_entry(&mut self, station: u32) {
        let Some(joining) = &mut self.stations[station as usize].joining else { return };
        let deadlines = [joining.entry.deadline(), joining.admission.deadline()];
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
        self.look_at_maps(now, station);
        // Who is served may change.
        self.settle(now);
        let Some(joining) = &mut self.stations[station as usize].joining else { return };
        let actions = joining.entry.expire(now);
        for action in actions {
            self.act(now, station, action);
            // Nobody grants bandwidth for a repetition.
            if let Action::Send(_) = action {
                self.ask_for_message(now, station);
            }
        }
        self.arm_entry(station);
    }

    /// A timer of the base station may have expired.
    pub(super) fn admission_timer(&mut self, now: Time, station: u32) {
        let Some(joining) = &mut self.stations[station as usize].joining else { return };
        if joining.timers[1] != Some(now) {
            return;
        }
        joining.timers[1] = None;
        let messages = joining.admission.expire(now);
        self.tell(now, station, messages);
        self.arm_entry(station);
    }

    fn tell(&mut self, now: Time, station: u32, messages: Vec<Message>) {
        let Some(joining) = &mut self.stations[station as usize].joining else { return };
        if !messages.is_empty() {
            joining.to_station.extend(messages);
            self.want_frame(now);
        }
    }

    /// Looks for the last frame whose maps a synchronized station has heard.
    fn look_at_maps(&mut self, now: Time, station: u32) {
        let Some(joining) = &self.stations[station as usize].joining else { return };
        if !joining.entry.is_synchronized() {
            return;
        }
        let known = self.frame_of(joining.entry.maps_heard());
        let mut starts = (known + 1..=self.frame_of(now)).rev().map(|frame| self.frame_start(frame));
        let heard = starts.find(|&start| self.reaches(station, start));
        if let (Some(start), Some(joining)) = (heard, &mut self.stations[station as usize].joining) {
            joining.entry.downlink_map(start);
            joining.entry.uplink_map(start);
        }
    }

    fn indicate(&mut self, now: Time, station: u32, event: LinkEvent) {
        let (_, at) = self.attachments_of(station);
        self.indications.push_back((now, Indication { at, event }));
    }

    /// Does what follows for a station.
    fn act(&mut self, now: Time, station: u32, action: Action) {
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
            Action::Connected => self.indicate(now, station, LinkEvent::Up),
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

    /// A station is connected no more: what waits for it, and at it, is dropped; the base station knows at once.
    pub(super) fn forget(&mut self, now: Time, station: u32) {
        let (down, up) = self.attachments_of(station);
        let own = &mut self.stations[station as usize];
        own.requested_bytes = 0;
        own.unsolicited = None;
        own.contention.reset();
        let mut left = Vec::new();
        for (from, connection) in [(down, &mut own.downlink), (up, &mut own.uplink)] {
            while let Some(packet) = connection.give_up(now) {
                left.push((from, packet));
            }
        }
        if let Some(joining) = &mut own.joining {
            joining.admission.release();
            own.config.service = self.config.stations[station as usize].service;
            joining.to_station.clear();
            joining.from_station.clear();
            (joining.going_down, joining.reported, joining.profile_until) = (false, None, None);
        }
        for (from, packet) in left {
            self.drop_packet(now, from, packet, DropReason::NotAssociated);
        }
    }

    /// A frame begins while a station listens on its channel.
    pub(super) fn hear_preamble(&mut self, now: Time, station: u32) {
        let (reaches, frame) = (self.reaches(station, now), self.frame_of(now));
        let Some(joining) = &mut self.stations[station as usize].joining else { return };
        if !joining.entry.listens() {
            return;
        }
        if reaches {
            joining.entry.preamble(now);
            self.arm_entry(station);
            self.at(self.map_time(frame), Step::Maps(station));
        } else {
            self.at(self.frame_start(frame + 1), Step::Preamble(station));
        }
    }

    /// When the maps and descriptors of a frame without bursts have been heard.
    fn map_time(&self, frame: u64) -> Time {
        let symbols = PREAMBLE_AND_FCH_SYMBOLS + self.config.map_symbols(self.config.extra(frame), 0, 0);
        self.frame_start(frame) + self.config.layout.clock.symbols(symbols)
    }

    /// A station that waits for them hears maps, and descriptors where they are with them.
    pub(super) fn hear_maps(&mut self, now: Time, station: u32) {
        let frame = self.frame_of(now);
        let Some(config) = &self.config.entry else { return };
        let due = [config.downlink_descriptor, config.uplink_descriptor];
        let hears = self.hears_frame_of(station, now);
        let mut actions = Vec::new();
        let Some(joining) = &mut self.stations[station as usize].joining else { return };
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
        self.arm_entry(station);
    }

    fn ranging_time(&self, opportunity: u64) -> Time {
        let Some(config) = &self.config.entry else { return Time::MAX };
        let of_region = u64::from(config.ranging_opportunities);
        let number = (opportunity % of_region) as u32;
        self.uplink_time(opportunity / of_region * config.ranging_frames, number * RANGING_SYMBOLS)
    }

    /// The first ranging opportunity that begins at or after `now`.
    fn next_ranging(&self, now: Time) -> u64 {
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
        let collides = users.len() > 1;
        for &station in &users {
            let own = &mut self.stations[station as usize];
            own.stats.ranging_requests += 1;
            own.stats.collided_ranging_requests += u64::from(collides);
            if let Some(joining) = &mut own.joining {
                joining.entry.sent(now, Message::RangingRequest);
            }
            self.arm_entry(station);
        }
        if let [station] = users[..]
            && self.uplink_lost(now, station, BurstProfile::Bpsk12).is_none()
        {
            let end = now + self.config.layout.clock.symbols(RANGING_SYMBOLS);
            self.at(end, Step::Heard(station, Message::RangingRequest));
        }
    }

    fn will_range(&mut self, station: u32, opportunity: u64) {
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

    /// The base station hears a message.
    pub(super) fn hear(&mut self, now: Time, station: u32, message: Message) {
        match message {
            // Which profiles it begins with is told by RNG-REQ, and seen by the base station.
            Message::RangingRequest => self.begin_profiles(now, station),
            Message::RegistrationRequest => self.admit(now, station),
            Message::ProfileRequest(profile) => self.change_profile(now, station, Flow::Downlink, profile),
            _ => {}
        }
        let Some(joining) = &mut self.stations[station as usize].joining else { return };
        let messages = joining.admission.heard(now, message);
        self.tell(now, station, messages);
        self.arm_entry(station);
    }

    /// Whether the connections of a station are added as they are, or best effort, as there is no room for more unsolicited bursts:
    /// beside those of all others there has to be some for a message of who enters, and in the maps for one burst more.
    fn admit(&mut self, now: Time, station: u32) {
        let frame = self.config.layout.duration;
        let own = &self.stations[station as usize];
        let registers =
            |own: &Station| own.joining.as_ref().is_some_and(|joining| joining.admission.is_registered());
        if own.config.service.interval().is_none() || registers(own) {
            return;
        }
        let others = self.unsolicited.iter().map(|&other| &self.stations[other as usize]);
        let others = others.filter(|other| registers(other) && other.config.service.interval().is_some());
        let (mut bursts, mut symbols) = (1, own.config.most_unsolicited_symbols(frame));
        for other in others {
            (bursts, symbols) = (bursts + 1, symbols + other.config.most_unsolicited_symbols(frame));
        }
        let message = self.stations.iter().map(|own| own.config.message_symbols()).max().unwrap_or(0);
        let data = self.stations.iter().map(|own| own.config.downlink.burst_symbols(LEAST_PDU_BYTES)).max();
        let fits = symbols + message <= self.config.least_uplink_room()
            && self.config.least_downlink_room(PROFILES as u32, bursts + 1) >= data.unwrap_or(0);
        if !fits {
            self.settle(now);
            let own = &mut self.stations[station as usize];
            own.config.service = Service::BestEffort;
            own.stats.refused_connections += 1;
        }
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
        if let Some(action) = joining.entry.heard(now, message) {
            self.act(now, station, action);
        }
        self.arm_entry(station);
    }

    /// A station is to join, or to leave; returns what it indicates at once.
    pub(super) fn set_wanted(&mut self, now: Time, station: u32, wanted: bool) -> Option<LinkEvent> {
        if wanted {
            let joining = self.stations[station as usize].joining.as_mut()?;
            if let Some(action) = joining.entry.join(now) {
                self.act(now, station, action);
            }
            self.arm_entry(station);
            return None;
        }
        self.settle(now);
        let connected = self.stations[station as usize].joining.as_mut()?.entry.leave();
        self.forget(now, station);
        connected.then_some(LinkEvent::Down(LinkDownReason::EXPLICIT_DISCONNECT))
    }

    fn report_later(&mut self, now: Time, station: u32) {
        let Some(interval) = self.config.entry.as_ref().map(|entry| entry.report_interval) else { return };
        if let Some(joining) = &mut self.stations[station as usize].joining
            && !joining.reports
        {
            joining.reports = true;
            self.at(now + interval, Step::Report(station));
        }
    }

    /// A report is due: what a station hears of its base station, and whether its link is going down.
    pub(super) fn report(&mut self, now: Time, station: u32) {
        self.look_at_maps(now, station);
        let Some(joining) = &mut self.stations[station as usize].joining else { return };
        joining.reports = false;
        if !joining.entry.is_synchronized() {
            return;
        }
        self.report_later(now, station);
        let hears = self.hears_frame_of(station, now);
        let going_down = self.going_down(now, station);
        let Some(joining) = &mut self.stations[station as usize].joining else { return };
        let connected = joining.entry.is_connected();
        let before = std::mem::replace(&mut joining.going_down, connected && going_down.is_some());
        match going_down {
            Some(event) if connected && !before => self.indicate(now, station, event),
            None if before => self.indicate(now, station, LinkEvent::Rollback),
            _ => {}
        }
        if hears {
            let quality = self.quality(station, now);
            self.indicate(now, station, LinkEvent::ParametersReport { quality });
            self.adapt(now, station);
        }
        self.arm_entry(station);
    }

    /// Whether the link of a connected station is going down.
    fn going_down(&mut self, now: Time, station: u32) -> Option<LinkEvent> {
        let weak = self.weakens(now, station);
        let config = self.config.entry.as_ref()?;
        let joining = self.stations[station as usize].joining.as_ref()?;
        let reason = LinkGoingDownReason::LINK_PARAMETER_DEGRADING;
        if !self.hears_frame_of(station, now) {
            let end = joining.entry.maps_heard() + config.station.timers.lost_map();
            let frames = self.frame_of(now) + 1..=self.frame_of(end);
            let heard = frames.map(|frame| self.frame_start(frame)).any(|start| self.reaches(station, start));
            let within = end.since(now);
            return Some(LinkEvent::GoingDown {
                within,
                confidence_percent: if heard { 0 } else { 100 },
                reason,
            });
        }
        if weak.is_some() {
            return weak;
        }
        let within = config.going_down_ahead?;
        let leaves = !self.reaches(station, now + within);
        leaves.then_some(LinkEvent::GoingDown { within, confidence_percent: 100, reason })
    }

    /// The path that a packet was on hears of its arrival.
    pub(super) fn path_of(&mut self, at: Attachment) -> Option<&mut Path> {
        let (station, _) = self.station_at(at);
        self.stations.get_mut(station)?.joining.as_mut().map(|joining| &mut joining.path)
    }
}
