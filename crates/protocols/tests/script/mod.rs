//! What the scripts of transport protocols share: comments, settings, times, assertions, and the runner.

mod runner;

pub use runner::{Subject, run};

use std::fmt;
use std::str::FromStr;

use roamsim_engine::Span;

/// A line that says something.
pub enum ScriptLine {
    /// `--key=value`.
    Setting { number: usize, key: String, value: String },
    /// A time and what happens then. `margin` is how much later it may be: `1~+.5` is at 1 s or up to 0.5 s
    /// later.
    Action { number: usize, source: String, relative: bool, offset: Span, margin: Span, text: String },
}

/// The lines of a script; the error comes with its line.
pub fn lines(text: &str) -> Result<Vec<ScriptLine>, (usize, String)> {
    let head = text.lines().take_while(|line| line.starts_with("//")).count();
    if head < 3 {
        return Err((1, "a script starts with three lines of comment that say what is tested".to_owned()));
    }
    let mut lines = Vec::new();
    for (index, source) in text.lines().enumerate() {
        let number = index + 1;
        let line = source.split("//").next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        if line.starts_with("--") {
            for setting in line.split_whitespace() {
                let (key, value) = setting
                    .trim_start_matches('-')
                    .split_once('=')
                    .ok_or((number, format!("`{setting}` has no value")))?;
                lines.push(ScriptLine::Setting { number, key: key.to_owned(), value: value.to_owned() });
            }
            continue;
        }
        let (time, action) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let no_time = || (number, format!("`{time}` is no time"));
        let (time_text, margin) = time.split_once("~+").unwrap_or((time, "0"));
        let offset = seconds(time_text.trim_start_matches('+')).ok_or_else(no_time)?;
        lines.push(ScriptLine::Action {
            number,
            source: source.trim().to_owned(),
            relative: time.starts_with('+'),
            offset,
            margin: seconds(margin).ok_or_else(no_time)?,
            text: action.trim().to_owned(),
        });
    }
    Ok(lines)
}

pub struct Assertion {
    pub name: String,
    operator: String,
    value: String,
}

impl fmt::Display for Assertion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.name, self.operator, self.value)
    }
}

impl Assertion {
    pub fn holds(&self, got: &str) -> bool {
        let order = match (number(got), number(&self.value)) {
            (Some(got), Some(want)) => got.partial_cmp(&want),
            _ => (got == self.value).then_some(std::cmp::Ordering::Equal),
        };
        match self.operator.as_str() {
            "==" => order.is_some_and(|o| o.is_eq()),
            "!=" => order.is_none_or(|o| o.is_ne()),
            "<" => order.is_some_and(|o| o.is_lt()),
            "<=" => order.is_some_and(|o| o.is_le()),
            ">" => order.is_some_and(|o| o.is_gt()),
            _ => order.is_some_and(|o| o.is_ge()),
        }
    }
}

/// A plain number, or one with `s` or `ms`, in seconds then.
fn number(text: &str) -> Option<f64> {
    if let Some(ms) = text.strip_suffix("ms") {
        return ms.parse::<f64>().ok().map(|ms| ms / 1000.0);
    }
    text.strip_suffix('s').unwrap_or(text).parse().ok()
}

fn seconds(text: &str) -> Option<Span> {
    let seconds: f64 = text.parse().ok()?;
    (seconds >= 0.0).then(|| Span::from_secs_f64(seconds))
}

pub fn value<T: FromStr>(text: &str) -> Result<T, String> {
    text.trim().parse().map_err(|_| format!("`{text}` is no number"))
}

pub fn span(text: &str) -> Result<Span, String> {
    let has_unit = text.ends_with('s');
    number(text)
        .filter(|&s| has_unit && s >= 0.0)
        .map(Span::from_secs_f64)
        .ok_or(format!("`{text}` is no time with a unit"))
}

pub fn on_off(text: &str) -> Result<bool, String> {
    match text {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err(format!("`{text}` is neither on nor off")),
    }
}

/// What stands behind `%{`.
pub fn assertions(text: &str) -> Result<Vec<Assertion>, String> {
    let body = text.trim().strip_suffix("}%").ok_or("`%{` without `}%`".to_owned())?;
    let parts = body.split(';').map(str::trim).filter(|part| !part.is_empty());
    parts.map(parse_assertion).collect()
}

fn parse_assertion(text: &str) -> Result<Assertion, String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    match words[..] {
        ["assert", name, operator @ ("==" | "!=" | "<" | "<=" | ">" | ">="), value] => {
            Ok(Assertion { name: name.into(), operator: operator.into(), value: value.into() })
        }
        _ => Err(format!("`{text}` is not `assert NAME OPERATOR VALUE`")),
    }
}
