//! The event queue: a heap on (time, insertion order).
//!
//! Events at one instant come out in the order in which they were pushed. An event is a number of 32 bits for what
//! it wakes; there is no cancelling: a machine's superseded wake-up comes out and finds nothing to do.
//!
//! The heap has four children a node, so that it is half as deep as a binary one, and leaves a hole at its root
//! when the earliest event is taken: the handler of an event nearly always pushes the next one, which then sinks
//! from the root, in place of one event sinking and another rising (docs/performance.md has the measurement).
//! An entry is one number of 128 bits, in the order of which entries come out, and the four children of an entry lie
//! in one line of the cache.
//!
//! There are two such heaps, with one count of insertions and so one order: one for what is due soon when it is pushed, as packets on
//! links are, another for the rest, as the timers of connections, of which there is one each, and most of which are put off before
//! they have anything to do. So with a thousand connections at work the first is as shallow as with ten.

use crate::time::{Span, Time};
use std::marker::PhantomData;

const CHILDREN: usize = 4;

/// What is due within this time is due soon. Chosen: longer than the delays of most links, shorter than the 200 ms that retransmission
/// timers and delayed acknowledgements of most implementations of TCP last at least.
const SOON: Span = Span::from_ms(100);

/// What a queue holds.
pub trait Event: Copy {
    /// The number that stands for it.
    fn to_code(self) -> u32;

    /// What a number of [`Event::to_code`] stands for.
    fn from_code(code: u32) -> Self;
}

/// Time, insertion and event, the first in the highest bits: as no two have the same insertion, the event never decides.
type Entry = u128;

/// Later than every entry: a place without one.
const NOTHING: Entry = Entry::MAX;

/// Four entries with the same parent.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Siblings([Entry; CHILDREN]);

impl Siblings {
    const NONE: Siblings = Siblings([NOTHING; CHILDREN]);

    /// The earliest, and which it is.
    #[inline(always)]
    fn earliest(&self) -> (usize, Entry) {
        let mut earliest = (0, self.0[0]);
        for (i, &entry) in self.0.iter().enumerate().skip(1) {
            if entry < earliest.1 {
                earliest = (i, entry);
            }
        }
        earliest
    }
}

/// The root's number among its siblings, of which it is alone.
const ROOT: usize = CHILDREN - 1;

/// A heap of entries.
struct Heap {
    /// Place p is number p % 4 of siblings p / 4, the first place is the root's, and the children of place p are siblings
    /// p - 2.
    places: Vec<Siblings>,
    /// The first place without an entry.
    end: usize,
    /// The root has been taken, and nothing has come into its place yet.
    hole_at_root: bool,
}

impl Default for Heap {
    fn default() -> Self {
        Heap { places: vec![Siblings::NONE], end: ROOT, hole_at_root: false }
    }
}

impl Heap {
    #[inline(always)]
    fn push(&mut self, entry: Entry) {
        if self.hole_at_root {
            self.hole_at_root = false;
            self.sink_from_root(entry);
        } else {
            self.add(entry);
        }
    }

    /// The earliest, or [`NOTHING`].
    #[inline(always)]
    fn first(&mut self) -> Entry {
        if self.hole_at_root {
            self.close_hole();
        }
        self.places[0].0[ROOT]
    }

    /// How many there are.
    fn len(&self) -> usize {
        self.end - ROOT - usize::from(self.hole_at_root)
    }

    /// Puts the last entry in the place of the root's hole.
    #[inline(never)]
    fn close_hole(&mut self) {
        self.hole_at_root = false;
        self.end -= 1;
        let last = &mut self.places[self.end / CHILDREN].0[self.end % CHILDREN];
        let entry = std::mem::replace(last, NOTHING);
        if self.end > ROOT {
            self.sink_from_root(entry);
        }
    }

    /// Adds an entry at the end, and moves it up past all parents that are later.
    fn add(&mut self, entry: Entry) {
        let mut place = self.end;
        self.end += 1;
        if place / CHILDREN == self.places.len() {
            self.places.push(Siblings::NONE);
        }
        while place > ROOT {
            let parent = place / CHILDREN + 2;
            let above = self.places[parent / CHILDREN].0[parent % CHILDREN];
            if above < entry {
                break;
            }
            self.places[place / CHILDREN].0[place % CHILDREN] = above;
            place = parent;
        }
        self.places[place / CHILDREN].0[place % CHILDREN] = entry;
    }

    /// Moves the root's place down, past all earliest children earlier than `entry`, and writes `entry` there.
    #[inline(always)]
    fn sink_from_root(&mut self, entry: Entry) {
        let places = &mut self.places[..];
        let (mut siblings, mut number) = (0, ROOT);
        let mut below = 1;
        while let Some(children) = places.get(below) {
            let (child, earliest) = children.earliest();
            if entry < earliest {
                break;
            }
            places[siblings].0[number] = earliest;
            (siblings, number) = (below, child);
            below = below * CHILDREN + child - 2;
        }
        places[siblings].0[number] = entry;
    }

    /// All entries, in their order.
    fn drain(&mut self) -> Vec<Entry> {
        if self.hole_at_root {
            self.close_hole();
        }
        let all = std::mem::take(self).places;
        let mut entries: Vec<Entry> =
            all.iter().flat_map(|siblings| siblings.0).filter(|&entry| entry != NOTHING).collect();
        entries.sort_unstable();
        entries
    }
}

/// Pending events in order of time, then of insertion.
pub struct EventQueue<E> {
    /// What was due soon when it was pushed.
    near: Heap,
    /// The rest.
    far: Heap,
    insertions: u32,
    last_popped: Time,
    events: PhantomData<E>,
}

impl<E: Event> Default for EventQueue<E> {
    fn default() -> Self {
        EventQueue {
            near: Heap::default(),
            far: Heap::default(),
            insertions: 0,
            last_popped: Time::ZERO,
            events: PhantomData,
        }
    }
}

impl<E: Event> EventQueue<E> {
    /// An empty queue.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an event. Time may stand still but not run backwards.
    #[inline(always)]
    pub fn push(&mut self, time: Time, event: E) {
        self.push_code(time, event.to_code());
    }

    #[inline(never)]
    fn push_code(&mut self, time: Time, code: u32) {
        debug_assert!(time >= self.last_popped, "an event at {time} in the past of {}", self.last_popped);
        if self.insertions == u32::MAX {
            self.count_anew();
        }
        let low = u64::from(self.insertions) << 32 | u64::from(code);
        self.insertions += 1;
        let entry = Entry::from(time.as_ns()) << 64 | Entry::from(low);
        let heap = if time.since(self.last_popped) < SOON { &mut self.near } else { &mut self.far };
        heap.push(entry);
    }

    /// Takes the earliest event, unless it is later than `until`.
    #[inline]
    pub fn pop_until(&mut self, until: Time) -> Option<(Time, E)> {
        let (near, far) = (self.near.first(), self.far.first());
        let (first, heap) = if near < far { (near, &mut self.near) } else { (far, &mut self.far) };
        let time = Time::from_ns((first >> 64) as u64);
        if time >= until && (time > until || first == NOTHING) {
            return None;
        }
        heap.hole_at_root = true;
        self.last_popped = time;
        Some((time, E::from_code(first as u32)))
    }

    /// The number of pending events.
    pub fn len(&self) -> usize {
        self.near.len() + self.far.len()
    }

    /// True when nothing is pending.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Numbers the pending events from zero in their order: once in four thousand million.
    #[cold]
    fn count_anew(&mut self) {
        let kept = [self.near.drain(), self.far.drain()];
        let mut all: Vec<(Entry, usize)> = kept
            .into_iter()
            .zip(0..)
            .flat_map(|(entries, of)| entries.into_iter().map(move |e| (e, of)))
            .collect();
        all.sort_unstable();
        self.insertions = 0;
        for (entry, of) in all {
            let others = entry & !(Entry::from(u32::MAX) << 32);
            let heap = if of == 0 { &mut self.near } else { &mut self.far };
            heap.add(others | Entry::from(self.insertions) << 32);
            self.insertions += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    impl Event for u32 {
        fn to_code(self) -> u32 {
            self
        }

        fn from_code(code: u32) -> u32 {
            code
        }
    }

    #[derive(Clone, Copy, Debug)]
    enum Operation {
        PushAfter(u64),
        PopWithin(u64),
    }

    fn operation() -> impl Strategy<Value = Operation> {
        // Now and then from the near heap into the far one, and past it.
        let soon = SOON.as_ns();
        prop_oneof![
            (0u64..20).prop_map(Operation::PushAfter),
            (soon - 10..soon + 10).prop_map(Operation::PushAfter),
            (0u64..30).prop_map(Operation::PopWithin),
            (soon - 10..soon + 10).prop_map(Operation::PopWithin),
        ]
    }

    proptest! {
        #[test]
        fn pops_in_order_of_time_then_insertion(times in proptest::collection::vec(prop_oneof![0u64..50, SOON.as_ns()..SOON.as_ns() + 50], 0..300)) {
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
        fn pushes_between_pops_keep_the_order(
            operations in proptest::collection::vec(operation(), 0..400),
            left in 0u32..500,
        ) {
            // So many insertions are left before they are counted anew.
            let mut queue = EventQueue { insertions: u32::MAX - left, ..EventQueue::new() };
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
        queue.push(Time::from_ns(10), 1u32);
        assert_eq!(queue.pop_until(Time::from_ns(9)), None);
        assert_eq!(queue.pop_until(Time::from_ns(10)), Some((Time::from_ns(10), 1)));
        assert!(queue.is_empty());
        assert_eq!(queue.pop_until(Time::MAX), None);
        queue.push(Time::MAX, u32::MAX);
        assert_eq!(queue.pop_until(Time::MAX), Some((Time::MAX, u32::MAX)));
        assert_eq!(queue.pop_until(Time::MAX), None);
    }
}
