//! HEARTBEATs: confirming addresses, and watching idle paths (RFC 9260 5.4, 8.1 to 8.3).

use roamsim_engine::{Span, Stream, Time};

use super::Association;
use crate::machine::Context;
use crate::sctp::chunk::{Chunk, Chunks, Packet, Parameter};
use crate::sctp::event::Event;
use crate::sctp::path::{Path, PathState};

impl Association {
    /// HEARTBEATs of all paths that have none yet: paths not confirmed are probed, one in each RTO
    /// (HB.Max.Burst 1).
    pub(super) fn start_heartbeats(&mut self, now: Time, random: &mut Stream) {
        let mut wait = Span::ZERO;
        for place in 0..self.paths.all.len() {
            let state = &self.paths.all[place];
            let heartbeat = &state.heartbeat;
            if state.removed || heartbeat.due || heartbeat.at.is_some() || heartbeat.pending.is_some() {
                continue;
            }
            if state.confirmed {
                self.schedule_heartbeat(now, random, place);
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

    /// From one HEARTBEAT of an idle path to the next: HB.interval and half to one and a half RTO (RFC 9260
    /// 8.3). Without HB.interval a path that was confirmed is not probed any more.
    fn schedule_heartbeat(&mut self, now: Time, random: &mut Stream, place: usize) {
        let state = &mut self.paths.all[place];
        let probed = (!state.confirmed).then_some(Span::ZERO);
        let rto = state.rtt.rto().as_ns();
        state.heartbeat.at = self.config.heartbeat_interval.or(probed).map(|interval| {
            let jittered = rto / 2 + random.below(rto.max(1));
            state.heartbeat.period = interval + Span::from_ns(jittered);
            now + state.heartbeat.period
        });
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
        let state = &mut self.paths.all[place];
        state.heartbeat.at = None;
        if !self.state.sends_data() {
            return;
        }
        // It is probed once in each RTO anyway.
        if state.potentially_failed {
            self.schedule_heartbeat(now, random, place);
            return;
        }
        // Where data has gone meanwhile, its SACKs tell enough.
        let idle_until = state.last_data_at.map(|last| last + state.heartbeat.period);
        if state.confirmed && idle_until.is_some_and(|until| until > now) {
            state.heartbeat.at = idle_until;
            return;
        }
        state.heartbeat.due = true;
        if state.confirmed {
            self.schedule_heartbeat(now, random, place);
        }
    }

    /// It is not answered within the RTO (RFC 9260 8.3).
    fn heartbeat_lost(&mut self, now: Time, random: &mut Stream, place: usize) {
        self.paths.all[place].rtt.back_off();
        let carries_data = place == self.paths.current();
        let state = &mut self.paths.all[place];
        state.heartbeat.pending = None;
        state.heartbeat.lost_at = None;
        state.errors += 1;
        if state.confirmed {
            // Others could end an association whose path works (RFC 9260 8.1).
            self.errors += u32::from(carries_data);
        } else if state.errors <= self.config.max_path_retransmissions {
            // An address is probed in each RTO until it is confirmed or given up (RFC 9260 5.4).
            state.heartbeat.at = Some(now);
        } else {
            self.schedule_heartbeat(now, random, place);
        }
        self.judge(place);
    }

    /// After a timeout: whether the path is inactive or potentially failed now (RFC 7829 3.2), and
    /// whether the peer is given up (RFC 9260 8.1, 8.2).
    pub(super) fn judge(&mut self, place: usize) {
        let exceeds = |errors: u32, most: Option<u32>| most.is_some_and(|most| errors > most);
        let state = &mut self.paths.all[place];
        let errors = state.errors;
        if state.active && !state.removed {
            if errors > self.config.max_path_retransmissions {
                state.active = false;
                state.potentially_failed = false;
                if state.confirmed {
                    self.events.push_back(Event::PathDown(state.path));
                }
            } else if state.confirmed && exceeds(errors, self.config.potentially_failed_retransmissions) {
                if !std::mem::replace(&mut state.potentially_failed, true) {
                    self.events.push_back(Event::PathPotentiallyFailed(state.path));
                }
                // One in each RTO: at once, and whenever one is lost.
                state.heartbeat.due |= state.heartbeat.pending.is_none();
            }
        }
        if place == self.paths.primary() && exceeds(errors, self.config.primary_switchover_retransmissions) {
            let other = self.paths.alternate(place);
            if self.paths.all[other].usable() {
                self.change_primary(other);
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
        let place = self.paths.all.iter().position(|state| state.heartbeat.due)?;
        Some(self.heartbeat(cx, place))
    }

    #[cold]
    fn heartbeat(&mut self, cx: &mut Context<'_>, place: usize) -> (Path, Packet) {
        let state = &mut self.paths.all[place];
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
        (path, self.packet(self.peer_tag, Chunks::from_buf([Chunk::Heartbeat(vec![information])])))
    }

    /// The answer to a HEARTBEAT, whichever way it came (RFC 9260 8.3).
    pub(super) fn take_heartbeat_ack(&mut self, cx: &mut Context<'_>, information: &[Parameter]) {
        let [Parameter { kind: Parameter::HEARTBEAT_INFO, value }] = information else { return };
        let Some(nonce) = value.last_chunk::<8>().map(|octets| u64::from_be_bytes(*octets)) else { return };
        let asked = |state: &PathState| state.heartbeat.pending.filter(|&(pending, _)| pending == nonce);
        let answered =
            self.paths.all.iter().enumerate().find_map(|(place, state)| Some((place, asked(state)?)));
        let Some((place, (_, sent_at))) = answered else { return };
        let state = &mut self.paths.all[place];
        state.rtt.sample(cx.now.since(sent_at), 1);
        state.heartbeat.pending = None;
        state.heartbeat.lost_at = None;
        self.errors = 0;
        let was_unconfirmed = !std::mem::replace(&mut state.confirmed, true);
        if state.answered() || was_unconfirmed {
            self.events.push_back(Event::PathUp(state.path));
        }
        if was_unconfirmed {
            self.schedule_heartbeat(cx.now, cx.random, place);
        }
    }
}
