//! What is to happen in a medium, in order of time; at one instant in the order in which it was put there.
//!
//! Steps of frame exchanges are few and near. Timers of stations are many and far, and a station that sets another one leaves its old
//! one where it is: they are kept apart.

use super::exchange::Step;
use roamsim_engine::Time;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// What lies ahead, each with its number in the order of being put there.
#[derive(Debug, Default)]
pub(super) struct Agenda {
    /// Of exchanges, the next one last: what is put there is nearly always among the next.
    steps: VecDeque<(Time, u64, Step)>,
    /// Of stations: the radio, and the timer's number.
    timers: BinaryHeap<Reverse<(Time, u64, usize, u64)>>,
    put: u64,
}

impl Agenda {
    /// Puts a step there, behind all of its instant.
    pub fn put(&mut self, at: Time, step: Step) {
        self.put += 1;
        if let Step::Station(radio, timer) = step {
            return self.timers.push(Reverse((at, self.put, radio, timer)));
        }
        if self.steps.front().is_none_or(|&(last, ..)| last <= at) {
            return self.steps.push_front((at, self.put, step));
        }
        let later = self.steps.iter().rposition(|&(other, ..)| other > at);
        self.steps.insert(later.map_or(0, |later| later + 1), (at, self.put, step));
    }

    /// Whether nothing lies ahead.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty() && self.timers.is_empty()
    }

    /// When the next one is due.
    #[inline(always)]
    pub fn next(&self) -> Option<Time> {
        let step = self.steps.back().map(|&(at, ..)| at);
        match self.timers.peek() {
            Some(&Reverse((at, ..))) => Some(step.map_or(at, |step| step.min(at))),
            None => step,
        }
    }

    /// Takes the next one that is due by now.
    #[inline(always)]
    pub fn take_due(&mut self, now: Time) -> Option<Step> {
        if let Some(&Reverse((at, put, radio, timer))) = self.timers.peek()
            && at <= now
            && self.steps.back().is_none_or(|&(step_at, step_put, _)| (at, put) < (step_at, step_put))
        {
            self.timers.pop();
            return Some(Step::Station(radio, timer));
        }
        self.steps.pop_back_if(|&mut (at, ..)| at <= now).map(|(.., step)| step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_come_in_order_of_time_and_then_of_being_put_there() {
        let mut agenda = Agenda::default();
        let at = Time::from_ns;
        // Steps of exchanges, and of stations.
        let step =
            |number: u64| if number.is_multiple_of(2) { Step::End(number) } else { Step::Station(1, number) };
        for (number, ns) in [(0, 5), (1, 3), (2, 5), (3, 9), (4, 3), (5, 5), (6, 1), (7, 3), (8, 5)] {
            agenda.put(at(ns), step(number));
        }
        assert_eq!((agenda.next(), agenda.take_due(at(0))), (Some(at(1)), None));
        let due: Vec<Step> = std::iter::from_fn(|| agenda.take_due(at(5))).collect();
        assert_eq!(due, [6, 1, 4, 7, 0, 2, 5, 8].map(step));
        assert_eq!((agenda.next(), agenda.take_due(at(8))), (Some(at(9)), None));
        assert_eq!((agenda.take_due(at(9)), agenda.next()), (Some(step(3)), None));
    }
}
