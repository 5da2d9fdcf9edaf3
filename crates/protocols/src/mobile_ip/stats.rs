//! Why the agents and the mobile node did not take a message.

use super::wire::DecodeError;

/// Why a message was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rejection {
    /// Fewer octets than the fixed part.
    Truncated,
    /// A type that is no message for this machine.
    UnknownType,
    /// An unknown ICMP code.
    UnknownCode,
    /// The checksum is wrong.
    BadChecksum,
    /// A count or a length field contradicts the message.
    BadLength,
    /// A value that its field does not allow.
    BadValue,
    /// A malformed extension.
    BadExtension,
    /// An extension that must not be skipped is not known.
    UnrecognizedExtension,
    /// A router advertisement of no mobility agent.
    NoMobilityAgent,
    /// The authenticator is missing or wrong.
    FailedAuthentication,
    /// A reply to nothing that was asked.
    Unsolicited,
}

impl Rejection {
    /// All reasons.
    pub const ALL: [Rejection; 11] = [
        Rejection::Truncated,
        Rejection::UnknownType,
        Rejection::UnknownCode,
        Rejection::BadChecksum,
        Rejection::BadLength,
        Rejection::BadValue,
        Rejection::BadExtension,
        Rejection::UnrecognizedExtension,
        Rejection::NoMobilityAgent,
        Rejection::FailedAuthentication,
        Rejection::Unsolicited,
    ];

    /// The reason's name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Rejection::Truncated => "truncated",
            Rejection::UnknownType => "unknown_type",
            Rejection::UnknownCode => "unknown_code",
            Rejection::BadChecksum => "bad_checksum",
            Rejection::BadLength => "bad_length",
            Rejection::BadValue => "bad_value",
            Rejection::BadExtension => "bad_extension",
            Rejection::UnrecognizedExtension => "unrecognized_extension",
            Rejection::NoMobilityAgent => "no_mobility_agent",
            Rejection::FailedAuthentication => "failed_authentication",
            Rejection::Unsolicited => "unsolicited",
        }
    }
}

impl From<DecodeError> for Rejection {
    fn from(error: DecodeError) -> Rejection {
        match error {
            DecodeError::Truncated { .. } => Rejection::Truncated,
            DecodeError::UnknownType(_) => Rejection::UnknownType,
            DecodeError::UnknownCode(_) => Rejection::UnknownCode,
            DecodeError::BadChecksum => Rejection::BadChecksum,
            DecodeError::BadLength => Rejection::BadLength,
            DecodeError::BadValue => Rejection::BadValue,
            DecodeError::BadExtension(_) => Rejection::BadExtension,
            DecodeError::UnrecognizedExtension(_) => Rejection::UnrecognizedExtension,
            DecodeError::NoMobilityAgent => Rejection::NoMobilityAgent,
        }
    }
}

/// Messages that were not taken, by reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rejections([u64; Rejection::ALL.len()]);

impl Rejections {
    /// How many for this reason.
    pub fn count(&self, reason: Rejection) -> u64 {
        self.0[reason as usize]
    }

    pub(super) fn add(&mut self, reason: Rejection) {
        self.0[reason as usize] += 1;
    }
}
