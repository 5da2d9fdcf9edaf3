//! Radios: what each has to send, its countdown, and who gets the medium next.
//!
//! - [`radio`]: a radio's queues, and the frame in hand.
//! - [`contention`]: its countdown. [`countdowns`]: countdowns of several radios together. [`turns`]: the
//!   order of many that count apart.
//! - [`edca`]: categories of packets. [`airtime`]: durations of frames. [`rate_control`]: rates.
//! - [`account`]: counts and times of each radio.

pub mod account;
pub mod airtime;
mod contention;
pub mod countdowns;
pub mod edca;
pub mod radio;
pub mod rate_control;
mod together;
mod turns;
pub mod undisturbed;

use self::contention::Rules;
use self::countdowns::Countdowns;
use self::radio::{Attempt, FunctionIndex, Radio};
use self::turns::Turns;
use super::agenda::{Agenda, Step};
use super::config::CellConfig;
use super::index::RadioIndex;
use super::medium::frame::Frame;
use super::medium::{EarIndex, Medium, SHARED_EAR};
use super::watched::{Watched, are_few};
use roamsim_engine::{Span, Time};
use std::ops::{Index, IndexMut};

/// The radios of a medium: first those of the access points, in the order of the cells.
#[derive(Debug)]
pub struct Radios {
    all: Watched<RadioIndex, Radio>,
    /// Those that count down, or have something to send.
    pub listed: Vec<RadioIndex>,
    /// The same where all share one ear and have one function each, so that most of them count together.
    pub countdowns: Option<Box<Countdowns>>,
    /// When each may send, where each has an ear of its own.
    turns: Option<Box<Turns>>,
    /// Stations that want to leave their channels.
    departing: Vec<RadioIndex>,
    /// When the next one gets the medium, unless a step of the agenda comes first.
    pub next_access: Option<Time>,
    /// Categories of radios whose countdowns were over together with that of a higher one.
    collided: Vec<(RadioIndex, usize)>,
    /// The shortest space before contention.
    least_ifs: Span,
    rules: Rules,
}

/// Whether radios, where they have an ear each or share one, are kept in the order in which they may send.
pub fn take_turns(radios: usize, shared: bool) -> bool {
    !shared && !are_few(radios)
}

impl Radios {
    /// Silent ones, which share one ear or have one each.
    pub fn new(all: Vec<Radio>, config: &CellConfig, shared: bool) -> Radios {
        let in_turns = take_turns(all.len(), shared);
        let accesses = [false, true].map(|access_point| config.accesses(access_point));
        let spaces = accesses.iter().flatten().map(|access| access.ifs);
        Radios {
            listed: Vec::new(),
            countdowns: (shared && config.edca.is_none()).then(|| Box::new(Countdowns::new(all.len()))),
            turns: in_turns.then(|| Box::new(Turns::new(all.len()))),
            departing: Vec::new(),
            next_access: None,
            collided: Vec::new(),
            least_ifs: spaces.min().unwrap_or(config.timing.difs),
            rules: Rules { timing: config.timing, freezing: config.freezing },
            all: Watched::new(all, in_turns),
        }
    }

    pub fn len(&self) -> usize {
        self.all.len()
    }

    pub fn numbers(&self) -> impl Iterator<Item = RadioIndex> + use<> {
        (0..self.all.len()).map(RadioIndex)
    }

    pub fn iter(&self) -> std::slice::Iter<'_, Radio> {
        self.all.iter()
    }

    /// A radio has something to send, or to count.
    pub fn list(&mut self, radio: RadioIndex) {
        if self.all[radio].listed_at.is_none() {
            self.all[radio].listed_at = Some(self.listed.len());
            self.listed.push(radio);
            if let Some(countdowns) = &mut self.countdowns {
                countdowns.apart.push(radio);
            }
        }
    }

    /// Takes a radio out of the list.
    fn unlist_one(&mut self, number: RadioIndex) {
        let Some(place) = self.all[number].listed_at.take() else { return };
        self.listed.swap_remove(place);
        if let Some(&moved) = self.listed.get(place) {
            self.all[moved].listed_at = Some(place);
        }
    }

    /// A packet comes to one of a radio's functions, which has none.
    pub fn first_packet(&mut self, now: Time, number: RadioIndex, place: FunctionIndex, medium: &mut Medium) {
        self.stand_apart(number);
        let undecided =
            self.all[number].begin_to_contend(place, now, number, medium.ear(number), &self.rules);
        if undecided {
            medium.ear_mut(number).undecided = true;
        }
        medium.contender(now, number, true);
    }

    /// When a radio may send, if the medium stays idle; `None` where it has nothing to send, or is at it.
    #[inline(always)]
    fn access_time(&self, number: RadioIndex, medium: &Medium) -> Option<Time> {
        self.all[number].access_time(number, medium.ear(number), &self.rules)
    }

    /// Looks who gets the medium next.
    pub fn plan(&mut self, medium: &mut Medium, agenda: &Agenda) {
        if self.turns.is_some() {
            self.next_access = self.first_turn(medium);
            return;
        }
        // Nobody does within an interframe space of the end of the last frame, and the answer to it comes
        // before.
        self.next_access = medium.idle_since().and_then(|idle_since| {
            let next = agenda.next();
            if next.is_some_and(|next| next < idle_since + self.least_ifs) {
                return None;
            }
            match &self.countdowns {
                Some(countdowns) => {
                    let ear = medium.at(SHARED_EAR);
                    let access_time =
                        |&number: &RadioIndex| self.all[number].access_time(number, ear, &self.rules);
                    let apart = countdowns.apart.iter().filter_map(access_time);
                    apart.chain(self.access_together(countdowns, medium)).min()
                }
                None => self.listed.iter().filter_map(|&number| self.access_time(number, medium)).min(),
            }
        });
    }

    /// Looks who gets the medium next, when one radio that had nothing to send has something: nobody else's
    /// time changes.
    pub fn plan_with(&mut self, number: RadioIndex, medium: &mut Medium, agenda: &Agenda) {
        if self.countdowns.is_none() {
            return self.plan(medium, agenda);
        }
        let access = medium.idle_since().and_then(|idle_since| {
            let next = agenda.next();
            let waits = next.is_some_and(|next| next < idle_since + self.least_ifs);
            if waits { None } else { self.access_time(number, medium) }
        });
        self.next_access = match (access, self.next_access) {
            (Some(access), Some(others)) => Some(access.min(others)),
            (access, others) => access.or(others),
        };
        if cfg!(debug_assertions) {
            let next_access = self.next_access;
            self.plan(medium, agenda);
            assert_eq!(next_access, self.next_access);
        }
    }

    /// When the first radio may send.
    fn first_turn(&mut self, medium: &mut Medium) -> Option<Time> {
        let mut turns = self.turns.take()?;
        while let Some(radio) = self.all.next_change().or_else(|| medium.next_changed_ear()) {
            let listed = self.all[radio].listed_at.is_some();
            turns.set(radio, if listed { self.access_time(radio, medium) } else { None });
        }
        let first = turns.first();
        debug_assert_eq!(
            first,
            self.listed.iter().filter_map(|&number| self.access_time(number, medium)).min()
        );
        self.turns = Some(turns);
        first
    }

    /// Those whose turn it is, in the order of the list.
    fn due_by(&mut self, now: Time, medium: &mut Medium, due: &mut Vec<RadioIndex>) {
        self.first_turn(medium);
        let Some(turns) = &self.turns else { return };
        due.extend(turns.due_by(now));
        due.sort_unstable_by_key(|&radio| self.all[radio].listed_at);
    }

    /// Those whose countdown ends now. They begin whatever begins at the same instant, of which they cannot
    /// know.
    pub fn choose_winners(&mut self, now: Time, medium: &mut Medium, winners: &mut Vec<RadioIndex>) {
        if self.countdowns.is_some() {
            self.over_by(now, medium, winners);
        } else if self.turns.is_some() {
            self.due_by(now, medium, winners);
        } else {
            let ends_now =
                |&number: &RadioIndex| self.access_time(number, medium).is_some_and(|time| time <= now);
            winners.extend(self.listed.iter().copied().filter(ends_now));
        }
        for &number in winners.iter() {
            if !self.all[number].others.is_empty() {
                self.highest_wins(now, number, medium);
            }
            let radio = &mut self.all[number];
            radio.attempt = Attempt::Since(now);
            radio.own.backoff_slots = None;
            radio.txop_until = now + radio.own.access.txop_limit;
        }
    }

    /// Of the categories of a radio whose countdowns end now the highest one sends; the others have collided
    /// with it (clause 9.9.1.3).
    fn highest_wins(&mut self, now: Time, number: RadioIndex, medium: &Medium) {
        let (radio, ear) = (&self.all[number], medium.ear(number));
        let times = radio
            .functions()
            .map(|function| (function, radio.access_time_of(function, number, ear, &self.rules)));
        let ends_now = times.filter(|(_, time)| time.is_some_and(|time| time <= now));
        let mut categories: Vec<usize> = ends_now.map(|(function, _)| function.category).collect();
        categories.sort_unstable();
        let Some(highest) = categories.pop() else { return };
        self.collided.extend(categories.into_iter().map(|category| (number, category)));
        let radio = &mut self.all[number];
        radio.put_to_work(radio.place_of(highest));
    }

    /// Who has collided with a higher category of its radio doubles its window, as after other collisions
    /// (clause 9.9.1.5).
    pub fn collide_inside(&mut self) {
        while let Some((number, category)) = self.collided.pop() {
            let radio = &mut self.all[number];
            let place = radio.place_of(category);
            let function = radio.function_mut(place);
            function.time.internal_collisions += 1;
            function.widen();
            radio.draw_backoff(place);
        }
    }

    /// The medium becomes busy for all who share an ear: their countdowns stop.
    pub fn freeze(&mut self, now: Time, ear: EarIndex, medium: &mut Medium) {
        let undecided = std::mem::replace(&mut medium.at_mut(ear).undecided, false);
        if now <= medium.at(ear).idle_since + self.rules.timing.sifs && !undecided {
            // An answer: nobody has begun to count.
            return;
        }
        if self.countdowns.is_some() {
            return self.freeze_together(now, medium);
        }
        if self.turns.is_some() {
            let owner = medium.owner(ear);
            if self.all[owner].listed_at.is_some() && !self.freeze_one(now, owner, medium) {
                self.unlist_one(owner);
            }
            return;
        }
        let mut place = 0;
        while let Some(&number) = self.listed.get(place) {
            if medium.ear_of(number) != ear || self.freeze_one(now, number, medium) {
                place += 1;
            } else {
                self.unlist_one(number);
            }
        }
    }

    /// The countdowns of a radio stop; whether it has anything to send, or to count.
    fn freeze_one(&mut self, now: Time, number: RadioIndex, medium: &Medium) -> bool {
        self.all[number].freeze_all(now, number, medium.ear(number), &self.rules)
    }

    /// Whether some radio wants to leave its channel.
    #[inline(always)]
    pub fn any_departs(&self) -> bool {
        !self.departing.is_empty()
    }

    /// A radio wants to leave its channel: its packets wait.
    pub fn wants_to_depart(&mut self, number: RadioIndex) {
        self.all[number].blocked = true;
        if !self.departing.contains(&number) {
            self.departing.push(number);
        }
    }

    /// The next one, from a place in their list on, that leaves its channel: it is not in a frame exchange,
    /// its own or another radio's with it.
    pub fn next_to_depart(
        &mut self,
        now: Time,
        place: &mut usize,
        medium: &Medium,
        agenda: &mut Agenda,
    ) -> Option<RadioIndex> {
        while let Some(&number) = self.departing.get(*place) {
            let radio = &self.all[number];
            let heard_by = |frame: &Frame| frame.heard_by.iter().any(|&(hearer, _)| hearer == number);
            let takes_part = |frame: &Frame| frame.from == number || (frame.to == number && heard_by(frame));
            let invites_until = radio.invites_until;
            if now < invites_until {
                agenda.put(invites_until, Step::Free);
                *place += 1;
                continue;
            }
            if radio.attempt != Attempt::None || radio.answers || medium.on_air.iter().any(takes_part) {
                *place += 1;
                continue;
            }
            self.departing.swap_remove(*place);
            return Some(number);
        }
        None
    }

    /// What a radio has in hand is put aside; management frames of the channel that it leaves are of no use.
    pub fn park(&mut self, now: Time, number: RadioIndex, medium: &mut Medium) {
        self.all[number].management.clear();
        for place in self.all[number].places() {
            let function = self.all[number].function_mut(place);
            function.cw = function.access.cw_min;
            if let Some(head) = function.head.take() {
                if head.holds_packet() {
                    function.parked = Some(head);
                }
                medium.contender(now, number, false);
            }
        }
    }
}

impl Index<RadioIndex> for Radios {
    type Output = Radio;

    #[inline(always)]
    fn index(&self, number: RadioIndex) -> &Radio {
        &self.all[number]
    }
}

impl IndexMut<RadioIndex> for Radios {
    #[inline(always)]
    fn index_mut(&mut self, number: RadioIndex) -> &mut Radio {
        &mut self.all[number]
    }
}
