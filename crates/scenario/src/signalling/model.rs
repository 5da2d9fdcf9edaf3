//! IEEE 802.21 signalling sources.

use roamsim_engine::{Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::distribution::model::{SizeDistribution, TimeDistribution};
use crate::dscp::Dscp;
use crate::transport::Transport;
use crate::units;

/// A `[[signalling]]`: MIH indications or requests from one node to the MIHF of another, or the events of its
/// links.
///
/// Registration, subscription and the TCP connection come before `start` and do not count as overhead.
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
    /// The packets' DSCP. Both ends mark all that they send, acknowledgements included. Default: best effort
    /// (RFC 2474 section 4.1).
    #[serde(default)]
    pub dscp: Dscp,
    /// Size of the whole MIH message, header and MIHF IDs included; of a response too. `link_events` may
    /// leave it out: the size then follows from the content.
    #[serde(default)]
    pub message_size: Option<SizeDistribution>,
    /// Time between two messages, from `start` until `stop`. Not for `link_events`.
    #[serde(default)]
    pub interval: Option<TimeDistribution>,
    /// The responder's time from a request to its response. Default: none.
    #[serde(default)]
    #[schemars(extend("default" = "0s"))]
    pub processing_time: TimeDistribution,
    /// MIH acknowledgement of every message. Left out: none, and no retransmissions.
    #[serde(default)]
    pub acknowledgement: Option<Acknowledgement>,
    /// With `kind = "request"`: timers of its own for the request or the response.
    #[serde(default)]
    pub messages: Vec<ExchangeTimers>,
    /// How long both ends keep a transaction. Left out: until its ID is used again.
    #[serde(default, with = "units::duration")]
    #[schemars(with = "Option<units::Duration>")]
    pub lifetime: Option<Span>,
    /// A token bucket at each of the two MIHFs, for this signalling. Left out: no limit.
    #[serde(default)]
    pub rate_limit: Option<RateLimit>,
    /// For `link_events`: the events to which the MIH user at `to` subscribes. Left out: `link_up`,
    /// `link_going_down` and `link_down`. With `link_parameters_report`, each heard beacon is a message.
    #[serde(default)]
    pub events: Option<Vec<SubscribedEvent>>,
    /// For `link_events`: the least confidence of a reported Link_Going_Down, as in the table `link_events`.
    /// The report waits for the beacon that reaches it. Left out: any confidence.
    #[serde(default, deserialize_with = "units::some_probability")]
    #[schemars(with = "Option<units::Probability>")]
    pub confidence: Option<f64>,
    /// For `link_events`: thresholds of signal or packet errors that the MIH user at `to` sets at links of
    /// `from` (MIH_Link_Configure_Thresholds). Each crossing is an MIH_Link_Parameters_Report. Left out:
    /// none.
    #[serde(default)]
    pub thresholds: Vec<LinkThreshold>,
    /// For `link_events`: actions that the MIH user at `to` orders of links of `from` upon an event
    /// (MIH_Link_Actions). Left out: none.
    #[serde(default)]
    pub actions: Vec<LinkAction>,
    /// When it begins; a distribution is drawn once a run. Default: with the run.
    #[serde(default)]
    #[schemars(extend("default" = "0s"))]
    pub start: TimeDistribution,
    /// When it ends. Left out: with the run.
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
    /// The MIH indications of `events`, as links of `from` raise them. The MIH user at `to` subscribes once
    /// `from` has registered its links.
    LinkEvents,
}

/// Timers of one of the two messages of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExchangeTimers {
    /// Which.
    pub message: ExchangeMessage,
    /// In place of `acknowledgement.timeout`.
    #[serde(with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub timeout: Span,
    /// In place of `acknowledgement.retransmissions`. Left out: those.
    #[serde(default)]
    pub retransmissions: Option<u32>,
}

/// A message of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExchangeMessage {
    /// MIH_Link_Get_Parameters.request.
    Request,
    /// MIH_Link_Get_Parameters.response.
    Response,
}

/// A link event that a remote MIH user can subscribe to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SubscribedEvent {
    /// MIH_Link_Detected: a new base station is heard.
    LinkDetected,
    /// MIH_Link_Up: packets can be sent over the link.
    LinkUp,
    /// MIH_Link_Parameters_Report: the signal strength at each measurement, or when it crosses a threshold.
    /// Wires and DECT accesses report packet errors that cross a threshold.
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
    /// The signal in dBm, where the link has one. This, or one of the next two.
    #[serde(default)]
    pub dbm: Option<i8>,
    /// The signal in percent, where it follows from distance: 100 at the base station, 0 at the edge.
    #[serde(default)]
    #[schemars(range(max = 100))]
    pub percent: Option<u8>,
    /// Frame errors at `from` in percent, of a `[[link]]` or a `[[dect]]`.
    #[serde(default)]
    #[schemars(range(max = 100))]
    pub packet_error_percent: Option<u8>,
    /// Packet errors: the time of a measurement, the same for all thresholds of a link. A signal is reported
    /// at each measurement.
    #[serde(default, with = "units::duration")]
    #[schemars(with = "Option<units::Duration>")]
    pub report_interval: Option<Span>,
    /// Which crossing counts.
    pub direction: Crossing,
    /// Whether only the first crossing counts (IEEE Std 802.21-2008, TH_ACTION). Default chosen: false.
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

/// An action that an MIH user orders of a link upon an event.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkAction {
    /// The link of `from`, by the name of its `[[cell]]`, `[[wifi]]`, `[[link]]` or the like.
    pub link: String,
    /// The action.
    pub action: LinkActionKind,
    /// The event that triggers it.
    pub upon: SubscribedEvent,
    /// The link of `from` that has the event. Left out: any link.
    #[serde(default)]
    pub of: Option<String>,
}

/// An action of a link (IEEE Std 802.21-2008, LINK_AC_TYPE and LINK_AC_ATTR).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LinkActionKind {
    /// The station may use the link again, and does so where it hears it.
    PowerUp,
    /// The station leaves the link until a power up.
    PowerDown,
    /// The same as `power_down`.
    Disconnect,
    /// An 802.11 link with `beacons`, or an 802.16 link with `scanning`, scans.
    Scan,
}

/// MIH acknowledgement and retransmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Acknowledgement {
    /// Time until an unacknowledged message is retransmitted, and from the last transmission until the
    /// transaction fails.
    #[serde(with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub timeout: Span,
    /// Retransmissions of an unacknowledged message. Default: the published 802.21 study.
    #[serde(default = "default_retransmissions")]
    pub retransmissions: u32,
    /// Whether an acknowledgement is a message of its own. Default: as in the published 802.21 study.
    #[serde(default)]
    pub mode: AcknowledgementMode,
    /// When a requester stops accepting a response. Default chosen: `acked`: an acknowledged request is worth
    /// waiting for.
    #[serde(default)]
    pub validity: Validity,
}

impl Acknowledgement {
    /// With this timeout, and the defaults of the other keys.
    pub(crate) fn of(timeout: Span) -> Acknowledgement {
        Acknowledgement {
            timeout,
            retransmissions: default_retransmissions(),
            mode: AcknowledgementMode::default(),
            validity: Validity::default(),
        }
    }
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
    /// After the time of all transmissions of the request, acknowledged or not.
    Strict,
}

/// A token bucket with a queue.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RateLimit {
    /// The bucket's size and initial content; a token is one MIH packet.
    #[serde(rename = "bucket")]
    pub bucket_packets: u32,
    /// Tokens that arrive a second.
    #[serde(rename = "rate", deserialize_with = "units::event_rate")]
    #[schemars(with = "units::EventRate")]
    pub rate_per_s: f64,
    /// MIH packets that may wait for a token; further ones are dropped at the MIHF. 0: none waits.
    #[serde(rename = "queue")]
    pub queue_packets: u32,
}
