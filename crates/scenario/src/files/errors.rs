//! Errors by distance: on each line a distance in metres and a probability, with a comma or spaces between.
//!
//! Empty lines, those that begin with `#`, and a heading that names the two columns are passed over.

use super::content::Fault;
use super::text::{columns, is_heading, lines};

/// The points of the file: (metres, probability), in order of distance.
pub fn parse(text: &str) -> Result<Vec<(f64, f64)>, Fault> {
    let mut points: Vec<(f64, f64)> = Vec::new();
    let mut headed = false;
    for (span, line) in lines(text).filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
        if points.is_empty() && !headed && is_heading(line, 2) {
            headed = true;
            continue;
        }
        let fault = |message: &str, help: &str| {
            Err(Fault { span: span.clone(), message: message.to_owned(), help: help.to_owned() })
        };
        let words: Vec<&str> = columns(line).collect();
        let numbers: Vec<f64> = words.iter().filter_map(|word| word.parse().ok()).collect();
        let ([distance_m, error], 2) = (numbers.as_slice(), words.len()) else {
            return fault(
                "this line is not a distance and a probability",
                "write a distance in metres and a probability, such as `120.5, 0.02`",
            );
        };
        if !(0.0..=super::content::FURTHEST_M).contains(distance_m) {
            return fault("this is not a distance", "write a number of metres, zero or more");
        }
        if !(0.0..=1.0).contains(error) {
            return fault("this is not a probability", "write a number from 0 to 1");
        }
        // Millimetres, as in the scenario itself.
        let distance_m = (distance_m * 1e3).round() / 1e3;
        if points.last().is_some_and(|before| distance_m <= before.0) {
            return fault(
                "this distance is not above the one before it",
                "write the lines in order of distance, each distance once, a millimetre or more apart",
            );
        }
        points.push((distance_m, *error));
    }
    match points.is_empty() {
        false => Ok(points),
        true => Err(Fault {
            span: 0..0,
            message: "this file has no points".to_owned(),
            help: "write on each line a distance in metres and a probability, such as `120.5, 0.02`"
                .to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_points() {
        let points = parse("# metres, loss\n0 0\n50.5,0.25\n\n100 , 1\n").expect("points");
        assert_eq!(points, [(0.0, 0.0), (50.5, 0.25), (100.0, 1.0)]);
    }

    #[test]
    fn mistakes_are_placed() {
        for (line, message) in [
            ("10", "not a distance and a probability"),
            ("10 0.1 0.2", "not a distance and a probability"),
            ("ten 0.1", "not a distance and a probability"),
            ("ten 10 0.1", "not a distance and a probability"),
            ("-1 0.1", "not a distance"),
            ("nan 0.1", "not a distance"),
            ("10 1.5", "not a probability"),
            ("5 0.5", "not above"),
        ] {
            let text = format!("5 0.1\n{line}\n");
            let fault = parse(&text).expect_err(line);
            assert_eq!(&text[fault.span], line);
            assert!(fault.message.contains(message), "{line}: {}", fault.message);
        }
        assert!(parse("# nothing\n").expect_err("empty").message.contains("no points"));
    }
}
