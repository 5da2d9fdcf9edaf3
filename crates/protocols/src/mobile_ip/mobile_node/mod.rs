//! The mobile node (RFC 5944 sections 2.4 and 3.6): it listens for agents, decides which it is with, and
//! registers.
//!
//! From the moment that it decides for an agent, the agent is its default router, and its packets leave
//! there, with its home address as their source. It renews a registration when half of its lifetime is over
//! (chosen, as a DHCP client does, RFC 2131 section 4.4.5). A refusal that says what to correct is answered
//! by a corrected request at once; after any other, the same agent is asked again when the retransmission
//! timer fires.

mod agents;
pub(super) mod registrar;
mod solicitor;

use std::collections::{BTreeMap, VecDeque};
use std::net::Ipv4Addr;

use roamsim_engine::Time;

use self::agents::{Agents, Conclusion};
use self::registrar::{Outcome, Purpose, Registrar};
use self::solicitor::Solicitor;
use super::advertiser::ALL_ON_LINK;
use super::identification::{ReplayProtection, Requester};
use super::security::SecurityAssociation;
use super::stats::{Rejection, Rejections};
use super::wire::{AgentAdvertisement, Code, Message, RequestFlags};
use super::{Arrival, Interface, PORT, Pdu, Transmit};
use crate::{Context, Machine};

pub use self::agents::{KnownAgent, MoveDetection};
pub use self::registrar::Retransmission;
pub use self::solicitor::SolicitationConfig;

/// What a mobile node is told.
#[derive(Clone, Debug, PartialEq)]
pub struct MobileNodeConfig {
    /// Its home address.
    pub home_address: Ipv4Addr,
    /// Its home agent.
    pub home_agent: Ipv4Addr,
    /// The links on which it may meet agents.
    pub interfaces: Vec<Interface>,
    /// What it shares with its home agent.
    pub security: SecurityAssociation,
    /// Replay protection.
    pub replay_protection: ReplayProtection,
    /// How far its clock is ahead of the home agent's, in nanoseconds.
    pub clock_offset_ns: i64,
    /// The lifetime that it asks for, in seconds, if the agent takes so much.
    pub lifetime_s: u16,
    /// When a request is sent again.
    pub retransmission: Retransmission,
    /// How it finds out that it has moved.
    pub move_detection: MoveDetection,
    /// How it asks for agents; `None`: it waits for their advertisements.
    pub solicitation: Option<SolicitationConfig>,
    /// Whether it asks for a reverse tunnel.
    pub reverse_tunnel: bool,
}

/// What a mobile node tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MobileNodeEvent {
    /// The present agent's advertisements ceased: the lifetime of the last is over.
    AgentLost {
        /// Its address.
        agent: Ipv4Addr,
    },
    /// The mobile node is with another agent now: detection.
    Moved {
        /// The agent.
        agent: Ipv4Addr,
        /// Its link.
        interface: Interface,
        /// It is the home agent.
        home: bool,
    },
    /// A request was sent, for the first time or again; a renewal is none.
    RegistrationSent {
        /// Whether it deregisters.
        deregistration: bool,
        /// It is a copy of one that was not answered.
        retransmission: bool,
        /// It renews the registration with the agent that it has.
        renewal: bool,
    },
    /// The home agent accepted.
    Registered {
        /// The lifetime granted, in seconds.
        lifetime_s: u16,
    },
    /// The home agent accepted the deregistration.
    Deregistered,
    /// A request was refused.
    Refused {
        /// Why.
        code: Code,
    },
    /// The registration's lifetime is over.
    Expired,
}

/// Counters of a mobile node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MobileNodeStats {
    /// Advertisements heard.
    pub advertisements: u64,
    /// Solicitations sent.
    pub solicitations: u64,
    /// Times that it changed its agent, the first agent included.
    pub moves: u64,
    /// Requests for the first time, renewals, deregistrations and corrected ones included.
    pub requests: u64,
    /// Requests sent again because they were not answered.
    pub retransmissions: u64,
    /// Requests accepted.
    pub accepted: u64,
    /// Requests refused, by code.
    pub refused: BTreeMap<Code, u64>,
    /// Registrations whose lifetime ended.
    pub expired: u64,
    /// Messages that were not taken.
    pub rejections: Rejections,
}

/// The machine.
#[derive(Clone, Debug)]
pub struct MobileNode {
    config: MobileNodeConfig,
    agents: Agents,
    solicitor: Option<Solicitor>,
    registrar: Registrar,
    stats: MobileNodeStats,
    outbox: VecDeque<Transmit>,
    events: VecDeque<MobileNodeEvent>,
}

impl MobileNode {
    /// One that has heard no agent yet, and is not registered.
    pub fn new(config: MobileNodeConfig) -> MobileNode {
        MobileNode {
            agents: Agents::new(config.home_agent, config.move_detection),
            solicitor: config.solicitation.map(Solicitor::new),
            registrar: Registrar::new(
                config.home_address,
                config.home_agent,
                config.security,
                config.retransmission,
                if config.reverse_tunnel { RequestFlags::REVERSE_TUNNEL } else { RequestFlags::default() },
                Requester::new(config.replay_protection, config.clock_offset_ns),
            ),
            config,
            stats: MobileNodeStats::default(),
            outbox: VecDeque::new(),
            events: VecDeque::new(),
        }
    }

    /// Begins to look for an agent.
    pub fn start(&mut self, cx: &mut Context<'_>) {
        if let Some(solicitor) = &mut self.solicitor {
            solicitor.start(cx.now, cx.random);
        }
    }

    /// Counters.
    pub fn stats(&self) -> &MobileNodeStats {
        &self.stats
    }

    /// What it was told.
    pub fn config(&self) -> &MobileNodeConfig {
        &self.config
    }

    /// The agent that it is with: its default router.
    pub fn current_agent(&self) -> Option<&KnownAgent> {
        self.agents.current()
    }

    /// An agent advertisement has come.
    pub fn handle_advertisement(
        &mut self,
        cx: &mut Context<'_>,
        arrival: Arrival,
        advertisement: &AgentAdvertisement,
    ) {
        self.run_due(cx);
        self.stats.advertisements += 1;
        match self.agents.on_advertisement(cx.now, arrival, advertisement) {
            Conclusion::Stay => {}
            Conclusion::AgentRestarted => self.register(cx, false),
            Conclusion::MoveTo(agent) => self.move_to(cx, agent),
        }
    }

    /// The same with the octets of ICMP.
    pub fn handle_icmp_octets(&mut self, cx: &mut Context<'_>, arrival: Arrival, octets: &[u8]) {
        match AgentAdvertisement::decode(octets) {
            Ok(advertisement) => self.handle_advertisement(cx, arrival, &advertisement),
            Err(error) => self.stats.rejections.add(error.into()),
        }
    }

    fn move_to(&mut self, cx: &mut Context<'_>, address: Ipv4Addr) {
        self.agents.current = Some(address);
        let Some(agent) = self.agents.current() else { return };
        self.stats.moves += 1;
        self.events.push_back(MobileNodeEvent::Moved {
            agent: address,
            interface: agent.interface,
            home: agent.is_home,
        });
        if let Some(solicitor) = &mut self.solicitor {
            solicitor.stop();
        }
        self.registrar.cancel();
        self.register(cx, false);
    }

    /// Registers with the present agent; at home it deregisters, if there may be something to.
    fn register(&mut self, cx: &mut Context<'_>, renewal: bool) {
        let Some(agent) = self.agents.current() else { return };
        if agent.is_home && !self.registrar.may_be_bound {
            return;
        }
        let purpose = match agent.care_of_address {
            Some(care_of_address) if !agent.is_home => Purpose {
                care_of_address,
                lifetime_s: self.config.lifetime_s.min(agent.registration_lifetime_s),
            },
            _ => Purpose { care_of_address: self.config.home_address, lifetime_s: 0 },
        };
        let message = self.registrar.begin(cx, purpose);
        self.stats.requests += 1;
        self.send(message, false, renewal);
    }

    fn send(&mut self, message: Message, retransmission: bool, renewal: bool) {
        let Some(agent) = self.agents.current() else { return };
        let deregistration = matches!(&message, Message::Request(request) if request.lifetime_s == 0);
        self.outbox.push_back(Transmit {
            interface: Some(agent.interface),
            source: self.config.home_address,
            destination: agent.address,
            pdu: Pdu::Registration { source_port: PORT, destination_port: PORT, message },
        });
        self.events.push_back(MobileNodeEvent::RegistrationSent { deregistration, retransmission, renewal });
    }

    /// A registration message has come.
    pub fn handle_registration(&mut self, cx: &mut Context<'_>, message: &Message) {
        self.run_due(cx);
        let Message::Reply(reply) = message else {
            self.stats.rejections.add(Rejection::UnknownType);
            return;
        };
        match self.registrar.on_reply(cx.now, message, reply) {
            Outcome::Unsolicited => self.stats.rejections.add(Rejection::Unsolicited),
            Outcome::FailedAuthentication => self.stats.rejections.add(Rejection::FailedAuthentication),
            Outcome::Accepted { lifetime_s } => {
                self.stats.accepted += 1;
                self.events.push_back(match lifetime_s {
                    0 => MobileNodeEvent::Deregistered,
                    _ => MobileNodeEvent::Registered { lifetime_s },
                });
            }
            Outcome::Refused { code, again } => {
                *self.stats.refused.entry(code).or_default() += 1;
                self.events.push_back(MobileNodeEvent::Refused { code });
                if again && let Some(message) = self.registrar.correct(cx) {
                    self.stats.requests += 1;
                    self.send(message, false, false);
                }
            }
        }
    }

    /// The same with the octets of a UDP payload.
    pub fn handle_octets(&mut self, cx: &mut Context<'_>, octets: &[u8]) {
        match Message::decode(octets) {
            Ok(message) => self.handle_registration(cx, &message),
            Err(error) => self.stats.rejections.add(error.into()),
        }
    }

    fn run_due(&mut self, cx: &mut Context<'_>) {
        if self.registrar.expire(cx.now) {
            self.stats.expired += 1;
            self.events.push_back(MobileNodeEvent::Expired);
        }
        if let Some(lost) = self.agents.expire(cx.now) {
            self.events.push_back(MobileNodeEvent::AgentLost { agent: lost.address });
            self.registrar.cancel();
            match (self.agents.best(), &mut self.solicitor) {
                (Some(agent), _) => self.move_to(cx, agent),
                (None, Some(solicitor)) => solicitor.start(cx.now, cx.random),
                (None, None) => {}
            }
        }
        if let Some(message) = self.registrar.retransmit(cx) {
            self.stats.retransmissions += 1;
            self.send(message, true, false);
        }
        if self.registrar.renewal_is_due(cx.now) && !self.registrar.is_pending() {
            self.register(cx, true);
        }
        if self.solicitor.as_mut().is_some_and(|solicitor| solicitor.is_due(cx.now, cx.random)) {
            self.solicit();
        }
    }

    fn solicit(&mut self) {
        for &interface in &self.config.interfaces {
            self.stats.solicitations += 1;
            self.outbox.push_back(Transmit {
                interface: Some(interface),
                source: self.config.home_address,
                destination: ALL_ON_LINK,
                pdu: Pdu::Solicitation,
            });
        }
    }

    /// The next packet.
    pub fn poll_transmit(&mut self) -> Option<Transmit> {
        self.outbox.pop_front()
    }

    /// The next event.
    pub fn poll_event(&mut self) -> Option<MobileNodeEvent> {
        self.events.pop_front()
    }
}

impl Machine for MobileNode {
    fn poll_timeout(&self) -> Option<Time> {
        let solicitation = self.solicitor.as_ref().and_then(|solicitor| solicitor.next);
        [self.agents.first_expiry(), self.registrar.poll_timeout(), solicitation].into_iter().flatten().min()
    }

    fn handle_timeout(&mut self, cx: &mut Context<'_>) {
        self.run_due(cx);
    }
}
