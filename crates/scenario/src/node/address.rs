//! Chosen addresses of nodes.

use std::borrow::Cow;
use std::fmt;
use std::net::IpAddr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error, Visitor};

use crate::units::shortened;

/// An address that an interface can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HostAddress(pub IpAddr);

/// The address of a node on one of its links or cells.
#[derive(Clone, Debug, PartialEq, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InterfaceAddress {
    /// The link or cell.
    pub access: String,
    /// The node's address there.
    pub address: HostAddress,
}

/// Why no interface can have an address.
fn fault(ip: IpAddr) -> Option<&'static str> {
    const LINK_LOCAL: &str = "is a link-local address, which is not routed";
    match ip {
        _ if ip.is_unspecified() => Some("stands for no address"),
        _ if ip.is_loopback() => Some("is a loopback address"),
        _ if ip.is_multicast() => Some("is a multicast address"),
        IpAddr::V4(ip) => match ip.octets() {
            [255, 255, 255, 255] => Some("is the broadcast address"),
            // RFC 1122 section 3.2.1.3, RFC 3927 section 2.7, RFC 1112 section 4.
            [0, ..] => Some("belongs to no network"),
            [169, 254, ..] => Some(LINK_LOCAL),
            [240..=255, ..] => Some("is in a reserved range"),
            _ => None,
        },
        // RFC 4291 sections 2.5.6 and 2.5.5.2.
        IpAddr::V6(ip) if ip.is_unicast_link_local() => Some(LINK_LOCAL),
        IpAddr::V6(ip) if ip.to_ipv4_mapped().is_some() => Some("stands for an address of IPv4"),
        IpAddr::V6(_) => None,
    }
}

/// What may stand there.
const WHAT: &str = "write an address such as \"192.0.2.7\" or \"2001:db8:1::7\"";

impl<'de> Deserialize<'de> for HostAddress {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<HostAddress, D::Error> {
        deserializer.deserialize_str(AddressVisitor)
    }
}

struct AddressVisitor;

impl Visitor<'_> for AddressVisitor {
    type Value = HostAddress;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an IP address such as \"192.0.2.7\"")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<HostAddress, E> {
        let shown = shortened(text);
        let (address, rest) = text.split_once(['/', '%']).map_or((text, None), |(a, rest)| (a, Some(rest)));
        match (address.parse::<IpAddr>(), rest) {
            (Ok(ip), None) => match fault(ip) {
                None => Ok(HostAddress(ip)),
                Some(fault) => Err(E::custom(format_args!("{shown} {fault}\n{WHAT}"))),
            },
            (Ok(ip), Some(_)) if text.contains('/') => Err(E::custom(format_args!(
                "\"{shown}\" has a prefix length, and a node answers for one address\nwrite \"{ip}\": routes follow \
                 from the links"
            ))),
            (Ok(ip), Some(_)) => Err(E::custom(format_args!(
                "\"{shown}\" has a zone, and an address has none here\nwrite \"{ip}\""
            ))),
            (Err(_), _) => Err(E::custom(format_args!("\"{shown}\" is not an IP address\n{WHAT}"))),
        }
    }
}

impl JsonSchema for HostAddress {
    fn schema_name() -> Cow<'static, str> {
        "HostAddress".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A unicast address of IPv4 or IPv6, without a prefix length.",
            "type": "string",
            "examples": ["192.0.2.7"],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_no_interface_can_have_are_told_apart() {
        let of = |text: &str| fault(text.parse().expect("an address"));
        for good in ["192.0.2.7", "10.1.2.3", "223.255.255.1", "2001:db8:1::7", "fd00::1"] {
            assert_eq!(of(good), None, "{good}");
        }
        let bad = [
            ("0.0.0.0", "no address"),
            ("::", "no address"),
            ("0.1.2.3", "no network"),
            ("127.0.0.1", "loopback"),
            ("::1", "loopback"),
            ("224.0.0.1", "multicast"),
            ("ff02::1", "multicast"),
            ("255.255.255.255", "the broadcast"),
            ("240.0.0.1", "reserved"),
            ("169.254.0.1", "link-local"),
            ("fe80::1", "link-local"),
            ("::ffff:192.0.2.7", "IPv4"),
        ];
        for (bad, why) in bad {
            assert!(of(bad).is_some_and(|fault| fault.contains(why)), "{bad}");
        }
    }
}
