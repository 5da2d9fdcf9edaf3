//! What is to be done in a cell: in order of time, and at one instant in the order in which it was put there.
//!
//! Bursts begin one behind the other, and T16 expires in the order in which it began: both mostly go behind those that are there, and need
//! no heap.

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
    fn put(&mut self, key: Key, what: T) {
        if self.0.back().is_none_or(|(last, _)| *last < key) {
            return self.0.push_back((key, what));
        }
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

/// What is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// An uplink burst begins that was granted.
    Burst(Burst),
    /// T16 of a service flow may have expired.
    Timer(u32),
    Step(Step),
}

/// All of it.
#[derive(Debug)]
pub(super) struct Agenda {
    steps: BinaryHeap<Reverse<(Key, Step)>>,
    bursts: Line<Burst>,
    timers: Line<u32>,
    count: u64,
}

impl Agenda {
    pub fn new() -> Agenda {
        let (bursts, timers) = (Line(VecDeque::new()), Line(VecDeque::new()));
        Agenda { steps: BinaryHeap::new(), bursts, timers, count: 0 }
    }

    fn key(&mut self, at: Time) -> Key {
        let number = self.count;
        self.count += 1;
        Key::from(at.as_ns()) << 64 | Key::from(number)
    }

    #[inline]
    fn first(&self) -> Key {
        self.bursts.first().min(self.timers.first()).min(self.first_step())
    }

    pub fn put_step(&mut self, at: Time, step: Step) {
        let key = self.key(at);
        self.steps.push(Reverse((key, step)));
    }

    pub fn put_burst(&mut self, at: Time, burst: Burst) {
        let key = self.key(at);
        self.bursts.put(key, burst);
    }

    pub fn put_timer(&mut self, at: Time, flow: u32) {
        let key = self.key(at);
        self.timers.put(key, flow);
    }

    #[inline]
    fn first_step(&self) -> Key {
        self.steps.peek().map_or(NEVER, |Reverse((key, _))| *key)
    }

    /// When the first of it is due.
    #[inline]
    pub fn next(&self) -> Option<Time> {
        let at = time_of(self.first());
        (at < Time::MAX).then_some(at)
    }

    /// Takes the first that is due by `now`.
    #[inline]
    pub fn take_due(&mut self, now: Time) -> Option<Due> {
        let first = self.first();
        if time_of(first) > now || first == NEVER {
            None
        } else if first == self.bursts.first() {
            self.bursts.take().map(Due::Burst)
        } else if first == self.timers.first() {
            self.timers.take().map(Due::Timer)
        } else {
            self.steps.pop().map(|Reverse((_, step))| Due::Step(step))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_due_comes_by_time_and_then_as_it_was_put_there() {
        let at = Time::from_ns;
        let mut agenda = Agenda::new();
        assert_eq!((agenda.next(), agenda.take_due(Time::MAX)), (None, None));
        agenda.put_timer(at(20), 1);
        agenda.put_step(at(10), Step::Frame(0));
        // Earlier than the one before it, and at the instant of the step, which was there first.
        agenda.put_timer(at(10), 2);
        agenda.put_step(at(20), Step::Frame(1));
        agenda.put_timer(at(20), 3);
        assert_eq!(agenda.next(), Some(at(10)));
        assert_eq!(agenda.take_due(at(9)), None);
        let due: Vec<Due> = std::iter::from_fn(|| agenda.take_due(at(20))).collect();
        let [first, second] = [0, 1].map(|frame| Due::Step(Step::Frame(frame)));
        assert_eq!(due, [first, Due::Timer(2), Due::Timer(1), second, Due::Timer(3)]);
        assert_eq!(agenda.next(), None);
    }
}
