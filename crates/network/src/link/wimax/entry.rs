//! Network entry of a station (IEEE Std 802.16-2004 clauses 6.3.9, 6.3.14.9): a machine without I/O.
//!
//! It looks for a preamble (T20) and a DL-MAP (T21) on one channel after the other; waits for DCD (T1) and
//! UCD (T12); when it is told to join, it waits for ranging opportunities (T2), contends for one, and waits
//! for the answer (T3); it negotiates its capabilities (T18) and registers (T6); the base station adds its
//! connections, and it waits for the acknowledgements (T8). The standard has no timer of a station for
//! DSA-REQ: it waits as long as the base station asks (T7 and its repetitions). It is synchronized while it
//! hears maps, and in the network while it is granted bursts, by which it is ranged (T4), and not sent away
//! by RNG-RSP.
//!
//! What fails sends it back to the search, from the next channel on; when all channels have been in vain it
//! rests.

use super::management::{Message, Sfid};
use crate::link::phase::Phase;
use roamsim_engine::{Span, Stream, Time};

/// Timers of a station (table 342).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timers {
    /// T1: waits for a DCD.
    pub t1: Span,
    /// T2: waits for a ranging opportunity.
    pub t2: Span,
    /// T3: waits for RNG-RSP.
    pub t3: Span,
    /// T4: waits for a burst that is granted to it alone, by which it is ranged again.
    pub t4: Span,
    /// T6: waits for REG-RSP.
    pub t6: Span,
    /// T7: the base station waits for DSA-RSP.
    pub t7: Span,
    /// T8: waits for DSA-ACK.
    pub t8: Span,
    /// T9: the base station waits for SBC-REQ.
    pub t9: Span,
    /// T12: waits for a UCD.
    pub t12: Span,
    /// T18: waits for SBC-RSP.
    pub t18: Span,
    /// T20: looks for preambles on a channel.
    pub t20: Span,
    /// T21: looks for a DL-MAP on a channel.
    pub t21: Span,
    /// T27 idle: how long the base station lets a station be without a burst whose last one it has heard.
    pub t27_idle: Span,
    /// T27 active: the same of a station whose last burst it has not heard.
    pub t27_active: Span,
    /// How long it is synchronized without a DL-MAP.
    pub lost_downlink_map: Span,
    /// And without a UL-MAP.
    pub lost_uplink_map: Span,
}

impl Timers {
    /// How long a station is synchronized without any map.
    pub fn lost_map(&self) -> Span {
        self.lost_downlink_map.min(self.lost_uplink_map)
    }
}

/// What describes the entry of stations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryConfig {
    /// Timers.
    pub timers: Timers,
    /// The first window of ranging has two to the power of this opportunities.
    pub backoff_start: u32,
    /// And the last.
    pub backoff_end: u32,
    /// Repetitions of RNG-REQ.
    pub ranging_retries: u32,
    /// Bursts without answer after which the base station sends a station away.
    pub invited_ranging_retries: u32,
    /// Repetitions of SBC-REQ.
    pub capability_retries: u32,
    /// Repetitions of REG-REQ.
    pub registration_retries: u32,
    /// Repetitions of DSA-REQ and DSA-RSP.
    pub flow_retries: u32,
    /// How many channels it searches, at least one.
    pub channels: u32,
    /// The one of the base station among them.
    pub channel: u32,
    /// It knows the descriptors before it hears any.
    pub known_descriptors: bool,
    /// How long it rests after a search in vain.
    pub search_interval: Span,
}

/// What it is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nothing, until its next search.
    Resting,
    /// It looks for a preamble on a channel; so many have been in vain.
    Searching { channel: u32, in_vain: u32 },
    /// It has heard a preamble, and looks for a DL-MAP.
    Synchronizing { in_vain: u32 },
    /// It hears maps.
    Synchronized,
    /// It is to join, and waits for a ranging opportunity.
    AwaitingOpportunity,
    /// It lets opportunities pass until its own.
    Deferring { opportunity: u64 },
    /// It waits for RNG-RSP.
    AwaitingRanging,
    /// It waits for SBC-RSP.
    AwaitingCapabilities,
    /// It waits for REG-RSP.
    AwaitingRegistration,
    /// It waits for its connections.
    AwaitingFlows,
    /// It has them.
    Connected,
}

/// Why it is not connected any more, or will not be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// It hears no maps.
    NoMap,
    /// Nobody answers.
    NoAnswer,
}

/// What follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// It begins to look at a channel, whether that of the base station or not.
    Search,
    /// It has synchronized.
    Detected,
    /// It contends for a ranging opportunity.
    Contend,
    /// It sends a message when it can.
    Send(Message),
    /// It is connected.
    Connected,
    /// It is not synchronized any more; whether it was connected.
    Fails { connected: bool, failure: Failure },
}

/// A station's entry.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    config: EntryConfig,
    state: State,
    /// When the timer of the state expires.
    timer: Option<Time>,
    /// When T1 and T12 expire.
    descriptors: [Option<Time>; 2],
    /// Until when it waits for DSA-REQ of the base station.
    flows_until: Option<Time>,
    /// When T4 expires.
    ranged_until: Option<Time>,
    /// When the last maps were heard, of the downlink and of the uplink.
    maps: [Time; 2],
    /// It is told to join.
    wanted: bool,
    /// How often it has sent what it waits for an answer to.
    attempts: u32,
    /// Of each service flow: it has answered, and was acknowledged.
    answered: Vec<bool>,
    acknowledged: Vec<bool>,
}

impl Entry {
    /// That of a station with so many service flows each way.
    pub fn new(config: EntryConfig, flows: u32) -> Entry {
        let count = Sfid::all(flows as usize).count();
        Entry {
            config,
            state: State::Resting,
            timer: Some(Time::ZERO),
            descriptors: [None; 2],
            flows_until: None,
            ranged_until: None,
            maps: [Time::ZERO; 2],
            wanted: false,
            attempts: 0,
            answered: vec![false; count],
            acknowledged: vec![false; count],
        }
    }

    /// Whether it looks for a preamble on the channel of the base station.
    pub fn listens(&self) -> bool {
        matches!(self.state, State::Searching { channel, .. } if channel == self.config.channel)
    }

    /// Whether it hears maps.
    pub fn is_synchronized(&self) -> bool {
        !matches!(self.state, State::Resting | State::Searching { .. } | State::Synchronizing { .. })
    }

    /// Whether it is connected.
    pub fn is_connected(&self) -> bool {
        self.state == State::Connected
    }

    /// What it does on its way into the network.
    pub fn phase(&self) -> Option<Phase> {
        match self.state {
            State::Searching { .. } | State::Synchronizing { .. } => Some(Phase::Scanning),
            State::Synchronized if self.awaits_descriptors() => Some(Phase::Scanning),
            State::AwaitingOpportunity | State::Deferring { .. } | State::AwaitingRanging => {
                Some(Phase::Ranging)
            }
            State::AwaitingCapabilities => Some(Phase::Capabilities),
            State::AwaitingRegistration => Some(Phase::Registration),
            State::AwaitingFlows => Some(Phase::ServiceFlows),
            State::Resting | State::Synchronized | State::Connected => None,
        }
    }

    /// Whether it has heard a preamble, and looks for a DL-MAP.
    pub fn awaits_map(&self) -> bool {
        matches!(self.state, State::Synchronizing { .. })
    }

    /// It was on another channel for so long: that time does not count.
    pub fn stand_still(&mut self, away: Span) {
        let until = [&mut self.timer, &mut self.flows_until, &mut self.ranged_until].into_iter();
        let until = until.chain(&mut self.descriptors).flatten();
        for time in until.chain(&mut self.maps) {
            *time += away;
        }
    }

    /// When it heard maps of both the last time.
    pub fn maps_heard(&self) -> Time {
        self.maps[0].min(self.maps[1])
    }

    /// Whether it waits for a descriptor.
    pub fn awaits_descriptors(&self) -> bool {
        self.descriptors != [None; 2]
    }

    /// Whether it uses this ranging opportunity.
    pub fn ranges(&self, opportunity: u64) -> bool {
        self.state == State::Deferring { opportunity }
    }

    fn search(&mut self, now: Time, channel: u32, in_vain: u32) -> Vec<Action> {
        (self.descriptors, self.flows_until, self.ranged_until) = ([None; 2], None, None);
        self.wanted = false;
        if in_vain >= self.config.channels {
            self.state = State::Resting;
            self.timer = Some(now + self.config.search_interval);
            return Vec::new();
        }
        self.state = State::Searching { channel: channel % self.config.channels, in_vain };
        self.timer = Some(now + self.config.timers.t20);
        vec![Action::Search]
    }

    /// It hears the preamble of the base station.
    pub fn preamble(&mut self, now: Time) {
        if let State::Searching { channel, in_vain } = self.state
            && channel == self.config.channel
        {
            self.state = State::Synchronizing { in_vain };
            self.timer = Some(now + self.config.timers.t21);
        }
    }

    /// It hears a DL-MAP.
    pub fn downlink_map(&mut self, now: Time) -> Option<Action> {
        self.maps[0] = now;
        if !matches!(self.state, State::Synchronizing { .. }) {
            return None;
        }
        (self.state, self.timer, self.maps[1]) = (State::Synchronized, None, now);
        if !self.config.known_descriptors {
            let Timers { t1, t12, .. } = self.config.timers;
            self.descriptors = [Some(now + t1), Some(now + t12)];
        }
        Some(Action::Detected)
    }

    /// It hears a UL-MAP.
    pub fn uplink_map(&mut self, now: Time) {
        self.maps[1] = now;
    }

    /// It hears a DCD.
    pub fn downlink_descriptor(&mut self, now: Time) -> Option<Action> {
        self.descriptors[0] = None;
        self.begin_ranging(now)
    }

    /// It hears a UCD.
    pub fn uplink_descriptor(&mut self, now: Time) -> Option<Action> {
        self.descriptors[1] = None;
        self.begin_ranging(now)
    }

    /// It is to join.
    pub fn join(&mut self, now: Time) -> Option<Action> {
        self.wanted = true;
        self.begin_ranging(now)
    }

    fn begin_ranging(&mut self, now: Time) -> Option<Action> {
        if self.state != State::Synchronized || !self.wanted || self.awaits_descriptors() {
            return None;
        }
        self.attempts = 0;
        self.state = State::AwaitingOpportunity;
        self.timer = Some(now + self.config.timers.t2);
        Some(Action::Contend)
    }

    /// Ranging opportunities come, from this one on: it chooses one.
    pub fn choose(&mut self, next: u64, draws: &mut Stream) -> u64 {
        let exponent = (self.config.backoff_start + self.attempts).min(self.config.backoff_end);
        let opportunity = next + draws.below(1 << exponent);
        (self.state, self.timer) = (State::Deferring { opportunity }, None);
        opportunity
    }

    /// It has not heard of its opportunity: it takes one so many later. Returns it.
    pub fn postpone(&mut self, by: u64) -> Option<u64> {
        let State::Deferring { opportunity } = &mut self.state else { return None };
        *opportunity += by;
        Some(*opportunity)
    }

    /// It is granted a burst, by which it is ranged.
    pub fn granted(&mut self, now: Time) {
        if let Some(until) = &mut self.ranged_until {
            *until = now + self.config.timers.t4;
        }
    }

    /// It has sent a message.
    pub fn sent(&mut self, now: Time, message: Message) {
        let Timers { t3, t6, t8, t18, .. } = self.config.timers;
        match (message, self.state) {
            (Message::RangingRequest, State::Deferring { .. }) => {
                self.attempts += 1;
                self.state = State::AwaitingRanging;
                self.timer = Some(now + t3);
            }
            (Message::CapabilityRequest, State::AwaitingCapabilities) => self.timer = Some(now + t18),
            (Message::RegistrationRequest, State::AwaitingRegistration) => self.timer = Some(now + t6),
            (Message::FlowResponse(_), State::AwaitingFlows) => self.timer = Some(now + t8),
            _ => {}
        }
    }

    /// It hears a message. What does not fit its state is passed over.
    pub fn heard(&mut self, now: Time, message: Message) -> Option<Action> {
        let Timers { t4, t6, t8, t18, .. } = self.config.timers;
        match (message, self.state) {
            (Message::RangingResponse, State::AwaitingRanging) => {
                (self.state, self.attempts) = (State::AwaitingCapabilities, 1);
                (self.timer, self.ranged_until) = (Some(now + t18), Some(now + t4));
                Some(Action::Send(Message::CapabilityRequest))
            }
            (Message::CapabilityResponse, State::AwaitingCapabilities) => {
                (self.state, self.attempts) = (State::AwaitingRegistration, 1);
                self.timer = Some(now + t6);
                Some(Action::Send(Message::RegistrationRequest))
            }
            (Message::RegistrationResponse, State::AwaitingRegistration) => {
                (self.state, self.attempts, self.timer) = (State::AwaitingFlows, 1, None);
                self.answered.fill(false);
                self.acknowledged.fill(false);
                let requests = u64::from(self.config.flow_retries) + 1;
                self.flows_until = Some(now + self.config.timers.t7.saturating_mul(requests));
                None
            }
            (Message::FlowRequest(flow), State::AwaitingFlows) => {
                *self.answered.get_mut(flow.place())? = true;
                if self.answered.iter().all(|answered| *answered) {
                    self.flows_until = None;
                }
                self.timer = Some(now + t8);
                Some(Action::Send(Message::FlowResponse(flow)))
            }
            // The acknowledgement of its answer was lost for the base station's part.
            (Message::FlowRequest(flow), State::Connected) => Some(Action::Send(Message::FlowResponse(flow))),
            (Message::FlowAcknowledgement(flow), State::AwaitingFlows)
                if self.answered.get(flow.place()) == Some(&true) =>
            {
                self.acknowledged[flow.place()] = true;
                if self.acknowledged == self.answered {
                    self.timer = None;
                }
                if self.acknowledged.contains(&false) {
                    return None;
                }
                (self.state, self.timer) = (State::Connected, None);
                Some(Action::Connected)
            }
            _ => None,
        }
    }

    /// It is to leave: it stays synchronized. Returns whether it was connected.
    pub fn leave(&mut self) -> bool {
        let connected = self.is_connected();
        self.wanted = false;
        if self.is_synchronized() {
            (self.state, self.timer) = (State::Synchronized, None);
            (self.flows_until, self.ranged_until) = (None, None);
        }
        connected
    }

    /// When something expires.
    pub fn deadline(&self) -> Option<Time> {
        let Timers { lost_downlink_map, lost_uplink_map, .. } = self.config.timers;
        let lost = [self.maps[0] + lost_downlink_map, self.maps[1] + lost_uplink_map];
        let lost = lost.into_iter().filter(|_| self.is_synchronized());
        let until = [self.timer, self.flows_until, self.ranged_until];
        lost.chain(until.into_iter().flatten()).chain(self.descriptors.into_iter().flatten()).min()
    }

    /// The base station sends it away (RNG-RSP with status abort).
    pub fn sent_away(&mut self, now: Time) -> Vec<Action> {
        match self.ranged_until {
            Some(_) => self.fails(now, Failure::NoAnswer),
            None => Vec::new(),
        }
    }

    fn fails(&mut self, now: Time, failure: Failure) -> Vec<Action> {
        let connected = self.is_connected();
        let mut actions = vec![Action::Fails { connected, failure }];
        let next = self.config.channel + 1;
        actions.extend(self.search(now, next, 0));
        actions
    }

    /// Something may have expired.
    pub fn expire(&mut self, now: Time) -> Vec<Action> {
        let Timers { lost_downlink_map, lost_uplink_map, t8, t6, t18, .. } = self.config.timers;
        let lost = self.maps[0] + lost_downlink_map <= now || self.maps[1] + lost_uplink_map <= now;
        if self.is_synchronized() && lost {
            return self.fails(now, Failure::NoMap);
        }
        // T1 and T12; the base station has asked for the last time; T4.
        let waits = self.descriptors.iter().flatten().chain(&self.flows_until).chain(&self.ranged_until);
        if waits.into_iter().any(|&until| until <= now) {
            return self.fails(now, Failure::NoAnswer);
        }
        if self.timer.is_none_or(|timer| timer > now) {
            return Vec::new();
        }
        self.timer = None;
        let EntryConfig { ranging_retries, capability_retries, registration_retries, flow_retries, .. } =
            self.config;
        match self.state {
            State::Resting => self.search(now, 0, 0),
            // T20, T21.
            State::Searching { channel, in_vain } => self.search(now, channel + 1, in_vain + 1),
            State::Synchronizing { in_vain } => self.search(now, self.config.channel + 1, in_vain + 1),
            // T2.
            State::AwaitingOpportunity => self.fails(now, Failure::NoAnswer),
            // T3.
            State::AwaitingRanging if self.attempts <= ranging_retries => vec![Action::Contend],
            // T18.
            State::AwaitingCapabilities if self.attempts <= capability_retries => {
                (self.attempts, self.timer) = (self.attempts + 1, Some(now + t18));
                vec![Action::Send(Message::CapabilityRequest)]
            }
            // T6.
            State::AwaitingRegistration if self.attempts <= registration_retries => {
                (self.attempts, self.timer) = (self.attempts + 1, Some(now + t6));
                vec![Action::Send(Message::RegistrationRequest)]
            }
            // T8.
            State::AwaitingFlows if self.attempts <= flow_retries => {
                (self.attempts, self.timer) = (self.attempts + 1, Some(now + t8));
                let missing = |flow: &Sfid| self.answered[flow.place()] && !self.acknowledged[flow.place()];
                let missing = Sfid::all(self.answered.len() / 2).filter(missing);
                missing.map(|flow| Action::Send(Message::FlowResponse(flow))).collect()
            }
            State::AwaitingRanging
            | State::AwaitingCapabilities
            | State::AwaitingRegistration
            | State::AwaitingFlows => self.fails(now, Failure::NoAnswer),
            State::Synchronized | State::Deferring { .. } | State::Connected => Vec::new(),
        }
    }
}
