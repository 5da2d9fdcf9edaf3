//! Abstract radio cells: rate, reach, and errors by distance.

use roamsim_engine::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::access::mtu::default_mtu_bytes;
use crate::access::queue::Queue;
use crate::access::stations::Advertisement;
use crate::units;

/// A `[[cell]]`: a base station, and the stations that may be in its cell.
///
/// Stations may be in several cells, which may overlap. Full duplex: the base station has one transmitter for
/// all, each station has its own. The stations' addresses follow them from cell to cell at once, as if all
/// base stations were one bridged network; unless they are `multihomed`, or of a `[[mobile_ip]]`.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// The cell's name in results.
    pub name: String,
    /// The node that is the base station; it needs a `position`.
    pub base_station: String,
    /// The nodes that may be stations here, now or later; each needs a `position`. They have no wired links.
    pub stations: Vec<String>,
    /// Bit rate of every transmitter.
    #[serde(rename = "rate", with = "units::rate")]
    #[schemars(with = "units::Rate")]
    pub rate_bps: u64,
    /// Propagation delay, one way. Left out: the distance over the speed of light.
    #[serde(default, with = "units::duration")]
    #[schemars(with = "Option<units::Duration>")]
    pub delay: Option<Span>,
    /// The queue of every transmitter: of the base station one for all stations. Default chosen: as for a
    /// wired link.
    #[serde(default)]
    pub queue: Queue,
    /// The largest IP packet. Default: Ethernet's 1500 bytes, as for a wired link.
    #[serde(rename = "mtu", default = "default_mtu_bytes", with = "units::size")]
    #[schemars(with = "units::Size")]
    pub mtu_bytes: u64,
    /// How far the cell reaches, and how many packets are lost at which distance.
    pub coverage: Coverage,
    /// How the base station makes itself known.
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
    /// The error probability grows with a power of the distance up to the edge; outside everything is lost.
    DistancePower(DistancePower),
    /// Error probabilities at distances, with straight lines between them; beyond the last everything is
    /// lost.
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
    /// The exponent. Default: 4, by which power falls over flat ground (Rappaport, Wireless Communications,
    /// 2nd edition, section 4.6).
    #[serde(default = "default_exponent")]
    pub exponent: f64,
    /// The error that the probability is of. Default chosen: a packet, because the figure is then a loss
    /// ratio.
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
    /// The points, in order of distance. The first error holds for anything nearer as well. Default: none,
    /// where a file has them.
    #[serde(default)]
    pub points: Vec<ErrorPoint>,
    /// The error that the probabilities are of. Default chosen: packets, as of `distance_power`.
    #[serde(default)]
    pub per: ErrorUnit,
    /// A file in place of `points`, relative to the folder of the scenario. Each line has a distance in
    /// metres and a probability, with a comma or spaces between. Lines that begin with `#` are comments.
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
