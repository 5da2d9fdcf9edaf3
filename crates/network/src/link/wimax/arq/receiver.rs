//! The receiver of blocks (IEEE Std 802.16-2004 clause 6.3.4.6.3): a machine without I/O.

use super::{Acknowledgement, ArqConfig, ArqStats, Element, MAP_BLOCKS, MOST_MAPS, element_bytes};
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
    /// From which block on the last feedback had no room.
    rest: Option<u64>,
}

impl Receiver {
    pub fn new(config: ArqConfig) -> Receiver {
        Receiver { config, start: 0, ahead: VecDeque::new(), purges: VecDeque::new(), news: None, rest: None }
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

    /// The sender has given up all up to this block. Where feedback is of single blocks it is told of all
    /// that its window may have: it asks again until it knows of each, and feedback of those that came before
    /// may have been lost.
    pub fn discards(&mut self, number: u64) {
        self.passes(number);
        self.is_news((number + 1).saturating_sub(u64::from(self.config.window_blocks))..number + 1);
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

    /// Which blocks maps tell of, and whether the first of them stands for all before it: what is new, or
    /// else what there was no room for.
    fn mapped(&self) -> Option<(Range<u64>, bool)> {
        let cumulative = self.config.acknowledgement != Acknowledgement::Selective && self.start > 0;
        let end = self.end().max(self.start);
        match (&self.news, self.rest) {
            (Some(_), _) if cumulative => Some((self.start - 1..end, true)),
            (Some(news), _) => Some((news.start.min(self.start)..end, false)),
            (None, rest) => Some((rest?..end, false)),
        }
    }

    /// The octets of all elements that the sender is to be told.
    pub fn feedback_bytes(&self) -> u32 {
        let Some((blocks, cumulative)) = self.mapped() else { return 0 };
        if self.config.acknowledgement == Acknowledgement::Cumulative {
            return if cumulative { element_bytes(0) } else { 0 };
        }
        let maps = (blocks.end - blocks.start).div_ceil(MAP_BLOCKS);
        let whole = maps / MOST_MAPS;
        let last = maps % MOST_MAPS;
        whole as u32 * element_bytes(MOST_MAPS) + if last > 0 { element_bytes(last) } else { 0 }
    }

    /// Feedback for the sender, of at most so many octets. What there is no room for is told next time.
    pub fn feedback(&mut self, room_bytes: u32) -> Vec<Element> {
        let Some((blocks, cumulative)) = self.mapped() else { return Vec::new() };
        (self.news, self.rest) = (None, None);
        if self.config.acknowledgement == Acknowledgement::Cumulative {
            let element = Element { block: blocks.start, cumulative, maps: 0, bits: 0 };
            return cumulative.then_some(element).into_iter().collect();
        }
        let mut elements = Vec::new();
        let (mut left_bytes, mut block) = (room_bytes, blocks.start);
        while block < blocks.end {
            if left_bytes < element_bytes(1) {
                self.rest = Some(block);
                break;
            }
            let most_maps = MOST_MAPS.min(u64::from((left_bytes - element_bytes(0)) / 2));
            let told = (blocks.end - block).min(MAP_BLOCKS * most_maps);
            let bits = (0..told).fold(0, |bits, place| bits | u64::from(self.has(block + place)) << place);
            let cumulative = cumulative && block == blocks.start;
            let element = Element { block, cumulative, maps: told.div_ceil(MAP_BLOCKS), bits };
            left_bytes -= element.bytes();
            elements.push(element);
            block += told;
        }
        elements
    }
}
