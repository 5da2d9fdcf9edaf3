//! Mobile IPv4: who keeps its home address, and by which agents.

use std::collections::BTreeMap;

use roamsim_engine::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units;

/// A `[[mobile_ip]]`: nodes that keep their home address while they move between cells, by Mobile IPv4 (RFC
/// 5944). Agents are base stations of cells. A mobile node's home address is that in its home agent's cell.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MobileIp {
    /// The entry's name, by which overrides refer to it.
    pub name: String,
    /// The nodes that move: stations of the home agent's and the foreign agents' cells.
    pub mobile_nodes: Vec<String>,
    /// Their home agent: the base station of their home cell.
    pub home_agent: String,
    /// The nodes that are foreign agents: base stations of the other cells.
    pub foreign_agents: Vec<String>,
    /// How all these agents advertise.
    #[serde(default)]
    pub advertisement: AgentAdvertisement,
    /// How the mobile nodes register.
    #[serde(default)]
    pub registration: Registration,
    /// How a mobile node detects that it has moved. Default: the first algorithm of RFC 5944 (section
    /// 2.4.2.1).
    #[serde(default)]
    pub move_detection: MoveDetection,
    /// Whether a mobile node that hears no agent solicits one: three times at most once a second, then less
    /// often, down to once a minute (RFC 5944 section 2.4). Default: yes (section 2.4.2.1, a SHOULD).
    #[serde(default = "default_solicitation")]
    pub solicitation: bool,
    /// Whether packets of a visiting mobile node also go through the home agent (RFC 3024). Default: no, they
    /// take the shortest way (RFC 5944 section 4.2.2).
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
    /// MaxAdvertisementInterval of RFC 1256. Default chosen: 1 s, as ns-2; RFC 1256's 600 s are for hosts
    /// that stay.
    #[serde(default = "default_period", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub period: Span,
    /// Each interval is drawn uniformly from `period - jitter` to `period`. Left out: a quarter of the period
    /// (RFC 1256 section 4.1).
    #[serde(default, with = "units::duration")]
    #[schemars(with = "Option<units::Duration>")]
    pub jitter: Option<Span>,
    /// The lifetime of an advertisement, in whole seconds. Left out: three periods (RFC 5944 section 2.1),
    /// rounded up.
    #[serde(default, with = "units::duration")]
    #[schemars(with = "Option<units::Duration>")]
    pub lifetime: Option<Span>,
    /// The longest registration that an agent accepts, in whole seconds; `"65535s"` has no end. Default: RFC
    /// 1256's lifetime (section 4.1: 3 x 600 s), as RFC 5944 section 3.6.1.2 says.
    #[serde(default = "default_registration_lifetime", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub registration_lifetime: Span,
    /// The prefix length that an agent advertises, for move detection by prefix. Default: 32, every cell a
    /// network of its own. A shorter one merges agents whose addresses begin alike.
    #[serde(default = "default_prefix_length")]
    pub prefix_length: u8,
    /// Visitors that a foreign agent accepts. Left out: no limit.
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
    /// The lifetime that a mobile node requests, in whole seconds; `"65535s"` has no end. It renews after
    /// half of the granted one. Default: as for the agents.
    #[serde(default = "default_registration_lifetime", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub lifetime: Span,
    /// The first retransmission of an unanswered request. Default: the least that RFC 5944 allows (section
    /// 3.6.3); ns-2 has 0.5 s.
    #[serde(default = "default_retransmission", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub retransmission: Span,
    /// The limit of `retransmission`, which doubles. Default chosen: 64 s, about TCP's 60 s (RFC 6298).
    #[serde(default = "default_max_retransmission", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub max_retransmission: Span,
    /// Replay protection of requests. Default: timestamps, mandatory in RFC 5944 (section 5.7).
    #[serde(default)]
    pub replay_protection: ReplayProtection,
    /// The largest accepted error of a timestamp. Default: RFC 5944 section 5.7.1.
    #[serde(default = "default_replay_window", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub replay_window: Span,
    /// How far a mobile node's clock is ahead of its home agent's at the start. Beyond `replay_window` the
    /// home agent refuses the first request, and the node sets its clock. Default chosen: none.
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
    /// When its agent's last advertisement expires (RFC 5944 section 2.4.2.1, lazy cell switching). It
    /// returns to its home agent at once (section 2.4.3).
    #[default]
    Lifetime,
    /// When it newly hears an agent of another prefix (RFC 5944 section 2.4.2.2).
    Prefix,
    /// When it newly hears any other agent (eager cell switching: Perkins, Mobile IP, 1998; ns-2).
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
