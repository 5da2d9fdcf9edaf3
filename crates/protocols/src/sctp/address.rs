//! Addresses as parameters (RFC 9260 3.3.2.1).

use super::chunk::Parameter;
use super::config::AddressForm;
use crate::machine::Address;

pub(super) fn to_parameter(form: AddressForm, address: Address) -> Parameter {
    match form {
        AddressForm::Ipv4 => {
            Parameter { kind: Parameter::IPV4_ADDRESS, value: address.ipv4_octets().to_vec() }
        }
        AddressForm::Ipv6 => {
            Parameter { kind: Parameter::IPV6_ADDRESS, value: address.ipv6_octets().to_vec() }
        }
    }
}

/// `None` for another parameter, or an address that no interface here has.
pub(super) fn from_parameter(parameter: &Parameter) -> Option<Address> {
    let value = &parameter.value[..];
    match parameter.kind {
        Parameter::IPV4_ADDRESS => Address::from_ipv4_octets(value.try_into().ok()?),
        Parameter::IPV6_ADDRESS => Address::from_ipv6_octets(value.try_into().ok()?),
        _ => None,
    }
}
