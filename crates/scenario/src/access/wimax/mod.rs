//! IEEE 802.16: a base station and its stations.

pub mod arq;
mod build;
pub mod burst_profile;
mod check;
pub mod entry;
pub mod model;
pub mod ofdma;
pub mod radio;
mod results;
pub mod scanning;

use self::model::Wimax;
use super::{Access, Compares, Context, Making, Network, Pair, places, stations};
use crate::builder::Builder;
use crate::node::model::Node;
use crate::report::{Report, Step};
use crate::table::Table;
use roamsim_engine::Span;
use roamsim_network::World;
use roamsim_network::link::AnyLink;
use roamsim_network::topology::{LinkId, Topology};
use roamsim_protocols::Address;

impl Access for Wimax {
    fn section(&self) -> &'static str {
        "wimax"
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn mtu_bytes(&self) -> u64 {
        self.mtu_bytes
    }

    fn pairs(&self) -> Vec<Pair<'_>> {
        let pair = if self.entry.is_some() { Pair::with_station } else { Pair::fixed };
        self.stations.iter().map(|station| pair(&self.base_station, station)).collect()
    }

    fn beacon_period(&self) -> Option<Span> {
        self.entry.as_ref().map(|entry| entry.report_interval)
    }

    fn reach_m(&self) -> Option<f64> {
        self.entry.as_ref().and_then(|entry| entry.reach_m(self))
    }

    fn compares(&self) -> Compares {
        match self.entry.as_ref().and_then(|entry| entry.radio.as_ref()) {
            Some(_) => Compares::Signals("wimax"),
            None => Compares::Distances,
        }
    }

    fn has_one_radio(&self) -> bool {
        true
    }

    fn signal_hysteresis_db(&self, _node: &Node) -> Option<f64> {
        let entry = self.entry.as_ref().filter(|entry| entry.radio.is_some())?;
        entry.scanning.as_ref().map(|scanning| scanning.hysteresis_db)
    }

    fn scans_when_told(&self) -> bool {
        self.entry.as_ref().is_some_and(|entry| entry.scanning.is_some())
    }

    fn shows_itself(&self) -> bool {
        self.entry.is_some()
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
        if self.entry.is_some() {
            return vec![stations::join_topology(self, builder, topology, (first, 0))];
        }
        let base_station = builder.node(&self.base_station);
        let stations: Vec<_> = self.stations.iter().map(|name| builder.node(name)).collect();
        // The base station has a sub-interface a station.
        let down = stations.iter().map(|&station| (base_station, station));
        let up = stations.iter().map(|&station| (station, base_station));
        vec![places::interfaces(self, topology, (first, first), down.chain(up))]
    }

    fn machine(&self, _part: usize, making: &Making<'_>) -> AnyLink {
        build::machine(self, making.builder)
    }

    fn tables(&self, world: &World) -> Vec<Table> {
        results::tables(world)
    }
}
