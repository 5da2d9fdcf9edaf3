//! Drives a mobile node, a home agent, a foreign agent and an advertiser with whatever an input says; for the
//! fuzzer and for a property test.
//!
//! The input's first octet chooses the settings; then come steps: an octet that says what happens, an octet
//! for how many tenths of a second later, and for a message its length and octets. Some steps hand octets in
//! as they are, some put them in the place of a message's fields, so that not everything ends as malformed.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use roamsim_engine::{Span, Stream, Time};
use roamsim_protocols::mobile_ip::mobile_node::Retransmission;
use roamsim_protocols::mobile_ip::wire::{AgentFlags, Extensions, RequestFlags, RouterAddress};
use roamsim_protocols::mobile_ip::{
    Advertiser, AdvertiserConfig, AgentAdvertisement, Arrival, Code, ForeignAgent, ForeignAgentConfig,
    HomeAgent, HomeAgentConfig, Interface, Message, MobileNode, MobileNodeConfig, MoveDetection, Pdu,
    ReplayProtection, Reply, Request, SecurityAssociation, SolicitationConfig,
};
use roamsim_protocols::{Context, Machine};

const HOME: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 100);
const HOME_AGENT: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);

fn take<'a>(input: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (taken, rest) = input.split_at_checked(count)?;
    *input = rest;
    Some(taken)
}

/// The address of the foreign agent `number`.
fn agent(number: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, number & 3, 0, 1)
}

fn advertisement(octets: &[u8; 8]) -> AgentAdvertisement {
    AgentAdvertisement {
        common_traffic: true,
        lifetime_s: u16::from(octets[0]),
        router_addresses: vec![RouterAddress { address: agent(octets[1]), preference: 0 }],
        sequence: u16::from_be_bytes([octets[2] & 1, octets[3]]),
        registration_lifetime_s: u16::from(octets[4]),
        flags: AgentFlags(u16::from(octets[5]) << 8),
        care_of_addresses: vec![agent(octets[1])],
        prefix_lengths: (octets[6] < 128).then_some(octets[6] % 33).into_iter().collect(),
    }
}

fn registration(octets: &[u8; 8], last: u64) -> Message {
    let identification =
        if octets[7] & 4 == 0 { last } else { last.wrapping_add(u64::from(octets[6]) << 28) };
    let mut message = if octets[7] & 1 == 0 {
        Message::Request(Request {
            flags: RequestFlags(octets[0]),
            lifetime_s: u16::from(octets[1]),
            home_address: HOME,
            home_agent: HOME_AGENT,
            care_of_address: if octets[2] > 250 { HOME } else { agent(octets[2]) },
            identification,
            extensions: Extensions::default(),
        })
    } else {
        Message::Reply(Reply {
            code: Code(octets[0]),
            lifetime_s: u16::from(octets[1]),
            home_address: HOME,
            home_agent: HOME_AGENT,
            identification,
            extensions: Extensions::default(),
        })
    };
    if octets[7] & 2 == 0 {
        SecurityAssociation::default().authenticate(&mut message);
    }
    message
}

/// Runs the input; `None` when it ended within a step.
pub fn run(mut input: &[u8]) -> Option<()> {
    let &[settings] = take(&mut input, 1)? else { return None };
    let replay_protection =
        if settings & 1 == 0 { ReplayProtection::default() } else { ReplayProtection::Nonces };
    let mut node = MobileNode::new(MobileNodeConfig {
        home_address: HOME,
        home_agent: HOME_AGENT,
        interfaces: vec![Interface(0)],
        security: SecurityAssociation::default(),
        replay_protection,
        clock_offset_ns: if settings & 2 == 0 { 0 } else { i64::MIN },
        lifetime_s: u16::from(settings),
        retransmission: Retransmission::default(),
        move_detection: [MoveDetection::Lifetime, MoveDetection::Prefix, MoveDetection::Eager]
            [usize::from(settings >> 2 & 3).min(2)],
        solicitation: (settings & 16 != 0).then(SolicitationConfig::default),
        reverse_tunnel: settings & 32 != 0,
    });
    let mut home = HomeAgent::new(HomeAgentConfig {
        address: HOME_AGENT,
        mobile_nodes: BTreeMap::from([(HOME, SecurityAssociation::default())]),
        max_lifetime_s: 100,
        replay_protection,
        reverse_tunnel: settings & 64 != 0,
    });
    let mut foreign = ForeignAgent::new(ForeignAgentConfig {
        care_of_address: agent(1),
        max_lifetime_s: 200,
        max_visitors: (settings & 128 != 0).then_some(1),
        reverse_tunnel: settings & 64 != 0,
        pending_timeout: Span::from_secs(7),
    });
    let mut advertiser = Advertiser::new(AdvertiserConfig {
        interface: Interface(0),
        address: agent(1),
        period: Span::from_secs(1),
        jitter: Span::from_ms(250),
        lifetime_s: 3,
        registration_lifetime_s: 100,
        home_agent: false,
        care_of_address: Some(agent(1)),
        reverse_tunnel: false,
        prefix_length: None,
    });
    let (mut now, mut random, mut last) = (Time::ZERO, Stream::new(0, 0, "fuzz"), 0);
    node.start(&mut Context { now, random: &mut random });
    advertiser.start(&mut Context { now, random: &mut random });
    while let Some(&[what, pause]) = take(&mut input, 2) {
        now += Span::from_ms(100 * u64::from(pause));
        let mut cx = Context { now, random: &mut random };
        let source = if what & 128 == 0 { agent(what >> 4) } else { HOME_AGENT };
        let arrival = Arrival { interface: Interface(0), source, source_port: 434, destination: agent(1) };
        match what % 8 {
            0 => {
                let &[length] = take(&mut input, 1)? else { return None };
                let length = usize::from(length).min(input.len());
                let octets = take(&mut input, length)?;
                node.handle_octets(&mut cx, octets);
                node.handle_icmp_octets(&mut cx, arrival, octets);
                home.handle_octets(&mut cx, arrival, octets);
                foreign.handle_octets(&mut cx, arrival, octets);
                advertiser.handle_icmp_octets(arrival, octets);
            }
            1 | 2 => {
                let advertisement = advertisement(take(&mut input, 8)?.try_into().ok()?);
                node.handle_icmp_octets(&mut cx, arrival, &advertisement.encode());
            }
            3 => {
                node.handle_registration(&mut cx, &registration(take(&mut input, 8)?.try_into().ok()?, last))
            }
            4 => {
                let message = registration(take(&mut input, 8)?.try_into().ok()?, last);
                foreign.handle_registration(&mut cx, arrival, &message);
            }
            5 => {
                let message = registration(take(&mut input, 8)?.try_into().ok()?, last);
                home.handle_registration(&mut cx, arrival, &message);
            }
            _ => advertiser.handle_solicitation(arrival),
        }
        node.handle_timeout(&mut cx);
        home.handle_timeout(&mut cx);
        foreign.handle_timeout(&mut cx);
        advertiser.handle_timeout(&mut cx);
        while node.poll_event().is_some() || home.poll_event().is_some() || foreign.poll_event().is_some() {}
        while advertiser.poll_transmit().is_some() || home.poll_transmit().is_some() {}
        while foreign.poll_transmit().is_some() {}
        while let Some(transmit) = node.poll_transmit() {
            if let Pdu::Registration { message: Message::Request(request), .. } = transmit.pdu {
                last = request.identification;
            }
        }
        let deadlines =
            [node.poll_timeout(), home.poll_timeout(), foreign.poll_timeout(), advertiser.poll_timeout()];
        assert!(deadlines.iter().flatten().all(|&at| at > now), "work that is due was left");
    }
    Some(())
}
