//! CUBIC as Linux has it, in whole segments.
//!
//! - Growth: a segment for each `count` segments acknowledged. The cubic of RFC 9438, taken at the time since
//!   the epoch began and the smallest round trip, gives a target; `count = cwnd / (target - cwnd)`, and 100
//!   cwnd where the target is not above cwnd. It is at least 2. It is found anew when cwnd has changed or a
//!   32nd of a second has passed.
//! - As long as no loss is known, `count` is 20 at most: 5 % a round trip. That is behind the end of slow
//!   start by HyStart, and behind a timeout, which forgets everything but ssthresh.
//! - Reno-friendly: W_est grows by a segment for each 15/8 cwnd acknowledged (alpha = 8/15). Where it is
//!   above cwnd, `count` is at most `cwnd / (W_est - cwnd)`.
//! - Reduction: `ssthresh = max(717/1024 cwnd, 2)`, from cwnd, not from the flight. W_max is cwnd before it,
//!   or with fast convergence 1741/2048 of it if cwnd has not come up to the W_max before.
//! - An epoch begins with the first growth behind a reduction. Time from the last segment to the first one
//!   behind an idle time is not part of it; time in which the window is not in use is.
//! - A needless reduction is undone in cwnd and ssthresh alone.
//!
//! Source: Linux 6.12, `net/ipv4/tcp_cubic.c`. What differs:
//! - Time is exact. The kernel counts jiffies, and finds `count` once in each.
//! - C is 0.4, in the kernel 410/1024.
//! - Octets of short segments count as parts of a segment.
//! - A timeout leaves one segment. The kernel's window has what is still in flight, too.
//! - Alternative backoff (RFC 8511) exists by its setting.

use roamsim_engine::{Span, Time};

use super::cubic::{CUBIC_RULES, FAST_CONVERGENCE};
use super::cubic_curve::Curve;
use super::keys::{Choice, LINUX_RULES};
use super::linux_growth::{avoid_congestion, slow_start};
use super::{Ack, Cause, CongestionControl, Cubic, Settings};

/// `count` is kept for so long while cwnd stays: HZ / 32.
const KEPT: Span = Span::from_us(31_250);

/// Round trips measured so soon in an epoch say nothing of the path: HZ.
const SETTLING: Span = Span::from_secs(1);

/// The most that `count` is while no loss is known.
const COUNT_WITHOUT_LOSS: u64 = 20;

/// The state of the law.
#[derive(Clone, Debug)]
#[repr(C)] // cwnd and ssthresh at the same place in every law: reading them needs no branch
pub struct CubicLinux {
    cwnd_bytes: u64,
    ssthresh_bytes: u64,
    smss_bytes: u64,
    fast_convergence: bool,
    /// Alternative backoff with ECN.
    abe: bool,
    course: Box<Course>,
}

/// What the cubic is made of, in segments.
#[derive(Clone, Debug, Default)]
struct Course {
    /// W_max; 0 as long as no loss is known.
    w_max: u64,
    epoch: Option<Epoch>,
    /// The smallest round trip.
    delay_min: Option<Span>,
    /// Octets acknowledged that have not made cwnd grow.
    credit_bytes: u64,
}

/// What has happened since growth began behind a reduction.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    began_at: Time,
    /// Idle times before have been left out.
    counted_to: Time,
    curve: Curve,
    /// So many segments acknowledged make cwnd grow by one: found at this time for this cwnd.
    count: u64,
    found_at: Time,
    found_for: u64,
    w_est: u64,
    /// Octets acknowledged that have not made W_est grow.
    acked_bytes: u64,
}

impl CongestionControl for CubicLinux {
    const NAME: &str = "cubic_linux";
    const ABOUT: Option<&str> = Some("CUBIC of Linux");
    const CHOSEN_BY: Option<Choice> =
        Some(Choice { instead_of: Cubic::NAME, key: &CUBIC_RULES, value: LINUX_RULES });
    const FOLLOWS_PACKETS: bool = false;

    fn new(settings: &Settings) -> CubicLinux {
        CubicLinux {
            cwnd_bytes: 1,
            ssthresh_bytes: settings.initial_ssthresh_bytes.unwrap_or(u64::MAX),
            smss_bytes: 1,
            fast_convergence: settings.own.is_on(&FAST_CONVERGENCE),
            abe: settings.abe,
            course: Box::default(),
        }
    }

    fn start(&mut self, smss_bytes: u64, initial_window_bytes: u64) {
        self.smss_bytes = smss_bytes;
        self.cwnd_bytes = initial_window_bytes.max(smss_bytes);
    }

    /// The window stays in octets, so in segments it is another: an epoch begins, towards as many octets.
    fn set_smss(&mut self, bytes: u64) {
        if bytes != self.smss_bytes {
            let known = self.course.w_max > 0;
            self.course.epoch = None;
            self.course.w_max =
                (self.course.w_max.saturating_mul(self.smss_bytes) / bytes.max(1)).max(known.into());
        }
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
        self.measure(ack);
        if !ack.may_grow || ack.in_use_bytes.saturating_mul(2) < self.cwnd_bytes {
            return;
        }
        let left = slow_start(&mut self.cwnd_bytes, self.ssthresh_bytes, self.smss_bytes, ack);
        if let Some(left_bytes) = left {
            let count = self.count(ack.now, left_bytes);
            let credit_bytes = &mut self.course.credit_bytes;
            avoid_congestion(&mut self.cwnd_bytes, credit_bytes, self.smss_bytes, count, left_bytes);
        }
    }

    fn on_congestion(&mut self, cause: Cause) {
        match cause {
            Cause::FastRetransmit { .. } => {
                self.reduce();
                self.cwnd_bytes = self.ssthresh_bytes;
            }
            Cause::EcnEcho { .. } => {
                let cwnd = self.segments();
                self.reduce();
                if self.abe {
                    self.ssthresh_bytes = (cwnd.saturating_mul(17) / 20).max(2) * self.smss_bytes;
                }
                self.cwnd_bytes = self.cwnd_bytes.min(self.ssthresh_bytes);
            }
            Cause::GoBack { .. } => {
                self.reduce();
                self.restart();
            }
            // A loss that acknowledgements told of has reduced the window already. Behind a timeout none is
            // known, and another one reduces again.
            Cause::Timeout { repeated, repairing, .. } => {
                if !repeated && (!repairing || self.course.w_max == 0) {
                    self.reduce();
                }
                self.restart();
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

    fn undo(&mut self, before: CubicLinux) {
        self.cwnd_bytes = self.cwnd_bytes.max(before.cwnd_bytes);
        self.ssthresh_bytes = self.ssthresh_bytes.max(before.ssthresh_bytes);
    }

    fn on_idle_end(&mut self, now: Time, last_sent_at: Time) {
        if let Some(epoch) = &mut self.course.epoch {
            let idle = now.since(last_sent_at.max(epoch.counted_to));
            epoch.began_at = (epoch.began_at + idle).min(now);
            epoch.counted_to = now;
        }
    }
}

impl CubicLinux {
    /// The window in whole segments.
    fn segments(&self) -> u64 {
        (self.cwnd_bytes / self.smss_bytes).max(1)
    }

    fn measure(&mut self, ack: &Ack) {
        let Course { epoch, delay_min, .. } = &mut *self.course;
        let is_settling = epoch.is_some_and(|epoch| ack.now.since(epoch.began_at) < SETTLING);
        if let Some(rtt) = ack.rtt.or(ack.srtt)
            && !is_settling
        {
            *delay_min = Some(delay_min.map_or(rtt, |least| least.min(rtt)));
        }
    }

    /// After how many segments acknowledged cwnd grows by one; `acked_bytes` are acknowledged now.
    fn count(&mut self, now: Time, acked_bytes: u64) -> u64 {
        let (cwnd, smss) = (self.segments(), self.smss_bytes);
        let Course { w_max, epoch, delay_min, .. } = &mut *self.course;
        let epoch = match epoch {
            Some(epoch) => {
                epoch.acked_bytes = epoch.acked_bytes.saturating_add(acked_bytes);
                if epoch.found_for == cwnd && now.since(epoch.found_at) <= KEPT {
                    return epoch.count;
                }
                epoch
            }
            None => epoch.insert(Epoch {
                began_at: now,
                counted_to: now,
                curve: Curve::new((*w_max).max(cwnd).saturating_mul(smss), cwnd * smss, smss),
                count: 0,
                found_at: now,
                found_for: cwnd,
                w_est: cwnd,
                acked_bytes,
            }),
        };
        (epoch.found_at, epoch.found_for) = (now, cwnd);
        let elapsed = now.since(epoch.began_at) + delay_min.unwrap_or(Span::ZERO);
        let target = epoch.target(elapsed);
        let mut count = match target.checked_sub(cwnd) {
            Some(more) if more > 0 => cwnd / more,
            _ => cwnd.saturating_mul(100),
        };
        if *w_max == 0 {
            count = count.min(COUNT_WITHOUT_LOSS);
        }
        let friendly_bytes = (cwnd.saturating_mul(15) / 8).saturating_mul(smss);
        let grown = epoch.acked_bytes.saturating_sub(1) / friendly_bytes;
        epoch.acked_bytes -= grown * friendly_bytes;
        epoch.w_est = epoch.w_est.saturating_add(grown);
        if epoch.w_est > cwnd {
            count = count.min(cwnd / (epoch.w_est - cwnd));
        }
        epoch.count = count.max(2);
        epoch.count
    }

    /// beta = 717/1024.
    fn reduce(&mut self) {
        let cwnd = self.segments();
        let course = &mut *self.course;
        let is_less = self.fast_convergence && cwnd < course.w_max;
        course.w_max = if is_less { cwnd.saturating_mul(1024 + 717) / 2048 } else { cwnd };
        course.epoch = None;
        course.credit_bytes = 0;
        self.ssthresh_bytes = (cwnd.saturating_mul(717) / 1024).max(2).saturating_mul(self.smss_bytes);
    }

    fn restart(&mut self) {
        self.cwnd_bytes = self.smss_bytes;
        *self.course = Course::default();
    }
}

impl Epoch {
    /// Segments that the window has so long behind the beginning.
    fn target(&self, elapsed: Span) -> u64 {
        let Curve { w_max_bytes, k, smss_bytes } = self.curve;
        let origin = w_max_bytes / smss_bytes;
        // What the window lacks, or has more, is rounded down to whole segments.
        if elapsed < k {
            origin.saturating_sub(self.curve.rise_bytes(k.saturating_sub(elapsed)) / smss_bytes)
        } else {
            origin.saturating_add(self.curve.rise_bytes(elapsed.saturating_sub(k)) / smss_bytes)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at_ms(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    fn law(abe: bool, initial_ssthresh_bytes: Option<u64>, cwnd: u64) -> CubicLinux {
        let mut law = CubicLinux::new(&Settings { initial_ssthresh_bytes, abe, ..Settings::default() });
        law.start(1000, cwnd * 1000);
        law
    }

    fn lose(law: &mut CubicLinux) {
        law.on_congestion(Cause::FastRetransmit { flight_bytes: 1000 });
    }

    /// An ACK of so many segments with a round trip of 100 ms; the window is in use.
    fn ack(law: &mut CubicLinux, ms: u64, segments: u64) -> u64 {
        law.on_ack(&Ack {
            bytes: segments * 1000,
            most_segments: 1000,
            in_use_bytes: law.cwnd_bytes(),
            now: at_ms(ms),
            rtt: Some(Span::from_ms(100)),
            ..Ack::default()
        });
        law.cwnd_bytes() / 1000
    }

    #[test]
    fn five_per_cent_a_round_trip_while_no_loss_is_known() {
        let mut law = law(false, None, 100);
        law.leave_slow_start();
        // 100 segments acknowledged, one by one: 5 segments at a count of 20. The cubic alone, 0.2 s after
        // the beginning, is 0.4 x 0.2^3 of a segment above.
        (0..100).for_each(|n| {
            ack(&mut law, n, 1);
        });
        assert_eq!(law.segments(), 105);
        // So it is behind a timeout, from its ssthresh on: 105 x 717 / 1024 = 73.
        law.on_congestion(Cause::Timeout { flight_bytes: 0, repeated: false, repairing: false });
        assert_eq!((law.cwnd_bytes(), law.ssthresh_bytes()), (1000, 73_000));
        assert_eq!(ack(&mut law, 1000, 72), 73);
        (0..60).for_each(|n| {
            ack(&mut law, 1000 + n, 1);
        });
        assert_eq!(law.segments(), 76);
    }

    #[test]
    fn what_is_beyond_the_threshold_in_slow_start_grows_by_the_count() {
        let mut law = law(false, Some(100_000), 90);
        // Ten up to the threshold; the other forty are two counts of 20.
        assert_eq!(ack(&mut law, 0, 50), 102);
    }

    #[test]
    fn ssthresh_is_made_of_cwnd_in_whole_segments() {
        let mut law = law(false, None, 100);
        lose(&mut law);
        // 100 x 717 / 1024 = 70.02, whatever is in flight.
        assert_eq!((law.cwnd_bytes(), law.ssthresh_bytes(), law.course.w_max), (70_000, 70_000, 100));
        // Below W_max: 70 x 1741 / 2048 = 59.5; 70 x 717 / 1024 = 49.01.
        lose(&mut law);
        assert_eq!((law.segments(), law.course.w_max), (49, 59));
        // Two segments at least.
        law.on_recovered(2000);
        lose(&mut law);
        assert_eq!(law.ssthresh_bytes(), 2000);
    }

    #[test]
    fn the_cubic_leads_to_the_window_before_and_beyond() {
        let mut law = law(false, None, 100);
        lose(&mut law);
        // cwnd 70, K = cbrt(30 / 0.4) = 4.2172 s. The epoch begins with the first ACK, which finds 100 - 0.4
        // x 4.1172^3 = 100 - 27.9, rounded to 73: count = 70 / 3 = 23.
        ack(&mut law, 10_000, 1);
        assert_eq!(law.course.epoch.map(|epoch| epoch.count), Some(23));
        // The round trip is not measured within a second of the beginning, so it stays from before. At 4.2172
        // s and beyond: 0.4 x 2^3 = 3.2 above 100, at 6.2172 s less 0.1.
        law.on_recovered(100_000);
        ack(&mut law, 16_118, 1);
        assert_eq!(law.course.epoch.map(|epoch| epoch.count), Some(100 / 3));
    }

    #[test]
    fn the_count_is_kept_while_the_window_stays_for_a_32nd_of_a_second() {
        let mut law = law(false, None, 100);
        lose(&mut law);
        let found_at = |law: &CubicLinux| law.course.epoch.map(|epoch| epoch.found_at);
        ack(&mut law, 1000, 1);
        ack(&mut law, 1031, 1);
        assert_eq!(found_at(&law), Some(at_ms(1000)));
        ack(&mut law, 1032, 1);
        assert_eq!(found_at(&law), Some(at_ms(1032)));
    }

    #[test]
    fn the_reno_friendly_window_grows_by_eight_fifteenths() {
        // cwnd 7, W_max 10; 7 x 15 / 8 = 13 segments for each of W_est. K = cbrt(3 / 0.4) = 1.957 s, and at
        // 0.1 s the target is 10 - 2: count 7. 26 segments are one W_est more, 8, and 7 / 1 = 7. 27 are two
        // more, W_est 9, and 7 / 2 = 3: nine counts, 16.
        for (acked, w_est, count, cwnd) in [(13, 7, 7, 8), (26, 8, 7, 10), (27, 9, 3, 16)] {
            let mut law = law(false, None, 10);
            lose(&mut law);
            assert_eq!(ack(&mut law, 0, acked), cwnd);
            assert_eq!(law.course.epoch.map(|epoch| (epoch.w_est, epoch.count)), Some((w_est, count)));
        }
    }

    #[test]
    fn another_segment_size_keeps_the_last_maximum_in_octets() {
        let mut law = law(false, None, 100);
        law.set_smss(500);
        assert_eq!(law.course.w_max, 0);
        law.set_smss(1000);
        lose(&mut law);
        law.set_smss(300);
        // 100 segments of 1000 octets are 333 of 300.
        assert_eq!(law.course.w_max, 333);
    }

    #[test]
    fn idle_times_are_not_part_of_an_epoch() {
        let mut law = law(false, None, 100);
        lose(&mut law);
        ack(&mut law, 1000, 1);
        let began_at = |law: &CubicLinux| law.course.epoch.map(|epoch| epoch.began_at);
        // The last segment went at 1.5 s; the next goes at 5 s. It is asked for twice.
        law.on_idle_end(at_ms(4000), at_ms(1500));
        law.on_idle_end(at_ms(5000), at_ms(1500));
        assert_eq!(began_at(&law), Some(at_ms(4500)));
        // A restart from a smaller window leaves the epoch.
        law.on_congestion(Cause::Idle { restart_window_bytes: 10_000, least_ssthresh_bytes: 52_500 });
        assert_eq!((law.segments(), law.ssthresh_bytes()), (10, 70_000));
        assert_eq!(began_at(&law), Some(at_ms(4500)));
    }

    #[test]
    fn the_smallest_round_trip_counts_but_not_that_of_the_first_second() {
        let mut law = law(false, None, 100);
        lose(&mut law);
        let measure = |law: &mut CubicLinux, ms: u64, rtt: u64| {
            let rtt = Some(Span::from_ms(rtt));
            law.on_ack(&Ack { bytes: 1000, in_use_bytes: 70_000, now: at_ms(ms), rtt, ..Ack::default() });
            law.course.delay_min
        };
        assert_eq!(measure(&mut law, 0, 100), Some(Span::from_ms(100)));
        assert_eq!(measure(&mut law, 999, 50), Some(Span::from_ms(100)));
        assert_eq!(measure(&mut law, 1000, 60), Some(Span::from_ms(60)));
        assert_eq!(measure(&mut law, 2000, 90), Some(Span::from_ms(60)));
    }

    #[test]
    fn a_timeout_amid_a_repair_does_not_reduce_again() {
        let mut law = law(false, None, 100);
        let timeout = Cause::Timeout { flight_bytes: 0, repeated: false, repairing: true };
        lose(&mut law);
        law.on_congestion(timeout);
        assert_eq!((law.segments(), law.ssthresh_bytes()), (1, 70_000));
        // Another timeout behind it does: 10 x 717 / 1024.
        law.on_recovered(10_000);
        law.on_congestion(timeout);
        assert_eq!(law.ssthresh_bytes(), 7000);
        law.on_congestion(Cause::Timeout { flight_bytes: 0, repeated: true, repairing: true });
        assert_eq!(law.ssthresh_bytes(), 7000);
    }

    #[test]
    fn marks_reduce_and_alternative_backoff_by_less() {
        for (abe, left) in [(false, 70), (true, 85)] {
            let mut law = law(abe, None, 100);
            law.on_congestion(Cause::EcnEcho { flight_bytes: 1000 });
            assert_eq!(law.segments(), left);
        }
    }

    #[test]
    fn what_was_needless_is_undone_in_the_window_alone() {
        let mut law = law(false, None, 100);
        let before = law.clone();
        lose(&mut law);
        law.undo(before);
        assert_eq!((law.segments(), law.ssthresh_bytes(), law.course.w_max), (100, u64::MAX, 100));
    }

    proptest! {
        /// Nothing overflows, and the window holds a segment, whatever happens.
        #[test]
        fn any_sequence_of_events_is_borne(
            smss in 1u64..65_536,
            initial in any::<u32>(),
            events in prop::collection::vec((0u8..8, any::<u64>(), any::<u64>()), 0..60),
        ) {
            let mut law = law(false, None, 1);
            law.start(smss, u64::from(initial) * smss);
            let mut now = 0u64;
            for (what, a, b) in events {
                let flight_bytes = a >> 24;
                let (repeated, repairing) = (b % 2 == 0, b % 3 == 0);
                match what {
                    0 => law.on_congestion(Cause::FastRetransmit { flight_bytes }),
                    1 => law.on_congestion(Cause::Timeout { flight_bytes, repeated, repairing }),
                    2 => law.on_congestion(Cause::Idle { restart_window_bytes: flight_bytes, least_ssthresh_bytes: 0 }),
                    3 => law.on_recovered(law.ssthresh_bytes().min(a)),
                    4 => law.on_idle_end(Time::from_ns(now), Time::from_ns(a.min(now))),
                    5 => law.leave_slow_start(),
                    _ => {
                        now = now.saturating_add(b >> (b % 64));
                        let before = law.cwnd_bytes();
                        let srtt = Some(Span::from_ns(a >> (a % 64)));
                        law.on_ack(&Ack { bytes: flight_bytes, in_use_bytes: a, now: Time::from_ns(now), srtt, ..Ack::default() });
                        prop_assert!(law.cwnd_bytes() >= before);
                    }
                }
                prop_assert!(law.cwnd_bytes() >= smss);
            }
        }
    }
}
