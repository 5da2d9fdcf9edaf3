//! Whether two nodes ever come within a distance of each other, and when they part for good.
//!
//! Seen from one of the two, the other moves in straight lines. On each, |p + v t| = r is a quadratic in t.

use super::{Point, Trajectory};
use roamsim_engine::{Span, Time};

/// Walks with more corners than this in a run are not followed to their end: they are taken to come, and to
/// end, within reach.
const MAX_STRETCHES: usize = 1_000_000;

/// A stretch of time in which both move straight on: its start and end, the place of one seen from the other
/// at its start, and the velocity.
struct Stretch {
    start: Time,
    end: Time,
    offset: Point,
    velocity: Point,
}

fn stretches<'a>(a: &'a Trajectory, b: &'a Trajectory, until: Time) -> impl Iterator<Item = Stretch> + 'a {
    let mut next = Some(Time::ZERO);
    std::iter::from_fn(move || {
        let start = next?;
        let ((a_velocity, a_end), (b_velocity, b_end)) = (a.motion(start), b.motion(start));
        let end = a_end.min(b_end).min(until);
        next = (end < until).then_some(end);
        let offset = a.position(start).minus(b.position(start));
        Some(Stretch { start, end, offset, velocity: a_velocity.minus(b_velocity) })
    })
}

/// The last instant, to the nanosecond below, at which `walker` is within `radius_m` of `centre`, from time
/// zero until `until`; `None` where it never is.
pub fn last_within(walker: &Trajectory, centre: &Trajectory, radius_m: f64, until: Time) -> Option<Time> {
    let mut stretches = stretches(walker, centre, until);
    let last =
        stretches.by_ref().take(MAX_STRETCHES).filter_map(|stretch| stretch.last_within(radius_m)).last();
    // What is not followed to its end is taken to end within.
    if stretches.next().is_some() { Some(until) } else { last }
}

/// Whether `walker` is ever within `radius_m` of `centre` from time zero until `until`.
pub fn ever_within(walker: &Trajectory, centre: &Trajectory, radius_m: f64, until: Time) -> bool {
    // One round of a walk without end shows all of it to one who stays.
    let until = match (walker.first_round_ends(), centre.is_fixed()) {
        (Some(end), true) => end.min(until),
        _ => until,
    };
    let mut stretches = stretches(walker, centre, until);
    let near = stretches.by_ref().take(MAX_STRETCHES).any(|stretch| stretch.last_within(radius_m).is_some());
    near || stretches.next().is_some()
}

impl Stretch {
    /// The last instant of the stretch at which |offset + velocity * t| is `radius_m` or less.
    fn last_within(&self, radius_m: f64) -> Option<Time> {
        let a = self.velocity.dot(self.velocity);
        let half_b = self.offset.dot(self.velocity);
        let length_s = (self.end - self.start).as_secs_f64();
        let nearest_s = if a == 0.0 { 0.0 } else { (-half_b / a).clamp(0.0, length_s) };
        if self.distance_m(nearest_s) > radius_m {
            return None;
        }
        if self.distance_m(length_s) <= radius_m {
            return Some(self.end);
        }
        // It moves, or the two distances would be one; and it is inside before it leaves, so that there is a
        // root.
        let c = self.offset.dot(self.offset) - radius_m * radius_m;
        let leaves_s = (-half_b + (half_b * half_b - a * c).max(0.0).sqrt()) / a;
        Some(self.start + Span::from_secs_f64(leaves_s.clamp(nearest_s, length_s)))
    }

    fn distance_m(&self, at_s: f64) -> f64 {
        self.offset.plus(self.velocity.times(at_s)).length_m()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Leg;
    use super::*;

    fn s(s: f64) -> Time {
        Time::ZERO + Span::from_secs_f64(s)
    }

    /// Straight on from a place on the x axis, or beside it.
    fn straight(x: f64, y: f64, speed: f64) -> Trajectory {
        Trajectory::of_legs(&[Leg {
            start: Time::ZERO,
            from: Point::new(x, y),
            velocity_m_per_s: Point::new(speed, 0.0),
        }])
    }

    fn last(walker: &Trajectory, centre: &Trajectory, radius_m: f64, until: f64) -> Option<f64> {
        last_within(walker, centre, radius_m, s(until)).map(Time::as_secs_f64)
    }

    #[test]
    fn a_straight_walk_leaves_a_circle_where_pythagoras_says() {
        // At height 3 a circle of radius 5 is 4 m wide on each side: from x = -4 to x = 4. From x = -10 at 2
        // m/s: in after 6 m, 3 s, out after 14 m, 7 s.
        let walker = straight(-10.0, 3.0, 2.0);
        let centre = Trajectory::fixed(Point::default());
        assert_eq!(last(&walker, &centre, 5.0, 100.0), Some(7.0));
        // The run ends in between, and before.
        assert_eq!(last(&walker, &centre, 5.0, 5.0), Some(5.0));
        assert_eq!(last(&walker, &centre, 5.0, 2.9), None);
        assert_eq!(last(&walker, &centre, 2.9, 100.0), None);
        // It touches the circle at one instant.
        assert_eq!(last(&walker, &centre, 3.0, 100.0), Some(5.0));
        assert!(ever_within(&walker, &centre, 3.0, s(100.0)));
        assert!(!ever_within(&walker, &centre, 2.9, s(100.0)));
        // At 5 s it is nearest; at 4 s it is at x = -2, sqrt(4 + 9) = 3.61 m away.
        assert!(!ever_within(&walker, &centre, 3.5, s(4.0)));
        assert!(ever_within(&walker, &centre, 3.7, s(4.0)));
    }

    #[test]
    fn a_walk_back_and_forth_leaves_in_every_round() {
        // From 0 to 100 m at 10 m/s: 10 s a way. The circle around 100 with radius 30 begins at 70 m: in at 7
        // s, out at 13 s, and so in every round of 20 s.
        let (a, b) = (Point::default(), Point::new(100.0, 0.0));
        let walker = Trajectory::back_and_forth(a, b, 10.0, Span::ZERO, Time::ZERO);
        let centre = Trajectory::fixed(b);
        assert_eq!(last(&walker, &centre, 30.0, 40.0), Some(33.0));
        assert_eq!(last(&walker, &centre, 30.0, 30.0), Some(30.0));
        assert_eq!(last(&walker, &centre, 30.0, 26.0), Some(13.0));
    }

    #[test]
    fn one_that_is_elsewhere_at_once_leaves_without_a_way() {
        // From the middle to a kilometre away at 1e13 m/s: no leg leads over the circle.
        let stop = (Point::new(1000.0, 0.0), 1e13, Span::from_secs(1));
        let walker = Trajectory::waypoints(Point::default(), s(4.0), &[stop]);
        let centre = Trajectory::fixed(Point::default());
        assert_eq!(last(&walker, &centre, 10.0, 60.0), Some(4.0));
    }

    #[test]
    fn two_that_move_are_seen_from_one_of_them() {
        // Towards each other at 3 + 2 = 5 m/s from 100 m: 10 m apart after 18 s, and again after 22 s.
        let walker = straight(0.0, 0.0, 3.0);
        let centre = straight(100.0, 0.0, -2.0);
        assert_eq!(last(&walker, &centre, 10.0, 60.0), Some(22.0));
        // Side by side they stay together.
        assert_eq!(last(&walker, &walker, 10.0, 60.0), Some(60.0));
        assert!(ever_within(&walker, &walker, 0.0, s(60.0)));
    }
}
