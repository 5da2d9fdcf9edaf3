//! Data flows.

use schemars::JsonSchema;
use serde::Deserialize;

use super::application::Application;
use super::transport::Transport;

/// A `[[flow]]`: an application between two nodes, over a transport connection of its own, from one to the other or both
/// ways.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Flow {
    /// The flow's name in results.
    pub name: String,
    /// The node that sends (with `bidirectional`, one of two); with `request_response`, the client. It opens the TCP connection or the SCTP association.
    pub from: String,
    /// The node that receives; with `request_response`, the server.
    pub to: String,
    /// What carries the data.
    pub transport: Transport,
    /// What generates the data.
    pub application: Application,
    /// Whether the application generates data at both ends of the one connection, at each with random numbers of its own.
    /// Acknowledgements then ride on the data of the other direction. In results, what goes from `to` to `from` has a row
    /// of its own, with the nodes in this order. Default: no. `request_response` has two directions by itself.
    #[serde(default)]
    pub bidirectional: bool,
}
