//! WirelessMAN-OFDM (IEEE Std 802.16-2004 clause 8.3): symbols, burst profiles, and how a frame is laid out.

use roamsim_engine::Span;

/// A burst profile: modulation and rate of the concatenated Reed-Solomon and convolutional code (clause 8.3.3.2.1).
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

    /// Octets of a symbol before coding (table 215).
    pub const fn symbol_bytes(self) -> u32 {
        match self {
            BurstProfile::Bpsk12 => 12,
            BurstProfile::Qpsk12 => 24,
            BurstProfile::Qpsk34 => 36,
            BurstProfile::Qam16R12 => 48,
            BurstProfile::Qam16R34 => 72,
            BurstProfile::Qam64R23 => 96,
            BurstProfile::Qam64R34 => 108,
        }
    }

    /// Octets of MAC PDUs in a burst of so many symbols: its last octet is the zero tail of the code (clause 8.3.3.2.1).
    pub const fn burst_bytes(self, symbols: u32) -> u32 {
        (symbols * self.symbol_bytes()).saturating_sub(TAIL_BYTES)
    }

    /// Symbols of a burst that has room for so many octets.
    pub const fn burst_symbols(self, bytes: u32) -> u32 {
        (bytes + TAIL_BYTES).div_ceil(self.symbol_bytes())
    }
}

const TAIL_BYTES: u32 = 1;

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

/// Sampling factors by the bandwidth that the channel is a multiple of, in hertz (table 213): the first that fits.
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
    prefix: CyclicPrefix,
}

impl SymbolClock {
    /// That of a channel; `None` where the standard has no sampling factor for its bandwidth.
    pub fn new(bandwidth_hz: u64, prefix: CyclicPrefix) -> Option<SymbolClock> {
        let fits = |&&(of_hz, ..): &&(u64, u64, u64)| bandwidth_hz > 0 && bandwidth_hz.is_multiple_of(of_hz);
        let &(_, up, down) = SAMPLING_FACTORS.iter().find(fits)?;
        // Fs = floor(n BW / 8000) 8000 (clause 8.3.2.2).
        let sampling_hz = up.checked_mul(bandwidth_hz)? / (down * 8000) * 8000;
        (sampling_hz > 0).then_some(SymbolClock { sampling_hz, prefix })
    }

    /// The sampling frequency.
    pub fn sampling_hz(self) -> u64 {
        self.sampling_hz
    }

    /// The time of so many symbols, to the nearest nanosecond: one has 256 samples and the prefix.
    pub fn symbols(self, count: u32) -> Span {
        self.part_of_a_symbol(count, 1)
    }

    /// So many times a symbol, over a divisor.
    fn part_of_a_symbol(self, count: u32, divisor: u32) -> Span {
        let part = self.prefix.denominator() as u64;
        let denominator = self.sampling_hz * part * u64::from(divisor);
        let samples = 256 * (part + 1) * u64::from(count);
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
        256.0 * (part + 1.0) / (part * self.sampling_hz as f64)
    }

    /// How many symbols that time has room for.
    fn symbols_within(self, time: Span) -> u32 {
        let part = self.prefix.denominator();
        let samples = u128::from(time.as_ns()) * u128::from(self.sampling_hz) * part;
        u32::try_from(samples / (256 * (part + 1) * 1_000_000_000)).unwrap_or(u32::MAX)
    }

    /// The time of so many octets in the symbols of a profile.
    pub fn bytes(self, bytes: u32, profile: BurstProfile) -> Span {
        self.part_of_a_symbol(bytes, profile.symbol_bytes())
    }
}

/// Symbols at the begin of each frame: the long preamble and the frame control header (clause 8.3.5.1).
pub const PREAMBLE_AND_FCH_SYMBOLS: u32 = 2 + 1;

/// Symbols before the data of an uplink burst: the short preamble (clause 8.3.5.1).
pub const UPLINK_PREAMBLE_SYMBOLS: u32 = 1;

/// Symbols of an opportunity for a bandwidth request in the full region: preamble and one symbol of BPSK 1/2 (clause
/// 8.3.7.3.1), which has room for the request's header.
pub const REQUEST_SYMBOLS: u32 = 2;

/// Symbols of an opportunity for initial ranging: long preamble, RNG-REQ in two symbols of BPSK 1/2, and one for the way of those that
/// have not adjusted their timing yet (chosen: 50 us are 7.5 km there and back).
pub const RANGING_SYMBOLS: u32 = 2 + 2 + 1;

/// How the time of a frame is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameLayout {
    /// The clock of its symbols.
    pub clock: SymbolClock,
    /// From one frame to the next.
    pub duration: Span,
    /// Symbols of the downlink subframe, preamble and FCH included.
    pub downlink_symbols: u32,
    /// Symbols of the uplink subframe.
    pub uplink_symbols: u32,
    /// The gap between the two (TTG).
    pub transmit_gap: Span,
    /// The gap at the end of the frame (RTG), at least.
    pub receive_gap: Span,
}

impl FrameLayout {
    /// A frame with this share of its symbols for the downlink, rounded down. Gaps that leave no time leave no symbols.
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
        FrameLayout { clock, duration, downlink_symbols, uplink_symbols, transmit_gap, receive_gap }
    }

    /// When the uplink subframe begins, from the begin of the frame.
    pub fn uplink_offset(&self) -> Span {
        self.clock.symbols(self.downlink_symbols) + self.transmit_gap
    }
}

/// The times of symbols of a layout, worked out once: a division each otherwise.
#[derive(Debug)]
pub(super) struct SymbolTimes {
    clock: SymbolClock,
    /// See [`FrameLayout::uplink_offset`].
    pub uplink_offset: Span,
    /// Of so many symbols, up to those of the longer subframe.
    times: Vec<Span>,
}

impl SymbolTimes {
    pub fn new(layout: &FrameLayout) -> SymbolTimes {
        let longer = layout.downlink_symbols.max(layout.uplink_symbols);
        let times = (0..=longer).map(|count| layout.clock.symbols(count)).collect();
        SymbolTimes { clock: layout.clock, uplink_offset: layout.uplink_offset(), times }
    }

    /// The time of so many symbols.
    pub fn symbols(&self, count: u32) -> Span {
        match self.times.get(count as usize) {
            Some(time) => *time,
            None => self.clock.symbols(count),
        }
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
        assert_eq!(BurstProfile::Qam64R34.symbol_bytes() * 8 * 20_000, 17_280_000);
        assert_eq!(clock.bytes(54, BurstProfile::Qam64R34), Span::from_us(25));
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
        // 3.5 MHz: 256 / 4 MHz = 64 us and 1/32 more: 66 us. 7 MHz with 1/16: 34 us. 3 MHz with 1/4: 320 / 3.44 MHz.
        assert_eq!(clock(3500, CyclicPrefix::ThirtySecond).symbols(1), Span::from_us(66));
        assert_eq!(clock(7000, CyclicPrefix::Sixteenth).symbols(3), Span::from_us(102));
        let odd = clock(3000, CyclicPrefix::Quarter);
        assert_eq!((odd.symbols(1), odd.symbols(43)), (Span::from_ns(93_023), Span::from_us(4000)));
    }

    #[test]
    fn a_frame_has_whole_symbols_between_its_gaps() {
        let gap = Span::from_us(100);
        let clock = clock(5000, CyclicPrefix::Eighth);
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

    #[test]
    fn a_burst_loses_an_octet_to_its_tail() {
        assert_eq!(BurstProfile::Qam64R34.burst_bytes(10), 1079);
        assert_eq!((BurstProfile::Bpsk12.burst_symbols(11), BurstProfile::Bpsk12.burst_symbols(12)), (1, 2));
        assert_eq!(BurstProfile::Bpsk12.burst_bytes(0), 0);
    }
}
