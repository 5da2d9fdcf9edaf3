//! Cells whose radios stand and walk: hidden stations, exposed ones, and frames that begin in reach and end
//! outside.
//!
//! 20 dBm in free space at 2.412 GHz: -40.095 dBm arrive at 1 m less 20 dB, and 20 dB less a decade. -61 dBm
//! are reached at 10^((81 - 40.095) / 20) = 110.98 m, -66 dBm at 197.4 m.

use super::bianchi::b;
use super::*;
use crate::link::propagation::{PathLoss, Propagation};
use crate::link::testing::{datagram, stream};
use crate::mobility::Point;
use roamsim_engine::Span;

pub(in crate::link::wifi) fn radio(
    carrier_sense_threshold_dbm: f64,
    shadowing_deviation_db: f64,
) -> RadioConfig {
    RadioConfig {
        propagation: Propagation {
            transmit_power_dbm: 20.0,
            frequency_hz: 2.412e9,
            path_loss: PathLoss::FreeSpace,
            shadowing_deviation_db,
        },
        reception_threshold_dbm: -61.0,
        thresholds_by_rate: Vec::new(),
        carrier_sense_threshold_dbm,
        shadowing: shadowing::Redrawn::PerFrame,
        capture: None,
        sinr: None,
    }
}

/// 802.11b, with the access point at the origin and stations to the right of it.
fn cell(radio: RadioConfig, stations_m: &[f64]) -> Cell {
    let places = std::iter::once(&0.0).chain(stations_m).map(|&x_m| Trajectory::fixed(Point::new(x_m, 0.0)));
    Cell::with_places(b(stations_m.len(), 2347), radio, places.collect(), stream)
}

fn us(us: u64) -> Time {
    Time::ZERO + Span::from_us(us)
}

/// A packet of 248 octets from a station, counted from 1: data of 399 us, an ACK of 248.
fn upload(cell: &mut Cell, now: Time, station: u32) {
    let (_, up) = cell.attachments_of(station - 1);
    let taken = cell.enqueue(&mut Context { now, random: &mut stream("cell") }, up, datagram(248));
    assert_eq!(taken, Ok(()));
}

fn work(cell: &mut Cell, until: Time) {
    while let Some(now) = cell.poll_timeout().filter(|&now| now <= until) {
        cell.handle_timeout(&mut Context { now, random: &mut stream("cell") });
    }
}

#[test]
fn stations_on_both_sides_of_the_access_point_are_hidden_from_each_other() {
    // 80 m to the access point, 160 m to each other.
    let mut hidden = cell(radio(-61.0, 0.0), &[-80.0, 80.0]);
    upload(&mut hidden, us(1000), 1);
    upload(&mut hidden, us(1200), 2);
    work(&mut hidden, us(1622));
    assert_eq!(hidden.radio_time(1).failed_attempts, 1, "the second began in the middle of the first");
    assert_eq!(hidden.medium_time(0).collisions, Span::from_us(1599 - 1000));
    assert!(hidden.poll_delivery(us(1622)).is_none());

    // On the same side they are 10 m from each other, and the second waits.
    let mut near = cell(radio(-61.0, 0.0), &[80.0, 70.0]);
    upload(&mut near, us(1000), 1);
    upload(&mut near, us(1200), 2);
    work(&mut near, us(9000));
    assert_eq!((near.radio_time(1).failed_attempts, near.radio_time(2).failed_attempts), (0, 0));
}

#[test]
fn what_is_heard_without_being_understood_keeps_the_medium_busy() {
    let mut cell = cell(radio(-66.0, 0.0), &[-80.0, 80.0]);
    upload(&mut cell, us(1000), 1);
    upload(&mut cell, us(1200), 2);
    work(&mut cell, us(1400));
    // Not understood by the second: EIFS from 1399 on. By the access point: it answers.
    assert_eq!(
        (cell.medium.ear(RadioIndex(2)).ifs, cell.medium.ear(RadioIndex(2)).nav),
        (Span::from_us(364), Time::ZERO)
    );
    cell.radios[RadioIndex(2)].own.backoff_slots = Some(4);
    work(&mut cell, us(1786));
    // The ACK, from 1409 to 1657, is understood: DIFS and four slots, 1657 + 50 + 80.
    assert_eq!(cell.radio_time(2).attempts, 0);
    work(&mut cell, us(1787));
    assert_eq!(cell.radio_time(2).attempts, 1);
    work(&mut cell, us(9000));
    assert_eq!((cell.radio_time(1).failed_attempts, cell.radio_time(2).failed_attempts), (0, 0));
}

#[test]
fn a_frame_that_ends_out_of_reach_is_not_understood() {
    // A thousand metres a second from 109.9 m on: at 1000 us 110.9 m and in reach, at 1399 us 111.3 m and
    // not.
    let start = Trajectory::waypoints(
        Point::new(109.9, 0.0),
        Time::ZERO,
        &[(Point::new(200.0, 0.0), 1000.0, Span::ZERO)],
    );
    let fixed = Trajectory::fixed(Point::new(0.0, 0.0));
    for (walk, failed) in [(start, 1), (Trajectory::fixed(Point::new(110.9, 0.0)), 0)] {
        let mut cell = Cell::with_places(b(1, 2347), radio(-61.0, 0.0), vec![fixed.clone(), walk], stream);
        upload(&mut cell, us(1000), 1);
        work(&mut cell, us(1700));
        assert_eq!(cell.radio_time(1).failed_attempts, failed);
    }
}

#[test]
fn who_is_out_of_reach_is_given_up_after_seven_attempts() {
    let mut cell = cell(radio(-61.0, 0.0), &[111.5]);
    upload(&mut cell, us(1000), 1);
    work(&mut cell, Time::MAX);
    assert_eq!(cell.radio_time(1).attempts, 7);
    assert_eq!(cell.poll_drop().map(|(_, _, dropped)| dropped.reason), Some(DropReason::RetryLimit));
    assert_eq!(cell.medium_time(0).data, Span::ZERO, "the access point hears nothing");
}

#[test]
fn shadowing_decides_frame_by_frame() {
    // At 110.98 m the median is the threshold: half of the data frames arrive, and half of the ACKs to them.
    let mut cell = cell(radio(-61.0, 4.0), &[110.98]);
    for frame in 0..2000 {
        let now = Time::from_ns(frame * 100_000_000);
        upload(&mut cell, now, 1);
        work(&mut cell, now + Span::from_ms(99));
    }
    let time = cell.radio_time(1);
    let share = time.failed_attempts as f64 / time.attempts as f64;
    // 3/4, with a standard error of sqrt(3/16 / attempts), some 0.006 of 5000 and more.
    assert!(time.attempts > 5000 && (share - 0.75).abs() < 0.02, "{share} of {}", time.attempts);
}
