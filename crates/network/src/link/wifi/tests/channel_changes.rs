//! What stations remember of other channels, what they do before they leave one, and frames from access
//! points that they are not associated with. Frames and radios are those of `roaming`.

use super::roaming::{LATE, Work, config, ess, stands, station, streams, us};
use super::*;
use crate::link::indication::LinkEvent;
use crate::link::wifi::management::Management;
use crate::link::wifi::medium::frame::Kind;
use crate::link::wifi::radios::radio::ALL;
use crate::link::wifi::stations::layout::MemberIndex;
use crate::link::wifi::stations::station::{Stage, State};
use crate::mobility::Point;
use roamsim_engine::Span;

fn at(us: u64) -> Time {
    Time::ZERO + Span::from_us(us)
}

const BEACONS: BeaconConfig = BeaconConfig { period: Span::from_ms(50), first: Time::from_ns(40_000_000) };

fn walk(from_m: f64, to_m: f64, speed: f64, begins: Time) -> Trajectory {
    let to = [(Point::new(to_m, 0.0), speed, Span::ZERO)];
    Trajectory::waypoints(Point::new(from_m, 0.0), begins, &to)
}

#[test]
fn a_cell_on_another_channel_is_compared_at_a_scan_and_not_later() {
    // Two access points at one place. At 17.8 m that of its own is 5 dB weaker than the other one was at 10
    // m, where the station has scanned for the only time.
    let config_of = StationConfig { scan_interval: Span::from_ms(200), ..station(&[1, 6]) };
    let ess =
        ess(&[(0.0, 1), (0.0, 6)], Some(BEACONS), &[(walk(10.0, 90.0, 10.0, Time::ZERO), Some(config_of))]);
    let mut work = Work::new(Cell::with_access_points(config(2), ess, streams));
    work.until(Time::from_ns(5_000_000_000));
    let up: Vec<u32> = work.named("link_up").into_iter().map(|(_, member)| member).collect();
    assert_eq!(up, [0]);
    let of_other = |name| work.named(name).into_iter().filter(|&(_, member)| member == 1).count();
    assert_eq!((of_other("link_detected"), of_other("link_lost")), (1, 1));
}

#[test]
fn what_a_scan_has_not_found_is_lost_before_what_it_has_is_told() {
    // The second access point goes away after the first scan.
    let mut ess = ess(&[(0.0, 1), (5.0, 6)], Some(LATE), &[(stands(10.0), Some(station(&[1, 6])))]);
    ess.places[1] = walk(5.0, 500.0, 1e6, at(500_000));
    let mut cell = Cell::with_access_points(config(2), ess, streams);
    let mut events = Vec::new();
    while let Some(now) = cell.poll_timeout().filter(|&now| now <= at(1_500_000)) {
        cell.handle_timeout(&mut Context { now, random: &mut stream() });
        // Nobody chooses.
        while let Some(Indication { at, event }) = cell.poll_indication(now) {
            events.push((event.name(), cell.associations.ways[at.0 as usize].member.0));
        }
    }
    let first = [("link_detected", 1), ("link_detected", 0)];
    let second = [("link_lost", 1), ("link_parameters_report", 0)];
    // The beacon of the first at 900 ms is on the other channel.
    assert_eq!(events, [first, second].concat());
}

fn stream() -> Stream {
    crate::link::testing::stream("unused")
}

/// A station 10 m from its access point, and associated; so many more access points, at its place too.
fn associated(channels: &[u8], settings: StationConfig) -> Work {
    let places: Vec<(f64, u8)> = channels.iter().map(|&channel| (0.0, channel)).collect();
    let ess = ess(&places, Some(LATE), &[(stands(10.0), Some(settings))]);
    let mut work = Work::new(Cell::with_access_points(config(channels.len()), ess, streams));
    work.until(at(100_000));
    assert_eq!(work.named("link_up").len(), 1);
    work
}

#[test]
fn data_from_an_access_point_that_a_station_has_left_is_refused() {
    let mut work = associated(&[1], station(&[1]));
    let down = work.cell.associations.members[MemberIndex(0)].down;
    assert!(work.cell.leave(at(100_000), 0).is_some());
    work.frames.clear();
    work.send(at(100_000), down, 248);
    work.until(at(200_000));
    let kinds: Vec<_> = work.frames.iter().map(|&(_, kind, from, _)| (kind, from)).collect();
    // Data, and its ACK; a disassociation, and its ACK.
    assert_eq!(kinds, [(Kind::Data, 0), (Kind::Ack, 1), (Kind::Management, 1), (Kind::Ack, 0)]);
    assert_eq!((work.delivered, work.dropped.as_slice()), (0, [DropReason::NotAssociated].as_slice()));
    // 192 us and 30 octets.
    assert_eq!(work.cell.radio_time(1).lost, Span::ZERO);
    let before = associated(&[1], station(&[1])).cell.radio_time(1).management;
    assert_eq!(work.cell.radio_time(1).management, before + us(192 + 240));
    // Now the access point knows.
    work.send(at(200_000), down, 248);
    assert_eq!(work.dropped, [DropReason::NotAssociated; 2]);
    work.until(at(300_000));
    assert_eq!(work.frames.len(), 4);
}

#[test]
fn a_station_acknowledges_a_probe_response_before_it_leaves_the_channel() {
    // As in `roaming`: the response ends 714 us after the probe request. The scan of the second channel ends
    // 5 us later, before the ACK.
    let settings = StationConfig {
        min_channel_time: us(600),
        max_channel_time: us(719),
        going_down_dbm: 0.0,
        ..station(&[6, 1])
    };
    let mut work = associated(&[6, 1], settings);
    assert_eq!(work.chosen.get(&RadioIndex(2)), Some(&0));
    work.until(Time::from_ns(2_500_000_000));
    let probes = work.frames.iter().filter(|frame| frame.2 == 2 && frame.3 == ALL.0).count();
    assert!(probes >= 4, "it has scanned again: {probes}");
    assert_eq!(work.cell.radio_time(1).failed_attempts, 0);
}

#[test]
fn a_station_waits_for_the_data_that_it_has_allowed() {
    let mut work = associated(&[1, 6], station(&[1, 6]));
    work.cell.config.rts_threshold_bytes = 0;
    let down = work.cell.associations.members[MemberIndex(0)].down;
    work.send(at(100_000), down, 248);
    // The RTS takes 272 us, the CTS 248.
    work.until(at(100_000 + 272 + 10));
    assert_eq!(work.frames.last().map(|frame| frame.1), Some(Kind::Cts));
    work.cell.begin_scan(at(100_300), RadioIndex(2));
    work.until(at(100_000 + 272 + 10 + 248 + 10 + 399 + 10 + 248));
    assert_eq!((work.delivered, work.cell.radio_time(0).failed_attempts), (1, 0));
    assert_eq!(work.cell.medium.channels[RadioIndex(2)], 1);
    // It stays 100 + 544 + 10,240 us on the first channel.
    work.until(at(115_000));
    assert_eq!(work.cell.medium.channels[RadioIndex(2)], 6, "{:?}", work.frames);
}

#[test]
fn who_wants_to_leave_waits_no_longer_than_the_data_may_take_to_begin() {
    let mut work = associated(&[1, 6], station(&[6, 1]));
    let begun = at(100_000);
    work.cell.radios[RadioIndex(2)].invites_until = begun + us(10);
    work.cell.begin_scan(begun, RadioIndex(2));
    work.cell.plan();
    work.until(begun + us(9));
    assert_eq!(work.cell.medium.channels[RadioIndex(2)], 1);
    work.until(begun + us(10));
    assert_eq!(work.cell.medium.channels[RadioIndex(2)], 6);
}

#[test]
fn a_beacon_goes_before_the_probe_responses_that_wait() {
    let mut work = associated(&[1], station(&[1]));
    work.frames.clear();
    (0..3).for_each(|_| {
        work.cell.push_management(at(100_000), RadioIndex(0), Management::ProbeResponse, RadioIndex(1))
    });
    work.cell.beacon_due(at(100_000), CellIndex(0));
    work.cell.plan();
    work.until(at(110_000));
    let of_access_point: Vec<_> =
        work.frames.iter().filter(|frame| frame.2 == 0).map(|frame| frame.3).collect();
    // The first is in hand already.
    assert_eq!(of_access_point, [1, ALL.0, 1, 1]);
}

#[test]
fn a_frame_that_had_begun_before_the_probe_was_over_keeps_the_channel_busy() {
    for (idle_since, long) in [(at(99_500), true), (at(99_000), false)] {
        let mut work = associated(&[1], station(&[1]));
        let station = work.cell.associations.stations[RadioIndex(1)].as_mut().expect("a station");
        station.state = State::Scanning(0, Stage::Listening(at(99_000), false));
        let timer = station.timer;
        let ear = work.cell.medium.ear_mut(RadioIndex(1));
        (ear.busy_since, ear.idle_since) = (at(98_000), idle_since);
        work.cell.station_timer(at(100_024), RadioIndex(1), timer);
        let state = work.cell.associations.stations[RadioIndex(1)].as_ref().expect("a station").state;
        let listens_on = state == State::Scanning(0, Stage::Listening(at(99_000), true));
        assert_eq!(listens_on, long);
    }
}

#[test]
fn who_comes_to_a_channel_and_finds_it_busy_at_once_draws_a_backoff() {
    let mut work = associated(&[1, 6], station(&[1, 6]));
    let now = at(100_000);
    // Windows without slots would draw none.
    work.cell.radios[RadioIndex(2)].own.access.cw_min = 31;
    work.cell.radios[RadioIndex(2)].own.cw = 31;
    work.cell.radios[RadioIndex(2)].own.backoff_slots = None;
    work.cell.medium.channels[RadioIndex(2)] = 6;
    work.cell.medium.tune(now, RadioIndex(2), 1);
    work.cell.push_management(now, RadioIndex(2), Management::Authentication, RadioIndex(0));
    assert_eq!(work.cell.radios[RadioIndex(2)].own.backoff_slots, None);
    work.cell.hear(now + us(5), work.cell.medium.ear_of(RadioIndex(2)), 1_000_000, Kind::Data);
    assert!(work.cell.radios[RadioIndex(2)].own.backoff_slots.is_some());
}

#[test]
fn a_frame_that_is_put_aside_keeps_its_count_of_attempts() {
    let mut work = associated(&[1], station(&[1]));
    let up = work.cell.associations.members[MemberIndex(0)].up;
    work.send(at(100_000), up, 248);
    let head = work.cell.radios[RadioIndex(1)].own.head.as_mut().expect("it contends");
    head.short_retries = 3;
    work.cell.radios[RadioIndex(1)].own.access.cw_min = 31;
    work.cell.begin_scan(at(100_000), RadioIndex(1));
    assert!(
        work.cell.radios[RadioIndex(1)].own.head.is_none() && work.cell.radios[RadioIndex(1)].own.cw == 31
    );
    work.cell.radios[RadioIndex(1)].blocked = false;
    work.cell.resume(at(100_000), RadioIndex(1));
    assert_eq!(work.cell.radios[RadioIndex(1)].own.head.as_ref().map(|head| head.short_retries), Some(3));
    // 31, 63, 127, 255.
    assert_eq!(work.cell.radios[RadioIndex(1)].own.cw, 255);
}

#[test]
fn an_association_ends_where_the_signal_is_below_the_threshold_of_the_station() {
    // -50 dBm are 10^((70 - 40.095) / 20) = 31.28 m from the access point; it is understood up to 110.98 m.
    // There at 31.28 m after 2.13 s, at 60 m after 5 s, and back at 31.28 m after 7.87 s.
    let there_and_back = Trajectory::waypoints(
        Point::new(10.0, 0.0),
        Time::ZERO,
        &[(Point::new(60.0, 0.0), 10.0, Span::ZERO), (Point::new(10.0, 0.0), 10.0, Span::ZERO)],
    );
    let settings = StationConfig {
        signal_threshold_dbm: Some(-50.0),
        going_down_dbm: -44.0,
        signal_weight: 1.0,
        ..station(&[1])
    };
    let ess = ess(&[(0.0, 1)], Some(BEACONS), &[(there_and_back, Some(settings))]);
    let mut work = Work::new(Cell::with_access_points(config(1), ess, streams));
    work.until(Time::from_ns(10_000_000_000));
    let near = |&(ns, _): &(u64, u32), s: f64, within: f64| (0.0..within).contains(&(ns as f64 * 1e-9 - s));
    let (down, up) = (work.named("link_down"), work.named("link_up"));
    assert_eq!((down.len(), up.len()), (1, 2), "{down:?} {up:?}");
    assert!(near(&down[0], 2.128, 0.06), "{down:?}");
    // A beacon above the threshold is enough; between 2.13 and 7.87 s none of them is told.
    assert!(near(&up[1], 7.872, 0.07), "{up:?}");
    let heard = work.events.iter().filter(|(ns, ..)| (2_200_000_000..7_800_000_000).contains(ns));
    assert_eq!(heard.count(), 0);
    // Link_Going_Down at -44 dBm, 15.68 m, 0.57 s: the fall from there to -50 dBm takes longer than its first
    // slope says, and no beacons have to be missed after it.
    let (at_ns, within) = work
        .events
        .iter()
        .find_map(|&(at_ns, _, event)| match event {
            LinkEvent::GoingDown { within, .. } => Some((at_ns, within.as_secs_f64())),
            _ => None,
        })
        .expect("a Link_Going_Down");
    // 20 log10(e) * 10 m/s / 15.7 m = 5.5 dB/s: 1.1 s.
    assert!((0.56..0.7).contains(&(at_ns as f64 * 1e-9)) && (0.9..1.4).contains(&within), "{at_ns} {within}");
}

/// The first Link_Going_Down of a station that walks from 10 to 100 m and notices each beacon's signal as it
/// is: how long is left, when it comes, how fast the signal falls, and what the signal is.
fn going_down(signal_threshold_dbm: Option<f64>) -> (Span, f64, f64) {
    let settings = StationConfig { signal_threshold_dbm, signal_weight: 1.0, ..station(&[1]) };
    let ess = ess(&[(0.0, 1)], Some(BEACONS), &[(walk(10.0, 100.0, 10.0, Time::ZERO), Some(settings))]);
    let mut work = Work::new(Cell::with_access_points(config(1), ess, streams));
    let mut now = Time::ZERO;
    loop {
        now += Span::from_ms(1);
        work.until(now);
        let within = work.events.iter().find_map(|(.., event)| match event {
            LinkEvent::GoingDown { within, .. } => Some(*within),
            _ => None,
        });
        if let Some(within) = within {
            let known = work.cell.associations.stations[RadioIndex(1)]
                .as_ref()
                .and_then(|station| station.known[0])
                .expect("it hears it");
            return (within, known.slope_db_per_s, known.signal_dbm);
        }
    }
}

#[test]
fn link_going_down_says_when_the_signal_or_the_beacons_will_be_missed() {
    // Lost at -61 dBm, and then beacons of 50 ms are missed for three periods and a half; by a threshold of
    // its own at that.
    for (threshold_dbm, lost_dbm, missed_s) in [(None, -61.0, 0.175), (Some(-60.0), -60.0, 0.0)] {
        let (within, slope_db_per_s, signal_dbm) = going_down(threshold_dbm);
        let expected_s = (signal_dbm - lost_dbm) / -slope_db_per_s + missed_s;
        assert!((within.as_secs_f64() - expected_s).abs() < 1e-8, "{within:?} for {expected_s}");
    }
}

/// What a station that is associated with the first of these cells tells of its next scan, however weak that
/// one is: the events and the cells that they are of. The cells are on channels of their own.
fn told_of_a_scan(access_points_m: [f64; 3]) -> Vec<(&'static str, u32)> {
    let places: Vec<(f64, u8)> = access_points_m.into_iter().zip([1, 6, 11]).collect();
    let settings = StationConfig { going_down_dbm: 0.0, ..station(&[1, 6, 11]) };
    let ess = ess(&places, Some(BEACONS), &[(stands(50.0), Some(settings))]);
    let mut cell = Cell::with_access_points(config(3), ess, streams);
    let mut events = Vec::new();
    while let Some(now) = cell.poll_timeout().filter(|&now| now <= at(2_000_000)) {
        cell.handle_timeout(&mut Context { now, random: &mut stream() });
        while let Some(Indication { at, event }) = cell.poll_indication(now) {
            let MemberIndex(member) = cell.associations.ways[at.0 as usize].member;
            if events.is_empty() {
                // Nobody else chooses.
                assert_eq!(cell.associate(now, 0), None);
            }
            events.push((now, event.name(), member));
        }
    }
    let last = events.iter().filter(|(_, _, member)| *member == 1).map(|&(now, ..)| now).max();
    let of_scan = |(now, name, member)| (Some(now) == last).then_some((name, member));
    events.into_iter().filter_map(of_scan).collect()
}

#[test]
fn a_scan_tells_of_its_own_access_point_first_and_then_of_the_strongest() {
    let told = |members: [u32; 3]| members.map(|member| ("link_parameters_report", member)).to_vec();
    // 40 m, 20 m and 10 m away; then 40 m, and twice 10 m, of which the first of the cells comes first.
    assert_eq!(told_of_a_scan([10.0, 30.0, 40.0]), told([0, 2, 1]));
    assert_eq!(told_of_a_scan([10.0, 40.0, 60.0]), told([0, 1, 2]));
    assert_eq!(told_of_a_scan([40.0, 30.0, 20.0]), told([0, 1, 2]));
}

#[test]
fn a_scan_comes_no_earlier_than_its_interval_after_the_last_one() {
    // Always weak: it scans at the first beacon, of its own channel, that comes a second or more after a
    // scan.
    let settings = StationConfig { going_down_dbm: 0.0, ..station(&[1, 6]) };
    let ess = ess(&[(0.0, 1)], Some(BEACONS), &[(stands(10.0), Some(settings))]);
    let mut work = Work::new(Cell::with_access_points(config(1), ess, streams));
    work.until(Time::from_ns(3_300_000_000));
    let probes: Vec<u64> =
        work.frames.iter().filter(|frame| frame.3 == ALL.0 && frame.2 == 1).map(|frame| frame.0).collect();
    assert!(probes.len() >= 6, "two a scan: {probes:?}");
    // From the first probe request: an idle access point, the second channel, which is silent, and the
    // request there.
    let scan_ns = (544 + 10_240 + 100 + 544 + 1024) * 1000;
    for (first, next) in probes.iter().step_by(2).zip(probes.iter().step_by(2).skip(1)) {
        // The request comes 100 us after the begin of a scan; a beacon, 50 ms after the last one, takes 712
        // us, or waits for a frame.
        let rested_ns = next - 100_000 - (first + scan_ns);
        assert!((1_000_000_000..1_052_000_000).contains(&rested_ns), "{rested_ns}");
    }
    assert_eq!(work.named("link_down"), []);
}

#[test]
fn a_station_without_access_points_scans_again_after_its_interval() {
    // Nobody is on channel 1 but far away: each scan is the same, and the next one a second behind it, to the
    // nanosecond.
    let settings = StationConfig { scan_interval: Span::from_ms(300), ..station(&[1]) };
    let ess = ess(&[(0.0, 1)], Some(LATE), &[(stands(300.0), Some(settings))]);
    let mut work = Work::new(Cell::with_access_points(config(1), ess, streams));
    work.until(at(800_000));
    let probes: Vec<u64> = work.frames.iter().filter(|frame| frame.2 == 1).map(|frame| frame.0).collect();
    // The delay, a probe request of 544 us, and MinChannelTime, which the request itself does not make busy.
    let begin_ns = streams(1, "backoff").below(10_240_000);
    let each_ns = (300_000 + 100 + 544 + 1024) * 1000;
    assert_eq!(probes, [0, 1, 2].map(|scan| begin_ns + 100_000 + scan * each_ns)[..probes.len()]);
    assert_eq!(probes.len(), 3);
}

#[test]
fn a_reassociation_names_the_access_point_before_in_six_octets_more() {
    let mut work = associated(&[1, 6], station(&[1, 6]));
    let requests = |work: &Work| {
        let of_station = work.frames.iter().filter(|frame| frame.2 == 2 && frame.1 == Kind::Management);
        of_station.filter(|frame| frame.3 != ALL.0).map(|frame| frame.0).collect::<Vec<_>>()
    };
    let answered = |work: &Work, request_ns: u64| {
        let acks = work.frames.iter().filter(|frame| frame.1 == Kind::Ack && frame.2 != 2);
        acks.map(|frame| frame.0).find(|&ack_ns| ack_ns > request_ns).map(|ack_ns| ack_ns - request_ns)
    };
    assert!(work.cell.leave(at(100_000), 0).is_some());
    assert_eq!(work.cell.associate(at(100_000), 1), None);
    work.until(at(200_000));
    let requests = requests(&work);
    assert_eq!(requests.len(), 4, "authentication and association, twice");
    // 192 us and 48 octets, or 54, and SIFS.
    assert_eq!(answered(&work, requests[1]), Some((192 + 8 * 48 + 10) * 1000));
    assert_eq!(answered(&work, requests[3]), Some((192 + 8 * 54 + 10) * 1000));
}

#[test]
fn a_cell_on_its_own_channel_is_lost_when_its_beacons_are_missed() {
    // Both are on channel 1; the second one goes away at 500 ms, and the station stays with the first.
    let mut ess = ess(&[(0.0, 1), (5.0, 1)], Some(BEACONS), &[(stands(1.0), Some(station(&[1])))]);
    ess.bsses[1].beacons = Some(BeaconConfig { first: BEACONS.first + us(25_000), ..BEACONS });
    ess.places[1] = walk(5.0, 500.0, 1e6, at(500_000));
    let mut work = Work::new(Cell::with_access_points(config(2), ess, streams));
    work.until(at(1_500_000));
    assert_eq!(work.chosen.get(&RadioIndex(2)), Some(&0));
    let reports = work.named("link_parameters_report");
    let (last_ns, _) = *reports.iter().rfind(|&&(_, member)| member == 1).expect("it was heard");
    let lost = work.named("link_lost");
    // Three periods and a half later; the station looks each three periods and a half at the most.
    assert_eq!(lost.iter().map(|&(_, member)| member).collect::<Vec<_>>(), [1]);
    let after_ns = lost[0].0 - last_ns;
    assert!((175_000_000..350_000_000).contains(&after_ns), "{after_ns}");
    assert_eq!(work.named("link_down"), []);
}

#[test]
fn a_station_asks_as_often_as_it_may_and_then_gives_the_cell_up() {
    // Nobody hears it: it asks at 100, 300 and 500 ms, and waits 200 ms for each answer.
    let ess = ess(&[(0.0, 1)], Some(LATE), &[(stands(200.0), Some(station(&[1])))]);
    let mut work = Work::new(Cell::with_access_points(config(1), ess, streams));
    work.until(at(100_000));
    assert_eq!(work.cell.associate(at(100_000), 0), None);
    work.until(at(900_000));
    assert_eq!(work.named("link_lost"), [(700_000_000, 0)]);
}

#[test]
fn who_comes_nearer_has_no_link_that_goes_down() {
    // From 105 m on, where the signal is low, to 10 m; and away again, beyond 78.6 m, and back.
    let walk = Trajectory::waypoints(
        Point::new(105.0, 0.0),
        Time::ZERO,
        &[
            (Point::new(10.0, 0.0), 20.0, Span::ZERO),
            (Point::new(95.0, 0.0), 20.0, Span::ZERO),
            (Point::new(10.0, 0.0), 20.0, Span::ZERO),
        ],
    );
    let ess = ess(&[(0.0, 1)], Some(BEACONS), &[(walk, Some(station(&[1])))]);
    let mut work = Work::new(Cell::with_access_points(config(1), ess, streams));
    work.until(Time::from_ns(4_750_000_000));
    assert_eq!((work.named("link_up").len(), work.named("link_going_down").len()), (1, 0));
    work.until(Time::from_ns(13_000_000_000));
    assert_eq!((work.named("link_going_down").len(), work.named("link_event_rollback").len()), (1, 1));
}

#[test]
fn packets_for_another_access_point_are_dropped_when_their_turn_comes() {
    let ess = ess(&[(0.0, 1), (0.0, 6)], Some(LATE), &[(stands(10.0), Some(station(&[1, 6])))]);
    let mut work = Work::new(Cell::with_access_points(config(2), ess, streams));
    for member in [1, 0] {
        let up = work.cell.associations.members[MemberIndex(member)].up;
        work.send(Time::ZERO, up, 248);
    }
    work.until(at(100_000));
    assert_eq!(work.named("link_up").iter().map(|&(_, member)| member).collect::<Vec<_>>(), [0]);
    assert_eq!((work.delivered, work.dropped.as_slice()), (1, [DropReason::NotAssociated].as_slice()));
}

#[test]
fn a_station_takes_no_broadcast_of_an_access_point_that_it_has_left() {
    let mut work = associated(&[1], station(&[1]));
    work.broadcast(at(100_000), 0);
    work.until(at(110_000));
    assert_eq!((work.delivered, work.dropped.as_slice()), (1, [].as_slice()));
    assert!(work.cell.leave(at(110_000), 0).is_some());
    work.broadcast(at(110_000), 0);
    work.until(at(120_000));
    assert_eq!((work.delivered, work.dropped.as_slice()), (1, [DropReason::NotAssociated].as_slice()));
}

#[test]
fn what_a_station_did_counts_for_the_cell_where_it_did_it() {
    let mut work = associated(&[1, 6], station(&[1, 6]));
    let first = work.cell.member_time(0);
    // An authentication, a request for association, and whatever was repeated.
    assert!(first.attempts >= 2);
    assert_eq!(work.cell.member_time(1), RadioTime::default());
    assert!(work.cell.leave(at(100_000), 0).is_some());
    assert_eq!(work.cell.associate(at(100_000), 1), None);
    work.until(at(200_000));
    assert_eq!(work.named("link_up").len(), 2);
    // The frames of the change are the first cell's.
    assert_eq!(work.cell.member_time(0).attempts, first.attempts + 2);
    let up = work.cell.associations.members[MemberIndex(1)].up;
    work.send(at(200_000), up, 248);
    work.until(at(210_000));
    assert_eq!((work.cell.member_time(1).attempts, work.delivered), (1, 1));
    assert_eq!(work.cell.member_time(0).attempts, first.attempts + 2);
}

#[test]
fn who_comes_amid_a_frame_may_receive_the_next_one_by_its_ratio() {
    // Two access points on channel 6 that do not hear each other, and a station between them that is on
    // channel 1.
    for (sinr, disturbed) in [(Some(SinrConfig { noise_figure_db: 10.0 }), false), (None, true)] {
        let at_rest = (stands(90.0), Some(station(&[1, 6])));
        let mut ess = ess(&[(0.0, 6), (180.0, 6)], None, &[at_rest]);
        ess.radio = RadioConfig { sinr, ..ess.radio };
        let mut cell = Cell::with_access_points(config(2), ess, streams);
        let send = |cell: &mut Cell, now: Time, from: usize| {
            cell.push_management(now, RadioIndex(from), Management::Beacon, ALL);
            cell.plan();
            while let Some(due) = cell.poll_timeout().filter(|&due| due <= now) {
                cell.handle_timeout(&mut Context { now: due, random: &mut stream() });
            }
        };
        send(&mut cell, at(100), 0);
        assert_eq!(cell.medium.on_air.len(), 1);
        cell.medium.tune(at(101), RadioIndex(2), 6);
        assert_eq!(
            (cell.medium.ear(RadioIndex(2)).heard, cell.medium.ear(RadioIndex(2)).receiving),
            (1, None)
        );
        send(&mut cell, at(102), 1);
        let second = cell.medium.on_air[1].number;
        let receives = cell.medium.ear(RadioIndex(2)).receiving.is_some_and(|(number, _)| number == second);
        assert_eq!((receives, cell.medium.ear(RadioIndex(2)).disturbed), (!disturbed, disturbed));
    }
}
