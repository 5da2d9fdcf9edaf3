//! Addresses as IP writes them: the chosen ones of an interface, else those of its number.

use crate::machine::Address;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The chosen addresses of a network, and the way from IP to numbers. Several interfaces of one node may have
/// the same address.
#[derive(Clone, Debug, Default)]
pub struct IpAddresses {
    chosen: BTreeMap<Address, IpAddr>,
    numbers: BTreeMap<IpAddr, Address>,
}

impl IpAddresses {
    /// Gives an interface an address in place of its automatic one.
    pub fn choose(&mut self, interface: Address, ip: IpAddr) {
        self.chosen.insert(interface, ip);
        self.numbers.entry(ip).or_insert(interface);
    }

    /// The chosen address of an interface.
    pub fn chosen(&self, interface: Address) -> Option<IpAddr> {
        self.chosen.get(&interface).copied()
    }

    /// As IPv4.
    pub fn v4(&self, address: Address) -> Ipv4Addr {
        match self.chosen.get(&address) {
            Some(&IpAddr::V4(ip)) => ip,
            _ if address == Address::BROADCAST => Ipv4Addr::BROADCAST,
            _ => address.ipv4_octets().into(),
        }
    }

    /// As IPv6.
    pub fn v6(&self, address: Address) -> Ipv6Addr {
        match self.chosen.get(&address) {
            Some(&IpAddr::V6(ip)) => ip,
            // All nodes of the link (RFC 4291 section 2.7.1).
            _ if address == Address::BROADCAST => Ipv6Addr::new(0xFF02, 0, 0, 0, 0, 0, 0, 1),
            _ => address.ipv6_octets().into(),
        }
    }

    /// The first interface that has chosen this address, or whose automatic one it is. The caller checks
    /// whether there is an interface of that number.
    pub fn find(&self, ip: IpAddr) -> Option<Address> {
        if let Some(&interface) = self.numbers.get(&ip) {
            return Some(interface);
        }
        let automatic = match ip {
            IpAddr::V4(Ipv4Addr::BROADCAST) => Some(Address::BROADCAST),
            IpAddr::V4(ip) => Address::from_ipv4_octets(ip.octets()),
            IpAddr::V6(ip) => Address::from_ipv6_octets(ip.octets()),
        };
        automatic.filter(|interface| !self.chosen.contains_key(interface))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chosen_address_takes_the_place_of_the_automatic_one() {
        let mut addresses = IpAddresses::default();
        let chosen = IpAddr::from([192, 0, 2, 7]);
        addresses.choose(Address(4), chosen);
        addresses.choose(Address(6), chosen);
        assert_eq!([4, 6].map(|number| addresses.v4(Address(number))), [Ipv4Addr::new(192, 0, 2, 7); 2]);
        assert_eq!(addresses.find(chosen), Some(Address(4)));
        // Nobody has 10.0.0.5 any more; the neighbours keep theirs.
        assert_eq!(addresses.find(IpAddr::from([10, 0, 0, 5])), None);
        assert_eq!(addresses.find(addresses.v4(Address(5)).into()), Some(Address(5)));
        assert_eq!(addresses.find(addresses.v6(Address(5)).into()), Some(Address(5)));
        assert_eq!(addresses.find(IpAddr::from([203, 0, 113, 1])), None);
        assert_eq!(addresses.find(addresses.v4(Address::BROADCAST).into()), Some(Address::BROADCAST));
    }
}
