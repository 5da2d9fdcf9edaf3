//! Time lines by hand, saturated cells by arithmetic, and what holds of any traffic.
//!
//! 5 MHz, prefix 1/8, frames of 5 ms with gaps of 100 us: symbols of 50 us, 48 each way. The uplink begins at
//! 2.5 ms with four request opportunities of two symbols; bursts follow from 2.9 ms on.

mod disciplines;
mod entry;
pub(super) mod joining;
pub(super) mod pusc;
mod scanning;
mod services;
mod theory;

use self::disciplines::rules;
use super::layout::FrameLayout;
use super::phy::{BurstProfile, CyclicPrefix, SymbolClock, Unit};
use super::*;
use crate::link::{Carrier, Link, QueueLimit};
use crate::packet::PacketId;
use crate::testing::{datagram, stream};
use proptest::prelude::*;
use roamsim_engine::Span;
use std::iter::{once, repeat_n};

pub(super) fn us(us: u64) -> Time {
    Time::ZERO + Span::from_us(us)
}

pub(super) const FAST: StationConfig = StationConfig {
    downlink: BurstProfile::Qam64R34,
    uplink: BurstProfile::Qam64R34,
    service: Service::BestEffort,
    packing: false,
    arq: false,
};

pub(super) fn layout() -> FrameLayout {
    let clock = SymbolClock::new(5_000_000, CyclicPrefix::Eighth).expect("a bandwidth of the standard");
    let gap = Span::from_us(100);
    FrameLayout::new(clock, Span::from_ms(5), gap, gap, 0.5)
}

pub(super) fn config(stations: &[StationConfig]) -> CellConfig {
    CellConfig {
        layout: layout(),
        map_profile: BurstProfile::Bpsk12,
        request_opportunities: 4,
        contention: ContentionConfig {
            backoff_start: 0,
            backoff_end: 4,
            retries: 16,
            timeout: Span::from_ms(10),
        },
        queue: QueueLimit::Packets(1_000_000),
        rule: Rule::DropTail,
        mtu_bytes: 2033,
        stations: stations.to_vec(),
        flows: Vec::new(),
        arq: None,
        entry: None,
    }
}

/// A cell at work.
pub(super) struct Work {
    pub cell: Cell,
    /// Microseconds, attachment, number.
    pub delivered: Vec<(u64, Attachment, u64)>,
    pub dropped: Vec<DropReason>,
    pub sent: u64,
}

impl Work {
    pub fn new(config: CellConfig) -> Work {
        let cell = Cell::new(config, |station, purpose| stream(&format!("{station}/{purpose}")));
        Work { cell, delivered: Vec::new(), dropped: Vec::new(), sent: 0 }
    }

    pub fn down(&mut self, now: Time, station: u32, bytes: u32) {
        self.send(now, self.cell.attachments_of(station).0, datagram(bytes));
    }

    pub fn up(&mut self, now: Time, station: u32, bytes: u32) {
        self.send(now, self.cell.attachments_of(station).1, datagram(bytes));
    }

    pub fn send(&mut self, now: Time, from: Attachment, packet: Packet) {
        let mut random = stream("unused");
        let packet = Packet { id: PacketId(self.sent), ..packet };
        self.sent += 1;
        if let Err(dropped) = self.cell.enqueue(&mut Context { now, random: &mut random }, from, packet) {
            self.dropped.push(dropped.reason);
        }
    }

    pub fn until(&mut self, until: Time) {
        let mut random = stream("unused");
        while let Some(now) = self.cell.poll_timeout().filter(|&now| now <= until) {
            self.cell.handle_timeout(&mut Context { now, random: &mut random });
            while let Some((to, packet)) = self.cell.poll_delivery(now) {
                let slots = self.cell.config().layout.pusc.is_some();
                assert!(slots || now.as_ns().is_multiple_of(1000), "symbols of 50 us");
                self.delivered.push((now.as_ns() / 1000, to, packet.id.0));
            }
            while let Some((.., dropped)) = self.cell.poll_drop() {
                self.dropped.push(dropped.reason);
            }
        }
        let ended = (self.delivered.len() + self.dropped.len()) as u64;
        assert_eq!(self.sent, ended + self.cell.packets_inside());
    }

    /// Packets delivered at an attachment.
    pub fn count(&self, at: Attachment) -> u64 {
        self.delivered.iter().filter(|(_, to, _)| *to == at).count() as u64
    }
}

#[test]
fn a_downlink_packet_arrives_with_the_symbol_that_ends_it() {
    let mut work = Work::new(config(&[FAST]));
    let (_, up) = work.cell.attachments_of(0);
    work.down(us(0), 0, 1000);
    work.until(us(4000));
    work.down(us(4000), 0, 1000);
    work.until(us(20_000));
    // Preamble and FCH take three symbols. Maps: 26 + 4 and 23 + 6 octets, 60 with the tail: 5 symbols of 12.
    // 1010 octets take 10 symbols of 108: 18 symbols. The next one waits for the next frame.
    assert_eq!(work.delivered, [(900, up, 0), (5900, up, 1)]);
    work.cell.finish(us(19_999));
    let time = work.cell.time();
    assert_eq!((time.frames, time.busy_frames, time.downlink_units, time.uplink_units), (4, 2, 20, 0));
    // An idle frame has 26 + 29 octets of maps: 5 symbols as well.
    assert_eq!(time.map_units, 20);
}

#[test]
fn packets_share_a_burst_and_bursts_follow_by_their_robustness() {
    let slow = StationConfig { downlink: BurstProfile::Qpsk12, ..FAST };
    let mut work = Work::new(config(&[FAST, slow, FAST]));
    let up = |station| work.cell.attachments_of(station).1;
    let (first, second, third) = (up(0), up(1), up(2));
    (0..3).for_each(|station| work.down(us(0), station, 90));
    work.down(us(0), 0, 90);
    work.until(us(5000));
    // Maps: 26 + 8 and 29 octets and the tail, 64: 6 symbols. QPSK 1/2 first: 100 octets end in its fifth
    // symbol, 9 + 5; with the tail it has five. Then 64-QAM 3/4: 100, 200 and 300 octets end in symbols 1, 2
    // and 3.
    assert_eq!(work.delivered, [(700, second, 1), (750, first, 0), (800, third, 2), (850, first, 3)]);
}

#[test]
fn a_packet_that_is_too_long_for_a_frame_goes_on_in_the_next() {
    let slow = StationConfig { downlink: BurstProfile::Bpsk12, ..FAST };
    let mut work = Work::new(config(&[slow]));
    work.down(us(0), 0, 1000);
    work.until(us(50_000));
    // 40 symbols of 12 less the tail have 479 octets, 467 of the packet; the 66 that are left after two need
    // 78: 7 symbols.
    assert_eq!(work.delivered, [(10_000 + 50 * (8 + 7), work.cell.attachments_of(0).1, 0)]);
    let stats = work.cell.station_stats(0);
    assert_eq!((stats.downlink_pdus, stats.downlink_fragments), (3, 3));
}

#[test]
fn a_station_asks_and_gets_a_burst_in_the_next_frame() {
    let mut work = Work::new(config(&[FAST]));
    let (down, _) = work.cell.attachments_of(0);
    work.up(us(0), 0, 1000);
    work.until(us(20_000));
    // The request comes at 2.5 ms. In the frame from 5 ms on the burst begins at 7.9 ms: preamble, ten
    // symbols.
    assert_eq!(work.delivered, [(7900 + 50 + 500, down, 0)]);
    // What comes after an opportunity has begun uses the next one; behind the last of a frame, that is in the
    // next frame.
    work.up(us(22_650), 0, 1000);
    work.until(us(40_000));
    assert_eq!(work.delivered[1..], [(28_450, down, 1)]);
    work.up(us(42_801), 0, 1000);
    work.until(us(60_000));
    assert_eq!(work.delivered[2..], [(53_450, down, 2)]);
    let stats = work.cell.station_stats(0);
    // 10 symbols have room for 1079 octets; 69 are padding.
    assert_eq!((stats.requests, stats.grants, stats.piggybacked_requests), (3, 3, 0));
    assert_eq!((stats.burst_bytes, stats.padding_bytes), (3 * 1079, 3 * 69));
    work.cell.finish(us(59_999));
    assert_eq!((work.cell.time().uplink_units, work.cell.time().busy_frames), (33, 3));
}

#[test]
fn what_comes_after_the_request_is_asked_for_with_the_burst() {
    let mut work = Work::new(config(&[FAST]));
    let (down, _) = work.cell.attachments_of(0);
    work.up(us(0), 0, 1000);
    work.until(us(6000));
    work.up(us(6000), 0, 200);
    work.until(us(20_000));
    // 1079 octets: a request of 2, 1010 of the first packet, 67 of the second, 55 of them its own. The rest
    // of 145 and 12 around it come in the next frame: two symbols.
    assert_eq!(work.delivered, [(8450, down, 0), (12_950 + 100, down, 1)]);
    let stats = work.cell.station_stats(0);
    assert_eq!((stats.requests, stats.piggybacked_requests, stats.grants), (1, 1, 2));
    assert_eq!((stats.uplink_pdus, stats.uplink_fragments), (3, 2));
}

#[test]
fn requests_that_collide_are_repeated_after_t16_and_given_up_in_the_end() {
    let mut deaf = config(&[FAST, FAST]);
    // Both use the same opportunity for ever.
    deaf.contention.backoff_end = 0;
    deaf.contention.retries = 2;
    let mut work = Work::new(deaf);
    (0..2).for_each(|station| work.up(us(0), station, 100));
    work.up(us(100), 0, 100);
    // At 2.5, 12.6 and 22.7 ms, each behind the opportunity that begins when T16 expires; given up 10 ms
    // after the third.
    work.until(us(32_699));
    assert_eq!(work.dropped, []);
    work.until(us(32_700));
    assert_eq!(work.dropped, [DropReason::RetryLimit; 2]);
    // The second packet of the first station is alone then: at 32.8 ms.
    work.until(us(60_000));
    assert_eq!(work.delivered, [(35_000 + 2900 + 50 + 100, work.cell.attachments_of(0).0, 2)]);
    let stats = work.cell.station_stats(0);
    assert_eq!((stats.requests, stats.collided_requests, stats.given_up), (4, 3, 1));
}

#[test]
fn who_was_told_of_a_burst_that_passed_by_asks_again_after_t16() {
    let mut work = Work::new(config(&[FAST]));
    work.up(us(0), 0, 100);
    work.cell.flows[0].contention.told_of_burst();
    work.cell.misses_burst(us(100), 0);
    work.until(us(30_000));
    // T16 is over at 10.1 ms; it asks at 12.5 ms.
    assert_eq!(work.cell.station_stats(0).requests, 1);
    assert_eq!(work.delivered, [(15_000 + 2900 + 50 + 100, work.cell.attachments_of(0).0, 0)]);
}

#[test]
fn the_next_opportunity_is_the_first_that_begins_later_whoever_asked_before() {
    let mut work = Work::new(config(&[FAST]));
    // Opportunities at 2.5, 2.6, 2.7 and 2.8 ms of each frame of 5 ms; time may be asked for in any order.
    let asked = [0, 2499, 2500, 2501, 2799, 2800, 2801, 7499, 7500, 0, 2700, 2600];
    let next = asked.map(|at_us| work.cell.next_opportunity(us(at_us)));
    assert_eq!(next, [0, 0, 1, 1, 3, 4, 4, 4, 5, 0, 3, 2]);
}

#[test]
fn who_is_told_of_a_burst_by_the_map_does_not_ask_again_before_it() {
    let mut short = config(&[FAST]);
    // It asks at 2.5 ms. T16 would be over at 7.75 ms, before the opportunity at 7.8 ms and the burst at 7.9
    // ms, of which the map of 5 ms tells.
    short.contention.timeout = Span::from_us(5250);
    let mut work = Work::new(short);
    work.up(us(0), 0, 100);
    work.until(us(30_000));
    let stats = work.cell.station_stats(0);
    assert_eq!((stats.requests, stats.grants), (1, 1));
    assert_eq!(work.delivered, [(5000 + 2900 + 50 + 100, work.cell.attachments_of(0).0, 0)]);
}

#[test]
fn unsolicited_grants_come_at_their_interval_and_cost_nothing_unused() {
    let service = Service::UnsolicitedGrant { packet_bytes: 200, interval: Span::from_ms(20) };
    let mut work = Work::new(config(&[StationConfig { service, ..FAST }]));
    let (down, _) = work.cell.attachments_of(0);
    assert_eq!(work.cell.poll_timeout(), None);
    // Frames 0, 4, 8: bursts at 2.9 ms of them, 210 octets in two symbols.
    for (at_us, bytes) in [(2900, 200), (2901, 200), (45_000, 200), (45_000, 300)] {
        work.until(us(at_us));
        work.up(us(at_us), 0, bytes);
    }
    work.until(us(200_000));
    let end = |frame_us: u64| frame_us + 2900 + 150;
    // 215 octets less 12 are 203 of the 300; the rest of 97 needs 109, two symbols with the tail.
    let expected = [(end(0), 0), (end(20_000), 1), (end(60_000), 2), (end(100_000), 3)];
    assert_eq!(work.delivered, expected.map(|(at_us, id)| (at_us, down, id)));
    work.cell.finish(us(199_999));
    let (time, stats) = (work.cell.time(), work.cell.station_stats(0));
    assert_eq!((stats.bursts, stats.requests), (5, 0));
    // Ten intervals, three symbols each; nothing was scheduled by the base station.
    assert_eq!((time.frames, time.busy_frames, time.uplink_units), (40, 0, 30));
    // 26 + 29 octets, 6 more where there is a burst: 56 and 62 with the tail, 5 and 6 symbols.
    assert_eq!(time.map_units, 30 * 5 + 10 * 6);
}

#[test]
fn an_idle_cell_has_nothing_to_do() {
    let mut work = Work::new(config(&[FAST; 100]));
    work.down(us(0), 17, 100);
    work.until(us(1_000_000));
    assert_eq!(work.cell.poll_timeout(), None);
    work.cell.finish(us(3_599_999_999));
    assert_eq!((work.cell.time().frames, work.cell.time().busy_frames), (720_000, 1));
}

/// Packets that are complete after so many bursts of `capacity` octets from a queue that never empties: a
/// whole one needs 10 more than its own octets, a part 12 and at least one of its own.
pub(super) fn complete(bursts: u64, capacity: u32, packet_bytes: u32) -> u64 {
    let (mut packets, mut left) = (0, packet_bytes);
    for _ in 0..bursts {
        let mut room = capacity;
        loop {
            let need = left + if left == packet_bytes { 10 } else { 12 };
            if need > room {
                left -= room.saturating_sub(12);
                break;
            }
            (packets, left, room) = (packets + 1, packet_bytes, room - need);
        }
    }
    packets
}

#[test]
fn a_saturated_downlink_carries_what_its_symbols_have_room_for() {
    for profile in BurstProfile::ALL {
        for bytes in [40, 64, 576, 1000, 1500, 2033] {
            let mut work = Work::new(config(&[StationConfig { downlink: profile, ..FAST }]));
            (0..20_000).for_each(|_| work.down(us(0), 0, bytes));
            work.until(us(99_999));
            // 48 symbols less 3 and 5.
            let capacity = 40 * Unit::Symbol.bytes(profile) - 1;
            let expected = complete(20, capacity, bytes);
            assert_eq!(work.count(work.cell.attachments_of(0).1), expected, "{profile:?} {bytes}");
            // Cut once at the end of nearly each frame, which costs 14 octets, or fewer than 13 are left.
            let most = u64::from(capacity) * 20 / u64::from(bytes + 10);
            let least = u64::from(capacity - 14) * 20 / u64::from(bytes + 10);
            assert!((least.saturating_sub(1)..=most).contains(&expected), "{profile:?} {bytes}: {expected}");
        }
    }
    // 64-QAM 3/4: 4319 octets, 2.85 packets of 1500, 57 in 20 frames less what cutting takes: 20 * 4305
    // / 1510.
    assert_eq!(complete(20, 4319, 1500), 57);
}

#[test]
fn a_saturated_uplink_carries_what_its_symbols_have_room_for() {
    for profile in BurstProfile::ALL {
        for bytes in [40, 576, 1500, 2033] {
            let mut work = Work::new(config(&[StationConfig { uplink: profile, ..FAST }]));
            // More comes than fits, so that each burst asks for more. A burst has 39 symbols and their
            // preamble.
            for frame in 0..41 {
                work.until(us(5000 * frame));
                (0..=48 * Unit::Symbol.bytes(profile) / bytes)
                    .for_each(|_| work.up(us(5000 * frame), 0, bytes));
            }
            work.until(us(205_000));
            let capacity = 39 * Unit::Symbol.bytes(profile) - 1 - 2;
            let found = work.count(work.cell.attachments_of(0).0);
            assert_eq!(found, complete(40, capacity, bytes), "{profile:?} {bytes}");
            assert_eq!(work.cell.station_stats(0).requests, 1);
        }
    }
}

/// The same where PDUs pack: 3 octets before each packet or part, 10 around all, 2045 of a PDU at most; who
/// has a PDU to himself is as without.
fn packed(capacities: impl IntoIterator<Item = u32>, packet_bytes: u32) -> u64 {
    let (mut packets, mut left) = (0, packet_bytes);
    for capacity in capacities {
        let mut room = capacity;
        loop {
            let alone = left + if left == packet_bytes { 10 } else { 12 };
            if alone > room {
                left -= room.saturating_sub(12);
                break;
            }
            let most = room.min(2045);
            let behind = most.saturating_sub(13 + left) / (packet_bytes + 3);
            let whole = 13 + left + behind * (packet_bytes + 3);
            let part = if room <= 2045 { room.saturating_sub(whole + 3) } else { 0 };
            packets += u64::from(1 + behind);
            room -= match (behind, part) {
                (0, 0) => alone,
                (_, 0) => whole,
                _ => whole + 3 + part,
            };
            left = packet_bytes - part;
        }
    }
    packets
}

#[test]
fn a_saturated_cell_that_packs_carries_more_small_packets() {
    for profile in BurstProfile::ALL {
        for bytes in [40, 64, 200, 576, 1000, 1500] {
            let station = StationConfig { downlink: profile, uplink: profile, packing: true, ..FAST };
            let mut work = Work::new(config(&[station]));
            for frame in 0..41 {
                work.until(us(5000 * frame));
                // What comes as a frame begins is for the next one.
                let more = (48 * Unit::Symbol.bytes(profile) / bytes + 1) * if frame == 0 { 2 } else { 1 };
                (0..more).for_each(|_| work.down(us(5000 * frame), 0, bytes));
                (0..more).for_each(|_| work.up(us(5000 * frame), 0, bytes));
            }
            work.until(us(204_999));
            let (down, up) = work.cell.attachments_of(0);
            let symbol_bytes = Unit::Symbol.bytes(profile);
            // The first frame has no uplink burst; the maps of the others tell of one: 65 octets with the
            // tail, 6 symbols.
            let others = repeat_n(39 * symbol_bytes - 1, 40);
            let downlink = packed(once(40 * symbol_bytes - 1).chain(others), bytes);
            assert_eq!(work.count(up), downlink, "{profile:?} {bytes}");
            let uplink = packed(repeat_n(39 * symbol_bytes - 3, 40), bytes);
            assert_eq!(work.count(down), uplink, "{profile:?} {bytes}");
        }
    }
    // 64-QAM 3/4, 64 octets: of 4319 octets three PDUs take 30, and 67 are taken by each packet: 64.0, and 3
    // octets more by what is cut.
    let closed = 20.0 * (4319.0 - 30.0 - 3.0) / 67.0;
    let twenty = |bytes| packed(repeat_n(4319, 20), bytes);
    assert!((twenty(64) as f64 - closed).abs() < 2.0, "{closed}");
    // Without packing 74 are.
    assert!(twenty(64) > complete(20, 4319, 64) * 109 / 100);
    // Longer ones do not fit into a PDU by two.
    assert_eq!(twenty(1500), complete(20, 4319, 1500));
}

#[test]
fn equal_stations_share_both_ways() {
    for stations in [2, 3, 7, 20] {
        let mut shared = config(&vec![FAST; stations]);
        shared.contention.backoff_start = 3;
        let mut work = Work::new(shared);
        let uplink = |work: &Work| -> Vec<u64> {
            (0..stations as u32).map(|n| work.count(work.cell.attachments_of(n).0)).collect()
        };
        let mut before = Vec::new();
        for frame in 0..600 {
            work.until(us(5000 * frame));
            if frame == 200 {
                before = uplink(&work);
            }
            for station in 0..stations as u32 {
                if frame % 4 == 0 {
                    (0..=14 / stations).for_each(|_| work.down(us(5000 * frame), station, 1500));
                    (0..=14 / stations).for_each(|_| work.up(us(5000 * frame), station, 1500));
                }
            }
        }
        let downlink: Vec<u64> =
            (0..stations as u32).map(|n| work.count(work.cell.attachments_of(n).1)).collect();
        let (least, most) = (downlink.iter().min(), downlink.iter().max());
        assert!(most.zip(least).is_some_and(|(most, least)| most - least <= 1), "{downlink:?}");
        // As soon as all have been heard.
        let uplink: Vec<u64> = uplink(&work).iter().zip(&before).map(|(now, before)| now - before).collect();
        let (least, most) = (uplink.iter().min(), uplink.iter().max());
        assert!(most.zip(least).is_some_and(|(most, least)| most - least <= 2), "{uplink:?}");
        assert!(uplink.iter().sum::<u64>() > 400, "{uplink:?}");
    }
}

#[test]
fn maps_that_overflow_wait() {
    // A quarter of the frame for the downlink: 24 symbols. With three ahead and one for data, 20 are left to
    // maps: 239 octets, less 30 of the DL-MAP and 29 of the UL-MAP without bursts: 30 of 6 octets. The uplink
    // has 72 - 8 symbols, room for 32.
    let clock = layout().clock;
    let gap = Span::from_us(100);
    let mut narrow = config(&[FAST; 40]);
    narrow.layout = FrameLayout::new(clock, Span::from_ms(5), gap, gap, 0.25);
    assert_eq!((narrow.layout.downlink_symbols, narrow.layout.uplink_symbols), (24, 72));
    narrow.contention.backoff_start = 6;
    narrow.contention.backoff_end = 6;
    let mut work = Work::new(narrow);
    let (mut granted, mut most) = (0, 0);
    for frame in 0..200 {
        work.until(us(5000 * frame));
        (0..40).for_each(|station| work.up(us(5000 * frame), station, 100));
        work.down(us(5000 * frame), 0, 50);
        let before = std::mem::replace(
            &mut granted,
            (0..40).map(|station| work.cell.station_stats(station).grants).sum(),
        );
        most = most.max(granted - before);
    }
    work.until(us(1_100_000));
    assert_eq!(most, 30);
    // Nobody starves.
    let least = (0..40).map(|station| work.cell.station_stats(station).grants).min();
    assert!(least.is_some_and(|least| least > 100), "{least:?}");
    let downlink = work.count(work.cell.attachments_of(0).1);
    assert_eq!(downlink, 200, "a symbol is left for it");
}

#[test]
fn many_maps_leave_room_for_a_fragment_of_the_slowest_profile() {
    // As above, all of it saturated by the uplink. A fragment of one octet takes two symbols of BPSK 1/2,
    // which have room for 11.
    let clock = layout().clock;
    let gap = Span::from_us(100);
    let mut stations = vec![FAST; 40];
    stations[0].downlink = BurstProfile::Bpsk12;
    let mut narrow = config(&stations);
    narrow.layout = FrameLayout::new(clock, Span::from_ms(5), gap, gap, 0.25);
    narrow.contention.backoff_start = 6;
    let mut work = Work::new(narrow);
    for frame in 0..200 {
        work.until(us(5000 * frame));
        (0..40).for_each(|station| work.up(us(5000 * frame), station, 200));
        if frame >= 50 && frame % 10 == 0 {
            work.down(us(5000 * frame), 0, 50);
        }
    }
    // 50 octets are five fragments.
    assert_eq!(work.count(work.cell.attachments_of(0).1), 15);
}

#[test]
fn a_station_that_begins_anew_is_once_in_an_opportunity() {
    let mut work = Work::new(config(&[FAST]));
    work.up(us(0), 0, 100);
    // It forgets its request, and makes the same choice: the first window has one opportunity.
    work.cell.flows[0].contention.reset();
    work.cell.contend(us(0), 0);
    work.until(us(20_000));
    assert_eq!(work.cell.station_stats(0).collided_requests, 0);
    assert_eq!(work.count(work.cell.attachments_of(0).0), 1);
}

proptest! {
    #[test]
    fn packets_of_any_traffic_arrive_once_and_in_order(
        sends in prop::collection::vec((0u64..40_000, 0u32..5, any::<bool>(), 1u32..2100), 0..120),
        profiles in prop::collection::vec((0usize..7, 0usize..7, 0u32..6), 5),
        limit in 1u32..20,
        rule in prop::sample::select(rules().to_vec()),
    ) {
        let station = |&(down, up, service): &(usize, usize, u32)| StationConfig {
            downlink: BurstProfile::ALL[down],
            uplink: BurstProfile::ALL[up],
            service: match service {
                0 => Service::UnsolicitedGrant { packet_bytes: 30, interval: Span::from_us(7300) },
                1 => Service::RealTimePolling { interval: Span::from_us(23_000) },
                2 => Service::NonRealTimePolling { interval: Span::from_us(61_000) },
                _ => Service::BestEffort,
            },
            packing: (down + up) % 2 == 0,
            arq: down % 2 == 0 && service > 0,
        };
        let stations: Vec<_> = profiles.iter().map(station).collect();
        let mut any = config(&stations);
        any.arq = Some(ArqConfig { sync_loss_timeout: None, ..super::arq::tests::CONFIG });
        any.queue = QueueLimit::Packets(limit);
        any.rule = rule;
        any.contention.backoff_start = 2;
        let mut work = Work::new(any);
        let mut sends = sends;
        sends.sort();
        for (at_us, station, down, bytes) in sends {
            work.until(us(at_us));
            if down { work.down(us(at_us), station, bytes) } else { work.up(us(at_us), station, bytes) }
        }
        work.until(us(60_000_000));
        prop_assert_eq!(work.cell.packets_inside(), 0);
        prop_assert_eq!(work.cell.poll_timeout(), None);
        for at in 0..10 {
            let ids: Vec<u64> =
                work.delivered.iter().filter(|(_, to, _)| to.0 == at).map(|(.., id)| *id).collect();
            prop_assert!(ids.is_sorted(), "{:?}", ids);
        }
        work.cell.finish(us(59_999_999));
        let time = work.cell.time();
        prop_assert!(time.downlink_units + time.map_units + 3 * time.frames <= 48 * time.frames);
        prop_assert!(time.uplink_units + 8 * time.frames <= 48 * time.frames);
        prop_assert_eq!(time.frames, 12_000);
    }
}
