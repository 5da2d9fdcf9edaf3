//! The mobile node with a co-located care-of address (RFC 5944 sections 1.7, 3.3 and 3.6): each access gives
//! it an address of its own, which is the end of the tunnel, and it registers with its home agent itself.
//!
//! It needs no agent advertisements: who selects its access says by which address it is to be reached. On its
//! home link it deregisters. Requests leave from the care-of address with the D flag, deregistrations from
//! the home address. Retransmission and renewal are those of [`MobileNode`](super::MobileNode).

use std::collections::VecDeque;
use std::net::Ipv4Addr;

use roamsim_engine::Time;

use super::identification::{ReplayProtection, Requester};
use super::mobile_node::registrar::{Outcome, Purpose, Registrar};
use super::mobile_node::{MobileNodeStats, Retransmission};
use super::security::SecurityAssociation;
use super::stats::Rejection;
use super::wire::{Message, RequestFlags};
use super::{PORT, Pdu, Transmit};
use crate::{Context, Machine};

/// What it is told.
#[derive(Clone, Debug, PartialEq)]
pub struct CoLocatedConfig {
    /// Its home address.
    pub home_address: Ipv4Addr,
    /// Its home agent.
    pub home_agent: Ipv4Addr,
    /// What it shares with its home agent.
    pub security: SecurityAssociation,
    /// Replay protection.
    pub replay_protection: ReplayProtection,
    /// The lifetime that it asks for, in seconds.
    pub lifetime_s: u16,
    /// When a request is sent again.
    pub retransmission: Retransmission,
}

/// The machine.
#[derive(Clone, Debug)]
pub struct CoLocated {
    config: CoLocatedConfig,
    registrar: Registrar,
    /// The address by which it is to be reached.
    address: Option<Ipv4Addr>,
    stats: MobileNodeStats,
    outbox: VecDeque<Transmit>,
}

impl CoLocated {
    /// One at home.
    pub fn new(config: CoLocatedConfig) -> CoLocated {
        let requester = Requester::new(config.replay_protection, 0);
        CoLocated {
            registrar: Registrar::new(
                config.home_address,
                config.home_agent,
                config.security,
                config.retransmission,
                RequestFlags::DECAPSULATION_BY_MOBILE_NODE,
                requester,
            ),
            config,
            address: None,
            stats: MobileNodeStats::default(),
            outbox: VecDeque::new(),
        }
    }

    /// Counters; it hears no advertisements and sends no solicitations.
    pub fn stats(&self) -> &MobileNodeStats {
        &self.stats
    }

    /// From now on it is to be reached by this address: its home address, or a care-of address. `None`: by
    /// none.
    pub fn attach(&mut self, cx: &mut Context<'_>, address: Option<Ipv4Addr>) {
        self.run_due(cx);
        self.registrar.cancel();
        self.address = address;
        self.stats.moves += u64::from(address.is_some());
        self.register(cx);
    }

    fn register(&mut self, cx: &mut Context<'_>) {
        let Some(address) = self.address else { return };
        let is_home = address == self.config.home_address;
        if is_home && !self.registrar.may_be_bound {
            return;
        }
        let lifetime_s = if is_home { 0 } else { self.config.lifetime_s };
        let message = self.registrar.begin(cx, Purpose { care_of_address: address, lifetime_s });
        self.stats.requests += 1;
        self.send(message);
    }

    fn send(&mut self, message: Message) {
        let Some(source) = self.address else { return };
        self.outbox.push_back(Transmit {
            interface: None,
            source,
            destination: self.config.home_agent,
            pdu: Pdu::Registration { source_port: PORT, destination_port: PORT, message },
        });
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
            Outcome::Accepted { .. } => self.stats.accepted += 1,
            Outcome::Refused { code, again } => {
                *self.stats.refused.entry(code).or_default() += 1;
                if again && let Some(message) = self.registrar.correct(cx) {
                    self.stats.requests += 1;
                    self.send(message);
                }
            }
        }
    }

    fn run_due(&mut self, cx: &mut Context<'_>) {
        self.stats.expired += u64::from(self.registrar.expire(cx.now));
        if let Some(message) = self.registrar.retransmit(cx) {
            self.stats.retransmissions += 1;
            self.send(message);
        }
        if self.registrar.renewal_is_due(cx.now) && !self.registrar.is_pending() {
            self.register(cx);
        }
    }

    /// The next packet.
    pub fn poll_transmit(&mut self) -> Option<Transmit> {
        self.outbox.pop_front()
    }
}

impl Machine for CoLocated {
    fn poll_timeout(&self) -> Option<Time> {
        self.registrar.poll_timeout()
    }

    fn handle_timeout(&mut self, cx: &mut Context<'_>) {
        self.run_due(cx);
    }
}
