//! Who gets the medium next: interframe spaces, and back-off in slots that freezes while the medium is busy (clauses 9.2.3,
//! 9.2.5.1, 9.2.5.2).

use super::config::Freezing;
use super::radio::{Attempt, Radio};
use super::{Cell, Reverse};
use roamsim_engine::Time;

impl Cell {
    pub(super) fn list(&mut self, radio: usize) {
        if !std::mem::replace(&mut self.radios[radio].listed, true) {
            self.listed.push(radio);
        }
    }

    /// A packet comes to a radio that has none.
    pub(super) fn first_packet(&mut self, now: Time, number: usize) {
        let radio = &self.radios[number];
        let ear = &self.ears[radio.ear];
        if ear.heard > 0 || ear.nav > now || radio.answers {
            let radio = &mut self.radios[number];
            if radio.backoff_slots.is_none() {
                // Clause 9.2.5.1: a medium that is found busy means a back-off.
                radio.draw_backoff();
            }
        } else {
            // Slots counted down in silence before the frame came need not be counted again.
            let resumed = self.resumes(radio, number);
            let slot = self.config.timing.slot;
            let radio = &mut self.radios[number];
            if resumed + radio.countdown(slot) <= now {
                radio.backoff_slots = None;
                let ear = radio.ear;
                self.ears[ear].undecided = true;
            }
        }
        self.radios[number].contends_since = now;
        self.contender(now, number, true);
    }

    /// When a radio's countdown goes on, if the medium stays idle.
    pub(super) fn resumes(&self, radio: &Radio, number: usize) -> Time {
        let ear = &self.ears[radio.ear];
        // Who sent in the last busy period has not received anything that it could have misunderstood.
        let ifs = if radio.sent.1 > ear.busy_since { self.config.timing.difs } else { ear.ifs };
        let mut time = (ear.idle_since + ifs).max(radio.not_before);
        if ear.nav > ear.idle_since && !ear.reserved_by.contains(&number) {
            time = time.max(ear.nav + self.config.timing.difs);
        }
        time
    }

    /// When a radio may send, if the medium stays idle; `None` where it has nothing to send, or is at it.
    pub(super) fn access_time(&self, number: usize) -> Option<Time> {
        let radio = &self.radios[number];
        if radio.head.is_none() || radio.attempt != Attempt::None || self.ears[radio.ear].heard > 0 {
            return None;
        }
        let countdown_end = self.resumes(radio, number) + radio.countdown(self.config.timing.slot);
        // Clause 9.2.5.1: at once when the countdown was over before the frame came.
        Some(countdown_end.max(radio.contends_since))
    }

    /// Looks who gets the medium next.
    pub(super) fn plan(&mut self) {
        // Nobody does within DIFS of the end of the last frame, and the answer to it comes before.
        let idle_since = self.ears.iter().filter(|ear| ear.heard == 0).map(|ear| ear.idle_since).min();
        self.next_access = match (idle_since, self.agenda.peek()) {
            (None, _) => None,
            (Some(idle_since), Some(Reverse((time, ..)))) if *time < idle_since + self.config.timing.difs => {
                None
            }
            _ => self.listed.iter().filter_map(|&number| self.access_time(number)).min(),
        };
    }

    /// Those whose countdown ends now. They begin whatever begins at the same instant, of which they cannot know.
    pub(super) fn winners(&mut self, now: Time) -> Vec<usize> {
        if self.next_access.is_none_or(|time| time > now) {
            return Vec::new();
        }
        let ends_now = |&number: &usize| self.access_time(number).is_some_and(|time| time <= now);
        let winners: Vec<usize> = self.listed.iter().copied().filter(ends_now).collect();
        for &number in &winners {
            self.radios[number].attempt = Attempt::Since(now);
            self.radios[number].backoff_slots = None;
        }
        winners
    }

    /// The medium becomes busy for all who share an ear: their countdowns stop.
    pub(super) fn freeze(&mut self, now: Time, ear: usize) {
        let undecided = std::mem::replace(&mut self.ears[ear].undecided, false);
        if now <= self.ears[ear].idle_since + self.config.timing.sifs && !undecided {
            // An answer: nobody has begun to count.
            return;
        }
        let mut place = 0;
        while let Some(&number) = self.listed.get(place) {
            place += 1;
            let radio = &self.radios[number];
            if radio.ear != ear || radio.attempt != Attempt::None {
                continue;
            }
            let resumed = self.resumes(radio, number);
            let radio = &mut self.radios[number];
            let pending = radio.backoff_slots.is_some();
            radio.count_down(resumed, now, self.config.timing.slot);
            if self.config.freezing == Freezing::CountsBusyPeriods {
                radio.backoff_slots = radio.backoff_slots.map(|slots| slots.saturating_sub(1));
            }
            match (radio.head.is_none(), radio.backoff_slots) {
                (true, None) => {
                    radio.listed = false;
                    place -= 1;
                    self.listed.swap_remove(place);
                }
                // Clause 9.2.5.1: it was about to send without a countdown, and finds the medium busy.
                (false, None) if !pending => radio.draw_backoff(),
                _ => {}
            }
        }
    }
}
