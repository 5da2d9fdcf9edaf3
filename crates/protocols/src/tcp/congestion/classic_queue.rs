//! Signs of a classic ECN queue (RFC 3168) at the bottleneck, in round trips: Briscoe and Ahmed, arXiv
//! 1911.00710, with the constants of `tcp_prague` 0.6 (L4STeam's Linux).
//!
//! A classic queue is deep and varies with the sawtooth of the windows; an L4S queue is shallow and steady.
//! Once a round, from the first mark on, a score moves by
//!
//! ```text
//! V log2(mdev / 750 us) + D max(log2(depth / 2 ms), 0),  V = D = 1/2
//! ```
//!
//! `mdev` is the mean deviation of the round trip, `depth` its mean above the smallest. Both average over
//! about a sawtooth. The score stays between 0 and 17. Up to 8 the response is scalable, from 9 on classic.
//!
//! Chosen: logarithms of floating-point numbers, where Linux has whole ones and carries their remainders. The
//! smallest round trip is that of the last five to ten minutes, as Linux has five. Not modelled: the term for
//! senders that do not fill their window, which is disabled in Linux, too.

use roamsim_engine::{Span, Time};

use crate::tcp::detection::MinRtt;

/// The weights of the deviation and of the depth: `V` and `D`.
const DEVIATION_WEIGHT: f64 = 0.5;
const DEPTH_WEIGHT: f64 = 0.5;

/// The deviation between L4S and classic queues: `V0_LG`.
const REFERENCE_DEVIATION_US: f64 = 750.0;

/// The depth from which on a queue looks classic: `D0_LG`.
const REFERENCE_DEPTH_US: f64 = 2000.0;

/// How far the score can go beyond the transition, to either side: `L_STICKY` and `C_STICKY`.
const STICKINESS: f64 = 8.0;

/// The largest exponent of the gain of the mean: `PRAGUE_MAX_SRTT_BITS`.
const MOST_GAIN_BITS: u32 = 18;

/// A measured deviation counts as one of a microsecond at least, the clock of Linux.
const LEAST_DEVIATION_US: f64 = 1.0;

/// What the round trips of a connection say of the queue at its bottleneck.
#[derive(Clone, Copy, Debug)]
pub(super) struct Signs {
    score: f64,
    min_rtt: MinRtt,
    /// Means in microseconds; before the first round trip 0 and [`LEAST_DEVIATION_US`].
    srtt_us: f64,
    mdev_us: f64,
    /// The mean moves by 2^-this of an error, the deviation by half of that.
    gain_bits: u32,
}

impl Signs {
    pub(super) fn new() -> Signs {
        Signs {
            score: 0.0,
            min_rtt: MinRtt::default(),
            srtt_us: 0.0,
            mdev_us: LEAST_DEVIATION_US,
            gain_bits: MOST_GAIN_BITS,
        }
    }

    /// A round trip was measured.
    pub(super) fn take(&mut self, now: Time, rtt: Span) {
        self.min_rtt.take(now, rtt);
        let rtt_us = microseconds(rtt);
        if self.srtt_us == 0.0 {
            self.srtt_us = rtt_us;
            return;
        }
        let gain = 1.0 / (1_u64 << self.gain_bits) as f64;
        let error_us = rtt_us - self.srtt_us;
        self.srtt_us += gain * error_us;
        self.mdev_us += gain / 2.0 * (error_us.abs() - self.mdev_us);
    }

    /// A mark or a loss reduces the window to about so many segments, W: the means then span 2 W^1.5 measured
    /// round trips, about a sawtooth.
    pub(super) fn set_window(&mut self, segments: u64) {
        let log = segments.max(1).ilog2();
        self.gain_bits = (log + log / 2 + 1).min(MOST_GAIN_BITS);
    }

    /// A round has ended.
    pub(super) fn judge(&mut self) {
        let Some(least) = self.min_rtt.get() else { return };
        let deviation_us = self.mdev_us.max(LEAST_DEVIATION_US);
        self.score += DEVIATION_WEIGHT * libm::log2(deviation_us / REFERENCE_DEVIATION_US);
        let depth_us = self.srtt_us - microseconds(least);
        if depth_us > REFERENCE_DEPTH_US {
            self.score += DEPTH_WEIGHT * libm::log2(depth_us / REFERENCE_DEPTH_US);
        }
        self.score = self.score.clamp(0.0, 2.0 * STICKINESS + 1.0);
    }

    /// How much of the response is to be the classic one: 0 behind an L4S queue, 1 behind a classic one.
    pub(super) fn classic_share(&self) -> f64 {
        (self.score - STICKINESS).clamp(0.0, 1.0)
    }
}

fn microseconds(span: Span) -> f64 {
    span.as_secs_f64() * 1e6
}

#[cfg(test)]
impl Signs {
    pub(super) fn set_score(&mut self, score: f64) {
        self.score = score;
    }

    pub(super) fn set_deviation_us(&mut self, us: f64) {
        self.mdev_us = us;
    }

    pub(super) fn means_us(&self) -> (f64, f64) {
        (self.srtt_us, self.mdev_us)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(us: u64) -> Span {
        Span::from_us(us)
    }

    /// Means of so many microseconds above a smallest round trip of 10 ms.
    fn signs(depth_us: f64, mdev_us: f64) -> Signs {
        let mut signs = Signs::new();
        signs.take(Time::ZERO, us(10_000));
        (signs.srtt_us, signs.mdev_us) = (10_000.0 + depth_us, mdev_us);
        signs
    }

    #[test]
    fn means_move_by_a_gain_of_the_window() {
        let mut signs = Signs::new();
        signs.take(Time::ZERO, us(10_000));
        assert_eq!((signs.srtt_us, signs.mdev_us), (10_000.0, 1.0));
        // 2^-18 and 2^-19 before the first reduction.
        signs.take(Time::ZERO, us(10_000 + (1 << 18)));
        assert!((signs.srtt_us - 10_001.0).abs() < 1e-9, "{signs:?}");
        assert!((signs.mdev_us - 1.5).abs() < 1e-5, "{signs:?}");
        // 20 segments: log2 is 4, so 2^-(4 + 2 + 1), and half of that for the deviation.
        signs.set_window(20);
        (signs.srtt_us, signs.mdev_us) = (10_000.0, 100.0);
        signs.take(Time::ZERO, us(10_000 + 1280));
        assert!((signs.srtt_us - 10_010.0).abs() < 1e-9, "{signs:?}");
        assert!((signs.mdev_us - (100.0 + 1180.0 / 256.0)).abs() < 1e-9, "{signs:?}");
        signs.take(Time::ZERO, us(8000));
        // What is below the mean counts as deviation too: 2010 us, 2010 / 128 of it in the mean.
        assert!((signs.srtt_us - (10_010.0 - 2010.0 / 128.0)).abs() < 1e-9, "{signs:?}");
        assert!((signs.mdev_us - (104.609_375 + (2010.0 - 104.609_375) / 256.0)).abs() < 1e-9, "{signs:?}");
        // An unknown ssthresh has the smallest gain.
        signs.set_window(u64::MAX / 1000);
        assert_eq!(signs.gain_bits, 18);
    }

    #[test]
    fn a_round_moves_the_score_by_half_of_the_logarithms() {
        // 3 ms are four times 750 us: one up a round. 8 ms are four times 2 ms: one more.
        let mut classic = signs(0.0, 3000.0);
        classic.judge();
        assert!((classic.score - 1.0).abs() < 1e-12, "{classic:?}");
        let mut deep = signs(8000.0, 3000.0);
        deep.judge();
        assert!((deep.score - 2.0).abs() < 1e-12, "{deep:?}");
        // A depth below 2 ms takes nothing back: an eighth of 750 us is 1.5 down.
        let mut steady = signs(500.0, 750.0 / 8.0);
        steady.score = 5.0;
        steady.judge();
        assert!((steady.score - 3.5).abs() < 1e-12, "{steady:?}");
        // No deviation is one of 1 us: log2(750) / 2 = 4.7754 down.
        let mut still = signs(0.0, 0.0);
        still.score = 10.0;
        still.judge();
        assert!((still.score - 5.2246).abs() < 1e-4, "{still:?}");
    }

    #[test]
    fn the_score_is_bounded_and_between_8_and_9_the_response_changes() {
        let mut signs = signs(8000.0, 3000.0);
        for _ in 0..4 {
            signs.judge();
        }
        assert_eq!(signs.classic_share(), 0.0);
        signs.score = 8.25;
        assert_eq!(signs.classic_share(), 0.25);
        for _ in 0..9 {
            signs.judge();
        }
        assert_eq!((signs.score, signs.classic_share()), (17.0, 1.0));
        // Back: from 17 to below 9 in 6 rounds of 1.5, to 8 in the same one.
        signs.srtt_us = 10_000.0;
        signs.mdev_us = 750.0 / 8.0;
        let mut shares = (0..6).map(|_| {
            signs.judge();
            signs.classic_share()
        });
        assert_eq!(shares.by_ref().take(5).collect::<Vec<_>>(), [1.0; 5]);
        assert_eq!(shares.next(), Some(0.0));
        for _ in 0..9 {
            signs.judge();
        }
        assert_eq!(signs.score, 0.0);
    }
}
