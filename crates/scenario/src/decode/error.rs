//! What decoding refuses, in words for users.

use std::fmt;

use serde::de::{self, Expected, Unexpected};

use crate::tree::Node;
use crate::units::of_percent;

/// What serde's derived code or a visitor refused, before or after it is known where.
pub(crate) struct Error<'de>(pub(super) Box<Fault<'de>>);

pub(super) struct Fault<'de> {
    pub message: String,
    pub help: Option<String>,
    pub kind: Kind,
    pub at: Option<At<'de>>,
}

pub(super) struct At<'de> {
    pub node: Node<'de>,
    pub path: String,
}

pub(super) enum Kind {
    Plain,
    /// A required key is not there.
    Missing(&'static str),
    /// Follows from a problem already reported.
    Consequence,
}

impl<'de> Error<'de> {
    pub fn new(message: impl Into<String>) -> Error<'de> {
        Error(Box::new(Fault { message: message.into(), help: None, kind: Kind::Plain, at: None }))
    }

    pub fn help(mut self, help: impl Into<String>) -> Error<'de> {
        self.0.help = Some(help.into());
        self
    }

    pub fn consequence() -> Error<'de> {
        let mut error = Error::new("follows from another problem");
        error.0.kind = Kind::Consequence;
        error
    }
}

impl fmt::Debug for Error<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl fmt::Display for Error<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for Error<'_> {}

impl de::Error for Error<'_> {
    /// What follows the first line of the message is help.
    fn custom<T: fmt::Display>(message: T) -> Self {
        let text = message.to_string();
        match text.split_once('\n') {
            Some((message, help)) => Error::new(message).help(help),
            None => Error::new(text),
        }
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let wanted = wanted(expected);
        let error = Error::new(of_kind(&described(found), &wanted));
        match found {
            Unexpected::Str(text) if wanted == "a number from 0 to 1" && text.trim().ends_with('%') => {
                match of_percent(text.trim().trim_end_matches('%')) {
                    Some(share) if (0.0..=1.0).contains(&share) => error.help(format!("write {share}")),
                    _ => error,
                }
            }
            Unexpected::Str(text) if is_number(text, &wanted) => {
                error.help(format!("write {text} without quotation marks"))
            }
            Unexpected::Str(text @ ("true" | "false")) if wanted.starts_with("`true`") => {
                error.help(format!("write {text} without quotation marks"))
            }
            _ => error,
        }
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Error::new(of_kind(&described(found), &wanted(expected)))
    }

    fn invalid_length(found: usize, expected: &dyn Expected) -> Self {
        let wanted = expected.to_string();
        let wanted = wanted.rsplit(' ').next().unwrap_or(&wanted).to_owned();
        Error::new(format!("this list has {found} elements, not {wanted}"))
    }

    fn missing_field(key: &'static str) -> Self {
        let mut error = Error::new(format!("the key `{key}` is missing"));
        error.0.kind = Kind::Missing(key);
        match how_to_write(key) {
            Some(help) => error.help(help),
            None => error,
        }
    }
}

/// How a key is written whose value its name does not tell.
fn how_to_write(key: &str) -> Option<&'static str> {
    match key {
        "between" => Some("name the two nodes, such as between = [\"server\", \"phone\"]"),
        "duration" => Some("write a time with its unit, such as duration = \"60s\""),
        "packet_size" => Some("write a size with its unit, such as packet_size = \"200B\""),
        "path_loss" => Some("choose a law, such as path_loss = { model = \"free_space\" }"),
        "speed" => Some("write a speed with its unit, such as speed = \"1m/s\""),
        "pos" => Some("name the node that is the point of service of this network, such as pos = \"router\""),
        "transport" => Some("say what it goes over, such as transport = { protocol = \"udp\" }"),
        _ => None,
    }
}

/// serde's words for what is expected, in ours.
fn wanted(expected: &dyn Expected) -> String {
    let wanted = expected.to_string();
    match wanted.as_str() {
        "u8" => format!("a whole number from 0 to {}", u8::MAX),
        "u16" => format!("a whole number from 0 to {}", u16::MAX),
        "u32" => format!("a whole number from 0 to {}", u32::MAX),
        "u64" => "a whole number, 0 or more".into(),
        "f64" => "a number".into(),
        "a boolean" => "`true` or `false`".into(),
        "a sequence" => "a list".into(),
        other if other.starts_with("struct ") => "a table".into(),
        other if other.starts_with("an array") => "a list".into(),
        other => other.into(),
    }
}

/// What to say of a value of another kind than is wanted. An aside at the end of a kind is closed by a comma.
pub(super) fn of_kind(found: &str, wanted: &str) -> String {
    let comma = if wanted.contains(',') && !wanted.ends_with(',') { "," } else { "" };
    format!("this is {found}; {wanted}{comma} is needed")
}

/// Whether a text is written as a number that is wanted: none is below zero, as those are rarely.
fn is_number(text: &str, wanted: &str) -> bool {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit()) && !(text.len() > 1 && text.starts_with('0'));
    if let Some((_, most)) =
        wanted.strip_prefix("a whole number").and_then(|range| range.rsplit_once("from 0 to "))
    {
        return digits
            && text.parse::<u64>().ok().zip(most.parse().ok()).is_some_and(|(number, most)| number <= most);
    }
    match wanted {
        "a number from 0 to 1" => text.parse().is_ok_and(|share: f64| (0.0..=1.0).contains(&share)),
        "a number" => text.parse().is_ok_and(|number: f64| number.is_finite() && number >= 0.0),
        _ => wanted.starts_with("a whole number") && digits && text.parse::<i64>().is_ok(),
    }
}

fn described(found: Unexpected<'_>) -> String {
    match found {
        Unexpected::Bool(yes) => format!("`{yes}`"),
        Unexpected::Signed(number) => format!("the number {number}"),
        Unexpected::Unsigned(number) => format!("the number {number}"),
        Unexpected::Float(number) => format!("the number {number}"),
        Unexpected::Str(text) if text.chars().count() <= 40 => format!("the string \"{text}\""),
        Unexpected::Str(_) => "a string".into(),
        Unexpected::Seq => "a list".into(),
        Unexpected::Map => "a table".into(),
        other => other.to_string(),
    }
}
