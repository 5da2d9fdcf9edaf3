//! Wake-ups of machines whose deadline moves.

use crate::event::{Event, Wake};
use roamsim_engine::{EventQueue, Time};

/// The instant at which something happens, and the queue of what is to happen: handed along by whoever does
/// something.
pub struct Moment<'a> {
    /// The instant.
    pub now: Time,
    queue: &'a mut EventQueue<Wake>,
}

impl<'a> Moment<'a> {
    /// An instant in the work on what a queue holds.
    #[inline(always)]
    pub fn new(now: Time, queue: &'a mut EventQueue<Wake>) -> Moment<'a> {
        Moment { now, queue }
    }

    /// Has an event come at an instant.
    #[inline(always)]
    pub(crate) fn push(&mut self, at: Time, event: Event) {
        // Mostly one whose kind is known where this stands.
        self.queue.push_of(event.order(), at, event.into());
    }

    /// Goes on to a later instant, if nothing else happens up to it.
    #[inline]
    pub(crate) fn advance(&mut self, to: Time) -> bool {
        let advances = to > self.now && self.queue.advance(to);
        if advances {
            self.now = to;
        }
        advances
    }
}

/// A machine's soft deadline: the earliest wake-up that is pending for it.
///
/// When the machine's deadline moves later, the pending event fires early, finds nothing to do and re-arms;
/// when it moves earlier, a new event is pushed, and the superseded one no longer equals the alarm: a no-op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alarm(Time);

impl Default for Alarm {
    fn default() -> Self {
        Alarm(Time::MAX)
    }
}

impl Alarm {
    /// Makes sure that a wake-up is pending at or before `wanted`.
    #[inline]
    pub fn arm(&mut self, wanted: Option<Time>, event: Event, moment: &mut Moment<'_>) {
        let wanted = wanted.unwrap_or(Time::MAX);
        if wanted < self.0 {
            self.0 = wanted;
            moment.push(wanted, event);
        }
    }

    /// Called when a wake-up fires: false when it was superseded.
    #[inline]
    pub fn fires(&mut self, now: Time) -> bool {
        let current = self.0 == now;
        if current {
            self.0 = Time::MAX;
        }
        current
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_that_moves_earlier_supersedes_and_one_that_moves_later_re_arms() {
        let at = |ns| Time::from_ns(ns);
        let mut queue = EventQueue::new();
        queue.end_at(Time::MAX);
        let mut alarm = Alarm::default();
        let event = Event::Link(0);
        alarm.arm(Some(at(50)), event, &mut Moment::new(Time::ZERO, &mut queue));
        // Later: nothing is pushed, the pending wake-up will find nothing to do.
        alarm.arm(Some(at(80)), event, &mut Moment::new(Time::ZERO, &mut queue));
        assert_eq!(queue.len(), 1);
        // Earlier: a second wake-up, and the first is superseded.
        alarm.arm(Some(at(20)), event, &mut Moment::new(Time::ZERO, &mut queue));
        assert_eq!(queue.len(), 2);
        assert_eq!(queue.pop(), Some((at(20), event.into())));
        assert!(alarm.fires(at(20)));
        alarm.arm(Some(at(80)), event, &mut Moment::new(Time::ZERO, &mut queue));
        assert_eq!(queue.pop(), Some((at(50), event.into())));
        assert!(!alarm.fires(at(50)));
        assert_eq!(queue.pop(), Some((at(80), event.into())));
        assert!(alarm.fires(at(80)));
        assert!(queue.is_empty());
        alarm.arm(None, event, &mut Moment::new(Time::ZERO, &mut queue));
        assert!(queue.is_empty());
    }
}
