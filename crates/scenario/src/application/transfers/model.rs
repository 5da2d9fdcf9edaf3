//! Transfers that arrive, as a scenario says it.

use roamsim_engine::Time;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::distribution::model::{SizeDistribution, TimeDistribution};
use crate::files::transfers::{self, Arrivals};
use crate::files::{Fault, Lines};
use crate::units;

/// Transfers that arrive. Over TCP each has a connection of its own, which its source opens, writes the
/// transfer to and closes; over QUIC each has a stream of its own in one connection. Write `rate` and `size`
/// for a Poisson process, or a recorded list.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Transfers {
    /// Mean arrivals a second, a Poisson process. With `size`; either this or `trace`.
    #[serde(rename = "rate", default, deserialize_with = "units::some_event_rate")]
    #[schemars(with = "Option<units::EventRate>")]
    pub rate_per_s: Option<f64>,
    /// How much a transfer is.
    #[serde(default)]
    pub size: Option<SizeDistribution>,
    /// A file of transfers: the arrival in seconds since the application's start and the size in bytes, a
    /// line each.
    #[serde(default)]
    pub trace: Option<String>,
    /// The file's lines, in place of `trace`.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub content: Option<Lines<Arrivals>>,
    /// The most TCP connections at a time, closing ones included. Further arrivals count as `refused`.
    /// Default chosen: more than a link that keeps up has.
    #[serde(default = "default_max_connections")]
    pub max_connections: u32,
    /// When it begins; a distribution is drawn once a run. Default: with the run.
    #[serde(default)]
    #[schemars(extend("default" = "0s"))]
    pub start: TimeDistribution,
    /// When it ends. Left out: with the run.
    #[serde(default, with = "units::instant")]
    #[schemars(with = "Option<units::Instant>")]
    pub stop: Option<Time>,
}

/// The most TCP connections at a time where a scenario does not say it.
pub(crate) const MAX_CONNECTIONS: u32 = 10_000;

impl Transfers {
    /// When those of a list arrive, since the start, and their octets.
    pub(super) fn listed(&self) -> Option<Result<&Arrivals, &Fault>> {
        let parse = |text: &str| transfers::parse(text).map(|list| list.arrivals.into());
        self.content.as_ref().map(|lines| lines.say(parse))
    }
}

fn default_max_connections() -> u32 {
    MAX_CONNECTIONS
}
