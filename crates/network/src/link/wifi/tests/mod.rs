//! Time lines of the distributed coordination function, drawn in text, and its accounts.

pub(super) mod bianchi;
mod channel_changes;
mod closed_forms;
mod differentiation;
mod fairness;
pub(super) mod places;
pub(super) mod prelude;
pub(super) mod roaming;

use self::prelude::*;
use super::phy::{Format, Preamble, Timing};
use crate::link::testing::{datagram, stream};
use crate::queue::{QueueLimit, Rule};
use roamsim_engine::Span;

/// 802.11b at 11 Mb/s with long preambles and ACKs at 2 Mb/s, and so many stations.
pub(crate) fn config(stations: usize) -> CellConfig {
    let format = Format::Dsss(Preamble::Long);
    CellConfig {
        format,
        timing: Timing::new(format, Span::from_us(20)),
        rates_bps: vec![11_000_000; stations],
        rate_control: None,
        basic_rates_bps: vec![1_000_000, 2_000_000],
        cw_min: 31,
        cw_max: 1023,
        short_retry_limit: 7,
        long_retry_limit: 4,
        rts_threshold_bytes: 2347,
        freezing: Freezing::Standard,
        edca: None,
        fragmentation_threshold_bytes: 2346,
        protection: None,
        queue: QueueLimit::Packets(100),
        rule: Rule::DropTail,
        mtu_bytes: 2000,
    }
}

fn cell(stations: usize) -> Cell {
    Cell::new(config(stations), stream)
}

fn us(us: u64) -> Time {
    Time::ZERO + Span::from_us(us)
}

/// The access point's way to a station, and the station's to the access point; stations from 1.
fn down(_cell: &Cell, station: u32) -> Attachment {
    Attachment(station - 1)
}

fn up(cell: &Cell, station: u32) -> Attachment {
    Attachment(cell.station_count() as u32 + station - 1)
}

fn enqueue(cell: &mut Cell, now: Time, from: Attachment, bytes: u32) -> Result<(), Dropped> {
    cell.enqueue(&mut Context { now, random: &mut stream("cell") }, from, datagram(bytes))
}

/// Works until nothing is left or `until`; one line a frame: when it begins in us, what, from whom to whom.
fn timeline(cell: &mut Cell, until: Time) -> Vec<String> {
    let mut lines = Vec::new();
    let mut seen = cell.medium.frames;
    while let Some(now) = cell.poll_timeout().filter(|&now| now <= until) {
        cell.handle_timeout(&mut Context { now, random: &mut stream("cell") });
        for frame in cell.medium.on_air.iter().filter(|frame| frame.number >= seen) {
            let at_us = cell.radios[frame.from].sent.0.since(Time::ZERO).as_ns() / 1000;
            lines.push(format!("{at_us} {:?} {}>{}", frame.kind, frame.from.0, frame.to.0));
        }
        seen = cell.medium.frames;
    }
    lines
}

/// When the countdown of a radio goes on.
fn resumes(cell: &Cell, radio: usize) -> Time {
    cell.radios.resumes(RadioIndex(radio), &cell.medium)
}

/// Exchanges begun and failed.
fn attempts(cell: &Cell, radio: usize) -> (u64, u64) {
    let time = cell.radio_time(radio);
    (time.attempts, time.failed_attempts)
}

fn arrivals(cell: &mut Cell) -> Vec<Attachment> {
    std::iter::from_fn(|| cell.poll_delivery(Time::ZERO)).map(|(to, _)| to).collect()
}

#[test]
fn a_frame_on_a_silent_medium_goes_at_once() {
    let mut cell = cell(1);
    let from = up(&cell, 1);
    assert_eq!(enqueue(&mut cell, us(1000), from, 248), Ok(()));
    // 192 us and 284 octets at 11 Mb/s: 207 us. Then SIFS, and the ACK of 192 + 56 us.
    assert_eq!(timeline(&mut cell, Time::MAX), ["1000 Data 1>0", "1409 Ack 0>1"]);
    assert_eq!(cell.medium.ear(RadioIndex(0)).idle_since, us(1409 + 248));
    assert_eq!(arrivals(&mut cell), [Attachment(0)]);
    assert_eq!(cell.stats(from, us(9999)).busy, Span::from_us(657));
}

#[test]
fn a_countdown_freezes_while_the_medium_is_busy_and_resumes_after_difs() {
    let mut cell = cell(2);
    let (one, two) = (up(&cell, 1), up(&cell, 2));
    for from in [one, two] {
        assert_eq!(enqueue(&mut cell, us(1000), from, 248), Ok(()));
    }
    // They have found the medium idle at the same instant; drawn countdowns take the place of the tie.
    cell.radios.set_slots(RadioIndex(1), Some(3));
    cell.radios.set_slots(RadioIndex(2), Some(8));
    cell.medium.ear_mut(RadioIndex(0)).idle_since = us(1000);
    cell.plan();
    // 1000 + 50 + 60; of the eight slots five are left: 1767 + 50 + 100.
    let lines = timeline(&mut cell, Time::MAX);
    assert_eq!(lines, ["1110 Data 1>0", "1519 Ack 0>1", "1917 Data 2>0", "2326 Ack 0>2"]);
}

#[test]
fn two_that_count_down_to_the_same_slot_collide_and_double_their_windows() {
    let mut cell = cell(3);
    for station in 1..=3 {
        let from = up(&cell, station);
        // The second frame is longer: 192 + (1000 + 36) * 8 / 11 = 946 us.
        let bytes = if station == 2 { 1000 } else { 248 };
        assert_eq!(enqueue(&mut cell, us(1000), from, bytes), Ok(()));
        cell.radios.set_slots(RadioIndex(station as usize), Some(if station == 3 { 20 } else { 5 }));
    }
    cell.medium.ear_mut(RadioIndex(0)).idle_since = us(1000);
    cell.plan();
    // Both begin at 1150. The third has 15 slots left, and waits EIFS, 364 us, from 2096 on.
    assert_eq!(timeline(&mut cell, us(1160)), ["1150 Data 1>0", "1150 Data 2>0"]);
    assert_eq!(cell.radios.slots(RadioIndex(3)), Some(15));
    // The first knows at 1150 + 399 + 222, the second at 2096 + 222.
    assert_eq!(timeline(&mut cell, us(2096 + 222)), [""; 0]);
    assert_eq!((cell.radios[RadioIndex(1)].own.cw, cell.radios[RadioIndex(2)].own.cw), (63, 63));
    assert_eq!((attempts(&cell, 1), attempts(&cell, 2)), ((1, 1), (1, 1)));
    // DIFS after the end of the longer one for the first; when it has waited for its answer for the second.
    assert_eq!(resumes(&cell, 1), us(2096 + 50));
    assert_eq!(resumes(&cell, 2), us(2096 + 222));
    assert_eq!(resumes(&cell, 3), us(2096 + 364));
    cell.radios.set_slots(RadioIndex(1), Some(40));
    cell.radios.set_slots(RadioIndex(2), Some(50));
    cell.plan();
    // 2096 + 364 + 15 * 20: the first has counted (2760 - 2146) / 20 = 30 slots by then, 10 are left.
    assert_eq!(timeline(&mut cell, us(2761)), ["2760 Data 3>0"]);
    assert_eq!(
        (cell.radios.slots(RadioIndex(1)), cell.radios.slots(RadioIndex(2))),
        (Some(10), Some(50 - 22))
    );
    timeline(&mut cell, Time::MAX);
    assert_eq!(arrivals(&mut cell).len(), 3);
}

#[test]
fn a_drawn_zero_stays_pending_until_the_medium_has_been_idle_for_long_enough() {
    let mut cell = cell(3);
    for station in 1..=3 {
        let from = up(&cell, station);
        assert_eq!(enqueue(&mut cell, us(1000), from, 248), Ok(()));
        cell.radios.set_slots(RadioIndex(station as usize), Some(if station == 3 { 6 } else { 5 }));
    }
    cell.medium.ear_mut(RadioIndex(0)).idle_since = us(1000);
    cell.plan();
    // Both begin at 1150 and end at 1549; they know at 1549 + 222. The third has drawn none to count down.
    timeline(&mut cell, us(1549 + 222));
    for (radio, slots) in [(1, 2), (2, 20), (3, 0)] {
        cell.radios.set_slots(RadioIndex(radio), Some(slots));
    }
    cell.plan();
    // The first resumes at 1771 and begins after two slots, before EIFS is over for the third (1549 + 364),
    // whose countdown of none is not drawn again: DIFS after the ACK (1811 + 399 + 10 + 248) it begins.
    assert_eq!(timeline(&mut cell, us(2468)), ["1811 Data 1>0", "2220 Ack 0>1"]);
    assert_eq!(cell.radios.slots(RadioIndex(3)), Some(0));
    assert_eq!(timeline(&mut cell, us(2518)), ["2518 Data 3>0"]);
}

#[test]
fn rts_and_cts_precede_what_is_longer_than_the_threshold() {
    let mut config = config(1);
    config.rts_threshold_bytes = 500;
    let mut cell = Cell::new(config, stream);
    let from = down(&cell, 1);
    for bytes in [464, 465] {
        assert_eq!(enqueue(&mut cell, us(1000), from, bytes), Ok(()));
    }
    // 500 octets are not longer: 192 + 364 us. The RTS takes 192 + 80, the CTS 192 + 56.
    let first = timeline(&mut cell, us(1000 + 556 + 10 + 248));
    assert_eq!(first, ["1000 Data 0>1", "1566 Ack 1>0"]);
    cell.radios.set_slots(RadioIndex(0), None);
    cell.plan();
    let lines = timeline(&mut cell, Time::MAX);
    assert_eq!(lines, ["1864 Rts 0>1", "2146 Cts 1>0", "2404 Data 0>1", "2971 Ack 1>0"]);
}

#[test]
fn stations_that_do_not_hear_each_other_collide_at_the_access_point() {
    let hears = vec![vec![true; 3], vec![true, true, false], vec![true, false, true]];
    let mut cell = Cell::with_hidden(config(2), hears.clone(), stream);
    let (one, two) = (up(&cell, 1), up(&cell, 2));
    assert_eq!(enqueue(&mut cell, us(1000), one, 248), Ok(()));
    assert_eq!(enqueue(&mut cell, us(1200), two, 248), Ok(()));
    // The second hears nothing and begins in the middle of the first: no answer comes.
    assert_eq!(timeline(&mut cell, us(1650)), ["1000 Data 1>0", "1200 Data 2>0"]);
    assert_eq!(attempts(&cell, 1), (1, 1));

    // With RTS and CTS it hears the access point's answer, and waits until the exchange is over.
    let mut config = config(2);
    config.rts_threshold_bytes = 0;
    let mut cell = Cell::with_hidden(config, hears, stream);
    assert_eq!(enqueue(&mut cell, us(1000), one, 248), Ok(()));
    let lines = timeline(&mut cell, us(1600));
    assert_eq!(lines, ["1000 Rts 1>0", "1282 Cts 0>1", "1540 Data 1>0"]);
    assert_eq!(enqueue(&mut cell, us(1600), two, 248), Ok(()));
    // CTS until 1530, data from 1540 to 1939, ACK from 1949 to 2197: the second counts from 2247 on.
    assert_eq!(cell.medium.ear(RadioIndex(2)).nav, us(2197));
    cell.radios.set_slots(RadioIndex(2), Some(4));
    cell.plan();
    let lines = timeline(&mut cell, us(2400));
    assert_eq!(lines, ["1949 Ack 0>1", "2327 Rts 2>0"]);
}

#[test]
fn the_account_of_the_medium_adds_up() {
    let mut cell = cell(3);
    for station in 1..=2 {
        let from = up(&cell, station);
        // Data of 399 and 946 us.
        let bytes = if station == 2 { 1000 } else { 248 };
        assert_eq!(enqueue(&mut cell, us(1000), from, bytes), Ok(()));
        cell.radios.set_slots(RadioIndex(station as usize), Some(5));
    }
    cell.medium.ear_mut(RadioIndex(0)).idle_since = us(1000);
    cell.plan();
    // The collision of the two from 1150 to 2096; after it the second counts from 2318 on, the first from
    // 2146 on.
    timeline(&mut cell, us(2318));
    cell.radios.set_slots(RadioIndex(1), Some(20));
    cell.radios.set_slots(RadioIndex(2), Some(40));
    cell.plan();
    // The first: 2546 + 399, ACK from 2955 to 3203. The second has 40 - 11 slots left: 3203 + 50 + 29 * 20 =
    // 3833; its ACK from 4789 to 5037.
    let lines = timeline(&mut cell, us(9000));
    assert_eq!(lines, ["2546 Data 1>0", "2955 Ack 0>1", "3833 Data 2>0", "4789 Ack 0>2"]);
    cell.finish(us(10_000));
    let MediumTime { data, control, collisions, backoff, idle, .. } = cell.medium_time(0);
    assert_eq!((data, control), (Span::from_us(399 + 946), Span::from_us(2 * 248)));
    assert_eq!((collisions, idle), (Span::from_us(946), Span::from_us(1000 + 10_000 - 5037)));
    assert_eq!(backoff, Span::from_us(150 + (2546 - 2096) + 10 + (3833 - 3203) + 10));
    let second = cell.radio_time(2);
    let contention = Span::from_us(150 + (3833 - 2318));
    let expected = RadioTime {
        attempts: 2,
        failed_attempts: 1,
        data: Span::from_us(946),
        control: Span::ZERO,
        management: Span::ZERO,
        lost: Span::from_us(946),
        contention,
    };
    assert_eq!(second, expected);
    assert_eq!(cell.radio_time(0).control, Span::from_us(2 * 248));
}

/// The ACK has its place on the air from the end of the frame on, SIFS ahead.
#[test]
fn a_run_that_ends_between_a_frame_and_its_ack_counts_the_silence_up_to_its_end() {
    for (end_us, silence_us, ack_us) in [(1399, 0, 0), (1403, 4, 0), (1409, 10, 0), (1410, 10, 1)] {
        let mut cell = cell(1);
        let from = up(&cell, 1);
        assert_eq!(enqueue(&mut cell, us(1000), from, 248), Ok(()));
        timeline(&mut cell, us(end_us));
        cell.finish(us(end_us));
        let MediumTime { data, control, backoff, idle, .. } = cell.medium_time(0);
        assert_eq!((idle, data), (Span::from_us(1000), Span::from_us(399)), "{end_us}");
        assert_eq!((backoff, control), (Span::from_us(silence_us), Span::from_us(ack_us)), "{end_us}");
    }
}

#[test]
fn an_rts_is_not_answered_while_others_have_reserved_the_medium() {
    // The access point does not hear the second station, the first does.
    let hears = vec![vec![true, true, false], vec![true; 3], vec![true, true, true]];
    let mut config = config(2);
    config.rts_threshold_bytes = 0;
    let mut cell = Cell::with_hidden(config, hears, stream);
    let (hidden, to_one) = (up(&cell, 2), down(&cell, 1));
    assert_eq!(enqueue(&mut cell, us(1000), hidden, 248), Ok(()));
    assert_eq!(timeline(&mut cell, us(1290)), ["1000 Rts 2>0"]);
    // Until 1272; CTS, data, ACK and three SIFS behind it: 1272 + 258 + 409 + 258.
    assert_eq!(cell.medium.ear(RadioIndex(1)).nav, us(2197));
    assert_eq!(enqueue(&mut cell, us(1300), to_one, 248), Ok(()));
    // The RTS ends at 1572, and 222 later no answer has come.
    assert_eq!(timeline(&mut cell, us(1794)), ["1300 Rts 0>1"]);
    assert_eq!(attempts(&cell, 0), (1, 1));
}

#[test]
fn a_frame_that_comes_before_ones_own_acknowledgement_draws_a_backoff() {
    let hears = vec![vec![true; 2], vec![true; 2]];
    let mut cell = Cell::with_hidden(config(1), hears, stream);
    let (up, down) = (up(&cell, 1), down(&cell, 1));
    assert_eq!(enqueue(&mut cell, us(1000), up, 248), Ok(()));
    assert_eq!(timeline(&mut cell, us(1400)), ["1000 Data 1>0"]);
    // Between the data, which end at 1399, and the ACK at 1409 the air is silent.
    assert_eq!(enqueue(&mut cell, us(1405), down, 248), Ok(()));
    let drawn = stream("access point/backoff").below(32);
    assert!(drawn > 0, "a draw of none would prove nothing");
    // The ACK takes 248 us, DIFS 50.
    let begin_us = 1409 + 248 + 50 + 20 * drawn;
    let lines = timeline(&mut cell, us(begin_us));
    assert_eq!(lines, ["1409 Ack 0>1".to_owned(), format!("{begin_us} Data 0>1")]);
}

#[test]
fn a_lost_acknowledgement_means_a_repetition_that_is_dropped_as_a_duplicate() {
    // The station does not hear the access point's ACK for the frame of the other, which it hides from the
    // first.
    let hears = vec![vec![true; 3], vec![true, true, true], vec![false, false, true]];
    let mut cell = Cell::with_hidden(config(2), hears, stream);
    let (one, two) = (up(&cell, 1), up(&cell, 2));
    assert_eq!(enqueue(&mut cell, us(1000), one, 248), Ok(()));
    // Begins while the ACK, from 1409 on, is on the air: the first hears both.
    assert_eq!(enqueue(&mut cell, us(1500), two, 248), Ok(()));
    assert_eq!(timeline(&mut cell, us(1510)), ["1000 Data 1>0", "1409 Ack 0>1", "1500 Data 2>0"]);
    assert_eq!(arrivals(&mut cell), [Attachment(0)]);
    timeline(&mut cell, us(200_000));
    // The packet has arrived once; it was sent again at least once.
    assert!(attempts(&cell, 1).0 >= 2 && attempts(&cell, 1).1 >= 1, "{:?}", attempts(&cell, 1));
    assert_eq!(arrivals(&mut cell).iter().filter(|&&to| to == Attachment(0)).count(), 0);
    assert_eq!(cell.stats(one, us(200_000)).delivered_packets, 1);
    assert_eq!(cell.stats(one, us(200_000)).dropped_packets, 0);
}

#[test]
fn a_frame_is_given_up_after_as_many_attempts_as_the_limit_says() {
    // Nobody hears the station.
    let hears = vec![vec![true, false], vec![true, true]];
    for (rts_threshold_bytes, attempts, kind) in [(2347, 7, "Data"), (0, 7, "Rts")] {
        let mut config = config(1);
        config.rts_threshold_bytes = rts_threshold_bytes;
        let mut cell = Cell::with_hidden(config, hears.clone(), stream);
        let from = up(&cell, 1);
        assert_eq!(enqueue(&mut cell, us(1000), from, 248), Ok(()));
        let lines = timeline(&mut cell, Time::MAX);
        assert_eq!(lines.len(), attempts, "{lines:?}");
        assert!(lines.iter().all(|line| line.contains(kind)), "{lines:?}");
        let (at, _, dropped) = cell.poll_drop().expect("the packet is given up");
        assert_eq!((at, dropped.reason), (from, DropReason::RetryLimit));
        assert_eq!((cell.packets_inside(), cell.radios[RadioIndex(1)].own.cw), (0, 31));
    }
}

#[test]
fn a_saturated_station_spends_a_mean_backoff_of_half_the_window_on_each_frame() {
    let mut config = config(1);
    config.queue = QueueLimit::Packets(20_000);
    let mut cell = Cell::new(config, stream);
    let from = up(&cell, 1);
    let n = 20_000;
    (0..n).for_each(|_| assert_eq!(enqueue(&mut cell, Time::ZERO, from, 1500), Ok(())));
    let mut last = Time::ZERO;
    let mut first = None;
    while let Some(now) = cell.poll_timeout() {
        cell.handle_timeout(&mut Context { now, random: &mut stream("cell") });
        while cell.poll_delivery(now).is_some() {
            first = first.or(Some(now));
            last = now;
        }
    }
    let mean_us = (last - first.expect("an arrival")).as_secs_f64() * 1e6 / f64::from(n - 1);
    // DIFS 50 + 15.5 slots of 20 = 310 + 192 + 1536 * 8 / 11 = 1118 in whole us + SIFS 10 + ACK 248: 1928 us.
    // The backoff's standard deviation is 9.23 slots = 185 us: 1.3 us for the mean of 20,000.
    assert!((mean_us - 1928.0).abs() < 4.0, "{mean_us}");
}

#[test]
fn the_queue_counts_those_waiting_not_the_one_in_service() {
    let full = Err(Dropped { reason: DropReason::QueueFull, at: Time::ZERO });
    for queue in [QueueLimit::Packets(1), QueueLimit::Bytes(500)] {
        let mut cell = Cell::new(CellConfig { queue, ..config(1) }, stream);
        let from = up(&cell, 1);
        let outcomes: Vec<_> = (0..3).map(|_| enqueue(&mut cell, Time::ZERO, from, 500)).collect();
        assert_eq!(outcomes, [Ok(()), Ok(()), full]);
        assert_eq!(cell.waiting_packets(from, Time::ZERO), 1);
    }
}
