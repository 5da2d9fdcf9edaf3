//! Slow start and congestion avoidance of RFC 5681 3.1, in bytes.
//!
//! - Slow start, cwnd < ssthresh: cwnd += min(N, SMSS) an ACK for N new bytes (equation 2; 2 SMSS where
//!   appropriate byte counting of RFC 3465 is set so), up to ssthresh, where it ends: a threshold of five and
//!   a half segments is not passed by half a segment.
//! - Congestion avoidance: cwnd += SMSS whenever cwnd bytes, less a fraction of a segment, have been
//!   acknowledged (the recommended way, which does not slow down with delayed acknowledgements).
//! - Fast retransmit: ssthresh = max(FlightSize / 2, 2 SMSS) (equation 4), cwnd = ssthresh.
//! - Marks of ECN: the same, or with alternative backoff ssthresh = max(0.8 FlightSize, 2 SMSS) (RFC 8511
//!   section 3). They may leave one segment in cwnd (RFC 3168 6.1.2).
//! - Going back on duplicate ACKs (Tahoe): the same ssthresh, cwnd = 1 SMSS.
//! - Timeout: the same ssthresh, kept when the same octets time out again; cwnd = 1 SMSS.
//! - No growth while less than half of cwnd is in use: the criterion of RFC 7661 4.2, with the largest flight
//!   of this and the last round trip for pipeACK. A window that application or receiver do not fill says
//!   nothing of the path.

use super::keys::{Key, Value};
use super::{Ack, Cause, CongestionControl, Settings, left_by_mark};

/// Which Reno it is.
pub const RENO_RULES: Key = Key {
    table: None,
    name: "reno_rules",
    about: "The rules of Reno. Default: those of RFC 5681.",
    value: Value::Word {
        about: "The Reno of the RFC, or that of Linux.",
        words: &[
            ("rfc5681", "RFC 5681. Windows are octets."),
            (
                "linux",
                "Linux 6.12, in whole segments: ssthresh from the window. A reduction forgets what was counted for the \
                 next segment, and undo does not bring it back.",
            ),
        ],
    },
};

/// The state of the law.
#[derive(Clone, Copy, Debug)]
#[repr(C)] // cwnd and ssthresh at the same place in every law: reading them needs no branch
pub struct Reno {
    cwnd_bytes: u64,
    ssthresh_bytes: u64,
    smss_bytes: u64,
    /// Bytes acknowledged in congestion avoidance since cwnd last grew.
    acked_bytes: u64,
    /// Alternative backoff with ECN.
    abe: bool,
    marks_leave_one_segment: bool,
}

impl CongestionControl for Reno {
    const NAME: &str = "reno";
    const ABOUT: Option<&str> = Some("Slow start and congestion avoidance of RFC 5681");
    const KEYS: &[Key] = &[RENO_RULES];
    const FOLLOWS_PACKETS: bool = false;

    fn new(settings: &Settings) -> Reno {
        let marks_leave_one_segment = settings.marks_leave_one_segment;
        Reno { marks_leave_one_segment, ..Reno::with(settings.initial_ssthresh_bytes, settings.abe) }
    }

    fn start(&mut self, smss_bytes: u64, initial_window_bytes: u64) {
        self.smss_bytes = smss_bytes;
        self.cwnd_bytes = initial_window_bytes.max(smss_bytes);
    }

    fn set_smss(&mut self, bytes: u64) {
        self.smss_bytes = bytes;
    }

    #[inline]
    fn cwnd_bytes(&self) -> u64 {
        self.cwnd_bytes
    }

    #[inline]
    fn ssthresh_bytes(&self) -> u64 {
        self.ssthresh_bytes
    }

    #[inline(always)]
    fn on_ack(&mut self, ack: &Ack) {
        if !ack.may_grow {
            return;
        }
        if ack.in_use_bytes < self.cwnd_bytes.div_ceil(2) {
            return;
        }
        if self.cwnd_bytes < self.ssthresh_bytes {
            let room = self.ssthresh_bytes - self.cwnd_bytes;
            self.cwnd_bytes += ack.bytes.min(ack.most_segments * self.smss_bytes).min(room);
            return;
        }
        self.acked_bytes += ack.bytes;
        // Only whole segments of the window can be sent, and acknowledged, in a round trip: half a segment
        // more would cost a whole round trip after each halving of an odd window. That are more than the
        // window less one segment, so that the quotient is taken once a round trip.
        if self.acked_bytes + self.smss_bytes <= self.cwnd_bytes {
            return;
        }
        let usable_bytes = self.cwnd_bytes - self.cwnd_bytes % self.smss_bytes;
        if self.acked_bytes >= usable_bytes {
            self.acked_bytes -= usable_bytes;
            self.cwnd_bytes += self.smss_bytes;
        }
    }

    fn on_congestion(&mut self, cause: Cause) {
        self.acked_bytes = 0;
        match cause {
            Cause::FastRetransmit { flight_bytes } => {
                self.ssthresh_bytes = self.half_of(flight_bytes);
                self.cwnd_bytes = self.ssthresh_bytes;
            }
            Cause::EcnEcho { flight_bytes } => {
                let left_bytes = if self.abe { flight_bytes * 4 / 5 } else { flight_bytes / 2 };
                let (ssthresh_bytes, most_bytes) =
                    left_by_mark(left_bytes, self.smss_bytes, self.marks_leave_one_segment);
                self.ssthresh_bytes = ssthresh_bytes;
                // A window of one segment stays.
                self.cwnd_bytes = self.cwnd_bytes.min(most_bytes);
            }
            Cause::GoBack { flight_bytes } => {
                self.ssthresh_bytes = self.half_of(flight_bytes);
                self.cwnd_bytes = self.smss_bytes;
            }
            Cause::Timeout { flight_bytes, repeated, repairing } => {
                let most_bytes = if repairing { self.ssthresh_bytes } else { u64::MAX };
                if !repeated {
                    self.ssthresh_bytes = self.half_of(flight_bytes).min(most_bytes);
                }
                self.cwnd_bytes = self.smss_bytes;
            }
            Cause::Idle { restart_window_bytes, least_ssthresh_bytes } => {
                self.ssthresh_bytes = self.ssthresh_bytes.max(least_ssthresh_bytes);
                self.cwnd_bytes = self.cwnd_bytes.min(restart_window_bytes).max(self.smss_bytes);
            }
        }
    }

    fn leave_slow_start(&mut self) {
        self.ssthresh_bytes = self.cwnd_bytes;
    }

    fn on_recovered(&mut self, cwnd_bytes: u64) {
        self.cwnd_bytes = cwnd_bytes.max(self.smss_bytes);
    }
}

impl Reno {
    /// A law that waits for [`CongestionControl::start`]; `ssthresh_bytes` of `None` is arbitrarily high,
    /// `abe` has marks reduce it by less.
    fn with(ssthresh_bytes: Option<u64>, abe: bool) -> Reno {
        Reno {
            cwnd_bytes: 1,
            ssthresh_bytes: ssthresh_bytes.unwrap_or(u64::MAX),
            smss_bytes: 1,
            acked_bytes: 0,
            abe,
            marks_leave_one_segment: false,
        }
    }

    /// The window is so many octets, and slow start ends there; at least two segments, or what it was.
    pub(super) fn reduce_to(&mut self, bytes: u64) {
        self.acked_bytes = 0;
        self.ssthresh_bytes = bytes.max(2 * self.smss_bytes);
        self.cwnd_bytes = self.cwnd_bytes.min(self.ssthresh_bytes);
    }

    fn half_of(&self, flight_bytes: u64) -> u64 {
        (flight_bytes / 2).max(2 * self.smss_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn law(cwnd: u64, ssthresh: Option<u64>) -> Reno {
        let mut law = Reno::with(ssthresh, false);
        law.start(1000, cwnd);
        law
    }

    fn acked(bytes: u64, in_use_bytes: u64) -> Ack {
        Ack { bytes, in_use_bytes, ..Ack::default() }
    }

    fn ack(law: &mut Reno, bytes: u64) {
        law.on_ack(&acked(bytes, law.cwnd_bytes()));
    }

    #[test]
    fn a_mark_reduces_as_a_loss_does_or_by_less() {
        for (abe, left) in [(false, 5000), (true, 8000)] {
            let mut law = Reno::with(None, abe);
            law.start(1000, 10_000);
            law.on_congestion(Cause::EcnEcho { flight_bytes: 10_000 });
            assert_eq!((law.cwnd_bytes(), law.ssthresh_bytes()), (left, left));
            law.on_congestion(Cause::EcnEcho { flight_bytes: 1000 });
            assert_eq!((law.cwnd_bytes(), law.ssthresh_bytes()), (2000, 2000));
        }
        let mut law = Reno::with(None, false);
        law.start(1000, 1000);
        law.on_congestion(Cause::EcnEcho { flight_bytes: 1000 });
        assert_eq!((law.cwnd_bytes(), law.ssthresh_bytes()), (1000, 2000));
    }

    #[test]
    fn marks_may_leave_one_segment() {
        let mut law = Reno::new(&Settings { marks_leave_one_segment: true, ..Settings::default() });
        law.start(1000, 3000);
        for (flight_bytes, left) in [(3000, 1500), (1000, 1000), (1000, 1000)] {
            law.on_congestion(Cause::EcnEcho { flight_bytes });
            assert_eq!((law.cwnd_bytes(), law.ssthresh_bytes()), (left, 2000));
        }
        // A loss leaves two.
        law.on_congestion(Cause::FastRetransmit { flight_bytes: 1000 });
        assert_eq!(law.cwnd_bytes(), 2000);
    }

    #[test]
    fn slow_start_adds_a_segment_an_ack_at_most() {
        let mut law = law(2000, None);
        ack(&mut law, 1000);
        ack(&mut law, 2000);
        ack(&mut law, 10);
        assert_eq!(law.cwnd_bytes(), 2000 + 1000 + 1000 + 10);
    }

    #[test]
    fn slow_start_ends_at_its_threshold() {
        // Half of eleven segments, entered from a full ACK with four in flight (RFC 6582: min(5500, 4000 +
        // 1000)).
        let mut law = law(11_000, None);
        law.on_congestion(Cause::FastRetransmit { flight_bytes: 11_000 });
        law.on_recovered(5000);
        ack(&mut law, 1000);
        assert_eq!(law.cwnd_bytes(), 5500);
        // Then a segment a round trip of the five that it holds.
        (0..4).for_each(|_| ack(&mut law, 1000));
        assert_eq!(law.cwnd_bytes(), 5500);
        ack(&mut law, 1000);
        assert_eq!(law.cwnd_bytes(), 6500);
    }

    #[test]
    fn congestion_avoidance_adds_a_segment_a_window() {
        let mut law = law(4000, Some(4000));
        for _ in 0..3 {
            ack(&mut law, 1000);
        }
        assert_eq!(law.cwnd_bytes(), 4000);
        ack(&mut law, 1000);
        assert_eq!(law.cwnd_bytes(), 5000);
        // Two ACKs for two segments each count as four for one.
        ack(&mut law, 2000);
        ack(&mut law, 2000);
        assert_eq!(law.cwnd_bytes(), 5000);
        ack(&mut law, 1000);
        assert_eq!(law.cwnd_bytes(), 6000);
    }

    #[test]
    fn a_window_with_half_a_segment_grows_after_a_round_trip_of_what_it_holds() {
        let mut law = law(4500, Some(4500));
        (0..3).for_each(|_| ack(&mut law, 1000));
        assert_eq!(law.cwnd_bytes(), 4500);
        // Four segments are all that 4500 octets hold.
        ack(&mut law, 1000);
        assert_eq!(law.cwnd_bytes(), 5500);
    }

    #[test]
    fn the_cause_decides() {
        let mut law = law(10_000, None);
        law.on_congestion(Cause::FastRetransmit { flight_bytes: 9000 });
        assert_eq!((law.cwnd_bytes(), law.ssthresh_bytes()), (4500, 4500));
        law.on_congestion(Cause::GoBack { flight_bytes: 8000 });
        assert_eq!((law.cwnd_bytes(), law.ssthresh_bytes()), (1000, 4000));
        law.on_congestion(Cause::Timeout { flight_bytes: 7000, repeated: false, repairing: false });
        assert_eq!((law.cwnd_bytes(), law.ssthresh_bytes()), (1000, 3500));
        law.on_congestion(Cause::Timeout { flight_bytes: 1000, repeated: true, repairing: false });
        assert_eq!((law.cwnd_bytes(), law.ssthresh_bytes()), (1000, 3500));
        law.on_congestion(Cause::Timeout { flight_bytes: 1000, repeated: false, repairing: false });
        assert_eq!(law.ssthresh_bytes(), 2000);
        law.on_recovered(8000);
        law.on_congestion(Cause::Idle { restart_window_bytes: 5000, least_ssthresh_bytes: 0 });
        assert_eq!((law.cwnd_bytes(), law.ssthresh_bytes()), (5000, 2000));
    }

    #[test]
    fn byte_counting_counts_two_segments_an_ack_and_no_more() {
        let mut law = law(10_000, Some(14_500));
        let ack = |law: &mut Reno, bytes| {
            law.on_ack(&Ack { most_segments: 2, ..acked(bytes, law.cwnd_bytes()) });
            law.cwnd_bytes()
        };
        assert_eq!(ack(&mut law, 1500), 11_500);
        assert_eq!(ack(&mut law, 3000), 13_500);
        assert_eq!(ack(&mut law, 3000), 14_500);
    }

    #[test]
    fn a_window_not_in_use_does_not_grow() {
        let mut law = law(10_000, None);
        law.on_ack(&acked(1000, 4999));
        assert_eq!(law.cwnd_bytes(), 10_000);
        law.on_ack(&acked(1000, 5000));
        assert_eq!(law.cwnd_bytes(), 11_000);
    }
}
