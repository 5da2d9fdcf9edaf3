//! Losses by time: RACK, RFC 8985 section 6.
//!
//! A transmission is lost when another that was sent later has arrived, and a round trip and a window for
//! reordering have passed since it was sent. The round trip is that of what has arrived last, also of what
//! was overtaken (step 2). Retransmissions count as any other: one that is lost is found in the same way.
//! What arrives too early to be that of a retransmission tells of the original, and is passed over (step 2).
//!
//! The window (step 4) is zero as long as the path has not been seen to reorder and either a repair is under
//! way or `dup_ack_threshold` segments have been told of; otherwise a quarter of the smallest round trip, a
//! quarter more for each round that brings a duplicate report (D-SACK), at most SRTT, and back to one after
//! sixteen repairs without. By the rules of Linux a report counts once something has arrived that was sent
//! since the window last grew. Its timer for what may be lost is 2 ms late.
//!
//! Chosen: the smallest round trip is that of the last five to ten minutes, as Linux has five. A repair that
//! is undone is none of the sixteen (`tcp_try_undo_recovery` of Linux 6.12): it shows a window too small.

use roamsim_engine::{Span, Time};

use crate::tcp::sent::Sent;

/// Repairs without a duplicate report until the window is as small as at first.
const PERSIST: u32 = 16;

/// Further quarters that Linux counts at most.
const MOST_QUARTERS: u32 = 254;

/// How long a smallest round trip counts at least.
const MIN_RTT_WINDOW: Span = Span::from_secs(300);

/// The smallest round trip of the last one or two windows.
#[derive(Clone, Copy, Debug)]
pub(in crate::tcp) struct MinRtt {
    since: Time,
    now: Span,
    before: Span,
}

impl Default for MinRtt {
    fn default() -> MinRtt {
        MinRtt { since: Time::ZERO, now: Span::MAX, before: Span::MAX }
    }
}

impl MinRtt {
    pub(in crate::tcp) fn take(&mut self, now: Time, rtt: Span) {
        if now.since(self.since) > MIN_RTT_WINDOW {
            (self.since, self.before, self.now) = (now, self.now, Span::MAX);
        }
        self.now = self.now.min(rtt);
    }

    /// `None` before the first measurement.
    pub(in crate::tcp) fn get(&self) -> Option<Span> {
        let least = self.now.min(self.before);
        (least != Span::MAX).then_some(least)
    }
}

/// The state of RACK.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::tcp) struct Rack {
    /// The transmission sent last of those that have arrived: its time and where it ends.
    newest: (Time, u64),
    /// The round trip of the one that has arrived last.
    rtt: Span,
    pub(in crate::tcp) min_rtt: MinRtt,
    reordering_seen: bool,
    /// By how many octets the path has reordered at most.
    pub(in crate::tcp) most_reordered_bytes: u64,
    /// The round in which a duplicate report has counted ends here.
    dsack_round: Option<u64>,
    /// Further quarters of a round trip in the window.
    more_quarters: u32,
    persist: u32,
    /// By Linux's rules: a duplicate has been reported that has not widened the window yet, and what had been
    /// delivered when one last did.
    pub(in crate::tcp) has_duplicate: bool,
    widened_at: u64,
}

/// What the window for reordering depends on.
#[derive(Clone, Copy, Debug)]
pub(in crate::tcp) struct Conditions {
    /// A repair is under way, after duplicates or a timeout.
    pub(in crate::tcp) repairing: bool,
    /// As many segments have been told of as duplicate ACKs tell of a loss.
    pub(in crate::tcp) threshold_reached: bool,
    pub(in crate::tcp) srtt: Span,
}

impl Rack {
    /// Steps 1 to 3: an acknowledgement has told of what is `heard`. `predates` says of the time of a
    /// retransmission whether the acknowledgement answers a transmission before it.
    pub(in crate::tcp) fn on_delivered(&mut self, sent: &Sent, now: Time, predates: impl Fn(Time) -> bool) {
        let heard = &sent.heard;
        let measured = heard.newest_original.map(|(at, _)| now.since(at));
        if let Some(rtt) = measured {
            self.min_rtt.take(now, rtt);
        }
        let is_ambiguous = |at| predates(at) || self.min_rtt.get().is_some_and(|least| now.since(at) < least);
        let repeated = sent.repeated_heard().iter().copied().filter(|&(at, _)| !is_ambiguous(at));
        let newest = repeated.chain(heard.newest_original).max();
        if let Some((at, end)) = newest {
            self.newest = self.newest.max((at, end));
            self.rtt = now.since(at);
        }
        self.on_reordered(heard.reordered_bytes);
    }

    /// A segment has arrived behind others. They end so many octets above its start, or 0 where none has.
    pub(in crate::tcp) fn on_reordered(&mut self, bytes: u64) {
        self.reordering_seen |= bytes > 0;
        self.most_reordered_bytes = self.most_reordered_bytes.max(bytes);
    }

    /// An acknowledgement that reports a duplicate, while everything below `snd_una` is acknowledged and
    /// everything below `snd_nxt` sent: the window grows once a round.
    pub(in crate::tcp) fn on_duplicate_report(&mut self, snd_una: u64, snd_nxt: u64) {
        if self.dsack_round.is_some_and(|round| snd_una < round) {
            return;
        }
        self.dsack_round = Some(snd_nxt);
        self.more_quarters = self.more_quarters.saturating_add(1);
        self.persist = PERSIST;
    }

    /// Whether the path has been seen to reorder.
    pub(in crate::tcp) fn has_seen_reordering(&self) -> bool {
        self.reordering_seen
    }

    /// The same by the rules of Linux, for any acknowledgement that may report a `duplicate` on a path that
    /// has been seen to reorder: the window grows once something is delivered that was sent since it last did
    /// (`tcp_rack_update_reo_wnd`). `prior` octets had been delivered when that was sent, if anything is, and
    /// `delivered` are by now.
    pub(in crate::tcp) fn follow_duplicate_reports(
        &mut self,
        duplicate: bool,
        prior: Option<u64>,
        delivered: u64,
    ) {
        self.has_duplicate |= duplicate;
        let Some(prior) = prior else { return };
        if std::mem::take(&mut self.has_duplicate) && prior >= self.widened_at {
            self.widened_at = delivered;
            self.more_quarters = self.more_quarters.saturating_add(1).min(MOST_QUARTERS);
            self.persist = PERSIST;
        }
    }

    /// A repair has ended, and was needed.
    pub(in crate::tcp) fn on_repaired(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.more_quarters = 0;
        }
    }

    /// The window for reordering.
    pub(in crate::tcp) fn window(&self, conditions: &Conditions) -> Span {
        if !self.reordering_seen && (conditions.repairing || conditions.threshold_reached) {
            return Span::ZERO;
        }
        let quarter = Span::from_ns(self.min_rtt.get().unwrap_or(Span::ZERO).as_ns() / 4);
        quarter.saturating_mul(u64::from(self.more_quarters) + 1).min(conditions.srtt)
    }

    /// Whether step 5 may find anything.
    #[inline]
    pub(in crate::tcp) fn may_mark(&self, sent: &Sent) -> bool {
        sent.has_older_than(self.newest)
    }

    /// Step 5: marks what is lost; the time at which the last of the others will be, unless an
    /// acknowledgement comes.
    pub(in crate::tcp) fn mark_lost(
        &self,
        sent: &mut Sent,
        now: Time,
        conditions: &Conditions,
    ) -> Option<Time> {
        let patience = self.rtt + self.window(conditions);
        sent.mark_lost(self.newest, |at| (at + patience > now).then_some(at + patience))
    }

    /// Section 6.3: the retransmission timer expired. The first segment is lost, and others are as old as it
    /// takes.
    pub(in crate::tcp) fn mark_lost_at_timeout(&self, sent: &mut Sent, now: Time, conditions: &Conditions) {
        let patience = self.rtt + self.window(conditions);
        sent.mark_lost_at_timeout(|at| at + patience <= now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SRTT: Span = Span::from_ms(100);

    fn window(rack: &Rack, repairing: bool, threshold_reached: bool) -> Span {
        rack.window(&Conditions { repairing, threshold_reached, srtt: SRTT })
    }

    #[test]
    fn the_window_grows_to_the_round_trip_and_shrinks_after_sixteen_repairs() {
        let mut rack = Rack::default();
        rack.min_rtt.take(Time::ZERO, Span::from_ms(80));
        assert_eq!(window(&rack, false, false), Span::from_ms(20));
        // Not reordered so far: zero in a repair, and at the threshold.
        assert_eq!((window(&rack, true, false), window(&rack, false, true)), (Span::ZERO, Span::ZERO));
        rack.reordering_seen = true;
        assert_eq!(window(&rack, true, true), Span::from_ms(20));
        // Once a round, a quarter of 80 ms more; at most SRTT.
        rack.on_duplicate_report(0, 10);
        rack.on_duplicate_report(9, 20);
        assert_eq!(window(&rack, false, false), Span::from_ms(40));
        for round in 1..9 {
            rack.on_duplicate_report(10 * round, 10 * round + 10);
        }
        assert_eq!(window(&rack, false, false), SRTT);
        for _ in 0..15 {
            rack.on_repaired();
        }
        assert_eq!(window(&rack, false, false), SRTT);
        rack.on_repaired();
        assert_eq!(window(&rack, false, false), Span::from_ms(20));
    }

    #[test]
    fn by_the_rules_of_linux_the_window_grows_with_what_was_sent_since() {
        let mut rack = Rack::default();
        rack.min_rtt.take(Time::ZERO, Span::from_ms(80));
        assert!(!rack.has_seen_reordering());
        rack.on_reordered(1000);
        assert!(rack.has_seen_reordering());
        // Nothing is delivered, then something is.
        rack.follow_duplicate_reports(true, None, 2000);
        assert_eq!(window(&rack, false, false), Span::from_ms(20));
        rack.follow_duplicate_reports(false, Some(1000), 3000);
        assert_eq!(window(&rack, false, false), Span::from_ms(40));
        // A segment that was sent before that forgets the report.
        rack.follow_duplicate_reports(true, Some(2999), 4000);
        rack.follow_duplicate_reports(false, Some(3000), 5000);
        assert_eq!(window(&rack, false, false), Span::from_ms(40));
        rack.follow_duplicate_reports(true, Some(3000), 5000);
        assert_eq!(window(&rack, false, false), Span::from_ms(60));
    }

    #[test]
    fn of_several_retransmissions_those_count_that_have_taken_a_round_trip() {
        let at = |ms| Time::ZERO + Span::from_ms(ms);
        let mut sent = Sent::default();
        for start in [1, 1001, 2001, 3001] {
            sent.on_sent(start, start + 1000, at(0), false);
        }
        let mut rack = Rack::default();
        rack.min_rtt.take(Time::ZERO, Span::from_ms(100));
        for (start, ms) in [(1, 150), (1001, 200), (2001, 201)] {
            sent.on_sent(start, start + 1000, at(ms), true);
        }
        // 150 and 100 ms behind the first two, 99 behind the third.
        sent.on_ack(3001, at(300));
        rack.on_delivered(&sent, at(300), |_| false);
        assert_eq!((rack.newest, rack.rtt), ((at(200), 2001), Span::from_ms(100)));
        // If it answers what went before 200 ms, the first is left.
        let mut other = Rack { newest: Default::default(), ..rack };
        other.on_delivered(&sent, at(300), |sent| sent >= at(200));
        assert_eq!((other.newest, other.rtt), ((at(150), 1001), Span::from_ms(150)));
        // The next acknowledgement tells of none of them.
        sent.heard = Default::default();
        sent.on_ack(4001, at(310));
        rack.on_delivered(&sent, at(310), |_| false);
        assert_eq!((rack.newest, rack.rtt), ((at(200), 2001), Span::from_ms(310)));
    }

    #[test]
    fn a_timeout_leaves_what_is_younger_than_a_round_trip() {
        let at = |ms| Time::ZERO + Span::from_ms(ms);
        let mut sent = Sent::default();
        // The first is lost in any case, the second is a round trip old, the third is not.
        for (start, ms) in [(1, 950), (1001, 900), (2001, 901)] {
            sent.on_sent(start, start + 1000, at(ms), false);
        }
        let rack = Rack { rtt: SRTT, ..Rack::default() };
        let conditions = Conditions { repairing: false, threshold_reached: false, srtt: SRTT };
        rack.mark_lost_at_timeout(&mut sent, at(1000), &conditions);
        assert_eq!((sent.first_lost().map(|lost| lost.start), sent.in_flight_bytes()), (Some(1), 1000));
    }

    #[test]
    fn the_smallest_round_trip_is_that_of_the_last_minutes() {
        let (mut least, at) = (MinRtt::default(), |s| Time::ZERO + Span::from_secs(s));
        least.take(at(0), Span::from_ms(40));
        least.take(at(299), Span::from_ms(90));
        assert_eq!(least.get(), Some(Span::from_ms(40)));
        // A window of five minutes is over: its least counts for another one.
        least.take(at(301), Span::from_ms(90));
        assert_eq!(least.get(), Some(Span::from_ms(40)));
        least.take(at(602), Span::from_ms(95));
        assert_eq!(least.get(), Some(Span::from_ms(90)));
    }
}
