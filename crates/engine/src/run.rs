//! The loop: takes the earliest event, hands it to the simulation, until the end.

use crate::queue::EventQueue;
use crate::time::Time;

/// How many events may happen at one instant before the run is stopped as a livelock.
///
/// Chosen: hundreds of times what a thousand flows that start together need, and reached within seconds.
pub const EVENTS_PER_INSTANT_LIMIT: u64 = 1_000_000;

/// What the loop drives.
pub trait Simulation {
    /// A small `Copy` value.
    type Event: Copy;

    /// Handles one event; false when it was a superseded wake-up that found nothing to do.
    fn handle(&mut self, now: Time, event: Self::Event, queue: &mut EventQueue<Self::Event>) -> bool;
}

/// The run did not advance: more than [`EVENTS_PER_INSTANT_LIMIT`] events at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Livelock {
    /// The instant that never ended.
    pub at: Time,
}

/// Runs until no event is left at or before `until`. Returns the number of events that did something.
pub fn run_until<S: Simulation>(
    simulation: &mut S,
    queue: &mut EventQueue<S::Event>,
    until: Time,
) -> Result<u64, Livelock> {
    let mut events = 0;
    let mut instant = Time::ZERO;
    let mut at_instant = 0;
    while let Some((now, event)) = queue.pop_until(until) {
        if now == instant {
            at_instant += 1;
            if at_instant > EVENTS_PER_INSTANT_LIMIT {
                return Err(Livelock { at: now });
            }
        } else {
            instant = now;
            at_instant = 0;
        }
        events += u64::from(simulation.handle(now, event, queue));
    }
    Ok(events)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Echo {
        again_at_once: bool,
        seen: Vec<(u64, u8)>,
    }

    impl Simulation for Echo {
        type Event = u8;
        fn handle(&mut self, now: Time, event: u8, queue: &mut EventQueue<u8>) -> bool {
            if self.again_at_once {
                queue.push(now, event);
            } else {
                self.seen.push((now.as_ns(), event));
            }
            event != 0
        }
    }

    #[test]
    fn counts_only_events_that_did_something_and_includes_the_end() {
        let mut queue = EventQueue::new();
        for (time, event) in [(5, 1), (5, 0), (7, 2), (8, 3)] {
            queue.push(Time::from_ns(time), event);
        }
        let mut echo = Echo { again_at_once: false, seen: Vec::new() };
        assert_eq!(run_until(&mut echo, &mut queue, Time::from_ns(7)), Ok(2));
        assert_eq!(echo.seen, [(5, 1), (5, 0), (7, 2)]);
    }

    #[test]
    fn endless_work_at_one_instant_is_an_error() {
        let mut queue = EventQueue::new();
        queue.push(Time::from_ns(5), 1);
        let mut echo = Echo { again_at_once: true, seen: Vec::new() };
        assert_eq!(run_until(&mut echo, &mut queue, Time::MAX), Err(Livelock { at: Time::from_ns(5) }));
    }
}
