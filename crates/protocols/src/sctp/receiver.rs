//! DATA received: gaps, reassembly, order within streams, and the SACK that tells of them (RFC 9260 6.2, 6.5
//! to 6.9).

use std::collections::{BTreeMap, VecDeque};

use roamsim_engine::{Span, Time};

use super::chunk::{COMMON_HEADER_BYTES, Data, ForwardTsn, Sack};
use super::config::Config;
use super::event::{Event, Message};
use crate::ranges::{Insertion, Range, Ranges};
use crate::tcp::sequence::{from_wire, to_wire};

#[derive(Clone, Debug, Default)]
struct Stream {
    /// Stream sequence number of the next message to tell.
    next: u16,
    /// How many have been told.
    told: u64,
    /// Whole messages that wait for their turn, by how far they are from `next`.
    waiting: VecDeque<Message>,
    /// Those that came after one behind them, by their place in the stream: apart, for they would move all of
    /// `waiting`.
    late: BTreeMap<u64, Message>,
}

impl Stream {
    /// The message waits for its turn; what waited under its number is given back.
    fn hold(&mut self, message: Message) -> Option<Message> {
        let next = self.next;
        let distance = |message: &Message| message.ssn.wrapping_sub(next);
        let new = distance(&message);
        // Nearly always it is the last one.
        if self.waiting.back().is_none_or(|last| distance(last) < new) {
            self.waiting.push_back(message);
            return None;
        }
        match self.waiting.binary_search_by_key(&new, distance) {
            Ok(place) => Some(std::mem::replace(&mut self.waiting[place], message)),
            Err(_) => self.late.insert(self.told + u64::from(new), message),
        }
    }

    /// The message whose turn it is, if it has arrived.
    fn next_message(&mut self) -> Option<Message> {
        let message = match self.waiting.pop_front_if(|message| message.ssn == self.next) {
            Some(message) => message,
            None => self.late.remove(&self.told)?,
        };
        self.tell();
        Some(message)
    }

    /// The next message is the one behind.
    fn tell(&mut self) {
        self.next = self.next.wrapping_add(1);
        self.told += 1;
    }
}

/// The receiving half. TSNs are counted from the peer's initial one, which is 1.
#[derive(Clone, Debug)]
pub(super) struct Receiver {
    /// One below the peer's initial TSN.
    base: u32,
    /// Everything up to here has arrived.
    pub(super) cumulative: u64,
    /// What has arrived beyond a gap.
    ranges: Ranges,
    /// The lowest of them as gap ack blocks, as many as a packet holds or the settings allow.
    blocks: Vec<(u16, u16)>,
    most_blocks: usize,
    /// Blocks and duplicates that a packet holds.
    most_entries: usize,
    /// Chunks of messages that are not whole yet.
    fragments: BTreeMap<u64, Data>,
    /// By number, as far as they have been used.
    streams: Vec<Stream>,
    duplicates: Vec<u32>,
    held_bytes: u64,
    buffer_bytes: u64,
    /// Packets with DATA since the last SACK.
    packets: u32,
    /// A SACK must go out now.
    pub(super) sack_due: bool,
    pub(super) sack_at: Option<Time>,
    delay: Option<Span>,
    sack_frequency: u32,
}

impl Receiver {
    pub(super) fn new(config: &Config, initial_tsn: u32) -> Receiver {
        let most_entries = (config.packet_bytes.saturating_sub(COMMON_HEADER_BYTES + 16) / 4) as usize;
        Receiver {
            base: initial_tsn.wrapping_sub(1),
            cumulative: 0,
            ranges: Ranges::default(),
            blocks: Vec::new(),
            most_blocks: config
                .max_gap_ack_blocks
                .map_or(most_entries, |most| most_entries.min(most as usize)),
            most_entries,
            fragments: BTreeMap::new(),
            streams: Vec::new(),
            duplicates: Vec::new(),
            held_bytes: 0,
            buffer_bytes: u64::from(config.receive_window_bytes),
            packets: 0,
            sack_due: false,
            sack_at: None,
            delay: config.delayed_ack,
            sack_frequency: config.sack_frequency,
        }
    }

    pub(super) fn cumulative_tsn(&self) -> u32 {
        to_wire(self.base, self.cumulative)
    }

    /// A DATA chunk; those of a stream that was not granted are acknowledged and go no further. Messages that
    /// may be told now become events.
    pub(super) fn take(&mut self, data: &Data, granted: bool, events: &mut VecDeque<Event>) {
        let place = from_wire(self.base, data.tsn, self.cumulative);
        let Some(tsn) = place.filter(|&tsn| tsn > self.cumulative) else {
            self.duplicate(data.tsn);
            return;
        };
        let bytes = u64::from(data.payload_bytes);
        let in_sequence = tsn == self.cumulative + 1;
        // Gap ack blocks count in 16 bits; the next in sequence is taken even without room, lest all stop.
        if !in_sequence
            && (tsn - self.cumulative > u64::from(u16::MAX) || self.held_bytes + bytes > self.buffer_bytes)
        {
            if self.ranges.first_overlap(Range { start: tsn, end: tsn + 1 }).is_some() {
                self.duplicates.push(data.tsn);
            }
            self.sack_due = true;
            return;
        }
        // A gap that was there or is there now.
        self.sack_due |= !in_sequence || !self.ranges.is_empty() || data.immediate;
        if in_sequence {
            self.advance(tsn);
        } else if !self.mark(tsn) {
            self.duplicate(data.tsn);
            return;
        }
        if granted {
            self.held_bytes += bytes;
            if data.beginning && data.ending {
                self.tell(data.tsn, data, bytes, events);
            } else {
                self.fragments.insert(tsn, *data);
                self.reassemble(tsn, events);
            }
        }
    }

    /// Everything up to a TSN counts as received; ordered messages up to some numbers are not waited for (RFC
    /// 3758 3.6). One that is behind the cumulative TSN is acknowledged again.
    pub(super) fn forward(&mut self, forward: &ForwardTsn, streams: u16, events: &mut VecDeque<Event>) {
        self.sack_due = true;
        let place = from_wire(self.base, forward.cumulative_tsn, self.cumulative);
        let Some(tsn) = place.filter(|&tsn| tsn > self.cumulative) else { return };
        self.advance(tsn);
        // Of messages that will not be whole any more.
        let kept = self.fragments.split_off(&(tsn + 1));
        for data in std::mem::replace(&mut self.fragments, kept).values() {
            self.held_bytes -= u64::from(data.payload_bytes);
        }
        for &(stream, ssn) in forward.streams.iter().filter(|&&(stream, _)| stream < streams) {
            self.skip(usize::from(stream), ssn, events);
        }
        events.push_back(Event::Forwarded(forward.cumulative_tsn));
    }

    /// The stream goes on behind this number; messages that have arrived are told in their order.
    fn skip(&mut self, number: usize, ssn: u16, events: &mut VecDeque<Event>) {
        if self.streams.len() <= number {
            self.streams.resize_with(number + 1, Stream::default);
        }
        let stream = &mut self.streams[number];
        let mut left = ssn.wrapping_sub(stream.next).wrapping_add(1);
        // Serial arithmetic: the rest lies behind.
        if left > 1 << 15 {
            return;
        }
        loop {
            match stream.next_message() {
                Some(message) => {
                    self.held_bytes -= message.bytes;
                    events.push_back(Event::Received(message));
                }
                None if left == 0 => return,
                None => stream.tell(),
            }
            left = left.saturating_sub(1);
        }
    }

    fn duplicate(&mut self, tsn: u32) {
        self.duplicates.push(tsn);
        self.sack_due = true;
    }

    /// The next in sequence has arrived.
    fn advance(&mut self, tsn: u64) {
        if self.ranges.is_empty() {
            self.cumulative = tsn;
            return;
        }
        self.cumulative = self.ranges.advance(tsn + 1) - 1;
        // The blocks count from here.
        self.blocks.clear();
        let lowest = self.ranges.iter().take(self.most_blocks);
        self.blocks.extend(lowest.map(|&range| block(self.cumulative, range)));
    }

    /// Another one beyond a gap; false if it is a duplicate.
    fn mark(&mut self, tsn: u64) -> bool {
        let insertion = self.ranges.insert(Range { start: tsn, end: tsn + 1 }, |_| ());
        let Insertion::New { range, place, replaced } = insertion else { return false };
        if place >= self.most_blocks {
            return true;
        }
        let new = block(self.cumulative, range);
        match replaced {
            0 => {
                self.blocks.truncate(self.most_blocks - 1);
                self.blocks.insert(place, new);
            }
            1 => self.blocks[place] = new,
            // Two have become one, and another may find room.
            _ => {
                self.blocks[place] = new;
                if place + 1 < self.blocks.len() {
                    self.blocks.remove(place + 1);
                }
                let next =
                    self.ranges.get(self.blocks.len()).filter(|_| self.blocks.len() < self.most_blocks);
                self.blocks.extend(next.map(|range| block(self.cumulative, range)));
            }
        }
        true
    }

    /// Tells the message that the chunk completes, if it does.
    fn reassemble(&mut self, tsn: u64, events: &mut VecDeque<Event>) {
        let Some(&newest) = self.fragments.get(&tsn) else { return };
        let same = |data: &Data| {
            data.stream == newest.stream
                && data.unordered == newest.unordered
                && (newest.unordered || data.ssn == newest.ssn)
        };
        let (mut first, mut last) = (tsn, tsn);
        // The end first: in order it is missing at once, however long the message is.
        while !self.fragments[&last].ending {
            match self.fragments.get(&(last + 1)) {
                Some(data) if same(data) && !data.beginning => last += 1,
                _ => return,
            }
        }
        while !self.fragments[&first].beginning {
            match self.fragments.get(&(first - 1)) {
                Some(data) if same(data) && !data.ending => first -= 1,
                _ => return,
            }
        }
        let mut bytes = 0;
        for tsn in first..=last {
            bytes += self.fragments.remove(&tsn).map_or(0, |data| u64::from(data.payload_bytes));
        }
        self.tell(to_wire(self.base, first), &newest, bytes, events);
    }

    /// A whole message of so many octets from `first_tsn` on, of which this is a chunk: told now, or when it
    /// is its stream's turn.
    fn tell(&mut self, first_tsn: u32, chunk: &Data, bytes: u64, events: &mut VecDeque<Event>) {
        let message = Message {
            tsn: first_tsn,
            stream: chunk.stream,
            ssn: chunk.ssn,
            bytes,
            protocol: chunk.protocol,
            unordered: chunk.unordered,
        };
        if chunk.unordered {
            self.held_bytes -= bytes;
            events.push_back(Event::Received(message));
            return;
        }
        let number = usize::from(chunk.stream);
        if self.streams.len() <= number {
            self.streams.resize_with(number + 1, Stream::default);
        }
        let stream = &mut self.streams[number];
        if chunk.ssn == stream.next && stream.waiting.is_empty() {
            stream.tell();
            self.held_bytes -= bytes;
            events.push_back(Event::Received(message));
            return;
        }
        if let Some(other) = stream.hold(message) {
            self.held_bytes -= other.bytes;
        }
        while let Some(message) = stream.next_message() {
            self.held_bytes -= message.bytes;
            events.push_back(Event::Received(message));
        }
    }

    /// The packet with DATA has been read to its end: every second one, or as the settings say, is
    /// acknowledged at once (RFC 9260 6.2).
    pub(super) fn packet_ends(&mut self, now: Time) {
        self.packets += 1;
        match self.delay {
            Some(delay) if self.packets < self.sack_frequency && !self.sack_due => {
                self.sack_at.get_or_insert(now + delay);
            }
            _ => self.sack_due = true,
        }
    }

    /// Octets of the SACK, if no packet is too small for it.
    pub(super) fn sack_bytes(&self) -> u32 {
        16 + 4 * (self.blocks.len() + self.duplicates.len()) as u32
    }

    /// The SACK, which is hereby sent: gap ack blocks, then duplicates, as far as a packet holds.
    pub(super) fn sack(&mut self) -> Sack {
        let mut duplicates = std::mem::take(&mut self.duplicates);
        duplicates.truncate(self.most_entries - self.blocks.len());
        self.sack_due = false;
        self.sack_at = None;
        self.packets = 0;
        let left = self.buffer_bytes.saturating_sub(self.held_bytes);
        Sack::new(self.cumulative_tsn(), left as u32, &self.blocks, duplicates)
    }
}

/// The range as a gap ack block: first and last, from the cumulative TSN on.
fn block(cumulative: u64, range: Range) -> (u16, u16) {
    ((range.start - cumulative) as u16, (range.end - 1 - cumulative) as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A whole message of 1 octet on stream 0.
    fn data(tsn: u32, ssn: u16) -> Data {
        Data {
            tsn,
            stream: 0,
            ssn,
            protocol: 0,
            unordered: false,
            beginning: true,
            ending: true,
            immediate: false,
            payload_bytes: 1,
        }
    }

    fn told(events: &mut VecDeque<Event>) -> Vec<u32> {
        let tsn = |event| match event {
            Event::Received(message) => message.tsn,
            other => panic!("{other:?}"),
        };
        events.drain(..).map(tsn).collect()
    }

    #[test]
    fn a_message_far_ahead_takes_the_memory_of_one() {
        let mut receiver = Receiver::new(&Config::default(), 1);
        let mut events = VecDeque::new();
        receiver.take(&data(1, 65_535), true, &mut events);
        receiver.take(&data(2, 30_000), true, &mut events);
        assert_eq!(receiver.held_bytes, 2);
        assert!(receiver.streams[0].waiting.capacity() <= 16, "{}", receiver.streams[0].waiting.capacity());
    }

    #[test]
    fn messages_are_told_in_the_order_of_their_numbers_which_wrap() {
        let mut receiver = Receiver::new(&Config::default(), 1);
        let mut events = VecDeque::new();
        for ssn in 0..65_534u16 {
            receiver.take(&data(1 + u32::from(ssn), ssn), true, &mut events);
        }
        assert_eq!(told(&mut events).len(), 65_534);
        // Next is 65534: the last one, one in between, the first in between, and the number of the last one
        // again.
        for (tsn, ssn) in [(65_535, 1), (65_536, 65_535), (65_537, 0), (65_538, 1)] {
            receiver.take(&data(tsn, ssn), true, &mut events);
        }
        assert_eq!((told(&mut events), receiver.held_bytes), (vec![], 3));
        receiver.take(&data(65_539, 65_534), true, &mut events);
        assert_eq!(told(&mut events), [65_539, 65_536, 65_537, 65_538]);
        assert_eq!((receiver.held_bytes, receiver.streams[0].next), (0, 2));
    }
}
