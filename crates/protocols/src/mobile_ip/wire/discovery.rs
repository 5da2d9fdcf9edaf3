//! Agent discovery over ICMP: the agent advertisement, which is a router advertisement (RFC 1256) with
//! extensions (RFC 5944 section 2.1), and the agent solicitation, which is a router solicitation (section
//! 2.2).

use std::net::Ipv4Addr;

use super::{DecodeError, Reader};
use crate::checksum::Sum;

const TYPE_ADVERTISEMENT: u8 = 9;
const TYPE_SOLICITATION: u8 = 10;
/// The agent does not route common traffic (section 2.1.1): not used here, but read.
const CODE_NO_COMMON_TRAFFIC: u8 = 16;
const EXTENSION_PADDING: u8 = 0;
const EXTENSION_MOBILITY_AGENT: u8 = 16;
const EXTENSION_PREFIX_LENGTHS: u8 = 19;

/// The flags of a mobility agent advertisement extension (section 2.1.1; T: RFC 3024 section 3.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AgentFlags(pub u16);

impl AgentFlags {
    /// B: a foreign agent that takes no more visitors.
    pub const BUSY: AgentFlags = AgentFlags(0x4000);
    /// H: a home agent on this link.
    pub const HOME_AGENT: AgentFlags = AgentFlags(0x2000);
    /// F: a foreign agent on this link.
    pub const FOREIGN_AGENT: AgentFlags = AgentFlags(0x1000);
    /// T: reverse tunnels are supported.
    pub const REVERSE_TUNNEL: AgentFlags = AgentFlags(0x0100);

    /// Whether all flags of `other` are set.
    pub const fn contains(self, other: AgentFlags) -> bool {
        self.0 & other.0 == other.0
    }

    /// These flags, and `other` if `set`.
    pub const fn with(self, other: AgentFlags, set: bool) -> AgentFlags {
        if set { AgentFlags(self.0 | other.0) } else { self }
    }
}

/// A router address of an advertisement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouterAddress {
    /// The address.
    pub address: Ipv4Addr,
    /// Its preference as default router.
    pub preference: i32,
}

/// An agent advertisement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentAdvertisement {
    /// Whether the agent routes common traffic too (ICMP code 0, otherwise 16).
    pub common_traffic: bool,
    /// How long the advertisement holds, in seconds.
    pub lifetime_s: u16,
    /// Router addresses.
    pub router_addresses: Vec<RouterAddress>,
    /// Advertisements sent since the agent started; 0xffff is followed by 256 (section 2.3.2).
    pub sequence: u16,
    /// The longest registration that the agent takes, in seconds; 0xffff without end.
    pub registration_lifetime_s: u16,
    /// Flags.
    pub flags: AgentFlags,
    /// Care-of addresses of a foreign agent.
    pub care_of_addresses: Vec<Ipv4Addr>,
    /// Prefix lengths of the router addresses in their order (section 2.1.2), or none.
    pub prefix_lengths: Vec<u8>,
}

impl AgentAdvertisement {
    /// Its octets, ICMP header included.
    pub fn encoded_bytes(&self) -> usize {
        let prefix_lengths = if self.prefix_lengths.is_empty() { 0 } else { 2 + self.prefix_lengths.len() };
        8 + 8 * self.router_addresses.len() + 8 + 4 * self.care_of_addresses.len() + prefix_lengths
    }

    /// The ICMP message.
    pub fn encode(&self) -> Vec<u8> {
        let mut octets = Vec::with_capacity(self.encoded_bytes());
        let code = if self.common_traffic { 0 } else { CODE_NO_COMMON_TRAFFIC };
        octets.extend([TYPE_ADVERTISEMENT, code, 0, 0, self.router_addresses.len() as u8, 2]);
        octets.extend(self.lifetime_s.to_be_bytes());
        for router in &self.router_addresses {
            octets.extend(router.address.octets());
            octets.extend(router.preference.to_be_bytes());
        }
        octets.extend([EXTENSION_MOBILITY_AGENT, (6 + 4 * self.care_of_addresses.len()) as u8]);
        for value in [self.sequence, self.registration_lifetime_s, self.flags.0] {
            octets.extend(value.to_be_bytes());
        }
        for address in &self.care_of_addresses {
            octets.extend(address.octets());
        }
        if !self.prefix_lengths.is_empty() {
            octets.extend([EXTENSION_PREFIX_LENGTHS, self.prefix_lengths.len() as u8]);
            octets.extend(&self.prefix_lengths);
        }
        with_checksum(octets)
    }

    /// Reads an ICMP message. Extensions from 128 are skipped; of a repeated extension the first counts.
    pub fn decode(octets: &[u8]) -> Result<AgentAdvertisement, DecodeError> {
        let code = header(octets, TYPE_ADVERTISEMENT)?;
        if code != 0 && code != CODE_NO_COMMON_TRAFFIC {
            return Err(DecodeError::UnknownCode(code));
        }
        let truncated = DecodeError::Truncated { available: octets.len() };
        let mut reader = Reader(&octets[4..]);
        let addresses = reader.u8().ok_or(truncated)?;
        let entry_words = reader.u8().ok_or(truncated)?;
        let lifetime_s = reader.u16().ok_or(truncated)?;
        if addresses == 0 || entry_words < 2 {
            return Err(DecodeError::BadLength);
        }
        let mut router_addresses = Vec::new();
        for _ in 0..addresses {
            let entry = reader.take(4 * usize::from(entry_words)).ok_or(DecodeError::BadLength)?;
            let mut entry = Reader(entry);
            let (Some(address), Some(preference)) = (entry.address(), entry.u32()) else {
                return Err(DecodeError::BadLength);
            };
            router_addresses.push(RouterAddress { address, preference: preference as i32 });
        }
        let mut agent = None;
        let mut prefix_lengths = Vec::new();
        while let Some(kind) = reader.u8() {
            if kind == EXTENSION_PADDING {
                continue;
            }
            let bad = DecodeError::BadExtension(kind);
            let length = reader.u8().ok_or(bad)?;
            let value = reader.take(usize::from(length)).ok_or(bad)?;
            match kind {
                EXTENSION_MOBILITY_AGENT => {
                    let extension = MobilityAgent::decode(value).ok_or(bad)?;
                    agent.get_or_insert(extension);
                }
                EXTENSION_PREFIX_LENGTHS if length == addresses && value.iter().all(|&bits| bits <= 32) => {
                    prefix_lengths = value.to_vec();
                }
                EXTENSION_PREFIX_LENGTHS => return Err(bad),
                128.. => {}
                _ => return Err(DecodeError::UnrecognizedExtension(kind)),
            }
        }
        let agent = agent.ok_or(DecodeError::NoMobilityAgent)?;
        Ok(AgentAdvertisement {
            common_traffic: code == 0,
            lifetime_s,
            router_addresses,
            sequence: agent.sequence,
            registration_lifetime_s: agent.registration_lifetime_s,
            flags: agent.flags,
            care_of_addresses: agent.care_of_addresses,
            prefix_lengths,
        })
    }
}

struct MobilityAgent {
    sequence: u16,
    registration_lifetime_s: u16,
    flags: AgentFlags,
    care_of_addresses: Vec<Ipv4Addr>,
}

impl MobilityAgent {
    fn decode(value: &[u8]) -> Option<MobilityAgent> {
        let mut reader = Reader(value);
        let (sequence, registration_lifetime_s, flags) =
            (reader.u16()?, reader.u16()?, AgentFlags(reader.u16()?));
        let mut care_of_addresses = Vec::new();
        while !reader.0.is_empty() {
            care_of_addresses.push(reader.address()?);
        }
        Some(MobilityAgent { sequence, registration_lifetime_s, flags, care_of_addresses })
    }
}

/// An agent solicitation: it has no content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgentSolicitation;

impl AgentSolicitation {
    /// Its octets, ICMP header included.
    pub const BYTES: usize = 8;

    /// The ICMP message.
    pub fn encode(self) -> Vec<u8> {
        with_checksum(vec![TYPE_SOLICITATION, 0, 0, 0, 0, 0, 0, 0])
    }

    /// Reads an ICMP message. Octets behind the reserved field are ignored (RFC 1256 section 4.2).
    pub fn decode(octets: &[u8]) -> Result<AgentSolicitation, DecodeError> {
        match header(octets, TYPE_SOLICITATION)? {
            0 => Ok(AgentSolicitation),
            code => Err(DecodeError::UnknownCode(code)),
        }
    }
}

fn with_checksum(mut octets: Vec<u8>) -> Vec<u8> {
    let checksum = Sum::default().with(&octets).finish();
    octets[2..4].copy_from_slice(&checksum.to_be_bytes());
    octets
}

/// Checks length, type and checksum; returns the ICMP code.
fn header(octets: &[u8], wanted: u8) -> Result<u8, DecodeError> {
    let &[kind, code, _, _, _, _, _, _, ..] = octets else {
        return Err(DecodeError::Truncated { available: octets.len() });
    };
    if kind != wanted {
        return Err(DecodeError::UnknownType(kind));
    }
    if Sum::default().with(octets).finish() != 0 {
        return Err(DecodeError::BadChecksum);
    }
    Ok(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_advertisement_octet_by_octet() {
        let advertisement = AgentAdvertisement {
            common_traffic: true,
            lifetime_s: 3,
            router_addresses: vec![RouterAddress { address: Ipv4Addr::new(10, 0, 0, 1), preference: 0 }],
            sequence: 7,
            registration_lifetime_s: 1800,
            flags: AgentFlags::FOREIGN_AGENT.with(AgentFlags::REVERSE_TUNNEL, true),
            care_of_addresses: vec![Ipv4Addr::new(10, 0, 0, 1)],
            prefix_lengths: vec![24],
        };
        // Words without the checksum: 0900 0102 0003 0a00 0001 0000 0000 100a
        // 0007 0708 1100 0a00 0001 1301 1800.
        // Their sum: 0900+0102=0a02, +0003=0a05, +0a00=1405, +0001=1406, +100a=2410, +0007=2417, +0708=2b1f,
        // +1100=3c1f, +0a00=461f, +0001=4620, +1301=5921, +1800=7121; the complement is 8ede.
        let octets = [
            9, 0, 0x8e, 0xde, 1, 2, 0, 3, 10, 0, 0, 1, 0, 0, 0, 0, // router advertisement
            16, 10, 0, 7, 0x07, 0x08, 0x11, 0x00, 10, 0, 0, 1, // mobility agent
            19, 1, 24, // prefix lengths
        ];
        assert_eq!(advertisement.encode(), octets);
        assert_eq!(advertisement.encoded_bytes(), octets.len());
        assert_eq!(AgentAdvertisement::decode(&octets), Ok(advertisement));
        assert_eq!(AgentSolicitation.encode(), [10, 0, 0xf5, 0xff, 0, 0, 0, 0]);
    }
}
