//! What a control needs to know of each datagram that the library sent: what had been delivered when it left.
//! From it follow samples of the rate of delivery (draft-ietf-ccwg-bbr-06 section 4.1), and offsets in the
//! order of sending, by which a control tells round trips apart.
//!
//! The library tells a control the time at which an acknowledged packet was sent, and its octets. Datagrams
//! with acknowledgements alone are never acknowledged; they leave the list when it grows beyond four windows.

use roamsim_engine::{Span, Time};
use roamsim_protocols::tcp::congestion::Delivery;
use roamsim_protocols::tcp::{Lost, RateSample};
use std::collections::VecDeque;

/// A datagram that was sent.
#[derive(Clone, Copy, Debug)]
struct Record {
    at: Time,
    /// One above its last octet, of all that was sent.
    end: u64,
    bytes: u64,
    /// Octets of it that are not acknowledged.
    left_bytes: u64,
    delivered: u64,
    delivered_at: Time,
    first_sent_at: Time,
    in_flight: u64,
    lost: u64,
    app_limited: bool,
}

/// The datagrams of one path.
#[derive(Clone, Debug, Default)]
pub(super) struct Packets {
    records: VecDeque<Record>,
    /// Octets sent, and the end of the last datagram in order of sending that is acknowledged.
    pub(super) sent_bytes: u64,
    pub(super) acked_to: u64,
    /// Octets that are neither acknowledged nor lost, as the library counts them.
    pub(super) in_flight: u64,
    listed_bytes: u64,
    delivered: u64,
    delivered_at: Time,
    first_sent_at: Time,
    lost: u64,
    /// What is delivered up to here was limited by the application; 0 when nothing is.
    app_limited_until: u64,
    /// Of the acknowledgement under way.
    newly_acked: u64,
    newest: Option<Record>,
    min_rtt: Span,
}

impl Packets {
    pub(super) fn on_sent(&mut self, now: Time, bytes: u64, window_bytes: u64) {
        if self.in_flight == 0 {
            // A time with nothing in flight is no part of any interval.
            (self.first_sent_at, self.delivered_at) = (now, now);
        }
        self.sent_bytes += bytes;
        self.in_flight += bytes;
        self.listed_bytes += bytes;
        self.records.push_back(Record {
            at: now,
            end: self.sent_bytes,
            bytes,
            left_bytes: bytes,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent_at: self.first_sent_at,
            in_flight: self.in_flight,
            lost: self.lost,
            app_limited: self.app_limited_until > 0,
        });
        while self.listed_bytes > window_bytes.saturating_mul(4)
            || self.records.front().is_some_and(|first| first.left_bytes == 0)
        {
            let Some(first) = self.records.pop_front() else { break };
            self.listed_bytes -= first.bytes;
        }
    }

    /// A packet of so many octets, sent then, is acknowledged.
    pub(super) fn on_ack(&mut self, now: Time, sent: Time, bytes: u64) {
        self.delivered += bytes;
        self.delivered_at = now;
        self.newly_acked += bytes;
        let rtt = now.since(sent);
        self.min_rtt = if self.min_rtt == Span::ZERO { rtt } else { self.min_rtt.min(rtt) };
        let first = self.records.partition_point(|record| record.at < sent);
        let mut those = self.records.range_mut(first..).take_while(|record| record.at == sent);
        let Some(record) = those.find(|record| record.left_bytes > 0) else { return };
        record.left_bytes = record.left_bytes.saturating_sub(bytes);
        self.acked_to = self.acked_to.max(record.end);
        if self.newest.is_none_or(|newest| newest.end < record.end) {
            self.newest = Some(*record);
        }
    }

    /// The sender has nothing else to send: what is delivered from what is in flight says nothing of the
    /// path.
    pub(super) fn on_app_limited(&mut self) {
        self.app_limited_until = (self.delivered + self.in_flight).max(1);
    }

    /// What the acknowledgement told that ends now.
    pub(super) fn delivery(&mut self, now: Time, is_recovering: impl Fn(Time) -> bool) -> Option<Delivery> {
        let newest = self.newest.take()?;
        if self.app_limited_until > 0 && self.delivered > self.app_limited_until {
            self.app_limited_until = 0;
        }
        let interval =
            newest.at.since(newest.first_sent_at).max(self.delivered_at.since(newest.delivered_at));
        self.first_sent_at = newest.at;
        Some(Delivery {
            now,
            sample: RateSample {
                delivered_bytes: self.delivered - newest.delivered,
                // Shorter than the path allows: what it tells of came in a burst.
                interval: if interval < self.min_rtt { Span::ZERO } else { interval },
                app_limited: newest.app_limited,
                prior_delivered: newest.delivered,
                in_flight_at_sent: newest.in_flight,
                lost_since_sent: self.lost - newest.lost,
            },
            rtt: Some(now.since(newest.at)),
            newly_acked_bytes: std::mem::take(&mut self.newly_acked),
            delivered_bytes: self.delivered,
            in_flight_bytes: self.in_flight,
            recovering: is_recovering(newest.at),
        })
    }

    /// So many octets are lost, the last of them sent then. As one loss: the library does not tell them
    /// apart.
    pub(super) fn on_loss(&mut self, sent: Time, bytes: u64) -> Lost {
        self.lost += bytes;
        self.in_flight = self.in_flight.saturating_sub(bytes);
        let after = self.records.partition_point(|record| record.at <= sent);
        let last = after.checked_sub(1).and_then(|place| self.records.get(place));
        last.map_or_else(Lost::default, |last| Lost {
            start: last.end.saturating_sub(bytes),
            end: last.end,
            in_flight_at_sent: last.in_flight,
            lost_since_sent: self.lost - last.lost,
            app_limited: last.app_limited,
        })
    }

    pub(super) fn delivered_bytes(&self) -> u64 {
        self.delivered
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    /// Ten datagrams of 1000 octets leave 1 ms apart, and are acknowledged 50 ms later, 2 ms apart. The
    /// acknowledgement of the one of 9 ms tells of ten, delivered since the flight began: 10,000 octets in
    /// the longer of 9 ms of sending and 68 ms until then.
    #[test]
    fn a_sample_is_what_was_delivered_over_the_longer_of_two_times() {
        let mut packets = Packets::default();
        (0..10).for_each(|number| packets.on_sent(ms(number), 1000, 100_000));
        assert_eq!((packets.in_flight, packets.sent_bytes), (10_000, 10_000));
        let mut last = None;
        for number in 0..10 {
            let now = ms(50 + 2 * number);
            packets.on_ack(now, ms(number), 1000);
            packets.in_flight -= 1000;
            last = packets.delivery(now, |_| false);
        }
        let last = last.expect("a sample");
        assert_eq!((last.sample.delivered_bytes, last.sample.interval), (10_000, Span::from_ms(68)));
        assert_eq!((last.sample.in_flight_at_sent, last.delivered_bytes), (10_000, 10_000));
        assert_eq!((packets.acked_to, last.rtt), (10_000, Some(Span::from_ms(59))));
        // What leaves next begins its interval when the flight was empty.
        packets.on_sent(ms(100), 1000, 100_000);
        packets.on_ack(ms(150), ms(100), 1000);
        let next = packets.delivery(ms(150), |_| false).expect("a sample");
        assert_eq!((next.sample.delivered_bytes, next.sample.interval), (1000, Span::from_ms(50)));
    }

    #[test]
    fn a_loss_is_told_with_the_flight_of_its_last_packet() {
        let mut packets = Packets::default();
        (0..5).for_each(|number| packets.on_sent(ms(number), 1000, 100_000));
        let lost = packets.on_loss(ms(1), 2000);
        assert_eq!(
            (lost.start, lost.end, lost.in_flight_at_sent, lost.lost_since_sent),
            (0, 2000, 2000, 2000)
        );
        packets.on_ack(ms(60), ms(4), 1000);
        let delivery = packets.delivery(ms(60), |_| true).expect("a sample");
        assert_eq!((delivery.sample.lost_since_sent, delivery.in_flight_bytes), (2000, 3000));
        assert!(delivery.recovering);
    }

    /// A receiver sends acknowledgements that nobody acknowledges.
    #[test]
    fn what_is_never_acknowledged_does_not_pile_up() {
        let mut packets = Packets::default();
        (0..10_000).for_each(|number| packets.on_sent(ms(number), 40, 12_000));
        assert!(packets.records.len() <= 4 * 12_000 / 40, "{}", packets.records.len());
    }
}
