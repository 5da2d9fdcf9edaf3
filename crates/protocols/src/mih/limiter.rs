//! Flow control: a token bucket with a queue, one for each session, as IEEE 802.21 asks of an MIHF's sending.
//!
//! Whatever the MIHF sends in the session takes a token: first transmissions, retransmissions,
//! acknowledgements. A packet without a token waits in a FIFO queue; one that finds the queue full is dropped
//! and was never sent. All arithmetic is in whole numbers: a rate is held to the micro-token per second,
//! credit to the product of that and a nanosecond, so that no rounding accumulates.

use std::collections::VecDeque;

use roamsim_engine::{Span, Time};

/// A token bucket's settings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateLimit {
    /// Tokens that the bucket holds, at least 1; it starts full.
    pub bucket_packets: u32,
    /// Tokens a second.
    pub rate_per_s: f64,
    /// Packets that may wait.
    pub queue_packets: u32,
}

/// One token: micro-tokens x nanoseconds of a second.
const TOKEN: u128 = 1_000_000 * 1_000_000_000;

/// What became of a packet.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Offered<T> {
    /// A token was there: send it.
    Sent(T),
    /// It waits.
    Queued,
    /// The queue is full.
    Dropped,
}

/// A token bucket and what waits for its tokens.
#[derive(Debug)]
pub(super) struct Limiter<T> {
    capacity: u128,
    rate_micro_per_s: u64,
    credit: u128,
    updated: Time,
    queue: VecDeque<T>,
    queue_packets: usize,
}

impl<T> Limiter<T> {
    pub(super) fn new(limit: &RateLimit) -> Limiter<T> {
        let capacity = u128::from(limit.bucket_packets.max(1)) * TOKEN;
        Limiter {
            capacity,
            // A cast from a float saturates, and turns NaN into 0.
            rate_micro_per_s: (limit.rate_per_s * 1e6 + 0.5) as u64,
            credit: capacity,
            updated: Time::ZERO,
            queue: VecDeque::new(),
            queue_packets: limit.queue_packets as usize,
        }
    }

    fn refill(&mut self, now: Time) {
        let elapsed_ns = u128::from(now.since(self.updated).as_ns());
        self.updated = self.updated.max(now);
        self.credit += elapsed_ns * u128::from(self.rate_micro_per_s);
        if self.queue.is_empty() {
            self.credit = self.credit.min(self.capacity);
        }
        // Where a packet waits, its token is taken before the bucket can run over: the part of a token that
        // came between that instant and the next whole nanosecond is not lost.
    }

    /// Takes the packet, sends it, or drops it.
    pub(super) fn offer(&mut self, now: Time, packet: T) -> Offered<T> {
        self.refill(now);
        if self.queue.is_empty() && self.credit >= TOKEN {
            self.credit -= TOKEN;
            return Offered::Sent(packet);
        }
        if self.queue.len() >= self.queue_packets {
            return Offered::Dropped;
        }
        self.queue.push_back(packet);
        Offered::Queued
    }

    /// The packet whose token has come.
    pub(super) fn release(&mut self, now: Time) -> Option<T> {
        self.refill(now);
        if self.credit < TOKEN {
            return None;
        }
        let packet = self.queue.pop_front()?;
        self.credit -= TOKEN;
        Some(packet)
    }

    /// When the first of the queue gets its token; `None` when nothing waits, or the rate is zero.
    pub(super) fn next_release(&self) -> Option<Time> {
        if self.queue.is_empty() || self.rate_micro_per_s == 0 {
            return None;
        }
        let missing = TOKEN.saturating_sub(self.credit);
        let wait_ns = missing.div_ceil(u128::from(self.rate_micro_per_s));
        Some(self.updated + Span::from_ns(u64::try_from(wait_ns).unwrap_or(u64::MAX)))
    }

    /// How many wait.
    pub(super) fn queued(&self) -> usize {
        self.queue.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limiter(bucket_packets: u32, rate_per_s: f64, queue_packets: u32) -> Limiter<u32> {
        Limiter::new(&RateLimit { bucket_packets, rate_per_s, queue_packets })
    }

    #[test]
    fn a_full_bucket_sends_at_once_then_packets_wait_then_they_are_dropped() {
        let mut limiter = limiter(2, 10.0, 1);
        assert_eq!(limiter.offer(Time::ZERO, 1), Offered::Sent(1));
        assert_eq!(limiter.offer(Time::ZERO, 2), Offered::Sent(2));
        assert_eq!(limiter.offer(Time::ZERO, 3), Offered::Queued);
        assert_eq!(limiter.offer(Time::ZERO, 4), Offered::Dropped);
        // 10 tokens a second: the first comes after 100 ms.
        assert_eq!(limiter.next_release(), Some(Time::from_ns(100_000_000)));
        assert_eq!(limiter.release(Time::from_ns(99_999_999)), None);
        assert_eq!(limiter.release(Time::from_ns(100_000_000)), Some(3));
        assert_eq!(limiter.next_release(), None);
        // 250 ms on: 2.5 tokens were earned, the bucket holds 2.
        let later = Time::from_ns(350_000_000);
        assert_eq!(limiter.offer(later, 5), Offered::Sent(5));
        assert_eq!(limiter.offer(later, 6), Offered::Sent(6));
        assert_eq!(limiter.offer(later, 7), Offered::Queued);
    }

    #[test]
    fn a_rate_that_divides_no_second_loses_nothing() {
        // 3 tokens a second for 1000 s: exactly 3000 packets, the last at 1000 s.
        let mut limiter = limiter(1, 3.0, 4000);
        let mut sent = 0;
        for n in 0..3001 {
            if matches!(limiter.offer(Time::ZERO, n), Offered::Sent(_)) {
                sent += 1;
            }
        }
        assert_eq!(sent, 1);
        let mut last = Time::ZERO;
        while let Some(at) = limiter.next_release() {
            assert!(limiter.release(at).is_some());
            last = at;
        }
        assert_eq!(last, Time::from_ns(1_000_000_000_000));
    }

    #[test]
    fn without_a_rate_nothing_is_ever_released() {
        let mut limiter = limiter(1, 0.0, 1);
        assert_eq!(limiter.offer(Time::ZERO, 1), Offered::Sent(1));
        assert_eq!(limiter.offer(Time::ZERO, 2), Offered::Queued);
        assert_eq!(limiter.next_release(), None);
    }
}
