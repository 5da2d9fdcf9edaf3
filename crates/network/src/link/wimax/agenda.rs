//! Due steps of a cell, in order of time, and at one instant in the order in which they were added.
//!
//! Bursts begin one after the other. T16 has one span for the whole cell, so it expires in the order in
//! which it began. Both are appended to lists and need no heap. An entry of a T16 that has ended or
//! restarted does nothing.

use super::{Burst, Step};
use roamsim_engine::Time;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// When, in its upper half, and the number among all that was put there.
type Key = u128;

/// Behind everything.
const NEVER: Key = Key::MAX;

#[inline]
fn time_of(key: Key) -> Time {
    Time::from_ns((key >> 64) as u64)
}

/// What mostly comes in order.
#[derive(Debug)]
struct Line<T>(VecDeque<(Key, T)>);

impl<T> Line<T> {
    fn new() -> Line<T> {
        Line(VecDeque::new())
    }

    #[inline]
    fn put(&mut self, key: Key, what: T) {
        if self.0.back().is_none_or(|(last, _)| *last < key) {
            return self.0.push_back((key, what));
        }
        self.put_before(key, what);
    }

    #[cold]
    fn put_before(&mut self, key: Key, what: T) {
        let behind = self.0.partition_point(|(other, _)| *other < key);
        self.0.insert(behind, (key, what));
    }

    #[inline]
    fn first(&self) -> Key {
        self.0.front().map_or(NEVER, |(key, _)| *key)
    }

    #[inline]
    fn take(&mut self) -> Option<T> {
        self.0.pop_front().map(|(_, what)| what)
    }
}

/// Of what kind something is that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// An uplink burst begins that was granted.
    Burst,
    /// T16 of a service flow may have expired.
    Timer,
    Step,
}

/// All that is due.
#[derive(Debug)]
pub(super) struct Agenda {
    steps: BinaryHeap<Reverse<(Key, Step)>>,
    bursts: Line<Burst>,
    timers: Line<u32>,
    /// The first of each kind.
    first_step: Key,
    first_burst: Key,
    first_timer: Key,
    count: u64,
}

impl Agenda {
    pub fn new() -> Agenda {
        Agenda {
            steps: BinaryHeap::new(),
            bursts: Line::new(),
            timers: Line::new(),
            first_step: NEVER,
            first_burst: NEVER,
            first_timer: NEVER,
            count: 0,
        }
    }

    /// Of what is put there.
    #[inline]
    fn key(&mut self, at: Time) -> Key {
        let key = Key::from(at.as_ns()) << 64 | Key::from(self.count);
        self.count += 1;
        key
    }

    pub fn put_step(&mut self, at: Time, step: Step) {
        let key = self.key(at);
        self.steps.push(Reverse((key, step)));
        self.first_step = self.first_step.min(key);
    }

    pub fn put_burst(&mut self, at: Time, burst: Burst) {
        let key = self.key(at);
        self.bursts.put(key, burst);
        self.first_burst = self.first_burst.min(key);
    }

    #[inline]
    pub fn put_timer(&mut self, at: Time, flow: u32) {
        let key = self.key(at);
        self.timers.put(key, flow);
        self.first_timer = self.first_timer.min(key);
    }

    /// What comes first.
    #[inline]
    fn first(&self) -> (Key, Due) {
        let (mut first, mut due) = (self.first_timer, Due::Timer);
        if self.first_burst < first {
            (first, due) = (self.first_burst, Due::Burst);
        }
        if self.first_step < first {
            (first, due) = (self.first_step, Due::Step);
        }
        (first, due)
    }

    /// When the first of it is due.
    #[inline]
    pub fn next(&self) -> Option<Time> {
        let at = time_of(self.first().0);
        (at < Time::MAX).then_some(at)
    }

    /// Of what kind the first is, if it is due by `now`: to be taken next.
    #[inline]
    pub fn due(&self, now: Time) -> Option<Due> {
        let (first, due) = self.first();
        (time_of(first) <= now && first != NEVER).then_some(due)
    }

    #[inline]
    pub fn take_burst(&mut self) -> Option<Burst> {
        let burst = self.bursts.take();
        self.first_burst = self.bursts.first();
        burst
    }

    #[inline]
    pub fn take_timer(&mut self) -> Option<u32> {
        let flow = self.timers.take();
        self.first_timer = self.timers.first();
        flow
    }

    pub fn take_step(&mut self) -> Option<Step> {
        let step = self.steps.pop().map(|Reverse((_, step))| step);
        self.first_step = self.steps.peek().map_or(NEVER, |Reverse((key, _))| *key);
        step
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_due_comes_by_time_and_then_as_it_was_put_there() {
        let at = Time::from_ns;
        let mut agenda = Agenda::new();
        assert_eq!((agenda.next(), agenda.due(Time::MAX)), (None, None));
        agenda.put_timer(at(20), 1);
        agenda.put_step(at(10), Step::Frame(0));
        // Earlier than the one before it, and at the instant of the step, which was there first.
        agenda.put_timer(at(10), 2);
        agenda.put_step(at(20), Step::Frame(1));
        agenda.put_timer(at(20), 3);
        assert_eq!(agenda.next(), Some(at(10)));
        assert_eq!(agenda.due(at(9)), None);
        let mut timers = Vec::new();
        for due in [Due::Step, Due::Timer, Due::Timer, Due::Step, Due::Timer] {
            assert_eq!(agenda.due(at(20)), Some(due));
            match due {
                Due::Timer => timers.extend(agenda.take_timer()),
                _ => assert_eq!(agenda.take_step(), Some(Step::Frame(u64::from(timers.len() == 2)))),
            }
        }
        assert_eq!((timers, agenda.next()), (vec![2, 1, 3], None));
    }
}
