//! What is to be done in a cell: in order of time, and at one instant in the order in which it was put there.
//!
//! Bursts begin one behind the other, and T16 expires in the order in which it began: both go behind those that are there, and need no
//! heap. Where T16 has begun anew before its step comes, that step finds nothing and is put where T16 expires now, among those that have begun
//! since: it stands in a line of its own, as such steps come in order too.

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
    /// Whether everything in it comes before.
    fn ends_before(&self, key: Key) -> bool {
        self.0.back().is_none_or(|(last, _)| *last < key)
    }

    fn put(&mut self, key: Key, what: T) {
        if self.ends_before(key) {
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
    timers: [Line<u32>; 2],
    /// What comes first.
    first: Key,
    count: u64,
}

impl Agenda {
    pub fn new() -> Agenda {
        let line = || Line(VecDeque::new());
        let (bursts, timers) = (Line(VecDeque::new()), [line(), line()]);
        Agenda { steps: BinaryHeap::new(), bursts, timers, first: NEVER, count: 0 }
    }

    /// Of what is put there.
    fn key(&mut self, at: Time) -> Key {
        let key = Key::from(at.as_ns()) << 64 | Key::from(self.count);
        self.count += 1;
        self.first = self.first.min(key);
        key
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
        let [begun, again] = &mut self.timers;
        if begun.ends_before(key) { begun.put(key, flow) } else { again.put(key, flow) }
    }

    #[inline]
    fn first_step(&self) -> Key {
        self.steps.peek().map_or(NEVER, |Reverse((key, _))| *key)
    }

    /// When the first of it is due.
    #[inline]
    pub fn next(&self) -> Option<Time> {
        let at = time_of(self.first);
        (at < Time::MAX).then_some(at)
    }

    /// Takes the first that is due by `now`.
    #[inline]
    pub fn take_due(&mut self, now: Time) -> Option<Due> {
        let first = self.first;
        if time_of(first) > now || first == NEVER {
            return None;
        }
        let [begun, again] = &mut self.timers;
        let due = if first == self.bursts.first() {
            self.bursts.take().map(Due::Burst)
        } else if first == begun.first() {
            begun.take().map(Due::Timer)
        } else if first == again.first() {
            again.take().map(Due::Timer)
        } else {
            self.steps.pop().map(|Reverse((_, step))| Due::Step(step))
        };
        let timer = begun.first().min(again.first());
        self.first = self.bursts.first().min(timer).min(self.first_step());
        due
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

    #[test]
    fn timers_that_begin_again_come_among_those_that_have_begun_since() {
        let at = Time::from_ns;
        let mut agenda = Agenda::new();
        // The fourth and the fifth begin again, at an instant that is taken and between two; the sixth comes before both.
        for (at_ns, flow) in [(10, 1), (20, 2), (30, 3), (20, 4), (25, 5), (15, 6), (30, 7)] {
            agenda.put_timer(at(at_ns), flow);
        }
        let mut flows = |until_ns| {
            let due = std::iter::from_fn(|| agenda.take_due(at(until_ns)));
            let flow = |due| if let Due::Timer(flow) = due { flow } else { panic!("{due:?}") };
            due.map(flow).collect::<Vec<u32>>()
        };
        assert_eq!((flows(14), flows(25), flows(30)), (vec![1], vec![6, 2, 4, 5], vec![3, 7]));
    }
}
