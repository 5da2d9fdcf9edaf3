//! HyStart++: RFC 9406. The first slow start ends when the round trip grows, before a queue overflows.
//!
//! A round lasts until what was sent at its start is acknowledged. Once eight round trips have been measured
//! in it, and the smallest of them is above the smallest of the round before by an eighth (of 4 ms at least,
//! 16 ms at most), conservative slow start begins: the window grows by a quarter of what it would. If the
//! round trip shrinks again within five rounds, slow start goes on; otherwise congestion avoidance begins,
//! with ssthresh at the window. A slow start behind a loss is that of RFC 5681 (section 4.3).
//!
//! An acknowledgement counts eight segments at most, or all where sending is paced.

use roamsim_engine::Span;

/// MIN_RTT_THRESH, MAX_RTT_THRESH and MIN_RTT_DIVISOR.
const LEAST_RISE: Span = Span::from_ms(4);
const MOST_RISE: Span = Span::from_ms(16);
const RISE_DIVISOR: u64 = 8;
/// N_RTT_SAMPLE.
const SAMPLES: u32 = 8;
/// CSS_GROWTH_DIVISOR and CSS_ROUNDS.
const GROWTH_DIVISOR: u64 = 4;
const ROUNDS: u32 = 5;
/// L without pacing.
const MOST_SEGMENTS: u64 = 8;

/// The state of HyStart++.
#[derive(Clone, Copy, Debug)]
pub(in crate::tcp) struct HyStart {
    paced: bool,
    /// The round ends when this is acknowledged.
    window_end: u64,
    samples: u32,
    round_min: Span,
    last_round_min: Span,
    /// In conservative slow start: its baseline, and the rounds it has lasted.
    conservative: Option<(Span, u32)>,
}

/// What an acknowledgement means for the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tcp) struct Growth {
    /// Octets that count of it.
    pub(in crate::tcp) bytes: u64,
    /// Slow start is over behind it.
    pub(in crate::tcp) ends: bool,
}

impl HyStart {
    pub(in crate::tcp) fn new(paced: bool) -> HyStart {
        HyStart {
            paced,
            window_end: 0,
            samples: 0,
            round_min: Span::MAX,
            last_round_min: Span::MAX,
            conservative: None,
        }
    }

    /// An acknowledgement in slow start of `bytes` new octets, up to `snd_una`, which measures `rtt`.
    pub(in crate::tcp) fn on_ack(
        &mut self,
        bytes: u64,
        smss_bytes: u64,
        rtt: Option<Span>,
        snd_una: u64,
        snd_nxt: u64,
    ) -> Growth {
        let mut ends = false;
        if snd_una > self.window_end {
            ends = self.end_round(snd_nxt);
        }
        if let Some(rtt) = rtt {
            self.samples += 1;
            self.round_min = self.round_min.min(rtt);
        }
        let mut bytes = if self.paced { bytes } else { bytes.min(MOST_SEGMENTS * smss_bytes) };
        if self.conservative.is_some() {
            bytes /= GROWTH_DIVISOR;
        }
        if self.samples >= SAMPLES {
            self.look(ends);
        }
        Growth { bytes, ends }
    }

    /// A round has ended; true when conservative slow start has lasted long enough.
    fn end_round(&mut self, snd_nxt: u64) -> bool {
        // The first acknowledgement only begins a round.
        let is_first = self.window_end == 0;
        self.window_end = snd_nxt;
        self.last_round_min = self.round_min;
        self.round_min = Span::MAX;
        self.samples = 0;
        match &mut self.conservative {
            Some((_, rounds)) if !is_first => {
                *rounds += 1;
                *rounds >= ROUNDS
            }
            _ => false,
        }
    }

    /// Whether the round trip has grown, or shrunk again.
    fn look(&mut self, ends: bool) {
        match self.conservative {
            Some((baseline, _)) if self.round_min < baseline && !ends => self.conservative = None,
            Some(_) => {}
            None if self.last_round_min != Span::MAX && self.round_min != Span::MAX => {
                let eighth = Span::from_ns(self.last_round_min.as_ns() / RISE_DIVISOR);
                let rise = eighth.min(MOST_RISE).max(LEAST_RISE);
                if self.round_min >= self.last_round_min + rise {
                    self.conservative = Some((self.round_min, 0));
                }
            }
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rounds of ten acknowledgements of a segment each.
    struct Rounds {
        part: HyStart,
        una: u64,
    }

    impl Rounds {
        fn round(&mut self, rtt_ms: u64) -> Vec<Growth> {
            let next = self.una + 10_000;
            (0..10)
                .map(|_| {
                    self.una += 1000;
                    let rtt = Some(Span::from_ms(rtt_ms));
                    // What is in flight then ends the round.
                    self.part.on_ack(1000, 1000, rtt, self.una, next.max(self.una + 1))
                })
                .collect()
        }
    }

    fn bytes(growth: &[Growth]) -> Vec<u64> {
        growth.iter().map(|growth| growth.bytes).collect()
    }

    #[test]
    fn a_round_trip_that_grows_by_an_eighth_makes_the_growth_conservative_at_the_eighth_sample() {
        let mut rounds = Rounds { part: HyStart::new(false), una: 1 };
        assert_eq!(bytes(&rounds.round(80)), [1000; 10]);
        // 80 / 8 = 10: 89 ms are less than 90.
        assert_eq!(bytes(&rounds.round(89)), [1000; 10]);
        // 89 / 8 = 11.125: 101 ms are more than 100.125.
        let growth = rounds.round(101);
        assert_eq!(bytes(&growth), [1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 250, 250]);
    }

    #[test]
    fn the_smallest_round_trip_of_a_round_counts() {
        let mut rounds = Rounds { part: HyStart::new(false), una: 1 };
        rounds.round(80);
        // Ten samples of 120 ms, but the third has 85: no rise by 10 ms.
        let next = rounds.una + 10_000;
        for sample in 0..10 {
            rounds.una += 1000;
            let rtt = Some(Span::from_ms(if sample == 2 { 85 } else { 120 }));
            let growth = rounds.part.on_ack(1000, 1000, rtt, rounds.una, next.max(rounds.una + 1));
            assert_eq!(growth.bytes, 1000);
        }
    }

    #[test]
    fn five_conservative_rounds_end_slow_start_and_a_shorter_round_trip_resumes_it() {
        let mut rounds = Rounds { part: HyStart::new(false), una: 1 };
        rounds.round(80);
        rounds.round(100);
        let mut ends = Vec::new();
        for _ in 0..5 {
            ends.push(rounds.round(100).iter().any(|growth| growth.ends));
        }
        assert_eq!(ends, [false, false, false, false, true]);
        let mut rounds = Rounds { part: HyStart::new(false), una: 1 };
        rounds.round(80);
        rounds.round(100);
        assert_eq!(bytes(&rounds.round(99))[7..], [250, 1000, 1000]);
    }

    #[test]
    fn the_rise_is_four_to_sixteen_milliseconds() {
        for (first, not_yet, enough) in [(8, 11, 12), (400, 415, 416)] {
            let mut rounds = Rounds { part: HyStart::new(false), una: 1 };
            rounds.round(first);
            assert_eq!(bytes(&rounds.round(not_yet)), [1000; 10]);
            let mut rounds = Rounds { part: HyStart::new(false), una: 1 };
            rounds.round(first);
            assert_eq!(bytes(&rounds.round(enough))[7..], [1000, 250, 250]);
        }
    }

    #[test]
    fn an_acknowledgement_counts_eight_segments_or_all_where_sending_is_paced() {
        for (paced, counted) in [(false, 8000), (true, 20_000)] {
            let mut part = HyStart::new(paced);
            assert_eq!(part.on_ack(20_000, 1000, None, 20_001, 40_001).bytes, counted);
        }
    }
}
