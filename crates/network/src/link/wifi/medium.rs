//! What is on the air, who hears it, and what a receiver understands of it (clauses 9.2.1, 9.2.5.4).

use super::Cell;
use super::exchange::Step;
use roamsim_engine::{Span, Time};

/// The kinds of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Rts,
    Cts,
    Data,
    Ack,
}

/// A frame on the air.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub number: u64,
    pub kind: Kind,
    pub from: usize,
    pub to: usize,
    /// Until when its duration field reserves the medium.
    pub reserved: Time,
}

/// What those who hear the same hear.
#[derive(Clone, Debug)]
pub(super) struct Ear {
    /// Frames on the air.
    pub heard: u32,
    /// Since when the medium is busy, or was the last time.
    pub busy_since: Time,
    /// Since when it is idle, if it is.
    pub idle_since: Time,
    /// The space before contention, after what was heard last.
    pub ifs: Span,
    /// The frame that is received, and whether another one disturbs it.
    pub receiving: Option<u64>,
    pub disturbed: bool,
    /// Until when others have reserved the medium (the NAV, clause 9.2.5.4), and who they are.
    pub nav: Time,
    pub reserved_by: [usize; 2],
}

impl Cell {
    /// Puts a frame on the air.
    pub(super) fn send(&mut self, now: Time, kind: Kind, from: usize, to: usize) {
        let initiator = if matches!(kind, Kind::Rts | Kind::Data) { from } else { to };
        let end = now + self.airtime(kind, initiator);
        let sifs = self.config.timing.sifs;
        let then = |kind: Kind| sifs + self.airtime(kind, initiator);
        let reserved = match kind {
            Kind::Rts => end + then(Kind::Cts) + then(Kind::Data) + then(Kind::Ack),
            Kind::Cts => end + then(Kind::Data) + then(Kind::Ack),
            Kind::Data => end + then(Kind::Ack),
            Kind::Ack => end,
        };
        let number = self.frames;
        self.frames += 1;
        for ear in 0..self.ears.len() {
            if self.is_heard(ear, from) {
                self.hear(now, ear, number);
            }
        }
        let sender = &mut self.radios[from];
        sender.sent = (now, end);
        sender.sent_data = kind == Kind::Data;
        sender.answers = false;
        self.on_air.push(Frame { number, kind, from, to, reserved });
        self.at(end, Step::End(number));
    }

    pub(super) fn is_heard(&self, ear: usize, from: usize) -> bool {
        self.hears.get(ear).is_none_or(|heard| heard[from])
    }

    /// An ear hears the begin of a frame.
    pub(super) fn hear(&mut self, now: Time, number: usize, frame: u64) {
        if self.ears[number].heard == 0 {
            self.freeze(now, number);
            let ear = &mut self.ears[number];
            ear.busy_since = now;
            ear.receiving = Some(frame);
            ear.disturbed = false;
        }
        let ear = &mut self.ears[number];
        ear.disturbed |= ear.heard > 0;
        ear.heard += 1;
    }

    /// A frame ends.
    pub(super) fn end(&mut self, now: Time, number: u64) {
        let Some(place) = self.on_air.iter().position(|frame| frame.number == number) else { return };
        let frame = self.on_air.swap_remove(place);
        let mut understood = false;
        for number in 0..self.ears.len() {
            if !self.is_heard(number, frame.from) {
                continue;
            }
            let ear = &mut self.ears[number];
            ear.heard -= 1;
            if ear.heard == 0 {
                ear.idle_since = now;
            }
            if ear.receiving != Some(frame.number) {
                continue;
            }
            ear.receiving = None;
            if ear.disturbed {
                ear.ifs = self.config.timing.eifs;
                continue;
            }
            ear.ifs = self.config.timing.difs;
            // The NAV is not of those whom a frame is for, or from; where all share one ear, `reserved_by` excepts them.
            let ours = self.hears.is_empty() || (number != frame.from && number != frame.to);
            if frame.reserved > ear.nav && ours {
                ear.nav = frame.reserved;
                ear.reserved_by = [frame.from, frame.to];
            }
            understood |= self.radios[frame.to].ear == number;
        }
        self.follow(now, frame, understood);
    }
}
