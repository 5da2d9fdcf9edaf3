//! Lists of transfers: on each line when it arrives, in seconds, and its size in bytes, with a comma or
//! spaces between.
//!
//! Empty lines, those that begin with `#`, and a heading that names the two columns are passed over.

use super::content::{Fault, instant};
use super::text::{NOT_SECONDS, another_unit, columns, is_heading, lines};
use roamsim_engine::{Span, Time};
use std::sync::Arc;

/// More lines than that are refused.
const MOST_TRANSFERS: usize = 10_000_000;

/// More lines than that at one instant are refused: with a million events at an instant the engine takes a
/// run for one that stands still (`EVENTS_PER_INSTANT_LIMIT`), and a transfer that begins is some.
const MOST_AT_ONCE: usize = 100_000;

const HELP: &str = "write when it arrives, in seconds, and its size in bytes, such as `0.5, 20000`";

/// When each transfer arrives, in order, and its octets.
pub type Arrivals = Arc<[(Span, u32)]>;

/// What a file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transfers {
    /// When each arrives, and its octets.
    pub arrivals: Vec<(Span, u32)>,
    /// The lines that are transfers, and no others.
    pub lines: String,
}

/// The transfers of a file, in order of time.
pub fn parse(text: &str) -> Result<Transfers, Fault> {
    let mut arrivals: Vec<(Span, u32)> = Vec::new();
    let (mut about, mut headed) = (String::new(), false);
    for (span, line) in lines(text) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if arrivals.is_empty() && !headed && is_heading(line, 2) {
            let wrong = another_unit(line, 0, NOT_SECONDS, "in seconds")
                .or_else(|| another_unit(line, 1, &["kB", "MB", "GB", "KB", "bits", "kbit"], "in bytes"));
            if let Some((message, help)) = wrong {
                return Err(Fault { span, message, help });
            }
            headed = true;
            continue;
        }
        let fault =
            |message: String, help: &str| Err(Fault { span: span.clone(), message, help: help.to_owned() });
        let mut words = columns(line);
        let (Some(time), Some(size), None) = (words.next(), words.next(), words.next()) else {
            return fault("this line is not a time and a size".to_owned(), HELP);
        };
        let Some(at) = instant(time) else {
            let message =
                format!("\"{}\" is not a time in seconds, zero or more", crate::units::shortened(time));
            return fault(message, HELP);
        };
        let Some(bytes) = size.parse::<u32>().ok().filter(|&bytes| bytes > 0) else {
            let message = format!(
                "\"{}\" is not a size: a whole number of bytes, from 1 to {}",
                crate::units::shortened(size),
                u32::MAX
            );
            return fault(message, HELP);
        };
        let after = at.since(Time::ZERO);
        if arrivals.last().is_some_and(|&(before, _)| after < before) {
            return fault(
                "this time is before the one of the line before".to_owned(),
                "write the lines in order of time",
            );
        }
        // As many lines back it was the same instant.
        if arrivals.len().checked_sub(MOST_AT_ONCE).is_some_and(|back| arrivals[back].0 == after) {
            let message = format!("more than {MOST_AT_ONCE} transfers arrive at this instant");
            return fault(message, "spread them over time");
        }
        if arrivals.len() == MOST_TRANSFERS {
            return fault(format!("this file has more than {MOST_TRANSFERS} transfers"), "cut it");
        }
        arrivals.push((after, bytes));
        about.push_str(line);
        about.push('\n');
    }
    match arrivals.is_empty() {
        false => Ok(Transfers { arrivals, lines: about }),
        true => {
            Err(Fault { span: 0..0, message: "this file has no transfers".to_owned(), help: HELP.to_owned() })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_transfer() {
        let list = parse("arrival_s,size_bytes\n0,100\n0.25 20000\r\n# later\n0.25;3\n").expect("a list");
        let expected = [(0, 100), (250, 20_000), (250, 3)].map(|(ms, bytes)| (Span::from_ms(ms), bytes));
        assert_eq!(list.arrivals, expected);
        assert_eq!(parse(&list.lines).expect("the same").arrivals, expected);
    }

    #[test]
    fn mistakes_are_placed() {
        for (line, message) in [
            ("5", "not a time and a size"),
            ("5 6 7", "not a time and a size"),
            ("5 0", "\"0\" is not a size"),
            ("5 -1", "\"-1\" is not a size"),
            ("5 1.5", "\"1.5\" is not a size"),
            ("5 4294967296", "is not a size"),
            ("-5 1", "\"-5\" is not a time"),
            ("0.5 1", "before the one"),
        ] {
            let text = format!("1 2\n{line}\n");
            let fault = parse(&text).expect_err(line);
            assert_eq!(&text[fault.span], line);
            assert!(fault.message.contains(message), "{line}: {}", fault.message);
        }
        assert!(parse("# nothing\n").expect_err("empty").message.contains("no transfers"));
        let at_once = |lines: usize| format!("0 7\n{}", "1 5\n".repeat(lines));
        assert_eq!(
            parse(&at_once(MOST_AT_ONCE)).expect("as many as may be").arrivals.len(),
            MOST_AT_ONCE + 1
        );
        let fault = parse(&at_once(MOST_AT_ONCE + 1)).expect_err("one more");
        assert_eq!(
            (fault.span.start, fault.message.contains("at this instant")),
            (4 * (MOST_AT_ONCE + 1), true)
        );
    }
}
