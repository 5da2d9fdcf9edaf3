//! The pace of a transmitter: a bit rate that may change, or the delivery opportunities of a recorded path.
//!
//! Opportunities are after mahimahi's link emulator (Netravali et al., "Mahimahi: Accurate Record-and-Replay
//! for HTTP", USENIX ATC 2015; `src/frontend/link_queue.cc` of its public source). A trace has a line for
//! each opportunity, the millisecond at which [`OPPORTUNITY_BYTES`] octets may leave: an IP packet of 1500
//! octets with the [`HEADER_BYTES`] by which a TUN device begins each. What one opportunity leaves of a
//! packet goes with the next, and only then has the packet left; what packets leave of an opportunity is for
//! those that already wait, and is lost where none does. An opportunity comes before a packet that arrives at
//! the same instant. Behind the last line the trace begins again, its zero at the instant of that line.

use super::series::Series;
use roamsim_engine::{Span, Time};
use std::sync::Arc;

/// What may leave at an opportunity.
pub const OPPORTUNITY_BYTES: u32 = 1504;

/// What a TUN device puts before each packet: flags and protocol, two octets each.
pub const HEADER_BYTES: u32 = 4;

const NS_PER_MS: u64 = 1_000_000;

/// When a transmitter takes packets, and when their last bits have left.
#[derive(Clone, Debug)]
pub enum Pace {
    /// Bits per second. Where that is zero nothing is sent.
    Rate(Series<u64>),
    /// Delivery opportunities.
    Opportunities(Opportunities),
}

impl Pace {
    /// The first instant from `now` on at which a packet can be taken, where nothing has waited up to `now`.
    pub fn rest(&mut self, now: Time) -> Time {
        match self {
            Pace::Rate(series) => first_above_zero(series, now),
            Pace::Opportunities(opportunities) => {
                opportunities.pass(now);
                opportunities.time()
            }
        }
    }

    /// When the last bit of a packet has left that is taken at `start`, and from when on the next can be
    /// taken.
    pub fn send(&mut self, start: Time, bytes: u32) -> (Time, Time) {
        match self {
            Pace::Rate(series) => {
                let departure = departure(series, start, bytes);
                (departure, first_above_zero(series, departure))
            }
            Pace::Opportunities(opportunities) => {
                let departure = opportunities.send(bytes);
                (departure, opportunities.time())
            }
        }
    }
}

/// The first instant from `at` on at which there is a rate.
fn first_above_zero(series: &Series<u64>, mut at: Time) -> Time {
    loop {
        match series.stretch(at) {
            (0, until) if until < Time::MAX => at = until,
            (0, _) => return Time::MAX,
            _ => return at,
        }
    }
}

/// When the last bit has left of a packet whose first leaves at `start`, at the rates of the time. One that
/// is being sent when the rate falls to zero for good is sent to its end at the rate before.
fn departure(series: &Series<u64>, start: Time, bytes: u32) -> Time {
    let (rate_bps, until) = series.stretch(start);
    let end = start + Span::of_transmission(u64::from(bytes), rate_bps);
    if end <= until {
        return end;
    }
    // Bits per second times nanoseconds.
    let mut left = u128::from(bytes) * 8 * 1_000_000_000;
    let (mut at, mut last_bps) = (start, 1_u128);
    let mut first_period = true;
    loop {
        let (rate_bps, until) = series.stretch(at);
        if rate_bps > 0 || until == Time::MAX {
            last_bps = if rate_bps > 0 { u128::from(rate_bps) } else { last_bps };
            let here = last_bps * u128::from(until.since(at).as_ns());
            if here >= left {
                let span_ns = (left + last_bps / 2) / last_bps;
                return at + Span::from_ns(u64::try_from(span_ns).unwrap_or(u64::MAX));
            }
            left -= here;
        }
        if until == Time::MAX {
            return Time::MAX;
        }
        at = until;
        if first_period && let Some(period) = series.period_from(at) {
            first_period = false;
            // Whole periods in which the packet is not sent to its end. There is a rate in a period, or
            // nothing would have been begun.
            let bits_ns: u128 =
                series.stretches().map(|(bps, span)| u128::from(bps) * u128::from(span.as_ns())).sum();
            let periods = (left - 1) / bits_ns.max(1);
            left -= periods * bits_ns;
            at += period.saturating_mul(u64::try_from(periods).unwrap_or(u64::MAX));
        }
    }
}

/// The delivery opportunities of a trace, again and again.
#[derive(Clone, Debug)]
pub struct Opportunities {
    /// In milliseconds, in ascending order; the last is above zero.
    schedule_ms: Arc<[u32]>,
    /// When this pass through the schedule began.
    begun: Time,
    /// The place of the next opportunity.
    next: usize,
    /// What is left of it.
    left_bytes: u32,
    /// How many passes are behind.
    passes: u64,
    /// Octets that have been given to packets.
    used_bytes: u64,
}

impl Opportunities {
    /// Those of a schedule in milliseconds, in ascending order, from the beginning of the run on; `None`
    /// where they take no time.
    pub fn new(schedule_ms: Arc<[u32]>) -> Option<Opportunities> {
        schedule_ms.last().filter(|&&last| last > 0)?;
        Some(Opportunities {
            schedule_ms,
            begun: Time::ZERO,
            next: 0,
            left_bytes: OPPORTUNITY_BYTES,
            passes: 0,
            used_bytes: 0,
        })
    }

    fn period(&self) -> Span {
        Span::from_ms(u64::from(self.schedule_ms[self.schedule_ms.len() - 1]))
    }

    /// When the next opportunity is.
    fn time(&self) -> Time {
        self.begun + Span::from_ms(u64::from(self.schedule_ms[self.next]))
    }

    fn advance(&mut self) {
        self.left_bytes = OPPORTUNITY_BYTES;
        self.next += 1;
        if self.next == self.schedule_ms.len() {
            self.begun += self.period();
            self.passes += 1;
            self.next = 0;
        }
    }

    /// Nothing waits: the opportunities up to `now` are lost.
    fn pass(&mut self, now: Time) {
        if self.time() > now {
            return;
        }
        self.left_bytes = OPPORTUNITY_BYTES;
        let passes = now.since(self.begun).as_ns() / self.period().as_ns();
        if passes > 0 {
            self.begun += self.period().saturating_mul(passes);
            self.passes += passes;
            self.next = 0;
        }
        let into_ms = now.since(self.begun).as_ns() / NS_PER_MS;
        self.next += self.schedule_ms[self.next..].partition_point(|&ms| u64::from(ms) <= into_ms);
    }

    /// Gives a packet its octets; when it has the last of them it has left.
    fn send(&mut self, bytes: u32) -> Time {
        let mut left = bytes + HEADER_BYTES;
        self.used_bytes += u64::from(left);
        loop {
            let sent = left.min(self.left_bytes);
            let departure = self.time();
            left -= sent;
            self.left_bytes -= sent;
            if self.left_bytes == 0 {
                self.advance();
            }
            if left == 0 {
                return departure;
            }
        }
    }

    /// The share of all octets up to `now` that packets have been given.
    pub fn share_used(&self, now: Time) -> f64 {
        let elapsed = now.as_ns();
        let passes = elapsed / self.period().as_ns();
        let into_ms = elapsed % self.period().as_ns() / NS_PER_MS;
        let of_pass = self.schedule_ms.partition_point(|&ms| u64::from(ms) <= into_ms);
        let count = passes * self.schedule_ms.len() as u64 + of_pass as u64;
        match count {
            0 => 0.0,
            _ => (self.used_bytes as f64 / (count as f64 * f64::from(OPPORTUNITY_BYTES))).min(1.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    fn series(steps: &[(u64, u64)], period_ms: Option<u64>) -> Series<u64> {
        let steps = steps.iter().map(|&(ms, bps)| (at(ms), bps)).collect();
        Series::new(steps, period_ms.map(Span::from_ms)).expect("steps")
    }

    #[test]
    fn a_packet_is_sent_at_the_rates_of_its_time() {
        // 1000 octets are 8000 bits. At 4 Mb/s from 0 to 1 ms 4000 of them, the other half at 1 Mb/s in 4 ms.
        let falls = series(&[(0, 4_000_000), (1, 1_000_000)], None);
        assert_eq!(departure(&falls, at(0), 1000), at(5));
        assert_eq!(departure(&falls, at(1), 1000), at(9));
        // With a pause from 1 to 10 ms.
        let pauses = series(&[(0, 4_000_000), (1, 0), (10, 1_000_000)], None);
        assert_eq!(departure(&pauses, at(0), 1000), at(14));
        assert_eq!(first_above_zero(&pauses, at(1)), at(10));
        // For good: the half that is left at the rate before, in a millisecond.
        let ends = series(&[(0, 4_000_000), (1, 0)], None);
        assert_eq!(departure(&ends, at(0), 1000), at(2));
        assert_eq!(first_above_zero(&ends, at(2)), Time::MAX);
        // Again and again: 2000 bits in each period of 3 ms, of which the first carries all; 8000 are four of
        // them.
        let again = series(&[(0, 2_000_000), (1, 0)], Some(3));
        assert_eq!(departure(&again, at(0), 1000), at(10));
        // From within the first: 1000 bits in the 0.5 ms that are left there, 2000 in each of three, 1000 in
        // 0.5 ms of the fifth, which begins at 12 ms.
        assert_eq!(departure(&again, Time::from_ns(500_000), 1000), Time::from_ns(12_500_000));
    }

    #[test]
    fn a_packet_that_lasts_for_many_periods_is_no_walk_through_them() {
        // A microsecond of 1 b/s in each millisecond: 10^-6 bits. 8000 bits are 8 x 10^9 periods, the last of
        // which ends with its first microsecond.
        let steps = vec![(at(0), 1), (Time::from_ns(1000), 0)];
        let trickle = Series::new(steps, Some(Span::from_ms(1))).expect("steps");
        assert_eq!(departure(&trickle, at(0), 1000), at(7_999_999_999) + Span::from_us(1));
        // 1500 octets at 10^-6 bits in each of 10^12 s would be past the end of time.
        let steps = vec![(at(0), 1), (Time::from_ns(1000), 0)];
        let never = Series::new(steps, Some(Span::from_secs(1_000_000_000))).expect("steps");
        assert_eq!(departure(&never, at(0), 1500), Time::MAX);
    }

    #[test]
    fn a_rate_that_is_not_whole_nanoseconds_is_rounded_once() {
        // 12,000 bits: 3000 at 3 Mb/s in 1 ms, 9000 at 7 Mb/s in 1,285,714.3 ns.
        let rises = series(&[(0, 3_000_000), (1, 7_000_000)], None);
        assert_eq!(departure(&rises, at(0), 1500), Time::from_ns(2_285_714));
    }

    fn opportunities(schedule_ms: &[u32]) -> Opportunities {
        Opportunities::new(schedule_ms.into()).expect("a schedule")
    }

    #[test]
    fn an_opportunity_carries_1504_octets_with_4_of_header_a_packet() {
        let mut path = opportunities(&[2, 5, 5, 9]);
        // 1500 + 4 octets fill one; the next two of 746 + 4 leave 4 of theirs, of which the header of the
        // next is sent; its 1500 follow with the other opportunity of that millisecond, which has 4 left for
        // the last packet.
        assert_eq!([1500, 746, 746, 1500, 100].map(|bytes| path.send(bytes)), [2, 5, 5, 5, 9].map(at));
        assert_eq!(path.left_bytes, 1504 - 100);
    }

    #[test]
    fn opportunities_without_packets_are_lost_and_the_trace_begins_again() {
        let mut path = opportunities(&[0, 4, 10]);
        path.pass(at(3));
        assert_eq!(path.time(), at(4));
        path.pass(at(4));
        assert_eq!(path.time(), at(10));
        // Of the first pass the last, and of the second the first are at 10 ms.
        assert_eq!([path.send(1500), path.send(1500), path.send(1500)], [at(10), at(10), at(14)]);
        path.pass(at(1_000_000_014));
        assert_eq!((path.time(), path.passes), (at(1_000_000_020), 100_000_001));
    }

    #[test]
    fn the_share_used_is_that_of_the_octets_offered() {
        let mut path = opportunities(&[1, 2, 3, 4]);
        path.send(748);
        path.send(1500);
        // 752 + 1504 of four times 1504.
        assert_eq!(path.share_used(at(4)), 2256.0 / 6016.0);
        assert_eq!(path.share_used(Time::ZERO), 0.0);
    }
}
