//! Access categories: time lines of interframe spaces, slots, internal collisions and transmission
//! opportunities, and what windows give.
//!
//! 802.11b with long preambles: data of 248 octets take 399 us, ACKs 248; of 1000 octets 946.

use super::*;
use crate::link::testing::{datagram, stream};
use crate::link::wifi::medium::frame::Kind;
use crate::link::wifi::radios::edca::{Category, Edca};
use crate::traffic_class::TrafficClass;
use roamsim_engine::Span;

/// Background, best effort, video, voice: AIFS of 10 us and 7, 3, 2 and 2 slots of 20 us; windows of so many
/// slots that do not grow.
fn config(stations: usize, windows: [u32; 4]) -> CellConfig {
    let of = |aifsn, cw| Category { aifsn, cw_min: cw, cw_max: cw, txop_limit: Span::ZERO };
    let [bk, be, vi, vo] = windows;
    let all = [of(7, bk), of(3, be), of(2, vi), of(2, vo)];
    CellConfig {
        edca: Some(Edca { access_point: all, stations: all }),
        queue: QueueLimit::Packets(1000),
        rule: Rule::DropTail,
        ..super::config(stations)
    }
}

use crate::queue::{QueueLimit, Rule};

/// Codepoints of the four categories: CS1, none, AF41, EF.
const DSCP: [u8; 4] = [8, 0, 34, 46];

fn us(us: u64) -> Time {
    Time::ZERO + Span::from_us(us)
}

/// A packet from a station, counted from 1, in a category.
fn upload(cell: &mut Cell, now: Time, station: u32, category: usize, bytes: u32) {
    let (_, up) = cell.attachments_of(station - 1);
    let packet = Packet { traffic_class: TrafficClass::of_dscp(DSCP[category]), ..datagram(bytes) };
    let taken = cell.enqueue(&mut Context { now, random: &mut stream("cell") }, up, packet);
    assert_eq!(taken, Ok(()));
}

/// Until nothing is left: the begin of each data frame in microseconds, its station, and the category at
/// work.
fn data_frames(cell: &mut Cell, until: Time) -> Vec<(u64, usize, usize)> {
    let mut frames = Vec::new();
    let mut seen = cell.medium.frames;
    while let Some(now) = cell.poll_timeout().filter(|&now| now <= until) {
        cell.handle_timeout(&mut Context { now, random: &mut stream("cell") });
        for frame in
            cell.medium.on_air.iter().filter(|frame| frame.number >= seen && frame.kind == Kind::Data)
        {
            let radio = &cell.radios[frame.from];
            frames.push((radio.sent.0.as_ns() / 1000, frame.from.0, radio.own.category));
        }
        seen = cell.medium.frames;
    }
    frames
}

#[test]
fn each_category_waits_for_its_interframe_space() {
    // Without slots a cycle is AIFS, data, SIFS and ACK.
    for (category, aifs_us) in [(0, 150), (1, 70), (2, 50), (3, 50)] {
        let mut cell = Cell::new(config(1, [0; 4]), stream);
        (0..4).for_each(|_| upload(&mut cell, us(1000), 1, category, 248));
        let cycle_us = aifs_us + 399 + 10 + 248;
        let begins = [0, 1, 2, 3].map(|n| (1000 + n * cycle_us, 1, category));
        assert_eq!(data_frames(&mut cell, Time::MAX), begins);
    }
}

#[test]
fn of_two_categories_of_a_station_the_higher_goes_first_and_the_other_doubles_its_window() {
    let mut cell = Cell::new(config(1, [0, 31, 0, 31]), stream);
    if let Some(edca) = &mut cell.config.edca {
        edca.stations[1].cw_max = 1023;
    }
    let place = cell.radios[RadioIndex(1)].place_of(1);
    cell.radios[RadioIndex(1)].function_mut(place).access.cw_max = 1023;
    upload(&mut cell, us(1000), 1, 1, 248);
    upload(&mut cell, us(1000), 1, 3, 248);
    // Five slots behind 70 us, and six behind 50.
    for (category, slots) in [(1, 5), (3, 6)] {
        let place = cell.radios[RadioIndex(1)].place_of(category);
        cell.radios[RadioIndex(1)].function_mut(place).backoff_slots = Some(slots);
    }
    cell.medium.ear_mut(RadioIndex(0)).idle_since = us(1000);
    cell.plan();
    assert_eq!(data_frames(&mut cell, us(1180)), [(1170, 1, 3)]);
    let times = cell.category_times(1);
    assert_eq!(times.iter().map(|time| time.internal_collisions).collect::<Vec<_>>(), [0, 1, 0, 0]);
    assert_eq!(times.iter().map(|time| time.attempts).collect::<Vec<_>>(), [0, 0, 0, 1]);
    let place = cell.radios[RadioIndex(1)].place_of(1);
    assert_eq!(cell.radios[RadioIndex(1)].function(place).cw, 63);
    assert_eq!(cell.radio_time(1).failed_attempts, 0);
    let rest = data_frames(&mut cell, Time::MAX);
    assert_eq!(rest.iter().map(|&(_, _, category)| category).collect::<Vec<_>>(), [1]);
}

#[test]
fn slots_are_counted_at_their_begin_so_that_one_that_becomes_busy_counts() {
    let mut cell = Cell::new(config(2, [31; 4]), stream);
    for (station, slots) in [(1, 3), (2, 8)] {
        upload(&mut cell, us(1000), station, 3, 248);
        let place = cell.radios[RadioIndex(station as usize)].place_of(3);
        let radio = &mut cell.radios[RadioIndex(station as usize)];
        radio.put_to_work(place);
        radio.own.backoff_slots = Some(slots);
    }
    cell.medium.ear_mut(RadioIndex(0)).idle_since = us(1000);
    cell.plan();
    // 1000 + 50 + 60. Three slots have passed, and the fourth begins: four of eight are left, 1767 + 50 + 80.
    assert_eq!(data_frames(&mut cell, Time::MAX), [(1110, 1, 3), (1897, 2, 3)]);
}

#[test]
fn who_waits_longer_does_not_count_slots_that_others_begin_in() {
    let mut cell = Cell::new(config(2, [31; 4]), stream);
    for (station, category, slots) in [(1, 3, 2), (2, 0, 8)] {
        upload(&mut cell, us(1000), station, category, 248);
        let radio = &mut cell.radios[RadioIndex(station as usize)];
        radio.put_to_work(radio.place_of(category));
        radio.own.backoff_slots = Some(slots);
    }
    cell.medium.ear_mut(RadioIndex(0)).idle_since = us(1000);
    cell.plan();
    // 1000 + 50 + 40, before the background's 150 us are over; then 1090 + 657 + 150 + 160.
    assert_eq!(data_frames(&mut cell, Time::MAX), [(1090, 1, 3), (2057, 2, 0)]);
}

#[test]
fn a_transmission_opportunity_takes_as_many_frames_as_fit() {
    let mut config = config(1, [0; 4]);
    // An exchange takes 657 us: three and two SIFS take 1991 us, and a fourth does not fit into 2016.
    if let Some(edca) = &mut config.edca {
        edca.stations[3].txop_limit = Span::from_us(2016);
    }
    let mut cell = Cell::new(config, stream);
    (0..5).for_each(|_| upload(&mut cell, us(1000), 1, 3, 248));
    let begins = [1000, 1667, 2334, 2991 + 50, 3041 + 667];
    assert_eq!(data_frames(&mut cell, Time::MAX), begins.map(|begin| (begin, 1, 3)));
    // Frames are counted one by one, and nothing of the opportunity counts as contention.
    let time = cell.category_times(1)[3];
    assert_eq!((time.attempts, time.contention), (5, Span::from_us(50)));
}

/// Slots are counted at their begin, so that each busy period counts as one, as in Bianchi's model: a station
/// whose window of W + 1 slots does not grow sends in a slot with the probability 1 / (W / 2 + 1), and two
/// with the probabilities a and b succeed as a (1 - b) to b (1 - a).
#[test]
fn windows_share_the_medium_as_the_model_says() {
    let (voice, best_effort) = (15, 63);
    let mut config = config(2, [1023, best_effort, 31, voice]);
    if let Some(edca) = &mut config.edca {
        // The interframe spaces are the same.
        (edca.stations[1].aifsn, edca.stations[3].aifsn) = (2, 2);
    }
    let mut cell = Cell::new(config, stream);
    let mut got = [0_u32; 2];
    let mut now = Time::ZERO;
    let top_up = |cell: &mut Cell, now, who: usize| {
        upload(cell, now, who as u32 + 1, if who == 0 { 3 } else { 1 }, 248);
    };
    (0..2).for_each(|who| (0..2).for_each(|_| top_up(&mut cell, now, who)));
    while got[0] + got[1] < 60_000 {
        now = cell.poll_timeout().expect("a saturated cell has something to do");
        cell.handle_timeout(&mut Context { now, random: &mut stream("unused") });
        while let Some((to, _)) = cell.poll_delivery(now) {
            got[to.0 as usize] += 1;
            top_up(&mut cell, now, to.0 as usize);
        }
        while let Some((from, ..)) = cell.poll_drop() {
            top_up(&mut cell, now, from.0 as usize - 2);
        }
    }
    // 1 / 8.5 = 0.11765, 1 / 32.5 = 0.03077: 0.11403 to 0.02715, 80.77 % for voice. In 60,000 a standard
    // error of 0.16 % at most.
    let share = f64::from(got[0]) / f64::from(got[0] + got[1]);
    assert!((share - 0.8077).abs() < 0.006, "{share}");
}

#[test]
fn a_retry_has_contended_since_the_failure_of_its_own_category() {
    use crate::link::loss::{Loss, LossModel};
    use crate::link::wifi::loss::{CellLoss, Of};
    let mut cell = Cell::new(config(1, [0, 63, 0, 0]), stream);
    let (_, from) = cell.attachments_of(0);
    let loss = Loss::new(LossModel::Bernoulli { probability: 1.0 }, Time::ZERO, stream);
    cell.add_losses(vec![CellLoss { from, of: Of::Attempts, while_going_down: false, loss }]);
    upload(&mut cell, us(1000), 1, 1, 248);
    // Best effort at once; 399 us later it waits 222 us for the ACK.
    assert_eq!(data_frames(&mut cell, us(1700)), [(1000, 1, 1)]);
    upload(&mut cell, us(1700), 1, 3, 248);
    let place = cell.radios[RadioIndex(1)].place_of(1);
    cell.radios[RadioIndex(1)].function_mut(place).backoff_slots = Some(40);
    // Voice as well: a failure at 1700 + 399 + 222. It is repeated at once, and succeeds.
    assert_eq!(data_frames(&mut cell, us(2322)), [(1700, 1, 3), (2321, 1, 3)]);
    cell.associations.losses = None;
    let frames = data_frames(&mut cell, Time::MAX);
    let [(again_us, 1, 1)] = frames[..] else { panic!("{frames:?}") };
    let contention = cell.category_times(1)[1].contention;
    assert_eq!(contention, Span::from_us(again_us - (1000 + 399 + 222)));
}

#[test]
fn what_waits_is_counted_over_all_categories() {
    let mut cell = Cell::new(config(1, [0, 31, 15, 7]), stream);
    let (_, up) = cell.attachments_of(0);
    for category in [1, 3] {
        (0..4).for_each(|_| upload(&mut cell, us(1000), 1, category, 248));
    }
    // One of each is in hand; three of each wait.
    assert_eq!(cell.waiting_packets(up, us(1000)), 6);
    data_frames(&mut cell, Time::MAX);
    upload(&mut cell, us(90_000), 1, 2, 248);
    assert_eq!(cell.stats(up, us(90_000)).max_waiting_packets, 6);
}
