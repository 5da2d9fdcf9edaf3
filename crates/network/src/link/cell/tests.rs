//! Tests of the cell as a link.

use super::coverage::ErrorUnit;
use super::*;
use crate::mobility::Point;
use crate::packet;
use crate::queue::codel;
use crate::testing::{datagram, stream};

/// 1000 octets take 1 ms at 8 Mb/s.
fn cell(coverage: Coverage, delay: Option<Span>, stations_m: &[f64]) -> Cell {
    cell_under(Rule::DropTail, coverage, delay, stations_m)
}

fn cell_under(rule: Rule, coverage: Coverage, delay: Option<Span>, stations_m: &[f64]) -> Cell {
    let config = CellConfig {
        rate_bps: 8_000_000,
        delay,
        queue: QueueLimit::Packets(2),
        rule,
        mtu_bytes: 1500,
        coverage,
        beacons: BeaconConfig {
            period: Span::from_ms(100),
            start: Time::ZERO,
            lifetime: 3,
            bytes: 100,
            going_down_ahead: None,
        },
    };
    let at = |x_m: &f64| Trajectory::fixed(Point::new(*x_m, 0.0));
    let streams = |station, purpose: &str| stream(&format!("{station} {purpose}"));
    Cell::new(config, Trajectory::fixed(Point::default()), stations_m.iter().map(at).collect(), streams)
}

/// A cell of one station that walks.
pub(super) fn cell_with(coverage: Coverage, beacons: BeaconConfig, walk: Trajectory) -> Cell {
    let mut cell = cell(coverage, None, &[0.0]);
    cell.beacons = Beacons::new(beacons);
    cell.stations[0].trajectory = walk;
    cell
}

pub(super) fn disc(radius_m: f64) -> Coverage {
    Coverage::Disc { radius_m }
}

fn at_us(us: u64) -> Time {
    Time::ZERO + Span::from_us(us)
}

fn enqueue(cell: &mut Cell, now: Time, from: Attachment, bytes: u32) -> Result<(), Dropped> {
    cell.enqueue(&mut Context { now, random: &mut stream("unused") }, from, datagram(bytes))
}

/// Arrivals until nothing is left: (nanoseconds, attachment).
fn arrivals(cell: &mut Cell) -> Vec<(u64, u32)> {
    let mut found = Vec::new();
    while let Some(now) = cell.poll_timeout() {
        while let Some((to, _)) = cell.poll_delivery(now) {
            found.push((now.as_ns(), to.0));
        }
    }
    found
}

#[test]
fn propagation_takes_the_distance_over_the_speed_of_light() {
    // 299.792458 m are 1 us of light, 2997.92458 m are 10 us.
    let mut cell = cell(disc(5000.0), None, &[299.792_458, 2_997.924_58]);
    let (near, far) = (cell.sub_interface(0), cell.sub_interface(1));
    assert_eq!((near, far, cell.station_interface(1)), (Attachment(1), Attachment(2), Attachment(4)));
    enqueue(&mut cell, Time::ZERO, far, 1000).expect("in reach");
    // The base station has one transmitter: the second begins when the first has left.
    enqueue(&mut cell, Time::ZERO, near, 1000).expect("in reach");
    assert_eq!(arrivals(&mut cell), [(1_010_000, 4), (2_001_000, 3)]);
    // Stations have transmitters of their own, and the base station's is another one.
    let [up_near, up_far] = [cell.station_interface(0), cell.station_interface(1)];
    for from in [up_near, up_far, near] {
        enqueue(&mut cell, at_us(10_000), from, 1000).expect("in reach");
    }
    assert_eq!(arrivals(&mut cell), [(11_001_000, 1), (11_001_000, 3), (11_010_000, 2)]);
}

#[test]
fn a_given_delay_is_the_same_everywhere_and_a_small_packet_does_not_overtake_in_its_direction() {
    let mut cell = cell(disc(5000.0), Some(Span::from_ms(3)), &[10.0, 4000.0]);
    enqueue(&mut cell, Time::ZERO, Attachment(2), 1000).expect("in reach");
    enqueue(&mut cell, Time::ZERO, Attachment(1), 500).expect("in reach");
    assert_eq!(arrivals(&mut cell), [(4_000_000, 4), (4_500_000, 3)]);
}

#[test]
fn the_distance_counts_that_is_at_the_end_of_the_transmission() {
    // From 99.5 m away at 1 km/s: at the last bit, after 1 ms, it is 100.5 m, out of a reach of 100 m.
    let mut cell = cell(disc(100.0), None, &[0.0]);
    cell.stations[0].trajectory = Trajectory::waypoints(
        Point::new(99.5, 0.0),
        Time::ZERO,
        &[(Point::new(1e4, 0.0), 1000.0, Span::ZERO)],
    );
    assert!(cell.in_reach(0, Time::ZERO));
    let out = Err(Dropped { reason: DropReason::OutOfReach, at: at_us(1000) });
    assert_eq!(enqueue(&mut cell, Time::ZERO, Attachment(1), 1000), out);
    // The transmitter was busy all the same.
    assert_eq!(cell.stats(Attachment(1), at_us(1000)).busy, Span::from_ms(1));
    assert_eq!(cell.path(0).downlink.lost_since_last().len(), 1);
}

#[test]
fn the_queue_counts_those_that_wait_and_statistics_end_at_the_end() {
    let mut cell = cell(disc(100.0), None, &[0.0, 0.0]);
    let full = Err(Dropped { reason: DropReason::QueueFull, at: Time::ZERO });
    // The queue of two is the base station's, whichever the station.
    let outcomes = [1, 2, 1, 2].map(|from| enqueue(&mut cell, Time::ZERO, Attachment(from), 1000));
    assert_eq!(outcomes, [Ok(()), Ok(()), Ok(()), full]);
    assert_eq!(cell.waiting_packets(Attachment(1), at_us(500)), 1);
    assert_eq!(cell.waiting_packets(Attachment(2), at_us(500)), 1);
    // At 1.5 ms: to station 0 one whole transmission, and the second waited 1.5 ms of its 2; to station 1
    // half of the transmission that began at 1 ms, after a wait of 1 ms.
    let us = |span: Span| span.as_ns() / 1000;
    let stats = |from, now| {
        let stats = cell.stats(Attachment(from), at_us(now));
        (us(stats.busy), us(stats.waiting), stats.dropped_packets)
    };
    assert_eq!(stats(1, 1500), (1000, 1500, 0));
    assert_eq!(stats(2, 1500), (500, 1000, 1));
    assert_eq!(stats(1, 9000), (2000, 2000, 0));
    // A place is free as soon as the second has begun its service.
    assert_eq!(enqueue(&mut cell, at_us(1000), Attachment(1), 1000), Ok(()));
    let large = Err(Dropped { reason: DropReason::TooLarge, at: at_us(1000) });
    assert_eq!(enqueue(&mut cell, at_us(1000), Attachment(3), 1501), large);
}

#[test]
fn what_is_too_large_is_lost_on_its_path_whatever_the_queue() {
    let codel = Rule::Codel(codel::Settings {
        target: Span::from_ms(5),
        interval: Span::from_ms(100),
        mtu_bytes: 1500,
        ecn: false,
    });
    for rule in [Rule::DropTail, codel] {
        let mut cell = cell_under(rule, disc(100.0), None, &[0.0]);
        let dropped = Dropped { reason: DropReason::TooLarge, at: at_us(1000) };
        assert_eq!(enqueue(&mut cell, at_us(1000), Attachment(2), 1501), Err(dropped));
        let [lost] = cell.path(0).uplink.lost_since_last() else { panic!("not one loss") };
        assert_eq!((lost.reason, lost.at), (dropped.reason, dropped.at));
        assert_eq!(cell.stats(Attachment(2), at_us(2000)).dropped_packets, 1);
    }
}

#[test]
fn losses_are_as_frequent_as_the_distance_says() {
    // At half the radius an error of 0.4 at the edge is 0.4 / 2^2 = 0.1, at 0.9 of it 0.4 * 0.81 = 0.324.
    let law = Coverage::DistancePower {
        radius_m: 100.0,
        error_at_edge: 0.4,
        exponent: 2.0,
        unit: ErrorUnit::Packet,
    };
    let mut cell = cell(law, None, &[50.0, 90.0]);
    let n = 20_000_u64;
    for (station, p) in [(0, 0.1), (1, 0.324)] {
        for from in [cell.sub_interface(station), cell.station_interface(station)] {
            let lost = (0..n)
                .filter(|&i| {
                    let outcome = enqueue(&mut cell, at_us(i * 2000), from, 1000);
                    outcome.is_err_and(|dropped| dropped.reason == DropReason::Loss)
                })
                .count();
            let share = lost as f64 / n as f64;
            let standard_error = (p * (1.0 - p) / n as f64).sqrt();
            assert!((share - p).abs() < 3.0 * standard_error, "{share} instead of {p}");
            arrivals(&mut cell);
            let idle = Transmitter::new(cell.config.rate_bps, cell.config.queue);
            cell.downlink = Sending::Booked(idle.clone());
            cell.stations[station as usize].uplink = Sending::Booked(idle);
        }
        let heard = (0..n).filter(|_| cell.hears_m(station, Time::ZERO).is_some()).count();
        let share = 1.0 - heard as f64 / n as f64;
        assert!((share - p).abs() < 3.0 * (p * (1.0 - p) / n as f64).sqrt(), "{share} instead of {p}");
    }
}

#[test]
fn the_nth_packet_of_a_direction_meets_the_nth_draw_wherever_the_others_are() {
    let law = Coverage::DistancePower {
        radius_m: 100.0,
        error_at_edge: 0.5,
        exponent: 0.0,
        unit: ErrorUnit::Packet,
    };
    let lost = |others: bool| -> Vec<bool> {
        let mut cell = cell(law.clone(), None, &[50.0, 90.0, 200.0]);
        let up = cell.station_interface(0);
        (0..200)
            .map(|i| {
                let now = at_us(i * 5000);
                if others {
                    enqueue(&mut cell, now, Attachment(2), 700).ok();
                    enqueue(&mut cell, now, up, 100).ok();
                    cell.hears_m(0, now);
                    cell.broadcast(now, BROADCAST, &broadcast(60), 1000).ok();
                }
                enqueue(&mut cell, now, Attachment(1), 400 + 3 * i as u32).is_err()
            })
            .collect()
    };
    let alone = lost(false);
    assert_eq!(alone, lost(true));
    assert!(alone.contains(&true) && alone.contains(&false));
}

fn broadcast(bytes: u32) -> Packet {
    Packet { destination: packet::BROADCAST, id: PacketId(7), ..datagram(bytes) }
}

#[test]
fn a_broadcast_reaches_every_station_in_reach_and_no_other() {
    let mut cell = cell(disc(100.0), None, &[10.0, 500.0, 20.0]);
    let copies = cell.broadcast(Time::ZERO, BROADCAST, &broadcast(1000), 8).expect("taken");
    assert_eq!(copies, [(PacketId(7), None), (PacketId(8), None)]);
    assert_eq!(cell.packets_inside(), 2);
    // 10 m are 33 ns, 20 m are 67 ns.
    assert_eq!(arrivals(&mut cell), [(1_000_033, 4), (1_000_067, 6)]);
    assert_eq!(cell.stats(BROADCAST, at_us(9000)).delivered_packets, 2);
    // Broadcasts are no packets of a path.
    assert_eq!(cell.path(0).downlink.last_arrival, None);
}

#[test]
fn a_broadcast_that_nobody_is_there_for_is_out_of_reach() {
    let mut cell = cell(disc(100.0), None, &[500.0]);
    let out = Err(Dropped { reason: DropReason::OutOfReach, at: at_us(1000) });
    assert_eq!(cell.broadcast(Time::ZERO, BROADCAST, &broadcast(1000), 8), out);
    assert_eq!(cell.packets_inside(), 0);
    assert_eq!(cell.stats(BROADCAST, at_us(9000)).dropped_packets, 1);
}

#[test]
fn a_station_that_broadcasts_reaches_the_base_station() {
    let mut cell = cell(disc(100.0), None, &[0.0]);
    let from = cell.station_interface(0);
    let mut random = stream("unused");
    cell.enqueue(&mut Context { now: Time::ZERO, random: &mut random }, from, broadcast(1000))
        .expect("in reach");
    assert_eq!(arrivals(&mut cell), [(1_000_000, 1)]);
    assert_eq!(cell.stats(from, at_us(9000)).delivered_packets, 1);
}

#[test]
fn a_broadcast_of_a_station_that_is_switched_off_is_its_own_loss() {
    let mut cell = cell(disc(100.0), None, &[0.0, 10.0]);
    let from = cell.station_interface(0);
    let mut random = stream("unused");
    cell.enqueue(&mut Context { now: Time::ZERO, random: &mut random }, from, broadcast(1000))
        .expect("in reach");
    cell.broadcast(Time::ZERO, BROADCAST, &broadcast(1000), 8).expect("taken");
    cell.switch(at_us(500), 0, false);
    let told = std::iter::from_fn(|| cell.poll_drop()).map(|(of, ..)| of);
    assert_eq!(told.collect::<Vec<_>>(), [from, BROADCAST]);
    let dropped = |cell: &mut Cell, of| cell.stats(of, at_us(9000)).dropped_packets;
    assert_eq!([from, BROADCAST].map(|of| dropped(&mut cell, of)), [1, 1]);
    assert_eq!(arrivals(&mut cell).len(), 1);
}

/// Under CoDel packets wait in a queue, and not by arithmetic.
fn managed(stations_m: &[f64]) -> Cell {
    let settings = codel::Settings {
        target: Span::from_ms(5),
        interval: Span::from_ms(100),
        mtu_bytes: 1500,
        ecn: false,
    };
    let config = CellConfig { rule: Rule::Codel(settings), ..cell(disc(100.0), None, &[]).config };
    let at = |x_m: &f64| Trajectory::fixed(Point::new(*x_m, 0.0));
    let streams = |station, purpose: &str| stream(&format!("{station} {purpose}"));
    Cell::new(config, Trajectory::fixed(Point::default()), stations_m.iter().map(at).collect(), streams)
}

#[test]
fn what_waits_for_a_radio_goes_when_it_is_switched_off_and_nobody_waits_for_it() {
    let mut cell = managed(&[0.0, 0.0]);
    let (down, up, other) = (cell.sub_interface(0), cell.station_interface(0), cell.sub_interface(1));
    // One each way is in service.
    for from in [down, down, other, up, up] {
        enqueue(&mut cell, Time::ZERO, from, 1000).expect("room");
    }
    cell.switch(at_us(500), 0, false);
    let told: Vec<_> =
        std::iter::from_fn(|| cell.poll_drop()).map(|(of, _, dropped)| (of, dropped)).collect();
    let gone = Dropped { reason: DropReason::NotAssociated, at: at_us(500) };
    assert_eq!(told.iter().filter(|told| **told == (down, gone)).count(), 2, "{told:?}");
    assert_eq!(told.iter().filter(|told| **told == (up, gone)).count(), 2, "{told:?}");
    assert_eq!(told.len(), 4);
    assert_eq!((cell.waiting_packets(down, at_us(500)), cell.waiting_packets(up, at_us(500))), (0, 0));
    assert_eq!(cell.stats(down, at_us(500)).dropped_packets, 2);
    assert_eq!(cell.path(0).downlink.lost_since_last().len(), 2);
    // What is for the other one is next, when the transmitter is free: from 1 to 2 ms.
    let mut random = stream("unused");
    cell.handle_timeout(&mut Context { now: at_us(1000), random: &mut random });
    assert_eq!(arrivals(&mut cell), [(2_000_000, 4)]);
    assert_eq!(cell.packets_inside(), 0);
}

#[test]
fn what_is_for_all_has_a_room_of_its_own_beside_a_managed_queue() {
    let mut cell = managed(&[0.0]);
    // One in service and two that wait.
    let outcomes = [7, 8, 9, 10].map(|id| {
        let packet = Packet { id: PacketId(id), ..broadcast(1000) };
        cell.broadcast(Time::ZERO, BROADCAST, &packet, 11).map(|copies| copies.len())
    });
    let full = Dropped { reason: DropReason::QueueFull, at: Time::ZERO };
    assert_eq!(outcomes, [Ok(1), Ok(1), Ok(1), Err(full)]);
    assert_eq!(cell.stats(BROADCAST, at_us(9000)).dropped_packets, 1);
    // The second is in service from 1 ms on.
    assert!(cell.broadcast(at_us(1000), BROADCAST, &broadcast(1000), 12).is_ok());
    assert!(cell.broadcast(at_us(1999), BROADCAST, &broadcast(1000), 13).is_err());
    // What is for the station has the other room.
    assert_eq!(enqueue(&mut cell, at_us(1999), Attachment(1), 1000), Ok(()));
}
