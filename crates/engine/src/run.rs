//! The loop: takes the earliest event, hands it to the simulation, until the end.

use crate::queue::{Event, EventQueue, Reserved};
use crate::time::Time;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// How many events may happen at one instant before the run is stopped as a livelock, at the next look.
///
/// Chosen: hundreds of times what a thousand flows that start together need, and reached within seconds.
pub const EVENTS_PER_INSTANT_LIMIT: u64 = 1_000_000;

/// What the loop drives.
pub trait Simulation {
    /// What it is woken for.
    type Event: Event;

    /// Handles one event, and those to which it [advances](EventQueue::advance). Returns how many did
    /// something: a superseded wake-up finds nothing to do.
    fn handle(&mut self, now: Time, event: Self::Event, queue: &mut EventQueue<Self::Event>) -> u64;

    /// The place among simultaneous events of one that was pushed
    /// [ahead of its turn](EventQueue::push_ahead).
    fn place_of(&self, _event: Self::Event) -> Option<Reserved> {
        None
    }

    /// Called now and then before the first event of an instant or between two of it: what lies before `now`
    /// will not change. False ends the run.
    fn look(&mut self, _now: Time) -> bool {
        true
    }
}

/// The run did not advance: more than [`EVENTS_PER_INSTANT_LIMIT`] events at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Livelock {
    /// The instant that never ended.
    pub at: Time,
}

/// How many events may be taken from the queue between two looks at the [`Watch`]. Chosen: far below a
/// millisecond's work, and where each of them leads a cell on, a few of them.
const EVENTS_PER_LOOK: u64 = 256;

/// What others see of a run at work, and how they end it. It changes nothing in the results.
#[derive(Debug, Default)]
pub struct Watch {
    now_ns: AtomicU64,
    stop: AtomicBool,
}

impl Watch {
    /// The simulated time that the run has reached.
    pub fn now(&self) -> Time {
        Time::from_ns(self.now_ns.load(Ordering::Relaxed))
    }

    /// Ends the run at the next look.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Whether the run is to end.
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Why a run did not reach its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfinished {
    /// It did not advance.
    Livelock(Livelock),
    /// It was stopped from outside, at this time, after so many events that did something.
    Stopped {
        /// The simulated time reached.
        at: Time,
        /// Events that did something.
        events: u64,
    },
}

impl Unfinished {
    /// The same of a run that did so many events before.
    pub fn after(self, before: u64) -> Unfinished {
        match self {
            Unfinished::Stopped { at, events } => Unfinished::Stopped { at, events: before + events },
            livelock @ Unfinished::Livelock(_) => livelock,
        }
    }
}

/// Runs until no event is left at or before `until`. Returns the number of events that did something.
pub fn run_until<S: Simulation>(
    simulation: &mut S,
    queue: &mut EventQueue<S::Event>,
    until: Time,
    watch: &Watch,
) -> Result<u64, Unfinished> {
    let mut taken: u64 = 0;
    // How many more did something than were taken. Mostly each taken one did, and this stays as it is.
    let mut beyond: u64 = 0;
    let mut looked_at = Time::MAX;
    let mut at_instant = 0;
    queue.end_at(until);
    while let Some((now, event)) = queue.pop_by(|event| simulation.place_of(event)) {
        if taken.is_multiple_of(EVENTS_PER_LOOK) {
            at_instant = if now == looked_at { at_instant + EVENTS_PER_LOOK } else { 0 };
            if at_instant > EVENTS_PER_INSTANT_LIMIT {
                return Err(Unfinished::Livelock(Livelock { at: now }));
            }
            looked_at = now;
            watch.now_ns.store(now.as_ns(), Ordering::Relaxed);
            if watch.stopped() || !simulation.look(now) {
                return Err(Unfinished::Stopped { at: now, events: taken.wrapping_add(beyond) });
            }
        }
        taken += 1;
        let done = simulation.handle(now, event, queue);
        if done != 1 {
            beyond = beyond.wrapping_add(done).wrapping_sub(1);
        }
    }
    Ok(taken.wrapping_add(beyond))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Echo {
        again_at_once: bool,
        seen: Vec<(u64, u32)>,
    }

    impl Simulation for Echo {
        type Event = u32;
        fn handle(&mut self, now: Time, event: u32, queue: &mut EventQueue<u32>) -> u64 {
            if self.again_at_once {
                queue.push(now, event);
            } else {
                self.seen.push((now.as_ns(), event));
            }
            u64::from(event != 0)
        }
    }

    #[test]
    fn counts_only_events_that_did_something_and_includes_the_end() {
        let mut queue = EventQueue::new();
        for (time, event) in [(5, 1), (5, 0), (7, 2), (8, 3)] {
            queue.push(Time::from_ns(time), event);
        }
        let mut echo = Echo { again_at_once: false, seen: Vec::new() };
        assert_eq!(run_until(&mut echo, &mut queue, Time::from_ns(7), &Watch::default()), Ok(2));
        assert_eq!(echo.seen, [(5, 1), (5, 0), (7, 2)]);
    }

    #[test]
    fn endless_work_at_one_instant_is_an_error() {
        let mut queue = EventQueue::new();
        queue.push(Time::from_ns(5), 1);
        let mut echo = Echo { again_at_once: true, seen: Vec::new() };
        let livelock = Unfinished::Livelock(Livelock { at: Time::from_ns(5) });
        assert_eq!(run_until(&mut echo, &mut queue, Time::MAX, &Watch::default()), Err(livelock));
    }

    #[test]
    fn what_was_done_before_counts_where_a_run_stopped() {
        let stopped = |events| Unfinished::Stopped { at: Time::from_ns(7), events };
        assert_eq!(stopped(3).after(10), stopped(13));
        let livelock = Unfinished::Livelock(Livelock { at: Time::from_ns(7) });
        assert_eq!(livelock.after(10), livelock);
    }

    /// Stops its run at the 1000th event.
    struct Endless<'a> {
        seen: u64,
        watch: &'a Watch,
        looks: Vec<u64>,
        enough: Time,
    }

    impl Simulation for Endless<'_> {
        type Event = u32;
        fn handle(&mut self, now: Time, event: u32, queue: &mut EventQueue<u32>) -> u64 {
            self.seen += 1;
            if self.seen == 1000 {
                self.watch.stop();
            }
            queue.push(Time::from_ns(now.as_ns() + 1), event);
            1
        }

        fn look(&mut self, now: Time) -> bool {
            self.looks.push(now.as_ns());
            now < self.enough
        }
    }

    #[test]
    fn a_run_that_is_stopped_says_how_far_it_came() {
        let watch = Watch::default();
        let mut queue = EventQueue::new();
        queue.push(Time::from_ns(1), 0);
        // Looks come before the events 1, 257, 513, 769 and 1025; event n is at n ns.
        let stopped = Unfinished::Stopped { at: Time::from_ns(1025), events: 1024 };
        let mut endless = Endless { seen: 0, watch: &watch, looks: Vec::new(), enough: Time::MAX };
        assert_eq!(run_until(&mut endless, &mut queue, Time::MAX, &watch), Err(stopped));
        assert_eq!(watch.now(), Time::from_ns(1025));
        assert_eq!(endless.looks, [1, 257, 513, 769]);
    }

    #[test]
    fn a_simulation_ends_its_run_at_a_look() {
        let watch = Watch::default();
        let mut queue = EventQueue::new();
        queue.push(Time::from_ns(1), 0);
        let mut endless = Endless { seen: 0, watch: &watch, looks: Vec::new(), enough: Time::from_ns(400) };
        let stopped = Unfinished::Stopped { at: Time::from_ns(513), events: 512 };
        assert_eq!(run_until(&mut endless, &mut queue, Time::MAX, &watch), Err(stopped));
    }
}
