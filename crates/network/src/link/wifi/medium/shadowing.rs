//! When log-normal shadowing is drawn anew.
//!
//! - For each frame and receiver.
//! - For each pair of radios and coherence time: block fading, with blocks that all pairs begin at the same
//!   instants.
//! - By distance: M. Gudmundson, "Correlation Model for Shadow Fading in Mobile Radio Systems", Electronics
//!   Letters 27(23), 1991. The shadowing of a pair is a Gauss-Markov process of the way that one of them has
//!   moved as the other sees it: over a distance d it keeps the part exp(-d / decorrelation distance). It
//!   changes in steps of 1/32 of the decorrelation distance.
//!
//! Of a pair both ways have the same shadowing, but for that of single frames. It is a function of the pair,
//! the time and the way, drawn from a stream of the pair's own: more frames sample the same channel more
//! often, and change nothing of it.
//!
//! Not modelled: correlation between pairs.

use crate::link::propagation::Propagation;
use crate::link::wifi::index::RadioIndex;
use crate::mobility::{Point, Trajectory};
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

/// On a way a pair's shadowing changes in steps of this part of the decorrelation distance: the correlation
/// is that of the process to 1 / (8 * 32^2), since in between it is a straight line.
const STEPS: u64 = 32;

/// After so many steps the part exp(-40) of a value is left, less than its last digit: what was before does
/// not matter.
const MEMORY_STEPS: u64 = 40 * STEPS;

/// Of corners that follow each other sooner only one counts: nobody turns round a thousand times a second.
const LEAST_LEG: Span = Span::from_ms(1);

/// The shadowing of pairs.
#[derive(Clone, Debug, Default)]
pub struct Pairs {
    known: BTreeMap<(RadioIndex, RadioIndex), Pair>,
}

/// A pair of radios. The n-th innovation of its shadowing is the draw of its stream's n-th child, whoever
/// asks, and when.
#[derive(Clone, Debug)]
struct Pair {
    draws: Stream,
    /// The coherence time or the step of its way that was asked for last, and the shadowing in it.
    last: Option<(u64, f64)>,
    way: Way,
}

/// How far one of a pair has moved as the other sees it.
#[derive(Clone, Copy, Debug)]
struct Way {
    /// Where the second was, as the first saw it, when one of them changed its velocity the last time.
    apart: Point,
    /// The way up to there.
    moved_m: f64,
    /// When one of them does so again.
    until: Time,
}

fn apart((a, b): (&Trajectory, &Trajectory), now: Time) -> Point {
    let (a, b) = (a.position(now), b.position(now));
    Point::new(b.x_m - a.x_m, b.y_m - a.y_m)
}

impl Way {
    fn begin(walks: (&Trajectory, &Trajectory)) -> Way {
        Way { apart: apart(walks, Time::ZERO), moved_m: 0.0, until: Way::next_corner(walks, Time::ZERO) }
    }

    /// When one of them changes its velocity the next time.
    fn next_corner((a, b): (&Trajectory, &Trajectory), now: Time) -> Time {
        a.motion(now).1.min(b.motion(now).1).max(now + LEAST_LEG)
    }

    /// The way up to an instant that is not before the last one.
    fn moved_m(&mut self, walks: (&Trajectory, &Trajectory), now: Time) -> f64 {
        while now >= self.until {
            let corner = self.until;
            let there = apart(walks, corner);
            self.moved_m += there.distance_m(self.apart);
            self.apart = there;
            self.until = Way::next_corner(walks, corner);
        }
        self.moved_m + apart(walks, now).distance_m(self.apart)
    }
}

impl Pair {
    fn innovation_db(&self, propagation: &Propagation, number: u64) -> f64 {
        propagation.shadowing_db(&mut self.draws.child(number))
    }

    fn of_block_db(&mut self, propagation: &Propagation, block: u64) -> f64 {
        let db = match self.last {
            Some((last, db)) if last == block => db,
            _ => self.innovation_db(propagation, block),
        };
        self.last = Some((block, db));
        db
    }

    /// It is worked out from the begin of the memory before that of the step on, so that it depends on the
    /// step alone.
    fn of_step_db(&mut self, propagation: &Propagation, step: u64) -> f64 {
        let kept = libm::exp(-1.0 / STEPS as f64);
        let fresh = libm::sqrt(1.0 - kept * kept);
        let memory = step / MEMORY_STEPS;
        let (mut at, mut db) = match self.last {
            Some((last, db)) if last / MEMORY_STEPS == memory && last <= step => (last, db),
            _ => {
                let first = memory.saturating_sub(1) * MEMORY_STEPS;
                (first, self.innovation_db(propagation, first))
            }
        };
        while at < step {
            at += 1;
            db = kept * db + fresh * self.innovation_db(propagation, at);
        }
        self.last = Some((step, db));
        db
    }
}

impl Pairs {
    /// The shadowing between two radios, in ascending order, on their walks; `draws` is the stream of the
    /// first. Instants do not go back.
    pub fn db(
        &mut self,
        propagation: &Propagation,
        redrawn: Redrawn,
        draws: &Stream,
        (pair, now): ((RadioIndex, RadioIndex), Time),
        walks: (&Trajectory, &Trajectory),
    ) -> f64 {
        let known = self.known.entry(pair).or_insert_with(|| Pair {
            draws: draws.child(pair.1.0 as u64),
            last: None,
            way: Way::begin(walks),
        });
        match redrawn {
            Redrawn::PerFrame => propagation.shadowing_db(&mut known.draws),
            Redrawn::PerCoherenceTime(time) => known.of_block_db(propagation, now.as_ns() / time.as_ns()),
            Redrawn::ByDistance { decorrelation_distance_m } => {
                let steps = known.way.moved_m(walks, now) / decorrelation_distance_m * STEPS as f64;
                known.of_step_db(propagation, steps as u64)
            }
        }
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

    fn stands(x_m: f64) -> Trajectory {
        Trajectory::fixed(Point::new(x_m, 0.0))
    }

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    /// The shadowing of these pairs at these instants. The second of a pair walks away from the first at 10
    /// m/s, and at 100 ms back.
    fn shadowing(redrawn: Redrawn, asked: &[((usize, usize), u64)]) -> Vec<f64> {
        let there = Point::new(1.0, 0.0);
        let walk = Trajectory::waypoints(
            Point::default(),
            Time::ZERO,
            &[(there, 10.0, Span::ZERO), (Point::default(), 10.0, Span::ZERO)],
        );
        let (mut pairs, draws) = (Pairs::default(), stream("shadowing"));
        let walks = (&stands(0.0), &walk);
        asked
            .iter()
            .map(|&((a, b), at)| {
                let pair = (RadioIndex(a), RadioIndex(b));
                pairs.db(&PROPAGATION, redrawn, &draws, (pair, ms(at)), walks)
            })
            .collect()
    }

    #[test]
    fn a_coherence_time_has_one_draw_a_pair() {
        let redrawn = Redrawn::PerCoherenceTime(Span::from_ms(10));
        let asked = [((0, 1), 0), ((0, 2), 0), ((0, 1), 9), ((0, 2), 9), ((0, 1), 10)];
        let [one, two, one_again, two_again, next] = shadowing(redrawn, &asked)[..] else { panic!("five") };
        assert_eq!((one_again, two_again), (one, two));
        assert_ne!(one, two);
        // From 10 ms on; and nothing is remembered of what was before.
        assert_ne!(next, one);
    }

    #[test]
    fn who_asks_more_often_sees_the_same_channel() {
        for redrawn in [
            Redrawn::PerCoherenceTime(Span::from_ms(7)),
            Redrawn::ByDistance { decorrelation_distance_m: 0.3 },
            // 2 m are some 200,000 steps: beyond what is remembered.
            Redrawn::ByDistance { decorrelation_distance_m: 0.0003 },
        ] {
            let often: Vec<_> = (0..250).flat_map(|at| [((0, 1), at), ((0, 2), at), ((1, 2), at)]).collect();
            let all = shadowing(redrawn, &often);
            let seldom: Vec<_> = (0..250).step_by(31).map(|at| ((0, 2), at)).collect();
            let some = shadowing(redrawn, &seldom);
            for (&(_, at), db) in seldom.iter().zip(some) {
                assert_eq!(db, all[3 * at as usize + 1], "{redrawn:?} at {at} ms");
            }
        }
    }

    #[test]
    fn who_stands_keeps_the_shadowing_and_a_way_back_is_a_way() {
        let redrawn = Redrawn::ByDistance { decorrelation_distance_m: 0.5 };
        let asked: Vec<_> = [0, 100, 200, 250, 9000].map(|at| ((0, 1), at)).to_vec();
        let db = shadowing(redrawn, &asked);
        assert!(db[0] != db[1] && db[1] != db[2]);
        // Back at 200 ms, after 2 m, it stays.
        assert_eq!((db[3], db[4]), (db[2], db[2]));
    }

    #[test]
    fn a_walk_that_turns_round_all_the_time_takes_no_time_to_follow() {
        // Rounds of 2 ns, for an hour: 1.8e12 of them.
        let (a, b) = (Point::default(), Point::new(1.0, 0.0));
        let walk = Trajectory::back_and_forth(a, b, 1e9, Span::ZERO, Time::ZERO);
        let mut way = Way::begin((&stands(0.0), &walk));
        let moved_m = way.moved_m((&stands(0.0), &walk), ms(3_600_000));
        assert!((0.0..=3_600_001.0).contains(&moved_m), "{moved_m}");
    }

    #[test]
    fn over_the_decorrelation_distance_the_correlation_is_one_over_e() {
        let redrawn = Redrawn::ByDistance { decorrelation_distance_m: 20.0 };
        let (mut pairs, draws) = (Pairs::default(), stream("shadowing"));
        let walk = Trajectory::waypoints(
            Point::default(),
            Time::ZERO,
            &[(Point::new(1e6, 0.0), 5000.0, Span::ZERO)],
        );
        let walks = (&stands(0.0), &walk);
        let pair = (RadioIndex(0), RadioIndex(1));
        let mut db = |step: u64| pairs.db(&PROPAGATION, redrawn, &draws, (pair, ms(step)), walks);
        // Steps of 5 m: after one exp(-1/4) = 0.7788, after four exp(-1) = 0.3679, after none 1.
        let walk: Vec<f64> = (0..100_000).map(&mut db).collect();
        let mean_of = |lag: usize| {
            let products = walk.iter().zip(&walk[lag..]).map(|(a, b)| a * b);
            products.sum::<f64>() / (walk.len() - lag) as f64
        };
        let variance = mean_of(0);
        // Bartlett: standard errors of the correlations of a process with 0.7788 from one step to the next
        // are near sqrt((1 + 0.6065) / (1 - 0.6065) / 1e5) = 0.0064; of the variance 16 sqrt(2 * 4.08 /
        // 1e5) = 0.14.
        assert!((variance - 16.0).abs() < 0.6, "{variance}");
        assert!((mean_of(1) / variance - 0.7788).abs() < 0.015);
        assert!((mean_of(4) / variance - 0.3679).abs() < 0.025);
    }
}
