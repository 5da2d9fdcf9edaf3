//! Mobile IPv4 (RFC 5944): a node keeps its home address while it moves between the cells of a home agent and
//! of foreign agents.
//!
//! Modelled: agent discovery (section 2) with advertisements, solicitations and move detection by lifetime
//! (algorithm 1), by prefix (algorithm 2) and eagerly (C. Perkins, "Mobile IP: Design Principles and
//! Practices", 1998); registration through a foreign agent and deregistration at home (section 3) with the
//! Mobile-Home Authentication extension, replay protection by timestamps or nonces (section 5.7),
//! retransmission and renewal; the IP-in-IP tunnel (RFC 2003) and the reverse tunnel (RFC 3024, direct
//! delivery style); registration with the home agent itself, from a co-located care-of address.
//!
//! Not modelled: simultaneous bindings (S: accepted with code 1), minimal
//! and GRE encapsulation (refused), broadcast datagrams for the mobile node (B: ignored), the Mobile-Foreign
//! and Foreign-Home authentications (carried, not checked), dynamic home agent discovery, regional
//! registration, revocation. ARP is not modelled: that the home agent intercepts packets for a home address
//! stands for the proxy ARP and gratuitous ARP of section 4.6.
//!
//! Machines: [`Advertiser`] on each cell of an agent, [`HomeAgent`], [`ForeignAgent`], [`MobileNode`],
//! [`CoLocated`]. What arrives goes in by `handle_*`, with an [`Arrival`]; what leaves is taken as
//! [`Transmit`].

pub mod advertiser;
pub mod co_located;
mod ends;
pub mod foreign_agent;
pub mod home_agent;
pub mod identification;
pub mod mobile_node;
pub mod security;
pub mod stats;
pub mod wire;

pub use advertiser::{Advertiser, AdvertiserConfig};
pub use co_located::{CoLocated, CoLocatedConfig};
pub use foreign_agent::{ForeignAgent, ForeignAgentConfig, ForeignAgentEvent, Visitor};
pub use home_agent::{Binding, HomeAgent, HomeAgentConfig, HomeAgentEvent};
pub use identification::ReplayProtection;
pub use mobile_node::{MobileNode, MobileNodeConfig, MobileNodeEvent, MoveDetection, SolicitationConfig};
pub use security::SecurityAssociation;
pub use stats::Rejection;
pub use wire::{AgentAdvertisement, AgentSolicitation, Code, DecodeError, Message, Reply, Request};

use std::net::Ipv4Addr;

/// The UDP port of registration (section 3.3).
pub const PORT: u16 = 434;

/// A lifetime without end (section 3.3).
pub const INFINITE_LIFETIME: u16 = 0xffff;

/// One of the links of a node, opaque to the machines: they compare it and hand it back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Interface(pub u32);

/// What the network layer knows of a packet that has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// The link that it came over.
    pub interface: Interface,
    /// Its source.
    pub source: Ipv4Addr,
    /// Its UDP source port; 0 for ICMP.
    pub source_port: u16,
    /// Its destination.
    pub destination: Ipv4Addr,
}

/// What is to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pdu {
    /// ICMP type 9.
    Advertisement(AgentAdvertisement),
    /// ICMP type 10.
    Solicitation,
    /// UDP: a registration message.
    Registration {
        /// Source port.
        source_port: u16,
        /// Destination port.
        destination_port: u16,
        /// The message.
        message: Message,
    },
}

/// A packet that a machine sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transmit {
    /// The link that it goes out on, with a time to live of 1; `None` when routing decides.
    pub interface: Option<Interface>,
    /// Its source.
    pub source: Ipv4Addr,
    /// Its destination.
    pub destination: Ipv4Addr,
    /// What it carries.
    pub pdu: Pdu,
}

/// When something that was granted for `lifetime_s` from `start` ends; `None` for never.
fn end_of(start: roamsim_engine::Time, lifetime_s: u16) -> Option<roamsim_engine::Time> {
    (lifetime_s != INFINITE_LIFETIME).then(|| start + roamsim_engine::Span::from_secs(u64::from(lifetime_s)))
}
