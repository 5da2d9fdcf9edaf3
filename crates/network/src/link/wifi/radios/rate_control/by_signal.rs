//! Rate control by signal: the highest rate whose threshold the power of the receiver's last frame reached.
//!
//! The transmitter uses the frames that it decodes from its receiver: acknowledgements, data, beacons. All
//! radios send with the same power, so both directions have the same signal except for shadowing and
//! motion. The lowest rate is used before the first such frame, and after too many unanswered exchanges in
//! a row.
//!
//! Source: receiver-based rates (G. Holland, N. Vaidya, P. Bahl, "A Rate-Adaptive MAC Protocol for
//! Multi-Hop Wireless Networks", MobiCom 2001). Here the receiver's signal comes from the frames that it
//! sends anyway, so no frame has another format.

/// Its constants.
#[derive(Clone, Debug, PartialEq)]
pub struct BySignalConfig {
    /// Of each rate the least power, in ascending order of both.
    pub thresholds: Vec<(u64, f64)>,
    /// Exchanges in a row without an answer after which the signal is forgotten.
    pub forgotten_after: u32,
}

/// One transmitter's choice for one receiver.
#[derive(Clone, Debug)]
pub(super) struct BySignal {
    /// By rate.
    thresholds_dbm: Vec<f64>,
    forgotten_after: u32,
    rate: usize,
    failures: u32,
}

impl BySignal {
    /// A rate without threshold is not used.
    pub fn new(config: &BySignalConfig, rates_bps: &[u64]) -> BySignal {
        let threshold_dbm = |rate_bps: &u64| {
            let own = config.thresholds.iter().find(|(of_bps, _)| of_bps == rate_bps);
            own.map_or(f64::INFINITY, |&(_, threshold_dbm)| threshold_dbm)
        };
        BySignal {
            thresholds_dbm: rates_bps.iter().map(threshold_dbm).collect(),
            forgotten_after: config.forgotten_after,
            rate: 0,
            failures: 0,
        }
    }

    pub fn rate(&self) -> usize {
        self.rate
    }

    pub fn hears(&mut self, signal_dbm: f64) {
        self.rate =
            self.thresholds_dbm.iter().rposition(|&threshold| signal_dbm >= threshold).unwrap_or_default();
    }

    pub fn ends(&mut self, answered: bool) {
        self.failures = if answered { 0 } else { self.failures + 1 };
        if self.failures >= self.forgotten_after {
            self.failures = 0;
            self.rate = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by_signal() -> BySignal {
        // 2 Mb/s are as sensitive as 1 Mb/s, and 5.5 Mb/s are not used.
        let thresholds = vec![(1_000_000, -80.0), (2_000_000, -80.0), (11_000_000, -76.0)];
        let config = BySignalConfig { thresholds, forgotten_after: 7 };
        BySignal::new(&config, &[1_000_000, 2_000_000, 5_500_000, 11_000_000])
    }

    #[test]
    fn the_highest_rate_whose_threshold_is_reached() {
        let mut state = by_signal();
        assert_eq!(state.rate(), 0, "nothing was heard yet");
        for (signal_dbm, rate) in [(-60.0, 3), (-76.0, 3), (-76.01, 1), (-80.0, 1), (-80.01, 0)] {
            state.hears(signal_dbm);
            assert_eq!(state.rate(), rate, "{signal_dbm} dBm");
        }
    }

    #[test]
    fn seven_exchanges_without_an_answer_make_it_forget() {
        let mut state = by_signal();
        state.hears(-60.0);
        (0..6).for_each(|_| state.ends(false));
        assert_eq!(state.rate(), 3);
        state.ends(true);
        (0..6).for_each(|_| state.ends(false));
        assert_eq!(state.rate(), 3, "an answer in between");
        state.ends(false);
        assert_eq!(state.rate(), 0);
    }
}
