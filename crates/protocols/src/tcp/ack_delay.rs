//! When Linux acknowledges data that arrives in order: quick ACKs, and a delay that follows the times between
//! segments.
//!
//! - Quick ACKs: the first segments are acknowledged at once, so that the peer's slow start is not slowed
//!   down. They are as many as half the window holds, with a limit. So are segments behind a pause of more
//!   than an RTO. An end that answers data with data of its own does without.
//! - The delay moves towards the time between segments: it is halved, and that time is added, 20 ms at least.
//!   A longer time than the delay leaves it as it is. The timer takes it, bounded by the round trip (40 ms at
//!   least) and by the setting. Where the timer expires, the delay doubles.
//!
//! Source: Linux 6.12, `tcp_event_data_recv`, `tcp_send_delayed_ack` and `tcp_delack_timer_handler`. Not
//! modelled: quick ACKs behind duplicates and marks, a window that falls short, `TCP_QUICKACK`.

use roamsim_engine::{Span, Time};

use super::config::Config;

/// TCP_ATO_MIN and TCP_DELACK_MIN.
const LEAST_DELAY: Span = Span::from_ms(40);

/// Half of it.
const HALF: Span = Span::from_ms(20);

/// The acknowledging of one connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct AckDelay {
    /// So many of the next segments are acknowledged at once.
    quick: u32,
    most_quick: u32,
    /// The delay follows the times between segments.
    adapts: bool,
    /// The largest delay.
    most: Span,
    delay: Span,
    /// When data last arrived; `Time::MAX` before the first.
    last_at: Time,
    /// This end answers data with data.
    answers: bool,
}

impl AckDelay {
    /// That of a connection with such settings, if it has any.
    pub(super) fn new(config: &Config) -> Option<AckDelay> {
        let most = config.delayed_ack?;
        (config.quick_acks > 0 || config.delayed_ack_adapts).then_some(AckDelay {
            quick: 0,
            most_quick: config.quick_acks,
            adapts: config.delayed_ack_adapts,
            most,
            delay: LEAST_DELAY,
            last_at: Time::MAX,
            answers: false,
        })
    }

    /// Data arrives in order. True when it is acknowledged at once.
    pub(super) fn on_data(&mut self, now: Time, window_bytes: u64, mss_bytes: u64, rto: Span) -> bool {
        let is_first = self.last_at == Time::MAX;
        let pause = if is_first { Span::ZERO } else { now.since(self.last_at) };
        self.last_at = now;
        if is_first || pause > self.delay && pause > rto {
            let half_window = (window_bytes / (2 * mss_bytes.max(1))).max(2);
            let quick = u32::try_from(half_window).unwrap_or(u32::MAX).min(self.most_quick);
            self.quick = self.quick.max(quick);
        } else if pause <= HALF {
            self.delay = half(self.delay) + HALF;
        } else if pause < self.delay {
            self.delay = (half(self.delay) + pause).min(rto);
        }
        self.take_quick()
    }

    /// Whether a segment is acknowledged at once, as one of those that are.
    pub(super) fn take_quick(&mut self) -> bool {
        if self.quick == 0 || self.answers {
            return false;
        }
        self.quick -= 1;
        if self.quick == 0 {
            self.delay = LEAST_DELAY;
        }
        true
    }

    /// Data goes, soon behind data that has arrived or not.
    #[inline]
    pub(super) fn on_sent(&mut self, now: Time) {
        self.answers |= self.last_at <= now && now.since(self.last_at) < self.delay;
    }

    /// The delay is over and nothing has carried the acknowledgement.
    pub(super) fn on_expired(&mut self, rto: Span) {
        self.delay = if self.answers { LEAST_DELAY } else { self.delay.saturating_mul(2).min(rto) };
        self.answers = false;
    }

    /// How long an acknowledgement waits.
    pub(super) fn delay(&self, srtt: Option<Span>) -> Span {
        if !self.adapts {
            return self.most;
        }
        let round_trip = srtt.map_or(Span::MAX, |srtt| srtt.max(LEAST_DELAY));
        self.delay.min(round_trip).min(self.most)
    }
}

fn half(span: Span) -> Span {
    Span::from_ns(span.as_ns() / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTO: Span = Span::from_ms(300);

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    fn part(quick_acks: u32) -> AckDelay {
        let config = Config { quick_acks, delayed_ack_adapts: true, ..Config::default() };
        AckDelay::new(&config).expect("it is asked for")
    }

    #[test]
    fn sixteen_segments_are_acknowledged_at_once_or_half_a_window() {
        for (window, quick) in [(65_535, 16), (20_000, 10), (1000, 2)] {
            let mut part = part(16);
            let at_once = (0..40).filter(|n| part.on_data(at(*n), window, 1000, RTO)).count();
            assert_eq!(at_once, quick, "{window}");
        }
        // Behind a pause longer than an RTO it begins anew.
        let mut part = part(16);
        for n in 0..40 {
            part.on_data(at(n), 65_535, 1000, RTO);
        }
        assert!(!part.on_data(at(339), 65_535, 1000, RTO));
        assert!(part.on_data(at(640), 65_535, 1000, RTO));
    }

    #[test]
    fn an_end_that_answers_with_data_has_no_quick_acks() {
        let mut part = part(16);
        assert!(part.on_data(at(0), 65_535, 1000, RTO));
        part.on_sent(at(39));
        assert!(!part.on_data(at(50), 65_535, 1000, RTO));
        // An acknowledgement that nothing carries ends that.
        part.on_expired(RTO);
        assert!(part.on_data(at(91), 65_535, 1000, RTO));
    }

    #[test]
    fn the_delay_follows_the_times_between_segments() {
        let mut part = part(0);
        let delays: Vec<u64> = [0, 1, 31, 66, 216]
            .iter()
            .map(|ms| {
                part.on_data(at(*ms), 65_535, 1000, RTO);
                part.delay(None).as_ns() / 1_000_000
            })
            .collect();
        // 40; 40/2 + 20; 40/2 + 30; 50/2 + 35; 150 ms are above 60, which stays.
        assert_eq!(delays, [40, 40, 50, 60, 60]);
        // The round trip bounds it, from 40 ms on, and so does the setting.
        assert_eq!(part.delay(Some(Span::from_ms(55))), Span::from_ms(55));
        assert_eq!(part.delay(Some(Span::from_ms(5))), Span::from_ms(40));
        (0..2).for_each(|_| part.on_expired(RTO));
        assert_eq!((part.delay, part.delay(None)), (Span::from_ms(240), Span::from_ms(200)));
    }
}
