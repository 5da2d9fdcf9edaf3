//! One busy station: the frame exchange to the nanosecond, and what idle stations cost.

use super::*;
use crate::link::testing::{datagram, stream};
use crate::link::wifi::phy::{Format, Preamble, Timing};
use crate::queue::QueueLimit;
use roamsim_engine::Span;

/// A cell of 802.11b or g with one rate for all.
fn config(format: Format, rate_kbps: u64, stations: usize) -> CellConfig {
    let b = matches!(format, Format::Dsss(_));
    let basic_rates_bps =
        if b { vec![1_000_000, 2_000_000] } else { vec![6_000_000, 12_000_000, 24_000_000] };
    CellConfig {
        format,
        timing: Timing::new(format, Span::from_us(if b { 20 } else { 9 })),
        rates_bps: vec![rate_kbps * 1000; stations],
        basic_rates_bps,
        cw_min: if b { 31 } else { 15 },
        queue: QueueLimit::Packets(1000),
        mtu_bytes: 2304,
        ..super::config(stations)
    }
}

fn enqueue(cell: &mut Cell, now: Time, from: Attachment, bytes: u32) {
    let taken = cell.enqueue(&mut Context { now, random: &mut stream("cell") }, from, datagram(bytes));
    assert_eq!(taken, Ok(()));
}

fn work(cell: &mut Cell, now: Time) {
    cell.handle_timeout(&mut Context { now, random: &mut stream("cell") });
}

/// RTS, CTS or ACK, and data, in microseconds: clauses 18.3.4, and 17.4.3 with 19.8.3.1, in figures of their
/// own.
fn airtimes_us(format: Format, rate_kbps: u64, bytes: u64) -> (u64, u64, u64) {
    let bits = 8 * (bytes + 36);
    match format {
        Format::Dsss(preamble) => {
            let plcp = if preamble == Preamble::Long { 192 } else { 96 };
            // At 2 Mb/s 160 bits take 80 us and 112 bits 56; at 1 Mb/s twice that.
            let (rts, ack) = if rate_kbps == 1000 { (160, 112) } else { (80, 56) };
            (plcp + rts, plcp + ack, plcp + (bits * 1000).div_ceil(rate_kbps))
        }
        Format::ErpOfdm => {
            // 182 bits of an RTS and 134 of an ACK in symbols of 24, 48 and 96 bits: 8 and 6, 4 and 3, 2
            // and 2.
            let (rts, ack) = match rate_kbps {
                ..12_000 => (8, 6),
                12_000..24_000 => (4, 3),
                _ => (2, 2),
            };
            let symbols = (bits + 22).div_ceil(4 * rate_kbps / 1000);
            (26 + 4 * rts, 26 + 4 * ack, 26 + 4 * symbols)
        }
    }
}

/// The bits of all rates, preambles and sizes, with RTS and without; the station sends, and the access point.
#[test]
fn a_saturated_station_takes_what_the_standard_says_to_the_nanosecond() {
    let long = Format::Dsss(Preamble::Long);
    let short = Format::Dsss(Preamble::Short);
    let dsss = [
        (long, 1000),
        (long, 2000),
        (long, 5500),
        (long, 11_000),
        (short, 2000),
        (short, 5500),
        (short, 11_000),
    ];
    let ofdm = [6, 9, 12, 18, 24, 36, 48, 54].map(|rate_mbps| (Format::ErpOfdm, rate_mbps * 1000));
    for (format, rate_kbps) in dsss.into_iter().chain(ofdm) {
        for bytes in [1, 40, 576, 1500, 2296] {
            for (rts, from) in [(false, 0), (false, 1), (true, 0), (true, 1)] {
                let mut config = config(format, rate_kbps, 1);
                config.rts_threshold_bytes = if rts { 0 } else { 2347 };
                let (slot, difs) = (config.timing.slot, config.timing.difs);
                let mut cell = Cell::new(config, stream);
                (0..20).for_each(|_| enqueue(&mut cell, Time::from_ns(1_000_000), Attachment(from), bytes));
                let (rts_us, ack_us, data_us) = airtimes_us(format, rate_kbps, bytes.into());
                let before_us = if rts { rts_us + 10 + ack_us + 10 } else { 0 };
                let sender = from as usize;
                let (mut begin, mut delivered) = (Time::from_ns(1_000_000), 0);
                while let Some(now) = cell.poll_timeout() {
                    work(&mut cell, now);
                    let what = format!("{format:?} {rate_kbps} kb/s {bytes} octets, RTS {rts}, from {from}");
                    if cell.poll_delivery(now).is_some() {
                        delivered += 1;
                        assert_eq!(now, begin + Span::from_us(before_us + data_us), "{what}");
                    }
                    let radio = &cell.radios[RadioIndex(sender)];
                    match radio.attempt {
                        Attempt::Since(at) => assert_eq!(at, begin, "{what}"),
                        Attempt::None => {
                            // The exchange is over, the countdown drawn.
                            let exchange = Span::from_us(before_us + data_us + 10 + ack_us);
                            assert_eq!(now, begin + exchange, "{what}");
                            begin = now + difs + radio.own.countdown(slot);
                        }
                    }
                }
                assert_eq!(delivered, 20);
            }
        }
    }
}

/// The instants at which a cell works while one station sends a frame each 3 ms.
fn instants(stations: usize) -> Vec<Time> {
    let mut cell = Cell::new(config(Format::ErpOfdm, 54_000, stations), stream);
    let mut instants = Vec::new();
    for frame in 0..200 {
        let now = Time::from_ns(frame * 3_000_000);
        enqueue(&mut cell, now, Attachment(stations as u32), 1500);
        assert!(cell.radios.listed.len() <= 1, "only who has something to do is looked at");
        while let Some(now) = cell.poll_timeout() {
            work(&mut cell, now);
            instants.push(now);
        }
    }
    instants
}

#[test]
fn an_idle_station_costs_nothing() {
    let alone = instants(1);
    // Each frame: its begin, its end, at which its ACK is certain, and the end of the ACK.
    assert_eq!(alone.len(), 3 * 200);
    assert_eq!(alone, instants(100));
}

/// What a frame's exchange takes from its begin to the end of the last ACK, of three packets one after the
/// other.
fn exchanges(config: CellConfig, bytes: u32, exchange_us: u64) {
    let (slot, difs) = (config.timing.slot, config.timing.difs);
    for from in 0..2 {
        let mut cell = Cell::new(config.clone(), stream);
        (0..3).for_each(|_| enqueue(&mut cell, Time::from_ns(1_000_000), Attachment(from), bytes));
        let (mut begin, mut packets) = (Time::from_ns(1_000_000), 0);
        let mut delivered = 0;
        while let Some(now) = cell.poll_timeout() {
            work(&mut cell, now);
            delivered += std::iter::from_fn(|| cell.poll_delivery(now)).count();
            let radio = &cell.radios[RadioIndex(from as usize)];
            if radio.attempt == Attempt::None {
                packets += 1;
                assert_eq!(now, begin + Span::from_us(exchange_us), "packet {packets} from {from}");
                assert_eq!(delivered, packets);
                begin = now + difs + radio.own.countdown(slot);
            }
        }
        assert_eq!(packets, 3);
    }
}

#[test]
fn protection_in_dsss_takes_what_the_standard_says_to_the_nanosecond() {
    // 1500 octets at 54 Mb/s: 12,310 bits in 57 symbols, 26 + 228 us; ACK at 24 Mb/s: 34 us; SIFS 10 us.
    let exchange_us = 254 + 10 + 34;
    let long = Preamble::Long;
    // 112 bits of a CTS, 160 of an RTS: at 2 Mb/s 192 + 56 and 192 + 80 us, at 11 Mb/s with the short
    // preamble 96 + 11 and 96 + 15.
    let cases = [
        (Mechanism::CtsToSelf, 2_000_000, long, 248 + 10),
        (Mechanism::CtsToSelf, 1_000_000, long, 304 + 10),
        (Mechanism::RtsCts, 2_000_000, long, 272 + 10 + 248 + 10),
        (Mechanism::RtsCts, 11_000_000, Preamble::Short, 111 + 10 + 107 + 10),
    ];
    for (mechanism, rate_bps, preamble, before_us) in cases {
        let protection = Some(Protection { mechanism, rate_bps, preamble });
        exchanges(
            CellConfig { protection, ..config(Format::ErpOfdm, 54_000, 1) },
            1500,
            before_us + exchange_us,
        );
    }
}

#[test]
fn fragments_take_what_the_standard_says_to_the_nanosecond() {
    // 1500 octets with LLC and SNAP are 1508: three fragments of 484 and one of 56 octets, each with 28 more.
    // At 11 Mb/s 512 octets take 192 + 373 us, 84 octets 192 + 62; ACKs at 2 Mb/s 248; SIFS between all of
    // them.
    let format = Format::Dsss(Preamble::Long);
    let fragments = CellConfig { fragmentation_threshold_bytes: 512, ..config(format, 11_000, 1) };
    let burst_us = 3 * (565 + 10 + 248 + 10) + 254 + 10 + 248;
    exchanges(fragments.clone(), 1500, burst_us);
    // One RTS goes before all of them.
    let with_rts = CellConfig { rts_threshold_bytes: 400, ..fragments.clone() };
    exchanges(with_rts, 1500, 272 + 10 + 248 + 10 + burst_us);
    // 476 octets fit into one frame of 512, 477 do not.
    exchanges(fragments.clone(), 476, 565 + 10 + 248);
    exchanges(fragments, 477, 565 + 10 + 248 + 10 + (192 + 22) + 10 + 248);
}

#[test]
fn each_fragment_and_each_ack_reserves_the_medium_for_the_next_one() {
    let format = Format::Dsss(Preamble::Long);
    let hears = vec![vec![true; 3]; 3];
    let fragments = CellConfig { fragmentation_threshold_bytes: 512, ..config(format, 11_000, 2) };
    let mut cell = Cell::with_hidden(fragments, hears, stream);
    enqueue(&mut cell, Time::from_ns(1_000_000), Attachment(2), 1500);
    let (mut navs, mut delivered) = (Vec::new(), Vec::new());
    while let Some(now) = cell.poll_timeout() {
        work(&mut cell, now);
        while cell.poll_delivery(now).is_some() {
            delivered.push(now.as_ns() / 1000);
        }
        let nav_us = cell.medium.ear(RadioIndex(2)).nav.as_ns() / 1000;
        if navs.last() != Some(&nav_us) {
            navs.push(nav_us);
        }
    }
    // From 1000 us on fragments begin every 833 us; each reserves up to the end of the ACK behind the next
    // one. The packet is there with its last fragment.
    assert_eq!(delivered, [1000 + 3 * 833 + 254]);
    assert_eq!(navs, [0, 1000 + 833 + 823, 1000 + 2 * 833 + 823, 1000 + 3 * 833 + 512]);
}

#[test]
fn a_fragment_without_ack_is_repeated_alone() {
    let format = Format::Dsss(Preamble::Long);
    let hears = vec![vec![true; 2], vec![true; 2]];
    let fragments = CellConfig { fragmentation_threshold_bytes: 512, ..config(format, 11_000, 1) };
    let mut cell = Cell::with_hidden(fragments, hears, stream);
    enqueue(&mut cell, Time::from_ns(1_000_000), Attachment(1), 1500);
    let mut lost = false;
    while let Some(now) = cell.poll_timeout() {
        work(&mut cell, now);
        let second = cell.radios[RadioIndex(1)]
            .own
            .head
            .as_ref()
            .is_some_and(|head| head.rest_bytes == 1508 - 2 * 484);
        if second && !lost && !cell.medium.on_air.is_empty() {
            // Something that nobody knows disturbs the second fragment at the access point.
            cell.medium.ear_mut(RadioIndex(0)).disturbed = true;
            lost = true;
        }
    }
    assert!(lost);
    // Four fragments and a repetition; the packet arrives once.
    assert_eq!((cell.radio_time(1).attempts, cell.radio_time(1).failed_attempts), (5, 1));
    assert_eq!(std::iter::from_fn(|| cell.poll_delivery(Time::MAX)).count(), 1);
}

#[test]
fn captures_tell_fragments_and_frames_in_dsss() {
    let fragments = CellConfig {
        fragmentation_threshold_bytes: 512,
        protection: Some(Protection {
            mechanism: Mechanism::CtsToSelf,
            rate_bps: 2_000_000,
            preamble: Preamble::Long,
        }),
        ..config(Format::ErpOfdm, 54_000, 1)
    };
    let mut cell = Cell::new(fragments, stream);
    cell.record_frames();
    (0..2).for_each(|_| enqueue(&mut cell, Time::from_ns(1_000_000), Attachment(1), 1000));
    while let Some(now) = cell.poll_timeout() {
        work(&mut cell, now);
    }
    let frames: Vec<_> = std::iter::from_fn(|| cell.poll_frame()).collect();
    let parts = |frame: &record::AirFrame| {
        let fragment = frame.fragment.as_ref()?;
        Some((frame.sequence, fragment.number, fragment.more, fragment.bytes.clone()))
    };
    // 1008 octets are 484, 484 and 40.
    let of_packet = |sequence| {
        [(sequence, 0, true, 0..484), (sequence, 1, true, 484..968), (sequence, 2, false, 968..1008)]
    };
    let found: Vec<_> = frames.iter().filter_map(parts).collect();
    assert_eq!(found, [of_packet(1), of_packet(2)].concat());
    assert!(frames.iter().all(|frame| !frame.retry));
    // A CTS to self before each packet, from the station to itself.
    let in_dsss: Vec<_> = frames
        .iter()
        .filter(|frame| frame.format != Format::ErpOfdm)
        .map(|frame| (frame.from.0, frame.to.map(|to| to.0)))
        .collect();
    assert_eq!(in_dsss, [(1, Some(1)); 2]);
    assert_eq!(frames.len(), 2 * (1 + 2 * 3));
}

#[test]
fn an_answer_at_1_mbps_is_waited_for_through_the_long_preamble() {
    let short = config(Format::Dsss(Preamble::Short), 11_000, 1);
    let timeouts = |config: &CellConfig, rate_bps| {
        [config.ack_timeout(rate_bps), config.cts_timeout(rate_bps)].map(|span| span.as_ns() / 1000)
    };
    // SIFS, a slot, and 96 us; an answer to management frames at 1 Mb/s has 192.
    assert_eq!(timeouts(&short, 11_000_000), [126; 2]);
    assert_eq!(timeouts(&short, 1_000_000), [222; 2]);
    let long = config(Format::Dsss(Preamble::Long), 11_000, 1);
    assert_eq!([1_000_000, 11_000_000].map(|bps| timeouts(&long, bps)), [[222; 2]; 2]);
    // Of 802.11g: SIFS, a slot of 9 us, and 24 us of OFDM, or what a CTS in DSSS has, whatever the rate of
    // the data.
    let protected = |rate_bps| {
        let protection = Protection { mechanism: Mechanism::RtsCts, rate_bps, preamble: Preamble::Short };
        CellConfig { protection: Some(protection), ..config(Format::ErpOfdm, 54_000, 1) }
    };
    assert_eq!(timeouts(&protected(2_000_000), 6_000_000), [43, 10 + 9 + 96]);
    assert_eq!(timeouts(&protected(1_000_000), 54_000_000), [43, 10 + 9 + 192]);
}

#[test]
fn who_asks_to_send_at_1_mbps_waits_for_the_long_preamble_of_the_answer() {
    // Nobody hears the station. An RTS at 1 Mb/s takes 192 + 160 us, one at 2 Mb/s 96 + 80; the countdown
    // goes on 222 or 126 us later.
    for (rate_kbps, after_us) in [(1_000, 352 + 222), (2_000, 176 + 126)] {
        let format = Format::Dsss(Preamble::Short);
        let config = CellConfig { rts_threshold_bytes: 0, ..config(format, rate_kbps, 1) };
        let mut cell = Cell::with_hidden(config, vec![vec![true, false], vec![true, true]], stream);
        enqueue(&mut cell, Time::from_ns(1_000_000), Attachment(1), 248);
        let until = Time::from_ns((1_000 + after_us) * 1_000);
        while let Some(now) = cell.poll_timeout().filter(|&now| now <= until) {
            work(&mut cell, now);
        }
        assert_eq!((cell.radio_time(1).failed_attempts, cell.radios[RadioIndex(1)].not_before), (1, until));
    }
}
