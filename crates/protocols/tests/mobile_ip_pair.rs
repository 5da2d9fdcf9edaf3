//! A mobile node, its home agent and two foreign agents, with a network between them that delays, loses,
//! repeats and reorders: whatever happens, the home agent's binding ends where the mobile node is.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use proptest::prelude::*;
use roamsim_engine::{Span, Stream, Time};
use roamsim_protocols::mobile_ip::mobile_node::Retransmission;
use roamsim_protocols::mobile_ip::{
    Advertiser, AdvertiserConfig, Arrival, ForeignAgent, ForeignAgentConfig, HomeAgent, HomeAgentConfig,
    Interface, MobileNode, MobileNodeConfig, MoveDetection, Pdu, ReplayProtection, SecurityAssociation,
    SolicitationConfig, Transmit,
};
use roamsim_protocols::{Context, Machine};

const HOME: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 100);
/// The agent of each cell: the home agent, and two foreign agents.
const AGENTS: [Ipv4Addr; 3] =
    [Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 1, 0, 1), Ipv4Addr::new(10, 2, 0, 1)];

struct Net {
    now: Time,
    random: Stream,
    node: MobileNode,
    home: HomeAgent,
    foreign: [ForeignAgent; 2],
    advertisers: [Advertiser; 3],
    /// Cells that the mobile node is in.
    heard: [bool; 3],
    /// Packets on their way, by arrival.
    flying: BTreeMap<(Time, u64), Transmit>,
    sent: u64,
    loss: f64,
}

impl Net {
    fn new(detection: MoveDetection, replay: ReplayProtection, loss: f64, seed: u64, lifetime_s: u16) -> Net {
        let security = SecurityAssociation::default();
        let foreign = |number: usize| {
            ForeignAgent::new(ForeignAgentConfig {
                care_of_address: AGENTS[number],
                max_lifetime_s: 300,
                max_visitors: None,
                reverse_tunnel: true,
                pending_timeout: Span::from_secs(7),
            })
        };
        let advertiser = |number: usize| {
            Advertiser::new(AdvertiserConfig {
                interface: Interface(number as u32),
                address: AGENTS[number],
                period: Span::from_secs(1),
                jitter: Span::from_ms(250),
                lifetime_s: 3,
                registration_lifetime_s: 300,
                home_agent: number == 0,
                care_of_address: (number > 0).then_some(AGENTS[number]),
                reverse_tunnel: true,
                prefix_length: Some(24),
            })
        };
        let mut net = Net {
            now: Time::ZERO,
            random: Stream::new(seed, 0, "net"),
            node: MobileNode::new(MobileNodeConfig {
                home_address: HOME,
                home_agent: AGENTS[0],
                interfaces: vec![Interface(0), Interface(1), Interface(2)],
                security,
                replay_protection: replay,
                clock_offset_ns: 3_000_000_000_000,
                lifetime_s,
                retransmission: Retransmission::default(),
                move_detection: detection,
                solicitation: Some(SolicitationConfig::default()),
                reverse_tunnel: true,
            }),
            home: HomeAgent::new(HomeAgentConfig {
                address: AGENTS[0],
                mobile_nodes: BTreeMap::from([(HOME, security)]),
                max_lifetime_s: 600,
                replay_protection: replay,
                reverse_tunnel: true,
            }),
            foreign: [foreign(1), foreign(2)],
            advertisers: [advertiser(0), advertiser(1), advertiser(2)],
            heard: [true, false, false],
            flying: BTreeMap::new(),
            sent: 0,
            loss,
        };
        let mut cx = Context { now: net.now, random: &mut net.random };
        net.node.start(&mut cx);
        net.advertisers.iter_mut().for_each(|advertiser| advertiser.start(&mut cx));
        net
    }

    fn send(&mut self, transmit: Transmit) {
        for _ in 0..2 {
            let delay = Span::from_ms(5 + self.random.below(80));
            if !self.random.bernoulli(self.loss) {
                self.sent += 1;
                self.flying.insert((self.now + delay, self.sent), transmit.clone());
            }
            // Now and then a packet comes twice.
            if !self.random.bernoulli(self.loss / 4.0) {
                break;
            }
        }
    }

    fn collect(&mut self) {
        let mut packets = Vec::new();
        packets.extend(std::iter::from_fn(|| self.node.poll_transmit()));
        packets.extend(std::iter::from_fn(|| self.home.poll_transmit()));
        for agent in &mut self.foreign {
            packets.extend(std::iter::from_fn(|| agent.poll_transmit()));
        }
        for advertiser in &mut self.advertisers {
            packets.extend(std::iter::from_fn(|| advertiser.poll_transmit()));
        }
        while self.node.poll_event().is_some() {}
        for transmit in packets {
            self.send(transmit);
        }
    }

    fn deliver(&mut self, transmit: Transmit) {
        // Over the radio only where the mobile node is now.
        if transmit.interface.is_some_and(|interface| !self.heard[interface.0 as usize]) {
            return;
        }
        let mut cx = Context { now: self.now, random: &mut self.random };
        let interface = transmit.interface.unwrap_or(Interface(99));
        let arrival = Arrival {
            interface,
            source: transmit.source,
            source_port: 434,
            destination: transmit.destination,
        };
        match transmit.pdu {
            Pdu::Advertisement(advertisement) => {
                self.node.handle_advertisement(&mut cx, arrival, &advertisement)
            }
            Pdu::Solicitation => self.advertisers[interface.0 as usize].handle_solicitation(arrival),
            Pdu::Registration { message, .. } => {
                match AGENTS.iter().position(|&agent| agent == transmit.destination) {
                    Some(0) => self.home.handle_registration(&mut cx, arrival, &message),
                    Some(agent) => self.foreign[agent - 1].handle_registration(&mut cx, arrival, &message),
                    None => self.node.handle_registration(&mut cx, &message),
                }
            }
        }
    }

    fn run_until(&mut self, until: Time) {
        loop {
            self.collect();
            let mut deadlines = vec![self.node.poll_timeout(), self.home.poll_timeout()];
            deadlines.extend(self.foreign.iter().map(Machine::poll_timeout));
            deadlines.extend(self.advertisers.iter().map(Machine::poll_timeout));
            deadlines.push(self.flying.keys().next().map(|&(at, _)| at));
            let Some(next) = deadlines.into_iter().flatten().min().filter(|&next| next <= until) else {
                break;
            };
            self.now = next;
            while let Some(entry) = self.flying.first_entry()
                && entry.key().0 <= next
            {
                let transmit = entry.remove();
                self.deliver(transmit);
            }
            let mut cx = Context { now: next, random: &mut self.random };
            self.node.handle_timeout(&mut cx);
            self.home.handle_timeout(&mut cx);
            self.foreign.iter_mut().for_each(|agent| agent.handle_timeout(&mut cx));
            self.advertisers.iter_mut().for_each(|advertiser| advertiser.handle_timeout(&mut cx));
        }
        self.now = until;
    }

    /// The mobile node walks into a cell; for an overlap's time it is in the old one too.
    fn walk(&mut self, to: usize, overlap: Span, stay: Span) {
        self.heard[to] = true;
        self.run_until(self.now + overlap);
        self.heard = [false; 3];
        self.heard[to] = true;
        self.run_until(self.now + stay);
    }

    fn assert_reachable(&self, cell: usize) {
        let agent = self.node.current_agent().expect("an agent is heard");
        assert_eq!(agent.address, AGENTS[cell]);
        let binding = self.home.binding(HOME);
        if cell == 0 {
            assert_eq!(binding, None, "at home there is no binding");
            return;
        }
        assert_eq!(binding.map(|binding| binding.care_of_address), Some(AGENTS[cell]));
        let visitor = self.foreign[cell - 1].visitor(HOME).expect("the foreign agent knows its visitor");
        assert_eq!(visitor.interface, Interface(cell as u32));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn the_binding_follows_the_mobile_node(
        seed: u64,
        loss in 0.0..0.3f64,
        detection in prop_oneof![
            Just(MoveDetection::Lifetime), Just(MoveDetection::Prefix), Just(MoveDetection::Eager),
        ],
        nonces: bool,
        walks in prop::collection::vec((0..3usize, 0..4000u64), 1..6),
        lifetime_s in 5..300u16,
    ) {
        let replay = if nonces { ReplayProtection::Nonces } else { ReplayProtection::default() };
        let mut net = Net::new(detection, replay, loss, seed, lifetime_s);
        for (to, overlap_ms) in walks {
            net.walk(to, Span::from_ms(overlap_ms), Span::from_secs(60));
        }
        // Losses cease: within the longest timeout and half a lifetime everything is as it should be.
        net.loss = 0.0;
        net.run_until(net.now + Span::from_secs(250));
        let cell = net.heard.iter().position(|&heard| heard).expect("it is somewhere");
        net.assert_reachable(cell);
    }
}

#[test]
fn a_handover_without_loss_takes_as_long_as_its_signalling() {
    let mut net = Net::new(MoveDetection::Eager, ReplayProtection::default(), 0.0, 1, 300);
    net.walk(0, Span::ZERO, Span::from_secs(10));
    net.assert_reachable(0);
    // Eagerly: at most a period of 1 s and 0.085 s until it is heard; then four times at most 0.085 s with a
    // clock that is right, and as much again because this one is not.
    net.walk(1, Span::from_secs(2), Span::ZERO);
    net.assert_reachable(1);
    assert_eq!(net.node.stats().refused.values().sum::<u64>(), 1, "the clock was set once");
    net.walk(2, Span::from_ms(1500), Span::ZERO);
    net.assert_reachable(2);
    // An agent is newly heard when its last advertisement, of 3 s, is over.
    net.run_until(net.now + Span::from_secs(3));
    net.walk(0, Span::from_ms(1500), Span::ZERO);
    net.assert_reachable(0);
    assert_eq!(net.node.stats().retransmissions, 0);
}
