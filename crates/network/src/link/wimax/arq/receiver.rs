//! The receiver of blocks (IEEE Std 802.16-2004 clause 6.3.4.6.3): a machine without I/O.

use super::{Acknowledgement, ArqConfig, ArqStats, Element, MAP_BLOCKS, MOST_MAPS};
use roamsim_engine::Time;
use std::collections::VecDeque;
use std::ops::Range;

/// Blocks of a connection as their receiver knows them.
#[derive(Debug)]
pub(super) struct Receiver {
    config: ArqConfig,
    /// ARQ_RX_WINDOW_START: the first block that has not come.
    start: u64,
    /// Whether each from that one on has; the last is ARQ_RX_HIGHEST_BSN.
    ahead: VecDeque<bool>,
    /// Blocks that came before others, by when they are waited for no longer.
    purges: VecDeque<(Time, u64)>,
    /// Of which blocks the sender is to be told.
    news: Option<Range<u64>>,
}

impl Receiver {
    pub fn new(config: ArqConfig) -> Receiver {
        Receiver { config, start: 0, ahead: VecDeque::new(), purges: VecDeque::new(), news: None }
    }

    pub fn start(&self) -> u64 {
        self.start
    }

    /// Behind the last block that has come.
    fn end(&self) -> u64 {
        self.start + self.ahead.len() as u64
    }

    fn has(&self, number: u64) -> bool {
        match number.checked_sub(self.start) {
            None => true,
            Some(place) => self.ahead.get(place as usize).copied().unwrap_or(false),
        }
    }

    fn is_news(&mut self, blocks: Range<u64>) {
        self.news = Some(match self.news.take() {
            Some(before) => before.start.min(blocks.start)..before.end.max(blocks.end),
            None => blocks,
        });
    }

    /// A block comes; whether it is new.
    pub fn takes(&mut self, now: Time, number: u64, stats: &mut ArqStats) -> bool {
        self.is_news(number..number + 1);
        if self.has(number) {
            stats.duplicate_blocks += 1;
            return false;
        }
        let place = (number - self.start) as usize;
        if self.ahead.len() <= place {
            self.ahead.resize(place + 1, false);
        }
        self.ahead[place] = true;
        self.advance();
        if number >= self.start
            && let Some(timeout) = self.config.purge_timeout
        {
            self.purges.push_back((now + timeout, number));
        }
        true
    }

    fn advance(&mut self) {
        while self.ahead.pop_front_if(|has| *has).is_some() {
            self.start += 1;
        }
    }

    /// Nothing up to this block is waited for any longer. Returns how many had not come.
    fn passes(&mut self, number: u64) -> u64 {
        let mut missing = 0;
        let before = self.start;
        while self.start <= number {
            missing += u64::from(!self.ahead.pop_front().unwrap_or(false));
            self.start += 1;
        }
        self.advance();
        self.is_news(before.min(number)..number + 1);
        missing
    }

    /// The sender has given up all up to this block.
    pub fn discards(&mut self, number: u64) {
        self.passes(number);
    }

    pub fn deadline(&self) -> Option<Time> {
        self.purges.front().map(|(at, _)| *at)
    }

    /// ARQ_RX_PURGE_TIMEOUT of blocks may have expired.
    pub fn expire(&mut self, now: Time, stats: &mut ArqStats) {
        while let Some((_, number)) = self.purges.pop_front_if(|(at, _)| *at <= now) {
            if number >= self.start {
                stats.purged_blocks += self.passes(number);
            }
        }
    }

    /// Whether the sender is to be told of something.
    pub fn has_news(&self) -> bool {
        self.news.is_some()
    }

    /// Feedback for the sender, of at most so many octets. What there is no room for is told next time.
    pub fn feedback(&mut self, room_bytes: u32) -> Vec<Element> {
        let Some(news) = self.news.take() else { return Vec::new() };
        let mut elements = Vec::new();
        let cumulative = self.config.acknowledgement != Acknowledgement::Selective && self.start > 0;
        let maps = self.config.acknowledgement != Acknowledgement::Cumulative;
        if cumulative && !maps {
            elements.push(Element { block: self.start - 1, cumulative, maps: 0, bits: 0 });
        }
        let (from, end) = match cumulative {
            true => (self.start - 1, self.end().max(self.start)),
            false => (news.start.min(self.start), self.end()),
        };
        let mut left_bytes = room_bytes;
        let mut block = from;
        while maps && block < end {
            let told = (end - block).min(MAP_BLOCKS * MOST_MAPS);
            let bits = (0..told).fold(0, |bits, place| bits | u64::from(self.has(block + place)) << place);
            let cumulative = cumulative && block == from;
            let element = Element { block, cumulative, maps: told.div_ceil(MAP_BLOCKS), bits };
            let Some(left) = left_bytes.checked_sub(element.bytes()) else {
                self.is_news(block..end);
                break;
            };
            left_bytes = left;
            elements.push(element);
            block += told;
        }
        elements
    }
}
