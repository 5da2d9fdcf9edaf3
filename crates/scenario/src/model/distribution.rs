//! Random times and sizes. A plain value stands for the constant distribution.

use roamsim_engine::Span;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::schema::plain_value_is_constant;
use crate::units;

/// A time, constant or drawn anew at each use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
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
            TimeDistribution::Exponential { .. } => None,
            TimeDistribution::Uniform { max, .. } => Some(max),
        }
    }

    /// Whether every draw is zero.
    pub fn is_zero(&self) -> bool {
        match *self {
            TimeDistribution::Constant { value } => value == Span::ZERO,
            TimeDistribution::Exponential { mean } => mean == Span::ZERO,
            TimeDistribution::Uniform { max, .. } => max == Span::ZERO,
        }
    }
}

/// A size, constant or drawn anew at each use. It is bounded, because packets are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
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

impl SizeDistribution {
    /// The smallest size that can be drawn.
    pub fn min_bytes(&self) -> u64 {
        match *self {
            SizeDistribution::Constant { value_bytes } => value_bytes,
            SizeDistribution::Uniform { min_bytes, .. } => min_bytes,
        }
    }

    /// The largest size that can be drawn.
    pub fn max_bytes(&self) -> u64 {
        match *self {
            SizeDistribution::Constant { value_bytes } => value_bytes,
            SizeDistribution::Uniform { max_bytes, .. } => max_bytes,
        }
    }
}
