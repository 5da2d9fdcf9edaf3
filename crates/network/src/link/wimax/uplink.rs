//! What stations send: bandwidth requests, and their bursts.

use super::block_errors::blocks_of;
use super::connection::Carried;
use super::contention::Expiry;
use super::layout::UnitTimes;
use super::management::Direction;
use super::pdu::{HEADER_BYTES, MOST_PIGGYBACKED_BYTES, MOST_REQUESTED_BYTES, PIGGYBACK_BYTES};
use super::service_flow::ServiceFlow;
use super::{Burst, Cause, Cell, FROM_STATION, Service, Step, fly};
use crate::drops::DropReason;
use roamsim_engine::{Span, Time};

impl Cell {
    /// When a symbol of an uplink subframe begins.
    pub(super) fn uplink_time(&self, frame: u64, symbol: u32) -> Time {
        self.frame_start(frame) + self.times.uplink_offset + self.times.symbols(symbol)
    }

    /// When an uplink burst begins.
    pub(super) fn burst_time(&self, burst: &Burst) -> Time {
        let begin = self.times.uplink_begin(burst.first_unit, burst.units);
        self.frame_start(burst.frame) + self.times.uplink_offset + begin
    }

    fn opportunity_time(&self, opportunity: u64) -> Time {
        let of_frame = u64::from(self.config.request_opportunities);
        let number = (opportunity % of_frame) as u32;
        let frame = opportunity / of_frame;
        self.uplink_time(
            frame,
            self.config.extra(frame).ranging_symbols + number * self.config.layout.request_symbols(),
        )
    }

    /// The first request opportunity that begins after `now`.
    pub(super) fn next_opportunity(&mut self, now: Time) -> u64 {
        if !self.next_request.0.contains(&now) {
            let next = self.opportunity_after(now);
            self.next_request = (now..self.opportunity_time(next), next);
        }
        self.next_request.1
    }

    fn opportunity_after(&self, now: Time) -> u64 {
        let of_frame = u64::from(self.config.request_opportunities);
        let first = self.frame_of(now) * of_frame;
        (first..first + of_frame).find(|&of| self.opportunity_time(of) > now).unwrap_or(first + of_frame)
    }

    /// A station has taken a packet for a service flow.
    pub(super) fn wants_to_send(&mut self, now: Time, flow: u32) {
        let ServiceFlow { service, contention, .. } = &self.flows[flow as usize];
        let (service, idle) = (*service, contention.is_idle());
        // Who does not contend for data may contend for a message.
        let has_asked = contention.has_asked();
        if matches!(service, Service::UnsolicitedGrant { .. }) {
            self.await_unsolicited(now, flow);
        } else if idle {
            self.ask(now, flow);
        } else if !service.contends() && !has_asked {
            self.await_unsolicited(now, flow);
        }
    }

    /// Bandwidth is asked for, for data, as soon as it may be.
    fn ask(&mut self, now: Time, flow: u32) {
        let service = self.flows[flow as usize].service;
        if service.contends() {
            self.contend(now, flow);
        }
        if service.interval().is_some() {
            self.await_unsolicited(now, flow);
        }
    }

    /// What has something to send waits for its next unsolicited burst.
    fn await_unsolicited(&mut self, now: Time, flow: u32) {
        if self.flows[flow as usize].unsolicited.is_some() {
            return;
        }
        if let Some(next) = self.next_unsolicited(now, flow) {
            self.flows[flow as usize].unsolicited = Some(next);
            self.at(next, Step::Unsolicited(flow));
        }
    }

    /// The same behind its burst that begins now.
    fn await_another(&mut self, now: Time, flow: u32) {
        self.await_unsolicited(now + Span::from_ns(1), flow);
    }

    /// An unsolicited burst that was waited for, or a frame in which one is due.
    pub(super) fn unsolicited_burst(&mut self, now: Time, flow: u32) {
        let own = &mut self.flows[flow as usize];
        let service = own.service;
        if own.unsolicited.take_if(|next| *next == now).is_none() || !self.has_backlog(flow) {
            return;
        }
        match self.unsolicited_of(flow, self.frame_of(now)) {
            Some(burst) if self.burst_time(&burst) == now => match service {
                Service::UnsolicitedGrant { .. } => self.send_burst(now, burst),
                _ => self.answer_poll(now, burst),
            },
            _ => self.await_unsolicited(now, flow),
        }
    }

    /// A polled station, or one whose code was heard, asks for bandwidth.
    pub(super) fn answer_poll(&mut self, now: Time, burst: Burst) {
        let Burst { flow, frame, profile, cause, .. } = burst;
        let of_code = cause == Cause::Code;
        let station = self.flows[flow as usize].station;
        if !self.hears_frame_of(station, now) {
            self.misses_burst(now, flow);
            self.await_another(now, flow);
            return self.ranged(now, station, false);
        }
        let reception = self.uplink_reception(now, station, profile);
        let asked_bytes = if of_code { self.contended_bytes(flow) } else { self.backlog_bytes(flow) };
        let asked_bytes = asked_bytes.min(MOST_REQUESTED_BYTES);
        let own = &mut self.flows[flow as usize];
        // The maps of this frame have told it of a grant, or not.
        if own.granted_until == frame + 1 {
            return;
        }
        own.contention.asked_when_polled(&self.config.contention, now, asked_bytes);
        own.account.answered_polls += u64::from(cause == Cause::Interval);
        let blocks = blocks_of(self.config.layout.unit().bytes(profile), 0, HEADER_BYTES);
        let heard = self.stations[station as usize].lost(FROM_STATION, now, blocks, reception).is_none();
        if heard {
            let own = &mut self.flows[flow as usize];
            // Of data for which nobody contends it knows as before.
            let known_bytes = if of_code && !own.service.contends() { own.requested_bytes } else { 0 };
            own.requested_bytes = asked_bytes.max(known_bytes);
            self.note_request(flow);
            self.want_frame(now);
        }
        if let Some(joining) = &mut self.stations[station as usize].joining {
            joining.entry.granted(now);
        }
        self.ranged(now, station, heard);
        self.arm(flow);
    }

    pub(super) fn contend(&mut self, now: Time, flow: u32) {
        let next = self.next_opportunity(now);
        let own = &mut self.flows[flow as usize];
        let opportunity = own.contention.begin(&self.config.contention, next, &mut own.draws);
        self.will_use(flow, opportunity);
    }

    /// A service flow will use an opportunity, or, where another one of its station does, the next one.
    fn will_use(&mut self, flow: u32, opportunity: u64) {
        let mut opportunity = opportunity;
        if self.has_classes() {
            let station = self.flows[flow as usize].station;
            let uses = |cell: &Cell, other: u32, opportunity: u64| {
                let own = &cell.flows[other as usize];
                other != flow && own.station == station && own.contention.uses(opportunity)
            };
            while self.requests.users(opportunity).iter().any(|&other| uses(self, other, opportunity))
                && let Some(next) = self.flows[flow as usize].contention.postpone(1)
            {
                opportunity = next;
            }
        }
        if self.requests.add(opportunity, flow) {
            self.at(self.opportunity_time(opportunity), Step::Opportunity(opportunity));
        }
    }

    /// Whether a service flow asks in an opportunity that it has chosen.
    fn asks_in(&mut self, now: Time, opportunity: u64, flow: u32) -> bool {
        if !self.flows[flow as usize].contention.uses(opportunity) {
            return false;
        }
        if !self.has_something_to_contend_for(flow) {
            // Its message has gone in an unsolicited burst.
            self.flows[flow as usize].contention.reset();
            return false;
        }
        // Who has not heard the map waits for the next one.
        let hears = self.hears_frame_of(self.flows[flow as usize].station, now);
        let by = u64::from(self.config.request_opportunities);
        if !hears && let Some(opportunity) = self.flows[flow as usize].contention.postpone(by) {
            self.will_use(flow, opportunity);
        }
        hears
    }

    /// A request opportunity: who is alone in it is heard.
    pub(super) fn request(&mut self, now: Time, opportunity: u64) {
        let mut users = self.requests.take(opportunity);
        users.retain(|&flow| self.asks_in(now, opportunity, flow));
        if self.config.layout.pusc.is_some() {
            self.request_by_codes(now, &users);
            return self.requests.give_back(users);
        }
        let collides = users.len() > 1;
        for &flow in &users {
            let station = self.flows[flow as usize].station;
            let is_heard = self.hears_contention_of(now, station);
            let asked_bytes = self.contended_bytes(flow).min(MOST_REQUESTED_BYTES);
            let own = &mut self.flows[flow as usize];
            own.contention.asked(&self.config.contention, now, asked_bytes);
            own.account.requests += 1;
            own.account.collided_requests += u64::from(collides);
            if !collides && is_heard {
                // Of data for which nobody contends it knows as before.
                let known_bytes = if own.service.contends() { 0 } else { own.requested_bytes };
                own.requested_bytes = asked_bytes.max(known_bytes);
                self.note_request(flow);
            }
            self.arm(flow);
        }
        if users.len() == 1 {
            self.want_frame(now);
        }
        self.requests.give_back(users);
    }

    /// A burst passes a service flow by.
    pub(super) fn misses_burst(&mut self, now: Time, flow: u32) {
        if self.flows[flow as usize].contention.misses_burst(&self.config.contention, now) {
            self.arm(flow);
        }
    }

    /// T16 has begun, if it runs: a step looks at it when it expires.
    pub(super) fn arm(&mut self, flow: u32) {
        if let Some(deadline) = self.flows[flow as usize].contention.deadline() {
            self.agenda.put_timer(deadline, flow);
        }
    }

    #[inline(never)]
    pub(super) fn timer_expires(&mut self, now: Time, flow: u32) {
        let own = &mut self.flows[flow as usize];
        if own.contention.deadline() != Some(now) {
            return;
        }
        if !own.service.contends() && own.uplink.packets() > 0 {
            // The next poll comes whatever was before.
            own.contention.reset();
            return self.wants_to_send(now, flow);
        }
        let next = self.next_opportunity(now);
        let own = &mut self.flows[flow as usize];
        match own.contention.expire(&self.config.contention, now, next, &mut own.draws) {
            Expiry::None => {}
            Expiry::Retry(opportunity) => {
                self.will_use(flow, opportunity);
                if self.flows[flow as usize].service.interval().is_some() {
                    self.await_unsolicited(now, flow);
                }
            }
            Expiry::GiveUp => {
                let message = self.next_message(flow, u32::MAX);
                let own = &mut self.flows[flow as usize];
                let (is_given_up, packet) =
                    if message.is_none() { own.uplink.give_up(now) } else { (false, None) };
                own.account.given_up += u64::from(is_given_up);
                self.end_packets(now, flow);
                let goes_on = self.has_backlog(flow);
                if let Some(packet) = packet {
                    let (_, from) = self.attachments_of(self.flows[flow as usize].station);
                    self.drop_packet(now, from, packet, DropReason::RetryLimit);
                    self.drop_by_queues(now, flow);
                }
                if goes_on {
                    self.contend(now, flow);
                }
            }
        }
    }

    /// A station sends what a burst has room for. Where it has more than it was granted and has asked for, it
    /// asks for the rest.
    pub(super) fn send_burst(&mut self, now: Time, burst: Burst) {
        let Burst { flow, frame, first_unit, units, profile, cause } = burst;
        let unsolicited = cause == Cause::Interval;
        let station = self.flows[flow as usize].station;
        let (down, from) = self.attachments_of(station);
        if !self.hears_frame_of(station, now) {
            // It has not heard the map.
            self.misses_burst(now, flow);
            if unsolicited {
                self.await_another(now, flow);
            }
            return self.ranged(now, station, false);
        }
        let start = self.uplink_time(frame, 0);
        let unit = self.config.layout.unit();
        let unit_bytes = unit.bytes(profile);
        let reception = self.uplink_reception(now, station, profile);
        // The base station hears a burst where it understands its first block.
        let heard = self.stations[station as usize].lost(FROM_STATION, now, (0, 0), reception).is_none();
        if let Some(joining) = self.joining_mut(station) {
            joining.entry.granted(now);
        }
        self.ranged(now, station, heard);
        let backlog_bytes = self.piggybacked_bytes(flow);
        let own = &mut self.flows[flow as usize];
        // When a PDU has arrived that has the octets of a burst from one up to another: behind those before
        // it.
        let data = first_unit + unit.preamble();
        let mut last_end = start;
        let mut end = |times: &UnitTimes, from: u32, to: u32| {
            last_end = last_end.max(start + times.uplink_end(data, (from, to), unit_bytes));
            last_end
        };
        let capacity = unit.burst_bytes(profile, units - unit.preamble());
        let due_bytes = if unsolicited { 0 } else { own.contention.granted(u64::from(capacity)) };
        let piggybacks = !unsolicited && backlog_bytes > u64::from(capacity) + due_bytes;
        let mut used_bytes = if piggybacks { PIGGYBACK_BYTES } else { 0 };
        while let Some(message) = self.next_message(flow, capacity - used_bytes) {
            let blocks = blocks_of(unit_bytes, used_bytes, message.bytes());
            let end = end(&self.times, used_bytes, used_bytes + message.bytes());
            used_bytes += message.bytes();
            let lost = self.stations[station as usize].lost(FROM_STATION, now, blocks, reception);
            if let Some(joining) = self.joining_mut(station) {
                joining.entry.sent(end, message);
            }
            if lost.is_none() {
                self.at(end, Step::Heard(station, message));
            }
        }
        let (own, sender) = (&mut self.flows[flow as usize], &mut self.stations[station as usize]);
        let mut lost =
            |first, bytes| sender.lost(FROM_STATION, now, blocks_of(unit_bytes, first, bytes), reception);
        let (layout, mut contents) = (&self.config.layout, Vec::new());
        loop {
            let mut lost = |bytes| lost(used_bytes, bytes);
            let pdu = match own.arq {
                false => own.uplink.take(now, capacity - used_bytes, lost),
                true => own.take_uplink(now, capacity - used_bytes, &mut lost),
            };
            let Some(pdu) = pdu else { break };
            let end = end(&self.times, used_bytes, used_bytes + pdu.bytes);
            used_bytes += pdu.bytes;
            own.account.uplink_pdus += 1;
            own.account.uplink_fragments += u64::from(pdu.fragment);
            own.account.lost_pdus += u64::from(pdu.lost.is_some());
            self.stats[from.0 as usize].sends(&pdu, layout.airtime(pdu.bytes, profile, true));
            match pdu.carries {
                Carried::Packets { ends, packs, cut: _ } => {
                    if let Some((packet, lost)) = ends {
                        fly(&mut self.flying, (end, down, packet, lost));
                    }
                    if packs {
                        let packed = own.uplink.packed.drain(..);
                        packed.for_each(|packet| fly(&mut self.flying, (end, down, packet, pdu.lost)));
                    }
                }
                Carried::Arq(content) => contents.push((end, pdu.lost, content)),
            }
        }
        for (end, lost, content) in contents {
            self.arm_arq(flow);
            if lost.is_none() {
                self.transfer(end, flow, Direction::Uplink, content);
            }
        }
        self.drop_by_queues(now, flow);
        let own = &mut self.flows[flow as usize];
        own.account.bursts += 1;
        own.account.burst_bytes += u64::from(capacity);
        own.account.padding_bytes += u64::from(capacity - used_bytes);
        if unsolicited {
            if !own.uplink.is_empty() {
                self.await_another(now, flow);
            }
            return;
        }
        let (more_bytes, has_more) = match piggybacks {
            true => {
                let backlog_bytes = self.piggybacked_bytes(flow);
                (backlog_bytes.saturating_sub(due_bytes).min(MOST_PIGGYBACKED_BYTES), backlog_bytes > 0)
            }
            false => (0, self.has_something_to_piggyback(flow)),
        };
        let own = &mut self.flows[flow as usize];
        own.account.piggybacked_requests += u64::from(piggybacks);
        own.contention.used(&self.config.contention, now, more_bytes, has_more);
        if more_bytes > 0 && heard {
            own.requested_bytes += more_bytes;
            self.note_request(flow);
            self.want_frame(now);
        }
        self.arm(flow);
    }
}
