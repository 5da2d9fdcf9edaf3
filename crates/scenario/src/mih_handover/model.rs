//! Handovers by the commands of IEEE 802.21.

use roamsim_engine::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::distribution::model::TimeDistribution;
use crate::dscp::Dscp;
use crate::signalling::model::{Acknowledgement, Crossing, RateLimit};
use crate::transport::Transport;
use crate::units;

/// A `[[handover]]`: MIH users hand a mobile node over to another network, by the commands of IEEE Std
/// 802.21-2008. The mobile node is `multihomed`, a station of both networks. Its UDP and TCP flows are
/// redirected when the handover is committed, or when the first link is down.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MihHandover {
    /// The entry's name in results.
    pub name: String,
    /// The node that is handed over.
    pub mobile_node: String,
    /// Who decides on the handover and on its target.
    pub initiated_by: Initiator,
    /// How the first network's point of service learns that the link is going down. Default chosen: `local`,
    /// because it may be at the access.
    #[serde(default)]
    pub notice: Notice,
    /// The network that the mobile node uses at first.
    pub from: ServingNetwork,
    /// The networks that it may go to, the first choice first.
    pub to: Vec<CandidateNetwork>,
    /// The transport between the mobile node and the points of service.
    pub transport: Transport,
    /// The transport between points of service. Left out: the same.
    #[serde(default)]
    pub transport_between_pos: Option<Transport>,
    /// The packets' DSCP. Default: best effort (RFC 2474 section 4.1).
    #[serde(default)]
    pub dscp: Dscp,
    /// The size of an MIH message, header and MIHF IDs included; longer content makes it longer. Left out:
    /// the size of the content.
    #[serde(rename = "message_size", default, with = "units::size")]
    #[schemars(with = "Option<units::Size>")]
    pub message_bytes: Option<u64>,
    /// Time from a request to the reaction, at nodes without their own. Default: none.
    #[serde(default, with = "units::duration")]
    #[schemars(with = "Option<units::Duration>", extend("default" = "0s"))]
    pub processing_time: Option<Span>,
    /// How long a network keeps a place that it promised, while the mobile node's link there is not up. It
    /// matters with `capacity` and 802.16 service flows. Default chosen: longer than any step of the
    /// published 802.21 study.
    #[serde(default = "default_reservation_time", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub reservation_time: Span,
    /// How long the mobile node scans for the networks in `to`. It then knows those that it hears.
    pub scan_time: TimeDistribution,
    /// The event that begins the preparation. Default: Link_Going_Down, as in the published 802.21 study.
    #[serde(default)]
    pub act_on: ActOn,
    /// With Link_Going_Down: the least confidence to act on, as in the table `link_events`, for network and
    /// mobile node. Left out: any.
    #[serde(default, deserialize_with = "units::some_probability")]
    #[schemars(with = "Option<units::Probability>")]
    pub confidence: Option<f64>,
    /// With MIH_Link_Parameters_Report: thresholds of the first network's signal that the mobile node's user
    /// sets (MIH_Link_Configure_Thresholds). A crossing is a report.
    #[serde(default)]
    pub thresholds: Vec<HandoverThreshold>,
    /// With Link_Going_Down: act only when the link is expected to be down within this time. Left out: at
    /// once.
    #[serde(default, with = "units::duration")]
    #[schemars(with = "Option<units::Duration>")]
    pub act_ahead: Option<Span>,
    /// Which of several networks is asked first. Default chosen: the order of `to`.
    #[serde(default)]
    pub choose: Choice,
    /// When the mobile node enters the new network. Default: before the handover, with a radio for each, as
    /// in the published 802.21 study.
    #[serde(default)]
    pub entry: NetworkEntry,
    /// How long the mobile node keeps its old link. Default chosen: as long as it lasts, with a radio for
    /// each.
    #[serde(default)]
    pub old_link: OldLink,
    /// The reaction to an unanswered request. Left out: to wait until the link is down.
    #[serde(default)]
    pub no_answer: Option<NoAnswer>,
    /// MIH acknowledgement of every message. Left out: none, and no retransmissions.
    #[serde(default)]
    pub acknowledgement: Option<Acknowledgement>,
    /// Messages that are acknowledged by timers of their own.
    #[serde(default)]
    pub messages: Vec<MessageTimers>,
    /// How long both ends keep a transaction. Left out: until its ID is used again.
    #[serde(default, with = "units::duration")]
    #[schemars(with = "Option<units::Duration>")]
    pub lifetime: Option<Span>,
    /// A token bucket at each MIHF, for its messages of a session. Left out: no limit.
    #[serde(default)]
    pub rate_limit: Option<RateLimit>,
}

fn default_reservation_time() -> Span {
    Span::from_secs(30)
}

/// Who decides on a handover.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Initiator {
    /// The mobile node, at its event: it scans, asks for resources, reserves, and redirects its flows when
    /// that is confirmed.
    MobileNode,
    /// The point of service of its network: it asks for resources, has the mobile node scan, reserves, and
    /// orders the handover.
    Network,
    /// Either, at its own event. If both begin, the mobile node declines the network's handover.
    Both,
}

/// The event that begins the preparation of a handover.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ActOn {
    /// Link_Detected of a network of `to`, once the first link is up.
    LinkDetected,
    /// Link_Going_Down.
    #[default]
    LinkGoingDown,
    /// Link_Parameters_Report: the first network's signal crosses one of `thresholds`. A handover continues
    /// if the signal recovers.
    LinkParametersReport,
    /// Link_Down: nothing is prepared, and traffic is redirected then.
    LinkDown,
}

/// A threshold of the signal of the network that a mobile node leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HandoverThreshold {
    /// The signal, in dBm, where the network has one. This, or `percent`.
    #[serde(default)]
    pub dbm: Option<i8>,
    /// The signal in percent, where it follows from distance: 100 at the base station, 0 at the edge. This,
    /// or `dbm`.
    #[serde(default)]
    #[schemars(range(max = 100))]
    pub percent: Option<u8>,
    /// Which crossing counts.
    pub direction: Crossing,
}

/// Which of several networks is asked for first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    /// The first of `to`.
    #[default]
    Order,
    /// The strongest at the end of the scan. Candidates with a signal in dBm come first, the others by
    /// distance.
    Signal,
    /// The one that has room for most mobile nodes.
    FreeCapacity,
}

/// When a mobile node enters a network that it may go to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NetworkEntry {
    /// As soon as it hears it.
    #[default]
    Before,
    /// When the handover is committed, or its old link is down.
    AfterCommitment,
}

/// How long a mobile node keeps its old link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OldLink {
    /// For as long as it is there.
    #[default]
    Kept,
    /// Until the handover is complete.
    UntilCompleted,
    /// Until traffic is redirected.
    UntilRedirected,
    /// Until the handover is committed, and 10 ms longer for its last messages: break before make.
    UntilCommitted,
}

/// The reaction to a request that is not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoAnswer {
    /// How long the answer is waited for, from the request on.
    #[serde(with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub after: Span,
    /// The reaction.
    pub then: Then,
}

/// A reaction to a request that is not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Then {
    /// The request is repeated in new transactions; an answer to any counts.
    Repeat,
    /// The handover is given up; the mobile node waits until the link is down.
    Abort,
    /// The mobile node redirects its traffic to the new network without an answer.
    OtherInterface,
}

/// Timers of one kind of message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MessageTimers {
    /// The message.
    pub message: MessageKind,
    /// In place of `acknowledgement.timeout`.
    #[serde(with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub timeout: Span,
    /// In place of `acknowledgement.retransmissions`. Left out: those.
    #[serde(default)]
    pub retransmissions: Option<u32>,
}

/// A message of a handover.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "they are the names of the messages")]
pub enum MessageKind {
    LinkGoingDownIndication,
    LinkParametersReportIndication,
    MnHoCandidateQueryRequest,
    MnHoCandidateQueryResponse,
    NetHoCandidateQueryRequest,
    NetHoCandidateQueryResponse,
    N2nHoQueryResourcesRequest,
    N2nHoQueryResourcesResponse,
    MnHoCommitRequest,
    MnHoCommitResponse,
    NetHoCommitRequest,
    NetHoCommitResponse,
    N2nHoCommitRequest,
    N2nHoCommitResponse,
    MnHoCompleteRequest,
    MnHoCompleteResponse,
    N2nHoCompleteRequest,
    N2nHoCompleteResponse,
}

/// How a point of service learns that a mobile node's link is going down.
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
    /// Its point of service, a node.
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
    /// Its point of service, a node.
    pub pos: String,
    /// Stations that it has room for, present ones and promised places included. Entries with the same cell
    /// must agree. Left out: no limit but the service flows that an 802.16 cell admits.
    #[serde(default)]
    pub capacity: Option<u32>,
    /// The processing time of its point of service. Left out: that of the entry.
    #[serde(default, with = "units::duration")]
    #[schemars(with = "Option<units::Duration>")]
    pub processing_time: Option<Span>,
}
