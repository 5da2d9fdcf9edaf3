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
    /// Whether a `[[selection]]` chooses among its interfaces.
    pub selects: bool,
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

/// A `[[node]]`: a host or a router; both are the same until something runs on it.
#[derive(Deserialize, JsonSchema)]
#[serde(rename = "Node", deny_unknown_fields)]
struct NodeTable {
    /// The node's name. Links, cells, flows and signalling refer to it.
    name: Name,
    /// Its place, or where its motion begins. Base stations and stations of a `[[cell]]` need one, or a
    /// motion from a file.
    #[serde(default)]
    position: Option<Place>,
    /// How it moves. Left out: not at all.
    #[serde(default)]
    motion: Option<Box<Motion>>,
    /// Processing time of each packet that the node sends or forwards, before the link's queue. Packets keep
    /// their order. Default: none.
    #[serde(default)]
    #[schemars(extend("default" = "0s"))]
    packet_processing_time: TimeDistribution,
    /// A station changes its cell when another base station is nearer by more than this. For `multihomed`
    /// stations: the margin of the rule `nearer`. Default chosen: 0, because distances have no noise here.
    #[serde(rename = "hysteresis", default, with = "units::length")]
    #[schemars(with = "units::Length")]
    hysteresis_m: f64,
    /// Whether packets to and from an address use the link or cell of this address. The node forwards
    /// nothing. Default chosen: false: an address names the node, and routes take the shortest way to it.
    #[serde(default)]
    multihomed: bool,
    /// How a station's addresses follow it from cell to cell. A scheme that contradicts the scenario is
    /// refused. Left out: `mobile_ip` in a `[[mobile_ip]]`, else `bridged`. A `multihomed` node has
    /// `mobile_sctp` with `dynamic_addresses`, `migration` with a flow over QUIC from it, `mih` in a
    /// `[[handover]]`, else `multihomed`.
    #[serde(default)]
    handover: Option<Scheme>,
    /// How a station of Wi-Fi cells with `beacons` finds and leaves access points.
    #[serde(default)]
    wifi: Option<Box<WifiStation>>,
    /// When a `multihomed` station prefers the address of another cell, for SCTP with `dynamic_addresses` and
    /// for QUIC. Default chosen: `nearer`, the moment at which stations with one address change their cell.
    #[serde(default)]
    change_primary_at: PrimaryChange,
    /// Whether its programs run outside the simulation (`roamsim live`). They talk to other external nodes,
    /// and to simulated nodes by flows of TCP, SCTP and UDP. Default chosen: false.
    #[serde(default)]
    external: bool,
    /// Its IP address on every link and cell, of the version in `ip`. Left out: an address for each link and
    /// cell from 10.0.0.0/8 or 2001:db8::/32, in the scenario's order.
    #[serde(default)]
    address: Option<HostAddress>,
    /// Its addresses on single links and cells, in place of `address`. Others are automatic.
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
            selects: false,
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

/// When a station with an address in each cell prefers another one (Koh, Chang and Lee, "mSCTP for soft
/// handover in transport layer", IEEE Communications Letters 8(3), 2004). If its cell is lost, the nearest
/// cell's address takes over, or that of another link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PrimaryChange {
    /// As soon as another cell is newly heard: that one.
    Up,
    /// When another base station is nearer than its own by more than `hysteresis`.
    #[default]
    Nearer,
    /// When its own link is going down and that of another cell is not. A link goes down by its first missed
    /// beacon, or by `going_down_ahead`. If no other cell is heard, the change waits for one.
    GoingDown,
    /// When its own cell is lost.
    Down,
}
