//! HEARTBEATs: confirming addresses, and watching idle paths (RFC 9260 5.4, 8.1 to 8.3).

use roamsim_engine::{Span, Stream, Time};

use super::{Association, Event};
use crate::machine::Context;
use crate::sctp::chunk::{Chunk, Packet, Parameter};
use crate::sctp::path::Path;

impl Association {
    /// HEARTBEATs of all paths that have none yet: paths not confirmed are probed, one in each RTO (HB.Max.Burst 1).
    pub(super) fn start_heartbeats(&mut self, now: Time, random: &mut Stream) {
        let mut wait = Span::ZERO;
        for place in 0..self.paths.all.len() {
            let state = &self.paths.all[place];
            if state.removed || state.heartbeat.at.is_some() || state.heartbeat.due {
                continue;
            }
            if state.confirmed {
                let period = self.period(random, place);
                self.paths.all[place].heartbeat.at = period.map(|period| now + period);
            } else if wait == Span::ZERO {
                wait += state.rtt.rto();
                self.heartbeat_due(now, random, place);
            } else {
                let rto = state.rtt.rto();
                self.paths.all[place].heartbeat.at = Some(now + wait);
                wait += rto;
            }
        }
    }

    /// From one HEARTBEAT of an idle path to the next: HB.interval and half to one and a half RTO (RFC 9260 8.3).
    /// A path that is not confirmed is probed even without HB.interval.
    fn period(&self, random: &mut Stream, place: usize) -> Option<Span> {
        let probed = (!self.paths.all[place].confirmed).then_some(Span::ZERO);
        let interval = self.config.heartbeat_interval.or(probed)?;
        let rto = self.paths.all[place].rtt.rto().as_ns();
        Some(interval + Span::from_ns(rto / 2) + Span::from_ns(random.below(rto.max(1))))
    }

    /// The times that have come at `now`.
    pub(super) fn handle_heartbeat_timers(&mut self, cx: &mut Context<'_>) {
        let due = |at: Option<Time>| at.is_some_and(|at| at <= cx.now);
        for place in 0..self.paths.all.len() {
            let heartbeat = self.paths.all[place].heartbeat;
            if due(heartbeat.lost_at) {
                self.heartbeat_lost(cx.now, cx.random, place);
                if self.ended {
                    return;
                }
            }
            if due(self.paths.all[place].heartbeat.at) {
                self.heartbeat_due(cx.now, cx.random, place);
            }
        }
    }

    fn heartbeat_due(&mut self, now: Time, random: &mut Stream, place: usize) {
        let period = self.period(random, place);
        let state = &mut self.paths.all[place];
        if !self.state.sends_data() {
            state.heartbeat.at = None;
            return;
        }
        // Where data has gone meanwhile, its SACKs tell enough.
        let busy = state.confirmed.then_some(state.last_data_at).flatten().zip(period);
        if let Some((last, period)) = busy
            && last + period > now
        {
            state.heartbeat.at = Some(last + period);
            return;
        }
        state.heartbeat.due = true;
        state.heartbeat.at = period.map(|period| now + period);
    }

    /// It is not answered within the RTO (RFC 9260 8.3).
    fn heartbeat_lost(&mut self, now: Time, random: &mut Stream, place: usize) {
        self.paths.all[place].rtt.back_off();
        let period = self.period(random, place);
        let state = &mut self.paths.all[place];
        state.heartbeat.pending = None;
        state.heartbeat.lost_at = None;
        state.errors += 1;
        if state.confirmed {
            self.errors += 1;
        } else if state.errors <= self.config.max_path_retransmissions {
            // An address is probed in each RTO until it is confirmed or given up (RFC 9260 5.4).
            state.heartbeat.at = Some(now);
        } else {
            state.heartbeat.at = period.map(|period| now + period);
        }
        self.judge(place);
    }

    /// After a timeout: whether the path is inactive now, and whether the peer is given up (RFC 9260 8.1, 8.2).
    pub(super) fn judge(&mut self, place: usize) {
        let state = &mut self.paths.all[place];
        if state.active && !state.removed && state.errors > self.config.max_path_retransmissions {
            state.active = false;
            if state.confirmed {
                self.events.push_back(Event::PathDown(state.path));
            }
        }
        self.judge_association();
    }

    pub(super) fn judge_association(&mut self) {
        if self.errors > self.config.max_retransmissions {
            self.end(Event::TimedOut);
        }
    }

    /// The HEARTBEAT that is due, if one is.
    pub(super) fn next_heartbeat(&mut self, cx: &mut Context<'_>) -> Option<(Path, Packet)> {
        if !self.state.sends_data() {
            return None;
        }
        let state = self.paths.all.iter_mut().find(|state| state.heartbeat.due)?;
        state.heartbeat.due = false;
        let nonce = cx.random.next_u64();
        state.heartbeat.pending = Some((nonce, cx.now));
        state.heartbeat.lost_at = Some(cx.now + state.rtt.rto());
        let path = state.path;
        // RFC 9260 8.3: the address and the time, and a nonce to confirm it by (5.4).
        let mut value = path.remote.0.to_be_bytes().to_vec();
        value.extend(cx.now.as_ns().to_be_bytes());
        value.extend(nonce.to_be_bytes());
        let information = Parameter { kind: Parameter::HEARTBEAT_INFO, value };
        self.stats.heartbeats_sent += 1;
        Some((path, self.packet(self.peer_tag, vec![Chunk::Heartbeat(vec![information])])))
    }

    /// The answer to a HEARTBEAT, whichever way it came (RFC 9260 8.3).
    pub(super) fn take_heartbeat_ack(&mut self, now: Time, information: &[Parameter]) {
        let [Parameter { kind: Parameter::HEARTBEAT_INFO, value }] = information else { return };
        let Some(nonce) = value.last_chunk::<8>().map(|octets| u64::from_be_bytes(*octets)) else { return };
        let answered = |state: &&mut crate::sctp::path::PathState| {
            state.heartbeat.pending.is_some_and(|(pending, _)| pending == nonce)
        };
        let Some(state) = self.paths.all.iter_mut().find(answered) else { return };
        if let Some((_, sent_at)) = state.heartbeat.pending.take() {
            state.rtt.sample(now.since(sent_at), 1);
        }
        state.heartbeat.lost_at = None;
        let was_unconfirmed = !std::mem::replace(&mut state.confirmed, true);
        if state.answered() || was_unconfirmed {
            self.events.push_back(Event::PathUp(state.path));
        }
        self.errors = 0;
    }
}
