//! Quantities as a scenario writes them: a decimal number and a unit, `"1.5ms"`, `"11Mb/s"`, `"200B"`.
//!
//! Conversion is exact decimal arithmetic: `"0.1s"` is 100,000,000 ns and no float is involved. A value that is no
//! whole number of base units (nanoseconds, bits per second, bytes) is an error, as is one above 2^63 - 1.
//!
//! Rates are in bits per second (`b`); rates in bytes are refused with the value in bits, because `MB/s` and `Mb/s`
//! differ by a factor of eight and one letter. Prefixes are decimal (`k` = 1000); sizes also know `KiB`, `MiB`, `GiB`.

use std::borrow::Cow;
use std::fmt;

use roamsim_engine::{Span, Time};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserializer, Visitor};
use serde::ser::{Serialize, Serializer};

/// A unit and how many base units it holds.
struct Unit {
    symbol: &'static str,
    factor: u64,
}

const fn unit(symbol: &'static str, factor: u64) -> Unit {
    Unit { symbol, factor }
}

/// What a quantity measures.
pub(crate) struct Kind {
    /// With article: "a time".
    noun: &'static str,
    /// The base unit in words, plural.
    base: &'static str,
    example: &'static str,
    /// From small to large. Printing takes the first from the end that divides the value.
    units: &'static [Unit],
    /// What people write, and the unit that they mean.
    aliases: &'static [(&'static str, &'static str)],
}

const TIME: Kind = Kind {
    noun: "a time",
    base: "nanoseconds",
    example: "10ms",
    units: &[
        unit("ns", 1),
        unit("us", 1_000),
        unit("ms", 1_000_000),
        unit("s", 1_000_000_000),
        unit("min", 60_000_000_000),
        unit("h", 3_600_000_000_000),
    ],
    aliases: &[
        ("µs", "us"),
        ("μs", "us"),
        ("usec", "us"),
        ("msec", "ms"),
        ("sec", "s"),
        ("secs", "s"),
        ("second", "s"),
        ("seconds", "s"),
        ("mins", "min"),
        ("minute", "min"),
        ("minutes", "min"),
        ("hour", "h"),
        ("hours", "h"),
    ],
};

const RATE: Kind = Kind {
    noun: "a rate",
    base: "bits per second",
    example: "10Mb/s",
    units: &[
        unit("b/s", 1),
        unit("kb/s", 1_000),
        unit("Mb/s", 1_000_000),
        unit("Gb/s", 1_000_000_000),
        unit("Tb/s", 1_000_000_000_000),
    ],
    aliases: &[
        ("bps", "b/s"),
        ("bit/s", "b/s"),
        ("kbps", "kb/s"),
        ("kbit/s", "kb/s"),
        ("kbit", "kb/s"),
        ("kb", "kb/s"),
        ("Mbps", "Mb/s"),
        ("Mbit/s", "Mb/s"),
        ("Mbit", "Mb/s"),
        ("Mb", "Mb/s"),
        ("M", "Mb/s"),
        ("Gbps", "Gb/s"),
        ("Gbit/s", "Gb/s"),
        ("Gbit", "Gb/s"),
        ("Gb", "Gb/s"),
        ("G", "Gb/s"),
    ],
};

const SIZE: Kind = Kind {
    noun: "a size",
    base: "bytes",
    example: "1500B",
    units: &[
        unit("B", 1),
        unit("KiB", 1 << 10),
        unit("kB", 1_000),
        unit("MiB", 1 << 20),
        unit("MB", 1_000_000),
        unit("GiB", 1 << 30),
        unit("GB", 1_000_000_000),
    ],
    aliases: &[
        ("byte", "B"),
        ("bytes", "B"),
        ("octets", "B"),
        ("b", "B"),
        ("k", "kB"),
        ("K", "kB"),
        ("KB", "kB"),
        ("kib", "KiB"),
        ("M", "MB"),
        ("mib", "MiB"),
        ("G", "GB"),
    ],
};

const KINDS: [&Kind; 3] = [&TIME, &RATE, &SIZE];

/// The largest value of any quantity in base units: half the range, so that sums of two do not overflow.
const LARGEST: u64 = i64::MAX as u64;

/// Why a text is no quantity of the wanted kind: what is wrong, and what to write instead.
#[derive(Debug)]
struct Refusal {
    message: String,
    help: String,
}

/// The parts of "1.5e3ms": digits without the point, power of ten, unit.
struct Written<'a> {
    number: &'a str,
    mantissa: Option<u128>,
    exponent: i64,
    unit: &'a str,
}

fn split(text: &str) -> Option<Written<'_>> {
    let bytes = text.as_bytes();
    let mut at = 0;
    let mut digits = String::new();
    let mut exponent = 0i64;
    while bytes.get(at).is_some_and(u8::is_ascii_digit) {
        digits.push(char::from(bytes[at]));
        at += 1;
    }
    if at == 0 {
        return None;
    }
    if bytes.get(at) == Some(&b'.') && bytes.get(at + 1).is_some_and(u8::is_ascii_digit) {
        at += 1;
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            digits.push(char::from(bytes[at]));
            exponent -= 1;
            at += 1;
        }
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let sign_at = at + 1;
        let digits_at = sign_at + usize::from(matches!(bytes.get(sign_at), Some(b'+' | b'-')));
        let mut end = digits_at;
        while bytes.get(end).is_some_and(u8::is_ascii_digit) {
            end += 1;
        }
        if end > digits_at {
            let power = text[digits_at..end].parse::<i64>().unwrap_or(i64::MAX).min(1_000_000);
            exponent += if bytes[sign_at] == b'-' { -power } else { power };
            at = end;
        }
    }
    let significant = digits.trim_start_matches('0');
    let trimmed = significant.trim_end_matches('0');
    exponent += (significant.len() - trimmed.len()) as i64;
    let mantissa = match trimmed {
        "" => Some(0),
        trimmed if trimmed.len() <= 20 => trimmed.parse().ok(),
        _ => None,
    };
    Some(Written { number: &text[..at], mantissa, exponent, unit: text[at..].trim() })
}

/// `mantissa * 10^exponent * factor`, when it is a whole number of at most [`LARGEST`].
fn scale(written: &Written<'_>, factor: u64, kind: &Kind) -> Result<u64, Refusal> {
    let too_large = || Refusal {
        message: format!("this is more than {LARGEST} {}", kind.base),
        help: format!("no quantity may be larger; write a smaller value, such as \"{}\"", kind.example),
    };
    let too_fine = || Refusal {
        message: format!("this is no whole number of {}", kind.base),
        help: format!("{} is counted in whole {}; round the value", kind.noun, kind.base),
    };
    let Some(mantissa) = written.mantissa else {
        return Err(Refusal {
            message: "this number has more than 20 significant digits".into(),
            help: format!("round the value; {} is counted in whole {}", kind.noun, kind.base),
        });
    };
    if mantissa == 0 {
        return Ok(0);
    }
    // At most 20 digits and a factor below 10^13: the product stays below 10^33.
    let scaled = mantissa * u128::from(factor);
    let power = |exponent: i64| u32::try_from(exponent).ok().and_then(|e| 10u128.checked_pow(e));
    let value = if written.exponent >= 0 {
        power(written.exponent).and_then(|p| scaled.checked_mul(p)).ok_or_else(too_large)?
    } else {
        match power(-written.exponent) {
            Some(p) if scaled.is_multiple_of(p) => scaled / p,
            _ => return Err(too_fine()),
        }
    };
    u64::try_from(value).ok().filter(|&v| v <= LARGEST).ok_or_else(too_large)
}

fn symbols(kind: &Kind) -> String {
    kind.units.iter().map(|u| u.symbol).collect::<Vec<_>>().join(", ")
}

fn parse(kind: &Kind, text: &str) -> Result<u64, Refusal> {
    let text = text.trim();
    let examples = || format!("write {} with its unit, such as \"{}\"", kind.noun, kind.example);
    if let Some(rest) = text.strip_prefix('-')
        && split(rest).is_some()
    {
        return Err(Refusal { message: format!("{} may not be negative", kind.noun), help: examples() });
    }
    let Some(written) = split(text) else {
        return Err(Refusal {
            message: format!("\"{}\" is not {}", shorten(text), kind.noun),
            help: examples(),
        });
    };
    if let Some(unit) = kind.units.iter().find(|u| u.symbol == written.unit) {
        return scale(&written, unit.factor, kind);
    }
    Err(wrong_unit(kind, &written))
}

fn wrong_unit(kind: &Kind, written: &Written<'_>) -> Refusal {
    let Written { number, unit, .. } = *written;
    if unit.is_empty() {
        return no_unit(kind, number);
    }
    if let Some(other) =
        KINDS.iter().find(|k| k.noun != kind.noun && k.units.iter().any(|u| u.symbol == unit))
    {
        return Refusal {
            message: format!("{} is needed here, and `{unit}` is a unit of {}", kind.noun, bare(other.noun)),
            help: format!(
                "units of {}: {}; for example \"{}\"",
                bare(kind.noun),
                symbols(kind),
                kind.example
            ),
        };
    }
    let message = format!("`{}` is no unit of {}", shorten(unit), bare(kind.noun));
    if kind.noun == RATE.noun
        && let Some(bytes) = SIZE.units.iter().find(|u| unit.strip_suffix("/s") == Some(u.symbol))
        && let Ok(bps) = scale(written, bytes.factor * 8, kind)
    {
        return Refusal {
            message,
            help: format!("rates are in bits per second: write \"{}\"", print(kind, bps)),
        };
    }
    let meant =
        kind.aliases.iter().find(|(alias, _)| *alias == unit).map(|(_, symbol)| *symbol).or_else(|| {
            let same = |u: &&Unit| u.symbol.eq_ignore_ascii_case(unit);
            kind.units.iter().find(same).map(|u| u.symbol).or_else(|| {
                kind.aliases
                    .iter()
                    .find(|(alias, _)| alias.eq_ignore_ascii_case(unit))
                    .map(|(_, symbol)| *symbol)
            })
        });
    let help = match meant {
        Some(symbol) => format!("did you mean \"{number}{symbol}\"? (units: {})", symbols(kind)),
        None => format!("units of {}: {}; for example \"{}\"", bare(kind.noun), symbols(kind), kind.example),
    };
    Refusal { message, help }
}

fn no_unit(kind: &Kind, number: &str) -> Refusal {
    // The unit of the example after the user's own number: "10ms" for 10.
    let unit = split(kind.example).map_or("", |example| example.unit);
    Refusal {
        message: format!(
            "the unit is missing: {} is needed, not the bare number {}",
            kind.noun,
            shorten(number)
        ),
        help: format!("write the unit out, such as \"{}{unit}\" (units: {})", shorten(number), symbols(kind)),
    }
}

fn bare(noun: &str) -> &str {
    noun.strip_prefix("a ").unwrap_or(noun)
}

fn shorten(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(40) {
        Some((at, _)) => format!("{}...", &text[..at]).into(),
        None => text.into(),
    }
}

/// The value with the largest unit that holds it in a whole number; minutes and hours are printed as seconds.
fn print(kind: &Kind, value: u64) -> String {
    let whole = |u: &&Unit| value != 0 && value.is_multiple_of(u.factor) && !matches!(u.symbol, "min" | "h");
    // Zero is written with the unit of the everyday: 0s, 0b/s, 0B.
    let everyday = if kind.noun == TIME.noun { &TIME.units[3] } else { &kind.units[0] };
    let unit = kind.units.iter().rev().find(whole).unwrap_or(everyday);
    format!("{}{}", value / unit.factor, unit.symbol)
}

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
                let units = $kind.units.iter().map(|u| u.symbol).collect::<Vec<_>>().join("|");
                json_schema!({
                    "type": "string",
                    "description": $doc,
                    "pattern": format!("^[0-9]+(\\.[0-9]+)?([eE][+-]?[0-9]+)? *({units})$"),
                    "examples": [$kind.example],
                })
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
    "A length of time with its unit: ns, us, ms, s, min or h; at least 1 ns fine."
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
            "pattern": "^[0-9]+(\\.[0-9]+)?([eE][+-]?[0-9]+)? */s$",
            "examples": ["200/s"],
        })
    }
}

/// Reads `"200/s"` as 200.0 a second.
pub(crate) fn event_rate<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    struct EventRateVisitor;

    fn refuse<E: de::Error>(what: impl fmt::Display, number: &str) -> E {
        E::custom(format_args!("{what}\nwrite how many a second, such as \"{}/s\"", shorten(number)))
    }

    impl Visitor<'_> for EventRateVisitor {
        type Value = f64;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a number a second, such as \"200/s\"")
        }

        fn visit_str<E: de::Error>(self, text: &str) -> Result<f64, E> {
            let Some(written) = split(text.trim()) else {
                return Err(refuse(format_args!("\"{}\" is no rate of events", shorten(text)), "200"));
            };
            match written.unit {
                "/s" => match written.number.parse::<f64>() {
                    Ok(rate) if rate.is_finite() => Ok(rate),
                    _ => Err(refuse("this rate is too large", "200")),
                },
                "" => Err(refuse("the unit is missing: a rate of events is needed", written.number)),
                unit => Err(refuse(
                    format_args!("`{}` is no unit of a rate of events", shorten(unit)),
                    written.number,
                )),
            }
        }

        fn visit_i64<E: de::Error>(self, number: i64) -> Result<f64, E> {
            Err(refuse("the unit is missing: a rate of events is needed", &number.to_string()))
        }

        fn visit_u64<E: de::Error>(self, number: u64) -> Result<f64, E> {
            Err(refuse("the unit is missing: a rate of events is needed", &number.to_string()))
        }

        fn visit_f64<E: de::Error>(self, number: f64) -> Result<f64, E> {
            Err(refuse("the unit is missing: a rate of events is needed", &number.to_string()))
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
                v if v > 1.0 && v <= 100.0 => format!("write a number from 0 to 1; {v} % is {}", v / 100.0),
                _ => "write a number from 0 to 1".into(),
            };
            Err(E::custom(format_args!("{value} is no probability\n{help}")))
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
