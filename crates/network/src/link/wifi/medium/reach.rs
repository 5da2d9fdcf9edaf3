//! Who may hear whom: radios by where they are, so that those out of each other's reach cost each other
//! nothing.
//!
//! The plane is divided into squares as wide as the reach. A radio that stands is in one; one that moves is
//! in all that it passes within the next second. Whoever is in no square around a sender is too far away,
//! whatever is drawn: a shadowing of more than 8.6 standard deviations does not happen (one draw of Box and
//! Muller from 53 bits has less; the weighted sum of several, which is normal too, with a probability of
//! 1e-17).

use super::config::RadioConfig;
use crate::link::wifi::index::{ByRadio, RadioIndex};
use crate::mobility::{Point, Trajectory};
use roamsim_engine::{Span, Time};
use std::collections::BTreeMap;

/// The most standard deviations of shadowing: sqrt(2 ln 2^53) = 8.57.
const MOST_DEVIATIONS: f64 = 8.6;

/// What rounding may do to a distance, and the search for the reach, is less.
const MARGIN_M: f64 = 1.0;

/// Beyond that power does not fall: all are in reach.
const FURTHEST_M: f64 = 9e6;

/// How far ahead it is looked where radios go. Chosen: few leave their square within, and who moves is looked
/// at once a second.
const AHEAD: Span = Span::from_secs(1);

/// Who turns round more often within that time, or passes more squares, may be anywhere. Chosen.
const MOST_CORNERS: usize = 16;
const MOST_SQUARES: i64 = 16;

/// Radios that move are all looked at where they are no more. Chosen: a look at the squares costs as much.
const FEW: usize = 32;

/// Radios by squares.
#[derive(Clone, Debug)]
struct Squares {
    side_m: f64,
    radios: BTreeMap<(i64, i64), Vec<RadioIndex>>,
    /// Those that may be anywhere.
    anywhere: Vec<RadioIndex>,
}

impl Squares {
    fn new(side_m: f64) -> Squares {
        Squares { side_m, radios: BTreeMap::new(), anywhere: Vec::new() }
    }

    fn column(&self, m: f64) -> i64 {
        (m / self.side_m).floor() as i64
    }

    /// Puts a radio into all squares of a rectangle.
    fn put(&mut self, radio: RadioIndex, [low, high]: [Point; 2]) {
        let (columns, rows) =
            ([self.column(low.x_m), self.column(high.x_m)], [self.column(low.y_m), self.column(high.y_m)]);
        let length = |[first, last]: [i64; 2]| last.saturating_sub(first).saturating_add(1);
        if length(columns).saturating_mul(length(rows)) > MOST_SQUARES {
            return self.anywhere.push(radio);
        }
        for x in columns[0]..=columns[1] {
            for y in rows[0]..=rows[1] {
                self.radios.entry((x, y)).or_default().push(radio);
            }
        }
    }

    /// Those who may be within a side's length of a place.
    fn around(&self, place: Point, found: &mut Vec<RadioIndex>) {
        let (x, y) = (self.column(place.x_m), self.column(place.y_m));
        for column in x.saturating_sub(1)..=x.saturating_add(1) {
            for row in y.saturating_sub(1)..=y.saturating_add(1) {
                found.extend(self.radios.get(&(column, row)).into_iter().flatten());
            }
        }
        found.extend(&self.anywhere);
    }
}

/// Who may be in reach.
#[derive(Clone, Debug)]
pub struct Reach {
    reach_m: f64,
    standing: Squares,
    /// Those that move, and where they are within `within`.
    moving: Vec<RadioIndex>,
    squares: Squares,
    within: [Time; 2],
}

/// The rectangle that a walk stays in between two instants; `None` where it has too many corners.
fn around_walk(walk: &Trajectory, [begin, end]: [Time; 2]) -> Option<[Point; 2]> {
    let (mut low, mut high) = (walk.position(begin), walk.position(begin));
    let mut now = begin;
    for _ in 0..MOST_CORNERS {
        let (from, (velocity_m_per_s, next)) = (walk.position(now), walk.motion(now));
        let to = from.plus(velocity_m_per_s.times(next.min(end).since(now).as_secs_f64()));
        for place in [from, to] {
            low = Point::new(low.x_m.min(place.x_m), low.y_m.min(place.y_m));
            high = Point::new(high.x_m.max(place.x_m), high.y_m.max(place.y_m));
        }
        if next > end {
            return Some([low, high]);
        }
        now = next;
    }
    None
}

impl Reach {
    pub fn new(config: &RadioConfig, places: &ByRadio<Trajectory>) -> Reach {
        let shadowing_db = MOST_DEVIATIONS * config.propagation.shadowing_deviation_db;
        let reach_m = config.propagation.reach_m(config.carrier_sense_threshold_dbm - shadowing_db);
        let reach_m = if reach_m < FURTHEST_M { reach_m + MARGIN_M } else { f64::INFINITY };
        let mut reach = Reach {
            reach_m,
            standing: Squares::new(reach_m),
            moving: Vec::new(),
            squares: Squares::new(reach_m),
            within: [Time::MAX, Time::ZERO],
        };
        for (radio, walk) in places.pairs() {
            if walk.is_fixed() {
                reach.standing.put(radio, [walk.position(Time::ZERO); 2]);
            } else {
                reach.moving.push(radio);
            }
        }
        reach
    }

    /// Whether a frame may be heard that far away.
    #[inline]
    pub fn covers(&self, distance_m: f64) -> bool {
        distance_m <= self.reach_m
    }

    /// Those that stand where they may hear what is sent at a place, in order.
    pub fn standing(&self, place: Point) -> Vec<RadioIndex> {
        let mut found = Vec::new();
        self.standing.around(place, &mut found);
        found.sort_unstable();
        found
    }

    /// Those that move where they may hear it now, in order.
    pub fn moving(&mut self, place: Point, places: &ByRadio<Trajectory>, now: Time) -> Vec<RadioIndex> {
        if self.moving.len() <= FEW {
            return self.moving.clone();
        }
        let [begin, end] = self.within;
        if now < begin || now > end {
            self.look_ahead(places, [now, now + AHEAD]);
        }
        let mut found = Vec::new();
        self.squares.around(place, &mut found);
        found.sort_unstable();
        found.dedup();
        found
    }

    fn look_ahead(&mut self, places: &ByRadio<Trajectory>, within: [Time; 2]) {
        self.within = within;
        self.squares = Squares::new(self.reach_m);
        for &radio in &self.moving {
            match around_walk(&places[radio], within) {
                Some(rectangle) => self.squares.put(radio, rectangle),
                None => self.squares.anywhere.push(radio),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::testing::stream;
    use crate::link::wifi::tests::places::radio;

    fn places(count: usize, side_m: f64, moves: impl Fn(usize) -> bool) -> ByRadio<Trajectory> {
        let mut draws = stream("places");
        let mut place = |_| Point::new(side_m * draws.uniform(), side_m * draws.uniform());
        let ends: Vec<[Point; 2]> = (0..count).map(|_| [(); 2].map(&mut place)).collect();
        let walk = |(radio, [from, to]): (usize, [Point; 2])| match moves(radio) {
            // From slow to as fast as a satellite, and one that turns round all the time.
            true if radio == 1 => Trajectory::back_and_forth(from, to, 1e9, Span::ZERO, Time::ZERO),
            true => Trajectory::back_and_forth(from, to, (1 + radio * radio) as f64, Span::ZERO, Time::ZERO),
            false => Trajectory::fixed(from),
        };
        ends.into_iter().enumerate().map(walk).collect()
    }

    #[test]
    fn whoever_is_in_reach_is_found() {
        // -66 dBm are reached at 197.4 m, of 3 km; with a shadowing of 0.5 dB 4.3 dB further, at 324 m.
        for deviation_db in [0.0, 0.5] {
            let moving: [fn(usize) -> bool; 4] =
                [|_| false, |radio| radio % 2 == 1, |radio| radio < 20, |_| true];
            for moves in moving {
                let places = places(200, 3000.0, moves);
                let mut reach = Reach::new(&radio(-66.0, deviation_db), &places);
                assert!((197.4..330.0).contains(&reach.reach_m), "{}", reach.reach_m);
                for ms in [0, 1, 500, 999, 1000, 1001, 2500, 60_000] {
                    let now = Time::ZERO + Span::from_ms(ms);
                    for from in places.numbers() {
                        let place = places[from].position(now);
                        let mut found = reach.standing(place);
                        found.extend(reach.moving(place, &places, now));
                        let near =
                            places.numbers().filter(|&at| places[at].distance_m(now, place) <= reach.reach_m);
                        for at in near {
                            assert!(found.contains(&at), "{at:?} from {from:?} at {ms} ms");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn of_many_radios_few_are_looked_at() {
        // 10,000 in 30 km: 1.1e-5 a square metre, 3.9 in the nine squares of 198.4 m around each, and as many
        // of those that walk at 1 m/s.
        for walks in [false, true] {
            let mut places = places(10_000, 30_000.0, |_| false);
            if walks {
                for walk in places.iter_mut() {
                    let from = walk.position(Time::ZERO);
                    let to = Point::new(from.x_m + 100.0, from.y_m);
                    *walk = Trajectory::back_and_forth(from, to, 1.0, Span::ZERO, Time::ZERO);
                }
            }
            let mut reach = Reach::new(&radio(-66.0, 0.0), &places);
            let looked_at = |reach: &mut Reach, from: RadioIndex| {
                let place = places[from].position(Time::ZERO);
                reach.standing(place).len() + reach.moving(place, &places, Time::ZERO).len()
            };
            let all: usize = places.numbers().map(|from| looked_at(&mut reach, from)).sum();
            assert!(all < 6 * places.len(), "{all}");
        }
    }
}
