//! A mobility agent's part in agent discovery on one link (RFC 5944 section 2.3): it advertises periodically,
//! and answers solicitations.

use std::collections::VecDeque;
use std::net::Ipv4Addr;

use roamsim_engine::{Span, Time};

use super::stats::Rejections;
use super::wire::{AgentAdvertisement, AgentFlags, AgentSolicitation, RouterAddress};
use super::{Arrival, Interface, Pdu, Transmit};
use crate::{Context, Machine};

/// Where advertisements and solicitations go: the limited broadcast, which RFC 1256 (sections 4.1 and 5.1)
/// and RFC 5944 (section 2.1) allow beside the multicast addresses.
pub const ALL_ON_LINK: Ipv4Addr = Ipv4Addr::BROADCAST;

/// The last sequence number, and the one that follows it (section 2.3.2).
const LAST_SEQUENCE: u16 = 0xffff;
const SEQUENCE_AFTER_ROLLOVER: u16 = 256;

/// What an agent advertises on a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdvertiserConfig {
    /// The link.
    pub interface: Interface,
    /// The agent's address on the link: source and router address of its advertisements.
    pub address: Ipv4Addr,
    /// The longest time between advertisements (RFC 1256's MaxAdvertisementInterval).
    pub period: Span,
    /// How much shorter the time may be: each is drawn uniformly from [period - jitter, period].
    pub jitter: Span,
    /// How long an advertisement holds, in seconds.
    pub lifetime_s: u16,
    /// The longest registration that the agent takes, in seconds.
    pub registration_lifetime_s: u16,
    /// H: it is a home agent.
    pub home_agent: bool,
    /// F: it is a foreign agent, with this care-of address.
    pub care_of_address: Option<Ipv4Addr>,
    /// T: it supports reverse tunnels.
    pub reverse_tunnel: bool,
    /// The length of the link's prefix, for the prefix-lengths extension; `None` leaves the extension out.
    pub prefix_length: Option<u8>,
}

/// The machine.
#[derive(Clone, Debug)]
pub struct Advertiser {
    config: AdvertiserConfig,
    next: Option<Time>,
    sequence: u16,
    busy: bool,
    /// Advertisements sent.
    pub advertisements_sent: u64,
    /// Solicitations received.
    pub solicitations_received: u64,
    rejections: Rejections,
    outbox: VecDeque<Transmit>,
}

impl Advertiser {
    /// One that is silent until it is started.
    pub fn new(config: AdvertiserConfig) -> Advertiser {
        Advertiser {
            config,
            next: None,
            sequence: 0,
            busy: false,
            advertisements_sent: 0,
            solicitations_received: 0,
            rejections: Rejections::default(),
            outbox: VecDeque::new(),
        }
    }

    /// Begins to advertise: for the first time at an instant drawn uniformly from one period, so that agents
    /// that start together do not stay together.
    pub fn start(&mut self, cx: &mut Context<'_>) {
        self.next = Some(cx.now + Span::from_ns(cx.random.below(self.config.period.as_ns())));
    }

    /// Sets the B flag: a foreign agent that takes no more visitors must go on to advertise (section 2.1.1).
    pub fn set_busy(&mut self, busy: bool) {
        self.busy = busy;
    }

    /// What it was told to advertise.
    pub fn config(&self) -> &AdvertiserConfig {
        &self.config
    }

    /// Messages that were not taken.
    pub fn rejections(&self) -> &Rejections {
        &self.rejections
    }

    /// A solicitation has come: the answer goes to the mobile node alone (RFC 1256 section 4.3 allows it), at
    /// once.
    pub fn handle_solicitation(&mut self, arrival: Arrival) {
        self.solicitations_received += 1;
        self.advertise(arrival.source);
    }

    /// The same with octets.
    pub fn handle_icmp_octets(&mut self, arrival: Arrival, octets: &[u8]) {
        match AgentSolicitation::decode(octets) {
            Ok(AgentSolicitation) => self.handle_solicitation(arrival),
            Err(error) => self.rejections.add(error.into()),
        }
    }

    fn advertise(&mut self, destination: Ipv4Addr) {
        let config = &self.config;
        let advertisement = AgentAdvertisement {
            common_traffic: true,
            lifetime_s: config.lifetime_s,
            router_addresses: vec![RouterAddress { address: config.address, preference: 0 }],
            sequence: self.sequence,
            registration_lifetime_s: config.registration_lifetime_s,
            flags: AgentFlags::default()
                .with(AgentFlags::HOME_AGENT, config.home_agent)
                .with(AgentFlags::FOREIGN_AGENT, config.care_of_address.is_some())
                .with(AgentFlags::BUSY, self.busy && config.care_of_address.is_some())
                .with(AgentFlags::REVERSE_TUNNEL, config.reverse_tunnel),
            care_of_addresses: config.care_of_address.into_iter().collect(),
            prefix_lengths: config.prefix_length.into_iter().collect(),
        };
        self.sequence = match self.sequence {
            LAST_SEQUENCE => SEQUENCE_AFTER_ROLLOVER,
            sequence => sequence + 1,
        };
        self.advertisements_sent += 1;
        self.outbox.push_back(Transmit {
            interface: Some(config.interface),
            source: config.address,
            destination,
            pdu: Pdu::Advertisement(advertisement),
        });
    }

    /// The next packet.
    pub fn poll_transmit(&mut self) -> Option<Transmit> {
        self.outbox.pop_front()
    }
}

impl Machine for Advertiser {
    fn poll_timeout(&self) -> Option<Time> {
        self.next
    }

    fn handle_timeout(&mut self, cx: &mut Context<'_>) {
        if self.next.is_some_and(|next| next <= cx.now) {
            self.advertise(ALL_ON_LINK);
            let shortened = Span::from_ns(cx.random.below(self.config.jitter.as_ns() + 1));
            // A period of zero is refused by whoever configures; here it must not stop the time.
            let interval = self.config.period.saturating_sub(shortened).max(Span::from_ns(1));
            self.next = Some(cx.now + interval);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use roamsim_engine::Stream;

    fn advertiser(jitter: Span) -> Advertiser {
        Advertiser::new(AdvertiserConfig {
            interface: Interface(3),
            address: Ipv4Addr::new(10, 0, 0, 1),
            period: Span::from_secs(1),
            jitter,
            lifetime_s: 3,
            registration_lifetime_s: 300,
            home_agent: true,
            care_of_address: None,
            reverse_tunnel: false,
            prefix_length: Some(24),
        })
    }

    fn instants(advertiser: &mut Advertiser, count: usize) -> Vec<Time> {
        let mut random = Stream::new(1, 0, "advertiser");
        advertiser.start(&mut Context { now: Time::ZERO, random: &mut random });
        (0..count)
            .map(|_| {
                let now = advertiser.poll_timeout().expect("it goes on");
                advertiser.handle_timeout(&mut Context { now, random: &mut random });
                now
            })
            .collect()
    }

    #[test]
    fn intervals_are_uniform_between_period_less_jitter_and_period() {
        let instants = instants(&mut advertiser(Span::from_ms(400)), 20_000);
        assert!(instants[0] < Time::ZERO + Span::from_secs(1));
        let intervals: Vec<f64> = instants.windows(2).map(|pair| (pair[1] - pair[0]).as_secs_f64()).collect();
        assert!(intervals.iter().all(|&s| (0.6..=1.0).contains(&s)));
        let mean = intervals.iter().sum::<f64>() / intervals.len() as f64;
        // Uniform on [0.6, 1]: mean 0.8, standard error 0.4 / sqrt(12) / sqrt(19999) = 0.0008; four of them.
        assert!((mean - 0.8).abs() < 0.0033, "{mean}");
    }

    #[test]
    fn sequence_numbers_start_at_0_and_roll_over_to_256() {
        let mut advertiser = advertiser(Span::ZERO);
        instants(&mut advertiser, 0x1_0001);
        let sequences: Vec<u16> = std::iter::from_fn(|| advertiser.poll_transmit())
            .map(|transmit| match transmit.pdu {
                Pdu::Advertisement(advertisement) => advertisement.sequence,
                _ => unreachable!("it only advertises"),
            })
            .collect();
        assert_eq!(sequences[..2], [0, 1]);
        assert_eq!(sequences[0xfffe..], [0xfffe, 0xffff, 256]);
    }
}
