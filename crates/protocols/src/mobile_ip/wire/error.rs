//! Why octets are no Mobile IP message.

use std::fmt;

/// Why octets could not be read as a message of agent discovery or registration, or as a tunnelled packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// Fewer octets than the fixed part.
    Truncated {
        /// How many there were.
        available: usize,
    },
    /// A type that is no message of this protocol.
    UnknownType(u8),
    /// An ICMP code that the type does not know.
    UnknownCode(u8),
    /// The checksum is wrong.
    BadChecksum,
    /// A count or a length field contradicts the message.
    BadLength,
    /// A value that its field does not allow.
    BadValue,
    /// An extension that ends beyond the message, or is shorter than its type demands.
    BadExtension(u8),
    /// An extension from 0 to 127 that is not known: the message has to be discarded (RFC 5944 section 1.8).
    UnrecognizedExtension(u8),
    /// A router advertisement without the mobility agent advertisement extension: of a router that is no
    /// mobility agent.
    NoMobilityAgent,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            DecodeError::Truncated { available } => write!(f, "{available} octets are no whole message"),
            DecodeError::UnknownType(kind) => write!(f, "type {kind} is no message of Mobile IP"),
            DecodeError::UnknownCode(code) => write!(f, "ICMP code {code} is unknown"),
            DecodeError::BadChecksum => f.write_str("the checksum is wrong"),
            DecodeError::BadLength => f.write_str("a length field contradicts the message"),
            DecodeError::BadValue => f.write_str("a field has a value that it does not allow"),
            DecodeError::BadExtension(kind) => write!(f, "extension {kind} has a wrong length"),
            DecodeError::UnrecognizedExtension(kind) => {
                write!(f, "extension {kind} is not known and must not be skipped")
            }
            DecodeError::NoMobilityAgent => f.write_str("a router advertisement of no mobility agent"),
        }
    }
}

impl std::error::Error for DecodeError {}
