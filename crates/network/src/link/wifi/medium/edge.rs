//! How far a power arrives, without a logarithm wherever the distance is far from the edge.
//!
//! Power falls with distance. Who is nearer than a place where more than the least power arrived gets it too;
//! who is further away than a place where less arrived gets it neither. Both places are learned from the
//! powers that are worked out, with a margin far above their rounding, so that each answer is the one that
//! the power itself would give.

use crate::link::propagation::Propagation;
use std::cell::Cell;

/// Powers further from the edge than that are on the same side of it nearer to, or further away. Chosen: the
/// rounding of powers is below 1e-12 dB.
const MARGIN_DB: f64 = 1e-6;

/// The edge of what a least power reaches.
#[derive(Clone, Debug)]
pub struct Edge {
    least_dbm: f64,
    /// The square of the furthest distance that is known to be within, and of the nearest one beyond.
    within_m2: Cell<f64>,
    beyond_m2: Cell<f64>,
}

impl Edge {
    /// That of this power; nothing is known of it yet.
    pub fn new(least_dbm: f64) -> Edge {
        Edge { least_dbm, within_m2: Cell::new(f64::NEG_INFINITY), beyond_m2: Cell::new(f64::INFINITY) }
    }

    /// Whether at least the power arrives at a distance, without shadowing; its square is given.
    #[inline]
    pub fn is_within(&self, square_m2: f64, propagation: &Propagation) -> bool {
        if square_m2 <= self.within_m2.get() {
            return true;
        }
        square_m2 < self.beyond_m2.get() && self.learn(square_m2, propagation)
    }

    #[inline(never)]
    fn learn(&self, square_m2: f64, propagation: &Propagation) -> bool {
        let dbm = propagation.received_dbm(square_m2.sqrt());
        if dbm >= self.least_dbm + MARGIN_DB {
            self.within_m2.set(square_m2);
        } else if dbm < self.least_dbm - MARGIN_DB {
            self.beyond_m2.set(square_m2);
        }
        dbm >= self.least_dbm
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::propagation::PathLoss;

    #[test]
    fn every_answer_is_that_of_the_power() {
        for path_loss in [
            PathLoss::FreeSpace,
            PathLoss::TwoRayGround { antenna_height_m: 1.5 },
            PathLoss::LogDistance { exponent: 3.0, reference_distance_m: 1.0 },
        ] {
            let propagation = Propagation {
                transmit_power_dbm: 20.0,
                frequency_hz: 2.4e9,
                path_loss,
                shadowing_deviation_db: 0.0,
            };
            for least_dbm in [-90.0, -60.0, propagation.received_dbm(227.0), 19.0, 21.0] {
                let edge = Edge::new(least_dbm);
                // Far and near by turns, ever nearer to the edge and across it.
                let reach_m = propagation.reach_m(least_dbm);
                for step in 0..400 {
                    let apart_m = reach_m * libm::pow(0.9, f64::from(step / 2));
                    let distance_m = if step % 2 == 0 { reach_m + apart_m } else { reach_m - apart_m };
                    let arrives = propagation.received_dbm((distance_m * distance_m).sqrt()) >= least_dbm;
                    assert_eq!(
                        edge.is_within(distance_m * distance_m, &propagation),
                        arrives,
                        "{distance_m} m"
                    );
                }
                let known = [edge.within_m2.get(), edge.beyond_m2.get()].map(f64::is_finite);
                assert_eq!(known, [least_dbm < 20.0, true], "{least_dbm} dBm");
            }
        }
    }
}
