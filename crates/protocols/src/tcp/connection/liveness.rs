//! Whether the peer is still there: keep-alive (RFC 9293 3.8.4, RFC 1122 4.2.3.6) and the user timeout (RFC
//! 9293 3.8.3 and 3.10.8, RFC 5482 section 1).
//!
//! - Keep-alive: an end that has nothing outstanding and has heard nothing for a time sends segments without
//!   data, of the octet before the next (SEG.SEQ = SND.NXT - 1), which an end that lives answers. Without an
//!   answer to the last probe the connection is reset and given up, as in Linux.
//! - User timeout: a connection whose data has made no progress for that time is given up, in silence (RFC
//!   9293 3.10.8). A closed window that is answered is progress (3.8.6.1, MUST-37). SYNs count as data.
//!
//! The time is counted from the last acknowledgement of new data, or else from when data first went out.
//!
//! [`user_timeout`](super::user_timeout) tells the peer of it.

use roamsim_engine::Time;

use super::extras::{GivenUp, Liveness};
use super::receiver::Acknowledgement;
use super::sender::Sender;
use super::timers::Timer;
use super::{Connection, Pending, State};
use crate::tcp::config::{Config, KeepAlive};
use crate::tcp::segment::Segment;

impl Sender {
    #[inline]
    pub(super) fn liveness(&mut self) -> Option<&mut Liveness> {
        self.extras.as_mut()?.liveness.as_deref_mut()
    }
}

impl Connection {
    /// Why the connection was given up; `None` where it was not, or after too many retransmissions (RFC 9293
    /// 3.8.3).
    pub fn given_up(&self) -> Option<GivenUp> {
        let liveness = self.sender.extras.as_ref()?.liveness.as_ref();
        liveness?.given_up
    }

    /// An acceptable segment has arrived.
    #[inline(never)]
    pub(super) fn note_heard(&mut self, now: Time, segment: &Segment) {
        if let Some(liveness) = self.sender.liveness() {
            (liveness.heard_at, liveness.probes) = (now, 0);
        }
        self.take_user_timeout(now, segment);
    }

    /// The handshake is complete.
    #[cold]
    pub(super) fn begin_liveness(&mut self, now: Time) {
        let snd_una = self.sender.snd_una;
        if let Some(liveness) = self.sender.liveness() {
            (liveness.heard_at, liveness.waits_since, liveness.acknowledged) = (now, Time::MAX, snd_una);
            self.arm_liveness(now);
        }
    }

    /// Data, a SYN or a FIN goes.
    #[inline(never)]
    pub(super) fn note_waiting(&mut self, now: Time) {
        let Some(liveness) = self.sender.liveness() else { return };
        if liveness.waits_since == Time::MAX {
            liveness.waits_since = now;
            self.arm_liveness(now);
        }
    }

    /// An acknowledgement has been taken. With a closed window each counts.
    #[inline(never)]
    pub(super) fn note_progress(&mut self, now: Time) {
        let (snd_una, waits) = (self.sender.snd_una, self.sender.snd_una < self.sender.snd_max);
        let probes_window = self.timers.runs(Timer::Persist);
        let Some(liveness) = self.sender.liveness() else { return };
        if snd_una > liveness.acknowledged || probes_window {
            liveness.acknowledged = snd_una;
            liveness.waits_since = if waits { now } else { Time::MAX };
        }
    }

    /// When the peer is next to be looked after.
    pub(super) fn arm_liveness(&mut self, now: Time) {
        let Config { keep_alive, .. } = *self.config;
        let established = self.state.is_synchronized();
        let Some(liveness) = self.sender.liveness() else { return };
        let probe_at = match keep_alive {
            Some(KeepAlive { idle, interval, .. }) if established => {
                let since = liveness.heard_at + idle + interval.saturating_mul(u64::from(liveness.probes));
                if since > now { since } else { now + idle }
            }
            _ => Time::MAX,
        };
        let give_up_at = match liveness.user_timeout {
            Some(most) if liveness.waits_since != Time::MAX => liveness.waits_since + most,
            _ => Time::MAX,
        };
        self.timers.start(Timer::Liveness, probe_at.min(give_up_at));
    }

    /// The time has come to look after the peer, or is past since it was last heard.
    #[cold]
    pub(super) fn look_after_peer(&mut self, now: Time) {
        let Config { keep_alive, .. } = *self.config;
        let idle = self.is_idle();
        let Some(liveness) = self.sender.liveness() else { return };
        if liveness
            .user_timeout
            .is_some_and(|most| liveness.waits_since != Time::MAX && now >= liveness.waits_since + most)
        {
            return self.give_up(GivenUp::UserTimeout);
        }
        let due = keep_alive.filter(|KeepAlive { idle: wait, interval, .. }| {
            idle && now >= liveness.heard_at + *wait + interval.saturating_mul(u64::from(liveness.probes))
        });
        if let Some(keep_alive) = due {
            if liveness.probes >= keep_alive.probes {
                return self.give_up(GivenUp::KeepAlive);
            }
            liveness.probes += 1;
            liveness.probes_sent += 1;
            liveness.probe_due = true;
            self.receiver.acknowledgement = Acknowledgement::Alone;
        }
        self.arm_liveness(now);
    }

    /// Whether the connection is open and nothing is under way or to be sent.
    fn is_idle(&self) -> bool {
        let sender = &self.sender;
        matches!(self.state, State::Established | State::CloseWait | State::FinWait2)
            && sender.snd_una == sender.snd_max
            && sender.snd_nxt > sender.written
            && !self.timers.runs(Timer::Persist)
    }

    fn give_up(&mut self, why: GivenUp) {
        if why == GivenUp::KeepAlive {
            self.reset_as(Pending::TIMED_OUT);
        } else {
            self.end_early(Pending::TIMED_OUT);
        }
        if let Some(liveness) = self.sender.liveness() {
            liveness.given_up = Some(why);
        }
    }
}
