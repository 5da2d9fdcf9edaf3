//! Losses that a Wi-Fi cell has beside its radio: keys, checks, and the machine's settings.

use roamsim_engine::Time;
use roamsim_network::link::Attachment;
use roamsim_network::link::loss::{Loss as NetworkLoss, LossModel, Transitions};
use roamsim_network::link::wifi::Cell;
use roamsim_network::link::wifi::loss::{CellLoss, Of};
use schemars::JsonSchema;
use serde::Deserialize;

use super::model::Wifi;
use crate::access::Context;
use crate::build::{Builder, escaped};
use crate::units;
use crate::validate::{At, Report, Step, check_start, join};

/// Losses of data beside the radio, of each station in each direction with draws of its own.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename = "tag:model", rename_all = "snake_case")]
#[schemars(rename = "WifiLoss", tag = "model")]
pub enum Loss {
    /// Each on its own, with one probability.
    Bernoulli(Bernoulli),
    /// In bursts: a good and a bad state, with one step before each (Gilbert 1960, Elliott 1963).
    GilbertElliott(GilbertElliott),
}

/// Each on its own.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bernoulli {
    /// Whose frames are lost: the access point's, or a station's. Left out: those of all, both ways.
    #[serde(default)]
    pub from: Option<String>,
    /// When loss begins.
    #[serde(default, with = "units::instant")]
    #[schemars(with = "units::Instant")]
    pub start: Time,
    /// When it holds from then on. Default chosen: always, as on other links.
    #[serde(default)]
    pub during: During,
    /// What is lost. Default chosen: packets, because the probability is then a loss ratio that can be read off.
    #[serde(default)]
    pub of: LossOf,
    /// Probability of a loss.
    #[serde(deserialize_with = "units::probability")]
    #[schemars(with = "units::Probability")]
    pub probability: f64,
}

/// In bursts.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GilbertElliott {
    /// Whose frames are lost: the access point's, or a station's. Left out: those of all, both ways.
    #[serde(default)]
    pub from: Option<String>,
    /// When loss begins.
    #[serde(default, with = "units::instant")]
    #[schemars(with = "units::Instant")]
    pub start: Time,
    /// When it holds from then on. Default chosen: always, as on other links.
    #[serde(default)]
    pub during: During,
    /// What is lost. Default chosen: packets, because the probability is then a loss ratio that can be read off.
    #[serde(default)]
    pub of: LossOf,
    /// Probability of a step from the good to the bad state.
    #[serde(deserialize_with = "units::probability")]
    #[schemars(with = "units::Probability")]
    pub good_to_bad: f64,
    /// Probability of a step from the bad to the good state.
    #[serde(deserialize_with = "units::probability")]
    #[schemars(with = "units::Probability")]
    pub bad_to_good: f64,
    /// Probability of a loss in the good state. Default: Gilbert's model, none.
    #[serde(default, deserialize_with = "units::probability")]
    #[schemars(with = "units::Probability")]
    pub loss_good: f64,
    /// Probability of a loss in the bad state. Default chosen: 1, as on wired links.
    #[serde(default = "loss_bad", deserialize_with = "units::probability")]
    #[schemars(with = "units::Probability")]
    pub loss_bad: f64,
}

fn loss_bad() -> f64 {
    1.0
}

/// What is lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LossOf {
    /// Packets that the MAC has brought over and acknowledged: nobody repeats them.
    #[default]
    Packets,
    /// Data frames: they are not understood, and repeated up to the retry limit.
    Attempts,
}

/// When a loss holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum During {
    /// All the time.
    #[default]
    Always,
    /// From a station's Link_Going_Down until it is rolled back, or until the station is associated again.
    LinkGoingDown,
}

/// What the models share.
struct Shared<'a> {
    from: Option<&'a String>,
    start: Time,
    during: During,
    of: LossOf,
}

impl Loss {
    fn shared(&self) -> Shared<'_> {
        match *self {
            Loss::Bernoulli(Bernoulli { ref from, start, during, of, probability: _ }) => {
                Shared { from: from.as_ref(), start, during, of }
            }
            Loss::GilbertElliott(GilbertElliott { ref from, start, during, of, .. }) => {
                Shared { from: from.as_ref(), start, during, of }
            }
        }
    }

    fn model(&self) -> LossModel {
        match *self {
            Loss::Bernoulli(Bernoulli { probability, .. }) => LossModel::Bernoulli { probability },
            Loss::GilbertElliott(GilbertElliott {
                good_to_bad, bad_to_good, loss_good, loss_bad, ..
            }) => LossModel::GilbertElliott {
                transitions: Transitions::PerPacket { good_to_bad, bad_to_good },
                loss_good,
                loss_bad,
            },
        }
    }
}

/// Gives the machine of a medium the losses of its cells, in their order.
pub(super) fn add(cells: &[&Wifi], builder: &Builder<'_>, machine: &mut Cell) {
    let mut losses = Vec::new();
    for (number, cell) in cells.iter().enumerate() {
        let ends: Vec<(Attachment, Attachment)> =
            machine.members_of(number).map(|(_, down, up)| (down, up)).collect();
        for (place, loss) in cell.loss.iter().enumerate() {
            let Shared { from, start, during, of } = loss.shared();
            for (station, &(down, up)) in cell.stations.iter().zip(&ends) {
                for (sender, way, attachment) in [(&cell.access_point, "down", down), (station, "up", up)] {
                    if from.is_some_and(|from| from != sender) {
                        continue;
                    }
                    let stream = |purpose: &str| {
                        let path = ["loss", &place.to_string(), &escaped(station), way, purpose];
                        builder.stream("wifi", &cell.name, &path)
                    };
                    losses.push(CellLoss {
                        from: attachment,
                        of: match of {
                            LossOf::Packets => Of::Packets,
                            LossOf::Attempts => Of::Attempts,
                        },
                        while_going_down: during == During::LinkGoingDown,
                        loss: NetworkLoss::new(loss.model(), start, stream),
                    });
                }
            }
        }
    }
    machine.add_losses(losses);
}

/// Checks the losses of a cell whose keys are under `at`.
pub(super) fn check(cell: &Wifi, at: &[Step], context: &Context<'_>, report: &mut Report<'_>) {
    for (place, loss) in cell.loss.iter().enumerate() {
        let mut steps = join(at, ["loss"]);
        steps.push(At(place));
        let Shared { from, start, during, of: _ } = loss.shared();
        if let Some(from) = from
            && *from != cell.access_point
            && !cell.stations.contains(from)
        {
            let message = format!("\"{from}\" is not in \"{}\"", cell.name);
            let help = "name its access point or one of its stations, or leave `from` out for all of them";
            report.add(&join(&steps, ["from"]), message, help);
        }
        check_start(&join(&steps, ["start"]), start, context.scenario, report);
        if during == During::LinkGoingDown && cell.beacons.is_none() {
            let message = "no link goes down in a cell without `beacons`: nothing would be lost";
            let help = "write beacons = {}, or during = \"always\" with a `start`";
            report.add(&join(&steps, ["during"]), message, help);
        }
    }
}
