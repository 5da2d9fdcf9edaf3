//! Loss models of one direction of a link.
//!
//! Random models: the n-th packet that a direction sends from the model's start on meets the n-th draw of the
//! direction's loss stream, whatever the packet is and whenever it comes: two transports over the same
//! channel meet the same losses. Before the start nothing is lost and nothing is drawn.
//!
//! The list: from the start on the packets with data are counted, first transmissions and retransmissions
//! alike, and those whose numbers are on the list are lost. Handshakes, pure acknowledgements and a FIN alone
//! do not count, nor do SCTP packets without a DATA chunk.
//!
//! Gilbert-Elliott: Gilbert, "Capacity of a Burst-Noise Channel" (BSTJ 1960); Elliott, "Estimates of Error
//! Rates for Codes on Burst-Noise Channels" (BSTJ 1963). The chain starts in its stationary distribution.

use super::series::Series;
use crate::ends::Association;
use crate::packet::Packet;
use roamsim_engine::{Span, Stream, Time};

/// How the two-state chain moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Transitions {
    /// One step before each packet.
    PerPacket {
        /// Probability of good to bad.
        good_to_bad: f64,
        /// Probability of bad to good.
        bad_to_good: f64,
    },
    /// Exponential sojourns, in seconds.
    PerTime {
        /// Mean sojourn in the good state.
        mean_good_s: f64,
        /// Mean sojourn in the bad state.
        mean_bad_s: f64,
    },
}

/// Which packets are lost.
#[derive(Clone, Debug, PartialEq)]
pub enum LossModel {
    /// Each packet by itself.
    Bernoulli {
        /// The probability of a loss.
        probability: f64,
    },
    /// Two states with a loss probability each.
    GilbertElliott {
        /// How the state moves.
        transitions: Transitions,
        /// Loss probability in the good state.
        loss_good: f64,
        /// Loss probability in the bad state.
        loss_bad: f64,
    },
    /// Each packet by itself, with a probability that changes.
    Series {
        /// The probability of a loss over time.
        probability: Series<f64>,
    },
    /// Named ones.
    List {
        /// The numbers of those that are lost, in ascending order; the first packet with data is 1.
        segments: Vec<u64>,
        /// Only packets of this association count; `None`: all.
        association: Option<Association>,
    },
}

/// The loss process of one direction.
#[derive(Clone, Debug)]
pub struct Loss {
    model: LossModel,
    start: Time,
    draws: Stream,
    /// What becomes of the next packets, the lowest bit of the next one, where their probability is known,
    /// and of how many.
    foreseen: u64,
    foreseen_packets: u32,
    chain: Option<Chain>,
    /// How many packets [`LossModel::List`] has counted.
    counted: u64,
    /// The place on its list of the next that it takes.
    next: usize,
}

#[derive(Clone, Debug)]
struct Chain {
    /// The chain has a stream of its own, so that per-packet draws stay numbered by packets.
    stream: Stream,
    bad: bool,
    /// The end of the present sojourn, for [`Transitions::PerTime`].
    until: Time,
}

impl Loss {
    /// The process of `model` from `start` on; `stream(purpose)` gives the direction's random streams.
    pub fn new(model: LossModel, start: Time, stream: impl Fn(&str) -> Stream) -> Loss {
        let chain = match model {
            LossModel::Bernoulli { .. } | LossModel::Series { .. } | LossModel::List { .. } => None,
            LossModel::GilbertElliott { transitions, .. } => {
                let mut chain = Chain { stream: stream("state"), bad: false, until: start };
                let bad_share = match transitions {
                    // No transitions at all: the chain stays in the good state.
                    Transitions::PerPacket { good_to_bad, bad_to_good }
                        if good_to_bad + bad_to_good > 0.0 =>
                    {
                        good_to_bad / (good_to_bad + bad_to_good)
                    }
                    Transitions::PerPacket { .. } => 0.0,
                    Transitions::PerTime { mean_good_s, mean_bad_s } => {
                        mean_bad_s / (mean_good_s + mean_bad_s)
                    }
                };
                chain.bad = chain.stream.bernoulli(bad_share);
                if let Transitions::PerTime { mean_good_s, mean_bad_s } = transitions {
                    chain.sojourn(mean_good_s, mean_bad_s);
                }
                Some(chain)
            }
        };
        let draws = stream("loss");
        Loss { model, start, draws, foreseen: 0, foreseen_packets: 0, chain, counted: 0, next: 0 }
    }

    /// Whether `packet`, whose last bit is sent at `at`, is lost. Calls come in order of time.
    #[inline(always)]
    pub fn takes(&mut self, at: Time, packet: &Packet) -> bool {
        if self.foreseen_packets == 0 {
            return self.decide(at, packet);
        }
        self.foreseen_packets -= 1;
        let lost = self.foreseen & 1 == 1;
        self.foreseen >>= 1;
        lost
    }

    #[inline(never)]
    fn decide(&mut self, at: Time, packet: &Packet) -> bool {
        if at < self.start {
            return false;
        }
        match &self.model {
            LossModel::Bernoulli { probability } => {
                self.foreseen = self.draws.bernoulli_64(*probability);
                self.foreseen_packets = 64;
                self.takes(at, packet)
            }
            LossModel::Series { probability } => self.draws.bernoulli(probability.at(at)),
            LossModel::GilbertElliott { transitions, loss_good, loss_bad } => {
                let bad = self.chain.as_mut().is_some_and(|chain| chain.advance(*transitions, at));
                self.draws.bernoulli(if bad { *loss_bad } else { *loss_good })
            }
            LossModel::List { segments, association } => {
                if !packet.carries_data()
                    || association.is_some_and(|association| !belongs(packet, association))
                {
                    return false;
                }
                self.counted += 1;
                let lost = segments.get(self.next) == Some(&self.counted);
                self.next += usize::from(lost);
                lost
            }
        }
    }
}

impl Loss {
    /// From `now` on the probability of a series is this.
    pub fn begin(&mut self, now: Time, loss: f64) {
        if let LossModel::Series { probability } = &mut self.model {
            probability.begin(now, loss);
        }
    }
}

/// Whether a packet is of the association, in either direction.
fn belongs(packet: &Packet, association: Association) -> bool {
    packet.socket_id().is_some_and(|socket| socket == association.source || socket == association.sink)
}

impl Chain {
    fn sojourn(&mut self, mean_good_s: f64, mean_bad_s: f64) {
        let mean = if self.bad { mean_bad_s } else { mean_good_s };
        // At least a nanosecond, so that the chain always gets ahead.
        let span = Span::from_secs_f64(self.stream.exponential(mean)).as_ns().max(1);
        self.until += Span::from_ns(span);
    }

    fn advance(&mut self, transitions: Transitions, at: Time) -> bool {
        match transitions {
            Transitions::PerPacket { good_to_bad, bad_to_good } => {
                let leave = if self.bad { bad_to_good } else { good_to_bad };
                self.bad ^= self.stream.bernoulli(leave);
            }
            Transitions::PerTime { mean_good_s, mean_bad_s } => {
                while self.until <= at && self.until < Time::MAX {
                    self.bad = !self.bad;
                    self.sojourn(mean_good_s, mean_bad_s);
                }
            }
        }
        self.bad
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ends::SocketId;
    use crate::testing::{datagram, segment};
    use roamsim_protocols::tcp::Flags;

    fn streams(purpose: &str) -> Stream {
        Stream::new(11, 0, purpose)
    }

    /// Whether a datagram is lost whose last bit is sent at `at`.
    fn takes(loss: &mut Loss, at: Time) -> bool {
        loss.takes(at, &datagram(100))
    }

    #[test]
    fn nothing_is_lost_or_drawn_before_the_start() {
        let model = LossModel::Bernoulli { probability: 1.0 };
        let mut loss = Loss::new(model, Time::from_ns(100), streams);
        assert!(!takes(&mut loss, Time::from_ns(99)));
        assert!(takes(&mut loss, Time::from_ns(100)));

        let half = LossModel::Bernoulli { probability: 0.5 };
        let mut early = Loss::new(half.clone(), Time::from_ns(50), streams);
        let mut late = Loss::new(half, Time::ZERO, streams);
        (0..20).for_each(|t| assert!(!takes(&mut early, Time::from_ns(t))));
        for t in 50..250 {
            assert_eq!(takes(&mut early, Time::from_ns(t)), takes(&mut late, Time::from_ns(t)));
        }
    }

    #[test]
    fn the_nth_packet_meets_the_nth_draw() {
        for probability in [0.0, 0.01, 0.5, 1.0] {
            let mut loss = Loss::new(LossModel::Bernoulli { probability }, Time::ZERO, streams);
            let mut draws = streams("loss");
            for packet in 0..1000 {
                assert_eq!(
                    takes(&mut loss, Time::ZERO),
                    draws.bernoulli(probability),
                    "{packet} of {probability}"
                );
            }
        }
    }

    #[test]
    fn a_series_has_the_probability_of_the_time_and_a_draw_for_each_packet() {
        let at_ns = Time::from_ns;
        let steps = vec![(at_ns(0), 0.0), (at_ns(10), 1.0), (at_ns(20), 0.5)];
        let probability = Series::new(steps, None).expect("steps");
        let mut loss = Loss::new(LossModel::Series { probability }, Time::ZERO, streams);
        let mut half = Loss::new(LossModel::Bernoulli { probability: 0.5 }, Time::ZERO, streams);
        let found: Vec<bool> = (0..60).map(|t| takes(&mut loss, at_ns(t))).collect();
        let drawn: Vec<bool> = (0..60).map(|t| takes(&mut half, at_ns(t))).collect();
        assert!(found[..10].iter().all(|lost| !lost) && found[10..20].iter().all(|lost| *lost));
        assert_eq!(found[20..], drawn[20..]);
        loss.begin(at_ns(60), 1.0);
        assert!((60..80).all(|t| takes(&mut loss, at_ns(t))));
    }

    #[test]
    fn bursts_have_the_mean_length_of_the_bad_state() {
        let model = LossModel::GilbertElliott {
            transitions: Transitions::PerPacket { good_to_bad: 0.01, bad_to_good: 0.25 },
            loss_good: 0.0,
            loss_bad: 1.0,
        };
        let mut loss = Loss::new(model, Time::ZERO, streams);
        let n = 400_000;
        let (mut lost, mut bursts, mut before) = (0, 0, false);
        for t in 0..n {
            let now = takes(&mut loss, Time::from_ns(t));
            lost += u64::from(now);
            bursts += u64::from(now && !before);
            before = now;
        }
        // Stationary: 0.01 / 0.26 = 3.846 %; mean burst 1 / 0.25 = 4 packets. About 3,850 bursts of standard
        // deviation sqrt(0.75) / 0.25 = 3.46: 1.4 % of the mean length; the share follows within 2.2 %.
        let share = lost as f64 / n as f64;
        let length = lost as f64 / bursts as f64;
        assert!((share - 0.03846).abs() < 0.0025, "{share}");
        assert!((length - 4.0).abs() < 0.2, "{length}");
    }

    #[test]
    fn sojourns_follow_time_not_packets() {
        let model = LossModel::GilbertElliott {
            transitions: Transitions::PerTime { mean_good_s: 3.0, mean_bad_s: 1.0 },
            loss_good: 0.0,
            loss_bad: 1.0,
        };
        let lost = |every_ms: u64, n: u64| {
            let mut loss = Loss::new(model.clone(), Time::ZERO, streams);
            (0..n).filter(|k| takes(&mut loss, Time::ZERO + Span::from_ms(every_ms * k))).count() as f64
                / n as f64
        };
        // 100,000 s of the same chain, seen at two rates: a quarter of the time is bad. About 25,000 cycles:
        // standard error near 0.25 * sqrt(2 / 25000) = 0.22 %.
        let (fine, coarse) = (lost(10, 10_000_000), lost(100, 1_000_000));
        assert!((fine - 0.25).abs() < 0.008, "{fine}");
        assert!((fine - coarse).abs() < 0.001, "{fine} {coarse}");
    }

    fn between(source: SocketId, sink: SocketId) -> Association {
        Association { source, sink }
    }

    fn list(segments: &[u64], association: Option<Association>, start: Time) -> Loss {
        Loss::new(LossModel::List { segments: segments.to_vec(), association }, start, streams)
    }

    #[test]
    fn a_list_counts_packets_with_data() {
        let mut loss = list(&[1, 3], None, Time::ZERO);
        let sent = [
            segment(1, Flags::SYN, 0),
            segment(1, Flags::ACK, 0),
            segment(1, Flags::ACK, 1000), // 1
            segment(1, Flags::ACK, 0),
            datagram(100),                            // 2
            segment(1, Flags::ACK | Flags::FIN, 500), // 3
            segment(1, Flags::ACK | Flags::FIN, 0),
            segment(1, Flags::ACK, 1000), // 4
        ];
        let lost = sent.map(|packet| loss.takes(Time::ZERO, &packet));
        assert_eq!(lost, [false, false, true, false, false, true, false, false]);
    }

    #[test]
    fn a_list_of_a_flow_counts_its_packets_in_either_direction_and_no_others() {
        let mut tcp = list(&[2, 3], Some(between(SocketId::Tcp(2), SocketId::Tcp(3))), Time::ZERO);
        let sent = [
            segment(3, Flags::ACK, 1000), // 1
            segment(5, Flags::ACK, 1000),
            datagram(100),                // to UDP socket 0
            segment(2, Flags::ACK, 1000), // 2
            Packet { socket: 3, ..datagram(100) },
            segment(3, Flags::ACK, 1000), // 3
        ];
        assert_eq!(sent.map(|p| tcp.takes(Time::ZERO, &p)), [false, false, false, true, false, true]);

        let mut udp = list(&[1], Some(between(SocketId::Udp(1), SocketId::Udp(0))), Time::ZERO);
        let sent = [segment(0, Flags::ACK, 1000), datagram(100), datagram(100)];
        assert_eq!(sent.map(|p| udp.takes(Time::ZERO, &p)), [false, true, false]);
    }

    #[test]
    fn a_list_counts_from_its_start() {
        let mut loss = list(&[1], None, Time::from_ns(10));
        assert_eq!([8, 9, 10, 11].map(|t| takes(&mut loss, Time::from_ns(t))), [false, false, true, false]);
    }
}
