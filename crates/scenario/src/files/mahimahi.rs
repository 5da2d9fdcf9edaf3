//! Traces of mahimahi's link emulator: on each line the millisecond, since the beginning, at which an
//! opportunity to deliver 1504 octets is (`src/frontend/link_queue.cc` of its public source, which refuses
//! what is refused here).

use super::content::Fault;
use super::text::lines;

/// More lines than that are refused: 100 Mb/s for 40 minutes.
const MOST_OPPORTUNITIES: usize = 20_000_000;

const HELP: &str = "write on each line a whole number of milliseconds, not below that of the line before";

/// The milliseconds, in ascending order.
pub fn parse(text: &str) -> Result<Vec<u32>, Fault> {
    let mut schedule_ms: Vec<u32> = Vec::new();
    for (span, line) in lines(text) {
        let fault =
            |message: String, help: &str| Err(Fault { span: span.clone(), message, help: help.to_owned() });
        if line.is_empty() {
            return fault("an empty line is not an opportunity".to_owned(), HELP);
        }
        let digits = line.bytes().all(|octet| octet.is_ascii_digit());
        let Some(ms) = digits.then(|| line.parse::<u32>().ok()).flatten() else {
            let message = format!(
                "\"{}\" is not a number of milliseconds, from 0 to {}",
                crate::units::shortened(line),
                u32::MAX
            );
            return fault(message, HELP);
        };
        if let Some(before) = schedule_ms.last().filter(|&&before| ms < before) {
            return fault(format!("the time goes back, from {before} ms to {ms} ms"), HELP);
        }
        if schedule_ms.len() == MOST_OPPORTUNITIES {
            let message = format!("this trace has more than {MOST_OPPORTUNITIES} lines");
            return fault(message, "cut it: it is repeated at its end");
        }
        schedule_ms.push(ms);
    }
    let whole = |message: &str, help: &str| {
        Err(Fault { span: 0..0, message: message.to_owned(), help: help.to_owned() })
    };
    match schedule_ms.last() {
        None => whole("this trace has no opportunities", HELP),
        Some(0) => whole(
            "this trace lasts for no time: its last line is at 0 ms",
            "write on its last line when it is over, which is when it begins again",
        ),
        Some(_) => Ok(schedule_ms),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_an_opportunity() {
        assert_eq!(parse("0\n4\r\n4\n17"), Ok(vec![0, 4, 4, 17]));
    }

    #[test]
    fn mistakes_are_placed() {
        for (line, message) in [
            ("", "empty line"),
            ("4.5", "\"4.5\" is not a number of milliseconds"),
            ("-4", "\"-4\" is not a number"),
            ("4 7", "\"4 7\" is not a number"),
            ("4294967296", "not a number of milliseconds"),
            ("2", "goes back, from 3 ms to 2 ms"),
        ] {
            let text = format!("3\n{line}\n5\n");
            let fault = parse(&text).expect_err(line);
            assert_eq!(&text[fault.span], line);
            assert!(fault.message.contains(message), "{line}: {}", fault.message);
        }
        assert!(parse("").expect_err("empty").message.contains("no opportunities"));
        assert!(parse("0\n0\n").expect_err("no time").message.contains("lasts for no time"));
    }
}
