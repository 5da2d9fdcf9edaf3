//! Vegas' fine-grained timers: Brakmo, O'Malley and Peterson (SIGCOMM 1994) section 3.1, Brakmo and Peterson
//! (IEEE JSAC 13(8), 1995) section III.A.
//!
//! The time of sending of every segment in flight is kept. An ACK for new data measures the round trip of the
//! last segment it covers, unless it covers one that was sent again (Karn). From the measurements a timeout
//! follows as the RTO does, SRTT + 4 RTTVAR, but of the exact time and without a lower bound. Arriving ACKs
//! are the occasions to look at it; it never expires by itself:
//! - a duplicate ACK: if the segment at `snd_una` was sent longer ago than the timeout, it is lost. The
//!   settable number of duplicates counts beside it;
//! - the first and the second ACK for new data after a retransmission: the same for the segment that is then
//!   first, so that further losses of the window need no duplicates.
//!
//! A loss asks for a smaller window only if the segment was sent since the window was last made smaller for a
//! loss: several losses of one window reduce it once, and the loss of a retransmission reduces it again.
//! Sending a segment a third time and further doubles the timeout until the next measurement.
//!
//! Not modelled of the authors' implementation, as ns-2 keeps it: its timeout of 17/16 (SRTT + 2 RTTVAR), an
//! eighth more at the first repeat. RFC 6298's formula serves both timers here.

use std::collections::VecDeque;

use roamsim_engine::Time;

use super::{DuplicateAcks, Heard, LossDetection, Settings};
use crate::tcp::rtt::BoundedEstimator;

/// New ACKs after a retransmission at which the first segment in flight is looked at.
const CHECKS_AFTER_RETRANSMISSION: u8 = 2;

/// A segment in flight. It starts where the one before ends, or lower: nothing asks.
#[derive(Clone, Copy, Debug)]
struct Sent {
    /// One above its last octet.
    end: u64,
    /// When it was last sent.
    at: Time,
    /// Some octet of it had been sent before.
    repeated: bool,
}

/// The state of Vegas' detection.
#[derive(Clone, Debug)]
pub struct Vegas {
    duplicates: DuplicateAcks,
    /// What is in flight, in order. Bounded by the flight: one entry a segment, none below `snd_una`.
    sent: VecDeque<Sent>,
    timer: BoundedEstimator,
    /// New ACKs still to come at which the first segment is looked at.
    checks: u8,
    /// When a loss last asked for a smaller window.
    reduced_at: Option<Time>,
}

impl Vegas {
    /// Whether the segment at `snd_una` was sent longer ago than the timeout.
    #[inline]
    fn is_overdue(&self, now: Time) -> bool {
        let measured = self.timer.srtt().is_some();
        self.sent.front().is_some_and(|first| measured && now.since(first.at) > self.timer.rto())
    }
}

impl LossDetection for Vegas {
    const NAME: &str = "vegas";

    fn new(settings: &Settings) -> Vegas {
        Vegas {
            duplicates: DuplicateAcks::new(settings.dup_ack_threshold),
            sent: VecDeque::new(),
            timer: BoundedEstimator::fine_grained(settings.bounds),
            checks: 0,
            reduced_at: None,
        }
    }

    /// Octets from `start` to `end` are sent, behind everything in flight or again from `snd_una` on.
    #[inline]
    fn on_sent(&mut self, start: u64, end: u64, now: Time, repeated: bool) {
        let segment = Sent { end, at: now, repeated };
        match self.sent.back() {
            Some(last) if start < last.end => {
                while self.sent.front().is_some_and(|first| first.end <= end) {
                    self.sent.pop_front();
                }
                self.sent.push_front(segment);
            }
            _ => self.sent.push_back(segment),
        }
    }

    #[inline]
    fn on_duplicate(&mut self, now: Time) -> bool {
        self.duplicates.add() || self.is_overdue(now)
    }

    #[inline]
    fn is_lost_again(&self, now: Time) -> bool {
        self.is_overdue(now)
    }

    #[inline]
    fn on_new_ack(&mut self, snd_una: u64, now: Time) -> Heard {
        self.duplicates.clear();
        let (mut last, mut repeated) = (None, false);
        while let Some(&first) = self.sent.front().filter(|first| first.end <= snd_una) {
            self.sent.pop_front();
            last = Some(first.at);
            repeated |= first.repeated;
        }
        let rtt = last.filter(|_| !repeated).map(|at| now.since(at));
        if let Some(rtt) = rtt {
            self.timer.sample(rtt, 1);
        }
        let checked = self.checks > 0;
        self.checks = self.checks.saturating_sub(1);
        Heard { rtt, overdue: checked && self.is_overdue(now) }
    }

    /// The segment at `snd_una` is about to be retransmitted. True when its loss tells of congestion at the
    /// present window: when it was sent since the last reduction.
    fn on_repair(&mut self, now: Time) -> bool {
        self.checks = CHECKS_AFTER_RETRANSMISSION;
        let Some(first) = self.sent.front() else { return true };
        if first.repeated {
            self.timer.back_off();
        }
        let reduces = self.reduced_at.is_none_or(|at| first.at >= at);
        if reduces {
            self.reduced_at = Some(now);
        }
        reduces
    }

    /// Everything in flight is taken as lost.
    fn on_timeout(&mut self, now: Time) {
        self.duplicates.clear();
        self.sent.clear();
        self.checks = 0;
        self.reduced_at = Some(now);
    }

    #[inline]
    fn counter(&self) -> &DuplicateAcks {
        &self.duplicates
    }

    #[inline]
    fn counter_mut(&mut self) -> &mut DuplicateAcks {
        &mut self.duplicates
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::rtt::Bounds;
    use roamsim_engine::Span;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    /// Ten segments of 1000 octets, a millisecond apart from 0 on, after a measurement of 100 ms at 100 ms.
    fn in_flight() -> Vegas {
        let (second, minute) = (Span::from_secs(1), Span::from_secs(60));
        let tick = Span::from_ms(1);
        let bounds =
            Bounds { initial: second, min_rto: second, min_margin: tick, max_rto: minute, granularity: tick };
        let mut part = Vegas::new(&Settings { dup_ack_threshold: 3, bounds });
        for i in 0..10 {
            part.on_sent(1 + 1000 * i, 1001 + 1000 * i, ms(i), false);
        }
        let heard = part.on_new_ack(1001, ms(100));
        assert_eq!((heard.rtt, heard.overdue), (Some(Span::from_ms(100)), false));
        part
    }

    #[test]
    fn the_first_duplicate_tells_of_a_loss_when_the_segment_is_old() {
        // SRTT 100, RTTVAR 50: 300 ms after 1 ms.
        let mut part = in_flight();
        assert!(!part.on_duplicate(ms(301)));
        let mut part = in_flight();
        assert!(part.on_duplicate(Time::from_ns(301_000_001)));
    }

    #[test]
    fn three_duplicates_tell_of_a_loss_of_a_young_segment() {
        let mut part = in_flight();
        assert_eq!([102, 103, 104].map(|at| part.on_duplicate(ms(at))), [false, false, true]);
    }

    #[test]
    fn the_last_segment_covered_measures_and_one_repeated_spoils() {
        let mut part = in_flight();
        // Up to 4001: the segment sent at 3 ms.
        assert_eq!(part.on_new_ack(4001, ms(120)).rtt, Some(Span::from_ms(117)));
        part.on_sent(4001, 5001, ms(150), true);
        assert_eq!(part.on_new_ack(7001, ms(250)).rtt, None);
        assert_eq!(part.on_new_ack(8001, ms(251)).rtt, Some(Span::from_ms(244)));
        // Into a segment: nothing is measured, and it stays in flight.
        assert_eq!(part.on_new_ack(8500, ms(251)).rtt, None);
        assert_eq!(part.on_new_ack(9001, ms(252)).rtt, Some(Span::from_ms(244)));
    }

    #[test]
    fn a_segment_cut_differently_takes_the_place_of_those_it_holds() {
        let mut part = in_flight();
        // 2500 octets again from 1001 on: two and a half segments.
        part.on_sent(1001, 3501, ms(350), true);
        assert!(!part.is_overdue(ms(400)));
        assert_eq!(part.on_new_ack(3501, ms(450)).rtt, None);
        // The other half of the fourth, sent at 3 ms.
        assert_eq!(part.on_new_ack(4001, ms(453)).rtt, Some(Span::from_ms(450)));
        // All of the rest and new octets behind.
        part.on_sent(4001, 12_001, ms(500), true);
        assert_eq!(part.sent.len(), 1);
    }

    #[test]
    fn two_new_acks_after_a_retransmission_are_looked_at() {
        let mut part = in_flight();
        let later = 500;
        assert!(!part.on_new_ack(2001, ms(later)).overdue);
        assert!(part.on_repair(ms(later)));
        part.on_sent(2001, 3001, ms(later), true);
        // The measurement of 499 ms has raised the timeout to 748; 900 is beyond it.
        assert!(part.on_new_ack(3001, ms(900)).overdue);
        assert!(!part.on_repair(ms(900)), "sent before the window was reduced");
        part.on_sent(3001, 4001, ms(900), true);
        assert!(part.on_new_ack(4001, ms(1300)).overdue);
        // Not repaired this time: the second one is the last. Within a segment none measures.
        assert!(part.on_new_ack(4500, ms(1301)).overdue);
        assert!(!part.on_new_ack(4600, ms(1302)).overdue);
        assert!(part.is_overdue(ms(1302)));
    }

    #[test]
    fn a_repeat_of_a_repeat_doubles_the_timeout() {
        let mut part = in_flight();
        assert!(part.on_duplicate(ms(302)));
        part.on_repair(ms(302));
        part.on_sent(1001, 2001, ms(302), true);
        assert!(!part.is_overdue(ms(602)));
        assert!(part.is_overdue(ms(603)));
        assert!(part.on_repair(ms(603)), "sent since the window was reduced");
        part.on_sent(1001, 2001, ms(603), true);
        // 600 ms now.
        assert!(!part.is_overdue(ms(1203)));
        assert!(part.is_overdue(ms(1204)));
    }

    #[test]
    fn a_timeout_forgets() {
        let mut part = in_flight();
        part.on_repair(ms(400));
        part.on_timeout(ms(1000));
        assert!(!part.is_overdue(ms(2000)));
        part.on_sent(1001, 2001, ms(1000), true);
        let heard = part.on_new_ack(10_001, ms(1500));
        assert_eq!((heard.rtt, heard.overdue), (None, false));
        assert!(part.sent.is_empty());
    }
}
