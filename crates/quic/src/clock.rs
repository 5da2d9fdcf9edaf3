//! Simulated time as the library's.

use roamsim_engine::Time;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

/// Simulated time zero. Only differences to it count; a day of room is for what the library subtracts.
#[allow(clippy::disallowed_methods)] // There is no other way to an instant.
static ZERO: LazyLock<Instant> = LazyLock::new(|| Instant::now() + Duration::from_secs(86_400));

pub(crate) fn instant(time: Time) -> Instant {
    *ZERO + Duration::from_nanos(time.as_ns())
}

pub(crate) fn simulated(instant: Instant) -> Time {
    let since = instant.saturating_duration_since(*ZERO).as_nanos();
    Time::from_ns(u64::try_from(since).unwrap_or(u64::MAX))
}
