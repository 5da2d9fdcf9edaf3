//! Queues under other disciplines than drop-tail: what drops at the head do to grants, when drops are told,
//! and what goes with a station.
//!
//! Symbols of 50 us, of 108 octets in 64-QAM 3/4; bursts of the uplink begin at 2.9 ms, of 40 symbols with
//! their preambles.

use super::joining::{at, entry, go_on};
use super::*;
use super::{FAST, Work, config, us};
use crate::link::stations::Stations;
use crate::queue::classes::{Classes, MOST_CLASSES};
use crate::queue::{QueueLimit, codel, drr, fq_codel, pie, red};
use roamsim_engine::Span;

const CODEL: codel::Settings =
    codel::Settings { target: Span::from_ms(1), interval: Span::from_ms(2), mtu_bytes: 2033, ecn: false };

fn classes() -> Classes {
    let mut classes = Classes::one();
    assert!(classes.add(&[46]));
    classes
}

/// Every discipline, some of them by settings under which they drop much.
pub(in crate::link::wimax) fn rules() -> [Rule; 7] {
    [
        Rule::DropTail,
        Rule::Codel(CODEL),
        Rule::FqCodel(fq_codel::Settings { flows: 8, quantum_bytes: 300, codel: CODEL }),
        Rule::Drr(drr::Settings { classes: classes(), quanta_bytes: [300; MOST_CLASSES] }),
        Rule::Pie(pie::Settings {
            target: Span::from_ms(1),
            update_interval: Span::from_ms(1),
            max_burst: Span::ZERO,
            mtu_bytes: 100,
            ecn: false,
        }),
        Rule::Priority(classes()),
        Rule::Red(red::Settings {
            min_threshold: 1.0,
            max_threshold: 3.0,
            max_probability: 0.5,
            adaptive: true,
            weight: 0.5,
            gentle: true,
            spare_single_packet: false,
            idle_transmission: Span::from_ms(1),
            ecn: false,
        }),
    ]
}

#[test]
fn what_is_dropped_at_the_head_leaves_its_part_of_a_grant_to_padding() {
    let mut with = config(&[FAST]);
    with.rule = Rule::Codel(codel::Settings { mtu_bytes: 100, ..CODEL });
    let mut work = Work::new(with);
    (0..10).for_each(|_| work.up(us(0), 0, 1000));
    work.until(us(100_000));
    // The first is in service at once. A request asks for ten PDUs of 1010 octets at 2.5 ms. Grants are of 39
    // symbols, 4211 octets, in frames 1 and 2, and of 16 for the 1678 octets that are left, 1727, in frame 3.
    // At 7.9 ms four packets go and 159 octets of the fifth; those that leave the queue have waited for
    // longer than 1 ms, which CoDel lets pass until 9.9 ms. At 12.9 ms the station holds 853 + 5 * 1010
    // octets, 14 more than 4211 and the 1678 that are due: 2 octets are for a request. The rest of the fifth
    // goes and the sixth is dropped, so that nothing is asked for; three packets follow and 314 octets of the
    // last. At 17.9 ms its 686 octets and 12 around them go, in a burst for those and a packet more.
    assert_eq!(work.dropped, [DropReason::QueueManagement]);
    let ids: Vec<u64> = work.delivered.iter().map(|(.., id)| *id).collect();
    assert_eq!(ids, [0, 1, 2, 3, 4, 6, 7, 8, 9]);
    let stats = work.cell.station_stats(0);
    assert_eq!((stats.requests, stats.grants, stats.piggybacked_requests), (1, 3, 1));
    assert_eq!(stats.burst_bytes, 2 * 4211 + 1727);
    assert_eq!(stats.padding_bytes, 1727 - 686 - 12);
    // Nobody waits for anything any more.
    assert_eq!(work.cell.poll_timeout(), None);
}

#[test]
fn who_is_dropped_for_another_to_come_is_told_at_once() {
    let mut with = config(&[FAST]);
    with.rule = rules()[2];
    with.queue = QueueLimit::Packets(4);
    let mut work = Work::new(with);
    work.until(us(3000));
    (0..6).for_each(|_| work.down(us(3000), 0, 1000));
    // One is in service and five are one too many: half of them, rounded up, long before the next frame.
    work.until(us(3000));
    assert_eq!(work.dropped, [DropReason::QueueFull; 3]);
    work.until(us(10_000));
    assert_eq!(work.delivered.iter().map(|(.., id)| *id).collect::<Vec<_>>(), [0, 4, 5]);
    let (down, _) = work.cell.attachments_of(0);
    assert_eq!(crate::link::Link::stats(&work.cell, down, us(10_000)).dropped_packets, 3);
}

#[test]
fn what_waits_goes_with_its_station_under_every_discipline() {
    for rule in rules() {
        // Nothing is carried, but for messages by contention.
        let voice = Service::UnsolicitedGrant { packet_bytes: 100, interval: Span::from_secs(3600) };
        let mut with = config(&[StationConfig { service: voice, ..FAST }]);
        with.rule = rule;
        let mut known = entry(vec![at(50.0)]);
        known.station.known_descriptors = true;
        with.entry = Some(known);
        let mut work = Work::new(with);
        go_on(&mut work, 2_000_000);
        assert!(work.cell.is_served(0));
        (0..4).for_each(|_| work.up(us(2_000_000), 0, 40));
        go_on(&mut work, 2_500_000);
        let before = work.dropped.len() as u64;
        let inside = crate::link::Link::packets_inside(&work.cell);
        assert!(before + inside == 4 && inside >= 2, "{rule:?}: {before} and {inside}");
        Stations::leave(&mut work.cell, us(2_500_000), 0);
        go_on(&mut work, 2_600_000);
        let left = &work.dropped[before as usize..];
        assert_eq!(left, vec![DropReason::NotAssociated; inside as usize], "{rule:?}");
        // What was there is forgotten: who comes back is served as before.
        Stations::associate(&mut work.cell, us(2_600_000), 0);
        go_on(&mut work, 5_000_000);
        work.down(us(5_000_000), 0, 40);
        go_on(&mut work, 5_100_000);
        assert_eq!(work.delivered.len(), 1, "{rule:?}");
    }
}
