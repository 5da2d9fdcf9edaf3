//! What a connection keeps of what it sent: each transmission with its time, whether it has arrived, and what
//! had been delivered when it left.
//!
//! Only parts that ask for it have it. From it follow losses by time (RFC 8985), the octets in flight, and
//! samples of the rate of delivery (draft-ietf-ccwg-bbr section 4.1): what was delivered between two points
//! of time that a transmission ties together, over the longer of the times in which it was sent and
//! acknowledged.
//!
//! The records lie in the order of the stream without a gap. Beside them the transmissions lie in the order
//! of time, so that looking for losses costs the number of holes, not the window. As long as nothing was
//! repeated and nothing has arrived out of order, both orders are one, and only the first is kept. The second
//! is made once in a window at most, as it costs one: it is kept until all that went before is acknowledged.

use std::collections::VecDeque;

use roamsim_engine::{Span, Time};
use smallvec::SmallVec;

use super::proportion::rate;
use super::segment::SackBlocks;
use crate::ranges::{Insertion, Range, Ranges};

/// What is known of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    InFlight,
    /// Taken as lost, and not sent again yet.
    Lost,
    Sacked,
}

/// Whether octets had been sent before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Again {
    No,
    /// They are sent again by a loss probe, last.
    ByProbe,
    Yes,
}

/// Octets that were sent in one segment, last. One is a line of the cache.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    pub(super) start: u64,
    /// When they were last sent.
    pub(super) at: Time,
    /// What the connection had delivered when they were sent, and when it last had.
    delivered: u64,
    delivered_at: Time,
    /// When the transmission was sent from which that delivery followed.
    first_sent_at: Time,
    /// Octets in flight with them, and octets taken as lost before.
    in_flight: u64,
    lost: u64,
    /// How many they are: what one segment holds, and a FIN.
    length: u32,
    pub(super) mark: Mark,
    /// Of lost ones, whether the retransmission timer told.
    by_timeout: bool,
    pub(super) again: Again,
    /// The sender had nothing else to send.
    app_limited: bool,
}

impl Record {
    #[inline]
    fn bytes(&self) -> u64 {
        u64::from(self.length)
    }

    /// What the connection had delivered when they were sent.
    pub(super) fn prior_delivered(&self) -> u64 {
        self.delivered
    }

    /// Some had been sent before.
    #[inline]
    pub(super) fn is_repeated(&self) -> bool {
        self.again != Again::No
    }

    /// One above the last octet.
    #[inline]
    pub(super) fn end(&self) -> u64 {
        self.start + self.bytes()
    }

    #[inline]
    pub(super) fn octets(&self) -> Range {
        Range { start: self.start, end: self.end() }
    }
}

/// What one acknowledgement tells of the rate of delivery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateSample {
    /// Octets delivered within the interval, and the interval; of no length when nothing was measured.
    pub delivered_bytes: u64,
    /// The longer of the times in which they were sent and acknowledged.
    pub interval: Span,
    /// The sender had nothing else to send when the transmission went by which it is measured.
    pub app_limited: bool,
    /// Octets that had been delivered when that transmission went.
    pub prior_delivered: u64,
    /// Octets in flight when it went, its own included.
    pub in_flight_at_sent: u64,
    /// Octets taken as lost since it went.
    pub lost_since_sent: u64,
}

/// A transmission that is taken as lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lost {
    /// Its octets.
    pub start: u64,
    /// One above the last.
    pub end: u64,
    /// Octets in flight when it went, its own included.
    pub in_flight_at_sent: u64,
    /// Octets taken as lost since it went, its own included.
    pub lost_since_sent: u64,
    /// The sender had nothing else to send when it went.
    pub app_limited: bool,
}

impl RateSample {
    /// Octets a second; 0 when nothing was measured.
    pub fn rate_bytes_per_s(&self) -> u64 {
        if self.interval == Span::ZERO { 0 } else { rate(self.delivered_bytes, self.interval) }
    }
}

/// What the acknowledgement under way has told of so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Heard {
    /// Octets that it tells of for the first time, in either way.
    pub(super) delivered: u64,
    /// Octets that it takes as lost.
    pub(super) lost: u64,
    /// Of retransmissions among these, when the last was sent.
    pub(super) lost_repeat_at: Option<Time>,
    /// The transmission sent last of those it tells of.
    pub(super) newest: Option<Record>,
    /// Of those that were sent once, when the last was, and where it ends: what a round-trip time may be
    /// measured by.
    pub(super) newest_original: Option<(Time, u64)>,
    /// It tells of octets that were sent once and lie below others that had arrived before. The most octets
    /// from the start of such a segment to the end of the others; 0 where the path does not reorder.
    pub(super) reordered_bytes: u64,
    /// Where the first of those ends that were sent once.
    pub(super) first_original_end: Option<u64>,
    /// It tells of retransmissions: [`Sent::repeated_heard`] are those.
    tells_of_repeated: bool,
}

/// The transmissions of a connection.
#[derive(Clone, Debug, Default)]
#[repr(C)] // what every segment needs lies together
pub(super) struct Sent {
    records: VecDeque<Record>,
    /// Octets of all records, and of those with each mark.
    outstanding_bytes: u64,
    sacked_bytes: u64,
    lost_marked_bytes: u64,
    /// Octets delivered so far, when the last of them were, and when the transmission was sent that told of
    /// them.
    delivered: u64,
    delivered_at: Time,
    first_sent_at: Time,
    /// What was delivered up to here was limited by the application; 0 when nothing is.
    app_limited_until: u64,
    /// Octets taken as lost so far.
    lost: u64,
    has_order: bool,
    takes_losses: bool,
    pub(super) heard: Heard,
    /// Transmissions in the order of time, and of their octets at equal times, unless that is the order of
    /// the records. Some are out of date.
    order: VecDeque<(Time, Range)>,
    /// What was sent later than this lies in the order of the stream: `order` is kept until nothing else is
    /// outstanding.
    order_until: Time,
    /// What the peer has told of above SND.UNA.
    sacked: Ranges,
    /// The blocks of the last acknowledgement that had any, as on the wire. All are in `sacked`, or 0, 0.
    told: [(u32, u32); SackBlocks::MOST],
    /// No record below is marked as lost.
    lost_from: u64,
    /// One above the highest octet that has arrived.
    forward_ack: u64,
    /// Retransmissions that the last acknowledgement of any has told of: when each went, and where it ends.
    repeated_heard: Vec<(Time, u64)>,
    /// The transmissions taken as lost that the congestion control has not heard of, where it `takes_losses`.
    losses: Vec<Lost>,
}

impl Sent {
    #[inline]
    pub(super) fn sacked_bytes(&self) -> u64 {
        self.sacked_bytes
    }

    /// Octets in flight that were sent again, other than by loss probes.
    pub(super) fn repeated_in_flight_bytes(&self) -> u64 {
        let counts = |record: &&Record| record.again == Again::Yes && record.mark == Mark::InFlight;
        self.records.iter().filter(counts).map(Record::bytes).sum()
    }

    /// A loss probe has sent the octets from there on again.
    pub(super) fn on_probe_repeated(&mut self, start: u64) {
        let place = self.place_of(start);
        if let Some(record) = self.records.get_mut(place) {
            record.again = Again::ByProbe;
        }
    }

    /// Whether all that is outstanding is in flight.
    #[inline]
    pub(super) fn is_plain(&self) -> bool {
        self.sacked_bytes == 0 && self.lost_marked_bytes == 0
    }

    #[inline]
    pub(super) fn has_lost(&self) -> bool {
        self.lost_marked_bytes > 0
    }

    /// Octets outstanding that have neither arrived nor are taken as lost.
    #[inline]
    pub(super) fn in_flight_bytes(&self) -> u64 {
        self.outstanding_bytes - self.sacked_bytes - self.lost_marked_bytes
    }

    /// Retransmissions that the acknowledgement under way tells of: when each went, and where it ends.
    pub(super) fn repeated_heard(&self) -> &[(Time, u64)] {
        if self.heard.tells_of_repeated { &self.repeated_heard } else { &[] }
    }

    /// One above the highest octet that has arrived.
    pub(super) fn forward_ack(&self) -> u64 {
        self.forward_ack
    }

    #[inline]
    pub(super) fn first(&self) -> Option<&Record> {
        self.records.front()
    }

    #[inline]
    pub(super) fn last(&self) -> Option<&Record> {
        self.records.back()
    }

    /// Nothing from `limit` on has been sent after all.
    pub(super) fn truncate(&mut self, limit: u64) {
        self.keep_order();
        self.cut_at(limit);
        while let Some(last) = self.records.back().filter(|last| last.start >= limit) {
            self.outstanding_bytes -= last.bytes();
            self.records.pop_back();
        }
        self.order.retain(|(_, octets)| octets.end <= limit);
    }

    /// The sender has nothing to send for which there is room: what is delivered from what is in flight now
    /// says nothing of the path.
    pub(super) fn on_app_limited(&mut self) {
        self.app_limited_until = (self.delivered + self.in_flight_bytes()).max(1);
    }

    /// Octets from `start` to `end` are sent: new ones behind all others, or again.
    #[inline]
    pub(super) fn on_sent(&mut self, start: u64, end: u64, now: Time, repeated: bool) {
        if self.in_flight_bytes() == 0 {
            // A time with nothing in flight is no part of any interval.
            (self.first_sent_at, self.delivered_at) = (now, now);
        }
        let record = Record {
            start,
            at: now,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent_at: self.first_sent_at,
            in_flight: self.in_flight_bytes() + (end - start),
            lost: self.lost,
            length: (end - start) as u32,
            mark: Mark::InFlight,
            by_timeout: false,
            again: if repeated { Again::Yes } else { Again::No },
            app_limited: self.app_limited_until > 0,
        };
        if repeated || self.records.back().is_some_and(|last| start < last.end()) {
            return self.on_repeated(record);
        }
        self.outstanding_bytes += record.bytes();
        self.records.push_back(record);
        if self.has_order {
            self.note_order(now, record.octets());
        }
    }

    /// Octets are sent, and some of them had been sent before.
    #[inline(never)]
    fn on_repeated(&mut self, record: Record) {
        self.keep_order();
        self.order_until = record.at;
        let top = self.records.back().map_or(record.start, Record::end);
        self.outstanding_bytes += record.end().saturating_sub(top);
        if record.start < top {
            let place = self.replace(record);
            self.records[place].in_flight = self.in_flight_bytes();
        } else {
            self.records.push_back(record);
        }
        self.note_order(record.at, record.octets());
    }

    /// The order of time is kept from now on: it may become another than that of the stream.
    fn keep_order(&mut self) {
        if !self.has_order {
            self.has_order = true;
            self.order.extend(self.records.iter().map(|record| (record.at, record.octets())));
            self.order_until = self.records.back().map_or(Time::ZERO, |last| last.at);
        }
    }

    /// The order of time is no longer kept, if all that is outstanding is in flight and went later than
    /// `order_until`.
    fn forget_order(&mut self) {
        let is_newer = self.records.front().is_none_or(|first| first.at > self.order_until);
        if is_newer && self.is_plain() {
            self.has_order = false;
            self.order.clear();
        }
    }

    /// Puts a transmission behind those sent before, in the order of octets among those of the same time.
    #[inline]
    fn note_order(&mut self, now: Time, octets: Range) {
        let is_behind = |(at, other): &(Time, Range)| *at == now && other.end > octets.end;
        if !self.order.back().is_some_and(is_behind) {
            return self.order.push_back((now, octets));
        }
        let behind = self.order.iter().rev().take_while(|other| is_behind(other)).count();
        self.order.insert(self.order.len() - behind, (now, octets));
    }

    /// Puts a record in the place of what it holds of others, which it returns.
    fn replace(&mut self, record: Record) -> usize {
        let first = self.cut_at(record.start);
        self.cut_at(record.end());
        let mut next = first;
        while let Some(old) = self.records.get(next).filter(|old| old.start < record.end()) {
            match old.mark {
                Mark::Lost => self.lost_marked_bytes -= old.bytes(),
                Mark::Sacked => self.sacked_bytes -= old.bytes(),
                Mark::InFlight => {}
            }
            next += 1;
        }
        if next == first + 1 {
            self.records[first] = record;
        } else {
            self.records.drain(first..next);
            self.records.insert(first, record);
        }
        first
    }

    /// The place of the first record that ends above `offset`.
    fn place_of(&self, offset: u64) -> usize {
        let Some(first) = self.records.front().filter(|first| first.end() <= offset) else { return 0 };
        // Most records are as long as the first.
        let likely = ((offset - first.start) / first.bytes().max(1)) as usize;
        match self.records.get(likely) {
            Some(record) if record.start <= offset && offset < record.end() => likely,
            _ => self.records.partition_point(|record| record.end() <= offset),
        }
    }

    /// Has a record begin at `offset`, where that lies within one. The place of the first that ends above it.
    fn cut_at(&mut self, offset: u64) -> usize {
        self.cut(self.place_of(offset), offset)
    }

    /// The same where the first record that ends above `offset` is at this place.
    fn cut(&mut self, place: usize, offset: u64) -> usize {
        let Some(record) = self.records.get_mut(place).filter(|record| record.start < offset) else {
            return place;
        };
        let length = (offset - record.start) as u32;
        let rest = Record { start: offset, length: record.length - length, ..*record };
        record.length = length;
        self.records.insert(place + 1, rest);
        place + 1
    }

    /// Octets have arrived of which nothing was known.
    #[inline]
    fn hear(&mut self, record: &Record, now: Time) {
        self.delivered += record.bytes();
        self.delivered_at = now;
        let heard = &mut self.heard;
        heard.delivered += record.bytes();
        if is_later(record, heard.newest.as_ref()) {
            heard.newest = Some(*record);
        }
        let end = record.end();
        if !record.is_repeated() {
            let original = (record.at, end);
            if heard.newest_original.is_none_or(|newest| newest < original) {
                heard.newest_original = Some(original);
            }
            heard.first_original_end = Some(heard.first_original_end.unwrap_or(u64::MAX).min(end));
            let reordered_bytes = if end < self.forward_ack { self.forward_ack - record.start } else { 0 };
            heard.reordered_bytes = heard.reordered_bytes.max(reordered_bytes);
        } else {
            if !std::mem::replace(&mut heard.tells_of_repeated, true) {
                self.repeated_heard.clear();
            }
            self.repeated_heard.push((record.at, end));
        }
        self.forward_ack = self.forward_ack.max(end);
    }

    /// The peer tells of the octets from `start` to `end`, which lie above SND.UNA; true when any of them is
    /// new.
    pub(super) fn on_block(&mut self, start: u64, end: u64, now: Time) -> bool {
        let Some(top) = self.records.back().map(Record::end) else { return false };
        let block = Range { start, end: end.min(top) };
        if block.start >= block.end {
            return false;
        }
        // The common case: the highest block grows.
        if let Some(new) = self.sacked.grow_last(block) {
            return self.mark_arrived(new, now);
        }
        let mut known: SmallVec<[Range; 4]> = SmallVec::new();
        if let Insertion::Known(_) = self.sacked.insert(block, |range| known.push(range)) {
            return false;
        }
        known.sort_by_key(|range| range.start);
        let mut from = block.start;
        let mut any = false;
        for range in known.iter().copied().chain([Range { start: block.end, end: block.end }]) {
            if from < range.start {
                any |= self.mark_arrived(Range { start: from, end: range.start.min(block.end) }, now);
            }
            from = from.max(range.end);
        }
        any
    }

    /// [`Sent::on_block`] for each block of an acknowledgement, whose octets are `octets_of` it. Mostly a
    /// block repeats one of the last acknowledgement, at its place or at the one before: then nothing is left
    /// to do.
    pub(super) fn on_blocks(
        &mut self,
        blocks: &[(u32, u32)],
        octets_of: impl Fn((u32, u32)) -> Option<Range>,
        now: Time,
    ) -> bool {
        let told = std::mem::take(&mut self.told);
        let mut any = false;
        for (place, &block) in blocks.iter().enumerate() {
            if block == told[place] || place > 0 && block == told[place - 1] {
                self.told[place] = block;
            } else if let Some(octets) = octets_of(block) {
                self.told[place] = block;
                any |= self.on_block(octets.start, octets.end, now);
            }
        }
        any
    }

    fn mark_arrived(&mut self, octets: Range, now: Time) -> bool {
        self.keep_order();
        let mut place = self.cut_at(octets.start);
        let mut any = false;
        while let Some(&record) = self.records.get(place).filter(|record| record.start < octets.end) {
            if record.end() > octets.end {
                self.cut(place, octets.end);
                continue;
            }
            if record.mark != Mark::Sacked {
                if record.mark == Mark::Lost {
                    self.lost_marked_bytes -= record.bytes();
                }
                self.records[place].mark = Mark::Sacked;
                self.sacked_bytes += record.bytes();
                self.hear(&record, now);
                any = true;
            }
            place += 1;
        }
        any
    }

    /// Everything below `snd_una` is acknowledged.
    #[inline]
    pub(super) fn on_ack(&mut self, snd_una: u64, now: Time) {
        while let Some(&first) = self.records.front().filter(|first| first.start < snd_una) {
            if first.end() > snd_una {
                self.cut_at(snd_una);
                continue;
            }
            self.outstanding_bytes -= first.bytes();
            match first.mark {
                Mark::Sacked => self.sacked_bytes -= first.bytes(),
                Mark::Lost => self.lost_marked_bytes -= first.bytes(),
                Mark::InFlight => {}
            }
            if first.mark != Mark::Sacked {
                self.hear(&first, now);
            }
            self.records.pop_front();
        }
        if !self.sacked.is_empty() && (self.sacked.advance(snd_una) > snd_una || self.sacked.is_empty()) {
            // `sacked` has dropped octets above SND.UNA, or numbers on the wire may come to mean others.
            self.told = Default::default();
        }
        if self.has_order {
            while self.order.front().is_some_and(|(_, octets)| octets.end <= snd_una) {
                self.order.pop_front();
            }
            self.forget_order();
        }
    }

    /// Marks as lost each transmission in flight that is older than `newest` (in time, then in the stream)
    /// and for which `is_due` does not name a time to wait to. The latest such time, if there is any.
    pub(super) fn mark_lost(
        &mut self,
        newest: (Time, u64),
        is_due: impl Fn(Time) -> Option<Time>,
    ) -> Option<Time> {
        if !self.has_older_than(newest) {
            return None;
        }
        self.keep_order();
        let mut wait_to = None;
        // Entries that wait stay in place.
        let mut kept = 0;
        while let Some(&(at, octets)) = self.order.get(kept).filter(|entry| is_before(entry, newest)) {
            if self.is_in_flight(at, octets) {
                if let Some(due) = is_due(at) {
                    wait_to = wait_to.max(Some(due));
                    kept += 1;
                    continue;
                }
                self.mark_lost_of(at, octets);
            }
            match kept {
                0 => self.order.pop_front(),
                _ => self.order.remove(kept),
            };
        }
        wait_to
    }

    /// Whether [`Sent::mark_lost`] may find a transmission older than `newest`.
    #[inline]
    pub(super) fn has_older_than(&self, newest: (Time, u64)) -> bool {
        match self.has_order {
            true => self.order.front().is_some_and(|entry| is_before(entry, newest)),
            false => self.records.front().is_some_and(|first| (first.at, first.end()) < newest),
        }
    }

    /// Whether some of the octets are still in flight by the transmission of that time.
    fn is_in_flight(&self, at: Time, octets: Range) -> bool {
        let mut place = self.place_of(octets.start);
        while let Some(record) = self.records.get(place).filter(|record| record.start < octets.end) {
            if record.at == at && record.mark == Mark::InFlight {
                return true;
            }
            if record.end() >= octets.end {
                break;
            }
            place += 1;
        }
        false
    }

    fn mark_lost_of(&mut self, at: Time, octets: Range) {
        let mut place = self.place_of(octets.start);
        while let Some(record) = self.records.get(place).filter(|record| record.start < octets.end) {
            if record.at == at && record.mark == Mark::InFlight {
                self.lose(place, false);
            }
            place += 1;
        }
    }

    /// Marks as lost the first record if it is in flight, and every other in flight that `is_old`.
    pub(super) fn mark_lost_at_timeout(&mut self, is_old: impl Fn(Time) -> bool) {
        for place in 0..self.records.len() {
            let record = &self.records[place];
            if record.mark == Mark::InFlight && (place == 0 || is_old(record.at)) {
                self.lose(place, true);
            }
        }
    }

    /// Marks a record as lost that is in flight.
    fn lose(&mut self, place: usize, by_timeout: bool) {
        (self.records[place].mark, self.records[place].by_timeout) = (Mark::Lost, by_timeout);
        let record = self.records[place];
        let bytes = record.bytes();
        self.lost_from = self.lost_from.min(record.start);
        self.lost_marked_bytes += bytes;
        self.heard.lost += bytes;
        self.lost += bytes;
        if record.is_repeated() && !by_timeout {
            self.heard.lost_repeat_at = self.heard.lost_repeat_at.max(Some(record.at));
        }
        if self.takes_losses {
            self.losses.push(Lost {
                start: record.start,
                end: record.end(),
                in_flight_at_sent: record.in_flight,
                lost_since_sent: self.lost - record.lost,
                app_limited: record.app_limited,
            });
        }
    }

    /// The transmissions taken as lost are to be kept for the congestion control.
    pub(super) fn keep_losses(&mut self) {
        self.takes_losses = true;
    }

    /// Whether [`Sent::take_losses`] returns any.
    #[inline]
    pub(super) fn has_losses(&self) -> bool {
        !self.losses.is_empty()
    }

    /// The transmissions taken as lost since the last call.
    pub(super) fn take_losses(&mut self) -> Vec<Lost> {
        std::mem::take(&mut self.losses)
    }

    /// Octets delivered so far.
    pub(super) fn delivered_bytes(&self) -> u64 {
        self.delivered
    }

    /// What was taken as lost is in flight after all.
    pub(super) fn unmark_lost(&mut self) {
        self.keep_order();
        for record in &mut self.records {
            if record.mark == Mark::Lost {
                record.mark = Mark::InFlight;
                self.order.push_back((record.at, record.octets()));
            }
        }
        self.lost_marked_bytes = 0;
        let order = self.order.make_contiguous();
        order.sort_by_key(|&(at, octets)| (at, octets.end));
    }

    /// The first octets that are marked as lost.
    pub(super) fn first_lost(&self) -> Option<Range> {
        self.first_lost_record().map(Record::octets)
    }

    /// Whether the retransmission timer told of these.
    pub(super) fn first_lost_is_by_timeout(&self) -> bool {
        self.first_lost_record().is_some_and(|lost| lost.by_timeout)
    }

    fn first_lost_record(&self) -> Option<&Record> {
        if self.lost_marked_bytes == 0 {
            return None;
        }
        let mut place = self.place_of(self.lost_from);
        while let Some(record) = self.records.get(place) {
            if record.mark == Mark::Lost {
                return Some(record);
            }
            place += 1;
        }
        None
    }

    /// The octets from there on that were marked as lost have been sent again.
    pub(super) fn repaired_to(&mut self, end: u64) {
        self.lost_from = if self.lost_marked_bytes == 0 { u64::MAX } else { end };
    }

    /// The sample of the acknowledgement under way, once it has told of everything.
    #[inline]
    pub(super) fn rate_sample(&mut self, min_rtt: Span) -> Option<RateSample> {
        let newest = self.heard.newest.as_ref()?;
        if self.app_limited_until > 0 && self.delivered > self.app_limited_until {
            self.app_limited_until = 0;
        }
        let send_time = newest.at.since(newest.first_sent_at);
        let ack_time = self.delivered_at.since(newest.delivered_at);
        self.first_sent_at = newest.at;
        let interval = send_time.max(ack_time);
        // Shorter than the path allows: what it tells of came in a burst.
        let interval = if interval < min_rtt { Span::ZERO } else { interval };
        Some(RateSample {
            delivered_bytes: self.delivered - newest.delivered,
            interval,
            app_limited: newest.app_limited,
            prior_delivered: newest.delivered,
            in_flight_at_sent: newest.in_flight,
            lost_since_sent: self.lost - newest.lost,
        })
    }
}

/// Whether an entry of [`Sent::order`] precedes this transmission.
fn is_before((at, octets): &(Time, Range), newest: (Time, u64)) -> bool {
    (*at, octets.end) < newest
}

/// Whether a record was sent later than another, or at the same time and lies beyond it (RFC 8985 5.1).
fn is_later(record: &Record, other: Option<&Record>) -> bool {
    other.is_none_or(|other| (record.at, record.end()) > (other.at, other.end()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    #[test]
    fn losses_are_marked_in_the_order_of_time_and_repaired_in_that_of_the_stream() {
        let mut sent = Sent::default();
        for i in 0..4 {
            sent.on_sent(1 + 1000 * i, 1001 + 1000 * i, ms(i), false);
        }
        sent.on_sent(1, 1001, ms(10), true);
        // Sent before 3 ms, and due; what was sent at 2 ms has to wait.
        let wait = sent.mark_lost((ms(3), 4001), |at| (at >= ms(2)).then_some(ms(99)));
        assert_eq!((wait, sent.first_lost()), (Some(ms(99)), Some(Range { start: 1001, end: 2001 })));
        assert_eq!(sent.in_flight_bytes(), 3000);
        // At equal times the octets decide.
        sent.on_sent(1001, 2001, ms(10), true);
        sent.repaired_to(2001);
        assert_eq!(sent.mark_lost((ms(10), 2001), |_| None), None);
        assert_eq!(sent.first_lost(), Some(Range { start: 1, end: 1001 }));
        sent.unmark_lost();
        assert_eq!((sent.first_lost(), sent.in_flight_bytes()), (None, 4000));
    }

    #[test]
    fn a_path_that_reorders_has_the_order_of_time_made_once_in_a_window() {
        let mut sent = Sent::default();
        for i in 0..4 {
            sent.on_sent(1 + 1000 * i, 1001 + 1000 * i, ms(i), false);
        }
        assert!(!sent.has_order);
        let second = |_| Some(Range { start: 1001, end: 2001 });
        assert!(sent.on_blocks(&[(7, 8)], second, ms(5)));
        sent.on_sent(4001, 5001, ms(6), false);
        // Nothing is missing any more, but the third and the fourth were outstanding, too.
        sent.on_ack(2001, ms(7));
        assert!(sent.is_plain() && sent.has_order);
        sent.on_ack(4001, ms(8));
        assert!(!sent.has_order && sent.order.is_empty());
    }

    #[test]
    fn numbers_of_a_block_may_come_to_mean_other_octets() {
        let mut sent = Sent::default();
        for i in 0..4 {
            sent.on_sent(1 + 1000 * i, 1001 + 1000 * i, ms(i), false);
        }
        let octets = |start| move |_| Some(Range { start, end: start + 1000 });
        assert!(sent.on_blocks(&[(7, 8)], octets(1001), ms(4)));
        assert!(!sent.on_blocks(&[(7, 8)], octets(1001), ms(5)));
        sent.on_ack(2001, ms(6));
        assert!(sent.on_blocks(&[(7, 8)], octets(3001), ms(7)));
    }

    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Octet {
        mark: Mark,
        at: Time,
    }

    proptest! {
        /// Against a record of each octet.
        #[test]
        fn agrees_with_a_record_of_each_octet(
            steps in prop::collection::vec((0u8..6, 1u64..60, 1u64..12), 0..60),
        ) {
            let mut sent = Sent::default();
            let mut octets = std::collections::BTreeMap::<u64, Octet>::new();
            let (mut una, mut end, mut now) = (1, 1, 0);
            let mut delivered = 0;
            for (what, place, length) in steps {
                now += 1;
                match what {
                    0 | 1 => {
                        sent.on_sent(end, end + length, ms(now), false);
                        octets.extend((end..end + length).map(|o| (o, Octet { mark: Mark::InFlight, at: ms(now) })));
                        end += length;
                    }
                    2 if una + place < end => {
                        let from = una + place;
                        let new = octets.range(from..from + length).any(|(_, octet)| octet.mark != Mark::Sacked);
                        let octets_of = |(start, end): (u32, u32)| {
                            Some(Range { start: start.into(), end: end.into() })
                        };
                        let (block, other) = ((from as u32, end.min(from + length) as u32), (from as u32, from as u32 + 1));
                        prop_assert_eq!(sent.on_blocks(&[block], octets_of, ms(now)), new);
                        // Repeated at its place, and one place further.
                        prop_assert!(!sent.on_blocks(&[block], octets_of, ms(now)));
                        prop_assert!(!sent.on_blocks(&[other, block], octets_of, ms(now)));
                        for (_, octet) in octets.range_mut(from..from + length) {
                            delivered += u64::from(octet.mark != Mark::Sacked);
                            octet.mark = Mark::Sacked;
                        }
                    }
                    3 => {
                        una = (una + length).min(end);
                        // A receiver acknowledges all that it holds next.
                        while octets.get(&una).is_some_and(|octet| octet.mark == Mark::Sacked) {
                            una += 1;
                        }
                        sent.on_ack(una, ms(now));
                        while let Some(first) = octets.first_entry().filter(|first| *first.key() < una) {
                            delivered += u64::from(first.remove().mark != Mark::Sacked);
                        }
                    }
                    4 => {
                        let before = ms(now.saturating_sub(length));
                        sent.mark_lost((before, 0), |_| None);
                        for octet in octets.values_mut() {
                            if octet.mark == Mark::InFlight && octet.at < before {
                                octet.mark = Mark::Lost;
                            }
                        }
                    }
                    _ => {
                        if let Some(lost) = sent.first_lost() {
                            let until = lost.end.min(lost.start + length);
                            sent.on_sent(lost.start, until, ms(now), true);
                            sent.repaired_to(until);
                            for (_, octet) in octets.range_mut(lost.start..until) {
                                *octet = Octet { mark: Mark::InFlight, at: ms(now) };
                            }
                        }
                    }
                }
                let count = |mark| octets.values().filter(|octet| octet.mark == mark).count() as u64;
                prop_assert_eq!(sent.in_flight_bytes(), count(Mark::InFlight));
                prop_assert_eq!(sent.sacked_bytes(), count(Mark::Sacked));
                let lost = octets.iter().find(|(_, octet)| octet.mark == Mark::Lost).map(|(&offset, _)| offset);
                prop_assert_eq!(sent.first_lost().map(|range| range.start), lost);
                prop_assert_eq!(sent.has_lost(), lost.is_some());
                prop_assert_eq!(sent.heard.delivered, delivered);
            }
        }
    }
}
