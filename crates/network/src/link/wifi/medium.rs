//! What is on the air, who hears it, and what a receiver understands of it (clauses 9.2.1, 9.2.5.4).

use super::account::Use;
use super::air::Heard;
use super::exchange::Step;
use super::{ACCESS_POINT, Cell};
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
#[derive(Clone, Debug)]
pub(super) struct Frame {
    pub number: u64,
    pub kind: Kind,
    pub from: usize,
    pub to: usize,
    /// Until when its duration field reserves the medium.
    pub reserved: Time,
    /// Who hears it; nobody is named where all share one ear.
    pub heard_by: Vec<Heard>,
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
    pub receiving: Option<(u64, Kind)>,
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
        let heard_by = self.hearing.heard_by(from, now);
        if heard_by.is_empty() {
            self.hear(now, 0, number, kind);
        }
        for &(radio, _) in &heard_by {
            self.hear(now, radio, number, kind);
        }
        let sender = &mut self.radios[from];
        sender.sent = (now, end);
        sender.sent_data = kind == Kind::Data;
        sender.answers = false;
        self.on_air.push(Frame { number, kind, from, to, reserved, heard_by });
        self.at(end, Step::End(number));
    }

    /// An ear hears the begin of a frame.
    pub(super) fn hear(&mut self, now: Time, number: usize, frame: u64, kind: Kind) {
        if self.ears[number].heard == 0 {
            if number == self.radios[ACCESS_POINT].ear {
                self.medium_passes(now);
            }
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

    /// What the medium was used for until now goes into the account.
    pub(super) fn medium_passes(&mut self, now: Time) {
        let ear = &self.ears[self.radios[ACCESS_POINT].ear];
        let used = match ear.receiving {
            _ if ear.heard == 0 && self.contenders == 0 => Use::Idle,
            _ if ear.heard == 0 => Use::Backoff,
            Some((_, kind)) if !ear.disturbed => Use::Frame(kind),
            _ => Use::Collision,
        };
        self.medium.pass(now, used);
    }

    /// A queue gets its first packet, or loses its last.
    pub(super) fn contenders_change(&mut self, now: Time, contenders: usize) {
        if self.ears[self.radios[ACCESS_POINT].ear].heard == 0 {
            self.medium_passes(now);
        }
        self.contenders = contenders;
    }

    /// A frame ends.
    pub(super) fn end(&mut self, now: Time, number: u64) {
        let Some(place) = self.on_air.iter().position(|frame| frame.number == number) else { return };
        let frame = self.on_air.swap_remove(place);
        let mut understood = frame.heard_by.is_empty() && self.end_at(now, 0, &frame, true);
        for &heard in &frame.heard_by {
            let strong = self.hearing.is_strong(heard, frame.from, now);
            understood |= self.end_at(now, heard.0, &frame, strong);
        }
        let sender = &mut self.radios[frame.from];
        let airtime = now - sender.sent.0;
        sender.time.sent(frame.kind, airtime, understood);
        self.follow(now, &frame, understood);
    }

    /// A frame ends at an ear; whether the one that it is for has understood it there.
    fn end_at(&mut self, now: Time, number: usize, frame: &Frame, strong: bool) -> bool {
        if self.ears[number].heard == 1 && number == self.radios[ACCESS_POINT].ear {
            self.medium_passes(now);
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
        // The NAV is not of those whom a frame is for, or from; where all share one ear, `reserved_by` excepts them.
        let ours = frame.heard_by.is_empty() || (number != frame.from && number != frame.to);
        if frame.reserved > ear.nav && ours {
            ear.nav = frame.reserved;
            ear.reserved_by = [frame.from, frame.to];
        }
        self.radios[frame.to].ear == number
    }
}
