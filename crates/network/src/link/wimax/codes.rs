//! Codes of OFDMA in place of contention for messages (IEEE Std 802.16e-2005 clauses 6.3.10.3, 8.4.7).
//!
//! In an opportunity each station sends one of the codes that are for it. Those that send the same one are
//! not heard; others are, however many. The base station does not know who has sent a code: in the next frame
//! that has room it grants a burst to its sender by CDMA_Allocation_IE, in QPSK 1/2, for a request's header
//! or for RNG-REQ, which it has answered by RNG-RSP (status success) before.

use super::block_errors::blocks_of;
use super::management::Message;
use super::pdu::HEADER_BYTES;
use super::phy::{BurstProfile, Unit};
use super::{Burst, Cause, Cell, FROM_STATION, Step};
use roamsim_engine::Time;
use std::collections::VecDeque;

/// The burst profile of bursts for who has sent a code.
const PROFILE: BurstProfile = BurstProfile::Qpsk12;

/// A CDMA_Allocation_IE has the bits of two others.
const MAP_BURSTS: u32 = 2;

/// Codes that were heard, and have no burst yet: of service flows that ask for bandwidth, and of stations
/// that enter.
#[derive(Debug, Default)]
pub(super) struct Heard {
    requests: VecDeque<u32>,
    ranging: VecDeque<u32>,
}

impl Heard {
    pub fn is_empty(&self) -> bool {
        self.requests.is_empty() && self.ranging.is_empty()
    }

    /// A station is gone, with its service flows.
    pub fn forget(&mut self, station: u32, flows: impl Iterator<Item = u32>) {
        self.ranging.retain(|own| *own != station);
        for flow in flows {
            self.requests.retain(|own| *own != flow);
        }
    }
}

/// Of each, whether another one has chosen the same.
fn collide(codes: &[u64]) -> Vec<bool> {
    codes.iter().map(|code| codes.iter().filter(|other| *other == code).count() > 1).collect()
}

impl Cell {
    /// Which of these service flows, all in one opportunity, are heard: each chooses a code.
    pub(super) fn request_by_codes(&mut self, now: Time, users: &[u32]) {
        let Some(pusc) = self.config.layout.pusc else { return };
        let chosen: Vec<u64> = users
            .iter()
            .map(|&flow| self.flows[flow as usize].draws.below(u64::from(pusc.codes[0])))
            .collect();
        for (&flow, collides) in users.iter().zip(collide(&chosen)) {
            let asked_bytes = self.contended_bytes(flow);
            let is_heard = self.hears_contention_of(now, self.flows[flow as usize].station);
            let own = &mut self.flows[flow as usize];
            own.contention.asked(&self.config.contention, now, asked_bytes);
            own.account.requests += 1;
            own.account.collided_requests += u64::from(collides);
            if !collides && is_heard {
                if !self.codes.requests.contains(&flow) {
                    self.codes.requests.push_back(flow);
                }
                self.want_frame(now);
            }
            self.arm(flow);
        }
    }

    /// Of each of these stations, which range in one opportunity, whether it collides.
    pub(super) fn ranging_collisions(&mut self, users: &[u32]) -> Vec<bool> {
        let Some(pusc) = self.config.layout.pusc else { return vec![users.len() > 1; users.len()] };
        let mut chosen = Vec::new();
        for &station in users {
            if let Some(joining) = &mut self.stations[station as usize].joining {
                chosen.push(joining.draws.below(u64::from(pusc.codes[1])));
            }
        }
        collide(&chosen)
    }

    /// Those of them that are heard are answered, and get a burst for their RNG-REQ.
    pub(super) fn range_by_codes(&mut self, now: Time, users: &[u32], collide: &[bool]) {
        for (&station, _) in users.iter().zip(collide).filter(|(_, collides)| !**collides) {
            if self.hears_contention_of(now, station) {
                if !self.codes.ranging.contains(&station) {
                    self.codes.ranging.push_back(station);
                }
                self.tell(now, station, vec![Message::CodeResponse]);
                self.want_frame(now);
            }
        }
    }

    /// Bursts of a frame for those whose codes were heard, from a unit on, as far as there is room, also in
    /// the maps. Returns the unit behind them, and for how many bursts they count in the maps.
    pub(super) fn grant_to_codes(&mut self, frame: u64, first_unit: u32, most: u32) -> (u32, u32) {
        let (mut first_unit, mut bursts) = (first_unit, 0);
        let end = self.config.layout.uplink_units();
        let start = self.frame_start(frame);
        loop {
            let (of_ranging, bytes) = match (self.codes.ranging.front(), self.codes.requests.front()) {
                (Some(_), _) => (true, Message::RangingRequest.bytes()),
                (None, Some(_)) => (false, HEADER_BYTES),
                (None, None) => break,
            };
            let units = Unit::Slot.burst_units(PROFILE, bytes);
            if first_unit + units > end || bursts + MAP_BURSTS > most {
                break;
            }
            if of_ranging {
                let uplink = start + self.times.uplink_offset;
                let begin = uplink + self.times.uplink_begin(first_unit, units);
                let end = uplink + self.times.uplink_end(first_unit, (0, units), 1);
                if let Some(station) = self.codes.ranging.pop_front()
                    && self.hears_frame_from(station, start)
                {
                    let reception = self.uplink_reception(start, station, PROFILE);
                    let blocks = blocks_of(Unit::Slot.bytes(PROFILE), 0, bytes);
                    let sender = &mut self.stations[station as usize];
                    if sender.lost(FROM_STATION, begin, blocks, reception).is_none() {
                        self.at(end, Step::Heard(station, Message::RangingRequest));
                    }
                }
            } else if let Some(flow) = self.codes.requests.pop_front() {
                self.tell_of_burst(flow, frame);
                self.grant(Burst { flow, frame, first_unit, units, profile: PROFILE, cause: Cause::Code });
            }
            (first_unit, bursts) = (first_unit + units, bursts + MAP_BURSTS);
        }
        (first_unit, bursts)
    }

    /// Who has sent a code asks for bandwidth, if it still needs any.
    pub(super) fn answer_code(&mut self, now: Time, burst: Burst) {
        if self.contended_bytes(burst.flow) > 0 {
            return self.answer_poll(now, burst);
        }
        if self.has_something_to_piggyback(burst.flow) {
            // Of data for which nobody contends the base station knows by other ways.
            return self.misses_burst(now, burst.flow);
        }
        self.flows[burst.flow as usize].contention.reset();
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::joining::{at, by_radio, entry, go_on};
    use super::super::tests::pusc::{FASTEST, cell};
    use super::super::tests::{Work, us};
    use super::*;
    use crate::drops::DropReason;
    use crate::link::stations::Stations;
    use std::iter::once;

    #[test]
    fn who_has_nothing_to_ask_for_any_more_in_the_burst_behind_its_code_is_idle() {
        let mut work = Work::new(cell(&[FASTEST], [32, 32]));
        work.up(us(0), 0, 100);
        // The opportunity is at 3.183 ms; the burst comes in the frame of 5 ms.
        work.until(us(4000));
        assert!(work.cell.flows[0].contention.has_asked());
        let (_, up) = work.cell.attachments_of(0);
        for packet in work.cell.flows[0].uplink.give_all_up(us(4000), up) {
            work.cell.drop_packet(us(4000), up, packet, DropReason::RetryLimit);
        }
        work.until(us(9999));
        assert!(work.cell.flows[0].contention.is_idle());
        work.up(us(10_000), 0, 100);
        work.until(us(30_000));
        assert_eq!(work.cell.station_stats(0).requests, 2);
    }

    #[test]
    fn requests_in_the_same_code_are_not_heard() {
        let mut work = Work::new(cell(&[FASTEST; 2], [1, 32]));
        (0..2).for_each(|station| work.up(us(0), station, 100));
        work.until(us(3200));
        // Which opportunity each chooses is drawn from one: the first, at 3.183 ms.
        assert!((0..2).all(|n| work.cell.station_stats(n).collided_requests == 1));
        assert!(work.cell.codes.is_empty());
    }

    /// Stations that range in the frame from 20 ms on, at one opportunity, just after that.
    fn ranging(stations: usize, codes: u32) -> Work {
        let mut with = cell(&vec![FASTEST; stations], [32, codes]);
        let mut known = entry(vec![at(50.0); stations]);
        known.station.known_descriptors = true;
        known.ranging_opportunities = 1;
        (known.downlink_descriptor, known.uplink_descriptor) = ((0, 1_000_000), (0, 1_000_000));
        with.entry = Some(known);
        let mut work = Work::new(with);
        go_on(&mut work, 24_000);
        assert!((0..stations as u32).all(|n| work.cell.station_stats(n).ranging_requests == 1));
        work
    }

    #[test]
    fn who_ranges_in_the_code_of_another_is_not_answered_and_who_is_alone_is() {
        let collided = ranging(2, 1);
        assert!(collided.cell.codes.is_empty());
        let mut alone = ranging(1, 1);
        assert_eq!(alone.cell.codes.ranging, [0]);
        let answers = |work: &Work| {
            let joining = work.cell.stations[0].joining.as_ref();
            joining.map_or(Vec::new(), |joining| joining.to_station.iter().copied().collect::<Vec<_>>())
        };
        assert_eq!(answers(&alone), once(Message::CodeResponse).collect::<Vec<_>>());
        // Who leaves meanwhile is forgotten.
        assert!(Stations::leave(&mut alone.cell, us(24_000), 0).is_none());
        assert!(alone.cell.codes.is_empty() && answers(&alone).is_empty());
    }

    /// Whether a station is connected by 200 ms that is near enough for its code, and which part of the
    /// blocks of its bursts in QPSK 1/2 is lost.
    fn enters_where_blocks_are_lost(ratio: f64) -> (bool, u64) {
        let mut with = cell(&[FASTEST], [32, 32]);
        let mut near = by_radio(vec![at(5.0)], None);
        near.station.known_descriptors = true;
        (near.downlink_descriptor, near.uplink_descriptor) = ((0, 1_000_000), (0, 1_000_000));
        let radio = near.radio.as_mut().expect("it has one");
        radio.block_errors.points[PROFILE as usize] = vec![(-50.0, ratio), (200.0, ratio)];
        // What comes to the station goes by the threshold of another profile.
        with.map_profile = BurstProfile::Qpsk34;
        with.entry = Some(near);
        let mut work = Work::new(with);
        go_on(&mut work, 200_000);
        (work.cell.is_served(0), work.cell.station_stats(0).ranging_requests)
    }

    #[test]
    fn the_request_behind_a_ranging_code_arrives_as_its_burst_is_received() {
        assert_eq!(enters_where_blocks_are_lost(0.0), (true, 1));
        // The code at 20 ms is heard and answered, RNG-REQ is not: T3 ends 200 ms later.
        assert_eq!(enters_where_blocks_are_lost(1.0), (false, 1));
    }

    #[test]
    fn codes_get_bursts_as_far_as_the_subframe_and_the_maps_have_room() {
        let mut work = Work::new(cell(&[FASTEST; 3], [32, 32]));
        work.cell.codes.requests.extend([0, 1, 2]);
        // A slot of six octets each, and in the maps the room of two bursts each: of four there are two.
        assert_eq!(work.cell.grant_to_codes(0, 100, 4), (102, 4));
        assert_eq!(work.cell.codes.requests, [2]);
        // The subframe ends behind 175 slots.
        assert_eq!(work.cell.grant_to_codes(0, 175, 9), (175, 0));
        assert_eq!(work.cell.grant_to_codes(0, 174, 9), (175, 2));
        assert!(work.cell.codes.is_empty());
    }

    #[test]
    fn who_is_alone_with_its_code_does_not_collide() {
        assert_eq!(collide(&[3, 5, 3, 7]), [true, false, true, false]);
        assert_eq!(collide(&[]), Vec::<bool>::new());
    }
}
