//! When two nodes come within a distance of each other, and when they part: the crossings of a circle.
//!
//! Seen from one of the two, the other moves in straight lines. On each, |p + v t| = r is a quadratic in t.

use super::{Point, Trajectory};
use roamsim_engine::{Span, Time};

/// Walks with more corners than this in a run are not followed to their end: they are taken to come within reach.
const MAX_STRETCHES: usize = 1_000_000;

/// One crossing of the circle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crossing {
    /// When, to the nanosecond below.
    pub at: Time,
    /// Whether it leads inside.
    pub inward: bool,
}

/// A stretch of time in which both move straight on: its start and end, the place of one seen from the other at its
/// start, and the velocity.
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

/// The crossings of the circle of `radius_m` around `centre` by `walker`, from time zero until `until`, in order. A
/// walk that only touches the circle does not cross it.
pub fn crossings(walker: &Trajectory, centre: &Trajectory, radius_m: f64, until: Time) -> Vec<Crossing> {
    let mut inside = walker.position(Time::ZERO).distance_m(centre.position(Time::ZERO)) <= radius_m;
    let mut found = Vec::new();
    for stretch in stretches(walker, centre, until).take(MAX_STRETCHES) {
        let Some(roots_s) = stretch.roots_s(radius_m) else { continue };
        // The first root leads in, the second out.
        for (root_s, inward) in [(roots_s.0, true), (roots_s.1, false)] {
            if root_s < 0.0 {
                continue;
            }
            let at = stretch.start + Span::from_secs_f64(root_s);
            // The end of a stretch belongs to it: a walk that turns exactly on the circle is met here or there.
            if at <= stretch.end && inward != inside {
                inside = inward;
                found.push(Crossing { at, inward });
            }
        }
    }
    found
}

/// Whether `walker` is ever within `radius_m` of `centre` from time zero until `until`.
pub fn ever_within(walker: &Trajectory, centre: &Trajectory, radius_m: f64, until: Time) -> bool {
    // One round of a walk without end shows all of it to one who stays.
    let until = match (walker.first_round_ends(), centre.is_fixed()) {
        (Some(end), true) => end.min(until),
        _ => until,
    };
    let mut count = 0;
    let near = stretches(walker, centre, until).take(MAX_STRETCHES).any(|stretch| {
        count += 1;
        stretch.nearest_m() <= radius_m
    });
    near || count == MAX_STRETCHES
}

impl Stretch {
    /// When |offset + velocity * t| is `radius_m`, in seconds from the start: in, then out. `None` when it never is,
    /// or at one instant only, or when nothing moves.
    fn roots_s(&self, radius_m: f64) -> Option<(f64, f64)> {
        let a = self.velocity.dot(self.velocity);
        let half_b = self.offset.dot(self.velocity);
        let c = self.offset.dot(self.offset) - radius_m * radius_m;
        let discriminant = half_b * half_b - a * c;
        if a == 0.0 || discriminant <= 0.0 {
            return None;
        }
        let root = discriminant.sqrt();
        Some(((-half_b - root) / a, (-half_b + root) / a))
    }

    /// The smallest distance within the stretch, in metres.
    fn nearest_m(&self) -> f64 {
        let a = self.velocity.dot(self.velocity);
        let length_s = (self.end - self.start).as_secs_f64();
        let at_s = if a == 0.0 { 0.0 } else { (-self.offset.dot(self.velocity) / a).clamp(0.0, length_s) };
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

    fn found(walker: &Trajectory, centre: &Trajectory, radius_m: f64, until: f64) -> Vec<(f64, bool)> {
        crossings(walker, centre, radius_m, s(until)).iter().map(|c| (c.at.as_secs_f64(), c.inward)).collect()
    }

    #[test]
    fn a_straight_walk_crosses_a_circle_where_pythagoras_says() {
        // At height 3 a circle of radius 5 is 4 m wide on each side: from x = -4 to x = 4. From x = -10 at 2 m/s:
        // in after 6 m, 3 s, out after 14 m, 7 s.
        let walker = straight(-10.0, 3.0, 2.0);
        let centre = Trajectory::fixed(Point::default());
        assert_eq!(found(&walker, &centre, 5.0, 100.0), [(3.0, true), (7.0, false)]);
        // The run ends in between.
        assert_eq!(found(&walker, &centre, 5.0, 5.0), [(3.0, true)]);
        assert!(found(&walker, &centre, 2.9, 100.0).is_empty());
        assert!(ever_within(&walker, &centre, 3.0, s(100.0)));
        assert!(!ever_within(&walker, &centre, 2.9, s(100.0)));
        // At 5 s it is nearest; at 4 s it is at x = -2, sqrt(4 + 9) = 3.61 m away.
        assert!(!ever_within(&walker, &centre, 3.5, s(4.0)));
        assert!(ever_within(&walker, &centre, 3.7, s(4.0)));
    }

    #[test]
    fn a_walk_back_and_forth_crosses_in_every_round() {
        // From 0 to 100 m at 10 m/s: 10 s a way. The circle around 100 with radius 30 begins at 70 m: in at 7 s, out
        // at 13 s, and so in every round of 20 s.
        let (a, b) = (Point::default(), Point::new(100.0, 0.0));
        let walker = Trajectory::back_and_forth(a, b, 10.0, Span::ZERO, Time::ZERO);
        let centre = Trajectory::fixed(b);
        let expected = [(7.0, true), (13.0, false), (27.0, true), (33.0, false)];
        assert_eq!(found(&walker, &centre, 30.0, 40.0), expected);
    }

    #[test]
    fn two_that_move_are_seen_from_one_of_them() {
        // Towards each other at 3 + 2 = 5 m/s from 100 m: 10 m apart after 18 s, and again after 22 s.
        let walker = straight(0.0, 0.0, 3.0);
        let centre = straight(100.0, 0.0, -2.0);
        assert_eq!(found(&walker, &centre, 10.0, 60.0), [(18.0, true), (22.0, false)]);
        // Side by side nothing is crossed.
        assert!(found(&walker, &walker, 10.0, 60.0).is_empty());
        assert!(ever_within(&walker, &walker, 0.0, s(60.0)));
    }
}
