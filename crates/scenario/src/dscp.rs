//! The class of a flow's packets: a Differentiated Services Codepoint, by number or by name.

use std::borrow::Cow;
use std::fmt;

use roamsim_network::traffic_class::TrafficClass;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize};

use crate::suggest::nearest;
use crate::units::shortened;

/// The names of per-hop behaviours, and their codepoints: class selectors (RFC 2474 section 4.2.2.1), assured
/// forwarding (RFC 2597 section 6), expedited forwarding (RFC 3246 section 2.7), lower effort (RFC 8622
/// section 2).
const NAMES: [(&str, u8); 23] = [
    ("default", 0),
    ("cs0", 0),
    ("cs1", 8),
    ("cs2", 16),
    ("cs3", 24),
    ("cs4", 32),
    ("cs5", 40),
    ("cs6", 48),
    ("cs7", 56),
    ("af11", 10),
    ("af12", 12),
    ("af13", 14),
    ("af21", 18),
    ("af22", 20),
    ("af23", 22),
    ("af31", 26),
    ("af32", 28),
    ("af33", 30),
    ("af41", 34),
    ("af42", 36),
    ("af43", 38),
    ("ef", 46),
    ("le", 1),
];

/// What may stand there.
const WHAT: &str =
    "a number from 0 to 63, \"ef\", \"le\", \"default\", \"cs0\" to \"cs7\" or \"af11\" to \"af43\"";

/// A Differentiated Services Codepoint; best effort unless it is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Dscp(u8);

impl Dscp {
    /// Its number.
    pub(crate) fn codepoint(self) -> u8 {
        self.0
    }

    /// The class of packets that are marked with it.
    pub(crate) fn traffic_class(self) -> TrafficClass {
        TrafficClass::of_dscp(self.0)
    }
}

impl<'de> Deserialize<'de> for Dscp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Dscp, D::Error> {
        deserializer.deserialize_any(DscpVisitor)
    }
}

struct DscpVisitor;

impl Visitor<'_> for DscpVisitor {
    type Value = Dscp;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number from 0 to 63, or the name of a class such as \"ef\",")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Dscp, E> {
        let names = || NAMES.iter().map(|(name, _)| *name);
        if let Some((_, number)) = NAMES.iter().find(|(name, _)| *name == text) {
            return Ok(Dscp(*number));
        }
        let help = match (text.parse::<i64>(), nearest(text, names())) {
            (Ok(number), _) => format!("write a number without quotes: {number}"),
            (Err(_), Some(meant)) => format!("did you mean \"{meant}\"? It may be {WHAT}"),
            (Err(_), None) => format!("it may be {WHAT}"),
        };
        Err(E::custom(format_args!("there is no class \"{}\"\n{help}", shortened(text))))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Dscp, E> {
        match u8::try_from(number) {
            Ok(number) if number < 64 => Ok(Dscp(number)),
            _ => Err(E::custom(format_args!("{number} is not a DSCP, which has six bits\nit may be {WHAT}"))),
        }
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Dscp, E> {
        self.visit_i64(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl JsonSchema for Dscp {
    fn schema_name() -> Cow<'static, str> {
        "Dscp".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names: Vec<&str> = NAMES.iter().map(|(name, _)| *name).collect();
        json_schema!({
            "description": "The class of packets, a Differentiated Services Codepoint (RFC 2474): a number from 0 to 63, or a \
                name: `default`, `cs0` to `cs7`, `af11` to `af43`, `ef` or `le`. Captures show it.",
            "anyOf": [
                { "type": "integer", "minimum": 0, "maximum": 63 },
                { "type": "string", "enum": names },
            ],
            "examples": ["ef"],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_what_their_rfcs_say() {
        let number = |name: &str| NAMES.iter().find(|(other, _)| *other == name).map(|(_, number)| *number);
        // RFC 2474: class selector n is n << 3. RFC 2597: AFxy is x << 3 | y << 1, as 001010 for AF11.
        for n in 0..8 {
            assert_eq!(number(&format!("cs{n}")), Some(n << 3));
        }
        for (class, precedence) in
            (1..=4).flat_map(|class| (1..=3).map(move |precedence| (class, precedence)))
        {
            assert_eq!(number(&format!("af{class}{precedence}")), Some(class << 3 | precedence << 1));
        }
        // RFC 3246: 101110. RFC 8622: 000001.
        assert_eq!((number("ef"), number("le"), number("default")), (Some(0b10_1110), Some(1), Some(0)));
    }
}
