//! The state cookie (RFC 9260 5.1.3): all that the end which listens knows, kept by the peer.
//!
//! Without a message authentication code: a peer can forge one, and harms its own association alone. Of what
//! a pinned peer says of addresses nothing is believed (`Association::pin_peer`).

use roamsim_engine::Time;

use super::paths::MOST_PEER_ADDRESSES;
use crate::machine::Address;

/// What a cookie holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cookie {
    pub(super) tag: u32,
    pub(super) peer_tag: u32,
    pub(super) peer_initial_tsn: u32,
    pub(super) peer_rwnd_bytes: u32,
    pub(super) peer_inbound_streams: u16,
    pub(super) peer_takes_asconf: bool,
    pub(super) peer_takes_forward_tsn: bool,
    pub(super) made_at: Time,
    /// Where the INIT came from, then what its parameters name.
    pub(super) peer_addresses: Vec<Address>,
}

impl Cookie {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut octets = Vec::with_capacity(27 + 4 * self.peer_addresses.len());
        for number in [self.tag, self.peer_tag, self.peer_initial_tsn, self.peer_rwnd_bytes] {
            octets.extend(number.to_be_bytes());
        }
        octets.extend(self.made_at.as_ns().to_be_bytes());
        octets.extend(self.peer_inbound_streams.to_be_bytes());
        octets.push(u8::from(self.peer_takes_asconf) | u8::from(self.peer_takes_forward_tsn) << 1);
        for address in &self.peer_addresses {
            octets.extend(address.0.to_be_bytes());
        }
        octets
    }

    /// `None` for octets of another form, and of no or too many addresses.
    pub(super) fn decode(octets: &[u8]) -> Option<Cookie> {
        let (fixed, rest) = octets.split_first_chunk::<16>()?;
        let (made_at, rest) = rest.split_first_chunk::<8>()?;
        let (streams, rest) = rest.split_first_chunk::<2>()?;
        let (&takes, rest) = rest.split_first()?;
        let number = |at: usize| u32::from_be_bytes([fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]]);
        let (addresses, []) = rest.as_chunks::<4>() else { return None };
        if addresses.is_empty() || addresses.len() > MOST_PEER_ADDRESSES {
            return None;
        }
        Some(Cookie {
            tag: number(0),
            peer_tag: number(4),
            peer_initial_tsn: number(8),
            peer_rwnd_bytes: number(12),
            peer_inbound_streams: u16::from_be_bytes(*streams),
            peer_takes_asconf: takes & 1 != 0,
            peer_takes_forward_tsn: takes & 2 != 0,
            made_at: Time::from_ns(u64::from_be_bytes(*made_at)),
            peer_addresses: addresses.iter().map(|&four| Address(u32::from_be_bytes(four))).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_comes_back_as_it_was() {
        let cookie = Cookie {
            tag: 1,
            peer_tag: 2,
            peer_initial_tsn: 3,
            peer_rwnd_bytes: 4,
            peer_inbound_streams: 5,
            peer_takes_asconf: true,
            peer_takes_forward_tsn: true,
            made_at: Time::from_ns(6),
            peer_addresses: vec![Address(7), Address(8)],
        };
        let octets = cookie.encode();
        // 4 x 4 + 8 + 2 + 1 + 2 x 4.
        assert_eq!(octets.len(), 35);
        assert_eq!(Cookie::decode(&octets), Some(cookie));
        assert_eq!(Cookie::decode(&octets[..34]), None);
        // No address; and one more than a peer may have.
        assert_eq!(Cookie::decode(&octets[..27]), None);
        let many = [&octets[..27], &[0; 4 * (MOST_PEER_ADDRESSES + 1)]].concat();
        assert_eq!(Cookie::decode(&many), None);
        assert!(Cookie::decode(&many[..many.len() - 4]).is_some());
    }
}
