//! DATA received: gaps, reassembly, order within streams, and the SACK that tells of them (RFC 9260 6.2, 6.5
//! to 6.9).
//!
//! What is held is bounded by the receive buffer, whatever a peer sends:
//! - A message in sequence that lacks its end is one entry, however many chunks it has. If it fills the
//!   buffer, it is delivered in part (RFC 9260 6.9): the application takes what has come, and the rest as it
//!   comes. Linux 6.12 begins at the same point, in `sctp_eat_data`.
//! - Beyond a gap there are at most 65535 chunks, as gap ack blocks count in 16 bits.
//! - Messages that wait for an earlier one of their stream count against the buffer, and are 65535 at most.

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

/// A message in sequence that lacks its end.
#[derive(Clone, Copy, Debug)]
struct Begun {
    first: Data,
    /// The TSN of its last chunk so far.
    last: u64,
    /// Octets so far.
    bytes: u64,
    /// Those of them that the buffer holds.
    held_bytes: u64,
    /// The application takes each chunk as it comes.
    in_part: bool,
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
    /// Chunks beyond a gap, of messages that are not whole yet.
    fragments: BTreeMap<u64, Data>,
    /// What the next TSN may go on.
    begun: Option<Begun>,
    /// By number, as far as they have been used.
    streams: Vec<Stream>,
    /// Messages that wait for their turn.
    waiting: u32,
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
            begun: None,
            streams: Vec::new(),
            waiting: 0,
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
        // Of the next in sequence nothing is held if it can be told, whole or in part.
        let fits = self.held_bytes + bytes <= self.buffer_bytes && self.waiting < u32::from(u16::MAX);
        let taken = if in_sequence {
            fits || self.has_its_turn(data)
        } else {
            fits && tsn - self.cumulative <= u64::from(u16::MAX)
        };
        if !taken {
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
            } else if in_sequence {
                self.join(tsn, data, events);
            } else {
                self.fragments.insert(tsn, *data);
                self.reassemble(tsn, events);
            }
        }
        if in_sequence && !self.fragments.is_empty() {
            self.join_fragments(events);
        }
    }

    /// Whether the message of this chunk may be told now, or as soon as it is whole.
    fn has_its_turn(&self, data: &Data) -> bool {
        let stream = self.streams.get(usize::from(data.stream));
        data.unordered || data.ssn == stream.map_or(0, |stream| stream.next)
    }

    /// Chunks that are beyond a gap no more go on what is begun.
    fn join_fragments(&mut self, events: &mut VecDeque<Event>) {
        while let Some(first) = self.fragments.first_entry()
            && *first.key() <= self.cumulative
        {
            let (tsn, data) = first.remove_entry();
            self.join(tsn, &data, events);
        }
    }

    /// A chunk of a longer message in sequence, whose octets are held already. What is begun and does not go
    /// on with it is dropped, for it cannot be whole any more.
    fn join(&mut self, tsn: u64, data: &Data, events: &mut VecDeque<Event>) {
        let bytes = u64::from(data.payload_bytes);
        let goes_on = |begun: &Begun| {
            begun.last + 1 == tsn && !data.beginning && are_of_one_message(&begun.first, data)
        };
        let mut begun = match self.begun.take() {
            Some(begun) if goes_on(&begun) => begun,
            other => {
                self.held_bytes -= other.map_or(0, |begun| begun.held_bytes);
                if !data.beginning {
                    self.held_bytes -= bytes;
                    return;
                }
                Begun { first: *data, last: tsn, bytes: 0, held_bytes: 0, in_part: false }
            }
        };
        begun.last = tsn;
        begun.bytes += bytes;
        begun.held_bytes += bytes;
        if data.ending {
            // In the buffer again for as long as its stream is looked at.
            self.held_bytes += begun.bytes - begun.held_bytes;
            self.tell(begun.first.tsn, &begun.first, begun.bytes, events);
            return;
        }
        // Linux: no less than what is left, so that the window is never closed by what the application takes.
        let is_full = self.held_bytes >= self.buffer_bytes;
        begun.in_part |= is_full && self.has_its_turn(&begun.first);
        if begun.in_part {
            self.held_bytes -= std::mem::take(&mut begun.held_bytes);
        }
        self.begun = Some(begun);
    }

    /// Everything up to a TSN counts as received; ordered messages up to some numbers are not waited for (RFC
    /// 3758 3.6). One that is behind the cumulative TSN is acknowledged again.
    pub(super) fn forward(&mut self, forward: &ForwardTsn, streams: u16, events: &mut VecDeque<Event>) {
        self.sack_due = true;
        let place = from_wire(self.base, forward.cumulative_tsn, self.cumulative);
        let Some(tsn) = place.filter(|&tsn| tsn > self.cumulative) else { return };
        self.advance(tsn);
        // Of messages that will not be whole any more.
        self.held_bytes -= self.begun.take().map_or(0, |begun| begun.held_bytes);
        let kept = self.fragments.split_off(&(tsn + 1));
        for data in std::mem::replace(&mut self.fragments, kept).values() {
            self.held_bytes -= u64::from(data.payload_bytes);
        }
        for &(stream, ssn) in forward.streams.iter().filter(|&&(stream, _)| stream < streams) {
            self.skip(usize::from(stream), ssn, events);
        }
        self.join_fragments(events);
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
                    self.waiting -= 1;
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

    /// Tells the message that the chunk beyond a gap completes, if it does.
    fn reassemble(&mut self, tsn: u64, events: &mut VecDeque<Event>) {
        let Some(&newest) = self.fragments.get(&tsn) else { return };
        let same = |data: &Data| are_of_one_message(data, &newest);
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
        match stream.hold(message) {
            Some(other) => self.held_bytes -= other.bytes,
            None => self.waiting += 1,
        }
        while let Some(message) = stream.next_message() {
            self.waiting -= 1;
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

/// Whether two chunks with TSNs in a row may be of one message.
fn are_of_one_message(one: &Data, other: &Data) -> bool {
    let alike = one.stream == other.stream && one.unordered == other.unordered;
    alike && (one.unordered || one.ssn == other.ssn)
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

    /// A receiver with this much room, and the chunks in which a test sends messages.
    fn with_room(buffer_bytes: u32) -> (Receiver, VecDeque<Event>) {
        let config = Config { receive_window_bytes: buffer_bytes, ..Config::default() };
        (Receiver::new(&config, 1), VecDeque::new())
    }

    #[test]
    fn a_message_that_never_ends_takes_the_memory_of_one_chunk() {
        let (mut receiver, mut events) = with_room(10_000);
        for pair in (2..100_000).step_by(2).map(|tsn| [tsn - 1, tsn]) {
            // Every third pair arrives in the other order.
            let turned = usize::from(pair[1] % 6 == 0);
            for tsn in [pair[turned], pair[1 - turned]] {
                let chunk = Data { beginning: tsn == 1, ending: false, payload_bytes: 7, ..data(tsn, 0) };
                receiver.take(&chunk, true, &mut events);
                assert!(receiver.fragments.len() <= 1 && receiver.held_bytes <= 10_007, "{receiver:?}");
            }
        }
        assert_eq!(receiver.cumulative, 99_998);
        assert!(events.is_empty());
    }

    #[test]
    fn messages_out_of_turn_and_ends_that_never_come_are_bounded_by_the_buffer() {
        // Number 0 never comes.
        let (mut receiver, mut events) = with_room(1000);
        for tsn in 1..=5000u32 {
            receiver.take(&data(tsn.min(1001), tsn as u16), true, &mut events);
        }
        assert_eq!((receiver.held_bytes, receiver.cumulative, receiver.waiting), (1000, 1000, 1000));
        // It comes: all are told, and the buffer is empty.
        receiver.take(&data(1001, 0), true, &mut events);
        assert_eq!((told(&mut events).len(), receiver.held_bytes, receiver.waiting), (1001, 0, 0));
        // Each begins a message, and none goes on.
        let (mut receiver, mut events) = with_room(1000);
        for tsn in 1..=5000u32 {
            receiver.take(&Data { ending: false, ..data(tsn, 0) }, true, &mut events);
            assert_eq!((receiver.cumulative, receiver.held_bytes), (u64::from(tsn), 1));
        }
        // None begins one.
        for tsn in 5001..=9000u32 {
            receiver.take(&Data { beginning: false, ..data(tsn, 7) }, true, &mut events);
        }
        assert_eq!((receiver.cumulative, receiver.held_bytes, events.len()), (9000, 0, 0));
        // With a buffer of any size, those that wait are as many as a gap may be long.
        let (mut receiver, mut events) = with_room(u32::MAX);
        for tsn in 1..=100_000u32 {
            let stream = (tsn / 60_000) as u16;
            receiver.take(&Data { stream, ..data(tsn, (tsn % 60_000) as u16 + 1) }, true, &mut events);
        }
        assert_eq!(receiver.waiting, 65_535);
    }

    #[test]
    fn a_message_delivered_in_part_is_told_at_its_end() {
        let (mut receiver, mut events) = with_room(1000);
        let chunk = |tsn, ending| Data { beginning: tsn == 1, ending, payload_bytes: 600, ..data(tsn, 0) };
        let left = |receiver: &mut Receiver| receiver.sack().a_rwnd_bytes;
        receiver.take(&chunk(1, false), true, &mut events);
        assert_eq!(left(&mut receiver), 400);
        // The second one fills the buffer.
        receiver.take(&chunk(2, false), true, &mut events);
        assert_eq!(left(&mut receiver), 1000);
        // A gap; what is beyond it is held.
        receiver.take(&chunk(4, true), true, &mut events);
        assert_eq!(left(&mut receiver), 400);
        receiver.take(&chunk(3, false), true, &mut events);
        assert_eq!(left(&mut receiver), 1000);
        let Some(Event::Received(message)) = events.pop_front() else { panic!("it is whole") };
        assert_eq!((message.tsn, message.bytes, events.len()), (1, 2400, 0));
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
