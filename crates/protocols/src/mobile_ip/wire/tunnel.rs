//! The tunnel: IP encapsulation within IP (RFC 2003). A second IPv4 header in front of a packet, which leads
//! it from one end of the tunnel to the other.

use std::net::Ipv4Addr;

use super::DecodeError;
use crate::checksum::Sum;

/// Octets that the tunnel adds to a packet: an IPv4 header without options.
pub const HEADER_BYTES: u32 = 20;

/// The protocol number of IP in IP.
pub const PROTOCOL: u8 = 4;

/// The outer header of a tunnelled packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OuterHeader {
    /// The encapsulator.
    pub source: Ipv4Addr,
    /// The decapsulator.
    pub destination: Ipv4Addr,
    /// Type of service, today the traffic class: copied from the inner header (section 3.1).
    pub type_of_service: u8,
    /// Identification.
    pub identification: u16,
    /// Don't fragment: copied from the inner header (section 3.1).
    pub dont_fragment: bool,
    /// Time to live.
    pub ttl: u8,
}

impl OuterHeader {
    /// Puts the header in front of a packet.
    pub fn encapsulate(&self, inner: &[u8]) -> Vec<u8> {
        let total = inner.len() + HEADER_BYTES as usize;
        let mut octets = Vec::with_capacity(total);
        octets.extend([0x45, self.type_of_service]);
        octets.extend((total as u16).to_be_bytes());
        octets.extend(self.identification.to_be_bytes());
        octets.extend([if self.dont_fragment { 0x40 } else { 0 }, 0, self.ttl, PROTOCOL, 0, 0]);
        octets.extend(self.source.octets());
        octets.extend(self.destination.octets());
        let checksum = Sum::default().with(&octets).finish();
        octets[10..12].copy_from_slice(&checksum.to_be_bytes());
        octets.extend(inner);
        octets
    }

    /// Takes the header off: the header, and the packet inside. Fragments and options are refused.
    pub fn decapsulate(octets: &[u8]) -> Result<(OuterHeader, &[u8]), DecodeError> {
        let truncated = DecodeError::Truncated { available: octets.len() };
        let (header, inner) = octets.split_first_chunk::<20>().ok_or(truncated)?;
        if header[0] != 0x45 {
            return Err(DecodeError::BadValue);
        }
        if header[9] != PROTOCOL {
            return Err(DecodeError::UnknownType(header[9]));
        }
        if Sum::default().with(header).finish() != 0 {
            return Err(DecodeError::BadChecksum);
        }
        if usize::from(u16::from_be_bytes([header[2], header[3]])) != octets.len() {
            return Err(DecodeError::BadLength);
        }
        if header[6] & 0xBF != 0 || header[7] != 0 {
            return Err(DecodeError::BadValue);
        }
        let address = |at: usize| Ipv4Addr::new(header[at], header[at + 1], header[at + 2], header[at + 3]);
        let outer = OuterHeader {
            source: address(12),
            destination: address(16),
            type_of_service: header[1],
            identification: u16::from_be_bytes([header[4], header[5]]),
            dont_fragment: header[6] & 0x40 != 0,
            ttl: header[8],
        };
        Ok((outer, inner))
    }
}
