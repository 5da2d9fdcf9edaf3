//! The timers T1, T2 and T3, and that of the delayed SACK (RFC 9260 5.1, 6.2, 6.3, 9.2).

use roamsim_engine::Time;

use super::{Association, State};
use crate::machine::{Context, Machine};
use crate::sctp::event::Event;

impl Association {
    /// T1 or T2 has expired. The next copy takes another path if there is one, but a COOKIE ECHO goes back
    /// where the INIT ACK came from.
    fn repeat_control(&mut self) {
        self.control_at = None;
        if !self.state.repeats() {
            return;
        }
        let handshake = matches!(self.state, State::CookieWait | State::CookieEchoed);
        let most =
            if handshake { self.config.max_init_retransmissions } else { self.config.max_retransmissions };
        self.control_repeats += 1;
        if self.control_repeats > most {
            self.end(Event::TimedOut);
            return;
        }
        self.paths.all[self.control_path].rtt.back_off();
        self.control_path = match self.state {
            State::CookieWait => (self.control_path + 1) % self.paths.all.len(),
            State::CookieEchoed => self.control_path,
            _ => self.paths.alternate(self.control_path),
        };
        self.control_due = true;
    }

    /// T3-rtx of a path has expired.
    fn expire(&mut self, place: usize) {
        self.sender.new_event();
        self.sender.expire(place, &mut self.paths, &mut self.stats);
        self.errors += 1;
        self.judge(place);
    }
}

impl Machine for Association {
    fn poll_timeout(&self) -> Option<Time> {
        let own = [self.control_at, self.receiver.sack_at, self.reconfiguration.next_deadline()];
        let earliest = own.into_iter().fold(Time::MAX, |earliest, at| earliest.min(at.unwrap_or(Time::MAX)));
        let earliest =
            self.paths.all.iter().fold(earliest, |earliest, state| earliest.min(state.next_deadline()));
        (earliest != Time::MAX).then_some(earliest)
    }

    fn handle_timeout(&mut self, cx: &mut Context<'_>) {
        let now = cx.now;
        let due = |at: Option<Time>| at.is_some_and(|at| at <= now);
        if due(self.control_at) {
            self.repeat_control();
        }
        for place in 0..self.paths.all.len() {
            if due(self.paths.all[place].t3_at) {
                self.expire(place);
            }
        }
        if due(self.reconfiguration.next_deadline()) {
            self.expire_asconf();
        }
        self.handle_heartbeat_timers(cx);
        if due(self.receiver.sack_at) {
            self.receiver.sack_at = None;
            self.receiver.sack_due = true;
        }
    }
}
