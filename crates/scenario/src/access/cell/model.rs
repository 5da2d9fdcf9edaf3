//! Abstract radio cells: rate, reach, and errors by distance.

use roamsim_engine::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::access::mtu::default_mtu_bytes;
use crate::access::queue::Queue;
use crate::access::stations::Advertisement;
use crate::units;

/// A `[[cell]]`: a base station, and the stations that may be in its cell. Cells may overlap. The base
/// station has one transmitter for all, each station its own (full duplex). A station's `handover` says how
/// its address follows it.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// The cell's name in results.
    pub name: String,
    /// The node that is the base station; it needs a `position`.
    pub base_station: String,
    /// The nodes that may be stations here; each needs a `position` and has no wired links.
    pub stations: Vec<String>,
    /// Bit rate of every transmitter.
    #[serde(rename = "rate", with = "units::rate")]
    #[schemars(with = "units::Rate")]
    pub rate_bps: u64,
    /// Propagation delay, one way. Left out: the distance over the speed of light.
    #[serde(default, with = "units::duration")]
    #[schemars(with = "Option<units::Duration>")]
    pub delay: Option<Span>,
    /// The queue of every transmitter: the base station has one for all stations. Default chosen: as for a
    /// wired link.
    #[serde(default)]
    pub queue: Queue,
    /// The largest IP packet. Default: Ethernet's, as for a wired link.
    #[serde(rename = "mtu", default = "default_mtu_bytes", with = "units::size")]
    #[schemars(with = "units::Size")]
    pub mtu_bytes: u64,
    /// The cell's reach, and its losses by distance.
    pub coverage: Coverage,
    /// Its beacons.
    #[serde(default)]
    pub advertisement: Advertisement,
}

/// How many packets are lost at which distance.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename = "tag:model", rename_all = "snake_case")]
#[schemars(rename = "Coverage", tag = "model")]
pub enum Coverage {
    /// Nothing is lost inside of a circle, everything outside.
    Disc(Disc),
    /// The error probability grows with a power of the distance up to the edge; beyond, everything is lost.
    DistancePower(DistancePower),
    /// Error probabilities at distances, linear between them; beyond the last, everything is lost.
    Table(ErrorTable),
}

/// A circle.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Disc {
    /// Its radius.
    #[serde(rename = "radius", with = "units::length")]
    #[schemars(with = "units::Length")]
    pub radius_m: f64,
}

/// `error_at_edge * (distance / radius)^exponent`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DistancePower {
    /// The distance of the edge.
    #[serde(rename = "radius", with = "units::length")]
    #[schemars(with = "units::Length")]
    pub radius_m: f64,
    /// The error probability at the edge.
    #[serde(deserialize_with = "units::probability")]
    #[schemars(with = "units::Probability")]
    pub error_at_edge: f64,
    /// The exponent. Default: power falls so over flat ground (Rappaport, Wireless Communications, 2nd
    /// edition, section 4.6).
    #[serde(default = "default_exponent")]
    pub exponent: f64,
    /// Whether the probability is that of a packet or of a bit. Default chosen: a packet, so that it is a
    /// loss ratio.
    #[serde(default)]
    pub per: ErrorUnit,
}

fn default_exponent() -> f64 {
    4.0
}

/// Errors at distances.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ErrorTable {
    /// The points, in order of distance. The first error also holds nearer. Default: none, with a `file`.
    #[serde(default)]
    pub points: Vec<ErrorPoint>,
    /// Whether the probabilities are those of packets or of bits. Default chosen: packets.
    #[serde(default)]
    pub per: ErrorUnit,
    /// A file in place of `points`: a distance in metres and a probability a line. `#` begins a comment.
    /// Default: none.
    #[serde(default)]
    pub file: Option<String>,
}

/// The error at a distance.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ErrorPoint {
    /// The distance.
    #[serde(rename = "distance", with = "units::length")]
    #[schemars(with = "units::Length")]
    pub distance_m: f64,
    /// The error probability there.
    #[serde(deserialize_with = "units::probability")]
    #[schemars(with = "units::Probability")]
    pub error: f64,
}

/// The object of an error probability.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ErrorUnit {
    /// A packet, whatever its length.
    #[default]
    Packet,
    /// A bit: a packet of n bytes survives with probability (1 - error)^(8 n).
    Bit,
}
