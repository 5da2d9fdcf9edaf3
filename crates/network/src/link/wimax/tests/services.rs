//! Scheduling services: what each waits for on an idle cell, who goes first, who is refused.
//!
//! Symbols of 50 us; the uplink begins at 2.5 ms with four request opportunities, bursts from 2.9 ms on.

use super::joining::{at, entry, go_on};
use super::*;
use super::{FAST, Work, config, us};
use crate::link::Link;
use crate::link::stations::Stations;
use crate::link::wimax::management::Direction;
use crate::testing::datagram;
use crate::traffic_class::TrafficClass;
use roamsim_engine::Span;
use std::mem::offset_of;

fn station(service: Service) -> StationConfig {
    StationConfig { service, ..FAST }
}

const REAL_TIME: Service = Service::RealTimePolling { interval: Span::from_ms(20) };

/// When a packet of 1000 octets arrives that comes at these microseconds to an idle station.
fn arrives_us(service: Service, came_us: u64) -> u64 {
    let mut work = Work::new(config(&[station(service)]));
    work.until(us(came_us));
    work.up(us(came_us), 0, 1000);
    work.until(us(came_us + 3_000_000));
    assert_eq!(work.delivered.len(), 1, "{service:?} {came_us}");
    work.delivered[0].0
}

#[test]
fn each_service_waits_for_its_own_way_to_bandwidth_on_an_idle_cell() {
    let unsolicited = Service::UnsolicitedGrant { packet_bytes: 1000, interval: Span::from_ms(20) };
    let non_real_time = Service::NonRealTimePolling { interval: Span::from_secs(1) };
    // The preamble and ten symbols for 1010 octets and the tail.
    let burst_us = 50 + 500;
    for came_us in (0..40_000u64).step_by(331) {
        // UGS: the burst at 2.9 ms of each fourth frame.
        let due_us = came_us.saturating_sub(2900).div_ceil(20_000) * 20_000 + 2900;
        assert_eq!(arrives_us(unsolicited, came_us), due_us + burst_us);
        // rtPS: its poll is there; the grant a frame later.
        assert_eq!(arrives_us(REAL_TIME, came_us), due_us + 5000 + burst_us);
        // BE: one of four opportunities of 100 us from 2.5 ms on; the grant in the next frame, at 2.9 ms.
        // nrtPS is no slower; the grant comes behind its poll, of two symbols, in frame 0 of each second.
        let frame_us = came_us.saturating_sub(2800).div_ceil(5000) * 5000;
        let expected = frame_us + 5000 + 2900 + burst_us;
        assert_eq!(arrives_us(Service::BestEffort, came_us), expected);
        assert_eq!(arrives_us(non_real_time, came_us), expected);
    }
}

#[test]
fn what_grants_and_t16_ask_for_is_in_two_lines_of_the_cache_and_the_account_behind_them() {
    let places = (offset_of!(ServiceFlow, service), offset_of!(ServiceFlow, account));
    assert_eq!((places, align_of::<ServiceFlow>()), ((64, 128), 64));
    // A power of two of them would leave a few sets of a cache to all flows.
    assert!(!(size_of::<ServiceFlow>() / 64).is_multiple_of(2));
}

#[test]
fn a_poll_helps_who_collides_for_ever() {
    let non_real_time = Service::NonRealTimePolling { interval: Span::from_ms(20) };
    for (service, expected) in [(Service::BestEffort, 0), (non_real_time, 2), (REAL_TIME, 2)] {
        let mut deaf = config(&[station(service), station(service)]);
        // All contend in the same opportunity.
        deaf.contention.backoff_end = 0;
        deaf.contention.retries = 2;
        let mut work = Work::new(deaf);
        // Behind the polls of the first frame.
        work.until(us(3500));
        (0..2).for_each(|station| work.up(us(3500), station, 500));
        work.until(us(200_000));
        assert_eq!(work.delivered.len(), expected, "{service:?}");
        let stats = work.cell.station_stats(0);
        assert_eq!(stats.answered_polls, u64::from(expected > 0));
        assert_eq!(stats.requests > 0, service.contends());
    }
}

#[test]
fn who_has_the_lower_rank_goes_first_both_ways() {
    let non_real_time = Service::NonRealTimePolling { interval: Span::from_ms(20) };
    let unsolicited = Service::UnsolicitedGrant { packet_bytes: 500, interval: Span::from_ms(5) };
    let services = [Service::BestEffort, non_real_time, REAL_TIME, unsolicited];
    let mut with = config(&services.map(station));
    with.contention.backoff_start = 3;
    let mut work = Work::new(with);
    // 48 symbols less maps: some 4000 octets a frame each way. UGS and rtPS want 500 and 2000 of them, nrtPS
    // and BE more than there is.
    for frame in 0..400 {
        work.until(us(5000 * frame));
        for (station, count) in [(0, 8), (1, 4), (2, 4), (3, 1)] {
            (0..count).for_each(|_| work.down(us(5000 * frame), station, 490));
            (0..count).for_each(|_| work.up(us(5000 * frame), station, 490));
        }
    }
    work.until(us(2_000_000));
    for way in 0..2 {
        let count = |station| {
            let (down, up) = work.cell.attachments_of(station);
            work.count(if way == 0 { up } else { down })
        };
        // Of 400 and 1600; some are on their way, and rtPS has to ask first.
        assert!((395..=400).contains(&count(3)), "{way}: {}", count(3));
        assert!((1570..=1600).contains(&count(2)), "{way}: {}", count(2));
        // The rest is nrtPS's, but for what is too little for it.
        assert!(count(1) > 900 && count(0) < 60, "{way}: {} {}", count(1), count(0));
    }
}

#[test]
fn who_enters_where_there_is_no_room_for_its_service_is_served_best_effort() {
    // 48 symbols less 8 for requests and 10 for ranging: 30. Three bursts of 1 + 9 symbols leave nothing for
    // a message of 1 + 1.
    let service = Service::UnsolicitedGrant { packet_bytes: 900, interval: Span::from_ms(5) };
    let mut with = config(&[station(service); 3]);
    let mut known = entry(vec![at(50.0), at(60.0), at(70.0)]);
    known.station.known_descriptors = true;
    known.station.backoff_start = 3;
    with.entry = Some(known);
    let mut work = Work::new(with);
    go_on(&mut work, 2_000_000);
    let refused =
        |work: &Work| (0..3).map(|station| work.cell.station_stats(station).refused_connections).collect();
    let first: Vec<u64> = refused(&work);
    assert_eq!(first.iter().sum::<u64>(), 1, "{first:?}");
    for frame in 0..100 {
        go_on(&mut work, 2_000_000 + 5000 * frame);
        (0..3).for_each(|station| work.up(us(2_000_000 + 5000 * frame), station, 900));
    }
    go_on(&mut work, 4_000_000);
    assert_eq!(work.delivered.len(), 300);
    // Who was refused asks by contention. When another has left, it is admitted as it enters again.
    let asks: Vec<bool> = (0..3).map(|station| work.cell.station_stats(station).requests > 0).collect();
    assert_eq!(asks, first.iter().map(|&refused| refused > 0).collect::<Vec<_>>());
    let Some(loser) = (0..3).find(|&station| first[station as usize] > 0) else { panic!("{first:?}") };
    Stations::leave(&mut work.cell, us(4_000_000), (loser + 1) % 3);
    Stations::leave(&mut work.cell, us(4_000_000), loser);
    Stations::associate(&mut work.cell, us(4_000_000), loser);
    go_on(&mut work, 6_000_000);
    assert_eq!(refused(&work) as Vec<u64>, first);
    assert_eq!(work.cell.flows[loser as usize].service, service);
}

#[test]
fn a_cell_tells_for_how_many_more_it_has_room() {
    // As above: two of three find room. The fourth asks for nothing.
    let service = Service::UnsolicitedGrant { packet_bytes: 900, interval: Span::from_ms(5) };
    let mut with = config(&[station(service), station(service), station(service), FAST]);
    let mut known = entry(vec![at(50.0), at(60.0), at(70.0), at(80.0)]);
    known.station.known_descriptors = true;
    known.station.backoff_start = 3;
    with.entry = Some(known);
    let mut work = Work::new(with);
    let places = |work: &Work, station, to_come: &[u32]| {
        Stations::places_for(&work.cell, Time::ZERO, station, to_come)
    };
    // Of who is to come places are kept, once, and of who asks for nothing none.
    assert_eq!(
        [&[][..], &[1], &[3], &[1, 2]].map(|to_come| places(&work, 0, to_come)),
        [2, 1, 2, 0].map(Some)
    );
    assert_eq!(places(&work, 3, &[0, 1, 2]), None);
    go_on(&mut work, 2_000_000);
    // Who is here has what it was given.
    for station in 0..3 {
        let refused = work.cell.station_stats(station).refused_connections > 0;
        assert_eq!(places(&work, station, &[]), Some(u32::from(!refused)), "{station}");
        assert_eq!(places(&work, station, &[0, 1, 2]), Some(u32::from(!refused)), "{station}");
    }
    // A place that is left is free, and can be kept for one.
    let Some(loser) = (0..3).find(|&one| work.cell.station_stats(one).refused_connections > 0) else {
        panic!("two have room")
    };
    let other = (loser + 1) % 3;
    Stations::leave(&mut work.cell, us(2_000_000), other);
    Stations::leave(&mut work.cell, us(2_000_000), loser);
    assert_eq!([&[][..], &[other]].map(|to_come| places(&work, loser, to_come)), [Some(1), Some(0)]);
}

/// Two stations with 240 B every 20 ms, in the frames with ranging: bursts of 1 + 3 symbols, from 3.4 ms on.
fn two_of_unsolicited_grants() -> Work {
    let service = Service::UnsolicitedGrant { packet_bytes: 240, interval: Span::from_ms(20) };
    let mut with = config(&[station(service); 2]);
    let mut known = entry(vec![at(50.0), at(60.0)]);
    known.station.known_descriptors = true;
    known.station.backoff_start = 3;
    with.entry = Some(known);
    let mut work = Work::new(with);
    go_on(&mut work, 1_999_999);
    assert!((0..2).all(|station| work.cell.is_served(station)));
    work
}

#[test]
fn who_is_left_out_has_its_bursts_again_when_there_is_room() {
    for leaves in [true, false] {
        let mut work = two_of_unsolicited_grants();
        let count = |work: &Work, station| work.count(work.cell.attachments_of(station).0);
        let now = us(2_004_000);
        go_on(&mut work, 2_004_000);
        // 250 octets and the tail in symbols of 12: 1 + 21. Of 48 symbols 18 are opportunities: there is room
        // for one burst.
        for station in 0..2 {
            work.cell.change_profile(now, station, Direction::Uplink, BurstProfile::Bpsk12);
            (0..5).for_each(|_| work.up(now, station, 240));
        }
        go_on(&mut work, 2_090_000);
        assert_eq!((count(&work, 0), count(&work, 1)), (4, 0));
        if leaves {
            Stations::leave(&mut work.cell, us(2_090_000), 0);
        } else {
            work.cell.change_profile(us(2_090_000), 0, Direction::Uplink, BurstProfile::Qam64R34);
        }
        // One packet in each of five frames, of which the first begins at 2.1 s: behind the other burst of
        // four symbols, if there is one.
        go_on(&mut work, 2_190_000);
        assert_eq!((count(&work, 0), count(&work, 1)), (4 + u64::from(!leaves), 5));
        let last = work.delivered.last().map(|&(at_us, down, _)| (at_us, down));
        let last_us = 2_180_000 + 3400 + if leaves { 0 } else { 200 } + 22 * 50;
        assert_eq!(last, Some((last_us, work.cell.attachments_of(1).0)));
    }
}

#[test]
fn bursts_are_as_the_map_of_their_frame_has_told() {
    // Asked for: 1010 octets in ten symbols from 7.95 ms on. The next is of the new profile: 110 octets and
    // the tail, ten symbols of 12.
    let mut work = Work::new(config(&[FAST]));
    work.up(us(0), 0, 1000);
    work.until(us(6000));
    work.cell.change_profile(us(6000), 0, Direction::Uplink, BurstProfile::Bpsk12);
    work.until(us(10_000));
    work.up(us(10_000), 0, 100);
    work.until(us(30_000));
    let at_us: Vec<u64> = work.delivered.iter().map(|(at_us, ..)| *at_us).collect();
    assert_eq!(at_us, [8450, 15_000 + 2900 + 50 + 500]);
    let stats = work.cell.station_stats(0);
    assert_eq!((stats.grants, stats.requests, stats.burst_bytes), (2, 2, 1079 + 119));
    // Unasked: the burst of the second stays where it is when the first changes its profile, or leaves.
    for leaves in [true, false] {
        let mut work = two_of_unsolicited_grants();
        go_on(&mut work, 2_001_000);
        (0..2).for_each(|station| work.up(us(2_001_000), station, 240));
        if leaves {
            Stations::leave(&mut work.cell, us(2_001_000), 0);
        } else {
            work.cell.change_profile(us(2_001_000), 0, Direction::Uplink, BurstProfile::Bpsk12);
        }
        go_on(&mut work, 2_010_000);
        let at_us: Vec<u64> = work.delivered.iter().map(|(at_us, ..)| *at_us).collect();
        assert_eq!(at_us, if leaves { &[2_003_800][..] } else { &[2_003_600, 2_003_800] });
        work.cell.finish(us(2_009_999));
    }
}

#[test]
fn contention_carries_no_data_of_unsolicited_grants_and_real_time_polls() {
    let unsolicited = Service::UnsolicitedGrant { packet_bytes: 1000, interval: Span::from_ms(20) };
    for (service, asked_bytes) in [(unsolicited, 13), (REAL_TIME, 13), (Service::BestEffort, 13 + 5 * 1010)] {
        let mut work = two_of_unsolicited_grants();
        // Behind the bursts of that frame; the next opportunity begins at 2.0075 s.
        let now = us(2_004_500);
        go_on(&mut work, 2_004_500);
        let before = work.cell.station_stats(0);
        work.cell.flows[0].service = service;
        let Some(joining) = &mut work.cell.stations[0].joining else { panic!("it has entered") };
        joining.from_station.push_back(Message::ProfileRequest(BurstProfile::Qpsk12));
        work.cell.ask_for_message(now, 0);
        (0..5).for_each(|_| work.up(now, 0, 1000));
        let mut now_us = 2_004_500;
        while work.cell.flows[0].requested_bytes == 0 && now_us < 2_019_000 {
            now_us += 50;
            go_on(&mut work, now_us);
        }
        assert_eq!(work.cell.flows[0].requested_bytes, asked_bytes, "{service:?}");
        go_on(&mut work, 2_300_000);
        assert_eq!(work.count(work.cell.attachments_of(0).0), 5, "{service:?}");
        let stats = work.cell.station_stats(0);
        let piggybacked = stats.piggybacked_requests - before.piggybacked_requests;
        assert_eq!(stats.requests - before.requests, 1, "{service:?}");
        if service == unsolicited {
            assert_eq!((stats.grants - before.grants, piggybacked), (1, 0));
        } else if service == REAL_TIME {
            // The burst of the message asks for the data.
            assert!(piggybacked > 0);
        }
    }
}

/// A packet of a class.
fn of_class(bytes: u32, dscp: u8) -> Packet {
    Packet { traffic_class: TrafficClass::of_dscp(dscp), ..datagram(bytes) }
}

/// A station with UGS for EF, rtPS for AF41 and AF42, and best effort for the rest.
fn three_flows() -> CellConfig {
    let mut with = config(&[station(Service::BestEffort)]);
    let voice = Service::UnsolicitedGrant { packet_bytes: 200, interval: Span::from_ms(20) };
    with.flows = vec![
        FlowConfig { station: 0, service: voice, dscps: 1 << 46, packing: false, arq: false },
        FlowConfig { station: 0, service: REAL_TIME, dscps: 1 << 34 | 1 << 36, packing: false, arq: false },
    ];
    with
}

#[test]
fn packets_go_by_the_service_flow_of_their_class() {
    let mut work = Work::new(three_flows());
    let (down, up) = work.cell.attachments_of(0);
    let classes = [(46, 200), (34, 300), (36, 300), (0, 400), (10, 400)];
    for from in [down, up] {
        for (dscp, bytes) in classes {
            work.send(us(0), from, of_class(bytes, dscp));
        }
    }
    work.until(us(100_000));
    assert_eq!((work.count(down), work.count(up)), (5, 5));
    // By service flow: best effort, voice, video.
    let stats = [0, 1, 2].map(|flow| work.cell.flow_stats(flow));
    assert_eq!(stats.map(|stats| stats.downlink_pdus), [2, 1, 2]);
    assert_eq!(stats.map(|stats| stats.uplink_pdus), [2, 1, 2]);
    assert_eq!(stats.map(|stats| stats.requests), [1, 0, 0]);
    assert_eq!(stats.map(|stats| stats.answered_polls), [0, 0, 1]);
    assert_eq!(work.cell.station_stats(0).uplink_pdus, 5);
    // Downlink: voice, video, the rest, whatever came first. 3 symbols, 6 of maps: 30 and 41 octets with the
    // tail. 210, 310, 310, 410 and 410 octets end in symbols 2, 5, 8, 12 and 16 of the burst.
    let at_us: Vec<u64> =
        work.delivered.iter().filter(|(_, to, _)| *to == up).map(|(at_us, ..)| *at_us).collect();
    assert_eq!(at_us, [2, 5, 8, 12, 16].map(|symbols| 50 * (9 + symbols)));
    // Voice has the first burst at 2.9 ms: three symbols. Then comes the poll, of two.
    let first = work.delivered.iter().find(|(_, to, _)| *to == down).map(|(at_us, ..)| *at_us);
    assert_eq!(first, Some(2900 + 50 + 100));
}

#[test]
fn service_flows_of_a_station_do_not_collide_with_each_other() {
    let mut with = config(&[station(Service::BestEffort)]);
    let non_real_time = Service::NonRealTimePolling { interval: Span::from_secs(3600) };
    with.flows =
        vec![FlowConfig { station: 0, service: non_real_time, dscps: 1 << 8, packing: false, arq: false }];
    let mut work = Work::new(with);
    let (_, up) = work.cell.attachments_of(0);
    // Behind the poll of the first frame. Each chooses the next opportunity, the only one of its window.
    work.until(us(3500));
    work.send(us(3500), up, of_class(100, 0));
    work.send(us(3500), up, of_class(100, 8));
    work.until(us(14_000));
    let stats = work.cell.station_stats(0);
    assert_eq!((stats.requests, stats.collided_requests), (2, 0));
    assert_eq!(work.delivered.len(), 2);
}

#[test]
fn each_service_flow_is_added_by_its_own_messages_and_one_may_be_refused() {
    let mut with = three_flows();
    // 30 symbols of the uplink behind all opportunities, of which a message takes 2: two bursts of 1 + 19 do
    // not fit, nor one and a poll of 2 beside another one.
    let voice = Service::UnsolicitedGrant { packet_bytes: 2000, interval: Span::from_ms(5) };
    with.flows[0].service = voice;
    with.flows.push(FlowConfig { station: 0, service: voice, dscps: 1 << 40, packing: false, arq: false });
    let mut known = entry(vec![at(50.0)]);
    known.station.known_descriptors = true;
    with.entry = Some(known);
    let mut work = Work::new(with);
    go_on(&mut work, 2_000_000);
    assert!(work.cell.is_served(0));
    let added: Vec<_> = work.cell.additions().iter().map(|added| (added.flow, added.admitted)).collect();
    assert_eq!(added, [(0, true), (1, true), (2, true), (3, false)]);
    assert_eq!(work.cell.station_stats(0).refused_connections, 1);
    // Who is refused is served best effort.
    let (down, up) = work.cell.attachments_of(0);
    for dscp in [46, 40] {
        work.send(us(2_001_000), up, of_class(1000, dscp));
    }
    go_on(&mut work, 2_100_000);
    assert_eq!(work.count(down), 2);
    let requests = [1, 3].map(|flow| work.cell.flow_stats(flow).requests);
    assert_eq!(requests, [0, 1]);
}
