//! The radio resource of an RFP: carriers by slot pairs by halves, and which of these units are occupied.
//!
//! 10 carriers of 24 slots make 120 duplex channels of a full slot (ETS 300 175-2 clauses 4.1 and 4.2). A
//! unit is half of a slot pair: a half slot takes one, a full slot both of a pair, a double slot those of
//! pairs 2k and 2k + 1. A channel is named by its first unit.

use super::config::TerminalType;

/// Slot pairs of a carrier: 24 slots, half of them each way (ETS 300 175-2 clause 4.2).
pub const SLOT_PAIRS: u32 = 12;
/// Units of a carrier.
pub const UNITS_PER_CARRIER: u32 = 2 * SLOT_PAIRS;
/// The most carriers (ETS 300 175-2 clause 4.1.1).
pub const MAX_CARRIERS: u32 = 10;

/// The number of a unit.
pub const fn unit(carrier: u32, slot_pair: u32, half: u32) -> u32 {
    (carrier * SLOT_PAIRS + slot_pair) * 2 + half
}

/// A set of units of one RFP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnitSet([u64; 4]);

impl UnitSet {
    /// No unit.
    pub const EMPTY: UnitSet = UnitSet([0; 4]);

    /// The units `first..first + count`, all of one word: channels begin at a multiple of their width.
    #[inline]
    fn run(first: u32, count: u32) -> UnitSet {
        let mut set = UnitSet::EMPTY;
        set.0[(first / 64) as usize] = ((1u64 << count) - 1) << (first % 64);
        set
    }

    #[inline]
    fn map2(self, other: UnitSet, f: impl Fn(u64, u64) -> u64) -> UnitSet {
        UnitSet(std::array::from_fn(|i| f(self.0[i], other.0[i])))
    }

    /// Those in either.
    #[inline]
    pub fn union(self, other: UnitSet) -> UnitSet {
        self.map2(other, |a, b| a | b)
    }

    /// Those in both.
    #[inline]
    pub fn intersection(self, other: UnitSet) -> UnitSet {
        self.map2(other, |a, b| a & b)
    }

    /// Those not in `other`.
    #[inline]
    pub fn without(self, other: UnitSet) -> UnitSet {
        self.map2(other, |a, b| a & !b)
    }

    /// Whether any is in both.
    #[inline]
    pub fn intersects(self, other: UnitSet) -> bool {
        self.intersection(other) != UnitSet::EMPTY
    }

    /// How many.
    #[inline]
    pub fn len(self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// Whether there is none.
    #[inline]
    pub fn is_empty(self) -> bool {
        self == UnitSet::EMPTY
    }

    /// Whether `unit` is one of them.
    pub fn contains(self, unit: u32) -> bool {
        self.0[(unit / 64) as usize] >> (unit % 64) & 1 == 1
    }

    /// The `n`-th in ascending order, from 0; there must be more than `n`.
    #[inline]
    pub fn nth(self, mut n: u32) -> u32 {
        for (i, &word) in self.0.iter().enumerate() {
            let ones = word.count_ones();
            if n < ones {
                let mut rest = word;
                for _ in 0..n {
                    rest &= rest - 1;
                }
                return i as u32 * 64 + rest.trailing_zeros();
            }
            n -= ones;
        }
        unreachable!("the set has more than n units")
    }

    /// Each word through `f`, those without a unit left out.
    #[inline]
    pub(super) fn map_words(self, mut f: impl FnMut(u64) -> u64) -> UnitSet {
        UnitSet(self.0.map(|word| if word == 0 { 0 } else { f(word) }))
    }
}

/// How much of a slot a bearer takes (ETS 300 175-2 clause 4.2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotFormat {
    /// 240 bits: physical packet P08j.
    Half,
    /// 480 bits: physical packet P32.
    Full,
    /// 960 bits: physical packet P80.
    Double,
}

impl SlotFormat {
    /// That of a terminal's bearers.
    #[inline]
    pub fn of(kind: TerminalType) -> SlotFormat {
        match kind {
            TerminalType::P08j => SlotFormat::Half,
            TerminalType::P32 | TerminalType::Data | TerminalType::User => SlotFormat::Full,
            TerminalType::P80 => SlotFormat::Double,
        }
    }

    /// Units of a channel.
    #[inline]
    pub fn width(self) -> u32 {
        match self {
            SlotFormat::Half => 1,
            SlotFormat::Full => 2,
            SlotFormat::Double => 4,
        }
    }

    /// First units of all channels of an RFP with so many carriers.
    pub fn channels(self, carriers: u32) -> UnitSet {
        let mut set = UnitSet::EMPTY;
        for first in (0..carriers.min(MAX_CARRIERS) * UNITS_PER_CARRIER).step_by(self.width() as usize) {
            set = set.union(UnitSet::run(first, 1));
        }
        set
    }

    /// The units of the channel that begins at `first`.
    #[inline]
    pub fn units(self, first: u32) -> UnitSet {
        UnitSet::run(first, self.width())
    }

    /// First units of the channels of which any unit is in `occupied`.
    #[inline]
    pub fn touched(self, occupied: UnitSet) -> UnitSet {
        // A channel lies in one word, because its width divides 64.
        UnitSet(occupied.0.map(|word| match self {
            SlotFormat::Half => word,
            SlotFormat::Full => (word | word >> 1) & 0x5555_5555_5555_5555,
            SlotFormat::Double => (word | word >> 1 | word >> 2 | word >> 3) & 0x1111_1111_1111_1111,
        }))
    }
}

/// A duplex channel of an RFP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Channel {
    /// Which RFP, from 0.
    pub rfp: u8,
    /// Its first unit.
    pub first_unit: u8,
    /// Its width.
    pub format: SlotFormat,
}

impl Channel {
    /// Its carrier, from 0.
    pub fn carrier(self) -> u32 {
        u32::from(self.first_unit) / UNITS_PER_CARRIER
    }

    /// Its (first) slot pair, from 0.
    pub fn slot_pair(self) -> u32 {
        u32::from(self.first_unit) % UNITS_PER_CARRIER / 2
    }

    /// Its units.
    #[inline]
    pub fn units(self) -> UnitSet {
        self.format.units(u32::from(self.first_unit))
    }

    /// The units of its slot pairs, on all carriers.
    pub fn slot_pair_units(self) -> UnitSet {
        let first_pair = self.slot_pair();
        let pairs = self.format.width().div_ceil(2);
        let mut set = UnitSet::EMPTY;
        for carrier in 0..MAX_CARRIERS {
            set = set.union(UnitSet::run(unit(carrier, first_pair, 0), 2 * pairs));
        }
        set
    }
}

/// The occupancy of every RFP: their tables are independent.
#[derive(Clone, Debug)]
pub struct RadioResource {
    occupied: Vec<UnitSet>,
}

impl RadioResource {
    /// All idle.
    pub fn new(rfps: u32) -> RadioResource {
        RadioResource { occupied: vec![UnitSet::EMPTY; rfps as usize] }
    }

    /// What is occupied at an RFP.
    #[inline]
    pub fn occupied(&self, rfp: u8) -> UnitSet {
        self.occupied[usize::from(rfp)]
    }

    /// Reserves an idle channel.
    #[inline]
    pub fn reserve(&mut self, channel: Channel) {
        let occupied = &mut self.occupied[usize::from(channel.rfp)];
        debug_assert!(!occupied.intersects(channel.units()), "{channel:?} is taken");
        *occupied = occupied.union(channel.units());
    }

    /// Releases a reserved channel.
    #[inline]
    pub fn release(&mut self, channel: Channel) {
        let occupied = &mut self.occupied[usize::from(channel.rfp)];
        debug_assert!(channel.units().without(*occupied).is_empty(), "{channel:?} is idle");
        *occupied = occupied.without(channel.units());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_numbered_by_carrier_pair_and_half() {
        assert_eq!(unit(0, 0, 0), 0);
        assert_eq!(unit(0, 0, 1), 1);
        assert_eq!(unit(0, 11, 1), 23);
        assert_eq!(unit(1, 0, 0), 24);
        // (4 * 12 + 7) * 2 + 1.
        assert_eq!(unit(4, 7, 1), 111);
        assert_eq!(unit(9, 11, 1), 239);
        let channel = Channel { rfp: 0, first_unit: 110, format: SlotFormat::Full };
        assert_eq!((channel.carrier(), channel.slot_pair()), (4, 7));
    }

    #[test]
    fn an_rfp_has_240_120_and_60_channels() {
        let counts = [SlotFormat::Half, SlotFormat::Full, SlotFormat::Double].map(|f| f.channels(10).len());
        assert_eq!(counts, [240, 120, 60]);
        assert_eq!(SlotFormat::Full.channels(1).len(), 12);
    }

    #[test]
    fn one_occupied_half_slot_reserves_the_wider_channels_around_it() {
        // The second half of carrier 2, pair 5: unit 59. Its full slot begins at 58; pairs 4 and 5 begin
        // at 56.
        let occupied = SlotFormat::Half.units(unit(2, 5, 1));
        let reserved = |format: SlotFormat| {
            let set = format.touched(occupied);
            (set.len(), set.nth(0))
        };
        assert_eq!(reserved(SlotFormat::Half), (1, 59));
        assert_eq!(reserved(SlotFormat::Full), (1, 58));
        assert_eq!(reserved(SlotFormat::Double), (1, 56));
        // A double slot reserves 4 half slots, 2 full slots, 1 double slot.
        let double = SlotFormat::Double.units(56);
        let touched =
            [SlotFormat::Half, SlotFormat::Full, SlotFormat::Double].map(|f| f.touched(double).len());
        assert_eq!(touched, [4, 2, 1]);
    }

    #[test]
    fn the_nth_unit_is_found_across_words() {
        let set = [3, 63, 64, 130, 239].iter().fold(UnitSet::EMPTY, |set, &u| set.union(UnitSet::run(u, 1)));
        assert_eq!([0, 1, 2, 3, 4].map(|n| set.nth(n)), [3, 63, 64, 130, 239]);
    }

    #[test]
    fn a_slot_pair_has_two_units_on_each_carrier() {
        let full = Channel { rfp: 0, first_unit: unit(3, 7, 0) as u8, format: SlotFormat::Full };
        let set = full.slot_pair_units();
        assert_eq!(set.len(), 20);
        assert!(set.contains(unit(0, 7, 0)) && set.contains(unit(9, 7, 1)) && !set.contains(unit(3, 8, 0)));
        let double = Channel { rfp: 0, first_unit: unit(3, 6, 0) as u8, format: SlotFormat::Double };
        assert_eq!(double.slot_pair_units().len(), 40);
    }
}
