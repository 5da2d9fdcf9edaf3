//! Shares and rates in whole numbers, whose products rarely need 128 bits.

use roamsim_engine::Span;

/// `a b / divisor`, or `u64::MAX` where that is more.
#[inline]
pub(super) fn proportion(a: u64, b: u64, divisor: u64) -> u64 {
    match a.checked_mul(b) {
        Some(product) => product / divisor,
        None => of_wide(a, b, divisor),
    }
}

/// What a rate in octets a second sends in a time.
#[inline]
pub(super) fn product(rate: u64, time: Span) -> u64 {
    proportion(rate, time.as_ns(), 1_000_000_000)
}

/// The rate in octets a second that sends `bytes` in a time. No time counts as a nanosecond.
#[inline]
pub(super) fn rate(bytes: u64, time: Span) -> u64 {
    proportion(bytes, 1_000_000_000, time.as_ns().max(1))
}

/// The product needs 128 bits, whose division takes several times as many instructions.
#[cold]
fn of_wide(a: u64, b: u64, divisor: u64) -> u64 {
    u64::try_from(u128::from(a) * u128::from(b) / u128::from(divisor)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_of_128_bits_are_exact_and_larger_quotients_saturate() {
        assert_eq!(proportion(7, 3, 2), 10);
        assert_eq!(proportion(u64::MAX, 6, 9), u64::MAX / 3 * 2);
        assert_eq!(proportion(u64::MAX, 3, 2), u64::MAX);
    }

    #[test]
    fn a_rate_sends_its_octets_in_its_time() {
        assert_eq!(
            (product(1_250_000, Span::from_ms(40)), rate(50_000, Span::from_ms(40))),
            (50_000, 1_250_000)
        );
        assert_eq!(rate(3, Span::ZERO), 3_000_000_000);
    }
}
