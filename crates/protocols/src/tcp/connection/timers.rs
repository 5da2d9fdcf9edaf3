//! What happens when time has passed: retransmission, persist, TIME-WAIT and delayed acknowledgement.

use roamsim_engine::{Span, Time};

use super::receiver::Acknowledgement;
use super::{Connection, Pending, State};

/// What the connection's main timer waits for. The purposes exclude each other: with data in flight the
/// retransmission timer runs; with none and a window that lets none go, the persist timer; in TIME-WAIT
/// neither.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) enum Purpose {
    #[default]
    Idle,
    Retransmission,
    Persist,
    TimeWait,
}

/// The deadlines of a connection; `Time::MAX` is never.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timers {
    purpose: Purpose,
    main_at: Time,
    pub(super) delayed_ack_at: Time,
}

impl Default for Timers {
    fn default() -> Timers {
        Timers { purpose: Purpose::Idle, main_at: Time::MAX, delayed_ack_at: Time::MAX }
    }
}

impl Timers {
    #[inline]
    pub(super) fn earliest(&self) -> Time {
        self.main_at.min(self.delayed_ack_at)
    }

    #[inline]
    pub(super) fn runs(&self, purpose: Purpose) -> bool {
        self.purpose == purpose
    }

    #[inline]
    pub(super) fn start(&mut self, purpose: Purpose, at: Time) {
        self.purpose = purpose;
        self.main_at = at;
    }

    #[inline]
    pub(super) fn main_at(&self) -> Time {
        self.main_at
    }

    #[inline]
    pub(super) fn stop(&mut self) {
        self.purpose = Purpose::Idle;
        self.main_at = Time::MAX;
    }
}

impl Connection {
    pub(super) fn expire(&mut self, now: Time) {
        if self.timers.delayed_ack_at <= now {
            self.timers.delayed_ack_at = Time::MAX;
            let rto = self.sender.rtt.rto();
            if let Some(part) = self.sender.extras.as_mut().and_then(|extras| extras.ack_delay.as_mut()) {
                part.on_expired(rto);
            }
            self.receiver.acknowledgement = self.receiver.acknowledgement.max(Acknowledgement::Now);
        }
        if self.sender.is_tracked() {
            self.expire_extras(now);
        }
        if self.timers.main_at > now {
            return;
        }
        match self.timers.purpose {
            Purpose::Idle => {}
            Purpose::Retransmission => self.retransmission_timeout(now),
            Purpose::Persist => self.persist_timeout(now),
            Purpose::TimeWait => self.become_closed(Pending::CLOSED),
        }
    }

    /// RFC 6298 5.4 to 5.6.
    fn retransmission_timeout(&mut self, now: Time) {
        self.stats.timeouts += 1;
        if self.too_many_retries() {
            return;
        }
        self.sender.rtt.back_off(&self.config.rtt_bounds());
        self.timers.start(Purpose::Retransmission, now + self.sender.rtt.rto());
        if matches!(self.state, State::SynSent | State::SynReceived) {
            self.syn_due = true;
        } else {
            self.ecn.on_reduction(self.sender.snd_max);
            if self.sender.is_tracked() {
                self.time_out_by_time(now);
            }
            self.sender.go_back(now);
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
        self.timers.start(Purpose::Persist, now + self.persist_interval());
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
