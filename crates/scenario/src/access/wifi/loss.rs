//! Losses of a Wi-Fi cell in addition to its radio, by the loss models of wired links.

use roamsim_engine::{Span, Time};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::access::wire::model::{LossModel, Transitions};
use crate::access::wire::path::{LossSeries, LossStep};
use crate::decode::schema::first_variant_is_default;
use crate::files::Lines;
use crate::units;

/// A loss beside the radio.
#[derive(Clone, Debug, PartialEq)]
pub struct Loss {
    /// Whose frames are lost; `None`: those of all, both ways, each with draws of its own.
    pub from: Option<String>,
    /// What comes before is not lost, draws nothing, and is not counted.
    pub start: Time,
    /// When it holds from then on.
    pub during: During,
    /// The unit that is lost.
    pub of: LossOf,
    /// What decides.
    pub model: LossModel,
}

/// Losses of data in addition to the radio's, independent for each station and direction.
// As written; it becomes a `Loss`, which has what the models share in one place.
#[derive(Deserialize, JsonSchema)]
#[serde(rename = "tag:model", rename_all = "snake_case")]
#[schemars(rename = "WifiLoss", tag = "model")]
pub(crate) enum LossTable {
    /// Each on its own, with one probability.
    Bernoulli(BernoulliTable),
    /// In bursts: a good and a bad state (Gilbert 1960, Elliott 1963).
    GilbertElliott(GilbertElliottTable),
    /// Each independently, with a probability that changes by `steps` or a `file`.
    Series(SeriesTable),
    /// Loses the packets or attempts that you name: the same for every transport.
    List(ListTable),
}

/// How the state advances.
#[derive(Deserialize, JsonSchema)]
#[serde(rename = "tag:per=packet", rename_all = "snake_case")]
#[schemars(rename = "WifiGilbertElliott", tag = "per", transform = first_variant_is_default)]
pub(crate) enum GilbertElliottTable {
    /// The state takes one step before each packet, or attempt (the default).
    Packet(PerPacketTable),
    /// The state changes in continuous time, with exponential stays.
    Time(PerTimeTable),
}

/// The keys of a model, with those that others have as well.
macro_rules! tables {
    ($(
        $(#[$about_start:meta])*
        $table:ident { $($(#[$about_key:meta])* $key:ident: $of_key:ty,)* }
    )*) => {$(
        #[derive(Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub(crate) struct $table {
            /// The sender whose frames are lost: the access point or a station. Left out: all, both ways.
            #[serde(default)]
            from: Option<String>,
            $(#[$about_start])*
            #[serde(default, with = "units::instant")]
            #[schemars(with = "units::Instant")]
            start: Time,
            /// When it holds. Default chosen: always, as on other links.
            #[serde(default)]
            during: During,
            /// The unit that is lost. Default chosen: packets, so that the probability is a loss ratio.
            #[serde(default)]
            of: LossOf,
            $($(#[$about_key])* $key: $of_key,)*
        }
    )*};
}

tables! {
    /// When loss begins.
    BernoulliTable {
        /// Probability of a loss.
        #[serde(deserialize_with = "units::probability")]
        #[schemars(with = "units::Probability")]
        probability: f64,
    }
    /// When loss begins.
    PerPacketTable {
        /// Probability of a step from the good to the bad state.
        #[serde(deserialize_with = "units::probability")]
        #[schemars(with = "units::Probability")]
        good_to_bad: f64,
        /// Probability of a step from the bad to the good state.
        #[serde(deserialize_with = "units::probability")]
        #[schemars(with = "units::Probability")]
        bad_to_good: f64,
        /// Loss probability in the good state. Default: Gilbert's model, none.
        #[serde(default, deserialize_with = "units::probability")]
        #[schemars(with = "units::Probability")]
        loss_good: f64,
        /// Loss probability in the bad state. Default chosen: 1, as on wired links.
        #[serde(default = "crate::access::wire::model::loss_bad", deserialize_with = "units::probability")]
        #[schemars(with = "units::Probability")]
        loss_bad: f64,
    }
    /// When loss begins.
    PerTimeTable {
        /// Mean stay in the good state.
        #[serde(with = "units::duration")]
        #[schemars(with = "units::Duration")]
        mean_good: Span,
        /// Mean stay in the bad state.
        #[serde(with = "units::duration")]
        #[schemars(with = "units::Duration")]
        mean_bad: Span,
        /// Loss probability in the good state. Default: Gilbert's model, none.
        #[serde(default, deserialize_with = "units::probability")]
        #[schemars(with = "units::Probability")]
        loss_good: f64,
        /// Loss probability in the bad state. Default chosen: 1, as on wired links.
        #[serde(default = "crate::access::wire::model::loss_bad", deserialize_with = "units::probability")]
        #[schemars(with = "units::Probability")]
        loss_bad: f64,
    }
    /// When counting begins.
    ListTable {
        /// The numbers of lost packets with data that the MAC delivered, or of lost attempts, from 1 for each
        /// station and direction. TCP retransmissions count; segments without data (handshake, pure ACK, FIN)
        /// do not.
        #[schemars(inner(range(min = 1)))]
        segments: Vec<u64>,
        /// Only packets of this flow count, and are lost. Left out: all packets with data.
        #[serde(default)]
        flow: Option<String>,
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SeriesTable {
    /// The sender whose frames are lost: the access point or a station. Left out: all, both ways.
    #[serde(default)]
    from: Option<String>,
    /// When it holds. Default chosen: always, as on other links.
    #[serde(default)]
    during: During,
    /// The unit that is lost. Default chosen: packets, so that the probability is a loss ratio.
    #[serde(default)]
    of: LossOf,
    /// The probability before the first step. Left out: the first step is at "0s".
    #[serde(default, deserialize_with = "units::some_probability")]
    #[schemars(with = "Option<units::Probability>")]
    constant: Option<f64>,
    /// When each probability begins, in order of time: for packets or attempts that end from then on.
    #[serde(default)]
    steps: Vec<LossStep>,
    /// A file of steps: a time in seconds and a probability a line. The first line holds from the beginning.
    #[serde(default)]
    file: Option<String>,
    /// The steps, in place of `file`.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    content: Option<Lines<Vec<(Time, f64)>>>,
    /// The steps begin again after this time. Left out: the last step stays.
    #[serde(default, with = "units::duration")]
    #[schemars(with = "Option<units::Duration>")]
    period: Option<Span>,
}

/// The unit that is lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LossOf {
    /// Packets that the MAC has delivered and acknowledged, so it does not repeat them.
    #[default]
    Packets,
    /// Data frames: lost ones are repeated up to the retry limit.
    Attempts,
}

/// When a loss holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum During {
    /// All the time.
    #[default]
    Always,
    /// From a station's Link_Going_Down until its rollback or the next association. Other frames neither
    /// count nor draw.
    LinkGoingDown,
}

impl From<LossTable> for Loss {
    fn from(table: LossTable) -> Loss {
        match table {
            LossTable::Bernoulli(BernoulliTable { from, start, during, of, probability }) => {
                Loss { from, start, during, of, model: LossModel::Bernoulli { probability } }
            }
            LossTable::GilbertElliott(GilbertElliottTable::Packet(table)) => {
                let PerPacketTable { from, start, during, of, good_to_bad, bad_to_good, loss_good, loss_bad } =
                    table;
                let transitions = Transitions::PerPacket { good_to_bad, bad_to_good };
                let model = LossModel::GilbertElliott { transitions, loss_good, loss_bad };
                Loss { from, start, during, of, model }
            }
            LossTable::GilbertElliott(GilbertElliottTable::Time(table)) => {
                let PerTimeTable { from, start, during, of, mean_good, mean_bad, loss_good, loss_bad } =
                    table;
                let transitions = Transitions::PerTime { mean_good, mean_bad };
                let model = LossModel::GilbertElliott { transitions, loss_good, loss_bad };
                Loss { from, start, during, of, model }
            }
            LossTable::Series(table) => {
                let SeriesTable { from, during, of, constant, steps, file, content, period } = table;
                let series = LossSeries { constant, from: None, steps, file, content, period };
                Loss { from, start: Time::ZERO, during, of, model: LossModel::Series(series) }
            }
            LossTable::List(ListTable { from, start, during, of, segments, flow }) => {
                Loss { from, start, during, of, model: LossModel::List { segments, flow } }
            }
        }
    }
}
