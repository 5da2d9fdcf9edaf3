//! Distributions of whole quantities: nanoseconds or octets. Drawn by inversion, one draw a value.

use roamsim_engine::{Span, Stream};

/// A distribution of a whole, non-negative quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distribution {
    /// Always the same; draws nothing.
    Constant(u64),
    /// Uniform on min..=max.
    Uniform {
        /// Least value.
        min: u64,
        /// Greatest value.
        max: u64,
    },
    /// Exponential, rounded to the nearest whole.
    Exponential {
        /// Mean value.
        mean: u64,
    },
    /// Exponential of this mean, rounded to the nearest whole; what falls below `min` or above `max` becomes that.
    BoundedExponential {
        /// Mean value before the bounds.
        mean: u64,
        /// Least value.
        min: u64,
        /// Greatest value.
        max: u64,
    },
    /// Geometric on 1, 2, ...: trials up to and with the first success, of probability 1 / mean.
    Geometric {
        /// Mean value, at least 1.
        mean: u64,
    },
}

impl Distribution {
    /// A value.
    pub fn sample(&self, random: &mut Stream) -> u64 {
        match *self {
            Distribution::Constant(value) => value,
            Distribution::Uniform { min, max } => min + random.below((max - min).saturating_add(1)),
            Distribution::Exponential { mean } => (random.exponential(mean as f64) + 0.5) as u64,
            Distribution::BoundedExponential { mean, min, max } => {
                Distribution::Exponential { mean }.sample(random).clamp(min, max.max(min))
            }
            Distribution::Geometric { mean: 0 | 1 } => 1,
            Distribution::Geometric { mean } => {
                // P(X > k) = (1 - 1/mean)^k.
                let log = libm::log(1.0 - random.uniform());
                1 + (log / libm::log1p(-1.0 / mean as f64)) as u64
            }
        }
    }

    /// A value, as nanoseconds.
    pub fn sample_span(&self, random: &mut Stream) -> Span {
        Span::from_ns(self.sample(random))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_means() {
        let mut random = Stream::new(3, 0, "distribution");
        assert_eq!(Distribution::Constant(5).sample(&mut random), 5);
        let uniform = Distribution::Uniform { min: 2, max: 4 };
        let mut seen = [0u32; 5];
        (0..3000).for_each(|_| seen[uniform.sample(&mut random) as usize] += 1);
        // Each of 2, 3, 4 about 1000 times, standard deviation 26.
        assert!(seen[2..].iter().all(|&n| (900..1100).contains(&n)) && seen[..2] == [0, 0], "{seen:?}");
        let exponential = Distribution::Exponential { mean: 1_000_000 };
        let sum: u64 = (0..100_000).map(|_| exponential.sample(&mut random)).sum();
        // Standard error of the mean: 1e6 / sqrt(1e5) = 3162.
        assert!((sum as f64 / 1e5 - 1e6).abs() < 12_000.0, "{sum}");
        let bounded = Distribution::BoundedExponential { mean: 1000, min: 100, max: 2000 };
        let draws: Vec<u64> = (0..100_000).map(|_| bounded.sample(&mut random)).collect();
        // 1 - e^-0.1 (0.0952) of them are 100 and e^-2 (0.1353) are 2000, within four standard errors (0.0043).
        let share = |value| draws.iter().filter(|&&draw| draw == value).count() as f64 / 1e5;
        assert!((share(100) - 0.0952).abs() < 0.0043 && (share(2000) - 0.1353).abs() < 0.0043);
        assert!(draws.iter().all(|draw| (100..=2000).contains(draw)));
        let geometric = Distribution::Geometric { mean: 50 };
        let draws: Vec<u64> = (0..100_000).map(|_| geometric.sample(&mut random)).collect();
        // Standard deviation sqrt(50 * 49) = 49.5: standard error 0.157. One in 50 is 1: 2000, deviation 44.
        let mean = draws.iter().sum::<u64>() as f64 / 1e5;
        assert!((mean - 50.0).abs() < 0.47, "{mean}");
        let ones = draws.iter().filter(|&&draw| draw == 1).count();
        assert!((1868..=2132).contains(&ones) && !draws.contains(&0), "{ones}");
        assert_eq!(Distribution::Geometric { mean: 1 }.sample(&mut random), 1);
    }
}
