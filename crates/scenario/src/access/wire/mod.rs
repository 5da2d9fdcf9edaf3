//! Wired point-to-point links.

mod build;
mod check;
pub mod model;
pub mod path;

pub(super) use self::build::loss_model;
pub(super) use self::check::check_loss_model;

use self::model::{Link, Loss, LossModel};
use self::path::{LinkEvent, LinkEventName};
use super::queue::Queue;
use super::{Access, Capacity, Context, Making, Network, Pair, places};
use crate::builder::Builder;
use crate::report::{Report, Step};
use roamsim_network::link::AnyLink;
use roamsim_network::link::managed_wire::Change;
use roamsim_network::topology::{LinkId, Topology};
use roamsim_protocols::Address;
use std::sync::Arc;

impl Access for Link {
    fn section(&self) -> &'static str {
        "link"
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn shared_name(&self) -> Arc<str> {
        (&self.name).into()
    }

    fn mtu_bytes(&self) -> u64 {
        self.mtu_bytes
    }

    fn cost(&self) -> u16 {
        // What is too large has an error of its own.
        u16::try_from(self.cost).unwrap_or(u16::MAX)
    }

    fn pairs(&self) -> Vec<Pair<'_>> {
        vec![Pair::fixed(&self.between[0], &self.between[1])]
    }

    fn capacity(&self) -> Option<Capacity> {
        let lossless = self.loss.is_empty() && self.outages.is_empty() && self.duplicate.is_empty();
        let (rate_bps, delay) = self.constants()?;
        Some(Capacity { rate_bps, delay, queue: self.own_queue().unwrap_or_default(), lossless })
    }

    fn draws_nothing(&self) -> bool {
        let draws = |loss: &Loss| !matches!(loss.model, LossModel::List { .. });
        let jitter = self.delay.iter().any(|delay| !delay.jitter.is_constant());
        let copies = (0..2).any(|end| self.duplicate_from(end).is_some());
        !self.own_queue().is_some_and(Queue::draws) && !jitter && !copies && !self.loss.iter().any(draws)
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
        let ends = [0, 1].map(|end: usize| builder.node(&self.between[end]));
        places::two_directions(self, topology, first, ends)
    }

    fn machine(&self, part: usize, making: &Making<'_>) -> AnyLink {
        build::machine(self, part, making)
    }

    fn link_events(&self, node: &str) -> &'static [LinkEventName] {
        let has_some = !self.outages.is_empty() && self.end(node).is_some();
        if has_some { LinkEventName::UP_AND_DOWN } else { &[] }
    }

    fn nominal_rate_bps(&self, node: &str) -> Option<u64> {
        self.rate_from(1 - self.end(node)?).map(build::highest_bps)
    }

    fn has_signal_at(&self, node: &str) -> bool {
        self.end(node).is_some_and(|end| self.signal_at(end).is_some())
    }

    fn is_switched_at(&self, node: &str) -> bool {
        self.end(node).is_some()
    }

    fn counts_errors_at(&self, node: &str) -> bool {
        self.end(node).is_some()
    }

    fn changes<'a>(&'a self, part: usize, _network: &Network<'a>) -> Vec<(&'a LinkEvent, Change)> {
        build::changes(self, part)
    }
}
