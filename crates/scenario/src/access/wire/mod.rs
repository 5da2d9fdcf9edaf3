//! Wired point-to-point links.

mod build;
mod check;
pub mod model;

use self::model::{Link, Loss, LossModel};
use super::{Access, Capacity, Context, Making, Pair, places};
use crate::build::Builder;
use crate::validate::{Report, Step};
use roamsim_network::link::AnyLink;
use roamsim_network::topology::{LinkId, Topology};
use roamsim_protocols::Address;

impl Access for Link {
    fn section(&self) -> &'static str {
        "link"
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn mtu_bytes(&self) -> u64 {
        self.mtu_bytes
    }

    fn pairs(&self) -> Vec<Pair<'_>> {
        vec![Pair::fixed(&self.between[0], &self.between[1])]
    }

    fn capacity(&self) -> Option<Capacity> {
        let lossless = self.loss.is_empty() && self.outages.is_empty();
        Some(Capacity { rate_bps: self.rate_bps, delay: self.delay, queue: self.queue, lossless })
    }

    fn draws_nothing(&self) -> bool {
        let draws = |loss: &Loss| !matches!(loss.model, LossModel::List { .. });
        !self.queue.draws() && !self.loss.iter().any(draws)
    }

    fn check(&self, at: &[Step], context: &Context<'_>, report: &mut Report<'_>) {
        check::check(self, at, context, report);
    }

    fn join(&self, builder: &Builder<'_>, topology: &mut Topology, first: LinkId) -> Vec<Vec<Address>> {
        let ends = [0, 1].map(|end: usize| builder.node(&self.between[end]));
        places::two_directions(self, topology, first, ends)
    }

    fn machine(&self, part: usize, making: &Making<'_>) -> AnyLink {
        build::machine(self, part, making)
    }
}
