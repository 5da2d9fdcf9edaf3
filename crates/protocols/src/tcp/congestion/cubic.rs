//! CUBIC: RFC 9438, in bytes and whole microseconds.
//!
//! In a congestion avoidance stage the window follows a cubic of the time `t` since the stage began (section
//! 4.2):
//!
//! ```text
//! W_cubic(t) = C (t - K)^3 + W_max        K = cbrt((W_max - cwnd_epoch) / C)        C = 0.4 segments a s^3
//! ```
//!
//! - An ACK for `acked` bytes adds `(target - cwnd) acked / cwnd`, where the target is W_cubic(t + SRTT),
//!   between cwnd and 1.5 cwnd (4.2, 4.4, 4.5): by bytes, so that delayed acknowledgements do not slow it.
//! - Reno-friendly region (4.3): W_est starts at cwnd_epoch and grows by `alpha acked / cwnd` segments,
//!   alpha = 3 (1 - beta) / (1 + beta) = 9/17 until it has reached the window before the last reduction, 1
//!   from there. Where W_cubic(t) is below W_est, cwnd is W_est.
//! - Reduction (4.6): ssthresh = max(0.7 FlightSize, 2 SMSS), W_max = cwnd before it; with fast convergence
//!   (4.7) W_max = 0.85 cwnd if cwnd has not come up to the W_max before.
//! - Marks of ECN: the same without a repair, or with alternative backoff ssthresh = max(0.85 FlightSize, 2
//!   SMSS) (RFC 8511 section 3).
//! - Timeout (4.8): the same ssthresh, cwnd = 1 SMSS; the stage after it has W_max = cwnd_epoch and K = 0, as
//!   has one that no reduction precedes (4.10). Going back on duplicate ACKs is treated alike.
//! - Time in which less than half of the window is in use, or nothing in flight, is not part of `t` (5.8);
//!   nor does the window grow in it. A restart from a smaller window after an idle time begins a stage of its
//!   own.
//! - Slow start is that of RFC 5681, as in [`super::Reno`].
//!
//! Differs from the letter: an ACK never makes cwnd smaller (where W_est is below it); a round trip
//! acknowledges the whole segments of cwnd, which stand for cwnd in both quotients, as in [`super::Reno`].
//!
//! Needless reductions (4.9) are undone, and HyStart++ (4.10, RFC 9406) acts, around it: `undo` and `hystart`
//! of the connection.

use roamsim_engine::{Span, Time};

use super::cubic_curve::{Curve, fraction, quotient};
use super::keys::{Key, Reserved, Value};
use super::{Ack, Cause, CongestionControl, Settings, left_by_mark};

/// Fast convergence (RFC 9438 4.7).
pub const FAST_CONVERGENCE: Key = Key {
    table: None,
    name: "fast_convergence",
    about: "CUBIC's fast convergence: a flow whose window shrinks leaves room to new ones. Default: on (RFC 9438 \
            section 4.7, which advises against it for a flow alone).",
    value: Value::Switch { default: true },
};

/// Which CUBIC it is.
pub const CUBIC_RULES: Key = Key {
    table: None,
    name: "cubic_rules",
    about: "The rules of CUBIC. Default: those of RFC 9438.",
    value: Value::Word {
        about: "The CUBIC of the RFC, or that of Linux.",
        words: &[
            ("rfc9438", "RFC 9438. Windows are octets."),
            (
                "linux",
                "Linux 6.12, in whole segments: 5 % a round trip while no loss is known, ssthresh from the window, a \
                 slower Reno-friendly region.",
            ),
        ],
    },
};

/// The state of the law.
#[derive(Clone, Debug)]
#[repr(C)] // cwnd and ssthresh at the same place in every law: reading them needs no branch
pub struct Cubic {
    cwnd_bytes: u64,
    ssthresh_bytes: u64,
    smss_bytes: u64,
    fast_convergence: bool,
    /// Alternative backoff with ECN.
    abe: bool,
    marks_leave_one_segment: bool,
    /// Kept aside, that connections with other laws are no larger for it.
    course: Box<Course>,
}

/// What the cubic is made of.
#[derive(Clone, Debug)]
struct Course {
    /// W_max; `None` before the first reduction and after a timeout.
    w_max_bytes: Option<u64>,
    /// cwnd_prior: the window when ssthresh was last set, from which alpha is 1.
    cwnd_prior_bytes: u64,
    /// The congestion avoidance stage under way.
    stage: Option<Stage>,
}

/// A congestion avoidance stage.
#[derive(Clone, Copy, Debug)]
struct Stage {
    /// `t`: how long the window has been in use.
    elapsed: Span,
    /// Up to here time has been counted, or left out.
    counted_to: Time,
    cubic: Curve,
    w_est_bytes: u64,
    /// What is left of the quotients by which cwnd and W_est grow.
    cwnd_remainder: u64,
    w_est_remainder: u64,
}

impl CongestionControl for Cubic {
    const NAME: &str = "cubic";
    const ABOUT: Option<&str> = Some("CUBIC of RFC 9438");
    const VARIANT: Option<&str> =
        Some("The recovery of SACK with a window that grows as a cubic of time (RFC 9438).");

    const KEYS: &[Key] = &[FAST_CONVERGENCE, CUBIC_RULES];

    // Linux has HyStart in net/ipv4/tcp_cubic.c. That of RFC 9406 is for any slow start.
    const RESERVES: &[Reserved] = &[Reserved { preset: "linux", keys: &["hystart", "hystart_rules"] }];

    const FOLLOWS_PACKETS: bool = false;

    fn new(settings: &Settings) -> Cubic {
        let fast_convergence = settings.own.is_on(&FAST_CONVERGENCE);
        let law = Cubic::with(settings.initial_ssthresh_bytes, fast_convergence, settings.abe);
        Cubic { marks_leave_one_segment: settings.marks_leave_one_segment, ..law }
    }

    fn start(&mut self, smss_bytes: u64, initial_window_bytes: u64) {
        self.smss_bytes = smss_bytes;
        self.cwnd_bytes = initial_window_bytes.max(smss_bytes);
    }

    /// The curve of a stage is in segments: with another size a stage begins anew, towards the same W_max.
    fn set_smss(&mut self, bytes: u64) {
        if bytes != self.smss_bytes {
            self.course.stage = None;
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

    #[inline(always)]
    fn on_ack(&mut self, ack: &Ack) {
        if !ack.may_grow {
            return;
        }
        let in_use = ack.in_use_bytes.saturating_mul(2) >= self.cwnd_bytes;
        if self.cwnd_bytes < self.ssthresh_bytes {
            if in_use {
                let room = self.ssthresh_bytes - self.cwnd_bytes;
                self.cwnd_bytes += ack.bytes.min(ack.most_segments * self.smss_bytes).min(room);
            }
            return;
        }
        self.avoid_congestion(ack, in_use);
    }

    fn on_congestion(&mut self, cause: Cause) {
        match cause {
            Cause::FastRetransmit { flight_bytes } => {
                self.end_stage();
                self.reduce(flight_bytes);
                self.cwnd_bytes = self.ssthresh_bytes;
            }
            Cause::EcnEcho { flight_bytes } => {
                self.end_stage();
                self.reduce(flight_bytes);
                let left_bytes = match self.abe {
                    true => fraction(flight_bytes, 17, 20),
                    false => fraction(flight_bytes, 7, 10),
                };
                let (ssthresh_bytes, most_bytes) =
                    left_by_mark(left_bytes, self.smss_bytes, self.marks_leave_one_segment);
                self.ssthresh_bytes = ssthresh_bytes;
                self.cwnd_bytes = self.cwnd_bytes.min(most_bytes);
            }
            Cause::GoBack { flight_bytes } => {
                self.reduce(flight_bytes);
                self.restart();
            }
            Cause::Timeout { flight_bytes, repeated, repairing } => {
                let most_bytes = if repairing { self.ssthresh_bytes } else { u64::MAX };
                if !repeated {
                    self.reduce(flight_bytes);
                    self.ssthresh_bytes = self.ssthresh_bytes.min(most_bytes);
                }
                self.restart();
            }
            Cause::Idle { restart_window_bytes, least_ssthresh_bytes } => {
                self.ssthresh_bytes = self.ssthresh_bytes.max(least_ssthresh_bytes);
                if restart_window_bytes < self.cwnd_bytes {
                    self.cwnd_bytes = restart_window_bytes.max(self.smss_bytes);
                    self.course.stage = None;
                }
            }
        }
    }

    fn leave_slow_start(&mut self) {
        self.ssthresh_bytes = self.cwnd_bytes;
    }

    fn on_recovered(&mut self, cwnd_bytes: u64) {
        self.cwnd_bytes = cwnd_bytes.max(self.smss_bytes);
    }

    /// Sending goes on after a time with nothing in flight.
    fn on_idle_end(&mut self, now: Time, _last_sent_at: Time) {
        if let Some(stage) = &mut self.course.stage {
            stage.counted_to = stage.counted_to.max(now);
        }
    }
}

impl Cubic {
    /// A law that waits for [`CongestionControl::start`]; `ssthresh_bytes` of `None` is arbitrarily high.
    fn with(ssthresh_bytes: Option<u64>, fast_convergence: bool, abe: bool) -> Cubic {
        Cubic {
            fast_convergence,
            abe,
            marks_leave_one_segment: false,
            cwnd_bytes: 1,
            ssthresh_bytes: ssthresh_bytes.unwrap_or(u64::MAX),
            smss_bytes: 1,
            course: Box::new(Course { w_max_bytes: None, cwnd_prior_bytes: 0, stage: None }),
        }
    }

    /// The window grows by the cubic, if it is in use.
    #[inline(never)]
    fn avoid_congestion(&mut self, ack: &Ack, in_use: bool) {
        if self.course.stage.is_none() {
            self.begin_stage(ack.now);
        }
        let Course { cwnd_prior_bytes, stage: Some(stage), .. } = &mut *self.course else { return };
        let since = ack.now.since(stage.counted_to);
        stage.counted_to = ack.now;
        if in_use {
            stage.elapsed += since;
            self.cwnd_bytes = stage.grow(ack, self.cwnd_bytes, *cwnd_prior_bytes);
        }
    }

    #[cold]
    fn begin_stage(&mut self, now: Time) {
        let cwnd_epoch = self.cwnd_bytes;
        let w_max_bytes = self.course.w_max_bytes.map_or(cwnd_epoch, |w_max| w_max.max(cwnd_epoch));
        self.course.w_max_bytes = Some(w_max_bytes);
        self.course.stage = Some(Stage {
            elapsed: Span::ZERO,
            counted_to: now,
            cubic: Curve::new(w_max_bytes, cwnd_epoch, self.smss_bytes),
            w_est_bytes: cwnd_epoch,
            cwnd_remainder: 0,
            w_est_remainder: 0,
        });
    }

    /// A reduction ends the stage: W_max.
    fn end_stage(&mut self) {
        self.course.w_max_bytes = Some(match self.course.w_max_bytes {
            // (1 + beta) / 2 = 17/20.
            Some(w_max) if self.fast_convergence && self.cwnd_bytes < w_max => {
                fraction(self.cwnd_bytes, 17, 20)
            }
            _ => self.cwnd_bytes,
        });
        self.course.stage = None;
    }

    /// beta = 0.7.
    fn reduce(&mut self, flight_bytes: u64) {
        self.ssthresh_bytes = fraction(flight_bytes, 7, 10).max(2 * self.smss_bytes);
        self.course.cwnd_prior_bytes = self.cwnd_bytes;
    }

    fn restart(&mut self) {
        self.cwnd_bytes = self.smss_bytes;
        self.course.w_max_bytes = None;
        self.course.stage = None;
    }
}

impl Stage {
    /// The window after an ACK, of which `elapsed` tells the time.
    #[inline]
    fn grow(&mut self, ack: &Ack, cwnd: u64, cwnd_prior: u64) -> u64 {
        let smss = self.cubic.smss_bytes;
        let usable = cwnd - cwnd % smss;
        // In seventeenths: alpha is 9/17, or 1.
        let alpha = if self.w_est_bytes < cwnd_prior { 9 } else { 17 };
        let grown = quotient(alpha * smss, ack.bytes, &mut self.w_est_remainder, 17 * usable);
        self.w_est_bytes = self.w_est_bytes.saturating_add(grown);
        if cwnd < self.w_est_bytes && self.cubic.at(self.elapsed) < self.w_est_bytes {
            return self.w_est_bytes;
        }
        let next_round = self.elapsed + ack.srtt.unwrap_or(Span::ZERO);
        let target = self.cubic.at(next_round).min(cwnd + cwnd / 2);
        cwnd + quotient(target.saturating_sub(cwnd), ack.bytes, &mut self.cwnd_remainder, usable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at_ms(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    /// A law with segments of 1000 bytes, reduced from a full window of `w_max` and recovered.
    fn reduced(w_max: u64, fast_convergence: bool) -> Cubic {
        let mut law = Cubic::with(None, fast_convergence, false);
        law.start(1000, w_max);
        lose(&mut law);
        law
    }

    fn lose(law: &mut Cubic) {
        law.on_congestion(Cause::FastRetransmit { flight_bytes: law.cwnd_bytes() });
        law.on_recovered(law.ssthresh_bytes());
    }

    /// An ACK for the whole segments of the window; the round trip takes `rtt_ms`.
    fn ack_window(law: &mut Cubic, ms: u64, rtt_ms: u64) -> u64 {
        let in_use_bytes = law.cwnd_bytes();
        let bytes = in_use_bytes - in_use_bytes % 1000;
        law.on_ack(&Ack {
            bytes,
            in_use_bytes,
            now: at_ms(ms),
            srtt: Some(Span::from_ms(rtt_ms)),
            ..Ack::default()
        });
        law.cwnd_bytes()
    }

    #[test]
    fn a_mark_reduces_as_a_loss_does_or_by_less() {
        for (abe, left) in [(false, 7000), (true, 8500)] {
            let mut law = Cubic::with(None, true, abe);
            law.start(1000, 10_000);
            law.on_congestion(Cause::EcnEcho { flight_bytes: 10_000 });
            assert_eq!((law.cwnd_bytes(), law.ssthresh_bytes()), (left, left));
            assert_eq!(law.course.w_max_bytes, Some(10_000));
        }
    }

    #[test]
    fn concave_up_to_the_maximum_then_flat_then_convex() {
        let mut law = reduced(36_000, true);
        assert_eq!((law.cwnd_bytes(), law.ssthresh_bytes()), (25_200, 25_200));
        // The stage begins: W_cubic(0) = 25200 is below W_est = 25200 + 1000 x 9/17 = 25729.
        assert_eq!(ack_window(&mut law, 7000, 500), 25_729);
        // After a second, each ACK of a whole window leads to W_cubic(t + 0.5 s) = 36 - 0.4 (2.5 - t)^3. t =
        // 1: 36 - 0.4 x 3.375 = 34.65; t = 2: 36 - 0.05; t = 2.5: 36; t = 3: 36.05; t = 5: 36 + 0.4 x 15.625.
        assert_eq!(ack_window(&mut law, 8000, 500), 34_650);
        assert_eq!(ack_window(&mut law, 9000, 500), 35_950);
        assert_eq!(ack_window(&mut law, 9500, 500), 36_000);
        assert_eq!(ack_window(&mut law, 10_000, 500), 36_050);
        assert_eq!(ack_window(&mut law, 12_000, 500), 42_250);
        // t = 13: 36 + 0.4 x 1157.6 = 499; half of the window more is the most.
        assert_eq!(ack_window(&mut law, 20_000, 500), 42_250 + 21_125);
    }

    #[test]
    fn segments_of_another_size_begin_a_stage_towards_the_same_maximum() {
        let mut law = reduced(36_000, true);
        assert_eq!(ack_window(&mut law, 7000, 500), 25_729);
        law.set_smss(1000);
        assert!(law.course.stage.is_some(), "the size is the same");
        law.set_smss(500);
        ack_window(&mut law, 7500, 500);
        // cbrt((36000 - 25729) / 500 / 0.4) = cbrt(51.355) s.
        let curve =
            law.course.stage.map(|stage| (stage.cubic.w_max_bytes, stage.cubic.k, stage.cubic.smss_bytes));
        assert_eq!(curve, Some((36_000, Span::from_us(3_717_014), 500)));
    }

    #[test]
    fn growth_is_by_bytes_not_by_acks() {
        let grown = |bytes_an_ack: u64| {
            let mut law = reduced(100_000, true);
            for ms in 0..10 {
                for _ in 0..70_000 / bytes_an_ack {
                    let in_use_bytes = law.cwnd_bytes();
                    let srtt = Some(Span::from_ms(100));
                    law.on_ack(&Ack {
                        bytes: bytes_an_ack,
                        in_use_bytes,
                        now: at_ms(ms * 100),
                        srtt,
                        ..Ack::default()
                    });
                }
            }
            law.cwnd_bytes()
        };
        // W_cubic(1 s) = 100 - 0.4 x 3.217163^3 = 86.681; a delay of 2 segments in 70 is nearly nothing to
        // it.
        let (each, second) = (grown(1000), grown(2000));
        assert!((84_000..=86_681).contains(&each), "{each}");
        assert!(each.abs_diff(second) <= 200, "{each} and {second}");
    }

    #[test]
    fn fast_convergence_lowers_the_maximum() {
        for (fast_convergence, w_max) in [(true, 21_420), (false, 25_200)] {
            let mut law = reduced(36_000, fast_convergence);
            assert_eq!(law.course.w_max_bytes, Some(36_000));
            // Again, before the window has come up to 36000: 25200 x 0.85 = 21420; cwnd = 25200 x
            // 0.7 = 17640.
            lose(&mut law);
            assert_eq!((law.course.w_max_bytes, law.cwnd_bytes()), (Some(w_max), 17_640));
        }
        // A window above the maximum before is the maximum.
        let mut law = reduced(36_000, true);
        law.cwnd_bytes = 36_001;
        lose(&mut law);
        assert_eq!(law.course.w_max_bytes, Some(36_001));
    }

    #[test]
    fn the_reno_friendly_region_grows_by_nine_seventeenths_then_by_a_segment() {
        let mut law = reduced(10_000, true);
        // Round trips of 10 ms: 0.3 s after the reduction the cubic has come to 10 - 0.4 x 1.657^3 = 8.18
        // segments.
        let grown: Vec<u64> = (0..9).map(|round| ack_window(&mut law, 10 * round, 10)).collect();
        // 7000 + n x 529.41 up to 10176, which is not below the 10000 before the reduction; 1000 more from
        // there.
        let exact = [7529, 8058, 8588, 9117, 9647, 10_176, 11_176, 12_176, 13_176];
        for (got, exact) in grown.iter().zip(exact) {
            assert!(got.abs_diff(exact) <= 1, "{grown:?}");
        }
    }

    #[test]
    fn a_timeout_forgets_the_maximum() {
        let mut law = reduced(36_000, true);
        law.on_congestion(Cause::Timeout { flight_bytes: 20_000, repeated: false, repairing: false });
        assert_eq!((law.cwnd_bytes(), law.ssthresh_bytes()), (1000, 14_000));
        law.on_congestion(Cause::Timeout { flight_bytes: 1000, repeated: true, repairing: false });
        assert_eq!((law.cwnd_bytes(), law.ssthresh_bytes()), (1000, 14_000));
        law.cwnd_bytes = 14_000;
        // K = 0, W_max = 14000: the cubic is convex at once. W_cubic(1.5 + 0.5) = 14 + 0.4 x 8 = 17.2.
        assert_eq!(ack_window(&mut law, 5000, 500), 14_529);
        assert_eq!(ack_window(&mut law, 6500, 500), 17_200);
    }

    #[test]
    fn marks_may_leave_one_segment() {
        let mut law = Cubic::new(&Settings { marks_leave_one_segment: true, ..Settings::default() });
        law.start(1000, 3000);
        for (flight_bytes, left, ssthresh) in [(3000, 2100, 2100), (2000, 1400, 2000), (1000, 1000, 2000)] {
            law.on_congestion(Cause::EcnEcho { flight_bytes });
            assert_eq!((law.cwnd_bytes(), law.ssthresh_bytes()), (left, ssthresh));
        }
    }

    #[test]
    fn a_reduction_leaves_two_segments_at_least() {
        let mut law = Cubic::with(None, true, false);
        law.start(1000, 2000);
        lose(&mut law);
        assert_eq!((law.cwnd_bytes(), law.ssthresh_bytes()), (2000, 2000));
    }

    #[test]
    fn a_needless_reduction_is_undone_unless_the_window_has_outgrown_the_old_one() {
        let before = reduced(36_000, true);
        let mut law = before.clone();
        lose(&mut law);
        law.undo(before.clone());
        assert_eq!((law.cwnd_bytes(), law.ssthresh_bytes()), (25_200, 25_200));
        assert_eq!(law.course.w_max_bytes, Some(36_000));
        assert_eq!(law.course.cwnd_prior_bytes, 36_000);
        lose(&mut law);
        law.on_recovered(25_201);
        law.undo(before);
        assert_eq!((law.cwnd_bytes(), law.ssthresh_bytes()), (25_201, 17_640));
    }

    #[test]
    fn a_timeout_while_repairing_does_not_raise_the_threshold() {
        let mut law = Cubic::with(None, true, false);
        law.start(1000, 20_000);
        law.on_congestion(Cause::FastRetransmit { flight_bytes: 20_000 });
        law.on_congestion(Cause::Timeout { flight_bytes: 28_000, repeated: false, repairing: true });
        assert_eq!((law.cwnd_bytes(), law.ssthresh_bytes()), (1000, 14_000));
        law.on_congestion(Cause::Timeout { flight_bytes: 28_000, repeated: false, repairing: false });
        assert_eq!(law.ssthresh_bytes(), 19_600);
    }

    #[test]
    fn without_a_reduction_the_first_stage_is_convex() {
        let mut law = Cubic::with(Some(10_000), true, false);
        law.start(1000, 10_000);
        // Nothing has been reduced, so W_est grows by a segment at once.
        assert_eq!(ack_window(&mut law, 0, 500), 11_000);
        // 10 + 0.4 x 2.5^3 = 16.25.
        assert_eq!(ack_window(&mut law, 2000, 500), 16_250);
    }

    #[test]
    fn time_out_of_use_does_not_count() {
        let mut law = reduced(36_000, true);
        ack_window(&mut law, 0, 500);
        assert_eq!(ack_window(&mut law, 1000, 500), 34_650);
        // An hour with less than half of it in use.
        for second in 2..3600 {
            let srtt = Some(Span::from_ms(500));
            law.on_ack(&Ack {
                bytes: 1000,
                in_use_bytes: 17_000,
                now: at_ms(second * 1000),
                srtt,
                ..Ack::default()
            });
        }
        assert_eq!(law.cwnd_bytes(), 34_650);
        // And an hour of nothing.
        law.on_idle_end(at_ms(7_199_500), at_ms(3_600_000));
        // t = 1.5: the last half second counts. 36 - 0.4 x 1.
        assert_eq!(ack_window(&mut law, 7_200_000, 500), 35_600);
    }

    #[test]
    fn a_restart_from_a_smaller_window_begins_a_stage() {
        let mut law = reduced(36_000, true);
        ack_window(&mut law, 0, 500);
        law.on_congestion(Cause::Idle { restart_window_bytes: 40_000, least_ssthresh_bytes: 0 });
        assert!(law.course.stage.is_some());
        law.on_congestion(Cause::Idle { restart_window_bytes: 10_000, least_ssthresh_bytes: 0 });
        assert_eq!((law.cwnd_bytes(), law.ssthresh_bytes()), (10_000, 25_200));
        // Slow start up to the threshold, then the way to the same maximum.
        assert_eq!(ack_window(&mut law, 60_000, 500), 11_000);
        law.cwnd_bytes = 25_200;
        ack_window(&mut law, 70_000, 500);
        assert_eq!(ack_window(&mut law, 71_000, 500), 34_650);
    }

    proptest! {
        /// Nothing overflows, and the window holds a segment, whatever happens.
        #[test]
        fn any_sequence_of_events_is_borne(
            smss in 1u64..65_536,
            initial in any::<u32>(),
            events in prop::collection::vec((0u8..7, any::<u64>(), any::<u64>()), 0..60),
        ) {
            let mut law = Cubic::with(None, true, false);
            law.start(smss, u64::from(initial) * smss);
            let mut now = 0u64;
            for (what, a, b) in events {
                let flight_bytes = a >> 24;
                match what {
                    0 => law.on_congestion(Cause::FastRetransmit { flight_bytes }),
                    1 => law.on_congestion(Cause::Timeout { flight_bytes, repeated: b % 2 == 0, repairing: b % 3 == 0 }),
                    2 => law.on_congestion(Cause::Idle { restart_window_bytes: flight_bytes, least_ssthresh_bytes: 0 }),
                    3 => law.on_recovered(law.ssthresh_bytes().min(a)),
                    4 => law.on_idle_end(Time::from_ns(now), Time::ZERO),
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
