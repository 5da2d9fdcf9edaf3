//! Data flows.

use std::sync::Arc;

use roamsim_engine::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};

use crate::application::model::Application;
use crate::decode::{Sharing, share};
use crate::dscp::Dscp;
use crate::names::name::Name;
use crate::transport::Transport;
use crate::units;

/// A `[[flow]]`: an application between two nodes, over a transport connection of its own, from one to the
/// other or both ways.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Flow {
    /// The flow's name in results.
    pub name: Name,
    /// The node that sends (with `bidirectional`, one of two); with `request_response`, the client. It opens
    /// the TCP connection or the SCTP association.
    pub from: Name,
    /// The node that receives; with `request_response`, the server.
    pub to: Name,
    /// The transport that carries the data.
    #[serde(deserialize_with = "transport")]
    #[schemars(with = "Transport")]
    pub transport: Arc<Transport>,
    /// The class of the packets: a DSCP. Both ends mark what they send, acknowledgements included, as
    /// applications do that set it on their sockets. Default: best effort (RFC 2474 section 4.1).
    #[serde(default)]
    pub dscp: Dscp,
    /// The application that generates the data.
    pub application: Application,
    /// Whether the application generates data at both ends of the one connection, at each with random numbers
    /// of its own. Acknowledgements then ride on the data of the other direction. In results, the direction
    /// from `to` to `from` has a row of its own, with the nodes in this order. Default: no.
    /// `request_response` has two directions by itself.
    #[serde(default)]
    pub bidirectional: bool,
    /// How `to` reads what it has received, over TCP. Left out: at once, so that the receive window never
    /// closes.
    #[serde(default)]
    pub reader: Option<Box<Reader>>,
    /// With `bidirectional`, how `from` reads what it has received. Left out: at once.
    #[serde(default)]
    pub reverse_reader: Option<Box<Reader>>,
}

fn transport<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<Transport>, D::Error> {
    Transport::deserialize(deserializer).map(Arc::new)
}

impl Sharing for Flow {
    fn share(&mut self, before: &Flow) {
        share(&mut self.transport, &before.transport);
    }
}

/// An application that reads slowly, or stops reading for a time or for good: what it has not read fills the
/// receiver's buffer, and the window that TCP offers closes. Data counts as delivered when it is read.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reader {
    /// How fast it reads: a read keeps it busy for as long as its octets take at this rate. Left out: it
    /// reads at once whatever there is.
    #[serde(rename = "read_rate", default, with = "units::rate")]
    #[schemars(with = "Option<units::Rate>")]
    pub rate_bps: Option<u64>,
    /// The most that it takes in one read, with `read_rate`. Left out: 1 KiB (chosen: less than a segment, so
    /// that the window opens in TCP's steps and not in those of the reader).
    #[serde(rename = "read_size", default, with = "units::size")]
    #[schemars(with = "Option<units::Size>")]
    pub read_size_bytes: Option<u64>,
    /// When it does not read. None may lie within another. Left out: never.
    #[serde(default)]
    pub pauses: Vec<Pause>,
    /// When it closes the connection, in a flow of one direction. Data that is unread then, or arrives later,
    /// is lost, and its sender gets a reset (RFC 9293 section 3.6.1). Left out: when the sender has closed
    /// and everything was read.
    #[serde(default, with = "units::instant")]
    #[schemars(with = "Option<units::Instant>")]
    pub stop: Option<Time>,
}

impl Reader {
    /// The most that it takes in one read.
    pub fn read_size_bytes(&self) -> u64 {
        self.read_size_bytes.unwrap_or(1024)
    }
}

/// A time in which nothing is read: from `start` on, while the time is before `stop`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pause {
    /// Its first instant.
    #[serde(with = "units::instant")]
    #[schemars(with = "units::Instant")]
    pub start: Time,
    /// When reading goes on.
    #[serde(with = "units::instant")]
    #[schemars(with = "units::Instant")]
    pub stop: Time,
}
