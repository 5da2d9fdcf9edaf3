//! Nodes that select: their interfaces, policies and schemes.

use roamsim_network::World;
use roamsim_network::selection::{Candidate, Policy, Scheme, Selection, SelectionConfig};
use roamsim_network::topology::Topology;
use roamsim_protocols::Address;

use super::model::{Policy as PolicyModel, Scheme as SchemeModel, Selection as SelectionModel};
use crate::access::{Access, Entry, Network, Role};
use crate::builder::Builder;
use crate::names::{ByName, NameSet};

/// An access of a node that selects.
#[derive(Clone, Copy)]
pub(super) struct Own<'a> {
    pub entry: Entry<'a>,
    /// The node's part in it.
    pub role: Role,
}

/// The accesses of all nodes that select, found at once.
pub(super) struct Interfaces<'a> {
    by_node: ByName<'a, Vec<Own<'a>>>,
    names: NameSet<'a>,
}

impl<'a> Interfaces<'a> {
    /// Of the nodes of these selections.
    pub fn new(selections: &'a [SelectionModel], network: &Network<'a>) -> Interfaces<'a> {
        let mut by_node: ByName<'a, Vec<Own<'a>>> = ByName::default();
        by_node.extend(selections.iter().map(|model| (model.node.as_str(), Vec::new())));
        let mut names = NameSet::default();
        for entry in network.accesses() {
            let access: &'a dyn Access = entry.access;
            names.insert(access.name());
            for pair in access.pairs() {
                for (node, role) in pair.nodes.into_iter().zip(pair.roles) {
                    let Some(own) = by_node.get_mut(node) else { continue };
                    if own.last().is_none_or(|last| last.entry.name() != access.name()) {
                        own.push(Own { entry, role });
                    }
                }
            }
        }
        Interfaces { by_node, names }
    }

    /// Whether an access of the scenario has this name.
    pub fn is_access(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// The accesses of a node, in the order of the scenario.
    pub fn of(&self, node: &str) -> &[Own<'a>] {
        self.by_node.get(node).map_or(&[], Vec::as_slice)
    }

    /// Those that a selection may choose, each with its place in `prefer`.
    pub fn candidates(&self, model: &SelectionModel) -> Vec<(Own<'a>, usize)> {
        self.of(&model.node).iter().filter_map(|&own| Some((own, self.rank(model, &own)?))).collect()
    }

    /// The place of an access in `prefer`, if it may be selected.
    pub fn rank(&self, model: &SelectionModel, own: &Own<'_>) -> Option<usize> {
        if model.prefer.is_empty() {
            return Some(0);
        }
        let by_name = model.prefer.iter().position(|name| *name == *own.entry.access.name());
        let of_technology = |name: &String| *name == *own.entry.access.section() && !self.is_access(name);
        by_name.or_else(|| model.prefer.iter().position(of_technology))
    }
}

impl Builder<'_> {
    /// Until something is selected, others know a node by the interface that it prefers.
    pub(crate) fn prefer_addresses(
        &self,
        selections: &[SelectionModel],
        network: &Network<'_>,
        topology: &mut Topology,
    ) {
        let interfaces = Interfaces::new(selections, network);
        for model in selections {
            let mut candidates = self.candidates(model, &interfaces, topology);
            candidates.sort_by_key(|candidate| candidate.rank);
            if let Some(first) = candidates.first() {
                topology.set_primary(first.interface);
            }
        }
    }

    pub(crate) fn selections(&self, world: &mut World, selections: &[SelectionModel], network: &Network<'_>) {
        let interfaces = Interfaces::new(selections, network);
        for model in selections {
            let candidates = self.candidates(model, &interfaces, &world.network.topology);
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
            hold_time,
            leave_when_going_down,
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
                SchemeModel::Migration => Scheme::Migration,
            },
            hysteresis_db: *hysteresis_db,
            threshold_dbm: *threshold_dbm,
            dwell_time: *dwell_time,
            hold_time: *hold_time,
            leave_when_going_down: *leave_when_going_down,
            ping_pong_time: *ping_pong_time,
        }
    }

    fn candidates(
        &self,
        model: &SelectionModel,
        interfaces: &Interfaces<'_>,
        topology: &Topology,
    ) -> Vec<Candidate> {
        let own = &topology.node(self.node(&model.node)).interfaces;
        let candidate = |(access, rank): (Own<'_>, usize)| {
            let name = access.entry.access.name();
            let is_there = |&&number: &&u32| *topology.interface(Address(number)).name == *name;
            let interface = Address(*own.iter().find(is_there)?);
            let price = model.prices.iter().find(|price| price.access == *name);
            Some(Candidate::new(interface, rank, price.map(|price| price.cost_per_mb)))
        };
        interfaces.candidates(model).into_iter().filter_map(candidate).collect()
    }
}
