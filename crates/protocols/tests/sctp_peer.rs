//! An association and another implementation of SCTP, `sctp-proto`, by their octets: over a path with losses,
//! duplicates, packets that overtake each other and an outage, from handshake to shutdown.
//!
//! The peer draws its tags and its first TSN from the system, so runs differ a little. What is asserted holds
//! for all of them: every octet of every message arrives, and both ends are closed in the end.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use roamsim_engine::{Span, Stream, Time};
use roamsim_protocols::sctp::{
    Association, Chunk, Config, Event, Path, Refused, Reliability, Rules, State, wire,
};
use roamsim_protocols::{Address, Context, Machine};
use sctp_proto::{
    AssociationHandle, ClientConfig, DatagramEvent, Endpoint, EndpointConfig, Payload,
    PayloadProtocolIdentifier,
    ReliabilityType::{Reliable, Rexmit, Timed},
    ServerConfig, StreamEvent, TransportConfig,
};

const PORT: u16 = 5000;
const PATH: Path = Path { local: Address(1), remote: Address(2) };
/// Its messages bear the U bit.
const UNORDERED: u16 = 3;

/// Messages by stream.
type Messages = BTreeMap<u16, Vec<Vec<u8>>>;

/// Which end does something.
#[derive(Clone, Copy, PartialEq, Debug)]
enum End {
    Ours,
    Peer,
}

/// The other implementation.
struct Peer {
    endpoint: Endpoint,
    association: Option<(AssociationHandle, sctp_proto::Association)>,
    begun: Instant,
    is_connected: bool,
    /// SHUTDOWN COMPLETE has left, and it does not say that it is closed.
    has_completed: bool,
    got: Messages,
}

impl Peer {
    #[expect(clippy::disallowed_methods, reason = "the peer's instants count from one of the clock")]
    fn new(packet_bytes: u32) -> Peer {
        let transport = Arc::new(TransportConfig::default().with_local_port(PORT).with_remote_port(PORT));
        let mut server = ServerConfig::default();
        server.transport = transport;
        let mut config = EndpointConfig::new();
        config.max_payload_size(packet_bytes - 28);
        Peer {
            endpoint: Endpoint::new(Arc::new(config), Some(Arc::new(server))),
            association: None,
            begun: Instant::now(),
            is_connected: false,
            has_completed: false,
            got: Messages::new(),
        }
    }

    fn instant(&self, now: Time) -> Instant {
        self.begun + Duration::from_nanos(now.as_ns())
    }

    fn connect(&mut self) {
        let transport = Arc::new(TransportConfig::default().with_local_port(PORT).with_remote_port(PORT));
        let mut config = ClientConfig::default();
        config.transport = transport;
        self.association = Some(self.endpoint.connect(config, remote()).expect("the ports are not zero"));
    }

    /// What leaves now.
    fn transmit(&mut self, now: Time) -> Vec<Vec<u8>> {
        let mut packets = Vec::new();
        let now = self.instant(now);
        let mut take = |payload| match payload {
            Payload::RawEncode(octets) => packets.extend(octets.iter().map(|octets| octets.to_vec())),
            Payload::PartialDecode(_) => panic!("what leaves is octets"),
        };
        while let Some(transmit) = self.endpoint.poll_transmit() {
            take(transmit.payload);
        }
        if let Some((_, association)) = &mut self.association {
            while let Some(transmit) = association.poll_transmit(now) {
                take(transmit.payload);
            }
        }
        self.has_completed |= packets.iter().any(|octets| {
            let chunks = wire::decode(octets, true).expect("the peer's packets are well-formed").0.chunks;
            matches!(chunks[..], [Chunk::ShutdownComplete { .. }])
        });
        packets
    }

    fn handle(&mut self, now: Time, octets: Vec<u8>) {
        let now = self.instant(now);
        match (self.endpoint.handle(now, remote(), None, None, octets.into()), &mut self.association) {
            (Some((handle, DatagramEvent::NewAssociation(new))), association) => {
                *association = Some((handle, new));
            }
            (Some((_, DatagramEvent::AssociationEvent(event))), Some((_, association))) => {
                association.handle_event(event);
            }
            _ => {}
        }
        self.read();
    }

    /// The messages that have arrived.
    fn read(&mut self) {
        let Some((_, association)) = &mut self.association else { return };
        while let Some(event) = association.poll() {
            match event {
                sctp_proto::Event::Connected => self.is_connected = true,
                sctp_proto::Event::Stream(StreamEvent::Readable { id }) => {
                    while let Ok(Some(chunks)) = association.stream(id).and_then(|mut stream| stream.read()) {
                        let mut message = vec![0; chunks.len()];
                        chunks.read(&mut message).expect("there is room for the message");
                        self.got.entry(id).or_default().push(message);
                    }
                }
                _ => {}
            }
        }
    }

    /// Writes the messages; if they are `partial`, those of streams 1 to 3 may be given up.
    fn write(&mut self, messages: &Messages, partial: bool) {
        let Some((_, association)) = &mut self.association else { return };
        let protocol = PayloadProtocolIdentifier::Binary;
        for (&id, messages) in messages {
            if association.stream(id).is_err() {
                association.open_stream(id, protocol).expect("the stream is there once");
            }
            let mut stream = association.stream(id).expect("the stream was opened");
            let (kind, most) = [(Reliable, 0), (Timed, 300), (Rexmit, 0), (Rexmit, 1)][usize::from(id)];
            if partial {
                stream.set_reliability_params(false, kind, most).expect("the stream was opened");
            }
            for message in messages {
                assert_eq!(stream.write_with_ppi(message, protocol).ok(), Some(message.len()));
            }
        }
    }
}

fn remote() -> SocketAddr {
    (Ipv4Addr::new(10, 0, 0, 1), PORT).into()
}

/// Our end, with the octets of what it sends and gets.
struct Ours {
    association: Association,
    /// What it sends, by the TSN of its chunks: only lengths are known to the association.
    sent: BTreeMap<u32, Vec<u8>>,
    written: Messages,
    /// The messages that are under way, by stream, and how far: chunks leave in the order of their TSNs.
    next: BTreeMap<u16, (usize, usize)>,
    came: BTreeMap<u32, Vec<u8>>,
    got: Messages,
    is_shut_down: bool,
}

impl Ours {
    /// The octets of a packet that leaves.
    fn encode(&mut self, packet: &roamsim_protocols::sctp::Packet) -> Vec<u8> {
        let mut payload = Vec::new();
        for data in packet.data() {
            let octets = self.sent.entry(data.tsn).or_insert_with(|| {
                let (message, from) = self.next.entry(data.stream).or_default();
                if data.beginning {
                    (*message, *from) = (data.protocol as usize, 0);
                }
                let end = *from + usize::from(data.payload_bytes);
                let whole = &self.written[&data.stream][*message];
                assert_eq!((data.beginning, data.ending), (*from == 0, end == whole.len()));
                let octets = whole[*from..end].to_vec();
                *from = end;
                octets
            });
            payload.extend_from_slice(octets);
        }
        let mut octets = Vec::new();
        wire::encode(packet, &payload, &mut octets);
        octets
    }

    fn handle(&mut self, cx: &mut Context<'_>, octets: &[u8]) {
        let (packet, payload) = wire::decode(octets, true).expect("the peer's packets are well-formed");
        let mut payload = &payload[..];
        for data in packet.data() {
            let (octets, rest) = payload.split_at(usize::from(data.payload_bytes));
            assert_eq!(self.came.entry(data.tsn).or_insert_with(|| octets.to_vec()), octets);
            payload = rest;
        }
        self.association.handle_octets(cx, PATH, octets);
    }

    /// The messages that have arrived.
    fn read(&mut self) {
        while let Some(event) = self.association.poll_event() {
            let Event::Received(message) = event else {
                self.is_shut_down = event == Event::Closed;
                continue;
            };
            let mut octets = Vec::new();
            let mut tsn = message.tsn;
            while (octets.len() as u64) < message.bytes {
                octets.extend_from_slice(&self.came[&tsn]);
                tsn = tsn.wrapping_add(1);
            }
            assert_eq!(octets.len() as u64, message.bytes);
            self.got.entry(message.stream).or_default().push(octets);
        }
    }
}

/// Messages of up to 40 kB on some streams.
fn draw_messages(random: &mut Stream) -> Messages {
    let mut messages = Messages::new();
    for stream in 0..=UNORDERED {
        for _ in 0..random.below(8) {
            let most = [10, 1500, 10_000, 40_000][random.below(4) as usize];
            let octets = (0..=random.below(most)).map(|_| random.next_u64() as u8).collect();
            messages.entry(stream).or_default().push(octets);
        }
    }
    messages
}

fn draw_config(random: &mut Stream) -> Config {
    let one_of = |random: &mut Stream, spans: [u64; 2]| Span::from_ms(spans[random.below(2) as usize]);
    Config {
        rules: if random.bernoulli(0.3) { Rules::Rfc2960 } else { Rules::Rfc9260 },
        packet_bytes: [600, 1180, 1460][random.below(3) as usize],
        receive_window_bytes: [50_000, 1_000_000][random.below(2) as usize],
        rto_min: one_of(random, [300, 1000]),
        sack_frequency: 1 + random.below(3) as u32,
        delayed_ack: random.bernoulli(0.7).then(|| one_of(random, [50, 200])),
        heartbeat_interval: random.bernoulli(0.5).then(|| Span::from_ms(700)),
        dynamic_addresses: random.bernoulli(0.5),
        fast_retransmit_in_recovery: random.bernoulli(0.5),
        ..Config::default()
    }
}

/// A transfer both ways; it ends with both ends closed. If it is `partial`, messages may be given up either
/// way: how many did not arrive.
fn transfer(number: u64, partial: bool) -> usize {
    let mut random = Stream::new(number, 0, "sctp peer");
    let config = Config { partial_reliability: partial, ..draw_config(&mut random) };
    let [written, of_peer] = [draw_messages(&mut random), draw_messages(&mut random)];
    let [opens, closes] = [(); 2].map(|()| if random.bernoulli(0.5) { End::Ours } else { End::Peer });
    let loss = random.uniform() * if partial { 0.2 } else { 0.05 };
    let outage = (Time::from_ns(100_000_000), Time::from_ns(100_000_000 + random.below(700) * 1_000_000));

    let (tag, tsn) = (random.next_u64() as u32, u32::MAX - random.below(20) as u32);
    let association = Association::new(&config, &[PATH.local], PORT, &[PATH.remote], PORT, tag, tsn);
    let mut ours = Ours {
        association,
        sent: BTreeMap::new(),
        written,
        next: BTreeMap::new(),
        came: BTreeMap::new(),
        got: Messages::new(),
        is_shut_down: false,
    };
    let mut peer = Peer::new(config.packet_bytes);
    match opens {
        End::Ours => assert!(ours.association.open()),
        End::Peer => {
            ours.association.listen();
            peer.connect();
        }
    }
    for (&stream, messages) in &ours.written {
        for (number, message) in messages.iter().enumerate() {
            let reliability = match stream {
                _ if !partial => Reliability::Full,
                0 => Reliability::Full,
                1 => Reliability::Until(Time::from_ns(400_000_000)),
                _ => Reliability::Retransmissions(u32::from(stream) - 2),
            };
            let (bytes, unordered) = (message.len() as u64, stream == UNORDERED);
            assert!(ours.association.send_partially(stream, bytes, number as u32, unordered, reliability));
        }
    }

    let mut flights: BTreeMap<(Time, u64), (End, Vec<u8>)> = BTreeMap::new();
    let (mut now, mut packets, mut has_written, mut closing) = (Time::ZERO, 0, false, false);
    loop {
        let mut leaving = Vec::new();
        let mut cx = Context { now, random: &mut random };
        while let Some((_, packet)) = ours.association.poll_transmit(&mut cx) {
            // Where the first SHUTDOWN COMPLETE is lost, one with the T bit answers for the association that
            // is gone (RFC 9260 8.4); the peer does not know it.
            peer.has_completed |=
                matches!(packet.chunks[..], [Chunk::ShutdownComplete { reflected_tag: true }]);
            leaving.push((End::Peer, ours.encode(&packet)));
        }
        leaving.extend(peer.transmit(now).into_iter().map(|octets| (End::Ours, octets)));
        for (to, octets) in leaving {
            packets += 1;
            if random.bernoulli(loss) || (outage.0..outage.1).contains(&now) {
                continue;
            }
            for _ in 0..=u32::from(random.bernoulli(0.01)) {
                let at = now + Span::from_ms(20) + Span::from_ns(random.below(5_000_000));
                flights.insert((at, flights.len() as u64 + packets * 1000), (to, octets.clone()));
            }
        }

        let is_closed = peer.has_completed
            || peer.association.as_ref().is_some_and(|(_, association)| association.is_closed());
        if ours.association.state() == State::Closed && is_closed {
            break;
        }
        let due = peer.association.as_ref().and_then(|(_, association)| association.poll_timeout());
        let due = due.map(|at| Time::from_ns(at.saturating_duration_since(peer.begun).as_nanos() as u64));
        let deadlines = [ours.association.poll_timeout(), due, flights.keys().next().map(|&(at, _)| at)];
        let next = deadlines.into_iter().flatten().min();
        now = next.unwrap_or_else(|| panic!("transfer {number} stands still at {now:?}")).max(now);
        assert!(now < Time::from_ns(900_000_000_000), "transfer {number} does not end");

        let mut cx = Context { now, random: &mut random };
        match flights.first_entry().filter(|first| first.key().0 <= now) {
            Some(first) => match first.remove() {
                (End::Ours, octets) => ours.handle(&mut cx, &octets),
                (End::Peer, octets) => peer.handle(now, octets),
            },
            None => {
                ours.association.handle_timeout(&mut cx);
                let instant = peer.instant(now);
                if let Some((_, association)) = &mut peer.association {
                    association.handle_timeout(instant);
                }
                peer.read();
            }
        }
        ours.read();
        if peer.is_connected && !has_written {
            has_written = true;
            peer.write(&of_peer, partial);
        }
        let count = |messages: &Messages| messages.values().map(Vec::len).sum::<usize>();
        // What the peer has neither got through nor given up.
        let left = peer.association.as_mut().map_or(0, |(_, association)| {
            of_peer
                .keys()
                .filter_map(|&id| association.stream(id).ok()?.buffered_amount().ok())
                .sum::<usize>()
        });
        let is_done = if partial {
            has_written && left == 0 && ours.association.is_drained()
        } else {
            has_written
                && (count(&ours.got), count(&peer.got)) == (count(&of_peer), count(&ours.written))
                && ours.association.is_drained()
        };
        if is_done && !closing {
            closing = true;
            match (closes, &mut peer.association) {
                (End::Peer, Some((_, association))) => {
                    association.shutdown().expect("the association is established");
                }
                _ => ours.association.close(),
            }
        }
    }

    for got in [&mut ours.got, &mut peer.got] {
        got.entry(UNORDERED).or_default().sort();
    }
    let mut missing = 0;
    for (mut sent, got) in [of_peer.clone(), ours.written.clone()].into_iter().zip([&ours.got, &peer.got]) {
        sent.entry(UNORDERED).or_default().sort();
        if partial {
            assert_eq!(sent.get(&0), got.get(&0), "transfer {number}: a reliable stream");
            missing += sent.iter().map(|(id, sent)| left_out(sent, got.get(id), number)).sum::<usize>();
        } else {
            assert!(sent == *got, "transfer {number}: other octets arrive");
        }
    }
    assert!(ours.is_shut_down, "transfer {number}");
    // But for what comes when it is gone.
    let refused = ours.association.stats().refused;
    assert_eq!(refused, Refused { closed: refused.closed, ..Refused::default() }, "transfer {number}");
    missing
}

/// Of the messages sent those that did not arrive; the others must have, in their order.
fn left_out(sent: &[Vec<u8>], got: Option<&Vec<Vec<u8>>>, number: u64) -> usize {
    let mut got = got.into_iter().flatten().peekable();
    let missing = sent.iter().filter(|message| got.next_if_eq(message).is_none()).count();
    assert_eq!(got.next(), None, "transfer {number}: other octets arrive");
    missing
}

#[test]
fn two_hundred_transfers_both_ways_arrive_and_end_closed() {
    for number in 0..200 {
        assert_eq!(transfer(number, false), 0);
    }
}

#[test]
fn two_hundred_transfers_whose_messages_may_be_given_up_end_closed() {
    let missing = (0..200).map(|number| transfer(number, true));
    // With losses of up to a fifth many are.
    assert!(missing.sum::<usize>() > 200);
}
