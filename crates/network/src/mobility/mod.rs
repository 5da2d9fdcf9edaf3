//! Where nodes are: points in the plane, and trajectories that are functions of time.
//!
//! A trajectory is piecewise linear, so that a position, a distance, and the instants at which a circle is
//! crossed follow by arithmetic: motion costs no events. Lengths are in metres, speeds in metres a second.
//!
//! Not modelled: height, obstacles, acceleration (a node has its speed at once).

mod reach;
mod trajectory;

pub use reach::{ever_within, last_within};
pub use trajectory::{Leg, Trajectory};

/// A place in the plane, or the way from one place to another.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    /// Metres to the right of the origin.
    pub x_m: f64,
    /// Metres above the origin.
    pub y_m: f64,
}

impl Point {
    /// The point of these coordinates, in metres.
    pub const fn new(x_m: f64, y_m: f64) -> Point {
        Point { x_m, y_m }
    }

    /// The square of how far away `other` is, in square metres.
    #[inline]
    pub(crate) fn square_m2(self, other: Point) -> f64 {
        let way = self.minus(other);
        way.x_m * way.x_m + way.y_m * way.y_m
    }

    /// How far away `other` is, in metres.
    pub fn distance_m(self, other: Point) -> f64 {
        (self.minus(other)).length_m()
    }

    fn length_m(self) -> f64 {
        (self.x_m * self.x_m + self.y_m * self.y_m).sqrt()
    }

    fn minus(self, other: Point) -> Point {
        Point::new(self.x_m - other.x_m, self.y_m - other.y_m)
    }

    pub(crate) fn plus(self, other: Point) -> Point {
        Point::new(self.x_m + other.x_m, self.y_m + other.y_m)
    }

    pub(crate) fn times(self, factor: f64) -> Point {
        Point::new(self.x_m * factor, self.y_m * factor)
    }

    fn dot(self, other: Point) -> f64 {
        self.x_m * other.x_m + self.y_m * other.y_m
    }
}
