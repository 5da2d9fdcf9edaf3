//! Addresses as parameters (RFC 9260 3.3.2.1), and parameters within parameters (RFC 5061 4.2).

use super::chunk::Parameter;
use super::config::AddressForm;
use crate::machine::Address;

pub(super) fn to_parameter(form: AddressForm, address: Address) -> Parameter {
    let (kind, value) = match form {
        AddressForm::Ipv4 => (Parameter::IPV4_ADDRESS, address.ipv4_octets().to_vec()),
        AddressForm::Ipv6 => (Parameter::IPV6_ADDRESS, address.ipv6_octets().to_vec()),
    };
    Parameter { kind, value }
}

/// `None` for another parameter, or an address that no interface here has.
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
}
