//! One busy station: the frame exchange to the nanosecond, and what idle stations cost.

use super::phy::{Format, Preamble, Timing};
use super::*;
use crate::link::QueueLimit;
use crate::link::testing::{datagram, stream};
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
        rate_control: None,
        basic_rates_bps,
        cw_min: if b { 31 } else { 15 },
        cw_max: 1023,
        short_retry_limit: 7,
        long_retry_limit: 4,
        rts_threshold_bytes: 2347,
        freezing: Freezing::Standard,
        queue: QueueLimit::Packets(1000),
        mtu_bytes: 2304,
    }
}

fn enqueue(cell: &mut Cell, now: Time, from: Attachment, bytes: u32) {
    let taken = cell.enqueue(&mut Context { now, random: &mut stream("cell") }, from, datagram(bytes));
    assert_eq!(taken, Ok(()));
}

fn work(cell: &mut Cell, now: Time) {
    cell.handle_timeout(&mut Context { now, random: &mut stream("cell") });
}

/// RTS, CTS or ACK, and data, in microseconds: clauses 18.3.4, and 17.4.3 with 19.8.3.1, in figures of their own.
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
            // 182 bits of an RTS and 134 of an ACK in symbols of 24, 48 and 96 bits: 8 and 6, 4 and 3, 2 and 2.
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
                    let radio = &cell.radios[sender];
                    match radio.attempt {
                        Attempt::Since(at) => assert_eq!(at, begin, "{what}"),
                        Attempt::None => {
                            // The exchange is over, the countdown drawn.
                            let exchange = Span::from_us(before_us + data_us + 10 + ack_us);
                            assert_eq!(now, begin + exchange, "{what}");
                            begin = now + difs + radio.countdown(slot);
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
        assert!(cell.listed.len() <= 1, "only who has something to do is looked at");
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
    // Each frame: its begin, its end, the begin and the end of its ACK.
    assert_eq!(alone.len(), 4 * 200);
    assert_eq!(alone, instants(100));
}
