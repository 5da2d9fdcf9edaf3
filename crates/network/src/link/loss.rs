//! Loss models of one direction of a link.
//!
//! The n-th packet that a direction sends from the model's start on meets the n-th draw of the direction's loss
//! stream, whatever the packet is and whenever it comes: two transports over the same channel meet the same
//! losses. Before the start nothing is lost and nothing is drawn.
//!
//! Gilbert-Elliott: Gilbert, "Capacity of a Burst-Noise Channel" (BSTJ 1960); Elliott, "Estimates of Error Rates
//! for Codes on Burst-Noise Channels" (BSTJ 1963). The chain starts in its stationary distribution.

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
#[derive(Clone, Copy, Debug, PartialEq)]
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
}

/// The loss process of one direction.
#[derive(Clone, Debug)]
pub struct Loss {
    model: LossModel,
    start: Time,
    draws: Stream,
    chain: Option<Chain>,
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
            LossModel::Bernoulli { .. } => None,
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
        Loss { model, start, draws: stream("loss"), chain }
    }

    /// Whether the packet whose last bit is sent at `at` is lost. Calls come in order of time.
    #[inline]
    pub fn takes(&mut self, at: Time) -> bool {
        if at < self.start {
            return false;
        }
        match self.model {
            LossModel::Bernoulli { probability } => self.draws.bernoulli(probability),
            LossModel::GilbertElliott { transitions, loss_good, loss_bad } => {
                let bad = self.chain.as_mut().is_some_and(|chain| chain.advance(transitions, at));
                self.draws.bernoulli(if bad { loss_bad } else { loss_good })
            }
        }
    }
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

    fn streams(purpose: &str) -> Stream {
        Stream::new(11, 0, purpose)
    }

    #[test]
    fn nothing_is_lost_or_drawn_before_the_start() {
        let model = LossModel::Bernoulli { probability: 1.0 };
        let mut loss = Loss::new(model, Time::from_ns(100), streams);
        assert!(!loss.takes(Time::from_ns(99)));
        assert!(loss.takes(Time::from_ns(100)));

        let half = LossModel::Bernoulli { probability: 0.5 };
        let mut early = Loss::new(half, Time::from_ns(50), streams);
        let mut late = Loss::new(half, Time::ZERO, streams);
        (0..20).for_each(|t| assert!(!early.takes(Time::from_ns(t))));
        for t in 50..250 {
            assert_eq!(early.takes(Time::from_ns(t)), late.takes(Time::from_ns(t)));
        }
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
            let now = loss.takes(Time::from_ns(t));
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
            let mut loss = Loss::new(model, Time::ZERO, streams);
            (0..n).filter(|k| loss.takes(Time::ZERO + Span::from_ms(every_ms * k))).count() as f64 / n as f64
        };
        // 100,000 s of the same chain, seen at two rates: a quarter of the time is bad. About 25,000 cycles:
        // standard error near 0.25 * sqrt(2 / 25000) = 0.22 %.
        let (fine, coarse) = (lost(10, 10_000_000), lost(100, 1_000_000));
        assert!((fine - 0.25).abs() < 0.008, "{fine}");
        assert!((fine - coarse).abs() < 0.001, "{fine} {coarse}");
    }
}
