//! How much of a transmitter's power arrives at a distance.
//!
//! - Free space: Friis, "A Note on a Simple Transmission Formula", Proceedings of the IRE 34(5), 1946.
//! - Two-ray ground: T. Rappaport, "Wireless Communications", 2nd edition, section 4.6: over flat ground
//!   power falls by the fourth power of the distance from the crossover `4 pi h_t h_r / lambda` on; nearer it
//!   is as in free space.
//! - Log-distance: section 4.9.1: an exponent of one's own beyond a reference distance, up to which space is
//!   free.
//! - Log-normal shadowing: section 4.9.2: a normal variate of decibels on top.
//!
//! Antennas have a gain of 1. Powers are in dBm, losses in dB, lengths in metres.
//!
//! Not modelled: fading on the scale of a wavelength, obstacles, antenna patterns.

use super::cell::SPEED_OF_LIGHT_M_PER_S;
use roamsim_engine::Stream;
use std::f64::consts::PI;

/// Further than that nobody looks for a cell's edge.
const FURTHEST_M: f64 = 1e7;

/// The power of thermal noise in a band at 290 K.
pub fn thermal_noise_dbm(bandwidth_hz: f64) -> f64 {
    const BOLTZMANN_J_PER_K: f64 = 1.380_649e-23;
    dbm_of_milliwatts(1e3 * BOLTZMANN_J_PER_K * 290.0 * bandwidth_hz)
}

/// A power in dBm.
pub fn dbm_of_milliwatts(milliwatts: f64) -> f64 {
    10.0 * libm::log10(milliwatts)
}

/// How power falls with distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PathLoss {
    /// Nothing but distance.
    FreeSpace,
    /// Flat ground.
    TwoRayGround {
        /// The height of all antennas.
        antenna_height_m: f64,
    },
    /// An exponent of one's own.
    LogDistance {
        /// The exponent.
        exponent: f64,
        /// Up to there, space is free.
        reference_distance_m: f64,
    },
}

/// What describes propagation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Propagation {
    /// Every radio's power.
    pub transmit_power_dbm: f64,
    /// The carrier.
    pub frequency_hz: f64,
    /// How power falls with distance.
    pub path_loss: PathLoss,
    /// The standard deviation of log-normal shadowing, drawn anew for each frame and receiver; 0: none.
    pub shadowing_deviation_db: f64,
}

impl Propagation {
    /// Draws of a stream that one of shadowing takes.
    pub const DRAWS: u64 = 2;

    /// The loss on the way.
    pub fn loss_db(&self, distance_m: f64) -> f64 {
        let wavelength_m = SPEED_OF_LIGHT_M_PER_S / self.frequency_hz;
        // Nearer than that the formula would give more than was sent.
        let nearest_m = wavelength_m / (4.0 * PI);
        let free_space_db = |distance_m: f64| 20.0 * libm::log10(distance_m.max(nearest_m) / nearest_m);
        match self.path_loss {
            PathLoss::FreeSpace => free_space_db(distance_m),
            PathLoss::TwoRayGround { antenna_height_m } => {
                let height_m2 = antenna_height_m * antenna_height_m;
                let crossover_m = 4.0 * PI * height_m2 / wavelength_m;
                if distance_m < crossover_m {
                    free_space_db(distance_m)
                } else {
                    // Both formulas give the same at the crossover.
                    40.0 * libm::log10(distance_m) - 20.0 * libm::log10(height_m2)
                }
            }
            PathLoss::LogDistance { exponent, reference_distance_m } => {
                let beyond = (distance_m / reference_distance_m).max(1.0);
                free_space_db(distance_m.min(reference_distance_m)) + 10.0 * exponent * libm::log10(beyond)
            }
        }
    }

    /// What arrives without shadowing.
    pub fn received_dbm(&self, distance_m: f64) -> f64 {
        self.transmit_power_dbm - self.loss_db(distance_m)
    }

    /// How far a power arrives without shadowing, to less than a millimetre.
    pub fn reach_m(&self, least_dbm: f64) -> f64 {
        let (mut near_m, mut far_m) = (0.0, FURTHEST_M);
        // Power falls with distance: 64 halvings.
        for _ in 0..64 {
            let middle_m = f64::midpoint(near_m, far_m);
            if self.received_dbm(middle_m) >= least_dbm {
                near_m = middle_m;
            } else {
                far_m = middle_m;
            }
        }
        far_m
    }

    /// One draw of shadowing (Box and Muller, "A Note on the Generation of Random Normal Deviates", Annals of
    /// Mathematical Statistics 29(2), 1958).
    pub fn shadowing_db(&self, draws: &mut Stream) -> f64 {
        if self.shadowing_deviation_db == 0.0 {
            return 0.0;
        }
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - draws.uniform()));
        self.shadowing_deviation_db * radius * libm::cos(2.0 * PI * draws.uniform())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::testing::stream;

    /// 20 dBm at 2.412 GHz: a wavelength of 0.124292 m.
    fn propagation(path_loss: PathLoss) -> Propagation {
        Propagation {
            transmit_power_dbm: 20.0,
            frequency_hz: 2.412e9,
            path_loss,
            shadowing_deviation_db: 0.0,
        }
    }

    fn assert_near(got: f64, expected: f64) {
        assert!((got - expected).abs() < 0.005, "{got} for {expected}");
    }

    #[test]
    fn a_hundred_milliwatts_are_twenty_dbm() {
        assert_near(dbm_of_milliwatts(100.0), 20.0);
        assert_near(dbm_of_milliwatts(0.5), -3.010);
    }

    #[test]
    fn a_megahertz_has_noise_of_minus_114_dbm() {
        // 1.380649e-23 * 290 * 1e6 W = 4.0039e-15 W, -143.975 dBW.
        assert_near(thermal_noise_dbm(1e6), -113.975);
    }

    #[test]
    fn a_power_reaches_as_far_as_it_arrives() {
        let air = propagation(PathLoss::FreeSpace);
        // 20 - 80.095 dBm at 100 m.
        assert!((air.reach_m(-60.095) - 100.0).abs() < 0.02);
        assert!(air.reach_m(30.0) < 1e-3);
    }

    #[test]
    fn free_space_loses_20_db_a_decade() {
        let air = propagation(PathLoss::FreeSpace);
        // 20 log10(4 pi / 0.124292) = 20 log10(101.104) = 40.095 dB at 1 m.
        assert_near(air.loss_db(1.0), 40.095);
        assert_near(air.loss_db(100.0), 80.095);
        assert_near(air.received_dbm(10.0), -40.095);
        // Never more than was sent.
        assert_eq!(air.loss_db(0.0), 0.0);
    }

    #[test]
    fn two_rays_lose_40_db_a_decade_beyond_the_crossover() {
        let air = propagation(PathLoss::TwoRayGround { antenna_height_m: 1.5 });
        // The crossover: 4 pi 2.25 / 0.124292 = 227.48 m. 40 log10(1000) - 20 log10(2.25) = 120 - 7.044.
        assert_near(air.loss_db(1000.0), 112.956);
        assert_near(air.loss_db(10_000.0) - air.loss_db(1000.0), 40.0);
        assert_near(air.loss_db(227.48), air.loss_db(227.49));
        assert_near(air.loss_db(100.0), 80.095);
    }

    #[test]
    fn an_exponent_of_2_7_loses_27_db_a_decade() {
        let air = propagation(PathLoss::LogDistance { exponent: 2.7, reference_distance_m: 1.0 });
        assert_near(air.loss_db(1.0), 40.095);
        assert_near(air.loss_db(10.0), 67.095);
        // Up to the reference distance space is free: 10 cm are 20 dB less.
        assert_near(air.loss_db(0.1), 20.095);
    }

    #[test]
    fn shadowing_has_its_deviation() {
        let air = Propagation { shadowing_deviation_db: 4.0, ..propagation(PathLoss::FreeSpace) };
        let mut draws = stream("shadowing");
        let n = 100_000;
        let (mut sum, mut squares, mut beyond) = (0.0, 0.0, 0);
        for _ in 0..n {
            let db = air.shadowing_db(&mut draws);
            sum += db;
            squares += db * db;
            beyond += u32::from(db > 8.0);
        }
        let n = f64::from(n);
        // Standard errors: 4 / sqrt(n) = 0.013, and 4 / sqrt(2 n) = 0.009.
        assert!((sum / n).abs() < 0.05, "{}", sum / n);
        assert!((libm::sqrt(squares / n) - 4.0).abs() < 0.04, "{}", squares / n);
        // P(more than two deviations) = 0.02275, with a standard error of 0.0005.
        assert!((f64::from(beyond) / n - 0.02275).abs() < 0.002, "{beyond}");
        let mut unused = stream("none");
        assert_eq!(propagation(PathLoss::FreeSpace).shadowing_db(&mut unused), 0.0);
    }
}
