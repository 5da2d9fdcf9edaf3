//! What is on the air, who hears it, and what a receiver understands of it (clauses 9.2.1, 9.2.5.4).
//!
//! - [`air`]: who hears whom by place and power, with [`reach`] and [`shadowing`]. [`ear`]: carrier sense.
//! - [`interference`]: capture. [`sinr`]: reception by signal, interference and noise, with [`error_model`].
//! - [`account`]: what the medium is used for.

pub mod account;
pub mod air;
pub mod config;
pub mod ear;
mod edge;
mod error_model;
pub mod frame;
mod interference;
mod reach;
pub mod shadowing;
mod sinr;

use self::account::MediumTime;
use self::air::Hearing;
use self::ear::{Ear, Reception};
use self::frame::{Frame, Heard, Kind};
use super::index::{ByCell, ByRadio, CellIndex, Number, RadioIndex};
use super::phy::Timing;
use super::watched::Watched;
use roamsim_engine::Time;

/// The number of an ear. A radio's ear is [`Medium::ear_of`] it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EarIndex(usize);

impl Number for EarIndex {
    #[inline(always)]
    fn at(place: usize) -> EarIndex {
        EarIndex(place)
    }

    #[inline(always)]
    fn place(self) -> usize {
        self.0
    }
}

/// The ear of all radios, where they share one.
pub const SHARED_EAR: EarIndex = EarIndex(0);

/// The medium, as all radios hear it.
#[derive(Debug)]
pub struct Medium {
    pub hearing: Hearing,
    /// One for each radio, or one for all.
    ears: Watched<EarIndex, Ear>,
    /// A radio's number with these bits is that of its ear.
    ear_bits: usize,
    pub on_air: Vec<Frame>,
    /// Frames that are over and may have interfered with one that is not; kept where that counts.
    past: Vec<Frame>,
    /// How many frames have begun.
    pub frames: u64,
    /// By radio, the channel that it is on.
    pub channels: ByRadio<u8>,
    /// By channel, radios that have something to send.
    pub contenders: Vec<usize>,
    /// By access point, what it hears the medium used for.
    pub times: ByCell<MediumTime>,
    timing: Timing,
}

impl Medium {
    /// A silent one. Radios are on these channels at first, and none goes to a channel above `most_channel`;
    /// changes of ears are watched, or not.
    pub fn new(
        hearing: Hearing,
        channels: ByRadio<u8>,
        access_points: usize,
        most_channel: u8,
        timing: Timing,
        watched: bool,
    ) -> Medium {
        let shared = matches!(hearing, Hearing::All);
        let ears = if shared { 1 } else { channels.len() };
        let account = |ear: usize| RadioIndex(ear).cell(access_points);
        Medium {
            hearing,
            ears: Watched::new((0..ears).map(|ear| Ear::new(account(ear), timing.difs)).collect(), watched),
            ear_bits: if shared { 0 } else { usize::MAX },
            on_air: Vec::new(),
            past: Vec::new(),
            frames: 0,
            contenders: vec![0; usize::from(most_channel) + 1],
            channels,
            times: vec![MediumTime::default(); access_points].into(),
            timing,
        }
    }

    /// A radio's ear.
    #[inline(always)]
    pub fn ear_of(&self, radio: RadioIndex) -> EarIndex {
        EarIndex(radio.0 & self.ear_bits)
    }

    /// What a radio hears.
    #[inline(always)]
    pub fn ear(&self, radio: RadioIndex) -> &Ear {
        &self.ears[self.ear_of(radio)]
    }

    #[inline(always)]
    pub fn ear_mut(&mut self, radio: RadioIndex) -> &mut Ear {
        let ear = self.ear_of(radio);
        &mut self.ears[ear]
    }

    /// The ear of this number.
    #[inline(always)]
    pub fn at(&self, ear: EarIndex) -> &Ear {
        &self.ears[ear]
    }

    #[inline(always)]
    pub fn at_mut(&mut self, ear: EarIndex) -> &mut Ear {
        &mut self.ears[ear]
    }

    /// The radio that has an ear for itself.
    pub fn owner(&self, ear: EarIndex) -> RadioIndex {
        RadioIndex(ear.0)
    }

    /// Since when the medium is idle, for those who found it so first.
    #[inline(always)]
    pub fn idle_since(&self) -> Option<Time> {
        self.ears.iter().filter(|ear| ear.heard == 0).map(|ear| ear.idle_since).min()
    }

    /// An ear hears the begin of a frame.
    #[inline]
    pub fn hear(&mut self, now: Time, ear: EarIndex, frame: u64, kind: Kind) {
        let ear = &mut self.ears[ear];
        if ear.heard == 0 {
            ear.busy_since = now;
            ear.receiving = Some((frame, kind));
            ear.disturbed = false;
        }
        ear.disturbed |= ear.heard > 0;
        ear.heard += 1;
    }

    /// Who hears a frame that begins now, where each has an ear of its own.
    pub fn heard_by(&mut self, from: RadioIndex, now: Time) -> Vec<Heard> {
        self.hearing.heard_by(from, now, &self.channels)
    }

    /// What each receives who hears a frame that begins amid others, where frames are received in spite of
    /// others.
    pub fn received(
        &self,
        now: Time,
        frame: (u64, Kind, RadioIndex),
        heard_by: &[Heard],
    ) -> Option<Vec<Reception>> {
        let (number, kind, _) = frame;
        let captured = self.hearing.capture().map(|capture| self.captured(now, capture, frame, heard_by));
        match self.hearing.sinr() {
            Some(_) => Some(self.locked(number, kind, heard_by)),
            None => captured,
        }
    }

    /// A frame ends at an ear; whether it is understood there, and whether it reserves the medium there.
    #[inline]
    pub fn end_at(&mut self, now: Time, ear: EarIndex, frame: &Frame, strong: bool) -> (bool, bool) {
        if self.ears[ear].heard == 1 {
            self.ear_changes(now, ear);
        }
        let (eifs, difs) = (self.timing.eifs, self.timing.difs);
        let number = self.owner(ear);
        let ear = &mut self.ears[ear];
        ear.heard -= 1;
        if ear.heard == 0 {
            ear.idle_since = now;
        }
        if ear.receiving.is_none_or(|(receiving, _)| receiving != frame.number) {
            return (false, false);
        }
        ear.receiving = None;
        if ear.disturbed || !strong {
            ear.ifs = eifs;
            return (false, false);
        }
        ear.ifs = difs;
        // The NAV is not of those whom a frame is for, or from; where all share one ear, `reserved_by`
        // excepts them.
        let ours = frame.heard_by.is_empty() || (number != frame.from && number != frame.to);
        let reserves = frame.reserved > ear.nav && ours;
        if reserves {
            ear.nav = frame.reserved;
            ear.reserved_by = [frame.from, frame.to];
        }
        (true, reserves)
    }

    /// What an ear hears is about to change: if it is that of an access point, the account is told.
    #[inline(always)]
    pub fn ear_changes(&mut self, now: Time, ear: EarIndex) {
        let ear = &self.ears[ear];
        if let Some(cell) = ear.account {
            let contenders = self.contenders[usize::from(self.channels[cell.access_point()])];
            let used = ear.use_of_medium(contenders);
            self.times[cell].pass(now, used);
        }
    }

    /// What the medium was used for until now goes into the account of a cell.
    #[inline]
    pub fn passes(&mut self, now: Time, cell: CellIndex) {
        let access_point = cell.access_point();
        let contenders = self.contenders[usize::from(self.channels[access_point])];
        let used = self.ear(access_point).use_of_medium(contenders);
        self.times[cell].pass(now, used);
    }

    /// A radio gets something to send, or has nothing any more.
    pub fn contender(&mut self, now: Time, radio: RadioIndex, comes: bool) {
        let channel = self.channels[radio];
        // Silence is used otherwise where one comes to none, or none is left.
        let changes = self.contenders[usize::from(channel)] == usize::from(!comes);
        for cell in (0..if changes { self.times.len() } else { 0 }).map(CellIndex) {
            let access_point = cell.access_point();
            if self.channels[access_point] == channel && self.ear(access_point).heard == 0 {
                self.passes(now, cell);
            }
        }
        let contenders = &mut self.contenders[usize::from(channel)];
        *contenders = if comes { *contenders + 1 } else { *contenders - 1 };
    }

    /// Another channel, where a radio hears what is on the air there.
    pub fn tune(&mut self, now: Time, number: RadioIndex, channel: u8) {
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
        let difs = self.timing.difs;
        *self.ear_mut(number) = Ear { heard, busy_since: now, idle_since: now, ..Ear::new(None, difs) };
    }

    /// A radio whose ear may have changed since it was asked for last, where each has one and they are
    /// watched.
    pub fn next_changed_ear(&mut self) -> Option<RadioIndex> {
        self.ears.next_change().map(|ear| self.owner(ear))
    }

    /// All ears.
    #[cfg(test)]
    pub fn all_ears(&self) -> Vec<&Ear> {
        self.ears.iter().collect()
    }
}
