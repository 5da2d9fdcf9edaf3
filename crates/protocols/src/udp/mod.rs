//! UDP (RFC 768): the header, its length, its checksum. There is no state to keep.

use crate::checksum;

/// Octets of a UDP header (RFC 768).
pub const HEADER_BYTES: u32 = 8;

/// A datagram, without its payload bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// Source port.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
    /// Octets behind the header.
    pub payload_bytes: u32,
}

impl Datagram {
    /// Octets, header included.
    pub fn total_bytes(&self) -> u32 {
        HEADER_BYTES + self.payload_bytes
    }

    /// The datagram on the wire. `pseudo_header` is the ones' complement sum of the IP pseudo-header (RFC
    /// 8200 section 8.1, RFC 768); `payload` holds `payload_bytes` octets.
    pub fn encode(&self, pseudo_header: checksum::Sum, payload: &[u8]) -> Vec<u8> {
        let mut octets = Vec::with_capacity(payload.len() + HEADER_BYTES as usize);
        self.append(pseudo_header, payload, &mut octets);
        octets
    }

    /// The same, behind what is there.
    pub fn append(&self, pseudo_header: checksum::Sum, payload: &[u8], octets: &mut Vec<u8>) {
        let start = octets.len();
        octets.extend(self.source_port.to_be_bytes());
        octets.extend(self.destination_port.to_be_bytes());
        octets.extend((self.total_bytes() as u16).to_be_bytes());
        octets.extend([0, 0]);
        octets.extend_from_slice(payload);
        // RFC 768: a computed checksum of zero is sent as all ones; zero would mean "none", which IPv6
        // forbids.
        let octets = &mut octets[start..];
        let checksum = match pseudo_header.with(octets).finish() {
            0 => 0xFFFF,
            sum => sum,
        };
        octets[6..8].copy_from_slice(&checksum.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_and_checksum_by_hand() {
        let datagram = Datagram { source_port: 1, destination_port: 2, payload_bytes: 3 };
        // Words: 0001 0002 000b 0000 6162 6300 = c470; with a pseudo-header sum of 0x0010: c480; complement
        // 3b7f.
        let octets = datagram.encode(checksum::Sum::from(0x10), b"abc");
        assert_eq!(octets, [0, 1, 0, 2, 0, 11, 0x3b, 0x7f, b'a', b'b', b'c']);
    }
}
