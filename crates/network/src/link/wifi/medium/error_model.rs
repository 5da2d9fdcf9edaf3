//! Error rates of the modulations of 802.11b and g by the ratio of signal to interference and noise.
//!
//! - DSSS and CCK: the bit error ratios of IEEE Std 802.15.4-2006 annex E, with the Gaussian tail Q:
//!   `Q(sqrt(11 x))` at 1 Mb/s, `Q(sqrt(5.5 x))` at 2 Mb/s, and union bounds over the code words of CCK at
//!   5.5 and 11 Mb/s.
//! - OFDM: bit error ratios of BPSK, QPSK, 16-QAM and 64-QAM with Gray mapping (J. Proakis, "Digital
//!   Communications", 4th edition, section 5.2), and the union bound of hard-decision Viterbi decoding with
//!   Chernoff's bound over the distance spectra of the convolutional code at 1/2, 2/3 and 3/4 (L. Miller,
//!   "Validation of 802.11a/UWB Coexistence Simulation", NIST, 2003, tables 3.1.1 to 3.1.3).
//!
//! Interference counts as Gaussian noise. Bits fail independently of each other. The annex takes DSSS as
//! detected differentially and CCK as coherently, so that 5.5 Mb/s need 0.6 dB less than 2 Mb/s.

use crate::link::wifi::phy::Format;
use roamsim_engine::Span;

/// Spectra of distances: coefficient and distance, with what the sum is divided by.
type Spectrum = (f64, &'static [(f64, i32)]);

const HALF: Spectrum = (
    2.0,
    &[
        (36.0, 10),
        (211.0, 12),
        (1404.0, 14),
        (11_633.0, 16),
        (77_433.0, 18),
        (502_690.0, 20),
        (3_322_763.0, 22),
        (21_292_910.0, 24),
        (134_365_911.0, 26),
    ],
);

const TWO_THIRDS: Spectrum = (
    4.0,
    &[
        (3.0, 6),
        (70.0, 7),
        (285.0, 8),
        (1276.0, 9),
        (6160.0, 10),
        (27_128.0, 11),
        (117_019.0, 12),
        (498_860.0, 13),
        (2_103_891.0, 14),
        (8_784_123.0, 15),
    ],
);

const THREE_QUARTERS: Spectrum = (
    6.0,
    &[
        (42.0, 5),
        (201.0, 6),
        (1492.0, 7),
        (10_469.0, 8),
        (62_935.0, 9),
        (379_644.0, 10),
        (2_253_373.0, 11),
        (13_073_811.0, 12),
        (75_152_755.0, 13),
        (428_005_675.0, 14),
    ],
);

/// The Gaussian tail.
fn q(x: f64) -> f64 {
    0.5 * libm::erfc(x * std::f64::consts::FRAC_1_SQRT_2)
}

fn dsss_bit_error_ratio(rate_bps: u64, x: f64) -> f64 {
    let tail = |factor: f64| q(libm::sqrt(factor * x));
    match rate_bps {
        1_000_000 => tail(11.0),
        2_000_000 => tail(5.5),
        5_500_000 => 8.0 / 15.0 * (14.0 * tail(8.0) + tail(16.0)),
        _ => {
            let words = 24.0 * tail(4.0) + 16.0 * tail(6.0) + 174.0 * tail(8.0);
            128.0 / 255.0 * (words + 16.0 * tail(10.0) + 24.0 * tail(12.0) + tail(16.0))
        }
    }
}

/// Of decoded bits.
fn ofdm_bit_error_ratio(rate_bps: u64, x: f64) -> f64 {
    let coded = |share: f64, divisor: f64| share * libm::erfc(libm::sqrt(x / divisor));
    let (bpsk, qpsk) = (coded(0.5, 1.0), coded(0.5, 2.0));
    let (qam16, qam64) = (coded(3.0 / 8.0, 10.0), coded(7.0 / 24.0, 42.0));
    let (channel, (divisor, spectrum)) = match rate_bps {
        6_000_000 => (bpsk, HALF),
        9_000_000 => (bpsk, THREE_QUARTERS),
        12_000_000 => (qpsk, HALF),
        18_000_000 => (qpsk, THREE_QUARTERS),
        24_000_000 => (qam16, HALF),
        36_000_000 => (qam16, THREE_QUARTERS),
        48_000_000 => (qam64, TWO_THIRDS),
        _ => (qam64, THREE_QUARTERS),
    };
    let d = libm::sqrt(4.0 * channel * (1.0 - channel));
    spectrum
        .iter()
        .map(|&(coefficient, distance)| coefficient * libm::pow(d, f64::from(distance)))
        .sum::<f64>()
        / divisor
}

/// The probability that a part of a frame that lasts so long is received at a ratio of signal to interference
/// and noise.
pub fn success(format: Format, rate_bps: u64, lasts: Span, ratio: f64) -> f64 {
    let bit_error_ratio = match format {
        Format::Dsss(_) => dsss_bit_error_ratio(rate_bps, ratio),
        Format::ErpOfdm => ofdm_bit_error_ratio(rate_bps, ratio),
    };
    let bits = lasts.as_secs_f64() * rate_bps as f64;
    // Bounds may be above one.
    libm::exp(bits * libm::log1p(-bit_error_ratio.clamp(0.0, 0.5)))
}

/// Thermal noise in the bandwidth of a receiver, and what its own adds: 290 K, 22 MHz of DSSS (clause
/// 18.4.7.3), 20 MHz of OFDM (clause 17.3.2.3).
pub fn noise_mw(format: Format, noise_figure_db: f64) -> f64 {
    const BOLTZMANN_J_PER_K: f64 = 1.380_649e-23;
    let bandwidth_hz = match format {
        Format::Dsss(_) => 22e6,
        Format::ErpOfdm => 20e6,
    };
    1e3 * BOLTZMANN_J_PER_K * 290.0 * bandwidth_hz * libm::pow(10.0, noise_figure_db / 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::wifi::phy::Preamble;

    fn near(got: f64, expected: f64) {
        assert!((got / expected - 1.0).abs() < 0.005, "{got} for {expected}");
    }

    #[test]
    fn bit_error_ratios_of_dsss_by_hand() {
        // Q(1) = 0.158655, Q(2) = 0.0227501, Q(3) = 0.00134990, Q(4) = 3.16712e-5.
        near(dsss_bit_error_ratio(1_000_000, 4.0 / 11.0), 0.022_750_1);
        near(dsss_bit_error_ratio(2_000_000, 4.0 / 5.5), 0.022_750_1);
        // x = 1/2: Q(2) and Q(2.8284) = 0.00233887. 8/15 (14 * 0.0227501 + 0.0023389) = 0.17111.
        near(dsss_bit_error_ratio(5_500_000, 0.5), 0.171_11);
        // x = 1: Q(2), Q(sqrt 6) = 0.0071529, Q(sqrt 8) = 0.0023389, Q(sqrt 10) = 0.00078270, Q(sqrt 12) =
        // 0.00026600, Q(4). 24 * 0.0227501 + 16 * 0.0071529 + 174 * 0.0023389 + 16 * 0.0007827 + 24 *
        // 0.000266 + 0.0000317 = 1.08639; 128/255 of it.
        near(dsss_bit_error_ratio(11_000_000, 1.0), 0.545_33);
    }

    #[test]
    fn bit_error_ratios_of_ofdm_by_hand() {
        // BPSK at x = 2: erfc(sqrt 2) / 2 = Q(2) = 0.0227501; D = sqrt(4 * 0.0227501 * 0.9772499) = 0.298206.
        // Of 1/2: D^2 = 0.0889268; D^10 = 5.5612e-6, D^12 = 4.9454e-7, D^14 = 4.3978e-8, D^16 = 3.9108e-9,
        // D^18 = 3.4778e-10, D^20 = 3.0927e-11, D^22 = 2.7502e-12, D^24 = 2.4457e-13, D^26 = 2.1749e-14.
        // 2.0020e-4 + 1.0435e-4 + 6.1745e-5 + 4.5495e-5 + 2.6929e-5 + 1.5547e-5 + 9.1382e-6 + 5.2076e-6 +
        // 2.9223e-6 = 4.7153e-4, and half of it.
        near(ofdm_bit_error_ratio(6_000_000, 2.0), 2.3577e-4);
        // QPSK has the same at twice that.
        near(ofdm_bit_error_ratio(12_000_000, 4.0), 2.3577e-4);
    }

    #[test]
    fn what_a_thousand_octets_need() {
        // For every second frame to arrive: bits fail with ln 2 / 8000 = 8.66e-5. At 1 Mb/s Q(3.754), 3.754^2
        // / 11 = 1.281, 1.08 dB; at 2 Mb/s 3 dB more; tenths are rounded up.
        let needs_db = |format, rate_bps: u64| {
            let lasts = Span::from_ns(8_000 * 1_000_000_000 / rate_bps);
            let works = |tenths: &i32| {
                success(format, rate_bps, lasts, libm::pow(10.0, f64::from(*tenths) / 100.0)) > 0.5
            };
            (-100..400).find(works).map(|tenths| f64::from(tenths) / 10.0).expect("some ratio works")
        };
        let b = [1_000_000, 2_000_000, 5_500_000, 11_000_000]
            .map(|bps| needs_db(Format::Dsss(Preamble::Long), bps));
        // The annex counts DSSS as detected differentially and CCK as coherently: 5.5 Mb/s need less than 2
        // Mb/s.
        assert_eq!(b, [1.1, 4.1, 3.5, 6.8]);
        let g = [6, 12, 18, 24, 36, 48, 54].map(|mbps| needs_db(Format::ErpOfdm, mbps * 1_000_000));
        assert!(g.is_sorted() && g[0] > 0.0 && g[6] < 25.0, "{g:?}");
    }

    #[test]
    fn noise_of_a_receiver() {
        // 1.380649e-23 * 290 * 20e6 W = 8.0078e-14 W, -100.97 dBm; with 10 dB ten times that.
        near(noise_mw(Format::ErpOfdm, 10.0), 8.0078e-10);
        near(noise_mw(Format::Dsss(Preamble::Long), 0.0), 8.8085e-11);
    }
}
