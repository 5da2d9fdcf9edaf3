//! Fractional Gaussian noise: a stationary Gaussian series with long memory.
//!
//! Hosking's method ("Modeling persistence in hydrological time series using fractional differencing", Water
//! Resources Research 20(12), 1984; the Durbin-Levinson recursion): each value is drawn from its distribution
//! given those before it, which is exact up to [`MEMORY`] values. From there on only so many before it count.

use roamsim_engine::Stream;
use std::collections::VecDeque;

/// Values that a value is drawn from (chosen: cost grows with it, and 1024 groups of 12 frames, 25 a second,
/// are eight minutes; 1024 frames of 79 ms are 81 s).
const MEMORY: usize = 1024;

/// A series of mean 0 and variance 1.
#[derive(Clone, Debug)]
pub(super) struct FractionalNoise {
    hurst: f64,
    /// Of values so far apart, from 0 on.
    correlations: Vec<f64>,
    /// The last values, the newest first.
    past: VecDeque<f64>,
    /// Coefficients of the best linear prediction from the past, the newest first.
    coefficients: Vec<f64>,
    /// Variance of what the prediction misses.
    variance: f64,
}

impl FractionalNoise {
    /// A series of a Hurst parameter in 0.5 (no memory) to below 1.
    pub(super) fn new(hurst: f64) -> FractionalNoise {
        FractionalNoise {
            hurst,
            correlations: vec![1.0],
            past: VecDeque::new(),
            coefficients: Vec::new(),
            variance: 1.0,
        }
    }

    /// The correlation of two values so far apart, one or more.
    fn correlation(&self, lag: usize) -> f64 {
        let (lag, power) = (lag as f64, 2.0 * self.hurst);
        let sides = libm::pow(lag + 1.0, power) + libm::pow(lag - 1.0, power);
        sides / 2.0 - libm::pow(lag, power)
    }

    /// One step of the recursion: coefficients for one value more.
    fn lengthen(&mut self) {
        let length = self.coefficients.len();
        self.correlations.push(self.correlation(length + 1));
        let correlations = self.correlations[1..=length].iter().rev();
        let known: f64 = self.coefficients.iter().zip(correlations).map(|(c, r)| c * r).sum();
        let last = (self.correlations[length + 1] - known) / self.variance;
        let before = self.coefficients.clone();
        for (coefficient, opposite) in self.coefficients.iter_mut().zip(before.iter().rev()) {
            *coefficient -= last * opposite;
        }
        self.coefficients.push(last);
        self.variance *= 1.0 - last * last;
    }

    /// The next value.
    pub(super) fn next(&mut self, random: &mut Stream) -> f64 {
        if self.coefficients.len() < self.past.len() {
            self.lengthen();
        }
        let mean: f64 =
            self.coefficients.iter().zip(&self.past).map(|(coefficient, value)| coefficient * value).sum();
        let value = mean + libm::sqrt(self.variance) * normal(random);
        self.past.push_front(value);
        self.past.truncate(MEMORY);
        value
    }
}

/// A normal value of mean 0 and variance 1 (Box and Muller, "A Note on the Generation of Random Normal
/// Deviates", Annals of Mathematical Statistics 29(2), 1958): two draws, of whose two values one is used.
pub(super) fn normal(random: &mut Stream) -> f64 {
    let radius = libm::sqrt(-2.0 * libm::log(1.0 - random.uniform()));
    radius * libm::cos(2.0 * core::f64::consts::PI * random.uniform())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For H = 0.8 the correlations are (2^1.6 - 2) / 2 = 0.5157 and (3^1.6 - 2 * 2^1.6 + 1) / 2 = 0.3683;
    /// the second coefficient of prediction from two values is (0.3683 - 0.5157^2) / (1 - 0.5157^2) = 0.1395.
    #[test]
    fn correlations_and_coefficients_by_hand() {
        let mut noise = FractionalNoise::new(0.8);
        assert!((noise.correlation(1) - 0.5157).abs() < 1e-4);
        assert!((noise.correlation(2) - 0.3683).abs() < 1e-4);
        noise.lengthen();
        assert!((noise.coefficients[0] - 0.5157).abs() < 1e-4);
        noise.lengthen();
        assert!((noise.coefficients[1] - 0.1395).abs() < 2e-4);
        assert!((noise.coefficients[0] - 0.5157 * (1.0 - 0.1395)).abs() < 2e-4);
    }

    #[test]
    fn values_are_standard_normal_and_correlated_as_they_should_be() {
        // The mean of 4 series of 20,000 values: its standard error is 20000^-0.2 / 2 = 0.07.
        let mut sums = [0.0; 3];
        let mut count = 0.0;
        for seed in 1..=4 {
            let mut random = Stream::new(seed, 0, "noise");
            let mut noise = FractionalNoise::new(0.8);
            let values: Vec<f64> = (0..20_000).map(|_| noise.next(&mut random)).collect();
            for pair in values.windows(2) {
                sums[0] += pair[0];
                sums[1] += pair[0] * pair[0];
                sums[2] += pair[0] * pair[1];
                count += 1.0;
            }
        }
        let [mean, square, product] = sums.map(|sum| sum / count);
        assert!(mean.abs() < 0.21, "{mean}");
        assert!((square - 1.0).abs() < 0.05, "{square}");
        assert!((product - 0.5157).abs() < 0.05, "{product}");
    }
}
