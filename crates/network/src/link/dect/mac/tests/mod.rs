//! The MAC as a whole, against closed forms and by its properties.

mod account;

use super::config::{
    AttemptLimits, BearerCounts, CallDuration, ChannelListConfig, MacConfig, ProcedureTimers, QualityChain,
    Selection, TerminalType, Transceivers, UserAllocation,
};
use super::resource::UnitSet;
use super::*;
use proptest::prelude::*;

pub(super) fn mac(config: MacConfig, seed: u64) -> Mac {
    Mac::new(config, |purpose| Stream::new(seed, 0, purpose))
}

pub(super) fn run(mac: &mut Mac, until: u64) {
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

#[test]
fn a_terminal_with_nothing_ahead_is_in_no_frame() {
    let mut mac = mac(only(TerminalType::P32, 0.0), 1);
    assert_eq!(mac.next_frame(), u64::MAX);
    let call = Terminal { state: MacState::ActiveLocked, ..Terminal::idle(TerminalType::P32) };
    mac.terminals.push(call);
    let place = mac.terminals.len() - 1;
    mac.schedule(place);
    mac.find_next_frame();
    assert_eq!((mac.calendar.len(), mac.next_frame()), (1, u64::MAX));
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
    // idle from reserved, and 1 frame of time. Two calls that come in one frame can collide: at 8 E and 120 s
    // a call comes in 1 of 1500 frames, so that this is far below the tolerance.
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
    let batches = 30;
    let (mut blocked, mut carried) = (Vec::new(), Vec::new());
    for batch in 0..batches {
        let from = 1_000_000 + batch * 10_000_000;
        mac.restart_measurement(from);
        run(&mut mac, from + 10_000_000);
        let stats = mac.stats(from + 10_000_000);
        let telephones = stats.of(TerminalType::P32);
        blocked.push(telephones.blocking());
        carried.push(telephones.bearer_frames as f64 / stats.frames() as f64);
        assert_eq!(stats.unit_frames[0], 2 * telephones.bearer_frames);
    }
    // Erlang-B by its recursion, B(0) = 1, B(n) = 8 B(n-1) / (n + 8 B(n-1)): B(12) = 0.05141. Carried:
    // 8 (1 - 0.05141) = 7.5887 E.
    let (mean, error) = mean_and_error(&blocked);
    assert!(error < 0.001 && (mean - 0.05141).abs() < 3.0 * error, "{mean} +- {error}");
    let (mean, error) = mean_and_error(&carried);
    assert!(error < 0.02 && (mean - 7.5887).abs() < 3.0 * error, "{mean} +- {error}");
}

/// Of independent values: their mean and its standard error.
fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / (n - 1.0);
    (mean, (variance / n).sqrt())
}

/// A user alone at one RFP, whose bearers need a handover once in 10,000 frames and never get one.
fn user_who_loses_bearers_one_by_one() -> MacConfig {
    let config = MacConfig::default();
    MacConfig {
        rfps: 1,
        load_factor: 0.0,
        quality: QualityChain { good_to_bad: 0.0, handover_need_good: 1e-4, ..config.quality },
        attempts: AttemptLimits { handover_multibearer: 0, ..config.attempts },
        attempt_permission: 1.0,
        timers: ProcedureTimers { bearer_handover_frames: 1, ..config.timers },
        ..config
    }
}

#[test]
fn bearers_lost_one_by_one_and_restored_below_the_threshold_have_the_mean_of_the_closed_form() {
    let mut mac = mac(user_who_loses_bearers_one_by_one(), 5);
    run(&mut mac, 1_000);
    let mut means = Vec::new();
    for batch in 0..30 {
        let from = 1_000 + batch * 20_000_000;
        mac.restart_measurement(from);
        run(&mut mac, from + 20_000_000);
        means.push(mac.stats(from + 20_000_000).mean_user_bearers());
    }
    // A cycle goes through n = 10, 9, ..., 4 and from 3 back to 10. At n it stays 1 / n of a bearer's
    // lifetime: mean = sum of n / n over the sum of 1 / n = 7 / (1/4 + ... + 1/10) = 7 / 1.095635 = 6.38899.
    // The frame for which a bearer in need is kept, and the 7 frames of restoring, shift it by less than
    // 0.002: 6 and 45 bearer frames of 70,000 in a cycle of 10,956 and 14 more.
    let (mean, error) = mean_and_error(&means);
    assert!(error < 0.005 && (mean - 6.38899).abs() < 3.0 * error + 0.004, "{mean} +- {error}");
}

#[test]
fn the_time_at_each_number_of_bearers_is_inverse_to_it() {
    let mut mac = mac(user_who_loses_bearers_one_by_one(), 6);
    let end = 300_000_000;
    run(&mut mac, end);
    let frames = mac.stats(end).frames_by_user_bearers;
    // 27,380 cycles; at n the mean stay is 10,000 / n frames, exponential: standard error of the mean 0.6 %.
    let cycles = 300_000_000.0 / 10_970.0;
    for (n, &spent) in frames.iter().enumerate().skip(4) {
        let stay = spent as f64 / cycles * n as f64;
        assert!((stay - 10_000.0).abs() < 300.0, "{n}: {stay}");
    }
    // In a modification each attempt succeeds: one frame at each of 3 to 9 (the first in the frame of the
    // loss).
    assert!(frames[3] as f64 / cycles < 1.1, "{}", frames[3]);
}

#[test]
fn a_set_up_without_an_idle_channel_is_blocked_after_its_timer_and_begins_again() {
    let config = MacConfig { rfps: 1, carriers: 1, load_factor: 0.0, ..MacConfig::default() };
    let mut mac = mac(config, 7);
    (0..12).for_each(|pair| {
        mac.radio.reserve(Channel { rfp: 0, first_unit: 2 * pair, format: SlotFormat::Full });
    });
    let mut entered = Vec::new();
    let mut state = MacState::IdleLocked;
    while mac.next_frame() < 700 {
        let frame = mac.next_frame();
        mac.run_frame(frame);
        if mac.user_state() != state {
            state = mac.user_state();
            entered.push((frame, state));
        }
    }
    // 300 frames each, Blocked for one.
    assert_eq!(
        entered,
        [
            (0, MacState::CallSetup),
            (300, MacState::Blocked),
            (301, MacState::CallSetup),
            (601, MacState::Blocked),
            (602, MacState::CallSetup)
        ]
    );
    let stats = mac.stats(700);
    let user = stats.of(TerminalType::User);
    // 10 attempts for the first bearer and no more; in the last 98 frames about as many.
    let attempts = user.in_all_procedures(|of| of.attempts);
    assert!(
        (20..=30).contains(&attempts) && user.in_all_procedures(|of| of.attempts_occupied) == attempts,
        "{attempts}"
    );
    assert_eq!(user.entries(MacState::Blocked), 2);
    // 300 + 300 + 98 frames of Call_Setup, 2 of Blocked.
    assert_eq!(user.frames_in_state[MacState::CallSetup as usize], 698);
    assert_eq!(user.frames_in_state[MacState::Blocked as usize], 2);
}

#[test]
fn a_connection_handover_keeps_old_bearers_until_its_timer_and_goes_on_with_the_new_ones() {
    let config = MacConfig::default();
    let config = MacConfig {
        rfps: 2,
        carriers: 1,
        load_factor: 0.0,
        cell_dwell_mean_frames: f64::INFINITY,
        quality: QualityChain { handover_need_good: 0.0, handover_need_bad: 0.0, ..config.quality },
        user: UserAllocation::Procedures {
            bearers: BearerCounts { target: 5, minimum: 1 },
            modification_threshold: 0,
        },
        channel_list: ChannelListConfig { reserved_seen_interfered: 0.0, ..config.channel_list },
        ..config
    };
    let mut mac = mac(config, 11);
    run(&mut mac, 1_000);
    assert_eq!(mac.user_bearers().len(), 5);
    // The other RFP has but two channels left, and the user moves there.
    let (old, new) = (mac.terminals[USER].rfp, 1 - mac.terminals[USER].rfp);
    (0..10).for_each(|pair| {
        mac.radio.reserve(Channel { rfp: new, first_unit: 2 * pair, format: SlotFormat::Full });
    });
    mac.terminals[USER].leave_cell_at(1_500.0);
    mac.schedule(USER);
    mac.find_next_frame();
    let at = |mac: &Mac, rfp| mac.user_bearers().iter().filter(|b| b.channel.rfp == rfp).count();
    run(&mut mac, 1_500);
    assert_eq!((at(&mac, old), at(&mac, new)), (5, 0));
    run(&mut mac, 1_800);
    assert_eq!((at(&mac, old), at(&mac, new)), (3, 2));
    run(&mut mac, 1_801);
    assert_eq!((at(&mac, old), at(&mac, new)), (0, 2));
    assert_eq!(mac.user_state(), MacState::ActiveLocked);
    let stats = mac.stats(1_801);
    assert_eq!(stats.of(TerminalType::User).connection_handover_loss(), 0.6);
}

#[test]
fn the_end_of_a_call_comes_before_a_change_of_cell_and_that_before_a_handover_need() {
    let next = |ends: bool, moves: bool| {
        let config = MacConfig { attempt_permission: 1.0, ..only(TerminalType::P32, 0.0) };
        let mut mac = mac(config, 12);
        let place = mac.begin_call(TerminalType::P32, 0.0);
        mac.terminals[place].ends_at = u64::MAX;
        mac.terminals[place].leave_cell_at(f64::INFINITY);
        mac.schedule(place);
        mac.find_next_frame();
        run(&mut mac, 10);
        assert_eq!(mac.terminals[place].state, MacState::ActiveLocked);
        let terminal = &mut mac.terminals[place];
        terminal.bearers[0].needs_handover_at = 50;
        terminal.ends_at = if ends { 50 } else { u64::MAX };
        terminal.leave_cell_at(if moves { 50.0 } else { f64::INFINITY });
        mac.calendar.clear();
        mac.schedule(place);
        mac.find_next_frame();
        run(&mut mac, 51);
        mac.terminals[place].state
    };
    assert_eq!(next(true, true), MacState::IdleLocked);
    assert_eq!(next(false, true), MacState::ConnectionHandover);
    assert_eq!(next(false, false), MacState::BearerHandover);
}

#[test]
fn a_user_dwells_in_each_cell_alike() {
    let config = MacConfig::default();
    let config = MacConfig {
        load_factor: 0.0,
        attempt_permission: 1.0,
        quality: QualityChain { handover_need_good: 0.0, handover_need_bad: 0.0, ..config.quality },
        // Its own channels are never tried in vain, so that no bearer is lost.
        channel_list: ChannelListConfig { reserved_seen_interfered: 0.0, ..config.channel_list },
        ..config
    };
    let mut mac = mac(config, 13);
    let end = 60_000_000;
    run(&mut mac, end);
    let stats = mac.stats(end);
    let handovers = stats.of(TerminalType::User).entries(MacState::ConnectionHandover);
    // One in 6000 frames: 10,000, standard deviation 100. A change within the 11 frames of another handover
    // can undo it, which takes less than 20.
    assert!((9_680..=10_300).contains(&handovers), "{handovers}");
    // The time in a cell: a third. About 3333 stays of 6000 +- 6000 frames in each: standard error of a share
    // about sqrt(2/9 * 2 / 10000) = 0.7 %.
    for units in stats.unit_frames {
        let share = units as f64 / (20 * end) as f64;
        assert!((share - 1.0 / 3.0).abs() < 0.02, "{share}");
    }
}

#[test]
fn fixed_bearers_stay_and_move_between_good_and_bad() {
    let config = MacConfig { user: UserAllocation::Fixed { bearers: 10 }, ..MacConfig::default() };
    let mut mac = mac(config, 8);
    let ids: Vec<_> = mac.user_bearers().iter().map(|bearer| bearer.id).collect();
    run(&mut mac, 100_000);
    assert_eq!(mac.user_bearers().iter().map(|bearer| bearer.id).collect::<Vec<_>>(), ids);
    let stats = mac.stats(100_000);
    assert_eq!(stats.mean_user_bearers(), 10.0);
    assert_eq!(stats.of(TerminalType::User).entries(MacState::BearerHandover), 0);
    let mut changes = 0;
    while let Some(event) = mac.poll_user_event() {
        changes += u32::from(matches!(event, UserEvent::QualityChanged(..)));
    }
    // Two changes a cycle of 55 frames, 10 bearers: 36,364; about 190 standard deviation.
    assert!((35_700..=37_000).contains(&changes), "{changes}");
}

#[test]
fn sums_over_states_are_those_of_the_time_observed() {
    let mut mac = mac(MacConfig::default(), 9);
    mac.keep_occupancy();
    run(&mut mac, 50_000);
    let whole = mac.stats(50_000);
    // The user is in one state at any time.
    assert_eq!(whole.of(TerminalType::User).frames_in_state.iter().sum::<u64>(), 50_000);
    assert_eq!(whole.frames_by_user_bearers.iter().sum::<u64>(), 50_000);
    // The log accounts for every unit and frame, and for every bearer.
    let log = mac.occupancy(50_000);
    for rfp in 0..3 {
        let logged: u64 = log
            .iter()
            .filter(|o| usize::from(o.channel.rfp) == rfp)
            .map(|o| u64::from(o.channel.format.width()) * (o.until_frame - o.from_frame))
            .sum();
        assert_eq!(logged, whole.unit_frames[rfp]);
    }
    for kind in TerminalType::ALL {
        let logged: u64 = log.iter().filter(|o| o.kind == kind).map(|o| o.until_frame - o.from_frame).sum();
        assert_eq!(logged, whole.of(kind).bearer_frames);
    }
}

#[test]
fn a_telephone_has_its_bearer_in_the_states_of_a_connection_and_one_frame_before() {
    let frames = 100_000;
    let mut mac = mac(MacConfig::default(), 16);
    run(&mut mac, frames);
    let stats = mac.stats(frames);
    for kind in [TerminalType::P08j, TerminalType::P32, TerminalType::P80] {
        let of = stats.of(kind);
        let connected: u64 = [MacState::ActiveLocked, MacState::BearerHandover, MacState::ConnectionHandover]
            .iter()
            .map(|&state| of.frames_in_state[state as usize])
            .sum();
        // A bearer set up in frame F shows in the state in F + 1. Dropped has no bearer any more.
        let set_up = of.transitions[MacState::CallSetup as usize][MacState::ActiveLocked as usize];
        let just_now = mac
            .terminals
            .iter()
            .filter(|t| t.kind == kind && t.state == MacState::CallSetup && !t.bearers.is_empty())
            .count() as u64;
        assert!(set_up > 100, "{}", kind.name());
        assert_eq!(of.bearer_frames, connected + set_up + just_now, "{}", kind.name());
    }
}

#[test]
fn a_measurement_counts_from_its_beginning() {
    let run_measured = |restart: Option<u64>| {
        let mut mac = mac(MacConfig::default(), 10);
        if let Some(frame) = restart {
            run(&mut mac, frame);
            mac.restart_measurement(frame);
        }
        run(&mut mac, 40_000);
        mac.stats(40_000)
    };
    let (whole, last, first) = (run_measured(None), run_measured(Some(15_000)), {
        let mut mac = mac(MacConfig::default(), 10);
        run(&mut mac, 15_000);
        mac.stats(15_000)
    });
    assert_eq!((last.from_frame, last.until_frame), (15_000, 40_000));
    for kind in TerminalType::ALL {
        let of = |stats: &MacStats| {
            let stats = stats.of(kind);
            let spent: u64 = stats.frames_in_state.iter().sum();
            (stats.bearer_frames, stats.in_all_procedures(|of| of.attempts), stats.calls(), spent)
        };
        let (whole, first, last) = (of(&whole), of(&first), of(&last));
        assert_eq!(whole.0, first.0 + last.0);
        assert_eq!(whole.1, first.1 + last.1);
        assert_eq!(whole.2, first.2 + last.2);
        assert_eq!(whole.3, first.3 + last.3);
    }
}

#[test]
fn a_short_run_reads_as_it_should() {
    let mut config = MacConfig {
        rfps: 2,
        carriers: 1,
        cell_dwell_mean_frames: 500.0,
        handover_need_mean_frames: 1000.0,
        handover_need_factor: 5.0,
        timers: ProcedureTimers {
            call_setup_frames: 60,
            bearer_handover_frames: 60,
            connection_handover_frames: 60,
            connection_modification_frames: 60,
        },
        data_bearers: BearerCounts { target: 3, minimum: 1 },
        user: UserAllocation::Procedures {
            bearers: BearerCounts { target: 4, minimum: 1 },
            modification_threshold: 3,
        },
        ..MacConfig::default()
    };
    config.traffic.iter_mut().for_each(|traffic| {
        traffic.offered_erlang = 2.0;
        traffic.duration = CallDuration::Exponential { mean_frames: 250.0 };
    });
    let mut mac = mac(config, 1);
    mac.keep_trace();
    run(&mut mac, 700);
    insta::assert_snapshot!(mac.trace());
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
