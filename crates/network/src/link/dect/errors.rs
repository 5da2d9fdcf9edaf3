//! Bit errors on a bearer, and what they do to the units that are sent: subfields of the Ip channel, whole B
//! fields of the In channel, A fields.
//!
//! Bits fail independently with the bit error ratio of the bearer's state. A protected subfield has 64 bits
//! and 16 of check (ETS 300 175-3 clause 6.2.1.3), so it fails with SER = 1 - (1 - BER)^80.
//!
//! All units sent on bearers of one state, one after another, are independent trials of one probability. So
//! what is drawn is how many come before the next that fails: a unit that arrives costs no draw.
//!
//! Not modelled: errors that the checks do not find, the S field, synchronisation.

use super::geometric::Geometric;
use super::mac::Quality;
use roamsim_engine::{Ahead, Stream};

/// Subfields in the B field of a full slot: 320 bits of 80.
pub const SUBFIELDS: u32 = 4;
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
    /// Whether A fields fail too, and with them what they acknowledge. Off: chosen, the paper does not say
    /// so.
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

/// Independent trials of one probability of failure.
#[derive(Clone, Copy, Debug)]
struct Trials {
    /// How many trials come before the next that fails, if failure is more probable than success, none that
    /// is known of.
    intact: u64,
    /// Failure, or if that is more probable than success, success.
    until_rarer: Geometric,
    failure_is_rarer: bool,
    /// If failure is more probable, how many trials come before the next success.
    before_success: u64,
}

impl Trials {
    fn new(failure: f64, random: &mut Ahead) -> Trials {
        let failure_is_rarer = failure <= 0.5;
        let until_rarer = Geometric::new(if failure_is_rarer { failure } else { 1.0 - failure });
        let before_rarer = until_rarer.trials_without(random);
        let (intact, before_success) = if failure_is_rarer { (before_rarer, 0) } else { (0, before_rarer) };
        Trials { intact, until_rarer, failure_is_rarer, before_success }
    }

    /// Of so many trials, how many fail.
    #[inline]
    fn failures(&mut self, trials: u64, random: &mut Ahead) -> u64 {
        if self.failure_is_rarer {
            count_rarer(&mut self.intact, trials, || self.until_rarer.trials_without(random))
        } else {
            trials - self.successes(trials, random)
        }
    }

    #[cold]
    fn successes(&mut self, trials: u64, random: &mut Ahead) -> u64 {
        count_rarer(&mut self.before_success, trials, || self.until_rarer.trials_without(random))
    }
}

/// Of so many trials, how many end the rarer way, `before` which so many more come, and `draw` that many
/// before the next.
#[inline]
fn count_rarer(before: &mut u64, trials: u64, mut draw: impl FnMut() -> u64) -> u64 {
    let (mut left, mut rarer) = (trials, 0);
    while *before < left {
        left -= *before + 1;
        rarer += 1;
        *before = draw();
    }
    *before -= left;
    rarer
}

/// What becomes of the units of one kind, over time.
#[derive(Clone, Debug)]
pub struct ErrorProcess {
    /// From which frame on: the probability that a unit fails in the good state, in the bad one.
    steps: Vec<(u64, [f64; 2])>,
    present: usize,
    next_step_at: u64,
    /// In the good state, in the bad one.
    trials: [Trials; 2],
    random: Ahead,
}

impl ErrorProcess {
    /// Of units of so many bits, at frame 0.
    pub fn new(config: &ErrorConfig, unit_bits: f64, random: Stream) -> ErrorProcess {
        let mut random = Ahead::new(random);
        let failures = |factor: f64| {
            [config.ber_good, config.ber_bad]
                .map(|ber| failure_probability((ber * factor).clamp(0.0, 1.0), unit_bits))
        };
        let mut steps = vec![(0, failures(1.0))];
        for burst in &config.bursts {
            steps.push((burst.from_frame, failures(burst.factor)));
            steps.push((burst.until_frame, failures(1.0)));
        }
        let trials = steps[0].1.map(|failure| Trials::new(failure, &mut random));
        let next_step_at = steps.get(1).map_or(u64::MAX, |step| step.0);
        ErrorProcess { steps, present: 0, next_step_at, trials, random }
    }

    /// Goes to a frame not before the last.
    #[inline]
    pub fn advance(&mut self, frame: u64) {
        if frame >= self.next_step_at {
            self.take_steps(frame);
        }
    }

    /// The past tells nothing of trials to come, so those of the new step begin anew.
    #[cold]
    fn take_steps(&mut self, frame: u64) {
        self.present = self.steps.partition_point(|step| step.0 <= frame) - 1;
        self.next_step_at = self.steps.get(self.present + 1).map_or(u64::MAX, |step| step.0);
        self.trials = self.steps[self.present].1.map(|failure| Trials::new(failure, &mut self.random));
    }

    /// Of so many units sent in a state, how many fail.
    #[inline(always)]
    pub fn failed(&mut self, quality: Quality, units: u32) -> u32 {
        let trials = &mut self.trials[quality as usize];
        if u64::from(units) <= trials.intact {
            trials.intact -= u64::from(units);
            return 0;
        }
        self.failed_of(quality, units)
    }

    #[inline(never)]
    fn failed_of(&mut self, quality: Quality, units: u32) -> u32 {
        self.trials[quality as usize].failures(u64::from(units), &mut self.random) as u32
    }

    /// Sends so many units in a state, if none of them fails: no bit of what is returned is set then. If not,
    /// or if that is not known, every one is, and nothing is known of any unit.
    #[inline]
    pub fn may_fail(&mut self, quality: Quality, units: u64) -> u64 {
        let trials = &mut self.trials[quality as usize];
        let may_fail = u64::from(units > trials.intact).wrapping_neg();
        trials.intact -= units & !may_fail;
        may_fail
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Units of so many bits with one bit error ratio.
    fn process(ber: f64, unit_bits: f64) -> ErrorProcess {
        let config = ErrorConfig { ber_good: ber, ber_bad: ber, ..ErrorConfig::default() };
        ErrorProcess::new(&config, unit_bits, Stream::new(1, 0, "units"))
    }

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
        // SER 0.21366: 0.78634^4 = 0.38234; 4 * 0.21366 * 0.78634^3 = 0.41554; 6 * 0.21366^2 * 0.78634^2 =
        // 0.16936; 4 * 0.21366^3 * 0.78634 = 0.03068; 0.21366^4 = 0.00208. SER 0.91255, more failures than
        // not: 0.00006, 0.00244, 0.03821, 0.26581, 0.69348. Three standard errors: at most 0.0034.
        let cases = [
            (3e-3, [0.38234, 0.41554, 0.16936, 0.03068, 0.00208]),
            (3e-2, [0.00006, 0.00244, 0.03821, 0.26581, 0.69348]),
        ];
        for (ber, shares) in cases {
            let mut errors = process(ber, SUBFIELD_BITS);
            let mut counts = [0u32; 5];
            let n = 200_000;
            (0..n).for_each(|_| counts[errors.failed(Quality::Good, 4) as usize] += 1);
            for (failed, expected) in shares.into_iter().enumerate() {
                let share = f64::from(counts[failed]) / f64::from(n);
                assert!((share - expected).abs() < 0.0035, "{ber}, {failed}: {share}");
            }
        }
        let (mut never, mut always) = (process(0.0, 80.0), process(1.0, 80.0));
        assert!((0..100).all(|_| never.failed(Quality::Bad, 3) == 0));
        assert!((0..100).all(|_| always.failed(Quality::Bad, 3) == 3));
        assert_eq!(
            [never.may_fail(Quality::Bad, 4_000_000_000), always.may_fail(Quality::Bad, 1)],
            [0, u64::MAX]
        );
        assert_eq!(always.may_fail(Quality::Bad, 0), 0);
    }

    #[test]
    fn units_are_intact_together_as_often_as_one_by_one() {
        let mut errors = process(1.7e-4, SUBFIELD_BITS);
        let (groups, mut intact, mut failed) = (100_000, 0, 0);
        for _ in 0..groups {
            // Those of ten bearers at once, and if any of them fails, again one bearer after another.
            if errors.may_fail(Quality::Good, 40) == 0 {
                intact += 1;
                continue;
            }
            let failed_now: u32 = (0..10).map(|_| errors.failed(Quality::Good, SUBFIELDS)).sum();
            assert!(failed_now > 0, "otherwise they had been intact");
            failed += u64::from(failed_now);
        }
        // (1 - 1.7e-4)^3200 = exp(-3200 * 1.700145e-4) = 0.58041, standard error sqrt(0.58041 * 0.41959 /
        // 1e5) = 0.00156; 4e6 subfields, 0.013509 of them failed: standard error 0.0000577.
        let share = f64::from(intact) / f64::from(groups);
        assert!((share - 0.58041).abs() < 0.0047, "{share}");
        let share = failed as f64 / 4e6;
        assert!((share - 0.013_509).abs() < 0.000_173, "{share}");
    }

    #[test]
    fn a_burst_ends() {
        let burst = Burst { from_frame: 500, until_frame: 1000, factor: 1e6 };
        let config = ErrorConfig { ber_good: 0.0, bursts: vec![burst], ..ErrorConfig::default() };
        let mut process = ErrorProcess::new(&config, SUBFIELD_BITS, Stream::new(1, 0, "bursts"));
        // Of 10,000 subfields in the bad state, with 3e-3: 2137, standard deviation 41. In the burst every
        // bit fails.
        let mut failed_at = |frame| {
            process.advance(frame);
            assert_eq!(process.failed(Quality::Good, 10_000), 0);
            process.failed(Quality::Bad, 10_000)
        };
        assert!(failed_at(499).abs_diff(2137) < 123);
        assert_eq!((failed_at(500), failed_at(999)), (10_000, 10_000));
        assert!(failed_at(1000).abs_diff(2137) < 123);
    }
}
