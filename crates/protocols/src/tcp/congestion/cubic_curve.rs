//! The curve of CUBIC (RFC 9438 section 4.2) and its arithmetic, in octets and whole microseconds.

use roamsim_engine::Span;

/// W_cubic.
#[derive(Clone, Copy, Debug)]
pub(super) struct Curve {
    pub(super) w_max_bytes: u64,
    pub(super) k: Span,
    pub(super) smss_bytes: u64,
}

impl Curve {
    pub(super) fn new(w_max_bytes: u64, cwnd_epoch_bytes: u64, smss_bytes: u64) -> Curve {
        // In microseconds: K^3 = (W_max - cwnd_epoch) / SMSS / 0.4 x (10^6)^3.
        let rise = u128::from(w_max_bytes.saturating_sub(cwnd_epoch_bytes));
        let k_us = cube_root(rise * 5_000_000_000_000_000_000 / (2 * u128::from(smss_bytes)));
        Curve { w_max_bytes, k: Span::from_us(k_us), smss_bytes }
    }

    /// W_cubic(t), not below 0.
    #[inline]
    pub(super) fn at(&self, t: Span) -> u64 {
        if t < self.k {
            self.w_max_bytes.saturating_sub(self.rise_bytes(self.k.saturating_sub(t)))
        } else {
            self.w_max_bytes.saturating_add(self.rise_bytes(t.saturating_sub(self.k)))
        }
    }

    /// 0.4 SMSS d^3.
    #[inline]
    pub(super) fn rise_bytes(&self, d: Span) -> u64 {
        // Beyond 19 hours every target is clamped; here the product stays within 128 bits.
        let us = u128::from((d.as_ns() / 1000).min(1 << 36));
        let product = us * us * us * (2 * u128::from(self.smss_bytes));
        // By 5e18 = 2^18 x 5^19: within 64 bits, without a division of 128, up to 10 s or so.
        match u64::try_from(product >> 18) {
            Ok(shifted) => shifted / 5_u64.pow(19),
            Err(_) => u64::try_from(product / 5_000_000_000_000_000_000).unwrap_or(u64::MAX),
        }
    }
}

/// `bytes` times `over` / `under`.
pub(super) fn fraction(bytes: u64, over: u64, under: u64) -> u64 {
    bytes / under * over + bytes % under * over / under
}

/// `(a b + remainder) / divisor`; what is left stays in `remainder`. Windows that overflow it exist in no
/// network.
#[inline]
pub(super) fn quotient(a: u64, b: u64, remainder: &mut u64, divisor: u64) -> u64 {
    let dividend = a.saturating_mul(b).saturating_add(*remainder);
    *remainder = dividend % divisor;
    dividend / divisor
}

/// The largest whole number whose cube is not above `n`, for n < 2^126.
fn cube_root(n: u128) -> u64 {
    let mut root = 0;
    for bit in (0..42).rev() {
        let more: u128 = root | 1 << bit;
        if more * more * more <= n {
            root = more;
        }
    }
    root as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cube_roots_are_exact() {
        for (n, root) in [(0, 0), (7, 1), (8, 2), (26, 2), (27, 3), (26_999_999_999_999_999_999, 2_999_999)] {
            assert_eq!(cube_root(n), root, "{n}");
        }
        let largest = (1u64 << 42) - 1;
        assert_eq!(cube_root(u128::from(largest).pow(3)), largest);
    }

    #[test]
    fn the_curve_is_worked_by_hand() {
        // K^3 = (36 - 25.2) / 0.4 = 27.
        let curve = Curve::new(36_000, 25_200, 1000);
        assert_eq!(curve.k, Span::from_secs(3));
        let at = |ms: u64| curve.at(Span::from_ms(ms));
        // 36 - 0.4 x 27; 36 - 0.4 x 8; 36 - 0.4 x 0.125; 36; 36 + 0.4 x 8; 36 + 0.4 x 1000.
        assert_eq!([at(0), at(1000), at(2500)], [25_200, 32_800, 35_950]);
        assert_eq!([at(3000), at(5000), at(13_000)], [36_000, 39_200, 436_000]);
        // cbrt(75) = 4.2171633 s.
        assert_eq!(Curve::new(100_000, 70_000, 1000).k, Span::from_us(4_217_163));
        // Segments of 1460 bytes: cbrt(43800 / 1460 / 0.4) is the same.
        assert_eq!(Curve::new(146_000, 102_200, 1460).k, Span::from_us(4_217_163));
    }
}
