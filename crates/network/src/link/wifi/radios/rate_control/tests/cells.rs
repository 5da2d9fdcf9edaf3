//! Cells whose rates adapt, to the microsecond and to the attempt.
//!
//! 20 dBm in free space: -20.095 - 20 log10(150) = -63.6 dBm at 150 m, enough for 5.5 Mb/s of the thresholds
//! below and too little for 11.

use super::super::arf::ArfConfig;
use super::super::by_signal::BySignalConfig;
use super::super::{RateAttempts, RateControl};
use crate::link::testing::{datagram, stream};
use crate::link::wifi::tests::bianchi::b;
use crate::link::wifi::tests::places::radio;
use crate::link::wifi::tests::prelude::*;
use crate::mobility::Point;
use roamsim_engine::Span;

const THRESHOLDS: [(u64, f64); 4] =
    [(1_000_000, -70.0), (2_000_000, -67.0), (5_500_000, -64.0), (11_000_000, -61.0)];

/// 802.11b, with the station 150 m from the access point.
fn cell(control: RateControl) -> Cell {
    cell_at(150.0, 2347, control)
}

/// The same at another distance, with RTS before frames that are longer than that.
fn cell_at(distance_m: f64, rts_threshold_bytes: u32, control: RateControl) -> Cell {
    let rates_bps = THRESHOLDS.map(|(rate_bps, _)| rate_bps).to_vec();
    let config = CellConfig { rate_control: Some((control, rates_bps)), ..b(1, rts_threshold_bytes) };
    let radio = RadioConfig { thresholds_by_rate: THRESHOLDS.to_vec(), ..radio(-70.0, 0.0) };
    let places = [0.0, distance_m].map(|x_m| Trajectory::fixed(Point::new(x_m, 0.0)));
    Cell::with_places(config, radio, places.to_vec(), stream)
}

/// Sends a packet of 248 octets to the access point, and works until nothing is left.
fn upload(cell: &mut Cell, at_us: u64) {
    let (_, up) = cell.attachments_of(0);
    let now = Time::ZERO + Span::from_us(at_us);
    let taken = cell.enqueue(&mut Context { now, random: &mut stream("cell") }, up, datagram(248));
    assert_eq!(taken, Ok(()));
    while let Some(now) = cell.poll_timeout() {
        cell.handle_timeout(&mut Context { now, random: &mut stream("cell") });
    }
}

/// Begin and end of the last frame of a radio, in microseconds.
fn sent_us(cell: &Cell, radio: usize) -> (u64, u64) {
    let us = |time: Time| time.as_ns() / 1000;
    let (begin, end) = cell.radios[RadioIndex(radio)].sent;
    (us(begin), us(end))
}

#[test]
fn data_goes_by_the_signal_and_acknowledgements_by_the_data() {
    let by_signal = BySignalConfig { thresholds: THRESHOLDS.to_vec(), forgotten_after: 7 };
    let mut cell = cell(RateControl::BySignal(by_signal));
    upload(&mut cell, 1000);
    // Nothing was heard yet. 284 octets at 1 Mb/s: 192 + 2272 us; the ACK at 1 Mb/s: 192 + 112.
    assert_eq!((sent_us(&cell, 1), sent_us(&cell, 0)), ((1000, 3464), (3474, 3778)));
    upload(&mut cell, 5000);
    // At 5.5 Mb/s: 192 + 414 us; the ACK at 2 Mb/s, the highest basic one: 192 + 56.
    assert_eq!((sent_us(&cell, 1), sent_us(&cell, 0)), ((5000, 5606), (5616, 5864)));
}

#[test]
fn a_rate_out_of_reach_is_tried_and_left() {
    // A hundred packets: ten answers at 1 Mb/s, ten at 2, and the other eighty at 5.5 Mb/s. ARF tries 11 Mb/s
    // at the first packet after each ten of them but the last: 7 times. AARF after 10, 20 more, and 40 more;
    // 50 more do not come.
    for (config, probes) in [(ArfConfig::ARF, 7), (ArfConfig::AARF, 3)] {
        let mut cell = cell(RateControl::Arf(config));
        (0..100).for_each(|packet| upload(&mut cell, 1000 + 20_000 * packet));
        let (down, up) = cell.attachments_of(0);
        let tried =
            |RateAttempts { attempts, failed_attempts, .. }: RateAttempts| (attempts, failed_attempts);
        let tried = |from: Attachment| cell.rate_attempts(from).into_iter().map(tried).collect::<Vec<_>>();
        assert_eq!(tried(up), [(10, 0), (10, 0), (80, 0), (probes, probes)]);
        assert_eq!(tried(down), [(0, 0); 4]);
    }
}

#[test]
fn rates_are_kept_of_data_frames_that_go() {
    let by_signal = BySignalConfig { thresholds: THRESHOLDS.to_vec(), forgotten_after: 7 };
    let kept = |distance_m, rts_threshold_bytes| {
        let mut cell = cell_at(distance_m, rts_threshold_bytes, RateControl::BySignal(by_signal.clone()));
        cell.record_rates();
        (0..2).for_each(|packet| upload(&mut cell, 1000 + 20_000 * packet));
        let (_, up) = cell.attachments_of(0);
        let attempts: u64 = cell.rate_attempts(up).iter().map(|tried| tried.attempts).sum();
        let us = |change: &RateChange| (change.at.as_ns() / 1000, change.rate_bps / 1000);
        (attempts, cell.rate_changes().iter().map(us).collect::<Vec<_>>())
    };
    // An RTS of 20 octets and a CTS of 14 at 1 Mb/s, and SIFS after each, go before: 352 + 10 + 304 + 10 us;
    // 2 Mb/s in the second one: 272 + 10 + 248 + 10.
    assert_eq!(kept(150.0, 2347), (2, vec![(1000, 1000), (21_000, 5500)]));
    assert_eq!(kept(150.0, 0), (2, vec![(1676, 1000), (21_540, 5500)]));
    // Out of reach no CTS comes to any of the seven RTS of each packet, and no data frame goes.
    assert_eq!(kept(5000.0, 0), (14, vec![]));
}
