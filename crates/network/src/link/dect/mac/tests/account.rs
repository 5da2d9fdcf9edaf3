//! What is counted, held against the readable account of a run.

use super::{mac, run};
use crate::link::dect::mac::Mac;
use crate::link::dect::mac::config::UserAllocation;
use crate::link::dect::mac::config::{BearerCounts, MacConfig, TerminalType};
use crate::link::dect::mac::state::MacState;
use crate::link::dect::mac::stats::ProcedureStats;
use std::collections::BTreeMap;

/// Transitions and frames in states by type, read from the account of a run.
fn counts_of_the_account(mac: &Mac, frames: u64) -> [([[u64; 8]; 8], [u64; 8]); 5] {
    let state_named = |name: &str| {
        MacState::ALL.iter().position(|state| state.name() == name).expect("the name of a state")
    };
    let mut counts = [([[0; 8]; 8], [0; 8]); 5];
    // Each call by type and number: its state and since when. The user's next call goes on where the last
    // ended.
    let mut calls: BTreeMap<(usize, u64), (usize, u64)> = Default::default();
    for line in mac.trace().lines().filter(|line| line.contains(" -> ")) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let kind = TerminalType::ALL.iter().position(|kind| kind.name() == words[1]).expect("a type");
        let call = if TerminalType::ALL[kind] == TerminalType::User { 0 } else { words[2].parse().unwrap() };
        let frame: u64 = words[0].parse().unwrap();
        let (from, to) = (state_named(words[3]), state_named(words[5].trim_end_matches(',')));
        let (transitions, in_state) = &mut counts[kind];
        transitions[from][to] += 1;
        if let Some((state, since)) = calls.insert((kind, call), (to, frame)) {
            assert_eq!(state, from, "{line}");
            in_state[state] += frame - since;
        }
    }
    let idle = state_named("Idle_Locked");
    for ((kind, _), (state, since)) in calls {
        counts[kind].1[state] += if state == idle { 0 } else { frames - since };
    }
    counts
}

#[test]
fn states_and_transitions_of_every_type_are_those_of_the_account() {
    let frames = 100_000;
    // Few channels and a high minimum, so that everything happens to everyone.
    let user = UserAllocation::Procedures {
        bearers: BearerCounts { target: 10, minimum: 4 },
        modification_threshold: 6,
    };
    let mut mac = mac(MacConfig { load_factor: 3.0, user, ..MacConfig::default() }, 15);
    mac.keep_trace();
    run(&mut mac, frames);
    let stats = mac.stats(frames);
    for (kind, (transitions, in_state)) in
        TerminalType::ALL.into_iter().zip(counts_of_the_account(&mac, frames))
    {
        assert_eq!(stats.of(kind).transitions, transitions, "{}", kind.name());
        assert_eq!(stats.of(kind).frames_in_state, in_state, "{}", kind.name());
        let modifications = stats.of(kind).entries(MacState::ConnectionModification);
        assert_eq!(modifications > 0, kind == TerminalType::User);
    }
    // Arrows of the diagram are those that somebody takes.
    for (from, to) in MacState::ALL.into_iter().flat_map(|from| MacState::ALL.map(|to| (from, to))) {
        let taken = stats.types.iter().any(|of| of.transitions[from as usize][to as usize] > 0);
        assert_eq!(taken, MacState::DIAGRAM.contains(&(from, to)), "{from:?} to {to:?}");
    }
}

/// What each procedure tried by type, read from the account of a run. Counted are attempts from the last
/// bearer that was obtained, passed over after `limit` attempts of a connection handover, or left with its
/// procedure.
fn attempts_of_the_account(mac: &Mac) -> BTreeMap<(&str, &str), ProcedureStats> {
    let mut counts: BTreeMap<(&str, &str), ProcedureStats> = BTreeMap::new();
    // By type and number of the call: its state, the attempts for the present bearer.
    let mut calls: BTreeMap<(&str, &str), (&str, u32)> = BTreeMap::new();
    for line in mac.trace().lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (kind, call) = (words[1], if words[1] == "User" { "" } else { words[2] });
        let (state, attempts) = calls.entry((kind, call)).or_default();
        if line.contains(" -> ") {
            (*state, *attempts) = (words[5].trim_end_matches(','), 0);
            continue;
        }
        let of = counts.entry((kind, *state)).or_default();
        *attempts += 1;
        of.attempts += 1;
        of.bearers_tried += u64::from(*attempts == 1);
        of.bearers_tried_again += u64::from(*attempts == 2);
        match *words.last().expect("an outcome") {
            "idle" => of.bearers_obtained += 1,
            "occupied" => of.attempts_occupied += 1,
            _ => of.attempts_collided += 1,
        }
        let limits = mac.config.attempts;
        let limit = if ["Data", "User"].contains(&kind) {
            limits.handover_multibearer
        } else {
            limits.handover_single_bearer
        };
        if line.ends_with("idle") || *state == "Connection_HO" && *attempts == limit {
            *attempts = 0;
        }
    }
    counts
}

#[test]
fn attempts_of_every_procedure_are_those_of_the_account() {
    let mut mac = mac(MacConfig { load_factor: 1.5, ..MacConfig::default() }, 15);
    mac.keep_trace();
    run(&mut mac, 100_000);
    let stats = mac.stats(100_000);
    let counts = attempts_of_the_account(&mac);
    for kind in TerminalType::ALL {
        for state in MacState::PROCEDURES {
            let counted = ProcedureStats { bearers_lost: 0, ..stats.of(kind).procedure(state) };
            let told = counts.get(&(kind.name(), state.name())).copied().unwrap_or_default();
            assert_eq!(counted, told, "{} {}", kind.name(), state.name());
        }
    }
    let user = stats.of(TerminalType::User).procedure(MacState::ConnectionHandover);
    assert!(user.bearers_tried_again > 20 && user.bearers_lost > 10, "{user:?}");
    // Two attempts: a bearer that was tried twice in vain is passed over, and lost at the timer.
    assert_eq!(user.attempts, user.bearers_tried + user.bearers_tried_again);
}

#[test]
fn a_second_attempt_is_as_probable_as_an_occupied_first_pick() {
    // A user with one of 12 channels, all others idle, who hands it over: his own is on the list, seen as
    // interfered, with probability 1/2, and then he picks it with 1/12. The first attempt fails with 1/24, no
    // other terminal being there to collide with.
    let config = MacConfig {
        rfps: 1,
        carriers: 1,
        handover_need_factor: 50.0,
        user: UserAllocation::Procedures {
            bearers: BearerCounts { target: 1, minimum: 1 },
            modification_threshold: 1,
        },
        traffic: MacConfig::default()
            .traffic
            .map(|traffic| crate::link::dect::mac::config::Traffic { offered_erlang: 0.0, ..traffic }),
        ..MacConfig::default()
    };
    let mut mac = mac(config, 17);
    run(&mut mac, 2_000_000);
    let of = mac.stats(2_000_000).of(TerminalType::User).procedure(MacState::BearerHandover);
    let (n, p) = (of.bearers_tried as f64, 1.0 / 24.0);
    assert!(n > 10_000.0, "{n}");
    let share = of.bearers_tried_again as f64 / n;
    assert!((share - p).abs() < 3.0 * (p * (1.0 - p) / n).sqrt(), "{share} of {n}");
}

#[test]
fn a_part_is_not_larger_than_its_whole_wherever_the_measurement_begins() {
    // One measurement after the other: many begin between two attempts for a bearer, or amid a call that is
    // blocked or dropped afterwards.
    let (mut tried_again, mut failed, mut failed_of_before) = (0, 0, 0);
    for frames in [25, 2000] {
        let mut mac = mac(MacConfig { load_factor: 3.0, ..MacConfig::default() }, 15);
        for begin in (0..100_000).step_by(frames as usize) {
            run(&mut mac, begin);
            mac.restart_measurement(begin);
            run(&mut mac, begin + frames);
            let stats = mac.stats(begin + frames);
            for kind in TerminalType::ALL {
                let of = stats.of(kind);
                for state in MacState::PROCEDURES {
                    let counted = of.procedure(state);
                    assert!(counted.bearers_tried_again <= counted.bearers_tried, "{begin}: {counted:?}");
                    tried_again += counted.bearers_tried_again;
                }
                assert!(of.blocked <= of.calls() && of.dropped <= of.calls(), "{begin}: {of:?}");
                failed += of.blocked + of.dropped;
                failed_of_before += of.entries(MacState::Blocked) + of.entries(MacState::Dropped);
            }
        }
    }
    failed_of_before -= failed;
    let all = [tried_again, failed, failed_of_before];
    assert!(all.iter().all(|&count| count > 100), "{all:?}");
}
