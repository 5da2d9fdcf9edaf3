//! All values of a scenario, one behind the other.

use std::collections::HashMap;
use std::ops::Range;
use std::ptr;
use std::sync::Arc;

use foldhash::fast::FixedState;

use crate::diagnostics::Place;

/// Deeper nesting than this is refused; the grammar needs six levels.
pub(crate) const MAX_DEPTH: usize = 32;

/// What is said of it.
pub(super) const TOO_DEEP: &str = "this is nested too deeply";

/// A longer scenario is refused: each of its values takes an octet of its text or more, and has a number of
/// 32 bits.
pub(crate) const MAX_BYTES: usize = u32::MAX as usize;

/// All values of a scenario. A value is known by its number.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    pub(super) entries: Vec<Entry>,
    /// Texts, one behind the other, and those that are long.
    pub(super) texts: String,
    long: Vec<String>,
    pub(super) keys: Keys,
    /// Of what comes from TOML and from overrides.
    places: HashMap<u32, Places, FixedState>,
}

/// A value and its key.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// As its kind says.
    content: u64,
    /// The number of its key; of the root and of elements of lists any.
    pub(super) key: u32,
    kind: Kind,
}

const _: () = assert!(size_of::<Entry>() == 16);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Where it begins among the texts, and how long it is in 24 bits.
    Text,
    /// Its place among the long ones.
    LongText,
    /// As of a text. TOML has dates and times of day, and the grammar never uses them.
    Date,
    Integer,
    /// Its bits.
    Float,
    Boolean,
    /// The number of its first value, and how many it has in 32 bits.
    List,
    /// The same.
    Table,
}

/// The length of a text has 24 bits.
const SHORT_BYTES: usize = 1 << 24;

/// Where a value and its key stand.
#[derive(Clone, Copy, Debug, Default)]
struct Places {
    key: Option<Place>,
    value: Option<Place>,
}

/// The keys met so far: there are few, and each stands in many tables.
#[derive(Clone, Debug, Default)]
pub(super) struct Keys {
    pub(super) by_number: Vec<Arc<str>>,
    numbers: HashMap<Arc<str>, u32, FixedState>,
}

impl Keys {
    pub(super) fn number(&mut self, key: &str) -> u32 {
        if let Some(&known) = self.numbers.get(key) {
            return known;
        }
        let (number, new) = (self.by_number.len() as u32, Arc::<str>::from(key));
        self.by_number.push(Arc::clone(&new));
        self.numbers.insert(new, number);
        number
    }
}

/// A value that has yet to be put somewhere, and the key that it will stand under.
#[derive(Clone, Copy, Debug)]
pub(crate) struct New {
    pub(super) entry: Entry,
    places: Places,
}

impl New {
    fn of(kind: Kind, content: u64) -> New {
        New { entry: Entry { content, key: 0, kind }, places: Places::default() }
    }

    pub fn integer(number: i64) -> New {
        New::of(Kind::Integer, number as u64)
    }

    pub fn float(number: f64) -> New {
        New::of(Kind::Float, number.to_bits())
    }

    pub fn boolean(yes: bool) -> New {
        New::of(Kind::Boolean, yes.into())
    }

    /// The same, standing there.
    pub fn at(mut self, place: Option<Place>) -> New {
        self.places.value = place;
        self
    }

    /// The same, with the key of the other and its places.
    pub fn in_place_of(mut self, other: New) -> New {
        self.entry.key = other.entry.key;
        self.places = other.places;
        self
    }

    /// The same, it and its key standing there.
    pub fn all_at(mut self, place: Option<Place>) -> New {
        self.places = Places { key: place, value: place };
        self
    }

    /// The same, a date as the text that it is.
    pub fn no_date(mut self) -> New {
        if self.entry.kind == Kind::Date {
            self.entry.kind = Kind::Text;
        }
        self
    }
}

impl Default for Tree {
    /// Its root is a table without keys.
    fn default() -> Tree {
        Tree {
            entries: vec![New::of(Kind::Table, 0).entry],
            texts: String::new(),
            long: Vec::new(),
            keys: Keys::default(),
            places: HashMap::default(),
        }
    }
}

impl Tree {
    /// The number of the root.
    pub const ROOT: u32 = 0;

    /// The value of a number.
    pub fn node(&self, number: u32) -> Node<'_> {
        Node { tree: self, number }
    }

    pub fn root(&self) -> Node<'_> {
        self.node(Tree::ROOT)
    }

    /// Whether this may stand in a text: it does not where it is not even found where two of them meet.
    pub fn may_mention(&self, what: &str) -> bool {
        self.texts.contains(what) || self.long.iter().any(|text| text.contains(what))
    }

    pub fn text(&mut self, text: &str) -> New {
        if text.len() >= SHORT_BYTES {
            self.long.push(text.to_owned());
            return New::of(Kind::LongText, self.long.len() as u64 - 1);
        }
        let start = self.texts.len() as u64;
        self.texts += text;
        New::of(Kind::Text, start << 24 | text.len() as u64)
    }

    pub(super) fn date(&mut self, text: &str) -> New {
        let start = self.texts.len() as u64;
        self.texts += text;
        New::of(Kind::Date, start << 24 | text.len() as u64)
    }

    pub fn list(&mut self, elements: impl IntoIterator<Item = New>) -> New {
        self.together(Kind::List, elements)
    }

    /// A table of values that have [keys](Tree::under).
    pub fn table(&mut self, entries: impl IntoIterator<Item = New>) -> New {
        self.together(Kind::Table, entries)
    }

    /// The value with the key that it will stand under, and where that stands.
    pub fn under(&mut self, key: &str, key_place: Option<Place>, mut value: New) -> New {
        value.entry.key = self.keys.number(key);
        value.places.key = key_place;
        value
    }

    fn together(&mut self, kind: Kind, values: impl IntoIterator<Item = New>) -> New {
        let first = self.entries.len();
        for New { entry, places } in values {
            self.entries.push(entry);
            self.stand(self.entries.len() as u32 - 1, places);
        }
        New::of(kind, (first as u64) << 32 | (self.entries.len() - first) as u64)
    }

    fn stand(&mut self, number: u32, places: Places) {
        if places.key.is_some() || places.value.is_some() {
            self.places.insert(number, places);
        } else if !self.places.is_empty() {
            self.places.remove(&number);
        }
    }

    /// A value and its key, to be put elsewhere.
    pub fn taken(&self, number: u32) -> New {
        New { entry: self.entries[number as usize], places: self.node(number).places() }
    }

    /// Puts a value in place of another, under its key.
    pub fn set(&mut self, number: u32, value: New) {
        let Places { key, .. } = self.node(number).places();
        self.stand(number, Places { key, value: value.places.value });
        self.set_value(number, value);
    }

    /// The same; it stands where the other stood.
    pub fn set_value(&mut self, number: u32, value: New) {
        let entry = &mut self.entries[number as usize];
        *entry = Entry { key: entry.key, ..value.entry };
    }

    /// Puts a key in place of another, where that stood.
    pub fn set_key(&mut self, number: u32, key: &str) {
        self.entries[number as usize].key = self.keys.number(key);
    }

    pub fn set_key_place(&mut self, number: u32, key: Option<Place>) {
        let Places { value, .. } = self.node(number).places();
        self.stand(number, Places { key, value });
    }

    /// Adds values with their keys to a table, and gives the number of the last. All values of the table have
    /// other numbers then.
    pub fn add(&mut self, table: u32, new: impl IntoIterator<Item = New>) -> u32 {
        let mut all: Vec<New> = self.node(table).numbers().map(|number| self.taken(number)).collect();
        all.extend(new);
        let all = self.table(all);
        self.set_value(table, all);
        self.entries.len() as u32 - 1
    }

    /// Takes a key out of a table, whose values have other numbers then.
    pub fn remove(&mut self, table: u32, key: &str) {
        let others = self.node(table).inner().filter(|entry| entry.key() != key);
        let others: Vec<New> = others.map(|entry| self.taken(entry.number)).collect();
        let others = self.table(others);
        self.set_value(table, others);
    }

    /// The key that it will have.
    pub fn key_of(&self, new: &New) -> &str {
        &self.keys.by_number[new.entry.key as usize]
    }

    /// The values of a table that was written, to be put elsewhere.
    pub fn entries_of(&self, table: New) -> Vec<New> {
        numbers(table.entry).map(|number| self.taken(number)).collect()
    }
}

/// The numbers of the values of a list or a table.
fn numbers(Entry { content, kind, .. }: Entry) -> Range<u32> {
    let first = (content >> 32) as u32;
    if matches!(kind, Kind::List | Kind::Table) { first..first + content as u32 } else { 0..0 }
}

/// A value in its tree.
#[derive(Clone, Copy)]
pub(crate) struct Node<'t> {
    tree: &'t Tree,
    number: u32,
}

/// What a value is.
#[derive(Clone)]
pub(crate) enum Value<'t> {
    Text(&'t str),
    Integer(i64),
    Float(f64),
    Boolean(bool),
    Date,
    List(Nodes<'t>),
    Table(Table<'t>),
}

/// A value that is a table.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct Table<'t>(Node<'t>);

/// One and the same.
impl PartialEq for Node<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number && ptr::eq(self.tree, other.tree)
    }
}

/// The values of a list or a table, in order.
#[derive(Clone)]
pub(crate) struct Nodes<'t> {
    tree: &'t Tree,
    rest: Range<u32>,
}

impl<'t> Iterator for Nodes<'t> {
    type Item = Node<'t>;

    #[inline]
    fn next(&mut self) -> Option<Node<'t>> {
        self.rest.next().map(|number| self.tree.node(number))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.rest.size_hint()
    }

    fn nth(&mut self, n: usize) -> Option<Node<'t>> {
        self.rest.nth(n).map(|number| self.tree.node(number))
    }
}

impl ExactSizeIterator for Nodes<'_> {}

impl<'t> Table<'t> {
    #[inline]
    pub fn get(self, key: &str) -> Option<Node<'t>> {
        self.entries().find(|entry| entry.key() == key)
    }

    /// Its values, which know their keys.
    #[inline]
    pub fn entries(self) -> Nodes<'t> {
        self.0.inner()
    }
}

impl<'t> Node<'t> {
    #[inline]
    fn entry(self) -> Entry {
        self.tree.entries[self.number as usize]
    }

    /// Of a text or a date.
    #[inline]
    pub(super) fn letters(self) -> &'t str {
        let Entry { content, kind, .. } = self.entry();
        if kind == Kind::LongText {
            return &self.tree.long[content as usize];
        }
        let start = (content >> 24) as usize;
        &self.tree.texts[start..start + (content as usize & (SHORT_BYTES - 1))]
    }

    /// Whether it has the key that the other will have.
    pub fn has_key_of(self, other: &New) -> bool {
        self.entry().key == other.entry.key
    }

    fn places(self) -> Places {
        if self.tree.places.is_empty() {
            return Places::default();
        }
        self.tree.places.get(&self.number).copied().unwrap_or_default()
    }

    pub fn number(self) -> u32 {
        self.number
    }

    /// `None` for what comes from JSON.
    pub fn place(self) -> Option<Place> {
        self.places().value
    }

    pub fn key_place(self) -> Option<Place> {
        self.places().key
    }

    /// Of a value of a table.
    #[inline]
    pub fn key(self) -> &'t str {
        &self.tree.keys.by_number[self.entry().key as usize]
    }

    #[inline]
    pub fn value(self) -> Value<'t> {
        let Entry { content, kind, .. } = self.entry();
        match kind {
            Kind::Text | Kind::LongText => Value::Text(self.letters()),
            Kind::Date => Value::Date,
            Kind::Integer => Value::Integer(content as i64),
            Kind::Float => Value::Float(f64::from_bits(content)),
            Kind::Boolean => Value::Boolean(content != 0),
            Kind::List => Value::List(self.inner()),
            Kind::Table => Value::Table(Table(self)),
        }
    }

    /// Its values, if it is a list or a table.
    #[inline]
    pub fn inner(self) -> Nodes<'t> {
        Nodes { tree: self.tree, rest: self.numbers() }
    }

    /// It as the only one of a list.
    pub fn alone(self) -> Nodes<'t> {
        Nodes { tree: self.tree, rest: self.number..self.number + 1 }
    }

    /// The numbers of its values.
    pub fn numbers(self) -> Range<u32> {
        numbers(self.entry())
    }

    pub fn table(self) -> Option<Table<'t>> {
        (self.entry().kind == Kind::Table).then_some(Table(self))
    }

    pub fn list(self) -> Option<Nodes<'t>> {
        (self.entry().kind == Kind::List).then(|| self.inner())
    }

    #[inline]
    pub fn text(self) -> Option<&'t str> {
        matches!(self.entry().kind, Kind::Text | Kind::LongText).then(|| self.letters())
    }

    /// The string under the key `name`, by which paths refer to the elements of a list.
    pub fn name(self) -> Option<&'t str> {
        self.table()?.get("name")?.text()
    }

    /// What the value is, with article.
    pub fn noun(self) -> &'static str {
        match self.entry().kind {
            Kind::Text | Kind::LongText => "a string",
            Kind::Integer | Kind::Float => "a number",
            Kind::Boolean => "a boolean",
            Kind::Date => "a date",
            Kind::List => "a list",
            Kind::Table => "a table",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With a table of two keys at its root.
    fn tree() -> Tree {
        let mut tree = Tree::default();
        let place = Place::new(0, 3..4);
        let one = tree.text("one").at(place);
        let entries = [tree.under("a", place, one), tree.under("b", None, New::integer(2))];
        let root = tree.table(entries);
        tree.set(Tree::ROOT, root);
        tree
    }

    #[test]
    fn a_text_too_long_for_24_bits_stands_between_short_ones() {
        let long = "y".repeat(1 << 24);
        let mut tree = Tree::default();
        let all = ["x", &long, &long[1..], "z"].map(|text| tree.text(text));
        let list = tree.list(all);
        tree.set(Tree::ROOT, list);
        let texts: Vec<_> =
            tree.root().inner().filter_map(Node::text).map(|text| (text.len(), &text[..1])).collect();
        assert_eq!(texts, [(1, "x"), (1 << 24, "y"), ((1 << 24) - 1, "y"), (1, "z")]);
    }

    #[test]
    fn what_moves_in_a_table_keeps_its_key_its_value_and_its_places() {
        let mut tree = tree();
        let c = tree.under("c", None, New::boolean(true));
        let c = tree.add(Tree::ROOT, [c]);
        assert_eq!(tree.node(c).key(), "c");
        tree.remove(Tree::ROOT, "b");
        assert_eq!(tree.root().canonical_json(), r#"{"a":"one","c":true}"#);
        let place = Place::new(0, 3..4);
        let [a, c] =
            [0, 1].map(|at| tree.root().inner().nth(at).map(|entry| (entry.key_place(), entry.place())));
        assert_eq!((a, c), (Some((place, place)), Some((None, None))));
    }

    #[test]
    fn a_value_in_place_of_another_has_its_key() {
        let mut tree = tree();
        let a = tree.root().numbers().start;
        tree.set(a, New::integer(7));
        let entry = tree.node(a);
        // The key stands where it stood, the value nowhere.
        assert_eq!((entry.key(), entry.key_place(), entry.place()), ("a", Place::new(0, 3..4), None));
        assert_eq!(tree.root().canonical_json(), r#"{"a":7,"b":2}"#);
    }
}
