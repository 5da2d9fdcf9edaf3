//! The state cookie (RFC 9260 5.1.3): all that the end which listens knows, kept by the peer.
//!
//! Without a message authentication code: nobody forges cookies here.

use roamsim_engine::Time;

/// What a cookie holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cookie {
    pub(super) tag: u32,
    pub(super) peer_tag: u32,
    pub(super) peer_initial_tsn: u32,
    pub(super) peer_rwnd_bytes: u32,
    pub(super) peer_inbound_streams: u16,
    pub(super) made_at: Time,
}

impl Cookie {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut octets = Vec::with_capacity(26);
        for number in [self.tag, self.peer_tag, self.peer_initial_tsn, self.peer_rwnd_bytes] {
            octets.extend(number.to_be_bytes());
        }
        octets.extend(self.made_at.as_ns().to_be_bytes());
        octets.extend(self.peer_inbound_streams.to_be_bytes());
        octets
    }

    /// `None` for octets of another form.
    pub(super) fn decode(octets: &[u8]) -> Option<Cookie> {
        let (fixed, rest) = octets.split_first_chunk::<16>()?;
        let (made_at, rest) = rest.split_first_chunk::<8>()?;
        let streams = <[u8; 2]>::try_from(rest).ok()?;
        let number = |at: usize| u32::from_be_bytes([fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]]);
        Some(Cookie {
            tag: number(0),
            peer_tag: number(4),
            peer_initial_tsn: number(8),
            peer_rwnd_bytes: number(12),
            peer_inbound_streams: u16::from_be_bytes(streams),
            made_at: Time::from_ns(u64::from_be_bytes(*made_at)),
        })
    }
}
