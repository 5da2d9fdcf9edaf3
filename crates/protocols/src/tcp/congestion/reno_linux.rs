//! Reno as Linux has it, in whole segments.
//!
//! - Growth: in slow start by what is acknowledged, up to ssthresh; then a segment for each window
//!   acknowledged.
//! - Reduction: `ssthresh = max(cwnd / 2, 2)`, from cwnd, not from the flight. What was counted for the next
//!   segment is forgotten.
//! - A needless reduction is undone in cwnd and ssthresh alone: the count begins anew.
//!
//! Source: Linux 6.12, `net/ipv4/tcp_cong.c`, `tcp_reno_cong_avoid`, `tcp_reno_ssthresh`,
//! `tcp_reno_undo_cwnd`; `tcp_init_cwnd_reduction` and `tcp_enter_loss` of `tcp_input.c`. What differs:
//! - Octets of short segments count as parts of a segment.
//! - A timeout leaves one segment. The kernel's window has what is still in flight, too.
//! - Alternative backoff (RFC 8511) exists by its setting.

use super::keys::{Choice, LINUX_RULES};
use super::linux_growth::{avoid_congestion, slow_start};
use super::reno::RENO_RULES;
use super::{Ack, Cause, CongestionControl, Reno, Settings};

/// The state of the law.
#[derive(Clone, Copy, Debug)]
#[repr(C)] // cwnd and ssthresh at the same place in every law: reading them needs no branch
pub struct RenoLinux {
    cwnd_bytes: u64,
    ssthresh_bytes: u64,
    smss_bytes: u64,
    /// Octets acknowledged that have not made cwnd grow.
    credit_bytes: u64,
    /// Alternative backoff with ECN.
    abe: bool,
    /// The window was last reduced by a timeout, or not yet.
    is_behind_timeout: bool,
}

impl CongestionControl for RenoLinux {
    const NAME: &str = "reno_linux";
    const ABOUT: Option<&str> = Some("Reno of Linux");
    const CHOSEN_BY: Option<Choice> =
        Some(Choice { instead_of: Reno::NAME, key: &RENO_RULES, value: LINUX_RULES });
    const FOLLOWS_PACKETS: bool = false;

    fn new(settings: &Settings) -> RenoLinux {
        RenoLinux {
            cwnd_bytes: 1,
            ssthresh_bytes: settings.initial_ssthresh_bytes.unwrap_or(u64::MAX),
            smss_bytes: 1,
            credit_bytes: 0,
            abe: settings.abe,
            is_behind_timeout: true,
        }
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

    fn on_ack(&mut self, ack: &Ack) {
        if !ack.may_grow || ack.in_use_bytes.saturating_mul(2) < self.cwnd_bytes {
            return;
        }
        let left = slow_start(&mut self.cwnd_bytes, self.ssthresh_bytes, self.smss_bytes, ack);
        if let Some(left_bytes) = left {
            let count = self.segments();
            avoid_congestion(
                &mut self.cwnd_bytes,
                &mut self.credit_bytes,
                self.smss_bytes,
                count,
                left_bytes,
            );
        }
    }

    fn on_congestion(&mut self, cause: Cause) {
        match cause {
            Cause::FastRetransmit { .. } => {
                self.reduce(1, 2);
                self.cwnd_bytes = self.ssthresh_bytes;
            }
            Cause::EcnEcho { .. } => {
                if self.abe {
                    self.reduce(4, 5)
                } else {
                    self.reduce(1, 2)
                }
                self.cwnd_bytes = self.cwnd_bytes.min(self.ssthresh_bytes);
            }
            Cause::GoBack { .. } => {
                self.reduce(1, 2);
                self.cwnd_bytes = self.smss_bytes;
            }
            // A loss that acknowledgements told of has reduced the window already. Behind a timeout none is
            // known, and another one reduces again.
            Cause::Timeout { repeated, repairing, .. } => {
                if !repeated && (!repairing || self.is_behind_timeout) {
                    self.reduce(1, 2);
                }
                self.cwnd_bytes = self.smss_bytes;
                self.credit_bytes = 0;
                self.is_behind_timeout = true;
            }
            Cause::Idle { restart_window_bytes, least_ssthresh_bytes } => {
                self.ssthresh_bytes = self.ssthresh_bytes.max(least_ssthresh_bytes);
                self.cwnd_bytes = self.cwnd_bytes.min(restart_window_bytes.max(self.smss_bytes));
            }
        }
    }

    fn leave_slow_start(&mut self) {
        self.ssthresh_bytes = self.cwnd_bytes;
    }

    fn on_recovered(&mut self, cwnd_bytes: u64) {
        self.cwnd_bytes = cwnd_bytes.max(self.smss_bytes);
    }

    fn undo(&mut self, before: RenoLinux) {
        self.cwnd_bytes = self.cwnd_bytes.max(before.cwnd_bytes);
        self.ssthresh_bytes = self.ssthresh_bytes.max(before.ssthresh_bytes);
    }
}

impl RenoLinux {
    /// The window in whole segments.
    fn segments(&self) -> u64 {
        (self.cwnd_bytes / self.smss_bytes).max(1)
    }

    /// ssthresh is such a part of the window.
    fn reduce(&mut self, numerator: u64, denominator: u64) {
        let left = self.segments().saturating_mul(numerator) / denominator;
        self.ssthresh_bytes = left.max(2).saturating_mul(self.smss_bytes);
        self.credit_bytes = 0;
        self.is_behind_timeout = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn law(abe: bool, initial_ssthresh_bytes: Option<u64>, cwnd: u64) -> RenoLinux {
        let mut law = RenoLinux::new(&Settings { initial_ssthresh_bytes, abe, ..Settings::default() });
        law.start(1000, cwnd * 1000);
        law
    }

    fn lose(law: &mut RenoLinux) {
        law.on_congestion(Cause::FastRetransmit { flight_bytes: 1000 });
    }

    /// An ACK of so many segments while the window is in use.
    fn ack(law: &mut RenoLinux, segments: u64) -> u64 {
        let in_use_bytes = law.cwnd_bytes();
        law.on_ack(&Ack { bytes: segments * 1000, most_segments: 1000, in_use_bytes, ..Ack::default() });
        law.cwnd_bytes() / 1000
    }

    #[test]
    fn a_window_acknowledged_is_a_segment_and_what_is_beyond_the_threshold_counts() {
        let mut law = law(false, Some(12_000), 10);
        // Two up to the threshold. The other ten count, and two more make twelve.
        assert_eq!((ack(&mut law, 12), ack(&mut law, 1), ack(&mut law, 1)), (12, 12, 13));
        // 26 are two segments.
        assert_eq!((ack(&mut law, 26), ack(&mut law, 14), ack(&mut law, 1)), (15, 15, 16));
    }

    #[test]
    fn half_of_the_window_in_whole_segments_is_left() {
        let mut law = law(false, None, 11);
        for left in [5, 2, 2] {
            lose(&mut law);
            assert_eq!((law.cwnd_bytes(), law.ssthresh_bytes()), (left * 1000, left * 1000));
        }
    }

    #[test]
    fn what_was_counted_is_forgotten_by_a_reduction_and_its_undoing() {
        let mut law = law(false, Some(10_000), 10);
        assert_eq!(ack(&mut law, 9), 10);
        let before = law;
        lose(&mut law);
        law.undo(before);
        assert_eq!((law.segments(), law.ssthresh_bytes()), (10, 10_000));
        assert_eq!((ack(&mut law, 9), ack(&mut law, 1)), (10, 11));
    }

    #[test]
    fn a_timeout_amid_a_repair_does_not_reduce_again() {
        let mut law = law(false, None, 100);
        let timeout = |repeated, repairing| Cause::Timeout { flight_bytes: 0, repeated, repairing };
        lose(&mut law);
        law.on_congestion(timeout(false, true));
        assert_eq!((law.segments(), law.ssthresh_bytes()), (1, 50_000));
        // Another timeout behind it does.
        law.on_recovered(10_000);
        law.on_congestion(timeout(false, true));
        assert_eq!(law.ssthresh_bytes(), 5000);
        law.on_congestion(timeout(true, true));
        assert_eq!(law.ssthresh_bytes(), 5000);
    }

    #[test]
    fn marks_reduce_and_alternative_backoff_by_less() {
        for (abe, left) in [(false, 50), (true, 80)] {
            let mut law = law(abe, None, 100);
            law.on_congestion(Cause::EcnEcho { flight_bytes: 1000 });
            assert_eq!((law.segments(), law.ssthresh_bytes()), (left, left * 1000));
        }
    }

    #[test]
    fn an_unused_window_does_not_grow_and_an_idle_time_restarts_it() {
        let mut law = law(false, None, 10);
        law.on_ack(&Ack { bytes: 4000, most_segments: 9, in_use_bytes: 4999, ..Ack::default() });
        assert_eq!(law.segments(), 10);
        law.on_congestion(Cause::Idle { restart_window_bytes: 4000, least_ssthresh_bytes: 7500 });
        assert_eq!((law.segments(), law.ssthresh_bytes()), (4, u64::MAX));
    }

    proptest! {
        /// Nothing overflows, and the window holds a segment, whatever happens.
        #[test]
        fn any_sequence_of_events_is_borne(
            smss in 1u64..65_536,
            initial in any::<u32>(),
            events in prop::collection::vec((0u8..7, any::<u64>(), any::<u64>()), 0..60),
        ) {
            let mut law = law(false, None, 1);
            law.start(smss, u64::from(initial) * smss);
            for (what, a, b) in events {
                let flight_bytes = a >> 24;
                let (repeated, repairing) = (b % 2 == 0, b % 3 == 0);
                match what {
                    0 => law.on_congestion(Cause::FastRetransmit { flight_bytes }),
                    1 => law.on_congestion(Cause::Timeout { flight_bytes, repeated, repairing }),
                    2 => law.on_congestion(Cause::Idle { restart_window_bytes: flight_bytes, least_ssthresh_bytes: 0 }),
                    3 => law.on_recovered(law.ssthresh_bytes().min(a)),
                    4 => law.leave_slow_start(),
                    _ => {
                        let before = law.cwnd_bytes();
                        law.on_ack(&Ack { bytes: flight_bytes, most_segments: b, in_use_bytes: a, ..Ack::default() });
                        prop_assert!(law.cwnd_bytes() >= before);
                    }
                }
                prop_assert!(law.cwnd_bytes() >= smss);
            }
        }
    }
}
