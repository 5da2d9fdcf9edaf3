//! Where nodes are, and how they move.

use roamsim_engine::{Span, Time};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::files::{Fault, Walk, bonnmotion, setdest};
use crate::units;

/// A place in the plane.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// To the right of the origin.
    #[serde(rename = "x", deserialize_with = "units::coordinate")]
    #[schemars(with = "units::Coordinate")]
    pub x_m: f64,
    /// Above the origin.
    #[serde(rename = "y", deserialize_with = "units::coordinate")]
    #[schemars(with = "units::Coordinate")]
    pub y_m: f64,
}

/// A rectangle that nodes may not leave.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Area {
    /// Its lower left corner.
    pub from: Place,
    /// Its upper right corner.
    pub to: Place,
}

/// How a node moves: always in straight lines, each at one speed.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename = "tag:kind", rename_all = "snake_case")]
#[schemars(rename = "Motion", tag = "kind")]
pub enum Motion {
    /// Straight to a place, where it stays.
    Linear(Linear),
    /// To a place and back, until the run ends.
    BackAndForth(BackAndForth),
    /// From place to place, and it stays at the last.
    Waypoints(Waypoints),
    /// A file of ns-2's `setdest`, which includes the first place.
    Setdest(MotionFile),
    /// A BonnMotion file (`.movements`): on each line the times and places of a node.
    Bonnmotion(BonnmotionFile),
}

impl Motion {
    /// When the node sets out, where that is not in a file.
    pub fn start(&self) -> Option<Time> {
        match self {
            Motion::Linear(Linear { start, .. })
            | Motion::BackAndForth(BackAndForth { start, .. })
            | Motion::Waypoints(Waypoints { start, .. }) => Some(*start),
            Motion::Setdest(_) | Motion::Bonnmotion(_) => None,
        }
    }
}

/// Straight to a place.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Linear {
    /// Where it goes.
    pub to: Place,
    /// How fast.
    #[serde(rename = "speed", deserialize_with = "units::speed")]
    #[schemars(with = "units::Speed")]
    pub speed_m_per_s: f64,
    /// When it sets out.
    #[serde(default, with = "units::instant")]
    #[schemars(with = "units::Instant")]
    pub start: Time,
}

/// To a place and back.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BackAndForth {
    /// The other end of its way.
    pub to: Place,
    /// How fast.
    #[serde(rename = "speed", deserialize_with = "units::speed")]
    #[schemars(with = "units::Speed")]
    pub speed_m_per_s: f64,
    /// How long it rests at each end.
    #[serde(default, with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub pause: Span,
    /// When it sets out.
    #[serde(default, with = "units::instant")]
    #[schemars(with = "units::Instant")]
    pub start: Time,
}

/// From place to place.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Waypoints {
    /// The places, in their order.
    pub points: Vec<Waypoint>,
    /// When it sets out.
    #[serde(default, with = "units::instant")]
    #[schemars(with = "units::Instant")]
    pub start: Time,
}

/// A place on a walk.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Waypoint {
    /// To the right of the origin.
    #[serde(rename = "x", deserialize_with = "units::coordinate")]
    #[schemars(with = "units::Coordinate")]
    pub x_m: f64,
    /// Above the origin.
    #[serde(rename = "y", deserialize_with = "units::coordinate")]
    #[schemars(with = "units::Coordinate")]
    pub y_m: f64,
    /// How fast the node goes there.
    #[serde(rename = "speed", deserialize_with = "units::speed")]
    #[schemars(with = "units::Speed")]
    pub speed_m_per_s: f64,
    /// How long it rests there.
    #[serde(default, with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub pause: Span,
}

/// A node of a file of ns-2.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MotionFile {
    /// The file, in metres, seconds and metres a second.
    #[serde(default)]
    pub file: Option<String>,
    /// The node's number in the file, from 0.
    pub node: u32,
    /// The file's lines about this node, in place of `file`.
    #[serde(default)]
    pub content: Option<String>,
}

/// A node of a file of BonnMotion.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BonnmotionFile {
    /// The file, in metres and seconds.
    #[serde(default)]
    pub file: Option<String>,
    /// The node's number in the file, from 0.
    pub node: u32,
    /// The file's lines about this node, in place of `file`.
    #[serde(default)]
    pub content: Option<String>,
    /// 2 for waypoints `time x y`, 3 for `time x y z`; heights are ignored. Left out: found from the lines; a
    /// file that fits both is refused.
    #[serde(default)]
    #[schemars(range(min = 2, max = 3))]
    pub dimensions: Option<u32>,
}

impl MotionFile {
    /// What the file says; `None` where it was not read.
    pub(super) fn walk(&self) -> Option<Result<Walk, Fault>> {
        self.content.as_ref().map(|content| setdest::parse(content, self.node))
    }
}

impl BonnmotionFile {
    /// What the file says; `None` where it was not read.
    pub(super) fn walk(&self) -> Option<Result<Walk, Fault>> {
        self.content.as_ref().map(|content| bonnmotion::parse(content, self.node, self.dimensions))
    }
}
