//! Data flows.

use schemars::JsonSchema;
use serde::Deserialize;

use super::application::Application;
use super::transport::Transport;

/// A `[[flow]]`: an application between two nodes, over a transport connection of its own.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Flow {
    /// The flow's name in results.
    pub name: String,
    /// The node that sends; with `request_response`, the client. It opens the TCP connection or the SCTP association.
    pub from: String,
    /// The node that receives; with `request_response`, the server.
    pub to: String,
    /// What carries the data.
    pub transport: Transport,
    /// What generates the data.
    pub application: Application,
}
