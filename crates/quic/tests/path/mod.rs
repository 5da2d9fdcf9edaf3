//! Two ends, and a path between them that takes 20 ms each way and loses datagrams by their number or size.

#![allow(dead_code)] // Each program of tests uses a part.

use roamsim_engine::{Span, Stream, Time};
use roamsim_network::socket::endpoint::{Arrival, Endpoint, EndpointEvent};
use roamsim_network::traffic_class::Ecn;
use roamsim_protocols::Address;
use roamsim_quic::{Crypto, Quic, Settings};
use std::collections::VecDeque;

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

/// When a datagram arrives, at which end, from and to which address and port.
type OnWay = (Time, usize, [(Address, u16); 2], Vec<u8>);

/// The ports of the two ends.
const PORTS: [u16; 2] = [4000, 443];

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
    /// The time of a way.
    pub one_way: Span,
    /// Datagrams from and to this address are lost.
    pub unreachable: Option<Address>,
    /// The client's smallest window so far.
    pub least_window: Option<u64>,
    /// Larger datagrams are lost.
    pub most_bytes: usize,
    /// Nothing reaches this end between these times.
    pub deaf: Option<(usize, Time, Time)>,
    /// The mark with which datagrams arrive.
    pub ecn: Ecn,
    /// The datagram of this number takes so much longer.
    pub late: Option<(usize, Span)>,
    on_way: VecDeque<OnWay>,
    pub now: Time,
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
            one_way: Span::from_ms(20),
            unreachable: None,
            least_window: None,
            most_bytes: usize::MAX,
            deaf: None,
            ecn: Ecn::NotCapable,
            late: None,
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
        self.deliver(to, [(source, self.port(1 - to)), (destination, self.port(to))], payload);
    }

    fn deliver(&mut self, to: usize, [source, destination]: [(Address, u16); 2], payload: &[u8]) {
        if self.deaf.is_some_and(|(end, from, until)| end == to && (from..until).contains(&self.now)) {
            return;
        }
        self.arrivals.push((self.now, to, destination.0));
        let (source, source_port) = source;
        let (destination, port) = destination;
        // A NAT passes on nothing to ports before.
        if port != self.port(to) {
            return;
        }
        let arrival = Arrival { source, source_port, destination, ecn: self.ecn, payload };
        self.ends[to].handle(self.now, &arrival);
    }

    /// The frames of a datagram with a short header (RFC 9000 section 17.3.1): a connection ID of 8 octets
    /// and a packet number of up to four, which nothing hides here, and the tag at the end.
    pub fn frames(&self, number: usize) -> &[u8] {
        let octets = &self.octets[number];
        assert!(octets[0] & 0x80 == 0, "a long header");
        &octets[1 + 8 + 1 + usize::from(octets[0] & 3)..octets.len() - 16]
    }

    /// The port by which an end is known.
    fn port(&self, end: usize) -> u16 {
        PORTS[end] + self.ends[end].rebindings(self.now) as u16
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
                self.deliver(to, ways, &payload);
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
                let is_unreachable = self
                    .unreachable
                    .is_some_and(|of| [transmit.source, transmit.destination].contains(&Some(of)));
                let is_too_large = transmit.payload.len() > self.most_bytes;
                if !is_too_large && !is_unreachable && !is_lost(self.sent.len(), self.now) {
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
                    let late = self.late.filter(|&(number, _)| number == self.sent.len());
                    let at = self.now + self.one_way + late.map_or(Span::ZERO, |(_, span)| span);
                    let ways =
                        [(own, self.port(end)), (to, transmit.destination_port.unwrap_or(PORTS[1 - end]))];
                    let place = self.on_way.partition_point(|&(before, ..)| before <= at);
                    self.on_way.insert(place, (at, 1 - end, ways, transmit.payload.clone()));
                }
                self.sent.push(Sent { at: self.now, end, bytes: transmit.payload.len() });
                self.octets.push(transmit.payload);
            }
            self.least_window = self.ends[0].cwnd_bytes().into_iter().chain(self.least_window).min();
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
