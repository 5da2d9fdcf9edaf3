//! The option that tells a peer of the user timeout (RFC 5482 section 3), and the settings of its use.

use std::fmt;

use roamsim_engine::Span;

/// The field of the option: whether it counts minutes, and 15 bits of them or of seconds (RFC 5482 3.3).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct UserTimeout(u16);

impl UserTimeout {
    /// What the option takes in the header.
    pub(super) const BYTES: u32 = 4;

    const MINUTES: u16 = 1 << 15;

    /// The longest: 32767 minutes, 22 days and 18 hours.
    pub const MOST: Span = Span::from_secs(32_767 * 60);

    /// The field as it stands in the header; `None` for no time, which is reserved (RFC 5482 3.4).
    pub fn from_field(field: u16) -> Option<UserTimeout> {
        (field & !UserTimeout::MINUTES > 0).then_some(UserTimeout(field))
    }

    /// The option for a time, rounded up to whole seconds, or to whole minutes above 32767 s; at most
    /// [`UserTimeout::MOST`].
    pub fn of(time: Span) -> UserTimeout {
        let seconds = time.as_ns().div_ceil(1_000_000_000).max(1);
        match u16::try_from(seconds) {
            Ok(seconds) if seconds < UserTimeout::MINUTES => UserTimeout(seconds),
            _ => UserTimeout(UserTimeout::MINUTES | seconds.div_ceil(60).min(32_767) as u16),
        }
    }

    /// The field as it stands in the header.
    pub const fn field(self) -> u16 {
        self.0
    }

    /// The time that it tells.
    pub fn time(self) -> Span {
        let count = u64::from(self.0 & !UserTimeout::MINUTES);
        Span::from_secs(if self.0 & UserTimeout::MINUTES > 0 { 60 * count } else { count })
    }
}

impl fmt::Display for UserTimeout {
    /// As tcpdump prints it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "uto 0x{:x}", self.0)
    }
}

impl fmt::Debug for UserTimeout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// How an end uses the option. An end without it is not ENABLED (RFC 5482 section 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UserTimeoutOption {
    /// ADV_UTO of the end that opens, which is its user timeout too; the other end has that of its settings.
    pub advertised: Span,
    /// CHANGEABLE: the peer's option changes the user timeout.
    pub changeable: bool,
    /// L_LIMIT, below which no option brings it; nor below the retransmission timeout.
    pub lower_limit: Span,
    /// U_LIMIT, above which no option brings it.
    pub upper_limit: Span,
}

impl UserTimeoutOption {
    /// USER_TIMEOUT (RFC 5482 3.1) of an end that advertises `own`, if it has one, and whose peer advertises
    /// `remote`.
    pub(super) fn adapted(&self, own: Option<Span>, remote: Option<Span>, rto: Span) -> Option<Span> {
        let asked = own.max(remote)?;
        Some(asked.max(self.lower_limit).max(rto).min(self.upper_limit.max(rto)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_and_minutes() {
        let told = |seconds: u64| UserTimeout::of(Span::from_secs(seconds));
        assert_eq!((told(100).field(), told(100).time()), (100, Span::from_secs(100)));
        assert_eq!((told(32_767).field(), told(32_767).time()), (0x7FFF, Span::from_secs(32_767)));
        // 32768 s are 546 minutes and 8 s: 547 minutes.
        assert_eq!((told(32_768).field(), told(32_768).time()), (0x8000 + 547, Span::from_secs(547 * 60)));
        assert_eq!(told(u64::MAX / 1_000_000_000).time(), UserTimeout::MOST);
        assert_eq!(UserTimeout::of(Span::from_ms(1)).time(), Span::from_secs(1));
        assert_eq!((UserTimeout::from_field(0), UserTimeout::from_field(0x8000)), (None, None));
    }

    #[test]
    fn the_user_timeout_lies_between_the_limits() {
        let option = UserTimeoutOption {
            advertised: Span::from_secs(300),
            changeable: true,
            lower_limit: Span::from_secs(100),
            upper_limit: Span::from_secs(1000),
        };
        let adapted = |own: u64, remote: u64, rto: u64| {
            let some = |seconds: u64| (seconds > 0).then_some(Span::from_secs(seconds));
            option
                .adapted(some(own), some(remote), Span::from_secs(rto))
                .map(|time| time.as_ns() / 1_000_000_000)
        };
        // min(U_LIMIT, max(ADV_UTO, REMOTE_UTO, L_LIMIT))
        assert_eq!(
            [(300, 200), (200, 300), (10, 20), (300, 5000)].map(|(own, remote)| adapted(own, remote, 1)),
            [300, 300, 100, 1000].map(Some)
        );
        assert_eq!(
            (adapted(0, 150, 1), adapted(0, 0, 1), adapted(10, 20, 120), adapted(10, 20, 1001)),
            (Some(150), None, Some(120), Some(1001))
        );
    }
}
