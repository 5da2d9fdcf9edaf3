//! The base station's part in the entry of a station (IEEE Std 802.16-2004 clauses 6.3.9, 6.3.14.9): a
//! machine without I/O.
//!
//! It answers RNG-REQ and waits for SBC-REQ (T9); it answers that, and REG-REQ; then it adds the connections
//! of the station, each by a DSA-REQ, waits for the answers (T7), and acknowledges them. From then on it
//! ranges the station by each burst that it grants it (clause 6.3.10): one that gets none for so long is
//! granted one (T27), and one that is not heard in several is sent away.

use super::entry::{EntryConfig, Timers};
use super::management::{Message, Sfid};
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

/// What periodic ranging does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Invitation {
    /// A burst is granted to the station.
    Grant,
    /// The station is told to begin anew.
    Abort,
}

/// A station as its base station knows it.
#[derive(Clone, Debug)]
pub(super) struct Admission {
    config: EntryConfig,
    state: State,
    timer: Option<Time>,
    /// How often it was asked for its connections.
    attempts: u32,
    /// When T27 expires.
    invites: Option<Time>,
    /// Bursts that it was not heard in, one after the other.
    unheard: u32,
    /// Of each of its service flows, whether it has it.
    flows: Vec<bool>,
}

impl Admission {
    /// That of a station with so many service flows each way.
    pub fn new(config: EntryConfig, flows: u32) -> Admission {
        let flows = vec![false; Sfid::all(flows as usize).count()];
        Admission {
            config,
            state: State::Unknown,
            timer: None,
            attempts: 0,
            invites: None,
            unheard: 0,
            flows,
        }
    }

    /// Whether the station is registered, with connections or without.
    pub fn is_registered(&self) -> bool {
        self.state == State::Registered
    }

    /// Whether the station has all that it needs.
    pub fn is_complete(&self) -> bool {
        self.flows.iter().all(|has| *has)
    }

    /// Whether the station has this service flow.
    #[cfg(test)]
    pub fn has(&self, flow: Sfid) -> bool {
        self.flows[flow.place()]
    }

    /// The station is gone.
    pub fn release(&mut self) {
        self.flows.fill(false);
        (self.state, self.timer, self.attempts) = (State::Unknown, None, 0);
        (self.invites, self.unheard) = (None, 0);
    }

    pub fn deadline(&self) -> Option<Time> {
        self.timer.into_iter().chain(self.invites).min()
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
            (Message::ScanRequest, State::Registered) => vec![Message::ScanResponse],
            (Message::RegistrationRequest, State::Capable | State::Registered) => {
                self.state = State::Registered;
                (self.timer, self.attempts) = (Some(now + timers.t7), 1);
                self.invites = Some(now + timers.t27_idle);
                std::iter::once(Message::RegistrationResponse).chain(self.missing()).collect()
            }
            (Message::FlowResponse(flow), State::Registered) => {
                if let Some(has) = self.flows.get_mut(flow.place()) {
                    *has = true;
                }
                if self.is_complete() {
                    self.timer = None;
                }
                vec![Message::FlowAcknowledgement(flow)]
            }
            _ => Vec::new(),
        }
    }

    /// A request for each service flow that it has not got.
    fn missing(&self) -> impl Iterator<Item = Message> {
        let missing = Sfid::all(self.flows.len() / 2).filter(|flow| !self.flows[flow.place()]);
        missing.map(Message::FlowRequest)
    }

    /// A burst of the station is over, in which it was heard or not. One more in which it was not never puts
    /// T27 off.
    pub fn ranged(&mut self, now: Time, heard: bool) {
        let Timers { t27_idle, t27_active, .. } = self.config.timers;
        if let Some(invites) = self.invites {
            self.unheard = if heard { 0 } else { self.unheard + 1 };
            self.invites = Some(if heard { now + t27_idle } else { invites.min(now + t27_active) });
        }
    }

    /// T27 may have expired: whether the station is granted a burst, or sent away.
    pub fn invite(&mut self, now: Time) -> Option<Invitation> {
        if self.invites.is_none_or(|until| until > now) {
            return None;
        }
        if self.unheard > self.config.invited_ranging_retries {
            self.release();
            return Some(Invitation::Abort);
        }
        self.invites = Some(now + self.config.timers.t27_active);
        Some(Invitation::Grant)
    }

    /// T7 or T9 may have expired: what is sent.
    pub fn expire(&mut self, now: Time) -> Vec<Message> {
        if self.timer.is_none_or(|timer| timer > now) {
            return Vec::new();
        }
        if self.state == State::Registered && self.attempts <= self.config.flow_retries {
            (self.timer, self.attempts) = (Some(now + self.config.timers.t7), self.attempts + 1);
            return self.missing().collect();
        }
        self.release();
        Vec::new()
    }
}
