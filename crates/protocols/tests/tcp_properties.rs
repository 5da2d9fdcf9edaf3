//! Properties of TCP: a stream arrives whole and in order over any path, and no segment from anywhere harms.

mod tcp_path;

use proptest::prelude::*;
use roamsim_engine::{Span, Stream, Time};
use roamsim_protocols::tcp::{
    Config, Connection, Event, Flags, InitialWindow, Options, Segment, State, Timestamps, Variant,
};
use roamsim_protocols::{Context, Machine};
use tcp_path::{Pair, Path};

prop_compose! {
    fn any_config()(
        variant in prop::sample::select(&Variant::ALL[..]),
        mss_bytes in prop_oneof![Just(1000u32), 20u32..2000],
        window in prop_oneof![Just(0u32), 1u32..3000, 3000u32..1_000_000],
        switches in any::<[bool; 6]>(),
        delayed_ack in prop::option::of((1u64..500).prop_map(Span::from_ms)),
        dup_ack_threshold in 1u32..5,
        initial in 0u32..12,
        max_rto in prop::sample::select(&[200u64, 1000, 60_000][..]),
    ) -> Config {
        let [window_scaling, nagle, limited_transmit, timestamps, restart_after_idle, ssthresh] = switches;
        Config {
            variant,
            mss_bytes,
            initial_window: if initial == 0 { InitialWindow::Rfc6928 } else { InitialWindow::Segments(initial) },
            // 0 stands for a buffer of two segments.
            receive_window_bytes: if window == 0 { 2 * mss_bytes } else { window },
            window_scaling,
            min_rto: Span::from_ms(200),
            max_rto: Span::from_ms(max_rto),
            delayed_ack,
            nagle,
            dup_ack_threshold,
            limited_transmit,
            timestamps,
            initial_ssthresh_bytes: ssthresh.then_some(4000),
            restart_after_idle,
            msl: Span::from_secs(1),
            ..Config::default()
        }
    }
}

prop_compose! {
    fn any_path()(
        delay in 0u64..300,
        jitter in 0u64..100,
        loss in prop_oneof![Just(0.0), 0.0..0.6],
        duplication in prop_oneof![Just(0.0), 0.0..0.3],
    ) -> Path {
        Path {
            delay: Span::from_ms(delay),
            jitter: Span::from_ms(jitter),
            loss,
            duplication,
            calm_from: Time::from_ns(20_000_000_000),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Both directions, written in pieces at arbitrary times, closed when all is written.
    #[test]
    fn every_octet_arrives_in_order_and_the_close_completes(
        configs in any::<()>().prop_flat_map(|()| [any_config(), any_config()]),
        path in any_path(),
        seed in any::<u64>(),
        iss in prop_oneof![Just([u32::MAX - 500, u32::MAX - 1]), any::<[u32; 2]>()],
        writes in prop::collection::vec((0usize..2, 1u64..6000, 0u64..2000), 0..30),
        passive_closes in any::<bool>(),
    ) {
        let mut pair = Pair::new(configs, iss, path, seed);
        pair.drain(0);
        let mut at = Time::ZERO;
        let mut total = [0, 0];
        for (i, bytes, gap_ms) in writes {
            at += Span::from_ms(gap_ms);
            while pair.now < at && pair.step() {}
            pair.ends[i].tcp.write(bytes);
            total[i] += bytes;
            pair.drain(i);
        }
        let established = |pair: &Pair, i: usize| pair.ends[i].events.contains(&Event::Established);
        while !(established(&pair, 0) && established(&pair, 1)) && pair.step() {}
        let mut steps = 0;
        let first = usize::from(passive_closes);
        pair.ends[first].tcp.close();
        pair.drain(first);
        let mut second_closed = false;
        while pair.step() {
            steps += 1;
            prop_assert!(steps < 200_000, "no end in sight: {:?} {:?}", pair.ends[0].tcp, pair.ends[1].tcp);
            if !second_closed && pair.ends[1 - first].events.contains(&Event::RemoteClosed) {
                second_closed = true;
                pair.ends[1 - first].tcp.close();
                pair.drain(1 - first);
            }
        }
        for i in 0..2 {
            prop_assert_eq!(pair.ends[1 - i].received, total[i]);
            prop_assert_eq!(pair.ends[i].acknowledged, total[i]);
            prop_assert_eq!(pair.ends[i].tcp.state(), State::Closed);
            let mut events = pair.ends[i].events.clone();
            events.sort_by_key(|event| format!("{event:?}"));
            prop_assert_eq!(events, [Event::Closed, Event::Established, Event::RemoteClosed]);
        }
    }

    /// The receiving application stops and goes on at arbitrary times: the window closes, probes keep it alive.
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
        let mut steps = 0;
        while pair.ends[0].acknowledged < total && pair.step() {
            steps += 1;
            prop_assert!(steps < 500_000, "no end in sight: {:?}", pair.ends[0].tcp);
        }
        prop_assert_eq!(pair.ends[1].received, total);
    }
}
