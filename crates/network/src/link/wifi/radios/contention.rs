//! How one radio contends for the medium: interframe spaces, and back-off in slots that freezes while the
//! medium is busy (clauses 9.2.3, 9.2.5.1, 9.2.5.2). What it hears is its ear's.

use super::radio::{AT_WORK, Attempt, Function, FunctionIndex, Radio};
use crate::link::wifi::config::Freezing;
use crate::link::wifi::index::RadioIndex;
use crate::link::wifi::medium::ear::Ear;
use crate::link::wifi::phy::Timing;
use roamsim_engine::Time;

/// What all countdowns of a medium go by.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    pub timing: Timing,
    pub freezing: Freezing,
}

impl Radio {
    /// When the countdown of one of its functions goes on, if the medium stays idle. It has this number.
    pub fn resumes(&self, function: &Function, number: RadioIndex, ear: &Ear, rules: &Rules) -> Time {
        let (difs, own_ifs) = (rules.timing.difs, function.access.ifs);
        // Who sent in the last busy period has not received anything that it could have misunderstood.
        let ifs = if self.sent.1 > ear.busy_since { difs } else { ear.ifs };
        // EIFS is as much longer than DIFS for every category (clause 9.2.10).
        let mut time = (ear.idle_since + (ifs + own_ifs).saturating_sub(difs)).max(self.not_before);
        if ear.nav > ear.idle_since && !ear.reserved_by.contains(&number) {
            time = time.max(ear.nav + own_ifs);
        }
        time
    }

    /// When it may send, if the medium stays idle; `None` where it has nothing to send, or is at it.
    #[inline(always)]
    pub fn access_time(&self, number: RadioIndex, ear: &Ear, rules: &Rules) -> Option<Time> {
        if self.attempt != Attempt::None || ear.heard > 0 {
            return None;
        }
        let own = self.access_time_of(&self.own, number, ear, rules);
        if self.others.is_empty() {
            return own;
        }
        let others =
            self.others.iter().filter_map(|function| self.access_time_of(function, number, ear, rules));
        own.into_iter().chain(others).min()
    }

    /// The same of one of its functions.
    #[inline]
    pub fn access_time_of(
        &self,
        function: &Function,
        number: RadioIndex,
        ear: &Ear,
        rules: &Rules,
    ) -> Option<Time> {
        function.head.as_ref()?;
        let countdown_end =
            self.resumes(function, number, ear, rules) + function.countdown(rules.timing.slot);
        // Clause 9.2.5.1: at once when the countdown was over before the frame came.
        Some(countdown_end.max(function.contends_since))
    }

    /// The first packet comes to one of its functions, which contends from now on. Whether it may send
    /// without a countdown.
    pub fn begin_to_contend(
        &mut self,
        place: FunctionIndex,
        now: Time,
        number: RadioIndex,
        ear: &Ear,
        rules: &Rules,
    ) -> bool {
        let mut undecided = false;
        if ear.heard > 0 || ear.nav > now || self.answers || self.attempt != Attempt::None {
            if self.function(place).backoff_slots.is_none() {
                // Clause 9.2.5.1: a medium that is found busy means a back-off.
                self.draw_backoff(place);
            }
        } else {
            // Slots counted down in silence before the frame came need not be counted again.
            let resumed = self.resumes(self.function(place), number, ear, rules);
            let function = self.function_mut(place);
            if resumed + function.countdown(rules.timing.slot) <= now {
                function.backoff_slots = None;
            }
            undecided = function.backoff_slots.is_none();
        }
        self.function_mut(place).contends_since = now;
        undecided
    }

    /// The countdowns of all its functions stop; whether it has anything to send, or to count.
    pub fn freeze_all(&mut self, now: Time, number: RadioIndex, ear: &Ear, rules: &Rules) -> bool {
        let mut stays = self.attempt != Attempt::None;
        if !stays {
            stays = self.freeze(AT_WORK, now, number, ear, rules);
        }
        for other in self.places().skip(1) {
            stays |= self.freeze(other, now, number, ear, rules);
        }
        stays
    }

    /// The countdown of one of its functions stops; whether that has anything to send, or to count.
    #[inline(always)]
    pub fn freeze(
        &mut self,
        place: FunctionIndex,
        now: Time,
        number: RadioIndex,
        ear: &Ear,
        rules: &Rules,
    ) -> bool {
        let resumed = self.resumes(self.function(place), number, ear, rules);
        let function = self.function_mut(place);
        let pending = function.backoff_slots.is_some();
        function.count_down(resumed, now, rules.timing.slot);
        if rules.freezing == Freezing::CountsBusyPeriods {
            function.backoff_slots = function.backoff_slots.map(|slots| slots.saturating_sub(1));
        }
        match (function.head.is_none(), function.backoff_slots) {
            (true, None) => return false,
            // Clause 9.2.5.1: it was about to send without a countdown, and finds the medium busy.
            (false, None) if !pending => self.draw_backoff(place),
            _ => {}
        }
        true
    }
}
