//! Network entry beside what arithmetic says of it: a uniform phase and whole frames; stations that begin
//! together.

use super::joining::{at, entry, go_on};
use super::{FAST, Work, config, us};
use crate::link::indication::LinkEvent;
use crate::link::stations::Stations;
use crate::testing::stream;

/// Connected stations at one place, with a first window of two to the power of `backoff_start`, in a cell
/// whose descriptors come seldom.
fn connected(stations: usize, backoff_start: u32) -> Work {
    let mut with = config(&vec![FAST; stations]);
    let mut known = entry(vec![at(50.0); stations]);
    known.station.known_descriptors = true;
    known.station.backoff_start = backoff_start;
    (known.downlink_descriptor, known.uplink_descriptor) = ((0, 1_000_000), (0, 1_000_000));
    with.entry = Some(known);
    let mut work = Work::new(with);
    go_on(&mut work, 9_999_999);
    work
}

#[test]
fn entry_takes_a_uniform_phase_and_seven_frames() {
    // Ranging comes at 2.5 and 2.75 ms of each fourth frame of 5 ms, the acknowledgement of the last
    // connection seven frames later, 0.75 ms from the begin of the frame.
    let mut work = connected(1, 0);
    let mut draws = stream("begins");
    let rounds = 400;
    let mut took_ms = Vec::new();
    for round in 0..rounds {
        let begins_us = 10_000_000 + 200_000 * round + draws.below(100_000);
        go_on(&mut work, begins_us);
        Stations::leave(&mut work.cell, us(begins_us), 0);
        Stations::associate(&mut work.cell, us(begins_us), 0);
        let found = go_on(&mut work, 10_000_000 + 200_000 * (round + 1) - 1);
        let up = found.iter().find(|(.., event)| *event == LinkEvent::Up).map(|(at_us, ..)| *at_us);
        let region_us = begins_us.saturating_sub(2750).div_ceil(20_000) * 20_000;
        assert_eq!(up, Some(region_us + 7 * 5000 + 750));
        took_ms.push(up.map_or(0.0, |up| (up - begins_us) as f64 / 1000.0));
    }
    // Who comes just before 2.75 ms takes 33 ms; the wait before is uniform on 20 ms.
    took_ms.sort_by(f64::total_cmp);
    let mean = took_ms.iter().sum::<f64>() / rounds as f64;
    // Its standard error: 20 / sqrt(12 * 400) = 0.29.
    assert!((mean - 43.0).abs() < 0.9, "{mean}");
    // Kolmogorov and Smirnov: one in a thousand is beyond 1.95 / sqrt(400).
    let furthest =
        (1..).zip(&took_ms).map(|(n, took)| (f64::from(n) / rounds as f64 - (took - 33.0) / 20.0).abs());
    let furthest = furthest.fold(0.0, f64::max);
    assert!(furthest < 0.0975, "{furthest}");
}

#[test]
fn stations_that_begin_together_are_heard_at_once_as_often_as_others_choose_otherwise() {
    for (stations, exponent, expected) in
        // (1 - 2^-s)^(n - 1): 7/8 to the fourth power; 3/4 to the second.
        [(5, 3, 0.586), (3, 2, 0.5625)]
    {
        let mut work = connected(stations, exponent);
        let rounds = 300;
        let mut heard = 0;
        for round in 0..rounds {
            let begins_us = 10_000_000 + 3_000_000 * round;
            go_on(&mut work, begins_us);
            let count = |work: &Work, n: usize| work.cell.station_stats(n as u32).collided_ranging_requests;
            let before: Vec<u64> = (0..stations).map(|n| count(&work, n)).collect();
            for n in 0..stations as u32 {
                Stations::leave(&mut work.cell, us(begins_us), n);
                Stations::associate(&mut work.cell, us(begins_us), n);
            }
            // All windows are over, and no T3 is.
            go_on(&mut work, begins_us + 190_000);
            heard += (0..stations).filter(|&n| count(&work, n) == before[n]).count();
        }
        let found = heard as f64 / (rounds as usize * stations) as f64;
        // A standard error of 0.02 or less, were they independent; those of a round go together.
        assert!((found - expected).abs() < 0.06, "{stations} {exponent}: {found} for {expected}");
    }
}
