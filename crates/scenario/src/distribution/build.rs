//! Distributions of times and sizes.

use crate::distribution::model::{SizeDistribution, TimeDistribution};
use roamsim_network::Distribution;

/// A distribution of nanoseconds.
pub(crate) fn time_distribution(model: &TimeDistribution) -> Distribution {
    match *model {
        TimeDistribution::Constant { value } => Distribution::Constant(value.as_ns()),
        TimeDistribution::Exponential { mean } => Distribution::Exponential { mean: mean.as_ns() },
        TimeDistribution::Pareto { mean, shape } => Distribution::Pareto { mean: mean.as_ns(), shape },
        TimeDistribution::Uniform { min, max } => {
            Distribution::Uniform { min: min.as_ns(), max: max.as_ns() }
        }
    }
}

/// A distribution of octets.
pub(crate) fn size_distribution(model: &SizeDistribution) -> Distribution {
    match *model {
        SizeDistribution::Constant { value_bytes } => Distribution::Constant(value_bytes),
        SizeDistribution::Exponential { mean_bytes, min_bytes, max_bytes } => {
            Distribution::BoundedExponential { mean: mean_bytes, min: min_bytes, max: max_bytes }
        }
        SizeDistribution::Pareto { min_bytes, max_bytes, shape } => {
            Distribution::BoundedPareto { min: min_bytes, max: max_bytes, shape }
        }
        SizeDistribution::Uniform { min_bytes, max_bytes } => {
            Distribution::Uniform { min: min_bytes, max: max_bytes }
        }
    }
}
