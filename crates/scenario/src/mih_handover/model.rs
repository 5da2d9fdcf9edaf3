//! Handovers by the commands of IEEE 802.21.

use roamsim_engine::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::distribution::TimeDistribution;
use crate::model::dscp::Dscp;
use crate::signalling::model::{Acknowledgement, RateLimit};
use crate::transport::Transport;
use crate::units;

/// A `[[handover]]`: MIH users hand a mobile node over from one network to another, by the commands of IEEE Std 802.21-2008.
///
/// The mobile node is `multihomed`, a station of both networks. Its flows over UDP and TCP begin in the first network; they
/// are redirected when the handover is committed, or when its link there is down.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MihHandover {
    /// The entry's name in results.
    pub name: String,
    /// The node that is handed over.
    pub mobile_node: String,
    /// Who decides that, and where to.
    pub initiated_by: Initiator,
    /// How the point of service of the first network hears that the link is going down. Default chosen: `local`, for it may
    /// be at the access.
    #[serde(default)]
    pub notice: Notice,
    /// The network that the mobile node uses at first.
    pub from: ServingNetwork,
    /// Those that it may go to, the first choice first.
    pub to: Vec<CandidateNetwork>,
    /// What carries the messages between the mobile node and the points of service.
    pub transport: Transport,
    /// What carries those between points of service. Left out: the same.
    #[serde(default)]
    pub transport_between_pos: Option<Transport>,
    /// The class of the packets: a DSCP. Default: best effort (RFC 2474 section 4.1).
    #[serde(default)]
    pub dscp: Dscp,
    /// Size of each MIH message, header and MIHF IDs included; one that says more is as long as it is. Left out: all are as
    /// long as they are.
    #[serde(rename = "message_size", default, with = "units::size")]
    #[schemars(with = "Option<units::Size>")]
    pub message_bytes: Option<u64>,
    /// Time from a request's arrival to what is done about it, at each node that has none of its own. Default: none.
    #[serde(default, with = "units::duration")]
    #[schemars(with = "Option<units::Duration>", extend("default" = "0s"))]
    pub processing_time: Option<Span>,
    /// How long the mobile node scans for the networks that it may go to. It then knows those that it hears.
    pub scan_time: TimeDistribution,
    /// MIH acknowledgement of every message. Left out: no message asks for one, and none is sent again.
    #[serde(default)]
    pub acknowledgement: Option<Acknowledgement>,
    /// How long both ends keep a transaction. Left out: without limit, until its ID is used again.
    #[serde(default, with = "units::duration")]
    #[schemars(with = "Option<units::Duration>")]
    pub lifetime: Option<Span>,
    /// A token bucket at each MIHF, for all that it sends in a session. Left out: no limit.
    #[serde(default)]
    pub rate_limit: Option<RateLimit>,
}

/// Who decides on a handover.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Initiator {
    /// The mobile node, upon Link_Going_Down: it scans, asks for resources, has them reserved, and redirects its flows when
    /// that is confirmed.
    MobileNode,
    /// The point of service of the network that it uses: it asks for resources, has the mobile node scan, reserves, and tells
    /// it to go.
    Network,
}

/// How a point of service hears that the link of a mobile node is going down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Notice {
    /// By its own access, in the same instant as the mobile node.
    #[default]
    Local,
    /// By MIH_Link_Going_Down.indication of the mobile node's MIHF, to which it has subscribed.
    Remote,
}

/// The network that a mobile node uses at first.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServingNetwork {
    /// The cell, by the name of its `[[cell]]`, `[[wifi]]` or the like.
    pub access: String,
    /// The node that is its point of service.
    pub pos: String,
    /// The `processing_time` of that node. Left out: that of the entry.
    #[serde(default, with = "units::duration")]
    #[schemars(with = "Option<units::Duration>")]
    pub processing_time: Option<Span>,
}

/// A network that a mobile node may go to.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CandidateNetwork {
    /// The cell, by the name of its `[[cell]]`, `[[wifi]]` or the like.
    pub access: String,
    /// The node that is its point of service.
    pub pos: String,
    /// For how many mobile nodes that are handed over it has room, those of all entries together; entries that name the
    /// same cell say the same. Left out: for all that come.
    #[serde(default)]
    pub capacity: Option<u32>,
    /// The `processing_time` of the node that is its point of service. Left out: that of the entry.
    #[serde(default, with = "units::duration")]
    #[schemars(with = "Option<units::Duration>")]
    pub processing_time: Option<Span>,
}
