//! Values over time: on each line a time in seconds and a value, with a comma or spaces between.
//!
//! Empty lines, those that begin with `#`, and a heading that names the two columns are passed over.

use super::content::{Fault, instant};
use super::text::{NOT_SECONDS, another_unit, columns, is_heading, lines};
use roamsim_engine::Time;
use std::ops::RangeInclusive;

/// What the values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Megabits per second.
    Mbps,
    /// Milliseconds.
    Ms,
    /// From 0 to 1.
    Probability,
    /// Decibels above a milliwatt.
    Dbm,
}

impl Quantity {
    /// The range of values: up to 1 Tb/s, an hour, certainty; far more and far less than any receiver hears.
    fn range(self) -> RangeInclusive<f64> {
        match self {
            Quantity::Mbps => 0.0..=1e6,
            Quantity::Ms => 0.0..=3.6e6,
            Quantity::Probability => 0.0..=1.0,
            Quantity::Dbm => -200.0..=50.0,
        }
    }

    /// A value that help shows.
    fn example(self) -> &'static str {
        if self == Quantity::Dbm { "-85" } else { "0.02" }
    }

    /// Units that its values do not have, and the one that they have.
    fn not(self) -> (&'static [&'static str], &'static str) {
        match self {
            Quantity::Mbps => (
                &[
                    "bps", "kbps", "Kbps", "gbps", "Gbps", "b/s", "kb/s", "Gb/s", "bit/s", "kbit/s",
                    "Gbit/s", "B/s", "kB/s", "MB/s", "GB/s",
                ],
                "in Mb/s",
            ),
            Quantity::Ms => (&["s", "us", "ns", "\u{b5}s", "sec", "seconds"], "in milliseconds"),
            Quantity::Probability => (&["%", "percent", "pct"], "probabilities from 0 to 1"),
            Quantity::Dbm => (&["dB", "mW", "W", "dBW", "%", "percent"], "in dBm"),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Quantity::Mbps => "a rate in Mb/s, from 0 to 1,000,000",
            Quantity::Ms => "a delay in milliseconds, from 0 to 3,600,000",
            Quantity::Probability => "a probability, from 0 to 1",
            Quantity::Dbm => "a signal in dBm, from -200 to 50",
        }
    }
}

/// More lines than that are refused: a value each millisecond for an hour.
const MOST_ROWS: usize = 3_600_000;

/// What a file says.
#[derive(Clone, Debug, PartialEq)]
pub struct Values {
    /// From when on each value holds.
    pub rows: Vec<(Time, f64)>,
    /// The lines that are values, and no others.
    pub lines: String,
}

/// The values of a file, in order of time.
pub fn parse(text: &str, quantity: Quantity) -> Result<Values, Fault> {
    let help =
        || format!("write a time in seconds and {}, such as `0.5, {}`", quantity.name(), quantity.example());
    let mut rows: Vec<(Time, f64)> = Vec::new();
    let (mut about, mut headed) = (String::new(), false);
    for (span, line) in lines(text) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if rows.is_empty() && !headed && is_heading(line, 2) {
            let (others, right) = quantity.not();
            let wrong = another_unit(line, 0, NOT_SECONDS, "in seconds")
                .or_else(|| another_unit(line, 1, others, right));
            if let Some((message, help)) = wrong {
                return Err(Fault { span, message, help });
            }
            headed = true;
            continue;
        }
        let fault = |message: String, help: String| Err(Fault { span: span.clone(), message, help });
        let mut words = columns(line);
        let (Some(time), Some(value), None) = (words.next(), words.next(), words.next()) else {
            return fault("this line is not a time and a value".to_owned(), help());
        };
        let Some(at) = instant(time) else {
            let message =
                format!("\"{}\" is not a time in seconds, zero or more", crate::units::shortened(time));
            return fault(message, help());
        };
        let value = match value.parse::<f64>() {
            Ok(value) if quantity.range().contains(&value) => value,
            _ => {
                let message = format!("\"{}\" is not {}", crate::units::shortened(value), quantity.name());
                return fault(message, help());
            }
        };
        if rows.last().is_some_and(|&(before, _)| at <= before) {
            let help = "write the lines in order of time, each time once".to_owned();
            return fault("this time is not after the one before it".to_owned(), help);
        }
        if rows.len() == MOST_ROWS {
            let help = "cut it, or take means over longer times".to_owned();
            return fault(format!("this file has more than {MOST_ROWS} values"), help);
        }
        rows.push((at, value));
        about.push_str(line);
        about.push('\n');
    }
    match rows.is_empty() {
        false => Ok(Values { rows, lines: about }),
        true => Err(Fault { span: 0..0, message: "this file has no values".to_owned(), help: help() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Vec<(f64, f64)> {
        let values = parse(text, Quantity::Mbps).expect(text);
        assert_eq!(parse(&values.lines, Quantity::Mbps).expect("the same").rows, values.rows);
        values.rows.iter().map(|&(at, value)| (at.as_secs_f64(), value)).collect()
    }

    #[test]
    fn lines_are_times_and_values() {
        assert_eq!(
            rows("time_s,rate_mbps\n0,5\n0.5, 12.25\r\n# rain\n\n10;0\n"),
            [(0.0, 5.0), (0.5, 12.25), (10.0, 0.0)]
        );
    }

    #[test]
    fn mistakes_are_placed() {
        for (line, message) in [
            ("5", "not a time and a value"),
            ("5 6 7", "not a time and a value"),
            ("5 fast", "\"fast\" is not a rate"),
            ("5 -1", "\"-1\" is not a rate"),
            ("5 nan", "\"nan\" is not a rate"),
            ("5 1e9", "\"1e9\" is not a rate"),
            ("-5 1", "\"-5\" is not a time"),
            ("1e30 1", "\"1e30\" is not a time"),
            ("1 1", "not after"),
            ("0.5 1", "not after"),
        ] {
            let text = format!("1 2\n{line}\n");
            let fault = parse(&text, Quantity::Mbps).expect_err(line);
            assert_eq!(&text[fault.span], line);
            assert!(fault.message.contains(message), "{line}: {}", fault.message);
        }
        for (heading, quantity) in [
            ("time_ms,rate_mbps", Quantity::Mbps),
            ("Time (s),Rate (kb/s)", Quantity::Mbps),
            ("time,delay_s", Quantity::Ms),
            ("time;loss [%]", Quantity::Probability),
        ] {
            let fault = parse(&format!("{heading}\n0,1\n"), quantity).expect_err(heading);
            assert!(fault.message.starts_with("this heading has"), "{heading}: {}", fault.message);
        }
        assert!(parse("time_s,delay_ms\n0,1\n", Quantity::Ms).is_ok());
        assert!(parse("# nothing\n", Quantity::Ms).expect_err("empty").message.contains("no values"));
        assert!(
            parse("0 1.5", Quantity::Probability).expect_err("above one").message.contains("probability")
        );
    }
}
