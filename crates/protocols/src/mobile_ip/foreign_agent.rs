//! The foreign agent (RFC 5944 section 3.7): it relays registrations, and keeps the visitor list.
//!
//! Packets that leave the tunnel here are for the visitor inside; the network layer asks
//! [`ForeignAgent::visitor`].

use std::collections::{BTreeMap, VecDeque};
use std::net::Ipv4Addr;

use roamsim_engine::{Span, Time};

use super::ends::Ends;
use super::stats::{Rejection, Rejections};
use super::wire::{Code, Extensions, Message, Reply, Request, RequestFlags};
use super::{Arrival, Interface, PORT, Pdu, Transmit, end_of};
use crate::{Context, Machine};

/// What a foreign agent is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignAgentConfig {
    /// Its care-of address, from which it also talks to home agents.
    pub care_of_address: Ipv4Addr,
    /// The longest lifetime that it takes, in seconds; 0xffff without end.
    pub max_lifetime_s: u16,
    /// How many visitors it takes; `None` without limit.
    pub max_visitors: Option<usize>,
    /// Whether it offers reverse tunnels.
    pub reverse_tunnel: bool,
    /// How long it waits for a home agent's answer, before it says "registration timeout".
    pub pending_timeout: Span,
}

/// A mobile node that is registered here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Visitor {
    /// The link that it is on.
    pub interface: Interface,
    /// Its home agent.
    pub home_agent: Ipv4Addr,
    /// When its registration ends; `None` for never.
    pub expires: Option<Time>,
    /// Whether its packets go through the reverse tunnel.
    pub reverse_tunnel: bool,
}

/// A request that was relayed and waits for its answer: what the visitor list keeps of it (section 3.7.1).
#[derive(Clone, Copy, Debug)]
struct Pending {
    interface: Interface,
    /// Where the request came from and was sent to.
    source: Ipv4Addr,
    source_port: u16,
    destination: Ipv4Addr,
    home_agent: Ipv4Addr,
    identification: u64,
    lifetime_s: u16,
    reverse_tunnel: bool,
    gives_up: Time,
}

/// What a foreign agent tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForeignAgentEvent {
    /// A visitor has come, or has renewed its registration.
    VisitorRegistered {
        /// The mobile node.
        home_address: Ipv4Addr,
    },
    /// A visitor's registration has ended.
    VisitorLeft {
        /// The mobile node.
        home_address: Ipv4Addr,
        /// Its lifetime was over; otherwise the mobile node deregistered.
        expired: bool,
    },
    /// A request was refused by this agent.
    Refused {
        /// The mobile node.
        home_address: Ipv4Addr,
        /// Why.
        code: Code,
    },
}

/// Counters of a foreign agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ForeignAgentStats {
    /// Requests received.
    pub requests: u64,
    /// Requests relayed to home agents.
    pub relayed_requests: u64,
    /// Replies relayed to mobile nodes.
    pub relayed_replies: u64,
    /// Of these, those that accepted a registration or a deregistration.
    pub accepted: u64,
    /// Visitors whose lifetime ended.
    pub expired: u64,
    /// Requests refused by this agent, by code.
    pub refused: BTreeMap<Code, u64>,
    /// Messages that were not taken.
    pub rejections: Rejections,
}

/// The machine.
#[derive(Clone, Debug)]
pub struct ForeignAgent {
    config: ForeignAgentConfig,
    pending: BTreeMap<Ipv4Addr, Pending>,
    visitors: BTreeMap<Ipv4Addr, Visitor>,
    /// Of registrations of visitors.
    visits_end: Ends,
    /// Of waiting for home agents.
    waiting_ends: Ends,
    stats: ForeignAgentStats,
    outbox: VecDeque<Transmit>,
    events: VecDeque<ForeignAgentEvent>,
}

impl ForeignAgent {
    /// One without visitors.
    pub fn new(config: ForeignAgentConfig) -> ForeignAgent {
        ForeignAgent {
            config,
            pending: BTreeMap::new(),
            visitors: BTreeMap::new(),
            visits_end: Ends::default(),
            waiting_ends: Ends::default(),
            stats: ForeignAgentStats::default(),
            outbox: VecDeque::new(),
            events: VecDeque::new(),
        }
    }

    /// Counters.
    pub fn stats(&self) -> &ForeignAgentStats {
        &self.stats
    }

    /// The visitor with this home address.
    pub fn visitor(&self, home_address: Ipv4Addr) -> Option<&Visitor> {
        self.visitors.get(&home_address)
    }

    /// Whether it takes no more visitors, which it advertises.
    pub fn is_busy(&self) -> bool {
        self.config.max_visitors.is_some_and(|max| self.visitors.len() >= max)
    }

    /// Whether it relays no more: places are kept for those whose answer is on its way.
    fn is_full(&self) -> bool {
        let awaited = || self.pending.keys().filter(|awaited| !self.visitors.contains_key(awaited)).count();
        self.config.max_visitors.is_some_and(|max| self.visitors.len() + awaited() >= max)
    }

    /// A registration message has come: a mobile node's request, or a home agent's reply.
    pub fn handle_registration(&mut self, cx: &mut Context<'_>, arrival: Arrival, message: &Message) {
        self.run_due(cx.now);
        match message {
            Message::Request(request) => self.handle_request(cx.now, arrival, request),
            Message::Reply(reply) => self.handle_reply(cx.now, arrival, reply),
        }
    }

    /// The same with the octets of a UDP payload.
    pub fn handle_octets(&mut self, cx: &mut Context<'_>, arrival: Arrival, octets: &[u8]) {
        match Message::decode(octets) {
            Ok(message) => self.handle_registration(cx, arrival, &message),
            Err(error) => self.stats.rejections.add(error.into()),
        }
    }

    /// Section 3.7.2.
    fn handle_request(&mut self, now: Time, arrival: Arrival, request: &Request) {
        self.stats.requests += 1;
        let pending = Pending {
            interface: arrival.interface,
            source: arrival.source,
            source_port: arrival.source_port,
            destination: arrival.destination,
            home_agent: request.home_agent,
            identification: request.identification,
            lifetime_s: request.lifetime_s,
            reverse_tunnel: request.flags.intersects(RequestFlags::REVERSE_TUNNEL),
            gives_up: now + self.config.pending_timeout,
        };
        if let Some(code) = self.refusal(request) {
            self.refuse(request.home_address, pending, code);
            return;
        }
        let before = self.pending.insert(request.home_address, pending).map(|before| before.gives_up);
        self.waiting_ends.change(request.home_address, before, Some(pending.gives_up));
        self.stats.relayed_requests += 1;
        self.outbox.push_back(Transmit {
            interface: None,
            source: self.config.care_of_address,
            destination: request.home_agent,
            pdu: Pdu::Registration {
                source_port: PORT,
                destination_port: PORT,
                message: Message::Request(request.clone()),
            },
        });
    }

    /// Why a request is not relayed (section 3.7.2.1).
    fn refusal(&self, request: &Request) -> Option<Code> {
        let flags = request.flags;
        if flags.intersects(RequestFlags::RESERVED) {
            Some(Code::FA_POORLY_FORMED_REQUEST)
        } else if request.care_of_address != self.config.care_of_address {
            Some(Code::FA_INVALID_CARE_OF_ADDRESS)
        } else if request.lifetime_s > self.config.max_lifetime_s {
            Some(Code::FA_LIFETIME_TOO_LONG)
        } else if flags.intersects(RequestFlags::MINIMAL_ENCAPSULATION) || flags.intersects(RequestFlags::GRE)
        {
            Some(Code::FA_ENCAPSULATION_UNAVAILABLE)
        } else if flags.intersects(RequestFlags::REVERSE_TUNNEL) && !self.config.reverse_tunnel {
            Some(Code::FA_REVERSE_TUNNEL_UNAVAILABLE)
        } else if self.is_full()
            && !self.visitors.contains_key(&request.home_address)
            && !self.pending.contains_key(&request.home_address)
        {
            Some(Code::FA_INSUFFICIENT_RESOURCES)
        } else {
            None
        }
    }

    fn refuse(&mut self, home_address: Ipv4Addr, pending: Pending, code: Code) {
        *self.stats.refused.entry(code).or_default() += 1;
        self.events.push_back(ForeignAgentEvent::Refused { home_address, code });
        let reply = Reply {
            code,
            lifetime_s: if code == Code::FA_LIFETIME_TOO_LONG { self.config.max_lifetime_s } else { 0 },
            home_address,
            home_agent: pending.home_agent,
            identification: pending.identification,
            extensions: Extensions::default(),
        };
        self.answer(pending, reply);
    }

    /// Sends a reply to the mobile node: on its link, from the address and to the port of its request
    /// (section 3.7.3.2).
    fn answer(&mut self, pending: Pending, reply: Reply) {
        self.outbox.push_back(Transmit {
            interface: Some(pending.interface),
            source: pending.destination,
            destination: pending.source,
            pdu: Pdu::Registration {
                source_port: PORT,
                destination_port: pending.source_port,
                message: Message::Reply(reply),
            },
        });
    }

    /// Section 3.7.3.
    fn handle_reply(&mut self, now: Time, arrival: Arrival, reply: &Reply) {
        let matches = |pending: &Pending| {
            pending.identification as u32 == reply.identification as u32
                && pending.home_agent == arrival.source
        };
        let home_address = reply.home_address;
        let Some(pending) = self.pending.get(&home_address).copied().filter(matches) else {
            self.stats.rejections.add(Rejection::Unsolicited);
            return;
        };
        self.pending.remove(&home_address);
        self.waiting_ends.change(home_address, Some(pending.gives_up), None);
        if reply.home_agent != pending.home_agent && reply.code.accepted() {
            self.refuse(home_address, pending, Code::FA_POORLY_FORMED_REPLY);
            return;
        }
        if reply.code.accepted() {
            self.stats.accepted += 1;
            self.register(now, home_address, pending, reply.lifetime_s.min(pending.lifetime_s));
        }
        self.stats.relayed_replies += 1;
        self.answer(pending, reply.clone());
    }

    fn register(&mut self, now: Time, home_address: Ipv4Addr, pending: Pending, lifetime_s: u16) {
        if lifetime_s == 0 {
            if let Some(visitor) = self.visitors.remove(&home_address) {
                self.visits_end.change(home_address, visitor.expires, None);
                self.events.push_back(ForeignAgentEvent::VisitorLeft { home_address, expired: false });
            }
            return;
        }
        let visitor = Visitor {
            interface: pending.interface,
            home_agent: pending.home_agent,
            expires: end_of(now, lifetime_s),
            reverse_tunnel: pending.reverse_tunnel,
        };
        let before = self.visitors.insert(home_address, visitor);
        self.visits_end.change(home_address, before.and_then(|before| before.expires), visitor.expires);
        self.events.push_back(ForeignAgentEvent::VisitorRegistered { home_address });
    }

    fn run_due(&mut self, now: Time) {
        while let Some(home_address) = self.visits_end.take_due(now) {
            self.visitors.remove(&home_address);
            self.stats.expired += 1;
            self.events.push_back(ForeignAgentEvent::VisitorLeft { home_address, expired: true });
        }
        while let Some(home_address) = self.waiting_ends.take_due(now) {
            if let Some(pending) = self.pending.remove(&home_address) {
                self.refuse(home_address, pending, Code::FA_REGISTRATION_TIMEOUT);
            }
        }
    }

    /// The next packet.
    pub fn poll_transmit(&mut self) -> Option<Transmit> {
        self.outbox.pop_front()
    }

    /// The next event.
    pub fn poll_event(&mut self) -> Option<ForeignAgentEvent> {
        self.events.pop_front()
    }
}

impl Machine for ForeignAgent {
    fn poll_timeout(&self) -> Option<Time> {
        self.visits_end.next().into_iter().chain(self.waiting_ends.next()).min()
    }

    fn handle_timeout(&mut self, cx: &mut Context<'_>) {
        self.run_due(cx.now);
    }
}
