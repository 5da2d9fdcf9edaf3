//! JSON, of which only errors of syntax know where they stand.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use super::arena::{Keys, MAX_DEPTH, New, TOO_DEEP, Tree};
use crate::diagnostics::{Place, Problem, Problems};

/// Reads JSON. A syntax error is reported, with its text, and gives `None`.
pub(crate) fn from_json(text: &str, source: u32, problems: &mut Problems) -> Option<Tree> {
    let mut tree = Tree::default();
    tree.entries.reserve(room_for_values(text));
    let mut reader = serde_json::Deserializer::from_str(text);
    let read = Reader { tree: &mut tree, waiting: &mut Vec::new(), depth: 0 }.deserialize(&mut reader);
    match read.and_then(|root| reader.end().map(|()| root)) {
        Ok(Some(root)) => {
            tree.set(Tree::ROOT, root);
            tree.entries.shrink_to_fit();
            tree.texts.shrink_to_fit();
            Some(tree)
        }
        Ok(None) => {
            problems.add(Problem::new("a scenario is needed, not null"));
            None
        }
        Err(error) => {
            problems.keep_text(source, text);
            let offset = offset(text, error.line(), error.column());
            // serde_json ends its messages with the position, which the place shows.
            let message = error.to_string();
            let message = message.rsplit_once(" at line ").map_or(message.as_str(), |(message, _)| message);
            // Where the text ends too early, its last line with something on it is shown; of an empty one,
            // its name.
            let written = text.trim_end();
            let offset = offset.min(written.len().saturating_sub(1));
            let place = if written.is_empty() { None } else { Place::new(source, offset..offset + 1) };
            let problem = match message {
                TOO_DEEP => Problem::new(message),
                _ => {
                    Problem::new(format!("invalid JSON: {message}")).help_if(advice(message, written, offset))
                }
            };
            problems.add(problem.at(place));
            None
        }
    }
}

/// The help for a syntax error, by the message of serde_json.
fn advice(message: &str, text: &str, at: usize) -> Option<String> {
    let found = text.get(at..)?.chars().next();
    let advice = match message {
        "expected value" if !text.trim_start().starts_with(['{', '/']) => {
            "JSON begins with `{`; give a file in TOML a name that ends in `.toml`"
        }
        "expected value" | "key must be a string" if matches!(found, Some('/' | '#')) => {
            "JSON has no comments: remove this one"
        }
        "expected value" | "key must be a string" if found == Some('\'') => {
            "write `\"` in place of each `'` around a text"
        }
        "expected value" => {
            "a value is a number such as 0.5, a text in `\"`, `true`, `false`, `null`, a list or a table"
        }
        "key must be a string" => "write keys between `\"`",
        "trailing comma" => "remove the last comma",
        "trailing characters" => "remove this: the scenario ends before it",
        "invalid number" => "write a number as in 5, 0.5 or 1e6",
        "invalid escape" => "in a path write `/`; elsewhere write `\\\\` for a backslash",
        _ if message.starts_with("expected `,`") => "write `,` before this",
        _ if message.starts_with("expected `:`") => "write `:` between key and value",
        _ if message.starts_with("EOF while parsing a string") => "write `\"` behind the text",
        _ if message.starts_with("EOF") => "close each `{` and `[`",
        _ if message.starts_with("control character") => {
            "write `\"` behind the text in the line where it begins, or `\\n` for a line break"
        }
        _ => return None,
    };
    Some(advice.to_owned())
}

/// For how many values there is room before any is read: each but the root stands behind a bracket or a
/// comma. No more than an eighth of the octets of the text, which hardly any has: a text that is none, or has
/// commas in its strings, makes no more of it.
fn room_for_values(text: &str) -> usize {
    let begun = text.bytes().filter(|octet| matches!(octet, b'[' | b'{' | b',')).count();
    begun.min(text.len() / 8)
}

/// The byte offset of a line and a column, both counted from 1.
fn offset(text: &str, line: usize, column: usize) -> usize {
    let before: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    (before + column.saturating_sub(1)).min(text.len())
}

/// Reads a JSON value; `None` is null.
struct Reader<'r> {
    tree: &'r mut Tree,
    /// The values so far of all lists and tables that have not ended, each one's behind those of the one that
    /// it is in.
    waiting: &'r mut Vec<New>,
    /// In how many lists and tables it stands.
    depth: usize,
}

impl Reader<'_> {
    /// For a value in this one.
    fn inner(&mut self) -> Reader<'_> {
        Reader { tree: self.tree, waiting: self.waiting, depth: self.depth + 1 }
    }
}

impl<'de> DeserializeSeed<'de> for Reader<'_> {
    type Value = Option<New>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Option<New>, D::Error> {
        if self.depth > MAX_DEPTH {
            return Err(de::Error::custom(TOO_DEEP));
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Reader<'_> {
    type Value = Option<New>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Option<New>, E> {
        Ok(None)
    }

    fn visit_bool<E: de::Error>(self, yes: bool) -> Result<Option<New>, E> {
        Ok(Some(New::boolean(yes)))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Option<New>, E> {
        Ok(Some(New::integer(number)))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Option<New>, E> {
        // As in TOML, and as JSON's parser does with still larger ones.
        Ok(Some(i64::try_from(number).map_or(New::float(number as f64), New::integer)))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Option<New>, E> {
        Ok(Some(New::float(number)))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Option<New>, E> {
        Ok(Some(self.tree.text(text)))
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut seq: A) -> Result<Option<New>, A::Error> {
        let first = self.waiting.len();
        while let Some(new) = seq.next_element_seed(self.inner())? {
            self.waiting.push(new.ok_or_else(|| de::Error::custom("a list may not hold null"))?);
        }
        Ok(Some(self.tree.list(self.waiting.drain(first..))))
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Option<New>, A::Error> {
        let first = self.waiting.len();
        let mut seen = BTreeSet::new();
        while let Some(key) = map.next_key_seed(Key(&mut self.tree.keys))? {
            let new = map.next_value_seed(self.inner())?;
            if !seen.insert(key) {
                let key = &self.tree.keys.by_number[key as usize];
                return Err(de::Error::custom(format_args!("the key \"{key}\" stands twice")));
            }
            if let Some(mut new) = new {
                new.entry.key = key;
                self.waiting.push(new);
            }
        }
        Ok(Some(self.tree.table(self.waiting.drain(first..))))
    }
}

/// Reads a key, of which it gives the number.
struct Key<'k>(&'k mut Keys);

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = u32;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<u32, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Key<'_> {
    type Value = u32;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // serde's word.
        f.write_str("a string")
    }

    fn visit_str<E: de::Error>(self, key: &str) -> Result<u32, E> {
        Ok(self.0.number(key))
    }
}
