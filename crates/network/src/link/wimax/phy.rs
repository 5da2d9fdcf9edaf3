//! Symbols and burst profiles: WirelessMAN-OFDM (IEEE Std 802.16-2004 clause 8.3),
//! and what it has in common with WirelessMAN-OFDMA ([`super::pusc`]).
//!
//! What the MAC hands out are *units*: symbols of OFDM, slots of OFDMA. How many a subframe has, what each
//! carries, and when it begins and ends is said here and there, and nowhere else.

use roamsim_engine::Span;

/// A burst profile: modulation and rate of the code. OFDM has the concatenated Reed-Solomon and convolutional
/// code (clause 8.3.3.2.1), OFDMA a convolutional one (IEEE Std 802.16e-2005 clause 8.4.9.2), and no BPSK.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BurstProfile {
    /// BPSK, rate 1/2.
    Bpsk12,
    /// QPSK, rate 1/2.
    Qpsk12,
    /// QPSK, rate 3/4.
    Qpsk34,
    /// 16-QAM, rate 1/2.
    Qam16R12,
    /// 16-QAM, rate 3/4.
    Qam16R34,
    /// 64-QAM, rate 2/3.
    Qam64R23,
    /// 64-QAM, rate 3/4.
    Qam64R34,
}

/// How many there are.
pub(super) const PROFILES: usize = BurstProfile::ALL.len();

impl BurstProfile {
    /// All, the most robust first.
    pub const ALL: [BurstProfile; 7] = [
        BurstProfile::Bpsk12,
        BurstProfile::Qpsk12,
        BurstProfile::Qpsk34,
        BurstProfile::Qam16R12,
        BurstProfile::Qam16R34,
        BurstProfile::Qam64R23,
        BurstProfile::Qam64R34,
    ];
}

/// What bursts are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A symbol of OFDM, with 192 data subcarriers.
    Symbol,
    /// A slot of OFDMA, with 48.
    Slot,
}

impl Unit {
    /// The burst profiles that there are, the most robust first.
    pub fn profiles(self) -> &'static [BurstProfile] {
        match self {
            Unit::Symbol => &BurstProfile::ALL,
            Unit::Slot => &BurstProfile::ALL[1..],
        }
    }

    /// Octets of one before coding (table 215; IEEE Std 802.16e-2005 table 324).
    pub const fn bytes(self, profile: BurstProfile) -> u32 {
        let of_symbol = match profile {
            BurstProfile::Bpsk12 => 12,
            BurstProfile::Qpsk12 => 24,
            BurstProfile::Qpsk34 => 36,
            BurstProfile::Qam16R12 => 48,
            BurstProfile::Qam16R34 => 72,
            BurstProfile::Qam64R23 => 96,
            BurstProfile::Qam64R34 => 108,
        };
        match self {
            Unit::Symbol => of_symbol,
            Unit::Slot => of_symbol / 4,
        }
    }

    /// Octets of a burst that end its code: in OFDM the last one is its zero tail (clause 8.3.3.2.1); in
    /// OFDMA the code bites its tail.
    const fn tail_bytes(self) -> u32 {
        match self {
            Unit::Symbol => 1,
            Unit::Slot => 0,
        }
    }

    /// Octets of MAC PDUs in a burst of so many.
    pub const fn burst_bytes(self, profile: BurstProfile, units: u32) -> u32 {
        (units * self.bytes(profile)).saturating_sub(self.tail_bytes())
    }

    /// How many a burst has that has room for so many octets.
    pub const fn burst_units(self, profile: BurstProfile, bytes: u32) -> u32 {
        (bytes + self.tail_bytes()).div_ceil(self.bytes(profile))
    }

    /// How many come before the data of an uplink burst: in OFDM the short preamble (clause 8.3.5.1); slots
    /// have pilots of their own.
    pub const fn preamble(self) -> u32 {
        match self {
            Unit::Symbol => 1,
            Unit::Slot => 0,
        }
    }
}

/// The cyclic prefix of a symbol: its length over that of the useful part (table 213).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CyclicPrefix {
    /// 1/4.
    Quarter,
    /// 1/8.
    Eighth,
    /// 1/16.
    Sixteenth,
    /// 1/32.
    ThirtySecond,
}

impl CyclicPrefix {
    const fn denominator(self) -> u128 {
        match self {
            CyclicPrefix::Quarter => 4,
            CyclicPrefix::Eighth => 8,
            CyclicPrefix::Sixteenth => 16,
            CyclicPrefix::ThirtySecond => 32,
        }
    }
}

/// Frame durations of TDD (table 230).
pub const FRAME_DURATIONS: [Span; 7] = [
    Span::from_us(2500),
    Span::from_ms(4),
    Span::from_ms(5),
    Span::from_ms(8),
    Span::from_ms(10),
    Span::from_us(12_500),
    Span::from_ms(20),
];

/// Sampling factors of OFDM by the bandwidth that the channel is a multiple of, in hertz (table 213): the
/// first that fits.
const SAMPLING_FACTORS: [(u64, u64, u64); 5] = [
    (1_750_000, 8, 7),
    (1_500_000, 86, 75),
    (1_250_000, 144, 125),
    (2_750_000, 316, 275),
    (2_000_000, 57, 50),
];

/// The length of a symbol: sampling frequency and cyclic prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SymbolClock {
    sampling_hz: u64,
    /// Samples of the useful part.
    samples: u32,
    prefix: CyclicPrefix,
}

/// Subcarriers of OFDM (clause 8.3.2.4).
const OFDM_SUBCARRIERS: u32 = 256;

impl SymbolClock {
    /// That of a channel of OFDM; `None` for a bandwidth that is a multiple of none in the table: its
    /// sampling factor, 8/7, is not modelled.
    pub fn new(bandwidth_hz: u64, prefix: CyclicPrefix) -> Option<SymbolClock> {
        SymbolClock::by(&SAMPLING_FACTORS, bandwidth_hz, OFDM_SUBCARRIERS, prefix)
    }

    /// The same by sampling factors, and of so many subcarriers.
    pub(super) fn by(
        factors: &[(u64, u64, u64)],
        bandwidth_hz: u64,
        samples: u32,
        prefix: CyclicPrefix,
    ) -> Option<SymbolClock> {
        let fits = |&&(of_hz, ..): &&(u64, u64, u64)| bandwidth_hz > 0 && bandwidth_hz.is_multiple_of(of_hz);
        let &(_, up, down) = factors.iter().find(fits)?;
        // Fs = floor(n BW / 8000) 8000 (clause 8.3.2.2).
        let sampling_hz = up.checked_mul(bandwidth_hz)? / (down * 8000) * 8000;
        (sampling_hz > 0).then_some(SymbolClock { sampling_hz, samples, prefix })
    }

    /// The sampling frequency.
    pub fn sampling_hz(self) -> u64 {
        self.sampling_hz
    }

    /// The subcarriers that a signal is in, of all: 200 of 256 in OFDM (table 213); 840 of 1024 and 420 of
    /// 512 in the downlink of PUSC (IEEE Std 802.16e-2005 clause 8.4.6.1.2.1).
    pub fn used_part(self) -> f64 {
        if self.samples == OFDM_SUBCARRIERS { 200.0 / 256.0 } else { 840.0 / 1024.0 }
    }

    /// The time of so many symbols, to the nearest nanosecond: one has the samples of the useful part and the
    /// prefix.
    pub fn symbols(self, count: u32) -> Span {
        self.part_of_a_symbol(count, 1)
    }

    /// So many times a symbol, over a divisor.
    fn part_of_a_symbol(self, count: u32, divisor: u32) -> Span {
        let part = self.prefix.denominator() as u64;
        let denominator = self.sampling_hz * part * u64::from(divisor);
        let samples = u64::from(self.samples) * (part + 1) * u64::from(count);
        // A division of 64 bits takes a fraction of one of 128: what a frame has fits.
        let ns = match samples.checked_mul(1_000_000_000).and_then(|n| n.checked_add(denominator / 2)) {
            Some(numerator) => numerator / denominator,
            None => {
                let numerator = u128::from(samples) * 1_000_000_000 + u128::from(denominator / 2);
                (numerator / u128::from(denominator)) as u64
            }
        };
        Span::from_ns(ns)
    }

    /// The time of one symbol in seconds.
    pub fn symbol_s(self) -> f64 {
        let part = self.prefix.denominator() as f64;
        f64::from(self.samples) * (part + 1.0) / (part * self.sampling_hz as f64)
    }

    /// How many symbols that time has room for.
    pub(super) fn symbols_within(self, time: Span) -> u32 {
        let part = self.prefix.denominator();
        let samples = u128::from(time.as_ns()) * u128::from(self.sampling_hz) * part;
        u32::try_from(samples / (u128::from(self.samples) * (part + 1) * 1_000_000_000)).unwrap_or(u32::MAX)
    }

    /// So many times so many symbols, over a divisor.
    pub(super) fn share(self, count: u32, symbols: u32, divisor: u32) -> Span {
        self.part_of_a_symbol(count * symbols, divisor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(khz: u64, prefix: CyclicPrefix) -> SymbolClock {
        SymbolClock::new(khz * 1000, prefix).expect("a bandwidth of the standard")
    }

    #[test]
    fn five_megahertz_with_a_prefix_of_an_eighth_have_symbols_of_50_us() {
        // 144/125 of 5 MHz are 5.76 MHz: 256 samples take 44.444 us, and an eighth more 50.
        let clock = clock(5000, CyclicPrefix::Eighth);
        assert_eq!((clock.sampling_hz(), clock.symbols(1)), (5_760_000, Span::from_us(50)));
        assert_eq!(clock.symbols(97), Span::from_us(4850));
        // 108 octets in 50 us: 17.28 Mb/s.
        assert_eq!(Unit::Symbol.bytes(BurstProfile::Qam64R34) * 8 * 20_000, 17_280_000);
        assert_eq!(clock.share(54, 1, Unit::Symbol.bytes(BurstProfile::Qam64R34)), Span::from_us(25));
    }

    #[test]
    fn sampling_factors_go_by_the_first_multiple_that_fits() {
        let hz = |khz| clock(khz, CyclicPrefix::Quarter).sampling_hz();
        // 8/7, 86/75, 144/125, 316/275, 57/50; 10.5 MHz is a multiple of 1.75 and of 1.5.
        assert_eq!(
            [3500, 3000, 10_000, 5500, 4000, 10_500].map(hz),
            [4_000_000, 3_440_000, 11_520_000, 6_320_000, 4_560_000, 12_000_000]
        );
        // 86/75 of 1.5 MHz are 1.72 MHz, a multiple of 8 kHz; 144/125 of 1.25 MHz are 1.44 MHz.
        assert_eq!([1500, 1250].map(hz), [1_720_000, 1_440_000]);
        assert_eq!(SymbolClock::new(5_100_000, CyclicPrefix::Quarter), None);
        assert_eq!(SymbolClock::new(0, CyclicPrefix::Quarter), None);
    }

    #[test]
    fn symbols_that_are_no_whole_nanoseconds_do_not_drift() {
        // 3.5 MHz: 256 / 4 MHz = 64 us and 1/32 more: 66 us. 7 MHz with 1/16: 34 us. 3 MHz with 1/4: 320 /
        // 3.44 MHz.
        assert_eq!(clock(3500, CyclicPrefix::ThirtySecond).symbols(1), Span::from_us(66));
        assert_eq!(clock(7000, CyclicPrefix::Sixteenth).symbols(3), Span::from_us(102));
        let odd = clock(3000, CyclicPrefix::Quarter);
        assert_eq!((odd.symbols(1), odd.symbols(43)), (Span::from_ns(93_023), Span::from_us(4000)));
    }

    #[test]
    fn a_burst_loses_an_octet_to_its_tail() {
        let of = Unit::Symbol;
        assert_eq!(of.burst_bytes(BurstProfile::Qam64R34, 10), 1079);
        assert_eq!([11, 12].map(|bytes| of.burst_units(BurstProfile::Bpsk12, bytes)), [1, 2]);
        assert_eq!(of.burst_bytes(BurstProfile::Bpsk12, 0), 0);
    }
}
