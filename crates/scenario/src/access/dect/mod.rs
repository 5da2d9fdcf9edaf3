//! DECT accesses.

mod build;
mod check;
pub mod model;
mod results;

use self::model::Dect;
use super::wire::path::LinkEventName;
use super::{Access, Context, Logged, Making, Network, Pair, places};
use crate::builder::Builder;
use crate::report::{Report, Step};
use crate::table::Table;
use crate::table::sample::Sample;
use crate::table::traced::TracedTable;
use roamsim_engine::Time;
use roamsim_network::World;
use roamsim_network::link::AnyLink;
use roamsim_network::link::dect::FRAME;
use roamsim_network::topology::{LinkId, Topology};
use roamsim_network::trace::Trace;
use roamsim_protocols::Address;
use std::ops::Range;

impl Access for Dect {
    fn section(&self) -> &'static str {
        "dect"
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn mtu_bytes(&self) -> u64 {
        self.mtu_bytes
    }

    fn pairs(&self) -> Vec<Pair<'_>> {
        vec![Pair::fixed(&self.terminal, &self.gateway)]
    }

    fn shows_itself(&self) -> bool {
        true
    }

    /// With its first bearer the terminal can send, with its last one it cannot any more.
    fn link_events(&self, node: &str) -> &'static [LinkEventName] {
        if node == self.terminal { LinkEventName::UP_AND_DOWN } else { &[] }
    }

    /// Bearers that no procedure touches are there for ever.
    fn is_switched_at(&self, node: &str) -> bool {
        node == self.terminal && self.fixed_bearers.is_none()
    }

    fn counts_errors_at(&self, node: &str) -> bool {
        self.terminal == node || self.gateway == node
    }

    fn check(&self, at: &[Step], context: &Context<'_>, report: &mut Report<'_>) {
        check::check(self, at, context, report);
    }

    fn join(
        &self,
        builder: &Builder<'_>,
        _network: &Network<'_>,
        topology: &mut Topology,
        first: LinkId,
    ) -> Vec<Vec<Address>> {
        let ends = [&self.terminal, &self.gateway].map(|name| builder.node(name));
        places::two_ends(self, topology, first, ends)
    }

    fn machine(&self, _part: usize, making: &Making<'_>) -> AnyLink {
        build::machine(self, making)
    }

    fn tables(&self, world: &World) -> Vec<Table> {
        results::tables(world)
    }

    fn traced_tables<'w>(&self, world: &'w World, trace: &Trace) -> Vec<TracedTable<'w>> {
        if trace.occupancy {
            vec![TracedTable::new(results::used(world), results::occupancy)]
        } else {
            Vec::new()
        }
    }

    fn logged(&self, world: &World, trace: &Trace) -> Option<Logged> {
        // A frame is worked out at its end.
        (trace.bearers || trace.dlc_queue).then(|| Logged { values: results::logged(world), behind: FRAME })
    }

    fn samples<'w>(&self, world: &'w World, time: &Range<Time>) -> Vec<Sample<'w>> {
        results::samples(world, time)
    }
}
