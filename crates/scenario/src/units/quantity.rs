//! Exact conversion between text and base units.

use std::borrow::Cow;

/// A unit and how many base units it holds.
pub(super) struct Unit {
    pub symbol: &'static str,
    factor: u64,
}

const fn unit(symbol: &'static str, factor: u64) -> Unit {
    Unit { symbol, factor }
}

/// What a quantity measures.
pub(super) struct Kind {
    /// With article: "a time".
    pub noun: &'static str,
    /// The base unit in words, plural.
    base: &'static str,
    pub example: &'static str,
    /// From small to large. Printing takes the first from the end that divides the value.
    pub units: &'static [Unit],
    /// What people write, and the unit that they mean.
    aliases: &'static [(&'static str, &'static str)],
}

pub(super) const TIME: Kind = Kind {
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

pub(super) const RATE: Kind = Kind {
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

pub(super) const SIZE: Kind = Kind {
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

pub(super) const FREQUENCY: Kind = Kind {
    noun: "a frequency",
    base: "hertz",
    example: "5MHz",
    units: &[unit("Hz", 1), unit("kHz", 1_000), unit("MHz", 1_000_000), unit("GHz", 1_000_000_000)],
    aliases: &[
        ("hz", "Hz"),
        ("khz", "kHz"),
        ("KHz", "kHz"),
        ("Mhz", "MHz"),
        ("mhz", "MHz"),
        ("Ghz", "GHz"),
        ("ghz", "GHz"),
    ],
};

pub(super) const LENGTH: Kind = Kind {
    noun: "a length",
    base: "millimetres",
    example: "100m",
    units: &[unit("mm", 1), unit("cm", 10), unit("m", 1_000), unit("km", 1_000_000)],
    aliases: &[
        ("metre", "m"),
        ("metres", "m"),
        ("meter", "m"),
        ("meters", "m"),
        ("kilometres", "km"),
        ("kilometers", "km"),
    ],
};

pub(super) const SPEED: Kind = Kind {
    noun: "a speed",
    base: "millimetres per hour",
    example: "5m/s",
    units: &[unit("km/h", 1_000_000), unit("m/s", 3_600_000)],
    aliases: &[("kmh", "km/h"), ("km/hour", "km/h"), ("kph", "km/h"), ("mps", "m/s"), ("m/sec", "m/s")],
};

const KINDS: [&Kind; 6] = [&TIME, &RATE, &SIZE, &FREQUENCY, &LENGTH, &SPEED];

/// The largest value of any quantity in base units: half the range, so that sums of two do not overflow.
const LARGEST: u64 = i64::MAX as u64;

/// Why a text is no quantity of the wanted kind: what is wrong, and what to write instead.
#[derive(Debug)]
pub(super) struct Refusal {
    pub message: String,
    pub help: String,
}

/// The parts of "1.5e3ms": digits without the point, power of ten, unit.
pub(super) struct Written<'a> {
    pub number: &'a str,
    mantissa: Option<u128>,
    exponent: i64,
    pub unit: &'a str,
}

pub(super) fn split(text: &str) -> Option<Written<'_>> {
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
        message: format!("this is not a whole number of {}", kind.base),
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

pub(super) fn parse(kind: &Kind, text: &str) -> Result<u64, Refusal> {
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
    if let Some(help) = decimal_comma(written) {
        return Refusal { message: "a number has no comma".into(), help };
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
    let message = format!("`{}` is not a unit of {}", shorten(unit), bare(kind.noun));
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

/// What to write instead of a number with a comma, `1,5s`; `None` where there is none.
pub(super) fn decimal_comma(written: &Written<'_>) -> Option<String> {
    let rest = written.unit.strip_prefix(',')?;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (digits, unit) = (&rest[..end], shorten(rest[end..].trim()));
    let number = shorten(written.number);
    match digits.len() {
        0 => None,
        // A comma before three digits may stand between thousands.
        3 => Some(format!("write \"{number}.{digits}{unit}\", or \"{number}{digits}{unit}\" for thousands")),
        _ => Some(format!("write \"{number}.{}{unit}\"", shorten(digits))),
    }
}

pub(super) fn no_unit(kind: &Kind, number: &str) -> Refusal {
    let number = shorten(number);
    // The user's own number with everyday units.
    let written = match split(kind.example).map_or("", |example| example.unit) {
        "ms" => format!("\"{number}ms\" or \"{number}s\""),
        unit => format!("\"{number}{unit}\""),
    };
    Refusal {
        message: format!("`{number}` has no unit: {} is needed", kind.noun),
        help: format!("write the unit out, such as {written} (units: {})", symbols(kind)),
    }
}

fn bare(noun: &str) -> &str {
    noun.strip_prefix("a ").unwrap_or(noun)
}

pub(super) fn shorten(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(40) {
        Some((at, _)) => format!("{}...", &text[..at]).into(),
        None => text.into(),
    }
}

/// The value with the largest unit that holds it in a whole number; minutes and hours are printed as seconds.
pub(super) fn print(kind: &Kind, value: u64) -> String {
    let whole = |u: &&Unit| value != 0 && value.is_multiple_of(u.factor) && !matches!(u.symbol, "min" | "h");
    // Zero is written with the unit of the everyday: 0s, 0b/s, 0B.
    let everyday = if kind.noun == TIME.noun { &TIME.units[3] } else { &kind.units[0] };
    let unit = kind.units.iter().rev().find(whole).unwrap_or(everyday);
    format!("{}{}", value / unit.factor, unit.symbol)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time_ns(text: &str) -> u64 {
        parse(&TIME, text).unwrap_or_else(|refusal| panic!("{text}: {}", refusal.message))
    }

    fn refusal(kind: &Kind, text: &str) -> String {
        match parse(kind, text) {
            Ok(value) => panic!("{text} was read as {value}"),
            Err(Refusal { message, help }) => format!("{message}; {help}"),
        }
    }

    #[test]
    fn decimals_are_exact() {
        // 0.1 s has no exact double; here it is 100 ms to the nanosecond.
        assert_eq!(time_ns("0.1s"), 100_000_000);
        assert_eq!(time_ns("1.5us"), 1_500);
        assert_eq!(time_ns("0.000000001s"), 1);
        assert_eq!(time_ns("10ms"), 10_000_000);
        assert_eq!(time_ns("5min"), 300_000_000_000);
        assert_eq!(time_ns("0.5h"), 1_800_000_000_000);
        assert_eq!(time_ns("0s"), 0);
        assert_eq!(time_ns("0.000ms"), 0);
        assert_eq!(time_ns(" 20 ms "), 20_000_000);
        // As programs print small and large floats: 1e-05 s = 10 us.
        assert_eq!(time_ns("1e-05s"), 10_000);
        assert_eq!(time_ns("2.5E3ms"), 2_500_000_000);
        assert_eq!(parse(&RATE, "11Mb/s").expect("a rate"), 11_000_000);
        assert_eq!(parse(&RATE, "5.5Mb/s").expect("a rate"), 5_500_000);
        assert_eq!(parse(&RATE, "64kb/s").expect("a rate"), 64_000);
        assert_eq!(parse(&RATE, "1Gb/s").expect("a rate"), 1_000_000_000);
        assert_eq!(parse(&SIZE, "200B").expect("a size"), 200);
        assert_eq!(parse(&SIZE, "64kB").expect("a size"), 64_000);
        assert_eq!(parse(&SIZE, "1MiB").expect("a size"), 1_048_576);
        assert_eq!(parse(&SIZE, "1.5KiB").expect("a size"), 1_536);
    }

    #[test]
    fn what_is_no_whole_number_or_too_large_is_refused() {
        assert!(refusal(&TIME, "0.5ns").contains("not a whole number of nanoseconds"));
        assert!(refusal(&TIME, "1e-400s").contains("not a whole number"));
        assert!(refusal(&SIZE, "0.1B").contains("not a whole number of bytes"));
        assert!(refusal(&RATE, "0.0001kb/s").contains("not a whole number of bits per second"));
        // 2^63 - 1 ns is the largest: 292 years.
        assert_eq!(time_ns("9223372036854775807ns"), 9_223_372_036_854_775_807);
        assert!(refusal(&TIME, "9223372036854775808ns").contains("more than"));
        assert!(refusal(&TIME, "1e30h").contains("more than"));
        assert!(refusal(&TIME, "1e99999999999999999999h").contains("more than"));
        assert!(refusal(&TIME, "123456789012345678901s").contains("20 significant digits"));
    }

    #[test]
    fn units_are_demanded_and_explained() {
        for (kind, text, expected) in [
            (&TIME, "10", "write the unit out, such as \"10ms\" or \"10s\""),
            (&TIME, "10Mb/s", "a time is needed here, and `Mb/s` is a unit of rate"),
            (&TIME, "-1s", "may not be negative"),
            (&TIME, "fast", "\"fast\" is not a time"),
            (&TIME, "", "\"\" is not a time"),
            (&TIME, "10MS", "did you mean \"10ms\"?"),
            (&TIME, "10sec", "did you mean \"10s\"?"),
            (&TIME, "10µs", "did you mean \"10us\"?"),
            // Metres, minutes or milliseconds: no guess.
            (&TIME, "10m", "units of time: ns, us, ms, s, min, h"),
            (&TIME, "1.s", "not a unit of time"),
            (&TIME, "1,5s", "write \"1.5s\""),
            (&RATE, "1,500kb/s", "write \"1.500kb/s\", or \"1500kb/s\" for thousands"),
            (&TIME, "1,s", "not a unit of time"),
            (&RATE, "10Mbps", "did you mean \"10Mb/s\"?"),
            (&RATE, "10mb/s", "did you mean \"10Mb/s\"?"),
            // 10 MB/s = 80 Mb/s; 1 KiB/s = 8192 b/s.
            (&RATE, "10MB/s", "write \"80Mb/s\""),
            (&RATE, "1KiB/s", "write \"8192b/s\""),
            (&SIZE, "64KB", "did you mean \"64kB\"?"),
            (&SIZE, "100 bytes", "did you mean \"100B\"?"),
            (&SIZE, "10ms", "`ms` is a unit of time"),
        ] {
            let text = refusal(kind, text);
            assert!(text.contains(expected), "{text}");
        }
    }

    #[test]
    fn values_are_printed_with_the_largest_fitting_unit() {
        for (kind, value, text) in [
            (&TIME, 0, "0s"),
            (&TIME, 200_000_000, "200ms"),
            (&TIME, 1_500_000_000, "1500ms"),
            (&TIME, 60_000_000_000, "60s"),
            (&TIME, 1, "1ns"),
            (&RATE, 11_000_000, "11Mb/s"),
            (&RATE, 5_500_000, "5500kb/s"),
            (&SIZE, 1500, "1500B"),
            (&SIZE, 64_000, "64kB"),
            (&SIZE, 6 << 20, "6MiB"),
        ] {
            assert_eq!(print(kind, value), text);
            assert_eq!(parse(kind, text).expect("what was printed"), value);
        }
    }
}
