//! Vegas' window: Brakmo, O'Malley and Peterson (SIGCOMM 1994) sections 3.2 and 3.3, Brakmo and Peterson
//! (IEEE JSAC 13(8), 1995) sections III.B and III.C.
//!
//! A round trip lasts from the sending of a segment to the ACK that covers it. With the octets sent meanwhile
//! (what is in transit), the round-trip time R which that ACK measures, and the smallest one measured so far,
//! B:
//!
//! ```text
//! Expected = sent / B      Actual = sent / R      Diff = (Expected - Actual) B = sent (1 - B / R)
//! ```
//!
//! Diff is what the connection has in the path's queues. At the end of a round trip:
//! - congestion avoidance: Diff < alpha segments, cwnd += SMSS; Diff > beta, cwnd -= SMSS; else cwnd stays;
//! - slow start (cwnd < ssthresh) lets cwnd grow as RFC 5681's in one round trip and holds it in the next, at
//!   whose end Diff means something: above gamma segments slow start is over, cwnd -= cwnd / 8, ssthresh =
//!   cwnd.
//!
//! Losses, where the papers are brief, as Hengartner, Bolliger and Gross, "TCP Vegas Revisited" (INFOCOM
//! 2000), found them in the authors' implementation: a loss that ACKs tell of, cwnd -= cwnd / 4 (which losses
//! ask for it is for detection to say); a timeout, cwnd = 2 SMSS, and ssthresh as in RFC 5681. The eighth at
//! the end of slow start is ns-2's, which follows that implementation. cwnd is never below 2 SMSS, and grows
//! only while at most 2 SMSS of it are unused. ssthresh follows cwnd down, so that slow start comes back only
//! after a timeout or an idle time.
//!
//! A round trip without a measurement (Karn) decides nothing: cwnd stays, or slow start goes on. Not
//! modelled: the authors' burst avoidance (at most three segments at a time) and spike suppression; a path
//! that has become longer is taken for a queue.

use roamsim_engine::Span;

use super::keys::{Fault, Key, Own, Refusal, Table, Value};
use super::{Ack, Cause, CongestionControl, Settings};

/// The table of the thresholds.
const THRESHOLDS: Table = Table {
    name: "vegas",
    about: "The thresholds of `vegas`, and of no other congestion control. Left out: its defaults.",
    about_keys: "Vegas' thresholds: how many segments a connection keeps in the queues of its path.",
};

/// Below it the window grows.
pub const ALPHA: Key = Key {
    table: Some(&THRESHOLDS),
    name: "alpha",
    about: "With fewer segments in the queues, the window grows by one a round trip. Default: Brakmo and Peterson \
            1995, section III.B.",
    value: Value::Number { default: 2 },
};

/// Above it the window shrinks.
pub const BETA: Key = Key {
    table: Some(&THRESHOLDS),
    name: "beta",
    about: "With more segments, the window shrinks by one a round trip. Default: Brakmo and Peterson 1995, section \
            III.B.",
    value: Value::Number { default: 4 },
};

/// Above it slow start ends.
pub const GAMMA: Key = Key {
    table: Some(&THRESHOLDS),
    name: "gamma",
    about: "With more segments, slow start ends. Default chosen: 1, as in ns-2 and Linux.",
    value: Value::Number { default: 1 },
};

/// Vegas' thresholds, in segments of SMSS octets: what a connection keeps in the path's queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VegasThresholds {
    /// Below it the window grows, once a round trip. At least one.
    pub alpha: u32,
    /// Above it the window shrinks, once a round trip. At least `alpha`.
    pub beta: u32,
    /// Above it slow start ends.
    pub gamma: u32,
}

impl Default for VegasThresholds {
    fn default() -> VegasThresholds {
        VegasThresholds::of(&Own::default())
    }
}

impl VegasThresholds {
    fn of(own: &Own) -> VegasThresholds {
        let [alpha, beta, gamma] = [ALPHA, BETA, GAMMA].map(|key| own.value(&key));
        VegasThresholds { alpha, beta, gamma }
    }
}

/// The state of the law.
#[derive(Clone, Copy, Debug)]
#[repr(C)] // cwnd and ssthresh at the same place in every law: reading them needs no branch
pub struct Vegas {
    cwnd_bytes: u64,
    ssthresh_bytes: u64,
    smss_bytes: u64,
    thresholds: VegasThresholds,
    /// The smallest round-trip time so far; the longest span before there is one.
    base_rtt: Span,
    /// The ACK that covers this octet ends the round trip; `None` before the next ACK begins one.
    round_start: Option<u64>,
    /// Slow start grows in this round trip; it holds the window in the next.
    grows: bool,
}

impl CongestionControl for Vegas {
    const NAME: &str = "vegas";
    const ABOUT: Option<&str> = Some("Vegas (Brakmo and Peterson 1995)");
    const VARIANT: Option<&str> = Some(
        "A window that follows the round-trip time, and fine-grained timers that retransmit on the first duplicate \
         acknowledgement (Brakmo and Peterson 1995).",
    );

    const KEYS: &[Key] = &[ALPHA, BETA, GAMMA];

    const REFUSES: &[Refusal] = &[
        Refusal {
            key: "abe",
            message: "`abe` has no effect with `vegas`, which shrinks by a quarter",
            help: "leave it out, or choose another variant",
        },
        Refusal {
            key: "ecn_min_window",
            message: "`vegas` leaves two segments",
            help: "leave it out, or choose another variant",
        },
        Refusal {
            key: "hystart",
            message: "`vegas` leaves slow start by a rule of its own",
            help: "leave it out, or choose another variant",
        },
    ];

    fn fault(own: &Own) -> Option<Fault> {
        let VegasThresholds { alpha, beta, .. } = VegasThresholds::of(own);
        if alpha == 0 {
            let message = "with `alpha` of zero the window never grows again".to_owned();
            let help = "write 1 or more, at most `beta`; Brakmo and Peterson have 2";
            return Some(Fault { key: &ALPHA, message, help });
        }
        (alpha > beta).then(|| Fault {
            // Point at the one that the user wrote.
            key: if own.get(&ALPHA).is_some() { &ALPHA } else { &BETA },
            message: format!("`alpha`, {alpha}, is above `beta`, {beta}"),
            help: "the window grows below `alpha` and shrinks above `beta`; write for example { alpha = 2, beta = 4 }",
        })
    }

    fn new(settings: &Settings) -> Vegas {
        Vegas::with(VegasThresholds::of(&settings.own), settings.initial_ssthresh_bytes)
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

    #[inline(never)]
    fn on_ack(&mut self, ack: &Ack) {
        if !ack.may_grow {
            return;
        }
        if let Some(rtt) = ack.rtt {
            self.base_rtt = self.base_rtt.min(rtt);
        }
        let in_use = ack.in_use_bytes + 2 * self.smss_bytes >= self.cwnd_bytes;
        match self.round_start {
            Some(start) if ack.snd_una <= start => {}
            Some(start) => {
                self.end_round(self.diff_bytes(ack.snd_nxt - start, ack.rtt), in_use);
                self.round_start = Some(ack.snd_nxt);
            }
            None => {
                self.grows = true;
                self.round_start = Some(ack.snd_nxt);
            }
        }
        if self.grows && in_use && self.cwnd_bytes < self.ssthresh_bytes {
            let room = self.ssthresh_bytes - self.cwnd_bytes;
            self.cwnd_bytes += ack.bytes.min(ack.most_segments * self.smss_bytes).min(room);
        }
    }

    fn on_congestion(&mut self, cause: Cause) {
        match cause {
            Cause::FastRetransmit { .. } => self.shrink(self.cwnd_bytes / 4),
            Cause::EcnEcho { .. } => {
                self.shrink(self.cwnd_bytes / 4);
                // Acknowledgements with ECE are not seen here: the round ends, another begins behind them.
                self.round_start = None;
            }
            Cause::GoBack { flight_bytes } => {
                self.ssthresh_bytes = self.half_of(flight_bytes);
                self.restart();
            }
            Cause::Timeout { flight_bytes, repeated, repairing } => {
                let most_bytes = if repairing { self.ssthresh_bytes } else { u64::MAX };
                if !repeated {
                    self.ssthresh_bytes = self.half_of(flight_bytes).min(most_bytes);
                }
                self.restart();
            }
            Cause::Idle { restart_window_bytes, .. } => {
                self.cwnd_bytes = self.cwnd_bytes.min(restart_window_bytes).max(self.smss_bytes);
                self.round_start = None;
            }
        }
    }

    fn on_recovered(&mut self, cwnd_bytes: u64) {
        self.cwnd_bytes = cwnd_bytes.max(self.smss_bytes);
    }
}

impl Vegas {
    /// A law that waits for [`CongestionControl::start`]; `ssthresh_bytes` of `None` is arbitrarily high.
    fn with(thresholds: VegasThresholds, ssthresh_bytes: Option<u64>) -> Vegas {
        Vegas {
            cwnd_bytes: 1,
            ssthresh_bytes: ssthresh_bytes.unwrap_or(u64::MAX),
            smss_bytes: 1,
            thresholds,
            base_rtt: Span::MAX,
            round_start: None,
            grows: true,
        }
    }

    /// Octets in the queues: `None` without a measurement of the round trip.
    fn diff_bytes(&self, sent_bytes: u64, rtt: Option<Span>) -> Option<u64> {
        let (rtt, base_rtt) = (rtt?.as_ns(), self.base_rtt.as_ns());
        let diff = u128::from(sent_bytes) * u128::from(rtt - base_rtt);
        Some(diff.checked_div(u128::from(rtt)).unwrap_or(0) as u64)
    }

    fn end_round(&mut self, diff_bytes: Option<u64>, in_use: bool) {
        let segments = |count: u32| u64::from(count) * self.smss_bytes;
        let above = |count: u32| diff_bytes.is_some_and(|diff| diff > segments(count));
        let below = |count: u32| diff_bytes.is_some_and(|diff| diff < segments(count));
        if self.cwnd_bytes < self.ssthresh_bytes {
            if !self.grows && above(self.thresholds.gamma) {
                self.shrink(self.cwnd_bytes / 8);
            }
            self.grows = !self.grows;
        } else if above(self.thresholds.beta) {
            self.shrink(self.smss_bytes);
        } else if below(self.thresholds.alpha) && in_use {
            self.cwnd_bytes += self.smss_bytes;
        }
    }

    /// Less by `bytes`, and no slow start up to where the window was.
    fn shrink(&mut self, bytes: u64) {
        let least_bytes = self.cwnd_bytes.min(2 * self.smss_bytes);
        self.cwnd_bytes = (self.cwnd_bytes - bytes).max(least_bytes);
        self.ssthresh_bytes = self.ssthresh_bytes.min(self.cwnd_bytes);
    }

    fn half_of(&self, flight_bytes: u64) -> u64 {
        (flight_bytes / 2).max(2 * self.smss_bytes)
    }

    /// Everything is sent anew, from two segments on.
    fn restart(&mut self) {
        self.cwnd_bytes = 2 * self.smss_bytes;
        self.round_start = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One round trip of a window in use: ACKs of 1000 octets each, of which the last ends the round.
    struct Rounds {
        law: Vegas,
        snd_una: u64,
        snd_nxt: u64,
    }

    impl Rounds {
        fn new(cwnd: u64, ssthresh: Option<u64>) -> Rounds {
            let mut law = Vegas::with(VegasThresholds::default(), ssthresh);
            law.start(1000, cwnd);
            let mut rounds = Rounds { law, snd_una: 1, snd_nxt: 1 + cwnd };
            rounds.ack(Some(100));
            rounds
        }

        fn ack(&mut self, rtt_ms: Option<u64>) {
            self.snd_una += 1000;
            self.law.on_ack(&Ack {
                bytes: 1000,
                in_use_bytes: self.law.cwnd_bytes,
                rtt: rtt_ms.map(Span::from_ms),
                snd_una: self.snd_una,
                snd_nxt: self.snd_nxt,
                ..Ack::default()
            });
            self.snd_nxt = self.snd_una + self.law.cwnd_bytes;
        }

        /// ACKs until the one that ends the round, which measures `rtt_ms`; the window then.
        fn round(&mut self, rtt_ms: Option<u64>) -> u64 {
            let start = self.law.round_start.unwrap();
            while self.snd_una < start {
                self.ack(Some(100));
            }
            self.ack(rtt_ms);
            self.law.cwnd_bytes
        }
    }

    #[test]
    fn congestion_avoidance_keeps_two_to_four_segments_in_the_queues() {
        let mut rounds = Rounds::new(20_000, Some(20_000));
        // 20 segments: 20 (1 - 100 / 111) = 1.98; 21 (1 - 100 / 110) = 1.91; 22 (1 - 100 / 110) = 2.
        assert_eq!(rounds.round(Some(111)), 21_000);
        assert_eq!(rounds.round(Some(110)), 22_000);
        assert_eq!(rounds.round(Some(110)), 22_000);
        // 22 (1 - 100 / 122) = 3.97; 22 (1 - 100 / 123) = 4.11; 21 (1 - 100 / 124) = 4.06.
        assert_eq!(rounds.round(Some(122)), 22_000);
        assert_eq!(rounds.round(Some(123)), 21_000);
        assert_eq!(rounds.round(Some(124)), 20_000);
        // Nothing measured: nothing decided.
        assert_eq!(rounds.round(None), 20_000);
        assert_eq!(rounds.law.ssthresh_bytes(), 20_000);
    }

    #[test]
    fn slow_start_grows_in_every_other_round_trip() {
        let mut rounds = Rounds::new(4000, None);
        // The rest of the first window's ACKs; the round that follows holds.
        assert_eq!(rounds.round(Some(100)), 8000);
        // The ACK that ends it is the first of a round that grows.
        assert_eq!(rounds.round(Some(100)), 9000);
        // What is measured in a round that grows decides nothing.
        assert_eq!(rounds.round(Some(300)), 16_000);
        // 16 (1 - 100 / 106) = 0.91.
        assert_eq!(rounds.round(Some(106)), 17_000);
        assert_eq!(rounds.round(Some(100)), 32_000);
        // 32 (1 - 100 / 104) = 1.23: an eighth less.
        assert_eq!(rounds.round(Some(104)), 28_000);
        assert_eq!(rounds.law.ssthresh_bytes(), 28_000);
        // From here on a segment a round trip.
        assert_eq!(rounds.round(Some(100)), 29_000);
        assert_eq!(rounds.round(Some(100)), 30_000);
    }

    #[test]
    fn the_cause_decides() {
        let mut law = Rounds::new(10_000, None).law;
        law.on_congestion(Cause::FastRetransmit { flight_bytes: 4000 });
        // 11 segments after the first ACK; a quarter less.
        assert_eq!((law.cwnd_bytes(), law.ssthresh_bytes()), (8250, 8250));
        law.on_congestion(Cause::Timeout { flight_bytes: 7000, repeated: false, repairing: false });
        assert_eq!((law.cwnd_bytes(), law.ssthresh_bytes()), (2000, 3500));
        law.on_congestion(Cause::Timeout { flight_bytes: 1000, repeated: true, repairing: false });
        assert_eq!((law.cwnd_bytes(), law.ssthresh_bytes()), (2000, 3500));
        law.on_congestion(Cause::FastRetransmit { flight_bytes: 2000 });
        assert_eq!((law.cwnd_bytes(), law.ssthresh_bytes()), (2000, 2000));
        law.on_congestion(Cause::Idle { restart_window_bytes: 1000, least_ssthresh_bytes: 0 });
        assert_eq!(law.cwnd_bytes(), 1000);
    }

    #[test]
    fn a_window_not_in_use_does_not_grow() {
        let mut law = Vegas::with(VegasThresholds::default(), None);
        law.start(1000, 10_000);
        let acked = Ack { bytes: 1000, in_use_bytes: 7999, snd_una: 1001, snd_nxt: 8001, ..Ack::default() };
        law.on_ack(&acked);
        assert_eq!(law.cwnd_bytes(), 10_000);
        law.on_ack(&Ack { in_use_bytes: 8000, ..acked });
        assert_eq!(law.cwnd_bytes(), 11_000);
    }
}
