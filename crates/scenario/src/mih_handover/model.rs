//! Handovers by the commands of IEEE 802.21.

use roamsim_engine::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::distribution::model::TimeDistribution;
use crate::dscp::Dscp;
use crate::signalling::model::{Acknowledgement, Crossing, RateLimit};
use crate::transport::Transport;
use crate::units;

/// A `[[handover]]`: MIH users hand a mobile node over from one network to another, by the commands of IEEE
/// Std 802.21-2008.
///
/// The mobile node is `multihomed`, a station of both networks. Its flows over UDP and TCP begin in the first
/// network; they are redirected when the handover is committed, or when its link there is down.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MihHandover {
    /// The entry's name in results.
    pub name: String,
    /// The node that is handed over.
    pub mobile_node: String,
    /// Who decides that, and where to.
    pub initiated_by: Initiator,
    /// How the point of service of the first network hears that the link is going down. Default chosen:
    /// `local`, for it may be at the access.
    #[serde(default)]
    pub notice: Notice,
    /// The network that the mobile node uses at first.
    pub from: ServingNetwork,
    /// Those that it may go to, the first choice first.
    pub to: Vec<CandidateNetwork>,
    /// The transport between the mobile node and the points of service.
    pub transport: Transport,
    /// The transport between points of service. Left out: the same.
    #[serde(default)]
    pub transport_between_pos: Option<Transport>,
    /// The class of the packets: a DSCP. Default: best effort (RFC 2474 section 4.1).
    #[serde(default)]
    pub dscp: Dscp,
    /// Size of each MIH message, header and MIHF IDs included; one that says more is as long as it is. Left
    /// out: all are as long as they are.
    #[serde(rename = "message_size", default, with = "units::size")]
    #[schemars(with = "Option<units::Size>")]
    pub message_bytes: Option<u64>,
    /// Time from a request's arrival to what is done about it, at each node that has none of its own.
    /// Default: none.
    #[serde(default, with = "units::duration")]
    #[schemars(with = "Option<units::Duration>", extend("default" = "0s"))]
    pub processing_time: Option<Span>,
    /// How long a network with `capacity`, or one that admits service flows, keeps the place that was agreed
    /// on for a mobile node whose link there is not up. Default chosen: 30s, longer than any step of the
    /// published 802.21 study takes, whose networks have room for all.
    #[serde(default = "default_reservation_time", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub reservation_time: Span,
    /// How long the mobile node scans for the networks that it may go to. It then knows those that it hears.
    pub scan_time: TimeDistribution,
    /// Upon what the handover is prepared. Default: Link_Going_Down, as in the published 802.21 study.
    #[serde(default)]
    pub act_on: ActOn,
    /// Upon Link_Going_Down: from which confidence on it is acted upon, as the table `link_events` has it; by
    /// the network as by the mobile node, whose MIHF tells of it then. Left out: whatever it is.
    #[serde(default, deserialize_with = "units::some_probability")]
    #[schemars(with = "Option<units::Probability>")]
    pub confidence: Option<f64>,
    /// Upon MIH_Link_Parameters_Report: thresholds of the first network's signal, which the mobile node's
    /// user configures (MIH_Link_Configure_Thresholds). The report comes when one is crossed.
    #[serde(default)]
    pub thresholds: Vec<HandoverThreshold>,
    /// Upon Link_Going_Down: not before the link is expected to be down within this time. Left out: at once.
    #[serde(default, with = "units::duration")]
    #[schemars(with = "Option<units::Duration>")]
    pub act_ahead: Option<Span>,
    /// Which of several networks is asked for first. Default chosen: the order of `to`, which is the user's.
    #[serde(default)]
    pub choose: Choice,
    /// When the mobile node enters the new network. Default: before the handover, as a node with a radio for
    /// each does in the published 802.21 study.
    #[serde(default)]
    pub entry: NetworkEntry,
    /// How long the mobile node keeps its link to the old network. Default chosen: for as long as it is
    /// there, since it has a radio for each.
    #[serde(default)]
    pub old_link: OldLink,
    /// The reaction to a request that is not answered. Left out: the answer is waited for until the link is
    /// down.
    #[serde(default)]
    pub no_answer: Option<NoAnswer>,
    /// MIH acknowledgement of every message. Left out: no message asks for one, and none is sent again.
    #[serde(default)]
    pub acknowledgement: Option<Acknowledgement>,
    /// Messages that are acknowledged by timers of their own.
    #[serde(default)]
    pub messages: Vec<MessageTimers>,
    /// How long both ends keep a transaction. Left out: without limit, until its ID is used again.
    #[serde(default, with = "units::duration")]
    #[schemars(with = "Option<units::Duration>")]
    pub lifetime: Option<Span>,
    /// A token bucket at each MIHF, for all that it sends in a session. Left out: no limit.
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
    /// The mobile node, upon Link_Going_Down: it scans, asks for resources, has them reserved, and redirects
    /// its flows when that is confirmed.
    MobileNode,
    /// The point of service of the network that it uses: it asks for resources, has the mobile node scan,
    /// reserves, and tells it to go.
    Network,
    /// Either, each upon its own event. Where both begin, the mobile node declines what the network prepares.
    Both,
}

/// Upon what a handover is prepared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ActOn {
    /// Link_Detected of a network of `to`, once the link to the first one is up.
    LinkDetected,
    /// Link_Going_Down.
    #[default]
    LinkGoingDown,
    /// Link_Parameters_Report: the signal of the first network crosses one of `thresholds`. A handover that
    /// has begun goes on when the signal recovers.
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
    /// In percent where a distance stands for it: 100 at the base station, 0 at the end of its reach. This,
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
    /// The one that the mobile node hears best at the end of its scan. Candidates whose signal it knows in
    /// dBm come first, the others by their distance.
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

/// How long a mobile node keeps the link to the network that it leaves.
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
    /// Until the handover is committed, and 10 ms longer, in which its last messages leave: break before
    /// make.
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
    /// The request is made again, in a transaction of its own, again and again; an answer to any of them
    /// counts.
    Repeat,
    /// It is given up, and nothing more is done until the link is down.
    Abort,
    /// The mobile node redirects its traffic through the new network without an answer.
    OtherInterface,
}

/// Timers of one kind of message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MessageTimers {
    /// Which.
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
    /// For how many stations it has room: those that are there, and the mobile nodes of all entries that have
    /// a place. Entries that name the same cell say the same. Left out: for all that come, as far as an
    /// 802.16 cell admits their service flows.
    #[serde(default)]
    pub capacity: Option<u32>,
    /// The `processing_time` of the node that is its point of service. Left out: that of the entry.
    #[serde(default, with = "units::duration")]
    #[schemars(with = "Option<units::Duration>")]
    pub processing_time: Option<Span>,
}
