//! A path as the sender sees it: round-trip time, congestion window, errors, heartbeats (RFC 9260 6.3, 7.2,
//! 8.2, 8.3).
//!
//! A path is a pair of a local and a remote address. RFC 9260 keeps this state by remote address; here two
//! local addresses, which are two access networks, share no window.

use roamsim_engine::{Span, Time};

use super::config::{Config, Rules};
use crate::machine::Address;
use crate::tcp::rtt::{BoundedEstimator, Bounds};

/// Where a packet goes from and to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Path {
    /// An address of this end.
    pub local: Address,
    /// An address of the peer.
    pub remote: Address,
}

/// What an association knows of one of its paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathReport {
    /// The addresses.
    pub path: Path,
    /// The peer has answered on it: data may go there (RFC 9260 5.4).
    pub confirmed: bool,
    /// No more than Path.Max.Retrans timeouts in a row (RFC 9260 8.2).
    pub active: bool,
    /// More than PotentiallyFailed.Max.Retrans timeouts in a row, and no more than Path.Max.Retrans: data
    /// goes here only while no path is better (RFC 7829 3.2).
    pub potentially_failed: bool,
    /// Congestion window in octets.
    pub cwnd_bytes: u64,
    /// Slow-start threshold in octets, `u64::MAX` while it is arbitrarily high.
    pub ssthresh_bytes: u64,
    /// DATA chunks sent on it and neither acknowledged nor taken as lost, in octets.
    pub outstanding_bytes: u64,
    /// Smoothed round-trip time, once measured.
    pub srtt: Option<Span>,
    /// The retransmission timeout in force.
    pub rto: Span,
    /// Timeouts in a row.
    pub errors: u32,
}

/// The HEARTBEATs of a path (RFC 9260 8.3).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Heartbeat {
    /// When the next one may be due.
    pub(super) at: Option<Time>,
    /// How long the path must have been idle then.
    pub(super) period: Span,
    /// One is to be sent now.
    pub(super) due: bool,
    /// The one that is not answered yet: what it holds, and when it was sent.
    pub(super) pending: Option<(u64, Time)>,
    /// When that one counts as lost.
    pub(super) lost_at: Option<Time>,
}

/// The state of one path.
#[derive(Clone, Debug)]
pub(super) struct PathState {
    pub(super) path: Path,
    pub(super) confirmed: bool,
    pub(super) active: bool,
    /// Only while active (RFC 7829 3.2).
    pub(super) potentially_failed: bool,
    /// One of its addresses has been deleted; the place stays, for chunks may name it.
    pub(super) removed: bool,
    /// It was the primary path until another was chosen, and is not so again.
    pub(super) deposed: bool,
    pub(super) rtt: BoundedEstimator,
    pub(super) cwnd: u64,
    pub(super) ssthresh: u64,
    partial_bytes_acked: u64,
    unit: u64,
    /// The lowest ssthresh: RFC 9260 four units, RFC 2960 two.
    floor: u64,
    pub(super) outstanding_bytes: u64,
    /// Consecutive timeouts.
    pub(super) errors: u32,
    /// The DATA chunk whose round trip is measured, and when it was sent.
    pub(super) measured: Option<(u64, Time)>,
    pub(super) t3_at: Option<Time>,
    /// The lowest TSN not acknowledged that was last sent here, `u64::MAX` without.
    pub(super) earliest: u64,
    /// When DATA was last sent here.
    pub(super) last_data_at: Option<Time>,
    pub(super) heartbeat: Heartbeat,
    /// Octets that the SACK at work has acknowledged.
    pub(super) newly: u64,
    /// Whether some of them were sent on no other path.
    pub(super) newly_here_alone: bool,
    /// Octets outstanding before the SACK at work.
    pub(super) before: u64,
    /// Whether the SACK at work has acknowledged `earliest`.
    pub(super) earliest_acknowledged: bool,
}

impl PathState {
    pub(super) fn new(config: &Config, path: Path) -> PathState {
        let unit = config.window_unit_bytes();
        let (cwnd, floor) = match config.rules {
            Rules::Rfc9260 => ((4 * unit).min((2 * unit).max(4404)), 4 * unit),
            Rules::Rfc2960 => (2 * unit, 2 * unit),
        };
        let cwnd = config.initial_window.map_or(cwnd, |window| u64::from(window) * unit);
        PathState {
            path,
            confirmed: false,
            active: true,
            potentially_failed: false,
            removed: false,
            deposed: false,
            rtt: BoundedEstimator::new(Bounds {
                initial: config.initial_rto(),
                min_rto: config.rto_min,
                min_margin: config.clock_granularity,
                max_rto: config.rto_max,
                granularity: config.clock_granularity,
            }),
            cwnd,
            ssthresh: u64::MAX,
            partial_bytes_acked: 0,
            unit,
            floor,
            outstanding_bytes: 0,
            errors: 0,
            measured: None,
            t3_at: None,
            earliest: u64::MAX,
            last_data_at: None,
            heartbeat: Heartbeat::default(),
            newly: 0,
            newly_here_alone: false,
            before: 0,
            earliest_acknowledged: false,
        }
    }

    pub(super) fn report(&self) -> PathReport {
        PathReport {
            path: self.path,
            confirmed: self.confirmed,
            active: self.active,
            potentially_failed: self.potentially_failed,
            cwnd_bytes: self.cwnd,
            ssthresh_bytes: self.ssthresh,
            outstanding_bytes: self.outstanding_bytes,
            srtt: self.rtt.srtt(),
            rto: self.rtt.rto(),
            errors: self.errors,
        }
    }

    /// Whether data may go here.
    pub(super) fn usable(&self) -> bool {
        self.confirmed && self.active && !self.potentially_failed && !self.removed
    }

    /// Whether data may go here at all, if only because every path is inactive.
    pub(super) fn carries(&self) -> bool {
        self.confirmed && !self.removed
    }

    /// A SACK advanced the cumulative TSN: `newly` octets are new, `before` were outstanding (RFC 9260 7.2.1,
    /// 7.2.2).
    pub(super) fn grow(&mut self) {
        let (newly, full) = (self.newly, self.before >= self.cwnd);
        if self.cwnd <= self.ssthresh {
            if full {
                self.cwnd += newly.min(self.unit);
            }
            return;
        }
        self.partial_bytes_acked += newly;
        if self.partial_bytes_acked >= self.cwnd {
            if full {
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
        self.t3_at = None;
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
        self.t3_at = None;
        self.errors += 1;
    }

    /// Before DATA is sent where nothing is outstanding: for each RTO without, the window has halved (RFC
    /// 9260 7.2.1).
    pub(super) fn decay(&mut self, now: Time) {
        let Some(last) = self.last_data_at else { return };
        let rto = self.rtt.rto().as_ns().max(1);
        let timeouts = now.since(last).as_ns() / rto;
        if timeouts > 0 && self.cwnd > self.floor {
            self.last_data_at = Some(now);
            self.ssthresh = self.cwnd;
            for _ in 0..timeouts.min(64) {
                self.cwnd = (self.cwnd / 2).max(self.floor);
            }
        }
    }

    /// The peer has answered here: it is active, and was inactive or potentially failed if this returns
    /// true.
    pub(super) fn answered(&mut self) -> bool {
        self.errors = 0;
        let was_usable = self.active && !self.potentially_failed;
        self.active = true;
        self.potentially_failed = false;
        !was_usable
    }

    /// When the next of its timers expires; `Time::MAX` without one that runs.
    pub(super) fn next_deadline(&self) -> Time {
        let never = Time::MAX;
        let heartbeat = self.heartbeat.at.unwrap_or(never).min(self.heartbeat.lost_at.unwrap_or(never));
        self.t3_at.unwrap_or(never).min(heartbeat)
    }

    /// No timer runs any more.
    pub(super) fn stop(&mut self) {
        self.t3_at = None;
        self.heartbeat = Heartbeat::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: Path = Path { local: Address(0), remote: Address(1) };

    fn path(rules: Rules, packet_bytes: u32) -> PathState {
        PathState::new(&Config { rules, packet_bytes, ..Config::default() }, PATH)
    }

    fn grow(path: &mut PathState, newly: u64, before: u64) {
        (path.newly, path.before) = (newly, before);
        path.grow();
    }

    #[test]
    fn initial_window_of_each_rfc() {
        // Unit 1448: min(5792, max(2896, 4404)).
        assert_eq!(path(Rules::Rfc9260, 1460).cwnd, 4404);
        // Unit 1000: min(4000, 4404).
        assert_eq!(path(Rules::Rfc9260, 1012).cwnd, 4000);
        // 2 x (1460 + 40).
        assert_eq!(path(Rules::Rfc2960, 1460).cwnd, 3000);
    }

    #[test]
    fn the_initial_window_can_be_set_in_units() {
        let config = Config { packet_bytes: 1012, initial_window: Some(1), ..Config::default() };
        assert_eq!(PathState::new(&config, PATH).cwnd, 1000);
    }

    #[test]
    fn the_window_grows_only_when_it_was_full() {
        let mut path = path(Rules::Rfc9260, 1012);
        grow(&mut path, 1000, 3999);
        assert_eq!(path.cwnd, 4000);
        // Slow start: two chunks acknowledged add one unit.
        grow(&mut path, 2000, 4000);
        assert_eq!(path.cwnd, 5000);
        path.cwnd = 16_000;
        path.halve();
        assert_eq!((path.cwnd, path.ssthresh), (8000, 8000));
        // The window is at the threshold: once more slow start, then 9000 octets for one unit.
        grow(&mut path, 1000, 8000);
        assert_eq!(path.cwnd, 9000);
        grow(&mut path, 8999, 9000);
        assert_eq!(path.cwnd, 9000);
        grow(&mut path, 1, 9000);
        assert_eq!(path.cwnd, 10_000);
        path.collapse();
        assert_eq!((path.cwnd, path.ssthresh), (1000, 5000));
    }

    #[test]
    fn the_window_of_an_idle_path_halves_each_rto() {
        let mut path = path(Rules::Rfc9260, 1012);
        path.cwnd = 40_000;
        path.last_data_at = Some(Time::ZERO);
        path.decay(Time::from_ns(999_999_999));
        assert_eq!(path.cwnd, 40_000);
        // Two RTOs of 1 s: 40000 / 4.
        path.decay(Time::from_ns(2_500_000_000));
        assert_eq!((path.cwnd, path.ssthresh), (10_000, 40_000));
        // Not below four units.
        path.decay(Time::from_ns(60_000_000_000));
        assert_eq!(path.cwnd, 4000);
    }
}
