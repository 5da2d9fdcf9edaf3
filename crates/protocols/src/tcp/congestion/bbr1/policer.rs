//! Policers (Flach et al., "An Internet-Wide Analysis of Traffic Policing", SIGCOMM 2016): what one lets
//! through is the rate of delivery between two losses, once its tokens are spent. Two such intervals in a row
//! of nearly one rate, each with many losses, tell of one. That rate then holds for 48 round trips.

use roamsim_engine::{Span, Time};

use crate::tcp::proportion::rate;

/// Round trips of an interval at least; four times as many end the search.
const INTERVAL_ROUNDS: u32 = 4;
/// Losses over deliveries in an interval, in 256ths: a fifth.
const LOSS_THRESH: u64 = 50;
/// Rates of two intervals are one if they differ by an eighth, or by 4 kbit/s.
const BW_RATIO: u64 = 8;
const BW_DIFF_BYTES_PER_S: u64 = 500;
/// The rate holds for so many round trips.
const MOST_ROUNDS: u32 = 48;
/// An interval is no shorter.
const SHORTEST: Span = Span::from_ms(1);

/// What an acknowledgement, or the retransmission timer, tells.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seen {
    pub(super) now: Time,
    /// Octets delivered and lost so far.
    pub(super) delivered: u64,
    pub(super) lost: u64,
    /// Some have been lost just now.
    pub(super) has_losses: bool,
    pub(super) app_limited: bool,
    pub(super) round_start: bool,
    /// The control is in ProbeBW.
    pub(super) probes_bw: bool,
}

/// The search for a policer, and what it lets through.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Policer {
    /// The rate of the last interval, or of the policer, in octets a second; 0 of none.
    bw: u64,
    is_found: bool,
    is_sampling: bool,
    /// Round trips of the interval, or since the policer was found.
    rounds: u32,
    /// Where the interval began.
    since: Time,
    delivered: u64,
    lost: u64,
}

impl Policer {
    /// What the policer lets through, if there is one.
    pub(super) fn bw(&self) -> Option<u64> {
        self.is_found.then_some(self.bw)
    }

    /// Nothing is known.
    pub(super) fn forget(&mut self) {
        *self = Policer::default();
    }

    /// True when the rate of a policer no longer holds.
    pub(super) fn take(&mut self, seen: Seen) -> bool {
        if self.is_found {
            self.rounds += u32::from(seen.probes_bw && seen.round_start);
            let is_over = self.rounds >= MOST_ROUNDS;
            if is_over {
                self.forget();
            }
            return is_over;
        }
        if !self.is_sampling {
            // The first loss tells that the tokens are spent.
            if !seen.has_losses {
                return false;
            }
            self.is_sampling = true;
            self.begin_interval(&seen);
        }
        if seen.app_limited {
            self.forget();
            return false;
        }
        self.rounds += u32::from(seen.round_start);
        if self.rounds > 4 * INTERVAL_ROUNDS {
            self.forget();
        } else if self.rounds >= INTERVAL_ROUNDS && seen.has_losses {
            self.end_interval(&seen);
        }
        false
    }

    fn begin_interval(&mut self, seen: &Seen) {
        (self.since, self.delivered, self.lost, self.rounds) = (seen.now, seen.delivered, seen.lost, 0);
    }

    /// A loss ends the interval, if it had many.
    fn end_interval(&mut self, seen: &Seen) {
        let (delivered, lost) = (seen.delivered - self.delivered, seen.lost - self.lost);
        let time = seen.now.since(self.since);
        if delivered == 0 || lost * 256 < LOSS_THRESH * delivered || time < SHORTEST {
            return;
        }
        let bw = rate(delivered, time);
        let difference = bw.abs_diff(self.bw);
        if self.bw > 0
            && (difference.saturating_mul(BW_RATIO) <= self.bw || difference <= BW_DIFF_BYTES_PER_S)
        {
            (self.bw, self.is_found, self.rounds) = (u64::midpoint(bw, self.bw), true, 0);
        } else {
            self.bw = bw;
            self.begin_interval(seen);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A policed path, in rounds of 100 ms with losses at the end.
    struct Path {
        policer: Policer,
        seen: Seen,
    }

    impl Path {
        fn new() -> Path {
            Path { policer: Policer::default(), seen: Seen { probes_bw: true, ..Seen::default() } }
        }

        fn round(&mut self, delivered: u64, lost: u64) -> bool {
            self.seen.now += Span::from_ms(100);
            self.seen.delivered += delivered;
            self.seen.lost += lost;
            (self.seen.round_start, self.seen.has_losses) = (true, true);
            self.policer.take(self.seen)
        }
    }

    #[test]
    fn two_intervals_of_one_rate_tell_of_a_policer_which_holds_for_48_rounds() {
        let mut path = Path::new();
        // The first loss begins an interval, of which its own round is the first. It ends in the fourth
        // round, 300 ms later: 30,000 octets, of which a quarter as many are lost. So does the second, of
        // four rounds.
        for _ in 0..4 {
            path.round(10_000, 2500);
            assert_eq!(path.policer.bw(), None);
        }
        assert_eq!(path.policer.bw, 100_000);
        for _ in 0..3 {
            path.round(10_800, 2700);
            assert_eq!(path.policer.bw(), None);
        }
        // 43,200 octets in 400 ms are 8 % more; the mean of both holds.
        path.round(10_800, 2700);
        assert_eq!(path.policer.bw(), Some(104_000));
        // Only rounds of ProbeBW count.
        path.seen.probes_bw = false;
        assert!(!path.round(10_000, 2500));
        path.seen.probes_bw = true;
        for _ in 0..47 {
            assert!(!path.round(10_000, 2500));
        }
        assert!(path.round(10_000, 2500));
        assert_eq!(path.policer.bw(), None);
    }

    #[test]
    fn another_rate_few_losses_and_an_application_that_waits_tell_of_none() {
        let mut path = Path::new();
        for _ in 0..4 {
            path.round(10_000, 2500);
        }
        // 13 % more: the next interval is compared with this one.
        for _ in 0..4 {
            path.round(11_300, 2825);
        }
        assert_eq!((path.policer.bw(), path.policer.bw), (None, 113_000));

        // Fewer losses than 50 in 256: the interval goes on, and is given up in its 17th round.
        let mut path = Path::new();
        for _ in 0..16 {
            path.round(10_000, 1900);
        }
        assert!(path.policer.is_sampling && path.policer.bw == 0);
        path.round(10_000, 2500);
        assert!(!path.policer.is_sampling);

        let mut path = Path::new();
        path.round(10_000, 2500);
        path.seen.app_limited = true;
        path.round(10_000, 2500);
        assert!(!path.policer.is_sampling);
    }
}
