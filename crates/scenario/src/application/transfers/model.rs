//! Transfers that arrive, as a scenario says it.

use roamsim_engine::Time;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::distribution::model::{SizeDistribution, TimeDistribution};
use crate::files::transfers::{self, Arrivals};
use crate::files::{Fault, Lines};
use crate::units;

/// Transfers that arrive, each over a TCP connection of its own, which its source opens, writes the transfer
/// to and closes: `rate` and `size` for a Poisson process, or a recorded list.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Transfers {
    /// How many arrive a second in the mean: a Poisson process. With `size`; either this or `trace`.
    #[serde(rename = "rate", default, deserialize_with = "units::some_event_rate")]
    #[schemars(with = "Option<units::EventRate>")]
    pub rate_per_s: Option<f64>,
    /// How much a transfer is.
    #[serde(default)]
    pub size: Option<SizeDistribution>,
    /// A file of transfers, relative to the folder of the scenario. Each line has the arrival, in seconds
    /// since the start of the application, and the size in bytes, with a comma or spaces between.
    #[serde(default)]
    pub trace: Option<String>,
    /// The lines, in place of `trace`. Reading the scenario replaces a file by its lines, so results depend
    /// on the file's content, not on its name.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub content: Option<Lines<Arrivals>>,
    /// The most connections at one time, with those that wait for their last packets to leave the network.
    /// Further arrivals are not begun, and counted as `refused`. Default chosen: more than a link that keeps
    /// up with its transfers has.
    #[serde(default = "default_max_connections")]
    pub max_connections: u32,
    /// When the process begins; by a distribution it is drawn once a run. Default: with the run.
    #[serde(default)]
    #[schemars(extend("default" = "0s"))]
    pub start: TimeDistribution,
    /// No transfer arrives at or after this instant. Left out: the end of the run, as also when this is
    /// later.
    #[serde(default, with = "units::instant")]
    #[schemars(with = "Option<units::Instant>")]
    pub stop: Option<Time>,
}

impl Transfers {
    /// When those of a list arrive, since the start, and their octets.
    pub(super) fn listed(&self) -> Option<Result<&Arrivals, &Fault>> {
        let parse = |text: &str| transfers::parse(text).map(|list| list.arrivals.into());
        self.content.as_ref().map(|lines| lines.say(parse))
    }
}

fn default_max_connections() -> u32 {
    10_000
}
