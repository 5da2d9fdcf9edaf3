//! Wired point-to-point links: rate, delay, queue, loss, outages.

use std::borrow::Cow;
use std::ops::Deref;
use std::sync::Arc;

use roamsim_engine::{Span, Time};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer};

use super::path::{Delay, LossSeries, Rate, Signal, Varying};
use crate::access::DEFAULT_COST;
use crate::access::mtu::default_mtu_bytes;
use crate::access::queue::Queue;
use crate::decode::schema::{first_variant_is_default, plain_value_is_first_key};
use crate::decode::{OneOrMany, Sharing, share};
use crate::names::name::Name;
use crate::units;

/// A wired link: what a `[[link]]` says.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(from = "LinkTable")]
pub struct Link {
    /// The link's name in results.
    pub name: Name,
    /// The two nodes at its ends.
    pub between: [Name; 2],
    /// What it is like. Links that are alike, one behind the other, have it together.
    pub kind: Arc<Kind>,
}

/// What a link is like, whatever its name and its ends.
#[derive(Clone, Debug, PartialEq)]
pub struct Kind {
    /// Bit rate of each direction.
    pub rate: Vec<Rate>,
    /// Propagation delay, one way.
    pub delay: Vec<Delay>,
    /// The queue in front of each direction, where one is written.
    pub queue: Option<Queue>,
    /// The largest IP packet that it carries.
    pub mtu_bytes: u64,
    /// What it costs on a route, in both directions.
    pub cost: u32,
    /// Loss; empty where there is none.
    pub loss: Vec<Loss>,
    /// Packets that arrive twice.
    pub duplicate: Vec<Duplicate>,
    /// When it is cut.
    pub outages: Vec<Outage>,
    /// How strong its signal is; empty where it has none.
    pub signal: Vec<Signal>,
}

/// A `[[link]]`: a full-duplex wire between two nodes.
#[derive(Deserialize, JsonSchema)]
#[serde(rename = "Link", deny_unknown_fields)]
struct LinkTable {
    /// The link's name in results.
    name: Name,
    /// The two nodes at its ends.
    between: [Name; 2],
    /// Bit rate: one for both directions, or a table for each.
    #[serde(deserialize_with = "one_or_many")]
    #[schemars(with = "OneOrMany<Rate>")]
    rate: Vec<Rate>,
    /// One-way propagation delay: one for both directions, or a table for each.
    #[serde(deserialize_with = "one_or_many")]
    #[schemars(with = "OneOrMany<Delay>")]
    delay: Vec<Delay>,
    /// The queue before each direction. Left out: drop-tail of 100 packets (chosen: the bandwidth-delay
    /// product of 30 Mb/s and 40 ms). A direction with a mahimahi trace has no limit, as in mahimahi.
    #[serde(default)]
    queue: Option<Queue>,
    /// The largest IP packet. Default: Ethernet's (RFC 894; RFC 2464 section 2).
    #[serde(rename = "mtu", default = "default_mtu_bytes", with = "units::size")]
    #[schemars(with = "units::Size")]
    mtu_bytes: u64,
    /// The link's cost, from 1 to 65535; routes have the least sum (RFC 2328 appendix C.3). Default: every
    /// link alike. Cells and DECT accesses cost 1.
    #[serde(default = "default_cost")]
    #[schemars(range(min = 1, max = 65535))]
    cost: u32,
    /// Loss: one table, or one for each direction. Left out: none.
    #[serde(default, deserialize_with = "losses")]
    #[schemars(with = "OneOrMany<LossTable>")]
    loss: Vec<Loss>,
    /// Packets that arrive twice at the same instant: a probability for both directions, or a table for each.
    /// Left out: none.
    #[serde(default, deserialize_with = "one_or_many")]
    #[schemars(with = "OneOrMany<Duplicate>")]
    duplicate: Vec<Duplicate>,
    /// Times in which the link is cut: packets on the link or arriving at it are lost. Left out: none.
    #[serde(default)]
    outages: Vec<Outage>,
    /// The signal of a radio link, which the policies of a `[[selection]]` compare: one for both directions,
    /// or a table for each. Each change is a Link_Parameters_Report of IEEE 802.21. It changes neither rate
    /// nor loss. Left out: none.
    #[serde(default, deserialize_with = "one_or_many")]
    #[schemars(with = "OneOrMany<Signal>")]
    signal: Vec<Signal>,
}

impl From<LinkTable> for Link {
    fn from(table: LinkTable) -> Link {
        let LinkTable {
            name,
            between,
            rate,
            delay,
            queue,
            mtu_bytes,
            cost,
            loss,
            duplicate,
            outages,
            signal,
        } = table;
        let kind = Kind { rate, delay, queue, mtu_bytes, cost, loss, duplicate, outages, signal };
        Link { name, between, kind: Arc::new(kind) }
    }
}

impl Deref for Link {
    type Target = Kind;

    fn deref(&self) -> &Kind {
        &self.kind
    }
}

impl JsonSchema for Link {
    fn schema_name() -> Cow<'static, str> {
        LinkTable::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        LinkTable::json_schema(generator)
    }
}

impl Link {
    /// The end, 0 or 1, at which a node is.
    pub fn end(&self, node: &str) -> Option<usize> {
        self.between.iter().position(|name| *name == *node)
    }

    /// Whether what is said of a direction, by the node that sends in it, is said of the one that starts from
    /// an end.
    pub(super) fn is_of(&self, from: Option<&String>, end: usize) -> bool {
        from.is_none_or(|from| self.end(from) == Some(end))
    }

    /// The rate of the direction that starts from an end.
    pub(super) fn rate_from(&self, end: usize) -> Option<&Rate> {
        self.rate.iter().find(|rate| self.is_of(rate.from.as_ref(), end))
    }

    /// The delay of the direction that starts from an end.
    pub(super) fn delay_from(&self, end: usize) -> Option<&Delay> {
        self.delay.iter().find(|delay| self.is_of(delay.from.as_ref(), end))
    }

    /// The signal that is heard at an end, from the other one.
    pub(super) fn signal_at(&self, end: usize) -> Option<&Signal> {
        self.signal.iter().find(|signal| self.is_of(signal.from.as_ref(), 1 - end))
    }

    /// The probability that a packet arrives twice in the direction that starts from an end; `None`: none
    /// does.
    pub(super) fn duplicate_from(&self, end: usize) -> Option<f64> {
        let of = self.duplicate.iter().find(|duplicate| self.is_of(duplicate.from.as_ref(), end));
        of.map(|duplicate| duplicate.probability).filter(|&probability| probability > 0.0)
    }

    /// The queue that is written here.
    pub(super) fn own_queue(&self) -> Option<Queue> {
        self.queue
    }

    /// What waits in the direction that starts from an end; `None`: whatever comes.
    pub(super) fn queue_from(&self, end: usize) -> Option<Queue> {
        let recorded = self.rate_from(end).is_some_and(|rate| rate.opportunities.is_some());
        self.own_queue().or_else(|| (!recorded).then(Queue::default))
    }

    /// The rate and the delay, where they are the same in both directions and at all times.
    pub(super) fn constants(&self) -> Option<(u64, Span)> {
        let ([rate], [delay]) = (&self.rate[..], &self.delay[..]) else { return None };
        let changes = !rate.never_changes() || !delay.never_changes() || rate.opportunities.is_some();
        let drawn = !delay.jitter.is_zero();
        if changes || drawn || rate.from.is_some() || delay.from.is_some() {
            return None;
        }
        Some((rate.constant_bps?, delay.constant?))
    }
}

fn one_or_many<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    Ok(OneOrMany::<T>::deserialize(deserializer)?.0)
}

impl Sharing for Link {
    fn share(&mut self, before: &Link) {
        share(&mut self.kind, &before.kind);
    }
}

fn losses<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Loss>, D::Error> {
    Ok(OneOrMany::<LossTable>::deserialize(deserializer)?.0.into_iter().map(Loss::from).collect())
}

fn default_cost() -> u32 {
    DEFAULT_COST.into()
}

/// Each packet that is not lost arrives twice with a probability, independently.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename = "plain value or table", deny_unknown_fields)]
#[schemars(rename = "Duplicate", transform = plain_value_is_first_key)]
pub struct Duplicate {
    /// The probability.
    #[serde(deserialize_with = "units::probability")]
    #[schemars(with = "units::Probability")]
    pub probability: f64,
    /// The node that sends in this direction. Left out: both directions, each independently.
    #[serde(default)]
    pub from: Option<String>,
}

/// When a link is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Outage {
    /// When it begins.
    #[serde(with = "units::instant")]
    #[schemars(with = "units::Instant")]
    pub start: Time,
    /// How long it lasts.
    #[serde(with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub duration: Span,
}

/// Loss on a link.
#[derive(Clone, Debug, PartialEq)]
pub struct Loss {
    /// The node from whose end the direction starts; `None`: both directions, each with draws of its own.
    pub from: Option<String>,
    /// Packets before this instant are not lost; they draw nothing, and are not counted.
    pub start: Time,
    /// What decides on each packet.
    pub model: LossModel,
}

/// What decides whether a packet is lost.
#[derive(Clone, Debug, PartialEq)]
pub enum LossModel {
    /// Each packet on its own.
    Bernoulli {
        /// Probability that a packet is lost.
        probability: f64,
    },
    /// A good and a bad state (Gilbert 1960, Elliott 1963).
    GilbertElliott {
        /// How the state changes.
        transitions: Transitions,
        /// Probability that a packet is lost in the good state.
        loss_good: f64,
        /// Probability that a packet is lost in the bad state.
        loss_bad: f64,
    },
    /// Each packet on its own, with a probability that changes.
    Series(LossSeries),
    /// Packets with data, by their numbers.
    List {
        /// Their numbers among those that the direction sends, from 1, as written.
        segments: Vec<u64>,
        /// The flow whose packets count; `None`: every packet with data.
        flow: Option<String>,
    },
}

/// How the Gilbert-Elliott state changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Transitions {
    /// One step of a Markov chain before each packet.
    PerPacket {
        /// Probability of a step from good to bad.
        good_to_bad: f64,
        /// Probability of a step from bad to good.
        bad_to_good: f64,
    },
    /// In continuous time, with exponential stays.
    PerTime {
        /// Mean stay in the good state.
        mean_good: Span,
        /// Mean stay in the bad state.
        mean_bad: Span,
    },
}

/// Loss on a link, in one direction or both.
// As written; it becomes a `Loss`, which has what the models share in one place.
#[derive(Deserialize, JsonSchema)]
#[serde(rename = "tag:model", rename_all = "snake_case")]
#[schemars(rename = "Loss", tag = "model")]
pub(crate) enum LossTable {
    /// Each packet is lost on its own, with one probability.
    Bernoulli(BernoulliTable),
    /// Losses come in bursts: a good and a bad state (Gilbert 1960, Elliott 1963).
    GilbertElliott(GilbertElliottTable),
    /// Each packet is lost independently, with a probability that changes by `steps` or a `file`.
    Series(LossSeries),
    /// Loses the packets that you name: the same losses for every transport.
    List(ListTable),
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BernoulliTable {
    /// The node that sends in this direction. Left out: both directions, each independently.
    #[serde(default)]
    from: Option<String>,
    /// When loss begins.
    #[serde(default, with = "units::instant")]
    #[schemars(with = "units::Instant")]
    start: Time,
    /// Probability that a packet is lost.
    #[serde(deserialize_with = "units::probability")]
    #[schemars(with = "units::Probability")]
    probability: f64,
}

/// How the state of a Gilbert-Elliott channel advances.
#[derive(Deserialize, JsonSchema)]
#[serde(rename = "tag:per=packet", rename_all = "snake_case")]
#[schemars(rename = "GilbertElliott", tag = "per", transform = first_variant_is_default)]
pub(crate) enum GilbertElliottTable {
    /// The state takes one step before each packet (the default).
    Packet(PerPacketTable),
    /// The state changes in continuous time, with exponential stays.
    Time(PerTimeTable),
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PerPacketTable {
    /// The node that sends in this direction. Left out: both directions, each independently.
    #[serde(default)]
    from: Option<String>,
    /// When loss begins.
    #[serde(default, with = "units::instant")]
    #[schemars(with = "units::Instant")]
    start: Time,
    /// Probability of a step from the good to the bad state.
    #[serde(deserialize_with = "units::probability")]
    #[schemars(with = "units::Probability")]
    good_to_bad: f64,
    /// Probability of a step from the bad to the good state.
    #[serde(deserialize_with = "units::probability")]
    #[schemars(with = "units::Probability")]
    bad_to_good: f64,
    /// Loss probability in the good state. Default: Gilbert's model, no loss.
    #[serde(default = "loss_good", deserialize_with = "units::probability")]
    #[schemars(with = "units::Probability")]
    loss_good: f64,
    /// Loss probability in the bad state. Default chosen: 1, so that `bad_to_good` alone sets the burst
    /// length.
    #[serde(default = "loss_bad", deserialize_with = "units::probability")]
    #[schemars(with = "units::Probability")]
    loss_bad: f64,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PerTimeTable {
    /// The node that sends in this direction. Left out: both directions, each independently.
    #[serde(default)]
    from: Option<String>,
    /// When loss begins.
    #[serde(default, with = "units::instant")]
    #[schemars(with = "units::Instant")]
    start: Time,
    /// Mean stay in the good state.
    #[serde(with = "units::duration")]
    #[schemars(with = "units::Duration")]
    mean_good: Span,
    /// Mean stay in the bad state.
    #[serde(with = "units::duration")]
    #[schemars(with = "units::Duration")]
    mean_bad: Span,
    /// Loss probability in the good state. Default: Gilbert's model, no loss.
    #[serde(default = "loss_good", deserialize_with = "units::probability")]
    #[schemars(with = "units::Probability")]
    loss_good: f64,
    /// Loss probability in the bad state. Default chosen: 1, so that `mean_bad` alone sets the burst length.
    #[serde(default = "loss_bad", deserialize_with = "units::probability")]
    #[schemars(with = "units::Probability")]
    loss_bad: f64,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListTable {
    /// The node that sends in this direction. Left out: both directions, each independently.
    #[serde(default)]
    from: Option<String>,
    /// When counting begins.
    #[serde(default, with = "units::instant")]
    #[schemars(with = "units::Instant")]
    start: Time,
    /// The numbers of the lost packets with data, from 1, in the order of sending; retransmissions count too.
    /// TCP segments without data (handshake, pure ACK, FIN) and packets that the queue dropped do not.
    #[schemars(inner(range(min = 1)))]
    segments: Vec<u64>,
    /// Only packets of this flow count, and are lost. Left out: all packets with data.
    #[serde(default)]
    flow: Option<String>,
}

fn loss_good() -> f64 {
    0.0
}

pub(crate) fn loss_bad() -> f64 {
    1.0
}

impl From<LossTable> for Loss {
    fn from(table: LossTable) -> Loss {
        match table {
            LossTable::List(t) => Loss {
                from: t.from,
                start: t.start,
                model: LossModel::List { segments: t.segments, flow: t.flow },
            },
            LossTable::Series(t) => {
                Loss { from: t.from.clone(), start: Time::ZERO, model: LossModel::Series(t) }
            }
            LossTable::Bernoulli(t) => Loss {
                from: t.from,
                start: t.start,
                model: LossModel::Bernoulli { probability: t.probability },
            },
            LossTable::GilbertElliott(GilbertElliottTable::Packet(t)) => Loss {
                from: t.from,
                start: t.start,
                model: LossModel::GilbertElliott {
                    transitions: Transitions::PerPacket {
                        good_to_bad: t.good_to_bad,
                        bad_to_good: t.bad_to_good,
                    },
                    loss_good: t.loss_good,
                    loss_bad: t.loss_bad,
                },
            },
            LossTable::GilbertElliott(GilbertElliottTable::Time(t)) => Loss {
                from: t.from,
                start: t.start,
                model: LossModel::GilbertElliott {
                    transitions: Transitions::PerTime { mean_good: t.mean_good, mean_bad: t.mean_bad },
                    loss_good: t.loss_good,
                    loss_bad: t.loss_bad,
                },
            },
        }
    }
}
