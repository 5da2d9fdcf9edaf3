//! The `[scenario]` table: the name of the run, its duration, and settings of the whole.

use roamsim_engine::{Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::node::motion::model::Area;
use crate::units;

/// A `[scenario]`: the name and duration of the run, and global settings.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct General {
    /// The scenario's name in results and reports.
    pub name: String,
    /// Simulated time after which the run ends.
    #[serde(with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub duration: Span,
    /// Start of the measurement. The tables `flows`, `signalling`, `links`, `drops`, `queues`, `ecn`,
    /// `marks`, `percentiles` and those of DECT accesses leave out everything before. Default chosen: nothing
    /// is left out.
    #[serde(with = "units::instant")]
    #[schemars(with = "units::Instant")]
    #[serde(default)]
    pub warm_up: Time,
    /// More percentiles of message delays, above 0 and up to 100: `[50, 99.9]`. They are rows of the table
    /// `percentiles`. Default chosen: none beside the 50th, 95th and 99th of `flows` and `signalling`.
    #[serde(default)]
    pub percentiles: Vec<f64>,
    /// A sentence or two about the scenario.
    #[serde(default)]
    pub description: Option<String>,
    /// The Internet Protocol of all nodes, and so the size of the network header. Default chosen: the 802.21
    /// studies run over IPv6.
    #[serde(default)]
    pub ip: IpVersion,
    /// The area that nodes must not leave. Left out: no limit.
    #[serde(default)]
    pub area: Option<Area>,
}

/// A version of the Internet Protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IpVersion {
    /// Header of 40 bytes (RFC 8200 section 3).
    #[default]
    Ipv6,
    /// Header of 20 bytes, without options (RFC 791 section 3.1).
    Ipv4,
}

impl IpVersion {
    /// Bytes of the header, without options or extension headers.
    pub const fn header_bytes(self) -> u64 {
        match self {
            IpVersion::Ipv6 => 40,
            IpVersion::Ipv4 => 20,
        }
    }

    /// The smallest MTU that a link may have: RFC 8200 section 5, RFC 791 section 3.2.
    pub const fn minimum_mtu_bytes(self) -> u64 {
        match self {
            IpVersion::Ipv6 => 1280,
            IpVersion::Ipv4 => 68,
        }
    }
}
