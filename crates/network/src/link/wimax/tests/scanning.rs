//! Scan intervals by hand: what waits for them, what asks for them again, and what is known of a cell in
//! which a station is deaf.
//!
//! Stations know their descriptors where nothing else is said, and are connected at 55.75 ms.

use super::joining::{at, entry, go_on};
use super::*;
use super::{FAST, Work, config, us};
use crate::link::indication::LinkEvent;
use crate::link::stations::Stations;
use roamsim_engine::Span;

/// Four frames, then three between, then four again, 100 ms after Link_Up.
const SCANS: ScanConfig = ScanConfig {
    duration: 4,
    interleaving: 3,
    iterations: 2,
    every: Some(Span::from_ms(100)),
    t44: Span::from_ms(60),
    retries: 1,
};

fn work(station: StationConfig) -> Work {
    let mut with = config(&[station]);
    let mut own = entry(vec![at(50.0)]);
    own.station.known_descriptors = true;
    own.scanning = Some(SCANS);
    with.entry = Some(own);
    Work::new(with)
}

fn scans(found: &[(u64, u32, LinkEvent)]) -> Vec<(u64, LinkEvent)> {
    let of_scans = |event: LinkEvent| matches!(event, LinkEvent::ScanBegun | LinkEvent::ScanEnded);
    found.iter().filter(|(.., event)| of_scans(*event)).map(|&(at_us, _, event)| (at_us, event)).collect()
}

#[test]
fn packets_wait_during_scan_intervals() {
    let mut work = work(FAST);
    let mut found = go_on(&mut work, 171_000);
    // Due at 155.75 ms; MOB_SCN-REQ is asked for at 157.5 ms and sent in the frame from 160 ms on,
    // MOB_SCN-RSP in that from 165 ms on.
    work.down(us(171_000), 0, 1000);
    work.up(us(171_000), 0, 1000);
    found.extend(go_on(&mut work, 300_000));
    let (begun, ended) = (LinkEvent::ScanBegun, LinkEvent::ScanEnded);
    assert_eq!(scans(&found), [(170_000, begun), (190_000, ended), (205_000, begun), (225_000, ended)]);
    let (down, up) = work.cell.attachments_of(0);
    // Down: 8 symbols of preamble, header and maps, 10 of data. Up: asked for at 192.5 ms; behind four
    // opportunities of the frame from 195 ms on, 1 + 10 symbols.
    assert_eq!(work.delivered, [(190_900, up, 0), (197_900 + 550, down, 1)]);
}

#[test]
fn what_is_asked_for_before_an_interval_is_granted_behind_it() {
    let mut work = work(FAST);
    go_on(&mut work, 167_000);
    // The frame that MOB_SCN-RSP is in has an opportunity at 167.5 ms; the next frame is the first of the
    // interval.
    work.up(us(167_000), 0, 1000);
    go_on(&mut work, 300_000);
    let (down, _) = work.cell.attachments_of(0);
    // The uplink of the frame from 190 ms on, no region of ranging in it.
    assert_eq!(work.delivered, [(190_000 + 2_900 + 550, down, 0)]);
}

#[test]
fn unsolicited_grants_pause_in_scan_intervals() {
    let service = Service::UnsolicitedGrant { packet_bytes: 190, interval: Span::from_ms(5) };
    let mut work = work(StationConfig { service, ..FAST });
    for ms in (100..300).step_by(5) {
        go_on(&mut work, ms * 1000);
        work.up(us(ms * 1000), 0, 190);
    }
    let found = go_on(&mut work, 310_000);
    // A grant in each frame: MOB_SCN-REQ takes the place of data in that of 31, and is answered in frame 32.
    let frames: Vec<u64> = work.delivered.iter().map(|(at_us, ..)| at_us / 5000).collect();
    let expected: Vec<u64> = (20..33).filter(|&frame| frame != 31).chain(37..40).chain(44..62).collect();
    let mut seen = frames.clone();
    seen.dedup();
    assert_eq!(seen, expected);
    assert!(!found.iter().any(|(.., event)| matches!(event, LinkEvent::Down(_))));
}

#[test]
fn a_request_without_an_answer_is_repeated_after_t44_and_then_given_up() {
    let mut work = work(FAST);
    // The answer waits from 163.5 ms on.
    let mut found = go_on(&mut work, 164_000);
    let lose = |work: &mut Work| {
        let joining = work.cell.stations[0].joining.as_mut().expect("it enters");
        assert_eq!(joining.to_station.make_contiguous(), [Message::ScanResponse]);
        joining.to_station.clear();
    };
    lose(&mut work);
    // T44 expires at 215.75 ms: asked for at 217.5 ms, sent in the frame from 220 ms on, where ranging is.
    found.extend(go_on(&mut work, 224_000));
    lose(&mut work);
    // It expires at 275.75 ms again, and the scan is due 100 ms later: answered in the frame from 385 ms on.
    found.extend(go_on(&mut work, 500_000));
    let begun: Vec<u64> = scans(&found).iter().map(|(at_us, _)| *at_us).collect();
    assert_eq!(begun, [390_000, 410_000, 425_000, 445_000]);
}

#[test]
fn a_link_that_is_going_down_is_scanned_away_from_where_no_time_is_given() {
    let mut with = config(&[FAST]);
    let walk = crate::mobility::Trajectory::waypoints(
        crate::mobility::Point::new(95.0, 0.0),
        us(0),
        &[(crate::mobility::Point::new(200.0, 0.0), 10.0, Span::ZERO)],
    );
    let mut own = entry(vec![walk]);
    own.station.known_descriptors = true;
    own.going_down_ahead = Some(Span::from_ms(200));
    own.scanning = Some(ScanConfig { every: None, ..SCANS });
    with.entry = Some(own);
    let mut work = Work::new(with);
    let found = go_on(&mut work, 480_000);
    // Out of reach from 0.5 s on. Reports come every 100 ms from 5.4 ms on: that of 305.4 ms tells so.
    // MOB_SCN-REQ is asked for in this frame, sent in the next, answered in the one behind.
    let told = found.iter().find(|(.., event)| matches!(event, LinkEvent::GoingDown { .. }));
    assert_eq!(told.map(|told| told.0), Some(305_400));
    let begun: Vec<u64> = scans(&found).iter().map(|(at_us, _)| *at_us).collect();
    assert_eq!(begun, [320_000, 340_000, 355_000, 375_000]);
}

#[test]
fn what_was_heard_of_a_cell_is_known_while_its_station_is_deaf() {
    let mut with = config(&[FAST]);
    // DCD at 10 ms, UCD at 25 ms and at 5025 ms.
    with.entry = Some(entry(vec![at(50.0)]));
    let mut work = Work::new(with);
    let mut found = go_on(&mut work, 12_000);
    assert!(Stations::listen(&mut work.cell, us(12_000), 0, false));
    assert!(!Stations::listen(&mut work.cell, us(12_000), 0, false), "it was deaf already");
    // Lost maps would have expired after 600 ms, were it not for that.
    found.extend(go_on(&mut work, 5_012_000));
    assert!(Stations::listen(&mut work.cell, us(5_012_000), 0, true));
    found.extend(go_on(&mut work, 5_200_000));
    let names: Vec<(u64, &str)> = found
        .iter()
        .filter(|(.., event)| !matches!(event, LinkEvent::ParametersReport { .. }))
        .map(|(at_us, _, event)| (*at_us, event.name()))
        .collect();
    // As with the UCD at 25 ms, five seconds later.
    assert_eq!(names, [(5_400, "link_detected"), (5_075_750, "link_up")]);
}

#[test]
fn a_deaf_station_hears_no_preamble_and_goes_on_with_its_search() {
    let mut with = config(&[FAST]);
    with.entry = Some(entry(vec![at(50.0)]));
    let mut work = Work::new(with);
    assert!(Stations::listen(&mut work.cell, us(0), 0, false));
    assert_eq!(go_on(&mut work, 1_000_000), []);
    assert!(Stations::listen(&mut work.cell, us(1_001_000), 0, true));
    let found = go_on(&mut work, 1_050_000);
    // It begins within a frame's time, as it would have at the begin.
    let detected = found.first().map(|(at_us, _, event)| (*at_us, event.name()));
    assert!(matches!(detected, Some((1_005_400 | 1_010_400, "link_detected"))), "{detected:?}");
}
