//! When log-normal shadowing is drawn anew.
//!
//! - For each frame and receiver.
//! - For each pair of radios and coherence time: block fading, with blocks that all pairs begin at the same instants.
//! - By distance: M. Gudmundson, "Correlation Model for Shadow Fading in Mobile Radio Systems", Electronics Letters 27(23), 1991. The
//!   shadowing of a pair is a Gauss-Markov process of the way that one of them has moved as the other sees it: over a distance
//!   d it keeps the part exp(-d / decorrelation distance).
//!
//! Of a pair both ways have the same shadowing, but for that of single frames.
//!
//! Not modelled: correlation between pairs.

use crate::link::propagation::Propagation;
use crate::mobility::Point;
use roamsim_engine::{Span, Stream, Time};
use std::collections::BTreeMap;

/// When shadowing is drawn anew.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Redrawn {
    /// For each frame and receiver.
    PerFrame,
    /// For each pair and coherence time, which is above zero.
    PerCoherenceTime(Span),
    /// By the way that a pair has moved.
    ByDistance {
        /// After which the correlation is 1/e, above zero.
        decorrelation_distance_m: f64,
    },
}

/// The shadowing of pairs.
#[derive(Clone, Debug, Default)]
pub(super) struct Pairs {
    known: BTreeMap<(usize, usize), Known>,
}

/// What a pair's shadowing was.
#[derive(Clone, Copy, Debug)]
struct Known {
    db: f64,
    /// The number of the coherence time.
    block: u64,
    /// Where the second was, as the first saw it.
    apart: (f64, f64),
}

impl Pairs {
    /// The shadowing between two radios, in ascending order, at these places.
    pub fn db(
        &mut self,
        propagation: &Propagation,
        redrawn: Redrawn,
        draws: &mut Stream,
        (pair, now): ((usize, usize), Time),
        (a, b): (Point, Point),
    ) -> f64 {
        let apart = (b.x_m - a.x_m, b.y_m - a.y_m);
        let known = self.known.get(&pair);
        let block = match redrawn {
            Redrawn::PerCoherenceTime(time) => now.as_ns() / time.as_ns(),
            Redrawn::PerFrame | Redrawn::ByDistance { .. } => 0,
        };
        let db = match (redrawn, known) {
            (Redrawn::PerCoherenceTime(_), Some(known)) if known.block == block => return known.db,
            (Redrawn::ByDistance { decorrelation_distance_m }, Some(known)) => {
                let moved_m = libm::hypot(apart.0 - known.apart.0, apart.1 - known.apart.1);
                if moved_m == 0.0 {
                    return known.db;
                }
                let kept = libm::exp(-moved_m / decorrelation_distance_m);
                kept * known.db + libm::sqrt(1.0 - kept * kept) * propagation.shadowing_db(draws)
            }
            _ => propagation.shadowing_db(draws),
        };
        self.known.insert(pair, Known { db, block, apart });
        db
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::propagation::PathLoss;
    use crate::link::testing::stream;

    const PROPAGATION: Propagation = Propagation {
        transmit_power_dbm: 20.0,
        frequency_hz: 2.412e9,
        path_loss: PathLoss::FreeSpace,
        shadowing_deviation_db: 4.0,
    };

    fn at(x_m: f64) -> Point {
        Point::new(x_m, 0.0)
    }

    #[test]
    fn a_coherence_time_has_one_draw_a_pair() {
        let (mut pairs, mut draws) = (Pairs::default(), stream("shadowing"));
        let redrawn = Redrawn::PerCoherenceTime(Span::from_ms(10));
        let mut db = |pair, ms| {
            let now = Time::ZERO + Span::from_ms(ms);
            pairs.db(&PROPAGATION, redrawn, &mut draws, (pair, now), (at(0.0), at(ms as f64)))
        };
        let first = db((0, 1), 0);
        let other = db((0, 2), 0);
        assert_eq!((db((0, 1), 9), db((0, 2), 9)), (first, other));
        assert_ne!(first, other);
        // From 10 ms on; and nothing is remembered of what was before.
        assert_ne!(db((0, 1), 10), first);
    }

    #[test]
    fn over_the_decorrelation_distance_the_correlation_is_one_over_e() {
        let redrawn = Redrawn::ByDistance { decorrelation_distance_m: 20.0 };
        let (mut pairs, mut draws) = (Pairs::default(), stream("shadowing"));
        let mut db = |step: u32| {
            let places = (at(0.0), at(5.0 * f64::from(step)));
            pairs.db(&PROPAGATION, redrawn, &mut draws, ((0, 1), Time::ZERO), places)
        };
        // Steps of 5 m: after one exp(-1/4) = 0.7788, after four exp(-1) = 0.3679, after none 1.
        let walk: Vec<f64> = (0..100_000).map(&mut db).collect();
        assert_eq!(db(99_999), walk[99_999]);
        let mean_of = |lag: usize| {
            let products = walk.iter().zip(&walk[lag..]).map(|(a, b)| a * b);
            products.sum::<f64>() / (walk.len() - lag) as f64
        };
        let variance = mean_of(0);
        // Bartlett: standard errors of the correlations of a process with 0.7788 from one step to the next are near
        // sqrt((1 + 0.6065) / (1 - 0.6065) / 1e5) = 0.0064; of the variance 16 sqrt(2 * 4.08 / 1e5) = 0.14.
        assert!((variance - 16.0).abs() < 0.6, "{variance}");
        assert!((mean_of(1) / variance - 0.7788).abs() < 0.015);
        assert!((mean_of(4) / variance - 0.3679).abs() < 0.025);
    }
}
