//! The event queue, in the order of (time, insertion): runs and a heap for events that are due soon, and a
//! timing wheel for the others.
//!
//! Events at one instant come out in the order in which they were pushed, or in which their places were
//! reserved. An event is a number of 32 bits
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
//!   one of some run. More runs, which other events do not pay for, take what fits into none where wires are
//!   of many delays, and events that may be due at any time ([`Event::order`]), such as those of pacers. The
//!   `heap` only holds entries that fit no run.
//! - **Ahead of its turn.** The event of a packet on a wire is pushed when the packet is sent. Behind others,
//!   its place in the order of insertions is reserved only when the packet before it arrives. Until then it
//!   has an earlier place. If another event comes out at the same time, it is put back at the reserved one.
//! - **Order of the runs.** They are the piles of patience sorting. Except for the run that periodic events
//!   share, their last entries are in order, the latest first. So the first run that fits is the closest.

mod heap;
mod near;
mod wheel;

use crate::time::{Span, Time};
use near::Near;
use std::marker::PhantomData;
use std::num::NonZeroU64;
use wheel::{Entry, Wheel};

/// What is due within this time is due soon. Chosen: shorter than the 200 ms that retransmission timers and
/// delayed acknowledgements of most implementations of TCP last at least.
const SOON: Span = Span::from_ms(100);

/// The same of events that are pushed in their order, which wait in runs. Chosen: longer than what packets
/// take over a satellite, or behind the queue of a slow link.
const SOON_IN_ORDER: Span = Span::from_secs(1);

/// Later than every key: of a place without an entry.
const NOTHING: u64 = u64::MAX;

/// Times in keys of 64 bits count from another instant on once an event has come out so long after it: what
/// is due soon then has room in them.
const EPOCH: Span = Span::from_ns((1 << (u64::BITS - INSERTION_BITS)) - SOON_IN_ORDER.as_ns());

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
    /// Any: they are kept out of the runs that packets look at.
    Any,
}

/// Bits of a key for the count of insertions, and the lowest of them, which tell the run that an entry is in
/// and decide no order.
const INSERTION_BITS: u32 = 32;
const RUN_BITS: u32 = 3;

/// The bits of the time.
const TIMES: u64 = !0 << INSERTION_BITS;

/// The bit above those of the run: the event was pushed ahead of its turn.
const AHEAD: u32 = 1 << RUN_BITS;

/// One insertion.
const INSERTION: u32 = AHEAD << 1;

/// Whether an event of this key was pushed ahead of its turn, and the next one comes at its time.
#[inline(always)]
fn is_ahead(key: u64, next: u64) -> bool {
    // One jump, which is hardly ever taken: whether it was pushed ahead changes from packet to packet.
    (key ^ next) & TIMES | !key & u64::from(AHEAD) == 0
}

/// A place in the order of insertions, for an event that is pushed later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reserved(NonZeroU64);

/// Pending events in order of time, then of insertion.
pub struct EventQueue<E> {
    /// What was due soon when it was pushed, by the time since `epoch`.
    near: Near,
    /// The rest.
    far: Wheel,
    /// The number of the next one, from [`INSERTION`] on. Keys have its lower half; the upper one grows when
    /// insertions are renumbered.
    insertions: u64,
    /// Numbers from this one on have no room in keys: pending events are renumbered first.
    insertions_until: u64,
    /// Nothing comes out beyond it.
    end: Time,
    /// No later than anything pending, and less than 2^32 ns before all that is in `near`.
    epoch: Time,
    /// The time of the event that came out last: less than [`EPOCH`] after `epoch`.
    now: Time,
    /// The first key of `near` that is beyond the end, or in the next epoch.
    bound: u64,
    /// Keys of `near` below this one are of earlier times than all that is in `far`, before the end, and in
    /// this epoch.
    near_until: u64,
    events: PhantomData<E>,
}

impl<E: Event> Default for EventQueue<E> {
    fn default() -> Self {
        EventQueue {
            near: Near::default(),
            far: Wheel::default(),
            insertions: u64::from(INSERTION),
            insertions_until: 1 << INSERTION_BITS,
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

    /// Adds an event of [`Order::Kept`], as [`EventQueue::push`] does where it is its turn. Where it is not,
    /// its place in the order of insertions is reserved later, and told if another event comes out at the
    /// same time ([`EventQueue::pop_by`]). Until then it has the number of the next insertion, which is no
    /// later than its own: so it comes out before what is pushed from now on, and is put back where it must.
    #[inline(never)]
    pub fn push_ahead(&mut self, time: Time, event: E, is_its_turn: bool) {
        debug_assert!(time >= self.now, "an event at {time} in the past of {}", self.now);
        let insertion = self.insertions;
        if insertion >= self.insertions_until {
            return self.push_ahead_counted_anew(time, event, is_its_turn);
        }
        // Without a jump: whose turn it is changes from packet to packet.
        let ahead = u64::from(AHEAD) * u64::from(!is_its_turn);
        self.insertions = insertion + u64::from(INSERTION) - 2 * ahead;
        self.push_numbered(Order::Kept, time, event.to_code(), (insertion + ahead) as u32);
    }

    #[cold]
    #[inline(never)]
    fn push_ahead_counted_anew(&mut self, time: Time, event: E, is_its_turn: bool) {
        self.count_anew();
        self.push_ahead(time, event, is_its_turn);
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
        if insertion >= self.insertions_until {
            return self.push_counted_anew(order, time, code);
        }
        self.insertions = insertion + u64::from(INSERTION);
        self.push_numbered(order, time, code, insertion as u32);
    }

    #[inline(always)]
    fn push_numbered(&mut self, order: Order, time: Time, code: u32, insertion: u32) {
        let soon = match order {
            Order::Kept => SOON_IN_ORDER,
            Order::OfPeriods | Order::Any => SOON,
        };
        // Neither is less than zero.
        if time.as_ns().wrapping_sub(self.now.as_ns()) < soon.as_ns() {
            // Less than 2^32, as the last event came out in this epoch.
            let since = time.as_ns().wrapping_sub(self.epoch.as_ns());
            let key = since << INSERTION_BITS | u64::from(insertion);
            match order {
                Order::Kept => self.near.push(key, code),
                Order::OfPeriods => self.near.push_last(key, code),
                Order::Any => self.near.push_apart(key, code),
            }
        } else {
            self.push_far(time, insertion, code);
        }
    }

    /// Takes the place in the order of insertions that an event pushed now would have.
    #[inline(always)]
    pub fn reserve(&mut self) -> Reserved {
        let insertion = self.insertions;
        self.insertions += u64::from(INSERTION);
        // The lowest bit, which decides no order, is what makes it another number than zero.
        Reserved(NonZeroU64::MIN | insertion)
    }

    /// Adds an event as if it had been pushed when its place was reserved. Nothing at its time that was
    /// pushed later may have come out. If insertions have been renumbered since, as once in 270
    /// million, it comes behind the others.
    #[inline(never)]
    pub fn push_reserved(&mut self, order: Order, time: Time, event: E, reserved: Reserved) {
        let insertion = reserved.0.get() & !1;
        if insertion >> INSERTION_BITS == (self.insertions_until - 1) >> INSERTION_BITS {
            self.push_numbered(order, time, event.to_code(), insertion as u32);
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
        self.near_until = self.near_until.min(self.key(time, insertion) & TIMES);
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
        self.pop_by(|_| None)
    }

    /// The same where events were pushed [ahead of their turn](EventQueue::push_ahead): `place_of` tells the
    /// place that was reserved for such a one. Without one it comes behind the others of its time.
    #[inline(always)]
    pub fn pop_by(&mut self, place_of: impl Fn(E) -> Option<Reserved>) -> Option<(Time, E)> {
        loop {
            let near = self.near.first();
            let (code, is_ahead) = if near < self.near_until {
                self.now = Time::from_ns(self.epoch.as_ns() + (near >> INSERTION_BITS));
                let code = self.near.take_first();
                (code, is_ahead(near, self.near.first()))
            } else {
                self.pop_of_both()?
            };
            let event = E::from_code(code);
            if !is_ahead {
                return Some((self.now, event));
            }
            self.put_back(event, place_of(event));
        }
    }

    /// Puts back an event that was pushed ahead of its turn, with the place that it has now.
    #[cold]
    #[inline(never)]
    fn put_back(&mut self, event: E, place: Option<Reserved>) {
        match place {
            Some(place) => self.push_reserved(Order::Any, self.now, event, place),
            None => self.push_of(Order::Any, self.now, event),
        }
    }

    /// The number of the earliest event, where that may be in `far`, beyond the end, or in another epoch.
    /// True where another event of that time may come first.
    #[inline(never)]
    fn pop_of_both(&mut self) -> Option<(u32, bool)> {
        let near = self.near.first();
        let (time, insertion, code) = loop {
            let is_near = near < self.first_of_far();
            let (time, insertion) = match is_near {
                true => (self.time_of(near), near as u32),
                false => self.far.first()?,
            };
            if time > self.end {
                return None;
            }
            if is_near {
                break (time, insertion, self.near.take_first());
            }
            if let Some(code) = self.far.take_first() {
                break (time, insertion, code);
            }
            self.far.open(self.time_of(near));
        };
        self.now = time;
        if time.since(self.epoch) >= EPOCH {
            self.begin_epoch();
        }
        self.bound_near();
        // What is known of `far` may be an earlier time than that of its first.
        let next = self.near.first().min(self.first_of_far());
        Some((code, insertion & AHEAD != 0 && next <= self.key(time, u32::MAX)))
    }

    /// The key before which nothing of `far` comes.
    #[inline(always)]
    fn first_of_far(&self) -> u64 {
        self.far.first().map_or(NOTHING, |(time, insertion)| self.key(time, insertion))
    }

    /// Keeps up to where `near` is asked alone.
    #[inline]
    fn bound_near(&mut self) {
        self.near_until = (self.first_of_far() & TIMES).min(self.bound);
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

    /// Times in `near` count from the time of the last event on: once in some three seconds.
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

    /// Renumbers the pending events in their order: once in 270 million.
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
        // Two on: places that were reserved while there was no room are of no numbering.
        self.insertions = self.insertions_until + (1 << INSERTION_BITS) + u64::from(INSERTION);
        self.insertions_until += 2 << INSERTION_BITS;
        self.near_until = 0;
        for (time, before, code, is_near) in all {
            let insertion = self.insertions as u32 | before & AHEAD;
            if is_near {
                self.near.push(self.key(time, insertion), code);
            } else {
                self.far.push(Entry { time, insertion, code });
            }
            self.insertions += u64::from(INSERTION);
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
        let [soon, in_order] = [SOON, SOON_IN_ORDER].map(Span::as_ns);
        // And to both sides of where an epoch ends, which is that before the times that a key of 64 bits
        // counts to.
        let far = (1 << 32) - 2 * in_order..(1 << 32) + in_order;
        // What the queue knows of both parts holds from one end to the next, so that there are few.
        prop_oneof![
            10 => (0u64..20).prop_map(Operation::PushAfter),
            10 => (soon - 10..soon + 10).prop_map(Operation::PushAfter),
            10 => (in_order - 10..in_order + 10).prop_map(Operation::PushAfter),
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
            let mut queue = EventQueue { insertions: (1 << INSERTION_BITS) - u64::from((1 + left) * INSERTION), ..EventQueue::new() };
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
        let last = (1 << INSERTION_BITS) - u64::from(INSERTION);
        let mut queue = EventQueue { insertions: last, ..EventQueue::new() };
        queue.end_at(Time::MAX);
        let reserved = queue.reserve();
        queue.push(at, 2);
        queue.push_reserved(Order::Kept, at, 7, reserved);
        queue.push(at, 3);
        let order: Vec<u32> = std::iter::from_fn(|| queue.pop()).map(|(_, code)| code).collect();
        assert_eq!(order, [2, 7, 3]);
        // Pending events are renumbered when the next one is pushed: this place is behind them as well.
        let mut queue = EventQueue { insertions: 1 << INSERTION_BITS, ..EventQueue::new() };
        queue.end_at(Time::MAX);
        let reserved = queue.reserve();
        queue.push(at, 2);
        queue.push_reserved(Order::Kept, at, 7, reserved);
        let order: Vec<u32> = std::iter::from_fn(|| queue.pop()).map(|(_, code)| code).collect();
        assert_eq!(order, [2, 7]);
    }

    #[test]
    fn what_was_pushed_ahead_gives_way_to_what_waits_in_the_wheel() {
        let at = |ms| Time::ZERO + Span::from_ms(ms);
        let mut queue = EventQueue::new();
        queue.end_at(Time::MAX);
        queue.push_ahead(at(450), 1001, true);
        queue.push_ahead(at(600), 1002, false);
        // Of any order, not due soon, and in one slot.
        queue.push(at(590), 10u32);
        queue.push(at(600), 5);
        assert_eq!(queue.pop(), Some((at(450), 1001)));
        let turn = queue.reserve();
        let order: Vec<u32> =
            std::iter::from_fn(|| queue.pop_by(|_| Some(turn))).map(|(_, code)| code).collect();
        assert_eq!(order, [10, 5, 1002]);
    }

    #[derive(Clone, Copy, Debug)]
    enum Passing {
        /// An event by itself, after so long.
        Push(u64),
        /// One of this line, so long behind its last one.
        Send(usize, u64),
        /// The next event comes out.
        Pop,
    }

    fn passing() -> impl Strategy<Value = Passing> {
        // Near and far from each other, and from now: on both sides of what is due soon, of slots and turns
        // of the wheel, and of epochs.
        let [soon, in_order] = [SOON, SOON_IN_ORDER].map(Span::as_ns);
        let about = |ns: u64| ns - 2..ns + 2;
        let spans = move || {
            prop_oneof![
                16 => 0u64..4,
                1 => about(soon),
                1 => about(in_order),
                1 => about(1 << 26),
                1 => about((1 << 32) - in_order),
                1 => about(1 << 32),
            ]
        };
        prop_oneof![
            2 => spans().prop_map(Passing::Push),
            3 => (0usize..3, spans()).prop_map(|(line, span)| Passing::Send(line, span)),
            4 => Just(Passing::Pop),
        ]
    }

    proptest! {
        /// Three lines whose events are pushed ahead of their turn come out as if only the first event of
        /// each line were pending.
        #[test]
        fn what_is_pushed_ahead_comes_out_in_its_turn(passings in proptest::collection::vec(passing(), 0..300)) {
            /// The numbers of events by themselves are below.
            const OF_LINES: u32 = 1 << 20;
            let mut queue = EventQueue::new();
            queue.end_at(Time::MAX);
            let mut turns: [Option<Reserved>; 3] = [None; 3];
            let mut lines: [std::collections::VecDeque<(u64, u32)>; 3] = Default::default();
            let mut latest = [0u64; 3];
            let mut pending: Vec<(u64, u32, u32)> = Vec::new();
            let (mut now, mut pushed) = (0, 0);
            let mut push = |pending: &mut Vec<(u64, u32, u32)>, at, code| {
                pending.push((at, pushed, code));
                pushed += 1;
            };
            let line_of = |code: u32| code.checked_sub(OF_LINES).map(|code| code as usize % 3);
            for (number, passing) in (0u32..).zip(passings) {
                match passing {
                    Passing::Push(span) => {
                        queue.push(Time::from_ns(now + span), number);
                        push(&mut pending, now + span, number);
                    }
                    Passing::Send(line, span) => {
                        // No two of a line at one time.
                        latest[line] = latest[line].max(now) + 1 + span;
                        let (at, code) = (latest[line], OF_LINES + 3 * number + line as u32);
                        queue.push_ahead(Time::from_ns(at), code, lines[line].is_empty());
                        if lines[line].is_empty() {
                            push(&mut pending, at, code);
                        }
                        lines[line].push_back((at, code));
                    }
                    Passing::Pop => {
                        let popped = queue.pop_by(|code| line_of(code).and_then(|line| turns[line]));
                        let earliest = pending.iter().copied().min();
                        prop_assert_eq!(
                            popped.map(|(time, code)| (time.as_ns(), code)),
                            earliest.map(|(at, _, code)| (at, code))
                        );
                        let Some(earliest @ (at, _, code)) = earliest else { continue };
                        now = at;
                        pending.retain(|&other| other != earliest);
                        if let Some(line) = line_of(code) {
                            lines[line].pop_front();
                            let next = lines[line].front().copied();
                            turns[line] = Some(queue.reserve());
                            if let Some((at, code)) = next {
                                push(&mut pending, at, code);
                            }
                        }
                    }
                }
            }
        }
    }
}
