//! Abstract radio cells.

mod build;
mod check;
pub mod model;

use self::model::Cell;
use super::stations;
use super::{Access, Context, Making, Network, Pair};
use crate::builder::Builder;
use crate::report::{Report, Step};
use roamsim_engine::Span;
use roamsim_network::link::AnyLink;
use roamsim_network::topology::{LinkId, Topology};
use roamsim_protocols::Address;

impl Access for Cell {
    fn section(&self) -> &'static str {
        "cell"
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn mtu_bytes(&self) -> u64 {
        self.mtu_bytes
    }

    fn pairs(&self) -> Vec<Pair<'_>> {
        self.stations.iter().map(|station| Pair::with_station(&self.base_station, station)).collect()
    }

    fn beacon_period(&self) -> Option<Span> {
        Some(self.advertisement.period)
    }

    fn reach_m(&self) -> Option<f64> {
        Some(build::radius_m(&self.coverage))
    }

    fn nominal_rate_bps(&self, _node: &str) -> Option<u64> {
        Some(self.rate_bps)
    }

    fn shows_itself(&self) -> bool {
        true
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
        vec![stations::join_topology(self, builder, topology, (first, 0))]
    }

    fn machine(&self, _part: usize, making: &Making<'_>) -> AnyLink {
        build::machine(self, making.builder)
    }
}
