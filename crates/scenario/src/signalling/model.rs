//! IEEE 802.21 signalling sources.

use roamsim_engine::{Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::distribution::model::{SizeDistribution, TimeDistribution};
use crate::dscp::Dscp;
use crate::transport::Transport;
use crate::units;

/// A `[[signalling]]`: the MIH user at one node sends indications or requests to the MIHF of another, or its
/// links send theirs.
///
/// Registration, subscription and, over TCP, the connection come before `start` and count in no overhead.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Signalling {
    /// The source's name in results.
    pub name: String,
    /// The kind of message.
    pub kind: SignallingKind,
    /// The node that originates. It opens the TCP connection.
    pub from: String,
    /// The node that receives, and answers requests.
    pub to: String,
    /// The transport of the MIH messages.
    pub transport: Transport,
    /// The class of the packets: a DSCP. Both ends mark what they send, acknowledgements included, as
    /// applications do that set it on their sockets. Default: best effort (RFC 2474 section 4.1).
    #[serde(default)]
    pub dscp: Dscp,
    /// Size of the whole MIH message, header and MIHF IDs included; of a response as well. Of `link_events`
    /// it may be left out: a message is then as long as what it says.
    #[serde(default)]
    pub message_size: Option<SizeDistribution>,
    /// Time between two messages: generated at start, start + interval, ... while the time is before `stop`.
    /// Of `link_events` there is none: links say when.
    #[serde(default)]
    pub interval: Option<TimeDistribution>,
    /// Time from a request's arrival to its response, at the responder. Default: none.
    #[serde(default)]
    #[schemars(extend("default" = "0s"))]
    pub processing_time: TimeDistribution,
    /// MIH acknowledgement of every message. Left out: no message asks for one, and none is sent again.
    #[serde(default)]
    pub acknowledgement: Option<Acknowledgement>,
    /// How long both ends keep a transaction. Left out: without limit, until its ID is used again.
    #[serde(default, with = "units::duration")]
    #[schemars(with = "Option<units::Duration>")]
    pub lifetime: Option<Span>,
    /// A token bucket at each of the two MIHFs, for all that it sends of this signalling. Left out: no limit.
    #[serde(default)]
    pub rate_limit: Option<RateLimit>,
    /// Of `link_events`, the events to which the MIH user at `to` subscribes. Left out: those that say
    /// whether a link can be used, `link_up`, `link_going_down` and `link_down`. With
    /// `link_parameters_report` each beacon that is heard is a message.
    #[serde(default)]
    pub events: Option<Vec<SubscribedEvent>>,
    /// Of `link_events`, the least confidence of a reported Link_Going_Down, as in the table `link_events`.
    /// The report comes at the report or beacon that reaches it. Left out: at once, whatever it is.
    #[serde(default, deserialize_with = "units::some_probability")]
    #[schemars(with = "Option<units::Probability>")]
    pub confidence: Option<f64>,
    /// Of `link_events`, thresholds of the signal, or of packet errors, that the MIH user at `to` configures
    /// at links of `from` (MIH_Link_Configure_Thresholds). It subscribes to MIH_Link_Parameters_Report of
    /// these links as well, and gets a report when one has been crossed. Left out: none.
    #[serde(default)]
    pub thresholds: Vec<LinkThreshold>,
    /// Of `link_events`, the actions that the MIH user at `to` orders of links of `from` upon an event
    /// (MIH_Link_Actions). Left out: nothing.
    #[serde(default)]
    pub actions: Vec<LinkAction>,
    /// When the first message is generated; by a distribution it is drawn once a run. Default: with the run.
    #[serde(default)]
    #[schemars(extend("default" = "0s"))]
    pub start: TimeDistribution,
    /// When generation ends. Left out: with the run, as also when this is later.
    #[serde(default, with = "units::instant")]
    #[schemars(with = "Option<units::Instant>")]
    pub stop: Option<Time>,
}

/// The messages of a signalling source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SignallingKind {
    /// One message, without a response.
    Indication,
    /// A request, which the other end answers with a response.
    Request,
    /// The events of the links of `from`, as they happen: the MIH indications of `events`, to which the MIH
    /// user at `to` subscribes once `from` has registered its links.
    LinkEvents,
}

/// An event of a link that a remote MIH user can subscribe to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SubscribedEvent {
    /// MIH_Link_Detected: a base station is heard that was not.
    LinkDetected,
    /// MIH_Link_Up: packets can be sent over the link.
    LinkUp,
    /// MIH_Link_Parameters_Report: the strength of the signal, as often as the link finds it out, or where it
    /// has crossed a threshold. Wires and DECT accesses report when packet errors cross a threshold.
    LinkParametersReport,
    /// MIH_Link_Going_Down: it is about to go down.
    LinkGoingDown,
    /// MIH_Link_Down: packets cannot be sent over it any more.
    LinkDown,
}

/// A threshold of a link's signal, or of its packet errors.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkThreshold {
    /// The link of `from`, by the name of its `[[cell]]`, `[[wifi]]`, `[[link]]` or the like.
    pub link: String,
    /// The signal, in dBm, where the link has one. This, or one of the next two.
    #[serde(default)]
    pub dbm: Option<i8>,
    /// The signal in percent where a distance stands for it: 100 at the base station, 0 at the end of its
    /// reach.
    #[serde(default)]
    #[schemars(range(max = 100))]
    pub percent: Option<u8>,
    /// How many of a hundred frames come in error at `from`, of a `[[link]]` or a `[[dect]]`.
    #[serde(default)]
    #[schemars(range(max = 100))]
    pub packet_error_percent: Option<u8>,
    /// Of packet errors: the time in which they are counted for a report, the same for all thresholds of a
    /// link. A signal is reported as often as the link finds it out.
    #[serde(default, with = "units::duration")]
    #[schemars(with = "Option<units::Duration>")]
    pub report_interval: Option<Span>,
    /// Which crossing counts.
    pub direction: Crossing,
    /// Whether it counts once alone (IEEE Std 802.21-2008, TH_ACTION). Default chosen: false.
    #[serde(default)]
    pub one_shot: bool,
}

/// Which crossing of a threshold counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Crossing {
    /// From at most the threshold to more.
    Above,
    /// From at least the threshold to less.
    Below,
}

/// An action that an MIH user orders of a link, upon an event.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkAction {
    /// The link of `from`, by the name of its `[[cell]]`, `[[wifi]]`, `[[link]]` or the like.
    pub link: String,
    /// What.
    pub action: LinkActionKind,
    /// Upon which event.
    pub upon: SubscribedEvent,
    /// Of this link of `from`. Left out: of any.
    #[serde(default)]
    pub of: Option<String>,
}

/// An action of a link (IEEE Std 802.21-2008, LINK_AC_TYPE and LINK_AC_ATTR).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LinkActionKind {
    /// It may be taken up again, and is where it is heard.
    PowerUp,
    /// It is given up, and not taken up before it is powered up.
    PowerDown,
    /// The same.
    Disconnect,
    /// It scans: an 802.11 link with `beacons`, or an 802.16 link with `scanning`.
    Scan,
}

/// MIH acknowledgement and retransmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Acknowledgement {
    /// Time after which an unacknowledged message is sent again; one more such time after the last
    /// transmission the transaction is given up.
    #[serde(with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub timeout: Span,
    /// How often an unacknowledged message is sent again. Default: 2, as in the published 802.21 study.
    #[serde(default = "default_retransmissions")]
    pub retransmissions: u32,
    /// Whether an acknowledgement is a message of its own. Default: it is, as in the published 802.21 study.
    #[serde(default)]
    pub mode: AcknowledgementMode,
    /// When a requester stops accepting a response. Default chosen: `acked`, because a requester whose
    /// request was acknowledged has reason to wait for the response.
    #[serde(default)]
    pub validity: Validity,
}

fn default_retransmissions() -> u32 {
    2
}

/// Whether an acknowledgement is a message of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AcknowledgementMode {
    /// An MIH message without payload, sent at once.
    #[default]
    Separate,
    /// Carried by the response to a request.
    Piggyback,
}

/// When a requester stops accepting a response.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Validity {
    /// Never.
    Open,
    /// When the transaction was given up, unless its request had been acknowledged.
    #[default]
    Acked,
    /// When the time for all transmissions of the request has passed, acknowledged or not.
    Strict,
}

/// A token bucket with a queue.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RateLimit {
    /// Tokens that the bucket holds, and starts with; a token is one MIH packet.
    #[serde(rename = "bucket")]
    pub bucket_packets: u32,
    /// Tokens that arrive a second.
    #[serde(rename = "rate", deserialize_with = "units::event_rate")]
    #[schemars(with = "units::EventRate")]
    pub rate_per_s: f64,
    /// MIH packets that wait for a token; one that finds the queue full is dropped at the MIHF. 0: none
    /// waits.
    #[serde(rename = "queue")]
    pub queue_packets: u32,
}
