//! The base station's part in the entry of a station (IEEE Std 802.16-2004 clauses 6.3.9, 6.3.14.9): a machine without I/O.
//!
//! It answers RNG-REQ and waits for SBC-REQ (T9); it answers that, and REG-REQ; then it adds the connections of the station, each by
//! a DSA-REQ, waits for the answers (T7), and acknowledges them.

use super::entry::EntryConfig;
use super::management::{Flow, Message};
use roamsim_engine::Time;

/// How far a station has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It is not known.
    Unknown,
    /// It has its CIDs.
    Ranged,
    /// It has told its capabilities.
    Capable,
    /// It is registered.
    Registered,
}

/// A station as its base station knows it.
#[derive(Clone, Debug)]
pub(super) struct Admission {
    config: EntryConfig,
    state: State,
    timer: Option<Time>,
    /// How often it was asked for its connections.
    attempts: u32,
    /// The connections that it has, by [`Flow`].
    flows: [bool; 2],
}

impl Admission {
    pub fn new(config: EntryConfig) -> Admission {
        Admission { config, state: State::Unknown, timer: None, attempts: 0, flows: [false; 2] }
    }

    /// Whether the station is registered, with connections or without.
    pub fn is_registered(&self) -> bool {
        self.state == State::Registered
    }

    /// Whether the station has all that it needs.
    pub fn is_complete(&self) -> bool {
        self.flows == [true; 2]
    }

    /// Whether the station has a connection of this direction.
    #[cfg(test)]
    pub fn has(&self, flow: Flow) -> bool {
        self.flows[flow as usize]
    }

    /// The station is gone.
    pub fn release(&mut self) {
        *self = Admission::new(self.config);
    }

    pub fn deadline(&self) -> Option<Time> {
        self.timer
    }

    /// A message of the station: what is sent to it.
    pub fn heard(&mut self, now: Time, message: Message) -> Vec<Message> {
        let timers = self.config.timers;
        match (message, self.state) {
            (Message::RangingRequest, _) => {
                self.release();
                (self.state, self.timer) = (State::Ranged, Some(now + timers.t9));
                vec![Message::RangingResponse]
            }
            (Message::CapabilityRequest, State::Ranged | State::Capable) => {
                (self.state, self.timer) = (State::Capable, None);
                vec![Message::CapabilityResponse]
            }
            (Message::ProfileRequest(profile), State::Registered) => vec![Message::ProfileResponse(profile)],
            (Message::RegistrationRequest, State::Capable | State::Registered) => {
                self.state = State::Registered;
                (self.timer, self.attempts) = (Some(now + timers.t7), 1);
                let missing = self.missing().map(Message::FlowRequest);
                std::iter::once(Message::RegistrationResponse).chain(missing).collect()
            }
            (Message::FlowResponse(flow), State::Registered) => {
                self.flows[flow as usize] = true;
                if self.is_complete() {
                    self.timer = None;
                }
                vec![Message::FlowAcknowledgement(flow)]
            }
            _ => Vec::new(),
        }
    }

    fn missing(&self) -> impl Iterator<Item = Flow> + use<> {
        let flows = self.flows;
        Flow::ALL.into_iter().filter(move |flow| !flows[*flow as usize])
    }

    /// T7 or T9 may have expired: what is sent.
    pub fn expire(&mut self, now: Time) -> Vec<Message> {
        if self.timer.is_none_or(|timer| timer > now) {
            return Vec::new();
        }
        if self.state == State::Registered && self.attempts <= self.config.flow_retries {
            (self.timer, self.attempts) = (Some(now + self.config.timers.t7), self.attempts + 1);
            return self.missing().map(Message::FlowRequest).collect();
        }
        self.release();
        Vec::new()
    }
}
