//! What is measured where a flow's data arrives.

use roamsim_engine::{Span, Time};

/// Deliveries of a flow: counts, delays, jitter.
#[derive(Clone, Debug, Default)]
pub struct Measurement {
    /// Messages written.
    pub sent_messages: u64,
    /// Octets written in messages.
    pub sent_bytes: u64,
    /// Messages delivered.
    pub delivered_messages: u64,
    /// Octets delivered, in messages or as a stream.
    pub delivered_bytes: u64,
    /// Messages that were lost on the way.
    pub lost_messages: u64,
    /// Those of them that were written within the warm-up, which count for nothing when that is cut.
    lost_of_warm_up: u64,
    /// When the transfer was complete.
    pub completed_at: Option<Time>,
    /// Of messages, apart since a stream has none.
    delays: Option<Box<Delays>>,
    /// Where the application has a deadline.
    in_time: Option<Box<InTime>>,
}

/// The share of messages that arrive within a deadline. Those whose deadline lies behind the end of the run
/// do not count.
#[derive(Clone, Debug)]
struct InTime {
    deadline: Span,
    /// When the first and the last of them may be written.
    from: Time,
    until: Time,
    written: u64,
    arrived: u64,
}

impl InTime {
    fn counts(&self, written: Time) -> bool {
        (self.from..=self.until).contains(&written)
    }
}

/// The delays of messages.
#[derive(Clone, Debug, Default)]
struct Delays {
    all_ns: Vec<u64>,
    jitter_ns: f64,
}

/// How far a measurement was at an instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    sent_messages: u64,
    sent_bytes: u64,
    delivered_messages: u64,
    delivered_bytes: u64,
    delays: usize,
}

/// Delay statistics of one flow, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DelayStatistics {
    /// Arithmetic mean.
    pub mean_s: f64,
    /// Median.
    pub median_s: f64,
    /// 95th percentile.
    pub p95_s: f64,
    /// 99th percentile.
    pub p99_s: f64,
}

impl Measurement {
    /// A message has arrived whose delay is kept elsewhere.
    pub fn count_delivery(&mut self, bytes: u64) {
        self.delivered_messages += 1;
        self.delivered_bytes += bytes;
    }

    /// A message has arrived, `delay` after it was written.
    pub fn on_delivery(&mut self, bytes: u64, delay: Span) {
        self.count_delivery(bytes);
        let delays = self.delays.get_or_insert_default();
        if let Some(&before) = delays.all_ns.last() {
            // RFC 3550 section 6.4.1: J += (|D| - J) / 16, D the difference of two successive transit times.
            delays.jitter_ns += (delay.as_ns().abs_diff(before) as f64 - delays.jitter_ns) / 16.0;
        }
        delays.all_ns.push(delay.as_ns());
    }

    /// Counts the messages that arrive within `deadline`, of those written from `from` on whose deadline is
    /// over by `end`.
    pub fn expect_within(&mut self, deadline: Span, from: Time, end: Time) {
        let until = Time::from_ns(end.as_ns().saturating_sub(deadline.as_ns()));
        self.in_time = Some(Box::new(InTime { deadline, from, until, written: 0, arrived: 0 }));
    }

    /// A message is written.
    #[inline]
    pub fn on_write(&mut self, now: Time, bytes: u64) {
        self.sent_messages += 1;
        self.sent_bytes += bytes;
        if let Some(in_time) = &mut self.in_time {
            in_time.written += u64::from(in_time.counts(now));
        }
    }

    /// A message that was written then is lost, in a run that is measured from an instant on.
    pub fn on_loss(&mut self, written: Time, measured_from: Time) {
        self.lost_messages += 1;
        self.lost_of_warm_up += u64::from(written < measured_from);
    }

    /// So many messages are lost by now, and so many of these were written within the warm-up.
    pub(crate) fn set_lost(&mut self, [all, of_warm_up]: [u64; 2]) {
        (self.lost_messages, self.lost_of_warm_up) = (all, of_warm_up);
    }

    /// A message that was written then has arrived, `delay` later.
    #[inline]
    pub fn count_in_time(&mut self, written: Time, delay: Span) {
        if let Some(in_time) = &mut self.in_time {
            in_time.arrived += u64::from(in_time.counts(written) && delay <= in_time.deadline);
        }
    }

    /// The share of messages that arrived within the deadline, lost ones counted as late; NaN without a
    /// deadline, or without messages.
    pub fn in_time_share(&self) -> f64 {
        match &self.in_time {
            Some(in_time) if in_time.written > 0 => in_time.arrived as f64 / in_time.written as f64,
            _ => f64::NAN,
        }
    }

    fn delays_ns(&self) -> &[u64] {
        self.delays.as_ref().map_or(&[], |delays| &delays.all_ns)
    }

    /// Interarrival jitter (RFC 3550 section 6.4.1) at the end, in seconds; NaN with fewer than two messages.
    pub fn jitter_s(&self) -> f64 {
        match &self.delays {
            Some(delays) if delays.all_ns.len() >= 2 => delays.jitter_ns / 1e9,
            _ => f64::NAN,
        }
    }

    /// How far it is.
    pub fn mark(&self) -> Mark {
        let &Measurement { sent_messages, sent_bytes, delivered_messages, delivered_bytes, .. } = self;
        let delays = self.delays_ns().len();
        Mark { sent_messages, sent_bytes, delivered_messages, delivered_bytes, delays }
    }

    /// What was measured since it was that far, at the end of the warm-up; losses are those of what was sent
    /// since. The jitter is that at the end in any case: it forgets by itself.
    #[must_use]
    pub fn since(&self, mark: Mark) -> Measurement {
        Measurement {
            sent_messages: self.sent_messages - mark.sent_messages,
            sent_bytes: self.sent_bytes - mark.sent_bytes,
            delivered_messages: self.delivered_messages - mark.delivered_messages,
            delivered_bytes: self.delivered_bytes - mark.delivered_bytes,
            lost_messages: self.lost_messages - self.lost_of_warm_up,
            lost_of_warm_up: 0,
            completed_at: self.completed_at,
            // It knows by itself what is measured.
            in_time: self.in_time.clone(),
            delays: self.delays.as_ref().map(|delays| {
                let all_ns = delays.all_ns[mark.delays..].to_vec();
                Box::new(Delays { all_ns, jitter_ns: delays.jitter_ns })
            }),
        }
    }

    /// A percentile of the delays by nearest rank, in seconds; NaN without messages.
    pub fn delay_percentile_s(&self, percent: f64) -> f64 {
        delay_percentile_s(self.delays_ns(), percent)
    }

    /// Mean and percentiles of the delays; NaN without messages.
    pub fn delay_statistics(&self) -> DelayStatistics {
        delay_statistics(self.delays_ns())
    }
}

/// Mean and percentiles (nearest rank) of delays in nanoseconds; NaN when there are none.
pub fn delay_statistics(delays_ns: &[u64]) -> DelayStatistics {
    if delays_ns.is_empty() {
        return DelayStatistics { mean_s: f64::NAN, median_s: f64::NAN, p95_s: f64::NAN, p99_s: f64::NAN };
    }
    let mut sorted = delays_ns.to_vec();
    sorted.sort_unstable();
    let at = |percent| Span::from_ns(sorted[nearest_rank(sorted.len(), percent) - 1]).as_secs_f64();
    let sum: u128 = sorted.iter().map(|&ns| u128::from(ns)).sum();
    DelayStatistics {
        mean_s: sum as f64 / sorted.len() as f64 / 1e9,
        median_s: at(50.0),
        p95_s: at(95.0),
        p99_s: at(99.0),
    }
}

/// Nearest rank, from 1: which of `count` values in order is the smallest with at least so many percent of
/// them at or below it.
fn nearest_rank(count: usize, percent: f64) -> usize {
    // What is whole stays so: percentage, product and quotient are off by half of an epsilon each at most.
    let rank = count as f64 * percent / 100.0 * (1.0 - 2.0 * f64::EPSILON);
    (rank.ceil() as usize).clamp(1, count.max(1))
}

/// A percentile (nearest rank) of delays in nanoseconds, in seconds: the smallest with at least so many
/// percent of them at or below it; NaN when there are none.
pub fn delay_percentile_s(delays_ns: &[u64], percent: f64) -> f64 {
    if delays_ns.is_empty() {
        return f64::NAN;
    }
    let mut delays_ns = delays_ns.to_vec();
    let rank = nearest_rank(delays_ns.len(), percent);
    Span::from_ns(*delays_ns.select_nth_unstable(rank - 1).1).as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_in_time_at_its_deadline_and_not_behind_it() {
        let ms = |ms| Time::ZERO + Span::from_ms(ms);
        let mut measurement = Measurement::default();
        assert!(measurement.in_time_share().is_nan());
        // Of a run of 1 s whose first 100 ms are cut, what is written from 100 to 900 ms counts.
        measurement.expect_within(Span::from_ms(100), ms(100), ms(1000));
        assert!(measurement.in_time_share().is_nan());
        // Written at, and arrived after: in time at 200 and 900; late at 300; never at 400; the first and the
        // last do not count.
        for (written, delay) in
            [(99, Some(1)), (200, Some(100)), (300, Some(101)), (400, None), (900, Some(50)), (901, Some(1))]
        {
            measurement.on_write(ms(written), 10);
            if let Some(delay) = delay {
                measurement.count_in_time(ms(written), Span::from_ms(delay));
            }
        }
        assert_eq!((measurement.sent_messages, measurement.sent_bytes), (6, 60));
        assert_eq!(measurement.in_time_share(), 0.5);
    }

    #[test]
    fn no_more_messages_are_lost_than_were_sent_in_what_is_measured() {
        let s = |s| Time::ZERO + Span::from_secs(s);
        let mut measurement = Measurement::default();
        (0..5).for_each(|at| measurement.on_write(s(at), 10));
        let mark = measurement.mark();
        measurement.on_write(s(5), 10);
        // All of them are lost late; the last one alone was sent behind the warm-up of 5 s.
        (0..6).for_each(|at| measurement.on_loss(s(at), s(5)));
        let measured = measurement.since(mark);
        assert_eq!((measurement.sent_messages, measurement.lost_messages), (6, 6));
        assert_eq!((measured.sent_messages, measured.lost_messages), (1, 1));
    }

    #[test]
    fn percentiles_by_nearest_rank() {
        let delays: Vec<u64> = (1..=100).rev().map(|ms| ms * 1_000_000).collect();
        let statistics = delay_statistics(&delays);
        // Mean of 1..100 ms: 50.5 ms.
        assert_eq!(
            (statistics.mean_s, statistics.median_s, statistics.p95_s, statistics.p99_s),
            (0.0505, 0.05, 0.095, 0.099)
        );
        for (percent, s) in
            [(0.5, 0.001), (1.0, 0.001), (1.1, 0.002), (50.0, 0.05), (99.0, 0.099), (99.9, 0.1)]
        {
            assert_eq!(delay_percentile_s(&delays, percent), s, "{percent}");
        }
        assert!(delay_percentile_s(&[], 50.0).is_nan());
        assert!(delay_statistics(&[]).mean_s.is_nan());
        assert_eq!(delay_statistics(&[7]).p99_s, 7e-9);
    }

    #[test]
    fn a_rank_that_is_whole_stays_whole_however_many_values_there_are() {
        // 17.1 % of 10^8 are 17,100,000; as binary fractions the product is 4e-9 more.
        assert_eq!(nearest_rank(100_000_000, 17.1), 17_100_000);
        assert_eq!(nearest_rank(100_000_001, 17.1), 17_100_001);
        assert_eq!([nearest_rank(0, 50.0), nearest_rank(10, 0.0), nearest_rank(10, 100.0)], [1, 1, 10]);
    }

    #[test]
    fn what_came_before_a_mark_is_not_measured() {
        let mut measurement = Measurement::default();
        measurement.on_delivery(100, Span::from_ms(90));
        measurement.sent_messages = 3;
        let mark = measurement.mark();
        measurement.on_delivery(100, Span::from_ms(10));
        measurement.on_delivery(50, Span::from_ms(20));
        measurement.sent_messages = 7;
        let since = measurement.since(mark);
        assert_eq!((since.sent_messages, since.delivered_messages, since.delivered_bytes), (4, 2, 150));
        assert_eq!(since.delay_statistics().mean_s, 0.015);
        assert_eq!(since.delay_percentile_s(100.0), 0.02);
    }

    #[test]
    fn jitter_of_alternating_delays() {
        let mut measurement = Measurement::default();
        for delay_ms in [10, 26, 10] {
            measurement.on_delivery(100, Span::from_ms(delay_ms));
        }
        // D = 16 ms twice: J = 1 ms, then 1 + 15/16 = 1.9375 ms.
        assert!((measurement.jitter_s() - 1.9375e-3).abs() < 1e-12);
    }
}
