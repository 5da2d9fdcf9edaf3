//! Wake-ups of machines whose deadline moves.

use crate::event::{Event, Wake};
use roamsim_engine::queue::Reserved;
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

    /// A packet comes to the end of a wire at an instant. Among what happens then it has the place of what is
    /// pushed now where it `is_alone` on the wire, and that of the arrival before it where not.
    #[inline(always)]
    pub(crate) fn push_landing(&mut self, at: Time, place: u32, is_alone: bool) {
        self.queue.push_ahead(at, Event::Landing(place).into(), is_alone);
    }

    /// Takes the place that an event pushed now would have among those of its instant.
    #[inline(always)]
    pub(crate) fn reserve(&mut self) -> Reserved {
        self.queue.reserve()
    }

    /// Has an event come as if it had been pushed when its place was reserved.
    #[inline]
    fn push_reserved(&mut self, at: Time, event: Event, reserved: Reserved) {
        self.queue.push_reserved(event.order(), at, event.into(), reserved);
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

/// An [`Alarm`] of a machine whose short timers run within long ones, as a pacer's within the retransmission
/// timer: it goes off when that one would, and costs fewer events.
///
/// A superseded wake-up stays pending. What is wanted behind it is pushed when it comes, in the place that it
/// would have had: most will be superseded in their turn by then. Only one place is kept. Where an earlier
/// time is wanted, the wake-up of the later one is pushed at once. Where a later time is wanted, the place of
/// the earlier one is given up: deadlines that have moved on hardly ever come back to the nanosecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NestedAlarm {
    /// When it goes off.
    at: Time,
    /// A wake-up that was superseded and is still pending.
    superseded: Time,
    /// The place of a wake-up that is not pushed, and its time: of the one that goes off, or of the last that
    /// was superseded. Of two wake-ups for one time the first counts.
    place: Option<Reserved>,
    place_at: Time,
}

impl Default for NestedAlarm {
    fn default() -> Self {
        NestedAlarm { at: Time::MAX, superseded: Time::MAX, place: None, place_at: Time::MAX }
    }
}

impl NestedAlarm {
    /// As [`Alarm::arm`].
    #[inline]
    pub fn arm(&mut self, wanted: Option<Time>, event: Event, moment: &mut Moment<'_>) {
        let wanted = wanted.unwrap_or(Time::MAX);
        if wanted < self.at {
            self.arm_earlier(wanted, event, moment);
        }
    }

    /// Apart, as most of what a connection does leaves its next deadline where it is, or further on.
    #[inline(never)]
    fn arm_earlier(&mut self, wanted: Time, event: Event, moment: &mut Moment<'_>) {
        if self.superseded == Time::MAX {
            self.superseded = self.at;
        }
        self.at = wanted;
        let first = self.place_of(wanted);
        if self.superseded <= wanted {
            let place = first.unwrap_or_else(|| moment.reserve());
            // Mostly a timer that stands, such as a heartbeat's: it is wanted again behind this one.
            if let Some(later) = self.place.filter(|_| self.place_at > wanted) {
                moment.push_reserved(self.place_at, event, later);
            }
            (self.place, self.place_at) = (Some(place), wanted);
        } else if let Some(first) = first {
            self.place = None;
            moment.push_reserved(wanted, event, first);
        } else {
            moment.push(wanted, event);
        }
    }

    #[inline]
    fn place_of(&self, at: Time) -> Option<Reserved> {
        self.place.filter(|_| self.place_at == at)
    }

    /// As [`Alarm::fires`].
    #[inline]
    pub fn fires(&mut self, event: Event, moment: &mut Moment<'_>) -> bool {
        let is_superseded = self.superseded == moment.now;
        if is_superseded {
            self.superseded = Time::MAX;
        }
        let goes_off = self.at == moment.now;
        if goes_off || is_superseded {
            let is_of_this = self.place_at == self.at;
            let place = self.place.take_if(|_| is_of_this);
            if goes_off {
                self.at = Time::MAX;
            } else if let Some(place) = place {
                moment.push_reserved(self.at, event, place);
            }
        }
        goes_off
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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

    /// When wake-ups come, and whether they count.
    fn rest(alarm: &mut NestedAlarm, queue: &mut EventQueue<Wake>) -> Vec<(u64, bool)> {
        let mut come = Vec::new();
        while let Some((now, wake)) = queue.pop() {
            come.push((now.as_ns(), alarm.fires(wake.event(), &mut Moment::new(now, queue))));
        }
        come
    }

    #[test]
    fn what_is_wanted_behind_a_superseded_wake_up_is_pushed_when_that_comes() {
        let event = Event::Mihf(1);
        let arm = |alarm: &mut NestedAlarm, queue: &mut EventQueue<Wake>, now, ns| {
            alarm.arm(Some(Time::from_ns(ns)), event, &mut Moment::new(Time::from_ns(now), queue));
        };
        let mut queue = EventQueue::new();
        queue.end_at(Time::MAX);
        let mut alarm = NestedAlarm::default();
        arm(&mut alarm, &mut queue, 0, 50);
        arm(&mut alarm, &mut queue, 0, 20);
        assert_eq!(queue.pop().map(|(now, _)| now), Some(Time::from_ns(20)));
        assert!(alarm.fires(event, &mut Moment::new(Time::from_ns(20), &mut queue)));
        // Behind that at 50 ns, and superseded before that comes: not pushed.
        arm(&mut alarm, &mut queue, 20, 70);
        assert_eq!(queue.len(), 1);
        arm(&mut alarm, &mut queue, 20, 30);
        assert_eq!(queue.pop().map(|(now, _)| now), Some(Time::from_ns(30)));
        assert!(alarm.fires(event, &mut Moment::new(Time::from_ns(30), &mut queue)));
        arm(&mut alarm, &mut queue, 30, 90);
        assert_eq!(rest(&mut alarm, &mut queue), [(50, false), (90, true)]);
    }

    /// As of a retransmission timer that short ones interrupt.
    #[test]
    fn what_is_wanted_again_for_one_time_keeps_its_first_place() {
        let (own, other) = (Event::Mihf(1), Event::Mihf(0));
        let mut queue = EventQueue::new();
        queue.end_at(Time::MAX);
        let mut alarm = NestedAlarm::default();
        for ns in [50, 20] {
            alarm.arm(Some(Time::from_ns(ns)), own, &mut Moment::new(Time::ZERO, &mut queue));
        }
        let goes_off_at = |alarm: &mut NestedAlarm, queue: &mut EventQueue<Wake>, ns| {
            assert_eq!(queue.pop(), Some((Time::from_ns(ns), own.into())));
            assert!(alarm.fires(own, &mut Moment::new(Time::from_ns(ns), queue)));
        };
        goes_off_at(&mut alarm, &mut queue, 20);
        alarm.arm(Some(Time::from_ns(80)), own, &mut Moment::new(Time::from_ns(20), &mut queue));
        queue.push(Time::from_ns(80), other.into());
        alarm.arm(Some(Time::from_ns(30)), own, &mut Moment::new(Time::from_ns(20), &mut queue));
        goes_off_at(&mut alarm, &mut queue, 30);
        alarm.arm(Some(Time::from_ns(80)), own, &mut Moment::new(Time::from_ns(30), &mut queue));
        assert_eq!(queue.pop(), Some((Time::from_ns(50), own.into())));
        assert!(!alarm.fires(own, &mut Moment::new(Time::from_ns(50), &mut queue)));
        goes_off_at(&mut alarm, &mut queue, 80);
        assert_eq!(queue.pop(), Some((Time::from_ns(80), other.into())));
    }

    /// As of a heartbeat's timer, which stands while retransmission timers come and go.
    #[test]
    fn what_waits_behind_a_superseded_wake_up_keeps_its_place_where_an_earlier_time_is_wanted_there() {
        let (own, other) = (Event::Link(0), Event::Mihf(0));
        let mut queue = EventQueue::new();
        queue.end_at(Time::MAX);
        let mut alarm = NestedAlarm::default();
        let arm = |alarm: &mut NestedAlarm, queue: &mut EventQueue<Wake>, now, ns| {
            alarm.arm(Some(Time::from_ns(ns)), own, &mut Moment::new(Time::from_ns(now), queue));
        };
        let goes_off_at = |alarm: &mut NestedAlarm, queue: &mut EventQueue<Wake>, ns| {
            assert_eq!(queue.pop(), Some((Time::from_ns(ns), own.into())));
            alarm.fires(own, &mut Moment::new(Time::from_ns(ns), queue))
        };
        for ns in [50, 20] {
            arm(&mut alarm, &mut queue, 0, ns);
        }
        assert!(goes_off_at(&mut alarm, &mut queue, 20));
        arm(&mut alarm, &mut queue, 20, 90);
        queue.push(Time::from_ns(90), other.into());
        arm(&mut alarm, &mut queue, 20, 70);
        assert!(!goes_off_at(&mut alarm, &mut queue, 50));
        assert!(goes_off_at(&mut alarm, &mut queue, 70));
        arm(&mut alarm, &mut queue, 70, 90);
        assert!(goes_off_at(&mut alarm, &mut queue, 90));
        assert_eq!(queue.pop(), Some((Time::from_ns(90), other.into())));
    }

    proptest! {
        /// Beside an [`Alarm`] with a queue of its own, among other events: at the same instants, too, where
        /// no time is wanted twice.
        #[test]
        fn a_nested_alarm_goes_off_when_an_alarm_does(
            meets_others in any::<bool>(),
            steps in proptest::collection::vec((0u64..4, proptest::option::of(0u64..12), 0u64..12), 0..80),
        ) {
            let (own, other) = (Event::Mihf(1), Event::Mihf(0));
            let mut queues: [EventQueue<Wake>; 2] = Default::default();
            let (mut alarm, mut nested) = (Alarm::default(), NestedAlarm::default());
            let (mut now, mut others) = (0, 0);
            let mut wanted_before = std::collections::HashSet::new();
            for (pops, wanted, beside) in steps {
                for queue in &mut queues {
                    queue.end_at(Time::MAX);
                }
                let [plain, queue] = &mut queues;
                // Others come at odd times where they are not to meet.
                let own_at = |ns: u64| if meets_others { now + ns } else { (now + ns).next_multiple_of(2) };
                let wanted = wanted.map(own_at).filter(|&ns| wanted_before.insert(ns) || !meets_others);
                let beside = Time::from_ns(if meets_others { now + beside } else { (now + beside) | 1 });
                let at = Time::from_ns(now);
                alarm.arm(wanted.map(Time::from_ns), own, &mut Moment::new(at, plain));
                nested.arm(wanted.map(Time::from_ns), own, &mut Moment::new(at, queue));
                plain.push(beside, other.into());
                queue.push(beside, other.into());
                others += 1;
                for _ in 0..pops {
                    // Behind the last of these nothing may be left.
                    if others == 0 {
                        break;
                    }
                    // What counts, and the others, in their order.
                    let plainly = std::iter::from_fn(|| plain.pop())
                        .find(|&(at, wake)| wake.event() == other || alarm.fires(at));
                    let mut nestedly = None;
                    while let Some((at, wake)) = queue.pop() {
                        if wake.event() == other || nested.fires(own, &mut Moment::new(at, queue)) {
                            nestedly = Some((at, wake));
                            break;
                        }
                    }
                    prop_assert_eq!(plainly, nestedly);
                    let Some((at, wake)) = plainly else { break };
                    now = at.as_ns();
                    others -= u64::from(wake.event() == other);
                }
                prop_assert!(queues[1].len() <= queues[0].len());
            }
        }
    }
}
