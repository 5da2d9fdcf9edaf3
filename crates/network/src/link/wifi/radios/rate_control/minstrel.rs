//! Minstrel: rates by their share of answered exchanges (D. Smithies, 2005; in Linux, mac80211, by F.
//! Fietkau).
//!
//! Ten times a second the share of answered exchanges of each rate enters a mean that keeps three quarters
//! of its old value. The throughput of a rate is that mean over the time of an exchange, and zero if the
//! mean is below 10 %. Frames use the rate of most throughput. One frame in ten probes another rate, drawn
//! at random.
//!
//! A frame has a chain of four rates:
//!
//! | | usual | probe of a faster rate | probe of a slower rate |
//! |---|---|---|---|
//! | 1 | most throughput | drawn | most throughput |
//! | 2 | second throughput | most throughput | drawn |
//! | 3 | highest mean | highest mean | highest mean |
//! | 4 | lowest rate | lowest rate | lowest rate |
//!
//! - If several rates have a mean of 95 % and more, the third rate is the one of most throughput. While
//!   nothing has been answered, the lowest rate takes all four places.
//! - A slower rate that had no exchange for twenty updates in a row is probed first, like a faster one. A
//!   rate with a mean below 10 % or above 95 % is probed first at most four times between two updates; then
//!   the frame is a usual one.
//! - Each of the four has as many attempts as fit into 6 ms with the mean back-offs of windows that double,
//!   at most seven. If the mean is below 10 % or above 95 % it has half as many, one or two.
//!
//! Differences from mac80211:
//! - There a driver makes all attempts of the chain. Here the retry limit bounds them (clause 9.2.5.3):
//!   each rate leaves one attempt to each later rate, and the last one has the rest. A limit below four
//!   ends the chain earlier.
//! - There frames are counted against a table of random orders. Here each frame draws whether it probes.
//! - Statistics are updated when a frame is sent, not by a timer, because nothing depends on them in
//!   between.
//!
//! Not modelled: with RTS or protection, mac80211 skips the second and third rate and probes half as often;
//! Minstrel-HT (802.11n); later versions of Linux.

use roamsim_engine::{Span, Stream, Time};

/// Its constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MinstrelConfig {
    /// How often the means are brought up to date.
    pub interval: Span,
    /// What a mean keeps of what it was, in percent.
    pub ewma_percent: u32,
    /// How many frames in a hundred look around.
    pub lookaround_percent: u32,
}

impl MinstrelConfig {
    /// As in mac80211.
    pub const MAC80211: MinstrelConfig =
        MinstrelConfig { interval: Span::from_ms(100), ewma_percent: 75, lookaround_percent: 10 };
}

/// How long a frame may be tried at one rate of its chain, and how often.
const SEGMENT: Span = Span::from_ms(6);
const MOST_ATTEMPTS: u32 = 7;
/// Attempts at a rate of which nothing is to be learned.
const FEW_ATTEMPTS: u32 = 2;
/// Shares of answered exchanges below and above which a rate is tried no more often than that.
const HOPELESS: f64 = 0.1;
const SAFE: f64 = 0.95;
/// How often such a rate is looked at first in an interval.
const FEW_LOOKS: u32 = 4;
/// Intervals without an exchange after which a slower rate is looked at first.
const STALE: u32 = 20;

/// The windows between attempts, in slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Backoff {
    pub slot: Span,
    pub cw_min: u32,
    pub cw_max: u32,
}

impl Backoff {
    /// How many attempts at a frame fit into [`SEGMENT`], one at least.
    fn attempts_that_fit(self, exchange: Span) -> u32 {
        let (mut attempts, mut cw, mut takes) = (1, self.cw_min, exchange);
        while attempts < MOST_ATTEMPTS {
            takes += exchange + Span::from_ns(self.slot.as_ns() * u64::from(cw) / 2);
            if takes >= SEGMENT {
                break;
            }
            attempts += 1;
            cw = (2 * cw + 1).min(self.cw_max);
        }
        attempts
    }
}

/// The rates of a frame, each with its attempts; the last one has all that follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chain([(u8, u8); 4]);

impl Chain {
    /// Of rates with the attempts that they ask for, so that each has its turn before the limit.
    fn within(limit: u32, rates: [(usize, u32); 4]) -> Chain {
        let (mut left, mut behind) = (limit, rates.len() as u32);
        Chain(rates.map(|(rate, attempts)| {
            behind -= 1;
            let attempts = attempts.min(left.saturating_sub(behind)).max(1);
            left = left.saturating_sub(attempts);
            (rate as u8, attempts as u8)
        }))
    }

    /// The rate of an attempt, after so many that have failed at the frame.
    pub(super) fn rate(&self, failed: u32) -> usize {
        let [first @ .., (last, _)] = self.0;
        let mut left = failed;
        for (rate, attempts) in first {
            if left < u32::from(attempts) {
                return usize::from(rate);
            }
            left -= u32::from(attempts);
        }
        usize::from(last)
    }
}

/// What is known of a rate.
#[derive(Clone, Copy, Debug)]
struct Known {
    /// What an exchange of a packet takes.
    exchange: Span,
    /// How many attempts at it fit into the time of a stage.
    fit: u32,
    /// Exchanges since the mean was brought up to date, and those of them that were answered.
    tried: u32,
    answered: u32,
    /// The mean of the shares of answered exchanges; `None`: there was none.
    mean: Option<f64>,
    /// How often the mean was brought up to date since its last exchange.
    skipped: u32,
    /// How often it may still be looked at first in this interval.
    looks: u32,
}

impl Known {
    fn share(&self) -> f64 {
        self.mean.unwrap_or(0.0)
    }

    /// Whether its share is one of which there is something to learn.
    fn is_open(&self) -> bool {
        (HOPELESS..=SAFE).contains(&self.share())
    }

    /// Answered exchanges a second.
    fn throughput(&self) -> f64 {
        if self.share() < HOPELESS { 0.0 } else { self.share() / self.exchange.as_secs_f64() }
    }

    /// How many attempts at a frame are made at it in a row.
    fn attempts(&self) -> u32 {
        match (self.is_open(), self.fit / 2) {
            (true, _) => self.fit,
            (false, 0) => FEW_ATTEMPTS,
            (false, half) => half.min(FEW_ATTEMPTS),
        }
    }
}

/// One transmitter's choice for one receiver.
#[derive(Clone, Debug)]
pub(super) struct Minstrel {
    config: MinstrelConfig,
    rates: Vec<Known>,
    updated: Time,
}

impl Minstrel {
    /// One that knows what an exchange takes at each rate, from the lowest on, and nothing else.
    pub fn new(config: MinstrelConfig, exchanges: &[Span], backoff: Backoff) -> Minstrel {
        let known = |&exchange: &Span| Known {
            exchange,
            fit: backoff.attempts_that_fit(exchange),
            tried: 0,
            answered: 0,
            mean: None,
            skipped: 0,
            looks: u32::MAX,
        };
        Minstrel { config, rates: exchanges.iter().map(known).collect(), updated: Time::ZERO }
    }

    /// The rates of a new frame, none above `top`, of which so many attempts may be made.
    pub fn chain(&mut self, now: Time, random: &mut Stream, limit: u32, top: usize) -> Chain {
        self.bring_up_to_date(now);
        let rates = self.draw_rates(random, top);
        Chain::within(limit, rates.map(|rate| (rate, self.rates[rate].attempts())))
    }

    /// An exchange at a rate was answered, or was not.
    pub fn ends(&mut self, rate: usize, answered: bool) {
        let known = &mut self.rates[rate];
        known.tried += 1;
        known.answered += u32::from(answered);
    }

    fn bring_up_to_date(&mut self, now: Time) {
        if now.since(self.updated) < self.config.interval {
            return;
        }
        self.updated = now;
        let keeps = f64::from(self.config.ewma_percent) / 100.0;
        for known in &mut self.rates {
            known.skipped = if known.tried > 0 { 0 } else { known.skipped.saturating_add(1) };
            if known.tried > 0 {
                let share = f64::from(known.answered) / f64::from(known.tried);
                known.mean = Some(known.mean.map_or(share, |mean| keeps * mean + (1.0 - keeps) * share));
                (known.tried, known.answered) = (0, 0);
            }
            known.looks = if known.is_open() { u32::MAX } else { FEW_LOOKS };
        }
    }

    fn draw_rates(&mut self, random: &mut Stream, top: usize) -> [usize; 4] {
        let best = self.most(top, |_, known| known.throughput());
        let second = self.most(top, |rate, known| if rate == best { 0.0 } else { known.throughput() });
        // A safe rate counts by its throughput, before all that are not safe.
        let safest = self.most(top, |_, known| match known.share() {
            share if share >= SAFE => 1.0 + known.throughput(),
            share => share,
        });
        let usual = [best, second, safest, 0];
        if top == 0 || random.below(100) >= u64::from(self.config.lookaround_percent) {
            return usual;
        }
        let drawn = random.below(top as u64) as usize;
        let drawn = drawn + usize::from(drawn >= best);
        let known = &mut self.rates[drawn];
        if drawn < best && known.skipped < STALE {
            return [best, drawn, safest, 0];
        }
        if known.looks == 0 {
            return usual;
        }
        known.looks -= 1;
        // A slower one that fails is followed by the best, as a faster one is.
        [drawn, best, safest, 0]
    }

    /// The first rate that has most of something; the lowest where none has any.
    fn most(&self, top: usize, of: impl Fn(usize, &Known) -> f64) -> usize {
        let (mut rate, mut most) = (0, 0.0);
        for (other, known) in self.rates.iter().enumerate().take(top + 1) {
            let value = of(other, known);
            if value > most {
                (rate, most) = (other, value);
            }
        }
        rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::testing::stream;
    use proptest::prelude::*;

    /// As in mac80211.
    const BACKOFF: Backoff = Backoff { slot: Span::from_us(9), cw_min: 15, cw_max: 1023 };
    /// Attempts at a frame.
    const LIMIT: u32 = 7;

    /// Four rates, exchanges of which take 8, 4, 2 and 1 ms: 1, 1, 2 and 4 of them fit into 6 ms.
    fn minstrel(config: MinstrelConfig) -> Minstrel {
        Minstrel::new(config, &[8, 4, 2, 1].map(Span::from_ms), BACKOFF)
    }

    const NEVER: MinstrelConfig = MinstrelConfig { lookaround_percent: 0, ..MinstrelConfig::MAC80211 };
    const ALWAYS: MinstrelConfig = MinstrelConfig { lookaround_percent: 100, ..MinstrelConfig::MAC80211 };

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    /// Exchanges at a rate, and those of them that were answered.
    fn exchanges(minstrel: &mut Minstrel, rate: usize, tried: u32, answered: u32) {
        (0..tried).for_each(|number| minstrel.ends(rate, number < answered));
    }

    #[test]
    fn a_mean_keeps_three_quarters_of_what_it_was() {
        let mut minstrel = minstrel(NEVER);
        exchanges(&mut minstrel, 1, 5, 4);
        minstrel.bring_up_to_date(at(99));
        assert_eq!(minstrel.rates[1].mean, None);
        minstrel.bring_up_to_date(at(100));
        assert_eq!(minstrel.rates[1].mean, Some(0.8));
        // 0.75 * 0.8 + 0.25 * 0.4; then nothing was tried.
        exchanges(&mut minstrel, 1, 5, 2);
        minstrel.bring_up_to_date(at(199));
        assert_eq!(minstrel.rates[1].mean, Some(0.8));
        minstrel.bring_up_to_date(at(200));
        minstrel.bring_up_to_date(at(300));
        assert!((minstrel.rates[1].share() - 0.7).abs() < 1e-12);
        // 0.7 in 4 ms.
        assert!((minstrel.rates[1].throughput() - 175.0).abs() < 1e-9);
        assert_eq!(minstrel.rates[0].mean, None);
    }

    /// The rates of attempts at one frame, after so many that have failed.
    fn attempts(minstrel: &mut Minstrel, now: Time, top: usize, of: &str) -> [usize; 8] {
        let chain = minstrel.chain(now, &mut stream(of), LIMIT, top);
        [0, 1, 2, 3, 4, 5, 6, 7].map(|failed| chain.rate(failed))
    }

    #[test]
    fn back_off_limits_the_attempts_that_fit() {
        // 802.11g: 1236 octets at 54 Mb/s with SIFS and an ACK at 24 Mb/s take 254 us. Six take 1524 us, and
        // mean back-offs of 67.5, 139.5, 283.5, 571.5 and 1147.5 us between them 2209.5; the next one would
        // be 2299.5 us and is too long.
        assert_eq!(BACKOFF.attempts_that_fit(Span::from_us(254)), 6);
        // One more with windows that do not grow so far, and no eighth.
        assert_eq!(Backoff { cw_max: 15, ..BACKOFF }.attempts_that_fit(Span::from_us(254)), 7);
        assert_eq!([8, 4, 2, 1].map(|ms| BACKOFF.attempts_that_fit(Span::from_ms(ms))), [1, 1, 2, 4]);
    }

    #[test]
    fn the_chain_has_the_best_the_second_the_safest_and_the_lowest_rate() {
        let mut minstrel = minstrel(NEVER);
        assert_eq!(attempts(&mut minstrel, at(0), 3, ""), [0; 8], "nothing is known");
        // 1/8, 0.9/4, 0.5/2 and 0.2/1 exchanges in a millisecond: 0.125, 0.225, 0.25, 0.2.
        for (rate, answered) in [(0, 10), (1, 9), (2, 5), (3, 2)] {
            exchanges(&mut minstrel, rate, 10, answered);
        }
        // Two attempts at the best rate, one at the second; the lowest is safe, and the last as well.
        assert_eq!(attempts(&mut minstrel, at(100), 3, ""), [2, 2, 1, 0, 0, 0, 0, 0]);
        // No rate above the second: 0.225, and then 0.125.
        assert_eq!(attempts(&mut minstrel, at(100), 1, "")[..3], [1, 0, 0]);
        // Nearly all at the highest: most throughput, and safe. It is tried twice, and stands in the third
        // place as well.
        exchanges(&mut minstrel, 3, 1000, 1000);
        (1..30).for_each(|tenth| {
            exchanges(&mut minstrel, 3, 1, 1);
            minstrel.bring_up_to_date(at(100 + 100 * tenth));
        });
        assert_eq!(attempts(&mut minstrel, at(3000), 3, ""), [3, 3, 2, 2, 3, 3, 0, 0]);
    }

    #[test]
    fn a_rate_below_a_tenth_has_no_throughput() {
        let mut minstrel = minstrel(NEVER);
        // 0.09/1 exchanges in a millisecond would be more than 0.5/8.
        exchanges(&mut minstrel, 3, 100, 9);
        exchanges(&mut minstrel, 0, 2, 1);
        assert_eq!(attempts(&mut minstrel, at(100), 3, ""), [0; 8]);
        exchanges(&mut minstrel, 3, 100, 13);
        // 0.75 * 0.09 + 0.25 * 0.13 are a tenth.
        assert_eq!(attempts(&mut minstrel, at(200), 3, "")[0], 3);
    }

    /// The third of four rates is the best; of the fourth nothing is known.
    fn who_knows_three(config: MinstrelConfig) -> Minstrel {
        let mut minstrel = minstrel(config);
        (0..3).for_each(|rate| exchanges(&mut minstrel, rate, 10, if rate == 2 { 9 } else { 0 }));
        minstrel
    }

    #[test]
    fn who_looks_around_tries_a_faster_rate_first_and_a_slower_one_second() {
        let mut minstrel = who_knows_three(ALWAYS);
        let mut drawn = [0; 4];
        for frame in 0..300 {
            let rates = attempts(&mut minstrel, at(100), 3, &format!("frame {frame}"));
            let other = if rates[0] == 2 { rates[2] } else { rates[0] };
            match other {
                3 => assert_eq!(rates, [3, 3, 2, 2, 2, 2, 0, 0]),
                slower => assert_eq!(rates, [2, 2, slower, slower, 2, 2, 0, 0]),
            }
            drawn[other] += 1;
        }
        // A hundred of the second, standard deviation 8. The fourth four times; then, as with the first, the
        // second throughput stands second, which is none: the lowest.
        assert!(drawn[2..] == [0, 4] && (70..130).contains(&drawn[1]), "{drawn:?}");
    }

    #[test]
    fn a_slower_rate_is_looked_at_first_when_nothing_was_known_of_it_for_long() {
        let mut minstrel = who_knows_three(MinstrelConfig { lookaround_percent: 50, ..NEVER });
        // The first exchanges count; then there is none of a slower rate for 19 and for 20 intervals.
        for (intervals, expected) in [(19, 0), (20, 8)] {
            while minstrel.rates[0].skipped < intervals {
                exchanges(&mut minstrel, 2, 10, 9);
                minstrel.bring_up_to_date(minstrel.updated + Span::from_ms(100));
            }
            let now = minstrel.updated;
            let first = |frame| attempts(&mut minstrel, now, 2, &format!("frame {frame}"))[0];
            // Both four times in the interval: they are hopeless.
            let slower = (0..100).map(first).filter(|&rate| rate != 2).count();
            assert_eq!(slower, expected, "{intervals}");
        }
        // One exchange, and it is looked at second again.
        (0..2).for_each(|rate| exchanges(&mut minstrel, rate, 1, 0));
        let now = minstrel.updated + Span::from_ms(100);
        assert!((0..100).all(|frame| attempts(&mut minstrel, now, 2, &format!("frame {frame}"))[0] == 2));
    }

    /// 802.11g from 6 to 54 Mb/s: preamble, 16 bits, 1236 octets and 6 bits in symbols of 4 us, signal
    /// extension, SIFS, an ACK of 34 us.
    fn erp_ofdm() -> Minstrel {
        let exchange =
            |bits: u64| Span::from_us(20 + 4 * (16 + 8 * 1236 + 6_u64).div_ceil(bits) + 6 + 10 + 34);
        let exchanges = [24, 36, 48, 72, 96, 144, 192, 216].map(exchange);
        Minstrel::new(MinstrelConfig::MAC80211, &exchanges, BACKOFF)
    }

    #[test]
    fn a_rate_that_begins_to_fail_hands_over_before_the_limit() {
        let mut minstrel = erp_ofdm();
        let random = &mut stream("rates");
        let loss = &mut stream("loss");
        let mut first_at_54 = 0;
        // A frame a millisecond. Half of the attempts at 54 Mb/s are lost in the first second, and then all
        // above 24 Mb/s.
        for frame in 0..1500_u64 {
            let chain = minstrel.chain(at(frame), random, LIMIT, 7);
            first_at_54 += u32::from(frame >= 1000 && chain.rate(0) == 7);
            let arrives = |rate: usize, loss: &mut Stream| match rate {
                7 => frame < 1000 && loss.below(2) == 0,
                5.. => frame < 1000 && loss.below(10) > 0,
                _ => true,
            };
            let mut failed = 0;
            while failed < LIMIT {
                let rate = chain.rate(failed);
                let answered = arrives(rate, loss);
                minstrel.ends(rate, answered);
                if answered {
                    break;
                }
                failed += 1;
            }
            assert!(failed < LIMIT, "{frame}: {chain:?}");
        }
        // They go at 36 to 54 Mb/s for a while, and none is given up.
        assert!(first_at_54 > 0);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

        /// Rates up to one are always answered, those above never: most frames come to go at that one.
        #[test]
        fn it_comes_to_the_highest_rate_that_is_answered(
            seed in 0_u32..10_000,
            rates in 1_usize..9,
            reach in any::<prop::sample::Index>(),
            top in any::<prop::sample::Index>(),
        ) {
            let (reach, top) = (reach.index(rates), top.index(rates));
            // 8 ms, and less with each rate.
            let exchanges: Vec<Span> = (1..=rates as u64).map(|rate| Span::from_us(8000 / rate)).collect();
            let mut minstrel = Minstrel::new(MinstrelConfig::MAC80211, &exchanges, BACKOFF);
            let random = &mut stream(&format!("rates {seed}"));
            let mut firsts = vec![0_u32; rates];
            for frame in 0..4000_u64 {
                // A frame in 5 ms, for 20 s.
                let chain = minstrel.chain(at(5 * frame), random, LIMIT, top);
                let mut failed = 0;
                loop {
                    let rate = chain.rate(failed);
                    prop_assert!(rate <= top);
                    if failed == 0 && frame >= 2000 {
                        firsts[rate] += 1;
                    }
                    minstrel.ends(rate, rate <= reach);
                    failed += 1;
                    if rate <= reach || failed == LIMIT {
                        break;
                    }
                }
            }
            // Of 2000 frames 200 look around, standard deviation 13.
            prop_assert!(firsts[reach.min(top)] > 1730, "{:?} for {}", firsts, reach.min(top));
        }

        /// Whatever is known: the four rates of a frame are all tried before the limit, the lowest last.
        #[test]
        fn all_of_a_chain_has_its_turn(
            answered in prop::collection::vec(0_u32..=20, 8),
            seed in 0_u32..10_000,
            limit in 4_u32..=15,
            top in 0_usize..8,
        ) {
            let mut minstrel = erp_ofdm();
            for (rate, answered) in answered.into_iter().enumerate() {
                exchanges(&mut minstrel, rate, 20, answered);
            }
            minstrel.config.lookaround_percent = 50;
            let random = &mut stream(&format!("rates {seed}"));
            let mut twin = (minstrel.clone(), random.clone());
            let chain = minstrel.chain(at(100), random, limit, top);
            twin.0.bring_up_to_date(at(100));
            let mut expected = twin.0.draw_rates(&mut twin.1, top).to_vec();
            let mut tried: Vec<usize> = (0..limit).map(|failed| chain.rate(failed)).collect();
            prop_assert!(tried.iter().all(|&rate| rate <= top));
            expected.dedup();
            tried.dedup();
            prop_assert_eq!(tried, expected);
        }
    }
}
