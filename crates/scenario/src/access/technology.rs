//! The boundary of an access technology: what an access can be asked, and what it may ask of the others.

use std::any::Any;
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

use super::attached::Attached;
use super::pair::Pair;
use super::queue::Queue;
use super::traffic::Traffic;
use super::wire::path::{LinkEvent, LinkEventName};
use crate::builder::Builder;
use crate::general::General;
use crate::names::Names;
use crate::node::model::Node;
use crate::report::{At, Key, Report, Step};
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

    /// The hysteresis of its stations. Each has one radio for all accesses of the technology, and compares
    /// them by the strength of their signals. `None`: they compare distances, and may be in several at once.
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

    /// Whether a node of it hears a signal whose strength is known.
    fn has_signal_at(&self, _node: &str) -> bool {
        matches!(self.compares(), Compares::Signals(_))
    }

    /// The rate to a node, if it has one that a policy may compare: of a series the highest, of a trace the
    /// mean.
    fn nominal_rate_bps(&self, _node: &str) -> Option<u64> {
        None
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
    fn join(
        &self,
        builder: &Builder<'_>,
        network: &Network<'_>,
        topology: &mut Topology,
        first: LinkId,
    ) -> Vec<Vec<Address>>;

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
    fn changes<'a>(&'a self, _part: usize, _network: &Network<'a>) -> Vec<(&'a LinkEvent, Change)> {
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

/// All entries of one technology.
pub(crate) trait Entries: Any {
    /// How many there are.
    fn count(&self) -> usize;

    /// One of them.
    fn access(&self, number: usize) -> &dyn Access;
}

impl<A: Access + 'static> Entries for Vec<A> {
    fn count(&self) -> usize {
        self.len()
    }

    fn access(&self, number: usize) -> &dyn Access {
        &self[number]
    }
}

impl dyn Entries {
    /// All of them, in the order of the scenario.
    pub fn iter(&self) -> impl Iterator<Item = Entry<'_>> {
        (0..self.count()).map(|number| Entry { number, access: self.access(number) })
    }
}

/// What a scenario says of its network.
pub(crate) struct Network<'a> {
    pub general: &'a General,
    pub nodes: &'a [Node],
    /// By technology, in the order in which their links join the topology.
    pub entries: Vec<&'a (dyn Entries + 'static)>,
}

impl<'a> Network<'a> {
    /// Every access.
    pub fn accesses(&self) -> impl Iterator<Item = Entry<'a>> {
        self.entries.iter().flat_map(|entries| entries.iter())
    }

    /// The access of this name.
    pub fn access(&self, name: &str) -> Option<Entry<'a>> {
        self.accesses().find(|entry| entry.name() == name)
    }

    /// The accesses of one technology.
    pub fn of<A: Access + 'static>(&self) -> &'a [A] {
        let found = self.entries.iter().find_map(|&entries| (entries as &dyn Any).downcast_ref::<Vec<A>>());
        found.expect("every technology is among the entries")
    }

    /// How long the run is.
    pub fn duration(&self) -> Span {
        self.general.duration
    }
}

/// What checks of an access may look at.
pub(crate) struct Context<'a> {
    pub network: &'a Network<'a>,
    pub traffic: &'a dyn Traffic,
    pub names: &'a Names<'a>,
    pub attached: &'a Attached<'a>,
    /// By node, where it is at each time, as far as the scenario says.
    pub trajectories: &'a [Option<Trajectory>],
}

/// What a machine is made with.
pub(crate) struct Making<'a> {
    pub builder: &'a Builder<'a>,
    pub network: &'a Network<'a>,
    pub traffic: &'a dyn Traffic,
    /// The flows, whose packets a loss may name.
    pub flows: &'a [Flow],
    /// What is recorded.
    pub trace: Trace,
}
