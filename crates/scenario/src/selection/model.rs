//! Selections: which of its interfaces a node uses, and what moves its flows there.

use std::borrow::Cow;

use roamsim_engine::Span;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::json;

use super::mih::model::Mih;
use crate::digested;
use crate::units;

/// A `[[selection]]`: a node with several interfaces, the policy that selects one, and the scheme that moves
/// flows to it.
///
/// Each link and cell of the node is an interface with an address of its own, as with `multihomed`. Wi-Fi
/// cells share one radio, as 802.16 cells do.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "InterfaceSelection")]
pub struct Selection {
    /// The entry's name in results and overrides.
    pub name: String,
    /// The node. It has one selection, and no other handover scheme.
    pub node: String,
    /// The rule of its choice.
    pub policy: Policy,
    /// Links and cells that may be selected, preferred ones first, by name; or all of a technology: `link`,
    /// `wifi`, `cell`, `wimax` or `dect`. `preference` needs it. Default: all, in the scenario's order, links
    /// first.
    #[serde(default)]
    pub prefer: Vec<String>,
    /// How its flows move to the selected interface. A flow that the scheme cannot move stays as under
    /// `none`, and a warning says so. Default chosen: `none`, what hosts do without a mobility protocol.
    #[serde(default)]
    pub scheme: Scheme,
    /// The link or cell whose address is the home address of `mobile_ip`; the node at its other end is the
    /// home agent. Left out: the first interface that the node prefers.
    #[serde(default)]
    pub home: Option<String>,
    /// The messages of `scheme = "mih"`. Left out: the defaults of its keys.
    #[serde(default)]
    pub mih: Mih,
    /// How long another interface must stay preferred before it is selected. One that goes down is left at
    /// once. Default chosen: no time, so that ping-pong shows.
    #[serde(default, with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub dwell_time: Span,
    /// How long the selected interface may be down before the node falls back to a less preferred one, such
    /// as LTE between two access points. Default chosen: no time.
    #[serde(default, with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub hold_time: Span,
    /// Whether the node leaves an interface at its Link_Going_Down (IEEE 802.21) if another is good:
    /// predicted residence. Default chosen: no.
    #[serde(default)]
    pub leave_when_going_down: bool,
    /// The weakest good signal. An interface below it is selected only if no other is up. Left out: any
    /// signal is good.
    #[serde(rename = "threshold", default, deserialize_with = "units::some_power")]
    #[schemars(with = "Option<units::Power>")]
    pub threshold_dbm: Option<f64>,
    /// How much stronger another interface must be with `strongest`, in dB; and how far above `threshold` an
    /// interface must be before it is selected again. Default chosen: 5 dB, as for Wi-Fi stations.
    #[serde(default = "default_hysteresis_db")]
    pub hysteresis_db: f64,
    /// A switch back within less than this time counts as ping-pong. Default: the minimum time of stay that
    /// 3GPP TR 36.839 recommends.
    #[serde(default = "default_ping_pong_time", with = "units::duration")]
    #[schemars(with = "units::Duration")]
    pub ping_pong_time: Span,
    /// Prices of interfaces, which `cheapest` compares and results add up. Default: none has a price.
    #[serde(default)]
    pub prices: Vec<Price>,
    /// The power of interfaces' radios, for the table `energy`. Default: none is counted.
    #[serde(default)]
    pub power: Vec<Power>,
}

/// The power of an interface's radio. No value has a default, because radios differ.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "InterfacePower")]
pub struct Power {
    /// The link or cell.
    pub access: String,
    /// Watts while it is up and not selected.
    pub up_w: f64,
    /// Watts while it is up and selected.
    pub selected_w: f64,
    /// Additional joules per 10^6 bytes of IP packets sent over it, either way.
    pub j_per_mb: f64,
}

/// The price of an interface.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// The link or cell.
    pub access: String,
    /// Per 10^6 bytes of IP packets sent over it, either way, in any currency.
    pub cost_per_mb: f64,
}

/// The rule by which a node selects an interface among those that are up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Policy {
    /// The first in `prefer`.
    Preference,
    /// The strongest signal.
    Strongest,
    /// The lowest price.
    Cheapest,
    /// Any other name: of a class in Python, with the digest of its source, or a wrong one.
    Other(String),
}

impl Policy {
    /// The built-in ones, by name.
    pub(crate) const BUILT_IN: [(&'static str, Policy, &'static str); 3] = [
        (
            "preference",
            Policy::Preference,
            "The first in `prefer`. Of one technology, the selected one stays; else the stronger signal decides.",
        ),
        (
            "strongest",
            Policy::Strongest,
            "The strongest signal. Links without a signal are selected if nothing else is up.",
        ),
        (
            "cheapest",
            Policy::Cheapest,
            "The lowest price; of equals the selected one stays, else the first in `prefer`.",
        ),
    ];

    /// The class of Python that it is, with its digest.
    pub(crate) fn class(&self) -> Option<&str> {
        match self {
            Policy::Other(name) => digested::class(name).map(|_| name.as_str()),
            Policy::Preference | Policy::Strongest | Policy::Cheapest => None,
        }
    }

    /// Its name in tables: of a class, without the digest.
    pub(crate) fn name(&self) -> &str {
        let built_in = Policy::BUILT_IN.iter().find(|(_, policy, _)| policy == self);
        match (built_in, self) {
            (None, Policy::Other(name)) => digested::class(name).unwrap_or(name),
            (built_in, _) => built_in.map_or("", |(name, ..)| name),
        }
    }
}

impl<'de> Deserialize<'de> for Policy {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Policy, D::Error> {
        let written = String::deserialize(deserializer)?;
        let built_in = Policy::BUILT_IN.into_iter().find(|(name, ..)| *name == written);
        Ok(built_in.map_or(Policy::Other(written), |(_, policy, _)| policy))
    }
}

impl JsonSchema for Policy {
    fn schema_name() -> Cow<'static, str> {
        "SelectionPolicy".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let built_in = Policy::BUILT_IN
            .map(|(name, _, about)| json!({ "type": "string", "const": name, "description": about }));
        let class = json!({
            "type": "string",
            "pattern": "^.+(\\.py:|@).+$",
            "description": "A class in Python, by FILE.py:CLASS. Only `--set`, `--vary` and the API may name one.",
        });
        let all: Vec<_> = built_in.into_iter().chain([class]).collect();
        json_schema!({
            "description": "The rule by which a node selects an interface among those that are up.",
            "oneOf": all,
        })
    }
}

/// How flows move to the selected interface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "SelectionScheme")]
pub enum Scheme {
    /// Nothing: a connection keeps the address at which it began, and stalls while that interface is down.
    #[default]
    None,
    /// Both ends of UDP and TCP flows use the new address at once, without signalling.
    Redirect,
    /// SCTP associations follow by ASCONF (RFC 5061); `dynamic_addresses` is implied.
    MobileSctp,
    /// QUIC clients migrate (RFC 9000 section 9).
    Migration,
    /// All flows keep the home address: Mobile IPv4 with a co-located care-of address (RFC 5944 section 1.7).
    MobileIp,
    /// IEEE 802.21's handover commands: the node asks a point of service for resources and a commitment, then
    /// redirects its UDP and TCP flows by messages to their other ends.
    Mih,
}

fn default_hysteresis_db() -> f64 {
    5.0
}

fn default_ping_pong_time() -> Span {
    Span::from_secs(1)
}
