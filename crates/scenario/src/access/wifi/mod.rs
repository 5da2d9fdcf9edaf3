//! IEEE 802.11b with one station alone in the cell.

mod build;
mod check;
pub mod model;

use self::model::Wifi;
use super::{Access, Context, Making, Pair, places};
use crate::build::Builder;
use crate::validate::{Report, Step};
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

    fn check(&self, at: &[Step], context: &Context<'_>, report: &mut Report<'_>) {
        check::check(self, at, context, report);
    }

    fn join(&self, builder: &Builder<'_>, topology: &mut Topology, first: LinkId) -> Vec<Vec<Address>> {
        // Validation refuses another number of stations than one.
        let ends = [&self.access_point, &self.stations[0]].map(|name| builder.node(name));
        places::two_ends(self, topology, first, ends)
    }

    fn machine(&self, _part: usize, making: &Making<'_>) -> AnyLink {
        build::machine(self, making.builder)
    }
}
