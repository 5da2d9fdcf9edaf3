//! Properties of TCP: a stream arrives whole and in order over any path, and no segment from anywhere harms.

mod tcp_path;

use std::sync::Arc;

use proptest::prelude::*;
use roamsim_engine::{Span, Stream, Time};
use roamsim_protocols::tcp::congestion::keys::Own;
use roamsim_protocols::tcp::congestion::{CUBIC_RULES, LINUX_RULES};
use roamsim_protocols::tcp::{
    Config, Connection, Cookie, DelayedAckRules, Event, FirstCookie, Flags, HystartRules, InitialWindow,
    KeepAlive, KnownServer, NagleRules, Options, RtoRules, Segment, State, Timestamps, UserTimeout,
    UserTimeoutOption, Variant, WindowValidation,
};
use roamsim_protocols::{Context, Machine};
use tcp_path::{Pair, Path};

fn cases(cases: u32) -> ProptestConfig {
    let default = ProptestConfig::default();
    // PROPTEST_CASES asks for more, never for fewer.
    ProptestConfig { cases: default.cases.max(cases), failure_persistence: None, ..default }
}

prop_compose! {
    fn any_config()(
        variant in prop::sample::select(&Variant::ALL[..]),
        mss_bytes in prop_oneof![Just(1000u32), 20u32..2000],
        window in prop_oneof![Just(0u32), 100u32..3000, 3000u32..1_000_000],
        switches in any::<[bool; 8]>(),
        parts in prop_oneof![Just([false; 7]), any::<[bool; 7]>()],
        linux in prop_oneof![Just([false; 9]), any::<[bool; 9]>()],
        first_window in prop_oneof![Just(3u32), 1u32..40],
        delayed_ack in prop::option::of((1u64..500).prop_map(Span::from_ms)),
        delayed_ack_count in 1u32..6,
        dup_ack_threshold in 1u32..5,
        initial in 0u32..12,
        liveness in any::<[bool; 2]>(),
        changeable in prop::option::of(any::<bool>()),
        fast_open in prop::option::weighted(
            0.5,
            prop::sample::select(&[FirstCookie::Requested, FirstCookie::Known, FirstCookie::Stale][..]),
        ),
        send_buffer in prop::option::of((1u64..20_000, 1u64..1000)),
        max_rto in prop::sample::select(&[200u64, 1000, 60_000][..]),
    ) -> Config {
        let [window_scaling, nagle, limited_transmit, timestamps, restart_after_idle, ssthresh, alone, guard] =
            switches;
        Config {
            variant,
            mss_bytes,
            initial_window: if initial == 0 { InitialWindow::Rfc6928 } else { InitialWindow::Segments(initial) },
            // 0 stands for a buffer of two segments.
            receive_window_bytes: if window == 0 { 2 * mss_bytes } else { window },
            window_scaling,
            min_rto: Span::from_ms(200),
            max_rto: Span::from_ms(max_rto),
            // Acknowledgements that go alone do not wait.
            delayed_ack: delayed_ack.filter(|_| !alone),
            delayed_ack_count,
            piggyback_acks: !alone,
            nagle,
            dup_ack_threshold,
            limited_transmit,
            timestamps,
            initial_ssthresh_bytes: ssthresh.then_some(4000),
            restart_after_idle,
            successive_fast_retransmits: !guard,
            rack: parts[0],
            tail_loss_probe: parts[1],
            prr: parts[2],
            prr_for_ecn: parts[2] != parts[5],
            frto: parts[3],
            undo: parts[4],
            reduce_after_lost_retransmission: parts[0] && parts[3] != parts[4],
            hystart: parts[5],
            pacing: parts[6],
            rto_rules: if linux[0] { RtoRules::Linux } else { RtoRules::Rfc6298 },
            ecn: linux[8] || variant.counts_marks(),
            ecn_min_window: if linux[1] { 1 } else { 2 },
            accurate_ecn: linux[8],
            quick_acks: if linux[1] { 16 } else { 0 },
            delayed_ack_adapts: linux[2],
            compressed_acks: linux[2],
            initial_receive_window_bytes: linux[3].then_some(first_window * mss_bytes / 3),
            hystart_rules: if linux[4] { HystartRules::Linux } else { HystartRules::PlusPlus },
            window_validation: match (linux[5], linux[6]) {
                (true, true) => WindowValidation::Rfc7661,
                (true, false) => WindowValidation::Linux,
                _ => WindowValidation::Half,
            },
            own: Own::default().with(&CUBIC_RULES, if linux[6] { LINUX_RULES } else { 0 }),
            nagle_rules: if linux[7] { NagleRules::Minshall } else { NagleRules::Rfc },
            delayed_ack_rules: if linux[8] { DelayedAckRules::Linux } else { DelayedAckRules::Rfc },
            // More probes than any path loses in a row.
            keep_alive: liveness[0].then_some(KeepAlive {
                idle: Span::from_secs(1),
                interval: Span::from_ms(500),
                probes: 100,
            }),
            send_buffer_bytes: send_buffer.map(|(bytes, _)| bytes),
            initial_send_buffer_bytes: send_buffer.map(|(bytes, first)| bytes.min(first)),
            user_timeout: liveness[1].then_some(Span::from_secs(36_000)),
            // Longer than any run.
            user_timeout_option: changeable.map(|changeable| UserTimeoutOption {
                advertised: Span::from_secs(40_000),
                changeable,
                lower_limit: Span::from_secs(36_000),
                upper_limit: Span::from_secs(50_000),
            }),
            fast_open,
            // Longer than any repeated FIN is on its way, as TIME-WAIT assumes.
            msl: Span::from_secs(300),
            ..Config::default()
        }
    }
}

prop_compose! {
    fn any_path()(
        delay in 0u64..300,
        jitter in 0u64..100,
        loss in prop_oneof![Just(0.0), 0.0..0.6],
        loss_back in prop_oneof![Just(0.0), 0.0..0.6],
        duplication in prop_oneof![Just(0.0), 0.0..0.3],
    ) -> Path {
        Path {
            delay: Span::from_ms(delay),
            jitter: Span::from_ms(jitter),
            loss,
            loss_back,
            duplication,
            lost_in_turn: None,
            rest_of_round: false,
            calm_from: Time::from_ns(20_000_000_000),
        }
    }
}

proptest! {
    #![proptest_config(cases(400))]

    /// Both directions, written in pieces at arbitrary times, closed when all is written.
    #[test]
    fn every_octet_arrives_in_order_and_the_close_completes(
        mut configs in any::<()>().prop_flat_map(|()| [any_config(), any_config()]),
        one_way_connections in prop::bool::weighted(0.2),
        path in any_path(),
        seed in any::<u64>(),
        iss in prop_oneof![Just([u32::MAX - 500, u32::MAX - 1]), any::<[u32; 2]>()],
        writes in prop::collection::vec((0usize..2, 1u64..6000, 0u64..2000), 0..30),
        first in prop_oneof![Just(0u64), 1u64..4000],
        passive_closes in any::<bool>(),
    ) {
        configs.iter_mut().for_each(|config| config.one_way_connections = one_way_connections);
        let mut pair = Pair::new(configs, iss, path, seed);
        pair.ends[0].tcp.write(first);
        pair.drain(0);
        let mut at = Time::ZERO;
        let mut total = [first, 0];
        for (i, bytes, gap_ms) in writes {
            at += Span::from_ms(gap_ms);
            while pair.now < at && pair.step() {}
            pair.ends[i].tcp.write(bytes);
            total[i] += bytes;
            pair.drain(i);
        }
        let established = |pair: &Pair, i: usize| pair.ends[i].events.contains(&Event::Established);
        while !(established(&pair, 0) && established(&pair, 1)) && pair.step() {}
        let closes_first = usize::from(passive_closes);
        pair.ends[closes_first].tcp.close();
        pair.drain(closes_first);
        let mut second_closed = false;
        while pair.step() {
            if !second_closed && pair.ends[1 - closes_first].events.contains(&Event::RemoteClosed) {
                second_closed = true;
                pair.ends[1 - closes_first].tcp.close();
                pair.drain(1 - closes_first);
            }
        }
        for (i, &total) in total.iter().enumerate() {
            prop_assert_eq!(pair.ends[1 - i].received, total);
            prop_assert_eq!(pair.ends[i].acknowledged, total);
            prop_assert_eq!(pair.ends[i].tcp.state(), State::Closed);
            let mut events = pair.ends[i].events.clone();
            events.sort_by_key(|event| format!("{event:?}"));
            prop_assert_eq!(events, [Event::Closed, Event::Established, Event::RemoteClosed]);
        }
    }

    /// The receiving application stops and goes on at arbitrary times: the window closes, probes keep it
    /// alive.
    #[test]
    fn a_closed_window_opens_again(
        configs in any::<()>().prop_flat_map(|()| [any_config(), any_config()]),
        path in any_path(),
        seed in any::<u64>(),
        total in 1u64..40_000,
        reads in prop::collection::vec((1u64..5000, 0u64..10_000), 0..10),
    ) {
        let mut pair = Pair::new(configs, [7, 9], path, seed);
        pair.ends[1].tcp.set_reading(false);
        pair.ends[0].tcp.write(total);
        pair.drain(0);
        let mut at = Time::ZERO;
        for (bytes, gap_ms) in reads {
            at += Span::from_ms(gap_ms);
            while pair.now < at && pair.step() {}
            // What is held but not read never exceeds the buffer.
            pair.ends[1].tcp.read(bytes);
            pair.drain(1);
        }
        pair.ends[1].tcp.set_reading(true);
        pair.drain(1);
        while pair.ends[0].acknowledged < total && pair.step() {}
        prop_assert_eq!(pair.ends[1].received, total);
    }
}

proptest! {
    #![proptest_config(cases(300))]

    /// Data both ways, and both applications stop reading and go on at arbitrary times, so that both windows
    /// close: each pure ACK has a segment with data behind it, a window that has opened by a step, or one of
    /// the answers to refused segments, which are ten in five seconds at most. Two ends never answer each
    /// other's answers.
    #[test]
    fn acknowledgements_stay_in_proportion_while_both_readers_toggle(
        configs in any::<()>().prop_flat_map(|()| [any_config(), any_config()]),
        path in any_path(),
        clean in any::<bool>(),
        seed in any::<u64>(),
        total in 1u64..40_000,
        acts in prop::collection::vec((0usize..2, 0u64..5000, 0u64..4000), 0..30),
    ) {
        let nothing_lost = Path { jitter: Span::ZERO, loss: 0.0, loss_back: 0.0, duplication: 0.0, ..path };
        let mut pair = Pair::new(configs, [7, 9], if clean { nothing_lost } else { path }, seed);
        for i in 0..2 {
            pair.ends[i].tcp.set_reading(false);
            pair.ends[i].tcp.write(total);
            pair.drain(i);
        }
        let mut at = Time::ZERO;
        let mut calls = [0, 0];
        for (i, bytes, gap_ms) in acts {
            at += Span::from_ms(gap_ms);
            while pair.now < at && pair.step() {}
            match bytes {
                0..1000 => pair.ends[i].tcp.set_reading(true),
                1000..2000 => pair.ends[i].tcp.set_reading(false),
                _ => pair.ends[i].tcp.read(bytes),
            }
            calls[i] += 1;
            pair.drain(i);
        }
        for i in 0..2 {
            pair.ends[i].tcp.set_reading(true);
            pair.drain(i);
        }
        let acknowledged = |pair: &Pair| [0, 1].map(|i| pair.ends[i].acknowledged);
        while acknowledged(&pair) != [total, total] && pair.step() {}
        prop_assert_eq!(acknowledged(&pair), [total, total]);
        let elapsed = pair.now.since(Time::ZERO).as_ns();
        // Where nothing is lost, too: an ACK that crosses the answer to a probe that was taken is out of
        // date.
        let answers = 10 * (elapsed / 5_000_000_000 + 1);
        for (i, calls) in calls.into_iter().enumerate() {
            let from_peer = |counts: fn(&Segment) -> bool| {
                pair.sent.iter().filter(|(_, from, segment)| *from != i && counts(segment)).count() as u64
            };
            let copies = if clean { 1 } else { 2 };
            let stats = pair.ends[i].tcp.stats();
            let most = copies * from_peer(|s| s.sequence_length() > 0) + calls + 1 + answers;
            prop_assert!(stats.pure_acks_sent <= most, "{} of {most} at {i}", stats.pure_acks_sent);
            // On a path that does no harm nothing is refused but repeated SYNs.
            let syns = from_peer(|s| s.flags.contains(Flags::SYN));
            prop_assert!(!clean || stats.segments_refused <= syns, "{} refused", stats.segments_refused);
        }
    }
}

/// One thing that may happen to a connection from outside.
#[derive(Clone, Debug)]
enum Act {
    Arrive {
        seq: i32,
        ack: i32,
        flags: u16,
        window: u16,
        payload_bytes: u32,
        options: Options,
        blocks: Vec<(i32, i32)>,
    },
    Wait {
        ms: u64,
    },
    Write {
        bytes: u64,
    },
    Read {
        bytes: u64,
    },
    SetReading {
        reading: bool,
    },
    Close,
    CloseHalfDuplex,
    Abort,
    Open,
}

/// Numbers mostly near what the connection expects, so that they get past the first check.
fn near() -> impl Strategy<Value = i32> {
    prop_oneof![6 => -3i32..6, 3 => -5000i32..5000, 1 => any::<i32>()]
}

/// The request, or a cookie.
fn cookie_of(number: u8) -> Option<Cookie> {
    if number == 0 { Some(Cookie::REQUEST) } else { Cookie::new(&[number; 8]) }
}

prop_compose! {
    fn any_options()(
        mss in prop::option::weighted(0.3, any::<u16>()),
        window_scale in prop::option::weighted(0.3, any::<u8>()),
        timestamps in prop::option::weighted(0.5, any::<(u32, u32)>()),
        sack_permitted in any::<bool>(),
        cookie in prop::option::weighted(0.3, 0u8..3),
        user_timeout in prop::option::weighted(0.3, any::<u16>()),
    ) -> Options {
        let timestamps = timestamps.map(|(value, echo_reply)| Timestamps { value, echo_reply });
        let mut options = Options { mss, window_scale, timestamps, sack_permitted, ..Options::default() };
        if let Some(cookie) = cookie.and_then(cookie_of) {
            options.sack.set_fast_open(cookie);
        }
        if let Some(option) = user_timeout.and_then(UserTimeout::from_field) {
            options.sack.set_user_timeout(option);
        }
        options
    }
}

fn any_act() -> impl Strategy<Value = Act> {
    let flags = prop_oneof![
        8 => Just(Flags::ACK.0),
        2 => Just(Flags::ACK.0 | Flags::FIN.0),
        2 => Just(Flags::SYN.0),
        2 => Just(Flags::SYN.0 | Flags::ACK.0),
        1 => Just(Flags::RST.0),
        2 => 0..512u16,
    ];
    let window = prop_oneof![Just(0u16), Just(1u16), any::<u16>()];
    let payload = prop_oneof![3 => Just(0u32), 3 => 0u32..3000, 1 => any::<u32>()];
    let blocks = prop::collection::vec((near(), near()), 0..5);
    let arrive = (near(), near(), flags, window, payload, any_options(), blocks).prop_map(
        |(seq, ack, flags, window, payload_bytes, options, blocks)| Act::Arrive {
            blocks,
            seq,
            ack,
            flags,
            window,
            payload_bytes,
            options,
        },
    );
    prop_oneof![
        30 => arrive,
        6 => prop_oneof![0u64..3000, any::<u64>()].prop_map(|ms| Act::Wait { ms }),
        4 => prop_oneof![1u64..5000, any::<u64>()].prop_map(|bytes| Act::Write { bytes }),
        2 => any::<u64>().prop_map(|bytes| Act::Read { bytes }),
        1 => any::<bool>().prop_map(|reading| Act::SetReading { reading }),
        1 => Just(Act::Close),
        1 => Just(Act::CloseHalfDuplex),
        1 => Just(Act::Abort),
        1 => Just(Act::Open),
    ]
}

/// Sends everything there is to send; true when the machine falls silent.
fn falls_silent(tcp: &mut Connection, now: Time, random: &mut Stream) -> bool {
    for _ in 0..2_000_000 {
        if tcp.poll_transmit(&mut Context { now, random }).is_none() {
            return true;
        }
    }
    false
}

proptest! {
    #![proptest_config(cases(2000))]

    /// Whatever arrives, in whatever order: no panic (overflow checks are on), no endless work, no broken
    /// bound.
    #[test]
    fn no_sequence_of_segments_harms(
        config in any_config(),
        passive in any::<bool>(),
        iss in prop_oneof![Just(u32::MAX - 2), any::<u32>()],
        irs in any::<u32>(),
        acts in prop::collection::vec(any_act(), 1..60),
        first in prop_oneof![Just(0u64), 1u64..4000],
    ) {
        let mut random = Stream::new(0, 0, "");
        let mut tcp = Connection::new(&Arc::new(config), 1, 2, iss);
        let mut now = Time::ZERO;
        tcp.write(first);
        if let Some(cookie) = cookie_of(1) {
            tcp.set_own_cookie(cookie);
            tcp.set_known_server(KnownServer { cookie, mss_bytes: 536 });
        }
        if passive {
            tcp.listen();
        } else {
            tcp.open();
        }
        prop_assert!(falls_silent(&mut tcp, now, &mut random));
        for act in acts {
            match act {
                Act::Arrive { seq, ack, flags, window, payload_bytes, mut options, blocks } => {
                    let synchronized = !matches!(tcp.state(), State::Listen | State::SynSent | State::Closed);
                    let expected = if synchronized {
                        irs.wrapping_add(1).wrapping_add(tcp.received_offset() as u32)
                    } else {
                        irs
                    };
                    let una = iss.wrapping_add(1).wrapping_add(tcp.snd_una_offset() as u32);
                    for (left, right) in blocks {
                        options.sack.push(una.wrapping_add_signed(left), una.wrapping_add_signed(right));
                    }
                    let segment = Segment {
                        source_port: 2,
                        destination_port: 1,
                        seq: expected.wrapping_add_signed(seq),
                        ack: una.wrapping_add_signed(ack),
                        flags: Flags(flags),
                        window,
                        payload_bytes,
                        options,
                    };
                    tcp.handle_segment(&mut Context { now, random: &mut random }, &segment);
                }
                Act::Wait { ms } => {
                    now += Span::from_ns(ms.saturating_mul(1_000_000));
                    tcp.handle_timeout(&mut Context { now, random: &mut random });
                }
                Act::Write { bytes } => tcp.write(bytes),
                Act::Read { bytes } => tcp.read(bytes),
                Act::SetReading { reading } => tcp.set_reading(reading),
                Act::Close => tcp.close(),
                Act::CloseHalfDuplex => tcp.close_half_duplex(),
                Act::Abort => tcp.abort(),
                Act::Open => tcp.open(),
            }
            prop_assert!(falls_silent(&mut tcp, now, &mut random), "endless sending: {tcp:?}");
            for _ in 0..10 {
                if tcp.poll_event().is_none() {
                    break;
                }
            }
            prop_assert_eq!(tcp.poll_event(), None);
            if now < Time::MAX {
                let due = tcp.poll_timeout();
                if let Some(at) = due.filter(|&at| at <= now) {
                    tcp.handle_timeout(&mut Context { now: at, random: &mut random });
                    prop_assert!(falls_silent(&mut tcp, now, &mut random));
                    prop_assert!(tcp.poll_timeout().is_none_or(|at| at > now), "a deadline stays: {tcp:?}");
                }
            }
            let synchronized = !matches!(
                tcp.state(), State::Closed | State::Listen | State::SynSent | State::SynReceived
            );
            if synchronized {
                prop_assert!(tcp.cwnd_bytes() >= tcp.smss_bytes());
            }
        }
    }
}
