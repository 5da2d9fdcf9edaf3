//! Nodes.

use schemars::JsonSchema;
use serde::Deserialize;

use super::motion::{Motion, Place};
use crate::units;

/// A `[[node]]`: a host or a router, which is the same thing until something runs on it.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// The node's name, by which links, cells, flows and signalling refer to it.
    pub name: String,
    /// Where it is, or where its motion begins. Base stations and stations of a `[[cell]]` need it, unless their motion
    /// comes from a file.
    #[serde(default)]
    pub position: Option<Place>,
    /// How it moves. Left out: not at all.
    #[serde(default)]
    pub motion: Option<Motion>,
    /// A station changes its cell when another base station is nearer by more than this. Default chosen: nothing,
    /// because a station here knows distances without noise, and does not change back and forth.
    #[serde(rename = "hysteresis", default, with = "units::length")]
    #[schemars(with = "units::Length")]
    pub hysteresis_m: f64,
    /// Whether each of its addresses stays with its own link or cell: packets to an address arrive over that link,
    /// and what is sent from the address leaves by it. Such a node forwards nothing. Default chosen: false. Addresses
    /// then name the node, and routes take the shortest way to it; those of a station follow it from cell to cell.
    #[serde(default)]
    pub multihomed: bool,
}
