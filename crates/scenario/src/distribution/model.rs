//! Random times and sizes. A plain value stands for the constant distribution.

use roamsim_engine::Span;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::decode::schema::plain_value_is_constant;
use crate::units;

/// A time, constant or drawn at each use.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename = "tag:distribution=constant", rename_all = "snake_case", deny_unknown_fields)]
#[schemars(rename = "TimeDistribution", tag = "distribution", transform = plain_value_is_constant)]
pub enum TimeDistribution {
    /// Always the same; a plain value means this.
    Constant {
        /// The value.
        #[serde(with = "units::duration")]
        #[schemars(with = "units::Duration")]
        value: Span,
    },
    /// Exponential.
    Exponential {
        /// The mean.
        #[serde(with = "units::duration")]
        #[schemars(with = "units::Duration")]
        mean: Span,
    },
    /// Uniform between two values, both included.
    Uniform {
        /// The smallest value.
        #[serde(with = "units::duration")]
        #[schemars(with = "units::Duration")]
        min: Span,
        /// The largest value.
        #[serde(with = "units::duration")]
        #[schemars(with = "units::Duration")]
        max: Span,
    },
    /// Pareto: at least m = mean * (shape - 1) / shape, and above x m with probability x^-shape. Shapes up to
    /// 2 make on-off traffic long-range dependent (Willinger et al., IEEE/ACM Transactions on Networking
    /// 5(1), 1997).
    Pareto {
        /// The mean.
        #[serde(with = "units::duration")]
        #[schemars(with = "units::Duration")]
        mean: Span,
        /// The exponent of the tail, above 1: below, there is no mean.
        #[serde(deserialize_with = "units::tail_exponent")]
        #[schemars(with = "units::TailExponent")]
        shape: f64,
    },
}

impl Default for TimeDistribution {
    /// No time at all.
    fn default() -> TimeDistribution {
        TimeDistribution::Constant { value: Span::ZERO }
    }
}

impl TimeDistribution {
    /// The longest time that can be drawn, `None` when there is no bound.
    pub fn max(&self) -> Option<Span> {
        match *self {
            TimeDistribution::Constant { value } => Some(value),
            TimeDistribution::Exponential { .. } | TimeDistribution::Pareto { .. } => None,
            TimeDistribution::Uniform { max, .. } => Some(max),
        }
    }

    /// A time that no draw is shorter than.
    pub fn at_least(&self) -> Span {
        match *self {
            TimeDistribution::Constant { value } => value,
            TimeDistribution::Exponential { .. } | TimeDistribution::Pareto { .. } => Span::ZERO,
            TimeDistribution::Uniform { min, .. } => min,
        }
    }

    /// Whether all draws are the same.
    pub fn is_constant(&self) -> bool {
        match *self {
            TimeDistribution::Constant { .. } => true,
            TimeDistribution::Exponential { .. } | TimeDistribution::Pareto { .. } => self.is_zero(),
            TimeDistribution::Uniform { min, max } => min == max,
        }
    }

    /// Whether every draw is zero.
    pub fn is_zero(&self) -> bool {
        match *self {
            TimeDistribution::Constant { value } => value == Span::ZERO,
            TimeDistribution::Exponential { mean } | TimeDistribution::Pareto { mean, .. } => {
                mean == Span::ZERO
            }
            TimeDistribution::Uniform { max, .. } => max == Span::ZERO,
        }
    }
}

/// A size, constant or drawn at each use, within bounds.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename = "tag:distribution=constant", rename_all = "snake_case", deny_unknown_fields)]
#[schemars(rename = "SizeDistribution", tag = "distribution", transform = plain_value_is_constant)]
pub enum SizeDistribution {
    /// Always the same; a plain value means this.
    Constant {
        /// The value.
        #[serde(rename = "value", with = "units::size")]
        #[schemars(with = "units::Size")]
        value_bytes: u64,
    },
    /// Exponential, within bounds.
    Exponential {
        /// The mean, before the bounds take effect.
        #[serde(rename = "mean", with = "units::size")]
        #[schemars(with = "units::Size")]
        mean_bytes: u64,
        /// The least size; smaller draws become this. Default: the least that can be sent.
        #[serde(rename = "min", default = "one_byte", with = "units::size")]
        #[schemars(with = "units::Size")]
        min_bytes: u64,
        /// The largest size; larger draws become this.
        #[serde(rename = "max", with = "units::size")]
        #[schemars(with = "units::Size")]
        max_bytes: u64,
    },
    /// Pareto within bounds: above x with probability proportional to x^-shape - max^-shape. Files and pages
    /// have shapes of 1 to 1.5 (Crovella and Bestavros, IEEE/ACM Transactions on Networking 5(6), 1997).
    Pareto {
        /// The smallest value.
        #[serde(rename = "min", with = "units::size")]
        #[schemars(with = "units::Size")]
        min_bytes: u64,
        /// The largest value.
        #[serde(rename = "max", with = "units::size")]
        #[schemars(with = "units::Size")]
        max_bytes: u64,
        /// The exponent of the tail, above zero.
        #[serde(deserialize_with = "units::above_zero")]
        #[schemars(range(min = 0))]
        shape: f64,
    },
    /// Uniform between two values, both included.
    Uniform {
        /// The smallest value.
        #[serde(rename = "min", with = "units::size")]
        #[schemars(with = "units::Size")]
        min_bytes: u64,
        /// The largest value.
        #[serde(rename = "max", with = "units::size")]
        #[schemars(with = "units::Size")]
        max_bytes: u64,
    },
}

fn one_byte() -> u64 {
    1
}

impl SizeDistribution {
    /// Whether all draws are the same.
    pub fn is_constant(&self) -> bool {
        self.min_bytes() == self.max_bytes()
    }

    /// The smallest size that can be drawn.
    pub fn min_bytes(&self) -> u64 {
        match *self {
            SizeDistribution::Constant { value_bytes } => value_bytes,
            SizeDistribution::Exponential { min_bytes, .. }
            | SizeDistribution::Pareto { min_bytes, .. }
            | SizeDistribution::Uniform { min_bytes, .. } => min_bytes,
        }
    }

    /// The largest size that can be drawn.
    pub fn max_bytes(&self) -> u64 {
        match *self {
            SizeDistribution::Constant { value_bytes } => value_bytes,
            SizeDistribution::Exponential { max_bytes, .. }
            | SizeDistribution::Pareto { max_bytes, .. }
            | SizeDistribution::Uniform { max_bytes, .. } => max_bytes,
        }
    }
}
