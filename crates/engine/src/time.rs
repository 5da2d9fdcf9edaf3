//! Simulated time: whole nanoseconds since the start of the run, in 64 bits (584 years).
//!
//! Durations that are no whole number of nanoseconds (a byte at 11 Mb/s, a DECT slot) are derived by one
//! multiplication and one rounding per packet or slot, so that rounding never accumulates.

use std::fmt;
use std::ops::{Add, AddAssign, Mul, Sub};

/// Nanoseconds in a second.
pub const NS_PER_S: u64 = 1_000_000_000;

/// An instant: nanoseconds since the start of the run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(u64);

/// A length of time in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span(u64);

impl Time {
    /// The start of the run.
    pub const ZERO: Time = Time(0);
    /// The last representable instant; used as "never".
    pub const MAX: Time = Time(u64::MAX);

    /// The instant `ns` nanoseconds after the start.
    pub const fn from_ns(ns: u64) -> Time {
        Time(ns)
    }

    /// Nanoseconds since the start.
    pub const fn as_ns(self) -> u64 {
        self.0
    }

    /// Seconds since the start, rounded to the nearest double.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / NS_PER_S as f64
    }

    /// The time from `earlier` until this instant, zero when `earlier` is later.
    pub fn since(self, earlier: Time) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Span {
    /// No time at all.
    pub const ZERO: Span = Span(0);
    /// The longest span; used as "unlimited".
    pub const MAX: Span = Span(u64::MAX);

    /// A span of `ns` nanoseconds.
    pub const fn from_ns(ns: u64) -> Span {
        Span(ns)
    }

    /// A span of `us` microseconds.
    pub const fn from_us(us: u64) -> Span {
        Span(us * 1_000)
    }

    /// A span of `ms` milliseconds.
    pub const fn from_ms(ms: u64) -> Span {
        Span(ms * 1_000_000)
    }

    /// A span of `s` seconds.
    pub const fn from_secs(s: u64) -> Span {
        Span(s * NS_PER_S)
    }

    /// A span of `s` seconds, rounded to the nearest nanosecond; negative and NaN give zero.
    pub fn from_secs_f64(s: f64) -> Span {
        Span((s * NS_PER_S as f64 + 0.5) as u64)
    }

    /// Nanoseconds.
    pub const fn as_ns(self) -> u64 {
        self.0
    }

    /// Seconds, rounded to the nearest double.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / NS_PER_S as f64
    }

    /// The time that `bytes` take at `rate_bps` bits per second, rounded to the nearest nanosecond.
    ///
    /// A rate of zero gives [`Span::MAX`].
    pub fn of_transmission(bytes: u64, rate_bps: u64) -> Span {
        if rate_bps == 0 {
            return Span::MAX;
        }
        // 64 bits hold 2.3 GB times 8e9; larger transfers take the wide path.
        match bytes.checked_mul(8 * NS_PER_S) {
            Some(bits_ns) => Span(bits_ns.saturating_add(rate_bps / 2) / rate_bps),
            None => {
                let wide = (u128::from(bytes) * 8 * u128::from(NS_PER_S) + u128::from(rate_bps / 2))
                    / u128::from(rate_bps);
                Span(u64::try_from(wide).unwrap_or(u64::MAX))
            }
        }
    }

    /// The difference, zero when `other` is longer.
    pub fn saturating_sub(self, other: Span) -> Span {
        Span(self.0.saturating_sub(other.0))
    }

    /// `factor` times this span, [`Span::MAX`] on overflow.
    pub fn saturating_mul(self, factor: u64) -> Span {
        Span(self.0.saturating_mul(factor))
    }
}

impl Add<Span> for Time {
    type Output = Time;
    /// Saturates at [`Time::MAX`], so that "never" stays "never".
    fn add(self, span: Span) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}

impl AddAssign<Span> for Time {
    fn add_assign(&mut self, span: Span) {
        *self = *self + span;
    }
}

impl Sub<Time> for Time {
    type Output = Span;
    fn sub(self, earlier: Time) -> Span {
        self.since(earlier)
    }
}

impl Add for Span {
    type Output = Span;
    fn add(self, other: Span) -> Span {
        Span(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Span {
    fn add_assign(&mut self, other: Span) {
        *self = *self + other;
    }
}

impl Mul<u64> for Span {
    type Output = Span;
    fn mul(self, factor: u64) -> Span {
        self.saturating_mul(factor)
    }
}

fn write_seconds(f: &mut fmt::Formatter<'_>, ns: u64) -> fmt::Result {
    if ns == u64::MAX {
        return f.write_str("never");
    }
    write!(f, "{}.{:09}s", ns / NS_PER_S, ns % NS_PER_S)
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_seconds(f, self.0)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_seconds(f, self.0)
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_seconds(f, self.0)
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_seconds(f, self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transmission_is_rounded_once_to_the_nearest_nanosecond() {
        // 1040 B = 8320 bits at 10 Mb/s: 832 us exactly.
        assert_eq!(Span::of_transmission(1040, 10_000_000), Span::from_us(832));
        // 1 B at 11 Mb/s: 8/11 us = 727.27 ns; 3 B: 2181.8 ns.
        assert_eq!(Span::of_transmission(1, 11_000_000), Span::from_ns(727));
        assert_eq!(Span::of_transmission(3, 11_000_000), Span::from_ns(2182));
        // 20 GB at 1 Gb/s: 160 s, beyond what 64 bits of bit-nanoseconds hold.
        assert_eq!(Span::of_transmission(20_000_000_000, 1_000_000_000), Span::from_secs(160));
        assert_eq!(Span::of_transmission(1, 0), Span::MAX);
    }

    #[test]
    fn never_stays_never() {
        assert_eq!(Time::MAX + Span::from_secs(1), Time::MAX);
        assert_eq!(Time::from_ns(3).since(Time::from_ns(5)), Span::ZERO);
        assert_eq!(Span::from_secs_f64(-1.0), Span::ZERO);
        assert_eq!(Span::from_secs_f64(0.2), Span::from_ms(200));
    }
}
