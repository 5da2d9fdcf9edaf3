//! Distributions of whole quantities: nanoseconds or octets. Drawn by inversion, one draw a value.

use roamsim_engine::{Span, Stream};

/// A distribution of a whole, non-negative quantity.
#[derive(Clone, Copy, Debug, PartialEq)]
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
    /// Exponential of this mean, rounded to the nearest whole; what falls below `min` or above `max` becomes
    /// that.
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
    /// Pareto, rounded to the nearest whole: above minimum * x with the probability x^-shape, with the
    /// minimum mean * (shape - 1) / shape.
    Pareto {
        /// Mean value.
        mean: u64,
        /// Exponent of the tail, above 1.
        shape: f64,
    },
    /// Pareto between two bounds, rounded to the nearest whole: above x with a probability in proportion to
    /// x^-shape - max^-shape.
    BoundedPareto {
        /// Least value.
        min: u64,
        /// Greatest value.
        max: u64,
        /// Exponent of the tail.
        shape: f64,
    },
}

impl Distribution {
    /// The least and the greatest value that it can have.
    pub fn bounds(&self) -> (u64, u64) {
        match *self {
            Distribution::Constant(value) => (value, value),
            Distribution::Uniform { min, max }
            | Distribution::BoundedExponential { min, max, .. }
            | Distribution::BoundedPareto { min, max, .. } => (min, max.max(min)),
            Distribution::Geometric { .. } => (1, u64::MAX),
            Distribution::Exponential { .. } | Distribution::Pareto { .. } => (0, u64::MAX),
        }
    }

    /// A value.
    #[inline]
    pub fn sample(&self, random: &mut Stream) -> u64 {
        if let Distribution::Constant(value) = *self { value } else { self.draw(random) }
    }

    #[inline(never)]
    fn draw(&self, random: &mut Stream) -> u64 {
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
            Distribution::Pareto { mean, shape } => {
                let minimum = mean as f64 * (shape - 1.0) / shape;
                (minimum * libm::pow(1.0 - random.uniform(), -1.0 / shape) + 0.5) as u64
            }
            Distribution::BoundedPareto { min, max, shape } => {
                let share = 1.0 - libm::pow(min as f64 / max as f64, shape);
                let value = min as f64 * libm::pow(1.0 - random.uniform() * share, -1.0 / shape);
                ((value + 0.5) as u64).clamp(min, max.max(min))
            }
        }
    }

    /// A value, as nanoseconds.
    pub fn sample_span(&self, random: &mut Stream) -> Span {
        Span::from_ns(self.sample(random))
    }
}

/// The mean of a Pareto distribution between two bounds, `min` above zero.
pub fn bounded_pareto_mean(min: f64, max: f64, shape: f64) -> f64 {
    if min >= max {
        return min;
    }
    let share = 1.0 - libm::pow(min / max, shape);
    if (shape - 1.0).abs() < 1e-9 {
        return min * libm::log(max / min) / share;
    }
    let part = |bound: f64| libm::pow(bound, 1.0 - shape);
    libm::pow(min, shape) / share * shape / (shape - 1.0) * (part(min) - part(max))
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
        // 1 - e^-0.1 (0.0952) of them are 100 and e^-2 (0.1353) are 2000, within four standard errors
        // (0.0043).
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

    /// The largest difference between the share of draws up to a value and the probability of that
    /// (Kolmogorov and Smirnov); of 10,000 draws from the distribution itself it is above 1.63 / sqrt(10000)
    /// once in 100 times.
    fn largest_difference(distribution: Distribution, probability: impl Fn(f64) -> f64) -> f64 {
        let mut random = Stream::new(5, 0, "distribution");
        let mut draws: Vec<u64> = (0..10_000).map(|_| distribution.sample(&mut random)).collect();
        draws.sort_unstable();
        let difference = |(below, &draw): (usize, &u64)| {
            let expected = probability(draw as f64);
            (expected - below as f64 / 1e4).abs().max((expected - (below + 1) as f64 / 1e4).abs())
        };
        draws.iter().enumerate().map(difference).fold(0.0, f64::max)
    }

    #[test]
    fn exponential_and_pareto_times_follow_their_distributions() {
        let exponential = Distribution::Exponential { mean: 1_000_000_000 };
        let difference = largest_difference(exponential, |ns| 1.0 - libm::exp(-ns / 1e9));
        assert!(difference < 0.0163, "{difference}");
        // Of shape 1.5 and mean 300 ms the minimum is 300 * 0.5 / 1.5 = 100 ms.
        let pareto = Distribution::Pareto { mean: 300_000_000, shape: 1.5 };
        let below = |ns: f64| 1.0 - libm::pow((ns / 1e8).max(1.0), -1.5);
        let difference = largest_difference(pareto, below);
        assert!(difference < 0.0163, "{difference}");
        // And not that of another shape.
        let other = Distribution::Pareto { mean: 300_000_000, shape: 1.6 };
        assert!(largest_difference(other, below) > 0.0163);
    }

    #[test]
    fn a_bounded_pareto_distribution_is_within_its_bounds_and_has_its_mean() {
        // Above x with (x^-1.5 - 100^-1.5) / (1 - 100^-1.5), in thousands; 100^-1.5 = 0.001.
        let sizes = Distribution::BoundedPareto { min: 1000, max: 100_000, shape: 1.5 };
        let below = |x: f64| 1.0 - (libm::pow((x / 1000.0).clamp(1.0, 100.0), -1.5) - 0.001) / 0.999;
        let difference = largest_difference(sizes, below);
        assert!(difference < 0.0163, "{difference}");
        // 1 / 0.999 x 3 x (1 - 0.1) = 2.7027, in thousands; of shape 1: ln(100) / 0.99 = 4.6517.
        assert!((bounded_pareto_mean(1000.0, 100_000.0, 1.5) - 2702.7).abs() < 0.01);
        assert!((bounded_pareto_mean(1000.0, 100_000.0, 1.0) - 4651.7).abs() < 0.1);
        assert_eq!(bounded_pareto_mean(5.0, 5.0, 1.5), 5.0);
        let mut random = Stream::new(3, 0, "bounded pareto");
        let draws: Vec<u64> = (0..100_000).map(|_| sizes.sample(&mut random)).collect();
        assert!(draws.iter().all(|draw| (1000..=100_000).contains(draw)));
    }

    #[test]
    fn pareto_has_its_mean_and_its_tail() {
        let mut random = Stream::new(3, 0, "pareto");
        let pareto = Distribution::Pareto { mean: 1_000_000, shape: 2.5 };
        let draws: Vec<u64> = (0..100_000).map(|_| pareto.sample(&mut random)).collect();
        // Minimum 1e6 * 1.5 / 2.5 = 6e5; variance 3.6e11 * 2.5 / (1.5^2 * 0.5) = 8e11: standard error of the
        // mean 2828.
        let mean = draws.iter().sum::<u64>() as f64 / 1e5;
        assert!((mean - 1e6).abs() < 3.0 * 2828.0, "{mean}");
        assert!(draws.iter().all(|&draw| draw >= 600_000));
        // Above ten times the minimum: 10^-2.5 = 316 in 100,000, deviation 18.
        let tail = draws.iter().filter(|&&draw| draw > 6_000_000).count();
        assert!((262..=370).contains(&tail), "{tail}");
        // The longest that can be drawn is far beyond every run, and no overflow.
        let endless = Distribution::Pareto { mean: u64::MAX, shape: 1.000_001 };
        assert!((0..1000).all(|_| endless.sample(&mut random) > 0));
    }
}
