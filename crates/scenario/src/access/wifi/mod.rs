//! IEEE 802.11b and g: an access point and its stations.

mod build;
mod check;
pub mod model;
pub mod radio;
mod results;

use self::model::Wifi;
use super::{Access, Context, Making, Pair, places};
use crate::build::Builder;
use crate::table::Table;
use crate::validate::{Report, Step};
use roamsim_network::World;
use roamsim_network::link::AnyLink;
use roamsim_network::topology::{LinkId, Topology};
use roamsim_protocols::Address;

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
        self.stations.iter().map(|station| Pair::fixed(&self.access_point, station)).collect()
    }

    fn asks_for_places(&self) -> bool {
        self.radio.is_some()
    }

    fn reach_m(&self) -> Option<f64> {
        self.radio.as_ref().and_then(|radio| radio.reach_m(self))
    }

    fn check(&self, at: &[Step], context: &Context<'_>, report: &mut Report<'_>) {
        check::check(self, at, context, report);
        radio::check(self, at, context, report);
    }

    fn join(&self, builder: &Builder<'_>, topology: &mut Topology, first: LinkId) -> Vec<Vec<Address>> {
        let access_point = builder.node(&self.access_point);
        let stations: Vec<_> = self.stations.iter().map(|name| builder.node(name)).collect();
        // The access point has a sub-interface a station.
        let down = stations.iter().map(|&station| (access_point, station));
        let up = stations.iter().map(|&station| (station, access_point));
        vec![places::interfaces(self, topology, first, down.chain(up))]
    }

    fn machine(&self, _part: usize, making: &Making<'_>) -> AnyLink {
        build::machine(self, making.builder)
    }

    fn tables(&self, world: &World) -> Vec<Table> {
        results::tables(world)
    }
}
