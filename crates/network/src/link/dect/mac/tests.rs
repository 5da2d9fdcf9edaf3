//! The MAC as a whole, against closed forms and by its properties.

use super::config::{
    AttemptLimits, BearerCounts, ChannelListConfig, MacConfig, ProcedureTimers, Selection, TerminalType,
    Transceivers, UserAllocation,
};
use super::resource::UnitSet;
use super::*;
use proptest::prelude::*;

fn mac(config: MacConfig, seed: u64) -> Mac {
    Mac::new(config, |purpose| Stream::new(seed, 0, purpose))
}

fn run(mac: &mut Mac, until: u64) {
    while mac.next_frame() < until {
        mac.run_frame(mac.next_frame());
    }
}

/// No calls but those of the named type, and no user's bearers.
fn only(kind: TerminalType, offered_erlang: f64) -> MacConfig {
    let mut config = MacConfig { user: UserAllocation::Fixed { bearers: 0 }, ..MacConfig::default() };
    for (place, traffic) in config.traffic.iter_mut().enumerate() {
        traffic.offered_erlang = if place == kind as usize { offered_erlang } else { 0.0 };
    }
    config
}

/// Every occupied unit belongs to exactly one bearer.
fn units_of_bearers(mac: &Mac) -> Vec<UnitSet> {
    let mut units = vec![UnitSet::EMPTY; mac.config.rfps as usize];
    for bearer in mac.terminals.iter().flat_map(|terminal| &terminal.bearers) {
        let of_rfp = &mut units[usize::from(bearer.channel.rfp)];
        assert!(!of_rfp.intersects(bearer.channel.units()), "two bearers share a unit");
        *of_rfp = of_rfp.union(bearer.channel.units());
    }
    units
}

#[test]
fn one_cell_of_telephones_loses_calls_by_erlangs_formula() {
    // A single RFP of one carrier: 12 channels. Set-up is ideal: permission in every frame, a list that tells
    // idle from reserved, and 1 frame of time. Two calls that come in one frame can collide: at 8 E and 120 s a
    // call comes in 1 of 1500 frames, so that this is far below the tolerance.
    let config = MacConfig {
        rfps: 1,
        carriers: 1,
        attempt_permission: 1.0,
        handover_need_mean_frames: f64::INFINITY,
        timers: ProcedureTimers { call_setup_frames: 1, ..MacConfig::default().timers },
        channel_list: ChannelListConfig {
            reserved_seen_interfered: 0.0,
            ..MacConfig::default().channel_list
        },
        ..only(TerminalType::P32, 8.0)
    };
    let mut mac = mac(config, 3);
    run(&mut mac, 1_000_000);
    mac.restart_measurement(1_000_000);
    let end = 301_000_000;
    run(&mut mac, end);
    let stats = mac.stats(end);
    let telephones = stats.of(TerminalType::P32);
    let calls = telephones.calls() as f64;
    let blocked = telephones.entries(MacState::Blocked) as f64 / calls;
    // Erlang-B by its recursion, B(0) = 1, B(n) = 8 B(n-1) / (n + 8 B(n-1)): B(12) = 0.05141.
    // 200,000 calls; losses come in clusters while all channels are busy: their count has a variance of about
    // (1 + 2 * 8 / 12) times the Poisson one, so that the standard error is below sqrt(0.0514 / 2e5) * 1.6.
    assert!((blocked - 0.05141).abs() < 3.0 * 0.00082, "{blocked} of {calls}");
    // Carried: 8 (1 - 0.05141) = 7.589 E of 12 channels.
    let carried = telephones.bearer_frames as f64 / stats.frames() as f64;
    assert!((carried - 7.589).abs() < 0.03, "{carried}");
    assert_eq!(stats.unit_frames[0], 2 * telephones.bearer_frames);
}

#[test]
fn the_reference_runs_and_is_determined_by_its_seed() {
    let trace = |seed| {
        let mut mac = mac(MacConfig::default(), seed);
        mac.keep_trace();
        run(&mut mac, 30_000);
        (mac.trace().to_owned(), mac.stats(30_000))
    };
    assert!(trace(1) == trace(1));
    assert_ne!(trace(1).0, trace(2).0);
}

#[test]
fn a_user_has_what_the_events_say() {
    let mut mac = mac(MacConfig { carry_data_in_setup: false, ..MacConfig::default() }, 4);
    let mut known: Vec<(BearerId, Quality)> = Vec::new();
    let mut changes = 0;
    while mac.next_frame() < 200_000 {
        mac.run_frame(mac.next_frame());
        while let Some(event) = mac.poll_user_event() {
            match event {
                // A bearer that was set up before it may carry data can be bad by then.
                UserEvent::Established(id) => {
                    let bearer = mac.user_bearers().iter().find(|b| b.id == id).expect("carries data");
                    known.push((id, bearer.quality));
                }
                UserEvent::Released(id) => known.retain(|&(k, _)| k != id),
                UserEvent::QualityChanged(id, quality) => {
                    changes += 1;
                    let place = known.iter().position(|&(k, _)| k == id).expect("an established bearer");
                    assert_ne!(known[place].1, quality);
                    known[place].1 = quality;
                }
            }
        }
        let mut shown: Vec<_> = mac.user_bearers().iter().map(|b| (b.id, b.quality)).collect();
        shown.sort_by_key(|b| b.0);
        known.sort_by_key(|b| b.0);
        assert_eq!(shown, known);
        let ids = shown;
        if mac.user_state() == MacState::CallSetup {
            assert!(ids.is_empty());
        }
    }
    assert!(changes > 1000);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn occupied_units_are_those_of_the_bearers(
        seed in 0u64..1000,
        load_factor in 0.1f64..4.0,
        quiet_first: bool,
        one_per_pair: bool,
        handover in 1u32..5,
        target in 1u32..14,
    ) {
        let config = MacConfig {
            load_factor,
            channel_list: ChannelListConfig {
                selection: if quiet_first { Selection::QuietFirst } else { Selection::Uniform },
                ..MacConfig::default().channel_list
            },
            transceivers: if one_per_pair { Transceivers::OnePerSlotPair } else { Transceivers::Unlimited },
            attempts: AttemptLimits { handover_multibearer: handover, ..MacConfig::default().attempts },
            data_bearers: BearerCounts { target, minimum: target.div_ceil(3) },
            handover_need_factor: 5.0,
            ..MacConfig::default()
        };
        let mut mac = mac(config, seed);
        while mac.next_frame() < 6_000 {
            mac.run_frame(mac.next_frame());
            let units = units_of_bearers(&mac);
            for (rfp, units) in units.into_iter().enumerate() {
                prop_assert_eq!(units, mac.radio.occupied(rfp as u8));
            }
            for terminal in &mac.terminals {
                let target = mac.config.bearer_counts(terminal.kind).target as usize;
                prop_assert!(terminal.bearers.len() <= target);
                if terminal.state == MacState::IdleLocked {
                    prop_assert!(terminal.bearers.is_empty());
                }
                // Handed-over bearers too keep to one a slot pair.
                if one_per_pair {
                    for (n, a) in terminal.bearers.iter().enumerate() {
                        for b in &terminal.bearers[..n] {
                            prop_assert!(a.channel.slot_pair() != b.channel.slot_pair());
                        }
                    }
                }
            }
        }
    }
}
