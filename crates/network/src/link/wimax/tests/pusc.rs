//! Cells of OFDMA: time lines by hand, saturated cells by arithmetic, codes.
//!
//! 10 MHz, 1024 subcarriers, prefix 1/8: symbols of 102.857 us. A frame of 5 ms with gaps of 200 us has 44: a
//! preamble and 28, and 15. 420 slots of the downlink and 175 of the uplink, in which five follow each other.
//! The uplink begins at 2982.857 + 200 us. Three opportunities for requests take a symbol each, and together
//! six slots.

use super::joining::{at, entry, go_on};
use super::*;
use super::{FAST, Work, complete, config, us};
use crate::link::Link;
use crate::link::indication::LinkEvent;
use crate::link::stations::Stations;
use crate::link::wimax::layout::FrameLayout;
use crate::link::wimax::phy::{CyclicPrefix, Unit};
use crate::link::wimax::pusc::Pusc;
use roamsim_engine::Span;

pub(in crate::link::wimax) const FASTEST: StationConfig = FAST;

fn layout(codes: [u32; 2]) -> FrameLayout {
    let clock = Pusc::clock(10_000_000, 1024, CyclicPrefix::Eighth).expect("a bandwidth of the standard");
    let gap = Span::from_us(200);
    let pusc = Pusc::of(1024, 4, codes).expect("1024 subcarriers");
    FrameLayout::new(clock, Span::from_ms(5), gap, gap, 0.66).with_slots(pusc)
}

pub(in crate::link::wimax) fn cell(stations: &[StationConfig], codes: [u32; 2]) -> CellConfig {
    CellConfig {
        layout: layout(codes),
        map_profile: BurstProfile::Qpsk12,
        request_opportunities: 3,
        ..config(stations)
    }
}

#[test]
fn a_frame_has_420_and_175_slots() {
    let layout = layout([32, 32]);
    assert_eq!((layout.downlink_symbols, layout.uplink_symbols), (29, 15));
    assert_eq!((layout.downlink_units(), layout.uplink_units()), (420, 175));
    assert_eq!(layout.uplink_offset(), Span::from_ns(3_182_857));
    // A whole downlink of 64-QAM 3/4 is 28 symbols of airtime, a whole uplink 15.
    let airtime = |slots: u32, uplink| layout.airtime(27 * slots, BurstProfile::Qam64R34, uplink);
    assert_eq!((airtime(420, false), airtime(175, true)), (Span::from_us(2880), Span::from_ns(1_542_857)));
}

#[test]
fn a_downlink_packet_arrives_with_the_slots_that_end_it() {
    let mut work = Work::new(cell(&[FASTEST], [32, 32]));
    work.down(us(0), 0, 1000);
    work.until(us(20_000));
    // FCH 4 slots. Maps: 23 + 5 and 18 + 7 octets, nine slots of 6, four times: 36. 1010 octets take 38 slots
    // of 27: 78, three times thirty. The preamble and six symbols are 720 us.
    assert_eq!(work.delivered, [(720, work.cell.attachments_of(0).1, 0)]);
    work.cell.finish(us(19_999));
    // An idle frame has 23 and 25 octets: 32 slots.
    assert_eq!((work.cell.time().map_units, work.cell.time().downlink_units), (36 + 3 * 32, 38));
}

#[test]
fn a_station_asks_by_a_code_then_by_a_header_and_gets_a_burst() {
    let mut work = Work::new(cell(&[FASTEST], [32, 32]));
    let (down, _) = work.cell.attachments_of(0);
    work.up(us(0), 0, 1000);
    work.until(us(20_000));
    // The code at 3.183 ms; in the next frame a slot, the seventh; in the one behind it 38 slots from there
    // on, which go on in other subchannels and end with the subframe: 10 + 3.182857 + 1.542857 ms.
    assert_eq!(work.delivered, [(14_725, down, 0)]);
    let stats = work.cell.station_stats(0);
    assert_eq!((stats.requests, stats.answered_polls, stats.grants, stats.bursts), (1, 0, 1, 1));
    assert_eq!(stats.padding_bytes, 38 * 27 - 1010);
    work.cell.finish(us(19_999));
    assert_eq!((work.cell.time().uplink_units, work.cell.time().busy_frames), (1 + 38, 2));
    // 20 octets and 10 are two slots behind the region, in one subchannel: the second and third of it.
    work.up(us(40_000), 0, 20);
    work.until(us(60_000));
    assert_eq!(work.delivered[1], (50_000 + 3182 + 926, down, 1));
}

#[test]
fn saturated_cells_carry_what_their_slots_have_room_for() {
    for &profile in Unit::Slot.profiles() {
        for bytes in [40, 64, 576, 1000, 1500, 2033] {
            let mut work = Work::new(cell(&[StationConfig { downlink: profile, ..FASTEST }], [32, 32]));
            (0..20_000).for_each(|_| work.down(us(0), 0, bytes));
            work.until(us(99_999));
            // 420 less 4 and 36; no tail.
            let expected = complete(20, 380 * Unit::Slot.bytes(profile), bytes);
            assert_eq!(work.count(work.cell.attachments_of(0).1), expected, "{profile:?} {bytes}");

            let mut work = Work::new(cell(&[StationConfig { uplink: profile, ..FASTEST }], [32, 32]));
            for frame in 0..42 {
                work.until(us(5000 * frame));
                (0..=175 * Unit::Slot.bytes(profile) / bytes)
                    .for_each(|_| work.up(us(5000 * frame), 0, bytes));
            }
            work.until(us(210_000));
            // From the third frame on 175 less 6 slots, and 2 octets that ask for more.
            let expected = complete(40, 169 * Unit::Slot.bytes(profile) - 2, bytes);
            assert_eq!(work.count(work.cell.attachments_of(0).0), expected, "{profile:?} {bytes}");
            assert_eq!(work.cell.station_stats(0).requests, 1);
        }
    }
}

#[test]
fn equal_stations_share_the_slots() {
    let mut work = Work::new(cell(&[FASTEST; 7], [64, 64]));
    for frame in 0..400 {
        work.until(us(5000 * frame));
        for station in 0..7 {
            (0..2).for_each(|_| work.down(us(5000 * frame), station, 1500));
            (0..2).for_each(|_| work.up(us(5000 * frame), station, 1500));
        }
    }
    let counts = |of: fn((Attachment, Attachment)) -> Attachment| {
        let counts: Vec<u64> = (0..7).map(|n| work.count(of(work.cell.attachments_of(n)))).collect();
        counts.iter().max().zip(counts.iter().min()).map(|(most, least)| (most - least, *least))
    };
    // A downlink has room for some six packets a frame, an uplink for three.
    let down = counts(|(_, up)| up);
    assert!(down.is_some_and(|(differ, least)| differ <= 1 && least > 300), "{down:?}");
    let up = counts(|(down, _)| down);
    assert!(up.is_some_and(|(differ, least)| differ <= 5 && least > 130), "{up:?}");
}

#[test]
fn who_chooses_a_code_of_its_own_is_heard_beside_others() {
    // n stations, C codes, one opportunity: (1 - 1 / C)^(n - 1).
    for (codes, expected) in [(1, 0.0), (4, 0.5625), (8, 0.765_625)] {
        let (mut heard, rounds) = (0, 400);
        for round in 0..rounds {
            let with = CellConfig { request_opportunities: 1, ..cell(&[FASTEST; 3], [codes, 1]) };
            let stream =
                |station, purpose: &str| crate::testing::stream(&format!("{round}/{station}/{purpose}"));
            let cell = Cell::new(with, stream);
            let mut work = Work { cell, delivered: Vec::new(), dropped: Vec::new(), sent: 0 };
            (0..3).for_each(|station| work.up(us(0), station, 100));
            work.until(us(4000));
            heard += (0..3).filter(|&n| work.cell.station_stats(n).collided_requests == 0).count();
        }
        let found = heard as f64 / (3 * rounds) as f64;
        // Four standard errors of 1200 that go together by three.
        assert!((found - expected).abs() < 0.08, "{codes}: {found} for {expected}");
    }
}

#[test]
fn a_code_of_who_has_left_gets_no_burst() {
    let mut with = cell(&[FASTEST], [32, 32]);
    let mut known = entry(vec![at(50.0)]);
    known.station.known_descriptors = true;
    (known.downlink_descriptor, known.uplink_descriptor) = ((0, 1_000_000), (0, 1_000_000));
    with.entry = Some(known);
    let mut work = Work::new(with);
    go_on(&mut work, 200_000);
    assert!(work.cell.is_served(0));
    // The code goes at 208.2 ms, behind it the station leaves.
    work.up(us(205_000), 0, 1000);
    go_on(&mut work, 209_000);
    assert_eq!((work.cell.station_stats(0).requests, work.cell.codes.is_empty()), (1, false));
    assert!(Stations::leave(&mut work.cell, us(209_000), 0).is_some());
    assert!(work.cell.codes.is_empty());
    let before = work.cell.time().uplink_units;
    go_on(&mut work, 300_000);
    work.cell.finish(us(300_000));
    assert_eq!(work.cell.time().uplink_units, before, "a slot for nobody");
}

#[test]
fn entry_by_a_code_takes_a_frame_more() {
    let mut with = cell(&[FASTEST; 2], [32, 32]);
    let mut known = entry(vec![at(50.0); 2]);
    known.station.known_descriptors = true;
    (known.downlink_descriptor, known.uplink_descriptor) = ((0, 1_000_000), (0, 1_000_000));
    with.entry = Some(known);
    let mut work = Work::new(with);
    let found = go_on(&mut work, 200_000);
    let up: Vec<u64> =
        found.iter().filter(|(.., event)| *event == LinkEvent::Up).map(|(at_us, ..)| *at_us).collect();
    // Both range in the frame from 20 ms on, in one of two opportunities. RNG-RSP to the code 25, and
    // RNG-REQ; RNG-RSP 30, SBC-REQ 35, SBC-RSP 40, REG-REQ 45, REG-RSP with both DSA-REQ 50, DSA-RSP 55,
    // DSA-ACK 60.
    assert_eq!(up.len(), 2, "{found:?}");
    assert!(up.iter().all(|&up_us| (60_000..61_500).contains(&up_us)), "{up:?}");
    for station in 0..2 {
        let stats = work.cell.station_stats(station);
        assert_eq!((stats.ranging_requests, stats.collided_ranging_requests), (1, 0));
    }
    // Now they are stations as others are.
    (0..2).for_each(|station| work.up(us(200_100), station, 1000));
    (0..2).for_each(|station| work.down(us(200_100), station, 1000));
    go_on(&mut work, 300_000);
    assert_eq!(work.delivered.len(), 4);
}
