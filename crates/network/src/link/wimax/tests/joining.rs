//! Stations that enter a cell: time lines, losses, walks.

use super::disciplines::rules;
use super::*;
use super::{FAST, Work, config, us};
use crate::link::indication::{Indication, LinkDownReason, LinkEvent, LinkGoingDownReason};
use crate::link::propagation::{PathLoss, Propagation};
use crate::link::stations::Stations;
use crate::link::wimax::config::CellEntry;
use crate::link::wimax::phy::{BurstProfile, Unit};
use crate::link::{Link, QueueLimit};
use crate::mobility::{Point, Trajectory};
use proptest::prelude::*;
use roamsim_engine::Span;

pub(in crate::link::wimax) fn at(x_m: f64) -> Trajectory {
    Trajectory::fixed(Point::new(x_m, 0.0))
}

pub(in crate::link::wimax) fn entry(stations: Vec<Trajectory>) -> CellEntry {
    let timers = Timers {
        t1: Span::from_secs(50),
        t2: Span::from_secs(10),
        t3: Span::from_ms(200),
        t4: Span::from_secs(35),
        t6: Span::from_secs(3),
        t7: Span::from_secs(1),
        t8: Span::from_ms(300),
        t9: Span::from_ms(300),
        t12: Span::from_secs(50),
        t18: Span::from_ms(50),
        t20: Span::from_ms(10),
        t21: Span::from_secs(10),
        t27_idle: Span::from_secs(10),
        t27_active: Span::from_ms(500),
        lost_downlink_map: Span::from_ms(600),
        lost_uplink_map: Span::from_ms(600),
    };
    CellEntry {
        station: EntryConfig {
            timers,
            backoff_start: 0,
            backoff_end: 4,
            ranging_retries: 16,
            invited_ranging_retries: 4,
            capability_retries: 3,
            registration_retries: 3,
            flow_retries: 3,
            channels: 1,
            channel: 0,
            known_descriptors: false,
            search_interval: Span::from_ms(100),
        },
        radius_m: 100.0,
        radio: None,
        base_station: at(0.0),
        stations,
        ranging_frames: 4,
        ranging_opportunities: 2,
        downlink_descriptor: (2, 1000),
        uplink_descriptor: (5, 1000),
        report_interval: Span::from_ms(100),
        going_down_ahead: None,
        scanning: None,
    }
}

/// A cell whose stations join as soon as they hear it, until then; and what they indicate, in microseconds.
fn events(entry: CellEntry, until_us: u64) -> (Work, Vec<(u64, u32, LinkEvent)>) {
    let mut with = config(&vec![FAST; entry.stations.len()]);
    with.entry = Some(entry);
    let mut work = Work::new(with);
    let found = go_on(&mut work, until_us);
    (work, found)
}

pub(in crate::link::wimax) fn go_on(work: &mut Work, until_us: u64) -> Vec<(u64, u32, LinkEvent)> {
    let mut found = Vec::new();
    while let Some(now) = work.cell.poll_timeout().filter(|&now| now <= us(until_us)) {
        work.until(now);
        while let Some(Indication { at, event }) = work.cell.poll_indication(now) {
            let station = work.cell.station_at(at).0 as u32;
            found.push((now.as_ns() / 1000, station, event));
            if let LinkEvent::Detected { .. } = event {
                assert_eq!(Stations::associate(&mut work.cell, now, station), None);
            }
        }
    }
    found
}

/// When a station indicates this the first time.
fn first(found: &[(u64, u32, LinkEvent)], station: u32, name: &str) -> Option<u64> {
    found.iter().find(|(_, own, event)| *own == station && event.name() == name).map(|(at_us, ..)| *at_us)
}

#[test]
fn entry_takes_whole_frames_from_the_first_preamble_on() {
    let (mut work, found) = events(entry(vec![at(50.0)]), 200_000);
    // It begins within the first frame, whose preamble it misses. Maps of the frame from 5 ms on: 26 + 29
    // octets, 5 symbols behind 3.
    assert_eq!(first(&found, 0, "link_detected"), Some(5400));
    // DCD in the frame from 10 ms on, UCD in that from 25 ms on. Ranging is every fourth frame: that from 40
    // ms on, at its uplink, 2.5 ms later, for five symbols. RNG-RSP 45, SBC-REQ 50, SBC-RSP 55, REG-REQ 60,
    // REG-RSP with both DSA-REQ 65, DSA-RSP 70, DSA-ACK 75: maps of one burst have 30 + 29 octets, 5 symbols;
    // 37 octets twice with the tail, 7 symbols of 12: 15 symbols.
    assert_eq!(first(&found, 0, "link_up"), Some(75_000 + 15 * 50));
    let stats = work.cell.station_stats(0);
    assert_eq!((stats.ranging_requests, stats.collided_ranging_requests, stats.requests), (1, 0, 0));
    // Now it is a station as others are; but frames with ranging have ten symbols less: here that from 200 ms
    // on has.
    work.up(us(200_100), 0, 1000);
    work.down(us(200_100), 0, 1000);
    go_on(&mut work, 300_000);
    let (down, up) = work.cell.attachments_of(0);
    // The request comes at 202.5 ms and ten symbols. In the frame from 205 ms on the maps have a burst each
    // way, 65 octets, 6 symbols; the uplink burst begins at 207.9 ms: 11 symbols.
    assert_eq!(work.delivered, [(205_950, up, 1), (207_900 + 550, down, 0)]);
}

#[test]
fn known_descriptors_spare_the_wait() {
    let mut known = entry(vec![at(50.0)]);
    known.station.known_descriptors = true;
    let (_, found) = events(known, 200_000);
    // Ranging in the frame from 20 ms on: seven frames later it is connected.
    assert_eq!(first(&found, 0, "link_up"), Some(55_000 + 15 * 50));
}

#[test]
fn stations_that_range_at_once_collide_and_come_one_after_the_other() {
    let mut known = entry(vec![at(50.0), at(60.0), at(70.0)]);
    known.station.known_descriptors = true;
    let (work, found) = events(known, 2_000_000);
    for station in 0..3 {
        let up = first(&found, station, "link_up").expect("connected in the end");
        // All of them range at 22.5 ms, and again after T3: two frames with opportunities later at least.
        assert!(up > 240_000, "{up}");
        assert!(work.cell.station_stats(station).collided_ranging_requests >= 1);
    }
}

#[test]
fn a_walk_out_of_reach_ends_the_link_after_lost_maps_and_packets_have_reasons() {
    // At 98 m until 1 s, then out at 10 m/s: beyond 100 m from 1.2 s on. The last maps are those of the frame
    // from 1.2 s on.
    let walk = Trajectory::waypoints(
        Point::new(98.0, 0.0),
        us(1_000_000),
        &[(Point::new(200.0, 0.0), 10.0, Span::ZERO)],
    );
    let (mut work, found) = events(entry(vec![walk]), 1_250_000);
    // Of the frame from 1.205 s on nothing is heard.
    let Some(&(1_205_400, 0, LinkEvent::GoingDown { within, confidence_percent, .. })) = found.last() else {
        panic!("{found:?}")
    };
    assert_eq!((within, confidence_percent), (Span::from_us(594_600), 100));
    // Both are taken. What is sent is lost, and the station has nobody to ask.
    work.down(us(1_250_000), 0, 500);
    work.up(us(1_250_000), 0, 500);
    let found = go_on(&mut work, 3_000_000);
    let names: Vec<_> = found.iter().map(|(at_us, _, event)| (*at_us, event.name())).collect();
    assert_eq!(names, [(1_800_000, "link_down")]);
    assert_eq!(found[0].2, LinkEvent::Down(LinkDownReason::NO_BROADCAST));
    assert_eq!(work.dropped, [DropReason::OutOfReach, DropReason::NotAssociated]);
    work.down(us(3_000_000), 0, 500);
    work.up(us(3_000_000), 0, 500);
    assert_eq!(work.dropped[2..], [DropReason::NotAssociated; 2]);
}

#[test]
fn a_link_that_goes_down_ahead_is_rolled_back_when_the_walk_turns() {
    // Out at 10 m/s from 90 m at 1 s to 101 m, and back.
    let walk = Trajectory::waypoints(
        Point::new(90.0, 0.0),
        us(1_000_000),
        &[(Point::new(101.0, 0.0), 10.0, Span::ZERO), (Point::new(0.0, 0.0), 10.0, Span::ZERO)],
    );
    let mut ahead = entry(vec![walk]);
    ahead.going_down_ahead = Some(Span::from_ms(300));
    let (_, found) = events(ahead, 5_000_000);
    let going: Vec<_> = found
        .iter()
        .filter(|(_, _, event)| event.name() != "link_parameters_report")
        .map(|(_, _, event)| event.name())
        .collect();
    // At the report of 2.0054 s it hears nothing, at the next one it is back.
    let twice = ["link_going_down", "link_event_rollback", "link_going_down", "link_event_rollback"];
    assert_eq!(going, [&["link_detected", "link_up"][..], &twice].concat());
    let certain = found.iter().filter_map(|(_, _, event)| match event {
        LinkEvent::GoingDown { confidence_percent, .. } => Some(*confidence_percent),
        _ => None,
    });
    assert_eq!(certain.collect::<Vec<_>>(), [100, 0]);
    // Beyond 100 m from 2.0 s to 2.2 s: looked at 300 ms ahead, from the report of 1.7054 s on.
    assert_eq!(first(&found, 0, "link_going_down"), Some(1_705_400));
}

#[test]
fn a_station_out_of_reach_searches_and_comes_in() {
    let walk = Trajectory::waypoints(
        Point::new(300.0, 0.0),
        Time::ZERO,
        &[(Point::new(0.0, 0.0), 100.0, Span::ZERO)],
    );
    let (work, found) = events(entry(vec![walk]), 12_000_000);
    // Within 100 m from 2 s on. It looks for two frames, and rests for 100 ms.
    let detected = first(&found, 0, "link_detected").expect("in reach");
    assert!((2_000_000..2_130_000).contains(&detected), "{detected}");
    assert!(first(&found, 0, "link_up").is_some());
    assert!(work.cell.time().busy_frames < 20, "{:?}", work.cell.time());
}

#[test]
fn who_leaves_loses_what_waits_and_enters_again_when_told() {
    let (mut work, _) = events(entry(vec![at(50.0), at(60.0)]), 2_000_000);
    work.up(us(2_000_000), 0, 500);
    let left = Stations::leave(&mut work.cell, us(2_000_001), 0);
    assert_eq!(left, Some(LinkEvent::Down(LinkDownReason::EXPLICIT_DISCONNECT)));
    assert_eq!(Stations::leave(&mut work.cell, us(2_000_001), 0), None);
    go_on(&mut work, 2_100_000);
    assert_eq!(work.dropped, [DropReason::NotAssociated]);
    assert_eq!(Stations::associate(&mut work.cell, us(2_100_000), 0), None);
    let found = go_on(&mut work, 2_500_000);
    assert!(first(&found, 0, "link_up").is_some(), "{found:?}");
}

#[test]
fn a_broadcast_reaches_who_is_connected() {
    let (mut work, _) = events(entry(vec![at(50.0), at(500.0), at(60.0)]), 2_000_000);
    let packet = Packet { destination: crate::packet::BROADCAST, ..crate::testing::datagram(60) };
    let now = us(2_001_000);
    let copies = Stations::broadcast(&mut work.cell, now, BROADCAST, &packet, 77).expect("somebody");
    assert_eq!(copies.iter().map(|(id, _)| id.0).collect::<Vec<_>>(), [0, 77]);
    work.sent += 2;
    go_on(&mut work, 2_100_000);
    // Preamble and header, maps of a burst 5, 70 octets and the tail 6 symbols of 12.
    let up = |station| work.cell.attachments_of(station).1;
    let expected = [(2_005_700, up(0), 0), (2_005_700, up(2), 77)];
    assert_eq!(work.delivered, expected);
}

#[test]
fn a_message_goes_in_an_unsolicited_burst() {
    let (mut work, _) = events(entry(vec![at(50.0)]), 2_000_000);
    // As of a station that was told of its uplink connection again.
    let service = Service::UnsolicitedGrant { packet_bytes: 200, interval: Span::from_ms(20) };
    work.cell.flows[0].service = service;
    work.cell.unsolicited.push(0);
    let Some(joining) = &mut work.cell.stations[0].joining else { panic!("it has entered") };
    joining.from_station.push_back(Message::FlowResponse(Sfid { number: 0, direction: Direction::Uplink }));
    work.up(us(2_000_000), 0, 100);
    // A frame with ranging: the burst begins behind 10 symbols for it and 8 for requests.
    go_on(&mut work, 2_000_000 + 2_500 + 900 + 150);
    let Some(joining) = &work.cell.stations[0].joining else { panic!("it has entered") };
    assert!(joining.from_station.is_empty());
    // The base station acknowledges it.
    assert_eq!(
        joining.to_station.front(),
        Some(&Message::FlowAcknowledgement(Sfid { number: 0, direction: Direction::Uplink }))
    );
}

#[test]
fn who_leaves_and_enters_again_gets_one_unsolicited_burst_at_a_time() {
    let mut with = config(&[FAST]);
    let service = Service::UnsolicitedGrant { packet_bytes: 200, interval: Span::from_ms(400) };
    with.stations[0].service = service;
    let mut known = entry(vec![at(50.0)]);
    known.station.known_descriptors = true;
    with.entry = Some(known);
    let mut work = Work::new(with);
    go_on(&mut work, 810_000);
    // It waits for the burst at 1.2 s, leaves, and is back before.
    work.up(us(810_000), 0, 100);
    Stations::leave(&mut work.cell, us(810_000), 0);
    Stations::associate(&mut work.cell, us(810_000), 0);
    go_on(&mut work, 1_100_000);
    (0..4).for_each(|_| work.up(us(1_100_000), 0, 200));
    go_on(&mut work, 5_000_000);
    let mut arrived_us: Vec<u64> = work.delivered.iter().map(|(at_us, ..)| *at_us).collect();
    arrived_us.dedup();
    assert_eq!(arrived_us.len(), 4, "{:?}", work.delivered);
}

/// 30 dBm at 3.5 GHz, 40 dB a decade from a metre on: 43.33 dB there. Maps reach 10^((119.04 - 43.33) / 40) =
/// 78.1 m, 64-QAM 3/4 27.8 m.
fn radio(adaptation: Option<Adaptation>) -> RadioConfig {
    RadioConfig {
        propagation: Propagation {
            transmit_power_dbm: 30.0,
            frequency_hz: 3.5e9,
            path_loss: PathLoss::LogDistance { exponent: 4.0, reference_distance_m: 1.0 },
            shadowing_deviation_db: 0.0,
        },
        station_power_dbm: 30.0,
        noise_figure_db: 7.0,
        implementation_margin_db: 5.0,
        thresholds_db: thresholds_db(Unit::Symbol),
        block_errors: BlockErrors::default(),
        going_down_factor: 4.0,
        adaptation,
    }
}

pub(in crate::link::wimax) fn by_radio(
    stations: Vec<Trajectory>,
    adaptation: Option<Adaptation>,
) -> CellEntry {
    let radio = radio(adaptation);
    let radius_m = radio.reach_m(super::layout().clock, BurstProfile::Bpsk12, false, 0.0);
    CellEntry { radio: Some(radio), radius_m, ..entry(stations) }
}

#[test]
fn profiles_follow_a_walk_by_messages_and_the_link_goes_down_with_its_signal() {
    // From 10 m at 1 s outward at 10 m/s.
    let walk = Trajectory::waypoints(
        Point::new(10.0, 0.0),
        us(1_000_000),
        &[(Point::new(100.0, 0.0), 10.0, Span::ZERO)],
    );
    let adaptation = Adaptation { margin_db: 1.0, hysteresis_db: 1.0 };
    let (work, found) = events(by_radio(vec![walk], Some(adaptation)), 12_000_000);
    let clock = super::layout().clock;
    for direction in Direction::ALL {
        let changes: Vec<_> =
            work.cell.profile_changes().iter().filter(|change| change.direction == direction).collect();
        let slower: Vec<_> = changes.iter().map(|change| change.profile).rev().collect();
        // It enters with the fastest.
        assert_eq!(slower, BurstProfile::ALL);
        for (change, left) in changes[1..].iter().zip(BurstProfile::ALL.iter().rev()) {
            // A report at most every 100 ms; DBPC-REQ takes two frames, and two more where its opportunity is
            // behind ranging.
            let left_m = radio(None).reach_m(clock, *left, false, 1.0);
            let late_s = change.at.as_secs_f64() - (1.0 + (left_m - 10.0) / 10.0);
            assert!((0.0..0.125).contains(&late_s), "{change:?}: {late_s}");
        }
    }
    assert_eq!(work.cell.station_stats(0).requests, 6);
    // 6.02 dB above its end, 55.4 m, at 5.54 s. The rest of 6 dB at 3 dB a second or so, and 0.6 s of lost
    // maps.
    let Some(going) = first(&found, 0, "link_going_down") else { panic!("{found:?}") };
    assert!((5_535_000..5_640_000).contains(&going), "{going}");
    let events = found.iter().filter(|(at_us, ..)| *at_us == going).map(|(.., event)| *event);
    let told = events.filter_map(|event| match event {
        LinkEvent::GoingDown { within, confidence_percent, reason } => {
            Some((within, confidence_percent, reason))
        }
        _ => None,
    });
    let [(within, confidence_percent, LinkGoingDownReason::LOW_POWER)] = told.collect::<Vec<_>>()[..] else {
        panic!("{found:?}")
    };
    // The slope of power at 55 m: 40 / ln 10 / 5.5 s = 3.16 dB/s; 6.02 dB less what is covered.
    assert!(
        (2.2..2.6).contains(&within.as_secs_f64()) && confidence_percent < 6,
        "{within:?} {confidence_percent}"
    );
    let Some(down) = first(&found, 0, "link_down") else { panic!("{found:?}") };
    // 119.04 dB less 43.33 are 75.71: 78.14 m, from 7.814 s on. The last maps are those of 7.81 s.
    assert_eq!(down, 8_410_000);
    let quality = found.iter().rev().find_map(|(.., event)| match event {
        LinkEvent::ParametersReport { quality } => Some(*quality),
        _ => None,
    });
    let Some(crate::link::indication::Quality::Signal(signal_dbm)) = quality else { panic!("{quality:?}") };
    assert!((-89.1..-88.5).contains(&signal_dbm), "{signal_dbm}");
}

#[test]
fn a_burst_below_its_threshold_is_lost_with_all_that_it_carries() {
    // At 40 m: 64-QAM 3/4 is not understood, BPSK 1/2 is.
    let mut with = config(&[StationConfig { uplink: BurstProfile::Bpsk12, ..FAST }]);
    with.entry = Some(by_radio(vec![at(40.0)], None));
    let mut work = Work::new(with);
    go_on(&mut work, 2_000_000);
    work.down(us(2_000_000), 0, 500);
    // A packet of several bursts.
    work.up(us(2_000_000), 0, 1000);
    go_on(&mut work, 3_000_000);
    assert_eq!(work.dropped, [DropReason::Loss]);
    assert_eq!(work.count(work.cell.attachments_of(0).0), 1);
    assert_eq!(work.cell.station_stats(0).lost_pdus, 1);
    // The other way round nobody enters: the base station hears RNG-REQ, and nothing else.
    let mut with = config(&[StationConfig { downlink: BurstProfile::Bpsk12, ..FAST }]);
    with.entry = Some(by_radio(vec![at(40.0)], None));
    let mut work = Work::new(with);
    // The next descriptors come after 5 s.
    let found = go_on(&mut work, 12_000_000);
    assert!(first(&found, 0, "link_detected").is_some() && first(&found, 0, "link_up").is_none());
    assert!(work.cell.station_stats(0).ranging_requests > 1);
}

proptest! {
    #[test]
    fn packets_of_stations_that_come_and_go_end_once_and_in_order(
        sends in prop::collection::vec((0u64..4_000_000, 0u32..4, any::<bool>(), 1u32..2034), 0..200),
        leaves in prop::collection::vec((0u64..4_000_000, 0u32..4), 0..8),
        away in prop::collection::vec((0u64..4_000_000, 0u32..4, 0u64..1_000_000), 0..8),
        scans in prop::option::of((1u64..30, 1u64..30, 1u64..4, prop::option::of(20u64..2000))),
        stations in prop::collection::vec((0usize..7, 0usize..7, 0u32..5, 0.0f64..200.0, -40.0f64..40.0), 4),
        known_descriptors in any::<bool>(),
        with_radio in any::<bool>(),
        limit in 1u32..20,
        rule in prop::sample::select(rules().to_vec()),
    ) {
        let own = |&(down, up, service, ..): &(usize, usize, u32, f64, f64)| StationConfig {
            downlink: BurstProfile::ALL[down],
            uplink: BurstProfile::ALL[up],
            service: match service {
                0 => Service::UnsolicitedGrant { packet_bytes: 30, interval: Span::from_us(7300) },
                1 => Service::RealTimePolling { interval: Span::from_us(23_000) },
                2 => Service::NonRealTimePolling { interval: Span::from_us(61_000) },
                _ => Service::BestEffort,
            },
            packing: up % 2 == 0,
            arq: down % 2 == 0 && service > 0,
        };
        let mut with = config(&stations.iter().map(own).collect::<Vec<_>>());
        with.queue = QueueLimit::Packets(limit);
        with.rule = rule;
        with.contention.backoff_start = 2;
        with.arq = Some(crate::link::wimax::arq::tests::CONFIG);
        // They walk by at up to 40 m/s, 100 m being the reach.
        let walk = |&(.., x_m, speed): &(usize, usize, u32, f64, f64)| match speed.abs() < 1.0 {
            true => at(x_m),
            false => Trajectory::waypoints(
                Point::new(x_m, 0.0), Time::ZERO, &[(Point::new(x_m + 5.0 * speed, 0.0), speed.abs(), Span::ZERO)],
            ),
        };
        let walks = stations.iter().map(walk).collect();
        let adaptation = Adaptation { margin_db: 0.5, hysteresis_db: 1.0 };
        let mut known = if with_radio { by_radio(walks, Some(adaptation)) } else { entry(walks) };
        let radius_m = known.radius_m;
        known.station.known_descriptors = known_descriptors;
        known.scanning = scans.map(|(duration, interleaving, iterations, every_ms)| ScanConfig {
            duration,
            interleaving,
            iterations,
            every: every_ms.map(Span::from_ms),
            t44: Span::from_ms(30),
            retries: 3,
        });
        with.entry = Some(known);
        let mut work = Work::new(with);
        let mut does: Vec<_> = sends.into_iter().map(|(at_us, station, down, bytes)| (at_us, station, Some((down, bytes)))).collect();
        does.extend(leaves.into_iter().map(|(at_us, station)| (at_us, station, None)));
        // No packet has that length: it goes to another channel, or is back.
        let goes = |(at_us, station, for_us)| [(at_us, station, Some((false, 0))), (at_us + for_us, station, Some((true, 0)))];
        does.extend(away.into_iter().flat_map(goes));
        does.sort();
        for (at_us, station, what) in does {
            go_on(&mut work, at_us);
            match what {
                Some((back, 0)) => {
                    Stations::listen(&mut work.cell, us(at_us), station, back);
                    match back {
                        true => Stations::associate(&mut work.cell, us(at_us), station),
                        false => Stations::leave(&mut work.cell, us(at_us), station),
                    };
                }
                Some((true, bytes)) => work.down(us(at_us), station, bytes),
                Some((false, bytes)) => work.up(us(at_us), station, bytes),
                None => {
                    Stations::leave(&mut work.cell, us(at_us), station);
                    Stations::associate(&mut work.cell, us(at_us), station);
                }
            }
        }
        go_on(&mut work, 59_999_999);
        prop_assert_eq!(work.cell.packets_inside(), 0);
        for at in 0..9 {
            let ids: Vec<u64> =
                work.delivered.iter().filter(|(_, to, _)| to.0 == at).map(|(.., id)| *id).collect();
            prop_assert!(ids.is_sorted(), "{:?}", ids);
        }
        work.cell.finish(us(59_999_999));
        let time = work.cell.time();
        prop_assert_eq!(time.frames, 12_000);
        prop_assert!(time.downlink_units + time.map_units + 3 * time.frames <= 48 * time.frames);
        prop_assert!(time.uplink_units + time.ranging_units + 8 * time.frames <= 48 * time.frames);
        // Who is in reach to stay has entered.
        for (number, walk) in (0..).zip(&work.cell.config().entry.as_ref().map(|entry| entry.stations.clone()).unwrap_or_default()) {
            let inside = walk.distance_m(us(60_000_000), Point::default()) < radius_m;
            prop_assert_eq!(work.cell.is_served(number), inside, "{}", number);
        }
    }
}

#[test]
fn an_idle_station_is_granted_a_burst_every_t27_and_stays() {
    let (work, found) = events(entry(vec![at(50.0)]), 99_000_000);
    let stats = work.cell.station_stats(0);
    // Messages of entry have three bursts: SBC-REQ, REG-REQ, DSA-RSP for both directions. Then one after each
    // 10 s, of 26 octets: none of T4's 35 s expires.
    assert_eq!(stats.grants, 3 + 9, "{stats:?}");
    assert_eq!(first(&found, 0, "link_down"), None);
    // A symbol of 108 less the tail each.
    assert_eq!(stats.padding_bytes, 12 * 107 - 35 - 53 - 2 * 47);
}

#[test]
fn a_station_without_bursts_begins_anew_after_t4() {
    let mut never = entry(vec![at(50.0)]);
    never.station.timers.t27_idle = Span::from_secs(3600);
    let (work, found) = events(never, 60_000_000);
    let down = first(&found, 0, "link_down").map(|down_us| down_us / 1000);
    // From its RNG-RSP on, a frame behind RNG-REQ, or from a later burst.
    let up = first(&found, 0, "link_up").map_or(0, |up_us| up_us / 1000);
    assert!(down.is_some_and(|down| (up + 34_950..up + 35_000).contains(&down)), "{up} {down:?}");
    assert!(work.cell.is_served(0), "it has entered again");
}

/// A station that has 10 dB less than the base station and walks to 60 m: there it hears maps, and is heard
/// in requests, but in no burst in QPSK 1/2.
fn weak_walker(service: Service) -> Work {
    let walk = Trajectory::waypoints(
        Point::new(10.0, 0.0),
        us(1_000_000),
        &[(Point::new(60.0, 0.0), 10.0, Span::ZERO)],
    );
    let mut weak = by_radio(vec![walk], None);
    if let Some(radio) = &mut weak.radio {
        radio.station_power_dbm = 20.0;
        // The radius stays, so that requests are heard wherever maps are.
        radio.thresholds_db[BurstProfile::Bpsk12 as usize] = -10.0;
    }
    let mut with = config(&[StationConfig { uplink: BurstProfile::Qpsk12, service, ..FAST }]);
    with.entry = Some(weak);
    Work::new(with)
}

const UNSOLICITED: Service = Service::UnsolicitedGrant { packet_bytes: 200, interval: Span::from_ms(20) };
const POLLED: Service = Service::RealTimePolling { interval: Span::from_ms(20) };

fn link_down(found: &[(u64, u32, LinkEvent)]) -> Option<LinkEvent> {
    found.iter().find(|(.., event)| event.name() == "link_down").map(|(.., event)| *event)
}

/// An idle one of these.
fn is_sent_away_idle(service: Service) {
    let mut work = weak_walker(service);
    let found = go_on(&mut work, 20_000_000);
    // The first burst that is not heard comes 10 s behind the last message, the next ones by T27 active of
    // 0.5 s each: it ends for the fifth time after 2.5 s. A frame for the grant, and RNG-RSP in the next.
    let since_us = first(&found, 0, "link_down").unwrap_or(0) - first(&found, 0, "link_up").unwrap_or(0);
    assert!((12_450_000..12_600_000).contains(&since_us), "{since_us}");
    assert_eq!(link_down(&found), Some(LinkEvent::Down(LinkDownReason::PACKET_TIMEOUT)));
}

#[test]
fn an_idle_station_that_is_not_heard_is_sent_away() {
    is_sent_away_idle(Service::BestEffort);
}

#[test]
fn an_idle_station_of_unsolicited_grants_that_would_not_be_heard_is_sent_away() {
    is_sent_away_idle(UNSOLICITED);
}

#[test]
fn an_idle_station_that_is_polled_and_would_not_be_heard_is_sent_away() {
    is_sent_away_idle(POLLED);
}

/// One that sends 200 octets every 20 ms.
fn is_sent_away_sending(service: Service) {
    let mut work = weak_walker(service);
    let mut found = Vec::new();
    for now_us in (0..10_000_000).step_by(20_000) {
        found.extend(go_on(&mut work, now_us));
        if work.cell.is_served(0) {
            work.up(us(now_us), 0, 200);
        }
    }
    // T27 ends 500 ms behind the first burst that is not heard, some 20 ms behind the last that is.
    let heard_us = work.delivered.last().map_or(0, |&(at_us, ..)| at_us);
    let since_us = first(&found, 0, "link_down").unwrap_or(0).saturating_sub(heard_us);
    assert!(heard_us > 2_000_000 && (500_000..560_000).contains(&since_us), "{heard_us} {since_us}");
    assert_eq!(link_down(&found), Some(LinkEvent::Down(LinkDownReason::PACKET_TIMEOUT)));
}

#[test]
fn a_station_that_uploads_and_is_not_heard_is_sent_away() {
    is_sent_away_sending(Service::BestEffort);
}

#[test]
fn a_station_of_unsolicited_grants_that_sends_and_is_not_heard_is_sent_away() {
    is_sent_away_sending(UNSOLICITED);
}

#[test]
fn a_station_whose_answers_to_polls_are_not_heard_is_sent_away() {
    is_sent_away_sending(POLLED);
}
