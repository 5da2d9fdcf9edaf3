//! What files say: walks, lines that are read once, instants and coordinates; and what is wrong with them.

use std::ops::Range;
use std::sync::OnceLock;

use roamsim_engine::{Span, Time};
use roamsim_network::mobility::Trajectory;
use serde::{Deserialize, Deserializer};

use crate::units::time_text;

/// What a file says of a node.
#[derive(Clone, Debug, PartialEq)]
pub struct Walk {
    /// Where the node is at each time.
    pub trajectory: Trajectory,
    /// The lines of the file that are about the node, and no others.
    pub lines: String,
    /// When it leaves its first place, if ever.
    pub first_move: Option<Time>,
}

/// The lines of a file, as a scenario has them in place of its name, and what they say: however often that is
/// asked for, they are read once.
#[derive(Clone, Debug)]
pub struct Lines<T> {
    text: String,
    said: OnceLock<Result<T, Fault>>,
}

impl<T> Lines<T> {
    /// What they say by `parse`, which is the same each time.
    pub(crate) fn say(&self, parse: impl FnOnce(&str) -> Result<T, Fault>) -> Result<&T, &Fault> {
        self.said.get_or_init(|| parse(&self.text)).as_ref()
    }

    /// They.
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl<T> PartialEq for Lines<T> {
    fn eq(&self, other: &Lines<T>) -> bool {
        self.text == other.text
    }
}

impl<'de, T> Deserialize<'de> for Lines<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Lines<T>, D::Error> {
        Ok(Lines { text: String::deserialize(deserializer)?, said: OnceLock::new() })
    }
}

/// What is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The octets of the file that it is about.
    pub span: Range<usize>,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: String,
}

impl Fault {
    /// The same with other advice.
    pub(super) fn advise(self, help: &str) -> Fault {
        Fault { help: help.to_owned(), ..self }
    }
}

/// The warning that only the first of a file's entries falls into the run, if the second comes behind its
/// end.
pub(crate) fn only_first(
    count: usize,
    what: &str,
    second: Span,
    duration: Span,
) -> Option<(String, &'static str)> {
    (second >= duration).then(|| {
        let (second, end) = (time_text(second), time_text(duration));
        let message = format!("of {count} {what} only the first falls into the run: the second is at {second}, and the run ends after {end}");
        (message, "check the unit of the times, or give the scenario a longer `duration`")
    })
}

/// The longest run is 292 years; a file's times stay below a tenth of that.
pub(super) const LATEST_S: f64 = 9e8;
/// No coordinate of a file is further out, in metres: the circumference of the Earth.
pub(super) const FURTHEST_M: f64 = 4.1e7;

/// An instant of a file, in seconds; `None` when it is none.
pub(super) fn instant(text: &str) -> Option<Time> {
    let s: f64 = text.parse().ok()?;
    (0.0..=LATEST_S).contains(&s).then(|| Time::ZERO + Span::from_secs_f64(s))
}

/// A coordinate of a file, in metres; `None` when it is none.
pub(super) fn coordinate(text: &str) -> Option<f64> {
    let m: f64 = text.parse().ok()?;
    (-FURTHEST_M..=FURTHEST_M).contains(&m).then_some(m)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_once() {
        let lines = Lines { text: "7".to_owned(), said: OnceLock::new() };
        let mut reads = 0;
        for _ in 0..3 {
            let said = lines.say(|text| {
                reads += 1;
                Ok(text.len())
            });
            assert_eq!(said, Ok(&1));
        }
        assert_eq!((reads, lines.clone().say(|_| Ok(0))), (1, Ok(&1)));
    }
}
