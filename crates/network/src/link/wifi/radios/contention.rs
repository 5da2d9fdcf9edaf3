//! Who gets the medium next: interframe spaces, and back-off in slots that freezes while the medium is busy
//! (clauses 9.2.3, 9.2.5.1, 9.2.5.2).

use crate::link::wifi::Cell;
use crate::link::wifi::config::Freezing;
use crate::link::wifi::radios::radio::{Attempt, Function, Radio};
use roamsim_engine::Time;

impl Cell {
    pub(in crate::link::wifi) fn list(&mut self, radio: usize) {
        if self.radios[radio].listed_at.is_none() {
            self.radios[radio].listed_at = Some(self.listed.len());
            self.listed.push(radio);
            if let Some(countdowns) = &mut self.countdowns {
                countdowns.apart.push(radio);
            }
        }
    }

    /// A packet comes to a radio's function at work, which has none.
    pub(in crate::link::wifi) fn first_packet(&mut self, now: Time, number: usize) {
        self.stand_apart(number);
        let radio = &self.radios[number];
        let ear = &self.ears[radio.ear];
        if ear.heard > 0 || ear.nav > now || radio.answers || radio.attempt != Attempt::None {
            let radio = &mut self.radios[number];
            if radio.own.backoff_slots.is_none() {
                // Clause 9.2.5.1: a medium that is found busy means a back-off.
                radio.draw_backoff();
            }
        } else {
            // Slots counted down in silence before the frame came need not be counted again.
            let resumed = self.resumes(radio, &radio.own, number);
            let slot = self.config.timing.slot;
            let radio = &mut self.radios[number];
            if resumed + radio.own.countdown(slot) <= now {
                radio.own.backoff_slots = None;
            }
            let (ear, decided) = (radio.ear, radio.own.backoff_slots.is_some());
            self.ears[ear].undecided |= !decided;
        }
        self.radios[number].own.contends_since = now;
        self.contender(now, number, true);
    }

    /// When a countdown of a radio goes on, if the medium stays idle.
    pub(in crate::link::wifi) fn resumes(&self, radio: &Radio, function: &Function, number: usize) -> Time {
        let ear = &self.ears[radio.ear];
        let (difs, own_ifs) = (self.config.timing.difs, function.access.ifs);
        // Who sent in the last busy period has not received anything that it could have misunderstood.
        let ifs = if radio.sent.1 > ear.busy_since { difs } else { ear.ifs };
        // EIFS is as much longer than DIFS for every category (clause 9.2.10).
        let mut time = (ear.idle_since + (ifs + own_ifs).saturating_sub(difs)).max(radio.not_before);
        if ear.nav > ear.idle_since && !ear.reserved_by.contains(&number) {
            time = time.max(ear.nav + own_ifs);
        }
        time
    }

    /// When a radio may send, if the medium stays idle; `None` where it has nothing to send, or is at it.
    pub(in crate::link::wifi) fn access_time(&self, number: usize) -> Option<Time> {
        let radio = &self.radios[number];
        if radio.attempt != Attempt::None || self.ears[radio.ear].heard > 0 {
            return None;
        }
        let own = self.access_time_of(radio, &radio.own, number);
        if radio.others.is_empty() {
            return own;
        }
        let others = radio.others.iter().filter_map(|function| self.access_time_of(radio, function, number));
        own.into_iter().chain(others).min()
    }

    /// The same of one of its functions.
    #[inline]
    fn access_time_of(&self, radio: &Radio, function: &Function, number: usize) -> Option<Time> {
        function.head.as_ref()?;
        let countdown_end =
            self.resumes(radio, function, number) + function.countdown(self.config.timing.slot);
        // Clause 9.2.5.1: at once when the countdown was over before the frame came.
        Some(countdown_end.max(function.contends_since))
    }

    /// Looks who gets the medium next.
    pub(in crate::link::wifi) fn plan(&mut self) {
        if self.turns.is_some() {
            self.next_access = self.first_turn();
            return;
        }
        // Nobody does within an interframe space of the end of the last frame, and the answer to it comes
        // before.
        let idle_since = self.ears.iter().filter(|ear| ear.heard == 0).map(|ear| ear.idle_since).min();
        self.next_access = idle_since.and_then(|idle_since| {
            let next = self.agenda.next();
            if next.is_some_and(|next| next < idle_since + self.least_ifs) {
                return None;
            }
            match &self.countdowns {
                Some(countdowns) => {
                    let apart = countdowns.apart.iter().filter_map(|&number| self.access_time(number));
                    apart.chain(self.access_together(countdowns)).min()
                }
                None => self.listed.iter().filter_map(|&number| self.access_time(number)).min(),
            }
        });
    }

    /// Looks who gets the medium next, when one radio that had nothing to send has something: nobody else's
    /// time changes.
    pub(in crate::link::wifi) fn plan_with(&mut self, number: usize) {
        if self.countdowns.is_none() {
            return self.plan();
        }
        let idle_since = Some(&self.ears[0]).filter(|ear| ear.heard == 0).map(|ear| ear.idle_since);
        let access = idle_since.and_then(|idle_since| {
            let next = self.agenda.next();
            let waits = next.is_some_and(|next| next < idle_since + self.least_ifs);
            if waits { None } else { self.access_time(number) }
        });
        self.next_access = match (access, self.next_access) {
            (Some(access), Some(others)) => Some(access.min(others)),
            (access, others) => access.or(others),
        };
        if cfg!(debug_assertions) {
            let next_access = self.next_access;
            self.plan();
            assert_eq!(next_access, self.next_access);
        }
    }

    /// Those whose countdown ends now. They begin whatever begins at the same instant, of which they cannot
    /// know.
    pub(in crate::link::wifi) fn choose_winners(&mut self, now: Time, winners: &mut Vec<usize>) {
        let ends_now = |&number: &usize| self.access_time(number).is_some_and(|time| time <= now);
        match &self.countdowns {
            Some(_) => self.over_by(now, winners),
            None if self.turns.is_some() => self.due_by(now, winners),
            None => winners.extend(self.listed.iter().copied().filter(ends_now)),
        }
        for &number in winners.iter() {
            if !self.radios[number].others.is_empty() {
                self.highest_wins(now, number);
            }
            let radio = &mut self.radios[number];
            radio.attempt = Attempt::Since(now);
            radio.own.backoff_slots = None;
            radio.txop_until = now + radio.own.access.txop_limit;
        }
    }

    /// Of the categories of a radio whose countdowns end now the highest one sends; the others have collided
    /// with it (clause 9.9.1.3).
    fn highest_wins(&mut self, now: Time, number: usize) {
        let radio = &self.radios[number];
        let ends_now = |function: &&Function| {
            self.access_time_of(radio, function, number).is_some_and(|time| time <= now)
        };
        let mut categories: Vec<usize> =
            radio.functions().filter(ends_now).map(|function| function.category).collect();
        categories.sort_unstable();
        let Some(highest) = categories.pop() else { return };
        self.collided.extend(categories.into_iter().map(|category| (number, category)));
        let radio = &mut self.radios[number];
        radio.turn_to(radio.place_of(highest));
    }

    /// Who has collided with a higher category of its radio doubles its window, as after other collisions
    /// (clause 9.9.1.5).
    pub(in crate::link::wifi) fn collide_inside(&mut self) {
        while let Some((number, category)) = self.collided.pop() {
            let radio = &mut self.radios[number];
            let place = radio.place_of(category);
            radio.turn_to(place);
            radio.own.time.internal_collisions += 1;
            radio.own.widen();
            radio.draw_backoff();
            radio.turn_to(place);
        }
    }

    /// The medium becomes busy for all who share an ear: their countdowns stop.
    pub(in crate::link::wifi) fn freeze(&mut self, now: Time, ear: usize) {
        let undecided = std::mem::replace(&mut self.ears[ear].undecided, false);
        if now <= self.ears[ear].idle_since + self.config.timing.sifs && !undecided {
            // An answer: nobody has begun to count.
            return;
        }
        if self.countdowns.is_some() {
            return self.freeze_together(now);
        }
        if self.turns.is_some() {
            // The ear is of the radio of its number alone.
            if self.radios[ear].listed_at.is_some() && !self.freeze_one(now, ear) {
                self.unlist_one(ear);
            }
            return;
        }
        let mut place = 0;
        while let Some(&number) = self.listed.get(place) {
            if self.radios[number].ear != ear || self.freeze_one(now, number) {
                place += 1;
            } else {
                self.unlist_one(number);
            }
        }
    }

    /// The countdowns of a radio stop; whether it has anything to send, or to count.
    fn freeze_one(&mut self, now: Time, number: usize) -> bool {
        let mut stays = self.radios[number].attempt != Attempt::None;
        if !stays {
            stays = self.freeze_own(now, number);
        }
        for other in 1..=self.radios[number].others.len() {
            self.radios[number].turn_to(other);
            stays |= self.freeze_own(now, number);
            self.radios[number].turn_to(other);
        }
        stays
    }

    /// The countdown of a radio's function at work stops; whether it has anything to send, or to count.
    #[inline]
    pub(in crate::link::wifi) fn freeze_own(&mut self, now: Time, number: usize) -> bool {
        let radio = &self.radios[number];
        let resumed = self.resumes(radio, &radio.own, number);
        let radio = &mut self.radios[number];
        let function = &mut radio.own;
        let pending = function.backoff_slots.is_some();
        function.count_down(resumed, now, self.config.timing.slot);
        if self.config.freezing == Freezing::CountsBusyPeriods {
            function.backoff_slots = function.backoff_slots.map(|slots| slots.saturating_sub(1));
        }
        match (function.head.is_none(), function.backoff_slots) {
            (true, None) => return false,
            // Clause 9.2.5.1: it was about to send without a countdown, and finds the medium busy.
            (false, None) if !pending => radio.draw_backoff(),
            _ => {}
        }
        true
    }
}
