//! The agents that a mobile node hears, and what it concludes about its own place (RFC 5944 section 2.4.2).

use std::net::Ipv4Addr;

use roamsim_engine::{Span, Time};

use super::super::wire::{AgentAdvertisement, AgentFlags};
use super::super::{Arrival, Interface};

/// How a mobile node finds out that it has moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MoveDetection {
    /// Algorithm 1 (section 2.4.2.1), lazy cell switching: it stays with its agent until the lifetime of the
    /// agent's last advertisement is over. Its home agent is different: whenever it hears it, it returns
    /// (section 2.4.3).
    Lifetime,
    /// Algorithm 2 (section 2.4.2.2): it changes to an agent that it newly hears, when the agent's prefix is
    /// another than its present one's. An agent is newly heard when none of its advertisements still holds:
    /// otherwise a node between two cells would change with every advertisement.
    Prefix,
    /// Eager cell switching: it changes to every agent that it newly hears.
    Eager,
}

/// An agent whose last advertisement still holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownAgent {
    /// Its address.
    pub address: Ipv4Addr,
    /// The link that it was heard on.
    pub interface: Interface,
    /// Its care-of address, if it is a foreign agent.
    pub care_of_address: Option<Ipv4Addr>,
    /// The longest registration that it takes, in seconds.
    pub registration_lifetime_s: u16,
    /// When its last advertisement came.
    pub heard: Time,
    /// Until when that holds.
    pub expires: Time,
    /// It is the home agent.
    pub is_home: bool,
    busy: bool,
    sequence: u16,
    network: Option<(u32, u8)>,
}

impl KnownAgent {
    fn new(
        now: Time,
        arrival: Arrival,
        advertisement: &AgentAdvertisement,
        home_agent: Ipv4Addr,
    ) -> KnownAgent {
        let flags = advertisement.flags;
        let router = advertisement.router_addresses.first().map(|router| router.address);
        let foreign = flags.contains(AgentFlags::FOREIGN_AGENT);
        KnownAgent {
            address: arrival.source,
            interface: arrival.interface,
            care_of_address: advertisement.care_of_addresses.first().copied().filter(|_| foreign),
            registration_lifetime_s: advertisement.registration_lifetime_s,
            heard: now,
            expires: now + Span::from_secs(u64::from(advertisement.lifetime_s)),
            is_home: flags.contains(AgentFlags::HOME_AGENT) && arrival.source == home_agent,
            busy: flags.contains(AgentFlags::BUSY),
            sequence: advertisement.sequence,
            network: router.zip(advertisement.prefix_lengths.first()).map(|(router, &bits)| {
                let mask = u32::MAX.checked_shl(32 - u32::from(bits.min(32))).unwrap_or(0);
                (router.to_bits() & mask, bits)
            }),
        }
    }

    /// Whether a mobile node can be there: at home, or as a visitor.
    fn usable(&self) -> bool {
        self.is_home || self.care_of_address.is_some() && !self.busy
    }
}

/// What an advertisement means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Conclusion {
    /// Nothing new.
    Stay,
    /// The present agent has started again, and knows nothing of its visitors (section 2.4.4 with 2.3.2).
    AgentRestarted,
    /// The mobile node is with this agent now.
    MoveTo(Ipv4Addr),
}

/// The list.
#[derive(Clone, Debug)]
pub(super) struct Agents {
    home_agent: Ipv4Addr,
    detection: MoveDetection,
    known: Vec<KnownAgent>,
    /// The one that the mobile node is with.
    pub(super) current: Option<Ipv4Addr>,
}

impl Agents {
    pub(super) fn new(home_agent: Ipv4Addr, detection: MoveDetection) -> Agents {
        Agents { home_agent, detection, known: Vec::new(), current: None }
    }

    pub(super) fn get(&self, address: Ipv4Addr) -> Option<&KnownAgent> {
        self.known.iter().find(|agent| agent.address == address)
    }

    pub(super) fn current(&self) -> Option<&KnownAgent> {
        self.get(self.current?)
    }

    pub(super) fn first_expiry(&self) -> Option<Time> {
        self.known.iter().map(|agent| agent.expires).min()
    }

    /// Notes an advertisement, and says what it means.
    pub(super) fn on_advertisement(
        &mut self,
        now: Time,
        arrival: Arrival,
        advertisement: &AgentAdvertisement,
    ) -> Conclusion {
        let agent = KnownAgent::new(now, arrival, advertisement, self.home_agent);
        let known = self.known.iter_mut().find(|known| known.address == agent.address);
        let newly_heard = known.is_none();
        // A lower number is a restart, unless it is the rollover, which goes to 256 or above.
        let restarted =
            known.as_ref().is_some_and(|known| agent.sequence < known.sequence && agent.sequence < 256);
        let conclusion = self.conclude(&agent, newly_heard, restarted);
        match self.known.iter_mut().find(|known| known.address == agent.address) {
            Some(known) => *known = agent,
            None => self.known.push(agent),
        }
        conclusion
    }

    fn conclude(&self, agent: &KnownAgent, newly_heard: bool, restarted: bool) -> Conclusion {
        let Some(current) = self.current() else {
            return if agent.usable() { Conclusion::MoveTo(agent.address) } else { Conclusion::Stay };
        };
        if current.address == agent.address {
            return if restarted { Conclusion::AgentRestarted } else { Conclusion::Stay };
        }
        let moved = match self.detection {
            MoveDetection::Lifetime => agent.is_home,
            // Without both prefixes nothing can be said (section 2.4.2.2).
            MoveDetection::Prefix => {
                let networks = agent.network.zip(current.network);
                newly_heard && networks.is_some_and(|(new, present)| new != present)
            }
            MoveDetection::Eager => newly_heard,
        };
        if moved && agent.usable() { Conclusion::MoveTo(agent.address) } else { Conclusion::Stay }
    }

    /// Forgets the agents whose advertisements hold no more; returns the present one if it is among them.
    pub(super) fn expire(&mut self, now: Time) -> Option<KnownAgent> {
        let lost = self.current().filter(|agent| agent.expires <= now).cloned();
        self.known.retain(|agent| agent.expires > now);
        if lost.is_some() {
            self.current = None;
        }
        lost
    }

    /// Another agent to be with: the home agent, otherwise the one heard last.
    pub(super) fn best(&self) -> Option<Ipv4Addr> {
        let usable = self.known.iter().filter(|agent| agent.usable());
        usable.max_by_key(|agent| (agent.is_home, agent.heard)).map(|agent| agent.address)
    }
}
