//! Applications: what generates a flow's data.

use roamsim_engine::{Span, Time};
use schemars::JsonSchema;
use serde::Deserialize;

use super::transfers::model::Transfers;
use super::video::model::Video;
use crate::distribution::model::{SizeDistribution, TimeDistribution};
use crate::units;

/// The source of a flow's data.
// The keys of those that a scenario may have most of are here, so that a flow is no larger than they.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename = "tag:kind", rename_all = "snake_case")]
#[schemars(rename = "Application", tag = "kind")]
pub enum Application {
    /// A greedy transfer without end, over TCP or SCTP.
    Bulk(Bulk),
    /// A finite transfer with its completion time, over TCP or SCTP.
    Transfer(Transfer),
    /// Arriving transfers with their completion times, each over its own TCP connection.
    Transfers(Box<Transfers>),
    /// Packets at constant intervals.
    Cbr(Box<Cbr>),
    /// Packets at exponential intervals; the first interval begins at `start`.
    Poisson(Box<Poisson>),
    /// Constant rate during on-periods, silence during off-periods.
    OnOff(Box<OnOff>),
    /// A client that asks, waits for the response, thinks, and asks again.
    RequestResponse(Box<RequestResponse>),
    /// Frames of a film, each cut into packets.
    Video(Box<Video>),
}

/// A greedy transfer.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bulk {
    /// When it begins; a distribution is drawn once a run. Default: with the run.
    #[serde(default)]
    #[schemars(extend("default" = "0s"))]
    pub start: TimeDistribution,
    /// When it ends. Left out: with the run.
    #[serde(default, with = "units::instant")]
    #[schemars(with = "Option<units::Instant>")]
    pub stop: Option<Time>,
}

/// A finite transfer.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Transfer {
    /// How much is transferred.
    #[serde(rename = "size", with = "units::size")]
    #[schemars(with = "units::Size")]
    pub size_bytes: u64,
    /// When it begins; a distribution is drawn once a run. Default: with the run.
    #[serde(default)]
    #[schemars(extend("default" = "0s"))]
    pub start: TimeDistribution,
}

/// Packets at constant intervals: at start, start + interval, ... while the time is before `stop`.
///
/// Exactly one of `interval` and `rate` is set.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cbr {
    /// Payload of each packet, without headers; over TCP, of each write.
    pub packet_size: SizeDistribution,
    /// Time between two packets. Either this or `rate`.
    #[serde(default, with = "units::duration")]
    #[schemars(with = "Option<units::Duration>")]
    pub interval: Option<Span>,
    /// Rate of the payload. Either this or `interval`.
    #[serde(rename = "rate", default, with = "units::rate")]
    #[schemars(with = "Option<units::Rate>")]
    pub rate_bps: Option<u64>,
    /// When it begins; a distribution is drawn once a run. Default: with the run.
    #[serde(default)]
    #[schemars(extend("default" = "0s"))]
    pub start: TimeDistribution,
    /// When it ends. Left out: with the run.
    #[serde(default, with = "units::instant")]
    #[schemars(with = "Option<units::Instant>")]
    pub stop: Option<Time>,
    /// The longest delay of a message that counts for `in_time_share` of `flows`. Left out: none.
    #[serde(default, with = "units::duration")]
    #[schemars(with = "Option<units::Duration>")]
    pub deadline: Option<Span>,
}

/// How a CBR source is paced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// This long between two packets.
    Interval(Span),
    /// This many payload bits a second; the interval need not be a whole number of nanoseconds.
    RateBps(u64),
}

impl Cbr {
    /// How the source is paced.
    pub fn pace(&self) -> Pace {
        match (self.rate_bps, self.interval) {
            (Some(rate_bps), _) => Pace::RateBps(rate_bps),
            // Validation refuses a source with neither.
            (None, interval) => Pace::Interval(interval.unwrap_or(Span::MAX)),
        }
    }
}

/// Packets at exponential intervals, alone or in batches.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Poisson {
    /// Payload of each packet, without headers; over TCP, of each write.
    pub packet_size: SizeDistribution,
    /// Mean time between two packets, batches included.
    #[serde(with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub mean_interval: Span,
    /// Mean packets at one instant, geometric, at least 1. Batches come this factor less often. Default:
    /// packets come alone.
    #[serde(rename = "mean_batch", default = "default_mean_batch_packets")]
    #[schemars(range(min = 1))]
    pub mean_batch_packets: u64,
    /// When it begins; a distribution is drawn once a run. Default: with the run.
    #[serde(default)]
    #[schemars(extend("default" = "0s"))]
    pub start: TimeDistribution,
    /// When it ends. Left out: with the run.
    #[serde(default, with = "units::instant")]
    #[schemars(with = "Option<units::Instant>")]
    pub stop: Option<Time>,
    /// The longest delay of a message that counts for `in_time_share` of `flows`. Left out: none.
    #[serde(default, with = "units::duration")]
    #[schemars(with = "Option<units::Duration>")]
    pub deadline: Option<Span>,
}

fn default_mean_batch_packets() -> u64 {
    1
}

/// Constant rate during on-periods, silence during off-periods; it begins with an on-period.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OnOff {
    /// Payload of each packet, without headers; over TCP, of each write.
    pub packet_size: SizeDistribution,
    /// Rate of the payload during an on-period.
    #[serde(rename = "rate", with = "units::rate")]
    #[schemars(with = "units::Rate")]
    pub rate_bps: u64,
    /// Length of an on-period.
    pub on: TimeDistribution,
    /// Length of an off-period.
    pub off: TimeDistribution,
    /// When it begins; a distribution is drawn once a run. Default: with the run.
    #[serde(default)]
    #[schemars(extend("default" = "0s"))]
    pub start: TimeDistribution,
    /// When it ends. Left out: with the run.
    #[serde(default, with = "units::instant")]
    #[schemars(with = "Option<units::Instant>")]
    pub stop: Option<Time>,
    /// The longest delay of a message that counts for `in_time_share` of `flows`. Left out: none.
    #[serde(default, with = "units::duration")]
    #[schemars(with = "Option<units::Duration>")]
    pub deadline: Option<Span>,
}

/// A client (the flow's `from`) that asks, waits for the response, thinks, and asks again.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequestResponse {
    /// Payload of a request. Left out only where a program outside asks.
    #[serde(default)]
    pub request_size: Option<SizeDistribution>,
    /// Payload of a response. Left out only where a program outside answers.
    #[serde(default)]
    pub response_size: Option<SizeDistribution>,
    /// Time from a response to the next request. Default: none.
    #[serde(default)]
    #[schemars(extend("default" = "0s"))]
    pub think_time: TimeDistribution,
    /// The server's time from a request to its response. Default: none.
    #[serde(default)]
    #[schemars(extend("default" = "0s"))]
    pub processing_time: TimeDistribution,
    /// Over UDP, the time until an unanswered request counts as lost. Left out: 1 s (chosen: TCP's initial
    /// timeout, RFC 6298 section 2.1).
    #[serde(default, with = "units::duration")]
    #[schemars(with = "Option<units::Duration>")]
    pub timeout: Option<Span>,
    /// The request to a program outside that answers over TCP: the target of an HTTP request (RFC 9112
    /// section 3.2.1). Left out: `/`.
    #[serde(default)]
    pub path: Option<String>,
    /// When it begins; a distribution is drawn once a run. Default: with the run.
    #[serde(default)]
    #[schemars(extend("default" = "0s"))]
    pub start: TimeDistribution,
    /// When it ends. Left out: with the run.
    #[serde(default, with = "units::instant")]
    #[schemars(with = "Option<units::Instant>")]
    pub stop: Option<Time>,
    /// The longest delay of a response that counts for `in_time_share` of `flows`. Left out: none.
    #[serde(default, with = "units::duration")]
    #[schemars(with = "Option<units::Duration>")]
    pub deadline: Option<Span>,
}

impl RequestResponse {
    /// How long a client over UDP waits for a response.
    pub fn timeout(&self) -> Span {
        self.timeout.unwrap_or(Span::from_secs(1))
    }
}

impl Application {
    /// When the application begins, since the start of the run.
    pub fn start(&self) -> TimeDistribution {
        match self {
            Application::Bulk(a) => a.start,
            Application::Transfer(a) => a.start,
            Application::Transfers(a) => a.start,
            Application::Cbr(a) => a.start,
            Application::Poisson(a) => a.start,
            Application::OnOff(a) => a.start,
            Application::RequestResponse(a) => a.start,
            Application::Video(a) => a.start,
        }
    }

    /// When the application ends, `None` for the end of the run.
    pub fn stop(&self) -> Option<Time> {
        match self {
            Application::Bulk(a) => a.stop,
            Application::Transfer(_) => None,
            Application::Transfers(a) => a.stop,
            Application::Cbr(a) => a.stop,
            Application::Poisson(a) => a.stop,
            Application::OnOff(a) => a.stop,
            Application::RequestResponse(a) => a.stop,
            Application::Video(a) => a.stop,
        }
    }

    /// By when its messages are to arrive after they were written, `None` for whenever.
    pub fn deadline(&self) -> Option<Span> {
        match self {
            Application::Bulk(_) | Application::Transfer(_) | Application::Transfers(_) => None,
            Application::Cbr(a) => a.deadline,
            Application::Poisson(a) => a.deadline,
            Application::OnOff(a) => a.deadline,
            Application::RequestResponse(a) => a.deadline,
            Application::Video(a) => a.deadline,
        }
    }

    /// The word for it in a scenario and in results.
    pub fn kind(&self) -> &'static str {
        match self {
            Application::Bulk(_) => "bulk",
            Application::Transfer(_) => "transfer",
            Application::Transfers(_) => "transfers",
            Application::Cbr(_) => "cbr",
            Application::Poisson(_) => "poisson",
            Application::OnOff(_) => "on_off",
            Application::RequestResponse(_) => "request_response",
            Application::Video(_) => "video",
        }
    }
}
