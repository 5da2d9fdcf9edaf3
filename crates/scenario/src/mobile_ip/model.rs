//! Mobile IPv4: who keeps its home address, and by which agents.

use std::collections::BTreeMap;

use roamsim_engine::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units;

/// A `[[mobile_ip]]`: nodes that keep their home address while they move between cells, by Mobile IPv4 (RFC
/// 5944).
///
/// Agents are base stations of cells. A mobile node's home address is its address in its home agent's cell.
/// Packets for it go there. While it is away, a tunnel takes them on to the foreign agent whose cell it is
/// in.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MobileIp {
    /// The entry's name, by which overrides refer to it.
    pub name: String,
    /// The nodes that move: stations of the home agent's cell, and of those of the foreign agents.
    pub mobile_nodes: Vec<String>,
    /// The node that is their home agent: the base station of their home cell.
    pub home_agent: String,
    /// The nodes that are foreign agents: base stations of the other cells.
    pub foreign_agents: Vec<String>,
    /// How all these agents advertise.
    #[serde(default)]
    pub advertisement: AgentAdvertisement,
    /// How the mobile nodes register.
    #[serde(default)]
    pub registration: Registration,
    /// How a mobile node finds out that it has moved. Default: the first algorithm of RFC 5944 (section
    /// 2.4.2.1).
    #[serde(default)]
    pub move_detection: MoveDetection,
    /// Whether a mobile node that hears no agent asks for one. It asks three times at most once a second,
    /// then ever more seldom, up to once a minute (RFC 5944 section 2.4). Default: it does (section 2.4.2.1:
    /// it "SHOULD attempt to discover a new agent").
    #[serde(default = "default_solicitation")]
    pub solicitation: bool,
    /// Whether what a mobile node sends while it is away goes through the home agent as well (RFC 3024).
    /// Default: it leaves the foreign agent by the shortest way (RFC 5944 section 4.2.2).
    #[serde(default)]
    pub reverse_tunnel: bool,
}

/// The mobile nodes by name, each with its entry; of several, which are refused, the first.
pub(crate) fn mobile_nodes(entries: &[MobileIp]) -> BTreeMap<&str, &MobileIp> {
    let entries = entries.iter().rev();
    entries.flat_map(|entry| entry.mobile_nodes.iter().map(move |name| (name.as_str(), entry))).collect()
}

fn default_solicitation() -> bool {
    true
}

/// Agent advertisements (RFC 5944 section 2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AgentAdvertisement {
    /// The longest time between two advertisements (RFC 1256's MaxAdvertisementInterval). Default chosen: 1
    /// s, as ns-2's base stations; RFC 1256's 600 s are for hosts that stay.
    #[serde(default = "default_period", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub period: Span,
    /// How much shorter it may be: each time is drawn uniformly from `period - jitter` to `period`. Left out:
    /// a quarter of the period (RFC 1256 section 4.1).
    #[serde(default, with = "units::duration")]
    #[schemars(with = "Option<units::Duration>")]
    pub jitter: Option<Span>,
    /// How long an advertisement holds: whole seconds. Left out: three periods (RFC 5944 section 2.1),
    /// rounded up.
    #[serde(default, with = "units::duration")]
    #[schemars(with = "Option<units::Duration>")]
    pub lifetime: Option<Span>,
    /// The longest registration that an agent takes: whole seconds; `"65535s"` has no end. Default: 1800 s,
    /// the lifetime of RFC 1256 (section 4.1: 3 x 600 s) that RFC 5944 has for registrations (section
    /// 3.6.1.2).
    #[serde(default = "default_registration_lifetime", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub registration_lifetime: Span,
    /// The length of the prefix that an agent says its cell has, for move detection by prefix. Default: 32,
    /// every cell a network of its own, because addresses are not given out by prefix here. With a shorter
    /// one, agents whose addresses begin alike are taken for one network.
    #[serde(default = "default_prefix_length")]
    pub prefix_length: u8,
    /// How many visitors a foreign agent takes; it refuses the others. Left out: without limit.
    #[serde(default)]
    pub max_visitors: Option<u32>,
}

fn default_period() -> Span {
    Span::from_secs(1)
}

fn default_registration_lifetime() -> Span {
    Span::from_secs(1800)
}

fn default_prefix_length() -> u8 {
    32
}

impl Default for AgentAdvertisement {
    fn default() -> AgentAdvertisement {
        AgentAdvertisement {
            period: default_period(),
            jitter: None,
            lifetime: None,
            registration_lifetime: default_registration_lifetime(),
            prefix_length: default_prefix_length(),
            max_visitors: None,
        }
    }
}

impl AgentAdvertisement {
    /// The jitter that holds.
    pub fn jitter(&self) -> Span {
        self.jitter.unwrap_or(Span::from_ns(self.period.as_ns() / 4))
    }

    /// The lifetime that holds.
    pub fn lifetime(&self) -> Span {
        let three_s = (self.period * 3).as_ns().div_ceil(roamsim_engine::time::NS_PER_S);
        self.lifetime.unwrap_or(Span::from_secs(three_s))
    }
}

/// Registration (RFC 5944 section 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Registration {
    /// The lifetime that a mobile node asks for: whole seconds; `"65535s"` has no end. It gets no more than
    /// the agents take, and renews when half of it is over. Default: 1800 s, as for the agents.
    #[serde(default = "default_registration_lifetime", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub lifetime: Span,
    /// When a request that was not answered is sent again for the first time. Default: 1 s, the least that
    /// RFC 5944 allows (section 3.6.3); ns-2 has 0.5 s.
    #[serde(default = "default_retransmission", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub retransmission: Span,
    /// The end of this time's doubling. Default chosen: 64 s, six times doubled, about TCP's 60 s (RFC 6298).
    #[serde(default = "default_max_retransmission", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub max_retransmission: Span,
    /// How requests are protected against replay. Default: timestamps, which RFC 5944 demands of all (section
    /// 5.7).
    #[serde(default)]
    pub replay_protection: ReplayProtection,
    /// How far a timestamp may be from the home agent's time. Default: 7 s (RFC 5944 section 5.7.1).
    #[serde(default = "default_replay_window", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub replay_window: Span,
    /// How far a mobile node's clock is ahead of its home agent's at the start. By more than `replay_window`,
    /// the first request is refused, and the clock set. Default chosen: the clocks agree.
    #[serde(default, with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub clock_ahead: Span,
}

fn default_retransmission() -> Span {
    Span::from_secs(1)
}

fn default_max_retransmission() -> Span {
    Span::from_secs(64)
}

fn default_replay_window() -> Span {
    Span::from_secs(7)
}

impl Default for Registration {
    fn default() -> Registration {
        Registration {
            lifetime: default_registration_lifetime(),
            retransmission: default_retransmission(),
            max_retransmission: default_max_retransmission(),
            replay_protection: ReplayProtection::default(),
            replay_window: default_replay_window(),
            clock_ahead: Span::ZERO,
        }
    }
}

/// How a mobile node finds out that it has moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MoveDetection {
    /// When the last advertisement of its agent holds no longer (RFC 5944 section 2.4.2.1, lazy cell
    /// switching). Its home agent it returns to as soon as it hears it (section 2.4.3).
    #[default]
    Lifetime,
    /// When it newly hears an agent of another prefix (RFC 5944 section 2.4.2.2).
    Prefix,
    /// When it newly hears any other agent (eager cell switching: Perkins, Mobile IP, 1998; ns-2 does the
    /// same).
    Eager,
}

/// How requests are protected against replay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReplayProtection {
    /// By the time of day (RFC 5944 section 5.7.1).
    #[default]
    Timestamps,
    /// By numbers that the home agent gives out (RFC 5944 section 5.7.2).
    Nonces,
}
