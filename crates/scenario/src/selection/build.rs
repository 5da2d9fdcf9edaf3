//! Nodes that select: their interfaces, policies and schemes.

use std::collections::BTreeMap;

use roamsim_network::World;
use roamsim_network::handover::mobile_ip::CoLocatedHost;
use roamsim_network::selection::account::Power;
use roamsim_network::selection::given::{ChooserMaker, Described};
use roamsim_network::selection::{Candidate, Policy, Scheme, Selection, SelectionConfig};
use roamsim_network::topology::Topology;
use roamsim_protocols::Address;
use roamsim_protocols::mobile_ip::mobile_node::Retransmission;
use roamsim_protocols::mobile_ip::{
    CoLocated, CoLocatedConfig, HomeAgent, HomeAgentConfig, ReplayProtection, SecurityAssociation,
};

use super::model::{Policy as PolicyModel, Scheme as SchemeModel, Selection as SelectionModel};
use crate::access::{Access, Entry, Network, Role};
use crate::builder::Builder;
use crate::flow::model::Flow;
use crate::mobile_ip::build::seconds;
use crate::mobile_ip::model::Registration;
use crate::names::{ByName, NameSet};

/// An access of a node that selects.
#[derive(Clone, Copy)]
pub(crate) struct Own<'a> {
    pub entry: Entry<'a>,
    /// The node's part in it.
    pub role: Role,
}

/// The accesses of all nodes that select, found at once.
pub(crate) struct Interfaces<'a> {
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
        self.ranked(model, &model.prefer)
    }

    /// Those of them that a flow may use, each with its place in the flow's `policy`.
    pub fn of_flow(&self, model: &SelectionModel, flow: &Flow) -> Vec<(Own<'a>, usize)> {
        let mut all = self.ranked(model, flow.policy());
        all.retain(|(own, _)| self.rank(&model.prefer, own).is_some());
        all
    }

    fn ranked(&self, model: &SelectionModel, prefer: &[String]) -> Vec<(Own<'a>, usize)> {
        self.of(&model.node).iter().filter_map(|&own| Some((own, self.rank(prefer, &own)?))).collect()
    }

    /// The place of an access in a list of preferred ones, if it may be selected.
    pub fn rank(&self, prefer: &[String], own: &Own<'_>) -> Option<usize> {
        if prefer.is_empty() {
            return Some(0);
        }
        let by_name = prefer.iter().position(|name| *name == *own.entry.access.name());
        let of_technology = |name: &String| *name == *own.entry.access.section() && !self.is_access(name);
        by_name.or_else(|| prefer.iter().position(of_technology))
    }
}

/// What a policy from outside is told of an interface at the beginning.
fn described(model: &SelectionModel, own: &Own<'_>) -> Described {
    let access = own.entry.access;
    let price = model.prices.iter().find(|price| price.access == *access.name());
    Described {
        name: access.name().into(),
        technology: access.section(),
        rate_bps: access.nominal_rate_bps(&model.node),
        cost_per_mb: price.map(|price| price.cost_per_mb),
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
            let mut candidates = self.candidates(model, interfaces.candidates(model), topology);
            candidates.sort_by_key(|candidate| candidate.rank);
            if let Some(first) = candidates.first() {
                topology.set_primary(first.interface);
            }
            if let Some(home) = self.home(model, &candidates, topology) {
                topology.set_primary(home);
                // What comes from it leaves by the selected interface.
                topology.bind_source(home, false);
            }
        }
    }

    pub(crate) fn selections(
        &self,
        world: &mut World,
        (selections, flows): (&[SelectionModel], &[Flow]),
        network: &Network<'_>,
        policies: &BTreeMap<String, ChooserMaker>,
    ) {
        let interfaces = Interfaces::new(selections, network);
        for model in selections {
            let own = interfaces.candidates(model);
            let maker = model.policy.class().and_then(|class| policies.get(class));
            let described: Vec<_> = own.iter().map(|(own, _)| described(model, own)).collect();
            let candidates = self.candidates(model, own, &world.network.topology);
            if let Some(home) = self.home(model, &candidates, &world.network.topology) {
                self.add_co_located(world, model, home);
            }
            let selection = Selection::new(self.selection_config(model), candidates);
            world.add_selection(match maker {
                Some(maker) => selection.with_chooser(maker.make(&described)),
                None => selection,
            });
        }
        for model in selections {
            let with_policy = |flow: &&Flow| !flow.policy().is_empty() && flow.is_at(&model.node);
            for flow in flows.iter().filter(with_policy) {
                let own = interfaces.of_flow(model, flow);
                let candidates = self.candidates(model, own, &world.network.topology);
                let config = SelectionConfig {
                    name: flow.name.to_string(),
                    of_one_flow: true,
                    policy: Policy::Preference,
                    policy_name: PolicyModel::Preference.name().to_owned(),
                    ..self.selection_config(model)
                };
                world.add_selection(Selection::new(config, candidates));
            }
        }
    }

    /// The home address of a node whose flows Mobile IP moves.
    fn home(&self, model: &SelectionModel, candidates: &[Candidate], topology: &Topology) -> Option<Address> {
        if model.scheme != SchemeModel::MobileIp {
            return None;
        }
        let is_home = |candidate: &&Candidate| {
            let name = &*topology.interface(candidate.interface).name;
            model.home.as_deref().is_none_or(|home| home == name)
        };
        candidates.iter().filter(is_home).min_by_key(|candidate| candidate.rank).map(|home| home.interface)
    }

    /// The mobile node with co-located care-of addresses, and its home agent at the other end of the home
    /// link.
    fn add_co_located(&self, world: &mut World, model: &SelectionModel, home: Address) {
        let topology = &world.network.topology;
        let (node, at_home) = (topology.owner(home), topology.interface(home));
        let agent_node = at_home.neighbour;
        let leads_home = |&number: &u32| {
            let interface = topology.interface(Address(number));
            interface.name == at_home.name && interface.neighbour == node
        };
        let agent = topology.node(agent_node).interfaces.iter().copied().find(leads_home).map(Address);
        let Some(agent) = agent else { return };
        let [home_address, home_agent] = [home, agent].map(|address| topology.ip().v4(address));
        let defaults = Registration::default();
        let lifetime_s = seconds(defaults.lifetime);
        let replay_protection = ReplayProtection::Timestamps { tolerance: defaults.replay_window };
        let machine = CoLocated::new(CoLocatedConfig {
            home_address,
            home_agent,
            security: SecurityAssociation::default(),
            replay_protection,
            lifetime_s,
            retransmission: Retransmission {
                initial: defaults.retransmission,
                maximum: defaults.max_retransmission,
            },
        });
        let home_agent = HomeAgent::new(HomeAgentConfig {
            address: home_agent,
            mobile_nodes: [(home_address, SecurityAssociation::default())].into(),
            max_lifetime_s: lifetime_s,
            replay_protection,
            reverse_tunnel: false,
        });
        let random = ["mobile node", "home agent"].map(|of| self.stream("selection", &model.name, &[of]));
        let host = CoLocatedHost::new((node, home, machine), (agent_node, agent, home_agent), random);
        world.network.add_co_located(home);
        world.mobile_ip.co_located.push(host);
    }

    fn selection_config(&self, model: &SelectionModel) -> SelectionConfig {
        let SelectionModel {
            name,
            node,
            policy,
            // Of interfaces.
            prefer: _,
            prices: _,
            power: _,
            scheme,
            home: _,
            mih: _,
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
            of_one_flow: false,
            policy: match policy {
                PolicyModel::Preference => Policy::Preference,
                PolicyModel::Strongest => Policy::Strongest,
                PolicyModel::Cheapest => Policy::Cheapest,
                PolicyModel::Other(_) => Policy::Given,
            },
            policy_name: policy.name().to_owned(),
            scheme: match scheme {
                SchemeModel::None => Scheme::None,
                SchemeModel::Redirect => Scheme::Redirect,
                SchemeModel::MobileSctp => Scheme::MobileSctp,
                SchemeModel::Migration => Scheme::Migration,
                SchemeModel::MobileIp => Scheme::MobileIp,
                SchemeModel::Mih => Scheme::Mih,
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
        ranked: Vec<(Own<'_>, usize)>,
        topology: &Topology,
    ) -> Vec<Candidate> {
        let own = &topology.node(self.node(&model.node)).interfaces;
        let candidate = |(access, rank): (Own<'_>, usize)| {
            let name = access.entry.access.name();
            let is_there = |&&number: &&u32| *topology.interface(Address(number)).name == *name;
            let interface = Address(*own.iter().find(is_there)?);
            let price = model.prices.iter().find(|price| price.access == *name);
            let power = model.power.iter().find(|power| power.access == *name);
            let power = power.map(|power| Power {
                up_w: power.up_w,
                selected_w: power.selected_w,
                j_per_mb: power.j_per_mb,
            });
            let cost_per_mb = price.map(|price| price.cost_per_mb);
            let mut candidate = Candidate::new(interface, rank, cost_per_mb);
            candidate.power = power;
            Some(candidate)
        };
        ranked.into_iter().filter_map(candidate).collect()
    }
}
