//! Nodes.

use schemars::JsonSchema;
use serde::Deserialize;

/// A `[[node]]`: a host or a router, which is the same thing until something runs on it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// The node's name, by which links, flows and signalling refer to it.
    pub name: String,
}
