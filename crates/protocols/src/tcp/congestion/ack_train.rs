//! Linux's HyStart: slow start ends when acknowledgements come as a train as long as the path, or the round
//! trip grows (Ha and Rhee, "Taming the elephants: New TCP slow start", 2011).
//!
//! A round lasts until what was sent at its start is acknowledged. With a window of 16 segments or more:
//!
//! - Acknowledgements at most 2 ms apart are a train. If one comes later than half of the smallest round trip
//!   (and of 1 ms) behind the start of its round, the window fills the path. With pacing it is the whole of
//!   both, as segments are up to half a round trip late.
//! - Once eight round trips of a round are measured, their smallest is compared with the smallest of all. If
//!   it is larger by an eighth (4 ms at least, 16 ms at most), a queue has formed.
//!
//! Then ssthresh is the window. It acts in any slow start, also behind a recovery that is undone. After it
//! has ended one, it waits for a timeout, and starts again.
//!
//! Source: Linux 6.12, `net/ipv4/tcp_cubic.c`. What differs:
//! - The millisecond is that of rates up to 2 Gb/s. Above them Linux has less.
//! - Fast recoveries measure nothing, nor do timestamps of retransmissions. With either, goodput over paths
//!   that reorder by 10 or 20 ms is the same within intervals of 0.5 and 5 %.

use roamsim_engine::{Span, Time};

/// hystart_low_window.
const LEAST_SEGMENTS: u64 = 16;
/// hystart_ack_delta_us.
const MOST_APART: Span = Span::from_ms(2);
/// HYSTART_MIN_SAMPLES.
const SAMPLES: u32 = 8;
/// HYSTART_DELAY_MIN and HYSTART_DELAY_MAX.
const LEAST_RISE: Span = Span::from_ms(4);
const MOST_RISE: Span = Span::from_ms(16);
/// What offload and scheduling may delay acknowledgements by (`hystart_ack_delay`).
const ACK_DELAY: Span = Span::from_ms(1);

/// The state of Linux's HyStart.
#[derive(Clone, Copy, Debug)]
pub(in crate::tcp) struct AckTrain {
    paced: bool,
    /// It has ended slow start.
    has_ended: bool,
    /// The round ends when this is acknowledged.
    window_end: u64,
    round_start: Time,
    /// The last acknowledgement of the train.
    last_at: Time,
    least_rtt: Span,
    round_min: Span,
    samples: u32,
}

impl AckTrain {
    pub(in crate::tcp) fn new(paced: bool) -> AckTrain {
        AckTrain {
            paced,
            has_ended: false,
            window_end: 0,
            round_start: Time::ZERO,
            last_at: Time::ZERO,
            least_rtt: Span::MAX,
            round_min: Span::MAX,
            samples: 0,
        }
    }

    /// The retransmission timer has expired, with what lies below `snd_nxt` sent.
    pub(in crate::tcp) fn on_timeout(&mut self, now: Time, snd_nxt: u64) {
        let anew = AckTrain::new(self.paced);
        *self = AckTrain { window_end: snd_nxt, round_start: now, last_at: now, ..anew };
    }

    /// An acknowledgement in slow start up to `snd_una`, which measures `rtt`. True when slow start is over.
    pub(in crate::tcp) fn on_ack(
        &mut self,
        now: Time,
        rtt: Span,
        cwnd_segments: u64,
        snd_una: u64,
        snd_nxt: u64,
    ) -> bool {
        let ends = !self.has_ended && self.finds_end(now, rtt, cwnd_segments, snd_una, snd_nxt);
        self.has_ended |= ends;
        ends
    }

    fn finds_end(&mut self, now: Time, rtt: Span, cwnd_segments: u64, snd_una: u64, snd_nxt: u64) -> bool {
        self.least_rtt = self.least_rtt.min(rtt);
        if snd_una > self.window_end {
            self.window_end = snd_nxt;
            (self.round_start, self.last_at) = (now, now);
            self.round_min = Span::MAX;
            self.samples = 0;
        }
        if cwnd_segments < LEAST_SEGMENTS {
            return false;
        }
        if now.since(self.last_at) <= MOST_APART {
            self.last_at = now;
            let path = self.least_rtt + ACK_DELAY;
            if now.since(self.round_start) > if self.paced { path } else { part(path, 2) } {
                return true;
            }
        }
        self.round_min = self.round_min.min(rtt);
        if self.samples < SAMPLES {
            self.samples += 1;
            return false;
        }
        let rise = part(self.least_rtt, 8).min(MOST_RISE).max(LEAST_RISE);
        self.round_min > self.least_rtt + rise
    }
}

fn part(span: Span, of: u64) -> Span {
    Span::from_ns(span.as_ns() / of)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(us: u64) -> Time {
        Time::ZERO + Span::from_us(us)
    }

    #[test]
    fn it_ends_one_slow_start_and_another_one_behind_a_timeout() {
        let mut part = AckTrain::new(false);
        assert_eq!(train(&mut part, 40_000, 1000, 40, 16), Some(21_000));
        assert_eq!(train(&mut part, 100_000, 1000, 40, 16), None);
        // The first round lasts until all segments from before the timeout are acknowledged. The smallest
        // round trip is another one: half of 60 ms and 1 ms.
        part.on_timeout(us(300_000), 1000);
        assert!(!part.on_ack(us(301_000), Span::from_ms(60), 16, 1000, 1016));
        assert_eq!(train(&mut part, 302_000, 1000, 60, 16), Some(31_000));
    }

    /// Acknowledgements of one round, so far apart; at which time the first of them ends slow start.
    fn train(part: &mut AckTrain, first_us: u64, apart_us: u64, rtt_ms: u64, segments: u64) -> Option<u64> {
        let base = part.window_end;
        (0..60).find_map(|n| {
            let at = first_us + n * apart_us;
            let ends = part.on_ack(us(at), Span::from_ms(rtt_ms), segments, base + 1 + n, base + 60);
            ends.then_some(at - first_us)
        })
    }

    #[test]
    fn a_train_as_long_as_half_the_path_ends_slow_start() {
        // Half of 40 ms and 1 ms: 20.5 ms. 1 ms apart the 21st is later.
        assert_eq!(train(&mut AckTrain::new(false), 40_000, 1000, 40, 16), Some(21_000));
        // With pacing the whole: 41 ms.
        assert_eq!(train(&mut AckTrain::new(true), 40_000, 1000, 40, 16), Some(42_000));
        // 2 ms apart they are a train still; more than that they are none.
        assert_eq!(train(&mut AckTrain::new(false), 40_000, 2000, 40, 16), Some(22_000));
        assert_eq!(train(&mut AckTrain::new(false), 40_000, 2001, 40, 16), None);
        // Below 16 segments nothing ends it.
        assert_eq!(train(&mut AckTrain::new(false), 40_000, 1000, 40, 15), None);
    }

    #[test]
    fn a_round_trip_that_grows_by_an_eighth_ends_slow_start_at_the_ninth_sample() {
        for (least, not_yet, enough) in [(80, 90, 91), (8, 12, 13), (400, 416, 417)] {
            for (rtt, ends) in [(not_yet, None), (enough, Some(8 * 3000))] {
                let mut part = AckTrain::new(false);
                assert_eq!(train(&mut part, 0, 3000, least, 16), None);
                assert_eq!(train(&mut part, 1_000_000, 3000, rtt, 16), ends, "{least} {rtt}");
            }
        }
    }
}
