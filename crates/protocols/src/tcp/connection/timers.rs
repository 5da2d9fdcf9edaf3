//! The timers of a connection, in one table, and what happens when each expires.

use roamsim_engine::{Span, Time};

use super::receiver::Acknowledgement;
use super::{Connection, Pending, State};

/// What a connection waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Timer {
    /// Data in flight is lost by then (RFC 6298). This timer, `Persist` and `TimeWait` exclude each other.
    Retransmission,
    /// The closed window of the peer is probed (RFC 9293 3.8.6.1).
    Persist,
    /// Old segments have died out (RFC 9293 3.4.2).
    TimeWait,
    /// An acknowledgement waits no longer.
    DelayedAck,
    /// What may be reordered is lost by then (RFC 8985 section 6.2, step 5).
    Reordering,
    /// A loss probe goes (RFC 8985 section 7).
    LossProbe,
    /// The pacer lets the next segment go, or a wait for marks is over.
    Pacing,
    /// The peer is probed, or given up.
    Liveness,
}

/// The table of timers. Those from `Reordering` on are boxed, and only connections with
/// [`extras`](super::extras) have them: there is no place for one that nobody can start.
#[derive(Clone, Debug)]
pub(super) struct Timers {
    /// Which of the first three runs.
    first: Option<Timer>,
    /// The deadlines; `Time::MAX` is never.
    first_at: Time,
    delayed_ack_at: Time,
    boxed: Option<Box<Boxed>>,
}

/// Their deadlines.
#[derive(Clone, Debug)]
#[repr(align(32))] // within one line of the cache
struct Boxed([Time; Timers::BOXED]);

impl Timers {
    const BOXED: usize = 4;

    /// None of them runs.
    pub(super) fn new(has_extras: bool) -> Timers {
        Timers {
            first: None,
            first_at: Time::MAX,
            delayed_ack_at: Time::MAX,
            boxed: has_extras.then(|| Box::new(Boxed([Time::MAX; Timers::BOXED]))),
        }
    }

    #[inline]
    pub(super) fn earliest(&self) -> Time {
        let at = self.first_at.min(self.delayed_ack_at);
        match self.boxed.as_deref() {
            None => at,
            Some(Boxed([a, b, c, d])) => at.min(*a).min(*b).min(*c).min(*d),
        }
    }

    /// When it expires; `Time::MAX` where it does not run.
    #[inline(always)]
    pub(super) fn at(&self, timer: Timer) -> Time {
        match timer {
            Timer::Retransmission | Timer::Persist | Timer::TimeWait if self.first != Some(timer) => {
                Time::MAX
            }
            Timer::Retransmission | Timer::Persist | Timer::TimeWait => self.first_at,
            Timer::DelayedAck => self.delayed_ack_at,
            _ => self.boxed.as_ref().map_or(Time::MAX, |boxed| boxed.0[timer.place()]),
        }
    }

    #[inline(always)]
    pub(super) fn runs(&self, timer: Timer) -> bool {
        match timer {
            Timer::Retransmission | Timer::Persist | Timer::TimeWait => self.first == Some(timer),
            _ => self.at(timer) != Time::MAX,
        }
    }

    /// Starts it, or starts it anew. Of the first three it takes the place of the one that runs.
    #[inline(always)]
    pub(super) fn start(&mut self, timer: Timer, at: Time) {
        match timer {
            Timer::Retransmission | Timer::Persist | Timer::TimeWait => {
                self.first = Some(timer);
                self.first_at = at;
            }
            Timer::DelayedAck => self.delayed_ack_at = at,
            _ => {
                if let Some(boxed) = &mut self.boxed {
                    boxed.0[timer.place()] = at;
                }
            }
        }
    }

    /// Stops it; of the first three whichever runs.
    #[inline(always)]
    pub(super) fn stop(&mut self, timer: Timer) {
        match timer {
            Timer::Retransmission | Timer::Persist | Timer::TimeWait => {
                self.first = None;
                self.first_at = Time::MAX;
            }
            _ => self.start(timer, Time::MAX),
        }
    }

    pub(super) fn stop_all(&mut self) {
        *self = Timers::new(self.boxed.is_some());
    }

    /// Whether it has expired. Then it no longer runs.
    #[inline(always)]
    fn take_expired(&mut self, timer: Timer, now: Time) -> bool {
        let expired = self.at(timer) <= now;
        if expired {
            self.stop(timer);
        }
        expired
    }
}

impl Timer {
    /// Its place among those that are boxed.
    #[inline(always)]
    fn place(self) -> usize {
        self as usize - Timer::Reordering as usize
    }
}

impl Connection {
    pub(super) fn expire(&mut self, now: Time) {
        if self.timers.take_expired(Timer::DelayedAck, now) {
            let due = match self.end_ack_delay() {
                true => Acknowledgement::Alone,
                false => Acknowledgement::Now,
            };
            self.receiver.acknowledgement = self.receiver.acknowledgement.max(due);
        }
        if self.timers.boxed.is_some() {
            self.expire_boxed(now);
        }
        if self.timers.first_at > now {
            return;
        }
        match self.timers.first {
            Some(Timer::Retransmission) => self.retransmission_timeout(now),
            Some(Timer::Persist) => self.persist_timeout(now),
            Some(Timer::TimeWait) => self.become_closed(Pending::CLOSED),
            _ => {}
        }
    }

    /// An acknowledgement has waited long enough. True of a duplicate ACK.
    fn end_ack_delay(&mut self) -> bool {
        let (rto, rcv_nxt) = (self.sender.rtt.rto(), self.receiver.rcv_nxt);
        let Some(extras) = &mut self.sender.extras else { return false };
        if extras.ack_compression.is_some_and(|compression| compression.is_waiting(rcv_nxt)) {
            return true;
        }
        if let Some(part) = &mut extras.ack_delay {
            part.on_expired(rto);
        }
        false
    }

    #[inline(never)]
    fn expire_boxed(&mut self, now: Time) {
        if self.timers.take_expired(Timer::Reordering, now) {
            self.mark_losses(now);
        }
        if self.timers.take_expired(Timer::LossProbe, now) {
            self.probe_timeout(now);
        }
        // Data is held back while it runs: nothing else is to do.
        self.timers.take_expired(Timer::Pacing, now);
        if self.timers.take_expired(Timer::Liveness, now) {
            self.look_after_peer(now);
        }
    }

    /// RFC 6298 5.4 to 5.6. While the reordering timer runs there is no timeout (RFC 8985 8): the RTO
    /// then counts from the end of that timer.
    fn retransmission_timeout(&mut self, now: Time) {
        if self.timers.runs(Timer::Reordering) {
            let reordering_at = self.timers.at(Timer::Reordering);
            return self.timers.start(Timer::Retransmission, reordering_at + self.sender.rtt.rto());
        }
        self.stats.timeouts += 1;
        if self.too_many_retries() {
            return;
        }
        self.sender.rtt.back_off(&self.config.rtt_bounds());
        self.timers.start(Timer::Retransmission, now + self.sender.rtt.rto());
        if matches!(self.state, State::SynSent | State::SynReceived) {
            self.syn_due = true;
        } else {
            let snd_una = self.sender.snd_una;
            let is_answered = self.sender.end_mark_reduction().is_some_and(|marked| snd_una < marked.until);
            if self.sender.is_tracked() {
                self.time_out_by_time(now);
            }
            self.ecn.on_reduction(self.sender.snd_max);
            self.sender.go_back(now, is_answered);
            // A window that is closed meanwhile is probed right now: the timeout has passed (RFC 9293
            // 3.8.6.1).
            self.sender.probe_due = true;
        }
    }

    /// RFC 9293 3.8.6.1: probes at the RTO, then at intervals that double up to the largest RTO.
    fn persist_timeout(&mut self, now: Time) {
        if self.too_many_retries() {
            return;
        }
        self.sender.probe_due = true;
        self.sender.probes = self.sender.probes.saturating_add(1);
        self.timers.start(Timer::Persist, now + self.persist_interval());
    }

    pub(super) fn persist_interval(&self) -> Span {
        self.sender.rtt.backed_off(&self.config.rtt_bounds(), self.sender.probes)
    }

    /// Counts a retry; true when the connection is given up for it.
    fn too_many_retries(&mut self) -> bool {
        self.sender.retries = self.sender.retries.saturating_add(1);
        let given_up = self.config.max_retransmissions.is_some_and(|most| self.sender.retries > most);
        if given_up {
            self.end_early(Pending::TIMED_OUT);
        }
        given_up
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    #[test]
    fn the_first_three_timers_take_each_others_place_and_the_others_run_beside_them() {
        let mut timers = Timers::new(true);
        timers.start(Timer::Retransmission, at(50));
        timers.start(Timer::DelayedAck, at(40));
        timers.start(Timer::LossProbe, at(30));
        timers.start(Timer::Persist, at(60));
        assert!(!timers.runs(Timer::Retransmission) && timers.at(Timer::Retransmission) == Time::MAX);
        assert_eq!((timers.at(Timer::Persist), timers.earliest()), (at(60), at(30)));
        assert!(timers.take_expired(Timer::LossProbe, at(30)) && !timers.runs(Timer::LossProbe));
        assert!(!timers.take_expired(Timer::DelayedAck, at(39)));
        timers.stop(Timer::DelayedAck);
        assert_eq!(timers.earliest(), at(60));
        timers.start(Timer::Liveness, at(70));
        timers.stop_all();
        assert_eq!(timers.earliest(), Time::MAX);
    }

    #[test]
    fn a_connection_without_extras_has_no_place_for_their_timers() {
        let mut timers = Timers::new(false);
        timers.start(Timer::Pacing, at(10));
        assert!(!timers.runs(Timer::Pacing));
        assert_eq!(timers.earliest(), Time::MAX);
    }
}
