//! Both ends of a connection with ARQ, and its packets from the queue to their delivery.
//!
//! A packet leaves the queue when its blocks get numbers, which is when the window comes to them. It is
//! delivered when all of its blocks have come, and where order is kept when all before it have come or been
//! passed. It is dropped when its sender gives a block of it up, when the receiver does without one, or by a
//! reset.

use super::receiver::Receiver;
use super::sender::{Order, Sender};
use super::{
    AROUND_FEEDBACK_BYTES, ArqConfig, ArqStats, Chunk, Content, DISCARD_BYTES, RESET_BYTES, Reset,
    element_bytes,
};
use crate::link::wimax::pdu::{FRAGMENT_BYTES, LONGEST_PACKED_BYTES, PACKING_BYTES, WHOLE_BYTES};
use crate::packet::Packet;
use roamsim_engine::Time;
use std::collections::VecDeque;

/// A packet whose blocks have numbers.
#[derive(Debug)]
struct Numbered {
    /// Until it is delivered or dropped.
    packet: Option<Packet>,
    first: u64,
    /// Behind its last block.
    end: u64,
    /// Its blocks that have not come.
    missing: u32,
}

/// ARQ of a connection.
#[derive(Debug)]
pub(in crate::link::wimax) struct Arq {
    config: ArqConfig,
    sender: Sender,
    receiver: Receiver,
    packets: VecDeque<Numbered>,
    /// Those of them that are neither delivered nor dropped.
    held: usize,
    /// The receiver has to answer to a reset.
    answers: bool,
    pub delivered: Vec<Packet>,
    pub dropped: Vec<Packet>,
    pub stats: ArqStats,
}

impl Arq {
    pub fn new(config: ArqConfig) -> Arq {
        Arq {
            config,
            sender: Sender::new(config),
            receiver: Receiver::new(config),
            packets: VecDeque::new(),
            held: 0,
            answers: false,
            delivered: Vec::new(),
            dropped: Vec::new(),
            stats: ArqStats::default(),
        }
    }

    /// Packets that have left the queue and are neither delivered nor dropped.
    pub fn held(&self) -> usize {
        self.held + self.delivered.len() + self.dropped.len()
    }

    /// The octets of a PDU with one block, as long as they come.
    pub fn least_pdu_bytes(&self) -> u32 {
        FRAGMENT_BYTES + self.config.block_bytes
    }

    /// Whether the window has come to the next packet of the queue.
    pub fn wants_packet(&self) -> bool {
        self.sender.takes_packets() && !self.sender.has_blocks()
    }

    /// A packet leaves the queue.
    pub fn takes(&mut self, packet: Packet) {
        let (first, count) = self.sender.add(packet.size_bytes);
        self.held += 1;
        let end = first + u64::from(count);
        self.packets.push_back(Numbered { packet: Some(packet), first, end, missing: count });
    }

    /// Whether the sender has something to say, the queue apart.
    pub fn is_empty(&self) -> bool {
        !self.sender.has_blocks() && self.sender.order().is_none()
    }

    /// The octets of PDUs of what the sender has to say, with so many packets of so many octets in the queue.
    pub fn backlog_bytes(&self, packets: u64, bytes: u64) -> u64 {
        let order = match self.sender.order() {
            Some(Order::Discard(_)) => DISCARD_BYTES,
            Some(Order::Reset(_)) => RESET_BYTES,
            None => 0,
        };
        let (sendable, runs) = self.sender.sendable();
        let mut sum = u64::from(order) + sendable + runs * u64::from(FRAGMENT_BYTES);
        let window = self.sender.limit().saturating_sub(self.sender.end());
        if packets > 0 && window > 0 {
            // As if all had the mean length.
            let blocks = bytes.div_ceil(packets).div_ceil(u64::from(self.config.block_bytes)).max(1);
            let of_queue = packets.min(window.div_ceil(blocks));
            sum += bytes * of_queue / packets + of_queue * u64::from(FRAGMENT_BYTES);
        }
        sum
    }

    /// What the sender says now in a PDU of at most so many octets, and the PDU's octets; with blocks, the
    /// packets that they begin and their octets. `next` gives the next packet of the queue.
    pub fn says(
        &mut self,
        now: Time,
        room_bytes: u32,
        packs: bool,
        mut next: impl FnMut() -> Option<Packet>,
    ) -> Option<(u32, Content, (u32, u32))> {
        if let Some(order) = self.sender.order() {
            let (bytes, content) = match order {
                Order::Discard(block) => (DISCARD_BYTES, Content::Discard(block)),
                Order::Reset(step) => (RESET_BYTES, Content::Reset(step)),
            };
            return (bytes <= room_bytes).then(|| {
                self.sender.says(now, order);
                (bytes, content, (0, 0))
            });
        }
        let (mut chunks, mut begun) = (Vec::new(), (0, 0));
        let mut bytes = 0;
        let most_bytes = if packs { room_bytes.min(LONGEST_PACKED_BYTES) } else { room_bytes };
        loop {
            if self.wants_packet()
                && let Some(packet) = next()
            {
                self.takes(packet);
            }
            // What is alone in its PDU is a fragment; what is packed has a longer subheader, the first one as
            // well.
            let around = if bytes == 0 { FRAGMENT_BYTES } else { bytes + PACKING_BYTES };
            let Some(chunk) = self.sender.chunk(most_bytes.saturating_sub(around)) else { break };
            if self.sender.sends(now, chunk, &mut self.stats) {
                let place = self.place(chunk.first);
                if let Some(own) = self.packets.get(place)
                    && own.first == chunk.first
                {
                    let size_bytes = own.packet.as_ref().map_or(0, |packet| packet.size_bytes);
                    begun = (begun.0 + 1, begun.1 + size_bytes);
                }
            }
            bytes = if bytes == 0 { WHOLE_BYTES } else { bytes } + PACKING_BYTES + chunk.bytes;
            chunks.push(chunk);
            if !packs {
                break;
            }
        }
        let bytes = match &chunks[..] {
            [] => return None,
            [chunk] => FRAGMENT_BYTES + chunk.bytes,
            _ => bytes,
        };
        Some((bytes, Content::Blocks(chunks), begun))
    }

    /// The octets of the PDU in which the receiver says all that it has to say; 0 where that is nothing.
    pub fn answer_bytes(&self) -> u64 {
        if self.answers {
            return u64::from(RESET_BYTES);
        }
        match self.receiver.feedback_bytes() {
            0 => 0,
            bytes => u64::from(AROUND_FEEDBACK_BYTES + bytes),
        }
    }

    /// What the receiver says now in a PDU of at most so many octets, and its octets.
    pub fn answer(&mut self, now: Time, room_bytes: u32) -> Option<(u32, Content)> {
        if self.answers {
            return (RESET_BYTES <= room_bytes).then(|| {
                self.answers = false;
                (RESET_BYTES, Content::Reset(Reset::Acknowledgement))
            });
        }
        let elements = self
            .receiver
            .feedback(room_bytes.checked_sub(AROUND_FEEDBACK_BYTES + element_bytes(0))? + element_bytes(0));
        if elements.is_empty() {
            return None;
        }
        self.stats.feedback_pdus += 1;
        let bytes = elements.iter().map(|element| element.bytes()).sum::<u32>();
        Some((AROUND_FEEDBACK_BYTES + bytes, Content::Feedback(elements, now)))
    }

    /// The place of the packet with a block.
    fn place(&self, block: u64) -> usize {
        self.packets.partition_point(|own| own.end <= block)
    }

    /// A PDU about this connection has come, from the sender or from the receiver.
    pub fn comes(&mut self, now: Time, content: &Content) {
        match content {
            Content::Blocks(chunks) => chunks.iter().for_each(|chunk| self.receives(now, *chunk)),
            Content::Feedback(elements, made) => self.sender.hears(now, elements, *made),
            Content::Discard(block) => self.receiver.discards(*block),
            Content::Reset(Reset::Original) => {
                self.receiver = Receiver::new(self.config);
                self.answers = true;
            }
            Content::Reset(Reset::Acknowledgement) => {
                if self.sender.is_reset() {
                    self.stats.resets += 1;
                    let left = self.packets.drain(..).filter_map(|own| own.packet);
                    self.dropped.extend(left);
                    self.held = 0;
                }
            }
            Content::Reset(Reset::Confirmation) => {}
        }
        self.settle();
    }

    fn receives(&mut self, now: Time, chunk: Chunk) {
        for block in chunk.first..chunk.first + u64::from(chunk.count) {
            if !self.receiver.takes(now, block, &mut self.stats) {
                continue;
            }
            let place = self.place(block);
            let Some(own) = self.packets.get_mut(place) else { continue };
            own.missing = own.missing.saturating_sub(1);
            if own.missing == 0 && !self.config.deliver_in_order {
                self.held -= usize::from(own.packet.is_some());
                self.delivered.extend(own.packet.take());
            }
        }
    }

    /// Packets that the receiver has come by are delivered, or dropped; those that both are behind are
    /// forgotten.
    fn settle(&mut self) {
        let place = self.place(self.receiver.start().saturating_sub(1));
        // Those up to there may not have been looked at since they were passed.
        let passed = self.receiver.start();
        for own in self.packets.iter_mut().take(place + 1).filter(|own| own.end <= passed) {
            let Some(packet) = own.packet.take() else { continue };
            self.held -= 1;
            if own.missing == 0 { &mut self.delivered } else { &mut self.dropped }.push(packet);
        }
        let start = self.sender.start().min(self.receiver.start());
        while self.packets.pop_front_if(|own| own.end <= start).is_some() {}
    }

    /// The packets that end before a block are given up by their sender.
    fn drop_before(&mut self, behind: u64) {
        for own in self.packets.iter_mut().take_while(|own| own.end <= behind) {
            // All of it may have come, and wait for others.
            if own.missing > 0
                && let Some(packet) = own.packet.take()
            {
                self.held -= 1;
                self.dropped.push(packet);
            }
        }
    }

    /// Gives the oldest packet up whose blocks have numbers, as its sender, if blocks wait to be sent;
    /// whether they do.
    pub fn give_up(&mut self, now: Time) -> bool {
        if !self.sender.has_blocks() {
            return false;
        }
        let behind = self.sender.give_up(now, &mut self.stats);
        behind.into_iter().for_each(|behind| self.drop_before(behind));
        behind.is_some()
    }

    /// When something happens by itself.
    pub fn deadline(&self) -> Option<Time> {
        self.sender.deadline().into_iter().chain(self.receiver.deadline()).min()
    }

    /// Timers may have expired.
    pub fn expire(&mut self, now: Time) {
        self.receiver.expire(now, &mut self.stats);
        if let Some(behind) = self.sender.expire(now, &mut self.stats) {
            self.drop_before(behind);
        }
        self.settle();
    }

    /// The connection is gone: returns the packets that it holds.
    pub fn release(&mut self) -> Vec<Packet> {
        let (config, stats) = (self.config, self.stats);
        let before = std::mem::replace(self, Arq { stats, ..Arq::new(config) });
        before
            .packets
            .into_iter()
            .filter_map(|own| own.packet)
            .chain(before.delivered)
            .chain(before.dropped)
            .collect()
    }
}
