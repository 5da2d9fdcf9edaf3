//! Handover schemes and their names.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a station's addresses follow it from cell to cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Handover")]
pub enum Scheme {
    /// All base stations are one bridged network: routes change at the instant of the association.
    Bridged,
    /// Mobile IPv4: the home address follows by registration and tunnel.
    MobileIp,
    /// An address in each cell; SCTP with `dynamic_addresses` adds, prefers and deletes them.
    MobileSctp,
    /// An address in each cell; QUIC clients migrate to the preferred one.
    Migration,
    /// An address in each cell, which stays there.
    Multihomed,
    /// An address in each cell; MIH users redirect flows, as a `[[handover]]` says.
    Mih,
}

impl Scheme {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Scheme::Bridged => "bridged",
            Scheme::MobileIp => "mobile_ip",
            Scheme::MobileSctp => "mobile_sctp",
            Scheme::Migration => "migration",
            Scheme::Multihomed => "multihomed",
            Scheme::Mih => "mih",
        }
    }
}
