//! Access technologies: a folder each, behind one boundary.
//!
//! A technology's folder has its keys (`model`), its checks, what its machines are built from and, where it
//! has any, its result tables; its `mod.rs` implements [`Access`]. Names, topology, reachability, MTU,
//! building and results know accesses by that trait alone. The one list of technologies is in
//! `model/scenario.rs`: the keys of a scenario, and `Scenario::accesses` below them.
//!
//! Building takes a table of keys apart by naming every one of them, and writes every field of a machine's
//! settings: a key that is forgotten on the way does not compile.
//!
//! What several technologies share: [`mtu`], [`queue`], [`path_loss`], [`stations`] for those with a base
//! station and stations that come and go, [`places`] for how links join the topology.

pub mod cell;
pub mod dect;
pub(crate) mod mtu;
pub mod path_loss;
pub(crate) mod places;
pub mod queue;
pub mod stations;
pub mod wifi;
pub mod wimax;
pub mod wire;

use std::ops::{Deref, Range};
use std::sync::Arc;

use roamsim_engine::{Span, Time};
use roamsim_network::World;
use roamsim_network::flow::Flow;
use roamsim_network::link::AnyLink;
use roamsim_network::link::managed_wire::Change;
use roamsim_network::mobility::Trajectory;
use roamsim_network::topology::{LinkId, Topology};
use roamsim_protocols::Address;

use self::queue::Queue;
use self::wire::path::{LinkEvent, LinkEventName};
use crate::build::Builder;
use crate::names::ByName;
use crate::names::Names;
use crate::node::model::Node;
use crate::report::{At, Key, Report, Step};
use crate::scenario::Scenario;
use crate::table::Table;
use crate::table::sample::Sample;
use crate::table::traced::TracedTable;
use roamsim_network::trace::Trace;

/// What the house knows of an entry of an access technology.
pub(crate) trait Access {
    /// The key of its list in a scenario.
    fn section(&self) -> &'static str;

    /// Its name, the only one among all accesses: result tables tell them apart by it.
    fn name(&self) -> &str;

    /// The same, to be held together with the access where that is possible.
    fn shared_name(&self) -> Arc<str> {
        self.name().into()
    }

    /// The largest IP packet that it carries.
    fn mtu_bytes(&self) -> u64;

    /// The pairs of nodes between which it carries packets. Of an access with stations: the base station, and
    /// each station in its order.
    fn pairs(&self) -> Vec<Pair<'_>>;

    /// What it costs on a route.
    fn cost(&self) -> u16 {
        DEFAULT_COST
    }

    /// The time between two beacons of its base station; `None`: it has no stations that come and go. How its
    /// entries say that they have some, [`stations::THAT_COME_AND_GO`] tells.
    fn beacon_period(&self) -> Option<Span> {
        None
    }

    /// The hysteresis of its stations, each of which has one radio for all accesses of the technology and
    /// compares them by the strength of their signals; `None`: they compare distances, and may be in several
    /// at once.
    fn signal_hysteresis_db(&self, _node: &Node) -> Option<f64> {
        None
    }

    /// Whether a station has one radio for all accesses of the technology, and with one interface is in one
    /// of them at a time.
    fn has_one_radio(&self) -> bool {
        false
    }

    /// By what its stations choose among cells; cells of one kind can be compared.
    fn compares(&self) -> Compares {
        Compares::Distances
    }

    /// What it carries one way, where that is the same at all times, for each way by itself.
    fn capacity(&self) -> Option<Capacity> {
        None
    }

    /// Whether it asks where its nodes are.
    fn asks_for_places(&self) -> bool {
        self.beacon_period().is_some()
    }

    /// Within what distance of its base station a station is in it; `None`: places do not matter to it.
    fn reach_m(&self) -> Option<f64> {
        None
    }

    /// Whether it shows something without flows: handovers, bearers.
    fn shows_itself(&self) -> bool {
        false
    }

    /// Whether nothing in it is drawn.
    fn draws_nothing(&self) -> bool {
        false
    }

    /// Reports what is wrong with it; its keys are under `at`.
    fn check(&self, at: &[Step], context: &Context<'_>, report: &mut Report<'_>);

    /// Gives its links their places in the topology, from the number `first` on: the addresses of the
    /// attachments of each.
    fn join(&self, builder: &Builder<'_>, topology: &mut Topology, first: LinkId) -> Vec<Vec<Address>>;

    /// The machine of one of its links, `part` among those of `join`.
    fn machine(&self, part: usize, making: &Making<'_>) -> AnyLink;

    /// The link events that one of its nodes may have: stations that come and go have all, others none.
    fn link_events(&self, node: &str) -> &'static [LinkEventName] {
        let is_station = |pair: &Pair<'_>| pair.has_station() && pair.nodes[1] == node;
        if self.beacon_period().is_some() && self.pairs().iter().any(is_station) {
            LinkEventName::ALL
        } else {
            &[]
        }
    }

    /// Whether at this node it is a link that can be switched off as a whole, and on again
    /// (MIH_Link_Actions).
    fn is_switched_at(&self, _node: &str) -> bool {
        false
    }

    /// Whether at this node it can tell how many frames come in error.
    fn counts_errors_at(&self, _node: &str) -> bool {
        false
    }

    /// Whether its stations scan when they are told to.
    fn scans_when_told(&self) -> bool {
        false
    }

    /// How one of its links changes at link events of others.
    fn changes<'a>(&'a self, _part: usize, _scenario: &'a Scenario) -> Vec<(&'a LinkEvent, Change)> {
        Vec::new()
    }

    /// The result tables of all accesses of this technology together.
    fn tables(&self, _world: &World) -> Vec<Table> {
        Vec::new()
    }

    /// Those that only `trace` asks for, of a run that is over.
    fn traced_tables<'w>(&self, _world: &'w World, _trace: &Trace) -> Vec<TracedTable<'w>> {
        Vec::new()
    }

    /// The time series that its technology's machines keep by themselves under `trace`; `None`: they keep
    /// none.
    fn logged(&self, _world: &World, _trace: &Trace) -> Option<Logged> {
        None
    }

    /// Of these series the values of a time, in its order.
    fn samples<'w>(&self, _world: &'w World, _time: &Range<Time>) -> Vec<Sample<'w>> {
        Vec::new()
    }
}

/// What an access costs on a route unless it says otherwise: with it the shortest route is that of the fewest
/// accesses.
pub(crate) const DEFAULT_COST: u16 = 1;

/// What the machines of a technology have logged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Logged {
    /// Values, of all series together.
    pub values: usize,
    /// How long after its time a value is logged at the latest.
    pub behind: Span,
}

/// What stations compare of the cells that they hear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compares {
    /// Distances, whatever the technology.
    Distances,
    /// Signals, which are of one technology.
    Signals(&'static str),
}

/// What an access carries one way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Capacity {
    pub rate_bps: u64,
    pub delay: Span,
    /// What waits before it.
    pub queue: Queue,
    /// Whether it loses nothing but what its queue has no room for.
    pub lossless: bool,
}

/// What checks of an access may look at.
pub(crate) struct Context<'a> {
    pub scenario: &'a Scenario,
    pub names: &'a Names<'a>,
    pub attached: &'a Attached<'a>,
    /// By node, where it is at each time, as far as the scenario says.
    pub trajectories: &'a [Option<Trajectory>],
}

/// What a machine is made with.
pub(crate) struct Making<'a> {
    pub builder: &'a Builder<'a>,
    /// The flows, whose packets a loss may name.
    pub flows: &'a [Flow],
    /// What is recorded.
    pub trace: Trace,
}

/// What a node is in an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// An end that is there all the time, and forwards what is for others.
    Fixed,
    /// A base station: whom it serves depends on its place.
    BaseStation,
    /// A station of one: in reach or not, as its place says. It forwards nothing.
    Station,
}

/// Two nodes that an access joins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pair<'a> {
    pub nodes: [&'a str; 2],
    pub roles: [Role; 2],
}

impl<'a> Pair<'a> {
    /// Two ends that are there all the time.
    pub fn fixed(a: &'a str, b: &'a str) -> Pair<'a> {
        Pair { nodes: [a, b], roles: [Role::Fixed; 2] }
    }

    /// A base station and one of its stations.
    pub fn with_station(base_station: &'a str, station: &'a str) -> Pair<'a> {
        Pair { nodes: [base_station, station], roles: [Role::BaseStation, Role::Station] }
    }

    /// Whether the two find each other by a place, not by a wire.
    pub fn has_station(&self) -> bool {
        self.roles.contains(&Role::Station)
    }
}

/// An access and its place in the list of its technology.
#[derive(Clone, Copy)]
pub(crate) struct Entry<'a> {
    pub number: usize,
    pub access: &'a dyn Access,
}

impl Entry<'_> {
    /// Where it stands in the scenario.
    pub fn at(&self) -> [Step; 2] {
        [Key(self.access.section()), At(self.number)]
    }
}

impl<'a> Deref for Entry<'a> {
    type Target = dyn Access + 'a;

    fn deref(&self) -> &Self::Target {
        self.access
    }
}

/// The entries of one technology.
pub(crate) fn entries<A: Access>(list: &[A]) -> impl Iterator<Item = Entry<'_>> {
    list.iter().enumerate().map(|(number, access)| Entry { number, access })
}

/// A node's part in an access.
#[derive(Clone, Copy)]
pub(crate) struct Part<'a> {
    pub role: Role,
    /// The node at the other end; of a base station, one of its stations.
    pub with: &'a str,
}

/// Who is attached where.
pub(crate) struct Attached<'a> {
    by_node: ByName<'a, Vec<Part<'a>>>,
}

impl<'a> Attached<'a> {
    pub fn new(scenario: &'a Scenario) -> Attached<'a> {
        let mut by_node: ByName<'_, Vec<Part<'_>>> = ByName::default();
        for entry in scenario.accesses() {
            for (at, pair) in entry.access.pairs().into_iter().enumerate() {
                for (end, node) in pair.nodes.into_iter().enumerate() {
                    let role = pair.roles[end];
                    // A base station is in its access once, not once a station.
                    if role != Role::BaseStation || at == 0 {
                        let parts = by_node.entry(node).or_default();
                        // Most nodes have one.
                        if parts.is_empty() {
                            parts.reserve_exact(1);
                        }
                        parts.push(Part { role, with: pair.nodes[1 - end] });
                    }
                }
            }
        }
        Attached { by_node }
    }

    /// What a node is in each of its accesses, in the order of the scenario.
    pub fn of(&self, node: &str) -> &[Part<'a>] {
        self.by_node.get(node).map_or(&[], Vec::as_slice)
    }

    /// How often a node is this.
    pub fn count(&self, node: &str, role: Role) -> usize {
        self.of(node).iter().filter(|part| part.role == role).count()
    }

    /// Whether a node is this anywhere.
    pub fn is(&self, node: &str, role: Role) -> bool {
        self.count(node, role) > 0
    }
}
