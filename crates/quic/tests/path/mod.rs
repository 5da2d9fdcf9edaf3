//! Two ends, and a path between them that takes 20 ms each way and loses datagrams by their number.

#![allow(dead_code)] // Each program of tests uses a part.

use roamsim_engine::{Span, Stream, Time};
use roamsim_network::socket::endpoint::{Arrival, Endpoint, EndpointEvent};
use roamsim_network::traffic_class::Ecn;
use roamsim_protocols::Address;
use roamsim_quic::{Crypto, Quic, Settings};
use std::collections::VecDeque;

pub const ONE_WAY: Span = Span::from_ms(20);

pub fn ms(ms: u64) -> Time {
    Time::ZERO + Span::from_ms(ms)
}

/// A datagram that an end has sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    pub at: Time,
    pub end: usize,
    pub bytes: usize,
}

/// When a datagram arrives, at which end, from and to which address.
type OnWay = (Time, usize, [Address; 2], Vec<u8>);

pub struct Path {
    pub ends: [Quic; 2],
    pub sent: Vec<Sent>,
    /// Their octets, in the same order.
    pub octets: Vec<Vec<u8>>,
    /// What each end has said, and when.
    pub events: Vec<(Time, usize, EndpointEvent)>,
    pub delivered_bytes: u64,
    /// When datagrams have come, to which end, and to which address of it.
    pub arrivals: Vec<(Time, usize, Address)>,
    /// The address that a NAT gives the client, and how many datagrams have come to it there.
    pub nat: Option<Address>,
    pub through_nat: usize,
    on_way: VecDeque<OnWay>,
    now: Time,
}

impl Path {
    pub fn new(crypto: [Crypto; 2], settings: &Settings) -> Path {
        Path::with_seed(crypto, settings, 7)
    }

    pub fn with_seed([client, server]: [Crypto; 2], settings: &Settings, seed: u64) -> Path {
        let end = |crypto, number| {
            let mut end = Quic::new(settings, crypto, Stream::new(seed, 0, "quic").child(number));
            end.on_path(1472);
            end
        };
        Path {
            ends: [end(client, 0), end(server, 1)],
            sent: Vec::new(),
            octets: Vec::new(),
            events: Vec::new(),
            delivered_bytes: 0,
            arrivals: Vec::new(),
            nat: None,
            through_nat: 0,
            on_way: VecDeque::new(),
            now: Time::ZERO,
        }
    }

    /// The client opens the connection, writes so many octets and closes.
    pub fn send(&mut self, bytes: u64) {
        self.ends[0].open();
        self.ends[0].write(bytes);
        self.ends[0].close();
    }

    /// When an end said this first.
    pub fn when(&self, end: usize, event: EndpointEvent) -> Option<Time> {
        self.events.iter().find(|&&(_, of, what)| (of, what) == (end, event)).map(|&(at, ..)| at)
    }

    /// A datagram from anywhere arrives at an end now.
    pub fn inject(&mut self, to: usize, [source, destination]: [Address; 2], payload: &[u8]) {
        self.arrivals.push((self.now, to, destination));
        let arrival = Arrival { source, source_port: 4000, destination, ecn: Ecn::NotCapable, payload };
        self.ends[to].handle(self.now, &arrival);
    }

    /// Runs until nothing is left to do, or 100 s are over; datagrams of these numbers are lost.
    pub fn run(&mut self, lost: &[usize]) {
        self.run_until(ms(100_000), &|number, _| lost.contains(&number));
    }

    /// The same until then; `is_lost` sees the number of a datagram, and when it is sent.
    pub fn run_until(&mut self, end: Time, is_lost: &dyn Fn(usize, Time) -> bool) {
        loop {
            for end in [0, 1] {
                self.serve(end, is_lost);
            }
            let deadlines = self.ends.iter().filter_map(|end| end.poll_timeout());
            let arrival = self.on_way.front().map(|&(at, ..)| at);
            let Some(next) = deadlines.chain(arrival).min().filter(|&next| next < end) else { break };
            self.now = self.now.max(next);
            while let Some((_, to, ways, payload)) = self.on_way.pop_front_if(|(at, ..)| *at <= self.now) {
                self.inject(to, ways, &payload);
            }
            for end in &mut self.ends {
                if end.poll_timeout().is_some_and(|deadline| deadline <= self.now) {
                    end.handle_timeout(self.now);
                }
            }
        }
        self.now = self.now.max(end);
    }

    fn serve(&mut self, end: usize, is_lost: &dyn Fn(usize, Time) -> bool) {
        loop {
            while let Some(transmit) = self.ends[end].poll_transmit(self.now) {
                if !is_lost(self.sent.len(), self.now) {
                    let mut own = transmit.source.unwrap_or(Address(end as u32));
                    let mut to = transmit.destination.unwrap_or(Address(1 - end as u32));
                    if let Some(nat) = self.nat {
                        if end == 0 {
                            own = nat;
                        } else if to == nat {
                            to = Address(0);
                            self.through_nat += 1;
                        }
                    }
                    let at = self.now + ONE_WAY;
                    self.on_way.push_back((at, 1 - end, [own, to], transmit.payload.clone()));
                }
                self.sent.push(Sent { at: self.now, end, bytes: transmit.payload.len() });
                self.octets.push(transmit.payload);
            }
            let Some(event) = self.ends[end].poll_event() else { return };
            self.events.push((self.now, end, event));
            match event {
                EndpointEvent::Received { up_to } => self.delivered_bytes = up_to,
                // As the sink of a flow does.
                EndpointEvent::RemoteClosed => self.ends[end].close(),
                _ => {}
            }
        }
    }
}
