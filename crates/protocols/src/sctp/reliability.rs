//! How long a message is worth sending (RFC 3758, RFC 7496).

use roamsim_engine::Time;

/// When the sender gives a message up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reliability {
    /// Never.
    Full,
    /// When it would be sent, for the first time or again, at this instant or later (timed reliability, RFC
    /// 3758 4.1).
    Until(Time),
    /// When one of its chunks would be sent again more often than this (limited retransmissions, RFC 7496
    /// 3.1).
    Retransmissions(u32),
}

impl Reliability {
    /// Whether it is not worth sending any more.
    pub(super) fn is_over(self, now: Time) -> bool {
        matches!(self, Reliability::Until(end) if end <= now)
    }

    /// Whether none of its chunks may be sent again.
    pub(super) fn ends_with_a_loss(self) -> bool {
        self == Reliability::Retransmissions(0)
    }

    /// One of its chunks is sent again.
    pub(super) fn count_retransmission(&mut self) {
        if let Reliability::Retransmissions(left) = self {
            *left = left.saturating_sub(1);
        }
    }
}
