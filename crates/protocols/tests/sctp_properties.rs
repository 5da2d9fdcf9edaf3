//! Properties of SCTP: messages arrive whole and in their stream's order over any path, and no packet harms.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use proptest::prelude::*;
use roamsim_engine::{Span, Stream, Time};
use roamsim_protocols::sctp::{Asconf, AsconfAck, Change};
use roamsim_protocols::sctp::{
    Association, Chunk, Config, Data, Event, ForwardTsn, Init, Message, Packet, Parameter, Path,
};
use roamsim_protocols::sctp::{Reliability, Rules, Sack, State};
use roamsim_protocols::{Address, Context, Machine};

fn cases(cases: u32) -> ProptestConfig {
    let default = ProptestConfig::default();
    // PROPTEST_CASES asks for more, never for fewer.
    ProptestConfig { cases: default.cases.max(cases), failure_persistence: None, ..default }
}

prop_compose! {
    fn any_config()(
        older in any::<bool>(),
        fast_retransmit_in_recovery in any::<bool>(),
        max_gap_ack_blocks in prop::option::of(1u32..5),
        packet_bytes in 128u32..1500,
        receive_window_bytes in prop_oneof![1500u32..5000, 5000u32..1_000_000],
        delayed_ack in prop::option::of((1u64..500).prop_map(Span::from_ms)),
        max_burst in 1u32..6,
        potentially_failed in prop::option::of(0u32..3),
        primary_switchover in prop::option::of(0u32..3),
        partial_reliability in any::<bool>(),
    ) -> Config {
        Config {
            rules: if older { Rules::Rfc2960 } else { Rules::Rfc9260 },
            fast_retransmit_in_recovery,
            max_gap_ack_blocks,
            packet_bytes,
            receive_window_bytes,
            delayed_ack,
            max_burst,
            potentially_failed_retransmissions: potentially_failed,
            primary_switchover_retransmissions: primary_switchover,
            partial_reliability,
            rto_min: Span::from_ms(200),
            max_retransmissions: 1000,
            max_path_retransmissions: 1000,
            max_init_retransmissions: 1000,
            cookie_life: Span::from_secs(1000),
            ..Config::default()
        }
    }
}

/// Everything an end has to send now.
fn drain(end: &mut Association, now: Time) -> Vec<(Path, Packet)> {
    let mut unused = Stream::new(0, 0, "");
    let mut packets = Vec::new();
    while let Some(packet) = end.poll_transmit(&mut Context { now, random: &mut unused }) {
        packets.push(packet);
        assert!(packets.len() < 100_000, "endless sending: {end:?}");
    }
    packets
}

proptest! {
    #![proptest_config(cases(300))]

    /// What one end sends the other receives: each stream's ordered messages in order, the unordered as a
    /// set. Where both ends take FORWARD TSN, messages that may be given up may be missing.
    #[test]
    fn every_message_arrives_whole_and_in_order(
        configs in any::<()>().prop_flat_map(|()| [any_config(), any_config()]),
        tsns in prop_oneof![Just([u32::MAX - 3, 0]), any::<[u32; 2]>()],
        messages in prop::collection::vec((0usize..2, 0u16..4, 1u64..6000, any::<bool>(), any_reliability()), 0..40),
        loss in prop_oneof![Just(0.0), 0.0..0.5],
        duplication in prop_oneof![Just(0.0), 0.0..0.3],
        (delay_ms, jitter_ms) in (0u64..300, prop_oneof![Just(0), 0u64..100]),
        two_paths in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let mut random = Stream::new(seed, 0, "path");
        let mut ends = [0, 1].map(|i| {
            let [here, there] = [i as u32, 1 - i as u32].map(|side| [Address(side), Address(side + 10)]);
            let paths = if two_paths { 2 } else { 1 };
            Association::new(
                &configs[i], &here[..paths], 1000 + i as u16, &there[..paths], 1001 - i as u16, 7 + i as u32, tsns[i],
            )
        });
        let mut received: [Vec<Message>; 2] = Default::default();
        for (number, &(i, stream, bytes, unordered, reliability)) in messages.iter().enumerate() {
            prop_assert!(ends[i].send_partially(stream, bytes, number as u32, unordered, reliability));
        }
        ends[1].listen();
        ends[0].open();
        let mut now = Time::ZERO;
        let mut flights = BinaryHeap::new();
        let mut on_the_way: Vec<(Path, Packet)> = Vec::new();
        let mut highest_cwnds: [BTreeMap<Path, u64>; 2] = Default::default();
        let mut closing = false;
        let mut closed = [false, false];
        for step in 0.. {
            prop_assert!(step < 200_000, "no end in sight: {ends:?}");
            for i in 0..2 {
                for (path, packet) in drain(&mut ends[i], now) {
                    // From either address of the one to either of the other.
                    prop_assert!((path.local.0 % 10, path.remote.0 % 10) == (i as u32, 1 - i as u32));
                    // Two addresses more: IP would fragment an INIT ACK of more than 128 octets.
                    prop_assert!(packet.total_bytes() <= configs[i].packet_bytes.max(172));
                    // From 60 s on nothing is lost, so that every run ends.
                    let calm = now > Time::from_ns(60_000_000_000);
                    let copies = match () {
                        () if calm => 1,
                        () if random.bernoulli(loss) => 0,
                        () if random.bernoulli(duplication) => 2,
                        () => 1,
                    };
                    for copy in 0..copies {
                        let jitter = Span::from_ns(random.below(jitter_ms * 1_000_000 + 1));
                        let at = now + Span::from_ms(delay_ms) + jitter;
                        flights.push(Reverse((at, on_the_way.len(), copy, 1 - i)));
                    }
                    let arrives = Path { local: path.remote, remote: path.local };
                    on_the_way.push((arrives, packet));
                }
                while let Some(event) = ends[i].poll_event() {
                    match event {
                        Event::Received(message) => received[i].push(Message { ssn: 0, tsn: 0, ..message }),
                        Event::Closed => closed[i] = true,
                        Event::Established
                        | Event::PathUp(_)
                        | Event::PathPotentiallyFailed(_)
                        | Event::Forwarded(_)
                        | Event::PrimaryChanged(_) => {}
                        other => prop_assert!(false, "{other:?}"),
                    }
                }
                let state = ends[i].state();
                if !ends[i].is_drained() && state == State::Established {
                    prop_assert!(ends[i].poll_timeout().is_some(), "no deadline: {:?}", ends[i]);
                }
                // A chunk may leave while less than the window is outstanding; fast retransmit adds one
                // packet.
                for report in ends[i].paths() {
                    let packet_bytes = u64::from(configs[i].packet_bytes);
                    prop_assert!(report.cwnd_bytes + 12 >= packet_bytes);
                    let most = highest_cwnds[i].entry(report.path).or_insert(0);
                    *most = report.cwnd_bytes.max(*most);
                    // What is lost on one path leaves on the other whatever that one's window says; and a
                    // SACK that another has overtaken takes chunks back.
                    let bounded = !two_paths && jitter_ms == 0;
                    prop_assert!(!bounded || report.outstanding_bytes < *most + 2 * packet_bytes);
                }
            }
            let established = ends.iter().all(|end| end.state() == State::Established);
            if !closing && established && ends.iter().all(Association::is_drained) {
                closing = true;
                ends[0].close();
                continue;
            }
            let arrival = flights.peek().map(|&Reverse((at, ..))| at);
            let deadlines = [ends[0].poll_timeout(), ends[1].poll_timeout()];
            let Some(next) = [arrival, deadlines[0], deadlines[1]].into_iter().flatten().min() else { break };
            prop_assert!(next >= now);
            now = next;
            let mut unused = Stream::new(0, 0, "");
            if arrival == Some(next) {
                if let Some(Reverse((_, packet, _, i))) = flights.pop() {
                    let (path, packet) = &on_the_way[packet];
                    ends[i].handle_packet(&mut Context { now, random: &mut unused }, *path, packet);
                }
            } else {
                for end in &mut ends {
                    end.handle_timeout(&mut Context { now, random: &mut unused });
                }
            }
        }
        prop_assert_eq!(closed, [true, true]);
        for i in 0..2 {
            prop_assert_eq!(ends[i].outstanding_bytes(), 0);
            let sent: Vec<Message> = messages
                .iter()
                .enumerate()
                .filter(|(_, message)| message.0 == 1 - i)
                .map(|(number, &(_, stream, bytes, unordered, _))| Message {
                    stream, bytes, protocol: number as u32, unordered, ssn: 0, tsn: 0,
                })
                .collect();
            if configs.iter().all(|config| config.partial_reliability) {
                let got = &received[i];
                prop_assert!(got.iter().all(|message| sent.contains(message)));
                for stream in 0..4 {
                    let ordered = got.iter().filter(|m| m.stream == stream && !m.unordered);
                    let numbers: Vec<_> = ordered.map(|m| m.protocol).collect();
                    prop_assert!(numbers.is_sorted_by(|a, b| a < b), "{:?}", numbers);
                }
                let missing: Vec<_> = sent.iter().filter(|message| !got.contains(message)).collect();
                let full = |m: &&&Message| messages[m.protocol as usize].4 == Reliability::Full;
                prop_assert_eq!(missing.iter().find(full), None);
                prop_assert!(missing.len() as u64 <= ends[1 - i].stats().messages_abandoned);
                continue;
            }
            for stream in 0..4 {
                let ordered = |all: &[Message]| -> Vec<Message> {
                    all.iter().copied().filter(|m| m.stream == stream && !m.unordered).collect()
                };
                prop_assert_eq!(ordered(&received[i]), ordered(&sent));
            }
            let mut whole = received[i].clone();
            whole.sort_by_key(|message| message.protocol);
            prop_assert_eq!(whole, sent.clone());
            let bytes: u64 = sent.iter().map(|message| message.bytes).sum();
            prop_assert_eq!(ends[1 - i].stats().bytes_acknowledged, bytes);
        }
    }
}

fn any_reliability() -> impl Strategy<Value = Reliability> {
    prop_oneof![
        2 => Just(Reliability::Full),
        1 => (0u64..3000).prop_map(|ms| Reliability::Until(Time::from_ns(ms * 1_000_000))),
        1 => (0u32..3).prop_map(Reliability::Retransmissions),
    ]
}

/// Numbers mostly near what is expected.
fn near() -> impl Strategy<Value = u32> {
    prop_oneof![6 => 0u32..12, 1 => (u32::MAX - 5)..=u32::MAX, 1 => any::<u32>()]
}

fn any_chunk() -> impl Strategy<Value = Chunk> {
    let data = (near(), 0u16..3, 0u16..4, any::<[bool; 4]>(), 0u16..1500).prop_map(
        |(tsn, stream, ssn, [unordered, beginning, ending, immediate], payload_bytes)| {
            Chunk::Data(Data {
                tsn,
                stream,
                ssn,
                protocol: 0,
                unordered,
                beginning,
                ending,
                immediate,
                payload_bytes,
            })
        },
    );
    let window = prop_oneof![Just(0u32), Just(100_000u32), any::<u32>()];
    let gaps = prop::collection::vec((0u16..9, 0u16..9), 0..4);
    let sack = (near(), window.clone(), gaps).prop_map(|(cumulative_tsn_ack, a_rwnd_bytes, gaps)| {
        Chunk::Sack(Sack::new(cumulative_tsn_ack, a_rwnd_bytes, &gaps, vec![]))
    });
    let init = (near(), window, 0u16..4, near(), any::<bool>(), prop::collection::vec(0u8..9, 0..40))
        .prop_map(|(initiate_tag, a_rwnd_bytes, streams, initial_tsn, ack, value)| {
            let parameters = vec![Parameter { kind: Parameter::STATE_COOKIE, value }];
            let init = Box::new(Init {
                initiate_tag,
                a_rwnd_bytes,
                outbound_streams: streams,
                inbound_streams: streams,
                initial_tsn,
                parameters,
            });
            if ack { Chunk::InitAck(init) } else { Chunk::Init(init) }
        });
    prop_oneof![
        8 => data,
        8 => sack,
        3 => init,
        2 => prop::collection::vec(0u8..9, 26).prop_map(Chunk::CookieEcho),
        2 => Just(Chunk::CookieAck),
        1 => near().prop_map(|cumulative_tsn_ack| Chunk::Shutdown { cumulative_tsn_ack }),
        1 => Just(Chunk::ShutdownAck),
        1 => any::<bool>().prop_map(|reflected_tag| Chunk::ShutdownComplete { reflected_tag }),
        1 => any::<bool>().prop_map(|reflected_tag| Chunk::Abort { reflected_tag, causes: vec![] }),
        1 => Just(Chunk::Heartbeat(vec![])),
        1 => prop::collection::vec(0u8..9, 0..24).prop_map(|value| {
            Chunk::HeartbeatAck(vec![Parameter { kind: Parameter::HEARTBEAT_INFO, value }])
        }),
        2 => (0u32..4, prop::collection::vec((0xC001u16..0xC006, 0u32..4, 0u32..5), 0..4)).prop_map(
            |(serial, changes)| {
                let change = |(kind, number, address): (u16, u32, u32)| Parameter {
                    kind, value: [&number.to_be_bytes()[..], &[0, 5, 0, 8], &Address(address).ipv4_octets()].concat(),
                };
                let address = Parameter {
                    kind: Parameter::IPV4_ADDRESS, value: Address(1).ipv4_octets().to_vec(),
                };
                let parameters = changes.into_iter().map(change).collect();
                Chunk::Asconf(Box::new(Asconf { serial, address, parameters }))
            }
        ),
        1 => (near(), prop::collection::vec((0xC003u16..0xC006, 0u32..3), 0..3)).prop_map(|(serial, told)| {
            let told = told.into_iter().map(|(kind, number)| Parameter {
                kind, value: number.to_be_bytes().to_vec(),
            });
            Chunk::AsconfAck(Box::new(AsconfAck { serial, parameters: told.collect() }))
        }),
        1 => (near(), prop::collection::vec((0u16..4, 0u16..9), 0..4)).prop_map(|(cumulative_tsn, streams)| {
            Chunk::ForwardTsn(Box::new(ForwardTsn { cumulative_tsn, streams }))
        }),
        1 => Just(Chunk::Error(vec![Parameter { kind: 3, value: vec![] }])),
    ]
}

/// What arrives, and what the application does after it.
#[derive(Clone, Debug)]
struct Act {
    chunks: Vec<Chunk>,
    verification_tag: u32,
    from: u32,
    wait_ms: u64,
    write: bool,
    reliability: Reliability,
    call: u8,
}

fn any_act() -> impl Strategy<Value = Act> {
    let chunks = prop::collection::vec(any_chunk(), 1..4);
    let from = prop_oneof![8 => Just(1u32), 2 => 2u32..5];
    let tag = prop_oneof![9 => Just(7u32), 1 => near()];
    (chunks, tag, from, 0u64..2000, any::<bool>(), any_reliability(), 0u8..40).prop_map(
        |(chunks, verification_tag, from, wait_ms, write, reliability, call)| Act {
            chunks,
            verification_tag,
            from,
            wait_ms,
            write,
            reliability,
            call,
        },
    )
}

/// Plays the acts to an end that opens (`up`) or listens; everything it sent.
fn play(
    config: &Config,
    up: bool,
    two_paths: bool,
    initial_tsn: u32,
    acts: &[Act],
) -> Result<Vec<(Path, Packet)>, TestCaseError> {
    let mut random = Stream::new(0, 0, "");
    let path = Path { local: Address(0), remote: Address(1) };
    let (locals, remotes) = ([Address(0), Address(5)], [Address(1), Address(2)]);
    let paths = if two_paths { 2 } else { 1 };
    let mut end = Association::new(config, &locals[..paths], 1, &remotes[..paths], 2, 7, initial_tsn);
    end.send(0, 20_000, 0, false);
    let mut now = Time::ZERO;
    let mut sent = Vec::new();
    let arrive = |verification_tag, chunks: Vec<Chunk>| Packet {
        source_port: 2,
        destination_port: 1,
        verification_tag,
        chunks: chunks.into(),
    };
    if up {
        end.open();
        sent.extend(drain(&mut end, now));
        let address = |address: Address| Parameter {
            kind: Parameter::IPV4_ADDRESS,
            value: address.ipv4_octets().to_vec(),
        };
        let mut parameters = vec![
            Parameter { kind: Parameter::STATE_COOKIE, value: vec![] },
            Parameter { kind: Parameter::SUPPORTED_EXTENSIONS, value: vec![0xC1, 0x80, 0xC0] },
        ];
        parameters.extend(remotes[..paths].iter().copied().map(address));
        let init = Init {
            initiate_tag: 9,
            a_rwnd_bytes: 50_000,
            outbound_streams: 3,
            inbound_streams: 3,
            initial_tsn: 1,
            parameters,
        };
        let mut cx = Context { now, random: &mut random };
        end.handle_packet(&mut cx, path, &arrive(7, vec![Chunk::InitAck(Box::new(init))]));
        end.handle_packet(&mut cx, path, &arrive(7, vec![Chunk::CookieAck]));
        prop_assert_eq!(end.state(), State::Established);
    } else {
        end.listen();
    }
    sent.extend(drain(&mut end, now));
    for act in acts {
        // Acknowledgements and answers are counted from what this end sends.
        let chunks = act.chunks.iter().cloned().map(|chunk| match chunk {
            Chunk::Sack(mut sack) => {
                sack.cumulative_tsn_ack = sack.cumulative_tsn_ack.wrapping_add(initial_tsn);
                Chunk::Sack(sack)
            }
            Chunk::AsconfAck(mut ack) => {
                ack.serial = ack.serial.wrapping_add(initial_tsn);
                Chunk::AsconfAck(ack)
            }
            other => other,
        });
        let packet = arrive(act.verification_tag, chunks.collect());
        let path = Path { remote: Address(act.from), ..path };
        end.handle_packet(&mut Context { now, random: &mut random }, path, &packet);
        if act.write {
            end.send_partially(0, 3000, 0, false, act.reliability);
        }
        match act.call {
            0 => end.close(),
            1 => end.abort(),
            2 => {
                end.open();
            }
            3 => {
                end.reconfigure(&[Change::Add(Address(6)), Change::SetPrimary(Address(6))], Address(6));
            }
            4 => {
                end.reconfigure(&[Change::Delete(Address(0))], Address(6));
            }
            5 => {
                end.reconfigure(&[Change::Add(Address(7)), Change::Delete(Address(5))], Address(0));
            }
            6 => {
                end.set_primary(Path { local: Address(0), remote: Address(2) });
            }
            _ => {}
        }
        sent.extend(drain(&mut end, now));
        while end.poll_event().is_some() {}
        if end.outstanding_bytes() > 0 && end.state() != State::Closed {
            prop_assert!(end.poll_timeout().is_some(), "no deadline: {end:?}");
        }
        let in_flight: u64 = end.paths().map(|report| report.outstanding_bytes).sum();
        prop_assert!(in_flight >= end.outstanding_bytes(), "more in flight than on all paths: {end:?}");
        now += Span::from_ms(act.wait_ms);
        end.handle_timeout(&mut Context { now, random: &mut random });
        sent.extend(drain(&mut end, now));
        prop_assert!(end.poll_timeout().is_none_or(|at| at > now), "a deadline stays: {end:?}");
    }
    // Asked twice, it has nothing more to say: no packet, no event, the same deadline.
    while end.poll_event().is_some() {}
    let before = format!("{end:?}");
    end.handle_timeout(&mut Context { now, random: &mut random });
    prop_assert!(drain(&mut end, now).is_empty());
    prop_assert_eq!(before, format!("{end:?}"));
    Ok(sent)
}

proptest! {
    #![proptest_config(cases(2000))]

    /// Whatever arrives: no panic (overflow checks are on), no endless work, a deadline while data is
    /// outstanding; and the same again leaves the same packets.
    #[test]
    fn no_sequence_of_packets_harms(
        config in any_config(),
        up in any::<bool>(),
        two_paths in any::<bool>(),
        path_errors in 0u32..3,
        initial_tsn in prop_oneof![Just(1u32), Just(u32::MAX), any::<u32>()],
        acts in prop::collection::vec(any_act(), 1..50),
    ) {
        let config = Config { max_path_retransmissions: path_errors, ..config };
        let once = play(&config, up, two_paths, initial_tsn, &acts)?;
        prop_assert_eq!(once, play(&config, up, two_paths, initial_tsn, &acts)?);
    }
}
