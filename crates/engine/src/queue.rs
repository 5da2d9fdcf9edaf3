//! The event queue: a heap on (time, insertion order).
//!
//! Events at one instant come out in the order in which they were pushed. An event is a small `Copy` value;
//! there is no cancelling: a machine's superseded wake-up comes out and finds nothing to do.
//!
//! The heap has four children a node, so that it is half as deep as a binary one, and leaves a hole at its root
//! when the earliest event is taken: the handler of an event nearly always pushes the next one, which then sinks
//! from the root, in place of one event sinking and another rising (docs/performance.md has the measurement).

use crate::time::Time;

const CHILDREN: usize = 4;

#[derive(Clone, Copy)]
struct Entry<E> {
    time: Time,
    insertion: u64,
    event: E,
}

impl<E> Entry<E> {
    /// Both parts of the order in one number: compared without a branch.
    #[inline]
    fn key(&self) -> u128 {
        u128::from(self.time.as_ns()) << 64 | u128::from(self.insertion)
    }
}

/// Pending events in order of time, then of insertion.
pub struct EventQueue<E> {
    /// Entry 0 is the earliest, and the children of entry i are entries 4i + 1 to 4i + 4.
    heap: Vec<Entry<E>>,
    /// Entry 0 has been taken, and nothing has come into its place yet.
    hole_at_root: bool,
    insertions: u64,
    last_popped: Time,
}

impl<E: Copy> Default for EventQueue<E> {
    fn default() -> Self {
        const { assert!(size_of::<E>() <= 8, "an event is at most 8 bytes") };
        EventQueue { heap: Vec::new(), hole_at_root: false, insertions: 0, last_popped: Time::ZERO }
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
        let entry = Entry { time, insertion: self.insertions, event };
        self.insertions += 1;
        if self.hole_at_root {
            self.hole_at_root = false;
            self.sink_from_root(entry);
        } else {
            self.heap.push(entry);
            self.rise_from_end(entry);
        }
    }

    /// Takes the earliest event, unless it is later than `until`.
    #[inline]
    pub fn pop_until(&mut self, until: Time) -> Option<(Time, E)> {
        if self.hole_at_root {
            self.close_hole();
        }
        let &Entry { time, event, .. } = self.heap.first()?;
        if time > until {
            return None;
        }
        self.hole_at_root = true;
        self.last_popped = time;
        Some((time, event))
    }

    /// The number of pending events.
    pub fn len(&self) -> usize {
        self.heap.len() - usize::from(self.hole_at_root)
    }

    /// True when nothing is pending.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Puts the last entry in the place of the root's hole.
    #[inline]
    fn close_hole(&mut self) {
        self.hole_at_root = false;
        if let Some(last) = self.heap.pop()
            && !self.heap.is_empty()
        {
            self.sink_from_root(last);
        }
    }

    /// Moves the last entry's place up, past all parents later than `entry`, and writes `entry` there.
    #[inline]
    fn rise_from_end(&mut self, entry: Entry<E>) {
        let heap = &mut self.heap[..];
        let key = entry.key();
        let mut at = heap.len() - 1;
        while at > 0 {
            let parent = (at - 1) / CHILDREN;
            if heap[parent].key() < key {
                break;
            }
            heap[at] = heap[parent];
            at = parent;
        }
        heap[at] = entry;
    }

    /// Moves the root's place down, past all earliest children earlier than `entry`, and writes `entry` there.
    #[inline]
    fn sink_from_root(&mut self, entry: Entry<E>) {
        let heap = &mut self.heap[..];
        let key = entry.key();
        let mut at = 0;
        loop {
            let first = at * CHILDREN + 1;
            // A full set of children, all but always, is compared without a loop's bounds.
            let earliest = if let Some(children) = heap.get(first..first + CHILDREN) {
                earliest_of(children)
            } else if let Some(children) = heap.get(first..)
                && !children.is_empty()
            {
                earliest_of(children)
            } else {
                break;
            };
            let (child, child_key) = (first + earliest.0, earliest.1);
            if key < child_key {
                break;
            }
            heap[at] = heap[child];
            at = child;
        }
        heap[at] = entry;
    }
}

/// Place and key of the earliest of at least one entry.
#[inline(always)]
fn earliest_of<E>(entries: &[Entry<E>]) -> (usize, u128) {
    let mut earliest = (0, entries[0].key());
    for (i, entry) in entries.iter().enumerate().skip(1) {
        let key = entry.key();
        if key < earliest.1 {
            earliest = (i, key);
        }
    }
    earliest
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Clone, Copy, Debug)]
    enum Operation {
        PushAfter(u64),
        PopWithin(u64),
    }

    fn operation() -> impl Strategy<Value = Operation> {
        prop_oneof![(0u64..20).prop_map(Operation::PushAfter), (0u64..30).prop_map(Operation::PopWithin)]
    }

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

        /// Pushes and pops in any mixture, against a list searched from end to end.
        #[test]
        fn pushes_between_pops_keep_the_order(operations in proptest::collection::vec(operation(), 0..400)) {
            let mut queue = EventQueue::new();
            let mut pending: Vec<(u64, u32)> = Vec::new();
            let mut now = 0;
            for (i, operation) in operations.into_iter().enumerate() {
                match operation {
                    Operation::PushAfter(span) => {
                        queue.push(Time::from_ns(now + span), i as u32);
                        pending.push((now + span, i as u32));
                    }
                    Operation::PopWithin(span) => {
                        let earliest = pending.iter().copied().filter(|e| e.0 <= now + span).min();
                        let popped = queue.pop_until(Time::from_ns(now + span));
                        prop_assert_eq!(popped.map(|(time, event)| (time.as_ns(), event)), earliest);
                        if let Some(earliest) = earliest {
                            now = earliest.0;
                            pending.retain(|&e| e != earliest);
                        }
                    }
                }
                prop_assert_eq!(queue.len(), pending.len());
                prop_assert_eq!(queue.is_empty(), pending.is_empty());
            }
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
