//! Trajectories: legs of constant velocity, one after the other, and for a walk without end, over and over.

use super::Point;
use roamsim_engine::{Span, Time};

/// A stretch of constant velocity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Leg {
    /// When it begins. It lasts until the next leg begins, the last one for ever.
    pub start: Time,
    /// Where it begins.
    pub from: Point,
    /// Metres a second in each direction; zero for a pause.
    pub velocity_m_per_s: Point,
}

impl Leg {
    #[inline]
    fn at(&self, time: Time) -> Point {
        // Mostly it rests: the sum is that of below.
        if self.velocity_m_per_s == Point::default() {
            return self.from.plus(Point::default());
        }
        let elapsed_s = time.since(self.start).as_secs_f64();
        self.from.plus(self.velocity_m_per_s.times(elapsed_s))
    }
}

/// Where a node is at each time.
#[derive(Clone, Debug, PartialEq)]
pub struct Trajectory {
    /// In order of time; the first begins at time zero. Never empty.
    legs: Vec<Leg>,
    /// The legs from here on are repeated: (the first instant of the first round, the length of a round).
    repeats: Option<(Time, Span)>,
}

impl Trajectory {
    /// A node that stays where it is.
    pub fn fixed(place: Point) -> Trajectory {
        Trajectory {
            legs: vec![Leg { start: Time::ZERO, from: place, velocity_m_per_s: Point::default() }],
            repeats: None,
        }
    }

    /// From place to place, each reached in a straight line at its speed, with a pause there; then it stays.
    ///
    /// `stops` are (place, speed in metres a second, pause). Speeds are above zero.
    pub fn waypoints(from: Point, start: Time, stops: &[(Point, f64, Span)]) -> Trajectory {
        let mut trajectory = Trajectory::fixed(from);
        let (mut at, mut now) = (from, start);
        for &(to, speed_m_per_s, pause) in stops {
            now = trajectory.walk(at, to, speed_m_per_s, now) + pause;
            at = to;
        }
        trajectory
    }

    /// Between two places, without end: there, a pause, back, a pause, and so on, from `start` on.
    ///
    /// The places differ and the speed is above zero; a round takes at least a nanosecond.
    pub fn back_and_forth(
        from: Point,
        to: Point,
        speed_m_per_s: f64,
        pause: Span,
        start: Time,
    ) -> Trajectory {
        let mut trajectory = Trajectory::fixed(from);
        let turned = trajectory.walk(from, to, speed_m_per_s, start) + pause;
        let end = trajectory.walk(to, from, speed_m_per_s, turned) + pause;
        let round = Span::from_ns((end - start).as_ns().max(1));
        trajectory.repeats = Some((start, round));
        trajectory
    }

    /// From `legs` as they are, in order of time; before the first the node waits where that begins.
    pub fn of_legs(legs: &[Leg]) -> Trajectory {
        let mut trajectory = Trajectory::fixed(legs.first().map_or(Point::default(), |leg| leg.from));
        legs.iter().for_each(|&leg| trajectory.push(leg));
        trajectory
    }

    /// From the leg's start on the node does what the leg says, whatever it was to do.
    pub fn interrupt(&mut self, leg: Leg) {
        self.legs.retain(|before| before.start < leg.start);
        self.legs.push(leg);
    }

    /// Adds the way from `at` to `to`, begun at `now`, and a rest there; returns when it arrives.
    fn walk(&mut self, at: Point, to: Point, speed_m_per_s: f64, now: Time) -> Time {
        let way = to.minus(at);
        let length_m = way.length_m();
        let arrival = now + Span::from_secs_f64(length_m / speed_m_per_s);
        if length_m > 0.0 {
            let velocity_m_per_s = way.times(speed_m_per_s / length_m);
            self.push(Leg { start: now, from: at, velocity_m_per_s });
        }
        self.push(Leg { start: arrival, from: to, velocity_m_per_s: Point::default() });
        arrival
    }

    /// Adds a leg. One that lasts no time is replaced.
    fn push(&mut self, leg: Leg) {
        if self.legs.last().is_some_and(|last| last.start >= leg.start) {
            self.legs.pop();
        }
        self.legs.push(leg);
    }

    /// The place at `time`.
    pub fn position(&self, time: Time) -> Point {
        let time = self.folded(time);
        self.legs[self.leg_at(time)].at(time)
    }

    /// The distance from `place` at `time`, in metres.
    pub fn distance_m(&self, time: Time, place: Point) -> f64 {
        self.position(time).distance_m(place)
    }

    /// The time within the first round that is like `time`.
    fn folded(&self, time: Time) -> Time {
        match self.repeats {
            Some((start, round)) if time > start => {
                start + Span::from_ns(time.since(start).as_ns() % round.as_ns())
            }
            _ => time,
        }
    }

    fn leg_at(&self, folded: Time) -> usize {
        match self.legs.as_slice() {
            [_] => 0,
            // Who has arrived stays.
            [before @ .., last] if last.start <= folded => before.len(),
            legs => legs.partition_point(|leg| leg.start <= folded).saturating_sub(1),
        }
    }

    /// The velocity at `time`, and the first instant after it at which the velocity changes.
    pub(crate) fn motion(&self, time: Time) -> (Point, Time) {
        let folded = self.folded(time);
        let at = self.leg_at(folded);
        let next = match (self.legs.get(at + 1), self.repeats) {
            (Some(next), _) => time + next.start.since(folded),
            (None, Some((start, round))) => time + (start + round).since(folded),
            (None, None) => Time::MAX,
        };
        (self.legs[at].velocity_m_per_s, next)
    }

    /// Whether the node never moves. A way that takes no time is one as well: its ends are different places.
    pub fn is_fixed(&self) -> bool {
        let place = self.legs.first().map(|leg| leg.from);
        self.legs.iter().all(|leg| leg.velocity_m_per_s == Point::default() && Some(leg.from) == place)
    }

    /// When a walk without end has shown all that it does.
    pub(super) fn first_round_ends(&self) -> Option<Time> {
        self.repeats.map(|(start, round)| start + round)
    }

    /// The corners of the walk up to `until`: where the velocity changes, and where it is then. Between two
    /// corners the walk is straight, so what holds of both (being inside a rectangle) holds in between.
    pub fn corners(&self, until: Time) -> impl Iterator<Item = (Time, Point)> + '_ {
        let until = self.first_round_ends().map_or(until, |end| end.min(until));
        let mut next = Some(Time::ZERO);
        std::iter::from_fn(move || {
            let now = next?;
            next = (now < until).then(|| self.motion(now).1.min(until));
            Some((now, self.position(now)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at_s(trajectory: &Trajectory, s: f64) -> (f64, f64) {
        let place = trajectory.position(Time::ZERO + Span::from_secs_f64(s));
        (place.x_m, place.y_m)
    }

    #[test]
    fn a_node_without_motion_stays() {
        let trajectory = Trajectory::fixed(Point::new(3.0, 4.0));
        assert_eq!(at_s(&trajectory, 1e6), (3.0, 4.0));
        assert!(trajectory.is_fixed());
        // The triangle of sides 3, 4 and 5.
        assert_eq!(trajectory.distance_m(Time::ZERO, Point::default()), 5.0);
    }

    #[test]
    fn a_node_that_is_elsewhere_at_once_is_not_fixed() {
        // A kilometre at 1e13 m/s takes 0.1 ns: the leg that leads there lasts no time, and two that rest are
        // left.
        let stop = |x_m| (Point::new(x_m, 0.0), 1e13, Span::from_secs(1));
        let there = Trajectory::waypoints(Point::default(), Time::ZERO + Span::from_secs(1), &[stop(1000.0)]);
        assert_eq!((at_s(&there, 0.9), at_s(&there, 1.0)), ((0.0, 0.0), (1000.0, 0.0)));
        assert!(!there.is_fixed());
        // To the place where it is.
        let nowhere = Trajectory::waypoints(Point::default(), Time::ZERO, &[stop(0.0), stop(0.0)]);
        assert!(nowhere.is_fixed());
    }

    #[test]
    fn a_leg_begins_at_its_start_and_does_not_end_by_itself() {
        let start = Time::ZERO + Span::from_secs(2);
        let leg =
            |start, x, vx, vy| Leg { start, from: Point::new(x, 0.0), velocity_m_per_s: Point::new(vx, vy) };
        let mut trajectory = Trajectory::of_legs(&[leg(start, 10.0, -5.0, 2.0)]);
        assert_eq!(at_s(&trajectory, 0.0), (10.0, 0.0));
        assert_eq!(at_s(&trajectory, 2.0), (10.0, 0.0));
        assert_eq!(at_s(&trajectory, 102.0), (-490.0, 200.0));
        trajectory.interrupt(leg(start + Span::from_secs(1), 5.0, 0.0, 0.0));
        assert_eq!(at_s(&trajectory, 2.5), (7.5, 1.0));
        assert_eq!(at_s(&trajectory, 102.0), (5.0, 0.0));
    }

    #[test]
    fn a_walk_over_waypoints_pauses_and_stays_at_the_last() {
        // 100 m at 10 m/s: 10 s; 5 s of pause; 50 m up at 25 m/s: 2 s.
        let trajectory = Trajectory::waypoints(
            Point::default(),
            Time::ZERO,
            &[
                (Point::new(100.0, 0.0), 10.0, Span::from_secs(5)),
                (Point::new(100.0, 50.0), 25.0, Span::ZERO),
            ],
        );
        assert_eq!(at_s(&trajectory, 5.0), (50.0, 0.0));
        assert_eq!(at_s(&trajectory, 12.0), (100.0, 0.0));
        assert_eq!(at_s(&trajectory, 16.0), (100.0, 25.0));
        assert_eq!(at_s(&trajectory, 1000.0), (100.0, 50.0));
        let corners: Vec<_> = trajectory.corners(Time::ZERO + Span::from_secs(20)).collect();
        let times: Vec<_> = corners.iter().map(|(time, _)| time.as_ns() / 1_000_000_000).collect();
        assert_eq!(times, [0, 10, 15, 17, 20]);
    }

    #[test]
    fn back_and_forth_is_the_same_in_every_round() {
        // 60 m at 20 m/s: 3 s there, 1 s of pause, 3 s back, 1 s of pause: a round of 8 s, from 2 s on.
        let (a, b) = (Point::new(0.0, 7.0), Point::new(60.0, 7.0));
        let start = Time::ZERO + Span::from_secs(2);
        let trajectory = Trajectory::back_and_forth(a, b, 20.0, Span::from_secs(1), start);
        for round in [0.0, 1.0, 1e6] {
            for (s, x) in
                [(2.0, 0.0), (3.0, 20.0), (5.0, 60.0), (5.5, 60.0), (6.0, 60.0), (7.0, 40.0), (9.5, 0.0)]
            {
                assert_eq!(at_s(&trajectory, round * 8.0 + s), (x, 7.0), "round {round}, {s} s");
            }
        }
        assert_eq!(at_s(&trajectory, 1.0), (0.0, 7.0));
    }
}
