//! Nodes.

use std::borrow::Cow;
use std::ops::Deref;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

use crate::decode::{Sharing, share};
use crate::distribution::model::TimeDistribution;
use crate::names::name::Name;
use crate::node::address::{HostAddress, InterfaceAddress};
use crate::node::handover::Scheme;
use crate::node::motion::model::{Motion, Place};
use crate::node::wifi::WifiStation;
use crate::units;

/// A node: what a `[[node]]` says.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(from = "NodeTable")]
pub struct Node {
    /// Its name, by which links, cells, flows and signalling refer to it.
    pub name: Name,
    /// What it is like. Nodes that are alike, one behind the other, have it together.
    pub kind: Arc<Kind>,
}

/// What a node is like, whatever its name.
#[derive(Clone, Debug, PartialEq)]
pub struct Kind {
    /// Where it is, or where its motion begins.
    pub position: Option<Place>,
    /// How it moves, if it does.
    pub motion: Option<Box<Motion>>,
    /// Time that it takes over each packet.
    pub packet_processing_time: TimeDistribution,
    /// By how much another base station has to be nearer, in metres.
    pub hysteresis_m: f64,
    /// Whether each of its addresses stays with its own link or cell.
    pub multihomed: bool,
    /// How the addresses of a station follow it, where that is written.
    pub handover: Option<Scheme>,
    /// How a station of Wi-Fi cells with beacons finds its access point.
    pub wifi: Option<Box<WifiStation>>,
    /// When a multihomed station prefers the address of another cell.
    pub change_primary_at: PrimaryChange,
    /// Whether its programs run outside of the simulation.
    pub external: bool,
    /// Its address on every link, where that is chosen.
    pub address: Option<HostAddress>,
    /// Its chosen addresses by link.
    pub addresses: Box<[InterfaceAddress]>,
}

/// A `[[node]]`: a host or a router, which is the same thing until something runs on it.
#[derive(Deserialize, JsonSchema)]
#[serde(rename = "Node", deny_unknown_fields)]
struct NodeTable {
    /// The node's name, by which links, cells, flows and signalling refer to it.
    name: Name,
    /// Where it is, or where its motion begins. Base stations and stations of a `[[cell]]` need it, unless
    /// their motion comes from a file.
    #[serde(default)]
    position: Option<Place>,
    /// How it moves. Left out: not at all.
    #[serde(default)]
    motion: Option<Box<Motion>>,
    /// Time that the node takes over each packet that it makes or forwards, before the packet joins the queue
    /// of a link. It is drawn for each packet. Packets leave in the order in which they came. Default: none.
    #[serde(default)]
    #[schemars(extend("default" = "0s"))]
    packet_processing_time: TimeDistribution,
    /// A station changes its cell when another base station is nearer by more than this; a `multihomed` one
    /// its primary address, by the rule `nearer`. Default chosen: nothing, because a station here knows
    /// distances without noise, and does not change back and forth.
    #[serde(rename = "hysteresis", default, with = "units::length")]
    #[schemars(with = "units::Length")]
    hysteresis_m: f64,
    /// Whether each of its addresses stays with its own link or cell: packets to an address arrive over that
    /// link, and what is sent from the address leaves by it. Such a node forwards nothing. Default chosen:
    /// false. Addresses then name the node, and routes take the shortest way to it; those of a station follow
    /// it from cell to cell.
    #[serde(default)]
    multihomed: bool,
    /// How the addresses of a station follow it from cell to cell. A scheme that contradicts the scenario, or
    /// that its cells cannot serve, is refused. Left out, the rest of the scenario decides. A mobile node of
    /// a `[[mobile_ip]]` has `mobile_ip`. A `multihomed` node has `mobile_sctp` with an SCTP association with
    /// `dynamic_addresses`, `mih` in a `[[handover]]`, else `multihomed`. All others have `bridged`.
    #[serde(default)]
    handover: Option<Scheme>,
    /// How a station of Wi-Fi cells with `beacons` finds its access point, and when it gives it up.
    #[serde(default)]
    wifi: Option<Box<WifiStation>>,
    /// When a `multihomed` station prefers the address of another cell, for its SCTP associations with
    /// `dynamic_addresses`. Default chosen: `nearer`, because by it stations with one address change their
    /// cell, and schemes are then compared at the same moment.
    #[serde(default)]
    change_primary_at: PrimaryChange,
    /// Whether its programs run outside of the simulation, as `roamsim live` has it. Packets go in and out
    /// there as octets. Programs talk to those of other external nodes, and to simulated nodes by flows of
    /// TCP that carry a stream. Default chosen: false.
    #[serde(default)]
    external: bool,
    /// Its IP address, of the version that the scenario has in `ip`; on every link and cell, if there are
    /// several. Captures show it, and programs outside use it. Left out: an address for each link and cell,
    /// from 10.0.0.0/8 or 2001:db8::/32, by the order of the scenario.
    #[serde(default)]
    address: Option<HostAddress>,
    /// Its address on single links and cells, in place of `address`. On others it has automatic ones.
    #[serde(default)]
    addresses: Vec<InterfaceAddress>,
}

impl From<NodeTable> for Node {
    fn from(table: NodeTable) -> Node {
        let NodeTable {
            name,
            position,
            motion,
            packet_processing_time,
            hysteresis_m,
            multihomed,
            handover,
            wifi,
            change_primary_at,
            external,
            address,
            addresses,
        } = table;
        let kind = Kind {
            position,
            motion,
            packet_processing_time,
            hysteresis_m,
            multihomed,
            handover,
            wifi,
            change_primary_at,
            external,
            address,
            addresses: addresses.into(),
        };
        Node { name, kind: Arc::new(kind) }
    }
}

impl Deref for Node {
    type Target = Kind;

    fn deref(&self) -> &Kind {
        &self.kind
    }
}

impl JsonSchema for Node {
    fn schema_name() -> Cow<'static, str> {
        NodeTable::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        NodeTable::json_schema(generator)
    }
}

impl Sharing for Node {
    fn share(&mut self, before: &Node) {
        share(&mut self.kind, &before.kind);
    }
}

/// When a station with an address in each cell prefers that of another one. A preferred address whose cell is
/// lost gives way to that of the nearest cell in any case, or where none is heard, of another link. The
/// choices go from the most aggressive change of the primary address to the most conservative one. They are
/// those of Koh, Chang and Lee, "mSCTP for soft handover in transport layer", IEEE Communications Letters
/// 8(3), 2004. Events are named as in IEEE Std 802.21-2008.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PrimaryChange {
    /// As soon as another cell is newly heard: that one.
    Up,
    /// When another base station is nearer than its own by more than `hysteresis`, as by the strength of the
    /// signal.
    #[default]
    Nearer,
    /// When the link of its own cell is going down and that of another cell is not. A link is going down when
    /// its first beacon is missed, or by `going_down_ahead`. Without another cell, the change comes when one
    /// is heard before a beacon of its own cell is.
    GoingDown,
    /// When its own cell is lost.
    Down,
}
