//! IEEE 802.11b and g: an access point and its stations.

mod build;
mod check;
pub mod edca;
pub mod loss;
mod medium;
pub mod model;
pub mod radio;
pub mod rates;
mod results;
pub mod standard;
pub mod station;

use self::medium::Medium;
use self::model::Wifi;
use super::wire::path::LinkEvent;
use super::{Access, Compares, Context, Logged, Making, Network, Pair};
use crate::builder::Builder;
use crate::node::model::Node;
use crate::report::{Report, Step};
use crate::table::Table;
use crate::table::sample::Sample;
use roamsim_engine::{Span, Time};
use roamsim_network::World;
use roamsim_network::link::AnyLink;
use roamsim_network::link::managed_wire::Change;
use roamsim_network::topology::{LinkId, Topology};
use roamsim_network::trace::Trace;
use roamsim_protocols::Address;
use std::ops::Range;

impl Access for Wifi {
    fn section(&self) -> &'static str {
        "wifi"
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn mtu_bytes(&self) -> u64 {
        self.mtu_bytes
    }

    fn pairs(&self) -> Vec<Pair<'_>> {
        let pair = if self.beacons.is_some() { Pair::with_station } else { Pair::fixed };
        self.stations.iter().map(|station| pair(&self.access_point, station)).collect()
    }

    fn beacon_period(&self) -> Option<Span> {
        self.beacons.map(|beacons| beacons.period)
    }

    fn signal_hysteresis_db(&self, node: &Node) -> Option<f64> {
        let settings = node.wifi.as_deref().cloned().unwrap_or_default();
        self.beacons.map(|_| settings.hysteresis_db)
    }

    fn nominal_rate_bps(&self, _node: &str) -> Option<u64> {
        self.rate_bps
    }

    fn compares(&self) -> Compares {
        if self.beacons.is_some() { Compares::Signals("wifi") } else { Compares::Distances }
    }

    fn scans_when_told(&self) -> bool {
        self.beacons.is_some()
    }

    fn shows_itself(&self) -> bool {
        self.beacons.is_some()
    }

    fn asks_for_places(&self) -> bool {
        self.radio.is_some()
    }

    fn reach_m(&self) -> Option<f64> {
        self.radio.as_ref().and_then(|radio| radio.reach_m(self))
    }

    fn check(&self, at: &[Step], context: &Context<'_>, report: &mut Report<'_>) {
        check::check(self, at, context, report);
    }

    fn join(
        &self,
        builder: &Builder<'_>,
        network: &Network<'_>,
        topology: &mut Topology,
        first: LinkId,
    ) -> Vec<Vec<Address>> {
        // The first cell of a medium stands for all of them.
        let medium = Medium::of_first(network.of(), self);
        medium.iter().map(|medium| medium.join(builder, topology, first)).collect()
    }

    fn machine(&self, _part: usize, making: &Making<'_>) -> AnyLink {
        let medium = Medium::of(making.network.of(), self);
        let several = if medium.is_alone() { None } else { medium.machine(making) };
        let mut machine = several.unwrap_or_else(|| build::machine(self, making));
        if let (AnyLink::Wifi(machine), true) = (&mut machine, making.trace.rates) {
            machine.record_rates();
        }
        machine
    }

    fn changes<'a>(&'a self, _part: usize, network: &Network<'a>) -> Vec<(&'a LinkEvent, Change)> {
        build::loss::changes(&Medium::of(network.of(), self).cells)
    }

    fn tables(&self, world: &World) -> Vec<Table> {
        results::tables(world)
    }

    fn logged(&self, world: &World, trace: &Trace) -> Option<Logged> {
        trace.rates.then(|| Logged { values: results::logged(world), behind: Span::ZERO })
    }

    fn samples<'w>(&self, world: &'w World, time: &Range<Time>) -> Vec<Sample<'w>> {
        results::samples(world, time)
    }
}
