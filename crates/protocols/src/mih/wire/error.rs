//! Why octets are not a valid MIH message.

use std::fmt;

use super::message_id::MessageId;

/// Why octets could not be read as an MIH message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// Fewer octets than the fixed header of 8.
    Truncated {
        /// How many there were.
        available: usize,
    },
    /// The version is not 1.
    UnknownVersion(u8),
    /// The length field announces more octets than there are.
    LengthBeyondPacket {
        /// Octets announced, header included.
        announced: usize,
        /// Octets there.
        available: usize,
    },
    /// A datagram holds octets behind the announced end.
    TrailingOctets {
        /// How many.
        octets: usize,
    },
    /// The message ID is none of IEEE 802.21's.
    UnknownMessage(MessageId),
    /// A fragment: MIH fragments are never used over UDP or TCP (RFC 5677 section 6.1).
    Fragment {
        /// The fragment number.
        number: u8,
    },
    /// A TLV reaches beyond the end of the message.
    BadTlvLength {
        /// The TLV's type.
        tlv_type: u8,
    },
    /// A TLV's value is not what its type demands.
    BadValue {
        /// The TLV's type.
        tlv_type: u8,
    },
    /// A TLV that this message must carry is not there (source and destination: not in their place).
    MissingTlv {
        /// The TLV's type.
        tlv_type: u8,
    },
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            DecodeError::Truncated { available } => {
                write!(f, "{available} octets are fewer than the MIH header's 8")
            }
            DecodeError::UnknownVersion(version) => write!(f, "MIH version {version}, not 1"),
            DecodeError::LengthBeyondPacket { announced, available } => {
                write!(f, "the message announces {announced} octets, {available} are there")
            }
            DecodeError::TrailingOctets { octets } => {
                write!(f, "{octets} octets behind the end of the message")
            }
            DecodeError::UnknownMessage(id) => write!(f, "unknown message ID 0x{:04x}", id.0),
            DecodeError::Fragment { number } => write!(f, "fragment {number} of a message"),
            DecodeError::BadTlvLength { tlv_type } => {
                write!(f, "TLV {tlv_type} reaches beyond the end of the message")
            }
            DecodeError::BadValue { tlv_type } => write!(f, "the value of TLV {tlv_type} is malformed"),
            DecodeError::MissingTlv { tlv_type } => write!(f, "TLV {tlv_type} is missing"),
        }
    }
}

impl std::error::Error for DecodeError {}
