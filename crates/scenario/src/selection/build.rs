//! Nodes that select: their interfaces, policies and schemes.

use roamsim_network::World;
use roamsim_network::selection::{Candidate, Policy, Scheme, Selection, SelectionConfig};
use roamsim_network::topology::Topology;
use roamsim_protocols::Address;

use super::model::{Policy as PolicyModel, Scheme as SchemeModel, Selection as SelectionModel};
use crate::access::{Entry, Network};
use crate::builder::Builder;

impl SelectionModel {
    /// The place of an access in `prefer`, if it may be selected.
    pub(super) fn rank(&self, entry: &Entry<'_>, network: &Network<'_>) -> Option<usize> {
        if self.prefer.is_empty() {
            return Some(0);
        }
        let is_name = |name: &str| network.access(name).is_some();
        let by_name = self.prefer.iter().position(|name| *name == *entry.access.name());
        let by_technology = || {
            let section = entry.access.section();
            self.prefer.iter().position(|name| *name == *section && !is_name(name))
        };
        by_name.or_else(by_technology)
    }

    /// The accesses of its node that may be selected, in the order of the scenario.
    pub(super) fn accesses<'a>(&self, network: &Network<'a>) -> Vec<(Entry<'a>, usize)> {
        let own = own_accesses(&self.node, network);
        own.filter_map(|entry| Some((entry, self.rank(&entry, network)?))).collect()
    }
}

/// The accesses that a node is at.
pub(super) fn own_accesses<'a, 'n>(
    node: &'n str,
    network: &'n Network<'a>,
) -> impl Iterator<Item = Entry<'a>> + use<'a, 'n> {
    network.accesses().filter(move |entry| entry.access.pairs().iter().any(|pair| pair.nodes.contains(&node)))
}

impl Builder<'_> {
    /// Until something is selected, others know a node by the interface that it prefers.
    pub(crate) fn prefer_addresses(
        &self,
        selections: &[SelectionModel],
        network: &Network<'_>,
        topology: &mut Topology,
    ) {
        for model in selections {
            let mut candidates = self.candidates(model, network, topology);
            candidates.sort_by_key(|candidate| candidate.rank);
            if let Some(first) = candidates.first() {
                topology.set_primary(first.interface);
            }
        }
    }

    pub(crate) fn selections(&self, world: &mut World, selections: &[SelectionModel], network: &Network<'_>) {
        for model in selections {
            let candidates = self.candidates(model, network, &world.network.topology);
            world.add_selection(Selection::new(self.selection_config(model), candidates));
        }
    }

    fn selection_config(&self, model: &SelectionModel) -> SelectionConfig {
        let SelectionModel {
            name,
            node,
            policy,
            // Of interfaces.
            prefer: _,
            prices: _,
            scheme,
            dwell_time,
            threshold_dbm,
            hysteresis_db,
            ping_pong_time,
        } = model;
        SelectionConfig {
            name: name.clone(),
            node: self.node(node),
            policy: match policy {
                PolicyModel::Preference => Policy::Preference,
                PolicyModel::Strongest => Policy::Strongest,
                PolicyModel::Cheapest => Policy::Cheapest,
            },
            scheme: match scheme {
                SchemeModel::None => Scheme::None,
                SchemeModel::Redirect => Scheme::Redirect,
                SchemeModel::MobileSctp => Scheme::MobileSctp,
            },
            hysteresis_db: *hysteresis_db,
            threshold_dbm: *threshold_dbm,
            dwell_time: *dwell_time,
            ping_pong_time: *ping_pong_time,
        }
    }

    fn candidates(
        &self,
        model: &SelectionModel,
        network: &Network<'_>,
        topology: &Topology,
    ) -> Vec<Candidate> {
        let interfaces = topology.node(self.node(&model.node)).interfaces.to_vec();
        let accesses = model.accesses(network);
        let candidate = |(entry, rank): &(Entry<'_>, usize)| {
            let named = |&&number: &&u32| *topology.interface(Address(number)).name == *entry.access.name();
            let interface = Address(*interfaces.iter().find(named)?);
            let price = model.prices.iter().find(|price| price.access == *entry.access.name());
            Some(Candidate::new(interface, *rank, price.map(|price| price.cost_per_mb)))
        };
        accesses.iter().filter_map(candidate).collect()
    }
}
