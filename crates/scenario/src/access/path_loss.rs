//! How power falls with distance, as radios of several technologies have it.

use roamsim_network::link::propagation::PathLoss as NetworkPathLoss;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::report::{Report, Step, join};
use crate::units;

/// A larger exponent is no law of nature, and its powers are zero.
const LARGEST_EXPONENT: f64 = 100.0;

/// How power falls with distance.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename = "tag:model", rename_all = "snake_case")]
#[schemars(rename = "PathLoss", tag = "model")]
pub enum PathLoss {
    /// By the square of the distance (Friis 1946).
    FreeSpace(FreeSpace),
    /// Flat ground: the fourth power beyond the crossover distance (Rappaport, Wireless Communications, 2nd
    /// edition, section 4.6).
    TwoRayGround(TwoRayGround),
    /// An exponent that you choose (Rappaport, section 4.9.1).
    LogDistance(LogDistance),
}

/// Nothing but distance.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FreeSpace {}

/// Flat ground.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TwoRayGround {
    /// The height of all antennas. Default chosen: a terminal in the hand.
    #[serde(rename = "antenna_height", default = "default_antenna_height_m", with = "units::length")]
    #[schemars(with = "units::Length")]
    pub antenna_height_m: f64,
}

fn default_antenna_height_m() -> f64 {
    1.5
}

/// An exponent.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LogDistance {
    /// The exponent: 2 in free space, 2.7 to 3.5 in towns, 4 to 6 in buildings (Rappaport, table 4.2).
    pub exponent: f64,
    /// Free space up to here. Default: usual indoors (Rappaport, section 4.9.1).
    #[serde(rename = "reference_distance", default = "default_reference_distance_m", with = "units::length")]
    #[schemars(with = "units::Length")]
    pub reference_distance_m: f64,
}

fn default_reference_distance_m() -> f64 {
    1.0
}

impl PathLoss {
    /// The same for machines.
    pub(crate) fn network(self) -> NetworkPathLoss {
        match self {
            PathLoss::FreeSpace(FreeSpace {}) => NetworkPathLoss::FreeSpace,
            PathLoss::TwoRayGround(TwoRayGround { antenna_height_m }) => {
                NetworkPathLoss::TwoRayGround { antenna_height_m }
            }
            PathLoss::LogDistance(LogDistance { exponent, reference_distance_m }) => {
                NetworkPathLoss::LogDistance { exponent, reference_distance_m }
            }
        }
    }
}

/// Checks a law whose keys are under `at`; whether it is one.
pub(crate) fn check(at: &[Step], law: PathLoss, report: &mut Report<'_>) -> bool {
    let refused = match law {
        PathLoss::FreeSpace(FreeSpace {}) => None,
        PathLoss::TwoRayGround(law) if law.antenna_height_m <= 0.0 => Some("antenna_height"),
        PathLoss::LogDistance(law) if !(law.exponent > 0.0 && law.exponent <= LARGEST_EXPONENT) => {
            let help = "write a number above 0, up to 100: 2 is free space, 4 flat ground";
            report.add(&join(at, ["exponent"]), format!("{} is out of range", law.exponent), help);
            return false;
        }
        PathLoss::LogDistance(law) if law.reference_distance_m <= 0.0 => Some("reference_distance"),
        PathLoss::TwoRayGround(_) | PathLoss::LogDistance(_) => None,
    };
    if let Some(key) = refused {
        let help = "write a length such as \"1m\"";
        report.add(&join(at, [key]), "this length must be above zero", help);
    }
    refused.is_none()
}
