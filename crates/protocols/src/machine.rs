//! The grammar that every machine speaks.
//!
//! Time and the random stream come in with the context. What arrives comes in through `handle_*`; what leaves
//! is taken with `poll_*`, until it returns `None`; `on_*` is a notification. After any `handle_*` or mutator
//! the caller polls `poll_transmit` and `poll_event` until both are empty, then asks `poll_timeout`.

use roamsim_engine::{Stream, Time};

/// What a machine knows of the world while it works.
pub struct Context<'a> {
    /// The present instant.
    pub now: Time,
    /// The machine's own random stream.
    pub random: &'a mut Stream,
}

/// A network-layer address, opaque to the machines: they compare it and hand it back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address(pub u32);

impl Address {
    /// Everyone on a link.
    pub const BROADCAST: Address = Address(u32::MAX);

    /// As IPv4, unless another is chosen ([`IpAddresses`](crate::IpAddresses)): the number plus one, for host
    /// zero is no host, within 10.0.0.0/8 (RFC 1918).
    pub fn ipv4_octets(self) -> [u8; 4] {
        (10 << 24 | (self.0.wrapping_add(1) & 0x00FF_FFFF)).to_be_bytes()
    }

    /// The number whose octets as IPv4 these are; `None` outside of 10.0.0.0/8.
    pub fn from_ipv4_octets(octets: [u8; 4]) -> Option<Address> {
        let number = u32::from_be_bytes(octets);
        (number >> 24 == 10).then(|| Address((number & 0x00FF_FFFF).wrapping_sub(1)))
    }

    /// As IPv6, unless another is chosen: the number plus one within the documentation prefix 2001:db8::/32
    /// (RFC 3849).
    pub fn ipv6_octets(self) -> [u8; 16] {
        (0x2001_0db8 << 96 | u128::from(self.0.wrapping_add(1))).to_be_bytes()
    }

    /// The number whose octets as IPv6 these are; `None` where the prefix or what follows it is another.
    pub fn from_ipv6_octets(octets: [u8; 16]) -> Option<Address> {
        let number = u128::from_be_bytes(octets);
        (number >> 32 == 0x2001_0db8 << 64).then(|| Address((number as u32).wrapping_sub(1)))
    }
}

/// A transport-layer address: network address and port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PeerAddress {
    /// The network address.
    pub address: Address,
    /// The UDP or TCP port.
    pub port: u16,
}

/// What every machine has: one soft deadline.
pub trait Machine {
    /// The earliest instant with work to do, `None` when nothing is pending.
    fn poll_timeout(&self) -> Option<Time>;

    /// Does the work that is due at `cx.now`. Calling it early is a no-op.
    fn handle_timeout(&mut self, cx: &mut Context<'_>);
}

#[cfg(test)]
mod tests {
    use super::Address;

    #[test]
    fn addresses_are_written_as_ip_and_read_back() {
        assert_eq!(Address(0).ipv4_octets(), [10, 0, 0, 1]);
        assert_eq!(Address(255).ipv6_octets()[..4], [0x20, 0x01, 0x0D, 0xB8]);
        assert_eq!(Address(255).ipv6_octets()[14..], [1, 0]);
        for address in [Address(0), Address(7), Address(70_000)] {
            assert_eq!(Address::from_ipv4_octets(address.ipv4_octets()), Some(address));
            assert_eq!(Address::from_ipv6_octets(address.ipv6_octets()), Some(address));
        }
        assert_eq!(Address::from_ipv4_octets([192, 0, 2, 1]), None);
        assert_eq!(Address::from_ipv6_octets([0; 16]), None);
    }
}
