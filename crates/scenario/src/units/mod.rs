//! Quantities as a scenario writes them: a decimal number and a unit, `"1.5ms"`, `"11Mb/s"`, `"200B"`.
//!
//! Conversion is exact decimal arithmetic: `"0.1s"` is 100,000,000 ns and no float is involved. A value
//! that is no whole number of base units (nanoseconds, bits per second, bytes) is an error, as is one above
//! 2^63 - 1.
//!
//! Rates are in bits per second (`b`); rates in bytes are refused with the value in bits, because `MB/s` and
//! `Mb/s` differ by a factor of eight and one letter. Prefixes are decimal (`k` = 1000); sizes also know
//! `KiB`, `MiB`, `GiB`.

mod power;
mod quantity;

use std::borrow::Cow;
use std::fmt;

use roamsim_engine::{Span, Time};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserializer, Visitor};
use serde::ser::{Serialize, Serializer};

pub use self::power::Power;
pub(crate) use self::power::{power, some_power};
use self::quantity::{
    FREQUENCY, Kind, LENGTH, RATE, Refusal, SIZE, SPEED, TIME, decimal_comma, no_unit, parse, print, shorten,
    split,
};

/// Reads a quantity of one kind, from whatever the scenario holds in its place.
struct QuantityVisitor(&'static Kind);

impl QuantityVisitor {
    fn refuse<E: de::Error>(refusal: Refusal) -> E {
        // decode::Error takes what follows the first line as help.
        E::custom(format_args!("{}\n{}", refusal.message, refusal.help))
    }
}

impl Visitor<'_> for QuantityVisitor {
    type Value = u64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} with its unit, such as \"{}\"", self.0.noun, self.0.example)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<u64, E> {
        parse(self.0, text).map_err(Self::refuse)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<u64, E> {
        Err(Self::refuse(no_unit(self.0, &number.to_string())))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<u64, E> {
        Err(Self::refuse(no_unit(self.0, &number.to_string())))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<u64, E> {
        Err(Self::refuse(no_unit(self.0, &number.to_string())))
    }
}

/// The JSON schema of a quantity.
fn quantity_schema(kind: &Kind, description: &str) -> Schema {
    let units = kind.units.iter().map(|u| u.symbol).collect::<Vec<_>>().join("|");
    json_schema!({
        "type": "string",
        "description": description,
        "pattern": format!("^([0-9]|\\{{i\\}})+(\\.([0-9]|\\{{i\\}})+)?([eE][+-]?[0-9]+)? *({units})$"),
        "examples": [kind.example],
    })
}

/// A quantity type: its field module for `#[serde(with = ...)]` and its place in the JSON schema.
macro_rules! quantity {
    ($module:ident, $schema:ident, $kind:expr, $base:ty, $from:path, $into:path, $doc:literal) => {
        #[doc = $doc]
        pub struct $schema;

        impl JsonSchema for $schema {
            fn schema_name() -> Cow<'static, str> {
                stringify!($schema).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                quantity_schema(&$kind, $doc)
            }
        }

        pub(crate) mod $module {
            use super::*;

            /// Reads the quantity into its base type, or into an `Option` of it.
            pub(crate) fn deserialize<'de, D, T>(deserializer: D) -> Result<T, D::Error>
            where
                D: Deserializer<'de>,
                T: From<$base>,
            {
                deserializer.deserialize_str(QuantityVisitor(&$kind)).map(|v| T::from($from(v)))
            }

            /// Writes the quantity with its unit.
            pub(crate) fn serialize<S, T>(value: &T, serializer: S) -> Result<S::Ok, S::Error>
            where
                S: Serializer,
                T: Copy + Into<Option<$base>>,
            {
                let value: Option<$base> = (*value).into();
                value.map(|v| print(&$kind, $into(v))).serialize(serializer)
            }
        }
    };
}

quantity!(
    duration,
    Duration,
    TIME,
    Span,
    Span::from_ns,
    Span::as_ns,
    "A length of time with its unit: ns, us, ms, s, min or h; whole nanoseconds."
);
quantity!(
    instant,
    Instant,
    TIME,
    Time,
    Time::from_ns,
    Time::as_ns,
    "An instant: the time since the start of the run, with its unit: ns, us, ms, s, min or h."
);
quantity!(
    rate,
    Rate,
    RATE,
    u64,
    u64::from,
    u64::from,
    "A bit rate with its unit: b/s, kb/s, Mb/s, Gb/s or Tb/s; k = 1000."
);
quantity!(
    size,
    Size,
    SIZE,
    u64,
    u64::from,
    u64::from,
    "A size with its unit: B, kB (1000 B), MB, GB, KiB (1024 B), MiB or GiB."
);

quantity!(
    frequency,
    Frequency,
    FREQUENCY,
    u64,
    u64::from,
    u64::from,
    "A frequency or a bandwidth with its unit: Hz, kHz, MHz or GHz."
);

quantity!(
    length,
    Length,
    LENGTH,
    f64,
    metres,
    millimetres,
    "A length with its unit: mm, cm, m or km; whole millimetres."
);
fn metres(millimetres: u64) -> f64 {
    millimetres as f64 / 1e3
}

fn millimetres(metres: f64) -> u64 {
    (metres * 1e3 + 0.5) as u64
}

fn metres_per_second(millimetres_per_hour: u64) -> f64 {
    millimetres_per_hour as f64 / 3.6e6
}

/// A speed in the JSON schema.
pub struct Speed;

impl JsonSchema for Speed {
    fn schema_name() -> Cow<'static, str> {
        "Speed".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        quantity_schema(&SPEED, "A speed with its unit: m/s or km/h.")
    }
}

/// Reads a speed in metres a second.
pub(crate) fn speed<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    deserializer.deserialize_str(QuantityVisitor(&SPEED)).map(metres_per_second)
}

/// A coordinate, `"-20m"`: a length that may be negative.
pub struct Coordinate;

impl JsonSchema for Coordinate {
    fn schema_name() -> Cow<'static, str> {
        "Coordinate".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "A coordinate with its unit: mm, cm, m or km; it may be negative.",
            "pattern": "^-?([0-9]|\\{i\\})+(\\.([0-9]|\\{i\\})+)?([eE][+-]?[0-9]+)? *(mm|cm|m|km)$",
            "examples": ["-20m"],
        })
    }
}

/// Reads a coordinate in metres.
pub(crate) fn coordinate<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    struct CoordinateVisitor(QuantityVisitor);

    impl Visitor<'_> for CoordinateVisitor {
        type Value = f64;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            self.0.expecting(f)
        }

        fn visit_str<E: de::Error>(self, text: &str) -> Result<f64, E> {
            let text = text.trim();
            match text.strip_prefix('-') {
                Some(text) if !text.starts_with('-') => self.0.visit_str(text).map(|v| -metres(v)),
                _ => self.0.visit_str(text).map(metres),
            }
        }

        fn visit_i64<E: de::Error>(self, number: i64) -> Result<f64, E> {
            self.0.visit_i64(number).map(metres)
        }

        fn visit_f64<E: de::Error>(self, number: f64) -> Result<f64, E> {
            self.0.visit_f64(number).map(metres)
        }
    }

    deserializer.deserialize_str(CoordinateVisitor(QuantityVisitor(&LENGTH)))
}

/// A rate of events, `"200/s"`.
pub struct EventRate;

impl JsonSchema for EventRate {
    fn schema_name() -> Cow<'static, str> {
        "EventRate".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "How often something happens: a number a second, with its unit: /s.",
            "pattern": "^([0-9]|\\{i\\})+(\\.([0-9]|\\{i\\})+)?([eE][+-]?[0-9]+)? */s$",
            "examples": ["200/s"],
        })
    }
}

/// The same of a key that may be left out.
pub(crate) fn some_event_rate<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    event_rate(deserializer).map(Some)
}

/// Reads `"200/s"` as 200.0 a second.
pub(crate) fn event_rate<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    struct EventRateVisitor;

    fn refuse<E: de::Error>(what: impl fmt::Display, number: &str) -> E {
        E::custom(format_args!("{what}\nwrite how many a second, such as \"{}/s\"", shorten(number)))
    }

    fn without_unit<E: de::Error>(number: &str) -> E {
        refuse(format_args!("`{}` has no unit: a rate of events is needed", shorten(number)), number)
    }

    impl Visitor<'_> for EventRateVisitor {
        type Value = f64;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a number a second, such as \"200/s\"")
        }

        fn visit_str<E: de::Error>(self, text: &str) -> Result<f64, E> {
            let Some(written) = split(text.trim()) else {
                return Err(refuse(format_args!("\"{}\" is not a rate of events", shorten(text)), "200"));
            };
            match written.unit {
                "/s" => match written.number.parse::<f64>() {
                    Ok(rate) if rate.is_finite() => Ok(rate),
                    _ => Err(refuse("this rate is too large", "200")),
                },
                "" => Err(without_unit(written.number)),
                _ if let Some(help) = decimal_comma(&written) => {
                    Err(E::custom(format_args!("a number has no comma\n{help}")))
                }
                unit => Err(refuse(
                    format_args!("`{}` is not a unit of a rate of events", shorten(unit)),
                    written.number,
                )),
            }
        }

        fn visit_i64<E: de::Error>(self, number: i64) -> Result<f64, E> {
            Err(without_unit(&number.to_string()))
        }

        fn visit_u64<E: de::Error>(self, number: u64) -> Result<f64, E> {
            Err(without_unit(&number.to_string()))
        }

        fn visit_f64<E: de::Error>(self, number: f64) -> Result<f64, E> {
            Err(without_unit(&number.to_string()))
        }
    }

    deserializer.deserialize_str(EventRateVisitor)
}

/// A probability in the JSON schema.
pub struct Probability;

impl JsonSchema for Probability {
    fn schema_name() -> Cow<'static, str> {
        "Probability".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "number", "minimum": 0, "maximum": 1,
            "description": "A probability: a number from 0 to 1.",
        })
    }
}

/// The shape of a Pareto distribution in the JSON schema.
pub struct TailExponent;

impl JsonSchema for TailExponent {
    fn schema_name() -> Cow<'static, str> {
        "TailExponent".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "number", "exclusiveMinimum": 1,
            "description": "The shape of a Pareto distribution that has a mean: a number above 1.",
        })
    }
}

/// Reads a number above 1.
pub(crate) fn tail_exponent<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    struct TailExponentVisitor;

    impl Visitor<'_> for TailExponentVisitor {
        type Value = f64;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a number above 1")
        }

        fn visit_f64<E: de::Error>(self, value: f64) -> Result<f64, E> {
            if value > 1.0 && value.is_finite() {
                return Ok(value);
            }
            let help = "write a number above 1, such as 1.5; the larger it is, the fewer times are long";
            Err(E::custom(format_args!("a Pareto distribution of shape {value} has no mean\n{help}")))
        }

        fn visit_i64<E: de::Error>(self, value: i64) -> Result<f64, E> {
            self.visit_f64(value as f64)
        }
    }

    deserializer.deserialize_f64(TailExponentVisitor)
}

/// Reads a number above zero.
pub(crate) fn above_zero<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    struct AboveZeroVisitor;

    impl Visitor<'_> for AboveZeroVisitor {
        type Value = f64;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a number above zero")
        }

        fn visit_f64<E: de::Error>(self, value: f64) -> Result<f64, E> {
            if value > 0.0 && value <= 100.0 {
                return Ok(value);
            }
            Err(E::custom(format_args!(
                "{value} is not above zero and 100 at most\nwrite a number such as 1.2"
            )))
        }

        fn visit_i64<E: de::Error>(self, value: i64) -> Result<f64, E> {
            self.visit_f64(value as f64)
        }
    }

    deserializer.deserialize_f64(AboveZeroVisitor)
}

/// So many percent, as a share of one.
pub(crate) fn of_percent(percent: &str) -> Option<f64> {
    // A division by 100 would make 0.011000000000000001 of 1.1.
    format!("{}e-2", percent.trim()).parse().ok()
}

/// The same of a key that may be left out.
pub(crate) fn some_probability<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    probability(deserializer).map(Some)
}

/// Reads a number from 0 to 1.
pub(crate) fn probability<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    struct ProbabilityVisitor;

    impl Visitor<'_> for ProbabilityVisitor {
        type Value = f64;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a number from 0 to 1")
        }

        fn visit_f64<E: de::Error>(self, value: f64) -> Result<f64, E> {
            if (0.0..=1.0).contains(&value) {
                return Ok(value);
            }
            let help = match value {
                v if v > 1.0 && v <= 100.0 => {
                    let share = of_percent(&v.to_string()).unwrap_or(v / 100.0);
                    format!("write a number from 0 to 1; {v} % is {share}")
                }
                _ => "write a number from 0 to 1".into(),
            };
            Err(E::custom(format_args!("{value} is not a probability\n{help}")))
        }

        fn visit_i64<E: de::Error>(self, value: i64) -> Result<f64, E> {
            self.visit_f64(value as f64)
        }
    }

    deserializer.deserialize_f64(ProbabilityVisitor)
}

/// A time with its unit, for messages.
pub(crate) fn time_text(span: Span) -> String {
    print(&TIME, span.as_ns())
}

/// A rate with its unit, for messages.
pub(crate) fn rate_text(bps: u64) -> String {
    print(&RATE, bps)
}

/// A length in metres, to the millimetre, for messages.
pub(crate) fn length_text(metres: f64) -> String {
    let rounded = (metres * 1e3).round() / 1e3;
    // Zero has no sign here.
    format!("{}m", if rounded == 0.0 { 0.0 } else { rounded })
}

/// The beginning of a text that may be long, for messages.
pub(crate) fn shortened(text: &str) -> Cow<'_, str> {
    shorten(text)
}
