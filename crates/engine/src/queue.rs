//! The event queue: a heap on (time, insertion order).
//!
//! Events at one instant come out in the order in which they were pushed. An event is a small `Copy` value;
//! there is no cancelling: a machine's superseded wake-up comes out and finds nothing to do.

use crate::time::Time;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

#[derive(Clone, Copy)]
struct Entry<E> {
    time: Time,
    insertion: u64,
    event: E,
}

impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<E> Eq for Entry<E> {}

impl<E> PartialOrd for Entry<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> Ord for Entry<E> {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.time, self.insertion).cmp(&(other.time, other.insertion))
    }
}

/// Pending events in order of time, then of insertion.
pub struct EventQueue<E> {
    heap: BinaryHeap<Reverse<Entry<E>>>,
    insertions: u64,
    last_popped: Time,
}

impl<E: Copy> Default for EventQueue<E> {
    fn default() -> Self {
        const { assert!(size_of::<E>() <= 8, "an event is at most 8 bytes") };
        EventQueue { heap: BinaryHeap::new(), insertions: 0, last_popped: Time::ZERO }
    }
}

impl<E: Copy> EventQueue<E> {
    /// An empty queue.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an event. Time may stand still but not run backwards.
    #[inline]
    pub fn push(&mut self, time: Time, event: E) {
        debug_assert!(time >= self.last_popped, "an event at {time} in the past of {}", self.last_popped);
        self.heap.push(Reverse(Entry { time, insertion: self.insertions, event }));
        self.insertions += 1;
    }

    /// Takes the earliest event, unless it is later than `until`.
    #[inline]
    pub fn pop_until(&mut self, until: Time) -> Option<(Time, E)> {
        if self.heap.peek()?.0.time > until {
            return None;
        }
        let Reverse(entry) = self.heap.pop()?;
        self.last_popped = entry.time;
        Some((entry.time, entry.event))
    }

    /// The number of pending events.
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// True when nothing is pending.
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn pops_in_order_of_time_then_insertion(times in proptest::collection::vec(0u64..50, 0..300)) {
            let mut queue = EventQueue::new();
            for (i, &t) in times.iter().enumerate() {
                queue.push(Time::from_ns(t), i as u32);
            }
            let mut expected: Vec<_> = times.iter().enumerate().map(|(i, &t)| (t, i as u32)).collect();
            expected.sort();
            let mut popped = Vec::new();
            while let Some((time, event)) = queue.pop_until(Time::MAX) {
                popped.push((time.as_ns(), event));
            }
            prop_assert_eq!(popped, expected);
        }
    }

    #[test]
    fn stops_at_the_limit() {
        let mut queue = EventQueue::new();
        queue.push(Time::from_ns(10), 1u8);
        assert_eq!(queue.pop_until(Time::from_ns(9)), None);
        assert_eq!(queue.pop_until(Time::from_ns(10)), Some((Time::from_ns(10), 1)));
        assert!(queue.is_empty());
    }
}
