//! Prague, the window of L4S senders (draft-briscoe-iccrg-prague-congestion-control-04, and its reference
//! implementation `tcp_prague`, version 0.7, where the draft leaves a choice).
//!
//! - As DCTCP, it estimates the share of marked octets: at the end of each round alpha += (share - alpha) /
//!   16. It begins at 0, with the first mark, which halves the window and ends slow start.
//! - A mark, once in a round: the window falls by alpha / 2 of itself.
//! - Octets without a mark let the window grow, also in a round with marks: by a segment a round, or a
//!   segment for each in slow start. So it settles at 2 (1 - p) / p segments for a marked share p.
//! - Independence of the round trip: from the fourth round after slow start on, a round trip below 25 ms
//!   counts as one of 25 ms. The window then grows by (SRTT / 25 ms)^2 of a segment a round, alpha moves at
//!   most once in 25 ms, and the first mark that is 25 ms behind a reduction makes the next. (The reference
//!   implementation also waits for a round of its own to begin, so that a flow of 18 ms reduces every 36 ms.)
//! - The window is kept in octets and fractions of them. cwnd is the next whole number of segments, two at
//!   least, and moves towards it by a segment with each acknowledgement.
//! - Data is paced at the larger of the window and what is in flight, in a round trip; at twice that below
//!   half of ssthresh; at 100 kb/s at least.
//! - A loss halves the window, which then does not grow until it is repaired. Timeouts: as Reno's.
//! - With `classic_queue` it looks for signs of a classic ECN queue ([`Signs`], RFC 9331 section 4.3), and
//!   may fall back: alpha then counts as 0.625 at least (version 0.6 of the reference implementation), so a
//!   mark takes 5/16 of the window, once a round trip. Chosen: short round trips then count as they are, as
//!   with Reno; the reference implementation keeps 25 ms.
//!
//! Not modelled: windows below two segments, which the reference implementation paces with shorter segments,
//! and its rate in place of the window below five segments; bursts shorter than two segments.

use roamsim_engine::{Span, Time};

use super::classic_queue::Signs;
use super::keys::{Key, Refusal, Value};
use super::{Ack, Cause, CongestionControl, Delivery, Settings};

/// The response to classic ECN queues.
pub const CLASSIC_QUEUE: Key = Key {
    table: None,
    name: "classic_queue",
    about: "Prague's response to a classic ECN queue (RFC 3168), which it recognises by long and varying round trips. \
            Default: nothing, as `tcp_prague` (0.6: `prague_ecn_fallback` is 0; 0.7 has no such code). \
            RFC 9331 section 4.3 asks for `monitor` at least outside of controlled environments.",
    value: Value::Word {
        about: "Prague's response to a classic ECN queue.",
        words: &[
            ("ignore", "Nothing."),
            ("monitor", "The trace `states` shows whether round trips look `scalable` or `classic`."),
            (
                "fall_back",
                "Behind a classic queue a mark also takes 31 % of the window, and short round trips count as they are \
                 (arXiv 1911.00710, `tcp_prague` 0.6).",
            ),
        ],
    },
};

/// The values of [`CLASSIC_QUEUE`].
const IGNORE: u32 = 0;
const MONITOR: u32 = 1;
const FALL_BACK: u32 = 2;

/// The least alpha of a reduction behind a classic queue: `prague_classic_ecn_fallback` of `tcp_prague` 0.6.
const CLASSIC_ALPHA: f64 = 0.625;

/// The weight of the last round in alpha.
const ESTIMATION_GAIN: f64 = 1.0 / 16.0;

/// The shortest round trip that counts.
const REFERENCE_RTT: Span = Span::from_ms(25);

/// Rounds after slow start in which short round trips count as they are.
const TRANSITION_ROUNDS: u32 = 4;

/// The slowest pace, 100 kb/s.
const LEAST_BYTES_PER_S: u64 = 12_500;

/// The state of the law.
#[derive(Clone, Debug)]
#[repr(C)] // cwnd and ssthresh at the same place in every law: reading them needs no branch
pub struct Prague {
    cwnd_bytes: u64,
    ssthresh_bytes: u64,
    /// Boxed so that connections with other laws stay small.
    state: Box<State>,
}

#[derive(Clone, Copy, Debug)]
struct State {
    smss_bytes: u64,
    /// The window, with fractions.
    window_bytes: f64,
    /// The share of marked octets; `None` before the first mark.
    alpha: Option<f64>,
    /// When alpha last moved, or this end began.
    alpha_at: Time,
    /// When a mark last reduced the window.
    reduced_at: Option<Time>,
    /// Octets acknowledged in this round, and those of them that were marked.
    acked_bytes: u64,
    marked_bytes: u64,
    /// Those that were marked of the acknowledgement at hand.
    marked_now_bytes: u64,
    /// An acknowledgement of this or more ends the round.
    round_end: u64,
    /// Rounds since slow start has ended.
    rounds: u32,
    /// A loss is being repaired.
    repairing: bool,
    in_flight_bytes: u64,
    srtt: Option<Span>,
    /// Of a classic queue, where they are watched for.
    signs: Option<Signs>,
    falls_back: bool,
}

impl State {
    /// Whether short round trips count as the reference.
    fn is_independent(&self) -> bool {
        self.rounds >= TRANSITION_ROUNDS && self.classic_share() < 1.0
    }

    /// How much of the response is classic.
    fn classic_share(&self) -> f64 {
        self.signs.filter(|_| self.falls_back).map_or(0.0, |signs| signs.classic_share())
    }

    /// By how much of a segment the window grows in a round.
    fn growth(&self) -> f64 {
        match self.srtt {
            Some(srtt) if self.is_independent() && srtt < REFERENCE_RTT => {
                let share = srtt.as_secs_f64() / REFERENCE_RTT.as_secs_f64();
                share * share
            }
            _ => 1.0,
        }
    }

    /// A mark reduces the window, unless one has just done so.
    fn reduce_for_mark(&mut self, now: Time) {
        let pause = self.srtt.map_or(REFERENCE_RTT, |srtt| srtt.max(REFERENCE_RTT));
        if self.is_independent() && self.reduced_at.is_some_and(|at| now.since(at) < pause) {
            return;
        }
        self.reduced_at = Some(now);
        let alpha = self.alpha.unwrap_or(0.0).max(CLASSIC_ALPHA * self.classic_share());
        self.reduce_by(alpha / 2.0);
    }

    /// The window falls by this share of itself, to two segments at least.
    fn reduce_by(&mut self, share: f64) {
        self.window_bytes = (self.window_bytes * (1.0 - share)).max(2.0 * self.smss_bytes as f64);
    }

    /// The window in whole segments.
    fn whole_bytes(&self) -> u64 {
        let segments = (self.window_bytes / self.smss_bytes as f64).ceil() as u64;
        segments * self.smss_bytes
    }
}

impl CongestionControl for Prague {
    const NAME: &str = "prague";
    const ABOUT: Option<&str> = Some("Prague (draft-briscoe-iccrg-prague-congestion-control-04)");
    const VARIANT: Option<&str> = Some(
        "Prague: a window that falls by the share of marked octets and grows by those without a mark, paced, and alike over any round trip below 25 ms (draft-briscoe-iccrg-prague-congestion-control-04). It needs `ecn`.",
    );
    const KEYS: &[Key] = &[CLASSIC_QUEUE];
    const ONLY_TRACED: Option<(&Key, u32)> = Some((&CLASSIC_QUEUE, MONITOR));
    // `tcp_prague` is a control that sets cwnd by itself (`cong_control` of Linux), without PRR.
    const REFUSES: &[Refusal] = &[
        Refusal {
            key: "prr_for_ecn",
            message: "`prague` moves its window by a segment with each acknowledgement",
            help: "leave it out or write false",
        },
        Refusal {
            key: "growth_rules",
            message: "`prague` counts acknowledged octets by itself, with their marks",
            help: "leave it out",
        },
    ];
    const TAKES_SAMPLES: bool = true;
    const COUNTS_MARKS: bool = true;

    fn new(settings: &Settings) -> Prague {
        let classic_queue = settings.own.value(&CLASSIC_QUEUE);
        let state = State {
            smss_bytes: 1,
            window_bytes: 1.0,
            alpha: None,
            alpha_at: Time::ZERO,
            reduced_at: None,
            acked_bytes: 0,
            marked_bytes: 0,
            marked_now_bytes: 0,
            round_end: 0,
            rounds: 0,
            repairing: false,
            in_flight_bytes: 0,
            srtt: None,
            signs: (classic_queue != IGNORE).then(Signs::new),
            falls_back: classic_queue == FALL_BACK,
        };
        let ssthresh_bytes = settings.initial_ssthresh_bytes.unwrap_or(u64::MAX);
        Prague { cwnd_bytes: 1, ssthresh_bytes, state: Box::new(state) }
    }

    fn start(&mut self, smss_bytes: u64, initial_window_bytes: u64) {
        self.state.smss_bytes = smss_bytes;
        self.set_window(initial_window_bytes.max(smss_bytes));
    }

    fn set_smss(&mut self, bytes: u64) {
        self.state.smss_bytes = bytes;
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
        let state = &mut *self.state;
        state.srtt = ack.srtt;
        let marked_bytes = std::mem::take(&mut state.marked_now_bytes);
        let unmarked_bytes = ack.bytes.saturating_sub(marked_bytes);
        // A window that is not in use says nothing of the path (RFC 7661 section 4.2).
        if !state.repairing && ack.in_use_bytes >= self.cwnd_bytes.div_ceil(2) {
            let room = self.ssthresh_bytes.saturating_sub(self.cwnd_bytes);
            if room == 0 {
                let segments = unmarked_bytes as f64 / state.window_bytes;
                state.window_bytes += segments * state.growth() * state.smss_bytes as f64;
            } else if state.window_bytes >= self.cwnd_bytes as f64 {
                // A mark has not ended slow start.
                let most_bytes = ack.most_segments * state.smss_bytes;
                self.cwnd_bytes += unmarked_bytes.min(most_bytes).min(room);
                state.window_bytes = self.cwnd_bytes as f64;
            }
        }
        if marked_bytes > 0 && self.state.is_independent() {
            self.state.reduce_for_mark(ack.now);
        }
        self.step();
        self.end_round(ack);
    }

    fn on_congestion(&mut self, cause: Cause) {
        self.on_congestion_at(cause, Time::ZERO);
    }

    fn on_congestion_at(&mut self, cause: Cause, now: Time) {
        let state = &mut *self.state;
        let (smss_bytes, window_bytes) = (state.smss_bytes, state.window_bytes as u64);
        if let (Cause::EcnEcho { .. } | Cause::FastRetransmit { .. }, Some(signs)) = (cause, &mut state.signs)
        {
            signs.set_window(self.ssthresh_bytes / smss_bytes);
        }
        let half = |bytes: u64| (bytes / 2).max(2 * smss_bytes);
        match cause {
            Cause::EcnEcho { .. } => state.reduce_for_mark(now),
            Cause::FastRetransmit { .. } => {
                state.repairing = true;
                self.ssthresh_bytes = half(window_bytes);
                self.set_window(self.ssthresh_bytes);
            }
            Cause::GoBack { .. } => {
                self.ssthresh_bytes = half(window_bytes);
                self.set_window(smss_bytes);
            }
            Cause::Timeout { flight_bytes, repeated, repairing } => {
                state.repairing = false;
                let most_bytes = if repairing { self.ssthresh_bytes } else { u64::MAX };
                if !repeated {
                    self.ssthresh_bytes = half(flight_bytes).min(most_bytes);
                }
                self.set_window(smss_bytes);
            }
            Cause::Idle { restart_window_bytes, least_ssthresh_bytes } => {
                self.ssthresh_bytes = self.ssthresh_bytes.max(least_ssthresh_bytes);
                self.set_window(self.cwnd_bytes.min(restart_window_bytes).max(smss_bytes));
            }
        }
    }

    fn on_acked_marks(&mut self, acked_bytes: u64, marked: bool, _snd_una: u64, _snd_nxt: u64) {
        let state = &mut *self.state;
        state.acked_bytes += acked_bytes;
        if !marked || acked_bytes == 0 {
            return;
        }
        state.marked_bytes += acked_bytes;
        state.marked_now_bytes += acked_bytes;
        if state.alpha.is_none() {
            state.alpha = Some(0.0);
            state.reduce_by(0.5);
        }
    }

    fn on_recovered(&mut self, cwnd_bytes: u64) {
        self.state.repairing = false;
        self.set_window(cwnd_bytes.max(self.state.smss_bytes));
    }

    /// The share of marks stays: it was measured.
    fn undo(&mut self, before: Prague) {
        self.state.repairing = false;
        if before.cwnd_bytes >= self.cwnd_bytes {
            self.ssthresh_bytes = before.ssthresh_bytes;
            self.set_window(before.cwnd_bytes);
        }
    }

    fn leave_slow_start(&mut self) {
        self.ssthresh_bytes = self.cwnd_bytes;
    }

    fn pacing_rate_bytes_per_s(&self) -> Option<u64> {
        let state = &*self.state;
        let srtt = state.srtt?.as_secs_f64();
        let factor = if self.cwnd_bytes < self.ssthresh_bytes / 2 { 2.0 } else { 1.0 };
        let round_bytes = state.window_bytes.max(state.in_flight_bytes as f64);
        Some(((factor * round_bytes / srtt) as u64).max(LEAST_BYTES_PER_S))
    }

    fn on_handshake(&mut self, now: Time, rtt: Option<Span>) {
        (self.state.alpha_at, self.state.srtt) = (now, rtt);
        if let (Some(signs), Some(rtt)) = (&mut self.state.signs, rtt) {
            signs.take(now, rtt);
        }
    }

    #[inline]
    fn on_sent(&mut self, in_flight_bytes: u64) {
        self.state.in_flight_bytes = in_flight_bytes;
    }

    fn on_delivery(&mut self, delivery: &Delivery) -> bool {
        self.state.in_flight_bytes = delivery.in_flight_bytes;
        self.state.repairing &= delivery.recovering;
        if let (Some(signs), Some(rtt)) = (&mut self.state.signs, delivery.rtt) {
            signs.take(delivery.now, rtt);
        }
        false
    }

    fn state_name(&self) -> Option<&'static str> {
        let share = self.state.signs?.classic_share();
        Some(match () {
            () if self.cwnd_bytes < self.ssthresh_bytes => "slow_start",
            () if share == 0.0 => "scalable",
            () if share < 1.0 => "transition",
            () => "classic",
        })
    }
}

impl Prague {
    /// The window is so many octets at once.
    fn set_window(&mut self, bytes: u64) {
        self.cwnd_bytes = bytes;
        self.state.window_bytes = bytes as f64;
    }

    /// cwnd follows the window, a segment at a time. Where it falls, slow start ends.
    fn step(&mut self) {
        let (whole_bytes, smss_bytes) = (self.state.whole_bytes(), self.state.smss_bytes);
        if self.cwnd_bytes > whole_bytes {
            self.cwnd_bytes = (self.cwnd_bytes - smss_bytes).max(whole_bytes);
            self.ssthresh_bytes = self.cwnd_bytes;
        } else if self.cwnd_bytes >= self.ssthresh_bytes {
            self.cwnd_bytes = (self.cwnd_bytes + smss_bytes).min(whole_bytes);
        }
    }

    /// Ends the round, if `ack` does, and begins the next.
    fn end_round(&mut self, ack: &Ack) {
        let is_slow_start = self.cwnd_bytes < self.ssthresh_bytes;
        let state = &mut *self.state;
        let is_soon = state.is_independent() && ack.now.since(state.alpha_at) < REFERENCE_RTT;
        if ack.snd_una < state.round_end || is_soon {
            return;
        }
        if let Some(alpha) = &mut state.alpha
            && state.acked_bytes > 0
        {
            let share = state.marked_bytes as f64 / state.acked_bytes as f64;
            *alpha += ESTIMATION_GAIN * (share - *alpha);
            state.alpha_at = ack.now;
            if let Some(signs) = &mut state.signs {
                signs.judge();
            }
        }
        (state.acked_bytes, state.marked_bytes, state.round_end) = (0, 0, ack.snd_nxt);
        state.rounds = if is_slow_start { state.rounds } else { state.rounds.saturating_add(1) };
    }
}

#[cfg(test)]
mod tests {
    use super::super::keys::Own;
    use super::*;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    /// A law of segments of 1000 octets that has left slow start at a window of `segments`.
    fn law(segments: u64) -> Prague {
        let mut law = Prague::new(&Settings::default());
        law.start(1000, segments * 1000);
        law.leave_slow_start();
        law
    }

    /// An acknowledgement of so many octets, all or none of them marked, that ends a round up to `snd_nxt`.
    fn ack(law: &mut Prague, now: Time, octets: (u64, bool), snd_una: u64, snd_nxt: u64, srtt_ms: u64) {
        let (bytes, marked) = octets;
        law.on_acked_marks(bytes, marked, snd_una, snd_nxt);
        let srtt = Some(Span::from_ms(srtt_ms));
        let in_use_bytes = law.cwnd_bytes();
        law.on_ack(&Ack {
            bytes,
            now,
            srtt,
            snd_una,
            snd_nxt,
            in_use_bytes,
            may_grow: !marked,
            ..Ack::default()
        });
    }

    #[test]
    fn the_first_mark_halves_the_window_by_a_segment_an_ack_and_ends_slow_start() {
        let mut law = Prague::new(&Settings::default());
        law.start(1000, 10_000);
        ack(&mut law, ms(100), (1000, false), 1001, 11_001, 50);
        assert_eq!((law.cwnd_bytes(), law.ssthresh_bytes()), (11_000, u64::MAX));
        ack(&mut law, ms(101), (1000, true), 2001, 12_001, 50);
        assert_eq!(law.state.window_bytes, 5500.0);
        assert_eq!((law.cwnd_bytes(), law.ssthresh_bytes()), (10_000, 10_000));
        // The reduction for the mark takes half of alpha, which is 0.
        law.on_congestion_at(Cause::EcnEcho { flight_bytes: 10_000 }, ms(101));
        assert_eq!(law.state.window_bytes, 5500.0);
        for at in 3..8 {
            ack(&mut law, ms(100 + at), (1000, true), at * 1000 + 1, 12_001, 50);
        }
        // Five and a half segments are six.
        assert_eq!((law.cwnd_bytes(), law.ssthresh_bytes()), (6000, 6000));
    }

    #[test]
    fn alpha_follows_the_marked_share_of_each_round_once_there_was_a_mark() {
        let mut law = law(10);
        // A round without marks leaves it unknown.
        ack(&mut law, ms(10), (1000, false), 1001, 10_001, 50);
        assert_eq!(law.state.alpha, None);
        // 2000 of 9000 octets up to 10,001 are marked: 2 / 9 / 16.
        ack(&mut law, ms(20), (2000, true), 3001, 12_001, 50);
        ack(&mut law, ms(30), (6000, false), 9001, 18_001, 50);
        assert_eq!(law.state.alpha, Some(0.0));
        ack(&mut law, ms(60), (1000, false), 10_001, 19_001, 50);
        assert_eq!(law.state.alpha, Some(2.0 / 9.0 / 16.0));
        // Nothing of 9000: 15 / 16 of it is left.
        ack(&mut law, ms(110), (9000, false), 19_001, 28_001, 50);
        let left = law.state.alpha.unwrap_or_default();
        assert!((left - 2.0 / 9.0 / 16.0 * 15.0 / 16.0).abs() < 1e-15, "{left}");
    }

    #[test]
    fn a_mark_takes_half_of_alpha_and_octets_without_one_still_grow_the_window() {
        let mut law = law(20);
        law.state.alpha = Some(0.1);
        law.on_congestion_at(Cause::EcnEcho { flight_bytes: 20_000 }, ms(0));
        assert_eq!(law.state.window_bytes, 19_000.0);
        // A segment's share of 19: 1000 / 19. The marked ones add nothing.
        ack(&mut law, ms(1), (1000, true), 1001, 20_001, 50);
        ack(&mut law, ms(2), (1000, false), 2001, 20_001, 50);
        assert_eq!(law.state.window_bytes, 19_000.0 + 1000.0 / 19.0);
        // Two segments are the least.
        law.state.alpha = Some(1.0);
        for at in 0..9 {
            law.on_congestion_at(Cause::EcnEcho { flight_bytes: 20_000 }, ms(100 * at));
        }
        assert_eq!(law.state.window_bytes, 2000.0);
    }

    #[test]
    fn after_four_rounds_a_short_round_trip_counts_as_one_of_25_ms() {
        let mut law = law(10);
        law.state.alpha = Some(0.5);
        for round in 1..=4 {
            ack(&mut law, ms(5 * round), (0, false), 10_000 * round, 10_000 * (round + 1), 5);
        }
        assert!(law.state.is_independent());
        // (5 / 25)^2 of a segment a round.
        let before = law.state.window_bytes;
        ack(&mut law, ms(21), (1000, false), 40_001, 51_000, 5);
        assert!((law.state.window_bytes - before - 1000.0 / 10.0 / 25.0).abs() < 1e-9);
        // Alpha and reductions move once in 25 ms: the round that ended at 5 ms was the last to move it.
        let reduced = |law: &mut Prague, at| {
            let before = law.state.window_bytes;
            law.on_congestion_at(Cause::EcnEcho { flight_bytes: 10_000 }, at);
            law.state.window_bytes < before
        };
        assert!(reduced(&mut law, ms(30)));
        assert!(!reduced(&mut law, ms(54)));
        assert!(reduced(&mut law, ms(55)));
        let alpha = law.state.alpha;
        (law.state.alpha_at, law.state.acked_bytes) = (ms(60), 1000);
        ack(&mut law, ms(84), (1000, true), 90_000, 99_000, 5);
        assert_eq!(law.state.alpha, alpha);
        ack(&mut law, ms(85), (1000, true), 91_000, 99_000, 5);
        assert_ne!(law.state.alpha, alpha);
        // Over 50 ms a segment a round, whatever the number of rounds.
        let before = law.state.window_bytes;
        ack(&mut law, ms(86), (1000, false), 92_000, 99_000, 50);
        assert!((law.state.window_bytes - before - 1_000_000.0 / before).abs() < 1e-9);
    }

    #[test]
    fn a_loss_halves_the_window_which_rests_until_it_is_repaired() {
        let mut law = law(20);
        law.on_congestion_at(Cause::FastRetransmit { flight_bytes: 18_000 }, ms(0));
        assert_eq!((law.cwnd_bytes(), law.ssthresh_bytes()), (10_000, 10_000));
        ack(&mut law, ms(1), (1000, false), 1001, 20_001, 50);
        assert_eq!(law.cwnd_bytes(), 10_000);
        law.on_recovered(10_000);
        ack(&mut law, ms(2), (10_000, false), 11_001, 20_001, 50);
        assert_eq!(law.cwnd_bytes(), 11_000);
        // A timeout: half of what was in flight, and slow start.
        law.on_congestion_at(
            Cause::Timeout { flight_bytes: 11_000, repeated: false, repairing: false },
            ms(3),
        );
        assert_eq!((law.cwnd_bytes(), law.ssthresh_bytes()), (1000, 5500));
        ack(&mut law, ms(4), (1000, false), 12_001, 20_001, 50);
        assert_eq!(law.cwnd_bytes(), 2000);
    }

    #[test]
    fn it_paces_at_a_window_a_round_trip_and_at_two_below_half_of_ssthresh() {
        let mut law = law(10);
        assert_eq!(law.pacing_rate_bytes_per_s(), None);
        law.on_handshake(ms(0), Some(Span::from_ms(100)));
        assert_eq!(law.pacing_rate_bytes_per_s(), Some(100_000));
        law.on_sent(12_000);
        assert_eq!(law.pacing_rate_bytes_per_s(), Some(120_000));
        law.ssthresh_bytes = 30_000;
        assert_eq!(law.pacing_rate_bytes_per_s(), Some(240_000));
        law.on_handshake(ms(0), Some(Span::from_secs(10)));
        assert_eq!(law.pacing_rate_bytes_per_s(), Some(12_500));
    }

    /// One that watches for classic queues, and has a score of so much.
    fn watching(word: u32, segments: u64, score: f64) -> Prague {
        let own = Own::default().with(&CLASSIC_QUEUE, word);
        let mut law = Prague::new(&Settings { own, ..Settings::default() });
        law.start(1000, segments * 1000);
        law.leave_slow_start();
        law.state.alpha = Some(0.1);
        law.state.signs.as_mut().expect("signs").set_score(score);
        law
    }

    #[test]
    fn behind_a_classic_queue_a_mark_takes_5_of_16_and_the_round_trip_counts_as_it_is() {
        let reduced = |word, score| {
            let mut law = watching(word, 20, score);
            law.on_congestion_at(Cause::EcnEcho { flight_bytes: 20_000 }, ms(0));
            law.state.window_bytes
        };
        // Half of alpha up to 8, half of 0.625 from 9 on; midway half of 0.3125.
        assert_eq!(reduced(FALL_BACK, 8.0), 19_000.0);
        assert_eq!(reduced(FALL_BACK, 8.5), 20_000.0 * (1.0 - 0.15625));
        assert_eq!(reduced(FALL_BACK, 9.0), 20_000.0 * (1.0 - 0.3125));
        assert_eq!(reduced(FALL_BACK, 17.0), 20_000.0 * (1.0 - 0.3125));
        // A larger alpha stays, and who only monitors does not fall back.
        let mut saturated = watching(FALL_BACK, 20, 9.0);
        saturated.state.alpha = Some(0.8);
        saturated.on_congestion_at(Cause::EcnEcho { flight_bytes: 20_000 }, ms(0));
        assert_eq!(saturated.state.window_bytes, 12_000.0);
        assert_eq!(reduced(MONITOR, 17.0), 19_000.0);
        // 5 ms, many rounds after slow start: a segment a round, instead of a 25th.
        for (word, score, share) in [(FALL_BACK, 17.0, 1.0), (FALL_BACK, 8.5, 25.0), (MONITOR, 17.0, 25.0)] {
            let mut law = watching(word, 10, score);
            law.state.rounds = 9;
            law.state.round_end = 99_000;
            ack(&mut law, ms(5), (1000, false), 1001, 11_001, 5);
            let grown = law.state.window_bytes - 10_000.0;
            assert!((grown - 1000.0 / 10.0 / share).abs() < 1e-9, "{score}: {grown}");
        }
    }

    #[test]
    fn each_round_from_the_first_mark_on_moves_the_score_by_the_round_trips() {
        let mut law = watching(MONITOR, 10, 8.0);
        law.state.alpha = None;
        law.on_handshake(ms(0), Some(Span::from_ms(10)));
        // 3 ms of deviation are four times 750 us: one up a round.
        law.state.signs.as_mut().expect("signs").set_deviation_us(3000.0);
        assert_eq!(law.state_name(), Some("scalable"));
        ack(&mut law, ms(50), (10_000, false), 10_001, 20_001, 10);
        assert_eq!(law.state_name(), Some("scalable"));
        // The mark makes alpha known: its round counts.
        ack(&mut law, ms(100), (10_000, true), 20_001, 30_001, 10);
        assert_eq!(law.state_name(), Some("classic"));
        law.state.signs.as_mut().expect("signs").set_score(8.5);
        assert_eq!(law.state_name(), Some("transition"));
        // Below ssthresh it is slow start, and without the key there are no such states.
        law.ssthresh_bytes = 90_000;
        assert_eq!(law.state_name(), Some("slow_start"));
        assert_eq!(super::tests::law(10).state_name(), None);
        // A measured round trip reaches the means, and a reduction sets their gain: 2^-(4 + 2 + 1).
        law.ssthresh_bytes = 20_000;
        law.on_congestion_at(Cause::EcnEcho { flight_bytes: 20_000 }, ms(101));
        law.on_delivery(&Delivery { rtt: Some(Span::from_us(11_280)), now: ms(102), ..Delivery::default() });
        let means = law.state.signs.expect("signs").means_us();
        assert_eq!(means, (10_010.0, 3000.0 - 1720.0 / 256.0));
    }
}
