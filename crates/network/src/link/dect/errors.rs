//! Bit errors on a bearer, and what they do to a slot: subfields of the Ip channel, whole B fields of the In
//! channel, A fields.
//!
//! Bits fail independently with the bit error ratio of the bearer's state. A protected subfield has 64 bits and 16
//! of check (ETS 300 175-3 clause 6.2.1.3), so it fails with SER = 1 - (1 - BER)^80. Not modelled: errors that the
//! checks do not find, the S field, synchronisation.

use super::mac::Quality;
use roamsim_engine::Stream;

/// Subfields in the B field of a full slot: 320 bits of 80.
pub const SUBFIELDS: u8 = 4;
/// Bits of a subfield with its check (ETS 300 175-3 clause 6.2.1.3).
pub const SUBFIELD_BITS: f64 = 80.0;
/// Bits of the B field of a full slot.
pub const B_FIELD_BITS: f64 = 320.0;
/// Bits of the A field with its check (ETS 300 175-3 clause 6.2.1.2).
pub const A_FIELD_BITS: f64 = 64.0;

/// A time in which all bit error ratios are multiplied.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Burst {
    /// Its first frame.
    pub from_frame: u64,
    /// The first frame after it.
    pub until_frame: u64,
    /// What the bit error ratios are multiplied by.
    pub factor: f64,
}

/// Bit error ratios.
#[derive(Clone, Debug, PartialEq)]
pub struct ErrorConfig {
    /// In the good state. 1.7e-4: the paper, its two ratios exchanged (docs/models/dect.md says why).
    pub ber_good: f64,
    /// In the bad state. 3e-3: the same.
    pub ber_bad: f64,
    /// Bursts, in order of time, none overlapping another.
    pub bursts: Vec<Burst>,
    /// Whether A fields fail too, and with them what they acknowledge. Off: chosen, the paper does not say so.
    pub a_field_errors: bool,
}

impl Default for ErrorConfig {
    fn default() -> ErrorConfig {
        ErrorConfig { ber_good: 1.7e-4, ber_bad: 3e-3, bursts: Vec::new(), a_field_errors: false }
    }
}

/// The probability that at least one of `bits` fails.
pub fn failure_probability(ber: f64, bits: f64) -> f64 {
    -libm::expm1(bits * libm::log1p(-ber))
}

/// What a bit error ratio does to a slot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlotErrors {
    /// `at_most[m - 1][j]`: of m subfields sent, the probability that at most j fail.
    at_most: [[f64; SUBFIELDS as usize]; SUBFIELDS as usize],
    /// That a B field has an error anywhere.
    b_field: f64,
    /// That an A field fails its check.
    a_field: f64,
}

impl SlotErrors {
    /// Of one bit error ratio.
    pub fn new(ber: f64) -> SlotErrors {
        let ber = ber.clamp(0.0, 1.0);
        let subfield = failure_probability(ber, SUBFIELD_BITS);
        let mut at_most = [[1.0; SUBFIELDS as usize]; SUBFIELDS as usize];
        for sent in 1..=u32::from(SUBFIELDS) {
            // Binomial: C(m, j) SER^j (1 - SER)^(m - j).
            let mut sum = 0.0;
            let mut ways = 1.0;
            for failed in 0..sent {
                let (failed_f, sent_f) = (f64::from(failed), f64::from(sent));
                sum += ways * libm::pow(subfield, failed_f) * libm::pow(1.0 - subfield, sent_f - failed_f);
                at_most[sent as usize - 1][failed as usize] = sum;
                ways *= (sent_f - failed_f) / (failed_f + 1.0);
            }
        }
        SlotErrors {
            at_most,
            b_field: failure_probability(ber, B_FIELD_BITS),
            a_field: failure_probability(ber, A_FIELD_BITS),
        }
    }

    /// Of `sent` subfields (1 to 4), how many fail: one draw.
    #[inline]
    pub fn failed_subfields(&self, sent: u8, random: &mut Stream) -> u8 {
        let row = &self.at_most[usize::from(sent) - 1];
        let draw = random.uniform();
        if draw < row[0] {
            return 0;
        }
        (1..sent).find(|&failed| draw < row[usize::from(failed)]).unwrap_or(sent)
    }

    /// Whether an unprotected B field fails.
    #[inline]
    pub fn b_field_fails(&self, random: &mut Stream) -> bool {
        random.bernoulli(self.b_field)
    }

    /// Whether an A field fails.
    #[inline]
    pub fn a_field_fails(&self, random: &mut Stream) -> bool {
        random.bernoulli(self.a_field)
    }
}

/// The slot errors of both states over time.
#[derive(Clone, Debug)]
pub struct ErrorProcess {
    /// From which frame on: errors in the good state, in the bad one.
    steps: Vec<(u64, [SlotErrors; 2])>,
    present: usize,
}

impl ErrorProcess {
    /// The process, at frame 0.
    pub fn new(config: &ErrorConfig) -> ErrorProcess {
        let errors = |factor: f64| [config.ber_good, config.ber_bad].map(|ber| SlotErrors::new(ber * factor));
        let mut steps = vec![(0, errors(1.0))];
        for burst in &config.bursts {
            steps.push((burst.from_frame, errors(burst.factor)));
            steps.push((burst.until_frame, errors(1.0)));
        }
        ErrorProcess { steps, present: 0 }
    }

    /// Goes to a frame not before the last.
    #[inline]
    pub fn advance(&mut self, frame: u64) {
        while self.steps.get(self.present + 1).is_some_and(|step| step.0 <= frame) {
            self.present += 1;
        }
    }

    /// The errors of a state in the present frame.
    #[inline]
    pub fn of(&self, quality: Quality) -> &SlotErrors {
        &self.steps[self.present].1[usize::from(quality == Quality::Bad)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subfields_fail_as_the_paper_says() {
        // 1 - (1 - BER)^80; the paper has 0.0135, 0.2137, and 0.127, 0.913 at ten times the BER.
        let expected = [(1.7e-4, 0.0135), (3e-3, 0.2137), (1.7e-3, 0.1273), (3e-2, 0.9126)];
        for (ber, ser) in expected {
            let computed = failure_probability(ber, SUBFIELD_BITS);
            assert!((computed - ser).abs() < 5e-5, "{ber}: {computed}");
        }
        assert_eq!(failure_probability(0.0, 80.0), 0.0);
        assert_eq!(failure_probability(1.0, 80.0), 1.0);
    }

    #[test]
    fn failed_subfields_are_binomial() {
        let errors = SlotErrors::new(3e-3);
        let mut random = Stream::new(1, 0, "subfields");
        let mut counts = [0u32; 5];
        let n = 200_000;
        (0..n).for_each(|_| counts[usize::from(errors.failed_subfields(4, &mut random))] += 1);
        // SER 0.21366: 0.78634^4 = 0.38234; 4 * 0.21366 * 0.78634^3 = 0.41554; 6 * 0.21366^2 * 0.78634^2 = 0.16936;
        // 4 * 0.21366^3 * 0.78634 = 0.03068; 0.21366^4 = 0.00208. Three standard errors: at most 0.0034.
        for (failed, expected) in [0.38234, 0.41554, 0.16936, 0.03068, 0.00208].into_iter().enumerate() {
            let share = f64::from(counts[failed]) / f64::from(n);
            assert!((share - expected).abs() < 0.0035, "{failed}: {share}");
        }
        let (never, always) = (SlotErrors::new(0.0), SlotErrors::new(1.0));
        assert!((0..100).all(|_| never.failed_subfields(3, &mut random) == 0));
        assert!((0..100).all(|_| always.failed_subfields(3, &mut random) == 3));
    }

    #[test]
    fn a_burst_ends() {
        let burst = Burst { from_frame: 500, until_frame: 1000, factor: 10.0 };
        let mut process = ErrorProcess::new(&ErrorConfig { bursts: vec![burst], ..ErrorConfig::default() });
        let calm = *process.of(Quality::Good);
        process.advance(499);
        assert_eq!(*process.of(Quality::Good), calm);
        process.advance(500);
        assert_eq!(*process.of(Quality::Good), SlotErrors::new(1.7e-4 * 10.0));
        assert_eq!(*process.of(Quality::Bad), SlotErrors::new(3e-3 * 10.0));
        process.advance(1000);
        assert_eq!(*process.of(Quality::Good), calm);
    }
}
