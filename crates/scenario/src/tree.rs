//! The scenario as written: a tree of tables, lists and values in which every key and value knows its place in
//! the text. TOML, JSON and overrides all end here.
//!
//! Values from JSON have no place, only a path: JSON comes from programs, whose authors see no text. A `null` in a
//! JSON object leaves its key out.

use std::collections::{BTreeSet, HashSet};
use std::fmt;
use std::sync::Arc;

use foldhash::fast::FixedState;
use serde::Serialize;
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::diagnostics::{Place, Problem, Problems};

/// Deeper nesting than this is refused; the grammar needs six levels.
pub(crate) const MAX_DEPTH: usize = 32;

/// A value and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    /// `None` for what comes from JSON.
    pub place: Option<Place>,
    pub value: Value,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Text(String),
    Integer(i64),
    Float(f64),
    Boolean(bool),
    /// A date or time of day, which TOML has and the grammar never uses.
    Date(String),
    List(Vec<Node>),
    Table(Table),
}

/// Keys and values in a fixed order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Table {
    pub entries: Vec<Entry>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    /// Mostly one with that of other tables.
    pub key: Arc<str>,
    pub key_place: Option<Place>,
    pub node: Node,
}

/// The keys met so far: there are few, and each stands in many tables.
#[derive(Default)]
struct Keys(HashSet<Arc<str>, FixedState>);

impl Keys {
    fn get(&mut self, key: &str) -> Arc<str> {
        if let Some(known) = self.0.get(key) {
            return Arc::clone(known);
        }
        let new: Arc<str> = key.into();
        self.0.insert(Arc::clone(&new));
        new
    }
}

impl Table {
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entries.iter().find(|e| *e.key == *key).map(|e| &e.node)
    }
}

impl Node {
    pub fn table(&self) -> Option<&Table> {
        match &self.value {
            Value::Table(table) => Some(table),
            _ => None,
        }
    }

    pub fn list(&self) -> Option<&[Node]> {
        match &self.value {
            Value::List(list) => Some(list),
            _ => None,
        }
    }

    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The string under the key `name`, by which paths refer to the elements of a list.
    pub fn name(&self) -> Option<&str> {
        self.table()?.get("name")?.text()
    }

    /// What the value is, with article.
    pub fn noun(&self) -> &'static str {
        match self.value {
            Value::Text(_) => "a string",
            Value::Integer(_) | Value::Float(_) => "a number",
            Value::Boolean(_) => "a boolean",
            Value::Date(_) => "a date",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
        }
    }

    /// The tree as JSON with sorted keys and without spaces.
    pub fn canonical_json(&self) -> String {
        self.clone().into_canonical_json()
    }

    /// The same of a tree that goes, part by part, so that its memory serves for the text.
    pub fn into_canonical_json(self) -> String {
        let mut json = Vec::new();
        self.write_json(&mut json);
        json.shrink_to_fit();
        String::from_utf8(json).unwrap_or_default()
    }

    /// Scalars as serde_json writes them. (Its own tree of a thousand flows takes twice as long to make and drop as all of this.)
    fn write_json(self, json: &mut Vec<u8>) {
        match self.value {
            Value::Text(text) | Value::Date(text) => push_json(json, &text),
            Value::Integer(number) => push_json(json, &number),
            Value::Float(number) => push_json(json, &number),
            Value::Boolean(yes) => push_json(json, &yes),
            Value::List(list) => {
                json.push(b'[');
                for (place, node) in list.into_iter().enumerate() {
                    json.extend((place > 0).then_some(b','));
                    node.write_json(json);
                }
                json.push(b']');
            }
            Value::Table(table) => {
                let mut sorted = table.entries;
                sorted.sort_by(|a, b| a.key.cmp(&b.key));
                json.push(b'{');
                for (place, entry) in sorted.into_iter().enumerate() {
                    json.extend((place > 0).then_some(b','));
                    push_json(json, &*entry.key);
                    json.push(b':');
                    entry.node.write_json(json);
                }
                json.push(b'}');
            }
        }
    }
}

/// Adds a scalar; a number that JSON has no word for is null.
fn push_json<T: Serialize + ?Sized>(json: &mut Vec<u8>, scalar: &T) {
    // Memory takes all that is written to it.
    serde_json::to_writer(json, scalar).ok();
}

/// Reads TOML. All syntax errors are reported; `None` if there is one.
pub(crate) fn from_toml(text: &str, source: u32, problems: &mut Problems) -> Option<Node> {
    let before = problems.count();
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in errors {
        // Where the text ends too early, its last line with something on it is shown.
        let written = text.trim_end().len();
        let place = error.span();
        let place = place.and_then(|span| Place::new(source, span.start.min(written)..span.end.min(written)));
        problems.add(Problem::new(format!("invalid TOML: {}", error.message().trim())).at(place));
    }
    if problems.count() > before {
        return None;
    }
    let span = table.span();
    let mut reader = TomlReader { source, shift: 0, keys: Keys::default() };
    let root = reader
        .table(table.get_ref(), 0, problems)
        .map(|table| Node { place: Place::new(source, span.start..span.start), value: Value::Table(table) });
    if problems.count() > before { None } else { root }
}

/// Reads one TOML value that starts at byte `shift` of its source; `None` if it is no TOML value.
pub(crate) fn from_toml_value(
    text: &str,
    source: u32,
    shift: usize,
    problems: &mut Problems,
) -> Option<Node> {
    let value = DeValue::parse(text).ok()?;
    TomlReader { source, shift, keys: Keys::default() }.node(&value, 0, problems)
}

struct TomlReader {
    source: u32,
    shift: usize,
    keys: Keys,
}

impl TomlReader {
    fn place(&self, span: std::ops::Range<usize>) -> Option<Place> {
        Place::new(self.source, span.start + self.shift..span.end + self.shift)
    }

    fn node(&mut self, value: &Spanned<DeValue<'_>>, depth: usize, problems: &mut Problems) -> Option<Node> {
        let place = self.place(value.span());
        if depth > MAX_DEPTH {
            problems.add(Problem::new("this is nested too deeply").at(place));
            return None;
        }
        let value = match value.get_ref() {
            DeValue::String(text) => Value::Text(text.clone().into_owned()),
            DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
                Ok(number) => Value::Integer(number),
                Err(_) => Value::Float(beyond_integers(number.as_str(), number.radix())),
            },
            DeValue::Float(number) => match number.as_str().parse() {
                Ok(number) => Value::Float(number),
                Err(_) => {
                    problems.add(Problem::new("this is no number").at(place));
                    return None;
                }
            },
            DeValue::Boolean(yes) => Value::Boolean(*yes),
            DeValue::Datetime(date) => Value::Date(date.to_string()),
            DeValue::Array(list) => {
                let mut nodes = Vec::with_capacity(list.len());
                for value in list.iter() {
                    nodes.push(self.node(value, depth + 1, problems)?);
                }
                Value::List(nodes)
            }
            DeValue::Table(table) => Value::Table(self.table(table, depth, problems)?),
        };
        Some(Node { place, value })
    }

    fn table(&mut self, table: &DeTable<'_>, depth: usize, problems: &mut Problems) -> Option<Table> {
        let mut entries = Vec::with_capacity(table.len());
        for (key, value) in table.iter() {
            let node = self.node(value, depth + 1, problems)?;
            let key_place = self.place(key.span());
            entries.push(Entry { key: self.keys.get(key.get_ref()), key_place, node });
        }
        Some(Table { entries })
    }
}

/// A whole number that is too large for one. As a float it comes to the key that it stands for, which refuses it by name.
fn beyond_integers(text: &str, radix: u32) -> f64 {
    if radix == 10
        && let Ok(value) = text.parse()
    {
        return value;
    }
    let digits = text.chars().filter_map(|digit| digit.to_digit(radix));
    let value = digits.fold(0.0, |value, digit| value * f64::from(radix) + f64::from(digit));
    if text.starts_with('-') { -value } else { value }
}

/// Reads JSON. A syntax error is reported, with its text, and gives `None`.
pub(crate) fn from_json(text: &str, source: u32, problems: &mut Problems) -> Option<Node> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let read = JsonReader(&mut Keys::default()).deserialize(&mut reader);
    match read.and_then(|node| reader.end().map(|()| node)) {
        Ok(Some(node)) => Some(node),
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
            // Where the text ends too early, its last line with something on it is shown; of an empty one, its name.
            let written = text.trim_end();
            let offset = offset.min(written.len().saturating_sub(1));
            let place = if written.is_empty() { None } else { Place::new(source, offset..offset + 1) };
            problems.add(Problem::new(format!("invalid JSON: {message}")).at(place));
            None
        }
    }
}

/// The byte offset of a line and a column, both counted from 1.
fn offset(text: &str, line: usize, column: usize) -> usize {
    let before: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    (before + column.saturating_sub(1)).min(text.len())
}

/// Reads a JSON value; `None` is null.
struct JsonReader<'k>(&'k mut Keys);

fn plain<E>(value: Value) -> Result<Option<Node>, E> {
    Ok(Some(Node { place: None, value }))
}

impl<'de> DeserializeSeed<'de> for JsonReader<'_> {
    type Value = Option<Node>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Option<Node>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for JsonReader<'_> {
    type Value = Option<Node>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Option<Node>, E> {
        Ok(None)
    }

    fn visit_bool<E: de::Error>(self, yes: bool) -> Result<Option<Node>, E> {
        plain(Value::Boolean(yes))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Option<Node>, E> {
        plain(Value::Integer(number))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Option<Node>, E> {
        // As in TOML, and as JSON's parser does with still larger ones.
        plain(i64::try_from(number).map_or(Value::Float(number as f64), Value::Integer))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Option<Node>, E> {
        plain(Value::Float(number))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Option<Node>, E> {
        plain(Value::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Option<Node>, A::Error> {
        let mut list = Vec::new();
        while let Some(node) = seq.next_element_seed(JsonReader(&mut *self.0))? {
            list.push(node.ok_or_else(|| de::Error::custom("a list may not hold null"))?);
        }
        list.shrink_to_fit();
        plain(Value::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Option<Node>, A::Error> {
        let mut seen = BTreeSet::new();
        let mut table = Table::default();
        while let Some(key) = map.next_key::<String>()? {
            let key = self.0.get(&key);
            let node = map.next_value_seed(JsonReader(&mut *self.0))?;
            if !seen.insert(Arc::clone(&key)) {
                return Err(de::Error::custom(format_args!("the key \"{key}\" stands twice")));
            }
            if let Some(node) = node {
                table.entries.push(Entry { key, key_place: None, node });
            }
        }
        // What grows has room for more, and most have few.
        table.entries.shrink_to_fit();
        plain(Value::Table(table))
    }
}
