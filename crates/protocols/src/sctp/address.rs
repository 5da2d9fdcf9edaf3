//! Addresses as parameters (RFC 9260 3.3.2.1), and parameters within parameters (RFC 5061 4.2).
//!
//! Associations know addresses by number, and write the automatic address of a number. For readers outside
//! [`Packet::chosen`] puts the chosen one in its place; both have the same length.

use super::chunk::{Chunk, Packet, Parameter};
use super::config::AddressForm;
use crate::addresses::IpAddresses;
use crate::machine::Address;

pub(super) fn to_parameter(form: AddressForm, address: Address) -> Parameter {
    let (kind, value) = match form {
        AddressForm::Ipv4 => (Parameter::IPV4_ADDRESS, address.ipv4_octets().to_vec()),
        AddressForm::Ipv6 => (Parameter::IPV6_ADDRESS, address.ipv6_octets().to_vec()),
    };
    Parameter { kind, value }
}

/// `None` for another parameter, or an address that is no automatic one. That there is an interface of that
/// number is not said: peers which are not trusted are pinned (`Association::pin_peer`).
pub(super) fn from_parameter(parameter: &Parameter) -> Option<Address> {
    from_value(parameter.kind, &parameter.value)
}

fn from_value(kind: u16, value: &[u8]) -> Option<Address> {
    match kind {
        Parameter::IPV4_ADDRESS => Address::from_ipv4_octets(value.try_into().ok()?),
        Parameter::IPV6_ADDRESS => Address::from_ipv6_octets(value.try_into().ok()?),
        _ => None,
    }
}

/// The parameter as it stands within another.
pub(super) fn octets(parameter: &Parameter) -> Vec<u8> {
    let mut octets = parameter.kind.to_be_bytes().to_vec();
    octets.extend((parameter.bytes() as u16).to_be_bytes());
    octets.extend(&parameter.value);
    octets
}

/// The address of an address parameter that stands within another.
pub(super) fn from_octets(octets: &[u8]) -> Option<Address> {
    let (&[kind_high, kind_low, length_high, length_low], value) = octets.split_first_chunk::<4>()?;
    let fits = usize::from(u16::from_be_bytes([length_high, length_low])) == octets.len();
    fits.then(|| from_value(u16::from_be_bytes([kind_high, kind_low]), value))?
}

impl Packet {
    /// The packet with the chosen addresses of interfaces.
    pub fn chosen(&self, addresses: &IpAddresses) -> Packet {
        let mut packet = self.clone();
        for chunk in &mut packet.chunks {
            match chunk {
                Chunk::Init(init) | Chunk::InitAck(init) => choose_all(&mut init.parameters, addresses),
                Chunk::Asconf(asconf) => {
                    choose(asconf.address.kind, &mut asconf.address.value, addresses);
                    choose_all(&mut asconf.parameters, addresses);
                }
                Chunk::AsconfAck(ack) => choose_all(&mut ack.parameters, addresses),
                _ => {}
            }
        }
        packet
    }
}

fn choose_all(parameters: &mut [Parameter], addresses: &IpAddresses) {
    parameters.iter_mut().for_each(|parameter| choose(parameter.kind, &mut parameter.value, addresses));
}

fn choose(kind: u16, value: &mut [u8], addresses: &IpAddresses) {
    // What lies before a parameter within: a correlation number; in a refusal also the header of a cause.
    let before = match kind {
        Parameter::ADD_ADDRESS | Parameter::DELETE_ADDRESS | Parameter::SET_PRIMARY => 4,
        Parameter::ERROR_CAUSE_INDICATION => 8,
        _ => {
            match from_value(kind, value) {
                Some(address) if kind == Parameter::IPV4_ADDRESS => {
                    value.copy_from_slice(&addresses.v4(address).octets());
                }
                Some(address) => value.copy_from_slice(&addresses.v6(address).octets()),
                None => {}
            }
            return;
        }
    };
    if let Some(&mut [high, low, _, _, ref mut value @ ..]) = value.get_mut(before..) {
        choose(u16::from_be_bytes([high, low]), value, addresses);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_within_a_parameter_is_read_back() {
        for form in [AddressForm::Ipv4, AddressForm::Ipv6] {
            let parameter = to_parameter(form, Address(3));
            assert_eq!(from_parameter(&parameter), Some(Address(3)));
            assert_eq!(from_octets(&octets(&parameter)), Some(Address(3)));
            assert_eq!(from_octets(&octets(&parameter)[..7]), None);
        }
        assert_eq!(octets(&to_parameter(AddressForm::Ipv4, Address(3))), [0, 5, 0, 8, 10, 0, 0, 4]);
        assert_eq!(from_octets(&[]), None);
    }

    #[test]
    fn chosen_addresses_are_written_wherever_an_address_stands() {
        let mut addresses = IpAddresses::default();
        addresses.choose(Address(3), [192, 0, 2, 7].into());
        let address = to_parameter(AddressForm::Ipv4, Address(3));
        let within = |kind, before: &[u8], inner: &Parameter| {
            let value = [before, &octets(inner)].concat();
            Parameter { kind, value }
        };
        let add = within(Parameter::ADD_ADDRESS, &[0, 0, 0, 1], &address);
        let cause = within(0x00A0, &[], &add);
        let refusal = within(Parameter::ERROR_CAUSE_INDICATION, &[0, 0, 0, 1], &cause);
        for parameter in [address, add, refusal] {
            let mut written = parameter.clone();
            choose(written.kind, &mut written.value, &addresses);
            assert!(parameter.value.ends_with(&[10, 0, 0, 4]) && written.value.ends_with(&[192, 0, 2, 7]));
            assert_eq!(written.value.len(), parameter.value.len());
        }
        let mut other = to_parameter(AddressForm::Ipv4, Address(4));
        choose(other.kind, &mut other.value, &addresses);
        assert_eq!(other.value, [10, 0, 0, 5]);
    }
}
