//! The natural logarithm of many numbers at once.

/// The natural logarithm of a number between 2^-1022 and 1: to the bit that of `libm::log`, whose steps these are, without a branch, so that a
/// loop over it is done by vectors.
///
/// From FreeBSD's `e_log.c`. Copyright (C) 1993 by Sun Microsystems, Inc. All rights reserved. Developed at SunSoft, a Sun
/// Microsystems, Inc. business. Permission to use, copy, modify, and distribute this software is freely granted, provided that this notice is
/// preserved.
#[inline(always)]
#[expect(clippy::excessive_precision, reason = "as they are printed there")]
pub(crate) fn logarithm_of_fraction(x: f64) -> f64 {
    const LN2: [f64; 2] = [6.93147180369123816490e-01, 1.90821492927058770002e-10];
    const LG: [f64; 7] = [
        6.666666666666735130e-01,
        3.999999999940941908e-01,
        2.857142874366239149e-01,
        2.222219843214978396e-01,
        1.818357216161805012e-01,
        1.531383769920937332e-01,
        1.479819860511658591e-01,
    ];
    // x = 2^k (1 + f), with 1 + f between sqrt(1/2) and sqrt(2), whose upper half is this.
    const ROOT_OF_HALF: u64 = 0x3fe6_a09e << 32;
    let bits = x.to_bits().wrapping_add((0x3ff0_0000 << 32) - ROOT_OF_HALF);
    let k = f64::from((bits >> 52) as i32 - 0x3ff);
    let f = f64::from_bits((bits & (u64::MAX >> 12)) + ROOT_OF_HALF) - 1.0;
    // log(1 + f) = f - (hfsq - s (hfsq + r)).
    let hfsq = 0.5 * f * f;
    let s = f / (2.0 + f);
    let z = s * s;
    let w = z * z;
    let t1 = w * (LG[1] + w * (LG[3] + w * LG[5]));
    let t2 = z * (LG[0] + w * (LG[2] + w * (LG[4] + w * LG[6])));
    let r = t2 + t1;
    s * (hfsq + r) + k * LN2[1] - hfsq + f + k * LN2[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_are_those_of_libm_to_the_bit() {
        let is_same =
            |x: f64| assert_eq!(logarithm_of_fraction(x).to_bits(), libm::log(x).to_bits(), "{x:e}");
        [1.0, 1.0f64.next_down(), 0.5, 0.5f64.next_up(), f64::MIN_POSITIVE].into_iter().for_each(is_same);
        // Around the bound between two powers, and over all of them.
        let root = f64::from_bits(0x3fe6_a09e << 32);
        [root, root.next_down(), root.next_up(), root / 4.0, root.next_down() / 4.0]
            .into_iter()
            .for_each(is_same);
        (1..=2_000_000u32).for_each(|i| is_same(f64::from(i) / 2e6));
        (0..53).map(|power| 1.0 / (1u64 << power) as f64).for_each(is_same);
    }
}
