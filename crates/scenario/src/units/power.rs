//! Powers of radios, `"20dBm"` or `"100mW"`.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserializer, Visitor};

use roamsim_network::link::propagation::dbm_of_milliwatts;

use super::quantity::{decimal_comma, shorten, split};

/// A power in the JSON schema.
pub struct Power;

impl JsonSchema for Power {
    fn schema_name() -> Cow<'static, str> {
        "Power".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "A power with its unit: dBm, which may be negative, nW, uW, mW or W.",
            "pattern": "^-?([0-9]|\\{i\\})+(\\.([0-9]|\\{i\\})+)?([eE][+-]?[0-9]+)? *(dBm|nW|uW|mW|W)$",
            "examples": ["20dBm"],
        })
    }
}

/// No radio sends or hears less or more (chosen: a factor of 10^30 either way).
const LARGEST_DBM: f64 = 300.0;

struct PowerVisitor;

fn refuse<E: de::Error>(what: impl fmt::Display) -> E {
    E::custom(format_args!("{what}\nwrite a power with its unit, such as \"20dBm\" or \"100mW\""))
}

fn without_unit<E: de::Error>(number: impl fmt::Display) -> E {
    refuse(format_args!("`{number}` has no unit: a power is needed"))
}

impl Visitor<'_> for PowerVisitor {
    type Value = f64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a power with its unit, such as \"20dBm\" or \"100mW\"")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<f64, E> {
        let trimmed = text.trim();
        let (negative, unsigned) = match trimmed.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, trimmed),
        };
        let Some(written) = split(unsigned) else {
            return Err(refuse(format_args!("\"{}\" is not a power", shorten(text))));
        };
        let number: f64 = written.number.parse().unwrap_or(f64::INFINITY);
        let milliwatts = match written.unit {
            "dBm" => None,
            "nW" => Some(1e-6),
            "uW" => Some(1e-3),
            "mW" => Some(1.0),
            "W" => Some(1e3),
            "" => return Err(without_unit(shorten(trimmed))),
            _ if let Some(help) = decimal_comma(&written) => {
                return Err(E::custom(format_args!("a number has no comma\n{help}")));
            }
            unit => return Err(refuse(format_args!("`{}` is not a unit of power", shorten(unit)))),
        };
        let dbm = match milliwatts {
            None if negative => -number,
            None => number,
            Some(_) if negative || number == 0.0 => {
                return Err(refuse("a power in watts is above zero"));
            }
            Some(milliwatts) => dbm_of_milliwatts(number * milliwatts),
        };
        match dbm.is_finite() && dbm.abs() <= LARGEST_DBM {
            true => Ok(dbm),
            false => Err(refuse("no radio has such a power")),
        }
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<f64, E> {
        Err(without_unit(number))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<f64, E> {
        Err(without_unit(number))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<f64, E> {
        Err(without_unit(number))
    }
}

/// Reads a power in dBm.
pub(crate) fn power<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    deserializer.deserialize_str(PowerVisitor)
}

/// The same of a key that may be left out.
pub(crate) fn some_power<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    power(deserializer).map(Some)
}
