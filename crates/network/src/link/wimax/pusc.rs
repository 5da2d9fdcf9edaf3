//! WirelessMAN-OFDMA with PUSC (IEEE Std 802.16e-2005 clause 8.4): slots.
//!
//! A slot has 48 data subcarriers: on the downlink a subchannel for two symbols, on the uplink one for three
//! (clause 8.4.3.1). The downlink begins with a symbol of preamble; its slots follow each other over all
//! subchannels and then in time, those of the uplink in time and then over subchannels (clause 8.4.3.4). The
//! first four slots have the frame control header, DLFP in QPSK 1/2 four times (clause 8.4.4.3).
//!
//! A ranging channel is six subchannels (clause 8.4.7). In it stations send codes: two symbols for initial
//! ranging, one for a request. Who sends the same code at once as another is not heard; those that send
//! different codes are.
//!
//! Not modelled: bursts as rectangles, and the slots which that leaves unused on the downlink; segments;
//! zones of other permutations; powers and interference of codes; 64-QAM 1/2, which carries no more than
//! 16-QAM 3/4; codes of turbo and LDPC, and 64-QAM 5/6 with them.

use super::phy::{BurstProfile, CyclicPrefix, SymbolClock, Unit};
use roamsim_engine::Span;

/// Slots, and codes in place of contention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pusc {
    /// Subchannels of the downlink, and of the uplink.
    pub downlink_subchannels: u32,
    /// See `downlink_subchannels`.
    pub uplink_subchannels: u32,
    /// How often the burst of the maps is repeated, itself included (clause 8.4.9): 1, 2, 4 or 6.
    pub map_repetition: u32,
    /// Codes for bandwidth requests, and for initial ranging.
    pub codes: [u32; 2],
}

/// Frame durations (IEEE Std 802.16e-2005 table 274).
pub const FRAME_DURATIONS: [Span; 8] = [
    Span::from_ms(2),
    Span::from_us(2500),
    Span::from_ms(4),
    Span::from_ms(5),
    Span::from_ms(8),
    Span::from_ms(10),
    Span::from_us(12_500),
    Span::from_ms(20),
];

/// Sampling factors by the bandwidth that the channel is a multiple of, in hertz (clause 8.4.2.3): the first
/// that fits.
const SAMPLING_FACTORS: [(u64, u64, u64); 5] =
    [(1_750_000, 8, 7), (1_250_000, 28, 25), (1_500_000, 28, 25), (2_000_000, 28, 25), (2_750_000, 28, 25)];

/// Symbols of a slot, on the downlink and on the uplink.
const DOWNLINK_SLOT_SYMBOLS: u32 = 2;
const UPLINK_SLOT_SYMBOLS: u32 = 3;

/// Subchannels of a ranging channel.
const RANGING_SUBCHANNELS: u32 = 6;

impl Pusc {
    /// The preamble of a frame.
    pub(super) const PREAMBLE_SYMBOLS: u32 = 1;
    /// Slots of the frame control header.
    pub(super) const HEADER_SLOTS: u32 = 4;
    /// Symbols in which a code asks for bandwidth (clause 8.4.7.3).
    pub(super) const REQUEST_SYMBOLS: u32 = 1;
    /// Symbols in which a code begins initial ranging (clause 8.4.7.2).
    pub(super) const RANGING_SYMBOLS: u32 = 2;

    /// Those of so many subcarriers, 512 or 1024 (clauses 8.4.6.1.2.1, 8.4.6.2.1: tables 311 and 313); `None`
    /// for others.
    pub fn of(subcarriers: u32, map_repetition: u32, codes: [u32; 2]) -> Option<Pusc> {
        let (downlink_subchannels, uplink_subchannels) = match subcarriers {
            512 => (15, 17),
            1024 => (30, 35),
            _ => return None,
        };
        Some(Pusc { downlink_subchannels, uplink_subchannels, map_repetition, codes })
    }

    /// The clock of a channel; `None` for a bandwidth that is a multiple of none of them: its sampling
    /// factor, 8/7, is not modelled.
    pub fn clock(bandwidth_hz: u64, subcarriers: u32, prefix: CyclicPrefix) -> Option<SymbolClock> {
        SymbolClock::by(&SAMPLING_FACTORS, bandwidth_hz, subcarriers, prefix)
    }

    /// Slots of a downlink subframe, of which the first symbol is the preamble.
    pub fn downlink_slots(self, symbols: u32) -> u32 {
        symbols.saturating_sub(Pusc::PREAMBLE_SYMBOLS) / DOWNLINK_SLOT_SYMBOLS * self.downlink_subchannels
    }

    /// Slots of an uplink subframe.
    pub fn uplink_slots(self, symbols: u32) -> u32 {
        Pusc::columns(symbols) * self.uplink_subchannels
    }

    /// Slots that follow each other in time on the uplink.
    pub(super) fn columns(symbols: u32) -> u32 {
        symbols / UPLINK_SLOT_SYMBOLS
    }

    /// Slots of a ranging channel of so many symbols.
    pub(super) fn region_slots(symbols: u32) -> u32 {
        symbols.div_ceil(UPLINK_SLOT_SYMBOLS).saturating_mul(RANGING_SUBCHANNELS)
    }

    /// Symbols of a slot, and subchannels beside each other.
    pub(super) fn slot(self, uplink: bool) -> (u32, u32) {
        match uplink {
            false => (DOWNLINK_SLOT_SYMBOLS, self.downlink_subchannels),
            true => (UPLINK_SLOT_SYMBOLS, self.uplink_subchannels),
        }
    }

    /// Symbols of a downlink subframe after which its first slots are over.
    pub(super) fn downlink_end(self, slots: u32) -> u32 {
        Pusc::PREAMBLE_SYMBOLS + slots.div_ceil(self.downlink_subchannels) * DOWNLINK_SLOT_SYMBOLS
    }

    /// The symbol of an uplink subframe with which a burst of slots begins: one that goes on in another
    /// subchannel has that one's first.
    pub(super) fn uplink_begin(columns: u32, first: u32, slots: u32) -> u32 {
        let columns = columns.max(1);
        let last = (first + slots).saturating_sub(1).max(first);
        if first / columns == last / columns { first % columns * UPLINK_SLOT_SYMBOLS } else { 0 }
    }

    /// The symbols after which the slots from one up to another are over: where they go on in another
    /// subchannel, all.
    pub(super) fn uplink_end(columns: u32, from: u32, to: u32) -> u32 {
        let columns = columns.max(1);
        let last = to.saturating_sub(1).max(from);
        let column = if from / columns == last / columns { last % columns } else { columns - 1 };
        (column + 1) * UPLINK_SLOT_SYMBOLS
    }

    /// Slots of the burst with the maps, of so many octets.
    pub(super) fn map_slots(self, bytes: u32) -> u32 {
        Unit::Slot.burst_units(BurstProfile::Qpsk12, bytes).saturating_mul(self.map_repetition)
    }

    /// The octets of maps in so many slots.
    pub(super) fn map_bytes(self, slots: u32) -> u32 {
        Unit::Slot.burst_bytes(BurstProfile::Qpsk12, slots / self.map_repetition.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_megahertz_have_420_slots_in_28_symbols_and_175_in_15() {
        let pusc = Pusc::of(1024, 4, [32, 32]).expect("1024 subcarriers");
        // A symbol of preamble comes before 28 of data.
        assert_eq!((pusc.downlink_slots(29), pusc.uplink_slots(15)), (420, 175));
        // What is no whole slot is left.
        assert_eq!((pusc.downlink_slots(30), pusc.uplink_slots(17)), (420, 175));
        let narrow = Pusc::of(512, 4, [32, 32]).expect("512 subcarriers");
        assert_eq!((narrow.downlink_slots(29), narrow.uplink_slots(15)), (210, 85));
        assert_eq!(Pusc::of(256, 4, [32, 32]), None);
    }

    #[test]
    fn symbols_of_ten_and_five_megahertz_last_as_long() {
        // 28/25 of 10 MHz are 11.2 MHz: 1024 samples take 91.43 us, and an eighth more 102.86. Half of both
        // is the same.
        let clock = |khz: u64, subcarriers| {
            Pusc::clock(khz * 1000, subcarriers, CyclicPrefix::Eighth).expect("a bandwidth of the standard")
        };
        let (wide, narrow) = (clock(10_000, 1024), clock(5000, 512));
        assert_eq!((wide.sampling_hz(), narrow.sampling_hz()), (11_200_000, 5_600_000));
        assert_eq!((wide.symbols(1), narrow.symbols(1)), (Span::from_ns(102_857), Span::from_ns(102_857)));
        // 44 symbols: 1 + 28 and 15.
        assert_eq!(wide.symbols(44), Span::from_ns(4_525_714));
        // 8/7 of 8.75 and 7 MHz: 10 and 8 MHz.
        assert_eq!(
            (clock(8750, 1024).sampling_hz(), clock(7000, 1024).sampling_hz()),
            (10_000_000, 8_000_000)
        );
        assert_eq!(Pusc::clock(5_100_000, 512, CyclicPrefix::Eighth), None);
    }

    #[test]
    fn slots_go_over_subchannels_on_the_downlink_and_in_time_on_the_uplink() {
        let pusc = Pusc::of(1024, 4, [32, 32]).expect("1024 subcarriers");
        // Thirty slots beside each other in two symbols, behind the preamble.
        assert_eq!([1, 30, 31, 420].map(|slots| pusc.downlink_end(slots)), [3, 3, 5, 29]);
        // Five behind each other: the third of a subchannel begins with symbol 6; who needs a second
        // subchannel begins with it.
        assert_eq!(Pusc::uplink_begin(5, 2, 3), 6);
        assert_eq!(Pusc::uplink_begin(5, 2, 4), 0);
        assert_eq!(Pusc::uplink_begin(5, 5, 1), 0);
        // Slots 5 and 6 end with symbol 6, slot 4 and what goes on behind it with the last.
        assert_eq!(Pusc::uplink_end(5, 5, 7), 6);
        assert_eq!(Pusc::uplink_end(5, 4, 5), 15);
        assert_eq!(Pusc::uplink_end(5, 4, 6), 15);
    }

    #[test]
    fn regions_of_codes_are_whole_slots_of_six_subchannels() {
        // Three requests of a symbol each in one column; two rangings of two symbols in two.
        assert_eq!((Pusc::region_slots(3), Pusc::region_slots(4)), (6, 12));
        let pusc = Pusc::of(1024, 4, [32, 32]).expect("1024 subcarriers");
        // 61 octets are eleven slots of 6, four times.
        assert_eq!((pusc.map_slots(61), pusc.map_bytes(44), pusc.map_bytes(47)), (44, 66, 66));
    }
}
