//! The home agent (RFC 5944 section 3.8): it keeps the mobility bindings of its mobile nodes.
//!
//! Packets for a home address that has a binding are for the tunnel; the network layer asks
//! [`HomeAgent::binding`].

use std::collections::{BTreeMap, VecDeque};
use std::net::Ipv4Addr;

use roamsim_engine::Time;

use super::ends::Ends;
use super::identification::{ReplayProtection, Responder};
use super::security::SecurityAssociation;
use super::stats::{Rejection, Rejections};
use super::wire::{Code, Extensions, Message, Reply, Request, RequestFlags};
use super::{Arrival, Pdu, Transmit, end_of};
use crate::{Context, Machine};

/// What a home agent is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HomeAgentConfig {
    /// Its address.
    pub address: Ipv4Addr,
    /// Its mobile nodes, by home address.
    pub mobile_nodes: BTreeMap<Ipv4Addr, SecurityAssociation>,
    /// The longest lifetime that it grants, in seconds; 0xffff without end.
    pub max_lifetime_s: u16,
    /// Replay protection.
    pub replay_protection: ReplayProtection,
    /// Whether it takes reverse tunnels.
    pub reverse_tunnel: bool,
}

/// A mobility binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binding {
    /// The end of the tunnel.
    pub care_of_address: Ipv4Addr,
    /// When it ends; `None` for never.
    pub expires: Option<Time>,
    /// Whether the mobile node's packets come through the reverse tunnel.
    pub reverse_tunnel: bool,
}

/// What a home agent tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HomeAgentEvent {
    /// A binding was made or renewed.
    Bound {
        /// The mobile node.
        home_address: Ipv4Addr,
        /// The end of the tunnel.
        care_of_address: Ipv4Addr,
    },
    /// A binding has ended.
    Unbound {
        /// The mobile node.
        home_address: Ipv4Addr,
        /// Its lifetime was over; otherwise the mobile node deregistered.
        expired: bool,
    },
    /// A request was refused.
    Refused {
        /// The mobile node.
        home_address: Ipv4Addr,
        /// Why.
        code: Code,
    },
}

/// Counters of a home agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HomeAgentStats {
    /// Requests received.
    pub requests: u64,
    /// Registrations accepted, renewals among them.
    pub accepted: u64,
    /// Deregistrations accepted.
    pub deregistrations: u64,
    /// Bindings whose lifetime ended.
    pub expired: u64,
    /// Requests refused, by code.
    pub refused: BTreeMap<Code, u64>,
    /// Messages that were not taken.
    pub rejections: Rejections,
}

/// The machine.
#[derive(Clone, Debug)]
pub struct HomeAgent {
    config: HomeAgentConfig,
    responders: BTreeMap<Ipv4Addr, Responder>,
    bindings: BTreeMap<Ipv4Addr, Binding>,
    ends: Ends,
    stats: HomeAgentStats,
    outbox: VecDeque<Transmit>,
    events: VecDeque<HomeAgentEvent>,
}

impl HomeAgent {
    /// One without bindings.
    pub fn new(config: HomeAgentConfig) -> HomeAgent {
        let style = config.replay_protection;
        HomeAgent {
            responders: config.mobile_nodes.keys().map(|&home| (home, Responder::new(style))).collect(),
            config,
            bindings: BTreeMap::new(),
            ends: Ends::default(),
            stats: HomeAgentStats::default(),
            outbox: VecDeque::new(),
            events: VecDeque::new(),
        }
    }

    /// Counters.
    pub fn stats(&self) -> &HomeAgentStats {
        &self.stats
    }

    /// Where packets for a home address are tunnelled to; `None` while the mobile node is at home.
    pub fn binding(&self, home_address: Ipv4Addr) -> Option<&Binding> {
        self.bindings.get(&home_address)
    }

    /// A registration message has come.
    pub fn handle_registration(&mut self, cx: &mut Context<'_>, arrival: Arrival, message: &Message) {
        self.run_due(cx.now);
        let Message::Request(request) = message else {
            self.stats.rejections.add(Rejection::UnknownType);
            return;
        };
        self.stats.requests += 1;
        let association = self.config.mobile_nodes.get(&request.home_address).copied();
        let authentic = association.is_some_and(|association| association.verify(message));
        let (code, identification) = self.judge(cx, request, authentic);
        let lifetime_s = request.lifetime_s.min(self.config.max_lifetime_s);
        if code.accepted() {
            self.bind(cx.now, request, lifetime_s);
        } else {
            *self.stats.refused.entry(code).or_default() += 1;
            self.events.push_back(HomeAgentEvent::Refused { home_address: request.home_address, code });
        }
        let mut reply = Message::Reply(Reply {
            code,
            lifetime_s: if code.accepted() { lifetime_s } else { 0 },
            home_address: request.home_address,
            home_agent: self.config.address,
            identification,
            extensions: Extensions::default(),
        });
        if let Some(association) = association {
            association.authenticate(&mut reply);
        }
        // Section 3.8.3.1: from where the request was sent to, to where it came from. A mobile node that asks
        // from its home address is on the link that the request came over.
        let at_home = arrival.source == request.home_address;
        self.outbox.push_back(Transmit {
            interface: at_home.then_some(arrival.interface),
            source: self.config.address,
            destination: arrival.source,
            pdu: Pdu::Registration {
                source_port: super::PORT,
                destination_port: arrival.source_port,
                message: reply,
            },
        });
    }

    /// The same with the octets of a UDP payload.
    pub fn handle_octets(&mut self, cx: &mut Context<'_>, arrival: Arrival, octets: &[u8]) {
        match Message::decode(octets) {
            Ok(message) => self.handle_registration(cx, arrival, &message),
            Err(error) => self.stats.rejections.add(error.into()),
        }
    }

    /// Section 3.8.2.1, in its order: authentication, identification, and what is asked for.
    fn judge(&mut self, cx: &mut Context<'_>, request: &Request, authentic: bool) -> (Code, u64) {
        let Some(responder) = self.responders.get_mut(&request.home_address).filter(|_| authentic) else {
            return (Code::HA_FAILED_AUTHENTICATION, request.identification);
        };
        let (fresh, identification) = responder.judge(cx.now, cx.random, request.identification);
        let flags = request.flags;
        let bind = request.lifetime_s > 0;
        let code = if !fresh {
            Code::HA_IDENTIFICATION_MISMATCH
        } else if flags.intersects(RequestFlags::RESERVED)
            || bind && request.care_of_address == request.home_address
        {
            Code::HA_POORLY_FORMED_REQUEST
        } else if request.home_agent != self.config.address {
            Code::HA_UNKNOWN_HOME_AGENT
        } else if bind
            && (flags.intersects(RequestFlags::MINIMAL_ENCAPSULATION) || flags.intersects(RequestFlags::GRE))
        {
            Code::HA_ENCAPSULATION_UNAVAILABLE
        } else if bind && flags.intersects(RequestFlags::REVERSE_TUNNEL) && !self.config.reverse_tunnel {
            Code::HA_REVERSE_TUNNEL_UNAVAILABLE
        } else if bind && flags.intersects(RequestFlags::SIMULTANEOUS_BINDINGS) {
            Code::ACCEPTED_NO_SIMULTANEOUS_BINDINGS
        } else {
            Code::ACCEPTED
        };
        (code, identification)
    }

    /// Section 3.8.2.2.
    fn bind(&mut self, now: Time, request: &Request, lifetime_s: u16) {
        let home_address = request.home_address;
        if request.lifetime_s == 0 {
            self.stats.deregistrations += 1;
            // A deregistration of a care-of address that is bound no longer changes nothing.
            let ends = |binding: &Binding| {
                request.care_of_address == home_address || request.care_of_address == binding.care_of_address
            };
            if self.bindings.get(&home_address).is_some_and(ends) {
                let removed = self.bindings.remove(&home_address);
                self.ends.change(home_address, removed.and_then(|binding| binding.expires), None);
                self.events.push_back(HomeAgentEvent::Unbound { home_address, expired: false });
            }
            return;
        }
        self.stats.accepted += 1;
        let care_of_address = request.care_of_address;
        let binding = Binding {
            care_of_address,
            expires: end_of(now, lifetime_s),
            reverse_tunnel: request.flags.intersects(RequestFlags::REVERSE_TUNNEL),
        };
        let before = self.bindings.insert(home_address, binding);
        self.ends.change(home_address, before.and_then(|before| before.expires), binding.expires);
        self.events.push_back(HomeAgentEvent::Bound { home_address, care_of_address });
    }

    fn run_due(&mut self, now: Time) {
        while let Some(home_address) = self.ends.take_due(now) {
            self.bindings.remove(&home_address);
            self.stats.expired += 1;
            self.events.push_back(HomeAgentEvent::Unbound { home_address, expired: true });
        }
    }

    /// The next packet.
    pub fn poll_transmit(&mut self) -> Option<Transmit> {
        self.outbox.pop_front()
    }

    /// The next event.
    pub fn poll_event(&mut self) -> Option<HomeAgentEvent> {
        self.events.pop_front()
    }
}

impl Machine for HomeAgent {
    fn poll_timeout(&self) -> Option<Time> {
        self.ends.next()
    }

    fn handle_timeout(&mut self, cx: &mut Context<'_>) {
        self.run_due(cx.now);
    }
}
