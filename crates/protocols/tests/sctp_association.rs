//! Two associations back to back, over more messages than scripts could write down.

use std::collections::VecDeque;

use roamsim_engine::{Span, Stream, Time};
use roamsim_protocols::sctp::{
    Asconf, AsconfAck, Association, Chunk, Config, Event, Loss, Packet, Parameter, Path, State,
};
use roamsim_protocols::{Address, Context, Machine};

/// Two ends whose packets arrive after 10 ms.
struct Pair {
    ends: [Association; 2],
    flights: [VecDeque<(Time, Path, Packet)>; 2],
    now: Time,
    random: Stream,
}

impl Pair {
    fn established(config: &Config) -> Pair {
        let end = |here: u32, there: u32| {
            Association::new(config, &[Address(here)], 1, &[Address(there)], 1, 7 + here, 1000)
        };
        let mut pair = Pair {
            ends: [end(0, 1), end(1, 0)],
            flights: [VecDeque::new(), VecDeque::new()],
            now: Time::ZERO,
            random: Stream::new(0, 0, ""),
        };
        pair.ends[1].listen();
        assert!(pair.ends[0].open());
        while pair.ends.iter().any(|end| end.state() != State::Established) {
            pair.step();
        }
        pair
    }

    /// Everything that leaves now, then the next arrival or deadline.
    fn step(&mut self) -> Vec<Event> {
        for i in 0..2 {
            let mut cx = Context { now: self.now, random: &mut self.random };
            while let Some((path, packet)) = self.ends[i].poll_transmit(&mut cx) {
                let arrives = Path { local: path.remote, remote: path.local };
                self.flights[1 - i].push_back((cx.now + Span::from_ms(10), arrives, packet));
            }
        }
        let arrivals = self.flights.iter().filter_map(|flight| flight.front()).map(|(at, ..)| *at);
        let deadlines = self.ends.iter().filter_map(|end| end.poll_timeout());
        let Some(next) = arrivals.chain(deadlines).min() else { return Vec::new() };
        self.now = next;
        let mut cx = Context { now: self.now, random: &mut self.random };
        let arrives =
            |flight: &VecDeque<(Time, Path, Packet)>| flight.front().is_some_and(|(at, ..)| *at == next);
        match self.flights.iter().position(arrives) {
            Some(i) => {
                if let Some((_, path, packet)) = self.flights[i].pop_front() {
                    self.ends[i].handle_packet(&mut cx, path, &packet);
                }
            }
            None => self.ends.iter_mut().for_each(|end| end.handle_timeout(&mut cx)),
        }
        self.ends
            .iter_mut()
            .flat_map(|end| std::iter::from_fn(|| end.poll_event()).collect::<Vec<_>>())
            .collect()
    }
}

#[test]
fn the_stream_sequence_number_wraps() {
    let config = Config { heartbeat_interval: None, ..Config::default() };
    let mut pair = Pair::established(&config);
    assert!(pair.ends[0].send_repeated(3, 100, 140_000, 0, false));
    let mut received = 0u32;
    while received < 140_000 {
        for event in pair.step() {
            let Event::Received(message) = event else { panic!("{event:?}") };
            // 140000 is more than twice 65536.
            assert_eq!((message.stream, message.ssn, message.bytes), (3, received as u16, 100));
            received += 1;
        }
    }
    assert!(pair.ends[0].is_drained() || pair.step().is_empty());
}

#[test]
fn an_endless_source_ends_with_an_abort() {
    let mut pair = Pair::established(&Config::default());
    assert!(pair.ends[0].send_repeated(0, 1432, u64::MAX, 0, true));
    let mut received = 0;
    while pair.now < Time::from_ns(1_000_000_000) {
        received += pair.step().len();
    }
    // 6 MiB of window are 4392 messages a round trip of 20 ms, 50 of which are in 1 s; slow start takes a
    // dozen of them.
    assert!(received > 100_000, "only {received}");
    assert!(!pair.ends[0].is_drained());
    pair.ends[0].abort();
    while pair.ends[1].state() != State::Closed {
        pair.step();
    }
}

#[test]
fn retransmissions_are_told_apart() {
    let config = Config { heartbeat_interval: None, ..Config::default() };
    let mut pair = Pair::established(&config);
    let end = &mut pair.ends[0];
    let mut cx = Context { now: pair.now, random: &mut pair.random };
    assert!(end.send(0, 10, 0, false));
    assert!(end.poll_transmit(&mut cx).is_some());
    assert_eq!((end.retransmitted_tsns(), end.highest_tsn_sent()), (&[][..], 1000));
    assert!(end.poll_transmit(&mut cx).is_none());
    cx.now += Span::from_secs(1);
    end.handle_timeout(&mut cx);
    assert!(end.poll_transmit(&mut cx).is_some());
    assert_eq!((end.retransmitted_tsns(), end.highest_tsn_sent()), (&[(1000, Loss::Timeout)][..], 1000));
}

/// What an association of port 1 at address 1 answers to a packet from address 0.
fn answer(end: &mut Association, verification_tag: u32, chunk: Chunk) -> Vec<(Path, Packet)> {
    let mut cx = Context { now: Time::ZERO, random: &mut Stream::new(0, 0, "") };
    let chunks = [chunk].into_iter().collect();
    let packet = Packet { source_port: 1, destination_port: 1, verification_tag, chunks };
    end.handle_packet(&mut cx, Path { local: Address(1), remote: Address(0) }, &packet);
    std::iter::from_fn(|| end.poll_transmit(&mut cx)).collect()
}

/// One end, which is up, and the addresses of the peer that it has taken of a handshake that told 40.
fn told_many(pinned: bool) -> (Association, Vec<Address>) {
    let config = Config { dynamic_addresses: true, ..Config::default() };
    let locals: Vec<Address> = (0..40).map(Address).collect();
    let mut peer = Association::new(&config, &locals, 1, &[Address(1)], 1, 7, 1000);
    let mut end = Association::new(&config, &[Address(1)], 1, &[Address(0)], 1, 8, 1000);
    if pinned {
        end.pin_peer();
    }
    end.listen();
    assert!(peer.open());
    let mut cx = Context { now: Time::ZERO, random: &mut Stream::new(0, 0, "") };
    for tag in [0, 8] {
        let (_, packet) = peer.poll_transmit(&mut cx).expect("INIT, then COOKIE ECHO");
        let [(_, answered), ..] = &answer(&mut end, tag, packet.chunks[0].clone())[..] else { panic!() };
        peer.handle_packet(&mut cx, Path { local: Address(0), remote: Address(1) }, answered);
    }
    assert_eq!((peer.state(), end.state()), (State::Established, State::Established));
    let taken = end.remote_addresses().to_vec();
    (end, taken)
}

#[test]
fn a_handshake_gives_a_peer_sixteen_addresses_at_most() {
    assert_eq!(told_many(false).1, (0..16).map(Address).collect::<Vec<_>>());
}

#[test]
fn a_pinned_peer_keeps_its_one_address() {
    let (mut end, taken) = told_many(true);
    assert_eq!(taken, [Address(0)]);
    let address = Parameter { kind: Parameter::IPV4_ADDRESS, value: vec![10, 200, 0, 5] };
    // Number 3 of the changes: the address as a parameter within.
    let add = [&[0, 0, 0, 3, 0, 5, 0, 8][..], &address.value].concat();
    let parameters = vec![Parameter { kind: Parameter::ADD_ADDRESS, value: add }];
    let known = Parameter { kind: Parameter::IPV4_ADDRESS, value: vec![10, 0, 0, 1] };
    let asconf = Asconf { serial: 1000, address: known, parameters };
    let sent = answer(&mut end, 8, Chunk::Asconf(Box::new(asconf)));
    let acks = sent.iter().flat_map(|(_, packet)| &packet.chunks);
    let acks: Vec<&AsconfAck> = acks
        .filter_map(|chunk| if let Chunk::AsconfAck(ack) = chunk { Some(&**ack) } else { None })
        .collect();
    let [AsconfAck { parameters, .. }] = acks[..] else { panic!("{sent:?}") };
    assert_eq!(parameters[0].kind, Parameter::ERROR_CAUSE_INDICATION);
    // "Request refused, no authorization" (RFC 5061 4.3.5).
    assert_eq!(parameters[0].value[..6], [0, 0, 0, 3, 0, 0xA4]);
    assert_eq!(end.remote_addresses(), [Address(0)]);
}
