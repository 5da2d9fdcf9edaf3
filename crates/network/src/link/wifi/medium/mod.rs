//! What is on the air, who hears it, and what a receiver understands of it (clauses 9.2.1, 9.2.5.4).

pub(super) mod air;
mod error_model;
pub(super) mod interference;
mod reach;
pub mod shadowing;
pub(super) mod sinr;

use crate::link::wifi::account::Use;
use crate::link::wifi::capture::record::AirFrame;
use crate::link::wifi::exchange::{FrameTime, Step};
use crate::link::wifi::medium::air::Heard;
use crate::link::wifi::radios::radio::ALL;
use crate::link::wifi::{Cell, Hearing};
use roamsim_engine::{Span, Time};

/// The kinds of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::link::wifi) enum Kind {
    Rts,
    Cts,
    /// A CTS of a sender to itself.
    CtsToSelf,
    Data,
    Ack,
    Management,
}

/// A frame on the air.
#[derive(Clone, Debug)]
pub(in crate::link::wifi) struct Frame {
    pub number: u64,
    pub kind: Kind,
    pub from: usize,
    pub to: usize,
    pub rate_bps: u64,
    pub begin: Time,
    pub end: Time,
    /// Radios that do not understand it, where that is drawn.
    pub failed: Vec<usize>,
    /// Until when its duration field reserves the medium.
    pub reserved: Time,
    /// What a capture tells of it.
    pub record: Option<Box<AirFrame>>,
    /// Who hears it; nobody is named where all share one ear.
    pub heard_by: Vec<Heard>,
}

/// What those who hear the same hear.
#[derive(Clone, Debug)]
pub(in crate::link::wifi) struct Ear {
    /// The cell whose access point it is of, which keeps the account of the medium.
    pub account: Option<usize>,
    /// Frames on the air.
    pub heard: u32,
    /// Since when the medium is busy, or was the last time.
    pub busy_since: Time,
    /// Since when it is idle, if it is.
    pub idle_since: Time,
    /// The space before contention, after what was heard last.
    pub ifs: Span,
    /// The frame that is received, and whether another one disturbs it.
    pub receiving: Option<(u64, Kind)>,
    pub disturbed: bool,
    /// Somebody may be about to send without a countdown: answers concern them as other frames do.
    pub undecided: bool,
    /// Until when others have reserved the medium (the NAV, clause 9.2.5.4), and who they are.
    pub nav: Time,
    pub reserved_by: [usize; 2],
}

impl Ear {
    /// One that has heard nothing.
    pub fn new(account: Option<usize>, ifs: Span) -> Ear {
        Ear {
            account,
            heard: 0,
            busy_since: Time::ZERO,
            idle_since: Time::ZERO,
            ifs,
            receiving: None,
            disturbed: false,
            undecided: true,
            nav: Time::ZERO,
            reserved_by: [0, 0],
        }
    }

    /// What the medium is used for, where so many radios have something to send.
    #[inline(always)]
    fn use_of_medium(&self, contenders: usize) -> Use {
        match self.receiving {
            _ if self.heard == 0 && contenders == 0 => Use::Idle,
            _ if self.heard == 0 => Use::Backoff,
            Some((_, kind)) if !self.disturbed => Use::Frame(kind),
            _ => Use::Collision,
        }
    }
}

impl Cell {
    /// Puts a frame on the air.
    pub(in crate::link::wifi) fn send(&mut self, now: Time, kind: Kind, from: usize, to: usize) {
        let FrameTime { rate_bps, airtime, reserves } = self.frame_time(kind, from, to);
        let end = now + airtime;
        let reserved = end + reserves;
        let number = self.frames;
        self.frames += 1;
        let mut heard_by = Vec::new();
        match self.hearing {
            Hearing::All => self.hear(now, 0, number, kind),
            Hearing::Given(_) | Hearing::Placed(_) => heard_by = self.hear_each(now, (number, kind, from)),
        }
        let sender = &mut self.radios[from];
        sender.sent = (now, end);
        sender.sent_data = matches!(kind, Kind::Data | Kind::Management);
        sender.answers = false;
        self.stand_apart(from);
        let mut frame = Frame {
            number,
            kind,
            from,
            to,
            rate_bps,
            begin: now,
            end,
            failed: Vec::new(),
            reserved,
            record: None,
            heard_by,
        };
        if self.log.is_some() {
            frame.record = self.begin_record(now, end, &frame);
        }
        if self.rates.is_some() && kind == Kind::Data {
            self.note_rate(now, from);
        }
        self.on_air.push(frame);
        self.at(end, Step::End(number));
    }

    /// The begin of a frame where each has an ear of its own; returned is who hears it.
    #[inline(never)]
    fn hear_each(&mut self, now: Time, (number, kind, from): (u64, Kind, usize)) -> Vec<Heard> {
        let heard_by = self.hearing.heard_by(from, now, &self.channels);
        let capture = self.hearing.capture();
        let mut received =
            capture.map(|capture| self.captured(now, capture, (number, kind, from), &heard_by));
        if self.hearing.sinr().is_some() {
            received = Some(self.locked(number, kind, &heard_by));
        }
        for &(radio, _) in &heard_by {
            self.hear(now, radio, number, kind);
        }
        for (ear, receiving, disturbed) in received.unwrap_or_default() {
            (self.ears[ear].receiving, self.ears[ear].disturbed) = (receiving, disturbed);
        }
        heard_by
    }

    /// An ear hears the begin of a frame.
    pub(in crate::link::wifi) fn hear(&mut self, now: Time, number: usize, frame: u64, kind: Kind) {
        if self.ears[number].heard == 0 {
            self.ear_changes(now, number);
            self.freeze(now, number);
            let ear = &mut self.ears[number];
            ear.busy_since = now;
            ear.receiving = Some((frame, kind));
            ear.disturbed = false;
        }
        let ear = &mut self.ears[number];
        ear.disturbed |= ear.heard > 0;
        ear.heard += 1;
    }

    /// What an ear hears is about to change: if it is that of an access point, the account is told.
    #[inline(always)]
    fn ear_changes(&mut self, now: Time, ear: usize) {
        let ear = &self.ears[ear];
        if let Some(cell) = ear.account {
            let contenders = self.contenders[usize::from(self.channels[cell])];
            let used = ear.use_of_medium(contenders);
            self.cells[cell].medium.pass(now, used);
        }
    }

    /// What the medium was used for until now goes into the account of a cell.
    #[inline]
    pub(in crate::link::wifi) fn medium_passes(&mut self, now: Time, cell: usize) {
        let ear = &self.ears[self.radios[cell].ear];
        let used = ear.use_of_medium(self.contenders[usize::from(self.channels[cell])]);
        self.cells[cell].medium.pass(now, used);
    }

    /// A radio gets something to send, or has nothing any more.
    pub(in crate::link::wifi) fn contender(&mut self, now: Time, radio: usize, comes: bool) {
        let channel = self.channels[radio];
        // Silence is used otherwise where one comes to none, or none is left.
        let changes = self.contenders[usize::from(channel)] == usize::from(!comes);
        for cell in if changes { 0..self.cells.len() } else { 0..0 } {
            if self.channels[cell] == channel && self.ears[self.radios[cell].ear].heard == 0 {
                self.medium_passes(now, cell);
            }
        }
        let contenders = &mut self.contenders[usize::from(channel)];
        *contenders = if comes { *contenders + 1 } else { *contenders - 1 };
    }

    /// A frame ends.
    pub(in crate::link::wifi) fn end(&mut self, now: Time, number: u64) {
        let Some(place) = self.on_air.iter().position(|frame| frame.number == number) else { return };
        let mut frame = self.on_air.swap_remove(place);
        let record = frame.record.take();
        if let Some(sinr) = self.hearing.sinr() {
            self.decide(now, &mut frame, sinr);
        }
        if frame.kind == Kind::Management || frame.to == ALL {
            return self.end_of_management(now, &frame, record);
        }
        let record = record.and_then(|record| self.record_hearers(now, record, &frame));
        let to = self.radios[frame.to].ear;
        let mut understood = frame.heard_by.is_empty() && self.end_at(now, 0, &frame, true);
        for &heard in &frame.heard_by {
            let strong = self.hearing.is_strong(heard, &frame, now);
            understood |= self.end_at(now, heard.0, &frame, strong) && heard.0 == to;
        }
        if understood && self.losses.is_some() {
            understood = !self.loses_attempt(now, &frame);
        }
        if let Some(record) = record {
            self.record_end(*record, understood);
        }
        let sender = &mut self.radios[frame.from];
        let airtime = now - sender.sent.0;
        let to_self = frame.kind == Kind::CtsToSelf;
        sender.time.sent(frame.kind, airtime, understood || to_self);
        if understood && !to_self && self.rates.is_some() {
            let heard = frame.heard_by.iter().find(|&&(radio, _)| radio == frame.to);
            heard.into_iter().for_each(|&heard| self.hear_signal(now, heard, frame.from));
        }
        self.follow(now, &frame, understood);
    }

    /// The end of a frame of which the power counts, or of one that is for all.
    #[inline(never)]
    fn end_of_management(&mut self, now: Time, frame: &Frame, record: Option<Box<AirFrame>>) {
        if let Some(record) = record.and_then(|record| self.record_hearers(now, record, frame)) {
            self.record_end(*record, true);
        }
        let mut hearers = Vec::new();
        if frame.heard_by.is_empty() {
            self.end_at(now, 0, frame, true);
        }
        for &heard in &frame.heard_by {
            let strong = self.hearing.is_strong(heard, frame, now);
            if self.end_at(now, heard.0, frame, strong) {
                hearers.push(heard);
            }
        }
        let to_all = frame.to == ALL;
        hearers.retain(|&(radio, _)| to_all || radio == frame.to);
        if self.rates.is_some() {
            hearers.iter().for_each(|&heard| self.hear_signal(now, heard, frame.from));
        }
        let sender = &mut self.radios[frame.from];
        let airtime = now - sender.sent.0;
        sender.time.sent(frame.kind, airtime, to_all || !hearers.is_empty());
        match hearers.first() {
            _ if to_all => self.broadcast_ends(now, frame, &hearers),
            Some(&heard) => self.management_understood(now, frame, heard),
            None => self.follow(now, frame, false),
        }
    }

    /// What rate control learns from a frame that a radio has understood.
    #[inline(never)]
    fn hear_signal(&mut self, now: Time, heard: Heard, from: usize) {
        if let (Some(rates), Some(signal_dbm)) = (&mut self.rates, self.hearing.signal_dbm(heard, from, now))
        {
            rates.hears(heard.0, from, signal_dbm);
        }
    }

    /// A frame ends at an ear; whether it is understood there.
    fn end_at(&mut self, now: Time, number: usize, frame: &Frame, strong: bool) -> bool {
        if self.ears[number].heard == 1 {
            self.ear_changes(now, number);
        }
        let ear = &mut self.ears[number];
        ear.heard -= 1;
        if ear.heard == 0 {
            ear.idle_since = now;
        }
        if ear.receiving.is_none_or(|(receiving, _)| receiving != frame.number) {
            return false;
        }
        ear.receiving = None;
        if ear.disturbed || !strong {
            ear.ifs = self.config.timing.eifs;
            return false;
        }
        ear.ifs = self.config.timing.difs;
        // The NAV is not of those whom a frame is for, or from; where all share one ear, `reserved_by`
        // excepts them.
        let ours = frame.heard_by.is_empty() || (number != frame.from && number != frame.to);
        if frame.reserved > ear.nav && ours {
            ear.nav = frame.reserved;
            ear.reserved_by = [frame.from, frame.to];
            self.stand_apart(frame.from);
            self.stand_apart(frame.to);
        }
        true
    }
}
