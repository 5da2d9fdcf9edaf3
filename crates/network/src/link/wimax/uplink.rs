//! What stations send: bandwidth requests, and their bursts.

use super::contention::Expiry;
use super::pdu::{MOST_PIGGYBACKED_BYTES, MOST_REQUESTED_BYTES, PIGGYBACK_BYTES};
use super::phy::{BurstProfile, REQUEST_SYMBOLS, UPLINK_PREAMBLE_SYMBOLS};
use super::{Burst, Cell, Service, Station, Step};
use crate::drops::DropReason;
use roamsim_engine::{Span, Time};

impl Cell {
    /// When a symbol of an uplink subframe begins.
    pub(super) fn uplink_time(&self, frame: u64, symbol: u32) -> Time {
        let layout = &self.config.layout;
        self.frame_start(frame) + layout.uplink_offset() + layout.clock.symbols(symbol)
    }

    fn opportunity_time(&self, opportunity: u64) -> Time {
        let of_frame = u64::from(self.config.request_opportunities);
        let number = (opportunity % of_frame) as u32;
        let frame = opportunity / of_frame;
        self.uplink_time(frame, self.config.extra(frame).ranging_symbols + number * REQUEST_SYMBOLS)
    }

    /// The first request opportunity that begins at or after `now`.
    fn next_opportunity(&self, now: Time) -> u64 {
        let of_frame = u64::from(self.config.request_opportunities);
        let first = self.frame_of(now) * of_frame;
        (first..first + of_frame)
            .find(|&opportunity| self.opportunity_time(opportunity) >= now)
            .unwrap_or(first + of_frame)
    }

    /// A station has taken a packet.
    pub(super) fn wants_to_send(&mut self, now: Time, station: u32) {
        let Station { config, contention, .. } = &self.stations[station as usize];
        let (service, idle) = (config.service, contention.is_idle());
        // Who does not contend for data may contend for a message.
        let has_asked = contention.deadline().is_some();
        if matches!(service, Service::UnsolicitedGrant { .. }) {
            self.await_unsolicited(now, station);
        } else if idle {
            self.ask(now, station);
        } else if !service.contends() && !has_asked {
            self.await_unsolicited(now, station);
        }
    }

    /// A station asks for bandwidth for its data, as soon as it may.
    fn ask(&mut self, now: Time, station: u32) {
        let service = self.stations[station as usize].config.service;
        if service.contends() {
            self.contend(now, station);
        }
        if service.interval().is_some() {
            self.await_unsolicited(now, station);
        }
    }

    /// A station that has something to send waits for its next unsolicited burst.
    fn await_unsolicited(&mut self, now: Time, station: u32) {
        if self.stations[station as usize].unsolicited.is_some() {
            return;
        }
        if let Some(next) = self.next_unsolicited(now, station) {
            self.stations[station as usize].unsolicited = Some(next);
            self.at(next, Step::Unsolicited(station));
        }
    }

    /// The same behind its burst that begins now.
    fn await_another(&mut self, now: Time, station: u32) {
        self.await_unsolicited(now + Span::from_ns(1), station);
    }

    /// An unsolicited burst that a station has waited for, or a frame in which one is due.
    pub(super) fn unsolicited_burst(&mut self, now: Time, station: u32) {
        let own = &mut self.stations[station as usize];
        if own.unsolicited.take_if(|next| *next == now).is_none() || own.backlog_bytes() == 0 {
            return;
        }
        let service = own.config.service;
        match self.unsolicited_of(station, self.frame_of(now)) {
            Some(burst) if self.uplink_time(burst.frame, burst.first_symbol) == now => match service {
                Service::UnsolicitedGrant { .. } => self.send_burst(now, burst),
                _ => self.answer_poll(now, burst),
            },
            _ => self.await_unsolicited(now, station),
        }
    }

    /// A polled station asks for bandwidth.
    fn answer_poll(&mut self, now: Time, burst: Burst) {
        let Burst { station, frame, profile, .. } = burst;
        if !self.hears_frame_of(station, now) {
            return self.await_another(now, station);
        }
        let lost = self.uplink_lost(now, station, profile);
        let own = &mut self.stations[station as usize];
        let backlog_bytes = own.backlog_bytes().min(MOST_REQUESTED_BYTES);
        // The maps of this frame have told it of a grant, or not.
        if own.granted == Some(frame) {
            return;
        }
        own.contention.asked_when_polled(now, backlog_bytes);
        own.stats.answered_polls += 1;
        if lost.is_none() {
            own.requested_bytes = backlog_bytes;
            self.want_frame(now);
        }
        self.arm(station);
    }

    pub(super) fn contend(&mut self, now: Time, station: u32) {
        let next = self.next_opportunity(now);
        let own = &mut self.stations[station as usize];
        let opportunity = own.contention.begin(next, &mut own.draws);
        self.will_use(station, opportunity);
    }

    fn will_use(&mut self, station: u32, opportunity: u64) {
        let users = self.requests.entry(opportunity).or_default();
        // One that was reset may have chosen the same before.
        if users.contains(&station) {
            return;
        }
        users.push(station);
        if users.len() == 1 {
            self.at(self.opportunity_time(opportunity), Step::Opportunity(opportunity));
        }
    }

    /// A request opportunity: who is alone in it is heard.
    pub(super) fn request(&mut self, now: Time, opportunity: u64) {
        let mut users = self.requests.remove(&opportunity).unwrap_or_default();
        users.retain(|&station| {
            let own = &mut self.stations[station as usize];
            let uses = own.contention.uses(opportunity);
            // Its message has gone in an unsolicited burst.
            let in_vain = uses && own.contended_bytes() == 0;
            if in_vain {
                own.contention.reset();
            }
            uses && !in_vain
        });
        // Who has not heard the map waits for the next one.
        let (users, deaf): (Vec<u32>, Vec<u32>) =
            users.into_iter().partition(|&station| self.hears_frame_of(station, now));
        for station in deaf {
            let by = u64::from(self.config.request_opportunities);
            if let Some(opportunity) = self.stations[station as usize].contention.postpone(by) {
                self.will_use(station, opportunity);
            }
        }
        let collides = users.len() > 1;
        for &station in &users {
            let is_heard = self.uplink_lost(now, station, BurstProfile::Bpsk12).is_none();
            let own = &mut self.stations[station as usize];
            let asked_bytes = own.contended_bytes().min(MOST_REQUESTED_BYTES);
            own.contention.asked(now, asked_bytes);
            own.stats.requests += 1;
            own.stats.collided_requests += u64::from(collides);
            if !collides && is_heard {
                // Of data for which nobody contends it knows as before.
                let known_bytes = if own.config.service.contends() { 0 } else { own.requested_bytes };
                own.requested_bytes = asked_bytes.max(known_bytes);
            }
            self.arm(station);
        }
        if users.len() == 1 {
            self.want_frame(now);
        }
    }

    /// A step looks at T16 when it expires, or before.
    fn arm(&mut self, station: u32) {
        let own = &mut self.stations[station as usize];
        let Some(deadline) = own.contention.deadline() else { return };
        if own.timer.is_none_or(|timer| timer > deadline) {
            own.timer = Some(deadline);
            self.at(deadline, Step::Timer(station));
        }
    }

    pub(super) fn timer_expires(&mut self, now: Time, station: u32) {
        let next = self.next_opportunity(now);
        let own = &mut self.stations[station as usize];
        if own.timer != Some(now) {
            return;
        }
        own.timer = None;
        if own.contention.deadline().is_some_and(|until| until <= now)
            && !own.config.service.contends()
            && own.uplink.packets() > 0
        {
            // The next poll comes whatever was before.
            own.contention.reset();
            return self.wants_to_send(now, station);
        }
        match own.contention.expire(now, next, &mut own.draws) {
            Expiry::None => self.arm(station),
            Expiry::Retry(opportunity) => {
                self.will_use(station, opportunity);
                if self.stations[station as usize].config.service.interval().is_some() {
                    self.await_unsolicited(now, station);
                }
            }
            Expiry::GiveUp => {
                let message = own.joining.as_mut().and_then(|joining| joining.from_station.pop_front());
                let packet = if message.is_none() { own.uplink.give_up(now) } else { None };
                let goes_on = own.backlog_bytes() > 0;
                own.stats.given_up += u64::from(packet.is_some());
                if let Some(packet) = packet {
                    let (_, from) = self.attachments_of(station);
                    self.drop_packet(now, from, packet, DropReason::RetryLimit);
                }
                if goes_on {
                    self.contend(now, station);
                }
            }
        }
    }

    /// A station sends what a burst has room for. Where it has more than it was granted and has asked for, it asks for the rest.
    pub(super) fn send_burst(&mut self, now: Time, burst: Burst) {
        let Burst { station, frame, first_symbol, symbols, profile, unsolicited } = burst;
        let (down, from) = self.attachments_of(station);
        let clock = self.config.layout.clock;
        if !self.hears_frame_of(station, now) {
            // It has not heard the map.
            if unsolicited {
                self.await_another(now, station);
            }
            return;
        }
        let start = self.uplink_time(frame, 0);
        let lost = self.uplink_lost(now, station, profile);
        let own = &mut self.stations[station as usize];
        // When PDUs of so many octets have arrived.
        let end = |bytes: u32| {
            let symbol = first_symbol + UPLINK_PREAMBLE_SYMBOLS + bytes.div_ceil(profile.symbol_bytes());
            start + clock.symbols(symbol)
        };
        let capacity = profile.burst_bytes(symbols - UPLINK_PREAMBLE_SYMBOLS);
        let due_bytes = if unsolicited { 0 } else { own.contention.granted(u64::from(capacity)) };
        let piggybacks = !unsolicited && own.piggybacked_bytes() > u64::from(capacity) + due_bytes;
        let mut used_bytes = if piggybacks { PIGGYBACK_BYTES } else { 0 };
        let mut messages = Vec::new();
        while let Some(message) = own.next_message(capacity - used_bytes) {
            used_bytes += message.bytes();
            messages.push((end(used_bytes), message));
        }
        while let Some(pdu) = own.uplink.take(now, capacity - used_bytes, lost) {
            used_bytes += pdu.bytes;
            own.stats.uplink_pdus += 1;
            own.stats.uplink_fragments += u64::from(pdu.fragment);
            own.stats.lost_pdus += u64::from(lost.is_some());
            self.stats[from.0 as usize].sends(&pdu, clock.bytes(pdu.bytes, profile));
            if let Some((packet, lost)) = pdu.ends {
                self.flying.push_back((end(used_bytes), down, packet, lost));
            }
        }
        own.stats.bursts += 1;
        own.stats.burst_bytes += u64::from(capacity);
        own.stats.padding_bytes += u64::from(capacity - used_bytes);
        for (end, message) in messages {
            if let Some(joining) = &mut self.stations[station as usize].joining {
                joining.entry.sent(end, message);
            }
            if lost.is_none() {
                self.at(end, Step::Heard(station, message));
            }
        }
        let own = &mut self.stations[station as usize];
        if unsolicited {
            if !own.uplink.is_empty() {
                self.await_another(now, station);
            }
            return;
        }
        let backlog_bytes = own.piggybacked_bytes();
        let more_bytes = match piggybacks {
            true => backlog_bytes.saturating_sub(due_bytes).min(MOST_PIGGYBACKED_BYTES),
            false => 0,
        };
        own.stats.piggybacked_requests += u64::from(piggybacks);
        own.contention.used(now, more_bytes, backlog_bytes);
        if more_bytes > 0 && lost.is_none() {
            own.requested_bytes += more_bytes;
            self.want_frame(now);
        }
        self.arm(station);
    }
}
