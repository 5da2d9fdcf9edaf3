//! Radios that count together, where all share one ear: [`Countdowns`] has them.

use super::Radios;
use super::countdowns::Countdowns;
use super::radio::{AT_WORK, Attempt};
use crate::link::wifi::config::Freezing;
use crate::link::wifi::index::RadioIndex;
use crate::link::wifi::medium::{Medium, SHARED_EAR};
use roamsim_engine::Time;

impl Radios {
    /// A radio is reckoned by itself until the medium becomes busy the next time.
    #[inline]
    pub fn stand_apart(&mut self, number: RadioIndex) {
        if let Some(countdowns) = &self.countdowns
            && countdowns.has(number)
        {
            self.part(number);
        }
    }

    #[inline(never)]
    fn part(&mut self, number: RadioIndex) {
        if let Some(countdowns) = &mut self.countdowns
            && let Some(left) = countdowns.leave(number)
        {
            countdowns.apart.push(number);
            self.all[number].own.backoff_slots = Some(left);
        }
    }

    /// When those who count together go on, if the medium stays idle: as [`super::radio::Radio::resumes`] has
    /// it of single ones.
    fn resume_together(&self, medium: &Medium) -> Time {
        let ear = medium.at(SHARED_EAR);
        let time = ear.idle_since + ear.ifs;
        if ear.nav > ear.idle_since { time.max(ear.nav + self.rules.timing.difs) } else { time }
    }

    /// When the first of those who count together may send, if the medium stays idle.
    pub(super) fn access_together(&self, countdowns: &Countdowns, medium: &Medium) -> Option<Time> {
        let (_, left) = countdowns.first()?;
        (medium.at(SHARED_EAR).heard == 0)
            .then(|| self.resume_together(medium) + self.rules.timing.slot * u64::from(left))
    }

    /// Those whose countdown is over by now, and who have something to send, in the order of the list.
    pub(super) fn over_by(&mut self, now: Time, medium: &Medium, over: &mut Vec<RadioIndex>) {
        let Some(countdowns) = &self.countdowns else { return };
        let is_over = |&number: &RadioIndex| self.access_time(number, medium).is_some_and(|time| time <= now);
        over.extend(countdowns.apart.iter().copied().filter(is_over));
        while let Some(countdowns) = &self.countdowns
            && self.access_together(countdowns, medium).is_some_and(|time| time <= now)
            && let Some((number, _)) = countdowns.first()
        {
            self.stand_apart(number);
            over.push(number);
        }
        over.sort_unstable_by_key(|&number| self.all[number].listed_at);
    }

    /// The medium becomes busy: countdowns stop.
    pub(super) fn freeze_together(&mut self, now: Time, medium: &Medium) {
        let resumed = self.resume_together(medium);
        let Some(mut countdowns) = self.countdowns.take() else { return };
        let (mut done, mut decided) = (Vec::new(), Vec::new());
        if resumed <= now {
            let passed = now.since(resumed).as_ns() / self.rules.timing.slot.as_ns();
            countdowns.pass(passed, |number, has_something| {
                self.all[number].own.backoff_slots = None;
                if has_something { &mut decided } else { &mut done }.push(number);
            });
        }
        if self.rules.freezing == Freezing::CountsBusyPeriods {
            countdowns.count_busy_period();
        }
        let ear = medium.at(SHARED_EAR);
        let (reserved, reserved_by) = (ear.nav > now, ear.reserved_by);
        let mut place = 0;
        while let Some(&number) = countdowns.apart.get(place) {
            let radio = &mut self.all[number];
            if radio.attempt != Attempt::None {
                place += 1;
                continue;
            }
            let stays = radio.freeze(AT_WORK, now, number, ear, &self.rules);
            let function = &radio.own;
            match function.backoff_slots.filter(|_| stays) {
                Some(_) if reserved && reserved_by.contains(&number) => {
                    place += 1;
                    continue;
                }
                Some(left) => countdowns.join(number, left, function.head.is_some()),
                None if stays => {
                    place += 1;
                    continue;
                }
                None => done.push(number),
            }
            countdowns.apart.swap_remove(place);
        }
        countdowns.apart.extend(decided);
        self.countdowns = Some(countdowns);
        self.unlist(done);
    }

    /// Takes radios out of the list, in its order: the last of it moves up to each place that falls free.
    fn unlist(&mut self, mut done: Vec<RadioIndex>) {
        while let Some(next) = (0..done.len()).min_by_key(|&next| self.all[done[next]].listed_at) {
            let number = done.swap_remove(next);
            self.unlist_one(number);
        }
    }
}

#[cfg(test)]
impl Radios {
    /// When the countdown of a radio's function at work goes on.
    pub fn resumes(&self, number: RadioIndex, medium: &Medium) -> Time {
        let radio = &self.all[number];
        radio.resumes(&radio.own, number, medium.ear(number), &self.rules)
    }

    /// The slots that a radio has left.
    pub fn slots(&self, number: RadioIndex) -> Option<u32> {
        let together = self.countdowns.as_ref().and_then(|countdowns| countdowns.slots(number));
        together.or(self.all[number].own.backoff_slots)
    }

    /// Gives a radio another countdown.
    pub fn set_slots(&mut self, number: RadioIndex, slots: Option<u32>) {
        self.stand_apart(number);
        self.all[number].own.backoff_slots = slots;
    }
}
