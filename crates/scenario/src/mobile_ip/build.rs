//! Mobile IP: agents on the cells of their base stations, mobile nodes with their home addresses.

use super::model::{
    AgentAdvertisement, MobileIp as Model, MoveDetection as DetectionModel, Registration,
    ReplayProtection as ReplayModel,
};
use crate::builder::{Builder, escaped};
use roamsim_engine::{Span, time::NS_PER_S};
use roamsim_network::handover::mobile_ip::{Agent, MobileHost, MobileIp};
use roamsim_network::handover::{Handovers, StationPlace};
use roamsim_network::topology::{NodeId, Topology};
use roamsim_protocols::mobile_ip::mobile_node::Retransmission;
use roamsim_protocols::mobile_ip::{
    Advertiser, AdvertiserConfig, ForeignAgent, ForeignAgentConfig, HomeAgent, HomeAgentConfig, Interface,
    MobileNodeConfig, MoveDetection, ReplayProtection, SecurityAssociation, SolicitationConfig,
};
use roamsim_protocols::{Address, IpAddresses};
use std::collections::BTreeMap;

/// How long a foreign agent waits for a home agent: it may give up after 7 s (RFC 5944 section 3.7.1).
const PENDING_TIMEOUT: Span = Span::from_secs(7);

/// Whole seconds of a lifetime, as messages have them.
pub(crate) fn seconds(lifetime: Span) -> u16 {
    u16::try_from(lifetime.as_ns() / NS_PER_S).unwrap_or(u16::MAX)
}

impl Builder<'_> {
    /// The agents and mobile nodes; the home addresses become the nodes' primary addresses.
    pub(crate) fn mobile_ip(
        &self,
        entries: &[Model],
        topology: &mut Topology,
        handovers: &Handovers,
    ) -> MobileIp {
        let mut mobile_ip = MobileIp::default();
        let homes: Vec<(&Model, &str, u32, Address, u32)> = entries
            .iter()
            .flat_map(|entry| entry.mobile_nodes.iter().map(move |name| (entry, name.as_str())))
            .filter_map(|(entry, name)| {
                let station = handovers.station_of(self.node(name))?;
                let place: &StationPlace = &handovers.stations[station as usize];
                let agent = self.node(&entry.home_agent);
                let at_home = |cell: u32| handovers.cells[cell as usize].base_station == agent;
                let home = place.cells.iter().find(|membership| at_home(membership.cell))?;
                Some((entry, name, station, home.interface, home.cell))
            })
            .collect();
        let mut residents: BTreeMap<u32, Vec<_>> = BTreeMap::new();
        for home in &homes {
            residents.entry(home.4).or_default().push(home);
        }
        let foreign_agents: BTreeMap<NodeId, &Model> = entries
            .iter()
            .rev()
            .flat_map(|entry| entry.foreign_agents.iter().map(move |name| (self.node(name), entry)))
            .collect();
        for (number, cell) in handovers.cells.iter().enumerate() {
            let foreign = foreign_agents.get(&cell.base_station).copied();
            let residents = residents.remove(&(number as u32)).unwrap_or_default();
            let Some(entry) = residents.first().map(|home| home.0).or(foreign) else { continue };
            let advertisement = &entry.advertisement;
            let &AgentAdvertisement {
                period,
                jitter: _,
                lifetime: _,
                registration_lifetime,
                prefix_length,
                max_visitors,
            } = advertisement;
            let (address, max_lifetime_s) =
                (topology.ip().v4(cell.broadcast), seconds(registration_lifetime));
            let advertiser = Advertiser::new(AdvertiserConfig {
                interface: Interface(number as u32),
                address,
                period,
                jitter: advertisement.jitter(),
                lifetime_s: seconds(advertisement.lifetime()),
                registration_lifetime_s: max_lifetime_s,
                home_agent: !residents.is_empty(),
                care_of_address: foreign.map(|_| address),
                reverse_tunnel: true,
                prefix_length: Some(prefix_length),
            });
            let home = (!residents.is_empty()).then(|| {
                HomeAgent::new(HomeAgentConfig {
                    address,
                    mobile_nodes: residents
                        .iter()
                        .map(|home| (topology.ip().v4(home.3), SecurityAssociation::default()))
                        .collect::<BTreeMap<_, _>>(),
                    max_lifetime_s,
                    replay_protection: replay_protection(entry),
                    reverse_tunnel: true,
                })
            });
            let foreign = foreign.map(|_| {
                ForeignAgent::new(ForeignAgentConfig {
                    care_of_address: address,
                    max_lifetime_s,
                    max_visitors: max_visitors.map(|visitors| visitors as usize),
                    reverse_tunnel: true,
                    pending_timeout: PENDING_TIMEOUT,
                })
            });
            let base_station = topology.node(cell.base_station).name.clone();
            let random = self.stream("mobile_ip", &base_station, &[&escaped(&cell.name), "agent"]);
            let place = (cell.base_station, number as u32, cell.broadcast);
            mobile_ip.add_agent(Agent::new(place, advertiser, home, foreign, random));
        }
        for (entry, name, station, home_address, home_cell) in homes {
            topology.set_primary(home_address);
            let place = &handovers.stations[station as usize];
            let config = self.mobile_node(
                entry,
                place,
                topology.ip(),
                [home_address, handovers.cells[home_cell as usize].broadcast],
            );
            let random = self.stream("mobile_ip", name, &["mobile node"]);
            mobile_ip.add_host(MobileHost::new((place.node, station, home_address), config, random));
        }
        mobile_ip
    }

    fn mobile_node(
        &self,
        entry: &Model,
        place: &StationPlace,
        ip: &IpAddresses,
        [home_address, home_agent]: [Address; 2],
    ) -> MobileNodeConfig {
        let &Model {
            name: _,
            mobile_nodes: _,
            home_agent: _,
            foreign_agents: _,
            // The agents' part, and that of `replay_protection` below.
            advertisement: _,
            registration:
                Registration {
                    lifetime,
                    retransmission,
                    max_retransmission,
                    replay_protection: _,
                    replay_window: _,
                    clock_ahead,
                },
            move_detection,
            solicitation,
            reverse_tunnel,
        } = entry;
        MobileNodeConfig {
            home_address: ip.v4(home_address),
            home_agent: ip.v4(home_agent),
            interfaces: place.cells.iter().map(|membership| Interface(membership.cell)).collect(),
            security: SecurityAssociation::default(),
            replay_protection: replay_protection(entry),
            clock_offset_ns: i64::try_from(clock_ahead.as_ns()).unwrap_or(i64::MAX),
            lifetime_s: seconds(lifetime),
            retransmission: Retransmission { initial: retransmission, maximum: max_retransmission },
            move_detection: match move_detection {
                DetectionModel::Lifetime => MoveDetection::Lifetime,
                DetectionModel::Prefix => MoveDetection::Prefix,
                DetectionModel::Eager => MoveDetection::Eager,
            },
            solicitation: solicitation.then(SolicitationConfig::default),
            reverse_tunnel,
        }
    }
}

fn replay_protection(entry: &Model) -> ReplayProtection {
    match entry.registration.replay_protection {
        ReplayModel::Timestamps => {
            ReplayProtection::Timestamps { tolerance: entry.registration.replay_window }
        }
        ReplayModel::Nonces => ReplayProtection::Nonces,
    }
}
