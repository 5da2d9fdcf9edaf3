//! Coverage: the probability that a packet does not survive the way through the air, by distance.
//!
//! - `Disc`: nothing is lost inside the radius, everything outside.
//! - `DistancePower`: the error probability grows with distance as a power law up to the radius, where it has
//!   a given value, and everything is lost beyond. The exponent is that of a path-loss law, because the
//!   received power falls by it (Rappaport, "Wireless Communications", 2nd edition, chapter 4: 2 in free
//!   space, 4 over flat ground).
//! - `Table`: error probabilities at distances, with straight lines between them; everything is lost beyond
//!   the last.
//!
//! An error probability is that of a packet, whatever its length, or that of a bit: then a packet of n octets
//! survives with probability (1 - p)^(8 n).
//!
//! Not modelled: fading in time (the error depends on distance alone), interference, shadowing, adaptive
//! rates.

/// What an error probability is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorUnit {
    /// A packet, whatever its length.
    Packet,
    /// A bit; bits are independent.
    Bit,
}

/// The error model of a cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Coverage {
    /// Nothing is lost inside.
    Disc {
        /// Metres.
        radius_m: f64,
    },
    /// A power law up to the edge.
    DistancePower {
        /// Metres.
        radius_m: f64,
        /// The error probability at the edge.
        error_at_edge: f64,
        /// The exponent: the probability at a distance d is `error_at_edge * (d / radius)^exponent`.
        exponent: f64,
        /// What it is the probability of.
        unit: ErrorUnit,
    },
    /// Points with straight lines between them.
    Table {
        /// (metres, probability), distances rising. The first holds for anything nearer. Never empty.
        points: Vec<(f64, f64)>,
        /// What it is the probability of.
        unit: ErrorUnit,
    },
}

impl Coverage {
    /// The distance beyond which everything is lost, in metres.
    pub fn radius_m(&self) -> f64 {
        match self {
            Coverage::Disc { radius_m } | Coverage::DistancePower { radius_m, .. } => *radius_m,
            Coverage::Table { points, .. } => points.last().map_or(0.0, |point| point.0),
        }
    }

    /// The probability that a packet of `bytes` octets is lost at a distance; `None` out of reach.
    pub fn loss_probability(&self, distance_m: f64, bytes: u32) -> Option<f64> {
        if distance_m > self.radius_m() {
            return None;
        }
        Some(match self {
            Coverage::Disc { .. } => 0.0,
            Coverage::DistancePower { radius_m, error_at_edge, exponent, unit } => {
                let share = if *radius_m > 0.0 { distance_m / radius_m } else { 1.0 };
                of_packet(error_at_edge * libm::pow(share, *exponent), *unit, bytes)
            }
            Coverage::Table { points, unit } => of_packet(interpolated(points, distance_m), *unit, bytes),
        })
    }
}

/// The loss probability of a packet.
fn of_packet(error: f64, unit: ErrorUnit, bytes: u32) -> f64 {
    match unit {
        ErrorUnit::Packet => error,
        // 1 - (1 - p)^bits, exact for small p.
        ErrorUnit::Bit => -libm::expm1(8.0 * f64::from(bytes) * libm::log1p(-error)),
    }
}

fn interpolated(points: &[(f64, f64)], distance_m: f64) -> f64 {
    let after = points.partition_point(|point| point.0 < distance_m);
    match (after.checked_sub(1).and_then(|before| points.get(before)), points.get(after)) {
        (Some(&(near_m, near)), Some(&(far_m, far))) => {
            near + (far - near) * (distance_m - near_m) / (far_m - near_m)
        }
        (None, Some(&(_, first))) => first,
        (_, None) => points.last().map_or(1.0, |point| point.1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: Option<f64>, expected: f64) {
        let found = found.expect("in reach");
        assert!((found - expected).abs() <= 1e-12, "{found} is not {expected}");
    }

    #[test]
    fn a_disc_loses_nothing_inside_and_everything_outside() {
        let disc = Coverage::Disc { radius_m: 100.0 };
        assert_eq!(disc.loss_probability(100.0, 1500), Some(0.0));
        assert_eq!(disc.loss_probability(100.001, 1500), None);
    }

    #[test]
    fn a_power_law_reaches_its_value_at_the_edge() {
        let law = |unit| Coverage::DistancePower { radius_m: 200.0, error_at_edge: 0.4, exponent: 4.0, unit };
        close(law(ErrorUnit::Packet).loss_probability(200.0, 1), 0.4);
        // Half way: 0.4 / 16.
        close(law(ErrorUnit::Packet).loss_probability(100.0, 1500), 0.025);
        close(law(ErrorUnit::Packet).loss_probability(0.0, 1500), 0.0);
        assert_eq!(law(ErrorUnit::Packet).loss_probability(200.1, 1500), None);
        // Eight bits of 0.025 each: 1 - 0.975^8 = 1 - 0.816651... = 0.183348...
        close(law(ErrorUnit::Bit).loss_probability(100.0, 1), 1.0 - libm::pow(0.975, 8.0));
        // A certain bit error leaves no packet.
        let certain = Coverage::DistancePower {
            radius_m: 1.0,
            error_at_edge: 1.0,
            exponent: 1.0,
            unit: ErrorUnit::Bit,
        };
        close(certain.loss_probability(1.0, 1), 1.0);
    }

    #[test]
    fn a_table_is_read_along_straight_lines() {
        let points = vec![(10.0, 0.0), (20.0, 0.1), (40.0, 0.5)];
        let table = Coverage::Table { points, unit: ErrorUnit::Packet };
        close(table.loss_probability(0.0, 100), 0.0);
        close(table.loss_probability(10.0, 100), 0.0);
        close(table.loss_probability(15.0, 100), 0.05);
        close(table.loss_probability(20.0, 100), 0.1);
        close(table.loss_probability(25.0, 100), 0.2);
        close(table.loss_probability(40.0, 100), 0.5);
        assert_eq!(table.loss_probability(40.1, 100), None);
        assert_eq!(table.radius_m(), 40.0);
    }
}
