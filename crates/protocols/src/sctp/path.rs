//! A destination address as the sender sees it: round-trip time and congestion window (RFC 9260 6.3, 7.2).
//!
//! The window counts user data. It moves in units of PMDCS, by RFC 2960's rules too, which say MTU.

use roamsim_engine::Time;

use super::chunk::COMMON_HEADER_BYTES;
use super::config::{Config, Rules};
use crate::tcp::rtt::RttEstimator;

/// The state of one path.
#[derive(Clone, Debug)]
pub(super) struct Path {
    pub(super) rtt: RttEstimator,
    pub(super) cwnd: u64,
    pub(super) ssthresh: u64,
    partial_bytes_acked: u64,
    /// In what the window grows and shrinks: PMDCS, the largest DATA chunk (RFC 9260 7.2).
    unit: u64,
    floor: u64,
    /// Consecutive timeouts.
    pub(super) errors: u32,
    /// The DATA chunk whose round trip is measured, and when it was sent.
    pub(super) measured: Option<(u64, Time)>,
}

impl Path {
    pub(super) fn new(config: &Config) -> Path {
        let unit = u64::from(config.packet_bytes - COMMON_HEADER_BYTES);
        let (cwnd, floor) = match config.rules {
            Rules::Rfc9260 => ((4 * unit).min((2 * unit).max(4404)), 4 * unit),
            Rules::Rfc2960 => (2 * unit, 2 * unit),
        };
        let cwnd = config.initial_window.map_or(cwnd, |window| u64::from(window) * unit);
        Path {
            rtt: RttEstimator::with(
                config.initial_rto(),
                config.rto_min,
                config.rto_max,
                config.clock_granularity,
            ),
            cwnd,
            ssthresh: u64::MAX,
            partial_bytes_acked: 0,
            unit,
            floor,
            errors: 0,
            measured: None,
        }
    }

    /// A SACK advanced the cumulative TSN: `acked` octets are new, `flight` were outstanding before it
    /// (RFC 9260 7.2.1, 7.2.2).
    pub(super) fn grow(&mut self, acked: u64, flight: u64) {
        if self.cwnd <= self.ssthresh {
            if flight >= self.cwnd {
                self.cwnd += acked.min(self.unit);
            }
            return;
        }
        self.partial_bytes_acked += acked;
        if self.partial_bytes_acked >= self.cwnd {
            if flight >= self.cwnd {
                self.partial_bytes_acked -= self.cwnd;
                self.cwnd += self.unit;
            } else {
                self.partial_bytes_acked = self.cwnd;
            }
        }
    }

    /// Nothing is outstanding any more (RFC 9260 7.2.2).
    pub(super) fn all_acknowledged(&mut self) {
        self.partial_bytes_acked = 0;
    }

    /// A loss found by missing reports (RFC 9260 7.2.3, 7.2.4).
    pub(super) fn halve(&mut self) {
        self.ssthresh = (self.cwnd / 2).max(self.floor);
        self.cwnd = self.ssthresh;
        self.partial_bytes_acked = 0;
    }

    /// T3-rtx expired (RFC 9260 6.3.3, 7.2.3).
    pub(super) fn collapse(&mut self) {
        self.ssthresh = (self.cwnd / 2).max(self.floor);
        self.cwnd = self.unit;
        self.partial_bytes_acked = 0;
        self.rtt.back_off();
        self.measured = None;
        self.errors += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn initial_window_of_each_rfc() {
        let path = |rules, packet_bytes| Path::new(&Config { rules, packet_bytes, ..Config::default() }).cwnd;
        // Unit 1448: min(5792, max(2896, 4404)).
        assert_eq!(path(Rules::Rfc9260, 1460), 4404);
        // Unit 1000: min(4000, 4404).
        assert_eq!(path(Rules::Rfc9260, 1012), 4000);
        assert_eq!(path(Rules::Rfc2960, 1012), 2000);
    }

    #[test]
    fn the_initial_window_can_be_set_in_units() {
        let config = Config { packet_bytes: 1012, initial_window: Some(1), ..Config::default() };
        assert_eq!(Path::new(&config).cwnd, 1000);
    }

    #[test]
    fn the_window_grows_only_when_it_was_full() {
        let mut path = Path::new(&Config { packet_bytes: 1012, ..Config::default() });
        path.grow(1000, 3999);
        assert_eq!(path.cwnd, 4000);
        // Slow start: two chunks acknowledged add one unit.
        path.grow(2000, 4000);
        assert_eq!(path.cwnd, 5000);
        path.cwnd = 16_000;
        path.halve();
        assert_eq!((path.cwnd, path.ssthresh), (8000, 8000));
        // The window is at the threshold: once more slow start, then 9000 octets for one unit.
        path.grow(1000, 8000);
        assert_eq!(path.cwnd, 9000);
        path.grow(8999, 9000);
        assert_eq!(path.cwnd, 9000);
        path.grow(1, 9000);
        assert_eq!(path.cwnd, 10_000);
        path.collapse();
        assert_eq!((path.cwnd, path.ssthresh), (1000, 5000));
    }
}
