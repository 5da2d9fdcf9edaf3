//! How a frame is laid out: units before, in and behind the maps, and when each begins and ends.

use super::phy::{BurstProfile, SymbolClock, Unit};
use super::pusc::Pusc;
use roamsim_engine::Span;

/// Symbols at the begin of each frame of OFDM: the long preamble and the frame control header (clause
/// 8.3.5.1).
const HEADER_SYMBOLS: u32 = 2 + 1;

/// Symbols of an opportunity for a bandwidth request in the full region of OFDM: preamble and one symbol of
/// BPSK 1/2 (clause 8.3.7.3.1), which has room for the request's header.
const REQUEST_SYMBOLS: u32 = 2;

/// Symbols of an opportunity for initial ranging in OFDM: long preamble, RNG-REQ in two symbols of BPSK 1/2,
/// and one for the way of those that have not adjusted their timing yet (chosen: 50 us are 7.5 km there and
/// back).
const RANGING_SYMBOLS: u32 = 2 + 2 + 1;

/// How the time of a frame is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameLayout {
    /// The clock of its symbols.
    pub clock: SymbolClock,
    /// From one frame to the next.
    pub duration: Span,
    /// Symbols of the downlink subframe, preamble included.
    pub downlink_symbols: u32,
    /// Symbols of the uplink subframe.
    pub uplink_symbols: u32,
    /// The gap between the two (TTG).
    pub transmit_gap: Span,
    /// The gap at the end of the frame (RTG), at least.
    pub receive_gap: Span,
    /// The slots of OFDMA; `None`: OFDM.
    pub pusc: Option<Pusc>,
}

impl FrameLayout {
    /// A frame of OFDM with this share of its symbols for the downlink, rounded down. Gaps that leave no time
    /// leave no symbols.
    pub fn new(
        clock: SymbolClock,
        duration: Span,
        transmit_gap: Span,
        receive_gap: Span,
        downlink_share: f64,
    ) -> FrameLayout {
        let time = duration.saturating_sub(transmit_gap).saturating_sub(receive_gap);
        let symbols = clock.symbols_within(time);
        let downlink_symbols = (f64::from(symbols) * downlink_share.clamp(0.0, 1.0)) as u32;
        let uplink_symbols = symbols - downlink_symbols;
        let pusc = None;
        FrameLayout { clock, duration, downlink_symbols, uplink_symbols, transmit_gap, receive_gap, pusc }
    }

    /// The same symbols with these slots.
    pub fn with_slots(self, pusc: Pusc) -> FrameLayout {
        FrameLayout { pusc: Some(pusc), ..self }
    }

    /// What its bursts are made of.
    pub fn unit(&self) -> Unit {
        if self.pusc.is_some() { Unit::Slot } else { Unit::Symbol }
    }

    /// Its burst profiles, the most robust first.
    pub fn profiles(&self) -> &'static [BurstProfile] {
        self.unit().profiles()
    }

    /// Units of the downlink subframe, those of the header included.
    pub fn downlink_units(&self) -> u32 {
        self.pusc.map_or(self.downlink_symbols, |pusc| pusc.downlink_slots(self.downlink_symbols))
    }

    /// Units of the uplink subframe.
    pub fn uplink_units(&self) -> u32 {
        self.pusc.map_or(self.uplink_symbols, |pusc| pusc.uplink_slots(self.uplink_symbols))
    }

    /// Units before the maps.
    pub fn header_units(&self) -> u32 {
        self.pusc.map_or(HEADER_SYMBOLS, |_| Pusc::HEADER_SLOTS)
    }

    /// Units of so many opportunities for requests.
    pub fn request_units(&self, count: u32) -> u32 {
        match self.pusc {
            None => count.saturating_mul(REQUEST_SYMBOLS),
            Some(_) => Pusc::region_slots(count.saturating_mul(Pusc::REQUEST_SYMBOLS)),
        }
    }

    /// Units of so many opportunities for initial ranging.
    pub fn ranging_units(&self, count: u32) -> u32 {
        match self.pusc {
            None => count.saturating_mul(RANGING_SYMBOLS),
            Some(_) => Pusc::region_slots(count.saturating_mul(Pusc::RANGING_SYMBOLS)),
        }
    }

    /// Symbols that an opportunity for a request lasts.
    pub fn request_symbols(&self) -> u32 {
        self.pusc.map_or(REQUEST_SYMBOLS, |_| Pusc::REQUEST_SYMBOLS)
    }

    /// Symbols that an opportunity for initial ranging lasts.
    pub fn ranging_symbols(&self) -> u32 {
        self.pusc.map_or(RANGING_SYMBOLS, |_| Pusc::RANGING_SYMBOLS)
    }

    /// Symbols of a preamble that is in no unit.
    pub fn preamble_symbols(&self) -> u32 {
        self.pusc.map_or(0, |_| Pusc::PREAMBLE_SYMBOLS)
    }

    /// The symbols of a unit; with slots, its share of them.
    pub fn unit_symbols(&self, uplink: bool) -> f64 {
        self.pusc.map_or(1.0, |pusc| {
            let (symbols, subchannels) = pusc.slot(uplink);
            f64::from(symbols) / f64::from(subchannels)
        })
    }

    /// When the uplink subframe begins, from the begin of the frame.
    pub fn uplink_offset(&self) -> Span {
        self.clock.symbols(self.downlink_symbols) + self.transmit_gap
    }

    /// The airtime of octets in bursts of a profile. In OFDMA it is that of the whole channel, which slots
    /// share.
    pub fn airtime(&self, bytes: u32, profile: BurstProfile, uplink: bool) -> Span {
        let unit_bytes = self.unit().bytes(profile);
        match self.pusc {
            None => self.clock.share(bytes, 1, unit_bytes),
            Some(pusc) => {
                let (symbols, subchannels) = pusc.slot(uplink);
                self.clock.share(bytes, symbols, subchannels * unit_bytes)
            }
        }
    }
}

/// The times of units of a layout, worked out once: a division each otherwise.
#[derive(Debug)]
pub(super) struct UnitTimes {
    clock: SymbolClock,
    /// See [`FrameLayout::uplink_offset`].
    pub uplink_offset: Span,
    /// Times of 0, 1, 2, ... symbols, up to the longer subframe.
    symbols: Vec<Span>,
    /// Slots of OFDMA, and how many of them follow each other in time on the uplink.
    pusc: Option<(Pusc, u32)>,
}

impl UnitTimes {
    pub fn new(layout: &FrameLayout) -> UnitTimes {
        let longer = layout.downlink_symbols.max(layout.uplink_symbols);
        let symbols = (0..=longer).map(|count| layout.clock.symbols(count)).collect();
        let pusc = layout.pusc.map(|pusc| (pusc, Pusc::columns(layout.uplink_symbols)));
        UnitTimes { clock: layout.clock, uplink_offset: layout.uplink_offset(), symbols, pusc }
    }

    /// The time of symbols.
    pub fn symbols(&self, count: u32) -> Span {
        match self.symbols.get(count as usize) {
            Some(time) => *time,
            None => self.clock.symbols(count),
        }
    }

    /// The end of the first units of the downlink, from the begin of the frame.
    pub fn downlink_end(&self, units: u32) -> Span {
        match self.pusc {
            None => self.symbols(units),
            Some((pusc, _)) => self.symbols(pusc.downlink_end(units)),
        }
    }

    /// The begin of a burst behind these units, from the begin of the uplink.
    pub fn uplink_begin(&self, first: u32, units: u32) -> Span {
        match self.pusc {
            None => self.symbols(first),
            Some((_, columns)) => self.symbols(Pusc::uplink_begin(columns, first, units)),
        }
    }

    /// When octets of a burst are over, from one up to another, whose first unit is `data`, from the begin of
    /// the uplink.
    pub fn uplink_end(&self, data: u32, (from, to): (u32, u32), unit_bytes: u32) -> Span {
        let end = data + to.div_ceil(unit_bytes);
        match self.pusc {
            None => self.symbols(end),
            Some((_, columns)) => self.symbols(Pusc::uplink_end(columns, data + from / unit_bytes, end)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::phy::CyclicPrefix;
    use super::*;

    #[test]
    fn a_frame_has_whole_symbols_between_its_gaps() {
        let gap = Span::from_us(100);
        let clock = SymbolClock::new(5_000_000, CyclicPrefix::Eighth).expect("a bandwidth of the standard");
        // (5000 - 200) / 50 = 96.
        let half = FrameLayout::new(clock, Span::from_ms(5), gap, gap, 0.5);
        assert_eq!((half.downlink_symbols, half.uplink_symbols), (48, 48));
        assert_eq!(half.uplink_offset(), Span::from_us(2500));
        // 190 us less leave room for 99.8 symbols; three quarters of 99 are 74.
        let most = FrameLayout::new(clock, Span::from_ms(5), Span::from_us(5), Span::from_us(5), 0.75);
        assert_eq!((most.downlink_symbols, most.uplink_symbols), (74, 25));
        let none = FrameLayout::new(clock, Span::from_ms(5), Span::from_ms(3), Span::from_ms(3), 0.5);
        assert_eq!((none.downlink_symbols, none.uplink_symbols), (0, 0));
    }
}
