//! Events in proportion to how often they happen: geometric numbers of trials, drawn once an event.

use roamsim_engine::Ahead;

/// The number of trials without, before the first one with, something that happens with a fixed probability
/// in every trial: one draw in place of one a trial, equal in law.
#[derive(Clone, Copy, Debug)]
pub(super) struct Geometric {
    /// 1 / log(1 - probability).
    inverse_log: f64,
}

impl Geometric {
    pub fn new(probability: f64) -> Geometric {
        Geometric { inverse_log: 1.0 / libm::log1p(-probability.clamp(0.0, 1.0)) }
    }

    /// Trials without it.
    #[inline]
    pub fn trials_without(self, random: &mut Ahead) -> u64 {
        let log = random.logarithm();
        // Never, for probability 0: the product below would be undefined when the logarithm is 0. A signed
        // number is made of it in half the instructions, and what is beyond one never comes either.
        if self.inverse_log == f64::NEG_INFINITY { u64::MAX } else { (log * self.inverse_log) as i64 as u64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use roamsim_engine::Stream;

    #[test]
    fn trials_without_are_geometric() {
        let mut random = Ahead::new(Stream::new(5, 0, "geometric"));
        let tenth = Geometric::new(0.1);
        let n = 200_000;
        let draws: Vec<u64> = (0..n).map(|_| tenth.trials_without(&mut random)).collect();
        // Mean 0.9 / 0.1 = 9, standard deviation sqrt(0.9) / 0.1 = 9.49: standard error 0.021.
        let mean = draws.iter().sum::<u64>() as f64 / f64::from(n);
        assert!((mean - 9.0).abs() < 0.07, "{mean}");
        // None in 0.1 of the cases, standard error 0.00067; exactly one in 0.09.
        let share = |k| draws.iter().filter(|&&d| d == k).count() as f64 / f64::from(n);
        assert!(
            (share(0) - 0.1).abs() < 0.0021 && (share(1) - 0.09).abs() < 0.002,
            "{} {}",
            share(0),
            share(1)
        );
    }

    #[test]
    fn always_and_never() {
        let mut random = Ahead::new(Stream::new(5, 0, "geometric"));
        assert!((0..100).all(|_| Geometric::new(1.0).trials_without(&mut random) == 0));
        assert!((0..100).all(|_| Geometric::new(0.0).trials_without(&mut random) == u64::MAX));
    }
}
