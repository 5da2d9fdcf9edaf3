//! Shutdown, abort, and the end of an association (RFC 9260 section 9).

use super::{Association, State};
use crate::sctp::chunk::{Chunk, Parameter};
use crate::sctp::event::Event;
use crate::sctp::path::Path;
use roamsim_engine::Time;

impl Association {
    pub(super) fn abort_for(&mut self, causes: Vec<Parameter>) {
        if self.peer_tag != 0
            && let Some(path) = self.sending_path()
        {
            self.reply(path, self.peer_tag, Chunk::Abort { reflected_tag: false, causes });
        }
        self.end(Event::Aborted);
    }

    /// Once everything is acknowledged the shutdown goes on (RFC 9260 9.2).
    pub(super) fn finish_shutdown(&mut self) {
        let next = match self.state {
            State::ShutdownPending => State::ShutdownSent,
            State::ShutdownReceived => State::ShutdownAckSent,
            _ => return,
        };
        if self.sender.is_empty() {
            self.control_path = self.paths.current();
            self.enter(next);
        }
    }

    /// The peer has shut down (RFC 9260 9.2).
    pub(super) fn take_shutdown(&mut self, now: Time, from: Path, cumulative_tsn_ack: u32) {
        if self.state.sends_data() {
            self.take_acknowledgement(now, cumulative_tsn_ack, None);
            self.state = State::ShutdownReceived;
        } else if matches!(self.state, State::ShutdownSent | State::ShutdownAckSent) {
            self.control_path = self.paths.place_of(from).unwrap_or(self.control_path);
            self.enter(State::ShutdownAckSent);
        }
    }

    pub(super) fn end(&mut self, event: Event) {
        self.shut_down = self.state == State::ShutdownAckSent;
        self.state = State::Closed;
        self.ended = true;
        self.listening = false;
        self.control_due = false;
        self.control_at = None;
        self.paths.all.iter_mut().for_each(|state| state.stop());
        self.reconfiguration.stop();
        self.receiver.sack_at = None;
        self.receiver.sack_due = false;
        self.events.push_back(event);
    }
}
