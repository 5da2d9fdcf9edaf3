//! Data flows.

use std::num::NonZeroU16;
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

/// A `[[flow]]`: an application between two nodes, one way or both, with its own transport connection.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Flow {
    /// The flow's name in results.
    pub name: Name,
    /// The sender; with `bidirectional` one of two, with `request_response` the client. It opens the
    /// connection or association.
    pub from: Name,
    /// The node that receives; with `request_response`, the server.
    pub to: Name,
    /// The transport that carries the data.
    #[serde(deserialize_with = "transport")]
    #[schemars(with = "Transport")]
    pub transport: Arc<Transport>,
    /// The packets' DSCP. Both ends mark all that they send, acknowledgements included. Default: best effort
    /// (RFC 2474 section 4.1).
    #[serde(default)]
    pub dscp: Dscp,
    /// The application that generates the data.
    pub application: Application,
    /// Links and cells for this flow in order of preference, by name or technology. The flow uses no others.
    /// Rules and scheme are those of its node's `[[selection]]`. Left out: it goes where its node selects.
    #[serde(default)]
    pub policy: Option<Box<Vec<String>>>,
    /// Whether both ends generate data over one connection; results have a row for each direction. Default:
    /// no. `request_response` always has two directions.
    #[serde(default)]
    pub bidirectional: bool,
    /// How `to` reads, over TCP. Left out: at once, so that the receive window never closes.
    #[serde(default)]
    pub reader: Option<Box<Reader>>,
    /// With `bidirectional`, how `from` reads. Left out: at once.
    #[serde(default)]
    pub reverse_reader: Option<Box<Reader>>,
    /// The port at `to`. Flows may share a port: each program that connects gets the next flow. Left out:
    /// 49152 for the first flow of the scenario, the next one for each further flow.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub port: Option<NonZeroU16>,
}

fn transport<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<Transport>, D::Error> {
    Transport::deserialize(deserializer).map(Arc::new)
}

impl Flow {
    /// The links, cells and technologies that it prefers.
    pub(crate) fn policy(&self) -> &[String] {
        self.policy.as_deref().map_or(&[], Vec::as_slice)
    }

    /// Whether a node is an end of it.
    pub(crate) fn is_at(&self, node: &str) -> bool {
        [&self.from, &self.to].iter().any(|end| ***end == *node)
    }

    /// The node of its QUIC client, if that migrates.
    pub(crate) fn migrating_client(&self) -> Option<&str> {
        self.transport.migrating_client([&self.from, &self.to])
    }
}

impl Sharing for Flow {
    fn share(&mut self, before: &Flow) {
        share(&mut self.transport, &before.transport);
    }
}

/// An application that reads slowly or pauses: unread data fills the receiver's buffer, and TCP's window
/// closes. Data counts as delivered when it is read.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reader {
    /// Its reading rate. Left out: it reads everything at once.
    #[serde(rename = "read_rate", default, with = "units::rate")]
    #[schemars(with = "Option<units::Rate>")]
    pub rate_bps: Option<u64>,
    /// The most in one read, with `read_rate`. Left out: 1 KiB (chosen: less than a segment, so that the
    /// window opens in TCP's steps).
    #[serde(rename = "read_size", default, with = "units::size")]
    #[schemars(with = "Option<units::Size>")]
    pub read_size_bytes: Option<u64>,
    /// When it does not read; pauses must not overlap. Left out: never.
    #[serde(default)]
    pub pauses: Vec<Pause>,
    /// When it closes the connection of a one-way flow. Unread and later data is lost, and its sender gets a
    /// reset (RFC 9293 section 3.6.1). Left out: when the sender has closed and everything was read.
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

/// A time without reading, from `start` to just before `stop`.
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
