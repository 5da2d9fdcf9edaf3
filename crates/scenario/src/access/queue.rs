//! The queue before a transmitter: its key, its check, its rule.

use std::collections::BTreeSet;

use roamsim_engine::Span;
use schemars::JsonSchema;
use serde::de;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::traffic::Traffic;
use crate::decode::schema::first_variant_is_default;
use crate::dscp::Dscp;
use crate::report::{At, Key, Report, Step, join};
use crate::units;
use roamsim_network::queue::classes::{Classes, MOST_CLASSES};
use roamsim_network::queue::{QueueLimit, Rule, codel, drr, dual_pi2, fq_codel, pie, red};

/// The queue before a transmitter. The packet in service does not count.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename = "tag:discipline=drop_tail", rename_all = "snake_case")]
#[schemars(rename = "Queue", tag = "discipline", transform = first_variant_is_default)]
pub enum Queue {
    /// First come, first served, the default discipline; a full queue drops arrivals.
    DropTail(Limit),
    /// Controlled Delay (RFC 8289): drops packets at the head once all have waited longer than `target` for
    /// an `interval`.
    Codel(Codel),
    /// A CoDel queue for each flow, served in turn (RFC 8290).
    FqCodel(FqCodel),
    /// Proportional Integral controller Enhanced (RFC 8033): drops arrivals at random, by the queueing delay.
    Pie(Pie),
    /// Strict priority: the first class that has a packet sends next.
    Priority(Priority),
    /// Deficit round robin (Shreedhar and Varghese 1996): classes take turns, by octets.
    Drr(Drr),
    /// Random Early Detection (Floyd and Jacobson 1993): drops arrivals at random, by the mean queue length.
    Red(Red),
    /// A queue for L4S and one for all others, with coupled marking (DualPI2, RFC 9332).
    #[serde(rename = "dualpi2")]
    DualPi2(DualPi2),
}

/// The capacity of a drop-tail queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename = "one key", rename_all = "snake_case")]
pub enum Limit {
    /// The limit in packets.
    Packets(u32),
    /// The limit in bytes of IP packets.
    Bytes(
        #[serde(with = "units::size")]
        #[schemars(with = "units::Size")]
        u64,
    ),
}

/// The keys of CoDel.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Codel {
    /// The most packets that wait. Default: Linux's.
    #[serde(default = "thousand_packets")]
    pub packets: u32,
    /// The acceptable standing delay. Default: RFC 8289 section 4.4.
    #[serde(default = "codel_target", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub target: Span,
    /// How long the wait may exceed `target`: a worst-case round trip. Default: RFC 8289 section 4.3.
    #[serde(default = "codel_interval", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub interval: Span,
    /// Whether packets of transports with ECN are marked instead of dropped (RFC 3168). Default chosen: no.
    #[serde(default)]
    pub ecn: bool,
}

/// The keys of FQ-CoDel.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FqCodel {
    /// The most packets that wait in all queues. Default: RFC 8290 section 5.2.3.
    #[serde(default = "fq_codel_packets")]
    pub packets: u32,
    /// Number of queues; flows with the same hash share one. Default: RFC 8290 section 5.2.5.
    #[serde(default = "fq_codel_flows")]
    pub flows: u16,
    /// Bytes that a flow may send in a turn. Left out: the link's MTU (RFC 8290 section 5.2.4).
    #[serde(rename = "quantum", default, with = "units::size")]
    #[schemars(with = "Option<units::Size>")]
    pub quantum_bytes: Option<u64>,
    /// The acceptable standing delay. Default: RFC 8290 section 5.2.2.
    #[serde(default = "codel_target", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub target: Span,
    /// How long the wait may exceed `target`. Default: RFC 8290 section 5.2.1.
    #[serde(default = "codel_interval", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub interval: Span,
    /// Whether packets of transports with ECN are marked instead of dropped (RFC 3168). Default chosen: no.
    #[serde(default)]
    pub ecn: bool,
}

/// The keys of PIE.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pie {
    /// The most packets that wait. Default: Linux's.
    #[serde(default = "thousand_packets")]
    pub packets: u32,
    /// The target of the queueing delay. Default: RFC 8033 section 4.2.
    #[serde(default = "fifteen_ms", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub target: Span,
    /// Time between two updates of the drop probability. Default: RFC 8033 section 4.2.
    #[serde(default = "fifteen_ms", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub update_interval: Span,
    /// How long a burst may pass after an idle time. Default: RFC 8033 section 4.4.
    #[serde(default = "pie_max_burst", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub max_burst: Span,
    /// Whether packets of transports with ECN are marked instead of dropped, below a probability of 0.1 (RFC
    /// 8033 section 5.1). Default chosen: no.
    #[serde(default)]
    pub ecn: bool,
}

/// The keys of strict priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Priority {
    /// The most packets of each class that wait. Default chosen: as for drop-tail.
    #[serde(default = "hundred_packets")]
    pub packets: u32,
    /// The classes, each a list of DSCPs, highest priority first. Other packets form a last class.
    #[serde(deserialize_with = "class_list")]
    #[schemars(with = "Vec<Vec<Dscp>>")]
    pub classes: Classes,
}

/// The keys of deficit round robin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Drr {
    /// The most packets of each class that wait. Default chosen: as for drop-tail.
    #[serde(default = "hundred_packets")]
    pub packets: u32,
    /// The classes and their shares. Other packets form a last class.
    #[serde(deserialize_with = "class_shares")]
    #[schemars(with = "Vec<DrrClass>")]
    pub classes: ClassShares,
    /// Bytes that the last class may send in a turn. Left out: the link's MTU (chosen: the smallest with a
    /// packet in each turn).
    #[serde(rename = "quantum", default, with = "units::size")]
    #[schemars(with = "Option<units::Size>")]
    pub quantum_bytes: Option<u64>,
}

/// A class of deficit round robin.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct DrrClass {
    /// Its DSCPs.
    dscp: Vec<Dscp>,
    /// Bytes that it may send in a turn. Left out: the link's MTU.
    #[serde(rename = "quantum", default, with = "units::size")]
    #[schemars(with = "Option<units::Size>")]
    quantum_bytes: Option<u64>,
}

/// Classes and, by class, what each may send in a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassShares {
    /// By DSCP.
    pub classes: Classes,
    /// By class, where it is said.
    pub quanta_bytes: [Option<u64>; MOST_CLASSES],
}

fn class_list<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Classes, D::Error> {
    let lists = Vec::<Vec<Dscp>>::deserialize(deserializer)?;
    classes(lists.iter().map(Vec::as_slice))
}

fn class_shares<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ClassShares, D::Error> {
    let shares = Vec::<DrrClass>::deserialize(deserializer)?;
    let classes = classes(shares.iter().map(|share| share.dscp.as_slice()))?;
    let mut quanta_bytes = [None; MOST_CLASSES];
    for (quantum_bytes, share) in quanta_bytes.iter_mut().zip(&shares) {
        *quantum_bytes = share.quantum_bytes;
    }
    Ok(ClassShares { classes, quanta_bytes })
}

/// Classes by their DSCPs: each of some, and none in two.
fn classes<'a, E: de::Error>(lists: impl ExactSizeIterator<Item = &'a [Dscp]>) -> Result<Classes, E> {
    let count = lists.len();
    if !(1..MOST_CLASSES).contains(&count) {
        let most = MOST_CLASSES - 1;
        return Err(E::custom(format_args!(
            "there are {count} classes here\nwrite from 1 to {most}, each a list such as [\"ef\"]; all other packets are a class more"
        )));
    }
    let mut classes = Classes::one();
    for list in lists {
        let codepoints: Vec<u8> = list.iter().map(|dscp| dscp.codepoint()).collect();
        if codepoints.is_empty() {
            return Err(E::custom(
                "a class without a DSCP has no packets\nwrite one or more, such as \"ef\", or leave the class out",
            ));
        }
        if !classes.add(&codepoints) {
            return Err(E::custom("a DSCP is in two of these classes\nwrite each in one"));
        }
    }
    Ok(classes)
}

/// The keys of RED.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Red {
    /// The most packets that wait. Default chosen: as for drop-tail.
    #[serde(default = "hundred_packets")]
    pub packets: u32,
    /// The mean length in packets at which drops begin. Default: Floyd and Jacobson 1993, section 6.
    #[serde(default = "red_min_threshold")]
    pub min_threshold: f64,
    /// The mean length in packets at which the probability exceeds `max_probability`. Default: three times
    /// `min_threshold`, Floyd, "RED: Discussions of Setting Parameters", 1997.
    #[serde(default = "red_max_threshold")]
    pub max_threshold: f64,
    /// The probability just below `max_threshold`; with `adaptive`, its first value. Default: Floyd 1997.
    #[serde(default = "red_max_probability", deserialize_with = "units::probability")]
    #[schemars(with = "units::Probability")]
    pub max_probability: f64,
    /// Whether `max_probability` adapts every 0.5 s, between 0.01 and 0.5, to keep the mean midway between
    /// the thresholds (Floyd, Gummadi and Shenker, "Adaptive RED", 2001). Default chosen: no, as in Floyd and
    /// Jacobson 1993.
    #[serde(default)]
    pub adaptive: bool,
    /// The weight of an arrival in the mean. Default: Floyd and Jacobson 1993, section 6.
    #[serde(default = "red_weight", deserialize_with = "units::probability")]
    #[schemars(with = "units::Probability")]
    pub weight: f64,
    /// Whether the probability rises to one at twice `max_threshold` instead of jumping to it. Default:
    /// Floyd, "Recommendation on using the gentle variant of RED", 2000.
    #[serde(default = "red_gentle")]
    pub gentle: bool,
    /// Whether an arrival passes while at most one packet waits, whatever the mean is, as in ns-2 and ns-3.
    /// Default: no, Floyd and Jacobson 1993, figure 2.
    #[serde(default)]
    pub spare_single_packet: bool,
    /// The size of the packets by which the mean decays while the queue is empty. Default: ns-2's.
    #[serde(default = "red_idle_packet_bytes", with = "units::size", rename = "idle_packet_size")]
    #[schemars(with = "units::Size")]
    pub idle_packet_bytes: u64,
    /// Whether packets of transports with ECN are marked instead of dropped, below `max_threshold` (RFC 3168
    /// section 7). Default chosen: no.
    #[serde(default)]
    pub ecn: bool,
}

/// The keys of DualPI2.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DualPi2 {
    /// The most packets that wait in both queues. Default: Linux's.
    #[serde(default = "ten_thousand_packets")]
    pub packets: u32,
    /// The target of the queueing delay of classic traffic. Default: RFC 9332 appendix A.1.
    #[serde(default = "fifteen_ms", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub target: Span,
    /// Time between two updates of the probability p'. Default: Linux's.
    #[serde(default = "dual_pi2_update_interval", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub update_interval: Span,
    /// How much p' grows in an update for each second of delay above `target`. Default: Linux's, for round
    /// trips up to 100 ms.
    #[serde(default = "dual_pi2_alpha")]
    pub alpha: f64,
    /// How much p' grows for each second of delay more than at the last update. Default: Linux's.
    #[serde(default = "dual_pi2_beta")]
    pub beta: f64,
    /// The coupling factor k: L4S packets are marked with probability k p', others with p'^2. Default: RFC
    /// 9332 section 2.1.
    #[serde(default = "dual_pi2_coupling")]
    pub coupling: f64,
    /// An L4S packet that waits longer is marked. Default: Linux's.
    #[serde(default = "dual_pi2_step_threshold", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub step_threshold: Span,
    /// `step_threshold` marks a packet only if at least so many other L4S packets are queued when it leaves.
    /// Default: more than `Th_len`, one packet (RFC 9332 appendix A.2). With 0 it always marks, as Linux does
    /// by default.
    #[serde(default = "dual_pi2_step_min_packets")]
    pub step_min_packets: u32,
    /// The classic queue's share of the octets while both queues wait. Default: Linux's.
    #[serde(default = "dual_pi2_classic_share", deserialize_with = "units::probability")]
    #[schemars(with = "units::Probability")]
    pub classic_share: f64,
}

fn ten_thousand_packets() -> u32 {
    10_000
}

fn dual_pi2_update_interval() -> Span {
    Span::from_ms(16)
}

fn dual_pi2_alpha() -> f64 {
    0.16
}

fn dual_pi2_beta() -> f64 {
    3.2
}

fn dual_pi2_coupling() -> f64 {
    2.0
}

fn dual_pi2_step_threshold() -> Span {
    Span::from_ms(1)
}

fn dual_pi2_step_min_packets() -> u32 {
    2
}

fn dual_pi2_classic_share() -> f64 {
    0.1
}

fn hundred_packets() -> u32 {
    100
}

fn thousand_packets() -> u32 {
    1000
}

fn codel_target() -> Span {
    Span::from_ms(5)
}

fn codel_interval() -> Span {
    Span::from_ms(100)
}

fn fq_codel_packets() -> u32 {
    10_240
}

fn fq_codel_flows() -> u16 {
    1024
}

fn fifteen_ms() -> Span {
    Span::from_ms(15)
}

fn pie_max_burst() -> Span {
    Span::from_ms(150)
}

fn red_min_threshold() -> f64 {
    5.0
}

fn red_max_threshold() -> f64 {
    15.0
}

fn red_max_probability() -> f64 {
    0.1
}

fn red_weight() -> f64 {
    0.002
}

fn red_gentle() -> bool {
    true
}

fn red_idle_packet_bytes() -> u64 {
    500
}

impl Default for Queue {
    fn default() -> Queue {
        Queue::DropTail(Limit::Packets(hundred_packets()))
    }
}

/// As the default of a key, which is that of drop-tail.
impl Serialize for Queue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.limit().serialize(serializer)
    }
}

impl Queue {
    /// The most that waits.
    pub fn limit(self) -> Limit {
        match self {
            Queue::DropTail(limit) => limit,
            Queue::Codel(Codel { packets, .. })
            | Queue::FqCodel(FqCodel { packets, .. })
            | Queue::Pie(Pie { packets, .. })
            | Queue::Priority(Priority { packets, .. })
            | Queue::Drr(Drr { packets, .. })
            | Queue::Red(Red { packets, .. })
            | Queue::DualPi2(DualPi2 { packets, .. }) => Limit::Packets(packets),
        }
    }

    /// Whether it draws random numbers.
    pub(crate) fn draws(self) -> bool {
        matches!(self, Queue::Pie(_) | Queue::Red(_) | Queue::FqCodel(_) | Queue::DualPi2(_))
    }

    /// The rule of the machine before a transmitter of this rate and MTU.
    pub(crate) fn rule(self, rate_bps: u64, mtu_bytes: u32) -> Rule {
        match self {
            Queue::DropTail(_) => Rule::DropTail,
            Queue::Codel(Codel { packets: _, target, interval, ecn }) => {
                Rule::Codel(codel::Settings { target, interval, mtu_bytes, ecn })
            }
            Queue::FqCodel(FqCodel { packets: _, flows, quantum_bytes, target, interval, ecn }) => {
                Rule::FqCodel(fq_codel::Settings {
                    flows,
                    quantum_bytes: quantum_bytes.map_or(mtu_bytes, |bytes| bytes as u32),
                    codel: codel::Settings { target, interval, mtu_bytes, ecn },
                })
            }
            Queue::Pie(Pie { packets: _, target, update_interval, max_burst, ecn }) => {
                Rule::Pie(pie::Settings { target, update_interval, max_burst, mtu_bytes, ecn })
            }
            Queue::Priority(Priority { packets: _, classes }) => Rule::Priority(classes),
            Queue::Drr(Drr { packets: _, classes: ClassShares { classes, quanta_bytes }, quantum_bytes }) => {
                let of_class = |class: usize| {
                    if class + 1 == classes.count() { quantum_bytes } else { quanta_bytes[class] }
                };
                let quanta_bytes =
                    std::array::from_fn(|class| of_class(class).map_or(mtu_bytes, |bytes| bytes as u32));
                Rule::Drr(drr::Settings { classes, quanta_bytes })
            }
            Queue::DualPi2(DualPi2 {
                packets: _,
                target,
                update_interval,
                alpha,
                beta,
                coupling,
                step_threshold,
                step_min_packets,
                classic_share,
            }) => Rule::DualPi2(dual_pi2::Settings {
                target,
                update_interval,
                alpha_per_s: alpha,
                beta_per_s: beta,
                coupling,
                step_threshold,
                step_min_packets,
                classic_share,
                mtu_bytes,
            }),
            Queue::Red(Red {
                packets: _,
                min_threshold,
                max_threshold,
                max_probability,
                adaptive,
                weight,
                gentle,
                spare_single_packet,
                idle_packet_bytes,
                ecn,
            }) => Rule::Red(red::Settings {
                min_threshold,
                max_threshold,
                max_probability,
                adaptive,
                weight,
                gentle,
                spare_single_packet,
                idle_transmission: Span::of_transmission(idle_packet_bytes, rate_bps),
                ecn,
            }),
        }
    }
}

/// The shortest time between updates of PIE; its default is 150 times that.
const SHORTEST_UPDATE: Span = Span::from_us(100);

/// Checks that something can wait in a queue, and that its rule can work; warns of classes that have no
/// packets.
pub(crate) fn check_queue(at: &[Step], queue: Queue, traffic: &dyn Traffic, report: &mut Report<'_>) {
    let at = join(at, ["queue"]);
    if matches!(queue.limit(), Limit::Packets(0) | Limit::Bytes(0)) {
        let help = "give the queue room for one packet or more; the packet in service does not count";
        report.add(&at, "a queue of zero drops every packet that has to wait", help);
    }
    let zero = |key: &'static str, span: Span, report: &mut Report<'_>| {
        if span == Span::ZERO {
            report.add(&join(&at, [key]), "this time must be above zero", "write a time above zero");
        }
    };
    match queue {
        Queue::DropTail(_) => {}
        Queue::Priority(Priority { classes, .. }) => check_classes(&at, classes, traffic, report),
        Queue::Drr(Drr { classes, quantum_bytes, .. }) => {
            check_classes(&at, classes.classes, traffic, report);
            let all = classes.quanta_bytes.into_iter().enumerate();
            let all = all.map(|(class, quantum)| (vec![Key("classes"), At(class), Key("quantum")], quantum));
            for (steps, quantum_bytes) in all.chain([(vec![Key("quantum")], quantum_bytes)]) {
                check_quantum(&[&at[..], &steps].concat(), quantum_bytes, report);
            }
        }
        Queue::Codel(Codel { target, interval, .. }) | Queue::FqCodel(FqCodel { target, interval, .. }) => {
            zero("target", target, report);
            zero("interval", interval, report);
            if target > interval {
                let message = "the target must not be longer than the interval";
                let help = "write a target of 5 to 10 % of the interval (RFC 8289 section 4.4)";
                report.add(&join(&at, ["target"]), message, help);
            }
        }
        Queue::Pie(Pie { target, update_interval, .. }) => {
            zero("target", target, report);
            if update_interval < SHORTEST_UPDATE {
                let message = "PIE would update its probability too often for a run to proceed";
                let help = "write 100us or more, or leave it out";
                report.add(&join(&at, ["update_interval"]), message, help);
            }
        }
        Queue::DualPi2(DualPi2 { target, update_interval, alpha, beta, coupling, classic_share, .. }) => {
            zero("target", target, report);
            if update_interval < SHORTEST_UPDATE {
                let message = "DualPI2 would update its probability too often for a run to proceed";
                let help = "write 100us or more, or leave it out";
                report.add(&join(&at, ["update_interval"]), message, help);
            }
            for (key, value) in [("alpha", alpha), ("beta", beta), ("coupling", coupling)] {
                if !(value > 0.0 && value.is_finite()) {
                    let help = "write a number above zero, or leave it out";
                    report.add(&join(&at, [key]), "this must be above zero", help);
                }
            }
            if classic_share <= 0.0 || classic_share >= 1.0 {
                let message =
                    "with this share one of the two queues is never served while the other has packets";
                report.add(
                    &join(&at, ["classic_share"]),
                    message,
                    "write a share between 0 and 1, such as 0.1",
                );
            }
        }
        Queue::Red(Red {
            packets,
            min_threshold,
            max_threshold,
            max_probability,
            weight,
            idle_packet_bytes,
            ..
        }) => {
            if !(min_threshold > 0.0 && min_threshold < max_threshold && max_threshold.is_finite()) {
                let message = format!(
                    "the thresholds of RED must be above zero, `min_threshold` ({min_threshold}) below `max_threshold` ({max_threshold})"
                );
                let help = "write `max_threshold` as three times `min_threshold`, or leave both out";
                report.add(&join(&at, ["min_threshold"]), message, help);
            }
            // The mean of what begins with zero and is never more does not come above it.
            if packets > 0 && min_threshold >= f64::from(packets) && min_threshold < max_threshold {
                let message = format!(
                    "the mean length never reaches `min_threshold` ({min_threshold}), because `packets` is {packets}"
                );
                let help = "give the queue more room, a few times `max_threshold`, or lower the thresholds";
                report.add(&join(&at, ["packets"]), message, help);
            }
            for (key, value) in [("max_probability", max_probability), ("weight", weight)] {
                if value == 0.0 {
                    let message = "with zero, RED never drops by its mean";
                    report.add(&join(&at, [key]), message, "write more than zero, or leave it out");
                }
            }
            if idle_packet_bytes == 0 {
                let message = "this size must be above zero";
                report.add(
                    &join(&at, ["idle_packet_size"]),
                    message,
                    "write more than zero, or leave it out",
                );
            }
        }
    }
    if let Queue::FqCodel(FqCodel { flows, quantum_bytes, .. }) = queue {
        if flows == 0 {
            report.add(&join(&at, ["flows"]), "without a queue no packet can wait", "write one or more");
        }
        check_quantum(&join(&at, ["quantum"]), quantum_bytes, report);
    }
}

/// Warns of classes of which nothing is sent.
fn check_classes(at: &[Step], classes: Classes, traffic: &dyn Traffic, report: &mut Report<'_>) {
    let sent: BTreeSet<usize> = traffic.sent_dscps().into_iter().map(|dscp| classes.class_of(dscp)).collect();
    // The last is of whatever no other has, and may be empty.
    for class in (0..classes.count() - 1).filter(|class| !sent.contains(class)) {
        let place = [at, &[Key("classes"), At(class)]].concat();
        report.warn(&place, "nothing here sends packets of this class", SEND_SOME);
    }
}

/// What to do about a class of which nothing is sent.
pub(crate) const SEND_SOME: &str =
    "write its `dscp` in the [[flow]], [[signalling]] or [[handover]] that is meant, or leave the class out";

fn check_quantum(at: &[Step], quantum_bytes: Option<u64>, report: &mut Report<'_>) {
    if quantum_bytes.is_some_and(|bytes| bytes == 0 || bytes > u64::from(u32::MAX)) {
        let help = "write the MTU of the link, or leave it out";
        report.add(at, "a quantum is 1 B to 4 GB", help);
    }
}

/// The limit of the machine.
pub(crate) fn queue_limit(queue: Queue) -> QueueLimit {
    match queue.limit() {
        Limit::Packets(packets) => QueueLimit::Packets(packets),
        Limit::Bytes(bytes) => QueueLimit::Bytes(bytes),
    }
}
