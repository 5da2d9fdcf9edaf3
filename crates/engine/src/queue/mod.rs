//! The event queue, in the order of (time, insertion): runs and a heap for events that are due soon, and a
//! timing wheel for the others.
//!
//! Events at one instant come out in the order in which they were pushed. An event is a number of 32 bits
//! that says what it wakes. There is no cancelling: a superseded wake-up comes out and does nothing.
//!
//! - **Soon and later.** Events that are due soon when they are pushed, such as packets on links, are kept
//!   apart from the others. The others are mostly timers of connections: each connection has one, and most
//!   are put off before they fire. So packets meet as few entries with a thousand connections as with ten.
//!   One count of insertions orders both. The others wait in the `wheel`. Events that are due soon have
//!   keys of 64 bits; their times count from an instant that moves on now and then.
//! - **Runs before the heap.** Packets of one length take the same time on links of one rate and delay, so
//!   their events are pushed in a few sequences, each in order. Some runs (`near`) keep these sequences: an
//!   entry goes to the end of the first run whose last entry is not later. The earliest entry is the first
//!   one of some run. Paced flows send when they like: more runs, which other events do not pay for, take
//!   what they scatter. The `heap` only holds entries that fit no run, and events that may be due at any
//!   time ([`Event::order`]).
//! - **Order of the runs.** They are the piles of patience sorting. Except for the run that periodic events
//!   share, their last entries are in order, the latest first. So the first run that fits is the closest.

mod heap;
mod near;
mod wheel;

use crate::time::{Span, Time};
use near::Near;
use std::marker::PhantomData;
use std::num::NonZeroU32;
use wheel::{Entry, Wheel};

/// What is due within this time is due soon. Chosen: longer than the delays of most links, shorter than the
/// 200 ms that retransmission timers and delayed acknowledgements of most implementations of TCP last at
/// least.
const SOON: Span = Span::from_ms(100);

/// Later than every key: of a place without an entry.
const NOTHING: u64 = u64::MAX;

/// Times in keys of 64 bits count from another instant on once an event has come out so long after it: what
/// is due soon then has room in them.
const EPOCH: Span = Span::from_ns((1 << (u64::BITS - INSERTION_BITS)) - SOON.as_ns());

/// What a queue holds.
pub trait Event: Copy {
    /// The number that stands for it.
    fn to_code(self) -> u32;

    /// What a number of [`Event::to_code`] stands for.
    fn from_code(code: u32) -> Self;

    /// In which order those of its kind are pushed: where it waits in the queue is decided by that, not when
    /// it comes out.
    #[inline(always)]
    fn order(self) -> Order {
        Order::Kept
    }
}

/// The order in which events of a kind are pushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// That in which they are due, or nearly: they wait in runs.
    Kept,
    /// That in which they are due where all are of one period: they share one run.
    OfPeriods,
    /// Any.
    Any,
}

/// Bits of a key for the count of insertions, and the lowest of them, which tell the run that an entry is in
/// and decide no order.
const INSERTION_BITS: u32 = 32;
const RUN_BITS: u32 = 3;

/// One insertion.
const INSERTION: u32 = 1 << RUN_BITS;

/// A place in the order of insertions, for an event that is pushed later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reserved {
    insertion: NonZeroU32,
    /// How often insertions had been renumbered when it was taken.
    renumberings: u32,
}

/// Pending events in order of time, then of insertion.
pub struct EventQueue<E> {
    /// What was due soon when it was pushed, by the time since `epoch`.
    near: Near,
    /// The rest.
    far: Wheel,
    /// The number of the next one, from [`INSERTION`] on; zero where no further one has room in a key.
    insertions: u32,
    /// How often insertions have been renumbered.
    renumberings: u32,
    /// Nothing comes out beyond it.
    end: Time,
    /// No later than anything pending, and less than 2^32 ns before all that is in `near`.
    epoch: Time,
    /// The time of the event that came out last: less than [`EPOCH`] after `epoch`.
    now: Time,
    /// The first key of `near` that is beyond the end, or in the next epoch.
    bound: u64,
    /// Keys of `near` below this one come out before all that is in `far`, before the end, and in this epoch.
    near_until: u64,
    events: PhantomData<E>,
}

impl<E: Event> Default for EventQueue<E> {
    fn default() -> Self {
        EventQueue {
            near: Near::default(),
            far: Wheel::default(),
            insertions: INSERTION,
            renumberings: 0,
            end: Time::ZERO,
            epoch: Time::ZERO,
            now: Time::ZERO,
            bound: 0,
            near_until: 0,
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
        self.push_of(event.order(), time, event);
    }

    /// The same for one whose [order](Event::order) is known without looking at it.
    #[inline(always)]
    pub fn push_of(&mut self, order: Order, time: Time, event: E) {
        let code = event.to_code();
        match order {
            Order::Kept => self.push_kept(time, code),
            Order::OfPeriods => self.push_of_periods(time, code),
            Order::Any => self.push_any(time, code),
        }
    }

    #[inline(never)]
    fn push_kept(&mut self, time: Time, code: u32) {
        self.push_code(Order::Kept, time, code);
    }

    #[inline(never)]
    fn push_of_periods(&mut self, time: Time, code: u32) {
        self.push_code(Order::OfPeriods, time, code);
    }

    #[inline(never)]
    fn push_any(&mut self, time: Time, code: u32) {
        self.push_code(Order::Any, time, code);
    }

    #[inline(always)]
    fn push_code(&mut self, order: Order, time: Time, code: u32) {
        debug_assert!(time >= self.now, "an event at {time} in the past of {}", self.now);
        let insertion = self.insertions;
        if insertion == 0 {
            return self.push_counted_anew(order, time, code);
        }
        self.insertions = insertion.wrapping_add(INSERTION);
        self.push_numbered(order, time, code, insertion);
    }

    #[inline(always)]
    fn push_numbered(&mut self, order: Order, time: Time, code: u32, insertion: u32) {
        // Neither is less than zero.
        if time.as_ns().wrapping_sub(self.now.as_ns()) < SOON.as_ns() {
            // Less than 2^32, as the last event came out in this epoch.
            let since = time.as_ns().wrapping_sub(self.epoch.as_ns());
            let key = since << INSERTION_BITS | u64::from(insertion);
            match order {
                Order::Kept => self.near.push(key, code),
                Order::OfPeriods => self.near.push_last(key, code),
                Order::Any => self.near.push_any(key, code),
            }
        } else {
            self.push_far(time, insertion, code);
        }
    }

    /// Takes the place in the order of insertions that an event pushed now would have.
    #[inline]
    pub fn reserve(&mut self) -> Reserved {
        loop {
            if let Some(insertion) = NonZeroU32::new(self.insertions) {
                self.insertions = self.insertions.wrapping_add(INSERTION);
                return Reserved { insertion, renumberings: self.renumberings };
            }
            self.count_anew();
        }
    }

    /// Adds an event as if it had been pushed when its place was reserved. Nothing at its time that was
    /// pushed later may have come out. If insertions have been renumbered since, as once in five hundred
    /// million, it comes behind the others.
    #[inline(never)]
    pub fn push_reserved(&mut self, order: Order, time: Time, event: E, reserved: Reserved) {
        if reserved.renumberings == self.renumberings {
            self.push_numbered(order, time, event.to_code(), reserved.insertion.get());
        } else {
            self.push_of(order, time, event);
        }
    }

    /// Adds an event where insertions can be counted no further; apart, as the last thing, so that adding
    /// saves no registers for it.
    #[cold]
    #[inline(never)]
    fn push_counted_anew(&mut self, order: Order, time: Time, code: u32) {
        self.count_anew();
        self.push_code(order, time, code);
    }

    #[inline(never)]
    fn push_far(&mut self, time: Time, insertion: u32, code: u32) {
        self.far.push(Entry { time, insertion, code });
        self.near_until = self.near_until.min(self.key(time, insertion));
    }

    /// The key that an entry has or would have in `near`, or [`NOTHING`] where it is too late for one, and so
    /// later than all that is there.
    #[inline(always)]
    fn key(&self, time: Time, insertion: u32) -> u64 {
        let since = time.since(self.epoch).as_ns();
        if since >> (u64::BITS - INSERTION_BITS) == 0 {
            since << INSERTION_BITS | u64::from(insertion)
        } else {
            NOTHING
        }
    }

    /// The time of a key of `near`, or the latest one there is.
    #[inline(always)]
    fn time_of(&self, key: u64) -> Time {
        match key {
            NOTHING => Time::MAX,
            key => Time::from_ns(self.epoch.as_ns() + (key >> INSERTION_BITS)),
        }
    }

    /// Takes the earliest event, unless it is later than the [end](EventQueue::end_at).
    #[inline]
    pub fn pop(&mut self) -> Option<(Time, E)> {
        let near = self.near.first();
        let code = if near < self.near_until {
            self.now = Time::from_ns(self.epoch.as_ns() + (near >> INSERTION_BITS));
            self.near.take_first(near)
        } else {
            self.pop_of_both()?
        };
        Some((self.now, E::from_code(code)))
    }

    /// The same where the earliest may be in `far`, beyond the end, or in another epoch: its number.
    #[inline(never)]
    fn pop_of_both(&mut self) -> Option<u32> {
        let near = self.near.first();
        let (time, code) = loop {
            let is_near = near < self.first_of_far();
            let time = if is_near { self.time_of(near) } else { self.far.first()?.0 };
            if time > self.end {
                return None;
            }
            if is_near {
                break (time, self.near.take_first(near));
            }
            if let Some(code) = self.far.take_first() {
                break (time, code);
            }
            self.far.open(self.time_of(near));
        };
        self.now = time;
        if time.since(self.epoch) >= EPOCH {
            self.begin_epoch();
        }
        self.bound_near();
        Some(code)
    }

    /// The key before which nothing of `far` comes.
    #[inline(always)]
    fn first_of_far(&self) -> u64 {
        self.far.first().map_or(NOTHING, |(time, insertion)| self.key(time, insertion))
    }

    /// Keeps up to where `near` is asked alone.
    #[inline]
    fn bound_near(&mut self) {
        self.near_until = self.first_of_far().min(self.bound);
    }

    /// Nothing is to come out beyond this instant for now.
    pub fn end_at(&mut self, end: Time) {
        self.end = end;
        self.bound_epoch();
        self.bound_near();
    }

    fn bound_epoch(&mut self) {
        let ends = self.end.since(self.epoch).as_ns().saturating_add(1);
        self.bound = if self.end < self.epoch { 0 } else { ends.min(EPOCH.as_ns()) << INSERTION_BITS };
    }

    /// Goes on to an instant as if an event that was pushed just now came out there; false where another one
    /// would come out first.
    #[inline]
    pub fn advance(&mut self, time: Time) -> bool {
        let since_ns = time.since(self.epoch).as_ns();
        if since_ns >= EPOCH.as_ns() {
            return false;
        }
        let last = since_ns << INSERTION_BITS | u64::from(u32::MAX);
        let is_next = last < self.near.first() && (last < self.near_until || self.is_before_far(time, last));
        if is_next {
            self.now = time;
        }
        is_next
    }

    /// Whether this key of `near`, of this time, comes before all that is in `far` and before the end, where
    /// what is known of `far` may not tell.
    #[cold]
    #[inline(never)]
    fn is_before_far(&mut self, time: Time, key: u64) -> bool {
        loop {
            self.bound_near();
            if key < self.near_until {
                return true;
            }
            if self.far.is_open() || time > self.end {
                return false;
            }
            self.far.open(time);
        }
    }

    /// An instant before which nothing comes out, whatever the [end](EventQueue::end_at): mostly that of the
    /// earliest event. `None` where nothing is pending.
    pub fn next_time(&self) -> Option<Time> {
        let near = Some(self.near.first()).filter(|&key| key != NOTHING).map(|key| self.time_of(key));
        let far = self.far.first().map(|(time, _)| time);
        near.into_iter().chain(far).min()
    }

    /// The number of pending events.
    pub fn len(&self) -> usize {
        self.near.len() + self.far.len()
    }

    /// True when nothing is pending.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Times in `near` count from the time of the last event on: once in some four seconds.
    #[cold]
    fn begin_epoch(&mut self) {
        let later_ns = self.now.since(self.epoch).as_ns();
        if later_ns >> (u64::BITS - INSERTION_BITS) == 0 {
            self.near.move_on(later_ns << INSERTION_BITS);
        } else {
            // After so long nothing is left there.
            self.near.begin_anew();
        }
        self.epoch = self.now;
        self.bound_epoch();
    }

    /// Numbers the pending events anew in their order: once in five hundred million.
    #[cold]
    fn count_anew(&mut self) {
        let near =
            self.near.drain().into_iter().map(|(key, code)| (self.time_of(key), key as u32, code, true));
        let mut all: Vec<(Time, u32, u32, bool)> = near.collect();
        all.extend(
            self.far
                .drain()
                .into_iter()
                .map(|Entry { time, insertion, code }| (time, insertion, code, false)),
        );
        all.sort_unstable();
        self.insertions = INSERTION;
        self.renumberings = self.renumberings.wrapping_add(1);
        self.near_until = 0;
        for (time, _, code, is_near) in all {
            let insertion = self.insertions;
            if is_near {
                self.near.push(self.key(time, insertion), code);
            } else {
                self.far.push(Entry { time, insertion, code });
            }
            self.insertions += INSERTION;
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

        fn order(self) -> Order {
            match self % 5 {
                0 => Order::Any,
                1 => Order::OfPeriods,
                _ => Order::Kept,
            }
        }
    }

    #[derive(Clone, Copy, Debug)]
    enum Operation {
        PushAfter(u64),
        Pop,
        Advance(u64),
        /// The end is so much later than now; at the latest time there is, where none is told.
        End(Option<u64>),
    }

    fn operation() -> impl Strategy<Value = Operation> {
        // Now and then from what is due soon into the wheel, and past it.
        let soon = SOON.as_ns();
        // And to both sides of where an epoch ends, which is SOON before the times that a key of 64 bits
        // counts to.
        let far = (1 << 32) - 2 * soon..(1 << 32) + soon;
        // What the queue knows of both parts holds from one end to the next, so that there are few.
        prop_oneof![
            10 => (0u64..20).prop_map(Operation::PushAfter),
            10 => (soon - 10..soon + 10).prop_map(Operation::PushAfter),
            10 => far.clone().prop_map(Operation::PushAfter),
            // Slots and turns of the wheel, and beyond.
            10 => (0u32..40, 0u64..3).prop_map(|(bits, more)| Operation::PushAfter((1 << bits) + more)),
            30 => Just(Operation::Pop),
            10 => (0u64..20).prop_map(Operation::Advance),
            10 => (0..soon).prop_map(Operation::Advance),
            2 => Just(Operation::End(None)),
            1 => prop_oneof![0u64..30, soon - 10..soon + 10, far].prop_map(|span| Operation::End(Some(span))),
        ]
    }

    proptest! {
        #[test]
        fn pops_in_order_of_time_then_insertion(times in proptest::collection::vec(prop_oneof![0u64..50, SOON.as_ns()..SOON.as_ns() + 50], 0..300)) {
            let mut queue = EventQueue::new();
            queue.end_at(Time::MAX);
            for (i, &t) in times.iter().enumerate() {
                queue.push(Time::from_ns(t), i as u32);
            }
            let mut expected: Vec<_> = times.iter().enumerate().map(|(i, &t)| (t, i as u32)).collect();
            expected.sort();
            let mut popped = Vec::new();
            while let Some((time, event)) = queue.pop() {
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
            let mut queue = EventQueue { insertions: 0u32.wrapping_sub((1 + left) * INSERTION), ..EventQueue::new() };
            queue.end_at(Time::MAX);
            let mut pending: Vec<(u64, u32)> = Vec::new();
            let (mut now, mut end) = (0, u64::MAX);
            for (i, operation) in operations.into_iter().enumerate() {
                match operation {
                    Operation::PushAfter(span) => {
                        queue.push(Time::from_ns(now + span), i as u32);
                        pending.push((now + span, i as u32));
                    }
                    Operation::End(span) => {
                        end = span.map_or(u64::MAX, |span| now + span);
                        queue.end_at(Time::from_ns(end));
                    }
                    Operation::Pop => {
                        let earliest = pending.iter().copied().filter(|e| e.0 <= end).min();
                        let popped = queue.pop();
                        prop_assert_eq!(popped.map(|(time, event)| (time.as_ns(), event)), earliest);
                        if let Some(earliest) = earliest {
                            now = earliest.0;
                            pending.retain(|&e| e != earliest);
                        }
                    }
                    Operation::Advance(span) => {
                        let free = now + span <= end && pending.iter().all(|e| e.0 > now + span);
                        let advances = queue.advance(Time::from_ns(now + span));
                        prop_assert!(free || !advances);
                        if advances {
                            now += span;
                        }
                    }
                }
                prop_assert_eq!(queue.len(), pending.len());
                prop_assert_eq!(queue.is_empty(), pending.is_empty());
            }
        }
    }

    #[test]
    fn goes_on_to_where_nothing_comes_before_up_to_the_end() {
        let mut queue = EventQueue::new();
        queue.push(Time::from_ns(10), 1u32);
        queue.push(Time::from_ns(500_000_000), 2);
        // No end is told yet.
        assert!(!queue.advance(Time::from_ns(9)));
        queue.end_at(Time::from_ns(600_000_000));
        assert_eq!([10, 9].map(|ns| queue.advance(Time::from_ns(ns))), [false, true]);
        assert_eq!(queue.pop(), Some((Time::from_ns(10), 1)));
        assert_eq!([500_000_000, 499_999_999].map(|ns| queue.advance(Time::from_ns(ns))), [false, true]);
        assert_eq!(queue.pop(), Some((Time::from_ns(500_000_000), 2)));
        assert_eq!([600_000_001, 600_000_000].map(|ns| queue.advance(Time::from_ns(ns))), [false, true]);
    }

    #[test]
    fn what_is_pushed_where_the_queue_has_looked_beyond_the_end_comes_in_order() {
        let mut queue = EventQueue::new();
        // Eight lie in order; the ninth is due turns of the wheel later, and looked for before the end.
        let first = (2..10).map(|tenths| Time::from_ns(tenths * 100_000_000));
        let late = Time::from_ns(10_000_000_000);
        for (time, n) in first.clone().chain([late]).zip(0u32..) {
            queue.push(time, n);
        }
        queue.end_at(Time::from_ns(5_000_000_000));
        let times: Vec<Time> = std::iter::from_fn(|| queue.pop()).map(|(time, _)| time).collect();
        assert_eq!(times, first.collect::<Vec<Time>>());
        queue.end_at(Time::MAX);
        let more: Vec<Time> = (11..20).map(|tenths| Time::from_ns(tenths * 100_000_000)).collect();
        for &time in &more {
            queue.push(time, 0);
        }
        let times: Vec<Time> = std::iter::from_fn(|| queue.pop()).map(|(time, _)| time).collect();
        assert_eq!(times, [more, vec![late]].concat());
    }

    #[test]
    fn stops_at_the_end() {
        let mut queue = EventQueue::new();
        queue.push(Time::from_ns(10), 1u32);
        queue.end_at(Time::from_ns(9));
        assert_eq!(queue.pop(), None);
        queue.end_at(Time::from_ns(10));
        assert_eq!(queue.pop(), Some((Time::from_ns(10), 1)));
        assert!(queue.is_empty());
        queue.end_at(Time::MAX);
        assert_eq!(queue.pop(), None);
        queue.push(Time::MAX, u32::MAX);
        assert_eq!(queue.pop(), Some((Time::MAX, u32::MAX)));
        assert_eq!(queue.pop(), None);
    }

    #[test]
    fn what_is_in_any_run_goes_over_into_the_next_epoch() {
        let mut queue = EventQueue::new();
        queue.end_at(Time::MAX);
        let at = |us: u64| Time::ZERO + EPOCH + Span::from_us(us);
        queue.push(Time::from_ns(EPOCH.as_ns() - 500_000), 2);
        assert_eq!(queue.pop().map(|(_, code)| code), Some(2));
        // Each is due before all others: four runs, three more, and the heap. The first begins an epoch.
        let due = [90, 80, 70, 60, 50, 40, 30, 20, 10, 0];
        for us in due {
            queue.push(at(us), 2 + 5 * us as u32);
        }
        let order: Vec<(Time, u32)> = std::iter::from_fn(|| queue.pop()).collect();
        let expected: Vec<(Time, u32)> =
            due.into_iter().rev().map(|us| (at(us), 2 + 5 * us as u32)).collect();
        assert_eq!(order, expected);
    }

    #[test]
    fn what_is_pushed_at_a_reserved_place_comes_out_as_if_it_had_been_pushed_then() {
        let at = |ns| Time::from_ns(ns);
        // Due soon, and in the wheel.
        for due in [50, 2 * SOON.as_ns()] {
            let mut queue = EventQueue::new();
            queue.end_at(Time::MAX);
            queue.push(at(due), 2);
            let reserved = queue.reserve();
            queue.push(at(due), 3);
            queue.push(at(20), 4);
            assert_eq!(queue.pop(), Some((at(20), 4)));
            queue.push_reserved(Order::Any, at(due), 7, reserved);
            let order: Vec<u32> = std::iter::from_fn(|| queue.pop()).map(|(_, code)| code).collect();
            assert_eq!(order, [2, 7, 3]);
        }
    }

    #[test]
    fn where_insertions_are_counted_anew_a_reserved_place_is_behind_the_others() {
        let at = Time::from_ns(50);
        let last = 0u32.wrapping_sub(INSERTION);
        let mut queue = EventQueue { insertions: last, ..EventQueue::new() };
        queue.end_at(Time::MAX);
        let reserved = queue.reserve();
        queue.push(at, 2);
        queue.push_reserved(Order::Kept, at, 7, reserved);
        queue.push(at, 3);
        let order: Vec<u32> = std::iter::from_fn(|| queue.pop()).map(|(_, code)| code).collect();
        assert_eq!(order, [2, 7, 3]);
        // The count itself can be what takes the last place.
        let mut queue = EventQueue::<u32> { insertions: 0, ..EventQueue::new() };
        assert_eq!(
            queue.reserve(),
            Reserved { insertion: NonZeroU32::new(INSERTION).unwrap(), renumberings: 1 }
        );
    }
}
