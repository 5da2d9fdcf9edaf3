//! The sender of blocks (IEEE Std 802.16-2004 clause 6.3.4.6.2): a machine without I/O.
//!
//! A block is not sent, outstanding, waiting to be sent again, discarded, or done. What waits to be sent
//! again goes before what was never sent.

use super::{ArqConfig, ArqStats, Chunk, Element, MAP_BLOCKS, Reset, T22};
use roamsim_engine::Time;
use std::collections::{BTreeSet, VecDeque};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    NotSent,
    Outstanding,
    /// To be sent again; whether ARQ_RETRY_TIMEOUT had expired.
    Waiting(bool),
    Discarded,
    Done,
}

#[derive(Clone, Copy, Debug)]
struct Block {
    bytes: u32,
    /// Whether it is the last one of its packet.
    ends: bool,
    state: State,
    /// When it was sent, first and last.
    first: Time,
    last: Time,
}

/// Blocks of a connection as their sender knows them.
#[derive(Debug)]
pub(super) struct Sender {
    config: ArqConfig,
    /// ARQ_TX_WINDOW_START.
    start: u64,
    /// From that one on.
    blocks: VecDeque<Block>,
    /// ARQ_TX_NEXT_BSN: the first one that was never sent.
    next: u64,
    again: BTreeSet<u64>,
    /// Outstanding ones by when ARQ_RETRY_TIMEOUT expires; those that are it no more are passed over.
    retries: VecDeque<(Time, u64)>,
    /// Since when the window stands still, while something of it has been sent.
    still: Option<Time>,
    /// All up to this one are given up; the receiver is told.
    discard: Option<(u64, Telling)>,
    /// A reset is under way; the receiver is asked.
    reset: Option<Telling>,
    confirms: bool,
}

/// When the receiver is told something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Telling {
    /// With the next PDU.
    Next,
    /// It was told, and will be again.
    Again(Time),
}

impl Telling {
    fn again(self) -> Option<Time> {
        match self {
            Telling::Next => None,
            Telling::Again(at) => Some(at),
        }
    }

    fn expire(&mut self, now: Time) {
        if self.again().is_some_and(|at| at <= now) {
            *self = Telling::Next;
        }
    }
}

/// What a sender has to say beside blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Discard(u64),
    Reset(Reset),
}

impl Sender {
    pub fn new(config: ArqConfig) -> Sender {
        Sender {
            config,
            start: 0,
            blocks: VecDeque::new(),
            next: 0,
            again: BTreeSet::new(),
            retries: VecDeque::new(),
            still: None,
            discard: None,
            reset: None,
            confirms: false,
        }
    }

    /// The first block that is not done.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// Behind the last block.
    pub fn end(&self) -> u64 {
        self.start + self.blocks.len() as u64
    }

    /// Behind the last block that may be sent.
    pub fn limit(&self) -> u64 {
        self.start + u64::from(self.config.window_blocks)
    }

    fn block(&mut self, number: u64) -> Option<&mut Block> {
        let place = number.checked_sub(self.start)?;
        self.blocks.get_mut(place as usize)
    }

    /// Cuts a packet in blocks; returns the first, and how many they are.
    pub fn add(&mut self, packet_bytes: u32) -> (u64, u32) {
        let first = self.end();
        let count = packet_bytes.div_ceil(self.config.block_bytes).max(1);
        for number in 0..count {
            let bytes = (packet_bytes - number * self.config.block_bytes).min(self.config.block_bytes);
            let ends = number + 1 == count;
            let (state, never) = (State::NotSent, Time::ZERO);
            self.blocks.push_back(Block { bytes, ends, state, first: never, last: never });
        }
        (first, count)
    }

    /// Whether there is room in the window for blocks of another packet.
    pub fn takes_packets(&self) -> bool {
        self.reset.is_none() && self.end() < self.limit()
    }

    /// Whether a block may be sent now.
    pub fn has_blocks(&self) -> bool {
        self.reset.is_none() && (!self.again.is_empty() || self.next < self.end().min(self.limit()))
    }

    /// Octets of the blocks that may be sent now, and of how many runs they are at most.
    pub fn sendable(&self) -> (u64, u64) {
        if self.reset.is_some() {
            return (0, 0);
        }
        let bytes = |number: u64| u64::from(self.blocks[(number - self.start) as usize].bytes);
        let (mut sum, mut runs, mut before) = (0, 0, None);
        for &number in &self.again {
            sum += bytes(number);
            runs += u64::from(before != Some(number));
            before = Some(number + 1);
        }
        for number in self.next..self.end().min(self.limit()) {
            sum += bytes(number);
            let ends = number > self.start && self.blocks[(number - 1 - self.start) as usize].ends;
            runs += u64::from(number == self.next || ends);
        }
        (sum, runs)
    }

    /// The next blocks of one packet, of so many octets at most.
    pub fn chunk(&self, room_bytes: u32) -> Option<Chunk> {
        if !self.has_blocks() {
            return None;
        }
        let first = self.again.first().copied().unwrap_or(self.next);
        let mut chunk = Chunk { first, count: 0, bytes: 0 };
        for number in first..self.end().min(self.limit()) {
            let block = &self.blocks[(number - self.start) as usize];
            let goes = matches!(block.state, State::NotSent | State::Waiting(_));
            if !goes || chunk.bytes + block.bytes > room_bytes {
                break;
            }
            (chunk.count, chunk.bytes) = (chunk.count + 1, chunk.bytes + block.bytes);
            if block.ends {
                break;
            }
        }
        (chunk.count > 0).then_some(chunk)
    }

    /// These are sent now. Returns whether the first one is for the first time.
    pub fn sends(&mut self, now: Time, chunk: Chunk, stats: &mut ArqStats) -> bool {
        let is_new = chunk.first == self.next;
        self.still.get_or_insert(now);
        for number in chunk.first..chunk.first + u64::from(chunk.count) {
            let Some(block) = self.block(number) else { continue };
            match block.state {
                State::Waiting(timed_out) => {
                    stats.repeated_blocks += 1;
                    stats.timed_out_blocks += u64::from(timed_out);
                }
                _ => {
                    stats.sent_blocks += 1;
                    block.first = now;
                }
            }
            (block.state, block.last) = (State::Outstanding, now);
            self.again.remove(&number);
            self.next = self.next.max(number + 1);
            self.retries.push_back((now + self.config.retry_timeout, number));
        }
        is_new
    }

    /// What is to be said to the receiver before anything else.
    pub fn order(&self) -> Option<Order> {
        if self.confirms {
            return Some(Order::Reset(Reset::Confirmation));
        }
        if let Some(telling) = self.reset {
            return (telling == Telling::Next).then_some(Order::Reset(Reset::Original));
        }
        let (block, _) = self.discard.filter(|(_, telling)| *telling == Telling::Next)?;
        Some(Order::Discard(block))
    }

    /// That is said now.
    pub fn says(&mut self, now: Time, order: Order) {
        match order {
            Order::Reset(Reset::Confirmation) => self.confirms = false,
            Order::Reset(_) => self.reset = Some(Telling::Again(now + T22)),
            Order::Discard(block) => {
                self.discard = Some((block, Telling::Again(now + self.config.retry_timeout)));
            }
        }
    }

    /// The receiver tells what it had when the feedback was made.
    pub fn hears(&mut self, now: Time, elements: &[Element], made: Time) {
        if self.reset.is_some() {
            return;
        }
        // What is not there before the last block that is has not come.
        let behind = |element: &Element| element.block + u64::from(64 - element.bits.leading_zeros());
        let end = elements.iter().map(behind).max().unwrap_or(0);
        for element in elements {
            if element.cumulative {
                (self.start..=element.block).for_each(|number| self.done(number));
            }
            let told = (MAP_BLOCKS * element.maps).min(end.saturating_sub(element.block));
            for number in 0..told {
                match element.bits >> number & 1 {
                    1 => self.done(element.block + number),
                    _ => self.is_missing(element.block + number, made),
                }
            }
        }
        self.advance(now);
    }

    fn done(&mut self, number: u64) {
        if let Some(block) = self.block(number) {
            block.state = State::Done;
            self.again.remove(&number);
        }
    }

    fn is_missing(&mut self, number: u64, made: Time) {
        if let Some(block) = self.block(number)
            && block.state == State::Outstanding
            && block.last < made
        {
            block.state = State::Waiting(false);
            self.again.insert(number);
        }
    }

    fn advance(&mut self, now: Time) {
        let before = self.start;
        while self.blocks.pop_front_if(|block| block.state == State::Done).is_some() {
            self.start += 1;
        }
        if self.start > before {
            self.still = (self.next > self.start).then_some(now);
            self.discard = self.discard.filter(|(block, _)| *block >= self.start);
        }
        self.next = self.next.max(self.start);
        let waits = |&mut (at, number): &mut (Time, u64)| {
            number.checked_sub(self.start).is_some_and(|place| {
                let block = self.blocks.get(place as usize);
                block.is_some_and(|block| {
                    block.state == State::Outstanding && block.last + self.config.retry_timeout == at
                })
            })
        };
        while self.retries.pop_front_if(|retry| !waits(retry)).is_some() {}
    }

    /// The first block that may still arrive, which was sent before all others.
    fn oldest(&self) -> Option<u64> {
        let tried = |block: &Block| matches!(block.state, State::Outstanding | State::Waiting(_));
        let place = self.blocks.iter().position(tried)?;
        Some(self.start + place as u64)
    }

    /// Gives up all up to the end of the packet of the oldest block, or of one that is not sent; returns
    /// behind which block, if there is any.
    pub fn give_up(&mut self, now: Time, stats: &mut ArqStats) -> Option<u64> {
        let from = self.oldest().or((self.next < self.end()).then_some(self.next))?;
        let mut number = from;
        loop {
            let block = self.block(number)?;
            let ends = block.ends;
            if block.state != State::Done {
                block.state = State::Discarded;
                stats.discarded_blocks += 1;
            }
            self.again.remove(&number);
            self.next = self.next.max(number + 1);
            if ends {
                break;
            }
            number += 1;
        }
        self.still.get_or_insert(now);
        self.discard = Some((number, Telling::Next));
        Some(number + 1)
    }

    /// When a timer expires, or the receiver is to be told something, again.
    pub fn deadline(&self) -> Option<Time> {
        if let Some(telling) = self.reset {
            return telling.again();
        }
        let retry = self.retries.front().map(|(at, _)| *at);
        let discard = self.discard.and_then(|(_, telling)| telling.again());
        retry.into_iter().chain(discard).chain(self.loses()).chain(self.dies()).min()
    }

    /// When synchronization is lost.
    fn loses(&self) -> Option<Time> {
        Some(self.still? + self.config.sync_loss_timeout?)
    }

    /// When the oldest block is given up.
    fn dies(&self) -> Option<Time> {
        let lifetime = self.config.block_lifetime?;
        let oldest = self.oldest()?;
        Some(self.blocks[(oldest - self.start) as usize].first + lifetime)
    }

    /// Timers may have expired; returns behind which block all are given up, if any are.
    pub fn expire(&mut self, now: Time, stats: &mut ArqStats) -> Option<u64> {
        if let Some(telling) = &mut self.reset {
            telling.expire(now);
            return None;
        }
        if self.loses().is_some_and(|at| at <= now) {
            self.reset = Some(Telling::Next);
            return None;
        }
        if let Some((_, telling)) = &mut self.discard {
            telling.expire(now);
        }
        let mut behind = None;
        while self.dies().is_some_and(|at| at <= now) {
            behind = self.give_up(now, stats);
        }
        while let Some((at, number)) = self.retries.front().copied().filter(|(at, _)| *at <= now) {
            self.retries.pop_front();
            let retry_timeout = self.config.retry_timeout;
            if let Some(block) = self.block(number)
                && block.state == State::Outstanding
                && block.last + retry_timeout == at
            {
                block.state = State::Waiting(true);
                self.again.insert(number);
            }
        }
        behind
    }

    /// The receiver has answered to a reset: everything begins anew. Whether one was under way.
    pub fn is_reset(&mut self) -> bool {
        if self.reset.is_none() {
            return false;
        }
        *self = Sender { confirms: true, ..Sender::new(self.config) };
        true
    }
}
